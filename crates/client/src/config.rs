//! What a client needs to know before it speaks: where the NameNodes are, who the caller is, and the settings of
//! `dfs.client.*` that matter. Read once from the configuration.

use crate::error::{ClientError, Result};
use std::time::Duration;
use surus_conf::{Configuration, keys};
use surus_net::rpc::{RpcClientOptions, RpcUser};
use surus_types::FsPermission;

/// Everything a `DfsClient` is made from.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    pub user: RpcUser,
    /// `host:port`, or the name of a nameservice: what stands in URIs.
    pub authority: String,
    /// `host:port` of each NameNode; several in a nameservice with standbys.
    pub namenodes: Vec<String>,
    /// Whether `authority` is the name of a nameservice.
    pub is_logical: bool,
    pub rpc: RpcClientOptions,
    pub retry: RetryConfig,
    pub write: WriteConfig,
    pub read: ReadConfig,
    /// `fs.permissions.umask-mode`.
    pub umask: FsPermission,
    /// `dfs.user.home.dir.prefix`.
    pub home_prefix: String,
    /// `fs.trash.interval`, used where the NameNode's own is 0.
    pub trash_interval: Duration,
    /// Where keys are, if the NameNode does not say it.
    pub key_provider_uri: String,
    pub key_password_file: String,
}

/// How often and how fast calls to the NameNode are repeated.
#[derive(Clone, Debug)]
pub struct RetryConfig {
    /// Refused connects: `ipc.client.connect.max.retries`; in a nameservice `dfs.client.failover.connection.retries`.
    pub connect_retries: u32,
    /// Connects that ran into the time limit: `ipc.client.connect.max.retries.on.timeouts`.
    pub connect_timeout_retries: u32,
    pub connect_retry_interval: Duration,
    pub failover_attempts: u32,
    pub retry_attempts: u32,
    pub sleep_base: Duration,
    pub sleep_max: Duration,
    pub random_order: bool,
    /// `dfs.client.retry.policy.spec` as pairs of sleep and count, where `dfs.client.retry.policy.enabled` is on.
    pub policy: Option<Vec<(Duration, u32)>>,
}

/// Settings of the write pipeline.
#[derive(Clone, Debug)]
pub struct WriteConfig {
    pub replication: u16,
    pub block_size: u64,
    /// Bytes of a packet with its checksums.
    pub packet_size: usize,
    pub packets_in_flight: usize,
    pub bytes_per_checksum: usize,
    /// `NULL`, `CRC32` or `CRC32C`.
    pub checksum_type: &'static str,
    pub block_retries: u32,
    pub locate_retries: u32,
    pub locate_delay: Duration,
    pub recovery_retries: u32,
    pub exclude_expiry: Duration,
    pub replace: ReplaceDatanode,
    pub datanode_restart_timeout: Duration,
    /// Read timeout of data sockets; a write gets `WRITE_TIMEOUT` besides.
    pub socket_timeout: Duration,
    pub use_datanode_hostname: bool,
}

