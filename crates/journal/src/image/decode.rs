//! Decodes the inode section on a thread of its own, ahead of the one that builds the tables.

use super::INODE;
use super::fast::{self, Lent, PlainFile};
use super::file::{ImageFile, OpenSection};
use crate::error::JournalError;
use prost::Message;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;
use surus_proto::hadoop::hdfs::fsimage::i_node_section as pb;

/// Inodes handed over at once, about how many bytes of the image at most, and how many such batches may wait.
const BATCH: u64 = 4096;
const BATCH_BYTES: u64 = 1 << 20;
const BATCHES: usize = 4;

pub(super) enum Decoded {
    Plain(PlainFile),
    Other(Box<pb::INode>),
}

/// Some inodes, in order.
#[derive(Default)]
pub(super) struct Batch {
    /// Each with the place in the section behind it, for errors.
    pub inodes: Vec<(u64, Decoded)>,
    /// Names and blocks of the plain files, one behind the other.
    pub lent: Lent,
}

/// The batches of the section's `count` inodes. A receiver that is dropped ends the thread.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    image: &'scope ImageFile,
    count: u64,
) -> Receiver<Result<Batch, JournalError>> {
    let (sender, receiver) = sync_channel(BATCHES);
    scope.spawn(move || run(image, count, &sender));
    receiver
}

fn run(image: &ImageFile, count: u64, sender: &SyncSender<Result<Batch, JournalError>>) {
    let mut section = image.section(INODE);
    // The head of the section.
    let mut failed = section.bytes().err();
    let mut left = count;
    while left > 0 && failed.is_none() {
        let mut batch = Batch::default();
        let (end, begin) = (left - left.min(BATCH), section.place());
        while left > end && section.place() - begin < BATCH_BYTES {
            match decode(&mut section, &mut batch.lent) {
                Ok(decoded) => batch.inodes.push((section.place(), decoded)),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
            left -= 1;
        }
        if sender.send(Ok(batch)).is_err() {
            return;
        }
    }
    if let Some(error) = failed {
        // Nobody waits for it: then there was another error before.
        sender.send(Err(error)).ok();
    }
}

fn decode(section: &mut OpenSection<'_>, lent: &mut Lent) -> Result<Decoded, JournalError> {
    let Some(message) = section.bytes()? else { return Err(section.error("it ends before its last inode")) };
    if let Some(file) = fast::plain_file(message, lent) {
        return Ok(Decoded::Plain(file));
    }
    let inode = pb::INode::decode(message).map_err(|e| format!("a message does not parse: {e}"));
    inode.map(|inode| Decoded::Other(Box::new(inode))).map_err(|problem| section.error(&problem))
}

#[cfg(test)]
mod tests {
    use super::super::file::ImageFile;
    use super::super::{INODE, MAGIC, ON_DISK_VERSION};
    use super::*;
    use std::path::Path;
    use surus_disk::{Disk, MemDisk, OpenMode};
    use surus_proto::hadoop::hdfs::fsimage::{FileSummary, INodeSection, file_summary};

    /// An image of directories whose names are so long.
    fn image(names: &[usize]) -> MemDisk {
        let mut section = Vec::new();
        let head = INodeSection { num_inodes: Some(names.len() as u64), ..INodeSection::default() };
        section.extend(head.encode_length_delimited_to_vec());
        for &length in names {
            let name = Some(vec![b'x'; length]);
            section.extend(pb::INode { id: 1, name, ..pb::INode::default() }.encode_length_delimited_to_vec());
        }
        let (offset, length) = (Some(MAGIC.len() as u64), Some(section.len() as u64));
        let sections = vec![file_summary::Section { name: Some(INODE.into()), offset, length }];
        let summary = FileSummary { ondisk_version: ON_DISK_VERSION, layout_version: 0, codec: None, sections };
        let summary = summary.encode_length_delimited_to_vec();
        let bytes = [&MAGIC[..], &section, &summary, &(summary.len() as u32).to_be_bytes()].concat();
        let disk = MemDisk::new();
        disk.open(Path::new("/image"), OpenMode::CreateNew).unwrap().write_all_at(&bytes, 0).unwrap();
        disk
    }

    #[test]
    fn batches_end_at_inodes_and_at_bytes() {
        let batches = |names: &[usize]| -> Vec<usize> {
            let disk = image(names);
            let image = ImageFile::open(&disk, Path::new("/image")).unwrap();
            let batch = |batch: Result<Batch, JournalError>| batch.unwrap().inodes.len();
            std::thread::scope(|scope| start(scope, &image, names.len() as u64).into_iter().map(batch).collect())
        };
        assert_eq!(batches(&[1; 5000]), [4096, 904]);
        assert_eq!(batches(&[400_000; 10]), [3, 3, 3, 1]);
        assert_eq!(batches(&[2_000_000, 1, 2_000_000]), [1, 2]);
    }
}
