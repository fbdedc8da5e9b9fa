//! recoverLease, and what create, append and truncate do about a file that another client has open: refuse, wait for a
//! recovery, or start one. Source: `FSNamesystem.recoverLeaseInternal`, `internalReleaseLease`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::blocks::BlockState;
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal, SoftEffect, WaitFor};
use crate::resolve::DirOp;
use crate::tree::{InodeHandle, UnderConstruction};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use surus_types::{Block, ExceptionClass, FsAction, HdfsError};

/// Who asks for a file that may be open. The name is part of exception texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RecoverLeaseOp {
    CreateFile,
    AppendFile,
    TruncateFile,
    RecoverLease,
}

impl RecoverLeaseOp {
    /// The text of the exceptions about a file that is open.
    pub fn message(self, src: &str, holder: &str, machine: &str, reason: &str) -> String {
        let name = match self {
            Self::CreateFile => "CREATE_FILE",
            Self::AppendFile => "APPEND_FILE",
            Self::TruncateFile => "TRUNCATE_FILE",
            Self::RecoverLease => "RECOVER_LEASE",
        };
        format!("Failed to {name} {src} for {holder} on {machine} because {reason}")
    }
}

/// The request: `true` means that the file is closed.
#[derive(Clone, Copy, Debug)]
pub struct RecoverLease<'a> {
    pub src: &'a str,
    pub client_name: &'a str,
}

impl Operation for RecoverLease<'_> {
    type Reply = bool;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<bool>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot recover the lease of {}", self.src))?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "recoverLease")?;
        let file = namespace.existing_file(&path)?;
        if !namespace.tree.inode(file).is_under_construction() {
            return Ok(Plan::read(true));
        }
        namespace.check_path_access(env, &path, FsAction::WRITE)?;
        namespace.lease_of(RecoverLeaseOp::RecoverLease, env, file, &path.path, self.client_name)?;
        Ok(match namespace.plan_release(env, file, &path.path, Some(self.client_name))? {
            Release::Closed(ops) => Plan::new(ops, true),
            Release::Started { ops, soft } => Plan { ops, soft, reply: false },
            Release::UnderWay => Plan::read(false),
        })
    }
}

/// How far a lease can be taken away now.
pub(super) enum Release {
    /// These operations close the file.
    Closed(Vec<EditOp>),
    /// These start the recovery of its last block; the file is closed when it ends.
    Started { ops: Vec<EditOp>, soft: Vec<SoftEffect> },
    /// A recovery started not long ago, or DataNodes that have not reported yet may hold the last block.
    UnderWay,
}

impl Namespace {
    fn lease_of(
        &self,
        op: RecoverLeaseOp,
        env: &Env<'_>,
        file: InodeHandle,
        path: &str,
        holder: &str,
    ) -> Result<Arc<str>, HdfsError> {
        let inode = self.tree.inode(file);
        self.leases.holder_of(inode.id()).cloned().ok_or_else(|| {
            let reason = "the file is under construction but no leases found.";
            let text = op.message(path, holder, &env.caller.address, reason);
            HdfsError::new(ExceptionClass::AlreadyBeingCreated, text)
        })
    }

    /// `Ok` when the file is closed. When another holds it and is past the soft limit, its lease is taken away.
    pub(super) fn check_open_for(
        &self,
        op: RecoverLeaseOp,
        env: &Env<'_>,
        file: InodeHandle,
        path: &str,
        holder: &str,
    ) -> Result<(), Refusal> {
        let inode = self.tree.inode(file);
        let Some(writer) = inode.under_construction() else { return Ok(()) };
        let error = |class, reason: &str| HdfsError::new(class, op.message(path, holder, &env.caller.address, reason));
        if self.leases.holder_of(inode.id()).is_some_and(|h| &**h == holder) {
            let reason = format!("{holder} is already the current lease holder.");
            return Err(error(ExceptionClass::AlreadyBeingCreated, &reason).into());
        }
        let owner = self.lease_of(op, env, file, path, holder)?;
        let until = WaitFor::LeaseRecovery(inode.id());
        let in_progress =
            || error(ExceptionClass::RecoveryInProgress, "lease recovery is in progress. Try again later.");
        if self.leases.soft_expired(&owner, env.monotonic_ms) {
            return Err(match self.plan_release(env, file, path, None)? {
                Release::Closed(ops) => Refusal::Start { ops, soft: Vec::new(), until, otherwise: in_progress() },
                Release::Started { ops, soft } => Refusal::Start { ops, soft, until, otherwise: in_progress() },
                Release::UnderWay => Refusal::Wait { until, otherwise: in_progress() },
            });
        }
        let by = format!("{} on {}", writer.client_name, writer.client_machine);
        let last = inode.blocks().last().map(|b| self.blocks.info(*b).state);
        Err(match last {
            Some(BlockState::UnderRecovery) => {
                error(ExceptionClass::RecoveryInProgress, &format!("another recovery is in progress by {by}"))
            }
            _ => error(ExceptionClass::AlreadyBeingCreated, &format!("this file lease is currently owned by {by}")),
        }
        .into())
    }

