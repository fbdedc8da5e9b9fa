//! Which DataNodes may take part and which are to leave: `dfs.hosts` and `dfs.hosts.exclude` as text files of host names or
//! addresses, each perhaps with a data port, blanks between them, `#` to the end of a line; or `dfs.hosts` as the JSON file of
//! CombinedHostFileManager. Names are resolved when the files are read.
//! Source: `HostsFileReader.java`, `HostFileManager.java`, `CombinedHostFileManager.java`, Hadoop 3.5.0.

mod combined;

use crate::core::Core;
use combined::AdminState;
use std::collections::HashSet;
use std::net::{IpAddr, ToSocketAddrs};
use surus_conf::{ConfError, Configuration, keys};
use surus_namespace::blocks::Observation;
use surus_types::{DatanodeId, ExceptionClass, HdfsError};

/// How many DataNodes the JSON file of CombinedHostFileManager names; nothing is resolved.
///
/// # Errors
/// What is wrong with the text.
pub fn count_combined(text: &str) -> Result<usize, String> {
    combined::parse(text).map(|nodes| nodes.len())
}

/// Where the lists lie; empty: no list.
#[derive(Clone, Debug, Default)]
pub struct HostFiles {
    pub include: Option<String>,
    pub exclude: Option<String>,
    /// `include` is the JSON file of CombinedHostFileManager, and there is no other.
    pub combined: bool,
}

impl HostFiles {
    /// # Errors
    /// `dfs.namenode.hosts.provider.classname` names neither of Hadoop's two classes.
    pub fn from_conf(conf: &Configuration) -> Result<HostFiles, ConfError> {
        let key = keys::DFS_NAMENODE_HOSTS_PROVIDER_CLASSNAME;
        let class = conf.get(key)?;
        let combined = match class.rsplit('.').next() {
            Some("HostFileManager") => false,
            Some("CombinedHostFileManager") => true,
            _ => {
                return Err(ConfError::Value {
                    key: key.name().to_owned(),
                    source: conf.source(key.name()).to_owned(),
                    value: class,
                    allowed:
                        "HostFileManager or CombinedHostFileManager of org.apache.hadoop.hdfs.server.blockmanagement"
                            .to_owned(),
                });
            }
        };
        Ok(HostFiles { include: conf.get(keys::DFS_HOSTS)?, exclude: conf.get(keys::DFS_HOSTS_EXCLUDE)?, combined })
    }
}

/// The lists as they were read last.
#[derive(Clone, Debug, Default)]
pub struct HostLists {
    include: HostSet,
    exclude: HostSet,
    /// Only those of `include` may take part.
    restricted: bool,
}

/// Addresses with data ports; 0: every DataNode of the host.
#[derive(Clone, Debug, Default)]
struct HostSet(HashSet<(IpAddr, u16)>);

impl HostLists {
    /// # Errors
    /// A file that cannot be read, or is XML; a JSON file that does not parse.
    pub fn read(files: &HostFiles) -> Result<HostLists, HdfsError> {
        if files.combined {
            return Self::read_combined(files.include.as_deref().unwrap_or_default());
        }
        let read = |file: &Option<String>, kind| match file.as_deref() {
            None | Some("") => Ok(HostSet::default()),
            Some(xml) if xml.to_ascii_lowercase().ends_with(".xml") => {
                Err(HdfsError::io(format!("{xml}: lists of hosts as XML are not read: use the text form")))
            }
            Some(file) => match std::fs::read_to_string(file) {
                Ok(text) => Ok(HostSet::parse(&text, file, kind)),
                Err(error) => Err(HdfsError::io(format!("cannot read the {kind} hosts from {file}: {error}"))),
            },
        };
        let include = read(&files.include, "included")?;
        let restricted = !include.0.is_empty();
        Ok(HostLists { include, exclude: read(&files.exclude, "excluded")?, restricted })
    }

    /// Every DataNode in the file is included, whatever its state; where none is to be in service, everybody is.
    fn read_combined(file: &str) -> Result<HostLists, HdfsError> {
        let text = std::fs::read_to_string(file)
            .map_err(|error| HdfsError::io(format!("cannot read the DataNodes of dfs.hosts from {file}: {error}")))?;
        let nodes = combined::parse(&text).map_err(|problem| HdfsError::io(format!("{file}: {problem}")))?;
        let mut lists = HostLists::default();
        for node in nodes {
            let Some(address) = resolve(&node.host_name, node.port) else {
                tracing::warn!("Failed to resolve {} in {file}", node.host_name);
                continue;
            };
            lists.include.0.insert(address);
            match node.admin_state {
                AdminState::Normal => lists.restricted = true,
                AdminState::Decommissioned => _ = lists.exclude.0.insert(address),
                AdminState::Maintenance => {
                    tracing::warn!("{file}: {} is to be in maintenance, which Surus lacks: it stays", node.host_name);
                }
            }
        }
        Ok(lists)
    }

    /// An empty list includes everybody.
    pub fn includes(&self, id: &DatanodeId) -> bool {
        !self.restricted || self.include.has(id)
    }

    pub fn excludes(&self, id: &DatanodeId) -> bool {
        self.exclude.has(id)
    }
}

fn resolve(host: &str, port: u16) -> Option<(IpAddr, u16)> {
    (host, port).to_socket_addrs().ok()?.next().map(|address| (address.ip(), port))
}

