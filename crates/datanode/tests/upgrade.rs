//! Upgrade of data directories: layout -56, a NameNode that was upgraded, rollback, finalization, with a crash anywhere.

use crate::crash::{ID, disk, send, verify};
use crate::peer::{content, crc32c};
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use surus_datanode::store::{BlockPool, BlockStore, PoolVersion, ReplicaState, StorageLocation, StoreConfig};
use surus_disk::{CrashMode, Disk, MemDisk, OpenMode};
use surus_types::{Block, BlockId, GenerationStamp, StorageType};

/// Layouts -56 and -57 agree on where the first lies, and on none of the others.
pub const IDS: [BlockId; 3] = [ID, BlockId(ID.0 + 0x2300), BlockId(ID.0 + 0x45_6700)];
const LENGTH: u64 = 1500;
/// Was being written when the directory was last used.
pub const UNFINISHED: BlockId = BlockId(ID.0 + 7);
pub const POOL: &str = "/data/1/current/BP-1";
/// Power cuts at each place that drop some of what was not synced.
const CUTS: u64 = 6;

pub type Opened = std::io::Result<(BlockStore, Arc<BlockPool>)>;

pub fn open(disk: &MemDisk, ctime: u64, roll_back: bool) -> Opened {
    let config = StoreConfig {
        locations: vec![StorageLocation { path: "/data/1".into(), storage_type: StorageType::Disk }],
        failed_volumes_tolerated: 0,
        reserved_bytes: 0,
        directory_mode: 0o700,
        roll_back,
        stop_timeout: Duration::from_secs(1),
    };
    let store = BlockStore::open(Arc::new(disk.clone()), config)?;
    let version = PoolVersion { namespace_id: 7, pool_id: "BP-1".into(), ctime, layout_version: -57 };
    let pool = store.open_pool(&version, "CID-1")?;
    Ok((store, pool))
}

pub fn block(id: BlockId) -> Block {
    Block { id, generation_stamp: GenerationStamp(1001), num_bytes: 1 << 20 }
}

/// A data directory of ctime 1 with some blocks.
pub fn with_blocks() -> MemDisk {
    let disk = disk();
    let (store, pool) = open(&disk, 1, false).unwrap();
    for id in IDS {
        let mut writer = pool.create_rbw(&block(id), StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, LENGTH).unwrap();
        pool.finalize(&mut writer, true).unwrap();
    }
    let mut writer = pool.create_rbw(&block(UNFINISHED), StorageType::Disk, "", crc32c()).unwrap();
    send(&mut writer, 0, LENGTH).unwrap();
    writer.sync().unwrap();
    drop((writer, pool, store));
    disk
}

/// The same as Hadoop 2.7 would have it: 256 directories of 256.
fn layout_56() -> MemDisk {
    let disk = with_blocks();
    let finalized = PathBuf::from(POOL).join("current/finalized");
    for id in IDS {
        let of = |bits: i64| format!("subdir{}/subdir{}", id.0 >> 16 & bits, id.0 >> 8 & bits);
        let (from, to) = (finalized.join(of(0x1f)), finalized.join(of(0xff)));
        disk.create_dir_all(&to).unwrap();
        for name in [format!("blk_{id}"), format!("blk_{id}_1001.meta")] {
            disk.rename(&from.join(&name), &to.join(&name)).unwrap();
        }
    }
    for version in ["/data/1/current/VERSION", &format!("{POOL}/current/VERSION")] {
        let text = String::from_utf8(disk.read(Path::new(version), 1 << 16).unwrap()).unwrap();
        let file = disk.open(Path::new(version), OpenMode::Create).unwrap();
        file.write_all_at(text.replace("=-57", "=-56").as_bytes(), 0).unwrap();
    }
    disk.sync_everything();
    disk
}

