//! truncate: cuts a file. At the end of a block it is done at once; inside one, DataNodes cut the last block in a block
//! recovery, and the file is open until that ends. Source: `FSDirTruncateOp.java`, Hadoop 3.5.0.

use super::create::LAZY_PERSIST_POLICY;
use super::quota::Usage;
use super::recover_lease::RecoverLeaseOp;
use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::blocks::BlockState;
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal, SoftEffect};
use crate::resolve::DirOp;
use crate::tree::InodeHandle;
use alloc::format;
use surus_types::{Block, BlockId, ExceptionClass, FsAction, HdfsError, TxId};

/// The request: `true` means done, `false` that the last block is being cut.
#[derive(Clone, Copy, Debug)]
pub struct Truncate<'a> {
    pub src: &'a str,
    /// Bytes.
    pub new_length: i64,
    pub client_name: &'a str,
}

impl Operation for Truncate<'_> {
    type Reply = bool;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<bool>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot truncate for {}", self.src))?;
        let illegal = |text| HdfsError::new(ExceptionClass::HadoopIllegalArgument, text);
        let Ok(new_length) = u64::try_from(self.new_length) else {
            return Err(illegal(format!("Cannot truncate to a negative file size: {}.", self.new_length)).into());
        };
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "truncate")?;
        namespace.check_path_access(env, &path, FsAction::WRITE)?;
        let file = namespace.existing_file(&path)?;
        let inode = namespace.tree.inode(file);
        if inode.ec_policy().is_some() {
            let text = format!("Cannot truncate file with striped block {}", path.path);
            return Err(HdfsError::new(ExceptionClass::UnsupportedOperation, text).into());
        }
        if inode.storage_policy() == LAZY_PERSIST_POLICY {
            return Err(HdfsError::new(
                ExceptionClass::UnsupportedOperation,
                format!("Cannot truncate lazy persist file {}", path.path),
            )
            .into());
        }
        if let Some(under_way) = self.under_way(namespace, env, file, &path.path, new_length) {
            return Ok(Plan::read(under_way?));
        }
        namespace.check_open_for(RecoverLeaseOp::TruncateFile, env, file, &path.path, self.client_name)?;
        let old_length = inode.length();
        if new_length == old_length {
            return Ok(Plan::read(true));
        }
        if new_length > old_length {
            return Err(illegal(format!(
                "Cannot truncate to a larger file size. Current size: {old_length}, truncate size: {new_length}."
            ))
            .into());
        }
        let (last, kept) = namespace.cut(file, new_length);
        if let (Some(block), Some(parent)) = (last, path.parent()) {
            // The block that is cut counts in full until that is done.
            let left = inode.preferred_block_size() as i64 - block.num_bytes as i64;
            namespace.verify_quota(parent, &Usage::bytes(left, inode.replication(), inode.storage_policy()))?;
        }
        let op = |block| EditOp::Truncate {
            src: path.path.as_ref().into(),
            client_name: self.client_name.into(),
            client_machine: (&*env.caller.address).into(),
            new_length,
            timestamp: env.now_ms,
            block,
        };
        let Some(last) = last else { return Ok(Plan::one(op(None), true)) };
        let generation_stamp = namespace.blocks.next_generation_stamp();
        if must_copy(namespace, file, last.id) {
            // What stays of it becomes a block of its own.
            let id = namespace.blocks.next_block_id();
            let block = Block { id, generation_stamp, num_bytes: 0 };
            let ops = alloc::vec![
                EditOp::AllocateBlockId { block_id: id },
                EditOp::SetGenstampV2 { generation_stamp },
                op(Some(block)),
            ];
            let truncate_to = Some(Block { num_bytes: kept, ..block });
            let effect = SoftEffect::StartBlockRecovery { block: id, recovery_id: generation_stamp, truncate_to };
            return Ok(Plan::new(ops, false).with(effect));
        }
        let block = Block { generation_stamp, ..last };
        let ops = alloc::vec![EditOp::SetGenstampV2 { generation_stamp }, op(Some(block))];
        let truncate_to = Some(Block { num_bytes: kept, ..block });
        let effect = SoftEffect::StartBlockRecovery { block: last.id, recovery_id: generation_stamp, truncate_to };
        Ok(Plan::new(ops, false).with(effect))
    }
}

/// A snapshot, or the state that an upgrade can go back to, has the block whole.
/// Source: `FSDirTruncateOp.shouldCopyOnTruncate`, Hadoop 3.5.0.
fn must_copy(namespace: &Namespace, file: InodeHandle, block: BlockId) -> bool {
    namespace.keeps_previous || namespace.rolling_upgrade.is_some() || namespace.is_shown_block(file, block)
}

impl Truncate<'_> {
    /// The file is being truncated already: by the same request (`false`), or by another (an error).
    fn under_way(
        &self,
        namespace: &Namespace,
        env: &Env<'_>,
        file: InodeHandle,
        path: &str,
        new_length: u64,
    ) -> Option<Result<bool, HdfsError>> {
        let inode = namespace.tree.inode(file);
        let last = *inode.blocks().last()?;
        let info = namespace.blocks.info(last);
        if info.state != BlockState::UnderRecovery {
            return None;
        }
        let to = namespace.blocks.open_block(last)?.recovery.as_ref()?.truncate_to?;
        let target = inode.length() - info.block.num_bytes + to.num_bytes;
        if target == new_length {
            return Some(Ok(false));
        }
        let reason = format!("{path} is being truncated.");
        let text = RecoverLeaseOp::TruncateFile.message(path, self.client_name, &env.caller.address, &reason);
        Some(Err(HdfsError::new(ExceptionClass::AlreadyBeingCreated, text)))
    }
}

