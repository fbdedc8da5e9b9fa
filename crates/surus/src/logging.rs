//! Log lines in Hadoop's form, `2026-11-30 13:00:00,123 INFO namenode.NameNode: text`, to stderr or to a file that is rotated.

use crate::local_time::{local_time, now_ms};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use surus_disk::{Disk, DiskFile, OpenMode, RealDisk};
use tracing::field::{Field, Visit};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

/// A log file is put aside at this size (`hadoop.log.maxfilesize`), in bytes.
const LOG_FILE_BYTES_MAX: u64 = 256 << 20;
/// So many old log files are kept (`hadoop.log.maxbackupindex`).
const LOG_FILES_KEPT: u32 = 20;

/// What `--loglevel` said.
static LEVEL: OnceLock<String> = OnceLock::new();

/// Sets the level of `start`, over `HADOOP_LOGLEVEL`.
pub fn set_level(level: &str) {
    let _ = LEVEL.set(level.to_string());
}

/// Starts logging for a daemon: into `HADOOP_LOG_DIR/hadoop-USER-DAEMON-HOST.log` where that variable is set, else to stderr.
/// `--loglevel` or `HADOOP_LOGLEVEL` chooses the level; INFO is the default.
///
/// # Errors
/// The log file cannot be opened.
pub fn start(daemon: &str) -> io::Result<()> {
    let file = match std::env::var("HADOOP_LOG_DIR") {
        Ok(dir) if !dir.is_empty() => Some(LogFile::open(&Path::new(&dir).join(log_file_name(daemon)))?),
        _ => None,
    };
    let level = LEVEL.get().cloned().or_else(|| std::env::var("HADOOP_LOGLEVEL").ok()).unwrap_or_default();
    let level = level.to_ascii_lowercase();
    let level = match level.as_str() {
        "trace" | "debug" | "info" | "warn" | "error" | "off" => level.as_str(),
        "fatal" => "error",
        "all" => "trace",
        _ => "info",
    };
    // Hadoop's stock configuration sends the audit log nowhere; this variable is how it is turned on.
    let audit = std::env::var("HDFS_AUDIT_LOGGER").is_ok_and(|v| !v.is_empty() && !v.contains("NullAppender"));
    let audit = if audit { "info" } else { "off" };
    let filter = EnvFilter::new(format!("{level},FSNamesystem.audit={audit}"));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .event_format(HadoopLine)
        .with_writer(Output { file: file.map(Mutex::new) })
        .try_init();
    Ok(())
}

/// Starts logging for a command of a client: to stderr, INFO unless `--loglevel` or `HADOOP_LOGLEVEL` says otherwise. Without
/// the filter language of the daemons, which would cost a command more time than its work.
pub fn start_client() {
    use tracing::level_filters::LevelFilter;
    let level = LEVEL.get().cloned().or_else(|| std::env::var("HADOOP_LOGLEVEL").ok()).unwrap_or_default();
    let level = match level.to_ascii_lowercase().as_str() {
        "trace" | "all" => LevelFilter::TRACE,
        "debug" => LevelFilter::DEBUG,
        "warn" => LevelFilter::WARN,
        "error" | "fatal" => LevelFilter::ERROR,
        "off" => LevelFilter::OFF,
        _ => LevelFilter::INFO,
    };
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .event_format(HadoopLine)
        .with_writer(Output { file: None })
        .try_init();
}

/// `hadoop-USER-DAEMON-HOST.log`, as Hadoop's launcher names it.
fn log_file_name(daemon: &str) -> String {
    let user =
        std::env::var("HADOOP_IDENT_STRING").ok().filter(|u| !u.is_empty()).unwrap_or_else(surus_client::login_name);
    format!("hadoop-{user}-{daemon}-{}.log", host_name())
}

/// This machine's name, as the kernel has it.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

struct HadoopLine;

impl<S, N> FormatEvent<S, N> for HadoopLine
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &tracing::Event<'_>) -> fmt::Result {
        let t = local_time(now_ms());
        let level = event.metadata().level();
        write!(
            out,
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02},{:03} {level} ",
            t.year, t.month, t.day, t.hour, t.minute, t.second, t.millisecond
        )?;
        write_logger(&mut out, event.metadata().target())?;
        out.write_str(": ")?;
        let mut fields = Fields { out: &mut out, result: Ok(()) };
        event.record(&mut fields);
        fields.result?;
        out.write_char('\n')
    }
}

