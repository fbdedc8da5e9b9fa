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
