//! `hdfs getconf`. Source: `GetConf.java`, Hadoop 3.5.0.

use surus_conf::{Addr, ConfError, Configuration, keys};

pub const USAGE: &str = "hdfs getconf is utility for getting configuration information from the config file.

hadoop getconf 
\t[-namenodes]\t\t\tgets list of namenodes in the cluster.
\t[-secondaryNameNodes]\t\t\tgets list of secondary namenodes in the cluster.
\t[-backupNodes]\t\t\tgets list of backup nodes in the cluster.
\t[-journalNodes]\t\t\tgets list of journal nodes in the cluster.
\t[-includeFile]\t\t\tgets the include file path that defines the datanodes that can join the cluster.
\t[-excludeFile]\t\t\tgets the exclude file path that defines the datanodes that need to decommissioned.
\t[-nnRpcAddresses]\t\t\tgets the namenode rpc addresses
\t[-confKey [key]]\t\t\tgets a specific key from the configuration
";

/// Runs `getconf`; returns the exit code.
pub fn run(conf: &Configuration, arguments: &[String]) -> i32 {
    match answer(conf, arguments) {
        Ok(Some(text)) => {
            crate::output::print(&format!("{text}\n"));
            0
        }
        Ok(None) => {
            eprint!("{USAGE}");
            -1
        }
        Err(text) => {
            eprintln!("{text}");
            -1
        }
    }
}

/// The text to print, `None` for the usage; an error's text.
fn answer(conf: &Configuration, arguments: &[String]) -> Result<Option<String>, String> {
    let Some((option, rest)) = arguments.split_first() else { return Ok(None) };
    let text = |e: ConfError| e.to_string();
    let hosts = |addresses: Vec<Addr>| addresses.iter().map(|a| a.host.as_str()).collect::<Vec<_>>().join(" ");
    Ok(Some(match option.to_ascii_lowercase().as_str() {
        "-namenodes" => hosts(namenodes(conf)?),
        "-secondarynamenodes" => hosts(secondary_namenodes(conf)?),
        "-backupnodes" => "0.0.0.0".to_string(),
        "-journalnodes" => hosts(journal_nodes(conf)?),
        "-includefile" => file(conf.get(keys::DFS_HOSTS).map_err(text)?, "dfs.hosts")?,
        "-excludefile" => file(conf.get(keys::DFS_HOSTS_EXCLUDE).map_err(text)?, "dfs.hosts.exclude")?,
        "-nnrpcaddresses" => namenodes(conf)?.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        "-confkey" => match rest {
            [key] => match conf.text(key).map_err(text)? {
                Some(value) => value,
                None => {
                    keys::hadoop_default(key).ok_or_else(|| format!("Configuration {key} is missing."))?.to_string()
                }
            },
            _ => return Ok(None),
        },
        _ => return Ok(None),
    }))
}

fn file(value: Option<String>, key: &str) -> Result<String, String> {
    value.ok_or_else(|| format!("Configuration {key} is missing."))
}

/// The RPC addresses of all NameNodes: those of the nameservices, else the one.
fn namenodes(conf: &Configuration) -> Result<Vec<Addr>, String> {
    let text = |e: ConfError| e.to_string();
    let mut addresses = Vec::new();
    for (service, id) in members(conf)? {
        let found = match id {
            Some(id) => conf.get_for(keys::DFS_NAMENODE_RPC_ADDRESS, &service, &id),
            None => conf.get_with_suffix(keys::DFS_NAMENODE_RPC_ADDRESS, &service),
        };
        addresses.extend(found.map_err(text)?);
    }
    if addresses.is_empty() {
        addresses.push(conf.namenode_rpc_address().map_err(text)?);
    }
    Ok(addresses)
}

