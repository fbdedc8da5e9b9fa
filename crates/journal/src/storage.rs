//! The name directories of a file system: locked, identified, and each alive or failed.

use crate::error::JournalError;
use crate::image::ImageOptions;
use crate::names::{CURRENT, FileName, IN_USE_LOCK, SEEN_TXID, VERSION};
use crate::upgrade;
use crate::version::StorageInfo;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use surus_disk::{AtomicWritePoints, Disk, LockGuard, SyncPoint};
use surus_types::TxId;

/// VERSION and seen_txid are a few hundred bytes; more than this is no such file.
const SMALL_FILE_BYTES_MAX: u64 = 64 << 10;

/// The open name directories. The locks end when it is dropped.
pub struct Storage {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) info: StorageInfo,
    dirs: Vec<NameDir>,
    pub(crate) retention: Retention,
    pub(crate) image_options: ImageOptions,
    restore: AtomicBool,
    /// Directories without which nothing goes on, and how many must be left.
    required: Vec<PathBuf>,
    minimum: usize,
    notices: Vec<String>,
    _locks: Vec<Box<dyn LockGuard>>,
}

struct NameDir {
    path: PathBuf,
    is_failed: AtomicBool,
    /// It held nothing when it was opened: it gets its image with the next checkpoint.
    is_new: AtomicBool,
}

/// What a checkpoint leaves behind.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// `dfs.namenode.num.checkpoints.retained`
    pub images: usize,
    /// `dfs.namenode.num.extra.edits.retained`, transactions.
    pub extra_edits: u64,
    /// `dfs.namenode.max.extra.edits.segments.retained`
    pub extra_segments: usize,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { images: 2, extra_edits: 1_000_000, extra_segments: 10_000 }
    }
}

impl Storage {
    /// Locks the directories and reads who they are. Directories that are absent or empty join those that are not: they
    /// are written from now on, and are complete after the next checkpoint.
    ///
    /// # Errors
    /// `Locked`, `NotFormatted` (none of them is), `NotEmpty`, `Version`.
    pub fn open(
        disk: Arc<dyn Disk>,
        dirs: &[PathBuf],
        lock_content: &str,
        retention: Retention,
    ) -> Result<Storage, JournalError> {
        let mut formatted: Vec<(&PathBuf, StorageInfo)> = Vec::new();
        let (mut fresh, mut locked, mut locks, mut notices) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for dir in dirs {
            let mut info = None;
            if holds_state(&*disk, dir)? {
                locked.push(dir);
                locks.push(lock(&*disk, dir, lock_content)?);
                notices.extend(upgrade::recover(&*disk, dir)?);
                info = read_version(&*disk, dir, CURRENT)?;
            }
            match info {
                Some(info) => formatted.push((dir, info)),
                None => {
                    check_empty(&*disk, dir)?;
                    fresh.push(dir);
                }
            }
        }
        if formatted.is_empty() {
            return Err(JournalError::NotFormatted(dirs.first().cloned().unwrap_or_default()));
        }
        let (info, lagging) = agree(&*disk, &formatted)?;
        for dir in &fresh {
            disk.create_dir_all(&dir.join(CURRENT)).map_err(JournalError::io("making a name directory"))?;
            if !locked.contains(dir) {
                locks.push(lock(&*disk, dir, lock_content)?);
            }
            write_version(&*disk, dir, &info, 0)?;
        }
        for dir in &lagging {
            notices.push(format!("{}: an upgrade that the other directories have is made up for", dir.display()));
            upgrade::set_aside(&*disk, dir)?;
            write_version(&*disk, dir, &info, 0)?;
            upgrade::keep_aside(&*disk, dir)?;
        }
        fresh.extend(&lagging);
        let dirs = dirs.iter().map(|path| NameDir {
            path: path.clone(),
            is_failed: AtomicBool::new(false),
            is_new: AtomicBool::new(fresh.contains(&path)),
        });
        let dirs = dirs.collect();
        Ok(Storage {
            disk,
            info,
            dirs,
            retention,
            image_options: ImageOptions::default(),
            restore: AtomicBool::new(false),
            required: Vec::new(),
            minimum: 1,
            notices,
            _locks: locks,
        })
    }

    /// How images are written from now on.
    #[must_use]
    pub fn with_image_options(mut self, options: ImageOptions) -> Storage {
        self.image_options = options;
        self
    }

    /// `dfs.namenode.edits.dir.required`: directories of which each must go on being written; `dfs.namenode.edits.dir.minimum`: how
    /// many must.
    #[must_use]
    pub fn with_required(mut self, required: Vec<PathBuf>, minimum: usize) -> Storage {
        (self.required, self.minimum) = (required, minimum.max(1));
        self
    }

