//! Sending a range of a replica as packets, to a client that reads or to another DataNode.
//! Source of ranges and texts: `BlockSender.java`, Hadoop 3.5.0.

use crate::checksum::Checksum;
use crate::store::{BlockPool, Progress, ReplicaReader, io_error, meta};
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::time::Duration;
use surus_net::stream;
use surus_types::{Block, HdfsError};
use surus_wire::datatransfer::checksum::ChecksumType;
use surus_wire::datatransfer::packet::PacketHeader;

/// Data of one packet. Larger ones save calls; clients hold a whole packet in memory.
const PACKET_DATA_BYTES: u64 = 256 << 10;
/// Below this a copy and one write beat `sendfile` and its extra call.
const SEND_FILE_BYTES_MIN: u64 = 32 << 10;
/// How long a reader waits for bytes that a writer acknowledged but has not written yet.
const WAIT_FOR_BYTES: Duration = Duration::from_secs(3);
/// The chunk size that stands in the answer where no checksums are sent.
const UNCHECKED_CHUNK_BYTES: u32 = 512;

/// Why a replica cannot be sent.
#[derive(Debug)]
pub struct SendRefusal {
    pub error: HdfsError,
    /// Its files are damaged: the NameNode should know.
    pub damaged: bool,
}

impl From<HdfsError> for SendRefusal {
    fn from(error: HdfsError) -> Self {
        SendRefusal { error, damaged: false }
    }
}

impl SendRefusal {
    /// A meta file that ends early or makes no sense is damage; other errors are the disk's.
    fn of_meta(pool: &BlockPool, block: &Block, e: io::Error) -> Self {
        match e.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => SendRefusal {
                error: HdfsError::io(format!("The block meta file header is corrupt: {}: {e}", pool.extended(block))),
                damaged: true,
            },
            _ => io_error(e).into(),
        }
    }
}

/// A range that is ready to be sent.
pub struct BlockSender {
    reader: ReplicaReader,
    /// Of the packets: NULL when the reader wants none.
    pub checksum: Checksum,
    /// Where the first packet begins: the start of the chunk that holds the wanted offset.
    pub start: u64,
    end: u64,
    /// Checksum of the chunk that ends at `end`, where that chunk may be changing in the file.
    last_checksum: Option<[u8; 4]>,
}

impl BlockSender {
    /// Finds the replica and fits the range to its chunks.
    ///
    /// # Errors
    /// The replica is absent, older than asked for, not readable, damaged, or shorter than the range.
    pub fn open(
        pool: &BlockPool,
        block: &Block,
        offset: u64,
        length: u64,
        send_checksums: bool,
    ) -> Result<BlockSender, SendRefusal> {
        loop {
            let sender = Self::open_once(pool, block, offset, length, send_checksums)?;
            let opened = &sender.reader.info;
            // A replica reopened for append meanwhile: its last checksum may be a later one.
            let settled = opened.open.is_some()
                || pool.lookup(block.id).is_none_or(|now| {
                    now.state == opened.state && now.block.generation_stamp == opened.block.generation_stamp
                });
            if settled {
                return Ok(sender);
            }
        }
    }

    fn open_once(
        pool: &BlockPool,
        block: &Block,
        offset: u64,
        length: u64,
        send_checksums: bool,
    ) -> Result<BlockSender, SendRefusal> {
        let reader = pool.open(block)?;
        // Taken from the replica that was opened: one that was complete a moment ago may be open for append by now.
        let progress = snapshot(&reader, offset.saturating_add(length))?;
        let info = &reader.info;
        if info.block.generation_stamp < block.generation_stamp {
            return Err(refusal(format!(
                "Replica gen stamp < block genstamp, block={}, replica={}",
                pool.extended(block),
                info.block
            )));
        }
        if info.visible_length.is_none() {
            return Err(refusal(format!(
                "Replica is not readable, block={}, replica={}, {}",
                pool.extended(block),
                info.block,
                info.state.name()
            )));
        }
        let stored = stored_checksum(pool, block, &reader)?;
        let checksum = match (send_checksums, Checksum::new(ChecksumType::Null, UNCHECKED_CHUNK_BYTES)) {
            (false, Some(none)) => none,
            _ => stored,
        };
        let available = progress.map_or(info.block.num_bytes, |p| p.bytes_on_disk);
        if offset > available || length > available - offset {
            return Err(refusal(format!(
                " Offset {offset} and length {length} don't match block {} ( blockLen {available} )",
                pool.extended(block)
            )));
        }
        let chunk = u64::from(checksum.bytes_per_checksum());
        let start = offset - offset % chunk;
        let whole = (offset + length).div_ceil(chunk) * chunk;
        let end = whole.min(available);
        let last_checksum = match progress {
            _ if !send_checksums || whole < available => None,
            Some(progress) => progress.last_checksum,
            // Taken now: an append that begins after this overwrites it.
            None => match &reader.meta {
                Some(meta_file) => meta::partial_checksum(stored, available, &**meta_file)
                    .map_err(|e| SendRefusal::of_meta(pool, block, e))?,
                None => None,
            },
        };
        Ok(BlockSender { reader, checksum, start, end, last_checksum })
    }

