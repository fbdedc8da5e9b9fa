//! The tables as they are read: lookups, paths, totals. A checkpoint clones these and nothing else.

use super::arena::{Lists, Names};
use super::children::{ChildIter, Children, NO_NODE, NameOf};
use super::features::FeatureTables;
use super::handles::InodeHandle;
use super::inode::{InodeKind, InodeRecord, InodeView, UnderConstruction};
use super::intern::Interned;
use super::pages::Paged;
use super::snapshot::{CURRENT, SnapshotTables};
use crate::blocks::BlockHandle;
use crate::erasure_coding::EcPolicies;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use surus_types::InodeId;

/// Everything about the tree that an fsimage holds. Cloning it copies page pointers, not pages.
#[derive(Clone, Default)]
pub struct Tables {
    pub(super) inodes: Paged<InodeRecord>,
    pub(super) directories: Paged<DirectoryRecord>,
    pub(super) names: Names,
    pub(super) children: Children,
    pub(super) block_lists: Lists<BlockHandle>,
    pub(super) features: FeatureTables,
    pub(super) snapshots: SnapshotTables,
    pub(super) interned: Arc<Interned>,
    pub(super) under_construction: Arc<BTreeMap<InodeHandle, UnderConstruction>>,
    /// Inodes with a storage policy of their own.
    pub(super) num_policies: u32,
    /// Directories with an erasure coding policy of their own.
    pub(super) num_ec_policies: u32,
    pub(super) ec_policies: Arc<EcPolicies>,
    /// Roots of encryption zones, those that only snapshots hold too.
    pub(super) zones: Arc<BTreeMap<InodeId, InodeHandle>>,
    pub(super) symlinks: Arc<BTreeMap<InodeHandle, Box<[u8]>>>,
}

/// A directory's row: its children, and the totals below it (itself not counted).
#[derive(Clone, Copy)]
pub(super) struct DirectoryRecord {
    pub(super) length: u64,
    pub(super) space: u64,
    pub(super) once: u64,
    pub(super) files: u32,
    pub(super) directories: u32,
    pub(super) root: u32,
    pub(super) child_count: u32,
}

impl Default for DirectoryRecord {
    fn default() -> Self {
        DirectoryRecord { length: 0, space: 0, once: 0, files: 0, directories: 0, root: NO_NODE, child_count: 0 }
    }
}

/// Totals of a subtree, its top included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Symlinks too.
    pub files: u64,
    pub directories: u64,
    /// Bytes of all files.
    pub length: u64,
    /// Bytes times replication; a block being written counts in full.
    pub space: u64,
    /// Of that, one replica of each file: storage policies treat the first replica apart.
    pub once: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: &Counts) {
        self.files += other.files;
        self.directories += other.directories;
        self.length = self.length.wrapping_add(other.length);
        self.space = self.space.wrapping_add(other.space);
        self.once = self.once.wrapping_add(other.once);
    }
}

impl Tables {
    /// The inode at `handle`.
    #[inline]
    pub fn inode(&self, handle: InodeHandle) -> InodeView<'_> {
        InodeView { tables: self, record: self.inodes.get(handle.0), handle, snapshot: CURRENT, is_raw: false }
    }

    /// The child of `directory` called `name`; `None` too when `directory` is none.
    pub fn child(&self, directory: InodeHandle, name: &[u8]) -> Option<InodeHandle> {
        let record = self.inodes.get(directory.0);
        if !record.is_directory() {
            return None;
        }
        self.children.find(self.directories.get(record.payload.0).root, name, self)
    }

    /// The inode at an absolute path, without any check. Empty components are skipped.
    pub fn lookup(&self, path: &str) -> Option<InodeHandle> {
        let mut at = InodeHandle::ROOT;
        for component in path.strip_prefix('/')?.split('/') {
            if !component.is_empty() {
                at = self.child(at, component.as_bytes())?;
            }
        }
        Some(at)
    }

    /// The absolute path of an inode; `None` when it lies in a detached subtree.
    pub fn path_of(&self, handle: InodeHandle) -> Option<String> {
        let mut chain = Vec::new();
        let mut at = handle;
        while at != InodeHandle::ROOT {
            let view = self.inode(at);
            chain.push(view.name());
            at = view.parent()?;
        }
        let mut path = String::new();
        for name in chain.iter().rev() {
            path.push('/');
            path.push_str(&String::from_utf8_lossy(name));
        }
        if path.is_empty() {
            path.push('/');
        }
        Some(path)
    }

    /// Whether the inode can still be reached from the root.
    pub fn is_attached(&self, handle: InodeHandle) -> bool {
        let mut at = handle;
        while let Some(parent) = self.inode(at).parent() {
            at = parent;
        }
        at == InodeHandle::ROOT
    }

    /// Directories above an inode.
    pub(super) fn depth(&self, handle: InodeHandle) -> usize {
        let (mut at, mut depth) = (handle, 0);
        while let Some(parent) = self.inode(at).parent() {
            (at, depth) = (parent, depth + 1);
        }
        depth
    }

    /// Whether `handle` is `ancestor` or lies below it.
    pub fn is_below(&self, handle: InodeHandle, ancestor: InodeHandle) -> bool {
        let mut at = Some(handle);
        while let Some(h) = at {
            if h == ancestor {
                return true;
            }
            at = self.inode(h).parent();
        }
        false
    }

    /// Totals of a subtree, its top included.
    pub fn counts(&self, handle: InodeHandle) -> Counts {
        let view = self.inode(handle);
        match view.kind() {
            InodeKind::Directory => {
                let row = self.directories.get(view.record.payload.0);
                Counts {
                    files: u64::from(row.files),
                    directories: u64::from(row.directories) + 1,
                    length: row.length,
                    space: row.space,
                    once: row.once,
                }
            }
            InodeKind::File | InodeKind::Symlink => view.own_counts(),
        }
    }

    /// Files being written, by handle. Those of detached subtrees are among them until they are freed.
    pub fn files_under_construction(&self) -> impl Iterator<Item = (InodeHandle, &UnderConstruction)> {
        self.under_construction.iter().map(|(&handle, uc)| (handle, uc))
    }

    /// Inodes that can be reached from the root, itself included.
    pub fn num_attached(&self) -> u64 {
        let counts = self.counts(InodeHandle::ROOT);
        counts.files + counts.directories
    }

    pub(super) fn child_iter(&self, record: &InodeRecord, start_after: &[u8]) -> ChildIter<'_> {
        let root = if record.is_directory() { self.directories.get(record.payload.0).root } else { NO_NODE };
        self.children.iter(root, start_after, self)
    }

    /// Bytes of all tables, for the memory bench.
    pub fn bytes(&self) -> usize {
        self.table_bytes().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes by table.
    pub fn table_bytes(&self) -> [(&'static str, usize); 7] {
        [
            ("Inodes", self.inodes.bytes()),
            ("Directories", self.directories.bytes()),
            ("Names", self.names.bytes()),
            ("Children", self.children.bytes()),
            ("BlockLists", self.block_lists.bytes()),
            ("Features", self.features.bytes() + self.quota_bytes()),
            ("Snapshots", self.snapshots.bytes()),
        ]
    }
}

impl NameOf for Tables {
    fn name_of(&self, handle: InodeHandle) -> &[u8] {
        self.names.get(self.inodes.get(handle.0).name)
    }
}
