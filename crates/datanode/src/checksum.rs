//! The chunk checksums of block and meta files.

/// Numbers are those of `ChecksumTypeProto` and of meta files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ChecksumType {
    Null = 0,
    Crc32 = 1,
    Crc32c = 2,
}

impl ChecksumType {
    pub fn from_number(number: i32) -> Option<Self> {
        match number {
            0 => Some(Self::Null),
            1 => Some(Self::Crc32),
            2 => Some(Self::Crc32c),
            _ => None,
        }
    }
}

/// A kind of checksum and how many bytes each covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checksum {
    pub kind: ChecksumType,
    pub bytes_per_checksum: u32,
}

/// More than any chunk that makes sense: the largest packet.
const BYTES_PER_CHECKSUM_MAX: u32 = 16 << 20;

impl Checksum {
    /// `None` when a chunk would be empty or larger than a packet.
    pub fn new(kind: ChecksumType, bytes_per_checksum: u32) -> Option<Self> {
        (1..=BYTES_PER_CHECKSUM_MAX).contains(&bytes_per_checksum).then_some(Checksum { kind, bytes_per_checksum })
    }

    /// Bytes of one checksum.
    pub fn size(self) -> usize {
        if self.kind == ChecksumType::Null { 0 } else { 4 }
    }

    /// How many chunks `bytes` make, the last one perhaps partial.
    pub fn chunks(self, bytes: usize) -> usize {
        bytes.div_ceil(self.bytes_per_checksum as usize)
    }

    /// The checksum of one chunk, as a 32-bit number; 0 for NULL.
    pub fn of(self, data: &[u8]) -> u32 {
        self.extend(0, data)
    }

    /// The checksum of what `crc` covers followed by `data`.
    pub fn extend(self, crc: u32, data: &[u8]) -> u32 {
        match self.kind {
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

    /// Appends the checksums of `data`'s chunks.
    pub fn compute(self, data: &[u8], out: &mut Vec<u8>) {
        if self.kind != ChecksumType::Null {
            for chunk in data.chunks(self.bytes_per_checksum as usize) {
                out.extend_from_slice(&self.of(chunk).to_be_bytes());
            }
        }
    }

    /// Index of the first chunk whose checksum is another one than `sums` says.
    pub fn verify(self, data: &[u8], sums: &[u8]) -> Result<(), usize> {
        if self.kind == ChecksumType::Null {
            return Ok(());
        }
        for (i, chunk) in data.chunks(self.bytes_per_checksum as usize).enumerate() {
            if sums.get(i * 4..i * 4 + 4) != Some(&self.of(chunk).to_be_bytes()) {
                return Err(i);
            }
        }
        Ok(())
    }

    /// The longest prefix of `chunk` that has this checksum; 0: none.
    pub fn matching_prefix(self, chunk: &[u8], stored: [u8; 4]) -> usize {
        let stored = u32::from_be_bytes(stored);
        if self.of(chunk) == stored {
            return chunk.len();
        }
        let mut crc = 0;
        let mut longest = 0;
        for (i, byte) in chunk.iter().enumerate() {
            crc = self.extend(crc, std::slice::from_ref(byte));
            if crc == stored {
                longest = i + 1;
            }
        }
        longest
    }
}
