//! What DataNodes say of their replicas: incremental reports, each replica of full ones, and corrupt replicas found by readers.
//! Source of the rules: `BlockManager.processReportedBlock`, `checkReplicaCorrupt`, Hadoop 3.5.0.

use super::{BlockHandle, BlockManager, BlockState, CorruptReason, DatanodeHandle, StorageHandle};
use surus_types::{Block, ReplicaState};

/// A replica in a full block report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReportedBlock {
    pub block: Block,
    pub state: ReplicaState,
}

/// An entry of an incremental block report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReceivedDeleted<'a> {
    Receiving(Block),
    /// With the uuid of the DataNode whose replica may go (the balancer's move), or empty.
    Received(Block, &'a str),
    Deleted(Block),
}

/// Replicas with stamps the NameNode never gave out: it runs on old metadata.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InFuture {
    pub blocks: u64,
    pub bytes: u64,
}

enum Verdict {
    Unknown,
    Corrupt(CorruptReason),
    /// Of an open block; stored too when finalized.
    Open,
    Stored,
    Ignored,
}

impl BlockManager {
    pub(super) fn incremental_report(&mut self, storage: StorageHandle, entry: ReceivedDeleted<'_>) {
        let (ReceivedDeleted::Receiving(block) | ReceivedDeleted::Received(block, _) | ReceivedDeleted::Deleted(block)) =
            entry;
        if self.datanodes.storage(storage).reporting.is_some()
            && let Some(handle) = self.table.find(block.id)
        {
            self.touch_replica(handle, storage);
        }
        match entry {
            ReceivedDeleted::Receiving(block) => {
                self.replica_reported(storage, block, ReplicaState::Rbw, None);
            }
            ReceivedDeleted::Received(block, hint) => {
                let hint = self.datanodes.find(hint);
                let known = self.table.find(block.id);
                self.replica_reported(storage, block, ReplicaState::Finalized, hint);
                // One fewer write on its way to this DataNode.
                if known.is_some() {
                    let node = self.datanodes.storage(storage).datanode;
                    self.datanodes.datanode_mut(node).unschedule();
                }
            }
            ReceivedDeleted::Deleted(block) => {
                let Some(handle) = self.table.find(block.id) else { return };
                if self.is_stored_on(handle, storage) {
                    self.remove_stored(handle, storage);
                }
                if let Some(open) = self.open.get_mut(&handle) {
                    open.expected.retain(|e| e.storage != storage);
                }
            }
        }
    }

    /// A client or a scanner found a replica corrupt. `storage` may be unknown to old clients.
    pub(super) fn bad_block(&mut self, block: Block, datanode: DatanodeHandle, storage: Option<StorageHandle>) {
        let Some(handle) = self.table.find(block.id) else { return };
        let on_node = |s: &StorageHandle| self.datanodes.storage(*s).datanode == datanode;
        let stored = self.storages_of(handle).into_iter().find(on_node).or(storage);
        if let Some(storage) = stored {
            self.mark_corrupt(handle, storage, CorruptReason::CorruptionReported, block);
        }
    }

