//! Reads one operation of layout -60 (Hadoop 2.6) to -67. The older ones lack fields of OP_ADD and OP_APPEND, and the times of snapshots.

use super::OpError;
use super::code;
use super::data::Reader;
use super::frame_body;
use super::parts::*;
use std::sync::Arc;
use surus_namespace::edit_op::{AddClose, EditOp, RenameOptions};
use surus_types::{BlockId, FsPermission, GenerationStamp, InodeId, PermissionStatus, RpcIds, TxId};

/// The oldest layout that is read. Source: `NameNodeLayoutVersion.java`, Hadoop 3.5.0 (BLOCK_STORAGE_POLICY).
pub const OLDEST_LAYOUT: i32 = -60;
/// OP_APPEND says whether a new block begins (APPEND_NEW_BLOCK).
const APPEND_NEW_BLOCK: i32 = -62;
/// OP_ADD names an erasure coding policy (ERASURE_CODING).
pub(super) const ERASURE_CODING: i32 = -64;
/// Operations of snapshots tell their time (SNAPSHOT_MODIFICATION_TIME).
pub(super) const SNAPSHOT_MODIFICATION_TIME: i32 = -66;

/// Decodes operations of one segment. Remembers the last owner and group, since nearly all operations share them.
pub struct OpDecoder {
    layout: i32,
    user: Arc<str>,
    group: Arc<str>,
}

impl OpDecoder {
    /// # Errors
    /// `Value` when segments of this layout are not read.
    pub fn new(layout: i32) -> Result<OpDecoder, OpError> {
        if layout > OLDEST_LAYOUT {
            return Err(OpError::Value("layout version"));
        }
        Ok(OpDecoder { layout, user: Arc::from(""), group: Arc::from("") })
    }

    /// Decodes a whole frame, checksum included.
    ///
    /// # Errors
    /// Says what is wrong with the bytes; never panics, and allocates no more than a small multiple of their number.
    pub fn decode(&mut self, frame: &[u8]) -> Result<(TxId, EditOp), OpError> {
        let (head, body) = frame_body(frame)?;
        let mut from = Reader::new(body);
        let op = self.body(head.opcode, &mut from)?;
        match from.remaining() {
            0 => Ok((TxId(head.txid), op)),
            count => Err(OpError::Trailing(count)),
        }
    }

    /// The table of the format, one line or so for each operation: files, blocks and names.
    fn body(&mut self, opcode: u8, from: &mut Reader<'_>) -> Result<EditOp, OpError> {
        Ok(match opcode {
            code::ADD => EditOp::Add(self.file(from, true)?),
            code::CLOSE => EditOp::Close(self.file(from, false)?),
            code::APPEND => EditOp::Append {
                path: from.string()?,
                client_name: from.string()?,
                client_machine: from.string()?,
                new_block: self.layout <= APPEND_NEW_BLOCK && from.bool()?,
                rpc: get_rpc(from)?,
            },
            code::ADD_BLOCK => add_block(from)?,
            code::UPDATE_BLOCKS => {
                EditOp::UpdateBlocks { path: from.string()?, blocks: get_compact_blocks(from)?, rpc: get_rpc(from)? }
            }
            code::ALLOCATE_BLOCK_ID => EditOp::AllocateBlockId { block_id: BlockId(from.i64()?) },
            code::SET_GENSTAMP_V1 => EditOp::SetGenstampV1 { generation_stamp: GenerationStamp(from.u64()?) },
            code::SET_GENSTAMP_V2 => EditOp::SetGenstampV2 { generation_stamp: GenerationStamp(from.u64()?) },
            code::MKDIR => self.mkdir(from)?,
            code::DELETE => EditOp::Delete { path: from.string()?, timestamp: from.i64()?, rpc: get_rpc(from)? },
            code::RENAME_OLD => EditOp::RenameOld {
                src: from.string()?,
                dst: from.string()?,
                timestamp: from.i64()?,
                rpc: get_rpc(from)?,
            },
            code::RENAME => EditOp::Rename {
                src: from.string()?,
                dst: from.string()?,
                timestamp: from.i64()?,
                options: rename_options(from)?,
                rpc: get_rpc(from)?,
            },
            code::CONCAT_DELETE => concat(from)?,
            code::TRUNCATE => EditOp::Truncate {
                src: from.string()?,
                client_name: from.string()?,
                client_machine: from.string()?,
                new_length: from.u64()?,
                timestamp: from.i64()?,
                block: get_optional_block(from)?,
            },
            code::SYMLINK => EditOp::Symlink {
                inode_id: InodeId(from.u64()?),
                path: from.string()?,
                target: from.string()?,
                mtime: from.i64()?,
                atime: from.i64()?,
                permission: self.permission(from)?,
                rpc: get_rpc(from)?,
            },
            code::REASSIGN_LEASE => {
                EditOp::ReassignLease { lease_holder: from.string()?, path: from.string()?, new_holder: from.string()? }
            }
            code::START_LOG_SEGMENT => EditOp::StartLogSegment,
            code::END_LOG_SEGMENT => EditOp::EndLogSegment,
            _ => return attributes(opcode, self.layout, from),
        })
    }

