//! The elements of each operation's `<DATA>`, in the order in which Hadoop writes them. One table for both directions: a
//! `Fields` either shows a field or fills it.
//! Source: `FSEditLogOp.java` (`toXml`, `fromXml`), Hadoop 3.5.0.

use surus_namespace::EditOp;
use surus_namespace::edit_op::*;
use surus_types::{Block, BlockId, FsPermission, GenerationStamp, PermissionStatus, RpcIds, STORAGE_TYPES};

/// One direction: to XML or from it.
pub trait Fields {
    fn number(&mut self, name: &str, value: &mut i128) -> Result<(), String>;
    fn optional_number(&mut self, name: &str, value: &mut Option<i128>) -> Result<(), String>;
    fn text(&mut self, name: &str, value: &mut String) -> Result<(), String>;
    /// Absent: no element.
    fn optional_text(&mut self, name: &str, value: &mut Option<String>) -> Result<(), String>;
    /// An element with elements.
    fn group(
        &mut self,
        name: &str,
        inside: &mut dyn FnMut(&mut dyn Fields) -> Result<(), String>,
    ) -> Result<(), String>;
    /// Elements of one name, one for each item; `count` items there are, or will be.
    fn repeated(
        &mut self,
        name: &str,
        count: usize,
        item: &mut dyn FnMut(&mut dyn Fields, usize) -> Result<(), String>,
    ) -> Result<(), String>;
}

type Done = Result<(), String>;

/// Shows or fills a field of any integer type.
macro_rules! integer {
    ($fields:expr, $name:expr, $value:expr) => {{
        let mut number = $value as i128;
        $fields.number($name, &mut number)?;
        $value = number.try_into().map_err(|_| format!("{} is out of range: {number}", $name))?;
    }};
}

macro_rules! text {
    ($fields:expr, $name:expr, $value:expr) => {{
        let mut text = String::from(&*$value);
        $fields.text($name, &mut text)?;
        $value = text.into();
    }};
}

macro_rules! optional {
    (text $fields:expr, $name:expr, $value:expr) => {{
        let mut text = $value.as_deref().map(String::from);
        $fields.optional_text($name, &mut text)?;
        $value = text.map(Into::into);
    }};
    ($fields:expr, $name:expr, $value:expr) => {{
        let mut number = $value.map(|value| value as i128);
        $fields.optional_number($name, &mut number)?;
        $value = match number {
            Some(number) => Some(number.try_into().map_err(|_| format!("{} is out of range: {number}", $name))?),
            None => None,
        };
    }};
}

fn boolean(fields: &mut dyn Fields, name: &str, value: &mut bool) -> Done {
    let mut text = value.to_string();
    fields.text(name, &mut text)?;
    *value = text.eq_ignore_ascii_case("true");
    Ok(())
}

/// `LENGTH`, which Hadoop always shows as 0.
fn length(fields: &mut dyn Fields) -> Done {
    fields.number("LENGTH", &mut 0)
}

fn rpc(fields: &mut dyn Fields, rpc: &mut RpcIds) -> Done {
    let mut id = uuid(&rpc.client_id);
    fields.text("RPC_CLIENTID", &mut id)?;
    rpc.client_id = parse_uuid(&id)?;
    integer!(fields, "RPC_CALLID", rpc.call_id);
    Ok(())
}

/// A client id of 16 bytes as a UUID; nothing for an empty one.
fn uuid(id: &[u8]) -> String {
    let hex = hex(id);
    match id.len() {
        16 => format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]),
        _ => hex,
    }
}

fn parse_uuid(text: &str) -> Result<Vec<u8>, String> {
    parse_hex(&text.replace('-', "")).ok_or_else(|| format!("RPC_CLIENTID is no UUID: {text}"))
}

pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

pub fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

fn block_fields(fields: &mut dyn Fields, block: &mut Block) -> Done {
    integer!(fields, "BLOCK_ID", block.id.0);
    integer!(fields, "NUM_BYTES", block.num_bytes);
    integer!(fields, "GENSTAMP", block.generation_stamp.0);
    Ok(())
}

pub fn no_block() -> Block {
    Block { id: BlockId(0), num_bytes: 0, generation_stamp: GenerationStamp(0) }
}

fn blocks(fields: &mut dyn Fields, blocks: &mut Vec<Block>) -> Done {
    fields.repeated("BLOCK", blocks.len(), &mut |fields, at| block_fields(fields, nth(blocks, at, no_block)))
}

/// The item at `at`, made where it is not there yet.
fn nth<T>(items: &mut Vec<T>, at: usize, make: fn() -> T) -> &mut T {
    while items.len() <= at {
        items.push(make());
    }
    &mut items[at]
}

