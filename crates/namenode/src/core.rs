//! What every part of the NameNode shares.

use crate::call::OwnedCall;
use crate::callers::Callers;
use crate::checkpoint::Checkpoint;
use crate::clock::Clock;
use crate::commit::Waiting;
use crate::config::NameNodeConfig;
use crate::config_source::ConfigSource;
use crate::held::Held;
use crate::hosts::HostLists;
use crate::journal::Journal;
use crate::lock::NamespaceLock;
use crate::parked::Parked;
use crate::retry_cache::RetryCache;
use crate::rpc::reconfiguration::Reconfiguration;
use crate::startup::StartupProgress;
use crate::to_proto::FileSystemId;
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use surus_conf::{Addr, Configuration};
use surus_keys::KeyProvider;
use surus_net::http::LocalData;
use surus_net::proxy_users::{self, ProxyUsers};
use surus_net::rpc::RpcCounters;
use surus_net::service_acls::ServiceAcls;
use surus_types::{Caller, ExceptionClass, HdfsError, TxId};

/// The shared state of one NameNode.
pub struct Core {
    pub config: NameNodeConfig,
    pub namespace: NamespaceLock,
    pub journal: Box<dyn Journal>,
    /// The last transaction logged; moves under the namespace's write lock.
    pub last_txid: AtomicU64,
    pub id: FileSystemId,
    pub checkpoint: Mutex<Checkpoint>,
    /// Bytes of pages that the last checkpoint held twice, since requests changed them meanwhile.
    pub checkpoint_copied_bytes: AtomicU64,
    /// Held while an image is written.
    pub checkpointing: Mutex<()>,
    /// The image that is being received.
    pub receiving: Mutex<Option<TxId>>,
    /// Where the configuration is read anew.
    pub config_source: ConfigSource,
    /// The configuration in force: what was read at start, and what was reconfigured since.
    pub configuration: Mutex<Configuration>,
    pub reconfiguration: Mutex<Reconfiguration>,
    pub held: Arc<Held<Waiting>>,
    pub parked: Parked<OwnedCall>,
    /// Absent: `dfs.namenode.enable.retrycache` is false.
    pub retry_cache: Option<RetryCache<OwnedCall>>,
    pub callers: Callers,
    pub proxies: RwLock<ProxyUsers>,
    /// Who may be a DataNode here, and who is to leave.
    pub hosts: RwLock<HostLists>,
    pub service_acls: RwLock<ServiceAcls>,
    /// Where the keys of encryption zones are; absent: there are none, and no zones are made.
    pub keys: Option<Arc<dyn KeyProvider>>,
    pub clock: Clock,
    /// The NameNode itself as a caller.
    pub own_caller: Caller,
    /// As SafeModeException and `NameNodeStatus` show it.
    pub host_name: String,
    /// Set once the RPC server runs.
    pub rpc_counters: OnceLock<Arc<RpcCounters>>,
    /// The only DataNode runs in this process.
    pub own_datanode: bool,
    /// A DataNode in this process, through which HTTP requests read and write without a redirect.
    pub local_data: RwLock<Option<Arc<dyn LocalData>>>,
    /// The RPC port that is served.
    pub rpc_port: AtomicU16,
    /// Keys and values of the site files, for `/conf`.
    pub settings: Vec<(String, String)>,
    /// How long the start took, milliseconds.
    pub start_ms: u64,
    pub startup: Arc<StartupProgress>,
    pub runtime: tokio::runtime::Handle,
    pub me: Weak<Core>,
}

impl Core {
    /// The last transaction logged, durable or not.
    pub fn last_txid(&self) -> TxId {
        TxId(self.last_txid.load(Ordering::Relaxed))
    }

    /// `HOST:PORT` of the RPC server, as `/jmx` names it.
    pub fn rpc_name(&self) -> String {
        format!("{}:{}", self.host_name, self.rpc_port.load(Ordering::Relaxed))
    }

    /// The same by the host as the configuration writes it: where redirects send DataNodes back to.
    pub fn client_address(&self) -> String {
        let port = self.rpc_port.load(Ordering::Relaxed);
        Addr { host: self.config.rpc_address.host.clone(), port }.to_string()
    }

    /// # Errors
    /// The configuration can no longer be read.
    pub fn reload_proxy_users(&self) -> Result<(), HdfsError> {
        *self.proxies.write() = ProxyUsers::new(proxy_users::HADOOP, self.config_source.read()?.iter());
        Ok(())
    }

    /// # Errors
    /// AuthorizationException: service-level authorization is off; the configuration can no longer be read.
    pub fn reload_service_acls(&self) -> Result<(), HdfsError> {
        if !self.service_acls.read().is_on() {
            return Err(HdfsError::new(ExceptionClass::Authorization, "Service Level Authorization not enabled!"));
        }
        *self.service_acls.write() = ServiceAcls::new(&self.config_source.read()?, crate::rpc::SERVICE_ACL_KEYS);
        Ok(())
    }

    /// Ends the process: its state can no longer be trusted, or its log no longer be written. Nothing that is not durable
    /// has been acknowledged.
    pub fn fatal(&self, why: &str) -> ! {
        tracing::error!("the NameNode stops: {why}");
        eprintln!("the NameNode stops: {why}");
        std::process::exit(1)
    }
}