    fn file(&mut self, from: &mut Reader<'_>, is_add: bool) -> Result<Box<AddClose>, OpError> {
        let mut file = AddClose {
            inode_id: InodeId(from.u64()?),
            path: from.string()?,
            replication: from.u16()?,
            mtime: from.i64()?,
            atime: from.i64()?,
            block_size: from.u64()?,
            blocks: get_blocks(from)?,
            permission: self.permission(from)?,
            acl: Vec::new(),
            xattrs: Vec::new(),
            client_name: Box::default(),
            client_machine: Box::default(),
            overwrite: false,
            storage_policy_id: 0,
            erasure_coding_policy_id: 0,
            rpc: RpcIds::NONE,
        };
        if is_add {
            file.acl = get_acl(from)?;
            file.xattrs = get_xattrs(from)?.1;
            file.client_name = from.string()?;
            file.client_machine = from.string()?;
            file.overwrite = from.bool()?;
            file.storage_policy_id = from.u8()?;
            if self.layout <= ERASURE_CODING {
                file.erasure_coding_policy_id = from.u8()?;
            }
            file.rpc = get_rpc(from)?;
        }
        Ok(Box::new(file))
    }

    fn mkdir(&mut self, from: &mut Reader<'_>) -> Result<EditOp, OpError> {
        let (inode_id, path, timestamp) = (InodeId(from.u64()?), from.string()?, from.i64()?);
        // The access time, which a directory has not: Hadoop writes the modification time again and ignores it.
        from.i64()?;
        let permission = self.permission(from)?;
        Ok(EditOp::Mkdir { inode_id, path, timestamp, permission, acl: get_acl(from)?, xattrs: get_xattrs(from)?.1 })
    }

    fn permission(&mut self, from: &mut Reader<'_>) -> Result<PermissionStatus, OpError> {
        let user = shared(&mut self.user, from.text()?);
        let group = shared(&mut self.group, from.text()?);
        Ok(PermissionStatus { user, group, permission: FsPermission(from.u16()?) })
    }
}

fn shared(last: &mut Arc<str>, text: &str) -> Arc<str> {
    if **last != *text {
        *last = Arc::from(text);
    }
    Arc::clone(last)
}

fn add_block(from: &mut Reader<'_>) -> Result<EditOp, OpError> {
    let path = from.string()?;
    let (penultimate, last) = match get_compact_blocks(from)?.as_slice() {
        [last] => (None, *last),
        [penultimate, last] => (Some(*penultimate), *last),
        _ => return Err(OpError::Value("number of blocks")),
    };
    Ok(EditOp::AddBlock { path, penultimate, last, rpc: get_rpc(from)? })
}

fn concat(from: &mut Reader<'_>) -> Result<EditOp, OpError> {
    let target = from.string()?;
    let count = from.count(2)?;
    let mut sources = Vec::new();
    for _ in 0..count {
        sources.push(from.string()?);
    }
    Ok(EditOp::ConcatDelete { target, sources, timestamp: from.i64()?, rpc: get_rpc(from)? })
}

fn rename_options(from: &mut Reader<'_>) -> Result<RenameOptions, OpError> {
    let count = from.count(1)?;
    let mut options = RenameOptions::default();
    for byte in from.bytes(count)? {
        match byte {
            0 => {}
            1 => options.overwrite = true,
            2 => options.to_trash = true,
            _ => return Err(OpError::Value("rename option")),
        }
    }
    Ok(options)
}

