//! The erasure coding policies of the file system, and which one counts for a path.
//! Source: `ErasureCodingPolicyManager.java`, `FSDirErasureCodingOp.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::edit_op::ErasureCodingPolicyOp;
use crate::tree::InodeView;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use surus_types::{EcPolicyState, ErasureCodingPolicy, ExceptionClass, HdfsError};

/// The extended attribute (of the namespace `system`) that holds a directory's policy: the length of its name in four
/// bytes, and the name.
pub const POLICY_XATTR: &str = "hdfs.erasurecoding.policy";

const CODECS: [&str; 3] = ["rs", "rs-legacy", "xor"];

/// A policy and what is allowed with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EcPolicyInfo {
    pub policy: ErasureCodingPolicy,
    pub state: EcPolicyState,
    /// As an image holds it: a policy that only the configuration enables is disabled there.
    pub persisted: EcPolicyState,
}

/// All policies, by id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EcPolicies {
    list: Vec<EcPolicyInfo>,
}

impl Default for EcPolicies {
    /// The built-in ones, all of them disabled.
    fn default() -> Self {
        let state = EcPolicyState::Disabled;
        let info = |policy| EcPolicyInfo { policy, state, persisted: state };
        EcPolicies { list: ErasureCodingPolicy::all_built_in().into_iter().map(info).collect() }
    }
}

fn illegal(text: String) -> HdfsError {
    HdfsError::new(ExceptionClass::HadoopIllegalArgument, text)
}

impl EcPolicies {
    /// By id, as images list them.
    pub fn by_id(&self) -> &[EcPolicyInfo] {
        &self.list
    }

    /// By name, as calls list them.
    pub fn by_name(&self) -> Vec<&EcPolicyInfo> {
        let mut sorted: Vec<&EcPolicyInfo> = self.list.iter().collect();
        sorted.sort_by(|a, b| a.policy.name.cmp(&b.policy.name));
        sorted
    }

    pub fn find(&self, name: &str) -> Option<&EcPolicyInfo> {
        self.list.iter().find(|info| info.policy.name == name)
    }

    pub fn find_id(&self, id: u8) -> Option<&EcPolicyInfo> {
        self.list.iter().find(|info| info.policy.id == id)
    }

    pub fn enabled(&self) -> Vec<&ErasureCodingPolicy> {
        let enabled = self.by_name().into_iter().filter(|info| info.state == EcPolicyState::Enabled);
        enabled.map(|info| &info.policy).collect()
    }

    /// A policy that new directories and files may have. `None`: replication.
    ///
    /// # Errors
    /// `HadoopIllegalArgumentException`.
    pub fn enabled_by_name(&self, name: &str) -> Result<Option<&ErasureCodingPolicy>, HdfsError> {
        let enabled = self.enabled();
        if let Some(policy) = enabled.iter().find(|p| p.name == name) {
            return Ok(Some(policy));
        }
        if name.eq_ignore_ascii_case(ErasureCodingPolicy::REPLICATION) {
            return Ok(None);
        }
        let names: Vec<&str> = enabled.iter().map(|p| p.name.as_str()).collect();
        Err(illegal(format!(
            "Policy '{name}' does not match any enabled erasure coding policies: [{}]. An erasure coding policy can be \
             enabled by enableErasureCodingPolicy API.",
            names.join(", ")
        )))
    }

    fn existing(&mut self, name: &str) -> Result<&mut EcPolicyInfo, HdfsError> {
        let found = self.list.iter_mut().find(|info| info.policy.name == name);
        found.ok_or_else(|| illegal(format!("The policy name {name} does not exist")))
    }

    /// What the configuration enables at start-up.
    pub fn enable_default(&mut self, name: &str) {
        if let Ok(info) = self.existing(name) {
            info.state = EcPolicyState::Enabled;
        }
    }

    /// The policy that adding this one comes to: an equal one that is there, or a new one.
    ///
    /// # Errors
    /// `HadoopIllegalArgumentException`.
    pub fn planned(&self, new: &ErasureCodingPolicyOp, max_cell_size: u32) -> Result<ErasureCodingPolicy, HdfsError> {
        if !CODECS.contains(&&*new.codec) {
            return Err(illegal(format!("Codec name {} is not supported", new.codec)));
        }
        if new.cell_size > max_cell_size {
            return Err(illegal(format!(
                "Cell size {} should not exceed maximum {max_cell_size} bytes",
                new.cell_size
            )));
        }
        let name = ErasureCodingPolicy::compose_name(&new.codec, new.data_units, new.parity_units, new.cell_size);
        let mut options = new.extra_options.clone();
        options.sort();
        let is_same = |p: &ErasureCodingPolicy| {
            p.codec == *new.codec
                && (p.data_units, p.parity_units, p.cell_size) == (new.data_units, new.parity_units, new.cell_size)
                && p.options == options
        };
        if let Some(info) = self.by_name().into_iter().find(|i| i.policy.name == name || is_same(&i.policy)) {
            return Ok(info.policy.clone());
        }
        let last = self.list.last().map_or(0, |info| info.policy.id);
        if last == ErasureCodingPolicy::LAST_USER_ID {
            return Err(illegal(format!(
                "Adding erasure coding policy failed because the number of policies stored in the system already reached \
                 the threshold, which is {last}"
            )));
        }
        let id = (last + 1).max(ErasureCodingPolicy::FIRST_USER_ID);
        let (data_units, parity_units, cell_size) = (new.data_units, new.parity_units, new.cell_size);
        Ok(ErasureCodingPolicy { id, name, codec: new.codec.to_string(), data_units, parity_units, cell_size, options })
    }

