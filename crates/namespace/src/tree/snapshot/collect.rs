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
use hashbrown::{HashMap, HashSet};

/// So few entries are put into a list one by one.
const FEW_ENTRIES: usize = 16;

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
    left: HashMap<InodeHandle, HashMap<InodeHandle, (SnapshotId, &'a [u8])>>,
}

impl<'a> Priors<'a> {
    fn new(tables: &'a Tables, snapshot: SnapshotId) -> Self {
        Priors { tables, snapshot, known: BTreeMap::new(), left: HashMap::new() }
    }

    /// As [`Tables::parent_at`], which searches a directory's lists each time: here they are gone through once.
    fn parent(&mut self, inode: InodeHandle) -> Option<(InodeHandle, &'a [u8])> {
        let (tables, snapshot) = (self.tables, self.snapshot);
        let holders = tables.snapshot_state(inode).map_or(&[][..], |state| &state.holders);
        let places = holders.iter().filter_map(|&holder| {
            let left = self.left.entry(holder).or_insert_with(|| tables.first_left(holder, snapshot));
            left.get(&inode).map(|&(at, name)| (at, holder, name))
        });
        match places.min_by_key(|&(at, ..)| at) {
            Some((_, holder, name)) => Some((holder, name)),
            None => tables.inode(inode).parent().map(|parent| (parent, tables.inode(inode).name())),
        }
    }

    fn of(&mut self, inode: InodeHandle) -> Option<SnapshotId> {
        if let Some(&known) = self.known.get(&inode) {
            return known;
        }
        let diffs = self.tables.snapshot_state(inode).map_or(&[][..], |state| &state.diffs);
        let own = diffs[..diffs.partition_point(|diff| diff.snapshot < self.snapshot)].last().map(|diff| diff.snapshot);
        let above = self.parent(inode).and_then(|(parent, name)| {
            let prior = self.of(parent)?;
            (self.tables.child_at(parent, name, prior) == Some(inode)).then_some(prior)
        });
        let prior = own.max(above);
        self.known.insert(inode, prior);
        prior
    }
}

/// The latest snapshot in which some directory's deleted list shows an inode, for many inodes: each directory's lists are
/// gone through once. Holds while no list changes.
#[derive(Default)]
struct LastHeld(HashMap<InodeHandle, HashMap<InodeHandle, SnapshotId>>);

impl LastHeld {
    fn of(&mut self, tables: &Tables, inode: InodeHandle) -> Option<SnapshotId> {
        let holders = &tables.snapshot_state(inode)?.holders;
        let in_holder = |&holder: &InodeHandle| {
            let listed = || tables.deleted_entries(holder).map(|(snapshot, entry)| (entry.inode, snapshot)).collect();
            self.0.entry(holder).or_insert_with(listed).get(&inode).copied()
        };
        holders.iter().filter_map(in_holder).max()
    }
}

/// Changed directories by what is above them: for the totals of a subtree and of what snapshots alone show of it.
struct ChangedBelow<'a> {
    tables: &'a Tables,
    /// Below the tops so far, or deleted itself, is counted already.
    tops: HashSet<InodeHandle>,
    /// Directories that changed, by the top, or by what was deleted with them and has no parent any more.
    by_top: HashMap<InodeHandle, Vec<InodeHandle>>,
}

impl ChangedBelow<'_> {
    /// Takes the changed directories at and below an inode that is not below one asked for before.
    fn take(&mut self, top: InodeHandle) -> Vec<InodeHandle> {
        let is_first = self.tops.is_empty();
        self.tops.insert(top);
        if is_first || self.tables.inode(top).parent().is_none() {
            return self.by_top.remove(&top).unwrap_or_default();
        }
        let tables = self.tables;
        let mut below = Vec::new();
        for directories in self.by_top.values_mut() {
            below.extend(directories.extract_if(.., |directory| tables.is_below(*directory, top)));
        }
        below
    }

    fn is_counted(&self, inode: InodeHandle) -> bool {
        let mut above = core::iter::successors(Some(inode), |&at| self.tables.inode(at).parent());
        above.any(|at| self.tops.contains(&at))
    }
}

