//! What the operations on open files share: the lease check, the block list as the edit log writes it, and its changes in
//! `apply`. Source: `FSNamesystem.checkLease`, `FSEditLogLoader.updateBlocks`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::ApplyError;
use crate::blocks::{BlockHandle, BlockState, StorageHandle};
use crate::edit_op::{AddClose, EditOp};
use crate::plan::Env;
use crate::resolve::DirOp;
use crate::tree::{InodeHandle, InodeView};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::{Block, ExceptionClass, HdfsError, InodeId, LocatedBlock, RpcIds, TxId};

/// A block with its place in the file and its DataNodes, as a reply holds it until it is encoded.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockLocation {
    pub block: Block,
    /// Offset in the file, bytes. `u64::MAX`, -1 on the wire, where the answer is about the block alone.
    pub offset: u64,
    pub storages: Vec<StorageHandle>,
}

impl BlockLocation {
    /// Lends the view that an encoder takes.
    pub fn lend<R>(&self, namespace: &Namespace, visit: impl FnOnce(LocatedBlock<'_>) -> R) -> R {
        let replicas: Vec<_> = self.storages.iter().map(|s| namespace.blocks.datanodes.replica(*s)).collect();
        visit(LocatedBlock { block: self.block, offset: self.offset, corrupt: false, replicas: &replicas })
    }
}

/// An open file that the holder may write to.
pub(super) struct OpenFile {
    pub handle: InodeHandle,
    pub path: String,
    pub blocks: Vec<BlockHandle>,
}

impl Namespace {
    /// Finds an open file, by id if the client sent one, and checks that `holder` writes it.
    pub(super) fn open_file(
        &self,
        env: &Env<'_>,
        src: &str,
        file_id: InodeId,
        holder: &str,
    ) -> Result<OpenFile, HdfsError> {
        let (handle, path) = self.file_by_id_or_path(env, src, file_id)?;
        let handle = self.check_lease(handle, &path, file_id, holder)?;
        let blocks = self.tree.inode(handle).blocks().to_vec();
        Ok(OpenFile { handle, path, blocks })
    }

    /// The inode a writer means, if it exists, and its path.
    pub(super) fn file_by_id_or_path(
        &self,
        env: &Env<'_>,
        src: &str,
        file_id: InodeId,
    ) -> Result<(Option<InodeHandle>, String), HdfsError> {
        if file_id == InodeId::GRANDFATHER {
            let resolved = self.resolve(env, src, DirOp::Write)?;
            return Ok((resolved.last, resolved.path.into_owned()));
        }
        let found = self.tree.get(file_id);
        // A deleted file has no path any more: it does not exist for its writer.
        match found.and_then(|handle| Some((handle, self.tree.path_of(handle)?))) {
            Some((handle, path)) => Ok((Some(handle), path)),
            None => Ok((None, src.into())),
        }
    }

    /// # Errors
    /// `FileNotFoundException`, `LeaseExpiredException`, with the texts of Hadoop 3.5.0.
    pub(super) fn check_lease(
        &self,
        handle: Option<InodeHandle>,
        path: &str,
        file_id: InodeId,
        holder: &str,
    ) -> Result<InodeHandle, HdfsError> {
        let who = || {
            let lease = self.leases.describe(holder);
            let lease = lease.unwrap_or_else(|| format!("Holder {holder} does not have any open files."));
            format!("{path} (inode {file_id}) {lease}")
        };
        let expired = |text: String| Err(HdfsError::new(ExceptionClass::LeaseExpired, text));
        let Some(handle) = handle else {
            return Err(HdfsError::file_not_found(format!("File does not exist: {}", who())));
        };
        let inode = self.tree.inode(handle);
        if !inode.is_file() {
            return expired(format!("INode is not a regular file: {}", who()));
        }
        let Some(writer) = inode.under_construction() else {
            return expired(format!("File is not open for writing: {}", who()));
        };
        if &*writer.client_name != holder {
            return expired(format!("Client (={holder}) is not the lease owner (={}: {}", writer.client_name, who()));
        }
        Ok(handle)
    }

