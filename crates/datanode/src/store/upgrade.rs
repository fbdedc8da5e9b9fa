//! Upgrade, rollback and finalization of a block pool's directory: layouts before -57 and NameNodes that were upgraded.
//! Finalized replicas get a second name in the new `current`; whoever changes one gives it a file of its own first.
//! Source: `BlockPoolSliceStorage.java`, `DataStorage.java`, Hadoop 3.5.0.

use super::pool::BlockPool;
use super::recover::copy;
use super::replica::Replica;
use super::rolling::restore_trash;
use super::scan::parse_name;
use super::version::{LAYOUT_VERSION, PoolVersion};
use super::volume::{PoolDirs, SYNC_VERSION, VERSION_BYTES_MAX, Volume};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use surus_disk::{Disk, KeptState, KeptStatePoints, OpenMode, PREVIOUS, PREVIOUS_TMP, SyncPoint};
use surus_types::BlockId;

const POINTS: KeptStatePoints = KeptStatePoints {
    rename: SyncPoint("datanode.upgrade-rename"),
    current: SyncPoint("datanode.upgrade-current"),
    remove: SyncPoint("datanode.upgrade-remove"),
};

pub(super) fn kept_state<'a>(disk: &'a dyn Disk, dirs: &'a PoolDirs) -> KeptState<'a> {
    KeptState { disk, dir: &dirs.root, points: &POINTS }
}

/// `VERSION` of a block pool's `current` or `previous`, if it is there.
///
/// # Errors
/// It does not parse; the disk's.
pub(super) fn read_version(disk: &dyn Disk, dir: &Path) -> io::Result<Option<PoolVersion>> {
    let path = dir.join("VERSION");
    if !disk.exists(&path)? {
        return Ok(None);
    }
    let text = disk.read(&path, VERSION_BYTES_MAX)?;
    let version = PoolVersion::parse(&String::from_utf8_lossy(&text));
    version.map(Some).map_err(|e| io::Error::other(format!("{}: {e}", path.display())))
}

/// Makes a block pool's directory fit `pool`, what the NameNode says of itself: ends what a crash interrupted, goes back to
/// `previous` where that was asked for, and upgrades an older layout or one from before the NameNode's last upgrade.
///
/// # Errors
/// Hadoop's text for another namespace and for a directory that is newer than the NameNode; the disk's.
pub(super) fn transition(disk: &dyn Disk, dirs: &PoolDirs, pool: &PoolVersion, roll_back: bool) -> io::Result<()> {
    if !disk.exists(&dirs.root)? {
        return Ok(());
    }
    let state = kept_state(disk, dirs);
    if let Some(done) = state.recover()? {
        tracing::warn!("{done}");
    }
    if roll_back {
        go_back(&state, dirs, pool)?;
    }
    let Some(found) = read_version(disk, &dirs.current)? else { return Ok(()) };
    if found.namespace_id != pool.namespace_id {
        return Err(io::Error::other(format!(
            "Incompatible namespaceIDs in {}: namenode namespaceID = {}; datanode namespaceID = {}",
            dirs.root.display(),
            pool.namespace_id,
            found.namespace_id
        )));
    }
    if found.layout_version == LAYOUT_VERSION && found.ctime == pool.ctime {
        return Ok(());
    }
    if found.layout_version < LAYOUT_VERSION || found.ctime > pool.ctime {
        return Err(io::Error::other(format!(
            "Datanode state: LV = {} CTime = {} is newer than the namespace state: LV = {} CTime = {}",
            found.layout_version, found.ctime, pool.layout_version, pool.ctime
        )));
    }
    upgrade(&state, dirs, &found, pool)
}

fn go_back(state: &KeptState<'_>, dirs: &PoolDirs, pool: &PoolVersion) -> io::Result<()> {
    let Some(before) = read_version(state.disk, &dirs.root.join(PREVIOUS))? else {
        // Nothing but a rolling upgrade can have been going on.
        return restore_trash(state.disk, dirs).map(drop);
    };
    if before.layout_version < LAYOUT_VERSION || before.ctime > pool.ctime {
        return Err(io::Error::other(format!(
            "Cannot rollback to a newer state.\nDatanode previous state: LV = {} CTime = {} is newer than the namespace state: LV = {} CTime = {}",
            before.layout_version, before.ctime, pool.layout_version, pool.ctime
        )));
    }
    state.roll_back()?;
    tracing::info!("Rollback of {} is complete", dirs.root.display());
    Ok(())
}

