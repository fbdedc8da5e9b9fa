//! Called as `hdfs` or `hadoop`: the launcher's options, its subcommands, and Hadoop's own launcher for words that Surus has not.
//! Source: `hadoop-functions.sh`, `hdfs`, `hadoop`, Hadoop 3.5.0.

mod daemon;
mod getconf;
mod groups;

pub use getconf::USAGE as GETCONF_USAGE;

use crate::{
    admin, cli, completion, conf_files, daemons, dfs, dfsadmin, exit, fsck, httpfs, logging, oev, oiv, output, version,
};
use anyhow::Result;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use surus_disk::{Disk, RealDisk};

/// What stands before the subcommand.
#[derive(Debug, Default, PartialEq, Eq)]
struct Launcher {
    config: Option<String>,
    daemon: Option<String>,
    loglevel: Option<String>,
    help: bool,
    rest: Vec<String>,
}

fn parse(arguments: &[String]) -> Result<Launcher, String> {
    let mut launcher = Launcher::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().cloned().ok_or_else(|| format!("ERROR: {word}: a value is missing"));
        match word.as_str() {
            "--config" => launcher.config = Some(value()?),
            "--daemon" => launcher.daemon = Some(value()?),
            "--loglevel" => launcher.loglevel = Some(value()?),
            "--help" | "-help" | "-h" | "help" | "h" | "?" => {
                launcher.help = true;
                return Ok(launcher);
            }
            // Accepted and without meaning here.
            "--debug" | "--buildpaths" => {}
            "--hostnames" | "--hosts" => {
                value()?;
            }
            _ => {
                launcher.rest.push(word.clone());
                launcher.rest.extend(words.cloned());
                break;
            }
        }
    }
    Ok(launcher)
}

/// Runs the launcher; `name` is `hdfs` or `hadoop`.
pub fn run(name: &str, arguments: &[String]) -> u8 {
    let launcher = match parse(arguments) {
        Ok(launcher) => launcher,
        Err(problem) => {
            eprintln!("{problem}");
            return exit::FAILED;
        }
    };
    let Some((word, rest)) = launcher.rest.split_first() else {
        output::print(&usage(name));
        return if launcher.help { exit::OK } else { exit::FAILED };
    };
    if let Some(level) = &launcher.loglevel {
        logging::set_level(level);
    }
    match subcommand(name, word, rest, &launcher) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{word}: {error:#}");
            exit::FAILED
        }
    }
}

fn subcommand(name: &str, word: &str, rest: &[String], launcher: &Launcher) -> Result<u8> {
    let config = launcher.config.as_deref();
    if let Some(action) = &launcher.daemon {
        if !daemon::is_ours(name, word) {
            return Ok(hand_over(name, word, launcher));
        }
        return daemon::run(action, word, rest, config, launcher.loglevel.as_deref());
    }
    match (name, word) {
        // Hadoop has no such word.
        (_, "completions") => {
            let script = rest.first().and_then(|shell| completion::script(shell, name));
            output::print(&script.ok_or_else(|| anyhow::anyhow!("there are scripts for bash, zsh and fish"))?);
            Ok(exit::OK)
        }
        ("hdfs", "dfs") | ("hadoop", "fs" | "dfs") => cli::client_command(config, rest, dfs::run),
        ("hdfs", "dfsadmin") => cli::client_command(config, rest, dfsadmin::run),
        ("hdfs", "fsck") => cli::client_command(config, rest, fsck::run),
        ("hdfs", "ec") => cli::client_command(config, rest, admin::ec::run),
        ("hdfs", "crypto") => cli::client_command(config, rest, admin::crypto::run),
        ("hdfs", "cacheadmin") => cli::client_command(config, rest, admin::cacheadmin::run),
        ("hdfs", "storagepolicies") => cli::client_command(config, rest, admin::storagepolicies::run),
        ("hdfs", "lsSnapshottableDir") => cli::client_command(config, rest, admin::snapshots::list_directories),
        ("hdfs", "lsSnapshot") => cli::client_command(config, rest, admin::snapshots::list_snapshots),
        ("hdfs", "snapshotDiff") => cli::client_command(config, rest, admin::snapshots::diff),
        ("hdfs", "oev") => cli::client_command(config, rest, oev::run),
        ("hdfs", "oiv") => cli::client_command(config, rest, oiv::run),
        ("hdfs", "groups") => cli::client_command(config, rest, groups::run),
        ("hdfs", "getconf") => cli::client_command(config, rest, getconf::run),
        ("hdfs", "namenode") => daemons::namenode(config, rest),
        ("hdfs", "datanode") => daemons::datanode(config, rest),
        ("hdfs", "httpfs") => httpfs::run(config, rest),
        (_, "version") => {
            output::print(&version::hadoop_form());
            Ok(exit::OK)
        }
        (_, "classpath") => {
            output::print(&format!("{}\n", conf_files::conf_dir(config).unwrap_or_default().display()));
            Ok(exit::OK)
        }
        (_, "envvars") => {
            output::print(&environment(config));
            Ok(exit::OK)
        }
        _ => Ok(hand_over(name, word, launcher)),
    }
}

