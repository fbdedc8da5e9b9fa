//! Protocols that make the NameNode read something anew: GenericRefreshProtocol, RefreshAuthorizationPolicyProtocol,
//! RefreshCallQueueProtocol. Source: `RefreshRegistry.java`, `NameNodeRpcServer.java`, Hadoop 3.5.0.

use super::datanode::put;
use crate::call::Run::{Read, Slow};
use crate::call::{Call, Method};
use crate::core::Core;
use surus_proto::hadoop::common::{
    GenericRefreshRequestProto, RefreshCallQueueResponseProto, RefreshServiceAclResponseProto,
};
use surus_types::{ExceptionClass, HdfsError};

pub const GENERIC_NAME: &str = "org.apache.hadoop.ipc.GenericRefreshProtocol";
pub const POLICY_NAME: &str = "org.apache.hadoop.security.authorize.RefreshAuthorizationPolicyProtocol";
pub const CALL_QUEUE_NAME: &str = "org.apache.hadoop.ipc.RefreshCallQueueProtocol";

pub static GENERIC_METHODS: &[Method] = &[Method { name: "refresh", run: Read(refresh) }];
pub static POLICY_METHODS: &[Method] = &[Method { name: "refreshServiceAcl", run: Slow(refresh_service_acl) }];
pub static CALL_QUEUE_METHODS: &[Method] = &[Method { name: "refreshCallQueue", run: Read(refresh_call_queue) }];

/// Nothing registers a handler here, as in a NameNode of Hadoop without plug-ins.
fn refresh(_: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GenericRefreshRequestProto = call.decode()?;
    let identifier = request.identifier();
    let text = format!("Identifier '{identifier}' does not exist in RefreshRegistry. Valid options are: ");
    Err(HdfsError::new(ExceptionClass::IllegalArgument, text))
}

/// Reads hadoop-policy.xml anew.
fn refresh_service_acl(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    core.reload_service_acls()?;
    put(out, &RefreshServiceAclResponseProto {});
    Ok(())
}

/// There is no call queue: calls run as they are read.
fn refresh_call_queue(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    put(out, &RefreshCallQueueResponseProto {});
    Ok(())
}
