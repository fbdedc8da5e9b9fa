//! `metaSave`: block management's queues as text for an administrator. Source: `BlockManager.metaSave`, Hadoop 3.5.0.

use crate::Namespace;
use crate::blocks::{BlockHandle, DEFAULT_RACK, Datanode};
use alloc::string::{String, ToString};
use core::fmt::Write as _;
use surus_types::AdminState;

impl Namespace {
    /// Writes the state; `time` shows a time of the wall clock in milliseconds.
    pub fn meta_save(&self, out: &mut String, time: &dyn Fn(u64) -> String) {
        let blocks = &self.blocks;
        let (inodes, total) = (self.num_inodes(), blocks.num_blocks() as u64);
        let _ = writeln!(
            out,
            "{inodes} files and directories, {total} blocks = {} total filesystem objects",
            inodes + total
        );
        let nodes = &blocks.datanodes;
        let _ = writeln!(out, "Live Datanodes: {}\nDead Datanodes: {}", nodes.num_live(), nodes.num_dead());
        let (waiting, missing) = blocks.low_redundancy_queues();
        let _ = writeln!(out, "Metasave: Blocks waiting for reconstruction: {}", waiting.len());
        for block in waiting {
            self.put_block_meta(out, block);
        }
        let _ = writeln!(out, "Metasave: Blocks currently missing: {}", missing.len());
        for block in missing {
            self.put_block_meta(out, block);
        }
        out.push_str("Mis-replicated blocks that have been postponed:\n");
        let pending = blocks.pending_blocks();
        let _ = writeln!(out, "Metasave: Blocks being reconstructed: {}", pending.len());
        for (block, replicas, started_ms) in pending {
            let block = blocks.block(block);
            let _ = writeln!(out, "{block} StartTime: {started_ms} NumReconstructInProgress: {replicas}");
        }
        let (deletions, from) = blocks.pending_deletions();
        let _ = writeln!(out, "Metasave: Blocks {deletions} waiting deletion from {from} datanodes.");
        self.put_corrupt(out);
        let _ = writeln!(out, "Metasave: Number of datanodes: {}", nodes.len());
        for node in nodes.iter() {
            put_datanode(out, node, time);
        }
    }

    fn put_block_meta(&self, out: &mut String, handle: BlockHandle) {
        let blocks = &self.blocks;
        let (info, count) = (blocks.info(handle), blocks.count_replicas(handle));
        let path = self.tree.get(info.owner).and_then(|inode| self.tree.path_of(inode));
        let missing = if count.live > 0 { "" } else { " MISSING" };
        let _ = write!(
            out,
            "{}: {}{missing} (replicas: live: {} decommissioning and decommissioned: 0 corrupt: {} in excess: {} \
             maintenance mode: 0) ",
            path.as_deref().unwrap_or("[orphaned]"),
            info.block,
            count.live,
            count.corrupt,
            count.excess
        );
        blocks.for_each_replica(handle, |storage| {
            let node = &blocks.datanodes.datanode(blocks.datanodes.storage(storage).datanode).id;
            let state = if blocks.is_corrupt(handle, storage) { "(corrupt)" } else { "" };
            let _ = write!(out, " {}:{}{state} : ", node.ip_addr, node.xfer_port);
        });
        out.push('\n');
    }

    fn put_corrupt(&self, out: &mut String) {
        let blocks = &self.blocks;
        out.push_str("Corrupt Blocks:\n");
        for (handle, storage, reason) in blocks.corrupt_replicas() {
            let block = blocks.block(handle);
            let of = blocks.datanodes.storage(storage);
            let node = &blocks.datanodes.datanode(of.datanode).id;
            let _ = writeln!(
                out,
                "Block={block}\tSize={}\tNode={}:{}\tStorageID={}\tStorageState=NORMAL\tTotalReplicas={}\tReason={}",
                block.num_bytes,
                node.ip_addr,
                node.xfer_port,
                of.report.uuid,
                blocks.storages_of(handle).len(),
                reason.name()
            );
        }
    }
}

/// Source: `DatanodeInfo.dumpDatanode`, Hadoop 3.5.0.
fn put_datanode(out: &mut String, node: &Datanode, time: &dyn Fn(u64) -> String) {
    let _ = write!(out, "{}:{}", node.id.ip_addr, node.id.xfer_port);
    if &*node.network_location != DEFAULT_RACK {
        let _ = write!(out, " {}", node.network_location);
    }
    let state = match node.admin_state {
        AdminState::Decommissioned => "DD",
        AdminState::DecommissionInProgress => "DP",
        AdminState::InMaintenance => "IM",
        AdminState::EnteringMaintenance => "EM",
        AdminState::Normal => "IN",
    };
    let stats = &node.stats;
    let cache_remaining = stats.cache_capacity.saturating_sub(stats.cache_used);
    let percent = |part: u64, whole: u64| if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 };
    let _ = writeln!(
        out,
        " {state} {}({}) {}({}) {:.2}% {}({}) {}({}) {}({}) {:.2}% {}({}) {}",
        stats.capacity,
        byte_desc(stats.capacity),
        stats.dfs_used,
        byte_desc(stats.dfs_used),
        percent(stats.dfs_used, stats.capacity),
        stats.remaining,
        byte_desc(stats.remaining),
        stats.cache_capacity,
        byte_desc(stats.cache_capacity),
        cache_remaining,
        byte_desc(cache_remaining),
        percent(stats.cache_used, stats.cache_capacity),
        stats.cache_used,
        byte_desc(stats.cache_used),
        time(stats.last_update_ms),
    );
}

/// `2.50 GB`. Source: `StringUtils.byteDesc`, Hadoop 3.5.0.
fn byte_desc(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["KB", "MB", "GB", "TB", "PB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    let mut text = String::new();
    match unit {
        "B" => text.push_str(&bytes.to_string()),
        _ => {
            let _ = write!(text, "{value:.2}");
        }
    }
    text.push(' ');
    text.push_str(unit);
    text
}
