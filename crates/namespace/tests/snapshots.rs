//! Random operations with snapshots against a naive model: what a walk shows when a snapshot is taken is copied whole, and
//! every walk of the snapshot later must show the same, until it is deleted; the live tree must be that of a namespace
//! without snapshots; replay must equal the live state, whenever a restart comes, from the first operation or from an image;
//! and once all is deleted nothing is left. Failures shrink.

use crate::harness::Harness;
use proptest::prelude::*;
use std::collections::BTreeMap;
use surus_namespace::edit_op::{AclEntry, AclEntryKind, AddClose, RenameOptions, XAttr};
use surus_namespace::image::LoadError;
use surus_namespace::image_snapshots::{ImageDeleted, ImageDiff, ImageDiffBody};
use surus_namespace::ops::concat::Concat;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::get_block_locations::{BlockLocationsPart, GetBlockLocations};
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::rename::{Rename, Rename2};
use surus_namespace::ops::set_owner::SetOwner;
use surus_namespace::ops::set_permission::SetPermission;
use surus_namespace::ops::set_replication::SetReplication;
use surus_namespace::ops::set_storage_policy::SetStoragePolicy;
use surus_namespace::ops::set_times::SetTimes;
use surus_namespace::ops::snapshot::{AllowSnapshot, CreateSnapshot, DeleteSnapshot, DisallowSnapshot, RenameSnapshot};
use surus_namespace::ops::snapshot_diff::{DiffListingEntry, SnapshotDiff};
use surus_namespace::ops::truncate::Truncate;
use surus_namespace::tree::{DiffBodyView, DiffView, PastAttributes, Reference};
use surus_namespace::{EditOp, FrozenImage, ImageInode, ImageKind, ImageLoader, InodeView, Namespace, NamespaceConfig};
use surus_types::{
    Block, BlockId, FsPermission, GenerationStamp, InodeId, PermissionStatus, RpcIds, StorageType, TxId,
};

const BLOCK: u64 = 100;

#[derive(Clone, Debug)]
enum Step {
    Mkdirs(String),
    Put {
        path: String,
        length: u64,
        overwrite: bool,
    },
    /// An erasure-coded file.
    PutCoded {
        path: String,
        length: u64,
        overwrite: bool,
    },
    Append {
        path: String,
        bytes: u64,
    },
    Truncate {
        path: String,
        length: u64,
    },
    Concat {
        target: String,
        source: String,
    },
    Delete(String),
    Rename {
        src: String,
        dst: String,
    },
    Rename2 {
        src: String,
        dst: String,
    },
    SetPermission {
        path: String,
        mode: u16,
    },
    SetOwner {
        path: String,
        user: String,
    },
    SetTimes {
        path: String,
        mtime: i64,
    },
    SetReplication {
        path: String,
        replication: u16,
    },
    SetStoragePolicy {
        path: String,
        policy: String,
    },
    SetAcl {
        path: String,
        user: String,
    },
    SetXAttr {
        path: String,
        value: u8,
    },
    RemoveXAttr(String),
    SetQuota {
        path: String,
        names: i64,
        space: i64,
    },
    SetTypeQuota {
        path: String,
        quota: i64,
    },
    Allow(String),
    Disallow(String),
    Create {
        root: String,
        name: String,
    },
    RenameSnapshot {
        root: String,
        old: String,
        new: String,
    },
    DeleteSnapshot {
        root: String,
        nth: usize,
    },
    SaveNamespace,
    /// From what was saved last, if anything, and the log behind it.
    Restart,
}

fn root() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["/r1", "/r2", "/r1/a", "/r2/b/a"]).prop_map(String::from)
}

