//! What happens without a request: the monitors of Hadoop's NameNode, as one task.

use crate::core::Core;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;
use surus_disk::{Disk, RealDisk};
use surus_namespace::WaitFor;
use surus_namespace::blocks::{Datanode, Observation, SafeMode};
use surus_namespace::ops::lazy_persist::LazyPersistScrub;
use surus_namespace::ops::lease_expiry::LeaseExpiry;
use surus_namespace::ops::ordered_deletion::SnapshotDeletionGc;
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

/// How often the task looks at its watches; also the grain of a parked call's time bound.
const TICK: Duration = Duration::from_millis(100);
/// Source: `HeartbeatManager.java` looks every `dfs.namenode.heartbeat.recheck-interval`; it costs nothing to look oftener.
const DATANODE_MS: u64 = 3_000;
const SAFE_MODE_MS: u64 = 1_000;
const RETRY_CACHE_MS: u64 = 10_000;
/// Slices of the redundancy monitor's work in one round of it.
const REDUNDANCY_SLICES_MAX: usize = 100;
/// Inodes freed while the namespace is locked once: about a millisecond.
const FREE_SLICE: usize = 1_000;

/// When something was done last.
struct Watch {
    every_ms: u64,
    next_ms: u64,
}

impl Watch {
    fn new(every_ms: u64) -> Self {
        Watch { every_ms: every_ms.max(1), next_ms: 0 }
    }

    fn is_due(&mut self, now_ms: u64) -> bool {
        let due = now_ms >= self.next_ms;
        if due {
            self.next_ms = now_ms + self.every_ms;
        }
        due
    }
}

/// Runs until the NameNode is gone.
pub async fn run(core: Weak<Core>) {
    let Some(first) = core.upgrade() else { return };
    let config = &first.config;
    let mut datanodes = Watch::new(DATANODE_MS.min(config.heartbeat_recheck_ms));
    let mut redundancy = Watch::new(config.redundancy_interval_ms);
    let mut leases = Watch::new(config.lease_recheck_ms);
    let mut safe_mode = Watch::new(SAFE_MODE_MS);
    let mut retry_cache = Watch::new(RETRY_CACHE_MS);
    let mut lazy_persist = Watch::new(config.lazy_persist_scrub_ms);
    let mut snapshots = Watch::new(config.snapshot_gc_ms);
    snapshots.next_ms = first.clock.monotonic_ms() + config.snapshot_gc_ms;
    let mut resources = Watch::new(config.resource_check_ms);
    let mut checkpoint = Watch::new(config.checkpoint_check_ms);
    checkpoint.next_ms = first.clock.monotonic_ms() + config.checkpoint_check_ms;
    let mut trash = config.trash.next(first.clock.now_ms());
    drop(first);
    let (mut disk_check, mut checkpointing): (Option<JoinHandle<()>>, Option<JoinHandle<()>>) = (None, None);
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(core) = core.upgrade() else { return };
        let now_ms = core.clock.monotonic_ms();
        core.expire_parked();
        if safe_mode.is_due(now_ms) {
            core.tick_safe_mode();
        }
        if datanodes.is_due(now_ms) {
            core.find_dead_datanodes();
        }
        if redundancy.is_due(now_ms) {
            tick_redundancy(&core).await;
        }
        if leases.is_due(now_ms)
            && let Err(error) = core.change(&LeaseExpiry)
        {
            tracing::warn!("recovering expired leases: {error}");
        }
        if core.config.lazy_persist_scrub_ms > 0 && lazy_persist.is_due(now_ms) {
            core.scrub_lazy_persist();
        }
        if snapshots.is_due(now_ms) {
            core.delete_marked_snapshot();
        }
        if retry_cache.is_due(now_ms)
            && let Some(cache) = &core.retry_cache
        {
            cache.expire(now_ms);
        }
        // A disk that hangs must not take this task with it, nor a new thread every time.
        if resources.is_due(now_ms) && is_free(disk_check.as_ref()) {
            let core = Arc::clone(&core);
            disk_check = Some(core.runtime.clone().spawn_blocking(move || core.check_resources()));
        }
        if checkpoint.is_due(now_ms) && is_free(checkpointing.as_ref()) {
            let core = Arc::clone(&core);
            checkpointing = Some(core.runtime.clone().spawn_blocking(move || core.checkpoint_if_due()));
        }
        if core.config.trash.is_due(&mut trash, core.clock.now_ms()) {
            let core = Arc::clone(&core);
            core.runtime.clone().spawn_blocking(move || core.empty_trash());
        }
        while core.free_slice() {
            // Others get the lock in between.
            tokio::task::yield_now().await;
        }
    }
}

