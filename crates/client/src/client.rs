//! `DfsClient`: one file system, every call of the namespace. Reading and writing of data start here too.

use crate::config::ClientConfig;
use crate::error::{ClientError, Result};

use crate::lease::LeaseRenewer;
use crate::namenode::{CLIENT_PROTOCOL, NameNodes, Repeat};
use crate::read::Connections;
use crate::status::{ContentSummary, FileStatus, Listing, QuotaUsage};
use parking_lot::Mutex;
use prost::Message;
use std::sync::Arc;
use std::time::{Duration, Instant};
use surus_conf::Configuration;
use surus_keys::KeyProvider;
use surus_proto::hadoop::hdfs as proto;
use surus_types::{ExceptionClass, FsAction, FsPermission, FsStats};

use Repeat::{AtMostOnce, Idempotent};

/// How long the server's defaults are believed (`dfs.client.server-defaults.validity.period.ms`).
const SERVER_DEFAULTS_VALID: Duration = Duration::from_secs(3600);

/// A file system. Cheap to clone; all clones share connections, the lease and the client's name.
#[derive(Clone)]
pub struct DfsClient {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub config: ClientConfig,
    pub namenodes: NameNodes,
    pub client_name: String,
    pub leases: LeaseRenewer,
    pub connections: Connections,
    server_defaults: Mutex<Option<(Instant, ServerDefaults)>>,
    /// Once a file in an encryption zone asked for them.
    pub keys: Mutex<Option<Arc<dyn KeyProvider>>>,
}

/// What the NameNode proposes to clients.
#[derive(Clone, Debug)]
pub struct ServerDefaults {
    pub block_size: u64,
    pub replication: u16,
    pub trash_interval: Duration,
    pub encrypt_data_transfer: bool,
    /// Empty: there are no encryption zones, or the client is to know it.
    pub key_provider_uri: String,
    /// Each snapshottable directory has a trash of its own.
    pub snapshot_trash_roots: bool,
}

impl DfsClient {
    /// The file system of `uri`, or of `fs.defaultFS`. Nothing is sent yet.
    ///
    /// # Errors
    /// Those of `ClientConfig::from_conf`.
    pub fn from_conf(conf: &Configuration, uri: Option<&str>) -> Result<Self> {
        Ok(Self::new(ClientConfig::from_conf(conf, uri)?))
    }

    pub fn new(config: ClientConfig) -> Self {
        let namenodes = NameNodes::new(&config, CLIENT_PROTOCOL);
        let client_name = format!("DFSClient_NONMAPREDUCE_{}_1", rand::random::<i32>());
        let inner = Inner {
            leases: LeaseRenewer::new(client_name.clone()),
            connections: Connections::default(),
            config,
            namenodes,
            client_name,
            server_defaults: Mutex::new(None),
            keys: Mutex::new(None),
        };
        DfsClient { inner: Arc::new(inner) }
    }

    pub fn config(&self) -> &ClientConfig {
        &self.inner.config
    }

    /// `hdfs://AUTHORITY`.
    pub fn uri(&self) -> String {
        format!("hdfs://{}", self.inner.config.authority)
    }

    /// The effective user's short name.
    pub fn user(&self) -> &str {
        let name = self.inner.config.user.effective.as_str();
        name.split(['/', '@']).next().unwrap_or(name)
    }

    /// `/user/NAME`.
    pub fn home_directory(&self) -> String {
        format!("{}/{}", self.inner.config.home_prefix, self.user())
    }

    /// The NameNodes, for calls of other protocols and for commands that speak to each of them.
    pub fn namenodes(&self) -> &NameNodes {
        &self.inner.namenodes
    }

    pub(crate) fn call<Q: Message, A: Message + Default>(
        &self,
        method: &str,
        repeat: Repeat,
        request: &Q,
    ) -> Result<A> {
        self.inner.namenodes.call(method, repeat, request)
    }

    // ---- reading the namespace

    /// `None`: there is nothing at this path.
    pub fn get_file_info(&self, src: &str) -> Result<Option<FileStatus>> {
        let answer: proto::GetFileInfoResponseProto =
            self.call("getFileInfo", Idempotent, &proto::GetFileInfoRequestProto { src: src.into() })?;
        Ok(answer.fs.map(|fs| FileStatus::from_proto(fs, src)))
    }

    /// As `get_file_info`, but a missing path is a `FileNotFoundException`.
    pub fn file_status(&self, src: &str) -> Result<FileStatus> {
        self.get_file_info(src)?.ok_or_else(|| not_found(format!("File does not exist: {src}")))
    }

