//! Rolling upgrade of the NameNode: until it is finalized, deleted replicas go to the block pool's `trash`, in the same
//! subdirectories, and a DataNode that is started with `-rollback` puts them back.
//! Source: `BlockPoolSliceStorage.java`, `BPOfferService.signalRollingUpgrade`, Hadoop 3.5.0.

use super::pool::BlockPool;
use super::replica::{Kind, Replica};
use super::upgrade::kept_state;
use super::volume::{PoolDirs, Volume};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_disk::{Disk, OpenMode, SyncPoint};
use surus_types::BlockId;

/// Tells the next DataNode, Java's too, that an upgrade was going on.
const MARKER: &str = "RollingUpgradeInProgress";

/// One volume's part in a rolling upgrade: no volume waits for another's disk.
#[derive(Default)]
pub(super) struct RollingVolume {
    /// What the NameNode said that has been done here. Held by who does it.
    followed: Mutex<Option<bool>>,
    /// Held by who removes a replica's files: none gets into a trash that is being emptied.
    disposing: RwLock<()>,
}

impl BlockPool {
    /// What the NameNode says in each heartbeat of a rolling upgrade: it goes on, or it is finalized. Touches no disk: each
    /// volume's work is done in a thread of its own. What could not be done is tried again at the next heartbeat.
    pub(super) fn signal_rolling_upgrade(self: &Arc<Self>, goes_on: bool) {
        *self.rolling_upgrade.lock() = Some(goes_on);
        for (at, rolling) in self.rolling.iter().enumerate() {
            let is_due = rolling.followed.try_lock().is_some_and(|followed| *followed != Some(goes_on));
            if !is_due || self.volumes[at].is_failed() {
                continue;
            }
            let pool = self.clone();
            let work = move || pool.follow_rolling_upgrade(at);
            if let Err(e) = std::thread::Builder::new().name(format!("rolling upgrade {at}")).spawn(work) {
                tracing::error!("no thread for a rolling upgrade: {e}");
            }
        }
    }

    /// Does on a volume what was said last, however late this thread comes: it must not bring the marker back.
    fn follow_rolling_upgrade(&self, at: usize) {
        let (volume, dirs, rolling) = (&self.volumes[at], &self.dirs[at], &self.rolling[at]);
        let Some(mut followed) = rolling.followed.try_lock() else { return };
        let Some(goes_on) = *self.rolling_upgrade.lock() else { return };
        if *followed == Some(goes_on) {
            return;
        }
        // Whoever decided before the NameNode's word is done.
        drop(rolling.disposing.write());
        let done = if goes_on { set_marker(&*volume.disk, dirs) } else { clear(&*volume.disk, dirs) };
        *followed = done.is_ok().then_some(goes_on);
        if let Err(e) = done {
            tracing::warn!("{}: rolling upgrade: {e}", dirs.root.display());
        }
    }

    /// Removes a replica's files; while a rolling upgrade goes on they go to the trash instead.
    pub(super) fn dispose(&self, id: BlockId, replica: &Replica) {
        let Some(at) = self.volumes.iter().position(|v| v.index == replica.volume) else { return };
        let _disposing = self.rolling[at].disposing.read();
        // A half copy of another DataNode's replica is nothing to go back to.
        if matches!(replica.kind.original(), Kind::Temporary(_)) || !self.has_trash(at) {
            return self.remove_files(id, replica);
        }
        if let Err(e) = self.move_to_trash(id, replica) {
            tracing::warn!("blk_{id} cannot be moved to the trash, and stays where it is: {e}");
        }
    }

    /// Whether what is deleted is kept. Not beside `previous`, which has what was there before, and is where a rollback goes.
    /// Source: `BlockPoolSliceStorage.isTrashAllowed`, Hadoop 3.5.0.
    fn has_trash(&self, at: usize) -> bool {
        let goes_on = *self.rolling_upgrade.lock() == Some(true);
        goes_on && !kept_state(&*self.volumes[at].disk, &self.dirs[at]).has_previous().unwrap_or(false)
    }

