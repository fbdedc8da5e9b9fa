//! Taking an existing replica up again: append, pipeline recovery, block recovery.
//! Source of checks and texts: `FsDatasetImpl.java`, Hadoop 3.5.0.

use super::meta::{self, checksum_offset};
use super::pool::{BlockPool, io_error};
use super::replica::{Kind, OpenReplica, Replica, UnderRecovery, WriterTurn};
use super::volume::{Volume, block_name, meta_name};
use super::writer::ReplicaWriter;
use crate::checksum::Checksum;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use surus_disk::{DiskFile, OpenMode, SyncPoint};
use surus_types::{Block, BlockId, ExceptionClass, GenerationStamp, HdfsError, ReplicaState};

/// How much of a block file is copied at a time.
const COPY_BYTES: usize = 1 << 20;

/// An open replica whose writer's turn was taken over.
type OpenTurn = (Arc<OpenReplica>, WriterTurn);

/// The answer to `initReplicaRecovery`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryInfo {
    /// Length: bytes on disk.
    pub block: Block,
    pub original_state: ReplicaState,
}

fn not_found(text: String) -> HdfsError {
    HdfsError::new(ExceptionClass::ReplicaNotFound, text)
}

impl BlockPool {
    fn get(&self, id: BlockId) -> Option<Replica> {
        self.map.lock().get(&id).cloned()
    }

    /// Opens a finalized replica of exactly `expected` bytes for more.
    ///
    /// # Errors
    /// `ReplicaNotFoundException` when it is absent or not finalized; `IOException` for another length.
    pub fn append(
        self: &Arc<Self>,
        block: &Block,
        new_stamp: GenerationStamp,
        expected: u64,
    ) -> Result<ReplicaWriter, HdfsError> {
        if new_stamp < block.generation_stamp {
            return Err(HdfsError::io(format!(
                "The new generation stamp {new_stamp} should be greater than the replica {block}'s generation stamp"
            )));
        }
        let replica = self
            .get(block.id)
            .ok_or_else(|| not_found(format!("Cannot append to a non-existent replica {}", self.extended(block))))?;
        if replica.state() != ReplicaState::Finalized {
            return Err(not_found(format!("Cannot append to an unfinalized replica {}", self.extended(block))));
        }
        self.check_length(block, &replica, expected)?;
        self.reopen_finalized(block.id, &replica, new_stamp, block.num_bytes)
    }

    fn check_length(&self, block: &Block, replica: &Replica, expected: u64) -> Result<(), HdfsError> {
        if replica.num_bytes != expected {
            return Err(HdfsError::io(format!(
                "Corrupted replica {} with a length of {} expected length is {expected}",
                self.extended(block),
                replica.num_bytes
            )));
        }
        Ok(())
    }

    /// Moves a finalized replica back to `rbw` under a new stamp.
    fn reopen_finalized(
        self: &Arc<Self>,
        id: BlockId,
        replica: &Replica,
        new_stamp: GenerationStamp,
        size_max: u64,
    ) -> Result<ReplicaWriter, HdfsError> {
        let (volume, _) = self.volume(replica.volume).map_err(io_error)?;
        if volume.available() < size_max.saturating_sub(replica.num_bytes) {
            return Err(HdfsError::io(format!("Insufficient space for appending to blk_{id}")));
        }
        // Whoever reads it from now on must know the checksum that the first write overwrites.
        let last = self.last_checksum(volume, id, replica).map_err(io_error)?;
        let open = OpenReplica::with_length(replica.num_bytes, last);
        let turn = self.take_over(&open, id)?;
        self.unshare(volume, id, replica).map_err(io_error)?;
        let rbw = Replica { generation_stamp: new_stamp, kind: Kind::Rbw(open.clone()), ..replica.clone() };
        {
            let mut map = self.map.lock();
            match map.get_mut(&id) {
                Some(present)
                    if present.state() == ReplicaState::Finalized
                        && (present.generation_stamp, present.num_bytes)
                            == (replica.generation_stamp, replica.num_bytes) =>
                {
                    *present = rbw.clone();
                }
                _ => return Err(not_found(format!("Cannot append to an unfinalized replica blk_{id}"))),
            }
        }
        if let Err(e) = self.move_files(id, replica, &rbw, true) {
            self.map.lock().insert(id, replica.clone());
            return Err(io_error(e));
        }
        // The NameNode will ask for the new stamp: the old name must not come back.
        self.sync_moved(id, replica, &rbw).map_err(io_error)?;
        self.open_writer(id, &rbw, open, turn, size_max)
    }

