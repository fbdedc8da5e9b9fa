//! addBlock: ends the previous block of an open file and gives it one more, with the DataNodes to write it to.
//! Source: `FSDirWriteFileOp.validateAddBlock`, `storeAllocatedBlock`, Hadoop 3.5.0.

use super::file_state::{BlockLocation, OpenFile};
use super::quota::Usage;
use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::blocks::{BlockState, DatanodeHandle, Random, StorageHandle, TargetRequest};
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal, SoftEffect, WaitFor};
use crate::storage_policy;
use crate::tree::InodeHandle;
use alloc::format;
use alloc::vec::Vec;
use surus_types::{Block, ExceptionClass, HdfsError, InodeId, RpcIds};

/// Bits of the request's flags.
pub const NO_LOCAL_WRITE: u32 = 1;
pub const IGNORE_CLIENT_LOCALITY: u32 = 2;

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct AddBlock<'a> {
    pub src: &'a str,
    pub client_name: &'a str,
    /// The file's last block as the client wrote it; `None` for the first block, and after an append to a full one.
    pub previous: Option<Block>,
    /// UUIDs of DataNodes that failed the client.
    pub excluded: &'a [&'a str],
    pub file_id: InodeId,
    /// `host:port` of DataNodes the client would like.
    pub favored: &'a [&'a str],
    /// Bits: [`NO_LOCAL_WRITE`], [`IGNORE_CLIENT_LOCALITY`].
    pub flags: u32,
}

/// What the file's last block means for the request.
enum Situation {
    /// A new block is to be made.
    Next,
    /// This block was allocated by the same request before.
    Retry(BlockLocation),
}

impl Operation for AddBlock<'_> {
    type Reply = BlockLocation;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<BlockLocation>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot add block to {}", self.src))?;
        let file = namespace.open_file(env, self.src, self.file_id, self.client_name)?;
        if let Situation::Retry(mut location) = self.situation(namespace, &file)? {
            if !location.storages.is_empty() {
                return Ok(Plan::read(location));
            }
            location.storages = self.targets(namespace, env, &file)?;
            let effect = SoftEffect::ExpectReplicas {
                block: location.block.id,
                generation_stamp: location.block.generation_stamp,
                storages: location.storages.clone(),
            };
            return Ok(Plan::read(location).with(effect));
        }
        namespace.check_penultimate(&file)?;
        let limit = namespace.blocks.config.max_blocks_per_file;
        if file.blocks.len() >= limit {
            return Err(HdfsError::io(format!(
                "File has reached the limit on maximum number of blocks \
                 (dfs.namenode.fs-limits.max-blocks-per-file): {} >= {limit}",
                file.blocks.len()
            ))
            .into());
        }
        let previous = namespace.final_form(&file, self.previous)?;
        self.check_striped(namespace, &file)?;
        let parent = namespace.tree.inode(file.handle).parent().unwrap_or(InodeHandle::ROOT);
        let (freed, added) = self.charges(namespace, &file, previous);
        namespace.verify_quota_after(parent, &freed, &added, None)?;
        let storages = self.targets(namespace, env, &file)?;
        let block = Block {
            id: namespace.blocks.next_block_id(),
            generation_stamp: namespace.blocks.next_generation_stamp(),
            num_bytes: 0,
        };
        let before: u64 = file.blocks.iter().rev().skip(1).map(|b| namespace.blocks.block(*b).num_bytes).sum();
        let offset = before + previous.map_or(0, |p| p.num_bytes);
        let ops = alloc::vec![
            EditOp::AllocateBlockId { block_id: block.id },
            EditOp::SetGenstampV2 { generation_stamp: block.generation_stamp },
            EditOp::AddBlock { path: file.path.as_str().into(), penultimate: previous, last: block, rpc: RpcIds::NONE },
        ];
        let effect = SoftEffect::ExpectReplicas {
            block: block.id,
            generation_stamp: block.generation_stamp,
            storages: storages.clone(),
        };
        Ok(Plan::new(ops, BlockLocation { block, offset, storages }).with(effect))
    }
}

