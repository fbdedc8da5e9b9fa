//! Random operations against a naive model (a map of paths), then the recorded operations replayed into a fresh namespace:
//! answers, trees and counters must agree, and replay must equal the live state. A failure prints its seed and shrinks.

use crate::harness::Harness;
use crate::model_attributes::{Attributes, Change, XATTRS_MAX, change, xattr};
use proptest::prelude::*;
use std::collections::BTreeMap;
use surus_namespace::edit_op::{AclEntry, AddClose, RenameOptions, XAttr};
use surus_namespace::ops::change_acl::ChangeAcl;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::remove_xattr::RemoveXAttr;
use surus_namespace::ops::rename::{Rename, Rename2};
use surus_namespace::ops::set_owner::SetOwner;
use surus_namespace::ops::set_permission::SetPermission;
use surus_namespace::ops::set_times::SetTimes;
use surus_namespace::ops::set_xattr::SetXAttr;
use surus_namespace::tree::{AclEntryView, InodeKind, XAttrView};
use surus_namespace::{
    ApplyError, EditOp, ImageInode, ImageKind, ImageLoader, InodeHandle, Namespace, NamespaceConfig,
};
use surus_types::ExceptionClass as E;
use surus_types::{Block, BlockId, FsPermission, GenerationStamp, HdfsError, InodeId, PermissionStatus, RpcIds, TxId};

#[derive(Clone, Debug)]
enum Step {
    Mkdirs { path: String, mode: u16, create_parent: bool },
    Put { path: String, length: u64 },
    Delete { path: String, recursive: bool },
    Rename { src: String, dst: String },
    Rename2 { src: String, dst: String, overwrite: bool },
    SetPermission { path: String, mode: u16 },
    SetOwner { path: String, user: String },
    SetTimes { path: String, mtime: i64 },
    ChangeAcl { path: String, change: Change },
    SetXAttr { path: String, xattr: XAttr, flags: u32 },
    RemoveXAttr { path: String, xattr: XAttr },
}

fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "é"]);
    prop::collection::vec(name, 1..5).prop_map(|names| format!("/{}", names.join("/")))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (path(), 0u16..0o2000, any::<bool>())
            .prop_map(|(path, mode, create_parent)| Step::Mkdirs { path, mode, create_parent }),
        4 => (path(), 0u64..300).prop_map(|(path, length)| Step::Put { path, length }),
        2 => (path(), any::<bool>()).prop_map(|(path, recursive)| Step::Delete { path, recursive }),
        3 => (path(), path()).prop_map(|(src, dst)| Step::Rename { src, dst }),
        3 => (path(), path(), any::<bool>())
            .prop_map(|(src, dst, overwrite)| Step::Rename2 { src, dst, overwrite }),
        1 => (path(), 0u16..0o2000).prop_map(|(path, mode)| Step::SetPermission { path, mode }),
        1 => (path(), prop::sample::select(vec!["u", "v"]))
            .prop_map(|(path, user)| Step::SetOwner { path, user: user.to_string() }),
        1 => (path(), 0i64..2000).prop_map(|(path, mtime)| Step::SetTimes { path, mtime }),
        4 => (path(), change()).prop_map(|(path, change)| Step::ChangeAcl { path, change }),
        3 => (path(), xattr(), 0u32..4).prop_map(|(path, xattr, flags)| Step::SetXAttr { path, xattr, flags }),
        1 => (path(), xattr()).prop_map(|(path, xattr)| Step::RemoveXAttr { path, xattr }),
    ]
}

#[derive(Clone, Debug, PartialEq)]
struct Node {
    /// `None`: a directory.
    length: Option<u64>,
    user: String,
    attributes: Attributes,
    mtime: i64,
}

/// Everything by path; the root is `/`, other keys have no slash at the end.
struct Model(BTreeMap<String, Node>);

type Answer = Result<bool, E>;

fn parent_of(path: &str) -> String {
    match path.rfind('/') {
        Some(0) | None => "/".into(),
        Some(i) => path[..i].into(),
    }
}

