//! What a NameNode asks for: copies, deletions, recoveries, a new registration; and what it hears after a restart.

use crate::fake::{Cluster, Heard, POOL};
use crate::peer::{Peer, content, extended, write_op};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use surus_datanode::{DataNode, DataNodeConfig};
use surus_disk::MemDisk;
use surus_proto::hadoop::hdfs::datanode::block_command_proto::Action;
use surus_proto::hadoop::hdfs::datanode::datanode_command_proto::Type;
use surus_proto::hadoop::hdfs::datanode::*;
use surus_proto::hadoop::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use surus_proto::hadoop::hdfs::*;
use surus_wire::datatransfer::Op;

const ID: u64 = 1_073_741_901;
const SUCCESS: i32 = Status::Success as i32;

/// Writes `length` bytes; `close`: and finalizes.
fn write(cluster: &Cluster, index: usize, length: u64, close: bool) -> Peer {
    let mut peer = Peer::connect(cluster.datanodes[index].xfer_address());
    peer.op(Op::WriteBlock, &write_op(extended(ID, 1001, 1 << 20), Stage::PipelineSetupCreate, vec![]));
    assert_eq!(peer.response().status, SUCCESS);
    peer.packet(0, 0, length, false, false, false);
    assert_eq!(peer.ack(), (0, vec![SUCCESS]));
    if close {
        peer.packet(1, length, length, true, false, false);
        assert_eq!(peer.ack(), (1, vec![SUCCESS]));
    }
    peer
}

fn block(num_bytes: u64) -> BlockProto {
    BlockProto { block_id: ID, gen_stamp: 1001, num_bytes: Some(num_bytes) }
}

fn block_command(action: Action, targets: Vec<DatanodeInfoProto>) -> DatanodeCommandProto {
    DatanodeCommandProto {
        cmd_type: Type::BlockCommand as i32,
        blk_cmd: Some(BlockCommandProto {
            action: action as i32,
            block_pool_id: POOL.into(),
            blocks: vec![block(3000)],
            targets: vec![DatanodeInfosProto { datanodes: targets }],
            target_storage_uuids: vec![StorageUuidsProto { storage_uuids: vec!["DS-x".into()] }],
            target_storage_types: vec![StorageTypesProto { storage_types: vec![1] }],
        }),
        ..Default::default()
    }
}

#[test]
fn copy_then_delete() {
    let cluster = Cluster::start(2);
    write(&cluster, 0, 3000, true);
    cluster.namenode.wait_change(ID, 2);
    let second = cluster.info(1);
    cluster.namenode.command(&cluster.datanodes[0], block_command(Action::Transfer, vec![second]));
    cluster.namenode.wait("the copy", |h| {
        (h.changes.iter().filter(|c| c.block.block_id == ID && c.status == 2).count() == 2).then_some(())
    });
    let mut reader = Peer::connect(cluster.datanodes[1].xfer_address());
    assert_eq!(reader.read(extended(ID, 1001, 3000), 0, 3000).unwrap(), (0, content(0, 3000)));
    cluster.namenode.command(&cluster.datanodes[0], block_command(Action::Invalidate, vec![]));
    cluster.namenode.wait_change(ID, 3);
    let mut reader = Peer::connect(cluster.datanodes[0].xfer_address());
    assert!(reader.read(extended(ID, 1001, 3000), 0, 3000).unwrap_err().contains("Replica not found"));
}

