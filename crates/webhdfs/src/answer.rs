//! From an operation to its answer, for every server: asks the file system, writes the JSON that the server speaks.
//! Not here: what moves data (OPEN, CREATE, APPEND, GETFILECHECKSUM) and LISTSTATUS, which is sent as it is made.

use crate::file_system::{DiffListingEntry, DiffPage, FileSystem};
use crate::json::{self, Listing};
use crate::request::{Operation, Side};
use crate::{json_ec, json_httpfs, json_snapshots, unsupported_error};
use surus_types::xattr::prefixed;
use surus_types::{ExceptionClass, FileStatus, FsPermission, HdfsError, XAttr};

/// Mode of a new directory where the request names none. Source: `PermissionParam.java`, Hadoop 3.5.0.
const DIRECTORY_MODE: FsPermission = FsPermission(0o755);

/// What an operation comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Json(Vec<u8>),
    /// Nothing to say; with or without a content type, as the NameNode's methods differ.
    Empty {
        typed: bool,
    },
}

/// Answers an operation on `path`, as `side` would write it.
///
/// # Errors
/// Those of the file system; `UnsupportedOperationException` for an operation that is not answered here.
pub fn answer<F: FileSystem>(fs: &F, side: Side, path: &str, operation: &Operation) -> Result<Answer, F::Error> {
    let mut out = Vec::new();
    let asked = match side {
        Side::HttpFs => question_of_httpfs(fs, path, operation, &mut out)?,
        Side::NameNode | Side::DataNode => false,
    };
    if asked || question(fs, path, operation, &mut out)? || question_of_snapshots(fs, path, operation, &mut out)? {
        return Ok(Answer::Json(out));
    }
    if let Some(value) = change_with_truth(fs, path, operation)? {
        json::boolean(&mut out, value);
        json_httpfs::end_of_map(side, &mut out);
        return Ok(Answer::Json(out));
    }
    change(fs, path, operation)
}

/// Whether a name is to be listed.
pub type KeepName<'a> = dyn Fn(&[u8]) -> bool + 'a;

/// What `LISTSTATUS` and `LISTSTATUS_BATCH` are made of: one page of a directory.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    pub path: &'a str,
    pub start_after: &'a [u8],
    /// Whether no entry was written before.
    pub is_first: bool,
    pub form: Listing,
    /// Which names are written; `None`: all.
    pub keep: Option<&'a KeepName<'a>>,
}

impl Page<'_> {
    /// Writes the page's entries; returns how many come after it, and its last name.
    ///
    /// # Errors
    /// Those of the file system; `FileNotFoundException`.
    pub fn write<F: FileSystem>(self, fs: &F, out: &mut Vec<u8>) -> Result<(u32, Vec<u8>), F::Error> {
        let (mut is_first, mut last) = (self.is_first, Vec::new());
        let put = |status: &FileStatus<'_>| {
            if self.keep.is_none_or(|keep| keep(status.name)) {
                self.form.entry(out, is_first, status);
                is_first = false;
            }
            last.clear();
            last.extend_from_slice(status.name);
        };
        match fs.list(self.path, self.start_after, put)? {
            Some(remaining) => Ok((remaining, last)),
            None => Err(HdfsError::file_not_found(format!("File {} does not exist.", self.path)).into()),
        }
    }
}

fn missing(path: &str) -> HdfsError {
    HdfsError::file_not_found(format!("File does not exist: {path}"))
}

