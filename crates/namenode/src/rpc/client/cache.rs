//! Cache pools and directives.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::datanode::put;
use surus_namespace::cache::{Directive, Needed, Pool};
use surus_namespace::edit_op::CachePool;
use surus_namespace::ops::cache::{
    AddCacheDirective, ChangeCachePool, DirectiveInfo, Expiration, ModifyCacheDirective, RemoveCacheDirective,
};
use surus_namespace::{Env, Namespace};
use surus_proto::hadoop::hdfs::{
    AddCacheDirectiveRequestProto, AddCacheDirectiveResponseProto, AddCachePoolRequestProto, AddCachePoolResponseProto,
    CacheDirectiveEntryProto, CacheDirectiveInfoExpirationProto, CacheDirectiveInfoProto, CacheDirectiveStatsProto,
    CachePoolEntryProto, CachePoolInfoProto, CachePoolStatsProto, ListCacheDirectivesRequestProto,
    ListCacheDirectivesResponseProto, ListCachePoolsRequestProto, ListCachePoolsResponseProto,
    ModifyCacheDirectiveRequestProto, ModifyCacheDirectiveResponseProto, ModifyCachePoolRequestProto,
    ModifyCachePoolResponseProto, RemoveCacheDirectiveRequestProto, RemoveCacheDirectiveResponseProto,
    RemoveCachePoolRequestProto, RemoveCachePoolResponseProto,
};
use surus_types::{ExceptionClass, FsAction, FsPermission, HdfsError};

/// `CacheFlag.FORCE`.
const FORCE: u32 = 1;
/// `dfs.namenode.list.cache.directives.num.responses`, `dfs.namenode.list.cache.pools.num.responses`.
const PAGE: usize = 100;

fn info_of(info: &CacheDirectiveInfoProto) -> DirectiveInfo<'_> {
    DirectiveInfo {
        id: info.id,
        path: info.path.as_deref(),
        replication: info.replication.map(|n| n as i32),
        pool: info.pool.as_deref(),
        expiration: info.expiration.map(|e| Expiration { millis: e.millis, is_relative: e.is_relative }),
    }
}

pub(super) fn add_cache_directive(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: AddCacheDirectiveRequestProto = call.decode()?;
    let force = request.cache_flags() & FORCE != 0;
    let operation = AddCacheDirective { info: info_of(&request.info), force };
    core.write_if(call, None, &operation, |_, id| put(out, &AddCacheDirectiveResponseProto { id: *id }))
}

pub(super) fn modify_cache_directive(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: ModifyCacheDirectiveRequestProto = call.decode()?;
    let force = request.cache_flags() & FORCE != 0;
    let operation = ModifyCacheDirective { info: info_of(&request.info), force };
    core.write_if(call, None, &operation, |_, ()| put(out, &ModifyCacheDirectiveResponseProto {}))
}

pub(super) fn remove_cache_directive(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RemoveCacheDirectiveRequestProto = call.decode()?;
    let operation = RemoveCacheDirective { id: request.id };
    core.write_if(call, None, &operation, |_, ()| put(out, &RemoveCacheDirectiveResponseProto {}))
}

fn pool_of(info: &CachePoolInfoProto) -> CachePool {
    CachePool {
        name: info.pool_name().into(),
        owner: info.owner_name.as_deref().map(Into::into),
        group: info.group_name.as_deref().map(Into::into),
        mode: info.mode.map(|mode| FsPermission(mode as u16)),
        limit: info.limit,
        max_relative_expiry: info.max_relative_expiry,
        default_replication: info.default_replication.and_then(|n| u16::try_from(n).ok()),
    }
}

pub(super) fn add_cache_pool(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: AddCachePoolRequestProto = call.decode()?;
    let operation = ChangeCachePool::Add(pool_of(&request.info));
    core.write_if(call, None, &operation, |_, ()| put(out, &AddCachePoolResponseProto {}))
}

pub(super) fn modify_cache_pool(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: ModifyCachePoolRequestProto = call.decode()?;
    let operation = ChangeCachePool::Modify(pool_of(&request.info));
    core.write_if(call, None, &operation, |_, ()| put(out, &ModifyCachePoolResponseProto {}))
}

