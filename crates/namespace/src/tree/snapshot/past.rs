//! Reading the past: attributes, children, length and blocks of an inode in a snapshot.

use super::{CURRENT, Deleted, Diff, SnapshotId, SnapshotState};
use crate::blocks::BlockHandle;
use crate::tree::children::{ChildIter, compare_names};
use crate::tree::handles::InodeHandle;
use crate::tree::inode::InodeView;
use crate::tree::tables::{Counts, Tables};
use alloc::boxed::Box;
use alloc::collections::BinaryHeap;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;
use hashbrown::HashMap;

impl Tables {
    /// The inode as it was in `snapshot`, which must show it; [`CURRENT`]: as it is.
    pub fn inode_at(&self, handle: InodeHandle, snapshot: SnapshotId) -> InodeView<'_> {
        let current = self.inode(handle);
        if snapshot == CURRENT {
            return current;
        }
        let view = InodeView { snapshot, ..current };
        let Some(state) = self.snapshot_state(handle) else { return view };
        let later = &state.diffs[state.first_diff(snapshot)..];
        match later.iter().find_map(|diff| diff.copy.as_ref()) {
            Some(copy) => InodeView { record: &copy.record, ..view },
            None => view,
        }
    }

    /// The child that `directory` had in `snapshot`.
    pub fn child_at(&self, directory: InodeHandle, name: &[u8], snapshot: SnapshotId) -> Option<InodeHandle> {
        if snapshot != CURRENT
            && let Some(state) = self.snapshot_state(directory)
        {
            for diff in state.diffs[state.first_diff(snapshot)..].iter().filter_map(Diff::directory) {
                if let Ok(i) = diff.deleted.binary_search_by(|d| compare_names(&d.name, name)) {
                    return Some(diff.deleted[i].inode);
                }
                if diff.created.binary_search_by(|created| compare_names(created, name)).is_ok() {
                    return None;
                }
            }
        }
        self.child(directory, name)
    }

    /// Totals of a subtree as it was in `snapshot`, its top included. It walks.
    pub fn counts_at(&self, top: InodeHandle, snapshot: SnapshotId) -> Counts {
        let mut sum = Counts::default();
        let mut open = alloc::vec![top];
        while let Some(handle) = open.pop() {
            let inode = self.inode_at(handle, snapshot);
            if inode.is_directory() {
                sum.directories += 1;
                open.extend(self.children_at(handle, snapshot, b"").map(|(_, child)| child));
            } else {
                sum.add(&inode.own_counts());
            }
        }
        sum
    }

    /// The children that `directory` had in `snapshot`, in name order, after the name `start_after` (empty: all).
    pub fn children_at(&self, directory: InodeHandle, snapshot: SnapshotId, start_after: &[u8]) -> PastChildren<'_> {
        let later = match self.snapshot_state(directory) {
            Some(state) if snapshot != CURRENT => &state.diffs[state.first_diff(snapshot)..],
            _ => &[],
        };
        let is_before = |name: &[u8]| !start_after.is_empty() && compare_names(name, start_after).is_le();
        let mut decided = Decided::default();
        for (i, diff) in later.iter().enumerate() {
            let Some(diff) = diff.directory() else { continue };
            let deleted = diff.deleted.partition_point(|entry| is_before(&entry.name));
            decided.push(2 * i, Names::Deleted(&diff.deleted[deleted..]));
            let created = diff.created.partition_point(|name| is_before(name));
            decided.push(2 * i + 1, Names::Created(&diff.created[created..]));
        }
        let current = self.inode(directory).children(start_after);
        PastChildren { tables: self, directory, current, next: None, decided }
    }

    /// How many children `directory` had in `snapshot`.
    pub fn child_count_at(&self, directory: InodeHandle, snapshot: SnapshotId) -> u32 {
        let current = self.inode(directory).child_count();
        if snapshot == CURRENT {
            return current;
        }
        let Some(state) = self.snapshot_state(directory) else { return current };
        let first = state.diffs[state.first_diff(snapshot)..].first();
        first.and_then(Diff::directory).map_or(current, |diff| diff.child_count)
    }

    /// The blocks that a file had in `snapshot`: the length may end before the last of them.
    pub(in crate::tree) fn blocks_at(&self, file: InodeHandle, snapshot: SnapshotId) -> &[BlockHandle] {
        let later = self.snapshot_state(file).map_or(&[][..], |state| &state.diffs[state.first_diff(snapshot)..]);
        match later.iter().filter_map(Diff::file).find_map(|diff| diff.blocks.as_deref()) {
            Some(blocks) => blocks,
            None => self.inode(file).blocks(),
        }
    }

    /// The length that a file had in `snapshot`, bytes.
    pub(in crate::tree) fn length_at(&self, file: InodeHandle, snapshot: SnapshotId) -> u64 {
        let diff = self.snapshot_state(file).and_then(|state| state.diffs.get(state.first_diff(snapshot)));
        diff.and_then(Diff::file).map_or_else(|| self.inode(file).length(), |diff| diff.length)
    }

    /// Where a snapshot shows an inode, or where it is now; `None`: nowhere.
    pub fn path_at(&self, inode: InodeHandle, snapshot: SnapshotId) -> Option<String> {
        if snapshot == CURRENT {
            return self.path_of(inode);
        }
        let mut names = Vec::new();
        let mut at = inode;
        while at != InodeHandle::ROOT {
            let (parent, name) = self.parent_at(at, snapshot)?;
            names.push(String::from_utf8_lossy(name));
            at = parent;
        }
        let mut path = String::new();
        for name in names.iter().rev() {
            path.push('/');
            path.push_str(name);
        }
        if path.is_empty() {
            path.push('/');
        }
        Some(path)
    }

    /// The directory that held `inode` as a child in `snapshot`, which shows it, and its name there. An inode was in one
    /// place at a time: the first it left after the snapshot, if it was held there, else the place where it is.
    pub(in crate::tree) fn parent_at(&self, inode: InodeHandle, snapshot: SnapshotId) -> Option<(InodeHandle, &[u8])> {
        let mut first: Option<(SnapshotId, InodeHandle, &[u8])> = None;
        for &holder in self.snapshot_state(inode).map_or(&[][..], |state| &state.holders) {
            let Some(state) = self.snapshot_state(holder) else { continue };
            for diff in &state.diffs[state.first_diff(snapshot)..] {
                if first.is_some_and(|(before, ..)| before <= diff.snapshot) {
                    break;
                }
                if let Some(entry) = self.deleted_entry(diff, inode) {
                    first = Some((diff.snapshot, holder, &entry.name));
                }
            }
        }
        match first {
            Some((_, holder, name)) => Some((holder, name)),
            None => self.inode(inode).parent().map(|parent| (parent, self.inode(inode).name())),
        }
    }

    /// The entry of a diff for an inode that left the directory after it: one at most. Where the inode had, in the snapshot or
    /// when it left, the name by which it is listed, that finds it; else the list is gone through.
    pub(super) fn deleted_entry<'a>(&'a self, diff: &'a Diff, inode: InodeHandle) -> Option<&'a Deleted> {
        let entries = &diff.directory()?.deleted;
        let named = |name: &[u8]| {
            let at = entries.binary_search_by(|entry| compare_names(&entry.name, name)).ok()?;
            Some(&entries[at]).filter(|entry| entry.inode == inode)
        };
        named(self.inode(inode).name())
            .or_else(|| named(self.inode_at(inode, diff.snapshot).name()))
            .or_else(|| entries.iter().find(|entry| entry.inode == inode))
    }

    /// For all that left a directory after a snapshot that shows it there: after which snapshot first, and its name then.
    pub(super) fn first_left(
        &self,
        directory: InodeHandle,
        snapshot: SnapshotId,
    ) -> HashMap<InodeHandle, (SnapshotId, &[u8])> {
        let mut left = HashMap::new();
        let diffs = self.snapshot_state(directory).map_or(&[][..], |state| &state.diffs[state.first_diff(snapshot)..]);
        for diff in diffs {
            let entries = diff.directory().map_or(&[][..], |directory| &directory.deleted);
            for entry in entries {
                left.entry(entry.inode).or_insert((diff.snapshot, &*entry.name));
            }
        }
        left
    }

    /// The latest snapshot that shows the inode as it is now.
    pub(in crate::tree) fn latest_snapshot(&self, inode: InodeHandle) -> Option<SnapshotId> {
        if !self.has_snapshots() {
            return None;
        }
        let mut chain = alloc::vec![inode];
        while let Some(parent) = self.inode(chain[chain.len() - 1]).parent() {
            chain.push(parent);
        }
        if chain.last() != Some(&InodeHandle::ROOT) {
            return None;
        }
        let mut latest = None;
        let mut above = None;
        for &at in chain.iter().rev() {
            if let (Some(parent), Some(snapshot)) = (above, latest)
                && !self.shows_child(parent, at, snapshot)
            {
                latest = None;
            }
            // A directory has a diff for each snapshot of its own, and what was moved here one for the last snapshot
            // that shows it where it was.
            latest = latest.max(self.snapshot_state(at).and_then(SnapshotState::last_snapshot));
            above = Some(at);
        }
        latest
    }

    /// Whether `child`, a child of `directory` now, was that in `snapshot` already.
    pub(super) fn shows_child(&self, directory: InodeHandle, child: InodeHandle, snapshot: SnapshotId) -> bool {
        self.snapshot_state(directory).is_none_or(|state| state.diffs.is_empty())
            || self.child_at(directory, self.inode(child).name(), snapshot) == Some(child)
    }
}

