//! The contract between a request and the state: what a plan may know, and what it answers.

use crate::blocks::StorageHandle;
use crate::edit_op::EditOp;
use alloc::vec::Vec;
use surus_types::{Block, BlockId, Caller, GenerationStamp, HdfsError, InodeId, RpcIds};

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

/// What a request means: the operations to log and apply, in order, what changes beside them, and the answer once they
/// are durable.
#[derive(Debug)]
pub struct Plan<R> {
    pub ops: Vec<EditOp>,
    /// Passed to `Namespace::apply_soft` after the operations were applied.
    pub soft: Vec<SoftEffect>,
    pub reply: R,
}

/// A change that a plan wants and the edit log does not hold: only a live NameNode makes it, replay does not.
#[derive(Clone, PartialEq, Debug)]
pub enum SoftEffect {
    /// The replicas a client is about to write, or goes on writing, replace those expected so far.
    ExpectReplicas { block: BlockId, generation_stamp: GenerationStamp, storages: Vec<StorageHandle> },
    /// DataNodes bring the replicas of a file's last block to one length under a new generation stamp.
    StartBlockRecovery {
        block: BlockId,
        recovery_id: GenerationStamp,
        /// Where a truncate cuts: the block's new id, stamp and length. Else the replicas decide.
        truncate_to: Option<Block>,
    },
    /// The replicas that a finished block recovery left: they hold the block's final form.
    Recovered { block: BlockId, storages: Vec<StorageHandle> },
    /// The lease holder has shown that it lives.
    RenewLease { holder: alloc::boxed::Box<str> },
}

impl<R> Plan<R> {
    /// An answer that changes nothing.
    pub fn read(reply: R) -> Self {
        Plan::new(Vec::new(), reply)
    }
    pub fn one(op: EditOp, reply: R) -> Self {
        Plan::new(alloc::vec![op], reply)
    }
    pub fn new(ops: Vec<EditOp>, reply: R) -> Self {
        Plan { ops, soft: Vec::new(), reply }
    }
    /// Adds a change that is not logged.
    pub fn with(mut self, effect: SoftEffect) -> Self {
        self.soft.push(effect);
        self
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
    /// As `Wait`, but the condition comes about only through these operations (a lease recovery that the request
    /// starts): they are logged and applied first, exactly as those of a plan.
    Start { ops: Vec<EditOp>, soft: Vec<SoftEffect>, until: WaitFor, otherwise: HdfsError },
}

impl From<HdfsError> for Refusal {
    fn from(error: HdfsError) -> Self {
        Refusal::Error(error)
    }
}

/// What a parked call waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WaitFor {
    /// The block reaches its minimum replication.
    MinReplication(BlockId),
    /// The file's lease recovery ends.
    LeaseRecovery(InodeId),
    /// Start-up safe mode ends.
    SafeMode,
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
