//! Reads an image into a namespace. The MD5 is computed beside it, on a thread of its own; inodes are decoded on another.

use super::decode::{Batch, Decoded};
use super::fast::PlainFile;
use super::file::{ImageFile, OpenSection};
use super::load_snapshots::{References, load_snapshots};
use super::*;
use crate::error::JournalError;
use crate::version::StorageInfo;
use md5::{Digest, Md5};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use surus_disk::{Disk, DiskFile, OpenMode};
use surus_namespace::blocks::{BlockIds, PendingTruncate};
use surus_namespace::edit_op::{AclEntry, AclEntryKind, XAttr};
use surus_namespace::image::{ImageInode, ImageKind, ImageLoader};
use surus_namespace::tree::{FileLayout, Quota};
use surus_namespace::xattr::NAMESPACES;
use surus_namespace::{Namespace, NamespaceConfig};
use surus_proto::hadoop::hdfs::fsimage::i_node_section as pb;
use surus_proto::hadoop::hdfs::fsimage::{
    ErasureCodingSection, INodeSection, NameSystemSection, StringTableSection, i_node_directory_section,
    string_table_section,
};
use surus_proto::hadoop::hdfs::{BlockProto, BlockTypeProto};
use surus_types::{Block, BlockId, FsPermission, GenerationStamp, InodeId, PermissionStatus, StorageType, TxId};

/// What an image held.
pub struct LoadedImage {
    pub namespace: Namespace,
    pub txid: TxId,
}

/// Reads an image and checks it against its MD5 and its VERSION.
///
/// # Errors
/// `Image` with section and offset, or the disk's.
pub fn load_image(
    disk: &dyn Disk,
    path: &Path,
    md5: [u8; 16],
    info: &StorageInfo,
    config: NamespaceConfig,
) -> Result<LoadedImage, JournalError> {
    let (loaded, digest) = std::thread::scope(|scope| {
        let digest = scope.spawn(|| digest(&*disk.open(path, OpenMode::Read)?));
        let loaded = ImageFile::open(disk, path).and_then(|image| Loader { image: &image, info }.load(config));
        (loaded, digest.join())
    });
    let digest = digest.map_err(|_| JournalError::Stopped("the MD5 thread panicked".to_owned()))?;
    let digest = digest.map_err(JournalError::io("reading an fsimage"))?;
    if digest == md5 {
        return loaded;
    }
    let problem = format!("its MD5 is {}, {} is stored beside it", hex(&digest), hex(&md5));
    Err(match loaded {
        Err(JournalError::Image { file, section, offset, problem: found }) => {
            JournalError::Image { file, section, offset, problem: format!("{found}; {problem}") }
        }
        _ => JournalError::Image { file: path.to_path_buf(), section: "(any)".to_owned(), offset: 0, problem },
    })
}

fn digest(file: &dyn DiskFile) -> io::Result<[u8; 16]> {
    let mut digest = Md5::new();
    let mut buffer = vec![0; (file.len()? + 1).min(1 << 20) as usize];
    let mut at = 0;
    loop {
        match file.read_at(&mut buffer, at)? {
            0 => return Ok(digest.finalize().into()),
            count => {
                digest.update(&buffer[..count]);
                at += count as u64;
            }
        }
    }
}

pub(crate) fn hex(digest: &[u8; 16]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks that an image is one of this file system, without reading what it holds. Returns its transaction.
///
/// # Errors
/// `Image` with section and offset.
pub(crate) fn check_head(image: &ImageFile, info: &StorageInfo) -> Result<TxId, JournalError> {
    Loader { image, info }.head().map(|(_, txid)| txid)
}

struct Loader<'a> {
    image: &'a ImageFile,
    info: &'a StorageInfo,
}

