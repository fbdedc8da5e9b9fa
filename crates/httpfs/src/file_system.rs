//! A cluster as the operations ask it: every question one call of the client.

use crate::failure::Failure;
use crate::views;
use prost::Message;
use surus_client::{AclChange as ClientAclChange, DfsClient, EcPolicyChange, QuotaUsage, Repeat, TypeQuota};
use surus_proto::hadoop::hdfs as proto;
use surus_types::{
    AclChange, ContentSummary, EcPolicyState, ErasureCodingPolicy, ExceptionClass, FileStatus, FsAction, FsPermission,
    FsStats, SnapshotTotals, StorageType, TypeSpaces, XAttr,
};
use surus_webhdfs::json::{ServerDefaults, StoragePolicy};
use surus_webhdfs::{
    AclStatus, DiffListing, DiffPage, DiffReport, FileSystem, PutBlocks, PutSnapshot, PutSnapshottable, PutStatus,
    RenameOptions, normalize,
};
use surus_wire::{from_proto, to_proto};

use Repeat::{AtMostOnce, Idempotent};

/// The file system of one caller.
pub struct ClusterFs {
    pub client: DfsClient,
}

type Result<T, E = Failure> = std::result::Result<T, E>;

impl ClusterFs {
    fn call<Q: Message, A: Message + Default>(&self, method: &str, repeat: Repeat, request: &Q) -> Result<A> {
        Ok(self.client.namenodes().call(method, repeat, request)?)
    }

    fn status_of(&self, path: &str) -> Result<Option<proto::HdfsFileStatusProto>> {
        let request = proto::GetFileInfoRequestProto { src: path.into() };
        let answer: proto::GetFileInfoResponseProto = self.call("getFileInfo", Idempotent, &request)?;
        Ok(answer.fs)
    }

    /// A relative path is one of the caller's home.
    fn absolute(&self, path: &str) -> String {
        match path.starts_with('/') {
            true => path.to_string(),
            false => normalize(&format!("{}/{path}", self.client.home_directory())),
        }
    }
}

impl FileSystem for ClusterFs {
    type Error = Failure;

    fn file_status(&self, path: &str, follow: bool, put: PutStatus<'_>) -> Result<bool> {
        let found = match follow {
            true => self.status_of(path)?,
            false => {
                let request = proto::GetFileLinkInfoRequestProto { src: path.into() };
                let answer: proto::GetFileLinkInfoResponseProto = self.call("getFileLinkInfo", Idempotent, &request)?;
                answer.fs
            }
        };
        if let Some(status) = &found {
            views::lend_status(status, put);
        }
        Ok(found.is_some())
    }

