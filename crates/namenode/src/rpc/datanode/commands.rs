//! Commands for DataNodes as wire messages.

use crate::core::Core;
use surus_namespace::Namespace;
use surus_namespace::blocks::{DatanodeCommand, RecoveringBlock, Transfer};
use surus_proto::hadoop::hdfs::datanode::datanode_command_proto::Type;
use surus_proto::hadoop::hdfs::datanode::{
    BalancerBandwidthCommandProto, BlockCommandProto, BlockRecoveryCommandProto, DatanodeCommandProto,
    FinalizeCommandProto, RegisterCommandProto, block_command_proto::Action,
};
use surus_proto::hadoop::hdfs::{DatanodeInfosProto, RecoveringBlockProto, StorageTypesProto, StorageUuidsProto};
use surus_types::{Block, LocatedBlock};
use surus_wire::to_proto;

fn command(kind: Type) -> DatanodeCommandProto {
    DatanodeCommandProto { cmd_type: kind as i32, ..Default::default() }
}

/// "No upgrade is pending": the answer to every full block report of 3.5.0.
pub fn finalize(core: &Core) -> DatanodeCommandProto {
    let finalize_cmd = Some(FinalizeCommandProto { block_pool_id: core.id.block_pool_id.clone() });
    DatanodeCommandProto { finalize_cmd, ..command(Type::FinalizeCommand) }
}

pub fn register() -> DatanodeCommandProto {
    DatanodeCommandProto { register_cmd: Some(RegisterCommandProto {}), ..command(Type::RegisterCommand) }
}

pub fn to_proto(core: &Core, namespace: &Namespace, what: &DatanodeCommand) -> DatanodeCommandProto {
    match what {
        DatanodeCommand::Register => register(),
        DatanodeCommand::Recover(blocks) => {
            let blocks = blocks.iter().map(|b| recovering_block(core, namespace, b)).collect();
            let recovery_cmd = Some(BlockRecoveryCommandProto { blocks });
            DatanodeCommandProto { recovery_cmd, ..command(Type::BlockRecoveryCommand) }
        }
        DatanodeCommand::Transfer(transfers) => {
            let blk_cmd = Some(transfer(core, namespace, transfers));
            DatanodeCommandProto { blk_cmd, ..command(Type::BlockCommand) }
        }
        DatanodeCommand::Invalidate(blocks) => {
            let blk_cmd = Some(block_command(core, Action::Invalidate, blocks.iter().copied()));
            DatanodeCommandProto { blk_cmd, ..command(Type::BlockCommand) }
        }
        DatanodeCommand::BalancerBandwidth(bandwidth) => {
            let balancer_cmd = Some(BalancerBandwidthCommandProto { bandwidth: *bandwidth });
            DatanodeCommandProto { balancer_cmd, ..command(Type::BalancerBandwidthCommand) }
        }
    }
}

fn block_command(core: &Core, action: Action, blocks: impl Iterator<Item = Block>) -> BlockCommandProto {
    BlockCommandProto {
        action: action as i32,
        block_pool_id: core.id.block_pool_id.clone(),
        blocks: blocks.map(|b| to_proto::block(&b)).collect(),
        ..Default::default()
    }
}

fn transfer(core: &Core, namespace: &Namespace, transfers: &[Transfer]) -> BlockCommandProto {
    let mut command = block_command(core, Action::Transfer, transfers.iter().map(|t| t.block));
    let datanodes = &namespace.blocks.datanodes;
    for transfer in transfers {
        let replicas: Vec<_> = transfer.targets.iter().map(|s| datanodes.replica(*s)).collect();
        let infos = replicas.iter().map(|r| to_proto::replica_datanode(r)).collect();
        command.targets.push(DatanodeInfosProto { datanodes: infos });
        let storage_uuids = replicas.iter().map(|r| r.storage_uuid.to_owned()).collect();
        command.target_storage_uuids.push(StorageUuidsProto { storage_uuids });
        let storage_types = replicas.iter().map(|r| r.storage_type as i32).collect();
        command.target_storage_types.push(StorageTypesProto { storage_types });
    }
    command
}

fn recovering_block(core: &Core, namespace: &Namespace, recovering: &RecoveringBlock) -> RecoveringBlockProto {
    let datanodes = &namespace.blocks.datanodes;
    let replicas: Vec<_> = recovering.replicas.iter().map(|s| datanodes.replica(*s)).collect();
    // The offset means nothing here: -1.
    let block = LocatedBlock { block: recovering.block, offset: u64::MAX, corrupt: false, replicas: &replicas };
    RecoveringBlockProto {
        new_gen_stamp: recovering.new_generation_stamp.0,
        block: to_proto::located_block(&core.id.block_pool_id, &block),
        truncate_block: recovering.truncate_to.as_ref().map(to_proto::block),
        ec_policy: None,
        block_indices: None,
    }
}
