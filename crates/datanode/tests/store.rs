//! The block store on temporary directories: writing by the chunk rules, append, recovery, restart.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use surus_datanode::checksum::{Checksum, ChecksumType};
use surus_datanode::store::{
    Batch, BlockPool, BlockStore, PoolVersion, ReplicaState, ReplicaWriter, StorageLocation, StoreConfig, meta,
};
use surus_disk::RealDisk;
use surus_types::{Block, BlockId, GenerationStamp, StorageType};

pub fn store_on(dirs: &[&Path]) -> std::io::Result<BlockStore> {
    let locations =
        dirs.iter().map(|d| StorageLocation { path: d.to_path_buf(), storage_type: StorageType::Disk }).collect();
    let config = StoreConfig {
        locations,
        failed_volumes_tolerated: 0,
        reserved_bytes: 0,
        directory_mode: 0o700,
        roll_back: false,
        stop_timeout: Duration::from_secs(5),
    };
    BlockStore::open(Arc::new(RealDisk), config)
}

fn pool_of(store: &BlockStore) -> Arc<BlockPool> {
    let version = PoolVersion { namespace_id: 7, pool_id: "BP-1".into(), ctime: 1, layout_version: -57 };
    store.open_pool(&version, "CID-1").unwrap()
}

fn block(stamp: u64) -> Block {
    Block { id: BlockId(1_073_741_825), generation_stamp: GenerationStamp(stamp), num_bytes: 1 << 20 }
}

fn crc(kind: ChecksumType) -> Checksum {
    Checksum::new(kind, 512).unwrap()
}

fn bytes(from: u64, to: u64) -> Vec<u8> {
    (from..to).map(|i| ((i * 31 + 7) % 251) as u8).collect()
}

/// Sends one packet as a client would: checksums of the packet's own chunks.
fn send(writer: &mut ReplicaWriter, from: u64, to: u64) -> std::io::Result<()> {
    let data = bytes(from, to);
    let mut sums = Vec::new();
    writer.checksum().append(&data, &mut sums);
    let mut batch = Batch::default();
    writer.write_packet(&mut batch, from, &data, &sums)?;
    writer.write_batch(&mut batch)
}

/// The replica has exactly the first `length` bytes, and all its checksums are right.
fn assert_content(pool: &BlockPool, length: u64) {
    let reader = pool.open(&block(0)).unwrap();
    let mut content = vec![0; length as usize];
    reader.data.read_exact_at(&mut content, 0).unwrap();
    assert_eq!(content, bytes(0, length));
    assert_eq!(reader.data.len().unwrap(), length);
    let meta_file = reader.meta.unwrap();
    assert_eq!(meta::verified_length(&*reader.data, &*meta_file).unwrap().0, length);
    let checksum = meta::read_header(&*meta_file).unwrap();
    assert_eq!(meta_file.len().unwrap(), meta::HEADER_BYTES + length.div_ceil(512) * checksum.checksum_size() as u64);
}

#[test]
fn partial_chunks_overlaps_and_repeats() {
    for kind in [ChecksumType::Crc32c, ChecksumType::Crc32, ChecksumType::Null] {
        let dir = tempfile::tempdir().unwrap();
        let store = store_on(&[dir.path()]).unwrap();
        let pool = pool_of(&store);
        let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc(kind)).unwrap();
        send(&mut writer, 0, 1024).unwrap();
        send(&mut writer, 1024, 1300).unwrap();
        // After hflush a client sends the last chunk again from its beginning.
        send(&mut writer, 1024, 2000).unwrap();
        // After append it fills the chunk up, alone.
        send(&mut writer, 2000, 2048).unwrap();
        send(&mut writer, 2048, 2049).unwrap();
        // A repeat after recovery, of less and of more than is there.
        send(&mut writer, 1024, 2048).unwrap();
        send(&mut writer, 512, 5000).unwrap();
        assert!(send(&mut writer, 5001, 5002).unwrap_err().to_string().contains("Expecting packet starting at 5000"));
        assert!(send(&mut writer, 4999, 6000).is_err());
        assert_eq!(pool.lookup(block(0).id).unwrap().state, ReplicaState::Rbw);
        let done = pool.finalize(&mut writer, true).unwrap();
        assert_eq!((done.num_bytes, done.generation_stamp), (5000, GenerationStamp(1001)));
        assert_content(&pool, 5000);
        let in_place = dir.path().join("current/BP-1/current/finalized/subdir0/subdir0/blk_1073741825_1001.meta");
        assert!(in_place.exists());
    }
}

