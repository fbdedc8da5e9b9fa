//! complete: closes a file once its blocks have enough replicas. Until then the call waits; the shell answers `false`,
//! not the exception, when the wait ends without success. Source: `FSDirWriteFileOp.completeFile`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::AddClose;
use crate::plan::{Env, Operation, Plan, Refusal, WaitFor};
use alloc::format;
use surus_types::{Block, ExceptionClass, HdfsError, InodeId, TxId};

/// The request: `true` means that the file is closed.
#[derive(Clone, Copy, Debug)]
pub struct Complete<'a> {
    pub src: &'a str,
    pub client_name: &'a str,
    /// The last block as the client wrote it; `None` for a file without blocks.
    pub last: Option<Block>,
    pub file_id: InodeId,
}

impl Operation for Complete<'_> {
    type Reply = bool;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<bool>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot complete file {}", self.src))?;
        let file = match namespace.open_file(env, self.src, self.file_id, self.client_name) {
            Ok(file) => file,
            Err(error) if error.class == ExceptionClass::LeaseExpired && self.is_repeat(namespace, env)? => {
                return Ok(Plan::read(true));
            }
            Err(error) => return Err(error.into()),
        };
        namespace.check_penultimate(&file)?;
        let last = namespace.final_form(&file, self.last)?;
        let mut blocks = namespace.blocks_of(&file.blocks);
        if let (Some(form), Some(handle)) = (last, file.blocks.last()) {
            if !namespace.blocks.has_min_replication(*handle, form) {
                let text = format!("Not replicated yet: {}", file.path);
                return Err(Refusal::Wait {
                    until: WaitFor::MinReplication(form.id),
                    otherwise: HdfsError::new(ExceptionClass::NotReplicatedYet, text),
                });
            }
            if let Some(slot) = blocks.last_mut() {
                *slot = form;
            }
        }
        let op = namespace.close_op(namespace.tree.inode(file.handle), &file.path, blocks, env.now_ms);
        Ok(Plan::one(op, true))
    }
}

impl Complete<'_> {
    /// The client missed the answer to a close that happened: the file is closed and ends with the block it names.
    fn is_repeat(&self, namespace: &Namespace, env: &Env<'_>) -> Result<bool, HdfsError> {
        let (handle, _) = namespace.file_by_id_or_path(env, self.src, self.file_id)?;
        let Some(inode) = handle.map(|h| namespace.tree.inode(h)) else { return Ok(false) };
        if !inode.is_file() || inode.is_under_construction() {
            return Ok(false);
        }
        let last = inode.blocks().last().map(|b| namespace.blocks.block(*b));
        Ok(match (last, self.last) {
            (None, None) => true,
            (Some(a), Some(b)) => a.id == b.id && a.generation_stamp == b.generation_stamp,
            _ => false,
        })
    }
}

/// OP_CLOSE: the file's final blocks and times; its lease ends.
///
/// # Errors
/// There is no such file, or its blocks are other ones.
pub fn apply(namespace: &mut Namespace, op: &AddClose, txid: TxId) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_CLOSE";
    let path = &*op.path;
    let file = namespace.apply_lookup(OP, path)?;
    if !namespace.tree.inode(file).is_file() {
        return Err(ApplyError::WrongKind { op: OP, path: path.into() });
    }
    namespace.tree.keep_attributes(file);
    namespace.apply_blocks(OP, path, file, &op.blocks, true, txid)?;
    namespace.tree.set_times(file, op.mtime, op.atime);
    namespace.tree.set_under_construction(file, None);
    let id = namespace.tree.inode(file).id();
    namespace.leases.remove(id);
    namespace.refresh_file_size(file);
    namespace.blocks.wake_lease_recovery(id);
    Ok(Applied::default())
}
