//! What is there after the daemons were stopped and started.

use crate::{content, read, same, small_blocks, write};
use std::io::Write;
use surus_client::CreateOptions;
use surus_testkit::Cluster;
use surus_types::FsPermission;

#[test]
fn everything_is_there_after_a_restart() {
    let mut cluster = Cluster::with_datanodes(2).start();
    let client = cluster.client();
    client.mkdirs("/a/b", FsPermission(0o711), true).unwrap();
    write(&client, "/a/f", &content(1, 150_000), &small_blocks());
    write(&client, "/a/gone", &content(2, 10), &CreateOptions::default());
    client.delete("/a/gone", false).unwrap();
    client.rename("/a/f", "/a/g").unwrap();
    client.set_replication("/a/g", 1).unwrap();
    let before = client.list_status("/a").unwrap();
    for round in 0..3 {
        if round == 1 {
            // From an image rather than from the first edit.
            client.set_safe_mode(surus_client::SafeModeAction::SafemodeEnter, false).unwrap();
            client.save_namespace(0, 0).unwrap();
        }
        cluster.restart_namenode();
        let client = cluster.client();
        assert_eq!(client.list_status("/a").unwrap(), before, "round {round}");
        same(&read(&client, "/a/g"), &content(1, 150_000));
    }
    for datanode in 0..2 {
        cluster.stop_datanode(datanode);
        cluster.start_datanode(datanode);
    }
    // Until they register the NameNode knows the DataNodes by the ports they had, where nobody answers any more.
    let ports = [0, 1].map(|i| u32::from(cluster.datanode(i).xfer_address().port()));
    cluster.wait("the replicas to be reported from the new ports", || {
        let blocks = cluster.client().get_block_locations("/a/g", 0, u64::MAX / 2).unwrap();
        blocks.blocks.iter().all(|b| b.locs.iter().any(|l| ports.contains(&l.id.xfer_port)))
    });
    same(&read(&cluster.client(), "/a/g"), &content(1, 150_000));
}

#[test]
fn an_open_file_keeps_what_was_flushed() {
    let mut cluster = Cluster::with_datanodes(1).start();
    let client = cluster.client();
    let data = content(7, 100_000);
    let mut writer = client.create("/open", &small_blocks()).unwrap();
    writer.write_all(&data).unwrap();
    writer.hflush().unwrap();
    cluster.stop_datanode(0);
    cluster.restart_namenode();
    cluster.start_datanode(0);
    cluster.wait_for_datanodes(1);
    drop(writer);
    let other = cluster.client();
    cluster.wait("the lease to be recovered", || other.recover_lease("/open").unwrap());
    same(&read(&other, "/open"), &data);
    let mut writer = other.append("/open", false).unwrap();
    writer.write_all(b"more").unwrap();
    writer.close().unwrap();
    same(&read(&other, "/open"), &[&data[..], b"more"].concat());
}

#[test]
fn a_second_namenode_on_the_same_directory_is_refused() {
    let cluster = Cluster::with_datanodes(0).start();
    let options = surus_namenode::NameNodeOptions { user: "root".into(), ..Default::default() };
    let error = surus_namenode::NameNode::start(cluster.conf(), options).err().expect("it must not start").to_string();
    assert!(error.contains("in_use.lock") || error.contains("in use"), "{error}");
}
