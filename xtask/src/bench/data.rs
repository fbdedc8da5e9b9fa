//! Data path figures: 1 GB in and out, and small files from Java's client.

use super::{Peer, process};
use crate::cluster::Cluster;
use crate::shell::{output, script, surus_binary};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const BYTES: u64 = 1 << 30;
const SMALL_FILES: u32 = 300;
const HFLUSHES: u32 = 10_000;
/// Where more than one is measured.
const REPLICAS: u32 = 3;

/// Client and DataNode CPU of `-put` and `-cat` of 1 GB, by FsShell and by `surus dfs`, with one replica and with three.
pub fn one_gigabyte(peers: &[Peer]) -> Result<()> {
    let surus = surus_binary()?;
    println!("\n| 1 GB | replicas | servers | client CPU s | DataNodes CPU s | wall s |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for replicas in [1, REPLICAS] {
        for &peer in peers {
            let cluster = peer.start(replicas)?;
            let datanodes = datanodes(&cluster, replicas)?;
            let file = local_file(&cluster.dir)?;
            let replication = format!("dfs.replication={replicas}");
            let java = |args: &[&str]| {
                let mut c =
                    script("conformance/hadoop.sh", &["fs", &cluster.dir.to_string_lossy(), "-D", &replication]);
                c.args(args);
                c
            };
            let ours = |args: &[&str]| {
                let mut c = Command::new(&surus);
                c.args(["dfs", "-D", &replication]).args(args).env("HADOOP_CONF_DIR", cluster.dir.join("conf"));
                c
            };
            let local = file.to_string_lossy();
            for (what, mut command) in [
                ("warm-up", ours(&["-put", &local, "/warm"])),
                ("surus dfs -put", ours(&["-put", &local, "/a"])),
                ("surus dfs -cat", ours(&["-cat", "/a"])),
                ("FsShell -put", java(&["-put", &local, "/b"])),
                ("FsShell -cat", java(&["-cat", "/b"])),
            ] {
                let before = all_cpu(&datanodes)?;
                let (cpu, wall) = timed(&mut command)?;
                let server = all_cpu(&datanodes)? - before;
                let [cpu, server, wall] = [cpu, server, wall].map(|time| time.as_secs_f64());
                if what != "warm-up" {
                    println!("| {what} | {replicas} | {} | {cpu:.2} | {server:.2} | {wall:.2} |", peer.name());
                }
            }
        }
    }
    Ok(())
}

/// The process ids of a cluster's DataNodes.
fn datanodes(cluster: &Cluster, count: u32) -> Result<Vec<u32>> {
    let dir = |n| if n == 1 { cluster.dir.clone() } else { cluster.dir.join(format!("dn{n}")) };
    (1..=count).map(|n| process::pid(&dir(n), "dn")).collect()
}

fn all_cpu(pids: &[u32]) -> Result<Duration> {
    pids.iter().map(|&pid| process::cpu(pid)).sum()
}

/// Microseconds for 100 bytes and hflush by Java's client, on one replica and on three.
pub fn hflush(peers: &[Peer]) -> Result<()> {
    println!("\n| 100 bytes + hflush, Java client | replicas | p50 us | p99 us |\n| --- | --- | --- | --- |");
    for replicas in [1, REPLICAS] {
        for &peer in peers {
            let cluster = peer.start(replicas)?;
            let times = java(&cluster, "Hflush", &[&HFLUSHES.to_string(), &replicas.to_string()])?;
            println!("| {} | {replicas} | {times} |", peer.name());
        }
    }
    Ok(())
}

/// Milliseconds for create + 4 KiB + close by Java's client, one after the other.
pub fn small_files(peers: &[Peer]) -> Result<()> {
    println!("\n| create + 4 KiB + close, Java client | p50 ms | p99 ms |\n| --- | --- | --- |");
    for &peer in peers {
        let cluster = peer.start(1)?;
        let times = java(&cluster, "SmallFiles", &[&SMALL_FILES.to_string()])?;
        println!("| {} | {times} |", peer.name());
    }
    Ok(())
}

/// Runs a program of `conformance/bench` on the cluster; the last line it prints.
fn java(cluster: &Cluster, class: &str, args: &[&str]) -> Result<String> {
    let class_path = output(&mut script("conformance/hadoop.sh", &["cp", &cluster.dir.to_string_lossy()]))?;
    let class_path = class_path.trim();
    let source = crate::shell::root().join(format!("conformance/bench/{class}.java"));
    output(Command::new("javac").args(["-nowarn", "-cp", class_path, "-d"]).arg(&cluster.dir).arg(source))?;
    let program = format!("{}:{class_path}", cluster.dir.display());
    let text = output(Command::new("java").args(["-Xmx256m", "-cp", &program, class, &cluster.uri()]).args(args))?;
    Ok(text.lines().last().with_context(|| format!("{class} printed nothing"))?.to_owned())
}

fn local_file(dir: &Path) -> Result<PathBuf> {
    let path = dir.join("one-gigabyte");
    let block: Vec<u8> = (0..1 << 20).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
    for _ in 0..BYTES >> 20 {
        std::io::Write::write_all(&mut file, &block)?;
    }
    Ok(path)
}

/// CPU (with children) and wall time of a command whose output is thrown away; read from bash's own clock.
fn timed(command: &mut Command) -> Result<(Duration, Duration)> {
    let mut timed = Command::new("bash");
    timed
        .args(["-c", "TIMEFORMAT='%U %S %R'; time \"$@\" > /dev/null", "-"])
        .arg(command.get_program())
        .args(command.get_args());
    for (key, value) in command.get_envs() {
        timed.env(key, value.unwrap_or_default());
    }
    let out = timed.stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    anyhow::ensure!(out.status.success(), "{:?} failed: {text}", command);
    let line = text.trim_end().lines().last().context("no times")?;
    let parts: Vec<f64> =
        line.split_whitespace().map(str::parse).collect::<Result<_, _>>().with_context(|| text.clone())?;
    anyhow::ensure!(parts.len() == 3, "no times in {text}");
    Ok((Duration::from_secs_f64(parts[0] + parts[1]), Duration::from_secs_f64(parts[2])))
}