/// `dfs.client.block.write.replace-datanode-on-failure.*`.
#[derive(Clone, Copy, Debug)]
pub struct ReplaceDatanode {
    pub enabled: bool,
    pub policy: ReplacePolicy,
    pub best_effort: bool,
    pub min_replication: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplacePolicy {
    Never,
    Default,
    Always,
}

/// Settings of the read path.
#[derive(Clone, Debug)]
pub struct ReadConfig {
    pub prefetch: Option<u64>,
    pub block_acquire_failures: u32,
    pub last_block_length_retries: u32,
    pub socket_timeout: Duration,
    pub use_datanode_hostname: bool,
    /// `COMPOSITE_CRC` rather than `MD5MD5CRC` for `file_checksum`.
    pub composite_crc: bool,
}

impl ClientConfig {
    /// For the file system of `uri` (`hdfs://host:8020`, `hdfs://nameservice`, or with a path behind it); `None`: that of
    /// `fs.defaultFS`. The user is that of the process.
    ///
    /// # Errors
    /// A value the configuration does not allow, a scheme other than `hdfs`, a cluster that asks for Kerberos.
    pub fn from_conf(conf: &Configuration, uri: Option<&str>) -> Result<Self> {
        let default_fs = conf.get(keys::FS_DEFAULT_FS)?;
        let authority = authority_of(uri.unwrap_or(&default_fs))?;
        if conf.get(keys::HADOOP_SECURITY_AUTHENTICATION)? == "kerberos" {
            return Err(ClientError::Security(
                "hadoop.security.authentication is kerberos: this client lacks the mechanism GSSAPI (Kerberos)".into(),
            ));
        }
        let (namenodes, is_logical) = namenodes_of(conf, authority)?;
        Ok(ClientConfig {
            user: crate::user::current_user(),
            authority: authority.to_string(),
            namenodes,
            is_logical,
            rpc: rpc_options(conf)?,
            retry: RetryConfig::from_conf(conf, is_logical)?,
            write: WriteConfig::from_conf(conf)?,
            read: ReadConfig::from_conf(conf)?,
            umask: conf.get(keys::FS_PERMISSIONS_UMASK_MODE)?,
            home_prefix: conf.get(keys::DFS_USER_HOME_DIR_PREFIX)?,
            trash_interval: conf.get(keys::FS_TRASH_INTERVAL)?,
            key_provider_uri: conf.get(keys::HADOOP_SECURITY_KEY_PROVIDER_PATH)?,
            key_password_file: conf.get(keys::HADOOP_SECURITY_KEYSTORE_JAVA_KEYSTORE_PROVIDER_PASSWORD_FILE)?,
        })
    }

