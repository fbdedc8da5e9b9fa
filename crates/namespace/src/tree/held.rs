//! What snapshots alone hold, as quotas charge it: to every directory from which something was deleted or moved away, and
//! to all above. Kept for directories that hold any, as long as there are both quotas and snapshots.
//! Source: `DirectoryWithSnapshotFeature.computeQuotaUsage4CurrentDirectory`, `INodeFile.storagespaceConsumed`,
//! Hadoop 3.5.0.

use super::quota::{Governed, Sizes};
use super::snapshot::{Deleted, Reference};
use super::tables::Counts;
use super::{CURRENT, InodeHandle, InodeView, SnapshotId, Tree};
use crate::blocks::BlockHandle;
use crate::storage_policy::{self, UNSPECIFIED};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use hashbrown::HashMap;
use surus_types::TypeSpaces;

/// Names and bytes that a quota is charged beside what lies below its directory now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Held {
    pub names: i64,
    /// Bytes times replication.
    pub space: i64,
    pub types: TypeSpaces,
}

impl Held {
    fn of(counts: &Counts, types: TypeSpaces) -> Self {
        Held { names: (counts.files + counts.directories) as i64, space: counts.space as i64, types }
    }

    #[must_use]
    pub(super) fn plus(self, other: &Held) -> Held {
        Held {
            names: self.names.wrapping_add(other.names),
            space: self.space.wrapping_add(other.space),
            types: self.types.plus(&other.types),
        }
    }

    #[must_use]
    pub(super) fn minus(self, other: &Held) -> Held {
        Held {
            names: self.names.wrapping_sub(other.names),
            space: self.space.wrapping_sub(other.space),
            types: self.types.minus(&other.types),
        }
    }

    fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// What a file charges to the directories above it, now and for snapshots.
pub(super) struct Charges {
    counts: Counts,
    types: TypeSpaces,
    governed: Governed,
    held: Held,
}

/// What is held below each directory; `None`: nobody asks. Then what each inode that is in a deleted list, where it is now in no
/// directory, is charged there for all that is below it.
#[derive(Default)]
pub(super) struct HeldIndex(Option<HashMap<u32, Held>>, HashMap<u32, Held>);

/// Entries of the deleted lists of a directory.
type Entries = Vec<(InodeHandle, Reference)>;

impl Tree {
    /// What snapshots hold below a directory, or of the past of a file, beside what is there now.
    pub fn held(&self, handle: InodeHandle) -> Held {
        match &self.held.0 {
            None => Held::default(),
            Some(held) if self.inode(handle).is_directory() => held.get(&handle.0).copied().unwrap_or_default(),
            Some(_) => self.held_of_file(handle),
        }
    }

    pub(super) fn keeps_held(&self) -> bool {
        self.held.0.is_some()
    }

    /// Blocks that only snapshots have of a file, and replicas that only snapshots want. How long a block is that the file
    /// has no more follows from the length it had then.
    fn held_of_file(&self, file: InodeHandle) -> Held {
        if !self.keeps_held() || !self.inode(file).is_file() {
            return Held::default();
        }
        let current = self.inode(file);
        let (replication, now) = (self.block_replication(file), current.replication());
        if replication == now && self.tables.past_blocks(file).next().is_none() {
            return Held::default();
        }
        let mut past: BTreeMap<BlockHandle, u64> = BTreeMap::new();
        let block_size = current.preferred_block_size().max(1);
        for (length, blocks) in self.tables.past_blocks(file) {
            for (i, &block) in blocks.iter().enumerate() {
                let bytes = length.saturating_sub(block_size.saturating_mul(i as u64)).min(block_size);
                let known = past.entry(block).or_default();
                *known = bytes.max(*known);
            }
        }
        for block in current.blocks() {
            past.remove(block);
        }
        let bytes: u64 = past.values().sum();
        if bytes == 0 && replication == now {
            return Held::default();
        }
        let policy = current.storage_policy();
        let all = current.charged_length().wrapping_add(bytes);
        let space = all.wrapping_mul(u64::from(replication)).wrapping_sub(current.space_consumed());
        let types = storage_policy::spaces(policy, all, replication);
        Held { names: 0, space: space as i64, types: types.minus(&current.file_types(policy)) }
    }

    /// What a subtree takes on each storage type, now or in a snapshot, where `inherited` counts for what names no policy.
    fn walk_types(&self, top: InodeHandle, snapshot: SnapshotId, inherited: u8) -> TypeSpaces {
        let mut sum = TypeSpaces::default();
        if self.num_policies == 0 {
            return sum;
        }
        let mut open = alloc::vec![(top, inherited)];
        while let Some((handle, inherited)) = open.pop() {
            let inode = self.inode_at(handle, snapshot);
            let policy = match inode.local_storage_policy() {
                UNSPECIFIED => inherited,
                own => own,
            };
            if inode.is_directory() {
                open.extend(self.children_at(handle, snapshot, b"").map(|(_, child)| (child, policy)));
            } else {
                sum = sum.plus(&inode.file_types(policy));
            }
        }
        sum
    }

