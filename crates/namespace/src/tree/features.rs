//! What few inodes have: ACLs, extended attributes, quotas, snapshot state. The flags of such an inode hold a row of this
//! table; the row refers into one table for each feature. An inode without features costs nothing.

use super::Tree;
use super::arena::{Arena, Lists, size_class};
use super::handles::InodeHandle;
use super::inode::{InodeRecord, InodeView};
use super::intern::Interned;
use super::pages::Paged;
use super::quota::Quotas;
use super::tables::Tables;
use crate::edit_op::{AclEntry, AclEntryKind, XAttr};
use crate::storage_policy::{STORAGE_POLICY_XATTR, UNSPECIFIED, XATTR_SYSTEM};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use surus_types::FsAction;

/// "No such feature" in a [`FeatureRecord`].
pub(super) const NONE: u32 = u32::MAX;

/// One row: a reference into the table of each feature, or [`NONE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FeatureRecord {
    /// Of [`FeatureTables::acls`].
    pub(super) acl: u32,
    /// Of [`FeatureTables::xattrs`].
    pub(super) xattrs: u32,
    pub(super) quota: u32,
    pub(super) snapshot: u32,
}

impl Default for FeatureRecord {
    fn default() -> Self {
        FeatureRecord { acl: NONE, xattrs: NONE, quota: NONE, snapshot: NONE }
    }
}

/// The part that a checkpoint clones: pages only.
#[derive(Clone, Default)]
pub(super) struct FeatureTables {
    rows: Paged<FeatureRecord>,
    /// Lists of [`acl_word`]s, each list once.
    acls: Lists<u32>,
    /// Packed lists of extended attributes: see [`XAttrs`].
    xattrs: Arena<u8, 4>,
    pub(super) quotas: Quotas,
}

impl FeatureTables {
    pub(super) fn acl_arena(&self) -> &Arena<u32, 1> {
        self.acls.arena()
    }

    pub(super) fn xattr_arena(&self) -> &Arena<u8, 4> {
        &self.xattrs
    }

    pub(super) fn limit_units(&mut self, units: u64) {
        self.acls.arena_mut().set_limit(units);
        self.xattrs.set_limit(units);
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.bytes() + self.acls.bytes() + self.xattrs.bytes()
    }
}

/// The part that only changes need.
#[derive(Default)]
pub(super) struct FeatureIndex {
    free_rows: Vec<u32>,
    /// Names of extended attributes that were met: an image numbers them.
    /// With how many attributes have each.
    xattr_names: BTreeMap<Box<str>, u64>,
    acls: BTreeMap<Box<[u32]>, SharedAcl>,
}

/// Where an ACL lies, and how many inodes (and copies of inodes) have it.
struct SharedAcl {
    at: u32,
    users: u32,
}

/// An entry of an access control list, lent from the tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AclEntryView<'a> {
    /// Access (false) or default (true).
    pub is_default: bool,
    pub kind: AclEntryKind,
    pub name: Option<&'a Arc<str>>,
    pub permission: FsAction,
}

impl AclEntryView<'_> {
    pub fn to_entry(self) -> AclEntry {
        let AclEntryView { is_default, kind, name, permission } = self;
        AclEntry { is_default, kind, name: name.cloned(), permission: permission.0 }
    }
}

/// The entries of an inode's ACL feature, as Hadoop keeps them: access entries but for owner, mask and other (the mode
/// holds those), then all default entries; in ACL order.
#[derive(Clone)]
pub struct Acl<'a> {
    words: core::slice::Iter<'a, u32>,
    interned: &'a Interned,
}

impl<'a> Iterator for Acl<'a> {
    type Item = AclEntryView<'a>;

    fn next(&mut self) -> Option<AclEntryView<'a>> {
        let &word = self.words.next()?;
        Some(AclEntryView {
            is_default: word & WORD_DEFAULT != 0,
            kind: match word >> 3 & 3 {
                0 => AclEntryKind::User,
                1 => AclEntryKind::Group,
                2 => AclEntryKind::Mask,
                _ => AclEntryKind::Other,
            },
            name: word_name(word).map(|at| self.interned.name_at(at)),
            permission: FsAction((word & 7) as u8),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.words.size_hint()
    }
}

/// The number of the name in an ACL's word.
fn word_name(word: u32) -> Option<u32> {
    (word >> WORD_NAME_SHIFT).checked_sub(1)
}

impl ExactSizeIterator for Acl<'_> {}

/// An extended attribute, lent from the tables. Namespace numbers are those of [`XAttr`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct XAttrView<'a> {
    pub namespace: u8,
    /// Without the prefix of its namespace.
    pub name: &'a str,
    /// Empty: Hadoop cannot tell an empty value from none.
    pub value: &'a [u8],
}

