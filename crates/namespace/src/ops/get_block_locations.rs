//! getBlockLocations, getLocatedFileInfo and the locations of listings: where the blocks of a file are, nearest replica
//! first. Views are lent one by one. Source: `FSDirStatAndListingOp.getBlockLocations`,
//! `BlockManager.createLocatedBlocks`, Hadoop 3.5.0.

use crate::Namespace;
use crate::blocks::{BlockHandle, Random, StorageHandle};
use crate::edit_op::EditOp;
use crate::plan::{Env, Plan};
use crate::resolve::DirOp;
use crate::tree::{CURRENT, InodeView};
use alloc::format;
use alloc::vec::Vec;
use surus_types::{AdminState, ExceptionClass, FileStatus, FsAction, HdfsError, LocatedBlock, LocatedBlocks, Replica};

/// The request. Offset and length in bytes.
#[derive(Clone, Copy, Debug)]
pub struct GetBlockLocations<'a> {
    pub src: &'a str,
    pub offset: i64,
    pub length: i64,
}

/// What a visitor is lent, in this order: the header, the blocks of the range, the last block of the file if it has one.
#[derive(Clone, Copy, Debug)]
pub enum BlockLocationsPart<'a> {
    Header(LocatedBlocks<'a>),
    Block(LocatedBlock<'a>),
    LastBlock(LocatedBlock<'a>),
}

impl Namespace {
    /// Lends the locations of the blocks in a range. The operation returned, if any, is to be logged and applied: the
    /// file's access time is older than the precision.
    ///
    /// # Errors
    /// As [`Namespace::check_block_locations`].
    pub fn get_block_locations(
        &self,
        env: &Env<'_>,
        request: &GetBlockLocations<'_>,
        visit: &mut dyn FnMut(BlockLocationsPart<'_>),
    ) -> Result<Option<EditOp>, HdfsError> {
        let (file, op) = self.check_block_locations(env, request)?;
        self.lend_block_locations(env, file, request.offset as u64, request.length as u64, visit);
        Ok(op)
    }

    /// Whether the caller may have the locations: the file to lend them of, and the operation to log and apply, if its
    /// access time is older than the precision.
    ///
    /// # Errors
    /// No such file, no right to read it, a negative range; in safe mode a block without a replica.
    pub fn check_block_locations(
        &self,
        env: &Env<'_>,
        request: &GetBlockLocations<'_>,
    ) -> Result<(InodeView<'_>, Option<EditOp>), HdfsError> {
        let src = request.src;
        for (value, what) in [(request.offset, "offset"), (request.length, "length")] {
            if value < 0 {
                let text = format!("Negative {what} is not supported. File: {src}");
                return Err(HdfsError::new(ExceptionClass::IllegalArgument, text));
            }
        }
        let path = self.resolve(env, src, DirOp::Read)?;
        let inode = self.shown(&path, self.existing_file(&path)?);
        self.check_unreadable_by_superuser(env, inode.handle())?;
        self.check_path_access(env, &path, FsAction::READ)?;
        if inode.layout().is_erasure_coded() && !inode.blocks().is_empty() {
            return Err(HdfsError::io(format!(
                "{src} is erasure-coded: its blocks are kept as they are, but this version cannot read their data"
            )));
        }
        let (offset, length) = (request.offset as u64, request.length as u64);
        if self.blocks.safe_mode.is_on() && self.range(inode, offset, length).any(|(b, _)| self.is_without_replica(b)) {
            return Err(self.safe_mode_error(env, format_args!("Zero blocklocations for {src}")));
        }
        let precision = self.blocks.config.access_time_precision_ms;
        let old = precision > 0 && !path.is_snapshot && env.now_ms > inode.access_time().saturating_add(precision);
        if !old || self.blocks.safe_mode.is_on() {
            return Ok((inode, None));
        }
        let op = EditOp::Times { path: path.path.as_ref().into(), mtime: -1, atime: env.now_ms };
        // Without room for what a snapshot would keep, the file keeps its old time.
        let op = self.with_room(Ok(Plan::one(op, ()))).ok().and_then(|mut plan| plan.ops.pop());
        Ok((inode, op))
    }

    /// What the answer says before its blocks.
    pub fn block_locations_header<'a>(&self, inode: InodeView<'a>) -> LocatedBlocks<'a> {
        let encryption = inode.encryption();
        if inode.snapshot() != CURRENT {
            return LocatedBlocks {
                file_length: inode.length(),
                under_construction: false,
                last_block_complete: !inode.blocks().is_empty(),
                encryption,
            };
        }
        let last = inode.blocks().last().map(|b| self.blocks.info(*b));
        let open_bytes = last.filter(|i| !i.state.is_complete()).map_or(0, |i| i.block.num_bytes);
        LocatedBlocks {
            file_length: inode.length() - open_bytes,
            under_construction: inode.is_under_construction(),
            last_block_complete: last.is_some_and(|i| i.state.is_complete()),
            encryption,
        }
    }

    /// Lends the status of `src` and, for a file, the locations of all its blocks.
    ///
    /// # Errors
    /// The caller may not walk there.
    pub fn get_located_file_info(
        &self,
        env: &Env<'_>,
        src: &str,
        visit_status: &mut dyn FnMut(Option<FileStatus<'_>>),
        visit: &mut dyn FnMut(BlockLocationsPart<'_>),
    ) -> Result<(), HdfsError> {
        let path = self.resolve_for_status(env, src, DirOp::Read)?;
        let shown = path.and_then(|path| Some(self.shown(&path, path.last?)));
        let Some(inode) = shown else {
            visit_status(None);
            return Ok(());
        };
        visit_status(Some(inode.status(b"")));
        if inode.is_file() {
            self.lend_block_locations(env, inode, 0, u64::MAX, visit);
        }
        Ok(())
    }

    /// Lends the locations of the blocks of a file in a range: the part of a located listing, without any check.
    pub fn lend_block_locations(
        &self,
        env: &Env<'_>,
        inode: InodeView<'_>,
        offset: u64,
        length: u64,
        visit: &mut dyn FnMut(BlockLocationsPart<'_>),
    ) {
        let mut random = Random::new(env.random);
        visit(BlockLocationsPart::Header(self.block_locations_header(inode)));
        let mut scratch = Scratch::default();
        for (block, offset) in self.range(inode, offset, length) {
            self.lend_block(env, block, offset, &mut random, &mut scratch, |b| visit(BlockLocationsPart::Block(b)));
        }
        if let Some((last, offset)) = self.last_block(inode) {
            self.lend_block(env, last, offset, &mut random, &mut scratch, |b| visit(BlockLocationsPart::LastBlock(b)));
        }
    }

    /// The blocks that overlap a range, with their offsets: at least one if the range starts inside the file.
    fn range<'a>(
        &'a self,
        inode: InodeView<'a>,
        offset: u64,
        length: u64,
    ) -> impl Iterator<Item = (BlockHandle, u64)> + 'a {
        let mut end = offset.saturating_add(length);
        if inode.snapshot() != CURRENT {
            // Blocks may have grown since, and others may have come.
            end = end.min(inode.length());
        }
        let mut position = 0;
        let is_empty = inode.snapshot() != CURRENT && offset >= inode.length();
        let blocks = if is_empty { &[][..] } else { inode.blocks() };
        let with_offsets = blocks.iter().map(move |handle| {
            let start = position;
            position += self.blocks.block(*handle).num_bytes;
            (*handle, start, position)
        });
        let mut first = true;
        with_offsets
            .skip_while(move |(_, _, block_end)| *block_end <= offset)
            .take_while(move |(_, start, _)| core::mem::replace(&mut first, false) || *start < end)
            .map(|(handle, start, _)| (handle, start))
    }

    /// The block that a file ends in, and its offset.
    fn last_block(&self, inode: InodeView<'_>) -> Option<(BlockHandle, u64)> {
        let bytes = |block: BlockHandle| self.blocks.block(block).num_bytes;
        if inode.snapshot() == CURRENT {
            let last = *inode.blocks().last()?;
            return Some((last, inode.length() - bytes(last)));
        }
        // An empty file of the past has none of the blocks that came since.
        let blocks = if inode.length() == 0 { &[][..] } else { inode.blocks() };
        let mut position = 0;
        for &block in blocks {
            if position + bytes(block) >= inode.length() {
                return Some((block, position));
            }
            position += bytes(block);
        }
        None
    }

    fn lend_block(
        &self,
        env: &Env<'_>,
        handle: BlockHandle,
        offset: u64,
        random: &mut Random,
        scratch: &mut Scratch,
        visit: impl FnOnce(LocatedBlock<'_>),
    ) {
        let corrupt = self.readable_replicas(handle, &mut scratch.storages);
        self.sort_by_distance(env, random, &mut scratch.storages);
        let replicas: Vec<Replica<'_>> = scratch.storages.iter().map(|s| self.blocks.datanodes.replica(*s)).collect();
        visit(LocatedBlock { block: self.blocks.block(handle), offset, corrupt, replicas: &replicas });
    }

    /// Fills `storages` with the replicas a reader may try: of an open block those expected, of others the good ones, or
    /// the corrupt ones if no good one is left (`true` then).
    fn readable_replicas(&self, handle: BlockHandle, storages: &mut Vec<StorageHandle>) -> bool {
        let blocks = &self.blocks;
        storages.clear();
        if !blocks.info(handle).state.is_complete() {
            storages.extend(blocks.expected_storages(handle));
            storages.retain(|s| blocks.datanodes.is_live(*s));
            return false;
        }
        blocks.for_each_replica(handle, |s| {
            if blocks.datanodes.is_live(s) {
                storages.push(s);
            }
        });
        if !blocks.has_corrupt_replica(handle) {
            return false;
        }
        let all_corrupt = !storages.is_empty() && storages.iter().all(|s| blocks.is_corrupt(handle, *s));
        if !all_corrupt {
            storages.retain(|s| !blocks.is_corrupt(handle, *s));
        }
        all_corrupt
    }

    fn is_without_replica(&self, handle: BlockHandle) -> bool {
        let mut storages = Vec::new();
        self.readable_replicas(handle, &mut storages);
        storages.is_empty()
    }

    /// Nearest first: the caller's own host, then the others in random order; DataNodes that leave service and, if so
    /// configured, silent ones last.
    fn sort_by_distance(&self, env: &Env<'_>, random: &mut Random, storages: &mut [StorageHandle]) {
        if storages.len() < 2 {
            return;
        }
        for i in (1..storages.len()).rev() {
            storages.swap(i, random.below(i as u64 + 1) as usize);
        }
        let nodes = &self.blocks.datanodes;
        let config = &self.blocks.config;
        storages.sort_by_key(|s| {
            let handle = nodes.storage(*s).datanode;
            let node = nodes.datanode(handle);
            let leaving = node.admin_state != AdminState::Normal;
            let silent = config.avoid_read_stale && nodes.is_stale(handle, env.monotonic_ms, config.stale_interval_ms);
            let far = node.id.ip_addr != *env.caller.address;
            (leaving, silent, far)
        });
    }
}

/// Reused from block to block.
#[derive(Default)]
struct Scratch {
    storages: Vec<StorageHandle>,
}
