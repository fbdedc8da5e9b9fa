//! Erasure coding policies.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::datanode::put;
use prost::Message;
use surus_namespace::edit_op::ErasureCodingPolicyOp;
use surus_namespace::erasure_coding::EcPolicyInfo;
use surus_namespace::ops::erasure_coding::{
    AddErasureCodingPolicies, ChangeErasureCodingPolicy, PolicyChange, SetErasureCodingPolicy, UnsetErasureCodingPolicy,
};
use surus_namespace::{DirOp, Namespace};
use surus_proto::hadoop::hdfs::{
    AddErasureCodingPoliciesRequestProto, AddErasureCodingPoliciesResponseProto, AddErasureCodingPolicyResponseProto,
    CodecProto, DisableErasureCodingPolicyRequestProto, DisableErasureCodingPolicyResponseProto,
    EcSchemaOptionEntryProto, EcSchemaProto, EcTopologyVerifierResultProto, EnableErasureCodingPolicyRequestProto,
    EnableErasureCodingPolicyResponseProto, ErasureCodingPolicyProto, GetEcTopologyResultForPoliciesRequestProto,
    GetEcTopologyResultForPoliciesResponseProto, GetErasureCodingCodecsResponseProto,
    GetErasureCodingPoliciesResponseProto, GetErasureCodingPolicyRequestProto, GetErasureCodingPolicyResponseProto,
    RemoveErasureCodingPolicyRequestProto, RemoveErasureCodingPolicyResponseProto, SetErasureCodingPolicyRequestProto,
    SetErasureCodingPolicyResponseProto, UnsetErasureCodingPolicyRequestProto, UnsetErasureCodingPolicyResponseProto,
};
use surus_types::{ErasureCodingPolicy, FsAction, HdfsError};
use surus_wire::to_proto;

/// Codecs and their coders, as 3.5.0 writes them.
pub(crate) const CODECS: [(&str, &str); 3] =
    [("rs", "rs_native, rs_java"), ("rs-legacy", "rs-legacy_java"), ("xor", "xor_native, xor_java")];

fn info_to_proto(info: &EcPolicyInfo) -> ErasureCodingPolicyProto {
    ErasureCodingPolicyProto { state: Some(info.state as i32), ..to_proto::ec_policy(&info.policy) }
}

pub(super) fn get_erasure_coding_policies(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let namespace = core.namespace.read();
    let ec_policies = namespace.tree.ec_policies().by_name().into_iter().map(info_to_proto).collect();
    put(out, &GetErasureCodingPoliciesResponseProto { ec_policies });
    Ok(())
}

pub(super) fn get_erasure_coding_codecs(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let codec = |(codec, coders): (&str, &str)| CodecProto { codec: codec.to_owned(), coders: coders.to_owned() };
    put(out, &GetErasureCodingCodecsResponseProto { codec: CODECS.into_iter().map(codec).collect() });
    Ok(())
}

pub(super) fn get_erasure_coding_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetErasureCodingPolicyRequestProto = call.decode()?;
    let namespace = core.namespace.read();
    let policy = policy_of(&namespace, &core.env(call), &request.src)?;
    put(out, &GetErasureCodingPolicyResponseProto { ec_policy: policy.map(to_proto::ec_policy) });
    Ok(())
}

pub(crate) fn policy_of<'n>(
    namespace: &'n surus_namespace::Namespace,
    env: &surus_namespace::Env<'_>,
    src: &str,
) -> Result<Option<&'n ErasureCodingPolicy>, HdfsError> {
    let path = namespace.resolve(env, src, DirOp::Read)?;
    namespace.check_path_access(env, &path, FsAction::READ)?;
    if path.dot_snapshot.is_some() || src == "/.reserved" {
        return Ok(None);
    }
    let handle = namespace.existing(&path, "Path not found: ")?;
    Ok(namespace.tree.inode(handle).ec_policy())
}

pub(super) fn set_erasure_coding_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: SetErasureCodingPolicyRequestProto = call.decode()?;
    let operation = SetErasureCodingPolicy { src: &request.src, policy: request.ec_policy_name.as_deref() };
    core.write_if(call, None, &operation, |_, ()| put(out, &SetErasureCodingPolicyResponseProto {}))
}

pub(super) fn unset_erasure_coding_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: UnsetErasureCodingPolicyRequestProto = call.decode()?;
    let operation = UnsetErasureCodingPolicy { src: &request.src };
    core.write_if(call, None, &operation, |_, ()| put(out, &UnsetErasureCodingPolicyResponseProto {}))
}

