//! What the operations ask of a file system: a NameNode answers from its namespace, a gateway through a client.
//! One method a question; statuses and blocks are lent, never copied into a tree of values.

use crate::json::{ServerDefaults, StoragePolicy};
use crate::request::RenameOptions;
use surus_types::{
    AclChange, AclEntry, ContentSummary, EcPolicyState, ErasureCodingPolicy, FileStatus, FsAction, FsPermission,
    FsStats, HdfsError, LocatedBlock, LocatedBlocks, StorageType, XAttr,
};

/// Takes a status that is lent.
pub type PutStatus<'p> = &'p mut dyn FnMut(&FileStatus<'_>);

/// The access control list of a path.
#[derive(Clone, Debug)]
pub struct AclStatus {
    pub owner: String,
    pub group: String,
    /// `.snapshot` has none.
    pub permission: Option<FsPermission>,
    pub entries: Vec<AclEntry>,
}

/// One difference between two snapshots.
#[derive(Clone, Debug)]
pub struct DiffEntry {
    pub source: Vec<u8>,
    /// Of a rename.
    pub target: Option<Vec<u8>>,
    /// `CREATE`, `MODIFY`, `DELETE`, `RENAME`.
    pub kind: &'static str,
}

/// The differences between two snapshots.
#[derive(Clone, Debug)]
pub struct DiffReport {
    /// The snapshottable directory.
    pub root: String,
    pub entries: Vec<DiffEntry>,
}

/// One difference in a page of them.
#[derive(Clone, Debug)]
pub struct DiffListingEntry {
    pub path: Vec<u8>,
    pub directory: u64,
    pub inode: u64,
    pub is_reference: bool,
    pub target: Option<Vec<u8>>,
}

/// A page of differences.
#[derive(Clone, Debug)]
pub struct DiffListing {
    pub created: Vec<DiffListingEntry>,
    pub deleted: Vec<DiffListingEntry>,
    pub modified: Vec<DiffListingEntry>,
    pub is_from_earlier: bool,
    /// Where the next page begins: empty and -1 after the last one.
    pub last_path: Vec<u8>,
    pub last_index: i32,
}

/// A part of a difference report: which directory, between what, from where on.
#[derive(Clone, Copy, Debug)]
pub struct DiffPage<'a> {
    pub from: &'a str,
    pub to: &'a str,
    pub start_path: &'a [u8],
    pub index: i32,
}

