//! Start and stop of a NameNode.

use crate::call::OwnedCall;
use crate::callers::Callers;
use crate::checkpoint::Checkpoint;
use crate::clock::Clock;
use crate::commit::{Waiting, release};
use crate::config::NameNodeConfig;
use crate::config_source::ConfigSource;
use crate::core::Core;
use crate::error::StartError;
use crate::held::Held;
use crate::hosts::HostLists;
use crate::http::HttpDoor;
use crate::journal::{Journal, LocalJournal};
use crate::lock::NamespaceLock;
use crate::parked::Parked;
use crate::retry_cache::RetryCache;
use crate::service::Service;
use crate::startup::StartupProgress;
use crate::storage::{self, Found, StartOption};
use crate::ticks;
use crate::to_proto::FileSystemId;
use parking_lot::{Mutex, RwLock};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use surus_conf::{Addr, Configuration, keys};
use surus_disk::{Disk, RealDisk};
use surus_keys::KeyProvider;
use surus_namespace::Namespace;
use surus_net::groups::Groups;
use surus_net::http::{HttpLimits, HttpServer, LocalData};
use surus_net::proxy_users::{self, ProxyUsers};
use surus_net::rpc::{RpcLimits, RpcServer, RpcService};
use surus_net::service_acls::ServiceAcls;
use tokio::runtime::{Builder, Runtime};

/// How a NameNode is started.
#[derive(Clone, Debug, Default)]
pub struct NameNodeOptions {
    /// The only DataNode runs in this process: start-up safe mode ends as soon as it has reported.
    pub own_datanode: bool,
    /// The user that runs the NameNode, who is its superuser.
    pub user: String,
    pub start: StartOption,
    /// Reads the configuration anew when told to refresh or reconfigure; absent: it stays what it was at start.
    pub config_source: Option<ConfigSource>,
}

/// A running NameNode. It stops when it is dropped.
pub struct NameNode {
    core: Arc<Core>,
    rpc: RpcServer,
    /// `dfs.namenode.servicerpc-address`: the same protocols on a port for DataNodes.
    service_rpc: Option<RpcServer>,
    http: HttpServer,
    runtimes: Vec<Runtime>,
}

/// More edits than this are worth an image at start, so that the next start is faster.
const START_CHECKPOINT_EDITS: u64 = 10_000;
/// Bounds of `surus.link.secret.file`.
const LINK_SECRET_BYTES_MIN: usize = 16;
const LINK_SECRET_BYTES_MAX: u64 = 4096;
/// How long `stop` waits for what runs.
const STOP_MAX: Duration = Duration::from_secs(2);

impl NameNode {
    /// Loads the name directories and serves them.
    ///
    /// # Errors
    /// A value that is not allowed, name directories that cannot be loaded, an address that cannot be bound.
    pub fn start(conf: &Configuration, options: NameNodeOptions) -> Result<Self, StartError> {
        Self::start_on(Arc::new(RealDisk), conf, options)
    }

