//! `surus dfsadmin`: the administrator's commands, with the output and exit codes of Hadoop's.
//! Source: `DFSAdmin.java`, Hadoop 3.5.0.

mod cluster;
mod datanodes;
mod quota;
mod report;
mod snapshots;
mod upgrade;
mod usage;

pub use usage::COMMANDS;

use std::net::ToSocketAddrs;
use std::time::Duration;
use surus_client::{ClientConfig, ClientError, DfsClient, Result, SafeModeAction};
use surus_conf::Configuration;

/// Hadoop's -1, which a shell sees as 255.
const FAILED: i32 = -1;
/// `-safemode wait` looks again after this.
const SAFE_MODE_POLL: Duration = Duration::from_secs(5);

/// Why a command did not do its work.
enum Failure {
    /// The command line is wrong; its usage says how it should be.
    Usage,
    /// A value is wrong: the text, then the usage.
    Illegal(String),
    Call(ClientError),
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Failure::Call(error)
    }
}

/// Runs one command; returns the exit code.
pub fn run(conf: &Configuration, arguments: &[String]) -> i32 {
    let Some((command, rest)) = arguments.split_first() else {
        eprint!("{}", usage::all());
        return FAILED;
    };
    crate::logging::start_client();
    let name = command.trim_start_matches('-');
    let done = match command.as_str() {
        "-report" => report(conf, rest),
        "-safemode" => safe_mode(conf, rest),
        "-saveNamespace" => save_namespace(conf, rest),
        "-rollEdits" => roll_edits(conf, rest),
        "-setQuota" | "-clrQuota" | "-setSpaceQuota" | "-clrSpaceQuota" => quota::run(conf, name, rest),
        "-allowSnapshot" | "-disallowSnapshot" | "-provisionSnapshotTrash" => snapshots::run(conf, name, rest),
        "-refreshNodes" => refresh_nodes(conf, rest),
        "-restoreFailedStorage" => cluster::restore_failed_storage(conf, rest),
        "-refreshServiceAcl"
        | "-refreshUserToGroupsMappings"
        | "-refreshSuperUserGroupsConfiguration"
        | "-refreshCallQueue" => cluster::refresh_kind(conf, name, rest),
        "-refresh" => cluster::refresh(conf, rest),
        "-reconfig" => cluster::reconfig(conf, rest),
        "-printTopology" => cluster::print_topology(conf, rest),
        "-listOpenFiles" => cluster::list_open_files(conf, rest),
        "-metasave" => cluster::metasave(conf, rest),
        "-setBalancerBandwidth" => cluster::set_balancer_bandwidth(conf, rest),
        "-getBalancerBandwidth" => datanodes::get_balancer_bandwidth(conf, rest),
        "-getDatanodeInfo" => datanodes::get_datanode_info(conf, rest),
        "-triggerBlockReport" => datanodes::trigger_block_report(conf, rest),
        "-shutdownDatanode" => datanodes::shutdown_datanode(conf, rest),
        "-evictWriters" => datanodes::evict_writers(conf, rest),
        "-getVolumeReport" => datanodes::get_volume_report(conf, rest),
        "-refreshNamenodes" => datanodes::refresh_namenodes(conf, rest),
        "-deleteBlockPool" => datanodes::delete_block_pool(conf, rest),
        "-finalizeUpgrade" => upgrade::finalize_upgrade(conf, rest),
        "-upgrade" => upgrade::upgrade(conf, rest),
        "-rollingUpgrade" => upgrade::rolling_upgrade(conf, rest),
        "-fetchImage" => upgrade::fetch_image(conf, rest),
        "-help" => {
            print!("{}", usage::help(rest.first().map(String::as_str)));
            Ok(0)
        }
        _ => {
            let known = usage::find(name).is_some();
            eprintln!("{name}: {}", if known { "not supported by this version of Surus" } else { "Unknown command" });
            if !known {
                eprint!("{}", usage::all());
            }
            return FAILED;
        }
    };
    match done {
        Ok(code) => code,
        Err(Failure::Usage) => {
            eprint!("{}", usage::one(name));
            FAILED
        }
        Err(Failure::Illegal(text)) => {
            eprint!("{name}: {text}\n{}", usage::one(name));
            FAILED
        }
        Err(Failure::Call(error)) => {
            let message = error.message();
            eprintln!("{name}: {}", message.split('\n').next().unwrap_or(""));
            FAILED
        }
    }
}

