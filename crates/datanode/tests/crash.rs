//! Power cuts and failing disks, on the in-memory disk: bytes acknowledged by hsync are there after a crash at any moment,
//! names and stamps that the NameNode was told of too.

use crate::peer::{content, crc32c};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use surus_datanode::store::{
    Batch, BlockPool, BlockStore, PoolVersion, ReplicaState, ReplicaWriter, StorageLocation, StoreConfig, meta,
};
use surus_disk::{CrashMode, Disk, Fault, FaultKind, MemDisk};
use surus_types::{Block, BlockId, GenerationStamp, StorageType};

pub const ID: BlockId = BlockId(1_073_741_825);
const COPY: BlockId = BlockId(1_073_741_999);
/// Crash clones taken at each change of the disk.
const CLONES: u64 = 6;

pub fn open(disk: &MemDisk) -> (BlockStore, Arc<BlockPool>) {
    let store = open_store(disk, &["/data/1"], 0);
    let pool = open_pool(&store).unwrap();
    (store, pool)
}

fn open_pool(store: &BlockStore) -> std::io::Result<Arc<BlockPool>> {
    let version = PoolVersion { namespace_id: 7, pool_id: "BP-1".into(), ctime: 1, layout_version: -57 };
    store.open_pool(&version, "CID-1")
}

fn open_store(disk: &MemDisk, dirs: &[&str], failed_volumes_tolerated: i32) -> BlockStore {
    let location = |dir: &&str| StorageLocation { path: dir.into(), storage_type: StorageType::Disk };
    let config = StoreConfig {
        locations: dirs.iter().map(location).collect(),
        failed_volumes_tolerated,
        reserved_bytes: 0,
        directory_mode: 0o700,
        roll_back: false,
        stop_timeout: Duration::from_secs(1),
    };
    BlockStore::open(Arc::new(disk.clone()), config).unwrap()
}

pub fn disk() -> MemDisk {
    let disk = MemDisk::new();
    disk.create_dir_all(Path::new("/data")).unwrap();
    disk.sync_dir(Path::new("/"), surus_disk::SyncPoint("test")).unwrap();
    disk
}

pub fn block(stamp: u64) -> Block {
    Block { id: ID, generation_stamp: GenerationStamp(stamp), num_bytes: 1 << 20 }
}

pub fn send(writer: &mut ReplicaWriter, from: u64, to: u64) -> std::io::Result<()> {
    let data = content(from, to);
    let mut sums = Vec::new();
    crc32c().append(&data, &mut sums);
    let mut batch = Batch::default();
    writer.write_packet(&mut batch, from, &data, &sums)?;
    writer.write_batch(&mut batch)
}

/// What must be there after a crash.
#[derive(Clone, Copy, Default, Debug)]
struct Promise {
    /// 0: nothing yet.
    stamp: u64,
    /// Durable bytes, a lower bound.
    bytes: u64,
    /// A closed replica: finalized, and of exactly so many bytes.
    closed: bool,
    /// A copy named `COPY` of this length exists.
    copy: Option<u64>,
}

/// Starts a DataNode on what a crash left and holds it against the promise. `next`: the stamp that may be there already.
fn check(after: &MemDisk, promise: Promise, next: u64, what: &str) {
    let (_store, pool) = open(after);
    if promise.stamp == 0 {
        return;
    }
    let info = pool.lookup(ID).unwrap_or_else(|| panic!("{what}: the replica is gone, {promise:?}"));
    let stamp = info.block.generation_stamp.0;
    assert!(stamp == promise.stamp || stamp == next, "{what}: stamp {stamp}, {promise:?}");
    let length = info.block.num_bytes;
    assert!(length >= promise.bytes, "{what}: {length} bytes, {promise:?}");
    if promise.closed && stamp == promise.stamp {
        assert_eq!((info.state, length), (ReplicaState::Finalized, promise.bytes), "{what}: {promise:?}");
    }
    verify(&pool, ID, length, what);
    if let Some(length) = promise.copy {
        let copy = pool.lookup(COPY).unwrap_or_else(|| panic!("{what}: the copy is gone"));
        assert_eq!((copy.state, copy.block.num_bytes), (ReplicaState::Finalized, length), "{what}");
        verify(&pool, COPY, length, what);
    }
}

