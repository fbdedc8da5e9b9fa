//! Which blocks a DataNode holds, for the balancer. Source: `BlockManager.getBlocksWithLocations`, Hadoop 3.5.0.

use super::{BlockHandle, BlockManager, DatanodeHandle, StorageHandle};
use alloc::vec::Vec;
use surus_types::StorageType;

/// What the balancer asks for; sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub struct BlocksWanted {
    pub size: u64,
    pub min_block_size: u64,
    /// Only blocks on storages of this type.
    pub storage_type: Option<StorageType>,
}

impl BlockManager {
    /// Complete blocks of a DataNode, from a place of chance on, until their sizes add up to what is wanted; each with the
    /// storages of its good replicas.
    pub fn blocks_of(
        &self,
        node: DatanodeHandle,
        wanted: BlocksWanted,
        random: u64,
    ) -> Vec<(BlockHandle, Vec<StorageHandle>)> {
        let of_type = |storage: &&StorageHandle| {
            wanted.storage_type.is_none_or(|kind| self.datanodes.storage(**storage).report.storage_type == kind)
        };
        let storages: Vec<StorageHandle> =
            self.datanodes.datanode(node).storages.iter().filter(of_type).copied().collect();
        let middle = (random % (self.table.len() as u64 + 1)) as u32;
        let from = |start: u32, end: u32| {
            let sets = storages.iter().map(|s| &self.datanodes.storage(*s).blocks);
            sets.flat_map(move |set| set.iter_from(start).take_while(move |handle| *handle < end))
        };
        let (mut found, mut size) = (Vec::new(), 0);
        for handle in from(middle, u32::MAX).chain(from(0, middle)).map(BlockHandle) {
            if size >= wanted.size {
                break;
            }
            let row = self.table.row(handle);
            let block = row.block();
            if !row.state().is_complete() || block.num_bytes < wanted.min_block_size {
                continue;
            }
            let good = |s: &StorageHandle| !self.is_known_bad(handle, *s);
            let replicas: Vec<StorageHandle> = self.storages_of(handle).into_iter().filter(good).collect();
            if !replicas.is_empty() {
                size += block.num_bytes;
                found.push((handle, replicas));
            }
        }
        found
    }
}
