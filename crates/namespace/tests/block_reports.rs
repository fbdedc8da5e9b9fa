//! Full block reports taken in slice by slice, and what else may happen between two slices.

use crate::cluster::{Cluster, uuid};
use proptest::prelude::*;
use surus_namespace::blocks::{
    InFuture, Observation, ReceivedDeleted, ReplicaState, ReportProgress, ReportedBlock, SafeMode,
};
use surus_namespace::ops::delete::Delete;
use surus_types::{Block, BlockId};

/// What a DataNode holds, as it would list it now.
fn listed(c: &Cluster, node: usize) -> Vec<ReportedBlock> {
    c.nodes[node].replicas.values().map(|(block, state)| ReportedBlock { block: *block, state: *state }).collect()
}

/// The blocks of which the NameNode believes a replica to be on a node.
fn believed(c: &Cluster, node: usize) -> Vec<i64> {
    let mut ids: Vec<i64> = c.nodes.iter().flat_map(|n| n.replicas.keys().copied()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|id| {
        let Some(handle) = c.namespace.blocks.find(BlockId(*id)) else { return false };
        c.namespace.blocks.storages_of(handle).into_iter().any(|storage| c.node_of(storage) == node)
    });
    ids
}

/// The blocks that a node holds, of files that are still there.
fn held(c: &Cluster, node: usize) -> Vec<i64> {
    let replicas = c.nodes[node].replicas.keys().copied();
    replicas.filter(|id| c.namespace.blocks.find(BlockId(*id)).is_some()).collect()
}

fn files(c: &mut Cluster, names: std::ops::Range<usize>, replication: u32) {
    for i in names {
        c.put(&format!("/f{i}"), replication, &[100]);
    }
}

#[test]
fn a_slice_is_no_longer_than_asked_for() {
    let mut c = Cluster::new(3);
    files(&mut c, 0..200, 3);
    // Half of them are gone without a word.
    let all: Vec<ReportedBlock> = listed(&c, 0).into_iter().step_by(2).collect();
    let mut progress = ReportProgress::new(10, InFuture::default());
    let mut replicas = all.iter().copied();
    let (mut left, mut slices, mut known) = (replicas.len(), 0, believed(&c, 0).len());
    while !progress.is_done() {
        assert!(!c.report_slice(0, &mut replicas, &mut progress).unregistered);
        let now = believed(&c, 0).len();
        assert!(left - replicas.len() <= 10 && known - now <= 3, "a removal counts four times");
        (left, known, slices) = (replicas.len(), now, slices + 1);
    }
    assert_eq!((left, known), (0, 100));
    // 100 listed ones, 100 that stay, 100 removals.
    assert!((60..=75).contains(&slices), "{slices}");
}

#[test]
fn too_many_replicas_are_decided_in_slices() {
    let mut c = Cluster::new(3);
    files(&mut c, 0..50, 3);
    c.restart();
    for node in 0..3 {
        c.start_node(node);
    }
    for i in 0..50 {
        let handle = c.namespace.blocks.find(c.block_of(&format!("/f{i}"), 0).id).unwrap();
        c.namespace.blocks.set_replication(handle, 2);
    }
    let excess = |c: &Cluster| {
        let blocks = &c.namespace.blocks;
        let of = |i| blocks.find(c.block_of(&format!("/f{i}"), 0).id).unwrap();
        (0..50).filter(|i| blocks.count_replicas(of(*i)).excess > 0).count()
    };
    assert_eq!(excess(&c), 50);
}

/// Start-up safe mode waits for no report to its end, but replicas of the future count from its first slice on.
#[test]
fn replicas_of_the_future_count_before_they_are_looked_at() {
    let mut c = Cluster::new(1);
    files(&mut c, 0..20, 1);
    c.restart();
    c.namespace.blocks.config.safe_mode_extension_ms = 0;
    c.namespace.blocks.enter_startup_safe_mode();
    let mut all = listed(&c, 0);
    let mut future = all[0].block;
    future.id.0 += 1000;
    future.generation_stamp.0 += 1000;
    all.push(ReportedBlock { block: future, state: ReplicaState::Finalized });
    let in_future = surus_namespace::blocks::BlockManager::in_future_of(c.namespace.blocks.ids.generation_stamp, &all);
    assert_eq!(in_future, InFuture { blocks: 1, bytes: 100 });
    c.register(0);
    // The first of two reports is given up for the second; its count is not added to the other's.
    for _ in 0..2 {
        let mut progress = ReportProgress::new(20, in_future);
        let mut replicas = all.iter().copied();
        c.report_slice(0, &mut replicas, &mut progress);
        assert_eq!((replicas.len(), progress.is_done()), (1, false));
    }
    assert!(c.namespace.blocks.safe_mode_info().thresholds_reached());
    assert!(!c.namespace.blocks.tick_safe_mode(c.now_ms) && c.namespace.blocks.safe_mode != SafeMode::Off);
    assert_eq!(c.namespace.blocks.stats().in_future, 1);
}

