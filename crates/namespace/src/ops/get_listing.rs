//! getListing: one page of a directory, in name order.
//! Source: `FSDirStatAndListingOp.getListing`, Hadoop 3.5.0.

use crate::Namespace;
use crate::ops::get_file_info::reserved_status;
use crate::plan::Env;
use crate::resolve::DirOp;
use crate::tree::{CURRENT, InodeHandle, InodeView, compare_names};
use alloc::format;
use core::cmp::Ordering;
use surus_types::{ExceptionClass, FileStatus, FsAction, HdfsError, InodeId};

/// What ends a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListingEnd {
    /// Entries after this page.
    pub remaining: u32,
}

/// What a visitor is lent for each entry: the status, and the inode (none for virtual directories) for its blocks.
pub struct ListingEntry<'a> {
    pub status: FileStatus<'a>,
    pub inode: Option<InodeView<'a>>,
}

impl Namespace {
    /// Lends the entries of one page of `src` to `visit`, in order: at most `limit` of them, after the name `start_after`
    /// (empty: from the start; a `/.reserved/.inodes/ID` path: after that child). The visitor may stop the page early by
    /// answering false. `Ok(None)`: `src` does not exist. A file is listed as itself, with an empty name.
    ///
    /// With `need_location` a page also ends once its files have `limit` blocks.
    ///
    /// # Errors
    /// No permission to walk there or to read the directory; `start_after` is an inode path that leads nowhere.
    pub fn get_listing(
        &self,
        env: &Env<'_>,
        src: &str,
        start_after: &[u8],
        need_location: bool,
        limit: u32,
        mut visit: impl FnMut(ListingEntry<'_>) -> bool,
    ) -> Result<Option<ListingEnd>, HdfsError> {
        let path = self.resolve(env, src, DirOp::Read)?;
        if src == "/.reserved" {
            visit(ListingEntry { status: reserved_status(b".inodes", 0o770, &self.config.supergroup), inode: None });
            visit(ListingEntry { status: reserved_status(b"raw", 0o770, &self.config.supergroup), inode: None });
            return Ok(Some(ListingEnd { remaining: 0 }));
        }
        let cookie = self.start_after_name(start_after)?;
        let start_after = cookie.unwrap_or(start_after);
        let is_directory = path.last.is_some_and(|last| self.tree.inode(last).is_directory());
        if let Some(root) = path.dot_snapshot {
            return Ok(Some(self.list_snapshots(root, start_after, limit, visit)));
        }
        if is_directory {
            self.check_path_access(env, &path, FsAction::READ_EXECUTE)?;
        }
        if path.name() == ".snapshot" && path.last.is_none() {
            if path.missing > 1 {
                let text = format!("Directory does not exist: {}", path.parent_path());
                return Err(HdfsError::file_not_found(text));
            }
            return Err(HdfsError::new(
                ExceptionClass::Snapshot,
                format!("Directory is not a snapshottable directory: {}", path.parent_path()),
            ));
        }
        let Some(last) = path.last else { return Ok(None) };
        let inode = self.shown(&path, last);
        if !is_directory {
            visit(ListingEntry { status: inode.status(b""), inode: Some(inode) });
            return Ok(Some(ListingEnd { remaining: 0 }));
        }
        if path.snapshot != CURRENT {
            return Ok(Some(self.list_past(inode, start_after, need_location, limit, visit)));
        }
        let remaining = self.list_directory(inode, start_after, need_location, limit, visit);
        Ok(Some(ListingEnd { remaining }))
    }

    fn list_directory(
        &self,
        directory: InodeView<'_>,
        start_after: &[u8],
        need_location: bool,
        limit: u32,
        visit: impl FnMut(ListingEntry<'_>) -> bool,
    ) -> u32 {
        let mut children = directory.children(start_after);
        let child = |child| self.tree.inode(child).raw(directory.is_raw());
        let named = children.by_ref().map(child).map(|inode| (inode.name(), inode));
        list_page(named, need_location, limit, visit);
        children.remaining()
    }

    /// The snapshots of a directory, each as a directory.
    fn list_snapshots(
        &self,
        root: InodeHandle,
        start_after: &[u8],
        limit: u32,
        mut visit: impl FnMut(ListingEntry<'_>) -> bool,
    ) -> ListingEnd {
        let snapshots = self.tree.inode(root).snapshottable().map_or(&[][..], |s| &s.snapshots);
        let first = match start_after {
            b"" => 0,
            _ => snapshots.partition_point(|s| compare_names(s.name.as_bytes(), start_after).is_le()),
        };
        let mut lent = 0;
        for snapshot in &snapshots[first..snapshots.len().min(first + limit as usize)] {
            let inode = self.tree.inode_at(root, snapshot.id);
            lent += 1;
            // The children are those of now: Hadoop does not count them for each snapshot.
            let children = self.tree.inode(root).child_count();
            let status = FileStatus { children, ..inode.status(snapshot.name.as_bytes()) };
            if !visit(ListingEntry { status, inode: Some(inode) }) {
                break;
            }
        }
        ListingEnd { remaining: (snapshots.len() - first - lent) as u32 }
    }

    /// A page of a directory in a snapshot.
    fn list_past(
        &self,
        directory: InodeView<'_>,
        start_after: &[u8],
        need_location: bool,
        limit: u32,
        visit: impl FnMut(ListingEntry<'_>) -> bool,
    ) -> ListingEnd {
        let mut children = self.tree.children_at(directory.handle(), directory.snapshot(), start_after);
        let child = |child| self.tree.inode_at(child, directory.snapshot()).raw(directory.is_raw());
        let named = children.by_ref().map(|(name, at)| (name, child(at)));
        list_page(named, need_location, limit, visit);
        ListingEnd { remaining: children.remaining() }
    }

    /// The name a cookie of the form `/.reserved/.inodes/ID` stands for.
    fn start_after_name(&self, start_after: &[u8]) -> Result<Option<&[u8]>, HdfsError> {
        let Some(id) = start_after.strip_prefix(b"/.reserved/.inodes/") else { return Ok(None) };
        let text = || alloc::string::String::from_utf8_lossy(start_after);
        let handle = core::str::from_utf8(id)
            .ok()
            .and_then(|id| id.parse().ok())
            .and_then(|id| self.tree.get(InodeId(id)))
            .filter(|&handle| self.tree.is_attached(handle) && handle != InodeHandle::ROOT)
            .ok_or_else(|| {
                HdfsError::new(
                    ExceptionClass::DirectoryListingStartAfterNotFound,
                    format!("Can't find startAfter {}", text()),
                )
            })?;
        Ok(Some(self.tree.inode(handle).name()))
    }
}

/// Whether `name` comes after the cookie: what a caller that merges listings needs.
pub fn is_after(name: &[u8], start_after: &[u8]) -> bool {
    compare_names(name, start_after) == Ordering::Greater
}

/// Lends one page of children with their names: `limit` of them, or fewer where the visitor or their locations end it.
fn list_page<'a>(
    children: impl Iterator<Item = (&'a [u8], InodeView<'a>)>,
    need_location: bool,
    limit: u32,
    mut visit: impl FnMut(ListingEntry<'_>) -> bool,
) {
    let mut locations = 0u64;
    for (name, inode) in children.take(limit as usize) {
        let go_on = visit(ListingEntry { status: inode.status(name), inode: Some(inode) });
        if need_location && inode.is_file() {
            locations += inode.blocks().len() as u64 * u64::from(inode.replication().max(1));
        }
        if !go_on || locations >= u64::from(limit) {
            break;
        }
    }
}
