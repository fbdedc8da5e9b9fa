//! DataNodes that report, calls that wait for them, and what they are told.

use crate::cluster::{CLIENT, Cluster, SUPERUSER, Words, create, message};
use std::time::{Duration, Instant};
use surus_net::rpc::{RpcClient, RpcClientOptions};
use surus_proto::hadoop::hdfs::datanode::datanode_command_proto::Type;
use surus_proto::hadoop::hdfs::*;

/// A file of one block of 5 bytes, complete; the block.
fn written(cluster: &Cluster, node: &Words, src: &str) -> ExtendedBlockProto {
    let client = cluster.client();
    let id = client.create(src);
    let located = client.add_block(src, id).unwrap();
    let block = ExtendedBlockProto { num_bytes: Some(5), ..located.b };
    node.received(&block);
    assert!(client.complete(src, id, Some(block.clone())));
    block
}

#[test]
fn complete_waits_for_the_report_instead_of_saying_no() {
    let cluster = Cluster::new();
    let node = Words::register(&cluster.rpc(), "dn1");
    let client = cluster.client();
    let id = client.create("/f");
    let located = client.add_block("/f", id).unwrap();
    assert_eq!(located.locs.len(), 1);
    let block = ExtendedBlockProto { num_bytes: Some(5), ..located.b };
    let started = Instant::now();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| client.complete("/f", id, Some(block.clone())));
        std::thread::sleep(Duration::from_millis(200));
        node.received(&block);
        assert!(waiting.join().unwrap());
    });
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(200) && waited < Duration::from_millis(1500), "{waited:?}");
    assert_eq!(cluster.client().status("/f").unwrap().length, 5);
}

#[test]
fn without_a_report_complete_says_no_after_its_bound() {
    let cluster = Cluster::new();
    let _node = Words::register(&cluster.rpc(), "dn1");
    let client = cluster.client();
    let id = client.create("/f");
    let located = client.add_block("/f", id).unwrap();
    let started = Instant::now();
    assert!(!client.complete("/f", id, Some(ExtendedBlockProto { num_bytes: Some(5), ..located.b })));
    assert!(started.elapsed() >= Duration::from_millis(1900), "{:?}", started.elapsed());
}

#[test]
fn replicas_of_deleted_files_are_invalidated() {
    let cluster = Cluster::new();
    let node = Words::register(&cluster.rpc(), "dn1");
    let block = written(&cluster, &node, "/f");
    assert!(node.heartbeat().cmds.is_empty());
    let request = DeleteRequestProto { src: "/f".to_owned(), recursive: false };
    let _: DeleteResponseProto = cluster.client().call("delete", &request).unwrap();
    let command = node.heartbeat().cmds.into_iter().next().and_then(|c| c.blk_cmd).expect("a command");
    assert_eq!(command.action, datanode::block_command_proto::Action::Invalidate as i32);
    assert_eq!(command.blocks[0].block_id, block.block_id);
}

#[test]
fn start_up_safe_mode_ends_with_the_report_and_reads_wait_for_it() {
    let at_once = [("dfs.namenode.safemode.threshold-pct", "1.0"), ("dfs.namenode.safemode.extension", "0")];
    let mut cluster = Cluster::with(&at_once);
    let block = {
        let node = Words::register(&cluster.rpc(), "dn1");
        written(&cluster, &node, "/f")
    };
    cluster.restart();
    let client = cluster.client();
    assert!(client.safe_mode(SafeModeActionProto::SafemodeGet).unwrap());
    let refused = message(client.mkdirs("/x").unwrap_err());
    assert_eq!(refused, "SafeModeException: Cannot create directory /x. Name node is in safe mode.");
    let locations = GetBlockLocationsRequestProto { src: "/f".to_owned(), offset: 0, length: 10 };
    let refused: Result<GetBlockLocationsResponseProto, _> = client.call("getBlockLocations", &locations);
    let text = "SafeModeException: Zero blocklocations for /f. Name node is in safe mode.";
    assert_eq!(message(refused.unwrap_err()), text);

    let _node = Words::register_with(&cluster.rpc(), "dn1", &[&block]);
    assert!(!client.safe_mode(SafeModeActionProto::SafemodeGet).unwrap());
    assert!(client.mkdirs("/x").unwrap());
    let found: GetBlockLocationsResponseProto = client.call("getBlockLocations", &locations).unwrap();
    assert_eq!(found.locations.unwrap().blocks[0].locs[0].id.datanode_uuid, "dn1");
}

#[test]
fn a_datanode_that_is_not_known_is_told_to_register() {
    let mut cluster = Cluster::new();
    let node = Words::register(&cluster.rpc(), "dn1");
    assert!(node.heartbeat().cmds.is_empty());
    let report: GetDatanodeReportResponseProto =
        cluster.client().call("getDatanodeReport", &GetDatanodeReportRequestProto { r#type: 2 }).unwrap();
    assert_eq!(report.di.len(), 1);
    let address = cluster.rpc();
    cluster.namenode.take().unwrap().stop();
    drop(node);
    cluster.start();
    assert_ne!(address, "");
    let stranger = Words::register(&cluster.rpc(), "dn2");
    assert!(stranger.heartbeat().cmds.iter().all(|c| c.cmd_type != Type::RegisterCommand as i32));
}

#[test]
fn a_repeat_of_a_parked_call_waits_for_the_first_ones_answer() {
    let mut cluster = Cluster::new();
    let block = {
        let node = Words::register(&cluster.rpc(), "dn1");
        written(&cluster, &node, "/f")
    };
    // Start-up safe mode: changes wait for the only DataNode.
    cluster.own_datanode = true;
    cluster.restart();
    let first = cluster.client();
    let options = RpcClientOptions { client_id: Some(*first.0.client_id()), ..Default::default() };
    let again = RpcClient::connect(&cluster.rpc(), SUPERUSER, CLIENT, options).unwrap();
    let id = first.0.next_call_id();
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| first.again::<_, CreateResponseProto>(id, "create", &create("/new")));
        std::thread::sleep(Duration::from_millis(100));
        let two = scope.spawn(|| again.call_again::<_, CreateResponseProto>(id, 1, "create", &create("/new")));
        std::thread::sleep(Duration::from_millis(100));
        assert!(!one.is_finished() && !two.is_finished());
        Words::register_with(&cluster.rpc(), "dn1", &[&block]);
        (one.join().unwrap(), two.join().unwrap().unwrap())
    });
    let file_id = |response: CreateResponseProto| response.fs.and_then(|fs| fs.file_id).unwrap();
    assert_eq!(file_id(one), file_id(two));
}
