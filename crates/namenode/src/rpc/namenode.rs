//! NamenodeProtocol: what the balancer, a secondary NameNode and benchmarks ask.
//! Source: `NamenodeProtocolServerSideTranslatorPB.java`, Hadoop 3.5.0.

use super::datanode::{put, version_request};
use crate::call::Run::{Read, Write};
use crate::call::{Call, Done, Method, Refused};
use crate::core::Core;
use crate::safe_mode::What;
use crate::to_proto;
use surus_namespace::blocks::{BlockHandle, BlocksWanted, StorageHandle};
use surus_proto::hadoop::hdfs::namenode::{
    EndCheckpointRequestProto, EndCheckpointResponseProto, ErrorReportRequestProto, ErrorReportResponseProto,
    GetBlockKeysResponseProto, GetBlocksRequestProto, GetBlocksResponseProto, GetEditLogManifestRequestProto,
    GetEditLogManifestResponseProto, GetMostRecentCheckpointTxIdResponseProto,
    GetMostRecentNameNodeFileTxIdRequestProto, GetMostRecentNameNodeFileTxIdResponseProto,
    GetTransactionIdResponseProto, IsRollingUpgradeResponseProto, IsUpgradeFinalizedResponseProto,
    RegisterRequestProto, RollEditLogResponseProto, StartCheckpointRequestProto,
};
use surus_proto::hadoop::hdfs::{
    BlockProto, BlockWithLocationsProto, BlocksWithLocationsProto, CheckpointSignatureProto, NamenodeRegistrationProto,
    RemoteEditLogManifestProto, RemoteEditLogProto, StorageInfoProto,
};
use surus_types::{ExceptionClass, HdfsError};

pub const NAME: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";

/// Sorted by name.
pub static METHODS: &[Method] = &[
    Method { name: "endCheckpoint", run: Read(end_checkpoint) },
    Method { name: "errorReport", run: Read(error_report) },
    Method { name: "getBlockKeys", run: Read(get_block_keys) },
    Method { name: "getBlocks", run: Read(get_blocks) },
    Method { name: "getEditLogManifest", run: Read(get_edit_log_manifest) },
    Method { name: "getMostRecentCheckpointTxId", run: Read(get_most_recent_checkpoint_tx_id) },
    Method { name: "getMostRecentNameNodeFileTxId", run: Read(get_most_recent_name_node_file_tx_id) },
    Method { name: "getNextSPSPath", run: Read(get_next_sps_path) },
    Method { name: "getTransactionId", run: Read(get_transaction_id) },
    Method { name: "isRollingUpgrade", run: Read(is_rolling_upgrade) },
    Method { name: "isUpgradeFinalized", run: Read(is_upgrade_finalized) },
    Method { name: "registerSubordinateNamenode", run: Read(register_subordinate_namenode) },
    Method { name: "rollEditLog", run: Write(roll_edit_log) },
    Method { name: "startCheckpoint", run: Read(start_checkpoint) },
    Method { name: "versionRequest", run: Read(version_request) },
];

fn get_block_keys(_: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("getBlockKeys")?;
    put(out, &GetBlockKeysResponseProto { keys: Some(to_proto::no_block_keys()) });
    Ok(())
}

fn get_transaction_id(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("getTransactionID")?;
    put(out, &GetTransactionIdResponseProto { tx_id: core.last_txid().0 });
    Ok(())
}

fn get_most_recent_checkpoint_tx_id(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("getMostRecentCheckpointTxId")?;
    put(out, &GetMostRecentCheckpointTxIdResponseProto { tx_id: core.last_checkpoint().txid.0 });
    Ok(())
}

fn get_edit_log_manifest(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetEditLogManifestRequestProto = call.decode()?;
    call.check_superuser("getEditLogManifest")?;
    let segments = core.journal.finalized_segments()?;
    let wanted = segments.into_iter().filter(|(_, last)| last.0 >= request.since_tx_id);
    let logs: Vec<RemoteEditLogProto> = wanted
        .map(|(first, last)| RemoteEditLogProto {
            start_tx_id: first.0,
            end_tx_id: last.0,
            is_in_progress: Some(false),
        })
        .collect();
    // All that the listed segments hold is committed.
    let committed_txn_id = Some(logs.last().map_or(request.since_tx_id.wrapping_sub(1), |log| log.end_tx_id));
    put(out, &GetEditLogManifestResponseProto { manifest: RemoteEditLogManifestProto { logs, committed_txn_id } });
    Ok(())
}

