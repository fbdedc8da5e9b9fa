//! Access control lists as values: how a request changes one, how mode and feature hold one, what a new inode inherits.
//! Nothing here looks at the tree. Source: `AclTransformation.java`, `AclStorage.java`, Hadoop 3.5.0.

use crate::edit_op::{AclEntry, AclEntryKind};
use crate::tree::{AclEntryView, InodeView};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use surus_types::{FsAction, FsPermission};

/// Entries of the access list, and of the default list, at most.
pub const ENTRIES_MAX: usize = 32;

/// Kinds that every list has exactly one nameless entry of.
const BASE: [AclEntryKind; 3] = [AclEntryKind::User, AclEntryKind::Group, AclEntryKind::Other];

/// The order of a list: access before default, then by kind, nameless before named, names as Java compares them. Entries
/// that are equal here are the same entry, whatever they permit.
fn order(a: &AclEntry, b: &AclEntry) -> Ordering {
    let name = |entry: &AclEntry| entry.name.as_deref().map(|name| name.encode_utf16().collect::<Vec<u16>>());
    a.is_default.cmp(&b.is_default).then(a.kind.cmp(&b.kind)).then_with(|| name(a).cmp(&name(b)))
}

/// What `Collections.binarySearch` finds: of two equal entries the same one.
fn find<'a>(sorted: &'a [AclEntry], wanted: &AclEntry) -> Option<&'a AclEntry> {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = (low + high - 1) / 2;
        match order(&sorted[middle], wanted) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Some(&sorted[middle]),
        }
    }
    None
}

fn base_entry(is_default: bool, kind: AclEntryKind, permission: FsAction) -> AclEntry {
    AclEntry { is_default, kind, name: None, permission: permission.0 }
}

/// A list under construction. Indexes of the pairs: access, default.
#[derive(Default)]
struct Builder {
    entries: Vec<AclEntry>,
    masks: [Option<AclEntry>; 2],
    /// The request names the mask.
    mask_changed: [bool; 2],
    /// The request names any entry.
    changed: [bool; 2],
}

impl Builder {
    /// An entry that was there before.
    fn keep(&mut self, entry: &AclEntry) {
        if entry.kind == AclEntryKind::Mask {
            self.masks[usize::from(entry.is_default)] = Some(entry.clone());
        } else {
            self.entries.push(entry.clone());
        }
    }

    /// An entry of the request.
    fn put(&mut self, entry: &AclEntry) {
        self.touch(entry);
        self.keep(entry);
    }

    fn touch(&mut self, entry: &AclEntry) {
        let scope = usize::from(entry.is_default);
        self.changed[scope] = true;
        self.mask_changed[scope] |= entry.kind == AclEntryKind::Mask;
    }

    fn build(mut self) -> Result<Vec<AclEntry>, String> {
        self.copy_defaults();
        self.add_masks()?;
        validate(self.entries)
    }

    /// Default base entries that are missing become those of the access list.
    fn copy_defaults(&mut self) {
        self.entries.sort_by(order);
        if !self.entries.iter().any(|entry| entry.is_default) {
            return;
        }
        for kind in BASE {
            let nameless = |is_default| base_entry(is_default, kind, FsAction::NONE);
            if find(&self.entries, &nameless(true)).is_none()
                && let Some(access) = find(&self.entries, &nameless(false))
            {
                let copied = AclEntry { is_default: true, ..access.clone() };
                let at = self.entries.partition_point(|entry| order(entry, &copied).is_lt());
                self.entries.insert(at, copied);
            }
        }
    }

