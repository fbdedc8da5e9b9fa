//! What users of HDFS report, as calls with the right answer (the table in docs/testing.md says which is which), and calls
//! whose bytes make no sense.

use crate::cluster::{Client, Cluster, Words, create, message};
use crate::doors::http;
use prost::Message;
use surus_net::rpc::RpcError;
use surus_proto::hadoop::hdfs::*;

fn percent_encoded(name: &str) -> String {
    name.bytes().map(|b| format!("%{b:02X}")).collect()
}

const ODD_NAMES: [&str; 12] = [
    "a%b",
    "a+b",
    "a b",
    "year=2015",
    "Müller",
    "日本語",
    "🙂",
    "${InputDir}",
    "a%3Ab",
    "a&b?c#d",
    "semi;colon",
    "\"quoted'",
];

#[test]
fn odd_names_are_the_same_over_rpc_and_http() {
    let cluster = Cluster::new();
    let (client, address) = (cluster.client(), cluster.http());
    for name in ODD_NAMES {
        let encoded = percent_encoded(name);
        client.mkdirs(&format!("/rpc/{name}")).unwrap();
        let (status, head, _) = http(&address, "GET", &format!("/webhdfs/v1/rpc/{encoded}?op=GETFILESTATUS"));
        assert_eq!(status, 200, "{name}: {head}");
        let (status, _, body) = http(&address, "PUT", &format!("/webhdfs/v1/http/{encoded}?op=MKDIRS&user.name=hdfs"));
        assert_eq!((status, body.as_str()), (200, "{\"boolean\":true}"), "{name}");
        assert!(client.exists(&format!("/http/{name}")), "{name}");
    }
    let names = |src: &str| listing(&client, src, false).0;
    assert_eq!(names("/rpc"), names("/http"));
    // By bytes, which are signed in Java.
    let mut sorted = ODD_NAMES.map(|name| name.as_bytes().to_vec());
    sorted.sort_by_key(|name| name.iter().map(|b| b.cast_signed()).collect::<Vec<i8>>());
    assert_eq!(names("/rpc"), sorted);

    let refused = message(client.mkdirs("/t/a:b").unwrap_err());
    assert_eq!(refused, "InvalidPathException: Invalid path name Invalid file name: /t/a:b");
    for target in ["/t/a:b", "/t/a%3Ab"] {
        let (status, _, body) = http(&address, "PUT", &format!("/webhdfs/v1{target}?op=MKDIRS&user.name=hdfs"));
        assert!(status == 400 && body.contains("InvalidPathException"), "{status} {body}");
    }
}

/// All names of a directory, and how many pages it took.
fn listing(client: &Client, src: &str, need_location: bool) -> (Vec<Vec<u8>>, usize) {
    let (mut names, mut pages) = (Vec::<Vec<u8>>::new(), 0);
    loop {
        let start_after = names.last().cloned().unwrap_or_default();
        let request = GetListingRequestProto { src: src.into(), start_after, need_location };
        let answer: GetListingResponseProto = client.call("getListing", &request).unwrap();
        let page = answer.dir_list.expect("a directory");
        pages += 1;
        names.extend(page.partial_listing.into_iter().map(|status| status.path));
        if page.remaining_entries == 0 {
            return (names, pages);
        }
        assert!(pages < 1000, "no end");
    }
}

#[test]
fn listings_are_whole_at_every_page_border() {
    let cluster = Cluster::with(&[("dfs.ls.limit", "10")]);
    let client = cluster.client();
    let mut made = Vec::new();
    for (count, pages) in [(0, 1), (9, 1), (10, 1), (11, 2), (20, 2), (25, 3)] {
        client.mkdirs("/d").unwrap();
        for i in made.len()..count {
            let name = format!("{i:03}");
            client.mkdirs(&format!("/d/{name}")).unwrap();
            made.push(name.into_bytes());
        }
        for need_location in [false, true] {
            assert_eq!(listing(&client, "/d", need_location), (made.clone(), pages), "{count} {need_location}");
        }
    }
}

