//! The one place that says no: owner, group, other, ACL, sticky bit, superuser. Texts are Hadoop's, since clients show them.
//! Source: `FSPermissionChecker.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::edit_op::AclEntryKind;
use crate::plan::Env;
use crate::resolve::Resolved;
use crate::tree::{CURRENT, InodeHandle, InodeView};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use surus_types::{FsAction, HdfsError};

/// What a call needs along a path. All that is `None` or false is not looked at.
#[derive(Clone, Copy, Default, Debug)]
pub struct Wanted {
    /// The caller owns the last inode.
    pub owner: bool,
    /// On the deepest inode that exists above the last component.
    pub ancestor: Option<FsAction>,
    /// On the parent, if it exists; with WRITE the sticky bit is obeyed too.
    pub parent: Option<FsAction>,
    /// On the last inode, if it exists.
    pub access: Option<FsAction>,
    /// On the last inode, if it is a directory, and every directory below it.
    pub subtree: Option<FsAction>,
    /// Directories without children need nothing of `subtree`.
    pub ignore_empty_directories: bool,
    /// Look at the subtree's directories in name order, and at nothing but `subtree`: Hadoop's content summary does. Its
    /// other checks take the last directory first (which one a denial names depends on it) and obey sticky bits.
    pub summary: bool,
}

impl Namespace {
    /// Whether permissions are looked at for this caller at all.
    pub fn is_checked(&self, env: &Env<'_>) -> bool {
        self.config.permissions_enabled && !env.caller.is_superuser
    }

    /// Checks everything in `wanted`, in Hadoop's order. Walking was checked by `resolve`.
    ///
    /// # Errors
    /// `AccessControlException`.
    pub fn check_permission(&self, env: &Env<'_>, path: &Resolved<'_>, wanted: Wanted) -> Result<(), HdfsError> {
        if !self.is_checked(env) {
            return if wanted.owner { self.check_owner_when_off(env, path) } else { Ok(()) };
        }
        let parent = path.parent();
        if let (Some(action), Some(parent), Some(last)) = (wanted.parent, parent, path.last)
            && action.implies(FsAction::WRITE)
        {
            self.check_sticky(env, parent, last)?;
        }
        if let Some(action) = wanted.ancestor
            && !path.is_root()
        {
            self.check_view_access(env, self.shown(path, path.ancestor), action)?;
        }
        if let (Some(action), Some(parent)) = (wanted.parent, parent) {
            self.check_view_access(env, self.shown(path, parent), action)?;
        }
        let Some(last) = path.last else { return Ok(()) };
        if let Some(action) = wanted.access {
            self.check_view_access(env, self.shown(path, last), action)?;
        }
        if let Some(action) = wanted.subtree
            && path.snapshot != CURRENT
        {
            self.check_past_subtree(env, self.shown(path, last), action)?;
        } else if let Some(action) = wanted.subtree {
            self.check_subtree(env, last, action, wanted)?;
        }
        if wanted.owner {
            self.check_owner(env, last, &path.path)?;
        }
        Ok(())
    }

    /// `action` on the path's inode, as [`Namespace::check_permission`] with `access`.
    ///
    /// # Errors
    /// `AccessControlException`.
    pub fn check_path_access(&self, env: &Env<'_>, path: &Resolved<'_>, action: FsAction) -> Result<(), HdfsError> {
        self.check_permission(env, path, Wanted { access: Some(action), ..Wanted::default() })
    }

    /// `action` on the parent.
    ///
    /// # Errors
    /// `AccessControlException`.
    pub fn check_parent_access(&self, env: &Env<'_>, path: &Resolved<'_>, action: FsAction) -> Result<(), HdfsError> {
        self.check_permission(env, path, Wanted { parent: Some(action), ..Wanted::default() })
    }

    /// `action` on the deepest ancestor that exists.
    ///
    /// # Errors
    /// `AccessControlException`.
    pub fn check_ancestor_access(&self, env: &Env<'_>, path: &Resolved<'_>, action: FsAction) -> Result<(), HdfsError> {
        self.check_permission(env, path, Wanted { ancestor: Some(action), ..Wanted::default() })
    }

