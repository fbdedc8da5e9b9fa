//! Reads the sections on snapshots into the loader.
//! Source: `FSImageFormatPBSnapshot.java`, Hadoop 3.5.0.

use super::file::{ImageFile, OpenSection};
use super::load::{Names, block, quota};
use super::{INODE_REFERENCE, SNAPSHOT, SNAPSHOT_DIFF};
use crate::error::JournalError;
use surus_namespace::image::ImageLoader;
use surus_namespace::image_snapshots::{ImageDeleted, ImageDiff, ImageDiffBody};
use surus_namespace::tree::{FileLayout, PastAttributes, Quota, Reference};
use surus_proto::hadoop::hdfs::fsimage::i_node_section as pb;
use surus_proto::hadoop::hdfs::fsimage::snapshot_diff_section::diff_entry::Type;
use surus_proto::hadoop::hdfs::fsimage::snapshot_diff_section::{CreatedListEntry, DiffEntry, DirectoryDiff, FileDiff};
use surus_proto::hadoop::hdfs::fsimage::{SnapshotSection, i_node_reference_section, snapshot_section};
use surus_types::InodeId;

/// The section of references, by number.
pub(super) struct References(Vec<ImageDeleted>);

impl References {
    pub(super) fn read(image: &ImageFile) -> Result<References, JournalError> {
        let mut section = image.section(INODE_REFERENCE);
        let mut all = Vec::new();
        while let Some(message) = section.message::<i_node_reference_section::INodeReference>()? {
            let reference = match message.dst_snapshot_id {
                Some(snapshot) => Reference::Destination(snapshot),
                None => Reference::WithName(message.last_snapshot_id()),
            };
            let name = message.name.as_ref().filter(|_| message.dst_snapshot_id.is_none()).map(|name| name[..].into());
            all.push(ImageDeleted { inode: InodeId(message.referred_id()), name, reference });
        }
        Ok(References(all))
    }

    pub(super) fn get(&self, number: u32, section: &OpenSection<'_>) -> Result<&ImageDeleted, JournalError> {
        let problem = || section.error(&format!("reference {number} is not in the section of references"));
        self.0.get(number as usize).ok_or_else(problem)
    }
}

/// The sections SNAPSHOT and SNAPSHOT_DIFF, after those of inodes and directories.
pub(super) fn load_snapshots(
    image: &ImageFile,
    loader: &mut ImageLoader,
    names: &Names,
    references: &References,
) -> Result<(), JournalError> {
    let mut section = image.section(SNAPSHOT);
    let Some(head) = section.message::<SnapshotSection>()? else { return Ok(()) };
    loader.set_snapshot_counter(head.snapshot_counter());
    for &directory in &head.snapshottable_dir {
        loader.push_snapshottable(InodeId(directory)).map_err(|e| section.error(&e.to_string()))?;
    }
    for _ in 0..head.num_snapshots() {
        let snapshot: snapshot_section::Snapshot = section.expect()?;
        let root = snapshot.root.as_ref().ok_or_else(|| section.error("a snapshot has no root"))?;
        let directory = root.directory.as_ref().ok_or_else(|| section.error("a snapshot is of no directory"))?;
        let attributes = directory_attributes(root.name(), directory, names).map_err(|e| section.error(&e))?;
        let name = std::str::from_utf8(root.name()).map_err(|_| section.error("a snapshot's name is no text"))?;
        let pushed = loader.push_snapshot(InodeId(root.id), snapshot.snapshot_id(), name, attributes);
        pushed.map_err(|e| section.error(&e.to_string()))?;
    }
    let mut section = image.section(SNAPSHOT_DIFF);
    while let Some(entry) = section.message::<DiffEntry>()? {
        for _ in 0..entry.num_of_diff() {
            let diff = match entry.r#type() {
                Type::Directorydiff => directory_diff(&mut section, names, references)?,
                Type::Filediff => file_diff(&mut section, names)?,
            };
            let pushed = loader.push_diff(InodeId(entry.inode_id()), diff);
            pushed.map_err(|e| section.error(&e.to_string()))?;
        }
    }
    Ok(())
}

fn directory_diff(
    section: &mut OpenSection<'_>,
    names: &Names,
    references: &References,
) -> Result<ImageDiff, JournalError> {
    let message: DirectoryDiff = section.expect()?;
    let copy = message.snapshot_copy.as_ref().map(|copy| directory_attributes(message.name(), copy, names));
    let copy = copy.transpose().map_err(|e| section.error(&e))?;
    let mut created = Vec::new();
    for _ in 0..message.created_list_size() {
        let entry: CreatedListEntry = section.expect()?;
        created.push(entry.name()[..].into());
    }
    let plain = |&id: &u64| ImageDeleted { inode: InodeId(id), name: None, reference: Reference::None };
    let mut deleted: Vec<ImageDeleted> = message.deleted_i_node.iter().map(plain).collect();
    for &number in &message.deleted_i_node_ref {
        deleted.push(references.get(number, section)?.clone());
    }
    let (child_count, is_root) = (message.children_size(), message.is_snapshot_root());
    let body = ImageDiffBody::Directory { child_count, is_root, created, deleted };
    Ok(ImageDiff { snapshot: message.snapshot_id(), copy, body })
}

fn file_diff(section: &mut OpenSection<'_>, names: &Names) -> Result<ImageDiff, JournalError> {
    let message: FileDiff = section.expect()?;
    let copy = message.snapshot_copy.as_ref().map(|copy| file_attributes(message.name(), copy, names));
    let copy = copy.transpose().map_err(|e| section.error(&e))?;
    let blocks = message.blocks.iter().map(block).collect();
    let body = ImageDiffBody::File { length: message.file_size(), blocks };
    Ok(ImageDiff { snapshot: message.snapshot_id(), copy, body })
}

fn directory_attributes(name: &[u8], directory: &pb::INodeDirectory, names: &Names) -> Result<PastAttributes, String> {
    let (acl, xattrs) = names.features(directory.acl.as_ref(), directory.x_attrs.as_ref())?;
    Ok(PastAttributes {
        name: name.into(),
        permission: names.permission(directory.permission())?,
        modification_time: directory.modification_time() as i64,
        access_time: 0,
        layout: FileLayout::default(),
        quota: quota(directory)?,
        acl,
        xattrs,
    })
}

fn file_attributes(name: &[u8], file: &pb::INodeFile, names: &Names) -> Result<PastAttributes, String> {
    let (acl, xattrs) = names.features(file.acl.as_ref(), file.x_attrs.as_ref())?;
    let replication = if file.erasure_coding_policy_id() != 0 { 1 } else { file.replication() };
    Ok(PastAttributes {
        name: name.into(),
        permission: names.permission(file.permission())?,
        modification_time: file.modification_time() as i64,
        access_time: file.access_time() as i64,
        layout: FileLayout {
            preferred_block_size: file.preferred_block_size(),
            replication: u16::try_from(replication).map_err(|_| "replication is out of range")?,
            storage_policy: file.storage_policy_id() as u8,
            erasure_coding_policy: file.erasure_coding_policy_id() as u8,
        },
        quota: Quota::NONE,
        acl,
        xattrs,
    })
}
