//! NamenodeProtocol: what the balancer, a secondary NameNode and benchmarks ask.
//! Source: `NamenodeProtocolServerSideTranslatorPB.java`, Hadoop 3.5.0.

use super::datanode::{put, version_request};
use crate::call::Run::{Read, Write};
use crate::call::{Call, Done, Method, Refused};
use crate::core::Core;
use crate::to_proto;
use surus_proto::hadoop::hdfs::namenode::{
    GetBlockKeysResponseProto, GetEditLogManifestRequestProto, GetEditLogManifestResponseProto,
    GetMostRecentCheckpointTxIdResponseProto, GetTransactionIdResponseProto, IsRollingUpgradeResponseProto,
    IsUpgradeFinalizedResponseProto, RollEditLogResponseProto,
};
use surus_proto::hadoop::hdfs::{CheckpointSignatureProto, RemoteEditLogManifestProto, RemoteEditLogProto};
use surus_types::HdfsError;

pub const NAME: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";

/// Sorted by name.
pub static METHODS: &[Method] = &[
    Method { name: "getBlockKeys", run: Read(get_block_keys) },
    Method { name: "getEditLogManifest", run: Read(get_edit_log_manifest) },
    Method { name: "getMostRecentCheckpointTxId", run: Read(get_most_recent_checkpoint_tx_id) },
    Method { name: "getTransactionId", run: Read(get_transaction_id) },
    Method { name: "isRollingUpgrade", run: Read(is_rolling_upgrade) },
    Method { name: "isUpgradeFinalized", run: Read(is_upgrade_finalized) },
    Method { name: "rollEditLog", run: Write(roll_edit_log) },
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
    let logs = wanted
        .map(|(first, last)| RemoteEditLogProto {
            start_tx_id: first.0,
            end_tx_id: last.0,
            is_in_progress: Some(false),
        })
        .collect();
    put(
        out,
        &GetEditLogManifestResponseProto { manifest: RemoteEditLogManifestProto { logs, committed_txn_id: None } },
    );
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

fn is_upgrade_finalized(_: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("isUpgradeFinalized")?;
    put(out, &IsUpgradeFinalizedResponseProto { is_upgrade_finalized: true });
    Ok(())
}

fn is_rolling_upgrade(_: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("isRollingUpgrade")?;
    put(out, &IsRollingUpgradeResponseProto { is_rolling_upgrade: false });
    Ok(())
}
