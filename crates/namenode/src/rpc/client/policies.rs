//! Storage policies as protobuf.

use surus_namespace::storage_policy::StoragePolicy;
use surus_proto::hadoop::hdfs::{BlockStoragePolicyProto, StorageTypesProto};
use surus_types::StorageType;

pub fn to_proto(policy: &StoragePolicy) -> BlockStoragePolicyProto {
    let types = |list: &[StorageType]| StorageTypesProto { storage_types: list.iter().map(|t| *t as i32).collect() };
    let fallbacks = |list: &[StorageType]| (!list.is_empty()).then(|| types(list));
    BlockStoragePolicyProto {
        policy_id: u32::from(policy.id),
        name: policy.name.to_owned(),
        creation_policy: types(policy.storage_types),
        creation_fallback_policy: fallbacks(policy.creation_fallbacks),
        replication_fallback_policy: fallbacks(policy.replication_fallbacks),
    }
}
