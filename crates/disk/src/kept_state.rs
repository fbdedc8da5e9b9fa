//! How a directory keeps the state before an upgrade until it is finalized: name directories and block pools alike.
//!
//! ```text
//! upgrade     current -> previous.tmp | new current: its content, then VERSION | previous.tmp -> previous
//! rollback    current -> removed.tmp  | previous -> current                    | removed.tmp goes
//! finalize    previous -> finalized.tmp                                        | finalized.tmp goes
//! ```
//! Each step is durable before the next; `recover` takes a directory that a crash left between two of them back or forward.
//! Source: `NNUpgradeUtil.java`, `BlockPoolSliceStorage.java`, `Storage.java` (`analyzeStorage`, `doRecover`), Hadoop 3.5.0.

use crate::{Disk, SyncPoint};
use std::io;
use std::path::Path;

/// The state that is in use.
const CURRENT: &str = "current";
/// The state before the upgrade.
pub const PREVIOUS: &str = "previous";
/// The same while the upgrade is under way.
pub const PREVIOUS_TMP: &str = "previous.tmp";
const REMOVED_TMP: &str = "removed.tmp";
const FINALIZED_TMP: &str = "finalized.tmp";

/// The names of the syncs.
#[derive(Clone, Copy, Debug)]
pub struct KeptStatePoints {
    pub rename: SyncPoint,
    /// Of the new, empty `current`.
    pub current: SyncPoint,
    /// Of what is gone: a later upgrade must not find it again beside its own temporary directory.
    pub remove: SyncPoint,
}

/// The directory that holds `current`, and perhaps `previous`.
#[derive(Clone, Copy)]
pub struct KeptState<'a> {
    pub disk: &'a dyn Disk,
    pub dir: &'a Path,
    pub points: &'a KeptStatePoints,
}

impl KeptState<'_> {
    /// Finishes or undoes what a crash interrupted. Says what it did.
    ///
    /// # Errors
    /// `InvalidData` for a state that no crash leaves, or the disk's.
    pub fn recover(&self) -> io::Result<Option<String>> {
        let mut temporary = Vec::new();
        for name in [PREVIOUS_TMP, REMOVED_TMP, FINALIZED_TMP] {
            if self.exists(name)? {
                temporary.push(name);
            }
        }
        let contradicts = |problem: &str| {
            let text = format!("{}: inconsistent state: {problem}", self.dir.display());
            Err(io::Error::new(io::ErrorKind::InvalidData, text))
        };
        let has_current = self.disk.exists(&self.dir.join(CURRENT).join("VERSION"))?;
        let has_previous = self.has_previous()?;
        let what = match (temporary.as_slice(), has_current, has_previous) {
            ([], false, true) => return contradicts("version file in current directory is missing"),
            ([], ..) => return Ok(None),
            ([PREVIOUS_TMP], _, true) => return contradicts("previous and previous.tmp are both there"),
            ([FINALIZED_TMP], _, true) => return contradicts("previous and finalized.tmp are both there"),
            ([PREVIOUS_TMP], true, _) => {
                self.rename(PREVIOUS_TMP, PREVIOUS)?;
                "completing an upgrade"
            }
            ([PREVIOUS_TMP], false, _) => {
                if self.exists(CURRENT)? {
                    self.remove(CURRENT)?;
                }
                self.rename(PREVIOUS_TMP, CURRENT)?;
                "undoing an upgrade that did not complete"
            }
            ([REMOVED_TMP], true, false) => {
                self.remove(REMOVED_TMP)?;
                "completing a rollback"
            }
            ([REMOVED_TMP], false, true) => {
                self.rename(REMOVED_TMP, CURRENT)?;
                "undoing a rollback that did not complete"
            }
            ([REMOVED_TMP], ..) => return contradicts("one and only one of current and previous must be there"),
            ([FINALIZED_TMP], ..) => {
                self.remove(FINALIZED_TMP)?;
                "completing the finalization of an upgrade"
            }
            _ => return contradicts("too many temporary directories"),
        };
        Ok(Some(format!("{}: {what}, which was interrupted", self.dir.display())))
    }

    /// Whether the state before an upgrade is there.
    ///
    /// # Errors
    /// The disk's.
    pub fn has_previous(&self) -> io::Result<bool> {
        self.exists(PREVIOUS)
    }

    /// Sets the state aside as `previous.tmp`; `current` is empty then.
    ///
    /// # Errors
    /// The disk's.
    pub fn set_aside(&self) -> io::Result<()> {
        self.rename(CURRENT, PREVIOUS_TMP)?;
        self.disk.create_dir_all(&self.dir.join(CURRENT))?;
        self.disk.sync_dir(self.dir, self.points.current)
    }

    /// What was set aside becomes `previous`: the upgrade is complete.
    ///
    /// # Errors
    /// The disk's.
    pub fn keep_aside(&self) -> io::Result<()> {
        self.rename(PREVIOUS_TMP, PREVIOUS)
    }

    /// Makes `previous` the state in use; what was in use is removed.
    ///
    /// # Errors
    /// The disk's.
    pub fn roll_back(&self) -> io::Result<()> {
        self.rename(CURRENT, REMOVED_TMP)?;
        self.rename(PREVIOUS, CURRENT)?;
        self.remove(REMOVED_TMP)
    }

    /// Removes `previous`: there is no way back then.
    ///
    /// # Errors
    /// The disk's.
    pub fn finalize(&self) -> io::Result<()> {
        self.rename(PREVIOUS, FINALIZED_TMP)?;
        self.remove(FINALIZED_TMP)
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        self.disk.exists(&self.dir.join(name))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(&self.dir.join(from), &self.dir.join(to))?;
        self.disk.sync_dir(self.dir, self.points.rename)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove_dir_all(&self.dir.join(name))?;
        self.disk.sync_dir(self.dir, self.points.remove)
    }
}
