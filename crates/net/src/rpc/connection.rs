//! One RPC connection: its task reads and serves, its outbox takes answers from the task and from any other thread.

use super::reply::Reply;
use super::server::{RpcCounters, RpcLimits, ServerShared};
use super::{ConnectionInfo, RpcCall, RpcService};
use parking_lot::Mutex;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use surus_wire::rpc::header::ResponseIds;
use surus_wire::rpc::session::{ConnectionContext, Event, ServerSession};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::time::Instant;

/// What one read asks the kernel for at first, since most connections are idle ones ...
const READ_LEN_MIN: usize = 4 << 10;
/// ... and once a read has filled its room. Longer frames make the buffer grow as their bytes arrive.
const READ_LEN_MAX: usize = 64 << 10;
/// An empty buffer above this capacity is given back, so that one large report does not stay in memory for ever.
const BUFFER_KEEP: usize = 1 << 20;
/// How long a connection that ends waits for its last answer to be read.
const LINGER: Duration = Duration::from_secs(1);

/// The sending side of a connection, shared by its task and by everybody who holds a reply.
pub(super) struct Outbox {
    socket: OwnedWriteHalf,
    unsent: Mutex<Unsent>,
    /// Replies that were held and are not answered yet.
    held: AtomicUsize,
    closed: AtomicBool,
    /// Wakes the task: output is left over for it, or a limit is no longer reached.
    wake: Notify,
    limits: Arc<RpcLimits>,
    counters: Arc<RpcCounters>,
}

/// Bytes the socket has not taken yet: `bytes[sent..]`.
#[derive(Default)]
struct Unsent {
    bytes: Vec<u8>,
    sent: usize,
}

impl Unsent {
    fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }
}

impl Outbox {
    pub(super) fn hold(&self) {
        self.held.fetch_add(1, Ordering::Relaxed);
    }

    /// `count` held replies are done with. Wakes the task where it waits for that.
    pub(super) fn release(&self, count: usize) {
        let before = self.held.fetch_sub(count, Ordering::Relaxed);
        if before >= self.limits.held_calls_max {
            self.wake.notify_one();
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Sends the frames of held replies with one write, from whatever thread this is.
    pub(super) fn send_held<'a>(&self, frames: impl Iterator<Item = &'a [u8]>) {
        let mut count = 0;
        {
            let mut unsent = self.unsent.lock();
            for frame in frames {
                unsent.bytes.extend_from_slice(frame);
                count += 1;
            }
            if self.is_closed() {
                *unsent = Unsent::default();
            } else if !self.flush(&mut unsent) {
                self.wake.notify_one();
            }
        }
        self.release(count);
    }

    /// Sends the batch of the connection's own task; what the socket does not take stays for later.
    fn send_batch(&self, batch: &mut Vec<u8>) {
        let mut unsent = self.unsent.lock();
        if unsent.len() == 0 {
            // The usual case without a copy.
            match self.write_some(batch) {
                Some(sent) if sent == batch.len() => {}
                Some(sent) => unsent.bytes.extend_from_slice(&batch[sent..]),
                None => {}
            }
        } else {
            unsent.bytes.extend_from_slice(batch);
        }
        batch.clear();
        if batch.capacity() > BUFFER_KEEP {
            *batch = Vec::new();
        }
    }

    /// Writes what can be written. True: nothing is left.
    fn flush(&self, unsent: &mut Unsent) -> bool {
        match self.write_some(&unsent.bytes[unsent.sent..]) {
            Some(sent) => unsent.sent += sent,
            None => unsent.sent = unsent.bytes.len(),
        }
        if unsent.len() == 0 {
            unsent.sent = 0;
            unsent.bytes.clear();
            if unsent.bytes.capacity() > BUFFER_KEEP {
                unsent.bytes = Vec::new();
            }
            return true;
        }
        // Moving what is left costs less than what was sent.
        if unsent.sent > BUFFER_KEEP && unsent.sent >= unsent.len() {
            unsent.bytes.drain(..unsent.sent);
            unsent.sent = 0;
        }
        false
    }

    /// Bytes taken by the socket; `None` once it is broken.
    fn write_some(&self, mut bytes: &[u8]) -> Option<usize> {
        let len = bytes.len();
        while !bytes.is_empty() {
            match self.socket.try_write(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.closed.store(true, Ordering::Relaxed);
                    self.wake.notify_one();
                    return None;
                }
            }
        }
        let sent = len - bytes.len();
        self.counters.sent_bytes.fetch_add(sent as u64, Ordering::Relaxed);
        Some(sent)
    }

