//! `surus start`: NameNode, DataNode and WebHDFS in one process and one directory.

mod first_start;

use crate::signals::Signals;
use crate::{conf_files, daemons, exit, logging, output};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use surus_conf::{Addr, Configuration, keys};
use surus_datanode::DataNode;
use surus_disk::{Disk, LockGuard, RealDisk};
use surus_namenode::{NameNode, NameNodeOptions};

/// What error messages call the values that `surus start` sets.
const SOURCE: &str = "surus start";
/// The name directory; it is there once the file system is formatted.
const NAME: &str = "name";
/// Where formatting works, so that a crash leaves no half of a name directory.
const NAME_BEING_FORMATTED: &str = "name.formatting";
/// There until `/tmp` and `/user/LOGIN` have been made.
const FIRST_START: &str = "first-start";
const DATA: &str = "data";
const CONF: &str = "conf";
/// Held while a process serves the directory.
const LOCK: &str = "in_use.lock";

#[derive(Args, Default)]
pub struct StartArgs {
    /// Where the file system lives; formatted when absent or empty [default: SURUS_DIR, then ~/.surus]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Address to listen on instead of 127.0.0.1. Simple authentication trusts every caller: mind who can reach it
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Set a configuration key, over all files
    #[arg(short = 'D', value_name = "KEY=VALUE")]
    define: Vec<String>,
}

/// Runs the file system until a signal ends it.
///
/// # Errors
/// What keeps it from starting.
pub fn run(config: Option<&str>, arguments: &StartArgs) -> Result<u8> {
    let dir = arguments
        .dir
        .clone()
        .or_else(conf_files::surus_dir)
        .context("neither --dir, SURUS_DIR nor HOME says where the file system is to live")?;
    let dir = std::path::absolute(&dir).with_context(|| format!("--dir {}", dir.display()))?;
    let mut conf = configuration(config, &dir, arguments)?;
    daemons::prepare("surus", &conf)?;
    let mut signals = Signals::catch()?;
    check_directory(&dir)?;
    RealDisk.create_dir_all(&dir)?;
    let _lock = lock(&dir)?;
    let user = surus_client::login_name();
    first_start::format_if_new(&dir, &conf)?;
    let namenode = NameNode::start(
        &conf,
        NameNodeOptions { own_datanode: true, user: user.clone(), ..NameNodeOptions::default() },
    )
    .map_err(|error| name_directory_in_hints(&dir, &error.to_string()))?;
    let host = conf.namenode_rpc_address()?.host;
    let address = Addr { host, port: namenode.rpc_address().port() };
    // Where the port was 0, the DataNode and the clients learn the one that was taken.
    conf.set_from(keys::FS_DEFAULT_FS.name(), format!("hdfs://{address}"), SOURCE);
    let web = conf.get(keys::DFS_NAMENODE_HTTP_ADDRESS)?.host;
    let web = Addr { host: web, port: namenode.http_address().port() };
    conf.set_from(keys::DFS_NAMENODE_HTTP_ADDRESS.name(), web.to_string(), SOURCE);
    let datanode = Arc::new(DataNode::start(&conf)?);
    namenode.serve_data_of(datanode.local_data());
    conf.set_from(keys::DFS_DATANODE_ADDRESS.name(), datanode.xfer_address().to_string(), SOURCE);
    // A failed data disk is no reason to take the names away too.
    daemons::watch(&datanode, || tracing::error!("the NameNode goes on without block data: restart to have it back"))?;
    first_start::make_directories(&dir, &conf, &user)?;
    warn_of_listeners(&conf)?;
    output::print(&welcome(&dir, &conf)?);
    let signal = signals.wait();
    tracing::info!("{}", signal.log_line());
    datanode.stop();
    namenode.stop();
    Ok(exit::OK)
}

/// What a command that mends the name directory needs besides: it has no configuration that names this one.
fn name_directory_in_hints(dir: &Path, error: &str) -> anyhow::Error {
    let name = keys::DFS_NAMENODE_NAME_DIR.name();
    let with_directory = format!("surus namenode -D {name}=file://{} -recover", encode_path(&dir.join(NAME)));
    anyhow::Error::msg(error.replace("surus namenode -recover", &with_directory))
}

