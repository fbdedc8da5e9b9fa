//! Reads one range of one block from one DataNode: READ_BLOCK, packets, checksums verified in bulk.
//! Source: `BlockReaderRemote.java`, Hadoop 3.5.0.

use crate::datanode::{client_header, receive_text};
use crate::error::ClientError;
use std::io::Write;
use std::net::TcpStream;
use surus_net::data::DataReader;
use surus_proto::hadoop::hdfs as proto;
use surus_wire::datatransfer::op::{put_message, put_op};
use surus_wire::datatransfer::{DataChecksum, Op};

/// What to read.
pub(crate) struct Range<'a> {
    pub block: &'a proto::LocatedBlockProto,
    pub client_name: &'a str,
    /// In the block, in bytes.
    pub offset: u64,
    pub len: u64,
    pub verify: bool,
}

/// Why a DataNode did not give its bytes.
#[derive(Debug)]
pub(crate) enum BlockError {
    /// The bytes do not agree with their checksums: the replica is corrupt.
    Checksum(String),
    /// The block token was refused: fresh locations bring a fresh one.
    Token(String),
    Io(String),
}

impl BlockError {
    pub fn into_client_error(self) -> ClientError {
        match self {
            BlockError::Checksum(text) | BlockError::Token(text) | BlockError::Io(text) => ClientError::io(text),
        }
    }
}

pub(crate) struct BlockReader {
    input: DataReader<TcpStream>,
    addr: String,
    checksum: DataChecksum,
    verify: bool,
    /// Next offset in the block that the caller gets.
    pos: u64,
    end: u64,
    /// The DataNode has heard that all was well: the connection may serve again.
    finished: bool,
}

impl BlockReader {
    /// Asks for a range over a connection to `addr`.
    pub fn open(stream: TcpStream, addr: &str, range: &Range<'_>) -> Result<Self, BlockError> {
        let op = proto::OpReadBlockProto {
            header: client_header(range.block, range.client_name),
            offset: range.offset,
            len: range.len,
            send_checksums: Some(range.verify),
            caching_strategy: Some(proto::CachingStrategyProto::default()),
        };
        let mut request = Vec::with_capacity(256);
        put_op(&mut request, Op::ReadBlock, &op);
        (&stream)
            .write_all(&request)
            .map_err(|e| BlockError::Io(format!("connection to DataNode {addr}: {}", crate::io_text(&e))))?;
        let mut input = DataReader::new(stream);
        let answer: proto::BlockOpResponseProto =
            input.read_message().map_err(|e| BlockError::Io(receive_text(addr, &e)))?;
        let checksum = check_answer(&answer, addr, range)?;
        Ok(BlockReader {
            input,
            addr: addr.to_string(),
            checksum,
            verify: range.verify,
            pos: range.offset,
            end: range.offset + range.len,
            finished: false,
        })
    }

    /// Bytes not handed out yet.
    pub fn left(&self) -> u64 {
        self.end - self.pos
    }

    /// Hands the next piece of the range to `take`; `None` at its end.
    pub fn next<T>(&mut self, take: impl FnOnce(&[u8]) -> T) -> Result<Option<T>, BlockError> {
        if self.pos == self.end {
            self.finish();
            return Ok(None);
        }
        loop {
            let packet = self.input.read_packet().map_err(|e| BlockError::Io(receive_text(&self.addr, &e)))?;
            let header = packet.header;
            if packet.data.is_empty() {
                if header.last_packet_in_block {
                    return Err(BlockError::Io(format!(
                        "DataNode {} ended the block at {} though {} was asked for",
                        self.addr, self.pos, self.end
                    )));
                }
                continue;
            }
            if self.verify
                && let Err(at) = self.checksum.verify(packet.data, packet.checksums)
            {
                return Err(BlockError::Checksum(format!(
                    "Checksum error at {} of the block from DataNode {}",
                    header.offset_in_block + at as u64,
                    self.addr
                )));
            }
            // The first packet begins at a chunk's start, the last may go on to a chunk's end.
            let Some(skip) = self.pos.checked_sub(header.offset_in_block) else {
                return Err(BlockError::Io(format!("DataNode {} left bytes out at {}", self.addr, self.pos)));
            };
            let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(packet.data.len());
            let keep = usize::try_from(self.end - self.pos).unwrap_or(usize::MAX).min(packet.data.len() - skip);
            if keep == 0 {
                continue;
            }
            self.pos += keep as u64;
            return Ok(Some(take(&packet.data[skip..skip + keep])));
        }
    }

    /// Takes the empty packet behind the range and tells the DataNode that the checksums agreed. What goes wrong here
    /// costs the connection only: the bytes are all there.
    fn finish(&mut self) {
        if self.finished {
            return;
        }
        loop {
            match self.input.read_packet() {
                Ok(packet) if packet.header.last_packet_in_block => break,
                Ok(packet) if packet.data.is_empty() => {}
                _ => return,
            }
        }
        let status = if self.verify { proto::Status::ChecksumOk } else { proto::Status::Success };
        let mut answer = Vec::with_capacity(8);
        put_message(&mut answer, &proto::ClientReadStatusProto { status: status as i32 });
        self.finished = self.input.source_mut().write_all(&answer).is_ok();
    }

    /// The connection, where the DataNode will take another operation on it.
    pub fn into_stream(mut self) -> Option<TcpStream> {
        if self.pos == self.end {
            self.finish();
        }
        let (stream, rest) = self.input.into_parts();
        (self.finished && rest.is_empty()).then_some(stream)
    }
}

fn check_answer(
    answer: &proto::BlockOpResponseProto,
    addr: &str,
    range: &Range<'_>,
) -> Result<DataChecksum, BlockError> {
    let status = answer.status;
    if status != proto::Status::Success as i32 {
        let name = proto::Status::try_from(status).map_or("?", |s| s.as_str_name());
        let text = format!(
            "Got error, status={name}, status message {}, for OP_READ_BLOCK, remote={addr}, for {}",
            answer.message.as_deref().unwrap_or(""),
            crate::datanode::block_text(&range.block.b)
        );
        return Err(if status == proto::Status::ErrorAccessToken as i32 {
            BlockError::Token(text)
        } else {
            BlockError::Io(text)
        });
    }
    let bad = || BlockError::Io(format!("bad answer from DataNode {addr} to OP_READ_BLOCK"));
    let info = answer.read_op_checksum_info.as_ref().ok_or_else(bad)?;
    if info.chunk_offset > range.offset {
        return Err(bad());
    }
    DataChecksum::from_proto(&info.checksum).ok_or_else(bad)
}
