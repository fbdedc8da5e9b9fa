//! Running other programs: every command is printed before it runs, and a failure names it.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The workspace's root folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_path_buf()
}

/// Set for tests that run for long: code three times as fast, its checks still in.
pub const OPTIMISED: (&str, &str) = ("CARGO_PROFILE_DEV_OPT_LEVEL", "1");

/// Runs a command in the workspace's root and fails when it does.
pub fn run(command: &mut Command) -> Result<()> {
    let text = describe(command);
    eprintln!("$ {text}");
    let start = Instant::now();
    let status = command.status().with_context(|| format!("cannot start `{text}`"))?;
    if !status.success() {
        bail!("`{text}` ended with {status}");
    }
    eprintln!("  {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// `cargo ARGS` in the workspace's root.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// `bash SCRIPT ARGS` in the workspace's root; SCRIPT is relative to it.
pub fn script(path: &str, args: &[&str]) -> Command {
    let mut command = Command::new("bash");
    command.arg(root().join(path)).args(args).current_dir(root());
    command
}

/// The standard output of a command that must succeed.
pub fn output(command: &mut Command) -> Result<String> {
    let text = describe(command);
    let out = command.output().with_context(|| format!("cannot start `{text}`"))?;
    if !out.status.success() {
        bail!("`{text}` ended with {}: {}", out.status, String::from_utf8_lossy(&out.stderr));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Installs Debian packages that provide programs which are missing. Needs root, as a fresh CI machine has.
pub fn need(programs: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<&str> = programs
        .iter()
        .filter(|(program, _)| {
            !Command::new("sh")
                .args(["-c", &format!("command -v {program}")])
                .output()
                .is_ok_and(|o| o.status.success())
        })
        .map(|(_, package)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    run(Command::new("apt-get")
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(&missing)
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

fn describe(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

/// The release binary, built first; or the one that `SURUS_BINARY` names.
pub fn surus_binary() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("SURUS_BINARY") {
        return std::fs::canonicalize(&named).with_context(|| format!("SURUS_BINARY={}", named.display()));
    }
    run(&mut cargo(&["build", "--release", "--package", "surus"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/surus"))
}
