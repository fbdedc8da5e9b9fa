//! A request on its way through the NameNode: live on its connection's task, or owned while it waits.

use crate::retry_cache::Key;
use prost::{Message, Name};
use std::sync::Arc;
use surus_namespace::WaitFor;
use surus_net::rpc::{HeldReply, ReadyReply, Reply};
use surus_types::{Caller, HdfsError, RpcIds, TxId};

use crate::core::Core;

/// What a handler knows of its call.
pub struct Call<'a> {
    pub caller: &'a Caller,
    pub rpc: &'a RpcIds,
    /// The request message, varint-delimited.
    pub body: &'a [u8],
    /// The call was parked and its time is over: it must answer now.
    pub waited: bool,
    /// See `audit::Event`; empty where no line is written.
    pub audit_tail: &'a str,
}

static NO_IDS: RpcIds = RpcIds::NONE;

impl<'a> Call<'a> {
    /// One that came by no RPC: by HTTP, or the NameNode's own. It is never parked.
    pub fn without_rpc(caller: &'a Caller) -> Self {
        Call { caller, rpc: &NO_IDS, body: &[], waited: true, audit_tail: "" }
    }

    /// The request message.
    ///
    /// # Errors
    /// InvalidProtocolBufferException with Java's text.
    pub fn decode<M: Message + Default + Name>(&self) -> Result<M, HdfsError> {
        surus_wire::required::decode_delimited(self.body)
    }

    /// Refuses callers who are no superusers; `operation` is the audit log's name of the call.
    ///
    /// # Errors
    /// AccessControlException.
    pub fn check_superuser(&self, operation: &str) -> Result<(), HdfsError> {
        if self.caller.is_superuser {
            return Ok(());
        }
        let user = &self.caller.user;
        let text = format!("Access denied for user {user}. Superuser privilege is required for operation {operation}");
        Err(HdfsError::access_control(text))
    }
}

/// A change was made (or found unneeded), and its answer encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The answer may leave once this is durable.
    pub txid: TxId,
    /// Whether the retry cache keeps the answer: a `false` of rename and delete counts as failure.
    pub keep: bool,
}

/// No answer yet, or an exception.
#[derive(Debug)]
pub enum Refused {
    Error(HdfsError),
    /// Execute the call again when `until` holds; see `parked`.
    Park {
        until: WaitFor,
        generation: u64,
        otherwise: HdfsError,
    },
}

impl From<HdfsError> for Refused {
    fn from(error: HdfsError) -> Self {
        Refused::Error(error)
    }
}

/// A handler that changes nothing: appends the response message to the buffer.
pub type ReadHandler = fn(&Core, &Call<'_>, &mut Vec<u8>) -> Result<(), HdfsError>;
/// A handler that may change the namespace.
pub type WriteHandler = fn(&Core, &Call<'_>, &mut Vec<u8>) -> Result<Done, Refused>;

/// How a method is executed.
#[derive(Clone, Copy)]
pub enum Run {
    Read(ReadHandler),
    /// A change that may be repeated without harm.
    Write(WriteHandler),
    /// A change that the retry cache keeps from being made twice.
    AtMostOnce(WriteHandler),
    /// Takes longer than a connection's task may be held: runs on a blocking thread.
    Slow(ReadHandler),
}

/// One row of a protocol's table.
pub struct Method {
    pub name: &'static str,
    pub run: Run,
}

/// Finds a method in a table sorted by name.
pub fn find(table: &'static [Method], name: &str) -> Option<&'static Method> {
    table.binary_search_by(|m| m.name.cmp(name)).ok().map(|i| &table[i])
}

/// Where an answer goes.
pub enum ReplyTo<'a> {
    /// Into the batch of the connection's task.
    Live(Reply<'a>),
    Held(HeldReply),
}

impl ReplyTo<'_> {
    pub fn hold(self) -> HeldReply {
        match self {
            ReplyTo::Live(reply) => reply.hold(),
            ReplyTo::Held(reply) => reply,
        }
    }

    /// Answers with an encoded response message.
    pub fn ok(self, encoded: &[u8]) {
        match self {
            ReplyTo::Live(reply) => reply.ok_encoded(|out| out.extend_from_slice(encoded)),
            ReplyTo::Held(reply) => reply.ok_encoded(|out| out.extend_from_slice(encoded)),
        }
    }

    pub fn error(self, error: &HdfsError) {
        match self {
            ReplyTo::Live(reply) => reply.error(error),
            ReplyTo::Held(reply) => reply.error(error),
        }
    }

    /// Encodes the answer now, to leave later.
    pub fn ready(self, encoded: &[u8]) -> ReadyReply {
        self.hold().ready_ok_encoded(|out| out.extend_from_slice(encoded))
    }
}

/// A call that outlives its connection's read buffer: parked, waiting for groups, or for the first of its kind.
pub struct OwnedCall {
    pub method: &'static Method,
    pub caller: Arc<Caller>,
    pub rpc: RpcIds,
    pub body: Box<[u8]>,
    pub reply: HeldReply,
    /// The call's place in the retry cache, once it runs.
    pub key: Option<Key>,
    /// When it answers at last, on the monotonic clock; 0 before it is parked for the first time.
    pub deadline_ms: u64,
    /// See [`Call::audit_tail`].
    pub audit_tail: Box<str>,
}
