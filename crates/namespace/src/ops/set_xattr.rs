//! setXAttr: adds an extended attribute or replaces its value.
//! Source: `FSDirXAttrOp.setXAttr`, `XAttrSetFlag.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::{EditOp, XAttr};
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::DirOp;
use crate::tree::{InodeView, XAttrView};
use crate::xattr::{TRUSTED, USER, is_same, is_unreadable_mark, prefixed};
use alloc::format;
use alloc::vec::Vec;
use surus_types::{ExceptionClass, HdfsError};

/// Bits of `XAttrSetFlagProto`.
pub mod flag {
    pub const CREATE: u32 = 1;
    pub const REPLACE: u32 = 2;
}

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct SetXAttr<'a> {
    pub src: &'a str,
    pub xattr: &'a XAttr,
    /// Bits of [`flag`].
    pub flags: u32,
}

impl Operation for SetXAttr<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_xattrs_enabled()?;
        self.check_size(namespace.config.max_xattr_size)?;
        namespace.check_xattr_name(env, self.src, self.xattr)?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "setXAttr")?;
        namespace.check_xattr_change(env, &path, self.xattr)?;
        let inode = namespace.tree.inode(namespace.existing(&path, "cannot find ")?);
        self.check_flags(inode)?;
        self.check_new(namespace, inode)?;
        let xattrs = alloc::vec![self.xattr.clone()];
        Ok(Plan::one(EditOp::SetXAttr { src: path.path.into(), xattrs, rpc: env.rpc.clone() }, ()))
    }
}

impl SetXAttr<'_> {
    fn check_size(&self, limit: u32) -> Result<(), HdfsError> {
        let size = self.xattr.name.len() + self.xattr.value.as_ref().map_or(0, Vec::len);
        if size <= limit as usize {
            return Ok(());
        }
        let text = format!(
            "The XAttr is too big. The maximum combined size of the name and value is {limit}, but the total size is {size}"
        );
        Err(HdfsError::new(ExceptionClass::HadoopIllegalArgument, text))
    }

    fn check_flags(&self, inode: InodeView<'_>) -> Result<(), HdfsError> {
        let (name, exists) = (&self.xattr.name, inode.xattr(self.xattr.namespace, &self.xattr.name).is_some());
        match exists {
            _ if self.flags & (flag::CREATE | flag::REPLACE) == 0 => {
                Err(HdfsError::new(ExceptionClass::HadoopIllegalArgument, "A flag must be specified."))
            }
            true if self.flags & flag::REPLACE == 0 => {
                Err(HdfsError::io(format!("XAttr: {name} already exists. The REPLACE flag must be specified.")))
            }
            false if self.flags & flag::CREATE == 0 => {
                Err(HdfsError::io(format!("XAttr: {name} does not exist. The CREATE flag must be specified.")))
            }
            _ => Ok(()),
        }
    }

    fn check_new(&self, namespace: &Namespace, inode: InodeView<'_>) -> Result<(), HdfsError> {
        let limit = namespace.config.max_xattrs_per_inode;
        let is_counted = |namespace| namespace == USER || namespace == TRUSTED;
        let is_this = |x: &XAttrView<'_>| x.namespace == self.xattr.namespace && x.name == &*self.xattr.name;
        let others = inode.xattrs().filter(|x| is_counted(x.namespace) && !is_this(x)).count();
        if others + usize::from(is_counted(self.xattr.namespace)) > limit as usize {
            return Err(HdfsError::io(format!("Cannot add additional XAttr to inode, would exceed limit of {limit}")));
        }
        if !inode.is_file() && is_unreadable_mark(self.xattr.namespace, &self.xattr.name) {
            let name = prefixed(self.xattr.namespace, &self.xattr.name);
            return Err(HdfsError::io(format!("Can only set '{name}' on a file.")));
        }
        Ok(())
    }
}

/// OP_SET_XATTR: the attributes it names come first, those that were there follow.
///
/// # Errors
/// The path is missing.
pub fn apply(namespace: &mut Namespace, src: &str, xattrs: &[XAttr]) -> Result<Applied, ApplyError> {
    let handle = namespace.apply_lookup("OP_SET_XATTR", src)?;
    let mut list = xattrs.to_vec();
    for old in namespace.tree.inode(handle).xattrs().map(XAttrView::to_xattr) {
        if !xattrs.iter().any(|new| is_same(new, &old)) {
            list.push(old);
        }
    }
    namespace.tree.set_xattrs(handle, &list);
    Ok(Applied::default())
}
