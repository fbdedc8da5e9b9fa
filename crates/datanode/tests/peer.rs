//! The client's side of the data transfer protocol, by hand: operations, packets, answers.

use prost::Message;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use surus_datanode::checksum::{Checksum, ChecksumType};
use surus_proto::hadoop::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use surus_proto::hadoop::hdfs::*;
use surus_wire::datatransfer::op::{put_message, put_op};
use surus_wire::datatransfer::packet::{PACKET_PREFIX_LEN, packet_len, parse_packet};
use surus_wire::datatransfer::{Op, PacketHeader};

use crate::fake::POOL;

pub struct Peer {
    pub stream: TcpStream,
}

pub fn crc32c() -> Checksum {
    Checksum::new(ChecksumType::Crc32c, 512).unwrap()
}

pub fn content(from: u64, to: u64) -> Vec<u8> {
    (from..to).map(|i| ((i * 31 + 7) % 251) as u8).collect()
}

pub fn extended(id: u64, stamp: u64, num_bytes: u64) -> ExtendedBlockProto {
    ExtendedBlockProto { pool_id: POOL.into(), block_id: id, generation_stamp: stamp, num_bytes: Some(num_bytes) }
}

pub fn header(block: ExtendedBlockProto, client: &str) -> ClientOperationHeaderProto {
    let base_header = BaseHeaderProto { block, token: Some(Default::default()), trace_info: None };
    ClientOperationHeaderProto { base_header, client_name: client.into() }
}

pub fn write_op(block: ExtendedBlockProto, stage: Stage, targets: Vec<DatanodeInfoProto>) -> OpWriteBlockProto {
    OpWriteBlockProto {
        header: header(block, "DFSClient_test"),
        pipeline_size: targets.len() as u32 + 1,
        targets,
        stage: stage as i32,
        requested_checksum: crc32c().to_proto(),
        storage_type: Some(1),
        ..Default::default()
    }
}

impl Peer {
    pub fn connect(address: SocketAddr) -> Peer {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Peer { stream }
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    pub fn op(&mut self, op: Op, message: &impl Message) {
        let mut bytes = Vec::new();
        put_op(&mut bytes, op, message);
        self.send(&bytes).unwrap();
    }

    pub fn message<M: Message + Default>(&mut self) -> io::Result<M> {
        let mut len = 0u64;
        for shift in (0..35).step_by(7) {
            let mut byte = [0];
            self.stream.read_exact(&mut byte)?;
            len |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] & 0x80 == 0 {
                break;
            }
        }
        let mut bytes = vec![0; len as usize];
        self.stream.read_exact(&mut bytes)?;
        M::decode(&bytes[..]).map_err(io::Error::other)
    }

    pub fn response(&mut self) -> BlockOpResponseProto {
        self.message().unwrap()
    }

    /// One packet with the right checksums, but for `damage`.
    pub fn packet(&mut self, seqno: i64, from: u64, to: u64, last: bool, sync: bool, damage: bool) {
        self.send(&Self::encode(seqno, from, to, last, sync, damage)).unwrap();
    }

    pub fn encode(seqno: i64, from: u64, to: u64, last: bool, sync: bool, damage: bool) -> Vec<u8> {
        let data = content(from, to);
        let mut sums = Vec::new();
        crc32c().append(&data, &mut sums);
        if damage {
            sums[0] ^= 1;
        }
        let header = PacketHeader {
            offset_in_block: from,
            seqno,
            last_packet_in_block: last,
            data_len: data.len() as u32,
            sync_block: sync,
        };
        let mut bytes = header.encode(sums.len()).to_vec();
        bytes.extend_from_slice(&sums);
        bytes.extend_from_slice(&data);
        bytes
    }

    pub fn ack(&mut self) -> (i64, Vec<i32>) {
        let ack: PipelineAckProto = self.message().unwrap();
        (ack.seqno, ack.reply)
    }

    /// Reads packets to the last one. Returns where the data begins and the data, checksums verified.
    pub fn packets(&mut self, checksum: Checksum) -> io::Result<(u64, Vec<u8>)> {
        let (mut start, mut all) = (None, Vec::new());
        loop {
            let mut bytes = vec![0; PACKET_PREFIX_LEN];
            self.stream.read_exact(&mut bytes)?;
            let len = packet_len(bytes[..].try_into().unwrap()).map_err(io::Error::other)?;
            bytes.resize(len, 0);
            self.stream.read_exact(&mut bytes[PACKET_PREFIX_LEN..])?;
            let packet = parse_packet(&bytes).map_err(io::Error::other)?.unwrap();
            let begin = *start.get_or_insert(packet.header.offset_in_block);
            assert_eq!(packet.header.offset_in_block, begin + all.len() as u64);
            if packet.header.last_packet_in_block {
                return Ok((begin, all));
            }
            checksum.verify(packet.data, packet.checksums).map_err(|at| io::Error::other(format!("damage at {at}")))?;
            all.extend_from_slice(packet.data);
        }
    }

    /// Reads a range and tells that all is well, so that the connection can go on.
    pub fn read(&mut self, block: ExtendedBlockProto, offset: u64, len: u64) -> Result<(u64, Vec<u8>), String> {
        let op = OpReadBlockProto { header: header(block, "DFSClient_test"), offset, len, ..Default::default() };
        self.op(Op::ReadBlock, &op);
        let response = self.response();
        if response.status != Status::Success as i32 {
            return Err(response.message.unwrap_or_default());
        }
        let info = response.read_op_checksum_info.unwrap();
        let read = self.packets(Checksum::from_proto(&info.checksum).unwrap()).map_err(|e| e.to_string())?;
        assert_eq!(read.0, info.chunk_offset);
        let mut done = Vec::new();
        put_message(&mut done, &ClientReadStatusProto { status: Status::ChecksumOk as i32 });
        self.send(&done).unwrap();
        Ok(read)
    }
}
