//! The edit log as the NameNode sees it: operations go into a buffer, numbered; the commit thread makes them durable.

use crate::commit::{CommitListener, Committer};
use crate::error::JournalError;
use crate::ops::encode_op;
use crate::storage::Storage;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use surus_namespace::EditOp;
use surus_types::TxId;

/// A buffer that a burst made larger than this is given back to the allocator, in bytes.
const SPARE_BYTES_MAX: usize = 4 << 20;

/// The edit log, open for writing. Dropping it closes it.
pub struct EditLog {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Where a roll cut the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Roll {
    /// The last transaction of the segment that ended (its OP_END_LOG_SEGMENT).
    pub ended: TxId,
    /// The first of the new one. The roll is done when this is durable.
    pub started: TxId,
}

impl EditLog {
    /// Opens the segment behind `last` in every name directory and starts the commit thread. Returns when the segment
    /// is durable.
    ///
    /// # Errors
    /// When no name directory can be written.
    pub fn start(
        storage: Arc<Storage>,
        last: TxId,
        listener: Box<dyn CommitListener>,
    ) -> Result<EditLog, JournalError> {
        let shared = Arc::new(Shared::new(last));
        let first = TxId(last.0 + 1);
        let committer = Committer::open(Arc::clone(&shared), storage, listener, first)?;
        let thread = std::thread::Builder::new().name("edit-log".to_owned()).spawn(move || committer.run());
        let thread = thread.map_err(JournalError::io("starting the commit thread"))?;
        let log = EditLog { shared, thread: Mutex::new(Some(thread)) };
        log.log(&[EditOp::StartLogSegment]);
        log.wait_durable(first)?;
        Ok(log)
    }

    /// Logs operations in order and returns the last one's transaction. Never waits for a disk. The caller holds the
    /// namespace's write lock, so that the order is the order of `apply`. No operation: the last transaction so far.
    pub fn log(&self, ops: &[EditOp]) -> TxId {
        let mut pending = self.shared.pending.lock();
        for op in ops {
            pending.push(op);
        }
        let last = pending.last;
        self.wake(pending, !ops.is_empty());
        last
    }

    /// As `log`, but an idle commit thread goes on sleeping until `nudge` or another `log`: for a caller with more to log
    /// in a moment, which must call `nudge` then.
    pub fn log_later(&self, ops: &[EditOp]) -> TxId {
        let mut pending = self.shared.pending.lock();
        for op in ops {
            pending.push(op);
        }
        pending.last
    }

    /// Wakes the commit thread if `log_later` has left it something to do.
    pub fn nudge(&self) {
        let pending = self.shared.pending.lock();
        let has_work = !pending.buffer.is_empty();
        self.wake(pending, has_work);
    }

    /// Ends the segment and begins another, in the order of the log. Returns at once, as `log` does.
    pub fn roll(&self) -> Roll {
        let mut pending = self.shared.pending.lock();
        pending.push(&EditOp::EndLogSegment);
        let ended = pending.last;
        let end = pending.buffer.len();
        pending.rolls.push((end, ended));
        pending.push(&EditOp::StartLogSegment);
        let started = pending.last;
        pending.segment_first = started;
        self.wake(pending, true);
        Roll { ended, started }
    }

    /// The last transaction that was logged.
    pub fn last_txid(&self) -> TxId {
        self.shared.pending.lock().last
    }

    /// The last transaction that is durable.
    pub fn durable_txid(&self) -> TxId {
        TxId(self.shared.durable.load(Ordering::Acquire))
    }

    /// The first transaction of the segment that is being written.
    pub fn segment_first_txid(&self) -> TxId {
        self.shared.pending.lock().segment_first
    }

    /// Waits until a transaction is durable. For start-up, shutdown, checkpoints and tests: requests never wait.
    ///
    /// # Errors
    /// When the log stopped before.
    pub fn wait_durable(&self, txid: TxId) -> Result<(), JournalError> {
        let mut progress = self.shared.progress.lock();
        loop {
            if self.durable_txid() >= txid {
                return Ok(());
            }
            if let Some(why) = &progress.stopped {
                return Err(JournalError::Stopped(why.clone()));
            }
            progress.waiting = true;
            self.shared.moved.wait(&mut progress);
        }
    }

