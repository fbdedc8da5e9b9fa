//! Packets: the pieces in which a block travels.
//!
//! ```text
//!  0      4      6            6+HLEN
//!  | PLEN | HLEN | header ... | checksums ... | data ... |
//!           header: 09 offsetInBlock(8, LE) 11 seqno(8, LE) 18 last(1) 25 dataLen(4, LE) [28 sync(1)]
//! ```
//! PLEN counts itself, the checksums and the data, not the header. Source: `PacketHeader.java`, Hadoop 3.5.0.

use super::PACKET_LEN_MAX;
use crate::varint::{Value, take_field};
use core::fmt;

/// PLEN and HLEN.
pub const PACKET_PREFIX_LEN: usize = 6;
/// Length of an encoded header; `syncBlock` is sent only when it is set, for the sake of Hadoop 2.0.
pub const PACKET_HEADER_LEN: usize = 25;
/// Prefix and header at their longest.
pub const PACKET_HEAD_LEN_MAX: usize = PACKET_PREFIX_LEN + PACKET_HEADER_LEN + 2;
/// Longest header that is accepted: room for fields of later versions.
const HEADER_LEN_MAX: usize = 1024;

/// `PacketHeaderProto`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketHeader {
    /// Where the data begins in the block, in bytes.
    pub offset_in_block: u64,
    /// Counts up from 0; `HEARTBEAT_SEQNO` for a packet without content.
    pub seqno: i64,
    /// The block ends before this packet, which is empty.
    pub last_packet_in_block: bool,
    /// Length of the data in bytes.
    pub data_len: u32,
    /// The data is to be on disk before it is acknowledged.
    pub sync_block: bool,
}

/// Prefix and header of a packet, encoded.
#[derive(Clone, Copy, Debug)]
pub struct PacketHead {
    bytes: [u8; PACKET_HEAD_LEN_MAX],
    len: usize,
}

impl core::ops::Deref for PacketHead {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl PacketHeader {
    /// What comes before the checksums of a packet, given their length in bytes.
    pub fn encode(&self, checksums_len: usize) -> PacketHead {
        let header_len = if self.sync_block { PACKET_HEADER_LEN + 2 } else { PACKET_HEADER_LEN };
        let payload_len = 4 + checksums_len as u32 + self.data_len;
        let mut bytes = [0; PACKET_HEAD_LEN_MAX];
        bytes[..4].copy_from_slice(&payload_len.to_be_bytes());
        bytes[4..6].copy_from_slice(&(header_len as u16).to_be_bytes());
        bytes[6] = 0x09;
        bytes[7..15].copy_from_slice(&self.offset_in_block.to_le_bytes());
        bytes[15] = 0x11;
        bytes[16..24].copy_from_slice(&self.seqno.to_le_bytes());
        bytes[24] = 0x18;
        bytes[25] = u8::from(self.last_packet_in_block);
        bytes[26] = 0x25;
        bytes[27..31].copy_from_slice(&self.data_len.to_le_bytes());
        bytes[31..33].copy_from_slice(&[0x28, 1]);
        PacketHead { bytes, len: PACKET_PREFIX_LEN + header_len }
    }

    /// Decodes a `PacketHeaderProto`; `None` where a required field is missing or the bytes are no message.
    fn decode(mut bytes: &[u8]) -> Option<Self> {
        let (mut offset, mut seqno, mut last, mut len) = (None, None, None, None);
        let mut sync_block = false;
        while let Some(field) = take_field(&mut bytes).ok()? {
            match field {
                (1, Value::Fixed64(value)) => offset = Some(value),
                (2, Value::Fixed64(value)) => seqno = Some(value as i64),
                (3, Value::Varint(value)) => last = Some(value != 0),
                (4, Value::Fixed32(value)) => len = Some(value),
                (5, Value::Varint(value)) => sync_block = value != 0,
                _ => {}
            }
        }
        Some(PacketHeader {
            offset_in_block: offset?,
            seqno: seqno?,
            last_packet_in_block: last?,
            data_len: len?,
            sync_block,
        })
    }
}

/// A packet as it lies in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    pub header: PacketHeader,
    /// The whole packet, to be sent on as it came.
    pub raw: &'a [u8],
    pub checksums: &'a [u8],
    pub data: &'a [u8],
}

/// Why bytes are no packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketError {
    /// PLEN is too short, or the packet longer than `PACKET_LEN_MAX`.
    PayloadLen(u32),
    HeaderLen(u16),
    /// The header does not decode, or lacks a required field.
    Header,
    /// The header's `dataLen` is more than the packet holds.
    DataLen(u32),
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketError::PayloadLen(len) => write!(f, "Incorrect value for packet payload size: {len}"),
            PacketError::HeaderLen(len) => write!(f, "Invalid header length {len}"),
            PacketError::Header => f.write_str("Malformed packet header"),
            PacketError::DataLen(len) => write!(f, "Packet data length {len} is longer than the packet"),
        }
    }
}

impl core::error::Error for PacketError {}

/// Length of the packet whose first bytes are `prefix`: what a reader has to have.
///
/// # Errors
/// Lengths no packet has.
pub fn packet_len(prefix: &[u8; PACKET_PREFIX_LEN]) -> Result<usize, PacketError> {
    let payload = u32::from_be_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]);
    let header = u16::from_be_bytes([prefix[4], prefix[5]]);
    if payload < 4 || payload as usize > PACKET_LEN_MAX {
        return Err(PacketError::PayloadLen(payload));
    }
    if usize::from(header) > HEADER_LEN_MAX {
        return Err(PacketError::HeaderLen(header));
    }
    Ok(PACKET_PREFIX_LEN + usize::from(header) + (payload as usize - 4))
}

/// Looks for a packet at the start of `input`. `Ok(None)`: more bytes are needed (see `packet_len`).
///
/// # Errors
/// Bytes that are no packet; the connection is to be closed.
pub fn parse_packet(input: &[u8]) -> Result<Option<Packet<'_>>, PacketError> {
    let Some(prefix) = input.first_chunk::<PACKET_PREFIX_LEN>() else { return Ok(None) };
    let len = packet_len(prefix)?;
    let Some(raw) = input.get(..len) else { return Ok(None) };
    let (header, payload) = raw[PACKET_PREFIX_LEN..].split_at(usize::from(u16::from_be_bytes([prefix[4], prefix[5]])));
    let header = PacketHeader::decode(header).ok_or(PacketError::Header)?;
    let checksums_len =
        payload.len().checked_sub(header.data_len as usize).ok_or(PacketError::DataLen(header.data_len))?;
    let (checksums, data) = payload.split_at(checksums_len);
    Ok(Some(Packet { header, raw, checksums, data }))
}