/// What a client still writes is not copied as if it were complete, nor is what is shorter than the NameNode knows it.
#[test]
fn only_complete_replicas_are_copied() {
    let cluster = Cluster::start(2);
    let mut writer = write(&cluster, 0, 3000, false);
    let order = || block_command(Action::Transfer, vec![cluster.info(1)]);
    cluster.namenode.command(&cluster.datanodes[0], order());
    let error = cluster.namenode.wait("errorReport", |h| h.errors.first().cloned());
    assert_eq!((error.error_code, error.msg), (2, format!("Can't send invalid block {POOL}:blk_{ID}_1001")));
    writer.packet(1, 3000, 3000, true, false, false);
    assert_eq!(writer.ack(), (1, vec![SUCCESS]));
    let mut longer = order();
    longer.blk_cmd.as_mut().unwrap().blocks[0].num_bytes = Some(3001);
    cluster.namenode.command(&cluster.datanodes[0], longer);
    let bad = cluster.namenode.wait("reportBadBlocks", |h| h.bad_blocks.first().cloned());
    assert_eq!((bad.b.block_id, bad.b.generation_stamp), (ID, 1001));
    cluster.namenode.wait("one copy at most", |h| {
        let received = h.changes.iter().filter(|c| c.block.block_id == ID && c.status == 2).count();
        (received > 0).then(|| assert_eq!(received, 1))
    });
}

#[test]
fn recovery_agrees_on_the_shortest_open_replica() {
    let cluster = Cluster::start(2);
    let _writers = [write(&cluster, 0, 3000, false), write(&cluster, 1, 2000, false)];
    let recovering = RecoveringBlockProto {
        new_gen_stamp: 1005,
        block: LocatedBlockProto {
            b: extended(ID, 1001, 3000),
            locs: vec![cluster.info(0), cluster.info(1)],
            ..Default::default()
        },
        ..Default::default()
    };
    cluster.namenode.command(
        &cluster.datanodes[0],
        DatanodeCommandProto {
            cmd_type: Type::BlockRecoveryCommand as i32,
            recovery_cmd: Some(BlockRecoveryCommandProto { blocks: vec![recovering] }),
            ..Default::default()
        },
    );
    let done = cluster.namenode.wait("commitBlockSynchronization", |h| h.synchronized.first().cloned());
    assert_eq!((done.new_gen_stamp, done.new_length, done.close_file, done.delete_block), (1005, 2000, true, false));
    assert_eq!((done.new_taragets.len(), done.new_target_storages.len()), (2, 2));
    for datanode in &cluster.datanodes {
        let mut reader = Peer::connect(datanode.xfer_address());
        assert_eq!(reader.read(extended(ID, 1005, 2000), 0, 2000).unwrap(), (0, content(0, 2000)));
    }
}

#[test]
fn register_again_and_report_again() {
    let cluster = Cluster::start(1);
    let _writer = write(&cluster, 0, 700, false);
    cluster.namenode.command(
        &cluster.datanodes[0],
        DatanodeCommandProto {
            cmd_type: Type::RegisterCommand as i32,
            register_cmd: Some(RegisterCommandProto {}),
            ..Default::default()
        },
    );
    let report =
        cluster.namenode.wait("a second report", |h| (h.full_reports.len() == 2).then(|| h.full_reports[1].clone()));
    let storage = &report.reports[0];
    assert_eq!(storage.number_of_blocks, Some(1));
    // Zigzag id, 700 bytes, stamp 1001, RBW.
    assert_eq!(&storage.blocks_buffers[0][..], [0x9a, 0x81, 0x80, 0x80, 0x08, 0xbc, 0x05, 0xe9, 0x07, 0x01]);
    assert_eq!(report.context.unwrap().lease_id, Some(7));
}

#[test]
fn a_restart_reports_rwr_and_keeps_its_identity() {
    let mut cluster = Cluster::start(1);
    let _writer = write(&cluster, 0, 700, false);
    let uuid = cluster.datanodes[0].datanode_uuid().to_owned();
    cluster.datanodes.clear();
    let dir = cluster.dirs[0].path().to_owned();
    let again = cluster.start_datanode(&dir);
    assert_eq!(again.datanode_uuid(), uuid);
    let report = cluster.namenode.wait("the report", |h| h.full_reports.last().cloned());
    assert_eq!(report.reports[0].blocks_buffers[0].last(), Some(&2), "state RWR");
}

