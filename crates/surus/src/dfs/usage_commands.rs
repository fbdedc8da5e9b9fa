//! `-du` and `-df`. Source: `FsUsage.java`, Hadoop 3.5.0.

use super::error::Result;
use super::format::CommandFormat;
use super::fs::{Fs, PathData};
use super::local;
use super::shell::{Command, Shell, process};
use super::show::{Table, percent, size};

const DU: CommandFormat = CommandFormat::new(0, usize::MAX, &["h", "s", "v", "x"]);
const DF: CommandFormat = CommandFormat::new(0, usize::MAX, &["h"]);

struct Du {
    human: bool,
    summary: bool,
    exclude_snapshots: bool,
    table: Table,
}

/// Runs `-du`; `-dus` is `-du -s`.
pub fn du(shell: &mut Shell<'_>, arguments: &[String], summary: bool) -> Result<()> {
    let options = DU.parse(arguments)?;
    let header: &[&str] = &["SIZE", "DISK_SPACE_CONSUMED_WITH_ALL_REPLICAS", "FULL_PATH_NAME"];
    let mut du = Du {
        human: options.has("h"),
        summary: summary || options.has("s"),
        exclude_snapshots: options.has("x"),
        table: Table::new(options.has("v").then_some(header), &[]),
    };
    let mut paths = options.arguments;
    if paths.is_empty() {
        paths.push(".".into());
    }
    let done = process(&mut du, shell, &paths);
    shell.out.text(&du.table.print());
    done
}

impl Command for Du {
    fn argument(&mut self, shell: &mut Shell<'_>, item: PathData) -> Result<()> {
        shell.depth = 0;
        if !self.summary && item.is_dir() { self.recurse(shell, &item) } else { self.paths(shell, None, vec![item]) }
    }

    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let (mut length, mut consumed) = match item.fs.client() {
            Some(client) => {
                let summary = client.get_content_summary(&item.path)?;
                match self.exclude_snapshots {
                    true => (
                        summary.length.saturating_sub(summary.snapshot_length),
                        summary.space_consumed.saturating_sub(summary.snapshot_space_consumed),
                    ),
                    false => (summary.length, summary.space_consumed),
                }
            }
            None => (0, 0),
        };
        if matches!(item.fs, Fs::Local) {
            length = local_length(item)?;
            consumed = length;
        }
        self.table.row(vec![size(length, self.human), size(consumed, self.human), item.text.clone()]);
        Ok(())
    }
}

fn local_length(item: &PathData) -> Result<u64> {
    if !item.is_dir() {
        return Ok(item.status()?.length);
    }
    item.children()?.iter().map(local_length).sum()
}

struct Df {
    human: bool,
    table: Table,
}

pub fn df(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = DF.parse(arguments)?;
    let header: &[&str] = &["Filesystem", "Size", "Used", "Available", "Use%"];
    let mut df = Df { human: options.has("h"), table: Table::new(Some(header), &[1, 2, 3, 4]) };
    let mut paths = options.arguments;
    if paths.is_empty() {
        paths.push("/".into());
    }
    let done = process(&mut df, shell, &paths);
    shell.out.text(&df.table.print());
    done
}

impl Command for Df {
    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let (capacity, used, free) = match item.fs.client() {
            Some(client) => {
                let stats = client.get_fs_stats()?;
                (stats.capacity, stats.used, stats.remaining)
            }
            None => local::space(&item.path)?,
        };
        self.table.row(vec![
            item.fs.uri(),
            size(capacity, self.human),
            size(used, self.human),
            size(free, self.human),
            percent(used, capacity),
        ]);
        Ok(())
    }
}
