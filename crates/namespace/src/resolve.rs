//! From a path string to inodes: reserved names, the walk, and the permission to walk. Everything a plan does begins here.
//! Source: `FSDirectory.resolvePath`, `INodesInPath.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::plan::Env;
use crate::tree::{CURRENT, InodeHandle, InodeKind, InodeView, SnapshotId};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use surus_types::{ExceptionClass, FsAction, HdfsError, HdfsPath, InodeId};

/// Longest path, in UTF-16 units. Source: `HdfsServerConstants.MAX_PATH_LENGTH`, Hadoop 3.5.0.
pub const PATH_LENGTH_MAX: usize = 8000;
/// Deepest path, in components.
pub const PATH_DEPTH_MAX: usize = 1000;

/// What a call wants a path for: decides about reserved names and which exception tells of a file in the middle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirOp {
    Read,
    /// The last component is not followed if it is a symlink.
    ReadLink,
    Write,
    WriteLink,
    Create,
    CreateLink,
}

impl DirOp {
    fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::ReadLink)
    }
    fn is_create(self) -> bool {
        matches!(self, Self::Create | Self::CreateLink)
    }
}

/// A path as far as it exists.
#[derive(Clone, Debug)]
pub struct Resolved<'a> {
    /// The path without reserved prefixes and superfluous slashes.
    pub path: Cow<'a, str>,
    /// The inode of the whole path, if it exists.
    pub last: Option<InodeHandle>,
    /// The deepest inode that exists, not counting `last`: its parent if it exists (the root for the root itself).
    pub ancestor: InodeHandle,
    /// Components that do not exist.
    pub missing: usize,
    /// The path lies in `.snapshot`.
    pub is_snapshot: bool,
    /// The snapshot that the path leads into; else [`CURRENT`].
    pub snapshot: SnapshotId,
    /// The path ends with `.snapshot`: of this directory.
    pub dot_snapshot: Option<InodeHandle>,
    /// The path was given below `/.reserved/raw`.
    pub is_raw: bool,
}

impl Resolved<'_> {
    pub fn is_root(&self) -> bool {
        self.last == Some(InodeHandle::ROOT)
    }
    /// Last component.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or("")
    }
    /// Path of the parent.
    pub fn parent_path(&self) -> &str {
        match self.path.rfind('/') {
            Some(0) | None => "/",
            Some(i) => &self.path[..i],
        }
    }
    /// The parent's inode, if it exists; the root has none.
    pub fn parent(&self) -> Option<InodeHandle> {
        match (self.last, self.missing) {
            (Some(InodeHandle::ROOT), _) => None,
            (Some(_), _) | (None, 1) => Some(self.ancestor),
            _ => None,
        }
    }
}

/// How a walk down from the root ended.
struct Walk {
    last: Option<InodeHandle>,
    ancestor: InodeHandle,
    missing: usize,
    is_snapshot: bool,
    snapshot: SnapshotId,
    dot_snapshot: Option<InodeHandle>,
}

impl Walk {
    fn resolved(self, path: Cow<'_, str>, is_raw: bool) -> Resolved<'_> {
        let Walk { last, ancestor, missing, is_snapshot, snapshot, dot_snapshot } = self;
        Resolved { path, last, ancestor, missing, is_snapshot, snapshot, dot_snapshot, is_raw }
    }
}

impl Namespace {
    /// Resolves `src` for reading and checks that the caller may walk there.
    ///
    /// # Errors
    /// Reserved names, an ancestor that is a file, no EXECUTE on an ancestor.
    pub fn resolve<'a>(&self, env: &Env<'_>, src: &'a str, op: DirOp) -> Result<Resolved<'a>, HdfsError> {
        self.resolve_for(env, src, op, "")
    }

