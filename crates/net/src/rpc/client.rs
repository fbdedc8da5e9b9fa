//! The blocking RPC client: many calls of many threads in flight over one connection. There is no reader
//! thread: of the threads that wait for answers one reads for all.

use parking_lot::{Condvar, Mutex, MutexGuard};
use prost::Message;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};
use surus_types::{ExceptionClass, HdfsError};
use surus_wire::rpc::client::{self as wire, Outcome, RequestIds, Response};

/// Room a read of answers has at least.
const READ_LEN: usize = 64 << 10;
/// A buffer above this capacity is given back once it is empty.
const BUFFER_KEEP: usize = 1 << 20;
/// A connection unused for so long is looked at before it is used again: the server may have closed it, and a Surus NameNode is
/// back well within a second.
const STALE_AFTER: Duration = Duration::from_millis(10);
/// How an AccessControlException begins that means "speak Kerberos or bring a token". Source: `Server.java`.
const SIMPLE_REFUSED: &str = "SIMPLE authentication is not enabled.";

/// Who the client says it is (simple authentication).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RpcUser {
    pub effective: String,
    /// The user behind a proxy user.
    pub real: Option<String>,
}

impl From<&str> for RpcUser {
    fn from(name: &str) -> Self {
        RpcUser { effective: name.to_owned(), real: None }
    }
}

/// Timeouts and limits of a client.
#[derive(Clone, Debug)]
pub struct RpcClientOptions {
    /// `ipc.client.connect.timeout`.
    pub connect_timeout: Duration,
    /// How long a call may take; `None`: as long as the server answers to TCP (`ipc.client.rpc-timeout.ms` 0).
    pub call_timeout: Option<Duration>,
    /// Waiting this long sends a ping, which finds out whether the server is still there (`ipc.ping.interval`).
    pub ping_interval: Duration,
    /// Longest answer in bytes (`ipc.maximum.response.length`).
    pub response_length_max: u32,
    /// What the server's audit log shows of the program; empty: nothing.
    pub caller_context: String,
    /// The id that names this client to retry caches; `None`: a random one. Clients of several NameNodes of one
    /// nameservice share theirs, so that a call repeated at another NameNode is known there.
    pub client_id: Option<[u8; wire::CLIENT_ID_LEN]>,
}

impl Default for RpcClientOptions {
    fn default() -> Self {
        RpcClientOptions {
            connect_timeout: Duration::from_secs(20),
            call_timeout: Some(Duration::from_secs(120)),
            ping_interval: Duration::from_secs(60),
            response_length_max: surus_wire::rpc::RESPONSE_LENGTH_MAX,
            caller_context: String::new(),
            client_id: None,
        }
    }
}

/// Why a call has no result.
#[derive(Debug, Clone)]
pub enum RpcError {
    /// The server's exception: Java class name, and message without stack trace.
    Remote { class: String, message: String },
    /// No connection could be made: the call was never sent.
    Connect { addr: String, source: Arc<io::Error> },
    /// The connection broke while the call was under way; whether it happened is unknown.
    Io { addr: String, source: Arc<io::Error> },
    /// No answer in time; whether it happened is unknown.
    Timeout { addr: String, after: Duration },
    /// The server does not take simple authentication; `available` is its own list of mechanisms.
    Authentication { addr: String, available: String },
    /// The server's bytes make no sense.
    Malformed { addr: String, what: &'static str },
}

impl RpcError {
    /// The kind of a remote exception, where our table has it.
    pub fn class(&self) -> Option<ExceptionClass> {
        match self {
            RpcError::Remote { class, .. } => ExceptionClass::from_java_name(class),
            _ => None,
        }
    }

    /// Whether the server answered with this exception.
    pub fn is(&self, class: ExceptionClass) -> bool {
        self.class() == Some(class)
    }

