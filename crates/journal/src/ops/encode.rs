//! Writes one operation. Cannot fail and allocates nothing but the room in the buffer (ACLs and xattrs apart).

use super::code;
use super::data::*;
use super::decode::{ERASURE_CODING, SNAPSHOT_MODIFICATION_TIME};
use super::parts::*;
use super::{FRAME_BYTES, LENGTH_BASE};
use crate::version::LAYOUT_VERSION;
use surus_namespace::edit_op::{AddClose, EditOp, RenameOptions};
use surus_types::{PermissionStatus, TxId};

/// One line of the format's table: the opcode, and the fields in order with the encoding of each.
macro_rules! fields {
    ($out:ident, $code:ident $(, $put:ident($($value:expr),+))*) => {{
        $($put($out, $($value),+);)*
        code::$code
    }};
}

/// Appends the operation's frame to `out`.
pub fn encode_op(op: &EditOp, txid: TxId, out: &mut Vec<u8>) {
    encode_op_for(LAYOUT_VERSION, op, txid, out);
}

/// As `encode_op`, in the form of an older layout (-62 or later): `oev` writes what it read.
pub fn encode_op_for(layout: i32, op: &EditOp, txid: TxId, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(0);
    put_i32(out, 0);
    put_u64(out, txid.0);
    let opcode = match op {
        EditOp::Add(file) if layout > ERASURE_CODING => {
            put_file(out, file);
            put_file_tail(out, file, false);
            code::ADD
        }
        EditOp::CreateSnapshot { root, name, rpc, .. } if layout > SNAPSHOT_MODIFICATION_TIME => {
            fields!(out, CREATE_SNAPSHOT, put_string(root), put_string(name), put_rpc(rpc))
        }
        EditOp::DeleteSnapshot { root, name, rpc, .. } if layout > SNAPSHOT_MODIFICATION_TIME => {
            fields!(out, DELETE_SNAPSHOT, put_string(root), put_string(name), put_rpc(rpc))
        }
        EditOp::RenameSnapshot { root, old_name, new_name, rpc, .. } if layout > SNAPSHOT_MODIFICATION_TIME => {
            fields!(out, RENAME_SNAPSHOT, put_string(root), put_string(old_name), put_string(new_name), put_rpc(rpc))
        }
        _ => put_body(op, out),
    };
    let body = out.len() + 4 - start - FRAME_BYTES;
    out[start] = opcode;
    out[start + 1..start + 5].copy_from_slice(&((body + LENGTH_BASE) as u32).to_be_bytes());
    let checksum = crc32fast::hash(&out[start..]);
    out.extend_from_slice(&checksum.to_be_bytes());
}

/// Appends the body, returns the opcode: files, blocks and names. `decode` has the same three tables.
#[rustfmt::skip]
fn put_body(op: &EditOp, out: &mut Vec<u8>) -> u8 {
    match op {
        EditOp::Add(file) => fields!(out, ADD, put_file(file), put_file_tail(file, true)),
        EditOp::Close(file) => fields!(out, CLOSE, put_file(file)),
        EditOp::Append { path, client_name, client_machine, new_block, rpc } => fields!(out, APPEND,
            put_string(path), put_string(client_name), put_string(client_machine), put_bool(*new_block), put_rpc(rpc)),
        EditOp::AddBlock { path, penultimate, last, rpc } => fields!(out, ADD_BLOCK, put_string(path),
            put_compact_blocks(1 + usize::from(penultimate.is_some()), penultimate.iter().chain([last])), put_rpc(rpc)),
        EditOp::UpdateBlocks { path, blocks, rpc } => fields!(out, UPDATE_BLOCKS,
            put_string(path), put_compact_blocks(blocks.len(), blocks.iter()), put_rpc(rpc)),
        EditOp::AllocateBlockId { block_id } => fields!(out, ALLOCATE_BLOCK_ID, put_i64(block_id.0)),
        EditOp::SetGenstampV1 { generation_stamp } => fields!(out, SET_GENSTAMP_V1, put_u64(generation_stamp.0)),
        EditOp::SetGenstampV2 { generation_stamp } => fields!(out, SET_GENSTAMP_V2, put_u64(generation_stamp.0)),
        EditOp::Mkdir { inode_id, path, timestamp, permission, acl, xattrs } => fields!(out, MKDIR,
            put_u64(inode_id.0), put_string(path), put_i64(*timestamp), put_i64(*timestamp), put_permission(permission),
            put_acl(acl), put_xattrs(None, xattrs)),
        EditOp::Delete { path, timestamp, rpc } => fields!(out, DELETE,
            put_string(path), put_i64(*timestamp), put_rpc(rpc)),
        EditOp::RenameOld { src, dst, timestamp, rpc } => fields!(out, RENAME_OLD,
            put_string(src), put_string(dst), put_i64(*timestamp), put_rpc(rpc)),
        EditOp::Rename { src, dst, timestamp, options, rpc } => fields!(out, RENAME,
            put_string(src), put_string(dst), put_i64(*timestamp), put_rename_options(*options), put_rpc(rpc)),
        EditOp::ConcatDelete { target, sources, timestamp, rpc } => fields!(out, CONCAT_DELETE,
            put_string(target), put_strings(sources), put_i64(*timestamp), put_rpc(rpc)),
        EditOp::Truncate { src, client_name, client_machine, new_length, timestamp, block } => fields!(out, TRUNCATE,
            put_string(src), put_string(client_name), put_string(client_machine), put_u64(*new_length),
            put_i64(*timestamp), put_compact_blocks(usize::from(block.is_some()), block.iter())),
        EditOp::Symlink { inode_id, path, target, mtime, atime, permission, rpc } => fields!(out, SYMLINK,
            put_u64(inode_id.0), put_string(path), put_string(target), put_i64(*mtime), put_i64(*atime),
            put_permission(permission), put_rpc(rpc)),
        EditOp::ReassignLease { lease_holder, path, new_holder } => fields!(out, REASSIGN_LEASE,
            put_string(lease_holder), put_string(path), put_string(new_holder)),
        EditOp::StartLogSegment => code::START_LOG_SEGMENT,
        EditOp::EndLogSegment => code::END_LOG_SEGMENT,
        _ => put_attributes(op, out),
    }
}

