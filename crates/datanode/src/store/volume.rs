//! One data directory: its lock, its VERSION, its room, and where a block's files lie in it.

use super::StoreConfig;
use super::upgrade;
use super::version::{LAYOUT_VERSION, PoolVersion, StorageVersion};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use surus_disk::{AtomicWritePoints, Disk, LockGuard, Space, SyncPoint};
use surus_types::{Block, BlockId, StorageReport, StorageType};

/// A VERSION file is a few hundred bytes.
pub(super) const VERSION_BYTES_MAX: u64 = 64 << 10;

pub(super) const SYNC_VERSION: AtomicWritePoints =
    AtomicWritePoints { file: SyncPoint("datanode.version-file"), directory: SyncPoint("datanode.version-directory") };

/// A data directory that is locked by this process.
pub struct Volume {
    pub index: u16,
    pub root: PathBuf,
    pub storage_type: StorageType,
    pub storage_id: String,
    pub(crate) disk: Arc<dyn Disk>,
    /// What `current/VERSION` says; `None`: the directory is empty and not yet formatted.
    pub(crate) version: Mutex<Option<StorageVersion>>,
    /// Bytes of block and meta files, all pools together.
    pub(crate) dfs_used: AtomicU64,
    pub(crate) num_blocks: AtomicU64,
    /// Bytes that open replicas may still take.
    pub(crate) reserved_for_replicas: AtomicU64,
    /// `dfs.datanode.du.reserved`: bytes kept for others.
    pub(crate) reserved: u64,
    /// Read from the kernel by `refresh_space`, never in a heartbeat: a hung disk would hang it.
    space: Mutex<Space>,
    failed: AtomicBool,
    /// Held while the volume is tried: two that write and remove the probe at once would find it broken.
    pub(super) checking: Mutex<()>,
    /// Subdirectories of `finalized` whose names this process made durable: 1,024 at most in each pool.
    durable_subdirs: Mutex<HashSet<PathBuf>>,
    lock: Mutex<Option<Box<dyn LockGuard>>>,
}

impl std::fmt::Debug for Volume {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Volume({})", self.root.display())
    }
}

/// An entry of `dfs.datanode.data.dir`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageLocation {
    pub path: PathBuf,
    pub storage_type: StorageType,
}

/// A random UUID in the usual form.
pub(crate) fn random_uuid() -> String {
    let mut b: [u8; 16] = rand::random();
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    let hex = u128::from_be_bytes(b);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        hex >> 96,
        hex >> 80 & 0xffff,
        hex >> 64 & 0xffff,
        hex >> 48 & 0xffff,
        hex & 0xffff_ffff_ffff
    )
}

impl Volume {
    /// Makes the directory if it is missing, locks it, and reads its VERSION.
    ///
    /// # Errors
    /// The directory cannot be made, is locked by somebody else, or holds a VERSION that does not parse or is newer.
    pub fn open(
        disk: &Arc<dyn Disk>,
        index: u16,
        location: &StorageLocation,
        config: &StoreConfig,
    ) -> io::Result<Volume> {
        let root = location.path.clone();
        disk.create_dir_all(&root)?;
        disk.set_mode(&root, u32::from(config.directory_mode))?;
        let lock =
            disk.lock(&root.join("in_use.lock"), &format!("{}@{}", std::process::id(), host_name())).map_err(|e| {
                match e.kind() {
                    io::ErrorKind::WouldBlock => io::Error::new(
                        e.kind(),
                        format!("Cannot lock storage {}. The directory is already locked ({e})", root.display()),
                    ),
                    _ => e,
                }
            })?;
        let version = read_version(&**disk, &root)?;
        let space = disk.space(&root)?;
        Ok(Volume {
            index,
            storage_type: location.storage_type,
            storage_id: version.as_ref().map_or_else(|| format!("DS-{}", random_uuid()), |v| v.storage_id.clone()),
            disk: disk.clone(),
            version: Mutex::new(version),
            dfs_used: AtomicU64::new(0),
            num_blocks: AtomicU64::new(0),
            reserved_for_replicas: AtomicU64::new(0),
            reserved: config.reserved_bytes,
            space: Mutex::new(space),
            failed: AtomicBool::new(false),
            checking: Mutex::new(()),
            durable_subdirs: Mutex::default(),
            root,
            lock: Mutex::new(Some(lock)),
        })
    }

