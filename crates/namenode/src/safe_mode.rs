//! Safe mode: at start until enough blocks are reported, by hand, and while the disks are full.
//! Source: `BlockManagerSafeMode.java`, `FSNamesystem.java`, Hadoop 3.5.0.

use parking_lot::Mutex;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use surus_types::{ExceptionClass, HdfsError};

const LEAVE_HINT: &str = "Use \"hdfs dfsadmin -safemode leave\" to turn safe mode off.";

/// When start-up safe mode ends.
#[derive(Clone, Copy, Debug)]
pub struct SafeModeConfig {
    /// `dfs.namenode.safemode.threshold-pct`: the share of complete blocks that must be reported.
    pub threshold: f32,
    /// `dfs.namenode.safemode.min.datanodes`.
    pub min_datanodes: u64,
    /// `dfs.namenode.safemode.extension`: how long it lasts after the thresholds are reached.
    pub extension_ms: u64,
    /// With HA on, a call refused during start-up is told to try again.
    pub ha_enabled: bool,
}

/// What the block map knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reported {
    /// Complete blocks.
    pub total: u64,
    /// Of these, blocks with enough reported replicas.
    pub safe: u64,
    pub live_datanodes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Startup {
    PendingThreshold,
    /// Until this monotonic time.
    Extension(u64),
    Off,
}

#[derive(Debug)]
struct State {
    startup: Startup,
    manual: bool,
    low_resources: bool,
    reported: Reported,
    now_ms: u64,
}

/// The safe mode of one NameNode. Asking whether it is on costs one load.
pub struct SafeMode {
    config: SafeModeConfig,
    /// As SafeModeException shows it.
    host_name: String,
    on: AtomicBool,
    state: Mutex<State>,
}

impl SafeMode {
    /// Starts on, as a NameNode does.
    pub fn new(config: SafeModeConfig, host_name: String) -> Self {
        let state = State {
            startup: Startup::PendingThreshold,
            manual: false,
            low_resources: false,
            reported: Reported::default(),
            now_ms: 0,
        };
        SafeMode { config, host_name, on: AtomicBool::new(true), state: Mutex::new(state) }
    }

    /// Whether changes are refused.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Whether it is the safe mode of the start, which ends by itself.
    pub fn is_startup(&self) -> bool {
        let state = self.state.lock();
        state.startup != Startup::Off && !state.manual && !state.low_resources
    }

    /// Takes what the block map knows now; start-up safe mode may end by it. Returns whether it did just now.
    pub fn observe(&self, reported: Reported, now_ms: u64) -> bool {
        let mut state = self.state.lock();
        (state.reported, state.now_ms) = (reported, now_ms);
        let before = state.startup;
        if before == Startup::Off {
            return false;
        }
        let met = reported.safe >= self.block_threshold(reported.total)
            && reported.live_datanodes >= self.config.min_datanodes;
        state.startup = match before {
            _ if !met => Startup::PendingThreshold,
            // No blocks: nothing to wait for.
            _ if reported.total == 0 || self.config.extension_ms == 0 => Startup::Off,
            Startup::Extension(until_ms) if now_ms >= until_ms => Startup::Off,
            Startup::Extension(until_ms) => Startup::Extension(until_ms),
            _ => Startup::Extension(now_ms + self.config.extension_ms),
        };
        self.publish(&state);
        state.startup == Startup::Off
    }

    /// `dfsadmin -safemode enter`.
    pub fn enter(&self) {
        let mut state = self.state.lock();
        state.manual = true;
        self.publish(&state);
    }

    /// `dfsadmin -safemode leave`: ends every kind.
    pub fn leave(&self) {
        let mut state = self.state.lock();
        (state.startup, state.manual, state.low_resources) = (Startup::Off, false, false);
        self.publish(&state);
    }

    /// The disks that hold the edits are too full (true), or no longer.
    pub fn set_low_resources(&self, low: bool) {
        let mut state = self.state.lock();
        state.low_resources = low;
        self.publish(&state);
    }

    /// The refusal of a change; `what` is the first sentence without its full stop, `Cannot create directory /x`.
    pub fn refuse(&self, what: std::fmt::Arguments<'_>) -> HdfsError {
        let message = format!("{what}. Name node is in safe mode.\n{} NamenodeHostName:{}", self.tip(), self.host_name);
        if self.config.ha_enabled && self.is_startup() {
            let class = ExceptionClass::SafeMode.java_name();
            return HdfsError::new(ExceptionClass::Retriable, format!("{class}: {message}"));
        }
        HdfsError::new(ExceptionClass::SafeMode, message)
    }

