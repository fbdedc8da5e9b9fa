//! The DataNode's integration tests, one module for each subject.

mod commands;
mod crash;
mod fake;
mod ipc;
mod peer;
mod random;
mod rolling;
mod samples;
mod store;
mod upgrade;
mod xfer;
