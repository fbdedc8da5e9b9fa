//! What `-put`, `-get`, `-cp` and `-mv` share: where a source goes, and how its bytes get there.
//! Source: `CommandWithDestination.java`, Hadoop 3.5.0.

use super::acl::whole;
use super::error::{Result, ShellError};
use super::fs::{Fs, PathData, Sink};
use super::progress::Progress;
use super::shell::{Command, Shell, process_items};
use std::io::{Read, Write};
use surus_client::{AclChange, CreateOptions, XAttrNamespace};

/// What a file is called while it is being copied.
const COPYING: &str = "._COPYING_";

/// How copies are made.
#[derive(Clone, Copy, Debug)]
pub struct CopyOptions {
    pub overwrite: bool,
    /// No `._COPYING_` in between.
    pub direct: bool,
    pub lazy_persist: bool,
    pub verify: bool,
    /// `-crc`: a checksum file beside a local copy.
    pub write_crc: bool,
    pub preserve: Preserve,
    pub recursive: bool,
}

impl Default for CopyOptions {
    fn default() -> Self {
        CopyOptions {
            overwrite: false,
            direct: false,
            lazy_persist: false,
            verify: true,
            write_crc: false,
            preserve: Preserve::default(),
            recursive: true,
        }
    }
}

/// What of the source's attributes the copy gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preserve {
    pub timestamps: bool,
    pub ownership: bool,
    pub permission: bool,
    pub acl: bool,
    pub xattrs: bool,
}

impl Preserve {
    pub const USUAL: Preserve =
        Preserve { timestamps: true, ownership: true, permission: true, acl: false, xattrs: false };
}

/// A command with a destination.
pub struct Copy {
    pub dst: PathData,
    pub options: CopyOptions,
    /// What is done with a file, where it is not a plain copy.
    pub action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Copy,
    /// `-mv`
    Rename,
    /// `-moveFromLocal`
    MoveFromLocal,
}

/// The destination of a command that writes to the default file system: its last argument.
pub fn remote_destination(shell: &mut Shell<'_>, arguments: &mut Vec<String>) -> Result<PathData> {
    let text = if arguments.len() < 2 { ".".to_string() } else { arguments.pop().unwrap_or_default() };
    let fs = shell.fs_of(&text)?;
    let mut items = PathData::expand(&fs, &text)?;
    match items.len() {
        0 => Err(ShellError::not_found(&text)),
        // The text as written still tells whether a directory was meant.
        1 => Ok(PathData { text, ..items.remove(0) }),
        _ => Err(ShellError::path(&text, "Too many matches")),
    }
}

/// The destination of a command that writes to the machine's own files.
pub fn local_destination(arguments: &mut Vec<String>) -> Result<PathData> {
    let text = if arguments.len() < 2 { ".".to_string() } else { arguments.pop().unwrap_or_default() };
    PathData::look_up(&Fs::Local, &text)
}

impl Copy {
    /// Copies all items, once the destination fits them.
    pub fn run(&mut self, shell: &mut Shell<'_>, items: Vec<PathData>) -> Result<()> {
        let dst = &self.dst;
        if items.len() > 1 {
            if !dst.exists() {
                return Err(ShellError::not_found(&dst.text));
            }
            if !dst.is_dir() {
                return Err(ShellError::is_not_directory(&dst.text));
            }
        } else if dst.exists() {
            if !dst.is_dir() && !self.options.overwrite {
                return Err(ShellError::exists(&dst.text));
            }
        } else if !dst.parent_exists()? {
            return Err(ShellError::not_found_fully(&dst.text, &dst.qualified()));
        }
        process_items(self, shell, items)
    }

    /// Where a source goes: below the destination where that is, or can only be, a directory.
    pub fn target_of(&self, depth: u32, src: &PathData) -> Result<PathData> {
        if depth > 0 || self.dst.is_dir() || self.dst.represents_directory() {
            self.dst.child(src.name())
        } else {
            Ok(self.dst.clone())
        }
    }