    /// Whether the caller may do `action` with one inode.
    ///
    /// # Errors
    /// `AccessControlException` with the denial text.
    pub fn check_access(&self, env: &Env<'_>, handle: InodeHandle, action: FsAction) -> Result<(), HdfsError> {
        self.check_view_access(env, self.tree.inode(handle), action)
    }

    /// Whether the caller may do `action` with one inode, as it is or as it was.
    ///
    /// # Errors
    /// `AccessControlException` with the denial text.
    pub fn check_view_access(&self, env: &Env<'_>, inode: InodeView<'_>, action: FsAction) -> Result<(), HdfsError> {
        if self.is_checked(env) { self.check_inode(env, inode, action) } else { Ok(()) }
    }

    /// Every directory of a subtree in a snapshot, unless a [`crate::PastWalk`] has seen to them.
    fn check_past_subtree(&self, env: &Env<'_>, top: InodeView<'_>, action: FsAction) -> Result<(), HdfsError> {
        if !self.is_checked(env) || self.walked_past.contains(&(top.snapshot(), top.handle())) {
            return Ok(());
        }
        let mut open = alloc::vec![top.handle()];
        while let Some(handle) = open.pop() {
            let inode = self.tree.inode_at(handle, top.snapshot());
            if inode.is_directory() {
                self.check_view_access(env, inode, action)?;
                let from = open.len();
                open.extend(self.tree.children_at(handle, top.snapshot(), b"").map(|(_, child)| child));
                open[from..].reverse();
            }
        }
        Ok(())
    }

    fn check_inode(&self, env: &Env<'_>, inode: InodeView<'_>, action: FsAction) -> Result<(), HdfsError> {
        if has_permission(env, &inode, action) {
            return Ok(());
        }
        Err(HdfsError::access_control(format!(
            "Permission denied: user={}, access={}, inode={}",
            env.caller.user,
            action.name(),
            self.describe(inode, inode),
        )))
    }

    /// Refuses callers who are not superuser.
    ///
    /// # Errors
    /// `AccessControlException`; `operation` is the name the audit log uses.
    pub fn check_superuser(&self, env: &Env<'_>, operation: &str) -> Result<(), HdfsError> {
        if env.caller.is_superuser {
            return Ok(());
        }
        Err(HdfsError::access_control(format!(
            "Access denied for user {}. Superuser privilege is required for operation {operation}",
            env.caller.user
        )))
    }

    /// Calls for owners stay theirs with `dfs.permissions.enabled` off; Hadoop looks at the way there too.
    /// Source: `FSDirectory.checkOwner`, Hadoop 3.5.0.
    fn check_owner_when_off(&self, env: &Env<'_>, path: &Resolved<'_>) -> Result<(), HdfsError> {
        let (false, Some(last)) = (env.caller.is_superuser, path.last) else { return Ok(()) };
        let mut ancestors = Vec::new();
        let mut at = self.tree.inode(last).parent();
        while let Some(handle) = at {
            ancestors.push(handle);
            at = self.tree.inode(handle).parent();
        }
        for handle in ancestors.into_iter().rev() {
            self.check_inode(env, self.tree.inode(handle), FsAction::EXECUTE)?;
        }
        self.check_owner(env, last, &path.path)
    }

    fn check_owner(&self, env: &Env<'_>, handle: InodeHandle, path: &str) -> Result<(), HdfsError> {
        if *self.tree.inode(handle).user() == env.caller.user {
            return Ok(());
        }
        Err(HdfsError::access_control(format!(
            "Permission denied. user={} is not the owner of inode={path}",
            env.caller.user
        )))
    }

    fn check_sticky(&self, env: &Env<'_>, parent: InodeHandle, last: InodeHandle) -> Result<(), HdfsError> {
        self.check_sticky_as(env, parent, last, parent)
    }

