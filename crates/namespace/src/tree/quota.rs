//! Quotas of directories, and what storage policies make of the bytes below them: use by storage type. A directory keeps
//! what lies below it under policies that are named there; the rest obeys its own, whichever that is. So to name another
//! policy, or to move to where another is inherited, looks at no file.

use super::Tree;
use super::features::NONE;
use super::handles::InodeHandle;
use super::held::Held;
use super::inode::{InodeKind, InodeView};
use super::intern::{Interned, no_layout};
use super::pages::Paged;
use super::tables::{Counts, Tables};
use crate::erasure_coding::EcPolicies;
use crate::storage_policy::{self, UNSPECIFIED};
use alloc::sync::Arc;
use alloc::vec::Vec;
use hashbrown::HashMap;
use surus_types::TypeSpaces;

/// The limits of one directory. -1: none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quota {
    /// Names in the subtree, its top included.
    pub names: i64,
    /// Bytes times replication.
    pub space: i64,
    pub types: TypeSpaces,
}

impl Quota {
    /// The root of every file system counts names against this. Source: `FSDirectory.createRoot`, Hadoop 3.5.0.
    pub const ROOT_NAMES: i64 = i64::MAX;
    pub const NONE: Quota = Quota { names: -1, space: -1, types: TypeSpaces::NO_QUOTA };

    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

impl Default for Quota {
    fn default() -> Self {
        Self::NONE
    }
}

/// The part that a checkpoint clones.
pub(super) type Quotas = Paged<Quota>;

/// Bytes of files: one replica of each, and all of them. Sums wrap.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sizes {
    once: u64,
    all: u64,
}

impl Sizes {
    pub(super) fn of(counts: &Counts) -> Self {
        Sizes { once: counts.once, all: counts.space }
    }

    fn plus(self, other: Sizes) -> Self {
        Sizes { once: self.once.wrapping_add(other.once), all: self.all.wrapping_add(other.all) }
    }

    pub(super) fn minus(self, other: Sizes) -> Self {
        Sizes { once: self.once.wrapping_sub(other.once), all: self.all.wrapping_sub(other.all) }
    }

    fn types(self, policy: u8) -> TypeSpaces {
        storage_policy::spaces_together(policy, self.once, self.all)
    }
}

/// What lies in subtrees whose tops name a storage policy, and what it takes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Governed {
    sizes: Sizes,
    types: TypeSpaces,
}

impl Governed {
    fn plus(self, other: &Governed) -> Self {
        Governed { sizes: self.sizes.plus(other.sizes), types: self.types.plus(&other.types) }
    }

    pub(super) fn minus(self, other: &Governed) -> Self {
        Governed { sizes: self.sizes.minus(other.sizes), types: self.types.minus(&other.types) }
    }

    pub(super) fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// What follows from the tree and only changes need.
#[derive(Default)]
pub(super) struct QuotaIndex {
    free: Vec<u32>,
    /// Rows in use: directories with a quota (the root as it always was has none), and copies that snapshots keep.
    pub(super) count: u32,
    /// For directories with anything like that below them. None, as long as no inode has a storage policy.
    governed: HashMap<u32, Governed>,
    /// The inherited policy of subtrees that were cut off, by their tops.
    detached_policy: HashMap<u32, u8>,
}

impl<'a> InodeView<'a> {
    /// The directory's quota. The root's default, which limits nothing, is not told apart from none.
    pub fn quota(self) -> Option<&'a Quota> {
        self.record.feature_row()?;
        let at = self.features().quota;
        (at != NONE).then(|| self.tables.features.quotas.get(at))
    }

    /// As statuses and images show it: the root's quota of names is never absent.
    pub fn quota_shown(self) -> Quota {
        let mut quota = self.quota().copied().unwrap_or_default();
        if self.handle == InodeHandle::ROOT && quota.names == -1 {
            quota.names = Quota::ROOT_NAMES;
        }
        quota
    }

    /// The storage policy that this inode itself names; 0: none.
    pub fn local_storage_policy(self) -> u8 {
        match self.kind() {
            InodeKind::File => self.layout().storage_policy,
            InodeKind::Directory => self.tables.interned.policy(self.record.attributes),
            InodeKind::Symlink => UNSPECIFIED,
        }
    }

    /// The storage policy that counts for this inode: its own or that of the nearest directory above with one; 0: none.
    /// Above what was deleted lies the directory that it was deleted from.
    pub fn storage_policy(self) -> u8 {
        if self.tables.num_policies == 0 {
            return UNSPECIFIED;
        }
        let mut at = Some(self);
        while let Some(inode) = at {
            let policy = inode.local_storage_policy();
            if policy != UNSPECIFIED {
                return policy;
            }
            let above = inode.parent().or_else(|| self.tables.deleted_from(inode.handle));
            at = above.map(|above| self.tables.inode(above));
        }
        UNSPECIFIED
    }