    /// Checksum of the partial chunk at the end of a finalized replica.
    fn last_checksum(&self, volume: &Volume, id: BlockId, replica: &Replica) -> io::Result<Option<[u8; 4]>> {
        let (_, meta) = self.paths(id, replica)?;
        let meta = volume.disk.open(&meta, OpenMode::Read)?;
        meta::partial_checksum(meta::read_header(&*meta)?, replica.num_bytes, &*meta)
    }

    /// Opens the files of an RBW replica whose turn is ours.
    fn open_writer(
        self: &Arc<Self>,
        id: BlockId,
        replica: &Replica,
        open: Arc<OpenReplica>,
        turn: WriterTurn,
        size_max: u64,
    ) -> Result<ReplicaWriter, HdfsError> {
        let (volume, _) = self.volume(replica.volume).map_err(io_error)?;
        let (data, meta) = self.paths(id, replica).map_err(io_error)?;
        let data = volume.disk.open(&data, OpenMode::ReadWrite).map_err(io_error)?;
        let meta = volume.disk.open(&meta, OpenMode::ReadWrite).map_err(io_error)?;
        let checksum = meta::read_header(&*meta).map_err(io_error)?;
        let length = open.progress().bytes_on_disk;
        let last = meta::partial_checksum(checksum, length, &*meta).map_err(io_error)?;
        open.set_on_disk(length, last);
        Ok(ReplicaWriter::new(self, volume, id, open, turn, (data, meta), checksum, size_max, true))
    }

    /// The common checks of the recoveries. `expected`: the length the replica must have.
    fn check_recoverable(
        &self,
        block: &Block,
        new_stamp: GenerationStamp,
        expected: u64,
    ) -> Result<(Replica, Option<OpenTurn>), HdfsError> {
        let replica = self
            .get(block.id)
            .ok_or_else(|| not_found(format!("Cannot append to a non-existent replica {}", self.extended(block))))?;
        self.check_stamp(block, &replica, new_stamp)?;
        match &replica.kind {
            Kind::Finalized => {
                self.check_length(block, &replica, expected)?;
                Ok((replica, None))
            }
            Kind::Rbw(open) => {
                let turn = self.take_over(open, block.id)?;
                let progress = open.progress();
                if progress.bytes_on_disk != expected {
                    return Err(HdfsError::io(format!(
                        "Corrupted replica {} with a length of {} expected length is {expected}",
                        self.extended(block),
                        progress.bytes_on_disk
                    )));
                }
                let open = open.clone();
                // It may have been finalized while its writer ended.
                match self.get(block.id) {
                    Some(now) if matches!(now.kind, Kind::Finalized) => Ok((now, None)),
                    Some(now) => Ok((now, Some((open, turn)))),
                    None => Err(not_found(format!("Replica not found for {}", self.extended(block)))),
                }
            }
            _ => Err(not_found(format!(
                "Cannot recover append/close to a replica that's not FINALIZED and not RBW {}",
                self.extended(block)
            ))),
        }
    }

    fn check_stamp(&self, block: &Block, replica: &Replica, new_stamp: GenerationStamp) -> Result<(), HdfsError> {
        let stamp = replica.generation_stamp;
        if stamp < block.generation_stamp || stamp > new_stamp {
            return Err(not_found(format!(
                "Cannot append to a replica with unexpected generation stamp {stamp}. Expected GS range is [{}, {new_stamp}].",
                block.generation_stamp
            )));
        }
        Ok(())
    }

    /// Stage PIPELINE_SETUP_APPEND_RECOVERY.
    ///
    /// # Errors
    /// As `append`; also when the writer does not end.
    pub fn recover_append(
        self: &Arc<Self>,
        block: &Block,
        new_stamp: GenerationStamp,
        expected: u64,
    ) -> Result<ReplicaWriter, HdfsError> {
        let (replica, rbw) = self.check_recoverable(block, new_stamp, expected)?;
        match rbw {
            None => self.reopen_finalized(block.id, &replica, new_stamp, block.num_bytes),
            Some((open, turn)) => self.reopen_rbw(block, &replica, new_stamp, open, turn),
        }
    }

    fn reopen_rbw(
        self: &Arc<Self>,
        block: &Block,
        replica: &Replica,
        new_stamp: GenerationStamp,
        open: Arc<OpenReplica>,
        turn: WriterTurn,
    ) -> Result<ReplicaWriter, HdfsError> {
        self.bump_generation_stamp(block.id, new_stamp)?;
        let bumped = Replica { generation_stamp: new_stamp, ..replica.clone() };
        self.open_writer(block.id, &bumped, open, turn, block.num_bytes)
    }

