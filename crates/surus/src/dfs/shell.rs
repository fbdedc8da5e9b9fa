//! What all commands share: the output, the error count, the file systems, and the walk over the paths of the command
//! line. Source: `Command.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::fs::{Fs, PathData};
use super::uri::PathUri;
use std::collections::HashMap;
use std::io::{self, Write};
use surus_client::DfsClient;
use surus_conf::{Configuration, keys};

/// Output is collected up to this many bytes.
const OUT_BUFFER: usize = 64 << 10;

/// One command being run.
pub struct Shell<'a> {
    pub conf: &'a Configuration,
    /// Name of the command without its dash.
    pub name: String,
    pub out: Out,
    /// Paths that failed.
    pub errors: u32,
    /// What the command returns when no path failed.
    pub exit_code: i32,
    /// How far below the command line's path the walk is.
    pub depth: u32,
    clients: HashMap<String, DfsClient>,
}

/// Standard output, buffered. A reader that went away ends the command.
pub struct Out {
    buffer: Vec<u8>,
    failed: bool,
}

impl Out {
    fn new() -> Self {
        Out { buffer: Vec::with_capacity(4096), failed: false }
    }

    /// One line.
    pub fn line(&mut self, text: &str) {
        self.text(text);
        self.text("\n");
    }

    pub fn text(&mut self, text: &str) {
        // A failure is kept and found by `check`.
        let _ = self.write_all(text.as_bytes());
    }

    /// # Errors
    /// `OutputClosed` once nothing can be written.
    pub fn check(&mut self) -> Result<()> {
        if self.failed { Err(ShellError::OutputClosed) } else { Ok(()) }
    }

