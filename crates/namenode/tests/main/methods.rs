//! Calls that came with the comparison of all methods: inotify, service-level authorization, refreshes, reconfiguration, long
//! walks of ordinary users.

use crate::cluster::{CLIENT, Client, Cluster, SUPERUSER, message, mkdirs};
use prost::Message;
use std::sync::{Arc, Mutex};
use surus_conf::Configuration;
use surus_namenode::{ConfigSource, NameNode, NameNodeOptions};
use surus_net::rpc::{RpcClient, RpcClientOptions};
use surus_proto::hadoop::common::*;
use surus_proto::hadoop::hdfs::*;

#[test]
fn inotify_tells_of_the_edits() {
    let cluster = Cluster::with(&[("dfs.namenode.inotify.max.events.per.rpc", "2")]);
    let client = cluster.client();
    client.mkdirs("/a").unwrap();
    client.create("/a/f");
    let set = SetPermissionRequestProto { src: "/a".into(), permission: FsPermissionProto { perm: 0o700 } };
    let _: SetPermissionResponseProto = client.call("setPermission", &set).unwrap();
    let ask = |txid: i64| {
        let answer: GetEditsFromTxidResponseProto =
            client.call("getEditsFromTxid", &GetEditsFromTxidRequestProto { txid }).unwrap();
        answer.events_list
    };
    // 1 begins the segment; a page holds two events.
    let page = ask(1);
    assert_eq!((page.first_txid, page.last_txid, page.batch.len()), (1, 3, 2));
    let made = CreateEventProto::decode(&*page.batch[0].events[0].contents).unwrap();
    assert_eq!((made.path.as_str(), made.owner_name.as_str()), ("/a", SUPERUSER));
    assert_eq!(made.r#type, INodeType::ITypeDirectory as i32);
    let rest = ask(page.last_txid + 1);
    let changed = MetadataUpdateEventProto::decode(&*rest.batch[0].events[0].contents).unwrap();
    assert_eq!((changed.path.as_str(), changed.perms.map(|p| p.perm)), ("/a", Some(0o700)));
    assert_eq!(ask(rest.sync_txid + 1).batch, []);
    // Over the border of segments.
    let _: RollEditsResponseProto = client.call("rollEdits", &RollEditsRequestProto {}).unwrap();
    client.mkdirs("/b").unwrap();
    let page = ask(rest.last_txid + 1);
    assert_eq!(CreateEventProto::decode(&*page.batch[0].events[0].contents).unwrap().path, "/b");
    let refused = cluster
        .client_as("alice")
        .call::<_, GetEditsFromTxidResponseProto>("getEditsFromTxid", &GetEditsFromTxidRequestProto { txid: 1 });
    assert!(message(refused.unwrap_err()).ends_with("required for operation getEditsFromTxid"));
}

/// A NameNode whose configuration can be changed while it runs.
struct Changing {
    cluster: Cluster,
    conf: Arc<Mutex<Configuration>>,
}

impl Changing {
    fn new(settings: &[(&str, &str)]) -> Self {
        let mut cluster = Cluster::new();
        cluster.namenode.take().unwrap().stop();
        let mut conf = cluster.conf();
        settings.iter().for_each(|(key, value)| conf.set(key, *value));
        let conf = Arc::new(Mutex::new(conf));
        let read = Arc::clone(&conf);
        let options = NameNodeOptions {
            user: SUPERUSER.to_owned(),
            config_source: Some(ConfigSource::new(move || Ok(read.lock().unwrap().clone()))),
            ..NameNodeOptions::default()
        };
        let started = NameNode::start(&conf.lock().unwrap(), options).unwrap();
        cluster.namenode = Some(started);
        Changing { cluster, conf }
    }

    fn set(&self, key: &str, value: &str) {
        self.conf.lock().unwrap().set(key, value);
    }

    fn ask<Req: Message, Resp: Message + Default>(&self, protocol: &str, method: &str, request: &Req) -> Resp {
        Client::new(&self.cluster.rpc(), SUPERUSER, protocol).call(method, request).unwrap()
    }
}

#[test]
fn service_acls_are_obeyed_and_refreshed() {
    const POLICY: &str = "org.apache.hadoop.security.authorize.RefreshAuthorizationPolicyProtocol";
    let on = [("hadoop.security.authorization", "true"), ("security.client.protocol.acl", "hdfs,alice")];
    let namenode = Changing::new(&on);
    let as_bob = || {
        let client = RpcClient::connect(&namenode.cluster.rpc(), "bob", CLIENT, RpcClientOptions::default()).unwrap();
        client.call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/x")).map_err(message)
    };
    assert!(namenode.cluster.client_as("alice").status("/").is_some());
    let denied = "User bob (auth:SIMPLE) is not authorized for protocol interface \
                  org.apache.hadoop.hdfs.protocol.ClientProtocol: denied by configured ACL";
    assert!(as_bob().unwrap_err().ends_with(denied));
    namenode.set("security.client.protocol.acl", "hdfs users");
    assert!(as_bob().unwrap_err().ends_with(denied));
    let _: RefreshServiceAclResponseProto =
        namenode.ask(POLICY, "refreshServiceAcl", &RefreshServiceAclRequestProto {});
    assert!(as_bob().unwrap_err().starts_with("AccessControlException: Permission denied: user=bob"));

    let off = Cluster::new();
    let refused = Client::new(&off.rpc(), SUPERUSER, POLICY)
        .call::<_, RefreshServiceAclResponseProto>("refreshServiceAcl", &RefreshServiceAclRequestProto {});
    assert!(message(refused.unwrap_err()).ends_with("Service Level Authorization not enabled!"));
}

#[test]
fn settings_change_while_it_runs() {
    const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol";
    let namenode = Changing::new(&[]);
    let client = namenode.cluster.client();
    client.mkdirs("/d/a").unwrap();
    client.mkdirs("/d/b").unwrap();
    namenode.set("dfs.namenode.fs-limits.max-directory-items", "2");
    namenode.set("dfs.block.invalidate.limit", "none at all");
    let status = || -> GetReconfigurationStatusResponseProto {
        namenode.ask(PROTOCOL, "getReconfigurationStatus", &GetReconfigurationStatusRequestProto {})
    };
    assert_eq!(status().start_time, 0);
    let _: StartReconfigurationResponseProto =
        namenode.ask(PROTOCOL, "startReconfiguration", &StartReconfigurationRequestProto {});
    let ended = (0..100).map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        status()
    });
    let ended = ended.into_iter().find(|status| status.end_time.is_some()).unwrap();
    let change = |name: &str| ended.changes.iter().find(|change| change.name == name).unwrap();
    let items = change("dfs.namenode.fs-limits.max-directory-items");
    assert_eq!((items.new_value.as_deref(), items.error_message.as_deref()), (Some("2"), None));
    assert!(change("dfs.block.invalidate.limit").error_message.is_some());
    let full = message(client.mkdirs("/d/c").unwrap_err());
    assert!(full.contains("is exceeded: limit=2 items=2"), "{full}");
}

