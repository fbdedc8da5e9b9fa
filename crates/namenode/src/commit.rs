//! The order in which a change becomes real: plan, log and apply under the namespace's write lock; unlock; and let the
//! answer leave when the journal's commit thread has made its transaction durable. No thread waits for a disk.
//!
//! Reads are not held back to the last transaction they saw: neither does Hadoop, and a reader beside a busy writer would
//! pay a disk flush for each call. What goes out to DataNodes is different: a deletion is handed out only when
//! its transaction is durable (`Namespace::datanode_commands`), or a crash could bring a file back without its blocks.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::lock::WriteGuard;
use crate::safe_mode::{self, What};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use surus_namespace::plan::SoftEffect;
use surus_namespace::{EditOp, Env, Namespace, Operation, Plan, Refusal, WaitFor};
use surus_net::rpc::{ReadyReply, send_together};
use surus_types::{ExceptionClass, HdfsError, TxId};
use tokio::sync::oneshot;

/// What waits for a transaction to be durable.
pub enum Waiting {
    Rpc(ReadyReply),
    /// A task, such as a WebHDFS request's.
    Task(oneshot::Sender<()>),
}

/// Releases what became durable together: one write for each connection.
pub fn release(waiting: Vec<Waiting>) {
    let mut replies = Vec::with_capacity(waiting.len());
    for one in waiting {
        match one {
            Waiting::Rpc(reply) => replies.push(reply),
            // The task may be gone, its client with it.
            Waiting::Task(task) => drop(task.send(())),
        }
    }
    send_together(replies);
}

/// What this thread knows of the batch of calls that came with one read of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Batch {
    /// There is none: what is logged is committed at once.
    None,
    Open,
    /// Something was logged, and the commit thread is to be told at the batch's end.
    Logged,
}

thread_local! {
    static BATCH: Cell<Batch> = const { Cell::new(Batch::None) };
}

/// A call of a batch begins on this thread, and `batch_done` will follow on it: what the batch logs is committed together.
pub fn batch_call() {
    if BATCH.get() == Batch::None {
        BATCH.set(Batch::Open);
    }
}

/// Stands between the log and the state: a panic that unwinds through it would leave them apart, and the next image
/// wrong, so it ends the process.
struct Critical;

impl Drop for Critical {
    fn drop(&mut self) {
        eprintln!("the NameNode stops: an operation was logged and its change broke off");
        std::process::abort();
    }
}

impl Core {
    /// The batch on this thread is over: its changes are committed.
    pub fn batch_done(&self) {
        if BATCH.replace(Batch::None) == Batch::Logged {
            self.journal.nudge();
        }
    }

