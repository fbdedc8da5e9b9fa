//! Decodes the inode section on a thread of its own, ahead of the one that builds the tables.

use super::INODE;
use super::fast::{self, Lent, PlainFile};
use super::file::{ImageFile, OpenSection};
use crate::error::JournalError;
use prost::Message;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;
use surus_proto::hadoop::hdfs::fsimage::i_node_section as pb;

/// Inodes handed over at once, and how many such batches may wait.
const BATCH: u64 = 4096;
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
        let end = left - left.min(BATCH);
        while left > end {
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
