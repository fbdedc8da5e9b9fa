//! An ordinary user's check of all directories below a path, in slices: between them the namespace is unlocked, and what
//! changed meanwhile is looked at again. Which directory a denial names is the same as in one go (`permission::check_subtree`)
//! where nothing changed.

use crate::Namespace;
use crate::edit_op::EditOp;
use crate::permission::Wanted;
use crate::plan::Env;
use crate::tree::InodeHandle;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};
use surus_types::{FsAction, HdfsError, InodeId};

/// Changes remembered while walks are under way; past it they begin anew.
const CHANGES_MAX: usize = 10_000;
/// Directories that may be looked at again while the namespace is locked for the last time.
const RECHECKED_MAX: u64 = 1_000;

/// Directories that changed while somebody walks. Soft state.
#[derive(Debug, Default)]
pub(crate) struct Walks {
    active: AtomicU32,
    changed: Vec<InodeId>,
    /// Number of the first entry of `changed`.
    base: u64,
}

/// A walk under way.
#[derive(Debug)]
pub struct SubtreeWalk {
    top: InodeId,
    action: FsAction,
    wanted: Wanted,
    /// Directories that are still to be looked at, the next one last.
    open: Vec<InodeId>,
    /// The directory whose children are being gone through, the last of them seen, and where its own begin in `open`.
    inside: Option<(InodeId, Vec<u8>, usize)>,
    /// Changes before this one were there when the walk began.
    seen: u64,
}

impl Namespace {
    /// Whether checking `top` for this caller is more work than one lock should be held for.
    pub fn is_long_walk(&self, env: &Env<'_>, top: InodeHandle, limit: u64) -> bool {
        let counts = self.tree.counts(top);
        self.is_checked(env) && counts.directories > 1 && counts.directories + counts.files > limit
    }

    /// Begins a walk; `end_walk` must follow. `wanted` holds the subtree's action and how to look.
    pub fn begin_walk(&self, top: InodeHandle, wanted: Wanted) -> SubtreeWalk {
        self.walks.active.fetch_add(1, Ordering::Relaxed);
        let top = self.tree.inode(top).id();
        SubtreeWalk {
            top,
            action: wanted.subtree.unwrap_or(FsAction::NONE),
            wanted,
            open: alloc::vec![top],
            inside: None,
            seen: self.walks.base + self.walks.changed.len() as u64,
        }
    }

    /// The walk is over or was given up.
    pub fn end_walk(&self) {
        self.walks.active.fetch_sub(1, Ordering::Relaxed);
    }

    /// Looks at about `limit` inodes more. True: the walk is through.
    ///
    /// # Errors
    /// `AccessControlException`.
    pub fn walk_slice(&self, env: &Env<'_>, walk: &mut SubtreeWalk, limit: usize) -> Result<bool, HdfsError> {
        let mut left = limit;
        while left > 0 {
            if let Some((id, last, from)) = walk.inside.take() {
                // A directory that has gone, or moved away, is of no interest any more.
                if let Some(handle) = self.tree.get(id) {
                    left = self.walk_children(env, walk, handle, (id, last, from), left)?;
                }
                continue;
            }
            let Some(id) = walk.open.pop() else { return Ok(true) };
            left -= 1;
            let Some(handle) = self.tree.get(id) else { continue };
            let directory = self.tree.inode(handle);
            if !directory.is_directory() {
                continue;
            }
            if directory.child_count() > 0 || !walk.wanted.ignore_empty_directories {
                self.check_access(env, handle, walk.action)?;
            }
            let sticky = directory.permission().is_sticky() && !walk.wanted.summary;
            if sticky || directory.counts().directories > 1 {
                walk.inside = Some((id, Vec::new(), walk.open.len()));
            }
        }
        Ok(walk.open.is_empty() && walk.inside.is_none())
    }

    /// Goes through the children of one directory, as far as `left` lasts; returns what is left of it.
    fn walk_children(
        &self,
        env: &Env<'_>,
        walk: &mut SubtreeWalk,
        handle: InodeHandle,
        inside: (InodeId, Vec<u8>, usize),
        mut left: usize,
    ) -> Result<usize, HdfsError> {
        let (id, last, from) = inside;
        let directory = self.tree.inode(handle);
        let sticky = directory.permission().is_sticky() && !walk.wanted.summary;
        let top = self.tree.get(walk.top).unwrap_or(handle);
        for child in directory.children(&last) {
            let inode = self.tree.inode(child);
            if sticky {
                self.check_sticky_as(env, handle, child, top)?;
            }
            if inode.is_directory() {
                walk.open.push(inode.id());
            }
            left = left.saturating_sub(1);
            if left == 0 {
                walk.inside = Some((id, inode.name().to_vec(), from));
                return Ok(0);
            }
        }
        if walk.wanted.summary {
            let from = from.min(walk.open.len());
            walk.open[from..].reverse();
        }
        Ok(left)
    }

    /// Whether a walk that is through still holds for `top`: what changed since it began is looked at again. False: begin
    /// anew.
    ///
    /// # Errors
    /// `AccessControlException` about what changed.
    pub fn walk_holds(&self, env: &Env<'_>, walk: &SubtreeWalk, top: InodeHandle) -> Result<bool, HdfsError> {
        let Some(from) = walk.seen.checked_sub(self.walks.base).and_then(|n| usize::try_from(n).ok()) else {
            return Ok(false);
        };
        if self.tree.inode(top).id() != walk.top {
            return Ok(false);
        }
        let mut looked_at = 0;
        for id in self.walks.changed.get(from..).unwrap_or_default() {
            let Some(handle) = self.tree.get(*id).filter(|h| self.tree.is_below(*h, top)) else { continue };
            looked_at += self.tree.counts(handle).directories;
            if looked_at > RECHECKED_MAX {
                return Ok(false);
            }
            self.check_subtree(env, handle, walk.action, walk.wanted)?;
        }
        Ok(true)
    }

    /// Lets the next plan pass by the check of this subtree, which a walk has made; `None` takes that back.
    pub fn set_walked(&mut self, top: Option<InodeHandle>) {
        self.walked = top;
    }

    /// Called by `apply`: remembers the directories of which a walk would have to know.
    pub(crate) fn note_for_walks(&mut self, op: &EditOp) {
        if self.walks.active.load(Ordering::Relaxed) == 0 {
            self.walks.base += self.walks.changed.len() as u64;
            self.walks.changed.clear();
            return;
        }
        let path = match op {
            EditOp::Mkdir { path, .. } | EditOp::Symlink { path, .. } => path,
            EditOp::RenameOld { dst, .. } | EditOp::Rename { dst, .. } => dst,
            EditOp::SetPermissions { src, .. } | EditOp::SetOwner { src, .. } | EditOp::SetAcl { src, .. } => src,
            EditOp::Add(add) => &add.path,
            _ => return,
        };
        let Some(handle) = self.tree.lookup(path) else { return };
        let inode = self.tree.inode(handle);
        let sticky_parent = inode.parent().filter(|parent| self.tree.inode(*parent).permission().is_sticky());
        let changed = inode.is_directory().then_some(handle).into_iter().chain(sticky_parent);
        let changed: Vec<InodeId> = changed.map(|handle| self.tree.inode(handle).id()).collect();
        if self.walks.changed.len() + changed.len() > CHANGES_MAX {
            self.walks.base += self.walks.changed.len() as u64;
            self.walks.changed.clear();
        }
        self.walks.changed.extend(changed);
    }
}
