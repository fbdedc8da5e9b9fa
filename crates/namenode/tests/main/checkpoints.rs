//! Images that a secondary NameNode or a standby sends: one becomes ours, a second one is not wanted.

use crate::cluster::{Client, Cluster, SUPERUSER};
use crate::jmx::jmx_line;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use surus_disk::RealDisk;
use surus_journal::{Retention, Storage};
use surus_namespace::NamespaceConfig;
use surus_proto::hadoop::hdfs::namenode::{RollEditLogRequestProto, RollEditLogResponseProto};
use surus_types::TxId;

const NAMENODE: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";

/// Merges what is in a name directory into an image, elsewhere: the image, and the line of its MD5.
fn merge(name: &Path, txid: TxId) -> (Vec<u8>, String) {
    let elsewhere = tempfile::tempdir().unwrap();
    let current = elsewhere.path().join("current");
    std::fs::create_dir(&current).unwrap();
    for entry in std::fs::read_dir(name.join("current")).unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), current.join(entry.file_name())).unwrap();
    }
    let dirs = [elsewhere.path().to_path_buf()];
    let storage = Storage::open(Arc::new(RealDisk), &dirs, "1@test", Retention::default()).unwrap();
    let loaded = storage.load(NamespaceConfig::default(), &mut ()).unwrap();
    storage.save_namespace(&loaded.namespace.freeze(), txid).unwrap();
    let image = current.join(format!("fsimage_{:019}", txid.0));
    let md5 = std::fs::read_to_string(current.join(format!("fsimage_{:019}.md5", txid.0))).unwrap();
    (std::fs::read(image).unwrap(), md5[..32].to_owned())
}

/// The status line and all behind it.
fn put(cluster: &Cluster, txid: TxId, storage: &str, md5: &str, image: &[u8]) -> String {
    let len = image.len();
    let target = format!("/imagetransfer?txid={txid}&imageFile=IMAGE&File-Length={len}&storageInfo={storage}");
    let head = format!(
        "PUT {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-MD5-Digest: {md5}\r\nContent-Length: {len}\r\n\r\n"
    );
    let mut stream = TcpStream::connect(cluster.http()).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(image).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_checkpoint_that_is_sent_is_taken_once() {
    let mut cluster = Cluster::with(&[("dfs.namenode.checkpoint.period", "1s")]);
    assert!(cluster.client().mkdirs("/a").unwrap());
    let rolled: RollEditLogResponseProto =
        Client::new(&cluster.rpc(), SUPERUSER, NAMENODE).call("rollEditLog", &RollEditLogRequestProto {}).unwrap();
    let (signature, txid) = (&rolled.signature, TxId(rolled.signature.cur_segment_tx_id - 1));
    let info = &signature.storage_info;
    let (layout, namespace_id) = (info.layout_version as i32, info.namespce_id as i32);
    let storage = format!("{layout}:{namespace_id}:{}:{}", info.c_time, info.cluster_id);
    let (image, md5) = merge(&cluster.name_dir(), txid);

    let refused = put(&cluster, txid, "-67:1:2:CID-other", &md5, &image);
    assert!(refused.starts_with("HTTP/1.1 403") && refused.contains("This namenode has storage info"), "{refused}");
    let refused = put(&cluster, txid, &storage, &"0".repeat(32), &image);
    assert!(refused.starts_with("HTTP/1.1 410") && refused.contains("was told"), "{refused}");
    let refused = put(&cluster, TxId(txid.0 + 100), &storage, &md5, &image);
    assert!(refused.starts_with("HTTP/1.1 410") && refused.contains("where the log ends at"), "{refused}");
    let taken = put(&cluster, txid, &storage, &md5, &image);
    assert!(taken.starts_with("HTTP/1.1 200"), "{taken}");
    let again = put(&cluster, txid, &storage, &md5, &image);
    assert!(again.starts_with("HTTP/1.1 409") && again.contains("already uploaded"), "{again}");

    assert!(jmx_line(&cluster, "NameNodeInfo", "JournalTransactionInfo").contains(&format!("TxId\\\":\\\"{txid}\\\"")));
    assert!(cluster.client().mkdirs("/b").unwrap());
    std::fs::remove_file(cluster.name_dir().join("current/fsimage_0000000000000000000")).unwrap();
    cluster.restart();
    assert!(cluster.client().exists("/a") && cluster.client().exists("/b"), "it starts on the image that was sent");
}
