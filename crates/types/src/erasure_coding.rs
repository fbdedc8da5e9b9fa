//! Erasure coding policies: how the bytes of a block group are cut into cells and which parity goes with them.
//! Source: `ErasureCodingPolicy.java`, `SystemErasureCodingPolicies.java`, Hadoop 3.5.0.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErasureCodingPolicy {
    pub id: u8,
    /// `RS-6-3-1024k`.
    pub name: String,
    /// `rs`, `rs-legacy`, `xor`.
    pub codec: String,
    pub data_units: u32,
    pub parity_units: u32,
    /// Bytes.
    pub cell_size: u32,
    /// Of the schema, in the order of their names.
    pub options: Vec<(String, String)>,
}

/// Numbers are those of `ErasureCodingPolicyState` in `hdfs.proto`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum EcPolicyState {
    Disabled = 1,
    Enabled = 2,
    Removed = 3,
}

impl EcPolicyState {
    pub fn from_number(number: i32) -> Option<Self> {
        [Self::Disabled, Self::Enabled, Self::Removed].into_iter().find(|s| *s as i32 == number)
    }
    pub fn name(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Enabled => "ENABLED",
            Self::Removed => "REMOVED",
        }
    }
}

impl ErasureCodingPolicy {
    /// The id of "no erasure coding here": what the policy [`ErasureCodingPolicy::REPLICATION`] has.
    pub const REPLICATION_ID: u8 = 0;
    /// The name of the policy that ends the inheritance of another.
    pub const REPLICATION: &'static str = "replication";
    /// Ids from here on are users' policies.
    pub const FIRST_USER_ID: u8 = 64;
    pub const LAST_USER_ID: u8 = 127;

    /// `CODEC-k-m-CELLk`. Source: `ErasureCodingPolicy.composePolicyName`, Hadoop 3.5.0.
    pub fn compose_name(codec: &str, data_units: u32, parity_units: u32, cell_size: u32) -> String {
        format!("{}-{data_units}-{parity_units}-{}k", codec.to_ascii_uppercase(), cell_size / 1024)
    }

    pub fn is_system(&self) -> bool {
        self.id < Self::FIRST_USER_ID
    }

    fn built_in(id: u8, codec: &str, data_units: u32, parity_units: u32) -> Self {
        let cell_size = 1 << 20;
        let name = Self::compose_name(codec, data_units, parity_units, cell_size);
        ErasureCodingPolicy {
            id,
            name,
            codec: codec.to_string(),
            data_units,
            parity_units,
            cell_size,
            options: Vec::new(),
        }
    }

    /// Those that every file system has, by id.
    pub fn all_built_in() -> [ErasureCodingPolicy; 5] {
        [
            Self::built_in(1, "rs", 6, 3),
            Self::built_in(2, "rs", 3, 2),
            Self::built_in(3, "rs-legacy", 6, 3),
            Self::built_in(4, "xor", 2, 1),
            Self::built_in(5, "rs", 10, 4),
        ]
    }
}
