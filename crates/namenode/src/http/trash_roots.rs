//! Where trashes are, for GETTRASHROOT and GETTRASHROOTS.

use surus_namespace::{Env, Namespace};
use surus_types::{FileStatus, HdfsError, InodeId};

/// Home directories that GETTRASHROOTS of all users looks into; the namespace is locked meanwhile.
const TRASH_USERS_MAX: u32 = 10_000;

/// Snapshottable directories that the caller may list, where each has a trash.
fn snapshot_roots(namespace: &Namespace, env: &Env<'_>) -> Vec<String> {
    let mut roots = Vec::new();
    if namespace.config.snapshots.trash_roots {
        namespace.get_snapshottable_dir_listing(env, |root| {
            let name = String::from_utf8_lossy(root.status.name);
            roots.push(format!("{}/{name}", root.parent.trim_end_matches('/')));
        });
    }
    roots
}

/// The caller's trash for a path: in the encryption zone that its parent lies in, as nothing moves out of one; in the
/// snapshottable directory that it lies in, where those have trashes; else at home.
/// Source: `DistributedFileSystem.getTrashRoot`, Hadoop 3.5.0.
pub fn trash_root(namespace: &Namespace, env: &Env<'_>, src: &str) -> String {
    let user = &env.caller.user;
    let above = match src.trim_end_matches('/').rsplit_once('/') {
        Some((above, _)) if !above.is_empty() => above,
        _ => "/",
    };
    // A path that this caller may not look at is one of no zone, as in Hadoop.
    let zone = namespace.encryption_zone_of(env, above).ok().flatten().map(|zone| zone.path);
    let holds = |root: &String| src.starts_with(&format!("{}/", root.trim_end_matches('/')));
    let snapshots = snapshot_roots(namespace, env).into_iter().find(holds);
    // Of two the inner one: both lie on the way to the path.
    match zone.into_iter().chain(snapshots).max_by_key(String::len) {
        Some(root) => format!("{}/.Trash/{user}", root.trim_end_matches('/')),
        None => format!("{}/{user}/.Trash", namespace.config.home_prefix),
    }
}

/// `/user/NAME/.Trash` of the caller or of everybody, where it is there. Source: `FileSystem.getTrashRoots`, Hadoop 3.5.0.
///
/// # Errors
/// A directory of trashes cannot be listed.
pub fn trash_roots(
    namespace: &Namespace,
    env: &Env<'_>,
    all_users: bool,
    put: &mut dyn FnMut(&FileStatus<'_>, &str),
) -> Result<(), HdfsError> {
    let mut users = Vec::new();
    if all_users {
        namespace.get_listing(env, &namespace.config.home_prefix, b"", false, TRASH_USERS_MAX, |entry| {
            users.push(String::from_utf8_lossy(entry.status.name).into_owned());
            true
        })?;
    } else {
        users.push(env.caller.user.to_string());
    }
    let mut roots: Vec<String> =
        users.iter().map(|user| format!("{}/{user}/.Trash", namespace.config.home_prefix)).collect();
    // Zones are listed to superusers only.
    let zones = if env.caller.is_superuser { namespace.encryption_zones(InodeId(0), usize::MAX).0 } else { Vec::new() };
    for zone in zones {
        let trash = format!("{}/.Trash", zone.path.trim_end_matches('/'));
        if all_users {
            namespace.get_listing(env, &trash, b"", false, TRASH_USERS_MAX, |entry| {
                roots.push(format!("{trash}/{}", String::from_utf8_lossy(entry.status.name)));
                true
            })?;
        } else {
            roots.push(format!("{trash}/{}", env.caller.user));
        }
    }
    for root in snapshot_roots(namespace, env) {
        let trash = format!("{}/.Trash", root.trim_end_matches('/'));
        let mut is_there = false;
        namespace.get_file_info(env, &trash, |status| is_there = status.is_some())?;
        if !all_users {
            roots.push(format!("{trash}/{}", env.caller.user));
        } else if is_there {
            namespace.get_listing(env, &trash, b"", false, TRASH_USERS_MAX, |entry| {
                roots.push(format!("{trash}/{}", String::from_utf8_lossy(entry.status.name)));
                true
            })?;
        }
    }
    for path in roots {
        let lend = |status: Option<FileStatus<'_>>| {
            if let Some(status) = status {
                put(&status, &path);
            }
        };
        match namespace.get_file_info(env, &path, lend) {
            Ok(()) => {}
            // A home that this caller may not look into has no trash for it.
            Err(error) if error.class == surus_types::ExceptionClass::AccessControl => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
