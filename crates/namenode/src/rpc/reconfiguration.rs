//! ReconfigurationProtocol: settings that change while the NameNode runs, read from the site files by order.
//! Source: `ReconfigurableBase.java`, `NameNode.reconfigurePropertyImpl`, Hadoop 3.5.0.

use super::datanode::put;
use crate::call::Run::{Read, Slow};
use crate::call::{Call, Method};
use crate::config::{block_config, namespace_config};
use crate::core::Core;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use surus_conf::{ConfError, Configuration};
use surus_proto::hadoop::hdfs::{
    GetReconfigurationStatusConfigChangeProto, GetReconfigurationStatusResponseProto,
    ListReconfigurablePropertiesResponseProto, StartReconfigurationResponseProto,
};
use surus_types::HdfsError;

pub const NAME: &str = "org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol";

/// Sorted by name.
pub static METHODS: &[Method] = &[
    Method { name: "getReconfigurationStatus", run: Read(get_reconfiguration_status) },
    Method { name: "listReconfigurableProperties", run: Read(list_reconfigurable_properties) },
    Method { name: "startReconfiguration", run: Slow(start_reconfiguration) },
];

/// Those of Hadoop 3.5.0, in the order in which it lists them. What Surus does not use changes in `/conf` only.
const PROPERTIES: &[&str] = &[
    "dfs.block.invalidate.limit",
    "dfs.block.placement.ec.classname",
    "dfs.block.replicator.classname",
    "dfs.datanode.max.nodes.to.report",
    "dfs.datanode.peer.stats.enabled",
    "dfs.heartbeat.interval",
    "dfs.image.parallel.load",
    "dfs.namenode.avoid.read.slow.datanode",
    "dfs.namenode.block-placement-policy.exclude-slow-nodes.enabled",
    "dfs.namenode.block-placement.min-blocks-for.write",
    "dfs.namenode.decommission.backoff.monitor.pending.blocks.per.lock",
    "dfs.namenode.decommission.backoff.monitor.pending.limit",
    "dfs.namenode.fs-limits.max-directory-items",
    "dfs.namenode.heartbeat.recheck-interval",
    "dfs.namenode.lock.detailed-metrics.enabled",
    "dfs.namenode.max.slowpeer.collect.nodes",
    "dfs.namenode.read-lock-reporting-threshold-ms",
    "dfs.namenode.reconstruction.pending.timeout-sec",
    "dfs.namenode.replication.max-streams",
    "dfs.namenode.replication.max-streams-hard-limit",
    "dfs.namenode.replication.work.multiplier.per.iteration",
    "dfs.namenode.slowpeer.collect.interval",
    "dfs.namenode.write-lock-reporting-threshold-ms",
    "dfs.storage.policy.satisfier.mode",
    "fs.protected.directories",
    "hadoop.caller.context.enabled",
];

/// The last reconfiguration, or the one that runs. Times in milliseconds since 1970; 0: none.
#[derive(Clone, Debug, Default)]
pub struct Reconfiguration {
    start_ms: i64,
    end_ms: Option<i64>,
    changes: Vec<GetReconfigurationStatusConfigChangeProto>,
}

impl Reconfiguration {
    fn is_running(&self) -> bool {
        self.start_ms > 0 && self.end_ms.is_none()
    }
}

fn get_reconfiguration_status(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("getNamenodeReconfigurationStatus")?;
    let state = core.reconfiguration.lock().clone();
    put(
        out,
        &GetReconfigurationStatusResponseProto {
            start_time: state.start_ms,
            end_time: state.end_ms,
            changes: state.changes,
        },
    );
    Ok(())
}

fn list_reconfigurable_properties(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("listNamenodeReconfigurableProperties")?;
    let mut name: Vec<String> = PROPERTIES.iter().map(|name| (*name).to_owned()).collect();
    // Named after the port; there is no queue that could back off.
    name.push(format!("ipc.{}.backoff.enable", core.rpc_port.load(Ordering::Relaxed)));
    name.extend(["ipc.server.log.slow.rpc", "ipc.server.log.slow.rpc.threshold.ms"].map(str::to_owned));
    put(out, &ListReconfigurablePropertiesResponseProto { name });
    Ok(())
}

/// The change itself runs on a thread of its own: the caller asks for its state.
fn start_reconfiguration(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("startNamenodeReconfiguration")?;
    let Some(core) = core.me.upgrade() else { return Ok(()) };
    {
        let mut state = core.reconfiguration.lock();
        if state.is_running() {
            return Err(HdfsError::io("Another reconfiguration task is running."));
        }
        *state = Reconfiguration { start_ms: core.clock.now_ms(), ..Reconfiguration::default() };
    }
    let runtime = core.runtime.clone();
    runtime.spawn_blocking(move || reconfigure(&core));
    put(out, &StartReconfigurationResponseProto {});
    Ok(())
}

fn reconfigure(core: &Arc<Core>) {
    let changes = match core.config_source.read() {
        Ok(conf) => changes(core, &conf),
        Err(error) => {
            tracing::error!("the configuration cannot be read anew: {error}");
            Vec::new()
        }
    };
    let mut state = core.reconfiguration.lock();
    state.changes = changes;
    state.end_ms = Some(core.clock.now_ms());
}

fn changes(core: &Core, read: &Configuration) -> Vec<GetReconfigurationStatusConfigChangeProto> {
    let text = |conf: &Configuration, key: &str| conf.text(key).ok().flatten();
    let mut changes = Vec::new();
    for key in PROPERTIES {
        let (old, new) = (text(&core.configuration.lock(), key), text(read, key));
        if old == new {
            continue;
        }
        let mut conf = core.configuration.lock().clone();
        match &new {
            Some(value) => conf.set_from(key, value.as_str(), "reconfiguration"),
            None => conf.unset(key),
        }
        let error_message = apply(core, conf).err().map(|error| error.to_string());
        tracing::info!(
            "{key} is now {} (was {})",
            new.as_deref().unwrap_or("unset"),
            old.as_deref().unwrap_or("unset")
        );
        changes.push(GetReconfigurationStatusConfigChangeProto {
            name: (*key).to_owned(),
            old_value: old.unwrap_or_default(),
            new_value: new,
            error_message,
        });
    }
    changes
}

/// Takes a configuration over whole, or not at all.
fn apply(core: &Core, conf: Configuration) -> Result<(), ConfError> {
    let blocks = block_config(&conf, core.own_datanode, &core.id.block_pool_id, &core.host_name)?;
    let mut namespace = core.namespace.write();
    let config = namespace_config(&conf, &namespace.config.fs_owner.clone())?;
    namespace.config = config;
    namespace.blocks.config = blocks;
    *core.configuration.lock() = conf;
    Ok(())
}
