//! The status page and `/jmx`.

use crate::namenode::SOFTWARE_VERSION;
use crate::node::Node;
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use surus_webhdfs::json;

pub(super) fn page(node: &Node) -> String {
    let id = node.id.read().clone();
    let mut rows = String::new();
    for volume in node.store.volumes() {
        let r = volume.report();
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            volume.root.display(),
            r.storage_type.name(),
            r.capacity,
            r.dfs_used,
            r.remaining,
            volume.num_blocks()
        );
    }
    format!(
        "<!DOCTYPE html>\n<html><head><title>DataNode {0}:{1}</title></head><body>\n<h1>DataNode {0}:{1}</h1>\n\
         <p>UUID {2}, Surus (Hadoop {SOFTWARE_VERSION} protocols), up {3} s</p>\n\
         <table border=1><tr><th>Directory</th><th>Type</th><th>Capacity</th><th>Used</th><th>Left</th>\
         <th>Blocks</th></tr>\n{rows}</table>\n<p><a href=\"/jmx\">/jmx</a></p>\n</body></html>\n",
        id.host_name,
        id.xfer_port,
        id.uuid,
        node.started.elapsed().as_secs()
    )
}

/// The beans that tools poll first. `qry` in the query picks one by its name, or those of `Hadoop:*`.
pub(super) fn jmx(node: &Node, query: &str) -> Vec<u8> {
    let wanted = query.split('&').find_map(|pair| pair.strip_prefix("qry=")).map(|q| q.replace("%3A", ":"));
    let mut beans: Vec<String> = Vec::new();
    let mut bean = |name: String, fields: &[(&str, String)]| {
        let matches = wanted.as_deref().is_none_or(|w| w == name || w == "*:*" || w == "Hadoop:*");
        if matches {
            let mut text = format!("  {{\n    \"name\" : \"{name}\"");
            for (key, value) in fields {
                let _ = write!(text, ",\n    \"{key}\" : {value}");
            }
            text.push_str("\n  }");
            beans.push(text);
        }
    };
    let id = node.id.read().clone();
    let (mut capacity, mut used, mut remaining, mut blocks) = (0, 0, 0, 0);
    for volume in node.store.volumes() {
        let r = volume.report();
        capacity += r.capacity;
        used += r.dfs_used;
        remaining += r.remaining;
        blocks += volume.num_blocks();
    }
    bean(
        "Hadoop:service=DataNode,name=DataNodeInfo".to_owned(),
        &[
            ("Version", quoted(SOFTWARE_VERSION)),
            ("RpcPort", quoted(&id.ipc_port.to_string())),
            ("HttpPort", quoted(&id.info_port.to_string())),
            ("DataPort", quoted(&id.xfer_port.to_string())),
            ("DatanodeHostname", quoted(&id.host_name)),
            ("XceiverCount", node.xceivers.load(Ordering::Relaxed).to_string()),
            ("XmitsInProgress", node.xmits.load(Ordering::Relaxed).to_string()),
            (
                "DNStartedTimeInMillis",
                crate::store::now_ms().saturating_sub(node.started.elapsed().as_millis() as u64).to_string(),
            ),
        ],
    );
    bean(
        "Hadoop:service=DataNode,name=FSDatasetState".to_owned(),
        &[
            ("Capacity", capacity.to_string()),
            ("DfsUsed", used.to_string()),
            ("Remaining", remaining.to_string()),
            ("NumBlocks", blocks.to_string()),
            ("NumFailedVolumes", node.store.failed_volumes().len().to_string()),
            ("CacheCapacity", "0".to_owned()),
            ("CacheUsed", "0".to_owned()),
        ],
    );
    let mut text = String::from("{\n  \"beans\" : [");
    text.push_str(&beans.join(",\n").replacen("  {", " {", 1));
    text.push_str(" ]\n}\n");
    text.into_bytes()
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    json::string(&mut out, text.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}