/// Every replica, at its length and with its bytes.
pub fn check(pool: &BlockPool, what: &str) {
    for id in IDS {
        let info = pool.lookup(id).unwrap_or_else(|| panic!("{what}: blk_{id} is gone"));
        assert_eq!((info.state, info.block.num_bytes), (ReplicaState::Finalized, LENGTH), "{what}: blk_{id}");
        verify(pool, id, LENGTH, what);
    }
    let info = pool.lookup(UNFINISHED).unwrap_or_else(|| panic!("{what}: blk_{UNFINISHED} is gone"));
    assert_eq!((info.state, info.block.num_bytes), (ReplicaState::Rwr, LENGTH), "{what}");
}

fn has_previous(disk: &MemDisk) -> bool {
    disk.exists(&Path::new(POOL).join("previous")).unwrap()
}

/// Ends the upgrade as the NameNode's command does.
fn finalize(disk: &MemDisk, store: &BlockStore) {
    store.finalize_upgrade("BP-1");
    let until = Instant::now() + Duration::from_secs(20);
    let left = |name: &str| disk.exists(&Path::new(POOL).join(name)).unwrap();
    while left("previous") || left("finalized.tmp") {
        assert!(Instant::now() < until, "the upgrade is not finalized");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Disks as crashes leave them while `act` runs, and at its end; whether `act` had ended.
pub fn crash_clones(disk: &MemDisk, act: impl FnOnce(&MemDisk)) -> Vec<(MemDisk, bool)> {
    let taken = Arc::new(Mutex::new(Vec::new()));
    let clones = Arc::clone(&taken);
    let crash = move |disk: &MemDisk, ended: bool| {
        let mut taken = taken.lock();
        taken.push((disk.kill_clone(), ended));
        taken.push((disk.crash_clone(CrashMode::Nothing, 0), ended));
        for _ in 0..CUTS {
            let seed = taken.len() as u64;
            taken.push((disk.crash_clone(CrashMode::Random, seed), ended));
        }
    };
    let while_running = crash.clone();
    disk.observe(Some(Box::new(move |disk| while_running(disk, false))));
    act(disk);
    disk.observe(None);
    crash(disk, true);
    std::mem::take(&mut *clones.lock())
}

#[test]
fn an_older_layout_is_upgraded_and_goes_back() {
    let disk = layout_56();
    let (store, pool) = open(&disk, 1, false).unwrap();
    check(&pool, "upgraded");
    assert!(has_previous(&disk));
    let moved = Path::new(POOL).join("current/finalized/subdir0/subdir3").join(format!("blk_{}", IDS[1]));
    assert_eq!(disk.metadata(&moved).unwrap().links, 2);
    for version in ["/data/1/current/VERSION", &format!("{POOL}/current/VERSION")] {
        let text = disk.read(Path::new(version), 1 << 16).unwrap();
        assert!(String::from_utf8(text).unwrap().contains("layoutVersion=-57"), "{version}");
    }
    // An append changes the new state alone, a truncation too.
    let mut writer = pool.append(&block(IDS[0]), GenerationStamp(1002), LENGTH).unwrap();
    send(&mut writer, LENGTH, 1536).unwrap();
    send(&mut writer, 1536, 1600).unwrap();
    pool.finalize(&mut writer, false).unwrap();
    let recovery = GenerationStamp(1005);
    pool.init_recovery(&block(IDS[2]), recovery).unwrap().unwrap();
    pool.update_under_recovery(&block(IDS[2]), recovery, IDS[2], 700).unwrap();
    verify(&pool, IDS[0], 1600, "appended");
    verify(&pool, IDS[2], 700, "cut");
    drop((writer, pool, store));

    // A second start changes nothing. Rolled back, the directory is upgraded anew, from what it was before.
    let (store, pool) = open(&disk, 1, false).unwrap();
    verify(&pool, IDS[0], 1600, "second start");
    drop((pool, store));
    let (store, pool) = open(&disk, 1, true).unwrap();
    check(&pool, "rolled back");
    finalize(&disk, &store);
    assert_eq!(disk.metadata(&moved).unwrap().links, 1);
    drop((pool, store));
    let (_store, pool) = open(&disk, 1, true).unwrap();
    check(&pool, "finalized: there is no way back");
}

#[test]
fn an_upgraded_namenode_upgrades_and_an_older_one_is_refused() {
    let disk = with_blocks();
    let (store, pool) = open(&disk, 5, false).unwrap();
    check(&pool, "ctime 5");
    assert!(has_previous(&disk));
    drop((pool, store));
    let error = open(&disk, 1, false).map(drop).unwrap_err().to_string();
    assert_eq!(error, "Datanode state: LV = -57 CTime = 5 is newer than the namespace state: LV = -57 CTime = 1");
    // The NameNode was rolled back: so is the DataNode.
    let (store, pool) = open(&disk, 1, true).unwrap();
    check(&pool, "back at ctime 1");
    assert!(!has_previous(&disk));
    drop((pool, store));
    // Two upgrades in a row keep the state before the last one.
    drop(open(&disk, 5, false).unwrap());
    drop(open(&disk, 6, false).unwrap());
    let error = open(&disk, 1, true).map(drop).unwrap_err().to_string();
    assert!(
        error.starts_with("Cannot rollback to a newer state.\nDatanode previous state: LV = -57 CTime = 5"),
        "{error}"
    );
    let (_store, pool) = open(&disk, 5, true).unwrap();
    check(&pool, "back at ctime 5");
}

#[test]
fn a_crash_during_upgrade_rollback_or_finalization() {
    type Act = fn(&MemDisk);
    let acts: [(&str, Act, Act); 3] = [
        ("upgrade", |_| {}, |disk| drop(open(disk, 1, false).unwrap())),
        ("rollback", |disk| drop(open(disk, 1, false).unwrap()), |disk| drop(open(disk, 1, true).unwrap())),
        (
            "finalize",
            |disk| drop(open(disk, 1, false).unwrap()),
            |disk| finalize(disk, &open(disk, 1, false).unwrap().0),
        ),
    ];
    for (what, prepare, act) in acts {
        let disk = layout_56();
        prepare(&disk);
        disk.sync_everything();
        for (at, (after, ended)) in crash_clones(&disk, act).into_iter().enumerate() {
            let what = format!("{what}, crash {at}");
            let (store, pool) = open(&after, 1, false).unwrap_or_else(|e| panic!("{what}: {e}"));
            check(&pool, &what);
            if ended {
                assert_eq!(has_previous(&after), !what.starts_with("finalize"), "{what}: it had ended");
            }
            drop((pool, store));
            let (_store, pool) = open(&after, 1, true).unwrap_or_else(|e| panic!("{what}, rolled back: {e}"));
            check(&pool, &what);
        }
    }
}

/// What is written to a replica that `previous` shares is durable as ever, and never gets into `previous`.
#[test]
fn a_crash_while_a_shared_replica_changes() {
    let disk = layout_56();
    let (store, pool) = open(&disk, 1, false).unwrap();
    disk.sync_everything();
    let kept = Path::new(POOL).join("previous/finalized/subdir0/subdir0").join(format!("blk_{}", IDS[0]));
    let crashes = crash_clones(&disk, |_| {
        let mut writer = pool.append(&block(IDS[0]), GenerationStamp(1002), LENGTH).unwrap();
        send(&mut writer, LENGTH, 1536).unwrap();
        send(&mut writer, 1536, 1600).unwrap();
        writer.sync().unwrap();
    });
    drop((pool, store));
    for (at, (after, ended)) in crashes.into_iter().enumerate() {
        assert_eq!(after.read(&kept, 1 << 20).unwrap(), content(0, LENGTH), "crash {at}");
        let (_store, pool) = open(&after, 1, false).unwrap();
        let length = pool.lookup(IDS[0]).unwrap().block.num_bytes;
        assert!(if ended { length == 1600 } else { (LENGTH..=1600).contains(&length) }, "crash {at}: {length} bytes");
        verify(&pool, IDS[0], length, &format!("crash {at}"));
    }
}
