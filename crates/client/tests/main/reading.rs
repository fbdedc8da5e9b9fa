//! Reading while DataNodes fail.

use crate::fake_datanode::{FakeDatanode, Script, Store};
use crate::fake_namenode::FakeNamenode;
use crate::writing::{data, write};
use std::io::{Read, Seek, SeekFrom};

const LEN: usize = 600_000;

/// A file on two DataNodes, the first of which then behaves as scripted.
fn file_on_two(scripts: &[Script]) -> (FakeNamenode, FakeDatanode, FakeDatanode) {
    let store = Store::default();
    // Blocks 1 to 3 are written through the first one without an accident.
    let first = FakeDatanode::start(&store, &[]);
    let second = FakeDatanode::start(&store, &[]);
    let namenode = FakeNamenode::start(&[&first, &second], 2);
    write(&namenode.client(&[("dfs.replication", "2")]), &data(LEN)).unwrap();
    first.set_scripts(scripts);
    (namenode, first, second)
}

#[test]
fn a_file_comes_back_whole_and_in_parts() {
    let (namenode, _first, _second) = file_on_two(&[]);
    let client = namenode.client(&[]);
    let mut reader = client.open("/f").unwrap();
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    assert!(all == data(LEN));
    let mut copied = Vec::new();
    reader.seek(SeekFrom::Start(1)).unwrap();
    reader.copy_to(&mut copied).unwrap();
    assert!(copied == data(LEN)[1..]);
    for (at, len) in [(0, 10), (511, 2), (262_140, 10), (262_144, 300_000), (LEN - 5, 100), (LEN, 1)] {
        let mut buf = vec![0; len];
        let got = reader.pread(at as u64, &mut buf).unwrap();
        assert!(buf[..got] == data(LEN)[at..(at + len).min(LEN)], "at {at}");
    }
    let mut buf = [0; 100];
    for at in [5u64, 6, 200, 150_000, 149_000, 400_000, 3] {
        reader.seek(SeekFrom::Start(at)).unwrap();
        reader.read_exact(&mut buf).unwrap();
        assert!(buf[..] == data(LEN)[at as usize..at as usize + 100], "at {at}");
    }
    assert!(!namenode.has("reportBadBlocks"));
}

#[test]
fn a_corrupt_replica_is_reported_and_another_one_read() {
    let (namenode, _first, _second) = file_on_two(&[Script::Corrupt]);
    let mut all = Vec::new();
    namenode.client(&[]).open("/f").unwrap().read_to_end(&mut all).unwrap();
    assert!(all == data(LEN));
    assert!(namenode.has("reportBadBlocks"));
}

#[test]
fn a_datanode_that_refuses_is_passed_over() {
    let (namenode, _first, _second) = file_on_two(&[Script::Refuse]);
    let mut buf = vec![0; 1000];
    let mut reader = namenode.client(&[]).open("/f").unwrap();
    assert_eq!(reader.pread(100, &mut buf).unwrap(), 1000);
    assert!(buf == data(LEN)[100..1100]);
    assert!(!namenode.has("reportBadBlocks"));
}

#[test]
fn without_a_replica_the_block_is_missing_by_name() {
    let store = Store::default();
    let datanode = FakeDatanode::start(&store, &[]);
    let namenode = FakeNamenode::start(&[&datanode], 1);
    let client = namenode.client(&[("dfs.client.max.block.acquire.failures", "0")]);
    write(&client, &data(1000)).unwrap();
    store.lock().unwrap().clear();
    let error = client.open("/f").unwrap().read_to_end(&mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("Could not obtain block: BP-1-127.0.0.1-1:blk_1_1001 file=/f"), "{error}");
}
