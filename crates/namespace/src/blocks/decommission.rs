//! DataNodes on their way out: from the moment one is excluded its replicas count no more, so that the redundancy monitor
//! copies what would be missed; it is decommissioned when every block it holds has enough replicas elsewhere.
//! Source: `DatanodeAdminManager.java`, `HeartbeatManager.startDecommission`, Hadoop 3.5.0.

use super::redundancy::SLICE;
use super::{BlockHandle, BlockManager, DatanodeHandle};
use surus_types::AdminState;

impl BlockManager {
    /// Puts a DataNode where the host lists want it. A dead one has nothing left to copy.
    pub(super) fn set_excluded(&mut self, node: DatanodeHandle, excluded: bool) {
        let datanode = self.datanodes.datanode_mut(node);
        let state = match (excluded, datanode.admin_state) {
            (true, AdminState::Normal) if datanode.alive => AdminState::DecommissionInProgress,
            (true, AdminState::Normal) => AdminState::Decommissioned,
            (false, AdminState::DecommissionInProgress | AdminState::Decommissioned) => AdminState::Normal,
            (_, same) => same,
        };
        if core::mem::replace(&mut datanode.admin_state, state) == state {
            return;
        }
        datanode.decommission_from = (0, 0);
        // Its replicas count otherwise from now on: every block is looked at again, in slices.
        self.rescan_from = Some(0);
    }

    /// Looks at some blocks of DataNodes that are leaving. Whether that was not enough.
    pub(super) fn check_leaving(&mut self) -> bool {
        let mut budget = SLICE;
        for node in self.datanodes.handles() {
            let datanode = self.datanodes.datanode(node);
            let leaving = datanode.admin_state == AdminState::DecommissionInProgress;
            // Before its full reports nobody knows what it holds.
            let has_reported = datanode.storages.iter().all(|s| self.datanodes.storage(*s).block_reports > 0);
            // One that died holds nothing that could still be copied, if nothing is missed.
            let is_unmissed = self.low.total() == 0 && self.pending.is_empty() && self.departed.is_empty();
            if leaving && if datanode.alive { has_reported && self.is_replaced(node, &mut budget) } else { is_unmissed }
            {
                self.datanodes.datanode_mut(node).admin_state = AdminState::Decommissioned;
            }
        }
        budget == 0
    }

    /// Whether every block of the DataNode has enough replicas elsewhere. Goes on next time where it stopped.
    fn is_replaced(&mut self, node: DatanodeHandle, budget: &mut usize) -> bool {
        let storages = self.datanodes.datanode(node).storages.clone();
        let (mut at, mut from) = self.datanodes.datanode(node).decommission_from;
        while let Some(storage) = storages.get(at) {
            match self.datanodes.storage(*storage).blocks.next(from) {
                Some(next) if *budget > 0 && self.is_enough_elsewhere(BlockHandle(next)) => from = next + 1,
                Some(_) => break,
                None => (at, from) = (at + 1, 0),
            }
            *budget = budget.saturating_sub(1);
        }
        self.datanodes.datanode_mut(node).decommission_from = (at, from);
        at == storages.len()
    }

    fn is_enough_elsewhere(&self, handle: BlockHandle) -> bool {
        let row = self.table.row(handle);
        row.state().is_complete() && self.count_replicas(handle).live >= usize::from(row.replication)
    }
}
