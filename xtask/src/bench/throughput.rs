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

/// Of one operation: calls a second, the server's CPU for all, and transactions of the edit log for each sync, where any were
/// logged.
struct Figures {
    rate: f64,
    cpu: Duration,
    each_sync: Option<f64>,
}

/// Who is called: its address and process, and where its counters are.
struct Target {
    uri: String,
    pid: u32,
    http: Option<String>,
}

impl Target {
    fn of(cluster: &Cluster) -> Result<Target> {
        let pid = process::pid(&cluster.dir, "nn")?;
        Ok(Target { uri: cluster.uri(), pid, http: Some(cluster.http()) })
    }
}

/// Transactions and syncs of an edit log so far, as `/jmx` counts them.
#[derive(Clone, Copy)]
struct Log {
    transactions: u64,
    syncs: u64,
}

impl Log {
    fn read(http: &str) -> Result<Log> {
        let query = format!("http://{http}/jmx?qry=Hadoop:service=NameNode,name=NameNodeActivity");
        let text = output(Command::new("curl").args(["-sfg", &query]))?;
        let number = |key: &str| -> Result<u64> {
            let (_, rest) = text.split_once(&format!("\"{key}\" :")).with_context(|| format!("no {key} in {text}"))?;
            Ok(rest.trim_start().split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().parse()?)
        };
        Ok(Log { transactions: number("TransactionsNumOps")?, syncs: number("SyncsNumOps")? })
    }

    /// Transactions for each sync since `before`; nothing where hardly any were logged: an idle NameNode logs something, too.
    fn each_sync(self, before: Log) -> Option<f64> {
        let (transactions, syncs) = (self.transactions - before.transactions, self.syncs - before.syncs);
        (syncs > 10).then(|| transactions as f64 / syncs as f64)
    }
}

/// Prints the table; client and server have a core each.
pub fn run(peers: &[Peer], ops: u32) -> Result<()> {
    let surus = surus_binary()?;
    println!("\n| operation | handlers | peer | ops/s | server CPU us/op | transactions a sync |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for handlers in HANDLERS {
        let clusters: Vec<(Peer, Cluster)> = peers
            .iter()
            .map(|&peer| Ok((peer, peer.start_with(1, &[("HANDLERS", &handlers.to_string())])?)))
            .collect::<Result<_>>()?;
        let null = Null::start(&surus)?;
        let handlers = handlers.to_string();
        for (_, cluster) in &clusters {
            process::pin(process::pid(&cluster.dir, "nn")?, SERVER_CORE)?;
            let warm_up = Operation { name: "mkdirs", options: &[], existing: false };
            measure(cluster, &Target::of(cluster)?, &warm_up, ops / 5)?;
        }
        for operation in OPERATIONS {
            for (peer, cluster) in &clusters {
                let figures = measure(cluster, &Target::of(cluster)?, operation, ops)?;
                print_row(operation.name, &handlers, peer.name(), &figures, ops);
                if operation.name == "create" || (operation.existing && operation.name != "rename") {
                    take_over(&surus, cluster, operation.name)?;
                }
            }
        }
        let (_, cluster) = clusters.first().context("nobody is measured")?;
        let figures = measure(cluster, &null.target(), &OPERATIONS[0], ops)?;
        print_row("nothing", &handlers, "surus bench null", &figures, ops);
    }
    Ok(())
}

fn print_row(operation: &str, handlers: &str, peer: &str, figures: &Figures, ops: u32) {
    let cpu = figures.cpu.as_secs_f64() * 1e6 / f64::from(ops);
    let each_sync = figures.each_sync.map_or("-".to_owned(), |each| format!("{each:.1}"));
    println!("| {operation} | {handlers} | {peer} | {:.0} | {cpu:.1} | {each_sync} |", figures.rate);
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
fn measure(cluster: &Cluster, target: &Target, operation: &Operation, ops: u32) -> Result<Figures> {
    let count = ops.to_string();
    let number = if operation.name == "mkdirs" { "-dirs" } else { "-files" };
    let mut command = Command::new("taskset");
    command.args(["-c", &CLIENT_CORE.to_string(), "bash"]).args(script("conformance/hadoop.sh", &[]).get_args());
    command.arg("run").arg(&cluster.dir);
    command.args([BENCHMARK, "-fs", &target.uri, "-op", operation.name, "-threads", THREADS, number, &count]);
    command.args(operation.options).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let lines = BufReader::new(child.stderr.take().context("no pipe")?).lines();
    let (start, end) = (format!("Starting {count} {}(s).", operation.name), format!("--- {} inputs", operation.name));
    let now = || -> Result<(Duration, Option<Log>)> {
        Ok((process::cpu(target.pid)?, target.http.as_deref().map(Log::read).transpose()?))
    };
    let (mut before, mut after, mut rate, mut text) = (None, None, None, String::new());
    for line in lines {
        let line = line?;
        if line.contains(&start) {
            before = Some(now()?);
        } else if line.contains(&end) {
            after = Some(now()?);
        } else if let Some((_, figure)) = line.split_once("Ops per sec:") {
            rate = figure.trim().parse().ok();
        }
        text += &line;
        text.push('\n');
    }
    child.wait()?;
    let (Some((cpu_before, log_before)), Some((cpu, log)), Some(rate)) = (before, after, rate) else {
        anyhow::bail!("{}: no figures in the benchmark's output:\n{text}", operation.name);
    };
    let each_sync = log.zip(log_before).and_then(|(log, before)| log.each_sync(before));
    Ok(Figures { rate, cpu: cpu - cpu_before, each_sync })
}

/// `surus bench null`: what a call costs with the same framing, no file system and an answer of two bytes.
struct Null {
    process: Child,
    address: String,
}

impl Null {
    fn start(surus: &Path) -> Result<Null> {
        let address = format!("127.0.0.1:{}", free_range(1)?);
        let mut command = Command::new(surus);
        command.args(["bench", "null", "--listen", &address]).stdout(Stdio::piped());
        let mut null = Null { process: command.spawn()?, address };
        // It prints a line once it listens.
        null.process.stdout.take().context("no pipe")?.read_exact(&mut [0])?;
        process::pin(null.process.id(), SERVER_CORE)?;
        Ok(null)
    }

    fn target(&self) -> Target {
        Target { uri: format!("hdfs://{}", self.address), pid: self.process.id(), http: None }
    }
}

impl Drop for Null {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
