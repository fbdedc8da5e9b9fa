//! JSON answers, written straight into the output buffer in Hadoop's order of keys. Source: `JsonUtil.java`, Hadoop 3.5.0.

use surus_types::{
    AclEntry, ContentSummary, ExceptionClass, FileStatus, FileType, FsPermission, FsStats, HdfsError, LocatedBlock,
    LocatedBlocks, Replica, StorageType, XAttrCodec,
};

/// A string with quotes. Escaped are `"`, `\` and control characters, as Jackson does; bytes that are no UTF-8 become U+FFFD.
pub fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    if is_plain(bytes) {
        out.extend_from_slice(bytes);
    } else {
        match std::str::from_utf8(bytes) {
            Ok(text) => escape(out, text.as_bytes()),
            Err(_) => escape(out, String::from_utf8_lossy(bytes).as_bytes()),
        }
    }
    out.push(b'"');
}

/// ASCII with nothing to escape, as nearly every name is. Without an early end, so that many bytes are looked at at once.
fn is_plain(bytes: &[u8]) -> bool {
    let special = |b: u8| (b.wrapping_sub(0x20) >= 0x60) | (b == b'"') | (b == b'\\');
    let (chunks, rest) = bytes.as_chunks::<16>();
    let found = chunks.iter().fold(false, |found, chunk| found | chunk.iter().fold(false, |f, &b| f | special(b)));
    !rest.iter().fold(found, |found, &b| found | special(b))
}

fn escape(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut clean = 0;
    for (i, &b) in bytes.iter().enumerate() {
        let short = match b {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x0c => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0..=0x1f => 0,
            _ => continue,
        };
        out.extend_from_slice(&bytes[clean..i]);
        clean = i + 1;
        if short == 0 {
            const HEX: &[u8; 16] = b"0123456789ABCDEF";
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
        } else {
            out.extend_from_slice(&[b'\\', short]);
        }
    }
    out.extend_from_slice(&bytes[clean..]);
}

#[inline]
fn number(out: &mut Vec<u8>, value: impl itoa::Integer) {
    let mut digits = itoa::Buffer::new();
    match digits.format(value).as_bytes() {
        // Half of a listing's numbers are 0.
        [digit] => out.push(*digit),
        digits => out.extend_from_slice(digits),
    }
}

/// `"key":number`, behind `before` (a comma or an opening brace).
pub(crate) fn field(out: &mut Vec<u8>, before: &str, value: impl itoa::Integer) {
    out.extend_from_slice(before.as_bytes());
    number(out, value);
}

pub(crate) fn text_field(out: &mut Vec<u8>, before: &str, value: &[u8]) {
    out.extend_from_slice(before.as_bytes());
    string(out, value);
}