impl Tree {
    /// Deletes a snapshot. What changed after it now belongs to the snapshot before, if that shows it, and is garbage if
    /// none does.
    pub(crate) fn delete_snapshot(&mut self, root: InodeHandle, snapshot: SnapshotId, garbage: &mut Garbage) {
        let all = self.snapshot_index.by_snapshot.get(&snapshot).cloned().unwrap_or_default();
        let charged = self.take_back_held(&all, snapshot);
        self.snapshot_index.by_snapshot.remove(&snapshot);
        let mut priors = Priors::new(&self.tables, snapshot);
        let changed: Vec<_> = all.iter().map(|&inode| (inode, priors.of(inode))).collect();
        drop(priors);
        if let Some(snapshottable) = self.state_mut(root).snapshottable.as_mut() {
            snapshottable.snapshots.retain(|s| s.id != snapshot);
        }
        self.general_mut().live.remove(&snapshot);
        let mut moved = BTreeSet::new();
        for (inode, prior) in changed {
            self.merge_diff(inode, snapshot, prior, &mut moved, garbage);
            self.drop_empty_state(inode);
        }
        self.charge_again(&charged, &all);
        self.settle(moved, garbage);
    }

    /// Totals of what snapshots hold of a subtree beside what lies there now: deleted inodes as they are; renamed ones as the
    /// last snapshot under the old name shows them, wherever they lie now, once for each old name.
    /// Source: `DirectoryWithSnapshotFeature.computeContentSummary4Snapshot`, Hadoop 3.5.0.
    pub(crate) fn held_counts(&self, top: InodeHandle) -> Counts {
        let mut sum = Counts::default();
        if !self.tables.has_snapshots() {
            return sum;
        }
        let mut changed = self.changed_below(top);
        let mut tops = alloc::vec![top];
        while let Some(top) = tops.pop() {
            for directory in changed.take(top) {
                for (_, entry) in self.tables.deleted_entries(directory) {
                    if let Reference::WithName(last) = entry.reference {
                        sum.add(&self.past_counts(entry.inode, last));
                    } else if !changed.is_counted(entry.inode) {
                        sum.add(&self.tables.counts(entry.inode));
                        changed.tops.insert(entry.inode);
                        tops.push(entry.inode);
                    }
                }
            }
        }
        sum
    }

