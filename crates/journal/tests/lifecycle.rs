//! Format, write, roll, checkpoint, stop, start again; several directories; refusals.

use crate::common::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_disk::{Disk, Fault, FaultKind, MemDisk, OpenMode, RealDisk, SyncPoint};
use surus_journal::{JournalError, is_formatted};
use surus_types::TxId;

fn names(disk: &dyn Disk, dir: &Path) -> Vec<String> {
    disk.list(&dir.join("current")).unwrap().into_iter().map(|entry| entry.name).collect()
}

fn life(disk: Arc<dyn Disk>, base: &Path) {
    let dirs = [base.join("name1"), base.join("name2")];
    assert!(!is_formatted(&*disk, &dirs).unwrap());
    format_dirs(&*disk, &dirs);
    assert!(is_formatted(&*disk, &dirs).unwrap());
    assert_eq!(
        names(&*disk, &dirs[0]),
        ["VERSION", "fsimage_0000000000000000000", "fsimage_0000000000000000000.md5", "seen_txid"]
    );

    let mut fs = Running::start(disk.clone(), &dirs).unwrap();
    assert!(matches!(open(disk.clone(), &dirs).err(), Some(JournalError::Locked(_))));
    for i in 0..100 {
        fs.mkdir(&format!("/d{i}"));
    }
    let last = fs.mkdir("/ä");
    fs.log.wait_durable(last).unwrap();
    assert!(fs.heard.lock().durable >= last);
    let roll = fs.log.roll();
    fs.log.wait_durable(roll.started).unwrap();
    let last = fs.mkdir("/after-roll");
    fs.log.wait_durable(last).unwrap();
    for dir in &dirs {
        let len = disk.metadata(&dir.join("current/edits_inprogress_0000000000000000104")).unwrap().len;
        assert_eq!(len, 1 << 20);
        assert_eq!(disk.read(&dir.join("current/seen_txid"), 100).unwrap(), b"104\n");
        assert!(names(&*disk, dir).contains(&"edits_0000000000000000001-0000000000000000103".to_owned()));
    }
    assert_eq!(fs.checkpoint().unwrap(), TxId(106));
    let last = fs.mkdir("/after-checkpoint");
    fs.log.close().unwrap();
    let expected = paths(&fs.namespace);
    drop(fs);

    let storage = open(disk.clone(), &dirs).unwrap();
    let mut notices = Notices::default();
    let loaded = storage.load(config(), &mut notices).unwrap();
    assert_eq!((loaded.image_txid, loaded.last_txid), (TxId(106), TxId(last.0 + 1)));
    assert!(loaded.needs_checkpoint);
    assert_eq!(notices.0, [""; 0]);
    assert_eq!(paths(&loaded.namespace), expected);
    let fs = Running::start_with(storage, loaded).unwrap();
    fs.checkpoint().unwrap();
    let images = names(&*disk, &dirs[1]).into_iter().filter(|n| n.starts_with("fsimage") && !n.ends_with("md5"));
    assert_eq!(images.count(), 2, "two are retained");
    drop(fs);
    let loaded = open(disk.clone(), &dirs[..1]).unwrap().load(config(), &mut ()).unwrap();
    assert_eq!(paths(&loaded.namespace), expected);
}

#[test]
fn life_of_a_name_directory() {
    life(Arc::new(MemDisk::new()), Path::new("/base"));
    let dir = tempfile::tempdir().unwrap();
    life(Arc::new(RealDisk), dir.path());
}

#[test]
fn format_refuses_a_directory_that_holds_anything() {
    let disk = MemDisk::new();
    let dirs = [PathBuf::from("/a"), PathBuf::from("/b")];
    disk.create_dir_all(Path::new("/b")).unwrap();
    disk.open(Path::new("/b/notes.txt"), OpenMode::Create).unwrap();
    let before = disk.contents();
    let formatted =
        surus_journal::format(&disk, &dirs, &info(), &surus_namespace::Namespace::new(config()).freeze(), 0, "1@test");
    assert_eq!(
        formatted.unwrap_err().to_string(),
        "/b is not formatted: it holds notes.txt. Empty it first, or name another directory"
    );
    assert_eq!(disk.contents(), before);
}

