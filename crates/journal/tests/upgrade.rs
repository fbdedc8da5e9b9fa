//! Upgrade, rollback and finalization, with a crash before each sync.

use crate::common::*;
use crate::golden;
use crate::load::MixedLoad;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_disk::{CrashMode, Disk, MemDisk, OpenMode};
use surus_journal::{FileName, JournalError, LAYOUT_VERSION, Storage, rollback};
use surus_types::TxId;

const NOW: i64 = 2_000_000_000_000;

fn two_dirs() -> [PathBuf; 2] {
    [PathBuf::from("/name"), PathBuf::from("/second")]
}

/// A name directory of Hadoop 3.3.6, twice.
fn golden_disk() -> MemDisk {
    let disk = golden::name_directory(golden::NAME_3_3);
    disk.create_dir_all(Path::new("/second/current")).unwrap();
    for entry in disk.list(Path::new("/name/current")).unwrap() {
        let bytes = disk.read(&Path::new("/name/current").join(&entry.name), 1 << 22).unwrap();
        let to = Path::new("/second/current").join(&entry.name);
        disk.open(&to, OpenMode::Create).unwrap().write_all_at(&bytes, 0).unwrap();
    }
    disk.sync_everything();
    disk
}

fn run_load(fs: &mut Running, seed: u64, steps: usize) {
    let mut load = MixedLoad::on(seed, &fs.namespace);
    for op in (0..steps).flat_map(|_| load.step()) {
        fs.run(op);
    }
}

/// The same with something in every section of its image, and more in its edits.
fn full_disk() -> MemDisk {
    let disk = golden_disk();
    let mut fs = Running::start(Arc::new(disk.clone()), &two_dirs()).unwrap();
    run_load(&mut fs, 65, 150);
    fs.checkpoint().unwrap();
    run_load(&mut fs, 66, 25);
    fs.log.close().unwrap();
    drop(fs);
    disk.sync_everything();
    disk
}

/// Power cuts at each place: one that drops everything unsynced, and so many that drop some of it.
const CUTS_A_PLACE: u64 = 4;
/// The same where few of the cuts do harm.
const MANY_CUTS: u64 = 24;

/// Disks as crashes leave them during `act`, power cuts and a killed process; the last ones fall after its end.
struct Crashes {
    disks: Vec<MemDisk>,
    during: usize,
}

fn crash_clones(disk: &MemDisk, cuts: u64, act: fn(&MemDisk)) -> Crashes {
    let clones = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&clones);
    let crash = move |disk: &MemDisk| {
        let mut taken = taken.lock();
        taken.push(disk.kill_clone());
        taken.push(disk.crash_clone(CrashMode::Nothing, 0));
        for _ in 0..cuts {
            let seed = taken.len() as u64;
            taken.push(disk.crash_clone(CrashMode::Random, seed));
        }
    };
    disk.observe(Some(Box::new(crash.clone())));
    act(disk);
    disk.observe(None);
    let during = clones.lock().len();
    crash(disk);
    let disks = std::mem::take(&mut *clones.lock());
    Crashes { disks, during }
}

/// Opens those of the two directories that there are.
fn open_two(disk: &MemDisk) -> Result<Storage, JournalError> {
    let dirs: Vec<PathBuf> = two_dirs().into_iter().filter(|dir| disk.exists(dir).unwrap()).collect();
    Storage::open(Arc::new(disk.clone()), &dirs, "1@test", Default::default())
}

fn upgrade(disk: &MemDisk) -> Result<Storage, JournalError> {
    let storage = open_two(disk)?;
    let loaded = storage.load(config(), &mut ())?;
    storage.upgrade(&loaded.namespace.freeze(), loaded.last_txid, LAYOUT_VERSION, NOW)
}

/// Layout, last transaction and content.
fn state(disk: &MemDisk) -> (i32, TxId, String) {
    let storage = open_two(disk).unwrap();
    let loaded = storage.load(config(), &mut ()).unwrap();
    (storage.info().layout_version, loaded.last_txid, loaded.namespace.dump())
}

