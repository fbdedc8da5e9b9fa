//! JSON as Hadoop 3.5.0 wrote it: same keys, same order, same escapes.

use surus_types::acl::parse_acl_spec;
use surus_types::{
    AdminState, Block, BlockId, ContentSummary, DatanodeId, DatanodeStats, ExceptionClass, FileStatus, FileType,
    FsPermission, GenerationStamp, HdfsError, InodeId, LocatedBlock, LocatedBlocks, Replica, StorageType, XAttrCodec,
};
use surus_webhdfs::json::{self, Listing};

fn show(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

fn status(name: &[u8]) -> FileStatus<'_> {
    FileStatus {
        file_type: FileType::File,
        name,
        length: 100,
        permission: FsPermission(0o644),
        owner: "root",
        group: "supergroup",
        modification_time_ms: 1_764_500_000_000,
        access_time_ms: 1_764_500_000_001,
        symlink: b"",
        replication: 1,
        block_size: 1_048_576,
        inode_id: InodeId(16386),
        children: 0,
        storage_policy: 0,
        flags: 0,
        ec_policy: None,
        encryption: None,
    }
}

const FILE: &str = "\"blockSize\":1048576,\"childrenNum\":0,\"fileId\":16386,\"group\":\"supergroup\",\"length\":100,\
    \"modificationTime\":1764500000000,\"owner\":\"root\",\"pathSuffix\":";

#[test]
fn file_status() {
    let want = format!(
        "{{\"FileStatus\":{{\"accessTime\":1764500000001,{FILE}\"\",\"permission\":\"644\",\"replication\":1,\
         \"storagePolicy\":0,\"type\":\"FILE\"}}}}"
    );
    assert_eq!(show(|out| json::file_status(out, &status(b""))), want);
    let link = FileStatus {
        file_type: FileType::Symlink,
        symlink: b"/t",
        permission: FsPermission(0),
        flags: 15,
        ec_policy: None,
        encryption: None,
        ..status(b"a\"\\\n\x01\xff\xc3\xbc")
    };
    assert_eq!(
        show(|out| json::file_status_object(out, &link)),
        "{\"accessTime\":1764500000001,\"aclBit\":true,\"blockSize\":1048576,\"childrenNum\":0,\"ecBit\":true,\"encBit\":true,\
         \"fileId\":16386,\"group\":\"supergroup\",\"length\":100,\"modificationTime\":1764500000000,\"owner\":\"root\",\
         \"pathSuffix\":\"a\\\"\\\\\\n\\u0001\u{fffd}ü\",\"permission\":\"0\",\"replication\":1,\"snapshotEnabled\":true,\
         \"storagePolicy\":0,\"symlink\":\"/t\",\"type\":\"SYMLINK\"}"
    );
    let sticky = FileStatus { permission: FsPermission(0o1777), file_type: FileType::Directory, ..status(b"") };
    assert!(show(|out| json::file_status(out, &sticky)).contains("\"permission\":\"1777\""));
}

#[test]
fn listings() {
    let list = |listing: Listing, names: &[&str]| {
        show(|out| {
            listing.start(out);
            for (i, name) in names.iter().enumerate() {
                listing.entry(out, i == 0, &status(name.as_bytes()));
            }
            listing.end(out, 5);
        })
    };
    let entry = |name: &str| show(|out| json::file_status_object(out, &status(name.as_bytes())));
    assert_eq!(list(Listing::Whole, &[]), "{\"FileStatuses\":{\"FileStatus\":[\n\n]}}\n");
    let two = format!("{{\"FileStatuses\":{{\"FileStatus\":[\n{},\n{}\n]}}}}\n", entry("a"), entry("b"));
    assert_eq!(list(Listing::Whole, &["a", "b"]), two);
    let batch = format!(
        "{{\"DirectoryListing\":{{\"partialListing\":{{\"FileStatuses\":{{\"FileStatus\":[{},{}]}}}},\"remainingEntries\":5}}}}",
        entry("a"),
        entry("b")
    );
    assert_eq!(list(Listing::Batch, &["a", "b"]), batch);
}

