//! One TCP port served on tokio: accepts within a limit, one task per connection, all of them ended with the listener.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Rest after a failed accept: usually file descriptors ran out, and only time helps.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A port being served. It stops when it is dropped.
pub(crate) struct Listener {
    local: SocketAddr,
    stop: watch::Sender<bool>,
}

impl Listener {
    /// Binds `addr` with room for `backlog` connections not accepted yet, and runs `serve` on `runtime` for each of up to
    /// `connections_max`; one more is closed at once, as Hadoop does. Port 0 takes a free one: see `local_addr`.
    ///
    /// # Errors
    /// The address cannot be resolved or bound.
    pub fn bind<F>(
        addr: impl ToSocketAddrs,
        backlog: i32,
        connections_max: usize,
        runtime: &Handle,
        mut serve: impl FnMut(TcpStream, SocketAddr) -> F + Send + 'static,
    ) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = crate::stream::listen(addr, backlog)?;
        listener.set_nonblocking(true)?;
        let local = listener.local_addr()?;
        let (stop, mut stopped) = watch::channel(false);
        let listener = {
            let _context = runtime.enter();
            TcpListener::from_std(listener)?
        };
        runtime.spawn(async move {
            // Dropped at the end, it ends every connection.
            let mut connections = JoinSet::new();
            loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    Some(_) = connections.join_next() => continue,
                    _ = stopped.wait_for(|stop| *stop) => return,
                };
                match accepted {
                    Ok((stream, peer)) if connections.len() < connections_max => {
                        let _ = stream.set_nodelay(true);
                        connections.spawn(serve(stream, peer));
                    }
                    Ok(_) => {}
                    Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                }
            }
        });
        Ok(Listener { local, stop })
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

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop();
    }
}