/// Where HttpFS's JSON differs. Source: `FSOperations.java`, Hadoop 3.4.2.
fn question_of_httpfs<F: FileSystem>(
    fs: &F,
    path: &str,
    operation: &Operation,
    out: &mut Vec<u8>,
) -> Result<bool, F::Error> {
    match operation {
        Operation::GetFileStatus | Operation::GetFileLinkStatus => {
            let follow = *operation == Operation::GetFileStatus;
            if !fs.file_status(path, follow, &mut |status| json_httpfs::file_status(out, status))? {
                return Err(missing(path).into());
            }
        }
        Operation::ListStatusBatch { start_after } => {
            let form = Listing::HttpFsBatch;
            form.start(out);
            let page = Page { path, start_after: start_after.as_bytes(), is_first: true, form, keep: None };
            let (remaining, _) = page.write(fs, out)?;
            form.end(out, remaining);
        }
        Operation::GetContentSummary => json_httpfs::content_summary(out, &fs.content_summary(path)?),
        Operation::GetQuotaUsage => json_httpfs::quota_usage(out, &fs.quota_usage(path)?),
        Operation::GetHomeDirectory => json_httpfs::path(out, &fs.home_directory()),
        Operation::GetTrashRoot => json_httpfs::path(out, &fs.trash_root(path)?),
        Operation::GetTrashRoots { all_users } => {
            json::trash_roots(out, Some(&trash_roots(fs, *all_users)?));
            out.push(b'\n');
        }
        Operation::GetEcCodecs => {
            ec_codecs(fs, out)?;
            out.push(b'\n');
        }
        Operation::GetStatus => json_httpfs::fs_status(out, &fs.fs_stats()?),
        Operation::GetAllStoragePolicy => fs.storage_policies(&mut |all| json_httpfs::storage_policies(out, all))?,
        Operation::GetStoragePolicy => fs.storage_policy(path, &mut |one| json_httpfs::storage_policy(out, one))?,
        Operation::GetAclStatus => json_httpfs::acl_status(out, &fs.acl_status(path)?),
        Operation::GetXAttrs { names, codec } => json_httpfs::xattrs(out, *codec, &fs.xattrs(path, names)?),
        Operation::ListXAttrs => json_httpfs::xattr_names(out, &fs.list_xattrs(path)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// False: `operation` asks nothing, or something else.
fn question<F: FileSystem>(fs: &F, path: &str, operation: &Operation, out: &mut Vec<u8>) -> Result<bool, F::Error> {
    let name = |x: &XAttr| prefixed(x.namespace, &x.name);
    match operation {
        Operation::GetFileStatus | Operation::GetFileLinkStatus => {
            let follow = *operation == Operation::GetFileStatus;
            if !fs.file_status(path, follow, &mut |status| json::file_status(out, status))? {
                return Err(missing(path).into());
            }
        }
        Operation::ListStatusBatch { start_after } => {
            let form = Listing::Batch;
            form.start(out);
            let page = Page { path, start_after: start_after.as_bytes(), is_first: true, form, keep: None };
            let (remaining, _) = page.write(fs, out)?;
            form.end(out, remaining);
        }
        Operation::GetContentSummary => json::content_summary(out, &fs.content_summary(path)?),
        Operation::GetQuotaUsage => json::quota_usage(out, &fs.quota_usage(path)?),
        Operation::GetHomeDirectory => json::path(out, &fs.home_directory()),
        Operation::GetTrashRoot => json::path(out, &fs.trash_root(path)?),
        Operation::GetTrashRoots { all_users } => {
            let entries = trash_roots(fs, *all_users)?;
            json::trash_roots(out, (!entries.is_empty()).then_some(&entries));
        }
        Operation::GetLinkTarget => json::path(out, &fs.link_target(path)?),
        Operation::GetDelegationToken => json::no_token(out),
        Operation::GetServerDefaults => json::server_defaults(out, &fs.server_defaults()?),
        Operation::GetStatus => json::fs_status(out, &fs.fs_stats()?),
        Operation::GetFileBlockLocations { offset, length } => {
            fs.block_locations(path, *offset, *length, &mut |_, _, blocks| json::block_locations(out, blocks))?;
        }
        Operation::GetBlockLocations { offset, length } => {
            fs.block_locations(path, *offset, *length, &mut |pool, head, blocks| {
                json::located_blocks(out, pool, head, blocks);
            })?;
        }
        Operation::GetAllStoragePolicy => fs.storage_policies(&mut |all| json::storage_policies(out, all))?,
        Operation::GetStoragePolicy => fs.storage_policy(path, &mut |one| json::storage_policy(out, one))?,
        Operation::GetEcPolicy => json_ec::policy(out, fs.ec_policy(path)?.as_ref()),
        Operation::GetEcPolicies => {
            json_ec::policies(out, fs.ec_policies()?.iter().map(|(policy, state)| (policy, *state)));
        }
        Operation::GetEcCodecs => ec_codecs(fs, out)?,
        Operation::GetAclStatus => {
            let status = fs.acl_status(path)?;
            json::acl_status(out, &status.owner, &status.group, status.permission, status.entries.into_iter());
        }
        Operation::GetXAttrs { names, codec } => {
            let found = fs.xattrs(path, names)?;
            json::xattrs(out, *codec, found.iter().map(|x| (name(x), x.value.as_deref().unwrap_or_default())));
        }
        Operation::ListXAttrs => json::xattr_names(out, fs.list_xattrs(path)?.iter().map(name)),
        _ => return Ok(false),
    }
    Ok(true)
}

/// The entries with commas between them.
fn trash_roots<F: FileSystem>(fs: &F, all_users: bool) -> Result<Vec<u8>, F::Error> {
    let mut entries = Vec::new();
    fs.trash_roots(all_users, &mut |status, path| {
        if !entries.is_empty() {
            entries.push(b',');
        }
        json::trash_root(&mut entries, status, path);
    })?;
    Ok(entries)
}

fn ec_codecs<F: FileSystem>(fs: &F, out: &mut Vec<u8>) -> Result<(), F::Error> {
    let codecs = fs.ec_codecs()?;
    let codecs: Vec<(&str, &str)> = codecs.iter().map(|(name, coders)| (&name[..], &coders[..])).collect();
    json_ec::codecs(out, &codecs);
    Ok(())
}

fn question_of_snapshots<F: FileSystem>(
    fs: &F,
    path: &str,
    operation: &Operation,
    out: &mut Vec<u8>,
) -> Result<bool, F::Error> {
    let mut entries: Vec<Vec<u8>> = Vec::new();
    match operation {
        Operation::GetSnapshottableDirectoryList => {
            let any = fs.snapshottable_directories(&mut |status, parent, snapshots, limit| {
                let mut entry = Vec::new();
                json_snapshots::snapshottable_directory(&mut entry, status, parent, snapshots, limit);
                entries.push(entry);
            })?;
            json_snapshots::snapshottable_directories(out, any.then_some(&entries));
        }
        Operation::GetSnapshotList => {
            fs.snapshots(path, &mut |status, parent, id, is_deleted| {
                let mut entry = Vec::new();
                let name = String::from_utf8_lossy(status.name);
                let separator = if parent.ends_with('/') { "" } else { "/" };
                let path = format!("{parent}{separator}.snapshot/{name}");
                json_snapshots::snapshot(&mut entry, status, &path, id, is_deleted);
                entries.push(entry);
            })?;
            json_snapshots::snapshots(out, &entries);
        }
        Operation::GetSnapshotDiff { from, to } => {
            let report = fs.snapshot_diff(path, from, to)?;
            let entries = report.entries.iter().map(|e| (&e.source[..], e.target.as_deref(), e.kind));
            json_snapshots::snapshot_diff(out, &report.root, from, to, entries);
        }
        Operation::GetSnapshotDiffListing { from, to, start_path, index } => {
            let page = DiffPage { from, to, start_path: start_path.as_bytes(), index: *index };
            let found = fs.snapshot_diff_listing(path, page)?;
            let lists = [views(&found.created), views(&found.deleted), views(&found.modified)];
            let [created, deleted, modified] = &lists;
            let lists = [&created[..], &deleted[..], &modified[..]];
            let (last_path, last_index) = (&found.last_path, found.last_index);
            json_snapshots::snapshot_diff_listing(out, lists, found.is_from_earlier, last_path, last_index);
        }
        Operation::CreateSnapshot { name } => json::path(out, &fs.create_snapshot(path, name)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn views(entries: &[DiffListingEntry]) -> Vec<json_snapshots::DiffListingEntry<'_>> {
    fn view(entry: &DiffListingEntry) -> json_snapshots::DiffListingEntry<'_> {
        json_snapshots::DiffListingEntry {
            path: &entry.path,
            directory: entry.directory,
            inode: entry.inode,
            is_reference: entry.is_reference,
            target: entry.target.as_deref(),
        }
    }
    entries.iter().map(view).collect()
}

/// A change that answers true or false; `None`: it is none of these.
fn change_with_truth<F: FileSystem>(fs: &F, path: &str, operation: &Operation) -> Result<Option<bool>, F::Error> {
    Ok(Some(match operation {
        Operation::Mkdirs { permission, unmasked } => {
            fs.mkdirs(path, permission.unwrap_or(DIRECTORY_MODE), *unmasked)?
        }
        Operation::Rename { destination, options: None } => fs.rename(path, destination)?,
        Operation::SetReplication { replication } => fs.set_replication(path, *replication)?,
        Operation::Truncate { new_length } => fs.truncate(path, *new_length)?,
        Operation::Delete { recursive } => fs.delete(path, *recursive)?,
        _ => return Ok(None),
    }))
}

fn change<F: FileSystem>(fs: &F, path: &str, operation: &Operation) -> Result<Answer, F::Error> {
    if let Some(change) = operation.acl_change() {
        fs.change_acl(path, change)?;
        return Ok(Answer::Empty { typed: true });
    }
    let mut typed = true;
    match operation {
        Operation::Rename { destination, options: Some(options) } => fs.rename2(path, destination, *options)?,
        Operation::SetOwner { owner, group } => fs.set_owner(path, owner.as_deref(), group.as_deref())?,
        Operation::SetPermission { permission } => fs.set_permission(path, *permission)?,
        Operation::SetTimes { modification_time_ms, access_time_ms } => {
            fs.set_times(path, *modification_time_ms, *access_time_ms)?;
        }
        Operation::SetQuota { namespace_quota, space_quota } => {
            fs.set_quota(path, *namespace_quota, *space_quota, None)?;
        }
        Operation::SetQuotaByStorageType { storage_type, space_quota } => {
            fs.set_quota(path, i64::MAX, *space_quota, Some(*storage_type))?;
        }
        Operation::SetStoragePolicy { policy } => fs.set_storage_policy(path, Some(policy))?,
        Operation::SatisfyStoragePolicy => fs.satisfy_storage_policy(path)?,
        Operation::SetEcPolicy { policy } => fs.set_ec_policy(path, Some(policy))?,
        Operation::EnableEcPolicy { policy } => fs.enable_ec_policy(policy, true)?,
        Operation::DisableEcPolicy { policy } => fs.enable_ec_policy(policy, false)?,
        Operation::SetXAttr { xattr, flags } => fs.set_xattr(path, xattr, *flags)?,
        Operation::RemoveXAttr { xattr } => fs.remove_xattr(path, xattr)?,
        Operation::AllowSnapshot => fs.allow_snapshot(path, true)?,
        Operation::DisallowSnapshot => fs.allow_snapshot(path, false)?,
        Operation::RenameSnapshot { old_name, new_name } => fs.rename_snapshot(path, old_name, new_name)?,
        Operation::DeleteSnapshot { name } => fs.delete_snapshot(path, name)?,
        _ => {
            typed = false;
            match operation {
                Operation::CheckAccess { action } => fs.check_access(path, *action)?,
                Operation::Concat { sources } => fs.concat(path, sources)?,
                Operation::UnsetStoragePolicy => fs.set_storage_policy(path, None)?,
                Operation::UnsetEcPolicy => fs.set_ec_policy(path, None)?,
                Operation::Unsupported(name) => return Err(unsupported_error(name).into()),
                _ => return Err(HdfsError::new(ExceptionClass::UnsupportedOperation, "not answered here").into()),
            }
        }
    }
    Ok(Answer::Empty { typed })
}
