//! JSON of snapshots. Source: `JsonUtil.java`, Hadoop 3.5.0.

use crate::json::{file_status_object, string};
use surus_types::FileStatus;

/// One entry of a page of differences.
pub struct DiffListingEntry<'a> {
    pub path: &'a [u8],
    pub directory: u64,
    pub inode: u64,
    pub is_reference: bool,
    pub target: Option<&'a [u8]>,
}

fn raw(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

fn key(out: &mut Vec<u8>, before: &str, value: &[u8]) {
    raw(out, before);
    string(out, value);
}

fn list<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, mut put: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        put(out, item);
    }
    out.push(b']');
}

/// An entry of the answer to GETSNAPSHOTTABLEDIRECTORYLIST.
pub fn snapshottable_directory(out: &mut Vec<u8>, status: &FileStatus<'_>, parent: &str, snapshots: u32, limit: u32) {
    raw(out, "{\"dirStatus\":");
    file_status_object(out, status);
    key(out, ",\"parentFullPath\":", parent.as_bytes());
    raw(out, &format!(",\"snapshotNumber\":{snapshots},\"snapshotQuota\":{limit}}}"));
}

/// The answer to GETSNAPSHOTTABLEDIRECTORYLIST from its entries; `None`: no directory is snapshottable.
pub fn snapshottable_directories(out: &mut Vec<u8>, entries: Option<&[Vec<u8>]>) {
    raw(out, "{\"SnapshottableDirectoryList\":");
    match entries {
        None => raw(out, "null"),
        Some(entries) => list(out, entries, |out, entry| out.extend_from_slice(entry)),
    }
    out.push(b'}');
}

/// An entry of the answer to GETSNAPSHOTLIST.
pub fn snapshot(out: &mut Vec<u8>, status: &FileStatus<'_>, full_path: &str, id: u32, is_deleted: bool) {
    let state = if is_deleted { "DELETED" } else { "ACTIVE" };
    raw(out, &format!("{{\"deletionStatus\":\"{state}\",\"dirStatus\":"));
    file_status_object(out, status);
    key(out, ",\"fullPath\":", full_path.as_bytes());
    raw(out, &format!(",\"snapshotID\":{id}}}"));
}

/// The answer to GETSNAPSHOTLIST from its entries.
pub fn snapshots(out: &mut Vec<u8>, entries: &[Vec<u8>]) {
    raw(out, "{\"SnapshotList\":");
    list(out, entries, |out, entry| out.extend_from_slice(entry));
    out.push(b'}');
}

/// The answer to GETSNAPSHOTDIFF: entries are source, target and type.
pub fn snapshot_diff<'a>(
    out: &mut Vec<u8>,
    root: &str,
    from: &str,
    to: &str,
    entries: impl IntoIterator<Item = (&'a [u8], Option<&'a [u8]>, &'a str)>,
) {
    raw(out, "{\"SnapshotDiffReport\":{\"diffList\":");
    list(out, entries, |out, (source, target, kind)| {
        key(out, "{\"sourcePath\":", source);
        if let Some(target) = target {
            key(out, ",\"targetPath\":", target);
        }
        raw(out, &format!(",\"type\":\"{kind}\"}}"));
    });
    key(out, ",\"fromSnapshot\":", from.as_bytes());
    key(out, ",\"snapshotRoot\":", root.as_bytes());
    key(out, ",\"toSnapshot\":", to.as_bytes());
    raw(out, "}}");
}

/// The answer to GETSNAPSHOTDIFFLISTING: what was created, deleted, modified.
pub fn snapshot_diff_listing(
    out: &mut Vec<u8>,
    lists: [&[DiffListingEntry<'_>]; 3],
    is_from_earlier: bool,
    last_path: &[u8],
    last_index: i32,
) {
    let [created, deleted, modified] = lists;
    let put = |out: &mut Vec<u8>, entry: &DiffListingEntry<'_>| {
        let DiffListingEntry { directory, inode, is_reference, .. } = entry;
        raw(out, &format!("{{\"dirId\":{directory},\"fileId\":{inode},\"isReference\":{is_reference}"));
        key(out, ",\"sourcePath\":", entry.path);
        if let Some(target) = entry.target {
            key(out, ",\"targetPath\":", target);
        }
        out.push(b'}');
    };
    raw(out, "{\"SnapshotDiffReportListing\":{\"createList\":");
    list(out, created, put);
    raw(out, ",\"deleteList\":");
    list(out, deleted, put);
    raw(out, &format!(",\"isFromEarlier\":{is_from_earlier},\"lastIndex\":{last_index}"));
    key(out, ",\"lastPath\":", last_path);
    raw(out, ",\"modifyList\":");
    list(out, modified, put);
    raw(out, "}}");
}
