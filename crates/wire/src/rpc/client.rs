//! The client's end of a connection without its socket: the first bytes, requests, and answers taken apart.

use super::header::{RPC_KIND_PROTOCOL_BUFFER, RPC_OP_FINAL_PACKET, begin_frame, end_frame, put_delimited};
use super::{RPC_VERSION, call_ids};
use crate::varint::{Malformed, Value, put_bytes, put_uint, put_varint, take_delimited, take_field, unzigzag, zigzag};
use alloc::string::String;
use alloc::vec::Vec;
use prost::Message;
use surus_proto::hadoop::common::{RpcSaslProto, rpc_sasl_proto::SaslState};

/// Length of a client id.
pub const CLIENT_ID_LEN: usize = 16;

/// The ids of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestIds {
    pub call_id: i32,
    pub client_id: [u8; CLIENT_ID_LEN],
    /// 0 for the first attempt; -1 for what is no call.
    pub retry_count: i32,
}

/// Appends the preamble of a connection with simple authentication, or one that begins with SASL.
pub fn put_preamble(out: &mut Vec<u8>, sasl: bool) {
    out.extend_from_slice(b"hrpc");
    out.extend_from_slice(&[RPC_VERSION, 0, if sasl { 0xdf } else { 0 }]);
}

/// Appends the connection context.
pub fn put_context(
    out: &mut Vec<u8>,
    client_id: &[u8; CLIENT_ID_LEN],
    user: &str,
    real_user: Option<&str>,
    protocol: &str,
) {
    let ids = RequestIds { call_id: call_ids::CONNECTION_CONTEXT, client_id: *client_id, retry_count: -1 };
    put_frame(out, &ids, "", |out| {
        put_delimited(out, |out| {
            out.push(2 << 3 | 2);
            put_delimited(out, |out| {
                put_bytes(out, 1, user.as_bytes());
                if let Some(real) = real_user {
                    put_bytes(out, 2, real.as_bytes());
                }
            });
            put_bytes(out, 3, protocol.as_bytes());
        });
    });
}

/// Appends a call. `caller_context` is what the server's audit log shows; empty: none.
pub fn put_call(
    out: &mut Vec<u8>,
    ids: &RequestIds,
    caller_context: &str,
    protocol: &str,
    method: &str,
    request: &impl Message,
) {
    put_frame(out, ids, caller_context, |out| {
        put_delimited(out, |out| {
            put_bytes(out, 1, method.as_bytes());
            put_bytes(out, 2, protocol.as_bytes());
            put_uint(out, 3, 1);
        });
        put_varint(out, request.encoded_len() as u64);
        request.encode_raw(out);
    });
}

/// Appends a ping, which is never answered.
pub fn put_ping(out: &mut Vec<u8>, client_id: &[u8; CLIENT_ID_LEN]) {
    put_frame(out, &RequestIds { call_id: call_ids::PING, client_id: *client_id, retry_count: -1 }, "", |_| ());
}

/// Appends a step of the SASL conversation. Its client id is empty, as in Java's client.
pub fn put_sasl(out: &mut Vec<u8>, message: &RpcSaslProto) {
    let start = begin_frame(out);
    put_delimited(out, |out| put_request_header(out, call_ids::SASL, &[], -1, ""));
    put_varint(out, message.encoded_len() as u64);
    message.encode_raw(out);
    end_frame(out, start);
}

/// Asks the server for its authentication methods.
pub fn negotiate() -> RpcSaslProto {
    RpcSaslProto { state: SaslState::Negotiate as i32, ..Default::default() }
}

fn put_frame(out: &mut Vec<u8>, ids: &RequestIds, caller_context: &str, body: impl FnOnce(&mut Vec<u8>)) {
    let start = begin_frame(out);
    put_delimited(out, |out| put_request_header(out, ids.call_id, &ids.client_id, ids.retry_count, caller_context));
    body(out);
    end_frame(out, start);
}

fn put_request_header(out: &mut Vec<u8>, call_id: i32, client_id: &[u8], retry_count: i32, caller_context: &str) {
    put_uint(out, 1, RPC_KIND_PROTOCOL_BUFFER);
    put_uint(out, 2, RPC_OP_FINAL_PACKET);
    // Negative ids travel zigzag in 32 bits.
    put_uint(out, 3, zigzag(i64::from(call_id)));
    put_bytes(out, 4, client_id);
    put_uint(out, 5, zigzag(i64::from(retry_count)));
    if !caller_context.is_empty() {
        out.push(7 << 3 | 2);
        put_delimited(out, |out| put_bytes(out, 1, caller_context.as_bytes()));
    }
}

/// How a call ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome<'a> {
    /// The response message.
    Success(&'a [u8]),
    /// The call failed; the connection goes on.
    Error { class: String, message: String },
    /// The server is about to close the connection.
    Fatal { class: String, message: String },
}

/// An answer taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Response<'a> {
    pub call_id: i32,
    pub state_id: Option<i64>,
    pub outcome: Outcome<'a>,
}

impl<'a> Response<'a> {
    /// Decodes a frame without its length.
    ///
    /// # Errors
    /// Bytes that are no answer.
    pub fn decode(mut frame: &'a [u8]) -> Result<Self, Malformed> {
        let mut header = take_delimited(&mut frame).ok_or(Malformed)?;
        let (mut call_id, mut status, mut state_id) = (None, None, None);
        let (mut class, mut message) = (&[][..], &[][..]);
        while let Some(field) = take_field(&mut header)? {
            match field {
                (1, Value::Varint(id)) => call_id = Some(id as u32 as i32),
                (2, Value::Varint(number)) => status = Some(number),
                (4, Value::Bytes(name)) => class = name,
                (5, Value::Bytes(text)) => message = text,
                (9, Value::Varint(id)) => state_id = Some(id as i64),
                _ => {}
            }
        }
        let lossy = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let outcome = match status.ok_or(Malformed)? {
            0 => Outcome::Success(take_delimited(&mut frame).ok_or(Malformed)?),
            1 => Outcome::Error { class: lossy(class), message: lossy(message) },
            2 => Outcome::Fatal { class: lossy(class), message: lossy(message) },
            _ => return Err(Malformed),
        };
        Ok(Response { call_id: call_id.ok_or(Malformed)?, state_id, outcome })
    }
}

/// The retry count of a request header, for tests and tools that look at recorded connections.
pub fn decode_sint32(value: u64) -> i32 {
    unzigzag(value) as i32
}
