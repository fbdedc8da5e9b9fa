//! Hadoop RPC over TCP: a server that answers whole batches with one write, and a blocking client.

mod client;
mod connection;
mod null;
mod outbox;
mod reply;
mod server;

pub use client::{CallId, RpcClient, RpcClientOptions, RpcError, RpcUser};
pub use null::NullService;
pub use reply::{HeldReply, ReadyReply, Reply, send_together};
pub use server::{RpcCounters, RpcLimits, RpcServer};

use prost::Message;
use std::net::SocketAddr;
use std::sync::Arc;
use surus_types::HdfsError;

/// Who is at the other end of a connection, settled once by its connection context.
#[derive(Clone, Debug)]
pub struct ConnectionInfo {
    /// The user whose rights the calls have.
    pub user: Arc<str>,
    /// The user who authenticated, where that is another one (proxy user).
    pub real_user: Option<Arc<str>>,
    pub peer: SocketAddr,
    /// The peer's address without port, as exception texts and the audit log show it.
    pub address: Arc<str>,
    /// Java name of the protocol in the connection context; requests may name another one.
    pub protocol: String,
}

/// One request. Everything borrowed lies in the connection's read buffer.
#[derive(Clone, Copy, Debug)]
pub struct RpcCall<'a> {
    pub connection: &'a Arc<ConnectionInfo>,
    pub call_id: i32,
    /// 16 bytes from ordinary clients, but any length is possible.
    pub client_id: &'a [u8],
    /// 0 for the first attempt, -1 where the client did not say.
    pub retry_count: i32,
    /// What the client wants to see in the audit log; empty: nothing.
    pub caller_context: &'a [u8],
    /// A signature of it that tools check; empty: none.
    pub caller_signature: &'a [u8],
    /// The last transaction the client has seen, where it reads from observers.
    pub state_id: Option<i64>,
    pub protocol: &'a str,
    pub method: &'a str,
    /// 1 for every protocol of Hadoop; compare with `wire::rpc::errors::version_mismatch`.
    pub version: u64,
    /// The request message, varint-delimited. `decode` reads it.
    pub body: &'a [u8],
}

impl RpcCall<'_> {
    /// Decodes the request message and checks that every required field is there, which prost does not.
    ///
    /// # Errors
    /// `InvalidProtocolBufferException` with Java's text.
    pub fn decode<M: Message + Default + prost::Name>(&self) -> Result<M, HdfsError> {
        surus_wire::required::decode_delimited(self.body)
    }
}

/// # Errors
/// AuthorizationException for whoever acts as somebody else.
pub fn refuse_proxy_user(connection: &ConnectionInfo) -> Result<(), HdfsError> {
    match &connection.real_user {
        Some(real) if *real != connection.user => Err(HdfsError::new(
            surus_types::ExceptionClass::Authorization,
            format!("User: {real} is not allowed to impersonate {}", connection.user),
        )),
        _ => Ok(()),
    }
}

/// What serves the calls of an RPC server.
pub trait RpcService: Send + Sync + 'static {
    /// Whether this connection may be used at all: proxy users, service-level authorization.
    ///
    /// # Errors
    /// The exception the client gets before the connection is closed; `AuthorizationException` for a proxy user.
    fn authorize(&self, connection: &ConnectionInfo) -> Result<(), HdfsError> {
        refuse_proxy_user(connection)
    }

    /// Serves one call, inline on the connection's task: it must never wait, neither for a disk nor for a
    /// lock that is held long. What cannot be answered now is held: `reply.hold()`.
    fn call(&self, call: RpcCall<'_>, reply: Reply<'_>);

    /// Called after each batch of calls that came with one read, once their replies have been handed on.
    fn batch_done(&self) {}
}