fn path() -> impl Strategy<Value = String> {
    let top = prop::sample::select(vec!["r1", "r2", "r1", "r2", "p"]);
    let name = prop::sample::select(vec!["a", "b", "é"]);
    (top, prop::collection::vec(name, 1..4)).prop_map(|(top, names)| format!("/{top}/{}", names.join("/")))
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["s1", "s2", "s3", "é"]).prop_map(String::from)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => path().prop_map(Step::Mkdirs),
        6 => (path(), 0u64..350, any::<bool>())
            .prop_map(|(path, length, overwrite)| Step::Put { path, length, overwrite }),
        2 => (path(), 0u64..350, any::<bool>())
            .prop_map(|(path, length, overwrite)| Step::PutCoded { path, length, overwrite }),
        3 => (path(), 1u64..250).prop_map(|(path, bytes)| Step::Append { path, bytes }),
        2 => (path(), 0u64..300).prop_map(|(path, length)| Step::Truncate { path, length }),
        1 => (path(), path()).prop_map(|(target, source)| Step::Concat { target, source }),
        5 => path().prop_map(Step::Delete),
        6 => (path(), path()).prop_map(|(src, dst)| Step::Rename { src, dst }),
        4 => (path(), path()).prop_map(|(src, dst)| Step::Rename2 { src, dst }),
        1 => (path(), 0u16..0o1000).prop_map(|(path, mode)| Step::SetPermission { path, mode }),
        1 => (path(), prop::sample::select(vec!["u", "v"]))
            .prop_map(|(path, user)| Step::SetOwner { path, user: user.into() }),
        1 => (path(), prop_oneof![0i64..2000, (1i64 << 60)..(1 << 60) + 3]).prop_map(|(path, mtime)| Step::SetTimes { path, mtime }),
        1 => (path(), 1u16..4).prop_map(|(path, replication)| Step::SetReplication { path, replication }),
        1 => (path(), prop::sample::select(vec!["HOT", "COLD", "ONE_SSD"]))
            .prop_map(|(path, policy)| Step::SetStoragePolicy { path, policy: policy.into() }),
        1 => (path(), prop::sample::select(vec!["u", "v"]))
            .prop_map(|(path, user)| Step::SetAcl { path, user: user.into() }),
        1 => (path(), any::<u8>()).prop_map(|(path, value)| Step::SetXAttr { path, value }),
        1 => path().prop_map(Step::RemoveXAttr),
        1 => (prop_oneof![path(), root()], prop::sample::select(vec![-1, 1 << 40]), prop::sample::select(vec![-1, 1 << 50]))
            .prop_map(|(path, names, space)| Step::SetQuota { path, names, space }),
        1 => (prop_oneof![path(), root()], prop::sample::select(vec![-1, 1 << 50]))
            .prop_map(|(path, quota)| Step::SetTypeQuota { path, quota }),
        1 => Just(Step::SaveNamespace),
        2 => Just(Step::Restart),
        2 => root().prop_map(Step::Allow),
        1 => root().prop_map(Step::Disallow),
        6 => (root(), name()).prop_map(|(root, name)| Step::Create { root, name }),
        1 => (root(), name(), name()).prop_map(|(root, old, new)| Step::RenameSnapshot { root, old, new }),
        3 => (root(), 0usize..4).prop_map(|(root, nth)| Step::DeleteSnapshot { root, nth }),
    ]
}

fn config() -> NamespaceConfig {
    NamespaceConfig { fs_owner: "root".into(), ..NamespaceConfig::default() }
}

/// What clients can see of one inode.
#[derive(Clone, Debug, PartialEq)]
struct Node {
    id: InodeId,
    length: u64,
    owner: String,
    mode: u16,
    mtime: i64,
    atime: i64,
    replication: u16,
    children: u32,
    blocks: Vec<BlockId>,
    acl: Vec<AclEntry>,
    xattrs: Vec<XAttr>,
}

type Tree = BTreeMap<String, Node>;

/// Walks down from `top` as a client does; keys are relative paths.
fn walk(h: &Harness, top: &str) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![String::new()];
    while let Some(relative) = open.pop() {
        let path = format!("{top}{relative}");
        let env = h.env();
        let mut is_directory = false;
        let mut node = h
            .namespace
            .get_file_info(&env, &path, |status| {
                let s = status.unwrap_or_else(|| panic!("{path} is listed but not there"));
                is_directory = s.file_type == surus_types::FileType::Directory;
                Node {
                    id: s.inode_id,
                    length: s.length,
                    owner: s.owner.into(),
                    mode: s.permission.0,
                    mtime: s.modification_time_ms,
                    atime: s.access_time_ms,
                    replication: s.replication,
                    children: s.children,
                    blocks: Vec::new(),
                    acl: Vec::new(),
                    xattrs: Vec::new(),
                }
            })
            .unwrap();
        let acl = h.namespace.get_acl_status(&env, &path).unwrap();
        node.acl = acl.entries.map(|entry| entry.to_entry()).collect();
        let resolved = h.namespace.resolve(&env, &path, surus_namespace::DirOp::Read).unwrap();
        let view = h.namespace.shown(&resolved, resolved.last.unwrap());
        node.xattrs = view.xattrs().map(|x| x.to_xattr()).collect();
        if is_directory {
            let mut names = Vec::new();
            let mut after = Vec::new();
            loop {
                let mut last = Vec::new();
                let end = h
                    .namespace
                    .get_listing(&env, &path, &after, false, 2, |entry| {
                        last = entry.status.name.to_vec();
                        names.push((String::from_utf8(last.clone()).unwrap(), entry.status.inode_id));
                        true
                    })
                    .unwrap()
                    .unwrap();
                after = last;
                if end.remaining == 0 {
                    break;
                }
            }
            assert_eq!(names.len(), node.children as usize, "{path} {names:?}");
            open.extend(names.iter().map(|(name, _)| format!("{relative}/{name}")));
        } else if view.layout().is_erasure_coded() {
            // Nobody is told where its block groups are.
            node.blocks = view.blocks().iter().map(|&block| h.namespace.blocks.block(block).id).collect();
        } else {
            let asked = GetBlockLocations { src: &path, offset: 0, length: i64::MAX };
            let mut sum = 0;
            h.namespace
                .get_block_locations(&env, &asked, &mut |part| match part {
                    BlockLocationsPart::Header(header) => assert_eq!(header.file_length, node.length),
                    BlockLocationsPart::Block(block) => {
                        assert_eq!(block.offset, sum, "{path}");
                        sum += block.block.num_bytes;
                        node.blocks.push(block.block.id);
                    }
                    BlockLocationsPart::LastBlock(block) => assert_eq!(Some(&block.block.id), node.blocks.last()),
                })
                .unwrap();
            assert!(sum >= node.length, "{path}: blocks of {sum} bytes for {}", node.length);
        }
        tree.insert(relative, node);
    }
    tree
}

