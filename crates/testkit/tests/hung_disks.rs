//! Disks that answer no more: who writes there waits or is told, and nobody else notices.

use crate::{content, read, same, small_blocks, write};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use surus_client::{ClientConfig, CreateOptions, DatanodeReportType, DfsClient};
use surus_net::rpc::{RpcClient, RpcClientOptions};
use surus_proto::hadoop::hdfs as proto;
use surus_testkit::{Cluster, HangingDisk};
use surus_types::FsPermission;

/// Changes and reads that are not to wait for a hung disk have this long all together; a loaded machine takes its time.
const AT_ONCE: Duration = Duration::from_secs(10);

/// A client that gives a silent DataNode up soon: after this, and five seconds for each node of a pipeline.
fn impatient(cluster: &Cluster) -> DfsClient {
    let mut conf = cluster.conf().clone();
    conf.set("dfs.client.socket-timeout", "3000");
    DfsClient::new(ClientConfig::from_conf(&conf, None).unwrap())
}

fn one_replica() -> CreateOptions {
    CreateOptions { replication: Some(1), ..CreateOptions::default() }
}

fn put(client: &DfsClient, path: &str, data: &[u8]) -> Result<(), String> {
    let mut writer = client.create(path, &one_replica()).map_err(|e| e.to_string())?;
    writer.write_all(data).map_err(|e| e.to_string())?;
    writer.close().map_err(|e| e.to_string())
}

/// Makes, lists, renames and deletes.
fn names_go_on(cluster: &Cluster, root: &str) {
    let (client, started) = (cluster.client(), Instant::now());
    for i in 0..50 {
        assert!(client.mkdirs(&format!("{root}/{i}"), FsPermission(0o755), true).unwrap());
    }
    assert_eq!(client.list_status(root).unwrap().len(), 50);
    assert!(client.rename(&format!("{root}/0"), &format!("{root}/x")).unwrap());
    assert!(client.delete(&format!("{root}/1"), true).unwrap());
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
}

/// Waits until every DataNode has sent two heartbeats more.
fn heartbeats_go_on(cluster: &Cluster) {
    let client = cluster.client();
    let last = || -> Vec<u64> {
        let nodes = client.get_datanode_report(DatanodeReportType::Live).unwrap();
        nodes.iter().map(|node| node.last_update.unwrap()).collect()
    };
    for _ in 0..2 {
        let before = last();
        cluster.wait("heartbeats", || last().iter().zip(&before).all(|(now, before)| now > before));
    }
}

fn block_files(dir: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| match path.is_dir() {
            true => block_files(&path),
            false => usize::from(path.file_name().unwrap().to_string_lossy().starts_with("blk_")),
        })
        .sum()
}