    /// The environment of a plan for this call.
    pub fn env<'a>(&self, call: &Call<'a>) -> Env<'a> {
        Env {
            now_ms: self.clock.now_ms(),
            monotonic_ms: self.clock.monotonic_ms(),
            caller: call.caller,
            rpc: call.rpc,
            random: rand::random(),
        }
    }

    /// Plans and makes a change, and encodes its answer with `encode` while the state is still locked. `what` names
    /// the change in the refusal while safe mode is on.
    ///
    /// # Errors
    /// The plan's refusal.
    pub fn write<O: Operation>(
        &self,
        call: &Call<'_>,
        what: What<'_>,
        operation: &O,
        encode: impl FnOnce(&Namespace, &O::Reply),
    ) -> Result<Done, Refused> {
        self.write_if(call, Some(what), operation, encode)
    }

    /// As `write`, but with `what` absent allowed in safe mode too.
    ///
    /// # Errors
    /// The plan's refusal.
    pub fn write_if<O: Operation>(
        &self,
        call: &Call<'_>,
        what: Option<What<'_>>,
        operation: &O,
        encode: impl FnOnce(&Namespace, &O::Reply),
    ) -> Result<Done, Refused> {
        let env = self.env(call);
        let mut namespace = self.namespace.write();
        namespace.set_now(env.monotonic_ms);
        if let Some(what) = what {
            self.check_safe_mode(&namespace, what).map_err(|error| self.soon_over(&namespace, call, error))?;
        }
        let planned = operation.plan(&namespace, &env);
        self.finish(namespace, call, None, planned, encode)
    }

    /// Makes a change that was planned, and encodes its answer. `what`: the refusal while safe mode is on.
    ///
    /// # Errors
    /// The plan's refusal.
    pub fn finish<R>(
        &self,
        mut namespace: WriteGuard<'_>,
        call: &Call<'_>,
        what: Option<What<'_>>,
        planned: Result<Plan<R>, Refusal>,
        encode: impl FnOnce(&Namespace, &R),
    ) -> Result<Done, Refused> {
        if let Some(what) = what {
            self.check_safe_mode(&namespace, what).map_err(|error| self.soon_over(&namespace, call, error))?;
        }
        let (result, woken) = match namespace.with_room(planned) {
            Ok(Plan { ops, soft, reply }) => {
                let woken = self.commit(&mut namespace, &ops, &soft);
                encode(&namespace, &reply);
                (Ok(Done { txid: self.last_txid(), keep: true }), woken)
            }
            Err(Refusal::Error(error)) if error.class == ExceptionClass::SafeMode => {
                (Err(self.soon_over(&namespace, call, error)), Vec::new())
            }
            Err(Refusal::Error(error)) => (Err(Refused::Error(error)), Vec::new()),
            Err(Refusal::Wait { until, otherwise }) => (Err(self.refused(until, otherwise)), Vec::new()),
            Err(Refusal::Start { ops, soft, until, otherwise }) => {
                let woken = self.commit(&mut namespace, &ops, &soft);
                (Err(self.refused(until, otherwise)), woken)
            }
        };
        drop(namespace);
        self.wake(&woken);
        result
    }

    /// Where the only DataNode is in this process, start-up safe mode ends as soon as that one has reported, in a blink: the
    /// call waits for it.
    fn soon_over(&self, namespace: &Namespace, call: &Call<'_>, error: HdfsError) -> Refused {
        if self.own_datanode && namespace.blocks.safe_mode.is_startup() && !call.waited {
            return self.refused(WaitFor::SafeMode, error);
        }
        error.into()
    }

    /// Under the namespace lock, so that no wake-up is missed between the plan and the parking.
    fn refused(&self, until: WaitFor, otherwise: HdfsError) -> Refused {
        Refused::Park { until, generation: self.parked.generation(), otherwise }
    }

    /// Logs and applies operations; the caller holds the write lock. Returns what parked calls may now go on.
    pub fn commit(&self, namespace: &mut Namespace, ops: &[EditOp], soft: &[SoftEffect]) -> Vec<WaitFor> {
        if ops.is_empty() && soft.is_empty() {
            return Vec::new();
        }
        let mut txid = self.last_txid();
        if !ops.is_empty() {
            let critical = Critical;
            let last = match BATCH.get() {
                Batch::None => self.journal.log(ops),
                Batch::Open | Batch::Logged => {
                    BATCH.set(Batch::Logged);
                    self.journal.log_later(ops)
                }
            };
            self.last_txid.store(last.0, Ordering::Relaxed);
            txid = TxId(last.0 - ops.len() as u64);
            for op in ops {
                txid = TxId(txid.0 + 1);
                if let Err(error) = namespace.apply(op, txid) {
                    // The state is no longer what the log says. Going on would write a wrong image.
                    self.fatal(&format!("operation {txid} was planned and logged but does not apply: {error:?}"));
                }
            }
            std::mem::forget(critical);
        }
        namespace.apply_soft(soft, txid);
        namespace.blocks.take_woken()
    }

    /// # Errors
    /// SafeModeException while safe mode is on.
    pub fn check_safe_mode(&self, namespace: &Namespace, what: What<'_>) -> Result<(), HdfsError> {
        if !namespace.blocks.safe_mode.is_on() {
            return Ok(());
        }
        let retriable = self.config.ha_enabled;
        Err(safe_mode::refuse(namespace, what, &self.host_name, retriable, self.clock.monotonic_ms()))
    }

    /// A change of the NameNode's own, such as the end of a lease: no caller, no reply.
    ///
    /// # Errors
    /// The plan's refusal; one that would have to wait counts as an error.
    pub fn change<O: Operation>(&self, operation: &O) -> Result<O::Reply, HdfsError> {
        let call = Call::without_rpc(&self.own_caller);
        let env = self.env(&call);
        let mut namespace = self.namespace.write();
        namespace.set_now(env.monotonic_ms);
        let (result, woken) = match namespace.with_room(operation.plan(&namespace, &env)) {
            Ok(plan) => {
                let woken = self.commit(&mut namespace, &plan.ops, &plan.soft);
                (Ok(plan.reply), woken)
            }
            Err(Refusal::Error(error) | Refusal::Wait { otherwise: error, .. }) => (Err(error), Vec::new()),
            Err(Refusal::Start { ops, soft, otherwise, .. }) => {
                let woken = self.commit(&mut namespace, &ops, &soft);
                (Err(otherwise), woken)
            }
        };
        drop(namespace);
        self.wake(&woken);
        result
    }

    /// Waits in a task until `txid` is durable.
    pub async fn durable(&self, txid: TxId) {
        if self.held.is_durable(txid) {
            return;
        }
        let (sender, receiver) = oneshot::channel();
        self.held.send_when_durable(txid, Waiting::Task(sender));
        // An error would mean that the queue was dropped, and the process with it.
        let _ = receiver.await;
    }
}
