//! Erasure coding policies: set on directories and taken away, added, removed, enabled, disabled.
//! Source: `FSDirErasureCodingOp.java`, `FSNamesystem.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::{EditOp, ErasureCodingPolicyOp, XAttr};
use crate::erasure_coding::{EcPolicies, POLICY_XATTR, policy_value};
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::DirOp;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::xattr::SYSTEM;
use surus_types::{ErasureCodingPolicy, ExceptionClass, FsAction, HdfsError};

/// The request; `None` of a policy's name: the one that the configuration enables.
#[derive(Clone, Copy, Debug)]
pub struct SetErasureCodingPolicy<'a> {
    pub src: &'a str,
    pub policy: Option<&'a str>,
}

impl Operation for SetErasureCodingPolicy<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot set erasure coding policy on {}", self.src))?;
        let name = self.policy.unwrap_or(&namespace.config.ec_default_policy);
        let policy = namespace.tree.ec_policies().enabled_by_name(name)?;
        let name = policy.map_or(ErasureCodingPolicy::REPLICATION, |policy| policy.name.as_str());
        let path = namespace.resolve_for(env, self.src, DirOp::WriteLink, "setErasureCodingPolicy")?;
        namespace.check_path_access(env, &path, FsAction::WRITE)?;
        let handle = namespace.existing(&path, "Path not found: ")?;
        if !namespace.tree.inode(handle).is_directory() {
            let text = format!("Attempt to set an erasure coding policy for a file {}", path.path);
            return Err(HdfsError::io(text).into());
        }
        let xattr = XAttr { namespace: SYSTEM, name: POLICY_XATTR.into(), value: Some(policy_value(name)) };
        let xattrs = alloc::vec![xattr];
        Ok(Plan::one(EditOp::SetXAttr { src: path.path.into(), xattrs, rpc: env.rpc.clone() }, ()))
    }
}

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct UnsetErasureCodingPolicy<'a> {
    pub src: &'a str,
}

impl Operation for UnsetErasureCodingPolicy<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot unset erasure coding policy on {}", self.src))?;
        let path = namespace.resolve_for(env, self.src, DirOp::WriteLink, "unsetErasureCodingPolicy")?;
        namespace.check_path_access(env, &path, FsAction::WRITE)?;
        let handle = namespace.existing(&path, "Path not found: ")?;
        let inode = namespace.tree.inode(handle);
        if !inode.is_directory() {
            let text = format!("Cannot unset an erasure coding policy on a file {}", path.path);
            return Err(HdfsError::io(text).into());
        }
        let Some(name) = inode.local_ec_policy() else {
            let text = format!("No erasure coding policy explicitly set on {}", path.path);
            return Err(HdfsError::new(ExceptionClass::NoEcPolicySet, text).into());
        };
        let xattr = XAttr { namespace: SYSTEM, name: POLICY_XATTR.into(), value: Some(policy_value(name)) };
        let xattrs = alloc::vec![xattr];
        Ok(Plan::one(EditOp::RemoveXAttr { src: path.path.into(), xattrs, rpc: env.rpc.clone() }, ()))
    }
}

/// The request.
#[derive(Clone, Debug)]
pub struct AddErasureCodingPolicies {
    pub policies: Vec<ErasureCodingPolicyOp>,
}

/// What became of each: the policy there is now, or why not.
pub type AddedPolicies = Vec<Result<ErasureCodingPolicy, String>>;

impl Operation for AddErasureCodingPolicies {
    type Reply = AddedPolicies;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<AddedPolicies>, Refusal> {
        namespace.check_superuser(env, "addErasureCodingPolicies")?;
        namespace.check_safe_mode(env, format_args!("Cannot add erasure coding policy"))?;
        // Ids follow each other: each is planned on what those before it leave.
        let mut policies: EcPolicies = namespace.tree.ec_policies().clone();
        let max_cell_size = namespace.config.ec_max_cell_size;
        let (mut ops, mut reply) = (Vec::new(), Vec::new());
        for new in &self.policies {
            if !namespace.config.ec_user_policies {
                reply.push(Err("Addition of user defined erasure coding policy is disabled.".into()));
                continue;
            }
            let planned = policies.planned(new, max_cell_size);
            if planned.is_ok() {
                policies.add(new, max_cell_size)?;
                ops.push(EditOp::AddErasureCodingPolicy { policy: Box::new(new.clone()), rpc: env.rpc.clone() });
            }
            reply.push(planned.map_err(|error| error.message));
        }
        Ok(Plan::new(ops, reply))
    }
}

/// What is done with a policy by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyChange {
    Enable,
    Disable,
    Remove,
}

impl PolicyChange {
    fn verb(self) -> &'static str {
        match self {
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Remove => "remove",
        }
    }

    fn change(self, policies: &mut EcPolicies, name: &str) -> Result<bool, HdfsError> {
        match self {
            Self::Enable => policies.enable(name),
            Self::Disable => policies.disable(name),
            Self::Remove => policies.remove(name).map(|()| true),
        }
    }
}

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct ChangeErasureCodingPolicy<'a> {
    pub name: &'a str,
    pub change: PolicyChange,
}

impl Operation for ChangeErasureCodingPolicy<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        let verb = self.change.verb();
        let operation = match self.change {
            PolicyChange::Enable => "enableErasureCodingPolicy",
            PolicyChange::Disable => "disableErasureCodingPolicy",
            PolicyChange::Remove => "removeErasureCodingPolicy",
        };
        namespace.check_superuser(env, operation)?;
        namespace.check_safe_mode(env, format_args!("Cannot {verb} erasure coding policy {}", self.name))?;
        let mut policies = namespace.tree.ec_policies().clone();
        if !self.change.change(&mut policies, self.name)? {
            return Ok(Plan::read(()));
        }
        let (name, rpc) = (self.name.into(), env.rpc.clone());
        let op = match self.change {
            PolicyChange::Enable => EditOp::EnableErasureCodingPolicy { name, rpc },
            PolicyChange::Disable => EditOp::DisableErasureCodingPolicy { name, rpc },
            PolicyChange::Remove => EditOp::RemoveErasureCodingPolicy { name, rpc },
        };
        Ok(Plan::one(op, ()))
    }
}

/// OP_ADD_ERASURE_CODING_POLICY.
///
/// # Errors
/// The policy cannot be.
pub fn apply_add(namespace: &mut Namespace, policy: &ErasureCodingPolicyOp) -> Result<Applied, ApplyError> {
    let max_cell_size = u32::MAX;
    let done = namespace.tree.ec_policies_mut().add(policy, max_cell_size);
    done.map(|()| Applied::default()).map_err(|e| ApplyError::other("OP_ADD_ERASURE_CODING_POLICY", "", e.message))
}

/// OP_ENABLE_ERASURE_CODING_POLICY and its kin.
///
/// # Errors
/// There is no such policy.
pub fn apply_change(
    namespace: &mut Namespace,
    op: &'static str,
    name: &str,
    change: PolicyChange,
) -> Result<Applied, ApplyError> {
    let done = change.change(namespace.tree.ec_policies_mut(), name);
    done.map(|_| Applied::default()).map_err(|e| ApplyError::other(op, name, e.message))
}
