//! Writing while DataNodes fail.

use crate::fake_datanode::{FakeDatanode, Script, Store};
use crate::fake_namenode::FakeNamenode;
use std::io::Write;
use surus_client::{CreateOptions, DfsClient};

/// Bytes that differ everywhere.
pub fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 253) as u8).collect()
}

fn options() -> CreateOptions {
    CreateOptions { block_size: Some(crate::fake_namenode::BLOCK_SIZE), ..CreateOptions::default() }
}

pub fn write(client: &DfsClient, bytes: &[u8]) -> surus_client::Result<()> {
    let mut writer = client.create("/f", &options())?;
    for piece in bytes.chunks(10_007) {
        writer.write_all(piece)?;
    }
    writer.close()
}

#[test]
fn a_file_of_several_blocks_reaches_the_datanode() {
    let store = Store::default();
    let datanode = FakeDatanode::start(&store, &[]);
    let namenode = FakeNamenode::start(&[&datanode], 1);
    for len in [0, 1, 512, 64_512, 262_144, 700_001] {
        let namenode = FakeNamenode::start(&[&datanode], 1);
        write(&namenode.client(&[]), &data(len)).unwrap();
        assert!(datanode.file(&namenode.blocks()) == data(len), "{len} bytes");
        store.lock().unwrap().clear();
    }
    assert!(namenode.log().is_empty());
}

/// Zones come and go while the NameNode makes a key: ten times it may say so.
#[test]
fn a_creation_is_tried_again() {
    let namenode = FakeNamenode::start(&[], 1);
    let client = namenode.client(&[]);
    namenode.refuse_creates(10);
    drop(client.create("/f", &options()).unwrap());
    assert_eq!(namenode.log(), ["create"; 11]);
    namenode.refuse_creates(11);
    let error = client.create("/f", &options()).err().unwrap();
    assert_eq!(error.message(), "Too many retries because of encryption zone operations");
}

/// The file goes again; that this fails too is not what counts.
#[test]
fn why_a_file_cannot_be_encrypted_is_told() {
    let namenode = FakeNamenode::start(&[], 1);
    namenode.encrypt();
    let error = namenode.client(&[]).create("/f", &options()).err().unwrap();
    assert_eq!(error.message(), "/f is encrypted by cipher suite 3: only AES is known");
    assert_eq!(namenode.log(), ["create", "delete"]);
}

#[test]
fn a_datanode_that_refuses_is_left_out_of_the_next_block() {
    let store = Store::default();
    let bad = FakeDatanode::start(&store, &[Script::Refuse]);
    let good = FakeDatanode::start(&store, &[]);
    let namenode = FakeNamenode::start(&[&bad, &good], 1);
    write(&namenode.client(&[]), &data(100_000)).unwrap();
    assert!(good.file(&namenode.blocks()) == data(100_000));
    assert_eq!(
        namenode.log(),
        ["create", "addBlock excluding 0", "abandonBlock", "addBlock excluding 1", "complete", "complete"]
    );
}

#[test]
fn a_bad_link_blames_the_datanode_it_names() {
    let store = Store::default();
    let first = FakeDatanode::start(&store, &[Script::BadLink]);
    let unreachable = FakeDatanode::start(&store, &[]);
    let third = FakeDatanode::start(&store, &[]);
    let namenode = FakeNamenode::start(&[&first, &unreachable, &third], 2);
    write(&namenode.client(&[]), &data(1000)).unwrap();
    assert!(first.file(&namenode.blocks()) == data(1000) && third.file(&namenode.blocks()) == data(1000));
    assert!(unreachable.file(&namenode.blocks()).is_empty());
}

#[test]
fn when_nobody_takes_a_block_the_write_fails() {
    let store = Store::default();
    let bad = FakeDatanode::start(&store, &[Script::Refuse]);
    let namenode = FakeNamenode::start(&[&bad], 1);
    let text = write(&namenode.client(&[]), &data(1000)).unwrap_err().message();
    assert!(text.contains("could only be written to 0"), "{text}");
}

