//! The trash: a removed path moves to the caller's `.Trash/Current`. Source: `TrashPolicyDefault.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::uri::parent;
use crate::local_time::{LocalTime, local_time, now_ms};
use surus_client::DfsClient;
use surus_types::date::days_from_civil;
use surus_types::{ExceptionClass, FsPermission};

const CURRENT: &str = "Current";
/// Only the owner sees what is in the trash.
const PERMISSION: FsPermission = FsPermission(0o700);
/// A file in the way of a directory is stepped round once.
const TRIES: usize = 2;

/// What was moved where.
pub struct Moved {
    pub from: String,
    pub to: String,
}

/// Minutes that the trash keeps things: the NameNode's figure, else the caller's own.
fn interval(client: &DfsClient) -> Result<std::time::Duration> {
    let server = client.get_server_defaults()?.trash_interval;
    Ok(if server.is_zero() { client.config().trash_interval } else { server })
}

/// Moves a path to the trash; `None`: the trash is off, or the path lies in it already.
///
/// # Errors
/// The path holds the trash itself; nothing is there; the move failed.
pub fn move_to_trash(client: &DfsClient, path: &str) -> Result<Option<Moved>> {
    if interval(client)?.is_zero() {
        return Ok(None);
    }
    client.file_status(path)?;
    let root = client.trash_root(path)?;
    let qualified = |path: &str| format!("{}{path}", client.uri());
    if qualified(path).starts_with(&qualified(&root)) {
        return Ok(None);
    }
    if parent(&root).is_some_and(|home| qualified(home).starts_with(&qualified(path))) {
        return Err(ShellError::Message(format!(
            "Cannot move \"{}\" to the trash, as it contains the trash",
            qualified(path)
        )));
    }
    let current = format!("{root}/{CURRENT}");
    let mut target = format!("{current}{path}");
    let mut directory = format!("{current}{}", parent(path).filter(|p| *p != "/").unwrap_or(""));
    let mut cause = None;
    for _ in 0..TRIES {
        if let Err(error) = client.mkdirs(&directory, PERMISSION, true) {
            if !error.is(ExceptionClass::FileAlreadyExists) && !error.is(ExceptionClass::ParentNotDirectory) {
                return Err(failed(client, path, &error.message()));
            }
            // A file stands where a directory has to be: that component gets the time behind its name.
            let blocked = first_file(client, &directory)?;
            let moved = format!("{blocked}{}", now_ms());
            target = target.replacen(&blocked, &moved, 1);
            directory = directory.replacen(&blocked, &moved, 1);
            cause = Some(error.message());
            continue;
        }
        let base = target.clone();
        while client.get_file_info(&target)?.is_some() {
            target = format!("{base}{}", now_ms());
        }
        match client.rename2(path, &target, false, true) {
            Ok(()) => return Ok(Some(Moved { from: qualified(path), to: qualified(&target) })),
            Err(error) => cause = Some(error.message()),
        }
    }
    Err(failed(client, path, &cause.unwrap_or_default()))
}

fn failed(client: &DfsClient, path: &str, cause: &str) -> ShellError {
    let cause = cause.split('\n').next().unwrap_or("");
    ShellError::Message(format!("Failed to move to trash: {}{path}: {cause}", client.uri()))
}

/// The first component of a path that is a file.
fn first_file(client: &DfsClient, path: &str) -> Result<String> {
    let mut at = path;
    let mut found = path;
    loop {
        if client.get_file_info(at).ok().flatten().is_some_and(|stat| !stat.is_dir) {
            found = at;
        }
        match parent(at) {
            Some(up) if up != "/" => at = up,
            _ => return Ok(found.to_string()),
        }
    }
}

/// Deletes checkpoints older than the interval (all of them where `immediate`) and makes one of what is there now.
pub fn expunge(client: &DfsClient, immediate: bool) -> Result<()> {
    let keep = interval(client)?;
    // Without a trash interval the client's trash is off, and so is this.
    if keep.is_zero() && !immediate {
        return Ok(());
    }
    client.trash_roots()?.iter().try_for_each(|root| expunge_root(client, root, keep, immediate))
}

fn expunge_root(client: &DfsClient, root: &str, keep: std::time::Duration, immediate: bool) -> Result<()> {
    if client.get_file_info(root)?.is_none() {
        return Ok(());
    }
    if !immediate {
        delete_checkpoints(client, root, now_ms() - i64::try_from(keep.as_millis()).unwrap_or(i64::MAX))?;
    }
    let current = format!("{root}/{CURRENT}");
    if client.get_file_info(&current)?.is_some() {
        let LocalTime { year, month, day, hour, minute, second, .. } = local_time(now_ms());
        let stamp = format!("{:02}{month:02}{day:02}{hour:02}{minute:02}{second:02}", year % 100);
        let base = format!("{root}/{stamp}");
        let mut checkpoint = base.clone();
        let mut attempt = 0;
        while client.get_file_info(&checkpoint)?.is_some() {
            attempt += 1;
            checkpoint = format!("{base}-{attempt}");
        }
        client.rename2(&current, &checkpoint, false, false)?;
    }
    if immediate {
        delete_checkpoints(client, root, i64::MAX)?;
    }
    Ok(())
}

fn delete_checkpoints(client: &DfsClient, root: &str, older_than_ms: i64) -> Result<()> {
    for entry in client.list_status(root)? {
        if checkpoint_time(entry.name()).is_some_and(|time| time < older_than_ms) {
            client.delete(&entry.path, true)?;
        }
    }
    Ok(())
}

/// The time in a checkpoint's name, `yyMMddHHmmss` or the older `yyMMddHHmm`, in milliseconds since 1970.
fn checkpoint_time(name: &str) -> Option<i64> {
    let digits = name.split('-').next().unwrap_or("");
    if !(digits.len() == 10 || digits.len() == 12) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |text| text.parse::<i64>().ok());
    let days = days_from_civil(2000 + part(0)?, part(2)?, part(4)?);
    let local =
        (days * 86_400 + part(6)? * 3600 + part(8)? * 60 + if digits.len() == 12 { part(10)? } else { 0 }) * 1000;
    let shown = local_time(local);
    let shown_days = days_from_civil(shown.year.into(), shown.month.into(), shown.day.into());
    let offset = (shown_days * 86_400 + i64::from(shown.hour * 3600 + shown.minute * 60 + shown.second)) * 1000 - local;
    Some(local - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_tell_their_time() {
        let ms = checkpoint_time("260203040506").unwrap();
        let t = local_time(ms);
        assert_eq!((t.year, t.month, t.day, t.hour, t.minute, t.second), (2026, 2, 3, 4, 5, 6));
        assert_eq!(checkpoint_time("260203040506-1"), Some(ms));
        assert!(checkpoint_time("2602030405").is_some());
        assert_eq!(checkpoint_time(CURRENT), None);
    }
}