    /// Whether the client leaves its answers lying or asks for more than may be held: then nothing more is read.
    fn is_full(&self) -> bool {
        self.held.load(Ordering::Relaxed) >= self.limits.held_calls_max
            || self.unsent.lock().len() >= self.limits.unsent_bytes_max
    }

    fn has_unsent(&self) -> bool {
        self.unsent.lock().len() > 0
    }
}

/// Bytes received and not yet consumed: `bytes[start..end]`; `bytes[end..]` is room to read into.
struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    read_len: usize,
}

impl Inbox {
    fn new() -> Self {
        Inbox { bytes: Vec::new(), start: 0, end: 0, read_len: READ_LEN_MIN }
    }

    fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// `count` bytes were read into the room.
    fn filled(&mut self, count: usize) {
        self.end += count;
        if self.end == self.bytes.len() {
            self.read_len = READ_LEN_MAX;
        }
    }

    /// Makes room for a read. `wanted` bytes are announced by the peer; the buffer at most doubles for them, so
    /// that a peer which announces much and sends little costs little.
    fn make_room(&mut self, wanted: usize) {
        let unread = self.end - self.start;
        if unread == 0 {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > BUFFER_KEEP {
                self.bytes = Vec::new();
            }
        }
        let target = wanted.min(2 * unread).max(unread + self.read_len / 2).max(self.read_len);
        if self.bytes.len() - self.start < target {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, unread);
            if self.bytes.len() < target {
                self.bytes.resize(target, 0);
            }
        }
    }
}

/// Why the task woke up.
enum Wake {
    Read(usize),
    /// The peer closed, or the socket broke.
    Gone,
    /// Output can move again, or a limit may no longer be reached.
    Output,
    Timer,
}

