//! What an fsimage holds, both ways: a frozen state lent to the writer while requests go on, and a loader that builds a
//! namespace from the sections of an image. Formats are `journal`'s business.

use crate::blocks::{BlockHandle, BlockIds, BlockState, FrozenBlocks, PendingTruncate};
use crate::cache::CacheState;
use crate::edit_op::{AclEntry, XAttr};
use crate::erasure_coding::EcPolicies;
use crate::image_snapshots::LoadingSnapshots;
use crate::ops::delegation_token::Secrets;
use crate::ops::rolling_upgrade::RollingUpgrade;
use crate::room::Full;
use crate::tree::{ChildIter, FileLayout, InodeKind, InodeView, NewInode, Quota, Tables, TreeError, UnderConstruction};
use crate::{InodeHandle, Namespace, NamespaceConfig};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use surus_types::{Block, BlockId, EcPolicyState, ErasureCodingPolicy, InodeId, PermissionStatus};

/// The namespace as it was at one transaction. Making one copies page pointers only; holding one makes the live
/// namespace copy the pages it changes.
#[derive(Clone)]
pub struct FrozenImage {
    pub(crate) tables: Tables,
    pub(crate) blocks: FrozenBlocks,
    pub last_inode_id: InodeId,
    pub ids: BlockIds,
    pub secrets: Arc<Secrets>,
    pub cache: Arc<CacheState>,
    pub rolling_upgrade: Option<RollingUpgrade>,
}

impl Namespace {
    /// The state as it is now, for a checkpoint.
    pub fn freeze(&self) -> FrozenImage {
        FrozenImage {
            tables: self.tree.freeze(),
            blocks: self.blocks.freeze(),
            last_inode_id: self.last_inode_id,
            ids: self.blocks.ids,
            secrets: Arc::clone(&self.secrets),
            cache: Arc::clone(&self.cache),
            rolling_upgrade: self.rolling_upgrade,
        }
    }
}

impl FrozenImage {
    /// Inodes that [`FrozenImage::inodes`] lends, the root included.
    pub fn num_inodes(&self) -> u64 {
        if self.tables.has_snapshot_states() { self.inodes().count() as u64 } else { self.tables.num_attached() }
    }

    /// Every inode that can be reached, parents before children, children in name order; then those that snapshots alone
    /// show.
    pub fn inodes(&self) -> impl Iterator<Item = InodeView<'_>> {
        let held = if self.tables.has_snapshot_states() { Some(BTreeSet::new()) } else { None };
        Walk { tables: &self.tables, tops: alloc::vec![InodeHandle::ROOT], held, open: Vec::new() }
    }

    /// Every directory that has children.
    pub fn directories(&self) -> impl Iterator<Item = (InodeView<'_>, ChildIter<'_>)> {
        self.inodes().filter(|inode| inode.child_count() > 0).map(|inode| (inode, inode.children(b"")))
    }

    pub fn ec_policies(&self) -> &EcPolicies {
        self.tables.ec_policies()
    }

    pub fn inode(&self, handle: InodeHandle) -> InodeView<'_> {
        self.tables.inode(handle)
    }

    /// A block of [`InodeView::blocks`].
    pub fn block(&self, handle: BlockHandle) -> Block {
        self.blocks.block(handle)
    }

    /// The truncate of a file that has not ended.
    pub fn pending_truncate(&self, file: InodeView<'_>) -> Option<&PendingTruncate> {
        self.blocks.pending_truncate(*file.blocks().last()?)
    }

    /// Files being written, with their paths.
    pub fn files_under_construction(&self) -> impl Iterator<Item = (InodeView<'_>, String)> {
        self.tables
            .files_under_construction()
            .filter_map(|(handle, _)| Some((self.tables.inode(handle), self.tables.path_of(handle)?)))
    }
}

/// Depth first.
struct Walk<'a> {
    tables: &'a Tables,
    /// Not begun yet.
    tops: Vec<InodeHandle>,
    /// Tops that snapshots alone show, as far as they were met; `None`: there are none.
    held: Option<BTreeSet<InodeHandle>>,
    open: Vec<ChildIter<'a>>,
}

impl<'a> Iterator for Walk<'a> {
    type Item = InodeView<'a>;

