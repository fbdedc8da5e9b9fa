//! From 64-bit id to 32-bit handle. Ids are given out in sequence, so the map is one of pages of 128 ids: a bit for each id
//! that is there, and their handles without gaps. Dense ids cost about 5 bytes each, a lonely one about 80, and growing it
//! never rehashes every id at once.

use alloc::vec::Vec;
use hashbrown::HashMap;

const IDS_PER_PAGE: u64 = u128::BITS as u64;

#[derive(Clone, Debug, Default)]
pub(crate) struct IdMap {
    pages: HashMap<u64, Page>,
    len: usize,
    /// Handles that all pages have room for.
    capacity: usize,
}

#[derive(Clone, Debug, Default)]
struct Page {
    present: u128,
    handles: Vec<u32>,
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
        if page.has(bit) { page.handles.get(page.rank(bit)).copied() } else { None }
    }

    /// Whether the id was new; one that was not keeps its handle.
    pub(crate) fn insert(&mut self, id: u64, handle: u32) -> bool {
        let (number, bit) = Self::split(id);
        let page = self.pages.entry(number).or_default();
        if page.has(bit) {
            return false;
        }
        let (rank, before) = (page.rank(bit), page.handles.capacity());
        page.present |= 1 << bit;
        page.handles.insert(rank, handle);
        self.capacity += page.handles.capacity() - before;
        self.len += 1;
        true
    }

    pub(crate) fn remove(&mut self, id: u64) {
        let (number, bit) = Self::split(id);
        let Some(page) = self.pages.get_mut(&number) else { return };
        if !page.has(bit) {
            return;
        }
        let (rank, before) = (page.rank(bit), page.handles.capacity());
        page.handles.remove(rank);
        page.present &= !(1 << bit);
        self.len -= 1;
        if page.handles.len() * 4 <= page.handles.capacity() {
            page.handles.shrink_to_fit();
        }
        self.capacity -= before - page.handles.capacity();
        if page.present == 0 {
            self.pages.remove(&number);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        // A bucket has one byte of control, and an eighth of the buckets or more is empty.
        self.capacity * size_of::<u32>() + self.pages.capacity() * 8 / 7 * (size_of::<(u64, Page)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_map(ops in prop::collection::vec((any::<bool>(), 0..1000u64, any::<u32>()), 0..2000)) {
            let (mut map, mut model) = (IdMap::default(), BTreeMap::new());
            for (add, id, handle) in ops {
                // Some ids lie in sequence, some alone, some are negative numbers.
                let id = if id < 500 { id } else { id.wrapping_mul(0x9E37_79B9_7F4A_7C15) };
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
            prop_assert_eq!(map.capacity, map.pages.values().map(|page| page.handles.capacity()).sum::<usize>());
            prop_assert!(model.iter().all(|(id, handle)| map.get(*id) == Some(*handle)));
        }
    }

    #[test]
    fn dense_ids_cost_five_bytes_and_lonely_ones_eighty() {
        for (step, most) in [(1, 5.6), (2, 8.0), (20, 30.0), (128, 130.0)] {
            let mut map = IdMap::default();
            (0..100_000).for_each(|i| assert!(map.insert(16_386 + i * step, i as u32)));
            let each = map.bytes() as f64 / 100_000.0;
            assert!(each < most, "{each} bytes for every {step}th id");
        }
    }
}
