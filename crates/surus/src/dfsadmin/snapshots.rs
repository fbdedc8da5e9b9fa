//! `-allowSnapshot`, `-disallowSnapshot`, `-provisionSnapshotTrash`. Source: `DFSAdmin.java`, Hadoop 3.5.0.

use super::{Done, FAILED, Failure};
use crate::dfs::{Shell, ShellError};
use surus_client::{ClientError, DfsClient};
use surus_conf::Configuration;

/// Mode of a trash root: everybody writes, only owners delete. Source: `FileSystem.TRASH_STICKY_PERMISSION`.
const TRASH_MODE: u16 = 0o1777;

/// Runs one of the three; `name` is without its dash.
pub fn run(conf: &Configuration, name: &str, arguments: &[String]) -> Done {
    let [root] = arguments else { return Err(Failure::Usage) };
    if name == "provisionSnapshotTrash" && root == "-all" {
        return provision_all(conf);
    }
    let mut shell = Shell::new(conf, name);
    let mut code = 0;
    for item in shell.expand_quietly(root).map_err(into_failure)? {
        let Some(client) = item.fs.client() else {
            return Err(Failure::Illegal(format!("FileSystem {} is not an HDFS file system", item.fs.uri())));
        };
        match name {
            "allowSnapshot" => {
                client.allow_snapshot(&item.path)?;
                println!("Allowing snapshot on {root} succeeded");
            }
            "disallowSnapshot" => {
                client.disallow_snapshot(&item.path)?;
                println!("Disallowing snapshot on {root} succeeded");
            }
            _ => {
                if !provision(client, &item.path)? {
                    code = FAILED;
                }
            }
        }
    }
    Ok(code)
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

/// Makes `.Trash` in a snapshottable directory; false: it is there already.
fn provision(client: &DfsClient, root: &str) -> Result<bool, ClientError> {
    let trash = format!("{}/.Trash", root.trim_end_matches('/'));
    if client.get_file_info(&trash)?.is_some() {
        eprintln!(
            "provisionSnapshotTrash: Can't provision trash for snapshottable directory {root} because trash path {trash} already exists."
        );
        return Ok(false);
    }
    client.mkdirs(&trash, surus_types::FsPermission(TRASH_MODE), true)?;
    client.set_permission(&trash, surus_types::FsPermission(TRASH_MODE))?;
    println!("Successfully provisioned snapshot trash at {trash}");
    Ok(true)
}
