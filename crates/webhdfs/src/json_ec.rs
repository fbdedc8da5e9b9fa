//! Erasure coding policies as JSON, in the order of the beans' fields.
//! Source: `ErasureCodingPolicy.java`, `JsonUtil.java`, Hadoop 3.5.0.

use crate::json::{field, raw, string, text_field};
use surus_types::{EcPolicyState, ErasureCodingPolicy};

fn options(out: &mut Vec<u8>, policy: &ErasureCodingPolicy) {
    raw(out, "{");
    for (i, (key, value)) in policy.options.iter().enumerate() {
        if i > 0 {
            raw(out, ",");
        }
        string(out, key.as_bytes());
        raw(out, ":");
        string(out, value.as_bytes());
    }
    raw(out, "}");
}

/// The answer to GETECPOLICY; `null` for a path that is replicated.
pub fn policy(out: &mut Vec<u8>, policy: Option<&ErasureCodingPolicy>) {
    let Some(p) = policy else { return raw(out, "null") };
    text_field(out, "{\"name\":", p.name.as_bytes());
    text_field(out, ",\"schema\":{\"codecName\":", p.codec.as_bytes());
    field(out, ",\"numDataUnits\":", p.data_units);
    field(out, ",\"numParityUnits\":", p.parity_units);
    raw(out, ",\"extraOptions\":");
    options(out, p);
    field(out, "},\"cellSize\":", p.cell_size);
    field(out, ",\"id\":", p.id);
    raw(out, ",\"replicationPolicy\":false");
    field(out, ",\"numDataUnits\":", p.data_units);
    field(out, ",\"numParityUnits\":", p.parity_units);
    text_field(out, ",\"codecName\":", p.codec.as_bytes());
    raw(out, if p.is_system() { ",\"systemPolicy\":true}" } else { ",\"systemPolicy\":false}" });
}

/// The answer to GETECPOLICIES.
pub fn policies<'a>(out: &mut Vec<u8>, all: impl Iterator<Item = (&'a ErasureCodingPolicy, EcPolicyState)>) {
    raw(out, "{\"ErasureCodingPolicies\":{\"ErasureCodingPolicyInfo\":[");
    for (i, (p, state)) in all.enumerate() {
        raw(out, if i > 0 { ",{\"state\":\"" } else { "{\"state\":\"" });
        raw(out, state.name());
        raw(out, "\",\"policy\":");
        policy(out, Some(p));
        raw(out, "}");
    }
    raw(out, "]}}");
}

/// The answer to GETECCODECS: names and coders.
pub fn codecs(out: &mut Vec<u8>, all: &[(&str, &str)]) {
    raw(out, "{\"ErasureCodingCodecs\":{");
    for (i, (name, coders)) in all.iter().enumerate() {
        if i > 0 {
            raw(out, ",");
        }
        string(out, name.as_bytes());
        raw(out, ":");
        string(out, coders.as_bytes());
    }
    raw(out, "}}");
}

/// What a file status says of its policy.
pub(crate) fn of_status(out: &mut Vec<u8>, p: &ErasureCodingPolicy) {
    text_field(out, ",\"ecPolicy\":", p.name.as_bytes());
    field(out, ",\"ecPolicyObj\":{\"cellSize\":", p.cell_size);
    text_field(out, ",\"codecName\":", p.codec.as_bytes());
    raw(out, ",\"extraOptions\":");
    options(out, p);
    field(out, ",\"id\":", p.id);
    text_field(out, ",\"name\":", p.name.as_bytes());
    field(out, ",\"numDataUnits\":", p.data_units);
    field(out, ",\"numParityUnits\":", p.parity_units);
    raw(out, "}");
}
