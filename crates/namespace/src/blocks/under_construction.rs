//! Blocks that are being written or recovered: where replicas are expected, how a recovery stands, and the steps from
//! under construction to complete and back. Source of the states: `BlockUnderConstructionFeature.java`, Hadoop 3.5.0.

use super::datanodes::RecoveryWork;

use super::{BlockHandle, BlockManager, BlockState, CorruptReason, DatanodeHandle, StorageHandle};
use crate::plan::WaitFor;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use surus_types::{Block, BlockId, GenerationStamp, InodeId, ReplicaState, TxId};

/// A replica that a client writes, or that a DataNode reported of an open block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExpectedReplica {
    pub storage: StorageHandle,
    pub state: ReplicaState,
    pub generation_stamp: GenerationStamp,
    /// As last reported, bytes.
    pub num_bytes: u64,
}

/// A recovery that DataNodes were, or are to be, asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockRecovery {
    /// The generation stamp the block will have.
    pub id: GenerationStamp,
    pub truncate_to: Option<Block>,
    /// The DataNode that leads it. `None`: no DataNode was there to be asked.
    pub primary: Option<DatanodeHandle>,
    pub tried: Vec<DatanodeHandle>,
    pub started_monotonic_ms: u64,
}

/// A truncate inside a block that has not ended, as an image keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingTruncate {
    /// What the file's last block becomes.
    pub to: Block,
    /// Copy-on-truncate: the block that the bytes come from.
    pub source: Option<Block>,
}

/// The soft part of a block that is not complete.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OpenBlock {
    pub expected: Vec<ExpectedReplica>,
    pub recovery: Option<BlockRecovery>,
    /// Copy-on-truncate: the block whose first bytes this one gets, as a snapshot, or the state before an upgrade, has it whole.
    pub copy_of: Option<BlockHandle>,
    /// This NameNode chose where the replicas go, and has followed them since. Not so after a restart: then a DataNode
    /// that has not reported yet may hold bytes that a writer was promised.
    pub is_followed: bool,
}

impl BlockManager {
    /// The soft part of a block that is not complete.
    pub fn open_block(&self, handle: BlockHandle) -> Option<&OpenBlock> {
        self.open.get(&handle)
    }

    /// Storages on which a replica of an open block is expected, or of a complete block known.
    pub fn expected_storages(&self, handle: BlockHandle) -> Vec<StorageHandle> {
        match self.open.get(&handle) {
            Some(open) if !open.expected.is_empty() => open.expected.iter().map(|e| e.storage).collect(),
            _ => self.storages_of(handle),
        }
    }

    /// Whether enough finalized replicas of exactly this form (stamp and length) were reported for a close.
    pub fn has_min_replication(&self, handle: BlockHandle, form: Block) -> bool {
        let row = self.table.row(handle);
        if row.state().is_complete() {
            return true;
        }
        let mut good = 0;
        let open = self.open.get(&handle);
        self.for_each_replica(handle, |storage| {
            let known = open.and_then(|o| o.expected.iter().find(|e| e.storage == storage));
            let fits =
                known.is_none_or(|e| e.generation_stamp == form.generation_stamp && e.num_bytes == form.num_bytes);
            good += usize::from(fits && self.datanodes.is_live(storage) && !self.is_corrupt(handle, storage));
        });
        good >= usize::from(self.config.min_replication)
    }

    /// Sets stamp and length of a block that stays open (fsync, updatePipeline, replay).
    pub fn set_open_form(&mut self, handle: BlockHandle, form: Block) {
        let row = self.table.row_mut(handle);
        row.generation_stamp = form.generation_stamp;
        row.num_bytes = form.num_bytes;
    }

