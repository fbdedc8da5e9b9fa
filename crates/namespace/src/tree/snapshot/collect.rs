//! Letting go of the past: a snapshot is deleted, or what it held has no place left. Which snapshots still show an inode
//! follows from the tree alone, so only what changed since the deleted snapshot is looked at, not all it shows.

use super::{AttributeCopy, Deleted, Diff, DiffBody, DirectoryDiff, FileDiff, Reference, SnapshotId, SnapshotState};
use crate::blocks::BlockHandle;
use crate::tree::Tree;
use crate::tree::children::compare_names;
use crate::tree::handles::InodeHandle;
use crate::tree::tables::{Counts, Tables};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// What nothing shows any more.
#[derive(Debug, Default)]
pub(crate) struct Garbage {
    /// Inodes without a parent and without a holder, with all below them.
    pub(crate) inodes: Vec<InodeHandle>,
    pub(crate) blocks: Vec<BlockHandle>,
    /// Open files that only snapshots show from now on: nobody writes them.
    pub(crate) open_files: Vec<InodeHandle>,
    /// Files that lost a diff: how many replicas their blocks need may have changed.
    pub(crate) changed_files: Vec<InodeHandle>,
    /// Files that only snapshots show and that may have more blocks than those show.
    pub(crate) trimmed_files: Vec<InodeHandle>,
}

/// The latest snapshot before a given one that shows an inode, computed once for each.
struct Priors<'a> {
    tables: &'a Tables,
    snapshot: SnapshotId,
    known: BTreeMap<InodeHandle, Option<SnapshotId>>,
}

impl Priors<'_> {
    fn of(&mut self, inode: InodeHandle) -> Option<SnapshotId> {
        if let Some(&known) = self.known.get(&inode) {
            return known;
        }
        let diffs = self.tables.snapshot_state(inode).map_or(&[][..], |state| &state.diffs);
        let own = diffs[..diffs.partition_point(|diff| diff.snapshot < self.snapshot)].last().map(|diff| diff.snapshot);
        let above = self.tables.parent_at(inode, self.snapshot).and_then(|(parent, name)| {
            let prior = self.of(parent)?;
            (self.tables.child_at(parent, name, prior) == Some(inode)).then_some(prior)
        });
        let prior = own.max(above);
        self.known.insert(inode, prior);
        prior
    }
}

impl Tree {
    /// Deletes a snapshot. What changed after it now belongs to the snapshot before, if that shows it, and is garbage if
    /// none does. Returns whether what snapshots hold may be of another size now.
    pub(crate) fn delete_snapshot(&mut self, root: InodeHandle, snapshot: SnapshotId, garbage: &mut Garbage) -> bool {
        let changed = self.snapshot_index.by_snapshot.remove(&snapshot).unwrap_or_default();
        let mut priors = Priors { tables: &self.tables, snapshot, known: BTreeMap::new() };
        let changed: Vec<_> = changed.into_iter().map(|inode| (inode, priors.of(inode))).collect();
        if let Some(snapshottable) = self.state_mut(root).snapshottable.as_mut() {
            snapshottable.snapshots.retain(|s| s.id != snapshot);
        }
        self.general_mut().live.remove(&snapshot);
        let sizes_change = changed.iter().any(|&(inode, _)| self.tells_sizes(inode, snapshot));
        let mut moved = BTreeSet::new();
        for (inode, prior) in changed {
            self.merge_diff(inode, snapshot, prior, &mut moved, garbage);
            self.drop_empty_state(inode);
        }
        self.settle(moved, garbage);
        sizes_change
    }

    /// Whether an inode's diff of a snapshot tells of other children, or of a file that may have been larger.
    fn tells_sizes(&self, inode: InodeHandle, snapshot: SnapshotId) -> bool {
        let Some(state) = self.tables.snapshot_state(inode) else { return false };
        let Ok(at) = state.diffs.binary_search_by_key(&snapshot, |diff| diff.snapshot) else { return false };
        match &state.diffs[at].body {
            DiffBody::Directory(diff) => !diff.created.is_empty() || !diff.deleted.is_empty(),
            DiffBody::File(diff) => {
                let current = self.inode(inode);
                let past = state.diffs[at].copy.as_ref().map(|copy| copy.record.attributes);
                let past = past.map_or(current.replication(), |at| self.tables.interned.layout(at).replication);
                diff.blocks.is_some() || past != current.replication() || current.parent().is_none()
            }
        }
    }

