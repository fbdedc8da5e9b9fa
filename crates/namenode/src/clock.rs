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

/// What a snapshot is called when nobody says: `s` and the local time as `yyyyMMdd-HHmmss.SSS`.
/// Source: `Snapshot.generateDefaultSnapshotName`, Hadoop 3.5.0.
pub fn default_snapshot_name(now_ms: i64) -> String {
    let [year, month, day, hour, minute, second] = local_parts(now_ms);
    let millisecond = now_ms.rem_euclid(1000);
    format!("s{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}.{millisecond:03}")
}

/// Local time: year, month (from 1), day, hour, minute, second.
pub fn local_parts(ms: i64) -> [i32; 6] {
    let seconds: libc::time_t = ms.div_euclid(1000);
    // SAFETY: localtime_r reads one integer and writes one struct tm, both ours; tm is plain numbers and a pointer that is
    // never read.
    let tm = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut tm);
        tm
    };
    [tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec]
}
