//! `dfsadmin -report`, line by line as Hadoop prints it: monitors read it. Source: `DFSAdmin.report`,
//! `DatanodeInfo.getDatanodeReport`, Hadoop 3.5.0.

use crate::local_time::{LocalTime, local_time, zone_name};
use std::fmt::Write;
use surus_client::{DatanodeReportType, DfsClient, Result, SafeModeAction};
use surus_proto::hadoop::hdfs as proto;
use surus_types::FsStats;

/// Which DataNodes are shown; none chosen: all that there are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    live: bool,
    dead: bool,
    decommissioning: bool,
    entering_maintenance: bool,
    in_maintenance: bool,
    slow: bool,
}

impl Filter {
    pub fn parse(arguments: &[String]) -> Self {
        let has = |word: &str| arguments.iter().any(|argument| argument == word);
        Filter {
            live: has("-live"),
            dead: has("-dead"),
            decommissioning: has("-decommissioning"),
            entering_maintenance: has("-enteringmaintenance"),
            in_maintenance: has("-inmaintenance"),
            slow: has("-slownodes"),
        }
    }

    fn is_empty(self) -> bool {
        let state = self.decommissioning || self.entering_maintenance || self.in_maintenance;
        !(self.live || self.dead || state || self.slow)
    }
}

/// The whole report.
pub fn report(client: &DfsClient, filter: &Filter) -> Result<String> {
    let stats = client.get_fs_stats()?;
    let safe_mode = client.set_safe_mode(SafeModeAction::SafemodeGet, false)?;
    let replicated = client.get_replicated_block_stats()?;
    let groups = client.get_ec_block_group_stats()?;
    let mut out = String::new();
    if safe_mode {
        out += "Safe mode is ON\n";
    }
    totals(&mut out, &stats);
    replicated_blocks(&mut out, &replicated);
    block_groups(&mut out, &groups);
    out += "\n-------------------------------------------------\n";
    let kinds = [
        ("Live datanodes", DatanodeReportType::Live, filter.live),
        ("Dead datanodes", DatanodeReportType::Dead, filter.dead),
        ("Decommissioning datanodes", DatanodeReportType::Decommissioning, filter.decommissioning),
        ("Entering maintenance datanodes", DatanodeReportType::EnteringMaintenance, filter.entering_maintenance),
        ("In maintenance datanodes", DatanodeReportType::InMaintenance, filter.in_maintenance),
    ];
    for (title, kind, asked) in kinds {
        if asked || filter.is_empty() {
            datanodes(&mut out, title, &client.get_datanode_report(kind)?, asked);
        }
    }
    if filter.slow || filter.is_empty() {
        datanodes(&mut out, "Slow datanodes", &client.get_slow_datanode_report()?, filter.slow);
    }
    Ok(out)
}

fn totals(out: &mut String, stats: &FsStats) {
    let present = stats.used + stats.remaining;
    let used_percent = if present == 0 { 0.0 } else { stats.used as f64 / present as f64 * 100.0 };
    sized(out, "Configured Capacity", stats.capacity);
    sized(out, "Present Capacity", present);
    sized(out, "DFS Remaining", stats.remaining);
    sized(out, "DFS Used", stats.used);
    let _ = writeln!(out, "DFS Used%: {used_percent:.2}%");
}

fn sized(out: &mut String, name: &str, bytes: u64) {
    let _ = writeln!(out, "{name}: {bytes} ({})", with_unit(bytes));
}

/// `45.73 GB`; below a kilobyte `7 B`. Source: `StringUtils.byteDesc`.
pub fn with_unit(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let unit = (bytes.ilog2() / 10).min(5) as usize;
    let name = ["B", "KB", "MB", "GB", "TB", "PB"][unit];
    format!("{:.2} {name}", bytes as f64 / (1u64 << (10 * unit)) as f64)
}

