//! The beans that monitors and scripts poll, from the state as it is now.
//! Source: `FSNamesystem.java`, `NameNodeMXBean.java`, `JMXJsonServlet.java`, Hadoop 3.5.0; names compared with a real one.

use super::beans::{Bean, Value, write_json_string};
use super::jmx_journals::{journals, name_dirs, transactions};
use crate::core::Core;
use crate::lock::{BUCKETS_US, Histogram, READS_A_SAMPLE};
use crate::{BUILD_VERSION, SOFTWARE_VERSION};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use surus_disk::{Disk, OpenMode, RealDisk};
use surus_namespace::Namespace;
use surus_namespace::blocks::{BlockStats, Datanode};
use surus_net::rpc::RpcCounters;
use surus_types::{AdminState, EcPolicyState};

const FS_NAMESYSTEM: &str = "org.apache.hadoop.hdfs.server.namenode.FSNamesystem";
const GIB: u64 = 1 << 30;
const NO_EC_BLOCK_GROUPS: [&str; 7] = [
    "BytesInFutureECBlockGroups",
    "CorruptECBlockGroups",
    "HighestPriorityLowRedundancyECBlocks",
    "LowRedundancyECBlockGroups",
    "MissingECBlockGroups",
    "PendingDeletionECBlocks",
    "TotalECBlockGroups",
];

