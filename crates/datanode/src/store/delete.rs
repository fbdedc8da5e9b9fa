//! Deleting replicas: out of the map at once, off the disk later. Until then nobody may make a replica with the same id, whose
//! files have the same names.

use super::pool::BlockPool;
use super::replica::{Kind, Replica};
use super::volume::Volume;
use parking_lot::{Condvar, Mutex};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use surus_types::{Block, BlockId, HdfsError, ReplicaState};

/// Blocks of which files may still lie on a disk though the map lacks them.
#[derive(Default)]
pub(super) struct Deletions {
    running: Mutex<HashSet<BlockId>>,
    ended: Condvar,
}

impl Deletions {
    pub fn is_running(&self, id: BlockId) -> bool {
        self.running.lock().contains(&id)
    }
}

/// A replica that is out of the map and still on disk. Its id is free again when this is dropped: after the NameNode
/// was told, so that it does not hear of the deletion behind the arrival of a new copy.
pub(crate) struct Detached {
    pool: Arc<BlockPool>,
    block: Block,
    replica: Replica,
}

impl Detached {
    pub fn volume(&self) -> u16 {
        self.replica.volume
    }

    /// Removes the files and gives their room back.
    pub fn delete(&self) -> Block {
        let Detached { pool, block, replica } = self;
        if let Kind::Rbw(open) | Kind::Temporary(open) = replica.kind.original() {
            // Its writer would go on filling a deleted file.
            let _turn = open.take_over(None, pool.stop_timeout);
        }
        let meta_bytes = pool.meta_bytes(block.id, replica);
        pool.dispose(block.id, replica);
        if let Ok((volume, _)) = pool.volume(replica.volume) {
            volume.sub_used(block.num_bytes + meta_bytes);
            volume.num_blocks.fetch_sub(1, Ordering::Relaxed);
        }
        *block
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        self.pool.deletions.running.lock().remove(&self.block.id);
        self.pool.deletions.ended.notify_all();
    }
}

impl BlockPool {
    /// Deletes the map's entry of each block whose generation stamp matches. Returns what is to be removed from disk.
    pub(crate) fn detach(self: &Arc<Self>, blocks: &[Block]) -> Vec<Detached> {
        let mut map = self.map.lock();
        let mut gone = Vec::new();
        for block in blocks {
            match map.get(&block.id) {
                Some(r) if r.generation_stamp == block.generation_stamp => {
                    if let Some(replica) = map.remove(&block.id) {
                        self.deletions.running.lock().insert(block.id);
                        gone.push(Detached { pool: self.clone(), block: replica.block(block.id), replica });
                    }
                }
                Some(r) => tracing::warn!("not deleted: {block} is here with generation stamp {}", r.generation_stamp),
                None => tracing::debug!("not deleted: {block} is not here"),
            }
        }
        gone
    }

    /// Forgets replicas whose generation stamps match and removes their files, which waits for the disk.
    pub fn delete(self: &Arc<Self>, blocks: &[Block]) {
        for replica in self.detach(blocks) {
            replica.delete();
        }
    }

    /// Waits until no file of a deleted replica with this id is left.
    ///
    /// # Errors
    /// It took longer than a writer may take to end.
    pub(super) fn wait_for_deletion(&self, block: &Block) -> Result<(), HdfsError> {
        let deadline = Instant::now() + self.stop_timeout;
        let mut running = self.deletions.running.lock();
        while running.contains(&block.id) {
            if self.deletions.ended.wait_until(&mut running, deadline).timed_out() {
                return Err(self.is_being_deleted(block));
            }
        }
        Ok(())
    }

    pub(super) fn is_being_deleted(&self, block: &Block) -> HdfsError {
        HdfsError::io(format!("Block {} is being deleted and thus cannot be created.", self.extended(block)))
    }

    fn meta_bytes(&self, id: BlockId, replica: &Replica) -> u64 {
        let (Ok((volume, _)), Ok((_, meta))) = (self.volume(replica.volume), self.paths(id, replica)) else { return 0 };
        volume.disk.metadata(&meta).map_or(0, |m| m.len)
    }

