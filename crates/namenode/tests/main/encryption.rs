//! Encryption zones through the NameNode's doors: what clients are told of files, and re-encryption with a KMS that comes and goes.

use crate::cluster::{Client, Cluster, create, http_get, message};
use prost::Message;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use surus_net::rpc::RpcError;
use surus_proto::hadoop::hdfs::*;

const PROVIDER: &str = "hadoop.security.key.provider.path";
/// Keys that `hadoop key create` made: `mykey` of two versions, and `key256`.
const KEY_STORE: &str = concat!("jceks://file", env!("CARGO_MANIFEST_DIR"), "/../keys/tests/data/keys.jceks");
const RAW: &str = "/.reserved/raw";

fn zone(client: &Client, src: &str, key: &str) -> Result<(), RpcError> {
    client.mkdirs(src).unwrap();
    let request = CreateEncryptionZoneRequestProto { src: src.to_owned(), key_name: Some(key.to_owned()) };
    client.call("createEncryptionZone", &request).map(|_: CreateEncryptionZoneResponseProto| ())
}

fn create_file(client: &Client, src: &str) -> HdfsFileStatusProto {
    let versions = vec![CryptoProtocolVersionProto::EncryptionZones as i32];
    let request = CreateRequestProto { crypto_protocol_version: versions, ..create(src) };
    let status = client.call("create", &request).map(|r: CreateResponseProto| r.fs).unwrap().unwrap();
    assert!(client.complete(src, status.file_id(), None));
    status
}

fn append(client: &Client, src: &str) -> HdfsFileStatusProto {
    let request = AppendRequestProto { src: src.to_owned(), client_name: create("").client_name, flag: None };
    let status = client.call("append", &request).map(|r: AppendResponseProto| r.stat).unwrap().unwrap();
    assert!(client.complete(src, status.file_id(), None));
    status
}

fn set_raw(client: &Client, src: &str, name: &str, value: &[u8]) -> Result<(), RpcError> {
    let namespace = x_attr_proto::XAttrNamespaceProto::Raw as i32;
    let xattr = XAttrProto { namespace, name: name.to_owned(), value: Some(value.to_vec()) };
    let request = SetXAttrRequestProto { src: format!("{RAW}{src}"), x_attr: Some(xattr), flag: Some(3) };
    client.call("setXAttr", &request).map(|_: SetXAttrResponseProto| ())
}

fn zones(client: &Client) -> Vec<String> {
    let answer: ListEncryptionZonesResponseProto =
        client.call("listEncryptionZones", &ListEncryptionZonesRequestProto { id: 0 }).unwrap();
    answer.zones.into_iter().map(|zone| zone.path).collect()
}

/// Below `/.reserved/raw` a file is what it is on DataNodes, for writers too: they would encrypt it again otherwise.
#[test]
fn raw_files_come_without_their_keys() {
    let cluster = Cluster::with(&[(PROVIDER, KEY_STORE)]);
    let client = cluster.client();
    zone(&client, "/z", "mykey").unwrap();
    let info = create_file(&client, "/z/f").file_encryption_info.unwrap();
    assert_eq!((info.key_name.as_str(), info.ez_key_version_name.as_str()), ("mykey", "mykey@1"));
    assert_eq!(append(&client, "/z/f").file_encryption_info, Some(info));
    assert_eq!(append(&client, &format!("{RAW}/z/f")).file_encryption_info, None);
    assert_eq!(create_file(&client, &format!("{RAW}/z/g")).file_encryption_info, None);
}

#[test]
fn attributes_that_are_not_what_they_should_be_are_refused() {
    let cluster = Cluster::with(&[(PROVIDER, KEY_STORE)]);
    let client = cluster.client();
    zone(&client, "/a", "mykey").unwrap();
    create_file(&client, "/a/f");
    client.mkdirs("/b").unwrap();
    let (zone_info, file_info) = ("hdfs.crypto.encryption.zone", "hdfs.crypto.file.encryption.info");
    let refused = |src: &str, name: &str, value: &[u8]| message(set_raw(&client, src, name, value).unwrap_err());
    for value in [&b""[..], b"garbage", &[0x08, 0x02]] {
        let (zone, file) = (refused("/b", zone_info, value), refused("/a/f", file_info, value));
        assert!(zone.starts_with("InvalidProtocolBufferException: "), "{zone}");
        assert!(file.starts_with("InvalidProtocolBufferException: "), "{file}");
    }
    assert!(client.status("/a/f").unwrap().file_encryption_info.is_some());
    let info = ZoneEncryptionInfoProto {
        suite: CipherSuiteProto::AesCtrNopadding as i32,
        crypto_protocol_version: CryptoProtocolVersionProto::EncryptionZones as i32,
        key_name: "key256".to_owned(),
        reencryption_proto: None,
    };
    set_raw(&client, "/b", zone_info, &info.encode_to_vec()).unwrap();
    assert_eq!(zones(&client), ["/a", "/b"]);
}