    fn write_through(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(io::stdout(), bytes) {
                Ok(len) => bytes = &bytes[len..],
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    self.failed = true;
                    return Err(match error {
                        rustix::io::Errno::PIPE => io::ErrorKind::BrokenPipe.into(),
                        other => other.into(),
                    });
                }
            }
        }
        Ok(())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if self.buffer.len() + bytes.len() > OUT_BUFFER {
            self.flush()?;
        }
        if bytes.len() >= OUT_BUFFER / 4 {
            self.flush()?;
            self.write_through(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.write_through(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
        written
    }
}

impl<'a> Shell<'a> {
    pub fn new(conf: &'a Configuration, name: &str) -> Self {
        Shell {
            conf,
            name: name.to_string(),
            out: Out::new(),
            errors: 0,
            exit_code: 0,
            depth: 0,
            clients: HashMap::new(),
        }
    }

    /// The file system of a path as the user wrote it.
    ///
    /// # Errors
    /// A scheme or an address that is none.
    pub fn fs_of(&mut self, text: &str) -> Result<Fs> {
        let default_fs = self.conf.get(keys::FS_DEFAULT_FS)?;
        let uri = PathUri::parse(text);
        let default_uri = PathUri::parse(&default_fs);
        let scheme = uri.scheme.or(default_uri.scheme).unwrap_or("file");
        let authority = match uri.scheme {
            None => default_uri.authority,
            Some(scheme) => uri.authority.or(default_uri.authority.filter(|_| default_uri.scheme == Some(scheme))),
        };
        match scheme {
            "file" => Ok(Fs::Local),
            "hdfs" => match authority {
                Some(authority) => Ok(Fs::Hdfs(self.client(&format!("hdfs://{authority}"))?)),
                None => Err(ShellError::Message(format!("Incomplete HDFS URI, no host: {text}"))),
            },
            scheme => Err(ShellError::Message(format!("No FileSystem for scheme \"{scheme}\""))),
        }
    }

    fn client(&mut self, uri: &str) -> Result<DfsClient> {
        if let Some(client) = self.clients.get(uri) {
            return Ok(client.clone());
        }
        let client = DfsClient::from_conf(self.conf, Some(uri))?;
        self.clients.insert(uri.to_string(), client.clone());
        Ok(client)
    }

    /// The default file system.
    pub fn default_fs(&mut self) -> Result<Fs> {
        self.fs_of("/")
    }

    /// Expands one argument; a pattern that matches nothing is an error.
    pub fn expand(&mut self, text: &str) -> Result<Vec<PathData>> {
        if text.is_empty() {
            return Err(ShellError::Illegal("Can not create a Path from an empty string".into()));
        }
        let fs = self.fs_of(text)?;
        let items = PathData::expand(&fs, text)?;
        if items.is_empty() { Err(ShellError::not_found(text)) } else { Ok(items) }
    }

    /// The one path of an argument that is no pattern, whatever it holds.
    pub fn literal(&mut self, text: &str) -> Result<Vec<PathData>> {
        if text.is_empty() {
            return Err(ShellError::Illegal("Can not create a Path from an empty string".into()));
        }
        let fs = self.fs_of(text)?;
        Ok(vec![PathData::look_up(&fs, text)?])
    }

    /// As `expand`, but a plain path is taken as it is: the call that follows says what is wrong with it.
    pub fn expand_quietly(&mut self, text: &str) -> Result<Vec<PathData>> {
        match self.expand(text) {
            Err(ShellError::NotFound(_)) if !text.contains(['*', '?', '[', '{']) => {
                let fs = self.fs_of(text)?;
                Ok(vec![PathData::new(&fs, text, None)])
            }
            other => other,
        }
    }

    /// Shows an error and goes on, unless it ends the command.
    pub fn display(&mut self, error: ShellError) -> Result<()> {
        match error {
            ShellError::Illegal(_) | ShellError::OutputClosed => Err(error),
            other => {
                self.errors += 1;
                let message = other.message();
                self.warn(message.split('\n').next().unwrap_or(""));
                Ok(())
            }
        }
    }

    /// `NAME: TEXT` on standard error.
    pub fn warn(&mut self, text: &str) {
        let _ = self.out.flush();
        eprintln!("{}: {text}", self.name);
    }

    pub fn flush(&mut self) {
        let _ = self.out.flush();
    }
}

/// A command that works path by path.
pub trait Command {
    /// Does its work on one path that exists.
    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()>;

    /// Does its work on a path of the command line where nothing is.
    fn missing(&mut self, _shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        Err(ShellError::not_found(&item.text))
    }

    /// Whether it goes down into directories after they had their turn.
    fn is_recursive(&self) -> bool {
        false
    }

    /// Whether it goes down into this one.
    fn goes_into(&self, item: &PathData) -> bool {
        self.is_recursive() && item.is_dir()
    }

    /// After a path and what is below it.
    fn after(&mut self, _shell: &mut Shell<'_>, _item: &PathData) -> Result<()> {
        Ok(())
    }

    fn expand(&mut self, shell: &mut Shell<'_>, text: &str) -> Result<Vec<PathData>> {
        shell.expand(text)
    }

    /// A path of the command line that exists.
    fn argument(&mut self, shell: &mut Shell<'_>, item: PathData) -> Result<()> {
        shell.depth = 0;
        self.paths(shell, None, vec![item])
    }

    /// Several paths of one directory, or one of the command line.
    fn paths(&mut self, shell: &mut Shell<'_>, parent: Option<&PathData>, items: Vec<PathData>) -> Result<()> {
        self.each_path(shell, parent, items)
    }

    fn each_path(&mut self, shell: &mut Shell<'_>, _parent: Option<&PathData>, items: Vec<PathData>) -> Result<()> {
        for item in items {
            let mut done = self.path(shell, &item);
            if done.is_ok() && self.goes_into(&item) {
                done = self.recurse(shell, &item);
            }
            if let Err(error) = done.and_then(|()| self.after(shell, &item)) {
                shell.display(error)?;
            }
        }
        shell.out.check()
    }

    /// Goes down into a directory.
    fn recurse(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        shell.depth += 1;
        let children = item.children();
        let done = children.and_then(|children| self.paths(shell, Some(item), children));
        shell.depth -= 1;
        done
    }
}

/// Expands the arguments and has the command do its work on each.
pub fn process(command: &mut dyn Command, shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let items = expand_all(command, shell, arguments)?;
    process_items(command, shell, items)
}

pub fn expand_all(command: &mut dyn Command, shell: &mut Shell<'_>, arguments: &[String]) -> Result<Vec<PathData>> {
    let mut items = Vec::new();
    for argument in arguments {
        match command.expand(shell, argument) {
            Ok(found) => items.extend(found),
            Err(error) => shell.display(error)?,
        }
    }
    Ok(items)
}

pub fn process_items(command: &mut dyn Command, shell: &mut Shell<'_>, items: Vec<PathData>) -> Result<()> {
    for item in items {
        let done = if item.exists() { command.argument(shell, item) } else { command.missing(shell, &item) };
        if let Err(error) = done {
            shell.display(error)?;
        }
    }
    Ok(())
}