    /// A list with named entries has a mask: the one given, or all that the group class may do.
    fn add_masks(&mut self) -> Result<(), String> {
        for (scope, is_default) in [(0, false), (1, true)] {
            let list = || self.entries.iter().filter(|entry| entry.is_default == is_default);
            if list().next().is_none() {
                continue;
            }
            let is_needed = list().any(|entry| entry.name.is_some());
            let union = list()
                .filter(|entry| entry.kind == AclEntryKind::Group || entry.name.is_some())
                .fold(0, |bits, entry| bits | entry.permission);
            match self.masks[scope].take() {
                None if is_needed && self.mask_changed[scope] => {
                    return Err("Invalid ACL: mask is required and cannot be deleted.".to_string());
                }
                None if !is_needed => {}
                Some(mask) if !self.changed[scope] || self.mask_changed[scope] => self.entries.push(mask),
                // A mask that was there stays, also where nothing named is left.
                _ => self.entries.push(base_entry(is_default, AclEntryKind::Mask, FsAction(union))),
            }
        }
        Ok(())
    }
}

fn check_counts(entries: &[AclEntry]) -> Result<(), String> {
    for (is_default, name) in [(false, "access"), (true, "default")] {
        let count = entries.iter().filter(|entry| entry.is_default == is_default).count();
        if count > ENTRIES_MAX {
            return Err(format!(
                "Invalid ACL: ACL has {count} {name} entries, which exceeds maximum of {ENTRIES_MAX}."
            ));
        }
    }
    Ok(())
}

fn validate(mut entries: Vec<AclEntry>) -> Result<Vec<AclEntry>, String> {
    entries.sort_by(order);
    for (i, entry) in entries.iter().enumerate() {
        if i > 0 && order(&entries[i - 1], entry).is_eq() {
            return Err("Invalid ACL: multiple entries with same scope, type and name.".to_string());
        }
        if entry.name.is_some() && matches!(entry.kind, AclEntryKind::Mask | AclEntryKind::Other) {
            return Err(format!("Invalid ACL: this entry type must not have a name: {entry}."));
        }
    }
    check_counts(&entries)?;
    let has_default = entries.iter().any(|entry| entry.is_default);
    for kind in BASE {
        for (is_default, text) in [(false, "Invalid ACL"), (true, "Invalid default ACL")] {
            let key = base_entry(is_default, kind, FsAction::NONE);
            if (!is_default || has_default) && find(&entries, &key).is_none() {
                return Err(format!("{text}: the user, group and other entries are required."));
            }
        }
    }
    Ok(entries)
}

/// The entries of a request, sorted.
fn request(spec: &[AclEntry]) -> Result<Vec<AclEntry>, String> {
    let mut spec = spec.to_vec();
    spec.sort_by(order);
    check_counts(&spec)?;
    Ok(spec)
}

/// modifyAclEntries: entries of the request replace those of the same scope, kind and name, and come in besides.
///
/// # Errors
/// The text of an `AclException`, here and below.
pub fn merge(existing: &[AclEntry], spec: &[AclEntry]) -> Result<Vec<AclEntry>, String> {
    let spec = request(spec)?;
    let mut builder = Builder::default();
    let mut found: Vec<AclEntry> = Vec::new();
    for entry in existing {
        match find(&spec, entry) {
            Some(new) => {
                builder.put(new);
                found.push(new.clone());
            }
            None => builder.keep(entry),
        }
    }
    for entry in spec.iter().filter(|entry| find(&found, entry).is_none()) {
        builder.put(entry);
    }
    builder.build()
}

/// removeAclEntries: takes out what the request names; what it permits is not looked at.
pub fn remove_entries(existing: &[AclEntry], spec: &[AclEntry]) -> Result<Vec<AclEntry>, String> {
    let spec = request(spec)?;
    let mut builder = Builder::default();
    for entry in existing {
        if find(&spec, entry).is_some() {
            builder.touch(entry);
        } else {
            builder.keep(entry);
        }
    }
    builder.build()
}

/// removeDefaultAcl.
pub fn remove_defaults(existing: &[AclEntry]) -> Result<Vec<AclEntry>, String> {
    validate(existing.iter().filter(|entry| !entry.is_default).cloned().collect())
}

/// setAcl: replaces the access list, the default list or both: whichever the request has entries of.
pub fn replace(existing: &[AclEntry], spec: &[AclEntry]) -> Result<Vec<AclEntry>, String> {
    let mut builder = Builder::default();
    for entry in &request(spec)? {
        builder.put(entry);
    }
    for entry in existing {
        if !builder.changed[usize::from(entry.is_default)] {
            builder.keep(entry);
        }
    }
    builder.build()
}

