//! Reads the archives in `tests/data`: name directories written by Apache Hadoop 3.5.0.

use std::collections::BTreeMap;
use std::io::Read;

pub const NAME: &[u8] = include_bytes!("data/name-3.5.0.tar.gz");
pub const AFTER: &[u8] = include_bytes!("data/after-3.5.0.tar.gz");
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
