//! The audit log: one line for each call on the name space, in Hadoop's form, under the tracing target
//! `FSNamesystem.audit`. Off, it costs one branch a call.
//! Source: `FSNamesystem.FSNamesystemAuditLogger`, Hadoop 3.5.0; names of calls tried on a real one.

mod context;
mod features;

pub use context::ContextRules;

use crate::call::Call;
use crate::core::Core;
use std::fmt::Write as _;
use surus_namespace::Env;
use surus_namespace::ops::set_quota::{DONT_SET, command};
use surus_types::{Caller, ExceptionClass, HdfsError, RpcIds};
use surus_wire::varint::{Value, take_delimited, take_field};

/// What the logger is called in Hadoop's log4j.properties, without its package.
pub const TARGET: &str = "FSNamesystem.audit";

/// Whether anybody listens.
pub fn is_on() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::INFO)
}

/// How a call by RPC is shown.
struct Entry {
    method: &'static str,
    cmd: &'static str,
    /// The second field of its request is the destination.
    has_dst: bool,
    /// The line ends with owner, group and mode of what was changed.
    has_perm: bool,
    /// The first field of the request is the line's source.
    has_src: bool,
    /// Only denials leave a line.
    denials_only: bool,
}

const fn entry(method: &'static str, cmd: &'static str, has_dst: bool, has_perm: bool) -> Entry {
    Entry { method, cmd, has_dst, has_perm, has_src: true, denials_only: false }
}

/// A call without a path.
const fn plain(method: &'static str) -> Entry {
    Entry { method, cmd: method, has_dst: false, has_perm: false, has_src: false, denials_only: false }
}

/// A call of which Hadoop only logs that it was denied.
const fn denied(method: &'static str, cmd: &'static str) -> Entry {
    Entry { method, cmd, has_dst: false, has_perm: false, has_src: false, denials_only: true }
}

