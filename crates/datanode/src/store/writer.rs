//! Writing a replica: data and checksums of packets, the partial chunk at the end, and bytes that are sent twice.
//! Source of the rules: `BlockReceiver.java`, Hadoop 3.5.0.

use super::meta::{self, checksum_offset};
use super::pool::BlockPool;
use super::replica::{Kind, OpenReplica, Replica, WriterTurn};
use super::volume::Volume;
use crate::checksum::{Checksum, extend};
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use surus_disk::{DiskFile, SyncPoint};
use surus_types::BlockId;

/// The kernel takes no more slices in one call (IOV_MAX is 1024; no packet batch comes near).
const SLICES_MAX: usize = 256;

/// An open replica and the right to write it. Dropping it leaves an RBW replica as it is and deletes a temporary one.
pub struct ReplicaWriter {
    pool: Arc<BlockPool>,
    volume: Arc<Volume>,
    id: BlockId,
    open: Arc<OpenReplica>,
    turn: WriterTurn,
    data: Box<dyn DiskFile>,
    meta: Box<dyn DiskFile>,
    checksum: Checksum,
    /// Bytes in the data file, those of `pending` included.
    length: u64,
    last_checksum: Option<[u8; 4]>,
    /// Bytes reserved on the volume and not yet written.
    reserved: u64,
    completed: bool,
    names_synced: bool,
    /// Bytes of this replica were promised to survive a power cut (hsync, or it was closed once before): closing it must not
    /// break that, so its last state becomes durable too.
    must_last: bool,
    /// Start of the chunk in which the durable bytes end. Its checksum is overwritten in place when the chunk grows, and
    /// a checksum that reached the disk before its bytes would vouch for nothing.
    durable_chunk: Option<u64>,
}

/// Packets that follow one another without a gap, written with one call for data and one for checksums.
#[derive(Default)]
pub struct Batch<'a> {
    data: Vec<IoSlice<'a>>,
    data_bytes: u64,
    sums: Vec<u8>,
    start: u64,
    /// Writing it failed: its packets are not in the files, and it must never look empty.
    failed: bool,
}