/// The table's second part: attributes of inodes, snapshots.
#[rustfmt::skip]
fn put_attributes(op: &EditOp, out: &mut Vec<u8>) -> u8 {
    match op {
        EditOp::SetReplication { path, replication } => fields!(out, SET_REPLICATION,
            put_string(path), put_u16(*replication)),
        EditOp::SetPermissions { src, permission } => fields!(out, SET_PERMISSIONS,
            put_string(src), put_u16(permission.0)),
        EditOp::SetOwner { src, user, group } => fields!(out, SET_OWNER, put_string(src),
            put_string(user.as_deref().unwrap_or("")), put_string(group.as_deref().unwrap_or(""))),
        EditOp::Times { path, mtime, atime } => fields!(out, TIMES, put_string(path), put_i64(*mtime), put_i64(*atime)),
        EditOp::SetQuota { src, namespace_quota, storage_quota } => fields!(out, SET_QUOTA,
            put_string(src), put_i64(*namespace_quota), put_i64(*storage_quota)),
        EditOp::SetQuotaByStorageType { src, storage_type, quota } => fields!(out, SET_QUOTA_BY_STORAGETYPE,
            put_string(src), put_i32(storage_type_ordinal(*storage_type)), put_i64(*quota)),
        EditOp::SetNsQuota { src, quota } => fields!(out, SET_NS_QUOTA, put_string(src), put_i64(*quota)),
        EditOp::ClearNsQuota { src } => fields!(out, CLEAR_NS_QUOTA, put_string(src)),
        EditOp::SetStoragePolicy { path, policy_id } => fields!(out, SET_STORAGE_POLICY,
            put_string(path), put_u8(*policy_id)),
        EditOp::SetAcl { src, entries } => fields!(out, SET_ACL, put_acl_message(src, entries)),
        EditOp::SetXAttr { src, xattrs, rpc } => fields!(out, SET_XATTR, put_xattrs(Some(src), xattrs), put_rpc(rpc)),
        EditOp::RemoveXAttr { src, xattrs, rpc } => fields!(out, REMOVE_XATTR,
            put_xattrs(Some(src), xattrs), put_rpc(rpc)),
        EditOp::AllowSnapshot { root } => fields!(out, ALLOW_SNAPSHOT, put_string(root)),
        EditOp::DisallowSnapshot { root } => fields!(out, DISALLOW_SNAPSHOT, put_string(root)),
        EditOp::CreateSnapshot { root, name, mtime, rpc } => fields!(out, CREATE_SNAPSHOT,
            put_string(root), put_string(name), put_i64(*mtime), put_rpc(rpc)),
        EditOp::DeleteSnapshot { root, name, mtime, rpc } => fields!(out, DELETE_SNAPSHOT,
            put_string(root), put_string(name), put_i64(*mtime), put_rpc(rpc)),
        EditOp::RenameSnapshot { root, old_name, new_name, mtime, rpc } => fields!(out, RENAME_SNAPSHOT,
            put_string(root), put_string(old_name), put_string(new_name), put_i64(*mtime), put_rpc(rpc)),
        EditOp::RollingUpgradeStart { time } => fields!(out, ROLLING_UPGRADE_START, put_i64(*time)),
        EditOp::RollingUpgradeFinalize { time } => fields!(out, ROLLING_UPGRADE_FINALIZE, put_i64(*time)),
        _ => put_services(op, out),
    }
}

