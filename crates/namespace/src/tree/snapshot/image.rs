//! Snapshot state as images hold it, both ways.

use super::{
    AttributeCopy, Deleted, Diff, DiffBody, DirectoryDiff, FileDiff, Reference, Snapshot, SnapshotId, Snapshottable,
};
use crate::blocks::BlockHandle;
use crate::edit_op::{AclEntry, XAttr};
use crate::storage_policy::{STORAGE_POLICY_XATTR, XATTR_SYSTEM};
use crate::tree::Tree;
use crate::tree::children::compare_names;
use crate::tree::features::{FeatureRecord, NONE, pack};
use crate::tree::handles::InodeHandle;
use crate::tree::inode::InodeView;
use crate::tree::intern::{FileLayout, Interned, no_layout};
use crate::tree::quota::Quota;
use crate::tree::tables::Tables;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use surus_types::PermissionStatus;

/// A diff, lent to the writer of an image.
#[derive(Clone, Copy)]
pub struct DiffView<'a> {
    pub snapshot: SnapshotId,
    /// The attributes in the snapshot, if they changed since: name, owner, group, mode, times, layout, features.
    pub copy: Option<InodeView<'a>>,
    pub body: DiffBodyView<'a>,
}

#[derive(Clone, Copy)]
pub enum DiffBodyView<'a> {
    Directory { child_count: u32, is_root: bool, created: &'a [Box<[u8]>], deleted: &'a [Deleted] },
    File { length: u64, blocks: Option<&'a [BlockHandle]> },
}

/// Attributes of the past as an image has them.
#[derive(Clone, Debug)]
pub struct PastAttributes {
    pub name: Box<[u8]>,
    pub permission: PermissionStatus,
    pub modification_time: i64,
    pub access_time: i64,
    /// Of a file.
    pub layout: FileLayout,
    /// Of a directory, as images show it.
    pub quota: Quota,
    pub acl: Vec<AclEntry>,
    pub xattrs: Vec<XAttr>,
}

/// A diff as an image has it.
#[derive(Clone, Debug)]
pub struct LoadedDiff {
    pub snapshot: SnapshotId,
    pub copy: Option<PastAttributes>,
    pub body: LoadedDiffBody,
}

#[derive(Clone, Debug)]
pub enum LoadedDiffBody {
    Directory { child_count: u32, is_root: bool, created: Vec<Box<[u8]>>, deleted: Vec<Deleted> },
    File { length: u64, blocks: Option<Vec<BlockHandle>> },
}

impl<'a> InodeView<'a> {
    /// The diffs of an inode, oldest snapshot first.
    pub fn diffs(self) -> impl DoubleEndedIterator<Item = DiffView<'a>> + ExactSizeIterator {
        let diffs = self.tables.snapshot_state(self.handle).map_or(&[][..], |state| &state.diffs);
        diffs.iter().map(move |diff| DiffView {
            snapshot: diff.snapshot,
            copy: diff.copy.as_ref().map(|copy| InodeView { record: &copy.record, snapshot: diff.snapshot, ..self }),
            body: match &diff.body {
                DiffBody::Directory(diff) => DiffBodyView::Directory {
                    child_count: diff.child_count,
                    is_root: diff.is_root,
                    created: &diff.created,
                    deleted: &diff.deleted,
                },
                DiffBody::File(diff) => DiffBodyView::File { length: diff.length, blocks: diff.blocks.as_deref() },
            },
        })
    }

    /// How an image writes the place where the inode is now.
    pub fn reference(self) -> Reference {
        self.tables.snapshot_state(self.handle).map_or(Reference::None, |state| state.reference)
    }

    /// What only the deleted lists of this directory hold: without a parent, and not in `seen` yet.
    pub(crate) fn push_held(self, seen: &mut BTreeSet<InodeHandle>, open: &mut Vec<InodeHandle>) {
        let Some(state) = self.tables.snapshot_state(self.handle) else { return };
        for entry in state.diffs.iter().filter_map(Diff::directory).flat_map(|diff| &diff.deleted) {
            if self.tables.inode(entry.inode).parent().is_none() && seen.insert(entry.inode) {
                open.push(entry.inode);
            }
        }
    }
}

/// The storage policy that a directory's extended attributes name; 0: none.
fn policy_of(xattrs: &[XAttr]) -> u8 {
    let named = xattrs.iter().find(|x| x.namespace == XATTR_SYSTEM && &*x.name == STORAGE_POLICY_XATTR);
    named.and_then(|x| x.value.as_ref()?.first().copied()).unwrap_or(0)
}

