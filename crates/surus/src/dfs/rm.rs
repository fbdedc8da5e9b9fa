//! `-rm`, `-rmdir` and `-expunge`. Source: `Delete.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::{Fs, PathData};
use super::shell::{Command, Shell, process};
use super::trash;
use std::io::BufRead;
use surus_conf::keys;

const RM: CommandFormat = CommandFormat::new(1, usize::MAX, &["f", "r", "R", "skipTrash", "safely"]);
const RMDIR: CommandFormat = CommandFormat::new(1, usize::MAX, &["-ignore-fail-on-non-empty"]);
const EXPUNGE: CommandFormat = CommandFormat::new(0, 1, &["immediate"]).valued(&["fs"]);

struct Rm {
    force: bool,
    recursive: bool,
    skip_trash: bool,
    safely: bool,
}

/// Runs `-rm`; `-rmr` is `-rm -r`.
pub fn rm(shell: &mut Shell<'_>, arguments: &[String], recursive: bool) -> Result<()> {
    let options = RM.parse(arguments)?;
    let mut rm = Rm {
        force: options.has("f"),
        recursive: recursive || options.has("r") || options.has("R"),
        skip_trash: options.has("skipTrash"),
        safely: options.has("safely"),
    };
    process(&mut rm, shell, &options.arguments)
}

impl Rm {
    fn move_to_trash(&self, shell: &mut Shell<'_>, item: &PathData) -> Result<bool> {
        let Fs::Hdfs(client) = &item.fs else { return Ok(false) };
        if self.skip_trash {
            return Ok(false);
        }
        match trash::move_to_trash(client, &item.path) {
            Ok(None) => Ok(false),
            Ok(Some(moved)) => {
                shell.flush();
                tracing::info!(target: "fs.TrashPolicyDefault", "Moved: '{}' to trash at: {}", moved.from, moved.to);
                Ok(true)
            }
            Err(error @ (ShellError::NotFound(_) | ShellError::Illegal(_))) => Err(error),
            Err(error) => Err(ShellError::Message(format!("{}. Consider using -skipTrash option", error.message()))),
        }
    }

    /// Asks where much would go.
    fn may_delete(&self, shell: &mut Shell<'_>, item: &PathData) -> Result<bool> {
        let limit = u64::try_from(shell.conf.get(keys::HADOOP_SHELL_SAFELY_DELETE_LIMIT_NUM_FILES)?).unwrap_or(0);
        let Some(client) = item.fs.client().filter(|_| self.safely && limit > 0) else { return Ok(true) };
        let files = client.get_content_summary(&item.path)?.file_count;
        if files <= limit {
            return Ok(true);
        }
        shell.flush();
        if confirm(&format!("Proceed deleting {files} files?"), &mut std::io::stdin().lock()) {
            return Ok(true);
        }
        eprintln!("Delete aborted at user request.\n");
        Ok(false)
    }
}

/// Asks until the answer is yes or no. Source: `ToolRunner.confirmPrompt`.
fn confirm(question: &str, answers: &mut dyn BufRead) -> bool {
    loop {
        eprint!("{question} (Y or N) ");
        let mut answer = String::new();
        match answers.read_line(&mut answer) {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return true,
            "n" | "no" => return false,
            other => eprintln!("Invalid input: {other}"),
        }
    }
}

impl Command for Rm {
    fn expand(&mut self, shell: &mut Shell<'_>, text: &str) -> Result<Vec<PathData>> {
        match shell.expand(text) {
            Err(ShellError::NotFound(_)) if self.force => Ok(Vec::new()),
            other => other,
        }
    }

    fn missing(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if self.force { Ok(()) } else { Err(ShellError::not_found(&item.text)) }
    }

    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if item.is_dir() && !self.recursive {
            return Err(ShellError::is_directory(&item.text));
        }
        if self.move_to_trash(shell, item)? || !self.may_delete(shell, item)? {
            return Ok(());
        }
        if !item.fs.delete(&item.path, self.recursive)? {
            return Err(ShellError::failed(&item.text));
        }
        shell.out.line(&format!("Deleted {}", item.text));
        Ok(())
    }
}

struct Rmdir {
    ignore_non_empty: bool,
}

pub fn rmdir(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = RMDIR.parse(arguments)?;
    let ignore_non_empty = options.has("-ignore-fail-on-non-empty");
    process(&mut Rmdir { ignore_non_empty }, shell, &options.arguments)
}

impl Command for Rmdir {
    fn path(&mut self, _: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if !item.is_dir() {
            return Err(ShellError::is_not_directory(&item.text));
        }
        let is_empty = match item.fs.client() {
            Some(client) => client.get_listing(&item.path, b"")?.is_none_or(|page| page.entries.is_empty()),
            None => item.fs.list(&item.path)?.is_empty(),
        };
        match (is_empty, self.ignore_non_empty) {
            (false, true) => Ok(()),
            (false, false) => Err(ShellError::path(&item.text, "Directory is not empty")),
            (true, _) if item.fs.delete(&item.path, false)? => Ok(()),
            (true, _) => Err(ShellError::failed(&item.text)),
        }
    }
}

pub fn expunge(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = EXPUNGE.parse(arguments)?;
    if !options.arguments.is_empty() {
        return Err(ShellError::Illegal("Too many arguments: expected 0 but got 1".into()));
    }
    let fs = match options.value("fs") {
        Some(uri) => shell.fs_of(uri)?,
        None => shell.default_fs()?,
    };
    match fs {
        Fs::Hdfs(client) => trash::expunge(&client, options.has("immediate")),
        Fs::Local => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_wants_a_clear_answer() {
        assert!(confirm("?", &mut "maybe\nYES\n".as_bytes()));
        assert!(!confirm("?", &mut "n\n".as_bytes()));
        assert!(!confirm("?", &mut "".as_bytes()));
    }
}
