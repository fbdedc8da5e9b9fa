//! rename and rename2. The old form answers false where the new one says why.
//! Source: `FSDirRenameOp.java`, Hadoop 3.5.0.

use super::quota::Usage;
use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::{EditOp, RenameOptions};
use crate::permission::Wanted;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, Resolved, check_path_length};
use alloc::borrow::Cow;
use alloc::format;
use surus_types::{ExceptionClass, FsAction, HdfsError, TxId};

/// Both forms' name in refusals.
const OPERATION: &str = "rename";

/// The old form: `FileSystem.rename`.
#[derive(Clone, Copy, Debug)]
pub struct Rename<'a> {
    pub src: &'a str,
    pub dst: &'a str,
}

/// The strict form: `FileContext.rename`, and `FileSystem.rename` with options.
#[derive(Clone, Copy, Debug)]
pub struct Rename2<'a> {
    pub src: &'a str,
    pub dst: &'a str,
    pub options: RenameOptions,
}

impl Operation for Rename<'_> {
    type Reply = bool;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<bool>, Refusal> {
        check_path_length("rename", self.dst)?;
        let src = namespace.resolve_for(env, self.src, DirOp::WriteLink, OPERATION)?;
        let dst = namespace.resolve_for(env, self.dst, DirOp::CreateLink, OPERATION)?;
        let dst = target_in_directory(namespace, &src, dst);
        namespace.check_rename_permissions(env, &src, &dst, false)?;
        namespace.check_source_protected(&src)?;
        if namespace.check_rename_source(&src).is_err() {
            return Ok(Plan::read(false));
        }
        namespace.check_source_snapshots(&src)?;
        // What is renamed to itself stays as it is, and is logged: who reads the events of the log hears of it.
        if src.path != dst.path {
            let refused = check_not_below(&src, &dst).is_err() || dst.last.is_some() || dst.missing > 1;
            if refused {
                return Ok(Plan::read(false));
            }
            namespace.check_rename_nesting(&src, &dst)?;
            namespace.check_rename_zones(&src, &dst)?;
            namespace.verify_rename_limits(&src, &dst)?;
        }
        let op = EditOp::RenameOld {
            src: src.path.into(),
            dst: dst.path.into(),
            timestamp: env.now_ms,
            rpc: env.rpc.clone(),
        };
        Ok(Plan::one(op, true))
    }
}

/// A target that is a directory means: move into it, under the source's name.
fn target_in_directory<'d>(namespace: &Namespace, src: &Resolved<'_>, dst: Resolved<'d>) -> Resolved<'d> {
    let Some(directory) = dst.last.filter(|&last| namespace.tree.inode(last).is_directory() && !src.is_root()) else {
        return dst;
    };
    let name = src.name();
    let last = namespace.tree.child(directory, name.as_bytes());
    let missing = usize::from(last.is_none());
    let separator = if dst.path == "/" { "" } else { "/" };
    let path = Cow::Owned(format!("{}{separator}{name}", dst.path));
    Resolved { path, last, ancestor: directory, missing, ..dst }
}

impl Operation for Rename2<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        check_path_length("rename", self.dst)?;
        let src = namespace.resolve_for(env, self.src, DirOp::WriteLink, OPERATION)?;
        let dst = namespace.resolve_for(env, self.dst, DirOp::CreateLink, OPERATION)?;
        namespace.check_rename_permissions(env, &src, &dst, self.options.to_trash)?;
        namespace.check_source_protected(&src)?;
        namespace.check_rename_source(&src)?;
        namespace.check_source_snapshots(&src)?;
        if src.path == dst.path {
            return Err(HdfsError::new(
                ExceptionClass::FileAlreadyExists,
                format!("The source {} and destination {} are the same", src.path, dst.path),
            )
            .into());
        }
        check_not_below(&src, &dst)?;
        if dst.is_root() {
            return Err(HdfsError::io("rename destination cannot be the root").into());
        }
        namespace.check_rename_zones(&src, &dst)?;
        self.check_overwrite(namespace, &src, &dst)?;
        if let Some(replaced) = dst.last {
            namespace.check_no_snapshots_below(replaced)?;
        }
        if dst.missing > 1 {
            return Err(HdfsError::file_not_found(format!("rename destination parent {} not found.", dst.path)).into());
        }
        namespace.check_rename_nesting(&src, &dst)?;
        namespace.verify_rename_limits(&src, &dst)?;
        let op = EditOp::Rename {
            src: src.path.into(),
            dst: dst.path.into(),
            timestamp: env.now_ms,
            options: self.options,
            rpc: env.rpc.clone(),
        };
        Ok(Plan::one(op, ()))
    }
}

impl Rename2<'_> {
    fn check_overwrite(&self, namespace: &Namespace, src: &Resolved<'_>, dst: &Resolved<'_>) -> Result<(), HdfsError> {
        let (Some(from), Some(to)) = (src.last, dst.last) else { return Ok(()) };
        let (from, to) = (namespace.tree.inode(from), namespace.tree.inode(to));
        if from.is_directory() != to.is_directory() {
            return Err(HdfsError::io(format!(
                "Source {} and destination {} must both be directories",
                src.path, dst.path
            )));
        }
        if !self.options.overwrite {
            return Err(HdfsError::new(
                ExceptionClass::FileAlreadyExists,
                format!("rename destination {} already exists", dst.path),
            ));
        }
        if to.child_count() > 0 {
            return Err(HdfsError::io(format!("rename destination directory is not empty: {}", dst.path)));
        }
        Ok(())
    }
}

