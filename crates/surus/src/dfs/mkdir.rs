//! `-mkdir`. Source: `Mkdir.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use super::uri::parent;

const FORMAT: CommandFormat = CommandFormat::new(1, usize::MAX, &["p"]);

struct Mkdir {
    parents: bool,
}

pub fn run(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = FORMAT.parse(arguments)?;
    process(&mut Mkdir { parents: options.has("p") }, shell, &options.arguments)
}

impl Command for Mkdir {
    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        match (item.is_dir(), self.parents) {
            (true, true) => Ok(()),
            (true, false) => Err(ShellError::exists(&item.text)),
            (false, _) => Err(ShellError::is_not_directory(&item.text)),
        }
    }

    fn missing(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if !self.parents
            && let Some(parent) = parent(&item.path)
            && !item.fs.exists(parent)?
        {
            return Err(ShellError::not_found(&item.fs.qualified(parent)));
        }
        if item.fs.mkdirs(&item.path)? { Ok(()) } else { Err(ShellError::failed(&item.text)) }
    }
}
