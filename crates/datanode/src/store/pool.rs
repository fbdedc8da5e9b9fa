//! The replica map of one block pool, and the state changes that open, close and delete replicas.
//!
//! The map's lock is never held during a disk operation. Whoever changes a replica's files holds its writer's turn or
//! has moved the replica into a state that nobody else touches.

use super::delete::Deletions;
use super::meta;
use super::replica::{Kind, OpenReplica, Replica};
use super::rolling::RollingVolume;
use super::version::PoolVersion;
use super::volume::{PoolDirs, Volume, block_name, meta_name};
use super::writer::ReplicaWriter;
use crate::checksum::Checksum;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use surus_disk::{DiskFile, OpenMode, SyncPoint};
use surus_types::{Block, BlockId, ExceptionClass, GenerationStamp, HdfsError, ReplicaState, StorageType};

/// How often a reader looks again for files that are being renamed under it.
const OPEN_RETRIES: u32 = 20;
const OPEN_RETRY_PAUSE: Duration = Duration::from_millis(2);

/// The replicas of one namespace on all volumes.
pub struct BlockPool {
    pub version: PoolVersion,
    pub(crate) volumes: Vec<Arc<Volume>>,
    pub(crate) dirs: Vec<PoolDirs>,
    pub(crate) map: Mutex<HashMap<BlockId, Replica>>,
    pub(super) deletions: Deletions,
    next_volume: AtomicUsize,
    /// How long a writer that was told to stop may take: `dfs.datanode.xceiver.stop.timeout.millis`.
    pub(crate) stop_timeout: Duration,
    /// What the NameNode said last of a rolling upgrade: it goes on, or it is finalized.
    pub(super) rolling_upgrade: Mutex<Option<bool>>,
    /// Beside `volumes`.
    pub(super) rolling: Vec<RollingVolume>,
}

/// What the map says of one replica.
#[derive(Clone, Debug)]
pub struct ReplicaInfo {
    /// Length: bytes on disk.
    pub block: Block,
    pub state: ReplicaState,
    /// `None`: not readable in this state.
    pub visible_length: Option<u64>,
    pub storage_id: String,
    pub storage_type: StorageType,
    pub open: Option<Arc<OpenReplica>>,
}

/// Open files of a replica.
pub struct ReplicaReader {
    pub info: ReplicaInfo,
    pub data: Box<dyn DiskFile>,
    /// `None` when there is no meta file.
    pub meta: Option<Box<dyn DiskFile>>,
    pub volume: Arc<Volume>,
}

fn not_found(what: &str, block: impl std::fmt::Display) -> HdfsError {
    HdfsError::new(ExceptionClass::ReplicaNotFound, format!("{what}{block}"))
}

impl BlockPool {
    pub(crate) fn new(version: PoolVersion, volumes: Vec<Arc<Volume>>, stop_timeout: Duration) -> Self {
        let dirs = volumes.iter().map(|v| v.pool_dirs(&version.pool_id)).collect();
        let rolling = volumes.iter().map(|_| RollingVolume::default()).collect();
        BlockPool {
            version,
            volumes,
            dirs,
            map: Mutex::default(),
            deletions: Deletions::default(),
            next_volume: AtomicUsize::new(0),
            stop_timeout,
            rolling_upgrade: Mutex::default(),
            rolling,
        }
    }

    pub fn id(&self) -> &str {
        &self.version.pool_id
    }

    /// The volume with this index, if the pool has it.
    pub(crate) fn volume(&self, index: u16) -> io::Result<(&Arc<Volume>, &PoolDirs)> {
        match self.volumes.iter().position(|v| v.index == index) {
            Some(i) => Ok((&self.volumes[i], &self.dirs[i])),
            None => Err(io::Error::other(format!("volume {index} is gone"))),
        }
    }

    pub fn lookup(&self, id: BlockId) -> Option<ReplicaInfo> {
        self.map.lock().get(&id).map(|r| self.info(id, r))
    }

    pub(crate) fn info(&self, id: BlockId, replica: &Replica) -> ReplicaInfo {
        let volume = self.volumes.iter().find(|v| v.index == replica.volume);
        ReplicaInfo {
            block: replica.block(id),
            state: replica.state(),
            visible_length: replica.visible_length(),
            storage_id: volume.map(|v| v.storage_id.clone()).unwrap_or_default(),
            storage_type: volume.map_or(StorageType::Disk, |v| v.storage_type),
            open: match replica.kind.original() {
                Kind::Rbw(open) | Kind::Temporary(open) => Some(open.clone()),
                _ => None,
            },
        }
    }

