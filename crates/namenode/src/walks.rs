//! Calls of ordinary users that need rights on every directory below a path: the rights are looked at in slices, with the
//! namespace unlocked in between. Where too much changes meanwhile they are looked at again from the start, a few times,
//! and then in one go as Hadoop does.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::safe_mode::What;
use surus_namespace::ops::rename::Rename2;
use surus_namespace::permission::Wanted;
use surus_namespace::{DirOp, Env, Namespace, Operation, PastWalk, SubtreeWalk};
use surus_types::{ContentSummary, FsAction, HdfsError};

/// Subtrees of fewer inodes are looked at in one go.
const SLICED_INODES_MIN: u64 = 4_000;
/// Inodes looked at while the namespace is locked once: well under a millisecond.
const SLICE_INODES: usize = 1_000;
/// Walks of one call, before it holds the lock.
const WALKS_MAX: usize = 3;

/// Whether a path can be one in a snapshot.
fn is_in_snapshot(src: &str) -> bool {
    src.contains("/.snapshot/")
}

/// A walk that ends with this value.
struct Walk<'a> {
    core: &'a Core,
    walk: SubtreeWalk,
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        self.core.namespace.read().end_walk();
    }
}

/// What a walk came to: it went through, or somebody's directory is in the way.
type Walked<'a> = Result<Walk<'a>, HdfsError>;

/// The path of a call and what it needs below.
#[derive(Clone, Copy)]
pub struct Below<'a> {
    pub src: &'a str,
    pub op: DirOp,
    pub wanted: Wanted,
}

impl<'a> Below<'a> {
    /// What a recursive delete needs.
    pub fn delete(src: &'a str) -> Self {
        let wanted = Wanted { subtree: Some(FsAction::ALL), ignore_empty_directories: true, ..Wanted::default() };
        Below { src, op: DirOp::WriteLink, wanted }
    }
}

/// A rename that replaces or goes to the trash: what goes there may be moved only by who may delete it.
///
/// # Errors
/// The plan's refusal, or the walk's.
pub fn rename(
    core: &Core,
    call: &Call<'_>,
    src: &str,
    operation: &Rename2<'_>,
    encode: impl FnMut(&Namespace, &()),
) -> Result<Done, Refused> {
    let what = What("Cannot rename ", src);
    match operation.options.to_trash {
        true => core.write_below(call, what, operation, Below::delete(src), encode),
        false => core.write(call, what, operation, encode),
    }
}

impl Core {
    /// Walks the subtree, if it is large and the caller is checked at all.
    fn walk(&self, call: &Call<'_>, below: Below<'_>) -> Option<Walked<'_>> {
        let env = self.env(call);
        let walk = {
            let namespace = self.namespace.read();
            // Whatever is wrong with the path is the plan's to say.
            let top = namespace.resolve(&env, below.src, below.op).ok()?.last?;
            if !namespace.is_long_walk(&env, top, SLICED_INODES_MIN) {
                return None;
            }
            namespace.begin_walk(top, below.wanted)
        };
        let mut walk = Walk { core: self, walk };
        let slices = || loop {
            match self.namespace.read().walk_slice(&env, &mut walk.walk, SLICE_INODES) {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(denied) => return Err(denied),
            }
        };
        // Other connections of this thread go on elsewhere.
        Some(tokio::task::block_in_place(slices).map(|()| walk))
    }

    /// As `write`, for a change that needs rights on all that lies below `below.src`.
    ///
    /// # Errors
    /// The plan's refusal, or the walk's.
    pub fn write_below<O: Operation>(
        &self,
        call: &Call<'_>,
        what: What<'_>,
        operation: &O,
        below: Below<'_>,
        mut encode: impl FnMut(&Namespace, &O::Reply),
    ) -> Result<Done, Refused> {
        for _ in 0..WALKS_MAX {
            let Some(walked) = self.walk(call, below) else { break };
            let env = self.env(call);
            let mut namespace = self.namespace.write();
            let top = namespace.resolve(&env, below.src, below.op).ok().and_then(|path| path.last);
            let Some(top) = top else { break };
            if let Ok(walk) = &walked
                && !namespace.walk_holds(&env, &walk.walk, top)?
            {
                continue;
            }
            namespace.set_walked(Some(top));
            let planned = operation.plan(&namespace, &env);
            namespace.set_walked(None);
            let result = match walked {
                // What the plan refuses by itself comes first.
                Err(denied) if planned.is_ok() => Err(denied.into()),
                walked => {
                    let result = self.finish(namespace, call, Some(what), planned, |n, reply| encode(n, reply));
                    drop(walked);
                    return result;
                }
            };
            return result;
        }
        self.write(call, what, operation, encode)
    }

    /// Walks what a snapshot shows of a path, in slices. `None`: the path is in no snapshot, or nobody asks for a walk.
    fn walk_past(&self, env: &Env<'_>, src: &str, quota: bool) -> Result<Option<PastWalk>, HdfsError> {
        let missing = if quota { "File/Directory does not exist: " } else { "File does not exist: " };
        let walk = {
            let namespace = self.namespace.read();
            if quota && !namespace.is_checked(env) {
                return Ok(None);
            }
            namespace.begin_past_walk(env, src, missing)?
        };
        let Some(mut walk) = walk else { return Ok(None) };
        let slices = || loop {
            match self.namespace.read().past_walk_slice(env, &mut walk, SLICE_INODES) {
                Ok(false) => {}
                Ok(true) => return Ok(()),
                Err(refused) => return Err(refused),
            }
        };
        tokio::task::block_in_place(slices)?;
        Ok(Some(walk))
    }

    /// Totals below a path; `quota`: as getQuotaUsage tells them.
    ///
    /// # Errors
    /// No such path, or a directory below that the caller may not read.
    pub fn totals(&self, call: &Call<'_>, src: &str, quota: bool) -> Result<ContentSummary, HdfsError> {
        let env = self.env(call);
        let ask = |namespace: &Namespace| match quota {
            true => namespace.get_quota_usage(&env, src),
            false => namespace.get_content_summary(&env, src),
        };
        if is_in_snapshot(src)
            && let Some(walk) = self.walk_past(&env, src, quota)?
        {
            if !quota {
                return Ok(self.namespace.read().past_summary(&walk));
            }
            let mut namespace = self.namespace.write();
            namespace.set_walked(Some(walk.top()));
            let totals = ask(&namespace);
            namespace.set_walked(None);
            return totals;
        }
        let wanted = Wanted { subtree: Some(FsAction::READ_EXECUTE), summary: !quota, ..Wanted::default() };
        for _ in 0..WALKS_MAX {
            let Some(walked) = self.walk(call, Below { src, op: DirOp::ReadLink, wanted }) else { break };
            let walk = walked?;
            let mut namespace = self.namespace.write();
            let Some(top) = namespace.resolve(&env, src, DirOp::ReadLink)?.last else { break };
            if !namespace.walk_holds(&env, &walk.walk, top)? {
                continue;
            }
            namespace.set_walked(Some(top));
            let totals = ask(&namespace);
            namespace.set_walked(None);
            drop(namespace);
            return totals;
        }
        ask(&self.namespace.read())
    }
}
