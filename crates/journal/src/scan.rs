//! Reads a segment's operations one after the other, and tells at a bad one whether a crash cut the log there (torn) or
//! something is wrong with the disk (damage).
//!
//! Torn means: within one commit's size of the last written byte there is a sector whose part of the operation still
//! holds the fill, to the sector's end. Then the commit that wrote it was never acknowledged, nor anything behind it.
//! One changed byte never makes a sound operation look torn: a changed length is tried, and where all that is missing is a
//! single byte, the checksum tells which it was (it is mended: torn or damaged, the operation is there).

use crate::commit::COMMIT_BYTES_MAX;
use crate::error::{DamageKind, JournalError};
use crate::ops::{FRAME_BYTES, FRAME_BYTES_MAX, FrameHead, OP_INVALID, OpDecoder, OpError, frame_body};
use crate::segment::{HEADER_BYTES, PREALLOCATION_BYTES, check_header};
use std::io;
use std::path::{Path, PathBuf};
use surus_disk::{Disk, DiskFile, OpenMode, SECTOR_BYTES};
use surus_namespace::EditOp;
use surus_types::TxId;

const SECTOR: u64 = SECTOR_BYTES as u64;
const STEP: u64 = PREALLOCATION_BYTES as u64;
/// How much is read at once.
const WINDOW_BYTES: usize = 1 << 20;

/// How a segment ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SegmentEnd {
    /// Behind the last operation there is nothing, or fill. `empty`: there is no operation, perhaps no header.
    Clean { offset: u64 },
    /// A crash cut the log at `offset`. `last_lost`: the highest transaction that can be read behind the cut, if any.
    Torn { offset: u64, error: OpError, last_lost: Option<TxId> },
}

impl SegmentEnd {
    /// Where the last operation ends.
    pub fn offset(&self) -> u64 {
        match self {
            SegmentEnd::Clean { offset } | SegmentEnd::Torn { offset, .. } => *offset,
        }
    }
}

/// What a bad operation is.
enum Verdict {
    Torn,
    Damaged,
    /// All of it was there but one byte.
    Mended(TxId, EditOp),
}

/// An open segment.
pub struct SegmentReader {
    path: PathBuf,
    file: Box<dyn DiskFile>,
    len: u64,
    window: Vec<u8>,
    window_start: u64,
    decoder: OpDecoder,
    position: u64,
    next: TxId,
    end: Option<SegmentEnd>,
    mended: Vec<(u64, u8)>,
    /// The segment was whole when it got its name: whatever is bad in it is damage.
    is_finalized: bool,
}

impl SegmentReader {
    /// Opens a segment whose first transaction is `first`.
    ///
    /// # Errors
    /// The disk's, or damage of the header.
    pub fn open(disk: &dyn Disk, path: &Path, first: TxId, layout: i32) -> Result<SegmentReader, JournalError> {
        let mut reader = Self::unread(disk, path, first, layout)?;
        reader.read_header(layout)?;
        Ok(reader)
    }

