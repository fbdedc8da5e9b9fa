//! The block store: data directories in Hadoop's layout (-57), the replica map, and all that changes either.

mod delete;
pub mod meta;
mod pool;
mod recover;
mod replica;
mod rolling;
mod scan;
mod upgrade;
pub(crate) mod version;
pub(crate) mod volume;
mod writer;

pub use pool::{BlockPool, ReplicaInfo, ReplicaReader};
pub use recover::RecoveryInfo;
pub use replica::{OpenReplica, Progress, WriterTurn};
pub use surus_types::ReplicaState;
pub use version::{LAYOUT_VERSION, PoolVersion, StorageVersion};
pub use volume::{StorageLocation, Volume};
pub use writer::{Batch, ReplicaWriter};

pub(crate) use delete::Detached;
pub(crate) use pool::io_error;
pub(crate) use rolling::note_restart;

use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use surus_disk::{Disk, OpenMode};

/// What the store reads from the configuration.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// `dfs.datanode.data.dir`.
    pub locations: Vec<StorageLocation>,
    /// `dfs.datanode.failed.volumes.tolerated`; -1: all but one.
    pub failed_volumes_tolerated: i32,
    /// `dfs.datanode.du.reserved`, bytes.
    pub reserved_bytes: u64,
    /// `dfs.datanode.data.dir.perm`.
    pub directory_mode: u16,
    /// `datanode -rollback`: take each block pool back to the state before its last upgrade.
    pub roll_back: bool,
    /// `dfs.datanode.xceiver.stop.timeout.millis`.
    pub stop_timeout: Duration,
}

/// A volume that is out of service.
#[derive(Clone, Debug)]
pub struct FailedVolume {
    pub path: PathBuf,
    pub capacity_lost: u64,
    pub at_ms: u64,
}

/// All data directories of a DataNode.
pub struct BlockStore {
    config: StoreConfig,
    volumes: RwLock<Vec<Arc<Volume>>>,
    failed: Mutex<Vec<FailedVolume>>,
    pools: RwLock<HashMap<String, Arc<BlockPool>>>,
    datanode_uuid: String,
}

impl BlockStore {
    /// Locks and reads all data directories. Those that cannot be used count as failed volumes.
    ///
    /// # Errors
    /// More directories failed than `dfs.datanode.failed.volumes.tolerated` allows, or two belong to different DataNodes.
    pub fn open(disk: Arc<dyn Disk>, config: StoreConfig) -> io::Result<BlockStore> {
        let mut volumes = Vec::new();
        let mut failed = Vec::new();
        let mut first_error = None;
        for (index, location) in config.locations.iter().enumerate() {
            match Volume::open(&disk, index as u16, location, &config) {
                Ok(volume) => volumes.push(Arc::new(volume)),
                Err(e) => {
                    tracing::error!("data directory {} cannot be used: {e}", location.path.display());
                    failed.push(FailedVolume { path: location.path.clone(), capacity_lost: 0, at_ms: now_ms() });
                    first_error.get_or_insert(e);
                }
            }
        }
        if volumes.is_empty() || too_many_failed(&config, volumes.len(), failed.len()) {
            let why = first_error.map_or_else(|| "none is configured".to_owned(), |e| e.to_string());
            return Err(io::Error::other(format!(
                "Too many failed volumes - current valid volumes: {}, volumes configured: {}, volumes failed: {}, \
                 volume failures tolerated: {}: {why}",
                volumes.len(),
                config.locations.len(),
                failed.len(),
                config.failed_volumes_tolerated
            )));
        }
        let mut uuid: Option<String> = None;
        for volume in &volumes {
            let Some(version) = volume.version.lock().clone() else { continue };
            match &uuid {
                Some(known) if *known != version.datanode_uuid => {
                    return Err(io::Error::other(format!(
                        "Directory {} is in an inconsistent state: Root {}: DatanodeUuid={}, does not match {known} from other StorageDirectory.",
                        volume.root.display(),
                        volume.root.display(),
                        version.datanode_uuid
                    )));
                }
                _ => uuid = Some(version.datanode_uuid),
            }
        }
        Ok(BlockStore {
            config,
            volumes: RwLock::new(volumes),
            failed: Mutex::new(failed),
            pools: RwLock::default(),
            datanode_uuid: uuid.unwrap_or_else(volume::random_uuid),
        })
    }

    /// The UUID in the VERSION files, or the one that new directories will get.
    pub fn datanode_uuid(&self) -> &str {
        &self.datanode_uuid
    }

