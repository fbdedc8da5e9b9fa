//! The in-memory twin: keeps apart what was written and what is durable, counts every change, fails where told to,
//! and gives crash clones. Meant for tests; nothing in it is fast.

mod fault;
mod state;

pub use fault::{Fault, FaultEffect, FaultKind};
pub use state::CrashMode;

use crate::{DirEntry, Disk, DiskFile, LockGuard, Metadata, OpenMode, Space, SyncPoint};
use fault::Faults;
use parking_lot::{Mutex, RwLock};
use state::{FileId, State};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An in-memory file system. Clones share it; `crash_clone` makes another one.
#[derive(Clone, Default)]
pub struct MemDisk(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    faults: Mutex<Faults>,
    observer: RwLock<Option<Observer>>,
}

/// Called after each change and before each sync, with nothing locked: the places where a crash can fall.
pub type Observer = Box<dyn Fn(&MemDisk) + Send + Sync>;

impl MemDisk {
    pub fn new() -> MemDisk {
        MemDisk::default()
    }

    /// What a power cut at this moment could leave: chosen by `seed` among all that the rules of the crate allow.
    /// The clone has no faults, no observer and no locks.
    pub fn crash_clone(&self, mode: CrashMode, seed: u64) -> MemDisk {
        Self::from_state(self.0.state.lock().crash(mode, seed))
    }

    /// A copy with everything as it is, synced or not (what a killed process leaves).
    pub fn kill_clone(&self) -> MemDisk {
        Self::from_state(self.0.state.lock().clone())
    }

    fn from_state(mut state: State) -> MemDisk {
        state.locks.clear();
        MemDisk(Arc::new(Shared { state: Mutex::new(state), ..Shared::default() }))
    }

    /// Makes durable all there is, as if every file and directory had been synced; nobody observes that.
    pub fn sync_everything(&self) {
        self.0.state.lock().sync_everything();
    }

    /// Calls `observer` at every place where a crash can fall. None: no more calls.
    pub fn observe(&self, observer: Option<Observer>) {
        *self.0.observer.write() = observer;
    }

    /// Adds a fault.
    pub fn inject(&self, fault: Fault) {
        self.0.faults.lock().add(fault);
    }

    /// Forgets all faults.
    pub fn clear_faults(&self) {
        self.0.faults.lock().clear();
    }

    /// Limits the bytes that all files together may hold.
    pub fn set_capacity(&self, bytes: u64) {
        self.0.state.lock().capacity = Some(bytes);
    }

    /// How many changes and syncs there were so far.
    pub fn calls(&self) -> u64 {
        self.0.faults.lock().calls()
    }

    /// Every path with its content, as readers see it now: what a test compares before and after.
    pub fn contents(&self) -> Vec<(PathBuf, Arc<Vec<u8>>)> {
        self.0.state.lock().contents()
    }

    fn observed(&self) {
        if let Some(observer) = &*self.0.observer.read() {
            observer(self);
        }
    }

    /// Counts a call and fails it if a fault says so. For a write, the bytes that may still be written before it fails.
    fn attempt(&self, kind: FaultKind, path: &Path) -> Result<(), FaultEffect> {
        match self.0.faults.lock().check(kind, path) {
            None => Ok(()),
            Some(effect) => Err(effect),
        }
    }

    fn change<T>(&self, kind: FaultKind, path: &Path, f: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        self.attempt(kind, path).map_err(|effect| effect.error(path))?;
        let result = f(&mut self.0.state.lock());
        self.observed();
        result
    }
}

impl Disk for MemDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let kind = if mode == OpenMode::Read { FaultKind::Read } else { FaultKind::Name };
        self.attempt(kind, path).map_err(|effect| effect.error(path))?;
        let (id, changed) = self.0.state.lock().open(path, mode)?;
        if changed {
            self.observed();
        }
        Ok(Box::new(MemFile { disk: self.clone(), id, path: path.to_path_buf(), writable: mode != OpenMode::Read }))
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.0.state.lock().metadata(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.0.state.lock().list(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.change(FaultKind::Name, path, |state| state.create_dir_all(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(FaultKind::Name, from, |state| state.rename(from, to))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(FaultKind::Name, to, |state| state.hard_link(from, to))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.change(FaultKind::Name, path, |state| state.remove(path, false))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.change(FaultKind::Name, path, |state| state.remove(path, true))
    }

    fn sync_dir(&self, path: &Path, point: SyncPoint) -> io::Result<()> {
        self.observed();
        self.attempt(FaultKind::Sync, path).map_err(|effect| effect.error(path))?;
        if point.is_skipped() {
            return Ok(());
        }
        self.0.state.lock().sync_dir(path)?;
        self.observed();
        Ok(())
    }

    fn lock(&self, path: &Path, content: &str) -> io::Result<Box<dyn LockGuard>> {
        self.attempt(FaultKind::Name, path).map_err(|effect| effect.error(path))?;
        self.0.state.lock().lock(path, content)?;
        Ok(Box::new(MemLock { disk: self.clone(), path: path.to_path_buf() }))
    }

    fn space(&self, _path: &Path) -> io::Result<Space> {
        Ok(self.0.state.lock().space())
    }
}

struct MemFile {
    disk: MemDisk,
    id: FileId,
    path: PathBuf,
    writable: bool,
}

impl MemFile {
    fn sync(&self, point: SyncPoint) -> io::Result<()> {
        self.disk.observed();
        self.disk.attempt(FaultKind::Sync, &self.path).map_err(|effect| effect.error(&self.path))?;
        if point.is_skipped() {
            return Ok(());
        }
        self.disk.0.state.lock().file(self.id).sync();
        self.disk.observed();
        Ok(())
    }

    fn check_writable(&self) -> io::Result<()> {
        if self.writable {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{}: opened for reading", self.path.display())))
    }
}

impl DiskFile for MemFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.disk.attempt(FaultKind::Read, &self.path).map_err(|effect| effect.error(&self.path))?;
        Ok(self.disk.0.state.lock().file(self.id).read(buffer, offset))
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        self.check_writable()?;
        let count = match self.disk.attempt(FaultKind::Write, &self.path) {
            Ok(()) => data.len(),
            Err(FaultEffect::Short(bytes)) => bytes.min(data.len()),
            Err(effect) => return Err(effect.error(&self.path)),
        };
        self.disk.0.state.lock().write(self.id, &data[..count], offset)?;
        self.disk.observed();
        Ok(count)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.0.state.lock().file(self.id).len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check_writable()?;
        self.disk.change(FaultKind::Write, &self.path, |state| {
            state.file(self.id).set_len(len);
            Ok(())
        })
    }

    fn sync_data(&self, point: SyncPoint) -> io::Result<()> {
        self.sync(point)
    }

    fn sync_all(&self, point: SyncPoint) -> io::Result<()> {
        self.sync(point)
    }
}

struct MemLock {
    disk: MemDisk,
    path: PathBuf,
}

impl LockGuard for MemLock {}

impl Drop for MemLock {
    fn drop(&mut self) {
        self.disk.0.state.lock().unlock(&self.path);
    }
}
