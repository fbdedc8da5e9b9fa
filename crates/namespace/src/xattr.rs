//! Names of extended attributes, and who may see and change which.
//! Source: `XAttrHelper.java`, `XAttrPermissionFilter.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::edit_op::XAttr;
use crate::plan::Env;
use crate::resolve::{Resolved, is_reserved_raw};
use alloc::format;
use surus_types::{FsAction, HdfsError};

pub use surus_types::xattr::{NAMESPACES, RAW, SECURITY, SYSTEM, TRUSTED, USER, prefixed};

/// A file with `security.` and this name is read by no superuser.
pub const UNREADABLE_BY_SUPERUSER: &str = "hdfs.unreadable.by.superuser";
/// `raw.` and this name: an encryption zone's root.
pub const ENCRYPTION_ZONE: &str = "hdfs.crypto.encryption.zone";
/// `raw.` and this name: a file's own key, encrypted by its zone's.
pub const FILE_ENCRYPTION_INFO: &str = "hdfs.crypto.file.encryption.info";

pub(crate) fn is_unreadable_mark(namespace: u8, name: &str) -> bool {
    namespace == SECURITY && name == UNREADABLE_BY_SUPERUSER
}

/// Whether two are the same attribute, whatever their values.
pub(crate) fn is_same(a: &XAttr, b: &XAttr) -> bool {
    a.namespace == b.namespace && a.name == b.name
}

impl Namespace {
    /// Refuses every call on extended attributes where they are off.
    ///
    /// # Errors
    /// `IOException`.
    pub fn check_xattrs_enabled(&self) -> Result<(), HdfsError> {
        if self.config.xattrs_enabled {
            return Ok(());
        }
        Err(HdfsError::io(
            "The XAttr operation has been rejected.  Support for XAttrs has been disabled by setting \
             dfs.namenode.xattrs.enabled to false.",
        ))
    }

    /// Whether the caller may name this attribute at all.
    ///
    /// # Errors
    /// `AccessControlException`.
    pub fn check_xattr_name(&self, env: &Env<'_>, src: &str, xattr: &XAttr) -> Result<(), HdfsError> {
        if is_visible(env, xattr.namespace, is_reserved_raw(src)) {
            return Ok(());
        }
        let name = prefixed(xattr.namespace, &xattr.name);
        if !is_unreadable_mark(xattr.namespace, &xattr.name) {
            return Err(HdfsError::access_control(format!("User doesn't have permission for xattr: {name}")));
        }
        match &xattr.value {
            None => Ok(()),
            Some(_) => Err(HdfsError::access_control(format!(
                "Attempt to set a value for '{name}'. Values are not allowed for this xattr."
            ))),
        }
    }

    /// Whether the caller may change an attribute of this inode. Only `user` attributes ask for more than the right to
    /// name them: WRITE, or to own a directory with the sticky bit.
    pub(crate) fn check_xattr_change(
        &self,
        env: &Env<'_>,
        path: &Resolved<'_>,
        xattr: &XAttr,
    ) -> Result<(), HdfsError> {
        if xattr.namespace != USER || !self.config.permissions_enabled {
            return Ok(());
        }
        let is_sticky = path.last.is_some_and(|last| {
            let inode = self.tree.inode(last);
            inode.is_directory() && inode.permission().is_sticky()
        });
        let wanted = crate::permission::Wanted { owner: is_sticky, ..Default::default() };
        match is_sticky {
            true => self.check_permission(env, path, wanted),
            false => self.check_path_access(env, path, FsAction::WRITE),
        }
    }

    /// Refuses a superuser what nobody but the file's users may read.
    ///
    /// # Errors
    /// `AccessControlException`.
    pub fn check_unreadable_by_superuser(&self, env: &Env<'_>, handle: crate::InodeHandle) -> Result<(), HdfsError> {
        let is_marked = || self.tree.inode(handle).xattr(SECURITY, UNREADABLE_BY_SUPERUSER).is_some();
        if !self.config.permissions_enabled || !env.caller.is_superuser || !is_marked() {
            return Ok(());
        }
        Err(HdfsError::access_control(format!(
            "Access is denied for {} since the superuser is not allowed to perform this operation.",
            env.caller.user
        )))
    }
}

/// Whether calls show a namespace's attributes to the caller. The mark of unreadable files is seen besides.
pub(crate) fn is_visible(env: &Env<'_>, namespace: u8, is_raw: bool) -> bool {
    match namespace {
        USER => true,
        TRUSTED => env.caller.is_superuser,
        RAW => is_raw,
        _ => false,
    }
}
