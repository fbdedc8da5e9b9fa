//! Gives up a transaction and all after it, for `namenode -recover` and for rollbacks. What is given up is kept aside, never
//! removed.

use crate::error::{Cut, JournalError};
use crate::names::{CURRENT, FileName, SEEN_TXID};
use crate::segment::HEADER_BYTES;
use crate::storage::Storage;
use std::path::{Path, PathBuf};
use surus_disk::{AtomicWritePoints, OpenMode, SyncPoint};
use surus_types::TxId;

/// Where a file that is given up goes: its name with this behind it.
const ASIDE: &str = ".given-up";
/// A segment is copied aside piece by piece.
const COPY_BYTES: usize = 1 << 20;

impl Storage {
    /// Cuts the log before a transaction, for what `load` reported (`JournalError::cut`) or for a rollback. A segment that is
    /// cut is copied aside first, later segments are moved aside, and seen_txid goes back. Afterwards `load` goes as far as
    /// the transaction before, or reports the same of another directory's copy, which is to be cut in turn.
    ///
    /// # Errors
    /// The disk's. What was not cut yet is as it was.
    pub fn give_up_from(&self, cut: &Cut) -> Result<Vec<PathBuf>, JournalError> {
        let failed = || JournalError::io("moving a damaged edit segment aside");
        let file = cut.at.as_ref().map(|(file, _)| file.as_path());
        let mut kept = file.map(|file| self.copy_aside(file)).transpose()?.into_iter().collect::<Vec<_>>();
        for dir in self.live_dirs().map(Path::to_path_buf).collect::<Vec<_>>() {
            for name in self.files(&dir)? {
                let (FileName::Finalized { first, .. } | FileName::InProgress(first)) = name else { continue };
                let path = name.path(&dir);
                if first >= cut.txid && Some(path.as_path()) != file {
                    let aside = aside(&path);
                    self.disk.rename(&path, &aside).map_err(failed())?;
                    kept.push(aside);
                }
            }
            self.write_seen_txid_back(&dir, cut.txid)?;
        }
        if let Some((file, offset)) = &cut.at {
            self.cut(file, *offset, cut.txid)?;
        }
        Ok(kept)
    }

    fn copy_aside(&self, path: &Path) -> Result<PathBuf, JournalError> {
        let failed = || JournalError::io("copying a damaged edit segment");
        let aside = aside(path);
        let from = self.disk.open(path, OpenMode::Read).map_err(failed())?;
        let to = self.disk.open(&aside, OpenMode::Create).map_err(failed())?;
        let (len, mut at, mut buffer) = (from.len().map_err(failed())?, 0, Vec::new());
        while at < len {
            buffer.resize((len - at).min(COPY_BYTES as u64) as usize, 0);
            from.read_exact_at(&mut buffer, at).map_err(failed())?;
            to.write_all_at(&buffer, at).map_err(failed())?;
            at += buffer.len() as u64;
        }
        to.sync_all(SyncPoint("journal.recover_copy")).map_err(failed())?;
        let parent = path.parent().unwrap_or(path);
        self.disk.sync_dir(parent, SyncPoint("journal.recover_copy_dir")).map_err(failed())?;
        Ok(aside)
    }

    /// A segment that keeps operations becomes one in progress again, so that start-up finalises it under its new end.
    fn cut(&self, file: &Path, offset: u64, txid: TxId) -> Result<(), JournalError> {
        let failed = || JournalError::io("cutting a damaged edit segment");
        let parent = file.parent().unwrap_or(file);
        let name = file.file_name().and_then(|n| FileName::parse(&n.to_string_lossy()));
        let first = match name {
            Some(FileName::Finalized { first, .. } | FileName::InProgress(first)) => first,
            _ => txid,
        };
        if first >= txid || offset <= HEADER_BYTES as u64 {
            self.disk.remove_file(file).map_err(failed())?;
        } else {
            // In progress first: a finalised segment that ends before its name says would be damage, too.
            let path = parent.join(FileName::InProgress(first).to_string());
            if path != file {
                self.disk.rename(file, &path).map_err(failed())?;
                self.disk.sync_dir(parent, SyncPoint("journal.recover_rename")).map_err(failed())?;
            }
            let shortened = self.disk.open(&path, OpenMode::ReadWrite).map_err(failed())?;
            shortened.set_len(offset).map_err(failed())?;
            shortened.sync_all(SyncPoint("journal.recover_cut")).map_err(failed())?;
        }
        self.disk.sync_dir(parent, SyncPoint("journal.recover_dir")).map_err(failed())
    }

    fn write_seen_txid_back(&self, dir: &Path, txid: TxId) -> Result<(), JournalError> {
        let points = AtomicWritePoints {
            file: SyncPoint("journal.recover_seen"),
            directory: SyncPoint("journal.recover_seen_dir"),
        };
        let last = TxId(txid.0.saturating_sub(1));
        let path = dir.join(CURRENT).join(SEEN_TXID);
        let written = self.disk.write_atomically(&path, format!("{last}\n").as_bytes(), &points);
        written.map_err(JournalError::io("writing seen_txid"))
    }
}

fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(ASIDE);
    PathBuf::from(name)
}