type Done = Result<i32, Failure>;

fn report(conf: &Configuration, arguments: &[String]) -> Done {
    let client = DfsClient::from_conf(conf, None)?;
    print!("{}", report::report(&client, &report::Filter::parse(arguments))?);
    Ok(0)
}

/// One client for each NameNode of the file system, with what a line about it ends in: ` in HOST/IP:PORT` in a nameservice.
fn each_namenode(conf: &Configuration) -> Result<Vec<(DfsClient, String)>> {
    let config = ClientConfig::from_conf(conf, None)?;
    if !config.is_logical {
        return Ok(vec![(DfsClient::new(config), String::new())]);
    }
    let one = |addr: &String| {
        let mut config = config.clone();
        config.namenodes = vec![addr.clone()];
        config.is_logical = false;
        let host = addr.rsplit_once(':').map_or(addr.as_str(), |(host, _)| host);
        let place = match addr.to_socket_addrs().ok().and_then(|mut all| all.next()) {
            Some(resolved) => format!("{host}/{resolved}"),
            None => addr.clone(),
        };
        (DfsClient::new(config), place)
    };
    Ok(config.namenodes.iter().map(one).collect())
}

fn safe_mode(conf: &Configuration, arguments: &[String]) -> Done {
    let [word] = arguments else { return Err(Failure::Usage) };
    let (action, wait) = match word.as_str() {
        "enter" => (SafeModeAction::SafemodeEnter, false),
        "leave" => (SafeModeAction::SafemodeLeave, false),
        "get" => (SafeModeAction::SafemodeGet, false),
        "wait" => (SafeModeAction::SafemodeGet, true),
        "forceExit" => (SafeModeAction::SafemodeForceExit, false),
        // As in Hadoop, a word nobody knows gets the usage and still ends well.
        _ => {
            eprint!("{}", usage::one("safemode"));
            return Ok(0);
        }
    };
    for (client, place) in each_namenode(conf)? {
        let mut on = client.set_safe_mode(action, false)?;
        while wait && on {
            std::thread::sleep(SAFE_MODE_POLL);
            on = client.set_safe_mode(SafeModeAction::SafemodeGet, false)?;
        }
        let place = if place.is_empty() { place } else { format!(" in {place}") };
        println!("Safe mode is {}{place}", if on { "ON" } else { "OFF" });
    }
    Ok(0)
}

fn save_namespace(conf: &Configuration, arguments: &[String]) -> Done {
    let before_shutdown = match arguments {
        [] => false,
        [word] if word == "-beforeShutdown" => true,
        _ => return Err(Failure::Usage),
    };
    // Before a shutdown a checkpoint that is young enough will do.
    let period = conf.get(surus_conf::keys::DFS_NAMENODE_CHECKPOINT_PERIOD).map_err(ClientError::from)?;
    let transactions = conf.get(surus_conf::keys::DFS_NAMENODE_CHECKPOINT_TXNS).map_err(ClientError::from)?;
    let (window, gap) = match before_shutdown {
        true => (period.as_secs(), u64::try_from(transactions).unwrap_or(0)),
        false => (0, 0),
    };
    for (client, place) in each_namenode(conf)? {
        let saved = client.save_namespace(window, gap)?;
        let what = if saved { "Save namespace successful" } else { "No extra checkpoint has been made" };
        println!("{what}{}", for_place(&place));
    }
    Ok(0)
}

fn roll_edits(conf: &Configuration, arguments: &[String]) -> Done {
    if !arguments.is_empty() {
        return Err(Failure::Usage);
    }
    let txid = DfsClient::from_conf(conf, None)?.roll_edits()?;
    println!("Successfully rolled edit logs.\nNew segment starts at txid {txid}");
    Ok(0)
}

fn refresh_nodes(conf: &Configuration, arguments: &[String]) -> Done {
    if !arguments.is_empty() {
        return Err(Failure::Usage);
    }
    for (client, place) in each_namenode(conf)? {
        client.refresh_nodes()?;
        println!("Refresh nodes successful{}", for_place(&place));
    }
    Ok(0)
}

fn for_place(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" for {place}") }
}
