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
    let mut conf = load_with(config, POLICY_FILE)?;
    take_generic_options(&mut conf, arguments)?;
    Ok(conf)
}

/// The site files, and one more of the same directory where it is there.
///
/// # Errors
/// As `load`.
pub fn load_with(config: Option<&str>, site_file: &str) -> Result<Configuration> {
    let mut conf = load(config)?;
    if let Some(dir) = conf_dir(config) {
        add_file(&mut conf, &dir.join(site_file), true)?;
    }
    Ok(conf)
}

fn add_file(conf: &mut Configuration, path: &Path, may_be_absent: bool) -> Result<()> {
    let text = match read(path) {
        Ok(Some(text)) => text,
        Ok(None) if may_be_absent => return Ok(()),
        Ok(None) => bail!("cannot read {}: there is no such file", path.display()),
        Err(problem) => bail!("cannot read {}: {problem}", path.display()),
    };
    Ok(conf.add_text_with(&path.display().to_string(), &text, &|from, href| find_included(path, from, href))?)
}

/// The text of a file; `None` where there is none.
fn read(path: &Path) -> Result<Option<String>, String> {
    match RealDisk.read(path, SITE_FILE_BYTES_MAX) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_string()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.to_string()),
    }
}

/// A file that `from` includes, which `site` includes, directly or not. A relative name is looked for beside `site`, where
/// Hadoop has its class path, then beside `from`. Source: `Configuration.java` (`handleInclude`), Hadoop 3.5.0.
fn find_included(site: &Path, from: &str, href: &str) -> Result<Option<(String, String)>, String> {
    let name = match href.split_once(':') {
        Some(("file", rest)) => rest.strip_prefix("//").unwrap_or(rest),
        Some((scheme, _)) if scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            return Err(format!("only files can be included, nothing by {scheme}"));
        }
        _ => href,
    };
    for base in [site, Path::new(from)] {
        let path = base.parent().unwrap_or(Path::new("")).join(name);
        if let Some(text) = read(&path).map_err(|problem| format!("{}: {problem}", path.display()))? {
            return Ok(Some((path.display().to_string(), text)));
        }
    }
    Ok(None)
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
    fn included_files_are_looked_for_beside_the_one_that_includes_them() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let write = |name: &str, body: &str| {
            std::fs::write(at(name), format!("<configuration>{body}</configuration>")).unwrap();
        };
        std::fs::create_dir(at("sub")).unwrap();
        let absolute = at("top.xml").display().to_string();
        write("core-site.xml", &format!("<include href='sub/a.xml'/><include href='file://{absolute}'/>"));
        write("sub/a.xml", "<property name='a' value='1'/><include href='b.xml'/><include href='top.xml'/>");
        write("sub/b.xml", "<property name='b' value='2'/>");
        write("top.xml", "<property name='fs.defaultFS' value='hdfs://included'/>");
        let mut conf = Configuration::new();
        add_file(&mut conf, &at("core-site.xml"), false).unwrap();
        assert_eq!(conf.get(keys::FS_DEFAULT_FS).unwrap(), "hdfs://included");
        assert_eq!(conf.text("b").unwrap().as_deref(), Some("2"));
        write("core-site.xml", "<include href='http://h/x.xml'/>");
        let text = add_file(&mut conf, &at("core-site.xml"), false).unwrap_err().to_string();
        assert!(text.ends_with("xi:include of http://h/x.xml: only files can be included, nothing by http"), "{text}");
        assert!(add_file(&mut conf, &at("none.xml"), false).unwrap_err().to_string().contains("there is no such file"));
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
