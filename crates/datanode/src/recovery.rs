//! Block recovery led by this DataNode: asks every holder, agrees on a length, makes all the same, tells the NameNode.
//! Source of the rules: `BlockRecoveryWorker.java`, Hadoop 3.5.0.

use crate::node::Node;
use crate::store::ReplicaState;
use crate::xfer::extended_block;
use std::sync::Arc;
use surus_net::rpc::{RpcClient, RpcClientOptions, RpcError};
use surus_proto::hadoop::hdfs::datanode::CommitBlockSynchronizationRequestProto;
use surus_proto::hadoop::hdfs::{
    DatanodeIdProto, InitReplicaRecoveryRequestProto, InitReplicaRecoveryResponseProto, RecoveringBlockProto,
    UpdateReplicaUnderRecoveryRequestProto, UpdateReplicaUnderRecoveryResponseProto,
};
use surus_types::{Block, BlockId, ExceptionClass, GenerationStamp, HdfsError};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.InterDatanodeProtocol";

/// One holder's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Replica {
    /// Index among the recovery's locations.
    holder: usize,
    state: ReplicaState,
    stamp: u64,
    length: u64,
}

/// What all holders shall have.
#[derive(Debug, PartialEq, Eq)]
struct Decision {
    length: u64,
    participants: Vec<usize>,
}

/// Runs recoveries on a thread of their own.
pub(crate) fn recover_later(node: &Arc<Node>, blocks: Vec<RecoveringBlockProto>) {
    let node = node.clone();
    let spawned = std::thread::Builder::new().name("block recovery".into()).spawn(move || {
        for block in blocks {
            let name = format!("{}:blk_{}_{}", block.block.b.pool_id, block.block.b.block_id, block.new_gen_stamp);
            match recover(&node, &block) {
                Ok(()) => tracing::info!("recovered {name}"),
                Err(e) => tracing::warn!("recovery of {name} failed: {e}"),
            }
        }
    });
    if let Err(e) = spawned {
        tracing::error!("no thread for a block recovery: {e}");
    }
}

fn recover(node: &Arc<Node>, recovering: &RecoveringBlockProto) -> Result<(), HdfsError> {
    let located = &recovering.block;
    let holders: Vec<Holder<'_>> = located.locs.iter().map(|l| Holder::new(node, &l.id)).collect();
    let old_stamp = located.b.generation_stamp;
    let mut found = Vec::new();
    let mut errors = Vec::new();
    let mut has_empty = false;
    for (i, holder) in holders.iter().enumerate() {
        match holder.init(recovering) {
            Ok(Some((state, block))) if block.generation_stamp.0 >= old_stamp && block.num_bytes > 0 => {
                found.push(Replica { holder: i, state, stamp: block.generation_stamp.0, length: block.num_bytes })
            }
            Ok(other) => {
                tracing::info!("{}: nothing to recover: {other:?}", holder.name());
                has_empty |= other.is_some_and(|(state, block)| is_empty(state, &block, old_stamp));
            }
            // Another recovery with a higher id runs: it will do.
            Err(e) if e.class == ExceptionClass::RecoveryInProgress => return Err(e),
            Err(e) => errors.push(format!("{}: {e}", holder.name())),
        }
    }
    if !holders.is_empty() && errors.len() == holders.len() {
        return Err(HdfsError::io(format!("All datanodes failed: {}", errors.join("; "))));
    }
    let usable = usable(&found, has_empty, &errors, located.b.block_id)?;
    let mut request = CommitBlockSynchronizationRequestProto {
        block: located.b.clone(),
        new_gen_stamp: recovering.new_gen_stamp,
        close_file: true,
        ..Default::default()
    };
    if usable.is_empty() {
        // No byte of it can have been acknowledged.
        request.delete_block = true;
        return commit(node, &request);
    }
    let mut decision = decide(&usable)?;
    if let Some(truncate) = &recovering.truncate_block {
        decision.length = truncate.num_bytes();
    }
    request.new_length = decision.length;
    let mut failed = Vec::new();
    for i in decision.participants {
        match holders[i].update(recovering, decision.length) {
            Ok(storage) => {
                request.new_taragets.push(located.locs[i].id.clone());
                request.new_target_storages.push(storage);
            }
            Err(e) => failed.push(format!("{}: {e}", holders[i].name())),
        }
    }
    if request.new_taragets.is_empty() {
        return Err(HdfsError::io(format!("the following datanodes failed: {}", failed.join("; "))));
    }
    commit(node, &request)
}

