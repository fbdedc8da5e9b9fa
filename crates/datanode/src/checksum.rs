//! What the block store needs of chunk checksums beyond `wire`: going on from a partial chunk.

pub use surus_wire::datatransfer::{ChecksumType, DataChecksum as Checksum};

/// The checksum of what `crc` covers followed by `data`.
pub fn extend(kind: ChecksumType, crc: u32, data: &[u8]) -> u32 {
    match kind {
        ChecksumType::Null => 0,
        ChecksumType::Crc32 => {
            let mut hasher = crc32fast::Hasher::new_with_initial(crc);
            hasher.update(data);
            hasher.finalize()
        }
        ChecksumType::Crc32c => {
            let state = u64::from(!crc);
            let mut digest = crc_fast::Digest::new_with_init_state(crc_fast::CrcAlgorithm::Crc32Iscsi, state);
            digest.update(data);
            digest.finalize() as u32
        }
    }
}

/// The longest prefix of `chunk` that has this checksum; 0: none.
pub fn matching_prefix(kind: ChecksumType, chunk: &[u8], stored: [u8; 4]) -> usize {
    let stored = u32::from_be_bytes(stored);
    if kind.crc(chunk) == stored {
        return chunk.len();
    }
    let mut crc = 0;
    let mut longest = 0;
    for (i, byte) in chunk.iter().enumerate() {
        crc = extend(kind, crc, std::slice::from_ref(byte));
        if crc == stored {
            longest = i + 1;
        }
    }
    longest
}