#[test]
fn a_directory_that_fails_is_dropped_and_comes_back_whole() {
    let disk = MemDisk::new();
    let dirs = [PathBuf::from("/a"), PathBuf::from("/b")];
    format_dirs(&disk, &dirs);
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs).unwrap();
    let first = fs.mkdir("/one");
    fs.log.wait_durable(first).unwrap();
    disk.inject(Fault::all(FaultKind::Sync, std::io::ErrorKind::Other).below("/a/"));
    let second = fs.mkdir("/two");
    fs.log.wait_durable(second).unwrap();
    assert_eq!(fs.heard.lock().failed_directories, [PathBuf::from("/a")]);
    assert_eq!(fs.storage.directories().map(|(_, is_live)| is_live).collect::<Vec<_>>(), [false, true]);
    fs.checkpoint().unwrap();
    let third = fs.mkdir("/three");
    fs.log.wait_durable(third).unwrap();
    let expected = paths(&fs.namespace);
    drop(fs);
    disk.clear_faults();

    let fs = Running::start(Arc::new(disk.clone()), &dirs).unwrap();
    assert_eq!(paths(&fs.namespace), expected);
    fs.checkpoint().unwrap();
    drop(fs);
    let fs = Running::start(Arc::new(disk.clone()), &dirs[..1]).unwrap();
    assert_eq!(paths(&fs.namespace), expected, "the directory that had failed is whole");
}

#[test]
fn nothing_is_acknowledged_when_no_directory_is_left() {
    use surus_disk::FaultEffect::{Error, Short};
    for (kind, effect) in [
        (FaultKind::Sync, Error(std::io::ErrorKind::Other)),
        (FaultKind::Write, Error(std::io::ErrorKind::StorageFull)),
        (FaultKind::Write, Short(0)),
        (FaultKind::Write, Short(30)),
    ] {
        let disk = MemDisk::new();
        let dirs = [PathBuf::from("/a")];
        format_dirs(&disk, &dirs);
        let mut fs = Running::start(Arc::new(disk.clone()), &dirs).unwrap();
        let first = fs.mkdir("/one");
        fs.log.wait_durable(first).unwrap();
        disk.inject(Fault::all(kind, std::io::ErrorKind::Other).with(effect).times(1));
        let second = fs.mkdir("/two");
        assert!(matches!(fs.log.wait_durable(second), Err(JournalError::Stopped(_))), "{kind:?} {effect:?}");
        let third = fs.mkdir("/three");
        assert!(fs.log.wait_durable(third).is_err());
        assert_eq!(fs.heard.lock().durable, first);
        assert!(fs.heard.lock().failed.is_some());
        drop(fs);
        let fs = Running::start(Arc::new(disk.clone()), &dirs).unwrap();
        let found = paths(&fs.namespace);
        assert!(found.starts_with(&["/".to_owned(), "/one".to_owned()]), "{found:?}");
    }
}

#[test]
fn a_version_that_does_not_fit_is_named() {
    let disk = MemDisk::new();
    let dirs = [PathBuf::from("/a")];
    format_dirs(&disk, &dirs);
    let path = Path::new("/a/current/VERSION");
    let text = String::from_utf8(disk.read(path, 1000).unwrap()).unwrap();
    let with = |text: &str| {
        let file = disk.open(path, OpenMode::Create).unwrap();
        file.write_all_at(text.as_bytes(), 0).unwrap();
        file.sync_data(SyncPoint("test")).unwrap();
        let found = open(Arc::new(disk.clone()), &dirs).and_then(|storage| storage.load(config(), &mut ()).map(|_| ()));
        found.err().map(|e| e.to_string())
    };
    assert_eq!(with("garbage").unwrap(), "/a/current/VERSION: storageType is missing");
    assert_eq!(
        with(&text.replace("namespaceID=7", "namespaceID=8")).unwrap(),
        "no fsimage can be read; /a/current/fsimage_0000000000000000000: section NS_INFO at offset 8: the image has \
         namespaceID 7, the directory's VERSION says 8"
    );
    let other_layout = with(&text.replace("-67", "-66")).unwrap();
    assert!(other_layout.contains("layout version -67, the directory's VERSION says -66"), "{other_layout}");
    assert_eq!(with(&text), None);
}

/// What inotify reads: over the borders of segments, from the middle, and no further than asked.
#[test]
fn edits_are_read_again_while_they_are_written() {
    let disk: Arc<dyn Disk> = Arc::new(MemDisk::new());
    let dirs = [PathBuf::from("/name1"), PathBuf::from("/name2")];
    format_dirs(&*disk, &dirs);
    let mut fs = Running::start(Arc::clone(&disk), &dirs).unwrap();
    for i in 0..5 {
        fs.mkdir(&format!("/a{i}"));
    }
    fs.log.roll();
    let last = fs.mkdir("/b");
    fs.log.wait_durable(last).unwrap();
    let read = |from: u64, last: TxId, max: usize| {
        let mut seen = Vec::new();
        let mut visit = |txid: TxId, op: surus_namespace::EditOp| {
            seen.push((txid.0, op.name()));
            seen.len() < max
        };
        fs.storage.read_edits(TxId(from), last, &mut visit).unwrap();
        seen
    };
    let all = read(1, last, usize::MAX);
    assert_eq!(all.iter().map(|(txid, _)| *txid).collect::<Vec<_>>(), (1..=last.0).collect::<Vec<_>>());
    assert_eq!((all[0].1, all[6].1, all.last().unwrap().1), ("OP_START_LOG_SEGMENT", "OP_END_LOG_SEGMENT", "OP_MKDIR"));
    assert_eq!(read(4, TxId(5), usize::MAX), [(4, "OP_MKDIR"), (5, "OP_MKDIR")]);
    assert_eq!(read(6, last, 2), [(6, "OP_MKDIR"), (7, "OP_END_LOG_SEGMENT")]);
    assert_eq!(read(last.0 + 1, last, 2), []);
}

