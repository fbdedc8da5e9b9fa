//! Writes an image from a frozen namespace, straight from its tables.

use super::encode::*;
use super::save_snapshots::{References, write_snapshots};
use super::*;
use md5::{Digest, Md5};
use prost::Message;
use std::collections::BTreeMap;
use std::io;
use surus_disk::DiskFile;
use surus_namespace::blocks::PendingTruncate;
use surus_namespace::edit_op::AclEntryKind;
use surus_namespace::image::FrozenImage;
use surus_namespace::tree::{InodeKind, InodeView, Reference};
use surus_proto::hadoop::hdfs::fsimage::{FileSummary, NameSystemSection, file_summary};
use surus_types::{Block, STORAGE_TYPES, TxId, TypeSpaces};

use crate::version::StorageInfo;

/// Written in such pieces.
const BUFFER_BYTES: usize = 1 << 20;

/// `FileUnderConstructionFeature.truncate`, which Hadoop lacks.
const TRUNCATE_FIELD: u32 = 1000;

/// Names in a table of the image, one more than there may be.
const NAMES_MAX: usize = 1 << 24;

/// How images are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageOptions {
    /// `dfs.image.compress` and `dfs.image.compression.codec`.
    pub codec: Codec,
    /// `dfs.image.parallel.target.sections`: into how many parts the sections of inodes and directories are cut, so that
    /// Hadoop loads them in parallel. 0 (`dfs.image.parallel.load` is off): they are not cut.
    pub parallel_sections: u64,
    /// `dfs.image.parallel.inode.threshold`: images with fewer inodes are not cut.
    pub parallel_inode_threshold: u64,
}

impl Default for ImageOptions {
    fn default() -> Self {
        ImageOptions { codec: Codec::None, parallel_sections: 0, parallel_inode_threshold: 1_000_000 }
    }
}

/// Writes the image to an empty file and gives its MD5. The caller syncs.
pub(crate) fn write_image(
    file: &dyn DiskFile,
    image: &FrozenImage,
    txid: TxId,
    info: &StorageInfo,
    options: ImageOptions,
) -> io::Result<[u8; 16]> {
    let mut writer = Writer::start(file, image.num_inodes(), options)?;

    put_delimited(&mut writer.buffer, &name_system(image, txid, info).encode_to_vec());
    writer.end_section(NS_INFO)?;
    writer.raw_section(ERASURE_CODING, &erasure_coding::encode(image.ec_policies()))?;
    let mut strings = Strings::default();
    write_inodes(&mut writer, image, &mut strings)?;
    let mut references = References::default();
    write_directories(&mut writer, image, &mut references)?;
    let mut message = Vec::new();
    for (inode, path) in image.files_under_construction() {
        message.clear();
        put_u64(&mut message, 1, inode.id().0);
        put_bytes(&mut message, 2, path.as_bytes());
        put_delimited(&mut writer.buffer, &message);
        writer.flush_if_full()?;
    }
    writer.end_section(FILES_UNDERCONSTRUCTION)?;
    write_snapshots(&mut writer, image, &mut strings, &mut references)?;
    secrets::put(&mut writer.buffer, &image.secrets);
    writer.end_section(SECRET_MANAGER)?;
    cache_manager::put(&mut writer.buffer, &image.cache);
    writer.end_section(CACHE_MANAGER)?;
    strings.write(&mut writer.buffer)?;
    writer.end_section(STRING_TABLE)?;
    writer.finish(info.layout_version)
}

fn name_system(image: &FrozenImage, txid: TxId, info: &StorageInfo) -> NameSystemSection {
    NameSystemSection {
        namespace_id: Some(info.namespace_id as u32),
        genstamp_v1: Some(image.ids.generation_stamp_v1.0),
        genstamp_v2: Some(image.ids.generation_stamp.0),
        genstamp_v1_limit: Some(image.ids.generation_stamp_v1_limit.0),
        last_allocated_block_id: Some(image.ids.last_allocated_block_id.0 as u64),
        transaction_id: Some(txid.0),
        rolling_upgrade_start_time: image.rolling_upgrade.map(|upgrade| upgrade.start_time as u64),
        last_allocated_striped_block_id: Some(image.ids.last_allocated_striped_block_id.0 as u64),
    }
}