/// Whether this is a replica of the block's last pipeline that no byte has come to. What was acknowledged every one of the
/// pipeline's replicas had.
fn is_empty(state: ReplicaState, block: &Block, old_stamp: u64) -> bool {
    block.num_bytes == 0 && block.generation_stamp.0 >= old_stamp && state as u8 <= ReplicaState::Rwr as u8
}

/// The replicas that can be recovered; none when no holder has any. Java deletes the block even where some holders could not
/// be asked and the others know no replica; but the bytes of those may have been promised to somebody. Not so with an empty
/// replica, `has_empty`: a holder that is gone for ever must not keep the file open.
fn usable(found: &[Replica], has_empty: bool, errors: &[String], block_id: u64) -> Result<Vec<Replica>, HdfsError> {
    if found.is_empty() && !has_empty && !errors.is_empty() {
        return Err(HdfsError::io(format!(
            "no replica of block {block_id} found, and some could not be asked: {}",
            errors.join("; ")
        )));
    }
    let usable: Vec<Replica> = found.iter().filter(|r| r.state as u8 <= ReplicaState::Rwr as u8).cloned().collect();
    if usable.is_empty() && !found.is_empty() {
        return Err(HdfsError::io(format!(
            "Found {} replica(s) for block {block_id} but none is in RWR or better state",
            found.len()
        )));
    }
    Ok(usable)
}

fn commit(node: &Node, request: &CommitBlockSynchronizationRequestProto) -> Result<(), HdfsError> {
    node.reports.commit_block_synchronization(request).map_err(|e| e.to_hdfs_error())
}

/// The best state wins. Finalized replicas must agree, and open ones of the same length join them; else the shortest of the
/// best state sets the length, since only what all have is certain.
fn decide(replicas: &[Replica]) -> Result<Decision, HdfsError> {
    let best = replicas.iter().map(|r| r.state as u8).min().unwrap_or(0);
    if best == ReplicaState::Finalized as u8 {
        let mut lengths = replicas.iter().filter(|r| r.state == ReplicaState::Finalized).map(|r| r.length);
        let length = lengths.next().unwrap_or(0);
        if let Some(other) = lengths.find(|l| *l != length) {
            return Err(HdfsError::io(format!("Inconsistent size of finalized replicas: {length} and {other}")));
        }
        let joins =
            |r: &&Replica| r.state == ReplicaState::Finalized || (r.state == ReplicaState::Rbw && r.length == length);
        return Ok(Decision { length, participants: replicas.iter().filter(joins).map(|r| r.holder).collect() });
    }
    let of_best = || replicas.iter().filter(|r| r.state as u8 == best);
    Ok(Decision {
        length: of_best().map(|r| r.length).min().unwrap_or(0),
        participants: of_best().map(|r| r.holder).collect(),
    })
}

/// A DataNode with a replica: this one, or another over its IPC port.
enum Holder<'a> {
    Here(&'a Arc<Node>),
    There(Box<RpcClient>),
}

impl<'a> Holder<'a> {
    fn new(node: &'a Arc<Node>, id: &DatanodeIdProto) -> Self {
        if id.datanode_uuid == node.store.datanode_uuid() {
            return Holder::Here(node);
        }
        let host = if node.config.use_datanode_hostname { &id.host_name } else { &id.ip_addr };
        let options = RpcClientOptions { call_timeout: Some(node.config.socket_timeout), ..Default::default() };
        let user = surus_client::login_name();
        Holder::There(Box::new(RpcClient::new(&format!("{host}:{}", id.ipc_port), user.as_str(), PROTOCOL, options)))
    }

    fn name(&self) -> &str {
        match self {
            Holder::Here(_) => "this DataNode",
            Holder::There(client) => client.addr(),
        }
    }

    fn init(&self, recovering: &RecoveringBlockProto) -> Result<Option<(ReplicaState, Block)>, HdfsError> {
        match self {
            Holder::Here(node) => Ok(init_replica_recovery(node, recovering)?.map(|i| (i.original_state, i.block))),
            Holder::There(client) => {
                let request = InitReplicaRecoveryRequestProto { block: recovering.clone() };
                let answer: InitReplicaRecoveryResponseProto =
                    client.call("initReplicaRecovery", &request).map_err(|e: RpcError| e.to_hdfs_error())?;
                let state = answer.state.and_then(|number| ReplicaState::from_number(number.into()));
                Ok(match (answer.replica_found, state, answer.block) {
                    (true, Some(state), Some(block)) => Some((
                        state,
                        Block {
                            id: BlockId(block.block_id as i64),
                            generation_stamp: GenerationStamp(block.gen_stamp),
                            num_bytes: block.num_bytes(),
                        },
                    )),
                    _ => None,
                })
            }
        }
    }

