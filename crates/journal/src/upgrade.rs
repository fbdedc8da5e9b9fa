//! Upgrade, rollback and finalization: the state before an upgrade is kept in `previous` until it is finalized.
//!
//! ```text
//! upgrade     current -> previous.tmp | new current: image, seen_txid, VERSION | previous.tmp -> previous
//! rollback    current -> removed.tmp  | previous -> current                    | removed.tmp goes
//! finalize    previous -> finalized.tmp                                        | finalized.tmp goes
//! ```
//! Each step is durable before the next; `recover` takes a directory that a crash left between two of them back or forward.
//! Source: `NNUpgradeUtil.java`, `Storage.java` (`analyzeStorage`, `doRecover`), Hadoop 3.5.0.

use crate::checkpoint::{SavedAs, save_image};
use crate::error::JournalError;
use crate::names::{CURRENT, VERSION};
use crate::segment::write_seen_txid;
use crate::storage::{Storage, check_empty, lock, read_version, write_version};
use crate::version::StorageInfo;
use std::path::{Path, PathBuf};
use surus_disk::{Disk, SyncPoint};
use surus_namespace::image::FrozenImage;
use surus_types::TxId;

pub(crate) const PREVIOUS: &str = "previous";
const PREVIOUS_TMP: &str = "previous.tmp";
const REMOVED_TMP: &str = "removed.tmp";
const FINALIZED_TMP: &str = "finalized.tmp";

/// What an upgrade does to each directory before the next step begins.
type Step<'a> = &'a dyn Fn(&Path) -> Result<(), JournalError>;

/// Finishes or undoes what a crash interrupted. Says what it did.
///
/// # Errors
/// `Version` for a state that no crash leaves, or the disk's.
pub(crate) fn recover(disk: &dyn Disk, dir: &Path) -> Result<Option<String>, JournalError> {
    let exists = |name: &str| disk.exists(&dir.join(name)).map_err(failed());
    let temporary: Vec<&str> = [PREVIOUS_TMP, REMOVED_TMP, FINALIZED_TMP]
        .into_iter()
        .filter_map(|name| exists(name).map(|there| there.then_some(name)).transpose())
        .collect::<Result<_, _>>()?;
    let contradicts = |problem: &str| {
        Err(JournalError::Version { file: dir.to_path_buf(), problem: format!("inconsistent state: {problem}") })
    };
    let has_current = disk.exists(&dir.join(CURRENT).join(VERSION)).map_err(failed())?;
    let has_previous = exists(PREVIOUS)?;
    let what = match (temporary.as_slice(), has_current, has_previous) {
        ([], false, true) => return contradicts("version file in current directory is missing"),
        ([], ..) => return Ok(None),
        ([PREVIOUS_TMP], _, true) => return contradicts("previous and previous.tmp are both there"),
        ([FINALIZED_TMP], _, true) => return contradicts("previous and finalized.tmp are both there"),
        ([PREVIOUS_TMP], true, _) => {
            rename(disk, dir, PREVIOUS_TMP, PREVIOUS)?;
            "completing an upgrade"
        }
        ([PREVIOUS_TMP], false, _) => {
            if exists(CURRENT)? {
                disk.remove_dir_all(&dir.join(CURRENT)).map_err(failed())?;
            }
            rename(disk, dir, PREVIOUS_TMP, CURRENT)?;
            "undoing an upgrade that did not complete"
        }
        ([REMOVED_TMP], true, false) => {
            remove(disk, dir, REMOVED_TMP)?;
            "completing a rollback"
        }
        ([REMOVED_TMP], false, true) => {
            rename(disk, dir, REMOVED_TMP, CURRENT)?;
            "undoing a rollback that did not complete"
        }
        ([REMOVED_TMP], ..) => return contradicts("one and only one of current and previous must be there"),
        ([FINALIZED_TMP], ..) => {
            remove(disk, dir, FINALIZED_TMP)?;
            "completing the finalization of an upgrade"
        }
        _ => return contradicts("too many temporary directories"),
    };
    Ok(Some(format!("{}: {what}, which was interrupted", dir.display())))
}

/// The VERSION that `previous` holds.
pub(crate) fn previous_info(disk: &dyn Disk, dir: &Path) -> Result<Option<StorageInfo>, JournalError> {
    read_version(disk, &dir.join(PREVIOUS), "")
}

/// Sets the state of a directory aside as `previous.tmp`; `current` is empty then.
pub(crate) fn set_aside(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    rename(disk, dir, CURRENT, PREVIOUS_TMP)?;
    disk.create_dir_all(&dir.join(CURRENT)).map_err(failed())?;
    disk.sync_dir(dir, SyncPoint("journal.upgrade_current")).map_err(failed())
}

/// What was set aside becomes `previous`: the upgrade of the directory is complete.
pub(crate) fn keep_aside(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    rename(disk, dir, PREVIOUS_TMP, PREVIOUS)
}

impl Storage {
    /// Whether a directory holds the state before an upgrade.
    ///
    /// # Errors
    /// The disk's.
    pub fn has_previous(&self) -> Result<bool, JournalError> {
        for dir in self.live_dirs() {
            if self.disk.exists(&dir.join(PREVIOUS)).map_err(failed())? {
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
            if self.disk.exists(&dir.join(PREVIOUS)).map_err(failed())? {
                rename(&*self.disk, dir, PREVIOUS, FINALIZED_TMP)?;
                remove(&*self.disk, dir, FINALIZED_TMP)?;
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
        rename(disk, dir, CURRENT, REMOVED_TMP)?;
        rename(disk, dir, PREVIOUS, CURRENT)?;
        remove(disk, dir, REMOVED_TMP)?;
    }
    Ok(info)
}

fn failed() -> impl FnOnce(std::io::Error) -> JournalError {
    JournalError::io("changing the state of a name directory")
}

fn rename(disk: &dyn Disk, dir: &Path, from: &str, to: &str) -> Result<(), JournalError> {
    disk.rename(&dir.join(from), &dir.join(to)).map_err(failed())?;
    disk.sync_dir(dir, SyncPoint("journal.upgrade_rename")).map_err(failed())
}

/// Not synced: what a power cut brings back of it is removed by the next start-up.
fn remove(disk: &dyn Disk, dir: &Path, name: &str) -> Result<(), JournalError> {
    disk.remove_dir_all(&dir.join(name)).map_err(failed())
}
