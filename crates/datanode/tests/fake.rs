//! A NameNode that only knows DatanodeProtocol: hands out prepared commands and keeps what DataNodes tell it. And a
//! DataNode beside it.

use parking_lot::{Condvar, Mutex};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use surus_conf::Configuration;
use surus_datanode::DataNode;
use surus_net::rpc::{Reply, RpcCall, RpcLimits, RpcServer, RpcService};
use surus_proto::hadoop::hdfs::datanode::*;
use surus_proto::hadoop::hdfs::datanode::{ReportBadBlocksRequestProto, ReportBadBlocksResponseProto};
use surus_proto::hadoop::hdfs::*;
use surus_types::{ExceptionClass, HdfsError};
use tokio::runtime::Runtime;

pub const POOL: &str = "BP-1323532104-127.0.0.1-1796036548930";
pub const CLUSTER: &str = "CID-31f92828-f2fa-4b83-aa19-7a0dfc111f2e";
/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Default)]
pub struct Heard {
    pub registrations: Vec<DatanodeRegistrationProto>,
    pub heartbeats: usize,
    /// Lets no DataNode register.
    pub refuses: bool,
    /// Lets no DataNode send a full report.
    pub keeps_leases: bool,
    /// For which DataNode, by UUID.
    pub commands: Vec<(String, DatanodeCommandProto)>,
    pub full_reports: Vec<BlockReportRequestProto>,
    pub changes: Vec<ReceivedDeletedBlockInfoProto>,
    pub bad_blocks: Vec<LocatedBlockProto>,
    pub errors: Vec<ErrorReportRequestProto>,
    pub synchronized: Vec<CommitBlockSynchronizationRequestProto>,
}

#[derive(Default)]
pub struct FakeNameNode {
    heard: Mutex<Heard>,
    changed: Condvar,
}

impl FakeNameNode {
    /// Waits until `found` gives something.
    pub fn wait<T>(&self, what: &str, mut found: impl FnMut(&mut Heard) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        let mut heard = self.heard.lock();
        loop {
            if let Some(value) = found(&mut heard) {
                return value;
            }
            assert!(!self.changed.wait_until(&mut heard, deadline).timed_out(), "never came: {what}");
        }
    }

    /// Puts a command into the answer to the DataNode's next heartbeat.
    pub fn command(&self, datanode: &DataNode, command: DatanodeCommandProto) {
        self.heard.lock().commands.push((datanode.datanode_uuid().to_owned(), command));
    }

    /// Waits until the DataNode said of a block that it is received (2) or deleted (3).
    pub fn wait_change(&self, block_id: u64, status: i32) -> ReceivedDeletedBlockInfoProto {
        self.wait("an incremental report", |heard| {
            heard.changes.iter().find(|c| c.block.block_id == block_id && c.status == status).cloned()
        })
    }

    fn answer(&self, call: &RpcCall<'_>, reply: Reply<'_>) -> Result<(), HdfsError> {
        let mut heard = self.heard.lock();
        match call.method {
            "versionRequest" => reply.ok(&VersionResponseProto {
                info: NamespaceInfoProto {
                    block_pool_id: POOL.into(),
                    storage_info: storage_info(),
                    software_version: "3.5.0".into(),
                    capabilities: Some(1),
                    ..Default::default()
                },
            }),
            "registerDatanode" => {
                let mut registration = call.decode::<RegisterDatanodeRequestProto>()?.registration;
                registration.datanode_id.ip_addr = "127.0.0.1".into();
                heard.registrations.push(registration.clone());
                match heard.refuses {
                    true => reply.error(&HdfsError::new(ExceptionClass::DisallowedDatanode, "not in the include-list")),
                    false => reply.ok(&RegisterDatanodeResponseProto { registration }),
                }
            }
            "sendHeartbeat" => {
                let request: HeartbeatRequestProto = call.decode()?;
                heard.heartbeats += 1;
                let uuid = request.registration.datanode_id.datanode_uuid.clone();
                let next = heard.commands.iter().position(|(to, _)| *to == uuid);
                let command = next.map(|i| heard.commands.remove(i).1);
                reply.ok(&HeartbeatResponseProto {
                    cmds: command.into_iter().collect(),
                    ha_status: NnhaStatusHeartbeatProto { state: 0, txid: 1 },
                    full_block_report_lease_id: Some(
                        u64::from(request.request_full_block_report_lease() && !heard.keeps_leases) * 7,
                    ),
                    ..Default::default()
                });
            }
            "blockReport" => {
                heard.full_reports.push(call.decode()?);
                reply.ok(&BlockReportResponseProto::default());
            }
            "blockReceivedAndDeleted" => {
                let request: BlockReceivedAndDeletedRequestProto = call.decode()?;
                heard.changes.extend(request.blocks.into_iter().flat_map(|s| s.blocks));
                reply.ok(&BlockReceivedAndDeletedResponseProto {});
            }
            "reportBadBlocks" => {
                heard.bad_blocks.extend(call.decode::<ReportBadBlocksRequestProto>()?.blocks);
                reply.ok(&ReportBadBlocksResponseProto {});
            }
            "errorReport" => {
                heard.errors.push(call.decode()?);
                reply.ok(&ErrorReportResponseProto {});
            }
            "commitBlockSynchronization" => {
                heard.synchronized.push(call.decode()?);
                reply.ok(&CommitBlockSynchronizationResponseProto {});
            }
            other => return Err(HdfsError::new(ExceptionClass::NoSuchMethod, other)),
        }
        drop(heard);
        self.changed.notify_all();
        Ok(())
    }
}