    /// What a file takes on each storage type.
    pub(super) fn file_types(self, policy: u8) -> TypeSpaces {
        if policy == UNSPECIFIED || !self.is_file() {
            return TypeSpaces::default();
        }
        storage_policy::spaces(policy, self.charged_length(), self.replication())
    }
}

impl Tree {
    /// 0: no directory has a quota.
    pub fn num_quotas(&self) -> u32 {
        self.quotas.count
    }

    /// Sets a directory's quota; none at all takes the feature away.
    pub fn set_quota(&mut self, handle: InodeHandle, quota: Quota) {
        self.keep_attributes(handle);
        let old = self.features(handle).quota;
        let new = if quota.is_none() {
            NONE
        } else if old != NONE {
            *self.tables.features.quotas.get_mut(old) = quota;
            return;
        } else {
            self.store_quota(quota)
        };
        self.change_features(handle, |row| row.quota = new);
        if new == NONE {
            self.release_quota(old);
        }
        self.refresh_held();
    }

    pub(super) fn store_quota(&mut self, quota: Quota) -> u32 {
        self.quotas.count += 1;
        match self.quotas.free.pop() {
            Some(at) => {
                *self.tables.features.quotas.get_mut(at) = quota;
                at
            }
            None => self.tables.features.quotas.push(quota),
        }
    }

    /// A row of its own for a copy of an inode's attributes.
    pub(super) fn copy_quota(&mut self, at: u32) -> u32 {
        if at == NONE {
            return NONE;
        }
        let quota = *self.tables.features.quotas.get(at);
        self.store_quota(quota)
    }

    pub(super) fn release_quota(&mut self, at: u32) {
        if at != NONE {
            self.quotas.free.push(at);
            self.quotas.count -= 1;
        }
    }

    /// What a subtree takes on each storage type, as far as storage policies tell.
    pub fn type_spaces(&self, handle: InodeHandle) -> TypeSpaces {
        if self.num_policies == 0 {
            return TypeSpaces::default();
        }
        self.type_spaces_as(handle, self.inode(handle).storage_policy())
    }

    /// What a subtree would take where `inherited` is the policy of those inodes that name none.
    pub fn type_spaces_under(&self, handle: InodeHandle, inherited: u8) -> TypeSpaces {
        let own = self.inode(handle).local_storage_policy();
        self.type_spaces_as(handle, if own == UNSPECIFIED { inherited } else { own })
    }

    fn type_spaces_as(&self, handle: InodeHandle, policy: u8) -> TypeSpaces {
        let inode = self.inode(handle);
        if !inode.is_directory() {
            return inode.file_types(policy);
        }
        let governed = self.governed_below(handle);
        self.sizes(handle).minus(governed.sizes).types(policy).plus(&governed.types)
    }

    fn sizes(&self, handle: InodeHandle) -> Sizes {
        Sizes::of(&self.counts(handle))
    }

    fn governed_below(&self, directory: InodeHandle) -> Governed {
        self.quotas.governed.get(&directory.0).copied().unwrap_or_default()
    }

    /// The part of an inode and what is below it that does not obey the policy above it.
    pub(super) fn governed(&self, handle: InodeHandle) -> Governed {
        let inode = self.inode(handle);
        match inode.local_storage_policy() {
            UNSPECIFIED if inode.is_directory() => self.governed_below(handle),
            UNSPECIFIED => Governed::default(),
            own => Governed { sizes: self.sizes(handle), types: self.type_spaces_as(handle, own) },
        }
    }

    /// Sets a directory's own storage policy, which an extended attribute holds; 0: none.
    pub(super) fn set_directory_policy(&mut self, handle: InodeHandle, policy: u8) {
        let old = self.inode(handle).local_storage_policy();
        if old == policy {
            return;
        }
        let before = (self.inode(handle).storage_policy(), self.governed(handle));
        self.count_policy(old, policy);
        let attributes = self.tables.inodes.get(handle.0).attributes;
        let (interned, users) = (&mut self.tables.interned, &mut self.intern_users);
        self.tables.inodes.get_mut(handle.0).attributes =
            Interned::with_layout(interned, users, attributes, no_layout(policy));
        self.release_attributes(attributes);
        if let Some(parent) = self.inode(handle).parent() {
            let change = self.governed(handle).minus(&before.1);
            self.charge_types(parent, Sizes::default(), change);
        }
        self.policy_changed(before.0, self.inode(handle).storage_policy());
    }

    /// One policy less, one more.
    pub(super) fn count_policy(&mut self, old: u8, new: u8) {
        self.tables.num_policies += u32::from(new != UNSPECIFIED);
        self.tables.num_policies -= u32::from(old != UNSPECIFIED);
    }

    /// The policy that something and its heirs obey went from `before` to `after`: what was deleted below inherits, too.
    fn policy_changed(&mut self, before: u8, after: u8) {
        if before != after && self.keeps_held() {
            self.sum_held();
        }
    }

