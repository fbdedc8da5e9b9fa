//! setPermission: changes the mode bits. With an ACL the group bits are its mask, so that changes.
//! Source: `FSDirAttrOp.setPermission`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::permission::Wanted;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, check_not_reserved};
use surus_types::FsPermission;

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct SetPermission<'a> {
    pub src: &'a str,
    pub permission: FsPermission,
}

impl Operation for SetPermission<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        check_not_reserved(self.src)?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "setPermission")?;
        namespace.check_permission(env, &path, Wanted { owner: true, ..Wanted::default() })?;
        let handle = namespace.existing(&path, "Directory/File does not exist ")?;
        if namespace.tree.inode(handle).permission() == self.permission {
            return Ok(Plan::read(()));
        }
        let src = path.path.into();
        Ok(Plan::one(EditOp::SetPermissions { src, permission: self.permission }, ()))
    }
}

/// OP_SET_PERMISSIONS.
///
/// # Errors
/// The path is missing.
pub fn apply(namespace: &mut Namespace, src: &str, permission: FsPermission) -> Result<Applied, ApplyError> {
    let handle = namespace.apply_lookup("OP_SET_PERMISSIONS", src)?;
    namespace.tree.set_permission(handle, permission);
    Ok(Applied::default())
}
