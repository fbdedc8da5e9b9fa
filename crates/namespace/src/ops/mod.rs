//! One file for each operation: the request, its plan, and the part of `apply` that executes what the plan logged.

pub mod concat;
pub mod delete;
pub mod get_content_summary;
pub mod get_file_info;
pub mod get_listing;
pub mod mkdirs;
pub mod queries;
pub mod rename;
pub mod set_owner;
pub mod set_permission;
pub mod set_times;
