//! Ordered deletion (`dfs.namenode.snapshot.deletion.ordered`): of a directory only the oldest snapshot is deleted at once.
//! Others are marked, by an extended attribute and a number behind their name, and go when they have become the oldest. The
//! log has plain deletions: the setting decides what they do. A log of a time with another setting replays nevertheless, where
//! Hadoop does not start. Source: `SnapshotManager.deleteSnapshot`,
//! `SnapshotDeletionGc.java`, Hadoop 3.5.0.

use super::snapshot::snapshot_error;
use crate::Namespace;
use crate::edit_op::{EditOp, XAttr};
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::storage_policy::XATTR_SYSTEM;
use crate::tree::{InodeHandle, InodeView, SnapshotId};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::{HdfsError, RpcIds, TxId};

/// Source: `HdfsServerConstants.XATTR_SNAPSHOT_DELETED`, Hadoop 3.5.0.
const SNAPSHOT_DELETED_XATTR: &str = "hdfs.snapshot.deleted";

/// Run by the shell every `dfs.namenode.snapshot.deletion.ordered.gc.period.ms`: deletes one marked snapshot that has become
/// the oldest of its directory. The reply names it: directory and snapshot; `None`: there is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct SnapshotDeletionGc;

impl Operation for SnapshotDeletionGc {
    type Reply = Option<(String, String)>;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<Self::Reply>, Refusal> {
        if namespace.blocks.safe_mode.is_on() || !namespace.config.snapshots.ordered_deletion {
            return Ok(Plan::read(None));
        }
        let found = namespace.tree.snapshots().find_map(|(snapshot, root)| {
            let goes = namespace.is_marked_deleted(namespace.tree.inode_at(root, snapshot))
                && !namespace.only_marks(root, snapshot);
            let name = goes.then(|| namespace.tree.inode(root).snapshot_name(snapshot))??;
            Some((namespace.tree.path_of(root)?, String::from(name)))
        });
        let Some((root, name)) = found else { return Ok(Plan::read(None)) };
        let op = EditOp::DeleteSnapshot {
            root: root.as_str().into(),
            name: name.as_str().into(),
            mtime: env.now_ms,
            rpc: RpcIds::NONE,
        };
        Ok(Plan::one(op, Some((root, name))))
    }
}

/// What a marked snapshot is called.
fn marked_name(name: &str, snapshot: SnapshotId) -> String {
    format!("{name}#{snapshot}")
}

impl Namespace {
    /// Ordered deletion marks the roots of snapshots that are to go.
    pub(super) fn is_marked_deleted(&self, root: InodeView<'_>) -> bool {
        root.xattr(XATTR_SYSTEM, SNAPSHOT_DELETED_XATTR).is_some()
    }

    /// Whether to delete this snapshot is to mark it.
    pub(super) fn only_marks(&self, root: InodeHandle, snapshot: SnapshotId) -> bool {
        let first = self.tree.inode(root).diffs().next().map(|diff| diff.snapshot);
        self.config.snapshots.ordered_deletion && first.is_some_and(|first| first != snapshot)
    }

    /// # Errors
    /// The name that the marked snapshot would get is taken.
    pub(super) fn check_can_mark(
        &self,
        root: InodeHandle,
        snapshot: SnapshotId,
        name: &str,
        path: &str,
    ) -> Result<(), HdfsError> {
        let marked = marked_name(name, snapshot);
        if self.only_marks(root, snapshot) && self.tree.inode(root).snapshot_named(marked.as_bytes()).is_some() {
            return Err(snapshot_error(format!("The snapshot {marked} already exists for directory {path}")));
        }
        Ok(())
    }

    /// Marks a snapshot. Its name was checked when the deletion was planned; a log of a time with another setting may hold a
    /// clash, and the snapshot keeps its name then.
    pub(super) fn mark_deleted(&mut self, root: InodeHandle, snapshot: SnapshotId, name: &str, mtime: i64) {
        let view = self.tree.inode_at(root, snapshot);
        if !self.is_marked_deleted(view) {
            let mark = XAttr { namespace: XATTR_SYSTEM, name: SNAPSHOT_DELETED_XATTR.into(), value: None };
            let old = view.xattrs().map(|xattr| xattr.to_xattr());
            let xattrs: Vec<XAttr> = core::iter::once(mark).chain(old).collect();
            self.tree.set_snapshot_xattrs(root, snapshot, &xattrs);
        }
        let marked = marked_name(name, snapshot);
        if self.tree.inode(root).snapshot_named(marked.as_bytes()).is_none() {
            self.tree.rename_snapshot(root, name, &marked, mtime);
        }
    }
}

