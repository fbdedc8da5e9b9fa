//! `cargo xtask fuzz`: every decoder under libFuzzer, which follows the branches that inputs take. The stable compiler does: coverage is a
//! pass of LLVM's, and the decoders need no sanitizer, having no unsafe code.

use crate::shell::{cargo, output, root, run};
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// What cargo-fuzz gives the compiler where no sanitizer is asked for.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
     -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions=on";
/// A decoder that asks for more has believed a length.
const RSS_MB_MAX: u32 = 2048;
/// One input may take this long.
const INPUT_SECONDS_MAX: u32 = 10;

/// Runs the targets named, or all, for `seconds` each. What was learnt stays under `target/fuzz` for the next run; inputs that fail too.
///
/// # Errors
/// The names of the targets that failed.
pub fn run_all(names: &[String], seconds: u32) -> Result<()> {
    crate::shell::need(&[("c++", "g++")])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join("fuzz");
    let seeds = target.join("seeds");
    let seeds_arg = seeds.to_string_lossy();
    let known =
        output(&mut cargo(&["run", "--package", "surus-testkit", "--example", "fuzz_seeds", "--", &seeds_arg]))?;
    if let Some(name) = names.iter().find(|name| !known.lines().any(|known| known == name.as_str())) {
        bail!("no fuzz target is called {name}; there are {}", known.lines().collect::<Vec<_>>().join(", "));
    }
    let host = output(Command::new("rustc").args(["--print", "host-tuple"]))?;
    // With a target named, build scripts are left alone.
    let build = ["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", host.trim(), "--target-dir"];
    run(cargo(&build).arg(&target).env("RUSTFLAGS", COVERAGE))?;
    let mut failed = Vec::new();
    for name in known.lines().filter(|known| names.is_empty() || names.iter().any(|name| name == known)) {
        let corpus = target.join("corpus").join(name);
        std::fs::create_dir_all(&corpus)?;
        let mut fuzzer = Command::new(target.join(host.trim()).join("release").join(name));
        fuzzer.arg(&corpus).arg(seeds.join(name)).args([
            format!("-max_total_time={seconds}"),
            format!("-rss_limit_mb={RSS_MB_MAX}"),
            format!("-timeout={INPUT_SECONDS_MAX}"),
            format!("-artifact_prefix={}/{name}-", target.display()),
            "-print_final_stats=1".to_owned(),
            "-verbosity=0".to_owned(),
        ]);
        if let Err(error) = run(&mut fuzzer) {
            failed.push(format!("{name}: {error}"));
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("{}", failed.join("\n"))
}
