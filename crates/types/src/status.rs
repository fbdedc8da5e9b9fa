//! Borrowed views of files, blocks and totals: what a read operation lends to an encoder.

use crate::block::{Block, StorageType};
use crate::datanode::{AdminState, DatanodeId, DatanodeStats};
use crate::erasure_coding::ErasureCodingPolicy;
use crate::ids::InodeId;
use crate::permission::FsPermission;
use crate::storage_types::TypeSpaces;
use alloc::string::String;

/// Numbers are those of `HdfsFileStatusProto.FileType`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum FileType {
    Directory = 1,
    File = 2,
    Symlink = 3,
}

/// What `getFileInfo` and `getListing` tell of one inode.
#[derive(Clone, Copy, Debug)]
pub struct FileStatus<'a> {
    pub file_type: FileType,
    /// Last component of the path; empty where the answer is about the path that was asked for.
    pub name: &'a [u8],
    /// Length in bytes; 0 for directories.
    pub length: u64,
    pub permission: FsPermission,
    pub owner: &'a str,
    pub group: &'a str,
    pub modification_time_ms: i64,
    pub access_time_ms: i64,
    /// Target, empty unless a symlink.
    pub symlink: &'a [u8],
    /// 0 for directories.
    pub replication: u16,
    /// Preferred block size in bytes; 0 for directories.
    pub block_size: u64,
    pub inode_id: InodeId,
    /// Number of children; 0 for files.
    pub children: u32,
    /// 0: unspecified.
    pub storage_policy: u8,
    /// Bits of `HdfsFileStatusProto.Flags`: ACL 1, encrypted 2, erasure-coded 4, snapshot-enabled 8.
    pub flags: u32,
    /// Of a file, or for what comes into a directory; `None`: replication.
    pub ec_policy: Option<&'a ErasureCodingPolicy>,
    /// Of a file in an encryption zone.
    pub encryption: Option<FileEncryption<'a>>,
}

/// How a file is encrypted, as two extended attributes hold it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileEncryption<'a> {
    /// A `ZoneEncryptionInfoProto`.
    pub zone: &'a [u8],
    /// A `PerFileEncryptionInfoProto`.
    pub file: &'a [u8],
}

/// A replica's place: which DataNode, which of its storages.
#[derive(Clone, Copy, Debug)]
pub struct Replica<'a> {
    pub datanode: &'a DatanodeId,
    pub stats: &'a DatanodeStats,
    pub admin_state: AdminState,
    /// `/default-rack`, ...
    pub network_location: &'a str,
    pub storage_uuid: &'a str,
    pub storage_type: StorageType,
}

/// A block of a file with the replicas a reader may use, nearest first.
#[derive(Clone, Copy, Debug)]
pub struct LocatedBlock<'a> {
    pub block: Block,
    /// Offset of the block's first byte in the file.
    pub offset: u64,
    /// Every replica known is corrupt.
    pub corrupt: bool,
    pub replicas: &'a [Replica<'a>],
}

/// The answer to `getBlockLocations`, without its blocks, which are lent one by one.
#[derive(Clone, Copy, Debug)]
pub struct LocatedBlocks<'a> {
    /// Length in bytes of the complete blocks and, where known, the last one.
    pub file_length: u64,
    pub under_construction: bool,
    pub last_block_complete: bool,
    /// Of a file in an encryption zone.
    pub encryption: Option<FileEncryption<'a>>,
}

/// What only snapshots hold below a path. Sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotTotals {
    pub length: u64,
    pub file_count: u64,
    pub directory_count: u64,
    pub space_consumed: u64,
}

/// Totals below a path. Sizes in bytes; quotas -1: none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentSummary {
    pub length: u64,
    pub file_count: u64,
    /// With the directory itself.
    pub directory_count: u64,
    pub quota: i64,
    /// Length times replication.
    pub space_consumed: u64,
    pub space_quota: i64,
    /// Bytes on each storage type, as far as storage policies say where they lie.
    pub type_consumed: TypeSpaces,
    pub type_quotas: TypeSpaces,
    /// What only snapshots hold: part of the totals.
    pub snapshot: SnapshotTotals,
    /// Of a file its erasure coding policy or `Replicated`; of a directory the policy that counts there, if any.
    pub ec_policy: String,
}

impl Default for ContentSummary {
    fn default() -> Self {
        ContentSummary {
            length: 0,
            file_count: 0,
            directory_count: 0,
            quota: -1,
            space_consumed: 0,
            space_quota: -1,
            snapshot: SnapshotTotals::default(),
            type_consumed: TypeSpaces::default(),
            type_quotas: TypeSpaces::NO_QUOTA,
            ec_policy: String::new(),
        }
    }
}

/// The answer to `getFsStats`. Sizes in bytes, the rest counts of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FsStats {
    pub capacity: u64,
    pub used: u64,
    pub remaining: u64,
    pub under_replicated: u64,
    pub corrupt_blocks: u64,
    pub missing_blocks: u64,
    pub missing_replication_one_blocks: u64,
    pub blocks_in_future: u64,
    pub pending_deletion_blocks: u64,
}
