//! A directory's children in name order: a B+ tree of handles whose keys are the names of the inodes themselves. A small
//! directory is one leaf just large enough. Inner nodes count what lies below, so that "how many after this one" is a
//! descent, not a walk. Order is Hadoop's: names compare as signed bytes.

use super::arena::{Arena, size_class};
use super::handles::InodeHandle;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Handles in a leaf, at most.
const LEAF_MAX: usize = 127;
/// Children of an inner node, at most.
const INNER_MAX: usize = 63;
/// Words of an entry of an inner node: the child's reference, the first handle below it, the handles below it.
const ENTRY: usize = 3;
/// Set in the head of an inner node; the other bits are the length.
const INNER: u32 = 1 << 31;

/// The longest node.
pub(crate) const NODE_MAX: usize = 1 + INNER_MAX * ENTRY;

/// Words of a leaf that holds so many handles. A long one grows by 16 words, since most leaves of large trees are long.
const fn leaf_words(handles: usize) -> usize {
    let words = handles + 1;
    if words <= 32 { size_class(words) } else { words.next_multiple_of(16) }
}

/// A directory without children has no node.
pub(crate) const NO_NODE: u32 = u32::MAX;

/// Name order of HDFS: bytes compare as Java's signed bytes, so names that begin with a non-ASCII character come first.
/// Source: `DFSUtil.compareBytes`, Hadoop 3.5.0.
pub fn compare_names(a: &[u8], b: &[u8]) -> Ordering {
    // Eight bytes at once, with the sign bits turned over: siblings often share long prefixes.
    const SIGNS: u64 = 0x8080_8080_8080_8080;
    let (mut a_rest, mut b_rest) = (a, b);
    while let (Some((x, a_next)), Some((y, b_next))) = (a_rest.split_first_chunk(), b_rest.split_first_chunk()) {
        if x != y {
            return (u64::from_be_bytes(*x) ^ SIGNS).cmp(&(u64::from_be_bytes(*y) ^ SIGNS));
        }
        (a_rest, b_rest) = (a_next, b_next);
    }
    match a_rest.iter().zip(b_rest).find(|(x, y)| x != y) {
        Some((&x, &y)) => (x as i8).cmp(&(y as i8)),
        None => a.len().cmp(&b.len()),
    }
}

/// Gives the name of a handle while nodes are searched.
pub(crate) trait NameOf {
    fn name_of(&self, handle: InodeHandle) -> &[u8];
}

/// The nodes of all directories.
#[derive(Clone, Default)]
pub(crate) struct Children(Arena<u32, 1>);

/// What became of a node that a handle was put into.
struct Inserted {
    node: u32,
    first: u32,
    /// A node split off to the right, with its first handle and its count.
    split: Option<[u32; ENTRY]>,
}

impl Children {
    /// The child called `name`.
    pub(crate) fn find(&self, root: u32, name: &[u8], names: &impl NameOf) -> Option<InodeHandle> {
        let mut node = root;
        if node == NO_NODE {
            return None;
        }
        while self.is_inner(node) {
            node = self.entry(node, self.child_index(node, name, names))[0];
        }
        let leaf = self.leaf(node);
        leaf.binary_search_by(|&h| compare_names(names.name_of(InodeHandle(h)), name))
            .ok()
            .map(|i| InodeHandle(leaf[i]))
    }

    /// Puts `handle` into the tree; returns the new root, or nothing (and changes nothing) when its name is there already.
    pub(crate) fn insert(&mut self, root: u32, handle: InodeHandle, names: &impl NameOf) -> Option<u32> {
        if root == NO_NODE {
            return Some(self.new_leaf(&[handle.0]));
        }
        let name = names.name_of(handle);
        let done = self.insert_below(root, handle, name, names)?;
        Some(match done.split {
            None => done.node,
            Some(right) => {
                let left = [done.node, done.first, self.count(done.node)];
                self.new_inner(&[left, right].concat())
            }
        })
    }

