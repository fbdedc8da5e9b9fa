//! `dfsadmin` commands to the NameNode: what it is to read anew, lists and dumps of its state.

use super::{Done, FAILED, Failure, each_namenode, for_place};
use surus_client::{DfsClient, NameNodes};
use surus_conf::Configuration;
use surus_proto::hadoop::common as rpc;
use surus_proto::hadoop::hdfs as proto;

const REFRESH_USERS: &str = "org.apache.hadoop.security.RefreshUserMappingsProtocol";
const REFRESH_POLICY: &str = "org.apache.hadoop.security.authorize.RefreshAuthorizationPolicyProtocol";
const REFRESH_QUEUE: &str = "org.apache.hadoop.ipc.RefreshCallQueueProtocol";
const GENERIC_REFRESH: &str = "org.apache.hadoop.ipc.GenericRefreshProtocol";
const RECONFIGURATION: &str = "org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol";
const CLIENT_DATANODE: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";

pub fn restore_failed_storage(conf: &Configuration, arguments: &[String]) -> Done {
    let [arg] = arguments else { return Err(Failure::Usage) };
    if !["true", "false", "check"].contains(&arg.as_str()) {
        eprintln!("restoreFailedStorage valid args are true|false|check");
        return Ok(FAILED);
    }
    for (client, place) in each_namenode(conf)? {
        let set = client.restore_failed_storage(arg)?;
        println!("restoreFailedStorage is set to {set}{}", for_place(&place));
    }
    Ok(0)
}

/// The four commands that take nothing and change nothing but what is kept in memory.
pub fn refresh_kind(conf: &Configuration, kind: &str, arguments: &[String]) -> Done {
    if !arguments.is_empty() {
        return Err(Failure::Usage);
    }
    for (client, place) in each_namenode(conf)? {
        let ask = |protocol: &str| NameNodes::new(client.config(), protocol);
        let what = match kind {
            "refreshServiceAcl" => {
                let _: rpc::RefreshServiceAclResponseProto =
                    ask(REFRESH_POLICY).call_idempotent("refreshServiceAcl", &rpc::RefreshServiceAclRequestProto {})?;
                "Refresh service acl"
            }
            "refreshUserToGroupsMappings" => {
                let request = rpc::RefreshUserToGroupsMappingsRequestProto {};
                let _: rpc::RefreshUserToGroupsMappingsResponseProto =
                    ask(REFRESH_USERS).call_idempotent("refreshUserToGroupsMappings", &request)?;
                "Refresh user to groups mapping"
            }
            "refreshSuperUserGroupsConfiguration" => {
                let request = rpc::RefreshSuperUserGroupsConfigurationRequestProto {};
                let _: rpc::RefreshSuperUserGroupsConfigurationResponseProto =
                    ask(REFRESH_USERS).call_idempotent("refreshSuperUserGroupsConfiguration", &request)?;
                "Refresh super user groups configuration"
            }
            _ => {
                let _: rpc::RefreshCallQueueResponseProto =
                    ask(REFRESH_QUEUE).call_idempotent("refreshCallQueue", &rpc::RefreshCallQueueRequestProto {})?;
                "Refresh call queue"
            }
        };
        println!("{what} successful{}", for_place(&place));
    }
    Ok(0)
}

/// `-refresh HOST:PORT KEY [ARGS]`: the exit code is that of the handlers.
pub fn refresh(conf: &Configuration, arguments: &[String]) -> Done {
    let [address, identifier, args @ ..] = arguments else { return Err(Failure::Usage) };
    let request = rpc::GenericRefreshRequestProto { identifier: Some(identifier.clone()), args: args.to_vec() };
    let at = at(conf, address, GENERIC_REFRESH)?;
    let answer: rpc::GenericRefreshResponseCollectionProto = at.call_idempotent("refresh", &request)?;
    println!("Refresh Responses:\n");
    let mut code = if answer.responses.is_empty() { -1 } else { 0 };
    for response in &answer.responses {
        let sender = response.sender_name().to_owned();
        println!("{sender}: {} (exit {})", response.user_message(), response.exit_status());
        code = code.max(response.exit_status());
    }
    Ok(code)
}

/// A server by its address, whatever the file system is.
pub fn at(conf: &Configuration, address: &str, protocol: &str) -> Result<NameNodes, Failure> {
    let mut config = surus_client::ClientConfig::from_conf(conf, None)?;
    config.namenodes = vec![address.to_owned()];
    config.is_logical = false;
    Ok(NameNodes::new(&config, protocol))
}

