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
}
