//! Reading a file whose blocks lie on this DataNode, without a detour over the data transfer port. Checksums are verified.

use crate::node::Node;
use crate::store::{BlockPool, ReplicaReader, ReplicaState, meta};
use std::io;
use std::sync::Arc;
use surus_proto::hadoop::hdfs::LocatedBlocksProto;
use surus_types::Block;

/// A range of a closed file that is wholly here.
pub(super) struct LocalFile {
    node: Arc<Node>,
    pool: Arc<BlockPool>,
    blocks: Vec<LocalBlock>,
}

struct LocalBlock {
    /// Offset in the file.
    start: u64,
    block: Block,
    open: Option<ReplicaReader>,
}

impl LocalFile {
    /// `None` when a block of the range is open, elsewhere, or not as the NameNode knows it.
    pub fn find(node: &Arc<Node>, located: &LocatedBlocksProto) -> Option<LocalFile> {
        if located.under_construction || located.file_encryption_info.is_some() || located.ec_policy.is_some() {
            return None;
        }
        let pool_id = &located.blocks.first()?.b.pool_id;
        let blocks: Vec<_> = located.blocks.iter().map(|b| (b.offset, crate::xfer::block_of(&b.b).1)).collect();
        Self::of(node, pool_id, &blocks)
    }

    /// The blocks, each with its offset in the file; `None` as for `find`.
    pub fn of(node: &Arc<Node>, pool_id: &str, blocks: &[(u64, Block)]) -> Option<LocalFile> {
        let pool = node.store.pool(pool_id)?;
        let local = |&(start, block): &(u64, Block)| {
            is_complete(&pool, &block).then_some(LocalBlock { start, block, open: None })
        };
        let blocks = blocks.iter().map(local).collect::<Option<Vec<_>>>()?;
        Some(LocalFile { node: node.clone(), pool, blocks })
    }

    /// Fills `buffer` from `offset` of the file.
    ///
    /// # Errors
    /// The replica is damaged (the NameNode has been told), gone, or the disk fails.
    pub fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            let pool = self.pool.clone();
            let found = self.blocks.iter_mut().find(|b| b.start <= at && at < b.start + b.block.num_bytes);
            let block = found.ok_or(io::ErrorKind::UnexpectedEof)?;
            let in_block = at - block.start;
            let len = (buffer.len() - done).min((block.block.num_bytes - in_block) as usize);
            let target = &mut buffer[done..done + len];
            if let Err(e) = block.read(&pool, in_block, target) {
                let damaged = block.block;
                // An append that began meanwhile changes the last checksum: that is no damage.
                if e.kind() == io::ErrorKind::InvalidData && is_complete(&pool, &damaged) {
                    self.node.reports.bad_block(&self.node, pool.id(), &damaged);
                }
                return Err(e);
            }
            done += len;
        }
        Ok(())
    }
}

/// Whether the block is here, finalized, with this stamp and length.
fn is_complete(pool: &BlockPool, block: &Block) -> bool {
    pool.lookup(block.id).is_some_and(|info| info.state == ReplicaState::Finalized && info.block == *block)
}

impl LocalBlock {
    fn read(&mut self, pool: &BlockPool, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let reader = match &mut self.open {
            Some(reader) => reader,
            empty => empty.insert(pool.open(&self.block).map_err(io::Error::other)?),
        };
        read_verified(reader, self.block.num_bytes, offset, buffer)
    }
}

/// Reads whole chunks around the range, checks them, and copies the range out.
fn read_verified(reader: &ReplicaReader, length: u64, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
    let missing = || io::Error::new(io::ErrorKind::InvalidData, "the meta file is missing");
    let meta_file = reader.meta.as_ref().ok_or_else(missing)?;
    let checksum = meta::read_header(&**meta_file)?;
    let chunk = u64::from(checksum.bytes_per_checksum());
    let start = offset - offset % chunk;
    let end = (offset + buffer.len() as u64).div_ceil(chunk).saturating_mul(chunk).min(length);
    let mut sums = vec![0; checksum.checksums_len((end - start) as usize)];
    meta_file.read_exact_at(&mut sums, meta::checksum_offset(checksum, start)).map_err(damaged_if_short)?;
    let verify = |data: &[u8]| {
        checksum.verify(data, &sums).map_err(|at| {
            let text = format!("Checksum error: {} at {}", reader.info.block, start + at as u64);
            io::Error::new(io::ErrorKind::InvalidData, text)
        })
    };
    if start == offset && end == offset + buffer.len() as u64 {
        reader.data.read_exact_at(buffer, offset).map_err(damaged_if_short)?;
        return verify(buffer);
    }
    let mut data = vec![0; (end - start) as usize];
    reader.data.read_exact_at(&mut data, start).map_err(damaged_if_short)?;
    verify(&data)?;
    let skip = (offset - start) as usize;
    buffer.copy_from_slice(&data[skip..skip + buffer.len()]);
    Ok(())
}

/// A file that ends before its replica does is damage, not a failing disk.
fn damaged_if_short(e: io::Error) -> io::Error {
    match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            io::Error::new(io::ErrorKind::InvalidData, "a file of the replica is too short")
        }
        _ => e,
    }
}