impl AddBlock<'_> {
    /// Block groups are not written yet: the answer is that of a Hadoop with too few DataNodes for the policy.
    fn check_striped(&self, namespace: &Namespace, file: &OpenFile) -> Result<(), HdfsError> {
        let Some(policy) = namespace.tree.inode(file.handle).ec_policy() else { return Ok(()) };
        Err(HdfsError::io(format!(
            "File {} could only be written to 0 of the {} required nodes for {}. There are {} datanode(s) running and {} \
             node(s) are excluded in this operation.",
            file.path,
            policy.data_units,
            policy.name,
            namespace.blocks.datanodes.num_live(),
            self.excluded.len()
        )))
    }

    /// The previous block shrinks from a full block to its length, the new one counts in full.
    fn charges(&self, namespace: &Namespace, file: &OpenFile, previous: Option<Block>) -> (Usage, Usage) {
        let inode = namespace.tree.inode(file.handle);
        let (replication, policy) = (inode.replication(), inode.storage_policy());
        let full = inode.preferred_block_size() as i64;
        let open = file.blocks.last().is_some_and(|b| namespace.blocks.info(*b).state.is_open());
        let freed = previous.filter(|_| open).map_or(0, |p| (full - p.num_bytes as i64).max(0));
        (Usage::bytes(freed, replication, policy), Usage::bytes(full, replication, policy))
    }

    /// Source: `FSDirWriteFileOp.analyzeFileState`, Hadoop 3.5.0.
    fn situation(&self, namespace: &Namespace, file: &OpenFile) -> Result<Situation, HdfsError> {
        let blocks = &namespace.blocks;
        let Some(last) = file.blocks.last().copied() else {
            return match self.previous {
                None => Ok(Situation::Next),
                Some(previous) => Err(self.mismatch(namespace, file, previous, "null")),
            };
        };
        let info = blocks.info(last);
        if self.previous.is_some_and(|p| is_same(p, info.block)) {
            return Ok(Situation::Next);
        }
        let preferred = namespace.tree.inode(file.handle).preferred_block_size();
        let complete = info.state == BlockState::Complete;
        if self.previous.is_none() && complete && info.block.num_bytes >= preferred {
            // The first block after an append to a file that ended at a block's end.
            return Ok(Situation::Next);
        }
        let penultimate = file.blocks.len().checked_sub(2).map(|i| blocks.block(file.blocks[i]));
        let is_retry = match (penultimate, self.previous) {
            (None, None) => true,
            (Some(penultimate), Some(previous)) => is_same(previous, penultimate),
            _ => false,
        };
        if !is_retry {
            let previous = self.previous.map_or_else(|| "null".into(), |p| namespace.extended(p));
            return Err(HdfsError::io(format!(
                "Cannot allocate block in {}: passed 'previous' block {previous} does not match actual last block in file \
                 {}",
                file.path, info.block
            )));
        }
        if info.block.num_bytes != 0 || complete {
            return Err(HdfsError::io(format!(
                "Request looked like a retry to allocate block {} but it already contains {} bytes",
                info.block, info.block.num_bytes
            )));
        }
        let offset = namespace.tree.inode(file.handle).length();
        let storages =
            blocks.open_block(last).map_or_else(Vec::new, |o| o.expected.iter().map(|e| e.storage).collect());
        Ok(Situation::Retry(BlockLocation { block: info.block, offset, storages }))
    }

    fn mismatch(&self, namespace: &Namespace, file: &OpenFile, previous: Block, last: &str) -> HdfsError {
        HdfsError::io(format!(
            "Cannot allocate block in {}: passed 'previous' block {} does not match actual last block in file {last}",
            file.path,
            namespace.extended(previous)
        ))
    }

    fn targets(&self, namespace: &Namespace, env: &Env<'_>, file: &OpenFile) -> Result<Vec<StorageHandle>, HdfsError> {
        let inode = namespace.tree.inode(file.handle);
        let excluded = namespace.datanodes_by_uuid(self.excluded);
        let nodes = &namespace.blocks.datanodes;
        let favored: Vec<DatanodeHandle> = self
            .favored
            .iter()
            .filter_map(|f| nodes.handles().find(|h| is_called(&nodes.datanode(*h).id, f)))
            .collect();
        let local = nodes.on_host(&env.caller.address, env.random);
        let mut avoided = excluded.clone();
        if self.flags & NO_LOCAL_WRITE != 0 {
            avoided.extend(local);
        }
        let mut request = TargetRequest {
            writer: local,
            wanted: usize::from(inode.replication()),
            excluded: &avoided,
            favored: &favored,
            block_size: inode.preferred_block_size(),
            prefer_local: self.flags & (NO_LOCAL_WRITE | IGNORE_CLIENT_LOCALITY) == 0,
            now_monotonic_ms: env.monotonic_ms,
            policy: Some(storage_policy::by_id(inode.storage_policy())),
        };
        let mut targets = namespace.blocks.choose_targets(&request, &mut Random::new(env.random));
        if targets.is_empty() && avoided.len() > excluded.len() {
            // Better on the writer's own DataNode than nowhere.
            request.excluded = &excluded;
            targets = namespace.blocks.choose_targets(&request, &mut Random::new(env.random));
        }
        let minimum = usize::from(namespace.blocks.config.min_replication);
        if targets.len() < minimum {
            return Err(HdfsError::io(format!(
                "File {} could only be written to {} of the {minimum} minReplication nodes. There are {} datanode(s) \
                 running and {} node(s) are excluded in this operation.",
                file.path,
                targets.len(),
                nodes.num_live(),
                self.excluded.len()
            )));
        }
        Ok(targets)
    }
}

