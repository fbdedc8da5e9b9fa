//! Re-encryption: after its key was rolled, the keys of a zone's files are encrypted by the new version. A task walks the zone, a
//! page of a directory at a time, and takes the lock only to read a page and to change a file; the data is left as it is.
//! Source: `ReencryptionHandler.java`, `ReencryptionUpdater.java`, Hadoop 3.5.0.

use crate::core::Core;
use crate::rpc::client::encryption::{decode_zone, without_a_lock};
use prost::Message;
use std::collections::VecDeque;
use std::sync::Weak;
use std::time::Duration;
use surus_keys::{EncryptedKey, KeyProvider};
use surus_namespace::ops::encryption_zone::SetEncryptionAttribute;
use surus_namespace::xattr::{ENCRYPTION_ZONE, FILE_ENCRYPTION_INFO, RAW};
use surus_proto::hadoop::hdfs::{PerFileEncryptionInfoProto, ZoneEncryptionInfoProto};
use surus_types::{ExceptionClass, HdfsError, InodeId};

/// Children looked at under one lock. Source: `dfs.namenode.reencrypt.batch.size`.
const PAGE: usize = 1000;
/// How long safe mode, or a key server that does not answer, keeps it waiting.
const WAIT: Duration = Duration::from_secs(1);

/// A zone's re-encryption under way.
struct Job {
    zone: InodeId,
    key_name: String,
    key_version: String,
    /// Directories still to be looked at, each behind a name.
    todo: Vec<(InodeId, Vec<u8>)>,
    /// What is left of the page that was read last.
    page: VecDeque<File>,
    reencrypted: i64,
    failures: i64,
    last_file: Option<String>,
}

struct File {
    id: InodeId,
    path: String,
    info: Vec<u8>,
}

enum Step {
    More,
    Wait,
    Done,
}

impl Core {
    /// Goes on with what an earlier run of the NameNode did not end. Without a key provider nothing can: the zones' attributes
    /// keep it for a run that has one.
    pub fn resume_reencryption(&self) {
        if self.keys.is_none() {
            return;
        }
        let zones = self.namespace.read().encryption_zones(InodeId(0), usize::MAX).0;
        for zone in zones {
            let info = decode_zone(&zone.info);
            let is_open = info.is_ok_and(|info| info.reencryption_proto.is_some_and(|r| r.completion_time.is_none()));
            if is_open && self.claim_reencryption(zone.id) {
                self.start_reencryption(zone.id);
            }
        }
    }

    /// Takes a zone for one re-encryption; `false`: another has it.
    pub fn claim_reencryption(&self, zone: InodeId) -> bool {
        let mut namespace = self.namespace.write();
        let is_free = !namespace.reencrypting.contains_key(&zone);
        if is_free {
            namespace.reencrypting.insert(zone, false);
        }
        is_free
    }

    pub fn release_reencryption(&self, zone: InodeId) {
        self.namespace.write().reencrypting.remove(&zone);
    }

    /// Starts the task of a zone that was claimed; its attribute says already that it was asked for.
    pub fn start_reencryption(&self, zone: InodeId) {
        let core: Weak<Core> = self.me.clone();
        self.runtime.spawn(async move {
            let mut job = None;
            loop {
                let Some(core) = core.upgrade() else { return };
                let step = without_a_lock(|| core.reencryption_step(zone, &mut job));
                drop(core);
                match step {
                    Step::More => tokio::task::yield_now().await,
                    Step::Wait => tokio::time::sleep(WAIT).await,
                    Step::Done => return,
                }
            }
        });
    }

    /// One file, or a page of a directory.
    fn reencryption_step(&self, zone: InodeId, job: &mut Option<Job>) -> Step {
        let (is_safe, cancelled) = {
            let namespace = self.namespace.read();
            (namespace.blocks.safe_mode.is_on(), namespace.reencrypting.get(&zone).copied().unwrap_or(true))
        };
        let Some(provider) = self.keys.as_deref().filter(|_| !is_safe) else { return Step::Wait };
        let job = match job {
            Some(job) => job,
            None => match self.reencryption_job(zone) {
                Some(new) => job.insert(new),
                // The zone was deleted, or its attribute is damaged.
                None => return self.forget_reencryption(zone),
            },
        };
        if cancelled || job.page.is_empty() && job.todo.is_empty() {
            self.finish_reencryption(job, cancelled);
            return self.forget_reencryption(zone);
        }
        let Some(file) = job.page.pop_front() else {
            job.page = self.reencryption_page(job);
            return Step::More;
        };
        match self.reencrypt(provider, job, &file) {
            Ok(true) => job.reencrypted += 1,
            Ok(false) => {}
            // Nobody can be asked: that says nothing about the file.
            Err(error) if error.class == ExceptionClass::Connect => {
                tracing::warn!("re-encryption waits: {}", error.message);
                job.page.push_front(file);
                return Step::Wait;
            }
            Err(error) => {
                tracing::warn!("re-encryption of {}: {}", file.path, error.message);
                job.failures += 1;
            }
        }
        job.last_file = Some(file.path);
        Step::More
    }