fn permission(fields: &mut dyn Fields, status: &mut PermissionStatus) -> Done {
    fields.group("PERMISSION_STATUS", &mut |fields| {
        text!(fields, "USERNAME", status.user);
        text!(fields, "GROUPNAME", status.group);
        integer!(fields, "MODE", status.permission.0);
        Ok(())
    })
}

fn acl(fields: &mut dyn Fields, entries: &mut Vec<AclEntry>) -> Done {
    let make = || AclEntry { is_default: false, kind: AclEntryKind::User, name: None, permission: 0 };
    fields.repeated("ENTRY", entries.len(), &mut |fields, at| {
        let entry = nth(entries, at, make);
        let mut scope = if entry.is_default { "DEFAULT" } else { "ACCESS" }.to_owned();
        fields.text("SCOPE", &mut scope)?;
        entry.is_default = scope == "DEFAULT";
        const KINDS: [(AclEntryKind, &str); 4] = [
            (AclEntryKind::User, "USER"),
            (AclEntryKind::Group, "GROUP"),
            (AclEntryKind::Mask, "MASK"),
            (AclEntryKind::Other, "OTHER"),
        ];
        let mut kind = KINDS[entry.kind as usize].1.to_owned();
        fields.text("TYPE", &mut kind)?;
        entry.kind = KINDS.iter().find(|(_, name)| *name == kind).ok_or_else(|| format!("TYPE is no type: {kind}"))?.0;
        optional!(text fields, "NAME", entry.name);
        let bit = |bit: u8, letter| if entry.permission & bit != 0 { letter } else { '-' };
        let mut symbol: String = [bit(4, 'r'), bit(2, 'w'), bit(1, 'x')].iter().collect();
        fields.text("PERM", &mut symbol)?;
        entry.permission = ["r", "w", "x"].iter().fold(0, |bits, letter| bits << 1 | u8::from(symbol.contains(letter)));
        Ok(())
    })
}

const NAMESPACES: [&str; 5] = ["USER", "TRUSTED", "SECURITY", "SYSTEM", "RAW"];

fn xattrs(fields: &mut dyn Fields, xattrs: &mut Vec<XAttr>) -> Done {
    let make = || XAttr { namespace: 0, name: Box::default(), value: None };
    fields.repeated("XATTR", xattrs.len(), &mut |fields, at| {
        let xattr = nth(xattrs, at, make);
        let mut namespace = NAMESPACES.get(usize::from(xattr.namespace)).copied().unwrap_or_default().to_owned();
        fields.text("NAMESPACE", &mut namespace)?;
        let number = NAMESPACES.iter().position(|name| *name == namespace);
        xattr.namespace = number.ok_or_else(|| format!("NAMESPACE is no namespace: {namespace}"))? as u8;
        text!(fields, "NAME", xattr.name);
        let mut value = xattr.value.as_ref().map(|value| format!("0x{}", hex(value)));
        fields.optional_text("VALUE", &mut value)?;
        xattr.value = match value {
            Some(text) => Some(text.strip_prefix("0x").and_then(parse_hex).ok_or("VALUE is not 0x and digits")?),
            None => None,
        };
        Ok(())
    })
}

fn token(fields: &mut dyn Fields, token: &mut DelegationTokenIdentifier) -> Done {
    fields.group("DELEGATION_TOKEN_IDENTIFIER", &mut |fields| {
        fields.text("KIND", &mut "HDFS_DELEGATION_TOKEN".to_owned())?;
        integer!(fields, "SEQUENCE_NUMBER", token.sequence_number);
        text!(fields, "OWNER", token.owner);
        text!(fields, "RENEWER", token.renewer);
        text!(fields, "REALUSER", token.real_user);
        integer!(fields, "ISSUE_DATE", token.issue_date);
        integer!(fields, "MAX_DATE", token.max_date);
        integer!(fields, "MASTER_KEY_ID", token.master_key_id);
        Ok(())
    })
}

fn directive(fields: &mut dyn Fields, directive: &mut CacheDirective) -> Done {
    integer!(fields, "ID", directive.id);
    optional!(text fields, "PATH", directive.path);
    optional!(fields, "REPLICATION", directive.replication);
    optional!(text fields, "POOL", directive.pool);
    optional!(fields, "EXPIRATION", directive.expiration);
    Ok(())
}

