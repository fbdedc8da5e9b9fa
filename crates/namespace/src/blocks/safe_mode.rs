//! Safe mode: its states, its numbers, and Hadoop's texts about it. When to enter is the shell's decision; leaving the
//! start-up safe mode follows from the numbers. Source: `BlockManagerSafeMode.java`, Hadoop 3.5.0.

use super::BlockManager;
use alloc::format;
use alloc::string::String;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SafeMode {
    #[default]
    Off,
    /// After a start: until enough blocks have been reported, and then for the extension.
    Startup {
        /// When the thresholds were reached first, and the extension began.
        reached_monotonic_ms: Option<u64>,
    },
    /// `dfsadmin -safemode enter`.
    Manual,
    /// The name directories' disks are full.
    LowResources,
}

impl SafeMode {
    pub fn is_on(self) -> bool {
        self != SafeMode::Off
    }
    pub fn is_startup(self) -> bool {
        matches!(self, SafeMode::Startup { .. })
    }
}

/// The numbers that decide about start-up safe mode.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SafeModeInfo {
    /// Complete blocks with at least the minimum of replicas.
    pub safe_blocks: u64,
    /// Complete blocks.
    pub total_blocks: u64,
    /// Safe blocks needed: the threshold's share of the total, rounded down.
    pub threshold_blocks: u64,
    pub live_datanodes: u32,
    pub min_datanodes: u32,
}

impl SafeModeInfo {
    pub fn blocks_reached(&self) -> bool {
        self.safe_blocks >= self.threshold_blocks
    }
    pub fn thresholds_reached(&self) -> bool {
        self.blocks_reached() && self.live_datanodes >= self.min_datanodes
    }
}

impl BlockManager {
    pub fn safe_mode_info(&self) -> SafeModeInfo {
        let total = self.num_complete;
        SafeModeInfo {
            safe_blocks: self.num_safe,
            total_blocks: total,
            threshold_blocks: (total as f64 * f64::from(self.config.safe_mode_threshold)) as u64,
            live_datanodes: self.datanodes.num_live(),
            min_datanodes: self.config.safe_mode_min_datanodes,
        }
    }

    /// Enters the start-up safe mode, after the image and the edits were loaded.
    pub fn enter_startup_safe_mode(&mut self) {
        self.safe_mode = SafeMode::Startup { reached_monotonic_ms: None };
    }

    /// Leaves safe mode of any kind; the queues of missing replicas fill from here on. `false`: refused, since DataNodes
    /// hold blocks newer than this metadata, which would be deleted (see [`BlockManager::force_leave_safe_mode`]).
    pub fn leave_safe_mode(&mut self) -> bool {
        if self.safe_mode.is_on() && self.in_future.blocks > 0 {
            return false;
        }
        self.force_leave_safe_mode();
        true
    }

    /// `dfsadmin -safemode forceExit`: leaves even if blocks newer than this metadata are then deleted.
    pub fn force_leave_safe_mode(&mut self) {
        self.safe_mode = SafeMode::Off;
        self.in_future = Default::default();
        self.rescan_from = Some(0);
    }

    /// `dfsadmin -safemode enter`. During start-up it makes the NameNode stay.
    pub fn enter_manual_safe_mode(&mut self) {
        self.safe_mode = SafeMode::Manual;
    }

    /// Looks whether the start-up safe mode may end. `true`: it ended now.
    pub fn tick_safe_mode(&mut self, now_monotonic_ms: u64) -> bool {
        let SafeMode::Startup { reached_monotonic_ms } = self.safe_mode else { return false };
        let info = self.safe_mode_info();
        if !info.thresholds_reached() {
            self.safe_mode = SafeMode::Startup { reached_monotonic_ms: None };
            return false;
        }
        let reached = reached_monotonic_ms.unwrap_or(now_monotonic_ms);
        // An empty file system has nothing to wait for.
        let extension = if info.total_blocks == 0 { 0 } else { self.config.safe_mode_extension_ms };
        if now_monotonic_ms - reached >= extension {
            self.safe_mode = SafeMode::Startup { reached_monotonic_ms: Some(reached) };
            return self.leave_safe_mode();
        }
        self.safe_mode = SafeMode::Startup { reached_monotonic_ms: Some(reached) };
        false
    }

    /// Why the NameNode is in safe mode, and when it will leave; empty when it is not.
    pub fn safe_mode_tip(&self, now_monotonic_ms: u64) -> String {
        match self.safe_mode {
            SafeMode::Off => String::new(),
            _ if self.in_future.blocks > 0 => self.in_future_tip(),
            SafeMode::Manual => {
                "It was turned on manually. Use \"hdfs dfsadmin -safemode leave\" to turn safe mode off.".into()
            }
            SafeMode::LowResources => "Resources are low on NN. Please add or free up more resources then turn off \
                safe mode manually. NOTE:  If you turn off safe mode before adding resources, the NN will immediately \
                return to safe mode. Use \"hdfs dfsadmin -safemode leave\" to turn safe mode off."
                .into(),
            SafeMode::Startup { reached_monotonic_ms } => self.startup_tip(reached_monotonic_ms, now_monotonic_ms),
        }
    }

    fn in_future_tip(&self) -> String {
        format!(
            "Name node detected blocks with generation stamps in future. This means that Name node metadata is \
             inconsistent. This can happen if Name node metadata files have been manually replaced. Exiting safe mode \
             will cause loss of {} byte(s). Please restart name node with right metadata or use \"hdfs dfsadmin -safemode \
             forceExit\" if you are certain that the NameNode was started with the correct FsImage and edit logs. If you \
             encountered this during a rollback, it is safe to exit with -safemode forceExit.",
            self.in_future.bytes
        )
    }

    fn startup_tip(&self, reached: Option<u64>, now_monotonic_ms: u64) -> String {
        let info = self.safe_mode_info();
        let (safe, total) = (info.safe_blocks, info.total_blocks);
        let threshold = self.config.safe_mode_threshold;
        let blocks = if info.blocks_reached() {
            format!("The reported blocks {safe} has reached the threshold {threshold:.4} of total blocks {total}. ")
        } else {
            let missing = info.threshold_blocks - safe;
            format!(
                "The reported blocks {safe} needs additional {missing} blocks to reach the threshold \
                 {threshold:.4} of total blocks {total}.\n"
            )
        };
        let (live, min) = (info.live_datanodes, info.min_datanodes);
        let datanodes = if min == 0 {
            if info.blocks_reached() {
                "The minimum number of live datanodes is not required. ".into()
            } else {
                "The number of live datanodes is not calculated since reported blocks hasn't reached the threshold. "
                    .into()
            }
        } else if live < min {
            format!(
                "The number of live datanodes {live} needs an additional {} live datanodes to reach the minimum number {min}.\n",
                min - live
            )
        } else {
            format!("The number of live datanodes {live} has reached the minimum number {min}. ")
        };
        let end = match reached {
            _ if !info.thresholds_reached() => {
                "Safe mode will be turned off automatically once the thresholds have been reached.".into()
            }
            Some(reached) => {
                let left = self.config.safe_mode_extension_ms.saturating_sub(now_monotonic_ms - reached);
                if left == 0 {
                    "Safe mode will be turned off automatically soon.".into()
                } else {
                    format!(
                        "In safe mode extension. Safe mode will be turned off automatically in {} seconds.",
                        left / 1000
                    )
                }
            }
            None => "Safe mode will be turned off automatically soon.".into(),
        };
        format!("{blocks}{datanodes}{end}")
    }
}
