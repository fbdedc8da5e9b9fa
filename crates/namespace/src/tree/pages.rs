//! Flat tables: a vector of fixed pages behind `Arc`. Cloning a table clones the page pointers only; a page is copied when
//! it is changed while a clone (a checkpoint) still holds it. Every large table of the namespace is one of these.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a page, at most: with the two counters of its `Arc`, 56 KiB, of which nine fill 512 KiB, where mimalloc cuts such
/// pieces from. Of 64 KiB seven would, and with huge pages the rest is resident too.
pub(crate) const PAGE_BYTES: usize = 56 * 1024 - 2 * size_of::<usize>();

/// Bytes of pages that were copied because a checkpoint held them, since the process began. Only ever read as a figure.
static COPIED_BYTES: AtomicU64 = AtomicU64::new(0);

/// How many bytes of pages were copied for checkpoints since the process began: what a checkpoint costs in memory is the difference
/// over it.
pub fn copied_page_bytes() -> u64 {
    COPIED_BYTES.load(Ordering::Relaxed)
}

/// Counts a page that is about to be changed, and so to be copied, while a checkpoint holds it.
#[inline]
fn count_copy<T: ?Sized>(page: &Arc<T>) {
    if Arc::strong_count(page) > 1 {
        COPIED_BYTES.fetch_add(size_of_val(&**page) as u64, Ordering::Relaxed);
    }
}

/// A page to change.
#[inline]
pub(super) fn own_page<T: Clone>(page: &mut Arc<[T]>) -> &mut [T] {
    count_copy(page);
    Arc::make_mut(page)
}

/// A growing table of `T`, indexed by `u32`.
#[derive(Clone, Debug)]
pub(crate) struct Paged<T> {
    pages: Vec<Arc<[T]>>,
    len: u32,
}

impl<T> Default for Paged<T> {
    fn default() -> Self {
        Paged { pages: Vec::new(), len: 0 }
    }
}

impl<T: Copy + Default> Paged<T> {
    const PER_PAGE: u32 = (PAGE_BYTES / size_of::<T>()) as u32;

    /// The entry at `index`.
    ///
    /// # Panics
    /// On an index that was never pushed: handles come from the tables themselves.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> &T {
        &self.pages[(index / Self::PER_PAGE) as usize][(index % Self::PER_PAGE) as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> &mut T {
        &mut own_page(&mut self.pages[(index / Self::PER_PAGE) as usize])[(index % Self::PER_PAGE) as usize]
    }

    /// Appends `value` and returns its index.
    pub(crate) fn push(&mut self, value: T) -> u32 {
        let index = self.len;
        if index.is_multiple_of(Self::PER_PAGE) {
            self.pages.push(core::iter::repeat_n(T::default(), Self::PER_PAGE as usize).collect());
        }
        self.len = index.checked_add(1).expect("a table holds at most 2^32 - 1 entries");
        *self.get_mut(index) = value;
        index
    }

    /// Entries that were pushed.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Bytes of all pages.
    pub(crate) fn bytes(&self) -> usize {
        self.pages.len() * (PAGE_BYTES + 2 * size_of::<usize>() + size_of::<Arc<[T]>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_the_old_values() {
        let mut table = Paged::<u64>::default();
        for i in 0..100_000u64 {
            assert_eq!(u64::from(table.push(i)), i);
        }
        let frozen = table.clone();
        let before = copied_page_bytes();
        *table.get_mut(77_777) = 1;
        assert!(copied_page_bytes() >= before + PAGE_BYTES as u64 / 2);
        assert_eq!((*frozen.get(77_777), *table.get(77_777)), (77_777, 1));
        assert_eq!(frozen.len, 100_000);
    }
}