fn check_not_below(src: &Resolved<'_>, dst: &Resolved<'_>) -> Result<(), HdfsError> {
    let below = dst.path.strip_prefix(&*src.path).is_some_and(|rest| rest.starts_with('/'));
    if !below {
        return Ok(());
    }
    Err(HdfsError::io(format!("Rename destination {} is a directory or file under source {}", dst.path, src.path)))
}

impl Namespace {
    fn check_rename_permissions(
        &self,
        env: &Env<'_>,
        src: &Resolved<'_>,
        dst: &Resolved<'_>,
        to_trash: bool,
    ) -> Result<(), HdfsError> {
        // What goes to the trash will be deleted by the NameNode's own user: the caller must be allowed to delete it.
        let subtree = to_trash.then_some(FsAction::ALL);
        let wanted =
            Wanted { parent: Some(FsAction::WRITE), subtree, ignore_empty_directories: true, ..Wanted::default() };
        self.check_permission(env, src, wanted)?;
        // The target may have been extended into a directory that its resolution did not walk through.
        self.check_ancestor_access(env, dst, FsAction::EXECUTE)?;
        self.check_ancestor_access(env, dst, FsAction::WRITE)
    }

    fn check_source_protected(&self, src: &Resolved<'_>) -> Result<(), HdfsError> {
        match src.last {
            Some(last) if self.tree.inode(last).child_count() > 0 => self.check_protected(src),
            _ => Ok(()),
        }
    }

    fn check_rename_source(&self, src: &Resolved<'_>) -> Result<(), HdfsError> {
        if src.last.is_none() {
            return Err(HdfsError::file_not_found(format!("rename source {} is not found.", src.path)));
        }
        if src.is_root() {
            return Err(HdfsError::io("rename source cannot be the root"));
        }
        Ok(())
    }

    /// What has snapshots at it or below stays where it is.
    fn check_source_snapshots(&self, src: &Resolved<'_>) -> Result<(), HdfsError> {
        src.last.map_or(Ok(()), |last| self.check_no_snapshots_below(last))
    }

    /// The new name's limits; a directory does not grow by a rename within it.
    fn verify_rename_limits(&self, src: &Resolved<'_>, dst: &Resolved<'_>) -> Result<(), HdfsError> {
        if dst.path == "/.reserved" {
            return Err(HdfsError::new(
                ExceptionClass::InvalidPath,
                "Invalid path name Cannot rename to or from /.reserved",
            ));
        }
        self.verify_name(dst.parent_path(), dst.name())?;
        self.verify_rename_quota(src, dst)?;
        if src.parent() != dst.parent() {
            self.verify_directory_items(dst)?;
        }
        Ok(())
    }
}

impl Namespace {
    /// What moves is checked below the last directory that both paths have, under the policy it will have there.
    /// Source: `FSDirRenameOp.verifyQuotaForRename`, Hadoop 3.5.0.
    fn verify_rename_quota(&self, src: &Resolved<'_>, dst: &Resolved<'_>) -> Result<(), HdfsError> {
        let (Some(handle), Some(to)) = (src.last, dst.parent()) else { return Ok(()) };
        if self.tree.num_quotas() == 0 {
            return Ok(());
        }
        let inherited = self.tree.inode(to).storage_policy();
        let held = self.tree.held(handle).types;
        let mut added =
            Usage { types: self.tree.type_spaces_under(handle, inherited).plus(&held), ..self.usage(handle) };
        if let Some(replaced) = dst.last {
            added = added.minus(&self.usage(replaced));
        }
        let mut common = Some(to);
        while let Some(directory) = common.filter(|&d| !self.tree.is_below(handle, d)) {
            common = self.tree.inode(directory).parent();
        }
        self.verify_quota_after(to, &Usage::default(), &added, common)
    }
}

/// OP_RENAME_OLD and OP_RENAME.
///
/// # Errors
/// A path is missing, or the target exists and must not be overwritten.
pub fn apply(
    namespace: &mut Namespace,
    op: &'static str,
    src: &str,
    dst: &str,
    timestamp: i64,
    overwrite: bool,
    txid: TxId,
) -> Result<Applied, ApplyError> {
    let handle = namespace.apply_lookup(op, src)?;
    let (to, name) = namespace.apply_lookup_parent(op, dst)?;
    let Some(from) = namespace.tree.inode(handle).parent() else {
        return Err(ApplyError::WrongKind { op, path: src.into() });
    };
    if namespace.tree.child(to, name) == Some(handle) {
        return Ok(Applied::default());
    }
    if namespace.tree.is_below(to, handle) || !namespace.tree.inode(to).is_directory() {
        return Err(ApplyError::WrongKind { op, path: dst.into() });
    }
    match namespace.tree.child(to, name) {
        // A directory that is replaced is empty: the source may not lie in it.
        Some(replaced) if overwrite && namespace.tree.inode(replaced).child_count() == 0 => {
            namespace.disallow_snapshots_below(replaced, txid);
            namespace.detach_and_free(replaced, txid);
        }
        Some(_) => return Err(ApplyError::other(op, dst, "the target is in the way")),
        None => {}
    }
    namespace.tree.move_child(handle, to, name).map_err(|error| ApplyError::tree(op, dst, error))?;
    namespace.tree.touch_directory(from, timestamp);
    namespace.tree.touch_directory(to, timestamp);
    Ok(Applied { detached: namespace.has_detached() })
}
