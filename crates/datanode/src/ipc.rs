//! The IPC port: ClientDatanodeProtocol and InterDatanodeProtocol.

use crate::namenode::SOFTWARE_VERSION;
use crate::node::Node;
use crate::recovery;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use surus_net::groups::{GroupList, Groups};
use surus_net::rpc::{ConnectionInfo, HeldReply, Reply, RpcCall, RpcService, refuse_proxy_user};
use surus_net::service_acls::ServiceAcls;
use surus_proto::hadoop::hdfs::*;
use surus_types::{Caller, ExceptionClass, HdfsError};
use tokio::runtime::Handle;

const CLIENT_DATANODE: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
const INTER_DATANODE: &str = "org.apache.hadoop.hdfs.server.protocol.InterDatanodeProtocol";

/// The protocols of the IPC port and the keys of their ACLs. Source: `HDFSPolicyProvider.java`, Hadoop 3.5.0.
const SERVICE_ACL_KEYS: &[(&str, &str)] = &[
    (CLIENT_DATANODE, "security.client.datanode.protocol.acl"),
    (INTER_DATANODE, "security.inter.datanode.protocol.acl"),
];

/// How long the answer to shutdownDatanode gets at least before the DataNode ends.
const SHUTDOWN_DELAY: Duration = Duration::from_millis(200);
/// How long clients may take to end their connections once they know of a restart.
/// Source: `BlockReceiver.receiveBlock`, Hadoop 3.5.0.
const OOB_WAIT_MAX: Duration = Duration::from_secs(1);
const OOB_POLL: Duration = Duration::from_millis(10);

pub(crate) fn service(node: &Arc<Node>, runtime: &Handle) -> Arc<dyn RpcService> {
    let spawner = runtime.clone();
    let spawn = Box::new(move |job: Box<dyn FnOnce() + Send>| drop(spawner.spawn_blocking(job)));
    let groups = Groups::new(node.config.groups, &node.config.group_overrides, spawn);
    let acls = match node.config.authorization {
        true => ServiceAcls::new(&node.config.configuration, SERVICE_ACL_KEYS),
        false => ServiceAcls::default(),
    };
    Arc::new(Ipc { node: node.clone(), runtime: runtime.clone(), owner: surus_client::login_name(), groups, acls })
}

struct Ipc {
    node: Arc<Node>,
    runtime: Handle,
    /// The user of this process, who may do everything.
    owner: String,
    groups: Arc<Groups>,
    acls: ServiceAcls,
}

impl RpcService for Ipc {
    /// Waits for the user's groups where lists of users are obeyed: once for a connection.
    fn authorize(&self, connection: &ConnectionInfo) -> Result<(), HdfsError> {
        refuse_proxy_user(connection)?;
        if !self.acls.is_on() {
            return Ok(());
        }
        let user = &connection.user;
        let groups = self.groups_of(user);
        let shown = Caller { user: user.clone(), ..Default::default() }.to_ugi_string();
        self.acls.authorize(&connection.protocol, user, &shown, &groups, connection.peer.ip())
    }

    fn call(&self, call: RpcCall<'_>, reply: Reply<'_>) {
        let result = match call.protocol {
            CLIENT_DATANODE => self.client_datanode(&call, reply),
            INTER_DATANODE => self.inter_datanode(&call, reply),
            other => {
                reply.error(&HdfsError::new(ExceptionClass::NoSuchProtocol, format!("Unknown protocol: {other}")));
                Ok(())
            }
        };
        if let Err((reply, e)) = result {
            reply.error(&e);
        }
    }
}

/// A call that failed before its reply was used.
type Refused<'a> = (Reply<'a>, HdfsError);

impl Ipc {
    /// Runs work that may wait for a disk or another thread, and answers from there.
    fn later(&self, reply: HeldReply, work: impl FnOnce(&Arc<Node>, HeldReply) + Send + 'static) {
        let node = self.node.clone();
        self.runtime.spawn_blocking(move || work(&node, reply));
    }

