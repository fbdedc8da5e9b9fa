//! From inode id to handle: hash tables of bare handles (the id is read from the inode table), cut into shards so that
//! growing one never stops the NameNode for long.

use super::handles::InodeHandle;
use super::inode::InodeRecord;
use super::pages::Paged;
use alloc::vec::Vec;
use hashbrown::HashTable;

const SHARDS: usize = 64;

pub(super) struct IdIndex {
    shards: Vec<HashTable<u32>>,
}

impl Default for IdIndex {
    fn default() -> Self {
        IdIndex { shards: (0..SHARDS).map(|_| HashTable::new()).collect() }
    }
}

/// Fibonacci hashing: ids are sequential, so any odd factor spreads them well, and no seed is needed: clients do not
/// choose ids.
fn hash(id: u64) -> u64 {
    let mixed = id.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 32
}

impl IdIndex {
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(HashTable::len).sum()
    }

    /// Makes room for so many more ids at once.
    pub(super) fn reserve(&mut self, count: usize, inodes: &Paged<InodeRecord>) {
        for shard in &mut self.shards {
            shard.reserve(count / SHARDS + 1, |&at| hash(inodes.get(at).id));
        }
    }

    pub(super) fn find(&self, id: u64, inodes: &Paged<InodeRecord>) -> Option<InodeHandle> {
        self.shards[Self::shard(id)].find(hash(id), |&at| inodes.get(at).id == id).map(|&at| InodeHandle(at))
    }

    pub(super) fn insert(&mut self, id: u64, handle: u32, inodes: &Paged<InodeRecord>) {
        self.shards[Self::shard(id)].insert_unique(hash(id), handle, |&at| hash(inodes.get(at).id));
    }

    pub(super) fn remove(&mut self, id: u64, inodes: &Paged<InodeRecord>) {
        if let Ok(entry) = self.shards[Self::shard(id)].find_entry(hash(id), |&at| inodes.get(at).id == id) {
            entry.remove();
        }
    }

    fn shard(id: u64) -> usize {
        (id as usize / 16) % SHARDS
    }
}
