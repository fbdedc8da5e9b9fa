//! `-cat`, `-text`, `-head`, `-tail`. Source: `Display.java`, `Head.java`, `Tail.java`, Hadoop 3.5.0.

use super::copy::print_all;
use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use super::text;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::Duration;

const CAT: CommandFormat = CommandFormat::new(1, usize::MAX, &["ignoreCrc"]);
const HEAD: CommandFormat = CommandFormat::new(1, 1, &[]);
const TAIL: CommandFormat = CommandFormat::new(1, 1, &["f"]).valued(&["s"]);
/// What `-head` and `-tail` show.
const PART: u64 = 1024;
/// `-tail -f` looks again after this.
const FOLLOW_DELAY: Duration = Duration::from_secs(5);

struct Cat {
    verify: bool,
    /// `-text`: decompress what is compressed, and write records as text.
    text: bool,
}

/// Runs `-cat`, or `-text`.
pub fn cat(shell: &mut Shell<'_>, arguments: &[String], text: bool) -> Result<()> {
    let options = CAT.parse(arguments)?;
    process(&mut Cat { verify: !options.has("ignoreCrc"), text }, shell, &options.arguments)
}

impl Command for Cat {
    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if item.is_dir() {
            return Err(ShellError::is_directory(&item.text));
        }
        let mut source = item.fs.open(&item.path, self.verify)?;
        let kind = if self.text { text::kind_of(&mut source, &item.path)? } else { text::Kind::Plain };
        match kind {
            text::Kind::Plain => print_all(shell, |out| source.copy_to(out)),
            kind => print_all(shell, |out| text::print(&kind, source, out)),
        }
    }
}

struct Head;

pub fn head(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = HEAD.parse(arguments)?;
    process(&mut Head, shell, &options.arguments)
}

impl Command for Head {
    fn expand(&mut self, shell: &mut Shell<'_>, text: &str) -> Result<Vec<PathData>> {
        shell.literal(text)
    }

    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if item.is_dir() {
            return Err(ShellError::is_directory(&item.text));
        }
        let source = item.fs.open(&item.path, true)?;
        print_all(shell, |out| io::copy(&mut source.take(PART), out))
    }
}

struct Tail {
    follow: bool,
    delay: Duration,
}

pub fn tail(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = TAIL.parse(arguments)?;
    let delay = match options.value("s").map(str::parse) {
        Some(Ok(ms)) if ms > 0 => Duration::from_millis(ms),
        _ => FOLLOW_DELAY,
    };
    process(&mut Tail { follow: options.has("f"), delay }, shell, &options.arguments)
}

impl Tail {
    /// Prints from `offset` on: where it ended.
    fn print_from(shell: &mut Shell<'_>, item: &PathData, offset: Option<u64>) -> Result<u64> {
        let mut source = item.fs.open(&item.path, true)?;
        // The reader knows what a writer has flushed, the NameNode does not.
        let length = source.seek(SeekFrom::End(0))?;
        let from = offset.unwrap_or(length.saturating_sub(PART));
        if from > length {
            return Ok(length);
        }
        source.seek(SeekFrom::Start(from))?;
        print_all(shell, |out| source.copy_to(out))?;
        Ok(length)
    }
}

impl Command for Tail {
    fn expand(&mut self, shell: &mut Shell<'_>, text: &str) -> Result<Vec<PathData>> {
        shell.literal(text)
    }

    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        if item.is_dir() {
            return Err(ShellError::is_directory(&item.text));
        }
        let mut offset = Self::print_from(shell, item, None)?;
        if !self.follow {
            return Ok(());
        }
        loop {
            shell.flush();
            shell.out.check()?;
            std::thread::sleep(self.delay);
            offset = Self::print_from(shell, item, Some(offset))?;
        }
    }
}