#[test]
fn small_answers() {
    let summary =
        ContentSummary { length: 1, file_count: 2, directory_count: 3, space_consumed: 4, ..ContentSummary::default() };
    assert_eq!(
        show(|out| json::content_summary(out, &summary)),
        "{\"ContentSummary\":{\"directoryCount\":3,\"ecPolicy\":\"\",\"fileCount\":2,\"length\":1,\"quota\":-1,\
         \"snapshotDirectoryCount\":0,\"snapshotFileCount\":0,\"snapshotLength\":0,\"snapshotSpaceConsumed\":0,\
         \"spaceConsumed\":4,\"spaceQuota\":-1,\"typeQuota\":{}}}"
    );
    assert_eq!(
        show(|out| json::quota_usage(out, &summary)),
        "{\"QuotaUsage\":{\"fileAndDirectoryCount\":5,\"quota\":-1,\"spaceConsumed\":4,\"spaceQuota\":-1,\"typeQuota\":{}}}"
    );
    assert_eq!(
        show(|out| json::file_checksum(out, "MD5-of-0MD5-of-512CRC32C", &[0, 0x2a, 0xff])),
        "{\"FileChecksum\":{\"algorithm\":\"MD5-of-0MD5-of-512CRC32C\",\"bytes\":\"002aff\",\"length\":3}}"
    );
    let error = HdfsError::new(ExceptionClass::PathComponentTooLong, "a \"b\"");
    assert_eq!(
        show(|out| json::remote_exception(out, &error)),
        "{\"RemoteException\":{\"exception\":\"PathComponentTooLongException\",\"javaClassName\":\
         \"org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException\",\"message\":\"a \\\"b\\\"\"}}"
    );
    let defaults = json::ServerDefaults {
        replication: 1,
        write_packet_size: 65536,
        file_buffer_size: 4096,
        checksum_type: 2,
        trash_interval_minutes: 0,
        block_size: 134_217_728,
        bytes_per_checksum: 512,
    };
    // As 3.5.0 answered.
    assert_eq!(
        show(|out| json::server_defaults(out, &defaults)),
        "{\"FsServerDefaults\":{\"replication\":1,\"encryptDataTransfer\":false,\"defaultStoragePolicyId\":7,\"writePacketSize\":65536,\
         \"fileBufferSize\":4096,\"checksumType\":2,\"trashInterval\":0,\"keyProviderUri\":\"\",\"blockSize\":134217728,\
         \"bytesPerChecksum\":512}}"
    );
    assert_eq!(show(|out| json::boolean(out, true)), "{\"boolean\":true}");
    assert_eq!(show(|out| json::path(out, "/user/a")), "{\"Path\":\"/user/a\"}");
}

