//! `-ls`. Source: `Ls.java`, Hadoop 3.5.0.

use super::error::Result;
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use super::show;
use std::fmt::Write;

const FORMAT: CommandFormat = CommandFormat::new(0, usize::MAX, &["C", "d", "h", "q", "R", "t", "S", "r", "u", "e"]);
/// Lines whose columns are made equally wide in a listing that is printed as it comes.
const GROUP: usize = 100;

/// Options, and the widths of the columns, which only grow.
pub struct Ls {
    path_only: bool,
    /// `-d`: directories as plain files.
    plain: bool,
    human: bool,
    hide_non_printable: bool,
    recursive: bool,
    by_time: bool,
    by_size: bool,
    reverse: bool,
    access_time: bool,
    ec_policy: bool,
    widths: Widths,
}

#[derive(Clone, Copy)]
struct Widths {
    replication: usize,
    length: usize,
    owner: usize,
    group: usize,
    ec_policy: usize,
}

/// Runs `-ls`; `-lsr` is `-ls -R`.
pub fn run(shell: &mut Shell<'_>, arguments: &[String], recursive: bool) -> Result<()> {
    let options = FORMAT.parse(arguments)?;
    let by_time = options.has("t");
    let mut ls = Ls {
        path_only: options.has("C"),
        plain: options.has("d"),
        human: options.has("h"),
        hide_non_printable: options.has("q"),
        recursive: (recursive || options.has("R")) && !options.has("d"),
        by_time,
        by_size: options.has("S") && !by_time,
        reverse: options.has("r"),
        access_time: options.has("u"),
        ec_policy: options.has("e"),
        widths: Widths { replication: 3, length: 10, owner: 0, group: 0, ec_policy: 0 },
    };
    let mut paths = options.arguments;
    if paths.is_empty() {
        paths.push(".".to_string());
    }
    process(&mut ls, shell, &paths)
}

impl Ls {
    fn time(&self, item: &PathData) -> u64 {
        item.stat.as_ref().map_or(0, |s| if self.access_time { s.access_time_ms } else { s.modification_time_ms })
    }

    fn sort(&self, items: &mut [PathData]) {
        let length = |item: &PathData| item.stat.as_ref().map_or(0, |s| s.length);
        items.sort_by(|a, b| {
            // What is equal stays in the order of the listing, also in reverse.
            let order = if self.by_time {
                self.time(b).cmp(&self.time(a))
            } else if self.by_size {
                length(b).cmp(&length(a))
            } else {
                a.path.cmp(&b.path)
            };
            if self.reverse { order.reverse() } else { order }
        });
    }

    fn widen(&mut self, items: &[PathData]) {
        let widths = &mut self.widths;
        for stat in items.iter().filter_map(|item| item.stat.as_ref()) {
            widths.replication = widths.replication.max(digits(stat.replication.into()));
            widths.length = widths.length.max(digits(stat.length));
            widths.owner = widths.owner.max(stat.owner.chars().count());
            widths.group = widths.group.max(stat.group.chars().count());
        }
    }

    fn policy_of(item: &PathData) -> Result<String> {
        match item.fs.client() {
            Some(client) => Ok(client.get_content_summary(&item.path)?.ec_policy),
            None => Ok(String::new()),
        }
    }

    fn shown(&self, text: &str) -> String {
        if !self.hide_non_printable {
            return text.to_string();
        }
        text.chars().map(|c| if c.is_control() || c == '\u{fffd}' { '?' } else { c }).collect()
    }
}

fn digits(n: u64) -> usize {
    n.checked_ilog10().map_or(1, |log| log as usize + 1)
}

impl Command for Ls {
    fn is_recursive(&self) -> bool {
        self.recursive
    }

    fn argument(&mut self, shell: &mut Shell<'_>, item: PathData) -> Result<()> {
        shell.depth = 0;
        if !self.plain && item.is_dir() {
            return self.recurse(shell, &item);
        }
        self.paths(shell, None, vec![item])
    }

    fn recurse(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        shell.depth += 1;
        let sorted = !self.recursive || self.by_time || self.by_size || self.reverse;
        let done = match item.children_unsorted() {
            Err(error) => Err(error),
            Ok(children) if sorted => self.paths(shell, Some(item), children),
            // Printed as the server lists them, a hundred at a time.
            Ok(mut children) => {
                let mut done = Ok(());
                while !children.is_empty() && done.is_ok() {
                    let rest = children.split_off(children.len().min(GROUP));
                    done = self.paths(shell, Some(item), children);
                    children = rest;
                }
                done
            }
        };
        shell.depth -= 1;
        done
    }

    fn paths(&mut self, shell: &mut Shell<'_>, parent: Option<&PathData>, mut items: Vec<PathData>) -> Result<()> {
        if parent.is_some() && !self.recursive && !items.is_empty() && !self.path_only {
            shell.out.line(&format!("Found {} items", items.len()));
        }
        if !self.recursive || self.by_time || self.by_size || self.reverse {
            self.sort(&mut items);
        }
        self.widen(&items);
        if self.ec_policy {
            for item in &items {
                self.widths.ec_policy = self.widths.ec_policy.max(Self::policy_of(item)?.chars().count());
            }
        }
        self.each_path(shell, parent, items)
    }

    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let text = self.shown(&item.text);
        if self.path_only {
            shell.out.line(&text);
            return Ok(());
        }
        let stat = item.status()?;
        let widths = self.widths;
        let mut line = String::with_capacity(96);
        line.push(match (stat.is_dir, &stat.symlink) {
            (_, Some(_)) => 'l',
            (true, None) => 'd',
            (false, None) => '-',
        });
        let acl = if stat.has_acl() { "+" } else { " " };
        let replication = if stat.is_dir { "-".to_string() } else { stat.replication.to_string() };
        let _ = write!(
            line,
            "{}{acl}{replication:>rw$} {:<ow$}",
            stat.permission,
            stat.owner,
            rw = widths.replication,
            ow = widths.owner
        );
        line.push_str(if widths.owner > 0 { " " } else { "" });
        let _ = write!(line, "{:<gw$}", stat.group, gw = widths.group);
        line.push_str(if widths.group > 0 { " " } else { "" });
        if self.ec_policy && widths.ec_policy > 0 {
            let _ = write!(line, "{:<ew$} ", Self::policy_of(item)?, ew = widths.ec_policy);
        }
        let _ = write!(
            line,
            "{:>lw$} {} {text}",
            show::size(stat.length, self.human),
            show::minute(self.time(item)),
            lw = widths.length
        );
        shell.out.line(&line);
        Ok(())
    }
}
