//! How much the tables hold. What brings rows to a table without room is refused before anything changes; what makes room,
//! or needs none there, goes on.

use crate::Namespace;
use crate::edit_op::{AclEntry, AddClose, EditOp, XAttr};
use crate::plan::{Plan, Refusal};
use crate::tree::{ACL_RUN, FileLayout, NODE_RUN, is_short, list_run, name_run};
use alloc::format;
use alloc::sync::Arc;
use core::fmt;
use surus_types::{Block, HdfsError};

/// What the tables hold at most. No setting: tests fill smaller ones.
#[derive(Clone, Copy, Debug)]
pub struct TableLimits {
    /// Inodes, and copies of them in snapshots, that have an ACL, extended attributes, a quota or snapshots: an inode's flags
    /// have 26 bits for the row.
    pub features: u64,
    /// Names of users and groups, and those of extended attributes: an fsimage has 24 bits for one.
    pub users_and_groups: u64,
    pub xattr_names: u64,
    /// Inodes and blocks: both have 32 bits.
    pub rows: u64,
    /// Units of each table of runs (names, nodes of directories, lists of blocks, ACLs, extended attributes): 32 bits too.
    pub units: u64,
    /// Times beyond 2^46 milliseconds, and different layouts of files. Clients make them up, and the first change after a
    /// checkpoint copies them all. Logs and images may bring more.
    pub oddities: u64,
}

impl Default for TableLimits {
    fn default() -> Self {
        TableLimits {
            features: 1 << 26,
            users_and_groups: 1 << 24,
            xattr_names: 1 << 24,
            rows: u32::MAX as u64,
            units: 1 << 32,
            oddities: 1 << 20,
        }
    }
}

/// A table without room for one more operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full {
    pub table: &'static str,
    pub limit: u64,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the NameNode has room for {} {} and they are used up", self.limit, self.table)
    }
}

impl core::error::Error for Full {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Features,
    Users,
    XAttrNames,
    Inodes,
    Blocks,
    Names,
    Nodes,
    BlockLists,
    Acls,
    XAttrs,
    Numbers,
    Layouts,
}

impl Table {
    fn name(self) -> &'static str {
        match self {
            Self::Features => "inodes with ACLs, extended attributes, quotas or snapshots",
            Self::Users => "names of users and groups",
            Self::XAttrNames => "names of extended attributes",
            Self::Inodes => "inodes",
            Self::Blocks => "blocks",
            Self::Names => "units of 4 bytes of names",
            Self::Nodes => "units of 4 bytes of lists of children",
            Self::BlockLists => "units of 4 bytes of lists of blocks",
            Self::Acls => "units of 4 bytes of ACLs",
            Self::XAttrs => "units of 4 bytes of extended attributes",
            Self::Numbers => "times beyond 2^46",
            Self::Layouts => "different pairs of block size and replication",
        }
    }
}

/// Of each table this part is kept, in turn, from most operations, from those that make room, and from logs and images: far
/// more than one operation needs. What deletes a snapshot takes nothing, and is never refused.
const KEPT_FROM_PLANS: u32 = 8;
const KEPT_FROM_DELETES: u32 = 10;
const KEPT: u32 = 11;

/// Runs of one table that one operation needs at most: for what it makes, and for copies that snapshots keep of what it
/// changes.
const RUNS: usize = 16;

impl Namespace {
    fn tables(&self) -> [(Table, u64, u64); 12] {
        let limits = &self.config.table_limits;
        let used = self.tree.used();
        [
            (Table::Features, used.features, limits.features),
            (Table::Users, used.users_and_groups, limits.users_and_groups),
            (Table::XAttrNames, used.xattr_names, limits.xattr_names),
            (Table::Inodes, used.inodes, limits.rows),
            (Table::Blocks, self.blocks.num_blocks() as u64, limits.rows),
            (Table::Names, used.name_units, limits.units),
            (Table::Nodes, used.node_units, limits.units),
            (Table::BlockLists, used.block_list_units, limits.units),
            (Table::Acls, used.acl_units, limits.units),
            (Table::XAttrs, used.xattr_units, limits.units),
            (Table::Numbers, used.numbers, limits.oddities),
            (Table::Layouts, used.layouts, limits.oddities),
        ]
    }

    /// Tables that are full but for one part in 2^`kept`.
    fn full_tables(&self, kept: u32) -> impl Iterator<Item = (Table, Full)> + use<> {
        let full = self.tables().into_iter().filter(move |(_, used, limit)| *used >= limit - (limit >> kept));
        full.map(|(table, _, limit)| (table, Full { table: table.name(), limit }))
    }

