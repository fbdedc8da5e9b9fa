//! What was acknowledged is there after a restart, and is answered once.

use crate::cluster::{Cluster, create, files};
use surus_proto::hadoop::hdfs::*;

#[test]
fn a_restart_replays_the_edits_and_then_loads_the_image() {
    let mut cluster = Cluster::new();
    let client = cluster.client();
    for i in 0..100 {
        assert!(client.mkdirs(&format!("/a/b/{i}")).unwrap());
    }
    drop(client);
    cluster.restart();
    let client = cluster.client();
    assert!(client.exists("/a/b/99"));
    let id = client.status("/a/b/99").unwrap().file_id;

    assert!(client.safe_mode(SafeModeActionProto::SafemodeEnter).unwrap());
    let saved: SaveNamespaceResponseProto =
        client.call("saveNamespace", &SaveNamespaceRequestProto::default()).unwrap();
    assert_eq!(saved.saved, Some(true));
    let images: Vec<String> =
        files(&cluster.name_dir().join("current")).into_iter().filter(|n| n.starts_with("fsimage_")).collect();
    assert_eq!(images.len(), 4, "{images:?}");
    drop(client);
    cluster.restart();
    let client = cluster.client();
    assert_eq!(client.status("/a/b/99").unwrap().file_id, id);
    assert!(client.mkdirs("/after").unwrap());
}

#[test]
fn a_repeated_call_gets_the_first_answer_also_after_a_restart() {
    let mut cluster = Cluster::new();
    let client = cluster.client();
    client.mkdirs("/a").unwrap();
    let delete = DeleteRequestProto { src: "/a".to_owned(), recursive: true };
    let rename = RenameRequestProto { src: "/f".to_owned(), dst: "/g".to_owned() };
    let [deleting, creating, renaming] = [(); 3].map(|()| client.0.next_call_id());

    assert!(client.again::<_, DeleteResponseProto>(deleting, "delete", &delete).result);
    assert!(client.again::<_, DeleteResponseProto>(deleting, "delete", &delete).result);
    let fresh: DeleteResponseProto = client.call("delete", &delete).unwrap();
    assert!(!fresh.result);

    let id = |r: CreateResponseProto| r.fs.and_then(|fs| fs.file_id);
    let first = id(client.again(creating, "create", &create("/f")));
    assert_eq!(id(client.again(creating, "create", &create("/f"))), first);

    // "No" is no success: it is tried again.
    let absent = RenameRequestProto { src: "/absent".to_owned(), dst: "/x".to_owned() };
    assert!(!client.again::<_, RenameResponseProto>(renaming, "rename", &absent).result);
    assert!(client.again::<_, RenameResponseProto>(renaming, "rename", &rename).result);

    let old_id = *client.0.client_id();
    drop(client);
    cluster.restart();
    let options = surus_net::rpc::RpcClientOptions { client_id: Some(old_id), ..Default::default() };
    let again = surus_net::rpc::RpcClient::connect(&cluster.rpc(), "hdfs", crate::cluster::CLIENT, options).unwrap();
    let deleted: DeleteResponseProto = again.call_again(deleting, 1, "delete", &delete).unwrap();
    let renamed: RenameResponseProto = again.call_again(renaming, 1, "rename", &rename).unwrap();
    assert!(deleted.result && renamed.result);
    assert!(cluster.client().exists("/g"));
}

#[test]
fn a_repeat_after_a_restart_gets_the_path_or_id_that_was_made() {
    let mut cluster = Cluster::new();
    let client = cluster.client();
    client.mkdirs("/a").unwrap();
    let allow = AllowSnapshotRequestProto { snapshot_root: "/a".to_owned() };
    let _: AllowSnapshotResponseProto = client.call("allowSnapshot", &allow).unwrap();
    let info = CachePoolInfoProto { pool_name: Some("p".to_owned()), ..Default::default() };
    let _: AddCachePoolResponseProto = client.call("addCachePool", &AddCachePoolRequestProto { info }).unwrap();

    let snapshot = CreateSnapshotRequestProto { snapshot_root: "/a".to_owned(), snapshot_name: None };
    let info = CacheDirectiveInfoProto {
        path: Some("/a".to_owned()),
        pool: Some("p".to_owned()),
        replication: Some(1),
        ..Default::default()
    };
    let directive = AddCacheDirectiveRequestProto { info, cache_flags: None };
    let policy = |cell_size| ErasureCodingPolicyProto {
        schema: Some(EcSchemaProto {
            codec_name: "rs".to_owned(),
            data_units: 4,
            parity_units: 2,
            options: Vec::new(),
        }),
        cell_size: Some(cell_size),
        ..Default::default()
    };
    let policies = AddErasureCodingPoliciesRequestProto { ec_policies: vec![policy(65_536), policy(131_072)] };

    let [snapshotting, caching, adding] = [(); 3].map(|()| client.0.next_call_id());
    let made: CreateSnapshotResponseProto = client.again(snapshotting, "createSnapshot", &snapshot);
    let cached: AddCacheDirectiveResponseProto = client.again(caching, "addCacheDirective", &directive);
    let added: AddErasureCodingPoliciesResponseProto = client.again(adding, "addErasureCodingPolicies", &policies);
    assert!(made.snapshot_path.starts_with("/a/.snapshot/s2") && cached.id == 1);
    assert!(added.responses.len() == 2 && added.responses.iter().all(|response| response.succeed));

    let client_id = Some(*client.0.client_id());
    drop(client);
    cluster.restart();
    let options = surus_net::rpc::RpcClientOptions { client_id, ..Default::default() };
    let again = surus_net::rpc::RpcClient::connect(&cluster.rpc(), "hdfs", crate::cluster::CLIENT, options).unwrap();
    assert_eq!(again.call_again(snapshotting, 1, "createSnapshot", &snapshot).ok(), Some(made));
    assert_eq!(again.call_again(caching, 1, "addCacheDirective", &directive).ok(), Some(cached));
    assert_eq!(again.call_again(adding, 1, "addErasureCodingPolicies", &policies).ok(), Some(added));
}

#[test]
fn many_clients_share_commits_and_lose_nothing() {
    let mut cluster = Cluster::new();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let client = cluster.client();
            scope.spawn(move || {
                for i in 0..50 {
                    assert!(client.mkdirs(&format!("/t{thread}/{i}")).unwrap());
                }
            });
        }
    });
    cluster.restart();
    let client = cluster.client();
    let summary: GetContentSummaryResponseProto =
        client.call("getContentSummary", &GetContentSummaryRequestProto { path: "/".to_owned() }).unwrap();
    assert_eq!(summary.summary.directory_count, 1 + 8 + 400);
}
