//! Reading a file: block after block from the nearest live replica, another one when it fails, with the bytes checked.
//! Source: `DFSInputStream.java`, Hadoop 3.5.0.

mod block_reader;
mod connections;
mod locations;

pub(crate) use connections::Connections;
pub(crate) use locations::Locations;

use crate::client::DfsClient;
use crate::datanode::{block_text, xfer_addr};
use crate::error::{ClientError, Result};
use crate::namenode::Repeat;
use block_reader::{BlockError, BlockReader, Range};
use locations::block_length;
use rand::Rng;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::Duration;
use surus_keys::StreamCipher;
use surus_proto::hadoop::hdfs as proto;
use surus_types::ExceptionClass;

/// A forward seek of at most this many bytes reads over them instead of asking anew.
const SKIP_MAX: u64 = 128 << 10;
/// Unit of the wait before all replicas of a block are tried once more (`dfs.client.retry.window.base`).
const RETRY_WINDOW: Duration = Duration::from_secs(3);
/// `HdfsConstants.READ_TIMEOUT_EXTENSION` and friends count nodes; a read has one.
const BLOCK_MISSING: &str = "org.apache.hadoop.hdfs.BlockMissingException";

/// A file open for reading.
pub struct Reader {
    client: DfsClient,
    path: String,
    locations: Locations,
    verify: bool,
    pos: u64,
    current: Option<Current>,
    /// Bytes of a packet that the last `read` had no room for.
    pending: Vec<u8>,
    pending_start: usize,
    /// UUIDs of DataNodes that failed for this reader.
    dead: Vec<String>,
    failures: u32,
    /// Of a file in an encryption zone.
    cipher: Option<StreamCipher>,
}

/// The replica that is being read.
struct Current {
    reader: BlockReader,
    block: proto::LocatedBlockProto,
    datanode: proto::DatanodeInfoProto,
    addr: String,
}

impl DfsClient {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// `FileNotFoundException` for a missing file or a directory; erasure-coded files are not read yet; the key of an
    /// encrypted one cannot be had.
    pub fn open(&self, path: &str) -> Result<Reader> {
        let locations = Locations::fetch(self, path)?;
        if let Some(policy) = &locations.ec_policy {
            return Err(ClientError::io(format!("{path} is erasure-coded ({policy}): not supported by this client")));
        }
        let cipher = self.cipher(path, locations.encryption.as_ref())?;
        Ok(Reader {
            client: self.clone(),
            path: path.to_string(),
            locations,
            verify: true,
            pos: 0,
            current: None,
            pending: Vec::new(),
            pending_start: 0,
            dead: Vec::new(),
            failures: 0,
            cipher,
        })
    }
}

/// Hands a piece of the file, which begins at `pos`, to `sink` in the clear.
fn decrypted(
    cipher: &mut Option<StreamCipher>,
    pos: u64,
    piece: &[u8],
    sink: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let Some(cipher) = cipher else { return sink(piece) };
    let mut plain = piece.to_vec();
    cipher.seek(pos);
    cipher.apply(&mut plain);
    sink(&plain)
}

