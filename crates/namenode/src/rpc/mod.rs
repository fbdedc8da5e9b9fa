//! The protocols of the NameNode's RPC door, one table of methods each.

pub mod client;
pub mod datanode;
pub mod ha;
pub mod mappings;
mod meta;
pub mod namenode;
pub mod reconfiguration;
pub mod refresh;

use crate::call::{Call, Method};
use crate::core::Core;
use prost::Message;
use surus_namespace::ops::snapshot::snapshot_path;
use surus_namespace::{EditOp, Namespace};
use surus_proto::hadoop::hdfs::{AddCacheDirectiveResponseProto, CreateSnapshotResponseProto};
use surus_types::HdfsError;

/// The version in the header of every request, for all protocols.
pub const PROTOCOL_VERSION: u64 = 1;

/// Protocols of the NameNode's door and the keys of their ACLs.
pub const SERVICE_ACL_KEYS: &[(&str, &str)] = &[
    (client::NAME, "security.client.protocol.acl"),
    (datanode::NAME, "security.datanode.protocol.acl"),
    (namenode::NAME, "security.namenode.protocol.acl"),
    (ha::NAME, "security.ha.service.protocol.acl"),
    (mappings::REFRESH_NAME, "security.refresh.user.mappings.protocol.acl"),
    (mappings::GET_NAME, "security.get.user.mappings.protocol.acl"),
    (refresh::POLICY_NAME, "security.refresh.policy.protocol.acl"),
    (refresh::CALL_QUEUE_NAME, "security.refresh.callqueue.protocol.acl"),
    (refresh::GENERIC_NAME, "security.refresh.generic.protocol.acl"),
    (reconfiguration::NAME, "security.reconfiguration.protocol.acl"),
];

/// The methods of a protocol; `None`: it is not served here.
pub fn methods(protocol: &str) -> Option<&'static [Method]> {
    Some(match protocol {
        client::NAME => client::METHODS,
        datanode::NAME => datanode::METHODS,
        namenode::NAME => namenode::METHODS,
        ha::NAME => ha::METHODS,
        mappings::REFRESH_NAME => mappings::REFRESH_METHODS,
        mappings::GET_NAME => mappings::GET_METHODS,
        meta::NAME => meta::METHODS,
        reconfiguration::NAME => reconfiguration::METHODS,
        refresh::GENERIC_NAME => refresh::GENERIC_METHODS,
        refresh::POLICY_NAME => refresh::POLICY_METHODS,
        refresh::CALL_QUEUE_NAME => refresh::CALL_QUEUE_METHODS,
        _ => return None,
    })
}

/// What a replayed operation says of the answer of its call, encoded; `None`: nothing, see [`replayed`]. `namespace` is the
/// state after it. Source: `FSEditLogLoader.java` (`addCacheEntryWithPayload`), Hadoop 3.5.0.
pub fn payload(op: &EditOp, namespace: &Namespace) -> Option<Vec<u8>> {
    match op {
        EditOp::CreateSnapshot { root, name, .. } => {
            Some(CreateSnapshotResponseProto { snapshot_path: snapshot_path(root, name) }.encode_to_vec())
        }
        EditOp::AddCacheDirective { directive, .. } => {
            Some(AddCacheDirectiveResponseProto { id: directive.id }.encode_to_vec())
        }
        // Hadoop keeps something here that its own answer cannot be made of.
        EditOp::AddErasureCodingPolicy { policy, .. } => client::added_policy(namespace, policy),
        _ => None,
    }
}

/// The answer to a repeated call of which the edit log only says that it succeeded.
///
/// # Errors
/// The state no longer holds what the answer would show.
pub fn replayed(core: &Core, method: &str, call: &Call<'_>) -> Result<Vec<u8>, HdfsError> {
    match method {
        "create" => client::replayed(core, call, false),
        "append" => client::replayed(core, call, true),
        // `result` = true.
        "rename" | "delete" => Ok(vec![0x08, 0x01]),
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [
            client::METHODS,
            datanode::METHODS,
            namenode::METHODS,
            ha::METHODS,
            mappings::REFRESH_METHODS,
            mappings::GET_METHODS,
            meta::METHODS,
            reconfiguration::METHODS,
        ] {
            assert!(table.windows(2).all(|w| w[0].name < w[1].name));
        }
    }
}
