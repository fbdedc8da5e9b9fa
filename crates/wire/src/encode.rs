//! Hand-made encoders of the messages that answer most calls: file statuses, listings, located blocks, straight
//! from the views of `types`, in one pass and without an allocation. `to_proto` makes the same as prost messages;
//! a test holds one against the other.
//!
//! Every function appends one field, number `field`, of the message around it; fields are written in the
//! order of their numbers and with the same optional ones as Java does (`PBHelperClient.java`, Hadoop 3.5.0).

use crate::rpc::header::put_delimited;
use crate::to_proto;
use crate::varint::{put_bytes, put_uint, put_varint};
use alloc::vec::Vec;
use prost::Message;
use surus_types::{AdminState, Block};
use surus_types::{
    DatanodeId, DatanodeStats, ExtendedBlock, FileEncryption, FileStatus, FileType, HdfsError, LocatedBlock,
    LocatedBlocks, Replica,
};

/// `blockToken` with its four required fields empty, as it is sent while security is off.
const EMPTY_TOKEN: &[u8] = &[5 << 3 | 2, 8, 0x0a, 0, 0x12, 0, 0x1a, 0, 0x22, 0];

/// Appends a nested message.
#[inline]
fn put_nested<R>(out: &mut Vec<u8>, field: u32, encode: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    put_varint(out, u64::from(field << 3 | 2));
    put_delimited(out, encode)
}

/// A `HdfsFileStatusProto`.
///
/// # Errors
/// As [`to_proto::file_encryption_info`]; what was put is of no use then.
#[inline]
pub fn put_file_status(out: &mut Vec<u8>, field: u32, status: &FileStatus<'_>) -> Result<(), HdfsError> {
    put_nested(out, field, |out| {
        put_status_head(out, status);
        put_status_tail(out, status)
    })
}

/// A `HdfsFileStatusProto` with the file's blocks: `locate` adds them and tells the rest.
///
/// # Errors
/// As [`put_file_status`].
pub fn put_located_file_status(
    out: &mut Vec<u8>,
    field: u32,
    status: &FileStatus<'_>,
    blocks: &LocatedBlocks<'_>,
    pool_id: &str,
    locate: impl FnOnce(&mut LocatedBlocksEncoder<'_>),
) -> Result<(), HdfsError> {
    put_nested(out, field, |out| {
        put_status_head(out, status);
        put_located_blocks(out, 12, blocks, pool_id, locate)?;
        put_status_tail(out, status)
    })
}

/// Fields 1 to 11.
#[inline]
fn put_status_head(out: &mut Vec<u8>, status: &FileStatus<'_>) {
    // Room for all fields but the four of variable length, so that pushes need not grow the buffer.
    out.reserve(128 + status.name.len() + status.owner.len() + status.group.len() + status.symlink.len());
    put_uint(out, 1, status.file_type as u64);
    put_bytes(out, 2, status.name);
    put_uint(out, 3, status.length);
    let perm = u64::from(status.permission.0);
    out.extend_from_slice(&[4 << 3 | 2, if perm < 0x80 { 2 } else { 3 }]);
    put_uint(out, 1, perm);
    put_bytes(out, 5, status.owner.as_bytes());
    put_bytes(out, 6, status.group.as_bytes());
    put_uint(out, 7, status.modification_time_ms as u64);
    put_uint(out, 8, status.access_time_ms as u64);
    if status.file_type == FileType::Symlink {
        put_bytes(out, 9, status.symlink);
    }
    put_uint(out, 10, u64::from(status.replication));
    put_uint(out, 11, status.block_size);
}

/// Fields 13 to 18.
#[inline]
fn put_status_tail(out: &mut Vec<u8>, status: &FileStatus<'_>) -> Result<(), HdfsError> {
    put_uint(out, 13, status.inode_id.0);
    put_uint(out, 14, u64::from(status.children));
    put_encryption(out, 15, status.encryption.as_ref())?;
    put_uint(out, 16, u64::from(status.storage_policy));
    if let Some(policy) = status.ec_policy {
        put_bytes(out, 17, &to_proto::ec_policy(policy).encode_to_vec());
    }
    put_uint(out, 18, u64::from(status.flags));
    Ok(())
}

/// A `FileEncryptionInfoProto`, where the file has one.
#[inline]
fn put_encryption(out: &mut Vec<u8>, field: u32, encryption: Option<&FileEncryption<'_>>) -> Result<(), HdfsError> {
    if let Some(encryption) = encryption {
        put_bytes(out, field, &to_proto::file_encryption_info(encryption)?.encode_to_vec());
    }
    Ok(())
}

/// A `DirectoryListingProto` under way.
pub struct ListingEncoder<'o> {
    out: &'o mut Vec<u8>,
}

impl ListingEncoder<'_> {
    /// Adds an entry.
    ///
    /// # Errors
    /// As [`put_file_status`].
    #[inline]
    pub fn entry(&mut self, status: &FileStatus<'_>) -> Result<(), HdfsError> {
        put_file_status(self.out, 1, status)
    }

    /// Adds an entry with the blocks of its file.
    ///
    /// # Errors
    /// As [`put_file_status`].
    pub fn located_entry(
        &mut self,
        status: &FileStatus<'_>,
        blocks: &LocatedBlocks<'_>,
        pool_id: &str,
        locate: impl FnOnce(&mut LocatedBlocksEncoder<'_>),
    ) -> Result<(), HdfsError> {
        put_located_file_status(self.out, 1, status, blocks, pool_id, locate)
    }
}

