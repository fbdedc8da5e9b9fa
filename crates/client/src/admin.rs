//! Calls of administrators: safe mode, checkpoints, reports.

use crate::client::DfsClient;
use crate::error::Result;
use crate::namenode::Repeat::{AtMostOnce, Idempotent};
use surus_proto::hadoop::hdfs as proto;

pub use proto::{DatanodeReportTypeProto as DatanodeReportType, SafeModeActionProto as SafeModeAction};

impl DfsClient {
    /// Whether the NameNode is in safe mode afterwards.
    pub fn set_safe_mode(&self, action: SafeModeAction, checked: bool) -> Result<bool> {
        let request = proto::SetSafeModeRequestProto { action: action as i32, checked: Some(checked) };
        let answer: proto::SetSafeModeResponseProto = self.call("setSafeMode", Idempotent, &request)?;
        Ok(answer.result)
    }

    /// False: the last checkpoint was recent enough.
    pub fn save_namespace(&self, time_window: u64, tx_gap: u64) -> Result<bool> {
        let request = proto::SaveNamespaceRequestProto { time_window: Some(time_window), tx_gap: Some(tx_gap) };
        let answer: proto::SaveNamespaceResponseProto = self.call("saveNamespace", AtMostOnce, &request)?;
        Ok(answer.saved.unwrap_or(true))
    }

    pub fn refresh_nodes(&self) -> Result<()> {
        let _: proto::RefreshNodesResponseProto =
            self.call("refreshNodes", Idempotent, &proto::RefreshNodesRequestProto {})?;
        Ok(())
    }

    pub fn roll_edits(&self) -> Result<u64> {
        let answer: proto::RollEditsResponseProto =
            self.call("rollEdits", Idempotent, &proto::RollEditsRequestProto {})?;
        Ok(answer.new_segment_tx_id)
    }

    pub fn get_datanode_report(&self, kind: DatanodeReportType) -> Result<Vec<proto::DatanodeInfoProto>> {
        let request = proto::GetDatanodeReportRequestProto { r#type: kind as i32 };
        let answer: proto::GetDatanodeReportResponseProto = self.call("getDatanodeReport", Idempotent, &request)?;
        Ok(answer.di)
    }

    pub fn get_replicated_block_stats(&self) -> Result<proto::GetFsReplicatedBlockStatsResponseProto> {
        self.call("getFsReplicatedBlockStats", Idempotent, &proto::GetFsReplicatedBlockStatsRequestProto {})
    }

    pub fn get_ec_block_group_stats(&self) -> Result<proto::GetFsEcBlockGroupStatsResponseProto> {
        self.call("getFsECBlockGroupStats", Idempotent, &proto::GetFsEcBlockGroupStatsRequestProto {})
    }

    pub fn get_slow_datanode_report(&self) -> Result<Vec<proto::DatanodeInfoProto>> {
        let request = proto::GetSlowDatanodeReportRequestProto {};
        let answer: proto::GetSlowDatanodeReportResponseProto =
            self.call("getSlowDatanodeReport", Idempotent, &request)?;
        Ok(answer.datanode_info_proto)
    }

    /// A page of the files that are being written, behind the one with inode `id`.
    pub fn list_open_files(
        &self,
        id: i64,
        kind: proto::OpenFilesTypeProto,
        path: &str,
    ) -> Result<proto::ListOpenFilesResponseProto> {
        let request = proto::ListOpenFilesRequestProto { id, types: vec![kind as i32], path: Some(path.to_owned()) };
        self.call("listOpenFiles", Idempotent, &request)
    }

    /// Has the NameNode write its queues into a file of its log directory.
    pub fn meta_save(&self, file: &str) -> Result<()> {
        let request = proto::MetaSaveRequestProto { filename: file.to_owned() };
        let _: proto::MetaSaveResponseProto = self.call("metaSave", Idempotent, &request)?;
        Ok(())
    }

    /// Bytes a second.
    pub fn set_balancer_bandwidth(&self, bandwidth: i64) -> Result<()> {
        let request = proto::SetBalancerBandwidthRequestProto { bandwidth };
        let _: proto::SetBalancerBandwidthResponseProto = self.call("setBalancerBandwidth", Idempotent, &request)?;
        Ok(())
    }

    /// `arg`: true, false or check. Whether failed name directories are to be restored now.
    pub fn restore_failed_storage(&self, arg: &str) -> Result<bool> {
        let request = proto::RestoreFailedStorageRequestProto { arg: arg.to_owned() };
        let answer: proto::RestoreFailedStorageResponseProto =
            self.call("restoreFailedStorage", Idempotent, &request)?;
        Ok(answer.result)
    }

    pub fn finalize_upgrade(&self) -> Result<()> {
        let _: proto::FinalizeUpgradeResponseProto =
            self.call("finalizeUpgrade", Idempotent, &proto::FinalizeUpgradeRequestProto {})?;
        Ok(())
    }

    /// None: no rolling upgrade is going on.
    pub fn rolling_upgrade(&self, action: RollingUpgradeAction) -> Result<Option<RollingUpgradeInfo>> {
        let request = proto::RollingUpgradeRequestProto { action: action as i32 };
        let answer: proto::RollingUpgradeResponseProto = self.call("rollingUpgrade", Idempotent, &request)?;
        Ok(answer.rolling_upgrade_info.map(|info| RollingUpgradeInfo {
            block_pool_id: info.status.block_pool_id,
            start_time: info.start_time,
            finalize_time: info.finalize_time,
            created_rollback_images: info.created_rollback_images,
        }))
    }

    /// Whether no upgrade is under way.
    pub fn upgrade_status(&self) -> Result<bool> {
        let answer: proto::UpgradeStatusResponseProto =
            self.call("upgradeStatus", Idempotent, &proto::UpgradeStatusRequestProto {})?;
        Ok(answer.upgrade_finalized)
    }
}

/// What `rolling_upgrade` is to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RollingUpgradeAction {
    Query = 1,
    Start = 2,
    Finalize = 3,
}

/// A rolling upgrade. Times are milliseconds since 1970; 0: not yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RollingUpgradeInfo {
    pub block_pool_id: String,
    pub start_time: u64,
    pub finalize_time: u64,
    pub created_rollback_images: bool,
}
