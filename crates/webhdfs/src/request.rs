//! What a client can ask over HTTP, after parsing.

use surus_types::{AclChange, AclEntry, FsAction, FsPermission, StorageType, XAttr, XAttrCodec};

/// Which daemon parses: the texts of errors, the set of operations and some defaults differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    NameNode,
    DataNode,
    /// The gateway of `surus httpfs`.
    HttpFs,
}

/// HTTP methods with operations. `HEAD` counts as `GET`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Get,
    Put,
    Post,
    Delete,
}

impl Method {
    pub fn from_http(name: &str) -> Option<Method> {
        match name {
            "GET" | "HEAD" => Some(Method::Get),
            "PUT" => Some(Method::Put),
            "POST" => Some(Method::Post),
            "DELETE" => Some(Method::Delete),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Post => "POST",
            Method::Delete => "DELETE",
        }
    }
}

/// A parsed request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Absolute path, decoded, not yet checked to be legal.
    pub path: String,
    /// `user.name`, checked to be a user's name.
    pub user: Option<String>,
    /// `doas`: the user to act as.
    pub do_as: Option<String>,
    /// `namenoderpcaddress`, which a redirect to a DataNode carries.
    pub namenode_address: Option<String>,
    /// Answer with a JSON location instead of a redirect.
    pub no_redirect: bool,
    /// `onehop`, which is Surus's own: answer with the data, or take the body, at once. `None`: as the server is configured.
    pub one_hop: Option<bool>,
    /// `host` or `host:xferPort` of DataNodes the client does not want.
    pub excluded_datanodes: Vec<String>,
    /// `filter`: the glob of names that HttpFS lists.
    pub filter: Option<String>,
    /// `data`: HttpFS reads the body only where it is true.
    pub has_data: bool,
    pub operation: Operation,
}

/// An operation with its parameters. Lengths and offsets in bytes, times in milliseconds since 1970.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    Open {
        offset: u64,
        length: Option<u64>,
    },
    GetFileStatus,
    GetFileLinkStatus,
    ListStatus,
    ListStatusBatch {
        start_after: String,
    },
    GetContentSummary,
    GetQuotaUsage,
    GetFileChecksum,
    GetHomeDirectory,
    GetTrashRoot,
    GetTrashRoots {
        all_users: bool,
    },
    GetLinkTarget,
    AllowSnapshot,
    DisallowSnapshot,
    CreateSnapshot {
        /// Empty: the time of day.
        name: String,
    },
    RenameSnapshot {
        old_name: String,
        new_name: String,
    },
    DeleteSnapshot {
        name: String,
    },
    GetSnapshottableDirectoryList,
    GetSnapshotList,
    /// Names of snapshots; empty: now.
    GetSnapshotDiff {
        from: String,
        to: String,
    },
    GetSnapshotDiffListing {
        from: String,
        to: String,
        start_path: String,
        index: i32,
    },
    GetAllStoragePolicy,
    GetStoragePolicy,
    GetEcPolicy,
    GetDelegationToken,
    GetServerDefaults,
    GetStatus,
    CheckAccess {
        action: FsAction,
    },
    /// `GETFILEBLOCKLOCATIONS`.
    GetFileBlockLocations {
        offset: u64,
        length: Option<u64>,
    },
    /// `GET_BLOCK_LOCATIONS`, which old clients use.
    GetBlockLocations {
        offset: u64,
        length: Option<u64>,
    },
    Create(Create),
    Mkdirs {
        permission: Option<FsPermission>,
        unmasked: Option<FsPermission>,
    },
    Rename {
        destination: String,
        /// `None`: the old rename, which answers true or false.
        options: Option<RenameOptions>,
    },
    SetReplication {
        /// `None`: the server's `dfs.replication`.
        replication: Option<u16>,
    },
    SetOwner {
        owner: Option<String>,
        group: Option<String>,
    },
    SetPermission {
        permission: FsPermission,
    },
    SetTimes {
        /// -1: leave as it is.
        modification_time_ms: i64,
        /// -1: leave as it is.
        access_time_ms: i64,
    },
    /// `i64::MAX`: leave alone, -1: none.
    SetQuota {
        namespace_quota: i64,
        space_quota: i64,
    },
    GetEcPolicies,
    GetEcCodecs,
    SetEcPolicy {
        policy: String,
    },
    UnsetEcPolicy,
    EnableEcPolicy {
        policy: String,
    },
    DisableEcPolicy {
        policy: String,
    },
    SetStoragePolicy {
        policy: String,
    },
    UnsetStoragePolicy,
    SatisfyStoragePolicy,
    SetQuotaByStorageType {
        storage_type: StorageType,
        space_quota: i64,
    },
    Append {
        buffer_size: Option<u32>,
    },
    Truncate {
        new_length: u64,
    },
    Concat {
        sources: Vec<String>,
    },
    Delete {
        recursive: bool,
    },
    GetAclStatus,
    ModifyAclEntries {
        entries: Vec<AclEntry>,
    },
    RemoveAclEntries {
        entries: Vec<AclEntry>,
    },
    RemoveDefaultAcl,
    RemoveAcl,
    SetAcl {
        entries: Vec<AclEntry>,
    },
    /// Without values; empty: all.
    GetXAttrs {
        names: Vec<XAttr>,
        codec: XAttrCodec,
    },
    ListXAttrs,
    SetXAttr {
        xattr: XAttr,
        /// Bits of `XAttrSetFlagProto`: CREATE 1, REPLACE 2.
        flags: u32,
    },
    RemoveXAttr {
        xattr: XAttr,
    },
    /// An operation that Hadoop has and Surus has not; the name as Hadoop writes it.
    Unsupported(&'static str),
}

/// Parameters of `CREATE`. `None`: the server's default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Create {
    pub permission: Option<FsPermission>,
    pub unmasked: Option<FsPermission>,
    pub overwrite: bool,
    pub buffer_size: Option<u32>,
    pub replication: Option<u16>,
    pub block_size: Option<u64>,
    pub create_parent: bool,
    /// Empty unless `createflag` is given.
    pub flags: CreateFlags,
}

/// A set of `CreateFlag`, as the bits that `ClientProtocol.create` takes.
/// Source: `CreateFlag.java`, Hadoop 3.5.0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CreateFlags(pub u32);

impl CreateFlags {
    pub const NAMES: [(&'static str, u32); 10] = [
        ("CREATE", 0x01),
        ("OVERWRITE", 0x02),
        ("APPEND", 0x04),
        ("SYNC_BLOCK", 0x08),
        ("LAZY_PERSIST", 0x10),
        ("NEW_BLOCK", 0x20),
        ("NO_LOCAL_WRITE", 0x40),
        ("SHOULD_REPLICATE", 0x80),
        ("IGNORE_CLIENT_LOCALITY", 0x100),
        ("NO_LOCAL_RACK", 0x200),
    ];

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
    pub fn contains(self, bits: u32) -> bool {
        self.0 & bits == bits
    }
}

/// Options of the newer rename.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RenameOptions {
    pub overwrite: bool,
    pub to_trash: bool,
}

impl Operation {
    /// For operations that change an access control list: how.
    pub fn acl_change(&self) -> Option<AclChange<'_>> {
        Some(match self {
            Operation::ModifyAclEntries { entries } => AclChange::Modify(entries),
            Operation::RemoveAclEntries { entries } => AclChange::RemoveEntries(entries),
            Operation::RemoveDefaultAcl => AclChange::RemoveDefault,
            Operation::RemoveAcl => AclChange::Remove,
            Operation::SetAcl { entries } => AclChange::Set(entries),
            _ => return None,
        })
    }
}
