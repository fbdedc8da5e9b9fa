//! The data transfer server: recorded connections byte for byte, pipelines, readers of open replicas, bad peers.

use crate::fake::{Cluster, POOL};
use crate::peer::{Peer, content, extended, header, write_op};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use surus_datanode::checksum::{Checksum, ChecksumType};
use surus_datanode::{DataNode, DataNodeConfig};
use surus_disk::{Fault, FaultKind, MemDisk};
use surus_proto::hadoop::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use surus_proto::hadoop::hdfs::*;
use surus_wire::datatransfer::Op;

const ID: u64 = 1_073_741_900;
const SUCCESS: i32 = Status::Success as i32;

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

fn pool_dir(cluster: &Cluster, index: usize) -> PathBuf {
    cluster.dirs[index].path().join("current").join(POOL).join("current")
}

/// What FsShell 3.5.0 sent to a Java DataNode brings the same answers here, to the byte: put, put, cat, appendToFile,
/// checksum, cat.
#[test]
fn recorded_connections() {
    let cluster = Cluster::start(1);
    for i in 1..=6 {
        let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
        peer.send(&recorded(&format!("xfer-{i}.c2s"))).unwrap();
        let expected = recorded(&format!("xfer-{i}.s2c"));
        let mut answer = vec![0; expected.len()];
        peer.stream.read_exact(&mut answer).unwrap();
        assert!(answer == expected, "connection {i}");
    }
    let received = cluster.namenode.wait_change(1_073_741_826, 2);
    assert_eq!((received.block.gen_stamp, received.block.num_bytes()), (1002, 1000));
}

fn create(peer: &mut Peer, id: u64, targets: Vec<DatanodeInfoProto>) -> BlockOpResponseProto {
    peer.op(Op::WriteBlock, &write_op(extended(id, 1001, 1 << 20), Stage::PipelineSetupCreate, targets));
    peer.response()
}

#[test]
fn a_pipeline_of_three() {
    let cluster = Cluster::start(3);
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    let response = create(&mut peer, ID, vec![cluster.info(1), cluster.info(2)]);
    assert_eq!((response.status, response.first_bad_link()), (SUCCESS, ""));
    peer.packet(0, 0, 65_536, false, false, false);
    peer.packet(-1, 65_536, 65_536, false, false, false);
    peer.packet(1, 65_536, 70_001, false, true, false);
    for seqno in [0, -1, 1] {
        assert_eq!(peer.ack(), (seqno, vec![SUCCESS; 3]));
    }
    // The middle of the pipeline serves what was acknowledged, the partial chunk at the end too.
    let mut reader = Peer::connect(cluster.datanodes[1].xfer_address());
    let (start, data) = reader.read(extended(ID, 1001, 70_001), 69_900, 101).unwrap();
    assert_eq!((start, data), (69_632, content(69_632, 70_001)));
    peer.packet(2, 70_001, 70_001, true, false, false);
    assert_eq!(peer.ack(), (2, vec![SUCCESS; 3]));
    cluster.namenode.wait("three reports", |h| {
        (h.changes.iter().filter(|c| c.block.block_id == ID && c.status == 2).count() == 3).then_some(())
    });
    for datanode in &cluster.datanodes {
        let mut reader = Peer::connect(datanode.xfer_address());
        assert_eq!(reader.read(extended(ID, 1001, 70_001), 0, 70_001).unwrap(), (0, content(0, 70_001)));
        // The connection goes on.
        assert!(
            reader.read(extended(ID, 1002, 70_001), 0, 1).unwrap_err().contains("Replica gen stamp < block genstamp")
        );
        assert!(reader.read(extended(ID, 1001, 70_001), 70_001, 1).unwrap_err().contains("don't match block"));
        assert!(reader.read(extended(ID + 1, 1001, 1), 0, 1).unwrap_err().contains("Replica not found"));
    }
}

#[test]
fn a_node_that_cannot_be_reached_is_named() {
    let cluster = Cluster::start(1);
    let mut gone = cluster.info(0);
    gone.id.xfer_port = 1;
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    let response = create(&mut peer, ID, vec![gone]);
    assert_eq!((response.status, response.first_bad_link()), (Status::Error as i32, "127.0.0.1:1"));
    // The same block again: it exists.
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    let response = create(&mut peer, ID, vec![]);
    assert_eq!(response.status, Status::Error as i32);
    assert!(response.message().contains("already exists in state RBW and thus cannot be created."), "{response:?}");
    assert_eq!(response.first_bad_link(), format!("127.0.0.1:{}", cluster.datanodes[0].xfer_address().port()));
}

