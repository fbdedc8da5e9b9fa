//! Snapshots in images: what the writer is lent, and how the loader builds them.

use crate::image::{FrozenImage, ImageLoader, LoadError};
use crate::tree::{
    Deleted, LoadedDiff, LoadedDiffBody, PastAttributes, Reference, SNAPSHOT_LIMIT, Snapshot, SnapshotId,
};
use crate::{InodeHandle, InodeView};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use surus_types::{Block, InodeId};

/// A diff of an image, with ids for handles.
#[derive(Clone, Debug)]
pub struct ImageDiff {
    pub snapshot: SnapshotId,
    pub copy: Option<PastAttributes>,
    pub body: ImageDiffBody,
}

#[derive(Clone, Debug)]
pub enum ImageDiffBody {
    Directory {
        child_count: u32,
        /// The copy is the one that came with the snapshot.
        is_root: bool,
        created: Vec<Box<[u8]>>,
        deleted: Vec<ImageDeleted>,
    },
    File {
        length: u64,
        /// Empty: no list of its own.
        blocks: Vec<Block>,
    },
}

/// An entry of a deleted list. Without a name the inode's own counts.
#[derive(Clone, Debug)]
pub struct ImageDeleted {
    pub inode: InodeId,
    pub name: Option<Box<[u8]>>,
    pub reference: Reference,
}

/// Snapshots on their way into a namespace.
#[derive(Default)]
pub(crate) struct LoadingSnapshots {
    counter: SnapshotId,
    directories: BTreeMap<InodeHandle, Vec<Snapshot>>,
    roots: BTreeMap<SnapshotId, (InodeHandle, PastAttributes)>,
}

impl FrozenImage {
    /// Directories that may have snapshots and can be reached.
    pub fn snapshottable_directories(&self) -> impl Iterator<Item = InodeView<'_>> {
        let directories =
            self.tables.snapshottable_directories().filter(|&directory| self.tables.is_attached(directory));
        directories.map(|directory| self.tables.inode(directory))
    }

    /// The number the next snapshot gets, and how many there are.
    pub fn snapshot_numbers(&self) -> (SnapshotId, usize) {
        (self.tables.snapshot_counter(), self.tables.snapshots().len())
    }

    /// The directory of a snapshot as it was then.
    pub fn snapshot_root(&self, directory: InodeView<'_>, snapshot: SnapshotId) -> InodeView<'_> {
        self.tables.inode_at(directory.handle(), snapshot)
    }
}

impl ImageLoader {
    pub(crate) fn known(&self, inode: InodeId) -> Result<InodeHandle, LoadError> {
        self.namespace.tree.get(inode).ok_or(LoadError::UnknownInode(inode))
    }

    /// Says how an image wrote the place of an inode.
    ///
    /// # Errors
    /// The id is unknown.
    pub fn push_reference(&mut self, inode: InodeId, reference: Reference) -> Result<(), LoadError> {
        let handle = self.known(inode)?;
        self.check_rows(inode, 1)?;
        self.namespace.tree.load_reference(handle, reference);
        Ok(())
    }

    /// A directory that may have snapshots. `counter`: the number the next snapshot gets.
    ///
    /// # Errors
    /// The id is unknown, or no directory's.
    pub fn push_snapshottable(&mut self, directory: InodeId) -> Result<(), LoadError> {
        let handle = self.known(directory)?;
        if !self.namespace.tree.inode(handle).is_directory() {
            return Err(LoadError::Snapshot { inode: directory, problem: "it is snapshottable and no directory" });
        }
        self.snapshots.directories.entry(handle).or_default();
        self.check_rows(directory, self.snapshots.directories.len())
    }

    pub fn set_snapshot_counter(&mut self, counter: SnapshotId) {
        self.snapshots.counter = counter;
    }

    /// A snapshot, after its directory.
    ///
    /// # Errors
    /// The directory is not snapshottable, its name or its number is there already.
    pub fn push_snapshot(
        &mut self,
        directory: InodeId,
        id: SnapshotId,
        name: &str,
        attributes: PastAttributes,
    ) -> Result<(), LoadError> {
        let handle = self.known(directory)?;
        let wrong = |problem| Err(LoadError::Snapshot { inode: directory, problem });
        let Some(snapshots) = self.snapshots.directories.get_mut(&handle) else {
            return wrong("it has a snapshot and is not snapshottable");
        };
        if snapshots.iter().any(|s| &*s.name == name) {
            return wrong("it has two snapshots of one name");
        }
        snapshots.push(Snapshot { id, name: name.into() });
        if self.snapshots.roots.insert(id, (handle, attributes)).is_some() {
            return wrong("its snapshot has another one's number");
        }
        Ok(())
    }

