//! The server's end of a connection without its socket: bytes in, events and answers out.
//! Source of every answer: `Server.java` (class `Connection`), Hadoop 3.5.0, tried on a real one.

use super::header::{MethodHeader, RPC_KIND_PROTOCOL_BUFFER, RPC_OP_FINAL_PACKET, RequestHeader, ResponseIds};
use super::header::{put_error, put_fatal, put_success};
use super::{ErrorCode, RPC_VERSION, call_ids, errors};
use crate::varint::{Value, take_delimited, take_field};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use prost::Message;
use surus_proto::hadoop::common::RpcSaslProto;
use surus_proto::hadoop::common::rpc_sasl_proto::{SaslAuth, SaslState};
use surus_types::{ExceptionClass, HdfsError};

const MAGIC: &[u8; 4] = b"hrpc";
const PREAMBLE_LEN: usize = 7;
const AUTH_NONE: u8 = 0;
const AUTH_SASL: u8 = 0xdf;
/// The oldest client that reads the length-less form of the version answer. Source: `Server.setupBadVersionResponse`.
const OLD_VERSION_MIN: u8 = 3;

/// What a browser gets that was pointed at the RPC port.
const HTTP_ANSWER: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-type: text/plain\r\n\r\n\
It looks like you are making an HTTP request to a Hadoop IPC port. This is not the correct port for the web \
interface on this daemon.\r\n";

/// How a server without Kerberos answers SASL NEGOTIATE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Negotiation {
    /// "Go on with SIMPLE at once": a server without tokens, such as the JournalNode.
    SwitchToSimple,
    /// TOKEN with a first challenge, then SIMPLE: NameNode and DataNode. The nonce makes the challenge unique.
    TokenAndSimple { nonce: String },
}

/// Who opened the connection and for which protocol, as the connection context says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConnectionContext {
    pub effective_user: String,
    /// The user who authenticated, where it is another one.
    pub real_user: Option<String>,
    /// Java name of the protocol; not checked.
    pub protocol: String,
}

/// A call as it lies in its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call<'a> {
    pub header: RequestHeader<'a>,
    pub method: MethodHeader<'a>,
    /// The request message, still varint-delimited.
    pub body: &'a [u8],
}

/// What the bytes so far mean.
#[derive(PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// More bytes are needed: at least this many in all, counted from the first unconsumed byte.
    NeedMore(usize),
    /// The client has told who it is. Go on, or refuse with `ServerSession::refuse`.
    Context(ConnectionContext),
    Call(Call<'a>),
    /// Something that needs no action of the driver was consumed; answers may have been appended.
    Progress,
    /// Send what was appended, then close.
    Close,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Preamble,
    /// SASL was announced and no NEGOTIATE has come.
    SaslStart,
    /// NEGOTIATE was answered with a list of methods; INITIATE is due.
    SaslOffered,
    AwaitContext,
    Ready,
    Closed,
}

/// The state of one connection.
#[derive(Debug)]
pub struct ServerSession {
    state: State,
    data_length_max: u32,
    negotiation: Negotiation,
}

impl ServerSession {
    /// A connection just accepted. Frames longer than `data_length_max` bytes end it.
    pub fn new(data_length_max: u32, negotiation: Negotiation) -> Self {
        ServerSession { state: State::Preamble, data_length_max, negotiation }
    }

    /// Whether calls are accepted: preamble and connection context are through.
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// Looks at the start of `input`: how many bytes were consumed, and what they mean. Answers are appended to `out`.
    pub fn next<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> (usize, Event<'a>) {
        match self.state {
            State::Closed => (input.len(), Event::Close),
            State::Preamble => self.preamble(input, out),
            _ => {
                let Some(prefix) = input.first_chunk::<4>() else { return (0, Event::NeedMore(4)) };
                let length = u32::from_be_bytes(*prefix);
                // Without an answer, as Hadoop does: such a peer most likely speaks another protocol.
                if length > self.data_length_max || length > i32::MAX as u32 {
                    return self.close(input.len());
                }
                let end = 4 + length as usize;
                match input.get(4..end) {
                    None => (0, Event::NeedMore(end)),
                    Some(frame) => (end, self.frame(frame, out)),
                }
            }
        }
    }