fn roll_edit_log(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    call.check_superuser("rollEditLog")?;
    let txid = core.roll_edits()?;
    let signature = CheckpointSignatureProto {
        block_pool_id: core.id.block_pool_id.clone(),
        most_recent_checkpoint_tx_id: core.last_checkpoint().txid.0,
        cur_segment_tx_id: txid.0,
        storage_info: core.id.to_proto(),
    };
    put(out, &RollEditLogResponseProto { signature });
    Ok(Done { txid, keep: false })
}

fn is_upgrade_finalized(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("isUpgradeFinalized")?;
    put(out, &IsUpgradeFinalizedResponseProto { is_upgrade_finalized: !core.journal.upgrades().has_previous() });
    Ok(())
}

fn is_rolling_upgrade(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("isRollingUpgrade")?;
    put(out, &IsRollingUpgradeResponseProto { is_rolling_upgrade: core.rolling_upgrade().is_some() });
    Ok(())
}

/// Source: `NameNodeRpcServer.getBlocks`, `BlockManager.getBlocksWithLocations`, Hadoop 3.5.0.
fn get_blocks(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetBlocksRequestProto = call.decode()?;
    let illegal = |text: String| HdfsError::new(ExceptionClass::IllegalArgument, text);
    let (size, min_block_size) = (request.size as i64, request.min_block_size() as i64);
    if size <= 0 {
        return Err(illegal(format!("Unexpected not positive size: {size}")));
    }
    if min_block_size < 0 {
        return Err(illegal(format!("Unexpected not positive size: {min_block_size}")));
    }
    call.check_superuser("getBlocks")?;
    let namespace = core.namespace.read();
    core.check_safe_mode(&namespace, What("Cannot execute getBlocks", ""))?;
    let nodes = &namespace.blocks.datanodes;
    let id = &request.datanode;
    let address = format!("{}:{}", id.ip_addr, id.xfer_port);
    let Some(handle) = nodes.find(&id.datanode_uuid) else {
        return Err(HdfsError::new(ExceptionClass::HadoopIllegalArgument, format!("Datanode {address} not found.")));
    };
    let known = &nodes.datanode(handle).id;
    let known = format!("{}:{}", known.ip_addr, known.xfer_port);
    if known != address {
        let uuid = &id.datanode_uuid;
        let text = format!(
            "Data node {address} is attempting to report storage ID {uuid}. Node {known} is expected to serve this storage."
        );
        return Err(HdfsError::new(ExceptionClass::UnregisteredNode, text));
    }
    let wanted = BlocksWanted {
        size: request.size,
        min_block_size: request.min_block_size(),
        storage_type: request.storage_type.map(surus_wire::from_proto::storage_type),
    };
    let with_locations = |(block, storages): (BlockHandle, Vec<StorageHandle>)| {
        let block = namespace.blocks.block(block);
        let reports = || storages.iter().map(|s| nodes.storage(*s));
        BlockWithLocationsProto {
            block: BlockProto {
                block_id: block.id.0 as u64,
                gen_stamp: block.generation_stamp.0,
                num_bytes: Some(block.num_bytes),
            },
            datanode_uuids: reports().map(|s| nodes.datanode(s.datanode).id.uuid.to_string()).collect(),
            storage_uuids: reports().map(|s| s.report.uuid.clone()).collect(),
            storage_types: reports().map(|s| surus_wire::to_proto::storage_type(s.report.storage_type)).collect(),
            ..BlockWithLocationsProto::default()
        }
    };
    let found = namespace.blocks.blocks_of(handle, wanted, rand::random());
    let blocks = BlocksWithLocationsProto { blocks: found.into_iter().map(with_locations).collect() };
    put(out, &GetBlocksResponseProto { blocks });
    Ok(())
}