impl XAttrView<'_> {
    pub fn to_xattr(self) -> XAttr {
        let value = (!self.value.is_empty()).then(|| self.value.to_vec());
        XAttr { namespace: self.namespace, name: self.name.into(), value }
    }
}

/// The extended attributes of an inode, in Hadoop's order. Packed form of each: namespace, length of the name and of the
/// value (4 bytes each), name, value.
#[derive(Clone)]
pub struct XAttrs<'a> {
    packed: &'a [u8],
}

impl XAttrs<'_> {
    pub(super) fn packed_len(&self) -> usize {
        self.packed.len()
    }
}

impl<'a> Iterator for XAttrs<'a> {
    type Item = XAttrView<'a>;

    fn next(&mut self) -> Option<XAttrView<'a>> {
        let (&namespace, rest) = self.packed.split_first()?;
        let (name_len, rest) = split_len(rest)?;
        let (value_len, rest) = split_len(rest)?;
        let (name, rest) = rest.split_at_checked(name_len)?;
        let (value, rest) = rest.split_at_checked(value_len)?;
        self.packed = rest;
        Some(XAttrView { namespace, name: core::str::from_utf8(name).unwrap_or_default(), value })
    }
}

fn split_len(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*len) as usize, rest))
}

/// A value longer than this comes after all that are not. Source: `XAttrFeature.PACK_THRESHOLD`, Hadoop 3.5.0.
const SMALL_VALUE_BYTES: usize = 1024;

pub(super) fn pack(xattrs: &[XAttr]) -> Vec<u8> {
    let mut out = Vec::new();
    for is_large in [false, true] {
        for xattr in xattrs {
            let value = xattr.value.as_deref().unwrap_or_default();
            if (value.len() > SMALL_VALUE_BYTES) == is_large {
                out.push(xattr.namespace);
                out.extend_from_slice(&(xattr.name.len() as u32).to_le_bytes());
                out.extend_from_slice(&(value.len() as u32).to_le_bytes());
                out.extend_from_slice(xattr.name.as_bytes());
                out.extend_from_slice(value);
            }
        }
    }
    out
}

/// Bytes that a packed list of `len` bytes takes, its length (4 bytes) included: few sizes, so that freed runs fit again.
pub(super) fn packed_capacity(len: usize) -> usize {
    size_class(len.div_ceil(4) + 1) * 4
}

const WORD_DEFAULT: u32 = 1 << 5;
const WORD_NAME_SHIFT: u32 = 6;

impl Tables {
    pub(super) fn features(&self, handle: InodeHandle) -> FeatureRecord {
        self.inode(handle).features()
    }

    /// The entries of what has no ACL.
    pub fn no_acl(&self) -> Acl<'_> {
        self.acl_at(NONE)
    }

    pub(super) fn acl_at(&self, at: u32) -> Acl<'_> {
        let words = if at == NONE { &[] } else { self.features.acls.get(at) };
        Acl { words: words.iter(), interned: &self.interned }
    }

    pub(super) fn xattrs_at(&self, at: u32) -> XAttrs<'_> {
        if at == NONE {
            return XAttrs { packed: &[] };
        }
        let (len, rest) = split_len(self.features.xattrs.tail(at)).unwrap_or_default();
        XAttrs { packed: &rest[..len] }
    }
}

impl<'a> InodeView<'a> {
    #[inline]
    pub(super) fn features(self) -> FeatureRecord {
        self.record.feature_row().map_or_else(FeatureRecord::default, |row| *self.tables.features.rows.get(row))
    }

    /// Whether the inode has more than a mode: access entries, default entries or both.
    #[inline]
    pub fn has_acl(self) -> bool {
        self.record.feature_row().is_some() && self.features().acl != NONE
    }

