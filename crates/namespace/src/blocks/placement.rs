//! Where new replicas go: on the writer's own DataNode first, then on distinct DataNodes that have room and are not busier
//! than others. Source: `BlockPlacementPolicyDefault.java`, Hadoop 3.5.0, with a single rack.

use super::{BlockManager, DatanodeHandle, StorageHandle};
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
}

/// A choice being made.
struct Choice<'a> {
    request: &'a TargetRequest<'a>,
    /// DataNodes chosen or excluded.
    used: Vec<DatanodeHandle>,
    chosen: Vec<StorageHandle>,
    max_load: Option<f64>,
    avoid_stale: bool,
}

impl Choice<'_> {
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
        if let Some(storage) = self.good_storage(node, choice.request.block_size, random) {
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
    fn good_storage(&self, node: DatanodeHandle, block_size: u64, random: &mut Random) -> Option<StorageHandle> {
        let datanode = self.datanodes.datanode(node);
        let coming = u64::from(datanode.scheduled()).saturating_mul(block_size);
        if datanode.stats.remaining < coming.saturating_add(block_size) {
            return None;
        }
        let count = datanode.storages.len();
        let start = if count > 1 { random.below(count as u64) as usize } else { 0 };
        (0..count).map(|i| datanode.storages[(start + i) % count]).find(|s| {
            let report = &self.datanodes.storage(*s).report;
            let writable = matches!(report.storage_type, StorageType::Disk | StorageType::Ssd);
            !report.failed && writable && report.remaining >= block_size
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
