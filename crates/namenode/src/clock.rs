//! The clocks of the process: what `namespace` gets as arguments.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Wall clock, and a clock that never steps back.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    started_ms: i64,
}

impl Clock {
    pub fn start() -> Self {
        Clock { started: Instant::now(), started_ms: wall_ms() }
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        wall_ms()
    }

    /// Milliseconds on a clock that starts near 0 and never steps back.
    pub fn monotonic_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// When the process started, in milliseconds since 1970.
    pub fn started_ms(&self) -> i64 {
        self.started_ms
    }
}

fn wall_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX))
}
