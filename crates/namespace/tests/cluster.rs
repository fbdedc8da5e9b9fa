//! A NameNode's mind with DataNodes made of maps: clients write through the real operations, heartbeats hand out real
//! commands, and the DataNodes carry them out. No threads, no clock but `tick`.

use crate::snapshots::load_image;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use surus_namespace::blocks::{
    BlockManager, DatanodeCommand, Heartbeat, Now, Observation, Observed, ReceivedDeleted, ReplicaState,
    ReportProgress, ReportedBlock, StorageHandle,
};
use surus_namespace::ops::BlockLocation;
use surus_namespace::ops::add_block::AddBlock;
use surus_namespace::ops::commit_block_synchronization::CommitBlockSynchronization;
use surus_namespace::ops::complete::Complete;
use surus_namespace::ops::create::{Create, CreateReply, flag};
use surus_namespace::{EditOp, Env, Namespace, NamespaceConfig, Operation, Refusal, WaitFor};
use surus_types::{
    Block, BlockId, Caller, DatanodeId, FsPermission, HdfsError, InodeId, RpcIds, StorageReport, StorageType, TxId,
};

pub const BLOCK: u64 = 1 << 20;
/// Replicas of a full report taken in by one event.
const REPORT_SLICE: usize = 5;
const CAPACITY: u64 = 1 << 40;
static NO_RPC: RpcIds = RpcIds::NONE;

/// One DataNode: its replicas by block id.
#[derive(Default, Debug)]
pub struct Node {
    pub up: bool,
    /// Blocks whose replica here has rotten, as a reader found out.
    pub rotten: BTreeSet<i64>,
    pub replicas: BTreeMap<i64, (Block, ReplicaState)>,
}

pub struct Cluster {
    pub namespace: Namespace,
    pub log: Vec<EditOp>,
    pub nodes: Vec<Node>,
    pub caller: Caller,
    pub now_ms: u64,
    /// How far the wall clock was set off, forwards or back; the monotonic one goes on.
    pub clock_step_ms: i64,
    pub random: u64,
    pub woken: Vec<WaitFor>,
    pub last_id: InodeId,
}

/// What a call came to.
#[derive(Debug)]
pub enum Outcome<R> {
    Done(R),
    Failed(HdfsError),
    Parked(WaitFor, HdfsError),
}

impl<R: std::fmt::Debug> Outcome<R> {
    pub fn done(self) -> R {
        match self {
            Outcome::Done(reply) => reply,
            other => panic!("{other:?}"),
        }
    }
    pub fn error(self) -> String {
        match self {
            Outcome::Failed(error) | Outcome::Parked(_, error) => error.message,
            other => panic!("{other:?}"),
        }
    }
}

pub fn uuid(node: usize) -> String {
    format!("dn-{node}")
}
pub fn storage_uuid(node: usize) -> String {
    format!("DS-{node}")
}

impl Cluster {
    pub fn new(datanodes: usize) -> Self {
        let caller = Caller {
            user: "root".into(),
            real_user: None,
            groups: Arc::from([]),
            is_superuser: true,
            address: "10.0.0.100".into(),
        };
        let mut namespace = Namespace::default();
        namespace.blocks.activate();
        let mut cluster = Cluster {
            namespace,
            log: Vec::new(),
            nodes: Vec::new(),
            caller,
            now_ms: 1_000_000,
            clock_step_ms: 0,
            random: 1,
            woken: Vec::new(),
            last_id: InodeId(0),
        };
        for node in 0..datanodes {
            cluster.nodes.push(Node::default());
            cluster.start_node(node);
        }
        cluster
    }

