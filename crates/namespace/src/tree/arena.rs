//! Runs of values (names, block lists, directory nodes) in shared pages, found by a 32-bit reference. A freed run is used
//! again by the next one of its size class. Pages are copied on write like those of `pages.rs`.

use super::pages::{PAGE_BYTES, own_page};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// References count in units of `UNIT` values, so that 32 bits reach further.
#[derive(Clone)]
pub(crate) struct Arena<T, const UNIT: usize> {
    pages: Vec<Arc<[T]>>,
    /// Where the next new run goes, in values; a multiple of `UNIT`.
    end: usize,
    /// Freed runs by capacity. Shared with clones, which never allocate.
    free: Arc<BTreeMap<usize, Vec<u32>>>,
    /// Units to give out before freed runs of other sizes are cut up.
    limit: u64,
}

/// Units that a reference reaches.
pub(crate) const UNITS_MAX: u64 = 1 << 32;

impl<T, const UNIT: usize> Default for Arena<T, UNIT> {
    fn default() -> Self {
        Arena { pages: Vec::new(), end: 0, free: Arc::new(BTreeMap::new()), limit: UNITS_MAX }
    }
}

impl<T: Copy + Default, const UNIT: usize> Arena<T, UNIT> {
    const PAGE: usize = PAGE_BYTES / size_of::<T>();

    /// The values from the start of the run at `at` to the end of its page.
    #[inline]
    pub(crate) fn tail(&self, at: u32) -> &[T] {
        let position = at as usize * UNIT;
        &self.pages[position / Self::PAGE][position % Self::PAGE..]
    }

    #[inline]
    pub(crate) fn tail_mut(&mut self, at: u32) -> &mut [T] {
        let position = at as usize * UNIT;
        &mut own_page(&mut self.pages[position / Self::PAGE])[position % Self::PAGE..]
    }

    /// A run of `capacity` values, whose content is left from before.
    pub(crate) fn allocate(&mut self, capacity: usize) -> u32 {
        let capacity = capacity.next_multiple_of(UNIT);
        if self.free.get(&capacity).is_some_and(|runs| !runs.is_empty())
            && let Some(at) = Arc::make_mut(&mut self.free).get_mut(&capacity).and_then(Vec::pop)
        {
            return at;
        }
        let left = (self.pages.len() * Self::PAGE).saturating_sub(self.end);
        let lost = if capacity > left { left } else { 0 };
        if (self.end + lost + capacity) as u64 > self.limit.saturating_mul(UNIT as u64)
            && let Some(at) = self.cut(capacity)
        {
            return at;
        }
        if capacity > left {
            // The rest of the page is lost: below 1 % for runs of usual size.
            self.end = self.pages.len() * Self::PAGE;
            let slots = capacity.div_ceil(Self::PAGE).max(1);
            // A run longer than a page lies in one long page that takes the place of several.
            self.pages.push(Self::page(slots));
            self.pages.extend((1..slots).map(|_| Arc::from([])));
        }
        let at = u32::try_from(self.end / UNIT).expect("an arena holds at most 2^32 units");
        self.end += capacity;
        if capacity > Self::PAGE {
            self.end = self.pages.len() * Self::PAGE;
        }
        at
    }

    /// Gives back the run at `at`, which was allocated with this capacity.
    pub(crate) fn release(&mut self, at: u32, capacity: usize) {
        let capacity = capacity.next_multiple_of(UNIT);
        Arc::make_mut(&mut self.free).entry(capacity).or_default().push(at);
    }

    /// A run off a freed one that is longer: there is no new room.
    fn cut(&mut self, capacity: usize) -> Option<u32> {
        let (&longer, _) = self.free.range(capacity..).find(|(_, runs)| !runs.is_empty())?;
        let at = Arc::make_mut(&mut self.free).get_mut(&longer)?.pop()?;
        if longer <= Self::PAGE {
            if longer > capacity {
                self.release(at + (capacity / UNIT) as u32, longer - capacity);
            }
            return Some(at);
        }
        // A long page: what is cut off it becomes pages of the usual size.
        let first = at as usize * UNIT / Self::PAGE;
        let (slots, kept) = (longer.div_ceil(Self::PAGE), capacity.div_ceil(Self::PAGE).max(1));
        self.pages[first] = Self::page(kept);
        for slot in first + kept..first + slots {
            self.pages[slot] = Self::page(1);
            self.release((slot * Self::PAGE / UNIT) as u32, Self::PAGE);
        }
        if capacity < Self::PAGE {
            self.release(at + (capacity / UNIT) as u32, Self::PAGE - capacity);
        }
        Some(at)
    }