impl Loader<'_> {
    /// What the image says of itself, and its transaction.
    fn head(&self) -> Result<(NameSystemSection, TxId), JournalError> {
        self.check_layout()?;
        self.check_sections()?;
        let name_system = self.image.section(NS_INFO).message()?.ok_or_else(|| self.missing(NS_INFO))?;
        let txid = self.check_name_system(&name_system)?;
        Ok((name_system, txid))
    }

    fn load(&self, config: NamespaceConfig) -> Result<LoadedImage, JournalError> {
        let (name_system, txid) = self.head()?;
        let open = |name: &'static str| self.image.section(name);
        let names = Names::read(&mut open(STRING_TABLE))?;
        let references = References::read(self.image)?;
        let head: INodeSection = open(INODE).message()?.ok_or_else(|| self.missing(INODE))?;
        let last_inode_id = InodeId(head.last_inode_id());
        let mut loader = ImageLoader::new(config, last_inode_id, block_ids(&name_system));
        let mut policies = open(ERASURE_CODING);
        if let Some(section) = policies.message::<ErasureCodingSection>()? {
            erasure_coding::load(section, &mut loader).map_err(|problem| policies.error(&problem))?;
        }
        // No more than there are bytes for.
        loader.expect_inodes(head.num_inodes().min(self.image.len() / 16));
        let mut buffers = Buffers { names, blocks: Vec::new(), last_permission: None };
        std::thread::scope(|scope| {
            let batches = decode::start(scope, self.image, head.num_inodes());
            batches.into_iter().try_for_each(|batch| self.push_batch(&mut loader, &mut buffers, &batch?))
        })?;
        loader.set_cache(cache_manager::read(&mut open(CACHE_MANAGER))?);
        loader.set_secrets(secrets::read(&mut open(SECRET_MANAGER))?);
        if let Some(start_time) = name_system.rolling_upgrade_start_time {
            loader.set_rolling_upgrade(start_time as i64);
        }
        let mut directories = open(INODE_DIR);
        while let Some(entry) = directories.message::<i_node_directory_section::DirEntry>()? {
            let mut children: Vec<InodeId> = entry.children.iter().map(|id| InodeId(*id)).collect();
            for &number in &entry.ref_children {
                let child = references.get(number, &directories)?;
                let pushed = loader.push_reference(child.inode, child.reference);
                pushed.map_err(|e| directories.error(&e.to_string()))?;
                children.push(child.inode);
            }
            let pushed = loader.push_directory(InodeId(entry.parent()), children);
            pushed.map_err(|e| directories.error(&e.to_string()))?;
        }
        load_snapshots(self.image, &mut loader, &buffers.names, &references)?;
        let namespace = loader.finish().map_err(|e| self.error(INODE_DIR, 0, &e.to_string()))?;
        Ok(LoadedImage { namespace, txid })
    }

    fn push_batch(&self, loader: &mut ImageLoader, buffers: &mut Buffers, batch: &Batch) -> Result<(), JournalError> {
        let (mut names, mut blocks) = (&batch.lent.names[..], &batch.lent.blocks[..]);
        for (place, inode) in &batch.inodes {
            let pushed = match inode {
                Decoded::Plain(file) => {
                    let (name, names_left) = names.split_at(file.name);
                    let (own_blocks, blocks_left) = blocks.split_at(file.blocks);
                    (names, blocks) = (names_left, blocks_left);
                    buffers.push_plain(loader, file, name, own_blocks)
                }
                Decoded::Other(inode) => buffers.push(loader, inode),
            };
            pushed.map_err(|problem| self.error(INODE, *place, &problem))?;
        }
        Ok(())
    }

    fn check_layout(&self) -> Result<(), JournalError> {
        let (layout, expected) = (self.image.layout_version, self.info.layout_version);
        if layout == expected {
            return Ok(());
        }
        let problem = format!("the image has layout version {layout}, the directory's VERSION says {expected}");
        Err(self.error("FileSummary", 0, &problem))
    }

    /// The next image would lack what an unknown section holds.
    fn check_sections(&self) -> Result<(), JournalError> {
        match self.image.sections().iter().find(|entry| !SECTIONS.contains(&&*entry.name)) {
            Some(entry) => Err(self.error(&entry.name, entry.offset, "Unrecognized section")),
            None => Ok(()),
        }
    }

    fn check_name_system(&self, found: &NameSystemSection) -> Result<TxId, JournalError> {
        let namespace_id = found.namespace_id() as i32;
        if namespace_id != self.info.namespace_id {
            let expected = self.info.namespace_id;
            let problem = format!("the image has namespaceID {namespace_id}, the directory's VERSION says {expected}");
            return Err(self.error(NS_INFO, MAGIC.len() as u64, &problem));
        }
        Ok(TxId(found.transaction_id()))
    }

    fn missing(&self, name: &str) -> JournalError {
        self.error(name, 0, "it is missing")
    }

    fn error(&self, section: &str, offset: u64, problem: &str) -> JournalError {
        self.image.error(section, offset, problem)
    }
}

fn block_ids(section: &NameSystemSection) -> BlockIds {
    let fresh = BlockIds::default();
    let number = |id: Option<u64>, fresh: BlockId| id.map_or(fresh, |id| BlockId(id as i64));
    BlockIds {
        generation_stamp: GenerationStamp(section.genstamp_v2()),
        generation_stamp_v1: GenerationStamp(section.genstamp_v1()),
        generation_stamp_v1_limit: GenerationStamp(section.genstamp_v1_limit()),
        last_allocated_block_id: number(section.last_allocated_block_id, fresh.last_allocated_block_id),
        last_allocated_striped_block_id: number(
            section.last_allocated_striped_block_id,
            fresh.last_allocated_striped_block_id,
        ),
    }
}