    /// What keeps safe mode on, and how it ends.
    pub fn tip(&self) -> String {
        let state = self.state.lock();
        if state.low_resources {
            return format!(
                "Resources are low on NN. Please add or free up more resources then turn off safe mode manually. NOTE:  If \
                 you turn off safe mode before adding resources, the NN will immediately return to safe mode. {LEAVE_HINT}"
            );
        }
        if state.manual {
            return format!("It was turned on manually. {LEAVE_HINT}");
        }
        self.startup_tip(&state)
    }

    fn startup_tip(&self, state: &State) -> String {
        let Reported { total, safe, live_datanodes } = state.reported;
        let (wanted, threshold) = (self.block_threshold(total), self.config.threshold);
        let mut tip = String::new();
        let _ = if safe < wanted {
            let missing = wanted - safe;
            write!(tip, "The reported blocks {safe} needs additional {missing} blocks to reach the threshold {threshold:.4} of total blocks {total}.\nThe number of live datanodes is not calculated since reported blocks hasn't reached the threshold. ")
        } else {
            write!(tip, "The reported blocks {safe} has reached the threshold {threshold:.4} of total blocks {total}. ")
        };
        let minimum = self.config.min_datanodes;
        let _ = if safe < wanted {
            Ok(())
        } else if minimum == 0 {
            write!(tip, "The minimum number of live datanodes is not required. ")
        } else if live_datanodes < minimum {
            let missing = minimum - live_datanodes;
            writeln!(tip, "The number of live datanodes {live_datanodes} needs an additional {missing} live datanodes to reach the minimum number {minimum}.")
        } else {
            write!(tip, "The number of live datanodes {live_datanodes} has reached the minimum number {minimum}. ")
        };
        let _ = match state.startup {
            Startup::PendingThreshold => {
                write!(tip, "Safe mode will be turned off automatically once the thresholds have been reached.")
            }
            Startup::Extension(until_ms) => {
                let seconds = until_ms.saturating_sub(state.now_ms) / 1000;
                write!(tip, "In safe mode extension. Safe mode will be turned off automatically in {seconds} seconds.")
            }
            Startup::Off => write!(tip, "Safe mode will be turned off automatically soon."),
        };
        tip
    }

    /// Source: `BlockManagerSafeMode.setBlockTotal` (a cast of a Java float product), Hadoop 3.5.0.
    fn block_threshold(&self, total: u64) -> u64 {
        (f64::from(self.config.threshold) * total as f64) as u64
    }

    fn publish(&self, state: &State) {
        let on = state.startup != Startup::Off || state.manual || state.low_resources;
        self.on.store(on, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safe_mode(extension_ms: u64) -> SafeMode {
        let config = SafeModeConfig { threshold: 0.999, min_datanodes: 0, extension_ms, ha_enabled: false };
        SafeMode::new(config, "localhost".to_owned())
    }

    #[test]
    fn start_up_ends_after_threshold_and_extension() {
        let s = safe_mode(30_000);
        let at = |safe| Reported { total: 49, safe, live_datanodes: 0 };
        assert!(!s.observe(at(0), 0));
        assert_eq!(
            s.tip(),
            "The reported blocks 0 needs additional 48 blocks to reach the threshold 0.9990 of total blocks 49.\nThe number \
             of live datanodes is not calculated since reported blocks hasn't reached the threshold. Safe mode will be \
             turned off automatically once the thresholds have been reached."
        );
        assert!(!s.observe(at(48), 1_000));
        assert!(!s.observe(at(48), 11_000));
        assert_eq!(
            s.tip(),
            "The reported blocks 48 has reached the threshold 0.9990 of total blocks 49. The minimum number of live \
             datanodes is not required. In safe mode extension. Safe mode will be turned off automatically in 20 seconds."
        );
        assert!(s.is_on());
        assert!(s.observe(at(48), 31_000));
        assert!(!s.is_on());
        assert!(!s.observe(at(0), 40_000));
    }

    #[test]
    fn no_blocks_no_extension() {
        let s = safe_mode(30_000);
        assert!(s.observe(Reported::default(), 0));
        assert!(!s.is_on());
    }

    #[test]
    fn by_hand() {
        let s = safe_mode(0);
        s.leave();
        s.enter();
        assert!(s.is_on() && !s.is_startup());
        assert_eq!(
            s.refuse(format_args!("Cannot create directory {}", "/x")).message,
            "Cannot create directory /x. Name node is in safe mode.\nIt was turned on manually. Use \"hdfs dfsadmin -safemode leave\" to turn safe mode off. NamenodeHostName:localhost"
        );
        s.leave();
        assert!(!s.is_on());
    }
}
