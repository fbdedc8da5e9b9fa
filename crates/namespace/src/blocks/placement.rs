//! Where new replicas go: on the writer's own DataNode first, then on distinct DataNodes that have room and are not busier
//! than others. Source: `BlockPlacementPolicyDefault.java`, Hadoop 3.5.0, with a single rack.

use super::{BlockManager, DatanodeHandle, StorageHandle};
use crate::storage_policy::StoragePolicy;
use alloc::vec::Vec;
use surus_types::{AdminState, StorageType};

/// A small generator (splitmix64) fed from `Env::random`: the same seed gives the same placement.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// What is asked of the placement.
#[derive(Clone, Debug)]
pub(crate) struct TargetRequest<'a> {
    /// The DataNode on the writer's host, if there is one.
    pub writer: Option<DatanodeHandle>,
    pub wanted: usize,
    /// DataNodes that must not be chosen.
    pub excluded: &'a [DatanodeHandle],
    /// DataNodes the client would like, before others.
    pub favored: &'a [DatanodeHandle],
    /// Room a target must have, bytes.
    pub block_size: u64,
    /// The first replica goes to the writer's own DataNode if it can.
    pub prefer_local: bool,
    pub now_monotonic_ms: u64,
    /// Says on which types of storage a new block goes, and on which where those cannot be had. `None`: any usual one.
    pub policy: Option<&'static StoragePolicy>,
}

/// A choice being made.
struct Choice<'a> {
    request: &'a TargetRequest<'a>,
    /// DataNodes chosen or excluded.
    used: Vec<DatanodeHandle>,
    chosen: Vec<StorageHandle>,
    max_load: Option<f64>,
    avoid_stale: bool,
    /// Types that are still wanted, one for each replica. `None`: any usual one.
    types: Option<Vec<StorageType>>,
}

impl Choice<'_> {
    fn takes(&self, storage_type: StorageType) -> bool {
        match &self.types {
            Some(types) => types.contains(&storage_type),
            None => matches!(storage_type, StorageType::Disk | StorageType::Ssd),
        }
    }

    fn took(&mut self, storage_type: StorageType) {
        if let Some(types) = &mut self.types
            && let Some(at) = types.iter().position(|t| *t == storage_type)
        {
            types.remove(at);
        }
    }

    /// What cannot be had is made up for by the policy's first other type. Returns whether there is one.
    fn fall_back(&mut self) -> bool {
        let Some(policy) = self.request.policy else { return false };
        let missing = self.missing();
        let Some(types) = &mut self.types else { return false };
        let other = policy.creation_fallbacks.iter().find(|t| !types.contains(t));
        let Some(other) = other.filter(|_| missing > 0) else { return false };
        *types = alloc::vec![*other; missing];
        true
    }

    fn missing(&self) -> usize {
        self.request.wanted.saturating_sub(self.chosen.len())
    }
}

/// Random draws before all DataNodes are gone through in order.
const DRAWS_PER_TARGET: usize = 8;

impl BlockManager {
    /// Chooses at most `wanted` storages on distinct DataNodes; fewer when there are not enough good ones.
    pub(crate) fn choose_targets(&self, request: &TargetRequest<'_>, random: &mut Random) -> Vec<StorageHandle> {
        let mut choice = Choice {
            request,
            used: request.excluded.to_vec(),
            chosen: Vec::new(),
            max_load: self.config.consider_load.then(|| self.config.consider_load_factor * self.average_load()),
            avoid_stale: true,
            types: request.policy.map(|policy| policy.choose(request.wanted as u16).collect()),
        };
        let local = request.writer.filter(|_| request.prefer_local);
        let first = request.favored.iter().copied().chain(local.filter(|_| request.favored.is_empty()));
        for node in first {
            self.try_node(node, &mut choice, random);
        }
        self.choose_random(&mut choice, random);
        if self.config.avoid_write_stale {
            choice.avoid_stale = false;
            self.choose_random(&mut choice, random);
        }
        if choice.fall_back() {
            self.choose_random(&mut choice, random);
        }
        choice.chosen
    }

    fn choose_random(&self, choice: &mut Choice<'_>, random: &mut Random) {
        let nodes = self.datanodes.len() as u64;
        if nodes == 0 {
            return;
        }
        for _ in 0..choice.missing() * DRAWS_PER_TARGET {
            if choice.missing() == 0 {
                return;
            }
            self.try_node(DatanodeHandle(random.below(nodes) as u32), choice, random);
        }
        let start = random.below(nodes);
        for i in 0..nodes {
            if choice.missing() == 0 {
                return;
            }
            self.try_node(DatanodeHandle(((start + i) % nodes) as u32), choice, random);
        }
    }

    fn try_node(&self, node: DatanodeHandle, choice: &mut Choice<'_>, random: &mut Random) {
        if choice.missing() == 0 || choice.used.contains(&node) || !self.is_good_target(node, choice) {
            return;
        }
        if let Some(storage) = self.good_storage(node, choice, random) {
            choice.took(self.datanodes.storage(storage).report.storage_type);
            choice.used.push(node);
            choice.chosen.push(storage);
        }
    }