/// Sorted by method. Calls that are not here leave no line, as in Hadoop.
static ENTRIES: &[Entry] = &[
    entry("addCacheDirective", "addCacheDirective", false, false),
    entry("addCachePool", "addCachePool", false, false),
    entry("addErasureCodingPolicies", "addErasureCodingPolicies", false, false),
    entry("allowSnapshot", "allowSnapshot", false, false),
    entry("append", "append", false, false),
    entry("checkAccess", "checkAccess", false, false),
    entry("concat", "concat", true, true),
    entry("create", "create", false, true),
    entry("createEncryptionZone", "createEncryptionZone", false, true),
    entry("createSnapshot", "createSnapshot", false, false),
    entry("createSymlink", "createSymlink", true, true),
    entry("delete", "delete", false, false),
    entry("deleteSnapshot", "deleteSnapshot", false, false),
    entry("disableErasureCodingPolicy", "disableErasureCodingPolicy", false, false),
    entry("disallowSnapshot", "disallowSnapshot", false, false),
    entry("enableErasureCodingPolicy", "enableErasureCodingPolicy", false, false),
    denied("endCheckpoint", "endCheckpoint"),
    plain("finalizeUpgrade"),
    entry("getAclStatus", "getAclStatus", false, false),
    entry("getBatchedListing", "listStatus", false, false),
    denied("getBlockKeys", "getBlockKeys"),
    entry("getBlockLocations", "open", false, false),
    denied("getBlocks", "getBlocks"),
    entry("getContentSummary", "contentSummary", false, false),
    denied("getCurrentEditLogTxid", "getCurrentEditLogTxid"),
    Entry { cmd: "datanodeReport", ..plain("getDatanodeReport") },
    plain("getDatanodeStorageReport"),
    plain("getECTopologyResultForPolicies"),
    entry("getEZForPath", "getEZForPath", false, true),
    denied("getEditLogManifest", "getEditLogManifest"),
    denied("getEditsFromTxid", "getEditsFromTxid"),
    entry("getEnclosingRoot", "getEZForPath", false, true),
    plain("getErasureCodingCodecs"),
    plain("getErasureCodingPolicies"),
    entry("getErasureCodingPolicy", "getErasureCodingPolicy", false, false),
    entry("getFileInfo", "getfileinfo", false, false),
    entry("getFileLinkInfo", "getfileinfo", false, false),
    entry("getLinkTarget", "getfileinfo", false, false),
    entry("getListing", "listStatus", false, false),
    entry("getLocatedFileInfo", "getfileinfo", false, false),
    denied("getMostRecentCheckpointTxId", "getMostRecentCheckpointTxId"),
    denied("getNextSPSPath", "getNextSPSPath"),
    entry("getQuotaUsage", "quotaUsage", false, false),
    Entry { cmd: "getNamenodeReconfigurationStatus", ..plain("getReconfigurationStatus") },
    Entry { cmd: "slowDataNodesReport", ..plain("getSlowDatanodeReport") },
    entry("getSnapshotDiffReport", "computeSnapshotDiff", false, false),
    entry("getSnapshotDiffReportListing", "computeSnapshotDiff", false, false),
    entry("getSnapshotListing", "ListSnapshot", false, false),
    Entry { cmd: "listSnapshottableDirectory", ..plain("getSnapshottableDirListing") },
    denied("getTransactionId", "getTransactionID"),
    entry("getXAttrs", "getXAttrs", false, false),
    entry("isFileClosed", "isFileClosed", false, false),
    denied("isRollingUpgrade", "isRollingUpgrade"),
    denied("isUpgradeFinalized", "isUpgradeFinalized"),
    entry("listCacheDirectives", "listCacheDirectives", false, false),
    plain("listCachePools"),
    Entry { has_src: true, ..denied("listCorruptFileBlocks", "listCorruptFileBlocks") },
    entry("listEncryptionZones", "listEncryptionZones", false, false),
    entry("listOpenFiles", "listOpenFiles", false, false),
    Entry { cmd: "listNamenodeReconfigurableProperties", ..plain("listReconfigurableProperties") },
    entry("listReencryptionStatus", "listReencryptionStatus", false, false),
    entry("listXAttrs", "listXAttrs", false, false),
    plain("metaSave"),
    entry("mkdirs", "mkdirs", false, true),
    entry("modifyAclEntries", "modifyAclEntries", false, true),
    entry("modifyCacheDirective", "modifyCacheDirective", false, false),
    entry("modifyCachePool", "modifyCachePool", false, false),
    denied("monitorHealth", "monitorHealth"),
    entry("reencryptEncryptionZone", "reencryption", false, false),
    plain("refreshCallQueue"),
    plain("refreshNodes"),
    plain("refreshSuperUserGroupsConfiguration"),
    plain("refreshUserToGroupsMappings"),
    entry("removeAcl", "removeAcl", false, true),
    entry("removeAclEntries", "removeAclEntries", false, true),
    entry("removeCacheDirective", "removeCacheDirective", false, false),
    entry("removeCachePool", "removeCachePool", false, false),
    entry("removeDefaultAcl", "removeDefaultAcl", false, true),
    entry("removeErasureCodingPolicy", "removeErasureCodingPolicy", false, false),
    entry("removeXAttr", "removeXAttr", false, true),
    entry("rename", "rename", true, true),
    entry("rename2", "rename", true, true),
    entry("renameSnapshot", "renameSnapshot", false, false),
    plain("reportBadBlocks"),
    entry("restoreFailedStorage", "restoreFailedStorage", false, false),
    plain("rollEditLog"),
    Entry { cmd: "rollEditLog", ..plain("rollEdits") },
    denied("rollingUpgrade", "rollingUpgrade"),
    plain("saveNamespace"),
    entry("setAcl", "setAcl", false, true),
    plain("setBalancerBandwidth"),
    entry("setErasureCodingPolicy", "setErasureCodingPolicy", false, true),
    entry("setOwner", "setOwner", false, true),
    entry("setPermission", "setPermission", false, true),
    entry("setQuota", "setQuota", false, false),
    entry("setReplication", "setReplication", false, false),
    entry("setSafeMode", "safemode", false, false),
    entry("setStoragePolicy", "setStoragePolicy", false, true),
    entry("setTimes", "setTimes", false, true),
    entry("setXAttr", "setXAttr", false, true),
    denied("startCheckpoint", "startCheckpoint"),
    Entry { cmd: "startNamenodeReconfiguration", ..plain("startReconfiguration") },
    denied("transitionToActive", "transitionToActive"),
    denied("transitionToObserver", "transitionToObserver"),
    denied("transitionToStandby", "transitionToStandby"),
    entry("truncate", "truncate", false, true),
    entry("unsetErasureCodingPolicy", "unsetErasureCodingPolicy", false, true),
    entry("unsetStoragePolicy", "unsetStoragePolicy", false, true),
];

