//! What the NameNode tells of files, in values that a caller can keep.

use surus_proto::hadoop::hdfs as proto;
use surus_types::FsPermission;

/// One file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// Absolute path, without scheme and authority.
    pub path: String,
    pub is_dir: bool,
    /// Target of a symlink.
    pub symlink: Option<String>,
    /// Length in bytes; 0 for directories.
    pub length: u64,
    pub permission: FsPermission,
    pub owner: String,
    pub group: String,
    pub modification_time_ms: u64,
    pub access_time_ms: u64,
    /// 0 for directories.
    pub replication: u16,
    /// Bytes; 0 for directories.
    pub block_size: u64,
    pub file_id: u64,
    /// Number of children, where the server said.
    pub children: Option<u32>,
    /// Bits: ACL 1, encrypted 2, erasure-coded 4, snapshots enabled 8.
    pub flags: u32,
    pub storage_policy: u8,
    pub ec_policy: Option<String>,
}

impl FileStatus {
    pub const HAS_ACL: u32 = 1;
    pub const HAS_CRYPT: u32 = 2;
    pub const HAS_EC: u32 = 4;

    /// The last component; empty for the root.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or("")
    }

    pub fn has_acl(&self) -> bool {
        self.flags & Self::HAS_ACL != 0
    }

    /// `message` is about `parent` itself where its name is empty, else about that child of it.
    pub(crate) fn from_proto(message: proto::HdfsFileStatusProto, parent: &str) -> Self {
        let name = String::from_utf8_lossy(&message.path);
        let is_dir = message.file_type == proto::hdfs_file_status_proto::FileType::IsDir as i32;
        FileStatus {
            path: child(parent, &name),
            is_dir,
            symlink: message.symlink.filter(|s| !s.is_empty()).map(|s| String::from_utf8_lossy(&s).into_owned()),
            length: message.length,
            permission: FsPermission::from_wire(message.permission.perm),
            owner: message.owner,
            group: message.group,
            modification_time_ms: message.modification_time,
            access_time_ms: message.access_time,
            replication: u16::try_from(message.block_replication.unwrap_or(0)).unwrap_or(u16::MAX),
            block_size: message.blocksize.unwrap_or(0),
            file_id: message.file_id.unwrap_or(0),
            children: message.children_num.and_then(|n| u32::try_from(n).ok()),
            flags: message.flags.unwrap_or(0),
            storage_policy: message.storage_policy.unwrap_or(0) as u8,
            ec_policy: message.ec_policy.map(|policy| ec_policy_name(&policy)),
        }
    }
}

/// A built-in policy may come as its id alone.
pub(crate) fn ec_policy_name(policy: &proto::ErasureCodingPolicyProto) -> String {
    let known = || surus_types::ErasureCodingPolicy::all_built_in().into_iter().find(|p| u32::from(p.id) == policy.id);
    policy.name.clone().or_else(|| known().map(|p| p.name)).unwrap_or_default()
}

/// `parent/name`; `parent` where the name is empty.
pub(crate) fn child(parent: &str, name: &str) -> String {
    match (parent, name) {
        (parent, "") => parent.to_string(),
        ("/", name) => format!("/{name}"),
        (parent, name) => format!("{parent}/{name}"),
    }
}

/// One page of a directory.
#[derive(Clone, Debug)]
pub struct Listing {
    pub entries: Vec<FileStatus>,
    /// How many come after these.
    pub remaining: u32,
}

/// The totals below a path. Sizes in bytes; a quota of -1 is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentSummary {
    pub length: u64,
    pub file_count: u64,
    pub directory_count: u64,
    pub quota: i64,
    pub space_consumed: u64,
    pub space_quota: i64,
    pub snapshot_length: u64,
    pub snapshot_file_count: u64,
    pub snapshot_directory_count: u64,
    pub snapshot_space_consumed: u64,
    pub ec_policy: String,
    pub types: Vec<TypeQuota>,
}

/// Quota and use of one storage type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeQuota {
    pub storage_type: surus_types::StorageType,
    pub quota: i64,
    pub consumed: u64,
}

/// What `getQuotaUsage` tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaUsage {
    pub file_and_directory_count: u64,
    pub quota: i64,
    pub space_consumed: u64,
    pub space_quota: i64,
    pub types: Vec<TypeQuota>,
}

fn types_of(infos: Option<proto::StorageTypeQuotaInfosProto>) -> Vec<TypeQuota> {
    let infos = infos.map(|infos| infos.type_quota_info).unwrap_or_default();
    let known = |info: proto::StorageTypeQuotaInfoProto| {
        let storage_type = surus_types::StorageType::from_proto(info.r#type.unwrap_or(1))?;
        Some(TypeQuota { storage_type, quota: info.quota.cast_signed(), consumed: info.consumed })
    };
    infos.into_iter().filter_map(known).collect()
}

impl From<proto::ContentSummaryProto> for ContentSummary {
    fn from(message: proto::ContentSummaryProto) -> Self {
        ContentSummary {
            length: message.length,
            file_count: message.file_count,
            directory_count: message.directory_count,
            quota: message.quota.cast_signed(),
            space_consumed: message.space_consumed,
            space_quota: message.space_quota.cast_signed(),
            snapshot_length: message.snapshot_length.unwrap_or(0),
            snapshot_file_count: message.snapshot_file_count.unwrap_or(0),
            snapshot_directory_count: message.snapshot_directory_count.unwrap_or(0),
            snapshot_space_consumed: message.snapshot_space_consumed.unwrap_or(0),
            ec_policy: message.erasure_coding_policy.unwrap_or_default(),
            types: types_of(message.type_quota_infos),
        }
    }
}

impl From<proto::QuotaUsageProto> for QuotaUsage {
    fn from(message: proto::QuotaUsageProto) -> Self {
        QuotaUsage {
            file_and_directory_count: message.file_and_directory_count,
            quota: message.quota.cast_signed(),
            space_consumed: message.space_consumed,
            space_quota: message.space_quota.cast_signed(),
            types: types_of(message.type_quota_infos),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_of_the_root_has_one_slash() {
        assert_eq!(child("/", "a"), "/a");
        assert_eq!(child("/a", "b"), "/a/b");
        assert_eq!(child("/a", ""), "/a");
    }
}
