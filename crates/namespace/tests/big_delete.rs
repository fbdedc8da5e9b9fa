//! A directory too large to free at once: it is gone for everybody at once all the same.

use crate::harness::Harness;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::{EditOp, InodeHandle, Namespace};
use surus_types::{FsPermission, TxId};

#[test]
fn detached_at_once_and_freed_in_slices() {
    let mut h = Harness::new(Namespace::default());
    let mkdirs = |h: &mut Harness, src: &str| {
        h.run(&Mkdirs { src, permission: FsPermission(0o755), unmasked: None, create_parent: true }).unwrap()
    };
    for i in 0..20 {
        mkdirs(&mut h, &format!("/big/d{i}/deep"));
        for j in 0..200 {
            h.put_file(&format!("/big/d{i}/f{j}"), 0o644, 100, &[10]);
        }
        h.open(&format!("/big/d{i}/f7"), &format!("client{i}"));
    }
    mkdirs(&mut h, "/kept");
    let blocks = h.namespace.blocks.num_blocks();
    let file = h.namespace.tree.lookup("/big/d3/f7").unwrap();
    let id = h.namespace.tree.inode(file).id();
    assert_eq!((blocks, h.namespace.leases.num_open_files()), (4000, 20));

    assert!(h.run(&Delete { src: "/big", recursive: true }).unwrap());
    assert!(h.namespace.has_detached());
    assert_eq!(h.namespace.num_inodes(), 2);
    assert!(h.namespace.tree.lookup("/big").is_none());
    let image = h.namespace.freeze();
    assert_eq!((image.inodes().count(), image.files_under_construction().count()), (2, 0));
    // A writer that still knows its file's id does not get at it.
    if let Some(file) = h.namespace.tree.get(id) {
        assert_eq!(h.namespace.tree.path_of(file), None);
    }
    // The name is free again, and new inodes are not mixed up with the old ones.
    mkdirs(&mut h, "/big/d3");
    let mut slices = 0;
    while h.namespace.free_slice(500) {
        slices += 1;
        assert_eq!(h.namespace.num_inodes(), 4);
    }
    assert!(slices > 5, "{slices}");
    assert_eq!(h.namespace.tree.get(id), None);
    assert_eq!((h.namespace.blocks.num_blocks(), h.namespace.leases.num_open_files()), (0, 0));
    assert_eq!(h.namespace.tree.counts(InodeHandle::ROOT).directories, 4);
}

#[test]
fn replay_frees_without_ticks() {
    let mut h = Harness::new(Namespace::default());
    let mkdirs = |h: &mut Harness, src: &str| {
        h.run(&Mkdirs { src, permission: FsPermission(0o755), unmasked: None, create_parent: true }).unwrap()
    };
    for i in 0..2500 {
        mkdirs(&mut h, &format!("/big/d{i}"));
    }
    h.run(&Delete { src: "/big", recursive: true }).unwrap();
    for i in 0..100 {
        let op = EditOp::Times { path: "/".into(), mtime: i, atime: -1 };
        h.namespace.apply(&op, TxId(3000 + i as u64)).unwrap();
    }
    assert!(!h.namespace.has_detached());
}
