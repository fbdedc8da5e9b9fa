//! Power cuts at every change and every sync of a mixed load. After each the start-up must succeed, hold everything
//! that was acknowledged, and be the state after some transaction: nothing out of order, nothing half.
//!
//! `SURUS_CRASH_CLONES` sets how many (default: some hundreds), `SURUS_CRASH_SEED` the first seed.

use crate::common::*;
use crate::load::MixedLoad;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use surus_disk::{CrashMode, Disk, MemDisk, OpenMode};
use surus_journal::{FileName, LAYOUT_VERSION, SegmentReader};
use surus_namespace::EditOp;
use surus_types::TxId;

const DEFAULT_CLONES: usize = 400;
/// Of one life, every third place where a crash can fall is tried; which third depends on the seed.
const STRIDE: usize = 3;
const STEPS: usize = 120;

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// A crashed disk, and what had been acknowledged when it crashed.
struct Crash {
    disk: MemDisk,
    acknowledged: TxId,
    what: String,
}

/// The dump of the namespace after each transaction.
type States = BTreeMap<TxId, String>;

/// One life: format (not crashed), then the load, with crash clones taken on the way.
fn live(seed: u64, dirs: &[PathBuf]) -> (Vec<Crash>, States) {
    let disk = MemDisk::new();
    format_dirs(&disk, dirs);
    let (crashes, places) = (Arc::new(Mutex::new(Vec::new())), AtomicUsize::new(seed as usize % STRIDE));
    let mut fs = Running::start(Arc::new(disk.clone()), dirs).unwrap();
    let mut states = States::new();
    states.insert(fs.log.last_txid(), fs.namespace.dump());
    let (heard, taken) = (Arc::clone(&fs.heard), Arc::clone(&crashes));
    disk.observe(Some(Box::new(move |disk| {
        let place = places.fetch_add(1, Ordering::Relaxed);
        if place % STRIDE != 0 {
            return;
        }
        // The number first: what is acknowledged later may be in the clone, and needs not to be.
        let acknowledged = heard.lock().durable;
        let mode = if (place / STRIDE).is_multiple_of(4) { CrashMode::Nothing } else { CrashMode::Random };
        let what = format!("seed {seed} place {place} {mode:?}");
        let disk = disk.crash_clone(mode, seed.wrapping_mul(1_000_003).wrapping_add(place as u64));
        taken.lock().push(Crash { disk, acknowledged, what });
    })));

    let mut load = MixedLoad::new(seed);
    for step in 0..STEPS {
        for op in load.step() {
            let txid = fs.run(op);
            states.insert(txid, fs.namespace.dump());
        }
        let ends_with_wait = load.below(3) == 0;
        if ends_with_wait {
            fs.log.wait_durable(fs.log.last_txid()).unwrap();
        }
        match step % 30 {
            14 => {
                let roll = fs.log.roll();
                states.insert(roll.ended, fs.namespace.dump());
                states.insert(roll.started, fs.namespace.dump());
            }
            29 => {
                let ended = fs.checkpoint().unwrap();
                states.insert(ended, fs.namespace.dump());
                states.insert(TxId(ended.0 + 1), fs.namespace.dump());
            }
            _ => {}
        }
    }
    let last = fs.log.last_txid();
    fs.log.close().unwrap();
    states.insert(TxId(last.0 + 1), fs.namespace.dump());
    disk.observe(None);
    let crashes = std::mem::take(&mut *crashes.lock());
    (crashes, states)
}

fn check(crash: &Crash, dirs: &[PathBuf], states: &States) {
    let what = &crash.what;
    let mut notices = Notices::default();
    let disk: Arc<MemDisk> = Arc::new(crash.disk.clone());
    let storage = open(disk.clone(), dirs).unwrap_or_else(|e| panic!("{what}: {e}"));
    let loaded = storage.load(config(), &mut notices).unwrap_or_else(|e| panic!("{what}: {e}"));
    let last = loaded.last_txid;
    assert!(last >= crash.acknowledged, "{what}: ends at {last}, {} was acknowledged", crash.acknowledged);
    let dump = loaded.namespace.dump();
    let expected = &states.get(&last).unwrap_or_else(|| panic!("{what}: no transaction {last} was logged"));
    assert_eq!(&&dump, expected, "{what}: the state after {last}");
    drop(storage);

    // What the start-up repaired is durable before anything new is acknowledged: crash again, right after the next one.
    let mut fs = Running::start(disk.clone(), dirs).unwrap_or_else(|e| panic!("{what}, second start: {e}"));
    let txid = fs.mkdir("/after-the-crash");
    fs.log.wait_durable(txid).unwrap();
    let expected = fs.namespace.dump();
    let again = Arc::new(disk.crash_clone(CrashMode::Random, txid.0));
    check_finalized(&again, dirs, what);
    let loaded = open(again, dirs).and_then(|storage| storage.load(config(), &mut ()));
    let loaded = loaded.unwrap_or_else(|e| panic!("{what}, second crash: {e}"));
    assert_eq!((loaded.last_txid, loaded.namespace.dump()), (txid, expected), "{what}, second crash");
}

