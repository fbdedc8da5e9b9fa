//! setStoragePolicy and unsetStoragePolicy: on which storage types new replicas go. A directory keeps its policy in an
//! extended attribute, for all below that have none. Source: `FSDirAttrOp.setStoragePolicy`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::{EditOp, XAttr};
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::DirOp;
use crate::storage_policy::{self, STORAGE_POLICY_XATTR, StoragePolicy, UNSPECIFIED, XATTR_SYSTEM};
use crate::tree::{FileLayout, InodeHandle, InodeKind, XAttrView};
use alloc::format;
use alloc::vec::Vec;
use surus_types::{ExceptionClass, FsAction, HdfsError};

/// The request; no policy: take away what is set.
#[derive(Clone, Copy, Debug)]
pub struct SetStoragePolicy<'a> {
    pub src: &'a str,
    pub policy: Option<&'a str>,
}

impl Operation for SetStoragePolicy<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        let (readable, operation) = match self.policy {
            Some(_) => ("set storage policy", "setStoragePolicy"),
            None => ("unset storage policy", "unsetStoragePolicy"),
        };
        namespace.check_storage_policies(readable)?;
        if namespace.config.storage_policies_superuser_only {
            namespace.check_superuser(env, operation)?;
        }
        namespace.check_safe_mode(env, format_args!("Cannot {readable} for {}", self.src))?;
        let policy_id = match self.policy {
            Some(name) => storage_policy::by_name(name)?.id,
            None => UNSPECIFIED,
        };
        let path = namespace.resolve_for(env, self.src, DirOp::Write, operation)?;
        namespace.check_path_access(env, &path, FsAction::WRITE)?;
        let handle = namespace.existing(&path, "File/Directory does not exist: ")?;
        match namespace.tree.inode(handle).kind() {
            InodeKind::Directory => {}
            InodeKind::File => check_file(namespace, handle, policy_id)?,
            InodeKind::Symlink => {
                return Err(HdfsError::file_not_found(format!("{} is not a file or directory", path.path)).into());
            }
        }
        Ok(Plan::one(EditOp::SetStoragePolicy { path: path.path.into(), policy_id }, ()))
    }
}

/// LAZY_PERSIST comes with the creation of a file and stays.
fn check_file(namespace: &Namespace, file: InodeHandle, policy_id: u8) -> Result<(), HdfsError> {
    let illegal = |text| Err(HdfsError::new(ExceptionClass::HadoopIllegalArgument, text));
    let fixed = |id: u8| (id != UNSPECIFIED).then(|| storage_policy::by_id(id)).filter(|policy| policy.copy_on_create);
    if let Some(policy) = fixed(policy_id) {
        return illegal(format!("Policy {} cannot be set after file creation.", storage_policy::describe(policy)));
    }
    if let Some(policy) = fixed(namespace.tree.inode(file).local_storage_policy()) {
        return illegal(format!("Existing policy {} cannot be changed after file creation.", policy.name));
    }
    Ok(())
}

impl Namespace {
    /// # Errors
    /// `IOException` where `dfs.storage.policy.enabled` is false.
    pub fn check_storage_policies(&self, what: &str) -> Result<(), HdfsError> {
        if self.config.storage_policies {
            return Ok(());
        }
        Err(HdfsError::io(format!("Failed to {what} since dfs.storage.policy.enabled is set to false.")))
    }

    /// The policy that counts for a path.
    ///
    /// # Errors
    /// `FileNotFoundException`, `AccessControlException`.
    pub fn get_storage_policy(&self, env: &Env<'_>, src: &str) -> Result<&'static StoragePolicy, HdfsError> {
        self.check_storage_policies("get storage policy")?;
        let path = self.resolve(env, src, DirOp::ReadLink)?;
        self.check_path_access(env, &path, FsAction::READ)?;
        let handle = self.existing(&path, "File/Directory does not exist: ")?;
        Ok(storage_policy::by_id(self.tree.inode(handle).storage_policy()))
    }
}

/// OP_SET_STORAGE_POLICY.
///
/// # Errors
/// There is no such file or directory.
pub fn apply(namespace: &mut Namespace, path: &str, policy_id: u8) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_SET_STORAGE_POLICY";
    let handle = namespace.apply_lookup(OP, path)?;
    let inode = namespace.tree.inode(handle);
    match inode.kind() {
        InodeKind::File => {
            let layout = FileLayout { storage_policy: policy_id, ..inode.layout() };
            namespace.tree.set_layout(handle, layout);
        }
        InodeKind::Directory => {
            let mut xattrs: Vec<XAttr> = inode.xattrs().map(XAttrView::to_xattr).collect();
            let is_policy = |x: &XAttr| x.namespace == XATTR_SYSTEM && &*x.name == STORAGE_POLICY_XATTR;
            let old = xattrs.iter_mut().find(|x| is_policy(x));
            let value = Some(alloc::vec![policy_id]);
            match (old, policy_id) {
                (_, UNSPECIFIED) => xattrs.retain(|x| !is_policy(x)),
                (Some(old), _) => old.value = value,
                (None, _) => {
                    xattrs.push(XAttr { namespace: XATTR_SYSTEM, name: STORAGE_POLICY_XATTR.into(), value });
                }
            }
            namespace.tree.set_xattrs(handle, &xattrs);
        }
        InodeKind::Symlink => return Err(ApplyError::WrongKind { op: OP, path: path.into() }),
    }
    Ok(Applied::default())
}
