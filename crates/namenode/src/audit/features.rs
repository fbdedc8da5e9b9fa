//! Audit lines of caching and erasure coding, whose sources are texts about what was changed.
//! Source: `CacheDirectiveInfo.toString`, `CachePoolInfo.toString`, Hadoop 3.5.0.

use crate::call::Call;
use prost::Message;
use std::fmt::Write as _;
use surus_proto::hadoop::hdfs::{
    AddCacheDirectiveRequestProto, AddCacheDirectiveResponseProto, AddCachePoolRequestProto,
    AddErasureCodingPoliciesResponseProto, CacheDirectiveInfoProto, CachePoolInfoProto,
    ListCacheDirectivesRequestProto, ModifyCacheDirectiveRequestProto, ModifyCachePoolRequestProto,
    RemoveCacheDirectiveRequestProto, RemoveCachePoolRequestProto,
};
use surus_types::HdfsError;

type Ends = (Option<String>, Option<String>);

/// Source and destination of a call about caching.
pub fn cache(method: &str, call: &Call<'_>, result: Result<&[u8], &HdfsError>, by_rank: bool) -> Ends {
    let one = |text: String| (Some(text), None);
    match method {
        "addCacheDirective" => {
            let Ok(mut request) = call.decode::<AddCacheDirectiveRequestProto>() else { return (None, None) };
            request.info.id = result.ok().and_then(|a| AddCacheDirectiveResponseProto::decode(a).ok()).map(|a| a.id);
            one(directive(&request.info))
        }
        "modifyCacheDirective" => match call.decode::<ModifyCacheDirectiveRequestProto>() {
            Ok(request) => {
                let id = format!("{{id: {}}}", request.info.id());
                (Some(id), Some(directive(&request.info)))
            }
            Err(_) => (None, None),
        },
        "removeCacheDirective" => match call.decode::<RemoveCacheDirectiveRequestProto>() {
            Ok(request) => one(format!("{{id: {}}}", request.id)),
            Err(_) => (None, None),
        },
        "listCacheDirectives" => match call.decode::<ListCacheDirectivesRequestProto>() {
            Ok(request) => one(directive(&request.filter)),
            Err(_) => (None, None),
        },
        "addCachePool" => match call.decode::<AddCachePoolRequestProto>() {
            Ok(request) if by_rank => (request.info.pool_name.clone(), None),
            Ok(request) => one(pool(&request.info)),
            Err(_) => (None, None),
        },
        "modifyCachePool" => match call.decode::<ModifyCachePoolRequestProto>() {
            Ok(request) => {
                let name = format!("{{poolName: {}}}", request.info.pool_name());
                (Some(name), Some(pool(&request.info)))
            }
            Err(_) => (None, None),
        },
        _ => match call.decode::<RemoveCachePoolRequestProto>() {
            Ok(request) => one(format!("{{poolName: {}}}", request.pool_name)),
            Err(_) => (None, None),
        },
    }
}

fn directive(info: &CacheDirectiveInfoProto) -> String {
    let mut parts = Vec::new();
    if let Some(id) = info.id {
        parts.push(format!("id: {id}"));
    }
    if let Some(path) = &info.path {
        parts.push(format!("path: {path}"));
    }
    if let Some(replication) = info.replication {
        parts.push(format!("replication: {replication}"));
    }
    if let Some(pool) = &info.pool {
        parts.push(format!("pool: {pool}"));
    }
    format!("{{{}}}", parts.join(", "))
}

fn pool(info: &CachePoolInfoProto) -> String {
    let text = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
    let mut out = String::from("{");
    let _ = write!(out, "poolName:{}", text(info.pool_name.clone()));
    let _ = write!(out, ", ownerName:{}, groupName:{}", text(info.owner_name.clone()), text(info.group_name.clone()));
    let _ = write!(out, ", mode:{}", text(info.mode.map(|mode| format!("{mode:04o}"))));
    let _ = write!(out, ", limit:{}", text(info.limit.map(|limit| limit.to_string())));
    let _ = write!(out, ", defaultReplication:{}", text(info.default_replication.map(|n| n.to_string())));
    let _ = write!(out, ", maxRelativeExpiryMs:{}}}", text(info.max_relative_expiry.map(|n| n.to_string())));
    out
}

/// The names of the policies that were added, `[A, B]`.
pub fn added_policies(result: Result<&[u8], &HdfsError>) -> String {
    let answer = result.ok().and_then(|answer| AddErasureCodingPoliciesResponseProto::decode(answer).ok());
    let names: Vec<String> = answer
        .map(|answer| answer.responses)
        .unwrap_or_default()
        .into_iter()
        .filter(|response| response.succeed)
        .filter_map(|response| response.policy.name)
        .collect();
    format!("[{}]", names.join(", "))
}
