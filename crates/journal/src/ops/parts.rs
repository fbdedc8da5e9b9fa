//! The parts that several operations share: blocks, permissions, ACLs, extended attributes, RPC ids, tokens, cache pools.
//! Each is a `put_` and a `get_`. Source: `FSImageSerialization.java`, `AclEditLogUtil.java`, Hadoop 3.5.0.

use super::OpError;
use super::data::*;
use prost::Message;
use surus_namespace::edit_op::{
    AclEntry, AclEntryKind, CacheDirective, CachePool, DelegationTokenIdentifier, ErasureCodingPolicyOp, XAttr,
};
use surus_proto::hadoop::hdfs::{self, AclEditLogProto, AclEntryProto, XAttrEditLogProto, XAttrProto};
use surus_types::{Block, BlockId, FsPermission, GenerationStamp, RpcIds, StorageType};

/// `BLOCK_BYTES`: id, length, generation stamp.
const BLOCK_BYTES: usize = 24;

pub fn put_rpc(out: &mut Vec<u8>, rpc: &RpcIds) {
    put_u16(out, rpc.client_id.len() as u16);
    out.extend_from_slice(&rpc.client_id[..usize::from(rpc.client_id.len() as u16)]);
    put_i32(out, rpc.call_id);
}

pub fn get_rpc(from: &mut Reader<'_>) -> Result<RpcIds, OpError> {
    let count = usize::from(from.u16()?);
    Ok(RpcIds { client_id: from.bytes(count)?.to_vec(), call_id: from.i32()? })
}

/// `ArrayWritable` of blocks: count and plain fields.
pub fn put_blocks(out: &mut Vec<u8>, blocks: &[Block]) {
    put_i32(out, blocks.len() as i32);
    out.reserve(blocks.len() * BLOCK_BYTES);
    for block in blocks {
        put_i64(out, block.id.0);
        put_u64(out, block.num_bytes);
        put_u64(out, block.generation_stamp.0);
    }
}

pub fn get_blocks(from: &mut Reader<'_>) -> Result<Vec<Block>, OpError> {
    let count = from.count(BLOCK_BYTES)?;
    let mut blocks = Vec::with_capacity(count);
    for _ in 0..count {
        let (id, num_bytes) = (BlockId(from.i64()?), from.u64()?);
        blocks.push(Block { id, num_bytes, generation_stamp: GenerationStamp(from.u64()?) });
    }
    Ok(blocks)
}

/// Compact form: lengths and stamps are differences to the block before.
pub fn put_compact_blocks<'a>(out: &mut Vec<u8>, count: usize, blocks: impl Iterator<Item = &'a Block>) {
    put_vlong(out, count as i64);
    let (mut num_bytes, mut stamp) = (0u64, 0u64);
    for block in blocks {
        put_i64(out, block.id.0);
        put_vlong(out, block.num_bytes.wrapping_sub(num_bytes) as i64);
        put_vlong(out, block.generation_stamp.0.wrapping_sub(stamp) as i64);
        (num_bytes, stamp) = (block.num_bytes, block.generation_stamp.0);
    }
}

pub fn get_compact_blocks(from: &mut Reader<'_>) -> Result<Vec<Block>, OpError> {
    let count = from.vlong()?;
    let count = from.check_count(count, 10)?;
    let mut blocks = Vec::with_capacity(count);
    let (mut num_bytes, mut stamp) = (0u64, 0u64);
    for _ in 0..count {
        let id = BlockId(from.i64()?);
        num_bytes = num_bytes.wrapping_add(from.vlong()? as u64);
        stamp = stamp.wrapping_add(from.vlong()? as u64);
        blocks.push(Block { id, num_bytes, generation_stamp: GenerationStamp(stamp) });
    }
    Ok(blocks)
}

/// An optional block as a compact list of none or one.
pub fn get_optional_block(from: &mut Reader<'_>) -> Result<Option<Block>, OpError> {
    match get_compact_blocks(from)?.as_slice() {
        [] => Ok(None),
        [block] => Ok(Some(*block)),
        _ => Err(OpError::Value("number of blocks")),
    }
}

/// One byte for each entry: 6 named, 5 scope, 4-3 kind, 2-0 permission; then the name.
pub fn put_acl(out: &mut Vec<u8>, entries: &[AclEntry]) {
    put_i32(out, entries.len() as i32);
    for entry in entries {
        let named = u8::from(entry.name.is_some());
        out.push(named << 6 | u8::from(entry.is_default) << 5 | (entry.kind as u8) << 3 | entry.permission & 7);
        if let Some(name) = &entry.name {
            put_string(out, name);
        }
    }
}

