//! Reads a binary edits file, operation by operation. In recovery mode a damaged part is passed over byte by byte until an
//! operation reads again. Source: `OfflineEditsBinaryLoader.java`, `FSEditLogOp.java` (`Reader`), Hadoop 3.5.0.

use super::{Flags, Renumber, Sink};
use crate::offline::Window;
use surus_journal::HEADER_BYTES;
use surus_journal::ops::{FRAME_BYTES, FrameHead, OP_INVALID, OpDecoder, OpError};
use surus_namespace::EditOp;
use surus_types::TxId;

/// The fill behind the last operation is looked at in such pieces.
const FILL_STEP: usize = 64 << 10;

pub fn read(path: &str, sink: &mut dyn Sink, flags: Flags) -> Result<(), String> {
    let mut reader = Reader::open(path)?;
    sink.start(reader.layout)?;
    let mut numbers = Renumber::new();
    loop {
        match reader.next() {
            Ok(Some((txid, mut op))) => sink.op(TxId(numbers.number(flags, txid.0)), &mut op)?,
            Ok(None) => return Ok(()),
            Err(problem) if flags.recover => {
                eprintln!("Got IOException while reading stream!  Resyncing. Position {}: {problem}", reader.position);
                if !reader.resync()? {
                    return Ok(());
                }
            }
            Err(problem) => {
                eprintln!("Got IOException at position {}", reader.position);
                return Err(problem);
            }
        }
    }
}

struct Reader {
    file: Window,
    layout: i32,
    decoder: OpDecoder,
    position: u64,
}

impl Reader {
    fn open(path: &str) -> Result<Reader, String> {
        let mut file = Window::open(path).map_err(|e| e.to_string())?;
        let header = file.get(0, HEADER_BYTES).map_err(|e| e.to_string())?;
        let (Some(layout), Some(flags)) = (header.first_chunk::<4>(), header.last_chunk::<4>()) else {
            return Err(format!("No header present in {path}"));
        };
        let (layout, flags) = (i32::from_be_bytes(*layout), i32::from_be_bytes(*flags));
        let decoder =
            OpDecoder::new(layout).map_err(|_| format!("Unexpected version of the file system log file: {layout}"))?;
        if flags != 0 {
            return Err(format!("Expected {flags} layout flags, but this reader knows none"));
        }
        Ok(Reader { file, layout, decoder, position: HEADER_BYTES as u64 })
    }

    /// The next operation; None at the end, where only fill may follow.
    fn next(&mut self) -> Result<Option<(TxId, EditOp)>, String> {
        let at = self.position;
        let io = |e: std::io::Error| e.to_string();
        let head = self.file.get(at, FRAME_BYTES).map_err(io)?;
        match head.first() {
            None => return Ok(None),
            Some(&OP_INVALID) => return if self.is_fill(at)? { Ok(None) } else { Err(no_fill(at)) },
            Some(_) => {}
        }
        let head = FrameHead::parse(head).map_err(|e| text(&e))?;
        let frame = self.file.get(at, head.frame_bytes).map_err(io)?;
        if frame.len() < head.frame_bytes {
            return Err(text(&OpError::Short));
        }
        let found = self.decoder.decode(frame).map_err(|e| text(&e))?;
        self.position += head.frame_bytes as u64;
        Ok(Some(found))
    }

    /// Goes on to the next offset where an operation reads, or only fill follows; false at the end of the file.
    fn resync(&mut self) -> Result<bool, String> {
        let from = self.position;
        for at in from + 1..self.file.len() {
            self.position = at;
            if self.next().is_ok() {
                self.position = at;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_fill(&mut self, mut at: u64) -> Result<bool, String> {
        loop {
            let part = self.file.get(at, FILL_STEP).map_err(|e| e.to_string())?;
            if part.is_empty() {
                return Ok(true);
            }
            if part.iter().any(|byte| *byte != OP_INVALID && *byte != 0) {
                return Ok(false);
            }
            at += part.len() as u64;
        }
    }
}

fn no_fill(at: u64) -> String {
    format!("Read extra bytes after the terminator at position {at}")
}

/// As Java says it, where Java says it shortly.
fn text(error: &OpError) -> String {
    match error {
        OpError::Short => "Premature EOF from inputStream".to_owned(),
        OpError::Checksum { stored, computed } => {
            format!("Transaction is corrupt. Calculated checksum is {computed} but read checksum {stored}")
        }
        other => other.to_string(),
    }
}