#[test]
fn there_and_back_and_finalized() {
    let disk = golden_disk();
    let before = state(&disk);
    assert_eq!(before.0, -66);
    assert!(matches!(rollback(&disk, &two_dirs(), "1@test"), Err(JournalError::NoPrevious)));

    let storage = upgrade(&disk).unwrap();
    assert!(storage.has_previous().unwrap() && storage.info().c_time == NOW);
    drop(storage);
    assert_eq!(state(&disk), (LAYOUT_VERSION, before.1, before.2.clone()));
    assert!(matches!(upgrade(&disk), Err(JournalError::UpgradeExists)));

    assert_eq!(rollback(&disk, &two_dirs(), "1@test").unwrap().layout_version, -66);
    assert_eq!(state(&disk), before);

    let storage = upgrade(&disk).unwrap();
    storage.finalize_upgrade().unwrap();
    assert!(!storage.has_previous().unwrap());
    drop(storage);
    assert_eq!(state(&disk).0, LAYOUT_VERSION);
    assert!(matches!(rollback(&disk, &two_dirs(), "1@test"), Err(JournalError::NoPrevious)));
}

/// Whatever a crash leaves of an upgrade, a rollback or a finalization: the directories start, with all that was in them, as
/// before or as after; and going on completes it.
#[test]
fn a_crash_between_any_two_steps() {
    let before = state(&full_disk());
    type Act = fn(&MemDisk);
    let acts: [(&str, u64, Act, Act); 4] = [
        ("upgrade", CUTS_A_PLACE, |_| {}, |disk| drop(upgrade(disk))),
        ("rollback", MANY_CUTS, |disk| drop(upgrade(disk)), |disk| drop(rollback(disk, &two_dirs(), "1@test"))),
        (
            "upgrade",
            MANY_CUTS / 2,
            |disk| drop(upgrade(disk)),
            |disk| {
                rollback(disk, &two_dirs(), "1@test").unwrap();
                drop(upgrade(disk));
            },
        ),
        (
            "finalize",
            CUTS_A_PLACE,
            |disk| drop(upgrade(disk)),
            |disk| open_two(disk).unwrap().finalize_upgrade().unwrap(),
        ),
    ];
    for (what, cuts, prepare, act) in acts {
        let disk = full_disk();
        prepare(&disk);
        disk.sync_everything();
        let clones = crash_clones(&disk, cuts, act);
        let during = clones.during;
        assert!(during > 5, "{what}: {during}");
        for (at, clone) in clones.disks.into_iter().enumerate() {
            let again = clone.kill_clone();
            let (layout, txid, dump) = state(&clone);
            assert!([-66, LAYOUT_VERSION].contains(&layout), "{what} {at}");
            assert_eq!((txid, &dump), (before.1, &before.2), "{what}, crash {at}");
            let is_done = (layout != -66) == (what != "rollback")
                && open_two(&clone).unwrap().has_previous().unwrap() == (what == "upgrade");
            assert!(is_done || at < during, "{what} had ended: it is durable, crash {at}");
            // The operator tries again.
            match what {
                "upgrade" => {
                    let (layout, ..) = state(&again);
                    if layout == -66 {
                        upgrade(&again).unwrap();
                    }
                    assert_eq!(state(&again).0, LAYOUT_VERSION);
                    assert_eq!(rollback(&again, &two_dirs(), "1@test").unwrap().layout_version, -66);
                    assert_eq!(state(&again), before, "{what}, crash {at}");
                }
                "rollback" => {
                    rollback(&again, &two_dirs(), "1@test").ok();
                    assert_eq!(state(&again), before, "{what}, crash {at}");
                }
                _ => {
                    open_two(&again).unwrap().finalize_upgrade().unwrap();
                    assert_eq!(state(&again).0, LAYOUT_VERSION);
                }
            }
        }
    }
}

/// Removes the images and edits before a rolling upgrade, as retention does in time: without its image nothing is left.
fn leave_only_the_rollback_image(disk: &MemDisk, dirs: &[PathBuf], began: TxId) {
    for dir in dirs {
        for entry in disk.list(&dir.join("current")).unwrap() {
            let name = FileName::parse(&entry.name);
            if matches!(name, Some(FileName::Image(txid) | FileName::ImageMd5(txid) | FileName::Finalized { last: txid, .. }) if txid <= began)
            {
                disk.remove_file(&dir.join("current").join(&entry.name)).unwrap();
            }
        }
    }
}

/// Prepare, changes, rollback with a crash anywhere; and finalize.
#[test]
fn a_crash_while_a_rolling_upgrade_goes_back() {
    roll_back_with_crashes(&two_dirs());
    // What the second directory does not make good.
    roll_back_with_crashes(&two_dirs()[..1]);
}