    fn page(slots: usize) -> Arc<[T]> {
        core::iter::repeat_n(T::default(), slots * Self::PAGE).collect()
    }

    /// Runs of `capacity` that [`Arena::cut`] makes of one of `longer`.
    fn pieces(longer: usize, capacity: usize) -> usize {
        match (longer <= Self::PAGE, capacity <= Self::PAGE) {
            (true, _) => longer / capacity,
            (false, true) => longer.div_ceil(Self::PAGE) * (Self::PAGE / capacity),
            (false, false) => longer.div_ceil(Self::PAGE) / capacity.div_ceil(Self::PAGE),
        }
    }

    /// Units given out so far, freed ones among them.
    pub(crate) fn units(&self) -> u64 {
        (self.end / UNIT) as u64
    }

    pub(crate) fn set_limit(&mut self, units: u64) {
        self.limit = units.min(UNITS_MAX);
    }

    /// Whether freed runs alone hold `runs` of up to `capacity` values each.
    pub(crate) fn reuses(&self, runs: usize, capacity: usize) -> bool {
        let capacity = capacity.max(1).next_multiple_of(UNIT);
        self.free.range(capacity..).map(|(&longer, free)| free.len() * Self::pieces(longer, capacity)).sum::<usize>()
            >= runs
    }

    /// Bytes of all pages and of the lists of freed runs.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.iter().map(|page| size_of_val(&**page) + size_of::<Arc<[T]>>()).sum::<usize>()
            + self.free.values().map(|runs| runs.capacity() * size_of::<u32>()).sum::<usize>()
    }
}

/// The smallest of 2, 3, 4, 6, 8, 12, 16, 24, ... that holds `len`: runs that grow are copied O(log n) times and waste a
/// quarter at most.
pub(crate) const fn size_class(len: usize) -> usize {
    let power = if len < 2 { 2 } else { len.next_power_of_two() };
    if power / 4 * 3 >= len && power >= 4 { power / 4 * 3 } else { power }
}

/// Names of inodes: one length byte (255: two more follow), then the bytes.
#[derive(Clone, Default)]
pub(crate) struct Names(Arena<u8, 4>);

/// Longest name the arena takes. Far above what a path of 8000 characters can hold.
pub(crate) const NAME_BYTES_MAX: usize = 32_767;

