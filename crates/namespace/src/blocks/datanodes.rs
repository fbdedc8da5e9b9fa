//! The DataNodes and their storages: who registered, what the last heartbeat said, who is alive, stale or dead.

use super::full_report::Reporting;
use super::handle_set::HandleSet;
use super::invalidate::InvalidateQueue;
use super::placement::Random;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use hashbrown::HashMap;
use surus_types::{
    AdminState, Block, DatanodeId, DatanodeStats, GenerationStamp, Replica, StorageReport, StorageType, TxId,
};

/// A DataNode's place in the table. Never reused while the NameNode runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DatanodeHandle(pub u32);

/// A storage's place in the table. Never reused while the NameNode runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StorageHandle(pub u32);

/// Where all DataNodes are as long as no topology script is configured.
pub const DEFAULT_RACK: &str = "/default-rack";

/// A DataNode as the NameNode knows it.
#[derive(Clone, Debug)]
pub struct Datanode {
    pub id: DatanodeId,
    pub stats: DatanodeStats,
    pub admin_state: AdminState,
    /// Heard of within the expiry time. A dead DataNode's replicas count for nothing.
    pub alive: bool,
    pub network_location: Box<str>,
    pub software_version: Box<str>,
    pub storages: Vec<StorageHandle>,
    /// Bytes per second for the balancer, to be sent once.
    pub(super) balancer_bandwidth: Option<u64>,
    pub(super) invalidate: InvalidateQueue,
    pub(super) transfers: VecDeque<TransferWork>,
    pub(super) recoveries: VecDeque<RecoveryWork>,
    /// Replicas on their way here, allocated or scheduled and not yet reported: of this period and of the last.
    /// What never comes is forgotten after two periods.
    scheduled: [u32; 2],
    /// How far its blocks were found to have enough replicas elsewhere: the place in `storages`, and the next block.
    pub(super) decommission_from: (usize, u32),
}

impl Datanode {
    /// Replicas on their way here, about.
    pub fn scheduled(&self) -> u32 {
        self.scheduled[0] + self.scheduled[1]
    }
    pub(super) fn schedule(&mut self) {
        self.scheduled[0] += 1;
    }
    pub(super) fn unschedule(&mut self) {
        let oldest = usize::from(self.scheduled[1] > 0);
        self.scheduled[oldest] = self.scheduled[oldest].saturating_sub(1);
    }
    pub(super) fn roll_scheduled(&mut self) {
        self.scheduled = [0, self.scheduled[0]];
    }
    pub(super) fn clear_scheduled(&mut self) {
        self.scheduled = [0; 2];
    }
}

/// A replica that this DataNode is to send to others.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct TransferWork {
    pub block: Block,
    pub targets: Vec<StorageHandle>,
}

/// A block whose recovery this DataNode is to lead, once the new stamp is durable.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RecoveryWork {
    pub block: Block,
    pub recovery_id: GenerationStamp,
    pub truncate_to: Option<Block>,
    pub storages: Vec<StorageHandle>,
    pub gate: TxId,
}

/// One data directory of a DataNode.
#[derive(Clone, Debug)]
pub struct Storage {
    pub datanode: DatanodeHandle,
    pub report: StorageReport,
    /// Full block reports since the NameNode started or the DataNode registered anew.
    pub block_reports: u32,
    /// The storage may hold blocks of which the NameNode has not heard since the DataNode was last away.
    pub(super) blocks: HandleSet,
    /// A full block report that is being taken in.
    pub(super) reporting: Option<Box<Reporting>>,
}

