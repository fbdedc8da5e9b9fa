//! The receiving side of a data connection: one buffer that fills with as few reads as possible.

use prost::Message;
use std::io::{self, Read};
use std::net::TcpStream;
use surus_wire::datatransfer::op::{delimited, put_message};

/// Room for an operation's header.
const BUFFER_BYTES: usize = 8 << 10;
/// Room while a block streams in: several packets with one read, as many as the writer is fast.
pub const STREAM_BUFFER_BYTES: usize = 128 << 10;
/// Four packets of 64 KiB with their checksums. A larger buffer leaves the core's own cache before it is written to the
/// page cache: the same bytes then cost a third more CPU (docs/benchmarks.md).
const STREAM_BUFFER_BYTES_MAX: usize = 272 << 10;

/// Bytes read from a socket and not yet used.
pub struct Input {
    stream: TcpStream,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    pub fn new(stream: TcpStream) -> Self {
        Input { stream, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0 }
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    pub fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        if self.start >= self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Makes the buffer at least `bytes` long, and moves what is buffered to its beginning.
    pub fn reserve(&mut self, bytes: usize) {
        if self.buffer.len() < bytes {
            self.buffer.resize(bytes, 0);
        }
        if self.start > 0 && self.start + bytes > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
    }

    /// Makes more room for a peer whose bytes fill the buffer.
    pub fn grow_when_full(&mut self) {
        if self.end == self.buffer.len() && self.buffer.len() < STREAM_BUFFER_BYTES_MAX {
            self.buffer.resize((self.buffer.len() * 2).min(STREAM_BUFFER_BYTES_MAX), 0);
        }
    }

    /// Reads once. False: the peer has closed its side.
    ///
    /// # Errors
    /// Those of the socket; `WouldBlock` when its time is up.
    pub fn fill(&mut self) -> io::Result<bool> {
        if self.end == self.buffer.len() {
            let want = if self.start == 0 { self.buffer.len() * 2 } else { self.buffer.len() };
            self.reserve(want);
        }
        loop {
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(n) => {
                    self.end += n;
                    return Ok(n > 0);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Reads one varint-delimited message.
    ///
    /// # Errors
    /// `UnexpectedEof` where the peer closes before its end; `InvalidData` for what is no such message.
    pub fn read_message<M: Message + Default>(&mut self) -> io::Result<M> {
        loop {
            let found = delimited(self.buffered()).map_err(io::Error::other)?;
            if let Some((bytes, used)) = found {
                let message = M::decode(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
                self.consume(used);
                return Ok(message);
            }
            if !self.fill()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Sends one varint-delimited message.
///
/// # Errors
/// Those of the socket.
pub fn write_message(mut stream: &TcpStream, message: &impl Message) -> io::Result<()> {
    let mut out = Vec::with_capacity(64);
    put_message(&mut out, message);
    io::Write::write_all(&mut stream, &out)
}