fn apply(h: &mut Harness, op: EditOp) {
    h.log.push(op);
    let txid = TxId(h.log.len() as u64);
    h.namespace.apply(&h.log[h.log.len() - 1], txid).expect("an operation of the log");
}

fn add_close(h: &Harness, path: &str, blocks: Vec<Block>, overwrite: bool) -> AddClose {
    let permission =
        PermissionStatus { user: "root".into(), group: "supergroup".into(), permission: FsPermission(0o644) };
    AddClose {
        inode_id: InodeId(h.namespace.last_inode_id.0 + 1),
        path: path.into(),
        replication: 2,
        mtime: h.now_ms,
        atime: h.now_ms,
        block_size: BLOCK,
        blocks,
        permission,
        acl: Vec::new(),
        xattrs: Vec::new(),
        client_name: "client".into(),
        client_machine: "machine".into(),
        overwrite,
        storage_policy_id: 0,
        erasure_coding_policy_id: 0,
        rpc: RpcIds::NONE,
    }
}

fn new_blocks(h: &Harness, length: u64) -> Vec<Block> {
    let number = h.log.len() as i64;
    let block = |i: u64| Block {
        id: BlockId((1 << 30) + number * 100 + i as i64),
        generation_stamp: GenerationStamp(1001),
        num_bytes: (length - i * BLOCK).min(BLOCK),
    };
    (0..length.div_ceil(BLOCK)).map(block).collect()
}

/// Block groups have every 16th id below zero.
fn new_groups(h: &Harness, length: u64) -> Vec<Block> {
    let group = |block: Block| Block { id: BlockId(i64::MIN + 16 * block.id.0), ..block };
    new_blocks(h, length).into_iter().map(group).collect()
}

fn is_directory(h: &Harness, path: &str) -> bool {
    h.namespace.tree.lookup(path).is_some_and(|handle| h.namespace.tree.inode(handle).is_directory())
}

fn is_coded(h: &Harness, path: &str) -> bool {
    h.namespace.tree.lookup(path).is_some_and(|file| h.namespace.tree.inode(file).layout().is_erasure_coded())
}

/// A file by the raw operations of the log.
fn put(h: &mut Harness, path: &str, length: u64, overwrite: bool, coded: bool) -> bool {
    let parent = h.namespace.tree.lookup(&path[..path.rfind('/').unwrap()]);
    let old = h.namespace.tree.lookup(path);
    let fits = parent.is_some_and(|p| h.namespace.tree.inode(p).is_directory())
        && old.is_none_or(|old| overwrite && h.namespace.tree.inode(old).is_file());
    if fits {
        let blocks = if coded { new_groups(h, length) } else { new_blocks(h, length) };
        let mut close = add_close(h, path, blocks, false);
        if coded {
            // RS-6-3-1024k.
            (close.replication, close.erasure_coding_policy_id) = (1, 1);
        }
        apply(h, EditOp::Add(Box::new(AddClose { blocks: Vec::new(), overwrite, ..close.clone() })));
        apply(h, EditOp::Close(Box::new(AddClose { client_name: "".into(), ..close })));
    }
    fits
}

fn file(h: &Harness, path: &str) -> Option<(u64, Vec<Block>)> {
    let inode = h.namespace.tree.inode(h.namespace.tree.lookup(path)?);
    let blocks = inode.blocks().iter().map(|&b| h.namespace.blocks.block(b)).collect();
    inode.is_file().then(|| (inode.length(), blocks))
}

fn append(h: &mut Harness, path: &str, bytes: u64) -> bool {
    let Some((_, mut blocks)) = file(h, path) else { return false };
    let (client_name, client_machine, coded) = ("client".into(), "machine".into(), is_coded(h, path));
    apply(h, EditOp::Append { path: path.into(), client_name, client_machine, new_block: coded, rpc: RpcIds::NONE });
    let mut bytes = bytes;
    if let Some(last) = blocks.last_mut().filter(|_| !coded) {
        let more = bytes.min(BLOCK - last.num_bytes);
        last.num_bytes += more;
        last.generation_stamp.0 += 1;
        bytes -= more;
    }
    blocks.extend(if coded { new_groups(h, bytes) } else { new_blocks(h, bytes) });
    let close = add_close(h, path, blocks, false);
    apply(h, EditOp::Close(Box::new(AddClose { client_name: "".into(), ..close })));
    true
}

