//! The settings the namespace obeys. `namenode` fills it from Hadoop's site files; defaults are Hadoop 3.5.0's.

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
    /// `dfs.permissions.enabled`: when off, nothing but superuser-only operations is checked.
    pub permissions_enabled: bool,
    /// `dfs.namenode.fs-limits.max-component-length`, bytes; 0: no limit.
    pub max_component_length: u32,
    /// `dfs.namenode.fs-limits.max-directory-items`.
    pub max_directory_items: u32,
    /// `dfs.namenode.max.objects`, inodes and blocks together; 0: no limit.
    pub max_objects: u64,
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
}

impl Default for NamespaceConfig {
    fn default() -> Self {
        NamespaceConfig {
            fs_owner: Arc::from("hdfs"),
            supergroup: Arc::from("supergroup"),
            permissions_enabled: true,
            max_component_length: 255,
            max_directory_items: 1024 * 1024,
            max_objects: 0,
            list_limit: 1000,
            access_time_precision_ms: 3_600_000,
            protected_directories: Vec::new(),
            protect_subdirectories: false,
            acls_enabled: true,
            posix_acl_inheritance: true,
            xattrs_enabled: true,
            max_xattrs_per_inode: 32,
            max_xattr_size: 16 * 1024,
        }
    }
}