type Attributes = Vec<(&'static str, Value)>;

/// All beans, in an order that need not mean anything.
pub fn beans(core: &Core) -> Vec<Bean> {
    let namespace = core.namespace.read();
    let numbers = Numbers::new(core, &namespace);
    let bean = |name: &str, modeler_type: &str, attributes| Bean {
        name: name.to_owned(),
        modeler_type: modeler_type.to_owned(),
        attributes,
    };
    let mut beans = vec![
        bean("Hadoop:service=NameNode,name=FSNamesystemState", FS_NAMESYSTEM, fs_namesystem_state(core, &numbers)),
        bean("Hadoop:service=NameNode,name=FSNamesystem", "FSNamesystem", fs_namesystem(core, &numbers)),
        bean("Hadoop:service=NameNode,name=NameNodeInfo", FS_NAMESYSTEM, namenode_info(core, &namespace, &numbers)),
        bean(
            "Hadoop:service=NameNode,name=NameNodeStatus",
            "org.apache.hadoop.hdfs.server.namenode.NameNode",
            namenode_status(core, &numbers),
        ),
        bean("Hadoop:service=NameNode,name=ReplicatedBlocksState", FS_NAMESYSTEM, replicated_blocks(&numbers.blocks)),
        bean("Hadoop:service=NameNode,name=StartupProgress", "StartupProgress", startup_progress(core)),
        bean("Hadoop:service=NameNode,name=NameNodeActivity", "NameNodeActivity", activity(core)),
        bean("Hadoop:service=NameNode,name=NamespaceLock", "NamespaceLock", namespace_lock(core)),
        bean("Hadoop:service=NameNode,name=NamespaceTables", "NamespaceTables", namespace_tables(&namespace)),
        bean("Hadoop:service=NameNode,name=JvmMetrics", "JvmMetrics", jvm_metrics()),
        bean("java.lang:type=Memory", "sun.management.MemoryImpl", memory()),
        bean("java.lang:type=Runtime", "sun.management.RuntimeImpl", runtime(core)),
    ];
    if let Some(counters) = core.rpc_counters.get() {
        let port = core.rpc_port.load(Ordering::Relaxed);
        let (name, modeler_type) =
            (format!("Hadoop:service=NameNode,name=RpcActivityForPort{port}"), format!("RpcActivityForPort{port}"));
        beans.push(bean(&name, &modeler_type, rpc_activity(counters, port)));
    }
    beans
}

/// What the RPC server counts. Nothing waits in a queue here, so the queue's numbers are 0.
fn rpc_activity(counters: &RpcCounters, port: u16) -> Attributes {
    let count = |n: &AtomicU64| Value::from(n.load(Ordering::Relaxed));
    vec![
        ("tag.port", port.to_string().into()),
        ("tag.serverName", "ClientNamenodeProtocol".into()),
        ("tag.Context", "rpc".into()),
        ("ReceivedBytes", count(&counters.received_bytes)),
        ("SentBytes", count(&counters.sent_bytes)),
        ("RpcProcessingTimeNumOps", count(&counters.calls)),
        ("RpcQueueTimeNumOps", count(&counters.calls)),
        ("RpcQueueTimeAvgTime", Value::Float(0.0)),
        ("TotalRequests", count(&counters.calls)),
        ("RpcAuthorizationFailures", count(&counters.refused)),
        ("CallQueueLength", Value::Int(0)),
    ]
}

/// What the edit log did. Source: `NameNodeMetrics.java`, Hadoop 3.5.0. All that share a sync count as batched but the first.
fn activity(core: &Core) -> Attributes {
    let (transactions, commits) = (core.held.transactions(), core.held.commits());
    vec![
        ("tag.ProcessName", "NameNode".into()),
        ("tag.Context", "dfs".into()),
        ("TransactionsNumOps", transactions.into()),
        ("TransactionsBatchedInSync", transactions.saturating_sub(commits).into()),
        ("SyncsNumOps", commits.into()),
    ]
}

/// Bytes of each table of the namespace.
fn namespace_tables(namespace: &Namespace) -> Attributes {
    namespace.table_bytes().map(|(table, bytes)| (table, (bytes as u64).into())).collect()
}

/// How long the namespace was locked: holds by their thread CPU time in microseconds, `{"10":N,"20":N,...,"more":N}`. Of
/// reads one in `ReadHoldSampleInterval` is measured; of the others those that lasted longer than 5 ms by the clock, which
/// counts what the scheduler took too, are in `ReadHoldUnmeasuredOver5Millis`.
fn namespace_lock(core: &Core) -> Attributes {
    let text = |histogram: &Histogram| {
        let mut out = String::from("{");
        for (index, count) in histogram.counts().into_iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            let _ = match BUCKETS_US.get(index) {
                Some(end) => write!(out, "\"{end}\":{count}"),
                None => write!(out, "\"more\":{count}"),
            };
        }
        out.push('}');
        Value::from(out)
    };
    vec![
        ("WriteHoldMicros", text(&core.namespace.writes)),
        ("WriteHoldMicrosMax", core.namespace.writes.max_us().into()),
        ("ReadHoldMicros", text(&core.namespace.reads)),
        ("ReadHoldMicrosMax", core.namespace.reads.max_us().into()),
        ("ReadHoldSampleInterval", u64::from(READS_A_SAMPLE).into()),
        ("ReadHoldUnmeasuredOver5Millis", core.namespace.long_reads().into()),
    ]
}

struct Numbers {
    files: u64,
    blocks: BlockStats,
    total: u64,
    used: u64,
    remaining: u64,
    non_dfs: u64,
    pool_used: u64,
    load: u64,
    failed_volumes: u64,
    live: u64,
    dead: u64,
    in_service: u64,
    decommissioning: u64,
    encryption_zones: u64,
    decommissioned_live: u64,
    decommissioned_dead: u64,
    stale: u64,
    open_files: u64,
    /// Clients that hold leases.
    writers: u64,
    /// Names of those that are enabled.
    ec_policies: String,
    safe_mode: bool,
    snapshottable: i64,
    snapshots: i64,
}

