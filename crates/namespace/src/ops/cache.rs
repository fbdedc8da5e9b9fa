//! Cache pools and directives: added, changed, removed.
//! Source: `FSNDNCacheOp.java`, `CacheManager.java`, `CachePoolInfo.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::cache::{Pool, RELATIVE_EXPIRY_MAX_MS, UNLIMITED, invalid};
use crate::edit_op::{CacheDirective, CachePool, EditOp};
use crate::plan::{Env, Operation, Plan, Refusal};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use surus_types::{FsAction, HdfsError, HdfsPath};

/// When a directive ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expiration {
    pub millis: i64,
    /// From now; else since 1970.
    pub is_relative: bool,
}

/// What a request says of a directive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DirectiveInfo<'a> {
    pub id: Option<i64>,
    pub path: Option<&'a str>,
    pub replication: Option<i32>,
    pub pool: Option<&'a str>,
    pub expiration: Option<Expiration>,
}

impl DirectiveInfo<'_> {
    /// # Errors
    /// `InvalidRequestException`.
    pub fn valid_path(&self) -> Result<Box<str>, HdfsError> {
        let path = self.path.ok_or_else(|| invalid("No path specified."))?;
        if HdfsPath::parse(path).is_err() {
            return Err(invalid(format!("Invalid path '{path}'.")));
        }
        Ok(path.into())
    }

    fn valid_replication(&self) -> Result<Option<u16>, HdfsError> {
        match self.replication {
            Some(n) if n <= 0 => Err(invalid(format!("Invalid replication factor {n} <= 0"))),
            Some(n) => Ok(Some(u16::try_from(n).unwrap_or(u16::MAX))),
            None => Ok(None),
        }
    }

    /// Milliseconds since 1970; without one the pool's longest.
    fn valid_expiry(&self, now_ms: i64, max_relative_ms: i64) -> Result<i64, HdfsError> {
        let Some(Expiration { millis, is_relative }) = self.expiration else {
            return Ok(now_ms.saturating_add(max_relative_ms));
        };
        if millis < 0 {
            return Err(invalid(format!("Cannot set a negative expiration: {millis}")));
        }
        let (relative, absolute) = match is_relative {
            true => (millis, now_ms.saturating_add(millis)),
            false => (millis.saturating_sub(now_ms), millis),
        };
        if relative > RELATIVE_EXPIRY_MAX_MS {
            return Err(invalid(format!("Expiration {millis} is too far in the future!")));
        }
        if relative > max_relative_ms {
            return Err(invalid(format!(
                "Expiration {millis} exceeds the max relative expiration time of {max_relative_ms} ms."
            )));
        }
        Ok(absolute)
    }
}

impl Namespace {
    /// Whether a pool has room for a path.
    fn check_limit(
        &self,
        env: &Env<'_>,
        name: &str,
        pool: &Pool,
        path: &str,
        replication: u16,
    ) -> Result<(), HdfsError> {
        if pool.limit == UNLIMITED {
            return Ok(());
        }
        let needed = self.cache_needed(path, replication).bytes;
        let used = self.pool_needed(name, env.now_ms).bytes;
        if used.saturating_add(needed) <= pool.limit {
            return Ok(());
        }
        Err(invalid(format!(
            "Caching path {path} of size {} bytes at replication {replication} would exceed pool {name}'s remaining \
             capacity of {} bytes.",
            needed / i64::from(replication.max(1)),
            pool.limit - used
        )))
    }
}

/// The request; `force`: even where the pool's limit would be exceeded.
#[derive(Clone, Copy, Debug)]
pub struct AddCacheDirective<'a> {
    pub info: DirectiveInfo<'a>,
    pub force: bool,
}

impl Operation for AddCacheDirective<'_> {
    /// The new id.
    type Reply = i64;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<i64>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot add cache directive"))?;
        let info = &self.info;
        if info.id.is_some() {
            return Err(HdfsError::io("addDirective: you cannot specify an ID for this operation.").into());
        }
        let pool = namespace.cache.pool(info.pool)?;
        let name = info.pool.unwrap_or_default();
        namespace.check_pool(env, name, pool, FsAction::WRITE)?;
        let path = info.valid_path()?;
        let replication = info.valid_replication()?.unwrap_or(pool.default_replication);
        let expiration = info.valid_expiry(env.now_ms, pool.max_relative_expiry_ms)?;
        if !self.force {
            namespace.check_limit(env, name, pool, &path, replication)?;
        }
        let id = namespace.cache.next_directive_id;
        let directive = CacheDirective {
            id,
            path: Some(path),
            replication: Some(replication),
            pool: Some(name.into()),
            expiration: Some(expiration),
        };
        Ok(Plan::one(EditOp::AddCacheDirective { directive, rpc: env.rpc.clone() }, id))
    }
}

/// The request: what is absent stays as it is.
#[derive(Clone, Copy, Debug)]
pub struct ModifyCacheDirective<'a> {
    pub info: DirectiveInfo<'a>,
    pub force: bool,
}