#[test]
fn policies_trash_and_cookie() {
    let warm = json::StoragePolicy {
        id: 5,
        name: "WARM",
        storage_types: &[StorageType::Disk, StorageType::Archive],
        creation_fallbacks: &[StorageType::Disk],
        replication_fallbacks: &[],
        copy_on_create_file: false,
    };
    let object = "{\"copyOnCreateFile\":false,\"creationFallbacks\":[\"DISK\"],\"id\":5,\"name\":\"WARM\",\"replicationFallbacks\":[],\
        \"storageTypes\":[\"DISK\",\"ARCHIVE\"]}";
    assert_eq!(show(|out| json::storage_policy(out, &warm)), format!("{{\"BlockStoragePolicy\":{object}}}"));
    assert_eq!(
        show(|out| json::storage_policies(out, &[warm, warm])),
        format!("{{\"BlockStoragePolicies\":{{\"BlockStoragePolicy\":[{object},{object}]}}}}")
    );
    let trash = FileStatus { file_type: FileType::Directory, block_size: 0, length: 0, replication: 0, ..status(b"") };
    assert_eq!(
        show(|out| json::trash_roots(
            out,
            Some(show(|out| json::trash_root(out, &trash, "/user/root/.Trash")).as_bytes())
        )),
        "{\"Paths\":[{\"blocksize\":0,\"owner\":\"root\",\"path\":\"/user/root/.Trash\",\"length\":0,\"permission\":\"644\",\
         \"modification_time\":1764500000000,\"isdir\":true,\"block_replication\":0,\"access_time\":1764500000001,\"group\":\"supergroup\"}]}"
    );
    assert_eq!(show(|out| json::trash_roots(out, None)), "{\"Paths\":null}");
    let cookie = "hadoop.auth=\"u=root&p=root&t=simple&e=5&s=x\"; Path=/; HttpOnly";
    assert_eq!(surus_webhdfs::auth_cookie("root", 5, "x"), cookie);
}

#[test]
fn block_locations() {
    let id =
        DatanodeId { ip_addr: "127.0.0.1".into(), host_name: "h".into(), xfer_port: 9866, ..DatanodeId::default() };
    let stats = DatanodeStats::default();
    let replicas = [Replica {
        datanode: &id,
        stats: &stats,
        admin_state: AdminState::Normal,
        network_location: "/default-rack",
        storage_uuid: "DS-1",
        storage_type: StorageType::Disk,
    }];
    let block = Block { id: BlockId(1_073_741_825), generation_stamp: GenerationStamp(1001), num_bytes: 7 };
    let blocks = [LocatedBlock { block, offset: 0, corrupt: false, replicas: &replicas }];
    assert_eq!(
        show(|out| json::block_locations(out, &blocks)),
        "{\"BlockLocations\":{\"BlockLocation\":[{\"topologyPaths\":[\"/default-rack/127.0.0.1:9866\"],\"corrupt\":false,\
         \"cachedHosts\":[],\"names\":[\"127.0.0.1:9866\"],\"offset\":0,\"hosts\":[\"h\"],\"length\":7,\"storageTypes\":[\"DISK\"]}]}}"
    );
    let head = LocatedBlocks { file_length: 7, under_construction: false, last_block_complete: true, encryption: None };
    let text = show(|out| json::located_blocks(out, "BP-1", &head, &blocks));
    assert!(text.starts_with("{\"LocatedBlocks\":{\"fileLength\":7,\"isLastBlockComplete\":true,\"isUnderConstruction\":false,\"lastLocatedBlock\":{\"block\":{\"blockId\":1073741825,\"blockPoolId\":\"BP-1\""), "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}

#[test]
fn acls_and_extended_attributes() {
    let entries = parse_acl_spec("user:b:r-x,default:group::rw-", true).unwrap();
    assert_eq!(
        show(|out| json::acl_status(out, "root", "g", Some(FsPermission(0o1755)), entries.into_iter())),
        "{\"AclStatus\":{\"entries\":[\"user:b:r-x\",\"default:group::rw-\"],\"group\":\"g\",\"owner\":\"root\",\
         \"permission\":\"1755\",\"stickyBit\":true}}"
    );
    let xattrs = [("user.a".to_string(), &b"v"[..]), ("user.b".to_string(), &b""[..])];
    assert_eq!(
        show(|out| json::xattrs(out, XAttrCodec::Text, xattrs.clone().into_iter())),
        "{\"XAttrs\":[{\"name\":\"user.a\",\"value\":\"\\\"v\\\"\"},{\"name\":\"user.b\",\"value\":null}]}"
    );
    assert_eq!(
        show(|out| json::xattr_names(out, xattrs.into_iter().map(|x| x.0))),
        "{\"XAttrNames\":\"[\\\"user.a\\\",\\\"user.b\\\"]\"}"
    );
}
