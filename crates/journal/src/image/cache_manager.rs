//! The section of cache pools and directives. Source: `CacheManager.saveState`, `loadStatePB`, Hadoop 3.5.0.

use super::encode::put_delimited;
use super::file::OpenSection;
use crate::error::JournalError;
use prost::Message;
use surus_namespace::cache::{CacheState, Directive, Pool};
use surus_namespace::edit_op::{CacheDirective, CachePool};
use surus_proto::hadoop::hdfs::fsimage::CacheManagerSection;
use surus_proto::hadoop::hdfs::{CacheDirectiveInfoExpirationProto, CacheDirectiveInfoProto, CachePoolInfoProto};
use surus_types::FsPermission;

pub(super) fn put(out: &mut Vec<u8>, cache: &CacheState) {
    let head = CacheManagerSection {
        next_directive_id: cache.next_directive_id as u64,
        num_pools: cache.pools.len() as u32,
        num_directives: cache.directives.len() as u32,
    };
    put_delimited(out, &head.encode_to_vec());
    for (name, pool) in &cache.pools {
        put_delimited(out, &pool_to_proto(name, pool).encode_to_vec());
    }
    for (id, directive) in &cache.directives {
        put_delimited(out, &directive_to_proto(*id, directive).encode_to_vec());
    }
}

fn pool_to_proto(name: &str, pool: &Pool) -> CachePoolInfoProto {
    CachePoolInfoProto {
        pool_name: Some(name.to_owned()),
        owner_name: Some(pool.owner.to_string()),
        group_name: Some(pool.group.to_string()),
        mode: Some(i32::from(pool.mode.0)),
        limit: Some(pool.limit),
        max_relative_expiry: Some(pool.max_relative_expiry_ms),
        default_replication: (pool.default_replication != 1).then_some(u32::from(pool.default_replication)),
    }
}

fn directive_to_proto(id: i64, directive: &Directive) -> CacheDirectiveInfoProto {
    CacheDirectiveInfoProto {
        id: Some(id),
        path: Some(directive.path.to_string()),
        replication: Some(u32::from(directive.replication)),
        pool: Some(directive.pool.to_string()),
        expiration: Some(CacheDirectiveInfoExpirationProto { millis: directive.expiry_ms, is_relative: false }),
    }
}

/// An image without the section has nothing of it.
pub(super) fn read(section: &mut OpenSection<'_>) -> Result<CacheState, JournalError> {
    let mut cache = CacheState::default();
    let Some(head) = section.message::<CacheManagerSection>()? else { return Ok(cache) };
    for _ in 0..head.num_pools {
        let pool: CachePoolInfoProto =
            section.message()?.ok_or_else(|| section.error("it ends before its last pool"))?;
        // Old images hold no number of replicas, and 0 for what they do not say of the longest expiry.
        cache.put_pool(&CachePool {
            name: pool.pool_name().into(),
            owner: pool.owner_name.as_deref().map(Into::into),
            group: pool.group_name.as_deref().map(Into::into),
            mode: pool.mode.map(|mode| FsPermission(mode as u16)),
            limit: pool.limit,
            max_relative_expiry: pool.max_relative_expiry.filter(|ms| *ms > 0),
            default_replication: pool.default_replication.and_then(|n| u16::try_from(n).ok()),
        });
    }
    for _ in 0..head.num_directives {
        let info: CacheDirectiveInfoProto =
            section.message()?.ok_or_else(|| section.error("it ends before its last directive"))?;
        let whole = cache.put_directive(&CacheDirective {
            id: info.id(),
            path: info.path.as_deref().map(Into::into),
            replication: info.replication.and_then(|n| u16::try_from(n).ok()),
            pool: info.pool.as_deref().map(Into::into),
            expiration: info.expiration.map(|e| e.millis),
        });
        if !whole {
            return Err(section.error(&format!("cache directive {} lacks a path or its pool", info.id())));
        }
    }
    cache.next_directive_id = cache.next_directive_id.max(head.next_directive_id as i64);
    Ok(cache)
}
