//! The record of one inode in its table (44 bytes), and the view of it that everybody else reads.

use super::children::ChildIter;
use super::handles::InodeHandle;
use super::intern::{FileLayout, Short};
use super::snapshot::{CURRENT, SnapshotId};
use super::{Counts, Tables};
use crate::blocks::BlockHandle;
use alloc::sync::Arc;
use surus_types::{FileStatus, FileType, FsPermission, InodeId, PermissionStatus};

/// "No parent": the root, and a detached subtree's top.
pub(super) const NO_PARENT: u32 = u32::MAX;

const KIND_MASK: u32 = 0b11;
pub(super) const KIND_FREE: u32 = 0;
const KIND_DIRECTORY: u32 = 1;
const KIND_FILE: u32 = 2;
const KIND_SYMLINK: u32 = 3;
const UNDER_CONSTRUCTION: u32 = 1 << 2;
/// ACL, extended attributes, quota or snapshot state: the bits from `FEATURE_ROW_SHIFT` on hold the row of `features.rs`.
const FEATURES: u32 = 1 << 3;
const BLOCKS_ONE: u32 = 1 << 4;
const BLOCKS_MANY: u32 = 1 << 5;
const FEATURE_ROW_SHIFT: u32 = 6;
const FEATURE_ROW_MASK: u32 = !0 << FEATURE_ROW_SHIFT;

/// Bits of `HdfsFileStatusProto.Flags`. A root is snapshottable from the start, though with room for no snapshot.
const SNAPSHOT_ENABLED: u32 = 8;
const HAS_ACL: u32 = 1;
const ENCRYPTED: u32 = 2;
const HAS_EC: u32 = 4;

/// One row. `payload` is what the kind needs: a directory's row in the directory table; a file's only block, or the
/// reference of its block list.
#[derive(Clone, Copy, Default)]
pub(crate) struct InodeRecord {
    pub(super) id: Short,
    pub(super) mtime: Short,
    pub(super) atime: Short,
    /// Bytes of a file: the sum of its blocks. 0 for others.
    pub(super) length: Short,
    pub(super) parent: u32,
    pub(super) name: u32,
    /// Interned: owner, group, mode, and the layout of a file or the storage policy of a directory, as its extended attribute
    /// says.
    pub(super) attributes: u32,
    pub(super) payload: BlockHandle,
    pub(super) flags: u32,
}

const _: () = assert!(size_of::<InodeRecord>() == 44);

impl InodeRecord {
    /// All numbers that may be interned.
    pub(super) fn shorts(&self) -> [Short; 4] {
        [self.id, self.mtime, self.atime, self.length]
    }
    pub(super) fn set_kind(&mut self, kind: InodeKind) {
        self.flags = self.flags & !KIND_MASK
            | match kind {
                InodeKind::Directory => KIND_DIRECTORY,
                InodeKind::File => KIND_FILE,
                InodeKind::Symlink => KIND_SYMLINK,
            };
    }
    /// `None`: a free row.
    pub(super) fn kind(&self) -> Option<InodeKind> {
        match self.flags & KIND_MASK {
            KIND_DIRECTORY => Some(InodeKind::Directory),
            KIND_FILE => Some(InodeKind::File),
            KIND_SYMLINK => Some(InodeKind::Symlink),
            _ => None,
        }
    }
    pub(super) fn is_directory(&self) -> bool {
        self.flags & KIND_MASK == KIND_DIRECTORY
    }
    pub(super) fn is_file(&self) -> bool {
        self.flags & KIND_MASK == KIND_FILE
    }
    pub(super) fn is_under_construction(&self) -> bool {
        self.flags & UNDER_CONSTRUCTION != 0
    }
    pub(super) fn set_under_construction(&mut self, on: bool) {
        self.flags = if on { self.flags | UNDER_CONSTRUCTION } else { self.flags & !UNDER_CONSTRUCTION };
    }
    #[inline]
    pub(super) fn feature_row(&self) -> Option<u32> {
        (self.flags & FEATURES != 0).then_some(self.flags >> FEATURE_ROW_SHIFT)
    }
    pub(super) fn set_feature_row(&mut self, row: Option<u32>) {
        let bits = row.map_or(0, |row| {
            assert!(row <= u32::MAX >> FEATURE_ROW_SHIFT, "`room.rs` keeps to 2^26");
            row << FEATURE_ROW_SHIFT | FEATURES
        });
        self.flags = self.flags & !(FEATURE_ROW_MASK | FEATURES) | bits;
    }
    pub(super) fn block_form(&self) -> BlockForm {
        match self.flags & (BLOCKS_ONE | BLOCKS_MANY) {
            0 => BlockForm::None,
            BLOCKS_ONE => BlockForm::One(self.payload),
            _ => BlockForm::Many(self.payload.0),
        }
    }
    pub(super) fn set_block_form(&mut self, form: BlockForm) {
        let (bits, payload) = match form {
            BlockForm::None => (0, BlockHandle(0)),
            BlockForm::One(block) => (BLOCKS_ONE, block),
            BlockForm::Many(list) => (BLOCKS_MANY, BlockHandle(list)),
        };
        self.flags = self.flags & !(BLOCKS_ONE | BLOCKS_MANY) | bits;
        self.payload = payload;
    }
}

