//! Calls about features this file system does not use (yet): they answer as stock Hadoop does on a name space without
//! them, since clients ask on plain paths.

use crate::call::Call;
use crate::core::Core;
use crate::rpc::datanode::put;
use surus_proto::hadoop::hdfs::{
    GetDataEncryptionKeyResponseProto, GetEnclosingRootRequestProto, GetEnclosingRootResponseProto, MsyncResponseProto,
};
use surus_types::{ExceptionClass, HdfsError};

pub(super) fn get_data_encryption_key(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    put(out, &GetDataEncryptionKeyResponseProto { data_encryption_key: None });
    Ok(())
}

pub(super) fn get_enclosing_root(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetEnclosingRootRequestProto = call.decode()?;
    let root = core.namespace.read().get_enclosing_root(&core.env(call), request.filename())?;
    put(out, &GetEnclosingRootResponseProto { enclosing_root_path: Some(root) });
    Ok(())
}

pub(super) fn msync(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    put(out, &MsyncResponseProto {});
    Ok(())
}

/// Also HAServiceProtocol's: this NameNode is not one of several.
pub(crate) fn no_ha() -> HdfsError {
    HdfsError::new(ExceptionClass::ServiceFailed, "HA for namenode is not enabled")
}

pub(super) fn get_ha_service_state(_: &Core, _: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    Err(no_ha())
}
