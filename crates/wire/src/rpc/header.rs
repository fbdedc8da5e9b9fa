//! Request headers decoded by hand without an allocation, response headers and whole answers encoded by hand.
//!
//! ```text
//! request:  u32 length | varint | RpcRequestHeaderProto  | varint | RequestHeaderProto | varint | request message
//! response: u32 length | varint | RpcResponseHeaderProto | varint | response message (SUCCESS only)
//! ```

use super::errors::error_code;
use super::{ErrorCode, RPC_VERSION};
use crate::varint::{Malformed, Value, bytes_len, put_bytes, put_uint, put_varint, take_field, uint_len, unzigzag};
use crate::varint::{varint_len, zigzag};
use alloc::vec::Vec;
use prost::Message;
use surus_types::HdfsError;

/// `RpcKindProto` of protobuf calls.
pub const RPC_KIND_PROTOCOL_BUFFER: u64 = 2;
/// `OperationProto` of every request.
pub const RPC_OP_FINAL_PACKET: u64 = 0;

/// `RpcRequestHeaderProto` as it lies in the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RequestHeader<'a> {
    pub rpc_kind: Option<u64>,
    pub rpc_op: Option<u64>,
    pub call_id: i32,
    /// 16 bytes from ordinary clients; any length is accepted and echoed.
    pub client_id: &'a [u8],
    /// -1: not given.
    pub retry_count: i32,
    /// `callerContext.context`, which the audit log shows; empty: none.
    pub caller_context: &'a [u8],
    /// `callerContext.signature`; empty: none.
    pub caller_signature: &'a [u8],
    /// The last transaction the client has seen, where it reads from observers.
    pub state_id: Option<i64>,
}

impl<'a> RequestHeader<'a> {
    /// Decodes a header.
    ///
    /// # Errors
    /// Bytes that are no message, or a missing `callId` or `clientId`.
    pub fn decode(mut bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut header = RequestHeader {
            rpc_kind: None,
            rpc_op: None,
            call_id: 0,
            client_id: &[],
            retry_count: -1,
            caller_context: &[],
            caller_signature: &[],
            state_id: None,
        };
        let (mut call_id, mut client_id) = (None, None);
        while let Some(field) = take_field(&mut bytes)? {
            match field {
                (1, Value::Varint(kind)) => header.rpc_kind = Some(kind),
                (2, Value::Varint(op)) => header.rpc_op = Some(op),
                (3, Value::Varint(id)) => call_id = Some(unzigzag(id) as i32),
                (4, Value::Bytes(id)) => client_id = Some(id),
                (5, Value::Varint(count)) => header.retry_count = unzigzag(count) as i32,
                (7, Value::Bytes(mut context)) => {
                    while let Some(field) = take_field(&mut context)? {
                        match field {
                            (1, Value::Bytes(text)) => header.caller_context = text,
                            (2, Value::Bytes(signature)) => header.caller_signature = signature,
                            _ => {}
                        }
                    }
                }
                (8, Value::Varint(id)) => header.state_id = Some(id as i64),
                _ => {}
            }
        }
        header.call_id = call_id.ok_or(Malformed)?;
        header.client_id = client_id.ok_or(Malformed)?;
        Ok(header)
    }
}

/// `RequestHeaderProto` as it lies in the frame: what is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MethodHeader<'a> {
    pub method: &'a str,
    pub protocol: &'a str,
    /// 1 for every protocol of Hadoop.
    pub version: u64,
}

impl<'a> MethodHeader<'a> {
    /// Decodes a header.
    ///
    /// # Errors
    /// Bytes that are no message, names that are no UTF-8, or a missing field.
    pub fn decode(mut bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (mut method, mut protocol, mut version) = (None, None, None);
        while let Some(field) = take_field(&mut bytes)? {
            match field {
                (1, Value::Bytes(name)) => method = Some(core::str::from_utf8(name).map_err(|_| Malformed)?),
                (2, Value::Bytes(name)) => protocol = Some(core::str::from_utf8(name).map_err(|_| Malformed)?),
                (3, Value::Varint(number)) => version = Some(number),
                _ => {}
            }
        }
        Ok(MethodHeader {
            method: method.ok_or(Malformed)?,
            protocol: protocol.ok_or(Malformed)?,
            version: version.ok_or(Malformed)?,
        })
    }
}

/// What an answer repeats from its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ResponseIds<'a> {
    pub call_id: i32,
    pub client_id: &'a [u8],
    pub retry_count: i32,
    /// The last transaction of this NameNode, where `dfs.namenode.state.context.enabled` asks for it.
    pub state_id: Option<i64>,
}