    fn client_datanode<'a>(&self, call: &RpcCall<'_>, reply: Reply<'a>) -> Result<(), Refused<'a>> {
        match call.method {
            "getReplicaVisibleLength" => match call.decode::<GetReplicaVisibleLengthRequestProto>() {
                Ok(request) => reply.result(&self.visible_length(&request)),
                Err(e) => return Err((reply, e)),
            },
            "getDatanodeInfo" => reply.ok(&GetDatanodeInfoResponseProto {
                local_info: DatanodeLocalInfoProto {
                    software_version: SOFTWARE_VERSION.to_owned(),
                    // Versions of the default configuration files, which never changed.
                    config_version: "core-3.0.0,hdfs-1".to_owned(),
                    uptime: self.node.started.elapsed().as_secs(),
                },
            }),
            "triggerBlockReport" => match self.superuser(call).and_then(|()| call.decode()) {
                Ok(request) => reply.result(&self.trigger(&request)),
                Err(e) => return Err((reply, e)),
            },
            "shutdownDatanode" => match self.superuser(call).and_then(|()| call.decode()) {
                Ok(request) => reply.result(&self.shutdown(&request)),
                Err(e) => return Err((reply, e)),
            },
            "getBalancerBandwidth" => match self.superuser(call) {
                Ok(()) => reply.ok(&GetBalancerBandwidthResponseProto {
                    bandwidth: self.node.balance_bandwidth.load(Ordering::Relaxed),
                }),
                Err(e) => return Err((reply, e)),
            },
            "evictWriters" => match self.superuser(call) {
                Ok(()) => {
                    self.node.store.evict_writers();
                    reply.ok(&EvictWritersResponseProto {});
                }
                Err(e) => return Err((reply, e)),
            },
            "getVolumeReport" => match self.superuser(call) {
                Ok(()) => reply.ok(&self.volume_report()),
                Err(e) => return Err((reply, e)),
            },
            method => return Err((reply, unknown_method(method, CLIENT_DATANODE))),
        }
        Ok(())
    }

    fn inter_datanode<'a>(&self, call: &RpcCall<'_>, reply: Reply<'a>) -> Result<(), Refused<'a>> {
        match call.method {
            "initReplicaRecovery" => match call.decode::<InitReplicaRecoveryRequestProto>() {
                // It waits for the writer to end.
                Ok(request) => self.later(reply.hold(), move |node, reply| {
                    let found = recovery::init_replica_recovery(node, &request.block);
                    reply.result(&found.map(init_response));
                }),
                Err(e) => return Err((reply, e)),
            },
            "updateReplicaUnderRecovery" => match call.decode::<UpdateReplicaUnderRecoveryRequestProto>() {
                Ok(request) => self.later(reply.hold(), move |node, reply| {
                    let done = recovery::update_replica_under_recovery(node, &request);
                    reply.result(&done.map(|s| UpdateReplicaUnderRecoveryResponseProto { storage_uuid: Some(s) }));
                }),
                Err(e) => return Err((reply, e)),
            },
            method => return Err((reply, unknown_method(method, INTER_DATANODE))),
        }
        Ok(())
    }

    fn visible_length(
        &self,
        request: &GetReplicaVisibleLengthRequestProto,
    ) -> Result<GetReplicaVisibleLengthResponseProto, HdfsError> {
        let (pool_id, block) = crate::xfer::block_of(&request.block);
        let (_, info) = self.node.replica(pool_id, &block)?;
        if info.block.generation_stamp < block.generation_stamp {
            return Err(HdfsError::io(format!(
                "Replica gen stamp < block genstamp, block={pool_id}:{block}, replica={}",
                info.block
            )));
        }
        // Java says -1 for a replica that is not readable.
        let length = info.visible_length.unwrap_or(u64::MAX);
        Ok(GetReplicaVisibleLengthResponseProto { length })
    }

