//! Calls about snapshots that lists and administrators make.

use crate::client::DfsClient;
use crate::error::Result;
use crate::namenode::Repeat::Idempotent;
use surus_proto::hadoop::hdfs as proto;

pub use proto::{
    SnapshotDiffReportProto as SnapshotDiffReport, SnapshotStatusProto as SnapshotStatus,
    SnapshottableDirectoryStatusProto as SnapshottableDirectoryStatus,
};

impl DfsClient {
    pub fn allow_snapshot(&self, root: &str) -> Result<()> {
        let request = proto::AllowSnapshotRequestProto { snapshot_root: root.into() };
        let _: proto::AllowSnapshotResponseProto = self.call("allowSnapshot", Idempotent, &request)?;
        Ok(())
    }

    pub fn disallow_snapshot(&self, root: &str) -> Result<()> {
        let request = proto::DisallowSnapshotRequestProto { snapshot_root: root.into() };
        let _: proto::DisallowSnapshotResponseProto = self.call("disallowSnapshot", Idempotent, &request)?;
        Ok(())
    }

    /// Directories that the caller may take snapshots of; a superuser sees all.
    pub fn get_snapshottable_directories(&self) -> Result<Vec<SnapshottableDirectoryStatus>> {
        let request = proto::GetSnapshottableDirListingRequestProto {};
        let answer: proto::GetSnapshottableDirListingResponseProto =
            self.call("getSnapshottableDirListing", Idempotent, &request)?;
        Ok(answer.snapshottable_dir_list.unwrap_or_default().snapshottable_dir_listing)
    }

    pub fn get_snapshots(&self, root: &str) -> Result<Vec<SnapshotStatus>> {
        let request = proto::GetSnapshotListingRequestProto { snapshot_root: root.into() };
        let answer: proto::GetSnapshotListingResponseProto = self.call("getSnapshotListing", Idempotent, &request)?;
        Ok(answer.snapshot_list.unwrap_or_default().snapshot_listing)
    }

    /// What changed between two snapshots; an empty name: now.
    pub fn get_snapshot_diff(&self, root: &str, from: &str, to: &str) -> Result<SnapshotDiffReport> {
        let request = proto::GetSnapshotDiffReportRequestProto {
            snapshot_root: root.into(),
            from_snapshot: from.into(),
            to_snapshot: to.into(),
        };
        let answer: proto::GetSnapshotDiffReportResponseProto =
            self.call("getSnapshotDiffReport", Idempotent, &request)?;
        Ok(answer.diff_report)
    }
}
