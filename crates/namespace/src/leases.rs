//! Who holds which files open, and since when they were last heard of. A lease belongs to a holder (a client's name) and
//! covers the inode ids of its open files, so a rename changes nothing here. Renewal times are soft state.
//! Source: `LeaseManager.java`, Hadoop 3.5.0.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use surus_types::InodeId;

/// After this long without renewal (milliseconds) another client may take a file over.
/// Source: `HdfsConstants.LEASE_SOFTLIMIT_PERIOD`, Hadoop 3.5.0.
pub const SOFT_LIMIT_MS: u64 = 60_000;
/// After this long the NameNode recovers the files by itself: `dfs.namenode.lease-hard-limit-sec`.
pub const HARD_LIMIT_MS: u64 = 20 * 60_000;

#[derive(Debug, Default)]
struct Lease {
    last_renewed_ms: u64,
    files: BTreeSet<InodeId>,
}

/// All leases.
#[derive(Debug, Default)]
pub struct LeaseManager {
    leases: BTreeMap<Arc<str>, Lease>,
    /// Holders by age, oldest first.
    by_age: BTreeSet<(u64, Arc<str>)>,
    holders: BTreeMap<InodeId, Arc<str>>,
}

impl LeaseManager {
    /// `holder` opens `file`; counts as a renewal. A file held by another moves over.
    pub fn add(&mut self, holder: &Arc<str>, file: InodeId, now_ms: u64) {
        self.remove(file);
        self.touch(holder, now_ms);
        if let Some(lease) = self.leases.get_mut(holder) {
            lease.files.insert(file);
        }
        self.holders.insert(file, holder.clone());
    }

    /// The file is closed or deleted. A lease without files ends.
    pub fn remove(&mut self, file: InodeId) {
        let Some(holder) = self.holders.remove(&file) else { return };
        let Some(lease) = self.leases.get_mut(&holder) else { return };
        lease.files.remove(&file);
        if lease.files.is_empty() {
            self.by_age.remove(&(lease.last_renewed_ms, holder.clone()));
            self.leases.remove(&holder);
        }
    }

    /// The holder was heard of. Unknown holders are no error.
    pub fn renew(&mut self, holder: &str, now_ms: u64) {
        if let Some((holder, _)) = self.leases.get_key_value(holder) {
            let holder = holder.clone();
            self.touch(&holder, now_ms);
        }
    }

    /// All holders get a fresh start: after a restart nobody could have renewed.
    pub fn renew_all(&mut self, now_ms: u64) {
        self.by_age.clear();
        for (holder, lease) in &mut self.leases {
            lease.last_renewed_ms = now_ms;
            self.by_age.insert((now_ms, holder.clone()));
        }
    }

    pub fn holder_of(&self, file: InodeId) -> Option<&Arc<str>> {
        self.holders.get(&file)
    }

    pub fn contains(&self, holder: &str) -> bool {
        self.leases.contains_key(holder)
    }

    /// How many files the holder has open.
    pub fn pending(&self, holder: &str) -> usize {
        self.leases.get(holder).map_or(0, |lease| lease.files.len())
    }

    pub fn files_of(&self, holder: &str) -> impl Iterator<Item = InodeId> + '_ {
        self.leases.get(holder).into_iter().flat_map(|lease| lease.files.iter().copied())
    }

    /// Whether another client may take the holder's files over. An unknown holder has expired.
    pub fn soft_expired(&self, holder: &str, now_ms: u64) -> bool {
        self.leases.get(holder).is_none_or(|lease| now_ms.saturating_sub(lease.last_renewed_ms) > SOFT_LIMIT_MS)
    }

    /// Holders whose files the NameNode must recover, oldest first.
    pub fn hard_expired(&self, now_ms: u64, limit_ms: u64) -> impl Iterator<Item = &Arc<str>> + '_ {
        self.by_age
            .iter()
            .take_while(move |(renewed, _)| now_ms.saturating_sub(*renewed) > limit_ms)
            .map(|(_, holder)| holder)
    }

    /// Open files, in id order, from an id on: pages of `listOpenFiles`.
    pub fn open_files(&self, from: InodeId) -> impl Iterator<Item = (InodeId, &Arc<str>)> + '_ {
        self.holders.range(from..).map(|(&file, holder)| (file, holder))
    }

    pub fn num_open_files(&self) -> usize {
        self.holders.len()
    }
    pub fn num_leases(&self) -> usize {
        self.leases.len()
    }

    /// Text that names the lease in exceptions. Source: `LeaseManager.Lease.toString`, Hadoop 3.5.0.
    pub fn describe(&self, holder: &str) -> Option<alloc::string::String> {
        let pending = self.leases.get(holder)?.files.len();
        Some(alloc::format!("[Lease.  Holder: {holder}, pending creates: {pending}]"))
    }

    fn touch(&mut self, holder: &Arc<str>, now_ms: u64) {
        let lease = self.leases.entry(holder.clone()).or_default();
        self.by_age.remove(&(lease.last_renewed_ms, holder.clone()));
        lease.last_renewed_ms = now_ms;
        self.by_age.insert((now_ms, holder.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn limits_and_takeover() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let mut leases = LeaseManager::default();
        leases.add(&a, InodeId(1), 0);
        leases.add(&a, InodeId(2), 10);
        assert!(!leases.soft_expired("a", SOFT_LIMIT_MS + 10));
        assert!(leases.soft_expired("a", SOFT_LIMIT_MS + 11));
        assert_eq!(leases.describe("a").unwrap(), "[Lease.  Holder: a, pending creates: 2]");
        leases.add(&b, InodeId(2), 50);
        assert_eq!(leases.holder_of(InodeId(2)), Some(&b));
        assert_eq!(leases.hard_expired(HARD_LIMIT_MS + 11, HARD_LIMIT_MS).collect::<Vec<_>>(), [&a]);
        leases.renew("a", 100);
        leases.renew("nobody", 100);
        assert_eq!(leases.hard_expired(HARD_LIMIT_MS + 51, HARD_LIMIT_MS).collect::<Vec<_>>(), [&b]);
        leases.remove(InodeId(1));
        leases.remove(InodeId(1));
        assert!(!leases.contains("a") && leases.soft_expired("a", 0));
        assert_eq!(leases.num_leases(), 1);
    }
}
