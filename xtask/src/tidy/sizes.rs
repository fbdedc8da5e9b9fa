//! Sizes of files and functions, as a ratchet: what is over the aim today is written down and may only shrink.

use crate::shell::root;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Past this a file must be split, or stand in the ratchet. Tests (an inline `mod tests`) are not counted.
const FILE_LINES: usize = 600;
/// No file may be longer, ratchet or not.
const FILE_LINES_MAX: usize = 1000;
const FUNCTION_LINES: usize = 70;
const RATCHET: &str = "xtask/ratchet.tsv";

pub fn check(files: &[PathBuf], bless: bool) -> Result<Vec<String>> {
    let mut over = BTreeMap::new();
    for file in files.iter().filter(|f| super::is_rust(f) && !f.components().any(|c| c.as_os_str() == "tests")) {
        let text = std::fs::read_to_string(root().join(file))?;
        let lines: Vec<&str> = text.lines().collect();
        let end = lines.iter().position(|l| *l == "#[cfg(test)]").unwrap_or(lines.len());
        if end > FILE_LINES {
            over.insert(file.display().to_string(), end);
        }
        for (name, length) in functions(&lines[..end]) {
            if length > FUNCTION_LINES {
                over.insert(format!("{}::{name}", file.display()), length);
            }
        }
    }
    if bless {
        let mut text = String::new();
        for (what, lines) in &over {
            writeln!(text, "{what}\t{lines}")?;
        }
        std::fs::write(root().join(RATCHET), text)?;
    }
    let known = ratchet()?;
    let mut faults = Vec::new();
    for (what, lines) in over {
        let allowed = known.get(&what).copied();
        if !what.contains("::") && lines > FILE_LINES_MAX {
            faults.push(format!("{what}: {lines} lines; {FILE_LINES_MAX} is the end"));
        } else if allowed.is_none_or(|a| lines > a) {
            faults.push(format!(
                "{what}: {lines} lines (allowed: {})",
                allowed.unwrap_or(if what.contains("::") { FUNCTION_LINES } else { FILE_LINES })
            ));
        }
    }
    Ok(faults)
}

fn ratchet() -> Result<BTreeMap<String, usize>> {
    let text = std::fs::read_to_string(root().join(RATCHET)).unwrap_or_default();
    text.lines()
        .map(|line| {
            let (what, lines) = line.split_once('\t').with_context(|| format!("{RATCHET}: {line}"))?;
            Ok((what.to_owned(), lines.parse().with_context(|| format!("{RATCHET}: {line}"))?))
        })
        .collect()
}

/// Name and length of each function, by the indentation that rustfmt gives.
fn functions(lines: &[&str]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(at) = code.find("fn ") else { continue };
        let words = code[..at].split_whitespace();
        let is_item = words
            .clone()
            .all(|w| w.starts_with("pub") || matches!(w, "const" | "async" | "unsafe" | "extern" | "\"C\""));
        if !is_item || code.starts_with("//") || code.ends_with(';') {
            continue;
        }
        let indent = &line[..line.len() - code.len()];
        let close = format!("{indent}}}");
        if let Some(length) = lines[start..].iter().position(|l| **l == close) {
            let name: String = code[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((name, length + 1));
        }
    }
    found
}
