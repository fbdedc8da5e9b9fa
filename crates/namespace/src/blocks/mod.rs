//! Block management: which blocks exist, where their replicas are, which DataNodes live, what is to be copied or deleted.
//! What the edit log knows of a block (id, stamp, length, owner, replication) changes through `apply` only; all the rest
//! is soft state that changes through `observe`, is never logged, and is learned anew from reports after a restart.

mod balancer;
mod commands;
mod config;
mod datanodes;
mod decommission;
mod full_report;
mod handle_set;
mod invalidate;
mod observe;
mod placement;
mod redundancy;
mod replicas;
mod report;
mod safe_mode;
mod stats;
mod table;
mod under_construction;

pub use balancer::BlocksWanted;
pub use commands::{DatanodeCommand, RecoveringBlock, Transfer};
pub use config::BlockConfig;
pub use datanodes::{DEFAULT_RACK, Datanode, DatanodeHandle, Datanodes, Storage, StorageHandle};
pub use full_report::ReportProgress;
pub use observe::{BadBlock, Heartbeat, Now, Observation, Observed};
pub(crate) use placement::{Random, TargetRequest};
pub use replicas::{CorruptReason, ReplicaCount};
pub use report::{InFuture, ReceivedDeleted, ReportedBlock};
pub use safe_mode::{SafeMode, SafeModeInfo};
pub use stats::{BlockStats, DatanodeReportType};
pub use surus_types::ReplicaState;
pub use table::{BlockHandle, BlockState, FrozenBlocks};
pub use under_construction::{BlockRecovery, ExpectedReplica, OpenBlock, PendingTruncate};

use crate::plan::WaitFor;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use invalidate::InvalidateQueue;
use redundancy::{LowRedundancy, Pending};
use surus_types::{Block, BlockId, GenerationStamp, InodeId, TxId};
use table::BlockTable;

/// The counters from which ids are given out. Part of the fsimage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockIds {
    pub generation_stamp: GenerationStamp,
    /// Stamps of blocks from before Hadoop 2; never grows here.
    pub generation_stamp_v1: GenerationStamp,
    /// Stamps below are of such blocks. Kept for Hadoop; 0 where there never were any.
    pub generation_stamp_v1_limit: GenerationStamp,
    pub last_allocated_block_id: BlockId,
    pub last_allocated_striped_block_id: BlockId,
}

impl Default for BlockIds {
    fn default() -> Self {
        BlockIds {
            generation_stamp: GenerationStamp::LAST_RESERVED,
            generation_stamp_v1: GenerationStamp::LAST_RESERVED,
            generation_stamp_v1_limit: GenerationStamp(0),
            last_allocated_block_id: BlockId::LAST_RESERVED,
            last_allocated_striped_block_id: BlockId(i64::MIN),
        }
    }
}

/// What the table knows of one block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockInfo {
    pub block: Block,
    pub state: BlockState,
    pub owner: InodeId,
    pub replication: u16,
    /// Of an erasure-coded file: a block group, which is kept and not followed.
    pub is_group: bool,
}

/// Everything about blocks and DataNodes.
#[derive(Debug, Default)]
pub struct BlockManager {
    pub config: BlockConfig,
    pub ids: BlockIds,
    pub datanodes: Datanodes,
    pub safe_mode: SafeMode,
    table: BlockTable,
    /// Replicas beyond those a row holds.
    more_replicas: BTreeMap<BlockHandle, Vec<StorageHandle>>,
    corrupt: BTreeMap<BlockHandle, Vec<(StorageHandle, CorruptReason)>>,
    excess: BTreeMap<BlockHandle, Vec<StorageHandle>>,
    /// Blocks that are not complete: where their replicas are expected, how their recovery stands.
    open: BTreeMap<BlockHandle, OpenBlock>,
    /// Those of them whose recovery was begun.
    recovering: BTreeSet<BlockHandle>,
    /// Blocks that copy-on-truncate reads from, and whether everything else has given them up. They stay until the copy is there.
    copy_sources: BTreeMap<BlockHandle, bool>,
    low: LowRedundancy,
    pending: BTreeMap<BlockHandle, Pending>,
    /// Storages of dead DataNodes whose replicas are still to be taken out, in slices.
    departed: Vec<StorageHandle>,
    /// Where the walk over all blocks stands that fills the queues after safe mode.
    rescan_from: Option<u32>,
    /// Complete blocks, and those of them with enough replicas for safe mode.
    num_complete: u64,
    num_safe: u64,
    in_future: report::InFuture,
    /// Number of the last full block report that was begun.
    last_report: u64,
    /// The clock as of the last event.
    now_monotonic_ms: u64,
    /// Since when the NameNode has been out of safe mode.
    serving_since: Option<u64>,
    /// When the counts of replicas on their way were rolled last.
    rolled_monotonic_ms: u64,
    num_pending_timed_out: u64,
    /// The last transaction applied: what deletions wait for.
    last_txid: TxId,
    /// `activate` was called: replay is over, replicas and redundancy count.
    active: bool,
    woken: Vec<WaitFor>,
}

impl BlockManager {
    /// Adds a block of a file, `is_group` where that is erasure-coded (`FileLayout::is_erasure_coded`). While replaying, a block that is merely committed counts as complete: its file went on.
    ///
    /// `None`: the id is taken already (a damaged log or image), or there are 2^32 blocks.
    pub fn insert(
        &mut self,
        block: Block,
        owner: InodeId,
        replication: u16,
        state: BlockState,
        is_group: bool,
    ) -> Option<BlockHandle> {
        let handle = self.table.insert(block, owner, replication, state)?;
        if is_group {
            self.table.row_mut(handle).set(table::FLAG_GROUP, true);
        }
        match state {
            BlockState::Complete => self.num_complete += 1,
            _ => {
                self.open.insert(handle, OpenBlock::default());
            }
        }
        if self.active {
            self.update_redundancy(handle);
        } else if is_group {
            self.update_safe(handle);
        }
        Some(handle)
    }

