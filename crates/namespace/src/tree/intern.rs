//! Interned values: user and group names, owner-group-mode triples, file layouts. A tree of millions of inodes holds a
//! few thousand different ones. What nothing has any more is forgotten: [`InternUsers`] counts.

use super::inode::InodeRecord;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use surus_types::{FsPermission, PermissionStatus};

/// Values by number, and the way back.
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
    fn insert(&mut self, value: T, users: &mut Users) -> u32 {
        let at = users.free.pop().unwrap_or(self.values.len() as u32);
        self.index.insert(value.clone(), at);
        match self.values.get_mut(at as usize) {
            Some(free) => *free = value,
            None => {
                self.values.push(value);
                users.counts.push(0);
            }
        }
        at
    }
}

/// How often each value of an [`Interner`] is used, by its number.
#[derive(Default)]
struct Users {
    counts: Vec<u64>,
    free: Vec<u32>,
}

impl Users {
    fn hold(&mut self, at: u32) {
        self.counts[at as usize] += 1;
    }
    /// Whether that was the last.
    fn release(&mut self, at: u32) -> bool {
        let count = &mut self.counts[at as usize];
        *count -= 1;
        if *count == 0 {
            self.free.push(at);
        }
        *count == 0
    }
}

/// Who uses what is interned: attributes and numbers are used by inodes and copies of them; names by attributes and ACLs;
/// layouts by attributes. Beside [`Interned`], as a checkpoint needs none of it.
#[derive(Default)]
pub(super) struct InternUsers {
    names: Users,
    attributes: Users,
    layouts: Users,
    numbers: Users,
}

/// What most inodes share with many others, as numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Attributes {
    user: u32,
    group: u32,
    mode: u16,
    /// Of a file. Of others: [`no_layout`].
    layout: u32,
}

const NO_LAYOUT: u32 = 1 << 31;

/// In place of a layout: the storage policy of what is no file.
pub(super) fn no_layout(policy: u8) -> u32 {
    NO_LAYOUT | u32::from(policy)
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
    /// Where the number is interned, if it is.
    fn interned(self) -> Option<u32> {
        let small = self.small();
        (small >= INTERNED_NUMBERS).then_some((small - INTERNED_NUMBERS) as u32)
    }
}