impl Names {
    /// Stores a name of at most [`NAME_BYTES_MAX`] bytes.
    pub(crate) fn insert(&mut self, name: &[u8]) -> u32 {
        assert!(name.len() <= NAME_BYTES_MAX, "a name of {} bytes", name.len());
        let head = Self::head(name.len());
        let at = self.0.allocate(head + name.len());
        let run = self.0.tail_mut(at);
        if head == 1 {
            run[0] = name.len() as u8;
        } else {
            run[0] = 255;
            run[1..3].copy_from_slice(&(name.len() as u16).to_le_bytes());
        }
        run[head..head + name.len()].copy_from_slice(name);
        at
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> &[u8] {
        let run = self.0.tail(at);
        if run[0] < 255 {
            &run[1..1 + usize::from(run[0])]
        } else {
            let len = usize::from(u16::from_le_bytes([run[1], run[2]]));
            &run[3..3 + len]
        }
    }

    pub(crate) fn remove(&mut self, at: u32) {
        let len = self.get(at).len();
        self.0.release(at, Self::head(len) + len);
    }

    /// In units of 4 bytes, as all about room.
    pub(crate) fn arena(&self) -> &Arena<u8, 4> {
        &self.0
    }

    pub(crate) fn arena_mut(&mut self) -> &mut Arena<u8, 4> {
        &mut self.0
    }

    /// Bytes of the run of a name.
    pub(crate) fn run_bytes(name: &[u8]) -> usize {
        Self::head(name.len()) + name.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn head(len: usize) -> usize {
        if len < 255 { 1 } else { 3 }
    }
}

/// Lists of 32-bit values: the length, then the values. The capacity follows from the length.
#[derive(Clone, Default)]
pub(crate) struct Lists<T>(Arena<T, 1>);

impl<T: Copy + Default + From<u32>> Lists<T>
where
    u32: From<T>,
{
    pub(crate) fn insert(&mut self, values: &[T]) -> u32 {
        let at = self.0.allocate(size_class(values.len() + 1));
        let run = self.0.tail_mut(at);
        run[0] = T::from(values.len() as u32);
        run[1..=values.len()].copy_from_slice(values);
        at
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> &[T] {
        let run = self.0.tail(at);
        let len = u32::from(run[0]);
        &run[1..=len as usize]
    }

    pub(crate) fn remove(&mut self, at: u32) {
        let len = self.get(at).len();
        self.0.release(at, size_class(len + 1));
    }

    /// Appends; returns the list's reference, new when it had to move.
    pub(crate) fn push(&mut self, at: u32, value: T) -> u32 {
        let len = self.get(at).len();
        if size_class(len + 1) == size_class(len + 2) {
            let run = self.0.tail_mut(at);
            run[0] = T::from(len as u32 + 1);
            run[len + 1] = value;
            return at;
        }
        let new = self.0.allocate(size_class(len + 2));
        for i in 1..=len {
            let moved = self.0.tail(at)[i];
            self.0.tail_mut(new)[i] = moved;
        }
        let run = self.0.tail_mut(new);
        run[0] = T::from(len as u32 + 1);
        run[len + 1] = value;
        self.0.release(at, size_class(len + 1));
        new
    }

    pub(crate) fn arena(&self) -> &Arena<T, 1> {
        &self.0
    }

    pub(crate) fn arena_mut(&mut self) -> &mut Arena<T, 1> {
        &mut self.0
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes() {
        let classes: Vec<usize> = (0..=17).map(size_class).collect();
        assert_eq!(classes, [2, 2, 2, 3, 4, 6, 6, 8, 8, 12, 12, 12, 12, 16, 16, 16, 16, 24]);
    }

    #[test]
    fn names_of_all_lengths_and_reuse() {
        let mut names = Names::default();
        let lengths = [0usize, 1, 3, 254, 255, 256, 8000, NAME_BYTES_MAX];
        let at: Vec<u32> = lengths.iter().map(|&n| names.insert(&alloc::vec![b'x'; n])).collect();
        for (&at, &n) in at.iter().zip(&lengths) {
            assert_eq!(names.get(at), alloc::vec![b'x'; n]);
        }
        names.remove(at[3]);
        assert_eq!(names.insert(&[b'y'; 254]), at[3]);
    }

    #[test]
    fn without_new_room_longer_runs_are_cut() {
        let mut names = Names::default();
        let long: Vec<u32> = (0..3).map(|_| names.insert(&[b'x'; 23])).collect();
        let end = names.arena().units();
        names.arena_mut().set_limit(end);
        names.remove(long[1]);
        assert!(names.arena().reuses(3, 8) && !names.arena().reuses(4, 8) && !names.arena().reuses(1, 25));
        let short: Vec<u32> = (0..3).map(|i| names.insert(&[b'a' + i; 7])).collect();
        assert_eq!(names.arena().units(), end, "nothing new was given out");
        for (i, &at) in short.iter().enumerate() {
            assert_eq!(names.get(at), [b'a' + i as u8; 7]);
        }
        assert!([long[0], long[2]].iter().all(|&at| names.get(at) == [b'x'; 23]));
        assert!(!names.arena().reuses(1, 4));
    }

    #[test]
    fn long_pages_are_cut_up() {
        type Bytes = Arena<u8, 4>;
        let mut arena = Bytes::default();
        let long = arena.allocate(3 * Bytes::PAGE + 8);
        arena.set_limit(arena.units());
        arena.release(long, 3 * Bytes::PAGE + 8);
        assert!(arena.reuses(4, Bytes::PAGE) && arena.reuses(2, Bytes::PAGE + 4) && !arena.reuses(5, Bytes::PAGE));
        let sizes = [Bytes::PAGE + 4, 100, Bytes::PAGE - 100, Bytes::PAGE];
        let runs = sizes.map(|size| arena.allocate(size));
        for (i, (&at, &size)) in runs.iter().zip(&sizes).enumerate() {
            arena.tail_mut(at)[..size].fill(i as u8);
        }
        for (i, (&at, &size)) in runs.iter().zip(&sizes).enumerate() {
            assert!(arena.tail(at)[..size].iter().all(|&byte| byte == i as u8), "{i}");
        }
        assert_eq!(arena.units(), (4 * Bytes::PAGE / 4) as u64);
    }

    #[test]
    fn lists_grow_past_a_page() {
        let mut lists = Lists::<u32>::default();
        let other = lists.insert(&[7]);
        let mut at = lists.insert(&[]);
        for i in 0..50_000 {
            at = lists.push(at, i);
        }
        assert_eq!(lists.get(at).len(), 50_000);
        assert!(lists.get(at).iter().copied().eq(0..50_000));
        assert_eq!(lists.get(other), [7]);
        lists.remove(at);
    }
}
