//! `-help` and `-usage`. Source: `FsShell.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::shell::Shell;
use super::usage;

pub fn help(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    show(shell, arguments, &usage::help_all(), usage::help)
}

pub fn usage(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    show(shell, arguments, &usage::all(), usage::one)
}

fn show(shell: &mut Shell<'_>, arguments: &[String], all: &str, one: fn(&usage::CommandRow) -> String) -> Result<()> {
    if arguments.is_empty() {
        shell.out.text(all);
    }
    for argument in arguments {
        let name = argument.strip_prefix('-').unwrap_or(argument);
        let row = usage::find(name).ok_or_else(|| ShellError::Illegal(format!("`{argument}': Unknown command")))?;
        shell.out.text(&one(row));
    }
    Ok(())
}
