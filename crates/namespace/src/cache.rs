//! Cache pools and directives: what should be kept in the DataNodes' memory. State only: no DataNode is told.
//! Source: `CacheManager.java`, `CachePool.java`, `CachePoolInfo.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::edit_op::{CacheDirective, CachePool};
use crate::plan::Env;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use surus_types::{ExceptionClass, FsAction, FsPermission, HdfsError};

/// No limit. Source: `CachePoolInfo.LIMIT_UNLIMITED`, Hadoop 3.5.0.
pub const UNLIMITED: i64 = i64::MAX;
/// "Never", in milliseconds from now. Source: `CacheDirectiveInfo.Expiration.MAX_RELATIVE_EXPIRY_MS`, Hadoop 3.5.0.
pub const RELATIVE_EXPIRY_MAX_MS: i64 = i64::MAX / 4;
const MODE: FsPermission = FsPermission(0o755);

/// A pool: who may use it, and how much of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    pub owner: Box<str>,
    pub group: Box<str>,
    pub mode: FsPermission,
    /// Bytes.
    pub limit: i64,
    pub max_relative_expiry_ms: i64,
    pub default_replication: u16,
}

/// A path that is to be cached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directive {
    pub path: Box<str>,
    pub replication: u16,
    pub pool: Box<str>,
    /// Milliseconds since 1970.
    pub expiry_ms: i64,
}

/// Bytes and files that a directive or a pool asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needed {
    pub bytes: i64,
    pub files: i64,
}

/// All of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheState {
    pub next_directive_id: i64,
    pub pools: BTreeMap<Box<str>, Pool>,
    pub directives: BTreeMap<i64, Directive>,
}

impl Default for CacheState {
    fn default() -> Self {
        CacheState { next_directive_id: 1, pools: BTreeMap::new(), directives: BTreeMap::new() }
    }
}

/// An `InvalidRequestException`.
pub(crate) fn invalid(text: impl Into<String>) -> HdfsError {
    HdfsError::new(ExceptionClass::InvalidRequest, text)
}

impl CacheState {
    /// # Errors
    /// `InvalidRequestException`.
    pub fn pool(&self, name: Option<&str>) -> Result<&Pool, HdfsError> {
        let name = name.ok_or_else(|| invalid("No pool specified."))?;
        if name.is_empty() {
            return Err(invalid("Invalid empty pool name."));
        }
        self.pools.get(name).ok_or_else(|| invalid(format!("Unknown pool {name}")))
    }

    /// # Errors
    /// `InvalidRequestException`.
    pub fn directive(&self, id: i64) -> Result<&Directive, HdfsError> {
        if id <= 0 {
            return Err(invalid("Invalid negative ID."));
        }
        self.directives.get(&id).ok_or_else(|| invalid(format!("No directive with ID {id} found.")))
    }

    /// What the log or an image says of a pool; what it does not say is as for a new one.
    pub fn put_pool(&mut self, info: &CachePool) {
        let pool = Pool {
            owner: info.owner.clone().unwrap_or_default(),
            group: info.group.clone().unwrap_or_default(),
            mode: info.mode.unwrap_or(MODE),
            limit: info.limit.unwrap_or(UNLIMITED),
            max_relative_expiry_ms: info.max_relative_expiry.unwrap_or(RELATIVE_EXPIRY_MAX_MS),
            default_replication: info.default_replication.unwrap_or(1),
        };
        self.pools.insert(info.name.clone(), pool);
    }

    /// Changes what `info` says. Returns whether there is such a pool.
    pub fn change_pool(&mut self, info: &CachePool) -> bool {
        let Some(pool) = self.pools.get_mut(&info.name) else { return false };
        if let Some(owner) = &info.owner {
            pool.owner = owner.clone();
        }
        if let Some(group) = &info.group {
            pool.group = group.clone();
        }
        pool.mode = info.mode.unwrap_or(pool.mode);
        pool.limit = info.limit.unwrap_or(pool.limit);
        pool.max_relative_expiry_ms = info.max_relative_expiry.unwrap_or(pool.max_relative_expiry_ms);
        pool.default_replication = info.default_replication.unwrap_or(pool.default_replication);
        true
    }