    /// Stage PIPELINE_SETUP_STREAMING_RECOVERY: goes on with a replica whose acknowledged bytes reach `min` and whose
    /// bytes do not pass `max`. What was not acknowledged is cut off.
    ///
    /// # Errors
    /// `ReplicaNotFoundException` when the replica is no such one.
    pub fn recover_rbw(
        self: &Arc<Self>,
        block: &Block,
        new_stamp: GenerationStamp,
        min: u64,
        max: u64,
    ) -> Result<ReplicaWriter, HdfsError> {
        let replica = self
            .get(block.id)
            .ok_or_else(|| not_found(format!("Cannot recover a non-existent replica {}", self.extended(block))))?;
        let Kind::Rbw(open) = &replica.kind else {
            return Err(not_found(format!("Cannot recover a non-RBW replica {}", self.extended(block))));
        };
        let turn = self.take_over(open, block.id)?;
        let replica = match self.get(block.id) {
            Some(now) if matches!(&now.kind, Kind::Rbw(o) if Arc::ptr_eq(o, open)) => now,
            _ => return Err(not_found(format!("Cannot recover a non-RBW replica {}", self.extended(block)))),
        };
        self.check_stamp(block, &replica, new_stamp)?;
        let progress = open.progress();
        if progress.bytes_acked < min || progress.bytes_on_disk > max {
            return Err(not_found(format!(
                "Unmatched length replica {block}: BytesAcked = {} BytesRcvd = {} are not in the range of [{min}, {max}].",
                progress.bytes_acked, progress.bytes_on_disk
            )));
        }
        let mut writer = self.reopen_rbw(block, &replica, new_stamp, open.clone(), turn)?;
        if progress.bytes_on_disk > progress.bytes_acked {
            let (data, meta) = writer.files();
            let last = truncate(writer.volume(), data, meta, progress.bytes_on_disk, progress.bytes_acked)
                .map_err(io_error)?;
            writer.set_length(progress.bytes_acked, last);
        }
        Ok(writer)
    }

    /// Stage PIPELINE_CLOSE_RECOVERY: raises the stamp and finalizes. Returns the block and its storage.
    ///
    /// # Errors
    /// As `recover_append`.
    pub fn recover_close(
        self: &Arc<Self>,
        block: &Block,
        new_stamp: GenerationStamp,
        expected: u64,
        sync: bool,
    ) -> Result<(Block, Arc<Volume>), HdfsError> {
        let (replica, rbw) = self.check_recoverable(block, new_stamp, expected)?;
        let (volume, _) = self.volume(replica.volume).map_err(io_error)?;
        let volume = volume.clone();
        match rbw {
            None => {
                self.bump_generation_stamp(block.id, new_stamp)?;
                Ok((Block { id: block.id, generation_stamp: new_stamp, num_bytes: replica.num_bytes }, volume))
            }
            Some((open, turn)) => {
                let mut writer = self.reopen_rbw(block, &replica, new_stamp, open, turn)?;
                Ok((self.finalize(&mut writer, sync)?, volume))
            }
        }
    }

    /// Makes a complete copy in `tmp` an RBW replica of which all bytes are visible.
    ///
    /// # Errors
    /// The replica is no temporary one any more; the files cannot be moved.
    pub fn convert_temporary_to_rbw(&self, writer: &mut ReplicaWriter) -> Result<Block, HdfsError> {
        let id = writer.id();
        let temporary = self.get(id).ok_or_else(|| not_found(format!("Replica not found for blk_{id}")))?;
        if temporary.state() != ReplicaState::Temporary {
            return Err(not_found(format!("r.getState() != ReplicaState.TEMPORARY, r=blk_{id}")));
        }
        let open = writer.open_replica().clone();
        open.set_acked(writer.length());
        let rbw = Replica { kind: Kind::Rbw(open), ..temporary.clone() };
        self.move_files(id, &temporary, &rbw, false).map_err(io_error)?;
        let block = rbw.block(id);
        self.map.lock().insert(id, rbw);
        writer.completed();
        Ok(block)
    }

