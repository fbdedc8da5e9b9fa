//! `-allowSnapshot`, `-disallowSnapshot`, `-provisionSnapshotTrash`. Source: `DFSAdmin.java`, Hadoop 3.5.0.

use super::{Done, Failure};
use crate::dfs::{Shell, ShellError};
use surus_client::{ClientError, DfsClient};
use surus_conf::Configuration;

/// Mode of a trash root: everybody writes, only owners delete. Source: `FileSystem.TRASH_STICKY_PERMISSION`.
const TRASH_MODE: u16 = 0o1777;
/// Bit of a status: the directory may have snapshots.
const SNAPSHOT_ENABLED: u32 = 8;

/// Runs one of the three; `name` is without its dash.
pub fn run(conf: &Configuration, name: &str, arguments: &[String]) -> Done {
    let [root] = arguments else { return Err(Failure::Usage) };
    if name == "provisionSnapshotTrash" && root == "-all" {
        return provision_all(conf);
    }
    let mut shell = Shell::new(conf, name);
    for item in shell.expand_quietly(root).map_err(into_failure)? {
        let Some(client) = item.fs.client() else {
            return Err(Failure::Illegal(format!("FileSystem {} is not an HDFS file system", item.fs.uri())));
        };
        match name {
            "allowSnapshot" => {
                client.allow_snapshot(&item.path)?;
                if client.get_server_defaults()?.snapshot_trash_roots {
                    make_trash(client, &item.path)?;
                }
                println!("Allowing snapshot on {root} succeeded");
            }
            "disallowSnapshot" => {
                remove_empty_trash(client, &item.path)?;
                client.disallow_snapshot(&item.path)?;
                println!("Disallowing snapshot on {root} succeeded");
            }
            _ => provision(client, &item.path)?,
        }
    }
    Ok(0)
}

fn into_failure(error: ShellError) -> Failure {
    Failure::Illegal(error.message())
}

fn provision_all(conf: &Configuration) -> Done {
    let client = DfsClient::from_conf(conf, None)?;
    for directory in client.get_snapshottable_directories()? {
        let parent = String::from_utf8_lossy(&directory.parent_fullpath).into_owned();
        let name = String::from_utf8_lossy(&directory.dir_status.path).into_owned();
        provision(&client, &format!("{}/{name}", parent.trim_end_matches('/')))?;
    }
    Ok(0)
}

/// As `make_trash`, and says so.
fn provision(client: &DfsClient, root: &str) -> Result<(), Failure> {
    let trash = make_trash(client, root)?;
    println!("Successfully provisioned snapshot trash at {trash}");
    Ok(())
}

/// Makes `.Trash` in a snapshottable directory. Source: `DistributedFileSystem.provisionSnapshotTrash`, Hadoop 3.5.0.
fn make_trash(client: &DfsClient, root: &str) -> Result<String, Failure> {
    if client.file_status(root)?.flags & SNAPSHOT_ENABLED == 0 {
        return Err(Failure::Illegal(format!("{root} is not a snapshottable directory.")));
    }
    let trash = trash_of(root);
    if let Some(found) = client.get_file_info(&trash)? {
        let mut text = format!(
            "Can't provision trash for snapshottable directory {root} because trash path {trash} already exists."
        );
        if !found.is_dir {
            text.push_str(&format!("\r\nWARNING: {trash} is not a directory."));
        }
        if found.permission.0 != TRASH_MODE {
            text.push_str(&format!("\r\nWARNING: Permission of {trash} differs from provided permission rwxrwxrwt"));
        }
        // What is as it should be stays.
        return if text.contains("WARNING") { Err(ClientError::io(text).into()) } else { Ok(trash) };
    }
    client.mkdirs(&trash, surus_types::FsPermission(TRASH_MODE), true)?;
    client.set_permission(&trash, surus_types::FsPermission(TRASH_MODE))?;
    Ok(trash)
}

/// What nobody uses goes with the right to have snapshots. Source:
/// `DistributedFileSystem.checkTrashRootAndRemoveIfEmpty`, Hadoop 3.5.0.
fn remove_empty_trash(client: &DfsClient, root: &str) -> Result<(), Failure> {
    let trash = trash_of(root);
    let Some(status) = client.get_file_info(&trash)? else { return Ok(()) };
    if !status.is_dir {
        tracing::warn!("{trash} is not a directory. Ignored.");
    } else if client.list_status(&trash)?.is_empty() {
        client.delete(&trash, false)?;
    } else {
        let text = format!("Found non-empty trash root at {trash}. Rename or delete it, then try again.");
        return Err(ClientError::io(text).into());
    }
    Ok(())
}

fn trash_of(root: &str) -> String {
    format!("{}/.Trash", root.trim_end_matches('/'))
}
