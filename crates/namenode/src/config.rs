//! The NameNode's own settings, read once from the configuration.

use crate::audit::ContextRules;
use crate::hosts::HostFiles;
use crate::trash::TrashTimes;
use std::path::PathBuf;
use std::time::Duration;
use surus_conf::{Addr, ConfError, Configuration, keys};
use surus_namespace::blocks::BlockConfig;
use surus_namespace::room::TableLimits;
use surus_namespace::{NamespaceConfig, SnapshotConfig};
use surus_net::groups::GroupTimes;

/// What the shell round `namespace` needs to know. Times in milliseconds, sizes in bytes.
#[derive(Clone, Debug)]
pub struct NameNodeConfig {
    /// `dfs.namenode.rpc-address`, as clients and SafeModeException name it.
    pub rpc_address: Addr,
    /// Where the RPC server listens, by `dfs.namenode.rpc-bind-host` where set.
    pub rpc_bind: Addr,
    /// `dfs.namenode.servicerpc-address`, where it is set.
    pub service_rpc_bind: Option<Addr>,
    pub http_bind: Addr,
    pub server_defaults: ServerDefaults,
    /// One of several NameNodes of a nameservice.
    pub ha_enabled: bool,
    pub host_files: HostFiles,
    pub groups: GroupTimes,
    pub group_overrides: String,
    pub superusergroup: String,
    pub retry_cache: bool,
    pub retry_cache_life_ms: u64,
    pub redundancy_interval_ms: u64,
    /// `dfs.namenode.lazypersist.file.scrub.interval.sec`; 0: files without replicas stay.
    pub lazy_persist_scrub_ms: u64,
    /// `dfs.namenode.snapshot.deletion.ordered.gc.period.ms`.
    pub snapshot_gc_ms: u64,
    pub heartbeat_recheck_ms: u64,
    pub lease_recheck_ms: u64,
    pub checkpoint_period_ms: u64,
    pub checkpoint_txns: u64,
    pub checkpoint_check_ms: u64,
    /// A segment of more transactions is rolled.
    pub autoroll_txns: u64,
    /// `hadoop.http.staticuser.user`: who a WebHDFS request without `user.name` is.
    pub static_user: String,
    /// `surus.webhdfs.one-hop`: no redirect where the DataNode is in this process.
    pub one_hop: bool,
    /// What `surus.link.secret.file` holds: the key of signed links.
    pub link_secret: Option<Vec<u8>>,
    /// `hadoop.security.key.provider.path`, which clients are told.
    pub key_provider_uri: String,
    /// Encryption zones in one answer.
    pub encryption_zones_listed: usize,
    pub trash: TrashTimes,
    /// `hadoop.security.authorization`: hadoop-policy.xml says who may use which protocol.
    pub authorization: bool,
    /// Commands that the audit log names at level debug only.
    pub audit_debug: Vec<String>,
    /// `hadoop.caller.context.enabled`: the audit log shows what clients say of their calls.
    pub audit_context: Option<ContextRules>,
    /// Events in one answer to `getEditsFromTxid`.
    pub inotify_events_max: usize,
    pub resource_reserved_bytes: u64,
    pub resource_check_ms: u64,
    /// `dfs.image.transfer.bandwidthPerSec`, and of a standby that is being set up; 0: any.
    pub transfer_bytes_per_second: [u64; 2],
    /// `dfs.namenode.edits.dir.required`, which `/jmx` shows.
    pub edits_dirs_required: Vec<PathBuf>,
}

/// The answer to `getServerDefaults`. Source: `FSNamesystem.java`, Hadoop 3.5.0.
#[derive(Clone, Copy, Debug)]
pub struct ServerDefaults {
    pub block_size: u64,
    pub bytes_per_checksum: u32,
    pub write_packet_size: u32,
    pub replication: u32,
    pub file_buffer_size: u32,
    pub trash_interval_minutes: u64,
    /// Number of `ChecksumTypeProto`.
    pub checksum_type: i32,
}

