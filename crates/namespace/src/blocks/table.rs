//! The block table: one 48-byte row for each block, in fixed pages behind `Arc`, and the map from block id to row.
//! Rows are named by 32-bit handles; a freed handle is given out again, so nothing may keep one past `remove`.

use super::under_construction::PendingTruncate;
use crate::id_map::IdMap;
use crate::tree::Paged;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use surus_types::{Block, BlockId, GenerationStamp, InodeId};

/// A block's row in the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BlockHandle(pub u32);

impl From<u32> for BlockHandle {
    fn from(index: u32) -> Self {
        BlockHandle(index)
    }
}

impl From<BlockHandle> for u32 {
    fn from(handle: BlockHandle) -> u32 {
        handle.0
    }
}

/// How far a block has come. Source: `HdfsServerConstants.BlockUCState`, Hadoop 3.5.0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum BlockState {
    /// Length and stamp are final and enough replicas are known, or the file was closed.
    Complete = 1,
    /// The client has said the final length; the DataNodes have not reported enough replicas.
    Committed = 2,
    UnderConstruction = 3,
    /// DataNodes are agreeing on the length.
    UnderRecovery = 4,
}

impl BlockState {
    pub fn is_complete(self) -> bool {
        self == Self::Complete
    }
    /// Whether the length may still change: under construction or under recovery.
    pub fn is_open(self) -> bool {
        matches!(self, Self::UnderConstruction | Self::UnderRecovery)
    }
    /// Hadoop's constant name, as exception texts show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "COMPLETE",
            Self::Committed => "COMMITTED",
            Self::UnderConstruction => "UNDER_CONSTRUCTION",
            Self::UnderRecovery => "UNDER_RECOVERY",
        }
    }
}

/// No replica in this place of a row.
pub(super) const NO_STORAGE: u32 = u32::MAX;
/// Replicas a row holds itself; more go to the side map of `replicas.rs`.
pub(super) const INLINE_REPLICAS: usize = 3;

/// Row flag: the block has at least the minimum number of live replicas.
pub(super) const FLAG_SAFE: u8 = 1;
/// Row flag: more replicas are in the side map.
pub(super) const FLAG_OVERFLOW: u8 = 2;
/// Row flag: some replica is in the map of corrupt ones.
pub(super) const FLAG_CORRUPT: u8 = 4;
/// Row flag: some replica is in the map of excess ones.
pub(super) const FLAG_EXCESS: u8 = 8;
/// Row flags: priority in the low-redundancy queues plus one, 0: not queued.
pub(super) const PRIORITY_SHIFT: u8 = 4;
const PRIORITY_MASK: u8 = 0x70;
/// Row flag: a block group, the block of an erasure-coded file. Its id is negative, but so are those of some blocks from before
/// Hadoop 2, which are ordinary ones.
pub(super) const FLAG_GROUP: u8 = 0x80;

/// One block. What the edit log knows (id, stamp, length, owner, replication, whether open) and where its replicas are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub id: BlockId,
    pub generation_stamp: GenerationStamp,
    pub num_bytes: u64,
    pub owner: InodeId,
    pub replicas: [u32; INLINE_REPLICAS],
    pub replication: u16,
    state: u8,
    pub flags: u8,
}

impl Row {
    const FREE: Row = Row {
        id: BlockId(0),
        generation_stamp: GenerationStamp(0),
        num_bytes: 0,
        owner: InodeId(0),
        replicas: [NO_STORAGE; INLINE_REPLICAS],
        replication: 0,
        state: 0,
        flags: 0,
    };

    pub fn block(&self) -> Block {
        Block { id: self.id, generation_stamp: self.generation_stamp, num_bytes: self.num_bytes }
    }
    pub fn state(&self) -> BlockState {
        match self.state {
            1 => BlockState::Complete,
            2 => BlockState::Committed,
            4 => BlockState::UnderRecovery,
            _ => BlockState::UnderConstruction,
        }
    }
    pub fn set_state(&mut self, state: BlockState) {
        self.state = state as u8;
    }
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
    pub fn set(&mut self, flag: u8, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }
    pub fn is_group(&self) -> bool {
        self.has(FLAG_GROUP)
    }
    /// Priority in the low-redundancy queues.
    pub fn priority(&self) -> Option<usize> {
        usize::from((self.flags & PRIORITY_MASK) >> PRIORITY_SHIFT).checked_sub(1)
    }
    pub fn set_priority(&mut self, priority: Option<usize>) {
        let coded = priority.map_or(0, |p| p as u8 + 1);
        self.flags = (self.flags & !PRIORITY_MASK) | (coded << PRIORITY_SHIFT);
    }
}