pub fn get_acl(from: &mut Reader<'_>) -> Result<Vec<AclEntry>, OpError> {
    let count = from.count(1)?;
    let mut entries = Vec::with_capacity(count.min(ACL_RESERVE_MAX));
    for _ in 0..count {
        let bits = from.u8()?;
        let name = if bits & 0x40 != 0 { Some(from.arc_string()?) } else { None };
        let kind = acl_kind(i32::from(bits >> 3 & 3))?;
        entries.push(AclEntry { is_default: bits & 0x20 != 0, kind, name, permission: bits & 7 });
    }
    Ok(entries)
}

/// An ACL has at most 64 entries; a count beyond is read but not believed in advance.
const ACL_RESERVE_MAX: usize = 64;

fn acl_kind(number: i32) -> Result<AclEntryKind, OpError> {
    Ok(match number {
        0 => AclEntryKind::User,
        1 => AclEntryKind::Group,
        2 => AclEntryKind::Mask,
        3 => AclEntryKind::Other,
        _ => return Err(OpError::Value("ACL entry type")),
    })
}

/// `AclEditLogProto`, delimited: the body of OP_SET_ACL.
pub fn put_acl_message(out: &mut Vec<u8>, src: &str, entries: &[AclEntry]) {
    let entries = entries.iter().map(|entry| AclEntryProto {
        r#type: entry.kind as i32,
        scope: i32::from(entry.is_default),
        permissions: i32::from(entry.permission & 7),
        name: entry.name.as_deref().map(str::to_owned),
    });
    put_message(out, &AclEditLogProto { src: src.to_owned(), entries: entries.collect() });
}

