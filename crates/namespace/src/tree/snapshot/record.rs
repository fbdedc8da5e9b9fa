//! Keeping the past: what changes are about to overwrite goes into a diff of the latest snapshot that shows it.

use super::{
    AttributeCopy, Deleted, Diff, DiffBody, DirectoryDiff, FileDiff, IMAGE_CURRENT, Reference, SnapshotId,
    SnapshotState,
};
use crate::blocks::BlockHandle;
use crate::tree::Tree;
use crate::tree::children::compare_names;
use crate::tree::features::NONE;
use crate::tree::handles::InodeHandle;
use crate::tree::intern::Interned;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

impl Tree {
    /// Keeps the attributes of an inode that are about to change, if a snapshot shows them.
    #[inline]
    pub fn keep_attributes(&mut self, inode: InodeHandle) {
        if self.tables.has_snapshots()
            && let Some(snapshot) = self.tables.latest_snapshot(inode)
        {
            self.copy_attributes(inode, snapshot);
        }
    }

    /// As [`Tree::keep_attributes`], with the file's list of blocks: something else than more blocks will happen to it.
    pub fn keep_blocks(&mut self, file: InodeHandle) {
        if !self.tables.has_snapshots() {
            return;
        }
        let Some(snapshot) = self.tables.latest_snapshot(file) else { return };
        self.copy_attributes(file, snapshot);
        let blocks = self.inode(file).blocks().to_vec();
        if let Some(diff) = self.state_mut(file).diffs.last_mut().and_then(Diff::file_mut) {
            diff.blocks.get_or_insert(blocks);
        }
    }

    /// Whether a snapshot shows the inode as it is now.
    pub fn is_in_latest_snapshot(&self, inode: InodeHandle) -> bool {
        self.tables.latest_snapshot(inode).is_some()
    }

    fn copy_attributes(&mut self, inode: InodeHandle, snapshot: SnapshotId) {
        self.diff_for(inode, snapshot);
        let missing = |state: &SnapshotState| state.diffs.last().is_some_and(|diff| diff.copy.is_none());
        if self.tables.snapshot_state(inode).is_some_and(missing) {
            let copy = self.new_copy(inode);
            if let Some(diff) = self.state_mut(inode).diffs.last_mut() {
                diff.copy = Some(copy);
            }
        }
    }

    /// Makes sure that the last diff of `inode` is that of `snapshot`, the latest that shows it.
    fn diff_for(&mut self, inode: InodeHandle, snapshot: SnapshotId) {
        let last = self.tables.snapshot_state(inode).and_then(SnapshotState::last_snapshot);
        if last.is_some_and(|last| last >= snapshot) {
            return;
        }
        let view = self.inode(inode);
        let body = if view.is_directory() {
            DiffBody::Directory(DirectoryDiff { child_count: view.child_count(), ..DirectoryDiff::default() })
        } else {
            DiffBody::File(FileDiff { length: view.length(), blocks: None })
        };
        self.push_diff(inode, Diff { snapshot, copy: None, body });
    }

    pub(super) fn push_diff(&mut self, inode: InodeHandle, diff: Diff) {
        self.snapshot_index.by_snapshot.entry(diff.snapshot).or_default().insert(inode);
        self.state_mut(inode).diffs.push(diff);
    }

    /// The diff that a directory gets when a snapshot of it is taken.
    pub(super) fn add_root_diff(&mut self, root: InodeHandle, snapshot: SnapshotId) {
        let copy = self.new_copy(root);
        let child_count = self.inode(root).child_count();
        let body = DiffBody::Directory(DirectoryDiff { child_count, is_root: true, ..DirectoryDiff::default() });
        self.push_diff(root, Diff { snapshot, copy: Some(copy), body });
    }

    /// A copy of an inode's record, with a name and features of its own.
    pub(super) fn new_copy(&mut self, inode: InodeHandle) -> AttributeCopy {
        let mut record = *self.tables.inodes.get(inode.0);
        Interned::hold_record(&mut self.intern_users, &record);
        let name = self.inode(inode).name().to_vec();
        record.name = self.tables.names.insert(&name);
        record.set_under_construction(false);
        let features = self.copy_of_features(inode);
        record.set_feature_row(features);
        AttributeCopy { record }
    }

    pub(super) fn free_copy(&mut self, copy: AttributeCopy) {
        self.tables.names.remove(copy.record.name);
        self.release_record(&copy.record);
        if let Some(row) = copy.record.feature_row() {
            self.free_feature_row(row);
        }
    }

    /// The modification time of a directory whose snapshots changed: no snapshot shows another one for that.
    pub(crate) fn touch_snapshot_root(&mut self, directory: InodeHandle, mtime: i64) {
        if self.inode(directory).modification_time() < mtime {
            let record = self.tables.inodes.get_mut(directory.0);
            Interned::replace(&mut self.tables.interned, &mut self.intern_users, &mut record.mtime, mtime);
        }
    }

    /// `directory` is about to get a child.
    pub(in crate::tree) fn note_created(&mut self, directory: InodeHandle, child: InodeHandle) {
        let name = &self.inode(child).name().to_vec()[..];
        let Some(snapshot) = self.tables.latest_snapshot(directory) else { return };
        self.diff_for(directory, snapshot);
        let Some(diff) = self.state_mut(directory).diffs.last_mut().and_then(Diff::directory_mut) else { return };
        if let Err(at) = diff.created.binary_search_by(|created| compare_names(created, name)) {
            diff.created.insert(at, name.into());
        }
    }