impl Numbers {
    fn new(core: &Core, namespace: &Namespace) -> Self {
        let capacity = namespace.blocks.capacity();
        let nodes = &namespace.blocks.datanodes;
        let in_state = |alive: bool, state: AdminState| {
            nodes.iter().filter(|d| d.alive == alive && d.admin_state == state).count() as u64
        };
        Numbers {
            files: namespace.num_inodes(),
            blocks: namespace.blocks.stats(),
            total: capacity.total,
            used: capacity.used,
            remaining: capacity.remaining,
            non_dfs: capacity.non_dfs_used,
            pool_used: capacity.block_pool_used,
            load: capacity.load,
            failed_volumes: capacity.failed_volumes,
            live: u64::from(nodes.num_live()),
            dead: u64::from(nodes.num_dead()),
            in_service: in_state(true, AdminState::Normal),
            encryption_zones: namespace.tree.num_zones() as u64,
            decommissioning: in_state(true, AdminState::DecommissionInProgress),
            decommissioned_live: in_state(true, AdminState::Decommissioned),
            decommissioned_dead: in_state(false, AdminState::Decommissioned),
            stale: u64::from(namespace.blocks.num_stale(core.clock.monotonic_ms())),
            open_files: namespace.leases.num_open_files() as u64,
            writers: namespace.leases.num_leases() as u64,
            ec_policies: enabled_policies(namespace),
            safe_mode: namespace.blocks.safe_mode.is_on(),
            snapshottable: namespace.tree.snapshottable_directories().len() as i64,
            snapshots: namespace.tree.snapshots().len() as i64,
        }
    }

    /// What the two beans about the whole file system share.
    fn common(&self) -> Attributes {
        let b = &self.blocks;
        vec![
            ("FilesTotal", self.files.into()),
            ("BlocksTotal", b.total.into()),
            ("LowRedundancyBlocks", b.low_redundancy.into()),
            ("UnderReplicatedBlocks", b.low_redundancy.into()),
            ("CapacityTotal", self.total.into()),
            ("CapacityUsed", self.used.into()),
            ("CapacityRemaining", self.remaining.into()),
            ("NumEncryptionZones", self.encryption_zones.into()),
            ("PendingSPSPaths", Value::Int(0)),
            ("ReconstructionQueuesInitProgress", Value::Float(1.0)),
            ("NumLiveDataNodes", self.live.into()),
            ("NumDeadDataNodes", self.dead.into()),
            ("NumInServiceLiveDataNodes", self.in_service.into()),
            ("NumDecomLiveDataNodes", self.decommissioned_live.into()),
            ("NumDecomDeadDataNodes", self.decommissioned_dead.into()),
            ("NumDecommissioningDataNodes", self.decommissioning.into()),
            ("NumInMaintenanceLiveDataNodes", Value::Int(0)),
            ("NumInMaintenanceDeadDataNodes", Value::Int(0)),
            ("NumEnteringMaintenanceDataNodes", Value::Int(0)),
            ("VolumeFailuresTotal", self.failed_volumes.into()),
            ("EstimatedCapacityLostTotal", Value::Int(0)),
            ("NumStaleStorages", Value::Int(0)),
            ("ProvidedCapacityTotal", Value::Int(0)),
            ("TotalLoad", self.load.into()),
            ("CurrentTokensCount", Value::Int(0)),
            ("PendingReplicationBlocks", b.pending_reconstruction.into()),
            ("PendingReconstructionBlocks", b.pending_reconstruction.into()),
            ("ScheduledReplicationBlocks", b.scheduled_replication.into()),
            ("PendingDeletionBlocks", b.pending_deletion.into()),
        ]
    }
}

fn fs_namesystem_state(core: &Core, n: &Numbers) -> Attributes {
    let mut attributes = n.common();
    attributes.extend([
        ("FSState", if n.safe_mode { "safeMode" } else { "Operational" }.into()),
        ("NumStaleDataNodes", n.stale.into()),
        (
            "SnapshotStats",
            format!("{{\"SnapshottableDirectories\":{},\"Snapshots\":{}}}", n.snapshottable, n.snapshots).into(),
        ),
        ("FsLockQueueLength", Value::Int(0)),
        ("MaxObjects", Value::Int(0)),
        ("TotalSyncCount", core.held.commits().into()),
        ("BlockDeletionStartTime", core.clock.started_ms().into()),
        ("TopUserOpCounts", "{\"timestamp\":\"\",\"windows\":[]}".into()),
    ]);
    attributes
}

