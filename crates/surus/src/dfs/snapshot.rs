//! `-createSnapshot`, `-deleteSnapshot`, `-renameSnapshot`. Source: `SnapshotCommands.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::fs::PathData;
use super::shell::{Command, Shell, process};

enum Action {
    Create(Option<String>),
    Delete(String),
    Rename(String, String),
}

pub fn create(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    match arguments {
        [] => Err(ShellError::Illegal("<snapshotDir> is missing.".into())),
        [root] => run(shell, root, Action::Create(None)),
        [root, name] => run(shell, root, Action::Create(Some(name.clone()))),
        _ => Err(ShellError::Illegal("Too many arguments.".into())),
    }
}

pub fn delete(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    match arguments {
        [root, name] => run(shell, root, Action::Delete(name.clone())),
        _ => Err(ShellError::Illegal("Incorrect number of arguments.".into())),
    }
}

pub fn rename(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    match arguments {
        [root, old, new] => run(shell, root, Action::Rename(old.clone(), new.clone())),
        _ => Err(ShellError::Illegal("Incorrect number of arguments.".into())),
    }
}

fn run(shell: &mut Shell<'_>, root: &str, mut action: Action) -> Result<()> {
    process(&mut action, shell, &[root.to_string()])
}

impl Command for Action {
    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if !item.is_dir() {
            return Err(ShellError::is_not_directory(&item.text));
        }
        let Some(client) = item.fs.client() else {
            return Err(ShellError::Message("the local file system has no snapshots".into()));
        };
        let line = match self {
            Action::Create(name) => {
                let path = client.create_snapshot(&item.path, name.as_deref())?;
                format!("Created snapshot {path}")
            }
            Action::Delete(name) => {
                client.delete_snapshot(&item.path, name)?;
                format!("Deleted snapshot {name} under {}", item.qualified())
            }
            Action::Rename(old, new) => {
                client.rename_snapshot(&item.path, old, new)?;
                format!("Renamed snapshot {old} to {new} under {}", item.qualified())
            }
        };
        shell.out.line(&line);
        Ok(())
    }
}