/// The whole list of an inode, which every one has: what the mode holds, and the feature's entries.
pub fn logical(inode: InodeView<'_>) -> Vec<AclEntry> {
    whole(inode.permission(), &inode.acl().map(AclEntryView::to_entry).collect::<Vec<_>>())
}

/// As [`logical`], of a mode and the entries of a feature.
pub fn whole(mode: FsPermission, feature: &[AclEntry]) -> Vec<AclEntry> {
    let mut list = alloc::vec![base_entry(false, AclEntryKind::User, mode.user_action())];
    let (default, access): (Vec<&AclEntry>, Vec<&AclEntry>) = feature.iter().partition(|entry| entry.is_default);
    let group = if access.is_empty() { AclEntryKind::Group } else { AclEntryKind::Mask };
    list.extend(access.into_iter().cloned());
    list.push(base_entry(false, group, mode.group_action()));
    list.push(base_entry(false, AclEntryKind::Other, mode.other_action()));
    list.extend(default.into_iter().cloned());
    list
}

/// A whole list as mode and feature hold it; `None` where it is none (fewer than three access entries). The sticky bit
/// stays as it is.
pub fn split(list: &[AclEntry], mode: FsPermission) -> Option<(FsPermission, Vec<AclEntry>)> {
    let at = list.iter().position(|entry| entry.is_default).unwrap_or(list.len());
    let (access, default) = list.split_at(at);
    let [owner, middle @ .., group, other] = access else { return None };
    let bits = |entry: &AclEntry| u16::from(entry.permission & 7);
    let mode = FsPermission(mode.0 & !0o777 | bits(owner) << 6 | bits(group) << 3 | bits(other));
    // Three access entries alone are in the mode already.
    let feature = middle.iter().chain(default).cloned().collect();
    Some((mode, feature))
}

/// The mode of an inode whose ACL goes: its group bits are the group's entry again, no longer the mask.
pub fn mode_without(inode: InodeView<'_>) -> FsPermission {
    let mode = inode.permission();
    let group = inode.acl().find(|e| !e.is_default && e.kind == AclEntryKind::Group && e.name.is_none());
    group.map_or(mode, |entry| FsPermission(mode.0 & !0o070 | u16::from(entry.permission.0) << 3))
}

/// What an inode gets that is made in a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inherited {
    pub mode: FsPermission,
    /// The whole list; empty: no ACL.
    pub acl: Vec<AclEntry>,
}

