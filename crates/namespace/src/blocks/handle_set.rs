//! A compressed set of 32-bit handles: which blocks a storage holds, which blocks wait in a queue. For each 65,536 handles
//! either a sorted list (2 bytes each) or, when dense, a bitmap (8 KiB).

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

#[derive(Clone, Debug, Default)]
pub(super) struct HandleSet {
    chunks: BTreeMap<u16, Chunk>,
    len: usize,
}

#[derive(Clone, Debug)]
enum Chunk {
    List(Vec<u16>),
    Bits(Box<[u64; 1024]>, u32),
}

/// A list longer than this takes more room than the bitmap.
const LIST_MAX: usize = 4096;

impl HandleSet {
    /// Whether the handle was new.
    pub fn insert(&mut self, handle: u32) -> bool {
        let low = handle as u16;
        let chunk = self.chunks.entry((handle >> 16) as u16).or_insert_with(|| Chunk::List(Vec::new()));
        let added = match chunk {
            Chunk::List(list) => match list.last() {
                Some(last) if *last >= low => match list.binary_search(&low) {
                    Ok(_) => false,
                    Err(at) => {
                        list.insert(at, low);
                        true
                    }
                },
                _ => {
                    list.push(low);
                    true
                }
            },
            Chunk::Bits(bits, count) => {
                let (word, bit) = (usize::from(low) / 64, 1u64 << (low % 64));
                let added = bits[word] & bit == 0;
                bits[word] |= bit;
                *count += u32::from(added);
                added
            }
        };
        if let Chunk::List(list) = chunk
            && list.len() > LIST_MAX
        {
            let mut bits = Box::new([0u64; 1024]);
            for low in list.iter() {
                bits[usize::from(*low) / 64] |= 1 << (low % 64);
            }
            *chunk = Chunk::Bits(bits, list.len() as u32);
        }
        self.len += usize::from(added);
        added
    }

    /// Whether the handle was there.
    pub fn remove(&mut self, handle: u32) -> bool {
        let (high, low) = ((handle >> 16) as u16, handle as u16);
        let Some(chunk) = self.chunks.get_mut(&high) else { return false };
        let (removed, empty) = match chunk {
            Chunk::List(list) => match list.binary_search(&low) {
                Ok(at) => {
                    list.remove(at);
                    (true, list.is_empty())
                }
                Err(_) => (false, false),
            },
            Chunk::Bits(bits, count) => {
                let (word, bit) = (usize::from(low) / 64, 1u64 << (low % 64));
                let removed = bits[word] & bit != 0;
                bits[word] &= !bit;
                *count -= u32::from(removed);
                (removed, *count == 0)
            }
        };
        if empty {
            self.chunks.remove(&high);
        }
        self.len -= usize::from(removed);
        removed
    }

    pub fn contains(&self, handle: u32) -> bool {
        let low = handle as u16;
        match self.chunks.get(&((handle >> 16) as u16)) {
            None => false,
            Some(Chunk::List(list)) => list.binary_search(&low).is_ok(),
            Some(Chunk::Bits(bits, _)) => bits[usize::from(low) / 64] & (1 << (low % 64)) != 0,
        }
    }

    /// The smallest handle at or after `from`.
    pub fn next(&self, from: u32) -> Option<u32> {
        let first = (from >> 16) as u16;
        for (high, chunk) in self.chunks.range(first..) {
            let low = if *high == first { from as u16 } else { 0 };
            let found = match chunk {
                Chunk::List(list) => list.get(list.partition_point(|x| *x < low)).copied(),
                Chunk::Bits(bits, _) => next_bit(bits, low),
            };
            if let Some(found) = found {
                return Some(u32::from(*high) << 16 | u32::from(found));
            }
        }
        None
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter_from(0)
    }

    /// The handles from one on.
    pub fn iter_from(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let mut from = Some(first);
        core::iter::from_fn(move || {
            let found = self.next(from?)?;
            from = found.checked_add(1);
            Some(found)
        })
    }

    /// Bytes on the heap, about.
    pub fn memory(&self) -> usize {
        self.chunks
            .values()
            .map(|c| match c {
                Chunk::List(list) => list.capacity() * 2 + 40,
                Chunk::Bits(..) => 8192 + 40,
            })
            .sum()
    }
}

fn next_bit(bits: &[u64; 1024], from: u16) -> Option<u16> {
    let start = usize::from(from) / 64;
    for (i, word) in bits.iter().enumerate().skip(start) {
        let word = if i == start { word & (u64::MAX << (from % 64)) } else { *word };
        if word != 0 {
            return Some((i * 64) as u16 + word.trailing_zeros() as u16);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn behaves_like_a_btree_set(ops in proptest::collection::vec((0u8..3, prop_oneof![0u32..9000, 60_000u32..70_000, any::<u32>()]), 1..400)) {
            let (mut set, mut model) = (HandleSet::default(), BTreeSet::new());
            for handle in 0..4090 { set.insert(handle); model.insert(handle); }
            for (what, handle) in ops {
                match what {
                    0 => prop_assert_eq!(set.remove(handle), model.remove(&handle)),
                    1 => prop_assert_eq!(set.insert(handle), model.insert(handle)),
                    _ => prop_assert_eq!(set.next(handle), model.range(handle..).next().copied()),
                }
                prop_assert_eq!(set.contains(handle), model.contains(&handle));
            }
            prop_assert_eq!(set.len(), model.len());
            prop_assert!(set.iter().eq(model.iter().copied()));
        }
    }
}
