//! `-cat`, `-text`, `-head`, `-tail`. Source: `Display.java`, `Head.java`, `Tail.java`, Hadoop 3.5.0.

use super::copy::print_all;
use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::{PathData, Source};
use super::shell::{Command, Shell, process};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
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
    /// `-text`: decompress what is compressed.
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
        match if self.text { compression_of(&mut source, &item.path)? } else { Compression::None } {
            Compression::None => print_all(shell, |out| source.copy_to(out)),
            Compression::Gzip => print_decoded(shell, MultiGzDecoder::new(source)),
            Compression::Zlib => print_decoded(shell, ZlibDecoder::new(source)),
            Compression::Other(what) => {
                Err(ShellError::Message(format!("{}: {what} is not supported by surus dfs -text", item.text)))
            }
        }
    }
}

fn print_decoded(shell: &mut Shell<'_>, mut decoder: impl Read) -> Result<()> {
    print_all(shell, |out| match io::copy(&mut decoder, out) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(io::Error::other("Unexpected end of input stream"))
        }
        other => other,
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zlib,
    Other(&'static str),
}

/// What a file is by its first bytes, else by its name. Leaves the source at its start.
fn compression_of(source: &mut Source, path: &str) -> Result<Compression> {
    let mut lead = [0; 3];
    let mut filled = 0;
    while filled < lead.len() {
        match source.read(&mut lead[filled..])? {
            0 => break,
            len => filled += len,
        }
    }
    source.seek(SeekFrom::Start(0))?;
    Ok(compression(&lead[..filled], path))
}

fn compression(lead: &[u8], path: &str) -> Compression {
    match lead {
        [] | [_] => Compression::None,
        [0x1f, 0x8b, ..] => Compression::Gzip,
        b"SEQ" => Compression::Other("a SequenceFile"),
        b"Obj" => Compression::Other("an Avro file"),
        _ => match path.rsplit('.').next().unwrap_or("") {
            "gz" => Compression::Gzip,
            "deflate" => Compression::Zlib,
            "bz2" => Compression::Other("bzip2"),
            "snappy" => Compression::Other("snappy"),
            "lz4" => Compression::Other("lz4"),
            "zst" => Compression::Other("zstd"),
            _ => Compression::None,
        },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_found_by_bytes_and_then_by_name() {
        assert_eq!(compression(&[0x1f, 0x8b, 8], "/x"), Compression::Gzip);
        assert_eq!(compression(b"abc", "/x.deflate"), Compression::Zlib);
        assert_eq!(compression(b"abc", "/x.txt"), Compression::None);
        assert_eq!(compression(b"a", "/x.gz"), Compression::None);
        assert_eq!(compression(b"SEQ", "/x"), Compression::Other("a SequenceFile"));
    }
}