    /// A tree of handles that are in name order already, each once: what a loader has. Nodes come out full.
    pub(crate) fn build(&mut self, handles: &[u32]) -> u32 {
        if handles.is_empty() {
            return NO_NODE;
        }
        let leaf = |children: &mut Self, part: &[u32]| [children.new_leaf(part), part[0], part.len() as u32];
        let mut level: Vec<[u32; ENTRY]> = handles.chunks(LEAF_MAX).map(|part| leaf(self, part)).collect();
        while level.len() > 1 {
            let inner = |children: &mut Self, part: &[[u32; ENTRY]]| {
                let below = part.iter().map(|entry| entry[2]).sum();
                [children.new_inner(part.as_flattened()), part[0][1], below]
            };
            level = level.chunks(INNER_MAX).map(|part| inner(self, part)).collect();
        }
        level[0][0]
    }

    /// Takes the child called `name` out; returns the new root.
    pub(crate) fn remove(&mut self, root: u32, name: &[u8], names: &impl NameOf) -> u32 {
        let mut root = self.remove_below(root, name, names);
        while root != NO_NODE && self.is_inner(root) && self.len(root) == 1 {
            let only = self.entry(root, 0)[0];
            self.release(root);
            root = only;
        }
        root
    }

    /// Takes the last leaf out of a tree that is being thrown away; returns the new root and the leaf's handles.
    pub(crate) fn take_last_leaf(&mut self, node: u32) -> (u32, Vec<u32>) {
        if !self.is_inner(node) {
            let handles = self.leaf(node).to_vec();
            self.release(node);
            return (NO_NODE, handles);
        }
        let last = self.len(node) - 1;
        let [child, first, count] = self.entry(node, last);
        let (child, handles) = self.take_last_leaf(child);
        if child != NO_NODE {
            self.set_entry(node, last, [child, first, count - handles.len() as u32]);
            return (node, handles);
        }
        self.remove_entry(node, last);
        if self.len(node) > 0 {
            return (node, handles);
        }
        self.release(node);
        (NO_NODE, handles)
    }