fn replicated_blocks(out: &mut String, stats: &proto::GetFsReplicatedBlockStatsResponseProto) {
    out.push_str("Replicated Blocks:\n");
    counted(out, "Under replicated blocks", Some(stats.low_redundancy));
    counted(out, "Blocks with corrupt replicas", Some(stats.corrupt_blocks));
    counted(out, "Missing blocks", Some(stats.missing_blocks));
    counted(out, "Missing blocks (with replication factor 1)", Some(stats.missing_repl_one_blocks));
    counted(out, "Badly Distributed Blocks", stats.badly_distributed_blocks);
    counted(out, "Low redundancy blocks with highest priority to recover", stats.highest_prio_low_redundancy_blocks);
    counted(out, "Pending deletion blocks", Some(stats.pending_deletion_blocks));
}

fn block_groups(out: &mut String, stats: &proto::GetFsEcBlockGroupStatsResponseProto) {
    out.push_str("Erasure Coded Block Groups: \n");
    counted(out, "Low redundancy block groups", Some(stats.low_redundancy));
    counted(out, "Block groups with corrupt internal blocks", Some(stats.corrupt_blocks));
    counted(out, "Missing block groups", Some(stats.missing_blocks));
    counted(out, "Badly Distributed Blocks", stats.badly_distributed_blocks);
    counted(out, "Low redundancy blocks with highest priority to recover", stats.highest_prio_low_redundancy_blocks);
    counted(out, "Pending deletion blocks", Some(stats.pending_deletion_blocks));
}

/// A figure that an older NameNode does not send is left out.
fn counted(out: &mut String, name: &str, count: Option<u64>) {
    if let Some(count) = count {
        let _ = writeln!(out, "\t{name}: {count}");
    }
}

fn datanodes(out: &mut String, title: &str, nodes: &[proto::DatanodeInfoProto], asked: bool) {
    if nodes.is_empty() && !asked {
        return;
    }
    let _ = writeln!(out, "{title} ({}):\n", nodes.len());
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    for node in nodes {
        datanode(out, node, &hosts);
        out.push_str("\n\n");
    }
}

fn datanode(out: &mut String, node: &proto::DatanodeInfoProto, hosts: &str) {
    let id = &node.id;
    let name = host_of(hosts, &id.ip_addr).or(Some(id.host_name.as_str()).filter(|host| *host != id.ip_addr));
    let _ = write!(out, "Name: {}:{}", id.ip_addr, id.xfer_port);
    if let Some(name) = name {
        let _ = write!(out, " ({name})");
    }
    let _ = writeln!(out, "\nHostname: {}", id.host_name);
    if let Some(rack) = node.location.as_deref().filter(|rack| !rack.is_empty() && *rack != "/default-rack") {
        let _ = writeln!(out, "Rack: {rack}");
    }
    if let Some(domain) = &node.upgrade_domain {
        let _ = writeln!(out, "Upgrade domain: {domain}");
    }
    let _ = writeln!(out, "Decommission Status : {}", admin_state(node.admin_state.unwrap_or(0)));
    let (capacity, used) = (node.capacity.unwrap_or(0), node.dfs_used.unwrap_or(0));
    let remaining = node.remaining.unwrap_or(0);
    let other = node.non_dfs_used.unwrap_or_else(|| capacity.saturating_sub(used).saturating_sub(remaining));
    sized(out, "Configured Capacity", capacity);
    sized(out, "DFS Used", used);
    sized(out, "Non DFS Used", other);
    sized(out, "DFS Remaining", remaining);
    let _ = writeln!(out, "DFS Used%: {}", share(used, capacity, 100.0));
    let _ = writeln!(out, "DFS Remaining%: {}", share(remaining, capacity, 0.0));
    let (cache, cache_used) = (node.cache_capacity.unwrap_or(0), node.cache_used.unwrap_or(0));
    sized(out, "Configured Cache Capacity", cache);
    sized(out, "Cache Used", cache_used);
    sized(out, "Cache Remaining", cache.saturating_sub(cache_used));
    let _ = writeln!(out, "Cache Used%: {}", share(cache_used, cache, 100.0));
    let _ = writeln!(out, "Cache Remaining%: {}", share(cache.saturating_sub(cache_used), cache, 0.0));
    let _ = writeln!(out, "Xceivers: {}", node.xceiver_count.unwrap_or(0));
    let _ = writeln!(out, "Last contact: {}", java_date(node.last_update.unwrap_or(0)));
    let block_report = match node.last_block_report_time.unwrap_or(0) {
        0 => "Never".to_string(),
        ms => java_date(ms),
    };
    let _ = writeln!(out, "Last Block Report: {block_report}");
    let _ = writeln!(out, "Num of Blocks: {}", node.num_blocks.unwrap_or(0));
}

