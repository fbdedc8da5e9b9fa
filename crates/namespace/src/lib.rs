//! The NameNode's mind: inode tree, permissions, leases, block map, DataNodes. Pure: no clock, no files, no sockets.
//!
//! `plan` reads the state and decides which edit-log operations a request means; `apply` executes one operation and is
//! shared by live requests and start-up replay; `observe` takes what is never logged (replicas, heartbeats).
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod acl;
pub mod apply;
pub mod blocks;
pub mod cache;
pub mod config;
pub mod dump;
pub mod edit_op;
pub mod erasure_coding;
mod id_map;
pub mod image;
pub mod image_snapshots;
mod image_truncates;
pub mod leases;
pub mod ops;
mod past_walk;
pub mod permission;
pub mod plan;
pub mod resolve;
pub mod room;
pub mod storage_policy;
pub mod tree;
mod walk;
pub mod xattr;

pub use apply::{Applied, ApplyError};
pub use blocks::BlockHandle;
pub use config::{NamespaceConfig, SnapshotConfig};
pub use edit_op::EditOp;
pub use image::{FrozenImage, ImageInode, ImageKind, ImageLoader, LoadError};
pub use leases::LeaseManager;
pub use past_walk::PastWalk;
pub use plan::{Env, Operation, Plan, Refusal, WaitFor};
pub use resolve::{DirOp, Resolved};
pub use tree::{InodeHandle, InodeView, Tree};
pub use walk::SubtreeWalk;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use surus_types::{FsPermission, InodeId, PermissionStatus};

/// Mode of the root of a fresh file system. Source: `FSDirectory.createRoot`, Hadoop 3.5.0.
const ROOT_MODE: FsPermission = FsPermission(0o755);

/// The whole state of the NameNode: what the fsimage holds, and the soft state beside it.
pub struct Namespace {
    pub config: NamespaceConfig,
    pub tree: Tree,
    pub leases: LeaseManager,
    pub blocks: blocks::BlockManager,
    /// The last inode id given out.
    pub last_inode_id: InodeId,
    /// A clock that never steps back (milliseconds), as last told: lease times of files opened by `apply` take it.
    pub now_ms: u64,
    /// Delegation keys and tokens.
    pub secrets: Arc<ops::delegation_token::Secrets>,
    pub rolling_upgrade: Option<ops::rolling_upgrade::RollingUpgrade>,
    /// One was finalized since this state was loaded: DataNodes are told so with every heartbeat. In no image.
    pub rolling_upgrade_finalized: bool,
    /// A state of before an upgrade is kept, which shares its blocks with this one. Not logged.
    pub keeps_previous: bool,
    /// Cache pools and directives.
    pub cache: Arc<cache::CacheState>,
    /// Encryption zones whose files' keys are being encrypted anew, and whether that is to end: nothing moves in them.
    pub reencrypting: BTreeMap<InodeId, bool>,
    detached: ops::delete::Detached,
    walks: walk::Walks,
    /// A subtree whose permissions a walk has checked, for the plan that comes next.
    walked: Option<InodeHandle>,
    /// As `walked`, of what snapshots show.
    walked_past: Vec<(tree::SnapshotId, InodeHandle)>,
}

impl Namespace {
    /// A fresh, formatted file system: a root that the NameNode's user owns.
    pub fn new(config: NamespaceConfig) -> Self {
        let root =
            PermissionStatus { user: config.fs_owner.clone(), group: config.supergroup.clone(), permission: ROOT_MODE };
        let mut tree = Tree::new(&root, 0);
        tree.limit_units(config.table_limits.units);
        tree.ec_policies_mut().enable_default(&config.ec_default_policy);
        Namespace {
            tree,
            config,
            leases: LeaseManager::default(),
            blocks: blocks::BlockManager::default(),
            last_inode_id: InodeId::ROOT,
            now_ms: 0,
            secrets: Arc::default(),
            rolling_upgrade: None,
            rolling_upgrade_finalized: false,
            keeps_previous: false,
            cache: Arc::default(),
            reencrypting: BTreeMap::new(),
            detached: ops::delete::Detached::default(),
            walks: walk::Walks::default(),
            walked: None,
            walked_past: Vec::new(),
        }
    }

    /// Tells the time to what happens without a request. Never steps back.
    pub fn set_now(&mut self, monotonic_ms: u64) {
        self.now_ms = self.now_ms.max(monotonic_ms);
    }

    /// Files and directories that can be reached, the root included.
    pub fn num_inodes(&self) -> u64 {
        self.tree.num_attached()
    }

    /// Bytes of each table on the heap, about.
    pub fn table_bytes(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let ids = [("InodeIds", self.tree.id_bytes())];
        self.tree.table_bytes().into_iter().chain(ids).chain(self.blocks.table_bytes())
    }

    /// An inode with this id exists now: ids below are never given out again.
    pub fn note_inode_id(&mut self, id: InodeId) {
        self.last_inode_id = self.last_inode_id.max(id);
    }
}

impl Default for Namespace {
    fn default() -> Self {
        Namespace::new(NamespaceConfig::default())
    }
}