impl ReplicaWriter {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        pool: &Arc<BlockPool>,
        volume: &Arc<Volume>,
        id: BlockId,
        open: Arc<OpenReplica>,
        turn: WriterTurn,
        files: (Box<dyn DiskFile>, Box<dyn DiskFile>),
        checksum: Checksum,
        size_max: u64,
        reopened: bool,
    ) -> Self {
        let progress = open.progress();
        let reserved = size_max.saturating_sub(progress.bytes_on_disk);
        volume.reserved_for_replicas.fetch_add(reserved, Ordering::Relaxed);
        ReplicaWriter {
            pool: pool.clone(),
            volume: volume.clone(),
            id,
            open,
            turn,
            data: files.0,
            meta: files.1,
            checksum,
            length: progress.bytes_on_disk,
            last_checksum: progress.last_checksum,
            reserved,
            completed: false,
            names_synced: false,
            must_last: reopened,
            durable_chunk: reopened.then(|| partial_chunk(checksum, progress.bytes_on_disk)).flatten(),
        }
    }

    pub fn id(&self) -> BlockId {
        self.id
    }
    pub fn pool(&self) -> &Arc<BlockPool> {
        &self.pool
    }
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }
    /// Bytes written so far.
    pub fn length(&self) -> u64 {
        self.length
    }
    pub fn open_replica(&self) -> &Arc<OpenReplica> {
        &self.open
    }
    pub fn turn(&self) -> &WriterTurn {
        &self.turn
    }
    pub fn volume(&self) -> &Arc<Volume> {
        &self.volume
    }

    /// Takes one packet's bytes. What follows directly on the bytes before, on a chunk boundary, is only gathered in
    /// `batch`; anything else writes the batch and then goes the careful way.
    ///
    /// # Errors
    /// The packet leaves a gap, or a chunk's parts came in one packet with others; or the disk's error.
    pub fn write_packet<'a>(
        &mut self,
        batch: &mut Batch<'a>,
        offset: u64,
        data: &'a [u8],
        sums: &[u8],
    ) -> io::Result<()> {
        let chunk = u64::from(self.checksum.bytes_per_checksum());
        let position = self.length + batch.data_bytes;
        if offset == position && offset.is_multiple_of(chunk) {
            if batch.data.is_empty() {
                batch.start = offset;
            }
            batch.data.push(IoSlice::new(data));
            batch.data_bytes += data.len() as u64;
            batch.sums.extend_from_slice(sums);
            if batch.data.len() >= SLICES_MAX {
                self.write_batch(batch)?;
            }
            return Ok(());
        }
        self.write_batch(batch)?;
        self.write_unaligned(offset, data, sums)
    }

    /// Writes what was gathered and tells readers.
    ///
    /// # Errors
    /// The disk's; also for a batch that could not be written before.
    pub fn write_batch(&mut self, batch: &mut Batch<'_>) -> io::Result<()> {
        if batch.failed {
            return Err(io::Error::other(format!("packets of blk_{} could not be written before", self.id)));
        }
        if batch.data.is_empty() {
            return Ok(());
        }
        batch.failed = true;
        let slices = std::mem::take(&mut batch.data);
        write_all_vectored_at(&*self.data, slices, batch.start)?;
        self.meta.write_all_at(&batch.sums, checksum_offset(self.checksum, batch.start))?;
        batch.failed = false;
        let end = batch.start + batch.data_bytes;
        let last = self.partial_checksum(end, &batch.sums);
        self.account(batch.data_bytes, batch.sums.len() as u64);
        self.grown_to(end, last);
        batch.data_bytes = 0;
        batch.sums.clear();
        Ok(())
    }

    /// A packet that overlaps what is on disk, or that begins inside a chunk.
    fn write_unaligned(&mut self, offset: u64, data: &[u8], sums: &[u8]) -> io::Result<()> {
        let chunk = u64::from(self.checksum.bytes_per_checksum());
        let (on_disk, end) = (self.length, offset + data.len() as u64);
        if offset > on_disk {
            return Err(invalid(format!(
                "Received an out-of-sequence packet for blk_{} at offset {offset}. Expecting packet starting at {on_disk}",
                self.id
            )));
        }
        if end <= on_disk {
            return Ok(());
        }
        if !offset.is_multiple_of(chunk) && (data.len() as u64 > chunk || end > offset - offset % chunk + chunk) {
            return Err(invalid(format!(
                "Unexpected packet data length for blk_{}: a partial chunk must be sent in an individual packet \
                 (data length = {}, bytesPerChecksum = {chunk})",
                self.id,
                data.len()
            )));
        }
        let chunk_start = on_disk - on_disk % chunk;
        let fresh = &data[(on_disk - offset) as usize..];
        let sums = if offset > chunk_start {
            // The sender's checksum covers its own bytes alone: that of the whole chunk goes on from what is on disk.
            let crc = self.checksum_of_partial_chunk(chunk_start, on_disk)?;
            extend(self.checksum.kind(), crc, fresh).to_be_bytes().to_vec()
        } else {
            let skip = ((chunk_start - offset) / chunk) as usize * self.checksum.checksum_size();
            sums.get(skip..).unwrap_or_default().to_vec()
        };
        let sums = if self.checksum.checksum_size() == 0 { &[][..] } else { &sums[..] };
        // Data first: a crash between the two leaves a checksum of fewer bytes, which `verified_length` finds.
        self.data.write_all_at(fresh, on_disk)?;
        if self.durable_chunk == Some(chunk_start) {
            self.data.sync_data(SyncPoint("datanode.partial-chunk"))?;
        }
        self.meta.write_all_at(sums, checksum_offset(self.checksum, chunk_start))?;
        let last = self.partial_checksum(end, sums);
        let replaced = if on_disk == chunk_start { 0 } else { self.checksum.checksum_size() as u64 };
        self.account(fresh.len() as u64, (sums.len() as u64).saturating_sub(replaced));
        self.grown_to(end, last);
        Ok(())
    }

    /// The checksum of the chunk's bytes that are on disk, after they were held against what the meta file says.
    fn checksum_of_partial_chunk(&self, chunk_start: u64, on_disk: u64) -> io::Result<u32> {
        let mut bytes = vec![0; (on_disk - chunk_start) as usize];
        self.data.read_exact_at(&mut bytes, chunk_start)?;
        let crc = self.checksum.kind().crc(&bytes);
        if self.checksum.checksum_size() > 0 {
            let mut stored = [0; 4];
            self.meta.read_exact_at(&mut stored, checksum_offset(self.checksum, chunk_start))?;
            if stored != crc.to_be_bytes() {
                return Err(invalid(format!(
                    "Partial CRC {crc:x} does not match value computed the last time file was closed {:x}",
                    u32::from_be_bytes(stored)
                )));
            }
        }
        Ok(crc)
    }

    fn partial_checksum(&self, end: u64, sums: &[u8]) -> Option<[u8; 4]> {
        let partial = !end.is_multiple_of(u64::from(self.checksum.bytes_per_checksum()));
        sums.last_chunk::<4>().copied().filter(|_| partial)
    }

    fn grown_to(&mut self, end: u64, last: Option<[u8; 4]>) {
        self.length = end;
        self.last_checksum = last;
        self.open.set_on_disk(end, last);
    }

    fn account(&mut self, data: u64, sums: u64) {
        let released = data.min(self.reserved);
        self.reserved -= released;
        self.volume.reserved_for_replicas.fetch_sub(released, Ordering::Relaxed);
        self.volume.add_used(data + sums);
    }

    /// Cuts off what a write that failed half-way, here or before a recovery, left behind the replica's bytes.
    pub(crate) fn cut_remains(&self) -> io::Result<()> {
        if self.data.len()? > self.length {
            self.data.set_len(self.length)?;
        }
        let meta_length = meta::meta_length(self.checksum, self.length);
        if self.meta.len()? > meta_length {
            self.meta.set_len(meta_length)?;
        }
        Ok(())
    }

    /// Makes data and checksums durable, and once the names of both files.
    pub fn sync(&mut self) -> io::Result<()> {
        self.data.sync_data(SyncPoint("datanode.hsync-data"))?;
        self.meta.sync_data(SyncPoint("datanode.hsync-meta"))?;
        if !self.names_synced {
            if let Ok((_, dirs)) = self.pool.volume(self.volume.index) {
                self.volume.disk.sync_dir(&dirs.rbw, SyncPoint("datanode.hsync-directory"))?;
            }
            self.names_synced = true;
        }
        self.must_last = true;
        self.durable_chunk = partial_chunk(self.checksum, self.length);
        Ok(())
    }

    /// Leaves a note for the DataNode that starts next: this writer comes back until `until_ms`.
    ///
    /// # Errors
    /// The disk's.
    pub fn note_restart(&self, until_ms: u64) -> io::Result<()> {
        let (volume, dirs) = self.pool.volume(self.volume.index)?;
        super::note_restart(volume, dirs, self.id, until_ms)
    }

    /// Whether closing must make everything durable.
    pub(crate) fn must_last(&self) -> bool {
        self.must_last
    }

    /// The replica was finalized or handed on: dropping the writer must not delete it.
    pub(crate) fn completed(&mut self) {
        self.completed = true;
    }

    pub(crate) fn files(&self) -> (&dyn DiskFile, &dyn DiskFile) {
        (&*self.data, &*self.meta)
    }

    /// The length changed on disk by truncation.
    pub(crate) fn set_length(&mut self, length: u64, last_checksum: Option<[u8; 4]>) {
        self.grown_to(length, last_checksum);
        self.durable_chunk = partial_chunk(self.checksum, length);
    }

    /// Removes the files of a half copy, and only then lets somebody make another.
    fn discard_temporary(&self) {
        let mine = |replica: &Replica| matches!(&replica.kind, Kind::Temporary(open) if Arc::ptr_eq(open, &self.open));
        let replica = self.pool.map.lock().get(&self.id).filter(|r| mine(r)).cloned();
        let Some(replica) = replica else { return };
        self.pool.remove_files(self.id, &replica);
        let mut map = self.pool.map.lock();
        if map.get(&self.id).is_some_and(mine) {
            map.remove(&self.id);
            self.volume.sub_used(self.length + meta::HEADER_BYTES);
            self.volume.num_blocks.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for ReplicaWriter {
    fn drop(&mut self) {
        self.volume.reserved_for_replicas.fetch_sub(self.reserved, Ordering::Relaxed);
        if !self.completed {
            self.discard_temporary();
        }
    }
}

/// Start of the chunk in which `length` bytes end; `None`: at a chunk's end, or nothing is checked.
fn partial_chunk(checksum: Checksum, length: u64) -> Option<u64> {
    let partial = length % u64::from(checksum.bytes_per_checksum());
    (partial != 0 && checksum.checksum_size() > 0).then_some(length - partial)
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

fn write_all_vectored_at(file: &dyn DiskFile, mut slices: Vec<IoSlice<'_>>, mut offset: u64) -> io::Result<()> {
    let Some(std_file) = file.as_std_file() else {
        for slice in slices {
            file.write_all_at(&slice, offset)?;
            offset += slice.len() as u64;
        }
        return Ok(());
    };
    let mut rest = &mut slices[..];
    while !rest.is_empty() {
        match rustix::io::pwritev(std_file, rest, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => {
                offset += n as u64;
                IoSlice::advance_slices(&mut rest, n);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}
