//! The status page, `/conf`, `/startupProgress`, and the page for what is not there.

use super::beans::write_json_string;
use crate::core::Core;
use crate::startup::StartupProgress;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use surus_types::DatanodeId;

/// `Mon, 30 Nov 2026 13:23:44 GMT`.
pub fn http_date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
    let (year, month, day) = civil_date(days);
    let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][month - 1];
    format!("{weekday}, {day:02} {month} {year} {:02}:{:02}:{:02} GMT", rest / 3600, rest / 60 % 60, rest % 60)
}

/// `Mon Nov 30 13:23:44 UTC 2026`, as Java prints a date; `time_ms` since 1970.
pub fn java_date(time_ms: i64) -> String {
    let seconds = u64::try_from(time_ms).unwrap_or(0) / 1000;
    let date = http_date(UNIX_EPOCH + Duration::from_secs(seconds));
    // `Mon, 30 Nov 2026 13:23:44 GMT`
    let words: Vec<&str> = date.split_whitespace().collect();
    match words.as_slice() {
        [weekday, day, month, year, time, _] => {
            format!("{} {month} {day} {time} UTC {year}", weekday.trim_end_matches(','))
        }
        _ => date,
    }
}

/// Year, month and day of a day counted from 1970-01-01.
fn civil_date(mut days: u64) -> (u64, usize, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 0;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        month += 1;
        if days < length {
            break;
        }
        days -= length;
    }
    (year, month, days + 1)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Bytes as people read them: `2.50 GB`.
