//! `-truncate`. Source: `Truncate.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use std::time::Duration;

const FORMAT: CommandFormat = CommandFormat::new(2, usize::MAX, &["w"]);
const POLL_EVERY: Duration = Duration::from_millis(500);

struct Truncate {
    length: u64,
    wait: bool,
    waiting: Vec<PathData>,
}

pub fn run(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = FORMAT.parse(arguments)?;
    let mut paths = options.arguments.clone();
    let text = paths.remove(0);
    let length: i64 = text.parse().map_err(|_| {
        shell.warn("Illegal length, a non-negative integer expected");
        ShellError::Illegal(format!("For input string: \"{text}\""))
    })?;
    let Ok(length) = u64::try_from(length) else {
        return Err(ShellError::Illegal("length must be >= 0".into()));
    };
    let mut command = Truncate { length, wait: options.has("w"), waiting: Vec::new() };
    process(&mut command, shell, &paths)?;
    for mut item in std::mem::take(&mut command.waiting) {
        shell.out.text(&format!("Waiting for {} ...", item.text));
        loop {
            shell.flush();
            item.refresh()?;
            if item.status()?.length == length && is_closed(&item)? {
                break;
            }
            std::thread::sleep(POLL_EVERY);
        }
        shell.out.line(&format!("\nTruncated {} to length: {length}", item.text));
    }
    Ok(())
}

fn is_closed(item: &PathData) -> Result<bool> {
    match item.fs.client() {
        Some(client) => Ok(client.is_file_closed(&item.path)?),
        None => Ok(true),
    }
}

impl Command for Truncate {
    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let stat = item.status()?;
        if stat.is_dir {
            return Err(ShellError::is_directory(&item.text));
        }
        if self.length > stat.length {
            return Err(ShellError::Illegal(format!(
                "Cannot truncate to a larger file size. Current size: {}, truncate size: {}.",
                stat.length, self.length
            )));
        }
        let done = match item.fs.client() {
            Some(client) => client.truncate(&item.path, self.length)?,
            None => {
                std::fs::OpenOptions::new().write(true).open(&item.path)?.set_len(self.length)?;
                true
            }
        };
        match (done, self.wait) {
            (true, _) => shell.out.line(&format!("Truncated {} to length: {}", item.text, self.length)),
            (false, true) => self.waiting.push(item.clone()),
            (false, false) => shell.out.line(&format!(
                "Truncating {} to length: {}. Wait for block recovery to complete before further updating this file.",
                item.text, self.length
            )),
        }
        Ok(())
    }
}
