//! The vocabulary of Surus: ids, permissions, paths, exceptions, and the borrowed views that
//! `namespace` lends and `wire` and `webhdfs` encode. No behaviour that needs a clock, a file or a socket.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod acl;
pub mod block;
pub mod caller;
pub mod datanode;
pub mod date;
pub mod erasure_coding;
pub mod error;
pub mod ids;
pub mod path;
pub mod permission;
pub mod status;
pub mod storage_types;
pub mod xattr;

pub use acl::{AclChange, AclEntry, AclEntryKind};
pub use block::{Block, ExtendedBlock, ReplicaState, StorageType};
pub use caller::{Caller, RpcIds};
pub use datanode::{AdminState, DatanodeId, DatanodeStats, StorageReport};
pub use erasure_coding::{EcPolicyState, ErasureCodingPolicy};
pub use error::{ExceptionClass, HdfsError};
pub use ids::{BlockId, GenerationStamp, InodeId, TxId};
pub use path::HdfsPath;
pub use permission::{FsAction, FsPermission, PermissionStatus};
pub use status::{
    ContentSummary, FileEncryption, FileStatus, FileType, FsStats, LocatedBlock, LocatedBlocks, Replica, SnapshotTotals,
};
pub use storage_types::{STORAGE_TYPES, TypeSpaces};
pub use xattr::{XAttr, XAttrCodec};
