//! Replicas a DataNode is to delete, in order. A deletion that follows from an edit is handed out only when that edit is
//! durable: or a crash would leave a file whose blocks are gone.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use surus_types::{Block, BlockId, GenerationStamp, TxId};

#[derive(Clone, Debug, Default)]
pub(super) struct InvalidateQueue {
    entries: VecDeque<(BlockId, GenerationStamp)>,
    /// `(txid, n)`: the entries up to the n-th ever pushed wait for this transaction. Ascending in both.
    gates: VecDeque<(TxId, u64)>,
    pushed: u64,
    /// Those among the entries that are corrupt: a report of one says nothing. With the newest stamp that was found so.
    bad: BTreeMap<BlockId, GenerationStamp>,
}

impl InvalidateQueue {
    pub fn push(&mut self, block: Block, gate: TxId) {
        self.entries.push_back((block.id, block.generation_stamp));
        self.pushed += 1;
        match self.gates.back_mut() {
            // A later entry never waits less than an earlier one: the order is kept, and txids only grow.
            Some(last) if last.0 >= gate => last.1 = self.pushed,
            _ => self.gates.push_back((gate, self.pushed)),
        }
    }

    /// The same for a replica that is corrupt.
    pub fn push_bad(&mut self, block: Block, gate: TxId) {
        self.push(block, gate);
        let stamp = self.bad.entry(block.id).or_default();
        *stamp = block.generation_stamp.max(*stamp);
    }

    /// Whether this replica, corrupt, waits here; one with a newer stamp is another.
    pub fn is_bad(&self, block: Block) -> bool {
        self.bad.get(&block.id).is_some_and(|stamp| block.generation_stamp <= *stamp)
    }

    /// At most `limit` replicas whose transactions are durable.
    pub fn take(&mut self, limit: usize, durable: TxId) -> Vec<Block> {
        let mut taken = Vec::new();
        while taken.len() < limit {
            let Some((gate, last)) = self.gates.front().copied() else { break };
            if gate > durable {
                break;
            }
            let first = self.pushed - self.entries.len() as u64;
            if first >= last {
                self.gates.pop_front();
                continue;
            }
            let Some((id, generation_stamp)) = self.entries.pop_front() else { break };
            self.bad.remove(&id);
            taken.push(Block { id, generation_stamp, num_bytes: 0 });
        }
        taken
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.gates.clear();
        self.bad.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_waits_for_its_transaction() {
        let mut queue = InvalidateQueue::default();
        let block = |id| Block { id: BlockId(id), ..Block::default() };
        queue.push(block(1), TxId(0));
        queue.push(block(2), TxId(7));
        queue.push(block(3), TxId(0));
        queue.push(block(4), TxId(9));
        let ids = |taken: Vec<Block>| taken.iter().map(|b| b.id.0).collect::<Vec<_>>();
        assert_eq!(ids(queue.take(10, TxId(6))), [1]);
        assert_eq!(ids(queue.take(1, TxId(8))), [2]);
        assert_eq!(ids(queue.take(10, TxId(8))), [3]);
        assert_eq!(ids(queue.take(10, TxId(9))), [4]);
        assert_eq!(queue.len(), 0);
        queue.push_bad(block(5), TxId(0));
        assert!(queue.is_bad(block(5)) && !queue.is_bad(block(4)));
        assert!(!queue.is_bad(Block { generation_stamp: GenerationStamp(1), ..block(5) }), "written since");
        assert_eq!(ids(queue.take(10, TxId(9))), [5]);
        assert!(!queue.is_bad(block(5)));
    }
}
