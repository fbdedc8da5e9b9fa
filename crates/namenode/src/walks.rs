//! Calls of ordinary users that need rights on every directory below a path: the rights are looked at in slices, with the
//! namespace unlocked in between. Where too much changes meanwhile they are looked at again from the start, a few times,
//! and then in one go as Hadoop does.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::safe_mode::What;
use surus_namespace::ops::rename::Rename2;
use surus_namespace::ops::snapshot_diff::{DiffListing, SnapshotDiff};
use surus_namespace::permission::Wanted;
use surus_namespace::{DirOp, Env, Namespace, Operation, PastWalk, SubtreeWalk};
use surus_types::{ContentSummary, ExceptionClass, FsAction, HdfsError};

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

    /// Walks what a snapshot shows of a path, in slices. `None`: the path is in no snapshot.
    fn walk_past(
        &self,
        env: &Env<'_>,
        src: &str,
        missing: &str,
        action: FsAction,
    ) -> Result<Option<PastWalk>, HdfsError> {
        let walk = self.namespace.read().begin_past_walk(env, src, missing, action)?;
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

    /// The next page of snapshot differences with something in it, from the place where one ended: the namespace is unlocked
    /// after each page that has nothing, and while the caller's rights are looked at.
    ///
    /// # Errors
    /// As `Namespace::get_snapshot_diff_report_listing`.
    pub fn diff_page(
        &self,
        call: &Call<'_>,
        asked: &SnapshotDiff<'_>,
        mut path: Vec<u8>,
        mut index: i32,
    ) -> Result<DiffListing, HdfsError> {
        let env = self.env(call);
        let ask = |namespace: &Namespace, path: &[u8], index| {
            namespace.get_snapshot_diff_report_listing(&env, asked, path, index)
        };
        if !self.namespace.read().is_checked(&env) {
            let mut page = ask(&self.namespace.read(), &path, index)?;
            while page.is_empty() && !page.is_last() {
                let next = || ask(&self.namespace.read(), &page.last_path, page.last_index);
                page = tokio::task::block_in_place(next)?;
            }
            return Ok(page);
        }
        for _ in 0..WALKS_MAX {
            let (past, live) = self.walk_compared(call, asked)?;
            loop {
                let mut namespace = self.namespace.write();
                if let Some(walk) = &live {
                    let Some(top) = namespace.resolve(&env, asked.root, DirOp::Read)?.last else { break };
                    if !namespace.walk_holds(&env, &walk.walk, top)? {
                        break;
                    }
                    namespace.set_walked(Some(top));
                }
                namespace.set_past_walks(&past);
                let page = ask(&namespace, &path, index);
                namespace.set_walked(None);
                namespace.set_past_walks(&[]);
                drop(namespace);
                let page = page?;
                if !page.is_empty() || page.is_last() {
                    return Ok(page);
                }
                (path, index) = (page.last_path, page.last_index);
            }
        }
        ask(&self.namespace.read(), &path, index)
    }

    /// The walks that comparing two states needs of an ordinary user, in the order in which a plan would look. What is wrong
    /// with the names is the plan's to say.
    fn walk_compared(
        &self,
        call: &Call<'_>,
        asked: &SnapshotDiff<'_>,
    ) -> Result<(Vec<PastWalk>, Option<Walk<'_>>), HdfsError> {
        let env = self.env(call);
        let (mut past, mut live) = (Vec::new(), None);
        for name in [asked.from, asked.to] {
            if name.is_empty() {
                let wanted = Wanted { subtree: Some(FsAction::READ), ..Wanted::default() };
                live = self.walk(call, Below { src: asked.root, op: DirOp::Read, wanted }).transpose()?;
                continue;
            }
            let src = format!("{}/.snapshot/{name}", asked.root.trim_end_matches('/'));
            match self.walk_past(&env, &src, "", FsAction::READ) {
                Ok(walk) => past.extend(walk),
                Err(error) if error.class == ExceptionClass::AccessControl => return Err(error),
                Err(_) => {}
            }
        }
        Ok((past, live))
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
        if is_in_snapshot(src) && (!quota || self.namespace.read().is_checked(&env)) {
            let missing = if quota { "File/Directory does not exist: " } else { "File does not exist: " };
            if let Some(walk) = self.walk_past(&env, src, missing, FsAction::READ_EXECUTE)? {
                if !quota {
                    return Ok(self.namespace.read().past_summary(&walk));
                }
                let mut namespace = self.namespace.write();
                namespace.set_past_walks(&[walk]);
                let totals = ask(&namespace);
                namespace.set_past_walks(&[]);
                return totals;
            }
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
