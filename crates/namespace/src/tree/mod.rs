//! The inode tree: tables, and the few changes that keep them consistent (names in order, counters of every directory,
//! ids). It knows nothing of callers and permissions: `ops` decide, this executes.

mod arena;
mod children;
mod features;
mod files;
mod handles;
mod held;
mod hints;
mod inode;
mod intern;
mod pages;
mod quota;
mod room;
mod snapshot;
mod tables;
mod zones;

pub use children::{ChildIter, compare_names};
pub use features::{Acl, AclEntryView, XAttrView, XAttrs};
pub use handles::InodeHandle;
pub use held::Held;
pub use inode::{InodeKind, InodeView, UnderConstruction};
pub use intern::FileLayout;
pub(crate) use pages::Paged;
pub use pages::copied_page_bytes;
pub use quota::Quota;
pub use snapshot::{
    CURRENT, ChildrenDiff, Created, Deleted, DiffBodyView, DiffView, LoadedDiff, LoadedDiffBody, PastAttributes,
    PastChildren, Reference, SNAPSHOT_ID_MAX, SNAPSHOT_LIMIT, Snapshot, SnapshotId, Snapshottable,
};
pub use tables::{Counts, Tables};

pub(crate) use intern::is_short;
pub(crate) use room::{ACL_RUN, NODE_RUN, list_run, name_run};
pub(crate) use snapshot::Garbage;

use crate::blocks::BlockHandle;
use crate::id_map::IdMap;
use crate::storage_policy::UNSPECIFIED;
use alloc::sync::Arc;
use alloc::vec::Vec;
use arena::Names;
use children::{NO_NODE, NameOf};
use core::fmt;
use features::FeatureIndex;
use held::HeldIndex;
use hints::PathHints;
use inode::{InodeRecord, NO_PARENT};
use intern::{InternUsers, Interned, Short, no_layout};
use quota::QuotaIndex;
use snapshot::SnapshotIndex;
use surus_types::{FsPermission, InodeId, PermissionStatus};
use tables::DirectoryRecord;

/// What every new inode has.
#[derive(Clone, Debug)]
pub struct NewInode<'a> {
    pub id: InodeId,
    pub permission: &'a PermissionStatus,
    pub modification_time: i64,
    pub access_time: i64,
}

/// Rows and names in use: see `room::TableLimits`.
pub(crate) struct Used {
    pub features: u64,
    pub users_and_groups: u64,
    pub xattr_names: u64,
    pub inodes: u64,
    pub name_units: u64,
    pub node_units: u64,
    pub block_list_units: u64,
    pub acl_units: u64,
    pub xattr_units: u64,
    pub numbers: u64,
    pub layouts: u64,
}

/// Why an inode cannot be put into the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TreeError {
    /// The parent has a child of this name.
    NameExists,
    ParentIsNotDirectory,
    /// Another inode has this id.
    DuplicateId(InodeId),
    /// A name that no path can hold: empty, with a slash, or far too long.
    BadName,
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameExists => f.write_str("the name exists already"),
            Self::ParentIsNotDirectory => f.write_str("the parent is not a directory"),
            Self::DuplicateId(id) => write!(f, "inode id {id} is taken"),
            Self::BadName => f.write_str("a name that no path can hold"),
        }
    }
}

/// The inode part alone answers for names, so that nodes can change while they are searched.
struct NameTables<'a> {
    inodes: &'a Paged<InodeRecord>,
    names: &'a Names,
}
impl NameOf for NameTables<'_> {
    fn name_of(&self, handle: InodeHandle) -> &[u8] {
        self.names.get(self.inodes.get(handle.0).name)
    }
}
/// The live tree: the tables, and what finds and recycles their rows.
pub struct Tree {
    tables: Tables,
    by_id: IdMap,
    free_inodes: Vec<u32>,
    free_directories: Vec<u32>,
    feature_index: FeatureIndex,
    snapshot_index: SnapshotIndex,
    quotas: QuotaIndex,
    held: HeldIndex,
    hints: PathHints,
    intern_users: InternUsers,
    /// What was interned last: the next inode is usually alike.
    last_attributes: Option<(PermissionStatus, FileLayout, u32)>,
}

