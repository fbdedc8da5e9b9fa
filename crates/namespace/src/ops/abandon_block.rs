//! abandonBlock: drops the last block of an open file, which the client could not get a pipeline for.
//! Source: `FSDirWriteFileOp.abandonBlock`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal};
use surus_types::{Block, InodeId, RpcIds, TxId};

/// The request. A block that is gone already is no error.
#[derive(Clone, Copy, Debug)]
pub struct AbandonBlock<'a> {
    pub block: Block,
    pub file_id: InodeId,
    pub src: &'a str,
    pub holder: &'a str,
}

impl Operation for AbandonBlock<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        let block = namespace.extended(self.block);
        namespace.check_safe_mode(env, format_args!("Cannot abandon block {block} for file{}", self.src))?;
        let file = namespace.open_file(env, self.src, self.file_id, self.holder)?;
        let mut blocks = namespace.blocks_of(&file.blocks);
        if blocks.pop().is_none_or(|last| last.id != self.block.id) {
            return Ok(Plan::read(()));
        }
        let op = EditOp::UpdateBlocks { path: file.path.as_str().into(), blocks, rpc: RpcIds::NONE };
        Ok(Plan::one(op, ()))
    }
}

/// OP_UPDATE_BLOCKS: the block list of an open file; what fsync and updatePipeline log too.
///
/// # Errors
/// There is no such file, or its blocks are other ones.
pub fn apply_update_blocks(
    namespace: &mut Namespace,
    path: &str,
    blocks: &[Block],
    txid: TxId,
) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_UPDATE_BLOCKS";
    let file = namespace.apply_lookup(OP, path)?;
    if !namespace.tree.inode(file).is_file() {
        return Err(ApplyError::WrongKind { op: OP, path: path.into() });
    }
    namespace.apply_blocks(OP, path, file, blocks, false, txid)?;
    Ok(Applied::default())
}