#[test]
fn an_abandoned_writer_leaves_what_a_restart_verifies() {
    let dir = tempfile::tempdir().unwrap();
    {
        let store = store_on(&[dir.path()]).unwrap();
        let pool = pool_of(&store);
        let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc(ChecksumType::Crc32c)).unwrap();
        send(&mut writer, 0, 1300).unwrap();
        drop(writer);
        let mut copy = pool
            .create_temporary(&Block { id: BlockId(9), ..block(1) }, StorageType::Disk, "", crc(ChecksumType::Crc32c))
            .unwrap();
        send(&mut copy, 0, 10).unwrap();
        drop(copy);
        assert!(pool.lookup(BlockId(9)).is_none());
    }
    // Killed between data and checksum of the last chunk: 100 more bytes, the old checksum.
    let data = dir.path().join("current/BP-1/current/rbw/blk_1073741825");
    let mut content = std::fs::read(&data).unwrap();
    content.extend_from_slice(&bytes(1300, 1400));
    std::fs::write(&data, content).unwrap();
    let store = store_on(&[dir.path()]).unwrap();
    let pool = pool_of(&store);
    let info = pool.lookup(block(0).id).unwrap();
    assert_eq!((info.state, info.block.num_bytes, info.visible_length), (ReplicaState::Rwr, 1300, None));
    // Block recovery cuts to 1000 and finalizes under the recovery's stamp.
    let recovery = GenerationStamp(1005);
    let found = pool.init_recovery(&block(1001), recovery).unwrap().unwrap();
    assert_eq!((found.original_state, found.block.num_bytes), (ReplicaState::Rwr, 1300));
    let again = pool.init_recovery(&block(1001), GenerationStamp(1004)).unwrap_err();
    assert!(again.message.starts_with("rur.getRecoveryID() >= recoveryId = 1004"), "{again}");
    let (done, _) = pool.update_under_recovery(&block(1001), recovery, BlockId(0), 1000).unwrap();
    assert_eq!((done.generation_stamp, done.num_bytes), (recovery, 1000));
    assert_content(&pool, 1000);
    assert!(pool.init_recovery(&Block { id: BlockId(5), ..block(1) }, recovery).unwrap().is_none());
}

#[test]
fn append_and_the_recoveries_of_a_pipeline() {
    let dir = tempfile::tempdir().unwrap();
    let store = store_on(&[dir.path()]).unwrap();
    let pool = pool_of(&store);
    let kind = crc(ChecksumType::Crc32c);
    let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", kind).unwrap();
    send(&mut writer, 0, 1000).unwrap();
    pool.finalize(&mut writer, false).unwrap();
    drop(writer);
    assert!(pool.append(&block(1001), GenerationStamp(1002), 999).is_err());
    let mut writer = pool.append(&block(1001), GenerationStamp(1002), 1000).unwrap();
    send(&mut writer, 1000, 1024).unwrap();
    send(&mut writer, 1024, 3000).unwrap();
    writer.open_replica().set_acked(2000);
    drop(writer);
    // Streaming recovery cuts off what was not acknowledged.
    assert!(pool.recover_rbw(&block(1002), GenerationStamp(1003), 2500, 3000).is_err());
    let mut writer = pool.recover_rbw(&block(1002), GenerationStamp(1003), 2000, 3000).unwrap();
    assert_eq!(writer.length(), 2000);
    send(&mut writer, 1536, 2600).unwrap();
    writer.open_replica().set_acked(2600);
    drop(writer);
    let (done, _) = pool.recover_close(&block(1003), GenerationStamp(1004), 2600, false).unwrap();
    assert_eq!((done.num_bytes, done.generation_stamp), (2600, GenerationStamp(1004)));
    assert_content(&pool, 2600);
    // A replica that is complete already only gets the stamp.
    pool.recover_close(&block(1004), GenerationStamp(1005), 2600, false).unwrap();
    assert_content(&pool, 2600);
    let used = store.volumes()[0].report().dfs_used;
    assert_eq!(used, 2600 + 7 + 6 * 4);
}

#[test]
fn a_second_process_and_a_foreign_directory_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _first = store_on(&[dir.path()]).unwrap();
    let error = store_on(&[dir.path()]).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("Cannot lock storage"), "{error}");
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("current")).unwrap();
    std::fs::write(other.path().join("current/VERSION"), "layoutVersion=x\n").unwrap();
    let error = store_on(&[other.path()]).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("inconsistent state") && error.contains("storageType missing"), "{error}");
}

#[test]
fn a_full_volume_is_an_error_and_two_take_turns() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = store_on(&[a.path(), b.path()]).unwrap();
    let pool = pool_of(&store);
    let huge = Block { num_bytes: u64::MAX / 2, ..block(1001) };
    let error = pool.create_rbw(&huge, StorageType::Disk, "", crc(ChecksumType::Null)).map(|_| ()).unwrap_err();
    assert!(error.message.starts_with("Out of space: The volume with the most available space"), "{error}");
    for id in 1..=4 {
        let one = Block { id: BlockId(id), ..block(1001) };
        let mut writer = pool.create_rbw(&one, StorageType::Disk, "", crc(ChecksumType::Null)).unwrap();
        pool.finalize(&mut writer, false).unwrap();
    }
    let count = |v: u16| {
        let mut n = 0;
        pool.report(v, |_, _| n += 1);
        n
    };
    assert_eq!((count(0), count(1)), (2, 2));
}
