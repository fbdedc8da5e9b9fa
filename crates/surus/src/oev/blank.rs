//! An operation with nothing in it for each op code: what reading XML fills.

use super::fields::no_block;
use std::sync::Arc;
use surus_namespace::EditOp;
use surus_namespace::edit_op::*;
use surus_types::{BlockId, FsPermission, GenerationStamp, InodeId, PermissionStatus, RpcIds, StorageType};

/// An operation with nothing in it, by Hadoop's name.
pub fn blank(name: &str) -> Option<EditOp> {
    let (path, none) = (Box::<str>::default, || RpcIds::NONE);
    let nobody = || PermissionStatus { user: Arc::from(""), group: Arc::from(""), permission: FsPermission(0) };
    let file = || {
        Box::new(AddClose {
            inode_id: InodeId(0),
            path: path(),
            replication: 0,
            mtime: 0,
            atime: 0,
            block_size: 0,
            blocks: Vec::new(),
            permission: nobody(),
            acl: Vec::new(),
            xattrs: Vec::new(),
            client_name: path(),
            client_machine: path(),
            overwrite: false,
            storage_policy_id: 0,
            erasure_coding_policy_id: 0,
            rpc: none(),
        })
    };
    Some(match name {
        "OP_ADD" => EditOp::Add(file()),
        "OP_CLOSE" => EditOp::Close(file()),
        "OP_APPEND" => {
            EditOp::Append { path: path(), client_name: path(), client_machine: path(), new_block: false, rpc: none() }
        }
        "OP_ADD_BLOCK" => EditOp::AddBlock { path: path(), penultimate: None, last: no_block(), rpc: none() },
        "OP_UPDATE_BLOCKS" => EditOp::UpdateBlocks { path: path(), blocks: Vec::new(), rpc: none() },
        "OP_ALLOCATE_BLOCK_ID" => EditOp::AllocateBlockId { block_id: BlockId(0) },
        "OP_SET_GENSTAMP_V1" => EditOp::SetGenstampV1 { generation_stamp: GenerationStamp(0) },
        "OP_SET_GENSTAMP_V2" => EditOp::SetGenstampV2 { generation_stamp: GenerationStamp(0) },
        "OP_MKDIR" => EditOp::Mkdir {
            inode_id: InodeId(0),
            path: path(),
            timestamp: 0,
            permission: nobody(),
            acl: Vec::new(),
            xattrs: Vec::new(),
        },
        "OP_DELETE" => EditOp::Delete { path: path(), timestamp: 0, rpc: none() },
        "OP_RENAME_OLD" => EditOp::RenameOld { src: path(), dst: path(), timestamp: 0, rpc: none() },
        "OP_RENAME" => {
            EditOp::Rename { src: path(), dst: path(), timestamp: 0, options: RenameOptions::default(), rpc: none() }
        }
        "OP_CONCAT_DELETE" => EditOp::ConcatDelete { target: path(), sources: Vec::new(), timestamp: 0, rpc: none() },
        "OP_TRUNCATE" => EditOp::Truncate {
            src: path(),
            client_name: path(),
            client_machine: path(),
            new_length: 0,
            timestamp: 0,
            block: None,
        },
        "OP_SYMLINK" => EditOp::Symlink {
            inode_id: InodeId(0),
            path: path(),
            target: path(),
            mtime: 0,
            atime: 0,
            permission: nobody(),
            rpc: none(),
        },
        "OP_REASSIGN_LEASE" => EditOp::ReassignLease { lease_holder: path(), path: path(), new_holder: path() },
        "OP_START_LOG_SEGMENT" => EditOp::StartLogSegment,
        "OP_END_LOG_SEGMENT" => EditOp::EndLogSegment,
        _ => return blank_attribute(name),
    })
}

