//! What the NameNode does by itself: the trash, and what a stop left half done.

use crate::cluster::{Cluster, files};
use std::time::Duration;
use surus_proto::hadoop::hdfs::*;

/// Old trash stays while safe mode is on.
#[test]
fn trash_is_left_alone_in_safe_mode() {
    let cluster = Cluster::with(&[("fs.trash.interval", "2s"), ("fs.trash.checkpoint.interval", "1s")]);
    let client = cluster.client();
    let old = "/user/alice/.Trash/200101000000";
    assert!(client.mkdirs(old).unwrap());
    assert!(client.safe_mode(SafeModeActionProto::SafemodeEnter).unwrap());
    std::thread::sleep(Duration::from_secs(3));
    let is_there = client.exists(old);
    client.safe_mode(SafeModeActionProto::SafemodeLeave).unwrap();
    if !is_there {
        // It went before safe mode began, on a slow machine: nothing is shown.
        return;
    }
    for _ in 0..100 {
        if !client.exists(old) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the trash was not emptied after safe mode");
}

/// A rolling upgrade whose end is in the log, but whose rollback image was not given up any more: the next start does that.
#[test]
fn the_end_of_a_rolling_upgrade_that_broke_off_is_finished() {
    let mut cluster = Cluster::new();
    let client = cluster.client();
    let upgrade = |action: RollingUpgradeActionProto| {
        let request = RollingUpgradeRequestProto { action: action as i32 };
        client.call::<_, RollingUpgradeResponseProto>("rollingUpgrade", &request).unwrap()
    };
    client.safe_mode(SafeModeActionProto::SafemodeEnter).unwrap();
    upgrade(RollingUpgradeActionProto::Start);
    let current = cluster.name_dir().join("current");
    let rollback: Vec<String> = files(&current).into_iter().filter(|n| n.starts_with("fsimage_rollback_")).collect();
    assert_eq!(rollback.len(), 2, "{rollback:?}");
    upgrade(RollingUpgradeActionProto::Finalize);
    drop(client);
    cluster.namenode.take().expect("runs").stop();
    let plain = |name: &str| name.replace("fsimage_rollback_", "fsimage_");
    for name in &rollback {
        std::fs::rename(current.join(plain(name)), current.join(name)).unwrap();
    }
    cluster.start();
    let left = files(&current);
    assert!(left.iter().all(|name| !name.contains("rollback")), "{left:?}");
    assert!(rollback.iter().all(|name| left.contains(&plain(name))), "{left:?}");
}
