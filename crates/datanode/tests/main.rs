//! The DataNode's integration tests, one module for each subject.

mod commands;
mod fake;
mod peer;
mod samples;
mod store;
mod xfer;
