//! Rolling upgrade: the image of the state at which it began stands beside the others as `fsimage_rollback_N`; to roll back is to
//! make it the newest image and to take the log back to it.
//! Source: `FSImage.java` (`rollingRollback`), `FSNamesystem.java` (`startRollingUpgrade`), Hadoop 3.5.0.

use crate::checkpoint::md5_line;
use crate::error::{Cut, JournalError};
use crate::names::{CURRENT, FileName};
use crate::scan::SegmentReader;
use crate::storage::Storage;
use std::path::{Path, PathBuf};
use surus_disk::{AtomicWritePoints, SyncPoint};
use surus_namespace::EditOp;
use surus_types::TxId;

/// An MD5 file is a line.
const MD5_FILE_BYTES_MAX: u64 = 4096;

impl Storage {
    /// The transaction of the newest rollback image, if there is one.
    ///
    /// # Errors
    /// The disk's.
    pub fn rollback_image(&self) -> Result<Option<TxId>, JournalError> {
        let mut newest = None;
        for dir in self.live_dirs() {
            newest = newest.max(self.files(dir)?.iter().filter_map(rollback_txid).max());
        }
        Ok(newest)
    }

    /// Ends a rolling upgrade for good: its rollback image becomes an ordinary one.
    ///
    /// # Errors
    /// The disk's.
    pub fn finalize_rolling_upgrade(&self) -> Result<(), JournalError> {
        for dir in self.live_dirs() {
            self.keep_rollback_image(dir)?;
        }
        Ok(())
    }

    /// Takes the directories back to where a rolling upgrade began: the edits from its mark on are moved aside, images that
    /// are newer go, and the rollback image becomes an ordinary one. `load` then gives the state before the upgrade.
    ///
    /// # Errors
    /// `NoRollbackImage`, damaged edits, the disk's. It can be called again then.
    pub fn roll_back_rolling_upgrade(&self) -> Result<TxId, JournalError> {
        let rollback = self.rollback_image()?.ok_or(JournalError::NoRollbackImage)?;
        for dir in self.live_dirs().map(Path::to_path_buf).collect::<Vec<_>>() {
            if let Some(mark) = self.find_mark(&dir, rollback)? {
                self.give_up_from(&mark)?;
            }
        }
        for dir in self.live_dirs() {
            for name in self.files(dir)? {
                if matches!(name, FileName::Image(txid) | FileName::ImageMd5(txid) if txid > rollback) {
                    self.disk.remove_file(&name.path(dir)).map_err(failed())?;
                }
            }
            self.keep_rollback_image(dir)?;
        }
        Ok(rollback)
    }

    /// Where OP_ROLLING_UPGRADE_START stands in the edits behind `from`, if it does.
    fn find_mark(&self, dir: &Path, from: TxId) -> Result<Option<Cut>, JournalError> {
        let mut segments: Vec<(TxId, bool, PathBuf)> = self
            .files(dir)?
            .into_iter()
            .filter_map(|name| match name {
                FileName::Finalized { first, last } if last > from => Some((first, true, name.path(dir))),
                FileName::InProgress(first) => Some((first, false, name.path(dir))),
                _ => None,
            })
            .collect();
        segments.sort();
        for (first, is_finalized, path) in segments {
            let mut reader = SegmentReader::open(&*self.disk, &path, first, self.info.layout_version)?;
            if is_finalized {
                reader = reader.finalized();
            }
            while let Some((offset, txid, op)) = reader.next_op()? {
                if txid > from && matches!(op, EditOp::RollingUpgradeStart { .. }) {
                    return Ok(Some(Cut { txid, at: Some((path, offset)) }));
                }
            }
        }
        Ok(None)
    }

    /// The newest rollback image of a directory becomes an ordinary image; older ones go.
    fn keep_rollback_image(&self, dir: &Path) -> Result<(), JournalError> {
        let points = AtomicWritePoints {
            file: SyncPoint("journal.rolling_md5"),
            directory: SyncPoint("journal.rolling_md5_dir"),
        };
        let mut found: Vec<TxId> = self.files(dir)?.iter().filter_map(rollback_txid).collect();
        found.sort();
        let Some(newest) = found.pop() else { return Ok(()) };
        let md5 = self.disk.read(&FileName::ImageRollbackMd5(newest).path(dir), MD5_FILE_BYTES_MAX).map_err(failed())?;
        let digest = String::from_utf8_lossy(&md5).chars().take(32).collect::<String>();
        let line = md5_line(&digest, FileName::Image(newest));
        // The MD5 comes first: an image without one is none.
        self.disk
            .write_atomically(&FileName::ImageMd5(newest).path(dir), line.as_bytes(), &points)
            .and_then(|()| {
                self.disk.rename(&FileName::ImageRollback(newest).path(dir), &FileName::Image(newest).path(dir))
            })
            .and_then(|()| self.disk.sync_dir(&dir.join(CURRENT), SyncPoint("journal.rolling_rename")))
            .map_err(failed())?;
        self.disk.remove_file(&FileName::ImageRollbackMd5(newest).path(dir)).map_err(failed())?;
        for txid in found {
            for name in [FileName::ImageRollback(txid), FileName::ImageRollbackMd5(txid)] {
                self.disk.remove_file(&name.path(dir)).map_err(failed())?;
            }
        }
        Ok(())
    }
}

fn rollback_txid(name: &FileName) -> Option<TxId> {
    match name {
        FileName::ImageRollback(txid) => Some(*txid),
        _ => None,
    }
}

fn failed() -> impl FnOnce(std::io::Error) -> JournalError {
    JournalError::io("changing the rollback image of a name directory")
}
