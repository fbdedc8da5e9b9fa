//! JSON as HttpFS writes it: json-simple's escapes, keys in the order in which the gateway puts them, a newline at the end.
//! Source: `FSOperations.java`, `JSONMapProvider.java`, Hadoop 3.4.2.

use crate::file_system::AclStatus;
use crate::json::{StoragePolicy, field, list, octal, raw, type_quota};
use crate::request::Side;
use std::io::Write as _;
use surus_types::xattr::prefixed;
use surus_types::{ContentSummary, FileStatus, FileType, FsStats, HdfsError, StorageType, XAttr, XAttrCodec};

/// A string with quotes, where a slash is escaped too. Source: `JSONValue.escape`, json-simple 1.1.1.
pub fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    for c in String::from_utf8_lossy(bytes).chars() {
        match c {
            '"' => raw(out, "\\\""),
            '\\' => raw(out, "\\\\"),
            '\u{8}' => raw(out, "\\b"),
            '\u{c}' => raw(out, "\\f"),
            '\n' => raw(out, "\\n"),
            '\r' => raw(out, "\\r"),
            '\t' => raw(out, "\\t"),
            '/' => raw(out, "\\/"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2000}'..='\u{20ff}' => {
                // Writing to a vector cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

fn text(out: &mut Vec<u8>, before: &str, value: &[u8]) {
    raw(out, before);
    string(out, value);
}

/// What ends an answer that the gateway makes of a map.
pub(crate) fn end_of_map(side: Side, out: &mut Vec<u8>) {
    if side == Side::HttpFs {
        out.push(b'\n');
    }
}

/// One FileStatus object without a wrapper.
pub(crate) fn file_status_object(out: &mut Vec<u8>, s: &FileStatus<'_>) {
    text(out, "{\"pathSuffix\":", s.name);
    raw(
        out,
        match s.file_type {
            FileType::Directory => ",\"type\":\"DIRECTORY\"",
            FileType::File => ",\"type\":\"FILE\"",
            FileType::Symlink => ",\"type\":\"SYMLINK\"",
        },
    );
    if s.file_type == FileType::Symlink {
        text(out, ",\"symlink\":", s.symlink);
    }
    field(out, ",\"length\":", s.length);
    text(out, ",\"owner\":", s.owner.as_bytes());
    text(out, ",\"group\":", s.group.as_bytes());
    raw(out, ",\"permission\":\"");
    octal(out, s.permission.0);
    field(out, "\",\"accessTime\":", s.access_time_ms);
    field(out, ",\"modificationTime\":", s.modification_time_ms);
    field(out, ",\"blockSize\":", s.block_size);
    field(out, ",\"replication\":", s.replication);
    field(out, ",\"childrenNum\":", s.children);
    field(out, ",\"fileId\":", s.inode_id.0);
    field(out, ",\"storagePolicy\":", s.storage_policy);
    if let Some(policy) = s.ec_policy {
        crate::json_ec::of_status(out, policy);
    }
    for (bit, flag) in [(1, "aclBit"), (2, "encBit"), (4, "ecBit"), (8, "snapshotEnabled")] {
        if s.flags & bit != 0 {
            raw(out, ",\"");
            raw(out, flag);
            raw(out, "\":true");
        }
    }
    out.push(b'}');
}

/// The answer to GETFILESTATUS. `s.name` is to be empty.
pub fn file_status(out: &mut Vec<u8>, s: &FileStatus<'_>) {
    raw(out, "{\"FileStatus\":");
    file_status_object(out, s);
    raw(out, "}\n");
}

/// The answer to GETCONTENTSUMMARY: nothing of snapshots.
pub fn content_summary(out: &mut Vec<u8>, s: &ContentSummary) {
    field(out, "{\"ContentSummary\":{\"directoryCount\":", s.directory_count);
    text(out, ",\"ecPolicy\":", s.ec_policy.as_bytes());
    field(out, ",\"fileCount\":", s.file_count);
    field(out, ",\"length\":", s.length);
    quotas(out, s);
}

/// The answer to GETQUOTAUSAGE.
pub fn quota_usage(out: &mut Vec<u8>, s: &ContentSummary) {
    field(out, "{\"QuotaUsage\":{\"fileAndDirectoryCount\":", s.file_count.saturating_add(s.directory_count));
    quotas(out, s);
}

fn quotas(out: &mut Vec<u8>, s: &ContentSummary) {
    field(out, ",\"quota\":", s.quota);
    field(out, ",\"spaceConsumed\":", s.space_consumed);
    field(out, ",\"spaceQuota\":", s.space_quota);
    type_quota(out, s);
    out.push(b'\n');
}

/// Length of an MD5 checksum, and of the buffer that Hadoop writes it to and shows whole, zeros and all.
/// Source: `WritableUtils.toByteArray`, `DataOutputBuffer.java`, Hadoop 3.4.2.
const CHECKSUM_BYTES: usize = 28;
const CHECKSUM_BUFFER: [u8; 32] = [0; 32];

/// The answer to GETFILECHECKSUM.
pub fn file_checksum(out: &mut Vec<u8>, algorithm: &str, bytes: &[u8]) {
    let mut buffer = CHECKSUM_BUFFER;
    let shown = match bytes.len() {
        CHECKSUM_BYTES => {
            buffer[..CHECKSUM_BYTES].copy_from_slice(bytes);
            &buffer[..]
        }
        _ => bytes,
    };
    text(out, "{\"FileChecksum\":{\"algorithm\":", algorithm.as_bytes());
    raw(out, ",\"bytes\":\"");
    for byte in shown {
        let _ = write!(out, "{byte:02x}");
    }
    field(out, "\",\"length\":", bytes.len());
    raw(out, "}}\n");
}

/// The answer to GETHOMEDIRECTORY, GETTRASHROOT.
pub fn path(out: &mut Vec<u8>, path: &str) {
    text(out, "{\"Path\":", path.as_bytes());
    raw(out, "}\n");
}

/// The answer to GETSTATUS.
pub fn fs_status(out: &mut Vec<u8>, stats: &FsStats) {
    crate::json::fs_status(out, stats);
    out.push(b'\n');
}

fn storage_policy_object(out: &mut Vec<u8>, p: &StoragePolicy<'_>) {
    let types = |out: &mut Vec<u8>, before: &str, types: &[StorageType]| {
        list(out, before, types, |out, t| string(out, t.name().as_bytes()));
    };
    text(out, "{\"name\":", p.name.as_bytes());
    types(out, ",\"creationFallbacks\":", p.creation_fallbacks);
    field(out, ",\"id\":", p.id);
    types(out, ",\"storageTypes\":", p.storage_types);
    types(out, ",\"replicationFallbacks\":", p.replication_fallbacks);
    raw(out, if p.copy_on_create_file { ",\"copyOnCreateFile\":true}" } else { ",\"copyOnCreateFile\":false}" });
}

/// The answer to GETSTORAGEPOLICY.
pub fn storage_policy(out: &mut Vec<u8>, policy: &StoragePolicy<'_>) {
    raw(out, "{\"BlockStoragePolicy\":");
    storage_policy_object(out, policy);
    raw(out, "}\n");
}

/// The answer to GETALLSTORAGEPOLICY.
pub fn storage_policies(out: &mut Vec<u8>, policies: &[StoragePolicy<'_>]) {
    list(out, "{\"BlockStoragePolicies\":{\"BlockStoragePolicy\":", policies, storage_policy_object);
    raw(out, "}}\n");
}

/// The answer to GETACLSTATUS.
pub fn acl_status(out: &mut Vec<u8>, status: &AclStatus) {
    text(out, "{\"AclStatus\":{\"owner\":", status.owner.as_bytes());
    text(out, ",\"group\":", status.group.as_bytes());
    if let Some(permission) = status.permission {
        raw(out, ",\"permission\":\"");
        octal(out, permission.0);
        raw(out, "\"");
    }
    let is_sticky = status.permission.is_some_and(|p| p.is_sticky());
    raw(out, if is_sticky { ",\"stickyBit\":true" } else { ",\"stickyBit\":false" });
    list(out, ",\"entries\":", &status.entries, |out, e| string(out, e.to_string().as_bytes()));
    raw(out, "}}\n");
}

/// The answer to GETXATTRS.
pub fn xattrs(out: &mut Vec<u8>, codec: XAttrCodec, xattrs: &[XAttr]) {
    list(out, "{\"XAttrs\":", xattrs, |out, x| {
        text(out, "{\"name\":", prefixed(x.namespace, &x.name).as_bytes());
        text(out, ",\"value\":", codec.encode(x.value.as_deref().unwrap_or_default()).as_bytes());
        out.push(b'}');
    });
    raw(out, "}\n");
}

/// The answer to LISTXATTRS: a string that holds JSON.
pub fn xattr_names(out: &mut Vec<u8>, xattrs: &[XAttr]) {
    let mut inner = Vec::new();
    list(&mut inner, "", xattrs, |out, x| string(out, prefixed(x.namespace, &x.name).as_bytes()));
    text(out, "{\"XAttrNames\":", &inner);
    raw(out, "}\n");
}

/// The body of an error from its Java class and message, of which the first line is told.
/// Source: `ExceptionProvider.java`, Hadoop 3.4.2.
pub fn remote_exception(out: &mut Vec<u8>, java_class: &str, message: &str) {
    let simple = java_class.rsplit(['.', '$']).next().unwrap_or(java_class);
    text(out, "{\"RemoteException\":{\"message\":", message.lines().next().unwrap_or("").as_bytes());
    text(out, ",\"exception\":", simple.as_bytes());
    text(out, ",\"javaClassName\":", java_class.as_bytes());
    raw(out, "}}\n");
}

/// The body of a refusal to act for somebody else, which is no answer of the gateway's but of the filter before it.
/// Source: `HttpExceptionUtils.java`, Hadoop 3.4.2.
pub fn forbidden(out: &mut Vec<u8>, java_class: &str, message: &str) {
    let simple = java_class.rsplit(['.', '$']).next().unwrap_or(java_class);
    raw(out, "{\n  \"RemoteException\" : {\n    \"message\" : ");
    crate::json::string(out, message.as_bytes());
    raw(out, ",\n    \"exception\" : ");
    crate::json::string(out, simple.as_bytes());
    raw(out, ",\n    \"javaClassName\" : ");
    crate::json::string(out, java_class.as_bytes());
    raw(out, "\n  }\n}");
}

/// The status of an error by its Java class. Source: `HttpFSExceptionProvider.java`, Hadoop 3.4.2.
pub fn http_status(java_class: &str) -> u16 {
    match java_class {
        "java.lang.SecurityException" | "java.security.AccessControlException" => 401,
        "java.io.FileNotFoundException" => 404,
        "java.lang.UnsupportedOperationException"
        | "java.lang.IllegalArgumentException"
        | "java.lang.NumberFormatException"
        | "org.apache.hadoop.HadoopIllegalArgumentException"
        | "org.apache.hadoop.fs.InvalidPathException" => 400,
        _ => 500,
    }
}

/// As `http_status`, of one of ours.
pub fn status_of(error: &HdfsError) -> u16 {
    http_status(error.class.java_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_and_odd_characters_are_escaped() {
        let mut out = Vec::new();
        string(&mut out, "/a\"b\\\u{1}\u{7f}é\u{2028}".as_bytes());
        assert_eq!(String::from_utf8(out).unwrap(), "\"\\/a\\\"b\\\\\\u0001\\u007Fé\\u2028\"");
    }

    #[test]
    fn an_error_is_its_first_line() {
        let mut out = Vec::new();
        remote_exception(&mut out, "java.io.FileNotFoundException", "File does not exist: /x\n\tat Y");
        let want = "{\"RemoteException\":{\"message\":\"File does not exist: \\/x\",\"exception\":\"FileNotFoundException\",\
            \"javaClassName\":\"java.io.FileNotFoundException\"}}\n";
        assert_eq!(String::from_utf8(out).unwrap(), want);
        assert_eq!(http_status("java.io.FileNotFoundException"), 404);
        assert_eq!(status_of(&HdfsError::io("x")), 500);
    }
}
