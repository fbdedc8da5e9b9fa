//! Times images and replay at scale, and the memory of the tables:
//! `image_bench make DIR FILES EDITS [empty]` makes a name directory with FILES files of one block (or of none) and EDITS edits
//! behind its image: random names, mean 32.3 bytes, a fifth of 64 or more, 100 in a directory. `image_bench load DIR` loads it;
//! `image_bench report DIR` lets three DataNodes report each block besides; `image_bench save DIR` loads it and saves it again.

#[path = "../tests/common.rs"]
#[allow(dead_code)]
mod common;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use surus_disk::RealDisk;
use surus_journal::LoadObserver;
use surus_namespace::blocks::{Heartbeat, InFuture, Now, Observation, ReportProgress, ReportedBlock};
use surus_namespace::edit_op::AddClose;
use surus_namespace::{EditOp, Namespace};
use surus_types::{
    Block, BlockId, DatanodeId, FsPermission, GenerationStamp, InodeId, PermissionStatus, ReplicaState, RpcIds,
    StorageReport, StorageType, TxId,
};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FILES_PER_DIRECTORY: u64 = 100;
/// Edits go to the log in such batches.
const BATCH: usize = 1000;
/// Replicas of a block report taken in by one event, as the NameNode does.
const REPORT_SLICE: usize = 1_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match words.as_slice() {
        ["make", dir, files, edits] => make(dir, files.parse().unwrap(), edits.parse().unwrap(), false),
        ["make", dir, files, edits, "empty"] => make(dir, files.parse().unwrap(), edits.parse().unwrap(), true),
        ["load", dir] => drop(load(dir)),
        ["report", dir] => report(load(dir).1.namespace),
        ["save", dir] => {
            let (storage, loaded) = load(dir);
            save(&storage, &loaded.namespace, loaded.last_txid);
        }
        _ => panic!("usage: image_bench make DIR FILES EDITS [empty] | load DIR | report DIR | save DIR"),
    }
}

fn dirs(dir: &str) -> [PathBuf; 1] {
    [PathBuf::from(dir)]
}

/// Wall and CPU time since some moment, of all threads.
struct Clock {
    start: Instant,
    cpu: f64,
}

impl Clock {
    fn start() -> Clock {
        Clock { start: Instant::now(), cpu: cpu_seconds() }
    }

    fn say(&self, what: &str, count: u64, of: &str) {
        let (wall, cpu) = (self.start.elapsed().as_secs_f64(), cpu_seconds() - self.cpu);
        println!("{what}: {count} {of} in {wall:.2} s, {cpu:.2} s of CPU; {:.0} {of}/s", count as f64 / wall);
    }
}

/// In hundredths of a second, as Linux counts them.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    [11, 12].iter().filter_map(|&at| fields.get(at)?.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn say_memory(namespace: &Namespace, before: u64) {
    let inodes = namespace.num_inodes();
    let each = |bytes: u64| bytes as f64 / inodes as f64;
    println!("resident: {:.1} bytes an inode", each(resident_bytes().saturating_sub(before)));
    for (table, bytes) in namespace.table_bytes() {
        println!("    {table}: {:.2}", each(bytes as u64));
    }
}

/// Tells the image from the edits.
struct Watch {
    clock: Clock,
    edits: u64,
}

impl LoadObserver for Watch {
    fn loaded_image(&mut self, namespace: &Namespace) {
        self.clock.say("image", namespace.num_inodes(), "inodes");
        self.clock = Clock::start();
    }
    fn replayed(&mut self, _op: &EditOp, _txid: TxId, _namespace: &Namespace) {
        self.edits += 1;
    }
}

fn load(dir: &str) -> (Arc<surus_journal::Storage>, surus_journal::Loaded) {
    let before = resident_bytes();
    let storage = common::open(Arc::new(RealDisk), &dirs(dir)).unwrap();
    let whole = Clock::start();
    let mut watch = Watch { clock: Clock::start(), edits: 0 };
    let loaded = storage.load(common::config(), &mut watch).unwrap_or_else(|e| panic!("{e}"));
    watch.clock.say("replay", watch.edits, "edits");
    whole.say("load", loaded.namespace.num_inodes(), "inodes");
    say_memory(&loaded.namespace, before);
    (storage, loaded)
}