    /// Data and meta file of a replica, by the state it was in when `replica` was copied from the map.
    pub(crate) fn paths(&self, id: BlockId, replica: &Replica) -> io::Result<(PathBuf, PathBuf)> {
        let (_, dirs) = self.volume(replica.volume)?;
        let dir = match replica.kind.original() {
            Kind::Finalized | Kind::Rur(_) => dirs.finalized_dir(id),
            Kind::Rbw(_) | Kind::Rwr => dirs.rbw.clone(),
            Kind::Temporary(_) => dirs.tmp.clone(),
        };
        let block = Block { id, generation_stamp: replica.generation_stamp, num_bytes: 0 };
        Ok((dir.join(block_name(id)), dir.join(meta_name(&block))))
    }

    /// Opens a replica for reading, whatever state it is in.
    ///
    /// # Errors
    /// `ReplicaNotFoundException` when the map or the disk lacks it.
    pub fn open(&self, block: &Block) -> Result<ReplicaReader, HdfsError> {
        let mut last = None;
        for attempt in 0..OPEN_RETRIES {
            if attempt > 0 {
                std::thread::sleep(OPEN_RETRY_PAUSE);
            }
            let replica = self.map.lock().get(&block.id).cloned();
            let Some(replica) = replica else {
                return Err(not_found("Replica not found for ", self.extended(block)));
            };
            let (volume, _) = self.volume(replica.volume).map_err(io_error)?;
            let (data, meta) = self.paths(block.id, &replica).map_err(io_error)?;
            match volume.disk.open(&data, OpenMode::Read) {
                Ok(data) => match volume.disk.open(&meta, OpenMode::Read) {
                    // A rename may be under way: only a replica that stays without its meta file lacks one.
                    Err(e) if e.kind() == io::ErrorKind::NotFound && attempt + 1 < OPEN_RETRIES => last = Some(e),
                    // Too many open files, or the disk: no word of the replica.
                    Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(io_error(e)),
                    meta => {
                        let info = self.info(block.id, &replica);
                        return Ok(ReplicaReader { info, data, meta: meta.ok(), volume: volume.clone() });
                    }
                },
                Err(e) if e.kind() == io::ErrorKind::NotFound => last = Some(e),
                Err(e) => return Err(io_error(e)),
            }
        }
        let why = last.map_or_else(String::new, |e| format!(": {e}"));
        Err(not_found("Replica not found for ", format!("{}{why}", self.extended(block))))
    }

    pub(crate) fn extended(&self, block: &Block) -> String {
        format!("{}:{block}", self.id())
    }

    /// Round robin over the volumes of the wanted type (of any type when there is none) that have room for `bytes`.
    fn choose_volume(&self, wanted: StorageType, storage_id: &str, bytes: u64) -> Result<u16, HdfsError> {
        let usable: Vec<_> = self.volumes.iter().filter(|v| !v.is_failed()).collect();
        let typed: Vec<_> = usable.iter().copied().filter(|v| v.storage_type == wanted).collect();
        let candidates = if typed.is_empty() { usable } else { typed };
        if candidates.is_empty() {
            return Err(HdfsError::io("No more available volumes"));
        }
        if let Some(named) = candidates.iter().find(|v| v.storage_id == storage_id && v.available() > bytes) {
            return Ok(named.index);
        }
        let start = self.next_volume.fetch_add(1, Ordering::Relaxed);
        let mut most = 0;
        for i in 0..candidates.len() {
            let volume = candidates[(start + i) % candidates.len()];
            let available = volume.available();
            if available > bytes {
                return Ok(volume.index);
            }
            most = most.max(available);
        }
        Err(HdfsError::io(format!(
            "Out of space: The volume with the most available space (={most} B) is less than the block size (={bytes} B)."
        )))
    }

    /// Starts a new replica in `rbw`. `block.num_bytes` is what it may grow to.
    ///
    /// # Errors
    /// A replica with this id exists; no volume has room; the files cannot be made.
    pub fn create_rbw(
        self: &Arc<Self>,
        block: &Block,
        storage_type: StorageType,
        storage_id: &str,
        checksum: Checksum,
    ) -> Result<ReplicaWriter, HdfsError> {
        self.create(block, storage_type, storage_id, checksum, false)
    }

    /// Starts a replica in `tmp`, a copy of another DataNode's. An older unfinished copy is thrown away.
    ///
    /// # Errors
    /// As `create_rbw`.
    pub fn create_temporary(
        self: &Arc<Self>,
        block: &Block,
        storage_type: StorageType,
        storage_id: &str,
        checksum: Checksum,
    ) -> Result<ReplicaWriter, HdfsError> {
        let present = self.map.lock().get(&block.id).cloned();
        if let Some(replica) = present
            && let Kind::Rbw(open) | Kind::Temporary(open) = &replica.kind
            && replica.generation_stamp < block.generation_stamp
        {
            let _turn = self.take_over(open, block.id)?;
            // Its writer may have completed it, or thrown it away.
            if self.map.lock().get(&block.id).is_some_and(|now| now.is_written_by(open)) {
                self.remove_files(block.id, &replica);
                self.map.lock().remove(&block.id);
            }
        }
        self.create(block, storage_type, storage_id, checksum, true)
    }

