//! allowSnapshot, disallowSnapshot, createSnapshot, renameSnapshot and deleteSnapshot.
//! Source: `FSDirSnapshotOp.java`, `SnapshotManager.java`, `DirectorySnapshottableFeature.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::permission::Wanted;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, Resolved};
use crate::tree::{Garbage, InodeHandle, SNAPSHOT_ID_MAX, SnapshotId};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::{ExceptionClass, HdfsError, TxId};

/// Lets a directory have snapshots.
#[derive(Clone, Copy, Debug)]
pub struct AllowSnapshot<'a> {
    pub root: &'a str,
}

/// Takes that back.
#[derive(Clone, Copy, Debug)]
pub struct DisallowSnapshot<'a> {
    pub root: &'a str,
}

/// Takes a snapshot; the answer is its path.
#[derive(Clone, Copy, Debug)]
pub struct CreateSnapshot<'a> {
    pub root: &'a str,
    /// Empty: `default_name`.
    pub name: &'a str,
    /// `s` and the local time as `yyyyMMdd-HHmmss.SSS`: time zones are the shell's business.
    pub default_name: &'a str,
}

/// Renames a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct RenameSnapshot<'a> {
    pub root: &'a str,
    pub old_name: &'a str,
    pub new_name: &'a str,
}

/// Deletes a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct DeleteSnapshot<'a> {
    pub root: &'a str,
    pub name: &'a str,
}

pub(super) fn snapshot_error(text: impl Into<String>) -> HdfsError {
    HdfsError::new(ExceptionClass::Snapshot, text)
}

/// Hadoop makes the path of the snapshot first, for its audit log: with an empty directory it looks for its last character.
/// Source: `Snapshot.getSnapshotPath`, Hadoop 3.5.0.
///
/// # Errors
/// `StringIndexOutOfBoundsException`.
pub(super) fn check_can_name(root: &str) -> Result<(), HdfsError> {
    if root.is_empty() {
        return Err(HdfsError::new(ExceptionClass::StringIndexOutOfBounds, "index -1, length 0"));
    }
    Ok(())
}

impl Operation for AllowSnapshot<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_superuser(env, "allowSnapshot")?;
        namespace.check_safe_mode(env, format_args!("Cannot allow snapshot for {}", self.root))?;
        let path = namespace.resolve_for(env, self.root, DirOp::Write, "allowSnapshot")?;
        let directory = namespace.existing_directory(&path)?;
        namespace.check_nested(directory, &path.path)?;
        Ok(Plan::one(EditOp::AllowSnapshot { root: path.path.into() }, ()))
    }
}

impl Operation for DisallowSnapshot<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_superuser(env, "disallowSnapshot")?;
        namespace.check_safe_mode(env, format_args!("Cannot disallow snapshot for {}", self.root))?;
        let path = namespace.resolve_for(env, self.root, DirOp::Write, "disallowSnapshot")?;
        let directory = namespace.existing_directory(&path)?;
        if namespace.tree.inode(directory).snapshottable().is_some_and(|s| !s.snapshots.is_empty()) {
            return Err(snapshot_error(format!(
                "The directory {} has snapshot(s). Please redo the operation after removing all the snapshots.",
                path.path
            ))
            .into());
        }
        Ok(Plan::one(EditOp::DisallowSnapshot { root: path.path.into() }, ()))
    }
}

/// The path of a snapshot of `root`.
pub fn snapshot_path(root: &str, name: &str) -> String {
    let separator = if root.ends_with('/') { "" } else { "/" };
    format!("{root}{separator}.snapshot/{name}")
}

impl Operation for CreateSnapshot<'_> {
    type Reply = String;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<String>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot create snapshot for {}", self.root))?;
        let path = namespace.owned_root(env, self.root, "createSnapshot")?;
        let name = if self.name.is_empty() { self.default_name } else { self.name };
        if matches!(name, "." | ".." | ".snapshot") || name.contains([':', '/']) {
            let text = format!("Invalid path name Invalid snapshot name: {name}");
            return Err(HdfsError::new(ExceptionClass::InvalidPath, text).into());
        }
        namespace.verify_name(&path.path, name)?;
        let root = namespace.snapshottable_root(&path)?;
        namespace.check_snapshot_limits(root)?;
        if namespace.tree.inode(root).snapshot_named(name.as_bytes()).is_some() {
            return Err(snapshot_error(format!(
                "Failed to add snapshot: there is already a snapshot with the same name \"{name}\"."
            ))
            .into());
        }
        let reply = snapshot_path(&path.path, name);
        let op = EditOp::CreateSnapshot {
            root: path.path.into(),
            name: name.into(),
            mtime: env.now_ms,
            rpc: env.rpc.clone(),
        };
        Ok(Plan::one(op, reply))
    }
}