/// How a reader of the welcome calls this program: by its name where PATH leads to it, else by its path.
fn own_name() -> String {
    let Ok(program) = std::env::current_exe() else { return "surus".to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).any(|dir| dir.join("surus").canonicalize().is_ok_and(|p| p == program));
    if in_path {
        return "surus".to_owned();
    }
    let here = std::env::current_dir().ok().and_then(|here| program.strip_prefix(here).ok().map(Path::to_path_buf));
    here.unwrap_or(program).display().to_string()
}

/// Keeps a second `surus start` out, also while the file system is being formatted.
fn lock(dir: &Path) -> Result<Box<dyn LockGuard>> {
    let content = format!("{}@{}", std::process::id(), logging::host_name());
    RealDisk.lock(&dir.join(LOCK), &content).with_context(|| format!("{} is in use by another process", dir.display()))
}

/// Simple authentication believes any name a caller gives: say so where others can call.
fn warn_of_listeners(conf: &Configuration) -> Result<()> {
    let bind = conf.get(keys::DFS_NAMENODE_RPC_BIND_HOST)?.unwrap_or_default();
    if !is_loopback(&bind) {
        eprintln!(
            "surus: listening on {bind}: with simple authentication every caller is whoever it says it is. \
             Let only hosts reach these ports that you trust."
        );
    }
    Ok(())
}

/// An address as others write it: in place of a wildcard the host of the file system.
fn reachable(conf: &Configuration, address: Addr) -> Result<Addr> {
    if is_wildcard(&address.host) {
        return Ok(Addr { host: conf.namenode_rpc_address()?.host, port: address.port });
    }
    Ok(address)
}

/// Addresses and three commands to try.
fn welcome(dir: &Path, conf: &Configuration) -> Result<String> {
    let uri = conf.get(keys::FS_DEFAULT_FS)?;
    let web = reachable(conf, conf.get(keys::DFS_NAMENODE_HTTP_ADDRESS)?)?;
    let data = reachable(conf, conf.get(keys::DFS_DATANODE_ADDRESS)?)?;
    // A client finds this file system by itself when it is the default one and no other configuration is in the way.
    let found = conf_files::conf_dir(None).is_some_and(|found| found == dir.join(CONF));
    let fs = if found { String::new() } else { format!(" -fs {uri}") };
    let surus = own_name();
    Ok(format!(
        "Surus serves {uri}\n  directory  {}\n  WebHDFS    http://{web}/webhdfs/v1/\n  DataNode   {data}\n\
         Try\n  {surus} dfs{fs} -put README.md /tmp/\n  {surus} dfs{fs} -ls /tmp\n  \
         curl 'http://{web}/webhdfs/v1/tmp?op=LISTSTATUS'\nCtrl-C ends it.\n",
        dir.display()
    ))
}