fn bytes(n: u64) -> String {
    let (mut value, mut unit) = (n as f64, "B");
    for larger in ["KB", "MB", "GB", "TB", "PB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    if unit == "B" { format!("{n} B") } else { format!("{value:.2} {unit}") }
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3em .8em;border-bottom:1px solid #ddd}\
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:1.6em}.on{color:#a40}.off{color:#060}a{color:#036}";

/// What one wants to know at a glance.
pub fn status_page(core: &Core) -> String {
    let namespace = core.namespace.read();
    let blocks = &namespace.blocks;
    let (capacity, stats) = (blocks.capacity(), blocks.stats());
    let mut out = String::with_capacity(4096);
    let host = escape(&core.rpc_name());
    let _ = write!(
        out,
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Surus NameNode {host}</title><style>{STYLE}</style>\
         </head><body><h1>Surus NameNode {host} (active)</h1>"
    );
    match blocks.safe_mode.is_on() {
        true => {
            let tip = blocks.safe_mode_tip(core.clock.monotonic_ms());
            let _ = write!(out, "<p class=\"on\">Safe mode is ON. {}</p>", escape(&tip));
        }
        false => out.push_str("<p class=\"off\">Safe mode is off.</p>"),
    }
    out.push_str("<table>");
    let mut row = |name: &str, value: String| {
        let _ = write!(out, "<tr><th>{name}</th><td>{}</td></tr>", escape(&value));
    };
    row("Cluster", core.id.cluster_id.clone());
    row("Block pool", core.id.block_pool_id.clone());
    row("Files and directories", namespace.num_inodes().to_string());
    row("Blocks", stats.total.to_string());
    row("Capacity", bytes(capacity.total));
    row("Used", bytes(capacity.used));
    row("Remaining", bytes(capacity.remaining));
    row("Under-replicated blocks", stats.low_redundancy.to_string());
    row("Missing blocks", stats.missing.to_string());
    row("Live DataNodes", blocks.datanodes.num_live().to_string());
    row("Dead DataNodes", blocks.datanodes.num_dead().to_string());
    row("Last transaction", core.last_txid().0.to_string());
    out.push_str("</table><h2>DataNodes</h2><table><tr><th>Address</th><th>State</th><th>Capacity</th><th>Used</th>");
    out.push_str("<th>Remaining</th><th>Blocks</th><th>Last contact</th></tr>");
    let now_ms = core.clock.monotonic_ms();
    for node in blocks.datanodes.iter() {
        let contact = now_ms.saturating_sub(node.stats.last_update_monotonic_ms) / 1000;
        let _ = write!(
            out,
            "<tr><td>{}:{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{contact} s ago</td></tr>",
            escape(&node.id.host_name),
            node.id.xfer_port,
            if node.alive { "live" } else { "dead" },
            bytes(node.stats.capacity),
            bytes(node.stats.dfs_used),
            bytes(node.stats.remaining),
            node.stats.num_blocks
        );
    }
    out.push_str("</table><h2>More</h2><p><a href=\"/webhdfs/v1/?op=LISTSTATUS\">root directory (WebHDFS)</a> \u{b7} ");
    out.push_str("<a href=\"/jmx\">metrics</a> \u{b7} <a href=\"/conf\">configuration</a> \u{b7} ");
    out.push_str("<a href=\"/startupProgress\">start-up</a></p></body></html>\n");
    out
}

/// The configuration; `None`: there is no key of that name.
pub fn conf(core: &Core, name: Option<&str>, json: bool) -> Option<String> {
    let wanted: Vec<&(String, String)> =
        core.settings.iter().filter(|(key, _)| name.is_none_or(|n| n == key)).collect();
    if name.is_some() && wanted.is_empty() {
        return None;
    }
    let mut out = String::new();
    if json {
        out.push_str(if name.is_some() { "{\"property\":" } else { "{\"properties\":[" });
        for (i, (key, value)) in wanted.iter().enumerate() {
            out.push_str(if i == 0 { "{\"key\":" } else { ",{\"key\":" });
            write_json_string(&mut out, key);
            out.push_str(",\"value\":");
            write_json_string(&mut out, value);
            out.push_str(",\"isFinal\":false,\"resource\":\"site\"}");
        }
        out.push_str(if name.is_some() { "}" } else { "]}" });
        return Some(out);
    }
    out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n");
    for (key, value) in wanted {
        let (key, value) = (escape(key), escape(value));
        let _ = writeln!(out, "<property><name>{key}</name><value>{value}</value><final>false</final></property>");
    }
    out.push_str("</configuration>");
    Some(out)
}

/// What one sees while the NameNode loads.
pub fn starting_page(startup: &StartupProgress) -> String {
    let doing = escape(&startup.doing());
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"2\">\
         <title>Surus NameNode</title><style>{STYLE}</style></head><body><h1>Surus NameNode is starting</h1>\
         <p class=\"on\">It is {doing}.</p><p><a href=\"/startupProgress\">start-up</a></p></body></html>\n"
    )
}

/// Racks and their live DataNodes. Source: `NetworkTopologyServlet.java`, Hadoop 3.5.0.
pub fn topology(core: &Core, json: bool) -> String {
    let namespace = core.namespace.read();
    let nodes = &namespace.blocks.datanodes;
    let mut racks: BTreeMap<&str, Vec<(String, &str)>> = BTreeMap::new();
    for node in nodes.iter() {
        let name = (format!("{}:{}", node.id.ip_addr, node.id.xfer_port), resolved_name(&node.id));
        racks.entry(&node.network_location).or_default().push(name);
    }
    if racks.is_empty() {
        return if json { "[]".to_owned() } else { "No DataNodes".to_owned() };
    }
    let mut out = String::new();
    for (rack, mut names) in racks {
        names.sort();
        if json {
            out.push_str(if out.is_empty() { "[{" } else { ",{" });
            write_json_string(&mut out, rack);
            out.push_str(":[");
            for (i, (address, host)) in names.iter().enumerate() {
                out.push_str(if i == 0 { "{\"ip\":" } else { ",{\"ip\":" });
                write_json_string(&mut out, address);
                out.push_str(",\"hostname\":");
                write_json_string(&mut out, host);
                out.push('}');
            }
            out.push_str("]}");
            continue;
        }
        let _ = writeln!(out, "Rack: {rack}");
        for (address, host) in names {
            let _ = writeln!(out, "   {address} ({host})");
        }
        out.push('\n');
    }
    if json {
        out.push(']');
    }
    out
}

/// What a look-up of the address would say: loopback is localhost, as in Java.
fn resolved_name(id: &DatanodeId) -> &str {
    match id.ip_addr.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => "localhost",
        _ => &id.host_name,
    }
}

/// Jetty's page.
pub fn not_found(path: &str) -> String {
    format!(
        "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html;charset=ISO-8859-1\"/>\n<title>Error 404 Not \
         Found</title>\n</head>\n<body><h2>HTTP ERROR 404 Not Found</h2>\n<table>\n<tr><th>URI:</th><td>{}</td></tr>\n\
         <tr><th>STATUS:</th><td>404</td></tr>\n<tr><th>MESSAGE:</th><td>Not Found</td></tr>\n</table>\n\n</body>\n</html>\n",
        escape(path)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        let at = |s| http_date(UNIX_EPOCH + Duration::from_secs(s));
        assert_eq!(at(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(at(1_796_045_024), "Mon, 30 Nov 2026 13:23:44 GMT");
        assert_eq!(at(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
    }

    #[test]
    fn sizes() {
        assert_eq!((bytes(17), bytes(2048), bytes(5 << 30)), ("17 B".into(), "2.00 KB".into(), "5.00 GB".into()));
    }
}
