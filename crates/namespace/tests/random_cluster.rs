//! Random writers, crashes, restarts, losses and steps of the wall clock, and then quiet: every block that is left somewhere must end with the
//! replicas its file wants, nothing else may lie on the DataNodes, and the counters must say so.
//! `SEEDS` (a number) runs more; a failure names its seed, and `SEED` runs that one alone.

use crate::cluster::{BLOCK, Cluster, Outcome, uuid};
use std::collections::BTreeMap;
use surus_namespace::blocks::{BadBlock, BlockState, Observation, ReplicaState};
use surus_namespace::ops::append::Append;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::lease_expiry::LeaseExpiry;
use surus_namespace::ops::pipeline::{UpdateBlockForPipeline, UpdatePipeline};
use surus_namespace::ops::recover_lease::RecoverLease;
use surus_namespace::ops::set_replication::SetReplication;
use surus_namespace::ops::truncate::Truncate;
use surus_types::Block;

const NODES: usize = 5;
const STEPS: usize = 150;
const FILES: u64 = 8;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

#[test]
fn everything_converges() {
    let seeds = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(40u64);
    if let Some(seed) = std::env::var("SEED").ok().and_then(|s| s.parse().ok()) {
        run(seed);
        return;
    }
    for seed in 1..=seeds {
        println!("seed {seed}");
        run(seed);
    }
}

fn run(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut c = Cluster::new(NODES);
    c.random = seed;
    for _ in 0..STEPS {
        step(&mut c, &mut random);
    }
    settle(&mut c);
    check(&c, seed);
}

fn step(c: &mut Cluster, random: &mut Random) {
    let src = format!("/f{}", random.below(FILES));
    let client = format!("c{}", random.below(3));
    match random.below(15) {
        // Somebody sets the clock, up to a day off.
        14 => c.clock_step_ms = random.below(2 * DAY_MS) as i64 - DAY_MS as i64,
        0..=2 => drop(put(c, random, &src, &client)),
        3 => drop(c.run(&Delete { src: &src, recursive: false })),
        4 => {
            let replication = 1 + random.below(4) as u32;
            c.run(&SetReplication { src: &src, replication });
        }
        5 => append(c, random, &src, &client),
        6 => {
            let new_length = random.below(2 * BLOCK) as i64;
            c.run(&Truncate { src: &src, new_length, client_name: &client });
        }
        7 => drop(c.run(&RecoverLease { src: &src, client_name: &client })),
        8 => {
            let node = random.below(NODES as u64) as usize;
            if c.nodes[node].up {
                c.nodes[node].up = false;
                if random.below(2) == 0 {
                    c.observe(Observation::DatanodeGone { uuid: &uuid(node) });
                }
            }
        }
        9 | 10 => start_some_node(c, random),
        11 => corrupt(c, random),
        12 => {
            let node = random.below(NODES as u64) as usize;
            if c.nodes[node].up {
                c.heartbeat(node);
                c.full_report(node);
            }
        }
        _ => {
            let ms = [3_000, 3_000, 61_000, 400_000][random.below(4) as usize];
            c.tick(ms);
            c.run(&LeaseExpiry);
            if random.below(10) == 0 {
                restart(c);
            }
        }
    }
}

/// Writes a file, or gives up somewhere on the way.
fn put(c: &mut Cluster, random: &mut Random, src: &str, client: &str) -> Option<()> {
    let replication = 1 + random.below(3) as u32;
    let Outcome::Done(_) = c.create(src, client, replication) else { return None };
    let mut previous = None;
    for _ in 0..random.below(4) {
        let Outcome::Done(location) = c.add_block(src, client, previous) else { return None };
        let length = if random.below(3) == 0 { 1 + random.below(BLOCK) } else { BLOCK };
        let block = Block { num_bytes: length, ..location.block };
        if random.below(12) == 0 {
            return None;
        }
        let mut acked = false;
        for storage in &location.storages {
            let node = c.node_of(*storage);
            if random.below(10) == 0 {
                // This one only began.
                c.store(node, Block { num_bytes: random.below(length + 1), ..block }, ReplicaState::Rbw);
            } else {
                c.store(node, block, ReplicaState::Finalized);
                acked |= c.nodes[node].up;
            }
        }
        if !acked {
            return None;
        }
        previous = Some(block);
    }
    let Outcome::Done(true) = c.complete(src, client, previous) else { return None };
    Some(())
}