    /// After something in `directory` came to be of another size by `sizes`, of which `governed` does not obey the policy of
    /// the directory: adds that to the directory and to all above it.
    pub(super) fn charge_types(&mut self, directory: InodeHandle, sizes: Sizes, mut governed: Governed) {
        let mut at = directory;
        while sizes != Sizes::default() || !governed.is_zero() {
            if !governed.is_zero() {
                let sum = self.quotas.governed.entry(at.0).or_default();
                *sum = sum.plus(&governed);
                if sum.is_zero() {
                    self.quotas.governed.remove(&at.0);
                }
            }
            let inode = self.inode(at);
            let (own, parent) = (inode.local_storage_policy(), inode.parent());
            let types = |policy| sizes.minus(governed.sizes).types(policy).plus(&governed.types);
            let Some(parent) = parent else {
                let types = types(inode.storage_policy());
                return self.recharge_deleted(at, &Held { types, ..Held::default() });
            };
            if own != UNSPECIFIED {
                governed = Governed { sizes, types: types(own) };
            }
            at = parent;
        }
    }

    /// Before a subtree leaves its parent.
    pub(super) fn leave_types(&mut self, handle: InodeHandle, parent: InodeHandle) {
        if self.num_policies == 0 {
            return;
        }
        let (sizes, governed) = (self.sizes(handle), self.governed(handle));
        self.charge_types(parent, Sizes::default().minus(sizes), Governed::default().minus(&governed));
        if self.keeps_held() && self.inode(handle).is_directory() {
            let inherited = self.inode(parent).storage_policy();
            self.quotas.detached_policy.insert(handle.0, inherited);
        }
    }

    /// After a subtree came into a parent.
    pub(super) fn join_types(&mut self, handle: InodeHandle, parent: InodeHandle) {
        if self.num_policies == 0 {
            return;
        }
        self.charge_types(parent, self.sizes(handle), self.governed(handle));
        let before = self.quotas.detached_policy.remove(&handle.0).unwrap_or(UNSPECIFIED);
        if self.inode(handle).is_directory() && self.inode(handle).local_storage_policy() == UNSPECIFIED {
            self.policy_changed(before, self.inode(parent).storage_policy());
        }
    }

    /// Before an inode is freed.
    pub(super) fn drop_types(&mut self, handle: InodeHandle) {
        let inode = self.inode(handle);
        let policy = inode.local_storage_policy();
        let has_ec = inode.is_directory() && inode.local_ec_policy().is_some();
        self.count_ec_policy(has_ec, false);
        self.count_policy(policy, UNSPECIFIED);
        self.quotas.governed.remove(&handle.0);
        self.quotas.detached_policy.remove(&handle.0);
    }

    /// Sums up use by storage type from nothing: what a loader ends with.
    pub(crate) fn sum_types(&mut self) {
        self.quotas.governed.clear();
        if self.num_policies == 0 {
            return;
        }
        let mut directories = alloc::vec![InodeHandle::ROOT];
        let mut next = 0;
        while let Some(&directory) = directories.get(next) {
            let children = self.inode(directory).children(b"");
            directories.extend(children.filter(|&child| self.inode(child).is_directory()));
            next += 1;
        }
        // What is below comes after what is above.
        for directory in directories.into_iter().rev() {
            let children = self.inode(directory).children(b"");
            let sum = children.fold(Governed::default(), |sum, child| sum.plus(&self.governed(child)));
            if !sum.is_zero() {
                self.quotas.governed.insert(directory.0, sum);
            }
        }
    }
}

impl<'a> InodeView<'a> {
    pub(crate) fn ec_policies(self) -> &'a EcPolicies {
        &self.tables.ec_policies
    }

    /// The name in the nearest attribute, this inode's or one above.
    pub(crate) fn inherited_ec_policy(self) -> Option<&'a str> {
        if self.tables.num_ec_policies == 0 {
            return None;
        }
        let mut at = Some(self);
        while let Some(inode) = at {
            if let Some(name) = inode.local_ec_policy() {
                return Some(name);
            }
            at = inode.parent().map(|parent| self.tables.inode(parent));
        }
        None
    }
}

impl Tree {
    pub fn ec_policies_mut(&mut self) -> &mut EcPolicies {
        Arc::make_mut(&mut self.tables.ec_policies)
    }

    /// A directory has an erasure coding policy of its own, or has it no more.
    pub(super) fn count_ec_policy(&mut self, before: bool, after: bool) {
        self.tables.num_ec_policies += u32::from(after);
        self.tables.num_ec_policies -= u32::from(before);
    }
}

impl Tables {
    pub fn ec_policies(&self) -> &EcPolicies {
        &self.ec_policies
    }

    /// Bytes of the table of quotas.
    pub(super) fn quota_bytes(&self) -> usize {
        self.features.quotas.bytes()
    }
}