    pub fn env(&self) -> Env<'_> {
        Env {
            now_ms: self.now_ms as i64 + self.clock_step_ms,
            monotonic_ms: self.now_ms,
            caller: &self.caller,
            rpc: &NO_RPC,
            random: self.random,
        }
    }

    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random
    }

    pub fn observe(&mut self, event: Observation<'_>) -> Observed {
        let now =
            Now { wall_ms: self.env().now_ms.max(0) as u64, monotonic_ms: self.now_ms, random: self.next_random() };
        let observed = self.namespace.observe(event, now);
        self.woken.extend(&observed.woken);
        observed
    }

    pub fn commit(&mut self, ops: Vec<EditOp>, soft: &[surus_namespace::plan::SoftEffect]) {
        for op in ops {
            self.log.push(op);
            let txid = TxId(self.log.len() as u64);
            self.namespace.apply(&self.log[self.log.len() - 1], txid).expect("a planned operation applies");
        }
        self.namespace.apply_soft(soft, TxId(self.log.len() as u64));
        self.woken.extend(self.namespace.blocks.take_woken());
    }

    pub fn run<O: Operation>(&mut self, request: &O) -> Outcome<O::Reply> {
        self.next_random();
        self.namespace.set_now(self.now_ms);
        match request.plan(&self.namespace, &self.env()) {
            Ok(plan) => {
                self.commit(plan.ops, &plan.soft);
                Outcome::Done(plan.reply)
            }
            Err(Refusal::Error(error)) => Outcome::Failed(error),
            Err(Refusal::Wait { until, otherwise }) => Outcome::Parked(until, otherwise),
            Err(Refusal::Start { ops, soft, until, otherwise }) => {
                self.commit(ops, &soft);
                Outcome::Parked(until, otherwise)
            }
        }
    }

    // Clients.

    pub fn create(&mut self, src: &str, client_name: &str, replication: u32) -> Outcome<CreateReply> {
        let outcome = self.run(&Create {
            src,
            permission: FsPermission(0o644),
            unmasked: None,
            client_name,
            flags: flag::CREATE,
            create_parent: true,
            replication,
            block_size: BLOCK,
            ec_policy_name: "",
            storage_policy: "",
            encryption: None,
        });
        if let Outcome::Done(reply) = &outcome {
            self.last_id = reply.inode_id;
        }
        outcome
    }

    pub fn add_block(&mut self, src: &str, client_name: &str, previous: Option<Block>) -> Outcome<BlockLocation> {
        self.run(&AddBlock {
            src,
            client_name,
            previous,
            excluded: &[],
            file_id: InodeId::GRANDFATHER,
            favored: &[],
            flags: 0,
        })
    }

    pub fn complete(&mut self, src: &str, client_name: &str, last: Option<Block>) -> Outcome<bool> {
        self.run(&Complete { src, client_name, last, file_id: InodeId::GRANDFATHER })
    }

    pub fn node_of(&self, storage: StorageHandle) -> usize {
        let name = &self.namespace.blocks.datanodes.storage(storage).report.uuid;
        name.strip_prefix("DS-").unwrap().parse().unwrap()
    }

    /// The client writes `length` bytes through the pipeline; the DataNodes finalize and report.
    pub fn write(&mut self, location: &BlockLocation, length: u64) -> Block {
        let block = Block { num_bytes: length, ..location.block };
        for storage in &location.storages {
            let node = self.node_of(*storage);
            self.store(node, block, ReplicaState::Finalized);
        }
        block
    }

    /// Writes and closes a file of these block lengths.
    pub fn put(&mut self, src: &str, replication: u32, lengths: &[u64]) {
        self.create(src, "client", replication).done();
        let mut previous = None;
        for length in lengths {
            let location = self.add_block(src, "client", previous).done();
            previous = Some(self.write(&location, *length));
        }
        assert!(self.complete(src, "client", previous).done());
    }

    // DataNodes.

    pub fn start_node(&mut self, node: usize) {
        self.nodes[node].up = true;
        // What readers had found out is forgotten, as in Hadoop: they will find it again.
        self.nodes[node].rotten.clear();
        self.register(node);
        self.full_report(node);
    }

    pub fn register(&mut self, node: usize) {
        let id = DatanodeId {
            ip_addr: format!("10.0.0.{node}"),
            host_name: format!("host{node}"),
            uuid: uuid(node),
            xfer_port: 9866,
            ..DatanodeId::default()
        };
        self.observe(Observation::RegisterDatanode { id: &id, software_version: "3.5.0" });
        self.heartbeat(node);
    }

    pub fn full_report(&mut self, node: usize) {
        let mut all: Vec<ReportedBlock> = self.nodes[node]
            .replicas
            .values()
            .map(|(block, state)| ReportedBlock { block: *block, state: *state })
            .collect();
        all.reverse();
        let in_future = BlockManager::in_future_of(self.namespace.blocks.ids.generation_stamp, &all);
        let mut progress = ReportProgress::new(REPORT_SLICE, in_future);
        let mut blocks = all.into_iter();
        while !progress.is_done() && !self.report_slice(node, &mut blocks, &mut progress).unregistered {}
    }

    /// One slice of a full report. An answer `unregistered` ends it.
    pub fn report_slice(
        &mut self,
        node: usize,
        blocks: &mut dyn Iterator<Item = ReportedBlock>,
        progress: &mut ReportProgress,
    ) -> Observed {
        self.observe(Observation::FullBlockReport {
            uuid: &uuid(node),
            storage_uuid: &storage_uuid(node),
            storage_type: StorageType::Disk,
            blocks,
            progress,
        })
    }

    /// The DataNode has a replica now, and says so.
    pub fn store(&mut self, node: usize, block: Block, state: ReplicaState) {
        if !self.nodes[node].up {
            return;
        }
        self.nodes[node].replicas.insert(block.id.0, (block, state));
        self.nodes[node].rotten.remove(&block.id.0);
        self.report(
            node,
            if state == ReplicaState::Finalized {
                ReceivedDeleted::Received(block, "")
            } else {
                ReceivedDeleted::Receiving(block)
            },
        );
    }

    pub fn report(&mut self, node: usize, entry: ReceivedDeleted<'static>) {
        let (uuid, storage_uuid) = (uuid(node), storage_uuid(node));
        fn shorten<'e>(entry: ReceivedDeleted<'static>) -> ReceivedDeleted<'e> {
            entry
        }
        self.observe(Observation::IncrementalBlockReport {
            uuid: &uuid,
            storage_uuid: &storage_uuid,
            storage_type: StorageType::Disk,
            entries: &mut [entry].into_iter().map(shorten),
        });
    }

    pub fn heartbeat(&mut self, node: usize) -> bool {
        let report = StorageReport {
            uuid: storage_uuid(node),
            storage_type: StorageType::Disk,
            failed: false,
            capacity: CAPACITY,
            dfs_used: 0,
            remaining: CAPACITY,
            block_pool_used: 0,
            non_dfs_used: 0,
        };
        let name = uuid(node);
        let heartbeat = Heartbeat { uuid: &name, storages: &[report], ..Heartbeat::default() };
        !self.observe(Observation::Heartbeat(heartbeat)).unregistered
    }

    /// A heartbeat, and what it answers is done.
    pub fn serve(&mut self, node: usize) {
        if !self.nodes[node].up {
            return;
        }
        self.heartbeat(node);
        let durable = TxId(self.log.len() as u64);
        for command in self.namespace.blocks.datanode_commands(&uuid(node), durable) {
            self.obey(node, command);
        }
    }

    fn obey(&mut self, node: usize, command: DatanodeCommand) {
        match command {
            DatanodeCommand::Register => {
                self.nodes[node].rotten.clear();
                self.register(node);
                self.full_report(node);
            }
            DatanodeCommand::Invalidate(blocks) => {
                for block in blocks {
                    let held = self.nodes[node].replicas.get(&block.id.0).copied();
                    // A newer replica than the one meant is not touched.
                    if held.is_some_and(|(b, _)| b.generation_stamp <= block.generation_stamp) {
                        self.nodes[node].replicas.remove(&block.id.0);
                        self.nodes[node].rotten.remove(&block.id.0);
                        self.report(node, ReceivedDeleted::Deleted(block));
                    }
                }
            }
            DatanodeCommand::Transfer(transfers) => {
                for transfer in transfers {
                    let held = self.nodes[node].replicas.get(&transfer.block.id.0).copied();
                    let Some((block, ReplicaState::Finalized)) = held else { continue };
                    assert!(
                        !self.nodes[node].rotten.contains(&block.id.0),
                        "{block:?} is copied from a rotten replica"
                    );
                    for target in transfer.targets {
                        let target = self.node_of(target);
                        self.store(target, block, ReplicaState::Finalized);
                    }
                }
            }
            DatanodeCommand::Recover(blocks) => {
                for recovering in blocks {
                    self.recover(&recovering);
                }
            }
            DatanodeCommand::BalancerBandwidth(_) => {}
        }
    }

    /// The primary's part of a block recovery: shortest replica wins.
    fn recover(&mut self, recovering: &surus_namespace::blocks::RecoveringBlock) {
        let id = recovering.block.id.0;
        let nodes: Vec<usize> = recovering.replicas.iter().map(|s| self.node_of(*s)).collect();
        let held = |n: &usize| self.nodes[*n].replicas.get(&id).filter(|_| self.nodes[*n].up);
        if nodes.iter().filter_map(held).any(|(b, _)| b.generation_stamp >= recovering.new_generation_stamp) {
            return; // A newer recovery has been there.
        }
        let known = recovering.block.generation_stamp;
        let holders: Vec<usize> =
            nodes.into_iter().filter(|n| held(n).is_some_and(|(b, _)| b.generation_stamp >= known)).collect();
        let shortest = holders.iter().map(|n| self.nodes[*n].replicas[&id].0.num_bytes).min();
        let length = recovering.truncate_to.map(|to| to.num_bytes).or(shortest).unwrap_or(0);
        let block = Block {
            id: recovering.truncate_to.map_or(recovering.block.id, |to| to.id),
            generation_stamp: recovering.new_generation_stamp,
            num_bytes: length,
        };
        for holder in &holders {
            // What is copied from stays.
            if block.id.0 == id {
                self.nodes[*holder].replicas.remove(&id);
                self.nodes[*holder].rotten.remove(&id);
            }
            self.nodes[*holder].replicas.insert(block.id.0, (block, ReplicaState::Finalized));
        }
        let (uuids, storages): (Vec<_>, Vec<_>) = holders.iter().map(|n| (uuid(*n), storage_uuid(*n))).unzip();
        let uuids: Vec<&str> = uuids.iter().map(String::as_str).collect();
        let storages: Vec<&str> = storages.iter().map(String::as_str).collect();
        let delete = holders.is_empty() || length == 0 && recovering.truncate_to.is_none();
        let outcome = self.run(&CommitBlockSynchronization {
            block: recovering.block,
            new_generation_stamp: recovering.new_generation_stamp,
            new_length: length,
            close_file: true,
            delete_block: delete,
            datanodes: if delete { &[] } else { &uuids },
            storages: if delete { &[] } else { &storages },
        });
        // A newer recovery may have begun meanwhile.
        drop(outcome);
        for holder in holders {
            self.report(holder, ReceivedDeleted::Received(block, ""));
        }
    }

    /// `ms` pass; every DataNode that is up sends its heartbeats, and the monitors run.
    pub fn tick(&mut self, ms: u64) {
        self.now_ms += ms;
        self.namespace.set_now(self.now_ms);
        for node in 0..self.nodes.len() {
            self.serve(node);
        }
        self.observe(Observation::DatanodeTick);
        self.observe(Observation::RedundancyTick);
        for node in 0..self.nodes.len() {
            self.serve(node);
        }
    }

    // What is seen.

    pub fn block_of(&self, src: &str, index: usize) -> Block {
        let file = self.namespace.tree.lookup(src).unwrap();
        self.namespace.blocks.block(self.namespace.tree.inode(file).blocks()[index])
    }

    /// DataNodes that hold a good replica of exactly this form.
    pub fn holders(&self, block: Block) -> Vec<usize> {
        let holds = |n: &usize| {
            let node = &self.nodes[*n];
            node.up
                && node.replicas.get(&block.id.0) == Some(&(block, ReplicaState::Finalized))
                && !node.rotten.contains(&block.id.0)
        };
        (0..self.nodes.len()).filter(holds).collect()
    }

    pub fn num_replicas(&self, id: BlockId) -> usize {
        self.nodes.iter().filter(|n| n.up && n.replicas.contains_key(&id.0)).count()
    }

    /// The log since `from`, one operation a line.
    pub fn log_text(&self, from: usize) -> String {
        let mut text = String::new();
        for op in &self.log[from..] {
            let block = |b: &Block| format!("{b}/{}", b.num_bytes);
            let list = |blocks: &[Block]| blocks.iter().map(block).collect::<Vec<_>>().join(" ");
            let line = match op {
                EditOp::Add(op) => format!("ADD {} {} r{}", op.path, op.client_name, op.replication),
                EditOp::Close(op) => format!("CLOSE {} {}", op.path, list(&op.blocks)),
                EditOp::Append { path, client_name, new_block, .. } => {
                    format!("APPEND {path} {client_name} {new_block}")
                }
                EditOp::AddBlock { path, penultimate, last, .. } => {
                    let penultimate = penultimate.as_ref().map_or(String::new(), |b| block(b) + " ");
                    format!("ADD_BLOCK {path} {penultimate}{}", block(last))
                }
                EditOp::UpdateBlocks { path, blocks, .. } => format!("UPDATE_BLOCKS {path} {}", list(blocks)),
                EditOp::AllocateBlockId { block_id } => format!("ALLOCATE_BLOCK_ID {block_id}"),
                EditOp::SetGenstampV2 { generation_stamp } => format!("SET_GENSTAMP_V2 {generation_stamp}"),
                EditOp::ReassignLease { path, lease_holder, new_holder } => {
                    format!("REASSIGN_LEASE {path} {lease_holder} -> {new_holder}")
                }
                EditOp::Truncate { src, new_length, block: cut, .. } => {
                    format!("TRUNCATE {src} {new_length} {}", cut.as_ref().map_or("-".into(), block))
                }
                EditOp::SetReplication { path, replication } => format!("SET_REPLICATION {path} {replication}"),
                EditOp::Times { path, mtime, atime } => format!("TIMES {path} {mtime} {atime}"),
                other => other.name().to_string(),
            };
            writeln!(text, "{}", line.trim_end()).unwrap();
        }
        text
    }

    /// The NameNode starts anew from its log; no DataNode has reported yet.
    pub fn restart(&mut self) {
        self.restart_as(self.replay());
    }

    /// As [`restart`](Self::restart), from an image of this moment.
    pub fn restart_from_image(&mut self) {
        let mut loaded = load_image(&self.namespace, NamespaceConfig::default()).expect("the image loads");
        loaded.keeps_previous = self.namespace.keeps_previous;
        self.restart_as(loaded);
    }

    fn restart_as(&mut self, started: Namespace) {
        assert_eq!(started.dump(), self.namespace.dump(), "what was started differs from the live state");
        self.namespace = started;
        self.namespace.set_now(self.now_ms);
        self.namespace.leases.renew_all(self.now_ms);
        self.namespace.blocks.activate();
        self.observe(Observation::DatanodeTick);
    }

    /// The same log applied to a fresh namespace, as a restart does.
    pub fn replay(&self) -> Namespace {
        let mut namespace = Namespace::default();
        for (i, op) in self.log.iter().enumerate() {
            namespace.apply(op, TxId(i as u64 + 1)).expect("the log replays");
        }
        namespace
    }
}