/// Finalised segments hold whole operations and perhaps fill, never what a crash left.
fn check_finalized(disk: &MemDisk, dirs: &[PathBuf], what: &str) {
    for dir in dirs {
        for entry in disk.list(&dir.join("current")).unwrap() {
            if let Some(FileName::Finalized { first, .. }) = FileName::parse(&entry.name) {
                let path = dir.join("current").join(&entry.name);
                let mut reader = SegmentReader::open(disk, &path, first, LAYOUT_VERSION).unwrap().finalized();
                while reader.next_op().unwrap_or_else(|e| panic!("{what}: {e}")).is_some() {}
            }
        }
    }
}

fn crash_everywhere(dirs: &[PathBuf], clones: usize) {
    let first = setting("SURUS_CRASH_SEED", 1) as u64;
    let mut done = 0;
    for seed in first.. {
        if done >= clones {
            break;
        }
        let (crashes, states) = live(seed, dirs);
        for crash in crashes.iter().take(clones - done) {
            check(crash, dirs, &states);
        }
        done += crashes.len();
    }
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let clones = setting("SURUS_CRASH_CLONES", DEFAULT_CLONES);
    crash_everywhere(&[PathBuf::from("/name")], clones * 3 / 4);
}

#[test]
fn a_power_cut_with_two_directories() {
    let clones = setting("SURUS_CRASH_CLONES", DEFAULT_CLONES);
    crash_everywhere(&[PathBuf::from("/name1"), PathBuf::from("/name2")], clones / 4);
}

/// Operations of many sectors each, over the end of the preallocated fill and into a new segment: torn tails of every
/// kind, and fill that is not durable yet.
#[test]
fn a_power_cut_while_a_segment_grows() {
    let dirs = [PathBuf::from("/name")];
    for seed in 0..setting("SURUS_CRASH_CLONES", DEFAULT_CLONES).div_ceil(200) as u64 {
        let disk = MemDisk::new();
        format_dirs(&disk, &dirs);
        let mut fs = Running::start(Arc::new(disk.clone()), &dirs).unwrap();
        let mut path = String::new();
        for level in 0..28 {
            path = format!("{path}/{level:x>250}");
            fs.mkdir(&path);
        }
        let mut clock = 1000 + seed as i64;
        let short = path[..500 + 30 * seed as usize % 250].rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
        let mut touch = |fs: &mut Running, states: &mut States, path: &str| {
            clock += 1;
            let txid = fs.run(EditOp::Times { path: path.into(), mtime: clock, atime: -1 });
            states.insert(txid, fs.namespace.dump());
        };
        let mut states = States::new();
        for _ in 0..133 {
            touch(&mut fs, &mut states, &path);
        }
        fs.log.wait_durable(fs.log.last_txid()).unwrap();
        let crashes = Arc::new(Mutex::new(Vec::new()));
        let (heard, taken) = (Arc::clone(&fs.heard), Arc::clone(&crashes));
        disk.observe(Some(Box::new(move |disk| {
            let acknowledged = heard.lock().durable;
            for variant in 0..4 {
                let what = format!("growth, seed {seed}, acknowledged {acknowledged}, variant {variant}");
                let disk = disk.crash_clone(CrashMode::Random, seed.wrapping_mul(7919) + acknowledged.0 * 4 + variant);
                taken.lock().push(Crash { disk, acknowledged, what });
            }
        })));
        for round in 0..6 {
            // The commit thread is held up by its disk, so that many operations share a commit.
            for at in 0..12 {
                touch(&mut fs, &mut states, if at % 4 == 3 && round > 1 { &path } else { &short });
            }
            if round == 3 {
                let roll = fs.log.roll();
                states.insert(roll.ended, fs.namespace.dump());
                states.insert(roll.started, fs.namespace.dump());
                for _ in 0..8 {
                    touch(&mut fs, &mut states, &path);
                }
            }
            fs.log.wait_durable(fs.log.last_txid()).unwrap();
        }
        disk.observe(None);
        drop(fs);
        for crash in std::mem::take(&mut *crashes.lock()) {
            check(&crash, &dirs, &states);
        }
    }
}

