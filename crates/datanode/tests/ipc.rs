//! Who may use the administrator's methods of the IPC port.

use crate::fake::Cluster;
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