pub fn verify(pool: &BlockPool, id: BlockId, length: u64, what: &str) {
    let reader = pool.open(&Block { id, ..block(0) }).unwrap();
    let mut bytes = vec![0; length as usize];
    reader.data.read_exact_at(&mut bytes, 0).unwrap();
    assert!(bytes == content(0, length), "{what}: other bytes");
    let meta_file = reader.meta.unwrap_or_else(|| panic!("{what}: no meta file"));
    assert_eq!(meta::verified_length(&*reader.data, &*meta_file).unwrap().0, length, "{what}");
    if reader.info.state == ReplicaState::Finalized {
        assert_eq!(reader.data.len().unwrap(), length, "{what}: length of the block file");
        let sums = crc32c().checksums_len(length as usize) as u64;
        assert_eq!(meta_file.len().unwrap(), meta::HEADER_BYTES + sums, "{what}: length of the meta file");
    }
}

/// Crashes at every change while `steps` runs, and at its end.
fn crash_everywhere(steps: impl FnOnce(&MemDisk, &Mutex<(Promise, u64)>)) {
    let disk = disk();
    let state = Arc::new(Mutex::new((Promise::default(), 0)));
    let seen = state.clone();
    disk.observe(Some(Box::new(move |disk| {
        let (promise, next) = *seen.lock();
        let calls = disk.calls();
        for seed in 0..CLONES {
            let seed = calls * 1000 + seed;
            check(&disk.crash_clone(CrashMode::Random, seed), promise, next, &format!("call {calls} seed {seed}"));
        }
        check(&disk.crash_clone(CrashMode::Nothing, 0), promise, next, &format!("call {calls}, nothing kept"));
        check(&disk.kill_clone(), promise, next, &format!("call {calls}, killed"));
    })));
    steps(&disk, &state);
    disk.observe(None);
    let (promise, next) = *state.lock();
    check(&disk.crash_clone(CrashMode::Nothing, 0), promise, next, "at the end");
}

fn promise(state: &Mutex<(Promise, u64)>, stamp: u64, bytes: u64, closed: bool) {
    state.lock().0 = Promise { stamp, bytes, closed, copy: None };
}

#[test]
fn hsync_close_append_close() {
    crash_everywhere(|disk, state| {
        let (_store, pool) = open(disk);
        let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 1000).unwrap();
        writer.sync().unwrap();
        promise(state, 1001, 1000, false);
        // The chunk grows by hflushes, and is sent again whole.
        send(&mut writer, 1000, 1010).unwrap();
        send(&mut writer, 512, 1020).unwrap();
        send(&mut writer, 512, 3000).unwrap();
        writer.sync().unwrap();
        promise(state, 1001, 3000, false);
        send(&mut writer, 2560, 3200).unwrap();
        pool.finalize(&mut writer, false).unwrap();
        drop(writer);
        promise(state, 1001, 3200, true);
        state.lock().1 = 1002;
        let mut writer = pool.append(&block(1001), GenerationStamp(1002), 3200).unwrap();
        promise(state, 1002, 3200, false);
        send(&mut writer, 3200, 3300).unwrap();
        pool.finalize(&mut writer, false).unwrap();
        promise(state, 1002, 3300, true);
    });
}

#[test]
fn close_with_sync() {
    crash_everywhere(|disk, state| {
        let (_store, pool) = open(disk);
        let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 700).unwrap();
        pool.finalize(&mut writer, true).unwrap();
        promise(state, 1001, 700, true);
    });
}

