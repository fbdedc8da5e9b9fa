//! HTTP/1.1 serving: hyper with limits, streaming bodies both ways; and a plain GET.

mod body;
mod get;
mod local_data;
mod server;

pub use body::{BodyReader, BodySender, HttpBody, PIECE_BYTES, drain};
pub use get::{HttpAnswer, exchange, get};
pub use hyper::body::{Bytes, Incoming};
pub use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri, header};
pub use local_data::{FileRange, LocalData, RangeFuture};
pub use server::{HttpFuture, HttpLimits, HttpServer, HttpService};