#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    /// A replica of some file arrives, or one goes, as an incremental report says.
    Received(usize),
    Deleted(usize),
    DeleteFile(usize),
    WriteFile,
    /// The DataNode gave up waiting, and reports what it holds now.
    SecondReport,
    Register,
}

fn meanwhile() -> impl Strategy<Value = Meanwhile> {
    prop_oneof![
        6 => Just(Meanwhile::Nothing),
        4 => (0usize..40).prop_map(Meanwhile::Received),
        4 => (0usize..40).prop_map(Meanwhile::Deleted),
        2 => (0usize..40).prop_map(Meanwhile::DeleteFile),
        2 => Just(Meanwhile::WriteFile),
        1 => Just(Meanwhile::SecondReport),
        1 => Just(Meanwhile::Register),
    ]
}

fn block_of(c: &Cluster, file: usize) -> Option<Block> {
    let src = format!("/f{file}");
    c.namespace.tree.lookup(&src).map(|_| c.block_of(&src, 0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// Whatever comes between: in the end the NameNode believes what the DataNode holds.
    #[test]
    fn what_comes_between_slices_is_newer_than_the_report(
        limit in 1usize..12,
        silently in proptest::collection::vec((0usize..30, any::<bool>()), 0..20),
        events in proptest::collection::vec(meanwhile(), 0..80),
    ) {
        let mut c = Cluster::new(4);
        files(&mut c, 0..30, 2);
        let mut written = 30;
        // What nobody has said yet: replicas that went, replicas that came.
        for (file, there) in silently {
            let block = block_of(&c, file).unwrap();
            match there {
                true => _ = c.nodes[0].replicas.insert(block.id.0, (block, ReplicaState::Finalized)),
                false => _ = c.nodes[0].replicas.remove(&block.id.0),
            }
        }
        let begin = |c: &Cluster| (listed(c, 0).into_iter(), ReportProgress::new(limit, InFuture::default()));
        let mut reports = vec![begin(&c)];
        let mut events = events.into_iter();
        while let Some((replicas, progress)) = reports.iter_mut().rfind(|(_, progress)| !progress.is_done()) {
            if c.report_slice(0, replicas, progress).unregistered {
                prop_assert!(progress.is_done());
                reports.push(begin(&c));
                continue;
            }
            match events.next().unwrap_or(Meanwhile::Nothing) {
                Meanwhile::Nothing => {}
                Meanwhile::Received(file) => {
                    if let Some(block) = block_of(&c, file) {
                        c.store(0, block, ReplicaState::Finalized);
                    }
                }
                Meanwhile::Deleted(file) => {
                    let Some(block) = block_of(&c, file) else { continue };
                    c.nodes[0].replicas.remove(&block.id.0);
                    c.report(0, ReceivedDeleted::Deleted(block));
                }
                Meanwhile::DeleteFile(file) => {
                    _ = c.run(&Delete { src: &format!("/f{file}"), recursive: false });
                    c.tick(0);
                }
                Meanwhile::WriteFile => {
                    files(&mut c, written..written + 1, 2);
                    written += 1;
                }
                Meanwhile::SecondReport => reports.push(begin(&c)),
                Meanwhile::Register => c.register(0),
            }
        }
        prop_assert_eq!(believed(&c, 0), held(&c, 0));
    }
}

#[test]
fn what_a_dead_datanode_held_goes_in_slices_before_it_comes_back() {
    let mut c = Cluster::new(3);
    files(&mut c, 0..50, 3);
    c.nodes[0].up = false;
    c.observe(Observation::DatanodeGone { uuid: &uuid(0) });
    let mut left = believed(&c, 0).len();
    assert_eq!(left, 50);
    while c.namespace.blocks.take_out_dead(&uuid(0), 8) {
        assert_eq!(left - believed(&c, 0).len(), 8);
        left -= 8;
    }
    assert_eq!(believed(&c, 0).len(), 0);
    c.start_node(0);
    assert!(!c.namespace.blocks.take_out_dead(&uuid(0), 8), "it lives");
    assert_eq!(believed(&c, 0).len(), 50);
}

#[test]
fn the_monitor_looks_at_a_slice_of_the_blocks_at_a_time() {
    let mut c = Cluster::new(3);
    files(&mut c, 0..2_500, 3);
    c.nodes[0].up = false;
    c.observe(Observation::DatanodeGone { uuid: &uuid(0) });
    let mut left = vec![believed(&c, 0).len()];
    while c.observe(Observation::RedundancySlice).is_more {
        left.push(believed(&c, 0).len());
    }
    assert_eq!(left, [2_500, 1_500, 500]);
    assert_eq!(believed(&c, 0).len(), 0);
}
