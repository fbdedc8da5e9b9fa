//! The HTTP listener: accepts within limits, one task per connection, keep-alive, header timeout.

use super::body::HttpBody;
use crate::listener::Listener;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

const LISTEN_BACKLOG: i32 = 1024;

/// An answer under way.
pub type HttpFuture = Pin<Box<dyn Future<Output = Response<HttpBody>> + Send>>;

/// What serves the requests of an HTTP server.
pub trait HttpService: Send + Sync + 'static {
    /// Serves one request; errors are answers too.
    fn call(self: Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> HttpFuture;
}

/// What a connection may cost.
#[derive(Clone, Debug)]
pub struct HttpLimits {
    pub connections_max: usize,
    /// Time for the head of a request, which is also how long an unused connection stays open.
    pub header_timeout: Duration,
    /// Longest head in bytes (`hadoop.http.max.request.header.size`, 65536).
    pub header_bytes_max: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        HttpLimits { connections_max: 16_384, header_timeout: Duration::from_secs(60), header_bytes_max: 64 << 10 }
    }
}

/// An HTTP server. It stops when it is dropped.
pub struct HttpServer {
    listener: Listener,
}

impl HttpServer {
    /// Binds `addr` and serves it on `runtime`. Port 0 takes a free one: see `local_addr`.
    ///
    /// # Errors
    /// The address cannot be resolved or bound.
    pub fn bind(
        addr: impl ToSocketAddrs,
        service: Arc<dyn HttpService>,
        limits: HttpLimits,
        runtime: &Handle,
    ) -> io::Result<Self> {
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_timeout)
            .max_buf_size(limits.header_bytes_max.max(8192))
            .pipeline_flush(true);
        let serve = move |stream, peer| {
            let service = service.clone();
            let handler = service_fn(move |request| {
                let answer = service.clone().call(request, peer);
                async move { Ok::<_, Infallible>(answer.await) }
            });
            let connection = builder.serve_connection(TokioIo::new(stream), handler);
            // Its errors are those of the peer; there is nobody left to tell.
            async move { drop(connection.await) }
        };
        let listener = Listener::bind(addr, LISTEN_BACKLOG, limits.connections_max, runtime, serve)?;
        Ok(HttpServer { listener })
    }

    /// The address that is served.
    pub fn local_addr(&self) -> SocketAddr {
        self.listener.local_addr()
    }

    /// Closes the listener and every connection.
    pub fn stop(&self) {
        self.listener.stop();
    }
}
