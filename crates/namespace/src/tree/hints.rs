//! Where directories were found last. A path of fifteen components costs fifteen searches on the way down; a guess by the
//! whole path costs one comparison a component on the way up. A guess is held against the tree before it is believed, so
//! that nothing ever has to be taken back.

use super::{InodeHandle, Tables, Tree};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

/// Guesses kept, at most: 8 bytes each.
const SLOTS_MAX: usize = 1 << 16;
const SLOTS_MIN: usize = 1 << 8;
/// Directories guessed for one path, from its end upwards, before the search begins at the root.
const GUESSES: usize = 4;

/// Guesses by the hash of a path. Readers write them too, hence atomics; one that is overwritten or stale is only a miss.
#[derive(Default)]
pub(super) struct PathHints {
    /// Half of the path's hash, and the handle. A power of two of them.
    slots: Vec<AtomicU64>,
}

impl PathHints {
    /// Has room for a tree of so many directories. What was known is forgotten when the room grows.
    pub(super) fn fit(&mut self, directories: usize) {
        if directories > self.slots.len() && self.slots.len() < SLOTS_MAX {
            let len = (directories * 2).next_power_of_two().clamp(SLOTS_MIN, SLOTS_MAX);
            self.slots = (0..len).map(|_| AtomicU64::new(0)).collect();
        }
    }

    fn slot(&self, hash: u64) -> Option<&AtomicU64> {
        self.slots.get(hash as usize & self.slots.len().wrapping_sub(1))
    }

    fn get(&self, hash: u64) -> Option<InodeHandle> {
        let entry = self.slot(hash)?.load(Ordering::Relaxed);
        (entry >> 32 == hash >> 32).then_some(InodeHandle(entry as u32))
    }

    fn put(&self, hash: u64, handle: InodeHandle) {
        if let Some(slot) = self.slot(hash) {
            slot.store(hash >> 32 << 32 | u64::from(handle.0), Ordering::Relaxed);
        }
    }
}

