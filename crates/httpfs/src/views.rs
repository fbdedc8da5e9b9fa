//! The NameNode's messages as the views that JSON is made from.

use surus_proto::hadoop::hdfs as proto;
use surus_types::{
    DatanodeId, DatanodeStats, EcPolicyState, ErasureCodingPolicy, FileStatus, FileType, HdfsError, InodeId,
    LocatedBlock, LocatedBlocks, Replica, StorageType,
};
use surus_webhdfs::json::StoragePolicy;
use surus_webhdfs::{DiffEntry, DiffListingEntry, PutBlocks, PutStatus};
use surus_wire::from_proto;

/// A rack where a DataNode names none. Source: `NetworkTopology.java`, Hadoop 3.5.0.
const DEFAULT_RACK: &str = "/default-rack";

pub fn lend_status(status: &proto::HdfsFileStatusProto, put: PutStatus<'_>) {
    use proto::hdfs_file_status_proto::FileType as Kind;
    let ec_policy = status.ec_policy.as_ref().map(ec_policy);
    put(&FileStatus {
        file_type: match status.file_type {
            kind if kind == Kind::IsDir as i32 => FileType::Directory,
            kind if kind == Kind::IsSymlink as i32 => FileType::Symlink,
            _ => FileType::File,
        },
        name: &status.path,
        length: status.length,
        permission: from_proto::permission(&status.permission),
        owner: &status.owner,
        group: &status.group,
        modification_time_ms: status.modification_time.cast_signed(),
        access_time_ms: status.access_time.cast_signed(),
        symlink: status.symlink.as_deref().unwrap_or_default(),
        replication: u16::try_from(status.block_replication.unwrap_or(0)).unwrap_or(u16::MAX),
        block_size: status.blocksize.unwrap_or(0),
        inode_id: InodeId(status.file_id.unwrap_or(0)),
        children: u32::try_from(status.children_num.unwrap_or(0)).unwrap_or(0),
        storage_policy: u8::try_from(status.storage_policy.unwrap_or(0)).unwrap_or(0),
        flags: status.flags.unwrap_or(0),
        ec_policy: ec_policy.as_ref(),
        encryption: None,
    });
}

/// A built-in policy may come as its id alone.
pub fn ec_policy(policy: &proto::ErasureCodingPolicyProto) -> ErasureCodingPolicy {
    let known = ErasureCodingPolicy::all_built_in().into_iter().find(|known| u32::from(known.id) == policy.id);
    let Some(schema) = &policy.schema else {
        return known.unwrap_or_else(|| ErasureCodingPolicy {
            id: u8::try_from(policy.id).unwrap_or(0),
            name: policy.name.clone().unwrap_or_default(),
            codec: String::new(),
            data_units: 0,
            parity_units: 0,
            cell_size: policy.cell_size.unwrap_or(0),
            options: Vec::new(),
        });
    };
    let cell_size = policy.cell_size.unwrap_or(0);
    let composed =
        || ErasureCodingPolicy::compose_name(&schema.codec_name, schema.data_units, schema.parity_units, cell_size);
    ErasureCodingPolicy {
        id: u8::try_from(policy.id).unwrap_or(0),
        name: policy.name.clone().unwrap_or_else(composed),
        codec: schema.codec_name.clone(),
        data_units: schema.data_units,
        parity_units: schema.parity_units,
        cell_size,
        options: schema.options.iter().map(|option| (option.key.clone(), option.value.clone())).collect(),
    }
}

pub fn ec_policy_state(policy: &proto::ErasureCodingPolicyProto) -> EcPolicyState {
    policy.state.and_then(EcPolicyState::from_number).unwrap_or(EcPolicyState::Enabled)
}