#[test]
fn only_what_is_not_there_is_not_found() {
    let cluster = Cluster::new();
    let client = cluster.client();
    for file in ["/shut/f", "/open"] {
        let id = client.create(file);
        assert!(client.complete(file, id, None));
    }
    let set = SetPermissionRequestProto { src: "/shut".into(), permission: FsPermissionProto { perm: 0o700 } };
    let _: SetPermissionResponseProto = client.call("setPermission", &set).unwrap();
    client.mkdirs("/empty").unwrap();
    let ask = |client: &Client, src: &str| {
        let answer = client.call("getFileInfo", &GetFileInfoRequestProto { src: src.into() });
        answer.map(|answer: GetFileInfoResponseProto| answer.fs.is_some()).map_err(message)
    };
    assert_eq!(ask(&client, "/none"), Ok(false));
    assert_eq!(ask(&client, "/shut/f"), Ok(true));
    let alice = cluster.client_as("alice");
    assert!(ask(&alice, "/shut/f").unwrap_err().starts_with("AccessControlException: Permission denied: user=alice"));
    assert!(
        ask(&alice, "/shut/none").unwrap_err().starts_with("AccessControlException: Permission denied: user=alice")
    );
    assert_eq!(ask(&alice, "/open/below"), Err("AccessControlException: /open (is not a directory)".to_owned()));
    // As in Hadoop, the superuser is told that it is not there.
    assert_eq!(ask(&client, "/open/below"), Ok(false));
    assert_eq!(listing(&client, "/empty", false), (vec![], 1));
    let none = GetListingRequestProto { src: "/none".into(), ..Default::default() };
    let answer: GetListingResponseProto = client.call("getListing", &none).unwrap();
    assert_eq!(answer.dir_list, None);
}

fn append(src: &str, client_name: &str) -> AppendRequestProto {
    AppendRequestProto { src: src.into(), client_name: client_name.into(), flag: None }
}

#[test]
fn files_that_are_missing_or_open_refuse_writers() {
    let cluster = Cluster::new();
    let client = cluster.client();
    let missing: Result<AppendResponseProto, _> = client.call("append", &append("/none", "x"));
    assert!(message(missing.unwrap_err()).starts_with("FileNotFoundException: "));
    let (status, _, body) = http(&cluster.http(), "POST", "/webhdfs/v1/none?op=APPEND&user.name=hdfs");
    assert!(status == 404 && body.contains("FileNotFoundException"), "{status} {body}");

    let first = client.create("/f");
    let other = CreateRequestProto { client_name: "DFSClient_other".into(), ..create("/f") };
    let busy: Result<CreateResponseProto, _> = client.call("create", &other);
    let busy = message(busy.unwrap_err());
    assert!(busy.starts_with("AlreadyBeingCreatedException: ") && busy.contains("DFSClient_test_1"), "{busy}");
    let busy: Result<AppendResponseProto, _> = client.call("append", &append("/f", "DFSClient_other"));
    let busy = message(busy.unwrap_err());
    assert!(busy.starts_with("AlreadyBeingCreatedException: ") && busy.contains("DFSClient_test_1"), "{busy}");
    let over = CreateRequestProto { create_flag: 3, ..other };
    let _: CreateResponseProto = client.call("create", &over).unwrap();
    let request = CompleteRequestProto {
        src: "/f".into(),
        client_name: "DFSClient_test_1".into(),
        last: None,
        file_id: Some(first),
    };
    let late: Result<CompleteResponseProto, _> = client.call("complete", &request);
    let late = message(late.unwrap_err());
    assert!(late.starts_with("FileNotFoundException: ") || late.starts_with("LeaseExpiredException: "), "{late}");
}

