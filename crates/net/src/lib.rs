//! The only door to sockets: the RPC server and client, the HTTP server, the data-transfer streams, and whose groups a caller has.
//! Protocol knowledge lives in `wire`; here are tasks, buffers, timeouts and limits.
#![deny(unsafe_code)]

pub mod data;
pub mod groups;
pub mod http;
mod listener;
pub mod rpc;
pub mod stream;
