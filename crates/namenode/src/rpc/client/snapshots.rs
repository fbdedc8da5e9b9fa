//! Snapshots: what there is, what changed, and the calls that make and delete them.

use crate::call::{Call, Done, Refused};
use crate::clock::default_snapshot_name;
use crate::core::Core;
use crate::rpc::datanode::put;
use surus_namespace::ops::snapshot::{AllowSnapshot, CreateSnapshot, DeleteSnapshot, DisallowSnapshot, RenameSnapshot};
use surus_namespace::ops::snapshot_diff::{DiffListingEntry, SnapshotDiff};
use surus_namespace::resolve::check_path_length;
use surus_proto::hadoop::hdfs::{
    AllowSnapshotRequestProto, AllowSnapshotResponseProto, CreateSnapshotRequestProto, CreateSnapshotResponseProto,
    DeleteSnapshotRequestProto, DeleteSnapshotResponseProto, DisallowSnapshotRequestProto,
    DisallowSnapshotResponseProto, GetSnapshotDiffReportListingRequestProto, GetSnapshotDiffReportListingResponseProto,
    GetSnapshotDiffReportRequestProto, GetSnapshotDiffReportResponseProto, GetSnapshotListingRequestProto,
    GetSnapshotListingResponseProto, GetSnapshottableDirListingResponseProto, RenameSnapshotRequestProto,
    RenameSnapshotResponseProto, SnapshotDiffReportCursorProto, SnapshotDiffReportEntryProto,
    SnapshotDiffReportListingEntryProto, SnapshotDiffReportListingProto, SnapshotDiffReportProto, SnapshotListingProto,
    SnapshotStatusProto, SnapshottableDirectoryListingProto, SnapshottableDirectoryStatusProto,
};
use surus_types::HdfsError;
use surus_wire::to_proto;

// The plans look at safe mode themselves, after the caller's rights.

pub(super) fn allow_snapshot(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: AllowSnapshotRequestProto = call.decode()?;
    let operation = AllowSnapshot { root: &request.snapshot_root };
    core.write_if(call, None, &operation, |_, ()| put(out, &AllowSnapshotResponseProto {}))
}

pub(super) fn disallow_snapshot(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: DisallowSnapshotRequestProto = call.decode()?;
    let operation = DisallowSnapshot { root: &request.snapshot_root };
    core.write_if(call, None, &operation, |_, ()| put(out, &DisallowSnapshotResponseProto {}))
}

pub(super) fn create_snapshot(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: CreateSnapshotRequestProto = call.decode()?;
    check_path_length("createSnapshot", &request.snapshot_root)?;
    let default_name = default_snapshot_name(core.clock.now_ms());
    let (root, name) = (request.snapshot_root.as_str(), request.snapshot_name());
    let operation = CreateSnapshot { root, name, default_name: &default_name };
    core.write_if(call, None, &operation, |_, path| {
        put(out, &CreateSnapshotResponseProto { snapshot_path: path.clone() });
    })
}

pub(super) fn rename_snapshot(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RenameSnapshotRequestProto = call.decode()?;
    if request.snapshot_new_name.is_empty() {
        return Err(HdfsError::io("The new snapshot name is null or empty.").into());
    }
    let operation = RenameSnapshot {
        root: &request.snapshot_root,
        old_name: &request.snapshot_old_name,
        new_name: &request.snapshot_new_name,
    };
    core.write_if(call, None, &operation, |_, ()| put(out, &RenameSnapshotResponseProto {}))
}

pub(super) fn delete_snapshot(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: DeleteSnapshotRequestProto = call.decode()?;
    if request.snapshot_name.is_empty() {
        return Err(HdfsError::io("The snapshot name is null or empty.").into());
    }
    let operation = DeleteSnapshot { root: &request.snapshot_root, name: &request.snapshot_name };
    core.write_if(call, None, &operation, |_, ()| put(out, &DeleteSnapshotResponseProto {}))
}

