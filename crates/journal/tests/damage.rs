//! Damage in a segment is named and nothing is changed; a torn tail is cut and told.

use crate::common::*;
use crate::load::MixedLoad;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_disk::{CrashMode, Disk, MemDisk, OpenMode, SECTOR_BYTES, SyncPoint};
use surus_journal::ops::{FrameHead, OpDecoder, encode_op};
use surus_journal::{DamageKind, FileName, JournalError, LoadObserver};
use surus_namespace::EditOp;
use surus_namespace::edit_op::AddClose;
use surus_types::{FsPermission, InodeId, PermissionStatus, RpcIds, TxId};

const DIR: &str = "/name";

fn dirs() -> [PathBuf; 1] {
    [PathBuf::from(DIR)]
}

/// A directory whose last segment is in progress, and that segment's path, content and frames (offset, length).
struct Killed {
    disk: MemDisk,
    segment: PathBuf,
    bytes: Vec<u8>,
    frames: Vec<(usize, usize)>,
    last: TxId,
    dump: String,
}

fn killed(seed: u64, steps: usize, extra: impl FnOnce(&mut Running)) -> Killed {
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs());
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    let mut load = MixedLoad::new(seed);
    for _ in 0..steps {
        for op in load.step() {
            fs.run(op);
        }
    }
    extra(&mut fs);
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    let disk = disk.kill_clone();
    let segment = PathBuf::from("/name/current/edits_inprogress_0000000000000000001");
    let bytes = disk.read(&segment, 1 << 30).unwrap();
    let mut frames = Vec::new();
    let mut at = 8;
    while at < bytes.len() && bytes[at] != 0xFF {
        let len = FrameHead::parse(&bytes[at..]).unwrap().frame_bytes;
        frames.push((at, len));
        at += len;
    }
    Killed { disk, segment, bytes, frames, last: fs.log.last_txid(), dump: fs.namespace.dump() }
}

impl Killed {
    fn end(&self) -> usize {
        self.frames.last().map_or(8, |(at, len)| at + len)
    }

    /// The disk with other bytes in the segment.
    fn with(&self, bytes: &[u8]) -> MemDisk {
        let disk = self.disk.kill_clone();
        let file = disk.open(&self.segment, OpenMode::Create).unwrap();
        file.write_all_at(bytes, 0).unwrap();
        file.sync_data(SyncPoint("test")).unwrap();
        disk
    }
}

/// Starts on a copy; gives what start-up said, and requires that a refusal changed nothing.
fn start(disk: &MemDisk) -> Result<(TxId, String, Vec<String>), JournalError> {
    // A killed process leaves its lock file; who comes after takes it over and away.
    let contents = || disk.contents().into_iter().filter(|(path, _)| !path.ends_with("in_use.lock"));
    let before: Vec<_> = contents().collect();
    let mut notices = Notices::default();
    let storage = open(Arc::new(disk.clone()), &dirs()).unwrap();
    let loaded = storage.load(config(), &mut notices);
    drop(storage);
    if loaded.is_err() {
        assert!(contents().eq(before), "a refusal changes nothing");
    }
    loaded.map(|loaded| (loaded.last_txid, loaded.namespace.dump(), notices.0))
}

/// Changes one byte; it must be refused as damage of the operation that holds the byte.
fn check_flip(killed: &Killed, at: usize, change: u8) {
    let what = format!("byte {at} of {} changed by {change:#x}", killed.end());
    let disk = killed.disk.kill_clone();
    let file = disk.open(&killed.segment, OpenMode::ReadWrite).unwrap();
    file.write_all_at(&[killed.bytes[at] ^ change], at as u64).unwrap();
    match start(&disk) {
        Err(JournalError::Damaged(damage)) => {
            let holds = killed.frames.iter().position(|(from, len)| (*from..from + len).contains(&at));
            let (offset, txid) = holds.map_or((0, 1), |index| (killed.frames[index].0, index as u64 + 1));
            assert_eq!((damage.offset, damage.txid), (offset as u64, TxId(txid)), "{what}");
            assert_eq!(damage.file, killed.segment, "{what}");
        }
        Err(other) => panic!("{what}: {other}"),
        // The last byte before a sector's edge, or behind it: as if its sector had never been written. It is mended.
        Ok((last, dump, notices)) if notices.iter().any(|text| text.contains("mended")) => {
            assert_eq!((last, dump), (killed.last, killed.dump.clone()), "{what}");
            assert!([0, SECTOR_BYTES - 1].contains(&(at % SECTOR_BYTES)), "{what}");
        }
        Ok((last, ..)) => panic!("{what}: taken, the log ends at {last} instead of {}", killed.last),
    }
}

