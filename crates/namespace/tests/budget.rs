//! What a file costs on the data path: resident bytes, and time in each step. An ordinary run is a tiny one, to keep it
//! working; the figures: `BUDGET_FILES=1000000 cargo test --release -p surus-namespace --test main budget -- --nocapture`.

use crate::cluster::{Cluster, storage_uuid, uuid};
use std::time::Instant;
use surus_namespace::blocks::{InFuture, Observation, ReceivedDeleted, ReplicaState, ReportProgress, ReportedBlock};
use surus_namespace::ops::get_block_locations::GetBlockLocations;
use surus_types::{Block, StorageType};

const FILES_TINY: usize = 2_000;
/// Fewer files than this say nothing about bytes.
const FILES_TELLING: usize = 100_000;
const FILES_PER_DIRECTORY: usize = 1_000;
const BYTES_PER_FILE_MAX: usize = 150;

fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn src(i: usize) -> String {
    format!("/data/dir{:04}/part-{:05}", i / FILES_PER_DIRECTORY, i % FILES_PER_DIRECTORY)
}

#[test]
fn a_file_with_one_block_and_three_replicas() {
    let files = std::env::var("BUDGET_FILES").ok().and_then(|n| n.parse().ok()).unwrap_or(FILES_TINY);
    let mut c = Cluster::new(3);
    let before = resident();
    let start = Instant::now();
    for i in 0..files {
        let src = src(i);
        c.create(&src, "client", 3).done();
        let location = c.add_block(&src, "client", None).done();
        let block = Block { num_bytes: 4096, ..location.block };
        for storage in location.storages {
            let node = c.node_of(storage);
            c.report(node, ReceivedDeleted::Received(block, ""));
        }
        assert!(c.complete(&src, "client", Some(block)).done());
        c.log.clear();
        c.woken.clear();
    }
    let per_file = resident().saturating_sub(before) / files;
    println!("written: {:?} a file, {per_file} bytes resident a file", start.elapsed() / files as u32);
    println!("  inodes and names: {} bytes a file", c.namespace.tree.bytes() / files);
    println!(
        "  blocks and replicas: {} bytes a file",
        c.namespace.blocks.table_bytes().iter().map(|(_, bytes)| bytes).sum::<usize>() / files
    );

    let start = Instant::now();
    for i in 0..files {
        let src = src(i * 7919 % files);
        c.namespace.get_file_info(&c.env(), &src, |_| ()).unwrap();
    }
    println!("getFileInfo: {:?}", start.elapsed() / files as u32);
    let start = Instant::now();
    for i in 0..files {
        let src = src(i * 7919 % files);
        let request = GetBlockLocations { src: &src, offset: 0, length: 1 << 30 };
        c.namespace.get_block_locations(&c.env(), &request, &mut |_| {}).unwrap();
    }
    println!("getBlockLocations: {:?}", start.elapsed() / files as u32);

    let all: Vec<Block> = (0..files).map(|i| c.block_of(&src(i * 7919 % files), 0)).collect();
    let start = Instant::now();
    c.observe(Observation::FullBlockReport {
        uuid: &uuid(0),
        storage_uuid: &storage_uuid(0),
        storage_type: StorageType::Disk,
        blocks: &mut all.iter().map(|block| ReportedBlock { block: *block, state: ReplicaState::Finalized }),
        progress: &mut ReportProgress::new(usize::MAX, InFuture::default()),
    });
    println!("full block report of {files} replicas: {:?}", start.elapsed());
    let start = Instant::now();
    let image = c.namespace.freeze();
    println!("freeze: {:?} ({} inodes)", start.elapsed(), image.num_inodes());
    assert!(files < FILES_TELLING || per_file <= BYTES_PER_FILE_MAX, "{per_file} bytes a file");
}
