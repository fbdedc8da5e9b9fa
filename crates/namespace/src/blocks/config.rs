//! The settings of block management, by Hadoop's keys and with Hadoop's defaults. Times in milliseconds.

use alloc::boxed::Box;

/// Set once at start-up by the shell.
#[derive(Clone, Debug)]
pub struct BlockConfig {
    /// The block pool id, as exception texts name blocks.
    pub pool_id: Box<str>,
    /// The NameNode's host name, as safe mode texts show it.
    pub host_name: Box<str>,
    /// The NameNode went back to before a rolling upgrade: replicas newer than what it knows are to be expected.
    pub rolled_back: bool,
    /// `dfs.namenode.replication.min`: live replicas that make a block complete.
    pub min_replication: u16,
    /// `dfs.namenode.safemode.replication.min`.
    pub safe_mode_replication: u16,
    /// `dfs.namenode.safemode.threshold-pct`.
    pub safe_mode_threshold: f32,
    /// `dfs.namenode.safemode.min.datanodes`.
    pub safe_mode_min_datanodes: u32,
    /// `dfs.namenode.safemode.extension`.
    pub safe_mode_extension_ms: u64,
    /// `dfs.heartbeat.interval`.
    pub heartbeat_interval_ms: u64,
    /// `dfs.namenode.heartbeat.recheck-interval`. Dead after twice this plus ten heartbeats.
    pub heartbeat_recheck_ms: u64,
    /// `dfs.namenode.stale.datanode.interval`.
    pub stale_interval_ms: u64,
    /// `dfs.namenode.avoid.read.stale.datanode`.
    pub avoid_read_stale: bool,
    /// `dfs.namenode.avoid.write.stale.datanode`.
    pub avoid_write_stale: bool,
    /// `dfs.namenode.redundancy.considerLoad`.
    pub consider_load: bool,
    /// `dfs.namenode.redundancy.considerLoad.factor`.
    pub consider_load_factor: f64,
    /// `dfs.namenode.replication.work.multiplier.per.iteration`.
    pub work_multiplier: u32,
    /// `dfs.namenode.replication.max-streams`.
    pub max_streams: u32,
    /// `dfs.namenode.replication.max-streams-hard-limit`.
    pub max_streams_hard: u32,
    /// `dfs.namenode.reconstruction.pending.timeout-sec`.
    pub pending_timeout_ms: u64,
    /// `dfs.block.invalidate.limit`.
    pub invalidate_limit: usize,
    /// `dfs.namenode.fs-limits.max-blocks-per-file`.
    pub max_blocks_per_file: usize,
    /// `dfs.namenode.fs-limits.min-block-size`, bytes.
    pub min_block_size: u64,
    /// `dfs.replication.max`.
    pub max_replication: u16,
    /// `dfs.namenode.accesstime.precision`; 0: access times do not move.
    pub access_time_precision_ms: i64,
    /// `dfs.namenode.lease-hard-limit-sec`.
    pub lease_hard_limit_ms: u64,
    /// `HdfsConstants.LEASE_SOFTLIMIT_PERIOD`.
    pub lease_soft_limit_ms: u64,
    /// A block recovery that brought no result is tried again after this: 30 heartbeats in Hadoop 3.5.0.
    pub block_recovery_timeout_ms: u64,
    /// How long after safe mode a DataNode that has not yet come may still be the one that holds an open block. 0 where the
    /// only DataNode is in this process.
    pub unreported_wait_ms: u64,
}

impl BlockConfig {
    /// How long a DataNode may be silent before it counts as dead.
    pub fn heartbeat_expiry_ms(&self) -> u64 {
        2 * self.heartbeat_recheck_ms + 10 * self.heartbeat_interval_ms
    }
}

impl Default for BlockConfig {
    fn default() -> Self {
        BlockConfig {
            pool_id: "".into(),
            host_name: "localhost".into(),
            rolled_back: false,
            min_replication: 1,
            safe_mode_replication: 1,
            safe_mode_threshold: 0.999,
            safe_mode_min_datanodes: 0,
            safe_mode_extension_ms: 30_000,
            heartbeat_interval_ms: 3_000,
            heartbeat_recheck_ms: 300_000,
            stale_interval_ms: 30_000,
            avoid_read_stale: false,
            avoid_write_stale: false,
            consider_load: true,
            consider_load_factor: 2.0,
            work_multiplier: 2,
            max_streams: 2,
            max_streams_hard: 4,
            pending_timeout_ms: 300_000,
            invalidate_limit: 1000,
            max_blocks_per_file: 10_000,
            min_block_size: 1 << 20,
            max_replication: 512,
            access_time_precision_ms: 3_600_000,
            lease_hard_limit_ms: 20 * 60_000,
            lease_soft_limit_ms: 60_000,
            block_recovery_timeout_ms: 90_000,
            unreported_wait_ms: 90_000,
        }
    }
}
