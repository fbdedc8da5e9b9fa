//! Calls about features this file system does not use (yet): they answer as stock Hadoop does on a name space without
//! them, since clients ask on plain paths.

use crate::call::Call;
use crate::core::Core;
use crate::rpc::datanode::put;
use surus_namespace::DirOp;
use surus_proto::hadoop::hdfs::{
    CodecProto, EcSchemaProto, ErasureCodingPolicyProto, GetDataEncryptionKeyResponseProto,
    GetEnclosingRootRequestProto, GetEnclosingRootResponseProto, GetErasureCodingCodecsResponseProto,
    GetErasureCodingPoliciesResponseProto, GetErasureCodingPolicyRequestProto, GetErasureCodingPolicyResponseProto,
    GetEzForPathRequestProto, GetEzForPathResponseProto, GetSnapshottableDirListingResponseProto,
    ListEncryptionZonesRequestProto, ListEncryptionZonesResponseProto, MsyncResponseProto,
};
use surus_types::{ExceptionClass, FsAction, HdfsError};

pub(super) fn get_ez_for_path(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetEzForPathRequestProto = call.decode()?;
    let (env, namespace) = (core.env(call), core.namespace.read());
    let path = namespace.resolve(&env, &request.src, DirOp::Read)?;
    namespace.check_path_access(&env, &path, FsAction::READ)?;
    put(out, &GetEzForPathResponseProto { zone: None });
    Ok(())
}

pub(super) fn list_encryption_zones(_: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let _: ListEncryptionZonesRequestProto = call.decode()?;
    call.check_superuser("listEncryptionZones")?;
    put(out, &ListEncryptionZonesResponseProto { zones: Vec::new(), has_more: false });
    Ok(())
}

pub(super) fn get_erasure_coding_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetErasureCodingPolicyRequestProto = call.decode()?;
    let (env, namespace) = (core.env(call), core.namespace.read());
    let path = namespace.resolve(&env, &request.src, DirOp::Read)?;
    namespace.check_path_access(&env, &path, FsAction::READ)?;
    namespace.existing(&path, "Path not found: ")?;
    put(out, &GetErasureCodingPolicyResponseProto { ec_policy: None });
    Ok(())
}

/// The built-in policies; a fresh Hadoop enables the first.
pub(super) fn get_erasure_coding_policies(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    const DISABLED: i32 = 1;
    const ENABLED: i32 = 2;
    let policy = |id: u32, name: &str, codec: &str, data_units, parity_units| ErasureCodingPolicyProto {
        name: Some(name.to_owned()),
        schema: Some(EcSchemaProto { codec_name: codec.to_owned(), data_units, parity_units, options: Vec::new() }),
        cell_size: Some(1 << 20),
        id,
        state: Some(if id == 1 { ENABLED } else { DISABLED }),
    };
    let ec_policies = vec![
        policy(1, "RS-6-3-1024k", "rs", 6, 3),
        policy(2, "RS-3-2-1024k", "rs", 3, 2),
        policy(3, "RS-LEGACY-6-3-1024k", "rs-legacy", 6, 3),
        policy(4, "XOR-2-1-1024k", "xor", 2, 1),
        policy(5, "RS-10-4-1024k", "rs", 10, 4),
    ];
    put(out, &GetErasureCodingPoliciesResponseProto { ec_policies });
    Ok(())
}

pub(super) fn get_erasure_coding_codecs(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let codec = |codec: &str, coders: &str| CodecProto { codec: codec.to_owned(), coders: coders.to_owned() };
    let codec = vec![
        codec("rs", "rs_native, rs_java"),
        codec("rs-legacy", "rs-legacy_java"),
        codec("xor", "xor_native, xor_java"),
    ];
    put(out, &GetErasureCodingCodecsResponseProto { codec });
    Ok(())
}

/// `null` where no directory at all is snapshottable.
pub(super) fn get_snapshottable_dir_listing(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    put(out, &GetSnapshottableDirListingResponseProto { snapshottable_dir_list: None });
    Ok(())
}

pub(super) fn get_data_encryption_key(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    put(out, &GetDataEncryptionKeyResponseProto { data_encryption_key: None });
    Ok(())
}

pub(super) fn get_enclosing_root(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetEnclosingRootRequestProto = call.decode()?;
    let root = core.namespace.read().get_enclosing_root(&core.env(call), request.filename())?;
    put(out, &GetEnclosingRootResponseProto { enclosing_root_path: Some(root.to_owned()) });
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
