//! `cargo xtask bench`: the figures of docs/benchmarks.md, Surus beside real Hadoop in one run. CPU time per operation
//! comes first, since wall time on a shared machine says little.

mod data;
mod listing;
mod process;
mod start;
mod throughput;

use crate::cluster::Cluster;
use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};

#[derive(Parser)]
pub struct Args {
    /// Measurements to take: namenode, list, data, small, hflush, start. All of them when none is named
    names: Vec<String>,
    /// Only this one: quicker, no ratios
    #[arg(long, value_enum)]
    peer: Option<Peer>,
    /// Operations of each NameNode measurement
    #[arg(long, default_value_t = 50_000)]
    ops: u32,
}

/// Who is measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    Surus,
    Hadoop,
}

impl Peer {
    fn name(self) -> &'static str {
        match self {
            Peer::Surus => "Surus",
            Peer::Hadoop => "Hadoop 3.5.0",
        }
    }

    fn start(self, datanodes: u32) -> Result<Cluster> {
        self.start_with(datanodes, &[])
    }

    /// With environment variables that `conformance/hadoop.sh` knows.
    fn start_with(self, datanodes: u32, settings: &[(&str, &str)]) -> Result<Cluster> {
        let name = format!("bench-{}", if self == Peer::Surus { "surus" } else { "hadoop" });
        Cluster::start_with(&name, datanodes, self == Peer::Hadoop, settings)
    }
}

const ALL: &[&str] = &["namenode", "list", "data", "small", "hflush", "start"];

pub fn run(args: &Args) -> Result<()> {
    let names: Vec<&str> =
        if args.names.is_empty() { ALL.to_vec() } else { args.names.iter().map(String::as_str).collect() };
    if let Some(unknown) = names.iter().find(|n| !ALL.contains(n)) {
        bail!("no measurement is called {unknown}: {}", ALL.join(", "));
    }
    let peers = args.peer.map_or_else(|| vec![Peer::Surus, Peer::Hadoop], |peer| vec![peer]);
    let peers = peers.as_slice();
    for name in names {
        match name {
            "namenode" => throughput::run(peers, args.ops)?,
            "list" => listing::list_status(peers)?,
            "data" => data::one_gigabyte(peers)?,
            "small" => data::small_files(peers)?,
            "hflush" => data::hflush(peers)?,
            _ => start::run()?,
        }
    }
    Ok(())
}