/// # Errors
/// A DataNode's port that is none.
pub fn lend_blocks(found: &proto::LocatedBlocksProto, put: PutBlocks<'_>) -> Result<(), HdfsError> {
    type Node = (DatanodeId, DatanodeStats);
    let nodes_of = |block: &proto::LocatedBlockProto| -> Result<Vec<Node>, HdfsError> {
        let node = |info: &proto::DatanodeInfoProto| {
            Ok((from_proto::datanode_id(&info.id)?, from_proto::datanode_stats(info)))
        };
        block.locs.iter().map(node).collect()
    };
    let nodes: Vec<Vec<Node>> = found.blocks.iter().map(nodes_of).collect::<Result<_, _>>()?;
    let replicas: Vec<Vec<Replica<'_>>> = found
        .blocks
        .iter()
        .zip(&nodes)
        .map(|(block, nodes)| {
            nodes.iter().enumerate().map(|(i, (datanode, stats))| replica(block, i, datanode, stats)).collect()
        })
        .collect();
    let views: Vec<LocatedBlock<'_>> = found
        .blocks
        .iter()
        .zip(&replicas)
        .map(|(block, replicas)| LocatedBlock {
            block: from_proto::extended_block_inner(&block.b),
            offset: block.offset,
            corrupt: block.corrupt,
            replicas,
        })
        .collect();
    let head = LocatedBlocks {
        file_length: found.file_length,
        under_construction: found.under_construction,
        last_block_complete: found.is_last_block_complete,
        encryption: None,
    };
    put(found.blocks.first().map_or("", |block| &block.b.pool_id), &head, &views);
    Ok(())
}

fn replica<'a>(
    block: &'a proto::LocatedBlockProto,
    index: usize,
    datanode: &'a DatanodeId,
    stats: &'a DatanodeStats,
) -> Replica<'a> {
    let info = block.locs.get(index);
    Replica {
        datanode,
        stats,
        admin_state: info.map(from_proto::admin_state).unwrap_or_default(),
        network_location: info.and_then(|info| info.location.as_deref()).unwrap_or(DEFAULT_RACK),
        storage_uuid: block.storage_i_ds.get(index).map_or("", String::as_str),
        storage_type: from_proto::storage_type(block.storage_types.get(index).copied().unwrap_or(1)),
    }
}

/// Lends storage policies, all at once.
pub fn lend_policies(found: &[proto::BlockStoragePolicyProto], put: &mut dyn FnMut(&[StoragePolicy<'_>])) {
    let types = |types: Option<&proto::StorageTypesProto>| -> Vec<StorageType> {
        types.map_or(&[][..], |types| &types.storage_types).iter().map(|t| from_proto::storage_type(*t)).collect()
    };
    let lists: Vec<[Vec<StorageType>; 3]> = found
        .iter()
        .map(|p| {
            [
                types(Some(&p.creation_policy)),
                types(p.creation_fallback_policy.as_ref()),
                types(p.replication_fallback_policy.as_ref()),
            ]
        })
        .collect();
    let views: Vec<StoragePolicy<'_>> = found
        .iter()
        .zip(&lists)
        .map(|(p, [storage_types, creation_fallbacks, replication_fallbacks])| StoragePolicy {
            id: u8::try_from(p.policy_id).unwrap_or(0),
            name: &p.name,
            storage_types,
            creation_fallbacks,
            replication_fallbacks,
            // Not on the wire. Source: `PBHelperClient.convert`, `BlockStoragePolicySuite.java`, Hadoop 3.5.0.
            copy_on_create_file: false,
        })
        .collect();
    put(&views);
}

pub fn diff_entry(entry: proto::SnapshotDiffReportEntryProto) -> DiffEntry {
    DiffEntry {
        source: entry.fullpath,
        target: entry.target_path,
        kind: match entry.modification_label.as_str() {
            "+" => "CREATE",
            "-" => "DELETE",
            "R" => "RENAME",
            _ => "MODIFY",
        },
    }
}

pub fn diff_listing_entry(entry: proto::SnapshotDiffReportListingEntryProto) -> DiffListingEntry {
    DiffListingEntry {
        path: entry.fullpath,
        directory: entry.dir_id,
        inode: entry.file_id.unwrap_or(0),
        is_reference: entry.is_reference,
        target: entry.target_path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_built_in_policy_may_come_as_its_id() {
        let message = proto::ErasureCodingPolicyProto { id: 5, ..Default::default() };
        assert_eq!(ec_policy(&message).name, "RS-10-4-1024k");
        let schema =
            proto::EcSchemaProto { codec_name: "xor".into(), data_units: 2, parity_units: 1, options: Vec::new() };
        let message = proto::ErasureCodingPolicyProto {
            id: 64,
            schema: Some(schema),
            cell_size: Some(65_536),
            ..Default::default()
        };
        assert_eq!(ec_policy(&message).name, "XOR-2-1-64k");
    }
}
