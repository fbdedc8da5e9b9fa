//! `cargo xtask conformance NAME`: other people's clients and Hadoop's own suites, each on a cluster of its own.
//! The checks lie in `conformance/`; what real Hadoop 3.5.0 fails itself is in their `allowed-*.txt`.

use crate::cluster::{Cluster, free_range, results_dir};
use crate::shell::{self, script};
use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::PathBuf;
use std::process::Command;

/// Clients of `conformance/clients/run.sh`.
pub const CLIENTS: &[&str] = &[
    "curl-webhdfs",
    "fsshell-3.5",
    "fsshell-3.4",
    "fsshell-2.7",
    "surus-dfs",
    "python-hdfs",
    "fsspec-webhdfs",
    "pyhdfs",
    "snakebite",
    "hdfs-native-py",
    "hdfs-native-rs",
    "go-hdfs",
    "hdfs-cli",
    "pyarrow",
    "opendal",
    "chdb",
    "pyspark",
];
/// Suites of `conformance/suites/run.sh`.
pub const SUITES: &[&str] = &["contract", "fscontext", "cli", "compat"];

/// Tests of our own that need processes of other people: browser pages, syncs under strace, mixed clusters, DistCp, HBase's log.
pub const OWN: &[&str] = &[
    "pages",
    "strace",
    "kill",
    "errors",
    "methods",
    "offline",
    "samples",
    "snapshots",
    "mixed",
    "distcp",
    "wal",
    "datadirs",
    "encryption",
    "ha",
    "text",
    "inotify",
    "upgrades",
    "secondary",
];
/// Kinds of the NameNode and the three DataNodes of each mixed cluster.
const MIXTURES: &[[&str; 4]] = &[
    ["surus", "java", "surus", "java"],
    ["surus", "java", "java", "java"],
    ["java", "surus", "java", "surus"],
    ["java", "surus", "surus", "surus"],
];

const HADOOP_GIT: &str = "https://github.com/apache/hadoop.git";
const HADOOP_TAG: &str = "rel/release-3.5.0";
const COMPAT_BENCH: &str = "hadoop-tools/hadoop-compat-bench";

#[derive(Parser)]
pub struct Args {
    /// Clients and suites to run; `list` shows them
    #[arg(required = true)]
    names: Vec<String>,
    /// Against real Hadoop 3.5.0: the yardstick
    #[arg(long)]
    hadoop: bool,
    /// For suites: only cases whose name matches this Java regular expression
    #[arg(long)]
    filter: Option<String>,
}

pub fn run(args: &Args) -> Result<()> {
    if args.names.iter().any(|n| n == "list") {
        println!("clients: {}\nsuites:  {}\nown:     {}", CLIENTS.join(" "), SUITES.join(" "), OWN.join(" "));
        return Ok(());
    }
    let names: Vec<&str> = args.names.iter().map(String::as_str).collect();
    run_all(&names, args.hadoop, args.filter.as_deref())
}

