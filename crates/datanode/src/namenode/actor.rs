//! One NameNode: a thread that registers and sends heartbeats, and one that sends block reports. Neither touches a disk
//! after the start, so a disk that hangs delays no heartbeat.

use super::Nameservice;
use super::blocklist::BlockList;
use super::queue::{Change, Notice, ReportQueue};
use super::registration::Namespace;
use crate::node::Node;
use crate::store::{PoolVersion, Volume};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use surus_net::rpc::{RpcClient, RpcClientOptions, RpcError};
use surus_proto::hadoop::hdfs::datanode::*;
use surus_proto::hadoop::hdfs::nnha_status_heartbeat_proto::State;
use surus_proto::hadoop::hdfs::{DatanodeStorageProto, StorageTypeProto, VersionRequestProto, VersionResponseProto};
use surus_types::{BlockId, ExceptionClass, GenerationStamp};
use surus_wire::to_proto;

const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";
/// Bit of `NamespaceInfoProto.capabilities`: full reports may use buffers.
const STORAGE_BLOCK_REPORT_BUFFERS: u64 = 1;
/// Pauses between attempts to reach a NameNode, the first and the longest. Java waits 5 s from the start; beginning short
/// lets a whole cluster come up in a moment.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(20);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(1);
/// Pause after a report that could not be sent.
const REPORT_RETRY_PAUSE: Duration = Duration::from_millis(500);

