//! The wall clock set back or forward by a day: what waits for a time to pass waits as long as ever, and no time of a
//! directory runs backwards.

use crate::cluster::Cluster;
use surus_namespace::ops::lease_expiry::LeaseExpiry;

const DAY_MS: i64 = 86_400_000;

#[test]
fn leases_and_heartbeats_do_not_look_at_it() {
    for step_ms in [-DAY_MS, DAY_MS] {
        let mut c = Cluster::new(2);
        c.put("/closed", 2, &[5]);
        c.create("/open", "w", 1).done();
        c.clock_step_ms = step_ms;
        c.tick(3_000);
        assert_eq!(c.run(&LeaseExpiry).done(), 0, "{step_ms}");
        assert!(!c.namespace.leases.soft_expired("w", c.namespace.now_ms), "{step_ms}");
        assert_eq!(c.namespace.blocks.datanodes.num_live(), 2, "{step_ms}");
        assert_eq!(c.holders(c.block_of("/closed", 0)), [0, 1], "{step_ms}");
        // The soft limit is a minute, the hard one twenty.
        for _ in 0..21 {
            c.tick(3_000);
        }
        assert!(c.namespace.leases.soft_expired("w", c.namespace.now_ms), "{step_ms}");
        assert_eq!(c.run(&LeaseExpiry).done(), 0, "{step_ms}");
        c.clock_step_ms = -step_ms;
        for _ in 0..380 {
            c.tick(3_000);
        }
        assert_eq!(c.run(&LeaseExpiry).done(), 1, "{step_ms}");
        // A DataNode that is silent is dead after ten minutes and a half.
        c.nodes[1].up = false;
        for tick in 0..220 {
            c.clock_step_ms = if tick % 2 == 0 { step_ms } else { 0 };
            let dead = c.namespace.blocks.datanodes.num_dead();
            assert!(dead == 0 || tick > 205, "{step_ms}: dead after {tick} heartbeats");
            c.tick(3_000);
        }
        assert_eq!(c.namespace.blocks.datanodes.num_dead(), 1, "{step_ms}");
        assert_eq!(c.replay().dump(), c.namespace.dump(), "{step_ms}");
    }
}

/// Source: `INodeDirectory.updateModificationTime`, Hadoop 3.5.0: a file has the times of its writer's moment, a directory
/// the latest of all.
#[test]
fn times_of_directories_never_run_backwards() {
    let mut c = Cluster::new(1);
    let mtime =
        |c: &Cluster, path: &str| c.namespace.tree.inode(c.namespace.tree.lookup(path).unwrap()).modification_time();
    c.put("/d/first", 1, &[5]);
    let (first, stamp) = (mtime(&c, "/d"), c.block_of("/d/first", 0));
    assert_eq!(first, mtime(&c, "/d/first"));
    c.clock_step_ms = -DAY_MS;
    c.tick(3_000);
    c.put("/d/second", 1, &[5]);
    assert_eq!(mtime(&c, "/d"), first);
    assert!(mtime(&c, "/d/second") < first);
    // Ids and stamps are counted, not told.
    let second = c.block_of("/d/second", 0);
    assert!(second.id > stamp.id && second.generation_stamp > stamp.generation_stamp);
    c.clock_step_ms = 0;
    c.put("/d/third", 1, &[5]);
    assert_eq!(mtime(&c, "/d"), first + 3_000);
    assert_eq!(c.replay().dump(), c.namespace.dump());
}
