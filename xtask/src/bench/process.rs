//! What a process has used: CPU time and resident memory, from /proc; and pinning it to one core.

use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The kernel's clock tick in /proc/PID/stat: 100 a second on Linux, whatever the kernel's own HZ.
const TICK: Duration = Duration::from_millis(10);

/// The process id that `hadoop.sh` wrote for `what` (nn, dn) in a cluster's folder.
pub fn pid(dir: &Path, what: &str) -> Result<u32> {
    let path = dir.join(format!("{what}.pid"));
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    text.trim().parse().with_context(|| path.display().to_string())
}

/// User and system time of a process and its threads so far.
pub fn cpu(pid: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let after_name = stat.rsplit_once(')').context("no ) in stat")?.1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks: u32 = fields[11].parse::<u32>()? + fields[12].parse::<u32>()?;
    Ok(TICK * ticks)
}

/// Resident memory in bytes.
pub fn resident(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).context("no VmRSS")?;
    Ok(line.split_whitespace().nth(1).context("no figure in VmRSS")?.parse::<u64>()? * 1024)
}

/// Keeps all threads of a process on one core.
pub fn pin(pid: u32, core: u32) -> Result<()> {
    crate::shell::output(Command::new("taskset").args(["-acp", &core.to_string(), &pid.to_string()])).map(drop)
}