    /// The client said the block's final form. Complete as soon as enough replicas are known; at once while replaying,
    /// since the file went on. Source: `BlockManager.commitBlock`, Hadoop 3.5.0.
    pub fn commit(&mut self, handle: BlockHandle, form: Block) {
        self.set_open_form(handle, form);
        if self.table.row(handle).state().is_complete() {
            return;
        }
        self.table.row_mut(handle).set_state(BlockState::Committed);
        if !self.active {
            self.finish_block(handle);
            return;
        }
        self.drop_misfits(handle, form);
        self.after_replica_change(handle);
    }

    /// The file is closed, or went on to another block in the log: the block is complete whatever is known of replicas.
    pub fn complete(&mut self, handle: BlockHandle, form: Block) {
        self.set_open_form(handle, form);
        if self.table.row(handle).state().is_complete() {
            return;
        }
        if self.active {
            self.drop_misfits(handle, form);
        }
        self.finish_block(handle);
    }

    /// A complete block is written to again (append, truncate). Its replicas are where the writer will go.
    pub fn reopen(&mut self, handle: BlockHandle) {
        let row = self.table.row(handle);
        if !row.state().is_complete() {
            return;
        }
        let (block, mut open) = (row.block(), OpenBlock::default());
        self.for_each_replica(handle, |storage| {
            if self.datanodes.is_live(storage) && !self.is_corrupt(handle, storage) {
                open.expected.push(ExpectedReplica {
                    storage,
                    state: ReplicaState::Finalized,
                    generation_stamp: block.generation_stamp,
                    num_bytes: block.num_bytes,
                });
            }
        });
        self.num_complete -= 1;
        self.table.row_mut(handle).set_state(BlockState::UnderConstruction);
        self.update_safe(handle);
        self.forget_queues(handle);
        // A copy that is made now would be one of a replica that is being written.
        for replica in &open.expected {
            self.cancel_copies_from(handle, replica.storage);
            self.touch_replica(handle, replica.storage);
        }
        self.open.insert(handle, open);
    }

    /// Where a client writes now. Replicas with an older stamp count no more.
    pub(crate) fn expect_replicas(
        &mut self,
        id: BlockId,
        generation_stamp: GenerationStamp,
        storages: &[StorageHandle],
    ) {
        let Some(handle) = self.table.find(id) else { return };
        let Some(open) = self.open.get_mut(&handle) else { return };
        open.is_followed = true;
        let reported = core::mem::take(&mut open.expected);
        open.expected = storages
            .iter()
            .map(|storage| {
                let known = reported.iter().find(|e| e.storage == *storage && e.generation_stamp == generation_stamp);
                known.copied().unwrap_or(ExpectedReplica {
                    storage: *storage,
                    state: ReplicaState::Rbw,
                    generation_stamp,
                    num_bytes: 0,
                })
            })
            .collect();
        let finalized: Vec<StorageHandle> =
            open.expected.iter().filter(|e| e.state == ReplicaState::Finalized).map(|e| e.storage).collect();
        for storage in self.storages_of(handle) {
            if !finalized.contains(&storage) {
                self.detach_replica(handle, storage);
            }
        }
        for storage in storages {
            self.touch_replica(handle, *storage);
            let datanode = self.datanodes.storage(*storage).datanode;
            self.datanodes.datanode_mut(datanode).schedule();
        }
    }

    /// A replica of an open block was reported.
    pub(super) fn expect_reported(
        &mut self,
        handle: BlockHandle,
        storage: StorageHandle,
        reported: Block,
        state: ReplicaState,
    ) {
        let entry = ExpectedReplica {
            storage,
            state,
            generation_stamp: reported.generation_stamp,
            num_bytes: reported.num_bytes,
        };
        self.touch_replica(handle, storage);
        let open = self.open.entry(handle).or_default();
        match open.expected.iter_mut().find(|e| e.storage == storage) {
            Some(known) => *known = entry,
            None => open.expected.push(entry),
        }
    }