    /// The entries of the ACL feature; none without it.
    pub fn acl(self) -> Acl<'a> {
        self.tables.acl_at(self.features().acl)
    }

    /// The extended attributes in Hadoop's order.
    pub fn xattrs(self) -> XAttrs<'a> {
        self.tables.xattrs_at(self.features().xattrs)
    }

    /// The value of one extended attribute; empty where it has none.
    pub fn xattr(self, namespace: u8, name: &str) -> Option<&'a [u8]> {
        self.xattrs().find(|x| x.namespace == namespace && x.name == name).map(|x| x.value)
    }
}

impl Tree {
    /// Replaces the entries of the ACL feature; none: takes the feature away. The mode is left alone.
    pub fn set_acl(&mut self, handle: InodeHandle, entries: &[AclEntry]) {
        self.keep_attributes(handle);
        let new = self.intern_acl(entries);
        let old = self.features(handle).acl;
        self.change_features(handle, |row| row.acl = new);
        self.release_acl(old);
    }

    /// Replaces all extended attributes.
    pub fn set_xattrs(&mut self, handle: InodeHandle, xattrs: &[XAttr]) {
        self.keep_attributes(handle);
        let had_ec = self.inode(handle).local_ec_policy().is_some();
        let old = self.features(handle).xattrs;
        // Fewer attributes go where the old ones were: to take some away needs no room.
        self.release_xattrs(old);
        let new = self.store_xattrs(&pack(xattrs));
        self.change_features(handle, |row| row.xattrs = new);
        if self.inode(handle).is_directory() {
            let policy = self.inode(handle).xattr(XATTR_SYSTEM, STORAGE_POLICY_XATTR);
            let policy = policy.and_then(|value| value.first().copied()).unwrap_or(UNSPECIFIED);
            self.set_directory_policy(handle, policy);
            let has_ec = self.inode(handle).local_ec_policy().is_some();
            self.count_ec_policy(had_ec, has_ec);
            self.index_zone(handle);
        }
    }

    /// Changes the inode's row, which is made when there is none, and given back when nothing is left in it. References
    /// that go are the caller's to release.
    pub(super) fn change_features(&mut self, handle: InodeHandle, change: impl FnOnce(&mut FeatureRecord)) {
        let old = self.tables.inodes.get(handle.0).feature_row();
        let mut row = self.features(handle);
        change(&mut row);
        let is_empty = row == FeatureRecord::default();
        match old {
            Some(at) => {
                *self.tables.features.rows.get_mut(at) = row;
                if is_empty {
                    self.feature_index.free_rows.push(at);
                    self.tables.inodes.get_mut(handle.0).set_feature_row(None);
                }
            }
            None if is_empty => {}
            None => {
                let at = self.new_feature_row(row);
                self.tables.inodes.get_mut(handle.0).set_feature_row(Some(at));
            }
        }
    }

    /// Gives back all features of an inode that is about to be freed.
    pub(super) fn drop_features(&mut self, handle: InodeHandle) {
        let row = self.features(handle);
        if row == FeatureRecord::default() {
            return;
        }
        self.release_acl(row.acl);
        self.release_xattrs(row.xattrs);
        self.release_quota(row.quota);
        self.change_features(handle, |row| *row = FeatureRecord::default());
    }

    /// A row of its own for a copy of an inode's attributes: the ACL gets one more user, the extended attributes are copied.
    pub(super) fn copy_feature_row(&mut self, row: FeatureRecord) -> u32 {
        if row.acl != NONE
            && let Some(shared) = self.feature_index.acls.get_mut(self.tables.features.acls.get(row.acl))
        {
            shared.users += 1;
        }
        let packed = self.tables.xattrs_at(row.xattrs).packed.to_vec();
        let (xattrs, quota) = (self.store_xattrs(&packed), self.copy_quota(row.quota));
        let copy = FeatureRecord { acl: row.acl, xattrs, quota, ..FeatureRecord::default() };
        self.new_feature_row(copy)
    }

    /// Gives back what [`Tree::copy_feature_row`] made.
    pub(super) fn free_feature_row(&mut self, at: u32) {
        let row = *self.tables.features.rows.get(at);
        self.release_acl(row.acl);
        self.release_xattrs(row.xattrs);
        self.release_quota(row.quota);
        self.feature_index.free_rows.push(at);
    }

