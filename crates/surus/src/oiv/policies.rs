//! The erasure coding policies that every HDFS has: an image names them by number only.
//! Source: `SystemErasureCodingPolicies.java`, Hadoop 3.5.0.

/// A built-in policy. Its cells are 1 MiB.
pub struct Policy {
    pub id: u32,
    pub name: &'static str,
    pub codec: &'static str,
    pub data_units: u32,
    pub parity_units: u32,
}

pub const CELL_BYTES: u32 = 1 << 20;

const fn policy(id: u32, name: &'static str, codec: &'static str, data_units: u32, parity_units: u32) -> Policy {
    Policy { id, name, codec, data_units, parity_units }
}

const BUILT_IN: [Policy; 5] = [
    policy(1, "RS-6-3-1024k", "rs", 6, 3),
    policy(2, "RS-3-2-1024k", "rs", 3, 2),
    policy(3, "RS-LEGACY-6-3-1024k", "rs-legacy", 6, 3),
    policy(4, "XOR-2-1-1024k", "xor", 2, 1),
    policy(5, "RS-10-4-1024k", "rs", 10, 4),
];

pub fn built_in(id: u32) -> Option<&'static Policy> {
    BUILT_IN.iter().find(|policy| policy.id == id)
}
