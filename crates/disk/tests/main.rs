//! The rules of `Disk`, held against both implementations, and the crash rules of the in-memory twin.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use surus_disk::{CrashMode, Disk, Fault, FaultEffect, FaultKind, MemDisk, OpenMode, RealDisk, SyncPoint};

const POINT: SyncPoint = SyncPoint("test");

fn on_both(check: impl Fn(&dyn Disk, &Path)) {
    let mem = MemDisk::new();
    mem.create_dir_all(Path::new("/base")).unwrap();
    check(&mem, Path::new("/base"));
    let dir = tempfile::tempdir().unwrap();
    check(&RealDisk, dir.path());
}

#[test]
fn files_and_names() {
    on_both(|disk, base| {
        let a = base.join("a");
        assert_eq!(disk.open(&a, OpenMode::Read).err().unwrap().kind(), ErrorKind::NotFound);
        let file = disk.open(&a, OpenMode::CreateNew).unwrap();
        assert_eq!(disk.open(&a, OpenMode::CreateNew).err().unwrap().kind(), ErrorKind::AlreadyExists);
        file.write_all_at(b"hello", 0).unwrap();
        file.write_all_at(b"world", 10).unwrap();
        file.sync_data(POINT).unwrap();
        assert_eq!(disk.read(&a, 100).unwrap(), b"hello\0\0\0\0\0world");
        assert_eq!(disk.read(&a, 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        file.set_len(5).unwrap();
        let (b, sub) = (base.join("b"), base.join("x/y"));
        disk.rename(&a, &b).unwrap();
        disk.create_dir_all(&sub).unwrap();
        disk.create_dir_all(&sub).unwrap();
        let names: Vec<_> = disk.list(base).unwrap().into_iter().map(|e| (e.name, e.is_dir)).collect();
        assert_eq!(names, [("b".to_owned(), false), ("x".to_owned(), true)]);
        assert_eq!(disk.metadata(&b).unwrap().len, 5);
        assert!(!disk.exists(&a).unwrap());
        assert_eq!(file.len().unwrap(), 5, "a handle follows the file, not the name");
        disk.sync_dir(base, POINT).unwrap();
        disk.remove_dir_all(&base.join("x")).unwrap();
        disk.remove_file(&b).unwrap();
        assert!(disk.list(base).unwrap().is_empty());
        assert_eq!(disk.remove_file(&b).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(disk.space(base).unwrap().capacity > 0);
    });
}

#[test]
fn a_lock_keeps_others_out_until_dropped() {
    on_both(|disk, base| {
        let path = base.join("in_use.lock");
        let guard = disk.lock(&path, "1@host").unwrap();
        assert_eq!(disk.lock(&path, "2@host").err().unwrap().kind(), ErrorKind::WouldBlock);
        assert_eq!(disk.read(&path, 100).unwrap(), b"1@host");
        drop(guard);
        assert!(!disk.exists(&path).unwrap());
        disk.lock(&path, "3@host").unwrap();
    });
}

#[test]
fn a_crash_forgets_names_and_content_that_were_not_synced() {
    let disk = MemDisk::new();
    disk.create_dir_all(Path::new("/d")).unwrap();
    disk.sync_dir(Path::new("/"), POINT).unwrap();
    let file = disk.open(Path::new("/d/f"), OpenMode::Create).unwrap();
    file.write_all_at(&[1; 1024], 0).unwrap();
    file.sync_data(POINT).unwrap();
    assert!(!disk.crash_clone(CrashMode::Nothing, 0).exists(Path::new("/d/f")).unwrap(), "no dir sync yet");
    disk.sync_dir(Path::new("/d"), POINT).unwrap();
    file.write_all_at(&[2; 1024], 512).unwrap();
    disk.rename(Path::new("/d/f"), Path::new("/d/g")).unwrap();
    let after = disk.crash_clone(CrashMode::Nothing, 0);
    assert_eq!(after.contents(), [(PathBuf::from("/d/f"), vec![1; 1024].into())]);

    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..500 {
        let contents = disk.crash_clone(CrashMode::Random, seed).contents();
        let [(path, data)] = contents.as_slice() else { panic!("a rename is atomic: {contents:?}") };
        assert!(data[..512].iter().all(|b| *b == 1));
        let shape: Vec<u8> = data.chunks(512).map(|s| s[0]).collect();
        seen.insert((path.clone(), shape));
    }
    let shapes: Vec<_> = seen.iter().filter(|(path, _)| path.ends_with("g")).map(|(_, s)| s.clone()).collect();
    assert_eq!(shapes, [vec![1, 1], vec![1, 1, 0], vec![1, 1, 2], vec![1, 2], vec![1, 2, 0], vec![1, 2, 2]]);
}

#[test]
fn faults_hit_the_nth_call_below_a_path() {
    let disk = MemDisk::new();
    for dir in ["/a", "/b"] {
        disk.create_dir_all(Path::new(dir)).unwrap();
    }
    let a = disk.open(Path::new("/a/f"), OpenMode::Create).unwrap();
    let b = disk.open(Path::new("/b/f"), OpenMode::Create).unwrap();
    disk.inject(Fault::all(FaultKind::Write, ErrorKind::StorageFull).below("/a/").after(1).times(1));
    b.write_all_at(b"x", 0).unwrap();
    a.write_all_at(b"x", 0).unwrap();
    assert_eq!(a.write_all_at(b"x", 0).unwrap_err().kind(), ErrorKind::StorageFull);
    a.write_all_at(b"x", 0).unwrap();
    disk.inject(Fault::all(FaultKind::Write, ErrorKind::Other).with(FaultEffect::Short(2)).times(1));
    assert_eq!(a.write_at(b"12345", 0).unwrap(), 2);
    disk.inject(Fault::all(FaultKind::Sync, ErrorKind::Other).times(1));
    assert!(a.sync_data(POINT).is_err());
    a.sync_data(POINT).unwrap();
    disk.set_capacity(4);
    assert_eq!(b.write_all_at(b"12345", 0).unwrap_err().kind(), ErrorKind::StorageFull);
}