#[test]
fn open_files_keep_their_lease_over_restarts() {
    let mut cluster = Cluster::new();
    cluster.client().create("/a/f");
    let held = |cluster: &Cluster| {
        let client = cluster.client();
        let request = ListOpenFilesRequestProto { path: Some("/".into()), ..Default::default() };
        let answer: ListOpenFilesResponseProto = client.call("listOpenFiles", &request).unwrap();
        let open: Vec<_> = answer.entries.into_iter().map(|e| (e.path, e.client_name)).collect();
        assert_eq!(open, [("/a/f".to_owned(), "DFSClient_test_1".to_owned())]);
        let busy: Result<AppendResponseProto, _> = client.call("append", &append("/a/f", "DFSClient_other"));
        assert!(message(busy.unwrap_err()).starts_with("AlreadyBeingCreatedException: "));
    };
    held(&cluster);
    cluster.restart();
    held(&cluster);
    let client = cluster.client();
    client.safe_mode(SafeModeActionProto::SafemodeEnter).unwrap();
    let _: SaveNamespaceResponseProto = client.call("saveNamespace", &SaveNamespaceRequestProto::default()).unwrap();
    cluster.restart();
    held(&cluster);
    let request = RecoverLeaseRequestProto { src: "/a/f".into(), client_name: "DFSClient_other".into() };
    let done: RecoverLeaseResponseProto = cluster.client().call("recoverLease", &request).unwrap();
    assert!(done.result);
    let id = cluster.client().status("/a/f").and_then(|fs| fs.file_id).unwrap();
    cluster.restart();
    assert_eq!(cluster.client().status("/a/f").and_then(|fs| fs.file_id), Some(id));
}

#[test]
fn without_access_times_only_those_are_refused() {
    let cluster = Cluster::with(&[("dfs.namenode.accesstime.precision", "0")]);
    let client = cluster.client();
    let id = client.create("/f");
    assert!(client.complete("/f", id, None));
    let times = |mtime: i64, atime: i64| {
        let request = SetTimesRequestProto { src: "/f".into(), mtime: mtime as u64, atime: atime as u64 };
        client.call::<_, SetTimesResponseProto>("setTimes", &request).map(|_| ()).map_err(message)
    };
    assert_eq!(times(12_345, -1), Ok(()));
    assert_eq!(client.status("/f").unwrap().modification_time, 12_345);
    assert!(times(-1, 77).unwrap_err().starts_with("IOException: Access time for hdfs is not configured."));
}

#[test]
fn quota_refusals_say_quota_and_use() {
    let cluster = Cluster::new();
    let client = cluster.client();
    client.mkdirs("/q/a").unwrap();
    let set = |names: i64, space: i64| {
        let request = SetQuotaRequestProto {
            path: "/q".into(),
            namespace_quota: names as u64,
            storagespace_quota: space as u64,
            storage_type: None,
        };
        client.call::<_, SetQuotaResponseProto>("setQuota", &request).map(|_| ()).map_err(message)
    };
    assert_eq!(set(3, 1 << 20), Ok(()));
    client.mkdirs("/q/b").unwrap();
    let full = message(client.mkdirs("/q/c").unwrap_err());
    let text = "The NameSpace quota (directories and files) of directory /q is exceeded: quota=3 file count=4";
    assert_eq!(full, format!("NSQuotaExceededException: {text}"));
    let (status, _, body) = http(&cluster.http(), "PUT", "/webhdfs/v1/q/c?op=MKDIRS&user.name=hdfs");
    assert!(status == 403 && body.contains("NSQuotaExceededException") && body.contains(text), "{status} {body}");
    for (names, space) in [(-5, 1), (1, -7)] {
        let text = format!("IllegalArgumentException: Illegal value for nsQuota or ssQuota : {names} and {space}");
        assert_eq!(set(names, space), Err(text));
    }

    let _node = Words::register(&cluster.rpc(), "dn1");
    assert_eq!(set(-1, 1000), Ok(()));
    let file = client.create("/q/f");
    let full = message(client.add_block("/q/f", file).unwrap_err());
    assert_eq!(
        full,
        "DSQuotaExceededException: The DiskSpace quota of /q is exceeded: quota = 1000 B = 1000 B but diskspace consumed \
         = 1048576 B = 1 MB"
    );
}