    /// As `open` for a segment whose header is damaged: begins with the first operation that can be found.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn open_past_header(
        disk: &dyn Disk,
        path: &Path,
        first: TxId,
        layout: i32,
    ) -> Result<SegmentReader, JournalError> {
        let mut reader = Self::unread(disk, path, first, layout)?;
        reader.resync()?;
        Ok(reader)
    }

    fn unread(disk: &dyn Disk, path: &Path, first: TxId, layout: i32) -> Result<SegmentReader, JournalError> {
        let unread = JournalError::io("opening an edit segment");
        let file = disk.open(path, OpenMode::Read).map_err(unread)?;
        let len = file.len().map_err(JournalError::io("opening an edit segment"))?;
        let decoder = OpDecoder::new(layout)
            .map_err(|e| JournalError::damaged(path, 0, first, DamageKind::Header(e.to_string())))?;
        Ok(SegmentReader {
            path: path.to_path_buf(),
            file,
            len,
            window: Vec::new(),
            window_start: 0,
            decoder,
            position: 0,
            next: first,
            end: None,
            mended: Vec::new(),
            is_finalized: false,
        })
    }

    /// Says that the segment is a finalised one: no operation in it can be torn.
    pub fn finalized(mut self) -> SegmentReader {
        self.is_finalized = true;
        self
    }

    fn read_header(&mut self, layout: i32) -> Result<(), JournalError> {
        let Some(header) = self.bytes(0, HEADER_BYTES)?.first_chunk::<HEADER_BYTES>().copied() else {
            self.end = Some(SegmentEnd::Clean { offset: 0 });
            return Ok(());
        };
        if let Err(problem) = check_header(header, layout) {
            // A crash while the segment was being made leaves sectors of fill and of zeros, and no operation.
            if self.unwritten_from(0, 0)? {
                self.end = Some(SegmentEnd::Clean { offset: 0 });
                return Ok(());
            }
            return Err(self.damage(DamageKind::Header(problem)));
        }
        self.position = HEADER_BYTES as u64;
        Ok(())
    }

    /// The next operation and the offset at which it begins; None at the end.
    ///
    /// # Errors
    /// The disk's, or damage.
    pub fn next_op(&mut self) -> Result<Option<(u64, TxId, EditOp)>, JournalError> {
        if self.end.is_some() {
            return Ok(None);
        }
        let offset = self.position;
        match self.try_next()? {
            Ok(Some((txid, op))) if txid == self.next => {
                self.next.0 += 1;
                Ok(Some((offset, txid, op)))
            }
            Ok(Some((txid, _))) => {
                self.position = offset;
                Err(self.damage(DamageKind::WrongTxId(txid)))
            }
            Ok(None) => {
                self.end = Some(SegmentEnd::Clean { offset });
                Ok(None)
            }
            Err(error) => match self.judge()? {
                Verdict::Damaged => Err(self.damage(DamageKind::Op(error))),
                Verdict::Mended(txid, op) => {
                    self.next.0 += 1;
                    Ok(Some((offset, txid, op)))
                }
                Verdict::Torn => {
                    let last_lost = self.find_lost()?;
                    self.end = Some(SegmentEnd::Torn { offset, error, last_lost });
                    Ok(None)
                }
            },
        }
    }

    /// Passes over the damage that `next_op` reported: the next operation is the next sound one behind it.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn resync(&mut self) -> Result<(), JournalError> {
        /// Bytes that look like an operation of a far later transaction are none.
        const TXIDS_SKIPPED_MAX: u64 = 1 << 32;
        let until = self.written_until(self.position)?;
        let mut at = self.position.max(HEADER_BYTES as u64);
        while at + FRAME_BYTES as u64 <= until {
            let head = FrameHead::parse(self.bytes(at, FrameHead::BYTES)?);
            let near = self.next.0..self.next.0.saturating_add(TXIDS_SKIPPED_MAX);
            let plausible = head.ok().filter(|head| near.contains(&head.txid) && head.opcode != OP_INVALID);
            if let Some(head) = plausible {
                let frame = self.bytes(at, head.frame_bytes)?.to_vec();
                if self.decoder.decode(&frame).is_ok() {
                    (self.position, self.next) = (at, TxId(head.txid));
                    return Ok(());
                }
            }
            at += 1;
        }
        self.end = Some(SegmentEnd::Clean { offset: self.position });
        Ok(())
    }

    /// How the segment ended; after `next_op` gave None.
    pub fn end(&self) -> Option<&SegmentEnd> {
        self.end.as_ref()
    }

    /// Bytes that were read as fill, and what must stand there: offset and byte.
    pub fn mended(&self) -> &[(u64, u8)] {
        &self.mended
    }

    /// The transaction that would come next.
    pub fn next_txid(&self) -> TxId {
        self.next
    }

    fn damage(&self, problem: DamageKind) -> JournalError {
        JournalError::damaged(&self.path, self.position, self.next, problem)
    }

    /// None in the middle: the fill begins here, and there is nothing but fill.
    fn try_next(&mut self) -> Result<Result<Option<(TxId, EditOp)>, OpError>, JournalError> {
        let at = self.position;
        let head = self.bytes(at, FRAME_BYTES)?;
        let Some(opcode) = head.first().copied() else { return Ok(Ok(None)) };
        let parsed = FrameHead::parse(head);
        if opcode == OP_INVALID || parsed.is_err() {
            let error = parsed.err().unwrap_or(OpError::Opcode(opcode));
            // An extension that a crash cut short may hold zeros; fill inside the step was durable.
            return Ok(if self.unwritten_from(at, at.next_multiple_of(STEP))? { Ok(None) } else { Err(error) });
        }
        let bytes = parsed.map_or(0, |head| head.frame_bytes);
        let start = self.load(at, bytes)?;
        let Some(frame) = self.window.get(start..start + bytes) else { return Ok(Err(OpError::Short)) };
        Ok(match self.decoder.decode(frame) {
            Ok(found) => {
                self.position = at + bytes as u64;
                Ok(Some(found))
            }
            Err(error) => Err(error),
        })
    }

    /// What the bad operation at `position` is.
    fn judge(&mut self) -> Result<Verdict, JournalError> {
        if self.is_finalized {
            return Ok(Verdict::Damaged);
        }
        let at = self.position;
        let head = FrameHead::parse(self.bytes(at, FrameHead::BYTES)?);
        let trusted = head.ok().filter(|head| head.opcode != OP_INVALID && head.txid == self.next.0);
        let bytes = trusted.map_or(FrameHead::BYTES, |head| head.frame_bytes) as u64;
        let until = (at + bytes).min(self.len);
        let written_until = self.written_until(at)?;
        let oldest = written_until.saturating_sub(COMMIT_BYTES_MAX as u64 + SECTOR);
        let mut sector = at.max(oldest) / SECTOR * SECTOR;
        while sector < until {
            let (from, to) = (sector.max(at), (sector + SECTOR).min(self.len));
            if is_fill(self.bytes(from, (to - from) as usize)?) {
                let own = to.min(until) - from;
                if own == 1
                    && let Some((txid, op)) = self.mend(from)?
                {
                    return Ok(Verdict::Mended(txid, op));
                }
                // All that is left of the operation lies behind what was written: its length may be what is wrong.
                let length_matters = from >= written_until && trusted.is_some();
                return Ok(if length_matters && self.length_repairs()? { Verdict::Damaged } else { Verdict::Torn });
            }
            sector += SECTOR;
        }
        Ok(Verdict::Damaged)
    }

    /// The operation with the byte at `at` that makes it sound, if there is one.
    fn mend(&mut self, at: u64) -> Result<Option<(TxId, EditOp)>, JournalError> {
        let (start, next) = (self.position, self.next);
        let Ok(head) = FrameHead::parse(self.bytes(start, FrameHead::BYTES)?) else { return Ok(None) };
        let mut frame = self.bytes(start, head.frame_bytes)?.to_vec();
        let index = (at - start) as usize;
        if head.txid != next.0 || frame.len() < head.frame_bytes || index >= frame.len() {
            return Ok(None);
        }
        for byte in 0..OP_INVALID {
            frame[index] = byte;
            if let Ok(found) = self.decoder.decode(&frame) {
                self.mended.push((at, byte));
                self.position = start + head.frame_bytes as u64;
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether another byte in the length field would make the operation sound.
    fn length_repairs(&mut self) -> Result<bool, JournalError> {
        let at = self.position;
        let Some(length) = self.bytes(at + 1, 4)?.first_chunk::<4>().copied() else { return Ok(false) };
        for (index, byte) in (0..length.len()).flat_map(|index| (0..=255u8).map(move |byte| (index, byte))) {
            let mut length = length;
            length[index] = byte;
            let bytes = u32::from_be_bytes(length) as usize + 5;
            if !(FRAME_BYTES..=FRAME_BYTES_MAX).contains(&bytes) || at + bytes as u64 > self.len {
                continue;
            }
            let next = self.bytes(at + bytes as u64, FrameHead::BYTES)?;
            let fits = match next.first() {
                None | Some(&OP_INVALID) => true,
                Some(_) => FrameHead::parse(next).is_ok_and(|head| head.txid == self.next.0 + 1),
            };
            if fits {
                let mut frame = self.bytes(at, bytes)?.to_vec();
                frame[1..5].copy_from_slice(&length);
                if frame_body(&frame).is_ok() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The highest transaction of a sound operation behind a torn one.
    fn find_lost(&mut self) -> Result<Option<TxId>, JournalError> {
        let until = self.written_until(self.position)?;
        let (mut at, mut highest) = (self.position + 1, None);
        while at + FRAME_BYTES as u64 <= until {
            let head = FrameHead::parse(self.bytes(at, FrameHead::BYTES)?);
            let expected = self.next.0..=self.next.0 + COMMIT_BYTES_MAX as u64;
            let plausible = head.ok().filter(|head| expected.contains(&head.txid) && head.opcode != OP_INVALID);
            let Some(head) = plausible else {
                at += 1;
                continue;
            };
            if frame_body(self.bytes(at, head.frame_bytes)?).is_ok() {
                highest = highest.max(Some(TxId(head.txid)));
                at += head.frame_bytes as u64;
            } else {
                at += 1;
            }
        }
        Ok(highest)
    }

    /// Whether from `at` on there is only fill; sectors from `zeros_from` on may also be all zeros.
    fn unwritten_from(&mut self, at: u64, zeros_from: u64) -> Result<bool, JournalError> {
        let mut from = at;
        while from < self.len {
            let to = (from / SECTOR * SECTOR + SECTOR).min(self.len);
            let part = self.bytes(from, (to - from) as usize)?;
            if !is_fill(part) && (from < zeros_from || part.iter().any(|b| *b != 0)) {
                return Ok(false);
            }
            from = to;
        }
        Ok(true)
    }

    /// The offset behind the last byte that is neither fill nor in a sector of zeros, at least `at`.
    fn written_until(&mut self, at: u64) -> Result<u64, JournalError> {
        let (mut from, mut until) = (at, at);
        while from < self.len {
            let to = (from / SECTOR * SECTOR + SECTOR).min(self.len);
            let part = self.bytes(from, (to - from) as usize)?;
            if !is_fill(part)
                && part.iter().any(|b| *b != 0)
                && let Some(last) = part.iter().rposition(|b| *b != OP_INVALID)
            {
                until = from + last as u64 + 1;
            }
            from = to;
        }
        Ok(until)
    }

    /// Up to `count` bytes at `at`; fewer at the end of the file.
    fn bytes(&mut self, at: u64, count: usize) -> Result<&[u8], JournalError> {
        let start = self.load(at, count)?;
        Ok(&self.window[start..(start + count).min(self.window.len())])
    }

    /// Makes the window hold `count` bytes at `at`, as far as the file goes; gives their index in the window.
    fn load(&mut self, at: u64, count: usize) -> Result<usize, JournalError> {
        let at = at.min(self.len);
        let end = (at + count as u64).min(self.len);
        if at < self.window_start || end > self.window_start + self.window.len() as u64 {
            let bytes = (count.max(WINDOW_BYTES) as u64).min(self.len - at) as usize;
            if self.window.len() < bytes {
                self.window = vec![0; bytes];
            }
            self.window.truncate(bytes);
            self.window_start = at;
            let read = self.file.read_exact_at(&mut self.window, at);
            read.map_err(|source| {
                let text = format!("{}: {source}", self.path.display());
                JournalError::Io { doing: "reading an edit segment", source: io::Error::new(source.kind(), text) }
            })?;
        }
        Ok((at - self.window_start) as usize)
    }
}

/// Whether a sector, or a part of one, holds nothing but fill.
fn is_fill(part: &[u8]) -> bool {
    static FILL: [u8; SECTOR_BYTES] = [OP_INVALID; SECTOR_BYTES];
    *part == FILL[..part.len()]
}
