//! A file system as the shell sees it: a cluster, or the machine's own files. And `PathData`: a path as the user wrote it
//! with what is there. Source: `PathData.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::local;
use super::uri::{PathUri, normalize, parent, relativize, represents_directory};
use std::io::{self, Read, Write};
use surus_client::glob::{Pattern, expand_slashes, unescape};
use surus_client::{CreateOptions, DfsClient, FileStatus, Reader, Writer};
use surus_types::FsPermission;

#[derive(Clone)]
pub enum Fs {
    Hdfs(DfsClient),
    Local,
}

/// A file open for reading.
pub enum Source {
    Hdfs(Box<Reader>),
    Local(std::fs::File),
}

/// A file open for writing.
pub enum Sink {
    Hdfs(Box<Writer>),
    Local(std::fs::File),
}

impl Fs {
    /// `hdfs://host:port` or `file:///`.
    pub fn uri(&self) -> String {
        match self {
            Fs::Hdfs(client) => client.uri(),
            Fs::Local => "file:///".to_string(),
        }
    }

    /// Whether both are one file system.
    pub fn is_same(&self, other: &Fs) -> bool {
        self.uri() == other.uri()
    }

    pub fn working_dir(&self) -> String {
        match self {
            Fs::Hdfs(client) => client.home_directory(),
            Fs::Local => std::env::current_dir().map_or("/".into(), |dir| dir.to_string_lossy().into_owned()),
        }
    }

    /// The whole name of an absolute path.
    pub fn qualified(&self, path: &str) -> String {
        match self {
            Fs::Hdfs(client) => format!("{}{path}", client.uri()),
            Fs::Local => format!("file://{path}"),
        }
    }

    /// The absolute path that the user means by `text`.
    pub fn path_of(&self, text: &str) -> String {
        normalize(PathUri::parse(text).path, &self.working_dir())
    }

    pub fn client(&self) -> Option<&DfsClient> {
        match self {
            Fs::Hdfs(client) => Some(client),
            Fs::Local => None,
        }
    }

    pub fn stat(&self, path: &str) -> Result<Option<FileStatus>> {
        match self {
            Fs::Hdfs(client) => Ok(client.get_file_info(path)?),
            Fs::Local => local::stat(path),
        }
    }

    pub fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.stat(path)?.is_some())
    }

    pub fn list(&self, path: &str) -> Result<Vec<FileStatus>> {
        match self {
            Fs::Hdfs(client) => Ok(client.list_status(path)?),
            Fs::Local => local::list(path),
        }
    }

    pub fn mkdirs(&self, path: &str) -> Result<bool> {
        match self {
            Fs::Hdfs(client) => Ok(client.mkdirs(path, FsPermission::DIR_DEFAULT, true)?),
            Fs::Local => local::mkdirs(path),
        }
    }

    pub fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        match self {
            Fs::Hdfs(client) => Ok(client.delete(path, recursive)?),
            Fs::Local => local::delete(path, recursive),
        }
    }

    pub fn rename(&self, from: &str, to: &str) -> Result<bool> {
        match self {
            Fs::Hdfs(client) => Ok(client.rename(from, to)?),
            Fs::Local => local::rename(from, to),
        }
    }

    pub fn set_permission(&self, path: &str, permission: FsPermission) -> Result<()> {
        match self {
            Fs::Hdfs(client) => Ok(client.set_permission(path, permission)?),
            Fs::Local => local::set_permission(path, permission),
        }
    }

    pub fn set_owner(&self, path: &str, user: Option<&str>, group: Option<&str>) -> Result<()> {
        match self {
            Fs::Hdfs(client) => Ok(client.set_owner(path, user, group)?),
            Fs::Local => local::set_owner(path, user, group),
        }
    }

    pub fn set_times(&self, path: &str, mtime_ms: Option<u64>, atime_ms: Option<u64>) -> Result<()> {
        match self {
            Fs::Hdfs(client) => Ok(client.set_times(path, mtime_ms, atime_ms)?),
            Fs::Local => local::set_times(path, mtime_ms, atime_ms),
        }
    }

    pub fn open(&self, path: &str, verify: bool) -> Result<Source> {
        match self {
            Fs::Hdfs(client) => {
                let mut reader = client.open(path)?;
                reader.set_verify_checksum(verify);
                Ok(Source::Hdfs(Box::new(reader)))
            }
            Fs::Local => Ok(Source::Local(local::open(path)?)),
        }
    }

    pub fn create(&self, path: &str, options: &CreateOptions) -> Result<Sink> {
        match self {
            Fs::Hdfs(client) => Ok(Sink::Hdfs(Box::new(client.create(path, options)?))),
            Fs::Local => Ok(Sink::Local(local::create(path)?)),
        }
    }
}

