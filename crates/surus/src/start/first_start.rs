//! What happens once in the life of a file system of `surus start`: format, first directories, site files for its clients.

use super::{CONF, FIRST_START, NAME, NAME_BEING_FORMATTED, SOURCE};
use crate::conf_files::SITE_FILE_BYTES_MAX;
use anyhow::{Context, Result};
use std::path::Path;
use std::time::{Duration, Instant};
use surus_client::{ClientConfig, ClientError, DfsClient};
use surus_conf::{Configuration, keys};
use surus_disk::{Disk, OpenMode, RealDisk, SyncPoint};
use surus_net::rpc::RpcUser;
use surus_types::{ExceptionClass, FsPermission};

/// How long the first directories may wait for the NameNode to leave safe mode.
const SAFE_MODE_WAIT: Duration = Duration::from_secs(30);
/// The first line of site files that Surus wrote; one without it is its owner's and stays as it is.
const WRITTEN_BY: &str = "<!-- Written by surus start, for clients of this file system. -->";

/// Formats the name directory unless it is there. A crash on the way leaves nothing that counts: the name appears when all of it
/// is durable.
///
/// # Errors
/// Files that cannot be written.
pub fn format_if_new(dir: &Path, conf: &Configuration) -> Result<()> {
    let name = dir.join(NAME);
    if RealDisk.exists(&name)? {
        return Ok(());
    }
    let unfinished = dir.join(NAME_BEING_FORMATTED);
    if RealDisk.exists(&unfinished)? {
        RealDisk.remove_dir_all(&unfinished)?;
    }
    let mut conf = conf.clone();
    let uri = format!("file://{}", super::encode_path(&unfinished));
    conf.set_from(keys::DFS_NAMENODE_NAME_DIR.name(), &uri, SOURCE);
    conf.set_from(keys::DFS_NAMENODE_EDITS_DIR.name(), &uri, SOURCE);
    crate::daemons::format_name_directories(&conf, None)?;
    RealDisk.open(&dir.join(FIRST_START), OpenMode::OpenOrCreate)?;
    RealDisk.rename(&unfinished, &name)?;
    RealDisk.sync_dir(dir, SyncPoint("surus.first-start"))?;
    Ok(())
}

/// Makes `/tmp` (1777) and `/user/LOGIN` on the first start, and the site files on every one.
///
/// # Errors
/// The NameNode refuses, or files cannot be written.
pub fn make_directories(dir: &Path, conf: &Configuration, user: &str) -> Result<()> {
    write_site_files(dir, conf)?;
    let marker = dir.join(FIRST_START);
    if !RealDisk.exists(&marker)? {
        return Ok(());
    }
    let config = ClientConfig::from_conf(conf, None)?.with_user(RpcUser { effective: user.to_string(), real: None });
    let client = DfsClient::new(config);
    let sticky = FsPermission(0o1777);
    let deadline = Instant::now() + SAFE_MODE_WAIT;
    loop {
        match client.mkdirs("/tmp", sticky, true) {
            Err(e) if e.is(ExceptionClass::SafeMode) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => break other.map(drop).context("making /tmp")?,
        }
    }
    let rest = || -> Result<(), ClientError> {
        // mkdirs leaves the sticky bit of a path that is there already.
        client.set_permission("/tmp", sticky)?;
        client.mkdirs(&format!("/user/{user}"), FsPermission(0o755), true)?;
        Ok(())
    };
    rest().with_context(|| format!("making /user/{user}"))?;
    Ok(RealDisk.remove_file(&marker)?)
}

/// `conf/core-site.xml` and `conf/hdfs-site.xml`: with them in HADOOP_CONF_DIR, Hadoop's own clients find this file system.
fn write_site_files(dir: &Path, conf: &Configuration) -> Result<()> {
    let conf_dir = dir.join(CONF);
    RealDisk.create_dir_all(&conf_dir)?;
    let core = [(keys::FS_DEFAULT_FS.name(), conf.get(keys::FS_DEFAULT_FS)?)];
    let web = super::reachable(conf, conf.get(keys::DFS_NAMENODE_HTTP_ADDRESS)?)?;
    let hdfs = [
        (keys::DFS_NAMENODE_HTTP_ADDRESS.name(), web.to_string()),
        (keys::DFS_REPLICATION.name(), conf.get(keys::DFS_REPLICATION)?.to_string()),
    ];
    write_site_file(&conf_dir.join("core-site.xml"), &core)?;
    write_site_file(&conf_dir.join("hdfs-site.xml"), &hdfs)
}

fn write_site_file(path: &Path, properties: &[(&str, String)]) -> Result<()> {
    let mut text = format!("<?xml version=\"1.0\"?>\n{WRITTEN_BY}\n<configuration>\n");
    for (name, value) in properties {
        let value = value.replace('&', "&amp;").replace('<', "&lt;");
        text.push_str(&format!("  <property><name>{name}</name><value>{value}</value></property>\n"));
    }
    text.push_str("</configuration>\n");
    if RealDisk.exists(path)? {
        let old = RealDisk.read(path, SITE_FILE_BYTES_MAX)?;
        let old = String::from_utf8_lossy(&old);
        if old == text || !old.contains(WRITTEN_BY) {
            return Ok(());
        }
    }
    Ok(RealDisk.open(path, OpenMode::Create)?.write_all_at(text.as_bytes(), 0)?)
}