    /// Forgets a block and has its replicas deleted once `txid` is durable; one that is being copied from, when that has ended.
    pub fn remove(&mut self, handle: BlockHandle, txid: TxId) {
        self.last_txid = self.last_txid.max(txid);
        if let Some(is_given_up) = self.copy_sources.get_mut(&handle) {
            *is_given_up = true;
            return;
        }
        let block = self.table.row(handle).block();
        let mut storages = self.storages_of(handle);
        if let Some(open) = self.open.get(&handle) {
            for expected in &open.expected {
                if !storages.contains(&expected.storage) {
                    storages.push(expected.storage);
                }
            }
        }
        for storage in storages {
            self.detach_replica(handle, storage);
            self.queue_invalidation(storage, block, txid);
        }
        self.forget_queues(handle);
        let row = self.table.row(handle);
        self.num_safe -= u64::from(row.has(table::FLAG_SAFE));
        self.num_complete -= u64::from(row.state().is_complete());
        self.recovering.remove(&handle);
        if let Some(open) = self.open.remove(&handle) {
            // A call that waits for it learns that the file is gone.
            self.wake(WaitFor::MinReplication(block.id));
            self.end_copy(&open);
        }
        self.table.remove(handle);
    }

    /// A block is open no more: what it was copied from may go.
    fn end_copy(&mut self, open: &OpenBlock) {
        if let Some(source) = open.copy_of
            && self.copy_sources.remove(&source) == Some(true)
        {
            self.remove(source, self.last_txid);
        }
    }

    pub fn find(&self, id: BlockId) -> Option<BlockHandle> {
        self.table.find(id)
    }

    pub fn info(&self, handle: BlockHandle) -> BlockInfo {
        let row = self.table.row(handle);
        BlockInfo {
            block: row.block(),
            state: row.state(),
            owner: row.owner,
            replication: row.replication,
            is_group: row.is_group(),
        }
    }

    pub fn block(&self, handle: BlockHandle) -> Block {
        self.table.row(handle).block()
    }

    pub fn set_owner(&mut self, handle: BlockHandle, owner: InodeId) {
        self.table.row_mut(handle).owner = owner;
    }

    /// Changes how many replicas are wanted; copies and deletions follow in the background.
    pub fn set_replication(&mut self, handle: BlockHandle, replication: u16) {
        self.table.row_mut(handle).replication = replication;
        if self.active {
            self.update_redundancy(handle);
        }
    }

    /// The blocks as they are now, for a checkpoint.
    pub fn freeze(&self) -> FrozenBlocks {
        self.table.freeze(self.pending_truncates())
    }

    /// Blocks in the table.
    pub fn num_blocks(&self) -> usize {
        self.table.len()
    }

    /// The next block id to give out, for a plan. It is taken when `OP_ALLOCATE_BLOCK_ID` is applied.
    pub fn next_block_id(&self) -> BlockId {
        let mut id = self.ids.last_allocated_block_id.0.max(BlockId::LAST_RESERVED.0) + 1;
        while self.table.find(BlockId(id)).is_some() {
            id += 1;
        }
        BlockId(id)
    }

    /// The next generation stamp to give out, for a plan. It is taken when `OP_SET_GENSTAMP_V2` is applied.
    pub fn next_generation_stamp(&self) -> GenerationStamp {
        GenerationStamp(self.ids.generation_stamp.0 + 1)
    }

    /// Bytes by table, about.
    pub fn table_bytes(&self) -> [(&'static str, usize); 3] {
        let sets = self.datanodes.storage_handles().map(|s| self.datanodes.storage(s).blocks.memory()).sum();
        [("Blocks", self.table.row_bytes()), ("BlockIds", self.table.id_bytes()), ("Replicas", sets)]
    }

    /// Replay is over: from now on replicas count and queues fill.
    pub fn activate(&mut self) {
        self.active = true;
        self.rescan_from = Some(0);
    }

    /// Called by `apply` before each operation: deletions that follow from it wait for this transaction.
    pub fn set_last_txid(&mut self, txid: TxId) {
        self.last_txid = txid;
    }

    /// What parked calls may now go on. Empties the list.
    pub fn take_woken(&mut self) -> Vec<WaitFor> {
        let mut woken = core::mem::take(&mut self.woken);
        woken.sort_unstable();
        woken.dedup();
        woken
    }

    fn wake(&mut self, event: WaitFor) {
        // Nobody waits while the log is replayed.
        if self.active && self.woken.last() != Some(&event) {
            self.woken.push(event);
        }
    }

    /// A replica that is corrupt is deleted, and not believed until then.
    fn queue_bad(&mut self, storage: StorageHandle, block: Block) {
        let gate = self.last_txid;
        if let Some(queue) = self.invalidations(storage) {
            queue.push_bad(block, gate);
        }
    }

    fn queue_invalidation(&mut self, storage: StorageHandle, block: Block, gate: TxId) {
        if let Some(queue) = self.invalidations(storage) {
            queue.push(block, gate);
        }
    }

    /// What the storage's DataNode is to delete; nothing where it is dead.
    fn invalidations(&mut self, storage: StorageHandle) -> Option<&mut InvalidateQueue> {
        let datanode = self.datanodes.storage(storage).datanode;
        let datanode = self.datanodes.datanode_mut(datanode);
        datanode.alive.then_some(&mut datanode.invalidate)
    }
}