    /// The blocks as the table has them.
    pub(super) fn blocks_of(&self, handles: &[BlockHandle]) -> Vec<Block> {
        handles.iter().map(|h| self.blocks.block(*h)).collect()
    }

    /// OP_CLOSE for a file whose final blocks are `blocks`.
    pub(super) fn close_op(&self, inode: InodeView<'_>, path: &str, blocks: Vec<Block>, now_ms: i64) -> EditOp {
        EditOp::Close(Box::new(AddClose {
            inode_id: InodeId(0),
            path: path.into(),
            replication: inode.replication(),
            mtime: now_ms,
            atime: inode.access_time(),
            block_size: inode.preferred_block_size(),
            blocks,
            permission: inode.permission_status(),
            acl: Vec::new(),
            xattrs: Vec::new(),
            client_name: "".into(),
            client_machine: "".into(),
            overwrite: false,
            storage_policy_id: 0,
            erasure_coding_policy_id: 0,
            rpc: RpcIds::NONE,
        }))
    }

    /// `pool:blk_id_stamp`, as exception texts name a block.
    pub(super) fn extended(&self, block: Block) -> String {
        format!("{}:{block}", self.blocks.config.pool_id)
    }

    /// Records length and charge after the blocks of a file changed.
    pub(super) fn refresh_file_size(&mut self, handle: InodeHandle) {
        let inode = self.tree.inode(handle);
        let length = inode.blocks().iter().map(|b| self.blocks.block(*b).num_bytes).sum();
        let unfinished = match inode.blocks().last() {
            Some(last) if inode.is_under_construction() => {
                let last = self.blocks.info(*last);
                let open = last.state.is_open();
                if open { inode.preferred_block_size().saturating_sub(last.block.num_bytes) } else { 0 }
            }
            _ => 0,
        };
        self.tree.set_file_size(handle, length, unfinished);
    }

    /// Replaces a file's blocks by those an operation lists: stamps and lengths may differ, the last may be gone, more may
    /// have come. The last is complete afterwards if `close`.
    pub(super) fn apply_blocks(
        &mut self,
        op: &'static str,
        path: &str,
        handle: InodeHandle,
        new: &[Block],
        close: bool,
        txid: TxId,
    ) -> Result<(), ApplyError> {
        let old = self.tree.inode(handle).blocks().to_vec();
        let fits = |i: usize, b: &Block| old.get(i).is_none_or(|h| self.blocks.block(*h).id == b.id);
        if !new.iter().enumerate().all(|(i, b)| fits(i, b)) || new.len() + 1 < old.len() {
            return Err(ApplyError::other(op, path, "the blocks are not those of the file"));
        }
        for (i, block) in new.iter().enumerate() {
            let complete = close || i + 1 < new.len();
            match old.get(i) {
                Some(known) if complete => self.blocks.complete(*known, *block),
                Some(known) => self.blocks.set_open_form(*known, *block),
                None => {
                    let state = if complete { BlockState::Complete } else { BlockState::UnderConstruction };
                    self.apply_new_block(op, path, handle, *block, state)?;
                }
            }
        }
        if let Some(gone) = old.get(new.len()) {
            self.tree.pop_block(handle);
            self.remove_block_unless_shown(handle, *gone, txid);
        }
        self.refresh_file_size(handle);
        Ok(())
    }

    pub(super) fn apply_new_block(
        &mut self,
        op: &'static str,
        path: &str,
        file: InodeHandle,
        block: Block,
        state: BlockState,
    ) -> Result<BlockHandle, ApplyError> {
        // As an image would have it after a restart: what a snapshot wants counts for all blocks of the file.
        let (owner, replication) = (self.tree.inode(file).id(), self.tree.block_replication(file));
        let is_group = self.tree.inode(file).layout().is_erasure_coded();
        let Some(handle) = self.blocks.insert(block, owner, replication, state, is_group) else {
            return Err(ApplyError::other(op, path, format!("{block} exists already")));
        };
        self.tree.push_block(file, handle);
        Ok(handle)
    }
}