impl Operation for ModifyCacheDirective<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot add cache directive"))?;
        let info = &self.info;
        let id = info.id.ok_or_else(|| invalid("Must supply an ID."))?;
        let cache = &namespace.cache;
        let old = cache.directive(id)?;
        let old_pool = cache.pool(Some(&old.pool))?;
        namespace.check_pool(env, &old.pool, old_pool, FsAction::WRITE)?;
        let name = info.pool.unwrap_or(&old.pool);
        let pool = cache.pool(Some(name))?;
        let path = info.path.map(|_| info.valid_path()).transpose()?;
        let replication = info.valid_replication()?;
        let expiration = match info.expiration {
            Some(_) => Some(info.valid_expiry(env.now_ms, pool.max_relative_expiry_ms)?),
            None => None,
        };
        if name != &*old.pool {
            namespace.check_pool(env, name, pool, FsAction::WRITE)?;
            if !self.force {
                let path = path.as_deref().unwrap_or(&old.path);
                namespace.check_limit(env, name, pool, path, replication.unwrap_or(old.replication))?;
            }
        }
        let directive = CacheDirective { id, path, replication, pool: info.pool.map(Into::into), expiration };
        Ok(Plan::one(EditOp::ModifyCacheDirective { directive, rpc: env.rpc.clone() }, ()))
    }
}

/// The request.
#[derive(Clone, Copy, Debug)]
pub struct RemoveCacheDirective {
    pub id: i64,
}

impl Operation for RemoveCacheDirective {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_safe_mode(env, format_args!("Cannot remove cache directives"))?;
        let directive = namespace.cache.directive(self.id)?;
        let pool = namespace.cache.pool(Some(&directive.pool))?;
        namespace.check_pool(env, &directive.pool, pool, FsAction::WRITE)?;
        Ok(Plan::one(EditOp::RemoveCacheDirective { id: self.id, rpc: env.rpc.clone() }, ()))
    }
}

/// What is done with a pool.
#[derive(Clone, Debug)]
pub enum ChangeCachePool<'a> {
    Add(CachePool),
    Modify(CachePool),
    Remove(&'a str),
}

impl Operation for ChangeCachePool<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        let rpc = env.rpc.clone();
        let has = |name: &str| namespace.cache.pools.contains_key(name);
        let op = match self {
            Self::Add(info) => {
                namespace.check_superuser(env, "addCachePool")?;
                namespace.check_safe_mode(env, format_args!("Cannot add cache pool{}", info.name))?;
                validate(info)?;
                if has(&info.name) {
                    return Err(invalid(format!("Cache pool {} already exists.", info.name)).into());
                }
                EditOp::AddCachePool { pool: with_defaults(info, env), rpc }
            }
            Self::Modify(info) => {
                namespace.check_superuser(env, "modifyCachePool")?;
                namespace.check_safe_mode(env, format_args!("Cannot modify cache pool{}", info.name))?;
                validate(info)?;
                if !has(&info.name) {
                    return Err(invalid(format!("Cache pool {} does not exist.", info.name)).into());
                }
                EditOp::ModifyCachePool { pool: info.clone(), rpc }
            }
            Self::Remove(name) => {
                namespace.check_superuser(env, "removeCachePool")?;
                namespace.check_safe_mode(env, format_args!("Cannot modify cache pool{name}"))?;
                validate_name(name)?;
                if !has(name) {
                    return Err(invalid(format!("Cannot remove non-existent cache pool {name}")).into());
                }
                EditOp::RemoveCachePool { pool_name: (*name).into(), rpc }
            }
        };
        Ok(Plan::one(op, ()))
    }
}

fn validate_name(name: &str) -> Result<(), HdfsError> {
    if name.is_empty() {
        // An IOException in Hadoop, too.
        return Err(HdfsError::io("invalid empty cache pool name"));
    }
    Ok(())
}

fn validate(info: &CachePool) -> Result<(), HdfsError> {
    if info.limit.is_some_and(|n| n < 0) {
        return Err(invalid("Limit is negative."));
    }
    if info.max_relative_expiry.is_some_and(|n| n < 0) {
        return Err(invalid("Max relative expiry is negative."));
    }
    if info.max_relative_expiry.is_some_and(|n| n > RELATIVE_EXPIRY_MAX_MS) {
        return Err(invalid("Max relative expiry is too big."));
    }
    validate_name(&info.name)
}

/// A new pool as the log holds it: whole, and the caller's unless it says whose.
fn with_defaults(info: &CachePool, env: &Env<'_>) -> CachePool {
    let mut whole = info.clone();
    whole.owner.get_or_insert_with(|| (&*env.caller.user).into());
    whole.group.get_or_insert_with(|| env.caller.groups.first().map_or("", |g| g).into());
    whole.mode.get_or_insert(surus_types::FsPermission(0o755));
    whole.limit.get_or_insert(UNLIMITED);
    whole.max_relative_expiry.get_or_insert(RELATIVE_EXPIRY_MAX_MS);
    whole.default_replication.get_or_insert(1);
    whole
}

/// The operations on pools and directives.
///
/// # Errors
/// What the operation is about is not there.
pub fn apply(namespace: &mut Namespace, op: &EditOp) -> Result<Applied, ApplyError> {
    let cache = Arc::make_mut(&mut namespace.cache);
    let done = match op {
        EditOp::AddCachePool { pool, .. } => {
            cache.put_pool(pool);
            true
        }
        EditOp::ModifyCachePool { pool, .. } => cache.change_pool(pool),
        EditOp::RemoveCachePool { pool_name, .. } => cache.remove_pool(pool_name),
        EditOp::AddCacheDirective { directive, .. } => cache.put_directive(directive),
        EditOp::ModifyCacheDirective { directive, .. } => cache.change_directive(directive),
        EditOp::RemoveCacheDirective { id, .. } => cache.directives.remove(id).is_some(),
        _ => false,
    };
    if done { Ok(Applied::default()) } else { Err(ApplyError::other(op.name(), "", "no such cache pool or directive")) }
}
