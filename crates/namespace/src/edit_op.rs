//! The edit-log operations: the only commands that change what the fsimage holds. `plan` makes them, `apply` executes
//! them, `journal` writes them. One variant for each op code of Hadoop 3.5.0; fields carry what the log carries.
//! Source: `FSEditLogOp.java`, `FSEditLogOpCodes.java`, Hadoop 3.5.0; golden bytes from a real NameNode are in `journal`'s tests.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
pub use surus_types::{AclEntry, AclEntryKind, XAttr};
use surus_types::{Block, BlockId, FsPermission, GenerationStamp, InodeId, PermissionStatus, RpcIds, StorageType};

/// One operation of the edit log, without its transaction id. Times are milliseconds since 1970, sizes bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum EditOp {
    /// A file is created, or (without a lease holder change) reopened by old versions.
    Add(Box<AddClose>),
    /// A file is closed: its final block list.
    Close(Box<AddClose>),
    /// A closed file is reopened for appending.
    Append {
        path: Box<str>,
        client_name: Box<str>,
        client_machine: Box<str>,
        new_block: bool,
        rpc: RpcIds,
    },
    /// The last block's final length, and one more block with length 0.
    AddBlock {
        path: Box<str>,
        penultimate: Option<Block>,
        last: Block,
        rpc: RpcIds,
    },
    /// The block list of an open file is replaced (fsync with a length, abandonBlock, updatePipeline).
    UpdateBlocks {
        path: Box<str>,
        blocks: Vec<Block>,
        rpc: RpcIds,
    },
    AllocateBlockId {
        block_id: BlockId,
    },
    SetGenstampV1 {
        generation_stamp: GenerationStamp,
    },
    SetGenstampV2 {
        generation_stamp: GenerationStamp,
    },
    Mkdir {
        inode_id: InodeId,
        path: Box<str>,
        timestamp: i64,
        permission: PermissionStatus,
        acl: Vec<AclEntry>,
        xattrs: Vec<XAttr>,
    },
    Delete {
        path: Box<str>,
        timestamp: i64,
        rpc: RpcIds,
    },
    /// `rename`: a target that is a directory has been resolved to the full target path already.
    RenameOld {
        src: Box<str>,
        dst: Box<str>,
        timestamp: i64,
        rpc: RpcIds,
    },
    /// `rename2`.
    Rename {
        src: Box<str>,
        dst: Box<str>,
        timestamp: i64,
        options: RenameOptions,
        rpc: RpcIds,
    },
    ConcatDelete {
        target: Box<str>,
        sources: Vec<Box<str>>,
        timestamp: i64,
        rpc: RpcIds,
    },
    Truncate {
        src: Box<str>,
        client_name: Box<str>,
        client_machine: Box<str>,
        new_length: u64,
        timestamp: i64,
        block: Option<Block>,
    },
    SetReplication {
        path: Box<str>,
        replication: u16,
    },
    SetPermissions {
        src: Box<str>,
        permission: FsPermission,
    },
    /// Absent: unchanged.
    SetOwner {
        src: Box<str>,
        user: Option<Arc<str>>,
        group: Option<Arc<str>>,
    },
    /// -1: unchanged.
    Times {
        path: Box<str>,
        mtime: i64,
        atime: i64,
    },
    SetQuota {
        src: Box<str>,
        namespace_quota: i64,
        storage_quota: i64,
    },
    SetQuotaByStorageType {
        src: Box<str>,
        storage_type: StorageType,
        quota: i64,
    },
    /// Written by versions before 0.18; only read.
    SetNsQuota {
        src: Box<str>,
        quota: i64,
    },
    /// Written by versions before 0.18; only read.
    ClearNsQuota {
        src: Box<str>,
    },
    SetStoragePolicy {
        path: Box<str>,
        policy_id: u8,
    },
    Symlink {
        inode_id: InodeId,
        path: Box<str>,
        target: Box<str>,
        mtime: i64,
        atime: i64,
        permission: PermissionStatus,
        rpc: RpcIds,
    },
    ReassignLease {
        lease_holder: Box<str>,
        path: Box<str>,
        new_holder: Box<str>,
    },
    SetAcl {
        src: Box<str>,
        entries: Vec<AclEntry>,
    },
    SetXAttr {
        src: Box<str>,
        xattrs: Vec<XAttr>,
        rpc: RpcIds,
    },
    RemoveXAttr {
        src: Box<str>,
        xattrs: Vec<XAttr>,
        rpc: RpcIds,
    },
    AllowSnapshot {
        root: Box<str>,
    },
    DisallowSnapshot {
        root: Box<str>,
    },
    CreateSnapshot {
        root: Box<str>,
        name: Box<str>,
        mtime: i64,
        rpc: RpcIds,
    },
    DeleteSnapshot {
        root: Box<str>,
        name: Box<str>,
        mtime: i64,
        rpc: RpcIds,
    },
    RenameSnapshot {
        root: Box<str>,
        old_name: Box<str>,
        new_name: Box<str>,
        mtime: i64,
        rpc: RpcIds,
    },
    GetDelegationToken {
        token: Box<DelegationTokenIdentifier>,
        expiry_time: i64,
    },
    RenewDelegationToken {
        token: Box<DelegationTokenIdentifier>,
        expiry_time: i64,
    },
    CancelDelegationToken {
        token: Box<DelegationTokenIdentifier>,
    },
    UpdateMasterKey {
        key_id: i32,
        expiry_date: i64,
        key: Option<Vec<u8>>,
    },
    AddCacheDirective {
        directive: CacheDirective,
        rpc: RpcIds,
    },
    ModifyCacheDirective {
        directive: CacheDirective,
        rpc: RpcIds,
    },
    RemoveCacheDirective {
        id: i64,
        rpc: RpcIds,
    },
    AddCachePool {
        pool: CachePool,
        rpc: RpcIds,
    },
    ModifyCachePool {
        pool: CachePool,
        rpc: RpcIds,
    },
    RemoveCachePool {
        pool_name: Box<str>,
        rpc: RpcIds,
    },
    AddErasureCodingPolicy {
        policy: Box<ErasureCodingPolicyOp>,
        rpc: RpcIds,
    },
    EnableErasureCodingPolicy {
        name: Box<str>,
        rpc: RpcIds,
    },
    DisableErasureCodingPolicy {
        name: Box<str>,
        rpc: RpcIds,
    },
    RemoveErasureCodingPolicy {
        name: Box<str>,
        rpc: RpcIds,
    },
    RollingUpgradeStart {
        time: i64,
    },
    RollingUpgradeFinalize {
        time: i64,
    },
    StartLogSegment,
    EndLogSegment,
}