    /// A cursor at the first child, or after `start_after` if it is not empty (whether or not that name exists).
    pub(crate) fn iter(&self, root: u32, start_after: &[u8], names: &impl NameOf) -> ChildIter<'_> {
        let mut iter = ChildIter { children: self, stack: Vec::new(), leaf: &[], remaining: 0 };
        if root == NO_NODE {
            return iter;
        }
        let mut node = root;
        let mut skipped = 0;
        while self.is_inner(node) {
            let i = if start_after.is_empty() { 0 } else { self.child_index(node, start_after, names) };
            skipped += (0..i).map(|j| self.entry(node, j)[2]).sum::<u32>();
            iter.stack.push((node, i + 1));
            node = self.entry(node, i)[0];
        }
        let leaf = self.leaf(node);
        let from = if start_after.is_empty() {
            0
        } else {
            leaf.partition_point(|&h| compare_names(names.name_of(InodeHandle(h)), start_after) != Ordering::Greater)
        };
        iter.leaf = &leaf[from..];
        iter.remaining = self.count(root) - skipped - from as u32;
        iter
    }

    pub(crate) fn arena(&self) -> &Arena<u32, 1> {
        &self.0
    }

    pub(crate) fn arena_mut(&mut self) -> &mut Arena<u32, 1> {
        &mut self.0
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn head(&self, node: u32) -> u32 {
        self.0.tail(node)[0]
    }
    fn is_inner(&self, node: u32) -> bool {
        self.head(node) & INNER != 0
    }
    fn len(&self, node: u32) -> usize {
        (self.head(node) & !INNER) as usize
    }
    fn leaf(&self, node: u32) -> &[u32] {
        let run = self.0.tail(node);
        &run[1..=run[0] as usize]
    }
    fn entry(&self, node: u32, i: usize) -> [u32; ENTRY] {
        let at = 1 + i * ENTRY;
        let run = self.0.tail(node);
        [run[at], run[at + 1], run[at + 2]]
    }
    fn set_entry(&mut self, node: u32, i: usize, entry: [u32; ENTRY]) {
        let at = 1 + i * ENTRY;
        self.0.tail_mut(node)[at..at + ENTRY].copy_from_slice(&entry);
    }
    /// Handles below a node.
    fn count(&self, node: u32) -> u32 {
        if self.is_inner(node) { (0..self.len(node)).map(|i| self.entry(node, i)[2]).sum() } else { self.head(node) }
    }
    fn first(&self, node: u32) -> u32 {
        self.0.tail(node)[if self.is_inner(node) { 2 } else { 1 }]
    }

    fn new_leaf(&mut self, handles: &[u32]) -> u32 {
        let node = self.0.allocate(leaf_words(handles.len()));
        let run = self.0.tail_mut(node);
        run[0] = handles.len() as u32;
        run[1..=handles.len()].copy_from_slice(handles);
        node
    }
    /// Inner nodes are allocated for [`INNER_MAX`] entries: only directories of more than a leaf have any.
    fn new_inner(&mut self, words: &[u32]) -> u32 {
        let node = self.0.allocate(1 + INNER_MAX * ENTRY);
        let run = self.0.tail_mut(node);
        run[0] = (words.len() / ENTRY) as u32 | INNER;
        run[1..=words.len()].copy_from_slice(words);
        node
    }
    fn release(&mut self, node: u32) {
        let capacity = if self.is_inner(node) { 1 + INNER_MAX * ENTRY } else { leaf_words(self.len(node)) };
        self.0.release(node, capacity);
    }

    /// Which entry's subtree holds `name`, if any does.
    fn child_index(&self, node: u32, name: &[u8], names: &impl NameOf) -> usize {
        let run = self.0.tail(node);
        let (mut low, mut high) = (1, self.len(node));
        while low < high {
            let middle = (low + high) / 2;
            let first = InodeHandle(run[2 + middle * ENTRY]);
            if compare_names(names.name_of(first), name) == Ordering::Greater {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low - 1
    }

    fn insert_below(&mut self, node: u32, handle: InodeHandle, name: &[u8], names: &impl NameOf) -> Option<Inserted> {
        if !self.is_inner(node) {
            return self.insert_in_leaf(node, handle, name, names);
        }
        let i = self.child_index(node, name, names);
        let old = self.entry(node, i);
        let done = self.insert_below(old[0], handle, name, names)?;
        let right_count = done.split.map_or(0, |split| split[2]);
        self.set_entry(node, i, [done.node, done.first, old[2] + 1 - right_count]);
        let first = self.first(node);
        let Some(right) = done.split else { return Some(Inserted { node, first, split: None }) };
        let len = self.len(node);
        if len < INNER_MAX {
            let at = 1 + (i + 1) * ENTRY;
            let run = self.0.tail_mut(node);
            run.copy_within(at..1 + len * ENTRY, at + ENTRY);
            run[at..at + ENTRY].copy_from_slice(&right);
            run[0] += 1;
            return Some(Inserted { node, first, split: None });
        }
        let mut words = self.0.tail(node)[1..1 + len * ENTRY].to_vec();
        words.splice((i + 1) * ENTRY..(i + 1) * ENTRY, right);
        let cut = Self::cut(len + 1, i + 1) * ENTRY;
        let split = self.new_inner(&words[cut..]);
        let run = self.0.tail_mut(node);
        run[1..=cut].copy_from_slice(&words[..cut]);
        run[0] = (cut / ENTRY) as u32 | INNER;
        Some(Inserted { node, first, split: Some([split, words[cut + 1], self.count(split)]) })
    }

    fn insert_in_leaf(&mut self, node: u32, handle: InodeHandle, name: &[u8], names: &impl NameOf) -> Option<Inserted> {
        let leaf = self.leaf(node);
        let len = leaf.len();
        let compare = |&h: &u32| compare_names(names.name_of(InodeHandle(h)), name);
        let i = match compare(&leaf[len - 1]) {
            Ordering::Less => len,
            Ordering::Equal => return None,
            Ordering::Greater => leaf.binary_search_by(compare).err()?,
        };
        if len < LEAF_MAX && leaf_words(len) == leaf_words(len + 1) {
            let run = self.0.tail_mut(node);
            run.copy_within(1 + i..1 + len, 2 + i);
            run[1 + i] = handle.0;
            run[0] += 1;
            return Some(Inserted { node, first: self.first(node), split: None });
        }
        let mut handles = leaf.to_vec();
        handles.insert(i, handle.0);
        self.release(node);
        if len < LEAF_MAX {
            return Some(Inserted { node: self.new_leaf(&handles), first: handles[0], split: None });
        }
        let cut = Self::cut(handles.len(), i);
        let node = self.new_leaf(&handles[..cut]);
        let right = self.new_leaf(&handles[cut..]);
        Some(Inserted { node, first: handles[0], split: Some([right, handles[cut], (handles.len() - cut) as u32]) })
    }

    /// Where to cut a full node of `len` entries into which entry `new` was put: in the middle, but names that arrive in
    /// order (a loader, `part-00000` and so on) leave full nodes behind.
    fn cut(len: usize, new: usize) -> usize {
        if new + 1 == len { new } else { len / 2 }
    }

    /// Takes `name` out of the subtree; returns the node, which may have moved, or [`NO_NODE`] when nothing is left.
    fn remove_below(&mut self, node: u32, name: &[u8], names: &impl NameOf) -> u32 {
        if node == NO_NODE {
            return NO_NODE;
        }
        if !self.is_inner(node) {
            let mut handles = self.leaf(node).to_vec();
            let found = handles.binary_search_by(|&h| compare_names(names.name_of(InodeHandle(h)), name));
            let Ok(i) = found else { return node };
            handles.remove(i);
            if leaf_words(handles.len()) == leaf_words(handles.len() + 1) && !handles.is_empty() {
                let run = self.0.tail_mut(node);
                run[1..=handles.len()].copy_from_slice(&handles);
                run[0] -= 1;
                return node;
            }
            self.release(node);
            return if handles.is_empty() { NO_NODE } else { self.new_leaf(&handles) };
        }
        let i = self.child_index(node, name, names);
        let old = self.entry(node, i);
        let child = self.remove_below(old[0], name, names);
        if child == NO_NODE {
            self.remove_entry(node, i);
            if self.len(node) == 0 {
                self.release(node);
                return NO_NODE;
            }
            return node;
        }
        self.set_entry(node, i, [child, self.first(child), self.count(child)]);
        self.merge(node, i);
        node
    }

    fn remove_entry(&mut self, node: u32, i: usize) {
        let len = self.len(node);
        let run = self.0.tail_mut(node);
        run.copy_within(1 + (i + 1) * ENTRY..1 + len * ENTRY, 1 + i * ENTRY);
        run[0] -= 1;
    }

    /// Joins child `i` with a neighbour when it has shrunk to a quarter and both fit in three quarters of a node.
    fn merge(&mut self, node: u32, i: usize) {
        let child = self.entry(node, i)[0];
        let max = if self.is_inner(child) { INNER_MAX } else { LEAF_MAX };
        if self.len(child) > max / 4 || self.len(node) < 2 {
            return;
        }
        let i = if i + 1 < self.len(node) { i } else { i - 1 };
        let (left, right) = (self.entry(node, i), self.entry(node, i + 1));
        if self.len(left[0]) + self.len(right[0]) > max / 4 * 3 {
            return;
        }
        let joined = if self.is_inner(child) {
            let words = |n: u32| self.0.tail(n)[1..1 + self.len(n) * ENTRY].to_vec();
            let both = [words(left[0]), words(right[0])].concat();
            self.release(left[0]);
            self.release(right[0]);
            self.new_inner(&both)
        } else {
            let both = [self.leaf(left[0]), self.leaf(right[0])].concat();
            self.release(left[0]);
            self.release(right[0]);
            self.new_leaf(&both)
        };
        self.set_entry(node, i, [joined, left[1], left[2] + right[2]]);
        self.remove_entry(node, i + 1);
    }
}

/// Handles of a directory in name order.
pub struct ChildIter<'a> {
    children: &'a Children,
    /// Inner nodes on the way down, with the entry to visit next.
    stack: Vec<(u32, usize)>,
    leaf: &'a [u32],
    remaining: u32,
}

impl ChildIter<'_> {
    /// Children not yet lent.
    pub fn remaining(&self) -> u32 {
        self.remaining
    }
}

