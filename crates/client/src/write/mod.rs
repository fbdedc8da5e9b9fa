//! Writing a file: packets to a pipeline of DataNodes, block after block. Source: `DFSOutputStream.java`, Hadoop 3.5.0.

mod block;
mod calls;
mod packet;
mod pipeline;

pub(crate) use pipeline::SendSide;

use crate::cipher::Encrypting;
use crate::client::{DfsClient, perm};
use crate::error::{ClientError, Result};
use crate::lease::OpenFile;
use crate::namenode::Repeat::AtMostOnce;
use crate::status::FileStatus;
use block::{BlockSettings, OpenBlock};
use calls::FileCalls;
use packet::{PacketBuf, PacketShape};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Instant;
use surus_keys::StreamCipher;
use surus_proto::hadoop::hdfs as proto;
use surus_types::{ExceptionClass, FsPermission};
use surus_wire::datatransfer::{ChecksumType, DataChecksum};

/// How often a creation is tried again. Source: `DFSOutputStream.CREATE_RETRY_COUNT`, Hadoop 3.5.0.
const CREATE_RETRIES: u32 = 10;

/// How a file is created.
#[derive(Clone, Debug)]
pub struct CreateOptions {
    /// Whether an existing file is replaced.
    pub overwrite: bool,
    /// Whether missing parents are made.
    pub create_parent: bool,
    /// `None`: `dfs.replication`.
    pub replication: Option<u16>,
    /// Bytes; `None`: `dfs.blocksize`.
    pub block_size: Option<u64>,
    /// Before the umask, unless `unmasked` is given.
    pub permission: FsPermission,
    /// The mode before the umask where the umask is applied already: of somebody else's client.
    pub unmasked: Option<FsPermission>,
    /// One replica in memory that reaches the disk later.
    pub lazy_persist: bool,
    /// Every block is on the DataNodes' disks before it is closed.
    pub sync_block: bool,
}

impl Default for CreateOptions {
    fn default() -> Self {
        CreateOptions {
            overwrite: true,
            create_parent: true,
            replication: None,
            block_size: None,
            permission: FsPermission::FILE_DEFAULT,
            unmasked: None,
            lazy_persist: false,
            sync_block: false,
        }
    }
}

impl DfsClient {
    /// Creates a file and opens it for writing.
    ///
    /// # Errors
    /// Those of the NameNode: `FileAlreadyExistsException`, `AlreadyBeingCreatedException`, ...
    pub fn create(&self, path: &str, options: &CreateOptions) -> Result<Writer> {
        use proto::CreateFlagProto as Flag;
        let config = self.config();
        let mut flags = Flag::Create as u32;
        if options.overwrite {
            flags |= Flag::Overwrite as u32;
        }
        if options.lazy_persist {
            flags |= Flag::LazyPersist as u32;
        }
        let block_size = options.block_size.unwrap_or(config.write.block_size);
        let replication = options.replication.unwrap_or(config.write.replication);
        let settings = block_settings(self, replication, options.lazy_persist)?;
        if !block_size.is_multiple_of(u64::from(settings.checksum.bytes_per_checksum())) {
            return Err(ClientError::Illegal(format!(
                "Invalid values: dfs.bytes-per-checksum (={}) must divide block size (={block_size}).",
                settings.checksum.bytes_per_checksum()
            )));
        }
        let request = proto::CreateRequestProto {
            src: path.into(),
            masked: perm(match options.unmasked {
                Some(_) => options.permission,
                None => options.permission.apply_umask(config.umask),
            }),
            client_name: self.inner.client_name.clone(),
            create_flag: flags,
            create_parent: options.create_parent,
            replication: replication.into(),
            block_size,
            crypto_protocol_version: vec![proto::CryptoProtocolVersionProto::EncryptionZones as i32],
            unmasked: Some(perm(options.unmasked.unwrap_or(options.permission))),
            ec_policy_name: None,
            storage_policy: None,
        };
        let answer = self.created(&request)?;
        let status = answer.fs.ok_or_else(|| ClientError::io("the NameNode did not describe the new file"))?;
        let encryption = status.file_encryption_info.clone();
        let status = FileStatus::from_proto(status, path);
        if let Some(policy) = &status.ec_policy {
            // The reason counts, not whether this works.
            let _ = self.delete(path, false);
            return Err(ClientError::io(format!(
                "{path} would be erasure-coded ({policy}): not supported by this client"
            )));
        }
        let cipher = self.cipher(path, encryption.as_ref());
        if cipher.is_err() {
            // What cannot be encrypted here is not to lie there in the clear. The reason counts, not whether this works.
            let _ = self.delete(path, false);
        }
        let mut writer = Writer::new(self, path, &status, settings, options.sync_block);
        writer.cipher = cipher?;
        Ok(writer)
    }