#[test]
fn a_hung_data_disk_holds_up_only_its_writers() {
    let disk = HangingDisk::default();
    let mut cluster = Cluster::with_datanodes(1).on_disk(Arc::new(disk.clone())).start();
    let client = cluster.client();
    let data = content(3, 150_000);
    let mut writer = client.create("/open", &small_blocks()).unwrap();
    writer.write_all(&data[..40_000]).unwrap();
    writer.hflush().unwrap();
    write(&client, "/gone", b"deleted while the disk hangs", &one_replica());
    cluster.add_datanode();
    cluster.wait_for_datanodes(2);
    write(&client, "/two", &data, &CreateOptions { replication: Some(2), ..CreateOptions::default() });
    // A DataNode that has only just registered may not have been given its part of the pipeline.
    cluster.wait("two replicas", || {
        let blocks = client.get_block_locations("/two", 0, u64::MAX / 2).unwrap();
        blocks.blocks.iter().all(|block| block.locs.len() == 2)
    });

    let hang = disk.hang(&cluster.data_dir(0));
    let waited = std::thread::scope(|scope| {
        // Dropped here also where something fails: the scope waits for its threads.
        let hang = hang;
        let flushing = scope.spawn(|| {
            writer.write_all(&data[40_000..60_000]).unwrap();
            writer.hflush().unwrap();
        });
        cluster.wait("a write that hangs", || disk.waiting() > 0);
        names_go_on(&cluster, "/while-a-data-disk-hangs");
        // The command to delete its replica reaches the DataNode with a heartbeat.
        assert!(client.delete("/gone", false).unwrap());
        heartbeats_go_on(&cluster);
        // Who is sent to the hung disk takes another DataNode after its time.
        std::thread::scope(|scope| {
            for i in 0..4 {
                let (cluster, data) = (&cluster, &data);
                scope.spawn(move || put(&impatient(cluster), &format!("/new{i}"), data).unwrap());
            }
        });
        for i in 0..4 {
            same(&read(&impatient(&cluster), &format!("/new{i}")), &data);
        }
        same(&read(&impatient(&cluster), "/two"), &data);
        let ipc = cluster.datanode(0).ipc_address().to_string();
        let options = RpcClientOptions { call_timeout: Some(AT_ONCE), ..Default::default() };
        let protocol = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
        let ipc = RpcClient::connect(&ipc, "alice", protocol, options).unwrap();
        let request = proto::GetDatanodeInfoRequestProto {};
        let info: proto::GetDatanodeInfoResponseProto = ipc.call("getDatanodeInfo", &request).unwrap();
        assert!(!info.local_info.software_version.is_empty());
        let address = cluster.datanode(0).http_address().to_string();
        assert_eq!(surus_net::http::get(&address, "/jmx", AT_ONCE).unwrap().status, 200);
        let waits = !flushing.is_finished();
        drop(hang);
        flushing.join().unwrap();
        waits
    });
    assert!(waited, "it was acknowledged while the disk hung");
    same(&read(&client, "/open"), &data[..60_000]);
    writer.write_all(&data[60_000..]).unwrap();
    writer.close().unwrap();
    same(&read(&client, "/open"), &data);

    // A stop does not wait for it for ever, and what was written is there after it.
    let hang = disk.hang(&cluster.data_dir(0));
    client.delete("/two", false).unwrap();
    cluster.wait("a deletion that hangs", || disk.waiting() > 0);
    let started = Instant::now();
    cluster.stop_datanode(0);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    drop(hang);
    cluster.wait("the old threads to be done", || disk.waiting() == 0);
    cluster.start_datanode(0);
    cluster.wait("its blocks", || cluster.client().open("/open").is_ok());
    same(&read(&client, "/open"), &data);
}