fn pool(fields: &mut dyn Fields, pool: &mut CachePool) -> Done {
    text!(fields, "POOLNAME", pool.name);
    optional!(text fields, "OWNERNAME", pool.owner);
    optional!(text fields, "GROUPNAME", pool.group);
    let mut mode = pool.mode.map(|mode| mode.0);
    optional!(fields, "MODE", mode);
    pool.mode = mode.map(FsPermission);
    optional!(fields, "LIMIT", pool.limit);
    optional!(fields, "MAXRELATIVEEXPIRY", pool.max_relative_expiry);
    optional!(fields, "DEFAULTREPLICATION", pool.default_replication);
    Ok(())
}

fn policy(fields: &mut dyn Fields, policy: &mut ErasureCodingPolicyOp) -> Done {
    text!(fields, "CODEC", policy.codec);
    integer!(fields, "DATAUNITS", policy.data_units);
    integer!(fields, "PARITYUNITS", policy.parity_units);
    integer!(fields, "CELLSIZE", policy.cell_size);
    let mut count = policy.extra_options.len() as i128;
    fields.number("EXTRAOPTIONS", &mut count)?;
    let options = &mut policy.extra_options;
    fields.repeated("EXTRAOPTION", options.len(), &mut |fields, at| {
        let (key, value) = nth(options, at, Default::default);
        fields.text("KEY", key)?;
        fields.text("VALUE", value)
    })
}

fn file(fields: &mut dyn Fields, file: &mut AddClose, is_add: bool) -> Done {
    length(fields)?;
    integer!(fields, "INODEID", file.inode_id.0);
    text!(fields, "PATH", file.path);
    integer!(fields, "REPLICATION", file.replication);
    integer!(fields, "MTIME", file.mtime);
    integer!(fields, "ATIME", file.atime);
    integer!(fields, "BLOCKSIZE", file.block_size);
    text!(fields, "CLIENT_NAME", file.client_name);
    text!(fields, "CLIENT_MACHINE", file.client_machine);
    boolean(fields, "OVERWRITE", &mut file.overwrite)?;
    blocks(fields, &mut file.blocks)?;
    permission(fields, &mut file.permission)?;
    if is_add {
        acl(fields, &mut file.acl)?;
        integer!(fields, "ERASURE_CODING_POLICY_ID", file.erasure_coding_policy_id);
        rpc(fields, &mut file.rpc)?;
    }
    Ok(())
}

/// Shows or fills the fields of an operation.
///
/// # Errors
/// An element that is missing, or holds what it cannot hold.
pub fn visit(op: &mut EditOp, f: &mut dyn Fields) -> Done {
    match op {
        EditOp::Add(add) => file(f, add, true)?,
        EditOp::Close(close) => file(f, close, false)?,
        EditOp::Append { path, client_name, client_machine, new_block, rpc: ids } => {
            text!(f, "PATH", *path);
            text!(f, "CLIENT_NAME", *client_name);
            text!(f, "CLIENT_MACHINE", *client_machine);
            boolean(f, "NEWBLOCK", new_block)?;
            rpc(f, ids)?;
        }
        EditOp::AddBlock { path, penultimate, last, rpc: ids } => {
            text!(f, "PATH", *path);
            let mut both: Vec<Block> = penultimate.iter().copied().chain([*last]).collect();
            // What is read replaces the block that a blank operation holds.
            let mut found = 0;
            f.repeated("BLOCK", both.len(), &mut |fields, at| {
                found = at + 1;
                block_fields(fields, nth(&mut both, at, no_block))
            })?;
            both.truncate(found);
            (*penultimate, *last) = match both.as_slice() {
                [last] => (None, *last),
                [penultimate, last] => (Some(*penultimate), *last),
                _ => return Err("OP_ADD_BLOCK has one BLOCK or two".to_owned()),
            };
            rpc(f, ids)?;
        }
        EditOp::UpdateBlocks { path, blocks: list, rpc: ids } => {
            text!(f, "PATH", *path);
            blocks(f, list)?;
            rpc(f, ids)?;
        }
        EditOp::AllocateBlockId { block_id } => integer!(f, "BLOCK_ID", block_id.0),
        EditOp::SetGenstampV1 { generation_stamp } => integer!(f, "GENSTAMP", generation_stamp.0),
        EditOp::SetGenstampV2 { generation_stamp } => integer!(f, "GENSTAMPV2", generation_stamp.0),
        EditOp::Mkdir { inode_id, path, timestamp, permission: status, acl: entries, xattrs: attributes } => {
            length(f)?;
            integer!(f, "INODEID", inode_id.0);
            text!(f, "PATH", *path);
            integer!(f, "TIMESTAMP", *timestamp);
            permission(f, status)?;
            acl(f, entries)?;
            xattrs(f, attributes)?;
        }
        EditOp::StartLogSegment | EditOp::EndLogSegment => {}
        _ => names(op, f)?,
    }
    Ok(())
}