    fn next(&mut self) -> Option<InodeView<'a>> {
        let handle = loop {
            match self.open.last_mut() {
                None => break self.tops.pop()?,
                Some(children) => match children.next() {
                    Some(handle) => break handle,
                    None => self.open.pop(),
                },
            };
        };
        let inode = self.tables.inode(handle);
        if let Some(held) = &mut self.held {
            inode.push_held(held, &mut self.tops);
        }
        if inode.child_count() > 0 {
            self.open.push(inode.children(b""));
        }
        Some(inode)
    }
}

/// One entry of an image's inode section.
#[derive(Clone, Copy, Debug)]
pub struct ImageInode<'a> {
    pub id: InodeId,
    /// Empty for the root.
    pub name: &'a [u8],
    pub permission: &'a PermissionStatus,
    pub modification_time: i64,
    pub access_time: i64,
    /// The entries of the ACL feature: see `InodeView::acl`.
    pub acl: &'a [AclEntry],
    pub xattrs: &'a [XAttr],
    pub kind: ImageKind<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum ImageKind<'a> {
    /// -1: no quota; names of the root: `i64::MAX`.
    Directory {
        quota: Quota,
    },
    File {
        layout: FileLayout,
        blocks: &'a [Block],
        /// Client name and machine of a file being written.
        under_construction: Option<(&'a str, &'a str)>,
    },
    Symlink {
        target: &'a [u8],
    },
}

/// What is wrong with an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    UnknownInode(InodeId),
    DuplicateInode(InodeId),
    /// The block's id is in the image twice.
    DuplicateBlock(BlockId),
    /// A child in two directories, or twice in one.
    TwoParents(InodeId),
    /// A directory below itself.
    Cycle(InodeId),
    /// Two children of one directory have the same name, or the parent is a file.
    Child {
        parent: InodeId,
        problem: TreeError,
    },
    /// A name that no path can hold: empty, with a slash, or far too long.
    BadName(InodeId),
    RootIsNotDirectory,
    /// Inodes that no directory holds: how many, and one of them.
    Orphans {
        count: u64,
        example: InodeId,
    },
    /// What the sections on snapshots say of the inode.
    Snapshot {
        inode: InodeId,
        problem: &'static str,
    },
    /// What the image says of the file's truncate.
    Truncate {
        inode: InodeId,
        problem: &'static str,
    },
    /// The inode does not fit.
    Full {
        inode: InodeId,
        full: Full,
    },
    /// The image holds what this version cannot keep: loading it would lose data at the next checkpoint.
    Unsupported {
        inode: InodeId,
        feature: &'static str,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownInode(id) => write!(f, "inode {id} is named but not in the inode section"),
            Self::DuplicateInode(id) => write!(f, "inode {id} is there twice"),
            Self::DuplicateBlock(id) => write!(f, "block {id} belongs to two files"),
            Self::TwoParents(id) => write!(f, "inode {id} is in two directories"),
            Self::Cycle(id) => write!(f, "directory {id} lies below itself"),
            Self::Child { parent, problem } => write!(f, "children of inode {parent}: {problem}"),
            Self::BadName(id) => write!(f, "inode {id} has a name that no path can hold"),
            Self::RootIsNotDirectory => f.write_str("the root is not a directory"),
            Self::Orphans { count, example } => write!(f, "{count} inodes are in no directory, {example} for one"),
            Self::Snapshot { inode, problem } => write!(f, "inode {inode}: {problem}"),
            Self::Truncate { inode, problem } => {
                write!(f, "inode {inode} has a truncate that has not ended, and {problem}")
            }
            Self::Full { inode, full } => write!(
                f,
                "inode {inode}: {full}. Start Hadoop, or a version of Surus with larger tables, on this directory, remove some, \
                 save the namespace, and start again"
            ),
            Self::Unsupported { inode, feature } => write!(f, "inode {inode} has {feature}, which this version lacks"),
        }
    }
}

impl core::error::Error for LoadError {}

/// Room is made in advance for so many inodes at most: the number comes from a file.
const EXPECTED_INODES_MAX: u64 = 1 << 24;

/// Builds a namespace: all inodes first, in any order; then the children of each directory, in any order.
pub struct ImageLoader {
    pub(crate) namespace: Namespace,
    loaded: Vec<InodeHandle>,
    pub(crate) snapshots: LoadingSnapshots,
    /// Inodes with diffs.
    pub(crate) changed: Vec<InodeHandle>,
    pub(crate) truncates: Vec<(InodeId, BlockHandle, PendingTruncate)>,
    /// Used again for each directory and each file.
    handles: Vec<u32>,
    blocks: Vec<BlockHandle>,
}

