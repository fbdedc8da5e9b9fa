//! Writes one edit segment in one name directory:
//!
//! ```text
//! layout version i32 | layout flags i32 = 0 | operations ... | 0xFF up to the next multiple of 1 MiB
//! ```
//! The fill is durable before operations are written over it: that is what lets start-up tell a torn tail from damage.
//! Source: `EditLogFileOutputStream.java`, Hadoop 3.5.0.

use crate::error::JournalError;
use crate::names::{CURRENT, FileName};
use crate::ops::OP_INVALID;
use std::io;
use std::path::{Path, PathBuf};
use surus_disk::{Disk, DiskFile, OpenMode, SyncPoint};
use surus_types::TxId;

/// Layout version and flags.
pub const HEADER_BYTES: usize = 8;
/// Segments grow in such steps.
pub const PREALLOCATION_BYTES: usize = 1 << 20;
static FILL: [u8; PREALLOCATION_BYTES] = [OP_INVALID; PREALLOCATION_BYTES];

/// A segment that is being written.
pub(crate) struct SegmentWriter {
    dir: PathBuf,
    first: TxId,
    file: Box<dyn DiskFile>,
    /// Where the next operation goes.
    position: u64,
    /// How far the file is filled, durably.
    allocated: u64,
}

impl SegmentWriter {
    /// Makes `edits_inprogress_<first>` with its header and its first fill, all of it durable.
    pub fn create(disk: &dyn Disk, dir: &Path, first: TxId, layout: i32) -> io::Result<SegmentWriter> {
        let file = disk.open(&FileName::InProgress(first).path(dir), OpenMode::CreateNew)?;
        let mut start = FILL.to_vec();
        start[..4].copy_from_slice(&layout.to_be_bytes());
        start[4..HEADER_BYTES].fill(0);
        file.write_all_at(&start, 0)?;
        file.sync_data(SyncPoint("journal.segment_create"))?;
        // Also makes durable that the segment before got its final name.
        disk.sync_dir(&dir.join(CURRENT), SyncPoint("journal.segment_create_dir"))?;
        let (position, allocated) = (HEADER_BYTES as u64, PREALLOCATION_BYTES as u64);
        Ok(SegmentWriter { dir: dir.to_path_buf(), first, file, position, allocated })
    }

    /// Writes operations behind the last ones; durable after `sync`.
    ///
    /// # Errors
    /// A short write is an error. What it left is undone as far as the disk allows: those operations are not in the log.
    pub fn write(&mut self, operations: &[u8]) -> io::Result<()> {
        let end = self.position + operations.len() as u64;
        if end > self.allocated {
            while self.allocated < end {
                self.file.write_all_at(&FILL, self.allocated)?;
                self.allocated += PREALLOCATION_BYTES as u64;
            }
            self.file.sync_data(SyncPoint("journal.preallocate"))?;
        }
        let written = self.file.write_at(operations, self.position)?;
        if written < operations.len() {
            let undone = FILL.len().min(written);
            self.file.write_all_at(&FILL[..undone], self.position).ok();
            return Err(io::Error::new(
                io::ErrorKind::WriteZero,
                format!("only {written} of {} bytes were written at {}", operations.len(), self.position),
            ));
        }
        self.position = end;
        Ok(())
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data(SyncPoint("journal.commit"))
    }

    /// Cuts the fill off and gives the segment its final name. All operations must be durable. The name becomes durable
    /// with the next segment's; until then start-up finds the segment under its old name and with its fill, and takes it.
    pub fn finalize(self, disk: &dyn Disk, last: TxId) -> io::Result<()> {
        self.file.set_len(self.position)?;
        let to = FileName::Finalized { first: self.first, last }.path(&self.dir);
        disk.rename(&FileName::InProgress(self.first).path(&self.dir), &to)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Checks a segment's first bytes.
///
/// # Errors
/// Says what is wrong with them.
pub(crate) fn check_header(header: [u8; HEADER_BYTES], layout: i32) -> Result<(), String> {
    let [a, b, c, d, flags @ ..] = header;
    match (i32::from_be_bytes([a, b, c, d]), i32::from_be_bytes(flags)) {
        (found, _) if found != layout => {
            Err(format!("its header says layout version {found}, the directory's VERSION says {layout}"))
        }
        (_, 0) => Ok(()),
        (_, flags) => Err(format!("its header says layout flags {flags}, where 0 is the only known value")),
    }
}

/// Writes seen_txid, the transaction that began the newest segment: start-up knows by it that edits are missing. A crash
/// may leave the older number, which is as true.
pub(crate) fn write_seen_txid(disk: &dyn Disk, dir: &Path, txid: TxId) -> Result<(), JournalError> {
    let current = dir.join(CURRENT);
    let temporary = current.join("seen_txid.tmp");
    let write = || {
        let file = disk.open(&temporary, OpenMode::Create)?;
        file.write_all_at(format!("{txid}\n").as_bytes(), 0)?;
        file.sync_data(SyncPoint("journal.seen_txid"))?;
        disk.rename(&temporary, &current.join(crate::names::SEEN_TXID))
    };
    write().map_err(JournalError::io("writing seen_txid"))
}
