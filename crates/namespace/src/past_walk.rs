//! Totals of a subtree in a snapshot and the check of its directories, in slices between which the namespace is unlocked.
//! What a snapshot shows does not change: all that may happen meanwhile is its deletion.

use crate::Namespace;
use crate::plan::Env;
use crate::resolve::DirOp;
use crate::tree::{CURRENT, Counts, InodeHandle, SnapshotId};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::{ContentSummary, FsAction, HdfsError};

/// A walk under way. Handles of what a live snapshot shows stay what they are.
#[derive(Debug)]
pub struct PastWalk {
    /// What the caller named it, for a refusal.
    path: String,
    top: InodeHandle,
    snapshot: SnapshotId,
    /// What the caller needs on each directory.
    action: FsAction,
    /// Directories that are still to be looked at, the next one last; the top may be a file.
    open: Vec<InodeHandle>,
    /// The directory whose children are being gone through, the last of them seen, and where its own begin in `open`.
    inside: Option<(InodeHandle, Vec<u8>, usize)>,
    counts: Counts,
}

impl Namespace {
    /// Begins the walk of a path in a snapshot; `None`: it is in none. `missing` begins the text of its refusal.
    ///
    /// # Errors
    /// `FileNotFoundException`, `AccessControlException`.
    pub fn begin_past_walk(
        &self,
        env: &Env<'_>,
        src: &str,
        missing: &str,
        action: FsAction,
    ) -> Result<Option<PastWalk>, HdfsError> {
        let path = self.resolve(env, src, DirOp::ReadLink)?;
        let top = self.existing(&path, missing)?;
        let (path, snapshot) = (format!("{missing}{}", path.path), path.snapshot);
        let (open, inside, counts) = (alloc::vec![top], None, Counts::default());
        Ok((snapshot != CURRENT).then_some(PastWalk { path, top, snapshot, action, open, inside, counts }))
    }

    /// Looks at about `limit` inodes more, and whether the caller may do with each directory what it wants. True: the walk is through.
    ///
    /// # Errors
    /// `AccessControlException`; `FileNotFoundException` where the snapshot was deleted meanwhile.
    pub fn past_walk_slice(&self, env: &Env<'_>, walk: &mut PastWalk, limit: usize) -> Result<bool, HdfsError> {
        if !self.tree.is_live_snapshot(walk.snapshot) {
            return Err(HdfsError::file_not_found(walk.path.clone()));
        }
        let mut left = limit;
        while left > 0 {
            let (directory, last, from) = match walk.inside.take() {
                Some(inside) => inside,
                None => {
                    let Some(handle) = walk.open.pop() else { return Ok(true) };
                    left -= 1;
                    let inode = self.tree.inode_at(handle, walk.snapshot);
                    if !inode.is_directory() {
                        walk.counts.add(&inode.own_counts());
                        continue;
                    }
                    self.check_view_access(env, inode, walk.action)?;
                    walk.counts.directories += 1;
                    (handle, Vec::new(), walk.open.len())
                }
            };
            left = self.past_children(walk, (directory, last, from), left);
        }
        Ok(walk.open.is_empty() && walk.inside.is_none())
    }

    /// Goes through the children of one directory, as far as `left` lasts; returns what is left of it.
    fn past_children(&self, walk: &mut PastWalk, inside: (InodeHandle, Vec<u8>, usize), mut left: usize) -> usize {
        if left == 0 {
            walk.inside = Some(inside);
            return 0;
        }
        let (directory, last, from) = inside;
        for (name, child) in self.tree.children_at(directory, walk.snapshot, &last) {
            let inode = self.tree.inode_at(child, walk.snapshot);
            match inode.is_directory() {
                true => walk.open.push(child),
                false => walk.counts.add(&inode.own_counts()),
            }
            left -= 1;
            if left == 0 {
                walk.inside = Some((directory, name.to_vec(), from));
                return 0;
            }
        }
        // In name order, as a denial names the first.
        walk.open[from..].reverse();
        left
    }

    /// Lets plans pass by the checks of what these walks, which are through, have seen; none takes that back.
    pub fn set_past_walks(&mut self, walks: &[PastWalk]) {
        self.walked_past = walks.iter().map(|walk| (walk.snapshot, walk.top)).collect();
    }

    /// What a walk that is through came to.
    pub fn past_summary(&self, walk: &PastWalk) -> ContentSummary {
        self.past_totals(self.tree.inode_at(walk.top, walk.snapshot), &walk.counts)
    }
}
