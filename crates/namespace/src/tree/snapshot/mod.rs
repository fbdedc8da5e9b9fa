//! What snapshots keep of the past, hung on the few inodes that changed since: for each a list of diffs, one for each
//! snapshot after which it changed, in the terms of Hadoop's images (see docs/decisions/0004-snapshots.md). An inode
//! that left its directory but is in a snapshot has no parent any more and is *held* by the directory's deleted list.

mod collect;
mod diff;
mod image;
mod past;
mod record;

pub use diff::{ChildrenDiff, Created};
pub use image::{DiffBodyView, DiffView, LoadedDiff, LoadedDiffBody, PastAttributes};
pub use past::PastChildren;

pub(crate) use collect::Garbage;

use super::Tree;
use super::features::NONE;
use super::handles::InodeHandle;
use super::inode::{InodeRecord, InodeView};
use super::intern::Interned;
use super::tables::Tables;
use crate::blocks::BlockHandle;
use crate::edit_op::XAttr;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Number of a snapshot: they count up over all directories, so that they order all snapshots by time.
pub type SnapshotId = u32;

/// In place of a snapshot's number: the state now. Larger than every number.
pub const CURRENT: SnapshotId = u32::MAX;

/// `Snapshot.CURRENT_STATE_ID` and `NO_SNAPSHOT_ID` of Hadoop's images.
pub const IMAGE_CURRENT: u32 = i32::MAX as u32 - 1;

/// Snapshots have numbers of 28 bits. Source: `SnapshotManager.SNAPSHOT_ID_BIT_WIDTH`, Hadoop 3.5.0.
pub const SNAPSHOT_ID_MAX: SnapshotId = (1 << 28) - 1;

/// Snapshots that a directory may have. Source: `DirectorySnapshottableFeature.SNAPSHOT_QUOTA_DEFAULT`, Hadoop 3.5.0.
pub const SNAPSHOT_LIMIT: u32 = 1 << 16;

/// The attributes an inode had. Its name and features are rows of its own.
#[derive(Clone, Copy)]
pub(super) struct AttributeCopy {
    pub(super) record: InodeRecord,
}

/// How an image writes a position in the tree: an inode that was renamed out of a snapshotted place is written as
/// references from each place that shows it. Source: `INodeReference.java`, Hadoop 3.5.0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reference {
    #[default]
    None,
    /// Where it was renamed from, with the last snapshot that shows it there.
    WithName(u32),
    /// Where it was renamed to, with the last snapshot of the target when it came ([`IMAGE_CURRENT`]: none).
    Destination(u32),
}

/// An entry of a deleted list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deleted {
    pub name: Box<[u8]>,
    pub inode: InodeHandle,
    pub reference: Reference,
}

/// What changed after a snapshot, until the next diff of the same inode or until now.
#[derive(Clone)]
pub(super) struct Diff {
    pub(super) snapshot: SnapshotId,
    /// `None`: the attributes stayed the same.
    pub(super) copy: Option<AttributeCopy>,
    pub(super) body: DiffBody,
}

#[derive(Clone)]
pub(super) enum DiffBody {
    Directory(DirectoryDiff),
    File(FileDiff),
}

#[derive(Clone, Default)]
pub(super) struct DirectoryDiff {
    /// Children in the snapshot.
    pub(super) child_count: u32,
    /// The snapshot was taken of this directory.
    pub(super) is_root: bool,
    /// Names that came after the snapshot, in name order.
    pub(super) created: Vec<Box<[u8]>>,
    /// What the snapshot has and went after it, in name order.
    pub(super) deleted: Vec<Deleted>,
}

#[derive(Clone, Default)]
pub(super) struct FileDiff {
    /// Length in the snapshot, bytes.
    pub(super) length: u64,
    /// The blocks in the snapshot; `None`: those of the next diff that has any, else the file's.
    pub(super) blocks: Option<Vec<BlockHandle>>,
}

impl Diff {
    pub(super) fn directory(&self) -> Option<&DirectoryDiff> {
        match &self.body {
            DiffBody::Directory(diff) => Some(diff),
            DiffBody::File(_) => None,
        }
    }
    pub(super) fn directory_mut(&mut self) -> Option<&mut DirectoryDiff> {
        match &mut self.body {
            DiffBody::Directory(diff) => Some(diff),
            DiffBody::File(_) => None,
        }
    }
    pub(super) fn file(&self) -> Option<&FileDiff> {
        match &self.body {
            DiffBody::File(diff) => Some(diff),
            DiffBody::Directory(_) => None,
        }
    }
    pub(super) fn file_mut(&mut self) -> Option<&mut FileDiff> {
        match &mut self.body {
            DiffBody::File(diff) => Some(diff),
            DiffBody::Directory(_) => None,
        }
    }
}

/// One snapshot of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    pub id: SnapshotId,
    pub name: Box<str>,
}

