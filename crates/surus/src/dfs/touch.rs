//! `-touchz` and `-touch`. Source: `TouchCommands.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use crate::local_time::{local_time, now_ms};
use surus_client::CreateOptions;
use surus_types::date::days_from_civil;

const TOUCHZ: CommandFormat = CommandFormat::new(1, usize::MAX, &[]);
const TOUCH: CommandFormat = CommandFormat::new(1, usize::MAX, &["a", "m", "c"]).valued(&["t"]);

struct Touchz;

pub fn touchz(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = TOUCHZ.parse(arguments)?;
    process(&mut Touchz, shell, &options.arguments)
}

fn create_empty(item: &PathData) -> Result<()> {
    if !item.parent_exists()? {
        return Err(ShellError::not_found_fully(&item.text, &item.qualified()));
    }
    item.fs.create(&item.path, &CreateOptions::default())?.close()
}

impl Command for Touchz {
    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if item.is_dir() {
            return Err(ShellError::is_directory(&item.text));
        }
        if item.status()?.length != 0 {
            return Err(ShellError::path(&item.text, "Not a zero-length file"));
        }
        create_empty(item)
    }

    fn missing(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        create_empty(item)
    }
}

struct Touch {
    access_only: bool,
    modification_only: bool,
    no_create: bool,
    timestamp_ms: Option<u64>,
}

pub fn touch(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = TOUCH.parse(arguments)?;
    let timestamp_ms = options.value("t").map(parse_timestamp).transpose()?;
    let mut touch = Touch {
        access_only: options.has("a") && !options.has("m"),
        modification_only: options.has("m") && !options.has("a"),
        no_create: options.has("c"),
        timestamp_ms,
    };
    process(&mut touch, shell, &options.arguments)
}

impl Touch {
    fn set_times(&self, item: &PathData) -> Result<()> {
        let time = self.timestamp_ms.unwrap_or_else(|| now_ms().cast_unsigned());
        let mtime = (!self.access_only).then_some(time);
        let atime = (!self.modification_only).then_some(time);
        item.fs.set_times(&item.path, mtime, atime)
    }
}

impl Command for Touch {
    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        self.set_times(item)
    }

    fn missing(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if self.no_create {
            return Ok(());
        }
        create_empty(item)?;
        if self.timestamp_ms.is_some() || self.access_only || self.modification_only {
            self.set_times(item)?;
        }
        Ok(())
    }
}

/// `yyyyMMdd:HHmmss` in local time, as milliseconds since 1970.
fn parse_timestamp(text: &str) -> Result<u64> {
    let bad = || {
        ShellError::Illegal(format!(
            "Unable to parse the specified timestamp {text}. The expected format is yyyyMMdd:HHmmss"
        ))
    };
    let digits = |range: std::ops::Range<usize>| {
        let part = text.get(range).filter(|part| part.bytes().all(|b| b.is_ascii_digit())).ok_or_else(bad)?;
        part.parse::<i64>().map_err(|_| bad())
    };
    if text.len() < 15 || text.as_bytes()[8] != b':' {
        return Err(bad());
    }
    let days = days_from_civil(digits(0..4)?, digits(4..6)?, digits(6..8)?);
    let utc_ms = (days * 86_400 + digits(9..11)? * 3600 + digits(11..13)? * 60 + digits(13..15)?) * 1000;
    // The zone's offset at that time: what local time shows for it, less it. Twice, since the first guess may lie on the
    // other side of a change of the clock.
    let offset_at = |ms: i64| {
        let t = local_time(ms);
        let days = days_from_civil(t.year.into(), t.month.into(), t.day.into());
        (days * 86_400 + i64::from(t.hour * 3600 + t.minute * 60 + t.second)) * 1000 - ms.div_euclid(1000) * 1000
    };
    let guess = utc_ms - offset_at(utc_ms);
    u64::try_from(utc_ms - offset_at(guess)).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_local_time() {
        let ms = parse_timestamp("20200203:040506").unwrap().cast_signed();
        let t = local_time(ms);
        assert_eq!((t.year, t.month, t.day, t.hour, t.minute, t.second), (2020, 2, 3, 4, 5, 6));
        for bad in ["2020", "20200203-040506", "2020ab03:040506"] {
            assert!(parse_timestamp(bad).is_err(), "{bad}");
        }
    }
}