impl Default for Row {
    fn default() -> Self {
        Row::FREE
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct BlockTable {
    /// Those given out so far, free ones among them.
    rows: Paged<Row>,
    free: Vec<u32>,
    ids: IdMap,
}

/// The rows as they were when a checkpoint began.
#[derive(Clone, Default)]
pub struct FrozenBlocks {
    rows: Paged<Row>,
    truncates: BTreeMap<BlockHandle, PendingTruncate>,
}

impl FrozenBlocks {
    pub fn block(&self, handle: BlockHandle) -> Block {
        self.row(handle).block()
    }
    /// The inode the block belongs to.
    pub fn owner(&self, handle: BlockHandle) -> InodeId {
        self.row(handle).owner
    }
    pub fn replication(&self, handle: BlockHandle) -> u16 {
        self.row(handle).replication
    }
    /// The truncate that waits for its end at the block.
    pub fn pending_truncate(&self, handle: BlockHandle) -> Option<&PendingTruncate> {
        self.truncates.get(&handle)
    }

    fn row(&self, handle: BlockHandle) -> &Row {
        self.rows.get(handle.0)
    }
}

impl BlockTable {
    /// Clones the page pointers, not the pages.
    pub fn freeze(&self, truncates: BTreeMap<BlockHandle, PendingTruncate>) -> FrozenBlocks {
        FrozenBlocks { rows: self.rows.clone(), truncates }
    }

    /// Adds a block. `None`: the id is taken, or the table is full.
    pub fn insert(&mut self, block: Block, owner: InodeId, replication: u16, state: BlockState) -> Option<BlockHandle> {
        let index = self.free.last().copied().unwrap_or_else(|| self.rows.len());
        if index == NO_STORAGE || !self.ids.insert(block.id.0 as u64, index) {
            return None;
        }
        let row = Row {
            id: block.id,
            generation_stamp: block.generation_stamp,
            num_bytes: block.num_bytes,
            owner,
            replication,
            state: state as u8,
            ..Row::FREE
        };
        match self.free.pop() {
            Some(index) => *self.rows.get_mut(index) = row,
            None => _ = self.rows.push(row),
        }
        Some(BlockHandle(index))
    }

    /// Frees the row. The handle must be live.
    pub fn remove(&mut self, handle: BlockHandle) {
        let row = self.row_mut(handle);
        assert!(row.state != 0, "block handle {} freed twice", handle.0);
        let id = row.id;
        *row = Row::FREE;
        self.ids.remove(id.0 as u64);
        self.free.push(handle.0);
    }

    pub fn find(&self, id: BlockId) -> Option<BlockHandle> {
        self.ids.get(id.0 as u64).map(BlockHandle)
    }

    pub fn row(&self, handle: BlockHandle) -> &Row {
        self.rows.get(handle.0)
    }

    pub fn row_mut(&mut self, handle: BlockHandle) -> &mut Row {
        self.rows.get_mut(handle.0)
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Every live handle from `start` on, in table order.
    pub fn handles_from(&self, start: u32) -> impl Iterator<Item = BlockHandle> + '_ {
        (start..self.rows.len()).map(BlockHandle).filter(|h| self.row(*h).state != 0)
    }

    /// Bytes of the rows.
    pub fn row_bytes(&self) -> usize {
        self.rows.bytes() + self.free.capacity() * 4
    }

    /// Bytes of the map from block id to row.
    pub fn id_bytes(&self) -> usize {
        self.ids.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(id: i64) -> Block {
        Block { id: BlockId(id), generation_stamp: GenerationStamp(1001), num_bytes: 7 }
    }

    #[test]
    fn handles_are_reused_and_ids_are_unique() {
        let mut table = BlockTable::default();
        let a = table.insert(block(1), InodeId(1), 3, BlockState::Complete).unwrap();
        assert!(table.insert(block(1), InodeId(1), 3, BlockState::Complete).is_none());
        let b = table.insert(block(-16), InodeId(2), 1, BlockState::UnderConstruction).unwrap();
        assert_eq!(table.find(BlockId(-16)), Some(b));
        table.remove(a);
        assert_eq!(table.find(BlockId(1)), None);
        assert_eq!(table.insert(block(2), InodeId(3), 1, BlockState::Committed), Some(a));
        assert_eq!(table.len(), 2);
        assert_eq!(table.handles_from(0).count(), 2);
    }

    #[test]
    fn a_row_is_48_bytes_and_flags_do_not_touch_the_priority() {
        assert_eq!(size_of::<Row>(), 48);
        let mut row = Row::FREE;
        row.set_priority(Some(4));
        row.set(FLAG_SAFE | FLAG_EXCESS | FLAG_GROUP, true);
        assert_eq!(row.priority(), Some(4));
        row.set_priority(None);
        assert!(row.priority().is_none() && row.flags == FLAG_SAFE | FLAG_EXCESS | FLAG_GROUP);
    }

    #[test]
    fn sequential_ids_cost_about_51_bytes_a_block() {
        let mut table = BlockTable::default();
        for id in 0..100_000 {
            table.insert(block(1_073_741_825 + id), InodeId(1), 3, BlockState::Complete).unwrap();
        }
        let each = (table.row_bytes() + table.id_bytes()) / 100_000;
        assert!(each <= 52, "{each}");
    }
}
