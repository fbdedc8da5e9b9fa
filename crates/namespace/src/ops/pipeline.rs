//! Pipeline recovery: updateBlockForPipeline gives the writer a new stamp, getAdditionalDatanode a replacement for a
//! DataNode that failed, and updatePipeline records who is left. Source: `FSNamesystem.java`, Hadoop 3.5.0.

use super::file_state::BlockLocation;
use crate::Namespace;
use crate::blocks::{BlockHandle, BlockState, Random, StorageHandle, TargetRequest};
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal, SoftEffect};
use crate::storage_policy;
use crate::tree::InodeHandle;
use alloc::format;
use alloc::vec::Vec;
use surus_types::{Block, ExceptionClass, HdfsError, InodeId};

/// The request; the reply is the block under its new stamp, without locations.
#[derive(Clone, Copy, Debug)]
pub struct UpdateBlockForPipeline<'a> {
    pub block: Block,
    pub client_name: &'a str,
}

impl Operation for UpdateBlockForPipeline<'_> {
    type Reply = BlockLocation;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<BlockLocation>, Refusal> {
        let name = namespace.extended(self.block);
        namespace.check_safe_mode(
            env,
            format_args!("Cannot get a new generation stamp and an access token for block {name}"),
        )?;
        namespace.check_open_block(self.block, self.client_name)?;
        let generation_stamp = namespace.blocks.next_generation_stamp();
        let block = Block { generation_stamp, ..self.block };
        let reply = BlockLocation { block, offset: u64::MAX, storages: Vec::new() };
        Ok(Plan::one(EditOp::SetGenstampV2 { generation_stamp }, reply))
    }
}

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct UpdatePipeline<'a> {
    pub client_name: &'a str,
    pub old: Block,
    pub new: Block,
    /// UUIDs of the DataNodes left.
    pub datanodes: &'a [&'a str],
    /// UUIDs of their storages, in the same order.
    pub storages: &'a [&'a str],
}

impl Operation for UpdatePipeline<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Pipeline not updated"))?;
        let (file, last) = namespace.check_open_block(self.old, self.client_name)?;
        let known = namespace.blocks.block(last);
        let (old, new) = (self.old, self.new);
        if new.generation_stamp <= known.generation_stamp || new.num_bytes < known.num_bytes {
            return Err(HdfsError::io(format!(
                "Update {} (size={}) to an older state: {} (size={})",
                namespace.extended(old),
                old.num_bytes,
                namespace.extended(new),
                new.num_bytes
            ))
            .into());
        }
        let storages = namespace.storages_by_uuid(self.datanodes, self.storages);
        let inode = namespace.tree.inode(file);
        let mut blocks = namespace.blocks_of(inode.blocks());
        match blocks.last_mut() {
            Some(slot) if slot.id == new.id => *slot = new,
            _ => return Err(HdfsError::io(format!("{new} is not the last block of its file")).into()),
        }
        let path = namespace.tree.path_of(file).unwrap_or_default();
        let op = EditOp::UpdateBlocks { path: path.as_str().into(), blocks, rpc: env.rpc.clone() };
        Ok(Plan::one(op, ()).with(SoftEffect::ExpectReplicas {
            block: new.id,
            generation_stamp: new.generation_stamp,
            storages,
        }))
    }
}

/// The request; the reply names the replicas there are and the new ones, or only the former if no DataNode is left.
#[derive(Clone, Copy, Debug)]
pub struct GetAdditionalDatanode<'a> {
    pub src: &'a str,
    pub file_id: InodeId,
    pub block: Block,
    /// UUIDs of the DataNodes in the pipeline.
    pub existing: &'a [&'a str],
    /// UUIDs of their storages.
    pub existing_storages: &'a [&'a str],
    /// UUIDs of DataNodes that failed the client.
    pub excluded: &'a [&'a str],
    pub wanted: u32,
    pub client_name: &'a str,
}

impl Operation for GetAdditionalDatanode<'_> {
    type Reply = BlockLocation;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<BlockLocation>, Refusal> {
        let what = namespace.extended(self.block);
        namespace.check_safe_mode(env, format_args!("Cannot add datanode; src={}, blk={what}", self.src))?;
        let file = namespace.open_file(env, self.src, self.file_id, self.client_name)?;
        let mut storages = namespace.storages_by_uuid(self.existing, self.existing_storages);
        let mut excluded = namespace.datanodes_by_uuid(self.excluded);
        excluded.extend(namespace.datanodes_by_uuid(self.existing));
        let nodes = &namespace.blocks.datanodes;
        let writer = nodes.on_host(&env.caller.address, env.random);
        let request = TargetRequest {
            writer,
            wanted: self.wanted as usize,
            excluded: &excluded,
            favored: &[],
            block_size: namespace.tree.inode(file.handle).preferred_block_size(),
            prefer_local: true,
            now_monotonic_ms: env.monotonic_ms,
            policy: Some(storage_policy::by_id(namespace.tree.inode(file.handle).storage_policy())),
        };
        storages.extend(namespace.blocks.choose_targets(&request, &mut Random::new(env.random)));
        Ok(Plan::read(BlockLocation { block: self.block, offset: u64::MAX, storages }))
    }
}

impl Namespace {
    /// Storages by uuid; where a client does not name one, the DataNode's first.
    pub(super) fn storages_by_uuid(&self, datanodes: &[&str], storages: &[&str]) -> Vec<StorageHandle> {
        let nodes = &self.blocks.datanodes;
        let find = |(i, uuid): (usize, &&str)| {
            let node = nodes.find(uuid)?;
            let named = storages.get(i).and_then(|s| nodes.find_storage(node, s));
            named.or_else(|| nodes.datanode(node).storages.first().copied())
        };
        datanodes.iter().enumerate().filter_map(find).collect()
    }

    /// The file and the handle of a block that is being written by this client.
    /// Source: `FSNamesystem.checkUCBlock`, Hadoop 3.5.0.
    fn check_open_block(&self, block: Block, client_name: &str) -> Result<(InodeHandle, BlockHandle), HdfsError> {
        let name = self.extended(block);
        let Some(handle) = self.blocks.find(block.id) else {
            return Err(HdfsError::io(format!("{name} does not exist.")));
        };
        let info = self.blocks.info(handle);
        if info.state != BlockState::UnderConstruction {
            return Err(HdfsError::io(format!(
                "Unexpected BlockUCState: {name} is {} but not UNDER_CONSTRUCTION",
                info.state.name()
            )));
        }
        let file = self.tree.get(info.owner).filter(|f| self.tree.path_of(*f).is_some());
        let Some((file, writer)) = file.and_then(|f| Some((f, self.tree.inode(f).under_construction()?))) else {
            return Err(HdfsError::io(format!(
                "The file {} belonged to does not exist or it is not under construction.",
                info.block
            )));
        };
        if &*writer.client_name != client_name {
            return Err(HdfsError::new(
                ExceptionClass::LeaseExpired,
                format!("Lease mismatch: {name} is accessed by a non lease holder {client_name}"),
            ));
        }
        Ok((file, handle))
    }
}
