//! Starting and stopping a DataNode.

use crate::config::DataNodeConfig;
use crate::namenode::{Actor, Nameservice, Reports};
use crate::node::Node;
use crate::store::BlockStore;
use crate::workers::Workers;
use crate::xfer::XferServer;
use parking_lot::{Mutex, RwLock};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use surus_conf::{Addr, ConfError, Configuration};
use surus_disk::{Disk, RealDisk};
use surus_net::http::{HttpLimits, HttpServer, LocalData};
use surus_net::rpc::RpcServer;
use surus_types::DatanodeId;
use tokio::runtime::{Builder, Runtime};

/// Threads of the IPC and HTTP servers; block data has threads of its own.
const SERVER_THREADS: usize = 2;

/// Why a DataNode does not start.
#[derive(Debug)]
pub enum DataNodeError {
    Conf(ConfError),
    /// The data directories cannot be used.
    Store(io::Error),
    /// An address cannot be taken.
    Address {
        key: &'static str,
        address: Addr,
        source: io::Error,
    },
    Thread(io::Error),
}

impl fmt::Display for DataNodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataNodeError::Conf(e) => e.fmt(f),
            DataNodeError::Store(e) => e.fmt(f),
            DataNodeError::Address { key, address, source } => {
                write!(f, "cannot listen on {address} ({key}): {source}")
            }
            DataNodeError::Thread(e) => write!(f, "cannot start a thread: {e}"),
        }
    }
}

impl std::error::Error for DataNodeError {}

impl From<ConfError> for DataNodeError {
    fn from(e: ConfError) -> Self {
        DataNodeError::Conf(e)
    }
}

/// Threads for calls that block, besides those of transfers over HTTP.
const BLOCKING_THREADS_BESIDES: usize = 64;

/// A running DataNode. Stops when dropped.
pub struct DataNode {
    node: Arc<Node>,
    xfer: XferServer,
    ipc: RpcServer,
    http: HttpServer,
    web: Arc<crate::http::Http>,
    actors: Vec<Arc<Actor>>,
    end: Mutex<mpsc::Receiver<String>>,
    runtime: Mutex<Option<Runtime>>,
}

impl DataNode {
    /// Locks the data directories, takes the addresses, and begins to look for its NameNodes. Returns at once: registration
    /// and reports happen behind.
    ///
    /// # Errors
    /// A bad value in the configuration, no usable data directory, an address that is taken.
    pub fn start(conf: &Configuration) -> Result<DataNode, DataNodeError> {
        let config = DataNodeConfig::from_configuration(conf)?;
        Self::start_on(Arc::new(RealDisk), config)
    }

    /// As `start`, after taking the data directories back to the state before their last upgrade, where there was one.
    ///
    /// # Errors
    /// As `start`.
    pub fn roll_back(conf: &Configuration) -> Result<DataNode, DataNodeError> {
        let mut config = DataNodeConfig::from_configuration(conf)?;
        config.store.roll_back = true;
        Self::start_on(Arc::new(RealDisk), config)
    }

