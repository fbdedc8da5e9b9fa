//! removeXAttr: takes an extended attribute away.
//! Source: `FSDirXAttrOp.removeXAttr`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::{EditOp, XAttr};
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::DirOp;
use crate::tree::XAttrView;
use crate::xattr::{ENCRYPTION_ZONE, RAW, is_same, is_unreadable_mark, prefixed};
use alloc::format;
use alloc::vec::Vec;
use surus_types::{ExceptionClass, HdfsError};

/// The request. The value is not looked at, but for its absence.
#[derive(Clone, Copy, Debug)]
pub struct RemoveXAttr<'a> {
    pub src: &'a str,
    pub xattr: &'a XAttr,
}

impl Operation for RemoveXAttr<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        let XAttr { namespace: number, name, .. } = self.xattr;
        namespace.check_xattrs_enabled()?;
        namespace.check_xattr_name(env, self.src, self.xattr)?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "removeXAttr")?;
        namespace.check_xattr_change(env, &path, self.xattr)?;
        let inode = namespace.tree.inode(namespace.existing(&path, "cannot find ")?);
        if inode.xattrs().next().is_some() {
            if *number == RAW && **name == *ENCRYPTION_ZONE {
                let text = "The encryption zone xattr should never be deleted.";
                return Err(HdfsError::new(ExceptionClass::IllegalArgument, text).into());
            }
            if is_unreadable_mark(*number, name) {
                let text = format!("The xattr '{}' can not be deleted.", prefixed(*number, name));
                return Err(HdfsError::access_control(text).into());
            }
        }
        if inode.xattr(*number, name).is_none() {
            return Err(HdfsError::io("No matching attributes found for remove operation").into());
        }
        let xattrs = alloc::vec![self.xattr.clone()];
        Ok(Plan::one(EditOp::RemoveXAttr { src: path.path.into(), xattrs, rpc: env.rpc.clone() }, ()))
    }
}

/// OP_REMOVE_XATTR.
///
/// # Errors
/// The path is missing.
pub fn apply(namespace: &mut Namespace, src: &str, xattrs: &[XAttr]) -> Result<Applied, ApplyError> {
    let handle = namespace.apply_lookup("OP_REMOVE_XATTR", src)?;
    let kept: Vec<XAttr> = namespace
        .tree
        .inode(handle)
        .xattrs()
        .map(XAttrView::to_xattr)
        .filter(|old| !xattrs.iter().any(|gone| is_same(gone, old)))
        .collect();
    namespace.tree.set_xattrs(handle, &kept);
    Ok(Applied::default())
}