    /// Checks the cluster id, or formats an empty directory for it.
    ///
    /// # Errors
    /// Hadoop's text for another cluster; the kernel's for a file that cannot be written.
    pub(crate) fn format_or_check(&self, cluster_id: &str, datanode_uuid: &str) -> io::Result<()> {
        let mut version = self.version.lock();
        if let Some(version) = &mut *version {
            if version.cluster_id != cluster_id {
                return Err(io::Error::other(format!(
                    "Incompatible clusterIDs in {}: namenode clusterID = {cluster_id}; datanode clusterID = {}",
                    self.root.display(),
                    version.cluster_id
                )));
            }
            if version.layout_version != LAYOUT_VERSION {
                // The block pools have VERSION files of their own, and are upgraded by those.
                version.layout_version = LAYOUT_VERSION;
                let text = version.to_text();
                self.disk.write_atomically(&self.root.join("current/VERSION"), text.as_bytes(), &SYNC_VERSION)?;
            }
            return Ok(());
        }
        let new = StorageVersion {
            datanode_uuid: datanode_uuid.to_owned(),
            cluster_id: cluster_id.to_owned(),
            storage_id: self.storage_id.clone(),
            layout_version: LAYOUT_VERSION,
        };
        self.disk.create_dir_all(&self.root.join("current"))?;
        self.disk.write_atomically(&self.root.join("current/VERSION"), new.to_text().as_bytes(), &SYNC_VERSION)?;
        for dir in [Some(&*self.root), self.root.parent()].into_iter().flatten() {
            self.disk.sync_dir(dir, SyncPoint("datanode.volume-directory"))?;
        }
        *version = Some(new);
        Ok(())
    }