    /// A zone may come or go while the NameNode makes a file's key: it asks to try again.
    /// Source: `DFSOutputStream.newStreamForCreate`, Hadoop 3.5.0.
    fn created(&self, request: &proto::CreateRequestProto) -> Result<proto::CreateResponseProto> {
        let mut retries = 0;
        loop {
            match self.call("create", AtMostOnce, request) {
                Err(error) if !error.is(ExceptionClass::RetryStartFile) => return Err(error),
                Err(_) if retries < CREATE_RETRIES => retries += 1,
                Err(_) => return Err(ClientError::io("Too many retries because of encryption zone operations")),
                done => return done,
            }
        }
    }

    /// Opens an existing file to write behind its end. `new_block`: in a block of its own.
    ///
    /// # Errors
    /// Those of the NameNode; a pipeline to the last block that cannot be set up.
    pub fn append(&self, path: &str, new_block: bool) -> Result<Writer> {
        use proto::CreateFlagProto as Flag;
        let flag = Flag::Append as u32 | if new_block { Flag::NewBlock as u32 } else { 0 };
        let request = proto::AppendRequestProto {
            src: path.into(),
            client_name: self.inner.client_name.clone(),
            flag: Some(flag),
        };
        let answer: proto::AppendResponseProto = self.call("append", AtMostOnce, &request)?;
        let encryption = match &answer.stat {
            Some(status) => status.file_encryption_info.clone(),
            None => self.get_file_encryption_info(path)?,
        };
        let status = match answer.stat {
            Some(status) => FileStatus::from_proto(status, path),
            None => self.file_status(path)?,
        };
        let settings = block_settings(self, status.replication, false)?;
        let mut writer = Writer::new(self, path, &status, settings, false);
        writer.cipher = self.cipher(path, encryption.as_ref())?;
        match answer.block {
            Some(last) if new_block => writer.previous = Some(last.b),
            Some(last) => {
                let length = last.b.num_bytes.unwrap_or(0);
                let block = OpenBlock::append(&writer.calls, settings, last)?;
                writer.watch(&block);
                writer.block = Some(block);
                writer.packet.reset(length, writer.block_size);
            }
            None => {}
        }
        Ok(writer)
    }
}

fn block_settings(client: &DfsClient, replication: u16, lazy_persist: bool) -> Result<BlockSettings> {
    let config = &client.config().write;
    let kind = ChecksumType::from_name(config.checksum_type);
    let size = u32::try_from(config.bytes_per_checksum).unwrap_or(0);
    let checksum = kind
        .and_then(|kind| DataChecksum::new(kind, size))
        .ok_or_else(|| ClientError::io(format!("bad checksum: {} over {size} bytes", config.checksum_type)))?;
    Ok(BlockSettings { checksum, replication, lazy_persist, packets_in_flight: config.packets_in_flight.max(1) })
}

/// A file open for writing. Dropped without `close`, it stays open until its lease runs out.
pub struct Writer {
    calls: FileCalls,
    settings: BlockSettings,
    block_size: u64,
    sync_block: bool,
    /// The last finished block, to be committed with the next call.
    previous: Option<proto::ExtendedBlockProto>,
    block: Option<OpenBlock>,
    /// Being filled.
    packet: PacketBuf,
    /// Whether `packet` holds bytes that were never sent.
    fresh: bool,
    free: Vec<PacketBuf>,
    next_seqno: i64,
    pos: u64,
    /// DataNodes that failed to set up a pipeline, and when.
    excluded: Vec<(proto::DatanodeInfoProto, Instant)>,
    /// Whether the NameNode's log has the current block.
    persisted: bool,
    failed: Option<ClientError>,
    open_file: Option<OpenFile>,
    /// Of a file in an encryption zone.
    cipher: Option<StreamCipher>,
}