    /// One page of a directory behind the name `start_after`; `None`: there is nothing at this path.
    pub fn get_listing(&self, src: &str, start_after: &[u8]) -> Result<Option<Listing>> {
        let request =
            proto::GetListingRequestProto { src: src.into(), start_after: start_after.to_vec(), need_location: false };
        let answer: proto::GetListingResponseProto = self.call("getListing", Idempotent, &request)?;
        let page = |list: proto::DirectoryListingProto| Listing {
            entries: list.partial_listing.into_iter().map(|fs| FileStatus::from_proto(fs, src)).collect(),
            remaining: list.remaining_entries,
        };
        Ok(answer.dir_list.map(page))
    }

    /// Walks a directory page by page in the server's order.
    ///
    /// # Errors
    /// `FileNotFoundException` where there is nothing at this path; those of `visit`.
    pub fn for_each_child(&self, src: &str, mut visit: impl FnMut(FileStatus) -> Result<()>) -> Result<()> {
        let mut start_after = Vec::new();
        loop {
            let Some(page) = self.get_listing(src, &start_after)? else {
                return Err(not_found(format!("File {src} does not exist.")));
            };
            let last = page.entries.last().map(|status| status.name().as_bytes().to_vec());
            for status in page.entries {
                visit(status)?;
            }
            match last {
                Some(name) if page.remaining > 0 => start_after = name,
                _ => return Ok(()),
            }
        }
    }

    /// All children of a directory; the file itself for a file.
    pub fn list_status(&self, src: &str) -> Result<Vec<FileStatus>> {
        let mut all = Vec::new();
        self.for_each_child(src, |status| {
            all.push(status);
            Ok(())
        })?;
        Ok(all)
    }

    pub fn get_content_summary(&self, path: &str) -> Result<ContentSummary> {
        let answer: proto::GetContentSummaryResponseProto =
            self.call("getContentSummary", Idempotent, &proto::GetContentSummaryRequestProto { path: path.into() })?;
        Ok(answer.summary.into())
    }

    pub fn get_quota_usage(&self, path: &str) -> Result<QuotaUsage> {
        let answer: proto::GetQuotaUsageResponseProto =
            self.call("getQuotaUsage", Idempotent, &proto::GetQuotaUsageRequestProto { path: path.into() })?;
        Ok(answer.usage.into())
    }

    pub fn get_fs_stats(&self) -> Result<FsStats> {
        let stats: proto::GetFsStatsResponseProto =
            self.call("getFsStats", Idempotent, &proto::GetFsStatusRequestProto {})?;
        Ok(FsStats {
            capacity: stats.capacity,
            used: stats.used,
            remaining: stats.remaining,
            under_replicated: stats.under_replicated,
            corrupt_blocks: stats.corrupt_blocks,
            missing_blocks: stats.missing_blocks,
            missing_replication_one_blocks: stats.missing_repl_one_blocks.unwrap_or(0),
            blocks_in_future: stats.blocks_in_future.unwrap_or(0),
            pending_deletion_blocks: stats.pending_deletion_blocks.unwrap_or(0),
        })
    }

    /// Kept for an hour.
    pub fn get_server_defaults(&self) -> Result<ServerDefaults> {
        if let Some((at, defaults)) = &*self.inner.server_defaults.lock()
            && at.elapsed() < SERVER_DEFAULTS_VALID
        {
            return Ok(defaults.clone());
        }
        let answer: proto::GetServerDefaultsResponseProto =
            self.call("getServerDefaults", Idempotent, &proto::GetServerDefaultsRequestProto {})?;
        let from = answer.server_defaults;
        let defaults = ServerDefaults {
            block_size: from.block_size,
            replication: u16::try_from(from.replication).unwrap_or(1),
            trash_interval: Duration::from_secs(from.trash_interval.unwrap_or(0).saturating_mul(60)),
            encrypt_data_transfer: from.encrypt_data_transfer.unwrap_or(false),
            key_provider_uri: from.key_provider_uri.unwrap_or_default(),
            snapshot_trash_roots: from.snapshot_trash_root_enabled.unwrap_or(false),
        };
        *self.inner.server_defaults.lock() = Some((Instant::now(), defaults.clone()));
        Ok(defaults)
    }

    /// # Errors
    /// `AccessControlException` where the caller lacks one of the rights.
    pub fn check_access(&self, path: &str, action: FsAction) -> Result<()> {
        let request = proto::CheckAccessRequestProto { path: path.into(), mode: i32::from(action.0) };
        let _: proto::CheckAccessResponseProto = self.call("checkAccess", Idempotent, &request)?;
        Ok(())
    }

    pub fn is_file_closed(&self, src: &str) -> Result<bool> {
        let answer: proto::IsFileClosedResponseProto =
            self.call("isFileClosed", Idempotent, &proto::IsFileClosedRequestProto { src: src.into() })?;
        Ok(answer.result)
    }

    pub fn get_block_locations(&self, src: &str, offset: u64, length: u64) -> Result<proto::LocatedBlocksProto> {
        let request = proto::GetBlockLocationsRequestProto { src: src.into(), offset, length };
        let answer: proto::GetBlockLocationsResponseProto = self.call("getBlockLocations", Idempotent, &request)?;
        answer.locations.ok_or_else(|| not_found(format!("File does not exist: {src}")))
    }