fn truncate(h: &mut Harness, path: &str, new_length: u64) {
    let Some((length, _)) = file(h, path) else { return };
    let request = Truncate { src: path, new_length: new_length as i64, client_name: "client" };
    if new_length >= length || h.run(&request) != Ok(false) {
        return;
    }
    // The DataNodes have cut the last block.
    let Some((_, mut blocks)) = file(h, path) else { return };
    let whole: u64 = blocks.iter().rev().skip(1).map(|b| b.num_bytes).sum();
    if let Some(last) = blocks.last_mut() {
        last.num_bytes = new_length - whole;
        last.generation_stamp.0 += 1;
    }
    let close = add_close(h, path, blocks, false);
    apply(h, EditOp::Close(Box::new(AddClose { client_name: "".into(), ..close })));
}

/// Runs a step; whether it changed anything.
fn run(h: &mut Harness, step: &Step) -> bool {
    let logged = h.log.len();
    match step {
        Step::Mkdirs(src) => {
            let _ = h.run(&Mkdirs { src, permission: FsPermission(0o755), unmasked: None, create_parent: true });
        }
        Step::Put { path, length, overwrite } => {
            put(h, path, *length, *overwrite, false);
        }
        Step::PutCoded { path, length, overwrite } => {
            put(h, path, *length, *overwrite, true);
        }
        Step::Append { path, bytes } => {
            append(h, path, *bytes);
        }
        Step::Truncate { path, length } => truncate(h, path, *length),
        Step::Concat { target, source } => {
            let _ = h.run(&Concat { target, sources: &[source] });
        }
        Step::Delete(src) => {
            let _ = h.run(&Delete { src, recursive: true });
        }
        Step::Rename { src, dst } => {
            let _ = h.run(&Rename { src, dst });
        }
        Step::Rename2 { src, dst } => {
            let options = RenameOptions { overwrite: true, to_trash: false };
            let _ = h.run(&Rename2 { src, dst, options });
        }
        Step::SetPermission { path, mode } => {
            let _ = h.run(&SetPermission { src: path, permission: FsPermission(*mode) });
        }
        Step::SetOwner { path, user } => {
            let _ = h.run(&SetOwner { src: path, user: Some(user), group: None });
        }
        Step::SetTimes { path, mtime } => {
            let _ = h.run(&SetTimes { src: path, modification_time: *mtime, access_time: -1 });
        }
        Step::SetReplication { path, replication } => {
            let _ = h.run(&SetReplication { src: path, replication: u32::from(*replication) });
        }
        Step::SetStoragePolicy { path, policy } => {
            let _ = h.run(&SetStoragePolicy { src: path, policy: Some(policy) });
        }
        Step::SetAcl { path, user } => {
            if h.namespace.tree.lookup(path).is_some() {
                let entry = |kind, name: Option<&str>, permission| AclEntry {
                    is_default: false,
                    kind,
                    name: name.map(Into::into),
                    permission,
                };
                let entries = vec![
                    entry(AclEntryKind::User, None, 7),
                    entry(AclEntryKind::User, Some(user), 5),
                    entry(AclEntryKind::Group, None, 5),
                    entry(AclEntryKind::Mask, None, 5),
                    entry(AclEntryKind::Other, None, 0),
                ];
                apply(h, EditOp::SetAcl { src: path.as_str().into(), entries });
            }
        }
        Step::SetXAttr { path, value } => {
            if h.namespace.tree.lookup(path).is_some() {
                let xattrs = vec![XAttr { namespace: 0, name: "x".into(), value: Some(vec![*value]) }];
                apply(h, EditOp::SetXAttr { src: path.as_str().into(), xattrs, rpc: RpcIds::NONE });
            }
        }
        Step::RemoveXAttr(path) => {
            if h.namespace.tree.lookup(path).is_some() {
                let xattrs = vec![XAttr { namespace: 0, name: "x".into(), value: None }];
                apply(h, EditOp::RemoveXAttr { src: path.as_str().into(), xattrs, rpc: RpcIds::NONE });
            }
        }
        Step::SetQuota { path, names, space } => {
            if is_directory(h, path) {
                let (namespace_quota, storage_quota) = (*names, *space);
                apply(h, EditOp::SetQuota { src: path.as_str().into(), namespace_quota, storage_quota });
            }
        }
        Step::SetTypeQuota { path, quota } => {
            if is_directory(h, path) {
                let (src, storage_type) = (path.as_str().into(), StorageType::Ssd);
                apply(h, EditOp::SetQuotaByStorageType { src, storage_type, quota: *quota });
            }
        }
        Step::SaveNamespace | Step::Restart => {}
        Step::Allow(root) => {
            let _ = h.run(&AllowSnapshot { root });
        }
        Step::Disallow(root) => {
            let _ = h.run(&DisallowSnapshot { root });
        }
        Step::Create { root, name } => {
            let _ = h.run(&CreateSnapshot { root, name, default_name: "" });
        }
        Step::RenameSnapshot { root, old, new } => {
            let _ = h.run(&RenameSnapshot { root, old_name: old, new_name: new });
        }
        Step::DeleteSnapshot { root, nth } => {
            if let Some(name) = snapshots(&h.namespace, root).into_iter().nth(*nth) {
                h.run(&DeleteSnapshot { root, name: &name }).unwrap();
            }
        }
    }
    h.log.len() > logged
}

