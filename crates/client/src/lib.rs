//! The client library: a file system of HDFS to list, read and write, against Surus and Hadoop alike. Blocking calls;
//! everything is `Send`. Sockets come from `net`, protocols from `wire`.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::io::{Read, Write};
//! use surus_client::{CreateOptions, DfsClient};
//! let conf = surus_conf::Configuration::new();
//! let client = DfsClient::from_conf(&conf, Some("hdfs://127.0.0.1:8020"))?;
//! let mut writer = client.create("/greeting", &CreateOptions::default())?;
//! writer.write_all(b"hello")?;
//! writer.close()?;
//! let mut text = String::new();
//! client.open("/greeting")?.read_to_string(&mut text)?;
//! # Ok(())
//! # }
//! ```
//!
#![forbid(unsafe_code)]

mod admin;
mod attributes;
mod checksum;
mod cipher;
mod client;
mod config;
mod datanode;
mod encryption;
mod error;
pub mod glob;
mod lease;
mod namenode;
mod policies;
mod read;
mod snapshots;
mod status;
mod trash;
mod user;
mod write;

pub use admin::{DatanodeReportType, RollingUpgradeAction, RollingUpgradeInfo, SafeModeAction};
pub use attributes::{AclChange, AclEntry, AclScope, AclStatus, AclType, XAttr, XAttrNamespace};
pub use checksum::FileChecksum;
pub use client::{DfsClient, ServerDefaults};
pub use config::{ClientConfig, ReadConfig, ReplaceDatanode, ReplacePolicy, RetryConfig, WriteConfig};
pub use encryption::{EncryptionZone, FileEncryptionInfo, ReencryptionState, ReencryptionStatus};
pub use error::{ClientError, Result, io_text};
pub use namenode::{CLIENT_PROTOCOL, NameNodes, Repeat};
pub use policies::{
    CacheDirectiveEntry, CacheDirectiveInfo, CacheExpiration, CachePoolEntry, CachePoolInfo, EcPolicy, EcPolicyChange,
    QUOTA_DONT_SET, QUOTA_RESET, StoragePolicy,
};
pub use read::{Reader, is_block_missing};
pub use snapshots::{SnapshotDiffReport, SnapshotStatus, SnapshottableDirectoryStatus};
pub use status::{ContentSummary, FileStatus, Listing, QuotaUsage, TypeQuota};
pub use user::{current_user, login_name, name_of_id};
pub use write::{CreateOptions, Writer};
