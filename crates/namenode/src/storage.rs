//! Name directories at format and at start.

use crate::config::{block_config, namespace_config};
use crate::error::StartError;
use crate::namenode::NameNodeOptions;
use crate::retry_cache::{Key, RetryCache};
use crate::startup::StartupProgress;
use crate::to_proto::FileSystemId;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_conf::{Configuration, keys};
use surus_disk::{Disk, RealDisk};
use surus_journal::image::{Codec, ImageOptions};
use surus_journal::{
    JournalError, LAYOUT_VERSION, LoadObserver, Loaded, OLDEST_WRITTEN_LAYOUT, Retention, Storage, StorageInfo,
};
use surus_namespace::blocks::BlockHandle;
use surus_namespace::{EditOp, Namespace};
use surus_types::TxId;

impl From<JournalError> for StartError {
    fn from(error: JournalError) -> Self {
        StartError::Storage(error.to_string())
    }
}

/// `dfs.namenode.name.dir` and `dfs.namenode.edits.dir` together: each holds both, images and edits.
///
/// # Errors
/// A value that is not allowed.
pub fn name_dirs(conf: &Configuration) -> Result<Vec<PathBuf>, StartError> {
    let mut dirs: Vec<PathBuf> = Vec::new();
    for dir in conf.get(keys::DFS_NAMENODE_NAME_DIR)?.into_iter().chain(conf.get(keys::DFS_NAMENODE_EDITS_DIR)?) {
        let dir = PathBuf::from(dir);
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    Ok(dirs)
}

/// Who holds a directory, as its lock file says.
pub(crate) fn lock_content(conf: &Configuration) -> String {
    let host = conf.namenode_rpc_address().map(|a| a.host).unwrap_or_default();
    format!("{}@{host}", std::process::id())
}

/// Makes new name directories for an empty file system. Whatever was in them is removed: the caller has asked.
///
/// # Errors
/// A value that is not allowed, directories that another process holds, or the disk's.
pub fn format(conf: &Configuration, user: &str, cluster_id: Option<&str>) -> Result<StorageInfo, StartError> {
    let dirs = name_dirs(conf)?;
    let lock = lock_content(conf);
    let now_ms = crate::clock::Clock::start().now_ms();
    let address = conf.namenode_rpc_address()?.host;
    let address = if address.parse::<IpAddr>().is_ok() { address.as_str() } else { "127.0.0.1" };
    let mut info = StorageInfo::new(rand::random(), now_ms, address, cluster_id);
    info.layout_version = conf.get(keys::SURUS_NAMENODE_LAYOUT_VERSION)?;
    let namespace = Namespace::new(namespace_config(conf, user)?);
    surus_journal::clear(&RealDisk, &dirs, &lock)?;
    surus_journal::format(&RealDisk, &dirs, &info, &namespace.freeze(), now_ms, &lock)?;
    let mode = u32::from(conf.get(keys::DFS_NAMENODE_STORAGE_DIR_PERM)?);
    for dir in &dirs {
        let set = RealDisk.set_mode(dir, mode);
        set.map_err(|error| StartError::Io { doing: "setting the mode of a name directory", error })?;
        tracing::info!("Storage directory {} has been successfully formatted.", dir.display());
    }
    Ok(info)
}

/// What a start finds in the name directories.
pub struct Found {
    pub storage: Arc<Storage>,
    pub loaded: Loaded,
    pub id: FileSystemId,
}

/// Rebuilds the retry cache from the edits and passes on what an operator should read.
struct Observer<'a, W> {
    retry_cache: Option<&'a RetryCache<W>>,
    startup: Option<&'a StartupProgress>,
}

