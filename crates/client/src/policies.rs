//! Calls for quotas, storage policies, erasure coding policies, cache pools and directives.

use crate::client::DfsClient;
use crate::error::Result;
use crate::namenode::Repeat::{AtMostOnce, Idempotent};
use surus_proto::hadoop::hdfs as proto;
use surus_types::StorageType;

pub use proto::BlockStoragePolicyProto as StoragePolicy;

/// In place of a quota: leave it as it is.
pub const QUOTA_DONT_SET: i64 = i64::MAX;
/// In place of a quota: take it away.
pub const QUOTA_RESET: i64 = -1;

impl DfsClient {
    /// Bytes; [`QUOTA_DONT_SET`], [`QUOTA_RESET`]. With a type, `space` is the quota of that type alone.
    pub fn set_quota(&self, path: &str, names: i64, space: i64, storage_type: Option<StorageType>) -> Result<()> {
        let request = proto::SetQuotaRequestProto {
            path: path.into(),
            namespace_quota: names as u64,
            storagespace_quota: space as u64,
            storage_type: storage_type.map(|t| t as i32),
        };
        let _: proto::SetQuotaResponseProto = self.call("setQuota", Idempotent, &request)?;
        Ok(())
    }

    pub fn get_storage_policies(&self) -> Result<Vec<StoragePolicy>> {
        let answer: proto::GetStoragePoliciesResponseProto =
            self.call("getStoragePolicies", Idempotent, &proto::GetStoragePoliciesRequestProto {})?;
        Ok(answer.policies)
    }

    /// `None`: takes away the policy that is set on this very path.
    pub fn set_storage_policy(&self, src: &str, policy: Option<&str>) -> Result<()> {
        match policy {
            Some(name) => {
                let request = proto::SetStoragePolicyRequestProto { src: src.into(), policy_name: name.into() };
                let _: proto::SetStoragePolicyResponseProto = self.call("setStoragePolicy", Idempotent, &request)?;
            }
            None => {
                let request = proto::UnsetStoragePolicyRequestProto { src: src.into() };
                let _: proto::UnsetStoragePolicyResponseProto =
                    self.call("unsetStoragePolicy", Idempotent, &request)?;
            }
        }
        Ok(())
    }

    pub fn satisfy_storage_policy(&self, src: &str) -> Result<()> {
        let request = proto::SatisfyStoragePolicyRequestProto { src: src.into() };
        let _: proto::SatisfyStoragePolicyResponseProto = self.call("satisfyStoragePolicy", Idempotent, &request)?;
        Ok(())
    }
}

pub use proto::{
    CacheDirectiveEntryProto as CacheDirectiveEntry, CacheDirectiveInfoExpirationProto as CacheExpiration,
    CacheDirectiveInfoProto as CacheDirectiveInfo, CachePoolEntryProto as CachePoolEntry,
    CachePoolInfoProto as CachePoolInfo, ErasureCodingPolicyProto as EcPolicy,
};

/// What is done with an erasure coding policy by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcPolicyChange {
    Enable,
    Disable,
    Remove,
}

impl DfsClient {
    pub fn get_ec_policies(&self) -> Result<Vec<EcPolicy>> {
        let answer: proto::GetErasureCodingPoliciesResponseProto =
            self.call("getErasureCodingPolicies", Idempotent, &proto::GetErasureCodingPoliciesRequestProto {})?;
        Ok(answer.ec_policies)
    }

    /// Codecs and their coders.
    pub fn get_ec_codecs(&self) -> Result<Vec<(String, String)>> {
        let answer: proto::GetErasureCodingCodecsResponseProto =
            self.call("getErasureCodingCodecs", Idempotent, &proto::GetErasureCodingCodecsRequestProto {})?;
        Ok(answer.codec.into_iter().map(|c| (c.codec, c.coders)).collect())
    }

    /// The name of the policy that counts for a path; `None`: replication.
    pub fn get_ec_policy(&self, src: &str) -> Result<Option<String>> {
        let answer: proto::GetErasureCodingPolicyResponseProto = self.call(
            "getErasureCodingPolicy",
            Idempotent,
            &proto::GetErasureCodingPolicyRequestProto { src: src.into() },
        )?;
        Ok(answer.ec_policy.map(|policy| crate::status::ec_policy_name(&policy)))
    }

