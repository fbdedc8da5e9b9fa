//! What a file costs: resident bytes, and time in each step. Not a test of this crate's logic, so it is left out of ordinary
//! runs: `cargo test --release -p surus-namespace --test main budget -- --ignored --nocapture`.

use crate::cluster::{Cluster, storage_uuid, uuid};
use std::time::Instant;
use surus_namespace::blocks::{Observation, ReceivedDeleted, ReplicaState, ReportedBlock};
use surus_namespace::ops::get_block_locations::GetBlockLocations;
use surus_types::{Block, StorageType};

const FILES: usize = 200_000;
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
#[ignore = "takes a minute; see the module's comment"]
fn a_file_with_one_block_and_three_replicas() {
    let mut c = Cluster::new(3);
    let before = resident();
    let start = Instant::now();
    for i in 0..FILES {
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
    let per_file = (resident() - before) / FILES;
    println!("written: {:?} a file, {per_file} bytes resident a file", start.elapsed() / FILES as u32);
    println!("  inodes and names: {} bytes a file", c.namespace.tree.bytes() / FILES);
    println!("  blocks and replicas: {} bytes a file", c.namespace.blocks.memory() / FILES);

    let start = Instant::now();
    for i in 0..FILES {
        let src = src(i * 7919 % FILES);
        c.namespace.get_file_info(&c.env(), &src, |_| ()).unwrap();
    }
    println!("getFileInfo: {:?}", start.elapsed() / FILES as u32);
    let start = Instant::now();
    for i in 0..FILES {
        let src = src(i * 7919 % FILES);
        let request = GetBlockLocations { src: &src, offset: 0, length: 1 << 30 };
        c.namespace.get_block_locations(&c.env(), &request, &mut |_| {}).unwrap();
    }
    println!("getBlockLocations: {:?}", start.elapsed() / FILES as u32);

    let all: Vec<Block> = (0..FILES).map(|i| c.block_of(&src(i * 7919 % FILES), 0)).collect();
    let start = Instant::now();
    c.observe(Observation::FullBlockReport {
        uuid: &uuid(0),
        storage_uuid: &storage_uuid(0),
        storage_type: StorageType::Disk,
        blocks: &mut all.iter().map(|block| ReportedBlock { block: *block, state: ReplicaState::Finalized }),
    });
    println!("full block report of {FILES} replicas: {:?}", start.elapsed());
    let start = Instant::now();
    let image = c.namespace.freeze();
    println!("freeze: {:?} ({} inodes)", start.elapsed(), image.num_inodes());
    assert!(per_file <= BYTES_PER_FILE_MAX, "{per_file} bytes a file");
}