impl ImageLoader {
    pub fn new(config: NamespaceConfig, last_inode_id: InodeId, ids: BlockIds) -> Self {
        let mut namespace = Namespace::new(config);
        namespace.last_inode_id = last_inode_id.max(InodeId::ROOT);
        namespace.blocks.ids = ids;
        ImageLoader {
            namespace,
            loaded: Vec::new(),
            snapshots: LoadingSnapshots::default(),
            changed: Vec::new(),
            truncates: Vec::new(),
            handles: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Says how many inodes will come, so that nothing grows step by step. A wrong number does no harm.
    pub fn expect_inodes(&mut self, count: u64) {
        let count = count.min(EXPECTED_INODES_MAX) as usize;
        self.namespace.tree.reserve(count);
        self.loaded.reserve(count);
    }

    /// Cache pools and directives.
    pub fn set_cache(&mut self, cache: CacheState) {
        self.namespace.cache = Arc::new(cache);
    }

    /// Delegation keys and tokens.
    pub fn set_secrets(&mut self, secrets: Secrets) {
        self.namespace.secrets = Arc::new(secrets);
    }

    /// A rolling upgrade was going on, since so many milliseconds since 1970.
    pub fn set_rolling_upgrade(&mut self, start_time: i64) {
        self.namespace.rolling_upgrade = Some(RollingUpgrade { start_time });
    }

    /// Adds an erasure coding policy of the image. Those of files and directories must be there before the end.
    pub fn push_ec_policy(&mut self, policy: ErasureCodingPolicy, state: EcPolicyState) {
        self.namespace.tree.ec_policies_mut().load(policy, state);
    }

    /// Adds an inode.
    ///
    /// # Errors
    /// Its id or one of its blocks is there already, or it has a feature that would be lost.
    pub fn push_inode(&mut self, inode: &ImageInode<'_>) -> Result<(), LoadError> {
        self.check_rows(inode.id, 1)?;
        let kind = match inode.kind {
            ImageKind::Directory { .. } => InodeKind::Directory,
            ImageKind::File { .. } => InodeKind::File,
            ImageKind::Symlink { .. } => InodeKind::Symlink,
        };
        let is_root = inode.id == InodeId::ROOT;
        if is_root && kind != InodeKind::Directory {
            return Err(LoadError::RootIsNotDirectory);
        }
        let new = NewInode {
            id: inode.id,
            permission: inode.permission,
            modification_time: inode.modification_time,
            access_time: inode.access_time,
        };
        let layout = match inode.kind {
            ImageKind::File { layout, .. } => layout,
            _ => FileLayout::default(),
        };
        let handle = self.namespace.tree.load_inode(inode.name, &new, kind, layout).map_err(|e| match e {
            TreeError::BadName => LoadError::BadName(inode.id),
            _ => LoadError::DuplicateInode(inode.id),
        })?;
        self.namespace.note_inode_id(inode.id);
        if !inode.acl.is_empty() {
            self.namespace.tree.set_acl(handle, inode.acl);
        }
        if !inode.xattrs.is_empty() {
            self.namespace.tree.set_xattrs(handle, inode.xattrs);
        }
        if !is_root {
            self.loaded.push(handle);
        }
        match inode.kind {
            ImageKind::File { layout, blocks, under_construction } => {
                self.load_file(inode.id, handle, layout, blocks, under_construction)
            }
            ImageKind::Symlink { target } => {
                self.namespace.tree.load_symlink_target(handle, target);
                Ok(())
            }
            ImageKind::Directory { mut quota } => {
                if is_root && quota.names == Quota::ROOT_NAMES {
                    quota.names = -1;
                }
                self.namespace.tree.set_quota(handle, quota);
                Ok(())
            }
        }
    }

    /// # Errors
    /// `Full`: there is no room for what is said of `inode` next, with `features` more inodes that have features.
    pub(crate) fn check_rows(&self, inode: InodeId, features: usize) -> Result<(), LoadError> {
        self.namespace.check_rows(features).map_err(|full| LoadError::Full { inode, full })
    }

    /// Adds the children of one directory.
    ///
    /// # Errors
    /// An id is unknown, a child has a parent already, two children have one name.
    pub fn push_directory(
        &mut self,
        parent: InodeId,
        children: impl IntoIterator<Item = InodeId>,
    ) -> Result<(), LoadError> {
        self.check_rows(parent, 0)?;
        let tree = &mut self.namespace.tree;
        let directory = tree.get(parent).ok_or(LoadError::UnknownInode(parent))?;
        let mut top = directory;
        while let Some(above) = tree.inode(top).parent() {
            top = above;
        }
        self.handles.clear();
        for id in children {
            let child = tree.get(id).ok_or(LoadError::UnknownInode(id))?;
            if child == top {
                return Err(LoadError::Cycle(id));
            }
            if tree.inode(child).parent().is_some() || child == InodeHandle::ROOT {
                return Err(LoadError::TwoParents(id));
            }
            self.handles.push(child.0);
        }
        tree.load_children(directory, &self.handles).map_err(|problem| LoadError::Child { parent, problem })
    }

    /// The namespace.
    ///
    /// # Errors
    /// Some inode is in no directory, or a truncate has another file's block to copy from.
    pub fn finish(mut self) -> Result<Namespace, LoadError> {
        self.finish_snapshots();
        self.finish_truncates()?;
        let expected = self.loaded.len() as u64 + 1;
        let attached = self.namespace.tree.num_attached();
        if attached != expected {
            let mut orphans =
                self.loaded.iter().filter(|&&h| !self.namespace.tree.is_attached(h) && !self.is_held_somewhere(h));
            let orphan = orphans.next();
            let count = orphans.count() as u64 + 1;
            if let Some(&orphan) = orphan {
                let example = self.namespace.tree.inode(orphan).id();
                return Err(LoadError::Orphans { count, example });
            }
        }
        let default = self.namespace.config.ec_default_policy.clone();
        self.namespace.tree.ec_policies_mut().enable_default(&default);
        self.namespace.tree.sum_types();
        self.namespace.tree.sum_held();
        Ok(self.namespace)
    }

    fn load_file(
        &mut self,
        id: InodeId,
        handle: InodeHandle,
        layout: FileLayout,
        blocks: &[Block],
        under_construction: Option<(&str, &str)>,
    ) -> Result<(), LoadError> {
        let namespace = &mut self.namespace;
        let open = under_construction.is_some();
        let mut unfinished = 0;
        let mut length = 0u64;
        self.blocks.clear();
        for (i, &block) in blocks.iter().enumerate() {
            // Source: `FSImageFormatPBINode.loadINodeFile`, Hadoop 3.5.0: the last block of an open file is open.
            let open = open && i + 1 == blocks.len();
            let state = if open { BlockState::UnderConstruction } else { BlockState::Complete };
            if open {
                unfinished = layout.preferred_block_size.saturating_sub(block.num_bytes);
            }
            let block_handle = namespace
                .blocks
                .insert(block, id, layout.replication, state, layout.is_erasure_coded())
                .ok_or(LoadError::DuplicateBlock(block.id))?;
            self.blocks.push(block_handle);
            length = length.saturating_add(block.num_bytes);
        }
        if let Some((client_name, client_machine)) = under_construction {
            let holder: Arc<str> = client_name.into();
            namespace.leases.add(&holder, id, namespace.now_ms);
            namespace.tree.set_under_construction(handle, Some(UnderConstruction::new(holder, client_machine.into())));
        }
        namespace.tree.load_blocks(handle, &self.blocks, length);
        if open {
            namespace.tree.set_file_size(handle, length, unfinished);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_types::{FsPermission, GenerationStamp};

    fn permission() -> PermissionStatus {
        PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o644) }
    }

    fn file<'a>(id: u64, name: &'a str, permission: &'a PermissionStatus, blocks: &'a [Block]) -> ImageInode<'a> {
        let layout = FileLayout { preferred_block_size: 100, replication: 2, ..FileLayout::default() };
        let kind = ImageKind::File { layout, blocks, under_construction: None };
        ImageInode {
            id: InodeId(id),
            name: name.as_bytes(),
            permission,
            modification_time: 1,
            access_time: 2,
            acl: &[],
            xattrs: &[],
            kind,
        }
    }