fn upgrade(state: &KeptState<'_>, dirs: &PoolDirs, found: &PoolVersion, pool: &PoolVersion) -> io::Result<()> {
    tracing::info!(
        "Upgrading block pool storage directory {}. old LV = {}; old CTime = {}. new LV = {LAYOUT_VERSION}; new CTime = {}",
        dirs.root.display(),
        found.layout_version,
        found.ctime,
        pool.ctime
    );
    if state.has_previous()? {
        state.finalize()?;
    }
    // What goes to `previous` has the replicas that a rolling upgrade deleted.
    restore_trash(state.disk, dirs)?;
    state.set_aside()?;
    let before = dirs.root.join(PREVIOUS_TMP);
    let mut made = BTreeSet::new();
    let count = link_finalized(state.disk, &before.join("finalized"), dirs, &mut made)?;
    copy_unfinished(state.disk, &before.join("rbw"), &dirs.rbw)?;
    for dir in made.iter().chain([&dirs.finalized, &dirs.rbw, &dirs.current]) {
        state.disk.create_dir_all(dir)?;
        state.disk.sync_dir(dir, SyncPoint("datanode.upgrade-directories"))?;
    }
    // With a VERSION the new state is whole: it comes last.
    state.disk.write_atomically(&dirs.current.join("VERSION"), pool.to_text().as_bytes(), &SYNC_VERSION)?;
    state.keep_aside()?;
    tracing::info!("Upgrade of block pool {} at {} is complete, {count} files", pool.pool_id, dirs.root.display());
    Ok(())
}

/// Gives each block and meta file below `from` a name where layout -57 has it. `made`: the directories that hold the names.
/// How many files there were.
fn link_finalized(disk: &dyn Disk, from: &Path, dirs: &PoolDirs, made: &mut BTreeSet<PathBuf>) -> io::Result<u64> {
    let mut count = 0;
    let mut left = vec![from.to_path_buf()];
    while let Some(dir) = left.pop() {
        if !disk.exists(&dir)? {
            continue;
        }
        for entry in disk.list(&dir)? {
            let path = dir.join(&entry.name);
            if entry.is_dir {
                left.push(path);
            } else if let Some((id, _)) = parse_name(&entry.name) {
                let to = dirs.finalized_dir(id);
                if made.insert(to.clone()) {
                    disk.create_dir_all(&to)?;
                    made.extend(to.parent().map(Path::to_path_buf));
                }
                match disk.hard_link(&path, &to.join(&entry.name)) {
                    Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                        tracing::warn!("{} lies in two directories: the first is used", path.display());
                    }
                    done => done?,
                }
                count += 1;
            }
        }
    }
    Ok(count)
}

/// Replicas that are not finalized are few, and change: they are copied.
fn copy_unfinished(disk: &dyn Disk, from: &Path, to: &Path) -> io::Result<()> {
    disk.create_dir_all(to)?;
    if !disk.exists(from)? {
        return Ok(());
    }
    for entry in disk.list(from)?.into_iter().filter(|e| !e.is_dir && parse_name(&e.name).is_some()) {
        copy_file(disk, &from.join(&entry.name), &to.join(&entry.name), SyncPoint("datanode.upgrade-unfinished"))?;
    }
    Ok(())
}

fn copy_file(disk: &dyn Disk, from: &Path, to: &Path, point: SyncPoint) -> io::Result<()> {
    let from = disk.open(from, OpenMode::Read)?;
    let to = disk.open(to, OpenMode::Create)?;
    copy(&*from, &*to, from.len()?)?;
    to.sync_data(point)
}

impl BlockPool {
    /// Removes the state before the last upgrade, where it is. Takes as long as deleting its files does.
    pub(super) fn finalize_upgrade(&self) {
        for (volume, dirs) in self.volumes.iter().zip(&self.dirs) {
            let state = kept_state(&*volume.disk, dirs);
            match state.has_previous().and_then(|there| if there { state.finalize().map(|()| true) } else { Ok(false) })
            {
                Ok(true) => tracing::info!("Finalize upgrade for {} is complete", dirs.root.display()),
                Ok(false) => {}
                Err(e) => tracing::warn!("cannot finalize the upgrade of {}: {e}", dirs.root.display()),
            }
        }
    }

    /// Gives a replica that is about to change in place files of its own, if `previous` has them, too.
    pub(super) fn unshare(&self, volume: &Volume, id: BlockId, replica: &Replica) -> io::Result<()> {
        let (data, meta) = self.paths(id, replica)?;
        let (_, dirs) = self.volume(replica.volume)?;
        for path in [data, meta] {
            if volume.disk.metadata(&path)?.links < 2 {
                continue;
            }
            let Some((name, dir)) = path.file_name().zip(path.parent()) else { continue };
            let own = dirs.tmp.join(name);
            copy_file(&*volume.disk, &path, &own, SyncPoint("datanode.unshared-file"))?;
            volume.disk.sync_dir(&dirs.tmp, SyncPoint("datanode.unshared-copy"))?;
            volume.disk.rename(&own, &path)?;
            volume.disk.sync_dir(dir, SyncPoint("datanode.unshared-name"))?;
        }
        Ok(())
    }
}