    /// Whether edits may be acknowledged now that this directory has failed. Source:
    /// `NameNodeResourcePolicy.areResourcesAvailable`, Hadoop 3.5.0.
    pub(crate) fn can_go_on_without(&self, dir: &Path) -> bool {
        self.live_dirs().count() >= self.minimum && !self.required.iter().any(|required| required == dir)
    }

    /// Who the file system is.
    pub fn info(&self) -> &StorageInfo {
        &self.info
    }

    /// The directories and whether each is still written: what `/jmx` and the web UI show.
    pub fn directories(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.dirs.iter().map(|dir| (dir.path.as_path(), !dir.is_failed.load(Ordering::Relaxed)))
    }

    /// `dfs.namenode.name.dir.restore`, or `dfsadmin -restoreFailedStorage`: whether directories that failed are tried again when
    /// a segment begins.
    pub fn set_restore(&self, restore: bool) {
        self.restore.store(restore, Ordering::Relaxed);
    }

    pub fn restores(&self) -> bool {
        self.restore.load(Ordering::Relaxed)
    }

    /// Tries directories that failed, and gives those that can be written again. They get edits from the next segment on and
    /// an image with the next checkpoint. Source: `NNStorage.attemptRestoreRemovedStorage`, Hadoop 3.5.0.
    pub(crate) fn restore_failed(&self) -> Vec<PathBuf> {
        let mut restored = Vec::new();
        if !self.restores() {
            return restored;
        }
        for dir in self.dirs.iter().filter(|dir| dir.is_failed.load(Ordering::Relaxed)) {
            let made = self.disk.create_dir_all(&dir.path.join(CURRENT)).map_err(JournalError::io("restoring"));
            let made = made.and_then(|()| self.set_stale_aside(&dir.path).map_err(JournalError::io("restoring")));
            if made.and_then(|()| write_version(&*self.disk, &dir.path, &self.info, 0)).is_ok() {
                dir.is_failed.store(false, Ordering::Relaxed);
                restored.push(dir.path.clone());
            }
        }
        restored
    }

    /// A segment that was written when the directory failed lacks what came after: nobody is to take it for the one in progress.
    /// Source: `FileJournalManager.EditLogFile.moveAsideStaleInprogressFile`, Hadoop 3.5.0.
    fn set_stale_aside(&self, dir: &Path) -> io::Result<()> {
        for entry in self.disk.list(&dir.join(CURRENT))? {
            if let Some(FileName::InProgress(_)) = FileName::parse(&entry.name) {
                let path = dir.join(CURRENT).join(&entry.name);
                self.disk.rename(&path, &path.with_file_name(format!("{}.stale", entry.name)))?;
            }
        }
        Ok(())
    }

    /// The directories that did not fail.
    pub(crate) fn live_dirs(&self) -> impl Iterator<Item = &Path> {
        self.directories().filter(|(_, is_live)| *is_live).map(|(path, _)| path)
    }

    pub(crate) fn is_failed(&self, dir: &Path) -> bool {
        self.directories().any(|(path, is_live)| path == dir && !is_live)
    }