fn write_inodes(writer: &mut Writer<'_>, image: &FrozenImage, strings: &mut Strings) -> io::Result<()> {
    let (mut inner, mut outer, mut block) = (Vec::new(), Vec::new(), Vec::new());
    put_u64(&mut outer, 1, image.last_inode_id.0);
    put_u64(&mut outer, 2, image.num_inodes());
    put_delimited(&mut writer.buffer, &outer);
    let mut count = 0;
    for inode in image.inodes() {
        inner.clear();
        let (kind, field) = match inode.kind() {
            InodeKind::File => {
                put_file(&mut inner, &mut block, image, inode, strings);
                (1, 4)
            }
            InodeKind::Directory => {
                put_directory(&mut inner, inode, strings.permission(inode));
                put_features(&mut inner, &mut block, inode, strings, (5, 6));
                (2, 5)
            }
            InodeKind::Symlink => {
                put_fixed64(&mut inner, 1, strings.permission(inode));
                put_bytes(&mut inner, 2, inode.symlink_target());
                put_u64(&mut inner, 3, inode.modification_time() as u64);
                put_u64(&mut inner, 4, inode.access_time() as u64);
                (3, 6)
            }
        };
        outer.clear();
        put_u64(&mut outer, 1, kind);
        put_u64(&mut outer, 2, inode.id().0);
        put_bytes(&mut outer, 3, inode.name());
        put_bytes(&mut outer, field, &inner);
        put_delimited(&mut writer.buffer, &outer);
        writer.flush_if_full()?;
        count += 1;
        writer.end_part_if(count, INODE_SUB)?;
    }
    assert_eq!(count, image.num_inodes(), "the image names its number of inodes");
    writer.end_part(INODE_SUB)?;
    writer.end_section(INODE)
}

fn put_file(
    out: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
    image: &FrozenImage,
    inode: InodeView<'_>,
    strings: &mut Strings,
) {
    let layout = inode.layout();
    let is_striped = layout.is_erasure_coded();
    if !is_striped {
        put_u64(out, 1, u64::from(layout.replication));
    }
    put_u64(out, 2, inode.modification_time() as u64);
    put_u64(out, 3, inode.access_time() as u64);
    put_u64(out, 4, layout.preferred_block_size);
    put_fixed64(out, 5, strings.permission(inode));
    for handle in inode.blocks() {
        let block = image.block(*handle);
        scratch.clear();
        put_block(scratch, block);
        put_bytes(out, 6, scratch);
    }
    if let Some(writer) = inode.under_construction() {
        scratch.clear();
        put_bytes(scratch, 1, writer.client_name.as_bytes());
        put_bytes(scratch, 2, writer.client_machine.as_bytes());
        if let Some(truncate) = image.pending_truncate(inode) {
            put_truncate(scratch, truncate);
        }
        put_bytes(out, 7, scratch);
    }
    put_features(out, scratch, inode, strings, (8, 9));
    put_u64(out, 10, u64::from(layout.storage_policy));
    put_u64(out, 11, u64::from(is_striped));
    if is_striped {
        put_u64(out, 12, u64::from(layout.erasure_coding_policy));
    }
}

pub(super) fn put_block(out: &mut Vec<u8>, block: Block) {
    put_u64(out, 1, block.id.0 as u64);
    put_u64(out, 2, block.generation_stamp.0);
    put_u64(out, 3, block.num_bytes);
}

/// Surus's own field: without it a restart would forget the block that is copied from.
fn put_truncate(out: &mut Vec<u8>, truncate: &PendingTruncate) {
    let (mut message, mut block) = (Vec::new(), Vec::new());
    for (field, form) in [(1, Some(truncate.to)), (2, truncate.source)] {
        if let Some(form) = form {
            block.clear();
            put_block(&mut block, form);
            put_bytes(&mut message, field, &block);
        }
    }
    put_bytes(out, TRUNCATE_FIELD, &message);
}