/// `null` where no directory at all is snapshottable.
pub(super) fn get_snapshottable_dir_listing(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let mut list = Vec::new();
    let any = core.namespace.read().get_snapshottable_dir_listing(&core.env(call), |directory| {
        list.push(to_proto::file_status(&directory.status).map(|dir_status| SnapshottableDirectoryStatusProto {
            dir_status,
            snapshot_quota: directory.limit,
            snapshot_number: directory.snapshots,
            parent_fullpath: directory.parent.as_bytes().to_vec(),
        }));
    });
    let snapshottable_dir_listing = list.into_iter().collect::<Result<_, _>>()?;
    let list = SnapshottableDirectoryListingProto { snapshottable_dir_listing };
    put(out, &GetSnapshottableDirListingResponseProto { snapshottable_dir_list: any.then_some(list) });
    Ok(())
}

pub(super) fn get_snapshot_listing(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetSnapshotListingRequestProto = call.decode()?;
    let mut list = Vec::new();
    core.namespace.read().get_snapshot_listing(&core.env(call), &request.snapshot_root, |snapshot| {
        list.push(to_proto::file_status(&snapshot.status).map(|dir_status| SnapshotStatusProto {
            dir_status,
            snapshot_id: snapshot.id,
            parent_fullpath: snapshot.parent.as_bytes().to_vec(),
            is_deleted: snapshot.is_deleted,
        }));
    })?;
    let snapshot_listing = list.into_iter().collect::<Result<_, _>>()?;
    put(out, &GetSnapshotListingResponseProto { snapshot_list: Some(SnapshotListingProto { snapshot_listing }) });
    Ok(())
}

pub(super) fn get_snapshot_diff_report(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetSnapshotDiffReportRequestProto = call.decode()?;
    let (root, from, to) = (&*request.snapshot_root, &*request.from_snapshot, &*request.to_snapshot);
    let asked = SnapshotDiff { root, from, to };
    let report = core.namespace.read().get_snapshot_diff_report(&core.env(call), &asked)?;
    let entries = report.entries.into_iter().map(|entry| SnapshotDiffReportEntryProto {
        fullpath: entry.source,
        modification_label: entry.kind.label().to_owned(),
        target_path: entry.target,
    });
    let diff_report = SnapshotDiffReportProto {
        snapshot_root: report.root,
        from_snapshot: from.to_owned(),
        to_snapshot: to.to_owned(),
        diff_report_entries: entries.collect(),
    };
    put(out, &GetSnapshotDiffReportResponseProto { diff_report });
    Ok(())
}

pub(super) fn get_snapshot_diff_report_listing(
    core: &Core,
    call: &Call<'_>,
    out: &mut Vec<u8>,
) -> Result<(), HdfsError> {
    let request: GetSnapshotDiffReportListingRequestProto = call.decode()?;
    let (root, from, to) = (&*request.snapshot_root, &*request.from_snapshot, &*request.to_snapshot);
    let asked = SnapshotDiff { root, from, to };
    let (path, index) = request.cursor.map_or((Vec::new(), -1), |cursor| (cursor.start_path, cursor.index));
    let page = core.diff_page(call, &asked, path, index)?;
    let entries = |list: Vec<DiffListingEntry>| list.into_iter().map(entry).collect();
    let diff_report = SnapshotDiffReportListingProto {
        modified_entries: entries(page.modified),
        created_entries: entries(page.created),
        deleted_entries: entries(page.deleted),
        is_from_earlier: page.is_from_earlier,
        cursor: Some(SnapshotDiffReportCursorProto { start_path: page.last_path, index: page.last_index }),
    };
    put(out, &GetSnapshotDiffReportListingResponseProto { diff_report });
    Ok(())
}

fn entry(entry: DiffListingEntry) -> SnapshotDiffReportListingEntryProto {
    SnapshotDiffReportListingEntryProto {
        fullpath: entry.path,
        dir_id: entry.directory.0,
        is_reference: entry.is_reference,
        // Hadoop sends an empty one for none.
        target_path: Some(entry.target.unwrap_or_default()),
        file_id: Some(entry.inode.0),
    }
}
