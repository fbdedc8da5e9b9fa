//! One file for each operation: the request, its plan, and the part of `apply` that executes what the plan logged.

pub mod abandon_block;
pub mod add_block;
pub mod append;
pub mod change_acl;
pub mod commit_block_synchronization;
pub mod complete;
pub mod concat;
pub mod create;
pub mod delete;
mod file_state;
pub mod fsync;
pub mod get_acl_status;
pub mod get_block_locations;
pub mod get_content_summary;
pub mod get_file_info;
pub mod get_listing;
pub mod get_xattrs;
pub mod lease_expiry;
pub mod mkdirs;
pub mod pipeline;
pub mod queries;
pub mod quota;
pub mod recover_lease;
pub mod remove_xattr;
pub mod rename;
pub mod set_owner;
pub mod set_permission;
pub mod set_quota;
pub mod set_replication;
pub mod set_storage_policy;
pub mod set_times;
pub mod set_xattr;
pub mod snapshot;
mod soft;
pub mod truncate;

pub use file_state::BlockLocation;