    /// As `start`, with the name directories on any disk.
    ///
    /// # Errors
    /// As `start`.
    pub fn start_on(disk: Arc<dyn Disk>, conf: &Configuration, options: NameNodeOptions) -> Result<Self, StartError> {
        let mut config = NameNodeConfig::new(conf)?;
        config.link_secret = link_secret(&*disk, conf)?;
        let clock = Clock::start();
        let host_name = host_name(&config.rpc_address.host);
        let retry_cache = config.retry_cache.then(|| RetryCache::new(config.retry_cache_life_ms));
        // Long listings and slow web clients must not keep RPC waiting.
        let web = threads("namenode-web", Some(1))?;
        let startup = Arc::new(StartupProgress::default());
        let door = Arc::new(HttpDoor { startup: Arc::clone(&startup), core: OnceLock::new() });
        let bind = config.http_bind.clone();
        let listen = || HttpServer::bind(pair(&bind), Arc::clone(&door) as _, HttpLimits::default(), web.handle());
        // Who looks at it while the name directories are loaded sees how far that is. What is wrong with them counts for
        // more than an address that is taken.
        let early = listen();
        let Found { storage, loaded, id } =
            storage::load(disk, conf, &options, &host_name, retry_cache.as_ref(), &startup)?;
        startup.loaded();
        let runtime = threads("namenode", None)?;
        let loaded_much =
            loaded.needs_checkpoint && (loaded.edits_replayed == 0 || loaded.edits_replayed > START_CHECKPOINT_EDITS);
        let held = Arc::new(Held::new(loaded.last_txid, release));
        let journal = LocalJournal::start(storage, loaded.last_txid, Arc::clone(&held))?;
        let parts = Parts {
            keys: key_provider(conf, &options.user)?,
            last_txid: AtomicU64::new(journal.last_txid().0),
            checkpoint: Checkpoint::saved(loaded.image_txid, loaded.image_time_ms, &clock),
            journal: Box::new(journal),
            namespace: loaded.namespace,
            held,
            retry_cache,
            id,
            clock,
            host_name,
            startup,
            config,
        };
        let core = new_core(conf, parts, &options, &runtime);
        // An empty file system has nothing to wait for, and is to serve its first request.
        core.tick_safe_mode();
        if let Err(error) = core.finish_rolling_upgrade() {
            tracing::error!("the rollback image of a rolling upgrade that is over stays: {error}");
        }
        let service: Arc<dyn RpcService> = Arc::new(Service(Arc::clone(&core)));
        let limits = RpcLimits::from_conf(conf)?;
        let serve = |key, bind: &Addr| {
            RpcServer::bind(pair(bind), Arc::clone(&service), limits.clone(), runtime.handle())
                .map_err(|error| StartError::Bind { key, address: bind.to_string(), error })
        };
        let rpc = serve("dfs.namenode.rpc-address", &core.config.rpc_bind)?;
        let _ = core.rpc_counters.set(Arc::clone(rpc.counters()));
        core.rpc_port.store(rpc.local_addr().port(), Ordering::Relaxed);
        let service_bind = core.config.service_rpc_bind.as_ref();
        let service_rpc = service_bind.map(|bind| serve("dfs.namenode.servicerpc-address", bind)).transpose()?;
        let _ = door.core.set(Arc::clone(&core));
        let http = early.or_else(|_| listen()).map_err(|error| StartError::Bind {
            key: "dfs.namenode.http-address",
            address: bind.to_string(),
            error,
        })?;
        core.resume_reencryption();
        runtime.spawn(ticks::run(Arc::downgrade(&core)));
        if loaded_much {
            let core = Arc::clone(&core);
            runtime.spawn_blocking(move || core.save_namespace().inspect_err(|e| tracing::error!("checkpoint: {e}")));
        }
        Ok(NameNode { core, rpc, service_rpc, http, runtimes: vec![web, runtime] })
    }

    /// The address of the RPC server.
    pub fn rpc_address(&self) -> SocketAddr {
        self.rpc.local_addr()
    }

    /// The address of the HTTP server.
    pub fn http_address(&self) -> SocketAddr {
        self.http.local_addr()
    }

    /// From now on HTTP requests for data that this DataNode, in the same process, has or takes need no redirect.
    pub fn serve_data_of(&self, datanode: Arc<dyn LocalData>) {
        *self.core.local_data.write() = Some(datanode);
    }

    /// Stops serving, writes out what was logged, and releases the name directories.
    pub fn stop(mut self) {
        self.shut_down();
    }

    fn shut_down(&mut self) {
        if self.runtimes.is_empty() {
            return;
        }
        self.rpc.stop();
        self.http.stop();
        if let Some(rpc) = &self.service_rpc {
            rpc.stop();
        }
        for runtime in self.runtimes.drain(..) {
            runtime.shutdown_timeout(STOP_MAX);
        }
        if let Err(error) = self.core.journal.close() {
            tracing::error!("closing the edit log: {error}");
        }
    }
}

