//! `-stat` and `-test`. Source: `Stat.java`, `Test.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use super::show::utc_second;
use surus_client::FileStatus;
use surus_types::{ExceptionClass, FsAction};

const STAT: CommandFormat = CommandFormat::new(1, usize::MAX, &["R"]);
const TEST: CommandFormat = CommandFormat::new(1, 1, &["e", "d", "f", "s", "z", "w", "r"]);

struct Stat {
    format: String,
}

pub fn stat(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let mut rest = STAT.parse(arguments)?.arguments;
    let format = if rest[0].contains('%') { rest.remove(0) } else { "%y".to_string() };
    let rest = STAT.parse(&rest)?.arguments;
    process(&mut Stat { format }, shell, &rest)
}

impl Command for Stat {
    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let text = format_status(&self.format, item.status()?, item.name());
        shell.out.line(&text);
        Ok(())
    }
}

fn format_status(format: &str, stat: &FileStatus, name: &str) -> String {
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            None => break,
            Some('a') => out += &format!("{:o}", stat.permission.0),
            Some('A') => out += &stat.permission.to_string(),
            Some('b') => out += &stat.length.to_string(),
            Some('F') => {
                out += match (&stat.symlink, stat.is_dir) {
                    (Some(_), _) => "symlink",
                    (None, true) => "directory",
                    (None, false) => "regular file",
                }
            }
            Some('g') => out += &stat.group,
            Some('n') => out += name,
            Some('o') => out += &stat.block_size.to_string(),
            Some('r') => out += &stat.replication.to_string(),
            Some('u') => out += &stat.owner,
            Some('x') => out += &utc_second(stat.access_time_ms),
            Some('X') => out += &stat.access_time_ms.to_string(),
            Some('y') => out += &utc_second(stat.modification_time_ms),
            Some('Y') => out += &stat.modification_time_ms.to_string(),
            Some(other) => out.push(other),
        }
    }
    out
}

struct Test {
    flag: &'static str,
}

pub fn test(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = TEST.parse(arguments)?;
    let flag = match options.flags() {
        [] => return Err(ShellError::Illegal("No test flag given".into())),
        [flag] => *flag,
        _ => return Err(ShellError::Illegal("Only one test flag is allowed".into())),
    };
    process(&mut Test { flag }, shell, &options.arguments)
}

impl Command for Test {
    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let stat = item.status()?;
        let passed = match self.flag {
            "d" => stat.is_dir,
            "f" => !stat.is_dir,
            "s" => stat.length > 0,
            "z" => stat.length == 0,
            "w" => may(item, FsAction::WRITE)?,
            "r" => may(item, FsAction::READ)?,
            _ => true,
        };
        if !passed {
            shell.exit_code = 1;
        }
        Ok(())
    }

    fn missing(&mut self, shell: &mut Shell<'_>, _: &PathData) -> Result<()> {
        shell.exit_code = 1;
        Ok(())
    }
}

fn may(item: &PathData, action: FsAction) -> Result<bool> {
    let Some(client) = item.fs.client() else { return Ok(true) };
    match client.check_access(&item.path, action) {
        Ok(()) => Ok(true),
        Err(error) if error.is(ExceptionClass::AccessControl) || error.is(ExceptionClass::FileNotFound) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_types::FsPermission;

    #[test]
    fn every_letter_of_the_format() {
        let stat = FileStatus {
            path: "/t/h".into(),
            is_dir: false,
            symlink: None,
            length: 49,
            permission: FsPermission(0o644),
            owner: "root".into(),
            group: "g".into(),
            modification_time_ms: 1_796_044_774_066,
            access_time_ms: 1_796_044_773_197,
            replication: 1,
            block_size: 128,
            file_id: 1,
            children: None,
            flags: 0,
            storage_policy: 0,
            ec_policy: None,
        };
        assert_eq!(
            format_status("%a %A %b %F %g %n %o %r %u %x %X %y %Y %% %Q%", &stat, "h"),
            "644 rw-r--r-- 49 regular file g h 128 1 root 2026-11-30 13:19:33 1796044773197 2026-11-30 13:19:34 1796044774066 % Q"
        );
    }
}
