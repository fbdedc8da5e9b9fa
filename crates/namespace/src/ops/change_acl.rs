//! modifyAclEntries, removeAclEntries, removeDefaultAcl, removeAcl, setAcl: all log the whole new list as OP_SET_ACL.
//! Source: `FSDirAclOp.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::acl;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::{AclEntry, EditOp};
use crate::permission::Wanted;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::DirOp;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::{AclChange, ExceptionClass, HdfsError};

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct ChangeAcl<'a> {
    pub src: &'a str,
    pub change: AclChange<'a>,
}

fn apply_to(existing: &[AclEntry], change: AclChange<'_>) -> Result<Vec<AclEntry>, String> {
    match change {
        AclChange::Modify(spec) => acl::merge(existing, spec),
        AclChange::RemoveEntries(spec) => acl::remove_entries(existing, spec),
        AclChange::RemoveDefault => acl::remove_defaults(existing),
        AclChange::Remove | AclChange::Set([]) => Ok(Vec::new()),
        AclChange::Set(spec) => acl::replace(existing, spec),
    }
}

impl Operation for ChangeAcl<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_acls_enabled()?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, self.change.operation())?;
        namespace.check_permission(env, &path, Wanted { owner: true, ..Wanted::default() })?;
        let inode = namespace.tree.inode(namespace.existing(&path, "Directory/File does not exist ")?);
        // setAcl names the path as it was given.
        let shown = if matches!(self.change, AclChange::Set(_)) { self.src } else { &path.path };
        let refused = |text: String| HdfsError::new(ExceptionClass::Acl, format!("{text} Path: {shown}"));
        let entries = apply_to(&acl::logical(inode), self.change).map_err(refused)?;
        if !inode.is_directory() && entries.iter().any(|entry| entry.is_default) {
            let path = &path.path;
            return Err(refused(format!("Invalid ACL: only directories may have a default ACL. Path: {path}")).into());
        }
        Ok(Plan::one(EditOp::SetAcl { src: path.path.into(), entries }, ()))
    }
}

/// OP_SET_ACL. No entries: the ACL goes.
///
/// # Errors
/// The path is missing, or the list is none that a plan makes.
pub fn apply(namespace: &mut Namespace, src: &str, entries: &[AclEntry]) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_SET_ACL";
    let handle = namespace.apply_lookup(OP, src)?;
    let inode = namespace.tree.inode(handle);
    check_acl(OP, src, entries, inode.is_directory())?;
    let (mode, feature) =
        acl::split(entries, inode.permission()).unwrap_or_else(|| (acl::mode_without(inode), Vec::new()));
    namespace.tree.set_permission(handle, mode);
    namespace.tree.set_acl(handle, &feature);
    Ok(Applied::default())
}

/// Whether an operation's list is empty or a whole one.
pub(super) fn check_acl(
    op: &'static str,
    path: &str,
    entries: &[AclEntry],
    is_directory: bool,
) -> Result<(), ApplyError> {
    let is_whole = entries.is_empty() || acl::split(entries, Default::default()).is_some();
    if is_whole && (is_directory || !entries.iter().any(|entry| entry.is_default)) {
        return Ok(());
    }
    Err(ApplyError::other(op, path, "its ACL is none that the path can have"))
}

impl Namespace {
    /// Refuses every ACL call where ACLs are off.
    ///
    /// # Errors
    /// `AclException`.
    pub fn check_acls_enabled(&self) -> Result<(), HdfsError> {
        if self.config.acls_enabled {
            return Ok(());
        }
        Err(HdfsError::new(
            ExceptionClass::Acl,
            "The ACL operation has been rejected.  Support for ACLs has been disabled by setting \
             dfs.namenode.acls.enabled to false.",
        ))
    }
}