fn get_most_recent_name_node_file_tx_id(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetMostRecentNameNodeFileTxIdRequestProto = call.decode()?;
    call.check_superuser("getMostRecentNameNodeFileTxId")?;
    let file = request.name_node_file.as_str();
    // Source: `NNStorage.NameNodeFile`, Hadoop 3.5.0.
    const FILES: [&str; 9] = [
        "IMAGE",
        "TIME",
        "SEEN_TXID",
        "EDITS",
        "IMAGE_NEW",
        "IMAGE_ROLLBACK",
        "EDITS_NEW",
        "EDITS_INPROGRESS",
        "EDITS_TMP",
    ];
    if !FILES.contains(&file) && file != "IMAGE_LEGACY_OIV" {
        let text = format!("No enum constant org.apache.hadoop.hdfs.server.namenode.NNStorage.NameNodeFile.{file}");
        return Err(HdfsError::new(ExceptionClass::IllegalArgument, text));
    }
    // Only images have a transaction; of the other kinds there is none.
    let tx_id = if file == "IMAGE" { core.last_checkpoint().txid.0 } else { u64::MAX };
    put(out, &GetMostRecentNameNodeFileTxIdResponseProto { tx_id });
    Ok(())
}

fn get_next_sps_path(_: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("getNextSPSPath")?;
    let text = "SPS service mode is NONE, so external SPS service is not allowed to fetch the path Ids";
    Err(HdfsError::io(text))
}

/// Backup and checkpoint NameNodes keep no copy of this one. Source: `NameNodeRpcServer.verifyRequest`, Hadoop 3.5.0.
fn check_registration(core: &Core, registration: &NamenodeRegistrationProto) -> Result<(), HdfsError> {
    let theirs = &registration.storage_info;
    let same = theirs.namespce_id == core.id.namespace_id && theirs.cluster_id == core.id.cluster_id;
    if same {
        return Ok(());
    }
    let role = match registration.role.unwrap_or(0) {
        1 => "NameNode",
        2 => "Backup Node",
        _ => "Checkpoint Node",
    };
    let text = format!("Unregistered server: NamenodeRegistration({}, role={role})", registration.rpc_address);
    Err(HdfsError::new(ExceptionClass::UnregisteredNode, text))
}

fn error_report(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ErrorReportRequestProto = call.decode()?;
    call.check_superuser("errorReport")?;
    check_registration(core, &request.registration)?;
    tracing::info!("error report from {}: {}", request.registration.rpc_address, request.msg);
    put(out, &ErrorReportResponseProto {});
    Ok(())
}

/// A NameNode whose edits go nowhere else refuses a backup node, as Hadoop's does once it stops streaming to it.
fn register_subordinate_namenode(core: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: RegisterRequestProto = call.decode()?;
    call.check_superuser("registerSubordinateNamenode")?;
    let theirs = request.registration.storage_info.namespce_id as i32;
    let ours = core.id.namespace_id as i32;
    if theirs != ours {
        return Err(HdfsError::io(format!(
            "Incompatible namespaceIDs:  Namenode namespaceID = {ours}; Backup Node node namespaceID = {theirs}"
        )));
    }
    Err(no_backup())
}

fn start_checkpoint(core: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: StartCheckpointRequestProto = call.decode()?;
    call.check_superuser("startCheckpoint")?;
    check_registration(core, &request.registration)?;
    Err(no_backup())
}

/// Hadoop asks who the signature is of, and not who ends. Source: `CheckpointSignature.validateStorageInfo`, Hadoop 3.5.0.
fn end_checkpoint(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: EndCheckpointRequestProto = call.decode()?;
    call.check_superuser("endCheckpoint")?;
    core.check_safe_mode(&core.namespace.read(), What("Checkpoint not ended", ""))?;
    let shown = |info: &StorageInfoProto| (info.layout_version as i32, info.namespce_id as i32, info.c_time as i64);
    let CheckpointSignatureProto { block_pool_id, storage_info: theirs, .. } = &request.signature;
    let (ours, pool) = (core.id.to_proto(), &core.id.block_pool_id);
    if shown(theirs) != shown(&ours) || theirs.cluster_id != ours.cluster_id || block_pool_id != pool {
        let ((version, namespace, time), cluster) = (shown(theirs), &theirs.cluster_id);
        let ((our_version, our_namespace, our_time), our_cluster) = (shown(&ours), &ours.cluster_id);
        return Err(HdfsError::io(format!(
            "Inconsistent checkpoint fields.\nLV = {version} namespaceID = {namespace} cTime = {time} ; clusterId = {cluster} ; \
             blockpoolId = {block_pool_id}.\nExpecting respectively: {our_version}; {our_namespace}; {our_time}; {our_cluster}; \
             {pool}."
        )));
    }
    put(out, &EndCheckpointResponseProto {});
    Ok(())
}

fn no_backup() -> HdfsError {
    HdfsError::new(ExceptionClass::UnsupportedAction, "Backup and checkpoint nodes are not supported by this NameNode")
}