fn fs_namesystem(core: &Core, n: &Numbers) -> Attributes {
    let b = &n.blocks;
    let (last, checkpoint) = (core.last_txid().0, core.last_checkpoint());
    let mut attributes: Attributes = vec![
        ("tag.Context", "dfs".into()),
        ("tag.HAState", "active".into()),
        ("tag.Hostname", core.host_name.as_str().into()),
        ("tag.EnabledEcPolicies", n.ec_policies.as_str().into()),
        ("TotalSyncCount", core.held.commits().into()),
        ("NumActiveClients", n.writers.into()),
    ];
    attributes.extend(n.common());
    attributes.extend(replicated_blocks(b));
    // Block groups are kept, and not followed.
    attributes.extend(NO_EC_BLOCK_GROUPS.map(|name| (name, Value::Int(0))));
    attributes.extend([
        ("MissingBlocks", b.missing.into()),
        ("MissingReplOneBlocks", b.missing_replication_one.into()),
        ("BadlyDistBlocks", Value::Int(0)),
        ("ExpiredHeartbeats", Value::Int(0)),
        ("CorruptBlocks", b.corrupt.into()),
        ("HighestPriorityLowRedundancyReplicatedBlocks", b.highest_priority.into()),
        ("CapacityUsedNonDFS", n.non_dfs.into()),
        ("CapacityTotalGB", (n.total / GIB).into()),
        ("CapacityUsedGB", (n.used / GIB).into()),
        ("CapacityRemainingGB", (n.remaining / GIB).into()),
        ("SnapshottableDirectories", Value::Int(n.snapshottable)),
        ("Snapshots", Value::Int(n.snapshots)),
        ("NumTimedOutPendingReconstructions", b.pending_timed_out.into()),
        ("PendingDataNodeMessageCount", Value::Int(0)),
        ("LastCheckpointTime", checkpoint.time_ms.into()),
        // Ours: what the last checkpoint cost in memory.
        ("LastCheckpointCopiedBytes", core.checkpoint_copied_bytes.load(Ordering::Relaxed).into()),
        ("TransactionsSinceLastCheckpoint", last.saturating_sub(checkpoint.txid.0).into()),
        ("TransactionsSinceLastLogRoll", (last + 1).saturating_sub(core.journal.segment_first_txid().0).into()),
        ("LastWrittenTransactionId", last.into()),
        ("LockQueueLength", Value::Int(0)),
        ("NumFilesUnderConstruction", n.open_files.into()),
        ("ExcessBlocks", b.excess.into()),
        ("PostponedMisreplicatedBlocks", Value::Int(0)),
        ("MillisSinceLastLoadedEdits", Value::Int(0)),
        ("StaleDataNodes", n.stale.into()),
    ]);
    attributes
}

fn replicated_blocks(b: &BlockStats) -> Attributes {
    vec![
        ("LowRedundancyReplicatedBlocks", b.low_redundancy.into()),
        ("CorruptReplicatedBlocks", b.corrupt.into()),
        ("MissingReplicatedBlocks", b.missing.into()),
        ("MissingReplicationOneBlocks", b.missing_replication_one.into()),
        ("BytesInFutureReplicatedBlocks", b.bytes_in_future.into()),
        ("PendingDeletionReplicatedBlocks", b.pending_deletion.into()),
        ("BadlyDistributedBlocks", Value::Int(0)),
        ("TotalReplicatedBlocks", b.total.into()),
    ]
}

fn percent(part: u64, whole: u64) -> Value {
    Value::Float(if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 })
}

/// Of no room all is used. Source: `DFSUtilClient.getPercentUsed`, Hadoop 3.5.0.
fn percent_used(used: u64, capacity: u64) -> Value {
    if capacity == 0 { Value::Float(100.0) } else { percent(used, capacity) }
}