/// Directories that may have snapshots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshottable {
    /// Snapshots it may have.
    pub limit: u32,
    /// In the order of their names.
    pub snapshots: Vec<Snapshot>,
}

/// The snapshot state of one inode.
#[derive(Clone, Default)]
pub(super) struct SnapshotState {
    /// Oldest snapshot first.
    pub(super) diffs: Vec<Diff>,
    /// Directories whose deleted lists name this inode: one for each entry.
    pub(super) holders: Vec<InodeHandle>,
    /// Of the place where the inode is now.
    pub(super) reference: Reference,
    pub(super) snapshottable: Option<Box<Snapshottable>>,
}

impl SnapshotState {
    fn is_empty(&self) -> bool {
        self.diffs.is_empty()
            && self.holders.is_empty()
            && self.reference == Reference::None
            && self.snapshottable.is_none()
    }
    /// The first diff that tells of `snapshot`.
    fn first_diff(&self, snapshot: SnapshotId) -> usize {
        self.diffs.partition_point(|diff| diff.snapshot < snapshot)
    }
    pub(super) fn last_snapshot(&self) -> Option<SnapshotId> {
        self.diffs.last().map(|diff| diff.snapshot)
    }
}

/// States of a page.
const PAGE: usize = 128;

/// The part that a checkpoint clones: pointers to pages.
#[derive(Clone, Default)]
pub(super) struct SnapshotTables {
    pages: Vec<Arc<Vec<Option<Arc<SnapshotState>>>>>,
    len: u32,
    pub(super) general: Arc<General>,
}

/// What is not of one inode.
#[derive(Clone, Default)]
pub(super) struct General {
    /// The next snapshot's number.
    pub(super) counter: SnapshotId,
    /// Snapshots, each with its directory.
    pub(super) live: BTreeMap<SnapshotId, InodeHandle>,
    pub(super) snapshottable: BTreeSet<InodeHandle>,
}

/// The part that only changes need.
#[derive(Default)]
pub(super) struct SnapshotIndex {
    free: Vec<u32>,
    /// Inodes with a diff of each snapshot.
    by_snapshot: BTreeMap<SnapshotId, BTreeSet<InodeHandle>>,
}

impl SnapshotTables {
    fn get(&self, at: u32) -> Option<&SnapshotState> {
        self.pages[at as usize / PAGE][at as usize % PAGE].as_deref()
    }
    fn slot(&mut self, at: u32) -> &mut Option<Arc<SnapshotState>> {
        &mut Arc::make_mut(&mut self.pages[at as usize / PAGE])[at as usize % PAGE]
    }
    fn push(&mut self) -> u32 {
        let at = self.len;
        if (at as usize).is_multiple_of(PAGE) {
            self.pages.push(Arc::new(alloc::vec![None; PAGE]));
        }
        self.len += 1;
        at
    }
    pub(super) fn bytes(&self) -> usize {
        self.pages.len() * PAGE * size_of::<usize>() + self.len as usize * size_of::<SnapshotState>()
    }
}

impl Tables {
    /// The snapshot state of an inode: most have none.
    #[inline]
    pub(super) fn snapshot_state(&self, handle: InodeHandle) -> Option<&SnapshotState> {
        let record = self.inodes.get(handle.0);
        record.feature_row()?;
        let at = self.inode(handle).features().snapshot;
        if at == NONE { None } else { self.snapshots.get(at) }
    }

    /// Whether any snapshot exists.
    #[inline]
    pub fn has_snapshots(&self) -> bool {
        !self.snapshots.general.live.is_empty()
    }

    /// Whether a snapshot is there still. Numbers do not come back.
    pub fn is_live_snapshot(&self, snapshot: SnapshotId) -> bool {
        self.snapshots.general.live.contains_key(&snapshot)
    }