/// Whether a result is logged, and as what: success, or denial of access; other failures leave no line.
pub fn allowed<T>(result: &Result<T, HdfsError>) -> Option<bool> {
    match result {
        Ok(_) => Some(true),
        Err(error) if error.class == ExceptionClass::AccessControl => Some(false),
        Err(_) => None,
    }
}

/// One line's content.
pub struct Event<'a> {
    pub cmd: &'a str,
    pub src: Option<&'a str>,
    pub dst: Option<&'a str>,
    pub has_perm: bool,
    pub allowed: bool,
    pub proto: &'a str,
    /// What follows at the end: the caller's context, as `ContextRules::tail` gives it.
    pub tail: &'a str,
}

/// The tail of a line that does not come of an RPC call.
pub fn tail_without_rpc(core: &Core) -> Box<str> {
    core.config.audit_context.as_ref().map_or_else(Box::default, |rules| rules.tail(b"", b"", 0))
}

fn entry_of(method: &str) -> Option<&'static Entry> {
    let index = ENTRIES.binary_search_by(|e| e.method.cmp(method)).ok()?;
    Some(&ENTRIES[index])
}

/// Whether calls of an RPC method can leave a line now.
pub fn is_logged(method: &str) -> bool {
    is_on() && entry_of(method).is_some()
}

/// Logs a call that came by RPC, if it is one that is logged. `result` is the encoded answer, or what refused the call.
pub fn rpc(core: &Core, method: &str, call: &Call<'_>, result: Result<&[u8], &HdfsError>) {
    let Some(entry) = entry_of(method) else { return };
    let Some(allowed) = is_allowed(method, result) else { return };
    if allowed && entry.denials_only {
        return;
    }
    let by_rank = result.err().is_some_and(|error| error.message.starts_with("Access denied for user "));
    for line in lines(core, entry, call, result, by_rank) {
        let event = Event {
            cmd: &line.cmd,
            src: line.src.as_deref(),
            dst: line.dst.as_deref(),
            has_perm: entry.has_perm,
            allowed,
            proto: "rpc",
            tail: call.audit_tail,
        };
        log(core, call.caller, &event);
    }
}

/// `None`: no line.
fn is_allowed(method: &str, result: Result<&[u8], &HdfsError>) -> Option<bool> {
    match result {
        // `result` = false: a delete of what is not there counts as refused; other calls have then done nothing.
        Ok(answer) if answer == [0x08, 0x00] => match method {
            "delete" => Some(false),
            "rename" | "setReplication" => None,
            _ => Some(true),
        },
        Ok(_) => Some(true),
        Err(error) if error.class == ExceptionClass::AccessControl => Some(false),
        // These two tell of every failure.
        Err(_) if matches!(method, "getErasureCodingPolicy" | "reencryptEncryptionZone") => Some(false),
        // That there is no link was found out by looking.
        Err(_) if method == "getLinkTarget" => Some(true),
        Err(_) => None,
    }
}

/// What differs from call to call.
struct Line {
    cmd: String,
    src: Option<String>,
    dst: Option<String>,
}

