//! Times images and replay at scale:
//! `image_bench make DIR FILES EDITS` makes a name directory with FILES files of one block (random names, mean 40 bytes, a fifth
//! of 64 or more, 100 in a directory) and EDITS edits behind its image; `image_bench load DIR` loads it; `image_bench save DIR`
//! loads it and saves it again.

#[path = "../tests/common.rs"]
#[allow(dead_code)]
mod common;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use surus_disk::RealDisk;
use surus_namespace::EditOp;
use surus_namespace::edit_op::AddClose;
use surus_types::{Block, BlockId, FsPermission, GenerationStamp, InodeId, PermissionStatus, RpcIds, TxId};

const FILES_PER_DIRECTORY: u64 = 100;
/// Edits go to the log in such batches.
const BATCH: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match words.as_slice() {
        ["make", dir, files, edits] => make(dir, files.parse().unwrap(), edits.parse().unwrap()),
        ["load", dir] => drop(load(dir)),
        ["save", dir] => {
            let (storage, loaded) = load(dir);
            save(&storage, &loaded.namespace, loaded.last_txid);
        }
        _ => panic!("usage: image_bench make DIR FILES EDITS | load DIR | save DIR"),
    }
}

fn dirs(dir: &str) -> [PathBuf; 1] {
    [PathBuf::from(dir)]
}

fn load(dir: &str) -> (Arc<surus_journal::Storage>, surus_journal::Loaded) {
    let storage = common::open(Arc::new(RealDisk), &dirs(dir)).unwrap();
    let start = Instant::now();
    let loaded = storage.load(common::config(), &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let seconds = start.elapsed().as_secs_f64();
    let (inodes, edits) = (loaded.namespace.num_inodes(), loaded.edits_replayed);
    println!(
        "load: {inodes} inodes and {edits} edits in {seconds:.2} s, {:.0} inodes/s, {:.0} edits/s",
        inodes as f64 / seconds,
        edits as f64 / seconds
    );
    (storage, loaded)
}

fn save(storage: &surus_journal::Storage, namespace: &surus_namespace::Namespace, txid: TxId) {
    let start = Instant::now();
    let image = namespace.freeze();
    let frozen = start.elapsed();
    storage.save_namespace(&image, txid).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "save: {} inodes in {seconds:.2} s, {:.0} inodes/s; frozen in {:.3} ms",
        image.num_inodes(),
        image.num_inodes() as f64 / seconds,
        frozen.as_secs_f64() * 1e3
    );
}

fn make(dir: &str, files: u64, edits: u64) {
    common::format_dirs(&RealDisk, &dirs(dir));
    let storage = common::open(Arc::new(RealDisk), &dirs(dir)).unwrap();
    let loaded = storage.load(common::config(), &mut ()).unwrap();
    let mut fs = common::Running::start_with(storage, loaded).unwrap();
    let mut maker = Maker { random: 1, directory: String::new(), id: InodeId::ROOT.0 };
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
}

impl Maker {
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random >> 16
    }

    fn name(&mut self) -> String {
        let length = if self.next().is_multiple_of(5) { 64 + self.next() % 16 } else { 24 + self.next() % 17 };
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
        let close = AddClose { blocks: vec![block], client_name: "".into(), client_machine: "".into(), ..add.clone() };
        ops.push(EditOp::Add(Box::new(add)));
        ops.push(EditOp::Close(Box::new(close)));
        ops
    }
}