    /// `shown`: whose owner and mode the text gives to the parent. Within a subtree Hadoop shows those of its top.
    pub(crate) fn check_sticky_as(
        &self,
        env: &Env<'_>,
        parent: InodeHandle,
        last: InodeHandle,
        shown: InodeHandle,
    ) -> Result<(), HdfsError> {
        let (directory, inode) = (self.tree.inode(parent), self.tree.inode(last));
        let user = &env.caller.user;
        if !directory.permission().is_sticky() || directory.user() == user || inode.user() == user {
            return Ok(());
        }
        Err(HdfsError::access_control(format!(
            "Permission denied by sticky bit: user={user}, path={}, parent={}",
            self.describe(inode, inode),
            self.describe(directory, self.tree.inode(shown)),
        )))
    }

    /// Every directory of the subtree, depth first.
    pub(crate) fn check_subtree(
        &self,
        env: &Env<'_>,
        top: InodeHandle,
        action: FsAction,
        wanted: Wanted,
    ) -> Result<(), HdfsError> {
        if !self.tree.inode(top).is_directory() || self.walked == Some(top) {
            return Ok(());
        }
        let mut open: Vec<InodeHandle> = alloc::vec![top];
        while let Some(handle) = open.pop() {
            let directory = self.tree.inode(handle);
            if directory.child_count() > 0 || !wanted.ignore_empty_directories {
                self.check_access(env, handle, action)?;
            }
            if directory.permission().is_sticky() && !wanted.summary && (directory.child_count() > 0) {
                for child in directory.children(b"") {
                    self.check_sticky_as(env, handle, child, top)?;
                }
            }
            // The counters tell whether there are directories below at all: most hold files only, perhaps a million.
            if directory.counts().directories == 1 {
                continue;
            }
            let from = open.len();
            open.extend(directory.children(b"").filter(|&child| self.tree.inode(child).is_directory()));
            if wanted.summary {
                open[from..].reverse();
            }
        }
        Ok(())
    }

    /// `"/path":owner:group:drwxr-xr-x`: the path of one inode, usually with its own attributes.
    fn describe(&self, inode: InodeView<'_>, shown: InodeView<'_>) -> String {
        let path = self.tree.path_at(inode.handle(), inode.snapshot()).unwrap_or_else(|| "?".to_string());
        let kind = if shown.is_directory() { 'd' } else { '-' };
        format!("\"{path}\":{}:{}:{kind}{}", shown.user(), shown.group(), shown.permission())
    }
}

/// Only one class counts: the owner's bits for the owner, else the group's for a member, else the others'.
fn has_permission(env: &Env<'_>, inode: &InodeView<'_>, action: FsAction) -> bool {
    let mode = inode.permission();
    // An inode may have default entries alone.
    if inode.has_acl() && inode.acl().next().is_some_and(|entry| !entry.is_default) {
        return has_acl_permission(env, inode, action);
    }
    let granted = if *inode.user() == env.caller.user {
        mode.user_action()
    } else if env.caller.is_in_group(inode.group()) {
        mode.group_action()
    } else {
        mode.other_action()
    };
    granted.implies(action)
}

/// The owner's bits for the owner; else the entry of the user; else any entry of one of his groups that grants all of it.
/// The group bits of the mode are the mask of named users and of groups. Others' bits for whom nothing matches.
fn has_acl_permission(env: &Env<'_>, inode: &InodeView<'_>, action: FsAction) -> bool {
    let mode = inode.permission();
    let user = &env.caller.user;
    if inode.user() == user {
        return mode.user_action().implies(action);
    }
    let is_granted = |permission: FsAction| FsAction(permission.0 & mode.group_action().0).implies(action);
    let mut is_member = false;
    for entry in inode.acl().take_while(|entry| !entry.is_default) {
        match (entry.kind, entry.name) {
            (AclEntryKind::User, Some(name)) if name == user => return is_granted(entry.permission),
            (AclEntryKind::Group, name) if env.caller.is_in_group(name.unwrap_or(inode.group())) => {
                if is_granted(entry.permission) {
                    return true;
                }
                is_member = true;
            }
            _ => {}
        }
    }
    !is_member && mode.other_action().implies(action)
}
