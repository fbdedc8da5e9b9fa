//! Writing, appending, truncating, recovering: what is logged, what is answered, what DataNodes are told. The sequences of
//! operations are those of a real NameNode's log (Hadoop 3.5.0).

use crate::cluster::{BLOCK, Cluster, Outcome, uuid};
use surus_namespace::blocks::{ReceivedDeleted, ReplicaState};
use surus_namespace::ops::abandon_block::AbandonBlock;
use surus_namespace::ops::append::Append;
use surus_namespace::ops::create::{Create, flag};
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::fsync::Fsync;
use surus_namespace::ops::get_block_locations::{BlockLocationsPart, GetBlockLocations};
use surus_namespace::ops::lease_expiry::LeaseExpiry;
use surus_namespace::ops::pipeline::{GetAdditionalDatanode, UpdateBlockForPipeline, UpdatePipeline};
use surus_namespace::ops::recover_lease::RecoverLease;
use surus_namespace::ops::truncate::Truncate;
use surus_namespace::{EditOp, WaitFor};
use surus_types::{Block, BlockId, FsPermission, GenerationStamp, InodeId, TxId};

/// Compares the log since `from` with the lines of `expected`, whatever their indent.
fn assert_log(c: &Cluster, from: usize, expected: &str) {
    let wanted: String = expected.trim().lines().map(|l| format!("{}\n", l.trim())).collect();
    assert_eq!(c.log_text(from), wanted);
}

#[test]
fn two_blocks_are_logged_as_hadoop_logs_them() {
    let mut c = Cluster::new(3);
    c.put("/f", 3, &[BLOCK, 5]);
    assert_log(
        &c,
        0,
        "ADD /f client r3
        ALLOCATE_BLOCK_ID 1073741825
        SET_GENSTAMP_V2 1001
        ADD_BLOCK /f blk_1073741825_1001/0
        ALLOCATE_BLOCK_ID 1073741826
        SET_GENSTAMP_V2 1002
        ADD_BLOCK /f blk_1073741825_1001/1048576 blk_1073741826_1002/0
        CLOSE /f blk_1073741825_1001/1048576 blk_1073741826_1002/5",
    );
    let file = c.namespace.tree.lookup("/f").unwrap();
    let inode = c.namespace.tree.inode(file);
    assert_eq!((inode.length(), inode.space_consumed()), (BLOCK + 5, 3 * (BLOCK + 5)));
    assert_eq!(c.namespace.leases.num_open_files(), 0);
    let stats = c.namespace.blocks.stats();
    assert_eq!((stats.total, stats.complete, stats.low_redundancy, stats.under_construction), (2, 2, 0, 0));
}

#[test]
fn missing_parents_and_ids_come_in_order() {
    let mut c = Cluster::new(1);
    let reply = c.create("/a/b/f", "client", 1).done();
    assert_eq!(reply.inode_id, InodeId(16388));
    assert_log(&c, 0, "OP_MKDIR\nOP_MKDIR\nADD /a/b/f client r1");
}

#[test]
fn complete_waits_for_the_first_replica_and_repeats_are_answered() {
    let mut c = Cluster::new(1);
    c.create("/f", "client", 1).done();
    let location = c.add_block("/f", "client", None).done();
    let last = Some(Block { num_bytes: 7, ..location.block });
    let Outcome::Parked(until, _) = c.complete("/f", "client", last) else { panic!("not parked") };
    assert_eq!(until, WaitFor::MinReplication(location.block.id));
    c.woken.clear();
    c.write(&location, 7);
    assert_eq!(c.woken, [until]);
    assert!(c.complete("/f", "client", last).done());
    let logged = c.log.len();
    assert!(c.complete("/f", "client", last).done(), "a repeat is answered");
    assert_eq!(c.log.len(), logged, "and logs nothing");
    let other = last.map(|b| Block { generation_stamp: GenerationStamp(9), ..b });
    assert_eq!(
        c.complete("/f", "client", other).error(),
        "File is not open for writing: /f (inode 0) Holder client does not have any open files."
    );
}

