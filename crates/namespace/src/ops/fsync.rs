//! fsync: logs the block list of an open file, and the last block's length if the client says it, so that readers find
//! the data after a restart. Source: `FSNamesystem.fsync`, Hadoop 3.5.0.

use crate::Namespace;
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal};
use surus_types::{InodeId, RpcIds};

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct Fsync<'a> {
    pub src: &'a str,
    pub client_name: &'a str,
    /// Bytes in the last block; negative or 0: not said.
    pub last_block_length: i64,
    pub file_id: InodeId,
}

impl Operation for Fsync<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot fsync file {}", self.src))?;
        let file = namespace.open_file(env, self.src, self.file_id, self.client_name)?;
        let mut blocks = namespace.blocks_of(&file.blocks);
        if let (Some(slot), Some(handle)) = (blocks.last_mut(), file.blocks.last())
            && self.last_block_length > 0
            && namespace.blocks.info(*handle).state.is_open()
        {
            slot.num_bytes = self.last_block_length as u64;
        }
        let op = EditOp::UpdateBlocks { path: file.path.as_str().into(), blocks, rpc: RpcIds::NONE };
        Ok(Plan::one(op, ()))
    }
}