/// A disk that answers nothing any more keeps its writer waiting, and neither heartbeats nor a stop.
#[test]
fn a_hung_disk_leaves_heartbeats_alone() {
    let mut cluster = Cluster::without_datanodes();
    let disk = MemDisk::new();
    let config = DataNodeConfig::from_configuration(&cluster.configuration(Path::new("/data"))).unwrap();
    cluster.datanodes.push(DataNode::start_on(Arc::new(disk.clone()), config).unwrap());
    cluster.namenode.wait("a full report", |h| (!h.full_reports.is_empty()).then_some(()));
    let mut peer = write(&cluster, 0, 700, false);
    let hung = Arc::new(AtomicBool::new(true));
    let flag = hung.clone();
    disk.observe(Some(Box::new(move |_| {
        while flag.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
    })));
    peer.packet(1, 700, 1024, false, false, false);
    let before = cluster.namenode.wait("heartbeats", |h| Some(h.heartbeats));
    cluster.namenode.wait("three heartbeats more", |h| (h.heartbeats >= before + 3).then_some(()));
    hung.store(false, Ordering::Relaxed);
    assert_eq!(peer.ack(), (1, vec![SUCCESS]));
}

#[test]
fn a_namenode_that_refuses_the_datanode_leaves_it_to_the_other() {
    let (first, second) = (Cluster::start(0), Cluster::start(0));
    let refuse = |h: &mut Heard| {
        h.refuses = true;
        Some(())
    };
    second.namenode.wait("the fake", refuse);
    let dir = tempfile::tempdir().unwrap();
    let mut conf = first.configuration(dir.path());
    conf.set("dfs.nameservices", "ns");
    conf.set("dfs.ha.namenodes.ns", "a,b");
    conf.set("dfs.namenode.rpc-address.ns.a", first.address.to_string());
    conf.set("dfs.namenode.rpc-address.ns.b", second.address.to_string());
    let datanode = Arc::new(DataNode::start(&conf).unwrap());
    let (sender, end) = std::sync::mpsc::channel();
    let waiting = datanode.clone();
    std::thread::spawn(move || sender.send(waiting.wait_end()));
    second.namenode.wait("a registration", |h| (!h.registrations.is_empty()).then_some(()));
    first.namenode.wait("two heartbeats", |h| (h.heartbeats >= 2).then_some(()));
    assert!(end.recv_timeout(Duration::from_millis(500)).is_err());
    // When the last one refuses it, too, the DataNode ends.
    let again = DatanodeCommandProto { cmd_type: Type::RegisterCommand as i32, ..Default::default() };
    first.namenode.wait("the fake", refuse);
    first.namenode.command(&datanode, again);
    assert!(end.recv_timeout(Duration::from_secs(20)).unwrap().contains("not in the include-list"));
}

/// A NameNode that gives no lease for a full report hears no more of the DataNode for that.
#[test]
fn heartbeats_keep_their_pace_while_no_lease_is_given() {
    let cluster = Cluster::without_datanodes();
    let keep = |h: &mut Heard| {
        h.keeps_leases = true;
        Some(())
    };
    cluster.namenode.wait("the fake", keep);
    let dir = tempfile::tempdir().unwrap();
    let datanode = DataNode::start(&cluster.configuration(dir.path())).unwrap();
    cluster.namenode.wait("a heartbeat", |h| (h.heartbeats > 0).then_some(()));
    std::thread::sleep(Duration::from_millis(1500));
    let heartbeats = cluster.namenode.wait("the fake", |h| Some(h.heartbeats));
    assert!(heartbeats <= 3, "{heartbeats} in 1.5 s, one a second is asked for");
    // The next heartbeat asks again.
    cluster.namenode.wait("the fake", |h| {
        h.keeps_leases = false;
        Some(())
    });
    cluster.namenode.wait("a full report", |h| (!h.full_reports.is_empty()).then_some(()));
    datanode.stop();
}