/// The body that OP_ADD and OP_CLOSE share. OP_CLOSE writes no client names, policies or RPC ids of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct AddClose {
    pub inode_id: InodeId,
    pub path: Box<str>,
    pub replication: u16,
    pub mtime: i64,
    pub atime: i64,
    pub block_size: u64,
    pub blocks: Vec<Block>,
    pub permission: PermissionStatus,
    pub acl: Vec<AclEntry>,
    pub xattrs: Vec<XAttr>,
    pub client_name: Box<str>,
    pub client_machine: Box<str>,
    pub overwrite: bool,
    /// 0: unspecified.
    pub storage_policy_id: u8,
    /// 0: replicated.
    pub erasure_coding_policy_id: u8,
    pub rpc: RpcIds,
}

/// Bits of `Options.Rename` in OP_RENAME: one byte each, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RenameOptions {
    pub overwrite: bool,
    pub to_trash: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct DelegationTokenIdentifier {
    pub owner: Box<str>,
    pub renewer: Box<str>,
    pub real_user: Box<str>,
    pub issue_date: i64,
    pub max_date: i64,
    pub sequence_number: i32,
    pub master_key_id: i32,
}

/// Absent fields are unchanged (modify) or default (add).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CacheDirective {
    pub id: i64,
    pub path: Option<Box<str>>,
    pub replication: Option<u16>,
    pub pool: Option<Box<str>>,
    pub expiration: Option<i64>,
}

/// Absent fields are unchanged (modify) or default (add).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CachePool {
    pub name: Box<str>,
    pub owner: Option<Box<str>>,
    pub group: Option<Box<str>>,
    pub mode: Option<FsPermission>,
    pub limit: Option<i64>,
    pub max_relative_expiry: Option<i64>,
    pub default_replication: Option<u16>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ErasureCodingPolicyOp {
    pub codec: Box<str>,
    pub data_units: u32,
    pub parity_units: u32,
    pub cell_size: u32,
    pub extra_options: Vec<(String, String)>,
}