#[test]
fn a_damaged_packet_is_refused_by_the_last_node() {
    let cluster = Cluster::start(2);
    let mut peer = Peer::connect(cluster.datanodes[1].xfer_address());
    assert_eq!(create(&mut peer, ID, vec![]).status, SUCCESS);
    peer.packet(0, 0, 1024, false, false, false);
    peer.packet(1, 1024, 2048, false, false, true);
    assert_eq!(peer.ack(), (0, vec![SUCCESS]));
    assert_eq!(peer.ack(), (1, vec![Status::ErrorChecksum as i32]));
    // Through a pipeline the first node goes silent, so that the client drops it.
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    assert_eq!(create(&mut peer, ID + 1, vec![cluster.info(1)]).status, SUCCESS);
    peer.packet(0, 0, 1024, false, false, true);
    assert_eq!(peer.stream.read(&mut [0; 1]).unwrap_or(0), 0);
}

#[test]
fn a_client_that_vanishes_and_one_that_recovers_the_pipeline() {
    let cluster = Cluster::start(1);
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    create(&mut peer, ID, vec![]);
    peer.packet(0, 0, 1000, false, false, false);
    assert_eq!(peer.ack(), (0, vec![SUCCESS]));
    peer.send(&[0, 0, 2]).unwrap();
    drop(peer);
    let rbw = pool_dir(&cluster, 0).join("rbw");
    assert!(rbw.join(format!("blk_{ID}_1001.meta")).exists());
    // Streaming recovery under a new stamp, while the replica's last writer still hangs on.
    let mut hanging = None;
    for stamp in [1002, 1003] {
        let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
        let mut op = write_op(extended(ID, stamp - 1, 1 << 20), Stage::PipelineSetupStreamingRecovery, vec![]);
        (op.latest_generation_stamp, op.min_bytes_rcvd, op.max_bytes_rcvd) = (stamp, 1000, 1000);
        peer.op(Op::WriteBlock, &op);
        assert_eq!(peer.response().status, SUCCESS);
        hanging = Some(peer);
    }
    let mut peer = hanging.unwrap();
    peer.packet(0, 512, 1500, false, false, false);
    peer.packet(1, 1500, 1500, true, false, false);
    assert_eq!((peer.ack(), peer.ack()), ((0, vec![SUCCESS]), (1, vec![SUCCESS])));
    let received = cluster.namenode.wait_change(ID, 2);
    assert_eq!((received.block.gen_stamp, received.block.num_bytes()), (1003, 1500));
    let mut reader = Peer::connect(cluster.datanodes[0].xfer_address());
    assert_eq!(reader.read(extended(ID, 1003, 1500), 0, 1500).unwrap(), (0, content(0, 1500)));
}

fn finalized(cluster: &Cluster, index: usize, id: u64, length: u64) {
    let mut peer = Peer::connect(cluster.datanodes[index].xfer_address());
    assert_eq!(create(&mut peer, id, vec![]).status, SUCCESS);
    peer.packet(0, 0, length, false, false, false);
    peer.packet(1, length, length, true, false, false);
    assert_eq!((peer.ack(), peer.ack()), ((0, vec![SUCCESS]), (1, vec![SUCCESS])));
}

#[test]
fn a_flipped_byte_shows_in_the_checksums() {
    let cluster = Cluster::start(1);
    finalized(&cluster, 0, ID, 3000);
    let dir = pool_dir(&cluster, 0).join("finalized/subdir0/subdir0");
    let data = dir.join(format!("blk_{ID}"));
    let mut bytes = std::fs::read(&data).unwrap();
    bytes[2000] ^= 1;
    std::fs::write(&data, bytes).unwrap();
    let mut reader = Peer::connect(cluster.datanodes[0].xfer_address());
    assert!(reader.read(extended(ID, 1001, 3000), 0, 3000).unwrap_err().contains("damage"));
    // A header that makes no sense is seen here, and the NameNode hears of it.
    let meta = dir.join(format!("blk_{ID}_1001.meta"));
    let mut bytes = std::fs::read(&meta).unwrap();
    bytes[2] = 9;
    std::fs::write(&meta, bytes).unwrap();
    let mut reader = Peer::connect(cluster.datanodes[0].xfer_address());
    let error = reader.read(extended(ID, 1001, 3000), 0, 3000).unwrap_err();
    assert!(error.contains("meta file header is corrupt"), "{error}");
    // A meta file that ends early, too; and a block file that somebody removed.
    std::fs::write(&meta, [0, 1, 2, 0, 0, 2, 0]).unwrap();
    let error = reader.read(extended(ID, 1001, 3000), 0, 3000).unwrap_err();
    assert!(error.contains("meta file header is corrupt"), "{error}");
    std::fs::remove_file(&data).unwrap();
    let error = reader.read(extended(ID, 1001, 3000), 0, 3000).unwrap_err();
    assert!(error.contains("Replica not found"), "{error}");
    cluster.namenode.wait_change(ID, 3);
    let bad = cluster.namenode.wait("reportBadBlocks", |h| h.bad_blocks.first().cloned());
    assert_eq!(bad.b.block_id, ID);
}

