//! Files written, read, appended to and cut, with one DataNode and with three.

use crate::{content, read, same, small_blocks, write};
use std::io::Write;
use surus_client::CreateOptions;
use surus_testkit::Cluster;

#[test]
fn files_of_all_sizes_come_back() {
    let cluster = Cluster::with_datanodes(1).start();
    let client = cluster.client();
    for length in [0, 1, 511, 512, 513, 4096, 65_535, 65_536, 65_537, 200_000, 1_000_000] {
        let path = format!("/f{length}");
        write(&client, &path, &content(length, length), &small_blocks());
        same(&read(&client, &path), &content(length, length));
        assert_eq!(client.file_status(&path).unwrap().length, length as u64);
    }
    let mut reader = client.open("/f200000").unwrap();
    let mut part = vec![0; 1000];
    reader.pread(65_000, &mut part).unwrap();
    assert_eq!(part, content(200_000, 66_000)[65_000..]);
}

#[test]
fn three_replicas_are_written_and_counted() {
    let cluster = Cluster::with_datanodes(3).start();
    let client = cluster.client();
    write(&client, "/d/three", &content(3, 300_000), &small_blocks());
    same(&read(&client, "/d/three"), &content(3, 300_000));
    let summary = client.get_content_summary("/d").unwrap();
    assert_eq!(
        (summary.length, summary.file_count, summary.directory_count, summary.space_consumed),
        (300_000, 1, 1, 900_000)
    );
    let blocks = client.get_block_locations("/d/three", 0, 300_000).unwrap();
    assert_eq!(blocks.blocks.len(), 5);
    cluster.wait("three replicas of each block", || {
        let blocks = client.get_block_locations("/d/three", 0, 300_000).unwrap();
        blocks.blocks.iter().all(|b| b.locs.len() == 3)
    });
}

#[test]
fn append_goes_on_in_the_last_block_and_in_a_new_one() {
    let cluster = Cluster::with_datanodes(1).start();
    let client = cluster.client();
    let whole = content(9, 200_000);
    write(&client, "/a", &whole[..1000], &small_blocks());
    let mut done = 1000;
    for (more, new_block) in [(500, false), (64_036, false), (100, false), (10_000, true), (100_000, false)] {
        let mut writer = client.append("/a", new_block).unwrap();
        writer.write_all(&whole[done..done + more]).unwrap();
        writer.close().unwrap();
        done += more;
        same(&read(&client, "/a"), &whole[..done]);
    }
}

#[test]
fn a_reader_sees_what_is_flushed() {
    let cluster = Cluster::with_datanodes(1).start();
    let client = cluster.client();
    let whole = content(5, 150_000);
    let mut writer = client.create("/open", &small_blocks()).unwrap();
    for end in [10, 600, 65_536, 100_000, 150_000] {
        let start = writer.position() as usize;
        writer.write_all(&whole[start..end]).unwrap();
        writer.hflush().unwrap();
        same(&read(&cluster.client(), "/open"), &whole[..end]);
    }
    writer.close().unwrap();
    same(&read(&client, "/open"), &whole);
}

#[test]
fn truncate_and_replication() {
    let cluster = Cluster::with_datanodes(2).start();
    let client = cluster.client();
    write(&client, "/t", &content(1, 150_000), &small_blocks());
    // At a block's end nothing is left to do; inside one the block is recovered.
    assert!(client.truncate("/t", 131_072).unwrap());
    same(&read(&client, "/t"), &content(1, 131_072));
    if !client.truncate("/t", 100_001).unwrap() {
        cluster.wait("the truncated block", || client.is_file_closed("/t").unwrap());
    }
    same(&read(&client, "/t"), &content(1, 100_001));
    assert!(client.set_replication("/t", 1).unwrap());
    cluster.wait("the excess replicas to go", || {
        let blocks = client.get_block_locations("/t", 0, u64::MAX / 2).unwrap();
        blocks.blocks.iter().all(|b| b.locs.len() == 1)
    });
    assert!(client.set_replication("/t", 2).unwrap());
    cluster.wait("the missing replicas to come", || {
        let blocks = client.get_block_locations("/t", 0, u64::MAX / 2).unwrap();
        blocks.blocks.iter().all(|b| b.locs.len() == 2)
    });
    same(&read(&client, "/t"), &content(1, 100_001));
}

#[test]
fn many_writers_at_once() {
    let cluster = Cluster::with_datanodes(1).start();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let client = cluster.client();
            scope.spawn(move || {
                for i in 0..20 {
                    let path = format!("/many/{thread}/{i}");
                    write(&client, &path, &content(thread * 100 + i, 5000 + i), &CreateOptions::default());
                    same(&read(&client, &path), &content(thread * 100 + i, 5000 + i));
                }
            });
        }
    });
    assert_eq!(cluster.client().get_content_summary("/many").unwrap().file_count, 160);
}
