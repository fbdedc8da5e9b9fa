//! Events that change soft state: what DataNodes report, and the ticks of the monitors. Nothing here is logged.

use super::full_report::{ReportProgress, Reporter};
use super::report::{ReceivedDeleted, ReportedBlock};
use super::{BlockManager, DEFAULT_RACK, DatanodeHandle};
use crate::plan::WaitFor;
use alloc::vec::Vec;
use surus_types::{Block, DatanodeId, StorageReport, StorageType};

/// After two of these a replica that was expected and never reported is forgotten.
/// Source: `DatanodeDescriptor.BLOCKS_SCHEDULED_ROLL_INTERVAL`, Hadoop 3.5.0.
const SCHEDULED_PERIOD_MS: u64 = 600_000;

/// The time of an event, and fresh random bits for choices it leads to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Now {
    pub wall_ms: u64,
    pub monotonic_ms: u64,
    pub random: u64,
}

/// What a DataNode says of itself every few seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heartbeat<'a> {
    pub uuid: &'a str,
    pub storages: &'a [StorageReport],
    pub xmits_in_progress: u32,
    pub xceiver_count: u32,
    pub failed_volumes: u32,
    pub cache_capacity: u64,
    pub cache_used: u64,
}

/// A replica that a reader or a scanner found corrupt.
#[derive(Clone, Copy, Debug)]
pub struct BadBlock<'a> {
    pub block: Block,
    pub datanode_uuid: &'a str,
    /// Empty where the reporter does not know it.
    pub storage_uuid: &'a str,
}

/// Something that happened outside.
pub enum Observation<'a> {
    RegisterDatanode {
        id: &'a DatanodeId,
        software_version: &'a str,
    },
    Heartbeat(Heartbeat<'a>),
    /// The next slice of all replicas of one storage: the event repeats, with what `blocks` has left, until `progress` is done.
    FullBlockReport {
        uuid: &'a str,
        storage_uuid: &'a str,
        storage_type: StorageType,
        blocks: &'a mut dyn Iterator<Item = ReportedBlock>,
        progress: &'a mut ReportProgress,
    },
    IncrementalBlockReport {
        uuid: &'a str,
        storage_uuid: &'a str,
        storage_type: StorageType,
        entries: &'a mut dyn Iterator<Item = ReceivedDeleted<'a>>,
    },
    BadBlocks(&'a [BadBlock<'a>]),
    /// The host lists were read: the DataNode is to leave, or to stay.
    Excluded {
        uuid: &'a str,
        excluded: bool,
    },
    /// The DataNode said its last word: it stops, or its disks are gone.
    DatanodeGone {
        uuid: &'a str,
    },
    /// Who has not been heard of for too long? Every few seconds.
    DatanodeTick,
    /// Copies and deletions; every `dfs.namenode.redundancy.interval.seconds`.
    RedundancyTick,
    /// Some of what a tick does before it orders copies: repeats as long as more of it waits.
    RedundancySlice,
    /// May the start-up safe mode end? Every second while it is on.
    SafeModeTick,
}

/// What followed from an event.
#[derive(Debug, Default)]
pub struct Observed {
    /// Parked calls with these conditions are to be planned again.
    pub woken: Vec<WaitFor>,
    /// The event came from a DataNode that is not registered (or was given up): answer with `Register`.
    pub unregistered: bool,
    /// The start-up safe mode ended with this event.
    pub left_safe_mode: bool,
    /// DataNodes found dead.
    pub died: Vec<DatanodeHandle>,
    /// What the event did a part of has more parts.
    pub is_more: bool,
}