/// Logs of a time with another setting.
impl Namespace {
    /// Whether the deletion of a marked snapshot finds nothing because marking it has deleted it: the setting is off now.
    pub(super) fn went_when_marked(&self, root: InodeHandle, name: &str) -> bool {
        let Some(snapshot) = name.rsplit_once('#').and_then(|(_, id)| id.parse::<SnapshotId>().ok()) else {
            return false;
        };
        snapshot < self.tree.snapshot_counter() && self.tree.inode(root).snapshot_name(snapshot).is_none()
    }

    /// Deletes snapshots that are only marked, where the log goes on as if they were gone: the setting was off then. Nothing of
    /// the kind is in the log of a time when it was on.
    pub(super) fn delete_marked(&mut self, root: InodeHandle, txid: TxId) {
        if !self.config.snapshots.ordered_deletion {
            return;
        }
        let Some(snapshottable) = self.tree.inode(root).snapshottable() else { return };
        let marked = |id: &SnapshotId| self.is_marked_deleted(self.tree.inode_at(root, *id));
        let marked: Vec<SnapshotId> =
            snapshottable.snapshots.iter().map(|snapshot| snapshot.id).filter(marked).collect();
        for snapshot in marked {
            self.delete_snapshot(root, snapshot, txid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamespaceConfig;
    use alloc::string::ToString;

    struct Log(Namespace, u64);

    impl Log {
        fn run(&mut self, op: EditOp) {
            self.1 += 1;
            self.0.apply(&op, TxId(self.1)).unwrap();
        }
        fn create(&mut self, name: &str) {
            self.run(EditOp::CreateSnapshot { root: "/".into(), name: name.into(), mtime: 1, rpc: RpcIds::NONE });
        }
        fn delete(&mut self, name: &str) {
            self.run(EditOp::DeleteSnapshot { root: "/".into(), name: name.into(), mtime: 9, rpc: RpcIds::NONE });
        }
        fn snapshots(&self) -> String {
            let root = self.0.tree.inode(InodeHandle::ROOT);
            let all = &root.snapshottable().unwrap().snapshots;
            let shown = all.iter().map(|s| {
                let then = self.0.tree.inode_at(InodeHandle::ROOT, s.id);
                let mark = if self.0.is_marked_deleted(then) { " deleted" } else { "" };
                format!("{}{mark} {}", s.name, then.modification_time())
            });
            shown.collect::<Vec<_>>().join(", ")
        }
    }

    fn log(ordered: bool) -> Log {
        let mut config = NamespaceConfig::default();
        config.snapshots.ordered_deletion = ordered;
        Log(Namespace::new(config), 0)
    }

    #[test]
    fn the_log_of_a_time_with_the_setting_on_replays_with_it_off() {
        let mut log = log(false);
        log.run(EditOp::AllowSnapshot { root: "/".into() });
        ["a", "b", "c"].iter().for_each(|name| log.create(name));
        ["b", "b#1", "a", "b#1#1"].iter().for_each(|name| log.delete(name));
        assert_eq!(log.snapshots(), "c 1");
        // What never was is damage all the same.
        for name in ["d", "c#2", "c#3", "c#x"] {
            let op = EditOp::DeleteSnapshot { root: "/".into(), name: name.into(), mtime: 9, rpc: RpcIds::NONE };
            assert!(log.0.apply(&op, TxId(log.1 + 1)).is_err(), "{name}");
        }
    }

    #[test]
    fn the_log_of_a_time_with_the_setting_off_replays_with_it_on() {
        let mut log = log(true);
        log.run(EditOp::AllowSnapshot { root: "/".into() });
        ["a", "b", "c"].iter().for_each(|name| log.create(name));
        ["c", "b"].iter().for_each(|name| log.delete(name));
        assert_eq!(log.snapshots(), "a 1, b#1 deleted 9, c#2 deleted 9");
        log.delete("a");
        log.run(EditOp::DisallowSnapshot { root: "/".into() });
        assert_eq!(log.0.tree.snapshots().count(), 0);
        log.0.tree.check_interned().unwrap();
    }

    #[test]
    fn all_but_the_oldest_are_marked() {
        let mut log = log(true);
        log.run(EditOp::AllowSnapshot { root: "/".into() });
        ["a", "b", "c"].iter().for_each(|name| log.create(name));
        log.delete("b");
        assert_eq!(log.snapshots(), "a 1, b#1 deleted 9, c 1");
        // Once more: the mark stays, the name grows, as in Hadoop.
        log.delete("b#1");
        assert_eq!(log.snapshots(), "a 1, b#1#1 deleted 9, c 1");
        log.0.tree.check_interned().unwrap();
        log.delete("a");
        assert_eq!(log.snapshots(), "b#1#1 deleted 9, c 1");
        log.delete("b#1#1");
        assert_eq!(log.snapshots(), "c 1");
        log.delete("c");
        assert_eq!(log.snapshots().to_string(), "");
        log.0.tree.check_interned().unwrap();
    }
}