impl Operation for RenameSnapshot<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        check_can_name(self.root)?;
        namespace.check_safe_mode(env, format_args!("Cannot rename snapshot for {}", self.root))?;
        let path = namespace.owned_root(env, self.root, "renameSnapshot")?;
        if self.new_name.contains('/') {
            let text = "Snapshot name cannot contain \"/\"";
            return Err(HdfsError::new(ExceptionClass::HadoopIllegalArgument, text).into());
        }
        namespace.verify_name(&path.path, self.new_name)?;
        let root = namespace.snapshottable_root(&path)?;
        let (old_name, new_name) = (self.old_name, self.new_name);
        let has = |name: &str| namespace.tree.inode(root).snapshot_named(name.as_bytes()).is_some();
        if !has(old_name) {
            let text = format!("The snapshot {old_name} does not exist for directory {}", self.root);
            return Err(snapshot_error(text).into());
        }
        if old_name != new_name && has(new_name) {
            let text = format!("The snapshot {new_name} already exists for directory {}", self.root);
            return Err(snapshot_error(text).into());
        }
        let op = EditOp::RenameSnapshot {
            root: path.path.into(),
            old_name: old_name.into(),
            new_name: new_name.into(),
            mtime: env.now_ms,
            rpc: env.rpc.clone(),
        };
        Ok(Plan::one(op, ()))
    }
}

impl Operation for DeleteSnapshot<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        check_can_name(self.root)?;
        namespace.check_safe_mode(env, format_args!("Cannot delete snapshot for {}", self.root))?;
        let path = namespace.owned_root(env, self.root, "deleteSnapshot")?;
        let root = namespace.snapshottable_root(&path)?;
        let snapshot = namespace.tree.inode(root).snapshot_named(self.name.as_bytes());
        match snapshot.map(|snapshot| snapshot.id) {
            Some(snapshot) => namespace.check_can_mark(root, snapshot, self.name, &path.path)?,
            None if namespace.config.snapshots.ordered_deletion => {
                let text = format!("Cannot find the snapshot of directory {} with name {}", path.path, self.name);
                return Err(snapshot_error(text).into());
            }
            None => {
                return Err(snapshot_error(format!(
                    "Cannot delete snapshot {} from path {}: the snapshot does not exist.",
                    self.name, path.path
                ))
                .into());
            }
        }
        let op = EditOp::DeleteSnapshot {
            root: path.path.into(),
            name: self.name.into(),
            mtime: env.now_ms,
            rpc: env.rpc.clone(),
        };
        Ok(Plan::one(op, ()))
    }
}

