//! DatanodeProtocol: what DataNodes tell the NameNode, and what they are told to do.
//! Source: `DatanodeProtocolServerSideTranslatorPB.java`, `NameNodeRpcServer.java`, Hadoop 3.5.0.

pub mod block_list;
mod commands;
mod reports;

pub(crate) use reports::bad_blocks;

use crate::call::{Call, Method, Run};
use crate::core::Core;
use crate::hosts;
use crate::to_proto;
use prost::Message;
use surus_namespace::blocks::{Heartbeat, Now, Observation, Observed};
use surus_proto::hadoop::hdfs::datanode::{
    CacheReportRequestProto, CacheReportResponseProto, DatanodeRegistrationProto, ErrorReportRequestProto,
    ErrorReportResponseProto, HeartbeatRequestProto, HeartbeatResponseProto, RegisterDatanodeRequestProto,
    RegisterDatanodeResponseProto,
};
use surus_proto::hadoop::hdfs::{
    NamespaceInfoProto, NnhaStatusHeartbeatProto, RollingUpgradeStatusProto, VersionResponseProto,
};
use surus_types::{ExceptionClass, HdfsError};
use surus_wire::from_proto;

pub const NAME: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";

/// `NamespaceInfo.capabilities`: block reports may come as varint buffers.
const STORAGE_BLOCK_REPORT_BUFFERS: u64 = 1;

/// `errorReport` code: all disks of the DataNode are gone.
const FATAL_DISK_ERROR: u32 = 3;

/// Sorted by name.
pub static METHODS: &[Method] = &[
    Method { name: "blockReceivedAndDeleted", run: Run::Read(reports::block_received_and_deleted) },
    Method { name: "blockReport", run: Run::Slow(reports::block_report) },
    Method { name: "cacheReport", run: Run::Read(cache_report) },
    Method { name: "commitBlockSynchronization", run: Run::Write(reports::commit_block_synchronization) },
    Method { name: "errorReport", run: Run::Read(error_report) },
    Method { name: "registerDatanode", run: Run::Read(register_datanode) },
    Method { name: "reportBadBlocks", run: Run::Read(reports::report_bad_blocks) },
    Method { name: "sendHeartbeat", run: Run::Read(send_heartbeat) },
    Method { name: "versionRequest", run: Run::Read(version_request) },
];

/// Encodes a message; into a vector that cannot fail.
pub(crate) fn put(out: &mut Vec<u8>, message: &impl Message) {
    // `encode` fails only where the buffer cannot grow.
    let _ = message.encode(out);
}

/// Also NamenodeProtocol's.
pub(crate) fn version_request(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    put(
        out,
        &VersionResponseProto {
            info: NamespaceInfoProto {
                build_version: crate::BUILD_VERSION.to_owned(),
                unused: 0,
                block_pool_id: core.id.block_pool_id.clone(),
                storage_info: core.id.to_proto(),
                software_version: crate::SOFTWARE_VERSION.to_owned(),
                capabilities: Some(STORAGE_BLOCK_REPORT_BUFFERS),
                state: Some(0),
            },
        },
    );
    Ok(())
}

/// Refuses a DataNode of another file system. Source: `NameNodeRpcServer.verifyRequest`, Hadoop 3.5.0.
fn verify(core: &Core, registration: &DatanodeRegistrationProto) -> Result<(), HdfsError> {
    let theirs = &registration.storage_info;
    let ours = &core.id;
    let same = theirs.namespce_id == ours.namespace_id
        && theirs.cluster_id == ours.cluster_id
        && theirs.c_time == ours.creation_time_ms;
    if same {
        return Ok(());
    }
    let text = format!("Unregistered server: {}", describe(registration, &registration.datanode_id.ip_addr));
    Err(HdfsError::new(ExceptionClass::UnregisteredNode, text))
}

/// A registration as Java prints it.
fn describe(registration: &DatanodeRegistrationProto, ip_addr: &str) -> String {
    let (id, storage) = (&registration.datanode_id, &registration.storage_info);
    format!(
        "DatanodeRegistration({ip_addr}:{}, datanodeUuid={}, infoPort={}, infoSecurePort={}, ipcPort={}, \
         storageInfo=lv={};cid={};nsid={};c={})",
        id.xfer_port,
        id.datanode_uuid,
        id.info_port,
        id.info_secure_port(),
        id.ipc_port,
        storage.layout_version as i32,
        storage.cluster_id,
        storage.namespce_id,
        storage.c_time
    )
}

impl Core {
    fn now(&self) -> Now {
        Now {
            wall_ms: u64::try_from(self.clock.now_ms()).unwrap_or(0),
            monotonic_ms: self.clock.monotonic_ms(),
            random: rand::random(),
        }
    }

    /// Takes in an event and lets the calls go on that waited for what followed from it.
    pub fn observe(&self, event: Observation<'_>) -> Observed {
        let observed = self.namespace.write().observe(event, self.now());
        self.wake(&observed.woken);
        observed
    }
}