impl Drop for NameNode {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// The keys of encryption zones, where a provider is configured.
fn key_provider(conf: &Configuration, user: &str) -> Result<Option<Arc<dyn KeyProvider>>, StartError> {
    surus_keys::from_configuration(conf, user).map_err(|error| {
        StartError::Storage(format!("{}: {}", keys::HADOOP_SECURITY_KEY_PROVIDER_PATH.name(), error.message))
    })
}

/// The bytes of `surus.link.secret.file`, without the end of a line.
fn link_secret(disk: &dyn Disk, conf: &Configuration) -> Result<Option<Vec<u8>>, StartError> {
    let Some(path) = conf.get(keys::SURUS_LINK_SECRET_FILE)? else { return Ok(None) };
    let wrong = |why: &str| StartError::Storage(format!("{}: {path}: {why}", keys::SURUS_LINK_SECRET_FILE.name()));
    let bytes = disk.read(Path::new(&path), LINK_SECRET_BYTES_MAX).map_err(|error| wrong(&error.to_string()))?;
    let secret = bytes.trim_ascii_end();
    if secret.len() < LINK_SECRET_BYTES_MIN {
        return Err(wrong("a secret has at least 16 bytes"));
    }
    Ok(Some(secret.to_vec()))
}

fn threads(name: &'static str, workers: Option<usize>) -> Result<Runtime, StartError> {
    let mut builder = Builder::new_multi_thread();
    if let Some(workers) = workers {
        builder.worker_threads(workers);
    }
    let runtime = builder.thread_name(name).enable_all().build();
    runtime.map_err(|error| StartError::Io { doing: "starting threads", error })
}

fn pair(address: &Addr) -> (&str, u16) {
    (address.host.as_str(), address.port)
}

/// What `start` has made before the core can be put together.
struct Parts {
    keys: Option<Arc<dyn KeyProvider>>,
    config: NameNodeConfig,
    clock: Clock,
    host_name: String,
    startup: Arc<StartupProgress>,
    id: FileSystemId,
    namespace: Namespace,
    journal: Box<dyn Journal>,
    last_txid: AtomicU64,
    checkpoint: Checkpoint,
    held: Arc<Held<Waiting>>,
    retry_cache: Option<RetryCache<OwnedCall>>,
}

fn new_core(conf: &Configuration, parts: Parts, options: &NameNodeOptions, runtime: &Runtime) -> Arc<Core> {
    let Parts {
        keys,
        config,
        clock,
        host_name,
        startup,
        id,
        namespace,
        journal,
        last_txid,
        checkpoint,
        held,
        retry_cache,
    } = parts;
    let user = options.user.as_str();
    let handle = runtime.handle().clone();
    let spawner = handle.clone();
    let spawn = Box::new(move |job: Box<dyn FnOnce() + Send>| drop(spawner.spawn_blocking(job)));
    let groups = Groups::new(config.groups, &config.group_overrides, spawn);
    let callers = Callers::new(groups, clock, user.into(), config.superusergroup.as_str().into());
    let proxies = ProxyUsers::new(proxy_users::HADOOP, conf.iter());
    // As in Hadoop a list that cannot be read does not keep the NameNode from starting.
    let hosts = HostLists::read(&config.host_files).unwrap_or_else(|error| {
        tracing::error!("error reading hosts files: {}", error.message);
        HostLists::default()
    });
    let own_caller = callers.caller(user.into(), None, Arc::from([]), "127.0.0.1".into());
    Arc::new_cyclic(|me| Core {
        keys,
        namespace: NamespaceLock::new(namespace),
        journal,
        last_txid,
        id,
        held,
        checkpoint: Mutex::new(checkpoint),
        checkpoint_copied_bytes: AtomicU64::new(0),
        checkpointing: Mutex::default(),
        receiving: Mutex::default(),
        config_source: options.config_source.clone().unwrap_or_else(|| {
            let conf = conf.clone();
            ConfigSource::new(move || Ok(conf.clone()))
        }),
        configuration: Mutex::new(conf.clone()),
        reconfiguration: Mutex::default(),
        service_acls: RwLock::new(match config.authorization {
            true => ServiceAcls::new(conf, crate::rpc::SERVICE_ACL_KEYS),
            false => ServiceAcls::default(),
        }),
        parked: Parked::default(),
        retry_cache,
        callers,
        proxies: RwLock::new(proxies),
        hosts: RwLock::new(hosts),
        clock,
        own_caller,
        host_name,
        rpc_counters: OnceLock::new(),
        own_datanode: options.own_datanode,
        local_data: RwLock::default(),
        rpc_port: AtomicU16::new(config.rpc_address.port),
        settings: conf.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        start_ms: clock.monotonic_ms(),
        startup,
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
