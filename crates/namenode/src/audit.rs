//! The audit log: one line for each call on the name space, in Hadoop's form, under the tracing target
//! `FSNamesystem.audit`. Off, it costs one branch a call.
//! Source: `FSNamesystem.FSNamesystemAuditLogger`, Hadoop 3.5.0; names of calls tried on a real one (`facts/features.md` section 37).

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
}

const fn entry(method: &'static str, cmd: &'static str, has_dst: bool, has_perm: bool) -> Entry {
    Entry { method, cmd, has_dst, has_perm }
}

/// Sorted by method. Calls that are not here leave no line, as in Hadoop.
static ENTRIES: &[Entry] = &[
    entry("append", "append", false, false),
    entry("checkAccess", "checkAccess", false, false),
    entry("concat", "concat", true, true),
    entry("create", "create", false, true),
    entry("delete", "delete", false, false),
    entry("getAclStatus", "getAclStatus", false, false),
    entry("getBlockLocations", "open", false, false),
    entry("getContentSummary", "contentSummary", false, false),
    entry("getDatanodeReport", "datanodeReport", false, false),
    entry("getEZForPath", "getEZForPath", false, true),
    entry("getFileInfo", "getfileinfo", false, false),
    entry("getFileLinkInfo", "getfileinfo", false, false),
    entry("getListing", "listStatus", false, false),
    entry("getQuotaUsage", "quotaUsage", false, false),
    entry("getXAttrs", "getXAttrs", false, false),
    entry("listXAttrs", "listXAttrs", false, false),
    entry("mkdirs", "mkdirs", false, true),
    entry("modifyAclEntries", "modifyAclEntries", false, true),
    entry("recoverLease", "recoverLease", false, false),
    entry("refreshNodes", "refreshNodes", false, false),
    entry("removeAcl", "removeAcl", false, true),
    entry("removeAclEntries", "removeAclEntries", false, true),
    entry("removeDefaultAcl", "removeDefaultAcl", false, true),
    entry("removeXAttr", "removeXAttr", false, true),
    entry("rename", "rename", true, true),
    entry("rename2", "rename (options=[])", true, true),
    entry("rollEdits", "rollEditLog", false, false),
    entry("saveNamespace", "saveNamespace", false, false),
    entry("setAcl", "setAcl", false, true),
    entry("setOwner", "setOwner", false, true),
    entry("setPermission", "setPermission", false, true),
    entry("setQuota", "setQuota", false, false),
    entry("setReplication", "setReplication", false, false),
    entry("setSafeMode", "safemode", false, false),
    entry("setStoragePolicy", "setStoragePolicy", false, true),
    entry("setTimes", "setTimes", false, true),
    entry("setXAttr", "setXAttr", false, true),
    entry("truncate", "truncate", false, true),
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
}

/// Logs a call that came by RPC, if it is one that is logged.
pub fn rpc(core: &Core, method: &str, call: &Call<'_>, allowed: bool) {
    let Ok(index) = ENTRIES.binary_search_by(|e| e.method.cmp(method)) else { return };
    let entry = &ENTRIES[index];
    let request = Texts::of(call.body);
    let mut cmd = entry.cmd.to_owned();
    let (mut src, mut dst) = (request.first.clone(), None);
    match method {
        "setSafeMode" => {
            cmd.push_str(
                ["_leave", "_enter", "_get", "_force_exit"].get(request.number.wrapping_sub(1)).unwrap_or(&""),
            );
            src = None;
        }
        "setQuota" => {
            let number = |i: usize| request.numbers.get(i).map_or(DONT_SET, |n| *n as i64);
            cmd = command(number(0), number(1)).to_owned();
        }
        "rename2" => {
            let options = match (request.overwrite, request.to_trash) {
                (true, true) => "OVERWRITE, TO_TRASH",
                (true, false) => "OVERWRITE",
                (false, true) => "TO_TRASH",
                _ => "",
            };
            cmd = if options.is_empty() { "rename".to_owned() } else { format!("rename (options=[{options}])") };
            dst = request.second.first().cloned();
        }
        "concat" => {
            dst = src;
            src = Some(format!("[{}]", request.second.join(", ")));
        }
        _ if entry.has_dst => dst = request.second.first().cloned(),
        _ => {}
    }
    let event =
        Event { cmd: &cmd, src: src.as_deref(), dst: dst.as_deref(), has_perm: entry.has_perm, allowed, proto: "rpc" };
    log(core, call.caller, &event);
}

/// Writes one line.
pub fn log(core: &Core, caller: &Caller, event: &Event<'_>) {
    let perm = match event.dst.or(event.src).filter(|_| event.has_perm && event.allowed) {
        Some(path) => permission(core, path),
        None => "null".to_owned(),
    };
    let (allowed, user, ip) = (event.allowed, caller.to_ugi_string(), &caller.address);
    let (cmd, src, dst) = (event.cmd, event.src.unwrap_or("null"), event.dst.unwrap_or("null"));
    let proto = event.proto;
    tracing::info!(
        target: TARGET,
        "allowed={allowed}\tugi={user}\tip=/{ip}\tcmd={cmd}\tsrc={src}\tdst={dst}\tperm={perm}\tproto={proto}"
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

/// The texts and switches of a request: all the requests that are logged have their path in field 1, and what goes with
/// it in fields 2 to 4.
#[derive(Default)]
struct Texts {
    first: Option<String>,
    number: usize,
    second: Vec<String>,
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
                (1, Value::Bytes(bytes)) => texts.first = Some(text(bytes)),
                (1, Value::Varint(n)) => texts.number = n as usize,
                (2, Value::Bytes(bytes)) => texts.second.push(text(bytes)),
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
        assert_eq!((texts.first.as_deref(), texts.second.as_slice()), (Some("/a"), &["/b".to_owned()][..]));
        assert!(texts.overwrite && texts.to_trash);
        assert!(Texts::of(&[0xff, 0xff]).first.is_none());
    }
}