    /// `child` is about to leave its directory. Whether a snapshot holds it there from now on.
    fn note_removed(&mut self, child: InodeHandle, reference: impl FnOnce(SnapshotId, Reference) -> Reference) -> bool {
        let view = self.inode(child);
        let (Some(directory), name) = (view.parent(), view.name().to_vec()) else { return false };
        let Some(snapshot) = self.tables.latest_snapshot(directory) else { return false };
        self.diff_for(directory, snapshot);
        let old = self.tables.snapshot_state(child).map_or(Reference::None, |state| state.reference);
        let Some(diff) = self.state_mut(directory).diffs.last_mut().and_then(Diff::directory_mut) else { return false };
        if let Ok(at) = diff.created.binary_search_by(|created| compare_names(created, &name)) {
            // It came after the snapshot.
            diff.created.remove(at);
            return false;
        }
        let reference = reference(snapshot, old);
        let entry = Deleted { inode: child, reference, name: name.into() };
        if let Err(at) = diff.deleted.binary_search_by(|d| compare_names(&d.name, &entry.name)) {
            diff.deleted.insert(at, entry);
        }
        self.state_mut(child).holders.push(directory);
        self.hold_entry(directory, child, reference);
        true
    }

    /// Takes a child that is deleted out of its directory; snapshots that show it go on holding it.
    pub(crate) fn remove_child(&mut self, child: InodeHandle) {
        if self.tables.has_snapshots() {
            self.note_removed(child, |_, old| old);
        }
        self.detach(child);
    }

    /// Moves an inode to another name, another directory or both. The name is free.
    ///
    /// # Errors
    /// As [`Tree::reattach`].
    pub(crate) fn move_child(
        &mut self,
        child: InodeHandle,
        to: InodeHandle,
        name: &[u8],
    ) -> Result<(), crate::tree::TreeError> {
        if !self.tables.has_snapshots() {
            self.detach(child);
            return self.reattach(child, to, name);
        }
        let from = self.inode(child).parent();
        let shown = from
            .and_then(|from| Some((from, self.tables.latest_snapshot(from)?)))
            .is_some_and(|(from, snapshot)| self.tables.shows_child(from, child, snapshot));
        if shown {
            // Changes of what is moved belong to the snapshots of the place it leaves, until the new place gets one.
            self.keep_attributes(child);
        }
        self.note_removed(child, |snapshot, _| Reference::WithName(snapshot));
        self.detach(child);
        let destination = self.image_latest_snapshot(to);
        let was = self.tables.snapshot_state(child).map_or(Reference::None, |state| state.reference);
        if shown || was != Reference::None {
            self.state_mut(child).reference = Reference::Destination(destination);
        }
        self.reattach(child, to, name)
    }

    /// The latest snapshot on the way down to a directory, as Hadoop's images record it for what is moved there.
    /// Source: `INodesInPath.resolve`, Hadoop 3.5.0.
    fn image_latest_snapshot(&self, directory: InodeHandle) -> u32 {
        let mut chain: Vec<InodeHandle> = alloc::vec![directory];
        while let Some(parent) = self.inode(chain[chain.len() - 1]).parent() {
            chain.push(parent);
        }
        let mut latest = None;
        for &at in chain.iter().rev() {
            let Some(state) = self.tables.snapshot_state(at) else { continue };
            let last = state.last_snapshot();
            match state.reference {
                Reference::Destination(destination) => {
                    let earlier = |latest| destination != IMAGE_CURRENT && destination as i32 >= latest as i32;
                    if latest.is_none_or(earlier) {
                        latest = last;
                    }
                }
                _ => latest = latest.max(last),
            }
        }
        latest.unwrap_or(IMAGE_CURRENT)
    }

    /// Whether the file had the block in a snapshot after which its list of blocks changed.
    pub(crate) fn has_past_block(&self, file: InodeHandle, block: BlockHandle) -> bool {
        let diffs = self.tables.snapshot_state(file).map_or(&[][..], |state| &state.diffs);
        diffs.iter().filter_map(Diff::file).any(|diff| diff.blocks.as_ref().is_some_and(|list| list.contains(&block)))
    }

    /// The blocks a file has, and those it had in snapshots.
    pub(crate) fn all_blocks(&self, file: InodeHandle) -> BTreeSet<BlockHandle> {
        let diffs = self.tables.snapshot_state(file).map_or(&[][..], |state| &state.diffs);
        let past = diffs.iter().filter_map(Diff::file).flat_map(|diff| diff.blocks.iter().flatten());
        past.chain(self.inode(file).blocks()).copied().collect()
    }

    /// The most replicas that the file wants now or wanted in a snapshot.
    /// Source: `INodeFile.getPreferredBlockReplication`, Hadoop 3.5.0.
    pub(crate) fn block_replication(&self, file: InodeHandle) -> u16 {
        let diffs = self.tables.snapshot_state(file).map_or(&[][..], |state| &state.diffs);
        let copies = diffs.iter().filter_map(|diff| diff.copy.as_ref());
        let past = copies.map(|copy| self.tables.interned.layout(copy.record.attributes).replication).max();
        self.inode(file).replication().max(past.unwrap_or(0))
    }

    /// A row of features for a copy: the same lists, each with one more user.
    fn copy_of_features(&mut self, inode: InodeHandle) -> Option<u32> {
        let row = self.inode(inode).features();
        if row.acl == NONE && row.xattrs == NONE && row.quota == NONE {
            return None;
        }
        Some(self.copy_feature_row(row))
    }
}