/// How far the segment that began with `first` is written.
fn position(disk: &MemDisk, dir: &Path, first: TxId) -> usize {
    let file = disk.open(&FileName::InProgress(first).path(dir), OpenMode::Read).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes.iter().rposition(|byte| *byte != 0xff).map_or(0, |last| last + 1)
}

/// One commit over the end of the fill: had the new fill not been durable first, zeros could be left where it ought to be.
#[test]
fn a_power_cut_while_the_fill_grows() {
    const FILLED: usize = 1 << 20;
    let dirs = [PathBuf::from("/name")];
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs);
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs).unwrap();
    let first = fs.log.last_txid();
    let mut path = String::new();
    for level in 0..28 {
        path = format!("{path}/{level:x>250}");
        fs.mkdir(&path);
    }
    let short = path[..251].to_owned();
    let touch = |path: &str, mtime| EditOp::Times { path: path.into(), mtime, atime: -1 };
    // What lies before the end is durable fill: the less of it, the sooner an operation is torn behind the end.
    for (path, room) in [(&path, 10_000), (&short, 400)] {
        for mtime in 0.. {
            let txid = fs.run(touch(path, mtime));
            fs.log.wait_durable(txid).unwrap();
            if position(&disk, &dirs[0], first) > FILLED - room {
                break;
            }
        }
    }
    let mut states = States::from([(fs.log.last_txid(), fs.namespace.dump())]);
    let crashes = cut_often(&disk, &fs, 50, |_| true);
    log_at_once(&mut fs, &mut states, (0..24).map(|i| touch(&short, 5_000_000 + i)).collect());
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    disk.observe(None);
    assert!(position(&disk, &dirs[0], first) > FILLED + 2_500, "it went over the end");
    drop(fs);
    for crash in std::mem::take(&mut *crashes.lock()) {
        check(&crash, &dirs, &states);
    }
}

/// The first commit of a new segment is large: had its header and fill not been durable first, zeros could be left of them.
#[test]
fn a_power_cut_while_a_segment_begins() {
    let dirs = [PathBuf::from("/name")];
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs);
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs).unwrap();
    let path = format!("/{:x>250}", "");
    fs.mkdir(&path);
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    let touch = |mtime| EditOp::Times { path: path.as_str().into(), mtime, atime: -1 };
    let new_segment = FileName::InProgress(TxId(fs.log.last_txid().0 + 3)).path(&dirs[0]);
    let (gate, is_there) = (Arc::new(Mutex::new(())), new_segment.clone());
    let held = Arc::clone(&gate);
    let crashes = cut_often(&disk, &fs, 50, move |disk| {
        drop(held.lock());
        disk.metadata(&is_there).is_ok()
    });
    // The commit thread is held up, so that the end of one segment and the first operations of the next come in one go.
    let hold = gate.lock();
    let mut states = States::new();
    log_at_once(&mut fs, &mut states, vec![touch(1)]);
    let roll = fs.log.roll();
    states.extend([(roll.ended, fs.namespace.dump()), (roll.started, fs.namespace.dump())]);
    log_at_once(&mut fs, &mut states, (0..12).map(|i| touch(10 + i)).collect());
    drop(hold);
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    disk.observe(None);
    assert!(disk.metadata(&new_segment).is_ok());
    drop(fs);
    let crashes = std::mem::take(&mut *crashes.lock());
    assert!(!crashes.is_empty());
    for crash in crashes {
        check(&crash, &dirs, &states);
    }
}

/// Takes so many crash clones wherever a crash can fall and `wanted` says so.
fn cut_often(
    disk: &MemDisk,
    fs: &Running,
    clones: u64,
    wanted: impl Fn(&MemDisk) -> bool + Send + Sync + 'static,
) -> Arc<Mutex<Vec<Crash>>> {
    let crashes = Arc::new(Mutex::new(Vec::new()));
    let (heard, taken) = (Arc::clone(&fs.heard), Arc::clone(&crashes));
    disk.observe(Some(Box::new(move |disk| {
        if !wanted(disk) {
            return;
        }
        let acknowledged = heard.lock().durable;
        let mut taken = taken.lock();
        for _ in 0..clones {
            let seed = taken.len() as u64;
            let what = format!("acknowledged {acknowledged}, seed {seed}");
            taken.push(Crash { disk: disk.crash_clone(CrashMode::Random, seed), acknowledged, what });
        }
    })));
    crashes
}