pub(super) fn remove_cache_pool(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RemoveCachePoolRequestProto = call.decode()?;
    let operation = ChangeCachePool::Remove(&request.pool_name);
    core.write_if(call, None, &operation, |_, ()| put(out, &RemoveCachePoolResponseProto {}))
}

/// Directives of pools that the caller may read.
pub(super) fn list_cache_directives(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ListCacheDirectivesRequestProto = call.decode()?;
    let (env, namespace) = (core.env(call), core.namespace.read());
    let filter = info_of(&request.filter);
    let invalid = |text: String| HdfsError::new(ExceptionClass::InvalidRequest, text);
    let path = filter.path.map(|_| filter.valid_path()).transpose()?;
    if filter.replication.is_some() {
        return Err(invalid("Filtering by replication is unsupported.".to_owned()));
    }
    let cache = &namespace.cache;
    let mut after = request.prev_id;
    if let Some(id) = filter.id {
        if !cache.directives.contains_key(&id) {
            return Err(invalid(format!("Did not find requested id {id}")));
        }
        after = id - 1;
    }
    let wanted = |(id, d): &(&i64, &Directive)| {
        filter.id.is_none_or(|wanted| wanted == **id)
            && filter.pool.is_none_or(|pool| *pool == *d.pool)
            && path.as_ref().is_none_or(|path| *path == d.path)
            && cache.pools.get(&d.pool).is_some_and(|p| namespace.check_pool(&env, &d.pool, p, FsAction::READ).is_ok())
    };
    let mut rest = cache.directives.range(after.saturating_add(1)..).filter(wanted);
    let elements: Vec<_> = rest.by_ref().take(PAGE).map(|(id, d)| directive_entry(&namespace, &env, *id, d)).collect();
    let has_more = rest.next().is_some();
    put(out, &ListCacheDirectivesResponseProto { elements, has_more });
    Ok(())
}

fn directive_entry(namespace: &Namespace, env: &Env<'_>, id: i64, d: &Directive) -> CacheDirectiveEntryProto {
    let Needed { bytes, files } = namespace.directive_needed(d, env.now_ms);
    CacheDirectiveEntryProto {
        info: CacheDirectiveInfoProto {
            id: Some(id),
            path: Some(d.path.to_string()),
            replication: Some(u32::from(d.replication)),
            pool: Some(d.pool.to_string()),
            expiration: Some(CacheDirectiveInfoExpirationProto { millis: d.expiry_ms, is_relative: false }),
        },
        stats: CacheDirectiveStatsProto {
            bytes_needed: bytes,
            bytes_cached: 0,
            files_needed: files,
            files_cached: 0,
            has_expired: d.expiry_ms < env.now_ms,
        },
    }
}

/// All pools; of those that the caller may not read the names alone.
pub(super) fn list_cache_pools(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ListCachePoolsRequestProto = call.decode()?;
    let (env, namespace) = (core.env(call), core.namespace.read());
    let mut rest = namespace.cache.pools.iter().filter(|(name, _)| ***name > *request.prev_pool_name);
    let entries: Vec<_> =
        rest.by_ref().take(PAGE).map(|(name, pool)| pool_entry(&namespace, &env, name, pool)).collect();
    let has_more = rest.next().is_some();
    put(out, &ListCachePoolsResponseProto { entries, has_more });
    Ok(())
}

fn pool_entry(namespace: &Namespace, env: &Env<'_>, name: &str, pool: &Pool) -> CachePoolEntryProto {
    let mut info = CachePoolInfoProto { pool_name: Some(name.to_owned()), ..CachePoolInfoProto::default() };
    let mut stats = CachePoolStatsProto::default();
    if namespace.check_pool(env, name, pool, FsAction::READ).is_ok() {
        info.owner_name = Some(pool.owner.to_string());
        info.group_name = Some(pool.group.to_string());
        info.mode = Some(i32::from(pool.mode.0));
        info.limit = Some(pool.limit);
        info.max_relative_expiry = Some(pool.max_relative_expiry_ms);
        info.default_replication = Some(u32::from(pool.default_replication));
        let needed = namespace.pool_needed(name, env.now_ms);
        stats.bytes_needed = needed.bytes;
        stats.files_needed = needed.files;
        stats.bytes_overlimit = needed.bytes.saturating_sub(pool.limit).max(0);
    }
    CachePoolEntryProto { info, stats }
}