impl Namespace {
    /// Where a file of `new_length` bytes ends: in the middle of a block (which, and how many bytes of it stay), or at
    /// the end of one (`None`).
    fn cut(&self, file: InodeHandle, new_length: u64) -> (Option<Block>, u64) {
        let mut left = new_length;
        for handle in self.tree.inode(file).blocks() {
            let block = self.blocks.block(*handle);
            if left < block.num_bytes {
                return if left == 0 { (None, 0) } else { (Some(block), left) };
            }
            left -= block.num_bytes;
        }
        (None, 0)
    }

    /// Whether a snapshot shows a block of a file. Source: `INodeFile.isBlockInLatestSnapshot`, Hadoop 3.5.0.
    fn is_shown_block(&self, file: InodeHandle, id: BlockId) -> bool {
        let Some(block) = self.blocks.find(id) else { return false };
        self.tree.is_in_latest_snapshot(file) || self.tree.has_past_block(file, block)
    }

    /// Copy-on-truncate, as Hadoop logs it for files in snapshots: the last block is replaced by one with a new id.
    pub(super) fn apply_replaced_last(
        &mut self,
        op: &'static str,
        path: &str,
        file: InodeHandle,
        blocks: &[Block],
        txid: TxId,
    ) -> Result<(), ApplyError> {
        let handles = self.tree.inode(file).blocks();
        let (Some(old), Some(new)) = (handles.last().copied(), blocks.last().copied()) else { return Ok(()) };
        if handles.len() != blocks.len() || self.blocks.block(old).id == new.id {
            return Ok(());
        }
        if !self.blocks.info(old).state.is_open() {
            return Err(ApplyError::other(op, path, "the last block is another one"));
        }
        self.tree.pop_block(file);
        self.remove_block_unless_shown(file, old, txid);
        self.apply_new_block(op, path, file, new, BlockState::UnderConstruction)?;
        Ok(())
    }
}

/// What OP_TRUNCATE says.
pub struct TruncateOp<'a> {
    pub src: &'a str,
    pub client_name: &'a str,
    pub client_machine: &'a str,
    pub new_length: u64,
    pub timestamp: i64,
    pub block: Option<Block>,
}

/// OP_TRUNCATE: whole blocks go at once, the block that is cut is opened for its recovery.
///
/// # Errors
/// There is no such file, or it ends elsewhere than the operation says.
pub fn apply(namespace: &mut Namespace, op: &TruncateOp<'_>, txid: TxId) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_TRUNCATE";
    let path = op.src;
    let file = namespace.apply_lookup(OP, path)?;
    let inode = namespace.tree.inode(file);
    if !inode.is_file() {
        return Err(ApplyError::WrongKind { op: OP, path: path.into() });
    }
    let atime = inode.access_time();
    let (cut, kept) = namespace.cut(file, op.new_length);
    if cut.is_some() != op.block.is_some() {
        return Err(ApplyError::other(OP, path, "the file ends elsewhere"));
    }
    namespace.tree.keep_blocks(file);
    let mut length = namespace.tree.inode(file).length();
    while let Some(last) = namespace.tree.inode(file).blocks().last().copied() {
        let bytes = namespace.blocks.block(last).num_bytes;
        if length - bytes < op.new_length {
            break;
        }
        length -= bytes;
        namespace.tree.pop_block(file);
        namespace.remove_block_unless_shown(file, last, txid);
    }
    namespace.tree.set_times(file, op.timestamp, atime);
    let last = namespace.tree.inode(file).blocks().last().copied();
    if let (Some(block), Some(old)) =
        (op.block, last.filter(|l| op.block.is_some_and(|b| b.id != namespace.blocks.block(*l).id)))
    {
        namespace.open_for_writer(file, op.client_name, op.client_machine);
        namespace.tree.pop_block(file);
        let to = Block { num_bytes: kept, ..block };
        let new = namespace.apply_new_block(OP, path, file, to, BlockState::UnderConstruction)?;
        namespace.blocks.prepare_copy(new, old, to);
        namespace.remove_block_unless_shown(file, old, txid);
    } else if let Some(block) = op.block {
        namespace.open_for_writer(file, op.client_name, op.client_machine);
        let mut all = namespace.blocks_of(namespace.tree.inode(file).blocks());
        if let Some(last) = all.last_mut() {
            *last = block;
        }
        if let Some(last) = namespace.tree.inode(file).blocks().last().copied() {
            namespace.blocks.reopen(last);
        }
        namespace.apply_replaced_last(OP, path, file, &all, txid)?;
        if let Some(last) = namespace.tree.inode(file).blocks().last().copied() {
            namespace.blocks.prepare_truncate(last, Block { num_bytes: kept, ..block });
        }
    }
    namespace.refresh_file_size(file);
    Ok(Applied::default())
}
