//! From `types` to protobuf messages, for answers and requests that are not on the hot path.

use crate::required;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use surus_proto::hadoop::common::TokenProto;
use surus_proto::hadoop::hdfs as p;
use surus_types::{
    AclEntry, AdminState, Block, ContentSummary, DatanodeId, DatanodeStats, ErasureCodingPolicy, ExtendedBlock,
    FileStatus, FileType,
};
use surus_types::{
    FileEncryption, FsPermission, FsStats, HdfsError, LocatedBlock, Replica, STORAGE_TYPES, StorageReport, StorageType,
    XAttr,
};

/// A token with its four required fields empty, as it is sent while security is off.
pub fn empty_token() -> TokenProto {
    TokenProto::default()
}

pub fn block(block: &Block) -> p::BlockProto {
    p::BlockProto { block_id: block.id.0 as u64, gen_stamp: block.generation_stamp.0, num_bytes: Some(block.num_bytes) }
}

pub fn extended_block(block: &ExtendedBlock) -> p::ExtendedBlockProto {
    extended_block_parts(&block.pool_id, &block.block)
}

pub fn extended_block_parts(pool_id: &str, block: &Block) -> p::ExtendedBlockProto {
    p::ExtendedBlockProto {
        pool_id: pool_id.to_string(),
        block_id: block.id.0 as u64,
        generation_stamp: block.generation_stamp.0,
        num_bytes: Some(block.num_bytes),
    }
}

pub fn acl_entry(entry: &AclEntry) -> p::AclEntryProto {
    p::AclEntryProto {
        r#type: entry.kind as i32,
        scope: i32::from(entry.is_default),
        permissions: i32::from(entry.permission & 7),
        name: entry.name.as_deref().map(Into::into),
    }
}

pub fn xattr(xattr: &XAttr) -> p::XAttrProto {
    p::XAttrProto { namespace: i32::from(xattr.namespace), name: xattr.name.to_string(), value: xattr.value.clone() }
}

pub fn permission(permission: FsPermission) -> p::FsPermissionProto {
    p::FsPermissionProto { perm: u32::from(permission.0) }
}

pub fn storage_type(storage_type: StorageType) -> i32 {
    storage_type as i32
}

pub fn datanode_id(id: &DatanodeId) -> p::DatanodeIdProto {
    p::DatanodeIdProto {
        ip_addr: id.ip_addr.clone(),
        host_name: id.host_name.clone(),
        datanode_uuid: id.uuid.clone(),
        xfer_port: u32::from(id.xfer_port),
        info_port: u32::from(id.info_port),
        ipc_port: u32::from(id.ipc_port),
        info_secure_port: Some(u32::from(id.info_secure_port)),
    }
}

/// A DataNode as clients and other DataNodes need it: its address, and where it stands in the network.
pub fn datanode_info(
    id: &DatanodeId,
    stats: &DatanodeStats,
    location: &str,
    admin_state: AdminState,
) -> p::DatanodeInfoProto {
    p::DatanodeInfoProto {
        id: datanode_id(id),
        capacity: Some(stats.capacity),
        dfs_used: Some(stats.dfs_used),
        remaining: Some(stats.remaining),
        block_pool_used: Some(stats.block_pool_used),
        last_update: Some(stats.last_update_ms),
        xceiver_count: Some(stats.xceiver_count),
        location: Some(location.to_string()),
        non_dfs_used: Some(stats.non_dfs_used),
        admin_state: Some(admin_state as i32),
        cache_capacity: Some(stats.cache_capacity),
        cache_used: Some(stats.cache_used),
        last_update_monotonic: Some(stats.last_update_monotonic_ms),
        upgrade_domain: None,
        last_block_report_time: Some(stats.last_block_report_ms),
        last_block_report_monotonic: Some(stats.last_block_report_monotonic_ms),
        num_blocks: Some(stats.num_blocks),
        software_version: None,
    }
}