impl Writer {
    fn new(client: &DfsClient, path: &str, status: &FileStatus, settings: BlockSettings, sync_block: bool) -> Self {
        let calls = FileCalls { client: client.clone(), src: path.to_string(), file_id: status.file_id };
        let mut packet = PacketBuf::new(PacketShape::new(settings.checksum, client.config().write.packet_size));
        packet.reset(0, status.block_size);
        Writer {
            open_file: Some(client.inner.leases.open_file(client)),
            calls,
            settings,
            block_size: status.block_size,
            sync_block,
            previous: None,
            block: None,
            packet,
            fresh: false,
            free: Vec::new(),
            next_seqno: 0,
            pos: status.length,
            excluded: Vec::new(),
            persisted: false,
            failed: None,
            cipher: None,
        }
    }

    /// Length of the file with what was written so far.
    pub fn position(&self) -> u64 {
        self.pos
    }

    /// Everything written so far is with all DataNodes of the pipeline and visible to new readers.
    ///
    /// # Errors
    /// The pipeline broke and could not be recovered; every later call gives the same error.
    pub fn hflush(&mut self) -> Result<()> {
        self.guarded(|writer| writer.flush_or_sync(false, false))
    }

    /// As `hflush`, and on the DataNodes' disks: what the block that is being written has, and from then on every block when it
    /// is full. Blocks that were full before the first call may not be on disk, as in Hadoop: `CreateOptions::sync_block` has
    /// them synced, too. Source: `DFSOutputStream.hsync`, Hadoop 3.5.0.
    ///
    /// # Errors
    /// As `hflush`.
    pub fn hsync(&mut self) -> Result<()> {
        self.guarded(|writer| writer.flush_or_sync(true, false))
    }

    /// As `hsync`, and the NameNode knows the length.
    ///
    /// # Errors
    /// As `hflush`.
    pub fn hsync_update_length(&mut self) -> Result<()> {
        self.guarded(|writer| writer.flush_or_sync(true, true))
    }

    /// Finishes the last block and closes the file.
    ///
    /// # Errors
    /// As `hflush`; the last block does not get its minimum of replicas in time.
    pub fn close(mut self) -> Result<()> {
        self.guarded(Writer::finish)
    }

