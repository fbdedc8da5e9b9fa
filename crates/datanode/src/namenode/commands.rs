//! What a NameNode asks for in the answer to a heartbeat or a block report. Nothing here waits: work that takes time goes to other threads.

use super::actor::block;
use crate::node::Node;
use crate::xfer::{Copy, send_replica};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use surus_proto::hadoop::hdfs::datanode::block_command_proto::Action;
use surus_proto::hadoop::hdfs::datanode::datanode_command_proto::Type;
use surus_proto::hadoop::hdfs::datanode::{BlockCommandProto, DatanodeCommandProto};
use surus_types::{ExceptionClass, HdfsError};

/// Runs one command. `obey`: the NameNode is the active one. True: register again.
pub(super) fn run(node: &Arc<Node>, pool_id: &str, command: DatanodeCommandProto, obey: bool) -> bool {
    let kind = command.cmd_type();
    if kind == Type::RegisterCommand {
        return true;
    }
    if !obey {
        tracing::debug!("a NameNode that is not active sent {}: ignored", kind.as_str_name());
        return false;
    }
    match kind {
        Type::BlockCommand => {
            if let Some(command) = command.blk_cmd {
                block_command(node, &command);
            }
        }
        Type::BlockRecoveryCommand => {
            let blocks = command.recovery_cmd.map(|c| c.blocks).unwrap_or_default();
            crate::recovery::recover_later(node, blocks);
        }
        Type::BalancerBandwidthCommand => {
            if let Some(command) = command.balancer_cmd {
                node.balance_bandwidth.store(command.bandwidth, Ordering::Relaxed);
            }
        }
        Type::FinalizeCommand => node.store.finalize_upgrade(pool_id),
        // Without block tokens there are no keys.
        Type::KeyUpdateCommand | Type::NullDatanodeCommand => {}
        other => tracing::warn!("{pool_id}: {} is not supported", other.as_str_name()),
    }
    false
}

fn block_command(node: &Arc<Node>, command: &BlockCommandProto) {
    match command.action() {
        Action::Invalidate => {
            let blocks: Vec<_> = command.blocks.iter().map(block).collect();
            node.delete_blocks(&command.block_pool_id, &blocks);
        }
        Action::Transfer => transfer(node, command),
        Action::Shutdown => tracing::error!("Received unimplemented DNA_SHUTDOWN"),
    }
}

fn transfer(node: &Arc<Node>, command: &BlockCommandProto) {
    for (i, wanted) in command.blocks.iter().enumerate() {
        let copy = Copy {
            pool_id: command.block_pool_id.clone(),
            block: block(wanted),
            targets: command.targets.get(i).map(|t| t.datanodes.clone()).unwrap_or_default(),
            storage_types: command.target_storage_types.get(i).map(|t| t.storage_types.clone()).unwrap_or_default(),
            storage_ids: command.target_storage_uuids.get(i).map(|t| t.storage_uuids.clone()).unwrap_or_default(),
            client_name: String::new(),
        };
        let thread_node = node.clone();
        let spawned = std::thread::Builder::new().name(format!("copy {}", copy.block)).spawn(move || {
            if let Err(e) = send_replica(&thread_node, &copy) {
                tracing::warn!("cannot copy {}:{}: {e}", copy.pool_id, copy.block);
                after_failed_copy(&thread_node, &copy, &e);
            }
        });
        if let Err(e) = spawned {
            tracing::error!("no thread for a copy: {e}");
        }
    }
}

/// Tells the NameNode when the reason lies here.
fn after_failed_copy(node: &Node, copy: &Copy, e: &HdfsError) {
    if e.class == ExceptionClass::ReplicaNotFound {
        let text = format!("Can't send invalid block {}:{}", copy.pool_id, copy.block);
        node.reports.invalid_block(&copy.pool_id, text);
    }
}
