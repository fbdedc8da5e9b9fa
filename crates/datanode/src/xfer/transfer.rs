//! TRANSFER_BLOCK, and copying a replica to other DataNodes.

use super::io::{Input, write_message};
use super::sender::BlockSender;
use super::server::{After, Session};
use super::write::{block_of, connect, xfer_address};
use crate::node::Node;
use crate::store::{ReplicaInfo, ReplicaState};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use surus_proto::hadoop::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use surus_proto::hadoop::hdfs::{
    BaseHeaderProto, BlockOpResponseProto, CachingStrategyProto, ClientOperationHeaderProto, DatanodeInfoProto,
    DnTransferAckProto, ExtendedBlockProto, OpTransferBlockProto, OpWriteBlockProto, Status,
};
use surus_types::{Block, ExceptionClass, HdfsError};
use surus_wire::datatransfer::Op;
use surus_wire::datatransfer::op::put_op;

/// A copy to be made.
pub(crate) struct Copy {
    pub pool_id: String,
    pub block: Block,
    pub targets: Vec<DatanodeInfoProto>,
    pub storage_types: Vec<i32>,
    pub storage_ids: Vec<String>,
    /// Empty for a copy that the NameNode asked for.
    pub client_name: String,
}

/// Sends a replica down a pipeline of DataNodes. With a client name it waits until they have it.
///
/// # Errors
/// The replica cannot be sent from here, or the first target refuses it.
pub(crate) fn send_replica(node: &Arc<Node>, copy: &Copy) -> Result<(), HdfsError> {
    node.xmits.fetch_add(1, Ordering::Relaxed);
    let result = try_send(node, copy);
    node.xmits.fetch_sub(1, Ordering::Relaxed);
    result
}

fn try_send(node: &Arc<Node>, copy: &Copy) -> Result<(), HdfsError> {
    let (pool, info) = node.replica(&copy.pool_id, &copy.block)?;
    if copy.client_name.is_empty() {
        check_complete(node, copy, &info)?;
    }
    let stage = match info.state {
        _ if copy.client_name.is_empty() => Stage::PipelineSetupCreate,
        ReplicaState::Finalized => Stage::TransferFinalized,
        ReplicaState::Rbw => Stage::TransferRbw,
        _ => return Err(HdfsError::io(format!("{} is not a RBW or a Finalized", copy.block))),
    };
    if info.block.generation_stamp < copy.block.generation_stamp {
        return Err(HdfsError::io(format!(
            "{} = storedGS < b.getGenerationStamp(), b={}",
            info.block.generation_stamp, copy.block
        )));
    }
    let visible = info
        .visible_length
        .ok_or_else(|| HdfsError::io(format!("{} is not readable, {}", copy.block, info.state.name())))?;
    let block = Block { num_bytes: visible, ..info.block };
    let Some((first, rest)) = copy.targets.split_first() else { return Ok(()) };
    let sender = BlockSender::open(&pool, &block, 0, visible, true).map_err(|refusal| {
        // A complete replica without its file is as bad as a damaged one.
        let no_file = copy.client_name.is_empty() && refusal.error.class == ExceptionClass::ReplicaNotFound;
        if refusal.damaged || no_file {
            node.reports.bad_block(node, &copy.pool_id, &block);
        }
        if no_file { HdfsError::io(refusal.error.message) } else { refusal.error }
    })?;
    if copy.client_name.is_empty() && sender.reader().info.state != ReplicaState::Finalized {
        return Err(invalid(copy));
    }
    let io_error =
        |e: io::Error| HdfsError::io(format!("{}:{block} to {}: {e}", copy.pool_id, xfer_address(node, &first.id)));
    let stream = connect(node, &first.id, rest.len()).map_err(io_error)?;
    let op = request(node, copy, &block, &sender, stage, rest);
    let mut head = Vec::with_capacity(512);
    put_op(&mut head, Op::WriteBlock, &op);
    (&stream).write_all(&head).map_err(io_error)?;
    sender.send(&stream, node.config.transfer_to_allowed).map_err(io_error)?;
    if !copy.client_name.is_empty() {
        let ack: DnTransferAckProto = Input::new(stream).read_message().map_err(io_error)?;
        if ack.status != Status::Success as i32 {
            return Err(HdfsError::io(format!("Bad connect ack, targets={}", xfer_address(node, &first.id))));
        }
    } else {
        // The receiver says nothing: it closes when it has all.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = Input::new(stream).fill();
    }
    Ok(())
}

