//! DataNodes that die, and what clients see of it.

use crate::{content, read, same, small_blocks, write};
use std::io::Write;
use surus_testkit::Cluster;

#[test]
fn a_reader_takes_another_replica() {
    let mut cluster = Cluster::with_datanodes(3).start();
    write(&cluster.client(), "/f", &content(4, 200_000), &small_blocks());
    for datanode in 0..2 {
        cluster.stop_datanode(datanode);
        same(&read(&cluster.client(), "/f"), &content(4, 200_000));
    }
}

#[test]
fn a_writer_goes_on_when_a_datanode_dies() {
    // The fourth takes the dead one's place: after hflush the default policy insists on three.
    let mut cluster = Cluster::with_datanodes(4).start();
    let client = cluster.client();
    let data = content(8, 180_000);
    let mut writer = client.create("/f", &small_blocks()).unwrap();
    writer.write_all(&data[..30_000]).unwrap();
    writer.hflush().unwrap();
    let last = client.get_block_locations("/f", 0, 1).unwrap().last_block.unwrap();
    let first = last.locs[1].id.xfer_port;
    let victim = (0..4).find(|i| u32::from(cluster.datanode(*i).xfer_address().port()) == first).unwrap();
    cluster.stop_datanode(victim);
    writer.write_all(&data[30_000..]).unwrap();
    writer.close().unwrap();
    same(&read(&cluster.client(), "/f"), &data);
}

#[test]
fn a_lost_datanodes_blocks_return() {
    let mut cluster = Cluster::with_datanodes(3)
        .set("dfs.namenode.heartbeat.recheck-interval", "200")
        .set("dfs.namenode.redundancy.interval.seconds", "1")
        .set("dfs.replication", "2")
        .start();
    let client = cluster.client();
    write(&client, "/f", &content(6, 200_000), &small_blocks());
    cluster.stop_datanode(0);
    // Dead after 2 x recheck interval + 10 heartbeats: 10.4 s.
    cluster.wait("two replicas on the two that are left", || {
        let live = client.get_datanode_report(surus_client::DatanodeReportType::Live).unwrap().len();
        let blocks = client.get_block_locations("/f", 0, u64::MAX / 2).unwrap();
        live == 2 && blocks.blocks.iter().all(|b| b.locs.len() == 2)
    });
    same(&read(&client, "/f"), &content(6, 200_000));
}