pub fn replica_datanode(replica: &Replica<'_>) -> p::DatanodeInfoProto {
    datanode_info(replica.datanode, replica.stats, replica.network_location, replica.admin_state)
}

pub fn located_block(pool_id: &str, block: &LocatedBlock<'_>) -> p::LocatedBlockProto {
    p::LocatedBlockProto {
        b: extended_block_parts(pool_id, &block.block),
        offset: block.offset,
        locs: block.replicas.iter().map(replica_datanode).collect(),
        corrupt: block.corrupt,
        block_token: empty_token(),
        is_cached: alloc::vec![false; block.replicas.len()],
        storage_types: block.replicas.iter().map(|replica| replica.storage_type as i32).collect(),
        storage_i_ds: block.replicas.iter().map(|replica| replica.storage_uuid.to_string()).collect(),
        block_indices: None,
        block_tokens: Vec::new(),
    }
}

/// # Errors
/// As [`file_encryption_info`].
pub fn file_status(status: &FileStatus<'_>) -> Result<p::HdfsFileStatusProto, HdfsError> {
    Ok(p::HdfsFileStatusProto {
        file_type: status.file_type as i32,
        path: status.name.to_vec(),
        length: status.length,
        permission: permission(status.permission),
        owner: status.owner.to_string(),
        group: status.group.to_string(),
        modification_time: status.modification_time_ms as u64,
        access_time: status.access_time_ms as u64,
        symlink: (status.file_type == FileType::Symlink).then(|| status.symlink.to_vec()),
        block_replication: Some(u32::from(status.replication)),
        blocksize: Some(status.block_size),
        locations: None,
        file_id: Some(status.inode_id.0),
        children_num: Some(status.children as i32),
        file_encryption_info: status.encryption.as_ref().map(file_encryption_info).transpose()?,
        storage_policy: Some(u32::from(status.storage_policy)),
        ec_policy: status.ec_policy.map(ec_policy),
        flags: Some(status.flags),
        namespace: None,
    })
}

/// What clients are told of a file's encryption, out of its own attribute and its zone's.
/// Source: `PBHelperClient.convert(PerFileEncryptionInfoProto, ..)`, `FSDirEncryptionZoneOp.getFileEncryptionInfo`, Hadoop 3.5.0.
///
/// # Errors
/// `IOException`: one of them is damaged. A client that was told nothing would take the file for a plain one.
pub fn file_encryption_info(encryption: &FileEncryption<'_>) -> Result<p::FileEncryptionInfoProto, HdfsError> {
    let damaged = |what: &str| HdfsError::io(format!("Could not parse {what} encryption info"));
    let zone: p::ZoneEncryptionInfoProto = required::decode(encryption.zone).map_err(|_| damaged("zone"))?;
    let file: p::PerFileEncryptionInfoProto = required::decode(encryption.file).map_err(|_| damaged("file"))?;
    Ok(p::FileEncryptionInfoProto {
        suite: zone.suite,
        crypto_protocol_version: zone.crypto_protocol_version,
        key: file.key,
        iv: file.iv,
        key_name: zone.key_name,
        ez_key_version_name: file.ez_key_version_name,
    })
}

/// A built-in policy is its id, as Hadoop sends it.
pub fn ec_policy(policy: &ErasureCodingPolicy) -> p::ErasureCodingPolicyProto {
    let bare = p::ErasureCodingPolicyProto { id: u32::from(policy.id), ..p::ErasureCodingPolicyProto::default() };
    if policy.is_system() {
        return bare;
    }
    let option =
        |(key, value): &(String, String)| p::EcSchemaOptionEntryProto { key: key.clone(), value: value.clone() };
    let schema = p::EcSchemaProto {
        codec_name: policy.codec.clone(),
        data_units: policy.data_units,
        parity_units: policy.parity_units,
        options: policy.options.iter().map(option).collect(),
    };
    p::ErasureCodingPolicyProto {
        name: Some(policy.name.clone()),
        schema: Some(schema),
        cell_size: Some(policy.cell_size),
        ..bare
    }
}

