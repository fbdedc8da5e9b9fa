//! The replicas of a block: adding, taking out, marking corrupt or excess, and counting what is left.

use super::table::{FLAG_CORRUPT, FLAG_EXCESS, FLAG_OVERFLOW, FLAG_SAFE, INLINE_REPLICAS, NO_STORAGE};
use super::{BlockHandle, BlockManager, BlockState, StorageHandle};
use crate::plan::WaitFor;
use alloc::vec::Vec;
use surus_types::{AdminState, Block};

/// Why a replica is corrupt. Source: `CorruptReplicasMap.Reason`, Hadoop 3.5.0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CorruptReason {
    /// A client or a scanner found wrong checksums.
    CorruptionReported,
    GenstampMismatch,
    SizeMismatch,
    InvalidState,
}

impl CorruptReason {
    /// As Hadoop names it. Source: `CorruptReplicasMap.Reason`, Hadoop 3.5.0.
    pub fn name(self) -> &'static str {
        match self {
            CorruptReason::CorruptionReported => "CORRUPTION_REPORTED",
            CorruptReason::GenstampMismatch => "GENSTAMP_MISMATCH",
            CorruptReason::SizeMismatch => "SIZE_MISMATCH",
            CorruptReason::InvalidState => "INVALID_STATE",
        }
    }
}

/// A block's replicas by what they are good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReplicaCount {
    pub live: usize,
    pub corrupt: usize,
    pub excess: usize,
    /// On DataNodes that are being or were decommissioned: readable, but not counted.
    pub decommissioned: usize,
    /// On DataNodes in, or on the way into, maintenance.
    pub maintenance: usize,
    /// On DataNodes that died, not yet taken out.
    pub dead: usize,
}

impl BlockManager {
    /// Every replica known, live or not, corrupt ones too.
    pub fn storages_of(&self, handle: BlockHandle) -> Vec<StorageHandle> {
        let mut all = Vec::with_capacity(INLINE_REPLICAS);
        self.for_each_replica(handle, |s| all.push(s));
        all
    }

    pub fn for_each_replica(&self, handle: BlockHandle, mut visit: impl FnMut(StorageHandle)) {
        let row = self.table.row(handle);
        for storage in row.replicas.iter().filter(|s| **s != NO_STORAGE) {
            visit(StorageHandle(*storage));
        }
        if row.has(FLAG_OVERFLOW) {
            for storage in self.more_replicas.get(&handle).into_iter().flatten() {
                visit(*storage);
            }
        }
    }

    pub fn is_stored_on(&self, handle: BlockHandle, storage: StorageHandle) -> bool {
        self.datanodes.storage(storage).blocks.contains(handle.0)
    }

    pub fn is_corrupt(&self, handle: BlockHandle, storage: StorageHandle) -> bool {
        self.table.row(handle).has(FLAG_CORRUPT)
            && self.corrupt.get(&handle).is_some_and(|list| list.iter().any(|(s, _)| *s == storage))
    }

    /// Whether somebody read the replica and found it corrupt: its DataNode, which has not, cannot say otherwise.
    pub(super) fn is_known_bad(&self, handle: BlockHandle, storage: StorageHandle) -> bool {
        self.table.row(handle).has(FLAG_CORRUPT)
            && self
                .corrupt
                .get(&handle)
                .is_some_and(|list| list.contains(&(storage, CorruptReason::CorruptionReported)))
    }

    pub fn is_excess(&self, handle: BlockHandle, storage: StorageHandle) -> bool {
        self.table.row(handle).has(FLAG_EXCESS) && self.excess.get(&handle).is_some_and(|list| list.contains(&storage))
    }

    pub fn count_replicas(&self, handle: BlockHandle) -> ReplicaCount {
        let mut count = ReplicaCount::default();
        self.for_each_replica(handle, |storage| {
            let admin_state = self.datanodes.datanode(self.datanodes.storage(storage).datanode).admin_state;
            let kind = if !self.datanodes.is_live(storage) {
                &mut count.dead
            } else if self.is_corrupt(handle, storage) {
                &mut count.corrupt
            } else if self.is_excess(handle, storage) {
                &mut count.excess
            } else {
                match admin_state {
                    AdminState::Normal => &mut count.live,
                    AdminState::DecommissionInProgress | AdminState::Decommissioned => &mut count.decommissioned,
                    AdminState::EnteringMaintenance | AdminState::InMaintenance => &mut count.maintenance,
                }
            };
            *kind += 1;
        });
        count
    }

    /// Replicas a reader or a recovery may use.
    pub fn usable_replicas(&self, handle: BlockHandle) -> usize {
        let count = self.count_replicas(handle);
        count.live + count.decommissioned + count.maintenance
    }

    /// A DataNode has a finalized replica of the block's present form.
    pub(super) fn add_stored(&mut self, handle: BlockHandle, storage: StorageHandle) {
        self.attach_replica(handle, storage);
        self.clear_corrupt(handle, storage);
        self.pending_arrived(handle, storage);
        self.after_replica_change(handle);
    }

    /// A replica is gone.
    pub(super) fn remove_stored(&mut self, handle: BlockHandle, storage: StorageHandle) {
        self.detach_replica(handle, storage);
        self.after_replica_change(handle);
    }

    /// Completes the block when it was only waiting for replicas, wakes who waits for it, and queues what is missing.
    pub(super) fn after_replica_change(&mut self, handle: BlockHandle) {
        if !self.active {
            return;
        }
        let row = self.table.row(handle);
        let (state, id) = (row.state(), row.id);
        if !state.is_complete() && self.usable_replicas(handle) >= usize::from(self.config.min_replication) {
            self.wake(WaitFor::MinReplication(id));
            if state == BlockState::Committed {
                self.finish_block(handle);
                return;
            }
        }
        self.update_redundancy(handle);
    }

