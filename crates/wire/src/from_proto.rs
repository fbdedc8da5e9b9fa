//! From protobuf messages to `types`. Numbers that do not fit are errors, never cut off.

use alloc::format;
use surus_proto::hadoop::hdfs as p;
use surus_types::{
    AclEntry, AclEntryKind, AdminState, Block, BlockId, DatanodeId, DatanodeStats, ExtendedBlock, FsPermission,
    GenerationStamp,
};
use surus_types::{ExceptionClass, HdfsError, StorageReport, StorageType, XAttr};

pub fn block(block: &p::BlockProto) -> Block {
    Block {
        id: BlockId(block.block_id as i64),
        generation_stamp: GenerationStamp(block.gen_stamp),
        num_bytes: block.num_bytes.unwrap_or(0),
    }
}

pub fn extended_block(block: &p::ExtendedBlockProto) -> ExtendedBlock {
    ExtendedBlock { pool_id: block.pool_id.clone(), block: extended_block_inner(block) }
}

/// The block of an `ExtendedBlockProto`, without a copy of its pool id.
pub fn extended_block_inner(block: &p::ExtendedBlockProto) -> Block {
    Block {
        id: BlockId(block.block_id as i64),
        generation_stamp: GenerationStamp(block.generation_stamp),
        num_bytes: block.num_bytes.unwrap_or(0),
    }
}

pub fn permission(permission: &p::FsPermissionProto) -> FsPermission {
    FsPermission::from_wire(permission.perm)
}

/// Numbers that the protocol lacks count as its first, as a Java server reads them.
pub fn acl_entry(entry: &p::AclEntryProto) -> AclEntry {
    AclEntry {
        is_default: entry.scope == 1,
        kind: match entry.r#type {
            1 => AclEntryKind::Group,
            2 => AclEntryKind::Mask,
            3 => AclEntryKind::Other,
            _ => AclEntryKind::User,
        },
        name: entry.name.as_deref().filter(|name| !name.is_empty()).map(Into::into),
        permission: u8::try_from(entry.permissions).unwrap_or(0) & 7,
    }
}

/// A namespace that the protocol lacks counts as its first.
pub fn xattr(xattr: p::XAttrProto) -> XAttr {
    XAttr { namespace: u8::try_from(xattr.namespace).unwrap_or(0), name: xattr.name.into(), value: xattr.value }
}

/// Storage types that this version does not know count as DISK.
pub fn storage_type(number: i32) -> StorageType {
    StorageType::from_proto(number).unwrap_or_default()
}

/// # Errors
/// A port above 65535: `IllegalArgumentException`.
pub fn datanode_id(id: &p::DatanodeIdProto) -> Result<DatanodeId, HdfsError> {
    Ok(DatanodeId {
        ip_addr: id.ip_addr.clone(),
        host_name: id.host_name.clone(),
        uuid: id.datanode_uuid.clone(),
        xfer_port: port(id.xfer_port)?,
        info_port: port(id.info_port)?,
        info_secure_port: port(id.info_secure_port.unwrap_or(0))?,
        ipc_port: port(id.ipc_port)?,
    })
}

fn port(number: u32) -> Result<u16, HdfsError> {
    u16::try_from(number)
        .map_err(|_| HdfsError::new(ExceptionClass::IllegalArgument, format!("port out of range:{number}")))
}

pub fn datanode_stats(info: &p::DatanodeInfoProto) -> DatanodeStats {
    DatanodeStats {
        capacity: info.capacity.unwrap_or(0),
        dfs_used: info.dfs_used.unwrap_or(0),
        non_dfs_used: info.non_dfs_used.unwrap_or(0),
        remaining: info.remaining.unwrap_or(0),
        block_pool_used: info.block_pool_used.unwrap_or(0),
        cache_capacity: info.cache_capacity.unwrap_or(0),
        cache_used: info.cache_used.unwrap_or(0),
        xceiver_count: info.xceiver_count.unwrap_or(0),
        num_blocks: info.num_blocks.unwrap_or(0),
        last_update_ms: info.last_update.unwrap_or(0),
        last_update_monotonic_ms: info.last_update_monotonic.unwrap_or(0),
        last_block_report_ms: info.last_block_report_time.unwrap_or(0),
        last_block_report_monotonic_ms: info.last_block_report_monotonic.unwrap_or(0),
        ..DatanodeStats::default()
    }
}

pub fn admin_state(info: &p::DatanodeInfoProto) -> AdminState {
    match info.admin_state.unwrap_or(0) {
        1 => AdminState::DecommissionInProgress,
        2 => AdminState::Decommissioned,
        3 => AdminState::EnteringMaintenance,
        4 => AdminState::InMaintenance,
        _ => AdminState::Normal,
    }
}

/// A storage of a heartbeat. Old DataNodes give the storage's id only, and are taken to have disks.
pub fn storage_report(report: &p::StorageReportProto) -> StorageReport {
    let storage = report.storage.as_ref();
    StorageReport {
        uuid: storage.map_or(&report.storage_uuid, |storage| &storage.storage_uuid).clone(),
        storage_type: storage_type(storage.and_then(|storage| storage.storage_type).unwrap_or(1)),
        failed: report.failed.unwrap_or(false),
        capacity: report.capacity.unwrap_or(0),
        dfs_used: report.dfs_used.unwrap_or(0),
        remaining: report.remaining.unwrap_or(0),
        block_pool_used: report.block_pool_used.unwrap_or(0),
        // Where the DataNode does not tell, as `PBHelperClient.convert` counts it.
        non_dfs_used: report.non_dfs_used.unwrap_or_else(|| {
            let used = report.dfs_used.unwrap_or(0).saturating_add(report.remaining.unwrap_or(0));
            report.capacity.unwrap_or(0).saturating_sub(used)
        }),
    }
}