    fn list(&self, path: &str, start_after: &[u8], mut put: impl FnMut(&FileStatus<'_>)) -> Result<Option<u32>> {
        let request =
            proto::GetListingRequestProto { src: path.into(), start_after: start_after.to_vec(), need_location: false };
        let answer: proto::GetListingResponseProto = self.call("getListing", Idempotent, &request)?;
        Ok(answer.dir_list.map(|page| {
            page.partial_listing.iter().for_each(|status| views::lend_status(status, &mut put));
            page.remaining_entries
        }))
    }

    fn content_summary(&self, path: &str) -> Result<ContentSummary> {
        let found = self.client.get_content_summary(path)?;
        let (type_quotas, type_consumed) = types_of(&found.types);
        Ok(ContentSummary {
            length: found.length,
            file_count: found.file_count,
            directory_count: found.directory_count,
            quota: found.quota,
            space_consumed: found.space_consumed,
            space_quota: found.space_quota,
            type_consumed,
            type_quotas,
            snapshot: SnapshotTotals {
                length: found.snapshot_length,
                file_count: found.snapshot_file_count,
                directory_count: found.snapshot_directory_count,
                space_consumed: found.snapshot_space_consumed,
            },
            ec_policy: found.ec_policy,
        })
    }

    fn quota_usage(&self, path: &str) -> Result<ContentSummary> {
        let QuotaUsage { file_and_directory_count, quota, space_consumed, space_quota, types } =
            self.client.get_quota_usage(path)?;
        let (type_quotas, type_consumed) = types_of(&types);
        Ok(ContentSummary {
            file_count: file_and_directory_count,
            quota,
            space_consumed,
            space_quota,
            type_consumed,
            type_quotas,
            ..ContentSummary::default()
        })
    }

    fn home_directory(&self) -> String {
        self.client.home_directory()
    }

    fn trash_root(&self, path: &str) -> Result<String> {
        Ok(self.client.trash_root(path)?)
    }

    fn trash_roots(&self, all_users: bool, put: &mut dyn FnMut(&FileStatus<'_>, &str)) -> Result<()> {
        let roots = if all_users { self.client.trash_roots_of_all()? } else { self.client.trash_roots()? };
        for path in &roots {
            match self.status_of(path) {
                Ok(Some(status)) => views::lend_status(&status, &mut |status| put(status, path)),
                Ok(None) => {}
                // A home that this caller may not look into has no trash for it.
                Err(Failure::Client(error)) if error.is(ExceptionClass::AccessControl) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn link_target(&self, path: &str) -> Result<String> {
        let request = proto::GetLinkTargetRequestProto { path: path.into() };
        let answer: proto::GetLinkTargetResponseProto = self.call("getLinkTarget", Idempotent, &request)?;
        Ok(answer.target_path.unwrap_or_default())
    }

    fn check_access(&self, path: &str, action: FsAction) -> Result<()> {
        Ok(self.client.check_access(path, action)?)
    }

    fn block_locations(&self, path: &str, offset: u64, length: Option<u64>, put: PutBlocks<'_>) -> Result<()> {
        let max = i64::MAX as u64;
        let found = self.client.get_block_locations(path, offset.min(max), length.unwrap_or(max).min(max))?;
        Ok(views::lend_blocks(&found, put)?)
    }

    fn server_defaults(&self) -> Result<ServerDefaults> {
        let request = proto::GetServerDefaultsRequestProto {};
        let answer: proto::GetServerDefaultsResponseProto = self.call("getServerDefaults", Idempotent, &request)?;
        let found = answer.server_defaults;
        Ok(ServerDefaults {
            replication: u16::try_from(found.replication).unwrap_or(u16::MAX),
            write_packet_size: found.write_packet_size,
            file_buffer_size: found.file_buffer_size,
            checksum_type: u8::try_from(found.checksum_type.unwrap_or(1)).unwrap_or(1),
            trash_interval_minutes: found.trash_interval.unwrap_or(0),
            block_size: found.block_size,
            bytes_per_checksum: found.bytes_per_checksum,
        })
    }

    fn fs_stats(&self) -> Result<FsStats> {
        Ok(self.client.get_fs_stats()?)
    }

    fn storage_policies(&self, put: &mut dyn FnMut(&[StoragePolicy<'_>])) -> Result<()> {
        views::lend_policies(&self.client.get_storage_policies()?, put);
        Ok(())
    }

    fn storage_policy(&self, path: &str, put: &mut dyn FnMut(&StoragePolicy<'_>)) -> Result<()> {
        let request = proto::GetStoragePolicyRequestProto { path: path.into() };
        let answer: proto::GetStoragePolicyResponseProto = self.call("getStoragePolicy", Idempotent, &request)?;
        views::lend_policies(&[answer.storage_policy], &mut |policies| policies.iter().for_each(&mut *put));
        Ok(())
    }

    fn ec_policy(&self, path: &str) -> Result<Option<ErasureCodingPolicy>> {
        let request = proto::GetErasureCodingPolicyRequestProto { src: path.into() };
        let answer: proto::GetErasureCodingPolicyResponseProto =
            self.call("getErasureCodingPolicy", Idempotent, &request)?;
        Ok(answer.ec_policy.as_ref().map(views::ec_policy))
    }

    fn ec_policies(&self) -> Result<Vec<(ErasureCodingPolicy, EcPolicyState)>> {
        let found = self.client.get_ec_policies()?;
        Ok(found.iter().map(|policy| (views::ec_policy(policy), views::ec_policy_state(policy))).collect())
    }

    fn ec_codecs(&self) -> Result<Vec<(String, String)>> {
        Ok(self.client.get_ec_codecs()?)
    }

    fn acl_status(&self, path: &str) -> Result<AclStatus> {
        let found = self.client.get_acl_status(path)?;
        Ok(AclStatus {
            entries: found.entries.iter().map(from_proto::acl_entry).collect(),
            permission: found.permission.as_ref().map(from_proto::permission),
            owner: found.owner,
            group: found.group,
        })
    }

    fn xattrs(&self, path: &str, names: &[XAttr]) -> Result<Vec<XAttr>> {
        let names: Vec<_> = names.iter().map(to_proto::xattr).collect();
        Ok(self.client.get_xattrs(path, &names)?.into_iter().map(from_proto::xattr).collect())
    }

    fn list_xattrs(&self, path: &str) -> Result<Vec<XAttr>> {
        let request = proto::ListXAttrsRequestProto { src: path.into() };
        let answer: proto::ListXAttrsResponseProto = self.call("listXAttrs", Idempotent, &request)?;
        Ok(answer.x_attrs.into_iter().map(from_proto::xattr).collect())
    }

    fn snapshottable_directories(&self, put: PutSnapshottable<'_>) -> Result<bool> {
        let request = proto::GetSnapshottableDirListingRequestProto {};
        let answer: proto::GetSnapshottableDirListingResponseProto =
            self.call("getSnapshottableDirListing", Idempotent, &request)?;
        let Some(list) = answer.snapshottable_dir_list else { return Ok(false) };
        for found in &list.snapshottable_dir_listing {
            let parent = String::from_utf8_lossy(&found.parent_fullpath);
            views::lend_status(&found.dir_status, &mut |status| {
                put(status, &parent, found.snapshot_number, found.snapshot_quota);
            });
        }
        Ok(true)
    }

    fn snapshots(&self, path: &str, put: PutSnapshot<'_>) -> Result<()> {
        for found in &self.client.get_snapshots(path)? {
            let parent = String::from_utf8_lossy(&found.parent_fullpath);
            views::lend_status(&found.dir_status, &mut |status| {
                put(status, &parent, found.snapshot_id, found.is_deleted);
            });
        }
        Ok(())
    }

    fn snapshot_diff(&self, path: &str, from: &str, to: &str) -> Result<DiffReport> {
        let found = self.client.get_snapshot_diff(path, from, to)?;
        let entries = found.diff_report_entries.into_iter().map(views::diff_entry).collect();
        Ok(DiffReport { root: found.snapshot_root, entries })
    }

    fn snapshot_diff_listing(&self, path: &str, page: DiffPage<'_>) -> Result<DiffListing> {
        let cursor = proto::SnapshotDiffReportCursorProto { start_path: page.start_path.to_vec(), index: page.index };
        let request = proto::GetSnapshotDiffReportListingRequestProto {
            snapshot_root: path.into(),
            from_snapshot: page.from.into(),
            to_snapshot: page.to.into(),
            cursor: Some(cursor),
        };
        let answer: proto::GetSnapshotDiffReportListingResponseProto =
            self.call("getSnapshotDiffReportListing", Idempotent, &request)?;
        let found = answer.diff_report;
        let entries = |list: Vec<_>| list.into_iter().map(views::diff_listing_entry).collect();
        Ok(DiffListing {
            created: entries(found.created_entries),
            deleted: entries(found.deleted_entries),
            modified: entries(found.modified_entries),
            is_from_earlier: found.is_from_earlier,
            last_index: found.cursor.as_ref().map_or(-1, |cursor| cursor.index),
            last_path: found.cursor.map(|cursor| cursor.start_path).unwrap_or_default(),
        })
    }

    fn mkdirs(&self, path: &str, permission: FsPermission, unmasked: Option<FsPermission>) -> Result<bool> {
        // The gateway's umask is 0; as in Java's client, applying it drops the sticky bit.
        let masked = if unmasked.is_some() { permission } else { permission.apply_umask(FsPermission(0)) };
        let request = proto::MkdirsRequestProto {
            src: path.into(),
            masked: to_proto::permission(masked),
            create_parent: true,
            unmasked: Some(to_proto::permission(unmasked.unwrap_or(permission))),
        };
        let answer: proto::MkdirsResponseProto = self.call("mkdirs", Idempotent, &request)?;
        Ok(answer.result)
    }

    fn rename(&self, path: &str, destination: &str) -> Result<bool> {
        Ok(self.client.rename(path, &self.absolute(destination))?)
    }

    fn rename2(&self, path: &str, destination: &str, options: RenameOptions) -> Result<()> {
        Ok(self.client.rename2(path, &self.absolute(destination), options.overwrite, options.to_trash)?)
    }

    fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        Ok(self.client.delete(path, recursive)?)
    }

    fn set_replication(&self, path: &str, replication: Option<u16>) -> Result<bool> {
        let replication = replication.unwrap_or(self.client.config().write.replication);
        Ok(self.client.set_replication(path, replication)?)
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Result<()> {
        Ok(self.client.set_owner(path, owner, group)?)
    }

    fn set_permission(&self, path: &str, permission: FsPermission) -> Result<()> {
        Ok(self.client.set_permission(path, permission)?)
    }

    fn set_times(&self, path: &str, modification_time_ms: i64, access_time_ms: i64) -> Result<()> {
        let time = |ms: i64| (ms != -1).then_some(ms.cast_unsigned());
        Ok(self.client.set_times(path, time(modification_time_ms), time(access_time_ms))?)
    }

    fn truncate(&self, path: &str, new_length: u64) -> Result<bool> {
        Ok(self.client.truncate(path, new_length)?)
    }

    fn concat(&self, path: &str, sources: &[String]) -> Result<()> {
        let sources: Vec<String> = sources.iter().map(|source| self.absolute(source)).collect();
        Ok(self.client.concat(path, &sources)?)
    }

    fn set_quota(&self, path: &str, names: i64, space: i64, storage_type: Option<StorageType>) -> Result<()> {
        Ok(self.client.set_quota(path, names, space, storage_type)?)
    }

    fn set_storage_policy(&self, path: &str, policy: Option<&str>) -> Result<()> {
        Ok(self.client.set_storage_policy(path, policy)?)
    }

    fn satisfy_storage_policy(&self, path: &str) -> Result<()> {
        Ok(self.client.satisfy_storage_policy(path)?)
    }

    fn set_ec_policy(&self, path: &str, policy: Option<&str>) -> Result<()> {
        match policy {
            Some(_) => Ok(self.client.set_ec_policy(path, policy)?),
            None => Ok(self.client.unset_ec_policy(path)?),
        }
    }

    fn enable_ec_policy(&self, policy: &str, enable: bool) -> Result<()> {
        let change = if enable { EcPolicyChange::Enable } else { EcPolicyChange::Disable };
        Ok(self.client.change_ec_policy(policy, change)?)
    }

    fn change_acl(&self, path: &str, change: AclChange<'_>) -> Result<()> {
        let (change, entries) = match change {
            AclChange::Modify(entries) => (ClientAclChange::Modify, entries),
            AclChange::RemoveEntries(entries) => (ClientAclChange::Remove, entries),
            AclChange::Set(entries) => (ClientAclChange::Set, entries),
            AclChange::RemoveDefault => (ClientAclChange::RemoveDefault, &[][..]),
            AclChange::Remove => (ClientAclChange::RemoveAll, &[][..]),
        };
        let entries: Vec<_> = entries.iter().map(to_proto::acl_entry).collect();
        Ok(self.client.change_acl(path, change, &entries)?)
    }

    fn set_xattr(&self, path: &str, xattr: &XAttr, flags: u32) -> Result<()> {
        let x_attr = Some(to_proto::xattr(xattr));
        let request = proto::SetXAttrRequestProto { src: path.into(), x_attr, flag: Some(flags) };
        let _: proto::SetXAttrResponseProto = self.call("setXAttr", AtMostOnce, &request)?;
        Ok(())
    }

    fn remove_xattr(&self, path: &str, xattr: &XAttr) -> Result<()> {
        Ok(self.client.remove_xattr(path, to_proto::xattr(xattr))?)
    }

    fn allow_snapshot(&self, path: &str, allow: bool) -> Result<()> {
        match allow {
            true => Ok(self.client.allow_snapshot(path)?),
            false => Ok(self.client.disallow_snapshot(path)?),
        }
    }

    fn create_snapshot(&self, path: &str, name: &str) -> Result<String> {
        Ok(self.client.create_snapshot(path, Some(name).filter(|name| !name.is_empty()))?)
    }

    fn rename_snapshot(&self, path: &str, old_name: &str, new_name: &str) -> Result<()> {
        Ok(self.client.rename_snapshot(path, old_name, new_name)?)
    }

    fn delete_snapshot(&self, path: &str, name: &str) -> Result<()> {
        Ok(self.client.delete_snapshot(path, name)?)
    }
}

/// Quotas and use by storage type.
fn types_of(found: &[TypeQuota]) -> (TypeSpaces, TypeSpaces) {
    let (mut quotas, mut consumed) = (TypeSpaces::NO_QUOTA, TypeSpaces::default());
    for found in found {
        quotas.set(found.storage_type, found.quota);
        consumed.set(found.storage_type, found.consumed.cast_signed());
    }
    (quotas, consumed)
}