#[test]
fn add_block_repeats_waits_and_refuses() {
    let mut c = Cluster::new(1);
    c.create("/f", "client", 1).done();
    let first = c.add_block("/f", "client", None).done();
    assert_eq!(c.add_block("/f", "client", None).done(), first, "a repeat gets the same block");
    let said = Some(Block { num_bytes: BLOCK, ..first.block });
    let second = c.add_block("/f", "client", said).done();
    assert_eq!(second.offset, BLOCK);
    assert_eq!(c.add_block("/f", "client", said).done(), second);
    let said = Some(Block { num_bytes: BLOCK, ..second.block });
    let Outcome::Parked(until, error) = c.add_block("/f", "client", said) else { panic!("not parked") };
    assert_eq!((until, error.message.as_str()), (WaitFor::MinReplication(first.block.id), "Not replicated yet: /f"));
    c.write(&first, BLOCK);
    c.add_block("/f", "client", said).done();
    let wrong = Some(Block { id: BlockId(99), ..first.block });
    assert_eq!(
        c.add_block("/f", "client", wrong).error(),
        "Cannot allocate block in /f: passed 'previous' block :blk_99_1001 does not match actual last block in file \
         blk_1073741827_1003"
    );
    assert_eq!(
        c.add_block("/f", "other", said).error(),
        "Client (=other) is not the lease owner (=client: /f (inode 0) Holder other does not have any open files."
    );
}

#[test]
fn no_datanode_no_block() {
    let mut c = Cluster::new(0);
    c.create("/home/nodn", "client", 1).done();
    assert_eq!(
        c.add_block("/home/nodn", "client", None).error(),
        "File /home/nodn could only be written to 0 of the 1 minReplication nodes. There are 0 datanode(s) running and \
         0 node(s) are excluded in this operation."
    );
    assert_eq!(c.namespace.blocks.next_block_id(), BlockId(1_073_741_825), "nothing was given out");
}

#[test]
fn the_writers_own_datanode_comes_first() {
    let mut c = Cluster::new(5);
    c.caller.address = "10.0.0.3".into();
    for i in 0..20 {
        let src = format!("/f{i}");
        c.create(&src, "client", 3).done();
        let location = c.add_block(&src, "client", None).done();
        let nodes: Vec<usize> = location.storages.iter().map(|s| c.node_of(*s)).collect();
        assert_eq!(nodes[0], 3);
        let distinct: std::collections::BTreeSet<_> = nodes.iter().collect();
        assert_eq!(distinct.len(), 3, "{nodes:?}");
    }
}

#[test]
fn abandoned_block_is_forgotten_and_deleted_once_durable() {
    let mut c = Cluster::new(1);
    c.create("/f", "client", 1).done();
    let location = c.add_block("/f", "client", None).done();
    c.store(0, location.block, ReplicaState::Rbw);
    let from = c.log.len();
    let abandon = AbandonBlock { block: location.block, file_id: InodeId::GRANDFATHER, src: "/f", holder: "client" };
    c.run(&abandon).done();
    assert_log(&c, from, "UPDATE_BLOCKS /f");
    c.run(&abandon).done();
    assert_eq!(c.log.len(), from + 1, "gone already: nothing to log");
    assert!(c.namespace.blocks.datanode_commands(&uuid(0), TxId(from as u64)).is_empty(), "not durable yet");
    c.serve(0);
    assert_eq!(c.num_replicas(location.block.id), 0);
}