/// Runs every name, then fails if one did: a later client still shows what it has to show.
pub fn run_all(names: &[&str], hadoop: bool, filter: Option<&str>) -> Result<()> {
    let mut failed = Vec::new();
    for &name in names {
        if let Err(error) = run_one(name, hadoop, filter) {
            eprintln!("{name}: {error:#}");
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("conformance failed: {}", failed.join(", ")) }
}

fn run_one(name: &str, hadoop: bool, filter: Option<&str>) -> Result<()> {
    let out = results_dir();
    let out = out.to_string_lossy();
    if CLIENTS.contains(&name) {
        let cluster = Cluster::start(name, 1, hadoop)?;
        let mut client = script("conformance/clients/run.sh", &[name, &cluster.uri(), &cluster.http(), "-o", &out]);
        if name == "surus-dfs" {
            client.env("SURUS", shell::surus_binary()?);
        }
        return shell::run(&mut client);
    }
    if SUITES.contains(&name) {
        let cluster = Cluster::start(name, if name == "compat" { 1 } else { 2 }, hadoop)?;
        let mut suite = script("conformance/suites/run.sh", &[name, &cluster.uri(), "-o", &out]);
        if name == "compat" && std::env::var_os("HADOOP_SRC").is_none() {
            suite.env("HADOOP_SRC", compat_sources()?);
        }
        if let Some(filter) = filter {
            suite.args(["--filter", filter]);
        }
        return shell::run(&mut suite);
    }
    match name {
        "pages" => {
            let cluster = Cluster::start(name, 1, hadoop)?;
            let datanode = format!("127.0.0.1:{}", cluster.port + 3);
            shell::run(&mut script("conformance/pages/run.sh", &[&cluster.http(), &datanode]))
        }
        "wal" => {
            let cluster = Cluster::start(name, 3, hadoop)?;
            shell::run(&mut script("conformance/wal/run.sh", &[&cluster.uri(), &out]))
        }
        "strace" | "kill" | "offline" | "samples" | "distcp" | "datadirs" | "encryption" | "inotify" | "upgrades"
        | "secondary" => shell::run(
            script(
                &if name == "samples" {
                    "conformance/offline/samples.sh".into()
                } else {
                    format!("conformance/{name}/run.sh")
                },
                &[],
            )
            .arg(shell::surus_binary()?)
            .arg(free_range(20)?.to_string()),
        ),
        "errors" | "methods" => {
            let mut command = script(&format!("conformance/{name}/run.sh"), &[&free_range(10)?.to_string(), &out]);
            if !hadoop {
                command.env("SURUS", shell::surus_binary()?);
            }
            shell::run(&mut command)
        }
        "snapshots" => snapshots(),
        "ha" => {
            let mut command = script("conformance/ha/run.sh", &[]);
            shell::run(command.arg(shell::surus_binary()?).arg(free_range(40)?.to_string()))
        }
        "mixed" => mixed(),
        "text" => shell::run(script("conformance/text/run.sh", &[]).arg(shell::surus_binary()?)),
        _ => unknown(name),
    }
}

/// Hadoop's compat-bench is in no registry: its sources are taken from the release's repository, once.
fn compat_sources() -> Result<PathBuf> {
    let folder = results_dir().join("hadoop-src");
    if !folder.join(COMPAT_BENCH).is_dir() {
        let git = |args: &[&str]| shell::run(Command::new("git").args(args));
        let to = folder.to_string_lossy();
        git(&[
            "clone",
            "--quiet",
            "--depth",
            "1",
            "--filter=blob:none",
            "--sparse",
            "--branch",
            HADOOP_TAG,
            HADOOP_GIT,
            &to,
        ])
        .and_then(|()| git(&["-C", &to, "sparse-checkout", "set", COMPAT_BENCH]))
        .context("compat needs Hadoop's sources: name a folder or git directory of them in HADOOP_SRC")?;
    }
    Ok(folder)
}

fn mixed() -> Result<()> {
    let surus = shell::surus_binary()?;
    for kinds in MIXTURES {
        let port = free_range(40)?.to_string();
        shell::run(script("conformance/mixed/run.sh", &[]).arg(&surus).arg(port).args(kinds))?;
    }
    Ok(())
}

/// Random operations on both sides, then Hadoop on what Surus saved and back; the same with ordered deletion; trash roots.
fn snapshots() -> Result<()> {
    let surus = shell::surus_binary()?;
    for (check, ordered) in [
        ("compare", "false"),
        ("interchange", "false"),
        ("compare", "true"),
        ("interchange", "true"),
        ("trash", "true"),
    ] {
        let dir = results_dir().join(format!("snapshots-{check}"));
        let _ = std::fs::remove_dir_all(&dir);
        let mut command = script(&format!("conformance/snapshots/{check}.sh"), &[]);
        shell::run(command.arg(&surus).arg(dir).env("PORT", free_range(20)?.to_string()).env("ORDERED", ordered))?;
    }
    Ok(())
}

fn unknown(name: &str) -> Result<()> {
    bail!("no client or suite is called {name}: `cargo xtask conformance list`")
}