impl Namespace {
    /// Resolves the directory of a snapshot that its owner wants changed.
    fn owned_root<'a>(&self, env: &Env<'_>, root: &'a str, operation: &'static str) -> Result<Resolved<'a>, HdfsError> {
        let path = self.resolve_for(env, root, DirOp::Write, operation)?;
        self.existing(&path, "Directory/File does not exist ")?;
        self.check_permission(env, &path, Wanted { owner: true, ..Wanted::default() })?;
        Ok(path)
    }

    /// # Errors
    /// Nothing there, or no directory. Source: `INodeDirectory.valueOf`, Hadoop 3.5.0.
    pub(super) fn existing_directory(&self, path: &Resolved<'_>) -> Result<InodeHandle, HdfsError> {
        let handle = self.existing(path, "Directory does not exist: ")?;
        if self.tree.inode(handle).is_directory() {
            return Ok(handle);
        }
        let text = format!("`{}': Is not a directory", path.path);
        Err(HdfsError::new(ExceptionClass::PathIsNotDirectory, text))
    }

    /// # Errors
    /// As [`Namespace::existing_directory`]; the directory cannot have snapshots.
    pub(super) fn snapshottable_root(&self, path: &Resolved<'_>) -> Result<InodeHandle, HdfsError> {
        let handle = self.existing_directory(path)?;
        if self.tree.inode(handle).is_snapshottable() {
            return Ok(handle);
        }
        Err(snapshot_error(format!("Directory is not a snapshottable directory: {}", path.path)))
    }

    /// Snapshottable directories do not nest unless the setting allows it.
    fn check_nested(&self, directory: InodeHandle, path: &str) -> Result<(), HdfsError> {
        if self.config.snapshots.allow_nested {
            return Ok(());
        }
        for other in self.snapshottable() {
            let relation = if other == directory {
                continue;
            } else if self.tree.is_below(other, directory) {
                "subdirectory"
            } else if self.tree.is_below(directory, other) {
                "ancestor"
            } else {
                continue;
            };
            let other = self.tree.path_of(other).unwrap_or_default();
            return Err(snapshot_error(format!(
                "Nested snapshottable directories not allowed: path={path}, the {relation} {other} is already a \
                 snapshottable directory."
            )));
        }
        Ok(())
    }

    /// Snapshottable directories that can be reached.
    pub(super) fn snapshottable(&self) -> impl Iterator<Item = InodeHandle> + '_ {
        self.tree.snapshottable_directories().filter(|&directory| self.tree.is_attached(directory))
    }

    fn check_snapshot_limits(&self, root: InodeHandle) -> Result<(), HdfsError> {
        if self.tree.snapshot_counter() >= SNAPSHOT_ID_MAX {
            return Err(snapshot_error(
                "Failed to create the snapshot. The FileSystem has run out of snapshot IDs and ID rollover is not \
                 supported.",
            ));
        }
        let limited = |count: usize, what: &str, limit: u32| {
            if count < limit as usize {
                return Ok(());
            }
            Err(snapshot_error(format!(
                "Failed to create snapshot: there are already {count} snapshot(s) and the {what} snapshot limit is {limit}"
            )))
        };
        limited(self.tree.snapshots().len(), "file system", self.config.snapshots.filesystem_limit)?;
        let snapshottable = self.tree.inode(root).snapshottable();
        let (count, quota) = snapshottable.map_or((0, 0), |s| (s.snapshots.len(), s.limit));
        if count >= quota as usize {
            return Err(snapshot_error(format!(
                "Failed to add snapshot: there are already {count} snapshot(s) and the snapshot quota is {quota}"
            )));
        }
        limited(count, "per directory", self.config.snapshots.directory_limit)
    }

    /// A directory with snapshots is not deleted, moved or replaced, nor is what holds one.
    ///
    /// # Errors
    /// `SnapshotException`.
    pub(super) fn check_no_snapshots_below(&self, top: InodeHandle) -> Result<(), HdfsError> {
        for directory in self.tree.snapshottable_directories() {
            let has_snapshots = self.tree.inode(directory).snapshottable().is_some_and(|s| !s.snapshots.is_empty());
            if has_snapshots && self.tree.is_below(directory, top) {
                let path = self.tree.path_of(directory).unwrap_or_default();
                return Err(snapshot_error(format!(
                    "The directory {path} cannot be deleted since {path} is snapshottable and already has snapshots"
                )));
            }
        }
        Ok(())
    }

    /// A rename brings no snapshottable directory below another one; with ordered deletion and trash roots nothing leaves
    /// its snapshottable directory. Source: `FSDirRenameOp.java`, Hadoop 3.5.0.
    pub(super) fn check_rename_nesting(&self, src: &Resolved<'_>, dst: &Resolved<'_>) -> Result<(), HdfsError> {
        if self.tree.snapshottable_directories().len() == 0 || self.config.snapshots.allow_nested {
            return Ok(());
        }
        let Some(moved) = src.last else { return Ok(()) };
        let is_moved = |directory: InodeHandle| self.tree.is_below(directory, moved);
        if self.snapshottable().any(is_moved) && self.snapshottable_above(dst.ancestor).is_some() {
            let to = self.tree.path_of(dst.ancestor).unwrap_or_default();
            return Err(snapshot_error(format!(
                "Unable to rename because {} has snapshottable descendant directories and {to} is a descent of a \
                 snapshottable directory, and HDFS does not support nested snapshottable directory.",
                src.path
            )));
        }
        let settings = &self.config.snapshots;
        if settings.ordered_deletion && settings.trash_roots {
            let from = self.tree.inode(moved).parent().and_then(|parent| self.snapshottable_above(parent));
            if from != self.snapshottable_above(dst.ancestor) {
                let (src, dst) = (&src.path, &dst.path);
                let text = format!("Source {src} and dest {dst} are not under the same snapshot root.");
                return Err(snapshot_error(text));
            }
        }
        Ok(())
    }

    /// The snapshottable directory that an inode is or lies in.
    pub(super) fn snapshottable_above(&self, inode: InodeHandle) -> Option<InodeHandle> {
        let mut at = Some(inode);
        while let Some(handle) = at {
            if self.tree.inode(handle).snapshottable().is_some() {
                return Some(handle);
            }
            at = self.tree.inode(handle).parent();
        }
        None
    }

    /// What was cut off cannot have snapshots any more.
    pub(super) fn disallow_snapshots_below(&mut self, top: InodeHandle, txid: TxId) {
        if self.tree.snapshottable_directories().len() == 0 {
            return;
        }
        let below: Vec<_> = self.tree.snapshottable_directories().filter(|&d| self.tree.is_below(d, top)).collect();
        for directory in below {
            self.delete_marked(directory, txid);
            self.tree.disallow_snapshots(directory);
        }
    }

    pub(super) fn delete_snapshot(&mut self, directory: InodeHandle, snapshot: SnapshotId, txid: TxId) {
        let mut garbage = Garbage::default();
        self.tree.delete_snapshot(directory, snapshot, &mut garbage);
        self.collect_garbage(garbage, txid);
        self.tree.refresh_held();
        self.free_at_once();
    }

    /// Gets rid of what nothing shows any more.
    pub(super) fn collect_garbage(&mut self, garbage: Garbage, txid: TxId) {
        for file in garbage.open_files {
            let id = self.tree.inode(file).id();
            self.leases.remove(id);
        }
        for block in garbage.blocks {
            self.blocks.remove(block, txid);
        }
        for file in garbage.trimmed_files {
            self.trim_to_shown_length(file, txid);
        }
        for file in garbage.changed_files {
            self.refresh_block_replication(file);
        }
        for inode in garbage.inodes {
            self.push_detached(inode, txid);
        }
    }

    /// Takes away the blocks of a file that the last snapshot that shows it does not reach.
    fn trim_to_shown_length(&mut self, file: InodeHandle, txid: TxId) {
        // With a list of its own the last snapshot has seen to the blocks already.
        let Some(shown) = self.tree.shown_length(file) else { return self.refresh_file_size(file) };
        let blocks = self.tree.inode(file).blocks().to_vec();
        let mut covered = 0u64;
        let kept = blocks.iter().take_while(|&&block| {
            let goes_on = covered < shown;
            covered = covered.saturating_add(self.blocks.block(block).num_bytes);
            goes_on
        });
        let kept = kept.count();
        if kept == blocks.len() {
            return;
        }
        self.tree.set_blocks(file, &blocks[..kept]);
        for &block in &blocks[kept..] {
            self.remove_block_unless_shown(file, block, txid);
        }
        self.refresh_file_size(file);
    }

    /// Removes a block that its file no longer has, unless the file had it in a snapshot.
    pub(super) fn remove_block_unless_shown(
        &mut self,
        file: InodeHandle,
        block: crate::blocks::BlockHandle,
        txid: TxId,
    ) {
        if !self.tree.has_past_block(file, block) {
            self.blocks.remove(block, txid);
        }
    }

    /// Blocks have as many replicas as the file wants now or wanted in a snapshot, whichever is more.
    pub(crate) fn refresh_block_replication(&mut self, file: InodeHandle) {
        let replication = self.tree.block_replication(file);
        for block in self.tree.all_blocks(file) {
            self.blocks.set_replication(block, replication);
        }
    }
}