impl Model {
    fn new() -> Self {
        let root = Node { length: None, user: "root".into(), attributes: Attributes::new(0o755), mtime: 0 };
        Model(BTreeMap::from([("/".to_string(), root)]))
    }
    fn is_directory(&self, path: &str) -> bool {
        self.0.get(path).is_some_and(|n| n.length.is_none())
    }
    fn below(&self, path: &str) -> Vec<String> {
        let prefix = if path == "/" { "/".to_string() } else { format!("{path}/") };
        self.0.keys().filter(|k| *k != "/" && k.starts_with(&prefix)).cloned().collect()
    }
    /// A file among the ancestors.
    fn blocked(&self, path: &str) -> bool {
        let mut at = parent_of(path);
        while at != "/" {
            if self.0.get(&at).is_some_and(|n| n.length.is_some()) {
                return true;
            }
            at = parent_of(&at);
        }
        false
    }
    fn touch(&mut self, path: &str, now: i64) {
        let node = self.0.get_mut(path).unwrap();
        node.mtime = node.mtime.max(now);
    }
    fn remove(&mut self, path: &str) {
        for key in self.below(path) {
            self.0.remove(&key);
        }
        self.0.remove(path);
    }
    fn move_tree(&mut self, src: &str, dst: &str, now: i64) {
        let mut keys = self.below(src);
        keys.push(src.to_string());
        for key in keys {
            let node = self.0.remove(&key).unwrap();
            self.0.insert(format!("{dst}{}", &key[src.len()..]), node);
        }
        self.touch(&parent_of(src), now);
        self.touch(&parent_of(dst), now);
    }

    fn mkdirs(&mut self, path: &str, mode: u16, create_parent: bool, now: i64) -> Answer {
        if self.blocked(path) {
            return Err(E::ParentNotDirectory);
        }
        if self.0.contains_key(path) {
            return if self.is_directory(path) { Ok(true) } else { Err(E::FileAlreadyExists) };
        }
        if !create_parent && !self.0.contains_key(&parent_of(path)) {
            return Err(E::FileNotFound);
        }
        let mut missing = vec![path.to_string()];
        while !self.0.contains_key(&parent_of(missing.last().unwrap())) {
            missing.push(parent_of(missing.last().unwrap()));
        }
        for new in missing.iter().rev() {
            let mode = if new == path { mode } else { mode & 0o777 | 0o300 };
            let attributes = Attributes::made_in(&self.0[&parent_of(new)].attributes, mode);
            self.0.insert(new.clone(), Node { length: None, user: "root".into(), attributes, mtime: now });
            self.touch(&parent_of(new), now);
        }
        Ok(true)
    }

    fn delete(&mut self, path: &str, recursive: bool, now: i64) -> Answer {
        if self.blocked(path) {
            return Err(E::AccessControl);
        }
        if !self.0.contains_key(path) {
            return Ok(false);
        }
        if !recursive && !self.below(path).is_empty() {
            return Err(E::PathIsNotEmptyDirectory);
        }
        self.remove(path);
        self.touch(&parent_of(path), now);
        Ok(true)
    }

    fn rename(&mut self, src: &str, dst: &str, now: i64) -> Answer {
        if self.blocked(src) {
            return Err(E::AccessControl);
        }
        if self.blocked(dst) {
            return Err(E::ParentNotDirectory);
        }
        let dst = if self.is_directory(dst) { format!("{dst}{}", &src[src.rfind('/').unwrap()..]) } else { dst.into() };
        let fits = self.0.contains_key(src) && !dst.starts_with(&format!("{src}/"));
        if fits && src == dst {
            return Ok(true);
        }
        if !fits || self.0.contains_key(&dst) || !self.0.contains_key(&parent_of(&dst)) {
            return Ok(false);
        }
        self.move_tree(src, &dst, now);
        Ok(true)
    }

    fn rename2(&mut self, src: &str, dst: &str, overwrite: bool, now: i64) -> Answer {
        if self.blocked(src) {
            return Err(E::AccessControl);
        }
        if self.blocked(dst) {
            return Err(E::ParentNotDirectory);
        }
        if !self.0.contains_key(src) {
            return Err(E::FileNotFound);
        }
        if src == dst {
            return Err(E::FileAlreadyExists);
        }
        if dst.starts_with(&format!("{src}/")) {
            return Err(E::Io);
        }
        if self.0.contains_key(dst) {
            if self.is_directory(src) != self.is_directory(dst) {
                return Err(E::Io);
            }
            if !overwrite {
                return Err(E::FileAlreadyExists);
            }
            if !self.below(dst).is_empty() {
                return Err(E::Io);
            }
        }
        if !self.0.contains_key(&parent_of(dst)) {
            return Err(E::FileNotFound);
        }
        self.0.remove(dst);
        self.move_tree(src, dst, now);
        Ok(true)
    }

