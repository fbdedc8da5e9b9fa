//! HTTP/1.1 serving: hyper with limits, streaming bodies both ways.

mod body;
mod server;

pub use body::{BodyReader, BodySender, HttpBody};
pub use hyper::body::{Bytes, Incoming};
pub use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri, header};
pub use server::{HttpFuture, HttpLimits, HttpServer, HttpService};