    fn trigger(&self, request: &TriggerBlockReportRequestProto) -> Result<TriggerBlockReportResponseProto, HdfsError> {
        self.node.reports.trigger(request.incremental, request.nn_address.as_deref());
        Ok(TriggerBlockReportResponseProto {})
    }

    fn shutdown(&self, request: &ShutdownDatanodeRequestProto) -> Result<ShutdownDatanodeResponseProto, HdfsError> {
        tracing::info!(
            "shutdownDatanode command received (upgrade={}). Shutting down Datanode...",
            request.for_upgrade
        );
        if self.node.restarting.load(Ordering::SeqCst) {
            return Err(HdfsError::io("Shutdown already in progress."));
        }
        let node = self.node.clone();
        if request.for_upgrade {
            node.restarting.store(true, Ordering::SeqCst);
            self.runtime.spawn_blocking(move || {
                let asked = Instant::now();
                node.writers.tell_of_restart(OOB_WAIT_MAX);
                // A connection that closes too early can take the message with it, and the answer to this call, too.
                std::thread::sleep(SHUTDOWN_DELAY.saturating_sub(asked.elapsed()));
                while !node.writers.is_empty() && asked.elapsed() < OOB_WAIT_MAX {
                    std::thread::sleep(OOB_POLL);
                }
                (node.on_fatal)("shutdownDatanode was called for an upgrade");
            });
            return Ok(ShutdownDatanodeResponseProto {});
        }
        self.runtime.spawn(async move {
            tokio::time::sleep(SHUTDOWN_DELAY).await;
            (node.on_fatal)("shutdownDatanode was called");
        });
        Ok(ShutdownDatanodeResponseProto {})
    }

    fn volume_report(&self) -> GetVolumeReportResponseProto {
        let volumes = self.node.store.volumes();
        GetVolumeReportResponseProto {
            volume_info: volumes
                .iter()
                .map(|v| {
                    let report = v.report();
                    DatanodeVolumeInfoProto {
                        path: v.root.display().to_string(),
                        storage_type: v.storage_type as i32,
                        used_space: report.dfs_used,
                        free_space: report.remaining,
                        reserved_space: v.reserved_bytes(),
                        reserved_space_for_replicas: v.reserved_for_replicas(),
                        num_blocks: v.num_blocks(),
                    }
                })
                .collect(),
        }
    }

    /// Source: `DataNode.java` (`checkSuperuserPrivilege`), Hadoop 3.5.0.
    fn groups_of(&self, user: &Arc<str>) -> GroupList {
        let now_ms = u64::try_from(self.node.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.groups.get_blocking(user, now_ms)
    }

    fn superuser(&self, call: &RpcCall<'_>) -> Result<(), HdfsError> {
        let (config, user) = (&self.node.config, &call.connection.user);
        if !config.permissions_enabled || **user == *self.owner {
            return Ok(());
        }
        // Only an administrator's rare call gets here, so that it may wait.
        if self.groups_of(user).iter().any(|group| **group == *config.supergroup) {
            return Ok(());
        }
        Err(HdfsError::access_control(format!(
            "Access denied for user {}. Superuser privilege is required for operation {}.",
            call.connection.user, call.method
        )))
    }
}

fn init_response(found: Option<crate::store::RecoveryInfo>) -> InitReplicaRecoveryResponseProto {
    match found {
        None => InitReplicaRecoveryResponseProto { replica_found: false, ..Default::default() },
        Some(info) => InitReplicaRecoveryResponseProto {
            replica_found: true,
            state: Some(info.original_state as i32),
            block: Some(BlockProto {
                block_id: info.block.id.0 as u64,
                gen_stamp: info.block.generation_stamp.0,
                num_bytes: Some(info.block.num_bytes),
            }),
        },
    }
}

fn unknown_method(method: &str, protocol: &str) -> HdfsError {
    HdfsError::new(ExceptionClass::NoSuchMethod, format!("Unknown method {method} called on {protocol} protocol."))
}