fn snapshots(namespace: &Namespace, root: &str) -> Vec<String> {
    let Some(handle) = namespace.tree.lookup(root) else { return Vec::new() };
    let snapshottable = namespace.tree.inode(handle).snapshottable();
    snapshottable.map(|s| s.snapshots.iter().map(|s| s.name.to_string()).collect()).unwrap_or_default()
}

fn is_about_snapshots(step: &Step) -> bool {
    matches!(
        step,
        Step::Allow(_)
            | Step::Disallow(_)
            | Step::Create { .. }
            | Step::RenameSnapshot { .. }
            | Step::DeleteSnapshot { .. }
    )
}

fn start() -> Harness {
    let mut h = Harness::new(Namespace::new(config()));
    for src in ["/r1", "/r2", "/p"] {
        h.run(&Mkdirs { src, permission: FsPermission(0o755), unmasked: None, create_parent: true }).unwrap();
    }
    // That there is a quota makes the tree keep what snapshots hold of each directory.
    apply(&mut h, EditOp::SetQuota { src: "/r1".into(), namespace_quota: 1_000_000, storage_quota: -1 });
    h
}

/// Copies that diffs hold take rows as inodes do.
#[test]
fn diffs_that_do_not_fit_say_so() {
    let mut h = Harness::new(Namespace::new(config()));
    h.run(&Mkdirs { src: "/r1", permission: FsPermission(0o755), unmasked: None, create_parent: true }).unwrap();
    h.run(&AllowSnapshot { root: "/r1" }).unwrap();
    let xattrs = |value| vec![XAttr { namespace: 0, name: "a".into(), value: Some(vec![value]) }];
    for i in 0..10 {
        let src = format!("/r1/{i}");
        h.put_file(&src, 0o644, BLOCK, &[10]);
        apply(&mut h, EditOp::SetXAttr { src: src.into(), xattrs: xattrs(1), rpc: RpcIds::NONE });
    }
    h.run(&CreateSnapshot { root: "/r1", name: "s", default_name: "" }).unwrap();
    for i in 0..10 {
        let src = format!("/r1/{i}").into();
        apply(&mut h, EditOp::SetXAttr { src, xattrs: xattrs(2), rpc: RpcIds::NONE });
    }
    let limited = |features| {
        let mut config = config();
        config.table_limits.features = features;
        load_image(&h.namespace, config).map(|loaded| loaded.dump())
    };
    // The root of the snapshots, its copy, ten files and their copies; and one for what comes next.
    assert_eq!(limited(24).unwrap(), h.namespace.dump());
    for features in 12..20 {
        let error = limited(features).unwrap_err().to_string();
        assert!(error.contains(&format!("room for {features} inodes with ACLs")), "{error}");
    }
}

/// A read brings no operation that the tables have no room for.
#[test]
fn a_read_moves_no_access_time_that_does_not_fit() {
    let mut h = Harness::new(Namespace::new(NamespaceConfig::default()));
    h.run(&Mkdirs { src: "/r1", permission: FsPermission(0o755), unmasked: None, create_parent: true }).unwrap();
    h.run(&AllowSnapshot { root: "/r1" }).unwrap();
    h.put_file("/r1/f", 0o644, BLOCK, &[10]);
    h.run(&CreateSnapshot { root: "/r1", name: "s", default_name: "" }).unwrap();
    h.now_ms += 1 << 40;
    let request = GetBlockLocations { src: "/r1/f", offset: 0, length: 1 };
    let op = |h: &Harness| h.namespace.check_block_locations(&h.env(), &request).unwrap().1;
    assert!(op(&h).is_some());
    h.namespace.config.table_limits.features = 1;
    assert!(op(&h).is_none());
}

/// The tree without what snapshots may change: times of directories.
fn live(h: &Harness) -> Tree {
    let mut tree = walk(h, "/");
    for node in tree.values_mut() {
        node.mtime = 0;
    }
    tree
}

