//! setQuota: how many names and bytes a directory may hold, in all or on one storage type.
//! Source: `FSDirAttrOp.setQuota`, `FSNamesystem.setQuota`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, Resolved};
use crate::tree::{InodeHandle, Quota};
use alloc::format;
use surus_types::{ExceptionClass, HdfsError, StorageType};

/// "Leave this one alone". Source: `HdfsConstants.QUOTA_DONT_SET`, Hadoop 3.5.0.
pub const DONT_SET: i64 = i64::MAX;
/// "No quota". Source: `HdfsConstants.QUOTA_RESET`, Hadoop 3.5.0.
pub const RESET: i64 = -1;

/// The request. With a type, `space_quota` is that type's.
#[derive(Clone, Copy, Debug)]
pub struct SetQuota<'a> {
    pub src: &'a str,
    pub namespace_quota: i64,
    pub space_quota: i64,
    pub storage_type: Option<StorageType>,
}

/// What audit logs and refusals call the request. Source: `FSNamesystem.getQuotaCommand`, Hadoop 3.5.0.
pub fn command(namespace_quota: i64, space_quota: i64) -> &'static str {
    match (namespace_quota, space_quota) {
        (RESET, DONT_SET) => "clearQuota",
        (DONT_SET, RESET) => "clearSpaceQuota",
        (_, DONT_SET) => "setQuota",
        _ => "setSpaceQuota",
    }
}

impl Operation for SetQuota<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        let command = command(self.namespace_quota, self.space_quota);
        if !namespace.config.owner_sets_quota {
            namespace.check_superuser(env, command)?;
        }
        namespace.check_safe_mode(env, format_args!("Cannot set quota on {}", self.src))?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, command)?;
        if namespace.config.owner_sets_quota && namespace.is_checked(env) {
            check_owner_above(namespace, env, &path)?;
        }
        self.check_values(namespace)?;
        let Some(handle) = path.last else {
            return Err(HdfsError::file_not_found(format!("Directory does not exist: {}", path.path)).into());
        };
        let inode = namespace.tree.inode(handle);
        if !inode.is_directory() {
            let text = format!("`{}': Is not a directory", path.path);
            return Err(HdfsError::new(ExceptionClass::PathIsNotDirectory, text).into());
        }
        let old = inode.quota_shown();
        let src = path.path.into();
        if let Some(storage_type) = self.storage_type {
            let quota = if self.space_quota == DONT_SET { old.space } else { self.space_quota };
            if old.types.get(storage_type) == quota {
                return Ok(Plan::read(()));
            }
            return Ok(Plan::one(EditOp::SetQuotaByStorageType { src, storage_type, quota }, ()));
        }
        let names = match self.namespace_quota {
            DONT_SET => old.names,
            RESET if handle == InodeHandle::ROOT => Quota::ROOT_NAMES,
            names => names,
        };
        let space = if self.space_quota == DONT_SET { old.space } else { self.space_quota };
        if (names, space) == (old.names, old.space) {
            return Ok(Plan::read(()));
        }
        Ok(Plan::one(EditOp::SetQuota { src, namespace_quota: names, storage_quota: space }, ()))
    }
}

impl SetQuota<'_> {
    fn check_values(&self, namespace: &Namespace) -> Result<(), HdfsError> {
        let (names, space) = (self.namespace_quota, self.space_quota);
        if names < RESET || space < RESET {
            let text = format!("Illegal value for nsQuota or ssQuota : {names} and {space}");
            return Err(HdfsError::new(ExceptionClass::IllegalArgument, text));
        }
        let enabled = namespace.config.quota_by_storage_type;
        if self.storage_type.is_some() && (!enabled || names != DONT_SET) {
            let text = format!(
                "Failed to set quota by storage type because eitherdfs.quota.by.storage.type.enabled is set to {enabled} or \
                 nsQuota value is illegal {names}"
            );
            return Err(HdfsError::new(ExceptionClass::UnsupportedAction, text));
        }
        Ok(())
    }
}

/// The owner of the directory above may share out what that one has.
fn check_owner_above(namespace: &Namespace, env: &Env<'_>, path: &Resolved<'_>) -> Result<(), HdfsError> {
    let user = &env.caller.user;
    if path.parent().is_none_or(|parent| namespace.tree.inode(parent).user() == user) {
        return Ok(());
    }
    let parent = path.parent_path();
    Err(HdfsError::access_control(format!("Permission denied. user={user} is not the owner of inode={parent}")))
}

/// OP_SET_QUOTA, and its forms before 0.18. `None`: unchanged.
///
/// # Errors
/// There is no such directory.
pub fn apply(
    namespace: &mut Namespace,
    op: &'static str,
    src: &str,
    names: Option<i64>,
    space: Option<i64>,
) -> Result<Applied, ApplyError> {
    change(namespace, op, src, |quota| {
        quota.names = names.unwrap_or(quota.names);
        quota.space = space.unwrap_or(quota.space);
    })
}

/// OP_SET_QUOTA_BY_STORAGETYPE.
///
/// # Errors
/// There is no such directory.
pub fn apply_by_type(
    namespace: &mut Namespace,
    src: &str,
    storage_type: StorageType,
    quota: i64,
) -> Result<Applied, ApplyError> {
    change(namespace, "OP_SET_QUOTA_BY_STORAGETYPE", src, |q| q.types.set(storage_type, quota))
}

fn change(
    namespace: &mut Namespace,
    op: &'static str,
    src: &str,
    change: impl FnOnce(&mut Quota),
) -> Result<Applied, ApplyError> {
    let handle = namespace.apply_lookup(op, src)?;
    let inode = namespace.tree.inode(handle);
    if !inode.is_directory() {
        return Err(ApplyError::WrongKind { op, path: src.into() });
    }
    let mut quota = inode.quota().copied().unwrap_or_default();
    change(&mut quota);
    if handle == InodeHandle::ROOT && quota.names == Quota::ROOT_NAMES {
        quota.names = RESET;
    }
    namespace.tree.set_quota(handle, quota);
    Ok(Applied::default())
}