/// Applies operations and logs them in one call, so that they share a commit.
fn log_at_once(fs: &mut Running, states: &mut States, ops: Vec<EditOp>) {
    let before = fs.log.last_txid().0;
    for (op, txid) in ops.iter().zip(before + 1..) {
        fs.namespace.apply(op, TxId(txid)).unwrap();
        states.insert(TxId(txid), fs.namespace.dump());
    }
    fs.log.log(&ops);
}

/// Requests go on while an image is written: wherever a cut falls, the old image with its edits is there, or the new one is.
#[test]
fn a_power_cut_during_a_checkpoint_while_serving() {
    let dirs = [PathBuf::from("/name1"), PathBuf::from("/name2")];
    for seed in 0..setting("SURUS_CRASH_CLONES", DEFAULT_CLONES).div_ceil(200) as u64 {
        let disk = MemDisk::new();
        format_dirs(&disk, &dirs);
        let mut fs = Running::start(Arc::new(disk.clone()), &dirs).unwrap();
        let mut load = MixedLoad::new(seed);
        let mut states = States::from([(fs.log.last_txid(), fs.namespace.dump())]);
        let mut serve = |fs: &mut Running, states: &mut States| {
            for op in load.step() {
                let txid = fs.run(op);
                states.insert(txid, fs.namespace.dump());
            }
            fs.log.wait_durable(fs.log.last_txid()).unwrap();
        };
        (0..30).for_each(|_| serve(&mut fs, &mut states));
        let saving = Arc::new(AtomicBool::new(false));
        let is_saving = Arc::clone(&saving);
        let crashes = cut_often(&disk, &fs, 1, move |_| is_saving.load(Ordering::SeqCst));
        for _ in 0..3 {
            let roll = fs.log.roll();
            states.extend([(roll.ended, fs.namespace.dump()), (roll.started, fs.namespace.dump())]);
            let image = fs.namespace.freeze();
            fs.log.wait_durable(roll.ended).unwrap();
            saving.store(true, Ordering::SeqCst);
            let storage = Arc::clone(&fs.storage);
            let saver = std::thread::spawn(move || storage.save_namespace(&image, roll.ended));
            // The first ones may still come before the image's first byte; the saver may be faster than the third.
            for served in 0.. {
                serve(&mut fs, &mut states);
                if served > 2 && saver.is_finished() {
                    break;
                }
            }
            saver.join().unwrap().unwrap();
            saving.store(false, Ordering::SeqCst);
        }
        disk.observe(None);
        drop(fs);
        let crashes = std::mem::take(&mut *crashes.lock());
        assert!(crashes.len() > 60, "{} cuts", crashes.len());
        for crash in crashes.iter().step_by(3) {
            check(crash, &dirs, &states);
        }
    }
}

/// A cut while a directory is being formatted leaves one that can be formatted again, or one that is whole.
#[test]
fn a_power_cut_while_formatting() {
    let disk = MemDisk::new();
    let dirs = [PathBuf::from("/disk/name")];
    let crashes = Arc::new(Mutex::new(Vec::new()));
    let taken = Arc::clone(&crashes);
    disk.observe(Some(Box::new(move |disk| {
        for seed in 0..20 {
            let mode = if seed == 0 { CrashMode::Nothing } else { CrashMode::Random };
            taken.lock().push(disk.crash_clone(mode, seed));
        }
    })));
    format_dirs(&disk, &dirs);
    disk.observe(None);
    crashes.lock().push(disk.crash_clone(CrashMode::Nothing, 0));
    let crashes = std::mem::take(&mut *crashes.lock());
    for (at, crash) in crashes.iter().enumerate() {
        let is_last = at + 1 == crashes.len();
        if !surus_journal::is_formatted(crash, &dirs).unwrap() {
            assert!(!is_last, "format has ended: it is durable");
            format_dirs(crash, &dirs);
        }
        let loaded = open(Arc::new(crash.clone()), &dirs).and_then(|storage| storage.load(config(), &mut ()));
        assert_eq!(loaded.unwrap_or_else(|e| panic!("place {at}: {e}")).last_txid, TxId(0));
    }
}
