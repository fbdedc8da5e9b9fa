//! Which replicas count: too few and too many of them, corrupt ones, those of dead or silent DataNodes, and what is copied from.

use crate::cluster::{BLOCK, Cluster, uuid};
use crate::snapshots::load_image_and;
use surus_namespace::blocks::{BadBlock, Observation, PendingTruncate, ReplicaState};
use surus_namespace::edit_op::AddClose;
use surus_namespace::ops::append::Append;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::erasure_coding::SetErasureCodingPolicy;
use surus_namespace::ops::get_block_locations::{BlockLocationsPart, GetBlockLocations};
use surus_namespace::ops::recover_lease::RecoverLease;
use surus_namespace::ops::set_replication::SetReplication;
use surus_namespace::ops::snapshot::{AllowSnapshot, CreateSnapshot, DeleteSnapshot};
use surus_namespace::ops::truncate::Truncate;
use surus_namespace::{EditOp, NamespaceConfig};
use surus_types::{Block, BlockId, GenerationStamp, RpcIds};

#[test]
fn set_replication_up_and_down_converges() {
    let mut c = Cluster::new(4);
    c.put("/f", 2, &[10, 20]);
    let set = |replication| SetReplication { src: "/f", replication };
    for (replication, ticks) in [(4, 4), (1, 4), (3, 4)] {
        assert!(c.run(&set(replication)).done());
        for _ in 0..ticks {
            c.tick(3_000);
        }
        for i in 0..2 {
            let block = c.block_of("/f", i);
            assert_eq!(c.holders(block).len() as u32, replication);
            assert_eq!(c.num_replicas(block.id) as u32, replication);
        }
        assert_eq!(c.namespace.blocks.stats().low_redundancy, 0);
    }
    assert!(!c.run(&SetReplication { src: "/", replication: 1 }).done());
}

#[test]
fn replicas_of_a_dead_datanode_are_made_again_and_extra_ones_deleted() {
    let mut c = Cluster::new(4);
    c.put("/f", 3, &[10]);
    let block = c.block_of("/f", 0);
    let victim = c.holders(block)[0];
    c.nodes[victim].up = false;
    for _ in 0..212 {
        c.tick(3_000);
    }
    assert_eq!(c.namespace.blocks.datanodes.num_dead(), 1);
    assert_eq!(c.holders(block).len(), 3);
    c.nodes[victim].up = true;
    assert!(!c.heartbeat(victim), "a dead DataNode has to register again");
    for _ in 0..3 {
        c.tick(3_000);
    }
    assert_eq!(c.num_replicas(block.id), 3);
}

#[test]
fn a_corrupt_replica_goes_once_enough_good_ones_exist() {
    let mut c = Cluster::new(3);
    c.put("/f", 2, &[10]);
    let block = c.block_of("/f", 0);
    let bad = c.holders(block)[0];
    let name = uuid(bad);
    c.observe(Observation::BadBlocks(&[BadBlock { block, datanode_uuid: &name, storage_uuid: "" }]));
    assert_eq!(c.namespace.blocks.stats().corrupt, 1);
    assert!(c.nodes[bad].replicas.contains_key(&block.id.0), "kept while it may be needed");
    c.tick(3_000);
    c.tick(3_000);
    assert!(!c.nodes[bad].replicas.contains_key(&block.id.0));
    assert_eq!(c.holders(block).len(), 2);
    assert_eq!(c.namespace.blocks.stats().corrupt, 0);
}

#[test]
fn the_last_replica_is_never_deleted_and_is_shown_as_corrupt() {
    let mut c = Cluster::new(1);
    c.put("/f", 1, &[10]);
    let block = c.block_of("/f", 0);
    c.observe(Observation::BadBlocks(&[BadBlock { block, datanode_uuid: "dn-0", storage_uuid: "DS-0" }]));
    c.tick(3_000);
    assert_eq!(c.num_replicas(block.id), 1);
    let stats = c.namespace.blocks.stats();
    assert_eq!((stats.missing, stats.missing_replication_one), (1, 1));
    assert_eq!(c.namespace.blocks.missing_blocks(0, 10).0.len(), 1);
    let mut parts = Vec::new();
    let request = GetBlockLocations { src: "/f", offset: 0, length: 100 };
    c.namespace
        .get_block_locations(&c.env(), &request, &mut |part| {
            if let BlockLocationsPart::Block(b) = part {
                parts.push((b.corrupt, b.replicas.len()));
            }
        })
        .unwrap();
    assert_eq!(parts, [(true, 1)]);
}

