//! Local time of a moment, by the system's time zone.

/// A moment in local time. `month` and `day` count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalTime {
    pub year: i32,
    pub month: u32,
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
    pub millisecond: u32,
}

/// Local time of `ms` milliseconds since 1970.
pub fn local_time(ms: i64) -> LocalTime {
    let seconds: libc::time_t = ms.div_euclid(1000);
    // SAFETY: localtime_r reads one integer and writes one struct tm, both ours; tm is plain numbers and a pointer that is never read.
    let tm = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut tm);
        tm
    };
    let part = |n: libc::c_int| u32::try_from(n).unwrap_or(0);
    LocalTime {
        year: tm.tm_year + 1900,
        month: part(tm.tm_mon + 1),
        day: part(tm.tm_mday),
        hour: part(tm.tm_hour),
        minute: part(tm.tm_min),
        second: part(tm.tm_sec),
        millisecond: u32::try_from(ms.rem_euclid(1000)).unwrap_or(0),
    }
}

/// `2026-11-30T16:12:00+0000`: a moment in local time with its distance from UTC.
pub fn iso(ms: i64) -> String {
    let t = local_time(ms);
    let seconds: libc::time_t = ms.div_euclid(1000);
    // SAFETY: localtime_r reads one integer and writes one struct tm, both ours; only a number is read of it.
    let offset = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut tm);
        tm.tm_gmtoff
    };
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs() / 60);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{sign}{:02}{:02}",
        t.year,
        t.month,
        t.day,
        t.hour,
        t.minute,
        t.second,
        minutes / 60,
        minutes % 60
    )
}

/// Abbreviation of the time zone at that moment: `UTC`, `CET`.
pub fn zone_name(ms: i64) -> String {
    let seconds: libc::time_t = ms.div_euclid(1000);
    // SAFETY: localtime_r reads one integer and writes one struct tm, both ours; tm_zone is null or points to a
    // zero-terminated name that the C library keeps for the life of the process.
    unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut tm);
        if tm.tm_zone.is_null() {
            "UTC".into()
        } else {
            std::ffi::CStr::from_ptr(tm.tm_zone).to_string_lossy().into_owned()
        }
    }
}

/// Milliseconds since 1970, now.
pub fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_before_and_after_1970() {
        assert_eq!(local_time(1_764_500_000_123).millisecond, 123);
        assert_eq!(local_time(-1).millisecond, 999);
        assert!((2025..=2026).contains(&local_time(1_764_500_000_123).year));
    }
}
