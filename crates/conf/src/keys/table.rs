//! The table itself: one row a key, in the order of the manual.

use super::keys;
use crate::value::*;

keys! {
    "Common" {
        /// Default file system; `hdfs://host:8020` or `hdfs://nameservice`.
        FS_DEFAULT_FS: Text = "fs.defaultFS", "file:///", old ["fs.default.name"];
        /// Base of many defaults.
        HADOOP_TMP_DIR: Text = "hadoop.tmp.dir", "/tmp/hadoop-${user.name}";
        /// Stream buffer; reported in server defaults.
        IO_FILE_BUFFER_SIZE: Int = "io.file.buffer.size", "4096", range 1..=i32::MAX;
        /// Client umask.
        FS_PERMISSIONS_UMASK_MODE: Umask = "fs.permissions.umask-mode", "022", old ["dfs.umaskmode", "dfs.umask"];
        /// 0 disables trash; server value wins over client when non-zero.
        FS_TRASH_INTERVAL: Minutes = "fs.trash.interval", "0";
        /// Between trash checkpoints; 0: as the interval.
        FS_TRASH_CHECKPOINT_INTERVAL: Minutes = "fs.trash.checkpoint.interval", "0";
        /// Cannot be deleted/renamed if non-empty, even by superuser.
        FS_PROTECTED_DIRECTORIES: List = "fs.protected.directories", "";
        /// Protection covers what lies below as well.
        DFS_PROTECTED_SUBDIRECTORIES_ENABLE: Bool = "dfs.protected.subdirectories.enable", "false";
        /// Default web user.
        HADOOP_HTTP_STATICUSER_USER: Text = "hadoop.http.staticuser.user", "dr.who", old ["dfs.web.ugi"];
        /// User=g1,g2;.
        HADOOP_USER_GROUP_STATIC_MAPPING_OVERRIDES: Text = "hadoop.user.group.static.mapping.overrides", "dr.who=;";
        /// Group cache.
        HADOOP_SECURITY_GROUPS_CACHE_SECS: Seconds = "hadoop.security.groups.cache.secs", "300";
        /// Cache of unknown users.
        HADOOP_SECURITY_GROUPS_NEGATIVE_CACHE_SECS: Seconds = "hadoop.security.groups.negative-cache.secs", "30";
        /// How callers prove who they are; kerberos is refused until Surus has it.
        HADOOP_SECURITY_AUTHENTICATION: OneOf = "hadoop.security.authentication", "simple", choices ["simple", "kerberos"];
        /// Service ACLs.
        HADOOP_SECURITY_AUTHORIZATION: Bool = "hadoop.security.authorization", "false";
        /// Where the keys of encryption zones are: `jceks://file/PATH` or `kms://http@HOST:PORT/kms`; empty: no encryption zones.
        HADOOP_SECURITY_KEY_PROVIDER_PATH: Text = "hadoop.security.key.provider.path", "", old ["dfs.encryption.key.provider.uri"];
        /// File with the password of `jceks` key stores, unless HADOOP_KEYSTORE_PASSWORD is set; empty: Hadoop's default password.
        HADOOP_SECURITY_KEYSTORE_JAVA_KEYSTORE_PROVIDER_PASSWORD_FILE: Text = "hadoop.security.keystore.java-keystore-provider.password-file", "";
    }
    "Addresses and ports" {
        /// Client RPC; falls back to fs.defaultFS (port 8020); suffix .NS.NN in HA.
        DFS_NAMENODE_RPC_ADDRESS: Optional<Address> = "dfs.namenode.rpc-address", "";
        /// Bind override.
        DFS_NAMENODE_RPC_BIND_HOST: Optional<Text> = "dfs.namenode.rpc-bind-host", "";
        /// Separate RPC for DNs/ZKFC.
        DFS_NAMENODE_SERVICERPC_ADDRESS: Optional<Address> = "dfs.namenode.servicerpc-address", "";
        /// Web/WebHDFS.
        DFS_NAMENODE_HTTP_ADDRESS: Address = "dfs.namenode.http-address", "0.0.0.0:9870", old ["dfs.http.address"];
        /// Interface to bind instead of the address host.
        DFS_NAMENODE_HTTP_BIND_HOST: Optional<Text> = "dfs.namenode.http-bind-host", "";
        /// WebHDFS answers OPEN with the data and takes the body of CREATE and APPEND at once, without a redirect, where the DataNode is in the same process (`surus start`); `onehop=` in a request has the last word.
        SURUS_WEBHDFS_ONE_HOP: Bool = "surus.webhdfs.one-hop", "false";
        /// File with the secret by which links below `/fs` are signed, at least 16 bytes; empty: no link counts.
        SURUS_LINK_SECRET_FILE: Optional<Text> = "surus.link.secret.file", "";
        /// Data transfer.
        DFS_DATANODE_ADDRESS: Address = "dfs.datanode.address", "0.0.0.0:9866";
        /// DN IPC.
        DFS_DATANODE_IPC_ADDRESS: Address = "dfs.datanode.ipc.address", "0.0.0.0:9867";
        /// DN web/WebHDFS.
        DFS_DATANODE_HTTP_ADDRESS: Address = "dfs.datanode.http.address", "0.0.0.0:9864";
        /// Secondary NN web.
        DFS_NAMENODE_SECONDARY_HTTP_ADDRESS: Address = "dfs.namenode.secondary.http-address", "0.0.0.0:9868", old ["dfs.secondary.http.address"];
        /// HTTP_ONLY, HTTPS_ONLY, HTTP_AND_HTTPS.
        DFS_HTTP_POLICY: OneOf = "dfs.http.policy", "HTTP_ONLY", choices ["HTTP_ONLY", "HTTPS_ONLY", "HTTP_AND_HTTPS"];
        /// Registered host name override.
        DFS_DATANODE_HOSTNAME: Optional<Text> = "dfs.datanode.hostname", "", old ["slave.host.name"];
        /// Client connects to DN by name.
        DFS_CLIENT_USE_DATANODE_HOSTNAME: Bool = "dfs.client.use.datanode.hostname", "false";
        /// DN to DN by name.
        DFS_DATANODE_USE_DATANODE_HOSTNAME: Bool = "dfs.datanode.use.datanode.hostname", "false";
    }
    "RPC" {
        /// TCP connect.
        IPC_CLIENT_CONNECT_TIMEOUT: Milliseconds = "ipc.client.connect.timeout", "20000";
        /// Refused connects.
        IPC_CLIENT_CONNECT_MAX_RETRIES: Int = "ipc.client.connect.max.retries", "10", range 0..=i32::MAX;
        /// Between retries.
        IPC_CLIENT_CONNECT_RETRY_INTERVAL: Milliseconds = "ipc.client.connect.retry.interval", "1000";
        /// Timed out connects.
        IPC_CLIENT_CONNECT_MAX_RETRIES_ON_TIMEOUTS: Int = "ipc.client.connect.max.retries.on.timeouts", "45", range 0..=i32::MAX;
        /// Idle client connection closed.
        IPC_CLIENT_CONNECTION_MAXIDLETIME: Milliseconds = "ipc.client.connection.maxidletime", "10000";
        /// Per call timeout (0 = only ping).
        IPC_CLIENT_RPC_TIMEOUT_MS: Milliseconds = "ipc.client.rpc-timeout.ms", "120000";
        /// Ping period.
        IPC_PING_INTERVAL: Milliseconds = "ipc.ping.interval", "60000";
        /// Largest request frame.
        IPC_MAXIMUM_DATA_LENGTH: Int = "ipc.maximum.data.length", "134217728", range 1..=i32::MAX;
        /// Largest response the client accepts.
        IPC_MAXIMUM_RESPONSE_LENGTH: Int = "ipc.maximum.response.length", "134217728", range 1..=i32::MAX;
        /// Backlog.
        IPC_SERVER_LISTEN_QUEUE_SIZE: Int = "ipc.server.listen.queue.size", "256", range 1..=65535;
        /// Connections below which a server leaves idle ones alone.
        IPC_CLIENT_IDLETHRESHOLD: Int = "ipc.client.idlethreshold", "4000", range 0..=i32::MAX;
        /// 0 unlimited.
        IPC_SERVER_MAX_CONNECTIONS: Int = "ipc.server.max.connections", "0", range 0..=i32::MAX;
        /// Authentication, integrity, privacy (SASL QOP).
        HADOOP_RPC_PROTECTION: List = "hadoop.rpc.protection", "authentication";
    }
    "Quotas and policies" {
        /// Quotas on single storage types can be set.
        DFS_QUOTA_BY_STORAGE_TYPE_ENABLED: Bool = "dfs.quota.by.storage.type.enabled", "true";
        /// The owner of a directory may set quotas on what lies directly in it.
        DFS_PERMISSIONS_ALLOW_OWNER_SET_QUOTA: Bool = "dfs.permissions.allow.owner.set.quota", "false";
        /// Erasure coding policy that is enabled from the start; empty: none.
        DFS_NAMENODE_EC_SYSTEM_DEFAULT_POLICY: Text = "dfs.namenode.ec.system.default.policy", "RS-6-3-1024k";
        /// Largest cell of a user's erasure coding policy, in bytes.
        DFS_NAMENODE_EC_POLICIES_MAX_CELLSIZE: Int = "dfs.namenode.ec.policies.max.cellsize", "4194304", range 1..=i32::MAX;
        /// Erasure coding policies can be added.
        DFS_NAMENODE_EC_USERDEFINED_POLICY_ALLOWED: Bool = "dfs.namenode.ec.userdefined.policy.allowed", "true";
        /// Storage policies can be set.
        DFS_STORAGE_POLICY_ENABLED: Bool = "dfs.storage.policy.enabled", "true";
        /// Only superusers set storage policies.
        DFS_STORAGE_POLICY_PERMISSIONS_SUPERUSER_ONLY: Bool = "dfs.storage.policy.permissions.superuser-only", "false";
    }
    "NameNode storage" {
        /// Fsimage (+edits) dirs, all written.
        DFS_NAMENODE_NAME_DIR: Dirs = "dfs.namenode.name.dir", "file://${hadoop.tmp.dir}/dfs/name", old ["dfs.name.dir"];
        /// Edit log dirs.
        DFS_NAMENODE_EDITS_DIR: Dirs = "dfs.namenode.edits.dir", "${dfs.namenode.name.dir}", old ["dfs.name.edits.dir"];
        /// Mode of storage dirs.
        DFS_NAMENODE_STORAGE_DIR_PERM: Mode = "dfs.namenode.storage.dir.perm", "700";
        /// Name directories that must go on being written: one that fails stops the NameNode.
        DFS_NAMENODE_EDITS_DIR_REQUIRED: Dirs = "dfs.namenode.edits.dir.required", "";
        /// Name directories that must be written at least.
        DFS_NAMENODE_EDITS_DIR_MINIMUM: Int = "dfs.namenode.edits.dir.minimum", "1";
        /// Name directories that failed are tried again when an edits segment begins.
        DFS_NAMENODE_NAME_DIR_RESTORE: Bool = "dfs.namenode.name.dir.restore", "false";
        /// Where -importCheckpoint finds the image.
        DFS_NAMENODE_CHECKPOINT_DIR: Dirs = "dfs.namenode.checkpoint.dir", "file://${hadoop.tmp.dir}/dfs/namesecondary", old ["fs.checkpoint.dir"];
        /// Layout of name directories that are formatted or upgraded: -66 for Hadoop 3.3, -67 for 3.4 and 3.5.
        SURUS_NAMENODE_LAYOUT_VERSION: Int = "surus.namenode.layout.version", "-67", range -67..=-66;
        /// Images kept.
        DFS_NAMENODE_NUM_CHECKPOINTS_RETAINED: Int = "dfs.namenode.num.checkpoints.retained", "2", range 1..=i32::MAX;
        /// Txns kept beyond need.
        DFS_NAMENODE_NUM_EXTRA_EDITS_RETAINED: Long = "dfs.namenode.num.extra.edits.retained", "1000000", range 0..=i64::MAX;
        /// Cap on retained old segments.
        DFS_NAMENODE_MAX_EXTRA_EDITS_SEGMENTS_RETAINED: Int = "dfs.namenode.max.extra.edits.segments.retained", "10000", range 0..=i32::MAX;
        /// Checkpoint when this old.
        DFS_NAMENODE_CHECKPOINT_PERIOD: Seconds = "dfs.namenode.checkpoint.period", "3600", old ["fs.checkpoint.period"];
        /// Or this many txns.
        DFS_NAMENODE_CHECKPOINT_TXNS: Long = "dfs.namenode.checkpoint.txns", "1000000", range 1..=i64::MAX;
        /// Roll when txns exceed this x checkpoint.txns.
        DFS_NAMENODE_EDIT_LOG_AUTOROLL_MULTIPLIER_THRESHOLD: Float = "dfs.namenode.edit.log.autoroll.multiplier.threshold", "0.5";
        /// Compress images.
        DFS_IMAGE_COMPRESS: Bool = "dfs.image.compress", "false";
        /// With this codec: DefaultCodec, GzipCodec, BZip2Codec, Lz4Codec, SnappyCodec or ZStandardCodec.
        DFS_IMAGE_COMPRESSION_CODEC: Text = "dfs.image.compression.codec", "org.apache.hadoop.io.compress.DefaultCodec";
        /// Cut the large sections of images into parts, which Hadoop loads in parallel.
        DFS_IMAGE_PARALLEL_LOAD: Bool = "dfs.image.parallel.load", "false";
        /// Into so many.
        DFS_IMAGE_PARALLEL_TARGET_SECTIONS: Int = "dfs.image.parallel.target.sections", "12", range 1..=i32::MAX;
        /// From so many inodes on.
        DFS_IMAGE_PARALLEL_INODE_THRESHOLD: Long = "dfs.image.parallel.inode.threshold", "1000000", range 0..=i64::MAX;
        /// Images and edits are sent to standbys and secondary NameNodes no faster, in bytes a second; 0: as fast as can be.
        DFS_IMAGE_TRANSFER_BANDWIDTH_PER_SEC: Long = "dfs.image.transfer.bandwidthPerSec", "52428800";
        /// The same for a standby that is being set up.
        DFS_IMAGE_TRANSFER_BOOTSTRAP_STANDBY_BANDWIDTH_PER_SEC: Long = "dfs.image.transfer-bootstrap-standby.bandwidthPerSec", "0";
        /// Below: safe mode.
        DFS_NAMENODE_RESOURCE_DU_RESERVED: Size = "dfs.namenode.resource.du.reserved", "104857600";
        /// Disk space check period.
        DFS_NAMENODE_RESOURCE_CHECK_INTERVAL: Milliseconds = "dfs.namenode.resource.check.interval", "5000";
        /// Commands that the audit log names at level debug only.
        DFS_NAMENODE_AUDIT_LOG_DEBUG_CMDLIST: List = "dfs.namenode.audit.log.debug.cmdlist", "";
        /// The audit log shows what a client says of its call (`callerContext=`).
        HADOOP_CALLER_CONTEXT_ENABLED: Bool = "hadoop.caller.context.enabled", "false";
        /// More of it is cut, in characters.
        HADOOP_CALLER_CONTEXT_MAX_SIZE: Int = "hadoop.caller.context.max.size", "128";
        /// A longer signature is not shown, in bytes.
        HADOOP_CALLER_CONTEXT_SIGNATURE_MAX_SIZE: Int = "hadoop.caller.context.signature.max.size", "40";
        /// Before what the NameNode adds to it.
        HADOOP_CALLER_CONTEXT_SEPARATOR: Text = "hadoop.caller.context.separator", ",";
        /// The NameNode adds the client's port to the context.
        DFS_NAMENODE_AUDIT_LOG_WITH_REMOTE_PORT: Bool = "dfs.namenode.audit.log.with.remote.port", "false";
        /// Events in one answer to an inotify client, about.
        DFS_NAMENODE_INOTIFY_MAX_EVENTS_PER_RPC: Int = "dfs.namenode.inotify.max.events.per.rpc", "1000", range 1..=i32::MAX;
        /// Refuse reformat.
        DFS_REFORMAT_DISABLED: Bool = "dfs.reformat.disabled", "false";
        /// False forbids -format.
        DFS_NAMENODE_SUPPORT_ALLOW_FORMAT: Bool = "dfs.namenode.support.allow.format", "true";
    }
    "NameNode service and limits" {
        /// Accepted and without effect: no handler waits for a disk, so there is no count to tune.
        DFS_NAMENODE_HANDLER_COUNT: Int = "dfs.namenode.handler.count", "10", range 1..=i32::MAX;
        /// Accepted and without effect, as dfs.namenode.handler.count.
        DFS_NAMENODE_SERVICE_HANDLER_COUNT: Int = "dfs.namenode.service.handler.count", "10", range 1..=i32::MAX;
        /// 0 = off; also path limits 8000 chars / 1000 levels fixed.
        DFS_NAMENODE_FS_LIMITS_MAX_COMPONENT_LENGTH: Int = "dfs.namenode.fs-limits.max-component-length", "255", range 0..=i32::MAX;
        /// Children per dir, hard cap 6,400,000.
        DFS_NAMENODE_FS_LIMITS_MAX_DIRECTORY_ITEMS: Int = "dfs.namenode.fs-limits.max-directory-items", "1048576", range 1..=6400000;
        /// Lower block sizes refused.
        DFS_NAMENODE_FS_LIMITS_MIN_BLOCK_SIZE: Size = "dfs.namenode.fs-limits.min-block-size", "1048576";
        /// AddBlock fails beyond.
        DFS_NAMENODE_FS_LIMITS_MAX_BLOCKS_PER_FILE: Long = "dfs.namenode.fs-limits.max-blocks-per-file", "10000", range 1..=i64::MAX;
        /// False: no checks (owner/mode still stored).
        DFS_PERMISSIONS_ENABLED: Bool = "dfs.permissions.enabled", "true", old ["dfs.permissions"];
        /// Members are superusers.
        DFS_PERMISSIONS_SUPERUSERGROUP: Text = "dfs.permissions.superusergroup", "supergroup", old ["dfs.permissions.supergroup"];
        /// 0 = no atime.
        DFS_NAMENODE_ACCESSTIME_PRECISION: Milliseconds = "dfs.namenode.accesstime.precision", "3600000", old ["dfs.access.time.precision"];
        /// Entries per getListing.
        DFS_LS_LIMIT: Int = "dfs.ls.limit", "1000", range 1..=i32::MAX;
        /// Zones in one answer of listEncryptionZones.
        DFS_NAMENODE_LIST_ENCRYPTION_ZONES_NUM_RESPONSES: Int = "dfs.namenode.list.encryption.zones.num.responses", "100", range 1..=i32::MAX;
        /// 0 unlimited.
        DFS_NAMENODE_MAX_OBJECTS: Long = "dfs.namenode.max.objects", "0", range 0..=i64::MAX, old ["dfs.max.objects"];
        /// Lease monitor period.
        DFS_NAMENODE_LEASE_RECHECK_INTERVAL_MS: Milliseconds = "dfs.namenode.lease-recheck-interval-ms", "2000", range 1..=i64::MAX;
        /// Soft limit fixed 60 s.
        DFS_NAMENODE_LEASE_HARD_LIMIT_SEC: Seconds = "dfs.namenode.lease-hard-limit-sec", "1200", range 1..=i64::MAX;
        /// At-most-once cache on.
        DFS_NAMENODE_ENABLE_RETRYCACHE: Bool = "dfs.namenode.enable.retrycache", "true";
        /// Entry life.
        DFS_NAMENODE_RETRYCACHE_EXPIRYTIME_MILLIS: Milliseconds = "dfs.namenode.retrycache.expirytime.millis", "600000";
        /// Home = prefix/USER.
        DFS_USER_HOME_DIR_PREFIX: Text = "dfs.user.home.dir.prefix", "/user";
        /// False: ACL ops fail, existing ACLs kept and enforced.
        DFS_NAMENODE_ACLS_ENABLED: Bool = "dfs.namenode.acls.enabled", "true";
        /// Default ACLs limit the mode before the client's umask.
        DFS_NAMENODE_POSIX_ACL_INHERITANCE_ENABLED: Bool = "dfs.namenode.posix.acl.inheritance.enabled", "true";
        /// Snapshots of one directory.
        DFS_NAMENODE_SNAPSHOT_MAX_LIMIT: Int = "dfs.namenode.snapshot.max.limit", "65536", range 1..=i32::MAX;
        /// Snapshots of all directories.
        DFS_NAMENODE_SNAPSHOT_FILESYSTEM_LIMIT: Int = "dfs.namenode.snapshot.filesystem.limit", "65536", range 1..=i32::MAX;
        /// Open files keep in a snapshot the length they had when it was taken.
        DFS_NAMENODE_SNAPSHOT_CAPTURE_OPENFILES: Bool = "dfs.namenode.snapshot.capture.openfiles", "false";
        /// A new access time alone is no change after a snapshot.
        DFS_NAMENODE_SNAPSHOT_SKIP_CAPTURE_ACCESSTIME_ONLY_CHANGE: Bool = "dfs.namenode.snapshot.skip.capture.accesstime-only-change", "false";
        /// Differences of a directory below the snapshottable one.
        DFS_NAMENODE_SNAPSHOTDIFF_ALLOW_SNAP_ROOT_DESCENDANT: Bool = "dfs.namenode.snapshotdiff.allow.snap-root-descendant", "true";
        /// Entries of one page of a snapshot difference.
        DFS_NAMENODE_SNAPSHOTDIFF_LISTING_LIMIT: Int = "dfs.namenode.snapshotdiff.listing.limit", "1000", range 1..=i32::MAX;
        /// Each snapshottable directory has a trash of its own.
        DFS_NAMENODE_SNAPSHOT_TRASHROOT_ENABLED: Bool = "dfs.namenode.snapshot.trashroot.enabled", "false";
        /// Snapshots other than the oldest are marked and deleted later.
        DFS_NAMENODE_SNAPSHOT_DELETION_ORDERED: Bool = "dfs.namenode.snapshot.deletion.ordered", "false";
        /// How often a marked snapshot that has become the oldest is deleted, one at a time.
        DFS_NAMENODE_SNAPSHOT_DELETION_ORDERED_GC_PERIOD_MS: Milliseconds = "dfs.namenode.snapshot.deletion.ordered.gc.period.ms", "300000", range 1..=i64::MAX;
        /// False: xattr ops fail.
        DFS_NAMENODE_XATTRS_ENABLED: Bool = "dfs.namenode.xattrs.enabled", "true";
        /// Attributes of the namespaces user and trusted.
        DFS_NAMENODE_FS_LIMITS_MAX_XATTRS_PER_INODE: Int = "dfs.namenode.fs-limits.max-xattrs-per-inode", "32", range 0..=i32::MAX;
        /// Bytes of name and value.
        DFS_NAMENODE_FS_LIMITS_MAX_XATTR_SIZE: Int = "dfs.namenode.fs-limits.max-xattr-size", "16384", range 1..=32768;
    }
    "Replication and heartbeats" {
        /// Client default.
        DFS_REPLICATION: Number<i16> = "dfs.replication", "3", range 1..=32767;
        /// Largest replication accepted.
        DFS_REPLICATION_MAX: Int = "dfs.replication.max", "512", range 1..=32767;
        /// Needed for complete().
        DFS_NAMENODE_REPLICATION_MIN: Int = "dfs.namenode.replication.min", "1", range 1..=32767, old ["dfs.replication.min"];
        /// Client default.
        DFS_BLOCKSIZE: Size = "dfs.blocksize", "134217728", range 1..=i64::MAX, old ["dfs.block.size"];
        /// DN heartbeat.
        DFS_HEARTBEAT_INTERVAL: Seconds = "dfs.heartbeat.interval", "3", range 1..=i64::MAX;
        /// Dead after 2 x this + 10 x heartbeat = 630 s.
        DFS_NAMENODE_HEARTBEAT_RECHECK_INTERVAL: Milliseconds = "dfs.namenode.heartbeat.recheck-interval", "300000", range 1..=i64::MAX, old ["heartbeat.recheck.interval"];
        /// No heartbeat for this long: stale.
        DFS_NAMENODE_STALE_DATANODE_INTERVAL: Milliseconds = "dfs.namenode.stale.datanode.interval", "30000", range 1..=i64::MAX;
        /// Sort stale nodes last on read.
        DFS_NAMENODE_AVOID_READ_STALE_DATANODE: Bool = "dfs.namenode.avoid.read.stale.datanode", "false";
        /// Do not choose stale nodes.
        DFS_NAMENODE_AVOID_WRITE_STALE_DATANODE: Bool = "dfs.namenode.avoid.write.stale.datanode", "false";
        /// Replication monitor.
        DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS: Seconds = "dfs.namenode.redundancy.interval.seconds", "3", range 1..=i64::MAX, old ["dfs.replication.interval", "dfs.namenode.replication.interval"];
        /// Deletes files of LAZY_PERSIST without replicas; 0: never.
        DFS_NAMENODE_LAZY_PERSIST_FILE_SCRUB_INTERVAL_SEC: Seconds = "dfs.namenode.lazypersist.file.scrub.interval.sec", "300", range 0..=i64::MAX;
        /// Per DN.
        DFS_NAMENODE_REPLICATION_MAX_STREAMS: Int = "dfs.namenode.replication.max-streams", "2", range 1..=i32::MAX, old ["dfs.max-repl-streams"];
        /// Limit for highest priority work.
        DFS_NAMENODE_REPLICATION_MAX_STREAMS_HARD_LIMIT: Int = "dfs.namenode.replication.max-streams-hard-limit", "4", range 1..=i32::MAX;
        /// Work per live node per tick.
        DFS_NAMENODE_REPLICATION_WORK_MULTIPLIER_PER_ITERATION: Int = "dfs.namenode.replication.work.multiplier.per.iteration", "2", range 1..=i32::MAX;
        /// Re-queue a pending copy.
        DFS_NAMENODE_RECONSTRUCTION_PENDING_TIMEOUT_SEC: Seconds = "dfs.namenode.reconstruction.pending.timeout-sec", "300", old ["dfs.replication.pending.timeout.sec", "dfs.namenode.replication.pending.timeout-sec"];
        /// Deletes per heartbeat.
        DFS_BLOCK_INVALIDATE_LIMIT: Int = "dfs.block.invalidate.limit", "1000", range 1..=i32::MAX;
        /// Skip overloaded nodes.
        DFS_NAMENODE_REDUNDANCY_CONSIDER_LOAD: Bool = "dfs.namenode.redundancy.considerLoad", "true", old ["dfs.replication.considerLoad", "dfs.namenode.replication.considerLoad"];
        /// Load above factor x average is too much.
        DFS_NAMENODE_REDUNDANCY_CONSIDER_LOAD_FACTOR: Float = "dfs.namenode.redundancy.considerLoad.factor", "2.0";
        /// Include; with CombinedHostFileManager: the JSON file of all DataNodes.
        DFS_HOSTS: Optional<Text> = "dfs.hosts", "";
        /// Exclude.
        DFS_HOSTS_EXCLUDE: Optional<Text> = "dfs.hosts.exclude", "";
        /// Reads dfs.hosts and dfs.hosts.exclude: HostFileManager (text files), or CombinedHostFileManager (dfs.hosts as JSON).
        DFS_NAMENODE_HOSTS_PROVIDER_CLASSNAME: Text = "dfs.namenode.hosts.provider.classname", "org.apache.hadoop.hdfs.server.blockmanagement.HostFileManager";
        /// Share of blocks with min replicas needed.
        DFS_NAMENODE_SAFEMODE_THRESHOLD_PCT: Float = "dfs.namenode.safemode.threshold-pct", "0.999f", old ["dfs.safemode.threshold.pct"];
        /// Live DNs needed.
        DFS_NAMENODE_SAFEMODE_MIN_DATANODES: Int = "dfs.namenode.safemode.min.datanodes", "0", range 0..=i32::MAX;
        /// Wait after threshold.
        DFS_NAMENODE_SAFEMODE_EXTENSION: Milliseconds = "dfs.namenode.safemode.extension", "30000", old ["dfs.safemode.extension"];
        /// Min replicas counted in safe mode.
        DFS_NAMENODE_SAFEMODE_REPLICATION_MIN: Optional<Int> = "dfs.namenode.safemode.replication.min", "", range 1..=32767;
    }
    "DataNode" {
        /// Storage types by prefix [DISK][SSD][ARCHIVE][RAM_DISK][NVDIMM][PROVIDED].
        DFS_DATANODE_DATA_DIR: StorageDirs = "dfs.datanode.data.dir", "file://${hadoop.tmp.dir}/dfs/data", old ["dfs.data.dir"];
        /// Checked/enforced.
        DFS_DATANODE_DATA_DIR_PERM: Mode = "dfs.datanode.data.dir.perm", "700";
        /// Accepted and without effect, as dfs.namenode.handler.count.
        DFS_DATANODE_HANDLER_COUNT: Int = "dfs.datanode.handler.count", "10", range 1..=i32::MAX;
        /// Xceivers.
        DFS_DATANODE_MAX_TRANSFER_THREADS: Int = "dfs.datanode.max.transfer.threads", "4096", range 1..=i32::MAX, old ["dfs.datanode.max.xcievers"];
        /// -1 = any but all.
        DFS_DATANODE_FAILED_VOLUMES_TOLERATED: Int = "dfs.datanode.failed.volumes.tolerated", "0", range -1..=i32::MAX;
        /// Also .TYPE and per dir suffix.
        DFS_DATANODE_DU_RESERVED: Size = "dfs.datanode.du.reserved", "0";
        /// Full block report period.
        DFS_BLOCKREPORT_INTERVAL_MSEC: Milliseconds = "dfs.blockreport.intervalMsec", "21600000", range 1..=i64::MAX;
        /// Random within.
        DFS_BLOCKREPORT_INITIAL_DELAY: Seconds = "dfs.blockreport.initialDelay", "0";
        /// Above: one RPC per storage.
        DFS_BLOCKREPORT_SPLIT_THRESHOLD: Long = "dfs.blockreport.split.threshold", "1000000", range 0..=i64::MAX;
        /// 0 = at once.
        DFS_BLOCKREPORT_INCREMENTAL_INTERVAL_MSEC: Milliseconds = "dfs.blockreport.incremental.intervalMsec", "0";
        /// Balancer traffic cap per DN.
        DFS_DATANODE_BALANCE_BANDWIDTH_PER_SEC: Size = "dfs.datanode.balance.bandwidthPerSec", "100m", old ["dfs.balance.bandwidthPerSec"];
        /// Sendfile.
        DFS_DATANODE_TRANSFER_TO_ALLOWED: Bool = "dfs.datanode.transferTo.allowed", "true";
        /// Sync a replica to disk when it is closed.
        DFS_DATANODE_SYNCONCLOSE: Bool = "dfs.datanode.synconclose", "false";
        /// A DataNode that is back so long after a shutdown for an upgrade goes on with what its writers left.
        DFS_DATANODE_RESTART_REPLICA_EXPIRATION: Seconds = "dfs.datanode.restart.replica.expiration", "50", range 0..=i64::MAX;
        /// Write timeout on data sockets.
        DFS_DATANODE_SOCKET_WRITE_TIMEOUT: Milliseconds = "dfs.datanode.socket.write.timeout", "480000";
        /// Idle data connection.
        DFS_DATANODE_SOCKET_REUSE_KEEPALIVE: Milliseconds = "dfs.datanode.socket.reuse.keepalive", "4000";
    }
    "Client" {
        /// Chunk.
        DFS_BYTES_PER_CHECKSUM: Int = "dfs.bytes-per-checksum", "512", range 1..=1048576, old ["io.bytes.per.checksum"];
        /// NULL, CRC32, CRC32C.
        DFS_CHECKSUM_TYPE: OneOf = "dfs.checksum.type", "CRC32C", choices ["NULL", "CRC32", "CRC32C"];
        /// MD5MD5CRC or COMPOSITE_CRC.
        DFS_CHECKSUM_COMBINE_MODE: OneOf = "dfs.checksum.combine.mode", "MD5MD5CRC", choices ["MD5MD5CRC", "COMPOSITE_CRC"];
        /// Packet incl. header.
        DFS_CLIENT_WRITE_PACKET_SIZE: Int = "dfs.client-write-packet-size", "65536", range 1024..=16777216, old ["dfs.write.packet.size"];
        /// Max in queue.
        DFS_CLIENT_WRITE_MAX_PACKETS_IN_FLIGHT: Int = "dfs.client.write.max-packets-in-flight", "80", range 1..=i32::MAX;
        /// Read; write timeout 8 min.
        DFS_CLIENT_SOCKET_TIMEOUT: Milliseconds = "dfs.client.socket-timeout", "60000", old ["dfs.socket.timeout"];
        /// Block allocation retries.
        DFS_CLIENT_BLOCK_WRITE_RETRIES: Int = "dfs.client.block.write.retries", "3", range 0..=i32::MAX;
        /// AddBlock/complete.
        DFS_CLIENT_BLOCK_WRITE_LOCATE_FOLLOWING_BLOCK_RETRIES: Int = "dfs.client.block.write.locateFollowingBlock.retries", "5", range 0..=i32::MAX;
        /// Doubles.
        DFS_CLIENT_BLOCK_WRITE_LOCATE_FOLLOWING_BLOCK_INITIAL_DELAY_MS: Milliseconds = "dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "400";
        /// Replace failed pipeline nodes.
        DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_ENABLE: Bool = "dfs.client.block.write.replace-datanode-on-failure.enable", "true";
        /// NEVER, DEFAULT, ALWAYS.
        DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_POLICY: OneOf = "dfs.client.block.write.replace-datanode-on-failure.policy", "DEFAULT", choices ["NEVER", "DEFAULT", "ALWAYS"];
        /// Go on if replacement fails.
        DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_BEST_EFFORT: Bool = "dfs.client.block.write.replace-datanode-on-failure.best-effort", "false";
        /// Go on if at least this many remain.
        DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_MIN_REPLICATION: Int = "dfs.client.block.write.replace-datanode-on-failure.min-replication", "0", range 0..=32767;
        /// Recoveries for the same packet.
        DFS_CLIENT_PIPELINE_RECOVERY_MAX_RETRIES: Int = "dfs.client.pipeline.recovery.max-retries", "5", range 0..=i32::MAX;
        /// How long a bad node stays excluded.
        DFS_CLIENT_WRITE_EXCLUDE_NODES_CACHE_EXPIRY_INTERVAL_MILLIS: Milliseconds = "dfs.client.write.exclude.nodes.cache.expiry.interval.millis", "600000";
        /// Read retries.
        DFS_CLIENT_MAX_BLOCK_ACQUIRE_FAILURES: Int = "dfs.client.max.block.acquire.failures", "3", range 0..=i32::MAX;
        /// Default 10 x block size.
        DFS_CLIENT_READ_PREFETCH_SIZE: Optional<Size> = "dfs.client.read.prefetch.size", "", old ["dfs.read.prefetch.size"];
        /// Asking DNs for the length of an open file.
        DFS_CLIENT_RETRY_TIMES_GET_LAST_BLOCK_LENGTH: Int = "dfs.client.retry.times.get-last-block-length", "3", range 0..=i32::MAX;
        /// Client waits for restarting DN.
        DFS_CLIENT_DATANODE_RESTART_TIMEOUT: Seconds = "dfs.client.datanode-restart.timeout", "30";
        /// Non-HA RPC.
        DFS_CLIENT_RETRY_POLICY_ENABLED: Bool = "dfs.client.retry.policy.enabled", "false";
        /// Pairs of sleep ms, retries.
        DFS_CLIENT_RETRY_POLICY_SPEC: Text = "dfs.client.retry.policy.spec", "10000,6,60000,10";
        /// HA.
        DFS_CLIENT_RETRY_MAX_ATTEMPTS: Int = "dfs.client.retry.max.attempts", "10", range 0..=i32::MAX;
        /// Rm -safely prompt limit.
        HADOOP_SHELL_SAFELY_DELETE_LIMIT_NUM_FILES: Int = "hadoop.shell.safely.delete.limit.num.files", "100", range 0..=i32::MAX;
    }
    "High availability" {
        /// Logical ids.
        DFS_NAMESERVICES: List = "dfs.nameservices", "", old ["dfs.federation.nameservices"];
        /// Subset DNs report to.
        DFS_INTERNAL_NAMESERVICES: List = "dfs.internal.nameservices", "";
        /// Failovers before giving up.
        DFS_CLIENT_FAILOVER_MAX_ATTEMPTS: Int = "dfs.client.failover.max.attempts", "15", range 0..=i32::MAX;
        /// First back-off.
        DFS_CLIENT_FAILOVER_SLEEP_BASE_MILLIS: Milliseconds = "dfs.client.failover.sleep.base.millis", "500";
        /// Largest back-off.
        DFS_CLIENT_FAILOVER_SLEEP_MAX_MILLIS: Milliseconds = "dfs.client.failover.sleep.max.millis", "15000";
        /// Edits that all NameNodes of a nameservice share: `qjournal://host:port;host:port/id`.
        DFS_NAMENODE_SHARED_EDITS_DIR: Optional<Text> = "dfs.namenode.shared.edits.dir", "";
        /// Connect retries inside one NN.
        DFS_CLIENT_FAILOVER_CONNECTION_RETRIES: Int = "dfs.client.failover.connection.retries", "0", range 0..=i32::MAX;
        /// Random first NN.
        DFS_CLIENT_FAILOVER_RANDOM_ORDER: Bool = "dfs.client.failover.random.order", "true";
    }
    "HttpFS" {
        /// Port of the gateway.
        HTTPFS_HTTP_PORT: Int = "httpfs.http.port", "14000", range 0..=65535;
        /// Address that the gateway binds.
        HTTPFS_HTTP_HOSTNAME: Text = "httpfs.http.hostname", "0.0.0.0";
        /// What the gateway serves; with write-only GETFILESTATUS and LISTSTATUS too.
        HTTPFS_ACCESS_MODE: OneOf = "httpfs.access.mode", "read-write", choices ["read-write", "write-only", "read-only"];
    }
}
