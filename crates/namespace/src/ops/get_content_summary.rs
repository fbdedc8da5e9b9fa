//! getContentSummary and getQuotaUsage: totals below a path, from the counters that every directory keeps.
//! Source: `FSDirStatAndListingOp.getContentSummary`, `getQuotaUsage`, Hadoop 3.5.0.

use crate::Namespace;
use crate::permission::Wanted;
use crate::plan::Env;
use crate::resolve::{DirOp, Resolved};
use crate::tree::{CURRENT, Counts, InodeHandle, InodeView};
use surus_types::{ContentSummary, FsAction, HdfsError, SnapshotTotals};

impl Namespace {
    /// Totals of `src`. A superuser's answer needs no walk; others must be able to read every directory below. In a snapshot
    /// it is a walk in any case: [`crate::PastWalk`] makes it in slices.
    ///
    /// # Errors
    /// `FileNotFoundException`, `AccessControlException`.
    pub fn get_content_summary(&self, env: &Env<'_>, src: &str) -> Result<ContentSummary, HdfsError> {
        let path = self.resolve(env, src, DirOp::ReadLink)?;
        let handle = self.existing(&path, "File does not exist: ")?;
        self.summary(env, &path, handle)
    }

    /// As the content summary, with the checks of other calls on subtrees.
    ///
    /// # Errors
    /// `FileNotFoundException`, `AccessControlException`.
    pub fn get_quota_usage(&self, env: &Env<'_>, src: &str) -> Result<ContentSummary, HdfsError> {
        let path = self.resolve(env, src, DirOp::ReadLink)?;
        let handle = self.existing(&path, "File/Directory does not exist: ")?;
        self.check_permission(env, &path, Wanted { subtree: Some(FsAction::READ_EXECUTE), ..Wanted::default() })?;
        let inode = self.tree.inode(handle);
        let has_quota = inode.is_directory() && (inode.quota().is_some() || handle == InodeHandle::ROOT);
        if path.snapshot != CURRENT || !has_quota {
            return Ok(self.totals(handle));
        }
        // What the quota is held against, what only snapshots hold included.
        let (usage, counts, quota) = (self.usage(handle), inode.counts(), inode.quota_shown());
        Ok(ContentSummary {
            length: counts.length,
            file_count: (usage.names as u64).saturating_sub(counts.directories),
            directory_count: counts.directories,
            quota: quota.names,
            space_consumed: usage.space as u64,
            space_quota: quota.space,
            type_consumed: usage.types,
            type_quotas: quota.types,
            ..ContentSummary::default()
        })
    }

    fn summary(&self, env: &Env<'_>, path: &Resolved<'_>, handle: InodeHandle) -> Result<ContentSummary, HdfsError> {
        self.check_permission(
            env,
            path,
            Wanted { subtree: Some(FsAction::READ_EXECUTE), summary: true, ..Wanted::default() },
        )?;
        if path.snapshot != CURRENT {
            let counts = self.tree.counts_at(handle, path.snapshot);
            return Ok(self.past_totals(self.shown(path, handle), &counts));
        }
        Ok(self.totals(handle))
    }

    /// Totals of a subtree in a snapshot.
    pub(crate) fn past_totals(&self, top: InodeView<'_>, counts: &Counts) -> ContentSummary {
        ContentSummary {
            length: counts.length,
            file_count: counts.files,
            directory_count: counts.directories,
            space_consumed: counts.space,
            ec_policy: top.ec_policy_shown().into(),
            ..ContentSummary::default()
        }
    }

    pub(super) fn totals(&self, handle: InodeHandle) -> ContentSummary {
        let held = self.tree.held_counts(handle);
        let mut counts = self.tree.counts(handle);
        counts.add(&held);
        let inode = self.tree.inode(handle);
        let quota = inode.quota_shown();
        ContentSummary {
            length: counts.length,
            file_count: counts.files,
            directory_count: counts.directories,
            quota: quota.names,
            space_consumed: counts.space,
            space_quota: quota.space,
            snapshot: SnapshotTotals {
                length: held.length,
                file_count: held.files,
                directory_count: held.directories,
                space_consumed: held.space,
            },
            type_consumed: self.tree.type_spaces(handle),
            type_quotas: quota.types,
            ec_policy: inode.ec_policy_shown().into(),
        }
    }
}