    /// Totals of what snapshots hold of a subtree beside what lies there now: deleted inodes as they are; renamed ones as the
    /// last snapshot under the old name shows them, wherever they lie now, once for each old name.
    /// Source: `DirectoryWithSnapshotFeature.computeContentSummary4Snapshot`, Hadoop 3.5.0.
    pub(crate) fn held_counts(&self, top: InodeHandle) -> Counts {
        let mut sum = Counts::default();
        if !self.tables.has_snapshots() {
            return sum;
        }
        let changed: BTreeSet<InodeHandle> = self.snapshot_index.by_snapshot.values().flatten().copied().collect();
        let mut tops = alloc::vec![top];
        let mut done = 0;
        while done < tops.len() {
            let below = tops[done];
            done += 1;
            for &directory in changed.iter().filter(|&&inode| self.tables.is_below(inode, below)) {
                let diffs = self.tables.snapshot_state(directory).map_or(&[][..], |state| &state.diffs);
                for entry in diffs.iter().filter_map(Diff::directory).flat_map(|diff| &diff.deleted) {
                    if let Reference::WithName(last) = entry.reference {
                        sum.add(&self.tables.counts_at(entry.inode, last));
                    } else if !tops.iter().any(|&top| self.tables.is_below(entry.inode, top)) {
                        sum.add(&self.tables.counts(entry.inode));
                        tops.push(entry.inode);
                    }
                }
            }
        }
        sum
    }

    /// Whether a snapshot holds the inode somewhere.
    pub(crate) fn is_held(&self, inode: InodeHandle) -> bool {
        self.tables.snapshot_state(inode).is_some_and(|state| !state.holders.is_empty())
    }

    /// Whether snapshots have anything to do with the inode itself.
    #[inline]
    pub(crate) fn has_snapshot_state(&self, inode: InodeHandle) -> bool {
        self.tables.snapshot_state(inode).is_some()
    }

    /// An inode has lost its parent: it is garbage, or snapshots alone show it, and what they do not show of it goes.
    pub(crate) fn settle_detached(&mut self, inode: InodeHandle, garbage: &mut Garbage) {
        if self.tables.snapshot_state(inode).is_some_and(|state| state.reference != Reference::None) {
            self.state_mut(inode).reference = Reference::None;
            self.drop_empty_state(inode);
        }
        if !self.is_held(inode) {
            garbage.inodes.push(inode);
        } else if let Some(last) = self.last_holding_snapshot(inode) {
            self.trim(inode, last, garbage);
        }
    }

    /// Drops the snapshot state of an inode that is about to be freed.
    pub(crate) fn drop_snapshot_state(&mut self, inode: InodeHandle, garbage: &mut Garbage) {
        if self.tables.snapshot_state(inode).is_none() {
            return;
        }
        let state = core::mem::take(self.state_mut(inode));
        if state.snapshottable.is_some() {
            self.general_mut().snapshottable.remove(&inode);
        }
        self.drop_empty_state(inode);
        let mut moved = BTreeSet::new();
        let mut blocks = BTreeSet::new();
        for diff in state.diffs {
            if let Some(inodes) = self.snapshot_index.by_snapshot.get_mut(&diff.snapshot) {
                inodes.remove(&inode);
            }
            self.drop_copy(diff.copy);
            match diff.body {
                DiffBody::Directory(diff) => self.release_entries(inode, diff.deleted, &mut moved),
                DiffBody::File(diff) => blocks.extend(diff.blocks.into_iter().flatten()),
            }
        }
        for block in self.inode(inode).blocks() {
            blocks.remove(block);
        }
        garbage.blocks.extend(blocks);
        self.settle(moved, garbage);
    }

    /// Deleted lists no longer name these, or name them for an earlier snapshot.
    fn settle(&mut self, moved: BTreeSet<InodeHandle>, garbage: &mut Garbage) {
        let detached: Vec<_> = moved.into_iter().filter(|&inode| self.inode(inode).parent().is_none()).collect();
        for inode in detached {
            self.drop_empty_state(inode);
            self.settle_detached(inode, garbage);
        }
    }