    /// Whether what one message of an image brings still fits: `features` rows of inodes with features, and little else.
    ///
    /// # Errors
    /// The table that is full.
    pub(crate) fn check_rows(&self, features: usize) -> Result<(), Full> {
        let limit = self.config.table_limits.features;
        if self.tree.feature_rows() + features as u64 > limit {
            return Err(Full { table: Table::Features.name(), limit });
        }
        let full = self.full_tables(KEPT).find(|(table, _)| !matches!(table, Table::Numbers | Table::Layouts));
        full.map_or(Ok(()), |(_, full)| Err(full))
    }

    /// Whether what one operation of a log brings still fits.
    ///
    /// # Errors
    /// The table that is full.
    pub(crate) fn check_op(&self, op: &EditOp) -> Result<(), Full> {
        let is_odd = |table| matches!(table, Table::Numbers | Table::Layouts);
        let full = self.full_tables(KEPT).find(|&(table, _)| !is_odd(table) && self.brings(op, table, RUNS));
        full.map_or(Ok(()), |(_, full)| Err(full))
    }

    /// Refuses a plan for which there may be no room. Deletes go on longer than the rest, since they make some.
    ///
    /// # Errors
    /// `IOException` with the table that is full, besides those of the plan.
    pub fn with_room<R>(&self, planned: Result<Plan<R>, Refusal>) -> Result<Plan<R>, Refusal> {
        let ops = match &planned {
            Ok(plan) => &plan.ops,
            Err(Refusal::Start { ops, .. }) => ops,
            Err(_) => return planned,
        };
        if ops.is_empty() {
            return planned;
        }
        let kept = if ops.iter().all(makes_room) { KEPT_FROM_DELETES } else { KEPT_FROM_PLANS };
        let runs = RUNS * ops.len();
        match self.full_tables(kept).find(|&(table, _)| ops.iter().any(|op| self.brings(op, table, runs))) {
            Some((_, full)) => Err(HdfsError::io(format!("{full}: delete some, or set fewer of them")).into()),
            None => planned,
        }
    }

    /// Whether the operation may need room in a table that is full: `runs` are those that all of its plan may need.
    fn brings(&self, op: &EditOp, table: Table, runs: usize) -> bool {
        // Snapshots get copies of what is changed.
        let copies = self.tree.has_snapshots()
            && changes_inodes(op)
            && paths(op).is_none_or(|paths| paths.into_iter().any(|path| self.tree.is_in_snapshots(path)));
        let makes = matches!(op, EditOp::Mkdir { .. } | EditOp::Add(_) | EditOp::Symlink { .. });
        let moves = matches!(op, EditOp::RenameOld { .. } | EditOp::Rename { .. });
        let (acl, xattrs) = lists(op);
        let sets_xattrs = !xattrs.is_empty() && !matches!(op, EditOp::RemoveXAttr { .. });
        let sets_policy = matches!(op, EditOp::SetStoragePolicy { .. });
        match table {
            Table::Features => copies || !acl.is_empty() || sets_xattrs || sets_policy || takes_row(op),
            Table::Users => {
                owners(op).into_iter().flatten().any(|name| !self.tree.has_user_or_group(name)) || {
                    acl.iter().filter_map(|entry| entry.name.as_ref()).any(|name| !self.tree.has_user_or_group(name))
                }
            }
            Table::XAttrNames => xattrs.iter().any(|xattr| !self.tree.has_xattr_name(&xattr.name)),
            Table::Inodes => makes,
            Table::Blocks => self.brings_blocks(op),
            Table::Names => (makes || moves || copies) && !self.reuses_names(op, runs),
            Table::Nodes => (makes || moves) && !self.tree.reuses_nodes(runs, NODE_RUN),
            Table::BlockLists => self.brings_block_list(op, runs),
            Table::Acls => !acl.is_empty() && !self.tree.reuses_acls(runs, ACL_RUN),
            Table::XAttrs => (copies || sets_xattrs || sets_policy) && !self.reuses_xattrs(op, xattrs, runs),
            Table::Numbers => times(op).into_iter().any(|time| !is_short(time)),
            Table::Layouts => self.new_layout(op).is_some_and(|layout| !self.tree.has_layout(&layout)),
        }
    }

