//! The contract between a request and the state: what a plan may know, and what it answers.

use crate::edit_op::EditOp;
use alloc::vec::Vec;
use surus_types::{BlockId, Caller, HdfsError, InodeId, RpcIds};

/// Everything a plan may know besides the state. Time and randomness are arguments, so every race is a unit test.
pub struct Env<'a> {
    pub now_ms: i64,
    /// A clock that never steps back, for leases and heartbeats.
    pub monotonic_ms: u64,
    pub caller: &'a Caller,
    /// Kept in the edit log by operations that must happen at most once.
    pub rpc: &'a RpcIds,
    /// Fresh random bits for this call.
    pub random: u64,
}

/// What a request means: the operations to log and apply, in order, and the answer once they are durable.
#[derive(Debug)]
pub struct Plan<R> {
    pub ops: Vec<EditOp>,
    pub reply: R,
}

impl<R> Plan<R> {
    /// An answer that changes nothing.
    pub fn read(reply: R) -> Self {
        Plan { ops: Vec::new(), reply }
    }
    pub fn one(op: EditOp, reply: R) -> Self {
        Plan { ops: alloc::vec![op], reply }
    }
}

/// Why there is no plan.
#[derive(Debug)]
pub enum Refusal {
    /// The exception to answer with.
    Error(HdfsError),
    /// A condition that is about to hold: the shell parks the call without a thread, plans it again when the condition
    /// may have changed, and after a bounded time answers with `otherwise` (design principle 9).
    Wait { until: WaitFor, otherwise: HdfsError },
}

impl From<HdfsError> for Refusal {
    fn from(error: HdfsError) -> Self {
        Refusal::Error(error)
    }
}

/// What a parked call waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitFor {
    /// The block reaches its minimum replication.
    MinReplication(BlockId),
    /// The file's lease recovery ends.
    LeaseRecovery(InodeId),
}

/// A request of a client, parsed but not yet checked against the state. One type and one file for each (`ops/`).
pub trait Operation {
    type Reply;

    /// Decides what the request means in this state; changes nothing.
    ///
    /// # Errors
    /// The exception Hadoop would answer with, or what the call must wait for.
    fn plan(&self, namespace: &crate::Namespace, env: &Env<'_>) -> Result<Plan<Self::Reply>, Refusal>;
}
