//! Checksums of whole blocks and files, made of the checksums of their chunks: MD5 of CRCs, and composite CRCs.
//! Source: `BlockChecksumHelper.java`, `CrcUtil.java`, Hadoop 3.5.0.

use super::checksum::ChecksumType;
use md5::{Digest, Md5};

/// MD5 of bytes: of the block checksums of a file, say.
pub fn md5(bytes: &[u8]) -> [u8; 16] {
    Md5::digest(bytes).into()
}

/// MD5 over the CRCs of a block, as its meta file holds them.
#[derive(Clone, Default)]
pub struct Md5OfCrcs(Md5);

impl Md5OfCrcs {
    /// Adds CRCs, four bytes each, big-endian.
    pub fn update(&mut self, crcs: &[u8]) {
        self.0.update(crcs);
    }

    pub fn finish(self) -> [u8; 16] {
        self.0.finalize().into()
    }
}

/// The CRC of bytes put together from the CRCs of their pieces.
#[derive(Clone, Copy, Debug)]
pub struct CompositeCrc {
    polynomial: u32,
    crc: u32,
    /// The shift by the last length that was asked for, since most pieces have the same one.
    shift: (u64, u32),
}

impl CompositeCrc {
    /// For the empty run of bytes. `None` for NULL checksums.
    pub fn new(kind: ChecksumType) -> Option<Self> {
        let polynomial = match kind {
            ChecksumType::Null => return None,
            ChecksumType::Crc32 => 0xedb8_8320,
            ChecksumType::Crc32c => 0x82f6_3b78,
        };
        Some(CompositeCrc { polynomial, crc: 0, shift: (0, UNIT) })
    }

    /// Appends a piece of `len` bytes with this CRC.
    pub fn append(&mut self, crc: u32, len: u64) {
        if self.shift.0 != len {
            self.shift = (len, power_of_x(len, self.polynomial));
        }
        self.crc = multiply(self.crc, self.shift.1, self.polynomial) ^ crc;
    }

    /// Appends the chunks of `data_len` bytes, whose CRCs (four bytes each, big-endian) these are.
    pub fn append_chunks(&mut self, crcs: &[u8], bytes_per_checksum: u32, data_len: u64) {
        let mut left = data_len;
        for crc in crcs.chunks_exact(4) {
            let len = left.min(u64::from(bytes_per_checksum));
            self.append(u32::from_be_bytes([crc[0], crc[1], crc[2], crc[3]]), len);
            left -= len;
        }
    }

    pub fn crc(self) -> u32 {
        self.crc
    }
}

/// The polynomial 1, bits reversed as in the CRCs.
const UNIT: u32 = 0x8000_0000;

/// Product of two polynomials modulo `polynomial`, all with bits reversed.
fn multiply(mut a: u32, b: u32, polynomial: u32) -> u32 {
    let mut product = 0;
    let mut factor = b;
    while a != 0 {
        if a & UNIT != 0 {
            product ^= factor;
        }
        factor = (factor >> 1) ^ (polynomial & (factor & 1).wrapping_neg());
        a <<= 1;
    }
    product
}

/// x to the power of 8 x `bytes`, modulo `polynomial`.
fn power_of_x(bytes: u64, polynomial: u32) -> u32 {
    // x^8, squared on for each bit of the length.
    let mut square = UNIT >> 8;
    let mut power = UNIT;
    let mut left = bytes;
    while left != 0 {
        if left & 1 != 0 {
            power = multiply(power, square, polynomial);
        }
        square = multiply(square, square, polynomial);
        left >>= 1;
    }
    power
}