#[test]
fn peers_that_make_no_sense_cost_only_themselves() {
    let cluster = Cluster::start(1);
    let address = cluster.datanodes[0].xfer_address();
    let garbage: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0xde, 0xad, 0xbe, 0xef, 0, 0],
        &[0, 28, 200, 0],
        &[0, 28, 80, 0xff, 0xff, 0xff, 0xff, 0x7f],
        &[0, 28, 81, 2, 0xff, 0xff],
        &[0, 28, 82, 0],
    ];
    for bytes in garbage {
        let mut peer = Peer::connect(address);
        peer.send(bytes).unwrap();
        assert_eq!(peer.stream.read(&mut [0; 1]).unwrap_or(0), 0, "{bytes:?}");
    }
    // A packet longer than any is refused before room is made for it.
    let mut peer = Peer::connect(address);
    create(&mut peer, ID, vec![]);
    peer.send(&[0x7f, 0xff, 0xff, 0xff, 0, 25]).unwrap();
    assert_eq!(peer.stream.read(&mut [0; 1]).unwrap_or(0), 0);
    let mut peer = Peer::connect(address);
    peer.op(Op::CopyBlock, &OpCopyBlockProto { header: header(extended(ID, 1, 1), "").base_header });
    assert_eq!(peer.response().status, Status::Error as i32);
    let mut peer = Peer::connect(address);
    peer.op(Op::RequestShortCircuitShm, &ShortCircuitShmRequestProto { client_name: "c".into(), trace_info: None });
    assert_eq!(peer.response().status, Status::ErrorUnsupported as i32);
    finalized(&cluster, 0, ID + 1, 10);
}

/// Packets larger than any buffer here, small ones right behind.
#[test]
fn packets_of_all_sizes() {
    let cluster = Cluster::start(1);
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    peer.op(Op::WriteBlock, &write_op(extended(ID, 1001, 8 << 20), Stage::PipelineSetupCreate, vec![]));
    assert_eq!(peer.response().status, SUCCESS);
    let ends = [1 << 21, (1 << 21) + 512, (1 << 21) + 70_000 / 512 * 512, 5 << 20, (5 << 20) + 1];
    let mut from = 0;
    for (seqno, end) in ends.into_iter().enumerate() {
        peer.packet(seqno as i64, from, end, false, false, false);
        from = end;
    }
    peer.packet(ends.len() as i64, from, from, true, false, false);
    for seqno in 0..=ends.len() {
        assert_eq!(peer.ack(), (seqno as i64, vec![SUCCESS]));
    }
    let mut reader = Peer::connect(cluster.datanodes[0].xfer_address());
    let read = reader.read(extended(ID, 1001, from), 0, from).unwrap();
    assert!(read == (0, content(0, from)));
}

#[test]
fn stop_ends_connections_in_use() {
    let cluster = Cluster::start(1);
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    create(&mut peer, ID, vec![]);
    cluster.datanodes[0].stop();
    peer.stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert_eq!(peer.stream.read(&mut [0; 1]).unwrap_or(0), 0);
}

#[test]
fn transfer_block_copies_an_open_replica() {
    let cluster = Cluster::start(2);
    let mut writer = Peer::connect(cluster.datanodes[0].xfer_address());
    create(&mut writer, ID, vec![]);
    writer.packet(0, 0, 1000, false, false, false);
    assert_eq!(writer.ack(), (0, vec![SUCCESS]));
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    let op = OpTransferBlockProto {
        header: header(extended(ID, 1001, 1000), "DFSClient_test"),
        targets: vec![cluster.info(1)],
        target_storage_types: vec![1],
        target_storage_ids: vec![],
    };
    peer.op(Op::TransferBlock, &op);
    assert_eq!(peer.response().status, SUCCESS);
    let mut reader = Peer::connect(cluster.datanodes[1].xfer_address());
    assert_eq!(reader.read(extended(ID, 1001, 1000), 0, 1000).unwrap(), (0, content(0, 1000)));
    assert!(pool_dir(&cluster, 1).join("rbw").join(format!("blk_{ID}")).exists());
}

