//! The kernel's file system.

use crate::{DirEntry, Disk, DiskFile, LockGuard, Metadata, OpenMode, Space, SyncPoint};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Files of the machine.
#[derive(Clone, Copy, Default, Debug)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match mode {
            OpenMode::Read => &mut options,
            OpenMode::ReadWrite => options.write(true),
            OpenMode::OpenOrCreate => options.write(true).create(true).truncate(false),
            OpenMode::Create => options.write(true).create(true).truncate(true),
            OpenMode::CreateNew => options.write(true).create_new(true),
        };
        Ok(Box::new(RealFile(options.open(path).map_err(|e| name(e, path))?)))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        let found = fs::metadata(path).map_err(|e| name(e, path))?;
        let modified = found.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
        Ok(Metadata {
            is_dir: found.is_dir(),
            len: if found.is_dir() { 0 } else { found.len() },
            modified_ms: modified.map_or(0, |t| t.as_millis() as u64),
            links: found.nlink(),
        })
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(path).map_err(|e| name(e, path))? {
            let entry = entry.map_err(|e| name(e, path))?;
            let mut kind = entry.file_type().map_err(|e| name(e, &entry.path()))?;
            if kind.is_symlink() {
                match fs::metadata(entry.path()) {
                    Ok(target) => kind = target.file_type(),
                    Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                    Err(e) => return Err(name(e, &entry.path())),
                }
            }
            entries.push(DirEntry { name: entry.file_name().to_string_lossy().into_owned(), is_dir: kind.is_dir() });
        }
        entries.sort();
        Ok(entries)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path).map_err(|e| name(e, path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to).map_err(|e| name(e, from))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to).map_err(|e| name(e, to))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path).map_err(|e| name(e, path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path).map_err(|e| name(e, path))
    }

    fn sync_dir(&self, path: &Path, point: SyncPoint) -> io::Result<()> {
        if point.is_skipped() {
            return Ok(());
        }
        File::open(path).and_then(|dir| dir.sync_all()).map_err(|e| name(e, path))
    }

    fn lock(&self, path: &Path, content: &str) -> io::Result<Box<dyn LockGuard>> {
        RealLock::acquire(path, content).map(|lock| Box::new(lock) as Box<dyn LockGuard>)
    }

    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(|e| name(e, path))
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        let found = rustix::fs::statvfs(path).map_err(|e| name(e.into(), path))?;
        Ok(Space {
            capacity: found.f_blocks.saturating_mul(found.f_frsize),
            available: found.f_bavail.saturating_mul(found.f_frsize),
            used: found.f_blocks.saturating_sub(found.f_bfree).saturating_mul(found.f_frsize),
        })
    }
}

/// Adds the path to the text of an error; its kind stays.
fn name(e: io::Error, path: &Path) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(data, offset)
    }
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self, point: SyncPoint) -> io::Result<()> {
        if point.is_skipped() { Ok(()) } else { self.0.sync_data() }
    }
    fn sync_all(&self, point: SyncPoint) -> io::Result<()> {
        if point.is_skipped() { Ok(()) } else { self.0.sync_all() }
    }
    fn as_std_file(&self) -> Option<&File> {
        Some(&self.0)
    }
    fn into_std_file(self: Box<Self>) -> Option<File> {
        Some(self.0)
    }
}

/// The lock files this process holds. A POSIX record lock, the kind that Java's `FileChannel.tryLock` takes, never keeps
/// out its own process, and closing any handle of the file ends it: so the process must look here first.
static HELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

struct RealLock {
    path: PathBuf,
    _file: File,
}

impl RealLock {
    fn acquire(path: &Path, content: &str) -> io::Result<RealLock> {
        let mut held = HELD.lock();
        let parent = path.parent().unwrap_or(Path::new("."));
        let parent = fs::canonicalize(parent).map_err(|e| name(e, parent))?;
        let path = parent.join(path.file_name().unwrap_or_default());
        if held.contains(&path) {
            let text = format!("{} is locked by this process already", path.display());
            return Err(io::Error::new(io::ErrorKind::WouldBlock, text));
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| name(e, &path))?;
        if let Err(e) = rustix::fs::fcntl_lock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            let error = io::Error::from(e);
            if !matches!(e, rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) {
                return Err(name(error, &path));
            }
            let mut holder = String::new();
            file.take(HOLDER_BYTES_MAX).read_to_string(&mut holder).ok();
            let text = format!("{} is locked by another process: {}", path.display(), holder.trim());
            return Err(io::Error::new(io::ErrorKind::WouldBlock, text));
        }
        file.set_len(0).and_then(|()| file.write_all(content.as_bytes())).map_err(|e| name(e, &path))?;
        held.insert(path.clone());
        Ok(RealLock { path, _file: file })
    }
}

/// How much of a foreign lock file an error text quotes.
const HOLDER_BYTES_MAX: u64 = 256;

impl LockGuard for RealLock {}

impl Drop for RealLock {
    fn drop(&mut self) {
        let mut held = HELD.lock();
        // Best effort, as Java's deleteOnExit: a file left behind is locked by nobody.
        fs::remove_file(&self.path).ok();
        held.remove(&self.path);
    }
}
