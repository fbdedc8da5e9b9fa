//! HttpFS: the gateway that serves WebHDFS's REST interface of any HDFS without redirects to DataNodes. It speaks to the
//! cluster as a client does, as its own user in the name of each caller. Source: `hadoop-hdfs-httpfs`, Hadoop 3.4.2.
#![forbid(unsafe_code)]

mod caller;
mod clients;
mod config;
mod data;
mod failure;
mod file_system;
mod gateway;
mod response;
mod views;

use config::HttpFsConfig;
use gateway::Gateway;
use parking_lot::Mutex;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use surus_client::ClientError;
use surus_conf::{Addr, ConfError, Configuration};
use surus_net::http::{HttpLimits, HttpServer};
use tokio::runtime::{Builder, Runtime};

/// Threads for sockets; what blocks runs on threads of its own.
const SERVER_THREADS: usize = 2;
/// Requests in work at a time. Source: `hadoop.http.max.threads` in `httpfs-default.xml`, Hadoop 3.4.2.
const REQUESTS_MAX: usize = 1000;

/// Why a gateway does not start.
#[derive(Debug)]
pub enum HttpFsError {
    Conf(ConfError),
    /// No file system to speak to.
    Client(ClientError),
    /// A wish for protection that Surus has not.
    Protection {
        key: &'static str,
        value: String,
    },
    /// The address cannot be taken.
    Address {
        address: Addr,
        source: io::Error,
    },
    Thread(io::Error),
}

impl fmt::Display for HttpFsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpFsError::Conf(e) => e.fmt(f),
            HttpFsError::Client(e) => e.fmt(f),
            HttpFsError::Protection { key, value } => {
                write!(f, "{key} = {value}: Surus has this protection not yet, and does not start without it")
            }
            HttpFsError::Address { address, source } => {
                write!(f, "cannot listen on {address} (httpfs.http.hostname, httpfs.http.port): {source}")
            }
            HttpFsError::Thread(e) => write!(f, "cannot start a thread: {e}"),
        }
    }
}

impl std::error::Error for HttpFsError {}

impl From<ConfError> for HttpFsError {
    fn from(e: ConfError) -> Self {
        HttpFsError::Conf(e)
    }
}

impl From<ClientError> for HttpFsError {
    fn from(e: ClientError) -> Self {
        HttpFsError::Client(e)
    }
}

/// A running gateway. Stops when dropped.
pub struct HttpFs {
    http: HttpServer,
    runtime: Mutex<Option<Runtime>>,
}

impl HttpFs {
    /// Serves the file system of `fs.defaultFS`. Nothing is sent there before a request asks for it.
    ///
    /// # Errors
    /// Values that are not allowed, an address that is taken.
    pub fn start(conf: &Configuration) -> Result<HttpFs, HttpFsError> {
        let config = HttpFsConfig::from_configuration(conf)?;
        let address = config.address.clone();
        let runtime = Builder::new_multi_thread()
            .worker_threads(SERVER_THREADS)
            .thread_name("httpfs")
            .max_blocking_threads(REQUESTS_MAX)
            .enable_all()
            .build()
            .map_err(HttpFsError::Thread)?;
        let gateway = Arc::new(Gateway::new(config, conf, runtime.handle()));
        let limits = HttpLimits::default();
        let http = HttpServer::bind((address.host.as_str(), address.port), gateway, limits, runtime.handle())
            .map_err(|source| HttpFsError::Address { address, source })?;
        Ok(HttpFs { http, runtime: Mutex::new(Some(runtime)) })
    }

    /// The address that is served.
    pub fn http_address(&self) -> SocketAddr {
        self.http.local_addr()
    }

    /// Closes the listener and every connection.
    pub fn stop(&self) {
        self.http.stop();
        if let Some(runtime) = self.runtime.lock().take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for HttpFs {
    fn drop(&mut self) {
        self.stop();
    }
}
