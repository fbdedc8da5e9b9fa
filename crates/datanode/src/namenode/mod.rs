//! The NameNodes this DataNode reports to: registration, heartbeats and their commands, block reports.
//! One actor for each NameNode; those of one nameservice share a block pool.

mod actor;
mod blocklist;
mod commands;
mod queue;
mod registration;

pub(crate) use actor::Actor;
pub use registration::SOFTWARE_VERSION;

use crate::node::Node;
use crate::store::Volume;
use parking_lot::{Mutex, RwLock};
use std::sync::{Arc, OnceLock};
use surus_net::rpc::RpcError;
use surus_proto::hadoop::hdfs::datanode::CommitBlockSynchronizationRequestProto;
use surus_proto::hadoop::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use surus_proto::hadoop::hdfs::{DatanodeInfoProto, LocatedBlockProto};
use surus_types::Block;

use queue::{Change, Notice};

/// `ErrorReportRequestProto.ErrorCode`.
const DISK_ERROR: u32 = 1;
const INVALID_BLOCK: u32 = 2;
const FATAL_DISK_ERROR: u32 = 3;

/// The NameNodes of one namespace.
pub(crate) struct Nameservice {
    /// Set by the first NameNode that answers.
    pub pool_id: OnceLock<String>,
    pub actors: Vec<Arc<Actor>>,
    /// Which actor's NameNode is active, with the transaction id it said so at.
    pub active: Mutex<Option<(usize, u64)>>,
}

impl Nameservice {
    /// Takes a NameNode's word for being active or not. A claim with an older transaction id than the present one's is stale.
    pub fn heard_state(&self, actor: usize, is_active: bool, txid: u64) {
        let mut active = self.active.lock();
        match *active {
            Some((present, _)) if present == actor && !is_active => *active = None,
            Some((present, at)) if present != actor && at > txid => {}
            _ if is_active => *active = Some((actor, txid)),
            _ => {}
        }
    }

    pub fn is_active(&self, actor: usize) -> bool {
        matches!(*self.active.lock(), Some((active, _)) if active == actor)
    }
}

/// The way to all NameNodes.
#[derive(Default)]
pub struct Reports {
    services: RwLock<Vec<Arc<Nameservice>>>,
}

impl Reports {
    pub(crate) fn add(&self, service: Arc<Nameservice>) {
        self.services.write().push(service);
    }

    pub(crate) fn actors(&self) -> Vec<Arc<Actor>> {
        self.services.read().iter().flat_map(|s| s.actors.iter().cloned()).collect()
    }

    fn service(&self, pool_id: &str) -> Option<Arc<Nameservice>> {
        self.services.read().iter().find(|s| s.pool_id.get().is_some_and(|id| id == pool_id)).cloned()
    }

    fn tell(&self, pool_id: &str, change: &Change) {
        if let Some(service) = self.service(pool_id) {
            for actor in &service.actors {
                actor.queue.push(change.clone());
            }
        }
    }

    /// A replica is being written. Goes out with the next message.
    pub(crate) fn receiving(&self, pool_id: &str, block: &Block, volume: &Volume) {
        self.tell(pool_id, &Change::new(block, volume, BlockStatus::Receiving, ""));
    }

    /// A replica is complete. Goes out at once: clients wait for it. `delete_hint`: the DataNode that should drop its copy.
    pub(crate) fn received(&self, pool_id: &str, block: &Block, volume: &Volume, delete_hint: &str) {
        self.tell(pool_id, &Change::new(block, volume, BlockStatus::Received, delete_hint));
    }

    /// A replica is gone from the disk.
    pub(crate) fn deleted(&self, pool_id: &str, block: &Block, volume: &Volume) {
        self.tell(pool_id, &Change::new(block, volume, BlockStatus::Deleted, ""));
    }

    /// A replica of this DataNode is damaged.
    pub(crate) fn bad_block(&self, node: &Node, pool_id: &str, block: &Block) {
        let Some(info) = node.store.pool(pool_id).and_then(|p| p.lookup(block.id)) else { return };
        let located = LocatedBlockProto {
            b: crate::xfer::extended_block(pool_id, &info.block),
            locs: vec![DatanodeInfoProto { id: node.id_proto(), ..Default::default() }],
            storage_types: vec![info.storage_type as i32],
            storage_i_ds: vec![info.storage_id],
            ..Default::default()
        };
        self.notice(pool_id, &Notice::BadBlock(Box::new(located)));
    }

    /// A replica of another DataNode is damaged.
    pub(crate) fn bad_remote_block(&self, pool_id: &str, block: &Block, source: &DatanodeInfoProto) {
        let located = LocatedBlockProto {
            b: crate::xfer::extended_block(pool_id, block),
            locs: vec![source.clone()],
            ..Default::default()
        };
        self.notice(pool_id, &Notice::BadBlock(Box::new(located)));
    }

    /// The NameNode asked for a block that is not here.
    pub(crate) fn invalid_block(&self, pool_id: &str, text: String) {
        self.notice(pool_id, &Notice::Error(INVALID_BLOCK, text));
    }

    fn notice(&self, pool_id: &str, notice: &Notice) {
        if let Some(service) = self.service(pool_id) {
            for actor in &service.actors {
                actor.queue.push_notice(notice.clone());
            }
        }
    }

    /// A volume failed; `fatal`: too many have.
    pub(crate) fn disk_error(&self, fatal: bool) {
        let (code, text) = match fatal {
            true => (FATAL_DISK_ERROR, "DataNode failed volumes: too many"),
            false => (DISK_ERROR, "DataNode failed volumes"),
        };
        for actor in self.actors() {
            actor.queue.push_notice(Notice::Error(code, text.to_owned()));
        }
    }

    /// Every NameNode gets a full report soon.
    pub(crate) fn request_full_reports(&self) {
        for actor in self.actors() {
            actor.queue.request_full_report();
        }
    }

    /// `dfsadmin -triggerBlockReport`.
    pub(crate) fn trigger(&self, incremental: bool, namenode: Option<&str>) {
        for actor in self.actors().iter().filter(|a| namenode.is_none_or(|n| a.address() == n)) {
            match incremental {
                true => actor.queue.flush(),
                false => actor.queue.request_full_report(),
            }
        }
    }

    /// Ends a block recovery at the active NameNode.
    pub(crate) fn commit_block_synchronization(
        &self,
        request: &CommitBlockSynchronizationRequestProto,
    ) -> Result<(), RpcError> {
        let service = self.service(&request.block.pool_id);
        let active = service.as_ref().and_then(|s| {
            let chosen = s.active.lock().map_or(0, |(actor, _)| actor);
            s.actors.get(chosen).cloned()
        });
        match active {
            Some(actor) => actor.commit_block_synchronization(request),
            None => Err(RpcError::Remote {
                class: "java.io.IOException".into(),
                message: format!("no active NameNode for {}", request.block.pool_id),
            }),
        }
    }
}
