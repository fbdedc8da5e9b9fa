//! The two encodings of a storage's replicas in a full block report.
//! Source: `BlockListAsLongs.java`, Hadoop 3.5.0.

use crate::store::ReplicaState;
use surus_types::Block;

/// Replicas of one storage, encoded as they come.
pub(super) enum BlockList {
    /// For each: zigzag id, length, generation stamp, state, all varints.
    Buffer { bytes: Vec<u8>, count: u64 },
    /// For a NameNode without the capability: longs, the finalized ones first.
    Longs { finalized: Vec<u64>, open: Vec<u64> },
}

impl BlockList {
    pub fn new(as_buffer: bool) -> Self {
        match as_buffer {
            true => BlockList::Buffer { bytes: Vec::new(), count: 0 },
            false => BlockList::Longs { finalized: Vec::new(), open: Vec::new() },
        }
    }

    pub fn add(&mut self, block: &Block, state: ReplicaState) {
        let id = block.id.0;
        match self {
            BlockList::Buffer { bytes, count } => {
                let zigzag = ((id << 1) ^ (id >> 63)) as u64;
                for number in [zigzag, block.num_bytes, block.generation_stamp.0, state as u64] {
                    prost::encoding::encode_varint(number, bytes);
                }
                *count += 1;
            }
            BlockList::Longs { finalized, open } => {
                let longs = [id as u64, block.num_bytes, block.generation_stamp.0];
                match state {
                    ReplicaState::Finalized => finalized.extend(longs),
                    state => {
                        open.extend(longs);
                        open.push(state as u64);
                    }
                }
            }
        }
    }

    pub fn len(&self) -> u64 {
        match self {
            BlockList::Buffer { count, .. } => *count,
            BlockList::Longs { finalized, open } => (finalized.len() / 3 + open.len() / 4) as u64,
        }
    }

    /// The list of longs: both counts, the finalized, a delimiter of -1, the open ones.
    pub fn longs(finalized: &[u64], open: &[u64]) -> Vec<u64> {
        let mut longs = Vec::with_capacity(5 + finalized.len() + open.len());
        longs.extend([(finalized.len() / 3) as u64, (open.len() / 4) as u64]);
        longs.extend_from_slice(finalized);
        longs.extend([u64::MAX; 3]);
        longs.extend_from_slice(open);
        longs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_types::{BlockId, GenerationStamp};

    fn block(id: i64, stamp: u64, num_bytes: u64) -> Block {
        Block { id: BlockId(id), generation_stamp: GenerationStamp(stamp), num_bytes }
    }

    #[test]
    fn the_bytes_of_a_recorded_report() {
        let mut list = BlockList::new(true);
        list.add(&block(1_073_741_825, 1003, 71_000), ReplicaState::Finalized);
        list.add(&block(1_073_741_826, 1002, 1000), ReplicaState::Finalized);
        let BlockList::Buffer { bytes, count } = list else { panic!("a buffer") };
        let recorded = b"\x82\x80\x80\x80\x08\xd8\xaa\x04\xeb\x07\x00\x84\x80\x80\x80\x08\xe8\x07\xea\x07\x00";
        assert_eq!((&bytes[..], count), (&recorded[..], 2));
    }

    #[test]
    fn the_old_form() {
        let mut list = BlockList::new(false);
        list.add(&block(7, 3, 10), ReplicaState::Rbw);
        list.add(&block(5, 2, 9), ReplicaState::Finalized);
        let BlockList::Longs { finalized, open } = list else { panic!("longs") };
        let minus = u64::MAX;
        assert_eq!(BlockList::longs(&finalized, &open), [1, 1, 5, 9, 2, minus, minus, minus, 7, 10, 3, 1]);
    }
}
