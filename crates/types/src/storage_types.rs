//! All storage types, and numbers by type: quotas and use.

use crate::block::StorageType;

/// Every type, in the order of Hadoop's enum. Source: `StorageType.java`, Hadoop 3.5.0.
pub const STORAGE_TYPES: [StorageType; 6] = [
    StorageType::RamDisk,
    StorageType::Ssd,
    StorageType::Disk,
    StorageType::Archive,
    StorageType::Provided,
    StorageType::Nvdimm,
];

impl StorageType {
    /// Whether data on it may vanish with the power: no quota counts there, and no policy's choice for good lies there.
    pub fn is_transient(self) -> bool {
        self == Self::RamDisk
    }

    /// From Hadoop's name in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        STORAGE_TYPES.into_iter().find(|t| t.name().eq_ignore_ascii_case(name))
    }
}

/// A number for each storage type: bytes, or a quota of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TypeSpaces([i64; STORAGE_TYPES.len()]);

impl TypeSpaces {
    /// No quota on any type.
    pub const NO_QUOTA: TypeSpaces = TypeSpaces([-1; STORAGE_TYPES.len()]);

    pub fn get(&self, storage_type: StorageType) -> i64 {
        self.0[storage_type as usize - 1]
    }
    pub fn set(&mut self, storage_type: StorageType, value: i64) {
        self.0[storage_type as usize - 1] = value;
    }
    /// Adds, wrapping: block sizes come from clients.
    pub fn add(&mut self, storage_type: StorageType, value: i64) {
        let slot = &mut self.0[storage_type as usize - 1];
        *slot = slot.wrapping_add(value);
    }
    #[must_use]
    pub fn plus(mut self, other: &TypeSpaces) -> TypeSpaces {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a = a.wrapping_add(b));
        self
    }
    #[must_use]
    pub fn minus(mut self, other: &TypeSpaces) -> TypeSpaces {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a = a.wrapping_sub(b));
        self
    }
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&n| n == 0)
    }
}
