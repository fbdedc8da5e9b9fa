//! What changed in one inode between two snapshots, or between a snapshot and now.

use super::{CURRENT, Deleted, Diff, Reference, SnapshotId};
use crate::tree::children::compare_names;
use crate::tree::handles::InodeHandle;
use crate::tree::inode::InodeView;
use crate::tree::tables::Tables;
use alloc::vec::Vec;
use core::ops::Range;

/// The changed children of a directory, in name order.
#[derive(Default)]
pub struct ChildrenDiff<'a> {
    pub created: Vec<Created<'a>>,
    pub deleted: Vec<&'a Deleted>,
}

/// A child that came.
#[derive(Clone, Copy)]
pub struct Created<'a> {
    pub name: &'a [u8],
    pub inode: InodeHandle,
    /// It was renamed from somewhere.
    pub is_reference: bool,
}

impl ChildrenDiff<'_> {
    pub fn is_deleted(&self, name: &[u8]) -> bool {
        self.deleted.binary_search_by(|d| compare_names(&d.name, name)).is_ok()
    }
}

/// Whether owner, group, mode, layout, ACL, extended attributes or quota differ: times do not count.
/// Source: `INodeFileAttributes.metadataEquals`, `INodeDirectoryAttributes.metadataEquals`, Hadoop 3.5.0.
fn metadata_differs(a: InodeView<'_>, b: InodeView<'_>) -> bool {
    !a.tables.interned.is_same_permission(a.record.attributes, b.record.attributes)
        || a.layout() != b.layout()
        || a.quota() != b.quota()
        || !a.acl().eq(b.acl())
        || !a.xattrs().eq(b.xattrs())
}

impl Tables {
    /// The diffs that tell of changes from `earlier` to `later`; `None`: nothing changed.
    /// Source: `AbstractINodeDiffList.changedBetweenSnapshots`, Hadoop 3.5.0.
    fn diffs_between(
        &self,
        inode: InodeHandle,
        earlier: SnapshotId,
        later: SnapshotId,
    ) -> Option<(&[Diff], Range<usize>)> {
        let state = self.snapshot_state(inode)?;
        let range = state.first_diff(earlier)..state.first_diff(later);
        (!range.is_empty()).then_some((&state.diffs[..], range))
    }

