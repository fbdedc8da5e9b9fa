//! The only door to files. `RealDisk` is the kernel's; `MemDisk` is its in-memory twin, which forgets what was never
//! synced when a test takes a crash clone, and fails where a test says so. Knows nothing of what the files mean, but
//! for `KeptState`: the directories `current` and `previous` of an upgrade.
//!
//! Durability rules that both follow: a write is durable after `sync_data` of the file, a length after the same, a
//! name (create, rename, remove) only after `sync_dir` of the directory that holds it.
#![forbid(unsafe_code)]

mod kept_state;
mod mem;
mod real;
mod sync_point;

pub use kept_state::{KeptState, KeptStatePoints, PREVIOUS, PREVIOUS_TMP};
pub use mem::{CrashMode, Fault, FaultEffect, FaultKind, MemDisk, Observer};
pub use real::RealDisk;
pub use sync_point::{SyncPoint, sync_std_file};

use std::io;
use std::path::Path;

/// The smallest unit that a disk writes whole, in bytes.
pub const SECTOR_BYTES: usize = 512;

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenMode {
    /// An existing file, for reading.
    Read,
    /// An existing file, for reading and writing.
    ReadWrite,
    /// For reading and writing; made when absent, kept when present.
    OpenOrCreate,
    /// For reading and writing; made when absent, emptied when present.
    Create,
    /// For reading and writing; an error when the name exists.
    CreateNew,
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metadata {
    pub is_dir: bool,
    /// Length in bytes; 0 for a directory.
    pub len: u64,
    /// Time of the last change, milliseconds since 1970; 0 in memory.
    pub modified_ms: u64,
    /// How many names a file has.
    pub links: u64,
}

/// An entry of a directory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DirEntry {
    /// The name; bytes that are no UTF-8 are shown as U+FFFD (no file of ours has such a name).
    pub name: String,
    pub is_dir: bool,
}

/// Room on the file system that holds a path, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Space {
    pub capacity: u64,
    /// Free for processes without privileges.
    pub available: u64,
    /// Used by anybody.
    pub used: u64,
}

/// A file system. Errors are those of the kernel, with the path added to the text.
pub trait Disk: Send + Sync + 'static {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>>;
    fn metadata(&self, path: &Path) -> io::Result<Metadata>;
    /// The entries of a directory, sorted by name.
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>>;
    /// Makes the directory and those above it that are missing.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Renames a file or directory. A file in the way is replaced, atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, which must be free.
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory and all below it. An absent one is an error.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Makes the directory's entries durable.
    fn sync_dir(&self, path: &Path, point: SyncPoint) -> io::Result<()>;
    /// Keeps other processes (Java's too) and other parts of this one from a directory: makes or opens `path`, locks it,
    /// and writes `content` into it. The file goes and the lock ends when the guard is dropped.
    ///
    /// # Errors
    /// `WouldBlock` when somebody holds the lock; the text then quotes what the holder wrote into the file.
    fn lock(&self, path: &Path, content: &str) -> io::Result<Box<dyn LockGuard>>;
    fn space(&self, path: &Path) -> io::Result<Space>;
    /// Sets the permission bits of a file or directory. Nothing to set in memory.
    fn set_mode(&self, _path: &Path, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        match self.metadata(path) {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// As `create_dir_all`; each directory that it makes is durable.
    fn create_dir_all_durably(&self, path: &Path, point: SyncPoint) -> io::Result<()> {
        if self.exists(path)? {
            return Ok(());
        }
        let parent = path.parent().unwrap_or(Path::new("/"));
        // A relative path ends in an empty parent: the working directory, which exists.
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        self.create_dir_all_durably(parent, point)?;
        self.create_dir_all(path)?;
        self.sync_dir(parent, point)
    }

    /// The whole of a small file.
    ///
    /// # Errors
    /// `FileTooLarge` when it holds more than `limit_bytes`.
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let file = self.open(path, OpenMode::Read)?;
        let len = file.len()?;
        if len > limit_bytes {
            let text = format!("{}: {len} bytes, more than {limit_bytes}", path.display());
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        let mut data = vec![0; len as usize];
        file.read_exact_at(&mut data, 0)?;
        Ok(data)
    }

    /// Replaces a small file so that a crash leaves the old content or the new: writes `NAME.tmp`, syncs it, renames it, syncs
    /// the directory.
    fn write_atomically(&self, path: &Path, content: &[u8], points: &AtomicWritePoints) -> io::Result<()> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        let temporary = Path::new(&temporary);
        let file = self.open(temporary, OpenMode::Create)?;
        file.write_all_at(content, 0)?;
        file.sync_data(points.file)?;
        drop(file);
        self.rename(temporary, path)?;
        self.sync_dir(path.parent().unwrap_or(Path::new("/")), points.directory)
    }
}

/// The names of the two syncs of `Disk::write_atomically`.
#[derive(Clone, Copy, Debug)]
pub struct AtomicWritePoints {
    pub file: SyncPoint,
    pub directory: SyncPoint,
}

/// An open file. Every call names its offset, so that one handle serves many threads.
pub trait DiskFile: Send + Sync {
    /// Reads up to `buffer.len()` bytes; 0 at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes a part of `data`, at least one byte unless it is empty; the file grows as needed.
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize>;
    /// Length in bytes.
    fn len(&self) -> io::Result<u64>;
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Makes content and length durable (`fdatasync`).
    fn sync_data(&self, point: SyncPoint) -> io::Result<()>;
    /// Makes content, length and times durable (`fsync`).
    fn sync_all(&self, point: SyncPoint) -> io::Result<()>;
    /// The kernel's handle, for reads and writes that are not worth a detour; absent in memory.
    fn as_std_file(&self) -> Option<&std::fs::File> {
        None
    }
    /// As `as_std_file`, giving up this handle.
    fn into_std_file(self: Box<Self>) -> Option<std::fs::File> {
        None
    }

    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn write_all_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < data.len() {
            match self.write_at(&data[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// A lock on a directory; ends when dropped.
pub trait LockGuard: Send + Sync {}
