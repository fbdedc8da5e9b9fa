//! The HTTP listener: accepts within limits, one task per connection, keep-alive, header timeout.

use super::body::HttpBody;
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
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

const LISTEN_BACKLOG: i32 = 1024;
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

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
    local: SocketAddr,
    stop: watch::Sender<bool>,
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
        let listener = crate::stream::listen(addr, LISTEN_BACKLOG)?;
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        let (stop, stopped) = watch::channel(false);
        let listener = {
            let _context = runtime.enter();
            TcpListener::from_std(listener)?
        };
        runtime.spawn(accept(listener, service, limits, stopped));
        Ok(HttpServer { local, stop })
    }

    /// The address that is served.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Closes the listener and every connection.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn accept(
    listener: TcpListener,
    service: Arc<dyn HttpService>,
    limits: HttpLimits,
    mut stopped: watch::Receiver<bool>,
) {
    // Dropped at the end, it ends every connection.
    let mut connections = JoinSet::new();
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(limits.header_bytes_max.max(8192))
        .pipeline_flush(true);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        if connections.len() >= limits.connections_max {
            continue;
        }
        let _ = stream.set_nodelay(true);
        let service = service.clone();
        let handler = service_fn(move |request| {
            let answer = service.clone().call(request, peer);
            async move { Ok::<_, Infallible>(answer.await) }
        });
        let connection = builder.serve_connection(TokioIo::new(stream), handler);
        // Its errors are those of the peer; there is nobody left to tell.
        connections.spawn(async move { drop(connection.await) });
    }
}
