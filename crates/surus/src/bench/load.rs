//! Threads that call a NameNode as fast as it answers: rate and latencies.

use crate::exit;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use surus_client::{CLIENT_PROTOCOL, ClientConfig, DfsClient, NameNodes, Repeat};
use surus_conf::{Configuration, keys};
use surus_proto::hadoop::hdfs as proto;
use surus_types::FsPermission;

/// Files or directories of one parent, as in Hadoop's NNThroughputBenchmark.
const PER_DIRECTORY: u64 = 1000;

#[derive(Args)]
pub struct LoadArgs {
    /// What is called
    #[arg(long, value_enum, default_value = "mkdirs")]
    op: Op,
    #[arg(long, default_value_t = 32)]
    threads: u32,
    /// Connections that the threads share
    #[arg(long, default_value_t = 8)]
    connections: u32,
    #[arg(long, default_value_t = 100_000)]
    ops: u64,
    /// The NameNode [default: fs.defaultFS]
    #[arg(long, value_name = "URI")]
    fs: Option<String>,
    /// Directory to work in
    #[arg(long, default_value = "/surus-bench")]
    base: String,
    /// Leave what was made
    #[arg(long)]
    keep: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Op {
    /// Make distinct directories
    Mkdirs,
    /// Create and close distinct empty files
    Create,
    /// Ask for the status of directories made before
    Stat,
}

/// Runs the load and prints one line.
pub fn run(conf: &mut Configuration, arguments: &LoadArgs) -> Result<u8> {
    if let Some(uri) = &arguments.fs {
        conf.set_from(keys::FS_DEFAULT_FS.name(), uri, "--fs");
    }
    if arguments.threads == 0 || arguments.connections == 0 || arguments.ops == 0 {
        bail!("--threads, --connections and --ops must be at least 1");
    }
    let client = DfsClient::from_conf(conf, None)?;
    let base = format!("{}/{}", arguments.base, std::process::id());
    if arguments.op == Op::Stat {
        client.mkdirs(&base, FsPermission(0o755), true)?;
    }
    let config = ClientConfig::from_conf(conf, None)?;
    let doors: Vec<NameNodes> = (0..arguments.connections).map(|_| NameNodes::new(&config, CLIENT_PROTOCOL)).collect();
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let results: Vec<Result<Vec<Duration>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.threads)
            .map(|thread| {
                let door = &doors[thread as usize % doors.len()];
                let (next, base) = (&next, &base);
                scope.spawn(move || worker(door, arguments, next, base))
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| bail!("a thread panicked"))).collect()
    });
    let elapsed = start.elapsed();
    let mut latencies = Vec::new();
    for result in results {
        latencies.extend(result?);
    }
    latencies.sort_unstable();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    println!(
        "{} ops in {:.2} s: {:.0}/s, latency p50 {:.0} us, p99 {:.0} us, max {:.0} us",
        latencies.len(),
        elapsed.as_secs_f64(),
        latencies.len() as f64 / elapsed.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    if !arguments.keep {
        client.delete(&base, true).context("removing what was made")?;
    }
    Ok(exit::OK)
}

fn worker(door: &NameNodes, arguments: &LoadArgs, next: &AtomicU64, base: &str) -> Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i >= arguments.ops {
            return Ok(latencies);
        }
        let start = Instant::now();
        call(door, arguments.op, &format!("{base}/{}/{i}", i / PER_DIRECTORY), base)?;
        latencies.push(start.elapsed());
    }
}

fn call(door: &NameNodes, op: Op, path: &str, base: &str) -> Result<()> {
    match op {
        Op::Mkdirs => {
            let request = proto::MkdirsRequestProto {
                src: path.into(),
                masked: proto::FsPermissionProto { perm: 0o755 },
                create_parent: true,
                unmasked: None,
            };
            let answer: proto::MkdirsResponseProto = door.call("mkdirs", Repeat::Idempotent, &request)?;
            if !answer.result {
                bail!("mkdirs {path} was refused");
            }
        }
        Op::Create => {
            let request = proto::CreateRequestProto {
                src: path.into(),
                masked: proto::FsPermissionProto { perm: 0o644 },
                client_name: "surus-bench".into(),
                create_flag: 3,
                create_parent: true,
                replication: 1,
                block_size: 128 << 20,
                ..Default::default()
            };
            let _: proto::CreateResponseProto = door.call("create", Repeat::AtMostOnce, &request)?;
            let request = proto::CompleteRequestProto {
                src: path.into(),
                client_name: "surus-bench".into(),
                ..Default::default()
            };
            let _: proto::CompleteResponseProto = door.call("complete", Repeat::Idempotent, &request)?;
        }
        Op::Stat => {
            let request = proto::GetFileInfoRequestProto { src: base.into() };
            let _: proto::GetFileInfoResponseProto = door.call("getFileInfo", Repeat::Idempotent, &request)?;
        }
    }
    Ok(())
}
