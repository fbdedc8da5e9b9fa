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

/// What most inodes share with many others, as numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Attributes {
    user: u32,
    group: u32,
    mode: u16,
    /// Of a file. Of a directory: its storage policy.
    layout: u32,
}

/// A number that nearly always fits 47 bits, in six bytes. Any other one is interned, and this says where.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Short([u16; 3]);

/// Numbers from here on, up to the largest of 48 bits, are places of interned ones.
const INTERNED_NUMBERS: i64 = 1 << 46;

impl Short {
    fn from_small(number: i64) -> Self {
        Short([number as u16, (number >> 16) as u16, (number >> 32) as u16])
    }
    fn small(self) -> i64 {
        let [low, middle, high] = self.0;
        i64::from(low) | i64::from(middle) << 16 | i64::from(high as i16) << 32
    }
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
    attributes: Interner<Attributes>,
    layouts: Interner<FileLayout>,
    /// Those that a [`Short`] has no room for: times and lengths that clients made up.
    numbers: Interner<i64>,
}

impl Interned {
    pub(crate) fn user(&self, attributes: u32) -> &Arc<str> {
        self.names.get(self.attributes.get(attributes).user)
    }
    pub(crate) fn group(&self, attributes: u32) -> &Arc<str> {
        self.names.get(self.attributes.get(attributes).group)
    }
    pub(crate) fn mode(&self, attributes: u32) -> FsPermission {
        FsPermission(self.attributes.get(attributes).mode)
    }
    /// A file's layout.
    pub(crate) fn layout(&self, attributes: u32) -> &FileLayout {
        self.layouts.get(self.attributes.get(attributes).layout)
    }
    /// A directory's storage policy.
    pub(crate) fn policy(&self, attributes: u32) -> u8 {
        self.attributes.get(attributes).layout as u8
    }

    fn intern_attributes(this: &mut Arc<Self>, key: Attributes) -> u32 {
        match this.attributes.index.get(&key) {
            Some(&at) => at,
            None => Arc::make_mut(this).attributes.insert(key),
        }
    }

    /// The number of these attributes: `layout` is that of [`Interned::file_layout`], or a directory's storage policy.
    pub(crate) fn attributes(this: &mut Arc<Self>, status: &PermissionStatus, layout: u32) -> u32 {
        let (user, group) = (Self::name(this, &status.user), Self::name(this, &status.group));
        Self::intern_attributes(this, Attributes { user, group, mode: status.permission.0, layout })
    }

    /// The same attributes with another owner, group and mode.
    pub(crate) fn with_permission(this: &mut Arc<Self>, attributes: u32, status: &PermissionStatus) -> u32 {
        let layout = this.attributes.get(attributes).layout;
        Self::attributes(this, status, layout)
    }

    /// The same attributes with another layout, or storage policy of a directory.
    pub(crate) fn with_layout(this: &mut Arc<Self>, attributes: u32, layout: u32) -> u32 {
        let key = Attributes { layout, ..*this.attributes.get(attributes) };
        Self::intern_attributes(this, key)
    }

    /// Whether owner, group and mode are the same.
    pub(crate) fn is_same_permission(&self, a: u32, b: u32) -> bool {
        let of = |at| Attributes { layout: 0, ..*self.attributes.get(at) };
        a == b || of(a) == of(b)
    }

    pub(super) fn short(this: &mut Arc<Self>, number: i64) -> Short {
        if (-INTERNED_NUMBERS..INTERNED_NUMBERS).contains(&number) {
            return Short::from_small(number);
        }
        let at = match this.numbers.index.get(&number) {
            Some(&at) => at,
            None => Arc::make_mut(this).numbers.insert(number),
        };
        Short::from_small(INTERNED_NUMBERS + i64::from(at))
    }

    #[inline]
    pub(super) fn number(&self, short: Short) -> i64 {
        let small = short.small();
        if small < INTERNED_NUMBERS { small } else { *self.numbers.get((small - INTERNED_NUMBERS) as u32) }
    }

    pub(crate) fn file_layout(this: &mut Arc<Self>, layout: FileLayout) -> u32 {
        match this.layouts.index.get(&layout) {
            Some(&at) => at,
            None => Arc::make_mut(this).layouts.insert(layout),
        }
    }

    /// Users and groups known.
    pub(super) fn num_names(&self) -> u64 {
        self.names.values.len() as u64
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back() {
        let mut interned = Arc::<Interned>::default();
        let edges = [0, 1, -1, i64::MIN, i64::MAX, 1_700_000_000_000, INTERNED_NUMBERS, -INTERNED_NUMBERS];
        let numbers = edges.into_iter().flat_map(|edge| (-2..=2).map(move |step| edge.wrapping_add(step)));
        let shorts: Vec<(i64, Short)> = numbers.map(|n| (n, Interned::short(&mut interned, n))).collect();
        for (number, short) in shorts {
            assert_eq!(interned.number(short), number);
        }
        assert_eq!(size_of::<Short>(), 6);
    }
}
