//! Checksums of chunks, computed and verified in bulk: each chunk's CRC is four bytes, big-endian.

use alloc::vec::Vec;
use surus_proto::hadoop::hdfs::{ChecksumProto, ChecksumTypeProto};

/// Largest chunk that is accepted, in bytes: a packet holds at least one.
pub const BYTES_PER_CHECKSUM_MAX: u32 = 16 << 20;

/// Kinds of checksums. Numbers are those of `ChecksumTypeProto` and of block meta files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum ChecksumType {
    Null = 0,
    Crc32 = 1,
    #[default]
    Crc32c = 2,
}

impl ChecksumType {
    /// From the number on the wire or in a meta file.
    pub fn from_number(number: i32) -> Option<Self> {
        Some(match number {
            0 => ChecksumType::Null,
            1 => ChecksumType::Crc32,
            2 => ChecksumType::Crc32c,
            _ => return None,
        })
    }

    /// From the name in `dfs.checksum.type`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "NULL" => ChecksumType::Null,
            "CRC32" => ChecksumType::Crc32,
            "CRC32C" => ChecksumType::Crc32c,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            ChecksumType::Null => "NULL",
            ChecksumType::Crc32 => "CRC32",
            ChecksumType::Crc32c => "CRC32C",
        }
    }

    pub fn to_proto(self) -> ChecksumTypeProto {
        match self {
            ChecksumType::Null => ChecksumTypeProto::ChecksumNull,
            ChecksumType::Crc32 => ChecksumTypeProto::ChecksumCrc32,
            ChecksumType::Crc32c => ChecksumTypeProto::ChecksumCrc32c,
        }
    }

    /// Bytes of one checksum.
    pub fn size(self) -> usize {
        match self {
            ChecksumType::Null => 0,
            ChecksumType::Crc32 | ChecksumType::Crc32c => 4,
        }
    }

    /// The CRC of `data`; 0 for NULL.
    #[inline]
    pub fn crc(self, data: &[u8]) -> u32 {
        match self {
            ChecksumType::Null => 0,
            ChecksumType::Crc32 => crc32fast::hash(data),
            ChecksumType::Crc32c => crc_fast::crc32_iscsi(data),
        }
    }
}

/// A kind of checksum with its chunk size. Source: `DataChecksum.java`, Hadoop 3.5.0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DataChecksum {
    kind: ChecksumType,
    /// At least 1.
    bytes_per_checksum: u32,
}

impl Default for DataChecksum {
    fn default() -> Self {
        DataChecksum { kind: ChecksumType::Crc32c, bytes_per_checksum: super::BYTES_PER_CHECKSUM }
    }
}

impl DataChecksum {
    /// `None` for a chunk size of 0, or above `BYTES_PER_CHECKSUM_MAX`.
    pub fn new(kind: ChecksumType, bytes_per_checksum: u32) -> Option<Self> {
        (1..=BYTES_PER_CHECKSUM_MAX).contains(&bytes_per_checksum).then_some(DataChecksum { kind, bytes_per_checksum })
    }

    pub fn from_proto(proto: &ChecksumProto) -> Option<Self> {
        Self::new(ChecksumType::from_number(proto.r#type)?, proto.bytes_per_checksum)
    }

    pub fn to_proto(self) -> ChecksumProto {
        ChecksumProto { r#type: self.kind.to_proto() as i32, bytes_per_checksum: self.bytes_per_checksum }
    }

    pub fn kind(self) -> ChecksumType {
        self.kind
    }

    /// Bytes of data under one checksum.
    pub fn bytes_per_checksum(self) -> u32 {
        self.bytes_per_checksum
    }

    /// Bytes of one checksum.
    pub fn checksum_size(self) -> usize {
        self.kind.size()
    }

    /// Bytes of the checksums of `data_len` bytes that begin at a chunk's start.
    pub fn checksums_len(self, data_len: usize) -> usize {
        data_len.div_ceil(self.bytes_per_checksum as usize) * self.kind.size()
    }

    /// Appends the checksums of `data`, which begins at a chunk's start.
    pub fn append(self, data: &[u8], out: &mut Vec<u8>) {
        if self.kind == ChecksumType::Null {
            return;
        }
        out.reserve(self.checksums_len(data.len()));
        for chunk in data.chunks(self.bytes_per_checksum as usize) {
            out.extend_from_slice(&self.kind.crc(chunk).to_be_bytes());
        }
    }

    /// Compares `data`, which begins at a chunk's start, with its checksums.
    ///
    /// # Errors
    /// Offset in `data` of the first chunk that does not agree or has no checksum.
    pub fn verify(self, data: &[u8], checksums: &[u8]) -> Result<(), usize> {
        if self.kind == ChecksumType::Null {
            return Ok(());
        }
        let mut sums = checksums.chunks_exact(4);
        let size = self.bytes_per_checksum as usize;
        for (i, chunk) in data.chunks(size).enumerate() {
            if sums.next() != Some(&self.kind.crc(chunk).to_be_bytes()[..]) {
                return Err(i * size);
            }
        }
        Ok(())
    }
}
