//! Checks of subtrees in slices: the answer is that of the check in one go, whatever changes in between.

use crate::harness::{Harness, caller};
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::rename::Rename;
use surus_namespace::ops::set_permission::SetPermission;
use surus_namespace::ops::snapshot::{AllowSnapshot, CreateSnapshot, DeleteSnapshot};
use surus_namespace::permission::Wanted;
use surus_namespace::{InodeHandle, Namespace, SubtreeWalk};
use surus_types::{FsAction, FsPermission, HdfsError};

const READ: Wanted = Wanted {
    owner: false,
    ancestor: None,
    parent: None,
    access: None,
    subtree: Some(FsAction::READ_EXECUTE),
    ignore_empty_directories: false,
    summary: true,
};

const READ_EXECUTE: FsAction = FsAction::READ_EXECUTE;

struct Tree {
    h: Harness,
    top: InodeHandle,
}

fn mkdirs(h: &mut Harness, src: &str, mode: u16) {
    h.run(&Mkdirs { src, permission: FsPermission(mode), unmasked: None, create_parent: true }).unwrap();
}

/// `/top` with 40 directories of 30 directories and 100 files each.
fn tree() -> Tree {
    let mut h = Harness::new(Namespace::default());
    for i in 0..40 {
        for j in 0..30 {
            mkdirs(&mut h, &format!("/top/d{i}/e{j}"), 0o755);
        }
        for j in 0..100 {
            h.put_file(&format!("/top/d{i}/f{j}"), 0o644, 100, &[]);
        }
    }
    mkdirs(&mut h, "/aside/many", 0o755);
    let top = h.namespace.tree.lookup("/top").unwrap();
    Tree { h, top }
}

impl Tree {
    /// Runs as alice; `change` is called by the superuser after the slice of that number.
    fn walk(
        &mut self,
        wanted: Wanted,
        slice: usize,
        mut change: impl FnMut(&mut Harness, usize),
    ) -> Result<(SubtreeWalk, usize), HdfsError> {
        let mut walk = self.h.namespace.begin_walk(self.top, wanted);
        let mut slices = 0;
        loop {
            self.h.caller = caller("alice", &["users"], false);
            let done = self.h.namespace.walk_slice(&self.h.env(), &mut walk, slice);
            self.h.caller = caller("root", &["root"], true);
            slices += 1;
            match done {
                Ok(false) => change(&mut self.h, slices),
                Ok(true) => return Ok((walk, slices)),
                Err(error) => {
                    self.h.namespace.end_walk();
                    return Err(error);
                }
            }
        }
    }

    fn holds(&mut self, walk: &SubtreeWalk) -> Result<bool, HdfsError> {
        self.h.caller = caller("alice", &["users"], false);
        let holds = self.h.namespace.walk_holds(&self.h.env(), walk, self.top);
        self.h.caller = caller("root", &["root"], true);
        self.h.namespace.end_walk();
        holds
    }
}

fn chmod(h: &mut Harness, src: &str, mode: u16) {
    h.run(&SetPermission { src, permission: FsPermission(mode) }).unwrap();
}

#[test]
fn slices_see_what_one_go_sees() {
    let mut tree = tree();
    let (walk, slices) = tree.walk(READ, 100, |_, _| ()).unwrap();
    assert!(slices > 40, "{slices}");
    assert_eq!(tree.holds(&walk), Ok(true));
    for (denied, summary) in [("/top/d7/e3", true), ("/top/d31", false), ("/top", true)] {
        chmod(&mut tree.h, denied, 0o700);
        let wanted = Wanted { summary, ..READ };
        let error = tree.walk(wanted, 100, |_, _| ()).unwrap_err();
        assert!(error.message.contains(&format!("inode=\"{denied}\":root:supergroup:drwx------")), "{error}");
        tree.h.caller = caller("alice", &["users"], false);
        let path = tree.h.namespace.resolve(&tree.h.env(), "/top", surus_namespace::DirOp::Read).unwrap();
        assert_eq!(tree.h.namespace.check_permission(&tree.h.env(), &path, wanted), Err(error));
        tree.h.caller = caller("root", &["root"], true);
        chmod(&mut tree.h, denied, 0o755);
    }
}