    fn merge_diff(
        &mut self,
        inode: InodeHandle,
        snapshot: SnapshotId,
        prior: Option<SnapshotId>,
        moved: &mut BTreeSet<InodeHandle>,
        garbage: &mut Garbage,
    ) {
        let state = self.state_mut(inode);
        let Ok(at) = state.diffs.binary_search_by_key(&snapshot, |diff| diff.snapshot) else { return };
        let before = at.checked_sub(1).map(|i| state.diffs[i].snapshot);
        let Some(prior) = prior else {
            let diff = state.diffs.remove(at);
            return self.drop_diff(inode, diff, moved, garbage);
        };
        if before == Some(prior) {
            let later = state.diffs.remove(at);
            return self.combine(inode, at - 1, later, moved, garbage);
        }
        let diff = &mut state.diffs[at];
        diff.snapshot = prior;
        if let Some(directory) = diff.directory_mut() {
            directory.is_root = false;
            moved.extend(directory.deleted.iter().map(|entry| entry.inode));
        }
        self.snapshot_index.by_snapshot.entry(prior).or_default().insert(inode);
    }

    fn drop_diff(&mut self, inode: InodeHandle, diff: Diff, moved: &mut BTreeSet<InodeHandle>, garbage: &mut Garbage) {
        self.drop_copy(diff.copy);
        match diff.body {
            DiffBody::Directory(diff) => self.release_entries(inode, diff.deleted, moved),
            DiffBody::File(diff) => self.release_blocks(inode, diff, garbage),
        }
    }

    /// Puts what changed after a later snapshot into the diff of the one before.
    fn combine(
        &mut self,
        inode: InodeHandle,
        earlier: usize,
        later: Diff,
        moved: &mut BTreeSet<InodeHandle>,
        garbage: &mut Garbage,
    ) {
        let diff = &mut self.state_mut(inode).diffs[earlier];
        let spare = match diff.copy {
            Some(_) => later.copy,
            None => {
                diff.copy = later.copy;
                None
            }
        };
        match (&mut diff.body, later.body) {
            (DiffBody::Directory(diff), DiffBody::Directory(later)) => {
                moved.extend(later.deleted.iter().map(|entry| entry.inode));
                let gone = combine_children(diff, later);
                self.release_entries(inode, gone, moved);
            }
            (DiffBody::File(diff), DiffBody::File(later)) => match (&diff.blocks, later.blocks) {
                (None, blocks) => {
                    diff.blocks = blocks;
                    garbage.changed_files.push(inode);
                }
                (Some(_), blocks) => self.release_blocks(inode, FileDiff { blocks, ..later }, garbage),
            },
            _ => {}
        }
        self.drop_copy(spare);
    }

    fn drop_copy(&mut self, copy: Option<AttributeCopy>) {
        if let Some(copy) = copy {
            self.free_copy(copy);
        }
    }

    /// `holder` no longer lists these.
    fn release_entries(&mut self, holder: InodeHandle, entries: Vec<Deleted>, moved: &mut BTreeSet<InodeHandle>) {
        for entry in entries {
            let holders = &mut self.state_mut(entry.inode).holders;
            if let Some(i) = holders.iter().position(|&h| h == holder) {
                holders.swap_remove(i);
            }
            self.drop_empty_state(entry.inode);
            moved.insert(entry.inode);
        }
    }

    /// Blocks of a diff that went, as far as neither another diff nor the file has them.
    fn release_blocks(&mut self, file: InodeHandle, gone: FileDiff, garbage: &mut Garbage) {
        garbage.changed_files.push(file);
        let used = self.all_blocks(file);
        garbage.blocks.extend(gone.blocks.into_iter().flatten().filter(|block| !used.contains(block)));
    }

    /// The latest snapshot in which some directory's deleted list shows the inode.
    fn last_holding_snapshot(&self, inode: InodeHandle) -> Option<SnapshotId> {
        let holders = &self.tables.snapshot_state(inode)?.holders;
        let in_holder = |holder: &InodeHandle| {
            let diffs = &self.tables.snapshot_state(*holder)?.diffs;
            let lists = |diff: &&Diff| diff.directory().is_some_and(|d| d.deleted.iter().any(|e| e.inode == inode));
            diffs.iter().rev().find(lists).map(|diff| diff.snapshot)
        };
        holders.iter().filter_map(in_holder).max()
    }

