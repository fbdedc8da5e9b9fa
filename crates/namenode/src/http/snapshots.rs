//! WebHDFS operations on snapshots.

use crate::call::{Call, Done, Refused};
use crate::clock::default_snapshot_name;
use crate::core::Core;
use surus_namespace::ops::snapshot::{AllowSnapshot, CreateSnapshot, DeleteSnapshot, DisallowSnapshot, RenameSnapshot};
use surus_namespace::ops::snapshot_diff::{DiffListingEntry, SnapshotDiff};
use surus_namespace::{Env, Namespace};
use surus_types::HdfsError;
use surus_webhdfs::{Operation, json, json_snapshots};

/// Answers one of these operations; `None`: it is none of them.
pub fn read(
    namespace: &Namespace,
    env: &Env<'_>,
    src: &str,
    operation: &Operation,
) -> Option<Result<Vec<u8>, HdfsError>> {
    let mut out = Vec::new();
    let mut entries: Vec<Vec<u8>> = Vec::new();
    let result = match operation {
        Operation::GetSnapshottableDirectoryList => {
            let any = namespace.get_snapshottable_dir_listing(env, |d| {
                let mut entry = Vec::new();
                json_snapshots::snapshottable_directory(&mut entry, &d.status, d.parent, d.snapshots, d.limit);
                entries.push(entry);
            });
            json_snapshots::snapshottable_directories(&mut out, any.then_some(&entries));
            Ok(())
        }
        Operation::GetSnapshotList => namespace
            .get_snapshot_listing(env, src, |s| {
                let mut entry = Vec::new();
                let name = String::from_utf8_lossy(s.status.name);
                let separator = if s.parent.ends_with('/') { "" } else { "/" };
                let path = format!("{}{separator}.snapshot/{name}", s.parent);
                json_snapshots::snapshot(&mut entry, &s.status, &path, s.id, s.is_deleted);
                entries.push(entry);
            })
            .map(|()| json_snapshots::snapshots(&mut out, &entries)),
        Operation::GetSnapshotDiff { from, to } => {
            let asked = SnapshotDiff { root: src, from, to };
            namespace.get_snapshot_diff_report(env, &asked).map(|report| {
                let entries = report.entries.iter().map(|e| (&e.source[..], e.target.as_deref(), e.kind.name()));
                json_snapshots::snapshot_diff(&mut out, &report.root, from, to, entries);
            })
        }
        Operation::GetSnapshotDiffListing { from, to, start_path, index } => {
            let asked = SnapshotDiff { root: src, from, to };
            namespace.get_snapshot_diff_report_listing(env, &asked, start_path.as_bytes(), *index).map(|page| {
                let lists = [views(&page.created), views(&page.deleted), views(&page.modified)];
                let [created, deleted, modified] = &lists;
                let (last_path, index) = (&page.last_path, page.last_index);
                let lists = [&created[..], &deleted[..], &modified[..]];
                json_snapshots::snapshot_diff_listing(&mut out, lists, page.is_from_earlier, last_path, index);
            })
        }
        _ => return None,
    };
    Some(result.map(|()| out))
}

fn views(entries: &[DiffListingEntry]) -> Vec<json_snapshots::DiffListingEntry<'_>> {
    fn view(entry: &DiffListingEntry) -> json_snapshots::DiffListingEntry<'_> {
        json_snapshots::DiffListingEntry {
            path: &entry.path,
            directory: entry.directory.0,
            inode: entry.inode.0,
            is_reference: entry.is_reference,
            target: entry.target.as_deref(),
        }
    }
    entries.iter().map(view).collect()
}

/// Executes one of these operations; `None`: it is none of them. What is to be said goes into `body`.
pub fn write(
    core: &Core,
    call: &Call<'_>,
    src: &str,
    operation: &Operation,
    body: &mut Vec<u8>,
) -> Option<Result<Done, Refused>> {
    Some(match operation {
        Operation::AllowSnapshot => core.write_if(call, None, &AllowSnapshot { root: src }, |_, ()| {}),
        Operation::DisallowSnapshot => core.write_if(call, None, &DisallowSnapshot { root: src }, |_, ()| {}),
        Operation::CreateSnapshot { name } => {
            let default_name = default_snapshot_name(core.clock.now_ms());
            let operation = CreateSnapshot { root: src, name, default_name: &default_name };
            core.write_if(call, None, &operation, |_, path| json::path(body, path))
        }
        Operation::RenameSnapshot { old_name, new_name } => {
            core.write_if(call, None, &RenameSnapshot { root: src, old_name, new_name }, |_, ()| {})
        }
        Operation::DeleteSnapshot { name } => {
            core.write_if(call, None, &DeleteSnapshot { root: src, name }, |_, ()| {})
        }
        _ => return None,
    })
}

/// Name of the audit log's line.
pub fn audited(operation: &Operation) -> Option<(&'static str, bool)> {
    Some(match operation {
        Operation::AllowSnapshot => ("allowSnapshot", false),
        Operation::DisallowSnapshot => ("disallowSnapshot", false),
        Operation::CreateSnapshot { .. } => ("createSnapshot", false),
        Operation::RenameSnapshot { .. } => ("renameSnapshot", false),
        Operation::DeleteSnapshot { .. } => ("deleteSnapshot", false),
        Operation::GetSnapshottableDirectoryList => ("listSnapshottableDirectory", false),
        Operation::GetSnapshotList => ("ListSnapshot", false),
        Operation::GetSnapshotDiff { .. } | Operation::GetSnapshotDiffListing { .. } => ("computeSnapshotDiff", false),
        _ => return None,
    })
}