    fn is_good_target(&self, node: DatanodeHandle, choice: &Choice<'_>) -> bool {
        let datanode = self.datanodes.datanode(node);
        let (now, interval) = (choice.request.now_monotonic_ms, self.config.stale_interval_ms);
        let avoid_stale = choice.avoid_stale && self.config.avoid_write_stale;
        datanode.alive
            && datanode.admin_state == AdminState::Normal
            && !(avoid_stale && self.datanodes.is_stale(node, now, interval))
            && choice.max_load.is_none_or(|max| f64::from(datanode.stats.xceiver_count) <= max)
    }

    /// A storage of the DataNode with room for the block beyond what is on its way already.
    fn good_storage(&self, node: DatanodeHandle, choice: &Choice<'_>, random: &mut Random) -> Option<StorageHandle> {
        let block_size = choice.request.block_size;
        let datanode = self.datanodes.datanode(node);
        let coming = u64::from(datanode.scheduled()).saturating_mul(block_size);
        if datanode.stats.remaining < coming.saturating_add(block_size) {
            return None;
        }
        let count = datanode.storages.len();
        let start = if count > 1 { random.below(count as u64) as usize } else { 0 };
        (0..count).map(|i| datanode.storages[(start + i) % count]).find(|s| {
            let report = &self.datanodes.storage(*s).report;
            !report.failed && choice.takes(report.storage_type) && report.remaining >= block_size
        })
    }

    /// Transfer threads of a DataNode in service, on average.
    fn average_load(&self) -> f64 {
        let (mut total, mut nodes) = (0u64, 0u64);
        for datanode in self.datanodes.iter().filter(|d| d.alive && d.admin_state == AdminState::Normal) {
            total += u64::from(datanode.stats.xceiver_count);
            nodes += 1;
        }
        if nodes == 0 { 0.0 } else { total as f64 / nodes as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Namespace;
    use crate::blocks::{Heartbeat, Now, Observation};
    use crate::storage_policy::by_name;
    use alloc::format;
    use surus_types::StorageType::{Archive, Disk, Ssd};
    use surus_types::{DatanodeId, StorageReport};

    /// A DataNode for each list of storage types.
    fn cluster(nodes: &[&[StorageType]]) -> Namespace {
        let mut namespace = Namespace::default();
        let now = Now { wall_ms: 1, monotonic_ms: 1, random: 1 };
        for (i, types) in nodes.iter().enumerate() {
            let id = DatanodeId { uuid: format!("dn-{i}"), ip_addr: format!("10.0.0.{i}"), ..DatanodeId::default() };
            namespace.observe(Observation::RegisterDatanode { id: &id, software_version: "3.5.0" }, now);
            let report = |(j, t): (usize, &StorageType)| StorageReport {
                uuid: format!("DS-{i}-{j}"),
                storage_type: *t,
                capacity: 1 << 40,
                remaining: 1 << 40,
                ..StorageReport::default()
            };
            let storages: Vec<StorageReport> = types.iter().enumerate().map(report).collect();
            let heartbeat = Heartbeat {
                uuid: &id.uuid,
                storages: &storages,
                xmits_in_progress: 0,
                xceiver_count: 0,
                failed_volumes: 0,
                cache_capacity: 0,
                cache_used: 0,
            };
            namespace.observe(Observation::Heartbeat(heartbeat), now);
        }
        namespace
    }

    /// Types of the storages chosen, in order of their names.
    fn chosen(namespace: &Namespace, policy: &str, wanted: usize) -> Vec<&'static str> {
        let request = TargetRequest {
            writer: None,
            wanted,
            excluded: &[],
            favored: &[],
            block_size: 1 << 20,
            prefer_local: true,
            now_monotonic_ms: 1,
            policy: Some(by_name(policy).unwrap()),
        };
        let storages = namespace.blocks.choose_targets(&request, &mut Random::new(7));
        let mut types: Vec<_> =
            storages.iter().map(|s| namespace.blocks.datanodes.storage(*s).report.storage_type.name()).collect();
        types.sort_unstable();
        types
    }

    #[test]
    fn storages_by_policy() {
        let mixed = cluster(&[&[Disk, Ssd, Archive], &[Disk, Ssd, Archive], &[Disk, Ssd, Archive]]);
        assert_eq!(chosen(&mixed, "HOT", 3), ["DISK", "DISK", "DISK"]);
        assert_eq!(chosen(&mixed, "ONE_SSD", 3), ["DISK", "DISK", "SSD"]);
        assert_eq!(chosen(&mixed, "ALL_SSD", 2), ["SSD", "SSD"]);
        assert_eq!(chosen(&mixed, "COLD", 3), ["ARCHIVE", "ARCHIVE", "ARCHIVE"]);
        assert_eq!(chosen(&mixed, "WARM", 3), ["ARCHIVE", "ARCHIVE", "DISK"]);
        let disks = cluster(&[&[Disk], &[Disk], &[Ssd]]);
        assert_eq!(chosen(&disks, "ALL_SSD", 3), ["DISK", "DISK", "SSD"]);
        assert_eq!(chosen(&disks, "ONE_SSD", 3), ["DISK", "DISK", "SSD"]);
        assert_eq!(chosen(&disks, "COLD", 3), Vec::<&str>::new());
        assert_eq!(chosen(&disks, "LAZY_PERSIST", 2), ["DISK", "DISK"]);
    }
}
