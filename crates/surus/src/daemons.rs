//! `surus namenode` and `surus datanode`: Hadoop's options, run until a signal.

use crate::signals::Signals;
use crate::{conf_files, exit, limits, logging, output};
use anyhow::{Result, bail};
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use surus_conf::{Configuration, keys};
use surus_datanode::DataNode;
use surus_disk::{Disk, RealDisk};
use surus_namenode::{ConfigSource, NameNode, NameNodeOptions, RecoveryChoice, RecoveryQuestion, StartOption};

pub const NAMENODE_USAGE: &str = "Usage: surus namenode [-format [-clusterid CID] [-force] [-nonInteractive]]
       surus namenode [-regular] | [-genclusterid] | [-recover [-force]] | [-metadataVersion] | [-importCheckpoint]
       surus namenode [-upgrade | -upgradeOnly [-clusterid CID] [-renameReserved PAIRS]] | [-rollback]
       surus namenode [-rollingUpgrade rollback|started]
Generic options: -D key=value, -conf FILE, -fs URI. The configuration is that of HADOOP_CONF_DIR or --config.";
pub const DATANODE_USAGE: &str = "Usage: surus datanode [-regular | -rollback | -rollingupgrade rollback]
Generic options: -D key=value, -conf FILE, -fs URI. The configuration is that of HADOOP_CONF_DIR or --config.";

/// What `surus namenode` is asked to do.
#[derive(Debug, PartialEq, Eq)]
enum NameNodeCommand {
    Run(StartOption),
    /// Upgrade the name directories and end.
    UpgradeOnly,
    /// Back to before the last upgrade, and end.
    Rollback,
    MetadataVersion,
    Format {
        cluster_id: Option<String>,
        force: bool,
        interactive: bool,
    },
    GenerateClusterId,
    /// Pass over what keeps the edits from loading, asking about each unless forced.
    Recover {
        force: bool,
    },
    Help,
}

/// A command line that is refused.
#[derive(Debug, PartialEq, Eq)]
struct Refused {
    text: String,
    exit_code: u8,
}

impl Refused {
    /// Hadoop shows its usage and ends with 0.
    fn as_hadoop(text: impl Into<String>) -> Refused {
        Refused { text: text.into(), exit_code: exit::OK }
    }
    /// What Hadoop would do, and Surus does not.
    fn not_here(text: String) -> Refused {
        Refused { text, exit_code: exit::FAILED }
    }
}

/// Hadoop's start options, in any case. Source: `NameNode.java` (`parseArguments`), Hadoop 3.5.0.
fn parse_namenode(arguments: &[String]) -> Result<NameNodeCommand, Refused> {
    let lower = |word: &String| word.to_ascii_lowercase();
    let Some((first, rest)) = arguments.split_first() else { return Ok(NameNodeCommand::Run(StartOption::Regular)) };
    match lower(first).as_str() {
        "-regular" => Ok(NameNodeCommand::Run(StartOption::Regular)),
        "-genclusterid" => Ok(NameNodeCommand::GenerateClusterId),
        "-help" | "--help" | "-h" => Ok(NameNodeCommand::Help),
        "-format" => {
            let (mut cluster_id, mut force, mut interactive) = (None, false, true);
            let mut words = rest.iter();
            while let Some(word) = words.next() {
                match lower(word).as_str() {
                    "-force" => force = true,
                    "-noninteractive" => interactive = false,
                    "-clusterid" => match words.next() {
                        Some(id) if !id.is_empty() && !id.starts_with('-') => cluster_id = Some(id.clone()),
                        _ => {
                            return Err(Refused::as_hadoop(
                                "Must specify a valid cluster ID after the -clusterid flag",
                            ));
                        }
                    },
                    // Hadoop ignores it and formats; a mistyped -nonInteractive must not.
                    _ => return Err(Refused::not_here(format!("namenode -format: unknown option {word}"))),
                }
            }
            Ok(NameNodeCommand::Format { cluster_id, force, interactive })
        }
        "-recover" => match rest.iter().map(lower).collect::<Vec<_>>().as_slice() {
            [] => Ok(NameNodeCommand::Recover { force: false }),
            [word] if word == "-force" => Ok(NameNodeCommand::Recover { force: true }),
            _ => Err(Refused::not_here("namenode -recover: only -force may follow".to_owned())),
        },
        "-importcheckpoint" => Ok(NameNodeCommand::Run(StartOption::ImportCheckpoint)),
        "-metadataversion" => Ok(NameNodeCommand::MetadataVersion),
        "-rollback" => Ok(NameNodeCommand::Rollback),
        "-upgrade" => parse_upgrade(rest).map(|()| NameNodeCommand::Run(StartOption::Upgrade)),
        "-upgradeonly" => parse_upgrade(rest).map(|()| NameNodeCommand::UpgradeOnly),
        "-rollingupgrade" => match rest.iter().map(lower).collect::<Vec<_>>().as_slice() {
            [word] if word == "started" => Ok(NameNodeCommand::Run(StartOption::RollingUpgradeStarted)),
            [word] if word == "rollback" => Ok(NameNodeCommand::Run(StartOption::RollingUpgradeRollback)),
            _ => Err(Refused::as_hadoop("Must specify a rolling upgrade startup option ROLLBACK, STARTED")),
        },
        known @ ("-initializesharededits" | "-bootstrapstandby" | "-observer" | "-backup" | "-checkpoint") => {
            Err(Refused::not_here(format!("namenode {known}: Surus has this not yet")))
        }
        _ => Err(Refused::as_hadoop(format!("namenode: unknown option {first}"))),
    }
}

