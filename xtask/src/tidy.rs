//! `cargo xtask tidy`: what the architecture promises and a program can check. A new edge, a longer file or a longer
//! function is a reviewed change of the tables here or of `xtask/ratchet.tsv`.

mod docs;
mod edges;
mod sizes;

use crate::shell::{output, root};
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::Command;

pub fn run(bless: bool) -> Result<()> {
    eprintln!("== tidy");
    let files = tracked_files()?;
    let mut faults = edges::check()?;
    faults.extend(headers(&files)?);
    faults.extend(sizes::check(&files, bless)?);
    faults.extend(unfinished(&files)?);
    faults.extend(docs::check(&files)?);
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    if faults.is_empty() { Ok(()) } else { bail!("tidy found {} faults", faults.len()) }
}

/// Every file under version control, or about to be, relative to the root.
fn tracked_files() -> Result<Vec<PathBuf>> {
    let list = output(
        Command::new("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root()),
    )?;
    Ok(list.lines().map(PathBuf::from).filter(|f| root().join(f).is_file()).collect())
}

fn is_rust(file: &std::path::Path) -> bool {
    file.extension().is_some_and(|e| e == "rs")
}

/// Every Rust file opens with `//!`: what it is and what it is not.
fn headers(files: &[PathBuf]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|f| is_rust(f)) {
        let text = std::fs::read_to_string(root().join(file))?;
        if !text.starts_with("//!") {
            faults.push(format!("{}: must open with //! lines that say what it is", file.display()));
        }
    }
    Ok(faults)
}

/// Marks of unfinished work, disabled tests, and the one escape from `no_std`.
fn unfinished(files: &[PathBuf]) -> Result<Vec<String>> {
    let marks = [
        concat!("to", "do!("),
        concat!("unimpl", "emented!("),
        concat!("FIX", "ME"),
        concat!("TO", "DO"),
        concat!("XX", "X:"),
        concat!("#[ign", "ore"),
        concat!("#[should", "_panic"),
    ];
    let mut faults = Vec::new();
    for file in files.iter().filter(|f| is_rust(f)) {
        let text = std::fs::read_to_string(root().join(file))?;
        for (number, line) in text.lines().enumerate() {
            if let Some(mark) = marks.iter().find(|m| line.contains(*m)) {
                faults.push(format!("{}:{}: {mark}", file.display(), number + 1));
            }
            let pure = file.starts_with("crates/types/src") || file.starts_with("crates/namespace/src");
            if pure && line.contains("extern crate std") {
                faults.push(format!("{}:{}: the pure crates must not reach for std", file.display(), number + 1));
            }
        }
    }
    Ok(faults)
}