/// The line of a call; of a batch one for each path. `by_rank`: refused because the caller is no superuser.
fn lines(core: &Core, entry: &Entry, call: &Call<'_>, result: Result<&[u8], &HdfsError>, by_rank: bool) -> Vec<Line> {
    let request = Texts::of(call.body);
    let mut line = Line {
        cmd: entry.cmd.to_owned(),
        src: request.first.last().cloned().filter(|_| entry.has_src),
        dst: request.second.first().cloned().filter(|_| entry.has_dst),
    };
    let snapshot = |name: &str| Some(format!("{}/.snapshot/{name}", line.src.as_deref().unwrap_or_default()));
    match entry.method {
        "setSafeMode" => {
            let action = ["_leave", "_enter", "_get", "_force_exit"].get(request.number.wrapping_sub(1));
            line.cmd.push_str(action.unwrap_or(&""));
            line.src = None;
        }
        "setQuota" => {
            let number = |i: usize| request.numbers.get(i).map_or(DONT_SET, |n| *n as i64);
            line.cmd = command(number(0), number(1)).to_owned();
        }
        "rename2" => {
            let options = match (request.overwrite, request.to_trash) {
                (true, true) => "OVERWRITE, TO_TRASH",
                (true, false) => "OVERWRITE",
                (false, true) => "TO_TRASH",
                _ => "NONE",
            };
            line.cmd = format!("rename (options=[{options}])");
        }
        "concat" => {
            line.dst = line.src.take();
            line.src = Some(format!("[{}]", request.second.join(", ")));
        }
        "restoreFailedStorage" => {
            line.cmd = crate::rpc::client::restore_command(&request.first.concat()).to_owned();
            line.src = None;
        }
        "rollingUpgrade" => {
            let action = ["query", "start", "finalize"].get(request.number.wrapping_sub(1));
            line.cmd = format!("{}RollingUpgrade", action.unwrap_or(&""));
        }
        "createSnapshot" => {
            let mut answer = result.unwrap_or_default();
            line.dst = match take_field(&mut answer) {
                Ok(Some((1, Value::Bytes(path)))) => Some(String::from_utf8_lossy(path).into_owned()),
                _ => None,
            };
        }
        "deleteSnapshot" => line.src = snapshot(&request.second.concat()),
        "renameSnapshot" => {
            let (old, new) = (snapshot(&request.second.concat()), snapshot(&request.third.concat()));
            (line.src, line.dst) = (old, new);
        }
        "getSnapshotDiffReport" | "getSnapshotDiffReportListing" => {
            let (from, to) = (snapshot(&request.second.concat()), snapshot(&request.third.concat()));
            (line.src, line.dst) = (from, to);
        }
        "getLocatedFileInfo" if request.numbers.first() == Some(&1) => line.cmd = "open".to_owned(),
        "listOpenFiles" => line.src = request.third.first().cloned().filter(|_| by_rank),
        "listEncryptionZones" | "listReencryptionStatus" => line.src = by_rank.then(|| "/".to_owned()),
        "reencryptEncryptionZone" => {
            line.cmd = if request.number == 1 { "CANCELreencryption" } else { "STARTreencryption" }.to_owned();
            line.src = request.second.first().cloned();
        }
        "enableErasureCodingPolicy" | "disableErasureCodingPolicy" | "removeErasureCodingPolicy" if by_rank => {
            line.src = None;
        }
        "addErasureCodingPolicies" => line.src = (!by_rank).then(|| features::added_policies(result)),
        "addCacheDirective"
        | "modifyCacheDirective"
        | "removeCacheDirective"
        | "listCacheDirectives"
        | "addCachePool"
        | "modifyCachePool"
        | "removeCachePool" => {
            (line.src, line.dst) = features::cache(entry.method, call, result, by_rank);
        }
        "getBatchedListing" => return batch_lines(core, call, request.first, line.cmd),
        _ => {}
    }
    vec![line]
}

/// Hadoop logs a path that could not be listed once as denied, and once more with all the others.
fn batch_lines(core: &Core, call: &Call<'_>, paths: Vec<String>, cmd: String) -> Vec<Line> {
    let env = Env { now_ms: 0, monotonic_ms: 0, caller: call.caller, rpc: call.rpc, random: 0 };
    for path in &paths {
        let listed = core.namespace.read().get_listing(&env, path, b"", false, 0, |_| false);
        if listed.is_err_and(|error| error.class == ExceptionClass::AccessControl) {
            let (src, dst, tail) = (Some(path.as_str()), None, call.audit_tail);
            let event = Event { cmd: &cmd, src, dst, has_perm: false, allowed: false, proto: "rpc", tail };
            log(core, call.caller, &event);
        }
    }
    paths.into_iter().map(|path| Line { cmd: cmd.clone(), src: Some(path), dst: None }).collect()
}