    /// Answers a refused connection context; the connection is to be closed.
    pub fn refuse(&mut self, error: &HdfsError, out: &mut Vec<u8>) {
        self.state = State::Closed;
        let ids = ResponseIds::bare(call_ids::CONNECTION_CONTEXT);
        put_fatal(out, &ids, ErrorCode::FatalUnauthorized, error.class.java_name(), &error.message);
    }

    fn close<'a>(&mut self, consumed: usize) -> (usize, Event<'a>) {
        self.state = State::Closed;
        (consumed, Event::Close)
    }

    fn preamble<'a>(&mut self, input: &'a [u8], out: &mut Vec<u8>) -> (usize, Event<'a>) {
        if input.starts_with(b"GET ") {
            out.extend_from_slice(HTTP_ANSWER);
            return self.close(input.len());
        }
        let Some(preamble) = input.first_chunk::<PREAMBLE_LEN>() else { return (0, Event::NeedMore(PREAMBLE_LEN)) };
        let (version, auth) = (preamble[4], preamble[6]);
        if !preamble.starts_with(MAGIC) || version != RPC_VERSION {
            put_version_mismatch(version, out);
            return self.close(input.len());
        }
        self.state = match auth {
            AUTH_NONE => State::AwaitContext,
            AUTH_SASL => State::SaslStart,
            other => {
                let ids = ResponseIds::bare(call_ids::AUTHORIZATION_FAILED);
                let text = format!("Unknown auth protocol:{}", other as i8);
                put_fatal(out, &ids, ErrorCode::FatalUnauthorized, ExceptionClass::Ipc.java_name(), &text);
                return self.close(input.len());
            }
        };
        (PREAMBLE_LEN, Event::Progress)
    }

    fn frame<'a>(&mut self, mut frame: &'a [u8], out: &mut Vec<u8>) -> Event<'a> {
        let decoded = take_delimited(&mut frame).and_then(|bytes| RequestHeader::decode(bytes).ok());
        let Some(header) = decoded else {
            let text = "Error decoding class org.apache.hadoop.ipc.protobuf.RpcHeaderProtos$RpcRequestHeaderProto";
            return self.fatal(call_ids::AUTHORIZATION_FAILED, ErrorCode::FatalDeserializingRequest, text, out);
        };
        match (header.rpc_op, header.rpc_kind) {
            (None, _) => self.bad_header(&header, " IPC Server: No rpc op in rpcRequestHeader", out),
            (Some(op), _) if op != RPC_OP_FINAL_PACKET => {
                let text = format!("IPC Server does not implement rpc header operation{}", operation_name(op));
                self.bad_header(&header, &text, out)
            }
            (_, None) => self.bad_header(&header, " IPC Server: No rpc kind in rpcRequestHeader", out),
            _ if header.call_id < 0 => self.out_of_band(&header, frame, out),
            _ if self.state != State::Ready => self.bad_header(&header, "Connection context not established", out),
            (_, Some(RPC_KIND_PROTOCOL_BUFFER)) => call(header, frame, out),
            (_, Some(kind)) => {
                let text = format!("Unknown rpc kind in rpc header{}", kind_name(kind));
                self.bad_header(&header, &text, out)
            }
        }
    }

    fn out_of_band<'a>(&mut self, header: &RequestHeader<'_>, body: &'a [u8], out: &mut Vec<u8>) -> Event<'a> {
        match header.call_id {
            call_ids::CONNECTION_CONTEXT => self.context(header, body, out),
            call_ids::SASL => self.sasl(header, body, out),
            call_ids::PING => Event::Progress,
            other => self.bad_header(header, &format!("Unknown out of band call #{other}"), out),
        }
    }

    fn context<'a>(&mut self, header: &RequestHeader<'_>, mut body: &'a [u8], out: &mut Vec<u8>) -> Event<'a> {
        match self.state {
            State::Ready => return self.bad_header(header, "Connection context already processed", out),
            State::SaslStart | State::SaslOffered => {
                return self.bad_header(header, "Connection header sent during SASL negotiation", out);
            }
            _ => {}
        }
        let Some(context) = take_delimited(&mut body).and_then(decode_context) else {
            let text = "Error decoding class org.apache.hadoop.ipc.protobuf.IpcConnectionContextProtos$IpcConnectionContextProto";
            return self.fatal(header.call_id, ErrorCode::FatalDeserializingRequest, text, out);
        };
        // Hadoop takes a context without a user for the server's own user, so for the superuser. We close.
        if context.effective_user.is_empty() {
            self.state = State::Closed;
            return Event::Close;
        }
        self.state = State::Ready;
        Event::Context(context)
    }

    fn sasl<'a>(&mut self, header: &RequestHeader<'_>, mut body: &'a [u8], out: &mut Vec<u8>) -> Event<'a> {
        let message = take_delimited(&mut body).and_then(|bytes| RpcSaslProto::decode(bytes).ok());
        let Some(message) = message else {
            let text = "Error decoding class org.apache.hadoop.ipc.protobuf.RpcHeaderProtos$RpcSaslProto";
            return self.fatal(header.call_id, ErrorCode::FatalDeserializingRequest, text, out);
        };
        match (self.state, message.state()) {
            (State::SaslStart, SaslState::Negotiate) => {
                self.state = match &self.negotiation {
                    Negotiation::SwitchToSimple => State::AwaitContext,
                    Negotiation::TokenAndSimple { .. } => State::SaslOffered,
                };
                put_negotiation(&self.negotiation, out);
                Event::Progress
            }
            (State::SaslOffered, SaslState::Negotiate) => {
                self.unauthorized("Client already attempted negotiation", out)
            }
            (State::SaslOffered | State::SaslStart, SaslState::Initiate) => match message.auths.as_slice() {
                [auth] if auth.method == "SIMPLE" => {
                    self.state = State::AwaitContext;
                    Event::Progress
                }
                [auth] => {
                    let text = format!("{} authentication is not enabled.  Available:[SIMPLE]", auth.method);
                    self.unauthorized(&text, out)
                }
                _ => self.unauthorized("Client mechanism is malformed", out),
            },
            (State::SaslOffered | State::SaslStart, _) => self.unauthorized("Client sent unsupported state", out),
            _ => self.bad_header(header, "SASL protocol not requested by client", out),
        }
    }

    fn bad_header<'a>(&mut self, header: &RequestHeader<'_>, text: &str, out: &mut Vec<u8>) -> Event<'a> {
        self.fatal(header.call_id, ErrorCode::FatalInvalidRpcHeader, text, out)
    }

    fn fatal<'a>(&mut self, call_id: i32, code: ErrorCode, text: &str, out: &mut Vec<u8>) -> Event<'a> {
        self.state = State::Closed;
        put_fatal(out, &ResponseIds::bare(call_id), code, ExceptionClass::RpcServer.java_name(), text);
        Event::Close
    }

    fn unauthorized<'a>(&mut self, text: &str, out: &mut Vec<u8>) -> Event<'a> {
        self.state = State::Closed;
        let class = ExceptionClass::AccessControl.java_name();
        put_fatal(out, &ResponseIds::bare(call_ids::SASL), ErrorCode::FatalUnauthorized, class, text);
        Event::Close
    }
}

