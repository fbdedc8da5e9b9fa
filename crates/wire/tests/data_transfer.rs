//! The data-transfer codec against connections recorded from Hadoop 3.5.0.

use prost::Message;
use surus_proto::hadoop::hdfs::{BlockOpResponseProto, Status};
use surus_wire::datatransfer::op::{delimited, parse_op, put_message};
use surus_wire::datatransfer::packet::parse_packet;
use surus_wire::datatransfer::{ChecksumType, CompositeCrc, DataChecksum, Md5OfCrcs, OpRequest, PipelineAck, md5};

/// Splits a recorded upload into its operation and what follows.
fn split(c2s: &'static [u8]) -> (OpRequest, &'static [u8]) {
    let (op, len) = parse_op(c2s).unwrap().unwrap();
    (op, &c2s[len..])
}

/// Byte `i` of a recorded file with seed `s` (see the README of the samples).
fn content(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| ((i * 31 + seed) % 251) as u8).collect()
}

/// Takes the packets apart, puts them together again and returns their data.
fn packets(mut bytes: &[u8], checksum: DataChecksum) -> Vec<u8> {
    let mut data = Vec::new();
    while let Some(packet) = parse_packet(bytes).unwrap() {
        checksum.verify(packet.data, packet.checksums).unwrap();
        let mut again = packet.header.encode(packet.checksums.len()).to_vec();
        checksum.append(packet.data, &mut again);
        again.extend_from_slice(packet.data);
        assert_eq!(again, packet.raw);
        data.extend_from_slice(packet.data);
        bytes = &bytes[packet.raw.len()..];
        if packet.header.last_packet_in_block {
            break;
        }
    }
    data
}

#[test]
fn write_block() {
    let (op, rest) = split(include_bytes!("data/xfer-7.c2s"));
    let OpRequest::WriteBlock(write) = op else { panic!("{op:?}") };
    assert_eq!((write.header.base_header.block.block_id, write.pipeline_size), (1_073_741_827, 1));
    let checksum = DataChecksum::from_proto(&write.requested_checksum).unwrap();
    assert_eq!(checksum, DataChecksum::default());
    assert_eq!(packets(rest, checksum).len(), 1000);
    // The answers: a setup response, then an acknowledgement for each packet.
    let mut answers: &[u8] = include_bytes!("data/xfer-7.s2c");
    let (message, len) = delimited(answers).unwrap().unwrap();
    let response = BlockOpResponseProto::decode(message).unwrap();
    assert_eq!((response.status(), response.first_bad_link()), (Status::Success, ""));
    answers = &answers[len..];
    for seqno in 0.. {
        let Some((message, len)) = delimited(answers).unwrap() else {
            assert_eq!(seqno, 2);
            break;
        };
        let mut ack = PipelineAck::default();
        ack.decode_into(message).unwrap();
        assert_eq!(ack, PipelineAck::success(seqno));
        let mut out = Vec::new();
        ack.put(&mut out);
        assert_eq!(out, answers[..len]);
        answers = &answers[len..];
    }
}

#[test]
fn append_begins_inside_a_chunk() {
    let (op, rest) = split(include_bytes!("data/xfer-4.c2s"));
    let OpRequest::WriteBlock(write) = op else { panic!("{op:?}") };
    assert_eq!((write.min_bytes_rcvd, write.latest_generation_stamp), (70_000, 1003));
    assert_eq!(packets(rest, DataChecksum::default()).len(), 1000);
}

#[test]
fn pipeline_of_two() {
    let (op, rest) = split(include_bytes!("data/xfer-8.c2s"));
    assert!(matches!(op, OpRequest::WriteBlock(_)), "{op:?}");
    assert!(!packets(rest, DataChecksum::default()).is_empty());
}

#[test]
fn read_block() {
    let (op, rest) = split(include_bytes!("data/xfer-3.c2s"));
    assert!(matches!(op, OpRequest::ReadBlock(_)), "{op:?}");
    // ClientReadStatus CHECKSUM_OK ends the read.
    assert_eq!(rest, [2, 8, Status::ChecksumOk as u8]);
    let answer: &[u8] = include_bytes!("data/xfer-3.s2c");
    let (message, len) = delimited(answer).unwrap().unwrap();
    let response = BlockOpResponseProto::decode(message).unwrap();
    let mut again = Vec::new();
    put_message(&mut again, &response);
    assert_eq!(again, answer[..len]);
    let info = response.read_op_checksum_info.unwrap();
    let checksum = DataChecksum::from_proto(&info.checksum).unwrap();
    let data = packets(&answer[len..], checksum);
    assert_eq!(data.len(), 1000);
    assert_eq!(data[..4], [data[0]; 4]);
}

/// BLOCK_CHECKSUM of the 71,000-byte block: 139 chunks.
#[test]
fn block_checksum() {
    let (op, _) = split(include_bytes!("data/xfer-5.c2s"));
    assert!(matches!(op, OpRequest::BlockChecksum(_)), "{op:?}");
    let (message, _) = delimited(include_bytes!("data/xfer-5.s2c")).unwrap().unwrap();
    let response = BlockOpResponseProto::decode(message).unwrap().checksum_response.unwrap();
    assert_eq!((response.bytes_per_crc, response.crc_per_block, response.block_checksum.len()), (512, 139, 16));
}

#[test]
fn known_checksums() {
    for (kind, expected) in [(ChecksumType::Crc32, 0xcbf4_3926), (ChecksumType::Crc32c, 0xe306_9283)] {
        assert_eq!(kind.crc(b"123456789"), expected);
    }
    let mut sum = Md5OfCrcs::default();
    sum.update(b"ab");
    sum.update(b"c");
    assert_eq!(sum.finish(), md5(b"abc"));
    assert_eq!(md5(b"abc")[..4], [0x90, 0x01, 0x50, 0x98]);
}

#[test]
fn composite_crc_is_the_crc_of_the_whole() {
    for kind in [ChecksumType::Crc32, ChecksumType::Crc32c] {
        for len in [0usize, 1, 511, 512, 513, 5000, 70_000] {
            let data = content(len, 7);
            let checksum = DataChecksum::new(kind, 512).unwrap();
            let mut sums = Vec::new();
            checksum.append(&data, &mut sums);
            assert_eq!(sums.len(), checksum.checksums_len(len));
            let mut composite = CompositeCrc::new(kind).unwrap();
            composite.append_chunks(&sums, 512, len as u64);
            assert_eq!(composite.crc(), kind.crc(&data), "{kind:?} {len}");
        }
    }
}

#[test]
fn a_wrong_byte_is_found_in_its_chunk() {
    let checksum = DataChecksum::default();
    let mut data = content(2000, 1);
    let mut sums = Vec::new();
    checksum.append(&data, &mut sums);
    assert_eq!(checksum.verify(&data, &sums), Ok(()));
    data[1100] ^= 1;
    assert_eq!(checksum.verify(&data, &sums), Err(1024));
    assert_eq!(checksum.verify(&data[..1024], &sums[..4]), Err(512));
}