    /// Every snapshot with its directory, oldest first.
    pub fn snapshots(&self) -> impl ExactSizeIterator<Item = (SnapshotId, InodeHandle)> + '_ {
        self.snapshots.general.live.iter().map(|(&id, &root)| (id, root))
    }

    /// Inodes with snapshot state.
    pub fn num_snapshot_states(&self) -> usize {
        self.snapshots.pages.iter().flat_map(|page| page.iter()).flatten().count()
    }

    /// The copies that diffs keep.
    pub(in crate::tree) fn copies(&self) -> impl Iterator<Item = &InodeRecord> + Clone {
        let states = self.snapshots.pages.iter().flat_map(|page| page.iter()).flatten();
        states.flat_map(|state| &state.diffs).filter_map(|diff| Some(&diff.copy.as_ref()?.record))
    }

    /// Whether a directory got or lost children after a snapshot.
    pub(in crate::tree) fn children_changed(&self, directory: InodeHandle, snapshot: SnapshotId) -> bool {
        let Some(state) = self.snapshot_state(directory) else { return false };
        let mut diffs = state.diffs[state.first_diff(snapshot)..].iter().filter_map(Diff::directory);
        diffs.any(|diff| !diff.created.is_empty() || !diff.deleted.is_empty())
    }

    /// The entries of all deleted lists of a directory, each with the last snapshot that shows it.
    pub(in crate::tree) fn deleted_entries(
        &self,
        directory: InodeHandle,
    ) -> impl Iterator<Item = (SnapshotId, &Deleted)> {
        let diffs = self.snapshot_state(directory).map_or(&[][..], |state| &state.diffs);
        diffs.iter().flat_map(|diff| {
            let deleted = diff.directory().map_or(&[][..], |directory| &directory.deleted);
            deleted.iter().map(|entry| (diff.snapshot, entry))
        })
    }

    /// The directory that an inode without a parent was deleted from, if a snapshot holds it there. Where it was renamed
    /// from is another thing.
    pub(in crate::tree) fn deleted_from(&self, inode: InodeHandle) -> Option<InodeHandle> {
        let name = self.inode(inode).name();
        let holders = &self.snapshot_state(inode)?.holders;
        let deleted_it = |holder: &&InodeHandle| {
            let diffs = self.snapshot_state(**holder).map_or(&[][..], |state| &state.diffs);
            diffs.iter().filter_map(Diff::directory).any(|diff| {
                let found = diff.deleted.binary_search_by(|entry| super::compare_names(&entry.name, name));
                found.is_ok_and(|i| {
                    let entry = &diff.deleted[i];
                    entry.inode == inode && !matches!(entry.reference, Reference::WithName(_))
                })
            })
        };
        holders.iter().find(deleted_it).copied()
    }

    /// The lists of blocks that a file had in snapshots, each with the length in bytes.
    pub(in crate::tree) fn past_blocks(&self, file: InodeHandle) -> impl Iterator<Item = (u64, &[BlockHandle])> {
        let diffs = self.snapshot_state(file).map_or(&[][..], |state| &state.diffs);
        let lists = diffs.iter().filter_map(Diff::file);
        lists.filter_map(|diff| Some((diff.length, diff.blocks.as_deref()?)))
    }

    /// The number the next snapshot gets.
    pub fn snapshot_counter(&self) -> SnapshotId {
        self.snapshots.general.counter
    }

    /// Directories that may have snapshots.
    pub fn snapshottable_directories(&self) -> impl ExactSizeIterator<Item = InodeHandle> + '_ {
        self.snapshots.general.snapshottable.iter().copied()
    }
}

impl<'a> InodeView<'a> {
    /// What a directory that may have snapshots keeps about them.
    pub fn snapshottable(self) -> Option<&'a Snapshottable> {
        self.tables.snapshot_state(self.handle)?.snapshottable.as_deref()
    }

    /// Whether `.snapshot` is something below this directory: the root's is from the start, without room for a snapshot.
    pub fn is_snapshottable(self) -> bool {
        self.is_directory() && (self.handle == InodeHandle::ROOT || self.snapshottable().is_some())
    }

    /// The snapshot of this directory with the name.
    pub fn snapshot_named(self, name: &[u8]) -> Option<&'a Snapshot> {
        let snapshots = &self.snapshottable()?.snapshots;
        let found = snapshots.binary_search_by(|s| super::compare_names(s.name.as_bytes(), name));
        found.ok().map(|i| &snapshots[i])
    }

    /// The name of one of this directory's snapshots.
    pub fn snapshot_name(self, snapshot: SnapshotId) -> Option<&'a str> {
        self.snapshottable()?.snapshots.iter().find(|s| s.id == snapshot).map(|s| &*s.name)
    }
}

impl Tree {
    /// The state of an inode, made if there is none. [`Tree::drop_empty_state`] follows what may have emptied it.
    fn state_mut(&mut self, handle: InodeHandle) -> &mut SnapshotState {
        let mut at = self.inode(handle).features().snapshot;
        if at == NONE {
            at = match self.snapshot_index.free.pop() {
                Some(at) => at,
                None => self.tables.snapshots.push(),
            };
            *self.tables.snapshots.slot(at) = Some(Arc::default());
            self.change_features(handle, |row| row.snapshot = at);
        }
        Arc::make_mut(self.tables.snapshots.slot(at).get_or_insert_default())
    }

    fn drop_empty_state(&mut self, handle: InodeHandle) {
        let at = self.inode(handle).features().snapshot;
        if at != NONE && self.tables.snapshots.get(at).is_none_or(SnapshotState::is_empty) {
            *self.tables.snapshots.slot(at) = None;
            self.snapshot_index.free.push(at);
            self.change_features(handle, |row| row.snapshot = NONE);
        }
    }

