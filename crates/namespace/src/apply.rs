//! Executes one edit-log operation. Live requests, start-up replay and a standby go through here and nowhere else.

use crate::Namespace;
use crate::edit_op::EditOp;
use crate::ops;
use crate::ops::erasure_coding::PolicyChange;
use crate::room::Full;
use crate::tree::{InodeHandle, TreeError, is_name};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use surus_types::TxId;

/// What an operation brought about besides the change itself. Replay ignores it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Applied {
    /// Inodes that were detached and wait to be freed: call `free_slice` until it returns none.
    pub detached: bool,
}

/// Why an operation cannot be executed. Live, it never happens to what a plan made; in replay it means a damaged log or
/// one with features Surus lacks, and the NameNode does not start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ApplyError {
    /// An operation that Surus does not know how to execute yet.
    Unsupported(&'static str),
    /// The path must exist, and does not.
    NoSuchPath {
        op: &'static str,
        path: Box<str>,
    },
    /// The path names something the operation does not work on.
    WrongKind {
        op: &'static str,
        path: Box<str>,
    },
    Tree {
        op: &'static str,
        path: Box<str>,
        error: TreeError,
    },
    /// There is no room for what it brings.
    Full {
        op: &'static str,
        full: Full,
    },
    /// Anything else, in words.
    Other {
        op: &'static str,
        path: Box<str>,
        problem: String,
    },
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(op) => write!(f, "{op} is not supported by this version"),
            Self::NoSuchPath { op, path } => write!(f, "{op} {path}: no such path"),
            Self::WrongKind { op, path } => write!(f, "{op} {path}: not a thing this operation works on"),
            Self::Tree { op, path, error } => write!(f, "{op} {path}: {error}"),
            Self::Full { op, full } => write!(f, "{op}: {full}"),
            Self::Other { op, path, problem } => write!(f, "{op} {path}: {problem}"),
        }
    }
}

impl core::error::Error for ApplyError {}

impl ApplyError {
    pub fn no_such_path(op: &'static str, path: &str) -> Self {
        Self::NoSuchPath { op, path: path.into() }
    }
    pub fn tree(op: &'static str, path: &str, error: TreeError) -> Self {
        Self::Tree { op, path: path.into(), error }
    }
    pub fn other(op: &'static str, path: &str, problem: impl ToString) -> Self {
        Self::Other { op, path: path.into(), problem: problem.to_string() }
    }
}

impl Namespace {
    /// Executes `op`, which has transaction id `txid`.
    ///
    /// # Errors
    /// The operation does not fit the state: see [`ApplyError`]. The state is unchanged then.
    pub fn apply(&mut self, op: &EditOp, txid: TxId) -> Result<Applied, ApplyError> {
        let applied = self.apply_op(op, txid)?;
        self.note_for_walks(op);
        Ok(applied)
    }