impl ResponseIds<'_> {
    /// For answers to what is no call, and fatal ones: no client id, retry count -1.
    pub fn bare(call_id: i32) -> ResponseIds<'static> {
        ResponseIds { call_id, client_id: &[], retry_count: -1, state_id: None }
    }

    fn tail_len(&self) -> usize {
        bytes_len(7, self.client_id.len())
            + uint_len(8, zigzag(i64::from(self.retry_count)))
            + self.state_id.map_or(0, |id| uint_len(9, id as u64))
    }

    fn put_tail(&self, out: &mut Vec<u8>) {
        put_bytes(out, 7, self.client_id);
        put_uint(out, 8, zigzag(i64::from(self.retry_count)));
        if let Some(id) = self.state_id {
            put_uint(out, 9, id as u64);
        }
    }
}

const STATUS_SUCCESS: u64 = 0;
const STATUS_ERROR: u64 = 1;
const STATUS_FATAL: u64 = 2;

/// Appends the delimited header of a SUCCESS answer.
fn put_success_header(out: &mut Vec<u8>, ids: &ResponseIds<'_>) {
    // callId is a uint32 here, so a negative id takes five bytes, not ten.
    let call_id = u64::from(ids.call_id as u32);
    put_varint(out, (uint_len(1, call_id) + 4 + ids.tail_len()) as u64);
    put_uint(out, 1, call_id);
    out.extend_from_slice(&[0x10, STATUS_SUCCESS as u8, 0x18, RPC_VERSION]);
    ids.put_tail(out);
}

/// Appends a whole SUCCESS answer that carries `message`.
pub fn put_success(out: &mut Vec<u8>, ids: &ResponseIds<'_>, message: &impl Message) {
    let start = begin_frame(out);
    put_success_header(out, ids);
    let len = message.encoded_len();
    out.reserve(len + varint_len(len as u64));
    put_varint(out, len as u64);
    message.encode_raw(out);
    end_frame(out, start);
}

/// Appends a whole SUCCESS answer whose message `encode` appends to the buffer.
pub fn put_success_encoded<R>(out: &mut Vec<u8>, ids: &ResponseIds<'_>, encode: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let start = begin_frame(out);
    put_success_header(out, ids);
    let result = put_delimited(out, encode);
    end_frame(out, start);
    result
}

/// Appends a varint-delimited message whose length is known only after `encode` has appended it.
pub fn put_delimited<R>(out: &mut Vec<u8>, encode: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let at = out.len();
    out.push(0);
    let result = encode(out);
    let len = out.len() - at - 1;
    let prefix = varint_len(len as u64);
    if prefix > 1 {
        out.resize(out.len() + prefix - 1, 0);
        out.copy_within(at + 1..at + 1 + len, at + prefix);
    }
    let mut rest = len as u64;
    for byte in &mut out[at..at + prefix] {
        *byte = if rest >= 0x80 { rest as u8 | 0x80 } else { rest as u8 };
        rest >>= 7;
    }
    result
}

/// What follows the message of an ERROR answer, as Java's stack trace does: clients split the text there.
const STACK: &str = "\n\tat surus.ipc.Server(Surus)\n";

/// Appends a whole ERROR answer; the connection stays open.
pub fn put_error(out: &mut Vec<u8>, ids: &ResponseIds<'_>, error: &HdfsError) {
    put_failure(out, ids, STATUS_ERROR, error_code(error.class), error.class.java_name(), &error.message, STACK);
}

/// Appends a whole FATAL answer; the connection is to be closed after it.
pub fn put_fatal(out: &mut Vec<u8>, ids: &ResponseIds<'_>, code: ErrorCode, class: &str, message: &str) {
    put_failure(out, ids, STATUS_FATAL, code, class, message, "");
}

fn put_failure(
    out: &mut Vec<u8>,
    ids: &ResponseIds<'_>,
    status: u64,
    code: ErrorCode,
    class: &str,
    message: &str,
    stack: &str,
) {
    let start = begin_frame(out);
    put_delimited(out, |out| {
        put_uint(out, 1, u64::from(ids.call_id as u32));
        put_uint(out, 2, status);
        put_uint(out, 3, u64::from(RPC_VERSION));
        put_bytes(out, 4, class.as_bytes());
        out.push(5 << 3 | 2);
        put_varint(out, (message.len() + stack.len()) as u64);
        out.extend_from_slice(message.as_bytes());
        out.extend_from_slice(stack.as_bytes());
        put_uint(out, 6, code as u64);
        ids.put_tail(out);
    });
    end_frame(out, start);
}

/// Leaves room for a frame's length; `end_frame` fills it in.
pub fn begin_frame(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Fills in the length of the frame that began at `start`.
pub fn end_frame(out: &mut [u8], start: usize) {
    let len = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&len.to_be_bytes());
}