    fn copy_file(&self, shell: &mut Shell<'_>, src: &PathData, target: &PathData) -> Result<()> {
        let mut source = src.fs.open(&src.path, self.options.verify)?;
        let length = src.status()?.length;
        let mut progress = Progress::new(&target.text, Some(length));
        self.stream_to(shell, target, &mut |sink| {
            // Whoever holds the buffers does the copying: packets are filled from the file, the file from packets.
            Ok(match sink {
                Sink::Hdfs(writer) => writer.write_from(&mut progress.reading(&mut source))?,
                Sink::Local(file) => source.copy_to(&mut progress.writing(file))?,
            })
        })?;
        self.preserve(src, target)
    }

    /// Copies a stream whose length nobody knows.
    pub fn copy_stream(&self, shell: &mut Shell<'_>, source: &mut dyn Read, target: &PathData) -> Result<()> {
        let mut progress = Progress::new(&target.text, None);
        self.stream_to(shell, target, &mut |sink| Ok(sink.write_from(&mut progress.reading(source))?))
    }

    fn stream_to(
        &self,
        _shell: &mut Shell<'_>,
        target: &PathData,
        fill: &mut dyn FnMut(&mut Sink) -> Result<u64>,
    ) -> Result<()> {
        if target.exists() && (target.is_dir() || !self.options.overwrite) {
            return Err(ShellError::exists(&target.text));
        }
        let temporary = if self.options.direct { target.clone() } else { target.with_suffix(COPYING) };
        let options = CreateOptions {
            lazy_persist: self.options.lazy_persist,
            replication: self.options.lazy_persist.then_some(1),
            ..CreateOptions::default()
        };
        let mut sink = temporary.fs.create(&temporary.path, &options)?;
        let copied = fill(&mut sink).and_then(|_| sink.close());
        let done = copied.and_then(|()| if self.options.direct { Ok(()) } else { put_in_place(&temporary, target) });
        if done.is_err() && !self.options.direct {
            // The half of a file is of no use to anybody; that it cannot be removed is not worth hiding the first error.
            let _ = temporary.fs.delete(&temporary.path, false);
        }
        if done.is_ok() && self.options.write_crc && matches!(target.fs, Fs::Local) {
            super::crc_file::write(&target.path)?;
        }
        done
    }

    fn preserve(&self, src: &PathData, target: &PathData) -> Result<()> {
        let preserve = self.options.preserve;
        let stat = src.status()?;
        if preserve.timestamps {
            target.fs.set_times(&target.path, Some(stat.modification_time_ms), Some(stat.access_time_ms))?;
        }
        if preserve.ownership {
            target.fs.set_owner(&target.path, Some(&stat.owner), Some(&stat.group))?;
        }
        if preserve.permission || preserve.acl {
            target.fs.set_permission(&target.path, stat.permission)?;
        }
        if preserve.acl
            && stat.has_acl()
            && let (Some(from), Some(to)) = (src.fs.client(), target.fs.client())
        {
            let entries = from.get_acl_status(&src.path)?.entries;
            to.change_acl(&target.path, AclChange::Set, &whole(stat.permission, &entries))?;
        }
        self.preserve_xattrs(src, target)
    }