pub fn get_acl_message(from: &mut Reader<'_>) -> Result<(Box<str>, Vec<AclEntry>), OpError> {
    let message: AclEditLogProto = from.message()?;
    let entries = message.entries.into_iter().map(|entry| {
        Ok(AclEntry {
            is_default: entry.scope == 1,
            kind: acl_kind(entry.r#type)?,
            name: entry.name.map(Into::into),
            permission: u8::try_from(entry.permissions)
                .ok()
                .filter(|p| *p < 8)
                .ok_or(OpError::Value("ACL permission"))?,
        })
    });
    Ok((message.src.into(), entries.collect::<Result<_, OpError>>()?))
}

/// `XAttrEditLogProto`, delimited; `src` only in OP_SET_XATTR and OP_REMOVE_XATTR.
pub fn put_xattrs(out: &mut Vec<u8>, src: Option<&str>, xattrs: &[XAttr]) {
    if src.is_none() && xattrs.is_empty() {
        out.push(0);
        return;
    }
    let attributes = xattrs.iter().map(|xattr| XAttrProto {
        namespace: i32::from(xattr.namespace),
        name: xattr.name.to_string(),
        value: xattr.value.clone(),
    });
    put_message(out, &XAttrEditLogProto { src: src.map(str::to_owned), x_attrs: attributes.collect() });
}

pub fn get_xattrs(from: &mut Reader<'_>) -> Result<(Option<String>, Vec<XAttr>), OpError> {
    let message: XAttrEditLogProto = from.message()?;
    let xattrs = message.x_attrs.into_iter().map(|xattr| {
        let namespace = hdfs::x_attr_proto::XAttrNamespaceProto::try_from(xattr.namespace);
        let namespace = namespace.map_err(|_| OpError::Value("xattr namespace"))? as u8;
        Ok(XAttr { namespace, name: xattr.name.into(), value: xattr.value })
    });
    Ok((message.src, xattrs.collect::<Result<_, OpError>>()?))
}

fn put_message(out: &mut Vec<u8>, message: &impl Message) {
    // Encoding into a Vec cannot run out of room.
    message.encode_length_delimited(out).ok();
}

/// The ordinal of Java's enum `StorageType`, which differs from the number in protobuf.
pub fn storage_type_ordinal(storage_type: StorageType) -> i32 {
    match storage_type {
        StorageType::RamDisk => 0,
        StorageType::Ssd => 1,
        StorageType::Disk => 2,
        StorageType::Archive => 3,
        StorageType::Provided => 4,
        StorageType::Nvdimm => 5,
    }
}

pub fn storage_type_from_ordinal(ordinal: i32) -> Result<StorageType, OpError> {
    Ok(match ordinal {
        0 => StorageType::RamDisk,
        1 => StorageType::Ssd,
        2 => StorageType::Disk,
        3 => StorageType::Archive,
        4 => StorageType::Provided,
        5 => StorageType::Nvdimm,
        _ => return Err(OpError::Value("storage type")),
    })
}

/// The version byte of a delegation token identifier.
const TOKEN_VERSION: u8 = 0;

pub fn put_token(out: &mut Vec<u8>, token: &DelegationTokenIdentifier) {
    out.push(TOKEN_VERSION);
    put_text(out, &token.owner);
    put_text(out, &token.renewer);
    put_text(out, &token.real_user);
    put_vlong(out, token.issue_date);
    put_vlong(out, token.max_date);
    put_vlong(out, i64::from(token.sequence_number));
    put_vlong(out, i64::from(token.master_key_id));
}

pub fn get_token(from: &mut Reader<'_>) -> Result<Box<DelegationTokenIdentifier>, OpError> {
    if from.u8()? != TOKEN_VERSION {
        return Err(OpError::Value("version of a delegation token"));
    }
    Ok(Box::new(DelegationTokenIdentifier {
        owner: from.text()?.into(),
        renewer: from.text()?.into(),
        real_user: from.text()?.into(),
        issue_date: from.vlong()?,
        max_date: from.vlong()?,
        sequence_number: from.vint()?,
        master_key_id: from.vint()?,
    }))
}

/// Id, then a word of bits that say which fields follow.
pub fn put_cache_directive(out: &mut Vec<u8>, directive: &CacheDirective) {
    let CacheDirective { id, path, replication, pool, expiration } = directive;
    put_i64(out, *id);
    let flags = [path.is_some(), replication.is_some(), pool.is_some(), expiration.is_some()];
    put_i32(out, bits(&flags));
    if let Some(path) = path {
        put_string(out, path);
    }
    if let Some(replication) = replication {
        put_u16(out, *replication);
    }
    if let Some(pool) = pool {
        put_string(out, pool);
    }
    if let Some(expiration) = expiration {
        put_i64(out, *expiration);
    }
}

pub fn get_cache_directive(from: &mut Reader<'_>) -> Result<CacheDirective, OpError> {
    let id = from.i64()?;
    let flags = get_flags(from, 4)?;
    Ok(CacheDirective {
        id,
        path: field(flags, 0, || from.string())?,
        replication: field(flags, 1, || from.u16())?,
        pool: field(flags, 2, || from.string())?,
        expiration: field(flags, 3, || from.i64())?,
    })
}

/// Name, then a word of bits that say which fields follow.
pub fn put_cache_pool(out: &mut Vec<u8>, pool: &CachePool) {
    let CachePool { name, owner, group, mode, limit, max_relative_expiry, default_replication } = pool;
    put_string(out, name);
    let flags = [
        owner.is_some(),
        group.is_some(),
        mode.is_some(),
        limit.is_some(),
        max_relative_expiry.is_some(),
        default_replication.is_some(),
    ];
    put_i32(out, bits(&flags));
    for text in [owner, group].into_iter().flatten() {
        put_string(out, text);
    }
    if let Some(mode) = mode {
        put_u16(out, mode.0);
    }
    for number in [limit, max_relative_expiry].into_iter().flatten() {
        put_i64(out, *number);
    }
    if let Some(replication) = default_replication {
        put_u16(out, *replication);
    }
}

pub fn get_cache_pool(from: &mut Reader<'_>) -> Result<CachePool, OpError> {
    let name = from.string()?;
    let flags = get_flags(from, 6)?;
    Ok(CachePool {
        name,
        owner: field(flags, 0, || from.string())?,
        group: field(flags, 1, || from.string())?,
        mode: field(flags, 2, || from.u16())?.map(FsPermission),
        limit: field(flags, 3, || from.i64())?,
        max_relative_expiry: field(flags, 4, || from.i64())?,
        default_replication: field(flags, 5, || from.u16())?,
    })
}

fn bits(flags: &[bool]) -> i32 {
    flags.iter().rev().fold(0, |word, flag| word << 1 | i32::from(*flag))
}

fn get_flags(from: &mut Reader<'_>, known: u32) -> Result<i32, OpError> {
    let flags = from.i32()?;
    if flags >> known != 0 { Err(OpError::Value("field flags")) } else { Ok(flags) }
}

fn field<T>(flags: i32, bit: u32, read: impl FnOnce() -> Result<T, OpError>) -> Result<Option<T>, OpError> {
    if flags & 1 << bit != 0 { read().map(Some) } else { Ok(None) }
}

pub fn put_ec_policy(out: &mut Vec<u8>, policy: &ErasureCodingPolicyOp) {
    put_string(out, &policy.codec);
    for number in [policy.data_units, policy.parity_units, policy.cell_size] {
        put_i32(out, number as i32);
    }
    put_i32(out, policy.extra_options.len() as i32);
    for (key, value) in &policy.extra_options {
        put_string(out, key);
        put_string(out, value);
    }
}

pub fn get_ec_policy(from: &mut Reader<'_>) -> Result<Box<ErasureCodingPolicyOp>, OpError> {
    let codec = from.string()?;
    let number = |from: &mut Reader<'_>| u32::try_from(from.i32()?).map_err(|_| OpError::Value("erasure coding units"));
    let (data_units, parity_units, cell_size) = (number(from)?, number(from)?, number(from)?);
    let count = from.count(4)?;
    let mut extra_options = Vec::new();
    for _ in 0..count {
        extra_options.push((from.string()?.into(), from.string()?.into()));
    }
    Ok(Box::new(ErasureCodingPolicyOp { codec, data_units, parity_units, cell_size, extra_options }))
}
