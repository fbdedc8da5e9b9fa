//! Which site files count, and the options that override them.

use anyhow::{Context, Result, bail};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use surus_conf::{Configuration, SITE_FILES, keys};
use surus_disk::{Disk, RealDisk};

/// Largest site file that is read, in bytes.
pub const SITE_FILE_BYTES_MAX: u64 = 16 << 20;
/// Where Surus keeps a file system of its own when nothing else is said, below the home directory.
const DEFAULT_DIR: &str = ".surus";
/// The file system that a client uses when no site file names one: that of `surus start`.
const DEFAULT_FILE_SYSTEM: &str = "hdfs://127.0.0.1:8020";

/// The configuration directory: `--config`, else `HADOOP_CONF_DIR`, else `HADOOP_HOME/etc/hadoop`, else what `surus start` wrote.
pub fn conf_dir(config: Option<&str>) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty()).map(PathBuf::from);
    config
        .map(PathBuf::from)
        .or_else(|| variable("HADOOP_CONF_DIR"))
        .or_else(|| variable("HADOOP_HOME").map(|home| home.join("etc/hadoop")).filter(|dir| exists(dir)))
        .or_else(|| surus_dir().map(|dir| dir.join("conf")).filter(|dir| exists(dir)))
}

/// The directory of `surus start`: `SURUS_DIR`, else `~/.surus`.
pub fn surus_dir() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty()).map(PathBuf::from);
    variable("SURUS_DIR").or_else(|| variable("HOME").map(|home| home.join(DEFAULT_DIR)))
}

fn exists(path: &Path) -> bool {
    RealDisk.exists(path).unwrap_or(false)
}

/// An empty configuration that knows the user.
pub fn empty() -> Configuration {
    let mut conf = Configuration::new();
    conf.set_property("user.name", surus_client::login_name());
    if let Ok(home) = std::env::var("HOME") {
        conf.set_property("user.home", home);
    }
    conf
}

/// Reads the site files of a directory; absent files are skipped.
///
/// # Errors
/// The directory named by `--config` or `HADOOP_CONF_DIR` does not exist, a file cannot be read or does not parse.
pub fn load(config: Option<&str>) -> Result<Configuration> {
    let mut conf = empty();
    let Some(dir) = conf_dir(config) else { return Ok(conf) };
    if !exists(&dir) {
        bail!("the configuration directory {} does not exist", dir.display());
    }
    for name in SITE_FILES {
        add_file(&mut conf, &dir.join(name), true)?;
    }
    for warning in conf.warnings() {
        eprintln!("surus: {warning}");
    }
    Ok(conf)
}

/// What Hadoop's daemons read besides: who may use which protocol.
const POLICY_FILE: &str = "hadoop-policy.xml";

/// The configuration of a daemon, read anew with the options it was started with: what a NameNode that is told to refresh
/// or reconfigure reads.
///
/// # Errors
/// As `load`.
pub fn load_daemon(config: Option<&str>, arguments: &[String]) -> Result<Configuration> {
    let mut conf = load(config)?;
    take_generic_options(&mut conf, arguments)?;
    if let Some(dir) = conf_dir(config) {
        add_file(&mut conf, &dir.join(POLICY_FILE), true)?;
    }
    Ok(conf)
}

fn add_file(conf: &mut Configuration, path: &Path, may_be_absent: bool) -> Result<()> {
    let bytes = match RealDisk.read(path, SITE_FILE_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound && may_be_absent => return Ok(()),
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
    };
    let text = String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", path.display()))?;
    Ok(conf.add_text(&path.display().to_string(), &text)?)
}

/// Takes Hadoop's generic options off the front of `arguments` and lays them over `conf`: `-D k=v`, `-Dk=v`, `-conf FILE`,
/// `-fs URI`. Those that mean nothing here (`-jt`, `-files`, `-libjars`, `-archives`, `-tokenCacheFile`) are skipped with their value.
///
/// # Errors
/// An option without its value, a file that cannot be read.
pub fn take_generic_options(conf: &mut Configuration, arguments: &[String]) -> Result<Vec<String>> {
    let mut rest = arguments;
    while let Some((option, after)) = rest.split_first() {
        let value = || after.first().with_context(|| format!("{option} needs a value"));
        match option.as_str() {
            "-D" => conf.set_override(value()?)?,
            "-conf" => add_file(conf, Path::new(value()?), false)?,
            "-fs" => conf.set_from(keys::FS_DEFAULT_FS.name(), value()?, "-fs"),
            "-jt" | "-files" | "-libjars" | "-archives" | "-tokenCacheFile" => {
                value()?;
            }
            joined if joined.len() > 2 && joined.starts_with("-D") && joined.contains('=') => {
                conf.set_override(&joined[2..])?;
                rest = after;
                continue;
            }
            _ => break,
        }
        rest = &after[1..];
    }
    Ok(rest.to_vec())
}

/// For a client: where no site file names a file system, the one that `surus start` serves is meant.
pub fn prefer_local_file_system(conf: &mut Configuration) {
    conf.set_if_unset(keys::FS_DEFAULT_FS.name(), DEFAULT_FILE_SYSTEM, "Surus, for want of a core-site.xml");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| w.to_string()).collect()
    }

    #[test]
    fn generic_options_come_first() {
        let mut conf = Configuration::new();
        let arguments = strings(&["-D", "a=b", "-Dc=d=e", "-jt", "x", "-fs", "hdfs://h:1", "-ls", "-D", "/"]);
        assert_eq!(take_generic_options(&mut conf, &arguments).unwrap(), strings(&["-ls", "-D", "/"]));
        assert_eq!(conf.text("a").unwrap().as_deref(), Some("b"));
        assert_eq!(conf.text("c").unwrap().as_deref(), Some("d=e"));
        assert_eq!(conf.get(keys::FS_DEFAULT_FS).unwrap(), "hdfs://h:1");
        assert!(take_generic_options(&mut conf, &strings(&["-D"])).is_err());
    }
}