pub fn reconfig(conf: &Configuration, arguments: &[String]) -> Done {
    let [kind, address, operation] = arguments else { return Err(Failure::Usage) };
    let protocol = match kind.as_str() {
        "namenode" => RECONFIGURATION,
        "datanode" => CLIENT_DATANODE,
        _ => {
            eprintln!("Node type {kind} not supported.");
            return Ok(1);
        }
    };
    let at = at(conf, address, protocol)?;
    match operation.as_str() {
        "properties" => {
            let answer: proto::ListReconfigurablePropertiesResponseProto = at
                .call_idempotent("listReconfigurableProperties", &proto::ListReconfigurablePropertiesRequestProto {})?;
            println!("Node [{address}] Reconfigurable properties:");
            answer.name.iter().for_each(|property| println!("{property}"));
        }
        "start" => {
            let _: proto::StartReconfigurationResponseProto =
                at.call_idempotent("startReconfiguration", &proto::StartReconfigurationRequestProto {})?;
            println!("Started reconfiguration task on node [{address}].");
        }
        "status" => {
            let answer: proto::GetReconfigurationStatusResponseProto =
                at.call_idempotent("getReconfigurationStatus", &proto::GetReconfigurationStatusRequestProto {})?;
            put_status(address, &answer);
        }
        other => {
            eprintln!("Unknown operation: {other}");
            return Ok(1);
        }
    }
    Ok(0)
}

fn put_status(address: &str, status: &proto::GetReconfigurationStatusResponseProto) {
    print!("Reconfiguring status for node [{address}]: ");
    let date = |ms: i64| super::report::java_date(u64::try_from(ms).unwrap_or(0));
    if status.start_time <= 0 {
        return println!("no task was found.");
    }
    print!("started at {}", date(status.start_time));
    let Some(end) = status.end_time else { return println!(" and is still running.") };
    println!(" and finished at {}.", date(end));
    for change in &status.changes {
        let shown = |text: &str| format!("\"{text}\"");
        match &change.error_message {
            None => println!("SUCCESS: Changed property {}", change.name),
            Some(_) => println!("FAILED: Change property {}", change.name),
        }
        println!("\tFrom: {}\n\tTo: {}", shown(&change.old_value), shown(change.new_value.as_deref().unwrap_or("")));
        if let Some(error) = &change.error_message {
            println!("\tError: {error}.");
        }
    }
}

pub fn print_topology(conf: &Configuration, arguments: &[String]) -> Done {
    if !arguments.is_empty() {
        return Err(Failure::Usage);
    }
    let client = DfsClient::from_conf(conf, None)?;
    let nodes = client.get_datanode_report(surus_client::DatanodeReportType::All)?;
    let mut racks: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
    for node in &nodes {
        let id = &node.id;
        let (address, host) = (format!("{}:{}", id.ip_addr, id.xfer_port), super::report::resolved_name(id));
        let state = super::report::topology_state(node);
        racks.entry(node.location().to_owned()).or_default().push(format!("   {address} ({host}) {state}"));
    }
    for (rack, mut lines) in racks {
        lines.sort();
        println!("Rack: {rack}\n{}\n", lines.join("\n"));
    }
    Ok(0)
}

pub fn list_open_files(conf: &Configuration, arguments: &[String]) -> Done {
    let mut kind = proto::OpenFilesTypeProto::AllOpenFiles;
    let mut path = "/".to_owned();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-blockingDecommission" => kind = proto::OpenFilesTypeProto::BlockingDecommission,
            "-path" => match words.next() {
                Some(given) => path = given.clone(),
                None => return Err(Failure::Usage),
            },
            _ => return Err(Failure::Usage),
        }
    }
    let client = DfsClient::from_conf(conf, None)?;
    println!("{:<20}\t{:<20}\tOpen File Path", "Client Host", "Client Name");
    let mut id = 0;
    loop {
        let answer = client.list_open_files(id, kind, &path)?;
        for entry in &answer.entries {
            println!("{:<20}\t{:<20}\t{:>20}", entry.client_machine, entry.client_name, entry.path);
            id = entry.id;
        }
        if !answer.has_more || answer.entries.is_empty() {
            return Ok(0);
        }
    }
}

pub fn metasave(conf: &Configuration, arguments: &[String]) -> Done {
    let [file] = arguments else { return Err(Failure::Usage) };
    for (client, place) in each_namenode(conf)? {
        client.meta_save(file)?;
        let place = if place.is_empty() { client.uri() } else { place };
        println!("Created metasave file {file} in the log directory of namenode {place}");
    }
    Ok(0)
}

/// Bytes a second, with a binary suffix.
pub fn set_balancer_bandwidth(conf: &Configuration, arguments: &[String]) -> Done {
    let [text] = arguments else { return Err(Failure::Usage) };
    let bandwidth = match parse_bytes(text) {
        Some(bandwidth) if bandwidth >= 0 => bandwidth,
        Some(_) => {
            eprintln!("Bandwidth should be a non-negative integer");
            return Ok(FAILED);
        }
        None => {
            eprintln!("NumberFormatException: For input string: \"{text}\"");
            return Err(Failure::Usage);
        }
    };
    for (client, place) in each_namenode(conf)? {
        client.set_balancer_bandwidth(bandwidth)?;
        println!("Balancer bandwidth is set to {bandwidth}{}", for_place(&place));
    }
    Ok(0)
}

fn parse_bytes(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let (digits, shift) = match text.chars().last()? {
        'k' => (&text[..text.len() - 1], 10),
        'm' => (&text[..text.len() - 1], 20),
        'g' => (&text[..text.len() - 1], 30),
        't' => (&text[..text.len() - 1], 40),
        'p' => (&text[..text.len() - 1], 50),
        _ => (text.as_str(), 0),
    };
    digits.parse::<i64>().ok()?.checked_mul(1 << shift)
}