/// Each nameservice with the ids of its NameNodes, `None` where it has no ids.
fn members(conf: &Configuration) -> Result<Vec<(String, Option<String>)>, String> {
    let text = |e: ConfError| e.to_string();
    let mut members = Vec::new();
    for service in conf.get(keys::DFS_NAMESERVICES).map_err(text)? {
        let ids = conf.text(&format!("dfs.ha.namenodes.{service}")).map_err(text)?.unwrap_or_default();
        let ids: Vec<&str> = ids.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
        if ids.is_empty() {
            members.push((service.clone(), None));
        }
        members.extend(ids.iter().map(|id| (service.clone(), Some(id.to_string()))));
    }
    Ok(members)
}

/// In a nameservice only an address of its own counts: with standbys there is none.
fn secondary_namenodes(conf: &Configuration) -> Result<Vec<Addr>, String> {
    let key = keys::DFS_NAMENODE_SECONDARY_HTTP_ADDRESS;
    let members = members(conf)?;
    if members.is_empty() {
        return Ok(vec![conf.get(key).map_err(|e| e.to_string())?]);
    }
    let own = |(service, id): &(String, Option<String>)| match id {
        Some(id) => format!("{service}.{id}"),
        None => service.clone(),
    };
    let suffixes = members.iter().map(own).filter(|suffix| conf.is_set(&format!("{}.{suffix}", key.name())));
    let addresses: Vec<Addr> = suffixes
        .map(|suffix| conf.get_with_suffix(key, &suffix).map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()?;
    if addresses.is_empty() {
        return Err(format!("Incorrect configuration: secondary namenode address {} is not configured.", key.name()));
    }
    Ok(addresses)
}

/// The hosts in `qjournal://h1:8485;h2:8485/ID`.
fn journal_nodes(conf: &Configuration) -> Result<Vec<Addr>, String> {
    let uri = conf.get(keys::DFS_NAMENODE_SHARED_EDITS_DIR).map_err(|e| e.to_string())?.unwrap_or_default();
    let authority = uri.trim().strip_prefix("qjournal://").unwrap_or("").split('/').next().unwrap_or("");
    Ok(authority.split(';').filter_map(|a| Addr::parse(a, Some(8485))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(conf: &Configuration, words: &[&str]) -> String {
        match answer(conf, &words.iter().map(|w| w.to_string()).collect::<Vec<_>>()) {
            Ok(Some(text)) => text,
            Ok(None) => "usage".to_string(),
            Err(text) => format!("error: {text}"),
        }
    }

    #[test]
    fn one_namenode() {
        let mut conf = Configuration::new();
        conf.set("fs.defaultFS", "hdfs://h");
        assert_eq!(ask(&conf, &["-nnRpcAddresses"]), "h:8020");
        assert_eq!(ask(&conf, &["-namenodes"]), "h");
        assert_eq!(ask(&conf, &["-secondaryNameNodes"]), "0.0.0.0");
        assert_eq!(ask(&conf, &["-journalNodes"]), "");
        assert_eq!(ask(&conf, &["-confKey", "dfs.replication"]), "3");
        assert_eq!(ask(&conf, &["-confKey", "dfs.ha.tail-edits.period"]), "60");
        assert_eq!(ask(&conf, &["-confKey", "no.such"]), "error: Configuration no.such is missing.");
        assert_eq!(ask(&conf, &["-x"]), "usage");
    }

    #[test]
    fn a_nameservice() {
        let mut conf = Configuration::new();
        for (key, value) in [
            ("dfs.nameservices", "ns"),
            ("dfs.ha.namenodes.ns", "a,b"),
            ("dfs.namenode.rpc-address.ns.a", "h1:1"),
            ("dfs.namenode.rpc-address.ns.b", "h2:2"),
            ("dfs.namenode.shared.edits.dir", "qjournal://j1:8485;j2/ns"),
        ] {
            conf.set(key, value);
        }
        assert_eq!(ask(&conf, &["-nnRpcAddresses"]), "h1:1\nh2:2");
        assert_eq!(ask(&conf, &["-journalNodes"]), "j1 j2");
        let missing = "error: Incorrect configuration: secondary namenode address dfs.namenode.secondary.http-address is not configured.";
        assert_eq!(ask(&conf, &["-secondaryNameNodes"]), missing);
    }
}