#[test]
fn a_flipped_byte_anywhere_is_damage() {
    let killed = killed(5, 40, |_| {});
    for at in 0..killed.end() {
        let to_fill = !killed.bytes[at];
        check_flip(&killed, at, if at % 2 == 0 && to_fill != 0 { to_fill } else { 1 << (at / 2 % 8) });
    }
}

/// Operations that begin or end next to a sector's edge are where a changed byte looks most like an unwritten sector.
#[test]
fn a_flipped_byte_at_a_sector_edge_is_damage() {
    for pad in 0..40usize {
        let killed = killed(1, 3, |fs| {
            // Moves the last operations across the edge, byte by byte.
            fs.mkdir(&format!("/{}", "x".repeat(180 + pad)));
            for name in ["/p", "/q"] {
                fs.mkdir(name);
            }
        });
        let near_edge = |at: &usize| (at + 16) % SECTOR_BYTES < 32;
        for at in (killed.end().saturating_sub(170)..killed.end()).filter(near_edge) {
            for change in [0xFF ^ killed.bytes[at], 0x80, 1] {
                if change != 0 {
                    check_flip(&killed, at, change);
                }
            }
        }
    }
}

/// Any set of sectors of the last commit may be missing: the log ends at the first operation that misses something.
#[test]
fn a_missing_sector_of_the_last_commit_is_a_torn_tail() {
    for seed in 0..20 {
        let killed = killed(seed, 60, |_| {});
        let sectors = killed.end().div_ceil(SECTOR_BYTES);
        let mut random = MixedLoad::new(seed + 1000);
        for _ in 0..20 {
            let mut bytes = killed.bytes.clone();
            let mut first_missing = None;
            for sector in 1..sectors {
                if random.below(4) == 0 {
                    first_missing.get_or_insert(sector * SECTOR_BYTES);
                    bytes[sector * SECTOR_BYTES..(sector + 1) * SECTOR_BYTES].fill(0xFF);
                }
            }
            let Some(first_missing) = first_missing else { continue };
            let disk = killed.with(&bytes);
            let whole = killed.frames.iter().take_while(|(at, len)| at + len <= first_missing).count();
            let (last, _, notices) = start(&disk).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(last, TxId(whole as u64), "seed {seed}, first missing byte {first_missing}");
            let segment = format!("/name/current/edits_{:019}-{last:0>19}", 1);
            let (at, len) = killed.frames[whole - 1];
            assert_eq!(disk.metadata(Path::new(&segment)).unwrap().len, (at + len) as u64, "the cut is on disk");
            let is_clean_end = bytes[at + len..].iter().all(|b| *b == 0xFF);
            assert_eq!(notices.len(), usize::from(!is_clean_end), "{notices:?}");
            if let [notice] = notices.as_slice() {
                assert!(notice.contains(&format!("cut off at offset {}", at + len)), "{notice}");
                assert!(notice.contains(&format!("transaction {}", last.0 + 1)) || notice.contains("transactions"));
            }
            assert_eq!(start(&disk).unwrap().0, last, "and it stays");
        }
    }
}

/// The same sector of fill further back than a commit is damage: what was there had been acknowledged.
#[test]
fn a_missing_sector_further_back_is_damage() {
    let killed = killed(3, 4, |fs| {
        // Enough commits of enough bytes: the log is more than two commits long.
        for i in 0..20_000 {
            fs.mkdir(&format!("/{i:0>60}"));
            if i % 1000 == 0 {
                fs.log.wait_durable(fs.log.last_txid()).unwrap();
            }
        }
    });
    assert!(killed.end() > 2 << 20);
    let mut bytes = killed.bytes.clone();
    let at = killed.end() / SECTOR_BYTES * SECTOR_BYTES - (1 << 20) - 4 * SECTOR_BYTES;
    bytes[at..at + SECTOR_BYTES].fill(0xFF);
    assert!(matches!(start(&killed.with(&bytes)), Err(JournalError::Damaged(_))));
    let mut bytes = killed.bytes.clone();
    let at = at + (1 << 20);
    bytes[at..at + SECTOR_BYTES].fill(0xFF);
    assert!(start(&killed.with(&bytes)).unwrap().0 < killed.last);
}

