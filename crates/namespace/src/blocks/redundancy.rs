//! The redundancy monitor: blocks with too few replicas wait in queues by urgency and are copied, replicas too many or
//! corrupt are deleted, copies that do not arrive are tried again, and the replicas of dead DataNodes are taken out.
//! Every tick does a bounded amount of work.

use super::datanodes::TransferWork;
use super::handle_set::HandleSet;
use super::table::{BlockState, FLAG_CORRUPT};
use super::{BlockHandle, BlockManager, DatanodeHandle, ReplicaCount, StorageHandle};
use crate::blocks::placement::{Random, TargetRequest};
use alloc::vec::Vec;
use surus_types::AdminState;

/// Urgency of a block with too few replicas. Source: `LowRedundancyBlocks.java`, Hadoop 3.5.0.
pub(super) const HIGHEST_PRIORITY: usize = 0;
const VERY_LOW_REDUNDANCY: usize = 1;
const LOW_REDUNDANCY: usize = 2;
/// No good replica at all: nothing to copy from, only counted.
pub(super) const CORRUPT: usize = 4;
const PRIORITIES: usize = 5;

/// Replicas taken out, blocks looked at again, and blocks of leaving DataNodes looked at, in one event: some milliseconds at
/// most for all three.
pub(super) const SLICE: usize = 1_000;
/// Heartbeats without one of which a DataNode's replicas go first.
/// Source: `dfs.namenode.tolerate.heartbeat.multiplier`, Hadoop 3.5.0.
const LATE_HEARTBEATS: u64 = 4;

/// The queues. Each is walked round and round, so that no block starves.
#[derive(Debug, Default)]
pub(super) struct LowRedundancy {
    queues: [HandleSet; PRIORITIES],
    cursors: [u32; PRIORITIES],
    /// Blocks of the last queue that want one replica only.
    pub missing_replication_one: u64,
}

impl LowRedundancy {
    pub fn len(&self, priority: usize) -> usize {
        self.queues[priority].len()
    }
    pub fn total(&self) -> usize {
        self.queues.iter().map(HandleSet::len).sum()
    }
    pub fn queue(&self, priority: usize) -> &HandleSet {
        &self.queues[priority]
    }
}

/// Copies under way.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pending {
    pub targets: Vec<StorageHandle>,
    pub since_monotonic_ms: u64,
}

/// Which queue a block belongs to. Source: `LowRedundancyBlocks.getPriority`, Hadoop 3.5.0.
fn priority_of(count: &ReplicaCount, wanted: usize) -> usize {
    match count.live {
        0 if count.decommissioned + count.maintenance > 0 => HIGHEST_PRIORITY,
        0 => CORRUPT,
        1 => HIGHEST_PRIORITY,
        n if n * 3 < wanted => VERY_LOW_REDUNDANCY,
        _ => LOW_REDUNDANCY,
    }
}

impl BlockManager {
    /// Puts a block where it belongs after a change: in the right queue, or in none; extra replicas marked, corrupt ones
    /// deleted when enough are good.
    pub(super) fn update_redundancy(&mut self, handle: BlockHandle) {
        self.update_safe(handle);
        let row = *self.table.row(handle);
        // Nobody here knows where the parts of a block group are: it is neither missing nor to be copied.
        if row.is_group() {
            return;
        }
        if !self.active || self.safe_mode.is_startup() || !row.state().is_complete() {
            return;
        }
        let count = self.count_replicas(handle);
        let wanted = usize::from(row.replication);
        let pending = self.pending.get(&handle).map_or(0, |p| p.targets.len());
        let effective = count.live + count.maintenance + pending;
        let priority = (effective < wanted).then(|| priority_of(&count, wanted));
        self.set_priority(handle, priority);
        if count.live > wanted {
            self.choose_excess(handle, count.live - wanted, None);
        }
        if row.has(FLAG_CORRUPT) && count.live >= wanted {
            self.invalidate_corrupt(handle, usize::MAX);
        } else if row.has(FLAG_CORRUPT) && count.live >= usize::from(self.config.min_replication) {
            // Corrupt replicas must not hold the places that good ones need.
            self.invalidate_corrupt(handle, (count.live + count.corrupt).saturating_sub(wanted));
        }
    }

    fn set_priority(&mut self, handle: BlockHandle, priority: Option<usize>) {
        let row = self.table.row(handle);
        let (old, one) = (row.priority(), u64::from(row.replication == 1));
        if old == priority {
            return;
        }
        if let Some(old) = old {
            self.low.queues[old].remove(handle.0);
        }
        if let Some(new) = priority {
            self.low.queues[new].insert(handle.0);
        }
        if old == Some(CORRUPT) {
            self.low.missing_replication_one = self.low.missing_replication_one.saturating_sub(one);
        }
        if priority == Some(CORRUPT) {
            self.low.missing_replication_one += one;
        }
        self.table.row_mut(handle).set_priority(priority);
    }

    /// Takes a block out of the queues: it goes away or is written to again.
    pub(super) fn forget_queues(&mut self, handle: BlockHandle) {
        self.set_priority(handle, None);
        self.drop_pending(handle);
    }

