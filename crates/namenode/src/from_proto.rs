//! Wire messages as the arguments of operations. Nothing here trusts its input.

use surus_proto::hadoop::hdfs::{
    BlockProto, DatanodeIdProto, DatanodeStorageProto, ExtendedBlockProto, FsPermissionProto, StorageReportProto,
};
use surus_types::{Block, BlockId, DatanodeId, FsPermission, GenerationStamp, HdfsError, StorageReport, StorageType};

pub fn block(block: &BlockProto) -> Block {
    Block {
        id: BlockId(block.block_id as i64),
        generation_stamp: GenerationStamp(block.gen_stamp),
        num_bytes: block.num_bytes.unwrap_or(0),
    }
}

pub fn extended_block(block: &ExtendedBlockProto) -> Block {
    Block {
        id: BlockId(block.block_id as i64),
        generation_stamp: GenerationStamp(block.generation_stamp),
        num_bytes: block.num_bytes.unwrap_or(0),
    }
}

pub fn permission(permission: &FsPermissionProto) -> FsPermission {
    FsPermission::from_wire(permission.perm)
}

/// # Errors
/// A port above 65,535.
pub fn datanode_id(id: &DatanodeIdProto) -> Result<DatanodeId, HdfsError> {
    let port = |port: u32| u16::try_from(port).map_err(|_| HdfsError::io(format!("{port} is no port")));
    Ok(DatanodeId {
        ip_addr: id.ip_addr.clone(),
        host_name: id.host_name.clone(),
        uuid: id.datanode_uuid.clone(),
        xfer_port: port(id.xfer_port)?,
        info_port: port(id.info_port)?,
        info_secure_port: port(id.info_secure_port())?,
        ipc_port: port(id.ipc_port)?,
    })
}

/// Types this version does not know count as DISK.
pub fn storage_type(storage: Option<&DatanodeStorageProto>) -> StorageType {
    storage.and_then(|s| StorageType::from_proto(s.storage_type.unwrap_or(1))).unwrap_or_default()
}

pub fn storage_report(report: &StorageReportProto) -> StorageReport {
    StorageReport {
        uuid: report.storage.as_ref().map_or(&report.storage_uuid, |s| &s.storage_uuid).clone(),
        storage_type: storage_type(report.storage.as_ref()),
        failed: report.failed(),
        capacity: report.capacity(),
        dfs_used: report.dfs_used(),
        remaining: report.remaining(),
        block_pool_used: report.block_pool_used(),
        // Old DataNodes leave it out. Source: `PBHelperClient.convert(StorageReportProto)`, Hadoop 3.5.0.
        non_dfs_used: report
            .non_dfs_used
            .unwrap_or_else(|| report.capacity().saturating_sub(report.dfs_used()).saturating_sub(report.remaining())),
    }
}