    /// Keeps the count of safe blocks: complete ones with enough replicas. Block groups are not waited for: reports of their
    /// parts say nothing here.
    pub(super) fn update_safe(&mut self, handle: BlockHandle) {
        let (wanted, row) = (usize::from(self.config.safe_mode_replication), self.table.row(handle));
        let safe = row.state().is_complete() && (row.is_group() || self.usable_replicas(handle) >= wanted);
        if safe != self.table.row(handle).has(FLAG_SAFE) {
            self.table.row_mut(handle).set(FLAG_SAFE, safe);
            self.num_safe = if safe { self.num_safe + 1 } else { self.num_safe - 1 };
        }
    }

    /// A replica turned out bad. It is deleted at once when enough good ones exist, else kept till they do.
    /// `reported` is the replica as the DataNode has it.
    pub(super) fn mark_corrupt(
        &mut self,
        handle: BlockHandle,
        storage: StorageHandle,
        reason: CorruptReason,
        reported: Block,
    ) {
        if !self.is_stored_on(handle, storage) {
            self.attach_replica(handle, storage);
        }
        let list = self.corrupt.entry(handle).or_default();
        match list.iter_mut().find(|(s, _)| *s == storage) {
            Some(known) if known.1 == CorruptReason::CorruptionReported => {}
            Some(known) => known.1 = reason,
            None => list.push((storage, reason)),
        }
        self.cancel_copies_from(handle, storage);
        let row = self.table.row_mut(handle);
        row.set(FLAG_CORRUPT, true);
        let written_meanwhile = row.generation_stamp > reported.generation_stamp;
        let wanted = usize::from(row.replication);
        let count = self.count_replicas(handle);
        let minimum = count.live >= usize::from(self.config.min_replication);
        if count.live >= wanted || minimum && (written_meanwhile || count.live + count.corrupt > wanted) {
            self.detach_replica(handle, storage);
            self.queue_bad(storage, reported);
        }
        self.after_replica_change(handle);
    }

    /// Deletes at most `limit` corrupt replicas.
    pub(super) fn invalidate_corrupt(&mut self, handle: BlockHandle, limit: usize) {
        let Some(list) = self.corrupt.get(&handle) else { return };
        let block = self.table.row(handle).block();
        for storage in list.iter().map(|(s, _)| *s).take(limit).collect::<Vec<_>>() {
            self.detach_replica(handle, storage);
            self.queue_bad(storage, block);
        }
    }

    pub(super) fn set_excess(&mut self, handle: BlockHandle, storage: StorageHandle) {
        self.excess.entry(handle).or_default().push(storage);
        self.table.row_mut(handle).set(FLAG_EXCESS, true);
    }

    fn attach_replica(&mut self, handle: BlockHandle, storage: StorageHandle) {
        if !self.datanodes.storage_mut(storage).blocks.insert(handle.0) {
            return;
        }
        self.touch_replica(handle, storage);
        let row = self.table.row_mut(handle);
        if let Some(free) = row.replicas.iter_mut().find(|s| **s == NO_STORAGE) {
            *free = storage.0;
        } else {
            row.set(FLAG_OVERFLOW, true);
            self.more_replicas.entry(handle).or_default().push(storage);
        }
    }

    /// Takes a replica out of the lists, without looking at what follows from it.
    pub(super) fn detach_replica(&mut self, handle: BlockHandle, storage: StorageHandle) {
        if !self.datanodes.storage_mut(storage).blocks.remove(handle.0) {
            return;
        }
        self.touch_replica(handle, storage);
        let row = self.table.row_mut(handle);
        if let Some(place) = row.replicas.iter().position(|s| *s == storage.0) {
            // A replica from the side map moves in, so that the row stays full first.
            let moved = if row.has(FLAG_OVERFLOW) {
                self.more_replicas.get_mut(&handle).and_then(Vec::pop).map_or(NO_STORAGE, |s| s.0)
            } else {
                NO_STORAGE
            };
            row.replicas[place] = moved;
        } else if let Some(list) = self.more_replicas.get_mut(&handle) {
            list.retain(|s| *s != storage);
        }
        if self.table.row(handle).has(FLAG_OVERFLOW) && self.more_replicas.get(&handle).is_none_or(Vec::is_empty) {
            self.more_replicas.remove(&handle);
            self.table.row_mut(handle).set(FLAG_OVERFLOW, false);
        }
        self.clear_corrupt(handle, storage);
        self.clear_excess(handle, storage);
        self.cancel_copies_from(handle, storage);
    }

    fn clear_corrupt(&mut self, handle: BlockHandle, storage: StorageHandle) {
        if let Some(list) = self.corrupt.get_mut(&handle) {
            list.retain(|(s, _)| *s != storage);
            if list.is_empty() {
                self.corrupt.remove(&handle);
                self.table.row_mut(handle).set(FLAG_CORRUPT, false);
            }
        }
    }

    pub(super) fn clear_excess(&mut self, handle: BlockHandle, storage: StorageHandle) {
        if let Some(list) = self.excess.get_mut(&handle) {
            list.retain(|s| *s != storage);
            if list.is_empty() {
                self.excess.remove(&handle);
                self.table.row_mut(handle).set(FLAG_EXCESS, false);
            }
        }
    }
}