/// Children of a directory in a snapshot, in name order.
pub struct PastChildren<'a> {
    tables: &'a Tables,
    directory: InodeHandle,
    current: ChildIter<'a>,
    next: Option<InodeHandle>,
    decided: Decided<'a>,
}

/// Names for which diffs say what was there: their lists, merged as far as they are asked for.
#[derive(Clone, Default)]
struct Decided<'a>(BinaryHeap<List<'a>>);

/// What is left of a list of a diff; never empty. The list with the least name is the greatest.
#[derive(Clone)]
struct List<'a> {
    /// The earliest diff that names a name decides, and in it what was deleted before what was created.
    rank: usize,
    names: Names<'a>,
}

#[derive(Clone, Copy)]
enum Names<'a> {
    Deleted(&'a [Deleted]),
    Created(&'a [Box<[u8]>]),
}

impl<'a> Names<'a> {
    fn first(self) -> Option<(&'a [u8], Option<InodeHandle>)> {
        match self {
            Names::Deleted(list) => list.first().map(|entry| (&*entry.name, Some(entry.inode))),
            Names::Created(list) => list.first().map(|name| (&**name, None)),
        }
    }

    fn tail(self) -> Self {
        match self {
            Names::Deleted(list) => Names::Deleted(list.get(1..).unwrap_or_default()),
            Names::Created(list) => Names::Created(list.get(1..).unwrap_or_default()),
        }
    }
}

impl<'a> List<'a> {
    fn name(&self) -> &'a [u8] {
        self.names.first().map_or(&[], |(name, _)| name)
    }
}

