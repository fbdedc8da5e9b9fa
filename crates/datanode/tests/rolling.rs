//! Rolling upgrade: deleted replicas go to the trash and come back, with a crash anywhere; a writer's replica outlives a
//! restart that was announced.

use crate::crash::send;
use crate::peer::crc32c;
use crate::upgrade::{IDS, POOL, UNFINISHED, block, check, crash_clones, open, with_blocks};
use std::path::Path;
use std::time::{Duration, Instant};
use surus_datanode::store::{BlockPool, BlockStore, ReplicaState};
use surus_disk::{Disk, MemDisk};
use surus_types::{BlockId, GenerationStamp, StorageType};

const MARKER: &str = "RollingUpgradeInProgress";
const LATER: BlockId = BlockId(IDS[0].0 + 9);

fn has(disk: &MemDisk, name: &str) -> bool {
    disk.exists(&Path::new(POOL).join(name)).unwrap()
}

/// What a heartbeat's answer brings, and the end of the work behind.
fn signal(disk: &MemDisk, store: &BlockStore, goes_on: bool) {
    store.signal_rolling_upgrade("BP-1", goes_on);
    let until = Instant::now() + Duration::from_secs(20);
    while has(disk, MARKER) != goes_on {
        assert!(Instant::now() < until, "nothing happens");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn delete_all(pool: &std::sync::Arc<BlockPool>) {
    pool.delete(&[IDS[0], IDS[1], IDS[2], UNFINISHED].map(block));
}

#[test]
fn the_trash_is_restored_or_cleared() {
    let disk = with_blocks();
    let (store, pool) = open(&disk, 1, false).unwrap();
    signal(&disk, &store, true);
    delete_all(&pool);
    let trashed = Path::new(POOL).join("trash/finalized/subdir0/subdir0").join(format!("blk_{}", IDS[0]));
    assert!(disk.exists(&trashed).unwrap() && has(&disk, &format!("trash/rbw/blk_{UNFINISHED}")));
    assert_eq!((pool.num_replicas(), store.volumes()[0].num_blocks()), (0, 0));
    drop((pool, store));
    // An ordinary start leaves it alone.
    let (store, pool) = open(&disk, 1, false).unwrap();
    assert_eq!(pool.num_replicas(), 0);
    drop((pool, store));
    let (store, pool) = open(&disk, 1, true).unwrap();
    check(&pool, "restored");
    assert!(!has(&disk, "trash"));
    signal(&disk, &store, true);
    delete_all(&pool);
    signal(&disk, &store, false);
    assert!(!has(&disk, "trash"));
    drop((pool, store));
    let (store, pool) = open(&disk, 1, true).unwrap();
    assert_eq!(pool.num_replicas(), 0);
    // Without an upgrade what is deleted is gone.
    let mut writer = pool.create_rbw(&block(LATER), StorageType::Disk, "", crc32c()).unwrap();
    send(&mut writer, 0, 10).unwrap();
    pool.finalize(&mut writer, false).unwrap();
    pool.delete(&[block(LATER)]);
    assert!(!has(&disk, "trash"));
    drop((pool, store));
}

#[test]
fn a_crash_while_replicas_go_to_the_trash_or_come_back() {
    type Act = fn(&MemDisk);
    let delete: Act = |disk| {
        let (store, pool) = open(disk, 1, false).unwrap();
        signal(disk, &store, true);
        delete_all(&pool);
    };
    let without_directories: Act = |disk| {
        let (store, pool) = open(disk, 1, false).unwrap();
        signal(disk, &store, true);
        delete_all(&pool);
        drop((pool, store));
        for name in ["subdir0", "subdir5"] {
            let dir = Path::new(POOL).join("current/finalized").join(name);
            if disk.exists(&dir).unwrap() {
                disk.remove_dir_all(&dir).unwrap();
            }
        }
    };
    let restore: Act = |disk| drop(open(disk, 1, true).unwrap());
    for (what, prepare, act) in [("delete", (|_| {}) as Act, delete), ("restore", without_directories, restore)] {
        let disk = with_blocks();
        prepare(&disk);
        disk.sync_everything();
        for (at, (after, _)) in crash_clones(&disk, act).into_iter().enumerate() {
            let what = format!("{what}, crash {at}");
            let (_store, pool) = open(&after, 1, true).unwrap_or_else(|e| panic!("{what}: {e}"));
            check(&pool, &what);
        }
    }
}

#[test]
fn a_writer_comes_back_after_an_announced_restart() {
    for (until_ms, state) in [(u64::MAX, ReplicaState::Rbw), (1, ReplicaState::Rwr)] {
        let disk = with_blocks();
        let (store, pool) = open(&disk, 1, false).unwrap();
        let mut writer = pool.create_rbw(&block(LATER), StorageType::Disk, "", crc32c()).unwrap();
        send(&mut writer, 0, 700).unwrap();
        writer.note_restart(until_ms).unwrap();
        drop((writer, pool, store));
        let (store, pool) = open(&disk, 1, false).unwrap();
        let info = pool.lookup(LATER).unwrap();
        assert_eq!((info.state, info.block.num_bytes), (state, 700));
        let again = pool.recover_rbw(&block(LATER), GenerationStamp(1002), 700, 700);
        assert_eq!(again.is_ok(), state == ReplicaState::Rbw);
        if let Ok(mut writer) = again {
            send(&mut writer, 700, 1024).unwrap();
            send(&mut writer, 1024, 1500).unwrap();
            pool.finalize(&mut writer, false).unwrap();
            crate::crash::verify(&pool, LATER, 1500, "written on");
        }
        drop((pool, store));
        // The note counts once.
        let (_store, pool) = open(&disk, 1, false).unwrap();
        assert_ne!(pool.lookup(LATER).unwrap().state, ReplicaState::Rbw);
    }
}
