//! The receiving side of a data-transfer connection: operations, messages and packets out of one read buffer,
//! with as few reads as their sizes allow.

use prost::Message;
use std::fmt;
use std::io::{self, Read};
use surus_wire::datatransfer::op::{delimited, parse_op};
use surus_wire::datatransfer::packet::{PACKET_PREFIX_LEN, packet_len, parse_packet};
use surus_wire::datatransfer::{OpError, OpRequest, Packet, PacketError, PipelineAck};
use surus_wire::required;

/// What a read asks for at least: a packet of the usual size with its checksums, and the head of the next.
const READ_LEN: usize = 68 << 10;
/// What the first read of a connection asks for: an operation.
const FIRST_READ_LEN: usize = 2 << 10;

/// Why nothing could be received.
#[derive(Debug)]
pub enum ReceiveError {
    /// The socket failed, timed out, or ended in the middle.
    Io(io::Error),
    Op(OpError),
    Packet(PacketError),
    /// A message that does not decode, or lacks a required field.
    Message(String),
}

impl fmt::Display for ReceiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReceiveError::Io(e) => e.fmt(f),
            ReceiveError::Op(e) => e.fmt(f),
            ReceiveError::Packet(e) => e.fmt(f),
            ReceiveError::Message(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for ReceiveError {}

impl From<io::Error> for ReceiveError {
    fn from(error: io::Error) -> Self {
        ReceiveError::Io(error)
    }
}

impl From<OpError> for ReceiveError {
    fn from(error: OpError) -> Self {
        ReceiveError::Op(error)
    }
}

impl From<PacketError> for ReceiveError {
    fn from(error: PacketError) -> Self {
        ReceiveError::Packet(error)
    }
}

impl From<ReceiveError> for io::Error {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::Io(e) => e,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        }
    }
}

/// Reads a data-transfer connection. `R` is a stream, or a reference to one.
#[derive(Debug)]
pub struct DataReader<R> {
    source: R,
    /// Received and not consumed: `bytes[start..end]`.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl<R: Read> DataReader<R> {
    pub fn new(source: R) -> Self {
        DataReader { source, bytes: Vec::new(), start: 0, end: 0 }
    }

    pub fn source(&self) -> &R {
        &self.source
    }

    pub fn source_mut(&mut self) -> &mut R {
        &mut self.source
    }

    /// The stream, and what was read from it and not consumed.
    pub fn into_parts(self) -> (R, Vec<u8>) {
        (self.source, self.bytes[self.start..self.end].to_vec())
    }

    /// Bytes received and not consumed.
    pub fn buffered(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// The next operation; `None` where the peer closed before its first byte.
    ///
    /// # Errors
    /// The peer is none of ours, or gone.
    pub fn read_op(&mut self) -> Result<Option<OpRequest>, ReceiveError> {
        loop {
            if let Some((op, len)) = parse_op(self.buffered())? {
                self.start += len;
                return Ok(Some(op));
            }
            let before = self.end - self.start;
            match self.fill(before + FIRST_READ_LEN) {
                Ok(()) => {}
                Err(e) if before == 0 && e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// The next varint-delimited message, its required fields checked: `BlockOpResponseProto`, `ClientReadStatusProto`.
    ///
    /// # Errors
    /// Bytes that are no such message, or the peer is gone.
    pub fn read_message<M: Message + Default + prost::Name>(&mut self) -> Result<M, ReceiveError> {
        let end = self.fill_delimited()?;
        let message =
            required::decode_delimited(&self.bytes[self.start..end]).map_err(|e| ReceiveError::Message(e.message))?;
        self.start = end;
        Ok(message)
    }

    /// The next acknowledgement, over the old content of `ack`.
    ///
    /// # Errors
    /// Bytes that are no acknowledgement, or the peer is gone.
    pub fn read_ack(&mut self, ack: &mut PipelineAck) -> Result<(), ReceiveError> {
        let end = self.fill_delimited()?;
        let decoded = match delimited(&self.bytes[self.start..end])? {
            Some((bytes, _)) => ack.decode_into(bytes),
            None => None,
        };
        self.start = end;
        decoded.ok_or_else(|| ReceiveError::Message("Malformed pipeline acknowledgement".to_owned()))
    }

    /// The next packet. It lies in the reader's buffer until the next call.
    ///
    /// # Errors
    /// Bytes that are no packet, or the peer is gone.
    pub fn read_packet(&mut self) -> Result<Packet<'_>, ReceiveError> {
        while self.end - self.start < PACKET_PREFIX_LEN {
            self.fill(READ_LEN)?;
        }
        let len = match self.buffered().first_chunk::<PACKET_PREFIX_LEN>() {
            Some(prefix) => packet_len(prefix)?,
            None => 0,
        };
        while self.end - self.start < len {
            // The buffer doubles at most, so that a long packet that is only announced costs little.
            let have = self.end - self.start;
            self.fill(len.min(2 * have.max(READ_LEN)))?;
        }
        let start = self.start;
        self.start += len;
        parse_packet(&self.bytes[start..start + len])?.ok_or(ReceiveError::Packet(PacketError::Header))
    }

    /// Reads until a whole delimited message is there: where it ends.
    fn fill_delimited(&mut self) -> Result<usize, ReceiveError> {
        loop {
            if let Some((_, len)) = delimited(self.buffered())? {
                return Ok(self.start + len);
            }
            self.fill(self.end - self.start + FIRST_READ_LEN)?;
        }
    }

    /// Makes room for `target` unconsumed bytes and reads once.
    fn fill(&mut self, target: usize) -> io::Result<()> {
        let unread = self.end - self.start;
        if self.bytes.len() - self.start < target || unread == 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, unread);
        }
        if self.bytes.len() < target {
            self.bytes.resize(target, 0);
        }
        loop {
            match self.source.read(&mut self.bytes[self.end..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    self.end += count;
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}
