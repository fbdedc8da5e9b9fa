//! One file: its line, its blocks, and what they add to the counts. Source: `NamenodeFsck.collectBlocksSummary`, Hadoop 3.5.0.

use super::Options;
use super::summary::Summary;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use surus_namespace::blocks::{BlockHandle, StorageHandle};
use surus_namespace::storage_policy;
use surus_namespace::{InodeHandle, Namespace};
use surus_types::AdminState;

pub struct FileCheck<'a> {
    pub namespace: &'a Namespace,
    pub options: &'a Options,
    pub pool: &'a str,
}

/// What is wrong with a file's blocks.
#[derive(Default)]
struct Wrong {
    missing: u64,
    missing_bytes: u64,
    corrupt: u64,
    corrupt_bytes: u64,
    under_replicated: u64,
}

impl FileCheck<'_> {
    /// Returns whether a block of the (closed) file has no good replica.
    pub fn run(&self, handle: InodeHandle, path: &str, summary: &mut Summary, out: &mut String) -> bool {
        let inode = self.namespace.tree.inode(handle);
        let is_open = inode.under_construction().is_some();
        let (length, blocks) = (inode.length(), inode.blocks().len() as u64);
        if is_open && !self.options.open_files {
            summary.open_bytes += length;
            summary.open_blocks += blocks;
            summary.open_files += 1;
        } else {
            summary.files += 1;
            summary.bytes += length;
            summary.blocks += blocks;
        }
        let shows_line = self.options.files && (self.options.open_files || !is_open);
        if shows_line || self.options.open_files && is_open {
            let open = if is_open { ", OPENFORWRITE: " } else { ": " };
            let replication = inode.replication();
            let _ =
                write!(out, "{path} {length} bytes, replicated: replication={replication}, {blocks} block(s){open}");
        }
        // The block that is written is not looked at, nor are block groups: where their parts are nobody here knows.
        let is_checked = |block: &&BlockHandle| {
            let info = self.namespace.blocks.info(**block);
            info.state.is_complete() && !info.is_group
        };
        let checked = inode.blocks().iter().filter(is_checked);
        let (mut wrong, mut report) = (Wrong::default(), String::new());
        for (number, block) in checked.enumerate() {
            let _ = write!(report, "{number}. ");
            self.check_block(*block, path, inode.replication(), summary, &mut wrong, &mut report, out);
            if self.options.storage_policies {
                self.count_policy(*block, inode.storage_policy(), summary);
            }
        }
        let is_damaged = wrong.missing > 0 || wrong.corrupt > 0;
        if is_damaged {
            summary.corrupt_files += 1;
        }
        self.finish(path, &wrong, &report, shows_line, out);
        is_damaged && !is_open
    }

    fn finish(&self, path: &str, wrong: &Wrong, report: &str, shows_line: bool, out: &mut String) {
        if !shows_line {
            if wrong.missing > 0 && !self.options.files {
                let _ =
                    write!(out, "\n{path}: MISSING {} blocks of total size {} B.", wrong.missing, wrong.missing_bytes);
            }
            if wrong.corrupt > 0 && !self.options.files {
                let _ =
                    write!(out, "\n{path}: CORRUPT {} blocks of total size {} B.", wrong.corrupt, wrong.corrupt_bytes);
            }
            return;
        }
        if wrong.missing > 0 {
            let _ = writeln!(out, " MISSING {} blocks of total size {} B", wrong.missing, wrong.missing_bytes);
        }
        if wrong.corrupt > 0 {
            let _ = writeln!(out, " CORRUPT {} blocks of total size {} B", wrong.corrupt, wrong.corrupt_bytes);
        }
        if wrong.missing + wrong.corrupt + wrong.under_replicated == 0 {
            out.push_str(" OK\n");
        }
        if self.options.blocks {
            let _ = writeln!(out, "{report}");
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn check_block(
        &self,
        handle: BlockHandle,
        path: &str,
        wanted: u16,
        summary: &mut Summary,
        wrong: &mut Wrong,
        report: &mut String,
        out: &mut String,
    ) {
        let blocks = &self.namespace.blocks;
        let (block, count) = (blocks.block(handle), blocks.count_replicas(handle));
        let (pool, bytes) = (self.pool, block.num_bytes);
        let total = (count.live + count.decommissioned) as u64;
        let (live, wanted) = (count.live as u64, u64::from(wanted));
        summary.replicas += total;
        summary.expected_replicas += wanted;
        summary.over_replicated += u64::from(live > wanted);
        let is_minimal = total >= u64::from(summary.min_replication);
        summary.minimally_replicated += u64::from(is_minimal);
        summary.under_min_replicated += u64::from(!is_minimal);
        let is_corrupt = blocks.is_all_corrupt(handle);
        if is_corrupt {
            summary.corrupt_blocks += 1;
            summary.corrupt_bytes += bytes;
            wrong.corrupt += 1;
            wrong.corrupt_bytes += bytes;
            let _ = write!(out, "\n{path}: CORRUPT blockpool {pool} block blk_{}\n", block.id);
        }
        if total < wanted && total > 0 {
            summary.missing_replicas += wanted - total;
            summary.under_replicated += 1;
            wrong.under_replicated += 1;
            if !self.options.files {
                let _ = write!(out, "\n{path}: ");
            }
            let _ = writeln!(
                out,
                " Under replicated {pool}:{block}. Target Replicas is {wanted} but found {live} live replica(s), {} \
                 decommissioned replica(s), 0 decommissioning replica(s).",
                count.decommissioned
            );
        }
        let _ = write!(report, "{pool}:{block} len={bytes}");
        if total == 0 && !is_corrupt {
            report.push_str(" MISSING!");
            summary.missing_blocks += 1;
            summary.missing_bytes += bytes;
            wrong.missing += 1;
            wrong.missing_bytes += bytes;
        } else {
            let _ = write!(report, " Live_repl={live}");
            self.put_locations(handle, report);
        }
        report.push('\n');
    }

    fn put_locations(&self, handle: BlockHandle, report: &mut String) {
        let options = self.options;
        let shown = options.locations || options.racks || options.replica_details;
        if !(shown || options.upgrade_domains || options.maintenance) {
            return;
        }
        let datanodes = &self.namespace.blocks.datanodes;
        report.push_str("  [");
        for (index, storage) in self.namespace.blocks.storages_of(handle).into_iter().enumerate() {
            let of = datanodes.storage(storage);
            let node = datanodes.datanode(of.datanode);
            let address = format!("{}:{}", node.id.ip_addr, node.id.xfer_port);
            report.push_str(if index == 0 { "" } else { ", " });
            let _ = match options.racks {
                true => write!(report, "{}/{address}", node.network_location),
                false => write!(
                    report,
                    "DatanodeInfoWithStorage[{address},{},{}]",
                    of.report.uuid,
                    of.report.storage_type.name()
                ),
            };
            if options.upgrade_domains {
                report.push_str("(ud=undefined)");
            }
            if options.replica_details {
                let _ = write!(report, "({})", self.replica_state(handle, storage));
            }
        }
        report.push(']');
    }

    fn replica_state(&self, handle: BlockHandle, storage: StorageHandle) -> &'static str {
        let blocks = &self.namespace.blocks;
        let node = blocks.datanodes.datanode(blocks.datanodes.storage(storage).datanode);
        match node.admin_state {
            AdminState::Decommissioned => "DECOMMISSIONED",
            AdminState::DecommissionInProgress => "DECOMMISSIONING",
            AdminState::EnteringMaintenance => "ENTERING MAINTENANCE",
            AdminState::InMaintenance => "IN MAINTENANCE",
            AdminState::Normal if blocks.is_corrupt(handle, storage) => "CORRUPT",
            AdminState::Normal if blocks.is_excess(handle, storage) => "EXCESS",
            AdminState::Normal => "LIVE",
        }
    }

    /// Which types of storage hold a block, beside the policy of its file.
    fn count_policy(&self, handle: BlockHandle, policy: u8, summary: &mut Summary) {
        let datanodes = &self.namespace.blocks.datanodes;
        let policy = storage_policy::by_id(policy);
        let mut types: BTreeMap<&str, u64> = BTreeMap::new();
        let storages = self.namespace.blocks.storages_of(handle);
        for storage in &storages {
            *types.entry(datanodes.storage(*storage).report.storage_type.name()).or_default() += 1;
        }
        let wanted = |index: usize| policy.storage_types.get(index).or(policy.storage_types.last());
        let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
        for kind in (0..storages.len()).filter_map(wanted) {
            *expected.entry(kind.name()).or_default() += 1;
        }
        let name = types.iter().map(|(kind, count)| format!("{kind}:{count}")).collect::<Vec<_>>().join(",");
        let row = summary.policies.entry((name, policy.name.to_owned())).or_default();
        row.0 += 1;
        row.1 = types == expected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_namespace::blocks::BlockState;
    use surus_namespace::tree::{FileLayout, NewInode};
    use surus_types::{Block, BlockId, FsPermission, GenerationStamp, InodeId, PermissionStatus};

    /// A block without replicas makes a file one that `-delete` takes; a block group, whose parts are not known, does not.
    #[test]
    fn erasure_coded_files_are_not_missing() {
        let mut namespace = Namespace::default();
        let permission = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o644) };
        let (group, old) = (i64::MIN + 1024, -5);
        for (name, id, block, policy) in
            [("plain", 20_000, 1 << 30, 0), ("coded", 20_001, group, 1), ("old", 20_002, old, 0)]
        {
            let new = NewInode { id: InodeId(id), permission: &permission, modification_time: 1, access_time: 1 };
            let layout = FileLayout { replication: 1, erasure_coding_policy: policy, ..FileLayout::default() };
            let file = namespace.tree.add_file(InodeHandle::ROOT, name.as_bytes(), &new, layout).unwrap();
            let block = Block { id: BlockId(block), generation_stamp: GenerationStamp(1001), num_bytes: 7 };
            let handle = namespace.blocks.insert(block, InodeId(id), 1, BlockState::Complete, policy != 0).unwrap();
            namespace.tree.push_block(file, handle);
        }
        let check = |name: &str| {
            let (options, mut summary) = (Options::default(), Summary { min_replication: 1, ..Summary::default() });
            let check = FileCheck { namespace: &namespace, options: &options, pool: "BP-1" };
            let handle = namespace.tree.lookup(name).unwrap();
            let is_damaged = check.run(handle, name, &mut summary, &mut String::new());
            (is_damaged, summary.status(), summary.missing_blocks)
        };
        assert_eq!(check("/plain"), (true, "CORRUPT", 1));
        assert_eq!(check("/coded"), (false, "HEALTHY", 0));
        // From before Hadoop 2: a negative id alone makes no block group.
        assert_eq!(check("/old"), (true, "CORRUPT", 1));
    }
}
