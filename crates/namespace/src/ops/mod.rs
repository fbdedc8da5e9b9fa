//! One file for each operation: the request, its plan, and the part of `apply` that executes what the plan logged.

pub mod get_file_info;
pub mod get_listing;
pub mod mkdirs;
