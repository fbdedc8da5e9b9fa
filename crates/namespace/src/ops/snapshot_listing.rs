//! getSnapshottableDirListing and getSnapshotListing.
//! Source: `SnapshotManager.getSnapshottableDirListing`, `getSnapshotListing`, Hadoop 3.5.0.

use crate::Namespace;
use crate::plan::Env;
use crate::resolve::DirOp;
use crate::tree::{InodeHandle, InodeView};
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::{FileStatus, FsAction, HdfsError};

/// A directory that may have snapshots.
pub struct SnapshottableStatus<'a> {
    pub status: FileStatus<'a>,
    /// Empty for the root.
    pub parent: &'a str,
    pub snapshots: u32,
    pub limit: u32,
}

/// A snapshot.
pub struct SnapshotStatus<'a> {
    pub status: FileStatus<'a>,
    /// The directory it was taken of.
    pub parent: &'a str,
    pub id: u32,
    /// Marked as deleted: it goes once older ones are gone.
    pub is_deleted: bool,
}

/// Flags, policy and the like are left out, as in Hadoop.
fn plain_status<'a>(inode: InodeView<'a>, name: &'a [u8]) -> FileStatus<'a> {
    FileStatus { flags: 0, storage_policy: 0, ..inode.status(name) }
}

impl Namespace {
    /// Lends the snapshottable directories of the caller, a superuser's being all, in the order of their parents' paths.
    /// False: there are none at all, whosoever.
    pub fn get_snapshottable_dir_listing(&self, env: &Env<'_>, mut visit: impl FnMut(SnapshottableStatus<'_>)) -> bool {
        let parent = |handle: InodeHandle| {
            let parent = self.tree.inode(handle).parent();
            parent.and_then(|parent| self.tree.path_of(parent)).unwrap_or_default()
        };
        let mut all: Vec<(String, InodeHandle)> = self.snapshottable().map(|handle| (parent(handle), handle)).collect();
        if all.is_empty() {
            return false;
        }
        all.retain(|(_, handle)| env.caller.is_superuser || *self.tree.inode(*handle).user() == env.caller.user);
        all.sort_by(|a, b| (&a.0, self.tree.inode(a.1).name()).cmp(&(&b.0, self.tree.inode(b.1).name())));
        for (parent, handle) in &all {
            let inode = self.tree.inode(*handle);
            let (snapshots, limit) = inode.snapshottable().map_or((0, 0), |s| (s.snapshots.len() as u32, s.limit));
            visit(SnapshottableStatus { status: plain_status(inode, inode.name()), parent, snapshots, limit });
        }
        true
    }

    /// Paths of all snapshottable directories, in order.
    pub fn snapshottable_paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.snapshottable().filter_map(|handle| self.tree.path_of(handle)).collect();
        paths.sort();
        paths
    }

    /// Lends the snapshots of a directory in name order.
    ///
    /// # Errors
    /// The directory is not snapshottable; the caller may not read it.
    pub fn get_snapshot_listing(
        &self,
        env: &Env<'_>,
        root: &str,
        mut visit: impl FnMut(SnapshotStatus<'_>),
    ) -> Result<(), HdfsError> {
        let path = self.resolve_literally(env, root, DirOp::Read)?;
        self.check_path_access(env, &path, FsAction::READ)?;
        let root = self.snapshottable_root(&path)?;
        let snapshots = self.tree.inode(root).snapshottable().map_or(&[][..], |s| &s.snapshots);
        for snapshot in snapshots {
            let inode = self.tree.inode_at(root, snapshot.id);
            let children = self.tree.inode(root).child_count();
            let status = FileStatus { children, ..plain_status(inode, snapshot.name.as_bytes()) };
            let is_deleted = self.is_marked_deleted(inode);
            visit(SnapshotStatus { status, parent: &path.path, id: snapshot.id, is_deleted });
        }
        Ok(())
    }
}
