//! The commands of `dfsadmin` with their arguments, and what `-help` says.

/// Name without the dash, arguments, a sentence where this version has the command.
pub type Row = (&'static str, &'static str, Option<&'static str>);

/// In the order in which Hadoop 3.5.0 prints them. Source: output of `hdfs dfsadmin`.
pub const COMMANDS: &[Row] = &[
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
    (
        "restoreFailedStorage",
        "true|false|check",
        Some("Whether name directories that failed are to be used again once they work."),
    ),
    ("refreshNodes", "", Some("Has the NameNode read its lists of hosts again.")),
    ("setQuota", "<quota> <dirname>...<dirname>", Some("Limits the names in directories, themselves included.")),
    ("clrQuota", "<dirname>...<dirname>", Some("Takes that limit away.")),
    (
        "setSpaceQuota",
        "<quota> [-storageType <storagetype>] <dirname>...<dirname>",
        Some("Limits the bytes of all replicas below directories, in all or on one storage type; 1t is a terabyte."),
    ),
    ("clrSpaceQuota", "[-storageType <storagetype>] <dirname>...<dirname>", Some("Takes that limit away.")),
    ("finalizeUpgrade", "", None),
    ("rollingUpgrade", "[<query|prepare|finalize>]", None),
    ("upgrade", "<query | finalize>", Some("Shows whether an upgrade was finalized.")),
    ("refreshServiceAcl", "", Some("Has the NameNode read hadoop-policy.xml again.")),
    ("refreshUserToGroupsMappings", "", Some("Has the NameNode forget the groups it knows.")),
    ("refreshSuperUserGroupsConfiguration", "", Some("Has the NameNode read the proxy user rules again.")),
    ("refreshCallQueue", "", Some("Accepted for Hadoop's sake: there is no call queue.")),
    ("refresh", "<host:ipc_port> <key> [arg1..argn]", Some("Calls a refresh handler of a server by its key.")),
    (
        "reconfig",
        "<namenode|datanode> <host:ipc_port|livenodes|decomnodes> <start|status|properties>",
        Some("Has a server take over changed settings, shows how that went, or which settings can be changed so."),
    ),
    ("printTopology", "", Some("Shows the racks and their DataNodes.")),
    ("refreshNamenodes", "datanode_host:ipc_port", Some("Has a DataNode read its list of NameNodes again.")),
    ("getVolumeReport", "datanode_host:ipc_port", Some("Shows the volumes of a DataNode.")),
    ("deleteBlockPool", "datanode_host:ipc_port blockpoolId [force]", Some("Removes a block pool from a DataNode.")),
    ("setBalancerBandwidth", "<bandwidth in bytes per second>", Some("Limits what each DataNode spends on balancing.")),
    ("getBalancerBandwidth", "<datanode_host:ipc_port>", Some("Shows what a DataNode may spend on balancing.")),
    ("fetchImage", "<local directory>", None),
    ("allowSnapshot", "<snapshotDir>", Some("Lets a directory have snapshots.")),
    ("disallowSnapshot", "<snapshotDir>", Some("Takes that back; the directory has no snapshots.")),
    ("provisionSnapshotTrash", "<snapshotDir> [-all]", Some("Makes .Trash in a snapshottable directory, or in all.")),
    ("shutdownDatanode", "<datanode_host:ipc_port> [upgrade]", Some("Stops a DataNode.")),
    (
        "evictWriters",
        "<datanode_host:ipc_port>",
        Some("Has a DataNode end the writes it serves, before it is stopped."),
    ),
    ("getDatanodeInfo", "<datanode_host:ipc_port>", Some("Shows version and uptime of a DataNode.")),
    ("metasave", "filename", Some("Writes the NameNode's queues of blocks into a file of its log directory.")),
    (
        "triggerBlockReport",
        "[-incremental] <datanode_host:ipc_port> [-namenode <namenode_host:ipc_port>]",
        Some("Has a DataNode report its blocks now."),
    ),
    ("listOpenFiles", "[-blockingDecommission] [-path <path>]", Some("Lists the files that are being written.")),
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