#[test]
fn recovery_cuts_a_replica() {
    crash_everywhere(|disk, state| {
        let (_store, pool) = open(disk);
        let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 3000).unwrap();
        writer.sync().unwrap();
        drop(writer);
        promise(state, 1001, 1700, false);
        state.lock().1 = 1005;
        let recovery = GenerationStamp(1005);
        pool.init_recovery(&block(1001), recovery).unwrap().unwrap();
        pool.update_under_recovery(&block(1001), recovery, ID, 1700).unwrap();
        promise(state, 1005, 1700, true);
    });
}

#[test]
fn a_pipeline_recovery_cuts_what_was_not_acknowledged() {
    crash_everywhere(|disk, state| {
        let (_store, pool) = open(disk);
        let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 1700).unwrap();
        writer.sync().unwrap();
        writer.open_replica().set_acked(1700);
        promise(state, 1001, 1700, false);
        send(&mut writer, 1536, 2600).unwrap();
        drop(writer);
        state.lock().1 = 1002;
        let mut writer = pool.recover_rbw(&block(1001), GenerationStamp(1002), 1700, 2600).unwrap();
        promise(state, 1002, 1700, false);
        send(&mut writer, 1700, 1800).unwrap();
        send(&mut writer, 1536, 2048).unwrap();
        drop(writer);
        state.lock().0.bytes = 1700;
    });
}

#[test]
fn copy_on_truncate() {
    crash_everywhere(|disk, state| {
        let (_store, pool) = open(disk);
        let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 3000).unwrap();
        pool.finalize(&mut writer, true).unwrap();
        drop(writer);
        promise(state, 1001, 3000, true);
        let recovery = GenerationStamp(1005);
        pool.init_recovery(&block(1001), recovery).unwrap().unwrap();
        pool.update_under_recovery(&block(1001), recovery, COPY, 1700).unwrap();
        state.lock().0.copy = Some(1700);
    });
}

#[test]
fn a_full_disk_is_an_error_and_the_volume_stays() {
    let disk = disk();
    let (store, pool) = open(&disk);
    let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
    send(&mut writer, 0, 1000).unwrap();
    disk.inject(Fault::all(FaultKind::Write, std::io::ErrorKind::StorageFull));
    assert_eq!(send(&mut writer, 1000, 1024).unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    assert!(!store.check_volume(&store.volumes()[0]));
    disk.clear_faults();
    // What was not acknowledged is sent again.
    send(&mut writer, 1000, 1024).unwrap();
    pool.finalize(&mut writer, false).unwrap();
    verify(&pool, ID, 1024, "after the disk was full");
}

#[test]
fn a_failed_disk_goes_out_of_service() {
    let disk = disk();
    let (store, pool) = open(&disk);
    let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
    disk.inject(Fault::all(FaultKind::AnyChange, std::io::ErrorKind::Other));
    assert!(send(&mut writer, 0, 1000).is_err());
    let volume = store.volumes()[0].clone();
    assert!(store.check_volume(&volume), "taken out now");
    assert!(!store.check_volume(&volume), "only once");
    assert_eq!(store.drop_failed_replicas(), 1);
    assert!(store.too_many_failed());
    assert_eq!(store.failed_volumes().len(), 1);
    let error = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).map(|_| ()).unwrap_err();
    assert_eq!(error.message, "No more available volumes");
}

/// Two threads that saw an error look at the volume at once, and a third tidies up between them.
#[test]
fn checks_of_one_volume_do_not_disturb_each_other() {
    let disk = disk();
    let (store, _pool) = open(&disk);
    let store = Arc::new(store);
    let volume = store.volumes()[0].clone();
    let (inner, within) = (store.clone(), Arc::new(AtomicBool::new(false)));
    disk.observe(Some(Box::new(move |disk| {
        if !within.swap(true, Ordering::SeqCst) {
            let volume = inner.volumes()[0].clone();
            assert!(!inner.check_volume(&volume));
            let _ = disk.remove_file(Path::new("/data/1/current/.surus-probe"));
            within.store(false, Ordering::SeqCst);
        }
    })));
    assert!(!store.check_volume(&volume), "a healthy volume was taken out of service");
    disk.observe(None);
    assert_eq!((store.volumes().len(), store.failed_volumes().len()), (1, 0));
}