/// The attributes of a file in a snapshot; features come behind them.
pub(super) fn put_file_attributes(out: &mut Vec<u8>, inode: InodeView<'_>, permission: u64) {
    let layout = inode.layout();
    let is_striped = layout.is_erasure_coded();
    if !is_striped {
        put_u64(out, 1, u64::from(layout.replication));
    }
    put_u64(out, 2, inode.modification_time() as u64);
    put_u64(out, 3, inode.access_time() as u64);
    put_u64(out, 4, layout.preferred_block_size);
    put_fixed64(out, 5, permission);
    put_u64(out, 10, u64::from(layout.storage_policy));
    put_u64(out, 11, u64::from(is_striped));
    if is_striped {
        put_u64(out, 12, u64::from(layout.erasure_coding_policy));
    }
}

/// ACL and extended attributes, as the fields of these numbers.
/// Source: `AclEntryStatusFormat.java`, `XAttrFormat.java`, Hadoop 3.5.0.
pub(super) fn put_features(
    out: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
    inode: InodeView<'_>,
    strings: &mut Strings,
    (acl_field, xattrs_field): (u32, u32),
) {
    if inode.has_acl() {
        let mut words = Vec::new();
        for entry in inode.acl() {
            let name = entry.name.map_or(0, |name| match entry.kind {
                AclEntryKind::Group => number(&mut strings.groups, name),
                _ => number(&mut strings.users, name),
            });
            let scope = u32::from(entry.is_default) << 5;
            let word = name << 6 | scope | (entry.kind as u32) << 3 | u32::from(entry.permission.0);
            words.extend_from_slice(&word.to_le_bytes());
        }
        scratch.clear();
        put_bytes(scratch, 2, &words);
        put_bytes(out, acl_field, scratch);
    }
    let mut xattrs = inode.xattrs().peekable();
    if xattrs.peek().is_none() {
        return;
    }
    scratch.clear();
    let mut xattr = Vec::new();
    for x in xattrs {
        let namespace = u32::from(x.namespace);
        let word = (namespace & 3) << 30 | number(&mut strings.xattrs, x.name) << 6 | (namespace >> 2) << 5;
        xattr.clear();
        put_fixed32(&mut xattr, 1, word);
        if !x.value.is_empty() {
            put_bytes(&mut xattr, 2, x.value);
        }
        put_bytes(scratch, 1, &xattr);
    }
    put_bytes(out, xattrs_field, scratch);
}

/// No quota: -1, but for the root's number of names. Source: `DirectoryWithQuotaFeature.java`,
/// `FSImageFormatPBINode.buildINodeDirectory`, Hadoop 3.5.0.
pub(super) fn put_directory(out: &mut Vec<u8>, inode: InodeView<'_>, permission: u64) {
    let quota = inode.quota_shown();
    put_u64(out, 1, inode.modification_time() as u64);
    put_u64(out, 2, quota.names as u64);
    put_u64(out, 3, quota.space as u64);
    put_fixed64(out, 4, permission);
    put_type_quotas(out, &quota.types);
}

/// Transient types are never written, though they can have a quota.
fn put_type_quotas(out: &mut Vec<u8>, quotas: &TypeSpaces) {
    if STORAGE_TYPES.into_iter().all(|t| quotas.get(t) < 0) {
        return;
    }
    let (mut list, mut entry) = (Vec::new(), Vec::new());
    for storage_type in STORAGE_TYPES.into_iter().filter(|t| !t.is_transient() && quotas.get(*t) >= 0) {
        entry.clear();
        put_u64(&mut entry, 1, storage_type as u64);
        put_u64(&mut entry, 2, quotas.get(storage_type) as u64);
        put_bytes(&mut list, 1, &entry);
    }
    put_bytes(out, 7, &list);
}

