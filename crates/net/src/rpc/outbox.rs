//! The sending side of a connection: takes answers from the connection's task and from any other thread, and
//! writes them at once where the socket lets it.

use super::connection::BUFFER_KEEP;
use super::server::{RpcCounters, RpcLimits};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;

/// Shared by a connection's task and by everybody who holds a reply.
pub(super) struct Outbox {
    socket: OwnedWriteHalf,
    unsent: Mutex<Unsent>,
    /// Replies that were held and are not answered yet.
    held: AtomicUsize,
    closed: AtomicBool,
    limits: Arc<RpcLimits>,
    counters: Arc<RpcCounters>,
}

/// Bytes the socket has not taken yet: `bytes[sent..]`.
#[derive(Default)]
struct Unsent {
    bytes: Vec<u8>,
    sent: usize,
    /// The task is to look at the outbox: output is left over for it, or a limit is no longer reached.
    due: bool,
    /// The task, while it waits.
    task: Option<Waker>,
}

impl Unsent {
    fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Wakes the task, or keeps it from falling asleep.
    fn wake(&mut self) {
        self.due = true;
        if let Some(task) = self.task.take() {
            task.wake();
        }
    }
}

impl Outbox {
    pub(super) fn new(socket: OwnedWriteHalf, limits: Arc<RpcLimits>, counters: Arc<RpcCounters>) -> Self {
        let (held, closed) = (AtomicUsize::new(0), AtomicBool::new(false));
        Outbox { socket, unsent: Mutex::default(), held, closed, limits, counters }
    }

    /// A reply was taken out of its call.
    pub(super) fn hold(&self) {
        self.held.fetch_add(1, Ordering::Relaxed);
    }

    /// `count` held replies are done with. Wakes the task where it may wait for that.
    pub(super) fn release(&self, count: usize) {
        let before = self.held.fetch_sub(count, Ordering::Relaxed);
        if before >= self.limits.held_calls_max {
            self.unsent.lock().wake();
        }
    }

    pub(super) fn holds_any(&self) -> bool {
        self.held.load(Ordering::Relaxed) > 0
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// The task is gone: what still comes is dropped.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let mut unsent = self.unsent.lock();
        (unsent.bytes, unsent.sent) = (Vec::new(), 0);
    }

    /// Whether the client leaves its answers lying or asks for more than may be held: then nothing more is read.
    pub(super) fn is_full(&self) -> bool {
        self.held.load(Ordering::Relaxed) >= self.limits.held_calls_max
            || self.unsent.lock().len() >= self.limits.unsent_bytes_max
    }

    /// Sends the frames of held replies with one write, from whatever thread this is.
    pub(super) fn send_held<'a>(&self, frames: impl Iterator<Item = &'a [u8]>) {
        let mut count = 0;
        {
            let mut unsent = self.unsent.lock();
            let closed = self.is_closed();
            for frame in frames {
                count += 1;
                if !closed {
                    unsent.bytes.extend_from_slice(frame);
                }
            }
            self.flush_locked(&mut unsent);
            if unsent.len() > 0 {
                unsent.wake();
            }
        }
        self.release(count);
    }

    /// Sends the batch of the connection's own task; what the socket does not take stays for later.
    pub(super) fn send_batch(&self, batch: &mut Vec<u8>) {
        let mut unsent = self.unsent.lock();
        if unsent.len() == 0 {
            // The usual case, without a copy.
            let sent = self.write_some(batch).unwrap_or(batch.len());
            unsent.bytes.extend_from_slice(&batch[sent..]);
        } else {
            unsent.bytes.extend_from_slice(batch);
        }
        batch.clear();
        if batch.capacity() > BUFFER_KEEP {
            *batch = Vec::new();
        }
    }

    /// Writes what can be written.
    pub(super) fn flush(&self) {
        self.flush_locked(&mut self.unsent.lock());
    }

    fn flush_locked(&self, unsent: &mut Unsent) {
        // A broken socket takes everything.
        unsent.sent += self.write_some(&unsent.bytes[unsent.sent..]).unwrap_or(unsent.len());
        if unsent.len() == 0 {
            unsent.sent = 0;
            unsent.bytes.clear();
            if unsent.bytes.capacity() > BUFFER_KEEP {
                unsent.bytes = Vec::new();
            }
        } else if unsent.sent > BUFFER_KEEP && unsent.sent >= unsent.len() {
            // Moving what is left costs less than sending the rest did.
            unsent.bytes.drain(..unsent.sent);
            unsent.sent = 0;
        }
    }

    /// Bytes taken by the socket; `None` once it is broken.
    fn write_some(&self, mut bytes: &[u8]) -> Option<usize> {
        let len = bytes.len();
        while !bytes.is_empty() {
            match self.socket.try_write(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    // The task learns it from its next read.
                    self.closed.store(true, Ordering::Relaxed);
                    return None;
                }
            }
        }
        let sent = len - bytes.len();
        self.counters.sent_bytes.fetch_add(sent as u64, Ordering::Relaxed);
        Some(sent)
    }

    /// Ready when the task is to flush: something is left and the socket has room, or it was woken.
    pub(super) fn poll_output(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut unsent = self.unsent.lock();
        if std::mem::take(&mut unsent.due) {
            return Poll::Ready(());
        }
        if !unsent.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            unsent.task = Some(cx.waker().clone());
        }
        if unsent.len() == 0 {
            return Poll::Pending;
        }
        let socket: &TcpStream = self.socket.as_ref();
        socket.poll_write_ready(cx).map(|_| ())
    }

    /// Waits until nothing is left to send.
    pub(super) async fn drained(&self) {
        loop {
            self.flush();
            if self.unsent.lock().len() == 0 {
                return;
            }
            poll_fn(|cx| self.poll_output(cx)).await;
        }
    }
}