fn roll_back_with_crashes(dirs: &[PathBuf]) {
    let disk = MemDisk::new();
    format_dirs(&disk, dirs);
    let mut fs = Running::start(Arc::new(disk.clone()), dirs).unwrap();
    fs.mkdir("/before");
    run_load(&mut fs, 67, 100);
    let roll = fs.log.roll();
    fs.log.wait_durable(roll.started).unwrap();
    fs.storage.save_rollback_image(&fs.namespace.freeze(), roll.ended).unwrap();
    let before = fs.namespace.dump();
    fs.mkdir("/also before the mark");
    let with_mkdir = fs.namespace.dump();
    fs.run(surus_namespace::EditOp::RollingUpgradeStart { time: 5 });
    fs.mkdir("/after");
    run_load(&mut fs, 68, 50);
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    fs.checkpoint().unwrap();
    fs.mkdir("/later");
    fs.log.close().unwrap();
    assert_eq!(fs.storage.rollback_image().unwrap(), Some(roll.ended));
    drop(fs);
    assert_ne!(before, with_mkdir);
    leave_only_the_rollback_image(&disk, dirs, roll.ended);
    disk.sync_everything();

    let finalized = disk.kill_clone();
    let storage = open_two(&finalized).unwrap();
    let loaded = storage.load(config(), &mut ()).unwrap();
    assert!(loaded.namespace.rolling_upgrade.is_some());
    storage.finalize_rolling_upgrade().unwrap();
    assert_eq!(storage.rollback_image().unwrap(), None);
    assert!(matches!(storage.roll_back_rolling_upgrade(), Err(JournalError::NoRollbackImage)));
    drop(storage);
    assert!(state(&finalized).2.contains("/later"));

    let act = |disk: &MemDisk| {
        open_two(disk).unwrap().roll_back_rolling_upgrade().unwrap();
    };
    let clones = crash_clones(&disk, CUTS_A_PLACE, act);
    assert_eq!(state(&disk).2, with_mkdir);
    for (at, clone) in clones.disks.into_iter().enumerate() {
        // The operator tries again, until there is nothing left to do.
        match open_two(&clone).unwrap().roll_back_rolling_upgrade() {
            Ok(_) => assert!(at < clones.during, "it had ended: it is durable, crash {at}"),
            Err(JournalError::NoRollbackImage) => {}
            Err(error) => panic!("crash {at}: {error}"),
        }
        assert_eq!(state(&clone).2, with_mkdir, "crash {at}");
    }
}

/// Hadoop 2.7.3's directory, layout -63, is upgraded with all that is in it.
#[test]
fn a_directory_of_hadoop_2_7() {
    let disk = golden::name_directory(golden::NAME_2_7);
    let dirs = [PathBuf::from("/name")];
    let open = || Storage::open(Arc::new(disk.clone()), &dirs, "1@test", Default::default()).unwrap();
    let storage = open();
    assert_eq!(storage.info().layout_version, -63);
    let loaded = storage.load(config(), &mut ()).unwrap();
    assert_eq!(paths(&loaded.namespace), ["/", "/user", "/user/root", "/user/root/p"]);
    drop(storage.upgrade(&loaded.namespace.freeze(), loaded.last_txid, LAYOUT_VERSION, NOW).unwrap());
    let again = open().load(config(), &mut ()).unwrap();
    assert_eq!((again.image_txid, again.namespace.dump()), (loaded.last_txid, loaded.namespace.dump()));
}

/// Hadoop 3.4.2's image, and its edits from the first one on, give the same namespace.
#[test]
fn a_directory_of_hadoop_3_4() {
    let disk = golden::name_directory(golden::NAME_3_4);
    let load = || {
        let storage = Storage::open(Arc::new(disk.clone()), &[PathBuf::from("/name")], "1@test", Default::default());
        storage.unwrap().load(config(), &mut ()).unwrap()
    };
    let from_image = load();
    disk.remove_file(Path::new("/name/current/fsimage_0000000000000000049")).unwrap();
    let from_edits = load();
    assert_eq!((from_image.image_txid, from_edits.image_txid), (TxId(49), TxId(0)));
    assert_eq!(from_image.namespace.dump(), from_edits.namespace.dump());
}