fn write_directories(writer: &mut Writer<'_>, image: &FrozenImage, references: &mut References) -> io::Result<()> {
    let (mut message, mut children, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let mut children_count = 0;
    for (directory, handles) in image.directories() {
        children.clear();
        numbers.clear();
        for handle in handles {
            let child = image.inode(handle);
            match child.reference() {
                Reference::None => put_varint(&mut children, child.id().0),
                reference => {
                    let number = references.add(child.id().0, child.name(), reference);
                    put_varint(&mut numbers, u64::from(number));
                }
            }
            children_count += 1;
        }
        message.clear();
        put_u64(&mut message, 1, directory.id().0);
        if !children.is_empty() {
            put_bytes(&mut message, 2, &children);
        }
        if !numbers.is_empty() {
            put_bytes(&mut message, 3, &numbers);
        }
        put_delimited(&mut writer.buffer, &message);
        writer.flush_if_full()?;
        if children_count >= writer.part_inodes {
            children_count = 0;
            writer.end_part(INODE_DIR_SUB)?;
        }
    }
    writer.end_part(INODE_DIR_SUB)?;
    writer.end_section(INODE_DIR)
}

/// Names of users, groups and extended attributes, numbered from 1 in each table.
#[derive(Default)]
pub(super) struct Strings {
    users: BTreeMap<Box<str>, u32>,
    groups: BTreeMap<Box<str>, u32>,
    xattrs: BTreeMap<Box<str>, u32>,
    /// The last names and what became of them: nearly all inodes share them.
    last: Option<(std::sync::Arc<str>, std::sync::Arc<str>, u64)>,
}

impl Strings {
    /// User 24 bits, group 24 bits, mode 16 bits.
    pub(super) fn permission(&mut self, inode: InodeView<'_>) -> u64 {
        let mode = u64::from(inode.permission().0);
        let (user, group) = (inode.user(), inode.group());
        if let Some((last_user, last_group, ids)) = &self.last
            && *last_user == *user
            && *last_group == *group
        {
            return ids | mode;
        }
        let ids = u64::from(number(&mut self.users, user)) << 40 | u64::from(number(&mut self.groups, group)) << 16;
        self.last = Some((user.clone(), group.clone(), ids));
        ids | mode
    }

    /// Fails when a table has more names than the 24 bits of a permission can tell apart: the image would be wrong.
    fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let mut message = Vec::new();
        put_u64(&mut message, 1, (self.users.len() + self.groups.len() + self.xattrs.len()) as u64);
        put_u64(&mut message, 2, u64::from(STRING_MASK_BITS));
        put_delimited(out, &message);
        let tables = [(USER_TABLE, &self.users), (GROUP_TABLE, &self.groups), (XATTR_TABLE, &self.xattrs)];
        for (table, names) in tables {
            if names.len() >= NAMES_MAX {
                let text =
                    format!("{} user, group or attribute names: an image holds {NAMES_MAX} of a kind", names.len());
                return Err(io::Error::other(text));
            }
            for (name, number) in names {
                message.clear();
                put_u64(&mut message, 1, u64::from(table << (32 - STRING_MASK_BITS) | number));
                put_bytes(&mut message, 2, name.as_bytes());
                put_delimited(out, &message);
            }
        }
        Ok(())
    }
}

fn number(names: &mut BTreeMap<Box<str>, u32>, name: &str) -> u32 {
    if let Some(number) = names.get(name) {
        return *number;
    }
    let number = names.len() as u32 + 1;
    names.insert(name.into(), number);
    number
}

pub(super) struct Writer<'a> {
    file: &'a dyn DiskFile,
    codec: Codec,
    /// How much of the image is in the file; the buffer comes behind it.
    position: u64,
    /// What comes next, not compressed yet.
    pub(super) buffer: Vec<u8>,
    packed: Vec<u8>,
    digest: Md5,
    section_start: u64,
    part_start: u64,
    /// A part of a section ends after so many inodes; `u64::MAX`: sections are not cut.
    part_inodes: u64,
    sections: Vec<file_summary::Section>,
}