    /// Formats or checks every volume for a namespace, reads the replicas, and returns the pool. A second call for the
    /// same pool returns the same one.
    ///
    /// # Errors
    /// Another cluster or namespace (Hadoop's text); more volumes failed than may.
    pub fn open_pool(&self, version: &PoolVersion, cluster_id: &str) -> io::Result<Arc<BlockPool>> {
        let mut pools = self.pools.write();
        if let Some(pool) = pools.get(&version.pool_id) {
            if pool.version.namespace_id != version.namespace_id {
                return Err(io::Error::other(format!(
                    "Incompatible namespaceIDs: namenode namespaceID = {}; datanode namespaceID = {}",
                    version.namespace_id, pool.version.namespace_id
                )));
            }
            return Ok(pool.clone());
        }
        let (mut volumes, mut failures) = (Vec::new(), Vec::new());
        for volume in self.volumes() {
            let opened = volume.format_or_check(cluster_id, &self.datanode_uuid);
            match opened.and_then(|()| volume.open_pool(version, self.config.roll_back)) {
                Ok(()) => volumes.push(volume),
                Err(e) => failures.push((volume, e)),
            }
        }
        if volumes.is_empty() {
            // No disk is to blame: another cluster, most likely.
            return Err(failures
                .into_iter()
                .next()
                .map_or_else(|| io::Error::other("All volumes have failed"), |(_, e)| e));
        }
        let pool = Arc::new(BlockPool::new(version.clone(), volumes.clone(), self.config.stop_timeout));
        let results: Vec<io::Result<()>> = std::thread::scope(|scope| {
            let threads: Vec<_> = volumes.iter().map(|v| (v, scope.spawn(|| pool.scan(v)))).collect();
            threads
                .into_iter()
                .map(|(_, t)| t.join().unwrap_or_else(|_| Err(io::Error::other("the scan of a volume panicked"))))
                .collect()
        });
        for (volume, result) in volumes.iter().zip(results) {
            if let Err(e) = result {
                failures.push((volume.clone(), e));
                pool.drop_volume(volume.index);
            }
        }
        for (volume, e) in &failures {
            self.fail_volume(volume, e);
            pools.values().for_each(|pool| _ = pool.drop_volume(volume.index));
        }
        if self.too_many_failed() {
            let why = failures.first().map_or_else(String::new, |(_, e)| format!(": {e}"));
            return Err(io::Error::other(format!("Too many failed volumes{why}")));
        }
        pools.insert(version.pool_id.clone(), pool.clone());
        Ok(pool)
    }

    /// The NameNode's upgrade is final: the state before it goes, in a thread of its own.
    pub fn finalize_upgrade(&self, pool_id: &str) {
        let Some(pool) = self.pool(pool_id) else { return };
        let thread = std::thread::Builder::new().name(format!("finalize {pool_id}"));
        if let Err(e) = thread.spawn(move || pool.finalize_upgrade()) {
            tracing::error!("no thread to finalize an upgrade: {e}");
        }
    }

    /// What a heartbeat's answer says of a rolling upgrade: it goes on, or it is finalized. Touches no disk.
    pub fn signal_rolling_upgrade(&self, pool_id: &str, goes_on: bool) {
        if let Some(pool) = self.pool(pool_id) {
            pool.signal_rolling_upgrade(goes_on);
        }
    }

    pub fn pool(&self, pool_id: &str) -> Option<Arc<BlockPool>> {
        self.pools.read().get(pool_id).cloned()
    }

    /// Volumes in service.
    pub fn volumes(&self) -> Vec<Arc<Volume>> {
        self.volumes.read().iter().filter(|v| !v.is_failed()).cloned().collect()
    }

    pub fn failed_volumes(&self) -> Vec<FailedVolume> {
        self.failed.lock().clone()
    }

    /// Whether the DataNode must stop, by `dfs.datanode.failed.volumes.tolerated`.
    pub fn too_many_failed(&self) -> bool {
        too_many_failed(&self.config, self.volumes().len(), self.failed.lock().len())
    }

    /// Tries a volume after an error, and takes it out of service when it does not work. True: it was taken out now. One
    /// that is being tried already is left to whoever does that.
    pub fn check_volume(&self, volume: &Arc<Volume>) -> bool {
        let Some(_checking) = volume.checking.try_lock() else { return false };
        match probe(volume) {
            Ok(()) => false,
            // Full is not broken.
            Err(e) if e.kind() == io::ErrorKind::StorageFull => false,
            Err(e) => self.fail_volume(volume, &e),
        }
    }

    fn fail_volume(&self, volume: &Arc<Volume>, why: &io::Error) -> bool {
        if !volume.mark_failed() {
            return false;
        }
        tracing::error!("data directory {} has failed and is out of service: {why}", volume.root.display());
        let capacity_lost = volume.report().capacity;
        self.failed.lock().push(FailedVolume { path: volume.root.clone(), capacity_lost, at_ms: now_ms() });
        true
    }

    /// Lets other processes have the data directories. Nothing may be written afterwards.
    pub fn unlock(&self) {
        for volume in self.volumes.read().iter() {
            volume.unlock();
        }
    }

    /// `dfsadmin -evictWriters`.
    pub fn evict_writers(&self) {
        for pool in self.pools.read().values() {
            pool.evict_writers();
        }
    }

    /// Forgets the replicas of failed volumes. Returns how many there were.
    pub fn drop_failed_replicas(&self) -> usize {
        let failed: Vec<u16> = self.volumes.read().iter().filter(|v| v.is_failed()).map(|v| v.index).collect();
        self.pools.read().values().map(|p| failed.iter().map(|v| p.drop_volume(*v)).sum::<usize>()).sum()
    }
}

fn too_many_failed(config: &StoreConfig, usable: usize, failed: usize) -> bool {
    match config.failed_volumes_tolerated {
        tolerated if tolerated < 0 => usable == 0,
        tolerated => usable == 0 || failed > tolerated as usize,
    }
}

/// Writes and removes a small file.
fn probe(volume: &Volume) -> io::Result<()> {
    let path = volume.root.join("current/.surus-probe");
    let file = volume.disk.open(&path, OpenMode::Create)?;
    file.write_all_at(b"probe", 0)?;
    drop(file);
    match volume.disk.remove_file(&path) {
        // Somebody tidied up: the disk works.
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}