    /// Copies all of `source`, straight into packets.
    ///
    /// # Errors
    /// Those of `source` as they are; those of writing.
    pub fn write_from(&mut self, source: &mut dyn Read) -> io::Result<u64> {
        let mut copied = 0;
        loop {
            let mut encrypting = Encrypting { source: &mut *source, cipher: self.cipher.as_mut(), pos: self.pos };
            let len = match self.packet.append_from(&mut encrypting) {
                Ok(0) => return Ok(copied),
                Ok(len) => len as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.fresh = true;
            self.pos += len;
            copied += len;
            if self.packet.is_full() {
                self.guarded(Writer::send_full)?;
            }
        }
    }

    /// Runs `act` unless an earlier error ended the writing, and keeps the error it gives.
    fn guarded(&mut self, act: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        act(self).inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn send_full(&mut self) -> Result<()> {
        let end = self.packet.end_in_block();
        self.send_packet()?;
        if end == self.block_size {
            self.finish_block()?;
        } else {
            self.packet.reset(end, self.block_size);
        }
        Ok(())
    }

    /// Seals and sends what was filled. Afterwards `packet` is another one, to be reset.
    fn send_packet(&mut self) -> Result<()> {
        self.ensure_block()?;
        let next = self.spare();
        let mut packet = std::mem::replace(&mut self.packet, next);
        packet.seal(self.take_seqno());
        self.fresh = false;
        self.send(packet)
    }

    fn send(&mut self, packet: PacketBuf) -> Result<()> {
        let Some(block) = &mut self.block else { return Err(ClientError::io("no block is open")) };
        let sent = block.send(packet, &mut self.free);
        self.rewatch();
        sent
    }

    fn spare(&mut self) -> PacketBuf {
        let shape = PacketShape::new(self.settings.checksum, self.calls.client.config().write.packet_size);
        self.free.pop().unwrap_or_else(|| PacketBuf::new(shape))
    }

    fn take_seqno(&mut self) -> i64 {
        let seqno = self.next_seqno;
        self.next_seqno += 1;
        seqno
    }

    /// Has a block allocated and its pipeline set up; DataNodes that fail at this are left out of the next attempt.
    fn ensure_block(&mut self) -> Result<()> {
        if self.block.is_some() {
            return Ok(());
        }
        let (retries, expiry) = {
            let write = &self.calls.client.config().write;
            (write.block_retries, write.exclude_expiry)
        };
        for _ in 0..=retries {
            self.excluded.retain(|(_, since)| since.elapsed() < expiry);
            let excluded: Vec<_> = self.excluded.iter().map(|(datanode, _)| datanode.clone()).collect();
            let located = self.calls.add_block(self.previous.as_ref(), &excluded, &[])?;
            match OpenBlock::new(&self.calls, self.settings, located) {
                Ok(block) => {
                    self.watch(&block);
                    self.block = Some(block);
                    self.persisted = false;
                    return Ok(());
                }
                Err(failed) => {
                    let (block, broken) = *failed;
                    tracing::warn!("{}: {}", crate::datanode::block_text(block.block()), broken.text);
                    self.calls.abandon_block(block.block())?;
                    let bad = block.targets().nodes.get(broken.bad_index).cloned();
                    self.excluded.extend(bad.map(|datanode| (datanode, Instant::now())));
                }
            }
        }
        Err(ClientError::io("Unable to create new block."))
    }

    /// Tells the heartbeat thread of a new pipeline.
    fn watch(&self, block: &OpenBlock) {
        if let Some(pipeline) = block.pipeline() {
            self.calls.client.inner.leases.watch(pipeline.send_side());
        }
    }

    /// The same where a recovery may have changed it.
    fn rewatch(&self) {
        if let Some(pipeline) = self.block.as_ref().and_then(OpenBlock::pipeline)
            && Arc::weak_count(pipeline.send_side()) == 0
        {
            self.calls.client.inner.leases.watch(pipeline.send_side());
        }
    }

    fn flush_or_sync(&mut self, sync: bool, update_length: bool) -> Result<()> {
        self.sync_block |= sync;
        if self.fresh {
            let end = self.packet.end_in_block();
            let tail = self.packet.unfinished_chunk().to_vec();
            self.packet.sync = sync;
            self.send_packet()?;
            // The DataNodes want an unfinished chunk again from its start, so that its checksum can be made.
            self.packet.reset(end - tail.len() as u64, self.block_size);
            self.packet.append(&tail);
        } else if sync && self.block.is_some() && self.packet.end_in_block() > 0 {
            let mut empty = self.spare();
            empty.reset(self.packet.end_in_block(), self.block_size);
            empty.sync = true;
            empty.seal(self.take_seqno());
            self.send(empty)?;
        }
        let Some(block) = &mut self.block else { return Ok(()) };
        block.wait_all(&mut self.free)?;
        block.set_hflushed();
        if !self.persisted || update_length {
            let length = update_length.then(|| block.bytes_acked());
            self.calls.fsync(length)?;
            self.persisted = true;
        }
        Ok(())
    }

    fn finish_block(&mut self) -> Result<()> {
        if self.block.is_none() {
            return Ok(());
        }
        let mut last = self.spare();
        last.reset(self.packet_base(), self.block_size);
        last.is_last = true;
        last.sync = self.sync_block;
        last.seal(self.take_seqno());
        if let Some(mut block) = self.block.take() {
            self.previous = Some(block.close(last, &mut self.free)?);
        }
        self.packet.reset(0, self.block_size);
        Ok(())
    }

    /// Where the block ends: behind what was sent.
    fn packet_base(&self) -> u64 {
        self.block.as_ref().map_or(0, OpenBlock::bytes_sent)
    }

    fn finish(&mut self) -> Result<()> {
        if self.fresh {
            self.send_packet()?;
        }
        self.finish_block()?;
        self.calls.complete(self.previous.as_ref())?;
        self.open_file = None;
        Ok(())
    }
}

impl Write for Writer {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let encrypted = self.cipher.as_mut().map(|cipher| {
            let mut bytes = buf.to_vec();
            cipher.seek(self.pos);
            cipher.apply(&mut bytes);
            bytes
        });
        let mut left = encrypted.as_deref().unwrap_or(buf);
        while !left.is_empty() {
            if let Some(error) = &self.failed {
                return Err(error.clone().into());
            }
            let len = self.packet.append(left);
            left = &left[len..];
            self.fresh = true;
            self.pos += len as u64;
            if self.packet.is_full() {
                self.guarded(Writer::send_full)?;
            }
        }
        Ok(buf.len())
    }

    /// Does nothing: see `hflush`.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
