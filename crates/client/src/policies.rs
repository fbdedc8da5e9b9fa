//! Calls for quotas and storage policies.

use crate::client::DfsClient;
use crate::error::Result;
use crate::namenode::Repeat::Idempotent;
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