#[test]
fn fsync_logs_the_length() {
    let mut c = Cluster::new(1);
    c.create("/f", "client", 1).done();
    c.add_block("/f", "client", None).done();
    let from = c.log.len();
    let fsync = Fsync { src: "/f", client_name: "client", last_block_length: 476, file_id: InodeId::GRANDFATHER };
    c.run(&fsync).done();
    assert_log(&c, from, "UPDATE_BLOCKS /f blk_1073741825_1001/476");
    let file = c.namespace.tree.lookup("/f").unwrap();
    assert_eq!(c.namespace.tree.inode(file).length(), 476);
    assert_eq!(c.namespace.tree.inode(file).space_consumed(), BLOCK, "an open block is charged in full");
}

#[test]
fn append_goes_on_in_the_last_block_under_a_new_stamp() {
    let mut c = Cluster::new(3);
    c.put("/f", 3, &[513]);
    let from = c.log.len();
    let reply = c.run(&Append { src: "/f", client_name: "w", new_block: false }).done();
    let last = reply.last_block.unwrap();
    assert_eq!((last.block.num_bytes, last.offset, last.storages.len()), (513, 0, 3));
    let bumped = c.run(&UpdateBlockForPipeline { block: last.block, client_name: "w" }).done();
    let (uuids, storages) = (["dn-0", "dn-1"], ["DS-0", "DS-1"]);
    let update =
        UpdatePipeline { client_name: "w", old: last.block, new: bumped.block, datanodes: &uuids, storages: &storages };
    c.run(&update).done();
    let written = Block { num_bytes: 600, ..bumped.block };
    c.store(0, written, ReplicaState::Finalized);
    c.store(1, written, ReplicaState::Finalized);
    assert!(c.complete("/f", "w", Some(written)).done());
    assert_log(
        &c,
        from,
        "APPEND /f w false
        SET_GENSTAMP_V2 1002
        UPDATE_BLOCKS /f blk_1073741825_1002/513
        CLOSE /f blk_1073741825_1002/600",
    );
    // The third replica, left behind, is found out and replaced.
    c.full_report(2);
    for _ in 0..3 {
        c.tick(3_000);
    }
    assert_eq!(c.holders(written), [0, 1, 2]);
    assert_eq!(c.namespace.blocks.stats().corrupt, 0);
}

#[test]
fn append_to_a_full_block_and_to_a_new_block() {
    let mut c = Cluster::new(1);
    c.put("/full", 1, &[BLOCK]);
    let reply = c.run(&Append { src: "/full", client_name: "w", new_block: false }).done();
    assert_eq!(reply.last_block, None);
    let next = c.add_block("/full", "w", None).done();
    assert_eq!(next.offset, BLOCK);
    c.put("/part", 1, &[10]);
    let reply = c.run(&Append { src: "/part", client_name: "w", new_block: true }).done();
    let last = reply.last_block.unwrap();
    assert!(last.storages.is_empty() && last.offset == u64::MAX);
    assert_eq!(c.add_block("/part", "w", Some(last.block)).done().offset, 10);
    assert_eq!(
        c.run(&Append { src: "/no", client_name: "w", new_block: false }).error(),
        "Failed to append to non-existent file /no for client 10.0.0.100"
    );
    assert_eq!(
        c.run(&Append { src: "/part", client_name: "w", new_block: false }).error(),
        "Failed to APPEND_FILE /part for w on 10.0.0.100 because w is already the current lease holder."
    );
    assert_eq!(
        c.run(&Append { src: "/part", client_name: "x", new_block: false }).error(),
        "Failed to APPEND_FILE /part for x on 10.0.0.100 because this file lease is currently owned by w on 10.0.0.100"
    );
}