impl Ord for List<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_names(other.name(), self.name()).then(other.rank.cmp(&self.rank))
    }
}

impl PartialOrd for List<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for List<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for List<'_> {}

impl<'a> Decided<'a> {
    fn push(&mut self, rank: usize, names: Names<'a>) {
        if names.first().is_some() {
            self.0.push(List { rank, names });
        }
    }

    fn peek(&self) -> Option<&'a [u8]> {
        self.0.peek().map(List::name)
    }
}

impl<'a> Iterator for Decided<'a> {
    /// A name, and the child that had it.
    type Item = (&'a [u8], Option<InodeHandle>);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.0.peek()?.names.first()?;
        while self.peek() == Some(first.0)
            && let Some(List { rank, names }) = self.0.pop()
        {
            self.push(rank, names.tail());
        }
        Some(first)
    }
}

impl PastChildren<'_> {
    /// Children not yet lent.
    pub fn remaining(&self) -> u32 {
        let mut remaining = self.current.remaining() + u32::from(self.next.is_some());
        for (name, past) in self.decided.clone() {
            remaining += u32::from(past.is_some());
            remaining -= u32::from(self.tables.child(self.directory, name).is_some());
        }
        remaining
    }
}

impl<'a> Iterator for PastChildren<'a> {
    /// The name the child had, and the child.
    type Item = (&'a [u8], InodeHandle);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.next = self.next.or_else(|| self.current.next());
            let order = match (self.next, self.decided.peek()) {
                (None, None) => return None,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(child), Some(name)) => compare_names(self.tables.inode(child).name(), name),
            };
            if order.is_lt() {
                let child = self.next.take()?;
                return Some((self.tables.inode(child).name(), child));
            }
            if order.is_eq() {
                self.next = None;
            }
            if let Some((name, Some(child))) = self.decided.next() {
                return Some((name, child));
            }
        }
    }
}
