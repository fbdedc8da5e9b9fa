//! `surus fsck`: asks the NameNode's `/fsck` page and shows its text; the exit code follows from the last line.
//! Source: `DFSck.java`, Hadoop 3.5.0.

use std::io::BufRead;
use std::time::Duration;
use surus_client::DfsClient;
use surus_conf::{Configuration, keys};
use surus_net::http;

/// A large directory may take the NameNode this long to the next line.
const READ_TIMEOUT: Duration = Duration::from_secs(600);
/// Hadoop's -1, which a shell sees as 255.
const FAILED: i32 = -1;

pub const USAGE: &str = "Usage: hdfs fsck <path> [-list-corruptfileblocks | [-move | -delete | -openforwrite] [-files [-blocks [-locations | -racks | -replicaDetails | -upgradedomains]]]] [-includeSnapshots] [-showprogress] [-storagepolicies] [-maintenance] [-blockId <blk_Id>] [-replicate]
\t<path>\tstart checking from this path
\t-move\tmove corrupted files to /lost+found
\t-delete\tdelete corrupted files
\t-files\tprint out files being checked
\t-openforwrite\tprint out files opened for write
\t-includeSnapshots\tinclude snapshot data if the given path indicates a snapshottable directory or there are snapshottable directories under it
\t-list-corruptfileblocks\tprint out list of missing blocks and files they belong to
\t-files -blocks\tprint out block report
\t-files -blocks -locations\tprint out locations for every block
\t-files -blocks -racks\tprint out network topology for data-node locations
\t-files -blocks -replicaDetails\tprint out each replica details
\t-files -blocks -upgradedomains\tprint out upgrade domains for every block
\t-storagepolicies\tprint out storage policy summary for the blocks
\t-maintenance\tprint out maintenance state node details
\t-showprogress\tDeprecated. Progress is now shown by default
\t-blockId\tprint out which file this blockId belongs to, locations (nodes, racks) of this block, and other diagnostics info (under replicated, corrupted or not, etc)
\t-replicate initiate replication work to make mis-replicated blocks satisfy block placement policy

Please Note:

\t1. By default fsck ignores files opened for write, use -openforwrite to report such files. They are usually  tagged CORRUPT or HEALTHY depending on their block allocation status
\t2. Option -includeSnapshots should not be used for comparing stats, should be used only for HEALTH check, as this may contain duplicates if the same file present in both original fs tree and inside snapshots.
";

/// What is asked for, as the page's query.
#[derive(Debug, PartialEq, Eq)]
struct Query {
    options: String,
    path: String,
    list_corrupt: bool,
    block_ids: Option<String>,
}

fn parse(arguments: &[String]) -> Result<Query, String> {
    let mut query = Query { options: String::new(), path: String::new(), list_corrupt: false, block_ids: None };
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let name = match word.as_str() {
            "-move" => "move",
            "-delete" => "delete",
            "-files" => "files",
            "-openforwrite" => "openforwrite",
            "-blocks" => "blocks",
            "-locations" => "locations",
            "-racks" => "racks",
            "-replicaDetails" => "replicadetails",
            "-upgradedomains" => "upgradedomains",
            "-storagepolicies" => "storagepolicies",
            "-showprogress" => "showprogress",
            "-includeSnapshots" => "includeSnapshots",
            "-maintenance" => "maintenance",
            "-replicate" => "replicate",
            "-list-corruptfileblocks" => {
                query.list_corrupt = true;
                "listcorruptfileblocks"
            }
            "-blockId" => {
                let mut ids: Vec<&str> = Vec::new();
                while let Some(id) = words.next_if(|next| !next.starts_with('-')) {
                    ids.push(id);
                }
                query.block_ids = Some(ids.join(" "));
                continue;
            }
            path if !path.starts_with('-') => {
                query.path = path.to_owned();
                continue;
            }
            other => return Err(format!("fsck: Illegal option '{other}'")),
        };
        query.options.push_str(&format!("&{name}=1"));
    }
    if query.path.is_empty() {
        query.path.push('/');
    }
    Ok(query)
}

/// As `URLEncoder` writes a query's value.
fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// Runs the command; returns the exit code.
pub fn run(conf: &Configuration, arguments: &[String]) -> i32 {
    if arguments.is_empty() {
        eprintln!("{USAGE}");
        return FAILED;
    }
    let query = match parse(arguments) {
        Ok(query) => query,
        Err(text) => {
            eprint!("{text}\n{USAGE}\n");
            return FAILED;
        }
    };
    match check(conf, &query) {
        Ok(code) => code,
        Err(text) => {
            eprintln!("{text}");
            0
        }
    }
}