/// A DataNode that lost power before a finished block was durable has it as RWR when it comes back.
#[test]
fn a_closed_block_that_waits_for_recovery_is_no_replica() {
    let mut c = Cluster::new(3);
    c.put("/f", 2, &[10]);
    let block = c.block_of("/f", 0);
    let held = c.holders(block);
    c.nodes[held[0]].replicas.insert(block.id.0, (Block { num_bytes: 4, ..block }, ReplicaState::Rwr));
    c.full_report(held[0]);
    assert_eq!(c.namespace.blocks.stats().corrupt, 1);
    c.tick(3_000);
    c.tick(3_000);
    assert_eq!(c.holders(block).len(), 2, "another good one was made");
    for node in held {
        c.nodes[node].replicas.insert(block.id.0, (block, ReplicaState::Rwr));
        c.full_report(node);
    }
    assert_eq!(c.namespace.blocks.stats().missing, 0);
}

/// A DataNode that may be dead does not keep the only replica while others are deleted.
#[test]
fn surplus_replicas_go_from_where_heartbeats_are_late() {
    let mut c = Cluster::new(3);
    c.put("/f", 3, &[10]);
    let block = c.block_of("/f", 0);
    let silent = 2;
    c.nodes[silent].up = false;
    for _ in 0..10 {
        c.tick(3_000);
    }
    c.run(&SetReplication { src: "/f", replication: 1 }).done();
    c.tick(3_000);
    let left: Vec<usize> = (0..2).filter(|n| c.nodes[*n].replicas.contains_key(&block.id.0)).collect();
    assert_eq!(left.len(), 1, "one that answers is kept");
}

/// Reports that cross the order to delete a corrupt replica do not make it a good one.
#[test]
fn a_corrupt_replica_that_is_about_to_be_deleted_is_not_believed() {
    let mut c = Cluster::new(3);
    c.put("/f", 1, &[10]);
    let block = c.block_of("/f", 0);
    let bad = c.holders(block)[0];
    c.observe(Observation::BadBlocks(&[BadBlock { block, datanode_uuid: &uuid(bad), storage_uuid: "" }]));
    let good = (bad + 1) % 3;
    c.store(good, block, ReplicaState::Finalized);
    assert_eq!(c.namespace.blocks.stats().corrupt, 0, "there is a good one, so the bad one is let go");
    c.full_report(bad);
    for _ in 0..3 {
        c.tick(3_000);
    }
    assert!(c.nodes[good].replicas.contains_key(&block.id.0) && !c.nodes[bad].replicas.contains_key(&block.id.0));
}

/// A copy that was ordered before a block is written to again would be one of what is being written.
#[test]
fn append_takes_back_copies_that_were_not_sent_yet() {
    let mut c = Cluster::new(2);
    c.put("/f", 1, &[10]);
    let block = c.block_of("/f", 0);
    let holder = c.holders(block)[0];
    c.run(&SetReplication { src: "/f", replication: 2 }).done();
    c.observe(Observation::RedundancyTick);
    let queued = |c: &Cluster| c.namespace.blocks.stats().scheduled_replication;
    assert_eq!(queued(&c), 1);
    c.run(&Append { src: "/f", client_name: "client", new_block: false }).done();
    assert_eq!(queued(&c), 0);
    c.serve(holder);
    assert_eq!(c.num_replicas(block.id), 1);
}

/// Of several DataNodes on the writer's host each is the first of a pipeline now and then.
#[test]
fn a_host_with_several_datanodes_shares_its_writers_among_them() {
    let mut c = Cluster::new(3);
    let caller = surus_types::Caller { address: "10.0.0.7".into(), ..c.caller.clone() };
    for node in 0..3 {
        let id = surus_types::DatanodeId {
            ip_addr: "10.0.0.7".into(),
            host_name: "host".into(),
            uuid: uuid(node),
            xfer_port: 9866 + node as u16,
            ..Default::default()
        };
        c.observe(Observation::RegisterDatanode { id: &id, software_version: "3.5.0" });
        c.full_report(node);
        c.heartbeat(node);
    }
    c.caller = caller;
    let mut first = std::collections::BTreeSet::new();
    for i in 0..40 {
        let src = format!("/{i}");
        c.create(&src, "client", 1).done();
        let location = c.add_block(&src, "client", None).done();
        first.insert(c.node_of(location.storages[0]));
    }
    assert_eq!(first.len(), 3);
}

fn cut(c: &mut Cluster, src: &str, new_length: i64) {
    assert!(!c.run(&Truncate { src, new_length, client_name: "c" }).done(), "it is under way");
}

/// The blocks that DataNodes have of a file that was cut to 100 bytes while the state before an upgrade was kept.
fn assert_cut(c: &mut Cluster, src: &str, whole: Block) {
    c.tick(3_000);
    let block = c.block_of(src, 0);
    assert_eq!((block.id != whole.id, block.num_bytes), (true, 100));
    assert_eq!(c.holders(block).len(), 2, "the copy is there");
    for _ in 0..3 {
        c.tick(3_000);
    }
    assert_eq!(c.num_replicas(whole.id), 0, "what it was made from has gone");
}

