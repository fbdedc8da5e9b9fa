//! Small questions about one path: checkAccess, getPreferredBlockSize, isFileClosed, getLinkTarget, getEnclosingRoot.
//! Source: `FSNamesystem.java`, `NameNodeRpcServer.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::plan::Env;
use crate::resolve::DirOp;
use crate::tree::InodeKind;
use alloc::format;
use alloc::vec::Vec;
use surus_types::{ExceptionClass, FsAction, HdfsError};

impl Namespace {
    /// Whether the caller may do `action` with `src`.
    ///
    /// # Errors
    /// `AccessControlException`, `FileNotFoundException`.
    pub fn check_access_of(&self, env: &Env<'_>, src: &str, action: FsAction) -> Result<(), HdfsError> {
        let path = self.resolve(env, src, DirOp::Read)?;
        if path.last.is_none() {
            return Err(HdfsError::file_not_found(format!("Path not found: {}", path.path)));
        }
        self.check_path_access(env, &path, action)
    }

    /// Bytes.
    ///
    /// # Errors
    /// `FileNotFoundException`, for a directory too.
    pub fn get_preferred_block_size(&self, env: &Env<'_>, src: &str) -> Result<u64, HdfsError> {
        let path = self.resolve(env, src, DirOp::ReadLink)?;
        Ok(self.shown(&path, self.existing_file(&path)?).preferred_block_size())
    }

    /// # Errors
    /// `FileNotFoundException`, for a directory too.
    pub fn is_file_closed(&self, env: &Env<'_>, src: &str) -> Result<bool, HdfsError> {
        let path = self.resolve(env, src, DirOp::Read)?;
        Ok(!self.shown(&path, self.existing_file_called(&path, src)?).is_under_construction())
    }

    /// The target of a symlink.
    ///
    /// # Errors
    /// `FileNotFoundException`, or `IOException` for all but symlinks.
    pub fn get_link_target(&self, env: &Env<'_>, src: &str) -> Result<Vec<u8>, HdfsError> {
        if src == "/.reserved" {
            return Err(HdfsError::io(format!("Path {src} is not a symbolic link")));
        }
        let path = self.resolve_for_status(env, src, DirOp::ReadLink)?;
        if path.as_ref().is_some_and(|path| path.dot_snapshot.is_some()) {
            return Err(HdfsError::io(format!("Path {src} is not a symbolic link")));
        }
        let Some(handle) = path.and_then(|path| path.last) else {
            return Err(HdfsError::file_not_found(format!("File does not exist: {src}")));
        };
        let inode = self.tree.inode(handle);
        if inode.kind() != InodeKind::Symlink {
            return Err(HdfsError::io(format!("Path {src} is not a symbolic link")));
        }
        Ok(inode.symlink_target().to_vec())
    }

    /// A stock NameNode makes no symlinks.
    pub fn create_symlink(&self) -> HdfsError {
        HdfsError::new(ExceptionClass::UnsupportedOperation, "Symlinks not supported")
    }

    /// `renewLease`: the client is alive. Soft state, no operation.
    ///
    /// # Errors
    /// `namespaces` is for routers only.
    pub fn renew_lease(&mut self, client_name: &str, namespaces: &[&str], monotonic_ms: u64) -> Result<(), HdfsError> {
        if !namespaces.is_empty() {
            return Err(HdfsError::io(format!("namespaces([{}]) should be null or empty", namespaces.join(", "))));
        }
        self.set_now(monotonic_ms);
        self.leases.renew(client_name, monotonic_ms);
        Ok(())
    }
}