    fn drop_pending(&mut self, handle: BlockHandle) -> Option<Pending> {
        let pending = self.pending.remove(&handle)?;
        for target in &pending.targets {
            self.unschedule(*target);
        }
        Some(pending)
    }

    /// A replica that was to be copied is good for it no more: another one is chosen at the next round.
    pub(super) fn cancel_copies_from(&mut self, handle: BlockHandle, storage: StorageHandle) {
        let id = self.table.row(handle).id;
        let source = self.datanodes.storage(storage).datanode;
        let transfers = &mut self.datanodes.datanode_mut(source).transfers;
        let before = transfers.len();
        transfers.retain(|work| work.block.id != id);
        if transfers.len() < before {
            self.drop_pending(handle);
        }
    }

    fn unschedule(&mut self, storage: StorageHandle) {
        let datanode = self.datanodes.storage(storage).datanode;
        self.datanodes.datanode_mut(datanode).unschedule();
    }

    /// Replicas that are on their way to these storages.
    pub(super) fn expect_pending(&mut self, handle: BlockHandle, storages: &[StorageHandle]) {
        if storages.is_empty() {
            return;
        }
        let now = self.now_monotonic_ms;
        let pending =
            self.pending.entry(handle).or_insert_with(|| Pending { targets: Vec::new(), since_monotonic_ms: now });
        pending.since_monotonic_ms = now;
        for storage in storages {
            if !pending.targets.contains(storage) {
                pending.targets.push(*storage);
            }
        }
    }

    pub(super) fn pending_arrived(&mut self, handle: BlockHandle, storage: StorageHandle) {
        let datanode = self.datanodes.storage(storage).datanode;
        let Some(pending) = self.pending.get_mut(&handle) else { return };
        // A DataNode may have put the copy on another of its storages than the one it was sent to.
        let datanodes = &self.datanodes;
        let Some(at) = pending.targets.iter().position(|t| datanodes.storage(*t).datanode == datanode) else { return };
        let arrived = pending.targets.swap_remove(at);
        if pending.targets.is_empty() {
            self.pending.remove(&handle);
        }
        self.unschedule(arrived);
    }

    /// Marks replicas as too many and has them deleted: those on DataNodes that may be dead first (whose heartbeat is late by
    /// four intervals), then the hinted one, then those on the fullest DataNodes. Nothing while a replica lies on a storage that
    /// has not reported yet.
    pub(super) fn choose_excess(&mut self, handle: BlockHandle, surplus: usize, hint: Option<DatanodeHandle>) {
        let mut candidates: Vec<StorageHandle> = self.storages_of(handle);
        candidates.retain(|s| {
            // A replica on a DataNode that leaves is not among those counted as too many.
            let stays = self.datanodes.datanode(self.datanodes.storage(*s).datanode).admin_state == AdminState::Normal;
            stays && self.datanodes.is_live(*s) && !self.is_corrupt(handle, *s) && !self.is_excess(handle, *s)
        });
        if candidates.iter().any(|s| self.datanodes.storage(*s).block_reports == 0) {
            return;
        }
        let block = self.table.row(handle).block();
        candidates.sort_by_key(|s| {
            let storage = self.datanodes.storage(*s);
            // A second replica on one DataNode protects against nothing: it goes first.
            let twin = candidates_twin(&self.datanodes, self.storages_of(handle), *s);
            let last = self.datanodes.datanode(storage.datanode).stats.last_update_monotonic_ms;
            let is_late = last + LATE_HEARTBEATS * self.config.heartbeat_interval_ms < self.now_monotonic_ms;
            (!is_late, hint != Some(storage.datanode), !twin, storage.report.remaining, s.0)
        });
        for storage in candidates.into_iter().take(surplus) {
            self.set_excess(handle, storage);
            self.queue_invalidation(storage, block, self.last_txid);
        }
    }

    /// One round of the monitor, every `dfs.namenode.redundancy.interval.seconds`.
    pub(super) fn redundancy_tick(&mut self, random: u64) {
        self.redundancy_slice();
        if self.active && !self.safe_mode.is_on() {
            self.schedule_copies(Random::new(random));
        }
    }

    /// Some of what the monitor has to look at. Whether more of it waits.
    pub(super) fn redundancy_slice(&mut self) -> bool {
        self.take_out_departed();
        let is_left = !self.departed.is_empty();
        if !self.active || self.safe_mode.is_on() {
            return is_left;
        }
        self.rescan_slice();
        let [is_leaving, is_late] = [self.check_leaving(), self.retry_pending()];
        is_left || self.rescan_from.is_some() || is_leaving || is_late
    }

    fn take_out_departed(&mut self) {
        let mut budget = SLICE;
        while budget > 0 {
            let Some(storage) = self.departed.last().copied() else { return };
            // It came back meanwhile: its full report says what it holds.
            let handle = match self.datanodes.is_live(storage) {
                true => None,
                false => self.datanodes.storage(storage).blocks.next(0),
            };
            match handle {
                Some(handle) => self.remove_stored(BlockHandle(handle), storage),
                None => {
                    self.departed.pop();
                }
            }
            budget -= 1;
        }
    }