/// An operation longer than a commit goes to disk in parts; without its last part it is torn.
#[test]
fn an_operation_longer_than_a_commit() {
    let killed = killed(3, 4, |fs| {
        let permission = PermissionStatus { user: "a".into(), group: "b".into(), permission: FsPermission(0o644) };
        let block = |id: i64| surus_types::Block {
            id: surus_types::BlockId(2_000_000_000 + id),
            generation_stamp: surus_types::GenerationStamp(1001),
            num_bytes: 1,
        };
        fs.run(EditOp::Add(Box::new(AddClose {
            inode_id: InodeId(17_000),
            path: "/huge".into(),
            replication: 1,
            mtime: 1,
            atime: 1,
            block_size: 1,
            blocks: (0..140_000i64).map(block).collect(),
            permission,
            acl: vec![],
            xattrs: vec![],
            client_name: "c".into(),
            client_machine: "m".into(),
            overwrite: false,
            storage_policy_id: 0,
            erasure_coding_policy_id: 0,
            rpc: RpcIds::NONE,
        })));
        fs.mkdir("/behind");
    });
    assert_eq!(start(&killed.with(&killed.bytes)).unwrap().1, killed.dump);
    let huge = killed.frames.iter().position(|(_, len)| *len > 3 << 20).unwrap();
    for parts in 0..3 {
        let mut bytes = killed.bytes.clone();
        bytes[killed.frames[huge].0 + (parts << 20)..].fill(0xFF);
        assert_eq!(start(&killed.with(&bytes)).unwrap().0, TxId(huge as u64), "{parts} parts");
    }
    for at in [20, 1 << 20, 3 << 20] {
        check_flip(&killed, killed.frames[huge].0 + at, 0x20);
    }
}

/// The last byte of the log alone in its sector, and that sector never written: the operation is mended, durably.
#[test]
fn a_mended_byte_survives_a_crash() {
    let killed = (0..SECTOR_BYTES)
        .map(|pad| {
            killed(1, 3, |fs| {
                fs.mkdir(&format!("/{:x<1$}", "", 1 + pad % 250));
                fs.mkdir(&format!("/{:y<1$}", "", 1 + pad / 250));
            })
        })
        .find(|killed| killed.end() % SECTOR_BYTES == 1 && killed.bytes[killed.end() - 1] != 0xFF)
        .unwrap();
    let mut bytes = killed.bytes.clone();
    bytes[killed.end() - 1] = 0xFF;
    let disk = killed.with(&bytes);
    disk.sync_dir(Path::new("/name/current"), SyncPoint("test")).unwrap();
    let fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    assert_eq!(fs.namespace.dump(), killed.dump);
    let after = disk.crash_clone(CrashMode::Nothing, 0);
    assert_eq!(start(&after).unwrap().1, killed.dump);
}

#[test]
fn the_refusal_says_where_what_and_what_to_do() {
    let killed = killed(5, 10, |_| {});
    let mut bytes = killed.bytes.clone();
    bytes[killed.frames[4].0 + 20] ^= 1;
    let text = start(&killed.with(&bytes)).unwrap_err().to_string();
    let (before, after) = text.split_once(": ").unwrap();
    assert_eq!(
        before,
        format!("{} is damaged at offset {}, transaction 5", killed.segment.display(), killed.frames[4].0)
    );
    assert!(after.starts_with("its checksum is "), "{text}");
    assert!(text.ends_with(
        "Nothing was changed. Restore the file from another name directory or a copy; to give up transaction 5, or it \
         and all after it: surus namenode -recover"
    ));
}