    /// The same file system for another user.
    pub fn with_user(mut self, user: RpcUser) -> Self {
        self.user = user;
        self
    }
}

/// The authority of an `hdfs` URI, or of a bare `host:port`.
fn authority_of(uri: &str) -> Result<&str> {
    let rest = match uri.split_once("://") {
        Some(("hdfs", rest)) => rest,
        Some((scheme, _)) => return Err(ClientError::io(format!("No FileSystem for scheme \"{scheme}\""))),
        None => uri,
    };
    let authority = rest.split('/').next().unwrap_or("");
    if authority.is_empty() {
        return Err(ClientError::io(format!("Incomplete HDFS URI, no host: {uri}")));
    }
    Ok(authority)
}

/// `host:port` of every NameNode behind an authority, and whether it names a nameservice.
fn namenodes_of(conf: &Configuration, authority: &str) -> Result<(Vec<String>, bool)> {
    let is_service = !authority.contains(':') && conf.get(keys::DFS_NAMESERVICES)?.iter().any(|ns| ns == authority);
    if !is_service {
        let address = surus_conf::Addr::parse(authority, Some(keys::NAMENODE_RPC_PORT))
            .ok_or_else(|| ClientError::io(format!("not an address of a NameNode: {authority}")))?;
        return Ok((vec![format!("{}:{}", address.host, address.port)], false));
    }
    let ids = conf.text(&format!("dfs.ha.namenodes.{authority}"))?.unwrap_or_default();
    let ids: Vec<&str> = ids.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
    let mut namenodes = Vec::new();
    let ids = if ids.is_empty() { vec![""] } else { ids };
    for id in ids {
        match conf.get_for(keys::DFS_NAMENODE_RPC_ADDRESS, authority, id)? {
            Some(address) => namenodes.push(format!("{}:{}", address.host, address.port)),
            None => {
                return Err(ClientError::io(format!(
                    "dfs.namenode.rpc-address.{authority}{}{id} is not set",
                    if id.is_empty() { "" } else { "." }
                )));
            }
        }
    }
    Ok((namenodes, true))
}

fn rpc_options(conf: &Configuration) -> Result<RpcClientOptions> {
    let timeout = conf.get(keys::IPC_CLIENT_RPC_TIMEOUT_MS)?;
    Ok(RpcClientOptions {
        connect_timeout: conf.get(keys::IPC_CLIENT_CONNECT_TIMEOUT)?,
        call_timeout: (!timeout.is_zero()).then_some(timeout),
        ping_interval: conf.get(keys::IPC_PING_INTERVAL)?,
        response_length_max: conf.get(keys::IPC_MAXIMUM_RESPONSE_LENGTH)?.unsigned_abs(),
        ..RpcClientOptions::default()
    })
}

impl RetryConfig {
    fn from_conf(conf: &Configuration, is_logical: bool) -> Result<Self> {
        let connect_retries = if is_logical {
            conf.get(keys::DFS_CLIENT_FAILOVER_CONNECTION_RETRIES)?
        } else {
            conf.get(keys::IPC_CLIENT_CONNECT_MAX_RETRIES)?
        };
        let on_timeouts = if is_logical { 0 } else { conf.get(keys::IPC_CLIENT_CONNECT_MAX_RETRIES_ON_TIMEOUTS)? };
        let policy = conf.get(keys::DFS_CLIENT_RETRY_POLICY_ENABLED)?;
        Ok(RetryConfig {
            connect_retries: connect_retries.unsigned_abs(),
            connect_timeout_retries: on_timeouts.unsigned_abs(),
            connect_retry_interval: conf.get(keys::IPC_CLIENT_CONNECT_RETRY_INTERVAL)?,
            failover_attempts: conf.get(keys::DFS_CLIENT_FAILOVER_MAX_ATTEMPTS)?.unsigned_abs(),
            retry_attempts: conf.get(keys::DFS_CLIENT_RETRY_MAX_ATTEMPTS)?.unsigned_abs(),
            sleep_base: conf.get(keys::DFS_CLIENT_FAILOVER_SLEEP_BASE_MILLIS)?,
            sleep_max: conf.get(keys::DFS_CLIENT_FAILOVER_SLEEP_MAX_MILLIS)?,
            random_order: conf.get(keys::DFS_CLIENT_FAILOVER_RANDOM_ORDER)?,
            policy: if policy { Some(policy_of(&conf.get(keys::DFS_CLIENT_RETRY_POLICY_SPEC)?)?) } else { None },
        })
    }
}

/// `10000,6,60000,10`: six sleeps of ten seconds, then ten of a minute.
fn policy_of(spec: &str) -> Result<Vec<(Duration, u32)>> {
    let bad = || ClientError::io(format!("dfs.client.retry.policy.spec: not pairs of milliseconds and counts: {spec}"));
    let numbers: Vec<u32> = spec.split(',').map(|n| n.trim().parse().map_err(|_| bad())).collect::<Result<_>>()?;
    if numbers.is_empty() || !numbers.len().is_multiple_of(2) {
        return Err(bad());
    }
    Ok(numbers.chunks_exact(2).map(|pair| (Duration::from_millis(pair[0].into()), pair[1])).collect())
}

impl WriteConfig {
    fn from_conf(conf: &Configuration) -> Result<Self> {
        let policy = match conf.get(keys::DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_POLICY)? {
            "NEVER" => ReplacePolicy::Never,
            "ALWAYS" => ReplacePolicy::Always,
            _ => ReplacePolicy::Default,
        };
        Ok(WriteConfig {
            replication: conf.get(keys::DFS_REPLICATION)?.unsigned_abs(),
            block_size: conf.get(keys::DFS_BLOCKSIZE)?,
            packet_size: size_of_int(conf.get(keys::DFS_CLIENT_WRITE_PACKET_SIZE)?),
            packets_in_flight: size_of_int(conf.get(keys::DFS_CLIENT_WRITE_MAX_PACKETS_IN_FLIGHT)?),
            bytes_per_checksum: size_of_int(conf.get(keys::DFS_BYTES_PER_CHECKSUM)?),
            checksum_type: conf.get(keys::DFS_CHECKSUM_TYPE)?,
            block_retries: conf.get(keys::DFS_CLIENT_BLOCK_WRITE_RETRIES)?.unsigned_abs(),
            locate_retries: conf.get(keys::DFS_CLIENT_BLOCK_WRITE_LOCATE_FOLLOWING_BLOCK_RETRIES)?.unsigned_abs(),
            locate_delay: conf.get(keys::DFS_CLIENT_BLOCK_WRITE_LOCATE_FOLLOWING_BLOCK_INITIAL_DELAY_MS)?,
            recovery_retries: conf.get(keys::DFS_CLIENT_PIPELINE_RECOVERY_MAX_RETRIES)?.unsigned_abs(),
            exclude_expiry: conf.get(keys::DFS_CLIENT_WRITE_EXCLUDE_NODES_CACHE_EXPIRY_INTERVAL_MILLIS)?,
            replace: ReplaceDatanode {
                enabled: conf.get(keys::DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_ENABLE)?,
                policy,
                best_effort: conf.get(keys::DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_BEST_EFFORT)?,
                min_replication: u16::try_from(
                    conf.get(keys::DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_MIN_REPLICATION)?,
                )
                .unwrap_or(0),
            },
            datanode_restart_timeout: conf.get(keys::DFS_CLIENT_DATANODE_RESTART_TIMEOUT)?,
            socket_timeout: conf.get(keys::DFS_CLIENT_SOCKET_TIMEOUT)?,
            use_datanode_hostname: conf.get(keys::DFS_CLIENT_USE_DATANODE_HOSTNAME)?,
        })
    }
}

impl ReadConfig {
    fn from_conf(conf: &Configuration) -> Result<Self> {
        Ok(ReadConfig {
            prefetch: conf.get(keys::DFS_CLIENT_READ_PREFETCH_SIZE)?,
            block_acquire_failures: conf.get(keys::DFS_CLIENT_MAX_BLOCK_ACQUIRE_FAILURES)?.unsigned_abs(),
            last_block_length_retries: conf.get(keys::DFS_CLIENT_RETRY_TIMES_GET_LAST_BLOCK_LENGTH)?.unsigned_abs(),
            socket_timeout: conf.get(keys::DFS_CLIENT_SOCKET_TIMEOUT)?,
            use_datanode_hostname: conf.get(keys::DFS_CLIENT_USE_DATANODE_HOSTNAME)?,
            composite_crc: conf.get(keys::DFS_CHECKSUM_COMBINE_MODE)? == "COMPOSITE_CRC",
        })
    }
}

fn size_of_int(number: i32) -> usize {
    usize::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(pairs: &[(&str, &str)]) -> Configuration {
        let mut conf = Configuration::new();
        for (key, value) in pairs {
            conf.set(key, *value);
        }
        conf
    }

    #[test]
    fn a_host_is_itself_and_a_nameservice_is_its_namenodes() {
        let one = ClientConfig::from_conf(&conf(&[("fs.defaultFS", "hdfs://nn:9000/x")]), None).unwrap();
        assert_eq!((one.namenodes, one.is_logical), (vec!["nn:9000".to_string()], false));
        let ha = conf(&[
            ("fs.defaultFS", "hdfs://ns1"),
            ("dfs.nameservices", "ns1,ns2"),
            ("dfs.ha.namenodes.ns1", "a, b"),
            ("dfs.namenode.rpc-address.ns1.a", "h1:8020"),
            ("dfs.namenode.rpc-address.ns1.b", "h2:8020"),
        ]);
        let two = ClientConfig::from_conf(&ha, None).unwrap();
        assert_eq!(two.namenodes, ["h1:8020", "h2:8020"]);
        assert!(two.is_logical);
        let text = ClientConfig::from_conf(&ha, Some("hdfs://ns2/")).unwrap_err().to_string();
        assert_eq!(text, "dfs.namenode.rpc-address.ns2 is not set");
    }

    #[test]
    fn a_secured_cluster_names_the_missing_mechanism() {
        let conf = conf(&[("fs.defaultFS", "hdfs://nn"), ("hadoop.security.authentication", "kerberos")]);
        assert!(ClientConfig::from_conf(&conf, None).unwrap_err().to_string().contains("GSSAPI"));
        assert!(ClientConfig::from_conf(&Configuration::new(), Some("s3://x/")).is_err());
    }

    #[test]
    fn a_retry_policy_is_pairs() {
        assert_eq!(policy_of("10,2,30,1").unwrap(), [(Duration::from_millis(10), 2), (Duration::from_millis(30), 1)]);
        assert!(policy_of("10").is_err());
    }
}
