//! Storage policies: what there is, what counts for a path, and changing it.

use super::policies;
use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::datanode::put;
use surus_namespace::ops::set_storage_policy::SetStoragePolicy;
use surus_namespace::storage_policy::SUITE;
use surus_proto::hadoop::hdfs::{
    GetStoragePoliciesResponseProto, GetStoragePolicyRequestProto, GetStoragePolicyResponseProto,
    SatisfyStoragePolicyRequestProto, SetStoragePolicyRequestProto, SetStoragePolicyResponseProto,
    UnsetStoragePolicyRequestProto, UnsetStoragePolicyResponseProto,
};
use surus_types::{ExceptionClass, HdfsError};

pub(super) fn get_storage_policies(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    core.namespace.read().check_storage_policies("get storage policies")?;
    put(out, &GetStoragePoliciesResponseProto { policies: SUITE.iter().map(policies::to_proto).collect() });
    Ok(())
}

pub(super) fn get_storage_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetStoragePolicyRequestProto = call.decode()?;
    let policy = core.namespace.read().get_storage_policy(&core.env(call), &request.path)?;
    put(out, &GetStoragePolicyResponseProto { storage_policy: policies::to_proto(policy) });
    Ok(())
}

pub(super) fn set_storage_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: SetStoragePolicyRequestProto = call.decode()?;
    let operation = SetStoragePolicy { src: &request.src, policy: Some(&request.policy_name) };
    core.write_if(call, None, &operation, |_, ()| put(out, &SetStoragePolicyResponseProto {}))
}

pub(super) fn unset_storage_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: UnsetStoragePolicyRequestProto = call.decode()?;
    let operation = SetStoragePolicy { src: &request.src, policy: None };
    core.write_if(call, None, &operation, |_, ()| put(out, &UnsetStoragePolicyResponseProto {}))
}

pub(super) fn satisfy_storage_policy(core: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    let _: SatisfyStoragePolicyRequestProto = call.decode()?;
    Err(satisfier_is_off(core))
}

/// Moving blocks to where their policy wants them is another service's work, which a stock NameNode does not wait for.
/// Source: `FSNamesystem.satisfyStoragePolicy`, `dfs.storage.policy.satisfier.mode` none, Hadoop 3.5.0.
pub(crate) fn satisfier_is_off(core: &Core) -> HdfsError {
    if let Err(error) = core.namespace.read().check_storage_policies("satisfy storage policy") {
        return error;
    }
    let text = "Cannot request to satisfy storage policy when storage policy satisfier feature has been disabled by admin. \
                Seek for an admin help to enable it or use Mover tool.";
    HdfsError::new(ExceptionClass::UnsupportedAction, text)
}
