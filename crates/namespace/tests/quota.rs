//! Random operations on a small tree with quotas and storage policies: what the counters say must be what a walk finds,
//! in the live state, after replay and after an image; and no quota may be exceeded by a request that was let through.
//! `SEEDS` (a number) runs more; a failure names its seed, and `SEED` runs that one alone.

use crate::cluster::{BLOCK, Cluster, Outcome};
use crate::harness::Harness;
use crate::model::through_image;
use std::collections::BTreeMap;
use surus_namespace::edit_op::RenameOptions;
use surus_namespace::ops::append::Append;
use surus_namespace::ops::concat::Concat;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::rename::Rename2;
use surus_namespace::ops::set_quota::{DONT_SET, SetQuota};
use surus_namespace::ops::set_replication::SetReplication;
use surus_namespace::ops::set_storage_policy::SetStoragePolicy;
use surus_namespace::ops::truncate::Truncate;
use surus_namespace::storage_policy::SUITE;
use surus_namespace::{InodeHandle, Namespace};
use surus_types::{FsPermission, STORAGE_TYPES, StorageType, TxId, TypeSpaces};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

#[test]
fn counters_are_what_a_walk_finds() {
    let seeds = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(30u64);
    let range = match std::env::var("SEED").ok().and_then(|s| s.parse().ok()) {
        Some(seed) => seed..=seed,
        None => 1..=seeds,
    };
    for seed in range {
        println!("seed {seed}");
        run(seed);
    }
}

fn run(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut c = Cluster::new(3);
    c.random = seed;
    for i in 0..150 {
        let before = over_quota(&c.namespace);
        let may_exceed = step(&mut c, &mut random);
        check(&c.namespace, seed, i);
        let after = over_quota(&c.namespace);
        // A quota set below what is used, and a policy that moves bytes, may exceed one; a request that adds may not.
        for (directory, over) in &after {
            let was = before.get(directory).is_some_and(|b| b >= over);
            let may = match may_exceed {
                MayExceed::Nothing => false,
                MayExceed::Types => !directory.ends_with("names") && !directory.ends_with("space"),
                MayExceed::Everything => true,
            };
            assert!(may || was, "seed {seed} step {i}: {directory} by {over}");
        }
    }
    let dump = c.namespace.dump();
    let mut replayed = Namespace::default();
    for (i, op) in c.log.iter().enumerate() {
        replayed.apply(op, TxId(i as u64 + 1)).unwrap();
    }
    assert_eq!(types_of(&replayed), types_of(&c.namespace), "seed {seed}");
    assert_eq!(replayed.dump(), dump, "seed {seed}");
    check(&replayed, seed, 1000);
    let loaded = through_image(&c.namespace);
    check(&loaded, seed, 2000);
    assert_eq!(types_of(&loaded), types_of(&c.namespace), "seed {seed}");
}

/// Files and directories lie two deep.
fn path(random: &mut Random) -> String {
    let name = |random: &mut Random| random.pick(&["a", "b", "c", "d"]).to_string();
    match random.below(5) {
        0 => format!("/{}", name(random)),
        1 => format!("/{}/{}/{}", name(random), name(random), name(random)),
        _ => format!("/{}/{}", name(random), name(random)),
    }
}

/// What a step may leave above a quota.
enum MayExceed {
    Nothing,
    /// What moves takes the policy it finds: directories above both places are not asked, as in Hadoop.
    Types,
    Everything,
}

fn step(c: &mut Cluster, random: &mut Random) -> MayExceed {
    let src = path(random);
    match random.below(16) {
        0..=3 => put(c, random, &src),
        4 => drop(c.run(&Mkdirs { src: &src, permission: FsPermission(0o755), unmasked: None, create_parent: true })),
        5 | 6 => {
            let dst = path(random);
            let options = RenameOptions { overwrite: random.below(2) == 0, to_trash: false };
            c.run(&Rename2 { src: &src, dst: &dst, options });
            return MayExceed::Types;
        }
        7 => drop(c.run(&Delete { src: &src, recursive: true })),
        8 => drop(c.run(&SetReplication { src: &src, replication: 1 + random.below(3) as u32 })),
        9 => append(c, random, &src),
        10 => {
            let new_length = random.below(3 * BLOCK) as i64;
            c.run(&Truncate { src: &src, new_length, client_name: "truncater" });
        }
        11 => {
            let other = path(random);
            c.run(&Concat { target: &src, sources: &[&other] });
            return MayExceed::Types;
        }
        12 | 13 => {
            let by_type = random.below(3) == 0;
            let storage_type = by_type.then(|| random.pick(&STORAGE_TYPES));
            let namespace_quota = if by_type { DONT_SET } else { random.pick(&[-1, 2, 5, DONT_SET]) };
            let space_quota = random.pick(&[-1, 3 * BLOCK as i64, 10 * BLOCK as i64, DONT_SET]);
            let src = if random.below(6) == 0 { "/" } else { &src };
            c.run(&SetQuota { src, namespace_quota, space_quota, storage_type });
            return MayExceed::Everything;
        }
        _ => {
            let policy = (random.below(4) > 0).then(|| SUITE[random.below(SUITE.len() as u64) as usize].name);
            c.run(&SetStoragePolicy { src: &src, policy });
            return MayExceed::Everything;
        }
    }
    c.tick(3_000);
    MayExceed::Nothing
}