impl Reader {
    /// Length in bytes when the file was opened, with what a writer had flushed.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.locations.length()
    }

    /// Whether somebody is writing the file.
    pub fn is_under_construction(&self) -> bool {
        self.locations.is_under_construction()
    }

    /// Whether checksums are verified (`-ignoreCrc` turns it off).
    pub fn set_verify_checksum(&mut self, verify: bool) {
        self.verify = verify;
    }

    pub fn position(&self) -> u64 {
        self.pos
    }

    /// Moves to a byte of the file, its end at most.
    pub fn seek_to(&mut self, target: u64) -> Result<()> {
        if target > self.len() {
            return Err(ClientError::io("Cannot seek after EOF"));
        }
        if target == self.pos {
            return Ok(());
        }
        let pending = (self.pending.len() - self.pending_start) as u64;
        if target > self.pos && target - self.pos <= pending {
            self.pending_start += (target - self.pos) as usize;
            self.pos = target;
            return Ok(());
        }
        let reachable =
            self.current.as_ref().is_some_and(|c| target > self.pos && target - self.pos <= pending + c.reader.left());
        if reachable && target - self.pos <= SKIP_MAX {
            while self.pos < target {
                let skip = usize::try_from(target - self.pos).unwrap_or(usize::MAX);
                let mut skipped = [0; 8192];
                let room = skip.min(skipped.len());
                if self.read_some(&mut skipped[..room])? == 0 {
                    break;
                }
            }
            return Ok(());
        }
        self.pending.clear();
        self.pending_start = 0;
        self.drop_current();
        self.pos = target;
        Ok(())
    }

    /// Copies the file from here to its end, packet by packet and without another copy.
    ///
    /// # Errors
    /// Those of reading; those of `out` as they are.
    pub fn copy_to(&mut self, out: &mut dyn Write) -> io::Result<u64> {
        let mut copied = (self.pending.len() - self.pending_start) as u64;
        out.write_all(&self.pending[self.pending_start..])?;
        self.pos += copied;
        self.pending.clear();
        self.pending_start = 0;
        while let Some(len) = self.next_piece(&mut |piece| out.write_all(piece))? {
            copied += len as u64;
        }
        Ok(copied)
    }

    /// Reads at a position without moving; short only at the end of the file.
    pub fn pread(&mut self, offset: u64, buf: &mut [u8]) -> Result<usize> {
        let len = self.len().saturating_sub(offset).min(buf.len() as u64);
        let mut done = 0u64;
        while done < len {
            let at = offset + done;
            let block = self.locations.block_at(&self.client, at)?;
            let piece = (block.offset + block_length(&block) - at).min(len - done);
            let room = &mut buf[done as usize..(done + piece) as usize];
            self.pread_block(at, room)?;
            done += piece;
        }
        Ok(done as usize)
    }

    /// Fills `room` from one block, from as many replicas as it takes.
    fn pread_block(&mut self, at: u64, room: &mut [u8]) -> Result<()> {
        let mut failures = 0;
        loop {
            let mut current = self.open_block(at, Some(room.len() as u64), &mut failures)?;
            let mut filled = 0;
            let failed = loop {
                let fill = |piece: &[u8]| {
                    room[filled..filled + piece.len()].copy_from_slice(piece);
                    piece.len()
                };
                match current.reader.next(fill) {
                    Ok(Some(len)) => filled += len,
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            match failed {
                None => {
                    self.keep_connection(current);
                    if let Some(cipher) = &mut self.cipher {
                        cipher.seek(at);
                        cipher.apply(room);
                    }
                    return Ok(());
                }
                Some(error) => self.replica_failed(current, error),
            }
        }
    }

    /// Hands the next piece to `sink`; `None` at the end of the file. Errors of `sink` end the reading.
    fn next_piece(&mut self, sink: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<Option<usize>> {
        loop {
            if self.pos >= self.locations.length() {
                self.drop_current();
                return Ok(None);
            }
            let mut current = match self.current.take() {
                Some(current) => current,
                None => {
                    let mut failures = self.failures;
                    let opened = self.open_block(self.pos, None, &mut failures);
                    self.failures = failures;
                    opened?
                }
            };
            let (pos, cipher) = (self.pos, &mut self.cipher);
            match current.reader.next(|piece| (piece.len(), decrypted(cipher, pos, piece, sink))) {
                Ok(Some((len, sunk))) => {
                    self.pos += len as u64;
                    self.failures = 0;
                    self.current = Some(current);
                    return sunk.map(|()| Some(len));
                }
                Ok(None) => self.keep_connection(current),
                Err(error) => self.replica_failed(current, error),
            }
        }
    }

    fn read_some(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        if self.pending_start < self.pending.len() {
            let len = buf.len().min(self.pending.len() - self.pending_start);
            buf[..len].copy_from_slice(&self.pending[self.pending_start..self.pending_start + len]);
            self.pending_start += len;
            self.pos += len as u64;
            return Ok(len);
        }
        let mut pending = std::mem::take(&mut self.pending);
        pending.clear();
        let mut filled = 0;
        let read = self.next_piece(&mut |piece| {
            filled = buf.len().min(piece.len());
            buf[..filled].copy_from_slice(&piece[..filled]);
            pending.extend_from_slice(&piece[filled..]);
            Ok(())
        });
        // `next_piece` moved over the whole piece; the rest of it is still to be read.
        self.pos -= pending.len() as u64;
        self.pending = pending;
        self.pending_start = 0;
        read.map(|_| filled)
    }

    /// Opens the block at `at` on the first replica that answers. `len`: no more than this many bytes; `None`: to the
    /// block's end.
    fn open_block(&mut self, at: u64, len: Option<u64>, failures: &mut u32) -> Result<Current> {
        let mut refreshed = false;
        loop {
            let block = self.locations.block_at(&self.client, at)?;
            let in_block = at - block.offset;
            let left = block_length(&block) - in_block;
            let Some(datanode) = block.locs.iter().find(|d| !self.dead.contains(&d.id.datanode_uuid)).cloned() else {
                self.all_failed(&block, at, failures)?;
                continue;
            };
            let addr = xfer_addr(&datanode, self.client.config().read.use_datanode_hostname);
            let range = Range {
                block: &block,
                client_name: &self.client.inner.client_name,
                offset: in_block,
                len: len.map_or(left, |len| len.min(left)),
                verify: self.verify,
            };
            match self.client.inner.connections.open(&addr, self.client.config().read.socket_timeout, &range) {
                Ok(reader) => return Ok(Current { reader, block, datanode, addr }),
                Err(BlockError::Token(_)) if !refreshed => {
                    refreshed = true;
                    self.locations.fetch_from(&self.client, at)?;
                }
                Err(error) => {
                    tracing::warn!("{}: {}", block_text(&block.b), error.into_client_error());
                    self.dead.push(datanode.id.datanode_uuid);
                }
            }
        }
    }

    /// Every replica failed: after a pause all get another chance, with fresh locations; in the end the block is missing.
    fn all_failed(&mut self, block: &proto::LocatedBlockProto, at: u64, failures: &mut u32) -> Result<()> {
        if *failures >= self.client.config().read.block_acquire_failures {
            return Err(self.block_missing(block));
        }
        let base = RETRY_WINDOW.saturating_mul(*failures);
        let wait = base + RETRY_WINDOW.saturating_mul(*failures + 1).mul_f64(rand::rng().random_range(0.0..1.0));
        *failures += 1;
        std::thread::sleep(wait);
        self.dead.clear();
        self.locations.fetch_from(&self.client, at)
    }

    fn block_missing(&self, block: &proto::LocatedBlockProto) -> ClientError {
        let list = |nodes: &mut dyn Iterator<Item = &proto::DatanodeInfoProto>| {
            nodes.map(|d| format!(" {}:{}", d.id.ip_addr, d.id.xfer_port)).collect::<String>()
        };
        let message = format!(
            "Could not obtain block: {} file={} No live nodes contain current block Block locations:{} Dead nodes: {}",
            block_text(&block.b),
            self.path,
            list(&mut block.locs.iter()),
            list(&mut block.locs.iter().filter(|d| self.dead.contains(&d.id.datanode_uuid))),
        );
        ClientError::Remote { class: BLOCK_MISSING.into(), message }
    }

    fn replica_failed(&mut self, current: Current, error: BlockError) {
        if let BlockError::Checksum(text) = &error {
            tracing::warn!("{}: {text}", self.path);
            self.report_bad_block(&current);
        }
        self.dead.push(current.datanode.id.datanode_uuid);
    }

    /// Tells the NameNode of a corrupt replica. That it may not hear it is no reason to stop reading.
    fn report_bad_block(&self, current: &Current) {
        let mut bad = current.block.clone();
        let keep = bad.locs.iter().position(|d| d.id.datanode_uuid == current.datanode.id.datanode_uuid).unwrap_or(0);
        bad.locs = vec![current.datanode.clone()];
        bad.storage_types = bad.storage_types.get(keep).copied().into_iter().collect();
        bad.storage_i_ds = bad.storage_i_ds.get(keep).cloned().into_iter().collect();
        bad.is_cached.clear();
        let request = proto::ReportBadBlocksRequestProto { blocks: vec![bad] };
        let told: Result<proto::ReportBadBlocksResponseProto> =
            self.client.call("reportBadBlocks", Repeat::Idempotent, &request);
        if let Err(error) = told {
            tracing::warn!("the corrupt replica of {} could not be reported: {error}", block_text(&current.block.b));
        }
    }

    fn keep_connection(&self, current: Current) {
        if let Some(stream) = current.reader.into_stream() {
            self.client.inner.connections.put(current.addr, stream);
        }
    }

    fn drop_current(&mut self) {
        if let Some(current) = self.current.take()
            && current.reader.left() == 0
        {
            self.keep_connection(current);
        }
    }
}

impl Read for Reader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.read_some(buf)
    }
}

impl Seek for Reader {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        let (base, by) = match target {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::End(by) => (self.len(), by),
            SeekFrom::Current(by) => (self.pos, by),
        };
        let at = base.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
        self.seek_to(at)?;
        Ok(at)
    }
}

/// Whether this is what a block without a readable replica gives.
pub fn is_block_missing(error: &ClientError) -> bool {
    error.class_name() == Some(BLOCK_MISSING) || error.is(ExceptionClass::Eof)
}
