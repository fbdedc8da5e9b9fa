//! Start and stop of a NameNode.

use crate::callers::Callers;
use crate::clock::Clock;
use crate::commit::release;
use crate::config::{NameNodeConfig, block_config, namespace_config};
use crate::core::Core;
use crate::error::StartError;
use crate::groups::Groups;
use crate::held::Held;
use crate::journal::NoJournal;
use crate::parked::Parked;
use crate::proxy_users::ProxyUsers;
use crate::retry_cache::RetryCache;
use crate::service::Service;
use crate::ticks;
use crate::to_proto::FileSystemId;
use parking_lot::{Mutex, RwLock};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use surus_conf::{Addr, Configuration};
use surus_namespace::Namespace;
use surus_net::rpc::{RpcLimits, RpcServer};
use surus_types::TxId;
use tokio::runtime::{Builder, Runtime};

/// How a NameNode is started.
#[derive(Clone, Debug, Default)]
pub struct NameNodeOptions {
    /// The only DataNode runs in this process: start-up safe mode ends as soon as it has reported.
    pub own_datanode: bool,
    /// The user that runs the NameNode, who is its superuser.
    pub user: String,
}

/// A running NameNode. It stops when it is dropped.
pub struct NameNode {
    core: Arc<Core>,
    rpc: RpcServer,
    runtime: Option<Runtime>,
}

/// How long `stop` waits for what runs.
const STOP_MAX: Duration = Duration::from_secs(2);

impl NameNode {
    /// Loads the name directories and serves them.
    ///
    /// # Errors
    /// A value that is not allowed, name directories that cannot be loaded, an address that cannot be bound.
    pub fn start(conf: &Configuration, options: NameNodeOptions) -> Result<Self, StartError> {
        let config = NameNodeConfig::new(conf)?;
        let mut namespace = Namespace::new(namespace_config(conf, &options.user)?);
        let host_name = host_name(&config.rpc_address.host);
        namespace.blocks.config = block_config(conf, options.own_datanode, "BP-1-127.0.0.1-1", &host_name)?;
        namespace.blocks.enter_startup_safe_mode();
        namespace.blocks.activate();
        let runtime = Builder::new_multi_thread()
            .thread_name("namenode")
            .enable_all()
            .build()
            .map_err(|error| StartError::Io { doing: "starting threads", error })?;
        let core = new_core(conf, config, namespace, &options.user, &runtime);
        let service = Arc::new(Service(Arc::clone(&core)));
        let bind = &core.config.rpc_bind;
        let rpc = RpcServer::bind(pair(bind), service, RpcLimits::default(), runtime.handle())
            .map_err(|error| StartError::Bind { key: "dfs.namenode.rpc-address", address: bind.to_string(), error })?;
        runtime.spawn(ticks::run(Arc::downgrade(&core)));
        Ok(NameNode { core, rpc, runtime: Some(runtime) })
    }

    /// The address of the RPC server.
    pub fn rpc_address(&self) -> SocketAddr {
        self.rpc.local_addr()
    }

    /// Stops serving, writes out what was logged, and releases the name directories.
    pub fn stop(mut self) {
        self.shut_down();
    }

    fn shut_down(&mut self) {
        self.rpc.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(STOP_MAX);
        }
    }
}

impl Drop for NameNode {
    fn drop(&mut self) {
        self.shut_down();
    }
}

fn pair(address: &Addr) -> (&str, u16) {
    (address.host.as_str(), address.port)
}

fn new_core(
    conf: &Configuration,
    config: NameNodeConfig,
    namespace: Namespace,
    user: &str,
    runtime: &Runtime,
) -> Arc<Core> {
    let clock = Clock::start();
    let handle = runtime.handle().clone();
    let spawner = handle.clone();
    let spawn = Box::new(move |job: Box<dyn FnOnce() + Send>| drop(spawner.spawn_blocking(job)));
    let groups = Groups::new(config.groups, &config.group_overrides, spawn);
    let callers = Callers::new(groups, clock, user.into(), config.superusergroup.as_str().into());
    let proxies = ProxyUsers::new(conf.iter());
    let own_caller = callers.caller(user.into(), None, Arc::from([]), "127.0.0.1".into());
    Arc::new_cyclic(|me| Core {
        namespace: RwLock::new(namespace),
        journal: Box::new(NoJournal::default()),
        last_txid: AtomicU64::new(0),
        id: FileSystemId {
            layout_version: -67,
            namespace_id: 1,
            cluster_id: "CID-1".to_owned(),
            creation_time_ms: 0,
            block_pool_id: "BP-1-127.0.0.1-1".to_owned(),
        },
        held: Held::new(TxId(u64::MAX), release),
        checkpoint: Mutex::default(),
        read_proxies: Box::new(move || Ok(proxies.clone())),
        parked: Parked::default(),
        retry_cache: config.retry_cache.then(|| RetryCache::new(config.retry_cache_life_ms)),
        callers,
        proxies: RwLock::new(ProxyUsers::new(conf.iter())),
        clock,
        own_caller,
        host_name: host_name(&config.rpc_address.host),
        runtime: handle,
        me: me.clone(),
        config,
    })
}

/// A numeric loopback address by its name, as Java's reverse look-up shows it.
fn host_name(host: &str) -> String {
    match host.parse::<std::net::IpAddr>() {
        Ok(address) if address.is_loopback() => "localhost".to_owned(),
        _ => host.to_owned(),
    }
}
