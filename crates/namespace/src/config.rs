//! The settings the namespace obeys. `namenode` fills it from Hadoop's site files; defaults are Hadoop 3.5.0's.

use crate::room::TableLimits;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Limits and switches of metadata operations. Those of block management are in `blocks::BlockConfig`.
#[derive(Clone, Debug)]
pub struct NamespaceConfig {
    /// The user that runs the NameNode: owner of a fresh root.
    pub fs_owner: Arc<str>,
    /// `dfs.permissions.superusergroup`: group of a fresh root.
    pub supergroup: Arc<str>,
    /// `dfs.user.home.dir.prefix`: directory of home directories.
    pub home_prefix: Arc<str>,
    /// `dfs.permissions.enabled`: when off, nothing but superuser-only operations is checked.
    pub permissions_enabled: bool,
    /// `dfs.namenode.fs-limits.max-component-length`, bytes; 0: no limit.
    pub max_component_length: u32,
    /// `dfs.namenode.fs-limits.max-directory-items`.
    pub max_directory_items: u32,
    /// `dfs.namenode.max.objects`, inodes and blocks together; 0: no limit.
    pub max_objects: u64,
    pub table_limits: TableLimits,
    /// `dfs.ls.limit`: entries of a listing page.
    pub list_limit: u32,
    /// `dfs.namenode.accesstime.precision`, milliseconds; 0: access times stand still.
    pub access_time_precision_ms: i64,
    /// `fs.protected.directories`: never deleted or renamed while they hold anything. Normalised paths.
    pub protected_directories: Vec<String>,
    /// `dfs.protected.subdirectories.enable`: what lies below them is protected too.
    pub protect_subdirectories: bool,
    /// `dfs.namenode.acls.enabled`: when off, ACL calls fail; the ACLs there are still obeyed.
    pub acls_enabled: bool,
    /// `dfs.namenode.posix.acl.inheritance.enabled`: a default ACL limits the mode before the client's umask.
    pub posix_acl_inheritance: bool,
    /// `dfs.namenode.xattrs.enabled`.
    pub xattrs_enabled: bool,
    /// `dfs.namenode.fs-limits.max-xattrs-per-inode`: of the namespaces user and trusted.
    pub max_xattrs_per_inode: u32,
    /// `dfs.namenode.fs-limits.max-xattr-size`: bytes of name and value.
    pub max_xattr_size: u32,
    pub snapshots: SnapshotConfig,
    /// `dfs.quota.by.storage.type.enabled`.
    pub quota_by_storage_type: bool,
    /// `dfs.permissions.allow.owner.set.quota`: the owner of a directory above may set quotas below it.
    pub owner_sets_quota: bool,
    /// `dfs.namenode.ec.system.default.policy`: enabled by being named here; empty: none.
    pub ec_default_policy: String,
    /// `dfs.namenode.ec.policies.max.cellsize`, bytes.
    pub ec_max_cell_size: u32,
    /// `dfs.namenode.ec.userdefined.policy.allowed`.
    pub ec_user_policies: bool,
    /// `dfs.storage.policy.enabled`.
    pub storage_policies: bool,
    /// `dfs.storage.policy.permissions.superuser-only`.
    pub storage_policies_superuser_only: bool,
}

/// What snapshots obey.
#[derive(Clone, Debug)]
pub struct SnapshotConfig {
    /// `dfs.namenode.snapshot.max.limit`: snapshots of one directory.
    pub directory_limit: u32,
    /// `dfs.namenode.snapshot.filesystem.limit`: snapshots of all directories.
    pub filesystem_limit: u32,
    /// `dfs.namenode.snapshot.capture.openfiles`: a snapshot shows open files with the length they had when it was taken.
    pub captures_open_files: bool,
    /// `dfs.namenode.snapshot.skip.capture.accesstime-only-change`: an access time alone is no change.
    pub skips_access_times: bool,
    /// `dfs.namenode.snapshotdiff.allow.snap-root-descendant`: differences of a directory below the snapshots' own.
    pub diffs_of_descendants: bool,
    /// `dfs.namenode.snapshotdiff.listing.limit`: entries of a page of differences.
    pub diff_listing_limit: u32,
    /// `dfs.namenode.snapshot.deletion.ordered`: only the oldest snapshot is deleted at once, others are marked.
    pub ordered_deletion: bool,
    /// `dfs.namenode.snapshot.trashroot.enabled`: each snapshottable directory has a trash of its own.
    pub trash_roots: bool,
    /// Whether snapshottable directories may lie in one another. No setting: Hadoop has it for its tests.
    pub allow_nested: bool,
}

impl Default for SnapshotConfig {
    fn default() -> Self {
        SnapshotConfig {
            directory_limit: 1 << 16,
            filesystem_limit: 1 << 16,
            captures_open_files: false,
            skips_access_times: false,
            diffs_of_descendants: true,
            diff_listing_limit: 1000,
            ordered_deletion: false,
            trash_roots: false,
            allow_nested: false,
        }
    }
}

impl Default for NamespaceConfig {
    fn default() -> Self {
        NamespaceConfig {
            fs_owner: Arc::from("hdfs"),
            supergroup: Arc::from("supergroup"),
            home_prefix: Arc::from("/user"),
            permissions_enabled: true,
            max_component_length: 255,
            max_directory_items: 1024 * 1024,
            max_objects: 0,
            table_limits: TableLimits::default(),
            list_limit: 1000,
            access_time_precision_ms: 3_600_000,
            protected_directories: Vec::new(),
            protect_subdirectories: false,
            acls_enabled: true,
            posix_acl_inheritance: true,
            xattrs_enabled: true,
            max_xattrs_per_inode: 32,
            max_xattr_size: 16 * 1024,
            snapshots: SnapshotConfig::default(),
            quota_by_storage_type: true,
            owner_sets_quota: false,
            ec_default_policy: "RS-6-3-1024k".into(),
            ec_max_cell_size: 4 << 20,
            ec_user_policies: true,
            storage_policies: true,
            storage_policies_superuser_only: false,
        }
    }
}
