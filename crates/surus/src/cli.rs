//! `surus COMMAND`: what there is, and where it goes.

use crate::{
    admin, bench, completion, conf_files, daemons, dfs, dfsadmin, exit, fsck, httpfs, logging, oev, oiv, output, start,
    version,
};
use anyhow::Result;
use clap::{Args, CommandFactory, Parser, Subcommand};
use surus_conf::keys;

/// HDFS in one binary: NameNode, DataNode, WebHDFS and command line, for unmodified Hadoop clients.
#[derive(Parser)]
#[command(name = "surus", version, propagate_version = false, max_term_width = 110)]
#[command(after_help = "Without a command: surus start.\nEvery configuration key: surus keys.")]
struct Cli {
    /// Directory of core-site.xml and hdfs-site.xml [default: HADOOP_CONF_DIR, then HADOOP_HOME/etc/hadoop, then ~/.surus/conf]
    #[arg(long, global = true, value_name = "DIR")]
    config: Option<String>,
    /// How much is logged: trace, debug, info, warn, error, off
    #[arg(long, global = true, value_name = "LEVEL")]
    loglevel: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Start a whole file system: NameNode, DataNode and WebHDFS in one process and one directory
    ///
    /// The first start formats the directory, which must be empty or absent, and makes /tmp and /user/LOGIN. Site files are read
    /// only with --config: those of HADOOP_CONF_DIR may be about another cluster. DIR/conf holds site files for clients.
    Start(start::StartArgs),
    /// Run a NameNode, or format its directories
    #[command(disable_help_flag = true)]
    Namenode(Rest),
    /// Run a DataNode
    #[command(disable_help_flag = true)]
    Datanode(Rest),
    /// Run an HttpFS gateway: WebHDFS on one port, without redirects to DataNodes
    #[command(disable_help_flag = true)]
    Httpfs(Rest),
    /// The file system shell: -ls, -put, -cat, -rm, ... (surus dfs -help)
    #[command(visible_alias = "fs", disable_help_flag = true)]
    Dfs(Rest),
    /// The administrator's commands: -report, -safemode, ...
    #[command(disable_help_flag = true)]
    Dfsadmin(Rest),
    /// Checks the files of the file system, as `hdfs fsck` does
    #[command(disable_help_flag = true)]
    Fsck(Rest),
    /// Erasure coding policies: -listPolicies, -setPolicy, ...
    #[command(disable_help_flag = true)]
    Ec(Rest),
    /// Encryption zones: -createZone, -listZones, ...
    #[command(disable_help_flag = true)]
    Crypto(Rest),
    /// Cache pools and directives: -addPool, -addDirective, ...
    #[command(disable_help_flag = true)]
    Cacheadmin(Rest),
    /// Storage policies: -listPolicies, -setStoragePolicy, ...
    #[command(disable_help_flag = true)]
    Storagepolicies(Rest),
    /// Directories that may have snapshots
    #[command(name = "lsSnapshottableDir", disable_help_flag = true)]
    LsSnapshottableDir(Rest),
    /// Snapshots of a directory
    #[command(name = "lsSnapshot", disable_help_flag = true)]
    LsSnapshot(Rest),
    /// What changed between two snapshots, or since one
    #[command(name = "snapshotDiff", disable_help_flag = true)]
    SnapshotDiff(Rest),
    /// The edits viewer: edits to XML and back, statistics
    #[command(disable_help_flag = true)]
    Oev(Rest),
    /// The image viewer: an fsimage as XML and back, as text, or over WebHDFS
    #[command(disable_help_flag = true)]
    Oiv(Rest),
    /// Measure
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Print every configuration key with type, default and meaning
    Keys,
    /// Print the version
    Version,
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

/// Everything behind the command's name, in Hadoop's way of writing options.
#[derive(Args)]
struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
}

/// Runs `surus` with its arguments (without the program's name).
pub fn run(called_as: &str, arguments: &[String]) -> u8 {
    if arguments.iter().map(String::as_str).eq(["help", "keys"]) {
        return print_keys();
    }
    let words = std::iter::once(called_as.to_string()).chain(arguments.iter().cloned());
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { exit::FAILED } else { exit::OK };
        }
    };
    match dispatch(cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("surus: {error:#}");
            exit::FAILED
        }
    }
}

