//! One block by its id. Source: `NamenodeFsck.blockIdCK`, Hadoop 3.5.0.

use super::Fsck;
use std::fmt::Write as _;
use surus_types::{AdminState, BlockId};

impl Fsck<'_> {
    pub(super) fn check_block(&mut self, id: &str) {
        let Some(number) = id.strip_prefix("blk_") else {
            let _ = writeln!(self.out, "Incorrect blockId format: {id}");
            return;
        };
        self.out.push('\n');
        // `blk_ID`, `blk_ID.meta` or `blk_ID_STAMP.meta`.
        let number = number.split(['_', '.']).next().unwrap_or_default();
        let namespace = self.core.namespace.read();
        let blocks = &namespace.blocks;
        let found = number.parse().ok().and_then(|id| blocks.find(BlockId(id)));
        let Some(handle) = found else {
            let _ = writeln!(self.out, "Block {id} does not exist");
            return;
        };
        let (info, count) = (blocks.info(handle), blocks.count_replicas(handle));
        let path = namespace.tree.get(info.owner).and_then(|inode| namespace.tree.path_of(inode)).unwrap_or_default();
        let out = &mut self.out;
        let _ = writeln!(out, "Block Id: {id}\nBlock belongs to: {path}");
        let _ = writeln!(out, "No. of Expected Replica: {}", info.replication);
        let _ = writeln!(out, "No. of live Replica: {}", count.live);
        let _ = writeln!(out, "No. of excess Replica: {}", count.excess);
        let _ = writeln!(out, "No. of stale Replica: 0");
        let _ = writeln!(out, "No. of decommissioned Replica: {}", count.decommissioned);
        let _ = writeln!(out, "No. of decommissioning Replica: 0");
        if self.options.maintenance {
            let _ = writeln!(out, "No. of entering maintenance Replica: 0");
            let _ = writeln!(out, "No. of in maintenance Replica: {}", count.maintenance);
        }
        let _ = writeln!(out, "No. of corrupted Replica: {}", count.corrupt);
        blocks.for_each_replica(handle, |storage| {
            let node = blocks.datanodes.datanode(blocks.datanodes.storage(storage).datanode);
            let _ = write!(out, "Block replica on datanode/rack: {}{} is ", node.id.host_name, node.network_location);
            let state = match node.admin_state {
                AdminState::Decommissioned => "DECOMMISSIONED",
                AdminState::DecommissionInProgress => "DECOMMISSIONING",
                AdminState::EnteringMaintenance => "ENTERING MAINTENANCE",
                AdminState::InMaintenance => "IN MAINTENANCE",
                AdminState::Normal => "HEALTHY",
            };
            let corrupt = blocks.corrupt_replicas().find(|(h, s, _)| *h == handle && *s == storage);
            let _ = match corrupt {
                Some((_, _, reason)) => writeln!(out, "CORRUPT\t ReasonCode: {}", reason.name()),
                None => writeln!(out, "{state}"),
            };
        });
    }
}