    /// As `start`, on any disk and with the configuration read already.
    ///
    /// # Errors
    /// As `start`.
    pub fn start_on(disk: Arc<dyn Disk>, config: DataNodeConfig) -> Result<DataNode, DataNodeError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(SERVER_THREADS)
            .thread_name("datanode")
            // A transfer over HTTP holds one for as long as its client takes.
            .max_blocking_threads(config.max_transfer_threads + BLOCKING_THREADS_BESIDES)
            .enable_all()
            .build()
            .map_err(DataNodeError::Thread)?;
        let taken = |key, address: &Addr, source| DataNodeError::Address { key, address: address.clone(), source };
        let store = BlockStore::open(disk, config.store.clone()).map_err(DataNodeError::Store)?;
        let xfer = XferServer::bind(&config.xfer_address.host, config.xfer_address.port)
            .map_err(|e| taken("dfs.datanode.address", &config.xfer_address, e))?;
        let xfer_port = xfer.local_addr().map_err(DataNodeError::Thread)?.port();
        let (end_sender, end) = mpsc::channel();
        let end_sender = Mutex::new(end_sender);
        let id = DatanodeId {
            host_name: config.host_name.clone(),
            uuid: store.datanode_uuid().to_owned(),
            xfer_port,
            ..Default::default()
        };
        let node = Arc::new(Node {
            store,
            reports: Reports::default(),
            workers: Workers::default(),
            id: RwLock::new(id),
            xceivers: AtomicU32::new(0),
            xmits: AtomicU32::new(0),
            balance_bandwidth: AtomicU64::new(config.balance_bandwidth),
            started: Instant::now(),
            stopping: AtomicBool::new(false),
            restarting: AtomicBool::new(false),
            writers: Default::default(),
            on_fatal: Box::new(move |text| {
                let _ = end_sender.lock().send(text.to_owned());
            }),
            config,
        });
        let ipc_address = node.config.ipc_address.clone();
        let ipc = RpcServer::bind(
            (ipc_address.host.as_str(), ipc_address.port),
            crate::ipc::service(&node, runtime.handle()),
            node.config.ipc_limits.clone(),
            runtime.handle(),
        )
        .map_err(|e| taken("dfs.datanode.ipc.address", &ipc_address, e))?;
        node.id.write().ipc_port = ipc.local_addr().port();
        let http_address = node.config.http_address.clone();
        let web = crate::http::service(&node, runtime.handle());
        let http = HttpServer::bind(
            (http_address.host.as_str(), http_address.port),
            Arc::clone(&web) as _,
            HttpLimits::default(),
            runtime.handle(),
        )
        .map_err(|e| taken("dfs.datanode.http.address", &http_address, e))?;
        node.id.write().info_port = http.local_addr().port();
        let xfer = XferServer::start(xfer, node.clone()).map_err(DataNodeError::Thread)?;
        node.workers.start(&node).map_err(DataNodeError::Thread)?;
        let actors = start_actors(&node).map_err(DataNodeError::Thread)?;
        Ok(DataNode { node, xfer, ipc, http, web, actors, end: Mutex::new(end), runtime: Mutex::new(Some(runtime)) })
    }

    /// Where blocks are read and written.
    pub fn xfer_address(&self) -> SocketAddr {
        self.xfer.address()
    }

    /// Where ClientDatanodeProtocol and InterDatanodeProtocol are served.
    pub fn ipc_address(&self) -> SocketAddr {
        self.ipc.local_addr()
    }

    /// Where WebHDFS's data side and the status page are served.
    pub fn http_address(&self) -> SocketAddr {
        self.http.local_addr()
    }

    /// For a NameNode in the same process.
    pub fn local_data(&self) -> Arc<dyn LocalData> {
        Arc::clone(&self.web) as _
    }

    pub fn datanode_uuid(&self) -> &str {
        self.node.store.datanode_uuid()
    }

    /// Waits until the DataNode cannot go on (wrong cluster, too many failed volumes, told to shut down) and says why. Waits
    /// for ever where it can.
    pub fn wait_end(&self) -> String {
        self.end.lock().recv().unwrap_or_else(|_| "stopped".to_owned())
    }

    /// Ends all connections and threads. Open replicas stay as they are.
    pub fn stop(&self) {
        if self.node.stopping.swap(true, Ordering::SeqCst) {
            return;
        }
        for actor in &self.actors {
            actor.stop();
        }
        self.xfer.stop();
        self.ipc.stop();
        self.http.stop();
        self.node.workers.stop();
        self.node.store.unlock();
        if let Some(runtime) = self.runtime.lock().take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for DataNode {
    fn drop(&mut self) {
        self.stop();
    }
}

fn start_actors(node: &Arc<Node>) -> io::Result<Vec<Arc<Actor>>> {
    let user = surus_client::login_name();
    let mut services = Vec::new();
    for service in &node.config.nameservices {
        let actors: Vec<_> = service
            .namenodes
            .iter()
            .enumerate()
            .map(|(i, address)| Actor::new(i, &address.to_string(), &user))
            .collect();
        let service = Arc::new(Nameservice { pool_id: OnceLock::new(), actors, active: Mutex::new(None) });
        node.reports.add(service.clone());
        services.push(service);
    }
    // All are known before the first can fail.
    let mut all = Vec::new();
    for service in services {
        for actor in &service.actors {
            actor.start(node, &service)?;
            all.push(actor.clone());
        }
    }
    Ok(all)
}
