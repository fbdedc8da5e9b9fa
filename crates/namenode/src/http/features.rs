//! WebHDFS operations on the borders of features: storage policies, trash roots, links, erasure coding of what has none.

use crate::rpc::client::ec;
use surus_namespace::{Env, Namespace, storage_policy};
use surus_types::{FileStatus, HdfsError, InodeId};
use surus_webhdfs::Operation;
use surus_webhdfs::json::{self, StoragePolicy};
use surus_webhdfs::json_ec;

/// Home directories that GETTRASHROOTS of all users looks into; the namespace is locked meanwhile.
const TRASH_USERS_MAX: u32 = 10_000;

/// Answers one of these operations; `None`: it is none of them.
pub fn read(
    namespace: &Namespace,
    env: &Env<'_>,
    src: &str,
    operation: &Operation,
) -> Option<Result<Vec<u8>, HdfsError>> {
    let mut out = Vec::new();
    let result = match operation {
        Operation::GetAllStoragePolicy => {
            json::storage_policies(&mut out, &storage_policy::SUITE.each_ref().map(view));
            Ok(())
        }
        Operation::GetStoragePolicy => {
            namespace.get_storage_policy(env, src).map(|policy| json::storage_policy(&mut out, &view(policy)))
        }
        Operation::GetEcPolicy => ec::policy_of(namespace, env, src).map(|policy| json_ec::policy(&mut out, policy)),
        Operation::GetEcPolicies => {
            let all = namespace.tree.ec_policies().by_name();
            json_ec::policies(&mut out, all.into_iter().map(|info| (&info.policy, info.state)));
            Ok(())
        }
        Operation::GetEcCodecs => {
            json_ec::codecs(&mut out, &ec::CODECS);
            Ok(())
        }
        Operation::GetLinkTarget => {
            namespace.get_link_target(env, src).map(|target| json::path(&mut out, &String::from_utf8_lossy(&target)))
        }
        Operation::GetTrashRoots { all_users } => trash_roots(namespace, env, *all_users)
            .map(|e| json::trash_roots(&mut out, (!e.is_empty()).then_some(&e[..]))),
        _ => return None,
    };
    Some(result.map(|()| out))
}

fn view(policy: &storage_policy::StoragePolicy) -> StoragePolicy<'static> {
    StoragePolicy {
        id: policy.id,
        name: policy.name,
        storage_types: policy.storage_types,
        creation_fallbacks: policy.creation_fallbacks,
        replication_fallbacks: policy.replication_fallbacks,
        copy_on_create_file: policy.copy_on_create,
    }
}

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
fn trash_roots(namespace: &Namespace, env: &Env<'_>, all_users: bool) -> Result<Vec<u8>, HdfsError> {
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
    let mut entries = Vec::new();
    for path in roots {
        let put = |status: Option<FileStatus<'_>>| {
            if let Some(status) = status {
                if !entries.is_empty() {
                    entries.push(b',');
                }
                json::trash_root(&mut entries, &status, &path);
            }
        };
        match namespace.get_file_info(env, &path, put) {
            Ok(()) => {}
            // A home that this caller may not look into has no trash for it.
            Err(error) if error.class == surus_types::ExceptionClass::AccessControl => {}
            Err(error) => return Err(error),
        }
    }
    Ok(entries)
}
