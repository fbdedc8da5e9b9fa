//! The DataNode's integration tests, one module for each subject.

mod samples;
mod store;
