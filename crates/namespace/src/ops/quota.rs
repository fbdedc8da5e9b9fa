//! The check of quotas: whether the directories above may take more names and bytes. Replay never asks.
//! Source: `FSDirectory.verifyQuota`, `DirectoryWithQuotaFeature.java`, the quota exceptions, Hadoop 3.5.0.

use crate::Namespace;
use crate::storage_policy;
use crate::tree::InodeHandle;
use alloc::format;
use alloc::string::String;
use surus_types::{ExceptionClass, HdfsError, STORAGE_TYPES, TypeSpaces};

/// Names and bytes that a change adds to (or takes from) every directory above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Files, directories and symlinks.
    pub names: i64,
    /// Bytes times replication.
    pub space: i64,
    pub types: TypeSpaces,
}

impl Usage {
    pub fn names(names: i64) -> Self {
        Usage { names, ..Usage::default() }
    }

    /// `bytes` more in a file; negative: fewer.
    pub fn bytes(bytes: i64, replication: u16, policy_id: u8) -> Self {
        let space = bytes.wrapping_mul(i64::from(replication));
        Usage { names: 0, space, types: storage_policy::spaces(policy_id, bytes as u64, replication) }
    }

    #[must_use]
    pub fn plus(self, other: &Usage) -> Usage {
        Usage {
            names: self.names.wrapping_add(other.names),
            space: self.space.wrapping_add(other.space),
            types: self.types.plus(&other.types),
        }
    }

    #[must_use]
    pub fn minus(self, other: &Usage) -> Usage {
        Usage {
            names: self.names.wrapping_sub(other.names),
            space: self.space.wrapping_sub(other.space),
            types: self.types.minus(&other.types),
        }
    }
}

/// Source: `Quota.isViolated`, Hadoop 3.5.0.
fn is_violated(quota: i64, used: i64, added: i64) -> bool {
    quota >= 0 && added > 0 && used > quota.wrapping_sub(added)
}

impl Namespace {
    /// What a subtree takes, its top and what only snapshots hold of it included.
    pub fn usage(&self, handle: InodeHandle) -> Usage {
        let counts = self.tree.counts(handle);
        let held = self.tree.held(handle);
        Usage {
            names: (counts.files + counts.directories) as i64 + held.names,
            space: (counts.space as i64).wrapping_add(held.space),
            types: self.tree.type_spaces(handle).plus(&held.types),
        }
    }

    /// Whether `directory` and all above it may take `added`.
    ///
    /// # Errors
    /// `NSQuotaExceededException`, `DSQuotaExceededException`, `QuotaByStorageTypeExceededException`.
    pub fn verify_quota(&self, directory: InodeHandle, added: &Usage) -> Result<(), HdfsError> {
        self.verify_quota_after(directory, &Usage::default(), added, None)
    }

    /// As [`Namespace::verify_quota`], after `freed` was taken away by the same request, and below `common` only: what
    /// moves within a directory is no growth for it.
    ///
    /// # Errors
    /// As [`Namespace::verify_quota`].
    pub fn verify_quota_after(
        &self,
        directory: InodeHandle,
        freed: &Usage,
        added: &Usage,
        common: Option<InodeHandle>,
    ) -> Result<(), HdfsError> {
        if self.tree.num_quotas() == 0 {
            return Ok(());
        }
        let mut at = Some(directory);
        while let Some(handle) = at {
            if common == Some(handle) {
                return Ok(());
            }
            self.verify_one(handle, freed, added)?;
            at = self.tree.inode(handle).parent();
        }
        Ok(())
    }

    fn verify_one(&self, directory: InodeHandle, freed: &Usage, added: &Usage) -> Result<(), HdfsError> {
        let Some(quota) = self.tree.inode(directory).quota() else { return Ok(()) };
        let used = self.usage(directory).minus(freed);
        let path = || self.tree.path_of(directory).unwrap_or_default();
        if is_violated(quota.names, used.names, added.names) {
            return Err(HdfsError::new(
                ExceptionClass::NsQuotaExceeded,
                format!(
                    "The NameSpace quota (directories and files) of directory {} is exceeded: quota={} file count={}",
                    path(),
                    quota.names,
                    used.names + added.names
                ),
            ));
        }
        if is_violated(quota.space, used.space, added.space) {
            let total = used.space + added.space;
            return Err(HdfsError::new(
                ExceptionClass::DsQuotaExceeded,
                format!(
                    "The DiskSpace quota of {} is exceeded: quota = {} B = {} but diskspace consumed = {total} B = {}",
                    path(),
                    quota.space,
                    binary_prefix(quota.space),
                    binary_prefix(total)
                ),
            ));
        }
        for storage_type in STORAGE_TYPES.into_iter().filter(|t| !t.is_transient()) {
            let (limit, used, added) =
                (quota.types.get(storage_type), used.types.get(storage_type), added.types.get(storage_type));
            if is_violated(limit, used, added) {
                return Err(HdfsError::new(
                    ExceptionClass::QuotaByStorageTypeExceeded,
                    format!(
                        "Quota by storage type : {} on path : {} is exceeded. quota = {} but space consumed = {}",
                        storage_type.name(),
                        path(),
                        binary_prefix(limit),
                        binary_prefix(used + added)
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// `1 MB`, `1.50 GB`, `512 B`: two decimals unless it is a multiple.
/// Source: `StringUtils.TraditionalBinaryPrefix.long2String`, Hadoop 3.5.0.
fn binary_prefix(bytes: i64) -> String {
    const SYMBOLS: [char; 6] = ['K', 'M', 'G', 'T', 'P', 'E'];
    let sign = if bytes < 0 { "-" } else { "" };
    let n = u128::from(bytes.unsigned_abs());
    if n < 1024 {
        return format!("{sign}{n} B");
    }
    let mut index = (n.ilog2() / 10 - 1) as usize;
    let unit = |index: usize| 1u128 << (10 * (index + 1));
    if n.is_multiple_of(unit(index)) {
        return format!("{sign}{} {}B", n / unit(index), SYMBOLS[index]);
    }
    let hundredths = |index: usize| (n * 200 / unit(index)).div_ceil(2);
    if hundredths(index) / 100 == 1024 && index + 1 < SYMBOLS.len() {
        index += 1;
    }
    let value = hundredths(index);
    format!("{sign}{}.{:02} {}B", value / 100, value % 100, SYMBOLS[index])
}

#[cfg(test)]
mod tests {
    use super::binary_prefix;

    #[test]
    fn prefixes() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1 << 20, "1 MB"),
            (12_583_114, "12.00 MB"),
            (1536, "1.50 KB"),
            ((1 << 20) - 1, "1.00 MB"),
            (i64::MAX, "8.00 EB"),
        ];
        for (n, text) in cases {
            assert_eq!(binary_prefix(n), text);
        }
    }
}
