//! A packet being filled: head, checksums and data in one buffer, so that it leaves with one write.
//!
//! ```text
//! | room | head | checksums | data ...        |
//!                           ^ data_start, fixed; head and checksums end there, however long they are
//! ```

use std::io::{self, Read};
use surus_wire::datatransfer::packet::PACKET_HEAD_LEN_MAX;
use surus_wire::datatransfer::{DataChecksum, PacketHeader};

/// How packets of a writer are cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketShape {
    pub checksum: DataChecksum,
    /// Data bytes of a full packet, a multiple of the chunk size.
    pub data_max: usize,
}

impl PacketShape {
    /// Packets of about `packet_size` bytes with their checksums. Source: `DFSOutputStream.computePacketChunkSize`,
    /// Hadoop 3.5.0.
    pub fn new(checksum: DataChecksum, packet_size: usize) -> Self {
        let chunk = checksum.bytes_per_checksum() as usize;
        let chunks = packet_size.saturating_sub(PACKET_HEAD_LEN_MAX) / (chunk + checksum.checksum_size());
        PacketShape { checksum, data_max: chunks.max(1) * chunk }
    }

    fn data_start(&self) -> usize {
        PACKET_HEAD_LEN_MAX + self.checksum.checksums_len(self.data_max)
    }

    fn chunk(&self) -> u64 {
        u64::from(self.checksum.bytes_per_checksum())
    }
}

/// One packet; once sealed it waits for its acknowledgement and may be sent again.
#[derive(Debug)]
pub(crate) struct PacketBuf {
    shape: PacketShape,
    bytes: Vec<u8>,
    data_len: usize,
    /// Data bytes it may hold: up to a chunk's end where it begins inside a chunk, up to the block's end.
    room: usize,
    /// Where head and checksums begin, once sealed.
    start: usize,
    pub seqno: i64,
    pub offset_in_block: u64,
    pub is_last: bool,
    pub sync: bool,
}

impl PacketBuf {
    pub fn new(shape: PacketShape) -> Self {
        PacketBuf {
            shape,
            bytes: vec![0; shape.data_start() + shape.data_max],
            data_len: 0,
            room: 0,
            start: 0,
            seqno: 0,
            offset_in_block: 0,
            is_last: false,
            sync: false,
        }
    }

    /// Makes it empty, for data from `offset_in_block` on and not beyond `block_size`.
    pub fn reset(&mut self, offset_in_block: u64, block_size: u64) {
        let inside_chunk = offset_in_block % self.shape.chunk();
        // A packet that begins inside a chunk (append) fills just that chunk: its checksum covers these bytes alone.
        let whole = if inside_chunk == 0 { self.shape.data_max } else { (self.shape.chunk() - inside_chunk) as usize };
        let left_in_block = usize::try_from(block_size.saturating_sub(offset_in_block)).unwrap_or(usize::MAX);
        self.room = whole.min(left_in_block);
        self.data_len = 0;
        self.offset_in_block = offset_in_block;
        self.is_last = false;
        self.sync = false;
    }

    /// Where the data ends in the block.
    pub fn end_in_block(&self) -> u64 {
        self.offset_in_block + self.data_len as u64
    }

    pub fn is_full(&self) -> bool {
        self.data_len == self.room
    }

    pub fn data(&self) -> &[u8] {
        let start = self.shape.data_start();
        &self.bytes[start..start + self.data_len]
    }

    /// Takes what fits of `data`: how much.
    pub fn append(&mut self, data: &[u8]) -> usize {
        let len = data.len().min(self.room - self.data_len);
        let at = self.shape.data_start() + self.data_len;
        self.bytes[at..at + len].copy_from_slice(&data[..len]);
        self.data_len += len;
        len
    }

    /// Reads once from `source` into the free room: how much.
    pub fn append_from(&mut self, source: &mut dyn Read) -> io::Result<usize> {
        let at = self.shape.data_start() + self.data_len;
        let room = &mut self.bytes[at..at + self.room - self.data_len];
        let len = source.read(room)?;
        self.data_len += len.min(room.len());
        Ok(len)
    }

    /// The bytes of an unfinished chunk at the end: a later packet has to send them again.
    pub fn unfinished_chunk(&self) -> &[u8] {
        let chunk_start = match self.offset_in_block % self.shape.chunk() {
            0 => self.data_len - self.data_len % self.shape.chunk() as usize,
            inside if inside + self.data_len as u64 == self.shape.chunk() => self.data_len,
            _ => 0,
        };
        &self.data()[chunk_start..]
    }

    /// Computes the checksums and writes them and the head before the data.
    pub fn seal(&mut self, seqno: i64) {
        self.seqno = seqno;
        let data_start = self.shape.data_start();
        let checksums_len = self.shape.checksum.checksums_len(self.data_len);
        let (front, data) = self.bytes.split_at_mut(data_start);
        let data = &data[..self.data_len];
        let chunk = self.shape.checksum.bytes_per_checksum() as usize;
        if checksums_len > 0 {
            let places = front[data_start - checksums_len..].chunks_exact_mut(4);
            for (place, chunk) in places.zip(data.chunks(chunk)) {
                place.copy_from_slice(&self.shape.checksum.kind().crc(chunk).to_be_bytes());
            }
        }
        let header = PacketHeader {
            offset_in_block: self.offset_in_block,
            seqno,
            last_packet_in_block: self.is_last,
            data_len: self.data_len as u32,
            sync_block: self.sync,
        };
        let head = header.encode(checksums_len);
        self.start = data_start - checksums_len - head.len();
        front[self.start..self.start + head.len()].copy_from_slice(&head);
    }

    /// What goes over the wire.
    pub fn wire_bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.shape.data_start() + self.data_len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_wire::datatransfer::ChecksumType;
    use surus_wire::datatransfer::packet::parse_packet;

    fn shape() -> PacketShape {
        PacketShape::new(DataChecksum::new(ChecksumType::Crc32c, 512).unwrap(), 65536)
    }

    #[test]
    fn a_packet_is_as_long_as_hadoops() {
        assert_eq!(shape().data_max, 126 * 512);
    }

    #[test]
    fn what_was_filled_comes_out() {
        let mut packet = PacketBuf::new(shape());
        packet.reset(1024, 1 << 20);
        assert_eq!(packet.append(&[7; 700]), 700);
        packet.sync = true;
        packet.seal(9);
        let parsed = parse_packet(packet.wire_bytes()).unwrap().unwrap();
        assert_eq!(parsed.raw.len(), packet.wire_bytes().len());
        assert_eq!((parsed.header.seqno, parsed.header.offset_in_block, parsed.header.sync_block), (9, 1024, true));
        assert_eq!(parsed.data, [7; 700]);
        shape().checksum.verify(parsed.data, parsed.checksums).unwrap();
        assert_eq!(packet.unfinished_chunk().len(), 700 - 512);
    }

    #[test]
    fn a_packet_ends_with_the_block_and_an_appended_chunk_fills_up_first() {
        let mut packet = PacketBuf::new(shape());
        packet.reset(0, 1000);
        assert_eq!(packet.append(&[1; 2000]), 1000);
        assert!(packet.is_full());
        packet.reset(700, 1 << 20);
        assert_eq!(packet.append(&[1; 2000]), 1024 - 700);
        assert!(packet.unfinished_chunk().is_empty());
        packet.reset(700, 1 << 20);
        packet.append(&[1; 10]);
        assert_eq!(packet.unfinished_chunk().len(), 10);
    }
}
