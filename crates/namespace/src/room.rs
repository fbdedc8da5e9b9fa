//! How much the tables hold. What might not fit any more is refused before anything changes; what makes room again goes on.

use crate::Namespace;
use crate::edit_op::EditOp;
use crate::plan::{Plan, Refusal};
use alloc::format;
use core::fmt;
use surus_types::HdfsError;

/// What the tables hold at most. No setting: tests fill smaller ones.
#[derive(Clone, Copy, Debug)]
pub struct TableLimits {
    /// Inodes, and copies of them in snapshots, that have an ACL, extended attributes, a quota or snapshots: an inode's flags
    /// have 26 bits for the row.
    pub features: u64,
    /// Names of users and groups, and those of extended attributes: an fsimage has 24 bits for one.
    pub users_and_groups: u64,
    pub xattr_names: u64,
    /// Inodes, blocks, and units of 4 bytes of names: all have 32 bits.
    pub rows: u64,
}

impl Default for TableLimits {
    fn default() -> Self {
        TableLimits { features: 1 << 26, users_and_groups: 1 << 24, xattr_names: 1 << 24, rows: u32::MAX as u64 }
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

impl Namespace {
    /// The first table that is full but for one part in `spare`: one operation never needs that much.
    fn full_table(&self, spare: u64) -> Option<Full> {
        let limits = &self.config.table_limits;
        let used = self.tree.used();
        let tables = [
            ("inodes with ACLs, extended attributes, quotas or snapshots", used.features, limits.features),
            ("names of users and groups", used.users_and_groups, limits.users_and_groups),
            ("names of extended attributes", used.xattr_names, limits.xattr_names),
            ("inodes", used.inodes, limits.rows),
            ("units of 4 bytes of names", used.name_units, limits.rows),
            ("blocks", self.blocks.num_blocks() as u64, limits.rows),
        ];
        let full = tables.into_iter().find(|(_, used, limit)| *used >= limit - limit / spare);
        full.map(|(table, _, limit)| Full { table, limit })
    }

    /// Whether what one operation of a log or one inode of an image brings still fits.
    ///
    /// # Errors
    /// The table that is full.
    pub(crate) fn check_rows(&self) -> Result<(), Full> {
        self.full_table(1 << 18).map_or(Ok(()), Err)
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
        let spare = if ops.iter().all(makes_room) { 1 << 16 } else { 1 << 10 };
        match self.full_table(spare) {
            Some(full) if !ops.is_empty() => {
                Err(HdfsError::io(format!("{full}: delete some, or set fewer of them")).into())
            }
            _ => planned,
        }
    }
}

fn makes_room(op: &EditOp) -> bool {
    matches!(
        op,
        EditOp::Delete { .. }
            | EditOp::Close(_)
            | EditOp::RemoveXAttr { .. }
            | EditOp::DeleteSnapshot { .. }
            | EditOp::DisallowSnapshot { .. }
            | EditOp::ClearNsQuota { .. }
            | EditOp::ReassignLease { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamespaceConfig;
    use crate::edit_op::XAttr;
    use alloc::string::ToString;
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
}
