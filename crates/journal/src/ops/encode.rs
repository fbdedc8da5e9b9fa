//! Writes one operation. Cannot fail and allocates nothing but the room in the buffer (ACLs and xattrs apart).

use super::code;
use super::data::*;
use super::parts::*;
use super::{FRAME_BYTES, LENGTH_BASE};
use surus_namespace::edit_op::{AddClose, EditOp, RenameOptions};
use surus_types::{PermissionStatus, TxId};

/// Appends the operation's frame to `out`.
pub fn encode_op(op: &EditOp, txid: TxId, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(0);
    put_i32(out, 0);
    put_u64(out, txid.0);
    let opcode = put_body(op, out);
    let body = out.len() + 4 - start - FRAME_BYTES;
    out[start] = opcode;
    out[start + 1..start + 5].copy_from_slice(&((body + LENGTH_BASE) as u32).to_be_bytes());
    let checksum = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&checksum.to_be_bytes());
}

/// Appends the body, returns the opcode. Long because it is the table of the format: one arm for each operation.
fn put_body(op: &EditOp, out: &mut Vec<u8>) -> u8 {
    match op {
        EditOp::Add(file) => {
            put_file(out, file);
            put_file_tail(out, file);
            code::ADD
        }
        EditOp::Close(file) => {
            put_file(out, file);
            code::CLOSE
        }
        EditOp::Append { path, client_name, client_machine, new_block, rpc } => {
            for text in [path, client_name, client_machine] {
                put_string(out, text);
            }
            put_bool(out, *new_block);
            put_rpc(out, rpc);
            code::APPEND
        }
        EditOp::AddBlock { path, penultimate, last, rpc } => {
            put_string(out, path);
            let count = 1 + usize::from(penultimate.is_some());
            put_compact_blocks(out, count, penultimate.iter().chain([last]));
            put_rpc(out, rpc);
            code::ADD_BLOCK
        }
        EditOp::UpdateBlocks { path, blocks, rpc } => {
            put_string(out, path);
            put_compact_blocks(out, blocks.len(), blocks.iter());
            put_rpc(out, rpc);
            code::UPDATE_BLOCKS
        }
        EditOp::AllocateBlockId { block_id } => {
            put_i64(out, block_id.0);
            code::ALLOCATE_BLOCK_ID
        }
        EditOp::SetGenstampV1 { generation_stamp } => {
            put_u64(out, generation_stamp.0);
            code::SET_GENSTAMP_V1
        }
        EditOp::SetGenstampV2 { generation_stamp } => {
            put_u64(out, generation_stamp.0);
            code::SET_GENSTAMP_V2
        }
        EditOp::Mkdir { inode_id, path, timestamp, permission, acl, xattrs } => {
            put_u64(out, inode_id.0);
            put_string(out, path);
            put_i64(out, *timestamp);
            put_i64(out, *timestamp);
            put_permission(out, permission);
            put_acl(out, acl);
            put_xattrs(out, None, xattrs);
            code::MKDIR
        }
        EditOp::Delete { path, timestamp, rpc } => {
            put_string(out, path);
            put_i64(out, *timestamp);
            put_rpc(out, rpc);
            code::DELETE
        }
        EditOp::RenameOld { src, dst, timestamp, rpc } => {
            put_string(out, src);
            put_string(out, dst);
            put_i64(out, *timestamp);
            put_rpc(out, rpc);
            code::RENAME_OLD
        }
        EditOp::Rename { src, dst, timestamp, options, rpc } => {
            put_string(out, src);
            put_string(out, dst);
            put_i64(out, *timestamp);
            put_rename_options(out, *options);
            put_rpc(out, rpc);
            code::RENAME
        }
        EditOp::ConcatDelete { target, sources, timestamp, rpc } => {
            put_string(out, target);
            put_i32(out, sources.len() as i32);
            for source in sources {
                put_string(out, source);
            }
            put_i64(out, *timestamp);
            put_rpc(out, rpc);
            code::CONCAT_DELETE
        }
        EditOp::Truncate { src, client_name, client_machine, new_length, timestamp, block } => {
            for text in [src, client_name, client_machine] {
                put_string(out, text);
            }
            put_u64(out, *new_length);
            put_i64(out, *timestamp);
            put_compact_blocks(out, usize::from(block.is_some()), block.iter());
            code::TRUNCATE
        }
        EditOp::SetReplication { path, replication } => {
            put_string(out, path);
            put_u16(out, *replication);
            code::SET_REPLICATION
        }
        EditOp::SetPermissions { src, permission } => {
            put_string(out, src);
            put_u16(out, permission.0);
            code::SET_PERMISSIONS
        }
        EditOp::SetOwner { src, user, group } => {
            put_string(out, src);
            put_string(out, user.as_deref().unwrap_or(""));
            put_string(out, group.as_deref().unwrap_or(""));
            code::SET_OWNER
        }
        EditOp::Times { path, mtime, atime } => {
            put_string(out, path);
            put_i64(out, *mtime);
            put_i64(out, *atime);
            code::TIMES
        }
        EditOp::SetQuota { src, namespace_quota, storage_quota } => {
            put_string(out, src);
            put_i64(out, *namespace_quota);
            put_i64(out, *storage_quota);
            code::SET_QUOTA
        }
        EditOp::SetQuotaByStorageType { src, storage_type, quota } => {
            put_string(out, src);
            put_i32(out, storage_type_ordinal(*storage_type));
            put_i64(out, *quota);
            code::SET_QUOTA_BY_STORAGETYPE
        }
        EditOp::SetNsQuota { src, quota } => {
            put_string(out, src);
            put_i64(out, *quota);
            code::SET_NS_QUOTA
        }
        EditOp::ClearNsQuota { src } => {
            put_string(out, src);
            code::CLEAR_NS_QUOTA
        }
        EditOp::SetStoragePolicy { path, policy_id } => {
            put_string(out, path);
            out.push(*policy_id);
            code::SET_STORAGE_POLICY
        }
        EditOp::Symlink { inode_id, path, target, mtime, atime, permission, rpc } => {
            put_u64(out, inode_id.0);
            put_string(out, path);
            put_string(out, target);
            put_i64(out, *mtime);
            put_i64(out, *atime);
            put_permission(out, permission);
            put_rpc(out, rpc);
            code::SYMLINK
        }
        EditOp::ReassignLease { lease_holder, path, new_holder } => {
            for text in [lease_holder, path, new_holder] {
                put_string(out, text);
            }
            code::REASSIGN_LEASE
        }
        EditOp::SetAcl { src, entries } => {
            put_acl_message(out, src, entries);
            code::SET_ACL
        }
        EditOp::SetXAttr { src, xattrs, rpc } => {
            put_xattrs(out, Some(src), xattrs);
            put_rpc(out, rpc);
            code::SET_XATTR
        }
        EditOp::RemoveXAttr { src, xattrs, rpc } => {
            put_xattrs(out, Some(src), xattrs);
            put_rpc(out, rpc);
            code::REMOVE_XATTR
        }
        EditOp::AllowSnapshot { root } => {
            put_string(out, root);
            code::ALLOW_SNAPSHOT
        }
        EditOp::DisallowSnapshot { root } => {
            put_string(out, root);
            code::DISALLOW_SNAPSHOT
        }
        EditOp::CreateSnapshot { root, name, mtime, rpc } => {
            put_string(out, root);
            put_string(out, name);
            put_i64(out, *mtime);
            put_rpc(out, rpc);
            code::CREATE_SNAPSHOT
        }
        EditOp::DeleteSnapshot { root, name, mtime, rpc } => {
            put_string(out, root);
            put_string(out, name);
            put_i64(out, *mtime);
            put_rpc(out, rpc);
            code::DELETE_SNAPSHOT
        }
        EditOp::RenameSnapshot { root, old_name, new_name, mtime, rpc } => {
            for text in [root, old_name, new_name] {
                put_string(out, text);
            }
            put_i64(out, *mtime);
            put_rpc(out, rpc);
            code::RENAME_SNAPSHOT
        }
        EditOp::GetDelegationToken { token, expiry_time } => {
            put_token(out, token);
            put_i64(out, *expiry_time);
            code::GET_DELEGATION_TOKEN
        }
        EditOp::RenewDelegationToken { token, expiry_time } => {
            put_token(out, token);
            put_i64(out, *expiry_time);
            code::RENEW_DELEGATION_TOKEN
        }
        EditOp::CancelDelegationToken { token } => {
            put_token(out, token);
            code::CANCEL_DELEGATION_TOKEN
        }
        EditOp::UpdateMasterKey { key_id, expiry_date, key } => {
            put_vlong(out, i64::from(*key_id));
            put_vlong(out, *expiry_date);
            put_vlong(out, key.as_ref().map_or(-1, |key| key.len() as i64));
            out.extend_from_slice(key.as_deref().unwrap_or_default());
            code::UPDATE_MASTER_KEY
        }
        EditOp::AddCacheDirective { directive, rpc } => {
            put_cache_directive(out, directive);
            put_rpc(out, rpc);
            code::ADD_CACHE_DIRECTIVE
        }
        EditOp::ModifyCacheDirective { directive, rpc } => {
            put_cache_directive(out, directive);
            put_rpc(out, rpc);
            code::MODIFY_CACHE_DIRECTIVE
        }
        EditOp::RemoveCacheDirective { id, rpc } => {
            put_i64(out, *id);
            put_rpc(out, rpc);
            code::REMOVE_CACHE_DIRECTIVE
        }
        EditOp::AddCachePool { pool, rpc } => {
            put_cache_pool(out, pool);
            put_rpc(out, rpc);
            code::ADD_CACHE_POOL
        }
        EditOp::ModifyCachePool { pool, rpc } => {
            put_cache_pool(out, pool);
            put_rpc(out, rpc);
            code::MODIFY_CACHE_POOL
        }
        EditOp::RemoveCachePool { pool_name, rpc } => {
            put_string(out, pool_name);
            put_rpc(out, rpc);
            code::REMOVE_CACHE_POOL
        }
        EditOp::AddErasureCodingPolicy { policy, rpc } => {
            put_ec_policy(out, policy);
            put_rpc(out, rpc);
            code::ADD_ERASURE_CODING_POLICY
        }
        EditOp::EnableErasureCodingPolicy { name, rpc } => {
            put_string(out, name);
            put_rpc(out, rpc);
            code::ENABLE_ERASURE_CODING_POLICY
        }
        EditOp::DisableErasureCodingPolicy { name, rpc } => {
            put_string(out, name);
            put_rpc(out, rpc);
            code::DISABLE_ERASURE_CODING_POLICY
        }
        EditOp::RemoveErasureCodingPolicy { name, rpc } => {
            put_string(out, name);
            put_rpc(out, rpc);
            code::REMOVE_ERASURE_CODING_POLICY
        }
        EditOp::RollingUpgradeStart { time } => {
            put_i64(out, *time);
            code::ROLLING_UPGRADE_START
        }
        EditOp::RollingUpgradeFinalize { time } => {
            put_i64(out, *time);
            code::ROLLING_UPGRADE_FINALIZE
        }
        EditOp::StartLogSegment => code::START_LOG_SEGMENT,
        EditOp::EndLogSegment => code::END_LOG_SEGMENT,
    }
}

