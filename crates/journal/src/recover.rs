//! `namenode -recover`: gives up a damaged transaction and all after it. What is given up is kept aside, never removed.

use crate::error::{Damage, JournalError};
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
    /// Cuts the log before the damage that `load` reported. The damaged segment is copied aside first, later segments are
    /// moved aside, and seen_txid goes back. Afterwards `load` goes as far as the transaction before the damage, or
    /// reports the damage of another directory's copy, which is to be given up in turn.
    ///
    /// # Errors
    /// The disk's. What was not cut yet is as it was.
    pub fn give_up_from(&self, damage: &Damage) -> Result<Vec<PathBuf>, JournalError> {
        let failed = || JournalError::io("moving a damaged edit segment aside");
        let mut kept = vec![self.copy_aside(&damage.file)?];
        for dir in self.live_dirs().map(Path::to_path_buf).collect::<Vec<_>>() {
            for name in self.files(&dir)? {
                let (FileName::Finalized { first, .. } | FileName::InProgress(first)) = name else { continue };
                let path = name.path(&dir);
                if first >= damage.txid && path != damage.file {
                    let aside = aside(&path);
                    self.disk.rename(&path, &aside).map_err(failed())?;
                    kept.push(aside);
                }
            }
            self.write_seen_txid_back(&dir, damage.txid)?;
        }
        self.cut(damage)?;
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
    fn cut(&self, damage: &Damage) -> Result<(), JournalError> {
        let failed = || JournalError::io("cutting a damaged edit segment");
        let parent = damage.file.parent().unwrap_or(&damage.file);
        let name = damage.file.file_name().and_then(|n| FileName::parse(&n.to_string_lossy()));
        let first = match name {
            Some(FileName::Finalized { first, .. } | FileName::InProgress(first)) => first,
            _ => damage.txid,
        };
        if first >= damage.txid || damage.offset <= HEADER_BYTES as u64 {
            self.disk.remove_file(&damage.file).map_err(failed())?;
        } else {
            // In progress first: a finalised segment that ends before its name says would be damage, too.
            let path = parent.join(FileName::InProgress(first).to_string());
            if path != damage.file {
                self.disk.rename(&damage.file, &path).map_err(failed())?;
                self.disk.sync_dir(parent, SyncPoint("journal.recover_rename")).map_err(failed())?;
            }
            let file = self.disk.open(&path, OpenMode::ReadWrite).map_err(failed())?;
            file.set_len(damage.offset).map_err(failed())?;
            file.sync_all(SyncPoint("journal.recover_cut")).map_err(failed())?;
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
