//! concat: the blocks of some files go to the end of another in the same directory; the files vanish.
//! Source: `FSDirConcatOp.java`, Hadoop 3.5.0.

use super::quota::Usage;
use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, Resolved, is_reserved_inodes, is_reserved_raw};
use crate::tree::InodeHandle;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::{ExceptionClass, FsAction, HdfsError, TxId};

const OP: &str = "OP_CONCAT_DELETE";

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct Concat<'a> {
    pub target: &'a str,
    pub sources: &'a [&'a str],
}

impl Operation for Concat<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        let empty = |text: &str| HdfsError::new(ExceptionClass::IllegalArgument, text);
        if self.target.is_empty() {
            return Err(empty("Target file name is empty").into());
        }
        if self.sources.is_empty() {
            return Err(empty("No sources given").into());
        }
        for path in [self.target].iter().chain(self.sources) {
            if is_reserved_raw(path) || is_reserved_inodes(path) {
                let text = format!("Concat operation doesn't support .reserved relative path : {path}");
                return Err(HdfsError::io(text).into());
            }
        }
        let path = namespace.resolve_for(env, self.target, DirOp::Write, "concat")?;
        namespace.check_path_access(env, &path, FsAction::WRITE)?;
        let target = namespace.existing_file_called(&path, self.target)?;
        if namespace.tree.inode(target).is_under_construction() {
            return Err(illegal(format!("concat: target file {} is under construction", self.target)).into());
        }
        if namespace.tree.inode(target).zone().is_some() {
            return Err(illegal("concat can not be called for files in encryption zone.".into()).into());
        }
        let mut handles: Vec<InodeHandle> = Vec::with_capacity(self.sources.len());
        let mut sources: Vec<Box<str>> = Vec::with_capacity(self.sources.len());
        for src in self.sources {
            let source = namespace.resolve_for(env, src, DirOp::Write, "concat")?;
            handles.push(check_source(namespace, env, &path, target, src, &source)?);
            sources.push(source.path.into());
        }
        handles.sort_unstable();
        handles.dedup();
        if handles.len() < self.sources.len() {
            return Err(illegal("concat: at least two of the source files are the same".into()).into());
        }
        namespace.verify_concat_quota(path.ancestor, target, &handles)?;
        let op =
            EditOp::ConcatDelete { target: path.path.into(), sources, timestamp: env.now_ms, rpc: env.rpc.clone() };
        Ok(Plan::one(op, ()))
    }
}

impl Namespace {
    /// The blocks that come take the target's replication, which may be more.
    fn verify_concat_quota(
        &self,
        directory: InodeHandle,
        target: InodeHandle,
        sources: &[InodeHandle],
    ) -> Result<(), HdfsError> {
        let to = self.tree.inode(target).replication();
        let mut added = Usage::default();
        for &source in sources {
            let inode = self.tree.inode(source);
            let of = |replication| Usage::bytes(inode.length() as i64, replication, inode.storage_policy());
            added = added.plus(&of(to)).minus(&of(inode.replication()));
        }
        self.verify_quota(directory, &added)
    }
}

fn illegal(text: alloc::string::String) -> HdfsError {
    HdfsError::new(ExceptionClass::HadoopIllegalArgument, text)
}

fn check_source(
    namespace: &Namespace,
    env: &Env<'_>,
    target_path: &Resolved<'_>,
    target: InodeHandle,
    src: &str,
    source: &Resolved<'_>,
) -> Result<InodeHandle, HdfsError> {
    namespace.check_path_access(env, source, FsAction::READ)?;
    namespace.check_parent_access(env, source, FsAction::WRITE)?;
    let handle = namespace.existing_file(source)?;
    let (from, to) = (namespace.tree.inode(handle), namespace.tree.inode(target));
    let refuse = |text| Err(illegal(text));
    if from.parent() != to.parent() {
        let target = &target_path.path;
        return refuse(format!("Source file {src} is not in the same directory with the target {target}"));
    }
    let in_snapshot = |text: String| Err(HdfsError::new(ExceptionClass::Snapshot, text));
    if namespace.tree.is_in_latest_snapshot(handle) {
        return in_snapshot(format!("Concat: the source file {src} is in snapshot"));
    }
    if namespace.tree.is_held(handle) {
        let text = "is referred by some other reference in some snapshot.";
        return in_snapshot(format!("Concat: the source file {src} {text}"));
    }
    if handle == target {
        return refuse(format!("concat: the src file {src} is the same with the target file {}", target_path.path));
    }
    if from.is_under_construction() || from.blocks().is_empty() {
        return refuse(format!("concat: source file {src} is invalid or empty or underConstruction"));
    }
    if from.layout().erasure_coding_policy != to.layout().erasure_coding_policy {
        let target = &target_path.path;
        return refuse(format!("Source file {src} and target file {target} have different erasure coding policy"));
    }
    let (ours, theirs) = (to.preferred_block_size(), from.preferred_block_size());
    if theirs > ours {
        return refuse(format!(
            "concat: source file {src} has preferred block size {theirs} which is greater than the target file's \
             preferred block size {ours}"
        ));
    }
    Ok(handle)
}

/// OP_CONCAT_DELETE.
///
/// # Errors
/// A path is missing or not a file.
pub fn apply(
    namespace: &mut Namespace,
    target: &str,
    sources: &[Box<str>],
    timestamp: i64,
    txid: TxId,
) -> Result<Applied, ApplyError> {
    let to = namespace.apply_lookup(OP, target)?;
    let mut handles = Vec::with_capacity(sources.len());
    for source in sources {
        let handle = namespace.apply_lookup(OP, source)?;
        if !namespace.tree.inode(handle).is_file() || handle == to || handles.contains(&handle) {
            return Err(ApplyError::WrongKind { op: OP, path: source.clone() });
        }
        handles.push(handle);
    }
    namespace.tree.keep_attributes(to);
    let inode = namespace.tree.inode(to);
    let (Some(parent), true) = (inode.parent(), inode.is_file()) else {
        return Err(ApplyError::WrongKind { op: OP, path: target.into() });
    };
    let (id, atime) = (inode.id(), inode.access_time());
    let replication = namespace.tree.block_replication(to);
    let (mut blocks, mut length) = (inode.blocks().to_vec(), inode.length());
    for handle in handles {
        let source = namespace.tree.inode(handle);
        length += source.length();
        let moved = source.blocks().to_vec();
        namespace.tree.set_blocks(handle, &[]);
        namespace.tree.set_file_size(handle, 0, 0);
        for &block in &moved {
            namespace.blocks.set_owner(block, id);
            namespace.blocks.set_replication(block, replication);
        }
        blocks.extend(moved);
        namespace.detach_and_free(handle, txid);
    }
    namespace.tree.set_blocks(to, &blocks);
    namespace.tree.set_file_size(to, length, 0);
    namespace.tree.set_times(to, timestamp, atime);
    namespace.tree.touch_directory(parent, timestamp);
    Ok(Applied::default())
}