    fn apply_op(&mut self, op: &EditOp, txid: TxId) -> Result<Applied, ApplyError> {
        self.blocks.set_last_txid(txid);
        self.check_op(op).map_err(|full| ApplyError::Full { op: op.name(), full })?;
        if self.has_detached() {
            self.free_slice(ops::delete::FREED_PER_OPERATION);
        }
        match op {
            EditOp::Mkdir { inode_id, path, timestamp, permission, acl, xattrs } => {
                ops::mkdirs::apply(self, *inode_id, path, *timestamp, permission, acl, xattrs)
            }
            EditOp::Delete { path, timestamp, .. } => ops::delete::apply(self, path, *timestamp, txid),
            EditOp::RenameOld { src, dst, timestamp, .. } => {
                ops::rename::apply(self, "OP_RENAME_OLD", src, dst, *timestamp, false, txid)
            }
            EditOp::Rename { src, dst, timestamp, options, .. } => {
                ops::rename::apply(self, "OP_RENAME", src, dst, *timestamp, options.overwrite, txid)
            }
            EditOp::ConcatDelete { target, sources, timestamp, .. } => {
                ops::concat::apply(self, target, sources, *timestamp, txid)
            }
            EditOp::SetPermissions { src, permission } => ops::set_permission::apply(self, src, *permission),
            EditOp::SetOwner { src, user, group } => ops::set_owner::apply(self, src, user.as_ref(), group.as_ref()),
            EditOp::SetAcl { src, entries } => ops::change_acl::apply(self, src, entries),
            EditOp::SetXAttr { src, xattrs, .. } => ops::set_xattr::apply(self, src, xattrs),
            EditOp::RemoveXAttr { src, xattrs, .. } => ops::remove_xattr::apply(self, src, xattrs),
            EditOp::SetQuota { src, namespace_quota, storage_quota } => {
                ops::set_quota::apply(self, "OP_SET_QUOTA", src, Some(*namespace_quota), Some(*storage_quota))
            }
            EditOp::SetQuotaByStorageType { src, storage_type, quota } => {
                ops::set_quota::apply_by_type(self, src, *storage_type, *quota)
            }
            EditOp::SetNsQuota { src, quota } => {
                ops::set_quota::apply(self, "OP_SET_NS_QUOTA", src, Some(*quota), None)
            }
            EditOp::ClearNsQuota { src } => ops::set_quota::apply(self, "OP_CLEAR_NS_QUOTA", src, Some(-1), None),
            EditOp::AddErasureCodingPolicy { policy, .. } => ops::erasure_coding::apply_add(self, policy),
            EditOp::EnableErasureCodingPolicy { name, .. } => {
                ops::erasure_coding::apply_change(self, op.name(), name, PolicyChange::Enable)
            }
            EditOp::DisableErasureCodingPolicy { name, .. } => {
                ops::erasure_coding::apply_change(self, op.name(), name, PolicyChange::Disable)
            }
            EditOp::RemoveErasureCodingPolicy { name, .. } => {
                ops::erasure_coding::apply_change(self, op.name(), name, PolicyChange::Remove)
            }
            EditOp::AddCachePool { .. }
            | EditOp::ModifyCachePool { .. }
            | EditOp::RemoveCachePool { .. }
            | EditOp::AddCacheDirective { .. }
            | EditOp::ModifyCacheDirective { .. }
            | EditOp::RemoveCacheDirective { .. } => ops::cache::apply(self, op),
            EditOp::Symlink { .. } => ops::symlink::apply(self, op),
            EditOp::SetStoragePolicy { path, policy_id } => ops::set_storage_policy::apply(self, path, *policy_id),
            EditOp::Times { path, mtime, atime } => ops::set_times::apply(self, path, *mtime, *atime),
            EditOp::StartLogSegment | EditOp::EndLogSegment => Ok(Applied::default()),
            _ => self.apply_data(op, txid),
        }
    }

    /// The operations on file data and block ids.
    fn apply_data(&mut self, op: &EditOp, txid: TxId) -> Result<Applied, ApplyError> {
        match op {
            EditOp::Add(op) => ops::create::apply(self, op, txid),
            EditOp::Close(op) => ops::complete::apply(self, op, txid),
            EditOp::Append { path, client_name, client_machine, new_block, .. } => {
                ops::append::apply(self, path, client_name, client_machine, *new_block)
            }
            EditOp::AddBlock { path, penultimate, last, .. } => ops::add_block::apply(self, path, *penultimate, *last),
            EditOp::UpdateBlocks { path, blocks, .. } => {
                ops::abandon_block::apply_update_blocks(self, path, blocks, txid)
            }
            EditOp::AllocateBlockId { block_id } => Ok(ops::add_block::apply_allocate_block_id(self, *block_id)),
            EditOp::SetGenstampV1 { generation_stamp } => {
                Ok(ops::add_block::apply_set_genstamp_v1(self, *generation_stamp))
            }
            EditOp::SetGenstampV2 { generation_stamp } => {
                Ok(ops::add_block::apply_set_genstamp(self, *generation_stamp))
            }
            EditOp::Truncate { src, client_name, client_machine, new_length, timestamp, block } => {
                let op = ops::truncate::TruncateOp {
                    src,
                    client_name,
                    client_machine,
                    new_length: *new_length,
                    timestamp: *timestamp,
                    block: *block,
                };
                ops::truncate::apply(self, &op, txid)
            }
            EditOp::SetReplication { path, replication } => ops::set_replication::apply(self, path, *replication),
            EditOp::ReassignLease { path, new_holder, .. } => {
                ops::recover_lease::apply_reassign_lease(self, path, new_holder)
            }
            _ => self.apply_snapshot(op, txid),
        }
    }

