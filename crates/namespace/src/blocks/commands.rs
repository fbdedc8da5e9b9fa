//! What a DataNode is told with the answer to its heartbeat. Source of the order: `DatanodeManager.handleHeartbeat`,
//! Hadoop 3.5.0: register alone; nothing in safe mode; block recoveries alone; else copies and deletions.

use super::{BlockManager, StorageHandle};
use alloc::vec::Vec;
use surus_types::{Block, GenerationStamp, TxId};

/// A command for one DataNode.
#[derive(Clone, PartialEq, Debug)]
pub enum DatanodeCommand {
    /// Register anew: the NameNode does not know this DataNode, or had given it up.
    Register,
    Recover(Vec<RecoveringBlock>),
    Transfer(Vec<Transfer>),
    Invalidate(Vec<Block>),
    /// Bytes per second.
    BalancerBandwidth(u64),
}

/// Bring the replicas of a block to one length. `replicas` are lent by `BlockManager::datanodes.replica`.
#[derive(Clone, PartialEq, Debug)]
pub struct RecoveringBlock {
    pub block: Block,
    pub new_generation_stamp: GenerationStamp,
    /// Set by a truncate: the block's new id, stamp and length.
    pub truncate_to: Option<Block>,
    pub replicas: Vec<StorageHandle>,
}

/// Copy a replica to other DataNodes.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfer {
    pub block: Block,
    pub targets: Vec<StorageHandle>,
}

impl BlockManager {
    /// The commands for a DataNode that has just sent its heartbeat. Work that follows from an edit is handed out only
    /// when `durable`, the journal's last durable transaction, has reached that edit.
    pub fn datanode_commands(&mut self, uuid: &str, durable: TxId) -> Vec<DatanodeCommand> {
        let Some(handle) = self.datanodes.find(uuid).filter(|h| self.datanodes.datanode(*h).alive) else {
            return alloc::vec![DatanodeCommand::Register];
        };
        if self.safe_mode.is_on() {
            return Vec::new();
        }
        let limit = self.config.invalidate_limit;
        let max_streams = self.config.max_streams_hard;
        let node = self.datanodes.datanode_mut(handle);
        let mut recovering = Vec::new();
        while let Some(work) = node.recoveries.front() {
            if work.gate > durable {
                break;
            }
            let Some(work) = node.recoveries.pop_front() else { break };
            recovering.push(RecoveringBlock {
                block: work.block,
                new_generation_stamp: work.recovery_id,
                truncate_to: work.truncate_to,
                replicas: work.storages,
            });
        }
        if !recovering.is_empty() {
            return alloc::vec![DatanodeCommand::Recover(recovering)];
        }
        let mut commands = Vec::new();
        let streams = max_streams.saturating_sub(node.stats.xmits_in_progress) as usize;
        let transfers: Vec<Transfer> = node
            .transfers
            .drain(..streams.min(node.transfers.len()))
            .map(|work| Transfer { block: work.block, targets: work.targets })
            .collect();
        if !transfers.is_empty() {
            commands.push(DatanodeCommand::Transfer(transfers));
        }
        let invalidate = node.invalidate.take(limit, durable);
        if !invalidate.is_empty() {
            commands.push(DatanodeCommand::Invalidate(invalidate));
        }
        if let Some(bandwidth) = node.balancer_bandwidth.take() {
            commands.push(DatanodeCommand::BalancerBandwidth(bandwidth));
        }
        commands
    }

    /// `dfsadmin -setBalancerBandwidth`: told to every live DataNode with its next heartbeat. Bytes per second.
    pub fn set_balancer_bandwidth(&mut self, bandwidth: u64) {
        for handle in self.datanodes.handles() {
            self.datanodes.datanode_mut(handle).balancer_bandwidth = Some(bandwidth);
        }
    }
}