fn is_same(a: Block, b: Block) -> bool {
    a.id == b.id && a.generation_stamp == b.generation_stamp
}

/// Whether `host:port` names the DataNode's data port.
fn is_called(id: &surus_types::DatanodeId, name: &str) -> bool {
    let (host, port) = name.rsplit_once(':').unwrap_or((name, ""));
    (host == id.host_name || host == id.ip_addr) && (port.is_empty() || port.parse() == Ok(id.xfer_port))
}

impl Namespace {
    pub(super) fn datanodes_by_uuid(&self, uuids: &[&str]) -> Vec<DatanodeHandle> {
        uuids.iter().filter_map(|uuid| self.blocks.datanodes.find(uuid)).collect()
    }

    /// The block before the last must be complete before the file goes on: the call waits for that.
    pub(super) fn check_penultimate(&self, file: &OpenFile) -> Result<(), Refusal> {
        let Some(penultimate) = file.blocks.len().checked_sub(2).map(|i| self.blocks.info(file.blocks[i])) else {
            return Ok(());
        };
        if penultimate.state == BlockState::Complete {
            return Ok(());
        }
        let text = format!("Not replicated yet: {}", file.path);
        Err(Refusal::Wait {
            until: WaitFor::MinReplication(penultimate.block.id),
            otherwise: HdfsError::new(ExceptionClass::NotReplicatedYet, text),
        })
    }

    /// The last block of the file as the client says it is, checked against what is known of it.
    /// Source: `BlockManager.commitBlock`, Hadoop 3.5.0.
    pub(super) fn final_form(&self, file: &OpenFile, said: Option<Block>) -> Result<Option<Block>, HdfsError> {
        let Some(last) = file.blocks.last().map(|b| self.blocks.info(*b)) else { return Ok(None) };
        let Some(said) = said else { return Ok(Some(last.block)) };
        match last.state {
            BlockState::Complete => return Ok(Some(last.block)),
            BlockState::UnderRecovery => {
                return Err(HdfsError::io(format!("Commit or complete block {said}, whereas it is under recovery.")));
            }
            BlockState::Committed | BlockState::UnderConstruction => {}
        }
        if said.id != last.block.id || said.generation_stamp != last.block.generation_stamp {
            return Err(HdfsError::io(format!(
                "Commit block with mismatching GS. NN has {}, client submits {said}",
                last.block
            )));
        }
        if said.num_bytes < last.block.num_bytes {
            return Err(HdfsError::io(format!(
                "commitBlock length is less than the stored one {} vs. {}",
                said.num_bytes, last.block.num_bytes
            )));
        }
        Ok(Some(said))
    }
}

/// OP_ADD_BLOCK.
///
/// # Errors
/// There is no such open file, or its last block is another one.
pub fn apply(
    namespace: &mut Namespace,
    path: &str,
    penultimate: Option<Block>,
    last: Block,
) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_ADD_BLOCK";
    let file = namespace.apply_lookup(OP, path)?;
    let inode = namespace.tree.inode(file);
    if !inode.is_file() || !inode.is_under_construction() {
        return Err(ApplyError::other(OP, path, "the file is not open"));
    }
    match (inode.blocks().last().copied(), penultimate) {
        (Some(handle), Some(form)) if namespace.blocks.block(handle).id == form.id => {
            namespace.blocks.commit(handle, form);
        }
        (None, None) => {}
        _ => return Err(ApplyError::other(OP, path, "the last block is another one")),
    }
    namespace.apply_new_block(OP, path, file, last, BlockState::UnderConstruction)?;
    namespace.refresh_file_size(file);
    Ok(Applied::default())
}

/// OP_ALLOCATE_BLOCK_ID: an id that is never given out again.
pub fn apply_allocate_block_id(namespace: &mut Namespace, id: surus_types::BlockId) -> Applied {
    let ids = &mut namespace.blocks.ids;
    if id.is_striped() {
        ids.last_allocated_striped_block_id = id;
    } else {
        ids.last_allocated_block_id = ids.last_allocated_block_id.max(id);
    }
    Applied::default()
}

/// OP_SET_GENSTAMP_V2: a stamp that is never given out again.
pub fn apply_set_genstamp(namespace: &mut Namespace, stamp: surus_types::GenerationStamp) -> Applied {
    let ids = &mut namespace.blocks.ids;
    ids.generation_stamp = ids.generation_stamp.max(stamp);
    Applied::default()
}

/// OP_SET_GENSTAMP_V1: stamps of files older than Hadoop 2.
pub fn apply_set_genstamp_v1(namespace: &mut Namespace, stamp: surus_types::GenerationStamp) -> Applied {
    namespace.blocks.ids.generation_stamp_v1 = stamp;
    Applied::default()
}