/// A frame with an ordinary call id on an open connection.
fn call<'a>(header: RequestHeader<'a>, mut frame: &'a [u8], out: &mut Vec<u8>) -> Event<'a> {
    match take_delimited(&mut frame).and_then(|bytes| MethodHeader::decode(bytes).ok()) {
        Some(method) => Event::Call(Call { header, method, body: frame }),
        None => {
            let text = "Message missing required fields: methodName, declaringClassProtocolName, clientProtocolVersion";
            put_error(out, &response_ids(&header), &errors::invalid_protocol_buffer(text));
            Event::Progress
        }
    }
}

fn response_ids<'a>(header: &RequestHeader<'a>) -> ResponseIds<'a> {
    ResponseIds {
        call_id: header.call_id,
        client_id: header.client_id,
        retry_count: header.retry_count,
        state_id: None,
    }
}

/// The version answer in the form that a client of this version can read.
/// Source: `Server.setupBadVersionResponse`, Hadoop 3.5.0.
fn put_version_mismatch(client_version: u8, out: &mut Vec<u8>) {
    let class = ExceptionClass::RpcVersionMismatch.java_name();
    let client_version = client_version as i8;
    let text = format!("Server IPC version {RPC_VERSION} cannot communicate with client version {client_version}");
    if client_version >= RPC_VERSION as i8 {
        let ids = ResponseIds::bare(call_ids::AUTHORIZATION_FAILED);
        put_fatal(out, &ids, ErrorCode::FatalVersionMismatch, class, &text);
    } else if client_version >= OLD_VERSION_MIN as i8 {
        out.extend_from_slice(&(-1i32).to_be_bytes());
        out.extend_from_slice(&(-1i32).to_be_bytes());
        for part in [class, &text] {
            out.extend_from_slice(&(part.len() as u32).to_be_bytes());
            out.extend_from_slice(part.as_bytes());
        }
    }
}

