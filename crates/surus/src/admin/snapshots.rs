//! `surus lsSnapshottableDir`, `lsSnapshot`, `snapshotDiff`.
//! Source: `LsSnapshottableDir.java`, `LsSnapshot.java`, `SnapshotDiff.java`, Hadoop 3.5.0.

use super::{USAGE, client_of};
use crate::dfs::minute;
use surus_client::{ClientError, DfsClient, SnapshotDiffReport};
use surus_conf::Configuration;
use surus_types::FsPermission;

/// Snapshottable directories.
pub fn list_directories(conf: &Configuration, arguments: &[String]) -> i32 {
    if !arguments.is_empty() {
        eprintln!(
            "Usage: \nhdfs lsSnapshottableDir: Get the list of snapshottable directories owned by the current user."
        );
        eprintln!("Return all the snapshottable directories if the current user is a super user.\n");
        return USAGE;
    }
    let found = DfsClient::from_conf(conf, None).and_then(|client| client.get_snapshottable_directories());
    told("lsSnapshottableDir", found, |directories| {
        let rows: Vec<[String; 9]> = directories
            .iter()
            .map(|d| {
                let s = &d.dir_status;
                let parent = String::from_utf8_lossy(&d.parent_fullpath);
                let separator = if parent.ends_with('/') || parent.is_empty() && s.path.is_empty() { "" } else { "/" };
                let path = format!("{parent}{separator}{}", String::from_utf8_lossy(&s.path));
                [
                    mode(s.permission.perm),
                    s.block_replication().to_string(),
                    s.owner.clone(),
                    s.group.clone(),
                    s.length.to_string(),
                    minute(s.modification_time),
                    d.snapshot_number.to_string(),
                    d.snapshot_quota.to_string(),
                    if path.is_empty() { "/".to_string() } else { path },
                ]
            })
            .collect();
        print_rows(&rows, &[2, 3]);
        if rows.is_empty() {
            println!();
        }
    })
}

/// Snapshots of a directory.
pub fn list_snapshots(conf: &Configuration, arguments: &[String]) -> i32 {
    let [root] = arguments else {
        eprintln!("Invalid no of arguments");
        eprintln!("Usage: \nhdfs lsSnapshot <snapshotDir>: ");
        eprintln!("\tGet the list of snapshots for a snapshottable directory.\n");
        return USAGE;
    };
    let Some((client, root)) = client(conf, root) else { return USAGE };
    told("lsSnapshot", client.get_snapshots(&root), |snapshots| {
        let rows: Vec<[String; 9]> = snapshots
            .iter()
            .map(|snapshot| {
                let s = &snapshot.dir_status;
                let parent = String::from_utf8_lossy(&snapshot.parent_fullpath);
                let separator = if parent.ends_with('/') { "" } else { "/" };
                [
                    mode(s.permission.perm),
                    s.block_replication().to_string(),
                    s.owner.clone(),
                    s.group.clone(),
                    s.length.to_string(),
                    minute(s.modification_time),
                    snapshot.snapshot_id.to_string(),
                    if snapshot.is_deleted { "DELETED" } else { "ACTIVE" }.to_string(),
                    format!("{parent}{separator}.snapshot/{}", String::from_utf8_lossy(&s.path)),
                ]
            })
            .collect();
        print_rows(&rows, &[2, 3]);
        if rows.is_empty() {
            println!();
        }
    })
}

/// What changed between two snapshots.
pub fn diff(conf: &Configuration, arguments: &[String]) -> i32 {
    let [root, from, to] = arguments else {
        eprintln!("Usage: \nhdfs snapshotDiff <snapshotDir> <from> <to>:");
        eprintln!(
            "\tGet the difference between two snapshots, \n\tor between a snapshot and the current tree of a directory."
        );
        eprintln!(
            "\tFor <from>/<to>, users can use \".\" to present the current status,\n\tand use \".snapshot/snapshot_name\" to present a snapshot,"
        );
        eprintln!("\twhere \".snapshot/\" can be omitted\n");
        return USAGE;
    };
    let Some((client, root)) = client(conf, root) else { return USAGE };
    let (from, to) = (snapshot_name(from), snapshot_name(to));
    told("snapshotDiff", client.get_snapshot_diff(&root, from, to), |report| print!("{}", shown(&report, from, to)))
}

/// `.`: now; `.snapshot/` may stand before a name.
fn snapshot_name(word: &str) -> &str {
    let name = word.rsplit_once(".snapshot/").map_or(word, |(_, name)| name);
    if name == "." { "" } else { name }
}

fn shown(report: &SnapshotDiffReport, from: &str, to: &str) -> String {
    let state = |name: &str| if name.is_empty() { "current directory".to_string() } else { format!("snapshot {name}") };
    let root = &report.snapshot_root;
    let mut out = format!("Difference between {} and {} under directory {root}:\n", state(from), state(to));
    let path = |bytes: &[u8]| match bytes {
        b"" => ".".to_string(),
        _ => format!("./{}", String::from_utf8_lossy(bytes)),
    };
    for entry in &report.diff_report_entries {
        out += &format!("{}\t{}", entry.modification_label, path(&entry.fullpath));
        if let Some(target) = &entry.target_path {
            out += &format!(" -> {}", path(target));
        }
        out.push('\n');
    }
    out + "\n"
}

fn client(conf: &Configuration, path: &str) -> Option<(DfsClient, String)> {
    match client_of(conf, path) {
        Ok(found) => Some(found),
        Err(text) => {
            eprintln!("{text}");
            None
        }
    }
}

fn told<T>(name: &str, result: Result<T, ClientError>, print: impl FnOnce(T)) -> i32 {
    match result {
        Ok(found) => {
            print(found);
            0
        }
        Err(error) => {
            let message = error.message();
            eprintln!("{name}: {}", message.split('\n').next().unwrap_or(""));
            1
        }
    }
}

fn mode(bits: u32) -> String {
    format!("d{}", FsPermission(bits as u16))
}

/// Columns as wide as their widest value; those of `left` begin at the left.
fn print_rows(rows: &[[String; 9]], left: &[usize]) {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(i, cell)| match i {
                8 => cell.clone(),
                _ if left.contains(&i) => format!("{cell:<0$}", width(i)),
                _ => format!("{cell:>0$}", width(i)),
            })
            .collect();
        println!("{}", cells.join(" "));
    }
}