fn storage_info() -> StorageInfoProto {
    StorageInfoProto {
        layout_version: -67i32 as u32,
        namespce_id: 1_004_912_666,
        cluster_id: CLUSTER.into(),
        c_time: 1_796_036_548_934,
    }
}

struct Service(Arc<FakeNameNode>);

impl RpcService for Service {
    fn call(&self, call: RpcCall<'_>, reply: Reply<'_>) {
        self.0.answer(&call, reply).expect("the fake NameNode understands its DataNode");
    }
}

/// A NameNode and its DataNodes, on free ports.
pub struct Cluster {
    pub namenode: Arc<FakeNameNode>,
    pub datanodes: Vec<DataNode>,
    pub dirs: Vec<tempfile::TempDir>,
    pub address: SocketAddr,
    server: RpcServer,
    runtime: Option<Runtime>,
}

impl Cluster {
    /// Starts `count` DataNodes and waits for their first full reports.
    pub fn start(count: usize) -> Cluster {
        let mut cluster = Self::without_datanodes();
        for _ in 0..count {
            cluster.dirs.push(tempfile::tempdir().unwrap());
            let dir = cluster.dirs.last().unwrap().path().to_owned();
            let datanode = cluster.start_datanode(&dir);
            cluster.datanodes.push(datanode);
        }
        cluster
    }

    pub fn without_datanodes() -> Cluster {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let namenode = Arc::new(FakeNameNode::default());
        let service = Arc::new(Service(namenode.clone()));
        let server = RpcServer::bind("127.0.0.1:0", service, RpcLimits::default(), runtime.handle()).unwrap();
        let address = server.local_addr();
        Cluster { namenode, datanodes: Vec::new(), dirs: Vec::new(), address, server, runtime: Some(runtime) }
    }

    pub fn configuration(&self, dir: &Path) -> Configuration {
        let mut conf = Configuration::new();
        conf.set("fs.defaultFS", format!("hdfs://{}", self.address));
        conf.set("dfs.datanode.data.dir", dir.display().to_string());
        conf.set("dfs.datanode.hostname", "127.0.0.1");
        conf.set("dfs.heartbeat.interval", "1");
        conf.set("dfs.client.socket-timeout", "5000");
        for key in ["dfs.datanode.address", "dfs.datanode.ipc.address", "dfs.datanode.http.address"] {
            conf.set(key, "127.0.0.1:0");
        }
        conf
    }

    /// A DataNode on `dir` that has reported its replicas.
    pub fn start_datanode(&self, dir: &Path) -> DataNode {
        let before = self.namenode.heard.lock().full_reports.len();
        let datanode = DataNode::start(&self.configuration(dir)).unwrap();
        self.namenode.wait("a full report", |heard| (heard.full_reports.len() > before).then_some(()));
        datanode
    }

    /// A DataNode as messages name it.
    pub fn info(&self, index: usize) -> DatanodeInfoProto {
        let datanode = &self.datanodes[index];
        DatanodeInfoProto {
            id: DatanodeIdProto {
                ip_addr: "127.0.0.1".into(),
                host_name: "127.0.0.1".into(),
                datanode_uuid: datanode.datanode_uuid().into(),
                xfer_port: u32::from(datanode.xfer_address().port()),
                info_port: u32::from(datanode.http_address().port()),
                ipc_port: u32::from(datanode.ipc_address().port()),
                info_secure_port: Some(0),
            },
            ..Default::default()
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for datanode in &self.datanodes {
            datanode.stop();
        }
        self.server.stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
