//! Reads the archives in `tests/data`: name directories written by Apache Hadoop 3.5.0.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use surus_disk::{Disk, MemDisk, OpenMode};

pub const NAME: &[u8] = include_bytes!("data/name-3.5.0.tar.gz");
/// Saved while files were open; `OPEN_FILES_LIST` says what is in it.
pub const OPEN_FILES: &[u8] = include_bytes!("data/open-files-3.5.0.tar.gz");
/// Path, length, open or closed, then each block and its length.
pub const OPEN_FILES_LIST: &str = include_str!("data/open-files-3.5.0.tsv");
/// Layout -63, one segment in progress.
pub const NAME_2_7: &[u8] = include_bytes!("data/name-2.7.3.tar.gz");
/// With snapshots, ACLs, extended attributes and quotas; one image behind 49 transactions.
pub const NAME_3_4: &[u8] = include_bytes!("data/name-3.4.2.tar.gz");
pub const NAME_3_3: &[u8] = include_bytes!("data/name-3.3.6.tar.gz");
/// A mixed load that Surus logged, and the image that Hadoop saved when it had started on that: every section, and erasure-coded
/// files in snapshots.
pub const MIXED: &[u8] = include_bytes!("data/mixed-3.5.0.tar.gz");
pub const SYMLINK: &[u8] = include_bytes!("data/symlink-3.5.0.tar.gz");

/// Files of a gzipped tar archive by path. Enough of the format for short names.
pub fn unpack(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(archive).read_to_end(&mut tar).unwrap();
    let mut files = BTreeMap::new();
    let mut at = 0;
    while at + 512 <= tar.len() && tar[at] != 0 {
        let text = |range: std::ops::Range<usize>| {
            let field = &tar[at + range.start..at + range.end];
            String::from_utf8_lossy(field).trim_end_matches(['\0', ' ']).to_owned()
        };
        let (name, kind) = (text(0..100), tar[at + 156]);
        let len = usize::from_str_radix(text(124..136).trim(), 8).unwrap();
        if kind == b'0' {
            files.insert(name, tar[at + 512..at + 512 + len].to_vec());
        }
        at += 512 + len.next_multiple_of(512);
    }
    files
}

/// The edit segments of a golden archive, in order.
pub fn segments(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    unpack(archive).into_iter().filter(|(name, _)| name.contains("/edits_")).collect()
}

/// The name directory of an archive, as `/name`.
pub fn name_directory(archive: &[u8]) -> MemDisk {
    let disk = MemDisk::new();
    disk.create_dir_all(Path::new("/name/current")).unwrap();
    for (path, bytes) in unpack(archive) {
        if let Some((_, name)) = path.split_once("/current/") {
            let file = disk.open(&Path::new("/name/current").join(name), OpenMode::Create).unwrap();
            file.write_all_at(&bytes, 0).unwrap();
        }
    }
    disk
}