/// What a new inode takes over from its parent's default list, where there is one. `mode` limits what owner, mask and
/// others get. Source: `AclStorage.copyINodeDefaultAcl`, Hadoop 3.5.0.
pub fn inherit(parent: InodeView<'_>, is_directory: bool, mode: FsPermission) -> Option<Inherited> {
    if !parent.has_acl() {
        return None;
    }
    let default: Vec<AclEntry> = parent.acl().filter(|e| e.is_default).map(AclEntryView::to_entry).collect();
    if default.is_empty() {
        return None;
    }
    let is_minimal = default.len() == BASE.len();
    let mut list: Vec<AclEntry> = default.clone();
    for entry in &mut list {
        entry.is_default = false;
        let limit = match entry.kind {
            AclEntryKind::User if entry.name.is_none() => mode.user_action(),
            AclEntryKind::Group if is_minimal => mode.group_action(),
            AclEntryKind::Mask => mode.group_action(),
            AclEntryKind::Other => mode.other_action(),
            _ => FsAction::ALL,
        };
        entry.permission &= limit.0;
    }
    if is_directory {
        list.extend(default);
    }
    let (mode, feature) = split(&list, mode)?;
    let acl = if feature.is_empty() { Vec::new() } else { whole(mode, &feature) };
    Some(Inherited { mode, acl })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Vec<AclEntry> {
        let entry = |word: &str| {
            let (is_default, rest) = word.strip_prefix("default:").map_or((false, word), |rest| (true, rest));
            let parts: Vec<&str> = rest.split(':').collect();
            let kind = match parts[0] {
                "user" => AclEntryKind::User,
                "group" => AclEntryKind::Group,
                "mask" => AclEntryKind::Mask,
                _ => AclEntryKind::Other,
            };
            let permission = parts.get(2).map_or(0, |bits| {
                [('r', 4), ('w', 2), ('x', 1)].iter().filter(|(c, _)| bits.contains(*c)).map(|(_, b)| b).sum()
            });
            AclEntry { is_default, kind, name: (!parts[1].is_empty()).then(|| parts[1].into()), permission }
        };
        text.split(',').filter(|word| !word.is_empty()).map(entry).collect()
    }

    fn show(result: Result<Vec<AclEntry>, String>) -> String {
        match result {
            Ok(list) => list.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
            Err(text) => text,
        }
    }

    const PLAIN: &str = "user::rw-,group::r--,other::r--";

    #[test]
    fn merges_and_computes_masks() {
        let merged = |existing: &str, spec: &str| show(merge(&parse(existing), &parse(spec)));
        assert_eq!(merged(PLAIN, "user:b:rwx"), "user::rw-,user:b:rwx,group::r--,mask::rwx,other::r--");
        let two = "user::rw-,user:b:rwx,group::r--,mask::rwx,other::r--";
        assert_eq!(merged(two, "mask::r--"), "user::rw-,user:b:rwx,group::r--,mask::r--,other::r--");
        assert_eq!(
            merged(PLAIN, "default:user:b:rwx"),
            "user::rw-,group::r--,other::r--,default:user::rw-,default:user:b:rwx,default:group::r--,\
             default:mask::rwx,default:other::r--"
        );
        assert_eq!(merged(PLAIN, "mask:b:rwx"), "Invalid ACL: this entry type must not have a name: mask:b:rwx.");
        assert_eq!(
            merged(PLAIN, "user:b:r--,user:b:rw-"),
            "Invalid ACL: multiple entries with same scope, type and name."
        );
    }

    #[test]
    fn removes() {
        let removed = |existing: &str, spec: &str| show(remove_entries(&parse(existing), &parse(spec)));
        let two = "user::rw-,user:b:rwx,group::r--,mask::rwx,other::r--";
        assert_eq!(removed(two, "user:b:"), "user::rw-,group::r--,mask::r--,other::r--");
        assert_eq!(removed(two, "user:b:,mask::"), PLAIN);
        assert_eq!(removed(two, "mask::"), "Invalid ACL: mask is required and cannot be deleted.");
        assert_eq!(removed(two, "user::"), "Invalid ACL: the user, group and other entries are required.");
        assert_eq!(removed(two, "user:zz:"), two);
        let both = format!("{PLAIN},default:user::rwx,default:group::r-x,default:other::---");
        assert_eq!(show(remove_defaults(&parse(&both))), PLAIN);
    }

    #[test]
    fn replaces_by_scope() {
        let replaced = |existing: &str, spec: &str| show(replace(&parse(existing), &parse(spec)));
        let both = format!("{PLAIN},default:user::rwx,default:group::r-x,default:other::---");
        assert_eq!(
            replaced(&both, "user::r--,group::---,other::---"),
            both.replace(PLAIN, "user::r--,group::---,other::---")
        );
        assert_eq!(replaced(PLAIN, "user:b:r--"), "Invalid ACL: the user, group and other entries are required.");
    }

    #[test]
    fn there_and_back() {
        let list = parse(
            "user::rwx,user:b:rw-,group::r--,mask::r-x,other::--x,default:user::rwx,default:group::r-x,default:other::---",
        );
        let (mode, feature) = split(&list, FsPermission(0o1000)).unwrap();
        assert_eq!((mode, feature.len()), (FsPermission(0o1751), 5));
        assert_eq!(whole(mode, &feature), list);
        assert_eq!(split(&parse(PLAIN), FsPermission(0)), Some((FsPermission(0o644), Vec::new())));
        assert_eq!(split(&parse("user::rwx"), FsPermission(0)), None);
    }
}
