//! Every operation of the golden segments decodes to its last byte and encodes to the same bytes.

use crate::golden;
use std::collections::BTreeMap;
use surus_journal::ops::{FrameHead, OP_INVALID, OpDecoder, encode_op, encode_op_for, op_name};
use surus_namespace::EditOp;

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

/// A snapshot's operation as layouts before -66 have it: without its time, which stands behind so many names.
fn without_time(frame: &[u8], names: usize) -> Vec<u8> {
    let mut at = 13;
    for _ in 0..names {
        at += 2 + usize::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    }
    let mut old = [&frame[..at], &frame[at + 8..frame.len() - 4]].concat();
    let length = u32::from_be_bytes(old[1..5].try_into().unwrap()) - 8;
    old[1..5].copy_from_slice(&length.to_be_bytes());
    let checksum = crc32fast::hash(&old);
    old.extend_from_slice(&checksum.to_be_bytes());
    old
}

#[test]
fn snapshots_of_layouts_that_do_not_tell_their_time() {
    let mut seen = [0; 3];
    for (name, segment) in golden::segments(golden::NAME) {
        for frame in frames(&segment) {
            let (txid, mut op) = OpDecoder::new(-67).unwrap().decode(frame).unwrap();
            let (kind, names, mtime) = match &mut op {
                EditOp::CreateSnapshot { mtime, .. } => (0, 2, mtime),
                EditOp::DeleteSnapshot { mtime, .. } => (1, 2, mtime),
                EditOp::RenameSnapshot { mtime, .. } => (2, 3, mtime),
                _ => continue,
            };
            *mtime = 0;
            seen[kind] += 1;
            let old = without_time(frame, names);
            for layout in [-60, -63, -65] {
                let decoded = OpDecoder::new(layout).unwrap().decode(&old);
                assert_eq!(decoded.unwrap_or_else(|e| panic!("{name} txid {txid}: {e}")), (txid, op.clone()));
                let mut again = Vec::new();
                encode_op_for(layout, &op, txid, &mut again);
                assert_eq!(again, old, "{name} txid {txid}");
            }
            let (_, timed) = OpDecoder::new(-66).unwrap().decode(frame).unwrap();
            let mut again = Vec::new();
            encode_op_for(-66, &timed, txid, &mut again);
            assert_eq!(again, frame);
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}
