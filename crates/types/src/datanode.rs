//! A DataNode as the NameNode, the clients and the other DataNodes see it.

use crate::block::StorageType;
use alloc::string::String;

/// Address and identity of a DataNode. Source: `DatanodeID.java`, Hadoop 3.5.0.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DatanodeId {
    /// Numeric address, `127.0.0.1`.
    pub ip_addr: String,
    pub host_name: String,
    /// The UUID in the DataNode's VERSION file.
    pub uuid: String,
    /// Data transfer port (`dfs.datanode.address`).
    pub xfer_port: u16,
    /// HTTP port.
    pub info_port: u16,
    /// HTTPS port, 0: none.
    pub info_secure_port: u16,
    /// ClientDatanodeProtocol and InterDatanodeProtocol port.
    pub ipc_port: u16,
}

/// What a DataNode reported of itself with its last heartbeat. Sizes in bytes, times in milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatanodeStats {
    pub capacity: u64,
    pub dfs_used: u64,
    pub non_dfs_used: u64,
    pub remaining: u64,
    pub block_pool_used: u64,
    pub cache_capacity: u64,
    pub cache_used: u64,
    pub xceiver_count: u32,
    pub xmits_in_progress: u32,
    pub failed_volumes: u32,
    pub num_blocks: u32,
    /// Wall clock of the last heartbeat.
    pub last_update_ms: u64,
    pub last_update_monotonic_ms: u64,
    pub last_block_report_ms: u64,
    pub last_block_report_monotonic_ms: u64,
}

/// Where a DataNode stands between service and removal. Numbers are those of `DatanodeInfoProto.AdminState`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum AdminState {
    #[default]
    Normal = 0,
    DecommissionInProgress = 1,
    Decommissioned = 2,
    EnteringMaintenance = 3,
    InMaintenance = 4,
}

/// One storage (a data directory) of a DataNode in a heartbeat. Sizes in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StorageReport {
    pub uuid: String,
    pub storage_type: StorageType,
    pub failed: bool,
    pub capacity: u64,
    pub dfs_used: u64,
    pub remaining: u64,
    pub block_pool_used: u64,
    pub non_dfs_used: u64,
}