#[test]
fn renames_over_http_replace_in_one_step() {
    let cluster = Cluster::new();
    let (client, address) = (cluster.client(), cluster.http());
    for name in ["/t/new", "/t/final", "/t/other"] {
        let id = client.create(name);
        assert!(client.complete(name, id, None));
    }
    let id = client.status("/t/new").unwrap().file_id;
    let rename = |from: &str, query: &str| {
        let (status, _, body) = http(&address, "PUT", &format!("/webhdfs/v1{from}?op=RENAME&user.name=hdfs&{query}"));
        (status, body)
    };
    assert_eq!(rename("/t/new", "destination=/t/final"), (200, "{\"boolean\":false}".to_owned()));
    assert_eq!(rename("/t/new", "destination=/t/final&renameoptions=OVERWRITE"), (200, String::new()));
    assert_eq!(client.status("/t/final").unwrap().file_id, id);
    assert!(!client.exists("/t/new"));
    let (status, body) = rename("/t/other", "destination=/t/final&renameoptions=NONE");
    assert!(status == 403 && body.contains("FileAlreadyExistsException"), "{status} {body}");
    assert_eq!(rename("/t/other", "destination=/t/final&renameoptions=SOMETIMES").0, 400);
}

/// Names of all calls of ClientProtocol, from the table of the comparison with Hadoop.
fn methods() -> Vec<String> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/methods.md")).unwrap();
    let table = text.split("\n## ").find(|part| part.starts_with("ClientProtocol")).expect("the table");
    let names = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
    names.filter(|name| !["method", "---"].contains(name)).map(str::to_owned).collect()
}

/// Calls that take nothing, or nothing that they must have: an empty request is a good one.
const WITHOUT_ARGUMENTS: [&str; 18] = [
    "addErasureCodingPolicies",
    "finalizeUpgrade",
    "getCurrentEditLogTxid",
    "getDataEncryptionKey",
    "getECTopologyResultForPolicies",
    "getErasureCodingCodecs",
    "getErasureCodingPolicies",
    "getFsECBlockGroupStats",
    "getFsReplicatedBlockStats",
    "getFsStats",
    "getServerDefaults",
    "getSlowDatanodeReport",
    "getSnapshottableDirListing",
    "getStoragePolicies",
    "msync",
    "refreshNodes",
    "reportBadBlocks",
    "upgradeStatus",
];

/// A name, and the call with such a request; whether it was answered.
type Shape<'a> = (&'static str, Box<dyn Fn() -> bool + 'a>);

#[test]
fn requests_of_the_wrong_shape_change_nothing() {
    let cluster = Cluster::new();
    let client = cluster.client();
    let id = client.create("/f");
    assert!(client.complete("/f", id, None));
    let last = |client: &Client| {
        let answer: Result<GetCurrentEditLogTxidResponseProto, RpcError> =
            client.call("getCurrentEditLogTxid", &GetCurrentEditLogTxidRequestProto {});
        answer.unwrap().txid
    };
    let methods = methods();
    assert_eq!(methods.len(), 111);
    let mut answered = Vec::new();
    let before = last(&client);
    for method in methods.iter().filter(|method| !["rollEdits", "metaSave"].contains(&method.as_str())) {
        // Field 1 as bytes that are no UTF-8, as a huge number, as a path that is none; nothing at all.
        let shapes: [Shape<'_>; 5] = [
            ("empty", Box::new(|| try_call(&client, method, &()))),
            ("bytes", Box::new(|| try_call(&client, method, &vec![0xff_u8, 0xfe, 0x80]))),
            ("number", Box::new(|| try_call(&client, method, &u64::MAX))),
            ("fixed", Box::new(|| try_call(&client, method, &f64::MIN))),
            ("path", Box::new(|| try_call(&client, method, &"/x/../".repeat(1400)))),
        ];
        for (shape, call) in shapes {
            if call() {
                answered.push((method.as_str(), shape));
            }
            let now = last(&client);
            assert_eq!(now, before, "{method} {shape} wrote an edit");
        }
    }
    let empty: Vec<&str> = answered.iter().filter(|(_, shape)| *shape == "empty").map(|(method, _)| *method).collect();
    assert_eq!(empty, WITHOUT_ARGUMENTS);
    assert_eq!(listing(&client, "/", false).0, [b"f".to_vec()]);
}

/// Whether the call was answered with anything but an error.
fn try_call<Req: Message>(client: &Client, method: &str, request: &Req) -> bool {
    client.call::<_, ()>(method, request).is_ok()
}