impl Storage {
    pub fn num_blocks(&self) -> usize {
        self.blocks.len()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Datanodes {
    nodes: Vec<Datanode>,
    storages: Vec<Storage>,
    by_uuid: HashMap<Box<str>, DatanodeHandle>,
    by_storage_uuid: HashMap<Box<str>, StorageHandle>,
    by_address: HashMap<Box<str>, Vec<DatanodeHandle>>,
    pub(super) live: u32,
}

impl Datanodes {
    pub fn find(&self, uuid: &str) -> Option<DatanodeHandle> {
        self.by_uuid.get(uuid).copied()
    }

    /// A storage by its uuid, if it belongs to `datanode`.
    pub fn find_storage(&self, datanode: DatanodeHandle, uuid: &str) -> Option<StorageHandle> {
        self.by_storage_uuid.get(uuid).copied().filter(|s| self.storage(*s).datanode == datanode)
    }

    /// A storage by its uuid alone, as `updatePipeline` names it.
    pub fn find_storage_anywhere(&self, uuid: &str) -> Option<StorageHandle> {
        self.by_storage_uuid.get(uuid).copied()
    }

    pub fn datanode(&self, handle: DatanodeHandle) -> &Datanode {
        &self.nodes[handle.0 as usize]
    }
    pub(super) fn datanode_mut(&mut self, handle: DatanodeHandle) -> &mut Datanode {
        &mut self.nodes[handle.0 as usize]
    }
    pub fn storage(&self, handle: StorageHandle) -> &Storage {
        &self.storages[handle.0 as usize]
    }
    pub(super) fn storage_mut(&mut self, handle: StorageHandle) -> &mut Storage {
        &mut self.storages[handle.0 as usize]
    }

    pub fn handles(&self) -> impl DoubleEndedIterator<Item = DatanodeHandle> + use<> {
        (0..self.nodes.len() as u32).map(DatanodeHandle)
    }
    pub fn storage_handles(&self) -> impl Iterator<Item = StorageHandle> + use<> {
        (0..self.storages.len() as u32).map(StorageHandle)
    }
    pub fn iter(&self) -> impl Iterator<Item = &Datanode> {
        self.nodes.iter()
    }
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// DataNodes heard of within the expiry time.
    pub fn num_live(&self) -> u32 {
        self.live
    }
    pub fn num_dead(&self) -> u32 {
        self.nodes.len() as u32 - self.live
    }

    /// DataNodes whose address is `ip_addr`, for "local first".
    pub fn at_address(&self, ip_addr: &str) -> &[DatanodeHandle] {
        self.by_address.get(ip_addr).map_or(&[], Vec::as_slice)
    }

    /// A live DataNode on a writer's host; of several any. Source: `Host2NodesMap.getDatanodeByHost`, Hadoop 3.5.0.
    pub fn on_host(&self, ip_addr: &str, random: u64) -> Option<DatanodeHandle> {
        let live = || self.at_address(ip_addr).iter().copied().filter(|handle| self.datanode(*handle).alive);
        let count = live().count() as u64;
        // Other draws of the caller begin with the number itself.
        let at = if count < 2 { 0 } else { Random::new(!random).below(count) };
        live().nth(at as usize)
    }

    /// The DataNode and storage behind a replica, lent for an encoder.
    pub fn replica(&self, storage: StorageHandle) -> Replica<'_> {
        let storage = self.storage(storage);
        let node = self.datanode(storage.datanode);
        Replica {
            datanode: &node.id,
            stats: &node.stats,
            admin_state: node.admin_state,
            network_location: &node.network_location,
            storage_uuid: &storage.report.uuid,
            storage_type: storage.report.storage_type,
        }
    }

    /// Whether a replica on this storage counts: its DataNode lives and the storage has not failed.
    pub fn is_live(&self, storage: StorageHandle) -> bool {
        let storage = self.storage(storage);
        !storage.report.failed && self.datanode(storage.datanode).alive
    }

    pub fn is_stale(&self, handle: DatanodeHandle, now_monotonic_ms: u64, interval_ms: u64) -> bool {
        now_monotonic_ms.saturating_sub(self.datanode(handle).stats.last_update_monotonic_ms) >= interval_ms
    }

    pub(super) fn add(&mut self, id: &DatanodeId, software_version: &str, location: &str) -> DatanodeHandle {
        let handle = DatanodeHandle(self.nodes.len() as u32);
        self.nodes.push(Datanode {
            id: id.clone(),
            stats: DatanodeStats::default(),
            admin_state: AdminState::Normal,
            alive: false,
            network_location: location.into(),
            software_version: software_version.into(),
            storages: Vec::new(),
            balancer_bandwidth: None,
            invalidate: InvalidateQueue::default(),
            transfers: VecDeque::new(),
            recoveries: VecDeque::new(),
            scheduled: [0; 2],
            decommission_from: (0, 0),
        });
        self.by_uuid.insert(id.uuid.as_str().into(), handle);
        self.by_address.entry(id.ip_addr.as_str().into()).or_default().push(handle);
        handle
    }

    /// A DataNode came back, perhaps under another address.
    pub(super) fn set_id(&mut self, handle: DatanodeHandle, id: &DatanodeId) {
        let old = self.nodes[handle.0 as usize].id.ip_addr.clone();
        if old != id.ip_addr {
            if let Some(list) = self.by_address.get_mut(old.as_str()) {
                list.retain(|h| *h != handle);
            }
            self.by_address.entry(id.ip_addr.as_str().into()).or_default().push(handle);
        }
        self.nodes[handle.0 as usize].id = id.clone();
    }

    /// Finds or adds a storage of a DataNode.
    pub(super) fn ensure_storage(
        &mut self,
        datanode: DatanodeHandle,
        uuid: &str,
        storage_type: StorageType,
    ) -> Option<StorageHandle> {
        if let Some(found) = self.by_storage_uuid.get(uuid).copied() {
            return (self.storage(found).datanode == datanode).then_some(found);
        }
        let handle = StorageHandle(self.storages.len() as u32);
        let report = StorageReport { uuid: uuid.to_owned(), storage_type, ..StorageReport::default() };
        self.storages.push(Storage {
            datanode,
            report,
            block_reports: 0,
            blocks: HandleSet::default(),
            reporting: None,
        });
        self.by_storage_uuid.insert(uuid.into(), handle);
        self.datanode_mut(datanode).storages.push(handle);
        Some(handle)
    }
}