/// The cluster id matters for directories from before federation only, and no layout that is read can hold a reserved name:
/// both are accepted.
fn parse_upgrade(words: &[String]) -> Result<(), Refused> {
    let mut words = words.iter().map(|word| word.to_ascii_lowercase()).peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-clusterid" if words.next().is_some_and(|id| !id.is_empty() && !id.starts_with('-')) => {}
            "-clusterid" => {
                return Err(Refused::as_hadoop("Must specify a valid cluster ID after the -clusterid flag"));
            }
            "-renamereserved" => drop(words.next_if(|pairs| !pairs.starts_with('-'))),
            _ => return Err(Refused::not_here(format!("namenode -upgrade: unknown option {word}"))),
        }
    }
    Ok(())
}

/// Source: `NameNode.doRollback`, Hadoop 3.5.0.
fn rollback(conf: &Configuration) -> Result<u8> {
    eprintln!(
        "\"rollBack\" will remove the current state of the file system,\nreturning you to the state prior to initiating \
         your recent\nupgrade. This action is permanent and cannot be undone."
    );
    if ask("Roll back file system state? (Y or N) ", &["y", "n"]) != Some("y") {
        eprintln!("Rollback aborted.");
        return Ok(exit::FAILED);
    }
    let info = surus_namenode::rollback(conf)?;
    tracing::info!(target: "namenode.NameNode", "Rollback is complete: layout version {}", info.layout_version);
    Ok(exit::OK)
}

/// `surus namenode ARGUMENTS`.
///
/// # Errors
/// What keeps it from starting or formatting.
pub fn namenode(config: Option<&str>, arguments: &[String]) -> Result<u8> {
    limits::allow_huge_pages(true);
    let mut conf = conf_files::load_daemon(config, &[])?;
    let rest = conf_files::take_generic_options(&mut conf, arguments)?;
    match parse_namenode(&rest) {
        Err(problem) => {
            eprintln!("surus: {}\n{NAMENODE_USAGE}", problem.text);
            Ok(problem.exit_code)
        }
        Ok(NameNodeCommand::Help) => {
            output::print(&format!("{NAMENODE_USAGE}\n"));
            Ok(exit::OK)
        }
        Ok(NameNodeCommand::GenerateClusterId) => {
            output::print(&format!("Generating new cluster id:\n{}\n", new_cluster_id()));
            Ok(exit::OK)
        }
        Ok(NameNodeCommand::Format { cluster_id, force, interactive }) => {
            logging::start("namenode")?;
            format(&conf, cluster_id, force, interactive)
        }
        Ok(NameNodeCommand::Recover { force }) => {
            logging::start("namenode")?;
            recover(&conf, force)
        }
        Ok(NameNodeCommand::Rollback) => {
            logging::start("namenode")?;
            rollback(&conf)
        }
        Ok(NameNodeCommand::MetadataVersion) => {
            let image = surus_namenode::metadata_version(&conf)?;
            let software = surus_journal::LAYOUT_VERSION;
            output::print(&format!("HDFS Image Version: {image}\nSoftware format version: {software}\n"));
            Ok(exit::OK)
        }
        Ok(NameNodeCommand::UpgradeOnly) => {
            prepare("namenode", &conf)?;
            let start = StartOption::Upgrade;
            let user = surus_client::login_name();
            NameNode::start(&conf, NameNodeOptions { user, start, ..NameNodeOptions::default() })?.stop();
            Ok(exit::OK)
        }
        Ok(NameNodeCommand::Run(start)) => {
            prepare("namenode", &conf)?;
            let mut signals = Signals::catch()?;
            let (dir, given) = (config.map(str::to_owned), arguments.to_vec());
            let read = move || conf_files::load_daemon(dir.as_deref(), &given).map_err(|error| format!("{error:#}"));
            let config_source = Some(ConfigSource::new(read));
            let options =
                NameNodeOptions { own_datanode: false, user: surus_client::login_name(), config_source, start };
            let namenode = NameNode::start(&conf, options)?;
            tracing::info!(target: "namenode.NameNode", "NameNode RPC up at: {}", namenode.rpc_address());
            let signal = signals.wait();
            tracing::error!(target: "namenode.NameNode", "{}", signal.log_line());
            namenode.stop();
            tracing::info!(target: "namenode.NameNode", "SHUTDOWN_MSG: Shutting down NameNode");
            Ok(signal.exit_code())
        }
    }
}