    /// A diff of an inode: the newest first, after all snapshots.
    ///
    /// # Errors
    /// An id is unknown; the diff is not of the inode's kind, or not older than the one before; there is no room for it.
    pub fn push_diff(&mut self, inode: InodeId, diff: ImageDiff) -> Result<(), LoadError> {
        let handle = self.known(inode)?;
        // The inode has a row, and its copy; so has each that is deleted.
        let deleted = if let ImageDiffBody::Directory { deleted, .. } = &diff.body { deleted.len() } else { 0 };
        self.check_rows(inode, 2 + deleted)?;
        let mut copy = diff.copy;
        let body = match diff.body {
            ImageDiffBody::Directory { child_count, is_root, created, deleted } => {
                if is_root {
                    let name = self.namespace.tree.inode(handle).name();
                    let root = self.snapshots.roots.get(&diff.snapshot).filter(|(directory, _)| *directory == handle);
                    copy = root.map(|(_, attributes)| PastAttributes { name: name.into(), ..attributes.clone() });
                }
                let deleted = deleted.into_iter().map(|entry| self.deleted(entry)).collect::<Result<_, _>>()?;
                LoadedDiffBody::Directory { child_count, is_root, created, deleted }
            }
            ImageDiffBody::File { length, blocks } => {
                let replication = copy.as_ref().map_or(0, |copy| copy.layout.replication);
                let is_group = self.namespace.tree.inode(handle).layout().is_erasure_coded();
                let mut handles = Vec::with_capacity(blocks.len());
                for block in blocks {
                    let known = self.namespace.blocks.find(block.id);
                    let new = || {
                        let state = crate::blocks::BlockState::Complete;
                        self.namespace.blocks.insert(block, inode, replication, state, is_group)
                    };
                    handles.push(known.or_else(new).ok_or(LoadError::DuplicateBlock(block.id))?);
                }
                LoadedDiffBody::File { length, blocks: (!handles.is_empty()).then_some(handles) }
            }
        };
        if self.namespace.tree.load_diff(handle, LoadedDiff { snapshot: diff.snapshot, copy, body }) {
            self.changed.push(handle);
            return Ok(());
        }
        Err(LoadError::Snapshot { inode, problem: "one of its diffs is of another kind or out of order" })
    }

    fn deleted(&self, entry: ImageDeleted) -> Result<Deleted, LoadError> {
        let inode = self.known(entry.inode)?;
        let view = self.namespace.tree.inode(inode);
        if entry.reference == Reference::None && view.parent().is_some() {
            return Err(LoadError::TwoParents(entry.inode));
        }
        let name = entry.name.unwrap_or_else(|| view.name().into());
        Ok(Deleted { name, inode, reference: entry.reference })
    }

    /// Snapshots come to life once everything is in place.
    pub(crate) fn finish_snapshots(&mut self) {
        let loading = core::mem::take(&mut self.snapshots);
        let tree = &mut self.namespace.tree;
        for (directory, snapshots) in loading.directories {
            tree.load_snapshottable(directory, SNAPSHOT_LIMIT, snapshots);
        }
        let live = loading.roots.into_iter().map(|(id, (directory, _))| (id, directory)).collect();
        tree.load_snapshots(loading.counter, live);
        for file in core::mem::take(&mut self.changed) {
            if self.namespace.tree.inode(file).is_file() {
                self.namespace.refresh_block_replication(file);
            }
        }
        // Nobody writes what only snapshots show.
        let open: Vec<_> = self.namespace.tree.files_under_construction().map(|(file, _)| file).collect();
        for file in open {
            if !self.namespace.tree.is_attached(file) {
                let id = self.namespace.tree.inode(file).id();
                self.namespace.leases.remove(id);
            }
        }
    }

    /// Whether an inode without a way to the root is in a snapshot: its top is in some deleted list.
    pub(crate) fn is_held_somewhere(&self, inode: InodeHandle) -> bool {
        let tree = &self.namespace.tree;
        let mut top = inode;
        while let Some(parent) = tree.inode(top).parent() {
            top = parent;
        }
        tree.is_held(top)
    }
}
