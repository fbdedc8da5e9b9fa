//! Reads one section of an image, message by message, compressed or not. Never holds more than one message and a window.

use super::codec::Codec;
use std::io::{self, Read};
use surus_disk::DiskFile;

/// Longest message, in bytes: a directory of 10 million children needs about 50 MB.
const MESSAGE_BYTES_MAX: u64 = 256 << 20;
const WINDOW_BYTES: usize = 1 << 20;

/// A section's messages.
pub struct Section<'a> {
    source: Box<dyn Read + 'a>,
    window: Vec<u8>,
    at: usize,
    /// Bytes of the section before the window.
    before: u64,
    /// How much is read at once.
    step: usize,
}

impl<'a> Section<'a> {
    pub fn new(file: &'a dyn DiskFile, offset: u64, length: u64, codec: Codec) -> Section<'a> {
        let range = Range { file, at: offset, end: offset.saturating_add(length) };
        let source = codec.reader(range).unwrap_or_else(|e| Box::new(Failed(Some(e))));
        // A small section needs no large window.
        let step = length.saturating_add(1).min(WINDOW_BYTES as u64) as usize;
        Section { source, window: Vec::new(), at: 0, before: 0, step }
    }

    /// How much of the section was consumed, in bytes after decompression.
    pub fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    /// The next message; None at the end of the section.
    ///
    /// # Errors
    /// The disk's, `UnexpectedEof` when the section ends inside a message, `InvalidData` for an impossible length.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut length = 0u64;
        for shift in (0..).step_by(7) {
            if self.at == self.window.len() && self.fill(1)? == 0 {
                return if shift == 0 { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            let byte = self.window[self.at];
            self.at += 1;
            length |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                break;
            }
            if shift >= 28 {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the length of a message is impossible"));
            }
        }
        if length > MESSAGE_BYTES_MAX {
            let text = format!("a message of {length} bytes, more than {MESSAGE_BYTES_MAX}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let length = length as usize;
        if self.window.len() - self.at < length && self.fill(length)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let message = &self.window[self.at..self.at + length];
        self.at += length;
        Ok(Some(message))
    }

    /// Reads until `wanted` bytes are in the window behind `at`, or the section ends; gives how many there are.
    fn fill(&mut self, wanted: usize) -> io::Result<usize> {
        self.window.drain(..self.at);
        self.before += self.at as u64;
        self.at = 0;
        while self.window.len() < wanted {
            let step = (&mut self.source).take(self.step as u64).read_to_end(&mut self.window)?;
            if step == 0 {
                break;
            }
        }
        Ok(self.window.len())
    }
}

/// A part of a file as a stream.
struct Range<'a> {
    file: &'a dyn DiskFile,
    at: u64,
    end: u64,
}

impl Read for Range<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (self.end - self.at.min(self.end)).min(buffer.len() as u64) as usize;
        let read = self.file.read_at(&mut buffer[..count], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// A stream that could not be set up says so when it is read.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(self.0.take().unwrap_or_else(|| io::ErrorKind::InvalidData.into()))
    }
}