/// Writes one line.
pub fn log(core: &Core, caller: &Caller, event: &Event<'_>) {
    let is_minor = core.config.audit_debug.iter().any(|cmd| cmd == event.cmd);
    if is_minor && !tracing::enabled!(target: TARGET, tracing::Level::DEBUG) {
        return;
    }
    let perm = match (event.src, event.dst, event.has_perm && event.allowed) {
        // A rename into a directory: what was moved lies in it.
        (Some(src), Some(dst), true) if event.cmd.starts_with("rename") => {
            let name = src.rsplit('/').next().unwrap_or_default();
            let inside = permission(core, &format!("{}/{name}", dst.trim_end_matches('/')));
            if inside == "null" || event.cmd != "rename" { permission(core, dst) } else { inside }
        }
        (src, dst, true) => dst.or(src).map_or_else(|| "null".to_owned(), |path| permission(core, path)),
        _ => "null".to_owned(),
    };
    let (allowed, user, ip) = (event.allowed, caller.to_ugi_string(), &caller.address);
    let (src, dst) = (context::escaped(event.src.unwrap_or("null")), context::escaped(event.dst.unwrap_or("null")));
    let Event { cmd, proto, tail, .. } = event;
    tracing::info!(
        target: TARGET,
        "allowed={allowed}\tugi={user}\tip=/{ip}\tcmd={cmd}\tsrc={src}\tdst={dst}\tperm={perm}\tproto={proto}{tail}"
    );
}

/// `owner:group:rwxr-xr-x` of a path as it is now.
fn permission(core: &Core, path: &str) -> String {
    let env = Env {
        now_ms: core.clock.now_ms(),
        monotonic_ms: core.clock.monotonic_ms(),
        caller: &core.own_caller,
        rpc: &RpcIds::NONE,
        random: 0,
    };
    let mut out = String::new();
    let _ = core.namespace.read().get_file_info(&env, path, |status| {
        if let Some(s) = status {
            let _ = write!(out, "{}:{}:{}", s.owner, s.group, s.permission);
        }
    });
    if out.is_empty() { "null".to_owned() } else { out }
}

/// The texts and switches of a request: nearly all the requests that are logged have their path in field 1, and what goes with
/// it in fields 2 to 4.
#[derive(Default)]
struct Texts {
    first: Vec<String>,
    number: usize,
    second: Vec<String>,
    third: Vec<String>,
    overwrite: bool,
    to_trash: bool,
    /// Fields 2 and 3, where they are numbers.
    numbers: Vec<u64>,
}

impl Texts {
    fn of(mut body: &[u8]) -> Self {
        let mut texts = Texts::default();
        let mut message = take_delimited(&mut body).unwrap_or_default();
        while let Ok(Some((field, value))) = take_field(&mut message) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            match (field, value) {
                (1, Value::Bytes(bytes)) => texts.first.push(text(bytes)),
                (1, Value::Varint(n)) => texts.number = n as usize,
                (2, Value::Bytes(bytes)) => texts.second.push(text(bytes)),
                (3, Value::Bytes(bytes)) => texts.third.push(text(bytes)),
                (2, Value::Varint(n)) => texts.numbers.push(n),
                (3, Value::Varint(n)) => {
                    texts.numbers.push(n);
                    texts.overwrite = n != 0;
                }
                (4, Value::Varint(n)) => texts.to_trash = n != 0,
                _ => {}
            }
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(ENTRIES.windows(2).all(|w| w[0].method < w[1].method));
    }

    #[test]
    fn texts_of_a_request() {
        // rename2: src "/a", dst "/b", overwrite, to trash.
        let texts = Texts::of(b"\x0c\x0a\x02/a\x12\x02/b\x18\x01\x20\x01");
        assert_eq!((texts.first.concat().as_str(), texts.second.as_slice()), ("/a", &["/b".to_owned()][..]));
        assert!(texts.overwrite && texts.to_trash);
        assert!(Texts::of(&[0xff, 0xff]).first.is_empty());
    }
}
