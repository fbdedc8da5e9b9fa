//! The namespace as WebHDFS's operations ask it, for one call. What changes it says by `txid` what the answer must wait for.
//! Source: `NamenodeWebHdfsMethods.java`, Hadoop 3.5.0.

use super::{trash_roots, webhdfs};
use crate::call::{Call, Done, Refused};
use crate::clock::default_snapshot_name;
use crate::core::Core;
use crate::rpc::client::attributes::acl_verb;
use crate::rpc::client::encryption::check_attribute;
use crate::rpc::client::{ec, storage};
use crate::safe_mode::What;
use crate::walks;
use std::cell::Cell;
use surus_namespace::edit_op;
use surus_namespace::ops::change_acl::ChangeAcl;
use surus_namespace::ops::concat::Concat;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::erasure_coding::{
    ChangeErasureCodingPolicy, PolicyChange, SetErasureCodingPolicy, UnsetErasureCodingPolicy,
};
use surus_namespace::ops::get_block_locations::{BlockLocationsPart, GetBlockLocations};
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::remove_xattr::RemoveXAttr;
use surus_namespace::ops::rename::{Rename, Rename2};
use surus_namespace::ops::set_owner::SetOwner;
use surus_namespace::ops::set_permission::SetPermission;
use surus_namespace::ops::set_quota::SetQuota;
use surus_namespace::ops::set_replication::SetReplication;
use surus_namespace::ops::set_storage_policy::SetStoragePolicy;
use surus_namespace::ops::set_times::SetTimes;
use surus_namespace::ops::set_xattr::SetXAttr;
use surus_namespace::ops::snapshot::{AllowSnapshot, CreateSnapshot, DeleteSnapshot, DisallowSnapshot, RenameSnapshot};
use surus_namespace::ops::snapshot_diff::{self, SnapshotDiff};
use surus_namespace::ops::snapshot_listing;
use surus_namespace::ops::truncate::Truncate;
use surus_namespace::storage_policy;
use surus_namespace::tree::{AclEntryView, XAttrView};
use surus_types::{
    AclChange, ContentSummary, EcPolicyState, ErasureCodingPolicy, FileStatus, FsAction, FsPermission, FsStats,
    HdfsError, LocatedBlock, Replica, StorageType, TxId, XAttr,
};
use surus_webhdfs::json::{ServerDefaults, StoragePolicy};
use surus_webhdfs::{
    AclStatus, DiffEntry, DiffListing, DiffListingEntry, DiffPage, DiffReport, FileSystem, PutBlocks, PutSnapshot,
    PutSnapshottable, PutStatus, RenameOptions,
};

type Result<T, E = HdfsError> = std::result::Result<T, E>;

/// The file system as one caller sees it.
pub struct CallFs<'a> {
    core: &'a Core,
    call: &'a Call<'a>,
    txid: Cell<TxId>,
}

impl<'a> CallFs<'a> {
    pub fn new(core: &'a Core, call: &'a Call<'a>) -> Self {
        CallFs { core, call, txid: Cell::new(TxId(0)) }
    }

    /// The transaction that has to be durable before the answer leaves.
    pub fn txid(&self) -> TxId {
        self.txid.get()
    }

    fn settled(&self, result: Result<Done, Refused>) -> Result<()> {
        self.txid.set(webhdfs::settled(result)?);
        Ok(())
    }
}