    fn forget_reencryption(&self, zone: InodeId) -> Step {
        self.release_reencryption(zone);
        Step::Done
    }

    fn zone_info(&self, zone: InodeId) -> Option<(Vec<u8>, ZoneEncryptionInfoProto)> {
        let namespace = self.namespace.read();
        let bytes = namespace.tree.inode(namespace.tree.get(zone)?).zone_info()?.to_vec();
        let info = decode_zone(&bytes).ok()?;
        Some((bytes, info))
    }

    fn reencryption_job(&self, zone: InodeId) -> Option<Job> {
        let (_, info) = self.zone_info(zone)?;
        Some(Job {
            zone,
            key_version: info.reencryption_proto?.ez_key_version_name,
            key_name: info.key_name,
            todo: vec![(zone, Vec::new())],
            page: VecDeque::new(),
            reencrypted: 0,
            failures: 0,
            last_file: None,
        })
    }

    /// The files of the next page; directories are put on the list, but for zones in the zone.
    fn reencryption_page(&self, job: &mut Job) -> VecDeque<File> {
        let mut files = VecDeque::new();
        let Some((directory, after)) = job.todo.pop() else { return files };
        let namespace = self.namespace.read();
        let Some(handle) = namespace.tree.get(directory) else { return files };
        // It may have become a zone, with a key of its own, since it was put on the list.
        if directory != job.zone && namespace.tree.inode(handle).zone_info().is_some() {
            return files;
        }
        let (mut below, mut last) = (Vec::new(), None);
        let mut children = namespace.tree.inode(handle).children(&after);
        for child in children.by_ref().take(PAGE).map(|child| namespace.tree.inode(child)) {
            last = Some(child.name().to_vec());
            if child.is_directory() && child.zone_info().is_none() {
                below.push((child.id(), Vec::new()));
            } else if let Some(info) = child.xattr(RAW, FILE_ENCRYPTION_INFO).filter(|_| child.is_file()) {
                let path = namespace.tree.path_of(child.handle()).unwrap_or_default();
                files.push_back(File { id: child.id(), path, info: info.to_vec() });
            }
        }
        if let (Some(last), true) = (last, children.remaining() > 0) {
            job.todo.push((directory, last));
        }
        job.todo.append(&mut below);
        files
    }

    /// Whether the file's key was encrypted by another version before.
    fn reencrypt(&self, provider: &dyn KeyProvider, job: &Job, file: &File) -> Result<bool, HdfsError> {
        let damaged = |_| HdfsError::io("its encryption info is damaged");
        let info = PerFileEncryptionInfoProto::decode(&*file.info).map_err(damaged)?;
        if info.ez_key_version_name == job.key_version {
            return Ok(false);
        }
        let old = EncryptedKey {
            key_name: job.key_name.clone(),
            key_version_name: info.ez_key_version_name,
            iv: info.iv,
            material: info.key,
        };
        let new = provider.reencrypt_encrypted_key(&old)?;
        let info =
            PerFileEncryptionInfoProto { key: new.material, iv: new.iv, ez_key_version_name: new.key_version_name };
        let (id, name) = (file.id, FILE_ENCRYPTION_INFO);
        match self.change(&SetEncryptionAttribute { id, name, old: &file.info, new: &info.encode_to_vec() }) {
            // Deleted, or given another key: there is nothing left to do.
            Err(_) if !self.is_as_read(file) => Ok(false),
            result => result.map(|()| true),
        }
    }

    fn is_as_read(&self, file: &File) -> bool {
        let namespace = self.namespace.read();
        let handle = namespace.tree.get(file.id).filter(|&handle| namespace.tree.is_attached(handle));
        handle.is_some_and(|handle| namespace.tree.inode(handle).xattr(RAW, FILE_ENCRYPTION_INFO) == Some(&*file.info))
    }

    fn finish_reencryption(&self, job: &Job, canceled: bool) {
        let Some((old, mut info)) = self.zone_info(job.zone) else { return };
        if let Some(state) = &mut info.reencryption_proto {
            state.canceled = canceled;
            state.num_reencrypted = job.reencrypted;
            state.num_failures = job.failures;
            state.completion_time = Some(self.clock.now_ms() as u64);
            state.last_file = job.last_file.clone();
        }
        let new = info.encode_to_vec();
        let request = SetEncryptionAttribute { id: job.zone, name: ENCRYPTION_ZONE, old: &old, new: &new };
        if let Err(error) = self.change(&request) {
            tracing::warn!("the end of a re-encryption: {}", error.message);
        }
        tracing::info!(
            "re-encrypted the keys of {} files by {}, {} failures",
            job.reencrypted,
            job.key_version,
            job.failures
        );
    }
}