pub(super) fn add_erasure_coding_policies(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: AddErasureCodingPoliciesRequestProto = call.decode()?;
    let op = |policy: &ErasureCodingPolicyProto| {
        let schema = policy.schema.clone().unwrap_or_default();
        ErasureCodingPolicyOp {
            codec: schema.codec_name.into(),
            data_units: schema.data_units,
            parity_units: schema.parity_units,
            cell_size: policy.cell_size(),
            extra_options: schema.options.into_iter().map(|o| (o.key, o.value)).collect(),
        }
    };
    let operation = AddErasureCodingPolicies { policies: request.ec_policies.iter().map(op).collect() };
    core.write_if(call, None, &operation, |_, added| {
        let response = |(asked, result): (&ErasureCodingPolicyProto, &Result<ErasureCodingPolicy, String>)| match result
        {
            Ok(policy) => AddErasureCodingPolicyResponseProto { policy: full(policy), succeed: true, error_msg: None },
            Err(text) => AddErasureCodingPolicyResponseProto {
                policy: asked.clone(),
                succeed: false,
                error_msg: Some(text.clone()),
            },
        };
        let responses = request.ec_policies.iter().zip(added).map(response).collect();
        put(out, &AddErasureCodingPoliciesResponseProto { responses });
    })
}

/// What a replayed operation answered.
pub(crate) fn added_policy(namespace: &Namespace, op: &ErasureCodingPolicyOp) -> Option<Vec<u8>> {
    let is_it = |info: &&EcPolicyInfo| {
        let policy = &info.policy;
        (policy.codec.as_str(), policy.data_units, policy.parity_units, policy.cell_size)
            == (&*op.codec, op.data_units, op.parity_units, op.cell_size)
    };
    let added = namespace.tree.ec_policies().by_name().into_iter().find(is_it)?;
    let response = AddErasureCodingPolicyResponseProto { policy: full(&added.policy), succeed: true, error_msg: None };
    Some(AddErasureCodingPoliciesResponseProto { responses: vec![response] }.encode_to_vec())
}

/// With everything, built-in or not. Source: `PBHelperClient.convertAddErasureCodingPolicyResponse`, Hadoop 3.5.0.
fn full(policy: &ErasureCodingPolicy) -> ErasureCodingPolicyProto {
    let option = |(key, value): &(String, String)| EcSchemaOptionEntryProto { key: key.clone(), value: value.clone() };
    let schema = EcSchemaProto {
        codec_name: policy.codec.clone(),
        data_units: policy.data_units,
        parity_units: policy.parity_units,
        options: policy.options.iter().map(option).collect(),
    };
    ErasureCodingPolicyProto {
        name: Some(policy.name.clone()),
        schema: Some(schema),
        cell_size: Some(policy.cell_size),
        id: u32::from(policy.id),
        state: None,
    }
}

pub(super) fn remove_erasure_coding_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RemoveErasureCodingPolicyRequestProto = call.decode()?;
    let operation = ChangeErasureCodingPolicy { name: &request.ec_policy_name, change: PolicyChange::Remove };
    core.write_if(call, None, &operation, |_, ()| put(out, &RemoveErasureCodingPolicyResponseProto {}))
}

pub(super) fn enable_erasure_coding_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: EnableErasureCodingPolicyRequestProto = call.decode()?;
    let operation = ChangeErasureCodingPolicy { name: &request.ec_policy_name, change: PolicyChange::Enable };
    core.write_if(call, None, &operation, |_, ()| put(out, &EnableErasureCodingPolicyResponseProto {}))
}

pub(super) fn disable_erasure_coding_policy(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: DisableErasureCodingPolicyRequestProto = call.decode()?;
    let operation = ChangeErasureCodingPolicy { name: &request.ec_policy_name, change: PolicyChange::Disable };
    core.write_if(call, None, &operation, |_, ()| put(out, &DisableErasureCodingPolicyResponseProto {}))
}

/// Without names: all that are enabled.
pub(super) fn get_ec_topology_result(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetEcTopologyResultForPoliciesRequestProto = call.decode()?;
    let namespace = core.namespace.read();
    let policies = match request.policies.is_empty() {
        true => namespace.tree.ec_policies().enabled(),
        false => request.policies.iter().map(|name| namespace.ec_policy_by_name(name)).collect::<Result<_, _>>()?,
    };
    let (is_supported, result_message) = namespace.ec_topology(&policies);
    let response = EcTopologyVerifierResultProto { result_message, is_supported };
    put(out, &GetEcTopologyResultForPoliciesResponseProto { response });
    Ok(())
}