    /// Whether a directory changed, with its changed children.
    /// Source: `DirectoryWithSnapshotFeature.computeDiffBetweenSnapshots`, Hadoop 3.5.0.
    pub fn directory_changes(
        &self,
        directory: InodeHandle,
        earlier: SnapshotId,
        later: SnapshotId,
    ) -> Option<ChildrenDiff<'_>> {
        let (diffs, range) = self.diffs_between(directory, earlier, later)?;
        // For each name what went and what came, in the order of the diffs and in each what went first: the sort keeps it.
        let mut names: Vec<(&[u8], Option<&Deleted>)> = Vec::new();
        for diff in diffs[range.clone()].iter().filter_map(Diff::directory) {
            names.extend(diff.deleted.iter().map(|entry| (&*entry.name, Some(entry))));
            names.extend(diff.created.iter().map(|name| (&**name, None)));
        }
        names.sort_by(|a, b| compare_names(a.0, b.0));
        let mut changes = ChildrenDiff::default();
        for of_name in names.chunk_by(|a, b| a.0 == b.0) {
            let (name, mut deleted, mut is_created) = (of_name[0].0, None, false);
            for (_, entry) in of_name {
                match entry {
                    Some(_) if is_created => is_created = false,
                    Some(entry) => deleted = deleted.or(Some(*entry)),
                    None => is_created = true,
                }
            }
            changes.deleted.extend(deleted);
            if is_created && let Some((inode, is_reference)) = self.created_child(directory, name, later) {
                changes.created.push(Created { name, inode, is_reference });
            }
        }
        let is_empty = changes.created.is_empty() && changes.deleted.is_empty();
        (!is_empty || self.directory_metadata_changed(directory, diffs, range)).then_some(changes)
    }

    fn directory_metadata_changed(&self, directory: InodeHandle, diffs: &[Diff], range: Range<usize>) -> bool {
        let current = self.inode(directory);
        let copies = |range: Range<usize>| {
            let copies = diffs[range].iter().filter_map(|diff| diff.copy.as_ref());
            copies.map(|copy| InodeView { record: &copy.record, ..current })
        };
        let mut between = copies(range.clone());
        let Some(first) = between.next() else { return false };
        if between.any(|copy| metadata_differs(first, copy)) {
            return true;
        }
        // Hadoop looks at all that came later, up to now, and takes a diff without attributes for a change.
        let later = &diffs[range.end..];
        later.iter().any(|diff| diff.copy.is_none())
            || copies(range.end..diffs.len()).any(|copy| metadata_differs(first, copy))
            || metadata_differs(first, current)
    }

    /// A child that a directory has in `later`, and whether it was renamed there.
    fn created_child(&self, directory: InodeHandle, name: &[u8], later: SnapshotId) -> Option<(InodeHandle, bool)> {
        if later != CURRENT
            && let Some(state) = self.snapshot_state(directory)
        {
            for diff in state.diffs[state.first_diff(later)..].iter().filter_map(Diff::directory) {
                if let Ok(i) = diff.deleted.binary_search_by(|d| compare_names(&d.name, name)) {
                    let entry = &diff.deleted[i];
                    return Some((entry.inode, entry.reference != Reference::None));
                }
            }
        }
        let inode = self.child(directory, name)?;
        Some((inode, self.inode(inode).reference() != Reference::None))
    }

    /// Whether a file changed. Source: `FileWithSnapshotFeature.changedBetweenSnapshots`, Hadoop 3.5.0.
    pub fn file_changed(&self, file: InodeHandle, earlier: SnapshotId, later: SnapshotId) -> bool {
        let Some((diffs, range)) = self.diffs_between(file, earlier, later) else { return false };
        let length = |i: usize| match diffs.get(i).and_then(Diff::file) {
            Some(diff) => diff.length,
            None => self.inode(file).length(),
        };
        if length(range.start) != length(range.end) {
            return true;
        }
        let copy = diffs[range].iter().find_map(|diff| diff.copy.as_ref());
        let current = self.inode(file);
        copy.is_some_and(|copy| {
            metadata_differs(InodeView { record: &copy.record, ..current }, self.inode_at(file, later))
        })
    }

    /// The reference by which `child` of `directory` in `snapshot` is held, if a deleted list has it.
    pub fn held_reference(&self, directory: InodeHandle, name: &[u8], snapshot: SnapshotId) -> Reference {
        let Some(state) = self.snapshot_state(directory) else { return Reference::None };
        for diff in state.diffs[state.first_diff(snapshot)..].iter().filter_map(Diff::directory) {
            if let Ok(i) = diff.deleted.binary_search_by(|d| compare_names(&d.name, name)) {
                return diff.deleted[i].reference;
            }
            if diff.created.binary_search_by(|created| compare_names(created, name)).is_ok() {
                return Reference::None;
            }
        }
        Reference::None
    }

    /// Names from `scope` down to where `inode` is in `snapshot`; `None`: not below it.
    pub fn path_below(&self, scope: InodeHandle, inode: InodeHandle, snapshot: SnapshotId) -> Option<Vec<&[u8]>> {
        let mut names = Vec::new();
        let mut at = inode;
        while at != scope {
            let (parent, name) = match snapshot {
                CURRENT => (self.inode(at).parent()?, self.inode(at).name()),
                _ => self.parent_at(at, snapshot)?,
            };
            if self.child_at(parent, name, snapshot) != Some(at) {
                return None;
            }
            names.push(name);
            at = parent;
        }
        names.reverse();
        Some(names)
    }

    /// Names from the root to where an inode is now, or was last: what reports sort by.
    pub fn sort_path(&self, inode: InodeHandle) -> Vec<&[u8]> {
        let mut names = Vec::new();
        let mut at = Some(inode);
        while let Some(handle) = at {
            let view = self.inode(handle);
            if handle != InodeHandle::ROOT {
                names.push(view.name());
            }
            at = view.parent().or_else(|| self.snapshot_state(handle)?.holders.last().copied());
        }
        names.reverse();
        names
    }
}
