//! The NameNode's mind: inode tree, permissions, leases, block map, DataNodes. Pure: no clock, no files, no sockets.
//!
//! `plan` reads the state and decides which edit-log operations a request means; `apply` executes one operation and is
//! shared by live requests and start-up replay; `observe` takes what is never logged (replicas, heartbeats).
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod blocks;
pub mod edit_op;
pub mod plan;

pub use edit_op::EditOp;
pub use plan::{Env, Operation, Plan, Refusal, WaitFor};

/// The whole state of the NameNode: what the fsimage holds, and the soft state beside it.
#[derive(Debug, Default)]
pub struct Namespace {
    pub blocks: blocks::BlockManager,
}