#[test]
fn a_datanode_that_dies_leaves_the_pipeline_and_nothing_is_lost() {
    for packets in [1, 2, 4] {
        let store = Store::default();
        let dying = FakeDatanode::start(&store, &[Script::DieAfter(packets)]);
        let other = FakeDatanode::start(&store, &[]);
        let namenode = FakeNamenode::start(&[&dying, &other], 2);
        write(&namenode.client(&[("dfs.replication", "2")]), &data(250_000)).unwrap();
        assert!(other.file(&namenode.blocks()) == data(250_000), "after {packets} packets");
        assert_eq!(other.log(), ["PIPELINE_SETUP_STREAMING_RECOVERY of 1"]);
        assert!(namenode.has("updateBlockForPipeline") && namenode.has("updatePipeline to 1 nodes"));
    }
}

#[test]
fn an_acknowledgement_blames_its_datanode() {
    let store = Store::default();
    let first = FakeDatanode::start(&store, &[Script::AckError { packet: 2, index: 1 }]);
    let blamed = FakeDatanode::start(&store, &[]);
    let namenode = FakeNamenode::start(&[&first, &blamed], 2);
    write(&namenode.client(&[("dfs.replication", "2")]), &data(250_000)).unwrap();
    assert!(first.file(&namenode.blocks()) == data(250_000));
    assert_eq!(first.log(), ["PIPELINE_SETUP_CREATE of 2", "PIPELINE_SETUP_STREAMING_RECOVERY of 1"]);
}

#[test]
fn the_last_packet_is_recovered_by_closing() {
    // 1000 bytes are one packet; the second is the empty last one.
    let store = Store::default();
    let dying = FakeDatanode::start(&store, &[Script::DieAfter(2)]);
    let other = FakeDatanode::start(&store, &[]);
    let namenode = FakeNamenode::start(&[&dying, &other], 2);
    write(&namenode.client(&[("dfs.replication", "2")]), &data(1000)).unwrap();
    assert_eq!(other.log(), ["PIPELINE_CLOSE_RECOVERY of 1"]);
    assert!(other.file(&namenode.blocks()) == data(1000));
}

#[test]
fn the_only_datanode_that_dies_ends_the_write() {
    let store = Store::default();
    let dying = FakeDatanode::start(&store, &[Script::DieAfter(2)]);
    let namenode = FakeNamenode::start(&[&dying], 1);
    let text = write(&namenode.client(&[]), &data(250_000)).unwrap_err().message();
    assert_eq!(text, format!("All datanodes [127.0.0.1:{}] are bad. Aborting...", dying.port));
}

#[test]
fn a_flushed_file_gets_a_new_datanode_with_what_is_there() {
    let store = Store::default();
    let dying = FakeDatanode::start(&store, &[Script::DieAfter(3)]);
    let second = FakeDatanode::start(&store, &[]);
    let third = FakeDatanode::start(&store, &[]);
    let spare = FakeDatanode::start(&store, &[]);
    let namenode = FakeNamenode::start(&[&dying, &second, &third, &spare], 3);
    let client = namenode.client(&[("dfs.replication", "3")]);
    let mut writer = client.create("/f", &options()).unwrap();
    writer.write_all(&data(100_000)[..70_000]).unwrap();
    writer.hflush().unwrap();
    writer.write_all(&data(100_000)[70_000..]).unwrap();
    writer.close().unwrap();
    for datanode in [&second, &third, &spare] {
        assert!(datanode.file(&namenode.blocks()) == data(100_000));
    }
    assert!(
        namenode.has("fsync") && namenode.has("getAdditionalDatanode") && namenode.has("updatePipeline to 3 nodes")
    );
    assert_eq!(second.log(), ["transfer", "PIPELINE_SETUP_STREAMING_RECOVERY of 3"]);
}

#[test]
fn an_append_fills_the_last_chunk_first() {
    let store = Store::default();
    let datanode = FakeDatanode::start(&store, &[]);
    let namenode = FakeNamenode::start(&[&datanode], 1);
    let client = namenode.client(&[]);
    write(&client, &data(700)).unwrap();
    let mut writer = client.append("/f", false).unwrap();
    assert_eq!(writer.position(), 700);
    writer.write_all(&data(3000)[700..710]).unwrap();
    writer.hflush().unwrap();
    writer.hsync().unwrap();
    writer.write_all(&data(3000)[710..]).unwrap();
    writer.close().unwrap();
    assert!(datanode.file(&namenode.blocks()) == data(3000));
    assert_eq!(datanode.log(), ["PIPELINE_SETUP_CREATE of 1", "PIPELINE_SETUP_APPEND of 1"]);
}
