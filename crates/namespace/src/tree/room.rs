//! Whether the tables of runs have room where nothing new is given out any more: in freed runs that are long enough.

use super::arena::{Names, size_class};
use super::children::NODE_MAX;
use super::features::{pack, packed_capacity};
use super::intern::FileLayout;
use super::{InodeHandle, Tree};
use crate::acl;
use crate::edit_op::XAttr;

/// The longest run of a directory's children.
pub(crate) const NODE_RUN: usize = NODE_MAX;

/// The longest run of an ACL: access and default entries, and the length.
pub(crate) const ACL_RUN: usize = size_class(2 * acl::ENTRIES_MAX + 1);

/// The run of a list of so many blocks, and of one more.
pub(crate) fn list_run(blocks: usize) -> usize {
    size_class(blocks + 2)
}

/// The run of a name.
pub(crate) fn name_run(name: &str) -> usize {
    Names::run_bytes(name.as_bytes())
}

impl Tree {
    /// Units that each table of runs gives out before it looks for freed ones of any length.
    pub(crate) fn limit_units(&mut self, units: u64) {
        self.tables.names.arena_mut().set_limit(units);
        self.tables.children.arena_mut().set_limit(units);
        self.tables.block_lists.arena_mut().set_limit(units);
        self.tables.features.limit_units(units);
    }

    pub(crate) fn reuses_names(&self, runs: usize, length: usize) -> bool {
        self.tables.names.arena().reuses(runs, length)
    }

    pub(crate) fn reuses_nodes(&self, runs: usize, length: usize) -> bool {
        self.tables.children.arena().reuses(runs, length)
    }

    pub(crate) fn reuses_block_lists(&self, runs: usize, length: usize) -> bool {
        self.tables.block_lists.arena().reuses(runs, length)
    }

    pub(crate) fn reuses_acls(&self, runs: usize, length: usize) -> bool {
        self.tables.features.acl_arena().reuses(runs, length)
    }

    /// Whether lists of extended attributes as long as any on the way to `paths`, with `added` at the end, have room.
    pub(crate) fn reuses_xattrs(&self, runs: usize, paths: &[&str], added: &[XAttr]) -> bool {
        let longest = paths.iter().map(|path| self.longest_xattrs(path)).max().unwrap_or(0);
        // A storage policy is one of a few bytes.
        let length = longest + pack(added).len() + 64;
        self.tables.features.xattr_arena().reuses(runs, packed_capacity(length))
    }

    /// Whether a snapshot shows anything on the way to a path, as it is now.
    pub(crate) fn is_in_snapshots(&self, path: &str) -> bool {
        let mut at = Some(InodeHandle::ROOT);
        let mut names = path.split('/').filter(|name| !name.is_empty());
        while let Some(inode) = at {
            if self.is_in_latest_snapshot(inode) {
                return true;
            }
            at = names.next().and_then(|name| self.child(inode, name.as_bytes()));
        }
        false
    }

    /// Bytes.
    fn longest_xattrs(&self, path: &str) -> usize {
        let (mut at, mut longest) = (Some(InodeHandle::ROOT), self.xattr_bytes(InodeHandle::ROOT));
        for name in path.split('/').filter(|name| !name.is_empty()) {
            at = at.and_then(|directory| self.child(directory, name.as_bytes()));
            longest = longest.max(at.map_or(0, |inode| self.xattr_bytes(inode)));
        }
        longest
    }

    fn xattr_bytes(&self, inode: InodeHandle) -> usize {
        self.inode(inode).xattrs().packed_len()
    }

    pub(crate) fn has_user_or_group(&self, name: &str) -> bool {
        self.tables.interned.has_name(name)
    }

    pub(crate) fn has_layout(&self, layout: &FileLayout) -> bool {
        self.tables.interned.has_layout(layout)
    }
}