impl<W> LoadObserver for Observer<'_, W> {
    fn loading_image(&mut self, file: &Path, bytes: u64) {
        if let Some(startup) = self.startup {
            startup.loading_image(file, bytes);
        }
    }

    fn loaded_image(&mut self, namespace: &Namespace) {
        if let Some(startup) = self.startup {
            startup.loaded_image(namespace.num_inodes());
        }
    }

    fn loading_edits(&mut self, file: &Path) {
        if let Some(startup) = self.startup {
            startup.loading_edits(file);
        }
    }

    fn replayed(&mut self, op: &EditOp, _: TxId, namespace: &Namespace) {
        if let Some(startup) = self.startup {
            startup.applied_edit();
        }
        let Some((cache, ids)) = self.retry_cache.zip(op.rpc_ids()) else { return };
        if let Some(key) = Key::new(&ids.client_id, ids.call_id) {
            cache.replayed(key, crate::rpc::payload(op, namespace), 0);
        }
    }

    fn notice(&mut self, text: &str) {
        tracing::warn!("{text}");
    }
}

/// Files that the edits left open with a block group at their end: the end of the lease would take it for a block that was never
/// written.
fn check_open_groups(namespace: &Namespace) -> Result<(), StartError> {
    let is_open_group = |blocks: &[BlockHandle]| {
        let last = blocks.last().map(|block| namespace.blocks.info(*block));
        last.is_some_and(|info| info.is_group && info.state.is_open())
    };
    match namespace.freeze().files_under_construction().find(|(inode, _)| is_open_group(inode.blocks())) {
        None => Ok(()),
        Some((_, path)) => Err(StartError::Storage(format!(
            "{path} is an erasure-coded file that is being written, which this version cannot go on with: start Hadoop on these \
             directories, let the file be closed or delete it, save the namespace, and start again"
        ))),
    }
}

/// `dfs.image.*`: how images are written.
///
/// # Errors
/// A value that is not allowed.
fn image_options(conf: &Configuration) -> Result<ImageOptions, StartError> {
    let codec = if conf.get(keys::DFS_IMAGE_COMPRESS)? {
        let class = conf.get(keys::DFS_IMAGE_COMPRESSION_CODEC)?;
        let unknown = || StartError::Storage(format!("dfs.image.compression.codec: {class} is no known codec"));
        Codec::from_class(&class).ok_or_else(unknown)?
    } else {
        Codec::None
    };
    let parallel_sections = match conf.get(keys::DFS_IMAGE_PARALLEL_LOAD)? {
        true => u64::try_from(conf.get(keys::DFS_IMAGE_PARALLEL_TARGET_SECTIONS)?).unwrap_or(1),
        false => 0,
    };
    let parallel_inode_threshold = u64::try_from(conf.get(keys::DFS_IMAGE_PARALLEL_INODE_THRESHOLD)?).unwrap_or(0);
    Ok(ImageOptions { codec, parallel_sections, parallel_inode_threshold })
}

/// How the name directories are brought up. Source: `HdfsServerConstants.java` (`StartupOption`), Hadoop 3.5.0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StartOption {
    #[default]
    Regular,
    /// Keep the present state as `previous` and go on in the newest layout.
    Upgrade,
    /// A rolling upgrade is going on.
    RollingUpgradeStarted,
    /// Go back to where a rolling upgrade began.
    RollingUpgradeRollback,
    /// Take the image of `dfs.namenode.checkpoint.dir` into empty name directories.
    ImportCheckpoint,
}

/// Opens the name directories as the configuration says.
///
/// # Errors
/// They are not formatted, held by another process, of a layout that needs an upgrade; a value that is not allowed.
fn open(
    disk: Arc<dyn Disk>,
    conf: &Configuration,
    dirs: &[PathBuf],
    start: StartOption,
) -> Result<Storage, StartError> {
    let retention = Retention {
        images: usize::try_from(conf.get(keys::DFS_NAMENODE_NUM_CHECKPOINTS_RETAINED)?).unwrap_or(2),
        extra_edits: u64::try_from(conf.get(keys::DFS_NAMENODE_NUM_EXTRA_EDITS_RETAINED)?).unwrap_or(0),
        extra_segments: usize::try_from(conf.get(keys::DFS_NAMENODE_MAX_EXTRA_EDITS_SEGMENTS_RETAINED)?).unwrap_or(0),
    };
    let storage = Storage::open(disk, dirs, &lock_content(conf), retention)?;
    for notice in storage.notices() {
        tracing::warn!("{notice}");
    }
    storage.set_restore(conf.get(keys::DFS_NAMENODE_NAME_DIR_RESTORE)?);
    check_layout(storage.info().layout_version, start)?;
    Ok(storage.with_image_options(image_options(conf)?))
}