/// The string table: user and group names by number.
pub(super) struct Names {
    mask_bits: u32,
    by_id: BTreeMap<u32, Arc<str>>,
}

impl Names {
    fn read(section: &mut OpenSection<'_>) -> Result<Names, JournalError> {
        let head: StringTableSection = section.message()?.ok_or_else(|| section.error("it is missing"))?;
        let mask_bits = head.mask_bits();
        if mask_bits > 8 {
            return Err(section.error(&format!("mask bits {mask_bits} are impossible")));
        }
        let mut by_id = BTreeMap::new();
        while let Some(entry) = section.message::<string_table_section::Entry>()? {
            by_id.insert(entry.id(), Arc::from(entry.str()));
        }
        Ok(Names { mask_bits, by_id })
    }

    fn get(&self, table: u32, number: u32) -> Result<Arc<str>, String> {
        let id = if self.mask_bits == 0 { number } else { table << (32 - self.mask_bits) | number };
        // Number 0 stands for no name at all.
        match self.by_id.get(&id) {
            Some(name) => Ok(Arc::clone(name)),
            None if number == 0 => Ok(Arc::from("")),
            None => Err(format!("name {number} is not in the string table")),
        }
    }

    pub(super) fn permission(&self, bits: u64) -> Result<PermissionStatus, String> {
        Ok(PermissionStatus {
            user: self.get(USER_TABLE, (bits >> 40) as u32)?,
            group: self.get(GROUP_TABLE, (bits >> 16 & 0xFF_FFFF) as u32)?,
            permission: FsPermission(bits as u16),
        })
    }
}

impl Names {
    /// Source: `AclEntryStatusFormat.java`, `XAttrFormat.java`, Hadoop 3.5.0.
    pub(super) fn features(
        &self,
        acl: Option<&pb::AclFeatureProto>,
        xattrs: Option<&pb::XAttrFeatureProto>,
    ) -> Result<(Vec<AclEntry>, Vec<XAttr>), String> {
        let entry = |word: &u32| -> Result<AclEntry, String> {
            let (kind, table) = match word >> 3 & 3 {
                0 => (AclEntryKind::User, USER_TABLE),
                1 => (AclEntryKind::Group, GROUP_TABLE),
                2 => (AclEntryKind::Mask, USER_TABLE),
                _ => (AclEntryKind::Other, USER_TABLE),
            };
            let name = self.get(table, word >> 6 & 0xFF_FFFF)?;
            let name = Some(name).filter(|name| !name.is_empty());
            Ok(AclEntry { is_default: word >> 5 & 1 == 1, kind, name, permission: (word & 7) as u8 })
        };
        let xattr = |compact: &pb::XAttrCompactProto| -> Result<XAttr, String> {
            let word = compact.name;
            let namespace = (word >> 30 | (word >> 5 & 1) << 2) as u8;
            if usize::from(namespace) >= NAMESPACES.len() {
                return Err(format!("namespace {namespace} of an extended attribute is unknown"));
            }
            let name = self.get(XATTR_TABLE, word >> 6 & 0xFF_FFFF)?;
            Ok(XAttr { namespace, name: (*name).into(), value: compact.value.clone() })
        };
        Ok((
            acl.into_iter().flat_map(|acl| &acl.entries).map(entry).collect::<Result<_, _>>()?,
            xattrs.into_iter().flat_map(|list| &list.x_attrs).map(xattr).collect::<Result<_, _>>()?,
        ))
    }
}

/// A number that is not positive is no quota. Source: `FSImageFormatPBINode.loadINodeDirectory`, Hadoop 3.5.0.
pub(super) fn quota(directory: &pb::INodeDirectory) -> Result<Quota, String> {
    let number = |bits: Option<u64>| bits.map_or(-1, |bits| (bits as i64).max(-1));
    let mut quota = Quota { names: number(directory.ns_quota), space: number(directory.ds_quota), ..Quota::NONE };
    for entry in directory.type_quotas.iter().flat_map(|list| &list.quotas) {
        let number = entry.storage_type;
        let kind = StorageType::from_proto(number).ok_or_else(|| format!("a quota on storage type {number}"))?;
        quota.types.set(kind, (entry.quota as i64).max(-1));
    }
    Ok(quota)
}

struct Buffers {
    names: Names,
    blocks: Vec<Block>,
    /// The last permission's bits and what they mean: nearly all inodes share them.
    last_permission: Option<(u64, PermissionStatus)>,
}