/// An operation of a later version is sound, and still cannot be passed over: it is named with its place, whether the
/// segment was finished or not.
#[test]
fn an_unknown_operation_is_named() {
    let killed = killed(5, 10, |_| {});
    let (at, len) = killed.frames[6];
    let mut bytes = killed.bytes.clone();
    bytes[at] = 99;
    let crc = crc32fast::hash(&bytes[at..at + len - 4]);
    bytes[at + len - 4..at + len].copy_from_slice(&crc.to_be_bytes());
    let in_progress = killed.with(&bytes);
    let finalized = killed.with(&bytes);
    let name = format!("/name/current/edits_0000000000000000001-{:019}", killed.last.0);
    finalized.open(&killed.segment, OpenMode::ReadWrite).unwrap().set_len(killed.end() as u64).unwrap();
    finalized.rename(&killed.segment, Path::new(&name)).unwrap();
    for (disk, segment) in [(in_progress, killed.segment.display().to_string()), (finalized, name)] {
        let text = start(&disk).unwrap_err().to_string();
        let expected = format!("{segment} is damaged at offset {at}, transaction 7: opcode 99 is unknown. Nothing was");
        assert!(text.starts_with(&expected), "{text}");
    }
}

#[test]
fn another_directorys_copy_makes_damage_good() {
    let disk = MemDisk::new();
    let dirs = [PathBuf::from("/a"), PathBuf::from("/b")];
    format_dirs(&disk, &dirs);
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs).unwrap();
    for i in 0..20 {
        fs.mkdir(&format!("/{i}"));
    }
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    let disk = disk.kill_clone();
    let path = Path::new("/a/current/edits_inprogress_0000000000000000001");
    let file = disk.open(path, OpenMode::ReadWrite).unwrap();
    file.write_all_at(&[9], 300).unwrap();
    let storage = open(Arc::new(disk.clone()), &dirs).unwrap();
    let mut notices = Notices::default();
    let loaded = storage.load(config(), &mut notices).unwrap();
    assert_eq!(loaded.namespace.dump(), fs.namespace.dump());
    assert_eq!(notices.0.len(), 2, "{notices:?}", notices = notices.0);
    assert!(disk.exists(Path::new("/a/current/edits_inprogress_0000000000000000001.corrupt")).unwrap());
}

#[test]
fn missing_segments_are_named() {
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs());
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    for name in ["/a", "/b", "/c"] {
        fs.mkdir(name);
        fs.log.roll();
    }
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    // seen_txid follows the roll, and comes before the next commit.
    fs.mkdir("/d");
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    let current = Path::new("/name/current");
    let without = |name: &str| {
        let disk = disk.kill_clone();
        disk.remove_file(&current.join(name)).unwrap();
        start(&disk).unwrap_err().to_string()
    };
    assert!(
        without("edits_0000000000000000004-0000000000000000006")
            .starts_with("transactions 4 to 6 are in no name directory")
    );
    // Nothing but seen_txid knows of the last one.
    assert!(without("edits_inprogress_0000000000000000010").starts_with("transaction 10 is in no name directory"));
}

#[test]
fn a_finalised_segment_must_hold_what_its_name_says() {
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs());
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    fs.mkdir("/a");
    fs.log.close().unwrap();
    let disk = disk.kill_clone();
    let path = Path::new("/name/current/edits_0000000000000000001-0000000000000000003");
    let bytes = disk.read(path, 1 << 20).unwrap();
    let other = Path::new("/name/current/edits_0000000000000000001-0000000000000000004");
    disk.rename(path, other).unwrap();
    let damage = |disk: &MemDisk| match start(disk) {
        Err(JournalError::Damaged(damage)) => (damage.txid, damage.problem),
        other => panic!("{other:?}"),
    };
    assert_eq!(damage(&disk), (TxId(4), DamageKind::EndsEarly));
    disk.rename(other, Path::new("/name/current/edits_0000000000000000001-0000000000000000002")).unwrap();
    assert_eq!(damage(&disk), (TxId(3), DamageKind::RunsOver));
    disk.remove_file(Path::new("/name/current/edits_0000000000000000001-0000000000000000002")).unwrap();
    let file = disk.open(path, OpenMode::Create).unwrap();
    file.write_all_at(&bytes[..bytes.len() - 5], 0).unwrap();
    assert!(matches!(damage(&disk), (TxId(3), DamageKind::Op(_))));
    // A sound operation in the wrong place.
    let mut bytes = bytes[..8].to_vec();
    encode_op(&EditOp::StartLogSegment, TxId(2), &mut bytes);
    file.set_len(0).unwrap();
    file.write_all_at(&bytes, 0).unwrap();
    assert_eq!(damage(&disk), (TxId(1), DamageKind::WrongTxId(TxId(2))));
    assert!(OpDecoder::new(-40).is_err());
}