impl<'a> Writer<'a> {
    fn start(file: &'a dyn DiskFile, num_inodes: u64, options: ImageOptions) -> io::Result<Writer<'a>> {
        let is_cut = options.parallel_sections > 0 && num_inodes >= options.parallel_inode_threshold;
        let part_inodes = if is_cut { (num_inodes / options.parallel_sections).max(1) } else { u64::MAX };
        let mut writer = Writer {
            file,
            codec: options.codec,
            position: 0,
            buffer: Vec::new(),
            packed: Vec::new(),
            digest: Md5::new(),
            section_start: 0,
            part_start: 0,
            part_inodes,
            sections: Vec::new(),
        };
        writer.append(MAGIC)?;
        (writer.section_start, writer.part_start) = (writer.position, writer.position);
        Ok(writer)
    }

    pub(super) fn raw_section(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        self.end_section(name)
    }

    pub(super) fn end_section(&mut self, name: &str) -> io::Result<()> {
        let start = self.section_start;
        self.note(name, start)?;
        (self.section_start, self.part_start) = (self.end(), self.end());
        self.flush_if_full()
    }

    /// Ends a part of a section after `count` inodes, where one ends there.
    fn end_part_if(&mut self, count: u64, name: &str) -> io::Result<()> {
        if count.is_multiple_of(self.part_inodes) { self.end_part(name) } else { Ok(()) }
    }

    /// Notes what was written since the last part ended, if sections are cut and there is anything.
    fn end_part(&mut self, name: &str) -> io::Result<()> {
        if self.part_inodes == u64::MAX || self.part_start == self.end() {
            return Ok(());
        }
        let start = self.part_start;
        self.note(name, start)?;
        self.part_start = self.end();
        Ok(())
    }

    fn note(&mut self, name: &str, start: u64) -> io::Result<()> {
        if self.codec != Codec::None {
            // A compressed stream ends where a section ends.
            self.flush()?;
        }
        self.sections.push(file_summary::Section {
            name: Some(name.to_owned()),
            length: Some(self.end() - start),
            offset: Some(start),
        });
        Ok(())
    }

    fn end(&self) -> u64 {
        self.position + self.buffer.len() as u64
    }

    pub(super) fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        if self.codec == Codec::None || buffer.is_empty() {
            self.append(&buffer)?;
        } else {
            let mut packed = std::mem::take(&mut self.packed);
            packed.clear();
            self.codec.compress(&buffer, &mut packed)?;
            self.append(&packed)?;
            self.packed = packed;
        }
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.position)?;
        self.digest.update(bytes);
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn finish(mut self, layout_version: i32) -> io::Result<[u8; 16]> {
        self.flush()?;
        let summary = FileSummary {
            ondisk_version: ON_DISK_VERSION,
            layout_version: layout_version as u32,
            codec: self.codec.class(),
            sections: std::mem::take(&mut self.sections),
        };
        let mut tail = Vec::new();
        put_delimited(&mut tail, &summary.encode_to_vec());
        let size = tail.len() as u32;
        tail.extend_from_slice(&size.to_be_bytes());
        self.append(&tail)?;
        Ok(self.digest.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;
    use surus_namespace::edit_op::{AddClose, EditOp};
    use surus_namespace::{Namespace, NamespaceConfig};
    use surus_proto::hadoop::hdfs::BlockTypeProto;
    use surus_proto::hadoop::hdfs::fsimage::i_node_section::INodeFile;
    use surus_types::{FsPermission, InodeId, PermissionStatus, RpcIds, TxId};

    #[test]
    fn a_snapshots_copy_keeps_the_erasure_coding_policy() {
        let mut namespace = Namespace::new(NamespaceConfig::default());
        let file = AddClose {
            inode_id: InodeId(16_386),
            path: "/f".into(),
            replication: 1,
            mtime: 7,
            atime: 8,
            block_size: 1 << 20,
            blocks: Vec::new(),
            permission: PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o644) },
            acl: Vec::new(),
            xattrs: Vec::new(),
            client_name: "c".into(),
            client_machine: "m".into(),
            overwrite: false,
            storage_policy_id: 0,
            erasure_coding_policy_id: 1,
            rpc: RpcIds::NONE,
        };
        namespace.apply(&EditOp::Add(Box::new(file)), TxId(1)).unwrap();
        let handle = namespace.tree.lookup("/f").unwrap();
        let mut out = Vec::new();
        put_file_attributes(&mut out, namespace.tree.inode(handle), 0);
        let written = INodeFile::decode(&*out).unwrap();
        assert_eq!((written.replication, written.erasure_coding_policy_id), (None, Some(1)));
        assert_eq!(written.block_type(), BlockTypeProto::Striped);
    }
}