/// A module path as Hadoop's `%c{2}`: the last two parts, `surus_namenode::rpc::client` as `rpc.client`, `surus_namenode` as
/// `namenode`.
fn write_logger(out: &mut impl fmt::Write, target: &str) -> fmt::Result {
    let target = target.strip_prefix("surus_").unwrap_or(target);
    let separator = if target.contains("::") { "::" } else { "." };
    let mut last = target.rsplit(separator);
    match (last.next(), last.next()) {
        (Some(name), Some(before)) => write!(out, "{before}.{name}"),
        (name, _) => out.write_str(name.unwrap_or("")),
    }
}

/// The message, then the other fields as `name=value`.
struct Fields<'a, W> {
    out: &'a mut W,
    result: fmt::Result,
}

impl<W: fmt::Write> Visit for Fields<'_, W> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if self.result.is_ok() {
            self.result = match field.name() {
                "message" => write!(self.out, "{value:?}"),
                name => write!(self.out, " {name}={value:?}"),
            };
        }
    }
}

struct Output {
    file: Option<Mutex<LogFile>>,
}

impl<'a> MakeWriter<'a> for Output {
    type Writer = &'a Output;
    fn make_writer(&'a self) -> &'a Output {
        self
    }
}

impl Write for &Output {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match &self.file {
            None => io::stderr().write_all(line)?,
            Some(file) => file.lock().unwrap_or_else(|e| e.into_inner()).write(line)?,
        }
        Ok(line.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct LogFile {
    path: PathBuf,
    file: Box<dyn DiskFile>,
    len: u64,
    len_max: u64,
}

impl LogFile {
    fn open(path: &Path) -> io::Result<LogFile> {
        if let Some(dir) = path.parent() {
            RealDisk.create_dir_all(dir)?;
        }
        let file = RealDisk.open(path, OpenMode::OpenOrCreate)?;
        let len = file.len()?;
        Ok(LogFile { path: path.to_path_buf(), file, len, len_max: LOG_FILE_BYTES_MAX })
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.len > 0 && self.len + line.len() as u64 > self.len_max {
            self.rotate()?;
        }
        self.file.write_all_at(line, self.len)?;
        self.len += line.len() as u64;
        Ok(())
    }

    /// `x.log` becomes `x.log.1`, that one `x.log.2`, ...; the oldest is overwritten.
    fn rotate(&mut self) -> io::Result<()> {
        let numbered = |n: u32| PathBuf::from(format!("{}.{n}", self.path.display()));
        for n in (1..LOG_FILES_KEPT).rev() {
            if RealDisk.exists(&numbered(n))? {
                RealDisk.rename(&numbered(n), &numbered(n + 1))?;
            }
        }
        RealDisk.rename(&self.path, &numbered(1))?;
        self.file = RealDisk.open(&self.path, OpenMode::Create)?;
        self.len = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loggers_have_two_parts() {
        let show = |target: &str| {
            let mut out = String::new();
            write_logger(&mut out, target).unwrap();
            out
        };
        assert_eq!(show("surus_namenode"), "namenode");
        assert_eq!(show("surus_namenode::rpc::client"), "rpc.client");
        assert_eq!(show("org.apache.hadoop.hdfs.server.namenode.NameNode"), "namenode.NameNode");
    }

    #[test]
    fn a_full_file_is_put_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs").join("x.log");
        let mut log = LogFile::open(&path).unwrap();
        log.len_max = 10;
        for line in ["one 45678\n", "two\n", "three\n", "four\n"] {
            log.write(line.as_bytes()).unwrap();
        }
        let read = |name: &str| String::from_utf8(RealDisk.read(&path.with_file_name(name), 100).unwrap()).unwrap();
        assert_eq!(
            (read("x.log.2").as_str(), read("x.log.1").as_str(), read("x.log").as_str()),
            ("one 45678\n", "two\nthree\n", "four\n")
        );
        let mut log = LogFile::open(&path).unwrap();
        log.write(b"more\n").unwrap();
        assert_eq!(read("x.log"), "four\nmore\n");
    }
}
