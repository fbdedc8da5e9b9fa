//! The user's own files, in the terms of the shell. Not the cluster's: those go through `disk`.

use super::error::{Result, ShellError};
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};
use surus_client::{FileStatus, name_of_id};
use surus_types::FsPermission;

/// Hadoop's block size of local files. Source: `fs.local.block.size`, core-default.xml, Hadoop 3.5.0.
const LOCAL_BLOCK_SIZE: u64 = 32 << 20;

/// `None`: there is nothing at this path.
pub fn stat(path: &str) -> Result<Option<FileStatus>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(status_of(path, &metadata))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(failure(path, &error)),
    }
}

fn status_of(path: &str, metadata: &fs::Metadata) -> FileStatus {
    let ms = |seconds: i64, nanos: i64| u64::try_from(seconds * 1000 + nanos / 1_000_000).unwrap_or(0);
    let is_dir = metadata.is_dir();
    FileStatus {
        path: path.to_string(),
        is_dir,
        symlink: None,
        length: metadata.len(),
        permission: FsPermission::from_wire(metadata.mode()),
        owner: name("/etc/passwd", metadata.uid()),
        group: name("/etc/group", metadata.gid()),
        modification_time_ms: ms(metadata.mtime(), metadata.mtime_nsec()),
        access_time_ms: ms(metadata.atime(), metadata.atime_nsec()),
        replication: 1,
        block_size: LOCAL_BLOCK_SIZE,
        file_id: metadata.ino(),
        children: None,
        flags: 0,
        storage_policy: 0,
        ec_policy: None,
    }
}

fn name(table: &str, id: u32) -> String {
    let text = fs::read_to_string(table).unwrap_or_default();
    name_of_id(&text, id).map_or_else(|| id.to_string(), str::to_string)
}

pub fn list(path: &str) -> Result<Vec<FileStatus>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(path).map_err(|e| failure(path, &e))? {
        let entry = entry.map_err(|e| failure(path, &e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let child = if path == "/" { format!("/{name}") } else { format!("{path}/{name}") };
        // A link to nowhere is not shown, as in Hadoop.
        if let Ok(metadata) = fs::metadata(entry.path()) {
            all.push(status_of(&child, &metadata));
        }
    }
    Ok(all)
}

pub fn open(path: &str) -> Result<fs::File> {
    fs::File::open(path).map_err(|e| failure(path, &e))
}

pub fn create(path: &str) -> Result<fs::File> {
    fs::File::create(path).map_err(|e| failure(path, &e))
}

pub fn mkdirs(path: &str) -> Result<bool> {
    Ok(fs::create_dir_all(path).is_ok())
}

pub fn delete(path: &str, recursive: bool) -> Result<bool> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failure(path, &error)),
    };
    let removed = match (metadata.is_dir(), recursive) {
        (false, _) => fs::remove_file(path),
        (true, true) => fs::remove_dir_all(path),
        (true, false) => fs::remove_dir(path),
    };
    removed.map(|()| true).map_err(|e| failure(path, &e))
}

pub fn rename(from: &str, to: &str) -> Result<bool> {
    Ok(fs::rename(from, to).is_ok())
}

pub fn set_permission(path: &str, permission: FsPermission) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(permission.0.into())).map_err(|e| failure(path, &e))
}

/// `None` leaves a time as it is.
pub fn set_times(path: &str, mtime_ms: Option<u64>, atime_ms: Option<u64>) -> Result<()> {
    let time = |ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
    let mut times = fs::FileTimes::new();
    if let Some(ms) = mtime_ms {
        times = times.set_modified(time(ms));
    }
    if let Some(ms) = atime_ms {
        times = times.set_accessed(time(ms));
    }
    fs::File::open(path).and_then(|file| file.set_times(times)).map_err(|e| failure(path, &e))
}

/// Changes owner and group by name; names the system does not know are passed over, as in Hadoop.
pub fn set_owner(path: &str, user: Option<&str>, group: Option<&str>) -> Result<()> {
    let id = |table: &str, name: Option<&str>| {
        let text = fs::read_to_string(table).unwrap_or_default();
        name.and_then(|name| id_of_name(&text, name))
    };
    let (uid, gid) = (id("/etc/passwd", user), id("/etc/group", group));
    std::os::unix::fs::chown(Path::new(path), uid, gid).map_err(|e| failure(path, &e))
}

fn id_of_name(table: &str, name: &str) -> Option<u32> {
    let line = table.lines().find(|line| line.split(':').next() == Some(name))?;
    line.split(':').nth(2)?.parse().ok()
}

/// Bytes of the file system that holds `path`: whole, used, available.
pub fn space(path: &str) -> Result<(u64, u64, u64)> {
    let stat = rustix::fs::statvfs(path).map_err(|e| failure(path, &e.into()))?;
    let total = stat.f_blocks * stat.f_frsize;
    Ok((total, total - stat.f_bfree * stat.f_frsize, stat.f_bavail * stat.f_frsize))
}

/// The text Java has for a file that cannot be opened: `PATH (reason)`.
fn failure(path: &str, error: &io::Error) -> ShellError {
    let text = format!("{path} ({})", surus_client::io_text(error));
    match error.kind() {
        io::ErrorKind::NotFound => ShellError::NotFound(text),
        _ => ShellError::Message(text),
    }
}
