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

/// The paths of `-concat`: the target first.
struct Concat {
    paths: Vec<PathData>,
}

pub fn concat(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = CONCAT.parse(arguments)?;
    let mut concat = Concat { paths: Vec::new() };
    let items = expand_all(&mut concat, shell, &options.arguments)?;
    process_items(&mut concat, shell, items)?;
    if shell.errors > 0 {
        return Ok(());
    }
    if concat.paths.len() < 3 {
        return Err(ShellError::Message(
            "The number of source paths is less than 2. <target path> <src path> <src path> ...".into(),
        ));
    }
    let target = concat.paths.remove(0);
    let sources: Vec<String> = concat.paths.into_iter().map(|item| item.path).collect();
    match target.fs.client() {
        Some(client) => Ok(client.concat(&target.path, &sources)?),
        None => Err(ShellError::Message(format!("Dest filesystem '{}' doesn't support concat", target.fs.uri()))),
    }
}

impl Command for Concat {
    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        self.paths.push(item.clone());
        Ok(())
    }
}