    pub(crate) fn mark_failed(&self, dir: &Path) {
        for known in self.dirs.iter().filter(|known| known.path == dir) {
            known.is_failed.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a directory waits for its first checkpoint.
    pub(crate) fn has_new_directory(&self) -> bool {
        self.dirs.iter().any(|dir| dir.is_new.load(Ordering::Relaxed))
    }

    /// Every directory has an image now.
    pub(crate) fn forget_new_directories(&self) {
        for dir in &self.dirs {
            dir.is_new.store(false, Ordering::Relaxed);
        }
    }

    /// What opening the directories mended: for the log.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The journal's files of a directory.
    pub(crate) fn files(&self, dir: &Path) -> Result<Vec<FileName>, JournalError> {
        let entries = self.disk.list(&dir.join(CURRENT)).map_err(JournalError::io("listing a name directory"))?;
        Ok(entries.iter().filter_map(|entry| FileName::parse(&entry.name)).collect())
    }

    /// The transaction that began the newest segment, by all that the directories know.
    pub(crate) fn seen_txid(&self) -> Result<TxId, JournalError> {
        let mut seen = TxId(0);
        for dir in self.live_dirs() {
            let path = dir.join(CURRENT).join(SEEN_TXID);
            let text = match self.disk.read(&path, SMALL_FILE_BYTES_MAX) {
                Ok(text) => text,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(JournalError::Io { doing: "reading seen_txid", source: e }),
            };
            let number = std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok());
            let Some(number) = number else {
                return Err(JournalError::Version { file: path, problem: "it holds no transaction id".to_owned() });
            };
            seen = seen.max(TxId(number));
        }
        Ok(seen)
    }
}

/// Whether any of the directories holds a file system.
///
/// # Errors
/// `Version` where one does not parse, or the disk's.
pub fn is_formatted(disk: &dyn Disk, dirs: &[PathBuf]) -> Result<bool, JournalError> {
    for dir in dirs {
        if read_version(disk, dir, CURRENT)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn lock(disk: &dyn Disk, dir: &Path, content: &str) -> Result<Box<dyn LockGuard>, JournalError> {
    disk.lock(&dir.join(IN_USE_LOCK), content).map_err(|e| match e.kind() {
        io::ErrorKind::WouldBlock => JournalError::Locked(e.to_string()),
        _ => JournalError::Io { doing: "locking a name directory", source: e },
    })
}

/// Whether a directory holds a file system, or what a crash left of one.
fn holds_state(disk: &dyn Disk, dir: &Path) -> Result<bool, JournalError> {
    match disk.list(dir) {
        Ok(entries) => Ok(entries.iter().any(|entry| entry.is_dir)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(JournalError::Io { doing: "looking into a name directory", source: e }),
    }
}

/// Who the file system is by all directories, and the directories that lack its last upgrade: their VERSION is the one that
/// another directory keeps as `previous`. A crash in an upgrade leaves such, and a directory that was away.
fn agree<'a>(
    disk: &dyn Disk,
    formatted: &[(&'a PathBuf, StorageInfo)],
) -> Result<(StorageInfo, Vec<&'a PathBuf>), JournalError> {
    let Some((newest_dir, newest)) = formatted.iter().max_by_key(|(_, info)| info.c_time) else {
        return Err(JournalError::NotFormatted(PathBuf::new()));
    };
    let others: Vec<_> = formatted.iter().filter(|(_, info)| info != newest).collect();
    if others.is_empty() {
        return Ok((newest.clone(), Vec::new()));
    }
    let before = upgrade::previous_info(disk, newest_dir)?;
    match others.iter().find(|(_, info)| Some(info) != before.as_ref()) {
        None => Ok((newest.clone(), others.iter().map(|(dir, _)| *dir).collect())),
        Some((dir, _)) => {
            let problem = format!("it contradicts {}", newest_dir.join(CURRENT).join(VERSION).display());
            Err(JournalError::Version { file: dir.join(CURRENT).join(VERSION), problem })
        }
    }
}

/// The VERSION in `<dir>/<state>`.
pub(crate) fn read_version(disk: &dyn Disk, dir: &Path, state: &str) -> Result<Option<StorageInfo>, JournalError> {
    let file = dir.join(state).join(VERSION);
    let text = match disk.read(&file, SMALL_FILE_BYTES_MAX) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(JournalError::Io { doing: "reading VERSION", source: e }),
    };
    let parsed = StorageInfo::parse(&String::from_utf8_lossy(&text));
    parsed.map(Some).map_err(|problem| JournalError::Version { file, problem })
}

pub(crate) fn write_version(disk: &dyn Disk, dir: &Path, info: &StorageInfo, now_ms: i64) -> Result<(), JournalError> {
    let points = AtomicWritePoints { file: SyncPoint("journal.version"), directory: SyncPoint("journal.version_dir") };
    let text = info.to_properties(now_ms);
    let written = disk.write_atomically(&dir.join(CURRENT).join(VERSION), text.as_bytes(), &points);
    written.map_err(JournalError::io("writing VERSION"))
}

/// A directory that is to become a name directory must hold nothing, but for a lock file or what a crash left of a
/// format before: VERSION comes last.
pub(crate) fn check_empty(disk: &dyn Disk, dir: &Path) -> Result<(), JournalError> {
    let list = |path: &Path| match disk.list(path) {
        Ok(entries) => Ok(entries),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(JournalError::Io { doing: "looking into a name directory", source: e }),
    };
    let not_empty = |found: String| Err(JournalError::NotEmpty { dir: dir.to_path_buf(), found });
    for entry in list(dir)? {
        if !(entry.is_dir && entry.name == CURRENT || entry.name == IN_USE_LOCK) {
            return not_empty(entry.name);
        }
    }
    for entry in list(&dir.join(CURRENT))? {
        let is_ours = matches!(
            FileName::parse(&entry.name),
            Some(FileName::Image(TxId(0)) | FileName::ImageMd5(TxId(0)) | FileName::ImageCheckpoint(TxId(0)))
        ) || [SEEN_TXID, "seen_txid.tmp", "VERSION.tmp"].contains(&&*entry.name)
            || entry.name == "fsimage_0000000000000000000.md5.tmp";
        if !is_ours {
            return not_empty(format!("{CURRENT}/{}", entry.name));
        }
    }
    Ok(())
}