    /// Resolves `src` for `operation`, which is the name that audit logs and refusals of `/.reserved/raw` show.
    ///
    /// # Errors
    /// As [`Namespace::resolve`]; invalid names, a write into a snapshot.
    pub fn resolve_for<'a>(
        &self,
        env: &Env<'_>,
        src: &'a str,
        op: DirOp,
        operation: &'static str,
    ) -> Result<Resolved<'a>, HdfsError> {
        if op.is_create() && HdfsPath::parse(src).is_err() {
            return Err(HdfsError::new(
                ExceptionClass::InvalidPath,
                format!("Invalid path name Invalid file name: {src}"),
            ));
        }
        check_absolute(src)?;
        let is_raw = is_reserved_raw(src);
        let path = self.resolve_reserved(src)?;
        if is_raw && !op.is_read() && self.config.permissions_enabled {
            self.check_superuser(env, operation)?;
        }
        let walk = self.walk(env, &path, op)?;
        if walk.is_snapshot && !op.is_read() {
            return Err(HdfsError::new(
                ExceptionClass::SnapshotAccessControl,
                "Modification on a read-only snapshot is disallowed",
            ));
        }
        Ok(walk.resolved(path, is_raw))
    }

    /// As [`Namespace::resolve`], but names below `/.reserved` mean nothing special: some calls do not look at them.
    ///
    /// # Errors
    /// An ancestor that is a file, no EXECUTE on an ancestor.
    pub fn resolve_literally<'a>(&self, env: &Env<'_>, src: &'a str, op: DirOp) -> Result<Resolved<'a>, HdfsError> {
        check_absolute(src)?;
        let path = normalize(src);
        let walk = self.walk(env, &path, op)?;
        Ok(walk.resolved(path, false))
    }

    /// Resolves without the permission to walk: for calls of the NameNode itself.
    pub fn resolve_unchecked<'a>(&self, src: &'a str) -> Option<Resolved<'a>> {
        let path = self.resolve_reserved(src).ok()?;
        let walk = self.walk_with(&path, |_, _, _| Ok(())).ok()?;
        Some(walk.resolved(path, false))
    }

    /// An existing file or directory.
    ///
    /// # Errors
    /// `FileNotFoundException: <prefix><path>` when it does not exist.
    pub fn existing(&self, resolved: &Resolved<'_>, prefix: &str) -> Result<InodeHandle, HdfsError> {
        resolved.last.ok_or_else(|| HdfsError::file_not_found(format!("{prefix}{}", resolved.path)))
    }

    /// An existing file: what reads and writes of data ask for.
    ///
    /// # Errors
    /// `FileNotFoundException`, for a directory too. Source: `INodeFile.valueOf`, Hadoop 3.5.0.
    pub fn existing_file(&self, resolved: &Resolved<'_>) -> Result<InodeHandle, HdfsError> {
        let handle = self.existing(resolved, "File does not exist: ")?;
        if self.tree.inode(handle).is_file() {
            Ok(handle)
        } else {
            Err(HdfsError::file_not_found(format!("Path is not a file: {}", resolved.path)))
        }
    }

    /// As `existing_file`, with the path as the caller wrote it in the text about a directory: some calls do so.
    ///
    /// # Errors
    /// As `existing_file`.
    pub fn existing_file_called(&self, resolved: &Resolved<'_>, src: &str) -> Result<InodeHandle, HdfsError> {
        match resolved.last {
            Some(handle) if !self.tree.inode(handle).is_file() => {
                Err(HdfsError::file_not_found(format!("Path is not a file: {src}")))
            }
            _ => self.existing_file(resolved),
        }
    }

    fn walk(&self, env: &Env<'_>, path: &str, op: DirOp) -> Result<Walk, HdfsError> {
        let checked = self.is_checked(env);
        let may_pass = |handle| self.check_view_access(env, self.tree.inode(handle), FsAction::EXECUTE).is_ok();
        if let Some(walk) = self.walk_by_parent(path, checked.then_some(may_pass)) {
            return Ok(walk);
        }
        self.walk_with(path, |handle, snapshot, end| {
            let view = self.tree.inode(handle);
            match view.kind() {
                InodeKind::Directory if checked => {
                    self.check_view_access(env, self.tree.inode_at(handle, snapshot), FsAction::EXECUTE)
                }
                InodeKind::Directory => Ok(()),
                InodeKind::File => {
                    let class =
                        if op.is_create() { ExceptionClass::ParentNotDirectory } else { ExceptionClass::AccessControl };
                    Err(HdfsError::new(class, format!("{} (is not a directory)", &path[..end])))
                }
                InodeKind::Symlink => {
                    Err(HdfsError::new(ExceptionClass::UnresolvedPath, format!("Unresolved path {}", &path[..end])))
                }
            }
        })
    }

    /// The walk where the parent of `path` is a directory and the caller may pass through all above it; who may not is told
    /// by the walk down, which meets the topmost directory first.
    fn walk_by_parent(&self, path: &str, may_pass: Option<impl Fn(InodeHandle) -> bool>) -> Option<Walk> {
        let (parent, name) =
            path.rsplit_once('/').filter(|(parent, name)| !parent.is_empty() && *name != ".snapshot")?;
        let directory = self.tree.lookup_directory(parent)?;
        let mut at = Some(directory);
        while let (Some(handle), Some(may_pass)) = (at, &may_pass) {
            if !may_pass(handle) {
                return None;
            }
            at = self.tree.inode(handle).parent();
        }
        let last = self.tree.child(directory, name.as_bytes());
        Some(Walk {
            last,
            ancestor: directory,
            missing: usize::from(last.is_none()),
            is_snapshot: false,
            snapshot: CURRENT,
            dot_snapshot: None,
        })
    }

    /// Walks down, calling `visit` with every ancestor that exists and the end of its path.
    fn walk_with(
        &self,
        path: &str,
        mut visit: impl FnMut(InodeHandle, SnapshotId, usize) -> Result<(), HdfsError>,
    ) -> Result<Walk, HdfsError> {
        let mut walk = Walk {
            last: Some(InodeHandle::ROOT),
            ancestor: InodeHandle::ROOT,
            missing: 0,
            is_snapshot: false,
            snapshot: CURRENT,
            dot_snapshot: None,
        };
        let mut end = 0;
        for component in path.split('/').skip(1) {
            if component.is_empty() {
                end += 1;
                continue;
            }
            if let Some(root) = walk.dot_snapshot.take() {
                let snapshot = self.tree.inode(root).snapshot_named(component.as_bytes());
                walk.snapshot = snapshot.map_or(CURRENT, |s| s.id);
                walk.last = snapshot.map(|_| root);
                walk.missing = usize::from(snapshot.is_none());
                end += 1 + component.len();
                continue;
            }
            match walk.last {
                Some(directory) => {
                    visit(directory, walk.snapshot, end)?;
                    walk.ancestor = directory;
                    if component == ".snapshot" && !walk.is_snapshot && self.tree.inode(directory).is_snapshottable() {
                        walk.is_snapshot = true;
                        walk.dot_snapshot = Some(directory);
                        walk.last = None;
                    } else {
                        walk.last = self.tree.child_at(directory, component.as_bytes(), walk.snapshot);
                    }
                    walk.missing = usize::from(walk.last.is_none());
                }
                None => walk.missing += 1,
            }
            end += 1 + component.len();
        }
        Ok(walk)
    }

    /// The inode of the whole path, as the path shows it: in a snapshot, as it was then.
    pub fn shown(&self, path: &Resolved<'_>, handle: InodeHandle) -> InodeView<'_> {
        self.tree.inode_at(handle, path.snapshot).raw(path.is_raw)
    }

    /// Takes `/.reserved/.inodes/ID` and `/.reserved/raw` prefixes off, and slashes that say nothing.
    fn resolve_reserved<'a>(&self, src: &'a str) -> Result<Cow<'a, str>, HdfsError> {
        let path = normalize(src);
        let Some(rest) = path.strip_prefix("/.reserved/") else { return Ok(path) };
        let (kind, tail) = rest.split_once('/').unwrap_or((rest, ""));
        match kind {
            "raw" if tail == ".reserved" => Ok(path),
            "raw" => Ok(Cow::Owned(format!("/{tail}"))),
            ".inodes" if !tail.is_empty() => self.resolve_inode_path(src, tail).map(Cow::Owned),
            _ => Ok(path),
        }
    }

    /// `tail` is `ID` or `ID/rest`. Source: `FSDirectory.resolveDotInodesPath`, Hadoop 3.5.0.
    fn resolve_inode_path(&self, src: &str, tail: &str) -> Result<String, HdfsError> {
        let (id, rest) = tail.split_once('/').unwrap_or((tail, ""));
        let Ok(id) = id.parse::<u64>() else {
            return Err(HdfsError::file_not_found(format!("Invalid inode path: {src}")));
        };
        let missing = || HdfsError::file_not_found(format!("File for given inode path does not exist: {src}"));
        let handle = self.tree.get(InodeId(id)).ok_or_else(missing)?;
        let first = rest.split('/').next().unwrap_or("");
        if first == ".." {
            let parent = self.tree.inode(handle).parent().unwrap_or(InodeHandle::ROOT);
            return self.tree.path_of(parent).ok_or_else(missing);
        }
        let mut path = self.tree.path_of(handle).ok_or_else(missing)?;
        if !rest.is_empty() {
            if path != "/" {
                path.push('/');
            }
            path.push_str(rest);
        }
        Ok(path)
    }
}