/// The variables that `envvars` shows. Surus has no Java and no class path: they are shown where they are set.
fn environment(config: Option<&str>) -> String {
    let mut out = String::new();
    let conf_dir = conf_files::conf_dir(config).unwrap_or_default().display().to_string();
    for name in ["JAVA_HOME", "HADOOP_HDFS_HOME", "HADOOP_COMMON_HOME", "HADOOP_HOME"] {
        out.push_str(&format!("{name}='{}'\n", std::env::var(name).unwrap_or_default()));
    }
    out.push_str(&format!("HADOOP_CONF_DIR='{conf_dir}'\n"));
    for name in ["HADOOP_LOG_DIR", "HADOOP_PID_DIR", "HADOOP_IDENT_STRING"] {
        if let Ok(value) = std::env::var(name) {
            out.push_str(&format!("{name}='{value}'\n"));
        }
    }
    out
}

/// A word that Surus has not goes to Hadoop's own launcher where one is installed and is not Surus itself.
fn hand_over(name: &str, word: &str, launcher: &Launcher) -> u8 {
    let theirs =
        std::env::var("HADOOP_HOME").ok().filter(|h| !h.is_empty()).map(|h| Path::new(&h).join("bin").join(name));
    let Some(program) = theirs.filter(|program| is_other_program(program)) else {
        eprintln!(
            "{name} {word}: Surus has no such command, and HADOOP_HOME names no Hadoop whose bin/{name} could have it. {name} --help lists what there is."
        );
        return exit::FAILED;
    };
    let mut command = Command::new(&program);
    if let Some(config) = &launcher.config {
        command.args(["--config", config]);
    }
    if let Some(level) = &launcher.loglevel {
        command.args(["--loglevel", level]);
    }
    if let Some(action) = &launcher.daemon {
        command.args(["--daemon", action]);
    }
    crate::limits::allow_huge_pages(true);
    let error = command.args(&launcher.rest).exec();
    eprintln!("{}: {error}", program.display());
    exit::FAILED
}

fn is_other_program(program: &Path) -> bool {
    let resolved = |path: &Path| -> Option<PathBuf> { path.canonicalize().ok() };
    RealDisk.exists(program).unwrap_or(false)
        && resolved(program) != std::env::current_exe().ok().as_deref().and_then(resolved)
}

/// The subcommands of `hdfs` or `hadoop`, each with a sentence.
pub fn commands(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "hdfs" => &[
            ("dfs", "run a filesystem command on the file system"),
            ("dfsadmin", "run a DFS admin client"),
            ("fsck", "run a DFS filesystem checking utility"),
            ("ec", "run a HDFS ErasureCoding CLI"),
            ("cacheadmin", "configure the HDFS cache"),
            ("crypto", "configure HDFS encryption zones"),
            ("storagepolicies", "list/get/set/satisfyStoragePolicy block storage policies"),
            ("lsSnapshottableDir", "list all snapshottable dirs owned by the current user"),
            ("lsSnapshot", "list all snapshots for a snapshottable directory"),
            (
                "snapshotDiff",
                "diff two snapshots of a directory or diff the current directory contents with a snapshot",
            ),
            ("namenode", "run the DFS namenode"),
            ("datanode", "run a DFS datanode"),
            ("httpfs", "run HttpFS server, the HDFS HTTP Gateway"),
            ("oiv", "apply the offline fsimage viewer to an fsimage"),
            ("oev", "apply the offline edits viewer to an edits file"),
            ("getconf", "get config values from configuration"),
            ("groups", "get the groups which users belong to"),
            ("version", "print the version"),
            ("classpath", "prints the configuration directory"),
            ("envvars", "display computed Hadoop environment variables"),
        ],
        _ => &[
            ("fs", "run a generic filesystem user client"),
            ("version", "print the version"),
            ("classpath", "prints the configuration directory"),
            ("envvars", "display computed Hadoop environment variables"),
        ],
    }
}

fn usage(name: &str) -> String {
    let mut out = format!(
        "Usage: {name} [OPTIONS] SUBCOMMAND [SUBCOMMAND OPTIONS]\n\n  OPTIONS is none or any of:\n\n\
         --config dir                     Hadoop config directory\n\
         --daemon (start|status|stop)     operate on a daemon\n\
         --loglevel level                 set the log level for this command\n\n  SUBCOMMAND is one of:\n\n"
    );
    for (command, text) in commands(name) {
        out.push_str(&format!("{command:<13} {text}\n"));
    }
    out.push_str("\nOther words go to HADOOP_HOME/bin where that is set.\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    #[test]
    fn options_stand_before_the_subcommand() {
        let launcher = parse(&words("--config /c --loglevel DEBUG --daemon start namenode --config x")).unwrap();
        assert_eq!(
            (launcher.config.as_deref(), launcher.daemon.as_deref(), launcher.loglevel.as_deref()),
            (Some("/c"), Some("start"), Some("DEBUG"))
        );
        assert_eq!(launcher.rest, words("namenode --config x"));
        assert!(parse(&words("--config")).is_err());
    }
}
