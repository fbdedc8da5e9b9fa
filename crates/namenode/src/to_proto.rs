//! Wire messages of the NameNode that `wire` does not make.

use surus_namespace::blocks::Datanode;
use surus_proto::hadoop::hdfs::{BlockKeyProto, DatanodeInfoProto, ExportedBlockKeysProto, StorageInfoProto};

/// The ids of this file system, as VERSION holds them.
#[derive(Clone, Debug)]
pub struct FileSystemId {
    pub layout_version: i32,
    pub namespace_id: u32,
    pub cluster_id: String,
    pub creation_time_ms: u64,
    pub block_pool_id: String,
}

impl FileSystemId {
    pub fn to_proto(&self) -> StorageInfoProto {
        StorageInfoProto {
            layout_version: self.layout_version as u32,
            namespce_id: self.namespace_id,
            cluster_id: self.cluster_id.clone(),
            c_time: self.creation_time_ms,
        }
    }
}

/// The block keys of a NameNode without block tokens.
pub fn no_block_keys() -> ExportedBlockKeysProto {
    ExportedBlockKeysProto {
        is_block_token_enabled: false,
        key_update_interval: 0,
        token_life_time: 0,
        current_key: BlockKeyProto { key_id: 0, expiry_date: 0, key_bytes: Some(Vec::new()) },
        all_keys: Vec::new(),
    }
}

/// A DataNode as reports show it.
pub fn datanode(node: &Datanode) -> DatanodeInfoProto {
    let info = surus_wire::to_proto::datanode_info(&node.id, &node.stats, &node.network_location, node.admin_state);
    DatanodeInfoProto { software_version: Some(node.software_version.to_string()), ..info }
}
