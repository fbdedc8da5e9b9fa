//! `-getmerge` and `-concat`. Source: `CopyCommands.Merge`, `Concat.java`, Hadoop 3.5.0.

use super::copy::local_destination;
use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, expand_all, process_items};
use std::io::Write;
use surus_client::CreateOptions;

const GETMERGE: CommandFormat = CommandFormat::new(2, usize::MAX, &["nl", "skip-empty-file"]);
const CONCAT: CommandFormat = CommandFormat::new(1, usize::MAX, &[]);

/// Collects the files first: a path that fails must not leave half a merged file.
struct Merge {
    sources: Vec<PathData>,
}

pub fn getmerge(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = GETMERGE.parse(arguments)?;
    let (newline, skip_empty) = (options.has("nl"), options.has("skip-empty-file"));
    let mut paths = options.arguments;
    let dst = local_destination(&mut paths)?;
    if dst.is_dir() {
        return Err(ShellError::is_directory(&dst.text));
    }
    let mut merge = Merge { sources: Vec::new() };
    let items = expand_all(&mut merge, shell, &paths)?;
    process_items(&mut merge, shell, items)?;
    if shell.errors > 0 {
        return Ok(());
    }
    let mut sink = dst.fs.create(&dst.path, &CreateOptions::default())?;
    for source in &merge.sources {
        let is_empty = source.status()?.length == 0;
        if !is_empty {
            source.fs.open(&source.path, true)?.copy_to(&mut sink)?;
        }
        if newline && !(is_empty && skip_empty) {
            sink.write_all(b"\n")?;
        }
    }
    sink.close()
}

impl Command for Merge {
    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        match (item.is_dir(), shell.depth) {
            (true, 0) => self.recurse(shell, item),
            (true, _) => Ok(()),
            (false, _) => {
                self.sources.push(item.clone());
                Ok(())
            }
        }
    }
}

/// Paths that are only expanded.
struct Paths;

pub fn concat(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = CONCAT.parse(arguments)?;
    let mut items = expand_all(&mut Paths, shell, &options.arguments)?;
    if items.len() < 3 {
        return Err(ShellError::Message(
            "The number of source paths is less than 2. <target path> <src path> <src path> ...".into(),
        ));
    }
    let is_file = |item: &PathData| item.exists() && !item.is_dir();
    let target = items.remove(0);
    if !is_file(&target) {
        return Err(ShellError::NotFound(format!("Target path {} does not exist or is not file.", target.qualified())));
    }
    if let Some(bad) = items.iter().find(|item| !is_file(item)) {
        return Err(ShellError::NotFound(format!("{} does not exist or is not file.", bad.qualified())));
    }
    let sources: Vec<String> = items.into_iter().map(|item| item.path).collect();
    match target.fs.client() {
        Some(client) => Ok(client.concat(&target.path, &sources)?),
        None => Err(ShellError::Message(format!("Dest filesystem '{}' doesn't support concat", target.fs.uri()))),
    }
}

impl Command for Paths {
    fn path(&mut self, _: &mut Shell<'_>, _: &PathData) -> Result<()> {
        Ok(())
    }
}