    fn directory<'a>(id: u64, name: &'a str, permission: &'a PermissionStatus) -> ImageInode<'a> {
        let kind = ImageKind::Directory { quota: Quota::NONE };
        ImageInode { kind, ..file(id, name, permission, &[]) }
    }

    fn loader() -> ImageLoader {
        ImageLoader::new(NamespaceConfig::default(), InodeId(16390), BlockIds::default())
    }

    fn block(id: i64, num_bytes: u64) -> Block {
        Block { id: BlockId(id), generation_stamp: GenerationStamp(1001), num_bytes }
    }

    #[test]
    fn loads_sections_in_any_order_and_lends_them_again() {
        let p = permission();
        let mut loader = loader();
        loader.push_inode(&file(16387, "f", &p, &[block(1, 100), block(2, 7)])).unwrap();
        loader.push_inode(&directory(16386, "d", &p)).unwrap();
        loader.push_inode(&directory(16385, "", &p)).unwrap();
        let mut open = file(16388, "é", &p, &[]);
        let blocks = [block(3, 10)];
        open.kind = ImageKind::File {
            layout: FileLayout { preferred_block_size: 100, replication: 2, ..FileLayout::default() },
            blocks: &blocks,
            under_construction: Some(("client", "machine")),
        };
        loader.push_inode(&open).unwrap();
        loader.push_directory(InodeId(16386), [InodeId(16388), InodeId(16387)]).unwrap();
        loader.push_directory(InodeId(16385), [InodeId(16386)]).unwrap();
        let namespace = loader.finish().unwrap();
        let counts = namespace.tree.counts(InodeHandle::ROOT);
        assert_eq!((counts.files, counts.directories, counts.length, counts.space), (2, 2, 117, 414));
        assert_eq!(namespace.leases.pending("client"), 1);
        assert_eq!(namespace.tree.path_of(namespace.tree.get(InodeId(16387)).unwrap()).unwrap(), "/d/f");

        let image = namespace.freeze();
        let ids: Vec<u64> = image.inodes().map(|inode| inode.id().0).collect();
        assert_eq!(ids, [16385, 16386, 16388, 16387]);
        assert_eq!(image.num_inodes(), 4);
        let directories: Vec<(u64, Vec<u64>)> = image
            .directories()
            .map(|(d, children)| (d.id().0, children.map(|h| image.inode(h).id().0).collect()))
            .collect();
        assert_eq!(directories, [(16385, alloc::vec![16386]), (16386, alloc::vec![16388, 16387])]);
        let open: Vec<String> = image.files_under_construction().map(|(_, path)| path).collect();
        assert_eq!(open, ["/d/é"]);
        let f = image.inode(namespace.tree.get(InodeId(16387)).unwrap());
        assert_eq!(f.blocks().iter().map(|&b| image.block(b).num_bytes).collect::<Vec<_>>(), [100, 7]);
    }