/// A copy that the NameNode ordered is one of a complete replica: no client mends it where it is cut short.
/// Source: `DataNode.transferBlock`, `FsDatasetImpl.checkBlock`, Hadoop 3.5.0.
fn check_complete(node: &Node, copy: &Copy, info: &ReplicaInfo) -> Result<(), HdfsError> {
    if info.state != ReplicaState::Finalized || info.block.generation_stamp != copy.block.generation_stamp {
        return Err(invalid(copy));
    }
    if info.block.num_bytes < copy.block.num_bytes {
        node.reports.bad_block(node, &copy.pool_id, &copy.block);
        return Err(HdfsError::io(format!(
            "Can't replicate block {}:{} because on-disk length {} is shorter than NameNode recorded length {}",
            copy.pool_id, copy.block, info.block.num_bytes, copy.block.num_bytes
        )));
    }
    Ok(())
}

fn invalid(copy: &Copy) -> HdfsError {
    let text = format!("Can't send invalid block {}:{}", copy.pool_id, copy.block);
    HdfsError::new(ExceptionClass::ReplicaNotFound, text)
}

fn request(
    node: &Node,
    copy: &Copy,
    block: &Block,
    sender: &BlockSender,
    stage: Stage,
    rest: &[DatanodeInfoProto],
) -> OpWriteBlockProto {
    OpWriteBlockProto {
        header: ClientOperationHeaderProto {
            base_header: BaseHeaderProto {
                block: extended_block(&copy.pool_id, block),
                token: Some(Default::default()),
                trace_info: None,
            },
            client_name: copy.client_name.clone(),
        },
        targets: rest.to_vec(),
        source: Some(DatanodeInfoProto {
            id: node.id_proto(),
            location: Some("/default-rack".into()),
            ..Default::default()
        }),
        stage: stage as i32,
        requested_checksum: sender.checksum.to_proto(),
        caching_strategy: Some(CachingStrategyProto::default()),
        storage_type: copy.storage_types.first().copied(),
        target_storage_types: copy.storage_types.iter().skip(1).copied().collect(),
        allow_lazy_persist: Some(false),
        pinning: Some(false),
        storage_id: copy.storage_ids.first().cloned(),
        target_storage_ids: copy.storage_ids.iter().skip(1).cloned().collect(),
        ..Default::default()
    }
}

pub(crate) fn extended_block(pool_id: &str, block: &Block) -> ExtendedBlockProto {
    ExtendedBlockProto {
        pool_id: pool_id.to_owned(),
        block_id: block.id.0 as u64,
        generation_stamp: block.generation_stamp.0,
        num_bytes: Some(block.num_bytes),
    }
}

pub(super) fn transfer_block(session: &mut Session<'_>, op: &OpTransferBlockProto) -> io::Result<After> {
    let (pool_id, block) = block_of(&op.header.base_header.block);
    let copy = Copy {
        pool_id: pool_id.to_owned(),
        block,
        targets: op.targets.clone(),
        storage_types: op.target_storage_types.clone(),
        storage_ids: op.target_storage_ids.clone(),
        client_name: op.header.client_name.clone(),
    };
    match send_replica(session.node, &copy) {
        Ok(()) => {
            let response = BlockOpResponseProto { status: Status::Success as i32, ..Default::default() };
            write_message(session.stream(), &response)?;
        }
        Err(e) => {
            let text = format!("opTransferBlock {pool_id}:{block} received exception {e}");
            tracing::info!("{}: {text}", session.peer);
            session.respond(Status::Error, Some(text))?;
        }
    }
    Ok(After::Close)
}
