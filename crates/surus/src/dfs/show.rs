//! Numbers, times and tables as FsShell prints them. Source: `StringUtils.java`, `FsUsage.java`, Hadoop 3.5.0.

use crate::local_time::{LocalTime, local_time};
use surus_types::date::Utc;

const UNITS: [char; 6] = ['K', 'M', 'G', 'T', 'P', 'E'];

/// Bytes, or with a unit: `4.8 M`, `1 K`, `49`. Source: `TraditionalBinaryPrefix.long2String`.
pub fn size(bytes: u64, human: bool) -> String {
    if human { human_size(bytes.cast_signed()) } else { bytes.to_string() }
}

/// As `size`, for a number that may be negative.
pub fn human_size(n: i64) -> String {
    let (sign, n) = if n < 0 { ("-", n.unsigned_abs()) } else { ("", n.unsigned_abs()) };
    if n < 1024 {
        return format!("{sign}{n}");
    }
    let mut unit = (n.ilog2() / 10) as usize - 1;
    if n.trailing_zeros() >= 10 * (unit as u32 + 1) {
        return format!("{sign}{} {}", n >> (10 * (unit + 1)), UNITS[unit]);
    }
    let scaled = |unit: usize| java_decimal(n as f64 / (1u64 << (10 * (unit + 1))) as f64);
    let mut text = scaled(unit);
    if text.starts_with("1024") && unit + 1 < UNITS.len() {
        unit += 1;
        text = scaled(unit);
    }
    format!("{sign}{text} {}", UNITS[unit])
}

/// One decimal, halves rounded up as Java's formatter does.
fn java_decimal(value: f64) -> String {
    let tenths = (value * 10.0).round();
    format!("{:.1}", tenths / 10.0)
}

/// Percent without decimals, halves to even: `DecimalFormat`.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "NaN%".to_string();
    }
    let value = part as f64 / whole as f64 * 100.0;
    format!("{}%", value.round_ties_even())
}

/// `yyyy-MM-dd HH:mm` in local time.
pub fn minute(ms: u64) -> String {
    let LocalTime { year, month, day, hour, minute, .. } = local_time(ms.cast_signed());
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

/// `yyyy-MM-dd HH:mm:ss` in UTC.
pub fn utc_second(ms: u64) -> String {
    let Utc { year, month, day, hour, minute, second, .. } = Utc::at(ms.cast_signed());
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Columns two blanks apart, each as wide as its longest cell; the last one as it is.
pub struct Table {
    rows: Vec<Vec<String>>,
    has_header: bool,
    right: &'static [usize],
}

impl Table {
    /// `right`: columns to be aligned right.
    pub fn new(header: Option<&[&str]>, right: &'static [usize]) -> Self {
        let rows = header.map(|words| words.iter().map(|w| w.to_string()).collect()).into_iter().collect();
        Table { rows, has_header: header.is_some(), right }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The whole table; empty without rows.
    pub fn print(&self) -> String {
        if self.rows.len() <= usize::from(self.has_header) {
            return String::new();
        }
        let columns = self.rows[0].len();
        let width = |i: usize| self.rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            for (i, cell) in row.iter().enumerate() {
                if i > 0 {
                    out.push_str("  ");
                }
                let width = widths[i];
                match (self.right.contains(&i), i + 1 == columns) {
                    (true, _) => out.push_str(&format!("{cell:>width$}")),
                    (false, false) => out.push_str(&format!("{cell:<width$}")),
                    (false, true) => out.push_str(cell),
                }
            }
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_hadoop_prints_them() {
        for (bytes, text) in [
            (0, "0"),
            (1023, "1023"),
            (1024, "1 K"),
            (1536, "1.5 K"),
            (10 << 20, "10 M"),
            (24_636, "24.1 K"),
            (270_553_174_016, "252.0 G"),
            ((1 << 20) - 1, "1.0 M"),
        ] {
            assert_eq!(size(bytes, true), text, "{bytes}");
        }
        assert_eq!(human_size(-2048), "-2 K");
        assert_eq!(size(2048, false), "2048");
    }

    #[test]
    fn moments_in_utc() {
        assert_eq!(utc_second(1_796_044_773_197), "2026-11-30 13:19:33");
    }

    #[test]
    fn a_table_is_as_wide_as_its_cells() {
        let mut table = Table::new(Some(&["SIZE", "PATH"]), &[]);
        assert_eq!(table.print(), "");
        table.row(vec!["7".into(), "/a".into()]);
        assert_eq!(table.print(), "SIZE  PATH\n7     /a\n");
        let mut right = Table::new(None, &[0]);
        right.row(vec!["7".into(), "x".into()]);
        right.row(vec!["77".into(), "y".into()]);
        assert_eq!(right.print(), " 7  x\n77  y\n");
        assert_eq!(percent(1, 8), "12%");
    }
}
