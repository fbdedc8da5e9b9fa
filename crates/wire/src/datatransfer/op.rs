//! What a peer asks of a DataNode: the operation's number and its message.

use super::{DATA_TRANSFER_VERSION, MESSAGE_LEN_MAX};
use crate::required;
use crate::varint::{Varint, put_varint, read_varint};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use prost::Message;
use surus_proto::hadoop::hdfs::{
    OpBlockChecksumProto, OpBlockGroupChecksumProto, OpCopyBlockProto, OpCustomProto, OpReadBlockProto,
    OpReplaceBlockProto, OpRequestShortCircuitAccessProto, OpTransferBlockProto, OpWriteBlockProto,
    ReleaseShortCircuitAccessRequestProto, ShortCircuitShmRequestProto,
};
use surus_types::HdfsError;

/// The first two bytes of 0xDEADBEEF, with which SASL on a data connection begins. Source: `DataTransferSaslUtil.SASL_TRANSFER_MAGIC_NUMBER`, Hadoop 3.5.0.
const SASL_MAGIC: u16 = 0xdead;

/// Version and opcode before the message.
const OP_PREFIX_LEN: usize = 3;

/// Opcodes. Source: `Op.java`, Hadoop 3.5.0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Op {
    WriteBlock = 80,
    ReadBlock = 81,
    ReadMetadata = 82,
    ReplaceBlock = 83,
    CopyBlock = 84,
    BlockChecksum = 85,
    TransferBlock = 86,
    RequestShortCircuitFds = 87,
    ReleaseShortCircuitFds = 88,
    RequestShortCircuitShm = 89,
    BlockGroupChecksum = 90,
    Custom = 127,
}

impl Op {
    pub fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            80 => Op::WriteBlock,
            81 => Op::ReadBlock,
            82 => Op::ReadMetadata,
            83 => Op::ReplaceBlock,
            84 => Op::CopyBlock,
            85 => Op::BlockChecksum,
            86 => Op::TransferBlock,
            87 => Op::RequestShortCircuitFds,
            88 => Op::ReleaseShortCircuitFds,
            89 => Op::RequestShortCircuitShm,
            90 => Op::BlockGroupChecksum,
            127 => Op::Custom,
            _ => return None,
        })
    }

    /// Hadoop's name, as logs show it.
    pub fn name(self) -> &'static str {
        match self {
            Op::WriteBlock => "WRITE_BLOCK",
            Op::ReadBlock => "READ_BLOCK",
            Op::ReadMetadata => "READ_METADATA",
            Op::ReplaceBlock => "REPLACE_BLOCK",
            Op::CopyBlock => "COPY_BLOCK",
            Op::BlockChecksum => "BLOCK_CHECKSUM",
            Op::TransferBlock => "TRANSFER_BLOCK",
            Op::RequestShortCircuitFds => "REQUEST_SHORT_CIRCUIT_FDS",
            Op::ReleaseShortCircuitFds => "RELEASE_SHORT_CIRCUIT_FDS",
            Op::RequestShortCircuitShm => "REQUEST_SHORT_CIRCUIT_SHM",
            Op::BlockGroupChecksum => "BLOCK_GROUP_CHECKSUM",
            Op::Custom => "CUSTOM",
        }
    }
}

/// An operation with its message.
#[derive(Clone, PartialEq, Debug)]
pub enum OpRequest {
    WriteBlock(Box<OpWriteBlockProto>),
    ReadBlock(Box<OpReadBlockProto>),
    ReplaceBlock(Box<OpReplaceBlockProto>),
    CopyBlock(Box<OpCopyBlockProto>),
    BlockChecksum(Box<OpBlockChecksumProto>),
    TransferBlock(Box<OpTransferBlockProto>),
    RequestShortCircuitFds(Box<OpRequestShortCircuitAccessProto>),
    ReleaseShortCircuitFds(Box<ReleaseShortCircuitAccessRequestProto>),
    RequestShortCircuitShm(Box<ShortCircuitShmRequestProto>),
    BlockGroupChecksum(Box<OpBlockGroupChecksumProto>),
    Custom(Box<OpCustomProto>),
}

impl OpRequest {
    pub fn op(&self) -> Op {
        match self {
            OpRequest::WriteBlock(_) => Op::WriteBlock,
            OpRequest::ReadBlock(_) => Op::ReadBlock,
            OpRequest::ReplaceBlock(_) => Op::ReplaceBlock,
            OpRequest::CopyBlock(_) => Op::CopyBlock,
            OpRequest::BlockChecksum(_) => Op::BlockChecksum,
            OpRequest::TransferBlock(_) => Op::TransferBlock,
            OpRequest::RequestShortCircuitFds(_) => Op::RequestShortCircuitFds,
            OpRequest::ReleaseShortCircuitFds(_) => Op::ReleaseShortCircuitFds,
            OpRequest::RequestShortCircuitShm(_) => Op::RequestShortCircuitShm,
            OpRequest::BlockGroupChecksum(_) => Op::BlockGroupChecksum,
            OpRequest::Custom(_) => Op::Custom,
        }
    }
}