    /// `None`: the server's default.
    pub fn set_ec_policy(&self, src: &str, policy: Option<&str>) -> Result<()> {
        let request =
            proto::SetErasureCodingPolicyRequestProto { src: src.into(), ec_policy_name: policy.map(Into::into) };
        let _: proto::SetErasureCodingPolicyResponseProto =
            self.call("setErasureCodingPolicy", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn unset_ec_policy(&self, src: &str) -> Result<()> {
        let request = proto::UnsetErasureCodingPolicyRequestProto { src: src.into() };
        let _: proto::UnsetErasureCodingPolicyResponseProto =
            self.call("unsetErasureCodingPolicy", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn change_ec_policy(&self, name: &str, change: EcPolicyChange) -> Result<()> {
        let ec_policy_name = name.to_string();
        match change {
            EcPolicyChange::Enable => {
                let request = proto::EnableErasureCodingPolicyRequestProto { ec_policy_name };
                let _: proto::EnableErasureCodingPolicyResponseProto =
                    self.call("enableErasureCodingPolicy", AtMostOnce, &request)?;
            }
            EcPolicyChange::Disable => {
                let request = proto::DisableErasureCodingPolicyRequestProto { ec_policy_name };
                let _: proto::DisableErasureCodingPolicyResponseProto =
                    self.call("disableErasureCodingPolicy", AtMostOnce, &request)?;
            }
            EcPolicyChange::Remove => {
                let request = proto::RemoveErasureCodingPolicyRequestProto { ec_policy_name };
                let _: proto::RemoveErasureCodingPolicyResponseProto =
                    self.call("removeErasureCodingPolicy", AtMostOnce, &request)?;
            }
        }
        Ok(())
    }

    /// Whether the cluster can hold block groups of these policies (none: of all that are enabled), and why not.
    pub fn verify_ec_topology(&self, policies: &[String]) -> Result<(bool, String)> {
        let request = proto::GetEcTopologyResultForPoliciesRequestProto { policies: policies.to_vec() };
        let answer: proto::GetEcTopologyResultForPoliciesResponseProto =
            self.call("getECTopologyResultForPolicies", Idempotent, &request)?;
        Ok((answer.response.is_supported, answer.response.result_message))
    }

    /// The new directive's id; `force`: past the pool's limit.
    pub fn add_cache_directive(&self, info: CacheDirectiveInfo, force: bool) -> Result<i64> {
        let request = proto::AddCacheDirectiveRequestProto { info, cache_flags: Some(u32::from(force)) };
        let answer: proto::AddCacheDirectiveResponseProto = self.call("addCacheDirective", AtMostOnce, &request)?;
        Ok(answer.id)
    }

    pub fn modify_cache_directive(&self, info: CacheDirectiveInfo, force: bool) -> Result<()> {
        let request = proto::ModifyCacheDirectiveRequestProto { info, cache_flags: Some(u32::from(force)) };
        let _: proto::ModifyCacheDirectiveResponseProto = self.call("modifyCacheDirective", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn remove_cache_directive(&self, id: i64) -> Result<()> {
        let request = proto::RemoveCacheDirectiveRequestProto { id };
        let _: proto::RemoveCacheDirectiveResponseProto = self.call("removeCacheDirective", AtMostOnce, &request)?;
        Ok(())
    }

    /// All that fit the filter, page by page.
    pub fn list_cache_directives(&self, filter: &CacheDirectiveInfo) -> Result<Vec<CacheDirectiveEntry>> {
        let (mut all, mut prev_id): (Vec<CacheDirectiveEntry>, i64) = (Vec::new(), 0);
        loop {
            let request = proto::ListCacheDirectivesRequestProto { prev_id, filter: filter.clone() };
            let page: proto::ListCacheDirectivesResponseProto =
                self.call("listCacheDirectives", Idempotent, &request)?;
            all.extend(page.elements);
            match all.last().and_then(|entry| entry.info.id) {
                Some(id) if page.has_more && id > prev_id => prev_id = id,
                _ => return Ok(all),
            }
        }
    }

    pub fn add_cache_pool(&self, info: CachePoolInfo) -> Result<()> {
        let request = proto::AddCachePoolRequestProto { info };
        let _: proto::AddCachePoolResponseProto = self.call("addCachePool", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn modify_cache_pool(&self, info: CachePoolInfo) -> Result<()> {
        let request = proto::ModifyCachePoolRequestProto { info };
        let _: proto::ModifyCachePoolResponseProto = self.call("modifyCachePool", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn remove_cache_pool(&self, name: &str) -> Result<()> {
        let request = proto::RemoveCachePoolRequestProto { pool_name: name.into() };
        let _: proto::RemoveCachePoolResponseProto = self.call("removeCachePool", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn list_cache_pools(&self) -> Result<Vec<CachePoolEntry>> {
        let (mut all, mut prev_pool_name): (Vec<CachePoolEntry>, String) = (Vec::new(), String::new());
        loop {
            let request = proto::ListCachePoolsRequestProto { prev_pool_name: prev_pool_name.clone() };
            let page: proto::ListCachePoolsResponseProto = self.call("listCachePools", Idempotent, &request)?;
            all.extend(page.entries);
            match all.last().and_then(|entry| entry.info.pool_name.clone()) {
                Some(name) if page.has_more && name > prev_pool_name => prev_pool_name = name,
                _ => return Ok(all),
            }
        }
    }
}