/// The table's second half: attributes of inodes, snapshots, tokens, caches, policies.
fn attributes(opcode: u8, layout: i32, from: &mut Reader<'_>) -> Result<EditOp, OpError> {
    Ok(match opcode {
        code::SET_REPLICATION => EditOp::SetReplication { path: from.string()?, replication: from.u16()? },
        code::SET_PERMISSIONS => EditOp::SetPermissions { src: from.string()?, permission: FsPermission(from.u16()?) },
        code::SET_OWNER => {
            let src = from.string()?;
            let (user, group) = (from.arc_string()?, from.arc_string()?);
            let given = |name: Arc<str>| if name.is_empty() { None } else { Some(name) };
            EditOp::SetOwner { src, user: given(user), group: given(group) }
        }
        code::TIMES => EditOp::Times { path: from.string()?, mtime: from.i64()?, atime: from.i64()? },
        code::SET_QUOTA => {
            EditOp::SetQuota { src: from.string()?, namespace_quota: from.i64()?, storage_quota: from.i64()? }
        }
        code::SET_QUOTA_BY_STORAGETYPE => EditOp::SetQuotaByStorageType {
            src: from.string()?,
            storage_type: storage_type_from_ordinal(from.i32()?)?,
            quota: from.i64()?,
        },
        code::SET_NS_QUOTA => EditOp::SetNsQuota { src: from.string()?, quota: from.i64()? },
        code::CLEAR_NS_QUOTA => EditOp::ClearNsQuota { src: from.string()? },
        code::SET_STORAGE_POLICY => EditOp::SetStoragePolicy { path: from.string()?, policy_id: from.u8()? },
        code::SET_ACL => {
            let (src, entries) = get_acl_message(from)?;
            EditOp::SetAcl { src, entries }
        }
        code::SET_XATTR | code::REMOVE_XATTR => {
            let (src, xattrs) = get_xattrs(from)?;
            let (src, rpc) = (src.ok_or(OpError::Value("xattr path"))?.into(), get_rpc(from)?);
            match opcode {
                code::SET_XATTR => EditOp::SetXAttr { src, xattrs, rpc },
                _ => EditOp::RemoveXAttr { src, xattrs, rpc },
            }
        }
        code::ALLOW_SNAPSHOT => EditOp::AllowSnapshot { root: from.string()? },
        code::DISALLOW_SNAPSHOT => EditOp::DisallowSnapshot { root: from.string()? },
        code::CREATE_SNAPSHOT => EditOp::CreateSnapshot {
            root: from.string()?,
            name: from.string()?,
            mtime: snapshot_mtime(layout, from)?,
            rpc: get_rpc(from)?,
        },
        code::DELETE_SNAPSHOT => EditOp::DeleteSnapshot {
            root: from.string()?,
            name: from.string()?,
            mtime: snapshot_mtime(layout, from)?,
            rpc: get_rpc(from)?,
        },
        code::RENAME_SNAPSHOT => EditOp::RenameSnapshot {
            root: from.string()?,
            old_name: from.string()?,
            new_name: from.string()?,
            mtime: snapshot_mtime(layout, from)?,
            rpc: get_rpc(from)?,
        },
        code::ROLLING_UPGRADE_START => EditOp::RollingUpgradeStart { time: from.i64()? },
        code::ROLLING_UPGRADE_FINALIZE => EditOp::RollingUpgradeFinalize { time: from.i64()? },
        _ => return services(opcode, from),
    })
}

/// Older layouts lack it: 0 then. Source: `FSEditLogOp.CreateSnapshotOp.readFields`, Hadoop 3.5.0.
fn snapshot_mtime(layout: i32, from: &mut Reader<'_>) -> Result<i64, OpError> {
    if layout <= SNAPSHOT_MODIFICATION_TIME { from.i64() } else { Ok(0) }
}

/// The table's last part: what belongs to no inode.
fn services(opcode: u8, from: &mut Reader<'_>) -> Result<EditOp, OpError> {
    Ok(match opcode {
        code::GET_DELEGATION_TOKEN => EditOp::GetDelegationToken { token: get_token(from)?, expiry_time: from.i64()? },
        code::RENEW_DELEGATION_TOKEN => {
            EditOp::RenewDelegationToken { token: get_token(from)?, expiry_time: from.i64()? }
        }
        code::CANCEL_DELEGATION_TOKEN => EditOp::CancelDelegationToken { token: get_token(from)? },
        code::UPDATE_MASTER_KEY => {
            let (key_id, expiry_date) = (from.vint()?, from.vlong()?);
            let key = match from.vlong()? {
                -1 => None,
                count => {
                    let count = from.check_count(count, 1)?;
                    Some(from.bytes(count)?.to_vec())
                }
            };
            EditOp::UpdateMasterKey { key_id, expiry_date, key }
        }
        code::ADD_CACHE_DIRECTIVE => {
            EditOp::AddCacheDirective { directive: get_cache_directive(from)?, rpc: get_rpc(from)? }
        }
        code::MODIFY_CACHE_DIRECTIVE => {
            EditOp::ModifyCacheDirective { directive: get_cache_directive(from)?, rpc: get_rpc(from)? }
        }
        code::REMOVE_CACHE_DIRECTIVE => EditOp::RemoveCacheDirective { id: from.i64()?, rpc: get_rpc(from)? },
        code::ADD_CACHE_POOL => EditOp::AddCachePool { pool: get_cache_pool(from)?, rpc: get_rpc(from)? },
        code::MODIFY_CACHE_POOL => EditOp::ModifyCachePool { pool: get_cache_pool(from)?, rpc: get_rpc(from)? },
        code::REMOVE_CACHE_POOL => EditOp::RemoveCachePool { pool_name: from.string()?, rpc: get_rpc(from)? },
        code::ADD_ERASURE_CODING_POLICY => {
            EditOp::AddErasureCodingPolicy { policy: get_ec_policy(from)?, rpc: get_rpc(from)? }
        }
        code::ENABLE_ERASURE_CODING_POLICY => {
            EditOp::EnableErasureCodingPolicy { name: from.string()?, rpc: get_rpc(from)? }
        }
        code::DISABLE_ERASURE_CODING_POLICY => {
            EditOp::DisableErasureCodingPolicy { name: from.string()?, rpc: get_rpc(from)? }
        }
        code::REMOVE_ERASURE_CODING_POLICY => {
            EditOp::RemoveErasureCodingPolicy { name: from.string()?, rpc: get_rpc(from)? }
        }
        _ => return Err(OpError::Opcode(opcode)),
    })
}
