//! Meta files: a 7-byte header, then one big-endian CRC for each chunk of the block file.

use crate::checksum::{Checksum, ChecksumType, matching_prefix};
use std::io;
use surus_disk::DiskFile;

/// Bytes before the first checksum.
pub const HEADER_BYTES: u64 = 7;
/// Source: `BlockMetadataHeader.java`, Hadoop 3.5.0.
const VERSION: u16 = 1;
/// How much of a block file is checked at a time.
const VERIFY_BYTES: usize = 1 << 20;

pub fn encode_header(checksum: Checksum) -> [u8; HEADER_BYTES as usize] {
    let v = VERSION.to_be_bytes();
    let b = checksum.bytes_per_checksum().to_be_bytes();
    [v[0], v[1], checksum.kind() as u8, b[0], b[1], b[2], b[3]]
}

/// # Errors
/// `InvalidData` when the header is short or holds what no Hadoop wrote.
pub fn decode_header(bytes: &[u8]) -> io::Result<Checksum> {
    let bad = |what: String| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let Some(&[v0, v1, kind, b0, b1, b2, b3]) = bytes.first_chunk::<7>() else {
        return bad(format!("meta file of {} bytes has no header", bytes.len()));
    };
    if u16::from_be_bytes([v0, v1]) != VERSION {
        return bad(format!("Unexpected meta-file version {}", u16::from_be_bytes([v0, v1])));
    }
    let Some(kind) = ChecksumType::from_number(i32::from(kind)) else {
        return bad(format!("Could not create DataChecksum of type {kind}"));
    };
    match Checksum::new(kind, u32::from_be_bytes([b0, b1, b2, b3])) {
        Some(checksum) => Ok(checksum),
        None => bad("Could not create DataChecksum with that many bytes for a checksum".into()),
    }
}

pub fn read_header(meta: &dyn DiskFile) -> io::Result<Checksum> {
    let mut header = [0; HEADER_BYTES as usize];
    let mut have = 0;
    while have < header.len() {
        match meta.read_at(&mut header[have..], have as u64)? {
            0 => break,
            n => have += n,
        }
    }
    decode_header(&header[..have])
}

/// Where in the meta file the checksum of the chunk that holds byte `offset` lies.
pub fn checksum_offset(checksum: Checksum, offset: u64) -> u64 {
    HEADER_BYTES + offset / u64::from(checksum.bytes_per_checksum()) * checksum.checksum_size() as u64
}

/// How long the meta file of a replica of `length` bytes is.
pub fn meta_length(checksum: Checksum, length: u64) -> u64 {
    HEADER_BYTES + length.div_ceil(u64::from(checksum.bytes_per_checksum())) * checksum.checksum_size() as u64
}

/// How many bytes of a block file its checksums vouch for, and the checksum of the last chunk where that is partial.
///
/// A process killed between writing the last chunk's data and its checksum leaves a checksum of fewer bytes; those were
/// acknowledged, so the longest prefix that matches counts. A header that makes no sense vouches for nothing.
///
/// # Errors
/// A file cannot be read.
pub fn verified_length(data: &dyn DiskFile, meta: &dyn DiskFile) -> io::Result<(u64, Option<[u8; 4]>)> {
    let checksum = match read_header(meta) {
        Ok(checksum) => checksum,
        Err(e) if e.kind() == io::ErrorKind::InvalidData => return Ok((0, None)),
        Err(e) => return Err(e),
    };
    let length = data.len()?;
    if checksum.checksum_size() == 0 {
        return Ok((length, None));
    }
    let chunk = checksum.bytes_per_checksum() as usize;
    let batch = (VERIFY_BYTES / chunk).max(1);
    let (mut bytes, mut sums) = (vec![0; batch * chunk], vec![0; batch * checksum.checksum_size()]);
    let mut offset = 0u64;
    while offset < length {
        let have = read_up_to(data, &mut bytes, offset)?;
        let have_sums = read_up_to(meta, &mut sums, checksum_offset(checksum, offset))? / checksum.checksum_size();
        for (i, part) in bytes[..have].chunks(chunk).enumerate() {
            let stored = sums.get(i * 4..i * 4 + 4).filter(|_| i < have_sums);
            let Some(stored) = stored.and_then(|s| <[u8; 4]>::try_from(s).ok()) else { return Ok((offset, None)) };
            let good = matching_prefix(checksum.kind(), part, stored);
            offset += good as u64;
            if good < chunk {
                return Ok((offset, (good > 0).then_some(stored)));
            }
        }
        if have == 0 {
            break;
        }
    }
    Ok((offset, None))
}

/// The stored checksum of the partial chunk at the end; `None` when the length is a multiple of the chunk.
pub fn partial_checksum(checksum: Checksum, length: u64, meta: &dyn DiskFile) -> io::Result<Option<[u8; 4]>> {
    if checksum.checksum_size() == 0 || length.is_multiple_of(u64::from(checksum.bytes_per_checksum())) {
        return Ok(None);
    }
    let mut sum = [0; 4];
    meta.read_exact_at(&mut sum, checksum_offset(checksum, length))?;
    Ok(Some(sum))
}

/// Fills `buffer` as far as the file goes.
pub fn read_up_to(file: &dyn DiskFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}
