//! setOwner: changes owner, group or both.
//! Source: `FSDirAttrOp.setOwner`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::permission::Wanted;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, check_not_reserved};
use alloc::format;
use alloc::sync::Arc;
use surus_types::{HdfsError, PermissionStatus};

/// The request. Absent: unchanged.
#[derive(Clone, Copy, Debug)]
pub struct SetOwner<'a> {
    pub src: &'a str,
    pub user: Option<&'a str>,
    pub group: Option<&'a str>,
}

impl Operation for SetOwner<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        check_not_reserved(self.src)?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "setOwner")?;
        namespace.check_permission(env, &path, Wanted { owner: true, ..Wanted::default() })?;
        let handle = namespace.existing(&path, "Directory/File does not exist ")?;
        if !env.caller.is_superuser {
            self.check_new_names(env)?;
        }
        let inode = namespace.tree.inode(handle);
        let same = |wanted: Option<&str>, now: &str| wanted.is_none_or(|wanted| wanted == now);
        if same(self.user, inode.user()) && same(self.group, inode.group()) {
            return Ok(Plan::read(()));
        }
        let op = EditOp::SetOwner {
            src: path.path.into(),
            user: self.user.map(Arc::from),
            group: self.group.map(Arc::from),
        };
        Ok(Plan::one(op, ()))
    }
}

impl SetOwner<'_> {
    /// An owner who is not superuser may only give the inode to another of his groups.
    fn check_new_names(&self, env: &Env<'_>) -> Result<(), HdfsError> {
        let caller = &env.caller.user;
        if self.user.is_some_and(|user| user != &**caller) {
            return Err(HdfsError::access_control(format!(
                "User {caller} is not a super user (non-super user cannot change owner)."
            )));
        }
        match self.group {
            Some(group) if !env.caller.is_in_group(group) => {
                Err(HdfsError::access_control(format!("User {caller} does not belong to {group}")))
            }
            _ => Ok(()),
        }
    }
}

/// OP_SET_OWNER.
///
/// # Errors
/// The path is missing.
pub fn apply(
    namespace: &mut Namespace,
    src: &str,
    user: Option<&Arc<str>>,
    group: Option<&Arc<str>>,
) -> Result<Applied, ApplyError> {
    let handle = namespace.apply_lookup("OP_SET_OWNER", src)?;
    let inode = namespace.tree.inode(handle);
    let status = PermissionStatus {
        user: user.unwrap_or(inode.user()).clone(),
        group: group.unwrap_or(inode.group()).clone(),
        permission: inode.permission(),
    };
    namespace.tree.set_permission_status(handle, &status);
    Ok(Applied::default())
}