#[test]
fn overwrite_deletes_the_old_blocks_with_the_same_operation() {
    let mut c = Cluster::new(1);
    c.put("/f", 1, &[10]);
    let old = c.block_of("/f", 0);
    let request = Create {
        src: "/f",
        permission: FsPermission(0o600),
        unmasked: None,
        client_name: "w",
        flags: flag::CREATE | flag::OVERWRITE,
        create_parent: true,
        replication: 1,
        block_size: BLOCK,
        ec_policy_name: "",
        storage_policy: "",
        encryption: None,
    };
    let from = c.log.len();
    c.run(&request).done();
    assert_log(&c, from, "ADD /f w r1");
    c.serve(0);
    assert_eq!(c.num_replicas(old.id), 0);
    let again = Create { flags: flag::CREATE, client_name: "v", ..request };
    assert_eq!(
        c.run(&again).error(),
        "Failed to CREATE_FILE /f for v on 10.0.0.100 because this file lease is currently owned by w on 10.0.0.100"
    );
    assert_eq!(
        c.run(&Create { src: "/no", flags: flag::OVERWRITE, ..request }).error(),
        "Can't overwrite non-existent /no"
    );
}

#[test]
fn create_refuses_bad_sizes() {
    let mut c = Cluster::new(0);
    let error = |c: &mut Cluster, replication| c.create("/home/x", "client", replication).error();
    assert_eq!(
        error(&mut c, 0),
        "Requested replication factor of 0 is less than the required minimum of 1 for /home/x, clientName=10.0.0.100"
    );
    assert_eq!(
        error(&mut c, 513),
        "Requested replication factor of 513 exceeds maximum of 512 for /home/x, clientName=10.0.0.100"
    );
}

#[test]
fn recover_lease_recovers_the_last_block_and_closes() {
    let mut c = Cluster::new(2);
    c.create("/lease/a", "w", 2).done();
    let location = c.add_block("/lease/a", "w", None).done();
    for (storage, length) in location.storages.iter().zip([476, 500]) {
        let node = c.node_of(*storage);
        c.store(node, Block { num_bytes: length, ..location.block }, ReplicaState::Rbw);
    }
    let from = c.log.len();
    let request = RecoverLease { src: "/lease/a", client_name: "r" };
    assert!(!c.run(&request).done());
    assert!(!c.run(&request).done(), "under way");
    assert_eq!(
        c.run(&Append { src: "/lease/a", client_name: "third", new_block: false }).error(),
        "Failed to APPEND_FILE /lease/a for third on 10.0.0.100 because another recovery is in progress by r on \
         10.0.0.100"
    );
    c.tick(3_000);
    assert_log(
        &c,
        from,
        "SET_GENSTAMP_V2 1002
        REASSIGN_LEASE /lease/a w -> r
        CLOSE /lease/a blk_1073741825_1002/476",
    );
    assert!(c.run(&request).done());
    assert_eq!(c.holders(c.block_of("/lease/a", 0)), [0, 1]);
    assert_eq!(c.namespace.blocks.stats().low_redundancy, 0);
}

#[test]
fn a_block_that_no_datanode_got_is_dropped() {
    let mut c = Cluster::new(1);
    c.create("/f", "w", 1).done();
    assert!(c.run(&RecoverLease { src: "/f", client_name: "r" }).done(), "no block: closed at once");
    c.create("/g", "w", 1).done();
    c.add_block("/g", "w", None).done();
    // After a restart nothing is known of its replicas: not before every DataNode has reported, and some time.
    c.restart();
    let from = c.log.len();
    let request = RecoverLease { src: "/g", client_name: "r" };
    assert!(!c.run(&request).done());
    c.start_node(0);
    assert!(!c.run(&request).done());
    for _ in 0..31 {
        c.tick(3_000);
    }
    assert!(c.run(&request).done());
    assert_log(&c, from, "CLOSE /g");
}

#[test]
fn flushed_bytes_survive_a_recovery_that_comes_before_the_reports() {
    let mut c = Cluster::new(1);
    c.create("/f", "w", 1).done();
    let location = c.add_block("/f", "w", None).done();
    c.store(0, Block { num_bytes: 34_464, ..location.block }, ReplicaState::Rbw);
    c.nodes[0].up = false;
    c.restart();
    let request = RecoverLease { src: "/f", client_name: "r" };
    assert!(!c.run(&request).done());
    c.now_ms += 1_300_000;
    assert_eq!(c.run(&LeaseExpiry).done(), 0, "no DataNode is there to know");
    c.start_node(0);
    assert!(!c.run(&request).done());
    c.tick(3_000);
    assert!(c.run(&request).done());
    assert_eq!(c.block_of("/f", 0).num_bytes, 34_464);
}