    // ---- changing the namespace

    /// Makes a directory with `permission` less the umask; with its parents where `create_parent` is set.
    pub fn mkdirs(&self, src: &str, permission: FsPermission, create_parent: bool) -> Result<bool> {
        let request = proto::MkdirsRequestProto {
            src: src.into(),
            masked: perm(permission.apply_umask(self.inner.config.umask)),
            create_parent,
            unmasked: Some(perm(permission)),
        };
        let answer: proto::MkdirsResponseProto = self.call("mkdirs", Idempotent, &request)?;
        Ok(answer.result)
    }

    /// The old form: false instead of most exceptions, and into `dst` where that is a directory.
    pub fn rename(&self, src: &str, dst: &str) -> Result<bool> {
        let request = proto::RenameRequestProto { src: src.into(), dst: dst.into() };
        let answer: proto::RenameResponseProto = self.call("rename", AtMostOnce, &request)?;
        Ok(answer.result)
    }

    /// The strict form.
    pub fn rename2(&self, src: &str, dst: &str, overwrite: bool, to_trash: bool) -> Result<()> {
        let request = proto::Rename2RequestProto {
            src: src.into(),
            dst: dst.into(),
            overwrite_dest: overwrite,
            move_to_trash: Some(to_trash),
        };
        let _: proto::Rename2ResponseProto = self.call("rename2", AtMostOnce, &request)?;
        Ok(())
    }

    /// False: there was nothing at this path.
    pub fn delete(&self, src: &str, recursive: bool) -> Result<bool> {
        let request = proto::DeleteRequestProto { src: src.into(), recursive };
        let answer: proto::DeleteResponseProto = self.call("delete", AtMostOnce, &request)?;
        Ok(answer.result)
    }

    pub fn set_permission(&self, src: &str, permission: FsPermission) -> Result<()> {
        let request = proto::SetPermissionRequestProto { src: src.into(), permission: perm(permission) };
        let _: proto::SetPermissionResponseProto = self.call("setPermission", Idempotent, &request)?;
        Ok(())
    }

    pub fn set_owner(&self, src: &str, user: Option<&str>, group: Option<&str>) -> Result<()> {
        let request = proto::SetOwnerRequestProto {
            src: src.into(),
            username: user.map(Into::into),
            groupname: group.map(Into::into),
        };
        let _: proto::SetOwnerResponseProto = self.call("setOwner", Idempotent, &request)?;
        Ok(())
    }

    /// Milliseconds since 1970; `None` leaves a time as it is.
    pub fn set_times(&self, src: &str, mtime_ms: Option<u64>, atime_ms: Option<u64>) -> Result<()> {
        let request = proto::SetTimesRequestProto {
            src: src.into(),
            mtime: mtime_ms.unwrap_or(u64::MAX),
            atime: atime_ms.unwrap_or(u64::MAX),
        };
        let _: proto::SetTimesResponseProto = self.call("setTimes", Idempotent, &request)?;
        Ok(())
    }

    /// False: not a file with replicas.
    pub fn set_replication(&self, src: &str, replication: u16) -> Result<bool> {
        let request = proto::SetReplicationRequestProto { src: src.into(), replication: replication.into() };
        let answer: proto::SetReplicationResponseProto = self.call("setReplication", Idempotent, &request)?;
        Ok(answer.result)
    }

    /// True: done. False: the last block is being cut; the file stays open until that has happened.
    pub fn truncate(&self, src: &str, new_length: u64) -> Result<bool> {
        let client_name = self.inner.client_name.clone();
        let request = proto::TruncateRequestProto { src: src.into(), new_length, client_name };
        let answer: proto::TruncateResponseProto = self.call("truncate", Idempotent, &request)?;
        Ok(answer.result)
    }

    pub fn concat(&self, target: &str, sources: &[String]) -> Result<()> {
        let request = proto::ConcatRequestProto { trg: target.into(), srcs: sources.to_vec() };
        let _: proto::ConcatResponseProto = self.call("concat", AtMostOnce, &request)?;
        Ok(())
    }

    /// True: the file is closed now.
    pub fn recover_lease(&self, src: &str) -> Result<bool> {
        let client_name = self.inner.client_name.clone();
        let request = proto::RecoverLeaseRequestProto { src: src.into(), client_name };
        let answer: proto::RecoverLeaseResponseProto = self.call("recoverLease", Idempotent, &request)?;
        Ok(answer.result)
    }
}

pub(crate) fn perm(permission: FsPermission) -> proto::FsPermissionProto {
    proto::FsPermissionProto { perm: permission.0.into() }
}

pub(crate) fn not_found(message: String) -> ClientError {
    ClientError::Remote { class: ExceptionClass::FileNotFound.java_name().into(), message }
}