    /// Makes, upgrades or checks the directories of a block pool. `tmp` is emptied.
    ///
    /// # Errors
    /// Hadoop's text for another namespace or an older one; the kernel's otherwise.
    pub(crate) fn open_pool(&self, pool: &PoolVersion, roll_back: bool) -> io::Result<()> {
        let dirs = self.pool_dirs(&pool.pool_id);
        upgrade::transition(&*self.disk, &dirs, pool, roll_back)?;
        let version_file = dirs.current.join("VERSION");
        if !self.disk.exists(&version_file)? {
            self.disk.create_dir_all(&dirs.current)?;
            self.disk.write_atomically(&version_file, pool.to_text().as_bytes(), &SYNC_VERSION)?;
        }
        for dir in [&dirs.finalized, &dirs.rbw] {
            self.disk.create_dir_all(dir)?;
        }
        // Java's notes for its own next start, which would not hold any more.
        for stale in ["replicas", "dfsUsed"] {
            match self.disk.remove_file(&dirs.current.join(stale)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        // Half copies of another DataNode's blocks: the NameNode will ask again.
        if self.disk.exists(&dirs.tmp)? {
            self.disk.remove_dir_all(&dirs.tmp)?;
        }
        self.disk.create_dir_all(&dirs.tmp)?;
        // The names made above hold every block file: they must not vanish in a power cut.
        for dir in [&dirs.current, &dirs.root, &self.root.join("current")] {
            self.disk.sync_dir(dir, SyncPoint("datanode.pool-directory"))?;
        }
        Ok(())
    }

    pub(crate) fn pool_dirs(&self, pool_id: &str) -> PoolDirs {
        let root = self.root.join("current").join(pool_id);
        let current = root.join("current");
        PoolDirs {
            finalized: current.join("finalized"),
            rbw: current.join("rbw"),
            tmp: root.join("tmp"),
            current,
            root,
        }
    }

    /// A subdirectory of `finalized` whose name and whose parent's name are durable. It may be there already, made for blocks
    /// that need not last or by a process that was killed: hence a sync for each, once.
    pub(crate) fn make_durable_subdir(&self, subdir: &Path) -> io::Result<()> {
        if self.durable_subdirs.lock().contains(subdir) {
            return Ok(());
        }
        self.disk.create_dir_all(subdir)?;
        for above in subdir.ancestors().skip(1).take(2) {
            self.disk.sync_dir(above, SyncPoint("datanode.finalized-parents"))?;
        }
        self.durable_subdirs.lock().insert(subdir.to_owned());
        Ok(())
    }

    /// Lets another process have the directory.
    pub(crate) fn unlock(&self) {
        self.lock.lock().take();
    }

    /// Asks the kernel how much room there is. May hang as long as the disk does.
    pub fn refresh_space(&self) -> io::Result<()> {
        let space = self.disk.space(&self.root)?;
        *self.space.lock() = space;
        Ok(())
    }

    /// Room in bytes for new replicas.
    pub fn available(&self) -> u64 {
        let space = *self.space.lock();
        let mine = space.capacity.saturating_sub(self.reserved).saturating_sub(self.dfs_used.load(Ordering::Relaxed));
        let others_overdraft =
            self.reserved.saturating_sub(space.used.saturating_sub(self.dfs_used.load(Ordering::Relaxed)));
        mine.min(space.available.saturating_sub(others_overdraft))
            .saturating_sub(self.reserved_for_replicas.load(Ordering::Relaxed))
    }

    /// What a heartbeat says of this volume. Touches no disk.
    /// Source of the sums: `FsVolumeImpl.java`, Hadoop 3.5.0.
    pub fn report(&self) -> StorageReport {
        let space = *self.space.lock();
        let dfs_used = self.dfs_used.load(Ordering::Relaxed);
        StorageReport {
            uuid: self.storage_id.clone(),
            storage_type: self.storage_type,
            failed: self.is_failed(),
            capacity: space.capacity.saturating_sub(self.reserved),
            dfs_used,
            remaining: self.available(),
            block_pool_used: dfs_used,
            non_dfs_used: space.used.saturating_sub(dfs_used).saturating_sub(self.reserved),
        }
    }

    /// `dfs.datanode.du.reserved`, bytes.
    pub fn reserved_bytes(&self) -> u64 {
        self.reserved
    }

    /// Bytes that open replicas may still take.
    pub fn reserved_for_replicas(&self) -> u64 {
        self.reserved_for_replicas.load(Ordering::Relaxed)
    }

    pub fn num_blocks(&self) -> u64 {
        self.num_blocks.load(Ordering::Relaxed)
    }

    pub fn is_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Marks the volume as failed; whether it was not so before.
    pub(crate) fn mark_failed(&self) -> bool {
        !self.failed.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn add_used(&self, bytes: u64) {
        self.dfs_used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn sub_used(&self, bytes: u64) {
        // Files may have been changed behind our back: never below zero.
        let _ =
            self.dfs_used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| Some(used.saturating_sub(bytes)));
    }
}

fn read_version(disk: &dyn Disk, root: &Path) -> io::Result<Option<StorageVersion>> {
    let path = root.join("current/VERSION");
    if !disk.exists(&path)? {
        let current = root.join("current");
        // A start that was cut off leaves an empty `current`; one with content belongs to somebody.
        let is_fresh = !disk.exists(&current)? || disk.list(&current)?.iter().all(|e| e.name == "VERSION.tmp");
        if !is_fresh {
            let text = format!("Directory {} is in an inconsistent state: no VERSION in current", root.display());
            return Err(io::Error::other(text));
        }
        return Ok(None);
    }
    let text = disk.read(&path, VERSION_BYTES_MAX)?;
    let version = StorageVersion::parse(&String::from_utf8_lossy(&text))
        .map_err(|e| io::Error::other(format!("Directory {} is in an inconsistent state: {e}", root.display())))?;
    if version.layout_version < LAYOUT_VERSION {
        return Err(io::Error::other(format!(
            "{}: Future version of storage directory: layout version {}, this DataNode knows {LAYOUT_VERSION}",
            root.display(),
            version.layout_version
        )));
    }
    if version.layout_version > -56 {
        return Err(io::Error::other(format!(
            "{}: layout version {} is too old: upgrade it with Hadoop 2.7 or later first",
            root.display(),
            version.layout_version
        )));
    }
    Ok(Some(version))
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The directories of one block pool on one volume.
#[derive(Clone, Debug)]
pub(crate) struct PoolDirs {
    pub root: PathBuf,
    pub current: PathBuf,
    pub finalized: PathBuf,
    pub rbw: PathBuf,
    pub tmp: PathBuf,
}

impl PoolDirs {
    /// Replicas that were deleted while a rolling upgrade went on.
    pub fn trash(&self) -> PathBuf {
        self.root.join("trash")
    }

    /// `finalized/subdirX/subdirY`, from bits 16-20 and 8-12 of the id.
    /// Source: `DatanodeUtil.idToBlockDir`, Hadoop 3.5.0.
    pub fn finalized_dir(&self, id: BlockId) -> PathBuf {
        self.finalized.join(format!("subdir{}", id.0 >> 16 & 0x1f)).join(format!("subdir{}", id.0 >> 8 & 0x1f))
    }
}

/// `blk_1073741825`.
pub(crate) fn block_name(id: BlockId) -> String {
    format!("blk_{id}")
}

/// `blk_1073741825_1001.meta`.
pub(crate) fn meta_name(block: &Block) -> String {
    format!("blk_{}_{}.meta", block.id, block.generation_stamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_layout_57() {
        let dirs = PoolDirs {
            root: "/r".into(),
            current: "/c".into(),
            finalized: "/f".into(),
            rbw: "/w".into(),
            tmp: "/t".into(),
        };
        assert_eq!(dirs.finalized_dir(BlockId(1_073_741_825)), Path::new("/f/subdir0/subdir0"));
        assert_eq!(dirs.finalized_dir(BlockId(0x1f_1f_01)), Path::new("/f/subdir31/subdir31"));
        assert_eq!(dirs.finalized_dir(BlockId(-1)), Path::new("/f/subdir31/subdir31"));
    }

    #[test]
    fn uuids_look_like_uuids() {
        let uuid = random_uuid();
        assert_eq!((uuid.len(), uuid.as_bytes()[14]), (36, b'4'), "{uuid}");
    }
}