#[test]
fn proxy_users_are_read_anew() {
    const PROTOCOL: &str = "org.apache.hadoop.security.RefreshUserMappingsProtocol";
    let namenode = Changing::new(&[]);
    let mkdirs = || {
        let user = surus_net::rpc::RpcUser { effective: "alice".to_owned(), real: Some("bob".to_owned()) };
        let client = RpcClient::connect(&namenode.cluster.rpc(), user, CLIENT, RpcClientOptions::default()).unwrap();
        message(client.call::<_, MkdirsResponseProto>("mkdirs", &mkdirs("/x")).unwrap_err())
    };
    assert!(mkdirs().ends_with("User: bob is not allowed to impersonate alice"));
    namenode.set("hadoop.proxyuser.bob.users", "alice");
    namenode.set("hadoop.proxyuser.bob.hosts", "127.0.0.1");
    let _: RefreshSuperUserGroupsConfigurationResponseProto = namenode.ask(
        PROTOCOL,
        "refreshSuperUserGroupsConfiguration",
        &RefreshSuperUserGroupsConfigurationRequestProto {},
    );
    assert!(mkdirs().starts_with("AccessControlException: Permission denied: user=alice"));
}

/// The checks of an ordinary user in a large tree: the right answers, and no long hold of the lock. Thread CPU time is what
/// counts, so other processes do not disturb it; without optimisation everything takes several times longer.
#[test]
fn long_walks_hold_the_lock_shortly() {
    let cluster = Cluster::new();
    let root = cluster.client();
    let chown = |path: &str| {
        let request = SetOwnerRequestProto { src: path.to_owned(), username: Some("alice".into()), groupname: None };
        let _: SetOwnerResponseProto = root.call("setOwner", &request).unwrap();
    };
    root.mkdirs("/home").unwrap();
    chown("/home");
    let alice = cluster.client_as("alice");
    for i in 0..80 {
        for j in 0..100 {
            assert!(alice.mkdirs(&format!("/home/t/d{i}/e{j}")).unwrap());
        }
    }
    let summary = GetContentSummaryRequestProto { path: "/home/t".to_owned() };
    let sum = |client: &Client| {
        client.call("getContentSummary", &summary).map(|r: GetContentSummaryResponseProto| r.summary.directory_count)
    };
    assert_eq!(
        (sum(&alice).unwrap(), sum(&root).unwrap(), sum(&cluster.client_as("bob")).unwrap()),
        (8081, 8081, 8081)
    );
    let close =
        SetPermissionRequestProto { src: "/home/t/d9/e5".into(), permission: FsPermissionProto { perm: 0o700 } };
    let _: SetPermissionResponseProto = root.call("setPermission", &close).unwrap();
    let denied = message(sum(&cluster.client_as("bob")).unwrap_err());
    assert!(denied.contains("access=READ_EXECUTE, inode=\"/home/t/d9/e5\":alice"), "{denied}");
    let delete = DeleteRequestProto { src: "/home/t".to_owned(), recursive: true };
    let refused = cluster.client_as("bob").call::<_, DeleteResponseProto>("delete", &delete).unwrap_err();
    let denied = message(refused);
    assert!(denied.contains("access=WRITE, inode=\"/home\""), "{denied}");
    let deleted: DeleteResponseProto = alice.call("delete", &delete).unwrap();
    assert!(deleted.result && root.status("/home/t").is_none());

    holds_are_short(&cluster);
}

