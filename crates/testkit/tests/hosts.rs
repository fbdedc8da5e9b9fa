//! The include and exclude lists of hosts: who is told to go, who is let go when its blocks are elsewhere.

use crate::{content, read, same, small_blocks, write};
use std::path::Path;
use surus_client::DatanodeReportType::{All, Decommissioning, Live};
use surus_client::DfsClient;
use surus_testkit::Cluster;

/// `DatanodeInfoProto.AdminState`.
const NORMAL: i32 = 0;
const DECOMMISSIONED: i32 = 2;

fn list(cluster: &Cluster, file: &Path, datanodes: &[usize]) {
    let port = |i: &usize| format!("127.0.0.1:{} # number {i}\n", cluster.datanode(*i).xfer_address().port());
    std::fs::write(file, datanodes.iter().map(port).collect::<String>()).unwrap();
    cluster.client().refresh_nodes().unwrap();
}

fn admin_state(client: &DfsClient, port: u16) -> i32 {
    let nodes = client.get_datanode_report(All).unwrap();
    nodes.iter().find(|n| n.id.xfer_port == u32::from(port)).expect("it is known").admin_state.unwrap_or(NORMAL)
}

#[test]
fn an_excluded_datanode_is_decommissioned_when_its_blocks_are_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let exclude = dir.path().join("exclude");
    std::fs::write(&exclude, "").unwrap();
    let mut cluster = Cluster::with_datanodes(3)
        .set("dfs.hosts.exclude", exclude.to_str().unwrap())
        .set("dfs.namenode.redundancy.interval.seconds", "1")
        .set("dfs.replication", "2")
        .start();
    let client = cluster.client();
    write(&client, "/f", &content(6, 300_000), &small_blocks());
    let port = cluster.datanode(0).xfer_address().port();
    list(&cluster, &exclude, &[0]);
    assert_ne!(admin_state(&client, port), NORMAL);
    assert!(client.get_datanode_report(Decommissioning).unwrap().len() <= 1);
    // New blocks do not go there.
    write(&client, "/g", &content(7, 200_000), &small_blocks());
    let at = |path: &str| client.get_block_locations(path, 0, u64::MAX / 2).unwrap();
    assert!(at("/g").blocks.iter().all(|b| b.locs.iter().all(|l| l.id.xfer_port != u32::from(port))));
    cluster.wait("it is decommissioned", || admin_state(&client, port) == DECOMMISSIONED);
    let elsewhere = |b: &surus_proto::hadoop::hdfs::LocatedBlockProto| {
        b.locs.iter().filter(|l| l.id.xfer_port != u32::from(port)).count() >= 2
    };
    assert!(at("/f").blocks.iter().all(elsewhere), "{:?}", at("/f"));
    // A NameNode that starts reads the list too.
    cluster.restart_namenode();
    let client = cluster.client();
    cluster.wait("it is decommissioned again", || admin_state(&client, port) == DECOMMISSIONED);
    list(&cluster, &exclude, &[]);
    assert_eq!(admin_state(&client, port), NORMAL);
    // One replica too many of each block now: it goes.
    let at = |path: &str| client.get_block_locations(path, 0, u64::MAX / 2).unwrap();
    cluster.wait("two replicas of each block", || at("/f").blocks.iter().all(|b| b.locs.len() == 2));
    same(&read(&client, "/f"), &content(6, 300_000));
}

#[test]
fn a_datanode_that_is_not_included_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let include = dir.path().join("include");
    std::fs::write(&include, "127.0.0.1").unwrap();
    let mut cluster = Cluster::with_datanodes(2).set("dfs.hosts", include.to_str().unwrap()).start();
    let client = cluster.client();
    list(&cluster, &include, &[1]);
    cluster.wait("the other is given up", || client.get_datanode_report(Live).unwrap().len() == 1);
    // It does not come back by being started again.
    cluster.stop_datanode(0);
    cluster.start_datanode(0);
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(client.get_datanode_report(Live).unwrap().len(), 1);
    std::fs::remove_file(&include).unwrap();
    let error = client.refresh_nodes().unwrap_err().to_string();
    assert!(error.contains(include.to_str().unwrap()), "{error}");
    std::fs::write(&include, "").unwrap();
    client.refresh_nodes().unwrap();
    cluster.stop_datanode(0);
    cluster.start_datanode(0);
    cluster.wait("everybody may come", || client.get_datanode_report(Live).unwrap().len() == 2);
}