/// Source: `RollingUpgradeInfo.Bean`, Hadoop 3.5.0.
fn rolling_upgrade(core: &Core, namespace: &Namespace) -> Value {
    let Some(upgrade) = namespace.rolling_upgrade else { return Value::Null };
    Value::Map(vec![
        ("blockPoolId", core.id.block_pool_id.as_str().into()),
        ("createdRollbackImages", core.journal.upgrades().has_rollback_image().into()),
        ("finalizeTime", Value::Int(0)),
        ("startTime", Value::Int(upgrade.start_time)),
    ])
}

fn namenode_info(core: &Core, namespace: &Namespace, n: &Numbers) -> Attributes {
    let b = &n.blocks;
    let safe_mode = match n.safe_mode {
        true => format!("Safe mode is ON. {}", namespace.blocks.safe_mode_tip(core.clock.monotonic_ms())),
        false => String::new(),
    };
    let (versions, distinct) = versions(namespace);
    vec![
        ("Threads", threads().into()),
        ("Version", format!("{SOFTWARE_VERSION}, r{BUILD_VERSION}").into()),
        ("SoftwareVersion", SOFTWARE_VERSION.into()),
        ("BlockPoolId", core.id.block_pool_id.as_str().into()),
        ("ClusterId", core.id.cluster_id.as_str().into()),
        ("UpgradeFinalized", (!core.journal.upgrades().has_previous()).into()),
        ("RollingUpgradeStatus", rolling_upgrade(core, namespace)),
        ("Used", n.used.into()),
        ("Free", n.remaining.into()),
        ("Total", n.total.into()),
        ("ProvidedCapacity", Value::Int(0)),
        ("Safemode", safe_mode.into()),
        ("NonDfsUsedSpace", n.non_dfs.into()),
        ("PercentUsed", percent_used(n.used, n.total)),
        ("PercentRemaining", percent(n.remaining, n.total)),
        ("BlockPoolUsedSpace", n.pool_used.into()),
        ("PercentBlockPoolUsed", percent_used(n.pool_used, n.total)),
        ("CacheCapacity", Value::Int(0)),
        ("CacheUsed", Value::Int(0)),
        ("TotalBlocks", b.total.into()),
        ("NumberOfMissingBlocks", b.missing.into()),
        ("NumberOfMissingBlocksWithReplicationFactorOne", b.missing_replication_one.into()),
        ("NumberOfBadlyDistributedBlocks", Value::Int(0)),
        ("HighestPriorityLowRedundancyReplicatedBlocks", b.highest_priority.into()),
        ("HighestPriorityLowRedundancyECBlocks", Value::Int(0)),
        ("LiveNodes", nodes(core, namespace, true).into()),
        ("DeadNodes", nodes(core, namespace, false).into()),
        ("DecomNodes", "{}".into()),
        ("EnteringMaintenanceNodes", "{}".into()),
        ("NameDirStatuses", name_dirs(core).into()),
        ("NameJournalStatus", journals(core).into()),
        ("NodeUsage", node_usage(namespace).into()),
        ("JournalTransactionInfo", transactions(core).into()),
        ("NNStartedTimeInMillis", core.clock.started_ms().into()),
        ("CompileInfo", BUILD_VERSION.into()),
        ("CorruptFiles", "[]".into()),
        ("CorruptFilesCount", Value::Int(0)),
        ("NumberOfSnapshottableDirs", Value::Int(n.snapshottable)),
        ("DistinctVersionCount", versions.into()),
        ("DistinctVersions", distinct),
    ]
}