/// Writes a file of some blocks, and leaves it open now and then.
fn put(c: &mut Cluster, random: &mut Random, src: &str) {
    let Outcome::Done(_) = c.create(src, "writer", 1 + random.below(3) as u32) else { return };
    let mut previous = None;
    for _ in 0..random.below(4) {
        let Outcome::Done(location) = c.add_block(src, "writer", previous) else { break };
        let length = if random.below(3) == 0 { 1 + random.below(BLOCK) } else { BLOCK };
        previous = Some(c.write(&location, length));
    }
    if random.below(6) > 0 {
        c.complete(src, "writer", previous);
    }
}

fn append(c: &mut Cluster, random: &mut Random, src: &str) {
    let request = Append { src, client_name: "appender", new_block: random.below(2) == 0 };
    let Outcome::Done(reply) = c.run(&request) else { return };
    let last = reply.last_block.map(|location| location.block);
    if random.below(3) > 0 {
        c.complete(src, "appender", last);
    }
}

/// Names, space and space by type of each directory, by a walk.
fn walk(namespace: &Namespace, handle: InodeHandle, policy: u8, out: &mut BTreeMap<String, (u64, u64, TypeSpaces)>) {
    let (mut names, mut space, mut types) = (1, 0, TypeSpaces::default());
    for child in namespace.tree.inode(handle).children(b"") {
        let inode = namespace.tree.inode(child);
        let own = if inode.local_storage_policy() == 0 { policy } else { inode.local_storage_policy() };
        if inode.is_directory() {
            walk(namespace, child, own, out);
            let (n, s, t) = out[&namespace.tree.path_of(child).unwrap()];
            (names, space, types) = (names + n, space + s, types.plus(&t));
            continue;
        }
        names += 1;
        space += inode.space_consumed();
        if own != 0 && inode.replication() > 0 {
            let each = inode.space_consumed() / u64::from(inode.replication());
            let policy = SUITE.iter().find(|p| p.id == own).unwrap();
            policy.choose(inode.replication()).for_each(|t| types.add(t, each as i64));
        }
    }
    out.insert(namespace.tree.path_of(handle).unwrap(), (names, space, types));
}

fn check(namespace: &Namespace, seed: u64, step: usize) {
    let mut walked = BTreeMap::new();
    let root = namespace.tree.inode(InodeHandle::ROOT).local_storage_policy();
    walk(namespace, InodeHandle::ROOT, root, &mut walked);
    for (path, expected) in walked {
        let usage = namespace.usage(namespace.tree.lookup(&path).unwrap());
        let got = (usage.names as u64, usage.space as u64, usage.types);
        assert_eq!(got, expected, "seed {seed} step {step}: {path}");
    }
}

fn types_of(namespace: &Namespace) -> Vec<(String, TypeSpaces)> {
    let image = namespace.freeze();
    let of = |h| (namespace.tree.path_of(h).unwrap(), namespace.tree.type_spaces(h));
    image.inodes().map(|inode| of(inode.handle())).collect()
}

/// By how much quotas are exceeded, by directory and kind.
fn over_quota(namespace: &Namespace) -> BTreeMap<String, i64> {
    let mut out = BTreeMap::new();
    for inode in namespace.freeze().inodes() {
        let Some(quota) = inode.quota() else { continue };
        let usage = namespace.usage(inode.handle());
        // A directory that holds too much may move.
        let id = inode.id();
        let mut note = |kind: &str, quota: i64, used: i64| {
            if quota >= 0 && used > quota {
                out.insert(format!("{id} {kind}"), used - quota);
            }
        };
        note("names", quota.names, usage.names);
        note("space", quota.space, usage.space);
        for t in STORAGE_TYPES.into_iter().filter(|t| !t.is_transient()) {
            note(t.name(), quota.types.get(t), usage.types.get(t));
        }
    }
    out
}

/// Neither looks at the files below, or this would not come to an end.
#[test]
fn another_policy_is_as_much_work_as_the_path_is_long() {
    let mut h = Harness::new(Namespace::default());
    for src in ["/hot/top/below", "/cold"] {
        h.run(&Mkdirs { src, permission: FsPermission(0o755), unmasked: None, create_parent: true }).unwrap();
    }
    for i in 0..10_000 {
        h.put_file(&format!("/hot/top/below/{i}"), 0o644, 100, &[60]);
    }
    let set = |h: &mut Harness, src, policy| h.run(&SetStoragePolicy { src, policy }).unwrap();
    set(&mut h, "/hot", Some("HOT"));
    set(&mut h, "/cold", Some("COLD"));
    h.run(&SetQuota {
        src: "/cold",
        namespace_quota: DONT_SET,
        space_quota: 1 << 40,
        storage_type: Some(StorageType::Archive),
    })
    .unwrap();
    let options = RenameOptions::default();
    for i in 0..10_000 {
        let policy = ["ALL_SSD", "ONE_SSD", "WARM"][i % 3];
        set(&mut h, "/hot/top", Some(policy));
        set(&mut h, "/hot/top", None);
        h.run(&Rename2 { src: "/hot/top", dst: "/cold/top", options }).unwrap();
        h.run(&Rename2 { src: "/cold/top", dst: "/hot/top", options }).unwrap();
    }
    let types = |h: &Harness, src| h.namespace.tree.type_spaces(h.namespace.tree.lookup(src).unwrap());
    let mut expected = TypeSpaces::default();
    expected.add(StorageType::Disk, 600_000);
    for src in ["/", "/hot", "/hot/top", "/hot/top/below"] {
        assert_eq!(types(&h, src), expected, "{src}");
    }
    assert_eq!(types(&h, "/cold"), TypeSpaces::default());
}