pub(crate) struct Actor {
    index: usize,
    client: RpcClient,
    pub queue: ReportQueue,
    namespace: Mutex<Option<Namespace>>,
    report_id: Mutex<i64>,
    /// This NameNode will have nothing to do with the DataNode.
    given_up: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Actor {
    pub fn new(index: usize, address: &str, user: &str) -> Arc<Actor> {
        Arc::new(Actor {
            index,
            client: RpcClient::new(address, user, PROTOCOL, RpcClientOptions::default()),
            queue: ReportQueue::default(),
            namespace: Mutex::new(None),
            report_id: Mutex::new(rand::random::<i64>() >> 1),
            given_up: AtomicBool::new(false),
            threads: Mutex::default(),
        })
    }

    pub fn address(&self) -> &str {
        self.client.addr()
    }

    /// Starts both threads.
    ///
    /// # Errors
    /// No thread can be had.
    pub fn start(self: &Arc<Self>, node: &Arc<Node>, service: &Arc<Nameservice>) -> std::io::Result<()> {
        let mut threads = self.threads.lock();
        let (actor, node1, service1) = (self.clone(), node.clone(), Arc::downgrade(service));
        threads.push(
            std::thread::Builder::new()
                .name(format!("heartbeat {}", self.address()))
                .spawn(move || actor.heartbeats(&node1, &service1))?,
        );
        let (actor, node, service) = (self.clone(), node.clone(), Arc::downgrade(service));
        threads.push(
            std::thread::Builder::new()
                .name(format!("reports {}", self.address()))
                .spawn(move || actor.reports(&node, &service))?,
        );
        Ok(())
    }

    pub fn stop(&self) {
        self.queue.stop();
        self.client.close();
        for thread in self.threads.lock().drain(..) {
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }

    fn heartbeats(self: &Arc<Self>, node: &Arc<Node>, service: &Weak<Nameservice>) {
        let Some(service) = service.upgrade() else { return };
        let mut pause = RETRY_PAUSE_MIN;
        let mut registered = false;
        while !node.is_stopping() {
            // A NameNode that was asked for a lease and gave none is asked again with the next heartbeat.
            let mut asked = false;
            let result = match registered {
                false => self.register(node, &service).map(|()| registered = true),
                true => {
                    asked = self.queue.wants_lease();
                    self.heartbeat(node, &service, asked).map(|again| registered = !again)
                }
            };
            let wait = match result {
                Ok(()) => {
                    pause = RETRY_PAUSE_MIN;
                    if !registered || (self.queue.wants_lease() && !asked) {
                        Duration::ZERO
                    } else {
                        node.config.heartbeat_interval
                    }
                }
                Err(Trouble::Fatal(text)) => {
                    tracing::error!("{}: {text}", self.address());
                    self.queue.unregistered();
                    self.given_up.store(true, Ordering::Relaxed);
                    // The others go on without this one. Source: `BPServiceActor.java`, `DataNode.java` (`shouldRun`), Hadoop 3.5.0.
                    if node.reports.actors().iter().all(|actor| actor.given_up.load(Ordering::Relaxed)) {
                        (node.on_fatal)(&text);
                    }
                    return;
                }
                Err(Trouble::Rpc(e)) => {
                    tracing::warn!("{}: {e}", self.address());
                    pause = (pause * 2).min(RETRY_PAUSE_MAX);
                    pause
                }
            };
            if self.queue.sleep_until_heartbeat(wait) {
                return;
            }
        }
    }

    /// versionRequest, opening the pool, registerDatanode. A full report follows.
    fn register(self: &Arc<Self>, node: &Arc<Node>, service: &Nameservice) -> Result<(), Trouble> {
        let answer: VersionResponseProto = self.client.call("versionRequest", &VersionRequestProto {})?;
        let info = answer.info;
        let namespace = Namespace {
            pool_id: info.block_pool_id,
            cluster_id: info.storage_info.cluster_id,
            namespace_id: info.storage_info.namespce_id,
            ctime: info.storage_info.c_time,
            takes_buffers: info.capabilities.unwrap_or(0) & STORAGE_BLOCK_REPORT_BUFFERS != 0,
        };
        let pool_id = service.pool_id.get_or_init(|| namespace.pool_id.clone());
        if *pool_id != namespace.pool_id {
            return Err(Trouble::Fatal(format!(
                "Block pool IDs of the NameNodes of one nameservice differ: {pool_id}, {}",
                namespace.pool_id
            )));
        }
        let version = PoolVersion {
            namespace_id: namespace.namespace_id,
            pool_id: namespace.pool_id.clone(),
            ctime: namespace.ctime,
            layout_version: crate::store::LAYOUT_VERSION,
        };
        node.store
            .open_pool(&version, &namespace.cluster_id)
            .map_err(|e| Trouble::Fatal(format!("Initialization failed for Block pool {}: {e}", namespace.pool_id)))?;
        if let Some(local) = self.client.local_addr() {
            let mut id = node.id.write();
            if id.ip_addr.is_empty() {
                id.ip_addr = local.ip().to_string();
            }
        }
        let request = RegisterDatanodeRequestProto { registration: namespace.registration(node) };
        let answer: RegisterDatanodeResponseProto = self.client.call("registerDatanode", &request)?;
        // The address the NameNode sees is the one it gives to clients.
        node.id.write().ip_addr = answer.registration.datanode_id.ip_addr;
        *self.namespace.lock() = Some(namespace);
        self.queue.registered();
        let delay = node.config.block_report_initial_delay.mul_f64(rand::random::<f64>());
        self.queue.schedule_full_report(delay);
        tracing::info!("registered with NameNode {}", self.address());
        Ok(())
    }

    /// True: the NameNode wants a new registration.
    fn heartbeat(
        self: &Arc<Self>,
        node: &Arc<Node>,
        service: &Nameservice,
        asks_for_lease: bool,
    ) -> Result<bool, Trouble> {
        let Some(namespace) = self.namespace.lock().clone() else { return Ok(true) };
        let failed = node.store.failed_volumes();
        let request = HeartbeatRequestProto {
            registration: namespace.registration(node),
            reports: node.store.volumes().iter().map(|v| to_proto::storage_report(&v.report())).collect(),
            xmits_in_progress: Some(node.xmits.load(std::sync::atomic::Ordering::Relaxed)),
            xceiver_count: Some(node.xceivers.load(std::sync::atomic::Ordering::Relaxed)),
            failed_volumes: Some(failed.len() as u32),
            cache_capacity: Some(0),
            cache_used: Some(0),
            volume_failure_summary: (!failed.is_empty()).then(|| VolumeFailureSummaryProto {
                failed_storage_locations: failed.iter().map(|f| f.path.display().to_string()).collect(),
                last_volume_failure_date: failed.iter().map(|f| f.at_ms).max().unwrap_or(0),
                estimated_capacity_lost_total: failed.iter().map(|f| f.capacity_lost).sum(),
            }),
            request_full_block_report_lease: Some(asks_for_lease),
            ..Default::default()
        };
        let answer: HeartbeatResponseProto = self.client.call("sendHeartbeat", &request)?;
        let is_active = answer.ha_status.state() == State::Active;
        service.heard_state(self.index, is_active, answer.ha_status.txid);
        if asks_for_lease && answer.full_block_report_lease_id() != 0 {
            self.queue.give_lease(answer.full_block_report_lease_id());
        }
        // Old NameNodes have only the first, whose absence says nothing here: Source: `DatanodeProtocolClientSideTranslatorPB`.
        let rolling = answer.rolling_upgrade_status_v2.as_ref().or(answer.rolling_upgrade_status.as_ref());
        if let Some(status) = rolling.filter(|status| is_active && status.block_pool_id == namespace.pool_id) {
            node.store.signal_rolling_upgrade(&namespace.pool_id, !status.finalized());
        }
        // RECEIVING and DELETED go along once in a heartbeat.
        self.queue.flush();
        let mut again = false;
        for command in answer.cmds {
            again |= super::commands::run(node, &namespace.pool_id, command, service.is_active(self.index));
        }
        if again {
            self.queue.unregistered();
        }
        Ok(again)
    }

    fn reports(&self, node: &Arc<Node>, service: &Weak<Nameservice>) {
        let Some(service) = service.upgrade() else { return };
        loop {
            if !node.config.incremental_report_interval.is_zero()
                && self.queue.sleep(node.config.incremental_report_interval)
            {
                return;
            }
            let round = self.queue.next();
            if round.stop {
                return;
            }
            let Some(namespace) = self.namespace.lock().clone() else { continue };
            for notice in round.notices {
                self.send_notice(node, &namespace, notice);
            }
            if !round.changes.is_empty()
                && let Err(e) = self.send_changes(node, &namespace, &round.changes)
            {
                tracing::warn!("{}: incremental report: {e}", self.address());
                self.queue.put_back(round.changes);
                if e.is(ExceptionClass::UnregisteredNode) {
                    // The NameNode has started anew. A heartbeat, which this wakes, will be told so.
                    self.queue.request_full_report();
                }
                if self.queue.sleep(REPORT_RETRY_PAUSE) {
                    return;
                }
            }
            if let Some(lease) = round.full_report {
                match self.send_full_report(node, &service, &namespace, lease) {
                    Ok(()) => self.queue.schedule_full_report(node.config.block_report_interval),
                    Err(e) => {
                        tracing::warn!("{}: full block report: {e}", self.address());
                        self.queue.schedule_full_report(REPORT_RETRY_PAUSE);
                    }
                }
            }
        }
    }

    fn send_notice(&self, node: &Node, namespace: &Namespace, notice: Notice) {
        let sent = match notice {
            Notice::BadBlock(block) => {
                let request = ReportBadBlocksRequestProto { blocks: vec![*block] };
                self.client.call::<_, ReportBadBlocksResponseProto>("reportBadBlocks", &request).map(|_| ())
            }
            Notice::Error(code, msg) => {
                let request =
                    ErrorReportRequestProto { registartion: namespace.registration(node), error_code: code, msg };
                self.client.call::<_, ErrorReportResponseProto>("errorReport", &request).map(|_| ())
            }
        };
        if let Err(e) = sent {
            tracing::warn!("{}: {e}", self.address());
        }
    }

    fn send_changes(&self, node: &Node, namespace: &Namespace, changes: &[Change]) -> Result<(), RpcError> {
        let mut blocks: Vec<StorageReceivedDeletedBlocksProto> = Vec::new();
        for change in changes {
            let entry = ReceivedDeletedBlockInfoProto {
                block: surus_proto::hadoop::hdfs::BlockProto {
                    block_id: change.block.id.0 as u64,
                    gen_stamp: change.block.generation_stamp.0,
                    num_bytes: Some(change.block.num_bytes),
                },
                status: change.status as i32,
                delete_hint: Some(change.delete_hint.clone()).filter(|h| !h.is_empty()),
            };
            match blocks.iter_mut().find(|b| b.storage_uuid == change.storage_id) {
                Some(storage) => storage.blocks.push(entry),
                None => blocks.push(StorageReceivedDeletedBlocksProto {
                    storage_uuid: change.storage_id.clone(),
                    blocks: vec![entry],
                    storage: Some(DatanodeStorageProto {
                        storage_uuid: change.storage_id.clone(),
                        state: Some(0),
                        storage_type: Some(change.storage_type as i32),
                    }),
                }),
            }
        }
        let request = BlockReceivedAndDeletedRequestProto {
            registration: namespace.registration(node),
            block_pool_id: namespace.pool_id.clone(),
            blocks,
        };
        self.client.call::<_, BlockReceivedAndDeletedResponseProto>("blockReceivedAndDeleted", &request).map(|_| ())
    }

    fn send_full_report(
        &self,
        node: &Arc<Node>,
        service: &Nameservice,
        namespace: &Namespace,
        lease: u64,
    ) -> Result<(), RpcError> {
        let Some(pool) = node.store.pool(&namespace.pool_id) else { return Ok(()) };
        let started = Instant::now();
        let mut reports = Vec::new();
        let mut total = 0;
        for volume in node.store.volumes() {
            let mut list = BlockList::new(namespace.takes_buffers);
            pool.report(volume.index, |block, state| list.add(&block, state));
            total += list.len();
            reports.push(storage_block_report(&volume, list));
        }
        let split = total > node.config.block_report_split_threshold;
        let id = {
            let mut id = self.report_id.lock();
            *id += 1;
            *id
        };
        let groups: Vec<Vec<StorageBlockReportProto>> =
            if split { reports.into_iter().map(|r| vec![r]).collect() } else { vec![reports] };
        let total_rpcs = groups.len() as i32;
        for (cur_rpc, reports) in groups.into_iter().enumerate() {
            let request = BlockReportRequestProto {
                registration: namespace.registration(node),
                block_pool_id: namespace.pool_id.clone(),
                reports,
                context: Some(BlockReportContextProto {
                    total_rpcs,
                    cur_rpc: cur_rpc as i32,
                    id,
                    lease_id: Some(lease),
                }),
            };
            let answer: BlockReportResponseProto = self.client.call("blockReport", &request)?;
            if let Some(command) = answer.cmd {
                super::commands::run(node, &namespace.pool_id, command, service.is_active(self.index));
            }
        }
        tracing::info!(
            "{}: full report of {total} blocks in {total_rpcs} calls took {} ms",
            self.address(),
            started.elapsed().as_millis()
        );
        Ok(())
    }

    pub fn commit_block_synchronization(
        &self,
        request: &CommitBlockSynchronizationRequestProto,
    ) -> Result<(), RpcError> {
        self.client
            .call::<_, CommitBlockSynchronizationResponseProto>("commitBlockSynchronization", request)
            .map(|_| ())
    }
}

/// Why a NameNode could not be talked to.
enum Trouble {
    /// Try again.
    Rpc(RpcError),
    /// This DataNode must not serve this NameNode.
    Fatal(String),
}

impl From<RpcError> for Trouble {
    fn from(e: RpcError) -> Self {
        match e.class() {
            Some(
                ExceptionClass::DisallowedDatanode
                | ExceptionClass::UnregisteredNode
                | ExceptionClass::IncorrectVersion,
            ) => Trouble::Fatal(e.to_string()),
            _ => Trouble::Rpc(e),
        }
    }
}

fn storage_proto(volume: &Volume) -> DatanodeStorageProto {
    let storage_type = StorageTypeProto::try_from(volume.storage_type as i32).unwrap_or(StorageTypeProto::Disk);
    DatanodeStorageProto {
        storage_uuid: volume.storage_id.clone(),
        state: Some(0),
        storage_type: Some(storage_type as i32),
    }
}

fn storage_block_report(volume: &Volume, list: BlockList) -> StorageBlockReportProto {
    let storage = storage_proto(volume);
    match list {
        BlockList::Buffer { bytes, count } => StorageBlockReportProto {
            storage,
            blocks: Vec::new(),
            number_of_blocks: Some(count),
            blocks_buffers: vec![bytes.into()],
        },
        BlockList::Longs { finalized, open } => StorageBlockReportProto {
            storage,
            blocks: BlockList::longs(&finalized, &open),
            number_of_blocks: None,
            blocks_buffers: Vec::new(),
        },
    }
}

/// A block of a message.
pub(super) fn block(proto: &surus_proto::hadoop::hdfs::BlockProto) -> surus_types::Block {
    surus_types::Block {
        id: BlockId(proto.block_id as i64),
        generation_stamp: GenerationStamp(proto.gen_stamp),
        num_bytes: proto.num_bytes(),
    }
}