fn dispatch(cli: Cli) -> Result<u8> {
    if let Some(level) = &cli.loglevel {
        logging::set_level(level);
    }
    let config = cli.config.as_deref();
    match cli.command.unwrap_or_else(|| Command::Start(start::StartArgs::default())) {
        Command::Start(arguments) => start::run(config, &arguments),
        Command::Namenode(rest) => daemons::namenode(config, &rest.arguments),
        Command::Datanode(rest) => daemons::datanode(config, &rest.arguments),
        Command::Httpfs(rest) => httpfs::run(config, &rest.arguments),
        Command::Dfs(rest) => client_command(config, &rest.arguments, dfs::run),
        Command::Dfsadmin(rest) => client_command(config, &rest.arguments, dfsadmin::run),
        Command::Fsck(rest) => client_command(config, &rest.arguments, fsck::run),
        Command::Crypto(rest) => client_command(config, &rest.arguments, admin::crypto::run),
        Command::Ec(rest) => client_command(config, &rest.arguments, admin::ec::run),
        Command::Cacheadmin(rest) => client_command(config, &rest.arguments, admin::cacheadmin::run),
        Command::Storagepolicies(rest) => client_command(config, &rest.arguments, admin::storagepolicies::run),
        Command::LsSnapshottableDir(rest) => {
            client_command(config, &rest.arguments, admin::snapshots::list_directories)
        }
        Command::LsSnapshot(rest) => client_command(config, &rest.arguments, admin::snapshots::list_snapshots),
        Command::SnapshotDiff(rest) => client_command(config, &rest.arguments, admin::snapshots::diff),
        Command::Oev(rest) => client_command(config, &rest.arguments, oev::run),
        Command::Oiv(rest) => client_command(config, &rest.arguments, oiv::run),
        Command::Bench(bench) => bench::run(config, &bench),
        Command::Keys => Ok(print_keys()),
        Command::Version => {
            output::print(&format!("{}\n", version::short()));
            Ok(exit::OK)
        }
        Command::Completions { shell } => {
            if let Some(script) = completion::script(&shell.to_string(), "surus") {
                output::print(&script);
                return Ok(exit::OK);
            }
            clap_complete::generate(shell, &mut Cli::command(), "surus", &mut std::io::stdout());
            Ok(exit::OK)
        }
    }
}

/// The words that can stand first.
pub fn command_names() -> Vec<String> {
    let names = |command: &clap::Command| {
        std::iter::once(command.get_name()).chain(command.get_visible_aliases()).map(str::to_string).collect::<Vec<_>>()
    };
    Cli::command().get_subcommands().flat_map(names).collect()
}

/// What can stand behind a command that takes options in the way of this parser: sub-commands, options, values.
pub fn words_of(command: &str, arguments: &[String]) -> Vec<String> {
    let mut cli = Cli::command();
    cli.build();
    let Some(mut at) = cli.find_subcommand(command) else { return Vec::new() };
    for word in arguments {
        at = at.find_subcommand(word).unwrap_or(at);
    }
    let mut words: Vec<String> = at.get_subcommands().map(|command| command.get_name().to_string()).collect();
    for argument in at.get_arguments() {
        words.extend(argument.get_long().map(|name| format!("--{name}")));
        if argument.is_positional() {
            words.extend(argument.get_possible_values().iter().map(|value| value.get_name().to_string()));
        }
    }
    words
}

fn print_keys() -> u8 {
    output::print(&keys::manual());
    exit::OK
}

/// A command that speaks to a file system: configuration, generic options, then the command itself.
pub fn client_command(
    config: Option<&str>,
    arguments: &[String],
    command: fn(&surus_conf::Configuration, &[String]) -> i32,
) -> Result<u8> {
    let mut conf = conf_files::load(config)?;
    conf_files::prefer_local_file_system(&mut conf);
    let rest = conf_files::take_generic_options(&mut conf, arguments)?;
    // The shell sees the low byte of Java's exit code: -1 is 255.
    Ok((command(&conf, &rest) & 0xff) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn hadoop_options_reach_the_command() {
        let cli = Cli::try_parse_from(["surus", "--config", "/c", "dfs", "-ls", "-h", "--help", "/"]).unwrap();
        let Some(Command::Dfs(rest)) = cli.command else { panic!() };
        assert_eq!(rest.arguments, ["-ls", "-h", "--help", "/"]);
        assert_eq!(cli.config.as_deref(), Some("/c"));
    }
}