fn snapshots_show_what_was(steps: &[Step]) -> Result<(), TestCaseError> {
    let mut h = start();
    let mut twin = start();
    twin.namespace.config.snapshots.allow_nested = true;
    // By number: what a walk showed then, and the name.
    let mut taken: BTreeMap<u32, Tree> = BTreeMap::new();
    let mut called: BTreeMap<u32, Box<str>> = BTreeMap::new();
    for root in ["/r1", "/r2"] {
        h.run(&AllowSnapshot { root }).unwrap();
    }
    let mut saved = None;
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::SaveNamespace => saved = Some((through_image(&h.namespace), h.log.len())),
            Step::Restart => {
                let (mut started, from) = saved.take().unwrap_or_else(|| (Namespace::new(config()), 0));
                for (op, txid) in h.log.iter().zip(1..).skip(from) {
                    started.apply(op, TxId(txid)).map_err(|e| TestCaseError::fail(e.to_string()))?;
                }
                prop_assert_eq!(started.dump(), h.namespace.dump(), "step {}: restart", i);
                h.namespace = started;
            }
            _ => {}
        }
        h.now_ms = 1000 + i as i64;
        twin.now_ms = h.now_ms;
        h.namespace.tree.check_held().map_err(TestCaseError::fail)?;
        h.namespace.tree.check_interned().map_err(TestCaseError::fail)?;
        let before = h.namespace.tree.snapshot_counter();
        let logged = h.log.len();
        if run(&mut h, step) && !is_about_snapshots(step) {
            for op in h.log[logged..].iter().cloned() {
                apply(&mut twin, op);
            }
        }
        if let Step::Create { root, .. } = step
            && h.namespace.tree.snapshot_counter() > before
        {
            let mut tree = walk(&h, root);
            tree.get_mut("").unwrap().mtime = h.now_ms;
            taken.insert(before, tree);
        }
        let alive: Vec<u32> = h.namespace.tree.snapshots().map(|(id, _)| id).collect();
        taken.retain(|id, _| alive.contains(id));
        prop_assert_eq!(taken.keys().copied().collect::<Vec<_>>(), alive);
        for (id, root) in h.namespace.tree.snapshots() {
            let names = h.namespace.tree.inode(root).snapshottable().unwrap();
            let name = &names.snapshots.iter().find(|s| s.id == id).unwrap().name;
            if called.insert(id, name.clone()).is_some_and(|old| old != *name) {
                taken.get_mut(&id).unwrap().get_mut("").unwrap().mtime = h.now_ms;
            }
            let top = format!("{}/.snapshot/{name}", h.namespace.tree.path_of(root).unwrap());
            prop_assert_eq!(&walk(&h, &top), &taken[&id], "step {} {:?}: snapshot {}", i, step, top);
        }
    }
    prop_assert_eq!(live(&h), live(&twin));
    let mut replayed = Harness::new(Namespace::new(config()));
    for op in h.log.clone() {
        apply(&mut replayed, op);
    }
    prop_assert_eq!(replayed.namespace.dump(), h.namespace.dump());
    let mut loaded = through_image(&h.namespace);
    prop_assert_eq!(loaded.dump(), h.namespace.dump());
    loaded.tree.check_held().map_err(TestCaseError::fail)?;
    pages_make_the_whole(&mut h)?;
    nothing_is_left(&mut h)?;
    h.namespace = loaded;
    nothing_is_left(&mut h)
}

/// All differences, in pages of `limit` entries.
fn differences(h: &mut Harness, request: &SnapshotDiff<'_>, limit: u32) -> [Vec<DiffListingEntry>; 3] {
    h.namespace.config.snapshots.diff_listing_limit = limit;
    let mut all = [const { Vec::new() }; 3];
    let (mut path, mut index) = (Vec::new(), -1);
    loop {
        let page = h.namespace.get_snapshot_diff_report_listing(&h.env(), request, &path, index).unwrap();
        assert!(page.modified.len() + page.created.len() + page.deleted.len() <= limit as usize);
        let is_last = page.is_last();
        all.iter_mut().zip([page.modified, page.created, page.deleted]).for_each(|(list, more)| list.extend(more));
        if is_last {
            return all;
        }
        (path, index) = (page.last_path, page.last_index);
    }
}

fn pages_make_the_whole(h: &mut Harness) -> Result<(), TestCaseError> {
    for root in ["/r1", "/r2"] {
        let mut names = snapshots(&h.namespace, root);
        if names.is_empty() {
            continue;
        }
        names.push(String::new());
        for (from, to) in names.iter().flat_map(|from| names.iter().map(move |to| (from, to))) {
            let request = SnapshotDiff { root, from, to };
            let whole = differences(h, &request, 1_000_000);
            prop_assert_eq!(&differences(h, &request, 1), &whole);
            prop_assert_eq!(&differences(h, &request, 3), &whole);
        }
    }
    Ok(())
}

fn attributes(view: InodeView<'_>) -> PastAttributes {
    PastAttributes {
        name: view.name().into(),
        permission: view.permission_status(),
        modification_time: view.modification_time(),
        access_time: view.access_time(),
        layout: view.layout(),
        quota: view.quota_shown(),
        acl: view.acl().map(|entry| entry.to_entry()).collect(),
        xattrs: view.xattrs().map(|x| x.to_xattr()).collect(),
    }
}

