//! The only door to sockets: the RPC server and client, the HTTP server, the data-transfer streams, and what both
//! kinds of servers ask of a caller: groups, and the lists of who may use what.
//! Protocol knowledge lives in `wire`; here are tasks, buffers, timeouts and limits.
#![deny(unsafe_code)]

pub mod data;
pub mod groups;
pub mod hosts;
pub mod http;
mod listener;
pub mod proxy_users;
pub mod rpc;
pub mod service_acls;
pub mod stream;
