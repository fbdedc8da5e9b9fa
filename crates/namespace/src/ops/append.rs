//! append: opens a closed file for more data, in its last block if that is not full.
//! Source: `FSDirAppendOp.java`, Hadoop 3.5.0.

use super::create::LAZY_PERSIST_POLICY;
use super::file_state::BlockLocation;
use super::quota::Usage;
use super::recover_lease::RecoverLeaseOp;
use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::blocks::BlockState;
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal, WaitFor};
use crate::resolve::DirOp;
use crate::tree::{InodeHandle, UnderConstruction};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use surus_types::{ExceptionClass, FsAction, HdfsError, InodeId};

/// The request. The client's machine is the caller's address.
#[derive(Clone, Copy, Debug)]
pub struct Append<'a> {
    pub src: &'a str,
    pub client_name: &'a str,
    /// Write into a new block even if the last one is not full.
    pub new_block: bool,
}

/// The file, and the block to go on with; its status is read from the tree once the operations are applied.
#[derive(Clone, PartialEq, Debug)]
pub struct AppendReply {
    pub inode_id: InodeId,
    /// `None`: the file is empty, or its last block is full.
    pub last_block: Option<BlockLocation>,
}

impl Operation for Append<'_> {
    type Reply = AppendReply;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<AppendReply>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot append to file{}", self.src))?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "append")?;
        if path.last.is_some_and(|last| namespace.tree.inode(last).is_directory()) {
            return Err(HdfsError::new(
                ExceptionClass::FileAlreadyExists,
                format!("Cannot append to directory {}; already exists as a directory.", path.path),
            )
            .into());
        }
        namespace.check_path_access(env, &path, FsAction::WRITE)?;
        let Some(file) = path.last else {
            return Err(HdfsError::file_not_found(format!(
                "Failed to append to non-existent file {} for client {}",
                path.path, env.caller.address
            ))
            .into());
        };
        if namespace.tree.inode(file).ec_policy().is_some() && !self.new_block {
            let text =
                "Append on EC file without new block is not supported. Use NEW_BLOCK create flag while appending file.";
            return Err(HdfsError::new(ExceptionClass::UnsupportedOperation, text).into());
        }
        if namespace.tree.inode(file).storage_policy() == LAZY_PERSIST_POLICY {
            return Err(HdfsError::new(
                ExceptionClass::UnsupportedOperation,
                format!("Cannot append to lazy persist file {}", path.path),
            )
            .into());
        }
        namespace.check_open_for(RecoverLeaseOp::AppendFile, env, file, &path.path, self.client_name)?;
        self.check_last_block(namespace, file, &path.path)?;
        namespace.verify_quota(path.ancestor, &self.added(namespace, file))?;
        let reply =
            AppendReply { inode_id: namespace.tree.inode(file).id(), last_block: self.last_block(namespace, file) };
        let op = EditOp::Append {
            path: path.path.as_ref().into(),
            client_name: self.client_name.into(),
            client_machine: (&*env.caller.address).into(),
            new_block: self.new_block,
            rpc: env.rpc.clone(),
        };
        Ok(Plan::one(op, reply))
    }
}

impl Append<'_> {
    /// A last block that is written on is charged in full again.
    fn added(&self, namespace: &Namespace, file: InodeHandle) -> Usage {
        let inode = namespace.tree.inode(file);
        match inode.blocks().last() {
            Some(last) if !self.new_block => {
                let left = inode.preferred_block_size().saturating_sub(namespace.blocks.block(*last).num_bytes);
                Usage::bytes(left as i64, inode.replication(), inode.storage_policy())
            }
            _ => Usage::default(),
        }
    }

    /// The last block must be complete, and on as many DataNodes as the minimum asks (or as there are).
    fn check_last_block(&self, namespace: &Namespace, file: InodeHandle, path: &str) -> Result<(), Refusal> {
        let Some(last) = namespace.tree.inode(file).blocks().last() else { return Ok(()) };
        let info = namespace.blocks.info(*last);
        let last_block = info.block;
        if info.is_group {
            let text = format!("append: {path} is erasure-coded, and this version cannot write its data.");
            return Err(HdfsError::new(ExceptionClass::UnsupportedOperation, text).into());
        }
        if info.state == BlockState::Committed {
            let otherwise = HdfsError::new(
                ExceptionClass::Retriable,
                format!("append: lastBlock={last_block} of src={path} is COMMITTED but not yet COMPLETE."),
            );
            return Err(Refusal::Wait { until: WaitFor::MinReplication(last_block.id), otherwise });
        }
        let live = namespace.blocks.datanodes.num_live() as usize;
        let wanted = live.min(usize::from(namespace.blocks.config.min_replication));
        if namespace.blocks.count_replicas(*last).live < wanted {
            let text = format!("append: lastBlock={last_block} of src={path} is not sufficiently replicated yet.");
            return Err(HdfsError::io(text).into());
        }
        Ok(())
    }

    fn last_block(&self, namespace: &Namespace, file: InodeHandle) -> Option<BlockLocation> {
        let inode = namespace.tree.inode(file);
        let last = *inode.blocks().last()?;
        let block = namespace.blocks.block(last);
        if self.new_block {
            // Sent back as `previous` of the next addBlock.
            return Some(BlockLocation { block, offset: u64::MAX, storages: Vec::new() });
        }
        if block.num_bytes == inode.preferred_block_size() {
            return None;
        }
        let mut storages = namespace.blocks.storages_of(last);
        storages.retain(|s| namespace.blocks.datanodes.is_live(*s) && !namespace.blocks.is_corrupt(last, *s));
        Some(BlockLocation { block, offset: inode.length() - block.num_bytes, storages })
    }
}

/// OP_APPEND.
///
/// # Errors
/// There is no such file, or it is open.
pub fn apply(
    namespace: &mut Namespace,
    path: &str,
    client_name: &str,
    client_machine: &str,
    new_block: bool,
) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_APPEND";
    let file = namespace.apply_lookup(OP, path)?;
    let inode = namespace.tree.inode(file);
    if !inode.is_file() || inode.is_under_construction() {
        return Err(ApplyError::WrongKind { op: OP, path: path.into() });
    }
    let last = inode.blocks().last().copied();
    let preferred = inode.preferred_block_size();
    namespace.tree.keep_blocks(file);
    namespace.open_for_writer(file, client_name, client_machine);
    if let Some(last) = last.filter(|l| !new_block && namespace.blocks.block(*l).num_bytes != preferred) {
        namespace.blocks.reopen(last);
    }
    namespace.refresh_file_size(file);
    Ok(Applied::default())
}

impl Namespace {
    /// Marks a file as being written and gives the writer its lease.
    pub(super) fn open_for_writer(&mut self, file: InodeHandle, client_name: &str, client_machine: &str) {
        let id = self.tree.inode(file).id();
        let holder: Arc<str> = client_name.into();
        let writer = UnderConstruction::new(holder.clone(), client_machine.into());
        self.tree.set_under_construction(file, Some(writer));
        self.leases.add(&holder, id, self.now_ms);
    }
}
