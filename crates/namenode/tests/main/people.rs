//! Users, groups, superusers, proxy users.

use crate::cluster::{Client, Cluster, message};
use surus_net::rpc::{RpcClient, RpcClientOptions, RpcUser};
use surus_proto::hadoop::common::{GetGroupsForUserRequestProto, GetGroupsForUserResponseProto};
use surus_proto::hadoop::hdfs::*;

#[test]
fn permissions_follow_user_and_group() {
    let cluster = Cluster::new();
    let (root, alice, carol) = (cluster.client(), cluster.client_as("alice"), cluster.client_as("carol"));
    assert_eq!(
        message(alice.mkdirs("/x").unwrap_err()),
        "AccessControlException: Permission denied: user=alice, access=WRITE, inode=\"/\":hdfs:supergroup:drwxr-xr-x"
    );
    root.mkdirs("/home").unwrap();
    let chown = SetOwnerRequestProto { src: "/home".to_owned(), username: Some("alice".to_owned()), groupname: None };
    let _: SetOwnerResponseProto = root.call("setOwner", &chown).unwrap();
    assert!(alice.mkdirs("/home/mine").unwrap());
    assert_eq!(alice.status("/home/mine").unwrap().owner, "alice");
    // A member of the supergroup may do all.
    assert!(carol.mkdirs("/by-carol").unwrap());
    let refused = alice.safe_mode(SafeModeActionProto::SafemodeEnter).unwrap_err();
    assert_eq!(
        message(refused),
        "AccessControlException: Access denied for user alice. Superuser privilege is required for operation safemode_enter"
    );
}

#[test]
fn groups_come_from_the_configuration_or_the_system() {
    let cluster = Cluster::new();
    let client = Client::new(&cluster.rpc(), "hdfs", "org.apache.hadoop.tools.GetUserMappingsProtocol");
    let groups = |user: &str| {
        let request = GetGroupsForUserRequestProto { user: user.to_owned() };
        client.call("getGroupsForUser", &request).map(|r: GetGroupsForUserResponseProto| r.groups).unwrap()
    };
    assert_eq!(groups("alice"), ["users"]);
    assert_eq!(groups("root").first().map(String::as_str), Some("root"));
    assert_eq!(groups("no-such-user-here"), [""; 0]);
}

#[test]
fn proxy_users_need_a_rule() {
    let cluster = Cluster::with(&[("hadoop.proxyuser.bob.hosts", "*"), ("hadoop.proxyuser.bob.groups", "users")]);
    let mkdirs = |real: &str, effective: &str| {
        let user = RpcUser { effective: effective.to_owned(), real: Some(real.to_owned()) };
        let client =
            RpcClient::connect(&cluster.rpc(), user, crate::cluster::CLIENT, RpcClientOptions::default()).unwrap();
        let result: Result<MkdirsResponseProto, _> = client.call("mkdirs", &crate::cluster::mkdirs("/x"));
        message(result.unwrap_err())
    };
    assert!(mkdirs("bob", "alice").starts_with("AccessControlException: Permission denied: user=alice"));
    assert!(mkdirs("alice", "bob").ends_with("User: alice is not allowed to impersonate bob"));
    assert!(mkdirs("bob", "hdfs").ends_with("User: bob is not allowed to impersonate hdfs"));
}