/// The answer to NEGOTIATE, with call id -33 and no client id.
fn put_negotiation(negotiation: &Negotiation, out: &mut Vec<u8>) {
    let mut message = RpcSaslProto { state: SaslState::Success as i32, ..Default::default() };
    if let Negotiation::TokenAndSimple { nonce } = negotiation {
        let challenge = format!("realm=\"default\",nonce=\"{nonce}\",qop=\"auth\",charset=utf-8,algorithm=md5-sess");
        message.state = SaslState::Negotiate as i32;
        message.auths = alloc::vec![
            SaslAuth {
                method: "TOKEN".to_string(),
                mechanism: "DIGEST-MD5".to_string(),
                protocol: Some(String::new()),
                server_id: Some("default".to_string()),
                challenge: Some(challenge.into_bytes()),
            },
            SaslAuth { method: "SIMPLE".to_string(), ..Default::default() },
        ];
    }
    put_success(out, &ResponseIds::bare(call_ids::SASL), &message);
}

/// `IpcConnectionContextProto`; `None` where the bytes are none.
fn decode_context(mut bytes: &[u8]) -> Option<ConnectionContext> {
    let mut context = ConnectionContext::default();
    while let Some(field) = take_field(&mut bytes).ok()? {
        match field {
            (2, Value::Bytes(mut user)) => {
                while let Some(field) = take_field(&mut user).ok()? {
                    match field {
                        (1, Value::Bytes(name)) => context.effective_user = text(name)?,
                        (2, Value::Bytes(name)) => context.real_user = Some(text(name)?),
                        _ => {}
                    }
                }
            }
            (3, Value::Bytes(name)) => context.protocol = text(name)?,
            _ => {}
        }
    }
    Some(context)
}

fn text(bytes: &[u8]) -> Option<String> {
    core::str::from_utf8(bytes).ok().map(ToString::to_string)
}

/// `RpcKindProto` by number, as Java's enum prints.
fn kind_name(kind: u64) -> &'static str {
    match kind {
        0 => "RPC_BUILTIN",
        1 => "RPC_WRITABLE",
        2 => "RPC_PROTOCOL_BUFFER",
        _ => "null",
    }
}

fn operation_name(op: u64) -> &'static str {
    match op {
        1 => "RPC_CONTINUATION_PACKET",
        2 => "RPC_CLOSE_CONNECTION",
        _ => "null",
    }
}