#[test]
fn a_hung_volume_leaves_the_other_one_alone() {
    let disk = HangingDisk::default();
    let cluster = Cluster::with_datanodes(1).volumes(2).on_disk(Arc::new(disk.clone())).start();
    let client = cluster.client();
    let data = content(5, 70_000);
    let (hung, good) = (cluster.volume_dir(0, 0), cluster.volume_dir(0, 1));
    let mut before = 0;
    while block_files(&hung) == 0 || block_files(&good) == 0 {
        assert!(before < 100, "both are used");
        write(&client, &format!("/before{before}"), &data, &one_replica());
        before += 1;
    }

    let hang = disk.hang(&hung);
    let written: Vec<(usize, Result<(), String>)> = std::thread::scope(|scope| {
        let write = |i: usize| (i, put(&impatient(&cluster), &format!("/during{i}"), &data));
        let threads: Vec<_> = (0..12).map(|i| scope.spawn(move || write(i))).collect();
        names_go_on(&cluster, "/while-a-volume-hangs");
        heartbeats_go_on(&cluster);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut good_ones = 0;
    for (i, result) in &written {
        match result {
            Ok(()) => {
                good_ones += 1;
                same(&read(&client, &format!("/during{i}")), &data);
            }
            Err(error) => {
                assert!(error.contains("could only be written to 0 of the 1 minReplication nodes"), "{error}")
            }
        }
    }
    assert!((1..12).contains(&good_ones), "{written:?}");
    // The files of deleted blocks go from the one while those of the other wait.
    for i in 0..before {
        client.delete(&format!("/before{i}"), false).unwrap();
    }
    cluster.wait("files to be deleted", || block_files(&good) == 2 * good_ones);
    assert!(block_files(&hung) > 0);

    drop(hang);
    cluster.wait("the rest to be deleted", || block_files(&hung) == 0);
    for i in 0..100 {
        put(&client, &format!("/after{i}"), &data).unwrap();
        same(&read(&client, &format!("/after{i}")), &data);
        if block_files(&hung) > 0 {
            return;
        }
    }
    panic!("it is not used again");
}

/// Changes are made and not acknowledged; a repeat of one waits with it and gets the same answer. Everything else goes on.
#[test]
fn a_hung_name_disk_acknowledges_nothing_and_blocks_nobody() {
    let disk = HangingDisk::default();
    // A checkpoint is due all the time.
    let mut cluster = Cluster::with_datanodes(1)
        .set("dfs.namenode.checkpoint.check.period", "1")
        .set("dfs.namenode.checkpoint.txns", "1")
        .on_disk(Arc::new(disk.clone()))
        .start();
    let client = cluster.client();
    for path in ["/before", "/deleted"] {
        client.mkdirs(path, FsPermission(0o755), true).unwrap();
    }
    write(&client, "/file", b"content", &one_replica());
    let address = cluster.namenode().rpc_address().to_string();
    let connect = |client_id| {
        let options = RpcClientOptions { client_id, ..Default::default() };
        RpcClient::connect(&address, client.user(), "org.apache.hadoop.hdfs.protocol.ClientProtocol", options).unwrap()
    };
    let first = connect(None);
    let [again, once_more] = [(); 2].map(|()| connect(Some(*first.client_id())));
    let [deleting, creating] = [(); 2].map(|()| first.next_call_id());
    let delete = proto::DeleteRequestProto { src: "/deleted".to_owned(), recursive: true };
    let create = proto::CreateRequestProto {
        src: "/created".to_owned(),
        masked: proto::FsPermissionProto { perm: 0o644 },
        client_name: "DFSClient_test".to_owned(),
        create_flag: 1,
        create_parent: true,
        replication: 1,
        block_size: 1 << 20,
        ..Default::default()
    };

    let hang = disk.hang(&cluster.name_dir());
    std::thread::scope(|scope| {
        let hang = hang;
        let (delete, create) = (&delete, &create);
        let mut waiting = Vec::new();
        let (mut deleted, mut created) = (Vec::new(), Vec::new());
        for (connection, retry) in [(&first, 0), (&again, 1), (&once_more, 2)] {
            deleted.push(scope.spawn(move || {
                let answer: proto::DeleteResponseProto =
                    connection.call_again(deleting, retry, "delete", delete).unwrap();
                answer.result
            }));
            created.push(scope.spawn(move || {
                let answer: proto::CreateResponseProto =
                    connection.call_again(creating, retry, "create", create).unwrap();
                answer.fs.and_then(|fs| fs.file_id).unwrap()
            }));
            std::thread::sleep(Duration::from_millis(50));
        }
        for i in 0..10 {
            let client = cluster.client();
            waiting
                .push(scope.spawn(move || client.mkdirs(&format!("/during/{i}"), FsPermission(0o755), true).unwrap()));
        }
        cluster.wait("a sync that hangs", || disk.waiting() > 0);
        let started = Instant::now();
        for _ in 0..50 {
            assert!(client.get_file_info("/before").unwrap().is_some());
        }
        same(&read(&client, "/file"), b"content");
        let http = cluster.namenode().http_address().to_string();
        assert_eq!(surus_net::http::get(&http, "/jmx", AT_ONCE).unwrap().status, 200);
        let status = surus_net::http::get(&http, "/webhdfs/v1/before?op=GETFILESTATUS", AT_ONCE).unwrap().status;
        assert_eq!(status, 200);
        assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
        heartbeats_go_on(&cluster);
        assert!(waiting.iter().all(|thread| !thread.is_finished()));
        assert!(deleted.iter().all(|thread| !thread.is_finished()));
        assert!(created.iter().all(|thread| !thread.is_finished()));
        drop(hang);
        assert!(waiting.into_iter().all(|thread| thread.join().unwrap()));
        assert!(deleted.into_iter().all(|thread| thread.join().unwrap()));
        let ids: Vec<u64> = created.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    });
    cluster.restart_namenode();
    let client = cluster.client();
    assert_eq!(client.list_status("/during").unwrap().len(), 10);
    assert!(client.get_file_info("/deleted").unwrap().is_none() && client.get_file_info("/created").unwrap().is_some());
}
