//! The real disk with a switch: calls below a path wait for as long as it hangs, as they do on a disk that answers no more.

use parking_lot::{Condvar, Mutex};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_disk::{DirEntry, Disk, DiskFile, LockGuard, Metadata, OpenMode, RealDisk, Space, SyncPoint};

/// Clones share the switch.
#[derive(Clone, Default)]
pub struct HangingDisk(Arc<Switch>);

#[derive(Default)]
struct Switch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    below: Option<PathBuf>,
    waiting: usize,
}

/// A disk hangs as long as this lives: also a test that fails lets its threads end.
#[must_use]
pub struct Hang(HangingDisk);

impl Drop for Hang {
    fn drop(&mut self) {
        self.0.0.state.lock().below = None;
        self.0.0.changed.notify_all();
    }
}

impl HangingDisk {
    /// From now on calls below `path` do not return.
    pub fn hang(&self, path: &Path) -> Hang {
        self.0.state.lock().below = Some(path.to_owned());
        Hang(self.clone())
    }

    /// Calls that wait now.
    pub fn waiting(&self) -> usize {
        self.0.state.lock().waiting
    }

    fn pass(&self, path: &Path) {
        let mut state = self.0.state.lock();
        if state.below.as_ref().is_none_or(|below| !path.starts_with(below)) {
            return;
        }
        state.waiting += 1;
        while state.below.as_ref().is_some_and(|below| path.starts_with(below)) {
            self.0.changed.wait(&mut state);
        }
        state.waiting -= 1;
    }
}

impl Disk for HangingDisk {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        self.pass(path);
        let file = RealDisk.open(path, mode)?;
        Ok(Box::new(HangingFile { disk: self.clone(), path: path.to_owned(), file }))
    }
    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.pass(path);
        RealDisk.metadata(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.pass(path);
        RealDisk.list(path)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.pass(path);
        RealDisk.create_dir_all(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass(from);
        RealDisk.rename(from, to)
    }
    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.pass(from);
        RealDisk.hard_link(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.pass(path);
        RealDisk.remove_file(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.pass(path);
        RealDisk.remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path, point: SyncPoint) -> io::Result<()> {
        self.pass(path);
        RealDisk.sync_dir(path, point)
    }
    fn lock(&self, path: &Path, content: &str) -> io::Result<Box<dyn LockGuard>> {
        self.pass(path);
        RealDisk.lock(path, content)
    }
    fn space(&self, path: &Path) -> io::Result<Space> {
        self.pass(path);
        RealDisk.space(path)
    }
    fn set_mode(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.pass(path);
        RealDisk.set_mode(path, mode)
    }
}

/// Hides the kernel's handle, so that every read and write comes by.
struct HangingFile {
    disk: HangingDisk,
    path: PathBuf,
    file: Box<dyn DiskFile>,
}

impl DiskFile for HangingFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.disk.pass(&self.path);
        self.file.read_at(buffer, offset)
    }
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        self.disk.pass(&self.path);
        self.file.write_at(data, offset)
    }
    fn len(&self) -> io::Result<u64> {
        self.disk.pass(&self.path);
        self.file.len()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.disk.pass(&self.path);
        self.file.set_len(len)
    }
    fn sync_data(&self, point: SyncPoint) -> io::Result<()> {
        self.disk.pass(&self.path);
        self.file.sync_data(point)
    }
    fn sync_all(&self, point: SyncPoint) -> io::Result<()> {
        self.disk.pass(&self.path);
        self.file.sync_all(point)
    }
}