impl Tables {
    /// Whether any inode has snapshot state.
    pub(crate) fn has_snapshot_states(&self) -> bool {
        self.snapshots.pages.iter().flat_map(|page| page.iter()).any(Option::is_some)
    }
}

impl Tree {
    /// Puts a diff before those an inode has. False: it does not fit, as it tells of a later snapshot or another kind.
    pub(crate) fn load_diff(&mut self, inode: InodeHandle, diff: LoadedDiff) -> bool {
        let first = self.tables.snapshot_state(inode).and_then(|state| state.diffs.first()).map(|diff| diff.snapshot);
        let is_directory = self.inode(inode).is_directory();
        let fits = match &diff.body {
            LoadedDiffBody::Directory { .. } => is_directory,
            LoadedDiffBody::File { .. } => self.inode(inode).is_file(),
        };
        if !fits || first.is_some_and(|first| diff.snapshot >= first) {
            return false;
        }
        let copy = diff.copy.map(|attributes| self.load_copy(inode, &attributes));
        let body = match diff.body {
            LoadedDiffBody::Directory { child_count, is_root, mut created, mut deleted } => {
                created.sort_by(|a, b| compare_names(a, b));
                deleted.sort_by(|a, b| compare_names(&a.name, &b.name));
                for entry in &deleted {
                    self.state_mut(entry.inode).holders.push(inode);
                }
                DiffBody::Directory(DirectoryDiff { child_count, is_root, created, deleted })
            }
            LoadedDiffBody::File { length, blocks } => DiffBody::File(FileDiff { length, blocks }),
        };
        let snapshot = diff.snapshot;
        self.state_mut(inode).diffs.insert(0, Diff { snapshot, copy, body });
        self.snapshot_index.by_snapshot.entry(snapshot).or_default().insert(inode);
        true
    }

    fn load_copy(&mut self, inode: InodeHandle, attributes: &PastAttributes) -> AttributeCopy {
        let mut record = *self.tables.inodes.get(inode.0);
        record.name = self.tables.names.insert(&attributes.name);
        let (interned, users) = (&mut self.tables.interned, &mut self.intern_users);
        Interned::hold_record(users, &record);
        Interned::replace(interned, users, &mut record.mtime, attributes.modification_time);
        Interned::replace(interned, users, &mut record.atime, attributes.access_time);
        let layout = if record.is_file() {
            Interned::file_layout(interned, users, attributes.layout)
        } else {
            no_layout(policy_of(&attributes.xattrs))
        };
        let new = Interned::attributes(interned, users, &attributes.permission, layout);
        self.release_attributes(core::mem::replace(&mut record.attributes, new));
        record.set_under_construction(false);
        record.set_feature_row(None);
        let acl = self.intern_acl(&attributes.acl);
        let xattrs = self.store_xattrs(&pack(&attributes.xattrs));
        let mut quota = attributes.quota;
        if inode == InodeHandle::ROOT && quota.names == Quota::ROOT_NAMES {
            quota.names = -1;
        }
        let quota = if record.is_directory() && !quota.is_none() { self.store_quota(quota) } else { NONE };
        let row = FeatureRecord { acl, xattrs, quota, ..FeatureRecord::default() };
        if row != FeatureRecord::default() {
            let at = self.new_feature_row(row);
            record.set_feature_row(Some(at));
        }
        AttributeCopy { record }
    }

    pub(crate) fn load_reference(&mut self, inode: InodeHandle, reference: Reference) {
        self.state_mut(inode).reference = reference;
    }

    /// A directory that may have snapshots, with those it has, in any order.
    pub(crate) fn load_snapshottable(&mut self, directory: InodeHandle, limit: u32, mut snapshots: Vec<Snapshot>) {
        snapshots.sort_by(|a, b| compare_names(a.name.as_bytes(), b.name.as_bytes()));
        self.state_mut(directory).snapshottable = Some(Box::new(Snapshottable { limit, snapshots }));
        self.general_mut().snapshottable.insert(directory);
    }

    /// What exists, once all of it is loaded: from now on changes are recorded.
    pub(crate) fn load_snapshots(&mut self, counter: SnapshotId, live: Vec<(SnapshotId, InodeHandle)>) {
        let general = self.general_mut();
        general.counter = counter;
        general.live.extend(live);
    }
}