/// Whether a number fits a [`Short`].
pub(crate) fn is_short(number: i64) -> bool {
    (-INTERNED_NUMBERS..INTERNED_NUMBERS).contains(&number)
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

impl FileLayout {
    /// The file's blocks are block groups.
    pub fn is_erasure_coded(&self) -> bool {
        self.erasure_coding_policy != 0
    }
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

    fn intern_attributes(this: &mut Arc<Self>, users: &mut InternUsers, key: Attributes) -> u32 {
        let at = match this.attributes.index.get(&key) {
            Some(&at) => at,
            None => {
                users.names.hold(key.user);
                users.names.hold(key.group);
                if key.layout & NO_LAYOUT == 0 {
                    users.layouts.hold(key.layout);
                }
                Arc::make_mut(this).attributes.insert(key, &mut users.attributes)
            }
        };
        users.attributes.hold(at);
        at
    }

    /// The number of these attributes, with one more user: `layout` is that of [`Interned::file_layout`], or [`no_layout`].
    pub(super) fn attributes(
        this: &mut Arc<Self>,
        users: &mut InternUsers,
        status: &PermissionStatus,
        layout: u32,
    ) -> u32 {
        let (user, group) = (Self::name(this, users, &status.user), Self::name(this, users, &status.group));
        Self::intern_attributes(this, users, Attributes { user, group, mode: status.permission.0, layout })
    }

    /// The same attributes with another owner, group and mode.
    pub(super) fn with_permission(
        this: &mut Arc<Self>,
        users: &mut InternUsers,
        attributes: u32,
        status: &PermissionStatus,
    ) -> u32 {
        let layout = this.attributes.get(attributes).layout;
        Self::attributes(this, users, status, layout)
    }

    /// The same attributes with another layout, or storage policy of a directory.
    pub(super) fn with_layout(this: &mut Arc<Self>, users: &mut InternUsers, attributes: u32, layout: u32) -> u32 {
        let key = Attributes { layout, ..*this.attributes.get(attributes) };
        Self::intern_attributes(this, users, key)
    }

    pub(super) fn hold_attributes(users: &mut InternUsers, attributes: u32) {
        users.attributes.hold(attributes);
    }

    /// Whether these attributes are used no more.
    pub(super) fn release_attributes(this: &mut Arc<Self>, users: &mut InternUsers, at: u32) -> bool {
        if !users.attributes.release(at) {
            return false;
        }
        let key = *this.attributes.get(at);
        let interned = Arc::make_mut(this);
        interned.attributes.index.remove(&key);
        if key.layout & NO_LAYOUT == 0 && users.layouts.release(key.layout) {
            let layout = *interned.layouts.get(key.layout);
            interned.layouts.index.remove(&layout);
        }
        Self::release_name(this, users, key.user);
        Self::release_name(this, users, key.group);
        true
    }

    pub(super) fn hold_name(users: &mut InternUsers, at: u32) {
        users.names.hold(at);
    }

    pub(super) fn release_name(this: &mut Arc<Self>, users: &mut InternUsers, at: u32) {
        if users.names.release(at) {
            let name = this.names.get(at).clone();
            Arc::make_mut(this).names.index.remove(&name);
        }
    }

    /// A copy of an inode's record uses the same.
    pub(super) fn hold_record(users: &mut InternUsers, record: &InodeRecord) {
        users.attributes.hold(record.attributes);
        for at in record.shorts().into_iter().filter_map(Short::interned) {
            users.numbers.hold(at);
        }
    }

    /// Gives back what a record uses; whether its attributes are used no more.
    pub(super) fn release_record(this: &mut Arc<Self>, users: &mut InternUsers, record: &InodeRecord) -> bool {
        for short in record.shorts() {
            Self::release_short(this, users, short);
        }
        Self::release_attributes(this, users, record.attributes)
    }

    /// Whether owner, group and mode are the same.
    pub(crate) fn is_same_permission(&self, a: u32, b: u32) -> bool {
        let of = |at| Attributes { layout: 0, ..*self.attributes.get(at) };
        a == b || of(a) == of(b)
    }

    /// The number, with one more user. [`Interned::release_short`] follows, of what it takes the place of too.
    pub(super) fn short(this: &mut Arc<Self>, users: &mut InternUsers, number: i64) -> Short {
        if is_short(number) {
            return Short::from_small(number);
        }
        let at = match this.numbers.index.get(&number) {
            Some(&at) => at,
            None => Arc::make_mut(this).numbers.insert(number, &mut users.numbers),
        };
        users.numbers.hold(at);
        Short::from_small(INTERNED_NUMBERS + i64::from(at))
    }

    pub(super) fn release_short(this: &mut Arc<Self>, users: &mut InternUsers, short: Short) {
        if let Some(at) = short.interned()
            && users.numbers.release(at)
        {
            let number = *this.numbers.get(at);
            Arc::make_mut(this).numbers.index.remove(&number);
        }
    }

    /// Puts another number into `short`.
    pub(super) fn replace(this: &mut Arc<Self>, users: &mut InternUsers, short: &mut Short, number: i64) {
        let old = core::mem::replace(short, Self::short(this, users, number));
        Self::release_short(this, users, old);
    }

    #[inline]
    pub(super) fn number(&self, short: Short) -> i64 {
        let small = short.small();
        if small < INTERNED_NUMBERS { small } else { *self.numbers.get((small - INTERNED_NUMBERS) as u32) }
    }

    /// The number of a layout, which has no user yet if it is new: that of attributes is the first.
    pub(super) fn file_layout(this: &mut Arc<Self>, users: &mut InternUsers, layout: FileLayout) -> u32 {
        match this.layouts.index.get(&layout) {
            Some(&at) => at,
            None => Arc::make_mut(this).layouts.insert(layout, &mut users.layouts),
        }
    }

    /// Users and groups known.
    pub(super) fn num_names(&self) -> u64 {
        self.names.index.len() as u64
    }

    pub(super) fn num_numbers(&self) -> u64 {
        self.numbers.index.len() as u64
    }

    pub(super) fn num_layouts(&self) -> u64 {
        self.layouts.index.len() as u64
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.index.contains_key(name)
    }

    pub(super) fn has_layout(&self, layout: &FileLayout) -> bool {
        self.layouts.index.contains_key(layout)
    }

    /// A user or group name by its number.
    pub(crate) fn name_at(&self, at: u32) -> &Arc<str> {
        self.names.get(at)
    }

    /// The number of a user or group name, which has no user yet if it is new.
    pub(super) fn name(this: &mut Arc<Self>, users: &mut InternUsers, name: &Arc<str>) -> u32 {
        match this.names.index.get(name) {
            Some(&at) => at,
            None => Arc::make_mut(this).names.insert(name.clone(), &mut users.names),
        }
    }
}

impl InternUsers {
    /// Whether the counts are those of the records of all inodes and copies, and of all ACLs.
    pub(super) fn check<'a>(
        &self,
        interned: &Interned,
        records: impl Iterator<Item = &'a InodeRecord>,
        acl_names: impl Iterator<Item = u32>,
    ) -> Result<(), &'static str> {
        let zeros = |users: &Users| alloc::vec![0u64; users.counts.len()];
        let (mut attributes, mut numbers) = (zeros(&self.attributes), zeros(&self.numbers));
        let (mut names, mut layouts) = (zeros(&self.names), zeros(&self.layouts));
        for record in records {
            attributes[record.attributes as usize] += 1;
            for at in record.shorts().into_iter().filter_map(Short::interned) {
                numbers[at as usize] += 1;
            }
        }
        for (at, _) in attributes.iter().enumerate().filter(|(_, count)| **count > 0) {
            let key = interned.attributes.get(at as u32);
            names[key.user as usize] += 1;
            names[key.group as usize] += 1;
            if key.layout & NO_LAYOUT == 0 {
                layouts[key.layout as usize] += 1;
            }
        }
        acl_names.for_each(|at| names[at as usize] += 1);
        let check = |users: &Users, counts: &[u64], known: usize, what| {
            let used = counts.iter().filter(|count| **count > 0).count();
            if users.counts == counts && used == known { Ok(()) } else { Err(what) }
        };
        check(&self.attributes, &attributes, interned.attributes.index.len(), "users of attributes are miscounted")?;
        check(&self.numbers, &numbers, interned.numbers.index.len(), "users of numbers are miscounted")?;
        check(&self.names, &names, interned.names.index.len(), "users of names are miscounted")?;
        check(&self.layouts, &layouts, interned.layouts.index.len(), "users of layouts are miscounted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back() {
        let (mut interned, mut users) = (Arc::<Interned>::default(), InternUsers::default());
        let edges = [0, 1, -1, i64::MIN, i64::MAX, 1_700_000_000_000, INTERNED_NUMBERS, -INTERNED_NUMBERS];
        let numbers = edges.into_iter().flat_map(|edge| (-2..=2).map(move |step| edge.wrapping_add(step)));
        let shorts: Vec<(i64, Short)> = numbers.map(|n| (n, Interned::short(&mut interned, &mut users, n))).collect();
        for (number, short) in shorts {
            assert_eq!(interned.number(short), number);
        }
        assert_eq!(size_of::<Short>(), 6);
    }

    #[test]
    fn what_nothing_uses_is_forgotten() {
        let (mut interned, mut users) = (Arc::<Interned>::default(), InternUsers::default());
        let status =
            |user: &str| PermissionStatus { user: user.into(), group: "g".into(), permission: FsPermission(7) };
        let mut short = Short::default();
        let layout = FileLayout { replication: 3, ..FileLayout::default() };
        let at = Interned::file_layout(&mut interned, &mut users, layout);
        let mut last = Interned::attributes(&mut interned, &mut users, &status("0"), at);
        for i in 1..1000 {
            Interned::replace(&mut interned, &mut users, &mut short, INTERNED_NUMBERS + i);
            assert_eq!(interned.number(short), INTERNED_NUMBERS + i);
            let user = alloc::format!("{i}");
            let next = Interned::with_permission(&mut interned, &mut users, last, &status(&user));
            assert!(Interned::release_attributes(&mut interned, &mut users, last));
            assert_eq!((&**interned.user(next), &**interned.group(next)), (&*user, "g"));
            last = next;
        }
        assert_eq!((interned.num_numbers(), interned.num_names(), interned.num_layouts()), (1, 2, 1));
        assert!(interned.numbers.values.len() <= 2 && interned.names.values.len() <= 3);
        Interned::release_attributes(&mut interned, &mut users, last);
        Interned::release_short(&mut interned, &mut users, short);
        assert_eq!((interned.num_numbers(), interned.num_names(), interned.num_layouts()), (0, 0, 0));
    }
}