/// Operations on names.
fn names(op: &mut EditOp, f: &mut dyn Fields) -> Done {
    match op {
        EditOp::Delete { path, timestamp, rpc: ids } => {
            length(f)?;
            text!(f, "PATH", *path);
            integer!(f, "TIMESTAMP", *timestamp);
            rpc(f, ids)?;
        }
        EditOp::RenameOld { src, dst, timestamp, rpc: ids } => {
            length(f)?;
            text!(f, "SRC", *src);
            text!(f, "DST", *dst);
            integer!(f, "TIMESTAMP", *timestamp);
            rpc(f, ids)?;
        }
        EditOp::Rename { src, dst, timestamp, options, rpc: ids } => {
            length(f)?;
            text!(f, "SRC", *src);
            text!(f, "DST", *dst);
            integer!(f, "TIMESTAMP", *timestamp);
            let mut words = match (options.overwrite, options.to_trash) {
                (false, false) => "NONE",
                (true, false) => "OVERWRITE",
                (false, true) => "TO_TRASH",
                (true, true) => "OVERWRITE|TO_TRASH",
            }
            .to_owned();
            f.text("OPTIONS", &mut words)?;
            for word in words.split('|') {
                match word {
                    "NONE" => {}
                    "OVERWRITE" => options.overwrite = true,
                    "TO_TRASH" => options.to_trash = true,
                    _ => return Err(format!("OPTIONS has no {word}")),
                }
            }
            rpc(f, ids)?;
        }
        EditOp::ConcatDelete { target, sources, timestamp, rpc: ids } => {
            length(f)?;
            text!(f, "TRG", *target);
            integer!(f, "TIMESTAMP", *timestamp);
            f.group("SOURCES", &mut |fields| {
                for at in 1.. {
                    let name = format!("SOURCE{at}");
                    let mut source = sources.get(at - 1).map(|source| source.to_string());
                    fields.optional_text(&name, &mut source)?;
                    let Some(source) = source else { break };
                    *nth(sources, at - 1, Default::default) = source.into();
                }
                Ok(())
            })?;
            rpc(f, ids)?;
        }
        EditOp::Truncate { src, client_name, client_machine, new_length, timestamp, block } => {
            text!(f, "SRC", *src);
            text!(f, "CLIENTNAME", *client_name);
            text!(f, "CLIENTMACHINE", *client_machine);
            integer!(f, "NEWLENGTH", *new_length);
            integer!(f, "TIMESTAMP", *timestamp);
            let mut list: Vec<Block> = block.iter().copied().collect();
            blocks(f, &mut list)?;
            *block = list.first().copied();
        }
        EditOp::Symlink { inode_id, path, target, mtime, atime, permission: status, rpc: ids } => {
            length(f)?;
            integer!(f, "INODEID", inode_id.0);
            text!(f, "PATH", *path);
            text!(f, "VALUE", *target);
            integer!(f, "MTIME", *mtime);
            integer!(f, "ATIME", *atime);
            permission(f, status)?;
            rpc(f, ids)?;
        }
        EditOp::ReassignLease { lease_holder, path, new_holder } => {
            text!(f, "LEASEHOLDER", *lease_holder);
            text!(f, "PATH", *path);
            text!(f, "NEWHOLDER", *new_holder);
        }
        _ => attributes(op, f)?,
    }
    Ok(())
}