    /// What an entry of a directory's deleted list is charged, beside what is held below it. `last`: the last snapshot that
    /// shows it; the one that the reference names may be deleted by now.
    fn entry_charge(&self, directory: InodeHandle, inode: InodeHandle, reference: Reference, last: SnapshotId) -> Held {
        let inherited = self.inode(directory).storage_policy();
        match reference {
            Reference::WithName(_) if !self.is_unchanged(inode, last) => {
                Held::of(&self.counts_at(inode, last), self.walk_types(inode, last, inherited))
            }
            _ => Held::of(&self.counts(inode), self.walk_types(inode, CURRENT, inherited)),
        }
    }

    /// What a subtree that is in its directory still is charged, now or in a snapshot, where counters tell. `None`: a walk has
    /// to.
    fn counted_charge(&self, child: InodeHandle, snapshot: SnapshotId) -> Option<Held> {
        let counted = snapshot == CURRENT || self.is_unchanged(child, snapshot);
        counted.then(|| Held::of(&self.counts(child), self.type_spaces(child)))
    }

    /// Whether a subtree is in size what it was in a snapshot, which shows it. What changed since then has a diff, and of what
    /// changed something lies below the top still. False, too, where to look for that would take longer than a walk.
    pub(super) fn is_unchanged(&self, top: InodeHandle, snapshot: SnapshotId) -> bool {
        let counts = self.counts(top);
        let mut left = counts.files + counts.directories;
        for inode in self.changed_since(snapshot) {
            if left == 0 || (self.changed_size(inode, snapshot) && self.is_below(inode, top)) {
                return false;
            }
            left -= 1;
        }
        true
    }

    /// Whether anything that quotas charge of the inode itself, or of what lies below it, is not what it was in a snapshot.
    fn changed_size(&self, inode: InodeHandle, snapshot: SnapshotId) -> bool {
        let (then, now) = (self.inode_at(inode, snapshot), self.inode(inode));
        let policies = [then, now].map(InodeView::local_storage_policy);
        if policies[0] != policies[1] {
            return true;
        }
        match now.is_directory() {
            true => self.children_changed(inode, snapshot),
            false => (then.length(), then.space_consumed()) != (now.length(), now.space_consumed()),
        }
    }

    /// Where what an inode holds is charged: its directory, or the one it was deleted from.
    fn held_by(&self, inode: InodeHandle) -> Option<InodeHandle> {
        self.inode(inode).parent().or_else(|| self.tables.deleted_from(inode))
    }

    fn charge_held(&mut self, directory: InodeHandle, change: &Held) {
        let mut at = Some(directory).filter(|_| !change.is_zero());
        while let Some(handle) = at {
            let Some(held) = &mut self.held.0 else { return };
            let sum = held.entry(handle.0).or_default();
            *sum = sum.plus(change);
            if sum.is_zero() {
                held.remove(&handle.0);
            }
            at = self.held_by(handle);
        }
    }

    /// After an entry came into a directory's deleted list, before the inode leaves the directory.
    pub(super) fn hold_entry(&mut self, directory: InodeHandle, child: InodeHandle, reference: Reference) {
        if !self.keeps_held() {
            return;
        }
        let last = if let Reference::WithName(last) = reference { last } else { CURRENT };
        let counted = self.counted_charge(child, last);
        let mut charge = counted.unwrap_or_else(|| self.entry_charge(directory, child, reference, last));
        if !matches!(reference, Reference::WithName(_)) {
            self.held.1.insert(child.0, charge);
            // What is held below goes on being charged here.
            charge = charge.plus(&self.held(child));
        }
        self.charge_held(directory, &charge);
    }

    /// Before a subtree leaves its parent.
    pub(super) fn leave_held(&mut self, handle: InodeHandle, parent: InodeHandle) {
        if self.keeps_held() {
            let held = self.held(handle);
            self.charge_held(parent, &Held::default().minus(&held));
        }
    }

    /// After a subtree came into a parent.
    pub(super) fn join_held(&mut self, handle: InodeHandle, parent: InodeHandle) {
        if self.keeps_held() {
            let held = self.held(handle);
            self.charge_held(parent, &held);
        }
    }

    /// After what snapshots hold of a file changed from `before`.
    pub(super) fn recharge_held(&mut self, file: InodeHandle, before: &Held) {
        if self.keeps_held()
            && let Some(directory) = self.held_by(file)
        {
            let change = self.held(file).minus(before);
            self.charge_held(directory, &change);
        }
    }