fn check_absolute(src: &str) -> Result<(), HdfsError> {
    if src.starts_with('/') {
        return Ok(());
    }
    Err(HdfsError::new(ExceptionClass::Assertion, format!("Absolute path required, but got '{src}'")))
}

/// Refuses paths that are empty, too long or too deep, before anything else looks at them.
///
/// # Errors
/// `IOException` with the operation's name in front. Source: `NameNodeRpcServer.checkPathLength`, Hadoop 3.5.0.
pub fn check_path_length(operation: &str, src: &str) -> Result<(), HdfsError> {
    if src.is_empty() {
        return Err(HdfsError::new(ExceptionClass::IllegalArgument, "Can not create a Path from an empty string"));
    }
    // UTF-16 units never outnumber bytes: short paths need no count.
    let too_long = src.len() > PATH_LENGTH_MAX && src.encode_utf16().count() > PATH_LENGTH_MAX;
    let too_deep = || src.split('/').filter(|c| !c.is_empty()).count() > PATH_DEPTH_MAX;
    if too_long || src.len() > PATH_DEPTH_MAX && too_deep() {
        return Err(HdfsError::io(format!(
            "{operation}: Pathname too long.  Limit {PATH_LENGTH_MAX} characters, {PATH_DEPTH_MAX} levels."
        )));
    }
    Ok(())
}

