//! What the tables cost: time for each operation, bytes for each inode. Runs tiny with the tests; for numbers:
//! `SURUS_BENCH_INODES=1000000 cargo test --release -p surus-namespace --test main bench -- --nocapture`.

use crate::harness::Harness;
use std::time::Instant;
use surus_namespace::edit_op::AddClose;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::rename::Rename;
use surus_namespace::ops::set_storage_policy::SetStoragePolicy;
use surus_namespace::ops::snapshot::{AllowSnapshot, CreateSnapshot, DeleteSnapshot};
use surus_namespace::{EditOp, Namespace, NamespaceConfig};
use surus_types::{Block, BlockId, FsPermission, GenerationStamp, InodeId, PermissionStatus, RpcIds, TxId};

fn count() -> u64 {
    std::env::var("SURUS_BENCH_INODES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

/// Resident bytes of this process.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

/// Nanoseconds this thread was on a processor: others may use the machine meanwhile.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

fn measure(what: &str, n: u64, work: impl FnOnce()) {
    let start = cpu_ns();
    work();
    let ns = (cpu_ns() - start) as f64 / n as f64;
    println!("{what:<44} {ns:>10.0} ns each");
}

fn mkdirs(h: &mut Harness, src: &str) {
    let request = Mkdirs { src, permission: FsPermission(0o755), unmasked: None, create_parent: true };
    h.run(&request).unwrap();
    h.log.clear();
}

/// A permutation of `0..n`.
fn scattered(i: u64, n: u64) -> u64 {
    (i * 7_919 + 13) % n
}

fn put(h: &mut Harness, path: &str, blocks: Vec<Block>) {
    let permission = PermissionStatus { user: "u".into(), group: "supergroup".into(), permission: FsPermission(0o644) };
    let add = AddClose {
        inode_id: InodeId(h.namespace.last_inode_id.0 + 1),
        path: path.into(),
        replication: 3,
        mtime: 1,
        atime: 1,
        block_size: 128 << 20,
        blocks: Vec::new(),
        permission,
        acl: Vec::new(),
        xattrs: Vec::new(),
        client_name: "client".into(),
        client_machine: "machine".into(),
        overwrite: false,
        storage_policy_id: 0,
        erasure_coding_policy_id: 0,
        rpc: RpcIds::NONE,
    };
    let close = AddClose { blocks, client_name: "".into(), client_machine: "".into(), ..add.clone() };
    h.namespace.apply(&EditOp::Add(Box::new(add)), TxId(1)).unwrap();
    h.namespace.apply(&EditOp::Close(Box::new(close)), TxId(2)).unwrap();
}

#[test]
fn bench_directories_and_reads() {
    let n = count();
    let config = NamespaceConfig { max_directory_items: u32::MAX, ..NamespaceConfig::default() };
    let mut h = Harness::new(Namespace::new(config));
    mkdirs(&mut h, "/bench/in-order");
    mkdirs(&mut h, "/bench/scattered");
    measure("mkdirs, names in order", n, || {
        (0..n).for_each(|i| mkdirs(&mut h, &format!("/bench/in-order/d{i:08}")));
    });
    measure("mkdirs, names scattered", n, || {
        (0..n).for_each(|i| mkdirs(&mut h, &format!("/bench/scattered/d{:08}", scattered(i, n))));
    });
    let mut depth = String::from("/bench");
    for i in 0..6 {
        depth.push_str(&format!("/level{i}"));
        mkdirs(&mut h, &depth);
    }
    let env = h.env();
    let ns = &h.namespace;
    let mut found = 0;
    measure("getFileInfo, 8 deep", n, || {
        (0..n).for_each(|_| found += ns.get_file_info(&env, &depth, |s| u64::from(s.is_some())).unwrap());
    });
    measure("getFileInfo, scattered in a large directory", n, || {
        (0..n).for_each(|i| {
            let path = format!("/bench/in-order/d{:08}", scattered(i, n));
            found += ns.get_file_info(&env, &path, |s| u64::from(s.is_some())).unwrap();
        });
    });
    assert_eq!(found, 2 * n);
    let mut bytes = 0;
    measure("getListing, pages of 1000, an entry", n, || {
        let mut after = Vec::new();
        loop {
            let mut last = Vec::new();
            let end = ns.get_listing(&env, "/bench/in-order", &after, false, 1000, |entry| {
                bytes += entry.status.name.len();
                last.clear();
                last.extend_from_slice(entry.status.name);
                true
            });
            after = last;
            if end.unwrap().unwrap().remaining == 0 {
                break;
            }
        }
    });
    assert_eq!(bytes as u64, 9 * n);
    let frozen = Instant::now();
    let image = ns.freeze();
    println!("freeze of {} inodes {:>32.0} ns", ns.num_inodes(), frozen.elapsed().as_nanos());
    measure("walk of a frozen image, an inode", 2 * n, || {
        assert_eq!(image.inodes().count() as u64, 2 * n + 10);
    });
    measure("mkdirs while an image is held", n / 10, || {
        (0..n / 10).for_each(|i| mkdirs(&mut h, &format!("/bench/in-order/e{i:08}")));
    });
    drop(image);
    measure("delete of a large directory, an inode", n, || {
        h.run(&Delete { src: "/bench/scattered", recursive: true }).unwrap();
        while h.namespace.free_slice(1000) {}
    });
    assert_eq!(h.namespace.num_inodes(), n + n / 10 + 9);
}

/// The shape of Hadoop's NNThroughputBenchmark: two directories in each, down to a few entries at the bottom.
#[test]
fn bench_deep_paths() {
    let n = count();
    let mut h = Harness::new(Namespace::new(NamespaceConfig::default()));
    let deep = |i: u64| {
        let bits = scattered(i, n) / 4;
        let above: String = (0..13).map(|bit| format!("/ThroughputBenchDir{}", bits >> bit & 1)).collect();
        format!("/bench/mkdirs{above}/ThroughputBench{i}")
    };
    measure("mkdirs, 15 deep, parents as needed", n, || (0..n).for_each(|i| mkdirs(&mut h, &deep(i))));
    let (env, mut found) = (h.env(), 0);
    measure("getFileInfo, 15 deep", n, || {
        (0..n).for_each(|i| found += h.namespace.get_file_info(&env, &deep(i), |s| u64::from(s.is_some())).unwrap());
    });
    assert_eq!(found, n);
}

#[test]
fn bench_bytes_per_file() {
    let n = count();
    let before = resident();
    let mut h = Harness::new(Namespace::default());
    mkdirs(&mut h, "/empty");
    measure("create and close of an empty file (apply)", n, || {
        (0..n).for_each(|i| {
            if i % 1000 == 0 {
                mkdirs(&mut h, &format!("/empty/d{}", i / 1000));
            }
            put(&mut h, &format!("/empty/d{}/part-{i:08}", i / 1000), Vec::new());
        });
    });
    let empty = resident().saturating_sub(before) as f64 / n as f64;
    println!("an empty file, resident {empty:>32.0} bytes (tables {})", h.namespace.tree.bytes() as u64 / n);
    let before = resident();
    let tables = h.namespace.tree.bytes();
    mkdirs(&mut h, "/full");
    measure("create and close of a file with a block", n, || {
        (0..n).for_each(|i| {
            if i % 1000 == 0 {
                mkdirs(&mut h, &format!("/full/d{}", i / 1000));
            }
            let id = BlockId((1 << 30) + 1 + i as i64);
            let block = Block { id, generation_stamp: GenerationStamp(1001), num_bytes: 100 };
            put(&mut h, &format!("/full/d{}/part-{i:08}", i / 1000), vec![block]);
        });
    });
    let full = resident().saturating_sub(before) as f64 / n as f64;
    let tables = (h.namespace.tree.bytes() - tables) as u64 / n;
    println!("a file with one block, resident {full:>24.0} bytes (tree tables {tables})");
}

#[test]
fn bench_delete_of_a_big_tree() {
    let n = count();
    let mut h = Harness::new(Namespace::default());
    for directory in 0..n.div_ceil(1000) {
        mkdirs(&mut h, &format!("/big/d{directory:06}"));
        for file in directory * 1000..n.min((directory + 1) * 1000) {
            let block = Block {
                id: BlockId(1 << 30 | file.cast_signed()),
                num_bytes: 1,
                generation_stamp: GenerationStamp(1001),
            };
            put(&mut h, &format!("/big/d{directory:06}/f{file}"), vec![block]);
        }
    }
    let start = cpu_ns();
    assert!(h.run(&Delete { src: "/big", recursive: true }).unwrap());
    let detached = cpu_ns() - start;
    assert_eq!(h.namespace.num_inodes(), 1);
    let (mut slices, mut longest, start) = (0, 0, cpu_ns());
    loop {
        let before = cpu_ns();
        let more = h.namespace.free_slice(1000);
        longest = longest.max(cpu_ns() - before);
        slices += 1;
        if !more {
            break;
        }
    }
    let freed = cpu_ns() - start;
    println!(
        "delete of {n} files: gone after {:.3} ms; freed in {slices} slices, the longest {:.3} ms, {} ns a file",
        detached as f64 / 1e6,
        longest as f64 / 1e6,
        freed / n
    );
    // The bound of a lock hold; without optimisation ten times as much.
    let bound = if cfg!(debug_assertions) { 50_000_000 } else { 5_000_000 };
    assert!(detached < bound && longest < bound, "{detached} {longest}");
}

/// How long the lock is held, with a quota and snapshots, by what touches a large subtree at its top only.
#[test]
fn bench_held() {
    let n = count() / 10;
    for policy in [false, true] {
        let mut h = Harness::new(Namespace::new(NamespaceConfig::default()));
        for root in ["/r", "/p"] {
            mkdirs(&mut h, root);
        }
        for top in ["a", "b"] {
            for i in 0..n {
                let directory = format!("/r/{top}/{}", i / 1000);
                if i % 1000 == 0 {
                    mkdirs(&mut h, &directory);
                }
                let id = BlockId(1 << 30 | (i as i64) << 1 | i64::from(top == "a"));
                let block = Block { id, generation_stamp: GenerationStamp(1001), num_bytes: 10 };
                put(&mut h, &format!("{directory}/f{i}"), vec![block]);
            }
        }
        if policy {
            h.run(&SetStoragePolicy { src: "/r", policy: Some("COLD") }).unwrap();
        }
        h.run(&AllowSnapshot { root: "/r" }).unwrap();
        let quota = EditOp::SetQuota { src: "/r".into(), namespace_quota: 1 << 40, storage_quota: -1 };
        h.namespace.apply(&quota, TxId(3)).unwrap();
        let mut timed = |what: &str, work: &mut dyn FnMut(&mut Harness)| {
            measure(&format!("{what}, {n} files, policy {policy}"), 1, || work(&mut h));
            h.namespace.tree.check_held().unwrap();
        };
        let create = |h: &mut Harness, name| h.run(&CreateSnapshot { root: "/r", name, default_name: "" }).map(|_| ());
        timed("createSnapshot", &mut |h| create(h, "s1").unwrap());
        timed("rename out of a snapshot", &mut |h| {
            h.run(&Rename { src: "/r/a", dst: "/p/a" }).unwrap();
        });
        timed("rename back", &mut |h| {
            h.run(&Rename { src: "/p/a", dst: "/r/c" }).unwrap();
        });
        timed("delete into a snapshot", &mut |h| {
            h.run(&Delete { src: "/r/b", recursive: true }).unwrap();
        });
        timed("createSnapshot", &mut |h| create(h, "s2").unwrap());
        timed("createSnapshot", &mut |h| create(h, "s3").unwrap());
        timed("deleteSnapshot, nothing changed", &mut |h| {
            h.run(&DeleteSnapshot { root: "/r", name: "s3" }).unwrap();
        });
        timed("deleteSnapshot", &mut |h| {
            h.run(&DeleteSnapshot { root: "/r", name: "s1" }).unwrap();
        });
    }
}
