//! ProtocolMetaInfo: which protocols in which versions this door serves.
//! Source: `ProtocolMetaInfoServerSideTranslatorPB.java`, Hadoop 3.5.0.

use super::datanode::put;
use crate::call::Run::Read;
use crate::call::{Call, Method};
use crate::core::Core;
use surus_proto::hadoop::common::{
    GetProtocolSignatureRequestProto, GetProtocolSignatureResponseProto, GetProtocolVersionsRequestProto,
    GetProtocolVersionsResponseProto, ProtocolVersionProto,
};
use surus_types::HdfsError;

pub const NAME: &str = "org.apache.hadoop.ipc.ProtocolMetaInfoPB";

/// Sorted by name.
pub static METHODS: &[Method] = &[
    Method { name: "getProtocolSignature", run: Read(get_protocol_signature) },
    Method { name: "getProtocolVersions", run: Read(get_protocol_versions) },
];

fn get_protocol_versions(_: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetProtocolVersionsRequestProto = call.decode()?;
    let versions = if super::methods(&request.protocol).is_some() { vec![super::PROTOCOL_VERSION] } else { Vec::new() };
    let protobuf = ProtocolVersionProto { rpc_kind: "RPC_PROTOCOL_BUFFER".to_owned(), versions };
    put(out, &GetProtocolVersionsResponseProto { protocol_versions: vec![protobuf] });
    Ok(())
}

/// Method hashes are those of Java's reflection; a client that finds none tries the call and reads the answer.
fn get_protocol_signature(_: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let _: GetProtocolSignatureRequestProto = call.decode()?;
    put(out, &GetProtocolSignatureResponseProto { protocol_signature: Vec::new() });
    Ok(())
}
