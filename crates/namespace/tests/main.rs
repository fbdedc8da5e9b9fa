//! The integration tests of the crate: one binary, a module for each subject.

mod errors;
mod harness;
mod model;