    /// Only snapshots up to `last` show this inode, without a parent or below one like that: what came after it goes.
    fn trim(&mut self, top: InodeHandle, last: SnapshotId, garbage: &mut Garbage) {
        if let Some(some) = self.some_to_trim(top, last) {
            for inode in some {
                // What was above it may have been cut off by now.
                if self.tables.is_below(inode, top) {
                    self.trim_one(inode, last, garbage);
                }
            }
            return;
        }
        let mut open = alloc::vec![top];
        while let Some(inode) = open.pop() {
            self.trim_one(inode, last, garbage);
            open.extend(self.inode(inode).children(b""));
        }
    }

    /// What has to be looked at of a subtree to trim it, directories before what lies below them: what changed since, and open
    /// files. `None`: it is less to look at all.
    fn some_to_trim(&self, top: InodeHandle, last: SnapshotId) -> Option<Vec<InodeHandle>> {
        let counts = self.tables.counts(top);
        let changed = self.snapshot_index.by_snapshot.get(&last);
        let all = changed.map_or(0, BTreeSet::len) + self.tables.under_construction.len();
        if all as u64 > counts.files + counts.directories {
            return None;
        }
        let open = self.tables.under_construction.keys();
        let some: BTreeSet<InodeHandle> = changed.into_iter().flatten().chain(open).copied().collect();
        let below = some.into_iter().filter(|&inode| self.tables.is_below(inode, top));
        let mut by_depth: Vec<_> = below.map(|inode| (self.tables.depth(inode), inode)).collect();
        by_depth.sort_unstable();
        Some(by_depth.into_iter().map(|(_, inode)| inode).collect())
    }

    fn trim_one(&mut self, inode: InodeHandle, last: SnapshotId, garbage: &mut Garbage) {
        let changed = self.tables.snapshot_state(inode).and_then(SnapshotState::last_snapshot) == Some(last);
        if !self.inode(inode).is_directory() {
            if self.inode(inode).is_under_construction() {
                garbage.open_files.push(inode);
            }
            if changed {
                self.trim_blocks(inode, garbage);
            }
            return;
        }
        if changed {
            let diff = self.state_mut(inode).diffs.last_mut().and_then(Diff::directory_mut);
            let created: Vec<Box<[u8]>> = diff.map(|diff| core::mem::take(&mut diff.created)).unwrap_or_default();
            for name in created {
                if let Some(child) = self.child(inode, &name) {
                    self.detach(child);
                    self.settle_detached(child, garbage);
                }
            }
        }
    }

    /// The file is only in snapshots, and changed after the last of them: blocks that none of them shows go.
    fn trim_blocks(&mut self, file: InodeHandle, garbage: &mut Garbage) {
        let Some(last) = self.tables.snapshot_state(file).and_then(|s| s.diffs.last()).and_then(Diff::file) else {
            return;
        };
        let current = self.inode(file).blocks();
        // Without a list of its own the diff shows the file's own blocks: how many is known to who knows their lengths.
        garbage.trimmed_files.push(file);
        let Some(shown) = &last.blocks else { return };
        let common = current.iter().zip(shown).take_while(|(a, b)| a == b).count();
        let current = current.to_vec();
        self.set_blocks(file, &current[..common]);
        let used = self.all_blocks(file);
        garbage.blocks.extend(current[common..].iter().filter(|block| !used.contains(block)));
        garbage.changed_files.push(file);
    }

    /// For a file that only snapshots show: the length of the last of them, if the file's own block list still goes beyond
    /// what that shows.
    pub(crate) fn shown_length(&self, file: InodeHandle) -> Option<u64> {
        let diff = self.tables.snapshot_state(file)?.diffs.last()?.file()?;
        diff.blocks.is_none().then_some(diff.length)
    }
}

/// Adds the changes of `later` to those of `earlier`; gives what neither state shows any more.
fn combine_children(earlier: &mut DirectoryDiff, later: DirectoryDiff) -> Vec<Deleted> {
    let mut gone = Vec::new();
    for entry in later.deleted {
        // What came between the two and went again is in neither.
        match earlier.created.binary_search_by(|created| compare_names(created, &entry.name)) {
            Ok(at) => {
                earlier.created.remove(at);
                gone.push(entry);
            }
            Err(_) => {
                if let Err(at) = earlier.deleted.binary_search_by(|d| compare_names(&d.name, &entry.name)) {
                    earlier.deleted.insert(at, entry);
                }
            }
        }
    }
    for name in later.created {
        if let Err(at) = earlier.created.binary_search_by(|created| compare_names(created, &name)) {
            earlier.created.insert(at, name);
        }
    }
    gone
}