    /// Takes a pool away with its directives. Returns whether there was one.
    pub fn remove_pool(&mut self, name: &str) -> bool {
        self.directives.retain(|_, directive| &*directive.pool != name);
        self.pools.remove(name).is_some()
    }

    /// What the log or an image says of a directive. Returns whether it is whole and its pool is there.
    pub fn put_directive(&mut self, info: &CacheDirective) -> bool {
        let (Some(path), Some(pool), Some(expiry_ms)) = (&info.path, &info.pool, info.expiration) else { return false };
        let replication = info.replication.unwrap_or(1);
        let directive = Directive { path: path.clone(), replication, pool: pool.clone(), expiry_ms };
        self.next_directive_id = self.next_directive_id.max(info.id.saturating_add(1));
        self.directives.insert(info.id, directive);
        self.pools.contains_key(pool)
    }

    /// Changes what `info` says. Returns whether there is such a directive.
    pub fn change_directive(&mut self, info: &CacheDirective) -> bool {
        let Some(directive) = self.directives.get_mut(&info.id) else { return false };
        if let Some(path) = &info.path {
            directive.path = path.clone();
        }
        if let Some(pool) = &info.pool {
            directive.pool = pool.clone();
        }
        directive.replication = info.replication.unwrap_or(directive.replication);
        directive.expiry_ms = info.expiration.unwrap_or(directive.expiry_ms);
        true
    }
}

impl Namespace {
    /// Whether the caller may do `action` with a pool.
    ///
    /// # Errors
    /// `AccessControlException`. Source: `FSPermissionChecker.checkPermission(CachePool)`, Hadoop 3.5.0.
    pub fn check_pool(&self, env: &Env<'_>, name: &str, pool: &Pool, action: FsAction) -> Result<(), HdfsError> {
        let granted = if *pool.owner == *env.caller.user {
            pool.mode.user_action()
        } else if env.caller.is_in_group(&pool.group) {
            pool.mode.group_action()
        } else {
            pool.mode.other_action()
        };
        if !self.is_checked(env) || granted.implies(action) {
            return Ok(());
        }
        Err(HdfsError::access_control(format!(
            "Permission denied while accessing pool {name}: user {} does not have {} permissions.",
            env.caller.user,
            action.name()
        )))
    }

    /// What caching `path` takes: a file's complete blocks, or those of the files right in a directory.
    /// Source: `CacheManager.computeNeeded`, Hadoop 3.5.0.
    pub fn cache_needed(&self, path: &str, replication: u16) -> Needed {
        let Some(handle) = self.tree.lookup(path) else { return Needed::default() };
        let mut needed = Needed::default();
        let mut add = |handle| {
            let inode = self.tree.inode(handle);
            if inode.is_file() {
                let open = inode.blocks().last().filter(|_| inode.is_under_construction());
                let unfinished = open.map_or(0, |last| self.blocks.block(*last).num_bytes);
                let bytes = inode.length().saturating_sub(unfinished);
                needed.files += 1;
                needed.bytes = needed.bytes.saturating_add((bytes as i64).saturating_mul(i64::from(replication)));
            }
        };
        if self.tree.inode(handle).is_directory() {
            self.tree.inode(handle).children(b"").for_each(&mut add);
        } else {
            add(handle);
        }
        needed
    }

    /// What a directive takes now: nothing once it has expired.
    pub fn directive_needed(&self, directive: &Directive, now_ms: i64) -> Needed {
        if directive.expiry_ms <= now_ms {
            return Needed::default();
        }
        self.cache_needed(&directive.path, directive.replication)
    }

    /// What all directives of a pool take.
    pub fn pool_needed(&self, name: &str, now_ms: i64) -> Needed {
        let mut sum = Needed::default();
        for directive in self.cache.directives.values().filter(|d| &*d.pool == name) {
            let needed = self.directive_needed(directive, now_ms);
            sum.files += needed.files;
            sum.bytes = sum.bytes.saturating_add(needed.bytes);
        }
        sum
    }
}
