//! Writes the sections on snapshots: which there are, what changed since each, and the references of renamed inodes.
//! Source: `FSImageFormatPBSnapshot.java`, Hadoop 3.5.0.

use super::encode::*;
use super::save::{Strings, Writer, put_block, put_directory, put_features, put_file_attributes};
use super::{INODE_REFERENCE, SNAPSHOT, SNAPSHOT_DIFF};
use std::io;
use surus_namespace::image::FrozenImage;
use surus_namespace::tree::{Deleted, DiffBodyView, DiffView, InodeView, Reference};

/// The references met so far: entries of directories and of deleted lists name them by their place in this list.
#[derive(Default)]
pub(super) struct References {
    /// Messages of the section.
    encoded: Vec<u8>,
    count: u32,
}

impl References {
    /// The number of a new reference.
    pub(super) fn add(&mut self, id: u64, name: &[u8], reference: Reference) -> u32 {
        let mut message = Vec::new();
        put_u64(&mut message, 1, id);
        match reference {
            Reference::WithName(last) => {
                put_bytes(&mut message, 2, name);
                put_u64(&mut message, 4, u64::from(last));
            }
            Reference::Destination(snapshot) => put_u64(&mut message, 3, u64::from(snapshot)),
            Reference::None => {}
        }
        put_delimited(&mut self.encoded, &message);
        self.count += 1;
        self.count - 1
    }
}

pub(super) fn write_snapshots(
    writer: &mut Writer<'_>,
    image: &FrozenImage,
    strings: &mut Strings,
    references: &mut References,
) -> io::Result<()> {
    let (counter, live) = image.snapshot_numbers();
    let (mut message, mut inner, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    put_u64(&mut message, 1, u64::from(counter));
    let mut ids = Vec::new();
    for directory in image.snapshottable_directories() {
        put_varint(&mut ids, directory.id().0);
    }
    if !ids.is_empty() {
        put_bytes(&mut message, 2, &ids);
    }
    put_u64(&mut message, 3, live as u64);
    put_delimited(&mut writer.buffer, &message);
    for directory in image.snapshottable_directories() {
        for snapshot in directory.snapshottable().map_or(&[][..], |s| &s.snapshots) {
            let root = image.snapshot_root(directory, snapshot.id);
            inner.clear();
            put_directory(&mut inner, root, strings.permission(root));
            put_features(&mut inner, &mut scratch, root, strings, (5, 6));
            let mut inode = Vec::new();
            put_u64(&mut inode, 1, 2);
            put_u64(&mut inode, 2, root.id().0);
            put_bytes(&mut inode, 3, snapshot.name.as_bytes());
            put_bytes(&mut inode, 5, &inner);
            message.clear();
            put_u64(&mut message, 1, u64::from(snapshot.id));
            put_bytes(&mut message, 2, &inode);
            put_delimited(&mut writer.buffer, &message);
            writer.flush_if_full()?;
        }
    }
    writer.end_section(SNAPSHOT)?;
    if live > 0 {
        for inode in image.inodes() {
            write_diffs(writer, image, inode, strings, references)?;
        }
        writer.end_section(SNAPSHOT_DIFF)?;
    }
    writer.raw_section(INODE_REFERENCE, &references.encoded)
}

/// The diffs of one inode, the newest first.
fn write_diffs(
    writer: &mut Writer<'_>,
    image: &FrozenImage,
    inode: InodeView<'_>,
    strings: &mut Strings,
    references: &mut References,
) -> io::Result<()> {
    let diffs = inode.diffs();
    if diffs.len() == 0 {
        return Ok(());
    }
    let mut message = Vec::new();
    put_u64(&mut message, 1, if inode.is_directory() { 2 } else { 1 });
    put_u64(&mut message, 2, inode.id().0);
    put_u64(&mut message, 3, diffs.len() as u64);
    put_delimited(&mut writer.buffer, &message);
    for diff in diffs.rev() {
        message.clear();
        match diff.body {
            DiffBodyView::Directory { child_count, is_root, created, deleted } => {
                put_u64(&mut message, 1, u64::from(diff.snapshot));
                put_u64(&mut message, 2, u64::from(child_count));
                put_u64(&mut message, 3, u64::from(is_root));
                put_copy(&mut message, &diff, is_root, strings);
                put_u64(&mut message, 6, created.len() as u64);
                put_deleted(&mut message, image, deleted, references);
                put_delimited(&mut writer.buffer, &message);
                for name in created {
                    message.clear();
                    put_bytes(&mut message, 1, name);
                    put_delimited(&mut writer.buffer, &message);
                }
            }
            DiffBodyView::File { length, blocks } => {
                put_u64(&mut message, 1, u64::from(diff.snapshot));
                put_u64(&mut message, 2, length);
                put_copy(&mut message, &diff, false, strings);
                let mut encoded = Vec::new();
                for &handle in blocks.unwrap_or_default() {
                    encoded.clear();
                    put_block(&mut encoded, image.block(handle));
                    put_bytes(&mut message, 5, &encoded);
                }
                put_delimited(&mut writer.buffer, &message);
            }
        }
        writer.flush_if_full()?;
    }
    Ok(())
}

/// Name and attributes in the snapshot: fields 3 and 4 of a file's diff, 4 and 5 of a directory's.
fn put_copy(message: &mut Vec<u8>, diff: &DiffView<'_>, is_root: bool, strings: &mut Strings) {
    let Some(copy) = diff.copy.filter(|_| !is_root) else { return };
    let (mut inner, mut scratch) = (Vec::new(), Vec::new());
    let first = if copy.is_directory() {
        put_directory(&mut inner, copy, strings.permission(copy));
        put_features(&mut inner, &mut scratch, copy, strings, (5, 6));
        4
    } else {
        put_file_attributes(&mut inner, copy, strings.permission(copy));
        put_features(&mut inner, &mut scratch, copy, strings, (8, 9));
        3
    };
    put_bytes(message, first, copy.name());
    put_bytes(message, first + 1, &inner);
}

fn put_deleted(message: &mut Vec<u8>, image: &FrozenImage, deleted: &[Deleted], references: &mut References) {
    let (mut ids, mut numbers) = (Vec::new(), Vec::new());
    for entry in deleted {
        let id = image.inode(entry.inode).id().0;
        match entry.reference {
            Reference::None => put_varint(&mut ids, id),
            reference => put_varint(&mut numbers, u64::from(references.add(id, &entry.name, reference))),
        }
    }
    if !ids.is_empty() {
        put_bytes(message, 7, &ids);
    }
    if !numbers.is_empty() {
        put_bytes(message, 8, &numbers);
    }
}
