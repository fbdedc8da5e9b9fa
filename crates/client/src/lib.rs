//! The client library: a file system of HDFS to list, read and write, against Surus and Hadoop alike. Blocking calls;
//! everything is `Send`. Sockets come from `net`, protocols from `wire`.
//!
#![forbid(unsafe_code)]

mod admin;
mod client;
mod config;
mod datanode;
mod error;
mod lease;
mod namenode;
mod read;
mod status;
mod user;

pub use admin::{DatanodeReportType, SafeModeAction};
pub use client::{DfsClient, ServerDefaults};
pub use config::{ClientConfig, ReadConfig, ReplaceDatanode, ReplacePolicy, RetryConfig, WriteConfig};
pub use error::{ClientError, Result, io_text};
pub use namenode::{CLIENT_PROTOCOL, NameNodes, Repeat};
pub use read::{Reader, is_block_missing};
pub use status::{ContentSummary, FileStatus, Listing, QuotaUsage, TypeQuota};
pub use user::{current_user, login_name, name_of_id};