    fn create(
        self: &Arc<Self>,
        block: &Block,
        storage_type: StorageType,
        storage_id: &str,
        checksum: Checksum,
        temporary: bool,
    ) -> Result<ReplicaWriter, HdfsError> {
        self.wait_for_deletion(block)?;
        let open = OpenReplica::with_length(0, None);
        let turn = open.take_over(None, self.stop_timeout).map_err(|()| HdfsError::io("replica is being written"))?;
        let volume = self.choose_volume(storage_type, storage_id, block.num_bytes)?;
        let replica = Replica {
            generation_stamp: block.generation_stamp,
            num_bytes: 0,
            volume,
            kind: if temporary { Kind::Temporary(open.clone()) } else { Kind::Rbw(open.clone()) },
        };
        {
            let mut map = self.map.lock();
            if self.deletions.is_running(block.id) {
                return Err(self.is_being_deleted(block));
            }
            if let Some(present) = map.get(&block.id) {
                return Err(HdfsError::io(format!(
                    "Block {} already exists in state {} and thus cannot be created.",
                    self.extended(block),
                    present.state().name()
                )));
            }
            map.insert(block.id, replica.clone());
        }
        let made = self.make_files(block.id, &replica, checksum);
        match made {
            Ok((data, meta)) => {
                let (volume, _) = self.volume(replica.volume).map_err(io_error)?;
                volume.num_blocks.fetch_add(1, Ordering::Relaxed);
                volume.add_used(meta::HEADER_BYTES);
                Ok(ReplicaWriter::new(
                    self,
                    volume,
                    block.id,
                    open,
                    turn,
                    (data, meta),
                    checksum,
                    block.num_bytes,
                    false,
                ))
            }
            Err(e) => {
                self.remove_files(block.id, &replica);
                self.map.lock().remove(&block.id);
                Err(io_error(e))
            }
        }
    }

    #[allow(clippy::type_complexity)]
    fn make_files(
        &self,
        id: BlockId,
        replica: &Replica,
        checksum: Checksum,
    ) -> io::Result<(Box<dyn DiskFile>, Box<dyn DiskFile>)> {
        let (volume, _) = self.volume(replica.volume)?;
        let (data, meta) = self.paths(id, replica)?;
        let data = volume.disk.open(&data, OpenMode::Create)?;
        let meta = volume.disk.open(&meta, OpenMode::Create)?;
        meta.write_all_at(&meta::encode_header(checksum), 0)?;
        Ok((data, meta))
    }

    /// Removes a replica's files, as far as they are there.
    pub(crate) fn remove_files(&self, id: BlockId, replica: &Replica) {
        let (Ok((volume, _)), Ok((data, meta))) = (self.volume(replica.volume), self.paths(id, replica)) else {
            return;
        };
        for path in [data, meta] {
            match volume.disk.remove_file(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => tracing::warn!("cannot delete {}: {e}", path.display()),
            }
        }
    }

    pub(crate) fn take_over(
        &self,
        open: &Arc<OpenReplica>,
        id: BlockId,
    ) -> Result<super::replica::WriterTurn, HdfsError> {
        open.take_over(None, self.stop_timeout)
            .map_err(|()| HdfsError::io(format!("Join on writer thread of blk_{id} timed out")))
    }

    /// Moves a replica that `writer` completed into `finalized`. `sync`: data, meta and names are durable on return. They are
    /// anyway where bytes of the replica had been made durable before: the NameNode will trust no unfinished replica of a
    /// closed file.
    ///
    /// # Errors
    /// The replica was taken away meanwhile, or the files cannot be moved.
    pub fn finalize(&self, writer: &mut ReplicaWriter, sync: bool) -> Result<Block, HdfsError> {
        let id = writer.id();
        let length = writer.length();
        let sync = sync || writer.must_last();
        writer.cut_remains().map_err(io_error)?;
        if sync {
            writer.sync().map_err(io_error)?;
        }
        let replica = {
            let map = self.map.lock();
            let replica = map.get(&id).ok_or_else(|| not_found("Cannot finalize a non-existent replica blk_", id))?;
            match &replica.kind {
                Kind::Rbw(open) | Kind::Temporary(open) if Arc::ptr_eq(open, writer.open_replica()) => replica.clone(),
                kind => {
                    return Err(HdfsError::io(format!("Cannot finalize blk_{id} in state {}", kind.state().name())));
                }
            }
        };
        let done = Replica { num_bytes: length, kind: Kind::Finalized, ..replica.clone() };
        self.move_files(id, &replica, &done, sync).map_err(io_error)?;
        {
            let mut map = self.map.lock();
            let present = map.get(&id);
            if !present.is_some_and(|now| now.is_written_by(writer.open_replica())) {
                // Deleted meanwhile. Files that another replica owns by now are not ours to remove.
                let is_free = present.is_none();
                drop(map);
                if is_free {
                    self.remove_files(id, &done);
                }
                return Err(not_found("Cannot finalize a non-existent replica blk_", id));
            }
            map.insert(id, done.clone());
        }
        writer.completed();
        if sync {
            self.sync_moved(id, &replica, &done).map_err(io_error)?;
        }
        Ok(Block { id, generation_stamp: replica.generation_stamp, num_bytes: length })
    }

