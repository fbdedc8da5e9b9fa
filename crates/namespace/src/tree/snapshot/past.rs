//! Reading the past: attributes, children, length and blocks of an inode in a snapshot.

use super::{CURRENT, Diff, SnapshotId, SnapshotState};
use crate::blocks::BlockHandle;
use crate::tree::children::{ChildIter, compare_names};
use crate::tree::handles::InodeHandle;
use crate::tree::inode::InodeView;
use crate::tree::tables::{Counts, Tables};
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

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
            let mut own = Counts::default();
            if inode.is_directory() {
                own.directories = 1;
                open.extend(self.children_at(handle, snapshot, b"").map(|(_, child)| child));
            } else {
                own = Counts { files: 1, directories: 0, length: inode.length(), space: inode.space_consumed() };
            }
            sum.add(&own);
        }
        sum
    }

    /// The children that `directory` had in `snapshot`, in name order, after the name `start_after` (empty: all).
    pub fn children_at(&self, directory: InodeHandle, snapshot: SnapshotId, start_after: &[u8]) -> PastChildren<'_> {
        let later = match self.snapshot_state(directory) {
            Some(state) if snapshot != CURRENT => &state.diffs[state.first_diff(snapshot)..],
            _ => &[],
        };
        let mut decided: Vec<(&[u8], Option<InodeHandle>)> = Vec::new();
        for diff in later.iter().filter_map(Diff::directory) {
            // The earliest diff that names a name decides, and in it what was deleted before what was created.
            let known = decided.len();
            let is_known = |decided: &[(&[u8], Option<InodeHandle>)], name: &[u8]| {
                decided.binary_search_by(|(n, _)| compare_names(n, name)).is_ok()
            };
            let mut new: Vec<(&[u8], Option<InodeHandle>)> = Vec::new();
            for entry in diff.deleted.iter().filter(|entry| !is_known(&decided[..known], &entry.name)) {
                new.push((&entry.name, Some(entry.inode)));
            }
            for name in diff.created.iter().filter(|name| !is_known(&decided[..known], name)) {
                if diff.deleted.binary_search_by(|d| compare_names(&d.name, name)).is_err() {
                    new.push((name, None));
                }
            }
            decided.append(&mut new);
            decided.sort_unstable_by(|a, b| compare_names(a.0, b.0));
        }
        if !start_after.is_empty() {
            decided.retain(|(name, _)| compare_names(name, start_after).is_gt());
        }
        let current = self.inode(directory).children(start_after);
        PastChildren { tables: self, directory, current, next: None, decided, at: 0 }
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
                let entries = diff.directory().map_or(&[][..], |directory| &directory.deleted);
                if let Some(entry) = entries.iter().find(|entry| entry.inode == inode) {
                    first = Some((diff.snapshot, holder, &entry.name));
                }
            }
        }
        match first {
            Some((_, holder, name)) => Some((holder, name)),
            None => self.inode(inode).parent().map(|parent| (parent, self.inode(inode).name())),
        }
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
    /// Names for which diffs say what was there.
    decided: Vec<(&'a [u8], Option<InodeHandle>)>,
    at: usize,
}

impl PastChildren<'_> {
    /// Children not yet lent.
    pub fn remaining(&self) -> u32 {
        let mut remaining = self.current.remaining() + u32::from(self.next.is_some());
        for (name, past) in &self.decided[self.at..] {
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
            let decided = self.decided.get(self.at).copied();
            let order = match (self.next, decided) {
                (None, None) => return None,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(child), Some((name, _))) => compare_names(self.tables.inode(child).name(), name),
            };
            if order.is_lt() {
                let child = self.next.take()?;
                return Some((self.tables.inode(child).name(), child));
            }
            if order.is_eq() {
                self.next = None;
            }
            self.at += 1;
            if let Some((name, Some(child))) = decided {
                return Some((name, child));
            }
        }
    }
}