    /// What a file charges to the directories above it; `types` only where it is in none, or was deleted.
    pub(super) fn charges(&self, handle: InodeHandle) -> Charges {
        let is_attached = self.inode(handle).parent().is_some();
        Charges {
            counts: self.counts(handle),
            types: if is_attached { TypeSpaces::default() } else { self.type_spaces(handle) },
            governed: self.governed(handle),
            held: self.held(handle),
        }
    }

    pub(super) fn recharge(&mut self, handle: InodeHandle, before: Charges) {
        let counts = self.counts(handle);
        self.recharge_held(handle, &before.held);
        let Some(parent) = self.inode(handle).parent() else {
            let change = Held::of(&counts, self.type_spaces(handle)).minus(&Held::of(&before.counts, before.types));
            return self.recharge_deleted(handle, &change);
        };
        let governed = self.governed(handle).minus(&before.governed);
        if self.num_policies > 0 || !governed.is_zero() {
            self.charge_types(parent, Sizes::of(&counts).minus(Sizes::of(&before.counts)), governed);
        }
        if before.counts != counts {
            self.charge(parent, before.counts, counts);
        }
    }

    /// After something deleted, with `top` above it all, took more or less: that is charged where it was deleted from.
    pub(super) fn recharge_deleted(&mut self, top: InodeHandle, change: &Held) {
        if self.keeps_held()
            && top != InodeHandle::ROOT
            && let Some(directory) = self.tables.deleted_from(top)
        {
            let sum = self.held.1.entry(top.0).or_default();
            *sum = sum.plus(change);
            self.charge_held(directory, change);
        }
    }

    pub(super) fn recharge_deleted_counts(&mut self, top: InodeHandle, before: &Counts, after: &Counts) {
        let none = TypeSpaces::default();
        self.recharge_deleted(top, &Held::of(after, none).minus(&Held::of(before, none)));
    }

    /// Before an inode is freed.
    pub(super) fn drop_held(&mut self, handle: InodeHandle) {
        if let Some(held) = &mut self.held.0 {
            held.remove(&handle.0);
            self.held.1.remove(&handle.0);
        }
    }

    /// Before a snapshot's diffs of these inodes go: takes back what each is charged for its own diff, from the bottom up. The
    /// result is for [`Tree::charge_again`].
    pub(super) fn take_back_held(
        &mut self,
        all: &BTreeSet<InodeHandle>,
        snapshot: SnapshotId,
    ) -> Vec<(InodeHandle, Entries)> {
        if !self.keeps_held() {
            return Vec::new();
        }
        let mut by_depth: Vec<_> = all.iter().map(|&inode| (self.held_depth(inode), inode)).collect();
        by_depth.sort_unstable();
        let mut taken = Vec::new();
        for (_, inode) in by_depth.into_iter().rev() {
            let of_diff = self.tables.deleted_entries(inode).filter(|(last, _)| *last == snapshot);
            let entries: Entries = of_diff.map(|(_, entry)| (entry.inode, entry.reference)).collect();
            self.charge_own(inode, &entries, all, |own| Held::default().minus(&own));
            taken.push((inode, entries));
        }
        taken.reverse();
        taken
    }

    /// After they went, from the top down: entries may be in another diff now.
    pub(super) fn charge_again(&mut self, taken: &[(InodeHandle, Entries)], all: &BTreeSet<InodeHandle>) {
        for (inode, entries) in taken {
            self.charge_own(*inode, entries, all, |own| own);
        }
    }

    fn held_depth(&self, inode: InodeHandle) -> usize {
        core::iter::successors(Some(inode), |&at| self.held_by(at)).count()
    }

    /// What a file is charged for its past, or a directory for some of what it lists as deleted, with what lies below that and
    /// is charged through the list. Files of `others` are charged by themselves.
    fn charge_own(
        &mut self,
        inode: InodeHandle,
        entries: &[(InodeHandle, Reference)],
        others: &BTreeSet<InodeHandle>,
        sign: impl Fn(Held) -> Held,
    ) {
        if !self.inode(inode).is_directory() {
            if let Some(directory) = self.held_by(inode) {
                let own = self.held_of_file(inode);
                self.charge_held(directory, &sign(own));
            }
            return;
        }
        let mut own = Held::default();
        // Of one inode a directory lists at most one entry for each snapshot, and one for where it is no more.
        let name = |reference: Reference| if let Reference::WithName(last) = reference { last } else { CURRENT };
        let wanted: BTreeSet<_> = entries.iter().map(|&(child, reference)| (child, name(reference))).collect();
        let is_wanted = |entry: &Deleted| wanted.contains(&(entry.inode, name(entry.reference)));
        let listed = self.tables.deleted_entries(inode).filter(|(_, entry)| is_wanted(entry));
        for (last, Deleted { inode: child, reference, .. }) in listed {
            if matches!(reference, Reference::WithName(_)) {
                own = own.plus(&self.entry_charge(inode, *child, *reference, last));
                continue;
            }
            own = own.plus(&self.held.1.get(&child.0).copied().unwrap_or_default());
            if !(self.inode(*child).is_file() && others.contains(child)) {
                own = own.plus(&self.held(*child));
            }
        }
        self.charge_held(inode, &sign(own));
    }

