//! `cargo xtask bench`: the figures of docs/benchmarks.md, Surus beside real Hadoop in one run.

use anyhow::Result;
use clap::Parser;

#[derive(Parser)]
pub struct Args {
    /// Measurements to take; all of them when none is named
    names: Vec<String>,
}

pub fn run(args: &Args) -> Result<()> {
    anyhow::bail!("no measurement is called {}", args.names.join(" "))
}
