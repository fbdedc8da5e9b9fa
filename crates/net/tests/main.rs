//! Tests of `net` over real loopback sockets.

mod data;
mod http;
mod rpc;
mod rpc_limits;