    /// The remote exception as it was, anything else as `IOException`.
    pub fn to_hdfs_error(&self) -> HdfsError {
        match self {
            RpcError::Remote { class, message } => match ExceptionClass::from_java_name(class) {
                Some(class) => HdfsError::new(class, message.clone()),
                None => HdfsError::io(format!("{class}: {message}")),
            },
            other => HdfsError::io(other.to_string()),
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RpcError::Remote { class, message } => write!(f, "{class}: {message}"),
            RpcError::Connect { addr, source } => write!(f, "cannot connect to {addr}: {source}"),
            RpcError::Io { addr, source } => write!(f, "connection to {addr} failed: {source}"),
            RpcError::Timeout { addr, after } => write!(f, "no answer from {addr} within {} ms", after.as_millis()),
            RpcError::Authentication { addr, available } => {
                write!(
                    f,
                    "{addr} refuses simple authentication; it offers {available}, which this client does not speak"
                )
            }
            RpcError::Malformed { addr, what } => write!(f, "bad answer from {addr}: {what}"),
        }
    }
}

impl std::error::Error for RpcError {}

/// The number of a call. A call repeated under its number and with a higher retry count is answered from the
/// server's retry cache if it happened before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallId(pub i32);

/// A client of one protocol of one server. Connects on the first call and again after a connection has broken.
pub struct RpcClient {
    addr: String,
    user: RpcUser,
    protocol: String,
    options: RpcClientOptions,
    client_id: [u8; wire::CLIENT_ID_LEN],
    next_call: AtomicI32,
    connection: Mutex<Option<Arc<Connection>>>,
}

impl RpcClient {
    /// A client for `addr` (`host:port`). Nothing is sent yet.
    pub fn new(addr: &str, user: impl Into<RpcUser>, protocol: &str, options: RpcClientOptions) -> Self {
        RpcClient {
            addr: addr.to_owned(),
            user: user.into(),
            protocol: protocol.to_owned(),
            client_id: options.client_id.unwrap_or_else(rand::random),
            options,
            next_call: AtomicI32::new(0),
            connection: Mutex::new(None),
        }
    }

    /// `new`, and the connection made at once.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub fn connect(
        addr: &str,
        user: impl Into<RpcUser>,
        protocol: &str,
        options: RpcClientOptions,
    ) -> Result<Self, RpcError> {
        let client = Self::new(addr, user, protocol, options);
        client.connection()?;
        Ok(client)
    }

    pub fn addr(&self) -> &str {
        &self.addr
    }

    pub fn user(&self) -> &RpcUser {
        &self.user
    }

    /// The 16 bytes that, with the call id, name a call to the server's retry cache.
    pub fn client_id(&self) -> &[u8; wire::CLIENT_ID_LEN] {
        &self.client_id
    }

    /// Local address of the current connection.
    pub fn local_addr(&self) -> Option<std::net::SocketAddr> {
        self.connection.lock().as_ref().and_then(|connection| connection.stream.local_addr().ok())
    }

    /// Takes a number for a call that may have to be repeated: see `call_again`.
    pub fn next_call_id(&self) -> CallId {
        CallId(self.next_call.fetch_add(1, Ordering::Relaxed) & i32::MAX)
    }

    /// Calls `method` and waits for its answer.
    ///
    /// # Errors
    /// The server's exception, or what went wrong on the way.
    pub fn call<Req: Message, Resp: Message + Default>(&self, method: &str, request: &Req) -> Result<Resp, RpcError> {
        self.call_again(self.next_call_id(), 0, method, request)
    }

    /// `call` under a number taken before; `retry_count` 0 for the first attempt.
    ///
    /// # Errors
    /// As `call`.
    pub fn call_again<Req: Message, Resp: Message + Default>(
        &self,
        id: CallId,
        retry_count: i32,
        method: &str,
        request: &Req,
    ) -> Result<Resp, RpcError> {
        let connection = self.connection()?;
        let ids = RequestIds { call_id: id.0, client_id: self.client_id, retry_count };
        let mut frame = Vec::with_capacity(160 + request.encoded_len());
        wire::put_call(&mut frame, &ids, &self.options.caller_context, &self.protocol, method, request);
        let answer = connection.exchange(id.0, frame)?;
        let malformed = |what| RpcError::Malformed { addr: self.addr.clone(), what };
        match Response::decode(&answer).map_err(|_| malformed("not an RPC answer"))?.outcome {
            Outcome::Success(message) => Resp::decode(message).map_err(|_| malformed("not the message of this call")),
            Outcome::Error { class, message } | Outcome::Fatal { class, message } => {
                Err(remote(&self.addr, class, message))
            }
        }
    }

    /// Closes the connection; calls under way fail. The next call connects anew.
    pub fn close(&self) {
        if let Some(connection) = self.connection.lock().take() {
            connection.break_with(io::ErrorKind::ConnectionAborted.into());
        }
    }

    fn connection(&self) -> Result<Arc<Connection>, RpcError> {
        let mut current = self.connection.lock();
        if let Some(connection) = current.as_ref().filter(|connection| connection.is_usable()) {
            return Ok(connection.clone());
        }
        let connection = Arc::new(self.open()?);
        *current = Some(connection.clone());
        Ok(connection)
    }

