//! Data-transfer streams: operations and packets over a socket, in pieces of any size.

use std::io::{IoSlice, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use surus_net::data::{DataReader, ReceiveError};
use surus_net::stream;
use surus_proto::hadoop::hdfs::{ClientReadStatusProto, OpCopyBlockProto, Status};
use surus_wire::datatransfer::op::{put_message, put_op};
use surus_wire::datatransfer::{DataChecksum, Op, OpError, OpRequest, PacketHeader, PipelineAck};

/// Gives its bytes out in pieces of odd sizes.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.1 = self.1 * 5 % 1009 + 1;
        let count = self.1.min(buffer.len()).min(self.0.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

/// An operation, three packets, two acknowledgements and a read status.
fn conversation() -> Vec<u8> {
    let mut bytes = Vec::new();
    put_op(&mut bytes, Op::CopyBlock, &OpCopyBlockProto::default());
    for (seqno, len) in [(0, 65_000), (1, 3), (2, 0)] {
        let data = vec![seqno as u8; len];
        let mut checksums = Vec::new();
        DataChecksum::default().append(&data, &mut checksums);
        let header = PacketHeader { seqno, data_len: len as u32, last_packet_in_block: len == 0, ..Default::default() };
        bytes.extend_from_slice(&header.encode(checksums.len()));
        bytes.extend_from_slice(&checksums);
        bytes.extend_from_slice(&data);
    }
    PipelineAck::success(5).put(&mut bytes);
    PipelineAck::success(-2).put(&mut bytes);
    put_message(&mut bytes, &ClientReadStatusProto { status: Status::ChecksumOk as i32 });
    bytes
}

fn check<R: Read>(reader: &mut DataReader<R>) {
    assert!(matches!(reader.read_op().unwrap().unwrap(), OpRequest::CopyBlock(_)));
    for (seqno, len) in [(0i64, 65_000usize), (1, 3), (2, 0)] {
        let packet = reader.read_packet().unwrap();
        assert_eq!((packet.header.seqno, packet.data.len()), (seqno, len));
        assert_eq!(DataChecksum::default().verify(packet.data, packet.checksums), Ok(()));
    }
    let mut ack = PipelineAck::default();
    for seqno in [5, -2] {
        reader.read_ack(&mut ack).unwrap();
        assert_eq!(ack.seqno, seqno);
    }
    assert_eq!(reader.read_message::<ClientReadStatusProto>().unwrap().status(), Status::ChecksumOk);
    assert!(reader.read_op().unwrap().is_none());
}

#[test]
fn any_cut_gives_the_same_messages() {
    let bytes = conversation();
    for start in [0, 1, 17, 400] {
        check(&mut DataReader::new(Pieces(&bytes, start)));
    }
}

#[test]
fn over_a_socket() {
    let listener = stream::listen("127.0.0.1:0", 16).unwrap();
    let addr = listener.local_addr().unwrap();
    let sender = std::thread::spawn(move || {
        let timeout = Duration::from_secs(5);
        let socket = stream::connect_data(addr, timeout, timeout).unwrap();
        let bytes = conversation();
        let (a, b) = bytes.split_at(40_000);
        stream::write_all_vectored(&socket, &mut [IoSlice::new(a), IoSlice::new(b)]).unwrap();
    });
    let (socket, _) = listener.accept().unwrap();
    stream::prepare_data(&socket, Duration::from_secs(5)).unwrap();
    check(&mut DataReader::new(&socket));
    sender.join().unwrap();
}

#[test]
fn a_file_is_sent_behind_its_head() {
    let listener = stream::listen("127.0.0.1:0", 16).unwrap();
    let addr = listener.local_addr().unwrap();
    let mut file = tempfile::tempfile().unwrap();
    let content: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
    file.write_all(&content).unwrap();
    let sender = std::thread::spawn(move || {
        let socket = TcpStream::connect(addr).unwrap();
        stream::write_all_more(&socket, b"head").unwrap();
        stream::send_file(&socket, &file, 1000, 90_000).unwrap();
        assert!(stream::send_file(&socket, &file, 99_999, 2).is_err());
    });
    let (mut socket, _) = listener.accept().unwrap();
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).unwrap();
    sender.join().unwrap();
    assert_eq!(bytes[..4], *b"head");
    assert_eq!(bytes[4..90_004], content[1000..91_000]);
}

#[test]
fn strangers_are_told_apart() {
    let read = |bytes: &[u8]| DataReader::new(bytes).read_op().unwrap_err();
    assert!(matches!(read(b"GET / HTTP/1.1\r\n"), ReceiveError::Op(OpError::Version(0x4745))));
    assert!(matches!(read(b"\xde\xad\xbe\xef"), ReceiveError::Op(OpError::Sasl)));
    assert!(matches!(read(b"\0\x1c\x01\0"), ReceiveError::Op(OpError::UnknownOp(1))));
    assert!(matches!(read(b"\0\x1c\x50\xff\xff\xff\xff\x7f"), ReceiveError::Op(OpError::TooLong(_))));
    assert!(matches!(read(b"\0\x1c\x54\0"), ReceiveError::Op(OpError::Malformed(Op::CopyBlock, _))));
    assert!(matches!(read(b"\0\x1c"), ReceiveError::Io(_)));
    // A packet that claims 2 GB.
    let error = DataReader::new(&b"\x7f\xff\xff\xff\0\x19"[..]).read_packet().unwrap_err();
    assert!(matches!(error, ReceiveError::Packet(_)), "{error}");
}