    /// Begins to keep, or stops, as quotas and snapshots come and go.
    pub(crate) fn refresh_held(&mut self) {
        let wanted = self.quotas.count > 0 && self.tables.has_snapshots();
        if wanted != self.keeps_held() {
            self.sum_held();
        }
    }

    /// Sums up from nothing: what a loader ends with.
    pub(crate) fn sum_held(&mut self) {
        self.held = HeldIndex::default();
        if self.quotas.count == 0 || !self.tables.has_snapshots() {
            return;
        }
        self.held.0 = Some(HashMap::new());
        let changed: BTreeSet<InodeHandle> = self.changed_inodes().collect();
        for inode in changed {
            if self.inode(inode).is_file() {
                self.recharge_held(inode, &Held::default());
            } else {
                let entries: alloc::vec::Vec<_> = self
                    .tables
                    .deleted_entries(inode)
                    .map(|(last, Deleted { inode, reference, .. })| (*inode, *reference, last))
                    .collect();
                let mut sum = Held::default();
                for (child, reference, last) in entries {
                    let charge = self.entry_charge(inode, child, reference, last);
                    if !matches!(reference, Reference::WithName(_)) {
                        self.held.1.insert(child.0, charge);
                    }
                    sum = sum.plus(&charge);
                }
                self.charge_held(inode, &sum);
            }
        }
    }

    /// Whether what was kept step by step is what a walk over all that changed finds. It ends with the latter.
    pub fn check_held(&mut self) -> Result<(), alloc::string::String> {
        let Some(kept) = self.held.0.take() else { return Ok(()) };
        self.sum_held();
        let walked = self.held.0.as_ref();
        // What waits to be freed is of no interest.
        let counts = |handle: &u32| self.is_attached(InodeHandle(*handle));
        let differs =
            |&(handle, held): &(&u32, &Held)| counts(handle) && walked.is_none_or(|w| w.get(handle) != Some(held));
        if let Some((&handle, held)) = kept.iter().find(differs) {
            let walked = walked.and_then(|w| w.get(&handle));
            return Err(alloc::format!("{:?}: {held:?}, not {walked:?}", self.path_of(InodeHandle(handle))));
        }
        let len = |held: &HashMap<u32, Held>| held.keys().filter(|handle| counts(handle)).count();
        match walked.map_or(0, len) == len(&kept) {
            true => Ok(()),
            false => Err("a directory that holds something was forgotten".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{FileLayout, NewInode};
    use alloc::string::ToString;
    use surus_types::{FsPermission, InodeId, PermissionStatus};

    fn names(held: Option<Held>) -> Option<i64> {
        held.map(|held| held.names)
    }

    #[test]
    fn counters_tell_what_nothing_below_changed() {
        let permission = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o644) };
        let mut tree = Tree::new(&permission, 0);
        let new = |id| NewInode { id: InodeId(id), permission: &permission, modification_time: 0, access_time: 0 };
        let layout = FileLayout { preferred_block_size: 100, replication: 3, ..FileLayout::default() };
        let root = tree.add_directory(InodeHandle::ROOT, b"r", &new(20_000)).unwrap();
        let [a, b] = [(&b"a"[..], 20_001), (b"b", 20_002)].map(|(name, id)| {
            let top = tree.add_directory(root, name, &new(id)).unwrap();
            for i in 0..10 {
                tree.add_file(top, i.to_string().as_bytes(), &new(id * 100 + i), layout).unwrap();
            }
            top
        });
        tree.allow_snapshots(root);
        let snapshot = tree.create_snapshot(root, "s", 1);
        assert_eq!(names(tree.counted_charge(a, snapshot)), Some(11));
        tree.keep_attributes(a);
        let file = tree.child(a, b"0").unwrap();
        tree.set_times(file, 5, 5);
        assert_eq!(names(tree.counted_charge(a, snapshot)), Some(11), "times are not charged");
        tree.add_file(a, b"new", &new(20_003), layout).unwrap();
        assert_eq!((names(tree.counted_charge(a, snapshot)), names(tree.counted_charge(a, CURRENT))), (None, Some(12)));
        assert_eq!(names(tree.counted_charge(b, snapshot)), Some(11), "that was elsewhere");
        let file = tree.child(b, b"0").unwrap();
        tree.set_replication(file, 1);
        tree.set_file_size(file, 10, 0);
        assert_eq!(tree.counted_charge(b, snapshot), None);
    }
}