    fn brings_blocks(&self, op: &EditOp) -> bool {
        let is_new = |block: &Block| self.blocks.find(block.id).is_none();
        match op {
            EditOp::AddBlock { .. } | EditOp::Append { .. } | EditOp::Truncate { .. } => true,
            EditOp::UpdateBlocks { blocks, .. } => blocks.iter().any(is_new),
            EditOp::Add(op) | EditOp::Close(op) => op.blocks.iter().any(is_new),
            _ => false,
        }
    }

    fn brings_block_list(&self, op: &EditOp, runs: usize) -> bool {
        let blocks = match op {
            EditOp::AddBlock { .. } | EditOp::Append { .. } | EditOp::Truncate { .. } => 1,
            EditOp::UpdateBlocks { blocks, .. } => blocks.len(),
            EditOp::Add(op) | EditOp::Close(op) => op.blocks.len(),
            EditOp::ConcatDelete { .. } => return true,
            _ => return false,
        };
        let [path, _] = paths(op).unwrap_or_default();
        let has = self.tree.lookup(path).map_or(0, |file| self.tree.inode(file).blocks().len());
        blocks > 0 && !self.tree.reuses_block_lists(runs, list_run(has + blocks))
    }

    /// All names that an operation makes or copies are in its paths.
    fn reuses_names(&self, op: &EditOp, runs: usize) -> bool {
        let Some(paths) = paths(op) else { return false };
        let longest = paths.iter().flat_map(|path| path.split('/')).max_by_key(|name| name.len()).unwrap_or("");
        self.tree.reuses_names(runs, name_run(longest))
    }

    /// The longest list is one on the way, or the last with what the operation adds.
    fn reuses_xattrs(&self, op: &EditOp, xattrs: &[XAttr], runs: usize) -> bool {
        paths(op).is_some_and(|paths| self.tree.reuses_xattrs(runs, &paths, xattrs))
    }

    fn new_layout(&self, op: &EditOp) -> Option<FileLayout> {
        match op {
            EditOp::Add(op) => Some(FileLayout {
                preferred_block_size: op.block_size,
                replication: op.replication,
                storage_policy: op.storage_policy_id,
                erasure_coding_policy: op.erasure_coding_policy_id,
            }),
            EditOp::SetReplication { path, replication } => {
                let file = self.tree.lookup(path)?;
                Some(FileLayout { replication: *replication, ..self.tree.inode(file).layout() })
            }
            _ => None,
        }
    }
}

fn makes_room(op: &EditOp) -> bool {
    matches!(
        op,
        EditOp::Delete { .. }
            | EditOp::Close(_)
            | EditOp::RemoveXAttr { .. }
            | EditOp::DisallowSnapshot { .. }
            | EditOp::ClearNsQuota { .. }
            | EditOp::ReassignLease { .. }
    ) || matches!(op, EditOp::SetAcl { entries, .. } if entries.is_empty())
}

/// Whether it may change what snapshots show. To delete a snapshot keeps nothing: what later ones show is there already.
fn changes_inodes(op: &EditOp) -> bool {
    !matches!(
        op,
        EditOp::DeleteSnapshot { .. }
            | EditOp::DisallowSnapshot { .. }
            | EditOp::RenameSnapshot { .. }
            | EditOp::AllocateBlockId { .. }
            | EditOp::SetGenstampV1 { .. }
            | EditOp::SetGenstampV2 { .. }
            | EditOp::GetDelegationToken { .. }
            | EditOp::RenewDelegationToken { .. }
            | EditOp::CancelDelegationToken { .. }
            | EditOp::UpdateMasterKey { .. }
            | EditOp::AddCacheDirective { .. }
            | EditOp::ModifyCacheDirective { .. }
            | EditOp::RemoveCacheDirective { .. }
            | EditOp::AddCachePool { .. }
            | EditOp::ModifyCachePool { .. }
            | EditOp::RemoveCachePool { .. }
            | EditOp::AddErasureCodingPolicy { .. }
            | EditOp::EnableErasureCodingPolicy { .. }
            | EditOp::DisableErasureCodingPolicy { .. }
            | EditOp::RemoveErasureCodingPolicy { .. }
            | EditOp::RollingUpgradeStart { .. }
            | EditOp::RollingUpgradeFinalize { .. }
            | EditOp::StartLogSegment
            | EditOp::EndLogSegment
    )
}