#[test]
fn soft_limit_lets_another_writer_in_after_recovery() {
    let mut c = Cluster::new(1);
    c.create("/f", "w", 1).done();
    let location = c.add_block("/f", "w", None).done();
    c.store(0, Block { num_bytes: 9, ..location.block }, ReplicaState::Rbw);
    c.now_ms += 60_001;
    let append = Append { src: "/f", client_name: "x", new_block: false };
    let from = c.log.len();
    let Outcome::Parked(until, error) = c.run(&append) else { panic!("not parked") };
    assert_eq!(until, WaitFor::LeaseRecovery(c.last_id));
    assert!(error.message.ends_with("because lease recovery is in progress. Try again later."));
    c.woken.clear();
    c.tick(3_000);
    assert!(c.woken.contains(&until));
    let reply = c.run(&append).done();
    assert_eq!(reply.last_block.unwrap().block.num_bytes, 9);
    assert_log(
        &c,
        from,
        "SET_GENSTAMP_V2 1002
        CLOSE /f blk_1073741825_1002/9
        APPEND /f x false",
    );
}

#[test]
fn hard_limit_recovers_without_anybody_asking() {
    let mut c = Cluster::new(1);
    c.create("/f", "w", 1).done();
    let location = c.add_block("/f", "w", None).done();
    c.store(0, Block { num_bytes: 9, ..location.block }, ReplicaState::Rbw);
    c.create("/g", "w", 1).done();
    assert_eq!(c.run(&LeaseExpiry).done(), 0);
    for _ in 0..402 {
        c.now_ms += 3_000;
        c.serve(0);
    }
    let from = c.log.len();
    assert_eq!(c.run(&LeaseExpiry).done(), 2);
    assert_eq!(c.run(&LeaseExpiry).done(), 0);
    c.tick(3_000);
    assert_log(
        &c,
        from,
        "SET_GENSTAMP_V2 1002
        REASSIGN_LEASE /f w -> HDFS_NameNode-1970-01-01 00:36:46,000+0000
        CLOSE /g
        CLOSE /f blk_1073741825_1002/9",
    );
}

#[test]
fn a_recovery_that_brings_nothing_is_tried_again_with_another_primary() {
    let mut c = Cluster::new(2);
    c.create("/f", "w", 2).done();
    let location = c.add_block("/f", "w", None).done();
    for node in 0..2 {
        c.store(node, Block { num_bytes: 9, ..location.block }, ReplicaState::Rbw);
    }
    c.now_ms += 1;
    c.heartbeat(1);
    assert!(!c.run(&RecoverLease { src: "/f", client_name: "r" }).done());
    c.nodes[1].up = false; // The primary is gone before it could do anything.
    c.tick(3_000);
    assert!(!c.run(&RecoverLease { src: "/f", client_name: "r" }).done());
    for _ in 0..30 {
        c.tick(3_000);
    }
    assert_eq!(c.run(&LeaseExpiry).done(), 1, "tried again without anybody asking");
    c.tick(3_000);
    assert!(c.run(&RecoverLease { src: "/f", client_name: "r" }).done());
    assert_eq!(c.block_of("/f", 0).num_bytes, 9);
}