/// The table's last part: what belongs to no inode.
#[rustfmt::skip]
fn put_services(op: &EditOp, out: &mut Vec<u8>) -> u8 {
    match op {
        EditOp::GetDelegationToken { token, expiry_time } => fields!(out, GET_DELEGATION_TOKEN,
            put_token(token), put_i64(*expiry_time)),
        EditOp::RenewDelegationToken { token, expiry_time } => fields!(out, RENEW_DELEGATION_TOKEN,
            put_token(token), put_i64(*expiry_time)),
        EditOp::CancelDelegationToken { token } => fields!(out, CANCEL_DELEGATION_TOKEN, put_token(token)),
        EditOp::UpdateMasterKey { key_id, expiry_date, key } => fields!(out, UPDATE_MASTER_KEY,
            put_vlong(i64::from(*key_id)), put_vlong(*expiry_date), put_key(key.as_deref())),
        EditOp::AddCacheDirective { directive, rpc } => fields!(out, ADD_CACHE_DIRECTIVE,
            put_cache_directive(directive), put_rpc(rpc)),
        EditOp::ModifyCacheDirective { directive, rpc } => fields!(out, MODIFY_CACHE_DIRECTIVE,
            put_cache_directive(directive), put_rpc(rpc)),
        EditOp::RemoveCacheDirective { id, rpc } => fields!(out, REMOVE_CACHE_DIRECTIVE, put_i64(*id), put_rpc(rpc)),
        EditOp::AddCachePool { pool, rpc } => fields!(out, ADD_CACHE_POOL, put_cache_pool(pool), put_rpc(rpc)),
        EditOp::ModifyCachePool { pool, rpc } => fields!(out, MODIFY_CACHE_POOL, put_cache_pool(pool), put_rpc(rpc)),
        EditOp::RemoveCachePool { pool_name, rpc } => fields!(out, REMOVE_CACHE_POOL,
            put_string(pool_name), put_rpc(rpc)),
        EditOp::AddErasureCodingPolicy { policy, rpc } => fields!(out, ADD_ERASURE_CODING_POLICY,
            put_ec_policy(policy), put_rpc(rpc)),
        EditOp::EnableErasureCodingPolicy { name, rpc } => fields!(out, ENABLE_ERASURE_CODING_POLICY,
            put_string(name), put_rpc(rpc)),
        EditOp::DisableErasureCodingPolicy { name, rpc } => fields!(out, DISABLE_ERASURE_CODING_POLICY,
            put_string(name), put_rpc(rpc)),
        EditOp::RemoveErasureCodingPolicy { name, rpc } => fields!(out, REMOVE_ERASURE_CODING_POLICY,
            put_string(name), put_rpc(rpc)),
        // A new operation that none of the three tables writes must not reach the log as nothing.
        _ => unreachable!("{op:?} is in none of the tables"),
    }
}

fn put_strings(out: &mut Vec<u8>, texts: &[Box<str>]) {
    put_i32(out, texts.len() as i32);
    for text in texts {
        put_string(out, text);
    }
}

/// A master key; absent: length -1.
fn put_key(out: &mut Vec<u8>, key: Option<&[u8]>) {
    put_vlong(out, key.map_or(-1, |key| key.len() as i64));
    out.extend_from_slice(key.unwrap_or_default());
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
fn put_file_tail(out: &mut Vec<u8>, file: &AddClose, has_erasure_coding: bool) {
    put_acl(out, &file.acl);
    put_xattrs(out, None, &file.xattrs);
    put_string(out, &file.client_name);
    put_string(out, &file.client_machine);
    put_bool(out, file.overwrite);
    put_u8(out, file.storage_policy_id);
    if has_erasure_coding {
        put_u8(out, file.erasure_coding_policy_id);
    }
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