    /// All directories with diffs that may be below `top` or below what was deleted from there.
    fn changed_below(&self, top: InodeHandle) -> ChangedBelow<'_> {
        let tables = &self.tables;
        let mut changed = ChangedBelow { tables, tops: HashSet::new(), by_top: HashMap::new() };
        let all: BTreeSet<InodeHandle> =
            self.changed_inodes().filter(|&inode| tables.inode(inode).is_directory()).collect();
        for directory in all {
            let mut above = directory;
            while above != top
                && let Some(parent) = tables.inode(above).parent()
            {
                above = parent;
            }
            changed.by_top.entry(above).or_default().push(directory);
        }
        changed
    }

    /// Totals of a subtree in a snapshot, by a walk where counters do not tell.
    fn past_counts(&self, top: InodeHandle, snapshot: SnapshotId) -> Counts {
        match self.is_unchanged(top, snapshot) {
            true => self.tables.counts(top),
            false => self.tables.counts_at(top, snapshot),
        }
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
        self.settle_one(inode, None, garbage);
    }

    /// As [`Tree::settle_detached`], for one of many.
    fn settle_one(&mut self, inode: InodeHandle, held: Option<&mut LastHeld>, garbage: &mut Garbage) {
        if self.tables.snapshot_state(inode).is_some_and(|state| state.reference != Reference::None) {
            self.state_mut(inode).reference = Reference::None;
            self.drop_empty_state(inode);
        }
        if !self.is_held(inode) {
            garbage.inodes.push(inode);
            return;
        }
        let last = match held {
            Some(held) => held.of(&self.tables, inode),
            None => self.last_holding_snapshot(inode),
        };
        if let Some(last) = last {
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
        // To settle an inode changes no deleted list.
        let mut held = LastHeld::default();
        let is_one = detached.len() == 1;
        for inode in detached {
            self.drop_empty_state(inode);
            self.settle_one(inode, (!is_one).then_some(&mut held), garbage);
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
            let lists = |diff: &&Diff| self.tables.deleted_entry(diff, inode).is_some();
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
    let (mut gone, mut went) = (Vec::new(), Vec::new());
    let mut gone_again = Vec::new();
    for entry in later.deleted {
        // What came between the two and went again is in neither.
        match earlier.created.binary_search_by(|created| compare_names(created, &entry.name)) {
            Ok(at) => {
                gone_again.push(at);
                gone.push(entry);
            }
            Err(_) => went.push(entry),
        }
    }
    if !gone_again.is_empty() {
        let (mut at, mut gone_again) = (0, gone_again.into_iter().peekable());
        earlier.created.retain(|_| {
            at += 1;
            gone_again.next_if_eq(&(at - 1)).is_none()
        });
    }
    merge_names(&mut earlier.deleted, went, |entry| &entry.name);
    merge_names(&mut earlier.created, later.created, |name| name);
    gone
}

/// Adds to a list in name order another one; names that it has already stay as they are.
fn merge_names<T>(list: &mut Vec<T>, added: Vec<T>, name: impl Fn(&T) -> &[u8]) {
    if added.len() > FEW_ENTRIES {
        // The sort finds two runs, and merges them with the first before the second.
        list.extend(added);
        list.sort_by(|a, b| compare_names(name(a), name(b)));
        list.dedup_by(|second, first| name(second) == name(first));
        return;
    }
    for entry in added {
        if let Err(at) = list.binary_search_by(|known| compare_names(name(known), name(&entry))) {
            list.insert(at, entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{FileLayout, NewInode, Quota};
    use alloc::format;
    use surus_types::{FsPermission, InodeId, PermissionStatus};

    #[test]
    fn lists_are_merged_by_name() {
        for count in [1, FEW_ENTRIES, FEW_ENTRIES + 1, 100] {
            let mut list: Vec<_> = (0..50u8).map(|i| (alloc::vec![i * 2], 'a')).collect();
            let added = (0..count as u8).map(|i| (alloc::vec![i], 'b')).collect();
            merge_names(&mut list, added, |(name, _)| name);
            let names: Vec<u8> = list.iter().map(|(name, _)| name[0]).collect();
            let expected: Vec<u8> = (0..100).filter(|i| i % 2 == 0 || usize::from(*i) < count).collect();
            assert_eq!(names, expected);
            assert!(list.iter().all(|(name, from)| (*from == 'a') == (name[0] % 2 == 0)));
        }
    }

    /// So many that what goes through a list for each of its entries would not come to an end.
    const MANY: u64 = 50_000;

    /// `/r` with a directory `d` of many files, all of them deleted after the second of two snapshots. The first was taken
    /// before they came, or with them.
    fn deleted_after_snapshots(between: bool) -> (Tree, InodeHandle, [SnapshotId; 2], Vec<InodeHandle>) {
        let permission = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o644) };
        let mut tree = Tree::new(&permission, 0);
        let new = |id| NewInode { id: InodeId(id), permission: &permission, modification_time: 0, access_time: 0 };
        let layout = FileLayout { preferred_block_size: 100, replication: 3, ..FileLayout::default() };
        let root = tree.add_directory(InodeHandle::ROOT, b"r", &new(20_000)).unwrap();
        let directory = tree.add_directory(root, b"d", &new(20_001)).unwrap();
        tree.allow_snapshots(root);
        // So what snapshots hold is charged, too.
        tree.set_quota(root, Quota { names: 1 << 40, ..Quota::NONE });
        let first = between.then(|| tree.create_snapshot(root, "s0", 1));
        let files: Vec<InodeHandle> = (0..MANY)
            .map(|i| tree.add_file(directory, format!("{i:06}").as_bytes(), &new(30_000 + i), layout).unwrap())
            .collect();
        let first = first.unwrap_or_else(|| tree.create_snapshot(root, "s0", 1));
        let second = tree.create_snapshot(root, "s1", 2);
        for &file in &files {
            // With a diff of its own.
            tree.set_times(file, 5, 5);
            tree.remove_child(file);
            let mut garbage = Garbage::default();
            tree.settle_detached(file, &mut garbage);
            assert!(garbage.inodes.is_empty());
        }
        (tree, root, [first, second], files)
    }

    #[test]
    fn the_work_of_a_deletion_follows_the_changes() {
        let (mut tree, root, [first, second], files) = deleted_after_snapshots(false);
        let mut garbage = Garbage::default();
        tree.delete_snapshot(root, second, &mut garbage);
        assert!(garbage.inodes.is_empty(), "the first one shows all");
        assert_eq!((tree.held_counts(root).files, tree.held(root).names), (MANY, MANY as i64));
        tree.check_held().unwrap();
        tree.delete_snapshot(root, first, &mut garbage);
        assert_eq!((garbage.inodes.len(), tree.held_counts(root).files), (files.len(), 0));
    }

    #[test]
    fn what_came_and_went_between_two_snapshots_goes_with_the_later() {
        let (mut tree, root, [_, second], files) = deleted_after_snapshots(true);
        let mut garbage = Garbage::default();
        assert_eq!(tree.held_counts(root).files, MANY);
        tree.delete_snapshot(root, second, &mut garbage);
        assert_eq!((garbage.inodes.len(), tree.held_counts(root).files), (files.len(), 0));
    }
}
