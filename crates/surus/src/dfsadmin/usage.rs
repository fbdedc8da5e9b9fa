//! The commands of `dfsadmin` with their arguments, and what `-help` says.

/// Name without the dash, arguments, a sentence where this version has the command.
type Row = (&'static str, &'static str, Option<&'static str>);

/// In the order in which Hadoop 3.5.0 prints them. Source: output of `hdfs dfsadmin`.
const COMMANDS: &[Row] = &[
    (
        "report",
        "[-live] [-dead] [-decommissioning] [-enteringmaintenance] [-inmaintenance] [-slownodes]",
        Some("Shows capacity, use and blocks of the file system, and its DataNodes, all or those asked for."),
    ),
    (
        "safemode",
        "<enter | leave | get | wait | forceExit>",
        Some(
            "Turns safe mode on or off, shows it, or waits until it is off; forceExit leaves it even if blocks are lost.",
        ),
    ),
    ("saveNamespace", "[-beforeShutdown]", Some("Writes a checkpoint; safe mode has to be on.")),
    ("rollEdits", "", Some("Begins a new segment of the edit log.")),
    ("restoreFailedStorage", "true|false|check", None),
    ("refreshNodes", "", Some("Has the NameNode read its lists of hosts again.")),
    ("setQuota", "<quota> <dirname>...<dirname>", None),
    ("clrQuota", "<dirname>...<dirname>", None),
    ("setSpaceQuota", "<quota> [-storageType <storagetype>] <dirname>...<dirname>", None),
    ("clrSpaceQuota", "[-storageType <storagetype>] <dirname>...<dirname>", None),
    ("finalizeUpgrade", "", None),
    ("rollingUpgrade", "[<query|prepare|finalize>]", None),
    ("upgrade", "<query | finalize>", None),
    ("refreshServiceAcl", "", None),
    ("refreshUserToGroupsMappings", "", None),
    ("refreshSuperUserGroupsConfiguration", "", None),
    ("refreshCallQueue", "", None),
    ("refresh", "<host:ipc_port> <key> [arg1..argn]", None),
    ("reconfig", "<namenode|datanode> <host:ipc_port|livenodes|decomnodes> <start|status|properties>", None),
    ("printTopology", "", None),
    ("refreshNamenodes", "datanode_host:ipc_port", None),
    ("getVolumeReport", "datanode_host:ipc_port", None),
    ("deleteBlockPool", "datanode_host:ipc_port blockpoolId [force]", None),
    ("setBalancerBandwidth", "<bandwidth in bytes per second>", None),
    ("getBalancerBandwidth", "<datanode_host:ipc_port>", None),
    ("fetchImage", "<local directory>", None),
    ("allowSnapshot", "<snapshotDir>", None),
    ("disallowSnapshot", "<snapshotDir>", None),
    ("provisionSnapshotTrash", "<snapshotDir> [-all]", None),
    ("shutdownDatanode", "<datanode_host:ipc_port> [upgrade]", None),
    ("evictWriters", "<datanode_host:ipc_port>", None),
    ("getDatanodeInfo", "<datanode_host:ipc_port>", None),
    ("metasave", "filename", None),
    ("triggerBlockReport", "[-incremental] <datanode_host:ipc_port> [-namenode <namenode_host:ipc_port>]", None),
    ("listOpenFiles", "[-blockingDecommission] [-path <path>]", None),
    ("help", "[cmd]", Some("Explains all commands, or the given one.")),
];

pub fn find(name: &str) -> Option<&'static Row> {
    COMMANDS.iter().find(|row| row.0 == name)
}

fn line(row: &Row) -> String {
    if row.1.is_empty() { format!("[-{}]", row.0) } else { format!("[-{} {}]", row.0, row.1) }
}

/// All commands, a line each.
pub fn all() -> String {
    let mut out =
        "Usage: hdfs dfsadmin\nNote: Administrative commands can only be run as the HDFS superuser.\n".to_string();
    for row in COMMANDS {
        out += &format!("\t{}\n", line(row));
    }
    out
}

/// The usage of one command.
pub fn one(name: &str) -> String {
    match name {
        // Hadoop's own line for this one differs from its list.
        "safemode" => "Usage: hdfs dfsadmin [-safemode enter | leave | get | wait | forceExit]\n".to_string(),
        name => find(name).map_or_else(all, |row| format!("Usage: hdfs dfsadmin {}\n", line(row))),
    }
}

/// What `-help` says of one command, or of all that this version has.
pub fn help(name: Option<&str>) -> String {
    let wanted = |row: &&Row| name.is_none_or(|name| row.0 == name.trim_start_matches('-'));
    let mut out = String::new();
    for row in COMMANDS.iter().filter(wanted) {
        if let Some(sentence) = row.2 {
            out += &format!("-{} {}:\t{sentence}\n\n", row.0, row.1);
        }
    }
    if out.is_empty() { all() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_hadoops() {
        assert_eq!(one("refreshNodes"), "Usage: hdfs dfsadmin [-refreshNodes]\n");
        assert!(all().contains("\t[-saveNamespace [-beforeShutdown]]\n"));
        assert!(help(Some("report")).starts_with("-report "));
        assert_eq!(help(Some("nothing")), all());
    }
}