#[test]
fn truncate_at_a_boundary_and_inside_a_block() {
    let mut c = Cluster::new(1);
    c.put("/t", 1, &[BLOCK, 700]);
    let from = c.log.len();
    let truncate = |new_length| Truncate { src: "/t", new_length, client_name: "c" };
    assert!(c.run(&truncate(BLOCK as i64 + 700)).done(), "the same length");
    assert!(!c.run(&truncate(BLOCK as i64 + 100)).done());
    assert!(!c.run(&truncate(BLOCK as i64 + 100)).done(), "under way");
    assert_eq!(
        c.run(&truncate(50)).error(),
        "Failed to TRUNCATE_FILE /t for c on 10.0.0.100 because /t is being truncated."
    );
    assert_eq!(
        c.run(&Append { src: "/t", client_name: "c", new_block: false }).error(),
        "Failed to APPEND_FILE /t for c on 10.0.0.100 because c is already the current lease holder."
    );
    c.tick(3_000);
    assert!(c.run(&truncate(BLOCK as i64)).done());
    assert_log(
        &c,
        from,
        "SET_GENSTAMP_V2 1003
        TRUNCATE /t 1048676 blk_1073741826_1003/700
        CLOSE /t blk_1073741825_1001/1048576 blk_1073741826_1003/100
        TRUNCATE /t 1048576 -",
    );
    c.tick(3_000);
    assert_eq!(c.nodes[0].replicas.len(), 1);
    assert_eq!(
        c.run(&truncate(BLOCK as i64 + 1)).error(),
        "Cannot truncate to a larger file size. Current size: 1048576, truncate size: 1048577."
    );
    assert_eq!(c.run(&truncate(-1)).error(), "Cannot truncate to a negative file size: -1.");
    assert!(c.run(&truncate(0)).done());
    let file = c.namespace.tree.lookup("/t").unwrap();
    assert_eq!(c.namespace.tree.inode(file).length(), 0);
}

#[test]
fn a_truncate_goes_on_after_a_restart() {
    let mut c = Cluster::new(1);
    c.put("/t", 1, &[700]);
    assert!(!c.run(&Truncate { src: "/t", new_length: 100, client_name: "c" }).done());
    c.namespace = c.replay();
    c.namespace.blocks.activate();
    c.namespace.leases.renew_all(c.now_ms);
    c.start_node(0);
    assert!(!c.run(&RecoverLease { src: "/t", client_name: "r" }).done());
    c.tick(3_000);
    assert!(c.run(&RecoverLease { src: "/t", client_name: "r" }).done());
    assert_eq!(
        c.block_of("/t", 0),
        Block { id: BlockId(1_073_741_825), generation_stamp: GenerationStamp(1003), num_bytes: 100 }
    );
}

#[test]
fn block_locations_by_range() {
    let mut c = Cluster::new(3);
    c.put("/f", 3, &[BLOCK, BLOCK, 5]);
    let ask = |c: &Cluster, src: &str, offset, length| {
        let mut text = String::new();
        let done = c.namespace.get_block_locations(&c.env(), &GetBlockLocations { src, offset, length }, &mut |part| {
            text += &match part {
                BlockLocationsPart::Header(h) => {
                    format!("{} {} {}", h.file_length, h.under_construction, h.last_block_complete)
                }
                BlockLocationsPart::Block(b) => format!(" {}+{}x{}", b.offset, b.block.num_bytes, b.replicas.len()),
                BlockLocationsPart::LastBlock(b) => format!(" last {}+{}", b.offset, b.block.num_bytes),
            };
        });
        done.map(|_| text).unwrap_or_else(|e| e.message)
    };
    let mib = BLOCK as i64;
    let size = 2 * BLOCK + 5;
    assert_eq!(
        ask(&c, "/f", 0, i64::MAX),
        format!("{size} false true 0+{BLOCK}x3 {BLOCK}+{BLOCK}x3 {}+5x3 last {}+5", 2 * BLOCK, 2 * BLOCK)
    );
    let tail = format!("last {}+5", 2 * BLOCK);
    assert_eq!(ask(&c, "/f", mib, 0), format!("{size} false true {BLOCK}+{BLOCK}x3 {tail}"), "length 0: one block");
    assert_eq!(ask(&c, "/f", 0, mib), format!("{size} false true 0+{BLOCK}x3 {tail}"));
    assert_eq!(ask(&c, "/f", 3 * mib, 1), format!("{size} false true {tail}"), "beyond the end: no block");
    assert_eq!(ask(&c, "/f", -1, 1), "Negative offset is not supported. File: /f");
    assert_eq!(ask(&c, "/", 0, 1), "Path is not a file: /");
    assert_eq!(ask(&c, "/no", 0, 1), "File does not exist: /no");
    c.create("/open", "client", 1).done();
    assert_eq!(ask(&c, "/open", 0, 1), "0 true false");
    c.add_block("/open", "client", None).done();
    assert_eq!(ask(&c, "/open", 0, 1), "0 true false last 0+0");
    c.now_ms += 3_600_001;
    let request = GetBlockLocations { src: "/f", offset: 0, length: 1 };
    let op = c.namespace.get_block_locations(&c.env(), &request, &mut |_| {}).unwrap();
    assert!(matches!(op, Some(EditOp::Times { mtime: -1, .. })), "the access time is old");
}

