//! The namespace over the wire: make, list, rename, delete, attributes, and the exceptions of what is not allowed.

use crate::write;
use surus_client::{ClientError, CreateOptions};
use surus_testkit::Cluster;
use surus_types::{ExceptionClass, FsPermission};

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, ClientError>, class: ExceptionClass) {
    let error = result.unwrap_err();
    assert!(error.is(class), "{error}");
}

#[test]
fn make_list_rename_delete() {
    let cluster = Cluster::with_datanodes(1).start();
    let client = cluster.client();
    for name in ["b", "a", "ü", "a b", "%"] {
        assert!(client.mkdirs(&format!("/d/{name}"), FsPermission(0o755), true).unwrap());
    }
    write(&client, "/d/file", b"x", &CreateOptions::default());
    let names = |path: &str| -> Vec<String> {
        client.list_status(path).unwrap().iter().map(|s| s.name().to_string()).collect()
    };
    // Hadoop's order: bytes, with a sign.
    assert_eq!(names("/d"), ["ü", "%", "a", "a b", "b", "file"]);
    assert!(client.rename("/d/a", "/d/z").unwrap());
    assert!(!client.rename("/d/none", "/d/y").unwrap());
    refused(client.rename2("/d/none", "/d/y", false, false), ExceptionClass::FileNotFound);
    write(&client, "/d/other", b"y", &CreateOptions::default());
    refused(client.rename2("/d/other", "/d/file", false, false), ExceptionClass::FileAlreadyExists);
    client.rename2("/d/other", "/d/file", true, false).unwrap();
    refused(client.delete("/d", false), ExceptionClass::PathIsNotEmptyDirectory);
    assert!(client.delete("/d/z", false).unwrap());
    assert!(!client.delete("/d/z", false).unwrap());
    assert!(client.delete("/d", true).unwrap());
    assert!(client.get_file_info("/d").unwrap().is_none());
    refused(client.list_status("/d"), ExceptionClass::FileNotFound);
}

#[test]
fn a_long_directory_comes_in_pages() {
    let cluster = Cluster::with_datanodes(0).set("dfs.ls.limit", "7").start();
    let client = cluster.client();
    for i in 0..50 {
        client.mkdirs(&format!("/many/{i:02}"), FsPermission(0o755), true).unwrap();
    }
    let names: Vec<String> = client.list_status("/many").unwrap().iter().map(|s| s.name().to_string()).collect();
    assert_eq!(names, (0..50).map(|i| format!("{i:02}")).collect::<Vec<_>>());
}

#[test]
fn permissions() {
    let cluster = Cluster::with_datanodes(1).start();
    let (root, alice) = (cluster.client(), cluster.client_as("alice"));
    root.mkdirs("/home", FsPermission(0o755), true).unwrap();
    root.mkdirs("/home/alice", FsPermission(0o700), true).unwrap();
    root.set_owner("/home/alice", Some("alice"), Some("staff")).unwrap();
    write(&alice, "/home/alice/f", b"mine", &CreateOptions::default());
    let status = alice.file_status("/home/alice/f").unwrap();
    assert_eq!(
        (status.owner.as_str(), status.group.as_str(), status.permission),
        ("alice", "staff", FsPermission(0o644))
    );
    refused(alice.mkdirs("/x", FsPermission(0o755), true), ExceptionClass::AccessControl);
    refused(cluster.client_as("bob").open("/home/alice/f").map(drop), ExceptionClass::AccessControl);
    refused(alice.set_owner("/home/alice/f", Some("bob"), None), ExceptionClass::AccessControl);
    alice.set_permission("/home/alice/f", FsPermission(0o600)).unwrap();
    alice.set_times("/home/alice/f", Some(1_600_000_000_000), Some(1_500_000_000_000)).unwrap();
    let status = alice.file_status("/home/alice/f").unwrap();
    assert_eq!(
        (status.permission.0, status.modification_time_ms, status.access_time_ms),
        (0o600, 1_600_000_000_000, 1_500_000_000_000)
    );
}
