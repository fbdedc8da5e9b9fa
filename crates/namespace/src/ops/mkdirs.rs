//! mkdirs: makes a directory, and its missing parents if asked to.
//! Source: `FSDirMkdirOp.java`, Hadoop 3.5.0.

use super::change_acl::check_acl;
use super::quota::Usage;
use crate::Namespace;
use crate::acl::{self, Inherited};
use crate::apply::{Applied, ApplyError};
use crate::edit_op::{AclEntry, EditOp, XAttr};
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, Resolved, check_path_length};
use crate::tree::{InodeHandle, NewInode};
use alloc::format;
use alloc::vec::Vec;
use surus_types::{ExceptionClass, FsAction, FsPermission, HdfsError, InodeId, PermissionStatus};

/// Write and execute for the owner: what an implicit parent has besides the mode asked for.
const USER_WRITE_EXECUTE: u16 = 0o300;

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct Mkdirs<'a> {
    pub src: &'a str,
    /// The mode with the client's umask applied.
    pub permission: FsPermission,
    /// The mode before the umask; looked at where a default ACL is inherited.
    pub unmasked: Option<FsPermission>,
    pub create_parent: bool,
}

impl Operation for Mkdirs<'_> {
    type Reply = bool;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<bool>, Refusal> {
        check_path_length("mkdirs", self.src)?;
        let path = namespace.resolve_for(env, self.src, DirOp::CreateLink, "mkdirs")?;
        if let Some(last) = path.last {
            if namespace.tree.inode(last).is_directory() {
                return Ok(Plan::read(true));
            }
            return Err(HdfsError::new(
                ExceptionClass::FileAlreadyExists,
                format!("Path is not a directory: {}", self.src),
            )
            .into());
        }
        namespace.check_ancestor_access(env, &path, FsAction::WRITE)?;
        if !self.create_parent {
            namespace.verify_parent_exists(&path)?;
        }
        namespace.verify_new_names(&path)?;
        // Hadoop stops at the first name that does not fit; what it made until then stays there. Here nothing stays.
        for names in 1..=path.missing as i64 {
            namespace.verify_quota(path.ancestor, &Usage::names(names))?;
        }
        // The parents take the mode that was asked for, without the sticky bit, so that the caller can go on inside.
        let implicit = FsPermission(self.permission.0 & 0o777 | USER_WRITE_EXECUTE);
        let mut ops = plan_directories(namespace, env, &path, path.missing - 1, (implicit, self.unmasked));
        ops.push(mkdir_op(namespace, env, &path, ops.len(), &path.path, (self.permission, self.unmasked)));
        Ok(Plan::new(ops, true))
    }
}

/// The mode asked for with the client's umask applied, and before it where the client says.
pub type Modes = (FsPermission, Option<FsPermission>);

/// The OP_MKDIR list for the first `count` missing components of `path`.
pub fn plan_directories(
    namespace: &Namespace,
    env: &Env<'_>,
    path: &Resolved<'_>,
    count: usize,
    modes: Modes,
) -> Vec<EditOp> {
    let mut ops = Vec::with_capacity(count + 1);
    for i in 0..count {
        let keep = path.missing - 1 - i;
        ops.push(mkdir_op(namespace, env, path, i, prefix(&path.path, keep), modes));
    }
    ops
}

/// The OP_MKDIR list for the missing parents of `path`, as create makes them: the mode of the first existing ancestor,
/// without its sticky bit.
pub fn plan_missing_parents(namespace: &Namespace, env: &Env<'_>, path: &Resolved<'_>) -> Vec<EditOp> {
    let mode = namespace.tree.inode(path.ancestor).permission();
    let implicit = FsPermission(mode.0 & 0o777 | USER_WRITE_EXECUTE);
    plan_directories(namespace, env, path, path.missing.saturating_sub(1), (implicit, None))
}

fn mkdir_op(
    namespace: &Namespace,
    env: &Env<'_>,
    path: &Resolved<'_>,
    nth: usize,
    new_path: &str,
    modes: Modes,
) -> EditOp {
    let Inherited { mode, acl } = namespace.inherited(path, true, modes);
    EditOp::Mkdir {
        inode_id: InodeId(namespace.last_inode_id.0 + 1 + nth as u64),
        path: new_path.into(),
        timestamp: env.now_ms,
        permission: PermissionStatus {
            user: env.caller.user.clone(),
            group: namespace.tree.inode(path.ancestor).group().clone(),
            permission: mode,
        },
        acl,
        xattrs: Vec::new(),
    }
}

/// `path` without its last `drop` components.
fn prefix(path: &str, drop: usize) -> &str {
    let mut path = path;
    for _ in 0..drop {
        path = path.rfind('/').map_or("", |i| &path[..i]);
    }
    path
}

