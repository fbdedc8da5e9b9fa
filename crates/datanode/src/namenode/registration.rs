//! Who this DataNode says it is.

use crate::node::Node;
use surus_proto::hadoop::hdfs::datanode::DatanodeRegistrationProto;
use surus_proto::hadoop::hdfs::{BlockKeyProto, DatanodeIdProto, ExportedBlockKeysProto, StorageInfoProto};
use surus_wire::to_proto;

/// The Hadoop release whose behaviour is followed; NameNodes refuse DataNodes that seem too old.
pub const SOFTWARE_VERSION: &str = "3.5.0";

/// Identity of the namespace, from the NameNode's versionRequest.
#[derive(Clone, Debug, Default)]
pub(super) struct Namespace {
    pub pool_id: String,
    pub cluster_id: String,
    pub namespace_id: u32,
    pub ctime: u64,
    /// Full reports may use buffers rather than lists of longs.
    pub takes_buffers: bool,
}

impl Namespace {
    pub fn registration(&self, node: &Node) -> DatanodeRegistrationProto {
        DatanodeRegistrationProto {
            datanode_id: node.id_proto(),
            storage_info: StorageInfoProto {
                layout_version: crate::store::LAYOUT_VERSION as u32,
                namespce_id: self.namespace_id,
                cluster_id: self.cluster_id.clone(),
                c_time: self.ctime,
            },
            keys: ExportedBlockKeysProto {
                current_key: BlockKeyProto { key_bytes: Some(Vec::new()), ..Default::default() },
                ..Default::default()
            },
            software_version: SOFTWARE_VERSION.to_owned(),
        }
    }
}

impl Node {
    /// This DataNode in messages.
    pub(crate) fn id_proto(&self) -> DatanodeIdProto {
        to_proto::datanode_id(&self.id.read())
    }
}