    fn change(&mut self, path: &str, change: impl FnOnce(&mut Node)) -> Answer {
        self.try_change(path, |node| {
            change(node);
            Ok(true)
        })
    }

    fn try_change(&mut self, path: &str, change: impl FnOnce(&mut Node) -> Answer) -> Answer {
        if self.blocked(path) {
            return Err(E::AccessControl);
        }
        change(self.0.get_mut(path).ok_or(E::FileNotFound)?)
    }

    fn step(&mut self, step: &Step, now: i64) -> Answer {
        match step {
            Step::Mkdirs { path, mode, create_parent } => self.mkdirs(path, *mode, *create_parent, now),
            Step::Put { path, length } => {
                let parent = parent_of(path);
                if !self.is_directory(&parent) || self.0.contains_key(path) {
                    return Ok(false);
                }
                let attributes = Attributes::new(0o644);
                let node = Node { length: Some(*length), user: "root".into(), attributes, mtime: now };
                self.0.insert(path.clone(), node);
                self.touch(&parent, now);
                Ok(true)
            }
            Step::Delete { path, recursive } => self.delete(path, *recursive, now),
            Step::Rename { src, dst } => self.rename(src, dst, now),
            Step::Rename2 { src, dst, overwrite } => self.rename2(src, dst, *overwrite, now),
            Step::SetPermission { path, mode } => self.change(path, |node| node.attributes.set_mode(*mode)),
            Step::SetOwner { path, user } => self.change(path, |node| node.user = user.clone()),
            Step::SetTimes { path, mtime } => self.change(path, |node| node.mtime = *mtime),
            Step::ChangeAcl { path, change } => {
                self.try_change(path, |node| node.attributes.change_acl(change, node.length.is_none()))
            }
            // Whether a caller may name an attribute comes before the path.
            Step::SetXAttr { xattr, .. } | Step::RemoveXAttr { xattr, .. } if xattr.namespace > 1 => {
                Err(E::AccessControl)
            }
            Step::SetXAttr { path, xattr, flags } => {
                self.try_change(path, |node| node.attributes.set_xattr(xattr, *flags))
            }
            Step::RemoveXAttr { path, xattr } => self.try_change(path, |node| node.attributes.remove_xattr(xattr)),
        }
    }
}

/// A closed file by the raw operations of the log: `blocks` writes what plans them.
fn put(h: &mut Harness, path: &str, length: u64) -> Result<bool, HdfsError> {
    let parent = h.namespace.tree.lookup(&parent_of(path));
    let fits =
        parent.is_some_and(|p| h.namespace.tree.inode(p).is_directory()) && h.namespace.tree.lookup(path).is_none();
    if !fits {
        return Ok(false);
    }
    let permission =
        PermissionStatus { user: "root".into(), group: "supergroup".into(), permission: FsPermission(0o644) };
    let number = h.log.len() as i64;
    let blocks: Vec<Block> = (0..length.div_ceil(100))
        .map(|i| Block {
            id: BlockId((1 << 30) + number * 100 + i as i64),
            generation_stamp: GenerationStamp(1001),
            num_bytes: (length - i * 100).min(100),
        })
        .collect();
    let add = AddClose {
        inode_id: InodeId(h.namespace.last_inode_id.0 + 1),
        path: path.into(),
        replication: 2,
        mtime: h.now_ms,
        atime: h.now_ms,
        block_size: 100,
        blocks: Vec::new(),
        permission,
        acl: Vec::new(),
        xattrs: Vec::new(),
        client_name: "client".into(),
        client_machine: "machine".into(),
        overwrite: false,
        storage_policy_id: 0,
        erasure_coding_policy_id: 0,
        rpc: RpcIds::NONE,
    };
    let close = AddClose { blocks, client_name: "".into(), client_machine: "".into(), ..add.clone() };
    for op in [EditOp::Add(Box::new(add)), EditOp::Close(Box::new(close))] {
        h.log.push(op);
        let txid = TxId(h.log.len() as u64);
        h.namespace.apply(&h.log[h.log.len() - 1], txid).expect("a file of the log");
    }
    Ok(true)
}