    /// After safe mode (and when replay ended) every block is looked at once.
    fn rescan_slice(&mut self) {
        let Some(from) = self.rescan_from else { return };
        let handles: Vec<BlockHandle> = self.table.handles_from(from).take(SLICE).collect();
        self.rescan_from = match handles.last() {
            Some(last) if handles.len() == SLICE => Some(last.0 + 1),
            _ => None,
        };
        for handle in handles {
            self.after_replica_change(handle);
        }
    }

    /// Whether more copies than were looked at are late.
    fn retry_pending(&mut self) -> bool {
        let expired = self.now_monotonic_ms.saturating_sub(self.config.pending_timeout_ms);
        let late: Vec<BlockHandle> = self
            .pending
            .iter()
            .filter(|(_, p)| p.since_monotonic_ms <= expired && self.now_monotonic_ms >= self.config.pending_timeout_ms)
            .map(|(h, _)| *h)
            .take(SLICE)
            .collect();
        for handle in &late {
            self.drop_pending(*handle);
            self.num_pending_timed_out += 1;
            self.update_redundancy(*handle);
        }
        late.len() == SLICE
    }

    fn schedule_copies(&mut self, mut random: Random) {
        let mut budget = (self.datanodes.num_live() * self.config.work_multiplier) as usize;
        for priority in HIGHEST_PRIORITY..CORRUPT {
            let mut left = self.low.len(priority);
            while budget > 0 && left > 0 {
                let queue = &self.low.queues[priority];
                let Some(next) = queue.next(self.low.cursors[priority]).or_else(|| queue.next(0)) else { break };
                self.low.cursors[priority] = next.wrapping_add(1);
                self.schedule_copy(BlockHandle(next), priority, &mut random);
                left -= 1;
                budget -= 1;
            }
        }
    }

    /// Chooses a source and targets for one block. Whatever cannot be done now stays in its queue.
    fn schedule_copy(&mut self, handle: BlockHandle, priority: usize, random: &mut Random) {
        let row = *self.table.row(handle);
        if row.state() != BlockState::Complete {
            self.set_priority(handle, None);
            return;
        }
        let count = self.count_replicas(handle);
        let pending = self.pending.get(&handle).map_or_else(Vec::new, |p| p.targets.clone());
        let missing = usize::from(row.replication).saturating_sub(count.live + count.maintenance + pending.len());
        let Some(source) = self.choose_source(handle, priority, random) else { return };
        if missing == 0 {
            return;
        }
        let mut taken = self.storages_of(handle);
        taken.extend(pending);
        let taken: Vec<DatanodeHandle> = taken.iter().map(|s| self.datanodes.storage(*s).datanode).collect();
        let source_node = self.datanodes.storage(source).datanode;
        let request = TargetRequest {
            writer: Some(source_node),
            wanted: missing,
            excluded: &taken,
            favored: &[],
            block_size: row.num_bytes,
            prefer_local: false,
            now_monotonic_ms: self.now_monotonic_ms,
            policy: None,
        };
        let targets = self.choose_targets(&request, random);
        if targets.is_empty() {
            return;
        }
        for target in &targets {
            let datanode = self.datanodes.storage(*target).datanode;
            self.datanodes.datanode_mut(datanode).schedule();
        }
        self.expect_pending(handle, &targets);
        self.datanodes.datanode_mut(source_node).transfers.push_back(TransferWork { block: row.block(), targets });
        self.update_redundancy(handle);
    }

    /// A live replica whose DataNode is not busy with copies already; one that is being decommissioned before others.
    fn choose_source(&self, handle: BlockHandle, priority: usize, random: &mut Random) -> Option<StorageHandle> {
        let limit = match priority {
            HIGHEST_PRIORITY => self.config.max_streams_hard,
            _ => self.config.max_streams,
        };
        let mut candidates = self.storages_of(handle);
        candidates.retain(|s| {
            let node = self.datanodes.datanode(self.datanodes.storage(*s).datanode);
            self.datanodes.is_live(*s)
                && !self.is_corrupt(handle, *s)
                && !self.is_excess(handle, *s)
                && (node.transfers.len() as u32) < limit
        });
        let leaving = |s: &StorageHandle| {
            let node = self.datanodes.datanode(self.datanodes.storage(*s).datanode);
            node.admin_state == AdminState::DecommissionInProgress
        };
        if candidates.iter().any(leaving) {
            candidates.retain(leaving);
        }
        match candidates.len() {
            0 => None,
            n => Some(candidates[random.below(n as u64) as usize]),
        }
    }
}

/// Whether another replica of the block lies on the same DataNode.
fn candidates_twin(datanodes: &super::Datanodes, all: Vec<StorageHandle>, storage: StorageHandle) -> bool {
    let node = datanodes.storage(storage).datanode;
    all.iter().any(|s| *s != storage && datanodes.storage(*s).datanode == node)
}