    /// Renames a replica's files from where `from` has them to where `to` has them. The meta file goes first; `scan`
    /// mends what a crash between the two leaves. The caller changes the map at once, and only then calls `sync_moved`:
    /// readers must not look in the old place for as long as a sync takes, nor after one that failed. `lasts`: the replica may
    /// only go to a directory that is durable.
    pub(crate) fn move_files(&self, id: BlockId, from: &Replica, to: &Replica, lasts: bool) -> io::Result<()> {
        let (volume, _) = self.volume(from.volume)?;
        let disk = &volume.disk;
        let ((data, meta), (new_data, new_meta)) = (self.paths(id, from)?, self.paths(id, to)?);
        if let Some(subdir) = new_meta.parent().filter(|_| lasts && to.state() == ReplicaState::Finalized) {
            volume.make_durable_subdir(subdir)?;
        }
        if meta != new_meta {
            match disk.rename(&meta, &new_meta) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    let Some(dir) = new_meta.parent() else { return Err(e) };
                    disk.create_dir_all(dir)?;
                    disk.rename(&meta, &new_meta)?;
                }
                done => done?,
            }
        }
        if data != new_data
            && let Err(e) = disk.rename(&data, &new_data)
        {
            let _ = disk.rename(&new_meta, &meta);
            return Err(e);
        }
        Ok(())
    }

    /// Makes the names that `move_files` changed durable.
    pub(crate) fn sync_moved(&self, id: BlockId, from: &Replica, to: &Replica) -> io::Result<()> {
        let (volume, _) = self.volume(from.volume)?;
        let ((data, _), (new_data, _)) = (self.paths(id, from)?, self.paths(id, to)?);
        let (old, new) = (data.parent(), new_data.parent());
        // Files are made in `rbw` or `tmp`, perhaps without their names being durable: a rename can only become so after them.
        let mut dirs = if to.state() == ReplicaState::Finalized { [old, new] } else { [new, old] };
        if old == new {
            dirs[1] = None;
        }
        for dir in dirs.into_iter().flatten() {
            volume.disk.sync_dir(dir, SyncPoint("datanode.moved-directories"))?;
        }
        Ok(())
    }

    /// Calls `visit` with each replica of a volume that belongs into a block report.
    pub fn report(&self, volume: u16, mut visit: impl FnMut(Block, ReplicaState)) {
        for (id, replica) in self.map.lock().iter().filter(|(_, r)| r.volume == volume) {
            let state = replica.kind.original().state();
            if state != ReplicaState::Temporary {
                visit(replica.block(*id), state);
            }
        }
    }

    /// Forgets the replicas of a volume that failed. Returns how many there were.
    pub(crate) fn drop_volume(&self, volume: u16) -> usize {
        let mut map = self.map.lock();
        let before = map.len();
        map.retain(|_, r| r.volume != volume);
        before - map.len()
    }

    /// Tells everybody who writes to end.
    pub(crate) fn evict_writers(&self) {
        for replica in self.map.lock().values() {
            if let Kind::Rbw(open) | Kind::Temporary(open) = &replica.kind {
                open.evict();
            }
        }
    }

    pub fn num_replicas(&self) -> usize {
        self.map.lock().len()
    }

    /// Raises a replica's generation stamp: renames its meta file, changes the map, and makes the name durable.
    pub(crate) fn bump_generation_stamp(&self, id: BlockId, new: GenerationStamp) -> Result<(), HdfsError> {
        let replica = self.map.lock().get(&id).cloned().ok_or_else(|| not_found("Replica not found for blk_", id))?;
        let bumped = Replica { generation_stamp: new, ..replica.clone() };
        self.move_files(id, &replica, &bumped, true).map_err(io_error)?;
        if let Some(present) = self.map.lock().get_mut(&id) {
            present.generation_stamp = new;
        }
        self.sync_moved(id, &replica, &bumped).map_err(io_error)
    }
}

/// A disk's error as the peer sees it.
pub(crate) fn io_error(e: io::Error) -> HdfsError {
    HdfsError::io(e.to_string())
}
