//! What all parts of a DataNode share: configuration, block store, the NameNodes to report to, counters.

use crate::config::DataNodeConfig;
use crate::namenode::Reports;
use crate::store::{BlockPool, BlockStore, ReplicaInfo, Volume};
use crate::workers::Workers;
use crate::xfer::Writers;
use parking_lot::RwLock;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;
use surus_types::{Block, DatanodeId, ExceptionClass, HdfsError};

pub struct Node {
    pub config: DataNodeConfig,
    pub store: BlockStore,
    pub reports: Reports,
    pub workers: Workers,
    /// As registered; the NameNode fills in the address it sees.
    pub id: RwLock<DatanodeId>,
    /// Connections of the data transfer server that serve an operation.
    pub xceivers: AtomicU32,
    /// Blocks on their way to other DataNodes.
    pub xmits: AtomicU32,
    pub balance_bandwidth: AtomicU64,
    pub started: Instant,
    pub stopping: AtomicBool,
    /// It ends for an upgrade and will be back soon: `dfsadmin -shutdownDatanode HOST upgrade`.
    pub restarting: AtomicBool,
    /// Clients that write now.
    pub(crate) writers: Writers,
    /// Called once when the DataNode has to end: too many volumes failed, or it was told to.
    pub on_fatal: Box<dyn Fn(&str) + Send + Sync>,
}

impl Node {
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// # Errors
    /// `IOException` for a pool this DataNode does not serve.
    pub fn pool(&self, pool_id: &str) -> Result<Arc<BlockPool>, HdfsError> {
        self.store
            .pool(pool_id)
            .ok_or_else(|| HdfsError::io(format!("Cannot locate block pool {pool_id}: it is not served here")))
    }

    /// The pool and what it knows of a block.
    ///
    /// # Errors
    /// `ReplicaNotFoundException` when it knows nothing.
    pub fn replica(&self, pool_id: &str, block: &Block) -> Result<(Arc<BlockPool>, ReplicaInfo), HdfsError> {
        let pool = self.pool(pool_id)?;
        let info = pool.lookup(block.id).ok_or_else(|| {
            HdfsError::new(ExceptionClass::ReplicaNotFound, format!("Replica not found for {pool_id}:{block}"))
        })?;
        Ok((pool, info))
    }

    /// Tells the NameNode of a replica whose file is not there any more, so that it makes another.
    pub fn forget_missing(&self, pool_id: &str, block: &Block) {
        if let Some((block, volume)) = self.store.pool(pool_id).and_then(|pool| pool.forget_missing(block)) {
            tracing::warn!("{pool_id}:{block}: the file was removed from {}", volume.root.display());
            self.reports.deleted(pool_id, &block, &volume);
        }
    }

    /// Looks whether a volume still works, on a thread of its own since a broken disk may hang.
    pub fn check_volume_later(self: &Arc<Self>, volume: &Arc<Volume>, why: &io::Error) {
        if why.kind() == io::ErrorKind::StorageFull || volume.is_failed() {
            return;
        }
        tracing::warn!("{}: {why}; checking the volume", volume.root.display());
        let (node, volume) = (self.clone(), volume.clone());
        let _ = std::thread::Builder::new().name("volume check".into()).spawn(move || {
            if node.store.check_volume(&volume) {
                node.volume_failed();
            }
        });
    }

    /// After a volume went out of service: its replicas are forgotten, the NameNodes are told, and with too few volumes left
    /// the DataNode ends.
    pub fn volume_failed(&self) {
        let lost = self.store.drop_failed_replicas();
        tracing::error!("{lost} replicas are gone with the failed volume");
        let fatal = self.store.too_many_failed();
        self.reports.disk_error(fatal);
        self.reports.request_full_reports();
        if fatal {
            (self.on_fatal)("too many data directories have failed");
        }
    }
}
