//! Hadoop's wire protocols without a socket: RPC framing and sessions, data-transfer operations, packets,
//! acknowledgements and checksums, and the conversions between protobuf messages and `types`.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod datatransfer;
pub mod encode;
pub mod from_proto;
pub mod required;
pub mod rpc;
pub mod to_proto;
pub mod varint;