    /// Takes the lease of an open file away: closes the file if its blocks are settled, else has the last one recovered
    /// under a new stamp. `new_holder` holds the lease meanwhile; `None`: the old one, renewed.
    pub(super) fn plan_release(
        &self,
        env: &Env<'_>,
        file: InodeHandle,
        path: &str,
        new_holder: Option<&str>,
    ) -> Result<Release, HdfsError> {
        let inode = self.tree.inode(file);
        let handles = inode.blocks();
        let blocks = self.blocks_of(handles);
        let Some(last) = handles.last() else { return Ok(Release::Closed(self.close_ops(file, path, blocks, env))) };
        let settled = |h: &crate::BlockHandle| self.blocks.info(*h).state == BlockState::Complete;
        if handles.iter().all(settled) {
            return Ok(Release::Closed(self.close_ops(file, path, blocks, env)));
        }
        let incomplete = handles.iter().filter(|h| !settled(h)).count();
        if incomplete > 2 {
            return Err(HdfsError::io(format!(
                "DIR* NameSystem.internalReleaseLease: attempt to release a create lock on {path} but file is already \
                 closed."
            )));
        }
        if handles.len() >= 2 && !settled(&handles[handles.len() - 2]) {
            return Err(HdfsError::new(
                ExceptionClass::AlreadyBeingCreated,
                format!(
                    "DIR* NameSystem.internalReleaseLease: Failed to release lease for file {path}. Committed blocks are \
                     waiting to be minimally replicated."
                ),
            ));
        }
        let block = self.blocks.block(*last);
        let open = self.blocks.open_block(*last);
        if block.num_bytes == 0 && self.blocks.expected_storages(*last).is_empty() {
            if !self.blocks.is_nowhere(*last, env.monotonic_ms) {
                // Hadoop drops the block here, and with it what a writer flushed before the restart.
                return Ok(Release::UnderWay);
            }
            // No DataNode ever got it: there is nothing to recover.
            let mut blocks = blocks;
            blocks.pop();
            return Ok(Release::Closed(self.close_ops(file, path, blocks, env)));
        }
        let recovery = open.and_then(|o| o.recovery.as_ref());
        let timeout = self.blocks.config.block_recovery_timeout_ms;
        // A primary that died will bring nothing.
        let is_alive = |primary| self.blocks.datanodes.datanode(primary).alive;
        if recovery.is_some_and(|r| {
            r.primary.is_some_and(is_alive) && env.monotonic_ms.saturating_sub(r.started_monotonic_ms) < timeout
        }) {
            return Ok(Release::UnderWay);
        }
        let recovery_id = self.blocks.next_generation_stamp();
        let truncate_to = recovery.and_then(|r| r.truncate_to).map(|to| Block { generation_stamp: recovery_id, ..to });
        let mut ops = alloc::vec![EditOp::SetGenstampV2 { generation_stamp: recovery_id }];
        let holder = inode.under_construction().map_or("", |w| &w.client_name);
        if let Some(new_holder) = new_holder.filter(|n| *n != holder) {
            ops.push(EditOp::ReassignLease {
                lease_holder: holder.into(),
                path: path.into(),
                new_holder: new_holder.into(),
            });
        }
        let soft = alloc::vec![
            SoftEffect::StartBlockRecovery { block: block.id, recovery_id, truncate_to },
            SoftEffect::RenewLease { holder: new_holder.unwrap_or(holder).into() },
        ];
        Ok(Release::Started { ops, soft })
    }

    fn close_ops(&self, file: InodeHandle, path: &str, blocks: Vec<Block>, env: &Env<'_>) -> Vec<EditOp> {
        alloc::vec![self.close_op(self.tree.inode(file), path, blocks, env.now_ms)]
    }
}

/// OP_REASSIGN_LEASE.
///
/// # Errors
/// There is no such file, or it is not open.
pub fn apply_reassign_lease(namespace: &mut Namespace, path: &str, new_holder: &str) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_REASSIGN_LEASE";
    let file = namespace.apply_lookup(OP, path)?;
    let inode = namespace.tree.inode(file);
    let Some(writer) = inode.under_construction() else {
        return Err(ApplyError::other(OP, path, "the file is not open"));
    };
    let (id, machine) = (inode.id(), writer.client_machine.clone());
    let holder: Arc<str> = new_holder.into();
    namespace.tree.set_under_construction(file, Some(UnderConstruction::new(holder.clone(), machine)));
    namespace.leases.add(&holder, id, namespace.now_ms);
    Ok(Applied::default())
}
