//! Every operation of the golden segments decodes to its last byte and encodes to the same bytes.

use crate::golden;
use std::collections::BTreeMap;
use surus_journal::ops::{FrameHead, OP_INVALID, OpDecoder, encode_op, op_name};

/// Splits a segment into frames; the fill behind the last is left out.
fn frames(segment: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = &segment[8..];
    std::iter::from_fn(move || {
        if rest.first().is_none_or(|b| *b == OP_INVALID) {
            return None;
        }
        let (frame, after) = rest.split_at(FrameHead::parse(rest).unwrap().frame_bytes);
        rest = after;
        Some(frame)
    })
}

#[test]
fn golden_segments_round_trip() {
    let mut counts = BTreeMap::new();
    for (name, segment) in [golden::segments(golden::NAME), golden::segments(golden::SYMLINK)].concat() {
        assert_eq!(segment[..8], [0xFF, 0xFF, 0xFF, 0xBD, 0, 0, 0, 0], "{name}");
        let mut decoder = OpDecoder::new(-67).unwrap();
        for frame in frames(&segment) {
            let head = FrameHead::parse(frame).unwrap();
            let what = op_name(head.opcode);
            let (txid, op) = decoder.decode(frame).unwrap_or_else(|e| panic!("{name} txid {} {what}: {e}", head.txid));
            let mut again = Vec::new();
            encode_op(&op, txid, &mut again);
            assert_eq!(again, frame, "{name} txid {txid} {what}: {op:?}");
            *counts.entry(what).or_insert(0) += 1;
        }
    }
    // The counts of opcodes.tsv, which came with the segments.
    assert_eq!(counts.len(), 48);
    assert_eq!(counts.values().sum::<i32>(), 2981);
}