    /// Begins block recovery: ends the writer and freezes the replica. `None`: not here.
    ///
    /// # Errors
    /// The replica is older than the block or newer than the recovery; `RecoveryInProgressException` when a recovery with
    /// a higher id runs.
    pub fn init_recovery(
        &self,
        block: &Block,
        recovery_id: GenerationStamp,
    ) -> Result<Option<RecoveryInfo>, HdfsError> {
        let Some(replica) = self.get(block.id) else { return Ok(None) };
        let _turn = match &replica.kind {
            Kind::Rbw(open) | Kind::Temporary(open) => Some(self.take_over(open, block.id)?),
            _ => None,
        };
        let mut map = self.map.lock();
        let Some(replica) = map.get_mut(&block.id) else { return Ok(None) };
        let shown = format!("block={block}, replica={} {}", replica.block(block.id), replica.state().name());
        if replica.generation_stamp < block.generation_stamp {
            return Err(HdfsError::io(format!("replica.getGenerationStamp() < block.getGenerationStamp(), {shown}")));
        }
        if replica.generation_stamp >= recovery_id {
            return Err(HdfsError::io(format!(
                "THIS IS NOT SUPPOSED TO HAPPEN: replica.getGenerationStamp() >= recoveryId = {recovery_id}, {shown}"
            )));
        }
        let original = match &replica.kind {
            Kind::Rur(rur) if rur.recovery_id >= recovery_id => {
                return Err(HdfsError::new(
                    ExceptionClass::RecoveryInProgress,
                    format!("rur.getRecoveryID() >= recoveryId = {recovery_id}, {shown}"),
                ));
            }
            Kind::Rur(rur) => rur.original.clone(),
            kind => kind.clone(),
        };
        let original_state = original.state();
        replica.kind = Kind::Rur(Box::new(UnderRecovery { original, recovery_id }));
        Ok(Some(RecoveryInfo { block: replica.block(block.id), original_state }))
    }

    /// Ends block recovery: cuts the replica to `new_length` under the stamp `recovery_id` and finalizes it, or does that to
    /// a copy named `new_id`. Returns the finalized block and its volume.
    ///
    /// # Errors
    /// The replica is not in this recovery, or too short; or the disk's error.
    pub fn update_under_recovery(
        &self,
        old: &Block,
        recovery_id: GenerationStamp,
        new_id: BlockId,
        new_length: u64,
    ) -> Result<(Block, Arc<Volume>), HdfsError> {
        let replica =
            self.get(old.id).ok_or_else(|| not_found(format!("Replica not found for {}", self.extended(old))))?;
        let Kind::Rur(rur) = &replica.kind else {
            let text = format!("replica.getState() != RUR, replica={old} {}", replica.state().name());
            return Err(HdfsError::io(text));
        };
        let on_disk = replica.bytes_on_disk();
        if rur.recovery_id != recovery_id {
            let text = format!("rur.getRecoveryID() != recoveryId = {recovery_id}, rur={old} {}", rur.recovery_id);
            return Err(HdfsError::io(text));
        }
        if on_disk < new_length {
            return Err(HdfsError::io(format!("rur.getNumBytes() < newlength = {new_length}, rur={old} {on_disk}")));
        }
        let (volume, _) = self.volume(replica.volume).map_err(io_error)?;
        let volume = volume.clone();
        let block = Block { id: new_id, generation_stamp: recovery_id, num_bytes: new_length };
        if new_id != old.id && new_id.0 > 0 {
            self.copy_truncated(&replica, old.id, &block, &volume).map_err(io_error)?;
            if let Some(present) = self.map.lock().get_mut(&old.id) {
                present.kind = rur.original.clone();
            }
            return Ok((block, volume));
        }
        let block = Block { id: old.id, ..block };
        self.cut(&volume, old.id, &replica, new_length).map_err(io_error)?;
        let done = Replica {
            generation_stamp: recovery_id,
            num_bytes: new_length,
            volume: replica.volume,
            kind: Kind::Finalized,
        };
        self.move_files(old.id, &replica, &done, true).map_err(io_error)?;
        self.map.lock().insert(old.id, done.clone());
        self.sync_moved(old.id, &replica, &done).map_err(io_error)?;
        Ok((block, volume))
    }

    /// Cuts the files of a replica to `length`, whatever they hold behind it: more of the replica, or what a failed write
    /// left.
    fn cut(&self, volume: &Volume, id: BlockId, replica: &Replica, length: u64) -> io::Result<()> {
        let (data, meta) = self.paths(id, replica)?;
        let meta_is_longer = match meta::read_header(&*volume.disk.open(&meta, OpenMode::Read)?) {
            Ok(checksum) => volume.disk.metadata(&meta)?.len > meta::meta_length(checksum, length),
            // A header that makes no sense is told to readers; it need not hold the file open.
            Err(e) if e.kind() == io::ErrorKind::InvalidData => false,
            Err(e) => return Err(e),
        };
        if volume.disk.metadata(&data)?.len <= length && !meta_is_longer {
            return Ok(());
        }
        self.unshare(volume, id, replica)?;
        let data = volume.disk.open(&data, OpenMode::ReadWrite)?;
        let meta = volume.disk.open(&meta, OpenMode::ReadWrite)?;
        truncate(volume, &*data, &*meta, replica.bytes_on_disk(), length).map(|_| ())
    }