fn run(h: &mut Harness, step: &Step) -> Answer {
    let done = |result: Result<(), HdfsError>| result.map(|()| true);
    let result = match step {
        Step::Mkdirs { path, mode, create_parent } => {
            h.run(&Mkdirs { src: path, permission: FsPermission(*mode), unmasked: None, create_parent: *create_parent })
        }
        Step::Put { path, length } => put(h, path, *length),
        Step::Delete { path, recursive } => h.run(&Delete { src: path, recursive: *recursive }),
        Step::Rename { src, dst } => h.run(&Rename { src, dst }),
        Step::Rename2 { src, dst, overwrite } => {
            let options = RenameOptions { overwrite: *overwrite, to_trash: false };
            done(h.run(&Rename2 { src, dst, options }))
        }
        Step::SetPermission { path, mode } => {
            done(h.run(&SetPermission { src: path, permission: FsPermission(*mode) }))
        }
        Step::SetOwner { path, user } => done(h.run(&SetOwner { src: path, user: Some(user), group: None })),
        Step::SetTimes { path, mtime } => {
            done(h.run(&SetTimes { src: path, modification_time: *mtime, access_time: -1 }))
        }
        Step::ChangeAcl { path, change } => done(h.run(&ChangeAcl { src: path, change: change.request() })),
        Step::SetXAttr { path, xattr, flags } => done(h.run(&SetXAttr { src: path, xattr, flags: *flags })),
        Step::RemoveXAttr { path, xattr } => {
            done(h.run(&RemoveXAttr { src: path, xattr: &XAttr { value: None, ..xattr.clone() } }))
        }
    };
    result.map_err(|error| error.class)
}

fn config() -> NamespaceConfig {
    NamespaceConfig { fs_owner: "root".into(), max_xattrs_per_inode: XATTRS_MAX, ..NamespaceConfig::default() }
}

/// The namespace's tree in the model's form.
fn tree_of(namespace: &Namespace) -> BTreeMap<String, Node> {
    let image = namespace.freeze();
    let node = |inode: surus_namespace::InodeView<'_>| Node {
        length: inode.is_file().then(|| inode.length()),
        user: inode.user().to_string(),
        attributes: Attributes::of(inode),
        mtime: inode.modification_time(),
    };
    image.inodes().map(|inode| (namespace.tree.path_of(inode.handle()).unwrap(), node(inode))).collect()
}

fn check_counts(namespace: &Namespace, model: &Model) -> Result<(), TestCaseError> {
    for (path, node) in &model.0 {
        let handle = namespace.tree.lookup(path).unwrap();
        let counts = namespace.tree.counts(handle);
        let below: Vec<&Node> = model.below(path).iter().map(|p| &model.0[p]).chain([node]).collect();
        let files: Vec<u64> = below.iter().filter_map(|n| n.length).collect();
        let got = (counts.files, counts.directories, counts.length, counts.space);
        let length = files.iter().sum::<u64>();
        prop_assert_eq!(got, (files.len() as u64, (below.len() - files.len()) as u64, length, 2 * length), "{}", path);
    }
    Ok(())
}

/// Writes every inode through the image interface into a loader.
pub fn through_image(namespace: &Namespace) -> Namespace {
    let image = namespace.freeze();
    let mut loader = ImageLoader::new(config(), image.last_inode_id, image.ids);
    for inode in image.inodes() {
        let blocks: Vec<Block> = inode.blocks().iter().map(|&b| image.block(b)).collect();
        let kind = match inode.kind() {
            InodeKind::Directory => ImageKind::Directory { quota: inode.quota_shown() },
            InodeKind::File => ImageKind::File {
                layout: inode.layout(),
                blocks: &blocks,
                under_construction: inode.under_construction().map(|uc| (&*uc.client_name, &*uc.client_machine)),
            },
            InodeKind::Symlink => ImageKind::Symlink { target: inode.symlink_target() },
        };
        let entry = ImageInode {
            id: inode.id(),
            name: inode.name(),
            permission: &inode.permission_status(),
            modification_time: inode.modification_time(),
            access_time: inode.access_time(),
            acl: &inode.acl().map(AclEntryView::to_entry).collect::<Vec<AclEntry>>(),
            xattrs: &inode.xattrs().map(XAttrView::to_xattr).collect::<Vec<XAttr>>(),
            kind,
        };
        loader.push_inode(&entry).unwrap();
        if let Some(truncate) = image.pending_truncate(inode) {
            loader.push_truncate(inode.id(), *truncate).unwrap();
        }
    }
    for (directory, children) in image.directories() {
        loader.push_directory(directory.id(), children.map(|h| image.inode(h).id())).unwrap();
    }
    loader.finish().unwrap()
}

