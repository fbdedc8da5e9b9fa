//! setQuota. What is used of a quota is told by `namespace::get_quota_usage`.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::datanode::put;
use surus_namespace::ops::set_quota::SetQuota;
use surus_proto::hadoop::hdfs::{SetQuotaRequestProto, SetQuotaResponseProto};
use surus_types::StorageType;

pub(super) fn set_quota(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: SetQuotaRequestProto = call.decode()?;
    let operation = SetQuota {
        src: &request.path,
        namespace_quota: request.namespace_quota as i64,
        space_quota: request.storagespace_quota as i64,
        storage_type: request.storage_type.and_then(StorageType::from_proto),
    };
    // The plan looks at safe mode itself, after the caller's rights.
    core.write_if(call, None, &operation, |_, ()| put(out, &SetQuotaResponseProto {}))
}