/// Calls that change one inode refuse the virtual directory by its bare name. Source: `FSDirectory.isExactReservedName`,
/// Hadoop 3.5.0.
///
/// # Errors
/// `InvalidPathException`.
pub fn check_not_reserved(src: &str) -> Result<(), HdfsError> {
    if src != "/.reserved" {
        return Ok(());
    }
    Err(HdfsError::new(ExceptionClass::InvalidPath, format!("Invalid path name {src}")))
}

/// Whether the path begins with `/.reserved/raw`.
pub fn is_reserved_raw(src: &str) -> bool {
    src == "/.reserved/raw" || src.starts_with("/.reserved/raw/")
}

/// Whether the path begins with `/.reserved/.inodes`.
pub fn is_reserved_inodes(src: &str) -> bool {
    src == "/.reserved/.inodes" || src.starts_with("/.reserved/.inodes/")
}

/// Whether the path is `/.reserved` or lies below it.
pub fn is_reserved(src: &str) -> bool {
    src == "/.reserved" || src.starts_with("/.reserved/")
}

/// Without empty components; borrows where there are none.
pub fn normalize(src: &str) -> Cow<'_, str> {
    if src == "/" || !src.ends_with('/') && !src.contains("//") {
        return Cow::Borrowed(src);
    }
    let mut path = String::with_capacity(src.len());
    for component in src.split('/').filter(|c| !c.is_empty()) {
        path.push('/');
        path.push_str(component);
    }
    if path.is_empty() { Cow::Owned("/".to_string()) } else { Cow::Owned(path) }
}