impl Source {
    /// Copies from here to the end.
    pub fn copy_to(&mut self, out: &mut dyn Write) -> io::Result<u64> {
        match self {
            Source::Hdfs(reader) => reader.copy_to(out),
            Source::Local(file) => copy(file, out),
        }
    }
}

impl Read for Source {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Source::Hdfs(reader) => reader.read(buf),
            Source::Local(file) => file.read(buf),
        }
    }
}

impl io::Seek for Source {
    fn seek(&mut self, target: io::SeekFrom) -> io::Result<u64> {
        match self {
            Source::Hdfs(reader) => reader.seek(target),
            Source::Local(file) => file.seek(target),
        }
    }
}

fn copy(source: &mut dyn Read, out: &mut dyn Write) -> io::Result<u64> {
    let mut buffer = vec![0; 128 << 10];
    let mut copied = 0;
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(copied),
            Ok(len) => {
                out.write_all(&buffer[..len])?;
                copied += len as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Sink {
    /// Copies all of `source` here.
    pub fn write_from(&mut self, source: &mut dyn Read) -> io::Result<u64> {
        match self {
            Sink::Hdfs(writer) => writer.write_from(source),
            Sink::Local(file) => copy(source, file),
        }
    }

    pub fn close(self) -> Result<()> {
        match self {
            Sink::Hdfs(writer) => Ok(writer.close()?),
            Sink::Local(_) => Ok(()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Hdfs(writer) => writer.write(buf),
            Sink::Local(file) => file.write(buf),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A path of the command line, or one found below it.
#[derive(Clone)]
pub struct PathData {
    pub fs: Fs,
    /// As it is shown: in the form the user chose.
    pub text: String,
    /// Absolute.
    pub path: String,
    pub stat: Option<FileStatus>,
}

impl PathData {
    pub fn new(fs: &Fs, text: &str, stat: Option<FileStatus>) -> Self {
        let path = fs.path_of(text);
        PathData { fs: fs.clone(), text: text.to_string(), path, stat }
    }

    /// Looks up what is at `text`.
    pub fn look_up(fs: &Fs, text: &str) -> Result<Self> {
        let mut data = Self::new(fs, text, None);
        data.refresh()?;
        Ok(data)
    }

    pub fn refresh(&mut self) -> Result<()> {
        self.stat = self.fs.stat(&self.path)?;
        Ok(())
    }

    pub fn exists(&self) -> bool {
        self.stat.is_some()
    }

    pub fn is_dir(&self) -> bool {
        self.stat.as_ref().is_some_and(|stat| stat.is_dir)
    }

    /// Its status; an error where there is none.
    pub fn status(&self) -> Result<&FileStatus> {
        self.stat.as_ref().ok_or_else(|| ShellError::not_found(&self.text))
    }

    pub fn qualified(&self) -> String {
        self.fs.qualified(&self.path)
    }

    pub fn represents_directory(&self) -> bool {
        represents_directory(&self.text)
    }

    pub fn parent_exists(&self) -> Result<bool> {
        let directory = if self.represents_directory() { Some(self.path.as_str()) } else { parent(&self.path) };
        match directory {
            Some(directory) => self.fs.exists(directory),
            None => Ok(true),
        }
    }

    /// The last component of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or("")
    }

    /// A child by name, looked up.
    pub fn child(&self, name: &str) -> Result<PathData> {
        let mut child = self.child_of_status(name, None);
        child.refresh()?;
        Ok(child)
    }

    fn child_of_status(&self, name: &str, stat: Option<FileStatus>) -> PathData {
        let separator = if PathUri::parse(&self.text).path.ends_with('/') { "" } else { "/" };
        let text = if self.text == "." { name.to_string() } else { format!("{}{separator}{name}", self.text) };
        let path = if self.path == "/" { format!("/{name}") } else { format!("{}/{name}", self.path) };
        PathData { fs: self.fs.clone(), text, path, stat }
    }

    /// The children of a directory, in the order of the file system.
    pub fn children_unsorted(&self) -> Result<Vec<PathData>> {
        let children = self.fs.list(&self.path)?;
        let data = |stat: FileStatus| {
            let name = stat.name().to_string();
            self.child_of_status(&name, Some(stat))
        };
        Ok(children.into_iter().map(data).collect())
    }

    /// The children of a directory by name.
    pub fn children(&self) -> Result<Vec<PathData>> {
        if !self.is_dir() {
            return Err(ShellError::is_not_directory(&self.text));
        }
        let mut children = self.children_unsorted()?;
        children.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(children)
    }

    /// A sibling with a longer name, of which nothing is known.
    pub fn with_suffix(&self, suffix: &str) -> PathData {
        PathData {
            fs: self.fs.clone(),
            text: format!("{}{suffix}", self.text),
            path: format!("{}{suffix}", self.path),
            stat: None,
        }
    }

    /// What a pattern of the command line stands for. A text without wildcards always gives one; a pattern may give none.
    pub fn expand(fs: &Fs, text: &str) -> Result<Vec<PathData>> {
        let uri = PathUri::parse(text);
        let working_dir = fs.working_dir();
        let mut found: Vec<FileStatus> = Vec::new();
        if let Some(bad) = uri.path.split('/').find(|component| component.contains(':')) {
            return Err(ShellError::Illegal(format!(
                "java.net.URISyntaxException: Relative path in absolute URI: {bad}"
            )));
        }
        let mut has_pattern = false;
        for flat in expand_slashes(uri.path) {
            has_pattern |= glob_one(fs, &normalize(&flat, &working_dir), &mut found)?;
        }
        if found.is_empty() && !has_pattern {
            return Ok(vec![PathData::new(fs, &unescape(text), None)]);
        }
        let shown = |stat: &FileStatus| match (uri.scheme, uri.path.starts_with('/')) {
            (Some("file"), _) => format!("file://{}", stat.path),
            (Some(scheme), _) => match uri.authority {
                Some(authority) => format!("{scheme}://{authority}{}", stat.path),
                None => format!("{scheme}://{}", stat.path),
            },
            (None, true) => stat.path.clone(),
            (None, false) => relativize(&working_dir, &stat.path, stat.is_dir),
        };
        let mut items: Vec<PathData> = found
            .into_iter()
            .map(|stat| PathData { fs: fs.clone(), text: shown(&stat), path: stat.path.clone(), stat: Some(stat) })
            .collect();
        items.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(items)
    }
}

/// Adds what one absolute pattern matches; whether it has a wildcard.
fn glob_one(fs: &Fs, path: &str, found: &mut Vec<FileStatus>) -> Result<bool> {
    let components: Vec<&str> = path.split('/').filter(|c| !c.is_empty()).collect();
    let mut candidates: Vec<(String, Option<FileStatus>)> = vec![(String::new(), None)];
    let mut has_pattern = false;
    for (i, component) in components.iter().enumerate() {
        let is_last = i + 1 == components.len();
        let pattern = Pattern::parse(component).map_err(ShellError::Message)?;
        let Some(pattern) = pattern else {
            let name = unescape(component);
            for (prefix, stat) in &mut candidates {
                *prefix = format!("{prefix}/{name}");
                *stat = None;
            }
            continue;
        };
        has_pattern = true;
        let mut next = Vec::new();
        for (prefix, stat) in candidates {
            let directory = if prefix.is_empty() { "/" } else { &prefix };
            if stat.is_some_and(|stat| !stat.is_dir) {
                continue;
            }
            let children = match fs.list(directory) {
                Ok(children) => children,
                Err(ShellError::NotFound(_)) => continue,
                Err(error) => return Err(error),
            };
            for child in children {
                // A file's listing is the file itself.
                let is_child = child.path.len() > prefix.len() + 1;
                if is_child && (is_last || child.is_dir) && pattern.matches(child.name()) {
                    next.push((child.path.clone(), Some(child)));
                }
            }
        }
        candidates = next;
    }
    for (path, stat) in candidates {
        let path = if path.is_empty() { "/".to_string() } else { path };
        match stat {
            Some(stat) => found.push(stat),
            None => found.extend(fs.stat(&path)?),
        }
    }
    Ok(has_pattern)
}

/// The children of a directory whose names begin so: at most a page of them. For completion.
pub fn list_after(directory: &PathData, begin: &str) -> Result<Vec<PathData>> {
    let Fs::Hdfs(client) = &directory.fs else { return directory.children() };
    let mut found = Vec::new();
    if !begin.is_empty() {
        // The page holds what comes behind this name.
        found.extend(Some(directory.child(begin)?).filter(PathData::exists));
    }
    let page = client.get_listing(&directory.path, begin.as_bytes())?;
    let entries = page.map(|page| page.entries).unwrap_or_default();
    found.extend(entries.into_iter().filter(|stat| stat.name().starts_with(begin)).map(|stat| {
        let name = stat.name().to_string();
        directory.child_of_status(&name, Some(stat))
    }));
    Ok(found)
}
