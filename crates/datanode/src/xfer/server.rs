//! Accepting connections, reading operations, and refusing what is not served.

use super::io::{Input, write_message};
use crate::node::Node;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use surus_net::stream;
use surus_proto::hadoop::hdfs::{BlockOpResponseProto, Status};
use surus_wire::datatransfer::op::parse_op;
use surus_wire::datatransfer::{Op, OpRequest};

/// Hadoop's `dfs.datanode` listeners ask for 128.
const LISTEN_BACKLOG: i32 = 128;
/// Pause after an accept that failed, for lack of file descriptors most often.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long a stop waits for connection threads: a disk that hangs must not keep it for ever.
const STOP_WAIT_MAX: Duration = Duration::from_secs(5);
const STOP_POLL: Duration = Duration::from_millis(2);
/// Connection threads need little stack; thousands of them may exist.
const STACK_BYTES: usize = 512 << 10;

/// The listener of `dfs.datanode.address`.
pub struct XferServer {
    address: SocketAddr,
    peers: Arc<Peers>,
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

/// The connections that are open, so that a stop can end them.
#[derive(Default)]
struct Peers {
    streams: Mutex<HashMap<u64, TcpStream>>,
    next: AtomicU64,
}

impl XferServer {
    /// Takes the address. Nothing is served before `start`.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub fn bind(host: &str, port: u16) -> io::Result<TcpListener> {
        stream::listen((host, port), LISTEN_BACKLOG)
    }

    /// Serves connections until `stop`.
    ///
    /// # Errors
    /// No thread can be had.
    pub fn start(listener: TcpListener, node: Arc<Node>) -> io::Result<XferServer> {
        let address = listener.local_addr()?;
        let peers = Arc::new(Peers::default());
        let acceptor = {
            let peers = peers.clone();
            std::thread::Builder::new().name("xfer accept".into()).spawn(move || accept(&listener, &node, &peers))?
        };
        Ok(XferServer { address, peers, acceptor: Mutex::new(Some(acceptor)) })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends every connection and the listener. The node must be marked as stopping before.
    pub fn stop(&self) {
        // Wakes the acceptor, which then sees that the node is stopping.
        let mut wake = self.address;
        if wake.ip().is_unspecified() {
            wake.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        let _ = stream::connect(wake, Duration::from_secs(1));
        for peer in self.peers.streams.lock().values() {
            let _ = peer.shutdown(Shutdown::Both);
        }
        if let Some(acceptor) = self.acceptor.lock().take() {
            let _ = acceptor.join();
        }
        // Whoever was writing must be done before the data directories are given up.
        let deadline = Instant::now() + STOP_WAIT_MAX;
        while !self.peers.streams.lock().is_empty() && Instant::now() < deadline {
            std::thread::sleep(STOP_POLL);
        }
    }
}

fn accept(listener: &TcpListener, node: &Arc<Node>, peers: &Arc<Peers>) {
    loop {
        let accepted = listener.accept();
        if node.is_stopping() {
            return;
        }
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(e) => {
                tracing::warn!("data transfer server cannot accept: {e}");
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            }
        };
        if peers.streams.lock().len() >= node.config.max_transfer_threads {
            tracing::warn!(
                "Xceiver count exceeds the limit of concurrent xceivers: {}; {peer} is refused",
                node.config.max_transfer_threads
            );
            continue;
        }
        let Ok(clone) = stream.try_clone() else { continue };
        let key = peers.next.fetch_add(1, Ordering::Relaxed);
        peers.streams.lock().insert(key, clone);
        let (node, peers_of_thread) = (node.clone(), peers.clone());
        let started =
            std::thread::Builder::new().name(format!("xfer {peer}")).stack_size(STACK_BYTES).spawn(move || {
                if let Err(e) = serve(stream, peer, &node) {
                    tracing::debug!("{peer}: {e}");
                }
                if let Some(stream) = peers_of_thread.streams.lock().remove(&key) {
                    let _ = stream.shutdown(Shutdown::Both);
                }
            });
        if started.is_err() {
            peers.streams.lock().remove(&key);
        }
    }
}

/// What an operation leaves behind.
pub(super) enum After {
    /// The connection can carry another operation.
    KeepAlive,
    Close,
}

/// One connection while it is served.
pub(super) struct Session<'a> {
    pub node: &'a Arc<Node>,
    pub input: Input,
    pub peer: SocketAddr,
}

