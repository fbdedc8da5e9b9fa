//! Fields that this version does not know are passed over, wherever they stand: a later Hadoop sends them.

use prost::Message;
use surus_proto::hadoop::hdfs::{CreateRequestProto, FsPermissionProto, Status};
use surus_wire::datatransfer::op::{delimited, parse_op};
use surus_wire::datatransfer::packet::parse_packet;
use surus_wire::datatransfer::{PacketHeader, PipelineAck};
use surus_wire::required;
use surus_wire::rpc::client::Response;
use surus_wire::rpc::session::{Event, Negotiation, ServerSession};
use surus_wire::varint::{put_bytes, put_uint, put_varint, take_delimited, take_field};

/// A field of each wire type, by numbers that no message has.
fn unknown() -> Vec<u8> {
    let mut out = Vec::new();
    put_uint(&mut out, 1900, u64::MAX);
    put_varint(&mut out, 1901 << 3 | 1);
    out.extend_from_slice(&[7; 8]);
    put_bytes(&mut out, 1902, b"of a later version");
    put_varint(&mut out, 1903 << 3 | 5);
    out.extend_from_slice(&[7; 4]);
    // A group with a group in it.
    for tag in [1904 << 3 | 3, 2 << 3 | 3] {
        put_varint(&mut out, tag);
        put_uint(&mut out, 1, 5);
    }
    for tag in [2 << 3 | 4, 1904 << 3 | 4] {
        put_varint(&mut out, tag);
    }
    out
}

/// Adds such fields at both ends of a message, and of what lies in its field 1 as many times as `depth` says.
fn sprinkled(mut message: &[u8], depth: usize) -> Vec<u8> {
    let mut out = unknown();
    loop {
        let before = message;
        match take_field(&mut message).expect("a message") {
            None => break,
            Some((1, surus_wire::varint::Value::Bytes(inner))) if depth > 0 => {
                put_bytes(&mut out, 1, &sprinkled(inner, depth - 1));
            }
            Some(_) => out.extend_from_slice(&before[..before.len() - message.len()]),
        }
    }
    out.extend_from_slice(&unknown());
    out
}

fn put_delimited(out: &mut Vec<u8>, message: &[u8]) {
    put_varint(out, message.len() as u64);
    out.extend_from_slice(message);
}

/// The frames of a recorded connection, each message in them sprinkled.
fn sprinkled_frames(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((prefix, rest)) = bytes.split_first_chunk::<4>() {
        let (mut frame, rest) = rest.split_at(u32::from_be_bytes(*prefix) as usize);
        let mut new = Vec::new();
        while !frame.is_empty() {
            put_delimited(&mut new, &sprinkled(take_delimited(&mut frame).expect("a message"), 0));
        }
        out.extend_from_slice(&(new.len() as u32).to_be_bytes());
        out.extend_from_slice(&new);
        bytes = rest;
    }
    out
}

/// What a server hears.
fn heard(mut input: &[u8]) -> Vec<String> {
    let mut session = ServerSession::new(1 << 20, Negotiation::TokenAndSimple { nonce: "n".to_owned() });
    let (mut out, mut lines) = (Vec::new(), Vec::new());
    loop {
        let (consumed, event) = session.next(input, &mut out);
        match event {
            Event::NeedMore(_) => return lines,
            Event::Progress => lines.push("progress".to_owned()),
            Event::Context(context) => lines.push(format!("{context:?}")),
            Event::Call(call) => lines.push(format!("{:?} {:?}", call.header, call.method)),
            Event::Close => panic!("closed after {lines:?}"),
        }
        input = &input[consumed..];
    }
}

#[test]
fn in_rpc_headers_contexts_and_requests() {
    for recorded in [
        &include_bytes!("data/fsshell-2.c2s")[..],
        include_bytes!("data/hdfs-native.c2s"),
        include_bytes!("data/libhdfs3.c2s"),
        include_bytes!("data/dnreg.c2s"),
    ] {
        let mut sprinkled = recorded[..7].to_vec();
        sprinkled.extend(sprinkled_frames(&recorded[7..]));
        let expected = heard(recorded);
        assert!(expected.len() > 2, "{expected:?}");
        assert_eq!(heard(&sprinkled), expected);
    }
    let masked = FsPermissionProto { perm: 0o644 };
    let request = CreateRequestProto { src: "/ü".to_owned(), masked, replication: 3, ..Default::default() };
    assert_eq!(required::decode::<CreateRequestProto>(&sprinkled(&request.encode_to_vec(), 0)).unwrap(), request);
    // Texts that are no UTF-8 are mended beside them; what is missing is still missed.
    let mut odd = request.encode_to_vec();
    odd[2] = 0xff;
    let mended = required::decode::<CreateRequestProto>(&sprinkled(&odd, 0)).unwrap();
    assert!(mended.src.contains('\u{fffd}'), "{mended:?}");
    let refused = required::decode::<CreateRequestProto>(&unknown()).unwrap_err();
    assert!(refused.message.starts_with("Message missing required fields: src, masked, "), "{}", refused.message);
}

#[test]
fn in_rpc_answers() {
    let recorded = include_bytes!("data/fsshell-5.s2c");
    let frame = |bytes: &[u8]| bytes[4..4 + u32::from_be_bytes(*bytes.first_chunk().unwrap()) as usize].to_vec();
    let (plain, sprinkled) = (frame(recorded), frame(&sprinkled_frames(recorded)));
    let (plain, found) = (Response::decode(&plain).unwrap(), Response::decode(&sprinkled).unwrap());
    assert_eq!(found.call_id, plain.call_id);
}

#[test]
fn in_data_transfer() {
    for recorded in [&include_bytes!("data/xfer-7.c2s")[..], include_bytes!("data/xfer-3.c2s")] {
        let (expected, _) = parse_op(recorded).unwrap().unwrap();
        let (message, _) = delimited(&recorded[3..]).unwrap().unwrap();
        // The operation, its header, the base header, the block.
        for depth in 0..=3 {
            let mut bytes = recorded[..3].to_vec();
            put_delimited(&mut bytes, &sprinkled(message, depth));
            assert_eq!(parse_op(&bytes).unwrap().unwrap().0, expected, "depth {depth}");
        }
    }
    let header = PacketHeader { offset_in_block: 512, seqno: 7, data_len: 3, sync_block: true, ..Default::default() };
    let plain = header.encode(4);
    let long = sprinkled(&plain[6..], 0);
    let mut bytes = plain[..4].to_vec();
    bytes.extend_from_slice(&(long.len() as u16).to_be_bytes());
    bytes.extend_from_slice(&long);
    bytes.extend_from_slice(b"sumsabc");
    let packet = parse_packet(&bytes).unwrap().unwrap();
    assert_eq!((packet.header, packet.checksums, packet.data), (header, &b"sums"[..], &b"abc"[..]));
    let (mut bytes, mut ack) = (Vec::new(), PipelineAck::default());
    PipelineAck::success(9).put(&mut bytes);
    let (message, _) = delimited(&bytes).unwrap().unwrap();
    ack.decode_into(&sprinkled(message, 0)).unwrap();
    assert_eq!((ack.seqno, &ack.replies[..]), (9, &[Status::Success][..]));
}

/// Groups that end wrongly, or not at all, and groups in groups without end.
#[test]
fn broken_groups_are_no_message() {
    let deep = [0x0b; 100_000];
    for broken in [&[0x0b][..], &[0x0b, 0x14], &[0x0c], &[0x0b, 0x08], &deep] {
        assert!(take_field(&mut &*broken).is_err());
    }
    assert!(take_field(&mut &[0x0b, 0x0c][..]).is_ok());
}