fn register_datanode(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let RegisterDatanodeRequestProto { mut registration } = call.decode()?;
    verify(core, &registration)?;
    let mut id = from_proto::datanode_id(&registration.datanode_id)?;
    // Where the call came from is where clients will find it, whatever the DataNode believes.
    id.ip_addr = call.caller.address.to_string();
    if id.uuid.is_empty() {
        return Err(HdfsError::new(ExceptionClass::IllegalArgument, "The DataNode has no UUID"));
    }
    let hosts = core.hosts.read().clone();
    if !hosts.includes(&id) {
        return Err(hosts::disallowed(&describe(&registration, &id.ip_addr)));
    }
    tracing::info!("DataNode {} ({}:{}) registers", id.uuid, id.host_name, id.xfer_port);
    // What it held before it died goes first: slice by slice, and not all while it registers.
    while core.namespace.write().blocks.take_out_dead(&id.uuid, reports::SLICE_REPLICAS) {}
    core.observe(Observation::RegisterDatanode { id: &id, software_version: &registration.software_version });
    core.observe(Observation::Excluded { uuid: &id.uuid, excluded: hosts.excludes(&id) });
    registration.datanode_id = surus_wire::to_proto::datanode_id(&id);
    registration.keys = to_proto::no_block_keys();
    put(out, &RegisterDatanodeResponseProto { registration });
    Ok(())
}

fn send_heartbeat(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: HeartbeatRequestProto = call.decode()?;
    verify(core, &request.registration)?;
    let storages: Vec<_> = request.reports.iter().map(from_proto::storage_report).collect();
    let uuid = &request.registration.datanode_id.datanode_uuid;
    if let Some(id) = core.no_longer_included(uuid) {
        core.observe(Observation::DatanodeGone { uuid });
        return Err(hosts::disallowed(&id));
    }
    let heartbeat = Heartbeat {
        uuid,
        storages: &storages,
        xmits_in_progress: request.xmits_in_progress(),
        xceiver_count: request.xceiver_count(),
        failed_volumes: request.failed_volumes(),
        cache_capacity: request.cache_capacity(),
        cache_used: request.cache_used(),
    };
    let (cmds, woken) = {
        let mut namespace = core.namespace.write();
        let observed = namespace.observe(Observation::Heartbeat(heartbeat), core.now());
        let commands = namespace.blocks.datanode_commands(uuid, core.held.durable());
        let cmds: Vec<_> = commands.iter().map(|c| commands::to_proto(core, &namespace, c)).collect();
        (cmds, observed.woken)
    };
    core.wake(&woken);
    // Reports are short work here, so that every DataNode may send its own whenever it wants.
    let lease = if request.request_full_block_report_lease() { rand::random::<u64>() >> 1 | 1 } else { 0 };
    let txid = core.last_txid().0;
    let (goes_on, rolling) = rolling_upgrade_status(core);
    put(
        out,
        &HeartbeatResponseProto {
            cmds,
            ha_status: NnhaStatusHeartbeatProto { state: 0, txid },
            // What old DataNodes read: to them its absence means the end.
            rolling_upgrade_status: rolling.clone().filter(|_| goes_on),
            rolling_upgrade_status_v2: rolling,
            full_block_report_lease_id: Some(lease),
            is_slownode: Some(false),
        },
    );
    Ok(())
}

/// Whether a rolling upgrade goes on, and what DataNodes are told of it: nothing where there was none since the start.
/// Source: `DatanodeProtocolServerSideTranslatorPB.sendHeartbeat`, Hadoop 3.5.0.
fn rolling_upgrade_status(core: &Core) -> (bool, Option<RollingUpgradeStatusProto>) {
    let namespace = core.namespace.read();
    let goes_on = namespace.rolling_upgrade.is_some();
    let told = goes_on || namespace.rolling_upgrade_finalized;
    let status =
        || RollingUpgradeStatusProto { block_pool_id: core.id.block_pool_id.clone(), finalized: Some(!goes_on) };
    (goes_on, told.then(status))
}

fn error_report(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ErrorReportRequestProto = call.decode()?;
    verify(core, &request.registartion)?;
    let id = &request.registartion.datanode_id;
    tracing::warn!(
        "DataNode {} ({}) reports error {}: {}",
        id.datanode_uuid,
        id.host_name,
        request.error_code,
        request.msg
    );
    if request.error_code == FATAL_DISK_ERROR {
        core.observe(Observation::DatanodeGone { uuid: &id.datanode_uuid });
    }
    put(out, &ErrorReportResponseProto {});
    Ok(())
}

/// Nothing is cached by this NameNode's order.
fn cache_report(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: CacheReportRequestProto = call.decode()?;
    verify(core, &request.registration)?;
    put(out, &CacheReportResponseProto { cmd: None });
    Ok(())
}