const ALLOW: &str = "OP_ALLOW_SNAPSHOT";
const DISALLOW: &str = "OP_DISALLOW_SNAPSHOT";
const CREATE: &str = "OP_CREATE_SNAPSHOT";
const RENAME: &str = "OP_RENAME_SNAPSHOT";
const DELETE: &str = "OP_DELETE_SNAPSHOT";

/// OP_ALLOW_SNAPSHOT.
///
/// # Errors
/// There is no such directory.
pub fn apply_allow(namespace: &mut Namespace, root: &str) -> Result<Applied, ApplyError> {
    let directory = directory_of(namespace, ALLOW, root)?;
    namespace.tree.allow_snapshots(directory);
    Ok(Applied::default())
}

/// OP_DISALLOW_SNAPSHOT.
///
/// # Errors
/// There is no such directory, or it has snapshots.
pub fn apply_disallow(namespace: &mut Namespace, root: &str, txid: TxId) -> Result<Applied, ApplyError> {
    let directory = directory_of(namespace, DISALLOW, root)?;
    namespace.delete_marked(directory, txid);
    if namespace.tree.inode(directory).snapshottable().is_some_and(|s| !s.snapshots.is_empty()) {
        return Err(ApplyError::other(DISALLOW, root, "the directory has snapshots"));
    }
    namespace.tree.disallow_snapshots(directory);
    Ok(Applied::default())
}

