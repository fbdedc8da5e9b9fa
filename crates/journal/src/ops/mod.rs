//! One operation of the edit log as bytes:
//!
//! ```text
//! opcode u8 | length i32 = 12 + body | txid i64 | body | CRC-32 over all before it, u32       (all big-endian)
//! ```
//! Source: `FSEditLogOp.java`, `FSEditLogOpCodes.java`, Hadoop 3.5.0 (layout -67).

mod code;
pub(crate) mod data;
mod decode;
mod encode;
mod parts;

pub use code::name as op_name;
pub use decode::{OLDEST_LAYOUT, OpDecoder};
pub use encode::{encode_op, encode_op_for};

use std::fmt;

/// Bytes of a frame that are not body: opcode, length, txid, checksum.
pub const FRAME_BYTES: usize = 17;
/// What the length field counts besides the body: txid and checksum.
const LENGTH_BASE: usize = 12;
/// The opcode of the fill behind the last operation.
pub const OP_INVALID: u8 = 0xFF;
/// Longest frame that is read, in bytes; Hadoop's `dfs.namenode.max.op.size`. Ours are bounded by the size of an RPC.
pub const FRAME_BYTES_MAX: usize = 50 << 20;

/// Why bytes are no operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpError {
    /// The bytes end inside it.
    Short,
    /// Nothing has this opcode.
    Opcode(u8),
    /// The length field is impossible.
    Length(i32),
    Checksum {
        stored: u32,
        computed: u32,
    },
    /// A string is not in Hadoop's form of UTF-8.
    Text,
    /// A protobuf part does not parse.
    Message,
    /// A field holds what it cannot hold.
    Value(&'static str),
    /// So many bytes are left over.
    Trailing(usize),
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpError::Short => write!(f, "it ends too early"),
            OpError::Opcode(code) => write!(f, "opcode {code} is unknown"),
            OpError::Length(length) => write!(f, "length {length} is impossible"),
            OpError::Checksum { stored, computed } => {
                write!(f, "its checksum is {computed:08x}, {stored:08x} is stored")
            }
            OpError::Text => write!(f, "a string in it is not UTF-8"),
            OpError::Message => write!(f, "a protobuf part of it does not parse"),
            OpError::Value(what) => write!(f, "{what} is out of range"),
            OpError::Trailing(count) => write!(f, "{count} bytes are left over"),
        }
    }
}

impl std::error::Error for OpError {}

/// The head of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameHead {
    pub opcode: u8,
    /// Bytes of the whole frame.
    pub frame_bytes: usize,
    pub txid: u64,
}

impl FrameHead {
    /// Bytes of the head: opcode, length, txid.
    pub const BYTES: usize = 13;

    /// # Errors
    /// `Short`, `Length`.
    pub fn parse(bytes: &[u8]) -> Result<FrameHead, OpError> {
        let mut reader = data::Reader::new(bytes);
        let opcode = reader.u8()?;
        let length = reader.i32()?;
        let frame_bytes = usize::try_from(length).map_err(|_| OpError::Length(length))? + 5;
        if !(FRAME_BYTES..=FRAME_BYTES_MAX).contains(&frame_bytes) {
            return Err(OpError::Length(length));
        }
        Ok(FrameHead { opcode, frame_bytes, txid: reader.u64()? })
    }
}

/// Checks length and checksum of a whole frame (exactly `frame_bytes` long) and gives its body.
///
/// # Errors
/// `Short`, `Length`, `Checksum`.
pub fn frame_body(frame: &[u8]) -> Result<(FrameHead, &[u8]), OpError> {
    let head = FrameHead::parse(frame)?;
    if frame.len() != head.frame_bytes {
        return Err(OpError::Short);
    }
    let (covered, stored) = frame.split_last_chunk::<4>().ok_or(OpError::Short)?;
    let (stored, computed) = (u32::from_be_bytes(*stored), crc32fast::hash(covered));
    if stored != computed {
        return Err(OpError::Checksum { stored, computed });
    }
    Ok((head, &covered[FrameHead::BYTES..]))
}
