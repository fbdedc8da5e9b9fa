//! Numbers for `dfsadmin -report`, `fsck`, `/jmx` and the web UI.

use super::table::FLAG_CORRUPT;
use super::{BlockHandle, BlockManager, CorruptReason, DatanodeHandle, StorageHandle, redundancy};
use alloc::vec::Vec;
use surus_types::{AdminState, FsStats, InodeId};

/// Which DataNodes a report is about. Numbers are those of `DatanodeReportTypeProto`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum DatanodeReportType {
    All = 1,
    Live = 2,
    Dead = 3,
    Decommissioning = 4,
    EnteringMaintenance = 5,
    InMaintenance = 6,
}

impl DatanodeReportType {
    pub fn from_proto(number: i32) -> Option<Self> {
        Some(match number {
            1 => Self::All,
            2 => Self::Live,
            3 => Self::Dead,
            4 => Self::Decommissioning,
            5 => Self::EnteringMaintenance,
            6 => Self::InMaintenance,
            _ => return None,
        })
    }
}

/// Counts of blocks, under the names that `/jmx` gives them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockStats {
    pub total: u64,
    pub complete: u64,
    pub under_construction: u64,
    /// With fewer replicas than wanted, missing ones among them.
    pub low_redundancy: u64,
    /// No live replica.
    pub missing: u64,
    pub missing_replication_one: u64,
    /// With at least one corrupt replica.
    pub corrupt: u64,
    pub highest_priority: u64,
    pub pending_reconstruction: u64,
    /// Replicas to be copied by a DataNode that has not been told yet.
    pub scheduled_replication: u64,
    pub pending_deletion: u64,
    pub excess: u64,
    pub in_future: u64,
    pub bytes_in_future: u64,
    pub pending_timed_out: u64,
}

/// Capacity and load of all live DataNodes, bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Capacity {
    pub total: u64,
    pub used: u64,
    pub non_dfs_used: u64,
    pub remaining: u64,
    pub block_pool_used: u64,
    pub cache_capacity: u64,
    pub cache_used: u64,
    /// Transfer threads.
    pub load: u64,
    pub failed_volumes: u64,
}

impl BlockManager {
    pub fn stats(&self) -> BlockStats {
        let nodes = || self.datanodes.iter();
        BlockStats {
            total: self.num_blocks() as u64,
            complete: self.num_complete,
            under_construction: self.open.len() as u64,
            low_redundancy: self.low.total() as u64,
            missing: self.low.len(redundancy::CORRUPT) as u64,
            missing_replication_one: self.low.missing_replication_one,
            corrupt: self.corrupt.len() as u64,
            highest_priority: self.low.len(redundancy::HIGHEST_PRIORITY) as u64,
            pending_reconstruction: self.pending.len() as u64,
            scheduled_replication: nodes().map(|d| d.transfers.len() as u64).sum(),
            pending_deletion: nodes().map(|d| d.invalidate.len() as u64).sum(),
            excess: self.excess.values().map(|list| list.len() as u64).sum(),
            in_future: self.in_future.blocks,
            bytes_in_future: self.in_future.bytes,
            pending_timed_out: self.num_pending_timed_out,
        }
    }

    pub fn capacity(&self) -> Capacity {
        let mut sum = Capacity::default();
        for datanode in self.datanodes.iter().filter(|d| d.alive) {
            let stats = &datanode.stats;
            sum.total += stats.capacity;
            sum.used += stats.dfs_used;
            sum.non_dfs_used += stats.non_dfs_used;
            sum.remaining += stats.remaining;
            sum.block_pool_used += stats.block_pool_used;
            sum.cache_capacity += stats.cache_capacity;
            sum.cache_used += stats.cache_used;
            sum.load += u64::from(stats.xceiver_count);
            sum.failed_volumes += u64::from(stats.failed_volumes);
        }
        sum
    }

    /// The answer to `getFsStats`.
    pub fn fs_stats(&self) -> FsStats {
        let (capacity, blocks) = (self.capacity(), self.stats());
        FsStats {
            capacity: capacity.total,
            used: capacity.used,
            remaining: capacity.remaining,
            under_replicated: blocks.low_redundancy,
            corrupt_blocks: blocks.corrupt,
            missing_blocks: blocks.missing,
            missing_replication_one_blocks: blocks.missing_replication_one,
            blocks_in_future: blocks.bytes_in_future,
            pending_deletion_blocks: blocks.pending_deletion,
        }
    }

