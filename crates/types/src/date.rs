//! The Gregorian calendar in UTC: a moment's parts, the way back, and Java's form of a date. No clock.

use alloc::format;
use alloc::string::String;

/// A moment in UTC. `month` and `day` count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Utc {
    /// Days since 1970-01-01.
    pub days: i64,
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub millisecond: i64,
}

impl Utc {
    /// The moment `ms` milliseconds after 1970 began.
    pub fn at(ms: i64) -> Self {
        let (days, in_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
        let (year, month, day) = civil_from_days(days);
        let second = in_day / 1000;
        Utc {
            days,
            year,
            month,
            day,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
            millisecond: in_day % 1000,
        }
    }
}

/// Year, month and day of a day counted from 1970-01-01, by years that begin in March so that the leap day comes last.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// The day of a date, counted from 1970-01-01; months beyond 12 and days beyond their month run over.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// `Mon Nov 30 10:52:56 UTC 2026`, as `java.util.Date` prints a moment; the first line of a VERSION file has it.
pub fn utc_java_date(ms: i64) -> String {
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let Utc { days, year, month, day, hour, minute, second, .. } = Utc::at(ms);
    let (weekday, month) = (WEEKDAYS[days.rem_euclid(7) as usize], MONTHS[month as usize - 1]);
    format!("{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02} UTC {year}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_java_prints_them() {
        assert_eq!(utc_java_date(1_796_036_845_000), "Mon Nov 30 11:07:25 UTC 2026");
        assert_eq!(utc_java_date(0), "Thu Jan 01 00:00:00 UTC 1970");
        assert_eq!(utc_java_date(951_782_400_000), "Tue Feb 29 00:00:00 UTC 2000");
        assert_eq!(utc_java_date(-1000), "Wed Dec 31 23:59:59 UTC 1969");
    }

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        assert_eq!(civil_from_days(0), (1970, 1, 1));
        for days in [-1, 0, 58, 59, 60, 11_016, 20_000, 40_000] {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
        }
        assert_eq!(days_from_civil(2020, 13, 1), days_from_civil(2021, 1, 1));
    }
}