#[test]
fn a_damaged_image_is_passed_over() {
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs());
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    let mut load = MixedLoad::new(9);
    for step in 0..60 {
        for op in load.step() {
            fs.run(op);
        }
        if step == 30 {
            fs.checkpoint().unwrap();
        }
    }
    fs.log.close().unwrap();
    let disk = disk.kill_clone();
    let name = disk
        .list(Path::new("/name/current"))
        .unwrap()
        .into_iter()
        .map(|e| e.name)
        .rfind(|n| n.starts_with("fsimage") && !n.ends_with("md5"));
    let image = Path::new("/name/current").join(name.unwrap());
    let bytes = disk.read(&image, 1 << 30).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let disk = disk.kill_clone();
        let file = disk.open(&image, OpenMode::ReadWrite).unwrap();
        file.write_all_at(&[bytes[at] ^ 0x41], at as u64).unwrap();
        let (_, dump, notices) = start(&disk).unwrap_or_else(|e| panic!("byte {at}: {e}"));
        assert_eq!(dump, fs.namespace.dump());
        let [notice] = notices.as_slice() else { panic!("{notices:?}") };
        assert!(notice.contains("section ") && notice.contains("MD5"), "byte {at}: {notice}");
    }
}

#[test]
fn what_is_damaged_can_be_given_up() {
    let killed = killed(5, 40, |_| {});
    for place in [1, killed.frames.len() / 2, killed.frames.len() - 2] {
        let (at, len) = killed.frames[place];
        let mut bytes = killed.bytes.clone();
        bytes[at + len / 2] ^= 1;
        let disk = killed.with(&bytes);
        let storage = open(Arc::new(disk.clone()), &dirs()).unwrap();
        let Err(JournalError::Damaged(damage)) = storage.load(config(), &mut ()) else { panic!("damage at {at}") };
        let cut = JournalError::Damaged(damage).cut().unwrap();
        let kept = storage.give_up_from(&cut).unwrap();
        assert_eq!(disk.read(&kept[0], 1 << 30).unwrap(), bytes, "the damaged segment is kept as it was");
        let loaded = storage.load(config(), &mut ()).unwrap();
        assert_eq!(loaded.last_txid.0, cut.txid.0 - 1);
        // The log goes on from there, and the next start agrees.
        let mut fs = Running::start_with(storage, loaded).unwrap();
        fs.mkdir("/after");
        fs.log.wait_durable(fs.log.last_txid()).unwrap();
        let dump = fs.namespace.dump();
        let again = Running::start(Arc::new(disk.kill_clone()), &dirs()).unwrap();
        assert_eq!(again.namespace.dump(), dump);
    }
}

/// Lets everything pass, and keeps what it was asked.
#[derive(Default)]
struct PassesOver(Vec<String>);

impl LoadObserver for PassesOver {
    fn passes_over(&mut self, problem: &JournalError) -> bool {
        let kind = match problem {
            JournalError::Damaged(_) => "damaged",
            JournalError::Replay { .. } => "does not apply",
            JournalError::Gap { .. } => "missing",
            _ => panic!("{problem}"),
        };
        let asked = format!("{} {kind}", problem.cut().unwrap().txid);
        if self.0.last() != Some(&asked) {
            self.0.push(asked);
        }
        true
    }
}

/// Loads in recovery mode, then twice as ever: all three must come to the same. Gives what was asked, and the paths there are.
fn recover(disk: &MemDisk, last: TxId) -> (Vec<String>, Vec<String>) {
    let mut observer = PassesOver::default();
    let storage = open(Arc::new(disk.clone()), &dirs()).unwrap();
    let loaded = storage.load(config(), &mut observer).unwrap();
    drop(storage);
    assert_eq!(loaded.last_txid, last);
    let dump = loaded.namespace.dump();
    for _ in 0..2 {
        let (again, found, _) = start(disk).unwrap();
        assert_eq!((again, &found), (last, &dump));
    }
    (observer.0, paths(&loaded.namespace))
}

