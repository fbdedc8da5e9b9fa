//! getFileInfo and getFileLinkInfo: the status of one path.
//! Source: `FSDirStatAndListingOp.getFileInfo`, Hadoop 3.5.0.

use crate::Namespace;
use crate::plan::Env;
use crate::resolve::{DirOp, Resolved};
use surus_types::{ExceptionClass, FileStatus, FileType, FsPermission, HdfsError, InodeId};

impl Namespace {
    /// Lends the status of `src` to `visit`, or `None` when it does not exist. The name in it is empty.
    ///
    /// # Errors
    /// The caller may not walk there.
    pub fn get_file_info<R>(
        &self,
        env: &Env<'_>,
        src: &str,
        visit: impl FnOnce(Option<FileStatus<'_>>) -> R,
    ) -> Result<R, HdfsError> {
        self.status_of(env, src, DirOp::Read, visit)
    }

    /// As [`Namespace::get_file_info`], but a symlink is not followed.
    ///
    /// # Errors
    /// The caller may not walk there.
    pub fn get_file_link_info<R>(
        &self,
        env: &Env<'_>,
        src: &str,
        visit: impl FnOnce(Option<FileStatus<'_>>) -> R,
    ) -> Result<R, HdfsError> {
        self.status_of(env, src, DirOp::ReadLink, visit)
    }

    fn status_of<R>(
        &self,
        env: &Env<'_>,
        src: &str,
        op: DirOp,
        visit: impl FnOnce(Option<FileStatus<'_>>) -> R,
    ) -> Result<R, HdfsError> {
        let path = match self.resolve_for_status(env, src, op) {
            Ok(Some(path)) => path,
            Ok(None) => return Ok(visit(None)),
            Err(error) => return Err(error),
        };
        if src == "/.reserved" {
            return Ok(visit(Some(reserved_status(b"", 0o1770, ""))));
        }
        if path.dot_snapshot.is_some() {
            return Ok(visit(Some(dot_snapshot_status())));
        }
        Ok(match path.last {
            Some(handle) => visit(Some(self.shown(&path, handle).status(b""))),
            None => visit(None),
        })
    }

    /// A file in the middle of the path is an error to ordinary users, but "nothing there" to a superuser.
    pub(super) fn resolve_for_status<'a>(
        &self,
        env: &Env<'_>,
        src: &'a str,
        op: DirOp,
    ) -> Result<Option<Resolved<'a>>, HdfsError> {
        match self.resolve(env, src, op) {
            Ok(path) => Ok(Some(path)),
            Err(e) if e.class == ExceptionClass::AccessControl && env.caller.is_superuser => Ok(None),
            Err(e) => Err(e),
        }
    }
}

/// What `.snapshot` of a snapshottable directory looks like. Source: `FSDirectory.DOT_SNAPSHOT_DIR_STATUS`, Hadoop 3.5.0.
pub(super) fn dot_snapshot_status() -> FileStatus<'static> {
    reserved_status(b"", 0o777, "")
}

/// What the virtual directories below `/.reserved` look like.
pub(super) fn reserved_status<'a>(name: &'a [u8], mode: u16, group: &'a str) -> FileStatus<'a> {
    FileStatus {
        file_type: FileType::Directory,
        name,
        length: 0,
        permission: FsPermission(mode),
        owner: "",
        group,
        modification_time_ms: 0,
        access_time_ms: 0,
        symlink: &[],
        replication: 0,
        block_size: 0,
        // fileId -1 on the wire.
        inode_id: InodeId(u64::MAX),
        children: 0,
        storage_policy: 0,
        flags: 0,
        ec_policy: None,
        encryption: None,
    }
}