fn check(conf: &Configuration, query: &Query) -> Result<i32, String> {
    let unreachable = |text: String| format!("FileSystem is inaccessible due to:\n{text}\nDFSck exiting.");
    let client = DfsClient::from_conf(conf, None).map_err(|e| unreachable(e.to_string()))?;
    let path = match query.path.strip_prefix(&client.uri()) {
        Some("") => "/".to_owned(),
        Some(rest) => rest.to_owned(),
        None if query.path.starts_with('/') => query.path.clone(),
        None => format!("{}/{}", client.home_directory(), query.path),
    };
    if query.block_ids.is_none() {
        let status = client.get_file_info(&path).map_err(|e| unreachable(e.to_string()))?;
        if status.is_none() {
            return Err(unreachable(format!("java.io.FileNotFoundException: File does not exist: {path}")));
        }
    }
    let address = web_address(conf, &client).map_err(|e| unreachable(e.to_string()))?;
    let mut target = format!("/fsck?ugi={}", encode(client.user()));
    if let Some(ids) = &query.block_ids {
        target.push_str(&format!("&blockId={}", encode(ids)));
    }
    target.push_str(&query.options);
    target.push_str(&format!("&path={}", encode(&path)));
    eprintln!("Connecting to namenode via http://{address}{target}");
    if query.list_corrupt {
        return list_corrupt(&address, &target, &path);
    }
    let answer = http::get(&address, &target, READ_TIMEOUT).map_err(|e| e.to_string())?;
    let mut last = String::new();
    for line in answer.body.lines() {
        let line = line.map_err(|e| e.to_string())?;
        crate::output::print(&format!("{line}\n"));
        if !line.trim().is_empty() {
            last = line;
        }
    }
    Ok(exit_code(&last))
}

/// The NameNode's web address, on its RPC address's host where the setting says "any".
pub fn web_address(conf: &Configuration, client: &DfsClient) -> Result<String, surus_client::ClientError> {
    let address = conf.get(keys::DFS_NAMENODE_HTTP_ADDRESS)?;
    if address.host != "0.0.0.0" {
        return Ok(address.to_string());
    }
    let namenode = client.config().namenodes.first().map(String::as_str).unwrap_or_default();
    let host = namenode.rsplit_once(':').map_or(namenode, |(host, _)| host);
    Ok(format!("{host}:{}", address.port))
}

/// Page after page, until the NameNode has no more.
fn list_corrupt(address: &str, target: &str, path: &str) -> Result<i32, String> {
    let (mut cookie, mut count) = ("0".to_owned(), 0);
    loop {
        let page = format!("{target}&startblockafter={cookie}");
        let answer = http::get(address, &page, READ_TIMEOUT).map_err(|e| e.to_string())?;
        let mut found = 0;
        for line in answer.body.lines() {
            let line = line.map_err(|e| e.to_string())?;
            if let Some(next) = line.strip_prefix("Cookie:\t") {
                next.trim().clone_into(&mut cookie);
            } else if line.starts_with("blk_") {
                if count == 0 && found == 0 {
                    crate::output::print(&format!("The list of corrupt files under path '{path}' are:\n"));
                }
                found += 1;
                crate::output::print(&format!("{line}\n"));
            } else if line.starts_with("Access denied") {
                crate::output::print(&format!("Failed to open path '{path}': Permission denied\n"));
                return Ok(FAILED);
            }
        }
        count += found;
        if found == 0 {
            break;
        }
    }
    crate::output::print(&format!("The filesystem under path '{path}' has {count} CORRUPT files\n"));
    Ok(if count == 0 { 0 } else { FAILED })
}

fn exit_code(last: &str) -> i32 {
    let ends = |text: &str| last.ends_with(text);
    match () {
        () if ends("is HEALTHY") => 0,
        () if ends("is CORRUPT") => 1,
        () if ends("does not exist") || last.contains("Incorrect blockId format:") || ends("is EXCESS") => 0,
        () if ends("is DECOMMISSIONED") => 2,
        () if ends("is DECOMMISSIONING") => 3,
        () if ends("is IN MAINTENANCE") => 4,
        () if ends("is ENTERING MAINTENANCE") => 5,
        () if ends("is STALE") => 6,
        () => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_a_query() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let query = parse(&words("/a -files -blocks -locations")).unwrap();
        assert_eq!((query.path.as_str(), query.options.as_str()), ("/a", "&files=1&blocks=1&locations=1"));
        let query = parse(&words("-blockId blk_1 blk_2 -maintenance")).unwrap();
        assert_eq!((query.path.as_str(), query.block_ids.as_deref()), ("/", Some("blk_1 blk_2")));
        assert_eq!(parse(&words("-zzz")).unwrap_err(), "fsck: Illegal option '-zzz'");
        assert_eq!(encode("/ä b"), "%2F%C3%A4+b");
        assert_eq!(exit_code("The filesystem under path '/' is CORRUPT"), 1);
    }
}
