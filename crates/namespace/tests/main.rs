//! The integration tests of the crate: one binary, a module for each subject.

mod bench;
mod big_delete;
mod block_reports;
mod budget;
mod clock;
mod cluster;
mod data_path;
mod data_path_errors;
mod errors;
mod harness;
mod lazy_persist;
mod model;
mod model_attributes;
mod quota;
mod random_cluster;
mod replicas;
mod safe_mode;
mod scripts;
mod snapshots;
mod walks;