/// Whether an inode gets a feature beside an ACL and extended attributes.
fn takes_row(op: &EditOp) -> bool {
    matches!(
        op,
        EditOp::SetQuota { .. }
            | EditOp::SetQuotaByStorageType { .. }
            | EditOp::SetNsQuota { .. }
            | EditOp::AllowSnapshot { .. }
            | EditOp::CreateSnapshot { .. }
    )
}

/// The ACL and the extended attributes that the operation sets.
fn lists(op: &EditOp) -> (&[AclEntry], &[XAttr]) {
    match op {
        EditOp::Mkdir { acl, xattrs, .. } => (acl, xattrs),
        EditOp::Add(op) => (&op.acl, &op.xattrs),
        EditOp::SetAcl { entries, .. } => (entries, &[]),
        EditOp::SetXAttr { xattrs, .. } | EditOp::RemoveXAttr { xattrs, .. } => (&[], xattrs),
        _ => (&[], &[]),
    }
}

fn owners(op: &EditOp) -> [Option<&Arc<str>>; 2] {
    match op {
        EditOp::Mkdir { permission, .. } | EditOp::Symlink { permission, .. } => {
            [Some(&permission.user), Some(&permission.group)]
        }
        EditOp::Add(op) => [Some(&op.permission.user), Some(&op.permission.group)],
        EditOp::SetOwner { user, group, .. } => [user.as_ref(), group.as_ref()],
        _ => [None, None],
    }
}

/// Times that a client says.
fn times(op: &EditOp) -> [i64; 2] {
    match op {
        EditOp::Times { mtime, atime, .. } => [*mtime, *atime],
        _ => [0, 0],
    }
}