fn image_diff(image: &FrozenImage, diff: &DiffView<'_>) -> ImageDiff {
    let body = match diff.body {
        DiffBodyView::Directory { child_count, is_root, created, deleted } => ImageDiffBody::Directory {
            child_count,
            is_root,
            created: created.to_vec(),
            deleted: deleted
                .iter()
                .map(|entry| ImageDeleted {
                    inode: image.inode(entry.inode).id(),
                    name: matches!(entry.reference, Reference::WithName(_)).then(|| entry.name.clone()),
                    reference: entry.reference,
                })
                .collect(),
        },
        DiffBodyView::File { length, blocks } => {
            let blocks = blocks.unwrap_or_default().iter().map(|&b| image.block(b)).collect();
            ImageDiffBody::File { length, blocks }
        }
    };
    ImageDiff { snapshot: diff.snapshot, copy: diff.copy.map(attributes), body }
}

/// Everything through the image interface into a loader.
fn through_image(namespace: &Namespace) -> Namespace {
    load_image(namespace, config()).unwrap()
}

/// The first truncate or diff that does not fit is the error.
pub fn load_image(namespace: &Namespace, config: NamespaceConfig) -> Result<Namespace, LoadError> {
    let (image, mut problem) = (namespace.freeze(), Ok(()));
    let loaded = load_image_and(namespace, config, |loader, file| {
        let inode = image.inode(namespace.tree.get(file).unwrap());
        if let Some(truncate) = image.pending_truncate(inode) {
            problem = problem.clone().and(loader.push_truncate(file, *truncate));
        }
    });
    problem.and(loaded)
}

/// As [`load_image`], with something to do behind each inode.
pub fn load_image_and(
    namespace: &Namespace,
    config: NamespaceConfig,
    mut behind: impl FnMut(&mut ImageLoader, InodeId),
) -> Result<Namespace, LoadError> {
    let image = namespace.freeze();
    let mut loader = ImageLoader::new(config, image.last_inode_id, image.ids);
    for inode in image.inodes() {
        let blocks: Vec<Block> = inode.blocks().iter().map(|&b| image.block(b)).collect();
        let kind = if inode.is_directory() {
            ImageKind::Directory { quota: inode.quota_shown() }
        } else {
            let under_construction = inode.under_construction().map(|uc| (&*uc.client_name, &*uc.client_machine));
            ImageKind::File { layout: inode.layout(), blocks: &blocks, under_construction }
        };
        let a = attributes(inode);
        let (permission, acl, xattrs) = (&a.permission, &a.acl[..], &a.xattrs[..]);
        let (modification_time, access_time) = (a.modification_time, a.access_time);
        let (id, name) = (inode.id(), inode.name());
        loader
            .push_inode(&ImageInode { id, name, permission, modification_time, access_time, acl, xattrs, kind })
            .unwrap();
        behind(&mut loader, id);
    }
    for (directory, children) in image.directories() {
        let children: Vec<_> = children.map(|h| image.inode(h)).collect();
        for child in children.iter().filter(|child| child.reference() != Reference::None) {
            loader.push_reference(child.id(), child.reference()).unwrap();
        }
        loader.push_directory(directory.id(), children.iter().map(|child| child.id())).unwrap();
    }
    loader.set_snapshot_counter(image.snapshot_numbers().0);
    for directory in image.snapshottable_directories() {
        loader.push_snapshottable(directory.id()).unwrap();
        for snapshot in &directory.snapshottable().unwrap().snapshots {
            let root = attributes(image.snapshot_root(directory, snapshot.id));
            loader.push_snapshot(directory.id(), snapshot.id, &snapshot.name, root).unwrap();
        }
    }
    for inode in image.inodes() {
        for diff in inode.diffs().rev() {
            loader.push_diff(inode.id(), image_diff(&image, &diff))?;
        }
    }
    loader.finish()
}

fn nothing_is_left(h: &mut Harness) -> Result<(), TestCaseError> {
    let roots: Vec<_> = h.namespace.tree.snapshottable_directories().collect();
    for root in roots {
        let root = h.namespace.tree.path_of(root).unwrap();
        for name in snapshots(&h.namespace, &root) {
            h.run(&DeleteSnapshot { root: &root, name: &name }).unwrap();
            h.namespace.tree.check_held().map_err(TestCaseError::fail)?;
        }
    }
    h.namespace.tree.check_interned().map_err(TestCaseError::fail)?;
    for inode in h.namespace.freeze().inodes() {
        let path = h.namespace.tree.path_of(inode.handle()).unwrap();
        for &block in inode.blocks() {
            prop_assert_eq!(h.namespace.blocks.info(block).owner, inode.id(), "{}", path);
        }
    }
    for src in ["/r1", "/r2", "/p"] {
        h.run(&Delete { src, recursive: true }).unwrap();
    }
    prop_assert_eq!(h.namespace.num_inodes(), 1);
    prop_assert_eq!(h.namespace.tree.num_live_inodes(), 1);
    prop_assert_eq!(h.namespace.blocks.num_blocks(), 0);
    prop_assert_eq!(h.namespace.tree.num_snapshot_states(), 0);
    prop_assert_eq!(h.namespace.leases.open_files(InodeId(0)).count(), 0);
    Ok(())
}

