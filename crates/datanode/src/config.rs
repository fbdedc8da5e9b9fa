//! What the DataNode reads from the configuration, read once at start.

use crate::store::{StorageLocation, StoreConfig};
use std::time::Duration;
use surus_conf::keys::{self, NAMENODE_RPC_PORT};
use surus_conf::{Addr, ConfError, Configuration};
use surus_net::groups::GroupTimes;
use surus_net::rpc::RpcLimits;

/// How long a writer that recovery throws out may take to end.
/// Source: `dfs.datanode.xceiver.stop.timeout.millis`, Hadoop 3.5.0.
const XCEIVER_STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// One nameservice and the NameNodes that serve it.
#[derive(Clone, Debug)]
pub struct NameserviceConfig {
    /// Empty without `dfs.nameservices`.
    pub id: String,
    pub namenodes: Vec<Addr>,
}

#[derive(Clone, Debug)]
pub struct DataNodeConfig {
    pub store: StoreConfig,
    pub nameservices: Vec<NameserviceConfig>,
    pub xfer_address: Addr,
    pub ipc_address: Addr,
    pub ipc_limits: RpcLimits,
    pub http_address: Addr,
    /// The name to register under.
    pub host_name: String,
    /// Connect to other DataNodes by name rather than by address.
    pub use_datanode_hostname: bool,
    pub heartbeat_interval: Duration,
    pub block_report_interval: Duration,
    pub block_report_initial_delay: Duration,
    /// Above this many blocks a full report goes out with one call for each storage.
    pub block_report_split_threshold: u64,
    /// Reads on data sockets.
    pub socket_timeout: Duration,
    /// Writes on data sockets.
    pub write_timeout: Duration,
    /// Idle time between two operations of a connection.
    pub keepalive: Duration,
    pub max_transfer_threads: usize,
    pub sync_on_close: bool,
    /// `dfs.datanode.restart.replica.expiration`.
    pub restart_replica_expiry: Duration,
    /// Send block data straight from files.
    pub transfer_to_allowed: bool,
    /// Incremental reports wait so long for company.
    pub incremental_report_interval: Duration,
    pub balance_bandwidth: u64,
    /// `dfs.permissions.enabled`: only superusers may use the administrator's methods of the IPC port.
    pub permissions_enabled: bool,
    /// `hadoop.security.authorization`: hadoop-policy.xml says who may use which protocol of the IPC port.
    pub authorization: bool,
    /// `dfs.permissions.superusergroup`.
    pub supergroup: String,
    pub groups: GroupTimes,
    /// `hadoop.user.group.static.mapping.overrides`.
    pub group_overrides: String,
    /// The configuration itself, for the client that serves WebHDFS.
    pub configuration: Configuration,
}

