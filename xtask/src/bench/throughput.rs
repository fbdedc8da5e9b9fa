//! Hadoop's own NNThroughputBenchmark: rate and server CPU of each operation, at several handler counts, Surus and Hadoop in
//! turns; and the floor that the RPC framing sets.

use super::{Peer, process};
use crate::cluster::{Cluster, free_range};
use crate::shell::{output, script, surus_binary};
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const BENCHMARK: &str = "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark";
const BASE: &str = "/nnThroughputBenchmark";
const THREADS: &str = "32";
const CLIENT_CORE: u32 = 0;
const SERVER_CORE: u32 = 1;
/// `dfs.namenode.handler.count`; Surus has no such thing and is measured beside each.
const HANDLERS: [u32; 3] = [2, 10, 100];

/// An operation as the benchmark calls it.
struct Operation {
    name: &'static str,
    options: &'static [&'static str],
    /// It works on the files that an earlier operation left, and leaves them under its own name.
    existing: bool,
}

/// In this order: `create` leaves its files, and `rename` is the last to have them. `delete` makes its own.
const OPERATIONS: &[Operation] = &[
    Operation { name: "mkdirs", options: &[], existing: false },
    Operation { name: "create", options: &["-close", "-keepResults"], existing: false },
    Operation { name: "open", options: &["-useExisting", "-keepResults"], existing: true },
    Operation { name: "fileStatus", options: &["-useExisting", "-keepResults"], existing: true },
    Operation { name: "rename", options: &["-useExisting"], existing: true },
    Operation { name: "delete", options: &[], existing: false },
];

/// Of one operation: calls a second, and the server's CPU for each.
struct Figures {
    rate: f64,
    cpu: Duration,
}

/// Prints the table; client and server have a core each.
pub fn run(peers: &[Peer], ops: u32) -> Result<()> {
    let surus = surus_binary()?;
    println!("\n| operation | handlers | peer | ops/s | server CPU us/op |\n| --- | --- | --- | --- | --- |");
    for handlers in HANDLERS {
        let clusters: Vec<(Peer, Cluster)> = peers
            .iter()
            .map(|&peer| Ok((peer, peer.start_with(1, &[("HANDLERS", &handlers.to_string())])?)))
            .collect::<Result<_>>()?;
        for (_, cluster) in &clusters {
            process::pin(process::pid(&cluster.dir, "nn")?, SERVER_CORE)?;
            let warm_up = Operation { name: "mkdirs", options: &[], existing: false };
            measure(cluster, &cluster.uri(), process::pid(&cluster.dir, "nn")?, &warm_up, ops / 5)?;
        }
        for operation in OPERATIONS {
            for (peer, cluster) in &clusters {
                let server = process::pid(&cluster.dir, "nn")?;
                let figures = measure(cluster, &cluster.uri(), server, operation, ops)?;
                print_row(operation.name, &handlers.to_string(), peer.name(), &figures, ops);
                if operation.name == "create" || (operation.existing && operation.name != "rename") {
                    take_over(&surus, cluster, operation.name)?;
                }
            }
        }
    }
    floor(&surus, ops)
}

fn print_row(operation: &str, handlers: &str, peer: &str, figures: &Figures, ops: u32) {
    let cpu = figures.cpu.as_secs_f64() * 1e6 / f64::from(ops);
    println!("| {operation} | {handlers} | {peer} | {:.0} | {cpu:.1} |", figures.rate);
}

/// The next operation looks for its files where `create` leaves them.
fn take_over(surus: &Path, cluster: &Cluster, operation: &str) -> Result<()> {
    if operation == "create" {
        return Ok(());
    }
    let surus = |args: &[&str]| {
        output(Command::new(surus).args(args).env("HADOOP_CONF_DIR", cluster.dir.join("conf"))).map(drop)
    };
    // -keepResults leaves it on.
    surus(&["dfsadmin", "-safemode", "leave"])?;
    surus(&["dfs", "-mv", &format!("{BASE}/{operation}"), &format!("{BASE}/create")])
}

/// Runs one operation. Its CPU is taken between the lines that the benchmark prints at the start and the end of the calls
/// themselves: before, it may create files, and afterwards it deletes them.
fn measure(cluster: &Cluster, uri: &str, server: u32, operation: &Operation, ops: u32) -> Result<Figures> {
    let count = ops.to_string();
    let number = if operation.name == "mkdirs" { "-dirs" } else { "-files" };
    let mut command = Command::new("taskset");
    command.args(["-c", &CLIENT_CORE.to_string(), "bash"]).args(script("conformance/hadoop.sh", &[]).get_args());
    command.arg("run").arg(&cluster.dir);
    command.args([BENCHMARK, "-fs", uri, "-op", operation.name, "-threads", THREADS, number, &count]);
    command.args(operation.options).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let lines = BufReader::new(child.stderr.take().context("no pipe")?).lines();
    let (start, end) = (format!("Starting {count} {}(s).", operation.name), format!("--- {} inputs", operation.name));
    let (mut before, mut cpu, mut rate, mut text) = (None, None, None, String::new());
    for line in lines {
        let line = line?;
        if line.contains(&start) {
            before = Some(process::cpu(server)?);
        } else if line.contains(&end) {
            cpu = before.map(|before| process::cpu(server).map(|now| now - before)).transpose()?;
        } else if let Some((_, figure)) = line.split_once("Ops per sec:") {
            rate = figure.trim().parse().ok();
        }
        text += &line;
        text.push('\n');
    }
    child.wait()?;
    let (Some(cpu), Some(rate)) = (cpu, rate) else {
        anyhow::bail!("{}: no figures in the benchmark's output:\n{text}", operation.name);
    };
    Ok(Figures { rate, cpu })
}

/// Ends the process it holds.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a call costs with the same framing, no file system and an answer of two bytes: `surus bench null`.
fn floor(surus: &Path, ops: u32) -> Result<()> {
    let cluster = Peer::Surus.start(1)?;
    let address = format!("127.0.0.1:{}", free_range(1)?);
    let mut command = Command::new(surus);
    command.args(["bench", "null", "--listen", &address]).stdout(Stdio::piped());
    let mut server = Server(command.spawn()?);
    // It prints a line once it listens.
    server.0.stdout.take().context("no pipe")?.read_exact(&mut [0])?;
    process::pin(server.0.id(), SERVER_CORE)?;
    let figures = measure(&cluster, &format!("hdfs://{address}"), server.0.id(), &OPERATIONS[0], ops)?;
    print_row("nothing", "-", "surus bench null", &figures, ops);
    Ok(())
}