/// Why bytes are no operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpError {
    /// A peer of another version, or of another protocol.
    Version(u16),
    /// A peer that begins with SASL (`dfs.data.transfer.protection`, `dfs.encrypt.data.transfer`).
    Sasl,
    UnknownOp(u8),
    /// An operation no version of Hadoop sends (READ_METADATA).
    NotServed(Op),
    /// The message is longer than `MESSAGE_LEN_MAX`.
    TooLong(u64),
    /// The message does not decode, or lacks a required field.
    Malformed(Op, HdfsError),
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpError::Version(version) => {
                write!(f, "Version Mismatch (Expected: {DATA_TRANSFER_VERSION}, Received: {version} )")
            }
            OpError::Sasl => f.write_str(
                "the peer begins with SASL, as dfs.data.transfer.protection or dfs.encrypt.data.transfer tells it; \
                 plain data transfer is the only kind served here",
            ),
            OpError::UnknownOp(code) => write!(f, "Unknown op {code} in data stream"),
            OpError::NotServed(op) => write!(f, "Unknown op {} in data stream", op.name()),
            OpError::TooLong(len) => write!(f, "a message of {len} bytes in data stream; at most {MESSAGE_LEN_MAX}"),
            OpError::Malformed(op, error) => write!(f, "{}: {}", op.name(), error.message),
        }
    }
}

impl core::error::Error for OpError {}

/// Looks for an operation at the start of `input`. `Ok(None)`: more bytes are needed. Else the operation, and how
/// many bytes it took.
///
/// # Errors
/// The peer is none of ours; the connection is to be closed.
pub fn parse_op(input: &[u8]) -> Result<Option<(OpRequest, usize)>, OpError> {
    let Some(prefix) = input.first_chunk::<OP_PREFIX_LEN>() else { return Ok(None) };
    let version = u16::from_be_bytes([prefix[0], prefix[1]]);
    if version != DATA_TRANSFER_VERSION {
        return Err(if version == SASL_MAGIC { OpError::Sasl } else { OpError::Version(version) });
    }
    let op = Op::from_code(prefix[2]).ok_or(OpError::UnknownOp(prefix[2]))?;
    match delimited(&input[OP_PREFIX_LEN..])? {
        None => Ok(None),
        Some((message, len)) => Ok(Some((decode(op, message)?, OP_PREFIX_LEN + len))),
    }
}

/// Looks for a varint-delimited message at the start of `input`: its bytes, and how many it took with its length.
///
/// # Errors
/// It is longer than `MESSAGE_LEN_MAX`.
pub fn delimited(input: &[u8]) -> Result<Option<(&[u8], usize)>, OpError> {
    match read_varint(input) {
        Varint::Incomplete => Ok(None),
        Varint::Malformed => Err(OpError::TooLong(u64::MAX)),
        Varint::Value(len, _) if len > MESSAGE_LEN_MAX as u64 => Err(OpError::TooLong(len)),
        Varint::Value(len, prefix) => {
            let end = prefix + len as usize;
            Ok(input.get(prefix..end).map(|message| (message, end)))
        }
    }
}

fn decode(op: Op, bytes: &[u8]) -> Result<OpRequest, OpError> {
    fn message<M: Message + Default + prost::Name>(op: Op, bytes: &[u8]) -> Result<Box<M>, OpError> {
        required::decode(bytes).map(Box::new).map_err(|error| OpError::Malformed(op, error))
    }
    Ok(match op {
        Op::WriteBlock => OpRequest::WriteBlock(message(op, bytes)?),
        Op::ReadBlock => OpRequest::ReadBlock(message(op, bytes)?),
        Op::ReadMetadata => return Err(OpError::NotServed(op)),
        Op::ReplaceBlock => OpRequest::ReplaceBlock(message(op, bytes)?),
        Op::CopyBlock => OpRequest::CopyBlock(message(op, bytes)?),
        Op::BlockChecksum => OpRequest::BlockChecksum(message(op, bytes)?),
        Op::TransferBlock => OpRequest::TransferBlock(message(op, bytes)?),
        Op::RequestShortCircuitFds => OpRequest::RequestShortCircuitFds(message(op, bytes)?),
        Op::ReleaseShortCircuitFds => OpRequest::ReleaseShortCircuitFds(message(op, bytes)?),
        Op::RequestShortCircuitShm => OpRequest::RequestShortCircuitShm(message(op, bytes)?),
        Op::BlockGroupChecksum => OpRequest::BlockGroupChecksum(message(op, bytes)?),
        Op::Custom => OpRequest::Custom(message(op, bytes)?),
    })
}

/// Appends an operation.
pub fn put_op(out: &mut Vec<u8>, op: Op, message: &impl Message) {
    out.extend_from_slice(&DATA_TRANSFER_VERSION.to_be_bytes());
    out.push(op as u8);
    put_message(out, message);
}

/// Appends a varint-delimited message: an answer, a read status.
pub fn put_message(out: &mut Vec<u8>, message: &impl Message) {
    let len = message.encoded_len();
    out.reserve(len + 5);
    put_varint(out, len as u64);
    message.encode_raw(out);
}