    #[test]
    fn names_what_is_wrong() {
        let p = permission();
        let mut loader = loader();
        loader.push_inode(&directory(16386, "d", &p)).unwrap();
        loader.push_inode(&directory(16387, "e", &p)).unwrap();
        loader.push_inode(&file(16388, "d", &p, &[block(1, 1)])).unwrap();
        let id = InodeId;
        assert_eq!(loader.push_inode(&file(16385, "", &p, &[])), Err(LoadError::RootIsNotDirectory));
        assert_eq!(loader.push_inode(&file(16389, "a/b", &p, &[])), Err(LoadError::BadName(id(16389))));
        assert_eq!(loader.push_inode(&file(16389, "", &p, &[])), Err(LoadError::BadName(id(16389))));
        assert_eq!(loader.push_inode(&directory(16386, "x", &p)), Err(LoadError::DuplicateInode(id(16386))));
        assert_eq!(
            loader.push_inode(&file(16389, "x", &p, &[block(1, 1)])),
            Err(LoadError::DuplicateBlock(BlockId(1)))
        );
        assert_eq!(loader.push_directory(id(99), [id(16386)]), Err(LoadError::UnknownInode(id(99))));
        assert_eq!(loader.push_directory(id(16385), [id(99)]), Err(LoadError::UnknownInode(id(99))));
        assert_eq!(loader.push_directory(id(16386), [id(16386)]), Err(LoadError::Cycle(id(16386))));
        loader.push_directory(id(16386), [id(16387)]).unwrap();
        assert_eq!(loader.push_directory(id(16387), [id(16386)]), Err(LoadError::Cycle(id(16386))));
        assert_eq!(loader.push_directory(id(16385), [id(16387)]), Err(LoadError::TwoParents(id(16387))));
        let problem = TreeError::ParentIsNotDirectory;
        let parent = id(16388);
        assert_eq!(loader.push_directory(parent, [id(16386)]), Err(LoadError::Child { parent, problem }));
        let (parent, problem) = (id(16385), TreeError::NameExists);
        assert_eq!(loader.push_directory(parent, [id(16386), id(16388)]), Err(LoadError::Child { parent, problem }));
        assert!(matches!(loader.finish(), Err(LoadError::Orphans { .. })));
    }
}