pub(crate) fn raw(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// Room for a FileStatus object's keys, numbers and flags.
const ENTRY_BYTES: usize = 400;

/// One FileStatus object without a wrapper.
pub fn file_status_object(out: &mut Vec<u8>, s: &FileStatus<'_>) {
    const FLAG_ACL: u32 = 1;
    const FLAG_ENCRYPTED: u32 = 2;
    const FLAG_ERASURE_CODED: u32 = 4;
    const FLAG_SNAPSHOT_ENABLED: u32 = 8;
    // All but unusual names fit, so that nothing below makes the buffer grow.
    out.reserve(ENTRY_BYTES + s.name.len() + s.owner.len() + s.group.len());
    field(out, "{\"accessTime\":", s.access_time_ms);
    if s.flags & FLAG_ACL != 0 {
        raw(out, ",\"aclBit\":true");
    }
    field(out, ",\"blockSize\":", s.block_size);
    field(out, ",\"childrenNum\":", s.children);
    if s.flags & FLAG_ERASURE_CODED != 0 {
        raw(out, ",\"ecBit\":true");
    }
    if let Some(policy) = s.ec_policy {
        crate::json_ec::of_status(out, policy);
    }
    if s.flags & FLAG_ENCRYPTED != 0 {
        raw(out, ",\"encBit\":true");
    }
    field(out, ",\"fileId\":", s.inode_id.0);
    text_field(out, ",\"group\":", s.group.as_bytes());
    field(out, ",\"length\":", s.length);
    field(out, ",\"modificationTime\":", s.modification_time_ms);
    text_field(out, ",\"owner\":", s.owner.as_bytes());
    text_field(out, ",\"pathSuffix\":", s.name);
    raw(out, ",\"permission\":\"");
    octal(out, s.permission.0);
    field(out, "\",\"replication\":", s.replication);
    if s.flags & FLAG_SNAPSHOT_ENABLED != 0 {
        raw(out, ",\"snapshotEnabled\":true");
    }
    field(out, ",\"storagePolicy\":", s.storage_policy);
    if s.file_type == FileType::Symlink {
        text_field(out, ",\"symlink\":", s.symlink);
    }
    raw(
        out,
        match s.file_type {
            FileType::Directory => ",\"type\":\"DIRECTORY\"}",
            FileType::File => ",\"type\":\"FILE\"}",
            FileType::Symlink => ",\"type\":\"SYMLINK\"}",
        },
    );
}

/// At most six octal digits, no leading zero.
pub(crate) fn octal(out: &mut Vec<u8>, mut bits: u16) {
    let mut digits = [b'0'; 6];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (bits & 7) as u8;
        bits >>= 3;
        if bits == 0 || first == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

/// The answer to GETFILESTATUS. `s.name` is to be empty.
pub fn file_status(out: &mut Vec<u8>, s: &FileStatus<'_>) {
    raw(out, "{\"FileStatus\":");
    file_status_object(out, s);
    out.push(b'}');
}

/// Writes a listing entry by entry: `start`, any number of `entry`, one `end`. Which listing it is decides the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listing {
    /// LISTSTATUS, which may come in many pages.
    Whole,
    /// LISTSTATUS_BATCH: one page.
    Batch,
    /// HttpFS's LISTSTATUS.
    HttpFs,
    /// HttpFS's LISTSTATUS_BATCH.
    HttpFsBatch,
}

impl Listing {
    pub fn start(self, out: &mut Vec<u8>) {
        raw(
            out,
            match self {
                Listing::Whole => "{\"FileStatuses\":{\"FileStatus\":[\n",
                Listing::HttpFs => "{\"FileStatuses\":{\"FileStatus\":[",
                Listing::Batch | Listing::HttpFsBatch => {
                    "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":["
                }
            },
        );
    }

    /// `first`: no entry was written before this one.
    pub fn entry(self, out: &mut Vec<u8>, first: bool, s: &FileStatus<'_>) {
        if !first {
            raw(out, if self == Listing::Whole { ",\n" } else { "," });
        }
        match self {
            Listing::Whole | Listing::Batch => file_status_object(out, s),
            Listing::HttpFs | Listing::HttpFsBatch => crate::json_httpfs::file_status_object(out, s),
        }
    }

    /// `remaining`: entries behind the page, for one page alone.
    pub fn end(self, out: &mut Vec<u8>, remaining: u32) {
        match self {
            Listing::Whole => raw(out, "\n]}}\n"),
            Listing::HttpFs => raw(out, "]}}\n"),
            Listing::Batch => {
                field(out, "]}},\"remainingEntries\":", remaining);
                raw(out, "}}");
            }
            // Whether there are more. Source: `FSOperations.toJson(DirectoryEntries)`, Hadoop 3.4.2.
            Listing::HttpFsBatch => {
                field(out, "]}},\"remainingEntries\":", remaining.min(1));
                raw(out, "}}\n");
            }
        }
    }
}

/// The answer to GETCONTENTSUMMARY.
pub fn content_summary(out: &mut Vec<u8>, s: &ContentSummary) {
    field(out, "{\"ContentSummary\":{\"directoryCount\":", s.directory_count);
    text_field(out, ",\"ecPolicy\":", s.ec_policy.as_bytes());
    field(out, ",\"fileCount\":", s.file_count);
    field(out, ",\"length\":", s.length);
    field(out, ",\"quota\":", s.quota);
    field(out, ",\"snapshotDirectoryCount\":", s.snapshot.directory_count);
    field(out, ",\"snapshotFileCount\":", s.snapshot.file_count);
    field(out, ",\"snapshotLength\":", s.snapshot.length);
    field(out, ",\"snapshotSpaceConsumed\":", s.snapshot.space_consumed);
    field(out, ",\"spaceConsumed\":", s.space_consumed);
    field(out, ",\"spaceQuota\":", s.space_quota);
    type_quota(out, s);
}

/// Types in the order of their names, where they have a quota. Source: `JsonUtil.toJsonMap`, Hadoop 3.5.0.
pub(crate) fn type_quota(out: &mut Vec<u8>, s: &ContentSummary) {
    use StorageType::{Archive, Disk, Nvdimm, Provided, Ssd};
    raw(out, ",\"typeQuota\":{");
    let types = [Archive, Disk, Nvdimm, Provided, Ssd];
    let is_set = types.iter().any(|t| s.type_quotas.get(*t) > 0);
    let with_quota = types.into_iter().filter(|t| is_set && s.type_quotas.get(*t) != -1);
    for (i, t) in with_quota.enumerate() {
        raw(out, if i > 0 { ",\"" } else { "\"" });
        raw(out, t.name());
        field(out, "\":{\"consumed\":", s.type_consumed.get(t));
        field(out, ",\"quota\":", s.type_quotas.get(t));
        raw(out, "}");
    }
    raw(out, "}}}");
}

/// The answer to GETQUOTAUSAGE.
pub fn quota_usage(out: &mut Vec<u8>, s: &ContentSummary) {
    field(out, "{\"QuotaUsage\":{\"fileAndDirectoryCount\":", s.file_count.saturating_add(s.directory_count));
    field(out, ",\"quota\":", s.quota);
    field(out, ",\"spaceConsumed\":", s.space_consumed);
    field(out, ",\"spaceQuota\":", s.space_quota);
    type_quota(out, s);
}

/// The answer to GETFILECHECKSUM: `MD5-of-0MD5-of-512CRC32C` and 28 bytes.
pub fn file_checksum(out: &mut Vec<u8>, algorithm: &str, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    text_field(out, "{\"FileChecksum\":{\"algorithm\":", algorithm.as_bytes());
    raw(out, ",\"bytes\":\"");
    for b in bytes {
        out.extend_from_slice(&[HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
    }
    field(out, "\",\"length\":", bytes.len());
    raw(out, "}}");
}

/// The answer of operations that say yes or no.
pub fn boolean(out: &mut Vec<u8>, value: bool) {
    raw(out, if value { "{\"boolean\":true}" } else { "{\"boolean\":false}" });
}

/// The answer to GETHOMEDIRECTORY, GETTRASHROOT.
pub fn path(out: &mut Vec<u8>, path: &str) {
    text_field(out, "{\"Path\":", path.as_bytes());
    out.push(b'}');
}

/// What `noredirect=true` gets in place of a redirect.
pub fn location(out: &mut Vec<u8>, url: &str) {
    text_field(out, "{\"Location\":", url.as_bytes());
    out.push(b'}');
}

/// A block storage policy.
#[derive(Clone, Copy, Debug)]
pub struct StoragePolicy<'a> {
    pub id: u8,
    pub name: &'a str,
    pub storage_types: &'a [StorageType],
    pub creation_fallbacks: &'a [StorageType],
    pub replication_fallbacks: &'a [StorageType],
    pub copy_on_create_file: bool,
}

fn storage_policy_object(out: &mut Vec<u8>, p: &StoragePolicy<'_>) {
    let types = |out: &mut Vec<u8>, before: &str, types: &[StorageType]| {
        list(out, before, types, |out, t| string(out, t.name().as_bytes()));
    };
    raw(out, if p.copy_on_create_file { "{\"copyOnCreateFile\":true" } else { "{\"copyOnCreateFile\":false" });
    types(out, ",\"creationFallbacks\":", p.creation_fallbacks);
    field(out, ",\"id\":", p.id);
    text_field(out, ",\"name\":", p.name.as_bytes());
    types(out, ",\"replicationFallbacks\":", p.replication_fallbacks);
    types(out, ",\"storageTypes\":", p.storage_types);
    out.push(b'}');
}

/// The answer to GETSTORAGEPOLICY.
pub fn storage_policy(out: &mut Vec<u8>, policy: &StoragePolicy<'_>) {
    raw(out, "{\"BlockStoragePolicy\":");
    storage_policy_object(out, policy);
    out.push(b'}');
}

/// The answer to GETALLSTORAGEPOLICY.
pub fn storage_policies(out: &mut Vec<u8>, policies: &[StoragePolicy<'_>]) {
    list(out, "{\"BlockStoragePolicies\":{\"BlockStoragePolicy\":", policies, storage_policy_object);
    raw(out, "}}");
}

/// One entry of GETTRASHROOTS; `path` is absolute.
pub fn trash_root(out: &mut Vec<u8>, s: &FileStatus<'_>, path: &str) {
    field(out, "{\"blocksize\":", s.block_size);
    text_field(out, ",\"owner\":", s.owner.as_bytes());
    text_field(out, ",\"path\":", path.as_bytes());
    field(out, ",\"length\":", s.length);
    raw(out, ",\"permission\":\"");
    octal(out, s.permission.0);
    field(out, "\",\"modification_time\":", s.modification_time_ms);
    raw(out, if s.file_type == FileType::Directory { ",\"isdir\":true" } else { ",\"isdir\":false" });
    field(out, ",\"block_replication\":", s.replication);
    field(out, ",\"access_time\":", s.access_time_ms);
    text_field(out, ",\"group\":", s.group.as_bytes());
    out.push(b'}');
}

/// The answer to GETTRASHROOTS, from entries written with `trash_root` and commas between them; `None`: there is no list.
pub fn trash_roots(out: &mut Vec<u8>, entries: Option<&[u8]>) {
    let Some(entries) = entries else { return raw(out, "{\"Paths\":null}") };
    raw(out, "{\"Paths\":[");
    out.extend_from_slice(entries);
    raw(out, "]}");
}

/// The answer to GETDELEGATIONTOKEN where security is off.
pub fn no_token(out: &mut Vec<u8>) {
    raw(out, "{\"Token\":null}");
}

/// The answer to GETSTATUS.
pub fn fs_status(out: &mut Vec<u8>, stats: &FsStats) {
    field(out, "{\"FsStatus\":{\"used\":", stats.used);
    field(out, ",\"remaining\":", stats.remaining);
    field(out, ",\"capacity\":", stats.capacity);
    raw(out, "}}");
}

/// What GETSERVERDEFAULTS tells. Sizes in bytes, the trash interval in minutes.
#[derive(Clone, Copy, Debug)]
pub struct ServerDefaults {
    pub replication: u16,
    pub write_packet_size: u32,
    pub file_buffer_size: u32,
    /// 0 NULL, 1 CRC32, 2 CRC32C.
    pub checksum_type: u8,
    pub trash_interval_minutes: u64,
    pub block_size: u64,
    pub bytes_per_checksum: u32,
}

/// The answer to GETSERVERDEFAULTS.
pub fn server_defaults(out: &mut Vec<u8>, d: &ServerDefaults) {
    field(out, "{\"FsServerDefaults\":{\"replication\":", d.replication);
    field(out, ",\"encryptDataTransfer\":false,\"defaultStoragePolicyId\":7,\"writePacketSize\":", d.write_packet_size);
    field(out, ",\"fileBufferSize\":", d.file_buffer_size);
    field(out, ",\"checksumType\":", d.checksum_type);
    field(out, ",\"trashInterval\":", d.trash_interval_minutes);
    field(out, ",\"keyProviderUri\":\"\",\"blockSize\":", d.block_size);
    field(out, ",\"bytesPerChecksum\":", d.bytes_per_checksum);
    raw(out, "}}");
}

/// The body of an error: simple class name, full class name, message.
pub fn remote_exception(out: &mut Vec<u8>, error: &HdfsError) {
    remote_exception_parts(out, error.class, &error.message);
}

/// As `remote_exception`, from class and message.
pub fn remote_exception_parts(out: &mut Vec<u8>, class: ExceptionClass, message: &str) {
    text_field(out, "{\"RemoteException\":{\"exception\":", class.simple_name().as_bytes());
    text_field(out, ",\"javaClassName\":", class.java_name().as_bytes());
    text_field(out, ",\"message\":", message.as_bytes());
    raw(out, "}}");
}

/// As `remote_exception`, for a class that the table of exceptions does not hold.
pub fn remote_exception_named(out: &mut Vec<u8>, java_class: &str, message: &str) {
    let simple = java_class.rsplit(['.', '$']).next().unwrap_or(java_class);
    text_field(out, "{\"RemoteException\":{\"exception\":", simple.as_bytes());
    text_field(out, ",\"javaClassName\":", java_class.as_bytes());
    text_field(out, ",\"message\":", message.as_bytes());
    raw(out, "}}");
}

/// The answer to GETACLSTATUS.
pub fn acl_status(
    out: &mut Vec<u8>,
    owner: &str,
    group: &str,
    permission: Option<FsPermission>,
    entries: impl Iterator<Item = AclEntry>,
) {
    let entries: Vec<AclEntry> = entries.collect();
    list(out, "{\"AclStatus\":{\"entries\":", &entries, |out, e| string(out, e.to_string().as_bytes()));
    text_field(out, ",\"group\":", group.as_bytes());
    text_field(out, ",\"owner\":", owner.as_bytes());
    if let Some(permission) = permission {
        raw(out, ",\"permission\":\"");
        octal(out, permission.0);
        raw(out, "\"");
    }
    let is_sticky = permission.is_some_and(FsPermission::is_sticky);
    raw(out, if is_sticky { ",\"stickyBit\":true}}" } else { ",\"stickyBit\":false}}" });
}

/// The answer to GETXATTRS: names with prefix, values that may be empty.
pub fn xattrs<'a>(out: &mut Vec<u8>, codec: XAttrCodec, xattrs: impl Iterator<Item = (String, &'a [u8])>) {
    let xattrs: Vec<(String, &[u8])> = xattrs.collect();
    list(out, "{\"XAttrs\":", &xattrs, |out, (name, value)| {
        text_field(out, "{\"name\":", name.as_bytes());
        raw(out, ",\"value\":");
        match value.is_empty() {
            true => raw(out, "null"),
            false => string(out, codec.encode(value).as_bytes()),
        }
        out.push(b'}');
    });
    out.push(b'}');
}

/// The answer to LISTXATTRS: a string that holds JSON.
pub fn xattr_names(out: &mut Vec<u8>, names: impl Iterator<Item = String>) {
    let names: Vec<String> = names.collect();
    let mut inner = Vec::new();
    list(&mut inner, "", &names, |out, name| string(out, name.as_bytes()));
    text_field(out, "{\"XAttrNames\":", &inner);
    out.push(b'}');
}

/// Writes items with commas between them.
pub(crate) fn list<T>(out: &mut Vec<u8>, before: &str, items: &[T], mut item: impl FnMut(&mut Vec<u8>, &T)) {
    raw(out, before);
    out.push(b'[');
    for (i, x) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        item(out, x);
    }
    out.push(b']');
}

/// `ip:port` with quotes.
fn transfer_address(out: &mut Vec<u8>, r: &Replica<'_>) {
    raw(out, "\"");
    raw(out, &r.datanode.ip_addr);
    field(out, ":", r.datanode.xfer_port);
    raw(out, "\"");
}

/// One entry of GETFILEBLOCKLOCATIONS. Put between `{"BlockLocations":{"BlockLocation":[` and `]}}`, with commas.
pub fn block_location(out: &mut Vec<u8>, b: &LocatedBlock<'_>) {
    list(out, "{\"topologyPaths\":", b.replicas, |out, r| {
        raw(out, "\"");
        raw(out, r.network_location);
        raw(out, "/");
        raw(out, &r.datanode.ip_addr);
        field(out, ":", r.datanode.xfer_port);
        raw(out, "\"");
    });
    raw(out, if b.corrupt { ",\"corrupt\":true" } else { ",\"corrupt\":false" });
    raw(out, ",\"cachedHosts\":[]");
    list(out, ",\"names\":", b.replicas, transfer_address);
    field(out, ",\"offset\":", b.offset);
    list(out, ",\"hosts\":", b.replicas, |out, r| string(out, r.datanode.host_name.as_bytes()));
    field(out, ",\"length\":", b.block.num_bytes);
    list(out, ",\"storageTypes\":", b.replicas, |out, r| string(out, r.storage_type.name().as_bytes()));
    out.push(b'}');
}

/// The answer to GETFILEBLOCKLOCATIONS.
pub fn block_locations(out: &mut Vec<u8>, blocks: &[LocatedBlock<'_>]) {
    list(out, "{\"BlockLocations\":{\"BlockLocation\":", blocks, block_location);
    raw(out, "}}");
}

/// The answer to GET_BLOCK_LOCATIONS.
pub fn located_blocks(out: &mut Vec<u8>, pool_id: &str, head: &LocatedBlocks, blocks: &[LocatedBlock<'_>]) {
    field(out, "{\"LocatedBlocks\":{\"fileLength\":", head.file_length);
    raw(out, if head.last_block_complete { ",\"isLastBlockComplete\":true" } else { ",\"isLastBlockComplete\":false" });
    raw(out, if head.under_construction { ",\"isUnderConstruction\":true" } else { ",\"isUnderConstruction\":false" });
    raw(out, ",\"lastLocatedBlock\":");
    match blocks.last() {
        Some(last) => located_block(out, pool_id, last),
        None => raw(out, "null"),
    }
    list(out, ",\"locatedBlocks\":", blocks, |out, b| located_block(out, pool_id, b));
    raw(out, "}}");
}

fn located_block(out: &mut Vec<u8>, pool_id: &str, b: &LocatedBlock<'_>) {
    field(out, "{\"block\":{\"blockId\":", b.block.id.0);
    text_field(out, ",\"blockPoolId\":", pool_id.as_bytes());
    field(out, ",\"generationStamp\":", b.block.generation_stamp.0);
    field(out, ",\"numBytes\":", b.block.num_bytes);
    raw(out, "},\"blockToken\":{\"urlString\":\"AAAAAA\"},\"cachedLocations\":[]");
    raw(out, if b.corrupt { ",\"isCorrupt\":true" } else { ",\"isCorrupt\":false" });
    list(out, ",\"locations\":", b.replicas, datanode);
    field(out, ",\"startOffset\":", b.offset);
    list(out, ",\"storageTypes\":", b.replicas, |out, r| string(out, r.storage_type.name().as_bytes()));
    out.push(b'}');
}

fn datanode(out: &mut Vec<u8>, r: &Replica<'_>) {
    use surus_types::AdminState;
    raw(
        out,
        match r.admin_state {
            AdminState::Normal => "{\"adminState\":\"NORMAL\"",
            AdminState::DecommissionInProgress => "{\"adminState\":\"DECOMMISSION_INPROGRESS\"",
            AdminState::Decommissioned => "{\"adminState\":\"DECOMMISSIONED\"",
            AdminState::EnteringMaintenance => "{\"adminState\":\"ENTERING_MAINTENANCE\"",
            AdminState::InMaintenance => "{\"adminState\":\"IN_MAINTENANCE\"",
        },
    );
    let (id, stats) = (r.datanode, r.stats);
    field(out, ",\"blockPoolUsed\":", stats.block_pool_used);
    field(out, ",\"cacheCapacity\":", stats.cache_capacity);
    field(out, ",\"cacheUsed\":", stats.cache_used);
    field(out, ",\"capacity\":", stats.capacity);
    field(out, ",\"dfsUsed\":", stats.dfs_used);
    text_field(out, ",\"hostName\":", id.host_name.as_bytes());
    field(out, ",\"infoPort\":", id.info_port);
    field(out, ",\"infoSecurePort\":", id.info_secure_port);
    text_field(out, ",\"ipAddr\":", id.ip_addr.as_bytes());
    field(out, ",\"ipcPort\":", id.ipc_port);
    field(out, ",\"lastBlockReportMonotonic\":", stats.last_block_report_monotonic_ms);
    field(out, ",\"lastBlockReportTime\":", stats.last_block_report_ms);
    field(out, ",\"lastUpdate\":", stats.last_update_ms);
    field(out, ",\"lastUpdateMonotonic\":", stats.last_update_monotonic_ms);
    raw(out, ",\"name\":");
    transfer_address(out, r);
    text_field(out, ",\"networkLocation\":", r.network_location.as_bytes());
    field(out, ",\"remaining\":", stats.remaining);
    text_field(out, ",\"storageID\":", id.uuid.as_bytes());
    field(out, ",\"xceiverCount\":", stats.xceiver_count);
    field(out, ",\"xferPort\":", id.xfer_port);
    out.push(b'}');
}