/// Directories that must be written, and how many of all must be. Source: `FSNamesystem.java` (constructor), Hadoop 3.5.0.
fn required_dirs(conf: &Configuration, dirs: &[PathBuf]) -> Result<(Vec<PathBuf>, usize), StartError> {
    let required = conf.get(keys::DFS_NAMENODE_EDITS_DIR_REQUIRED)?;
    let required: Vec<PathBuf> = required.into_iter().map(PathBuf::from).collect();
    if let Some(unknown) = required.iter().find(|dir| !dirs.contains(dir)) {
        return Err(StartError::Storage(format!(
            "{}: {} is none of the name directories ({})",
            keys::DFS_NAMENODE_EDITS_DIR_REQUIRED.name(),
            unknown.display(),
            keys::DFS_NAMENODE_NAME_DIR.name()
        )));
    }
    let minimum = usize::try_from(conf.get(keys::DFS_NAMENODE_EDITS_DIR_MINIMUM)?).unwrap_or(1).max(1);
    if minimum > dirs.len() {
        return Err(StartError::Storage(format!(
            "{} is {minimum}, and there are {} name directories",
            keys::DFS_NAMENODE_EDITS_DIR_MINIMUM.name(),
            dirs.len()
        )));
    }
    Ok((required, minimum))
}

/// Source: `FSImage.recoverTransitionRead`, Hadoop 3.5.0. Layouts that Surus writes need no upgrade.
fn check_layout(layout: i32, start: StartOption) -> Result<(), StartError> {
    if layout < LAYOUT_VERSION {
        let text =
            format!("Unexpected version of storage directory. Reported: {layout}. Expecting = {LAYOUT_VERSION}.");
        return Err(StartError::Storage(text));
    }
    if layout > OLDEST_WRITTEN_LAYOUT && start != StartOption::Upgrade {
        return Err(StartError::Storage(format!(
            "\nFile system image contains an old layout version {layout}.\nAn upgrade to version {LAYOUT_VERSION} is \
             required.\nPlease restart NameNode with the \"-upgrade\" option to start a new upgrade."
        )));
    }
    Ok(())
}

/// `-rollback`: takes the name directories back to before the last upgrade.
///
/// # Errors
/// There is no such state, a directory is in use, or the disk's.
pub fn rollback(conf: &Configuration) -> Result<StorageInfo, StartError> {
    Ok(surus_journal::rollback(&RealDisk, &name_dirs(conf)?, &lock_content(conf))?)
}

/// `-metadataVersion`: the layout of the name directories.
///
/// # Errors
/// They are not formatted, in use, or the disk's.
pub fn metadata_version(conf: &Configuration) -> Result<i32, StartError> {
    let storage = Storage::open(Arc::new(RealDisk), &name_dirs(conf)?, &lock_content(conf), Retention::default())?;
    Ok(storage.info().layout_version)
}