/// The state before an upgrade has the block whole: what stays of it is copied, and it goes when that is done.
#[test]
fn a_truncate_during_an_upgrade_copies_before_the_block_goes() {
    for is_rolling in [false, true] {
        let mut c = Cluster::new(2);
        c.put("/t", 2, &[700]);
        match is_rolling {
            true => c.commit(vec![EditOp::RollingUpgradeStart { time: 1 }], &[]),
            false => c.namespace.keeps_previous = true,
        }
        let whole = c.block_of("/t", 0);
        cut(&mut c, "/t", 100);
        // The row must not be another file's by the time of the copy.
        c.put("/other", 2, &[BLOCK]);
        assert_eq!(c.num_replicas(whole.id), 2);
        assert_cut(&mut c, "/t", whole);
        let other = c.block_of("/other", 0);
        assert_eq!(c.holders(other).len(), 2);
    }
}

#[test]
fn a_copy_for_a_truncate_goes_on_after_a_restart() {
    let mut c = Cluster::new(2);
    c.put("/t", 2, &[700]);
    c.namespace.keeps_previous = true;
    let whole = c.block_of("/t", 0);
    cut(&mut c, "/t", 100);
    c.restart();
    (0..2).for_each(|node| c.start_node(node));
    assert_eq!(c.num_replicas(whole.id), 2);
    assert!(!c.run(&RecoverLease { src: "/t", client_name: "r" }).done());
    assert_cut(&mut c, "/t", whole);
}

/// An image keeps what a truncate has still to do: what it copies from, whether a snapshot shows that or not, and where it cuts.
#[test]
fn a_truncate_goes_on_after_a_restart_from_an_image() {
    for (keeps_previous, has_snapshot) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut c = Cluster::new(2);
        c.put("/d/t", 2, &[700]);
        if has_snapshot {
            c.run(&AllowSnapshot { root: "/d" }).done();
            c.run(&CreateSnapshot { root: "/d", name: "s", default_name: "" }).done();
        }
        c.namespace.keeps_previous = keeps_previous;
        let whole = c.block_of("/d/t", 0);
        cut(&mut c, "/d/t", 100);
        c.restart_from_image();
        // Twice, as the second image is written from what the first one gave.
        c.restart_from_image();
        (0..2).for_each(|node| c.start_node(node));
        assert_eq!(c.num_replicas(whole.id), 2);
        assert!(!c.run(&RecoverLease { src: "/d/t", client_name: "r" }).done());
        if has_snapshot {
            c.tick(3_000);
            let block = c.block_of("/d/t", 0);
            assert_eq!((block.id != whole.id, block.num_bytes, c.holders(block).len()), (true, 100, 2));
            assert_eq!(c.num_replicas(whole.id), 2, "the snapshot shows it");
            c.run(&DeleteSnapshot { root: "/d", name: "s" }).done();
        }
        if keeps_previous || has_snapshot {
            assert_cut(&mut c, "/d/t", whole);
        } else {
            c.tick(3_000);
            let block = c.block_of("/d/t", 0);
            assert_eq!((block.id, block.num_bytes, c.holders(block).len()), (whole.id, 100, 2), "cut where it was");
        }
    }
}

/// What an image says of a truncate is checked against its file.
#[test]
fn a_truncate_of_an_image_that_cannot_be_is_refused() {
    let mut c = Cluster::new(1);
    c.put("/t", 1, &[700]);
    c.put("/other", 1, &[700]);
    c.namespace.keeps_previous = true;
    let (whole, other) = (c.block_of("/t", 0), c.block_of("/other", 0));
    cut(&mut c, "/t", 100);
    let file = |c: &Cluster, path| c.namespace.tree.inode(c.namespace.tree.lookup(path).unwrap()).id();
    let (t, o) = (file(&c, "/t"), file(&c, "/other"));
    let to = c.block_of("/t", 0);
    let unknown = Block { id: BlockId(7), ..whole };
    let text = |file, to, source| {
        let mut pushed = Ok(());
        let loaded = load_image_and(&c.namespace, NamespaceConfig::default(), |loader, inode| {
            if inode == file {
                pushed = loader.push_truncate(file, PendingTruncate { to, source });
            }
        });
        pushed.and(loaded.map(|_| ())).map_or_else(|e| e.to_string(), |()| "fine".to_owned())
    };
    let of = |problem| format!("inode {t} has a truncate that has not ended, and {problem}");
    assert_eq!(text(t, to, Some(whole)), "fine");
    assert_eq!(text(t, to, Some(unknown)), "fine", "that no snapshot shows the block");
    assert_eq!(text(t, other, Some(whole)), of("its last block is another one"));
    for source in [to, Block { num_bytes: 99, ..whole }] {
        assert_eq!(text(t, to, Some(source)), of("the block to copy from cannot be it"));
    }
    assert_eq!(text(t, to, Some(other)), of("the block to copy from is another one"));
    let closed = format!("inode {o} has a truncate that has not ended, and its last block is not being written");
    assert_eq!(text(o, other, None), closed);
}