#[test]
fn a_failed_write_leaves_nothing_behind_a_recovered_replica() {
    for recovered_by_close in [false, true] {
        let disk = disk();
        let (_store, pool) = open(&disk);
        let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 1024).unwrap();
        // All of the data and no checksums.
        disk.inject(Fault::all(FaultKind::Write, std::io::ErrorKind::Other).below(".meta").times(1));
        assert!(send(&mut writer, 1024, 5000).is_err());
        drop(writer);
        let (stamp, what) = (GenerationStamp(1005), if recovered_by_close { "closed" } else { "recovered" });
        if recovered_by_close {
            pool.recover_close(&block(1001), stamp, 1024, false).unwrap();
        } else {
            pool.init_recovery(&block(1001), stamp).unwrap().unwrap();
            pool.update_under_recovery(&block(1001), stamp, ID, 1024).unwrap();
        }
        verify(&pool, ID, 1024, what);
    }
}

/// Whoever reads a replica while it is being opened for append gets the checksum of its partial chunk.
#[test]
fn append_shows_no_replica_without_its_last_checksum() {
    let disk = disk();
    let (_store, pool) = open(&disk);
    let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
    send(&mut writer, 0, 1000).unwrap();
    pool.finalize(&mut writer, false).unwrap();
    drop(writer);
    let (seen, shown) = (pool.clone(), Arc::new(AtomicBool::new(false)));
    let shown_too = shown.clone();
    disk.observe(Some(Box::new(move |_| {
        if let Some(open) = seen.lookup(ID).and_then(|info| info.open) {
            assert!(open.progress().last_checksum.is_some(), "no checksum of the partial chunk");
            shown_too.store(true, Ordering::SeqCst);
        }
    })));
    pool.append(&block(1001), GenerationStamp(1002), 1000).unwrap();
    disk.observe(None);
    assert!(shown.load(Ordering::SeqCst));
}

/// The map says where the files are even while, or though not, the directories are synced: a reader then finds both.
#[test]
fn readers_find_the_files_while_directories_are_synced() {
    type Step = fn(&Arc<BlockPool>) -> bool;
    let steps: [(&str, Step); 4] = [
        ("close", |pool| {
            let mut writer = pool.recover_rbw(&block(1001), GenerationStamp(1001), 0, 1000).unwrap();
            pool.finalize(&mut writer, false).is_err()
        }),
        ("new stamp", |pool| pool.recover_close(&block(1001), GenerationStamp(1002), 1000, false).is_err()),
        ("append", |pool| pool.append(&block(1001), GenerationStamp(1003), 1000).is_err()),
        ("recovery", |pool| {
            pool.init_recovery(&block(1001), GenerationStamp(1004)).unwrap().unwrap();
            pool.update_under_recovery(&block(1001), GenerationStamp(1004), ID, 1000).is_err()
        }),
    ];
    for (what, step) in steps {
        let disk = disk();
        let (_store, pool) = open(&disk);
        let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 1000).unwrap();
        writer.open_replica().set_acked(1000);
        if what != "close" {
            pool.finalize(&mut writer, false).unwrap();
        }
        drop(writer);
        // The syncs of the new stamp, of both files and of `rbw`; those of the subdirectory's parents.
        let skip = match what {
            "close" => 4 + 2,
            "append" => 0,
            _ => 2,
        };
        disk.inject(Fault::all(FaultKind::Sync, std::io::ErrorKind::Other).below("/current/").after(skip));
        assert!(step(&pool), "{what}: the sync fails");
        disk.clear_faults();
        verify(&pool, ID, 1000, what);
    }
}

