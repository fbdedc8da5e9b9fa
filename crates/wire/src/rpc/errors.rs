//! The errors every RPC service answers in the same words, and the code that goes with an exception class.

use super::ErrorCode;
use alloc::format;
use surus_types::{ExceptionClass, HdfsError};

/// A protocol this server does not serve. Source: `RPC.getProtocolImpl`, Hadoop 3.5.0.
pub fn no_such_protocol(protocol: &str) -> HdfsError {
    HdfsError::new(ExceptionClass::NoSuchProtocol, format!("Unknown protocol: {protocol}"))
}

/// A method the protocol does not have. Clients look for this class to find out what a server can do.
pub fn no_such_method(method: &str, protocol: &str) -> HdfsError {
    HdfsError::new(ExceptionClass::NoSuchMethod, format!("Unknown method {method} called on {protocol} protocol."))
}

/// A protocol version other than 1, the only one that any Hadoop protocol has.
pub fn version_mismatch(protocol: &str, client_version: u64) -> HdfsError {
    HdfsError::new(
        ExceptionClass::RpcVersionMismatch,
        format!("Protocol {protocol} version mismatch. (client = {client_version}, server = 1)"),
    )
}

/// Request bytes that are no message.
pub fn invalid_protocol_buffer(text: &str) -> HdfsError {
    HdfsError::new(ExceptionClass::InvalidProtocolBuffer, text)
}

/// `errorDetail` of an ERROR answer. Source: `ProtobufRpcEngine2.java` and `Server.java`, Hadoop 3.5.0.
pub fn error_code(class: ExceptionClass) -> ErrorCode {
    match class {
        ExceptionClass::NoSuchMethod => ErrorCode::NoSuchMethod,
        ExceptionClass::NoSuchProtocol => ErrorCode::NoSuchProtocol,
        ExceptionClass::RpcServer => ErrorCode::RpcServer,
        ExceptionClass::RpcVersionMismatch => ErrorCode::RpcVersionMismatch,
        _ => ErrorCode::Application,
    }
}