/// Nothing moves out of a zone, so each has its own trash, which is emptied as those of homes are.
#[test]
fn zones_have_their_own_trash() {
    let settings = [(PROVIDER, KEY_STORE), ("fs.trash.interval", "1s"), ("dfs.webhdfs.enabled", "true")];
    let cluster = Cluster::with(&settings);
    let client = cluster.client();
    zone(&client, "/z", "mykey").unwrap();
    client.mkdirs("/z/d").unwrap();
    let get = |src: &str, what: &str| http_get(&cluster.http(), &format!("/webhdfs/v1{src}?op={what}&user.name=hdfs"));
    let root = |src: &str| get(src, "GETTRASHROOT");
    assert_eq!(root("/z/d/f"), r#"{"Path":"/z/.Trash/hdfs"}"#);
    assert_eq!(root("/z/d"), r#"{"Path":"/z/.Trash/hdfs"}"#);
    // A zone goes as a whole.
    for src in ["/z", "/", "/other/f"] {
        assert_eq!(root(src), r#"{"Path":"/user/hdfs/.Trash"}"#, "{src}");
    }
    for user in ["hdfs", "alice"] {
        client.mkdirs(&format!("/z/.Trash/{user}/261130000000")).unwrap();
        client.mkdirs(&format!("/z/.Trash/{user}/Current/z/d")).unwrap();
    }
    let roots = |what: &str| {
        let text = get("/", what);
        text.match_indices("/z/.Trash/").map(|(at, _)| text[at..].split('"').next().unwrap().to_owned()).collect()
    };
    let (own, all): (Vec<String>, Vec<String>) = (roots("GETTRASHROOTS"), roots("GETTRASHROOTS&allusers=true"));
    assert_eq!(
        (own, all),
        (vec!["/z/.Trash/hdfs".to_owned()], vec!["/z/.Trash/alice".to_owned(), "/z/.Trash/hdfs".to_owned()])
    );
    let begin = Instant::now();
    while client.exists("/z/.Trash/alice/261130000000") || client.exists("/z/.Trash/alice/Current") {
        assert!(begin.elapsed() < Duration::from_secs(30), "the trash of a zone is not emptied");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A KMS that serves as long as it lives; every key is its own encryption.
struct Kms {
    uri: &'static str,
    /// The current version of every key.
    version: Arc<AtomicU32>,
    /// Whether it says 503 to re-encryption.
    is_down: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Kms {
    fn start() -> Self {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let uri = format!("kms://http@{}/kms", server.local_addr().unwrap());
        let kms = Kms {
            uri: Box::leak(uri.into_boxed_str()),
            version: Arc::default(),
            is_down: Arc::default(),
            requests: Arc::default(),
        };
        let (version, is_down, requests) = (kms.version.clone(), kms.is_down.clone(), kms.requests.clone());
        std::thread::spawn(move || {
            while let Ok((stream, _)) = server.accept() {
                let mut reader = BufReader::new(&stream);
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
                let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
                reader.read_exact(&mut body).unwrap();
                let first = head.lines().next().unwrap().to_owned();
                let (status, answer) = answer(&first, &body, version.load(SeqCst), is_down.load(SeqCst));
                requests.lock().unwrap().push(first);
                let length = answer.len();
                write!(&stream, "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{answer}").unwrap();
            }
        });
        kms
    }

    fn has_seen(&self, part: &str) -> bool {
        self.requests.lock().unwrap().iter().any(|request| request.contains(part))
    }
}

fn answer(request: &str, body: &[u8], version: u32, is_down: bool) -> (u16, String) {
    let eek = |key: &str, iv: &str, material: &str| {
        format!(
            r#"{{"versionName":"{key}@{version}","iv":"{iv}","encryptedKeyVersion":{{"versionName":"EEK","material":"{material}"}}}}"#
        )
    };
    let name = request.split('/').nth(4).unwrap_or_default();
    if request.contains("/_metadata") {
        return (200, format!(r#"{{"name":"{name}","cipher":"AES/CTR/NoPadding","length":128,"versions":1}}"#));
    }
    if request.contains("eek_op=generate") {
        // Long enough for another call to come meanwhile.
        std::thread::sleep(Duration::from_millis(200));
        return (200, format!("[{}]", eek(name, "AQIDBAUGBwgJCgsMDQ4PEA", "AAAAAAAAAAAAAAAAAAAAAQ")));
    }
    if is_down {
        return (503, String::new());
    }
    let body: Vec<&str> = std::str::from_utf8(body).unwrap().split('"').collect();
    let field = |name: &str| body[body.iter().position(|word| *word == name).unwrap() + 2];
    (200, eek(field("name"), field("iv"), field("material")))
}

fn start(client: &Client, action: ReencryptActionProto) -> Result<(), RpcError> {
    let request = ReencryptEncryptionZoneRequestProto { action: action as i32, zone: "/z".to_owned() };
    client.call("reencryptEncryptionZone", &request).map(|_: ReencryptEncryptionZoneResponseProto| ())
}

fn state(client: &Client) -> ZoneReencryptionStatusProto {
    let request = ListReencryptionStatusRequestProto { id: 0 };
    let answer: ListReencryptionStatusResponseProto = client.call("listReencryptionStatus", &request).unwrap();
    answer.statuses.into_iter().next().unwrap()
}

fn finished(client: &Client) -> ZoneReencryptionStatusProto {
    let begin = Instant::now();
    loop {
        let state = state(client);
        if state.state == ReencryptionStateProto::Completed as i32 {
            return state;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "{state:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn version(client: &Client, src: &str) -> String {
    client.status(src).unwrap().file_encryption_info.unwrap().ez_key_version_name
}

#[test]
fn re_encryption_waits_for_the_kms_and_fails_no_file() {
    let kms = Kms::start();
    let mut cluster = Cluster::with(&[(PROVIDER, kms.uri)]);
    let client = cluster.client();
    zone(&client, "/z", "k").unwrap();
    client.mkdirs("/z/d").unwrap();
    for src in ["/z/a", "/z/b", "/z/c"] {
        create_file(&client, src);
    }
    kms.version.store(1, SeqCst);
    kms.is_down.store(true, SeqCst);
    // One of two starts at a time.
    let other = cluster.client();
    let started = std::thread::scope(|scope| {
        let first = scope.spawn(|| start(&other, ReencryptActionProto::StartReencrypt));
        [start(&client, ReencryptActionProto::StartReencrypt), first.join().unwrap()]
    });
    let refused: Vec<String> = started.into_iter().filter_map(Result::err).map(message).collect();
    assert_eq!(refused, ["IOException: Zone /z is already submitted for re-encryption."]);
    while !kms.has_seen("eek_op=reencrypt") {
        std::thread::sleep(Duration::from_millis(10));
    }
    // Meanwhile a file goes, and a directory that is still to be looked at becomes a zone with a key of its own.
    let gone = DeleteRequestProto { src: "/z/b".to_owned(), recursive: false };
    assert!(client.call("delete", &gone).map(|r: DeleteResponseProto| r.result).unwrap());
    zone(&client, "/z/d", "inner").unwrap();
    kms.version.store(0, SeqCst);
    create_file(&client, "/z/d/g");
    kms.version.store(1, SeqCst);
    assert_eq!(state(&client).state, ReencryptionStateProto::Processing as i32);
    kms.is_down.store(false, SeqCst);
    let end = finished(&client);
    assert_eq!((end.num_reencrypted, end.num_failures, end.canceled), (2, 0, false));
    assert_eq!(["/z/a", "/z/c", "/z/d/g"].map(|src| version(&client, src)), ["k@1", "k@1", "inner@0"]);
    // That needs the right to read keys.
    assert!(!kms.has_seen("_currentversion"));

    // Cancelled while it waits.
    kms.version.store(2, SeqCst);
    kms.is_down.store(true, SeqCst);
    start(&client, ReencryptActionProto::StartReencrypt).unwrap();
    start(&client, ReencryptActionProto::CancelReencrypt).unwrap();
    assert!(finished(&client).canceled);
    assert_eq!(version(&client, "/z/a"), "k@1");

    // A NameNode without a provider cannot go on, and keeps nothing from being renamed.
    start(&client, ReencryptActionProto::StartReencrypt).unwrap();
    let rename = |client: &Client, src: &str, dst: &str| {
        let request = RenameRequestProto { src: src.to_owned(), dst: dst.to_owned() };
        client.call("rename", &request).map(|r: RenameResponseProto| r.result)
    };
    let refused = message(rename(&client, "/z/a", "/z/e").unwrap_err());
    assert!(refused.ends_with("/z is currently under re-encryption"), "{refused}");
    cluster.set(PROVIDER, "");
    cluster.restart();
    let client = cluster.client();
    assert!(rename(&client, "/z/a", "/z/e").unwrap());
    let cancel = start(&client, ReencryptActionProto::CancelReencrypt).unwrap_err();
    assert_eq!(message(cancel), "IOException: No key provider configured, re-encryption operation is rejected");
    // With one again it does.
    kms.is_down.store(false, SeqCst);
    cluster.set(PROVIDER, kms.uri);
    cluster.restart();
    let client = cluster.client();
    finished(&client);
    assert_eq!(version(&client, "/z/e"), "k@2");
}