    fn open(&self) -> Result<Connection, RpcError> {
        let failed = |source| RpcError::Connect { addr: self.addr.clone(), source: Arc::new(source) };
        let stream = crate::stream::connect(&self.addr, self.options.connect_timeout).map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        // Reads return from time to time, so that the reading thread can look at the clock.
        let tick = self.options.call_timeout.unwrap_or(self.options.ping_interval).min(self.options.ping_interval) / 8;
        let tick = tick.clamp(Duration::from_millis(20), Duration::from_secs(10));
        stream.set_read_timeout(Some(tick)).map_err(failed)?;
        stream
            .set_write_timeout(Some(self.options.call_timeout.unwrap_or(self.options.ping_interval)))
            .map_err(failed)?;
        let mut greeting = Vec::with_capacity(128);
        wire::put_preamble(&mut greeting, false);
        let real = self.user.real.as_deref();
        wire::put_context(&mut greeting, &self.client_id, &self.user.effective, real, &self.protocol);
        Ok(Connection {
            addr: self.addr.clone(),
            stream,
            options: self.options.clone(),
            client_id: self.client_id,
            // Leaves with the first call.
            unsent: Mutex::new(greeting),
            writer: Mutex::new(()),
            calls: Mutex::new(Calls {
                waiting: HashMap::new(),
                reading: false,
                broken: None,
                last_use: Instant::now(),
            }),
            inbox: Mutex::new(Inbox::default()),
        })
    }
}

/// A remote exception, with Java's stack trace cut off.
fn remote(addr: &str, class: String, mut message: String) -> RpcError {
    if let Some(end) = message.find("\n\tat ") {
        message.truncate(end);
    }
    match message.strip_prefix(SIMPLE_REFUSED) {
        Some(rest) if class == ExceptionClass::AccessControl.java_name() => {
            let available = rest.trim().trim_start_matches("Available:").to_owned();
            RpcError::Authentication { addr: addr.to_owned(), available }
        }
        _ => RpcError::Remote { class, message },
    }
}

/// One connection with the calls that wait on it.
struct Connection {
    addr: String,
    stream: TcpStream,
    options: RpcClientOptions,
    client_id: [u8; wire::CLIENT_ID_LEN],
    /// Frames to be written. Whoever holds `writer` writes what all have left here.
    unsent: Mutex<Vec<u8>>,
    writer: Mutex<()>,
    calls: Mutex<Calls>,
    inbox: Mutex<Inbox>,
}

struct Calls {
    waiting: HashMap<i32, Waiting>,
    /// One of the waiting threads is reading.
    reading: bool,
    broken: Option<RpcError>,
    last_use: Instant,
}

struct Waiting {
    answer: Option<Vec<u8>>,
    /// Wakes the thread that waits: its answer is there, or it is its turn to read.
    wake: Arc<Condvar>,
}

/// Received bytes that are no complete frame yet: `bytes[..end]`.
#[derive(Default)]
struct Inbox {
    bytes: Vec<u8>,
    end: usize,
}

impl Connection {
    /// Whether new calls may be sent here. A connection not used for a while is probed.
    fn is_usable(&self) -> bool {
        let calls = self.calls.lock();
        if calls.broken.is_some() {
            return false;
        }
        if !calls.waiting.is_empty() || calls.last_use.elapsed() < STALE_AFTER {
            return true;
        }
        let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
        let probe = rustix::net::recv(&self.stream, &mut [0u8; 1][..], flags);
        matches!(probe, Ok((_, 1..))) || matches!(probe, Err(e) if e == rustix::io::Errno::AGAIN)
    }

    /// Sends a request and waits for the frame that answers it.
    fn exchange(&self, call_id: i32, frame: Vec<u8>) -> Result<Vec<u8>, RpcError> {
        let started = Instant::now();
        let wake = Arc::new(Condvar::new());
        {
            let mut calls = self.calls.lock();
            if let Some(error) = &calls.broken {
                return Err(error.clone());
            }
            calls.last_use = started;
            calls.waiting.insert(call_id, Waiting { answer: None, wake: wake.clone() });
        }
        self.unsent.lock().extend_from_slice(&frame);
        if let Err(e) = self.write_unsent() {
            self.break_with(e);
        }
        let result = self.wait(call_id, &wake, started);
        self.pass_on(call_id);
        result
    }

    /// Forgets a call, and lets another waiting thread read where nobody does.
    fn pass_on(&self, call_id: i32) {
        let mut calls = self.calls.lock();
        calls.waiting.remove(&call_id);
        if !calls.reading
            && let Some(next) = calls.waiting.values().find(|waiting| waiting.answer.is_none())
        {
            next.wake.notify_one();
        }
    }

