//! Upgrade, rollback and finalization: the state before an upgrade is kept in `previous` until it is finalized, as
//! `surus_disk::KeptState` says. A new `current` gets image, seen_txid and, last, VERSION.
//! Source: `NNUpgradeUtil.java`, Hadoop 3.5.0.

use crate::checkpoint::{SavedAs, save_image};
use crate::error::JournalError;
use crate::names::CURRENT;
use crate::segment::write_seen_txid;
use crate::storage::{Storage, check_empty, lock, read_version, write_version};
use crate::version::StorageInfo;
use std::path::{Path, PathBuf};
use surus_disk::{Disk, KeptState, KeptStatePoints, PREVIOUS, SyncPoint};
use surus_namespace::image::FrozenImage;
use surus_types::TxId;

const POINTS: KeptStatePoints = KeptStatePoints {
    rename: SyncPoint("journal.upgrade_rename"),
    current: SyncPoint("journal.upgrade_current"),
    remove: SyncPoint("journal.upgrade_remove"),
};

/// What an upgrade does to each directory before the next step begins.
type Step<'a> = &'a dyn Fn(&Path) -> Result<(), JournalError>;

/// Finishes or undoes what a crash interrupted. Says what it did.
///
/// # Errors
/// `Version` for a state that no crash leaves, or the disk's.
pub(crate) fn recover(disk: &dyn Disk, dir: &Path) -> Result<Option<String>, JournalError> {
    kept_state(disk, dir).recover().map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => JournalError::Version { file: dir.to_path_buf(), problem: e.to_string() },
        _ => failed()(e),
    })
}

fn kept_state<'a>(disk: &'a dyn Disk, dir: &'a Path) -> KeptState<'a> {
    KeptState { disk, dir, points: &POINTS }
}

/// The VERSION that `previous` holds.
pub(crate) fn previous_info(disk: &dyn Disk, dir: &Path) -> Result<Option<StorageInfo>, JournalError> {
    read_version(disk, &dir.join(PREVIOUS), "")
}

/// Sets the state of a directory aside; `current` is empty then.
pub(crate) fn set_aside(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    kept_state(disk, dir).set_aside().map_err(failed())
}

/// What was set aside becomes `previous`: the upgrade of the directory is complete.
pub(crate) fn keep_aside(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    kept_state(disk, dir).keep_aside().map_err(failed())
}

impl Storage {
    /// Whether a directory holds the state before an upgrade.
    ///
    /// # Errors
    /// The disk's.
    pub fn has_previous(&self) -> Result<bool, JournalError> {
        for dir in self.live_dirs() {
            if kept_state(&*self.disk, dir).has_previous().map_err(failed())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Keeps the present state as `previous` and begins a new one with `image`, the state as of `txid`: what `load` gave.
    /// Directories that fail are no longer written.
    ///
    /// # Errors
    /// `UpgradeExists` when a former upgrade is not finalized; no directory took it; the disk's.
    pub fn upgrade(
        mut self,
        image: &FrozenImage,
        txid: TxId,
        layout_version: i32,
        now_ms: i64,
    ) -> Result<Storage, JournalError> {
        if self.has_previous()? {
            return Err(JournalError::UpgradeExists);
        }
        self.info.c_time = now_ms.max(self.info.c_time + 1);
        self.info.layout_version = layout_version;
        let steps: [Step<'_>; 3] = [
            &|dir| set_aside(&*self.disk, dir),
            &|dir| {
                save_image(&*self.disk, dir, SavedAs::Image, image, txid, &self.info, self.image_options)?;
                write_seen_txid(&*self.disk, dir, txid)
            },
            &|dir| {
                write_version(&*self.disk, dir, &self.info, now_ms)?;
                keep_aside(&*self.disk, dir)
            },
        ];
        for step in steps {
            let mut last_error = None;
            for dir in self.live_dirs().map(Path::to_path_buf).collect::<Vec<_>>() {
                if let Err(error) = step(&dir) {
                    self.mark_failed(&dir);
                    last_error = Some(error);
                }
            }
            if self.live_dirs().next().is_none() {
                return Err(last_error.unwrap_or_else(|| JournalError::Stopped("no name directory".to_owned())));
            }
        }
        self.forget_new_directories();
        Ok(self)
    }

    /// Removes the state before the last upgrade: there is no way back then.
    ///
    /// # Errors
    /// The disk's.
    pub fn finalize_upgrade(&self) -> Result<(), JournalError> {
        for dir in self.live_dirs() {
            let state = kept_state(&*self.disk, dir);
            if state.has_previous().map_err(failed())? {
                state.finalize().map_err(failed())?;
            }
        }
        Ok(())
    }
}

/// Takes the directories back to the state before the last upgrade. Those without one stay. Gives who the file system is then.
///
/// # Errors
/// `NoPrevious` when no directory has such a state; `Version`, `Locked`, the disk's.
pub fn rollback(disk: &dyn Disk, dirs: &[PathBuf], lock_content: &str) -> Result<StorageInfo, JournalError> {
    let mut locks = Vec::new();
    let mut before = Vec::new();
    for dir in dirs {
        if !disk.exists(&dir.join(CURRENT)).map_err(failed())? && check_empty(disk, dir).is_ok() {
            continue;
        }
        locks.push(lock(disk, dir, lock_content)?);
        recover(disk, dir)?;
        before.extend(previous_info(disk, dir)?.map(|info| (dir, info)));
    }
    let Some((_, info)) = before.first().cloned() else { return Err(JournalError::NoPrevious) };
    for (dir, _) in before {
        kept_state(disk, dir).roll_back().map_err(failed())?;
    }
    Ok(info)
}

fn failed() -> impl FnOnce(std::io::Error) -> JournalError {
    JournalError::io("changing the state of a name directory")
}
