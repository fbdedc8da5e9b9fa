//! Images that others send: taken whole, or not at all.

use crate::common::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_disk::{Disk, MemDisk, OpenMode};
use surus_journal::{FileName, JournalError, SentImage, parse_md5};
use surus_types::TxId;

fn dirs() -> [PathBuf; 2] {
    ["/name1", "/name2"].map(PathBuf::from)
}

fn names(disk: &dyn Disk, dir: &Path) -> Vec<String> {
    disk.list(&dir.join("current")).unwrap().into_iter().map(|entry| entry.name).collect()
}

/// A running file system, an image of it at the end of its last segment that another made, and what that says of it.
fn sent() -> (MemDisk, Running, Vec<u8>, SentImage) {
    let disk = MemDisk::new();
    format_dirs(&disk, &dirs());
    let secondary = disk.kill_clone();
    let mut fs = Running::start(Arc::new(disk.clone()), &dirs()).unwrap();
    fs.mkdir("/a");
    let roll = fs.log.roll();
    fs.log.wait_durable(roll.started).unwrap();
    let there = open(Arc::new(secondary.clone()), &dirs()).unwrap();
    there.save_namespace(&fs.namespace.freeze(), roll.ended).unwrap();
    let bytes = secondary.read(&FileName::Image(roll.ended).path(&dirs()[0]), 1 << 30).unwrap();
    let md5 = secondary.read(&FileName::ImageMd5(roll.ended).path(&dirs()[0]), 4096).unwrap();
    let md5 = parse_md5(std::str::from_utf8(&md5).unwrap()).unwrap();
    let image = SentImage { txid: roll.ended, is_rollback: false, len: bytes.len() as u64, md5 };
    (disk, fs, bytes, image)
}

#[test]
fn a_sent_image_becomes_one_of_ours() {
    let (disk, mut fs, bytes, image) = sent();
    assert!(!fs.storage.has_image(&image).unwrap());
    fs.storage.receive_image(&image, &mut &bytes[..]).unwrap();
    assert!(!fs.storage.has_image(&image).unwrap(), "it has no name yet");
    fs.storage.place_received(&image).unwrap();
    assert!(fs.storage.has_image(&image).unwrap());
    fs.mkdir("/b");
    fs.log.wait_durable(fs.log.last_txid()).unwrap();
    for dir in dirs() {
        let loaded = open(Arc::new(disk.kill_clone()), &[dir]).unwrap().load(config(), &mut ()).unwrap();
        assert_eq!((loaded.image_txid, paths(&loaded.namespace)), (image.txid, paths(&fs.namespace)));
    }
}

#[test]
fn what_is_not_what_was_told_leaves_nothing() {
    let (disk, fs, bytes, image) = sent();
    let before = dirs().map(|dir| names(&disk, &dir));
    let refused = |image: SentImage, bytes: &[u8], why: &str| {
        let error = fs.storage.receive_image(&image, &mut &*bytes).unwrap_err();
        assert!(matches!(error, JournalError::Image { .. }) && error.to_string().contains(why), "{error}");
        assert_eq!(dirs().map(|dir| names(&disk, &dir)), before);
    };
    refused(SentImage { len: image.len - 1, ..image }, &bytes, "more than its");
    refused(SentImage { len: image.len + 1, ..image }, &bytes, "bytes came");
    refused(SentImage { md5: [7; 16], ..image }, &bytes, "was told");
    refused(SentImage { txid: TxId(image.txid.0 - 1), ..image }, &bytes, "the image was saved at transaction");
    let mut changed = bytes.clone();
    changed[bytes.len() / 2] ^= 1;
    refused(image, &changed, "its MD5 is");
}

#[test]
fn what_a_crash_leaves_is_removed() {
    let (disk, fs, bytes, image) = sent();
    fs.storage.receive_image(&image, &mut &bytes[..]).unwrap();
    let disk = disk.kill_clone();
    let left = FileName::ImageReceived(image.txid).path(&dirs()[1]);
    assert!(disk.open(&left, OpenMode::Read).is_ok());
    let loaded = open(Arc::new(disk.clone()), &dirs()).unwrap().load(config(), &mut ()).unwrap();
    assert_eq!(loaded.image_txid, TxId(0));
    assert!(disk.open(&left, OpenMode::Read).is_err());
}