#[test]
fn a_meta_file_that_cannot_be_opened_is_not_a_missing_one() {
    let disk = disk();
    let (_store, pool) = open(&disk);
    let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
    send(&mut writer, 0, 1000).unwrap();
    pool.finalize(&mut writer, false).unwrap();
    disk.inject(Fault::all(FaultKind::Read, std::io::ErrorKind::Other).below(".meta"));
    let error = pool.open(&block(1001)).map(|_| ()).unwrap_err();
    assert!(error.message.contains("injected fault"), "{error}");
    disk.clear_faults();
    disk.remove_file(Path::new("/data/1/current/BP-1/current/finalized/subdir0/subdir0/blk_1073741825_1001.meta"))
        .unwrap();
    assert!(pool.open(&block(1001)).unwrap().meta.is_none());
}

/// A subdirectory that was made for a block nobody asked to be durable holds one that must be.
#[test]
fn directories_of_a_durable_block_are_durable() {
    let disk = disk();
    let (_store, pool) = open(&disk);
    for (id, sync) in [(BlockId(1_073_741_826), false), (ID, true)] {
        let mut writer = pool.create_rbw(&Block { id, ..block(1001) }, StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 1000).unwrap();
        pool.finalize(&mut writer, sync).unwrap();
    }
    let (_store, after) = open(&disk.crash_clone(CrashMode::Nothing, 0));
    let info = after.lookup(ID).expect("the durable block is gone with its directory");
    assert_eq!((info.state, info.block.num_bytes), (ReplicaState::Finalized, 1000));
    // A copy made by truncation lies in a directory of its own.
    let far = BlockId(0x1f_1f_01);
    pool.init_recovery(&block(1001), GenerationStamp(1005)).unwrap().unwrap();
    pool.update_under_recovery(&block(1001), GenerationStamp(1005), far, 700).unwrap();
    let (_store, after) = open(&disk.crash_clone(CrashMode::Nothing, 0));
    assert_eq!(after.lookup(far).expect("the copy is gone").block.num_bytes, 700);
}

/// A file that cannot be read at start costs its replica, not the volume, and nothing of it is cut off.
#[test]
fn one_unreadable_file_costs_one_replica() {
    const OTHER: BlockId = BlockId(1_073_741_826);
    let before = disk();
    let (_store, pool) = open(&before);
    for id in [ID, OTHER] {
        let mut writer = pool.create_rbw(&Block { id, ..block(1001) }, StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 1000).unwrap();
    }
    for file in ["/rbw/blk_1073741825_1001.meta", "/rbw/blk_1073741825"] {
        let disk = before.kill_clone();
        disk.inject(Fault::all(FaultKind::Read, std::io::ErrorKind::Other).below(file));
        let (_store, pool) = open(&disk);
        assert!(pool.lookup(ID).is_none(), "{file}");
        assert_eq!(pool.lookup(OTHER).map(|info| info.block.num_bytes), Some(1000), "{file}");
        let (_store, pool) = open(&disk.kill_clone());
        assert_eq!(pool.lookup(ID).map(|info| info.block.num_bytes), Some(1000), "{file}: cut");
        verify(&pool, ID, 1000, file);
    }
}

#[test]
fn a_volume_that_fails_at_registration_counts_as_failed() {
    for (tolerated, fault) in [(1, "/data/2/current/BP-1"), (1, "/data/2/current/VERSION"), (0, "/data/2/current/BP-1")]
    {
        let disk = disk();
        let store = open_store(&disk, &["/data/1", "/data/2"], tolerated);
        disk.inject(Fault::all(FaultKind::AnyChange, std::io::ErrorKind::Other).below(fault));
        match open_pool(&store) {
            Ok(pool) => {
                assert_eq!((tolerated, store.volumes().len(), store.failed_volumes().len()), (1, 1, 1), "{fault}");
                let mut writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crc32c()).unwrap();
                pool.finalize(&mut writer, true).unwrap();
                assert_eq!(pool.lookup(ID).unwrap().storage_id, store.volumes()[0].storage_id);
            }
            Err(e) => assert!(tolerated == 0 && e.to_string().contains("injected fault"), "{fault}: {e}"),
        }
    }
}
