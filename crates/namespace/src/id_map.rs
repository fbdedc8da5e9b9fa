//! From 64-bit id to 32-bit handle. Ids are given out in sequence, so the map is one of pages of 128 ids: a bit for each id
//! that is there, and their handles without gaps. Handles of a page mostly lie near each other, or the table has less than 2^24
//! rows: they are offsets of two or three bytes. Dense ids cost about 3 or 4 bytes each, a lonely one about 80. Growing the map
//! never rehashes every id at once.

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

/// The handles of a page's ids, in the order of the ids: offsets to `base`, `width` bytes each, least significant first.
#[derive(Clone, Debug)]
struct Handles {
    base: u32,
    width: u8,
    offsets: Vec<u8>,
}

impl Default for Handles {
    fn default() -> Self {
        Handles { base: 0, width: 2, offsets: Vec::new() }
    }
}

impl Handles {
    fn width(&self) -> usize {
        usize::from(self.width)
    }

    /// The largest offset.
    fn reach(&self) -> u32 {
        u32::MAX >> (32 - 8 * self.width)
    }

    fn len(&self) -> usize {
        self.offsets.len() / self.width()
    }

    fn get(&self, rank: usize) -> Option<u32> {
        let at = rank * self.width();
        let mut bytes = [0; 4];
        bytes[..self.width()].copy_from_slice(self.offsets.get(at..at + self.width())?);
        Some(self.base.wrapping_add(u32::from_le_bytes(bytes)))
    }

    fn insert(&mut self, rank: usize, handle: u32) {
        if self.offsets.is_empty() {
            // The next ones may lie on either side.
            self.base = handle.saturating_sub(self.reach() / 2);
        }
        let offset = match handle.checked_sub(self.base) {
            Some(offset) if offset <= self.reach() => offset,
            _ => {
                self.widen(handle);
                handle - self.base
            }
        };
        // Full pages have no room to spare.
        if self.offsets.len() == self.offsets.capacity() {
            let count = (self.len() * 2).clamp(4, IDS_PER_PAGE as usize);
            self.offsets.reserve_exact(count * self.width() - self.offsets.len());
        }
        let at = rank * self.width();
        let bytes = offset.to_le_bytes();
        if at == self.offsets.len() {
            self.offsets.extend_from_slice(&bytes[..usize::from(self.width)]);
        } else {
            self.offsets.splice(at..at, bytes.into_iter().take(self.width()));
        }
    }

    /// Takes wider offsets, so that `handle` is one of them.
    fn widen(&mut self, handle: u32) {
        let handles: Vec<u32> = (0..self.len()).filter_map(|rank| self.get(rank)).collect();
        let (least, most) = handles.iter().fold((handle, handle), |(least, most), &h| (least.min(h), most.max(h)));
        while self.width < 4 && most - least > self.reach() {
            self.width += 1;
        }
        self.base = least.saturating_sub((self.reach() - (most - least)) / 2);
        let room = (handles.len() + 1).next_power_of_two().min(IDS_PER_PAGE as usize) * self.width();
        self.offsets = Vec::with_capacity(room);
        for old in handles {
            self.offsets.extend_from_slice(&(old - self.base).to_le_bytes()[..usize::from(self.width)]);
        }
    }

    fn remove(&mut self, rank: usize) {
        let at = rank * self.width();
        self.offsets.drain(at..at + self.width());
        if self.offsets.len() * 4 <= self.offsets.capacity() {
            self.offsets.shrink_to_fit();
        }
    }

    /// Bytes of the list.
    fn bytes(&self) -> usize {
        self.offsets.capacity()
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
            ops in prop::collection::vec((any::<bool>(), 0..1000u64, prop_oneof![0..600u32, 0..1u32 << 24, any::<u32>(), u32::MAX - 9..=u32::MAX]), 0..2000),
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
    fn near_handles_cost_three_bytes_an_id_those_of_small_tables_four_and_others_five() {
        let far = |i: u64, bits: u32| (i as u32).wrapping_mul(0x9E37_79B9) >> (32 - bits);
        for (step, bits, most) in
            [(1, 8, 3.3), (2, 8, 4.5), (1, 24, 4.4), (1, 32, 5.4), (20, 32, 30.0), (128, 32, 130.0)]
        {
            let mut map = IdMap::default();
            (0..100_000).for_each(|i| {
                let handle = if bits == 8 { i as u32 ^ 77 } else { far(i, bits) };
                assert!(map.insert(16_386 + i * step, handle));
            });
            let each = map.bytes() as f64 / 100_000.0;
            assert!(each < most, "{each} bytes for every {step}th id, handles of {bits} bits");
        }
    }
}
