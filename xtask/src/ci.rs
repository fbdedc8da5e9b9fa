//! `cargo xtask ci`: the whole check, in the order in which a failure is cheapest to find.

use crate::conformance::{self, CLIENTS, OWN, SUITES};
use crate::shell::{OPTIMISED, cargo, need, output};
use crate::{fuzz, mutate, tidy};
use anyhow::{Result, bail};
use std::process::Command;

/// Clients and suites of the everyday run; `--full` runs all.
const EVERYDAY: &[&str] = &[
    "curl-webhdfs",
    "fsshell-3.5",
    "surus-dfs",
    "python-hdfs",
    "go-hdfs",
    "contract",
    "pages",
    "strace",
    "errors",
    "offline",
];
/// A target without an operating system: building for it proves that `types` and `namespace` use none.
const BARE_TARGET: &str = "x86_64-unknown-none";

/// Of each target in the full run.
const FUZZ_SECONDS: u32 = 20;

pub fn run(full: bool) -> Result<()> {
    need(&[("git", "git"), ("python3", "python3-venv"), ("cc", "gcc"), ("strace", "strace")])?;
    run_step("format", &mut cargo(&["fmt", "--all", "--check"]))?;
    tidy::run(false)?;
    run_step("lint", &mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    bare_target()?;
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    if full {
        tests.env("SURUS_CRASH_CLONES", "10000").env("SURUS_KILL_ROUNDS", "500").env("PROPTEST_CASES", "5000");
        tests.env(OPTIMISED.0, OPTIMISED.1);
    }
    run_step("unit, property and crash tests", &mut tests)?;
    if full {
        let all: Vec<&str> = CLIENTS.iter().chain(SUITES).chain(OWN).copied().collect();
        // A failure of one long part must not hide what the others show.
        let parts = [fuzz::run_all(&[], FUZZ_SECONDS), mutate::run_all(&[]), conformance::run_all(&all, false, None)];
        let failed: Vec<String> = parts.into_iter().filter_map(Result::err).map(|e| format!("{e:#}")).collect();
        if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
    } else {
        conformance::run_all(EVERYDAY, false, None)
    }
}

fn run_step(what: &str, command: &mut Command) -> Result<()> {
    eprintln!("== {what}");
    crate::shell::run(command)
}

fn bare_target() -> Result<()> {
    eprintln!("== types and namespace without an operating system");
    let installed = output(Command::new("rustup").args(["target", "list", "--installed"])).unwrap_or_default();
    if !installed.contains(BARE_TARGET) {
        crate::shell::run(Command::new("rustup").args(["target", "add", BARE_TARGET]))?;
    }
    crate::shell::run(&mut cargo(&[
        "build",
        "--package",
        "surus-types",
        "--package",
        "surus-namespace",
        "--target",
        BARE_TARGET,
    ]))
}
