//! The section of erasure coding policies. A built-in policy is its id and state; a user's has everything.
//! Source: `PBHelperClient.convertErasureCodingPolicy`, Hadoop 3.5.0.

use prost::Message;
use surus_namespace::erasure_coding::EcPolicies;
use surus_namespace::image::ImageLoader;
use surus_proto::hadoop::hdfs::fsimage::ErasureCodingSection;
use surus_proto::hadoop::hdfs::{EcSchemaOptionEntryProto, EcSchemaProto, ErasureCodingPolicyProto};
use surus_types::{EcPolicyState, ErasureCodingPolicy};

/// The section's bytes.
pub(crate) fn encode(policies: &EcPolicies) -> Vec<u8> {
    let policies = policies
        .by_id()
        .iter()
        .map(|info| ErasureCodingPolicyProto { state: Some(info.persisted as i32), ..to_proto(&info.policy) });
    ErasureCodingSection { policies: policies.collect() }.encode_length_delimited_to_vec()
}

fn to_proto(policy: &ErasureCodingPolicy) -> ErasureCodingPolicyProto {
    let bare = ErasureCodingPolicyProto { id: u32::from(policy.id), ..ErasureCodingPolicyProto::default() };
    if policy.is_system() {
        return bare;
    }
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
        ..bare
    }
}

/// Hands the policies of a section to the loader.
pub(crate) fn load(section: ErasureCodingSection, loader: &mut ImageLoader) -> Result<(), String> {
    for policy in section.policies {
        let number = policy.state();
        let (policy, state) = (from_proto(policy)?, EcPolicyState::from_number(number as i32));
        loader.push_ec_policy(policy, state.ok_or("a policy's state is unknown")?);
    }
    Ok(())
}

fn from_proto(policy: ErasureCodingPolicyProto) -> Result<ErasureCodingPolicy, String> {
    let id = u8::try_from(policy.id).map_err(|_| format!("policy id {} is out of range", policy.id))?;
    if let Some(known) = ErasureCodingPolicy::all_built_in().into_iter().find(|p| p.id == id) {
        return Ok(known);
    }
    let schema = policy.schema.ok_or_else(|| format!("policy {id} has no schema"))?;
    Ok(ErasureCodingPolicy {
        id,
        name: policy.name.unwrap_or_default(),
        codec: schema.codec_name,
        data_units: schema.data_units,
        parity_units: schema.parity_units,
        cell_size: policy.cell_size.unwrap_or(0),
        options: schema.options.into_iter().map(|o| (o.key, o.value)).collect(),
    })
}
