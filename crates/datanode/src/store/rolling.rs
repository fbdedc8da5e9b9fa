//! Rolling upgrade of the NameNode: until it is finalized, deleted replicas go to the block pool's `trash`, in the same
//! subdirectories, and a DataNode that is started with `-rollback` puts them back.
//! Source: `BlockPoolSliceStorage.java`, `BPOfferService.signalRollingUpgrade`, Hadoop 3.5.0.

use super::pool::BlockPool;
use super::replica::{Kind, Replica};
use super::upgrade::kept_state;
use super::volume::{PoolDirs, Volume};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use surus_disk::{Disk, OpenMode, SyncPoint};
use surus_types::BlockId;

/// Tells the next DataNode, Java's too, that an upgrade was going on.
const MARKER: &str = "RollingUpgradeInProgress";

impl BlockPool {
    /// What the NameNode says in each heartbeat of a rolling upgrade: it goes on, or it is finalized. Touches no disk: the
    /// work is done in a thread of its own.
    pub(super) fn signal_rolling_upgrade(self: &Arc<Self>, goes_on: bool) {
        if self.rolling_upgrade.lock().replace(goes_on) == Some(goes_on) {
            return;
        }
        self.keeps_deleted.store(goes_on, Ordering::SeqCst);
        let pool = self.clone();
        let work = move || pool.follow_rolling_upgrade(goes_on);
        if let Err(e) = std::thread::Builder::new().name("rolling upgrade".into()).spawn(work) {
            tracing::error!("no thread for a rolling upgrade: {e}");
            *self.rolling_upgrade.lock() = None;
        }
    }

    /// Does what was said last, whichever thread comes first: a late one must not bring the marker back.
    fn follow_rolling_upgrade(&self, said: bool) {
        let _one_at_a_time = self.signalling.lock();
        let goes_on = self.rolling_upgrade.lock().unwrap_or(said);
        drop(self.disposing.write());
        for (volume, dirs) in self.volumes.iter().zip(&self.dirs).filter(|(volume, _)| !volume.is_failed()) {
            let done = if goes_on { set_marker(&*volume.disk, dirs) } else { clear(&*volume.disk, dirs) };
            if let Err(e) = done {
                tracing::warn!("{}: rolling upgrade: {e}", dirs.root.display());
            }
        }
    }

    /// Removes a replica's files; while a rolling upgrade goes on they go to the trash instead.
    pub(super) fn dispose(&self, id: BlockId, replica: &Replica) {
        let _disposing = self.disposing.read();
        let keeps = self.keeps_deleted.load(Ordering::SeqCst);
        // A half copy of another DataNode's replica is nothing to go back to.
        if !keeps || matches!(replica.kind.original(), Kind::Temporary(_)) {
            return self.remove_files(id, replica);
        }
        if let Err(e) = self.move_to_trash(id, replica) {
            tracing::warn!("blk_{id} cannot be moved to the trash, and stays where it is: {e}");
        }
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

    #[test]
    fn what_was_said_last_counts() {
        let (_store, pool) = crate::store::delete::tests::pool();
        let marker = pool.dirs[0].root.join(MARKER);
        let disk = pool.volumes[0].disk.clone();
        pool.follow_rolling_upgrade(true);
        assert!(disk.exists(&marker).unwrap());
        *pool.rolling_upgrade.lock() = Some(false);
        pool.follow_rolling_upgrade(false);
        // The thread of the signal before, late.
        pool.follow_rolling_upgrade(true);
        assert!(!disk.exists(&marker).unwrap());
    }
}