/// The paths of the inodes that are made, changed or moved; `None`: there are others too.
fn paths(op: &EditOp) -> Option<[&str; 2]> {
    Some(match op {
        EditOp::Add(op) | EditOp::Close(op) => {
            let AddClose { path, .. } = &**op;
            [path, ""]
        }
        EditOp::Append { path, .. }
        | EditOp::AddBlock { path, .. }
        | EditOp::UpdateBlocks { path, .. }
        | EditOp::Mkdir { path, .. }
        | EditOp::Delete { path, .. }
        | EditOp::SetReplication { path, .. }
        | EditOp::Times { path, .. }
        | EditOp::SetStoragePolicy { path, .. }
        | EditOp::Symlink { path, .. }
        | EditOp::ReassignLease { path, .. } => [path, ""],
        EditOp::Truncate { src, .. }
        | EditOp::SetPermissions { src, .. }
        | EditOp::SetOwner { src, .. }
        | EditOp::SetQuota { src, .. }
        | EditOp::SetQuotaByStorageType { src, .. }
        | EditOp::SetNsQuota { src, .. }
        | EditOp::ClearNsQuota { src }
        | EditOp::SetAcl { src, .. }
        | EditOp::SetXAttr { src, .. }
        | EditOp::RemoveXAttr { src, .. } => [src, ""],
        EditOp::RenameOld { src, dst, .. } | EditOp::Rename { src, dst, .. } => [src, dst],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamespaceConfig;
    use crate::edit_op::XAttr;
    use alloc::string::String;
    use alloc::string::ToString;
    use alloc::vec;
    use surus_types::AclEntryKind;
    use surus_types::{FsPermission, InodeId, PermissionStatus, RpcIds, TxId};

    const LIMIT: u64 = 40;

    fn namespace() -> Namespace {
        let table_limits = TableLimits { features: LIMIT, ..TableLimits::default() };
        Namespace::new(NamespaceConfig { table_limits, ..NamespaceConfig::default() })
    }

    fn mkdir(i: u64) -> EditOp {
        let permission = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o755) };
        let path = format!("/{i}").into();
        let xattrs = alloc::vec![XAttr { namespace: 0, name: "a".into(), value: Some(alloc::vec![1]) }];
        EditOp::Mkdir { inode_id: InodeId(20_000 + i), path, timestamp: 1, permission, acl: alloc::vec![], xattrs }
    }

    #[test]
    fn a_full_table_refuses_plans_but_deletes_and_replay_says_so() {
        let mut namespace = namespace();
        let mut made = 0;
        while namespace.with_room(Ok(Plan::one(mkdir(made), ()))).is_ok() {
            namespace.apply(&mkdir(made), TxId(1)).unwrap();
            made += 1;
        }
        assert_eq!(made, LIMIT);
        let Err(Refusal::Error(error)) = namespace.with_room(Ok(Plan::one(mkdir(made), ()))) else { panic!() };
        assert_eq!(
            error.message,
            "the NameNode has room for 40 inodes with ACLs, extended attributes, quotas or snapshots and they are used up: \
             delete some, or set fewer of them"
        );
        assert!(namespace.with_room(Ok(Plan::read(()))).is_ok(), "reads go on");
        let error = namespace.apply(&mkdir(made), TxId(2)).unwrap_err().to_string();
        assert!(error.starts_with("OP_MKDIR: the NameNode has room for 40 inodes"), "{error}");
        let delete = EditOp::Delete { path: "/3".into(), timestamp: 1, rpc: RpcIds::NONE };
        namespace.apply(&delete, TxId(2)).unwrap();
        assert!(namespace.with_room(Ok(Plan::one(mkdir(made), ()))).is_ok());
        namespace.apply(&mkdir(made), TxId(3)).unwrap();
    }

    fn limited(table_limits: TableLimits) -> Namespace {
        Namespace::new(NamespaceConfig { table_limits, ..NamespaceConfig::default() })
    }

    fn plain(path: &str, user: &str) -> EditOp {
        let permission = PermissionStatus { user: user.into(), group: "g".into(), permission: FsPermission(0o755) };
        let inode_id = InodeId(20_000 + path[1..].bytes().fold(0, |id, byte| id * 256 + u64::from(byte)));
        EditOp::Mkdir { inode_id, path: path.into(), timestamp: 1, permission, acl: vec![], xattrs: vec![] }
    }

    fn set_xattr(path: &str, name: &str, bytes: usize) -> EditOp {
        let xattrs = vec![XAttr { namespace: 0, name: name.into(), value: Some(vec![7; bytes]) }];
        EditOp::SetXAttr { src: path.into(), xattrs, rpc: RpcIds::NONE }
    }

    fn set_acl(path: &str, user: &str) -> EditOp {
        let (user, none) = ((AclEntryKind::User, Some(user.into())), None::<Arc<str>>);
        let owners = [AclEntryKind::User, AclEntryKind::Group, AclEntryKind::Mask, AclEntryKind::Other];
        let mut all: alloc::vec::Vec<_> = owners.into_iter().map(|kind| (kind, none.clone())).collect();
        all.insert(1, user);
        let entry = |(kind, name)| AclEntry { is_default: false, kind, name, permission: 7 };
        let entries = all.into_iter().map(entry).collect();
        EditOp::SetAcl { src: path.into(), entries }
    }

    fn delete(path: &str) -> EditOp {
        EditOp::Delete { path: path.into(), timestamp: 1, rpc: RpcIds::NONE }
    }

    /// Plans and applies; the refusal's message.
    fn run(namespace: &mut Namespace, op: EditOp) -> Result<(), String> {
        match namespace.with_room(Ok(Plan::one(op, ()))) {
            Ok(plan) => namespace.apply(&plan.ops[0], TxId(1)).map(|_| ()).map_err(|e| panic!("{e}")),
            Err(Refusal::Error(error)) => Err(error.message.to_string()),
            Err(_) => panic!(),
        }
    }

    #[test]
    fn runs_that_are_used_up_come_back_with_deletes() {
        let units = 100_000;
        let mut namespace = limited(TableLimits { units, ..TableLimits::default() });
        let mut made = 0;
        let refusal = loop {
            let path = format!("/{made}");
            run(&mut namespace, plain(&path, "u")).unwrap();
            if let Err(message) = run(&mut namespace, set_xattr(&path, "a", 3000)) {
                break message;
            }
            made += 1;
        };
        assert!(refusal.contains("room for 100000 units of 4 bytes of extended attributes"), "{refusal}");
        assert!((110..131).contains(&made), "{made}");
        run(&mut namespace, plain("/x", "u")).expect("what brings none goes on");
        run(&mut namespace, set_acl("/x", "v")).unwrap();
        let remove = EditOp::RemoveXAttr {
            src: "/0".into(),
            xattrs: vec![XAttr { namespace: 0, name: "a".into(), value: None }],
            rpc: RpcIds::NONE,
        };
        run(&mut namespace, remove).unwrap();
        for i in 0..20 {
            run(&mut namespace, delete(&format!("/{i}"))).unwrap();
        }
        for i in 0..10 {
            // Shorter ones are cut from what was freed.
            run(&mut namespace, set_xattr("/x", &format!("{i}"), 250)).unwrap();
        }
        assert!(namespace.tree.used().xattr_units <= units);
        namespace.tree.check_interned().unwrap();
    }

    #[test]
    fn names_are_forgotten_and_a_full_table_of_them_stops_new_ones_only() {
        let mut namespace =
            limited(TableLimits { users_and_groups: LIMIT, xattr_names: LIMIT, ..TableLimits::default() });
        run(&mut namespace, plain("/a", "u")).unwrap();
        for i in 0..3 * LIMIT {
            run(&mut namespace, set_acl("/a", &format!("{i}"))).unwrap();
            run(&mut namespace, plain("/b", &format!("{i}"))).unwrap();
            run(&mut namespace, set_xattr("/b", &format!("{i}"), 1)).unwrap();
            run(&mut namespace, delete("/b")).unwrap();
        }
        let mut made = 0;
        let refusal = loop {
            run(&mut namespace, plain(&format!("/{made}"), "u")).unwrap();
            if let Err(message) = run(&mut namespace, set_acl(&format!("/{made}"), &format!("n{made}"))) {
                break message;
            }
            made += 1;
        };
        assert!(refusal.contains("room for 40 names of users and groups"), "{refusal}");
        run(&mut namespace, plain("/c", "u")).expect("its owner is known");
        assert!(run(&mut namespace, plain("/d", "stranger")).is_err());
        run(&mut namespace, set_acl("/c", "n0")).unwrap();
        run(&mut namespace, EditOp::SetAcl { src: "/1".into(), entries: vec![] }).unwrap();
        run(&mut namespace, plain("/d", "stranger")).expect("n1 is forgotten");
        for i in 0..LIMIT {
            run(&mut namespace, set_xattr("/c", &format!("x{i}"), 1)).unwrap();
        }
        assert!(run(&mut namespace, set_xattr("/c", "y", 1)).is_err());
        run(&mut namespace, set_xattr("/c", "x1", 2)).unwrap();
        namespace.tree.check_interned().unwrap();
    }

    #[test]
    fn numbers_and_layouts_that_clients_make_up_have_a_limit_and_are_forgotten() {
        let mut namespace = limited(TableLimits { oddities: LIMIT, ..TableLimits::default() });
        let times = |path: &str, mtime| EditOp::Times { path: path.into(), mtime, atime: -1 };
        for i in 0..=LIMIT {
            run(&mut namespace, plain(&format!("/{i}"), "u")).unwrap();
        }
        for i in 0..100 {
            run(&mut namespace, times("/0", (1 << 46) + i)).unwrap();
        }
        assert_eq!(namespace.tree.used().numbers, 1);
        for i in 1..LIMIT as i64 {
            run(&mut namespace, times(&format!("/{i}"), (1 << 50) + i)).unwrap();
        }
        let refusal = run(&mut namespace, times("/40", 1 << 60)).unwrap_err();
        assert!(refusal.contains("room for 40 times beyond 2^46"), "{refusal}");
        run(&mut namespace, times("/40", 5)).unwrap();
        namespace.apply(&times("/40", 1 << 60), TxId(1)).expect("logs may bring more");
        run(&mut namespace, delete("/40")).unwrap();
        namespace.tree.check_interned().unwrap();
    }

    #[test]
    fn a_snapshot_can_always_be_deleted() {
        let mut namespace = limited(TableLimits { features: LIMIT, ..TableLimits::default() });
        let (root, name): (alloc::boxed::Box<str>, alloc::boxed::Box<str>) = ("/s".into(), "1".into());
        run(&mut namespace, plain("/s", "u")).unwrap();
        run(&mut namespace, EditOp::AllowSnapshot { root: root.clone() }).unwrap();
        for i in 0..LIMIT {
            run(&mut namespace, plain(&format!("/s/{i}"), "u")).unwrap();
        }
        let create = EditOp::CreateSnapshot { root: root.clone(), name: name.clone(), mtime: 1, rpc: RpcIds::NONE };
        run(&mut namespace, create).unwrap();
        let refusal = (0..LIMIT).find_map(|i| run(&mut namespace, delete(&format!("/s/{i}"))).err()).unwrap();
        assert!(refusal.contains("room for 40 inodes with ACLs"), "{refusal}");
        run(&mut namespace, plain("/t", "u")).expect("no snapshot shows that");
        run(&mut namespace, EditOp::DeleteSnapshot { root, name, mtime: 2, rpc: RpcIds::NONE }).unwrap();
        run(&mut namespace, delete("/s/39")).unwrap();
        namespace.tree.check_interned().unwrap();
    }
}