/// Every block is on three DataNodes, in the order of the ids.
fn report(mut namespace: Namespace) {
    let before = resident_bytes();
    let blocks: Vec<Block> = {
        let image = namespace.freeze();
        let mut blocks: Vec<Block> = image
            .inodes()
            .flat_map(|inode| inode.blocks().iter().map(|b| image.block(*b)).collect::<Vec<_>>())
            .collect();
        blocks.sort_unstable_by_key(|block| block.id);
        blocks
    };
    namespace.blocks.activate();
    let clock = Clock::start();
    for node in 0..3 {
        let (uuid, storage_uuid) = (format!("dn-{node}"), format!("DS-{node}"));
        let id = DatanodeId {
            ip_addr: format!("10.0.0.{node}"),
            host_name: format!("host-{node}"),
            uuid: uuid.clone(),
            xfer_port: 9866,
            ..DatanodeId::default()
        };
        let now = Now { wall_ms: 1, monotonic_ms: 1, random: node };
        namespace.blocks.observe(Observation::RegisterDatanode { id: &id, software_version: "3.5.0" }, now);
        let storages = [StorageReport { uuid: storage_uuid.clone(), ..StorageReport::default() }];
        let heartbeat = Heartbeat { uuid: &uuid, storages: &storages, ..Heartbeat::default() };
        namespace.blocks.observe(Observation::Heartbeat(heartbeat), now);
        let mut reported = blocks.iter().map(|&block| ReportedBlock { block, state: ReplicaState::Finalized });
        let mut progress = ReportProgress::new(REPORT_SLICE, InFuture::default());
        while !progress.is_done() {
            let report = Observation::FullBlockReport {
                uuid: &uuid,
                storage_uuid: &storage_uuid,
                storage_type: StorageType::Disk,
                blocks: &mut reported,
                progress: &mut progress,
            };
            namespace.blocks.observe(report, now);
        }
    }
    clock.say("report", 3 * blocks.len() as u64, "replicas");
    drop(blocks);
    println!("reports took {:.1} MB", (resident_bytes() as f64 - before as f64) / 1e6);
    say_memory(&namespace, 0);
}

fn save(storage: &surus_journal::Storage, namespace: &Namespace, txid: TxId) {
    let clock = Clock::start();
    let image = namespace.freeze();
    println!("frozen in {:.3} ms", clock.start.elapsed().as_secs_f64() * 1e3);
    storage.save_namespace(&image, txid).unwrap();
    clock.say("save", image.num_inodes(), "inodes");
}

fn make(dir: &str, files: u64, edits: u64, empty: bool) {
    common::format_dirs(&RealDisk, &dirs(dir));
    let storage = common::open(Arc::new(RealDisk), &dirs(dir)).unwrap();
    let loaded = storage.load(common::config(), &mut ()).unwrap();
    let mut fs = common::Running::start_with(storage, loaded).unwrap();
    let mut maker = Maker { random: 1, directory: String::new(), id: InodeId::ROOT.0, empty };
    // Without the log: the image is what counts.
    let start = Instant::now();
    for at in 0..files {
        for op in maker.file(at) {
            fs.namespace.apply(&op, TxId(1)).unwrap();
        }
    }
    println!("made {files} files in {:.1} s", start.elapsed().as_secs_f64());
    save(&fs.storage, &fs.namespace, fs.log.last_txid());
    let mut batch = Vec::with_capacity(BATCH);
    let (start, mut logged) = (Instant::now(), 0);
    for at in files.. {
        if logged + batch.len() as u64 >= edits {
            break;
        }
        batch.extend(maker.file(at));
        if batch.len() >= BATCH {
            logged += batch.len() as u64;
            fs.log.wait_durable(fs.log.log(&batch)).unwrap();
            batch.clear();
        }
    }
    fs.log.wait_durable(fs.log.log(&batch)).unwrap();
    println!("logged {} edits in {:.1} s", logged + batch.len() as u64, start.elapsed().as_secs_f64());
}

struct Maker {
    random: u64,
    directory: String,
    id: u64,
    empty: bool,
}

impl Maker {
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random >> 16
    }

    fn name(&mut self) -> String {
        let length = if self.next().is_multiple_of(5) { 64 + self.next() % 3 } else { 16 + self.next() % 17 };
        (0..length).map(|_| char::from(b"abcdefghijklmnopqrstuvwxyz012345"[self.next() as usize % 32])).collect()
    }

    /// What creates file number `at`, and its directory before the first file in it.
    fn file(&mut self, at: u64) -> Vec<EditOp> {
        let mut ops = Vec::with_capacity(3);
        if at.is_multiple_of(FILES_PER_DIRECTORY) || self.directory.is_empty() {
            self.directory = format!("/{}-{at}", self.name());
            self.id += 1;
            ops.push(common::mkdir(InodeId(self.id), &self.directory));
        }
        self.id += 1;
        let name = self.name();
        let add = AddClose {
            inode_id: InodeId(self.id),
            path: format!("{}/{name}", self.directory).into(),
            replication: 3,
            mtime: 1_700_000_000_000 + at as i64,
            atime: 1_700_000_000_000 + at as i64,
            block_size: 128 << 20,
            blocks: Vec::new(),
            permission: PermissionStatus {
                user: "alice".into(),
                group: "staff".into(),
                permission: FsPermission(0o644),
            },
            acl: Vec::new(),
            xattrs: Vec::new(),
            client_name: "DFSClient_NONMAPREDUCE_1652892421_1".into(),
            client_machine: "127.0.0.1".into(),
            overwrite: false,
            storage_policy_id: 0,
            erasure_coding_policy_id: 0,
            rpc: RpcIds::NONE,
        };
        let block = Block {
            id: BlockId(1_073_741_825 + at as i64),
            generation_stamp: GenerationStamp(1001 + at),
            num_bytes: 1 + self.next() % (128 << 20),
        };
        let blocks = if self.empty { Vec::new() } else { vec![block] };
        let close = AddClose { blocks, client_name: "".into(), client_machine: "".into(), ..add.clone() };
        ops.push(EditOp::Add(Box::new(add)));
        ops.push(EditOp::Close(Box::new(close)));
        ops
    }
}