    fn update(&self, recovering: &RecoveringBlockProto, length: u64) -> Result<String, HdfsError> {
        let new_id = recovering.truncate_block.as_ref().map_or(recovering.block.b.block_id, |b| b.block_id);
        let request = UpdateReplicaUnderRecoveryRequestProto {
            block: recovering.block.b.clone(),
            recovery_id: recovering.new_gen_stamp,
            new_length: length,
            new_block_id: Some(new_id),
        };
        match self {
            Holder::Here(node) => update_replica_under_recovery(node, &request),
            Holder::There(client) => {
                let answer: UpdateReplicaUnderRecoveryResponseProto =
                    client.call("updateReplicaUnderRecovery", &request).map_err(|e: RpcError| e.to_hdfs_error())?;
                Ok(answer.storage_uuid.unwrap_or_default())
            }
        }
    }
}

/// InterDatanodeProtocol.initReplicaRecovery, on this DataNode. May wait for a writer to end.
pub(crate) fn init_replica_recovery(
    node: &Node,
    recovering: &RecoveringBlockProto,
) -> Result<Option<crate::store::RecoveryInfo>, HdfsError> {
    let (pool_id, block) = crate::xfer::block_of(&recovering.block.b);
    node.pool(pool_id)?.init_recovery(&block, GenerationStamp(recovering.new_gen_stamp))
}

/// InterDatanodeProtocol.updateReplicaUnderRecovery, on this DataNode. Returns the storage's id.
pub(crate) fn update_replica_under_recovery(
    node: &Node,
    request: &UpdateReplicaUnderRecoveryRequestProto,
) -> Result<String, HdfsError> {
    let (pool_id, old) = crate::xfer::block_of(&request.block);
    let (block, volume) = node.pool(pool_id)?.update_under_recovery(
        &old,
        GenerationStamp(request.recovery_id),
        BlockId(request.new_block_id() as i64),
        request.new_length,
    )?;
    node.reports.received(pool_id, &block, &volume, "");
    tracing::debug!("{:?} finalized by recovery", extended_block(pool_id, &block));
    Ok(volume.storage_id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica(holder: usize, state: ReplicaState, length: u64) -> Replica {
        Replica { holder, state, stamp: 1, length }
    }

    #[test]
    fn a_block_is_empty_when_all_holders_or_an_empty_replica_say_so() {
        let failed = ["dn2: connection refused".to_owned()];
        assert_eq!(usable(&[], false, &[], 7), Ok(vec![]));
        assert!(usable(&[], false, &failed, 7).unwrap_err().message.contains("dn2: connection refused"));
        assert_eq!(usable(&[], true, &failed, 7), Ok(vec![]));
        let one = replica(0, ReplicaState::Rbw, 7);
        assert_eq!(usable(std::slice::from_ref(&one), true, &failed, 7), Ok(vec![one]));
        assert!(usable(&[replica(0, ReplicaState::Temporary, 7)], true, &[], 7).is_err());
        let block = |stamp, num_bytes| Block { id: BlockId(7), generation_stamp: GenerationStamp(stamp), num_bytes };
        assert!(is_empty(ReplicaState::Rbw, &block(1002, 0), 1002));
        assert!(!is_empty(ReplicaState::Rbw, &block(1002, 1), 1002));
        // Of a pipeline before, or a copy that has not arrived.
        assert!(!is_empty(ReplicaState::Rbw, &block(1001, 0), 1002));
        assert!(!is_empty(ReplicaState::Temporary, &block(1002, 0), 1002));
    }

    #[test]
    fn the_best_state_decides() {
        use ReplicaState::*;
        let decided = |replicas: &[Replica]| decide(replicas).map(|d| (d.length, d.participants));
        assert_eq!(decided(&[replica(0, Rbw, 7), replica(1, Rbw, 5), replica(2, Rwr, 3)]), Ok((5, vec![0, 1])));
        assert_eq!(
            decided(&[replica(0, Finalized, 9), replica(1, Rbw, 9), replica(2, Rbw, 8), replica(3, Rwr, 9)]),
            Ok((9, vec![0, 1]))
        );
        assert_eq!(decided(&[replica(2, Rwr, 3)]), Ok((3, vec![2])));
        assert!(decided(&[replica(0, Finalized, 9), replica(1, Finalized, 8)]).is_err());
    }
}
