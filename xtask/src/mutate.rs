//! `cargo xtask mutate-syncs`: turns each named sync call off in turn; a crash test must fail, or the call has its reason in
//! `xtask/unmutated.tsv` (name, tab, reason).

use crate::shell::{cargo, root, run};
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};

/// Crates whose sync calls are tried, with the tests that must notice.
const CRATES: &[&str] = &["surus-journal", "surus-datanode"];
const REASONS: &str = "xtask/unmutated.tsv";
/// Read by `SyncPoint` in the crate `disk`: the named call does nothing.
const FEATURE: &str = "surus-disk/mutate-syncs";
const SWITCH: &str = "SURUS_SKIP_SYNC";

pub fn run_all() -> Result<()> {
    let points = sync_points()?;
    if points.is_empty() {
        bail!("no sync points found under crates/");
    }
    let reasons = reasons()?;
    for package in CRATES {
        run(&mut cargo(&["test", "--package", package, "--features", FEATURE, "--no-run"]))?;
    }
    let mut unnoticed = Vec::new();
    for point in &points {
        let noticed = CRATES.iter().any(|package| !crash_tests_pass(package, point));
        let reason = reasons.get(point);
        println!("{point}\t{}", if noticed { "noticed" } else { reason.map_or("NOT NOTICED", |r| r.as_str()) });
        if !noticed && reason.is_none() {
            unnoticed.push(point.clone());
        }
    }
    if unnoticed.is_empty() { Ok(()) } else { bail!("no crash test notices the absence of: {}", unnoticed.join(", ")) }
}

fn crash_tests_pass(package: &str, point: &str) -> bool {
    cargo(&["test", "--quiet", "--package", package, "--features", FEATURE, "crash"])
        .env(SWITCH, point)
        .output()
        .is_ok_and(|o| o.status.success())
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
