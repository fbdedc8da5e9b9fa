//! From 64-bit id to 32-bit handle. Ids are given out in sequence, so the map is one of pages of 128 ids: a bit for each id
//! that is there, and their handles without gaps. Handles given out about the same time lie near each other, so two bytes do
//! for most: dense ids cost about 3 bytes each, 5 where handles lie far apart, a lonely one about 80. Growing the map never
//! rehashes every id at once.

use alloc::vec::Vec;
use hashbrown::HashMap;

const IDS_PER_PAGE: u64 = u128::BITS as u64;

#[derive(Clone, Debug, Default)]
pub(crate) struct IdMap {
    pages: HashMap<u64, Page>,
    len: usize,
    /// Bytes of the lists of all pages.
    list_bytes: usize,
}

#[derive(Clone, Debug, Default)]
struct Page {
    present: u128,
    handles: Handles,
}

/// The handles of a page's ids, in the order of the ids.
#[derive(Clone, Debug)]
enum Handles {
    /// All within 65,536 of `base`.
    Near {
        base: u32,
        offsets: Vec<u16>,
    },
    Far(Vec<u32>),
}

impl Default for Handles {
    fn default() -> Self {
        Handles::Near { base: 0, offsets: Vec::new() }
    }
}

impl Handles {
    fn get(&self, rank: usize) -> Option<u32> {
        match self {
            Handles::Near { base, offsets } => offsets.get(rank).map(|&offset| base + u32::from(offset)),
            Handles::Far(handles) => handles.get(rank).copied(),
        }
    }

    fn insert(&mut self, rank: usize, handle: u32) {
        if let Handles::Near { base, offsets } = self {
            if offsets.is_empty() {
                // The next ones may lie on either side.
                *base = handle.saturating_sub(u32::from(u16::MAX / 2)).min(u32::MAX - u32::from(u16::MAX));
            }
            match handle.checked_sub(*base).map(u16::try_from) {
                Some(Ok(offset)) => return offsets.insert(rank, offset),
                _ => *self = Handles::Far(offsets.iter().map(|&offset| *base + u32::from(offset)).collect()),
            }
        }
        if let Handles::Far(handles) = self {
            handles.insert(rank, handle);
        }
    }

    fn remove(&mut self, rank: usize) {
        match self {
            Handles::Near { offsets, .. } => remove_and_shrink(offsets, rank),
            Handles::Far(handles) => remove_and_shrink(handles, rank),
        }
    }

    /// Bytes of the list.
    fn bytes(&self) -> usize {
        match self {
            Handles::Near { offsets, .. } => offsets.capacity() * size_of::<u16>(),
            Handles::Far(handles) => handles.capacity() * size_of::<u32>(),
        }
    }
}

fn remove_and_shrink<T>(list: &mut Vec<T>, rank: usize) {
    list.remove(rank);
    if list.len() * 4 <= list.capacity() {
        list.shrink_to_fit();
    }
}

impl Page {
    fn has(&self, bit: u32) -> bool {
        self.present >> bit & 1 != 0
    }
    /// Where the handle of this bit lies, or would.
    fn rank(&self, bit: u32) -> usize {
        (self.present & ((1 << bit) - 1)).count_ones() as usize
    }
}

impl IdMap {
    fn split(id: u64) -> (u64, u32) {
        (id / IDS_PER_PAGE, (id % IDS_PER_PAGE) as u32)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Makes room for so many more ids in sequence at once.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.pages.reserve(count / IDS_PER_PAGE as usize + 1);
    }

    pub(crate) fn get(&self, id: u64) -> Option<u32> {
        let (number, bit) = Self::split(id);
        let page = self.pages.get(&number)?;
        if page.has(bit) { page.handles.get(page.rank(bit)) } else { None }
    }

    /// Whether the id was new; one that was not keeps its handle.
    pub(crate) fn insert(&mut self, id: u64, handle: u32) -> bool {
        let (number, bit) = Self::split(id);
        let page = self.pages.entry(number).or_default();
        if page.has(bit) {
            return false;
        }
        let before = page.handles.bytes();
        page.handles.insert(page.rank(bit), handle);
        page.present |= 1 << bit;
        // The wide form of few handles may take less room than what the narrow one had grown to.
        self.list_bytes = self.list_bytes + page.handles.bytes() - before;
        self.len += 1;
        true
    }

    pub(crate) fn remove(&mut self, id: u64) {
        let (number, bit) = Self::split(id);
        let Some(page) = self.pages.get_mut(&number) else { return };
        if !page.has(bit) {
            return;
        }
        let before = page.handles.bytes();
        page.handles.remove(page.rank(bit));
        page.present &= !(1 << bit);
        self.list_bytes -= before - page.handles.bytes();
        self.len -= 1;
        if page.present == 0 {
            self.list_bytes -= page.handles.bytes();
            self.pages.remove(&number);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        // A bucket has one byte of control, and an eighth of the buckets or more is empty.
        self.list_bytes + self.pages.capacity() * 8 / 7 * (size_of::<(u64, Page)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_map(
            runs in prop::collection::vec((0..500u64, 0..200u64, 1..3u64, any::<u32>()), 0..4),
            ops in prop::collection::vec((any::<bool>(), 0..1000u64, prop_oneof![0..600u32, any::<u32>()]), 0..2000),
        ) {
            let (mut map, mut model) = (IdMap::default(), BTreeMap::new());
            let sequences = runs.into_iter().flat_map(|(id, count, step, handle)| {
                (0..count).map(move |i| (true, id + i * step, handle.saturating_add(i as u32)))
            });
            // Some ids lie in sequence, some alone, some are negative numbers.
            let scattered = ops.into_iter().map(|(add, id, handle)| {
                (add, if id < 500 { id } else { id.wrapping_mul(0x9E37_79B9_7F4A_7C15) }, handle)
            });
            for (add, id, handle) in sequences.chain(scattered) {
                if add {
                    prop_assert_eq!(map.insert(id, handle), !model.contains_key(&id));
                    model.entry(id).or_insert(handle);
                } else {
                    map.remove(id);
                    model.remove(&id);
                }
                prop_assert_eq!(map.get(id), model.get(&id).copied());
            }
            prop_assert_eq!(map.len(), model.len());
            prop_assert_eq!(map.list_bytes, map.pages.values().map(|page| page.handles.bytes()).sum::<usize>());
            prop_assert!(model.iter().all(|(id, handle)| map.get(*id) == Some(*handle)));
        }
    }

    #[test]
    fn near_handles_cost_three_bytes_an_id_and_far_ones_five() {
        let far = |i: u64| (i as u32).wrapping_mul(0x9E37_79B9);
        for (step, near, most) in
            [(1, true, 3.3), (2, true, 4.5), (1, false, 5.6), (20, false, 30.0), (128, false, 130.0)]
        {
            let mut map = IdMap::default();
            (0..100_000)
                .for_each(|i| assert!(map.insert(16_386 + i * step, if near { i as u32 ^ 77 } else { far(i) })));
            let each = map.bytes() as f64 / 100_000.0;
            assert!(each < most, "{each} bytes for every {step}th id");
        }
    }
}
