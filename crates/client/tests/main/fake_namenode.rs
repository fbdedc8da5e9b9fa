//! A NameNode that gives out blocks on scripted DataNodes and writes down what it is asked.

use crate::fake_datanode::FakeDatanode;
use std::sync::{Arc, Mutex};
use surus_client::{ClientConfig, DfsClient};
use surus_conf::Configuration;
use surus_net::rpc::{Reply, RpcCall, RpcLimits, RpcServer, RpcService};
use surus_proto::hadoop::{common, hdfs as proto};
use surus_types::{ExceptionClass, HdfsError};
use tokio::runtime::Runtime;

/// Pool of all blocks.
pub const POOL: &str = "BP-1-127.0.0.1-1";
/// Bytes of a block.
pub const BLOCK_SIZE: u64 = 256 << 10;

#[derive(Default)]
struct State {
    /// Method names, with what matters of the arguments.
    log: Vec<String>,
    datanodes: Vec<proto::DatanodeInfoProto>,
    /// Replicas a block gets.
    replication: usize,
    next_block: u64,
    generation_stamp: u64,
    blocks: Vec<proto::ExtendedBlockProto>,
    is_standby: bool,
    /// Creations that are to be tried again.
    retried_creates: usize,
    /// Of new files, by a key that nobody can open.
    is_encrypted: bool,
}

pub struct FakeNamenode {
    pub addr: String,
    state: Arc<Mutex<State>>,
    // Dropped last: it serves.
    _server: RpcServer,
    _runtime: Runtime,
}

struct Service(Arc<Mutex<State>>);

impl FakeNamenode {
    pub fn start(datanodes: &[&FakeDatanode], replication: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let state = Arc::new(Mutex::new(State {
            datanodes: datanodes.iter().map(|d| d.info()).collect(),
            replication,
            next_block: 1,
            generation_stamp: 1000,
            ..State::default()
        }));
        let limits = RpcLimits::default();
        let server =
            RpcServer::bind("127.0.0.1:0", Arc::new(Service(state.clone())), limits, runtime.handle()).unwrap();
        FakeNamenode { addr: server.local_addr().to_string(), state, _server: server, _runtime: runtime }
    }

    pub fn set_standby(&self, is_standby: bool) {
        self.state.lock().unwrap().is_standby = is_standby;
    }

    pub fn refuse_creates(&self, times: usize) {
        self.state.lock().unwrap().retried_creates = times;
    }

    pub fn encrypt(&self) {
        self.state.lock().unwrap().is_encrypted = true;
    }

    /// What it was asked so far.
    pub fn log(&self) -> Vec<String> {
        self.state.lock().unwrap().log.clone()
    }

    pub fn has(&self, call: &str) -> bool {
        self.log().iter().any(|line| line.starts_with(call))
    }

    pub fn blocks(&self) -> Vec<proto::ExtendedBlockProto> {
        self.state.lock().unwrap().blocks.clone()
    }

    pub fn client(&self, settings: &[(&str, &str)]) -> DfsClient {
        DfsClient::new(config(&self.addr, settings))
    }
}

pub fn config(addr: &str, settings: &[(&str, &str)]) -> ClientConfig {
    let mut conf = Configuration::new();
    for (key, value) in settings {
        conf.set(key, *value);
    }
    let mut config = ClientConfig::from_conf(&conf, Some(&format!("hdfs://{addr}"))).unwrap();
    config.write.block_size = BLOCK_SIZE;
    config
}

fn status(path: &str, length: u64) -> proto::HdfsFileStatusProto {
    proto::HdfsFileStatusProto {
        file_type: proto::hdfs_file_status_proto::FileType::IsFile as i32,
        path: path.as_bytes().to_vec(),
        length,
        permission: proto::FsPermissionProto { perm: 0o644 },
        owner: "o".into(),
        group: "g".into(),
        block_replication: Some(1),
        blocksize: Some(BLOCK_SIZE),
        file_id: Some(16386),
        ..Default::default()
    }
}

impl State {
    fn located(
        &self,
        block: &proto::ExtendedBlockProto,
        nodes: Vec<proto::DatanodeInfoProto>,
        offset: u64,
    ) -> proto::LocatedBlockProto {
        proto::LocatedBlockProto {
            b: block.clone(),
            offset,
            storage_types: vec![1; nodes.len()],
            storage_i_ds: nodes.iter().map(|n| format!("DS-{}", n.id.xfer_port)).collect(),
            locs: nodes,
            corrupt: false,
            block_token: common::TokenProto::default(),
            ..Default::default()
        }
    }

    fn commit(&mut self, last: Option<&proto::ExtendedBlockProto>) {
        if let Some(last) = last
            && let Some(block) = self.blocks.iter_mut().find(|b| b.block_id == last.block_id)
        {
            *block = last.clone();
        }
    }

    fn add_block(&mut self, request: &proto::AddBlockRequestProto) -> Result<proto::AddBlockResponseProto, HdfsError> {
        self.commit(request.previous.as_ref());
        let excluded: Vec<u32> = request.exclude_nodes.iter().map(|n| n.id.xfer_port).collect();
        self.log.push(format!("addBlock excluding {}", excluded.len()));
        let good = self.datanodes.iter().filter(|d| !excluded.contains(&d.id.xfer_port));
        let nodes: Vec<_> = good.take(self.replication).cloned().collect();
        if nodes.is_empty() {
            return Err(HdfsError::io("could only be written to 0 of the 1 minReplication nodes."));
        }
        self.generation_stamp += 1;
        let block = proto::ExtendedBlockProto {
            pool_id: POOL.into(),
            block_id: self.next_block,
            generation_stamp: self.generation_stamp,
            num_bytes: Some(0),
        };
        self.next_block += 1;
        self.blocks.push(block.clone());
        Ok(proto::AddBlockResponseProto { block: self.located(&block, nodes, 0) })
    }

