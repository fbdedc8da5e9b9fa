//! The dependency edges between the workspace's crates: one table, held against `cargo metadata`.

use crate::shell::{cargo, output};
use anyhow::{Context, Result};
use serde_json::Value;

/// Crate, what it is for in a word, and what it may depend on. `ARCHITECTURE.md` explains it.
const EDGES: &[(&str, &[&str])] = &[
    ("surus-types", &[]),
    ("surus-conf", &["surus-types"]),
    ("surus-proto", &[]),
    ("surus-wire", &["surus-types", "surus-proto"]),
    ("surus-namespace", &["surus-types"]),
    ("surus-disk", &[]),
    ("surus-journal", &["surus-types", "surus-proto", "surus-namespace", "surus-disk"]),
    ("surus-net", &["surus-types", "surus-proto", "surus-wire", "surus-conf"]),
    ("surus-keys", &["surus-types", "surus-conf", "surus-net"]),
    (
        "surus-client",
        &["surus-types", "surus-proto", "surus-wire", "surus-net", "surus-disk", "surus-conf", "surus-keys"],
    ),
    ("surus-webhdfs", &["surus-types"]),
    (
        "surus-namenode",
        &[
            "surus-types",
            "surus-conf",
            "surus-proto",
            "surus-wire",
            "surus-namespace",
            "surus-disk",
            "surus-journal",
            "surus-net",
            "surus-keys",
            "surus-webhdfs",
        ],
    ),
    (
        "surus-datanode",
        &[
            "surus-types",
            "surus-proto",
            "surus-wire",
            "surus-net",
            "surus-disk",
            "surus-client",
            "surus-webhdfs",
            "surus-conf",
        ],
    ),
    (
        "surus-httpfs",
        &["surus-types", "surus-proto", "surus-wire", "surus-net", "surus-client", "surus-webhdfs", "surus-conf"],
    ),
    ("surus", &["*"]),
    ("surus-testkit", &["*"]),
    ("xtask", &[]),
];
/// Only these may open sockets.
const SOCKETS: &[&str] = &["surus-net"];
/// Only these may depend on tokio at all.
const TOKIO: &[&str] = &["surus-net", "surus-namenode", "surus-datanode", "surus-httpfs", "surus", "surus-testkit"];

pub fn check() -> Result<Vec<String>> {
    let text = output(&mut cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().context("packages in cargo metadata")? {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = EDGES.iter().find(|(n, _)| *n == name) else {
            faults.push(format!("{name}: not in the table of edges (xtask/src/tidy/edges.rs)"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            let is_dev = dependency["kind"].as_str() == Some("dev");
            let ours = EDGES.iter().any(|(n, _)| *n == to);
            if to == "surus-testkit" && !is_dev && name != "surus-testkit" {
                faults.push(format!("{name}: testkit is for tests only"));
            }
            if ours && !is_dev && !allowed.contains(&"*") && !allowed.contains(&to) {
                faults.push(format!("{name} -> {to}: no such edge in the design"));
            }
            if to == "socket2" && !SOCKETS.contains(&name) {
                faults.push(format!("{name} -> socket2: only net opens sockets"));
            }
            if to == "tokio" && !is_dev && !TOKIO.contains(&name) {
                faults.push(format!("{name} -> tokio: this crate knows no runtime"));
            }
        }
    }
    Ok(faults)
}
