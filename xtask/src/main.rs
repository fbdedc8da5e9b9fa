//! The project's own tasks: `cargo xtask ci|tidy|conformance|bench|cluster|fuzz|mutate-syncs`.
//! Everything a fresh machine lacks is installed by the task that needs it.

mod bench;
mod ci;
mod cluster;
mod conformance;
mod fuzz;
mod mutate;
mod shell;
mod tidy;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tasks of the Surus workspace")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Format, lint, tidy, unit, property and crash tests, and the everyday clients. What `.ci/run` calls
    Ci {
        /// Every client, every suite and the long runs too
        #[arg(long)]
        full: bool,
    },
    /// Check what the architecture promises: edges, headers, sizes, named paths, no unfinished marks
    Tidy {
        /// Write today's sizes into xtask/ratchet.tsv, where they only go down
        #[arg(long)]
        bless: bool,
    },
    /// Run other people's clients or Hadoop's own suites against Surus (or, with --hadoop, against real Hadoop)
    Conformance(conformance::Args),
    /// Start a cluster in a temporary folder and keep it until Enter is pressed
    Cluster {
        #[arg(long, default_value_t = 1)]
        datanodes: u32,
        /// Real Hadoop instead of Surus
        #[arg(long)]
        hadoop: bool,
    },
    /// Measure the table of docs/benchmarks.md, beside real Hadoop
    Bench(bench::Args),
    /// Run the decoders under libFuzzer; a slice of the same runs in `cargo test`
    Fuzz {
        /// For each target
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Only these targets
        names: Vec<String>,
    },
    /// Turn each sync call off in turn: a crash test must notice
    MutateSyncs {
        /// Only points whose names begin so
        points: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Ci { full } => ci::run(full),
        Task::Tidy { bless } => tidy::run(bless),
        Task::Conformance(args) => conformance::run(&args),
        Task::Cluster { datanodes, hadoop } => cluster::interactive(datanodes, hadoop),
        Task::Bench(args) => bench::run(&args),
        Task::Fuzz { seconds, names } => fuzz::run_all(&names, seconds),
        Task::MutateSyncs { points } => mutate::run_all(&points),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