    /// Whether it is certain enough that no DataNode holds anything of an open block that none has reported: this
    /// NameNode followed it from the start, or has been out of safe mode for some time and every live DataNode reported.
    pub fn is_nowhere(&self, handle: BlockHandle, now_monotonic_ms: u64) -> bool {
        if !self.expected_storages(handle).is_empty() {
            return false;
        }
        if self.open.get(&handle).is_some_and(|open| open.is_followed) {
            return true;
        }
        let wait = self.config.unreported_wait_ms;
        let long_enough = self.serving_since.is_some_and(|since| now_monotonic_ms.saturating_sub(since) >= wait);
        let has_reported = |storage: &StorageHandle| self.datanodes.storage(*storage).block_reports > 0;
        let mut live = self.datanodes.iter().filter(|node| node.alive).peekable();
        long_enough
            && live.peek().is_some()
            && live.all(|node| !node.storages.is_empty() && node.storages.iter().all(has_reported))
    }

    /// Files whose block recovery was begun so long ago that it has to be begun anew.
    pub fn overdue_recoveries(&self, now_monotonic_ms: u64) -> impl Iterator<Item = InodeId> + '_ {
        let began_by = now_monotonic_ms.checked_sub(self.config.block_recovery_timeout_ms);
        self.recovering.iter().filter_map(move |handle| {
            let recovery = self.open.get(handle)?.recovery.as_ref()?;
            (recovery.started_monotonic_ms <= began_by?).then(|| self.table.row(*handle).owner)
        })
    }

    /// The block is to be cut: whoever recovers it next brings it to `to`.
    pub(crate) fn prepare_truncate(&mut self, handle: BlockHandle, to: Block) {
        self.recovering.insert(handle);
        self.table.row_mut(handle).set_state(BlockState::UnderRecovery);
        self.open.entry(handle).or_default().recovery = Some(BlockRecovery {
            id: to.generation_stamp,
            truncate_to: Some(to),
            primary: None,
            tried: Vec::new(),
            started_monotonic_ms: 0,
        });
    }

    /// As [`prepare_truncate`](Self::prepare_truncate), with the replicas of `source` to begin from.
    pub(crate) fn prepare_copy(&mut self, handle: BlockHandle, source: BlockHandle, to: Block) {
        self.prepare_truncate(handle, to);
        self.open.entry(handle).or_default().copy_of = Some(source);
        self.copy_sources.insert(source, false);
    }

    /// Truncates that have not ended, by the block that is cut.
    pub(super) fn pending_truncates(&self) -> BTreeMap<BlockHandle, PendingTruncate> {
        let pending = |handle: &BlockHandle| {
            let open = self.open.get(handle)?;
            let to = open.recovery.as_ref()?.truncate_to?;
            Some((*handle, PendingTruncate { to, source: open.copy_of.map(|source| self.block(source)) }))
        };
        self.recovering.iter().filter_map(pending).collect()
    }

    /// DataNodes are to bring the block's replicas to one length. The work is handed out once `gate` is durable.
    pub(crate) fn start_recovery(
        &mut self,
        id: BlockId,
        recovery_id: GenerationStamp,
        truncate_to: Option<Block>,
        now_monotonic_ms: u64,
        gate: TxId,
    ) {
        let Some(handle) = self.table.find(id) else { return };
        self.recovering.insert(handle);
        self.table.row_mut(handle).set_state(BlockState::UnderRecovery);
        let open = self.open.entry(handle).or_default();
        let old = open.recovery.take();
        if let Some(primary) = old.as_ref().and_then(|r| r.primary) {
            // Not to be begun any more, if it was not yet.
            let is_this = |work: &RecoveryWork| work.block.id == id || work.truncate_to.is_some_and(|to| to.id == id);
            self.datanodes.datanode_mut(primary).recoveries.retain(|work| !is_this(work));
        }
        let mut tried = old.map_or_else(Vec::new, |r| r.tried);
        let source = open.copy_of;
        let mut candidates: Vec<StorageHandle> = open.expected.iter().map(|e| e.storage).collect();
        if let Some(source) = source {
            candidates = self.storages_of(source);
        }
        candidates.retain(|s| self.datanodes.is_live(*s));
        let node_of = |s: &StorageHandle| self.datanodes.storage(*s).datanode;
        if candidates.iter().all(|s| tried.contains(&node_of(s))) {
            tried.clear();
        }
        let primary = candidates
            .iter()
            .map(node_of)
            .filter(|d| !tried.contains(d))
            .max_by_key(|d| self.datanodes.datanode(*d).stats.last_update_monotonic_ms);
        tried.extend(primary);
        let interval = self.config.stale_interval_ms;
        let fresh: Vec<StorageHandle> = candidates
            .iter()
            .copied()
            .filter(|s| !self.datanodes.is_stale(node_of(s), now_monotonic_ms, interval))
            .collect();
        let storages = if fresh.len() > 1 { fresh } else { candidates };
        self.open.entry(handle).or_default().recovery = Some(BlockRecovery {
            id: recovery_id,
            truncate_to,
            primary,
            tried,
            started_monotonic_ms: now_monotonic_ms,
        });
        if let Some(primary) = primary {
            let block = self.table.row(source.unwrap_or(handle)).block();
            self.datanodes.datanode_mut(primary).recoveries.push_back(RecoveryWork {
                block,
                recovery_id,
                truncate_to,
                storages,
                gate,
            });
        }
    }

    /// The replicas that a finished recovery left are as good as reported.
    pub(crate) fn recovered(&mut self, id: BlockId, storages: &[StorageHandle]) {
        let Some(handle) = self.table.find(id) else { return };
        let block = self.table.row(handle).block();
        for storage in self.storages_of(handle) {
            if !storages.contains(&storage) {
                self.detach_replica(handle, storage);
            }
        }
        for storage in storages {
            if self.open.contains_key(&handle) {
                self.expect_reported(handle, *storage, block, ReplicaState::Finalized);
            }
            self.add_stored(handle, *storage);
        }
        self.wake(WaitFor::LeaseRecovery(self.table.row(handle).owner));
    }

    /// Tells parked calls that a file's recovery is over (or that its lease is gone).
    pub fn wake_lease_recovery(&mut self, file: InodeId) {
        self.wake(WaitFor::LeaseRecovery(file));
    }

    /// From committed, or from whatever state in replay, to complete.
    pub(super) fn finish_block(&mut self, handle: BlockHandle) {
        let open = self.open.remove(&handle).unwrap_or_default();
        self.recovering.remove(&handle);
        self.table.row_mut(handle).set_state(BlockState::Complete);
        self.num_complete += 1;
        self.end_copy(&open);
        if !self.active {
            // Nobody reports block groups.
            if self.table.row(handle).is_group() {
                self.update_safe(handle);
            }
            return;
        }
        // Replicas still on their way are not missing yet.
        let coming: Vec<StorageHandle> = open
            .expected
            .iter()
            .map(|e| e.storage)
            .filter(|s| self.datanodes.is_live(*s) && !self.is_stored_on(handle, *s))
            .collect();
        self.expect_pending(handle, &coming);
        self.update_redundancy(handle);
    }

    /// Forgets replicas with an older stamp (they will be reported again, as corrupt, if they are still there), and marks
    /// those finalized with another length.
    fn drop_misfits(&mut self, handle: BlockHandle, form: Block) {
        let Some(open) = self.open.get_mut(&handle) else { return };
        let (mut old, mut wrong_length) = (Vec::new(), Vec::new());
        open.expected.retain(|e| {
            let list = match e.state {
                _ if e.generation_stamp != form.generation_stamp => &mut old,
                ReplicaState::Finalized if e.num_bytes != form.num_bytes => &mut wrong_length,
                _ => return true,
            };
            list.push(*e);
            false
        });
        for replica in old {
            self.detach_replica(handle, replica.storage);
        }
        for replica in wrong_length {
            let reported = Block { num_bytes: replica.num_bytes, ..form };
            self.mark_corrupt(handle, replica.storage, CorruptReason::SizeMismatch, reported);
        }
    }
}