impl BlockManager {
    /// Takes in one event.
    pub fn observe(&mut self, event: Observation<'_>, now: Now) -> Observed {
        self.now_monotonic_ms = self.now_monotonic_ms.max(now.monotonic_ms);
        match self.active && !self.safe_mode.is_on() {
            true => _ = self.serving_since.get_or_insert(self.now_monotonic_ms),
            false => self.serving_since = None,
        }
        let mut observed = Observed::default();
        match event {
            Observation::RegisterDatanode { id, software_version } => self.register(id, software_version, now),
            Observation::Heartbeat(heartbeat) => observed.unregistered = !self.heartbeat(&heartbeat, now),
            Observation::FullBlockReport { uuid, storage_uuid, storage_type, blocks, progress } => {
                match self.live_storage(uuid, storage_uuid, storage_type) {
                    Some((node, storage)) => {
                        observed.unregistered = self.report_slice(storage, blocks, progress) == Reporter::Gone;
                        let stats = &mut self.datanodes.datanode_mut(node).stats;
                        stats.last_block_report_ms = now.wall_ms;
                        stats.last_block_report_monotonic_ms = now.monotonic_ms;
                        self.count_blocks(node);
                    }
                    None => observed.unregistered = true,
                }
            }
            Observation::IncrementalBlockReport { uuid, storage_uuid, storage_type, entries } => {
                match self.live_storage(uuid, storage_uuid, storage_type) {
                    Some((node, storage)) => {
                        for entry in entries {
                            self.incremental_report(storage, entry);
                        }
                        self.count_blocks(node);
                    }
                    None => observed.unregistered = true,
                }
            }
            Observation::BadBlocks(bad) => {
                for bad in bad {
                    let Some(node) = self.datanodes.find(bad.datanode_uuid) else { continue };
                    let storage = self.datanodes.find_storage(node, bad.storage_uuid);
                    self.bad_block(bad.block, node, storage);
                }
            }
            Observation::Excluded { uuid, excluded } => {
                if let Some(node) = self.datanodes.find(uuid) {
                    self.set_excluded(node, excluded);
                }
            }
            Observation::DatanodeGone { uuid } => {
                if let Some(node) = self.datanodes.find(uuid) {
                    self.give_up(node, &mut observed.died);
                }
            }
            Observation::DatanodeTick => self.find_dead(now.monotonic_ms, &mut observed.died),
            Observation::RedundancyTick => self.redundancy_tick(now.random),
            Observation::RedundancySlice => observed.is_more = self.redundancy_slice(),
            Observation::SafeModeTick => observed.left_safe_mode = self.tick_safe_mode(now.monotonic_ms),
        }
        observed.woken = self.take_woken();
        observed
    }

    fn live_storage(
        &mut self,
        uuid: &str,
        storage_uuid: &str,
        storage_type: StorageType,
    ) -> Option<(DatanodeHandle, super::StorageHandle)> {
        let node = self.datanodes.find(uuid).filter(|n| self.datanodes.datanode(*n).alive)?;
        Some((node, self.datanodes.ensure_storage(node, storage_uuid, storage_type)?))
    }

    /// A DataNode starts, or comes back. One with the same address and another uuid takes the place of the old one.
    fn register(&mut self, id: &DatanodeId, software_version: &str, now: Now) {
        let replaced: Vec<DatanodeHandle> = self
            .datanodes
            .at_address(&id.ip_addr)
            .iter()
            .copied()
            .filter(|h| {
                let other = &self.datanodes.datanode(*h).id;
                other.uuid != id.uuid && other.xfer_port == id.xfer_port
            })
            .collect();
        for old in replaced {
            self.give_up(old, &mut Vec::new());
        }
        let handle = match self.datanodes.find(&id.uuid) {
            Some(known) => {
                self.take_out(known, usize::MAX);
                self.datanodes.set_id(known, id);
                known
            }
            None => self.datanodes.add(id, software_version, DEFAULT_RACK),
        };
        for storage in self.datanodes.datanode(handle).storages.clone() {
            // What it held before is confirmed by its first full report.
            let storage = self.datanodes.storage_mut(storage);
            storage.block_reports = 0;
            storage.reporting = None;
        }
        let node = self.datanodes.datanode_mut(handle);
        node.software_version = software_version.into();
        node.transfers.clear();
        node.clear_scheduled();
        node.stats.last_update_ms = now.wall_ms;
        node.stats.last_update_monotonic_ms = now.monotonic_ms;
        if !core::mem::replace(&mut node.alive, true) {
            self.datanodes.live += 1;
        }
    }

    /// Takes out about `limit` replicas of what is left of a DataNode that died, before it registers again. Whether some may be
    /// left still.
    pub fn take_out_dead(&mut self, uuid: &str, limit: usize) -> bool {
        let node = self.datanodes.find(uuid);
        node.is_some_and(|node| self.take_out(node, limit))
    }

    fn take_out(&mut self, node: DatanodeHandle, limit: usize) -> bool {
        if self.datanodes.datanode(node).alive {
            return false;
        }
        let mut left = limit;
        for storage in self.datanodes.datanode(node).storages.clone() {
            let held: Vec<u32> = self.datanodes.storage(storage).blocks.iter().take(left).collect();
            for handle in &held {
                self.remove_stored(super::BlockHandle(*handle), storage);
            }
            left -= held.len();
            if left == 0 {
                return true;
            }
            self.departed.retain(|s| *s != storage);
        }
        false
    }

