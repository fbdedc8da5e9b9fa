//! Random and damaged bytes: no decoder panics, and none asks for more room than its limit.

use proptest::prelude::*;
use surus_proto::hadoop::hdfs::{AddBlockRequestProto, CreateRequestProto};
use surus_wire::datatransfer::op::{delimited, parse_op};
use surus_wire::datatransfer::packet::{packet_len, parse_packet};
use surus_wire::datatransfer::{MESSAGE_LEN_MAX, PACKET_LEN_MAX, PipelineAck};
use surus_wire::required;
use surus_wire::rpc::client::Response;
use surus_wire::rpc::header::{MethodHeader, RequestHeader};
use surus_wire::rpc::session::{Event, Negotiation, ServerSession};

const FRAME_MAX: u32 = 1 << 16;

fn feed(input: &[u8]) {
    let mut session = ServerSession::new(FRAME_MAX, Negotiation::TokenAndSimple { nonce: "n".to_owned() });
    let (mut out, mut rest) = (Vec::new(), input);
    loop {
        let (consumed, event) = session.next(rest, &mut out);
        rest = &rest[consumed..];
        match event {
            Event::NeedMore(need) => {
                assert!(need > rest.len() && need <= FRAME_MAX as usize + 4);
                break;
            }
            Event::Close => break,
            _ => assert!(consumed > 0),
        }
    }
    assert!(out.len() <= 64 + 64 * input.len() + 1024);
}

/// A real connection with some bytes replaced.
fn damaged(original: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((0..original.len(), any::<u8>()), 1..8).prop_map(move |changes| {
        let mut bytes = original.to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        feed(&bytes);
        let mut opened = b"hrpc\x09\0\0".to_vec();
        opened.extend_from_slice(&bytes);
        feed(&opened);
        let _ = RequestHeader::decode(&bytes);
        let _ = MethodHeader::decode(&bytes);
        let _ = Response::decode(&bytes);
        let _ = parse_op(&bytes);
        let _ = parse_packet(&bytes);
        let _ = PipelineAck::default().decode_into(&bytes);
        let _ = required::decode::<CreateRequestProto>(&bytes);
        let _ = required::decode_delimited::<AddBlockRequestProto>(&bytes);
        if let Ok(Some((message, len))) = delimited(&bytes) {
            prop_assert!(message.len() <= MESSAGE_LEN_MAX && len <= bytes.len());
        }
        if let Some(prefix) = bytes.first_chunk::<6>() && let Ok(len) = packet_len(prefix) {
            prop_assert!(len <= PACKET_LEN_MAX + 2048);
        }
    }

    #[test]
    fn damaged_connections(
        rpc in damaged(include_bytes!("data/fsshell-2.c2s")),
        registration in damaged(include_bytes!("data/dnreg.c2s")),
        upload in damaged(include_bytes!("data/xfer-7.c2s")),
        answers in damaged(include_bytes!("data/xfer-3.s2c")),
        replies in damaged(include_bytes!("data/fsshell-5.s2c")),
    ) {
        feed(&rpc);
        feed(&registration);
        if let Ok(Some((_, len))) = parse_op(&upload) {
            let _ = parse_packet(&upload[len..]);
        }
        let _ = parse_packet(&answers[14..]);
        let _ = Response::decode(&replies[4..]);
    }
}