    /// The operations on snapshots.
    fn apply_snapshot(&mut self, op: &EditOp, txid: TxId) -> Result<Applied, ApplyError> {
        match op {
            EditOp::AllowSnapshot { root } => ops::snapshot::apply_allow(self, root),
            EditOp::DisallowSnapshot { root } => ops::snapshot::apply_disallow(self, root, txid),
            EditOp::CreateSnapshot { root, name, mtime, .. } => ops::snapshot::apply_create(self, root, name, *mtime),
            EditOp::RenameSnapshot { root, old_name, new_name, mtime, .. } => {
                ops::snapshot::apply_rename(self, root, old_name, new_name, *mtime)
            }
            EditOp::DeleteSnapshot { root, name, mtime, .. } => {
                ops::snapshot::apply_delete(self, root, name, *mtime, txid)
            }
            _ => self.apply_service(op),
        }
    }

    /// The operations that belong to no inode.
    fn apply_service(&mut self, op: &EditOp) -> Result<Applied, ApplyError> {
        match op {
            EditOp::UpdateMasterKey { key_id, expiry_date, key } => {
                Ok(ops::delegation_token::apply_master_key(self, *key_id, *expiry_date, key.as_ref()))
            }
            EditOp::GetDelegationToken { token, expiry_time } => {
                Ok(ops::delegation_token::apply_get(self, token, *expiry_time))
            }
            EditOp::RenewDelegationToken { token, expiry_time } => {
                Ok(ops::delegation_token::apply_renew(self, token, *expiry_time))
            }
            EditOp::CancelDelegationToken { token } => Ok(ops::delegation_token::apply_cancel(self, token)),
            EditOp::RollingUpgradeStart { time } => Ok(ops::rolling_upgrade::apply_start(self, *time)),
            EditOp::RollingUpgradeFinalize { .. } => Ok(ops::rolling_upgrade::apply_finalize(self)),
            _ => Err(ApplyError::Unsupported(op.name())),
        }
    }

    /// The inode at a path of an operation.
    ///
    /// # Errors
    /// [`ApplyError::NoSuchPath`].
    pub fn apply_lookup(&self, op: &'static str, path: &str) -> Result<InodeHandle, ApplyError> {
        self.tree.lookup(path).ok_or_else(|| ApplyError::no_such_path(op, path))
    }

    fn apply_directory(&self, op: &'static str, path: &str) -> Result<InodeHandle, ApplyError> {
        self.tree.lookup_directory(path).ok_or_else(|| ApplyError::no_such_path(op, path))
    }

    /// The parent directory and the name of a path of an operation; the path itself need not exist.
    ///
    /// # Errors
    /// [`ApplyError::NoSuchPath`] when the parent does not exist; a last component that is no name.
    pub fn apply_lookup_parent<'p>(
        &self,
        op: &'static str,
        path: &'p str,
    ) -> Result<(InodeHandle, &'p [u8]), ApplyError> {
        let (parent, name) = path.rsplit_once('/').ok_or_else(|| ApplyError::no_such_path(op, path))?;
        if !is_name(name.as_bytes()) {
            return Err(ApplyError::tree(op, path, TreeError::BadName));
        }
        let parent = if parent.is_empty() { InodeHandle::ROOT } else { self.apply_directory(op, parent)? };
        Ok((parent, name.as_bytes()))
    }
}
