//! Hadoop RPC version 9: headers, error answers, and the two ends' state machines. Bytes in, bytes out.

pub mod client;
pub mod errors;
pub mod header;
pub mod session;

/// The version both ends must speak. Source: `RpcConstants.java`, Hadoop 3.5.0.
pub const RPC_VERSION: u8 = 9;

/// Default of `ipc.maximum.data.length`: the longest frame a server accepts, in bytes.
pub const DATA_LENGTH_MAX: u32 = 128 << 20;

/// Default of `ipc.maximum.response.length`: the longest answer a client accepts, in bytes.
pub const RESPONSE_LENGTH_MAX: u32 = 128 << 20;

/// Call ids that stand for something else than a call. Source: `RpcConstants.java`, `Server.java`, Hadoop 3.5.0.
pub mod call_ids {
    /// Answer to a connection that could not be authorized, or whose first bytes are no preamble.
    pub const AUTHORIZATION_FAILED: i32 = -1;
    pub const INVALID: i32 = -2;
    pub const CONNECTION_CONTEXT: i32 = -3;
    pub const PING: i32 = -4;
    pub const SASL: i32 = -33;
}

/// `RpcErrorCodeProto`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ErrorCode {
    Application = 1,
    NoSuchMethod = 2,
    NoSuchProtocol = 3,
    RpcServer = 4,
    SerializingResponse = 5,
    RpcVersionMismatch = 6,
    FatalUnknown = 10,
    FatalUnsupportedSerialization = 11,
    FatalInvalidRpcHeader = 12,
    FatalDeserializingRequest = 13,
    FatalVersionMismatch = 14,
    FatalUnauthorized = 15,
}