/// One more DataNode, on a disk in memory.
fn add_on_mem_disk(cluster: &mut Cluster) -> MemDisk {
    let (disk, before) = (MemDisk::new(), cluster.datanodes.len());
    let config = DataNodeConfig::from_configuration(&cluster.configuration(Path::new("/data"))).unwrap();
    cluster.datanodes.push(DataNode::start_on(Arc::new(disk.clone()), config).unwrap());
    cluster.namenode.wait("a full report", |h| (h.full_reports.len() > before).then_some(()));
    disk
}

/// The node that fails is the one that is blamed, wherever in the pipeline it is: a client takes the last bad status, or the
/// first node if there is none.
#[test]
fn a_node_that_cannot_write_leaves_the_next_one_unblamed() {
    let mut cluster = Cluster::start(2);
    let disk = add_on_mem_disk(&mut cluster);
    for (id, pipeline, blamed) in [(ID, vec![2, 0], 0), (ID + 1, vec![0, 2, 1], 1)] {
        let mut peer = Peer::connect(cluster.datanodes[pipeline[0]].xfer_address());
        let targets = pipeline[1..].iter().map(|i| cluster.info(*i)).collect();
        assert_eq!(create(&mut peer, id, targets).status, SUCCESS);
        disk.inject(Fault::all(FaultKind::Write, std::io::ErrorKind::Other).below("/rbw/blk_").times(1));
        let _ = peer.send(&Peer::encode(0, 0, 512, false, false, false));
        let answer: std::io::Result<PipelineAckProto> = peer.message();
        let bad = answer.map_or(0, |ack| ack.reply.iter().rposition(|r| *r != SUCCESS).expect("somebody failed"));
        assert_eq!(bad, blamed);
    }
}

/// A node that checks in the middle, since its file has other checksums, names itself and not the next one.
#[test]
fn a_damaged_packet_is_refused_in_the_middle() {
    let cluster = Cluster::start(2);
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    let mut op = write_op(extended(ID, 1001, 1 << 20), Stage::PipelineSetupCreate, vec![cluster.info(1)]);
    op.requested_checksum = Checksum::new(ChecksumType::Crc32, 512).unwrap().to_proto();
    peer.op(Op::WriteBlock, &op);
    assert_eq!(peer.response().status, SUCCESS);
    peer.packet(0, 0, 0, true, false, false);
    assert_eq!(peer.ack(), (0, vec![SUCCESS; 2]));
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    let mut op = write_op(extended(ID, 1001, 0), Stage::PipelineSetupAppend, vec![cluster.info(1)]);
    op.latest_generation_stamp = 1002;
    peer.op(Op::WriteBlock, &op);
    assert_eq!(peer.response().status, SUCCESS);
    peer.packet(0, 0, 512, false, false, false);
    peer.packet(1, 512, 1024, false, false, true);
    assert_eq!(peer.ack(), (0, vec![SUCCESS; 2]));
    assert_eq!(peer.ack(), (1, vec![Status::ErrorChecksum as i32]));
}

/// Packets that came in one read and could not be written are not acknowledged, though the disk works again at once.
#[test]
fn a_failed_write_acknowledges_nothing() {
    let mut cluster = Cluster::without_datanodes();
    let disk = add_on_mem_disk(&mut cluster);
    let mut peer = Peer::connect(cluster.datanodes[0].xfer_address());
    assert_eq!(create(&mut peer, ID, vec![]).status, SUCCESS);
    disk.inject(Fault::all(FaultKind::Write, std::io::ErrorKind::Other).below("/rbw/blk_").times(1));
    let packets: Vec<u8> =
        (0..3).flat_map(|i| Peer::encode(i, i as u64 * 512, i as u64 * 512 + 512, false, i == 2, false)).collect();
    peer.send(&packets).unwrap();
    assert_eq!(peer.ack(), (0, vec![Status::Error as i32]));
    assert_eq!(peer.stream.read(&mut [0; 1]).unwrap_or(0), 0, "nothing behind it is acknowledged");
}
