//! `cargo xtask mutate-syncs`: turns each named sync call off in turn; a crash test must fail, or the call has its reason in
//! `xtask/unmutated.tsv` (name, tab, reason).

use crate::shell::{OPTIMISED, cargo, output, root};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where sync points lie, by the first part of their names, and whose tests must notice.
const CRATES: &[(&str, &str)] = &[("journal.", "crates/journal"), ("datanode.", "crates/datanode")];
const REASONS: &str = "xtask/unmutated.tsv";
/// Read by `SyncPoint` in the crate `disk`: the named call does nothing.
const FEATURE: &str = "surus-disk/mutate-syncs";
/// Points tried at a time.
const SIDE_BY_SIDE: usize = 2;
const SWITCH: &str = "SURUS_SKIP_SYNC";

/// All points, or those whose names begin with one of `wanted`.
pub fn run_all(wanted: &[String]) -> Result<()> {
    let mut points = sync_points()?;
    points.retain(|p| wanted.is_empty() || wanted.iter().any(|w| p.starts_with(w.as_str())));
    if points.is_empty() {
        bail!("no sync points found under crates/");
    }
    let reasons = reasons()?;
    let mut unnoticed = Vec::new();
    for (prefix, folder) in CRATES {
        if !points.iter().any(|p| p.starts_with(prefix)) {
            continue;
        }
        let tests = &test_binaries(folder)?;
        if wanted.is_empty() && !pass(folder, tests, "no such point")? {
            bail!("the crash tests of {folder} fail with every sync in place");
        }
        let untested = |p: &&String| p.starts_with(prefix) && !reasons.contains_key(*p);
        let points: Vec<&String> = points.iter().filter(untested).collect();
        for side_by_side in points.chunks(SIDE_BY_SIDE) {
            let results = std::thread::scope(|scope| {
                let one = |point| scope.spawn(move || pass(folder, tests, point).map(|passed| (point, !passed)));
                let all: Vec<_> = side_by_side.iter().map(|point| one(point.as_str())).collect();
                all.into_iter().map(|run| run.join().expect("no panic")).collect::<Result<Vec<_>>>()
            })?;
            for (point, noticed) in results {
                println!("{point}\t{}", if noticed { "noticed" } else { "NOT NOTICED" });
                if !noticed {
                    unnoticed.push(point);
                }
            }
        }
    }
    for point in &points {
        match reasons.get(point) {
            Some(reason) => println!("{point}\t{reason}"),
            None if CRATES.iter().any(|(prefix, _)| point.starts_with(prefix)) => {}
            None => {
                println!("{point}\tNO TEST AND NO REASON");
                unnoticed.push(point);
            }
        }
    }
    if unnoticed.is_empty() { Ok(()) } else { bail!("no crash test notices the absence of: {}", unnoticed.join(", ")) }
}

/// The crate's test programs, with the switch built in.
fn test_binaries(folder: &str) -> Result<Vec<PathBuf>> {
    let manifest = root().join(folder).join("Cargo.toml");
    let mut build =
        cargo(&["test", "--tests", "--features", FEATURE, "--no-run", "--message-format", "json", "--manifest-path"]);
    build.arg(manifest).env(OPTIMISED.0, OPTIMISED.1).stderr(Stdio::inherit());
    let text = output(&mut build)?;
    let paths = text.split("\"executable\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    Ok(paths.map(PathBuf::from).collect())
}

/// Whether all crash tests pass without `point`. The first that fails ends the run.
fn pass(folder: &str, tests: &[PathBuf], point: &str) -> Result<bool> {
    for test in tests {
        if !passes(&root().join(folder), test, point)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn passes(folder: &Path, test: &Path, point: &str) -> Result<bool> {
    let mut command = Command::new(test);
    command.arg("crash").current_dir(folder).env(SWITCH, point).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("cannot start {}", test.display()))?;
    let out = child.stdout.take().context("a pipe")?;
    if BufReader::new(out).lines().map_while(Result::ok).any(|line| line.ends_with("... FAILED")) {
        child.kill()?;
        child.wait()?;
        return Ok(false);
    }
    Ok(child.wait()?.success())
}

/// Every name in `SyncPoint("...")` of the crates' sources.
fn sync_points() -> Result<BTreeSet<String>> {
    let mut points = BTreeSet::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") && path.components().any(|c| c.as_os_str() == "src") {
                let text = std::fs::read_to_string(path)?;
                let names = text.split("SyncPoint(\"").skip(1).filter_map(|rest| rest.split('"').next());
                points.extend(names.filter(|n| n.contains('.') && !n.starts_with("crate.")).map(str::to_owned));
            }
        }
    }
    Ok(points)
}

fn reasons() -> Result<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(root().join(REASONS)).unwrap_or_default();
    Ok(text.lines().filter_map(|l| l.split_once('\t')).map(|(n, r)| (n.to_owned(), r.to_owned())).collect())
}