    /// Replaces the extended attributes of a copy's row, which is made where there is none. The row's reference.
    pub(super) fn set_copied_xattrs(&mut self, row: Option<u32>, xattrs: &[XAttr]) -> u32 {
        let new = self.store_xattrs(&pack(xattrs));
        let Some(at) = row else {
            return self.new_feature_row(FeatureRecord { xattrs: new, ..FeatureRecord::default() });
        };
        let old = core::mem::replace(&mut self.tables.features.rows.get_mut(at).xattrs, new);
        self.release_xattrs(old);
        at
    }

    /// Rows in use.
    pub(crate) fn feature_rows(&self) -> u64 {
        u64::from(self.tables.features.rows.len()) - self.feature_index.free_rows.len() as u64
    }

    /// Whether what is interned is counted right: for tests, as it looks at every inode.
    ///
    /// # Errors
    /// What is not.
    pub fn check_interned(&self) -> Result<(), &'static str> {
        let inodes = (0..self.tables.inodes.len()).map(|at| self.tables.inodes.get(at));
        let records = inodes.filter(|record| record.kind().is_some()).chain(self.tables.copies());
        let mut xattr_names = BTreeMap::<Box<str>, u64>::new();
        for row in records.clone().filter_map(InodeRecord::feature_row) {
            for xattr in self.tables.xattrs_at(self.tables.features.rows.get(row).xattrs) {
                *xattr_names.entry(xattr.name.into()).or_default() += 1;
            }
        }
        if xattr_names != self.feature_index.xattr_names {
            return Err("names of extended attributes are miscounted");
        }
        let words = self.feature_index.acls.keys().flatten().copied();
        self.intern_users.check(&self.tables.interned, records, words.filter_map(word_name))
    }

    pub(super) fn num_xattr_names(&self) -> u64 {
        self.feature_index.xattr_names.len() as u64
    }

    pub(crate) fn has_xattr_name(&self, name: &str) -> bool {
        self.feature_index.xattr_names.contains_key(name)
    }

    pub(super) fn new_feature_row(&mut self, row: FeatureRecord) -> u32 {
        match self.feature_index.free_rows.pop() {
            Some(at) => {
                *self.tables.features.rows.get_mut(at) = row;
                at
            }
            None => self.tables.features.rows.push(row),
        }
    }

    /// The reference of an ACL of these entries, with one more user.
    pub(super) fn intern_acl(&mut self, entries: &[AclEntry]) -> u32 {
        if entries.is_empty() {
            return NONE;
        }
        let mut word = |entry: &AclEntry| {
            let name = entry
                .name
                .as_ref()
                .map_or(0, |name| Interned::name(&mut self.tables.interned, &mut self.intern_users, name) + 1);
            assert!(name < 1 << (32 - WORD_NAME_SHIFT), "`room.rs` keeps to 2^24");
            let scope = if entry.is_default { WORD_DEFAULT } else { 0 };
            name << WORD_NAME_SHIFT | scope | (entry.kind as u32) << 3 | u32::from(entry.permission & 7)
        };
        let words: Box<[u32]> = entries.iter().map(&mut word).collect();
        if let Some(shared) = self.feature_index.acls.get_mut(&words) {
            shared.users += 1;
            return shared.at;
        }
        for name in words.iter().copied().filter_map(word_name) {
            Interned::hold_name(&mut self.intern_users, name);
        }
        let at = self.tables.features.acls.insert(&words);
        self.feature_index.acls.insert(words, SharedAcl { at, users: 1 });
        at
    }

    pub(super) fn release_acl(&mut self, at: u32) {
        if at == NONE {
            return;
        }
        let words = self.tables.features.acls.get(at);
        let Some(shared) = self.feature_index.acls.get_mut(words) else { return };
        shared.users -= 1;
        if shared.users == 0 {
            for name in words.iter().copied().filter_map(word_name) {
                Interned::release_name(&mut self.tables.interned, &mut self.intern_users, name);
            }
            self.feature_index.acls.remove(words);
            self.tables.features.acls.remove(at);
        }
    }

    pub(super) fn store_xattrs(&mut self, packed: &[u8]) -> u32 {
        if packed.is_empty() {
            return NONE;
        }
        for xattr in (XAttrs { packed }) {
            match self.feature_index.xattr_names.get_mut(xattr.name) {
                Some(users) => *users += 1,
                None => _ = self.feature_index.xattr_names.insert(xattr.name.into(), 1),
            }
        }
        let arena = &mut self.tables.features.xattrs;
        let at = arena.allocate(packed_capacity(packed.len()));
        let run = arena.tail_mut(at);
        run[..4].copy_from_slice(&(packed.len() as u32).to_le_bytes());
        run[4..4 + packed.len()].copy_from_slice(packed);
        at
    }

    pub(super) fn release_xattrs(&mut self, at: u32) {
        if at == NONE {
            return;
        }
        let packed = self.tables.xattrs_at(at);
        let capacity = packed_capacity(packed.packed.len());
        for xattr in packed {
            if let Some(users) = self.feature_index.xattr_names.get_mut(xattr.name) {
                *users -= 1;
                if *users == 0 {
                    self.feature_index.xattr_names.remove(xattr.name);
                }
            }
        }
        self.tables.features.xattrs.release(at, capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::NewInode;
    use alloc::string::ToString;
    use surus_types::{FsPermission, InodeId, PermissionStatus};

    fn tree_of(files: u64) -> Tree {
        let permission = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o644) };
        let mut tree = Tree::new(&permission, 0);
        for i in 0..files {
            let new =
                NewInode { id: InodeId(20_000 + i), permission: &permission, modification_time: 0, access_time: 0 };
            tree.add_file(InodeHandle::ROOT, i.to_string().as_bytes(), &new, Default::default()).unwrap();
        }
        tree
    }

    fn entry(name: Option<&str>, permission: u8) -> AclEntry {
        AclEntry { is_default: name.is_none(), kind: AclEntryKind::Group, name: name.map(Arc::from), permission }
    }

    fn xattr(namespace: u8, name: &str, value: &[u8]) -> XAttr {
        XAttr { namespace, name: name.into(), value: (!value.is_empty()).then(|| value.to_vec()) }
    }

    #[test]
    fn acls_are_shared_and_given_back() {
        let mut tree = tree_of(3);
        let handles: Vec<InodeHandle> = tree.inode(InodeHandle::ROOT).children(b"").collect();
        let acl = [entry(Some("alice"), 5), entry(None, 7)];
        for &handle in &handles {
            tree.set_acl(handle, &acl);
        }
        assert_eq!(tree.feature_index.acls.len(), 1);
        let read: Vec<AclEntry> = tree.inode(handles[2]).acl().map(AclEntryView::to_entry).collect();
        assert_eq!(read, acl);
        let frozen = tree.freeze();
        for &handle in &handles {
            tree.set_acl(handle, &[]);
            assert!(!tree.inode(handle).has_acl());
        }
        assert!(tree.feature_index.acls.is_empty());
        assert_eq!(tree.feature_index.free_rows.len(), 3);
        assert_eq!(frozen.inode(handles[0]).acl().len(), 2);
    }

    #[test]
    fn xattrs_in_order_large_values_last() {
        let mut tree = tree_of(1);
        let handle = tree.inode(InodeHandle::ROOT).children(b"").next().unwrap();
        let list = [xattr(0, "big", &[7; 2000]), xattr(0, "a", b""), xattr(4, "a", b"1")];
        tree.set_xattrs(handle, &list);
        let read: Vec<XAttr> = tree.inode(handle).xattrs().map(XAttrView::to_xattr).collect();
        assert_eq!(read, [list[1].clone(), list[2].clone(), list[0].clone()]);
        assert_eq!(tree.inode(handle).xattr(4, "a"), Some(&b"1"[..]));
        assert_eq!(tree.inode(handle).xattr(1, "a"), None);
        tree.set_acl(handle, &[entry(Some("x"), 1)]);
        let bytes = tree.bytes();
        for i in 0..1000 {
            tree.set_xattrs(handle, &[xattr(0, "b", &alloc::vec![i as u8; 20_000])]);
        }
        assert_eq!(tree.inode(handle).xattrs().next().unwrap().value, [231; 20_000]);
        assert!(tree.bytes() < bytes + 200_000, "runs are used again");
        tree.detach(handle);
        tree.free(handle);
        assert_eq!((tree.feature_index.acls.len(), tree.feature_index.free_rows.len()), (0, 1));
    }
}
