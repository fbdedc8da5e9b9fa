//! One RPC connection: its task reads and serves, its outbox takes answers from the task and from any other thread.

use super::outbox::Outbox;
use super::reply::Reply;
use super::server::ServerShared;
use super::{ConnectionInfo, RpcCall, RpcService};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use surus_wire::rpc::header::ResponseIds;
use surus_wire::rpc::session::{ConnectionContext, Event, ServerSession};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::time::Instant;

/// What one read asks the kernel for at first, since most connections are idle ones ...
const READ_LEN_MIN: usize = 4 << 10;
/// ... and once a read has filled its room. Longer frames make the buffer grow as their bytes arrive.
const READ_LEN_MAX: usize = 64 << 10;
/// An empty buffer above this capacity is given back, so that one large report does not stay in memory for ever.
pub(super) const BUFFER_KEEP: usize = 1 << 20;
/// How long a connection that ends waits for its last answer to be read.
const LINGER: Duration = Duration::from_secs(1);

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
    /// Something was read since the timer last ran. Kept instead of a time, which costs a clock for each read.
    was_read: bool,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, peer: SocketAddr, shared: Arc<ServerShared>) -> Self {
        let (reader, socket) = stream.into_split();
        let outbox = Arc::new(Outbox::new(socket, shared.limits.clone(), shared.counters.clone()));
        let session = ServerSession::new(shared.limits.data_length_max, shared.negotiation());
        let inbox = Inbox::new();
        Connection { reader, outbox, shared, session, info: None, peer, inbox, batch: Vec::new(), was_read: false }
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
                Wake::Output => self.outbox.flush(),
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
        let full = self.outbox.is_full();
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
            if self.outbox.poll_output(cx).is_ready() {
                return Poll::Ready(Wake::Output);
            }
            timer.as_mut().poll(cx).map(|()| Wake::Timer)
        })
        .await
    }

    /// When to look again; `None`: the connection has been silent too long.
    fn check_idle(&mut self) -> Option<Instant> {
        let limits = &self.shared.limits;
        if !self.session.is_ready() {
            return None;
        }
        let busy = std::mem::take(&mut self.was_read) || self.outbox.holds_any();
        // As Hadoop does, idle connections are closed only where there are many.
        let many = self.shared.connections.load(Ordering::Relaxed) > limits.idle_threshold;
        (busy || !many).then(|| Instant::now() + limits.idle_timeout)
    }

    /// Serves every complete frame that was read and sends their answers together. The number of bytes needed for
    /// the next frame, or `None` where the connection ends.
    fn serve(&mut self) -> Option<usize> {
        self.was_read = true;
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
                        caller_signature: header.caller_signature,
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
            outbox.drained().await;
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
        self.outbox.close();
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
