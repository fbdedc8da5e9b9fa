//! A nameservice whose first NameNode is standby, or gone.

use crate::fake_datanode::{FakeDatanode, Store};
use crate::fake_namenode::{FakeNamenode, config};
use surus_client::DfsClient;

fn client_of(namenodes: &[&str]) -> DfsClient {
    let mut config = config(namenodes[0], &[]);
    config.namenodes = namenodes.iter().map(|addr| addr.to_string()).collect();
    config.is_logical = true;
    config.retry.connect_retries = 0;
    config.retry.random_order = false;
    DfsClient::new(config)
}

#[test]
fn a_standby_is_left_for_the_active() {
    let store = Store::default();
    let datanode = FakeDatanode::start(&store, &[]);
    let (standby, active) = (FakeNamenode::start(&[&datanode], 1), FakeNamenode::start(&[&datanode], 1));
    standby.set_standby(true);
    let client = client_of(&[&standby.addr, &active.addr]);
    assert!(client.get_file_info("/f").unwrap().is_some());
    assert!(client.get_file_info("/f").unwrap().is_some());
    // Once found, the active is asked first.
    assert_eq!(standby.log(), ["refused getFileInfo"]);
    assert_eq!(active.log(), ["getFileInfo", "getFileInfo"]);
}

#[test]
fn a_namenode_that_is_gone_is_left_too() {
    let store = Store::default();
    let datanode = FakeDatanode::start(&store, &[]);
    let active = FakeNamenode::start(&[&datanode], 1);
    let client = client_of(&["127.0.0.1:1", &active.addr]);
    assert!(client.get_file_info("/f").unwrap().is_some());
}

#[test]
fn a_refused_connect_names_the_address() {
    let mut config = config("127.0.0.1:1", &[]);
    config.retry.connect_retries = 0;
    let text = DfsClient::new(config).get_file_info("/f").unwrap_err().message();
    assert!(text.contains("to 127.0.0.1:1 failed on connection exception: java.net.ConnectException"), "{text}");
}
