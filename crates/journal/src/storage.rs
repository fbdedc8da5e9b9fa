//! The name directories of a file system: locked, identified, and each alive or failed.

use crate::error::JournalError;
use crate::image::{Carried, ImageOptions};
use crate::names::{CURRENT, FileName, IN_USE_LOCK, SEEN_TXID, VERSION};
use crate::version::StorageInfo;
use parking_lot::Mutex;
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
    pub(crate) carried: Mutex<Carried>,
    _locks: Vec<Box<dyn LockGuard>>,
}

struct NameDir {
    path: PathBuf,
    is_failed: AtomicBool,
    /// It held nothing when it was opened: it gets its image with the next checkpoint.
    is_new: bool,
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
        let mut fresh = Vec::new();
        for dir in dirs {
            match read_version(&*disk, dir)? {
                Some(info) => formatted.push((dir, info)),
                None => {
                    check_empty(&*disk, dir)?;
                    fresh.push(dir);
                }
            }
        }
        let Some((first_dir, info)) = formatted.first().cloned() else {
            let dir = dirs.first().cloned().unwrap_or_default();
            return Err(JournalError::NotFormatted(dir));
        };
        for (dir, other) in &formatted {
            if *other != info {
                let problem = format!("it contradicts {}", first_dir.join(CURRENT).join(VERSION).display());
                return Err(JournalError::Version { file: dir.join(CURRENT).join(VERSION), problem });
            }
        }
        let mut locks = Vec::new();
        for dir in dirs {
            if fresh.contains(&dir) {
                disk.create_dir_all(&dir.join(CURRENT)).map_err(JournalError::io("making a name directory"))?;
            }
            locks.push(lock(&*disk, dir, lock_content)?);
        }
        for dir in &fresh {
            write_version(&*disk, dir, &info, 0)?;
        }
        let dirs = dirs.iter().map(|path| NameDir {
            path: path.clone(),
            is_failed: AtomicBool::new(false),
            is_new: fresh.contains(&path),
        });
        let dirs = dirs.collect();
        Ok(Storage {
            disk,
            info,
            dirs,
            retention,
            image_options: ImageOptions::default(),
            carried: Mutex::default(),
            _locks: locks,
        })
    }

    /// How images are written from now on.
    #[must_use]
    pub fn with_image_options(mut self, options: ImageOptions) -> Storage {
        self.image_options = options;
        self
    }

    /// Who the file system is.
    pub fn info(&self) -> &StorageInfo {
        &self.info
    }

    /// The directories and whether each is still written: what `/jmx` and the web UI show.
    pub fn directories(&self) -> impl Iterator<Item = (&Path, bool)> {
        self.dirs.iter().map(|dir| (dir.path.as_path(), !dir.is_failed.load(Ordering::Relaxed)))
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
        self.dirs.iter().any(|dir| dir.is_new)
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
        if read_version(disk, dir)?.is_some() {
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

fn read_version(disk: &dyn Disk, dir: &Path) -> Result<Option<StorageInfo>, JournalError> {
    let file = dir.join(CURRENT).join(VERSION);
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
