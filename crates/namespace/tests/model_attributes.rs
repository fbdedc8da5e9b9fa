//! The naive side of ACLs and extended attributes for the model test: a map of entries, a list of attributes.

use proptest::prelude::*;
use std::collections::BTreeMap;
use surus_namespace::InodeView;
use surus_namespace::acl::logical;
use surus_namespace::edit_op::{AclEntry, AclEntryKind, XAttr};
use surus_namespace::tree::XAttrView;
use surus_types::AclChange;
use surus_types::ExceptionClass as E;

/// Default or access, kind, name.
type Key = (bool, AclEntryKind, Option<String>);

pub const XATTRS_MAX: u32 = 3;

/// Mode, ACL and attributes of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes {
    sticky: u16,
    acl: BTreeMap<Key, u8>,
    xattrs: Vec<(u8, String, Vec<u8>)>,
}

#[derive(Clone, Debug)]
pub enum Change {
    Modify(Vec<AclEntry>),
    RemoveEntries(Vec<AclEntry>),
    RemoveDefault,
    Remove,
    Set(Vec<AclEntry>),
}

impl Change {
    pub fn request(&self) -> AclChange<'_> {
        match self {
            Self::Modify(spec) => AclChange::Modify(spec),
            Self::RemoveEntries(spec) => AclChange::RemoveEntries(spec),
            Self::RemoveDefault => AclChange::RemoveDefault,
            Self::Remove => AclChange::Remove,
            Self::Set(spec) => AclChange::Set(spec),
        }
    }
}

/// Entries of different keys; users and groups alone have names.
pub fn spec() -> impl Strategy<Value = Vec<AclEntry>> {
    let kinds =
        prop::sample::select(vec![AclEntryKind::User, AclEntryKind::Group, AclEntryKind::Mask, AclEntryKind::Other]);
    let name = prop::sample::select(vec!["", "u", "v"]);
    let entry = (prop::bool::weighted(0.3), kinds, name, 0u8..8).prop_map(|(is_default, kind, name, permission)| {
        let named = matches!(kind, AclEntryKind::User | AclEntryKind::Group);
        let name = Some(name.to_string()).filter(|name| named && !name.is_empty());
        ((is_default, kind, name), permission)
    });
    prop::collection::btree_map(entry.clone().prop_map(|e| e.0), entry.prop_map(|e| e.1), 1..6).prop_map(|entries| {
        let entry = |((is_default, kind, name), permission): (Key, u8)| AclEntry {
            is_default,
            kind,
            name: name.map(Into::into),
            permission,
        };
        entries.into_iter().map(entry).rev().collect()
    })
}

pub fn change() -> impl Strategy<Value = Change> {
    let base = |spec: Vec<AclEntry>| {
        let mut spec: BTreeMap<Key, u8> = spec.iter().map(|e| (key(e), e.permission)).collect();
        for (kind, permission) in [(AclEntryKind::User, 7), (AclEntryKind::Group, 5), (AclEntryKind::Other, 4)] {
            spec.entry((false, kind, None)).or_insert(permission);
        }
        let entry = |((is_default, kind, name), permission): (Key, u8)| AclEntry {
            is_default,
            kind,
            name: name.map(Into::into),
            permission,
        };
        spec.into_iter().map(entry).collect::<Vec<_>>()
    };
    prop_oneof![
        4 => spec().prop_map(Change::Modify),
        2 => spec().prop_map(Change::RemoveEntries),
        1 => Just(Change::RemoveDefault),
        1 => Just(Change::Remove),
        1 => spec().prop_map(Change::Set),
        2 => spec().prop_map(move |spec| Change::Set(base(spec))),
    ]
}

pub fn xattr() -> impl Strategy<Value = XAttr> {
    let value = prop_oneof![4 => prop::collection::vec(any::<u8>(), 0..4), 1 => Just(vec![9; 1500])];
    (0u8..4, prop::sample::select(vec!["a", "b", "é"]), value).prop_map(|(namespace, name, value)| XAttr {
        namespace,
        name: name.into(),
        value: Some(value),
    })
}

fn key(entry: &AclEntry) -> Key {
    (entry.is_default, entry.kind, entry.name.as_deref().map(str::to_string))
}

const BASE: [AclEntryKind; 3] = [AclEntryKind::User, AclEntryKind::Group, AclEntryKind::Other];

impl Attributes {
    pub fn new(mode: u16) -> Self {
        let mut new = Attributes { sticky: 0, acl: BTreeMap::new(), xattrs: Vec::new() };
        new.set_mode(mode);
        new
    }