/// Nothing is left of a file that is deleted in the middle of it, nor is a row given out that somebody still reads.
#[test]
fn a_file_can_go_while_it_is_copied_for_a_truncate() {
    let mut c = Cluster::new(2);
    c.put("/t", 2, &[700]);
    c.namespace.keeps_previous = true;
    cut(&mut c, "/t", 100);
    assert!(c.run(&Delete { src: "/t", recursive: false }).done());
    for _ in 0..3 {
        c.tick(3_000);
    }
    assert_eq!((c.namespace.blocks.num_blocks(), c.nodes.iter().map(|n| n.replicas.len()).sum::<usize>()), (0, 0));
}

/// The snapshot for which a block is copied goes meanwhile.
#[test]
fn a_copy_outlives_the_snapshot_it_is_made_for() {
    let mut c = Cluster::new(2);
    c.put("/t", 2, &[700]);
    c.run(&AllowSnapshot { root: "/" }).done();
    c.run(&CreateSnapshot { root: "/", name: "s", default_name: "" }).done();
    let whole = c.block_of("/t", 0);
    cut(&mut c, "/t", 100);
    c.run(&DeleteSnapshot { root: "/", name: "s" }).done();
    assert_cut(&mut c, "/t", whole);
}

/// Block groups that only the edits bring are not waited for at the start, and nobody goes on writing behind one.
#[test]
fn block_groups_are_kept_and_not_followed() {
    let mut c = Cluster::new(1);
    c.run(&SetErasureCodingPolicy { src: "/", policy: None }).done();
    c.create("/coded", "client", 1).done();
    let group = |i: i64| Block { id: BlockId(i64::MIN + 1024 * i), num_bytes: 7, ..Block::default() };
    let add = |penultimate, last| EditOp::AddBlock { path: "/coded".into(), penultimate, last, rpc: RpcIds::NONE };
    c.commit(vec![add(None, group(1)), add(Some(group(1)), group(2)), add(Some(group(2)), group(3))], &[]);
    let replayed = c.replay();
    let info = replayed.blocks.safe_mode_info();
    assert_eq!((info.safe_blocks, info.total_blocks), (2, 2));

    let opened = c.log.iter().find_map(|op| if let EditOp::Add(op) = op { Some((**op).clone()) } else { None });
    let blocks = (1..=3).map(group).collect();
    c.commit(vec![EditOp::Close(Box::new(AddClose { blocks, client_name: "".into(), ..opened.unwrap() }))], &[]);
    let info = c.replay().blocks.safe_mode_info();
    assert_eq!((info.safe_blocks, info.total_blocks), (3, 3));
    let append = c.run(&Append { src: "/coded", client_name: "client", new_block: true });
    assert_eq!(append.error(), "append: /coded is erasure-coded, and this version cannot write its data.");
}

/// Blocks from before Hadoop 2 have random ids. A file without a policy whose block has a negative one is a file like others.
#[test]
fn negative_ids_of_old_blocks_are_ordinary_blocks() {
    let mut c = Cluster::new(2);
    c.create("/old", "client", 2).done();
    let mut block = Block { id: BlockId(-7_654_321), num_bytes: 0, generation_stamp: GenerationStamp(900) };
    c.commit(vec![EditOp::AddBlock { path: "/old".into(), penultimate: None, last: block, rpc: RpcIds::NONE }], &[]);
    block.num_bytes = 7;
    let opened = c.log.iter().find_map(|op| if let EditOp::Add(op) = op { Some((**op).clone()) } else { None });
    let close = AddClose { blocks: vec![block], client_name: "".into(), ..opened.unwrap() };
    c.commit(vec![EditOp::Close(Box::new(close))], &[]);
    let info = c.replay().blocks.safe_mode_info();
    assert_eq!((info.safe_blocks, info.total_blocks), (0, 1), "the start waits for it");

    c.store(0, block, ReplicaState::Finalized);
    c.full_report(0);
    assert_eq!(c.num_replicas(block.id), 1);
    for _ in 0..4 {
        c.tick(3_000);
    }
    assert_eq!((c.num_replicas(block.id), c.holders(block).len()), (2, 2), "it is copied");
    let mut located = 0;
    let request = GetBlockLocations { src: "/old", offset: 0, length: 7 };
    let found = c.namespace.get_block_locations(&c.env(), &request, &mut |_| located += 1);
    assert!(found.is_ok() && located > 0);
}