    /// The DataNodes that a report of this type shows, in order of registration.
    pub fn datanode_report(&self, kind: DatanodeReportType) -> Vec<DatanodeHandle> {
        let wanted = |handle: &DatanodeHandle| {
            let node = self.datanodes.datanode(*handle);
            match kind {
                DatanodeReportType::All => true,
                DatanodeReportType::Live => node.alive,
                DatanodeReportType::Dead => !node.alive,
                DatanodeReportType::Decommissioning => {
                    node.alive && node.admin_state == AdminState::DecommissionInProgress
                }
                DatanodeReportType::EnteringMaintenance => {
                    node.alive && node.admin_state == AdminState::EnteringMaintenance
                }
                DatanodeReportType::InMaintenance => node.admin_state == AdminState::InMaintenance,
            }
        };
        self.datanodes.handles().filter(wanted).collect()
    }

    /// DataNodes that live and have been silent for longer than the stale interval.
    pub fn num_stale(&self, now_monotonic_ms: u64) -> u32 {
        let stale = |h: &DatanodeHandle| {
            self.datanodes.datanode(*h).alive
                && self.datanodes.is_stale(*h, now_monotonic_ms, self.config.stale_interval_ms)
        };
        self.datanodes.handles().filter(stale).count() as u32
    }

    /// Blocks without a good replica, by table order from `cursor` on, with the files that own them:
    /// what `listCorruptFileBlocks` walks. At most `limit`; the second value is where to go on, if there are more.
    pub fn missing_blocks(&self, cursor: u32, limit: usize) -> (Vec<(BlockHandle, InodeId)>, Option<u32>) {
        let queue = self.low.queue(redundancy::CORRUPT);
        let mut found = Vec::new();
        let mut from = cursor;
        while let Some(next) = queue.next(from) {
            if found.len() == limit {
                return (found, Some(next));
            }
            found.push((BlockHandle(next), self.table.row(BlockHandle(next)).owner));
            from = next + 1;
        }
        (found, None)
    }

    /// Blocks that wait for more replicas, and those without any: the queues as `metaSave` lists them.
    pub fn low_redundancy_queues(&self) -> (Vec<BlockHandle>, Vec<BlockHandle>) {
        let queue = |priority| self.low.queue(priority).iter().map(BlockHandle);
        let waiting = (0..redundancy::CORRUPT).flat_map(queue).collect();
        (waiting, queue(redundancy::CORRUPT).collect())
    }

    /// Blocks of which replicas are on their way: how many, and since when by the monotonic clock, milliseconds.
    pub fn pending_blocks(&self) -> Vec<(BlockHandle, usize, u64)> {
        self.pending.iter().map(|(handle, p)| (*handle, p.targets.len(), p.since_monotonic_ms)).collect()
    }

    /// Replicas that wait to be deleted, and from how many DataNodes.
    pub fn pending_deletions(&self) -> (usize, usize) {
        let queues = || self.datanodes.iter().map(|node| node.invalidate.len()).filter(|len| *len > 0);
        (queues().sum(), queues().count())
    }

    /// Replicas found corrupt, and why.
    pub fn corrupt_replicas(&self) -> impl Iterator<Item = (BlockHandle, StorageHandle, CorruptReason)> + '_ {
        self.corrupt.iter().flat_map(|(handle, list)| list.iter().map(|(storage, why)| (*handle, *storage, *why)))
    }

    /// Whether any replica of the block is known to be corrupt.
    pub fn has_corrupt_replica(&self, handle: BlockHandle) -> bool {
        self.table.row(handle).has(FLAG_CORRUPT)
    }

    /// Whether replicas are known and every one of them is corrupt.
    pub fn is_all_corrupt(&self, handle: BlockHandle) -> bool {
        let count = self.count_replicas(handle);
        count.corrupt > 0 && self.usable_replicas(handle) == 0 && count.excess == 0
    }
}