/// What OP_ADD and OP_CLOSE share.
fn put_file(out: &mut Vec<u8>, file: &AddClose) {
    put_u64(out, file.inode_id.0);
    put_string(out, &file.path);
    put_u16(out, file.replication);
    put_i64(out, file.mtime);
    put_i64(out, file.atime);
    put_u64(out, file.block_size);
    put_blocks(out, &file.blocks);
    put_permission(out, &file.permission);
}

/// What only OP_ADD holds.
fn put_file_tail(out: &mut Vec<u8>, file: &AddClose) {
    put_acl(out, &file.acl);
    put_xattrs(out, None, &file.xattrs);
    put_string(out, &file.client_name);
    put_string(out, &file.client_machine);
    put_bool(out, file.overwrite);
    out.push(file.storage_policy_id);
    out.push(file.erasure_coding_policy_id);
    put_rpc(out, &file.rpc);
}

fn put_permission(out: &mut Vec<u8>, permission: &PermissionStatus) {
    put_text(out, &permission.user);
    put_text(out, &permission.group);
    put_u16(out, permission.permission.0);
}

/// Bytes of `Options.Rename`: NONE 0, OVERWRITE 1, TO_TRASH 2; never an empty list.
fn put_rename_options(out: &mut Vec<u8>, options: RenameOptions) {
    let bytes: &[u8] = match (options.overwrite, options.to_trash) {
        (false, false) => &[0],
        (true, false) => &[1],
        (false, true) => &[2],
        (true, true) => &[1, 2],
    };
    put_i32(out, bytes.len() as i32);
    out.extend_from_slice(bytes);
}
