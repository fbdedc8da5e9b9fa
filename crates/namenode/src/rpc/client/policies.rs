//! Hadoop's default suite of block storage policies, as `getStoragePolicies` and WebHDFS list it.
//! Source: `BlockStoragePolicySuite.java`, Hadoop 3.5.0 (order included).

use surus_proto::hadoop::hdfs::{BlockStoragePolicyProto, StorageTypesProto};
use surus_types::StorageType::{self, Archive, Disk, Nvdimm, Provided, RamDisk, Ssd};
use surus_types::{ExceptionClass, HdfsError};

/// One policy: which storage types replicas take, and which when those cannot be had.
#[derive(Clone, Copy, Debug)]
pub struct StoragePolicy {
    pub id: u8,
    pub name: &'static str,
    pub storage_types: &'static [StorageType],
    pub creation_fallbacks: &'static [StorageType],
    pub replication_fallbacks: &'static [StorageType],
}

const fn policy(
    id: u8,
    name: &'static str,
    storage_types: &'static [StorageType],
    creation_fallbacks: &'static [StorageType],
    replication_fallbacks: &'static [StorageType],
) -> StoragePolicy {
    StoragePolicy { id, name, storage_types, creation_fallbacks, replication_fallbacks }
}

/// In the order of ids, as Hadoop lists them.
pub const SUITE: [StoragePolicy; 8] = [
    policy(1, "PROVIDED", &[Provided, Disk], &[Provided, Disk], &[Provided, Disk]),
    policy(2, "COLD", &[Archive], &[], &[]),
    policy(5, "WARM", &[Disk, Archive], &[Disk, Archive], &[Disk, Archive]),
    policy(7, "HOT", &[Disk], &[], &[Archive]),
    policy(10, "ONE_SSD", &[Ssd, Disk], &[Ssd, Disk], &[Ssd, Disk]),
    policy(12, "ALL_SSD", &[Ssd], &[Disk], &[Disk]),
    policy(14, "ALL_NVDIMM", &[Nvdimm], &[Disk], &[Disk]),
    policy(15, "LAZY_PERSIST", &[RamDisk, Disk], &[Disk], &[Disk]),
];

/// The policy of an inode that names none: HOT.
pub const DEFAULT_ID: u8 = 7;

/// The policy of an id; HOT for 0 (unspecified) and for unknown ids.
pub fn by_id(id: u8) -> &'static StoragePolicy {
    let default = &SUITE[3];
    SUITE.iter().find(|p| p.id == id).unwrap_or(default)
}

/// The policy of a name in any case.
///
/// # Errors
/// HadoopIllegalArgumentException.
pub fn by_name(name: &str) -> Result<&'static StoragePolicy, HdfsError> {
    SUITE.iter().find(|p| p.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let text = format!("Cannot find a block policy with the name {name}");
        HdfsError::new(ExceptionClass::HadoopIllegalArgument, text)
    })
}

impl StoragePolicy {
    pub fn to_proto(self) -> BlockStoragePolicyProto {
        let types =
            |list: &[StorageType]| StorageTypesProto { storage_types: list.iter().map(|t| *t as i32).collect() };
        BlockStoragePolicyProto {
            policy_id: u32::from(self.id),
            name: self.name.to_owned(),
            creation_policy: types(self.storage_types),
            creation_fallback_policy: (!self.creation_fallbacks.is_empty()).then(|| types(self.creation_fallbacks)),
            replication_fallback_policy: (!self.replication_fallbacks.is_empty())
                .then(|| types(self.replication_fallbacks)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        assert_eq!((by_id(0).name, by_id(12).name, by_id(DEFAULT_ID).name), ("HOT", "ALL_SSD", "HOT"));
        assert!(SUITE.windows(2).all(|w| w[0].id < w[1].id));
    }
}