/// The settings of `namespace`. `user` runs the NameNode.
///
/// # Errors
/// The first value that its key does not allow.
pub fn namespace_config(conf: &Configuration, user: &str) -> Result<NamespaceConfig, ConfError> {
    let positive = |n: i32| u32::try_from(n).unwrap_or(0);
    Ok(NamespaceConfig {
        fs_owner: user.into(),
        supergroup: conf.get(keys::DFS_PERMISSIONS_SUPERUSERGROUP)?.into(),
        home_prefix: conf.get(keys::DFS_USER_HOME_DIR_PREFIX)?.trim_end_matches('/').into(),
        permissions_enabled: conf.get(keys::DFS_PERMISSIONS_ENABLED)?,
        max_component_length: positive(conf.get(keys::DFS_NAMENODE_FS_LIMITS_MAX_COMPONENT_LENGTH)?),
        max_directory_items: positive(conf.get(keys::DFS_NAMENODE_FS_LIMITS_MAX_DIRECTORY_ITEMS)?),
        max_objects: u64::try_from(conf.get(keys::DFS_NAMENODE_MAX_OBJECTS)?).unwrap_or(0),
        table_limits: TableLimits::default(),
        list_limit: positive(conf.get(keys::DFS_LS_LIMIT)?),
        access_time_precision_ms: i64::try_from(ms(conf.get(keys::DFS_NAMENODE_ACCESSTIME_PRECISION)?))
            .unwrap_or(i64::MAX),
        protected_directories: conf.get(keys::FS_PROTECTED_DIRECTORIES)?,
        protect_subdirectories: conf.get(keys::DFS_PROTECTED_SUBDIRECTORIES_ENABLE)?,
        quota_by_storage_type: conf.get(keys::DFS_QUOTA_BY_STORAGE_TYPE_ENABLED)?,
        owner_sets_quota: conf.get(keys::DFS_PERMISSIONS_ALLOW_OWNER_SET_QUOTA)?,
        ec_default_policy: conf.get(keys::DFS_NAMENODE_EC_SYSTEM_DEFAULT_POLICY)?,
        ec_max_cell_size: positive(conf.get(keys::DFS_NAMENODE_EC_POLICIES_MAX_CELLSIZE)?),
        ec_user_policies: conf.get(keys::DFS_NAMENODE_EC_USERDEFINED_POLICY_ALLOWED)?,
        storage_policies: conf.get(keys::DFS_STORAGE_POLICY_ENABLED)?,
        storage_policies_superuser_only: conf.get(keys::DFS_STORAGE_POLICY_PERMISSIONS_SUPERUSER_ONLY)?,
        acls_enabled: conf.get(keys::DFS_NAMENODE_ACLS_ENABLED)?,
        posix_acl_inheritance: conf.get(keys::DFS_NAMENODE_POSIX_ACL_INHERITANCE_ENABLED)?,
        xattrs_enabled: conf.get(keys::DFS_NAMENODE_XATTRS_ENABLED)?,
        max_xattrs_per_inode: positive(conf.get(keys::DFS_NAMENODE_FS_LIMITS_MAX_XATTRS_PER_INODE)?),
        max_xattr_size: positive(conf.get(keys::DFS_NAMENODE_FS_LIMITS_MAX_XATTR_SIZE)?),
        snapshots: snapshot_config(conf)?,
    })
}

fn snapshot_config(conf: &Configuration) -> Result<SnapshotConfig, ConfError> {
    let positive = |n: i32| u32::try_from(n).unwrap_or(0);
    Ok(SnapshotConfig {
        directory_limit: positive(conf.get(keys::DFS_NAMENODE_SNAPSHOT_MAX_LIMIT)?),
        filesystem_limit: positive(conf.get(keys::DFS_NAMENODE_SNAPSHOT_FILESYSTEM_LIMIT)?),
        captures_open_files: conf.get(keys::DFS_NAMENODE_SNAPSHOT_CAPTURE_OPENFILES)?,
        skips_access_times: conf.get(keys::DFS_NAMENODE_SNAPSHOT_SKIP_CAPTURE_ACCESSTIME_ONLY_CHANGE)?,
        diffs_of_descendants: conf.get(keys::DFS_NAMENODE_SNAPSHOTDIFF_ALLOW_SNAP_ROOT_DESCENDANT)?,
        diff_listing_limit: positive(conf.get(keys::DFS_NAMENODE_SNAPSHOTDIFF_LISTING_LIMIT)?),
        ordered_deletion: conf.get(keys::DFS_NAMENODE_SNAPSHOT_DELETION_ORDERED)?,
        trash_roots: conf.get(keys::DFS_NAMENODE_SNAPSHOT_TRASHROOT_ENABLED)?,
        allow_nested: false,
    })
}

