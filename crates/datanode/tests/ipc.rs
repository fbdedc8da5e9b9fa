//! Who may use the IPC port, and the administrator's methods of it.

use crate::fake::Cluster;
use std::time::{Duration, Instant};
use surus_datanode::DataNode;
use surus_net::rpc::{RpcClient, RpcClientOptions};
use surus_proto::hadoop::hdfs::*;
use surus_types::ExceptionClass;

/// What the user is told who asks for the balancer's bandwidth.
fn ask(datanode: &DataNode, user: &str) -> Result<u64, String> {
    let address = datanode.ipc_address().to_string();
    let protocol = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
    let client = RpcClient::new(&address, user, protocol, RpcClientOptions::default());
    match client.call("getBalancerBandwidth", &GetBalancerBandwidthRequestProto {}) {
        Ok(GetBalancerBandwidthResponseProto { bandwidth }) => Ok(bandwidth),
        Err(e) => {
            assert!(e.class() == Some(ExceptionClass::AccessControl), "{e}");
            Err(e.to_string())
        }
    }
}

#[test]
fn members_of_the_supergroup_are_superusers() {
    let cluster = Cluster::start(0);
    let dir = tempfile::tempdir().unwrap();
    let mut conf = cluster.configuration(dir.path());
    conf.set("dfs.permissions.superusergroup", "admins");
    conf.set("hadoop.user.group.static.mapping.overrides", "ann=staff,admins;bob=staff;");
    let datanode = DataNode::start(&conf).unwrap();
    let bandwidth = 100 << 20;
    assert_eq!(ask(&datanode, &surus_client::login_name()), Ok(bandwidth));
    assert_eq!(ask(&datanode, "ann"), Ok(bandwidth));
    for stranger in ["bob", "no-such-user-here"] {
        let text = ask(&datanode, stranger).unwrap_err();
        assert!(text.contains(&format!("Access denied for user {stranger}. Superuser privilege")), "{text}");
    }
    datanode.stop();
    conf.set("dfs.permissions.enabled", "false");
    let datanode = DataNode::start(&conf).unwrap();
    assert_eq!(ask(&datanode, "bob"), Ok(bandwidth));
}

/// The process ends with the DataNode: not before the answer is out, though no writer is waited for.
#[test]
fn a_shutdown_for_an_upgrade_answers_before_it_ends() {
    let cluster = Cluster::start(1);
    let datanode = &cluster.datanodes[0];
    let protocol = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
    let user = surus_client::login_name();
    let client =
        RpcClient::new(&datanode.ipc_address().to_string(), user.as_str(), protocol, RpcClientOptions::default());
    let asked = Instant::now();
    let request = ShutdownDatanodeRequestProto { for_upgrade: true };
    let _: ShutdownDatanodeResponseProto = client.call("shutdownDatanode", &request).unwrap();
    assert_eq!(datanode.wait_end(), "shutdownDatanode was called for an upgrade");
    assert!(asked.elapsed() >= Duration::from_millis(200), "{:?}", asked.elapsed());
}

/// With service-level authorization on, each protocol has its list.
#[test]
fn lists_say_who_may_use_which_protocol() {
    let cluster = Cluster::start(0);
    let dir = tempfile::tempdir().unwrap();
    let mut conf = cluster.configuration(dir.path());
    conf.set("hadoop.user.group.static.mapping.overrides", "ann=staff;bob=users;dn=;");
    conf.set("security.client.datanode.protocol.acl", "carl staff");
    conf.set("security.inter.datanode.protocol.acl", "dn");
    let call = |datanode: &DataNode, user: &str, protocol: &str, method: &str| -> Result<(), String> {
        let address = datanode.ipc_address().to_string();
        let client = RpcClient::new(&address, user, protocol, RpcClientOptions::default());
        let answer = client.call::<_, GetDatanodeInfoResponseProto>(method, &GetDatanodeInfoRequestProto {});
        match answer {
            Err(e) if e.class() == Some(ExceptionClass::Authorization) => Err(e.to_string()),
            _ => Ok(()),
        }
    };
    let (client, inter) = (
        "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol",
        "org.apache.hadoop.hdfs.server.protocol.InterDatanodeProtocol",
    );
    let datanode = DataNode::start(&conf).unwrap();
    assert_eq!(call(&datanode, "bob", client, "getDatanodeInfo"), Ok(()), "the lists are off");
    datanode.stop();
    conf.set("hadoop.security.authorization", "true");
    let datanode = DataNode::start(&conf).unwrap();
    assert_eq!(call(&datanode, "ann", client, "getDatanodeInfo"), Ok(()));
    let refused = call(&datanode, "bob", client, "getDatanodeInfo").unwrap_err();
    assert!(
        refused.contains(&format!(
            "User bob (auth:SIMPLE) is not authorized for protocol interface {client}: denied by configured ACL"
        )),
        "{refused}"
    );
    assert_eq!(call(&datanode, "dn", inter, "initReplicaRecovery"), Ok(()));
    assert!(call(&datanode, "ann", inter, "initReplicaRecovery").is_err());
}