impl Session<'_> {
    pub fn stream(&self) -> &TcpStream {
        self.input.stream()
    }

    /// Answers with a status and a text.
    pub fn respond(&self, status: Status, message: Option<String>) -> io::Result<()> {
        let response = BlockOpResponseProto { status: status as i32, message, ..Default::default() };
        write_message(self.stream(), &response)
    }
}

fn serve(stream: TcpStream, peer: SocketAddr, node: &Arc<Node>) -> io::Result<()> {
    stream::prepare_data(&stream, node.config.socket_timeout)?;
    stream.set_write_timeout(Some(node.config.write_timeout).filter(|t| !t.is_zero()))?;
    let mut session = Session { node, input: Input::new(stream), peer };
    let mut first = true;
    loop {
        let wait = if first { node.config.socket_timeout } else { node.config.keepalive };
        let Some(request) = read_op(&mut session, wait)? else { return Ok(()) };
        session.stream().set_read_timeout(Some(node.config.socket_timeout).filter(|t| !t.is_zero()))?;
        node.xceivers.fetch_add(1, Ordering::Relaxed);
        let result = run(&mut session, request);
        node.xceivers.fetch_sub(1, Ordering::Relaxed);
        match result? {
            After::KeepAlive => first = false,
            After::Close => return Ok(()),
        }
    }
}

/// The next operation; `None` when the peer has closed or stayed silent.
fn read_op(session: &mut Session<'_>, wait: Duration) -> io::Result<Option<OpRequest>> {
    session.stream().set_read_timeout(Some(wait).filter(|t| !t.is_zero()))?;
    loop {
        if let Some((request, used)) = parse_op(session.input.buffered()).map_err(io::Error::other)? {
            session.input.consume(used);
            return Ok(Some(request));
        }
        let idle = session.input.buffered().is_empty();
        match session.input.fill() {
            Ok(true) => {}
            Ok(false) if idle => return Ok(None),
            Ok(false) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(e) if idle && matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Ok(None);
            }
            Err(e) => return Err(e),
        }
    }
}

fn run(session: &mut Session<'_>, request: OpRequest) -> io::Result<After> {
    match request {
        OpRequest::ReadBlock(op) => super::read::read_block(session, &op),
        OpRequest::WriteBlock(op) => super::write::write_block(session, *op),
        OpRequest::BlockChecksum(op) => super::checksum::block_checksum(session, &op),
        OpRequest::TransferBlock(op) => super::transfer::transfer_block(session, &op),
        other => refuse(session, other.op()),
    }
}

/// Answers an operation that this DataNode does not serve. Source of statuses and texts: `DataXceiver.java`, Hadoop 3.5.0.
fn refuse(session: &Session<'_>, op: Op) -> io::Result<After> {
    match op {
        // Shared memory and file descriptors only go over a UNIX socket.
        Op::RequestShortCircuitFds => session.respond(
            Status::ErrorUnsupported,
            Some("File descriptor passing was disabled at startup because libhadoop is not loaded".to_owned()),
        )?,
        Op::RequestShortCircuitShm => session.respond(
            Status::ErrorUnsupported,
            Some("This DataNode does not support short-circuit shared memory".to_owned()),
        )?,
        Op::ReleaseShortCircuitFds => session.respond(Status::ErrorUnsupported, None)?,
        op => session.respond(Status::Error, Some(format!("{} is not supported", op.name())))?,
    }
    Ok(After::Close)
}