/// The settings of block management. `own_datanode`: the only DataNode runs in this process, so that start-up safe mode
/// need not wait for others.
///
/// # Errors
/// The first value that its key does not allow.
pub fn block_config(
    conf: &Configuration,
    own_datanode: bool,
    pool_id: &str,
    host_name: &str,
) -> Result<BlockConfig, ConfError> {
    let small = |n: i32| u16::try_from(n).unwrap_or(u16::MAX);
    let positive = |n: i32| u32::try_from(n).unwrap_or(0);
    let min_replication = small(conf.get(keys::DFS_NAMENODE_REPLICATION_MIN)?);
    let usual = BlockConfig::default();
    Ok(BlockConfig {
        pool_id: pool_id.into(),
        host_name: host_name.into(),
        min_replication,
        safe_mode_replication: conf.get(keys::DFS_NAMENODE_SAFEMODE_REPLICATION_MIN)?.map_or(min_replication, small),
        safe_mode_threshold: conf.get(keys::DFS_NAMENODE_SAFEMODE_THRESHOLD_PCT)? as f32,
        safe_mode_min_datanodes: positive(conf.get(keys::DFS_NAMENODE_SAFEMODE_MIN_DATANODES)?),
        safe_mode_extension_ms: if own_datanode { 0 } else { ms(conf.get(keys::DFS_NAMENODE_SAFEMODE_EXTENSION)?) },
        heartbeat_interval_ms: ms(conf.get(keys::DFS_HEARTBEAT_INTERVAL)?),
        heartbeat_recheck_ms: ms(conf.get(keys::DFS_NAMENODE_HEARTBEAT_RECHECK_INTERVAL)?),
        stale_interval_ms: ms(conf.get(keys::DFS_NAMENODE_STALE_DATANODE_INTERVAL)?),
        avoid_read_stale: conf.get(keys::DFS_NAMENODE_AVOID_READ_STALE_DATANODE)?,
        avoid_write_stale: conf.get(keys::DFS_NAMENODE_AVOID_WRITE_STALE_DATANODE)?,
        consider_load: conf.get(keys::DFS_NAMENODE_REDUNDANCY_CONSIDER_LOAD)?,
        consider_load_factor: conf.get(keys::DFS_NAMENODE_REDUNDANCY_CONSIDER_LOAD_FACTOR)?,
        work_multiplier: positive(conf.get(keys::DFS_NAMENODE_REPLICATION_WORK_MULTIPLIER_PER_ITERATION)?),
        max_streams: positive(conf.get(keys::DFS_NAMENODE_REPLICATION_MAX_STREAMS)?),
        max_streams_hard: positive(conf.get(keys::DFS_NAMENODE_REPLICATION_MAX_STREAMS_HARD_LIMIT)?),
        pending_timeout_ms: ms(conf.get(keys::DFS_NAMENODE_RECONSTRUCTION_PENDING_TIMEOUT_SEC)?),
        invalidate_limit: conf.get(keys::DFS_BLOCK_INVALIDATE_LIMIT)?.try_into().unwrap_or(usize::MAX),
        max_blocks_per_file: conf
            .get(keys::DFS_NAMENODE_FS_LIMITS_MAX_BLOCKS_PER_FILE)?
            .try_into()
            .unwrap_or(usize::MAX),
        min_block_size: conf.get(keys::DFS_NAMENODE_FS_LIMITS_MIN_BLOCK_SIZE)?,
        max_replication: small(conf.get(keys::DFS_REPLICATION_MAX)?),
        access_time_precision_ms: i64::try_from(ms(conf.get(keys::DFS_NAMENODE_ACCESSTIME_PRECISION)?))
            .unwrap_or(i64::MAX),
        lease_hard_limit_ms: ms(conf.get(keys::DFS_NAMENODE_LEASE_HARD_LIMIT_SEC)?),
        unreported_wait_ms: if own_datanode { 0 } else { usual.unreported_wait_ms },
        ..usual
    })
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn with_host(address: &Addr, host: Option<String>) -> Addr {
    Addr { host: host.unwrap_or_else(|| address.host.clone()), port: address.port }
}

impl NameNodeConfig {
    /// # Errors
    /// The first value that its key does not allow.
    pub fn new(conf: &Configuration) -> Result<Self, ConfError> {
        let rpc_address = conf.namenode_rpc_address()?;
        let http_address = conf.get(keys::DFS_NAMENODE_HTTP_ADDRESS)?;
        Ok(NameNodeConfig {
            rpc_bind: with_host(&rpc_address, conf.get(keys::DFS_NAMENODE_RPC_BIND_HOST)?),
            service_rpc_bind: conf.get(keys::DFS_NAMENODE_SERVICERPC_ADDRESS)?,
            http_bind: with_host(&http_address, conf.get(keys::DFS_NAMENODE_HTTP_BIND_HOST)?),
            rpc_address,
            server_defaults: ServerDefaults::new(conf)?,
            ha_enabled: false,
            host_files: HostFiles::from_conf(conf)?,
            groups: GroupTimes::from_conf(conf)?,
            group_overrides: conf.get(keys::HADOOP_USER_GROUP_STATIC_MAPPING_OVERRIDES)?,
            superusergroup: conf.get(keys::DFS_PERMISSIONS_SUPERUSERGROUP)?,
            retry_cache: conf.get(keys::DFS_NAMENODE_ENABLE_RETRYCACHE)?,
            retry_cache_life_ms: ms(conf.get(keys::DFS_NAMENODE_RETRYCACHE_EXPIRYTIME_MILLIS)?),
            redundancy_interval_ms: ms(conf.get(keys::DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS)?),
            lazy_persist_scrub_ms: ms(conf.get(keys::DFS_NAMENODE_LAZY_PERSIST_FILE_SCRUB_INTERVAL_SEC)?),
            snapshot_gc_ms: ms(conf.get(keys::DFS_NAMENODE_SNAPSHOT_DELETION_ORDERED_GC_PERIOD_MS)?),
            heartbeat_recheck_ms: ms(conf.get(keys::DFS_NAMENODE_HEARTBEAT_RECHECK_INTERVAL)?),
            lease_recheck_ms: ms(conf.get(keys::DFS_NAMENODE_LEASE_RECHECK_INTERVAL_MS)?),
            checkpoint_period_ms: ms(conf.get(keys::DFS_NAMENODE_CHECKPOINT_PERIOD)?),
            checkpoint_txns: u64::try_from(conf.get(keys::DFS_NAMENODE_CHECKPOINT_TXNS)?).unwrap_or(u64::MAX),
            checkpoint_check_ms: 60_000,
            autoroll_txns: (conf.get(keys::DFS_NAMENODE_CHECKPOINT_TXNS)? as f64
                * conf.get(keys::DFS_NAMENODE_EDIT_LOG_AUTOROLL_MULTIPLIER_THRESHOLD)?)
                as u64,
            trash: TrashTimes::new(
                ms(conf.get(keys::FS_TRASH_INTERVAL)?) as i64,
                ms(conf.get(keys::FS_TRASH_CHECKPOINT_INTERVAL)?) as i64,
            ),
            static_user: conf.get(keys::HADOOP_HTTP_STATICUSER_USER)?,
            one_hop: conf.get(keys::SURUS_WEBHDFS_ONE_HOP)?,
            // Read by who starts the NameNode.
            link_secret: None,
            key_provider_uri: conf.get(keys::HADOOP_SECURITY_KEY_PROVIDER_PATH)?,
            encryption_zones_listed: conf
                .get(keys::DFS_NAMENODE_LIST_ENCRYPTION_ZONES_NUM_RESPONSES)?
                .try_into()
                .unwrap_or(usize::MAX),
            authorization: conf.get(keys::HADOOP_SECURITY_AUTHORIZATION)?,
            audit_debug: conf.get(keys::DFS_NAMENODE_AUDIT_LOG_DEBUG_CMDLIST)?,
            audit_context: ContextRules::new(conf)?,
            inotify_events_max: usize::try_from(conf.get(keys::DFS_NAMENODE_INOTIFY_MAX_EVENTS_PER_RPC)?).unwrap_or(1),
            resource_reserved_bytes: conf.get(keys::DFS_NAMENODE_RESOURCE_DU_RESERVED)?,
            resource_check_ms: ms(conf.get(keys::DFS_NAMENODE_RESOURCE_CHECK_INTERVAL)?),
            transfer_bytes_per_second: [
                conf.get(keys::DFS_IMAGE_TRANSFER_BANDWIDTH_PER_SEC)?,
                conf.get(keys::DFS_IMAGE_TRANSFER_BOOTSTRAP_STANDBY_BANDWIDTH_PER_SEC)?,
            ]
            .map(|bytes| u64::try_from(bytes).unwrap_or(0)),
            edits_dirs_required: conf
                .get(keys::DFS_NAMENODE_EDITS_DIR_REQUIRED)?
                .into_iter()
                .map(PathBuf::from)
                .collect(),
        })
    }
}

impl ServerDefaults {
    fn new(conf: &Configuration) -> Result<Self, ConfError> {
        let positive = |n: i32| u32::try_from(n).unwrap_or(0);
        Ok(ServerDefaults {
            block_size: conf.get(keys::DFS_BLOCKSIZE)?,
            bytes_per_checksum: positive(conf.get(keys::DFS_BYTES_PER_CHECKSUM)?),
            write_packet_size: positive(conf.get(keys::DFS_CLIENT_WRITE_PACKET_SIZE)?),
            replication: positive(i32::from(conf.get(keys::DFS_REPLICATION)?)),
            file_buffer_size: positive(conf.get(keys::IO_FILE_BUFFER_SIZE)?),
            trash_interval_minutes: ms(conf.get(keys::FS_TRASH_INTERVAL)?) / 60_000,
            checksum_type: match conf.get(keys::DFS_CHECKSUM_TYPE)? {
                "NULL" => 0,
                "CRC32" => 1,
                _ => 2,
            },
        })
    }
}
