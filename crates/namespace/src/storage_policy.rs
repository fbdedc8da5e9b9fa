//! Hadoop's default suite of block storage policies: which storage types the replicas of a file take.
//! Source: `BlockStoragePolicySuite.java`, `BlockStoragePolicy.java`, Hadoop 3.5.0 (order included).

use alloc::format;
use alloc::string::String;
use surus_types::StorageType::{self, Archive, Disk, Nvdimm, Provided, RamDisk, Ssd};
use surus_types::{ExceptionClass, HdfsError, TypeSpaces};

/// One policy: which storage types replicas take, and which when those cannot be had.
#[derive(Clone, Copy, Debug)]
pub struct StoragePolicy {
    pub id: u8,
    pub name: &'static str,
    pub storage_types: &'static [StorageType],
    pub creation_fallbacks: &'static [StorageType],
    pub replication_fallbacks: &'static [StorageType],
    /// Set when a file is created and never changed afterwards.
    pub copy_on_create: bool,
}

const fn policy(
    id: u8,
    name: &'static str,
    storage_types: &'static [StorageType],
    creation_fallbacks: &'static [StorageType],
    replication_fallbacks: &'static [StorageType],
) -> StoragePolicy {
    let copy_on_create = id == LAZY_PERSIST_ID;
    StoragePolicy { id, name, storage_types, creation_fallbacks, replication_fallbacks, copy_on_create }
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
    policy(LAZY_PERSIST_ID, "LAZY_PERSIST", &[RamDisk, Disk], &[Disk], &[Disk]),
];

/// The extended attribute that holds a directory's policy: one byte, the id.
pub const STORAGE_POLICY_XATTR: &str = "hsm.block.storage.policy.id";
/// Its namespace, `XAttrProto.XAttrNamespaceProto.SYSTEM`.
pub const XATTR_SYSTEM: u8 = 3;

/// No policy: that of the parent counts, and in the end HOT.
pub const UNSPECIFIED: u8 = 0;
/// The policy of an inode that names none, nor any above it: HOT.
pub const DEFAULT_ID: u8 = 7;
pub const LAZY_PERSIST_ID: u8 = 15;

/// The policy of an id; HOT for 0 (unspecified) and for unknown ids.
pub fn by_id(id: u8) -> &'static StoragePolicy {
    SUITE.iter().find(|p| p.id == id).unwrap_or(&SUITE[3])
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
    /// The types of `replication` replicas, without those that lose data. The last type takes all that are left.
    pub fn choose(&self, replication: u16) -> impl Iterator<Item = StorageType> + use<> {
        let types = self.storage_types;
        let last = types.last().copied().filter(|t| !t.is_transient());
        let lasting = types.iter().copied().filter(|t| !t.is_transient());
        lasting.chain(core::iter::repeat(last).map_while(|t| t)).take(usize::from(replication))
    }

    /// What `bytes` of each of `replication` replicas take on each type.
    pub fn spaces(&self, bytes: u64, replication: u16) -> TypeSpaces {
        let mut spaces = TypeSpaces::default();
        self.choose(replication).for_each(|t| spaces.add(t, bytes as i64));
        spaces
    }

    /// As [`StoragePolicy::spaces`] of many files together, each with a replica or more: `once` is the bytes of one replica of
    /// each, `all` those of all. No policy names more than two types that last: the second takes all replicas but the first.
    pub fn spaces_together(&self, once: u64, all: u64) -> TypeSpaces {
        let mut spaces = TypeSpaces::default();
        let mut types = self.storage_types.iter().filter(|t| !t.is_transient()).peekable();
        let mut left = all;
        while let Some(&storage_type) = types.next() {
            let bytes = if types.peek().is_some() { once } else { left };
            spaces.add(storage_type, bytes as i64);
            left = left.wrapping_sub(bytes);
        }
        spaces
    }
}

/// What a file's bytes take on each type under a policy: nothing that is counted where no policy was ever set.
/// Source: `INodeFile.storagespaceConsumedContiguous`, Hadoop 3.5.0.
pub fn spaces(policy_id: u8, bytes: u64, replication: u16) -> TypeSpaces {
    if policy_id == UNSPECIFIED { TypeSpaces::default() } else { by_id(policy_id).spaces(bytes, replication) }
}

/// As [`spaces`] of many files together: see [`StoragePolicy::spaces_together`].
pub fn spaces_together(policy_id: u8, once: u64, all: u64) -> TypeSpaces {
    if policy_id == UNSPECIFIED { TypeSpaces::default() } else { by_id(policy_id).spaces_together(once, all) }
}

/// As Java prints a policy: `LAZY_PERSIST:15, storageTypes=[RAM_DISK, DISK], creationFallbacks=[DISK], ...`.
pub fn describe(policy: &StoragePolicy) -> String {
    let list = |types: &[StorageType]| {
        let names: alloc::vec::Vec<&str> = types.iter().map(|t| t.name()).collect();
        names.join(", ")
    };
    format!(
        "BlockStoragePolicy{{{}:{}, storageTypes=[{}], creationFallbacks=[{}], replicationFallbacks=[{}]}}",
        policy.name,
        policy.id,
        list(policy.storage_types),
        list(policy.creation_fallbacks),
        list(policy.replication_fallbacks)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn ids() {
        assert_eq!((by_id(0).name, by_id(12).name, by_id(DEFAULT_ID).name), ("HOT", "ALL_SSD", "HOT"));
        assert!(SUITE.windows(2).all(|w| w[0].id < w[1].id));
    }

    #[test]
    fn files_take_together_what_they_take_alone() {
        for policy in SUITE {
            let (mut alone, mut once, mut all) = (TypeSpaces::default(), 0, 0);
            for (replication, bytes) in [(3, 100), (1, 7), (0, 1000), (2, 40), (5, 1)] {
                alone = alone.plus(&policy.spaces(bytes, replication));
                once += if replication == 0 { 0 } else { bytes };
                all += bytes * u64::from(replication);
            }
            assert_eq!(policy.spaces_together(once, all), alone, "{}", policy.name);
        }
    }

    #[test]
    fn types_of_replicas() {
        let choose = |id, n| by_id(id).choose(n).collect::<Vec<_>>();
        assert_eq!(choose(10, 3), [Ssd, Disk, Disk]);
        assert_eq!(choose(15, 2), [Disk, Disk]);
        assert_eq!(choose(5, 1), [Disk]);
        assert_eq!(choose(2, 0), []);
    }
}
