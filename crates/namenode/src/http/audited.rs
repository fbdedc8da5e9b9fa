//! What the audit log calls WebHDFS's operations, and whether the line shows owner and mode.

use surus_namespace::ops::set_quota::{DONT_SET, command};
use surus_webhdfs::Operation;

/// `None`: no line is written here. `is_read_here`: the file's bytes are answered without a redirect; what is sent to a DataNode
/// comes back by RPC.
pub fn audited(operation: &Operation, is_read_here: bool) -> Option<(&'static str, bool)> {
    Some(match operation {
        Operation::Open { .. } if is_read_here => ("open", false),
        Operation::GetFileStatus | Operation::GetFileLinkStatus => ("getfileinfo", false),
        Operation::ListStatus | Operation::ListStatusBatch { .. } => ("listStatus", false),
        Operation::GetContentSummary => ("contentSummary", false),
        Operation::GetQuotaUsage => ("quotaUsage", false),
        Operation::CheckAccess { .. } => ("checkAccess", false),
        Operation::Mkdirs { .. } => ("mkdirs", true),
        Operation::Rename { .. } => ("rename", true),
        Operation::Delete { .. } => ("delete", false),
        Operation::SetReplication { .. } => ("setReplication", false),
        Operation::SetOwner { .. } => ("setOwner", true),
        Operation::SetPermission { .. } => ("setPermission", true),
        Operation::SetTimes { .. } => ("setTimes", true),
        Operation::Truncate { .. } => ("truncate", true),
        Operation::SetStoragePolicy { .. } => ("setStoragePolicy", true),
        Operation::UnsetStoragePolicy => ("unsetStoragePolicy", true),
        Operation::SetQuota { namespace_quota, space_quota } => (command(*namespace_quota, *space_quota), false),
        Operation::SetQuotaByStorageType { space_quota, .. } => (command(DONT_SET, *space_quota), false),
        other => return of_attributes(other).or_else(|| of_snapshots(other)),
    })
}

fn of_attributes(operation: &Operation) -> Option<(&'static str, bool)> {
    if let Some(change) = operation.acl_change() {
        return Some((change.operation(), true));
    }
    Some(match operation {
        Operation::GetAclStatus => ("getAclStatus", false),
        Operation::GetXAttrs { .. } => ("getXAttrs", false),
        Operation::ListXAttrs => ("listXAttrs", false),
        Operation::SetXAttr { .. } => ("setXAttr", true),
        Operation::RemoveXAttr { .. } => ("removeXAttr", true),
        _ => return None,
    })
}

fn of_snapshots(operation: &Operation) -> Option<(&'static str, bool)> {
    Some(match operation {
        Operation::AllowSnapshot => ("allowSnapshot", false),
        Operation::DisallowSnapshot => ("disallowSnapshot", false),
        Operation::CreateSnapshot { .. } => ("createSnapshot", false),
        Operation::RenameSnapshot { .. } => ("renameSnapshot", false),
        Operation::DeleteSnapshot { .. } => ("deleteSnapshot", false),
        Operation::GetSnapshottableDirectoryList => ("listSnapshottableDirectory", false),
        Operation::GetSnapshotList => ("ListSnapshot", false),
        Operation::GetSnapshotDiff { .. } | Operation::GetSnapshotDiffListing { .. } => ("computeSnapshotDiff", false),
        _ => return None,
    })
}