impl EditOp {
    /// Hadoop's name of the op code. Source: `FSEditLogOpCodes.java`, Hadoop 3.5.0.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add(_) => "OP_ADD",
            Self::Close(_) => "OP_CLOSE",
            Self::Append { .. } => "OP_APPEND",
            Self::AddBlock { .. } => "OP_ADD_BLOCK",
            Self::UpdateBlocks { .. } => "OP_UPDATE_BLOCKS",
            Self::AllocateBlockId { .. } => "OP_ALLOCATE_BLOCK_ID",
            Self::SetGenstampV1 { .. } => "OP_SET_GENSTAMP_V1",
            Self::SetGenstampV2 { .. } => "OP_SET_GENSTAMP_V2",
            Self::Mkdir { .. } => "OP_MKDIR",
            Self::Delete { .. } => "OP_DELETE",
            Self::RenameOld { .. } => "OP_RENAME_OLD",
            Self::Rename { .. } => "OP_RENAME",
            Self::ConcatDelete { .. } => "OP_CONCAT_DELETE",
            Self::Truncate { .. } => "OP_TRUNCATE",
            Self::SetReplication { .. } => "OP_SET_REPLICATION",
            Self::SetPermissions { .. } => "OP_SET_PERMISSIONS",
            Self::SetOwner { .. } => "OP_SET_OWNER",
            Self::Times { .. } => "OP_TIMES",
            Self::SetQuota { .. } => "OP_SET_QUOTA",
            Self::SetQuotaByStorageType { .. } => "OP_SET_QUOTA_BY_STORAGETYPE",
            Self::SetNsQuota { .. } => "OP_SET_NS_QUOTA",
            Self::ClearNsQuota { .. } => "OP_CLEAR_NS_QUOTA",
            Self::SetStoragePolicy { .. } => "OP_SET_STORAGE_POLICY",
            Self::Symlink { .. } => "OP_SYMLINK",
            Self::ReassignLease { .. } => "OP_REASSIGN_LEASE",
            Self::SetAcl { .. } => "OP_SET_ACL",
            Self::SetXAttr { .. } => "OP_SET_XATTR",
            Self::RemoveXAttr { .. } => "OP_REMOVE_XATTR",
            Self::AllowSnapshot { .. } => "OP_ALLOW_SNAPSHOT",
            Self::DisallowSnapshot { .. } => "OP_DISALLOW_SNAPSHOT",
            Self::CreateSnapshot { .. } => "OP_CREATE_SNAPSHOT",
            Self::DeleteSnapshot { .. } => "OP_DELETE_SNAPSHOT",
            Self::RenameSnapshot { .. } => "OP_RENAME_SNAPSHOT",
            Self::GetDelegationToken { .. } => "OP_GET_DELEGATION_TOKEN",
            Self::RenewDelegationToken { .. } => "OP_RENEW_DELEGATION_TOKEN",
            Self::CancelDelegationToken { .. } => "OP_CANCEL_DELEGATION_TOKEN",
            Self::UpdateMasterKey { .. } => "OP_UPDATE_MASTER_KEY",
            Self::AddCacheDirective { .. } => "OP_ADD_CACHE_DIRECTIVE",
            Self::ModifyCacheDirective { .. } => "OP_MODIFY_CACHE_DIRECTIVE",
            Self::RemoveCacheDirective { .. } => "OP_REMOVE_CACHE_DIRECTIVE",
            Self::AddCachePool { .. } => "OP_ADD_CACHE_POOL",
            Self::ModifyCachePool { .. } => "OP_MODIFY_CACHE_POOL",
            Self::RemoveCachePool { .. } => "OP_REMOVE_CACHE_POOL",
            Self::AddErasureCodingPolicy { .. } => "OP_ADD_ERASURE_CODING_POLICY",
            Self::EnableErasureCodingPolicy { .. } => "OP_ENABLE_ERASURE_CODING_POLICY",
            Self::DisableErasureCodingPolicy { .. } => "OP_DISABLE_ERASURE_CODING_POLICY",
            Self::RemoveErasureCodingPolicy { .. } => "OP_REMOVE_ERASURE_CODING_POLICY",
            Self::RollingUpgradeStart { .. } => "OP_ROLLING_UPGRADE_START",
            Self::RollingUpgradeFinalize { .. } => "OP_ROLLING_UPGRADE_FINALIZE",
            Self::StartLogSegment => "OP_START_LOG_SEGMENT",
            Self::EndLogSegment => "OP_END_LOG_SEGMENT",
        }
    }

    /// The ids that make the operation at-most-once, for those that carry them.
    pub fn rpc_ids(&self) -> Option<&RpcIds> {
        match self {
            Self::Add(op) => Some(&op.rpc),
            Self::Append { rpc, .. }
            | Self::AddBlock { rpc, .. }
            | Self::UpdateBlocks { rpc, .. }
            | Self::Delete { rpc, .. }
            | Self::RenameOld { rpc, .. }
            | Self::Rename { rpc, .. }
            | Self::ConcatDelete { rpc, .. }
            | Self::Symlink { rpc, .. }
            | Self::SetXAttr { rpc, .. }
            | Self::RemoveXAttr { rpc, .. }
            | Self::CreateSnapshot { rpc, .. }
            | Self::DeleteSnapshot { rpc, .. }
            | Self::RenameSnapshot { rpc, .. }
            | Self::AddCacheDirective { rpc, .. }
            | Self::ModifyCacheDirective { rpc, .. }
            | Self::RemoveCacheDirective { rpc, .. }
            | Self::AddCachePool { rpc, .. }
            | Self::ModifyCachePool { rpc, .. }
            | Self::RemoveCachePool { rpc, .. }
            | Self::AddErasureCodingPolicy { rpc, .. }
            | Self::EnableErasureCodingPolicy { rpc, .. }
            | Self::DisableErasureCodingPolicy { rpc, .. }
            | Self::RemoveErasureCodingPolicy { rpc, .. } => Some(rpc),
            _ => None,
        }
    }
}