    /// Every inode with a diff, as often as it has one.
    pub(in crate::tree) fn changed_inodes(&self) -> impl Iterator<Item = InodeHandle> + '_ {
        self.snapshot_index.by_snapshot.values().flatten().copied()
    }

    /// Every inode with a diff of a snapshot or of later ones, as often as it has one.
    pub(in crate::tree) fn changed_since(&self, snapshot: SnapshotId) -> impl Iterator<Item = InodeHandle> + '_ {
        self.snapshot_index.by_snapshot.range(snapshot..).flat_map(|(_, inodes)| inodes).copied()
    }

    fn general_mut(&mut self) -> &mut General {
        Arc::make_mut(&mut self.tables.snapshots.general)
    }

    /// Lets a directory have snapshots, up to [`SNAPSHOT_LIMIT`] of them.
    pub fn allow_snapshots(&mut self, directory: InodeHandle) {
        let state = self.state_mut(directory);
        let empty = || Box::new(Snapshottable { limit: SNAPSHOT_LIMIT, snapshots: Vec::new() });
        state.snapshottable.get_or_insert_with(empty).limit = SNAPSHOT_LIMIT;
        self.general_mut().snapshottable.insert(directory);
    }

    /// Takes back what [`Tree::allow_snapshots`] gave; the directory has no snapshots.
    pub fn disallow_snapshots(&mut self, directory: InodeHandle) {
        if self.inode(directory).snapshottable().is_some_and(|s| s.snapshots.is_empty()) {
            self.state_mut(directory).snapshottable = None;
            self.drop_empty_state(directory);
            self.general_mut().snapshottable.remove(&directory);
        }
    }

    /// Takes a snapshot of a directory that may have one; its name is free. `mtime` becomes the directory's in the
    /// snapshot. Source: `DirectorySnapshottableFeature.addSnapshot`, Hadoop 3.5.0.
    pub fn create_snapshot(&mut self, root: InodeHandle, name: &str, mtime: i64) -> SnapshotId {
        let id = self.snapshot_counter();
        self.add_root_diff(root, id);
        self.set_snapshot_mtime(root, id, mtime);
        self.insert_snapshot_name(root, Snapshot { id, name: name.into() });
        self.touch_snapshot_root(root, mtime);
        let general = self.general_mut();
        general.live.insert(id, root);
        general.counter = id + 1;
        self.refresh_held();
        id
    }

    /// Gives a snapshot another name, which is free; `mtime` becomes the directory's in the snapshot.
    /// Source: `DirectorySnapshottableFeature.renameSnapshot`, Hadoop 3.5.0.
    pub fn rename_snapshot(&mut self, root: InodeHandle, old: &str, new: &str, mtime: i64) {
        let Some(snapshots) = self.state_mut(root).snapshottable.as_mut().map(|s| &mut s.snapshots) else { return };
        let Some(i) = snapshots.iter().position(|s| &*s.name == old) else { return };
        let snapshot = snapshots.remove(i);
        self.set_snapshot_mtime(root, snapshot.id, mtime);
        self.insert_snapshot_name(root, Snapshot { name: new.into(), ..snapshot });
    }

    /// Replaces the extended attributes that a directory has in a snapshot of it.
    pub(crate) fn set_snapshot_xattrs(&mut self, root: InodeHandle, snapshot: SnapshotId, xattrs: &[XAttr]) {
        let Some(row) = self.root_copy(root, snapshot).map(|record| record.feature_row()) else { return };
        let at = self.set_copied_xattrs(row, xattrs);
        if let Some(record) = self.root_copy(root, snapshot) {
            record.set_feature_row(Some(at));
        }
    }

    fn set_snapshot_mtime(&mut self, root: InodeHandle, snapshot: SnapshotId, mtime: i64) {
        let short = Interned::short(&mut self.tables.interned, &mut self.intern_users, mtime);
        let copy = self.root_copy(root, snapshot);
        let old = copy.map_or(short, |record| core::mem::replace(&mut record.mtime, short));
        Interned::release_short(&mut self.tables.interned, &mut self.intern_users, old);
    }

    /// The attributes that a directory has in a snapshot of it.
    fn root_copy(&mut self, root: InodeHandle, snapshot: SnapshotId) -> Option<&mut InodeRecord> {
        let mut diffs = self.state_mut(root).diffs.iter_mut();
        diffs.find(|diff| diff.snapshot == snapshot)?.copy.as_mut().map(|copy| &mut copy.record)
    }

    fn insert_snapshot_name(&mut self, root: InodeHandle, snapshot: Snapshot) {
        let Some(snapshottable) = self.state_mut(root).snapshottable.as_mut() else { return };
        let name = snapshot.name.as_bytes();
        let at = snapshottable.snapshots.partition_point(|s| super::compare_names(s.name.as_bytes(), name).is_lt());
        snapshottable.snapshots.insert(at, snapshot);
    }
}