/// `surus datanode ARGUMENTS`.
///
/// # Errors
/// What keeps it from starting.
pub fn datanode(config: Option<&str>, arguments: &[String]) -> Result<u8> {
    let mut conf = conf_files::load_daemon(config, &[])?;
    let rest = conf_files::take_generic_options(&mut conf, arguments)?;
    let mut roll_back = false;
    match rest.first().map(|word| word.to_ascii_lowercase()).as_deref() {
        None | Some("-regular") => {}
        Some("-rollback") => roll_back = true,
        Some("-rollingupgrade") if rest.get(1).is_some_and(|word| word.eq_ignore_ascii_case("rollback")) => {
            roll_back = true;
        }
        Some("-help" | "--help" | "-h") => {
            output::print(&format!("{DATANODE_USAGE}\n"));
            return Ok(exit::OK);
        }
        Some(other) => {
            eprintln!("surus: datanode: unknown option {other}\n{DATANODE_USAGE}");
            return Ok(exit::FAILED);
        }
    }
    prepare("datanode", &conf)?;
    let mut signals = Signals::catch()?;
    let datanode = Arc::new(if roll_back { DataNode::roll_back(&conf)? } else { DataNode::start(&conf)? });
    tracing::info!(target: "datanode.DataNode", "Opened streaming server at {}", datanode.xfer_address());
    // Seen on 3.5.0: a DataNode of another cluster, or one told to shut down, ends with status 0.
    watch(&datanode, || std::process::exit(i32::from(exit::OK)))?;
    let signal = signals.wait();
    tracing::error!(target: "datanode.DataNode", "{}", signal.log_line());
    datanode.stop();
    tracing::info!(target: "datanode.DataNode", "SHUTDOWN_MSG: Shutting down DataNode");
    Ok(signal.exit_code())
}

/// Stops a DataNode that cannot go on (wrong cluster, too many failed volumes, told to shut down), says why, and calls `then`.
///
/// # Errors
/// No thread is to be had.
pub fn watch(datanode: &Arc<DataNode>, then: fn()) -> Result<()> {
    let watched = Arc::clone(datanode);
    std::thread::Builder::new().name("end of DataNode".into()).spawn(move || {
        let why = watched.wait_end();
        tracing::error!(target: "datanode.DataNode", "Exiting Datanode: {why}");
        watched.stop();
        then();
    })?;
    Ok(())
}

/// What every daemon does first: log, check the configuration, raise limits.
///
/// # Errors
/// Values that are not allowed; the log file cannot be opened.
pub fn prepare(daemon: &str, conf: &Configuration) -> Result<()> {
    logging::start(daemon)?;
    if let Err(errors) = conf.check() {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        bail!("{}", texts.join("\n"));
    }
    refuse_missing_security(conf)?;
    if let Some(sentence) = limits::raise_open_files() {
        tracing::warn!("{sentence}");
    }
    Ok(())
}

