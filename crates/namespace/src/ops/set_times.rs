//! setTimes: modification and access time.
//! Source: `FSDirAttrOp.setTimes`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::DirOp;
use alloc::format;
use surus_types::{FsAction, HdfsError};

/// The request, in milliseconds since 1970. Negative: unchanged.
#[derive(Clone, Copy, Debug)]
pub struct SetTimes<'a> {
    pub src: &'a str,
    pub modification_time: i64,
    pub access_time: i64,
}

impl Operation for SetTimes<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        if namespace.config.access_time_precision_ms == 0 && self.access_time != -1 {
            return Err(HdfsError::io(
                "Access time for hdfs is not configured.  Please set dfs.namenode.accesstime.precision configuration \
                 parameter.",
            )
            .into());
        }
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "setTimes")?;
        namespace.check_path_access(env, &path, FsAction::WRITE)?;
        if path.last.is_none() {
            return Err(HdfsError::file_not_found(format!("File/Directory {} does not exist.", path.path)).into());
        }
        if self.modification_time < 0 && self.access_time < 0 {
            return Ok(Plan::read(()));
        }
        let op = EditOp::Times { path: path.path.into(), mtime: self.modification_time, atime: self.access_time };
        Ok(Plan::one(op, ()))
    }
}

/// OP_TIMES.
///
/// # Errors
/// The path is missing.
pub fn apply(namespace: &mut Namespace, path: &str, mtime: i64, atime: i64) -> Result<Applied, ApplyError> {
    let handle = namespace.apply_lookup("OP_TIMES", path)?;
    let inode = namespace.tree.inode(handle);
    if mtime < 0 && namespace.config.snapshots.skips_access_times {
        namespace.tree.set_access_time_alone(handle, atime);
        return Ok(Applied::default());
    }
    let mtime = if mtime < 0 { inode.modification_time() } else { mtime };
    let atime = if atime < 0 { inode.access_time() } else { atime };
    namespace.tree.set_times(handle, mtime, atime);
    Ok(Applied::default())
}