/// The second part of `blank`: operations on attributes.
fn blank_attribute(name: &str) -> Option<EditOp> {
    let (path, none) = (Box::<str>::default, || RpcIds::NONE);
    Some(match name {
        "OP_SET_REPLICATION" => EditOp::SetReplication { path: path(), replication: 0 },
        "OP_SET_PERMISSIONS" => EditOp::SetPermissions { src: path(), permission: FsPermission(0) },
        "OP_SET_OWNER" => EditOp::SetOwner { src: path(), user: None, group: None },
        "OP_TIMES" => EditOp::Times { path: path(), mtime: 0, atime: 0 },
        "OP_SET_QUOTA" => EditOp::SetQuota { src: path(), namespace_quota: 0, storage_quota: 0 },
        "OP_SET_QUOTA_BY_STORAGETYPE" => {
            EditOp::SetQuotaByStorageType { src: path(), storage_type: StorageType::default(), quota: 0 }
        }
        "OP_SET_NS_QUOTA" => EditOp::SetNsQuota { src: path(), quota: 0 },
        "OP_CLEAR_NS_QUOTA" => EditOp::ClearNsQuota { src: path() },
        "OP_SET_STORAGE_POLICY" => EditOp::SetStoragePolicy { path: path(), policy_id: 0 },
        "OP_SET_ACL" => EditOp::SetAcl { src: path(), entries: Vec::new() },
        "OP_SET_XATTR" => EditOp::SetXAttr { src: path(), xattrs: Vec::new(), rpc: none() },
        "OP_REMOVE_XATTR" => EditOp::RemoveXAttr { src: path(), xattrs: Vec::new(), rpc: none() },
        "OP_ALLOW_SNAPSHOT" => EditOp::AllowSnapshot { root: path() },
        "OP_DISALLOW_SNAPSHOT" => EditOp::DisallowSnapshot { root: path() },
        "OP_CREATE_SNAPSHOT" => EditOp::CreateSnapshot { root: path(), name: path(), mtime: 0, rpc: none() },
        "OP_DELETE_SNAPSHOT" => EditOp::DeleteSnapshot { root: path(), name: path(), mtime: 0, rpc: none() },
        "OP_RENAME_SNAPSHOT" => {
            EditOp::RenameSnapshot { root: path(), old_name: path(), new_name: path(), mtime: 0, rpc: none() }
        }
        _ => return blank_service(name),
    })
}

/// The last part of `blank`: what belongs to no inode.
fn blank_service(name: &str) -> Option<EditOp> {
    let (path, none) = (Box::<str>::default, || RpcIds::NONE);
    let token = || {
        Box::new(DelegationTokenIdentifier {
            owner: path(),
            renewer: path(),
            real_user: path(),
            issue_date: 0,
            max_date: 0,
            sequence_number: 0,
            master_key_id: 0,
        })
    };
    let policy = || {
        Box::new(ErasureCodingPolicyOp {
            codec: path(),
            data_units: 0,
            parity_units: 0,
            cell_size: 0,
            extra_options: Vec::new(),
        })
    };
    Some(match name {
        "OP_GET_DELEGATION_TOKEN" => EditOp::GetDelegationToken { token: token(), expiry_time: 0 },
        "OP_RENEW_DELEGATION_TOKEN" => EditOp::RenewDelegationToken { token: token(), expiry_time: 0 },
        "OP_CANCEL_DELEGATION_TOKEN" => EditOp::CancelDelegationToken { token: token() },
        "OP_UPDATE_MASTER_KEY" => EditOp::UpdateMasterKey { key_id: 0, expiry_date: 0, key: None },
        "OP_ADD_CACHE_DIRECTIVE" => EditOp::AddCacheDirective { directive: CacheDirective::default(), rpc: none() },
        "OP_MODIFY_CACHE_DIRECTIVE" => {
            EditOp::ModifyCacheDirective { directive: CacheDirective::default(), rpc: none() }
        }
        "OP_REMOVE_CACHE_DIRECTIVE" => EditOp::RemoveCacheDirective { id: 0, rpc: none() },
        "OP_ADD_CACHE_POOL" => EditOp::AddCachePool { pool: CachePool::default(), rpc: none() },
        "OP_MODIFY_CACHE_POOL" => EditOp::ModifyCachePool { pool: CachePool::default(), rpc: none() },
        "OP_REMOVE_CACHE_POOL" => EditOp::RemoveCachePool { pool_name: path(), rpc: none() },
        "OP_ADD_ERASURE_CODING_POLICY" => EditOp::AddErasureCodingPolicy { policy: policy(), rpc: none() },
        "OP_ENABLE_ERASURE_CODING_POLICY" => EditOp::EnableErasureCodingPolicy { name: path(), rpc: none() },
        "OP_DISABLE_ERASURE_CODING_POLICY" => EditOp::DisableErasureCodingPolicy { name: path(), rpc: none() },
        "OP_REMOVE_ERASURE_CODING_POLICY" => EditOp::RemoveErasureCodingPolicy { name: path(), rpc: none() },
        "OP_ROLLING_UPGRADE_START" => EditOp::RollingUpgradeStart { time: 0 },
        "OP_ROLLING_UPGRADE_FINALIZE" => EditOp::RollingUpgradeFinalize { time: 0 },
        _ => return None,
    })
}