/// A daemon that ignored a wish for protection would give less than its owner believes.
fn refuse_missing_security(conf: &Configuration) -> Result<()> {
    const WISHES: [(&str, &[&str]); 7] = [
        ("hadoop.security.authentication", &["simple"]),
        ("hadoop.rpc.protection", &["authentication"]),
        ("dfs.http.policy", &["HTTP_ONLY"]),
        ("dfs.block.access.token.enable", &["false"]),
        ("dfs.encrypt.data.transfer", &["false"]),
        ("dfs.data.transfer.protection", &[]),
        (
            "hadoop.security.group.mapping",
            &[
                "org.apache.hadoop.security.JniBasedUnixGroupsMappingWithFallback",
                "org.apache.hadoop.security.JniBasedUnixGroupsMapping",
                "org.apache.hadoop.security.ShellBasedUnixGroupsMapping",
            ],
        ),
    ];
    for (key, harmless) in WISHES {
        let value = conf.text(key)?.unwrap_or_default();
        let value = value.trim();
        if !value.is_empty() && !harmless.iter().any(|h| h.eq_ignore_ascii_case(value)) {
            bail!(
                "{key} = {value} (from {}): Surus has this protection not yet, and does not start without it",
                conf.source(key)
            );
        }
    }
    Ok(())
}

/// Puts a question on a terminal until the answer is one of `choices`; the end of the input is `None`.
fn ask<'c>(question: &str, choices: &[&'c str]) -> Option<&'c str> {
    loop {
        eprint!("{question}");
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        let known = choices.iter().find(|choice| line.trim().eq_ignore_ascii_case(choice));
        if known.is_some() {
            return known.copied();
        }
        eprintln!("I'm sorry, I cannot understand your response.");
    }
}

/// Hadoop's recovery mode. `force`: always the first choice, and no question whether to begin.
/// Source: `NameNode.doRecovery`, `MetaRecoveryContext.java`, Hadoop 3.5.0.
fn recover(conf: &Configuration, force: bool) -> Result<u8> {
    let begin = "You have selected Metadata Recovery mode.  This mode is intended to recover lost metadata on a corrupt \
                 filesystem.  Metadata recovery mode often permanently deletes data from your HDFS filesystem.  Please back up \
                 your edit log and fsimage before trying this!\n\nAre you ready to proceed? (Y/N)\n (Y or N) ";
    if !force && ask(begin, &["y", "n"]) != Some("y") {
        eprintln!("Recovery aborted at user request.\n");
        return Ok(exit::FAILED);
    }
    let mut force = force;
    let left = surus_namenode::recover(conf, &surus_client::login_name(), |question| {
        let RecoveryQuestion { problem, by } = question;
        let prompt = format!(
            "{problem}\n\nEnter 'c' to continue, {by}\nEnter 's' to stop reading the edit log here, abandoning any later \
             edits\nEnter 'q' to quit without saving\nEnter 'a' to always select the first choice in the future without \
             prompting. (c/s/q/a)\n"
        );
        if force {
            eprint!("{prompt}");
            output::print("automatically choosing c\n");
            return RecoveryChoice::Continue;
        }
        match ask(&prompt, &["c", "s", "q", "a"]) {
            Some("c") => RecoveryChoice::Continue,
            Some("s") => RecoveryChoice::Stop,
            Some("a") => {
                force = true;
                RecoveryChoice::Continue
            }
            _ => RecoveryChoice::Quit,
        }
    })?;
    match left {
        Some(txid) => {
            output::print(&format!("The edit log is whole up to transaction {txid}.\n"));
            Ok(exit::OK)
        }
        None => {
            eprintln!("surus: stopped; what was asked last is as it was");
            Ok(exit::FAILED)
        }
    }
}

fn format(conf: &Configuration, cluster_id: Option<String>, force: bool, interactive: bool) -> Result<u8> {
    if !conf.get(keys::DFS_NAMENODE_SUPPORT_ALLOW_FORMAT)? {
        bail!(
            "The option dfs.namenode.support.allow.format is set to false for this filesystem, so it cannot be formatted."
        );
    }
    for dir in surus_namenode::name_dirs(conf)? {
        if !holds_data(&dir)? {
            continue;
        }
        let dir = dir.display();
        if conf.get(keys::DFS_REFORMAT_DISABLED)? {
            bail!("dfs.reformat.disabled is set: {dir} holds a file system and stays as it is");
        }
        if !may_format(&dir.to_string(), force, interactive)? {
            return Ok(exit::FAILED);
        }
    }
    format_name_directories(conf, cluster_id)?;
    Ok(exit::OK)
}

