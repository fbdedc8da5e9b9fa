//! getXAttrs and listXAttrs: the attributes a caller may see.
//! Source: `FSDirXAttrOp.getXAttrs`, `FSDirXAttrOp.listXAttrs`, Hadoop 3.5.0.

use crate::Namespace;
use crate::edit_op::XAttr;
use crate::plan::Env;
use crate::resolve::{DirOp, is_reserved_raw};
use crate::tree::XAttrView;
use crate::xattr::{is_unreadable_mark, is_visible};
use alloc::vec::Vec;
use surus_types::{ExceptionClass, FsAction, HdfsError};

impl Namespace {
    /// The attributes of `src` that `names` asks for, in that order; without names all that the caller may see.
    ///
    /// # Errors
    /// One of those asked for is not there, or not for this caller; no READ on the path.
    pub fn get_xattrs(&self, env: &Env<'_>, src: &str, names: &[XAttr]) -> Result<Vec<XAttrView<'_>>, HdfsError> {
        self.check_xattrs_enabled()?;
        for name in names {
            self.check_xattr_name(env, src, name)?;
        }
        let all = self.list_xattrs(env, src)?;
        if names.is_empty() {
            return Ok(all);
        }
        let find = |wanted: &XAttr| {
            all.iter().find(|x| x.namespace == wanted.namespace && x.name == &*wanted.name).copied().ok_or_else(|| {
                HdfsError::new(ExceptionClass::XAttrNotFound, "At least one of the attributes provided was not found.")
            })
        };
        names.iter().map(find).collect()
    }

    /// All attributes of `src` that the caller may see.
    ///
    /// # Errors
    /// No READ on the path.
    pub fn list_xattrs(&self, env: &Env<'_>, src: &str) -> Result<Vec<XAttrView<'_>>, HdfsError> {
        self.check_xattrs_enabled()?;
        let path = self.resolve(env, src, DirOp::Read)?;
        self.check_path_access(env, &path, FsAction::READ)?;
        let inode = self.shown(&path, self.existing(&path, "cannot find ")?);
        let is_raw = is_reserved_raw(src);
        Ok(inode
            .xattrs()
            .filter(|x| is_visible(env, x.namespace, is_raw) || is_unreadable_mark(x.namespace, x.name))
            .collect())
    }
}