impl HostSet {
    fn parse(text: &str, file: &str, kind: &str) -> HostSet {
        let mut set = HostSet::default();
        for entry in text.lines().flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace()) {
            let (host, port) = split(entry);
            match resolve(host, port) {
                Some(address) => _ = set.0.insert(address),
                None => tracing::warn!("{file}: `{entry}` does not resolve, so it is not among the {kind} hosts"),
            }
        }
        set
    }

    fn has(&self, id: &DatanodeId) -> bool {
        let Ok(address) = id.ip_addr.parse::<IpAddr>() else { return false };
        self.0.contains(&(address, id.xfer_port)) || self.0.contains(&(address, 0))
    }
}

/// `HOST`, `HOST:PORT`, `[IPv6]` or `[IPv6]:PORT`; port 0 where none is given.
fn split(entry: &str) -> (&str, u16) {
    let (host, port) = match entry.rsplit_once(':') {
        Some((host, port)) if host.ends_with(']') || !host.contains(':') => match port.parse() {
            Ok(port) => (host, port),
            Err(_) => (entry, 0),
        },
        _ => (entry, 0),
    };
    (host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host), port)
}

/// The exception for a DataNode that is not in the include list. `registration`: the DataNode as Java prints it.
pub fn disallowed(registration: &str) -> HdfsError {
    let text = format!(
        "Datanode denied communication with namenode because the host is not in the include-list: {registration}"
    );
    HdfsError::new(ExceptionClass::DisallowedDatanode, text)
}

impl Core {
    /// The address of a DataNode that registered, and has been taken from the include list since.
    pub fn no_longer_included(&self, uuid: &str) -> Option<String> {
        let hosts = self.hosts.read();
        if !hosts.restricted {
            return None;
        }
        let namespace = self.namespace.read();
        let nodes = &namespace.blocks.datanodes;
        let id = &nodes.datanode(nodes.find(uuid)?).id;
        (!hosts.includes(id)).then(|| format!("{}:{}", id.ip_addr, id.xfer_port))
    }

    /// Reads the lists again and puts every DataNode where they want it.
    ///
    /// # Errors
    /// A list cannot be read; the old ones hold on.
    pub fn refresh_nodes(&self) -> Result<(), HdfsError> {
        let lists = HostLists::read(&self.config.host_files)?;
        *self.hosts.write() = lists.clone();
        let known: Vec<DatanodeId> = self.namespace.read().blocks.datanodes.iter().map(|d| d.id.clone()).collect();
        for id in known {
            // Who is not included is told so, and given up, at its next heartbeat.
            self.observe(Observation::Excluded { uuid: &id.uuid, excluded: lists.excludes(&id) });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(ip_addr: &str, xfer_port: u16) -> DatanodeId {
        DatanodeId { ip_addr: ip_addr.into(), xfer_port, ..DatanodeId::default() }
    }

    #[test]
    fn entries_with_and_without_a_port() {
        let text =
            "# all of them\n127.0.0.1:9866 127.0.0.2\t# and one more\n[::1]:5\n  localhost:77\nno.such.host.invalid\n";
        let set = HostSet::parse(text, "f", "included");
        let has = [("127.0.0.1", 9866), ("127.0.0.1", 1), ("127.0.0.2", 1), ("::1", 5), ("::1", 6), ("10.0.0.1", 0)]
            .map(|(ip, port)| set.has(&id(ip, port)));
        assert_eq!(has, [true, false, true, true, false, false]);
    }

    #[test]
    fn an_empty_include_list_includes_everybody() {
        let lists = HostLists::read(&HostFiles::default()).unwrap();
        assert!(lists.includes(&id("10.0.0.1", 1)) && !lists.excludes(&id("10.0.0.1", 1)));
        let absent = HostFiles { exclude: Some("/no/such/file".into()), ..HostFiles::default() };
        assert!(HostLists::read(&absent).unwrap_err().message.contains("/no/such/file"));
    }

    #[test]
    fn one_json_file_includes_and_excludes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let files = HostFiles {
            include: Some(file.path().display().to_string()),
            exclude: Some("/not/read".into()),
            combined: true,
        };
        let read = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            HostLists::read(&files)
        };
        let lists = read(
            r#"[{"hostName": "127.0.0.1", "port": 1}, {"hostName": "127.0.0.2", "adminState": "DECOMMISSIONED"},
                {"hostName": "no.such.host.invalid"}]"#,
        )
        .unwrap();
        let show = |ip, port| (lists.includes(&id(ip, port)), lists.excludes(&id(ip, port)));
        assert_eq!(show("127.0.0.1", 1), (true, false));
        assert_eq!(show("127.0.0.1", 2), (false, false));
        assert_eq!(show("127.0.0.2", 2), (true, true));
        // Nobody in service: everybody may come.
        let lists = read(r#"{"hostName": "127.0.0.2", "adminState": "DECOMMISSIONED"}"#).unwrap();
        assert!(lists.includes(&id("10.0.0.1", 1)) && !lists.excludes(&id("10.0.0.1", 1)));
        assert!(lists.excludes(&id("127.0.0.2", 9)));
        assert!(read("[{").unwrap_err().message.starts_with(&files.include.clone().unwrap()));
    }
}