/// Formats all name and edits directories of the configuration, whatever they hold.
///
/// # Errors
/// Directories that cannot be written.
pub fn format_name_directories(conf: &Configuration, cluster_id: Option<String>) -> Result<()> {
    let cluster_id = cluster_id.unwrap_or_else(new_cluster_id);
    tracing::info!(target: "namenode.NameNode", "Formatting using clusterid: {cluster_id}");
    surus_namenode::format(conf, &surus_client::login_name(), Some(&cluster_id))?;
    Ok(())
}

/// Whether a name directory's `current` holds anything.
fn holds_data(dir: &Path) -> Result<bool> {
    let current = dir.join("current");
    Ok(RealDisk.exists(&current)? && !RealDisk.list(&current)?.is_empty())
}

/// Asks, as Hadoop does, before a directory is formatted anew.
fn may_format(dir: &str, force: bool, interactive: bool) -> Result<bool> {
    if force {
        return Ok(true);
    }
    if !interactive {
        eprintln!(
            "Running in non-interactive mode, and data appears to exist in Storage Directory root= {dir}; location= null. Not formatting."
        );
        return Ok(false);
    }
    let stdin = std::io::stdin();
    loop {
        eprint!("Re-format filesystem in Storage Directory root= {dir}; location= null ? (Y or N) ");
        std::io::stderr().flush()?;
        let mut line = String::new();
        if stdin.lock().read_line(&mut line)? == 0 {
            return Ok(false);
        }
        match line.trim() {
            "Y" | "y" => return Ok(true),
            "N" | "n" => {
                eprintln!("Format aborted in Storage Directory root= {dir}; location= null");
                return Ok(false);
            }
            _ if stdin.is_terminal() => eprintln!("Invalid input: {}", line.trim()),
            _ => {}
        }
    }
}

/// `CID-` and a random UUID.
fn new_cluster_id() -> String {
    let n = u128::from_be_bytes(rand::random());
    // Version 4, variant 1, as Java's UUID.randomUUID.
    let n = n & !(0xf000 << 64) & !(0xc000 << 48) | 0x4000 << 64 | 0x8000 << 48;
    let (a, b, c, d, e) = (n >> 96, n >> 80 & 0xffff, n >> 64 & 0xffff, n >> 48 & 0xffff, n & 0xffff_ffff_ffff);
    format!("CID-{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<NameNodeCommand, Refused> {
        parse_namenode(&words.iter().map(|w| w.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn namenode_options() {
        assert_eq!(parse(&[]), Ok(NameNodeCommand::Run(StartOption::Regular)));
        let upgrade = Ok(NameNodeCommand::Run(StartOption::Upgrade));
        assert_eq!(parse(&["-upgrade", "-clusterId", "CID-1", "-renameReserved", ".snapshot=.s"]), upgrade);
        assert_eq!(parse(&["-upgradeOnly"]), Ok(NameNodeCommand::UpgradeOnly));
        assert!(parse(&["-upgrade", "-clusterid"]).is_err() && parse(&["-upgrade", "now"]).is_err());
        let rollback = Ok(NameNodeCommand::Run(StartOption::RollingUpgradeRollback));
        assert_eq!(parse(&["-rollingUpgrade", "ROLLBACK"]), rollback);
        assert_eq!(parse(&["-rollingUpgrade"]).unwrap_err().exit_code, exit::OK);
        assert_eq!(
            parse(&["-FORMAT", "-clusterId", "CID-1", "-nonInteractive"]),
            Ok(NameNodeCommand::Format { cluster_id: Some("CID-1".into()), force: false, interactive: false })
        );
        assert!(parse(&["-format", "-clusterid"]).is_err());
        assert!(parse(&["-format", "-x"]).is_err());
        assert_eq!(parse(&["-zzz"]).unwrap_err().exit_code, exit::OK);
        assert_eq!(parse(&["-bootstrapStandby"]).unwrap_err().exit_code, exit::FAILED);
    }

    #[test]
    fn wishes_for_protection_are_not_ignored() {
        let mut conf = Configuration::new();
        assert!(refuse_missing_security(&conf).is_ok());
        conf.set("dfs.block.access.token.enable", "FALSE");
        assert!(refuse_missing_security(&conf).is_ok());
        conf.set("dfs.encrypt.data.transfer", "true");
        let text = refuse_missing_security(&conf).unwrap_err().to_string();
        assert!(text.starts_with("dfs.encrypt.data.transfer = true (from the program)"), "{text}");
    }

    #[test]
    fn cluster_ids_are_uuids() {
        let id = new_cluster_id();
        assert_eq!((id.len(), &id[18..19], id.matches('-').count()), (40, "4", 5), "{id}");
    }
}
