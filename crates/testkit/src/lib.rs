//! A cluster in one process, on free ports and in a directory that goes with it, and what fuzzing shares: for integration tests.
//! Never a dependency of anything but tests.

mod cluster;
pub mod fuzz;
mod hanging_disk;

pub use cluster::{Cluster, ClusterBuilder};
pub use hanging_disk::HangingDisk;
