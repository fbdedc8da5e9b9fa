//! setReplication: how many replicas the blocks of a file should have; copies and deletions follow in the background.
//! Source: `FSDirAttrOp.setReplication`, Hadoop 3.5.0.

use super::quota::Usage;
use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::DirOp;
use surus_types::FsAction;

/// The request: `false` for a directory or a path that does not exist.
#[derive(Clone, Copy, Debug)]
pub struct SetReplication<'a> {
    pub src: &'a str,
    pub replication: u32,
}

impl Operation for SetReplication<'_> {
    type Reply = bool;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<bool>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot set replication for {}", self.src))?;
        namespace.verify_replication(self.src, self.replication, None)?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "setReplication")?;
        namespace.check_path_access(env, &path, FsAction::WRITE)?;
        let has_replicas = |last| {
            let inode = namespace.tree.inode(last);
            inode.is_file() && inode.ec_policy().is_none()
        };
        if let (Some(last), Some(parent)) = (path.last, path.parent())
            && has_replicas(last)
        {
            let inode = namespace.tree.inode(last);
            let (policy, length) = (inode.storage_policy(), inode.charged_length() as i64);
            let of = |replication| Usage::bytes(length, replication, policy);
            namespace.verify_quota(
                parent,
                &of(self.replication as u16).minus(&of(namespace.tree.block_replication(last))),
            )?;
        }
        match path.last {
            Some(last) if has_replicas(last) => Ok(Plan::one(
                EditOp::SetReplication { path: path.path.as_ref().into(), replication: self.replication as u16 },
                true,
            )),
            _ => Ok(Plan::read(false)),
        }
    }
}

/// OP_SET_REPLICATION.
///
/// # Errors
/// There is no such file.
pub fn apply(namespace: &mut Namespace, path: &str, replication: u16) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_SET_REPLICATION";
    let file = namespace.apply_lookup(OP, path)?;
    if !namespace.tree.inode(file).is_file() {
        return Err(ApplyError::WrongKind { op: OP, path: path.into() });
    }
    namespace.tree.set_replication(file, replication);
    namespace.refresh_block_replication(file);
    Ok(Applied::default())
}