impl core::ops::Deref for Tree {
    type Target = Tables;
    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl Tree {
    /// A tree of the root directory alone.
    pub fn new(root: &PermissionStatus, modification_time: i64) -> Self {
        let mut tree = Tree {
            tables: Tables::default(),
            by_id: IdMap::default(),
            free_inodes: Vec::new(),
            free_directories: Vec::new(),
            feature_index: FeatureIndex::default(),
            snapshot_index: SnapshotIndex::default(),
            quotas: QuotaIndex::default(),
            held: HeldIndex::default(),
            hints: PathHints::default(),
            intern_users: InternUsers::default(),
            last_attributes: None,
        };
        let new = NewInode { id: InodeId::ROOT, permission: root, modification_time, access_time: 0 };
        let handle = tree.new_inode(&new, b"", InodeKind::Directory, FileLayout::default());
        debug_assert_eq!(handle, InodeHandle::ROOT);
        tree
    }

    /// A clone of the tables as they are now, for a checkpoint.
    pub fn freeze(&self) -> Tables {
        self.tables.clone()
    }

    /// Inodes that are not freed, reachable or not.
    pub fn num_live_inodes(&self) -> usize {
        self.by_id.len()
    }

    /// How full the tables with limits are.
    pub(crate) fn used(&self) -> Used {
        Used {
            features: self.feature_rows(),
            users_and_groups: self.tables.interned.num_names(),
            xattr_names: self.num_xattr_names(),
            inodes: self.by_id.len() as u64,
            name_units: self.tables.names.arena().units(),
            node_units: self.tables.children.arena().units(),
            block_list_units: self.tables.block_lists.arena().units(),
            acl_units: self.tables.features.acl_arena().units(),
            xattr_units: self.tables.features.xattr_arena().units(),
            numbers: self.tables.interned.num_numbers(),
            layouts: self.tables.interned.num_layouts(),
        }
    }

    /// Bytes of the map from inode id to row.
    pub fn id_bytes(&self) -> usize {
        self.by_id.bytes()
    }

    /// The inode with this id, whether or not it is attached.
    pub fn get(&self, id: InodeId) -> Option<InodeHandle> {
        self.by_id.get(id.0).map(InodeHandle)
    }

    /// Puts an empty directory into `parent`.
    ///
    /// # Errors
    /// The name or the id is taken, or `parent` is no directory.
    pub fn add_directory(
        &mut self,
        parent: InodeHandle,
        name: &[u8],
        new: &NewInode<'_>,
    ) -> Result<InodeHandle, TreeError> {
        self.check_new(parent, name, new.id)?;
        let handle = self.new_inode(new, name, InodeKind::Directory, FileLayout::default());
        self.attach_new(parent, handle)
    }

    /// Puts an empty, closed file into `parent`.
    ///
    /// # Errors
    /// As [`Tree::add_directory`].
    pub fn add_file(
        &mut self,
        parent: InodeHandle,
        name: &[u8],
        new: &NewInode<'_>,
        layout: FileLayout,
    ) -> Result<InodeHandle, TreeError> {
        self.check_new(parent, name, new.id)?;
        let handle = self.new_inode(new, name, InodeKind::File, layout);
        self.attach_new(parent, handle)
    }

    /// Puts a symlink into `parent`: only old images hold any.
    ///
    /// # Errors
    /// As [`Tree::add_directory`].
    pub fn add_symlink(
        &mut self,
        parent: InodeHandle,
        name: &[u8],
        new: &NewInode<'_>,
        target: &[u8],
    ) -> Result<InodeHandle, TreeError> {
        self.check_new(parent, name, new.id)?;
        let handle = self.new_inode(new, name, InodeKind::Symlink, FileLayout::default());
        Arc::make_mut(&mut self.tables.symlinks).insert(handle, target.into());
        self.attach_new(parent, handle)
    }

    /// Makes room in the index for so many inodes: a loader knows how many there are.
    pub(crate) fn reserve(&mut self, inodes: usize) {
        self.by_id.reserve(inodes);
    }

    /// Makes an inode that has no parent yet: a loader attaches it by [`Tree::load_children`]. The root is there already and
    /// takes the values given.
    pub(crate) fn load_inode(
        &mut self,
        name: &[u8],
        new: &NewInode<'_>,
        kind: InodeKind,
        layout: FileLayout,
    ) -> Result<InodeHandle, TreeError> {
        let is_root = new.id == InodeId::ROOT;
        if !is_root && !is_name(name) {
            return Err(TreeError::BadName);
        }
        if is_root {
            self.set_permission_status(InodeHandle::ROOT, new.permission);
            self.set_times(InodeHandle::ROOT, new.modification_time, new.access_time);
            return Ok(InodeHandle::ROOT);
        }
        if self.get(new.id).is_some() {
            return Err(TreeError::DuplicateId(new.id));
        }
        Ok(self.new_inode(new, name, kind, layout))
    }

    pub(crate) fn load_symlink_target(&mut self, handle: InodeHandle, target: &[u8]) {
        Arc::make_mut(&mut self.tables.symlinks).insert(handle, target.into());
    }

    /// Gives a directory without children all its children at once. In name order this costs one comparison for each.
    pub(crate) fn load_children(&mut self, directory: InodeHandle, children: &[u32]) -> Result<(), TreeError> {
        let record = *self.tables.inodes.get(directory.0);
        if !record.is_directory() {
            return Err(TreeError::ParentIsNotDirectory);
        }
        let sorted = children.windows(2).all(|pair| {
            let names = [0, 1].map(|i| self.inode(InodeHandle(pair[i])).name());
            compare_names(names[0], names[1]).is_lt()
        });
        if !sorted || self.tables.directories.get(record.payload.0).child_count > 0 {
            for &child in children {
                self.check_name(directory, self.inode(InodeHandle(child)).name())?;
                self.attach(directory, InodeHandle(child))?;
            }
            return Ok(());
        }
        let mut sum = Counts::default();
        for &child in children {
            self.tables.inodes.get_mut(child).parent = directory.0;
            let counts = self.counts(InodeHandle(child));
            sum.files += counts.files;
            sum.directories += counts.directories;
            sum.length = sum.length.wrapping_add(counts.length);
            sum.space = sum.space.wrapping_add(counts.space);
            sum.once = sum.once.wrapping_add(counts.once);
        }
        let root = self.tables.children.build(children);
        let row = self.tables.directories.get_mut(record.payload.0);
        row.root = root;
        row.child_count = children.len() as u32;
        self.charge(directory, Counts::default(), sum);
        Ok(())
    }

    /// Takes an inode, with all that lies below it, out of its parent. It keeps its rows until [`Tree::free`].
    pub fn detach(&mut self, handle: InodeHandle) {
        let Some(parent) = self.inode(handle).parent() else { return };
        let counts = self.counts(handle);
        self.leave_types(handle, parent);
        self.leave_held(handle, parent);
        let row = self.tables.inodes.get(parent.0).payload.0;
        let mut directory = *self.tables.directories.get(row);
        let tables = &mut self.tables;
        let names = NameTables { inodes: &tables.inodes, names: &tables.names };
        directory.root = tables.children.remove(directory.root, names.name_of(handle), &names);
        directory.child_count -= 1;
        *self.tables.directories.get_mut(row) = directory;
        self.tables.inodes.get_mut(handle.0).parent = NO_PARENT;
        self.charge(parent, counts, Counts::default());
    }

    /// Puts a detached inode into `parent` as `name`.
    ///
    /// # Errors
    /// The name is taken, or `parent` is no directory.
    pub fn reattach(&mut self, handle: InodeHandle, parent: InodeHandle, name: &[u8]) -> Result<(), TreeError> {
        self.check_name(parent, name)?;
        if self.inode(handle).name() != name {
            let old = self.tables.inodes.get(handle.0).name;
            self.tables.names.remove(old);
            let new = self.tables.names.insert(name);
            self.tables.inodes.get_mut(handle.0).name = new;
        }
        self.attach(parent, handle)
    }

    /// Gives back the rows of one detached inode without children. Its blocks are the caller's business.
    pub fn free(&mut self, handle: InodeHandle) {
        let record = *self.tables.inodes.get(handle.0);
        debug_assert!(record.parent == NO_PARENT && handle != InodeHandle::ROOT);
        self.drop_types(handle);
        self.drop_held(handle);
        self.drop_features(handle);
        let id = self.inode(handle).id();
        self.forget_zone(id);
        self.by_id.remove(id.0);
        self.tables.names.remove(record.name);
        match record.kind() {
            Some(InodeKind::Directory) => {
                let row = *self.tables.directories.get(record.payload.0);
                debug_assert_eq!(row.root, NO_NODE);
                *self.tables.directories.get_mut(record.payload.0) = DirectoryRecord::default();
                self.free_directories.push(record.payload.0);
            }
            Some(InodeKind::File) => {
                self.drop_block_list(handle);
                if record.is_under_construction() {
                    Arc::make_mut(&mut self.tables.under_construction).remove(&handle);
                }
            }
            Some(InodeKind::Symlink) => {
                Arc::make_mut(&mut self.tables.symlinks).remove(&handle);
            }
            None => return,
        }
        self.release_record(&record);
        *self.tables.inodes.get_mut(handle.0) = InodeRecord::default();
        self.free_inodes.push(handle.0);
    }

    /// Cuts some children of a detached directory loose (a leaf of them, the last), so that each can be freed by itself.
    /// Counters are left alone. Empty: none are left.
    pub(crate) fn orphan_some_children(&mut self, directory: InodeHandle) -> Vec<u32> {
        let record = *self.tables.inodes.get(directory.0);
        if !record.is_directory() {
            return Vec::new();
        }
        let row = self.tables.directories.get_mut(record.payload.0);
        if row.root == NO_NODE {
            return Vec::new();
        }
        let (root, children) = self.tables.children.take_last_leaf(row.root);
        row.root = root;
        row.child_count -= children.len() as u32;
        for &child in &children {
            self.tables.inodes.get_mut(child).parent = NO_PARENT;
        }
        children
    }

    pub fn set_permission(&mut self, handle: InodeHandle, permission: FsPermission) {
        let view = self.inode(handle);
        let (user, group) = (view.user().clone(), view.group().clone());
        self.set_permission_status(handle, &PermissionStatus { user, group, permission });
    }

    pub fn set_permission_status(&mut self, handle: InodeHandle, status: &PermissionStatus) {
        self.keep_attributes(handle);
        let old = self.tables.inodes.get(handle.0).attributes;
        let (interned, users) = (&mut self.tables.interned, &mut self.intern_users);
        self.tables.inodes.get_mut(handle.0).attributes = Interned::with_permission(interned, users, old, status);
        self.release_attributes(old);
    }

    /// Sets both times (milliseconds).
    pub fn set_times(&mut self, handle: InodeHandle, modification_time: i64, access_time: i64) {
        self.keep_attributes(handle);
        let record = self.tables.inodes.get_mut(handle.0);
        let (interned, users) = (&mut self.tables.interned, &mut self.intern_users);
        Interned::replace(interned, users, &mut record.mtime, modification_time);
        Interned::replace(interned, users, &mut record.atime, access_time);
    }

    /// Sets an access time that no snapshot keeps the old value of.
    pub fn set_access_time_alone(&mut self, handle: InodeHandle, access_time: i64) {
        let record = self.tables.inodes.get_mut(handle.0);
        Interned::replace(&mut self.tables.interned, &mut self.intern_users, &mut record.atime, access_time);
    }

    /// A directory's modification time moves forward only. Source: `INode.updateModificationTime`, Hadoop 3.5.0.
    pub fn touch_directory(&mut self, handle: InodeHandle, modification_time: i64) {
        if self.inode(handle).modification_time() < modification_time {
            self.keep_attributes(handle);
            let record = self.tables.inodes.get_mut(handle.0);
            Interned::replace(&mut self.tables.interned, &mut self.intern_users, &mut record.mtime, modification_time);
        }
    }

    /// Attributes have one user less.
    fn release_attributes(&mut self, at: u32) {
        if Interned::release_attributes(&mut self.tables.interned, &mut self.intern_users, at) {
            self.last_attributes = None;
        }
    }

    /// A record goes: what it uses has one user less.
    fn release_record(&mut self, record: &InodeRecord) {
        if Interned::release_record(&mut self.tables.interned, &mut self.intern_users, record) {
            self.last_attributes = None;
        }
    }

    fn check_name(&self, parent: InodeHandle, name: &[u8]) -> Result<(), TreeError> {
        if !is_name(name) {
            return Err(TreeError::BadName);
        }
        if !self.inode(parent).is_directory() {
            return Err(TreeError::ParentIsNotDirectory);
        }
        Ok(())
    }

    fn check_new(&self, parent: InodeHandle, name: &[u8], id: InodeId) -> Result<(), TreeError> {
        self.check_name(parent, name)?;
        if self.get(id).is_some() {
            return Err(TreeError::DuplicateId(id));
        }
        Ok(())
    }

    fn intern_file(&mut self, status: &PermissionStatus, layout: FileLayout) -> u32 {
        match &self.last_attributes {
            Some((last, last_layout, at)) if last == status && *last_layout == layout => {
                Interned::hold_attributes(&mut self.intern_users, *at);
                *at
            }
            _ => {
                let (interned, users) = (&mut self.tables.interned, &mut self.intern_users);
                let number = Interned::file_layout(interned, users, layout);
                let at = Interned::attributes(interned, users, status, number);
                self.last_attributes = Some((status.clone(), layout, at));
                at
            }
        }
    }

    /// A detached inode. The layout is that of a file.
    fn new_inode(&mut self, new: &NewInode<'_>, name: &[u8], kind: InodeKind, layout: FileLayout) -> InodeHandle {
        let payload = match kind {
            InodeKind::Directory => {
                self.free_directories.pop().unwrap_or_else(|| self.tables.directories.push(DirectoryRecord::default()))
            }
            _ => 0,
        };
        let attributes = if kind == InodeKind::File {
            self.count_policy(UNSPECIFIED, layout.storage_policy);
            self.intern_file(new.permission, layout)
        } else {
            let (interned, users) = (&mut self.tables.interned, &mut self.intern_users);
            Interned::attributes(interned, users, new.permission, no_layout(UNSPECIFIED))
        };
        let (interned, users) = (&mut self.tables.interned, &mut self.intern_users);
        let mut record = InodeRecord {
            id: Interned::short(interned, users, new.id.0 as i64),
            mtime: Interned::short(interned, users, new.modification_time),
            atime: Interned::short(interned, users, new.access_time),
            length: Short::default(),
            parent: NO_PARENT,
            name: self.tables.names.insert(name),
            attributes,
            payload: BlockHandle(payload),
            flags: inode::KIND_FREE,
        };
        record.set_kind(kind);
        let at = match self.free_inodes.pop() {
            Some(at) => {
                *self.tables.inodes.get_mut(at) = record;
                at
            }
            None => self.tables.inodes.push(record),
        };
        self.by_id.insert(new.id.0, at);
        if kind == InodeKind::Directory {
            self.hints.fit(payload as usize + 1);
        }
        InodeHandle(at)
    }

    /// Attaches an inode that was made for this, or throws it away again.
    fn attach_new(&mut self, parent: InodeHandle, handle: InodeHandle) -> Result<InodeHandle, TreeError> {
        match self.attach(parent, handle) {
            Ok(()) => Ok(handle),
            Err(error) => {
                self.free(handle);
                Err(error)
            }
        }
    }

    fn attach(&mut self, parent: InodeHandle, handle: InodeHandle) -> Result<(), TreeError> {
        let row = self.tables.inodes.get(parent.0).payload.0;
        let tables = &mut self.tables;
        let names = NameTables { inodes: &tables.inodes, names: &tables.names };
        let old = tables.directories.get(row).root;
        let root = tables.children.insert(old, handle, &names).ok_or(TreeError::NameExists)?;
        if self.tables.has_snapshots() {
            self.note_created(parent, handle);
        }
        let tables = &mut self.tables;
        let directory = tables.directories.get_mut(row);
        directory.root = root;
        directory.child_count += 1;
        tables.inodes.get_mut(handle.0).parent = parent.0;
        let counts = self.counts(handle);
        self.charge(parent, Counts::default(), counts);
        self.join_held(handle, parent);
        self.join_types(handle, parent);
        Ok(())
    }

    /// Replaces `before` by `after` in the totals of `directory` and all above it. Sums of bytes wrap: block sizes come
    /// from clients.
    fn charge(&mut self, directory: InodeHandle, before: Counts, after: Counts) {
        let (mut at, mut top) = (directory.0, directory);
        while at != NO_PARENT {
            top = InodeHandle(at);
            let record = self.tables.inodes.get(at);
            let (row, parent) = (record.payload.0, record.parent);
            let totals = self.tables.directories.get_mut(row);
            totals.files = (u64::from(totals.files) + after.files - before.files) as u32;
            totals.directories = (u64::from(totals.directories) + after.directories - before.directories) as u32;
            totals.length = totals.length.wrapping_add(after.length).wrapping_sub(before.length);
            totals.space = totals.space.wrapping_add(after.space).wrapping_sub(before.space);
            totals.once = totals.once.wrapping_add(after.once).wrapping_sub(before.once);
            at = parent;
        }
        self.recharge_deleted_counts(top, &before, &after);
    }
}

/// Whether a path can hold the name.
pub(crate) fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.len() <= arena::NAME_BYTES_MAX && !name.contains(&b'/')
}