proptest! {
    #[test]
    fn model_live_replay_and_image_agree(steps in prop::collection::vec(step(), 1..120)) {
        let mut h = Harness::new(Namespace::new(config()));
        let mut model = Model::new();
        let mut frozen = None;
        for (i, step) in steps.iter().enumerate() {
            h.now_ms = 1000 + i as i64;
            let expected = model.step(step, h.now_ms);
            prop_assert_eq!(run(&mut h, step), expected, "step {}: {:?}", i, step);
            if i == steps.len() / 2 {
                let image = h.namespace.freeze();
                let then = image.dump();
                frozen = Some((image, then));
            }
        }
        prop_assert_eq!(&tree_of(&h.namespace), &model.0);
        check_counts(&h.namespace, &model)?;
        let mut replayed = Namespace::new(config());
        for (i, op) in h.log.iter().enumerate() {
            replayed.apply(op, TxId(i as u64 + 1)).map_err(|e: ApplyError| TestCaseError::fail(e.to_string()))?;
        }
        let dump = h.namespace.dump();
        prop_assert_eq!(&replayed.dump(), &dump);
        prop_assert_eq!(&through_image(&h.namespace).dump(), &dump);
        // What a checkpoint froze half-way is still what it was.
        let (image, then) = frozen.unwrap();
        prop_assert_eq!(image.dump(), then);
        prop_assert!(!h.namespace.has_detached());
        prop_assert_eq!(h.namespace.num_inodes(), model.0.len() as u64);
        prop_assert_eq!(h.namespace.tree.lookup("/"), Some(InodeHandle::ROOT));
    }
}

/// Operations as a damaged log might hold them: paths that do not exist, ids that are taken, targets below sources.
fn wild_op() -> impl Strategy<Value = EditOp> {
    let path = || prop_oneof![8 => path(), 1 => prop::sample::select(vec!["", "/", "//", "a", "/a/", "/a//b"]).prop_map(String::from)];
    let permission = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o755) };
    prop_oneof![
        6 => (path(), 16384u64..16500).prop_map(move |(path, id)| EditOp::Mkdir {
            inode_id: InodeId(id),
            path: path.into(),
            timestamp: 5,
            permission: permission.clone(),
            acl: Vec::new(),
            xattrs: Vec::new(),
        }),
        2 => path().prop_map(|p| EditOp::Delete { path: p.into(), timestamp: 6, rpc: RpcIds::NONE }),
        3 => (path(), path()).prop_map(|(src, dst)| EditOp::RenameOld {
            src: src.into(),
            dst: dst.into(),
            timestamp: 7,
            rpc: RpcIds::NONE,
        }),
        3 => (path(), path(), any::<bool>()).prop_map(|(src, dst, overwrite)| EditOp::Rename {
            src: src.into(),
            dst: dst.into(),
            timestamp: 8,
            options: RenameOptions { overwrite, to_trash: false },
            rpc: RpcIds::NONE,
        }),
        1 => (path(), path()).prop_map(|(target, source)| EditOp::ConcatDelete {
            target: target.into(),
            sources: vec![source.into()],
            timestamp: 9,
            rpc: RpcIds::NONE,
        }),
        1 => path().prop_map(|p| EditOp::Times { path: p.into(), mtime: -7, atime: i64::MAX }),
        1 => path().prop_map(|p| EditOp::SetPermissions { src: p.into(), permission: FsPermission(0) }),
        2 => (path(), crate::model_attributes::spec())
            .prop_map(|(p, entries)| EditOp::SetAcl { src: p.into(), entries }),
        1 => (path(), xattr()).prop_map(|(p, x)| EditOp::SetXAttr { src: p.into(), xattrs: vec![x], rpc: RpcIds::NONE }),
        1 => (path(), xattr())
            .prop_map(|(p, x)| EditOp::RemoveXAttr { src: p.into(), xattrs: vec![x], rpc: RpcIds::NONE }),
        1 => path().prop_map(|p| EditOp::SetOwner { src: p.into(), user: Some("w".into()), group: None }),
    ]
}

proptest! {
    #[test]
    fn a_damaged_log_is_an_error_and_leaves_a_sound_tree(ops in prop::collection::vec(wild_op(), 1..60)) {
        let mut namespace = Namespace::new(config());
        for (i, op) in ops.iter().enumerate() {
            let before = namespace.dump();
            if namespace.apply(op, TxId(i as u64 + 1)).is_err() {
                prop_assert_eq!(namespace.dump(), before, "{:?} failed half-way", op);
            }
        }
        prop_assert_eq!(through_image(&namespace).dump(), namespace.dump());
    }
}
