//! Blocks as the NameNode and the DataNodes name them, and the kinds of storage they lie on.

use crate::ids::{BlockId, GenerationStamp};
use alloc::string::String;
use core::fmt;

/// A block: id, generation stamp and length in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Block {
    pub id: BlockId,
    pub generation_stamp: GenerationStamp,
    /// Length in bytes.
    pub num_bytes: u64,
}

/// Hadoop's own form: `blk_1073741825_1001`. The length is not shown.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blk_{}_{}", self.id, self.generation_stamp)
    }
}

/// A block with its block pool id.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ExtendedBlock {
    pub pool_id: String,
    pub block: Block,
}

/// Hadoop's own form: `BP-1-127.0.0.1-2:blk_1073741825_1001`.
impl fmt::Display for ExtendedBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.pool_id, self.block)
    }
}

/// What kind of medium a storage is. Numbers are those of `StorageTypeProto`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
#[repr(u8)]
pub enum StorageType {
    #[default]
    Disk = 1,
    Ssd = 2,
    Archive = 3,
    RamDisk = 4,
    Provided = 5,
    Nvdimm = 6,
}

impl StorageType {
    /// From the number of `StorageTypeProto`.
    pub fn from_proto(number: i32) -> Option<Self> {
        Some(match number {
            1 => Self::Disk,
            2 => Self::Ssd,
            3 => Self::Archive,
            4 => Self::RamDisk,
            5 => Self::Provided,
            6 => Self::Nvdimm,
            _ => return None,
        })
    }

    /// Hadoop's name, as configuration and JSON show it: `DISK`, `SSD`, ...
    pub fn name(self) -> &'static str {
        match self {
            Self::Disk => "DISK",
            Self::Ssd => "SSD",
            Self::Archive => "ARCHIVE",
            Self::RamDisk => "RAM_DISK",
            Self::Provided => "PROVIDED",
            Self::Nvdimm => "NVDIMM",
        }
    }
}

/// How far a replica has come on its DataNode. Numbers are those of `ReplicaStateProto`, on the wire and in block lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ReplicaState {
    /// Complete.
    Finalized = 0,
    /// Being written by a client's pipeline.
    Rbw = 1,
    /// Was being written when the DataNode stopped; waits for recovery.
    Rwr = 2,
    /// Under recovery.
    Rur = 3,
    /// Being copied from another DataNode.
    Temporary = 4,
}

impl ReplicaState {
    /// `None`: no state has this number.
    pub fn from_number(number: i64) -> Option<Self> {
        [Self::Finalized, Self::Rbw, Self::Rwr, Self::Rur, Self::Temporary].into_iter().find(|s| *s as i64 == number)
    }

    /// Hadoop's name, as exception texts show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finalized => "FINALIZED",
            Self::Rbw => "RBW",
            Self::Rwr => "RWR",
            Self::Rur => "RUR",
            Self::Temporary => "TEMPORARY",
        }
    }
}
