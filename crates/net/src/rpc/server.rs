//! The listening side: accepts connections within the limits and gives each its own task.

use super::RpcService;
use super::connection::Connection;
use crate::listener::Listener;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use surus_conf::{ConfError, Configuration, keys};
use surus_wire::rpc::session::Negotiation;
use tokio::runtime::Handle;

/// What a connection may cost.
#[derive(Clone, Debug)]
pub struct RpcLimits {
    /// Longest frame in bytes (`ipc.maximum.data.length`).
    pub data_length_max: u32,
    /// Connections open at a time (`ipc.server.max.connections`, where 0 is "no limit").
    pub connections_max: usize,
    /// Length of the accept queue (`ipc.server.listen.queue.size`).
    pub listen_queue: i32,
    /// Connections below which idle ones are left alone (`ipc.client.idlethreshold`).
    pub idle_threshold: usize,
    /// Silence after which a connection is idle (twice `ipc.client.connection.maxidletime`).
    pub idle_timeout: Duration,
    /// Time for preamble and connection context.
    pub handshake_timeout: Duration,
    /// Answer bytes a client may leave unread before no more of its requests are read.
    pub unsent_bytes_max: usize,
    /// Replies of one connection that may be held at a time.
    pub held_calls_max: usize,
    /// Whether NEGOTIATE is answered as by a server that knows tokens (NameNode, DataNode).
    pub offers_tokens: bool,
}

impl Default for RpcLimits {
    fn default() -> Self {
        RpcLimits {
            data_length_max: surus_wire::rpc::DATA_LENGTH_MAX,
            connections_max: usize::MAX,
            listen_queue: 256,
            idle_threshold: 4000,
            idle_timeout: Duration::from_secs(20),
            handshake_timeout: Duration::from_secs(60),
            unsent_bytes_max: 16 << 20,
            held_calls_max: 65_536,
            offers_tokens: true,
        }
    }
}

impl RpcLimits {
    /// The limits that Hadoop has keys for; the others keep their defaults.
    ///
    /// # Errors
    /// A value that is none.
    pub fn from_conf(conf: &Configuration) -> Result<Self, ConfError> {
        let count = |number: i32| usize::try_from(number).unwrap_or(0);
        Ok(RpcLimits {
            data_length_max: conf.get(keys::IPC_MAXIMUM_DATA_LENGTH)?.unsigned_abs(),
            connections_max: match count(conf.get(keys::IPC_SERVER_MAX_CONNECTIONS)?) {
                0 => usize::MAX,
                limit => limit,
            },
            listen_queue: conf.get(keys::IPC_SERVER_LISTEN_QUEUE_SIZE)?,
            idle_threshold: count(conf.get(keys::IPC_CLIENT_IDLETHRESHOLD)?),
            // Twice the client's, so that the client is the one to close. Source: `Server.java`, Hadoop 3.5.0.
            idle_timeout: 2 * conf.get(keys::IPC_CLIENT_CONNECTION_MAXIDLETIME)?,
            ..RpcLimits::default()
        })
    }
}

/// Totals since the start, for the RPC metrics.
#[derive(Debug, Default)]
pub struct RpcCounters {
    /// Bytes read from connections (`ReceivedBytes`).
    pub received_bytes: AtomicU64,
    /// Bytes written to connections (`SentBytes`).
    pub sent_bytes: AtomicU64,
    /// Calls served (`RpcProcessingTimeNumOps`).
    pub calls: AtomicU64,
    /// Connections the service did not authorize (`RpcAuthorizationFailures`).
    pub refused: AtomicU64,
}

/// What all connections of a server share.
pub(super) struct ServerShared {
    pub service: Arc<dyn RpcService>,
    pub limits: Arc<RpcLimits>,
    pub connections: AtomicUsize,
    pub counters: Arc<RpcCounters>,
}

impl ServerShared {
    pub fn negotiation(&self) -> Negotiation {
        match self.limits.offers_tokens {
            true => Negotiation::TokenAndSimple { nonce: super::client::random_text() },
            false => Negotiation::SwitchToSimple,
        }
    }
}

/// An RPC server. It stops when it is dropped.
pub struct RpcServer {
    listener: Listener,
    shared: Arc<ServerShared>,
}

impl RpcServer {
    /// Binds `addr` and serves it on `runtime`. Port 0 takes a free one: see `local_addr`.
    ///
    /// # Errors
    /// The address cannot be resolved or bound.
    pub fn bind(
        addr: impl ToSocketAddrs,
        service: Arc<dyn RpcService>,
        limits: RpcLimits,
        runtime: &Handle,
    ) -> io::Result<Self> {
        let (listen_queue, connections_max) = (limits.listen_queue, limits.connections_max);
        let shared = Arc::new(ServerShared {
            service,
            limits: Arc::new(limits),
            connections: AtomicUsize::new(0),
            counters: Arc::default(),
        });
        let of_connections = shared.clone();
        let serve = move |stream, peer| {
            of_connections.connections.fetch_add(1, Ordering::Relaxed);
            Connection::new(stream, peer, of_connections.clone()).run()
        };
        let listener = Listener::bind(addr, listen_queue, connections_max, runtime, serve)?;
        Ok(RpcServer { listener, shared })
    }

    /// The address that is served.
    pub fn local_addr(&self) -> SocketAddr {
        self.listener.local_addr()
    }

    /// Open connections (`NumOpenConnections` of the RPC metrics).
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Totals since the start.
    pub fn counters(&self) -> &Arc<RpcCounters> {
        &self.shared.counters
    }

    /// Closes the listener and every connection; answers not yet sent are lost.
    pub fn stop(&self) {
        self.listener.stop();
    }
}