/// The configuration: `--config`'s files where given (not `HADOOP_CONF_DIR`, which may be about another cluster), `-D`, and for the
/// rest what suits one process on one machine.
fn configuration(config: Option<&str>, dir: &Path, arguments: &StartArgs) -> Result<Configuration> {
    let mut conf = match config {
        Some(_) => conf_files::load(config)?,
        None => conf_files::empty(),
    };
    for define in &arguments.define {
        conf.set_override(define)?;
        let key = define.split('=').next().unwrap_or("").trim();
        if !keys::is_known(key) {
            eprintln!("surus: -D {key}: neither Surus nor Hadoop knows this key (surus keys lists those that count)");
        }
    }
    let listen = arguments.listen.as_deref().map(parse_listen).transpose()?;
    let host = listen.as_ref().map_or("127.0.0.1", |a| a.host.as_str());
    let port = listen.as_ref().map_or(keys::NAMENODE_RPC_PORT, |a| a.port);
    let advertised = if is_wildcard(host) {
        let name = logging::host_name();
        surus_net::stream::reachable_name(&name).unwrap_or(name)
    } else {
        host.to_string()
    };
    let bind = |port: u16| Addr { host: host.to_string(), port }.to_string();
    let mut set = |key: &str, value: String| conf.set_if_unset(key, value, SOURCE);
    set(keys::FS_DEFAULT_FS.name(), format!("hdfs://{}", Addr { host: advertised.clone(), port }));
    set(keys::DFS_NAMENODE_RPC_BIND_HOST.name(), host.to_string());
    set(keys::DFS_NAMENODE_HTTP_ADDRESS.name(), bind(9870));
    set(keys::DFS_DATANODE_ADDRESS.name(), bind(9866));
    set(keys::DFS_DATANODE_HTTP_ADDRESS.name(), bind(9864));
    set(keys::DFS_DATANODE_IPC_ADDRESS.name(), bind(9867));
    set(keys::DFS_DATANODE_HOSTNAME.name(), advertised);
    set(keys::DFS_REPLICATION.name(), "1".to_string());
    set(keys::DFS_NAMENODE_SAFEMODE_EXTENSION.name(), "0".to_string());
    let path = |name: &str| format!("file://{}", encode_path(&dir.join(name)));
    set(keys::DFS_NAMENODE_NAME_DIR.name(), path(NAME));
    set(keys::DFS_DATANODE_DATA_DIR.name(), path(DATA));
    Ok(conf)
}

/// A path as part of a `file:` URI: `%` and blanks and commas would be read otherwise.
fn encode_path(path: &Path) -> String {
    path.display().to_string().replace('%', "%25").replace(' ', "%20").replace(',', "%2C")
}

/// An address or name, with the NameNode's port if it is another than 8020.
fn parse_listen(text: &str) -> Result<Addr> {
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(Addr { host: ip.to_string(), port: keys::NAMENODE_RPC_PORT });
    }
    Addr::parse(text, Some(keys::NAMENODE_RPC_PORT))
        .with_context(|| format!("--listen {text}: it must be an address, such as 0.0.0.0 or 192.168.1.5:8020"))
}

fn is_wildcard(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok_and(|ip| ip.is_unspecified())
}

/// Whether only this machine can reach the address.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).is_loopback()
}

/// Absent, empty, or a file system of ours; anything else is left alone.
fn check_directory(dir: &Path) -> Result<()> {
    if !RealDisk.exists(dir)? {
        return Ok(());
    }
    let ours = [NAME, NAME_BEING_FORMATTED, FIRST_START, DATA, CONF, LOCK];
    let entries = RealDisk.list(dir)?;
    let is_formatted = entries.iter().any(|e| e.name == NAME);
    let stranger = entries.iter().find(|e| !ours.contains(&e.name.as_str()) || (e.name == DATA && !is_formatted));
    match stranger {
        Some(entry) if !is_formatted => bail!(
            "{} holds {} and no file system: it is not formatted. Name an empty or a new directory with --dir",
            dir.display(),
            entry.name
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_addresses() {
        assert_eq!(parse_listen("0.0.0.0").unwrap().to_string(), "0.0.0.0:8020");
        assert_eq!(parse_listen("::1").unwrap().to_string(), "[::1]:8020");
        assert_eq!(parse_listen("h:9000").unwrap().to_string(), "h:9000");
        assert!(parse_listen("h:x").is_err());
        assert!(is_loopback("127.0.0.2") && !is_loopback("0.0.0.0") && is_wildcard("::"));
    }

    #[test]
    fn a_directory_with_other_things_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        assert!(check_directory(&dir.path().join("absent")).is_ok());
        assert!(check_directory(dir.path()).is_ok());
        RealDisk.create_dir_all(&dir.path().join(NAME_BEING_FORMATTED)).unwrap();
        assert!(check_directory(dir.path()).is_ok());
        RealDisk.create_dir_all(&dir.path().join("photos")).unwrap();
        let error = check_directory(dir.path()).unwrap_err().to_string();
        assert!(error.contains("holds photos and no file system"), "{error}");
        RealDisk.create_dir_all(&dir.path().join(NAME)).unwrap();
        assert!(check_directory(dir.path()).is_ok());
    }
}
