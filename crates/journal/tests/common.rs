//! What the tests share: a file system on any disk, a listener that remembers, operations that succeed.

use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_disk::Disk;
use surus_journal::{
    CommitListener, EditLog, JournalError, LoadObserver, Loaded, Retention, Storage, StorageInfo, format,
};
use surus_namespace::{EditOp, Namespace, NamespaceConfig};
use surus_types::{FsPermission, InodeId, PermissionStatus, TxId};

/// What the commit thread told.
#[derive(Default, Debug)]
pub struct Heard {
    pub durable: TxId,
    pub failed_directories: Vec<PathBuf>,
    pub failed: Option<String>,
}

#[derive(Clone, Default)]
pub struct Listener(pub Arc<Mutex<Heard>>);

impl CommitListener for Listener {
    fn durable(&mut self, txid: TxId) {
        let mut heard = self.0.lock();
        assert!(txid > heard.durable);
        heard.durable = txid;
    }
    fn directory_failed(&mut self, dir: &Path, _error: &JournalError) {
        self.0.lock().failed_directories.push(dir.to_path_buf());
    }
    fn failed(&mut self, error: &JournalError) {
        self.0.lock().failed = Some(error.to_string());
    }
}

#[derive(Default)]
pub struct Notices(pub Vec<String>);

impl LoadObserver for Notices {
    fn notice(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
}

pub fn info() -> StorageInfo {
    StorageInfo::new([7, 8, 9], 1_000, "127.0.0.1", Some("CID-test"))
}

pub fn config() -> NamespaceConfig {
    NamespaceConfig { fs_owner: "root".into(), ..NamespaceConfig::default() }
}

pub fn format_dirs(disk: &dyn Disk, dirs: &[PathBuf]) {
    format(disk, dirs, &info(), &Namespace::new(config()).freeze(), 1_000, "1@test").unwrap();
}

pub fn open(disk: Arc<dyn Disk>, dirs: &[PathBuf]) -> Result<Arc<Storage>, JournalError> {
    Storage::open(disk, dirs, "1@test", Retention::default()).map(Arc::new)
}

/// A running file system: what the NameNode has, without its locks.
pub struct Running {
    pub storage: Arc<Storage>,
    pub namespace: Namespace,
    pub log: EditLog,
    pub heard: Arc<Mutex<Heard>>,
}

impl Running {
    pub fn start(disk: Arc<dyn Disk>, dirs: &[PathBuf]) -> Result<Running, JournalError> {
        let storage = open(disk, dirs)?;
        let loaded = storage.load(config(), &mut ())?;
        Running::start_with(storage, loaded)
    }

    pub fn start_with(storage: Arc<Storage>, loaded: Loaded) -> Result<Running, JournalError> {
        let listener = Listener::default();
        let heard = Arc::clone(&listener.0);
        let log = EditLog::start(Arc::clone(&storage), loaded.last_txid, Box::new(listener))?;
        Ok(Running { storage, namespace: loaded.namespace, log, heard })
    }

    /// Applies and logs.
    pub fn run(&mut self, op: EditOp) -> TxId {
        let txid = TxId(self.log.last_txid().0 + 1);
        self.namespace.apply(&op, txid).unwrap();
        self.log.log(&[op])
    }

    pub fn mkdir(&mut self, path: &str) -> TxId {
        let inode_id = InodeId(self.namespace.last_inode_id.0 + 1);
        self.run(mkdir(inode_id, path))
    }

    pub fn checkpoint(&self) -> Result<TxId, JournalError> {
        let roll = self.log.roll();
        let image = self.namespace.freeze();
        self.log.wait_durable(roll.ended)?;
        self.storage.save_namespace(&image, roll.ended)?;
        Ok(roll.ended)
    }
}

pub fn mkdir(inode_id: InodeId, path: &str) -> EditOp {
    let permission = PermissionStatus { user: "alice".into(), group: "staff".into(), permission: FsPermission(0o755) };
    EditOp::Mkdir { inode_id, path: path.into(), timestamp: 5, permission, acl: Vec::new(), xattrs: Vec::new() }
}

/// The paths of all directories and files, for comparison.
pub fn paths(namespace: &Namespace) -> Vec<String> {
    let image = namespace.freeze();
    let mut paths: Vec<String> = image.inodes().filter_map(|inode| namespace.tree.path_of(inode.handle())).collect();
    paths.sort();
    paths
}