async fn tick_redundancy(core: &Core) {
    for _ in 0..REDUNDANCY_SLICES_MAX {
        if !core.observe(Observation::RedundancySlice).is_more {
            break;
        }
        tokio::task::yield_now().await;
    }
    core.observe(Observation::RedundancyTick);
}

/// Whether the last of its kind has ended.
fn is_free(job: Option<&JoinHandle<()>>) -> bool {
    job.is_none_or(JoinHandle::is_finished)
}

impl Core {
    /// Start-up safe mode may end. With the only DataNode in this process it does not end before that one has reported
    /// all its storages: the threshold alone rounds a small number of blocks down to none, there is no extension, and a first
    /// block could not be placed.
    pub fn tick_safe_mode(&self) {
        {
            let namespace = self.namespace.read();
            let blocks = &namespace.blocks;
            let nodes = &blocks.datanodes;
            let has_reported = |node: &Datanode| {
                node.alive
                    && !node.storages.is_empty()
                    && node.storages.iter().all(|s| nodes.storage(*s).block_reports > 0)
            };
            let waits = self.own_datanode && !nodes.iter().any(has_reported);
            if blocks.safe_mode.is_startup() {
                self.startup.tell_waiting(&blocks.safe_mode_tip(self.clock.monotonic_ms()));
            } else {
                self.startup.left_safe_mode();
            }
            if !blocks.safe_mode.is_on() || waits {
                return;
            }
        }
        if self.observe(Observation::SafeModeTick).left_safe_mode {
            self.startup.left_safe_mode();
            tracing::info!("safe mode is OFF");
            self.wake(&[WaitFor::SafeMode]);
            self.provision_snapshot_trash();
        }
    }

    /// One snapshot that ordered deletion marked, where it is the oldest of its directory by now.
    fn delete_marked_snapshot(&self) {
        match self.change(&SnapshotDeletionGc) {
            Ok(Some((root, name))) => tracing::info!("deleted snapshot {name} of {root}, which was marked"),
            Ok(None) => {}
            Err(error) => tracing::error!("deleting a marked snapshot: {error}"),
        }
    }

    /// Deletes the files of LAZY_PERSIST that the memory of some DataNode took with it.
    fn scrub_lazy_persist(&self) {
        let mut next = Some(0);
        while let Some(cursor) = next {
            match self.change(&LazyPersistScrub { cursor }) {
                Ok(scrubbed) => {
                    for path in scrubbed.paths {
                        tracing::warn!("removing lazyPersist file {path} with no replicas");
                    }
                    next = scrubbed.next;
                }
                Err(error) => {
                    tracing::warn!("removing lazyPersist files without replicas: {error}");
                    return;
                }
            }
        }
    }

    fn find_dead_datanodes(&self) {
        let died = self.observe(Observation::DatanodeTick).died;
        if died.is_empty() {
            return;
        }
        let namespace = self.namespace.read();
        for handle in died {
            let id = &namespace.blocks.datanodes.datanode(handle).id;
            tracing::warn!("DataNode {} ({}:{}) is dead: no heartbeat", id.uuid, id.host_name, id.xfer_port);
        }
    }

    /// Safe mode while every name directory's disk is nearly full, until one has room again.
    /// Source: `NameNodeResourceChecker.java`, `FSNamesystem.NameNodeResourceMonitor`, Hadoop 3.5.0.
    fn check_resources(&self) {
        let has_room = |dir: &PathBuf| {
            let space = RealDisk.space(dir);
            space.is_ok_and(|space| space.available >= self.config.resource_reserved_bytes)
        };
        let live: Vec<PathBuf> = self.journal.directories().into_iter().filter(|d| d.1).map(|d| d.0).collect();
        let low = !live.iter().any(has_room);
        let was_low = self.namespace.read().blocks.safe_mode == SafeMode::LowResources;
        if low && !self.namespace.read().blocks.safe_mode.is_on() {
            tracing::error!("the disks of all name directories are nearly full: safe mode is ON");
            self.namespace.write().blocks.safe_mode = SafeMode::LowResources;
        } else if !low && was_low {
            tracing::info!("a name directory has room again: safe mode is OFF");
            self.namespace.write().blocks.leave_safe_mode();
        }
    }

    /// Frees some of what was deleted; true: there is more.
    fn free_slice(&self) -> bool {
        if !self.namespace.read().has_detached() {
            return false;
        }
        let mut namespace = self.namespace.write();
        let more = namespace.free_slice(FREE_SLICE);
        let woken = namespace.blocks.take_woken();
        drop(namespace);
        self.wake(&woken);
        more
    }
}