    /// # Errors
    /// As [`EcPolicies::planned`].
    pub fn add(&mut self, new: &ErasureCodingPolicyOp, max_cell_size: u32) -> Result<(), HdfsError> {
        let policy = self.planned(new, max_cell_size)?;
        if self.find_id(policy.id).is_none() {
            let state = EcPolicyState::Disabled;
            self.list.push(EcPolicyInfo { policy, state, persisted: state });
        }
        Ok(())
    }

    /// What an image holds of a policy.
    pub fn load(&mut self, policy: ErasureCodingPolicy, state: EcPolicyState) {
        let info = EcPolicyInfo { policy, state, persisted: state };
        match self.list.iter_mut().find(|i| i.policy.id == info.policy.id) {
            Some(known) => *known = info,
            None => {
                self.list.push(info);
                self.list.sort_by_key(|info| info.policy.id);
            }
        }
    }

    /// Whether anything changes, and the change.
    ///
    /// # Errors
    /// `HadoopIllegalArgumentException`.
    pub fn enable(&mut self, name: &str) -> Result<bool, HdfsError> {
        let info = self.existing(name)?;
        let before = info.clone();
        (info.state, info.persisted) = (EcPolicyState::Enabled, EcPolicyState::Enabled);
        Ok(before != *info)
    }

    /// # Errors
    /// `HadoopIllegalArgumentException`.
    pub fn disable(&mut self, name: &str) -> Result<bool, HdfsError> {
        let info = self.existing(name)?;
        if info.state != EcPolicyState::Enabled {
            return Ok(false);
        }
        (info.state, info.persisted) = (EcPolicyState::Disabled, EcPolicyState::Disabled);
        Ok(true)
    }

    /// # Errors
    /// `HadoopIllegalArgumentException`.
    pub fn remove(&mut self, name: &str) -> Result<(), HdfsError> {
        let info = self.existing(name)?;
        if info.policy.is_system() {
            return Err(illegal(format!("System erasure coding policy {name} cannot be removed")));
        }
        (info.state, info.persisted) = (EcPolicyState::Removed, EcPolicyState::Removed);
        Ok(())
    }
}

/// The value of [`POLICY_XATTR`].
pub(crate) fn policy_value(name: &str) -> Vec<u8> {
    let mut value = (name.len() as u32).to_be_bytes().to_vec();
    value.extend_from_slice(name.as_bytes());
    value
}

impl<'a> InodeView<'a> {
    /// The name in the directory's own attribute.
    pub fn local_ec_policy(self) -> Option<&'a str> {
        let value = self.xattr(surus_types::xattr::SYSTEM, POLICY_XATTR)?;
        core::str::from_utf8(value.get(4..)?).ok()
    }

    /// The policy that counts for this inode: a file's own; a directory's own or that of the nearest above with one.
    /// `None`: replication.
    pub fn ec_policy(self) -> Option<&'a ErasureCodingPolicy> {
        if self.is_file() {
            return match self.layout().erasure_coding_policy {
                ErasureCodingPolicy::REPLICATION_ID => None,
                id => self.ec_policies().find_id(id).map(|info| &info.policy),
            };
        }
        let name = self.inherited_ec_policy()?;
        self.ec_policies().find(name).map(|info| &info.policy)
    }

    /// As content summaries show it. Source: `INode.computeContentSummary`, Hadoop 3.5.0.
    pub fn ec_policy_shown(self) -> &'a str {
        if self.is_file() {
            return self.ec_policy().map_or("Replicated", |policy| &policy.name);
        }
        if self.is_directory() { self.inherited_ec_policy().unwrap_or("") } else { "" }
    }
}

impl Namespace {
    /// # Errors
    /// `HadoopIllegalArgumentException`.
    pub fn ec_policy_by_name(&self, name: &str) -> Result<&ErasureCodingPolicy, HdfsError> {
        let found = self.tree.ec_policies().find(name).map(|info| &info.policy);
        found.ok_or_else(|| illegal(format!("The given erasure coding policy {name} does not exist.")))
    }

    /// Whether so many DataNodes and racks can hold block groups of these policies, and why not.
    /// Source: `ECTopologyVerifier.java`, Hadoop 3.5.0.
    pub fn ec_topology(&self, policies: &[&ErasureCodingPolicy]) -> (bool, String) {
        let names: Vec<&str> = policies.iter().map(|p| p.name.as_str()).collect();
        let names = names.join(", ");
        let nodes_wanted = policies.iter().map(|p| p.data_units + p.parity_units).max().unwrap_or(0);
        let racks = |p: &&ErasureCodingPolicy| (p.data_units + p.parity_units).div_ceil(p.parity_units.max(1));
        let racks_wanted = policies.iter().map(racks).max().unwrap_or(0);
        if nodes_wanted == 0 {
            return (true, "No erasure coding policy is given.".to_string());
        }
        let nodes = self.blocks.datanodes.num_live();
        if nodes < nodes_wanted {
            return (
                false,
                format!(
                    "{nodes_wanted} DataNodes are required for the erasure coding policies: {names}. The number of \
                     DataNodes is only {nodes}."
                ),
            );
        }
        let mut locations: Vec<&str> =
            self.blocks.datanodes.iter().filter(|d| d.alive).map(|d| &*d.network_location).collect();
        locations.sort_unstable();
        locations.dedup();
        if locations.len() < racks_wanted as usize {
            let racks = locations.len();
            return (
                false,
                format!(
                    "{racks_wanted} racks are required for the erasure coding policies: {names}. The number of racks is \
                     only {racks}."
                ),
            );
        }
        (true, format!("The cluster setup can support EC policies: {names}"))
    }
}
