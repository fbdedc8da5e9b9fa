//! The NameNode: the shell round `namespace`. RPC services, commit order, parked calls, retry cache, safe mode,
//! DataNode commands, groups, WebHDFS and the status pages.

mod audit;
mod call;
mod callers;
mod checkpoint;
mod clock;
mod commit;
mod config;
mod config_source;
mod core;
mod error;
mod held;
mod hosts;
mod http;
mod journal;
mod lock;
mod namenode;
mod parked;
mod received_image;
mod recovery;
mod reencryption;
mod retry_cache;
mod rpc;
mod safe_mode;
mod service;
mod startup;
mod storage;
mod ticks;
mod to_proto;
mod trash;
mod walks;

/// The Hadoop version this NameNode claims to be: DataNodes and tools compare it.
pub const SOFTWARE_VERSION: &str = "3.5.0";
/// Where Hadoop shows its source revision.
pub const BUILD_VERSION: &str = "surus";

pub use config_source::ConfigSource;
pub use error::StartError;
pub use namenode::{NameNode, NameNodeOptions};
pub use recovery::{RecoveryChoice, RecoveryQuestion, recover};
pub use storage::{StartOption, format, metadata_version, name_dirs, rollback};
/// For fuzzing.
#[doc(hidden)]
pub use {hosts::count_combined as count_combined_hosts, rpc::datanode::block_list::decode as decode_block_report};