fn append(c: &mut Cluster, random: &mut Random, src: &str, client: &str) {
    let Outcome::Done(reply) = c.run(&Append { src, client_name: client, new_block: false }) else { return };
    let Some(last) = reply.last_block else {
        c.complete(src, client, last_block(c, src));
        return;
    };
    let Outcome::Done(bumped) = c.run(&UpdateBlockForPipeline { block: last.block, client_name: client }) else {
        return;
    };
    let nodes: Vec<usize> = last.storages.iter().map(|s| c.node_of(*s)).filter(|n| c.nodes[*n].up).collect();
    let kept: Vec<usize> = nodes.iter().copied().filter(|_| random.below(5) > 0).collect();
    let kept: Vec<usize> = kept.into_iter().filter(|n| c.nodes[*n].replicas.contains_key(&last.block.id.0)).collect();
    if kept.is_empty() {
        return;
    }
    // The pipeline is set up with the new stamp before the NameNode hears of it.
    for node in &kept {
        c.store(*node, bumped.block, ReplicaState::Rbw);
    }
    let names: Vec<String> = kept.iter().map(|n| uuid(*n)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let update =
        UpdatePipeline { client_name: client, old: last.block, new: bumped.block, datanodes: &names, storages: &[] };
    let Outcome::Done(()) = c.run(&update) else { return };
    let room = BLOCK - last.block.num_bytes;
    let block = Block { num_bytes: last.block.num_bytes + random.below(room + 1), ..bumped.block };
    for node in kept {
        if c.nodes[node].replicas.contains_key(&block.id.0) {
            c.store(node, block, ReplicaState::Finalized);
        }
    }
    if random.below(6) > 0 {
        c.complete(src, client, Some(block));
    }
}

fn last_block(c: &Cluster, src: &str) -> Option<Block> {
    let file = c.namespace.tree.lookup(src)?;
    c.namespace.tree.inode(file).blocks().last().map(|b| c.namespace.blocks.block(*b))
}

fn start_some_node(c: &mut Cluster, random: &mut Random) {
    let node = random.below(NODES as u64) as usize;
    if !c.nodes[node].up {
        // What was being written when it stopped waits to be recovered.
        for (_, state) in c.nodes[node].replicas.values_mut() {
            if *state == ReplicaState::Rbw {
                *state = ReplicaState::Rwr;
            }
        }
        c.start_node(node);
    }
}

/// A reader finds a bad replica: it is good for nothing any more.
fn corrupt(c: &mut Cluster, random: &mut Random) {
    let node = random.below(NODES as u64) as usize;
    let finalized = c.nodes[node].replicas.values().filter(|(_, s)| *s == ReplicaState::Finalized).map(|(b, _)| *b);
    let all: Vec<Block> = finalized.collect();
    if all.is_empty() || !c.nodes[node].up {
        return;
    }
    let block = all[random.below(all.len() as u64) as usize];
    let name = uuid(node);
    // Orders already out were made in good faith.
    c.serve(node);
    if c.nodes[node].replicas.get(&block.id.0) != Some(&(block, ReplicaState::Finalized)) {
        return;
    }
    c.nodes[node].rotten.insert(block.id.0);
    c.observe(Observation::BadBlocks(&[BadBlock { block, datanode_uuid: &name, storage_uuid: "" }]));
}

/// The NameNode starts anew from its log.
fn restart(c: &mut Cluster) {
    let replayed = c.replay();
    assert_eq!(replayed.dump(), c.namespace.dump(), "replay differs from the live state");
    c.namespace = replayed;
    c.namespace.set_now(c.now_ms);
    c.namespace.leases.renew_all(c.now_ms);
    c.namespace.blocks.enter_startup_safe_mode();
    c.namespace.blocks.activate();
    for node in 0..NODES {
        if c.nodes[node].up {
            c.start_node(node);
        }
    }
    c.namespace.blocks.leave_safe_mode();
}

/// All DataNodes come up, all writers are gone, and time passes.
fn settle(c: &mut Cluster) {
    for node in 0..NODES {
        for (_, state) in c.nodes[node].replicas.values_mut() {
            if *state == ReplicaState::Rbw {
                *state = ReplicaState::Rwr;
            }
        }
        c.start_node(node);
    }
    for round in 0..80 {
        for i in 0..FILES {
            c.run(&RecoverLease { src: &format!("/f{i}"), client_name: "last" });
        }
        c.tick(if round % 8 == 7 { 120_000 } else { 3_000 });
        if round % 20 == 10 {
            for node in 0..NODES {
                c.full_report(node);
            }
        }
    }
    assert_eq!(c.replay().dump(), c.namespace.dump(), "replay differs from the live state");
}

fn check(c: &Cluster, seed: u64) {
    let mut known: BTreeMap<i64, ()> = BTreeMap::new();
    let (mut missing, mut corrupt, mut complete, mut safe) = (0, 0, 0, 0);
    for i in 0..FILES {
        let Some(file) = c.namespace.tree.lookup(&format!("/f{i}")) else { continue };
        let inode = c.namespace.tree.inode(file);
        for handle in inode.blocks() {
            let blocks = &c.namespace.blocks;
            let info = blocks.info(*handle);
            known.insert(info.block.id.0, ());
            if info.state != BlockState::Complete {
                // Only a block whose every DataNode lost it may stay open.
                let held = c.nodes.iter().map(|n| n.replicas.get(&info.block.id.0)).collect::<Vec<_>>();
                let open = blocks.open_block(*handle);
                assert_eq!(
                    c.num_replicas(info.block.id),
                    0,
                    "seed {seed}: {info:?} {open:?} held {held:?}\n{:?}\n{}",
                    inode.blocks().iter().map(|b| blocks.info(*b)).collect::<Vec<_>>(),
                    c.log_text(0)
                        .lines()
                        .filter(|l| l.contains(&format!("/f{i} ")) || l.contains(&format!("{}_", info.block.id)))
                        .collect::<Vec<_>>()
                        .join("\n")
                );
                continue;
            }
            complete += 1;
            assert_eq!(info.owner, inode.id());
            assert_eq!(info.replication, inode.replication());
            let count = blocks.count_replicas(*handle);
            let wanted = usize::from(info.replication).min(NODES);
            safe += usize::from(count.live > 0);
            missing += usize::from(count.live == 0);
            corrupt += usize::from(count.corrupt > 0);
            if count.live > 0 {
                let holders = c.holders(info.block);
                assert_eq!(count.live, wanted, "seed {seed}: {:?} {count:?} on {holders:?}", info.block);
                assert_eq!(c.num_replicas(info.block.id), wanted, "seed {seed}: {:?} {count:?}", info.block);
                assert_eq!(holders.len(), wanted, "seed {seed}: {:?} {count:?}", info.block);
            }
        }
    }
    for (node, held) in c.nodes.iter().enumerate() {
        for id in held.replicas.keys() {
            assert!(known.contains_key(id), "seed {seed}: dn-{node} still holds blk_{id}");
        }
    }
    let stats = c.namespace.blocks.stats();
    let info = c.namespace.blocks.safe_mode_info();
    let seen =
        (stats.missing, stats.low_redundancy, stats.corrupt, stats.complete, stats.pending_deletion, stats.excess);
    let (missing, corrupt, complete, safe) = (missing as u64, corrupt as u64, complete as u64, safe as u64);
    assert_eq!(seen, (missing, missing, corrupt, complete, 0, 0), "seed {seed}");
    assert_eq!((info.total_blocks, info.safe_blocks), (complete, safe), "seed {seed}");
    assert_eq!(c.namespace.blocks.num_blocks(), known.len(), "seed {seed}");
}
