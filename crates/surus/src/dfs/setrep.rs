//! `-setrep`. Source: `SetReplication.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use std::time::{Duration, Instant};
use surus_client::FileStatus;

const FORMAT: CommandFormat = CommandFormat::new(2, usize::MAX, &["R", "w"]);
/// A dot is printed after each such wait.
const DOT_EVERY: Duration = Duration::from_secs(10);
/// How often the replicas are counted in between.
const POLL_EVERY: Duration = Duration::from_millis(500);

struct SetReplication {
    replication: u16,
    wait: bool,
    waiting: Vec<PathData>,
}

pub fn run(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = FORMAT.parse(arguments)?;
    let mut paths = options.arguments.clone();
    let text = paths.remove(0);
    let replication: i16 = text.parse().map_err(|_| {
        shell.warn("Illegal replication, a positive integer expected");
        ShellError::Illegal(match text.parse::<i32>() {
            Ok(_) => format!("Value out of range. Value:\"{text}\" Radix:10"),
            Err(_) => format!("For input string: \"{text}\""),
        })
    })?;
    if replication < 1 {
        return Err(ShellError::Illegal("replication must be >= 1".into()));
    }
    let mut command =
        SetReplication { replication: replication.unsigned_abs(), wait: options.has("w"), waiting: Vec::new() };
    process(&mut command, shell, &paths)?;
    for item in std::mem::take(&mut command.waiting) {
        command.wait_for(shell, &item)?;
    }
    Ok(())
}

impl SetReplication {
    fn wait_for(&self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let Some(client) = item.fs.client() else { return Ok(()) };
        shell.out.text(&format!("Waiting for {} ...", item.text));
        let mut warned = false;
        loop {
            shell.flush();
            let until = Instant::now() + DOT_EVERY;
            loop {
                let length = item.status()?.length;
                let blocks = client.get_block_locations(&item.path, 0, length.max(1))?.blocks;
                let wrong = blocks.iter().map(|b| b.locs.len()).find(|count| *count != usize::from(self.replication));
                let Some(count) = wrong else {
                    shell.out.line(" done");
                    return Ok(());
                };
                if !warned && count > usize::from(self.replication) {
                    shell
                        .out
                        .text("\nWARNING: the waiting time may be long for DECREASING the number of replications.\n");
                    shell.flush();
                    warned = true;
                }
                if Instant::now() >= until {
                    break;
                }
                std::thread::sleep(POLL_EVERY);
            }
            shell.out.text(".");
        }
    }
}

impl Command for SetReplication {
    fn is_recursive(&self) -> bool {
        true
    }

    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let stat = item.status()?;
        if stat.is_dir {
            return Ok(());
        }
        if stat.flags & FileStatus::HAS_EC != 0 {
            shell.out.line(&format!("Did not set replication for: {}, because it's an erasure coded file.", item.text));
            return Ok(());
        }
        let set = match item.fs.client() {
            Some(client) => client.set_replication(&item.path, self.replication)?,
            None => true,
        };
        if !set {
            return Err(ShellError::Message(format!("Could not set replication for: {}", item.text)));
        }
        shell.out.line(&format!("Replication {} set: {}", self.replication, item.text));
        if self.wait {
            self.waiting.push(item.clone());
        }
        Ok(())
    }
}