/// How a record keeps its file's blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockForm {
    None,
    One(BlockHandle),
    Many(u32),
}

/// A file, a directory or a symlink.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InodeKind {
    Directory,
    File,
    Symlink,
}

/// Who writes a file that is not closed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnderConstruction {
    /// The lease holder.
    pub client_name: Arc<str>,
    pub client_machine: Arc<str>,
    /// Bytes that space counters charge above the file's length, for the block being written.
    pub(super) unfinished: u64,
}

impl UnderConstruction {
    pub fn new(client_name: Arc<str>, client_machine: Arc<str>) -> Self {
        UnderConstruction { client_name, client_machine, unfinished: 0 }
    }
}

/// One inode, readable. Copy it freely.
#[derive(Clone, Copy)]
pub struct InodeView<'a> {
    pub(super) tables: &'a Tables,
    pub(super) record: &'a InodeRecord,
    pub(super) handle: InodeHandle,
    /// [`CURRENT`], or the snapshot it is seen in: `record` is a copy then if it changed since.
    pub(super) snapshot: SnapshotId,
    /// See [`InodeView::raw`].
    pub(super) is_raw: bool,
}

impl<'a> InodeView<'a> {
    pub fn handle(self) -> InodeHandle {
        self.handle
    }
    /// The snapshot it is seen in; [`CURRENT`]: as it is now.
    pub fn snapshot(self) -> SnapshotId {
        self.snapshot
    }
    pub fn id(self) -> InodeId {
        InodeId(self.number(self.record.id) as u64)
    }
    /// `None` for the root and for the top of a detached (deleted) subtree.
    pub fn parent(self) -> Option<InodeHandle> {
        (self.record.parent != NO_PARENT).then_some(InodeHandle(self.record.parent))
    }
    /// Last component of the path; empty for the root.
    pub fn name(self) -> &'a [u8] {
        self.tables.names.get(self.record.name)
    }
    /// # Panics
    /// On a handle whose inode was freed: no table hands one out.
    pub fn kind(self) -> InodeKind {
        self.record.kind().expect("a live handle")
    }
    pub fn is_directory(self) -> bool {
        self.record.is_directory()
    }
    pub fn is_file(self) -> bool {
        self.record.is_file()
    }
    /// Milliseconds since 1970, as all times here.
    pub fn modification_time(self) -> i64 {
        self.number(self.record.mtime)
    }
    pub fn access_time(self) -> i64 {
        self.number(self.record.atime)
    }
    pub fn user(self) -> &'a Arc<str> {
        self.tables.interned.user(self.record.attributes)
    }
    pub fn group(self) -> &'a Arc<str> {
        self.tables.interned.group(self.record.attributes)
    }
    pub fn permission(self) -> FsPermission {
        self.tables.interned.mode(self.record.attributes)
    }
    pub fn permission_status(self) -> PermissionStatus {
        PermissionStatus { user: self.user().clone(), group: self.group().clone(), permission: self.permission() }
    }

    /// A file's blocks in order; empty for others.
    pub fn blocks(self) -> &'a [BlockHandle] {
        if !self.is_file() {
            return &[];
        }
        if self.snapshot != CURRENT {
            return self.tables.blocks_at(self.handle, self.snapshot);
        }
        match self.record.block_form() {
            BlockForm::None => &[],
            BlockForm::One(_) => core::slice::from_ref(&self.record.payload),
            BlockForm::Many(list) => self.tables.block_lists.get(list),
        }
    }
    /// A file's layout; that of zeros for others.
    pub fn layout(self) -> FileLayout {
        if self.is_file() { *self.tables.interned.layout(self.record.attributes) } else { FileLayout::default() }
    }
    pub fn replication(self) -> u16 {
        self.layout().replication
    }
    /// Bytes.
    pub fn preferred_block_size(self) -> u64 {
        self.layout().preferred_block_size
    }
    /// A file's length in bytes, the block being written included as far as it is known; 0 for others.
    pub fn length(self) -> u64 {
        if self.snapshot != CURRENT && self.is_file() {
            return self.tables.length_at(self.handle, self.snapshot);
        }
        self.number(self.record.length) as u64
    }
    /// Bytes a file takes on DataNodes, times replication; the block being written counts in full.
    pub fn space_consumed(self) -> u64 {
        self.charged_length().wrapping_mul(u64::from(self.replication()))
    }
    /// Bytes that each replica of a file is charged: its length, and a block being written in full.
    pub(crate) fn charged_length(self) -> u64 {
        let unfinished = self.under_construction().map_or(0, |uc| uc.unfinished);
        self.length().wrapping_add(unfinished)
    }
    /// The writer of a file that is not closed.
    pub fn under_construction(self) -> Option<&'a UnderConstruction> {
        if self.is_under_construction() { self.tables.under_construction.get(&self.handle) } else { None }
    }
    pub fn is_under_construction(self) -> bool {
        self.record.is_under_construction() && self.snapshot == CURRENT
    }
    /// A symlink's target; empty for others.
    pub fn symlink_target(self) -> &'a [u8] {
        self.tables.symlinks.get(&self.handle).map_or(&[], |target| &**target)
    }

    /// Number of children of a directory; 0 for others.
    pub fn child_count(self) -> u32 {
        if self.snapshot != CURRENT && self.is_directory() {
            return self.tables.child_count_at(self.handle, self.snapshot);
        }
        if self.is_directory() { self.tables.directories.get(self.record.payload.0).child_count } else { 0 }
    }
    /// Children in name order, as they are now; `start_after` empty: from the first. Those of a snapshot are
    /// [`Tables::children_at`].
    pub fn children(self, start_after: &[u8]) -> ChildIter<'a> {
        self.tables.child_iter(self.record, start_after)
    }
    /// Totals below and with this inode.
    pub fn counts(self) -> Counts {
        self.tables.counts(self.handle)
    }

    /// What a file or symlink adds to the totals above it, as it is or as it was.
    pub(crate) fn own_counts(self) -> Counts {
        if !self.is_file() {
            return Counts { files: 1, ..Counts::default() };
        }
        let once = if self.replication() == 0 { 0 } else { self.charged_length() };
        Counts { files: 1, directories: 0, length: self.length(), space: self.space_consumed(), once }
    }

    #[inline]
    fn number(self, short: Short) -> i64 {
        self.tables.interned.number(short)
    }

    fn status_flags(self) -> u32 {
        let acl = if self.has_acl() { HAS_ACL } else { 0 };
        let encrypted = if self.zone().is_some() { ENCRYPTED } else { 0 };
        acl | encrypted | if self.is_snapshottable() { SNAPSHOT_ENABLED } else { 0 }
    }

    /// What clients are told. `name` is left empty by answers about the path that was asked for.
    pub fn status(self, name: &'a [u8]) -> FileStatus<'a> {
        let layout = self.layout();
        let ec_policy = self.ec_policy();
        FileStatus {
            file_type: match self.kind() {
                InodeKind::Directory => FileType::Directory,
                InodeKind::File => FileType::File,
                InodeKind::Symlink => FileType::Symlink,
            },
            name,
            length: self.length(),
            permission: self.permission(),
            owner: self.user(),
            group: self.group(),
            modification_time_ms: self.modification_time(),
            access_time_ms: self.access_time(),
            symlink: self.symlink_target(),
            replication: layout.replication,
            block_size: layout.preferred_block_size,
            inode_id: self.id(),
            children: self.child_count(),
            storage_policy: if self.record.kind() == Some(InodeKind::Symlink) { 0 } else { self.storage_policy() },
            flags: self.status_flags() | if ec_policy.is_some() { HAS_EC } else { 0 },
            ec_policy,
            encryption: self.encryption(),
        }
    }
}
