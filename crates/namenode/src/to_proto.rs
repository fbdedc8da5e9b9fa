//! Views of the namespace as wire messages, for the answers that are not hot enough for `wire`'s hand-made encoders.

use surus_namespace::blocks::Datanode;
use surus_proto::hadoop::common::TokenProto;
use surus_proto::hadoop::hdfs::BlockKeyProto;
use surus_proto::hadoop::hdfs::{
    BlockProto, DatanodeIdProto, DatanodeInfoProto, ExportedBlockKeysProto, ExtendedBlockProto, FsPermissionProto,
    HdfsFileStatusProto, LocatedBlockProto, StorageInfoProto,
};
use surus_types::{Block, DatanodeId, FileStatus, FileType, Replica, StorageType};

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

pub fn block(block: Block) -> BlockProto {
    BlockProto { block_id: block.id.0 as u64, gen_stamp: block.generation_stamp.0, num_bytes: Some(block.num_bytes) }
}

pub fn extended_block(pool_id: &str, block: Block) -> ExtendedBlockProto {
    ExtendedBlockProto {
        pool_id: pool_id.to_owned(),
        block_id: block.id.0 as u64,
        generation_stamp: block.generation_stamp.0,
        num_bytes: Some(block.num_bytes),
    }
}

pub fn datanode_id(id: &DatanodeId) -> DatanodeIdProto {
    DatanodeIdProto {
        ip_addr: id.ip_addr.clone(),
        host_name: id.host_name.clone(),
        datanode_uuid: id.uuid.clone(),
        xfer_port: u32::from(id.xfer_port),
        info_port: u32::from(id.info_port),
        ipc_port: u32::from(id.ipc_port),
        info_secure_port: Some(u32::from(id.info_secure_port)),
    }
}

pub fn datanode_info(replica: &Replica<'_>, software_version: &str) -> DatanodeInfoProto {
    let stats = replica.stats;
    DatanodeInfoProto {
        id: datanode_id(replica.datanode),
        capacity: Some(stats.capacity),
        dfs_used: Some(stats.dfs_used),
        remaining: Some(stats.remaining),
        block_pool_used: Some(stats.block_pool_used),
        last_update: Some(stats.last_update_ms),
        xceiver_count: Some(stats.xceiver_count),
        location: Some(replica.network_location.to_owned()),
        non_dfs_used: Some(stats.non_dfs_used),
        admin_state: Some(replica.admin_state as i32),
        cache_capacity: Some(stats.cache_capacity),
        cache_used: Some(stats.cache_used),
        last_update_monotonic: Some(stats.last_update_monotonic_ms),
        upgrade_domain: None,
        last_block_report_time: Some(stats.last_block_report_ms),
        last_block_report_monotonic: Some(stats.last_block_report_monotonic_ms),
        num_blocks: Some(stats.num_blocks),
        software_version: (!software_version.is_empty()).then(|| software_version.to_owned()),
    }
}

/// A block with its replicas. `offset` is -1 where it means nothing.
pub fn located_block<'a>(
    pool_id: &str,
    block: Block,
    offset: i64,
    replicas: impl Iterator<Item = Replica<'a>>,
) -> LocatedBlockProto {
    let mut located = LocatedBlockProto {
        b: extended_block(pool_id, block),
        offset: offset as u64,
        block_token: no_token(),
        ..Default::default()
    };
    for replica in replicas {
        located.locs.push(datanode_info(&replica, ""));
        located.is_cached.push(false);
        located.storage_types.push(replica.storage_type as i32);
        located.storage_i_ds.push(replica.storage_uuid.to_owned());
    }
    located
}

/// Without security an empty token stands in the required field.
pub fn no_token() -> TokenProto {
    TokenProto::default()
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

pub fn file_status(status: &FileStatus<'_>) -> HdfsFileStatusProto {
    HdfsFileStatusProto {
        file_type: status.file_type as i32,
        path: status.name.to_vec(),
        length: status.length,
        permission: FsPermissionProto { perm: u32::from(status.permission.0) },
        owner: status.owner.to_owned(),
        group: status.group.to_owned(),
        modification_time: status.modification_time_ms as u64,
        access_time: status.access_time_ms as u64,
        symlink: (status.file_type == FileType::Symlink).then(|| status.symlink.to_vec()),
        block_replication: Some(u32::from(status.replication)),
        blocksize: Some(status.block_size),
        file_id: Some(status.inode_id.0),
        children_num: Some(status.children as i32),
        storage_policy: Some(u32::from(status.storage_policy)),
        flags: Some(status.flags),
        ..Default::default()
    }
}

/// A DataNode as reports show it.
pub fn datanode(node: &Datanode) -> DatanodeInfoProto {
    let replica = Replica {
        datanode: &node.id,
        stats: &node.stats,
        admin_state: node.admin_state,
        network_location: &node.network_location,
        storage_uuid: "",
        storage_type: StorageType::Disk,
    };
    datanode_info(&replica, &node.software_version)
}