    /// Ends the segment, waits until all of it is durable, and finalises it. Later `log` calls are lost: stop serving first.
    ///
    /// # Errors
    /// When the log stopped before.
    pub fn close(&self) -> Result<(), JournalError> {
        let Some(thread) = self.thread.lock().take() else { return Ok(()) };
        let mut pending = self.shared.pending.lock();
        pending.push(&EditOp::EndLogSegment);
        pending.closing = true;
        let last = pending.last;
        self.wake(pending, true);
        let finished = thread.join();
        self.wait_durable(last)?;
        finished.map_err(|_| JournalError::Stopped("the commit thread panicked".to_owned()))
    }

    fn wake(&self, pending: parking_lot::MutexGuard<'_, Pending>, has_work: bool) {
        let is_idle = pending.is_idle;
        drop(pending);
        if is_idle && has_work {
            self.shared.wake.notify_one();
        }
    }
}

impl Drop for EditLog {
    fn drop(&mut self) {
        // The listener heard of any failure already.
        self.close().ok();
    }
}

/// What the log and its commit thread share.
pub(crate) struct Shared {
    pending: Mutex<Pending>,
    wake: Condvar,
    durable: AtomicU64,
    progress: Mutex<Progress>,
    moved: Condvar,
}

/// Logged, not yet taken by the commit thread.
struct Pending {
    buffer: Vec<u8>,
    /// Ends of segments: offset in `buffer` and last transaction.
    rolls: Vec<(usize, TxId)>,
    last: TxId,
    segment_first: TxId,
    /// The commit thread sleeps.
    is_idle: bool,
    closing: bool,
    /// Nothing is written any more; numbers are still given, which never become durable.
    is_stopped: bool,
}

impl Pending {
    fn push(&mut self, op: &EditOp) {
        self.last.0 += 1;
        if !self.is_stopped {
            encode_op(op, self.last, &mut self.buffer);
        }
    }
}

#[derive(Default)]
struct Progress {
    waiting: bool,
    stopped: Option<String>,
}

/// What the commit thread took.
pub(crate) struct Batch {
    pub buffer: Vec<u8>,
    pub rolls: Vec<(usize, TxId)>,
    pub last: TxId,
    pub closing: bool,
}

impl Batch {
    /// The emptied buffer, for the next batch.
    pub fn recycle(self) -> Vec<u8> {
        let mut buffer = self.buffer;
        buffer.clear();
        buffer.shrink_to(SPARE_BYTES_MAX);
        buffer
    }
}

impl Shared {
    fn new(last: TxId) -> Shared {
        Shared {
            pending: Mutex::new(Pending {
                buffer: Vec::new(),
                rolls: Vec::new(),
                last,
                segment_first: TxId(last.0 + 1),
                is_idle: false,
                closing: false,
                is_stopped: false,
            }),
            wake: Condvar::new(),
            durable: AtomicU64::new(last.0),
            progress: Mutex::default(),
            moved: Condvar::new(),
        }
    }

    /// Waits until something was logged and takes all of it, leaving `spare` as the buffer.
    pub fn take(&self, spare: Vec<u8>) -> Batch {
        let mut pending = self.pending.lock();
        while pending.buffer.is_empty() && !pending.closing {
            pending.is_idle = true;
            self.wake.wait(&mut pending);
            pending.is_idle = false;
        }
        Batch {
            buffer: std::mem::replace(&mut pending.buffer, spare),
            rolls: std::mem::take(&mut pending.rolls),
            last: pending.last,
            closing: pending.closing,
        }
    }

    /// The number first, then the listener: who queues an answer and then looks at the number misses nothing. Those who
    /// wait come last, so that the listener has heard of it when they go on.
    pub fn publish(&self, txid: TxId, tell: impl FnOnce()) {
        self.durable.store(txid.0, Ordering::Release);
        tell();
        let mut progress = self.progress.lock();
        if std::mem::take(&mut progress.waiting) {
            self.moved.notify_all();
        }
    }

    pub fn stop(&self, error: &JournalError, tell: impl FnOnce()) {
        let mut pending = self.pending.lock();
        pending.is_stopped = true;
        pending.buffer = Vec::new();
        pending.rolls = Vec::new();
        drop(pending);
        tell();
        self.progress.lock().stopped = Some(error.to_string());
        self.moved.notify_all();
    }
}