/// As `-printTopology` shows it. Source: `AdminStates`, Hadoop 3.5.0.
pub fn topology_state(node: &proto::DatanodeInfoProto) -> &'static str {
    match admin_state(node.admin_state.unwrap_or(0)) {
        "Normal" => "In Service",
        "Decommission in progress" => "Decommission In Progress",
        "Entering maintenance" => "Entering Maintenance",
        "In maintenance" => "In Maintenance",
        state => state,
    }
}

/// What a look-up of a DataNode's address would say: its name in `/etc/hosts`, else the one it gave itself.
pub fn resolved_name(id: &proto::DatanodeIdProto) -> String {
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    host_of(&hosts, &id.ip_addr).unwrap_or(&id.host_name).to_owned()
}

fn admin_state(number: i32) -> &'static str {
    use proto::datanode_info_proto::AdminState as State;
    match State::try_from(number) {
        Ok(State::DecommissionInprogress) => "Decommission in progress",
        Ok(State::Decommissioned) => "Decommissioned",
        Ok(State::EnteringMaintenance) => "Entering maintenance",
        Ok(State::InMaintenance) => "In maintenance",
        Ok(State::Normal) | Err(_) => "Normal",
    }
}

/// Percent of the whole; `without` where there is no whole.
fn share(part: u64, whole: u64, without: f64) -> String {
    let percent = if whole == 0 { without } else { part as f64 * 100.0 / whole as f64 };
    format!("{percent:.2}%")
}

/// As Java's `Date.toString`: `Mon Nov 30 14:21:54 UTC 2026`.
pub fn java_date(ms: u64) -> String {
    let ms = ms.cast_signed();
    let LocalTime { year, month, day, hour, minute, second, .. } = local_time(ms);
    let days = surus_types::date::days_from_civil(year.into(), month.into(), day.into());
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][days.rem_euclid(7) as usize];
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = names.get(month as usize - 1).copied().unwrap_or("?");
    format!("{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02} {} {year}", zone_name(ms))
}

/// The first name that `/etc/hosts` has for an address.
fn host_of<'a>(hosts: &'a str, ip: &str) -> Option<&'a str> {
    hosts.lines().find_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        (words.next() == Some(ip)).then(|| words.next()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_as_hadoop_prints_them() {
        for (bytes, text) in [(0, "0 B"), (1023, "1023 B"), (6_491_802, "6.19 MB"), (270_553_174_016, "251.97 GB")] {
            assert_eq!(with_unit(bytes), text);
        }
        assert_eq!(share(0, 0, 100.0), "100.00%");
        assert_eq!(share(1, 8, 0.0), "12.50%");
        assert_eq!(host_of("# c\n127.0.0.1 localhost vm\n", "127.0.0.1"), Some("localhost"));
    }

    #[test]
    fn totals_have_hadoops_lines() {
        let mut out = String::new();
        totals(&mut out, &FsStats { capacity: 2048, used: 512, remaining: 512, ..FsStats::default() });
        assert_eq!(
            out,
            "Configured Capacity: 2048 (2.00 KB)\nPresent Capacity: 1024 (1.00 KB)\nDFS Remaining: 512 (512 B)\nDFS Used: 512 (512 B)\nDFS Used%: 50.00%\n"
        );
    }
}