/// OP_MKDIR.
///
/// # Errors
/// The parent is missing, or the name or id is taken.
pub fn apply(
    namespace: &mut Namespace,
    inode_id: InodeId,
    path: &str,
    timestamp: i64,
    permission: &PermissionStatus,
    acl: &[AclEntry],
    xattrs: &[XAttr],
) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_MKDIR";
    let (parent, name) = namespace.apply_lookup_parent(OP, path)?;
    check_acl(OP, path, acl, true)?;
    let new = NewInode { id: inode_id, permission, modification_time: timestamp, access_time: 0 };
    let directory =
        namespace.tree.add_directory(parent, name, &new).map_err(|error| ApplyError::tree(OP, path, error))?;
    namespace.apply_features(directory, acl, xattrs);
    namespace.tree.touch_directory(parent, timestamp);
    namespace.note_inode_id(inode_id);
    Ok(Applied::default())
}

impl Namespace {
    /// Mode and ACL of what is made below `path.ancestor`: every directory on the way hands on the same default ACL.
    pub(super) fn inherited(&self, path: &Resolved<'_>, is_directory: bool, (mode, unmasked): Modes) -> Inherited {
        let limit = unmasked.filter(|_| self.config.posix_acl_inheritance).unwrap_or(mode);
        let parent = self.tree.inode(path.ancestor);
        acl::inherit(parent, is_directory, limit).unwrap_or(Inherited { mode, acl: Vec::new() })
    }

    /// Gives a new inode the ACL (checked by `check_acl`) and the attributes that its operation names.
    pub(super) fn apply_features(&mut self, handle: InodeHandle, acl: &[AclEntry], xattrs: &[XAttr]) {
        if let Some((mode, feature)) = acl::split(acl, self.tree.inode(handle).permission()) {
            self.tree.set_permission(handle, mode);
            self.tree.set_acl(handle, &feature);
        }
        if !xattrs.is_empty() {
            self.tree.set_xattrs(handle, xattrs);
        }
    }

    /// The limits on what is about to be created: every missing component of `path`.
    ///
    /// # Errors
    /// Reserved names, component length, directory items, the limit on objects.
    pub fn verify_new_names(&self, path: &Resolved<'_>) -> Result<(), HdfsError> {
        self.verify_object_limit(path.missing as u64)?;
        for i in (0..path.missing).rev() {
            let new_path = prefix(&path.path, i);
            let (parent, name) = new_path.rsplit_once('/').unwrap_or(("", new_path));
            let parent = if parent.is_empty() { "/" } else { parent };
            self.verify_name(parent, name)?;
        }
        self.verify_directory_items(path)
    }

    /// Whether one name may be created in `parent`.
    ///
    /// # Errors
    /// Reserved or too long.
    pub fn verify_name(&self, parent: &str, name: &str) -> Result<(), HdfsError> {
        let illegal = |text: &str| Err(HdfsError::new(ExceptionClass::HadoopIllegalArgument, text));
        if name == ".reserved" && parent == "/" {
            return illegal(
                "File name \".reserved\" is reserved and cannot be created. If this is during upgrade change the name of \
                 the existing file or directory to another name before upgrading to the new release.",
            );
        }
        let limit = self.config.max_component_length as usize;
        if limit > 0 && name.len() > limit {
            return Err(HdfsError::new(
                ExceptionClass::PathComponentTooLong,
                format!(
                    "The maximum path component name limit of {name} in directory {parent} is exceeded: limit={limit} \
                     length={}",
                    name.len()
                ),
            ));
        }
        if name == ".snapshot" {
            return illegal("\".snapshot\" is a reserved name.");
        }
        Ok(())
    }

    /// Whether the directory that gets the first missing component has room.
    ///
    /// # Errors
    /// `MaxDirectoryItemsExceededException`.
    pub fn verify_directory_items(&self, path: &Resolved<'_>) -> Result<(), HdfsError> {
        let items = self.tree.inode(path.ancestor).child_count();
        let limit = self.config.max_directory_items;
        if items < limit {
            return Ok(());
        }
        let directory = self.tree.path_of(path.ancestor).unwrap_or_default();
        Err(HdfsError::new(
            ExceptionClass::MaxDirectoryItemsExceeded,
            format!("The directory item limit of {directory} is exceeded: limit={limit} items={items}"),
        ))
    }

    /// Calls without `createParent` need the parent there.
    ///
    /// # Errors
    /// `FileNotFoundException`.
    pub fn verify_parent_exists(&self, path: &Resolved<'_>) -> Result<(), HdfsError> {
        if path.missing <= 1 {
            return Ok(());
        }
        Err(HdfsError::file_not_found(format!("Parent directory doesn't exist: {}", path.parent_path())))
    }

    fn verify_object_limit(&self, new: u64) -> Result<(), HdfsError> {
        let limit = self.config.max_objects;
        if limit == 0 || self.num_inodes() + self.blocks.num_blocks() as u64 + new <= limit {
            return Ok(());
        }
        Err(HdfsError::io(format!("Exceeded the configured number of objects {limit} in the filesystem.")))
    }
}