#[test]
fn edits_are_read_past_a_segment_that_a_failed_directory_left() {
    let disk = MemDisk::new();
    let dirs = [PathBuf::from("/name")];
    format_dirs(&disk, &dirs);
    let storage = open(Arc::new(disk.clone()), &dirs).unwrap();
    let loaded = storage.load(config(), &mut ()).unwrap();
    let mut fs = Running::start_with(Arc::clone(&storage), loaded).unwrap();
    let last = fs.mkdir("/a");
    fs.log.wait_durable(last).unwrap();
    let stale = disk.read(Path::new("/name/current/edits_inprogress_0000000000000000001"), 2 << 20).unwrap();
    let roll = fs.log.roll();
    let last = fs.mkdir("/b");
    fs.log.wait_durable(last).unwrap();
    let left = Path::new("/name/current/edits_inprogress_0000000000000000002");
    disk.open(left, OpenMode::Create).unwrap().write_all_at(&stale, 0).unwrap();
    let mut seen = Vec::new();
    let read = storage.read_edits(roll.started, last, &mut |txid, _| {
        seen.push(txid);
        true
    });
    read.unwrap();
    assert_eq!(seen, [roll.started, last]);
}

/// A directory that failed and comes back while the log goes on: its old segment is set aside, and it takes part from the
/// next segment on.
#[test]
fn a_failed_directory_comes_back() {
    let disk = MemDisk::new();
    let dirs = [PathBuf::from("/a"), PathBuf::from("/b")];
    format_dirs(&disk, &dirs);
    let storage = open(Arc::new(disk.clone()), &dirs).unwrap();
    storage.set_restore(true);
    let loaded = storage.load(config(), &mut ()).unwrap();
    let mut fs = Running::start_with(Arc::clone(&storage), loaded).unwrap();
    let last = fs.mkdir("/1");
    fs.log.wait_durable(last).unwrap();
    disk.inject(Fault::all(FaultKind::Sync, std::io::ErrorKind::Other).below("/b/"));
    let last = fs.mkdir("/2");
    fs.log.wait_durable(last).unwrap();
    assert!(storage.directories().any(|(path, is_live)| path == dirs[1] && !is_live));
    disk.clear_faults();
    let roll = fs.log.roll();
    let last = fs.mkdir("/3");
    fs.log.wait_durable(last).unwrap();
    assert!(storage.directories().all(|(_, is_live)| is_live));
    let names: Vec<String> = disk.list(Path::new("/b/current")).unwrap().into_iter().map(|entry| entry.name).collect();
    let has = |name: &str| names.iter().any(|found| found == name);
    assert!(has("edits_inprogress_0000000000000000001.stale"), "{names:?}");
    assert!(has(&format!("edits_inprogress_{:019}", roll.started.0)), "{names:?}");
    let mut seen = Vec::new();
    let read = storage.read_edits(TxId(1), last, &mut |txid, _| {
        seen.push(txid.0);
        true
    });
    read.unwrap();
    assert_eq!(seen, (1..=last.0).collect::<Vec<_>>());
}

/// Nothing is acknowledged without a directory that is required, or with too few.
#[test]
fn required_directories_stop_the_log_when_they_fail() {
    let dirs = ["/a", "/b", "/c"].map(PathBuf::from);
    for (required, minimum, failing, goes_on) in
        [(None, 1, "/b/", true), (Some("/b"), 1, "/b/", false), (Some("/b"), 1, "/a/", true), (None, 3, "/c/", false)]
    {
        let disk = MemDisk::new();
        format_dirs(&disk, &dirs);
        let storage = Arc::try_unwrap(open(Arc::new(disk.clone()), &dirs).unwrap()).ok().unwrap();
        let storage = Arc::new(storage.with_required(required.map(PathBuf::from).into_iter().collect(), minimum));
        let loaded = storage.load(config(), &mut ()).unwrap();
        let mut fs = Running::start_with(Arc::clone(&storage), loaded).unwrap();
        disk.inject(Fault::all(FaultKind::Sync, std::io::ErrorKind::Other).below(failing));
        let last = fs.mkdir("/1");
        assert_eq!(fs.log.wait_durable(last).is_ok(), goes_on, "{required:?} {minimum} {failing}");
    }
}
