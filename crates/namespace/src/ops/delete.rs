//! delete: takes a path out of the tree at once; what lay below is freed in slices.
//! Source: `FSDirDeleteOp.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::permission::Wanted;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, Resolved, check_not_reserved};
use crate::tree::{Garbage, InodeHandle};
use alloc::format;
use alloc::vec::Vec;
use surus_types::{ExceptionClass, FsAction, HdfsError, TxId};

/// Inodes that a delete frees before it returns: most deletes leave nothing behind.
const FREED_AT_ONCE: usize = 1000;
/// Inodes of earlier deletes that every operation frees besides, so that replay, which has no ticks, gets rid of them.
pub(crate) const FREED_PER_OPERATION: usize = 32;

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct Delete<'a> {
    pub src: &'a str,
    pub recursive: bool,
}

impl Operation for Delete<'_> {
    /// Whether there was something to delete.
    type Reply = bool;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<bool>, Refusal> {
        check_not_reserved(self.src)?;
        let path = namespace.resolve_for(env, self.src, DirOp::WriteLink, "delete")?;
        namespace.check_permission(
            env,
            &path,
            Wanted {
                parent: Some(FsAction::WRITE),
                subtree: Some(FsAction::ALL),
                ignore_empty_directories: true,
                ..Wanted::default()
            },
        )?;
        let Some(last) = path.last else { return Ok(Plan::read(false)) };
        if namespace.tree.inode(last).child_count() > 0 {
            if !self.recursive {
                return Err(HdfsError::new(
                    ExceptionClass::PathIsNotEmptyDirectory,
                    format!("`{} is non empty': Directory is not empty", path.path),
                )
                .into());
            }
            namespace.check_protected(&path)?;
        }
        if path.is_root() {
            return Ok(Plan::read(false));
        }
        namespace.check_no_snapshots_below(last)?;
        let op = EditOp::Delete { path: path.path.into(), timestamp: env.now_ms, rpc: env.rpc.clone() };
        Ok(Plan::one(op, true))
    }
}

/// OP_DELETE.
///
/// # Errors
/// The path is missing, or the root.
pub fn apply(namespace: &mut Namespace, path: &str, timestamp: i64, txid: TxId) -> Result<Applied, ApplyError> {
    let handle = namespace.apply_lookup("OP_DELETE", path)?;
    let Some(parent) = namespace.tree.inode(handle).parent() else {
        return Err(ApplyError::WrongKind { op: "OP_DELETE", path: path.into() });
    };
    namespace.disallow_snapshots_below(handle, txid);
    namespace.tree.touch_directory(parent, timestamp);
    namespace.detach_and_free(handle, txid);
    Ok(Applied { detached: namespace.has_detached() })
}

/// Inodes that no path leads to any more, and the transaction that cut them off: their blocks may be deleted on
/// DataNodes once it is durable.
#[derive(Debug, Default)]
pub struct Detached(Vec<(InodeHandle, TxId)>);

impl Namespace {
    /// Takes `handle` with all below it out of the tree and frees it, as far as that is little work and no snapshot shows
    /// it.
    pub(crate) fn detach_and_free(&mut self, handle: InodeHandle, txid: TxId) {
        self.tree.remove_child(handle);
        if self.tree.has_snapshots() {
            let mut garbage = Garbage::default();
            self.tree.settle_detached(handle, &mut garbage);
            self.collect_garbage(garbage, txid);
        } else {
            self.push_detached(handle, txid);
        }
        self.free_at_once();
    }

    /// Leaves an inode that nothing shows to `free_slice`.
    pub(super) fn push_detached(&mut self, handle: InodeHandle, txid: TxId) {
        self.detached.0.push((handle, txid));
    }

    /// Frees what little work frees.
    pub(super) fn free_at_once(&mut self) {
        self.free_slice(FREED_AT_ONCE);
    }

    /// Whether `free_slice` has work.
    pub fn has_detached(&self) -> bool {
        !self.detached.0.is_empty()
    }

    /// Frees about `limit` deleted inodes, with their blocks and leases. Returns whether more are left.
    pub fn free_slice(&mut self, limit: usize) -> bool {
        let mut left = limit;
        while left > 0 {
            let Some(&(handle, txid)) = self.detached.0.last() else { return false };
            // The last leaf of a directory at a time: at most 127 children.
            let children = self.tree.orphan_some_children(handle);
            if !children.is_empty() {
                self.settle_orphans(children, txid);
                continue;
            }
            self.detached.0.pop();
            if self.tree.has_snapshot_state(handle) {
                let mut garbage = Garbage::default();
                self.tree.drop_snapshot_state(handle, &mut garbage);
                self.collect_garbage(garbage, txid);
            }
            let inode = self.tree.inode(handle);
            if inode.is_under_construction() {
                let id = inode.id();
                self.leases.remove(id);
            }
            for i in 0..self.tree.inode(handle).blocks().len() {
                let block = self.tree.inode(handle).blocks()[i];
                self.blocks.remove(block, txid);
                left = left.saturating_sub(1);
            }
            self.tree.free(handle);
            left = left.saturating_sub(1);
        }
        self.has_detached()
    }

    /// Children of a directory that is being freed: most are garbage too; some are in snapshots of where they were before.
    fn settle_orphans(&mut self, children: Vec<u32>, txid: TxId) {
        for child in children.into_iter().map(InodeHandle) {
            if self.tree.is_held(child) {
                let mut garbage = Garbage::default();
                self.tree.settle_detached(child, &mut garbage);
                self.collect_garbage(garbage, txid);
            } else {
                self.push_detached(child, txid);
            }
        }
    }

    /// Non-empty directories named in `fs.protected.directories`, and what holds them, are not deleted or renamed.
    ///
    /// # Errors
    /// `AccessControlException`.
    pub(super) fn check_protected(&self, path: &Resolved<'_>) -> Result<(), HdfsError> {
        let src = &*path.path;
        let below = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || outer == "/")
        };
        for protected in &self.config.protected_directories {
            if self.config.protect_subdirectories && below(src, protected) && src != protected.as_str() {
                return Err(HdfsError::access_control(format!(
                    "Cannot delete/rename subdirectory under protected subdirectory {protected}"
                )));
            }
            let not_empty =
                || self.tree.lookup(protected).is_some_and(|handle| self.tree.inode(handle).child_count() > 0);
            if below(protected, src) && not_empty() {
                return Err(HdfsError::access_control(format!(
                    "Cannot delete/rename non-empty protected directory {protected}"
                )));
            }
        }
        Ok(())
    }
}
