//! NameNode figures: Hadoop's own NNThroughputBenchmark, and a WebHDFS listing.

use super::{Peer, process};
use crate::cluster::Cluster;
use crate::shell::{output, script};
use anyhow::{Context, Result};
use std::process::Command;

const BENCHMARK: &str = "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark";
const THREADS: &str = "32";
const CLIENT_CORE: u32 = 0;
const SERVER_CORE: u32 = 1;
/// The operation, whether it first creates the files that it works on, and its further options.
const OPERATIONS: &[(&str, bool, &[&str])] = &[
    ("mkdirs", false, &[]),
    ("create", false, &["-close"]),
    ("rename", true, &[]),
    ("delete", true, &[]),
    ("open", true, &[]),
    ("fileStatus", true, &[]),
];
const LISTED: u32 = 10_000;
const LISTINGS: u32 = 100;

/// Rate and server CPU per operation, client and server each on a core of its own.
pub fn throughput(peers: &[Peer], ops: u32) -> Result<()> {
    println!("\n| operation | peer | ops/s | server CPU us/op |\n| --- | --- | --- | --- |");
    for &peer in peers {
        let cluster = peer.start(1)?;
        let server = process::pid(&cluster.dir, "nn")?;
        process::pin(server, SERVER_CORE)?;
        benchmark(&cluster, "mkdirs", &[], ops / 5)?; // warm-up, not counted
        for (operation, creates, options) in OPERATIONS {
            let before = process::cpu(server)?;
            let rate = benchmark(&cluster, operation, options, ops)?;
            let cpu = (process::cpu(server)? - before).as_secs_f64() * 1e6 / f64::from(ops);
            let with = if *creates { " (its create included)" } else { "" };
            println!("| {operation}{with} | {} | {rate:.0} | {cpu:.1} |", peer.name());
        }
    }
    Ok(())
}

fn benchmark(cluster: &Cluster, operation: &str, options: &[&str], ops: u32) -> Result<f64> {
    let count = ops.to_string();
    let number = if operation == "mkdirs" { ["-dirs", &count] } else { ["-files", &count] };
    let mut command = Command::new("taskset");
    let hadoop = script("conformance/hadoop.sh", &[]);
    command.args(["-c", &CLIENT_CORE.to_string(), "bash"]).args(hadoop.get_args());
    command
        .arg("run")
        .arg(&cluster.dir)
        .args([BENCHMARK, "-fs", &cluster.uri(), "-op", operation, "-threads", THREADS])
        .args(number);
    command.args(options);
    let done = command.output()?;
    let text = String::from_utf8_lossy(&done.stderr).into_owned() + &String::from_utf8_lossy(&done.stdout);
    let rate = text.lines().rev().find_map(|l| l.split_once("Ops per sec:")).map(|(_, r)| r.trim().to_owned());
    rate.with_context(|| format!("{operation}: no rate in the benchmark's output:\n{text}"))?.parse().context("rate")
}

/// Time and server CPU of one LISTSTATUS of a directory with 10,000 entries.
pub fn list_status(peers: &[Peer]) -> Result<()> {
    println!("\n| LISTSTATUS of {LISTED} entries | p50 ms | server CPU ms |\n| --- | --- | --- |");
    for &peer in peers {
        let cluster = peer.start(1)?;
        let server = process::pid(&cluster.dir, "nn")?;
        benchmark_keep(&cluster)?;
        let url = format!(
            "http://{}/webhdfs/v1/nnThroughputBenchmark/mkdirs?op=LISTSTATUS&user.name={}",
            cluster.http(),
            user()
        );
        // An output for each URL: curl would send the others' bodies to its standard output, a pipe.
        let fetch = |count: u32| {
            let urls = (0..count).flat_map(|_| ["-o", "/dev/null", url.as_str()]);
            output(Command::new("curl").args(["-sf", "-w", "%{time_total}\\n"]).args(urls))
        };
        fetch(LISTINGS / 4)?;
        let before = process::cpu(server)?;
        let mut seconds: Vec<f64> = fetch(LISTINGS)?.lines().map(str::parse).collect::<Result<_, _>>()?;
        let cpu = (process::cpu(server)? - before).as_secs_f64() * 1e3 / f64::from(LISTINGS);
        seconds.sort_by(f64::total_cmp);
        let median = seconds.get(seconds.len() / 2).context("curl printed no times")? * 1e3;
        println!("| {} | {median:.1} | {cpu:.1} |", peer.name());
    }
    Ok(())
}

/// Leaves a directory with 10,000 sub-directories behind.
fn benchmark_keep(cluster: &Cluster) -> Result<()> {
    let base = format!("http://{}/webhdfs/v1/nnThroughputBenchmark/mkdirs", cluster.http());
    let config: String = (0..LISTED)
        .map(|i| format!("url = \"{base}/a-directory-with-a-name-{i:05}?op=MKDIRS&user.name={}\"\n", user()))
        .collect();
    let path = cluster.dir.join("mkdirs.curl");
    std::fs::write(&path, config)?;
    output(Command::new("curl").args(["-sf", "-X", "PUT", "-o", "/dev/null", "--config"]).arg(&path)).map(drop)
}

fn user() -> String {
    output(Command::new("id").arg("-un")).unwrap_or_default().trim().to_owned()
}