/// OP_CREATE_SNAPSHOT. Its number follows from the order of the log.
///
/// # Errors
/// The directory cannot have one, or has one of this name.
pub fn apply_create(namespace: &mut Namespace, root: &str, name: &str, mtime: i64) -> Result<Applied, ApplyError> {
    let directory = directory_of(namespace, CREATE, root)?;
    let view = namespace.tree.inode(directory);
    if view.snapshottable().is_none() || view.snapshot_named(name.as_bytes()).is_some() {
        return Err(ApplyError::other(CREATE, root, format!("no snapshot {name} can be taken")));
    }
    namespace.tree.create_snapshot(directory, name, mtime);
    if namespace.config.snapshots.captures_open_files {
        let open: Vec<_> = namespace.tree.files_under_construction().map(|(file, _)| file).collect();
        for file in open {
            if namespace.tree.is_below(file, directory) {
                namespace.tree.keep_attributes(file);
            }
        }
    }
    Ok(Applied::default())
}

/// OP_RENAME_SNAPSHOT.
///
/// # Errors
/// There is no such snapshot, or one of the new name.
pub fn apply_rename(
    namespace: &mut Namespace,
    root: &str,
    old: &str,
    new: &str,
    mtime: i64,
) -> Result<Applied, ApplyError> {
    let directory = directory_of(namespace, RENAME, root)?;
    if old == new {
        return Ok(Applied::default());
    }
    let view = namespace.tree.inode(directory);
    if view.snapshot_named(old.as_bytes()).is_none() || view.snapshot_named(new.as_bytes()).is_some() {
        return Err(ApplyError::other(RENAME, root, format!("{old} cannot become {new}")));
    }
    namespace.tree.rename_snapshot(directory, old, new, mtime);
    Ok(Applied::default())
}

/// OP_DELETE_SNAPSHOT.
///
/// # Errors
/// There is no such snapshot.
pub fn apply_delete(
    namespace: &mut Namespace,
    root: &str,
    name: &str,
    mtime: i64,
    txid: TxId,
) -> Result<Applied, ApplyError> {
    let directory = directory_of(namespace, DELETE, root)?;
    let found = namespace.tree.inode(directory).snapshot_named(name.as_bytes()).map(|s| s.id);
    let Some(snapshot) = found else {
        if namespace.went_when_marked(directory, name) {
            return Ok(Applied::default());
        }
        return Err(ApplyError::other(DELETE, root, format!("there is no snapshot {name}")));
    };
    if namespace.only_marks(directory, snapshot) {
        namespace.mark_deleted(directory, snapshot, name, mtime);
        return Ok(Applied::default());
    }
    namespace.delete_snapshot(directory, snapshot, txid);
    namespace.tree.touch_snapshot_root(directory, mtime);
    Ok(Applied { detached: namespace.has_detached() })
}

fn directory_of(namespace: &Namespace, op: &'static str, root: &str) -> Result<InodeHandle, ApplyError> {
    let handle = namespace.apply_lookup(op, root)?;
    if namespace.tree.inode(handle).is_directory() {
        return Ok(handle);
    }
    Err(ApplyError::WrongKind { op, path: Box::from(root) })
}
