//! Start-up safe mode: when it ends, what it says, what is refused meanwhile.

use crate::cluster::{BLOCK, Cluster};
use surus_namespace::blocks::{Observation, ReplicaState, SafeMode};
use surus_types::{Block, BlockId, GenerationStamp};

fn restarted(files: usize) -> Cluster {
    let mut c = Cluster::new(1);
    for i in 0..files {
        c.put(&format!("/f{i}"), 1, &[BLOCK]);
    }
    c.namespace = c.replay();
    c.namespace.blocks.enter_startup_safe_mode();
    c.namespace.blocks.activate();
    c
}

#[test]
fn ends_by_itself_after_the_reports_and_the_extension() {
    let mut c = restarted(49);
    assert_eq!(
        c.namespace.blocks.safe_mode_tip(c.now_ms),
        "The reported blocks 0 needs additional 48 blocks to reach the threshold 0.9990 of total blocks 49.\nThe number of \
         live datanodes is not calculated since reported blocks hasn't reached the threshold. Safe mode will be turned \
         off automatically once the thresholds have been reached."
    );
    assert_eq!(
        c.create("/home/sm", "client", 1).error(),
        format!(
            "Cannot create file/home/sm. Name node is in safe mode.\n{} NamenodeHostName:localhost",
            c.namespace.blocks.safe_mode_tip(c.now_ms)
        )
    );
    c.observe(Observation::SafeModeTick);
    c.start_node(0);
    c.observe(Observation::SafeModeTick);
    assert!(c.namespace.blocks.safe_mode_tip(c.now_ms + 1000).ends_with(
        "The reported blocks 49 has reached the threshold 0.9990 of total blocks 49. The minimum number of live datanodes \
         is not required. In safe mode extension. Safe mode will be turned off automatically in 29 seconds."
    ));
    c.now_ms += 29_999;
    assert!(!c.observe(Observation::SafeModeTick).left_safe_mode);
    c.now_ms += 1;
    assert!(c.observe(Observation::SafeModeTick).left_safe_mode);
    c.create("/home/sm", "client", 1).done();
}

#[test]
fn an_empty_file_system_leaves_at_once() {
    let mut c = restarted(0);
    assert!(c.observe(Observation::SafeModeTick).left_safe_mode);
    assert_eq!(c.namespace.blocks.safe_mode, SafeMode::Off);
}

#[test]
fn nothing_unknown_is_deleted_before_the_end() {
    let mut c = restarted(3);
    let lost = Block { id: BlockId(7), ..Block::default() };
    c.nodes[0].replicas.insert(7, (lost, ReplicaState::Finalized));
    c.start_node(0);
    c.namespace.blocks.leave_safe_mode();
    c.tick(3_000);
    assert_eq!(c.nodes[0].replicas.len(), 4);
    c.full_report(0);
    c.tick(3_000);
    assert_eq!(c.nodes[0].replicas.len(), 3);
    assert_eq!(c.namespace.blocks.stats().low_redundancy, 0);
}

#[test]
fn metadata_older_than_the_blocks_keeps_the_namenode_in() {
    let mut c = restarted(3);
    let newer = Block { id: BlockId(1 << 31), generation_stamp: GenerationStamp(5000), num_bytes: 9 };
    c.nodes[0].replicas.insert(newer.id.0, (newer, ReplicaState::Finalized));
    c.start_node(0);
    c.observe(Observation::SafeModeTick);
    c.now_ms += 60_000;
    assert!(!c.observe(Observation::SafeModeTick).left_safe_mode);
    assert!(!c.namespace.blocks.leave_safe_mode());
    assert!(c.namespace.blocks.safe_mode_tip(c.now_ms).contains("will cause loss of 9 byte(s)"));
    c.namespace.blocks.force_leave_safe_mode();
    assert_eq!(c.namespace.blocks.safe_mode, SafeMode::Off);
}

/// A DataNode of a Hadoop cluster with erasure-coded files: its replicas of block groups are in no table of ours.
#[test]
fn replicas_of_block_groups_are_left_alone() {
    let mut c = Cluster::new(1);
    c.put("/f", 1, &[5]);
    let stray = |id: i64| Block { id: BlockId(id), num_bytes: 7, generation_stamp: GenerationStamp(1001) };
    c.store(0, stray(i64::MIN + 16 + 3), ReplicaState::Finalized);
    c.store(0, stray(1_073_741_999), ReplicaState::Finalized);
    c.full_report(0);
    c.serve(0);
    c.serve(0);
    let left: Vec<i64> = c.nodes[0].replicas.keys().copied().collect();
    assert_eq!(left, [i64::MIN + 19, 1_073_741_825]);
}