impl FileSystem for CallFs<'_> {
    type Error = HdfsError;

    fn file_status(&self, path: &str, follow: bool, put: PutStatus<'_>) -> Result<bool> {
        let (env, namespace) = (self.core.env(self.call), self.core.namespace.read());
        let lend = |status: Option<FileStatus<'_>>| status.map(|status| put(&status)).is_some();
        match follow {
            true => namespace.get_file_info(&env, path, lend),
            false => namespace.get_file_link_info(&env, path, lend),
        }
    }

    fn list(&self, path: &str, start_after: &[u8], mut put: impl FnMut(&FileStatus<'_>)) -> Result<Option<u32>> {
        let (env, namespace) = (self.core.env(self.call), self.core.namespace.read());
        let limit = namespace.config.list_limit;
        let end = namespace.get_listing(&env, path, start_after, false, limit, |entry| {
            put(&entry.status);
            true
        })?;
        Ok(end.map(|end| end.remaining))
    }

    fn content_summary(&self, path: &str) -> Result<ContentSummary> {
        self.core.totals(self.call, path, false)
    }

    fn quota_usage(&self, path: &str) -> Result<ContentSummary> {
        self.core.totals(self.call, path, true)
    }

    fn home_directory(&self) -> String {
        format!("{}/{}", self.core.namespace.read().config.home_prefix, self.call.caller.user)
    }

    fn trash_root(&self, path: &str) -> Result<String> {
        Ok(trash_roots::trash_root(&self.core.namespace.read(), &self.core.env(self.call), path))
    }

    fn trash_roots(&self, all_users: bool, put: &mut dyn FnMut(&FileStatus<'_>, &str)) -> Result<()> {
        trash_roots::trash_roots(&self.core.namespace.read(), &self.core.env(self.call), all_users, put)
    }

    fn link_target(&self, path: &str) -> Result<String> {
        let target = self.core.namespace.read().get_link_target(&self.core.env(self.call), path)?;
        Ok(String::from_utf8_lossy(&target).into_owned())
    }

    fn check_access(&self, path: &str, action: FsAction) -> Result<()> {
        self.core.namespace.read().check_access_of(&self.core.env(self.call), path, action)
    }

    fn block_locations(&self, path: &str, offset: u64, length: Option<u64>, put: PutBlocks<'_>) -> Result<()> {
        let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let asked = GetBlockLocations { src: path, offset: signed(offset), length: length.map_or(i64::MAX, signed) };
        let (env, namespace) = (self.core.env(self.call), self.core.namespace.read());
        let (file, _) = namespace.check_block_locations(&env, &asked)?;
        let header = namespace.block_locations_header(file);
        // Several blocks are wanted at once, and each is lent only while it is visited.
        let mut blocks = Vec::new();
        namespace.lend_block_locations(&env, file, asked.offset as u64, asked.length as u64, &mut |part| {
            if let BlockLocationsPart::Block(block) = part {
                let storage = |r: &Replica<'_>| namespace.blocks.datanodes.find_storage_anywhere(r.storage_uuid);
                let storages: Vec<_> = block.replicas.iter().filter_map(storage).collect();
                blocks.push((block.block, block.offset, block.corrupt, storages));
            }
        });
        let replicas: Vec<Vec<_>> = blocks
            .iter()
            .map(|(.., storages)| storages.iter().map(|s| namespace.blocks.datanodes.replica(*s)).collect())
            .collect();
        let views: Vec<LocatedBlock<'_>> = blocks
            .iter()
            .zip(&replicas)
            .map(|((block, offset, corrupt, _), replicas)| LocatedBlock {
                block: *block,
                offset: *offset,
                corrupt: *corrupt,
                replicas,
            })
            .collect();
        put(&self.core.id.block_pool_id, &header, &views);
        Ok(())
    }

    fn server_defaults(&self) -> Result<ServerDefaults> {
        let defaults = &self.core.config.server_defaults;
        Ok(ServerDefaults {
            replication: u16::try_from(defaults.replication).unwrap_or(u16::MAX),
            write_packet_size: defaults.write_packet_size,
            file_buffer_size: defaults.file_buffer_size,
            checksum_type: defaults.checksum_type as u8,
            trash_interval_minutes: defaults.trash_interval_minutes,
            block_size: defaults.block_size,
            bytes_per_checksum: defaults.bytes_per_checksum,
        })
    }

    fn fs_stats(&self) -> Result<FsStats> {
        Ok(self.core.namespace.read().blocks.fs_stats())
    }

    fn storage_policies(&self, put: &mut dyn FnMut(&[StoragePolicy<'_>])) -> Result<()> {
        put(&storage_policy::SUITE.each_ref().map(policy_view));
        Ok(())
    }

    fn storage_policy(&self, path: &str, put: &mut dyn FnMut(&StoragePolicy<'_>)) -> Result<()> {
        let policy = self.core.namespace.read().get_storage_policy(&self.core.env(self.call), path)?;
        put(&policy_view(policy));
        Ok(())
    }

    fn ec_policy(&self, path: &str) -> Result<Option<ErasureCodingPolicy>> {
        let namespace = self.core.namespace.read();
        Ok(ec::policy_of(&namespace, &self.core.env(self.call), path)?.cloned())
    }

    fn ec_policies(&self) -> Result<Vec<(ErasureCodingPolicy, EcPolicyState)>> {
        let namespace = self.core.namespace.read();
        Ok(namespace.tree.ec_policies().by_name().into_iter().map(|info| (info.policy.clone(), info.state)).collect())
    }

    fn ec_codecs(&self) -> Result<Vec<(String, String)>> {
        Ok(ec::CODECS.iter().map(|(codec, coders)| (codec.to_string(), coders.to_string())).collect())
    }

    fn acl_status(&self, path: &str) -> Result<AclStatus> {
        let namespace = self.core.namespace.read();
        let status = namespace.get_acl_status(&self.core.env(self.call), path)?;
        Ok(AclStatus {
            owner: status.owner.to_owned(),
            group: status.group.to_owned(),
            permission: status.permission,
            entries: status.entries.map(AclEntryView::to_entry).collect(),
        })
    }

    fn xattrs(&self, path: &str, names: &[XAttr]) -> Result<Vec<XAttr>> {
        let owned =
            |x: &XAttrView<'_>| XAttr { namespace: x.namespace, name: x.name.into(), value: Some(x.value.to_vec()) };
        let namespace = self.core.namespace.read();
        Ok(namespace.get_xattrs(&self.core.env(self.call), path, names)?.iter().map(owned).collect())
    }

    fn list_xattrs(&self, path: &str) -> Result<Vec<XAttr>> {
        let name = |x: &XAttrView<'_>| XAttr { namespace: x.namespace, name: x.name.into(), value: None };
        let namespace = self.core.namespace.read();
        Ok(namespace.list_xattrs(&self.core.env(self.call), path)?.iter().map(name).collect())
    }

    fn snapshottable_directories(&self, put: PutSnapshottable<'_>) -> Result<bool> {
        let namespace = self.core.namespace.read();
        let lend = |d: snapshot_listing::SnapshottableStatus<'_>| put(&d.status, d.parent, d.snapshots, d.limit);
        Ok(namespace.get_snapshottable_dir_listing(&self.core.env(self.call), lend))
    }

    fn snapshots(&self, path: &str, put: PutSnapshot<'_>) -> Result<()> {
        let namespace = self.core.namespace.read();
        let lend = |s: snapshot_listing::SnapshotStatus<'_>| put(&s.status, s.parent, s.id, s.is_deleted);
        namespace.get_snapshot_listing(&self.core.env(self.call), path, lend)
    }

    fn snapshot_diff(&self, path: &str, from: &str, to: &str) -> Result<DiffReport> {
        let asked = SnapshotDiff { root: path, from, to };
        let report = self.core.namespace.read().get_snapshot_diff_report(&self.core.env(self.call), &asked)?;
        let entry =
            |e: snapshot_diff::DiffReportEntry| DiffEntry { source: e.source, target: e.target, kind: e.kind.name() };
        Ok(DiffReport { root: report.root, entries: report.entries.into_iter().map(entry).collect() })
    }

    fn snapshot_diff_listing(&self, path: &str, page: DiffPage<'_>) -> Result<DiffListing> {
        let asked = SnapshotDiff { root: path, from: page.from, to: page.to };
        let (env, namespace) = (self.core.env(self.call), self.core.namespace.read());
        let found = namespace.get_snapshot_diff_report_listing(&env, &asked, page.start_path, page.index)?;
        let entry = |e: snapshot_diff::DiffListingEntry| DiffListingEntry {
            path: e.path,
            directory: e.directory.0,
            inode: e.inode.0,
            is_reference: e.is_reference,
            target: e.target,
        };
        let entries = |list: Vec<snapshot_diff::DiffListingEntry>| list.into_iter().map(entry).collect();
        Ok(DiffListing {
            created: entries(found.created),
            deleted: entries(found.deleted),
            modified: entries(found.modified),
            is_from_earlier: found.is_from_earlier,
            last_path: found.last_path,
            last_index: found.last_index,
        })
    }

    fn mkdirs(&self, path: &str, permission: FsPermission, unmasked: Option<FsPermission>) -> Result<bool> {
        let operation = Mkdirs { src: path, permission, unmasked, create_parent: true };
        let what = What("Cannot create directory ", path);
        self.settled(self.core.write(self.call, what, &operation, |_, _| {}))?;
        Ok(true)
    }

    fn rename(&self, path: &str, destination: &str) -> Result<bool> {
        let (mut value, what) = (false, What("Cannot rename ", path));
        let operation = Rename { src: path, dst: destination };
        self.settled(self.core.write(self.call, what, &operation, |_, renamed| value = *renamed))?;
        Ok(value)
    }

    fn rename2(&self, path: &str, destination: &str, options: RenameOptions) -> Result<()> {
        let options = edit_op::RenameOptions { overwrite: options.overwrite, to_trash: options.to_trash };
        let operation = Rename2 { src: path, dst: destination, options };
        self.settled(walks::rename(self.core, self.call, path, &operation, |_, ()| {}))
    }

    fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        let (mut value, what) = (false, What("Cannot delete ", path));
        let operation = Delete { src: path, recursive };
        let below = walks::Below::delete(path);
        self.settled(self.core.write_below(self.call, what, &operation, below, |_, deleted| value = *deleted))?;
        Ok(value)
    }

    fn set_replication(&self, path: &str, replication: Option<u16>) -> Result<bool> {
        let mut value = false;
        let replication = replication.map_or(self.core.config.server_defaults.replication, u32::from);
        let operation = SetReplication { src: path, replication };
        self.settled(self.core.write_if(self.call, None, &operation, |_, set| value = *set))?;
        Ok(value)
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Result<()> {
        let operation = SetOwner { src: path, user: owner, group };
        self.settled(self.core.write(self.call, What("Cannot set owner for ", path), &operation, |_, ()| {}))
    }

    fn set_permission(&self, path: &str, permission: FsPermission) -> Result<()> {
        let operation = SetPermission { src: path, permission };
        self.settled(self.core.write(self.call, What("Cannot set permission for ", path), &operation, |_, ()| {}))
    }

    fn set_times(&self, path: &str, modification_time_ms: i64, access_time_ms: i64) -> Result<()> {
        let operation = SetTimes { src: path, modification_time: modification_time_ms, access_time: access_time_ms };
        self.settled(self.core.write(self.call, What("Cannot set times ", path), &operation, |_, ()| {}))
    }

    fn truncate(&self, path: &str, new_length: u64) -> Result<bool> {
        let mut value = false;
        let new_length = i64::try_from(new_length).unwrap_or(i64::MAX);
        // Source: `NamenodeWebHdfsMethods.post` (TRUNCATE), Hadoop 3.5.0: a client of its own for each request.
        let client_name = format!("DFSClient_{}", rand::random::<i64>());
        let operation = Truncate { src: path, new_length, client_name: &client_name };
        self.settled(self.core.write_if(self.call, None, &operation, |_, done| value = *done))?;
        Ok(value)
    }

    fn concat(&self, path: &str, sources: &[String]) -> Result<()> {
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        let operation = Concat { target: path, sources: &sources };
        self.settled(self.core.write(self.call, What("Cannot concat ", path), &operation, |_, ()| {}))
    }

    fn set_quota(&self, path: &str, names: i64, space: i64, storage_type: Option<StorageType>) -> Result<()> {
        let operation = SetQuota { src: path, namespace_quota: names, space_quota: space, storage_type };
        self.settled(self.core.write_if(self.call, None, &operation, |_, ()| {}))
    }

    fn set_storage_policy(&self, path: &str, policy: Option<&str>) -> Result<()> {
        let operation = SetStoragePolicy { src: path, policy };
        self.settled(self.core.write_if(self.call, None, &operation, |_, ()| {}))
    }

    fn satisfy_storage_policy(&self, _path: &str) -> Result<()> {
        Err(storage::satisfier_is_off(self.core))
    }

    fn set_ec_policy(&self, path: &str, policy: Option<&str>) -> Result<()> {
        let result = match policy {
            Some(_) => {
                let operation = SetErasureCodingPolicy { src: path, policy };
                self.core.write_if(self.call, None, &operation, |_, ()| {})
            }
            None => self.core.write_if(self.call, None, &UnsetErasureCodingPolicy { src: path }, |_, ()| {}),
        };
        self.settled(result)
    }

    fn enable_ec_policy(&self, policy: &str, enable: bool) -> Result<()> {
        let change = if enable { PolicyChange::Enable } else { PolicyChange::Disable };
        let operation = ChangeErasureCodingPolicy { name: policy, change };
        self.settled(self.core.write_if(self.call, None, &operation, |_, ()| {}))
    }

    fn change_acl(&self, path: &str, change: AclChange<'_>) -> Result<()> {
        let operation = ChangeAcl { src: path, change };
        self.settled(self.core.write(self.call, What(acl_verb(change), path), &operation, |_, ()| {}))
    }

    fn set_xattr(&self, path: &str, xattr: &XAttr, flags: u32) -> Result<()> {
        check_attribute(xattr)?;
        let operation = SetXAttr { src: path, xattr, flags };
        self.settled(self.core.write(self.call, What("Cannot set XAttr on ", path), &operation, |_, ()| {}))
    }

    fn remove_xattr(&self, path: &str, xattr: &XAttr) -> Result<()> {
        let operation = RemoveXAttr { src: path, xattr };
        self.settled(self.core.write(self.call, What("Cannot remove XAttr entry on ", path), &operation, |_, ()| {}))
    }

    fn allow_snapshot(&self, path: &str, allow: bool) -> Result<()> {
        self.settled(match allow {
            true => self.core.write_if(self.call, None, &AllowSnapshot { root: path }, |_, ()| {}),
            false => self.core.write_if(self.call, None, &DisallowSnapshot { root: path }, |_, ()| {}),
        })
    }

    fn create_snapshot(&self, path: &str, name: &str) -> Result<String> {
        let mut made = String::new();
        let default_name = default_snapshot_name(self.core.clock.now_ms());
        let operation = CreateSnapshot { root: path, name, default_name: &default_name };
        self.settled(self.core.write_if(self.call, None, &operation, |_, path| made.clone_from(path)))?;
        Ok(made)
    }

    fn rename_snapshot(&self, path: &str, old_name: &str, new_name: &str) -> Result<()> {
        let operation = RenameSnapshot { root: path, old_name, new_name };
        self.settled(self.core.write_if(self.call, None, &operation, |_, ()| {}))
    }

    fn delete_snapshot(&self, path: &str, name: &str) -> Result<()> {
        self.settled(self.core.write_if(self.call, None, &DeleteSnapshot { root: path, name }, |_, ()| {}))
    }
}

fn policy_view(policy: &storage_policy::StoragePolicy) -> StoragePolicy<'static> {
    StoragePolicy {
        id: policy.id,
        name: policy.name,
        storage_types: policy.storage_types,
        creation_fallbacks: policy.creation_fallbacks,
        replication_fallbacks: policy.replication_fallbacks,
        copy_on_create_file: policy.copy_on_create,
    }
}