/// Takes a snapshottable directory: status, parent's path, number of snapshots, their limit.
pub type PutSnapshottable<'p> = &'p mut dyn FnMut(&FileStatus<'_>, &str, u32, u32);
/// Takes a snapshot: status, path of the directory it is of, id, whether it is deleted.
pub type PutSnapshot<'p> = &'p mut dyn FnMut(&FileStatus<'_>, &str, u32, bool);
/// Takes the blocks of a file: block pool id, what is true of the whole file, the blocks.
pub type PutBlocks<'p> = &'p mut dyn FnMut(&str, &LocatedBlocks<'_>, &[LocatedBlock<'_>]);

/// A file system for one caller. Paths are absolute, lengths and offsets bytes, times milliseconds since 1970.
/// Every method fails as the NameNode's call of that name does.
#[allow(clippy::missing_errors_doc)]
pub trait FileSystem {
    type Error: From<HdfsError>;

    /// Lends the status of what is at `path`, of a link itself unless `follow`. False: nothing is.
    fn file_status(&self, path: &str, follow: bool, put: PutStatus<'_>) -> Result<bool, Self::Error>;
    /// Lends a page of a directory behind the name `start_after`; returns how many come after it. `None`: nothing is there.
    fn list(
        &self,
        path: &str,
        start_after: &[u8],
        put: impl FnMut(&FileStatus<'_>),
    ) -> Result<Option<u32>, Self::Error>;
    fn content_summary(&self, path: &str) -> Result<ContentSummary, Self::Error>;
    /// Files and directories may be counted together in either count.
    fn quota_usage(&self, path: &str) -> Result<ContentSummary, Self::Error>;
    fn home_directory(&self) -> String;
    fn trash_root(&self, path: &str) -> Result<String, Self::Error>;
    /// Lends each trash with its path.
    fn trash_roots(&self, all_users: bool, put: &mut dyn FnMut(&FileStatus<'_>, &str)) -> Result<(), Self::Error>;
    fn link_target(&self, path: &str) -> Result<String, Self::Error>;
    fn check_access(&self, path: &str, action: FsAction) -> Result<(), Self::Error>;
    /// `None`: to the end of the file.
    fn block_locations(
        &self,
        path: &str,
        offset: u64,
        length: Option<u64>,
        put: PutBlocks<'_>,
    ) -> Result<(), Self::Error>;
    fn server_defaults(&self) -> Result<ServerDefaults, Self::Error>;
    fn fs_stats(&self) -> Result<FsStats, Self::Error>;

    fn storage_policies(&self, put: &mut dyn FnMut(&[StoragePolicy<'_>])) -> Result<(), Self::Error>;
    fn storage_policy(&self, path: &str, put: &mut dyn FnMut(&StoragePolicy<'_>)) -> Result<(), Self::Error>;
    /// `None`: replication.
    fn ec_policy(&self, path: &str) -> Result<Option<ErasureCodingPolicy>, Self::Error>;
    fn ec_policies(&self) -> Result<Vec<(ErasureCodingPolicy, EcPolicyState)>, Self::Error>;
    /// Codecs and their coders.
    fn ec_codecs(&self) -> Result<Vec<(String, String)>, Self::Error>;

    fn acl_status(&self, path: &str) -> Result<AclStatus, Self::Error>;
    /// Those with these names; all that the caller may see where there are none.
    fn xattrs(&self, path: &str, names: &[XAttr]) -> Result<Vec<XAttr>, Self::Error>;
    /// Names alone.
    fn list_xattrs(&self, path: &str) -> Result<Vec<XAttr>, Self::Error>;

    /// False: there is no snapshottable directory, whosoever.
    fn snapshottable_directories(&self, put: PutSnapshottable<'_>) -> Result<bool, Self::Error>;
    fn snapshots(&self, path: &str, put: PutSnapshot<'_>) -> Result<(), Self::Error>;
    fn snapshot_diff(&self, path: &str, from: &str, to: &str) -> Result<DiffReport, Self::Error>;
    fn snapshot_diff_listing(&self, path: &str, page: DiffPage<'_>) -> Result<DiffListing, Self::Error>;

    /// With all parents. `unmasked`: the mode before the umask, where `permission` is what is left of it.
    fn mkdirs(&self, path: &str, permission: FsPermission, unmasked: Option<FsPermission>)
    -> Result<bool, Self::Error>;
    fn rename(&self, path: &str, destination: &str) -> Result<bool, Self::Error>;
    fn rename2(&self, path: &str, destination: &str, options: RenameOptions) -> Result<(), Self::Error>;
    fn delete(&self, path: &str, recursive: bool) -> Result<bool, Self::Error>;
    /// `None`: the server's `dfs.replication`.
    fn set_replication(&self, path: &str, replication: Option<u16>) -> Result<bool, Self::Error>;
    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Result<(), Self::Error>;
    fn set_permission(&self, path: &str, permission: FsPermission) -> Result<(), Self::Error>;
    /// -1 leaves a time as it is.
    fn set_times(&self, path: &str, modification_time_ms: i64, access_time_ms: i64) -> Result<(), Self::Error>;
    fn truncate(&self, path: &str, new_length: u64) -> Result<bool, Self::Error>;
    fn concat(&self, path: &str, sources: &[String]) -> Result<(), Self::Error>;
    /// `i64::MAX` leaves a quota alone, -1 takes it away. With a type, `space` is the quota of that type alone.
    fn set_quota(
        &self,
        path: &str,
        names: i64,
        space: i64,
        storage_type: Option<StorageType>,
    ) -> Result<(), Self::Error>;
    /// `None`: takes away the policy that is set on this very path.
    fn set_storage_policy(&self, path: &str, policy: Option<&str>) -> Result<(), Self::Error>;
    fn satisfy_storage_policy(&self, path: &str) -> Result<(), Self::Error>;
    /// `None`: takes away the policy that is set on this very path.
    fn set_ec_policy(&self, path: &str, policy: Option<&str>) -> Result<(), Self::Error>;
    fn enable_ec_policy(&self, policy: &str, enable: bool) -> Result<(), Self::Error>;
    fn change_acl(&self, path: &str, change: AclChange<'_>) -> Result<(), Self::Error>;
    /// Bits of `flags`: create 1, replace 2.
    fn set_xattr(&self, path: &str, xattr: &XAttr, flags: u32) -> Result<(), Self::Error>;
    fn remove_xattr(&self, path: &str, xattr: &XAttr) -> Result<(), Self::Error>;
    fn allow_snapshot(&self, path: &str, allow: bool) -> Result<(), Self::Error>;
    /// The path of the new snapshot; an empty name: one is made of the time.
    fn create_snapshot(&self, path: &str, name: &str) -> Result<String, Self::Error>;
    fn rename_snapshot(&self, path: &str, old_name: &str, new_name: &str) -> Result<(), Self::Error>;
    fn delete_snapshot(&self, path: &str, name: &str) -> Result<(), Self::Error>;
}