    pub fn reader(&self) -> &ReplicaReader {
        &self.reader
    }

    /// Sends the range and the empty packet that ends it. `from_file`: data need not come through this process. Returns how
    /// many bytes of data went out.
    ///
    /// # Errors
    /// Those of the socket or the disk.
    pub fn send(&self, stream: &TcpStream, from_file: bool) -> io::Result<u64> {
        let chunk = u64::from(self.checksum.bytes_per_checksum());
        let packet = (PACKET_DATA_BYTES / chunk).max(1) * chunk;
        let mut offset = self.start;
        let mut seqno = 0;
        let mut buffer = Vec::new();
        while offset < self.end {
            let data_len = packet.min(self.end - offset);
            self.send_packet(stream, (offset, data_len), seqno, from_file, &mut buffer)?;
            offset += data_len;
            seqno += 1;
        }
        let last = PacketHeader { offset_in_block: offset, seqno, last_packet_in_block: true, ..Default::default() };
        stream::write_all_vectored(stream, &mut [IoSlice::new(&last.encode(0))])?;
        Ok(self.end - self.start)
    }

    fn send_packet(
        &self,
        stream: &TcpStream,
        (offset, data_len): (u64, u64),
        seqno: i64,
        from_file: bool,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        let sums_len = self.checksum.checksums_len(data_len as usize);
        let header = PacketHeader { offset_in_block: offset, seqno, data_len: data_len as u32, ..Default::default() };
        let head = header.encode(sums_len);
        let file = self.reader.data.as_std_file().filter(|_| from_file && data_len >= SEND_FILE_BYTES_MIN);
        let body_len = if file.is_some() { sums_len } else { sums_len + data_len as usize };
        buffer.clear();
        buffer.extend_from_slice(&head);
        buffer.resize(head.len() + body_len, 0);
        let (sums, data) = buffer[head.len()..].split_at_mut(sums_len);
        self.read_sums(sums, offset, data_len)?;
        match file {
            Some(file) => {
                stream::write_all_more(stream, buffer)?;
                stream::send_file(stream, file, offset, data_len as usize)
            }
            None => {
                self.reader.data.read_exact_at(data, offset)?;
                stream::write_all_vectored(stream, &mut [IoSlice::new(buffer)])
            }
        }
    }

    /// Reads raw checksums, for the checksum of the block.
    pub(super) fn read_meta(&self, sums: &mut [u8], offset: u64) -> io::Result<()> {
        match &self.reader.meta {
            Some(meta_file) => meta_file.read_exact_at(sums, offset),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Makes the last of `sums` the checksum of the chunk's bytes below `length`, where the file has more of that chunk or the
    /// chunk is still growing.
    pub(super) fn fix_last_sum(&self, sums: &mut [u8], length: u64) -> io::Result<()> {
        let partial = length % u64::from(self.checksum.bytes_per_checksum());
        if partial == 0 || (length == self.end && self.last_checksum.is_none()) {
            return Ok(());
        }
        let mut bytes = vec![0; partial as usize];
        self.reader.data.read_exact_at(&mut bytes, length - partial)?;
        if let Some(slot) = sums.last_chunk_mut::<4>() {
            *slot = self.checksum.kind().crc(&bytes).to_be_bytes();
        }
        Ok(())
    }

    fn read_sums(&self, sums: &mut [u8], offset: u64, data_len: u64) -> io::Result<()> {
        let Some(meta_file) = self.reader.meta.as_ref().filter(|_| !sums.is_empty()) else { return Ok(()) };
        meta_file.read_exact_at(sums, meta::checksum_offset(self.checksum, offset))?;
        if let (Some(last), true) = (self.last_checksum, offset + data_len == self.end)
            && let Some(slot) = sums.last_chunk_mut::<4>()
        {
            *slot = last;
        }
        Ok(())
    }
}

/// What the writer of an open replica has told, once `bytes` are there or the wait is over. `None`: not open.
fn snapshot(reader: &ReplicaReader, bytes: u64) -> Result<Option<Progress>, HdfsError> {
    let info = &reader.info;
    let Some(open) = info.open.as_ref().filter(|_| info.visible_length.is_some()) else { return Ok(None) };
    let progress = open.wait_for_bytes(bytes, WAIT_FOR_BYTES);
    if progress.bytes_on_disk < bytes {
        return Err(HdfsError::io(format!("Need {bytes} bytes, but only {} bytes available", progress.bytes_on_disk)));
    }
    Ok(Some(progress))
}

fn stored_checksum(pool: &BlockPool, block: &Block, reader: &ReplicaReader) -> Result<Checksum, SendRefusal> {
    let Some(meta_file) = &reader.meta else {
        let error = HdfsError::file_not_found(format!("Meta-data not found for {}", pool.extended(block)));
        return Err(SendRefusal { error, damaged: true });
    };
    meta::read_header(&**meta_file).map_err(|e| SendRefusal::of_meta(pool, block, e))
}

fn refusal(text: String) -> SendRefusal {
    HdfsError::io(text).into()
}
