//! Interned values: user and group names, owner-group-mode triples, file layouts. A tree of millions of inodes holds a
//! few thousand different ones. Entries are never freed.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use surus_types::{FsPermission, PermissionStatus};

/// Values in the order of their first use, and the way back.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    values: Vec<T>,
    index: BTreeMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { values: Vec::new(), index: BTreeMap::new() }
    }
}

impl<T: Ord + Clone> Interner<T> {
    fn get(&self, at: u32) -> &T {
        &self.values[at as usize]
    }
    fn insert(&mut self, value: T) -> u32 {
        let at = self.values.len() as u32;
        self.index.insert(value.clone(), at);
        self.values.push(value);
        at
    }
}

/// Owner, group and mode as numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct PermissionKey {
    user: u32,
    group: u32,
    mode: u16,
}

/// What a file's blocks look like.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct FileLayout {
    /// Bytes.
    pub preferred_block_size: u64,
    pub replication: u16,
    /// 0: unspecified.
    pub storage_policy: u8,
    /// 0: replicated.
    pub erasure_coding_policy: u8,
}

/// All interned values. Behind one `Arc`: a checkpoint shares it, and a new value copies it while one does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interned {
    names: Interner<Arc<str>>,
    permissions: Interner<PermissionKey>,
    layouts: Interner<FileLayout>,
}

impl Interned {
    pub(crate) fn user(&self, permission: u32) -> &Arc<str> {
        self.names.get(self.permissions.get(permission).user)
    }
    pub(crate) fn group(&self, permission: u32) -> &Arc<str> {
        self.names.get(self.permissions.get(permission).group)
    }
    pub(crate) fn mode(&self, permission: u32) -> FsPermission {
        FsPermission(self.permissions.get(permission).mode)
    }
    pub(crate) fn layout(&self, layout: u32) -> &FileLayout {
        self.layouts.get(layout)
    }

    /// The number of an owner-group-mode triple.
    pub(crate) fn permission(this: &mut Arc<Self>, user: &Arc<str>, group: &Arc<str>, mode: FsPermission) -> u32 {
        let key = PermissionKey { user: Self::name(this, user), group: Self::name(this, group), mode: mode.0 };
        match this.permissions.index.get(&key) {
            Some(&at) => at,
            None => Arc::make_mut(this).permissions.insert(key),
        }
    }

    pub(crate) fn permission_status(this: &mut Arc<Self>, status: &PermissionStatus) -> u32 {
        Self::permission(this, &status.user, &status.group, status.permission)
    }

    pub(crate) fn file_layout(this: &mut Arc<Self>, layout: FileLayout) -> u32 {
        match this.layouts.index.get(&layout) {
            Some(&at) => at,
            None => Arc::make_mut(this).layouts.insert(layout),
        }
    }

    /// A user or group name by its number.
    pub(crate) fn name_at(&self, at: u32) -> &Arc<str> {
        self.names.get(at)
    }

    /// The number of a user or group name.
    pub(crate) fn name(this: &mut Arc<Self>, name: &Arc<str>) -> u32 {
        match this.names.index.get(name) {
            Some(&at) => at,
            None => Arc::make_mut(this).names.insert(name.clone()),
        }
    }
}