impl Iterator for ChildIter<'_> {
    type Item = InodeHandle;

    fn next(&mut self) -> Option<InodeHandle> {
        while self.leaf.is_empty() {
            let (node, i) = self.stack.pop()?;
            if i >= self.children.len(node) {
                continue;
            }
            self.stack.push((node, i + 1));
            let mut down = self.children.entry(node, i)[0];
            while self.children.is_inner(down) {
                self.stack.push((down, 1));
                down = self.children.entry(down, 0)[0];
            }
            self.leaf = self.children.leaf(down);
        }
        let (&first, rest) = self.leaf.split_first()?;
        self.leaf = rest;
        self.remaining -= 1;
        Some(InodeHandle(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use alloc::string::String;
    use proptest::prelude::*;

    struct Table(Vec<Vec<u8>>);
    impl NameOf for Table {
        fn name_of(&self, handle: InodeHandle) -> &[u8] {
            &self.0[handle.0 as usize]
        }
    }

    #[test]
    fn signed_order() {
        let mut names = ["a", "Z", "é", "日本", "~", "", "ab", "0"].map(String::from).to_vec();
        names.sort_by(|a, b| compare_names(a.as_bytes(), b.as_bytes()));
        assert_eq!(names, ["", "é", "日本", "0", "Z", "a", "ab", "~"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
        #[test]
        fn behaves_as_a_sorted_map(
            keys in proptest::collection::vec(0u32..3000, 1..4000),
            in_order in any::<bool>(),
        ) {
            let mut keys = keys;
            if in_order { keys.sort_unstable(); }
            let table = Table((0..3000u32).map(|k| if k % 7 == 0 { alloc::format!("é{k}") } else { alloc::format!("n{k:05}") }.into_bytes()).collect());
            let mut tree = Children::default();
            let mut root = NO_NODE;
            // Key: names made unsigned so that a plain map orders them as signed bytes.
            let key = |k: u32| table.0[k as usize].iter().map(|b| b ^ 0x80).collect::<Vec<u8>>();
            let mut model = BTreeMap::new();
            for &k in &keys {
                let name = table.0[k as usize].clone();
                if model.remove(&key(k)).is_some() {
                    root = tree.remove(root, &name, &table);
                    prop_assert_eq!(tree.find(root, &name, &table), None);
                } else {
                    model.insert(key(k), k);
                    root = tree.insert(root, InodeHandle(k), &table).unwrap();
                    prop_assert_eq!(tree.insert(root, InodeHandle(k), &table), None);
                    prop_assert_eq!(tree.find(root, &name, &table), Some(InodeHandle(k)));
                }
            }
            let all: Vec<u32> = tree.iter(root, b"", &table).map(|h| h.0).collect();
            let built = tree.build(&all);
            prop_assert_eq!(tree.iter(built, b"", &table).map(|h| h.0).collect::<Vec<_>>(), all.clone());
            prop_assert!(all.iter().all(|&h| tree.find(built, &table.0[h as usize], &table) == Some(InodeHandle(h))));
            prop_assert_eq!(&all, &model.values().copied().collect::<Vec<_>>());
            for k in [0, 7, 1500, 2999] {
                let iter = tree.iter(root, &table.0[k as usize], &table);
                let expect: Vec<u32> = model.range(key(k)..).filter(|(_, v)| **v != k).map(|(_, v)| *v).collect();
                prop_assert_eq!(iter.remaining() as usize, expect.len());
                prop_assert_eq!(iter.map(|h| h.0).collect::<Vec<_>>(), expect);
            }
            let middle: Vec<u32> = model.values().copied().collect();
            for k in middle {
                root = tree.remove(root, &table.0[k as usize], &table);
            }
            prop_assert_eq!(root, NO_NODE);
        }
    }
}