    fn write_unsent(&self) -> io::Result<()> {
        let _turn = self.writer.lock();
        let bytes = std::mem::take(&mut *self.unsent.lock());
        // Empty where another thread has written ours along with its own.
        if bytes.is_empty() { Ok(()) } else { (&self.stream).write_all(&bytes) }
    }

    fn wait(&self, call_id: i32, wake: &Condvar, started: Instant) -> Result<Vec<u8>, RpcError> {
        let mut calls = self.calls.lock();
        let mut last_ping = started;
        loop {
            let waiting = calls.waiting.get_mut(&call_id);
            if let Some(answer) = waiting.and_then(|waiting| waiting.answer.take()) {
                return Ok(answer);
            }
            if let Some(error) = &calls.broken {
                return Err(error.clone());
            }
            if let Some(limit) = self.options.call_timeout
                && started.elapsed() >= limit
            {
                return Err(RpcError::Timeout { addr: self.addr.clone(), after: limit });
            }
            if calls.reading {
                let patience = self
                    .options
                    .call_timeout
                    .map_or(self.options.ping_interval, |t| t.saturating_sub(started.elapsed()));
                wake.wait_for(&mut calls, patience);
                continue;
            }
            calls.reading = true;
            MutexGuard::unlocked(&mut calls, || {
                self.read_answers();
                if last_ping.elapsed() >= self.options.ping_interval {
                    last_ping = Instant::now();
                    wire::put_ping(&mut self.unsent.lock(), &self.client_id);
                    if let Err(e) = self.write_unsent() {
                        self.break_with(e);
                    }
                }
            });
            calls.reading = false;
        }
    }

    /// Reads once and hands every complete frame to its call.
    fn read_answers(&self) {
        let mut inbox = self.inbox.lock();
        let room = inbox.end + READ_LEN;
        if inbox.bytes.len() < room {
            inbox.bytes.resize(room, 0);
        }
        let Inbox { bytes, end } = &mut *inbox;
        match (&self.stream).read(&mut bytes[*end..]) {
            Ok(0) => return self.break_with(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => *end += count,
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
                ) =>
            {
                return;
            }
            Err(e) => return self.break_with(e),
        }
        let mut start = 0;
        while let Some(prefix) = bytes[start..*end].first_chunk::<4>() {
            let length = u32::from_be_bytes(*prefix);
            if length > self.options.response_length_max {
                return self.break_all(RpcError::Malformed {
                    addr: self.addr.clone(),
                    what: "the answer is longer than the limit",
                });
            }
            let Some(frame) = bytes[start + 4..*end].get(..length as usize) else {
                // Room for the rest, read with few calls; it was announced within the limit.
                break;
            };
            if !self.deliver(frame) {
                return;
            }
            start += 4 + length as usize;
        }
        bytes.copy_within(start..*end, 0);
        *end -= start;
        if *end == 0 && bytes.len() > BUFFER_KEEP {
            *bytes = Vec::new();
        }
    }

    /// Gives a frame to the call it answers. False: the connection is done for.
    fn deliver(&self, frame: &[u8]) -> bool {
        let Ok(response) = Response::decode(frame) else {
            self.break_all(RpcError::Malformed { addr: self.addr.clone(), what: "not an RPC answer" });
            return false;
        };
        if let Outcome::Fatal { class, message } = response.outcome {
            self.break_all(remote(&self.addr, class, message));
            return false;
        }
        // Answers to calls that gave up are dropped, as is "switch to simple" (call id -33), since we are there.
        let mut calls = self.calls.lock();
        if let Some(waiting) = calls.waiting.get_mut(&response.call_id) {
            waiting.answer = Some(frame.to_vec());
            waiting.wake.notify_one();
        }
        true
    }

    fn break_with(&self, error: io::Error) {
        self.break_all(RpcError::Io { addr: self.addr.clone(), source: Arc::new(error) });
    }

    /// Ends the connection; every waiting call fails.
    fn break_all(&self, error: RpcError) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let mut calls = self.calls.lock();
        if calls.broken.is_none() {
            calls.broken = Some(error);
        }
        for waiting in calls.waiting.values() {
            waiting.wake.notify_one();
        }
    }
}

/// Letters and digits nobody can guess, for a nonce.
pub(super) fn random_text() -> String {
    format!("{:032x}", rand::random::<u128>())
}
