//! `--daemon start|stop|status`: pid and log files named as Hadoop's launcher names them, and its exit codes.
//! Source: `hadoop-functions.sh` (`hadoop_daemon_handler`), Hadoop 3.5.0.

use crate::exit;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use surus_disk::{Disk, OpenMode, RealDisk};

/// How long a daemon may take to end before it is killed (`HADOOP_STOP_TIMEOUT`), in seconds.
const STOP_TIMEOUT_SECONDS: u64 = 5;
/// How long a started daemon is watched, so that one that cannot start is reported.
const START_WATCH: Duration = Duration::from_secs(1);
/// Longest pid file that is read, in bytes.
const PID_BYTES_MAX: u64 = 64;

/// The files of one daemon.
struct Files {
    pid: PathBuf,
    log_dir: PathBuf,
    out: PathBuf,
}

fn files(daemon: &str) -> Files {
    let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let ident = variable("HADOOP_IDENT_STRING").unwrap_or_else(surus_client::login_name);
    let pid_dir = PathBuf::from(variable("HADOOP_PID_DIR").unwrap_or_else(|| "/tmp".to_string()));
    let log_dir = variable("HADOOP_LOG_DIR")
        .map(PathBuf::from)
        .or_else(|| variable("HADOOP_HOME").map(|home| Path::new(&home).join("logs")))
        .unwrap_or_else(|| std::env::temp_dir().join(format!("hadoop-{ident}-logs")));
    Files {
        pid: pid_dir.join(format!("hadoop-{ident}-{daemon}.pid")),
        out: log_dir.join(format!("hadoop-{ident}-{daemon}-{}.out", crate::logging::host_name())),
        log_dir,
    }
}

/// Whether `NAME --daemon ACTION WORD` means a daemon that Surus has.
pub fn is_ours(name: &str, word: &str) -> bool {
    matches!((name, word), ("hdfs", "namenode" | "datanode" | "httpfs"))
}

/// `--daemon ACTION DAEMON ARGUMENTS`.
///
/// # Errors
/// Files that cannot be written, an unknown action.
pub fn run(
    action: &str,
    daemon: &str,
    arguments: &[String],
    config: Option<&str>,
    loglevel: Option<&str>,
) -> Result<u8> {
    let files = files(daemon);
    match action {
        "status" => Ok(status(&files)),
        "stop" => stop(daemon, &files),
        "start" => start(daemon, arguments, config, loglevel, &files),
        other => bail!("--daemon {other}: it must be start, status or stop"),
    }
}

/// The process that the pid file names, and whether it lives; `None` without a readable pid file.
fn running(files: &Files) -> Option<(Pid, bool)> {
    let text = String::from_utf8(RealDisk.read(&files.pid, PID_BYTES_MAX).ok()?).ok()?;
    let pid = Pid::from_raw(text.trim().parse().ok()?)?;
    Some((pid, is_alive(pid)))
}

/// A process that may not be signalled lives, too.
fn is_alive(pid: Pid) -> bool {
    !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

fn status(files: &Files) -> u8 {
    match running(files) {
        Some((_, true)) => exit::OK,
        Some((_, false)) => exit::DAEMON_DEAD,
        None => exit::DAEMON_NOT_RUNNING,
    }
}

fn stop(daemon: &str, files: &Files) -> Result<u8> {
    // Hadoop's launcher is silent where there is no pid file.
    let Some((pid, alive)) = running(files) else { return Ok(exit::OK) };
    if alive {
        kill_process(pid, Signal::TERM).with_context(|| format!("cannot stop {daemon} ({})", pid.as_raw_nonzero()))?;
        let seconds =
            std::env::var("HADOOP_STOP_TIMEOUT").ok().and_then(|v| v.parse().ok()).unwrap_or(STOP_TIMEOUT_SECONDS);
        let deadline = Instant::now() + Duration::from_secs(seconds);
        while is_alive(pid) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(50));
        }
        if is_alive(pid) {
            eprintln!("WARNING: {daemon} did not stop gracefully after {seconds} seconds: Trying to kill with kill -9");
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    RealDisk.remove_file(&files.pid)?;
    Ok(exit::OK)
}

fn start(
    daemon: &str,
    arguments: &[String],
    config: Option<&str>,
    loglevel: Option<&str>,
    files: &Files,
) -> Result<u8> {
    if let Some((pid, true)) = running(files) {
        eprintln!(
            "{daemon} is running as process {}.  Stop it first and ensure {} file is empty before retry.",
            pid.as_raw_nonzero(),
            files.pid.display()
        );
        return Ok(exit::FAILED);
    }
    for dir in [files.pid.parent(), Some(files.log_dir.as_path())].into_iter().flatten() {
        RealDisk.create_dir_all(dir)?;
    }
    let output = RealDisk.open(&files.out, OpenMode::Create)?;
    let output = output.as_std_file().context("a real file")?;
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(config) = config {
        command.args(["--config", config]);
    }
    if let Some(level) = loglevel {
        command.args(["--loglevel", level]);
    }
    command
        .arg(daemon)
        .args(arguments)
        .env("HADOOP_LOG_DIR", &files.log_dir)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        // A group of its own: the terminal's signals are not for a daemon.
        .process_group(0)
        // `surus`, not `hdfs`: the child takes the plain command line.
        .arg0("surus");
    let mut child = command.spawn()?;
    let pid = RealDisk.open(&files.pid, OpenMode::Create)?;
    pid.write_all_at(format!("{}\n", child.id()).as_bytes(), 0)?;
    let deadline = Instant::now() + START_WATCH;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            eprintln!("ERROR: Cannot start {daemon} ({status}): see {} and the log beside it", files.out.display());
            return Ok(exit::FAILED);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(exit::OK)
}