    fn locations(&self) -> proto::LocatedBlocksProto {
        let mut offset = 0;
        let mut blocks = Vec::new();
        for block in &self.blocks {
            blocks.push(self.located(block, self.datanodes.clone(), offset));
            offset += block.num_bytes.unwrap_or(0);
        }
        proto::LocatedBlocksProto {
            file_length: offset,
            last_block: blocks.last().cloned(),
            blocks,
            under_construction: false,
            is_last_block_complete: true,
            ..Default::default()
        }
    }

    fn additional(
        &self,
        request: &proto::GetAdditionalDatanodeRequestProto,
    ) -> proto::GetAdditionalDatanodeResponseProto {
        let is_in = |list: &[proto::DatanodeInfoProto], d: &proto::DatanodeInfoProto| {
            list.iter().any(|n| n.id.xfer_port == d.id.xfer_port)
        };
        let free = |d: &&proto::DatanodeInfoProto| !is_in(&request.existings, d) && !is_in(&request.excludes, d);
        let mut nodes = request.existings.clone();
        nodes.extend(self.datanodes.iter().find(free).cloned());
        proto::GetAdditionalDatanodeResponseProto { block: self.located(&request.blk, nodes, 0) }
    }
}

impl RpcService for Service {
    fn call(&self, call: RpcCall<'_>, reply: Reply<'_>) {
        let mut state = self.0.lock().unwrap();
        if state.is_standby {
            state.log.push(format!("refused {}", call.method));
            let text =
                "Operation category READ is not supported in state standby. Visit https://s.apache.org/sbnn-error";
            return reply.error(&HdfsError::new(ExceptionClass::Standby, text));
        }
        match call.method {
            "addBlock" => {
                let request = call.decode::<proto::AddBlockRequestProto>().unwrap();
                reply.result(&state.add_block(&request));
            }
            "abandonBlock" => {
                let request = call.decode::<proto::AbandonBlockRequestProto>().unwrap();
                state.blocks.retain(|b| b.block_id != request.b.block_id);
                state.log.push("abandonBlock".into());
                reply.ok(&proto::AbandonBlockResponseProto {});
            }
            "complete" => {
                let request = call.decode::<proto::CompleteRequestProto>().unwrap();
                state.commit(request.last.as_ref());
                state.log.push("complete".into());
                // The first time the last block's report has not come yet.
                let result = state.log.iter().filter(|line| *line == "complete").count() > 1;
                reply.ok(&proto::CompleteResponseProto { result });
            }
            "updateBlockForPipeline" => {
                let request = call.decode::<proto::UpdateBlockForPipelineRequestProto>().unwrap();
                state.generation_stamp += 1;
                let block = proto::ExtendedBlockProto { generation_stamp: state.generation_stamp, ..request.block };
                state.log.push("updateBlockForPipeline".into());
                reply.ok(&proto::UpdateBlockForPipelineResponseProto { block: state.located(&block, Vec::new(), 0) });
            }
            "updatePipeline" => {
                let request = call.decode::<proto::UpdatePipelineRequestProto>().unwrap();
                state.log.push(format!("updatePipeline to {} nodes", request.new_nodes.len()));
                reply.ok(&proto::UpdatePipelineResponseProto {});
            }
            "getAdditionalDatanode" => {
                let request = call.decode::<proto::GetAdditionalDatanodeRequestProto>().unwrap();
                state.log.push("getAdditionalDatanode".into());
                reply.ok(&state.additional(&request));
            }
            "getBlockLocations" => {
                state.log.push("getBlockLocations".into());
                let locations = Some(state.locations());
                reply.ok(&proto::GetBlockLocationsResponseProto { locations });
            }
            method => {
                state.log.push(method.to_string());
                if method == "create" && state.retried_creates > 0 {
                    state.retried_creates -= 1;
                    return reply.error(&HdfsError::new(ExceptionClass::RetryStartFile, "retry create later."));
                }
                plain(&state, method, call, reply);
            }
        }
    }
}

/// Calls whose answer does not depend on anything.
fn plain(state: &State, method: &str, call: RpcCall<'_>, reply: Reply<'_>) {
    match method {
        "create" => {
            let request = call.decode::<proto::CreateRequestProto>().unwrap();
            let info = proto::FileEncryptionInfoProto {
                suite: proto::CipherSuiteProto::Sm4CtrNopadding as i32,
                ..Default::default()
            };
            let file_encryption_info = state.is_encrypted.then_some(info);
            let fs = proto::HdfsFileStatusProto { file_encryption_info, ..status(&request.src, 0) };
            reply.ok(&proto::CreateResponseProto { fs: Some(fs) });
        }
        "append" => {
            let last =
                state.blocks.last().map(|block| state.located(block, state.datanodes[..state.replication].to_vec(), 0));
            let length = state.blocks.iter().map(|b| b.num_bytes.unwrap_or(0)).sum();
            reply.ok(&proto::AppendResponseProto { block: last, stat: Some(status("/f", length)) });
        }
        "fsync" => reply.ok(&proto::FsyncResponseProto {}),
        "reportBadBlocks" => reply.ok(&proto::ReportBadBlocksResponseProto {}),
        "getFileInfo" => reply.ok(&proto::GetFileInfoResponseProto { fs: Some(status("", 0)) }),
        "renewLease" => reply.ok(&proto::RenewLeaseResponseProto {}),
        other => reply.error(&HdfsError::new(ExceptionClass::NoSuchMethod, format!("Unknown method {other}"))),
    }
}