/// Operations on attributes of inodes.
fn attributes(op: &mut EditOp, f: &mut dyn Fields) -> Done {
    match op {
        EditOp::SetReplication { path, replication } => {
            text!(f, "PATH", *path);
            integer!(f, "REPLICATION", *replication);
        }
        EditOp::SetPermissions { src, permission } => {
            text!(f, "SRC", *src);
            integer!(f, "MODE", permission.0);
        }
        EditOp::SetOwner { src, user, group } => {
            text!(f, "SRC", *src);
            optional!(text f, "USERNAME", *user);
            optional!(text f, "GROUPNAME", *group);
        }
        EditOp::Times { path, mtime, atime } => {
            length(f)?;
            text!(f, "PATH", *path);
            integer!(f, "MTIME", *mtime);
            integer!(f, "ATIME", *atime);
        }
        EditOp::SetQuota { src, namespace_quota, storage_quota } => {
            text!(f, "SRC", *src);
            integer!(f, "NSQUOTA", *namespace_quota);
            integer!(f, "DSQUOTA", *storage_quota);
        }
        EditOp::SetQuotaByStorageType { src, storage_type, quota } => {
            text!(f, "SRC", *src);
            let mut ordinal = STORAGE_TYPES.iter().position(|known| known == storage_type).unwrap_or_default();
            integer!(f, "STORAGETYPE", ordinal);
            *storage_type =
                *STORAGE_TYPES.get(ordinal).ok_or_else(|| format!("STORAGETYPE is no storage type: {ordinal}"))?;
            integer!(f, "DSQUOTA", *quota);
        }
        EditOp::SetNsQuota { src, quota } => {
            text!(f, "SRC", *src);
            integer!(f, "NSQUOTA", *quota);
        }
        EditOp::ClearNsQuota { src } => text!(f, "SRC", *src),
        EditOp::SetStoragePolicy { path, policy_id } => {
            text!(f, "PATH", *path);
            integer!(f, "POLICYID", *policy_id);
        }
        EditOp::SetAcl { src, entries } => {
            text!(f, "SRC", *src);
            acl(f, entries)?;
        }
        EditOp::SetXAttr { src, xattrs: attributes, rpc: ids }
        | EditOp::RemoveXAttr { src, xattrs: attributes, rpc: ids } => {
            text!(f, "SRC", *src);
            xattrs(f, attributes)?;
            rpc(f, ids)?;
        }
        EditOp::AllowSnapshot { root } | EditOp::DisallowSnapshot { root } => text!(f, "SNAPSHOTROOT", *root),
        EditOp::CreateSnapshot { root, name, mtime, rpc: ids }
        | EditOp::DeleteSnapshot { root, name, mtime, rpc: ids } => {
            text!(f, "SNAPSHOTROOT", *root);
            text!(f, "SNAPSHOTNAME", *name);
            integer!(f, "MTIME", *mtime);
            rpc(f, ids)?;
        }
        EditOp::RenameSnapshot { root, old_name, new_name, mtime, rpc: ids } => {
            text!(f, "SNAPSHOTROOT", *root);
            text!(f, "SNAPSHOTOLDNAME", *old_name);
            text!(f, "SNAPSHOTNEWNAME", *new_name);
            integer!(f, "MTIME", *mtime);
            rpc(f, ids)?;
        }
        _ => services(op, f)?,
    }
    Ok(())
}

/// Operations that belong to no inode.
fn services(op: &mut EditOp, f: &mut dyn Fields) -> Done {
    match op {
        EditOp::GetDelegationToken { token: id, expiry_time }
        | EditOp::RenewDelegationToken { token: id, expiry_time } => {
            token(f, id)?;
            integer!(f, "EXPIRY_TIME", *expiry_time);
        }
        EditOp::CancelDelegationToken { token: id } => token(f, id)?,
        EditOp::UpdateMasterKey { key_id, expiry_date, key } => f.group("DELEGATION_KEY", &mut |fields| {
            integer!(fields, "KEY_ID", *key_id);
            integer!(fields, "EXPIRY_DATE", *expiry_date);
            let mut digits = key.as_deref().map(hex);
            fields.optional_text("KEY", &mut digits)?;
            *key = match digits {
                Some(digits) => Some(parse_hex(&digits).ok_or("KEY is not hexadecimal")?),
                None => None,
            };
            Ok(())
        })?,
        EditOp::AddCacheDirective { directive: info, rpc: ids }
        | EditOp::ModifyCacheDirective { directive: info, rpc: ids } => {
            directive(f, info)?;
            rpc(f, ids)?;
        }
        EditOp::RemoveCacheDirective { id, rpc: ids } => {
            integer!(f, "ID", *id);
            rpc(f, ids)?;
        }
        EditOp::AddCachePool { pool: info, rpc: ids } | EditOp::ModifyCachePool { pool: info, rpc: ids } => {
            pool(f, info)?;
            rpc(f, ids)?;
        }
        EditOp::RemoveCachePool { pool_name, rpc: ids } => {
            text!(f, "POOLNAME", *pool_name);
            rpc(f, ids)?;
        }
        EditOp::AddErasureCodingPolicy { policy: info, rpc: ids } => {
            policy(f, info)?;
            rpc(f, ids)?;
        }
        EditOp::EnableErasureCodingPolicy { name, rpc: ids }
        | EditOp::DisableErasureCodingPolicy { name, rpc: ids }
        | EditOp::RemoveErasureCodingPolicy { name, rpc: ids } => {
            text!(f, "POLICYNAME", *name);
            rpc(f, ids)?;
        }
        EditOp::RollingUpgradeStart { time } => integer!(f, "STARTTIME", *time),
        EditOp::RollingUpgradeFinalize { time } => integer!(f, "FINALIZETIME", *time),
        other => return Err(format!("{} has no form in XML", other.name())),
    }
    Ok(())
}