#[test]
fn the_readers_own_host_comes_first() {
    let mut c = Cluster::new(5);
    c.put("/f", 3, &[10]);
    let node = c.holders(c.block_of("/f", 0))[1];
    c.caller.address = format!("10.0.0.{node}").into();
    for random in 0..10 {
        c.random = random;
        let request = GetBlockLocations { src: "/f", offset: 0, length: 1 };
        c.namespace
            .get_block_locations(&c.env(), &request, &mut |part| {
                if let BlockLocationsPart::Block(b) = part {
                    assert_eq!(b.replicas[0].datanode.uuid, uuid(node));
                }
            })
            .unwrap();
    }
}

#[test]
fn a_replacement_for_a_failed_datanode() {
    let mut c = Cluster::new(4);
    c.create("/f", "w", 3).done();
    let location = c.add_block("/f", "w", None).done();
    let names: Vec<String> = location.storages.iter().map(|s| uuid(c.node_of(*s))).collect();
    let existing = [names[0].as_str(), names[1].as_str()];
    let failed = [names[2].as_str()];
    let request = GetAdditionalDatanode {
        src: "/f",
        file_id: InodeId::GRANDFATHER,
        block: location.block,
        existing: &existing,
        existing_storages: &[],
        excluded: &failed,
        wanted: 1,
        client_name: "w",
    };
    let reply = c.run(&request).done();
    assert_eq!(reply.storages[..2], location.storages[..2]);
    assert_eq!(reply.storages.len(), 3);
    assert!(!location.storages.contains(&reply.storages[2]));
}

#[test]
fn a_stamp_never_comes_back_after_a_restart() {
    let mut c = Cluster::new(1);
    c.put("/f", 1, &[10]);
    let reply = c.run(&Append { src: "/f", client_name: "w", new_block: false }).done();
    let block = reply.last_block.unwrap().block;
    let bumped = c.run(&UpdateBlockForPipeline { block, client_name: "w" }).done();
    let restarted = c.replay();
    assert!(restarted.blocks.next_generation_stamp() > bumped.block.generation_stamp);
    assert_eq!(restarted.dump(), c.namespace.dump());
}

#[test]
fn deleted_files_blocks_are_deleted_and_reports_of_them_answered() {
    let mut c = Cluster::new(2);
    c.put("/f", 2, &[10]);
    let block = c.block_of("/f", 0);
    c.nodes[1].up = false;
    c.run(&Delete { src: "/f", recursive: false }).done();
    c.serve(0);
    assert_eq!(c.num_replicas(block.id), 0);
    c.nodes[1].up = true;
    c.start_node(1);
    c.serve(1);
    assert!(c.nodes[1].replicas.is_empty());
    assert_eq!(c.namespace.blocks.num_blocks(), 0);
    c.report(0, ReceivedDeleted::Deleted(block));
}
