//! `-appendToFile`. Source: `CopyCommands.AppendToFile`, Hadoop 3.5.0.

use super::copy::remote_destination;
use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::{Fs, PathData, Sink};
use super::progress::Progress;
use super::shell::Shell;
use std::io::Read;
use surus_client::CreateOptions;

const FORMAT: CommandFormat = CommandFormat::new(0, usize::MAX, &["n"]);

pub fn run(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let options = FORMAT.parse(arguments)?;
    let mut paths = options.arguments.clone();
    if paths.len() < 2 {
        return Err(ShellError::Message("missing destination argument".into()));
    }
    let dst = remote_destination(shell, &mut paths)?;
    let from_stdin = paths == ["-"];
    let mut sources = Vec::new();
    if !from_stdin {
        for text in &paths {
            if text == "-" {
                return Err(ShellError::Message("\"-\" and local files cannot be mixed".into()));
            }
            // All sources are opened before anything is written.
            let source = PathData::look_up(&Fs::Local, text)?;
            if !source.exists() {
                return Err(ShellError::NotFound(text.clone()));
            }
            sources.push((source.fs.open(&source.path, true)?, source));
        }
    }
    let mut sink = open(&dst, options.has("n"))?;
    if from_stdin {
        copy(&mut sink, &mut std::io::stdin().lock(), &mut Progress::new(&dst.text, None))?;
    }
    for (mut file, source) in sources {
        let length = source.stat.as_ref().map(|stat| stat.length);
        copy(&mut sink, &mut file, &mut Progress::new(&dst.text, length))?;
    }
    sink.close()
}

fn copy(sink: &mut Sink, source: &mut dyn Read, progress: &mut Progress) -> Result<()> {
    sink.write_from(&mut progress.reading(source))?;
    Ok(())
}

fn open(dst: &PathData, new_block: bool) -> Result<Sink> {
    if dst.is_dir() {
        return Err(ShellError::Message(format!(
            "Cannot append to directory {}; already exists as a directory.",
            dst.path
        )));
    }
    match (&dst.fs, dst.exists()) {
        (fs, false) => fs.create(&dst.path, &CreateOptions { overwrite: false, ..CreateOptions::default() }),
        (Fs::Hdfs(client), true) => Ok(Sink::Hdfs(Box::new(client.append(&dst.path, new_block)?))),
        (Fs::Local, true) => {
            let file = std::fs::OpenOptions::new().append(true).open(&dst.path)?;
            Ok(Sink::Local(file))
        }
    }
}