/// Of snapshots, too: their totals, and what differs between them, of which each page asks for rights on all.
#[test]
fn long_walks_of_snapshots_hold_the_lock_shortly() {
    let cluster = Cluster::new();
    let root = cluster.client();
    for i in 0..60 {
        for j in 0..100 {
            assert!(root.mkdirs(&format!("/r/d{i}/e{j}")).unwrap());
        }
    }
    let allow = AllowSnapshotRequestProto { snapshot_root: "/r".into() };
    let _: AllowSnapshotResponseProto = root.call("allowSnapshot", &allow).unwrap();
    for name in ["s", "t"] {
        let create = CreateSnapshotRequestProto { snapshot_root: "/r".into(), snapshot_name: Some(name.into()) };
        let _: CreateSnapshotResponseProto = root.call("createSnapshot", &create).unwrap();
        assert!(root.mkdirs(&format!("/r/d59/after-{name}")).unwrap());
    }
    let sum = |client: &Client, path: &str| {
        let asked = GetContentSummaryRequestProto { path: path.to_owned() };
        client.call("getContentSummary", &asked).map(|r: GetContentSummaryResponseProto| r.summary.directory_count)
    };
    let usage = |client: &Client, path: &str| {
        let asked = GetQuotaUsageRequestProto { path: path.to_owned() };
        client.call("getQuotaUsage", &asked).map(|r: GetQuotaUsageResponseProto| r.usage.file_and_directory_count)
    };
    let differences = |client: &Client, from: &str, to: &str| {
        let asked = GetSnapshotDiffReportListingRequestProto {
            snapshot_root: "/r".into(),
            from_snapshot: from.into(),
            to_snapshot: to.into(),
            cursor: None,
        };
        let page: Result<GetSnapshotDiffReportListingResponseProto, _> =
            client.call("getSnapshotDiffReportListing", &asked);
        page.map(|page| {
            let page = page.diff_report;
            let all = page.modified_entries.iter().chain(&page.created_entries).chain(&page.deleted_entries);
            let all: Vec<_> = all.map(|entry| String::from_utf8_lossy(&entry.fullpath).into_owned()).collect();
            (all.join(" "), page.cursor.unwrap())
        })
    };
    let end = SnapshotDiffReportCursorProto { start_path: Vec::new(), index: -1 };
    for client in [&root, &cluster.client_as("bob")] {
        assert_eq!(sum(client, "/r/.snapshot/s").unwrap(), 6_061);
        assert_eq!(sum(client, "/r/.snapshot/t/d59").unwrap(), 102);
        assert!(usage(client, "/r/.snapshot/s").is_ok());
        let after_s = "d59 d59/after-s".to_owned();
        assert_eq!(differences(client, "s", "t").unwrap(), (after_s, end.clone()));
        assert_eq!(differences(client, "s", "").unwrap(), ("d59 d59/after-s d59/after-t".into(), end.clone()));
        let unknown = message(differences(client, "s", "none").unwrap_err());
        assert!(unknown.contains("Cannot find the snapshot of directory /r with name none"), "{unknown}");
    }
    let close = SetPermissionRequestProto { src: "/r/d9/e5".into(), permission: FsPermissionProto { perm: 0o700 } };
    let _: SetPermissionResponseProto = root.call("setPermission", &close).unwrap();
    let bob = cluster.client_as("bob");
    assert!(differences(&bob, "s", "t").is_ok());
    let denied = message(differences(&bob, "s", "").unwrap_err());
    assert!(denied.contains("access=READ, inode=\"/r/d9/e5\""), "{denied}");
    let create = CreateSnapshotRequestProto { snapshot_root: "/r".into(), snapshot_name: Some("u".into()) };
    let _: CreateSnapshotResponseProto = root.call("createSnapshot", &create).unwrap();
    for denied in [
        sum(&bob, "/r/.snapshot/u").map(drop),
        usage(&bob, "/r/.snapshot/u").map(drop),
        differences(&bob, "s", "u").map(drop),
    ] {
        let denied = message(denied.unwrap_err());
        assert!(denied.starts_with("AccessControlException") && denied.contains("/e5\""), "{denied}");
    }
    holds_are_short(&cluster);
}

/// Thread CPU time of the longest holds, without optimisation several times longer.
fn holds_are_short(cluster: &Cluster) {
    let most_us = if cfg!(debug_assertions) { 50_000 } else { 5_000 };
    let jmx = crate::cluster::http_get(&cluster.http(), "/jmx?qry=Hadoop:service=NameNode,name=NamespaceLock");
    let longest = |name: &str| -> u64 {
        let rest = &jmx[jmx.find(&format!("\"{name}\"")).expect("the attribute")..];
        let digits = rest.split(':').nth(1).unwrap_or_default().trim();
        digits.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).expect("a number")
    };
    for name in ["WriteHoldMicrosMax", "ReadHoldMicrosMax"] {
        assert!(longest(name) <= most_us, "{name}: {} us in\n{jmx}", longest(name));
    }
}