proptest! {
    #[test]
    fn snapshots_show_what_was_there(steps in prop::collection::vec(step(), 1..80)) {
        snapshots_show_what_was(&steps)?;
    }
}

/// What was renamed counts twice, as it is and as the snapshot shows it; what was deleted once. Values of Hadoop 3.5.0.
#[test]
fn summaries_count_what_snapshots_hold() {
    let mut h = start();
    for step in [
        Step::Put { path: "/r1/kept".into(), length: 300, overwrite: false },
        Step::Put { path: "/r1/deleted".into(), length: 70, overwrite: false },
        Step::Allow("/r1".into()),
        Step::Create { root: "/r1".into(), name: "s1".into() },
        Step::Rename { src: "/r1/kept".into(), dst: "/p/moved".into() },
        Step::Truncate { path: "/p/moved".into(), length: 100 },
        Step::Delete("/r1/deleted".into()),
    ] {
        run(&mut h, &step);
    }
    let summary = |path: &str| {
        let all = h.namespace.get_content_summary(&h.env(), path).unwrap();
        (all.file_count, all.length, all.snapshot.file_count, all.snapshot.length)
    };
    assert_eq!(summary("/p"), (1, 100, 0, 0));
    assert_eq!(summary("/r1"), (2, 370, 2, 370));
    assert_eq!(summary("/"), (3, 470, 2, 370));
    assert_eq!(summary("/r1/.snapshot/s1"), (2, 370, 0, 0));
}

/// A page goes on behind the place where the one before ended, whatever became of what stood there.
#[test]
fn a_page_begins_where_the_last_one_ended() {
    let mut h = start();
    let all = ["/r1/a", "/r1/b", "/r1/c"];
    for path in all {
        run(&mut h, &Step::Mkdirs(path.into()));
        run(&mut h, &Step::Put { path: format!("{path}/f"), length: 1, overwrite: false });
    }
    run(&mut h, &Step::Allow("/r1".into()));
    run(&mut h, &Step::Create { root: "/r1".into(), name: "s1".into() });
    for path in all {
        run(&mut h, &Step::SetPermission { path: path.into(), mode: 0o700 });
        run(&mut h, &Step::SetPermission { path: format!("{path}/f"), mode: 0o600 });
    }
    let next = |h: &mut Harness, from: &str| {
        h.namespace.config.snapshots.diff_listing_limit = 2;
        let request = SnapshotDiff { root: "/r1", from: "s1", to: "" };
        let page = h.namespace.get_snapshot_diff_report_listing(&h.env(), &request, from.as_bytes(), -1).unwrap();
        let paths: Vec<_> = page.modified.iter().map(|entry| String::from_utf8(entry.path.clone()).unwrap()).collect();
        (paths.join(" "), String::from_utf8(page.last_path).unwrap(), page.last_index)
    };
    assert_eq!(next(&mut h, ""), ("a a/f".into(), "b".into(), -1));
    assert_eq!(next(&mut h, "b"), ("b b/f".into(), "c".into(), -1));
    run(&mut h, &Step::SetPermission { path: "/r1/b".into(), mode: 0o755 });
    assert_eq!(next(&mut h, "b"), ("b/f c".into(), "c/f".into(), -1), "it is as it was");
    run(&mut h, &Step::Delete("/r1/b".into()));
    assert_eq!(next(&mut h, "b"), ("c c/f".into(), String::new(), -1), "it is gone");
    assert_eq!(next(&mut h, "b/f/x/y"), ("c c/f".into(), String::new(), -1), "it was never there");
    assert_eq!(next(&mut h, "a/f/x/y"), ("c c/f".into(), String::new(), -1), "a file has nothing below it");
}

/// One page looks at no more than a hold of the namespace allows, however little it finds.
#[test]
fn a_page_ends_where_a_hold_has_to() {
    let mut h = start();
    for i in 0..30 {
        run(&mut h, &Step::Mkdirs(format!("/r1/d{i:02}")));
        for j in 0..1_000 {
            h.put_file(&format!("/r1/d{i:02}/{j}"), 0o644, BLOCK, &[]);
        }
    }
    run(&mut h, &Step::Allow("/r1".into()));
    run(&mut h, &Step::Create { root: "/r1".into(), name: "s1".into() });
    for path in ["/r1/d00/0", "/r1/d29/999"] {
        run(&mut h, &Step::SetPermission { path: path.into(), mode: 0o600 });
    }
    let (mut path, mut index, mut pages, mut found) = (Vec::new(), -1, 0, 0);
    loop {
        let request = SnapshotDiff { root: "/r1", from: "s1", to: "" };
        let page = h.namespace.get_snapshot_diff_report_listing(&h.env(), &request, &path, index).unwrap();
        pages += 1;
        found += page.modified.len();
        if page.is_last() {
            break;
        }
        (path, index) = (page.last_path, page.last_index);
    }
    assert_eq!((pages, found), (7, 2), "30,030 inodes, 5,000 a page");
}