    /// `false`: not registered.
    fn heartbeat(&mut self, heartbeat: &Heartbeat<'_>, now: Now) -> bool {
        let Some(handle) = self.datanodes.find(heartbeat.uuid).filter(|h| self.datanodes.datanode(*h).alive) else {
            return false;
        };
        let mut failed = Vec::new();
        let mut total = self.datanodes.datanode(handle).stats;
        (total.capacity, total.dfs_used, total.non_dfs_used, total.remaining, total.block_pool_used) = (0, 0, 0, 0, 0);
        for report in heartbeat.storages {
            let Some(storage) = self.datanodes.ensure_storage(handle, &report.uuid, report.storage_type) else {
                continue;
            };
            let known = &mut self.datanodes.storage_mut(storage).report;
            if report.failed && !known.failed {
                failed.push(storage);
            }
            known.clone_from(report);
            total.capacity += report.capacity;
            total.dfs_used += report.dfs_used;
            total.non_dfs_used += report.non_dfs_used;
            total.remaining += report.remaining;
            total.block_pool_used += report.block_pool_used;
        }
        failed.extend(self.vanished_storages(handle, heartbeat.storages));
        total.cache_capacity = heartbeat.cache_capacity;
        total.cache_used = heartbeat.cache_used;
        total.xceiver_count = heartbeat.xceiver_count;
        total.xmits_in_progress = heartbeat.xmits_in_progress;
        total.failed_volumes = heartbeat.failed_volumes;
        total.last_update_ms = now.wall_ms;
        total.last_update_monotonic_ms = now.monotonic_ms;
        self.datanodes.datanode_mut(handle).stats = total;
        self.departed.extend(failed);
        true
    }

    /// Storages the DataNode had and does not speak of any more: a directory was taken away. Their replicas count no more.
    fn vanished_storages(&mut self, node: DatanodeHandle, reports: &[StorageReport]) -> Vec<super::StorageHandle> {
        let mut vanished = Vec::new();
        if reports.is_empty() {
            return vanished;
        }
        for storage in self.datanodes.datanode(node).storages.clone() {
            let report = &mut self.datanodes.storage_mut(storage).report;
            if !report.failed && !reports.iter().any(|r| r.uuid == report.uuid) {
                report.failed = true;
                vanished.push(storage);
            }
        }
        vanished
    }

    fn count_blocks(&mut self, node: DatanodeHandle) {
        let storages = &self.datanodes.datanode(node).storages;
        let blocks: usize = storages.iter().map(|s| self.datanodes.storage(*s).num_blocks()).sum();
        self.datanodes.datanode_mut(node).stats.num_blocks = blocks as u32;
    }

    fn find_dead(&mut self, now_monotonic_ms: u64, died: &mut Vec<DatanodeHandle>) {
        if now_monotonic_ms.saturating_sub(self.rolled_monotonic_ms) >= SCHEDULED_PERIOD_MS {
            self.rolled_monotonic_ms = now_monotonic_ms;
            for handle in self.datanodes.handles() {
                self.datanodes.datanode_mut(handle).roll_scheduled();
            }
        }
        let expiry = self.config.heartbeat_expiry_ms();
        for handle in self.datanodes.handles() {
            let node = self.datanodes.datanode(handle);
            if node.alive && now_monotonic_ms.saturating_sub(node.stats.last_update_monotonic_ms) > expiry {
                self.give_up(handle, died);
            }
        }
    }

    /// The DataNode is dead: its replicas count no more from now on, and are taken out slice by slice.
    fn give_up(&mut self, handle: DatanodeHandle, died: &mut Vec<DatanodeHandle>) {
        let node = self.datanodes.datanode_mut(handle);
        if !node.alive {
            return;
        }
        node.alive = false;
        node.invalidate.clear();
        node.transfers.clear();
        node.recoveries.clear();
        node.clear_scheduled();
        let storages = node.storages.clone();
        self.datanodes.live -= 1;
        for storage in &storages {
            self.datanodes.storage_mut(*storage).reporting = None;
        }
        self.departed.extend(storages);
        died.push(handle);
    }
}