pub fn storage_report(report: &StorageReport) -> p::StorageReportProto {
    p::StorageReportProto {
        storage_uuid: report.uuid.clone(),
        failed: report.failed.then_some(true),
        capacity: Some(report.capacity),
        dfs_used: Some(report.dfs_used),
        remaining: Some(report.remaining),
        block_pool_used: Some(report.block_pool_used),
        storage: Some(p::DatanodeStorageProto {
            storage_uuid: report.uuid.clone(),
            // NORMAL. A failed storage is told by `failed` alone: state 1 would mean READ_ONLY_SHARED.
            state: Some(0),
            storage_type: Some(report.storage_type as i32),
        }),
        non_dfs_used: Some(report.non_dfs_used),
        mount: Some(String::new()),
    }
}

pub fn content_summary(summary: &ContentSummary) -> p::ContentSummaryProto {
    p::ContentSummaryProto {
        length: summary.length,
        file_count: summary.file_count,
        directory_count: summary.directory_count,
        quota: summary.quota as u64,
        space_consumed: summary.space_consumed,
        space_quota: summary.space_quota as u64,
        type_quota_infos: Some(type_quota_infos(summary)).filter(|infos| !infos.type_quota_info.is_empty()),
        snapshot_length: Some(summary.snapshot.length),
        snapshot_file_count: Some(summary.snapshot.file_count),
        snapshot_directory_count: Some(summary.snapshot.directory_count),
        snapshot_space_consumed: Some(summary.snapshot.space_consumed),
        erasure_coding_policy: Some(summary.ec_policy.clone()),
    }
}

/// Quota and use of each type that can have a quota. Source: `PBHelperClient.getBuilder(QuotaUsage)`, Hadoop 3.5.0.
pub fn type_quota_infos(summary: &ContentSummary) -> p::StorageTypeQuotaInfosProto {
    let has_any = STORAGE_TYPES.iter().any(|t| summary.type_quotas.get(*t) > 0 || summary.type_consumed.get(*t) > 0);
    let info = |t: StorageType| p::StorageTypeQuotaInfoProto {
        r#type: Some(t as i32),
        quota: summary.type_quotas.get(t) as u64,
        consumed: summary.type_consumed.get(t) as u64,
    };
    let types = STORAGE_TYPES.into_iter().filter(|t| has_any && !t.is_transient());
    p::StorageTypeQuotaInfosProto { type_quota_info: types.map(info).collect() }
}

pub fn quota_usage(summary: &ContentSummary) -> p::QuotaUsageProto {
    p::QuotaUsageProto {
        file_and_directory_count: summary.file_count + summary.directory_count,
        quota: summary.quota as u64,
        space_consumed: summary.space_consumed,
        space_quota: summary.space_quota as u64,
        type_quota_infos: Some(type_quota_infos(summary)).filter(|infos| !infos.type_quota_info.is_empty()),
    }
}

pub fn fs_stats(stats: &FsStats) -> p::GetFsStatsResponseProto {
    p::GetFsStatsResponseProto {
        capacity: stats.capacity,
        used: stats.used,
        remaining: stats.remaining,
        under_replicated: stats.under_replicated,
        corrupt_blocks: stats.corrupt_blocks,
        missing_blocks: stats.missing_blocks,
        missing_repl_one_blocks: Some(stats.missing_replication_one_blocks),
        blocks_in_future: Some(stats.blocks_in_future),
        pending_deletion_blocks: Some(stats.pending_deletion_blocks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_proto;
    use surus_types::AclEntryKind;

    #[test]
    fn acl_entries_there_and_back() {
        let entry = AclEntry { is_default: true, kind: AclEntryKind::Group, name: Some("staff".into()), permission: 5 };
        assert_eq!(from_proto::acl_entry(&acl_entry(&entry)), entry);
    }
}
