//! commitBlockSynchronization: a DataNode reports the end of a block recovery; the file is closed with the length found.
//! Source: `FSNamesystem.commitBlockSynchronization`, Hadoop 3.5.0.

use crate::Namespace;
use crate::blocks::BlockHandle;
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal, SoftEffect};
use alloc::format;
use surus_types::{Block, GenerationStamp, HdfsError, RpcIds};

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct CommitBlockSynchronization<'a> {
    pub block: Block,
    pub new_generation_stamp: GenerationStamp,
    pub new_length: u64,
    pub close_file: bool,
    /// No DataNode had anything of the block: it is to go.
    pub delete_block: bool,
    /// UUIDs of the DataNodes that hold it now.
    pub datanodes: &'a [&'a str],
    pub storages: &'a [&'a str],
}

impl Operation for CommitBlockSynchronization<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        let name = namespace.extended(self.block);
        namespace
            .check_safe_mode(env, format_args!("Cannot commitBlockSynchronization while in safe mode, block={name}"))?;
        let Some(handle) = namespace.blocks.find(self.block.id) else {
            if self.delete_block {
                return Ok(Plan::read(()));
            }
            return Err(HdfsError::io(format!("Block (={name}) not found")).into());
        };
        let handle = namespace.copy_of_block(handle).unwrap_or(handle);
        let info = namespace.blocks.info(handle);
        let found = namespace.tree.get(info.owner).and_then(|f| Some((f, namespace.tree.path_of(f)?)));
        let Some((file, path)) = found else {
            return Err(HdfsError::file_not_found(format!(
                "File not found: {}, likely due to delayed block removal",
                info.owner
            ))
            .into());
        };
        let inode = namespace.tree.inode(file);
        if !inode.is_under_construction() || inode.blocks().last() != Some(&handle) || !info.state.is_open() {
            // A repeat, or a late end of an old recovery.
            return Ok(Plan::read(()));
        }
        let recovery = namespace.blocks.open_block(handle).and_then(|o| o.recovery.as_ref());
        let current = recovery.map_or(GenerationStamp(0), |r| r.id);
        if current != self.new_generation_stamp {
            return Err(HdfsError::io(format!(
                "The recovery id {} does not match current recovery id {current} for block {name}",
                self.new_generation_stamp
            ))
            .into());
        }
        let mut blocks = namespace.blocks_of(inode.blocks());
        blocks.pop();
        let mut id = info.block.id;
        if !self.delete_block {
            // Copy-on-truncate: the block goes on under another id.
            id = recovery.and_then(|r| r.truncate_to).map_or(id, |to| to.id);
            blocks.push(Block { id, generation_stamp: self.new_generation_stamp, num_bytes: self.new_length });
        }
        let op = if self.close_file {
            namespace.close_op(inode, &path, blocks, env.now_ms)
        } else {
            EditOp::UpdateBlocks { path: path.as_str().into(), blocks, rpc: RpcIds::NONE }
        };
        let plan = Plan::one(op, ());
        if self.delete_block {
            return Ok(plan);
        }
        let storages = namespace.storages_by_uuid(self.datanodes, self.storages);
        Ok(plan.with(SoftEffect::Recovered { block: id, storages }))
    }
}

impl Namespace {
    /// Copy-on-truncate: DataNodes tell of the block they copied from, and mean the one at the end of its file.
    fn copy_of_block(&self, source: BlockHandle) -> Option<BlockHandle> {
        let file = self.tree.get(self.blocks.info(source).owner)?;
        let last = *self.tree.inode(file).blocks().last()?;
        (self.blocks.open_block(last)?.copy_of == Some(source)).then_some(last)
    }
}
