//! Hostile bytes: decoders answer with an error or a value, never with a panic or an allocation out of proportion.

use crate::common::*;
use crate::golden;
use crate::load::MixedLoad;
use std::path::Path;
use surus_disk::{Disk, MemDisk, OpenMode};
use surus_journal::image::load_image;
use surus_journal::ops::{FrameHead, OpDecoder};
use surus_journal::{LAYOUT_VERSION, SegmentReader, StorageInfo};
use surus_types::TxId;

fn with_checksum(mut frame: Vec<u8>) -> Vec<u8> {
    let at = frame.len() - 4;
    let checksum = crc32fast::hash(&frame[..at]);
    frame[at..].copy_from_slice(&checksum.to_be_bytes());
    frame
}

/// Bodies of real operations with some bytes changed, under any opcode, with a sound checksum.
#[test]
fn changed_bodies_of_operations() {
    let mut random = MixedLoad::new(1);
    for (_, segment) in golden::segments(golden::NAME) {
        let mut at = 8;
        while segment.get(at).is_some_and(|b| *b != 0xFF) {
            let len = FrameHead::parse(&segment[at..]).unwrap().frame_bytes;
            let mut frame = segment[at..at + len].to_vec();
            at += len;
            if random.below(3) == 0 {
                frame[0] = random.below(56) as u8;
            }
            for _ in 0..random.below(4) {
                let changed = random.below(len);
                if !(1..5).contains(&changed) {
                    frame[changed] = [0, 0x7F, 0x80, 0xFF, random.below(256) as u8][random.below(5)];
                }
            }
            OpDecoder::new(LAYOUT_VERSION).unwrap().decode(&with_checksum(frame)).ok();
        }
    }
}

#[test]
fn random_segments() {
    let mut random = MixedLoad::new(2);
    let path = Path::new("/edits");
    for _ in 0..300 {
        let mut bytes = vec![0xFF, 0xFF, 0xFF, 0xBD, 0, 0, 0, 0];
        for _ in 0..random.below(2000) {
            bytes.push([0, 0xFF, random.below(60) as u8, random.below(256) as u8][random.below(4)]);
        }
        let disk = MemDisk::new();
        disk.open(path, OpenMode::Create).unwrap().write_all_at(&bytes, 0).unwrap();
        let Ok(mut reader) = SegmentReader::open(&disk, path, TxId(1), LAYOUT_VERSION) else { continue };
        while let Ok(Some(_)) = reader.next_op() {}
    }
}

/// A sound MD5 over changed bytes: only the parser stands between them and the namespace.
#[test]
fn changed_images() {
    let mut random = MixedLoad::new(3);
    let disk = golden::name_directory(golden::OPEN_FILES);
    let version = disk.read(Path::new("/name/current/VERSION"), 1 << 16).unwrap();
    let info = StorageInfo::parse(std::str::from_utf8(&version).unwrap()).unwrap();
    let path = Path::new("/name/current/fsimage_0000000000000000146");
    let image = disk.read(path, 1 << 20).unwrap();
    for _ in 0..1500 {
        let mut changed = image.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(changed.len());
            changed[at] = [0, 0x7F, 0x80, 0xFF, random.below(256) as u8][random.below(5)];
        }
        changed.truncate(if random.below(8) == 0 { random.below(changed.len()) } else { changed.len() });
        disk.open(path, OpenMode::Create).unwrap().write_all_at(&changed, 0).unwrap();
        let digest = <md5::Md5 as md5::Digest>::digest(&changed).into();
        load_image(&disk, path, digest, &info, config()).ok();
    }
}
