//! Block reports, full and incremental, corrupt replicas, and the end of block recoveries.

use super::{block_list, commands, put, verify};
use crate::call::{Call, Done, Refused};
use crate::core::Core;
use surus_namespace::blocks::{
    BadBlock, BlockManager, Observation, ReceivedDeleted, ReplicaState, ReportProgress, ReportedBlock,
};
use surus_namespace::ops::commit_block_synchronization::CommitBlockSynchronization;
use surus_proto::hadoop::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use surus_proto::hadoop::hdfs::datanode::{
    BlockReceivedAndDeletedRequestProto, BlockReceivedAndDeletedResponseProto, BlockReportRequestProto,
    BlockReportResponseProto, CommitBlockSynchronizationRequestProto, CommitBlockSynchronizationResponseProto,
    ReceivedDeletedBlockInfoProto, ReportBadBlocksRequestProto, ReportBadBlocksResponseProto,
};
use surus_proto::hadoop::hdfs::{DatanodeStorageProto, LocatedBlockProto};
use surus_types::{GenerationStamp, HdfsError, StorageType};
use surus_wire::from_proto;

/// Replicas of a report taken in while the namespace is locked once: under a millisecond where all is as expected, and under
/// 5 ms where each is news of the costly kinds.
pub(super) const SLICE_REPLICAS: usize = 1_000;

pub(super) fn block_report(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: BlockReportRequestProto = call.decode()?;
    verify(core, &request.registration)?;
    check_pool(core, &request.block_pool_id)?;
    let uuid = &request.registration.datanode_id.datanode_uuid;
    // Until an upgrade is finalized DataNodes keep what they had before it.
    let is_finalized = !core.journal.upgrades().has_previous() && core.rolling_upgrade().is_none();
    let mut cmd = is_finalized.then(|| commands::finalize(core));
    for report in &request.reports {
        let replicas: Vec<ReportedBlock> = block_list::decode(report)?
            .into_iter()
            .filter_map(|(block, state)| {
                Some(ReportedBlock { block, state: ReplicaState::from_number(i64::from(state))? })
            })
            .collect();
        if !take_in(core, uuid, &report.storage, &replicas) {
            cmd = Some(commands::register());
            break;
        }
        let (count, storage) = (replicas.len(), &report.storage.storage_uuid);
        tracing::info!("full block report of storage {storage} of DataNode {uuid}: {count} blocks");
    }
    // A full report is often what start-up safe mode waits for.
    core.tick_safe_mode();
    put(out, &BlockReportResponseProto { cmd });
    Ok(())
}

/// Takes in a full report, with the namespace unlocked after each slice. False: the DataNode is to register first.
fn take_in(core: &Core, uuid: &str, storage: &DatanodeStorageProto, replicas: &[ReportedBlock]) -> bool {
    let generation_stamp = core.namespace.read().blocks.ids.generation_stamp;
    let in_future = BlockManager::in_future_of(generation_stamp, replicas);
    let mut progress = ReportProgress::new(SLICE_REPLICAS, in_future);
    let mut blocks = replicas.iter().copied();
    while !progress.is_done() {
        let observed = core.observe(Observation::FullBlockReport {
            uuid,
            storage_uuid: &storage.storage_uuid,
            storage_type: storage_type(Some(storage)),
            blocks: &mut blocks,
            progress: &mut progress,
        });
        if observed.unregistered {
            return false;
        }
    }
    true
}

pub(super) fn block_received_and_deleted(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: BlockReceivedAndDeletedRequestProto = call.decode()?;
    verify(core, &request.registration)?;
    check_pool(core, &request.block_pool_id)?;
    let uuid = &request.registration.datanode_id.datanode_uuid;
    for storage in &request.blocks {
        // One with nothing in it makes its storage known too.
        let mut slices = storage.blocks.chunks(SLICE_REPLICAS);
        let mut next = Some(slices.next().unwrap_or_default());
        while let Some(slice) = next {
            let observed = core.observe(Observation::IncrementalBlockReport {
                uuid,
                storage_uuid: storage.storage.as_ref().map_or(&storage.storage_uuid, |s| &s.storage_uuid),
                storage_type: storage_type(storage.storage.as_ref()),
                entries: &mut slice.iter().map(received_or_deleted),
            });
            if observed.unregistered {
                // Source: `BlockManager.processIncrementalBlockReport`, Hadoop 3.5.0. The DataNode tries again, and learns
                // with its next heartbeat that it must register.
                return Err(HdfsError::io("Got incremental block report from unregistered or dead node"));
            }
            next = slices.next();
        }
    }
    put(out, &BlockReceivedAndDeletedResponseProto {});
    Ok(())
}

fn received_or_deleted(info: &ReceivedDeletedBlockInfoProto) -> ReceivedDeleted<'_> {
    let block = from_proto::block(&info.block);
    match info.status() {
        BlockStatus::Receiving => ReceivedDeleted::Receiving(block),
        BlockStatus::Received => ReceivedDeleted::Received(block, info.delete_hint()),
        BlockStatus::Deleted => ReceivedDeleted::Deleted(block),
    }
}

/// Also ClientProtocol's, whose message looks the same.
pub(crate) fn bad_blocks(core: &Core, blocks: &[LocatedBlockProto]) {
    for located in blocks {
        let block = from_proto::extended_block_inner(&located.b);
        let bad: Vec<_> = located
            .locs
            .iter()
            .enumerate()
            .map(|(i, datanode)| BadBlock {
                block,
                datanode_uuid: &datanode.id.datanode_uuid,
                storage_uuid: located.storage_i_ds.get(i).map_or("", String::as_str),
            })
            .collect();
        core.observe(Observation::BadBlocks(&bad));
    }
}

pub(super) fn report_bad_blocks(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ReportBadBlocksRequestProto = call.decode()?;
    bad_blocks(core, &request.blocks);
    put(out, &ReportBadBlocksResponseProto {});
    Ok(())
}

pub(super) fn commit_block_synchronization(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: CommitBlockSynchronizationRequestProto = call.decode()?;
    let datanodes: Vec<&str> = request.new_taragets.iter().map(|d| d.datanode_uuid.as_str()).collect();
    let storages: Vec<&str> = request.new_target_storages.iter().map(String::as_str).collect();
    let operation = CommitBlockSynchronization {
        block: from_proto::extended_block_inner(&request.block),
        new_generation_stamp: GenerationStamp(request.new_gen_stamp),
        new_length: request.new_length,
        close_file: request.close_file,
        delete_block: request.delete_block,
        datanodes: &datanodes,
        storages: &storages,
    };
    core.write_if(call, None, &operation, |_, ()| put(out, &CommitBlockSynchronizationResponseProto {}))
}

/// Old DataNodes do not say; types this version does not know count as DISK.
fn storage_type(storage: Option<&DatanodeStorageProto>) -> StorageType {
    from_proto::storage_type(storage.and_then(|s| s.storage_type).unwrap_or(1))
}

fn check_pool(core: &Core, pool_id: &str) -> Result<(), HdfsError> {
    let ours = &core.id.block_pool_id;
    match pool_id == ours {
        true => Ok(()),
        false => Err(HdfsError::io(format!("The block pool {pool_id} is not this NameNode's, {ours}"))),
    }
}