/// Of a path's bytes, eight at once. Only a guess depends on it.
fn hash(path: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = path.as_chunks::<8>();
    let hash = words.iter().fold(path.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let hash = mix(hash, rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    hash ^ hash >> 29
}

impl Tree {
    /// The directory at an absolute path without empty components, if it was met lately and is still there. Absence says
    /// nothing.
    pub(crate) fn remembered(&self, path: &str) -> Option<InodeHandle> {
        let handle = self.hints.get(hash(path.as_bytes()))?;
        self.is_directory_at(handle, path.as_bytes()).then_some(handle)
    }

    /// `handle` is the directory at `path`.
    pub(crate) fn remember(&self, path: &str, handle: InodeHandle) {
        self.hints.put(hash(path.as_bytes()), handle);
    }

    /// The inode at an absolute path, without any check. Empty components are skipped.
    pub fn lookup(&self, path: &str) -> Option<InodeHandle> {
        let (parent, name) = path.rsplit_once('/')?;
        if parent.is_empty() || name.is_empty() {
            return self.tables.lookup(path);
        }
        self.child(self.lookup_directory(parent)?, name.as_bytes())
    }

    /// As [`Tree::lookup`], for a directory that more lookups will go through: it and those above it are remembered.
    pub(crate) fn lookup_directory(&self, path: &str) -> Option<InodeHandle> {
        if !path.starts_with('/') {
            return None;
        }
        let (mut at, mut end) = (InodeHandle::ROOT, path.len());
        for _ in 0..GUESSES {
            if end == 0 {
                break;
            }
            if let Some(directory) = self.remembered(&path[..end]) {
                at = directory;
                break;
            }
            end = path[..end].rfind('/').unwrap_or(0);
        }
        if at == InodeHandle::ROOT {
            end = 0;
        }
        for component in path[end..].split('/').skip(1) {
            end += 1 + component.len();
            if !component.is_empty() {
                at = self.child(at, component.as_bytes())?;
                self.remember(&path[..end], at);
            }
        }
        self.inode(at).is_directory().then_some(at)
    }
}

impl Tables {
    /// Whether the names from `handle` up to the root are those of `path`.
    fn is_directory_at(&self, handle: InodeHandle, path: &[u8]) -> bool {
        let mut rest = path;
        let mut at = handle;
        // A guess is older than the tree: its row may have been freed, and used again for anything.
        if !self.inodes.get(at.0).is_directory() {
            return false;
        }
        while at != InodeHandle::ROOT {
            let view = self.inode(at);
            let above = rest.strip_suffix(view.name()).and_then(|above| above.strip_suffix(b"/"));
            let (Some(above), Some(parent)) = (above, view.parent()) else { return false };
            (rest, at) = (above, parent);
        }
        rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NewInode, Tree};
    use super::*;
    use alloc::format;
    use surus_types::{FsPermission, InodeId, PermissionStatus};

    fn directory(tree: &mut Tree, parent: InodeHandle, name: &str, id: u64) -> InodeHandle {
        let permission = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o755) };
        let new = NewInode { id: InodeId(id), permission: &permission, modification_time: 0, access_time: 0 };
        tree.add_directory(parent, name.as_bytes(), &new).unwrap()
    }

    #[test]
    fn a_guess_is_believed_only_while_it_holds() {
        let root = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o755) };
        let mut tree = Tree::new(&root, 0);
        let a = directory(&mut tree, InodeHandle::ROOT, "a", 20_000);
        let b = directory(&mut tree, a, "b", 20_001);
        let c = directory(&mut tree, b, "c", 20_002);
        assert_eq!(tree.remembered("/a/b"), None);
        assert_eq!(tree.lookup("/a/b/c"), Some(c));
        assert_eq!(tree.remembered("/a/b"), Some(b));
        // What a path ends with is not what it is.
        assert_eq!(tree.remembered("/x/a/b"), None);
        assert!(
            !tree.is_directory_at(b, b"/x/a/b") && !tree.is_directory_at(b, b"a/b") && !tree.is_directory_at(b, b"/b")
        );
        // Renamed, above and itself.
        tree.detach(a);
        assert_eq!(tree.remembered("/a/b"), None);
        tree.reattach(a, InodeHandle::ROOT, b"z").unwrap();
        assert_eq!((tree.lookup("/a/b/c"), tree.lookup("/z/b/c")), (None, Some(c)));
        // Freed, and its row used again.
        tree.detach(c);
        tree.free(c);
        tree.detach(b);
        tree.free(b);
        assert_eq!(tree.remembered("/z/b"), None);
        let other = directory(&mut tree, InodeHandle::ROOT, "b", 20_003);
        assert_eq!((tree.remembered("/z/b"), tree.lookup("/b")), (None, Some(other)));
        assert_eq!((tree.lookup("/"), tree.lookup("")), (Some(InodeHandle::ROOT), None));
        assert_eq!((tree.lookup("//z"), tree.lookup("/z/"), tree.lookup("z")), (Some(a), Some(a), None));
        assert_eq!(tree.lookup("a/b/c/d/e/f/z"), None);
    }

    #[test]
    fn many_directories_are_found_with_and_without_a_guess() {
        let root = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o755) };
        let mut tree = Tree::new(&root, 0);
        let mut at = InodeHandle::ROOT;
        let mut paths = Vec::new();
        let mut path = alloc::string::String::new();
        for i in 0..1000u64 {
            let name = format!("d{}", i % 7);
            if i % 20 == 0 {
                at = directory(&mut tree, InodeHandle::ROOT, &format!("top{i}"), 100_000 + i);
                path = format!("/top{i}");
            }
            at = directory(&mut tree, at, &name, 20_000 + i);
            path = format!("{path}/{name}");
            paths.push((path.clone(), at));
        }
        for _ in 0..2 {
            for (path, handle) in &paths {
                assert_eq!(tree.lookup(path), Some(*handle), "{path}");
            }
        }
    }
}