fn directories(names: &'static [&'static str]) -> Killed {
    killed(5, 0, |fs| {
        for name in names {
            fs.mkdir(name);
        }
    })
}

/// The number of the frame whose transaction it is.
fn frame_of(killed: &Killed, txid: u64) -> (usize, usize) {
    let is_it = |(at, _): &&(usize, usize)| FrameHead::parse(&killed.bytes[*at..]).unwrap().txid == txid;
    *killed.frames.iter().find(is_it).unwrap()
}

#[test]
fn one_damaged_operation_is_passed_over_and_what_needs_it() {
    let killed = directories(&["/a", "/b", "/b/c", "/d"]);
    let first = killed.last.0 - 3;
    let (at, len) = frame_of(&killed, first + 1);
    let mut bytes = killed.bytes.clone();
    bytes[at + len / 2] ^= 1;
    let disk = killed.with(&bytes);
    let (asked, paths) = recover(&disk, killed.last);
    assert_eq!(asked, [format!("{} damaged", first + 1), format!("{} does not apply", first + 2)]);
    assert_eq!(paths, ["/", "/a", "/d"]);
    // What is damaged is kept.
    let aside = PathBuf::from(format!("{}.corrupt", killed.segment.display()));
    assert_eq!(disk.read(&aside, 1 << 30).unwrap(), bytes);
}

#[test]
fn a_damaged_header_and_a_damaged_end_are_passed_over() {
    let killed = directories(&["/a", "/b"]);
    let last = killed.last.0;
    let mut bytes = killed.bytes.clone();
    bytes[5] = 9;
    let (asked, paths) = recover(&killed.with(&bytes), killed.last);
    assert_eq!((asked, paths), (vec!["1 damaged".to_owned()], vec!["/".into(), "/a".into(), "/b".into()]));
    let (at, len) = frame_of(&killed, last);
    let mut bytes = killed.bytes.clone();
    bytes[at + len / 2] ^= 1;
    let (asked, paths) = recover(&killed.with(&bytes), TxId(last - 1));
    assert_eq!((asked, paths), (vec![format!("{last} damaged")], vec!["/".into(), "/a".into()]));
}

#[test]
fn missing_segments_are_passed_over() {
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs());
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    fs.mkdir("/a");
    fs.log.roll();
    let middle = fs.mkdir("/b");
    fs.log.roll();
    fs.mkdir("/c");
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    let last = fs.log.last_txid();
    let disk = disk.kill_clone();
    let current = Path::new("/name/current");
    let holds =
        |name: &FileName| matches!(name, FileName::Finalized { first, last } if (*first..=*last).contains(&middle));
    let names = disk.list(current).unwrap();
    let lost = names.iter().find(|entry| FileName::parse(&entry.name).is_some_and(|name| holds(&name))).unwrap();
    disk.remove_file(&current.join(&lost.name)).unwrap();
    let (asked, paths) = recover(&disk, last);
    assert_eq!((asked.len(), asked[0].ends_with(" missing")), (1, true), "{asked:?}");
    assert_eq!(paths, ["/", "/a", "/c"]);
}

#[test]
fn a_finalized_segment_that_ends_early_is_passed_over() {
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs());
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    fs.mkdir("/a");
    let cut = fs.mkdir("/b");
    fs.log.roll();
    fs.mkdir("/c");
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    let last = fs.log.last_txid();
    let disk = disk.kill_clone();
    let entries = disk.list(Path::new("/name/current")).unwrap();
    let name = entries.into_iter().map(|entry| entry.name).find(|name| name.starts_with("edits_0")).unwrap();
    let path = Path::new("/name/current").join(name);
    let bytes = disk.read(&path, 1 << 30).unwrap();
    let mut at = 8;
    while FrameHead::parse(&bytes[at..]).unwrap().txid < cut.0 {
        at += FrameHead::parse(&bytes[at..]).unwrap().frame_bytes;
    }
    disk.open(&path, OpenMode::ReadWrite).unwrap().set_len(at as u64).unwrap();
    let (asked, paths) = recover(&disk, last);
    assert_eq!(asked, [format!("{cut} damaged")]);
    assert_eq!(paths, ["/", "/a", "/c"]);
}
