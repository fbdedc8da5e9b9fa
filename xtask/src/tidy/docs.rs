//! Every path that a document names exists: a map that lies is worse than none.

use crate::shell::root;
use anyhow::Result;
use std::path::PathBuf;

/// Folders whose names, in backticks, are paths of this project.
const TOP: &[&str] = &["crates/", "xtask/", "docs/", "conformance/", ".ci/", "fuzz/"];

pub fn check(files: &[PathBuf]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "md")) {
        let text = std::fs::read_to_string(root().join(file))?;
        for (number, line) in text.lines().enumerate() {
            for quoted in line.split('`').skip(1).step_by(2) {
                let path = quoted.split_whitespace().next().unwrap_or_default().trim_end_matches('/');
                let is_path = TOP.iter().any(|t| path.starts_with(t)) && !path.contains(['*', '<', '{', '$', '|']);
                if is_path && !root().join(path).exists() {
                    faults.push(format!("{}:{}: `{path}` does not exist", file.display(), number + 1));
                }
            }
        }
    }
    Ok(faults)
}