    /// Copy on truncate: a new finalized block with the first bytes of an old one.
    fn copy_truncated(&self, replica: &Replica, old: BlockId, new: &Block, volume: &Arc<Volume>) -> io::Result<()> {
        let (data, meta) = self.paths(old, replica)?;
        let (data, meta) = (volume.disk.open(&data, OpenMode::Read)?, volume.disk.open(&meta, OpenMode::Read)?);
        let (_, dirs) = self.volume(replica.volume)?;
        let dir = dirs.finalized_dir(new.id);
        volume.make_durable_subdir(&dir)?;
        let new_data = volume.disk.open(&dir.join(block_name(new.id)), OpenMode::Create)?;
        let new_meta = volume.disk.open(&dir.join(meta_name(new)), OpenMode::Create)?;
        copy(&*data, &*new_data, new.num_bytes)?;
        let checksum = meta::read_header(&*meta)?;
        let sums = checksum.checksums_len(new.num_bytes as usize) as u64;
        copy(&*meta, &*new_meta, meta::HEADER_BYTES + sums)?;
        fix_last_checksum(checksum, &*new_data, &*new_meta, new.num_bytes)?;
        new_data.sync_data(SyncPoint("datanode.truncate-copy-data"))?;
        new_meta.sync_data(SyncPoint("datanode.truncate-copy-meta"))?;
        volume.disk.sync_dir(&dir, SyncPoint("datanode.truncate-copy-directory"))?;
        volume.add_used(new.num_bytes + meta::HEADER_BYTES + sums);
        volume.num_blocks.fetch_add(1, Ordering::Relaxed);
        let replica = Replica {
            generation_stamp: new.generation_stamp,
            num_bytes: new.num_bytes,
            volume: replica.volume,
            kind: Kind::Finalized,
        };
        self.map.lock().insert(new.id, replica);
        Ok(())
    }
}

/// Cuts both files to `length`, durably. The last checksum is made to fit first: with it on disk, a crash leaves a replica
/// of which `length` bytes can be verified, cut or not.
fn truncate(
    volume: &Volume,
    data: &dyn DiskFile,
    meta: &dyn DiskFile,
    old_length: u64,
    length: u64,
) -> io::Result<Option<[u8; 4]>> {
    let checksum = meta::read_header(meta)?;
    let meta_before = meta.len()?;
    let last = fix_last_checksum(checksum, data, meta, length)?;
    meta.sync_data(SyncPoint("datanode.truncate-checksum"))?;
    data.set_len(length)?;
    meta.set_len(meta::meta_length(checksum, length))?;
    data.sync_data(SyncPoint("datanode.truncate-data"))?;
    meta.sync_data(SyncPoint("datanode.truncate-meta"))?;
    volume.sub_used(old_length.saturating_sub(length) + meta_before.saturating_sub(meta.len()?));
    Ok(last)
}

/// Writes the checksum of the bytes of the last chunk below `length`.
fn fix_last_checksum(
    checksum: Checksum,
    data: &dyn DiskFile,
    meta: &dyn DiskFile,
    length: u64,
) -> io::Result<Option<[u8; 4]>> {
    let chunk = u64::from(checksum.bytes_per_checksum());
    if checksum.checksum_size() == 0 || length.is_multiple_of(chunk) {
        return Ok(None);
    }
    let mut bytes = vec![0; (length % chunk) as usize];
    data.read_exact_at(&mut bytes, length - length % chunk)?;
    let sum = checksum.kind().crc(&bytes).to_be_bytes();
    meta.write_all_at(&sum, checksum_offset(checksum, length))?;
    Ok(Some(sum))
}

/// The first `length` bytes.
pub(super) fn copy(from: &dyn DiskFile, to: &dyn DiskFile, length: u64) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES.min(length as usize)];
    let mut offset = 0;
    while offset < length {
        let want = buffer.len().min((length - offset) as usize);
        from.read_exact_at(&mut buffer[..want], offset)?;
        to.write_all_at(&buffer[..want], offset)?;
        offset += want as u64;
    }
    Ok(())
}