/// A connection and all its task needs.
pub(super) struct Connection {
    reader: OwnedReadHalf,
    outbox: Arc<Outbox>,
    shared: Arc<ServerShared>,
    session: ServerSession,
    info: Option<Arc<ConnectionInfo>>,
    peer: SocketAddr,
    inbox: Inbox,
    /// Answers of the current batch.
    batch: Vec<u8>,
    last_read: Instant,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, peer: SocketAddr, shared: Arc<ServerShared>) -> Self {
        let (reader, socket) = stream.into_split();
        let outbox = Arc::new(Outbox {
            socket,
            unsent: Mutex::default(),
            held: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            wake: Notify::new(),
            limits: shared.limits.clone(),
            counters: shared.counters.clone(),
        });
        let session = ServerSession::new(shared.limits.data_length_max, shared.negotiation());
        let (inbox, last_read) = (Inbox::new(), Instant::now());
        Connection { reader, outbox, shared, session, info: None, peer, inbox, batch: Vec::new(), last_read }
    }

    /// Serves the connection until either side closes it.
    pub(super) async fn run(mut self) {
        let mut timer = pin!(tokio::time::sleep(self.shared.limits.handshake_timeout));
        let mut wanted = READ_LEN_MIN;
        loop {
            if self.outbox.is_closed() {
                return;
            }
            match self.wait(wanted, timer.as_mut()).await {
                Wake::Gone => return,
                Wake::Output => {
                    let mut unsent = self.outbox.unsent.lock();
                    self.outbox.flush(&mut unsent);
                }
                Wake::Timer => match self.check_idle() {
                    Some(next) => timer.as_mut().reset(next),
                    None => return,
                },
                Wake::Read(count) => {
                    self.inbox.filled(count);
                    self.shared.counters.received_bytes.fetch_add(count as u64, Ordering::Relaxed);
                    match self.serve() {
                        Some(need) => wanted = need,
                        None => return self.finish().await,
                    }
                }
            }
        }
    }

    /// Waits for bytes, for room in the socket where output is left, for a wake-up, or for the timer.
    async fn wait(&mut self, wanted: usize, mut timer: Pin<&mut tokio::time::Sleep>) -> Wake {
        let outbox = self.outbox.clone();
        let mut notified = pin!(outbox.wake.notified());
        let has_unsent = outbox.has_unsent();
        let mut writable =
            pin!(async { if has_unsent { outbox.socket.writable().await } else { std::future::pending().await } });
        let full = outbox.is_full();
        if !full {
            self.inbox.make_room(wanted);
        }
        poll_fn(|cx: &mut Context<'_>| {
            if !full {
                let mut buffer = ReadBuf::new(&mut self.inbox.bytes[self.inbox.end..]);
                match Pin::new(&mut self.reader).poll_read(cx, &mut buffer) {
                    Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                        return Poll::Ready(Wake::Read(buffer.filled().len()));
                    }
                    Poll::Ready(_) => return Poll::Ready(Wake::Gone),
                    Poll::Pending => {}
                }
            }
            if notified.as_mut().poll(cx).is_ready() || writable.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Wake::Output);
            }
            if timer.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Wake::Timer);
            }
            Poll::Pending
        })
        .await
    }

    /// When to look again; `None`: the connection has been silent too long.
    fn check_idle(&self) -> Option<Instant> {
        let limits = &self.shared.limits;
        if !self.session.is_ready() {
            return None;
        }
        let deadline = self.last_read + limits.idle_timeout;
        let now = Instant::now();
        let busy = self.outbox.held.load(Ordering::Relaxed) > 0;
        // As Hadoop does, idle connections are closed only where there are many.
        let many = self.shared.connections.load(Ordering::Relaxed) > limits.idle_threshold;
        match now < deadline {
            true => Some(deadline),
            false if busy || !many => Some(now + limits.idle_timeout),
            false => None,
        }
    }

    /// Serves every complete frame that was read and sends their answers together. The number of bytes needed for
    /// the next frame, or `None` where the connection ends.
    fn serve(&mut self) -> Option<usize> {
        self.last_read = Instant::now();
        let service = &*self.shared.service;
        let mut calls = 0;
        let result = loop {
            let (consumed, event) = self.session.next(self.inbox.unread(), &mut self.batch);
            match event {
                Event::NeedMore(need) => break Some(need),
                Event::Close => break None,
                Event::Progress => {}
                Event::Context(context) => {
                    let info = connection_info(context, self.peer);
                    if let Err(error) = service.authorize(&info) {
                        self.session.refuse(&error, &mut self.batch);
                        self.shared.counters.refused.fetch_add(1, Ordering::Relaxed);
                        break None;
                    }
                    self.info = Some(Arc::new(info));
                }
                Event::Call(call) => {
                    let Some(info) = &self.info else { break None };
                    let (header, method) = (call.header, call.method);
                    let ids = ResponseIds {
                        call_id: header.call_id,
                        client_id: header.client_id,
                        retry_count: header.retry_count,
                        state_id: None,
                    };
                    let call = RpcCall {
                        connection: info,
                        call_id: header.call_id,
                        client_id: header.client_id,
                        retry_count: header.retry_count,
                        caller_context: header.caller_context,
                        state_id: header.state_id,
                        protocol: method.protocol,
                        method: method.method,
                        version: method.version,
                        body: call.body,
                    };
                    let reply = Reply::new(&self.outbox, &mut self.batch, ids);
                    serve_one(service, call, reply);
                    calls += 1;
                }
            }
            self.inbox.start += consumed;
            // A batch of large answers goes out in parts, so that its memory stays bounded.
            if self.batch.len() >= BUFFER_KEEP {
                self.outbox.send_batch(&mut self.batch);
            }
        };
        if !self.batch.is_empty() {
            self.outbox.send_batch(&mut self.batch);
        }
        if calls > 0 {
            self.shared.counters.calls.fetch_add(calls, Ordering::Relaxed);
            service.batch_done();
        }
        result
    }

    /// Gives the last answer a moment to leave and to be read, then closes. Closing with bytes unread would reset
    /// the connection, and the peer might never see the answer.
    async fn finish(mut self) {
        let outbox = self.outbox.clone();
        let drain = async {
            while outbox.has_unsent() && outbox.socket.writable().await.is_ok() {
                let mut unsent = outbox.unsent.lock();
                outbox.flush(&mut unsent);
            }
            let socket: &TcpStream = self.reader.as_ref();
            let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Write);
            let mut rest = [0; 512];
            while matches!(self.reader.read(&mut rest).await, Ok(1..)) {}
        };
        let _ = tokio::time::timeout(LINGER, drain).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.outbox.closed.store(true, Ordering::Relaxed);
        // Held replies may keep the outbox alive for long; the peer is to learn at once.
        let socket: &TcpStream = self.reader.as_ref();
        let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
        self.shared.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A call that panics costs itself only: its reply answers when it is dropped.
fn serve_one(service: &dyn RpcService, call: RpcCall<'_>, reply: Reply<'_>) {
    let served = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| service.call(call, reply)));
    if served.is_err() {
        // The panic hook has already printed what happened and where.
    }
}

fn connection_info(context: ConnectionContext, peer: SocketAddr) -> ConnectionInfo {
    ConnectionInfo {
        user: context.effective_user.into(),
        real_user: context.real_user.filter(|real| !real.is_empty()).map(Into::into),
        peer,
        address: peer.ip().to_canonical().to_string().into(),
        protocol: context.protocol,
    }
}