/// A `DirectoryListingProto`: `list` adds the entries and returns how many remain to be listed, and its own result.
pub fn put_directory_listing<R>(
    out: &mut Vec<u8>,
    field: u32,
    list: impl FnOnce(&mut ListingEncoder<'_>) -> (u32, R),
) -> R {
    put_nested(out, field, |out| {
        let (remaining, result) = list(&mut ListingEncoder { out });
        put_uint(out, 2, u64::from(remaining));
        result
    })
}

/// A `LocatedBlocksProto` under way.
pub struct LocatedBlocksEncoder<'o> {
    out: &'o mut Vec<u8>,
    pool_id: &'o str,
    /// `lastBlock`, encoded: it comes after fields that follow the blocks.
    last: Vec<u8>,
}

impl LocatedBlocksEncoder<'_> {
    /// Adds a block of the range that was asked for.
    pub fn block(&mut self, block: &LocatedBlock<'_>) {
        put_located_block(self.out, 2, self.pool_id, block);
    }

    /// Tells the last block of the file, wherever the range ends.
    pub fn last_block(&mut self, block: &LocatedBlock<'_>) {
        self.last.clear();
        put_located_block(&mut self.last, 4, self.pool_id, block);
    }
}

/// A `LocatedBlocksProto`: `locate` adds the blocks.
///
/// # Errors
/// As [`put_file_status`].
pub fn put_located_blocks<R>(
    out: &mut Vec<u8>,
    field: u32,
    blocks: &LocatedBlocks<'_>,
    pool_id: &str,
    locate: impl FnOnce(&mut LocatedBlocksEncoder<'_>) -> R,
) -> Result<R, HdfsError> {
    put_nested(out, field, |out| {
        put_uint(out, 1, blocks.file_length);
        let mut encoder = LocatedBlocksEncoder { out, pool_id, last: Vec::new() };
        let result = locate(&mut encoder);
        let last = encoder.last;
        put_uint(out, 3, u64::from(blocks.under_construction));
        out.extend_from_slice(&last);
        put_uint(out, 5, u64::from(blocks.last_block_complete));
        put_encryption(out, 6, blocks.encryption.as_ref())?;
        Ok(result)
    })
}

/// A `LocatedBlockProto`.
pub fn put_located_block(out: &mut Vec<u8>, field: u32, pool_id: &str, block: &LocatedBlock<'_>) {
    put_nested(out, field, |out| {
        put_extended_block_parts(out, 1, pool_id, &block.block);
        put_uint(out, 2, block.offset);
        for replica in block.replicas {
            put_datanode_info(out, 3, replica);
        }
        put_uint(out, 4, u64::from(block.corrupt));
        out.extend_from_slice(EMPTY_TOKEN);
        if !block.replicas.is_empty() {
            // isCached, packed: no replica is.
            out.push(6 << 3 | 2);
            put_varint(out, block.replicas.len() as u64);
            out.resize(out.len() + block.replicas.len(), 0);
        }
        for replica in block.replicas {
            put_uint(out, 7, replica.storage_type as u64);
        }
        for replica in block.replicas {
            put_bytes(out, 8, replica.storage_uuid.as_bytes());
        }
    });
}

/// An `ExtendedBlockProto`.
pub fn put_extended_block(out: &mut Vec<u8>, field: u32, block: &ExtendedBlock) {
    put_extended_block_parts(out, field, &block.pool_id, &block.block);
}

/// An `ExtendedBlockProto` of a block pool and a block.
pub fn put_extended_block_parts(out: &mut Vec<u8>, field: u32, pool_id: &str, block: &Block) {
    put_nested(out, field, |out| {
        put_bytes(out, 1, pool_id.as_bytes());
        put_uint(out, 2, block.id.0 as u64);
        put_uint(out, 3, block.generation_stamp.0);
        put_uint(out, 4, block.num_bytes);
    });
}

/// A `DatanodeInfoProto` of a replica's DataNode.
pub fn put_datanode_info(out: &mut Vec<u8>, field: u32, replica: &Replica<'_>) {
    put_datanode(out, field, replica.datanode, replica.stats, replica.network_location, replica.admin_state);
}

/// A `DatanodeInfoProto`.
pub fn put_datanode(
    out: &mut Vec<u8>,
    field: u32,
    id: &DatanodeId,
    stats: &DatanodeStats,
    location: &str,
    admin_state: AdminState,
) {
    put_nested(out, field, |out| {
        put_datanode_id(out, 1, id);
        put_uint(out, 2, stats.capacity);
        put_uint(out, 3, stats.dfs_used);
        put_uint(out, 4, stats.remaining);
        put_uint(out, 5, stats.block_pool_used);
        put_uint(out, 6, stats.last_update_ms);
        put_uint(out, 7, u64::from(stats.xceiver_count));
        put_bytes(out, 8, location.as_bytes());
        put_uint(out, 9, stats.non_dfs_used);
        put_uint(out, 10, admin_state as u64);
        put_uint(out, 11, stats.cache_capacity);
        put_uint(out, 12, stats.cache_used);
        put_uint(out, 13, stats.last_update_monotonic_ms);
        put_uint(out, 15, stats.last_block_report_ms);
        put_uint(out, 16, stats.last_block_report_monotonic_ms);
        put_uint(out, 17, u64::from(stats.num_blocks));
    });
}

/// A `DatanodeIDProto`.
pub fn put_datanode_id(out: &mut Vec<u8>, field: u32, id: &DatanodeId) {
    put_nested(out, field, |out| {
        put_bytes(out, 1, id.ip_addr.as_bytes());
        put_bytes(out, 2, id.host_name.as_bytes());
        put_bytes(out, 3, id.uuid.as_bytes());
        put_uint(out, 4, u64::from(id.xfer_port));
        put_uint(out, 5, u64::from(id.info_port));
        put_uint(out, 6, u64::from(id.ipc_port));
        put_uint(out, 7, u64::from(id.info_secure_port));
    });
}