#[test]
fn changes_behind_the_walk_are_looked_at_again() {
    // What is harmless does no harm: new directories, others that go, modes elsewhere.
    let mut tree_ = tree();
    let (walk, _) = tree_
        .walk(READ, 50, |h, slice| {
            mkdirs(h, &format!("/top/d0/new{slice}"), 0o755);
            chmod(h, "/aside", 0o700);
        })
        .unwrap();
    assert_eq!(tree_.holds(&walk), Ok(true));
    // A directory that was looked at is closed, a closed one comes in.
    for (close, path) in [(true, "/top/d0/e1"), (false, "/top/d0/moved")] {
        let mut tree = tree();
        let (walk, _) = tree
            .walk(READ, 50, |h, slice| match close {
                // The walk has been everywhere but in the last directories when this happens.
                true if slice == 90 => chmod(h, path, 0o700),
                false if slice == 90 => {
                    mkdirs(h, "/aside/closed", 0o700);
                    assert!(h.run(&Rename { src: "/aside/closed", dst: path }).unwrap());
                }
                _ => {}
            })
            .unwrap();
        let denied = tree.holds(&walk).unwrap_err();
        assert!(denied.message.contains(&format!("inode=\"{path}\"")), "{denied}");
    }
}

#[test]
fn too_much_change_begins_anew() {
    let mut tree = tree();
    for i in 0..1_001 {
        mkdirs(&mut tree.h, &format!("/aside/many/x{i}"), 0o755);
    }
    let (walk, _) = tree
        .walk(READ, 50, |h, slice| {
            if slice == 10 {
                assert!(h.run(&Rename { src: "/aside/many", dst: "/top/d0/many" }).unwrap());
            }
        })
        .unwrap();
    assert_eq!(tree.holds(&walk), Ok(false));
    // Another directory stands at the path.
    let (walk, _) = tree.walk(READ, 1_000, |_, _| ()).unwrap();
    tree.top = tree.h.namespace.tree.lookup("/aside").unwrap();
    assert_eq!(tree.holds(&walk), Ok(false));
}

/// Of what a snapshot shows the slices come to the same as one go, and nothing that happens meanwhile changes it but the
/// snapshot's deletion.
#[test]
fn totals_of_a_snapshot_in_slices() {
    let Tree { mut h, .. } = tree();
    h.run(&AllowSnapshot { root: "/top" }).unwrap();
    let create = |h: &mut Harness, name| h.run(&CreateSnapshot { root: "/top", name, default_name: "-" }).map(drop);
    create(&mut h, "s").unwrap();
    for i in 0..20 {
        h.run(&Delete { src: &format!("/top/d{i}"), recursive: true }).unwrap();
        mkdirs(&mut h, &format!("/top/d{i}/new"), 0o755);
    }
    let src = "/top/.snapshot/s";
    let whole = h.namespace.get_content_summary(&h.env(), src).unwrap();
    assert_eq!((whole.directory_count, whole.file_count), (1 + 40 * 31, 40 * 100));
    for slice in [1, 7, 100, 100_000] {
        let mut walk = h.namespace.begin_past_walk(&h.env(), src, "", READ_EXECUTE).unwrap().unwrap();
        let mut slices = 1;
        while !h.namespace.past_walk_slice(&h.env(), &mut walk, slice).unwrap() {
            slices += 1;
            if slices % 1000 == 0 {
                h.run(&Delete { src: &format!("/top/d{}", 20 + slices / 1000), recursive: true }).unwrap();
            }
        }
        assert_eq!(h.namespace.past_summary(&walk), whole);
        assert!(slices >= (whole.directory_count + whole.file_count) as usize / slice, "{slices} of {slice}");
    }
    assert!(h.namespace.begin_past_walk(&h.env(), "/top", "", READ_EXECUTE).unwrap().is_none());

    h.run(&SetPermission { src: "/top/d38", permission: FsPermission(0o700) }).unwrap();
    h.run(&SetPermission { src: "/top/d39/e29", permission: FsPermission(0o700) }).unwrap();
    create(&mut h, "t").unwrap();
    h.caller = caller("alice", &["users"], false);
    let src = "/top/.snapshot/t";
    let whole = h.namespace.get_content_summary(&h.env(), src).unwrap_err();
    let mut walk = h.namespace.begin_past_walk(&h.env(), src, "", READ_EXECUTE).unwrap().unwrap();
    let refused = loop {
        match h.namespace.past_walk_slice(&h.env(), &mut walk, 100) {
            Ok(done) => assert!(!done),
            Err(refused) => break refused,
        }
    };
    assert_eq!(refused, whole);
    assert!(refused.message.contains("d38"), "{refused:?}");

    h.caller = caller("root", &["root"], true);
    let mut walk = h.namespace.begin_past_walk(&h.env(), src, "File does not exist: ", READ_EXECUTE).unwrap().unwrap();
    assert!(!h.namespace.past_walk_slice(&h.env(), &mut walk, 100).unwrap());
    h.run(&DeleteSnapshot { root: "/top", name: "t" }).unwrap();
    let refused = h.namespace.past_walk_slice(&h.env(), &mut walk, 100).unwrap_err();
    assert_eq!(refused, h.namespace.get_content_summary(&h.env(), src).unwrap_err());
}