    pub fn of(inode: InodeView<'_>) -> Self {
        let xattrs =
            inode.xattrs().map(|x: XAttrView<'_>| (x.namespace, x.name.to_string(), x.value.to_vec())).collect();
        let acl = logical(inode).iter().map(|e| (key(e), e.permission)).collect();
        Attributes { sticky: inode.permission().0 & 0o1000, acl, xattrs }
    }

    /// Made in a directory of these attributes.
    pub fn made_in(parent: &Attributes, mode: u16) -> Self {
        let mut new = Attributes::new(mode);
        let default: BTreeMap<Key, u8> = parent.acl.iter().filter(|(k, _)| k.0).map(|(k, p)| (k.clone(), *p)).collect();
        if default.is_empty() {
            return new;
        }
        let has_mask = default.contains_key(&(true, AclEntryKind::Mask, None));
        new.acl.clear();
        for ((_, kind, name), permission) in &default {
            let limit = match (kind, name) {
                (AclEntryKind::User, None) => mode >> 6,
                (AclEntryKind::Group, None) if !has_mask => mode >> 3,
                (AclEntryKind::Mask, _) => mode >> 3,
                (AclEntryKind::Other, _) => mode,
                _ => 7,
            };
            new.acl.insert((false, *kind, name.clone()), permission & limit as u8 & 7);
        }
        new.acl.extend(default);
        new
    }

    pub fn set_mode(&mut self, mode: u16) {
        self.sticky = mode & 0o1000;
        let has_mask = self.acl.contains_key(&(false, AclEntryKind::Mask, None));
        let group = if has_mask { AclEntryKind::Mask } else { AclEntryKind::Group };
        for (kind, shift) in [(AclEntryKind::User, 6), (group, 3), (AclEntryKind::Other, 0)] {
            self.acl.insert((false, kind, None), (mode >> shift & 7) as u8);
        }
    }

    pub fn change_acl(&mut self, change: &Change, is_directory: bool) -> Result<bool, E> {
        let mut acl = self.acl.clone();
        let mask = |scope: bool| (scope, AclEntryKind::Mask, None);
        let had_mask = [false, true].map(|scope| acl.contains_key(&mask(scope)));
        let mut touched: Vec<Key> = Vec::new();
        match change {
            Change::RemoveDefault => acl.retain(|k, _| !k.0),
            Change::Remove => {
                if had_mask[0] {
                    acl.remove(&mask(false));
                }
                acl.retain(|k, _| !k.0 && k.2.is_none());
            }
            Change::Modify(spec) => {
                touched = spec.iter().map(key).collect();
                acl.extend(spec.iter().map(|e| (key(e), e.permission)));
            }
            Change::RemoveEntries(spec) => {
                touched = spec.iter().map(key).filter(|k| acl.contains_key(k)).collect();
                acl.retain(|k, _| !touched.contains(k));
            }
            Change::Set(spec) => {
                touched = spec.iter().map(key).collect();
                acl.retain(|k, _| !touched.iter().any(|t| t.0 == k.0));
                acl.extend(spec.iter().map(|e| (key(e), e.permission)));
            }
        }
        if !touched.is_empty() {
            let lasting = |k: &Key| k.0 && k.1 != AclEntryKind::Mask;
            if acl.keys().any(lasting) {
                for kind in BASE {
                    if let Some(&permission) = acl.get(&(false, kind, None)) {
                        acl.entry((true, kind, None)).or_insert(permission);
                    }
                }
            }
        }
        for scope in [false, true] {
            let is_touched = touched.iter().any(|t| t.0 == scope);
            let mask_touched = touched.contains(&mask(scope));
            let others: Vec<(&Key, &u8)> =
                acl.iter().filter(|(k, _)| k.0 == scope && k.1 != AclEntryKind::Mask).collect();
            if others.is_empty() {
                acl.remove(&mask(scope));
                continue;
            }
            let needed = others.iter().any(|(k, _)| k.2.is_some());
            let union = others
                .iter()
                .filter(|(k, _)| k.1 == AclEntryKind::Group || k.2.is_some())
                .fold(0, |bits, (_, p)| bits | **p);
            if needed && mask_touched && !acl.contains_key(&mask(scope)) {
                return Err(E::Acl);
            }
            let kept = had_mask[usize::from(scope)] && !matches!(change, Change::Set(_));
            if is_touched && !mask_touched && (needed || kept) {
                acl.insert(mask(scope), union);
            }
        }
        let has_default = acl.keys().any(|k| k.0);
        for kind in BASE {
            if !acl.contains_key(&(false, kind, None)) || has_default && !acl.contains_key(&(true, kind, None)) {
                return Err(E::Acl);
            }
        }
        if has_default && !is_directory {
            return Err(E::Acl);
        }
        self.acl = acl;
        Ok(true)
    }

    pub fn set_xattr(&mut self, new: &XAttr, flags: u32) -> Result<bool, E> {
        if new.namespace > 1 {
            return Err(E::AccessControl);
        }
        let same = |x: &(u8, String, Vec<u8>)| x.0 == new.namespace && x.1 == *new.name;
        match self.xattrs.iter().any(same) {
            _ if flags == 0 => return Err(E::HadoopIllegalArgument),
            exists if flags & if exists { 2 } else { 1 } == 0 => return Err(E::Io),
            _ => {}
        }
        let mut list = vec![(new.namespace, new.name.to_string(), new.value.clone().unwrap_or_default())];
        list.extend(self.xattrs.iter().filter(|x| !same(x)).cloned());
        if list.len() > XATTRS_MAX as usize {
            return Err(E::Io);
        }
        list.sort_by_key(|x| x.2.len() > 1024);
        self.xattrs = list;
        Ok(true)
    }

    pub fn remove_xattr(&mut self, gone: &XAttr) -> Result<bool, E> {
        let same = |x: &(u8, String, Vec<u8>)| x.0 == gone.namespace && x.1 == *gone.name;
        if gone.namespace > 1 {
            return Err(E::AccessControl);
        }
        if !self.xattrs.iter().any(same) {
            return Err(E::Io);
        }
        self.xattrs.retain(|x| !same(x));
        Ok(true)
    }
}
