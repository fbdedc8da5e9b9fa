//! The RPC door's refusals and the HTTP door.

use crate::cluster::{Client, Cluster, message};
use std::io::{Read, Write};
use std::net::TcpStream;
use surus_namenode::{NameNode, NameNodeOptions};
use surus_proto::hadoop::hdfs::*;

/// Status line, headers and body of one HTTP request.
pub fn http(address: &str, method: &str, target: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{method} {target} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), head.to_owned(), body.to_owned())
}

#[test]
fn what_is_not_served_is_refused_in_hadoops_words() {
    let cluster = Cluster::new();
    let client = cluster.client();
    let refused: Result<MkdirsResponseProto, _> = client.call("noSuchCall", &crate::cluster::mkdirs("/x"));
    assert_eq!(
        message(refused.unwrap_err()),
        "RpcNoSuchMethodException: Unknown method noSuchCall called on \
         org.apache.hadoop.hdfs.protocol.ClientProtocol protocol."
    );
    let refused: Result<MkdirsResponseProto, _> = client.call("getFileInfo", &GetFileInfoResponseProto::default());
    assert!(message(refused.unwrap_err()).contains("Message missing required fields: src"));
    let stranger = Client::new(&cluster.rpc(), "hdfs", "x.Y");
    let refused: Result<MkdirsResponseProto, _> = stranger.call("z", &crate::cluster::mkdirs("/x"));
    assert_eq!(message(refused.unwrap_err()), "RpcNoSuchProtocolException: Unknown protocol: x.Y");
    assert!(client.mkdirs("/x").unwrap());
}

#[test]
fn webhdfs_makes_lists_and_redirects() {
    let cluster = Cluster::new();
    let address = cluster.http();
    let (status, _, body) = http(&address, "PUT", "/webhdfs/v1/a%20b/c?op=MKDIRS&user.name=hdfs");
    assert_eq!((status, body.as_str()), (200, "{\"boolean\":true}"));
    let (status, _, body) = http(&address, "GET", "/webhdfs/v1/a%20b?op=liststatus");
    assert!(status == 200 && body.contains("\"pathSuffix\":\"c\"") && body.contains("\"owner\":\"hdfs\""), "{body}");
    let (status, _, body) = http(&address, "GET", "/webhdfs/v1/no?op=GETFILESTATUS");
    assert_eq!(status, 404);
    assert_eq!(
        body,
        "{\"RemoteException\":{\"exception\":\"FileNotFoundException\",\"javaClassName\":\
         \"java.io.FileNotFoundException\",\"message\":\"File does not exist: /no\"}}"
    );
    let (status, _, body) = http(&address, "PUT", "/webhdfs/v1/x?op=MKDIRS");
    assert!(status == 403 && body.contains("user=dr.who"), "{body}");
    let (status, _, body) = http(&address, "PUT", "/webhdfs/v1/f?op=CREATE&user.name=hdfs");
    assert!(status == 403 && body.contains("Failed to find datanode"), "{body}");

    let _node = crate::cluster::Words::register(&cluster.rpc(), "dn1");
    let (status, head, _) = http(&address, "PUT", "/webhdfs/v1/f?op=CREATE&user.name=hdfs&overwrite=true");
    let rpc = cluster.rpc();
    let location = format!(
        "location: http://localhost:9864/webhdfs/v1/f?op=CREATE&user.name=hdfs&namenoderpcaddress={rpc}&createflag=&\
         createparent=true&overwrite=true"
    );
    assert!(status == 307 && head.contains(&location), "{head}");
}

#[test]
fn pages_that_tools_poll() {
    let cluster = Cluster::new();
    let address = cluster.http();
    let (status, _, body) = http(&address, "GET", "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState");
    assert!(status == 200 && body.contains("\"FSState\" : \"Operational\""), "{body}");
    assert!(body.contains("\"NumLiveDataNodes\" : 0"), "{body}");
    let (status, _, body) = http(&address, "GET", "/isActive");
    assert_eq!((status, body.as_str()), (200, "I am Active!"));
    assert_eq!(http(&address, "GET", "/nowhere").0, 404);
    assert_eq!(http(&address, "GET", "/").0, 302);
    assert!(http(&address, "GET", "/index.html").2.contains("Safe mode is off"));
    let (status, _, body) = http(&address, "GET", "/conf?name=dfs.namenode.http-address");
    assert!(status == 200 && body.contains("<value>127.0.0.1:0</value>"), "{body}");
}

#[test]
fn a_port_in_use_names_key_and_port() {
    let cluster = Cluster::new();
    let other = tempfile::tempdir().unwrap();
    let mut conf = cluster.conf();
    conf.set("dfs.namenode.name.dir", other.path().join("name").display().to_string());
    conf.set("dfs.namenode.rpc-address", cluster.rpc());
    surus_namenode::format(&conf, "hdfs", None).unwrap();
    let options = NameNodeOptions { user: "hdfs".to_owned(), ..NameNodeOptions::default() };
    let error = NameNode::start(&conf, options).err().expect("does not start").to_string();
    assert!(error.contains("dfs.namenode.rpc-address") && error.contains(&cluster.rpc()), "{error}");
}

#[test]
fn a_second_namenode_is_kept_out_of_the_directory() {
    let cluster = Cluster::new();
    let options = NameNodeOptions { user: "hdfs".to_owned(), ..NameNodeOptions::default() };
    let error = NameNode::start(&cluster.conf(), options).err().expect("does not start").to_string();
    assert!(error.contains("in_use.lock"), "{error}");
}
