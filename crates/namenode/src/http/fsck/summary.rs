//! The counts of a check, and how they are shown. Source: `NamenodeFsck.Result`, Hadoop 3.5.0.

use crate::core::Core;
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Debug, Default)]
pub struct Summary {
    pub datanodes: u64,
    pub racks: u64,
    pub default_replication: u32,
    pub min_replication: u16,
    pub directories: u64,
    pub symlinks: u64,
    pub files: u64,
    pub open_files: u64,
    pub bytes: u64,
    pub open_bytes: u64,
    pub blocks: u64,
    pub open_blocks: u64,
    pub replicas: u64,
    pub expected_replicas: u64,
    pub missing_replicas: u64,
    pub minimally_replicated: u64,
    pub under_min_replicated: u64,
    pub over_replicated: u64,
    pub under_replicated: u64,
    pub corrupt_files: u64,
    pub corrupt_blocks: u64,
    pub corrupt_bytes: u64,
    pub missing_blocks: u64,
    pub missing_bytes: u64,
    pub waiting: u64,
    /// By what storages hold a block and by its policy: how many, and whether that is what the policy wants.
    pub policies: BTreeMap<(String, String), (u64, bool)>,
}

impl Summary {
    pub fn new(core: &Core) -> Self {
        let namespace = core.namespace.read();
        let nodes = &namespace.blocks.datanodes;
        let live = || nodes.iter().filter(|node| node.alive);
        let mut racks: Vec<&str> = live().map(|node| &*node.network_location).collect();
        racks.sort_unstable();
        racks.dedup();
        Summary {
            datanodes: live().count() as u64,
            racks: racks.len() as u64,
            default_replication: core.config.server_defaults.replication,
            min_replication: namespace.blocks.config.min_replication,
            ..Summary::default()
        }
    }

    /// DFSck's exit code follows from this word at the end of the text.
    pub fn status(&self) -> &'static str {
        if self.missing_blocks == 0 && self.corrupt_blocks == 0 { "HEALTHY" } else { "CORRUPT" }
    }

    fn percent(&self, part: u64) -> String {
        percent_of(part, self.blocks)
    }

    pub fn write(&self, out: &mut String, policies: bool) {
        let _ = write!(
            out,
            "\nStatus: {}\n Number of data-nodes:\t{}\n Number of racks:\t\t{}\n Total dirs:\t\t\t{}\n Total symlinks:\t\t{}\n",
            self.status(),
            self.datanodes,
            self.racks,
            self.directories,
            self.symlinks
        );
        let _ = write!(out, "\nReplicated Blocks:\n Total size:\t{} B", self.bytes);
        if self.open_bytes > 0 {
            let _ = write!(out, " (Total open files size: {} B)", self.open_bytes);
        }
        let _ = write!(out, "\n Total files:\t{}", self.files);
        if self.open_files > 0 {
            let _ = write!(out, " (Files currently being written: {})", self.open_files);
        }
        let _ = write!(out, "\n Total blocks (validated):\t{}", self.blocks);
        if let Some(average) = self.bytes.checked_div(self.blocks) {
            let _ = write!(out, " (avg. block size {average} B)");
        }
        if self.open_blocks > 0 {
            let _ = write!(out, " (Total open file blocks (not validated): {})", self.open_blocks);
        }
        out.push('\n');
        self.write_damage(out);
        self.write_replication(out);
        out.push_str(EMPTY_ERASURE_CODED);
        if policies {
            self.write_policies(out);
        }
    }

    fn write_damage(&self, out: &mut String) {
        if self.corrupt_files == 0 && self.under_min_replicated == 0 {
            return;
        }
        out.push_str("  ********************************\n");
        if self.under_min_replicated > 0 {
            let percent = self.percent(self.under_min_replicated);
            let _ = writeln!(out, "  UNDER MIN REPL'D BLOCKS:\t{}{percent}", self.under_min_replicated);
            let _ = writeln!(out, "  MINIMAL BLOCK REPLICATION:\t{}", self.min_replication);
        }
        if self.corrupt_files > 0 {
            let _ = writeln!(out, "  CORRUPT FILES:\t{}", self.corrupt_files);
            if self.missing_bytes > 0 {
                let _ = writeln!(out, "  MISSING BLOCKS:\t{}", self.missing_blocks);
                let _ = writeln!(out, "  MISSING SIZE:\t\t{} B", self.missing_bytes);
            }
            if self.corrupt_blocks > 0 {
                let _ = writeln!(out, "  CORRUPT BLOCKS: \t{}", self.corrupt_blocks);
                let _ = writeln!(out, "  CORRUPT SIZE:\t\t{} B", self.corrupt_bytes);
            }
        }
        out.push_str("  ********************************\n");
    }

    fn write_replication(&self, out: &mut String) {
        for (name, count) in [
            ("Minimally replicated blocks:\t", self.minimally_replicated),
            ("Over-replicated blocks:\t", self.over_replicated),
            ("Under-replicated blocks:\t", self.under_replicated),
            ("Mis-replicated blocks:\t\t", 0),
        ] {
            let _ = writeln!(out, " {name}{count}{}", self.percent(count));
        }
        let average = if self.blocks == 0 { 0.0 } else { self.replicas as f32 / self.blocks as f32 };
        let _ = writeln!(out, " Default replication factor:\t{}", self.default_replication);
        let _ = writeln!(out, " Average block replication:\t{average:?}");
        let _ = writeln!(out, " Missing blocks:\t\t{}", self.missing_blocks);
        let _ = writeln!(out, " Corrupt blocks:\t\t{}", self.corrupt_blocks);
        let missing =
            if self.replicas == 0 { String::new() } else { percent_of(self.missing_replicas, self.expected_replicas) };
        let _ = writeln!(out, " Missing replicas:\t\t{}{missing}", self.missing_replicas);
        let _ = writeln!(out, " Blocks queued for replication:\t{}", self.waiting);
    }

    /// Source: `StoragePolicySummary.java`, Hadoop 3.5.0.
    fn write_policies(&self, out: &mut String) {
        let total: u64 = self.policies.values().map(|(count, _)| count).sum();
        let mut part = |title: &str, satisfied: bool| {
            let rows: Vec<_> = self.policies.iter().filter(|(_, (_, s))| *s == satisfied).collect();
            if rows.is_empty() {
                return false;
            }
            let _ = write!(out, "\n{title}\nStorage Policy                  # of blocks       % of blocks\n");
            for ((storages, policy), (count, _)) in rows {
                let name = format!("{storages}({policy})");
                let percent = *count as f64 * 100.0 / total as f64;
                let _ = writeln!(out, "{name:<24} {count:>11} {percent:>20.4}%");
            }
            true
        };
        part("Blocks satisfying the specified storage policy:", true);
        if !part("Blocks NOT satisfying the specified storage policy:", false) {
            out.push_str("\nAll blocks satisfy specified storage policy.\n");
        }
    }
}

fn percent_of(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!(" ({:?} %)", (part * 100) as f32 / whole as f32) }
}

/// Erasure-coded files are kept, and their block groups not looked at.
const EMPTY_ERASURE_CODED: &str = "\nErasure Coded Block Groups:\n Total size:\t0 B\n Total files:\t0\n Total block groups (validated):\t0\n \
Minimally erasure-coded block groups:\t0\n Over-erasure-coded block groups:\t0\n Under-erasure-coded block groups:\t0\n \
Unsatisfactory placement block groups:\t0\n Average block group size:\t0.0\n Missing block groups:\t\t0\n Corrupt block \
groups:\t\t0\n Missing internal blocks:\t0\n Blocks queued for replication:\t0\n";