    /// Forgets a finalized replica whose block file somebody removed. Its volume, when it was so.
    /// Source: `FsDatasetImpl.invalidateMissingBlock`, Hadoop 3.5.0.
    pub(crate) fn forget_missing(&self, block: &Block) -> Option<(Block, Arc<Volume>)> {
        let replica = self.map.lock().get(&block.id).filter(|r| r.state() == ReplicaState::Finalized).cloned()?;
        let (volume, dirs) = self.volume(replica.volume).ok()?;
        let (data, _) = self.paths(block.id, &replica).ok()?;
        // With the directories gone too, it is the disk that is missing.
        if !volume.disk.exists(&dirs.finalized).ok()? || volume.disk.exists(&data).ok()? {
            return None;
        }
        let mut map = self.map.lock();
        let present = map.get(&block.id)?;
        if present.state() != ReplicaState::Finalized || present.generation_stamp != replica.generation_stamp {
            return None;
        }
        map.remove(&block.id);
        volume.sub_used(replica.num_bytes);
        volume.num_blocks.fetch_sub(1, Ordering::Relaxed);
        Some((replica.block(block.id), volume.clone()))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::checksum::{Checksum, ChecksumType};
    use crate::store::{BlockStore, PoolVersion, StorageLocation, StoreConfig};
    use std::time::Duration;
    use surus_disk::MemDisk;
    use surus_types::{GenerationStamp, StorageType};

    pub fn pool() -> (BlockStore, Arc<BlockPool>) {
        let config = StoreConfig {
            locations: vec![StorageLocation { path: "/data".into(), storage_type: StorageType::Disk }],
            failed_volumes_tolerated: 0,
            reserved_bytes: 0,
            directory_mode: 0o700,
            roll_back: false,
            stop_timeout: Duration::from_millis(500),
        };
        let store = BlockStore::open(Arc::new(MemDisk::new()), config).unwrap();
        let version = PoolVersion { namespace_id: 7, pool_id: "BP-1".into(), ctime: 1, layout_version: -57 };
        let pool = store.open_pool(&version, "CID-1").unwrap();
        (store, pool)
    }

    fn copy(pool: &Arc<BlockPool>, block: &Block) -> Result<(), HdfsError> {
        let checksum = Checksum::new(ChecksumType::Crc32c, 512).unwrap();
        let mut writer = pool.create_temporary(block, StorageType::Disk, "", checksum)?;
        pool.finalize(&mut writer, false).map(|_| ())
    }

    #[test]
    fn a_new_copy_outlives_the_deletion_of_the_old_one() {
        let (_store, pool) = pool();
        let block = Block { id: BlockId(77), generation_stamp: GenerationStamp(1001), num_bytes: 10 };
        copy(&pool, &block).unwrap();
        let gone = pool.detach(&[block]);
        assert!(pool.lookup(block.id).is_none());
        std::thread::scope(|scope| {
            let again = scope.spawn(|| copy(&pool, &block));
            // Time enough for a copy that does not wait.
            std::thread::sleep(Duration::from_millis(100));
            for replica in gone {
                replica.delete();
            }
            again.join().unwrap().unwrap();
        });
        let reader = pool.open(&block).expect("the new copy's files were deleted");
        assert!(reader.meta.is_some());
    }

    #[test]
    fn a_deletion_that_hangs_refuses_a_new_copy() {
        let (_store, pool) = pool();
        let block = Block { id: BlockId(77), generation_stamp: GenerationStamp(1001), num_bytes: 10 };
        copy(&pool, &block).unwrap();
        let _gone = pool.detach(&[block]);
        let error = copy(&pool, &block).unwrap_err();
        assert_eq!(error.message, "Block BP-1:blk_77_1001 is being deleted and thus cannot be created.");
    }

    #[test]
    fn a_replica_deleted_while_it_is_closed_stays_deleted() {
        let (_store, pool) = pool();
        let block = Block { id: BlockId(77), generation_stamp: GenerationStamp(1001), num_bytes: 10 };
        let checksum = Checksum::new(ChecksumType::Crc32c, 512).unwrap();
        let mut writer = pool.create_rbw(&block, StorageType::Disk, "", checksum).unwrap();
        let gone = pool.detach(&[block]);
        assert!(pool.finalize(&mut writer, false).is_err());
        drop(writer);
        for replica in gone {
            replica.delete();
        }
        assert!(pool.lookup(block.id).is_none());
        copy(&pool, &block).unwrap();
    }
}