impl DataNodeConfig {
    /// # Errors
    /// A value that is not allowed: the error names key, file and what is.
    pub fn from_configuration(conf: &Configuration) -> Result<Self, ConfError> {
        let locations = conf
            .get(keys::DFS_DATANODE_DATA_DIR)?
            .into_iter()
            .map(|dir| StorageLocation { path: dir.path.into(), storage_type: dir.storage_type })
            .collect();
        Ok(DataNodeConfig {
            store: StoreConfig {
                locations,
                failed_volumes_tolerated: conf.get(keys::DFS_DATANODE_FAILED_VOLUMES_TOLERATED)?,
                reserved_bytes: conf.get(keys::DFS_DATANODE_DU_RESERVED)?,
                directory_mode: conf.get(keys::DFS_DATANODE_DATA_DIR_PERM)?,
                roll_back: false,
                stop_timeout: XCEIVER_STOP_TIMEOUT,
            },
            nameservices: nameservices(conf)?,
            xfer_address: conf.get(keys::DFS_DATANODE_ADDRESS)?,
            ipc_address: conf.get(keys::DFS_DATANODE_IPC_ADDRESS)?,
            ipc_limits: RpcLimits::from_conf(conf)?,
            http_address: conf.get(keys::DFS_DATANODE_HTTP_ADDRESS)?,
            host_name: conf.get(keys::DFS_DATANODE_HOSTNAME)?.unwrap_or_else(host_name),
            use_datanode_hostname: conf.get(keys::DFS_DATANODE_USE_DATANODE_HOSTNAME)?,
            heartbeat_interval: conf.get(keys::DFS_HEARTBEAT_INTERVAL)?,
            block_report_interval: conf.get(keys::DFS_BLOCKREPORT_INTERVAL_MSEC)?,
            block_report_initial_delay: conf.get(keys::DFS_BLOCKREPORT_INITIAL_DELAY)?,
            block_report_split_threshold: conf.get(keys::DFS_BLOCKREPORT_SPLIT_THRESHOLD)?.max(0) as u64,
            socket_timeout: conf.get(keys::DFS_CLIENT_SOCKET_TIMEOUT)?,
            write_timeout: conf.get(keys::DFS_DATANODE_SOCKET_WRITE_TIMEOUT)?,
            keepalive: conf.get(keys::DFS_DATANODE_SOCKET_REUSE_KEEPALIVE)?,
            max_transfer_threads: conf.get(keys::DFS_DATANODE_MAX_TRANSFER_THREADS)?.max(1) as usize,
            sync_on_close: conf.get(keys::DFS_DATANODE_SYNCONCLOSE)?,
            restart_replica_expiry: conf.get(keys::DFS_DATANODE_RESTART_REPLICA_EXPIRATION)?,
            transfer_to_allowed: conf.get(keys::DFS_DATANODE_TRANSFER_TO_ALLOWED)?,
            incremental_report_interval: conf.get(keys::DFS_BLOCKREPORT_INCREMENTAL_INTERVAL_MSEC)?,
            balance_bandwidth: conf.get(keys::DFS_DATANODE_BALANCE_BANDWIDTH_PER_SEC)?,
            permissions_enabled: conf.get(keys::DFS_PERMISSIONS_ENABLED)?,
            authorization: conf.get(keys::HADOOP_SECURITY_AUTHORIZATION)?,
            supergroup: conf.get(keys::DFS_PERMISSIONS_SUPERUSERGROUP)?,
            groups: GroupTimes::from_conf(conf)?,
            group_overrides: conf.get(keys::HADOOP_USER_GROUP_STATIC_MAPPING_OVERRIDES)?,
            configuration: conf.clone(),
        })
    }
}

/// The NameNodes to report to: those of `dfs.internal.nameservices` or `dfs.nameservices`, else the one of
/// `dfs.namenode.rpc-address` or `fs.defaultFS`. A service RPC address goes before the client's.
fn nameservices(conf: &Configuration) -> Result<Vec<NameserviceConfig>, ConfError> {
    let internal = conf.get(keys::DFS_INTERNAL_NAMESERVICES)?;
    let ids = if internal.is_empty() { conf.get(keys::DFS_NAMESERVICES)? } else { internal };
    let mut found = Vec::new();
    for id in ids {
        let listed = conf.text(&format!("dfs.ha.namenodes.{id}"))?.unwrap_or_default();
        let mut members: Vec<String> =
            listed.split(',').map(|n| format!("{id}.{}", n.trim())).filter(|n| !n.ends_with('.')).collect();
        if members.is_empty() {
            members.push(id.clone());
        }
        let mut namenodes = Vec::new();
        for member in members {
            let service = address(conf, &format!("dfs.namenode.servicerpc-address.{member}"))?;
            let client = address(conf, &format!("dfs.namenode.rpc-address.{member}"))?;
            namenodes.extend(service.or(client));
        }
        if !namenodes.is_empty() {
            found.push(NameserviceConfig { id, namenodes });
        }
    }
    if found.is_empty() {
        let namenode = match conf.get(keys::DFS_NAMENODE_SERVICERPC_ADDRESS)? {
            Some(service) => service,
            None => conf.namenode_rpc_address()?,
        };
        found.push(NameserviceConfig { id: String::new(), namenodes: vec![namenode] });
    }
    Ok(found)
}

fn address(conf: &Configuration, key: &str) -> Result<Option<Addr>, ConfError> {
    let Some(text) = conf.text(key)?.filter(|t| !t.trim().is_empty()) else { return Ok(None) };
    match Addr::parse(text.trim(), Some(NAMENODE_RPC_PORT)) {
        Some(addr) => Ok(Some(addr)),
        None => Err(ConfError::Value {
            key: key.to_owned(),
            source: conf.source(key).to_owned(),
            value: text,
            allowed: "host:port".to_owned(),
        }),
    }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