impl Buffers {
    fn push_plain(
        &mut self,
        loader: &mut ImageLoader,
        file: &PlainFile,
        name: &[u8],
        blocks: &[Block],
    ) -> Result<(), String> {
        let permission = match &self.last_permission {
            Some((bits, status)) if *bits == file.permission => status,
            _ => {
                let status = self.names.permission(file.permission)?;
                &self.last_permission.insert((file.permission, status)).1
            }
        };
        let layout = FileLayout {
            preferred_block_size: file.preferred_block_size,
            replication: u16::try_from(file.replication).map_err(|_| "replication is out of range")?,
            storage_policy: file.storage_policy as u8,
            erasure_coding_policy: 0,
        };
        let inode = ImageInode {
            id: InodeId(file.id),
            name,
            permission,
            modification_time: file.modification_time,
            access_time: file.access_time,
            acl: &[],
            xattrs: &[],
            kind: ImageKind::File { layout, blocks, under_construction: None },
        };
        loader.push_inode(&inode).map_err(|e| e.to_string())
    }

    fn push(&mut self, loader: &mut ImageLoader, inode: &pb::INode) -> Result<(), String> {
        let id = InodeId(inode.id);
        let (mut acl, mut xattrs) = (Vec::new(), Vec::new());
        let mut truncate = None;
        let (permission, times, kind) = if let Some(file) = &inode.file {
            (acl, xattrs) = self.names.features(file.acl.as_ref(), file.x_attrs.as_ref())?;
            // Block groups are kept as they are; who asks for their data is refused. An open one would be recovered as a block.
            if file.block_type() != BlockTypeProto::Contiguous && !file.blocks.is_empty() {
                if file.erasure_coding_policy_id() == 0 {
                    return Err(format!("inode {id} has block groups and no erasure coding policy"));
                }
                if file.file_uc.is_some() {
                    return Err(format!(
                        "inode {id} is an erasure-coded file that is being written, which this version cannot go on with: \
                         close it under Hadoop, or let its lease end there, and save the namespace"
                    ));
                }
            }
            self.blocks.clear();
            self.blocks.extend(file.blocks.iter().map(block));
            let replication = if file.erasure_coding_policy_id() != 0 { 1 } else { file.replication() };
            let layout = FileLayout {
                preferred_block_size: file.preferred_block_size(),
                replication: u16::try_from(replication).map_err(|_| "replication is out of range")?,
                storage_policy: file.storage_policy_id() as u8,
                erasure_coding_policy: file.erasure_coding_policy_id() as u8,
            };
            truncate = file.file_uc.as_ref().and_then(|uc| uc.truncate.as_ref());
            let under_construction = file.file_uc.as_ref().map(|uc| (uc.client_name(), uc.client_machine()));
            let kind = ImageKind::File { layout, blocks: &self.blocks, under_construction };
            (file.permission(), (file.modification_time(), file.access_time()), kind)
        } else if let Some(directory) = &inode.directory {
            (acl, xattrs) = self.names.features(directory.acl.as_ref(), directory.x_attrs.as_ref())?;
            let kind = ImageKind::Directory { quota: quota(directory)? };
            (directory.permission(), (directory.modification_time(), 0), kind)
        } else if let Some(link) = &inode.symlink {
            let kind = ImageKind::Symlink { target: link.target() };
            (link.permission(), (link.modification_time(), link.access_time()), kind)
        } else {
            return Err(format!("inode {id} is neither file nor directory nor symlink"));
        };
        let permission = self.names.permission(permission)?;
        let (modification_time, access_time) = (times.0 as i64, times.1 as i64);
        let name = inode.name();
        let inode = ImageInode {
            id,
            name,
            permission: &permission,
            modification_time,
            access_time,
            acl: &acl,
            xattrs: &xattrs,
            kind,
        };
        loader.push_inode(&inode).map_err(|e| e.to_string())?;
        match truncate {
            Some(truncate) => loader.push_truncate(id, pending_truncate(id, truncate)?).map_err(|e| e.to_string()),
            None => Ok(()),
        }
    }
}

fn pending_truncate(id: InodeId, message: &pb::PendingTruncateProto) -> Result<PendingTruncate, String> {
    let to = message.to.as_ref().ok_or_else(|| format!("inode {id} has a truncate to nothing"))?;
    Ok(PendingTruncate { to: block(to), source: message.source.as_ref().map(block) })
}

pub(super) fn block(block: &BlockProto) -> Block {
    Block {
        id: BlockId(block.block_id as i64),
        generation_stamp: GenerationStamp(block.gen_stamp),
        num_bytes: block.num_bytes(),
    }
}