    /// Attributes of the namespace `raw` go along between paths below `/.reserved/raw`, asked for or not.
    fn preserve_xattrs(&self, src: &PathData, target: &PathData) -> Result<()> {
        let raw = check_reserved_raw(src, target)?;
        let (true, Some(from)) = (raw || self.options.preserve.xattrs, src.fs.client()) else { return Ok(()) };
        for attribute in from.get_xattrs(&src.path, &[])? {
            let wanted = if attribute.namespace() == XAttrNamespace::Raw { raw } else { self.options.preserve.xattrs };
            match target.fs.client() {
                Some(to) if wanted => to.set_xattr(&target.path, attribute)?,
                None if wanted => {
                    let text = "the local file system has no extended attributes";
                    return Err(ShellError::Message(text.into()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn rename(&self, src: &PathData, target: &PathData) -> Result<()> {
        if !src.fs.is_same(&target.fs) {
            return Err(ShellError::path(&src.text, "Does not match target filesystem"));
        }
        if target.exists() {
            return Err(ShellError::exists(&target.text));
        }
        if src.fs.rename(&src.path, &target.path)? { Ok(()) } else { Err(ShellError::failed(&src.text)) }
    }
}

/// Whether both paths are below `/.reserved/raw`; one alone is an error.
fn check_reserved_raw(src: &PathData, target: &PathData) -> Result<bool> {
    const RAW: &str = "/.reserved/raw";
    let from_to = match (src.path.starts_with(RAW), target.path.starts_with(RAW)) {
        (from, to) if from == to => return Ok(from),
        (true, _) => format!("copy from '{RAW}' to non '{RAW}'"),
        (false, _) => format!("copy from non '{RAW}' to '{RAW}'"),
    };
    Err(ShellError::Message(format!(
        "'{}' {from_to}. Either both source and target must be in '{RAW}' or neither.",
        src.qualified()
    )))
}

fn put_in_place(temporary: &PathData, target: &PathData) -> Result<()> {
    if target.exists() && !target.fs.delete(&target.path, false)? {
        return Err(ShellError::Message(format!("delete `{}': Input/output error", target.text)));
    }
    if temporary.fs.rename(&temporary.path, &target.path)? {
        return Ok(());
    }
    Err(ShellError::Message(format!("rename `{}' to `{}': Input/output error", temporary.text, target.text)))
}

impl Command for Copy {
    fn is_recursive(&self) -> bool {
        self.options.recursive && self.action != Action::Rename
    }

    fn argument(&mut self, shell: &mut Shell<'_>, src: PathData) -> Result<()> {
        shell.depth = 0;
        if src.is_dir() && src.fs.is_same(&self.dst.fs) {
            let target = self.target_of(0, &src)?;
            let (from, to) = (src.qualified(), target.qualified());
            if from == to {
                return Err(ShellError::Message(format!("`{}' to `{to}': are identical", src.text)));
            }
            if to.starts_with(&format!("{}/", from.trim_end_matches('/'))) {
                return Err(ShellError::Message(format!(
                    "`{}' to `{}': is a subdirectory of itself",
                    src.text, target.text
                )));
            }
        }
        self.paths(shell, None, vec![src])
    }

    fn path(&mut self, shell: &mut Shell<'_>, src: &PathData) -> Result<()> {
        let target = self.target_of(shell.depth, src)?;
        match self.action {
            Action::Rename => self.rename(src, &target),
            Action::MoveFromLocal if target.is_dir() => Err(ShellError::exists(&target.text)),
            _ if src.is_dir() && !self.options.recursive => Err(ShellError::is_directory(&src.text)),
            _ if src.is_dir() => Ok(()),
            _ => self.copy_file(shell, src, &target),
        }
    }

    fn recurse(&mut self, shell: &mut Shell<'_>, src: &PathData) -> Result<()> {
        let mut target = self.target_of(shell.depth, src)?;
        if target.exists() {
            if !target.is_dir() {
                return Err(ShellError::is_not_directory(&target.text));
            }
        } else {
            if !target.fs.mkdirs(&target.path)? {
                return Err(ShellError::Message(format!("mkdir `{}': Input/output error", target.text)));
            }
            target.refresh()?;
        }
        let saved = std::mem::replace(&mut self.dst, target);
        shell.depth += 1;
        let children = src.children();
        let mut done = children.and_then(|children| self.paths(shell, Some(src), children));
        shell.depth -= 1;
        if done.is_ok() {
            done = self.preserve(src, &self.dst);
        }
        self.dst = saved;
        done
    }

    fn after(&mut self, _: &mut Shell<'_>, src: &PathData) -> Result<()> {
        if self.action == Action::MoveFromLocal && !src.fs.delete(&src.path, false)? {
            return Err(ShellError::Message(format!("remove `{}': Input/output error", src.text)));
        }
        Ok(())
    }
}

/// Copies everything `source` has to `out`; for commands that print.
pub fn print_all(shell: &mut Shell<'_>, copy: impl FnOnce(&mut dyn Write) -> std::io::Result<u64>) -> Result<()> {
    match copy(&mut shell.out) {
        Ok(_) => shell.out.check(),
        Err(error) => {
            shell.out.check()?;
            Err(error.into())
        }
    }
}