    fn move_to_trash(&self, id: BlockId, replica: &Replica) -> io::Result<()> {
        let (volume, dirs) = self.volume(replica.volume)?;
        let (data, meta) = self.paths(id, replica)?;
        let Some(trash) = data.parent().and_then(|dir| trash_of(dirs, dir)) else { return Ok(()) };
        // A rename into a directory whose own name a power cut takes back would lose the replica.
        volume.disk.create_dir_all_durably(&trash, SyncPoint("datanode.trash-directories"))?;
        // The block file first: a meta file alone is no replica.
        for path in [data, meta] {
            let Some(name) = path.file_name() else { continue };
            match volume.disk.rename(&path, &trash.join(name)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        Ok(())
    }
}

/// `BP/current/finalized/subdir0/subdir0` -> `BP/trash/finalized/subdir0/subdir0`.
fn trash_of(dirs: &PoolDirs, dir: &Path) -> Option<PathBuf> {
    dir.strip_prefix(&dirs.current).ok().map(|below| dirs.trash().join(below))
}

/// Puts what lies in the trash back, where there is one. How many files.
///
/// # Errors
/// The disk's. Called again it goes on.
pub(super) fn restore_trash(disk: &dyn Disk, dirs: &PoolDirs) -> io::Result<u64> {
    let (trash, mut restored) = (dirs.trash(), 0);
    if !disk.exists(&trash)? {
        return Ok(0);
    }
    let (mut left, mut changed) = (vec![trash.clone()], BTreeSet::new());
    while let Some(dir) = left.pop() {
        let to = dirs.current.join(dir.strip_prefix(&trash).unwrap_or(Path::new("")));
        for entry in disk.list(&dir)? {
            let (old, new) = (dir.join(&entry.name), to.join(&entry.name));
            if entry.is_dir {
                left.push(old);
                continue;
            }
            if disk.exists(&new)? && disk.metadata(&new)?.len >= disk.metadata(&old)?.len {
                tracing::info!("Not overwriting {} with smaller file from trash directory.", new.display());
                continue;
            }
            disk.create_dir_all_durably(&to, SyncPoint("datanode.restored-parents"))?;
            disk.rename(&old, &new)?;
            changed.insert(to.clone());
            restored += 1;
        }
    }
    // The trash must not be gone before its content is elsewhere.
    for dir in changed {
        disk.sync_dir(&dir, SyncPoint("datanode.restored-replicas"))?;
    }
    disk.remove_dir_all(&trash)?;
    tracing::info!("Restored {restored} block files from trash in {}.", dirs.root.display());
    Ok(restored)
}

fn set_marker(disk: &dyn Disk, dirs: &PoolDirs) -> io::Result<()> {
    let marker = dirs.root.join(MARKER);
    if disk.exists(&marker)? {
        return Ok(());
    }
    tracing::info!("Created {}", marker.display());
    disk.open(&marker, OpenMode::Create).map(drop)
}

/// The upgrade is final: there is no way back to what was deleted meanwhile, nor to a layout from before it.
fn clear(disk: &dyn Disk, dirs: &PoolDirs) -> io::Result<()> {
    if disk.exists(&dirs.trash())? {
        disk.remove_dir_all(&dirs.trash())?;
        tracing::info!("Cleared {}", dirs.trash().display());
    }
    let marker = dirs.root.join(MARKER);
    if !disk.exists(&marker)? {
        return Ok(());
    }
    let state = kept_state(disk, dirs);
    if state.has_previous()? {
        state.finalize()?;
    }
    tracing::info!("Deleting {}", marker.display());
    disk.remove_file(&marker)
}

/// How a writer that is cut off by `dfsadmin -shutdownDatanode HOST upgrade` leaves its replica: the DataNode that is back
/// before the time in `rbw:.blk_1.restart` goes on with it as RBW. The colon is Hadoop's: it stands where a slash was meant.
/// Source: `LocalReplica.createRestartMetaStream`, `BlockPoolSlice.java`, Hadoop 3.5.0.
fn restart_file(dirs: &PoolDirs, id: BlockId) -> PathBuf {
    dirs.current.join(format!("rbw:.blk_{id}.restart"))
}

/// # Errors
/// The disk's: without the file the client takes the DataNode out of its pipeline.
pub(crate) fn note_restart(volume: &Volume, dirs: &PoolDirs, id: BlockId, until_ms: u64) -> io::Result<()> {
    let file = volume.disk.open(&restart_file(dirs, id), OpenMode::Create)?;
    file.write_all_at(until_ms.to_string().as_bytes(), 0)
}

/// Whether the writer of an unfinished replica is expected to come back. The note goes.
pub(super) fn take_restart_note(volume: &Volume, dirs: &PoolDirs, id: BlockId, now_ms: u64) -> bool {
    let path = restart_file(dirs, id);
    let Ok(text) = volume.disk.read(&path, NOTE_BYTES_MAX) else { return false };
    if let Err(e) = volume.disk.remove_file(&path) {
        tracing::warn!("Failed to delete restart meta file: {}: {e}", path.display());
    }
    String::from_utf8_lossy(&text).trim().parse::<u64>().is_ok_and(|until_ms| until_ms > now_ms)
}

const NOTE_BYTES_MAX: u64 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::{Checksum, ChecksumType};
    use crate::store::{BlockStore, PoolVersion, StorageLocation, StoreConfig};
    use std::time::{Duration, Instant};
    use surus_disk::{Fault, FaultKind, MemDisk};
    use surus_types::{Block, GenerationStamp, StorageType};

    fn two_volumes() -> (MemDisk, BlockStore, Arc<BlockPool>) {
        let location = |path: &str| StorageLocation { path: PathBuf::from(path), storage_type: StorageType::Disk };
        let config = StoreConfig {
            locations: vec![location("/data/1"), location("/data/2")],
            failed_volumes_tolerated: 0,
            reserved_bytes: 0,
            directory_mode: 0o700,
            roll_back: false,
            stop_timeout: Duration::from_millis(500),
        };
        let disk = MemDisk::new();
        let store = BlockStore::open(Arc::new(disk.clone()), config).unwrap();
        let version = PoolVersion { namespace_id: 7, pool_id: "BP-1".into(), ctime: 1, layout_version: -57 };
        let pool = store.open_pool(&version, "CID-1").unwrap();
        (disk, store, pool)
    }

    /// A finalized replica on the volume, deleted: whether it is in the trash.
    fn goes_to_trash(pool: &Arc<BlockPool>, at: usize) -> bool {
        let block = Block { id: BlockId(77), generation_stamp: GenerationStamp(1001), num_bytes: 10 };
        let checksum = Checksum::new(ChecksumType::Crc32c, 512).unwrap();
        let storage_id = pool.volumes[at].storage_id.clone();
        let mut writer = pool.create_rbw(&block, StorageType::Disk, &storage_id, checksum).unwrap();
        pool.finalize(&mut writer, false).unwrap();
        pool.delete(&[block]);
        let (disk, dirs) = (&pool.volumes[at].disk, &pool.dirs[at]);
        assert!(!disk.exists(&dirs.finalized_dir(block.id).join("blk_77")).unwrap());
        let trash = trash_of(dirs, &dirs.finalized_dir(block.id)).unwrap();
        let there = disk.exists(&trash.join("blk_77")).unwrap();
        if there {
            disk.remove_dir_all(&dirs.trash()).unwrap();
        }
        there
    }

    fn has_marker(pool: &BlockPool, at: usize) -> bool {
        pool.volumes[at].disk.exists(&pool.dirs[at].root.join(MARKER)).unwrap()
    }

    /// Heartbeats until it is so.
    fn until(pool: &Arc<BlockPool>, goes_on: bool, so: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !so() {
            assert!(Instant::now() < deadline, "nothing happens");
            pool.signal_rolling_upgrade(goes_on);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn what_was_said_last_counts() {
        let (_store, pool) = crate::store::delete::tests::pool();
        *pool.rolling_upgrade.lock() = Some(true);
        pool.follow_rolling_upgrade(0);
        assert!(has_marker(&pool, 0));
        *pool.rolling_upgrade.lock() = Some(false);
        pool.follow_rolling_upgrade(0);
        // The thread of the signal before, late.
        pool.follow_rolling_upgrade(0);
        assert!(!has_marker(&pool, 0));
    }

    #[test]
    fn a_volume_that_hangs_holds_up_no_other() {
        let (_disk, _store, pool) = two_volumes();
        // A deletion on the first volume that does not end.
        let hangs = pool.rolling[0].disposing.read();
        until(&pool, true, || has_marker(&pool, 1));
        assert!(goes_to_trash(&pool, 1));
        until(&pool, false, || !has_marker(&pool, 1));
        assert!(!goes_to_trash(&pool, 1) && !has_marker(&pool, 0));
        drop(hangs);
        until(&pool, true, || has_marker(&pool, 0) && has_marker(&pool, 1));
    }

    #[test]
    fn what_failed_is_tried_again() {
        let (disk, _store, pool) = two_volumes();
        let fault = |name: &str| disk.inject(Fault::all(FaultKind::Name, io::ErrorKind::Other).below(name).times(1));
        fault(MARKER);
        until(&pool, true, || has_marker(&pool, 0) && has_marker(&pool, 1));
        fault(MARKER);
        until(&pool, false, || !has_marker(&pool, 0) && !has_marker(&pool, 1));
    }

    #[test]
    fn no_trash_beside_a_previous_state() {
        let (disk, _store, pool) = two_volumes();
        until(&pool, true, || has_marker(&pool, 0) && has_marker(&pool, 1));
        disk.create_dir_all(&pool.dirs[0].root.join("previous")).unwrap();
        assert!(!goes_to_trash(&pool, 0));
        assert!(goes_to_trash(&pool, 1));
    }
}
