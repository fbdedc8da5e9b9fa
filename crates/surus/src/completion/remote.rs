//! Paths of the file system for a command line that is being typed: one page of one directory, quickly or not at all.

use crate::conf_files;
use crate::dfs::{Fs, PathData, Shell, list_after};
use surus_conf::Configuration;

/// A file system that does not answer must not hold up the one who types. Milliseconds.
const QUICKLY: &[(&str, &str)] = &[
    ("ipc.client.connect.timeout", "1000"),
    ("ipc.client.connect.max.retries", "0"),
    ("ipc.client.connect.max.retries.on.timeouts", "0"),
    ("ipc.client.rpc-timeout.ms", "2000"),
    ("dfs.client.failover.max.attempts", "2"),
    ("dfs.client.failover.sleep.base.millis", "50"),
    ("dfs.client.retry.policy.enabled", "false"),
];

/// What begins with `current`; nothing where the file system cannot be asked. `options`: generic options of the command line.
pub fn list(config: Option<&str>, options: &[String], current: &str) -> Vec<String> {
    let Ok(mut conf) = conf_files::load(config) else { return Vec::new() };
    conf_files::prefer_local_file_system(&mut conf);
    if conf_files::take_generic_options(&mut conf, options).is_err() {
        return Vec::new();
    }
    for (key, value) in QUICKLY {
        conf.set(key, *value);
    }
    found(&conf, current).unwrap_or_default()
}

fn found(conf: &Configuration, current: &str) -> Option<Vec<String>> {
    let (directory, begin) = match current.rsplit_once('/') {
        Some((directory, begin)) => (format!("{directory}/"), begin),
        None => (".".to_string(), current),
    };
    // The name of a host is not finished.
    if directory.ends_with("://") || current.contains(['*', '?', '[', '{']) {
        return None;
    }
    let mut shell = Shell::new(conf, "completion");
    let fs = shell.fs_of(&directory).ok()?;
    if matches!(fs, Fs::Local) {
        return None;
    }
    let children = list_after(&PathData::new(&fs, &directory, None), begin).ok()?;
    let text = |child: PathData| if child.is_dir() { format!("{}/", child.text) } else { child.text };
    Some(children.into_iter().map(text).filter(|text| text.starts_with(current)).collect())
}