    /// One replica. The handle of its block, unless the block is unknown.
    pub(super) fn replica_reported(
        &mut self,
        storage: StorageHandle,
        reported: Block,
        state: ReplicaState,
        hint: Option<DatanodeHandle>,
    ) -> Option<BlockHandle> {
        // A replica of a block group carries an id of its own, or the group's: to judge it by that would order its deletion.
        // Until erasure-coded data is read it is left alone.
        let handle = self.table.find(reported.id);
        if reported.id.is_striped() && handle.is_none_or(|found| self.table.row(found).is_group()) {
            return None;
        }
        // A bad replica that is about to be deleted is not a good one because nobody remembers why.
        let datanode = self.datanodes.storage(storage).datanode;
        if self.datanodes.datanode(datanode).invalidate.is_bad(reported) {
            return handle;
        }
        match self.judge(handle, reported, state) {
            Verdict::Unknown => {
                if !self.safe_mode.is_startup() {
                    self.queue_invalidation(storage, reported, self.last_txid);
                }
            }
            Verdict::Corrupt(reason) => {
                let handle = handle?;
                self.mark_corrupt(handle, storage, reason, reported);
            }
            Verdict::Open => {
                let handle = handle?;
                self.expect_reported(handle, storage, reported, state);
                if self.is_known_bad(handle, storage) {
                    return Some(handle);
                }
                let here = self.is_stored_on(handle, storage) && !self.is_corrupt(handle, storage);
                match state {
                    ReplicaState::Finalized if !here => self.add_stored(handle, storage),
                    ReplicaState::Finalized => self.after_replica_change(handle),
                    _ => {}
                }
            }
            Verdict::Stored => {
                let handle = handle?;
                self.stored_reported(handle, storage, hint);
            }
            Verdict::Ignored => {}
        }
        handle
    }

    fn stored_reported(&mut self, handle: BlockHandle, storage: StorageHandle, hint: Option<DatanodeHandle>) {
        if self.is_excess(handle, storage) {
            // Still there though its deletion was ordered: the order was lost, or is under way.
            let block = self.table.row(handle).block();
            self.queue_invalidation(storage, block, self.last_txid);
            return;
        }
        let here = self.is_stored_on(handle, storage) && !self.is_corrupt(handle, storage);
        if here || self.is_known_bad(handle, storage) {
            return;
        }
        self.drop_twin(handle, storage);
        if let Some(hint) = hint {
            let count = self.count_replicas(handle);
            let wanted = usize::from(self.table.row(handle).replication);
            if count.live + 1 > wanted && !self.safe_mode.is_on() {
                self.choose_excess(handle, count.live + 1 - wanted, Some(hint));
            }
        }
        self.add_stored(handle, storage);
    }

    /// A replica moved between two storages of one DataNode: the old place is forgotten.
    fn drop_twin(&mut self, handle: BlockHandle, storage: StorageHandle) {
        let node = self.datanodes.storage(storage).datanode;
        let twin = self
            .storages_of(handle)
            .into_iter()
            .find(|s| *s != storage && self.datanodes.storage(*s).datanode == node && !self.is_corrupt(handle, *s));
        if let Some(twin) = twin {
            self.detach_replica(handle, twin);
        }
    }

    fn judge(&self, handle: Option<BlockHandle>, reported: Block, state: ReplicaState) -> Verdict {
        use ReplicaState::{Finalized, Rbw, Rur, Rwr, Temporary};
        let Some(handle) = handle else { return Verdict::Unknown };
        let row = self.table.row(handle);
        let complete = row.state() == BlockState::Complete;
        let old = reported.generation_stamp != row.generation_stamp;
        match state {
            Finalized if row.state().is_open() => {
                if row.generation_stamp > reported.generation_stamp {
                    Verdict::Corrupt(CorruptReason::GenstampMismatch)
                } else {
                    Verdict::Open
                }
            }
            Finalized if old => Verdict::Corrupt(CorruptReason::GenstampMismatch),
            Finalized if reported.num_bytes != row.num_bytes => Verdict::Corrupt(CorruptReason::SizeMismatch),
            Finalized if complete => Verdict::Stored,
            // Committed: counts as soon as it fits.
            Finalized => Verdict::Open,
            Rbw | Rwr if !complete => Verdict::Open,
            Rbw | Rwr if old => Verdict::Corrupt(CorruptReason::GenstampMismatch),
            // The client closed the file, and this DataNode has not finalized yet.
            Rbw => Verdict::Ignored,
            // It was closed, and lost what was not synced: short, or without its last checksums, and nobody reads it.
            Rwr => Verdict::Corrupt(CorruptReason::InvalidState),
            // A copy that is arriving, or a recovery under way: another report will follow.
            Rur | Temporary => Verdict::Ignored,
        }
    }
}