fn enabled_policies(namespace: &Namespace) -> String {
    let all = namespace.tree.ec_policies().by_name();
    let enabled = all.iter().filter(|info| info.state == EcPolicyState::Enabled);
    enabled.map(|info| info.policy.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Versions of the live DataNodes, and how many run each.
fn versions(namespace: &Namespace) -> (u64, Value) {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for node in namespace.blocks.datanodes.iter().filter(|d| d.alive) {
        match counts.iter_mut().find(|(version, _)| *version == &*node.software_version) {
            Some((_, count)) => *count += 1,
            None => counts.push((&node.software_version, 1)),
        }
    }
    let number = counts.len() as u64;
    let maps = counts.into_iter().map(|(v, count)| vec![("key", v.into()), ("value", count.into())]).collect();
    (number, Value::Maps(maps))
}

/// Lowest, median and highest share of its capacity that a live DataNode uses, and how far they spread.
fn node_usage(namespace: &Namespace) -> String {
    let mut usage: Vec<f64> = namespace
        .blocks
        .datanodes
        .iter()
        .filter(|d| d.alive && d.stats.capacity > 0)
        .map(|d| d.stats.dfs_used as f64 * 100.0 / d.stats.capacity as f64)
        .collect();
    usage.sort_by(f64::total_cmp);
    let at = |i: usize| usage.get(i).copied().unwrap_or(0.0);
    let count = usage.len().max(1) as f64;
    let mean = usage.iter().sum::<f64>() / count;
    let spread = (usage.iter().map(|u| (u - mean) * (u - mean)).sum::<f64>() / count).sqrt();
    format!(
        "{{\"nodeUsage\":{{\"min\":\"{:.2}%\",\"median\":\"{:.2}%\",\"max\":\"{:.2}%\",\"stdDev\":\"{spread:.2}%\"}}}}",
        at(0),
        at(usage.len() / 2),
        at(usage.len().saturating_sub(1))
    )
}

/// The DataNodes as the JSON text that is the value of LiveNodes and DeadNodes.
fn nodes(core: &Core, namespace: &Namespace, live: bool) -> String {
    let mut out = String::from("{");
    for node in namespace.blocks.datanodes.iter().filter(|d| d.alive == live) {
        if out.len() > 1 {
            out.push(',');
        }
        write_json_string(&mut out, &format!("{}:{}", node.id.host_name, node.id.xfer_port));
        out.push_str(":{");
        if live {
            live_node(core, node, &mut out)
        } else {
            dead_node(core, node, &mut out)
        }
        out.push('}');
    }
    out.push('}');
    out
}

fn seconds_since(core: &Core, monotonic_ms: u64) -> u64 {
    core.clock.monotonic_ms().saturating_sub(monotonic_ms) / 1000
}

fn admin_state(state: AdminState) -> &'static str {
    match state {
        AdminState::Normal => "In Service",
        AdminState::DecommissionInProgress => "Decommission In Progress",
        AdminState::Decommissioned => "Decommissioned",
        AdminState::EnteringMaintenance => "Entering Maintenance",
        AdminState::InMaintenance => "In Maintenance",
    }
}

fn live_node(core: &Core, node: &Datanode, out: &mut String) {
    let (id, stats) = (&node.id, &node.stats);
    let pool_percent =
        if stats.capacity == 0 { 0.0 } else { stats.block_pool_used as f64 * 100.0 / stats.capacity as f64 };
    let _ = write!(
        out,
        "\"infoAddr\":\"{ip}:{}\",\"infoSecureAddr\":\"{ip}:{}\",\"xferaddr\":\"{ip}:{}\",\"location\":\"{}\",\
         \"uuid\":\"{}\",\"lastContact\":{},\"usedSpace\":{},\"adminState\":\"{}\",\"nonDfsUsedSpace\":{},\
         \"capacity\":{},\"numBlocks\":{},\"version\":\"{}\",\"used\":{},\"remaining\":{},\"blockScheduled\":0,\
         \"blockPoolUsed\":{},\"blockPoolUsedPercent\":{pool_percent:?},\"volfails\":{},\"lastBlockReport\":{}",
        id.info_port,
        id.info_secure_port,
        id.xfer_port,
        node.network_location,
        id.uuid,
        seconds_since(core, stats.last_update_monotonic_ms),
        stats.dfs_used,
        admin_state(node.admin_state),
        stats.non_dfs_used,
        stats.capacity,
        stats.num_blocks,
        node.software_version,
        stats.dfs_used,
        stats.remaining,
        stats.block_pool_used,
        stats.failed_volumes,
        seconds_since(core, stats.last_block_report_monotonic_ms) / 60,
        ip = id.ip_addr,
    );
}

fn dead_node(core: &Core, node: &Datanode, out: &mut String) {
    let _ = write!(
        out,
        "\"lastContact\":{},\"decommissioned\":{},\"adminState\":\"{}\",\"xferaddr\":\"{}:{}\",\"location\":\"{}\",\
         \"uuid\":\"{}\"",
        seconds_since(core, node.stats.last_update_monotonic_ms),
        node.admin_state == AdminState::Decommissioned,
        admin_state(node.admin_state),
        node.id.ip_addr,
        node.id.xfer_port,
        node.network_location,
        node.id.uuid,
    );
}

fn namenode_status(core: &Core, n: &Numbers) -> Attributes {
    vec![
        ("NNRole", "NameNode".into()),
        ("HostAndPort", core.rpc_name().into()),
        ("State", "active".into()),
        ("SecurityEnabled", false.into()),
        ("LastHATransitionTime", Value::Int(0)),
        ("BytesWithFutureGenerationStamps", n.blocks.bytes_in_future.into()),
        ("SlowPeersReport", Value::Null),
        ("SlowDisksReport", Value::Null),
    ]
}

fn startup_progress(core: &Core) -> Attributes {
    vec![
        ("ElapsedTime", core.start_ms.into()),
        ("PercentComplete", Value::Float(1.0)),
        ("LoadingFsImagePercentComplete", Value::Float(1.0)),
        ("LoadingEditsPercentComplete", Value::Float(1.0)),
        ("SavingCheckpointPercentComplete", Value::Float(1.0)),
        ("SafeModePercentComplete", Value::Float(1.0)),
    ]
}

/// Resident memory in bytes, from /proc.
fn resident() -> u64 {
    proc_number("/proc/self/statm", |text| text.split(' ').nth(1)?.parse::<u64>().ok()) * 4096
}

fn threads() -> u64 {
    proc_number("/proc/self/stat", |text| text.rsplit(')').next()?.split_whitespace().nth(17)?.parse().ok())
}

/// A number out of a file of /proc, whose length says nothing.
fn proc_number(path: &str, parse: impl FnOnce(&str) -> Option<u64>) -> u64 {
    let mut text = [0; 1024];
    let file = RealDisk.open(Path::new(path), OpenMode::Read);
    let length = file.and_then(|f| f.read_at(&mut text, 0)).unwrap_or(0);
    parse(&String::from_utf8_lossy(&text[..length])).unwrap_or(0)
}

fn jvm_metrics() -> Attributes {
    const MIB: f64 = 1_048_576.0;
    let used = resident() as f64 / MIB;
    vec![
        ("tag.ProcessName", "NameNode".into()),
        ("MemHeapUsedM", used.into()),
        ("MemHeapCommittedM", used.into()),
        ("MemHeapMaxM", Value::Int(-1)),
        ("MemNonHeapUsedM", Value::Int(0)),
        ("GcCount", Value::Int(0)),
        ("GcTimeMillis", Value::Int(0)),
    ]
}

fn memory() -> Attributes {
    let used = resident();
    let usage = |used: u64| {
        Value::Map(vec![
            ("committed", used.into()),
            ("init", Value::Int(0)),
            ("max", Value::Int(-1)),
            ("used", used.into()),
        ])
    };
    vec![
        ("ObjectPendingFinalizationCount", Value::Int(0)),
        ("HeapMemoryUsage", usage(used)),
        ("NonHeapMemoryUsage", usage(0)),
        ("Verbose", false.into()),
        ("ObjectName", "java.lang:type=Memory".into()),
    ]
}

fn runtime(core: &Core) -> Attributes {
    vec![
        ("Name", format!("{}@{}", std::process::id(), core.host_name).into()),
        ("Pid", u64::from(std::process::id()).into()),
        ("StartTime", core.clock.started_ms().into()),
        ("Uptime", core.clock.monotonic_ms().into()),
        ("VmName", "surus".into()),
        ("ObjectName", "java.lang:type=Runtime".into()),
    ]
}