/// Takes the newest image of `dfs.namenode.checkpoint.dir`, and the edits beside it, into name directories without any.
/// Source: `FSImage.doImportCheckpoint`, Hadoop 3.5.0.
fn import_checkpoint(conf: &Configuration, user: &str, dirs: &[PathBuf]) -> Result<(), StartError> {
    if surus_journal::is_formatted(&RealDisk, dirs)? {
        let text = "Cannot import image from a checkpoint. NameNode already contains an image in its name directories.";
        return Err(StartError::Storage(text.to_owned()));
    }
    let from: Vec<PathBuf> = conf.get(keys::DFS_NAMENODE_CHECKPOINT_DIR)?.into_iter().map(PathBuf::from).collect();
    if from.is_empty() {
        return Err(StartError::Storage(
            "Cannot import image from a checkpoint. \"dfs.namenode.checkpoint.dir\" is not set.".to_owned(),
        ));
    }
    let storage = open(Arc::new(RealDisk), conf, &from, StartOption::ImportCheckpoint)?;
    let loaded = storage
        .load(namespace_config(conf, user)?, &mut Observer { retry_cache: None::<&RetryCache<()>>, startup: None })?;
    let now_ms = crate::clock::Clock::start().now_ms();
    let image = loaded.namespace.freeze();
    surus_journal::import(&RealDisk, dirs, &storage, &image, loaded.last_txid, now_ms, &lock_content(conf))?;
    tracing::info!("imported the checkpoint of transaction {} from {}", loaded.last_txid, from[0].display());
    Ok(())
}

/// Locks and loads the name directories.
///
/// # Errors
/// They are not formatted, held by another process, or damaged.
pub fn load<W>(
    disk: Arc<dyn Disk>,
    conf: &Configuration,
    options: &NameNodeOptions,
    host_name: &str,
    retry_cache: Option<&RetryCache<W>>,
    startup: &StartupProgress,
) -> Result<Found, StartError> {
    let (user, start) = (options.user.as_str(), options.start);
    let dirs = name_dirs(conf)?;
    if start == StartOption::ImportCheckpoint {
        import_checkpoint(conf, user, &dirs)?;
    }
    let (required, minimum) = required_dirs(conf, &dirs)?;
    let mut storage = open(disk, conf, &dirs, start)?.with_required(required, minimum);
    if start == StartOption::RollingUpgradeRollback {
        let txid = storage.roll_back_rolling_upgrade()?;
        tracing::info!("rolled back to fsimage_{:019} and the edits before the rolling upgrade", txid.0);
    }
    let mut observer = Observer { retry_cache, startup: Some(startup) };
    let mut loaded = storage.load(namespace_config(conf, user)?, &mut observer)?;
    check_open_groups(&loaded.namespace)?;
    if start == StartOption::Upgrade {
        let (old, now_ms) = (storage.info().clone(), crate::clock::Clock::start().now_ms());
        let layout = conf.get(keys::SURUS_NAMENODE_LAYOUT_VERSION)?;
        storage = storage.upgrade(&loaded.namespace.freeze(), loaded.last_txid, layout, now_ms)?;
        (loaded.image_txid, loaded.image_time_ms) = (loaded.last_txid, now_ms);
        loaded.needs_checkpoint = false;
        tracing::info!(
            "upgraded from layout {} (cTime {}) to {layout} (cTime {}); the old state is in previous until it is finalized",
            old.layout_version,
            old.c_time,
            storage.info().c_time
        );
    }
    let storage = Arc::new(storage);
    let info = storage.info();
    let id = FileSystemId {
        layout_version: info.layout_version,
        namespace_id: info.namespace_id as u32,
        cluster_id: info.cluster_id.clone(),
        creation_time_ms: info.c_time as u64,
        block_pool_id: info.block_pool_id.clone(),
    };
    let namespace = &mut loaded.namespace;
    namespace.blocks.config = block_config(conf, options.own_datanode, &id.block_pool_id, host_name)?;
    // Source: `BlockManagerSafeMode.checkBlocksWithFutureGS`, Hadoop 3.5.0.
    namespace.blocks.config.rolled_back = start == StartOption::RollingUpgradeRollback;
    while namespace.has_detached() {
        namespace.free_slice(usize::MAX);
    }
    namespace.keeps_previous = storage.has_previous()?;
    namespace.leases.renew_all(0);
    namespace.blocks.enter_startup_safe_mode();
    namespace.blocks.activate();
    tracing::info!(
        "loaded fsimage_{:019} and {} edits: {} files and directories",
        loaded.image_txid.0,
        loaded.edits_replayed,
        loaded.namespace.num_inodes()
    );
    Ok(Found { storage, loaded, id })
}
