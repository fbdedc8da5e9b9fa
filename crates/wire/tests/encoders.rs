//! The hand-made encoders against prost, over random views.

use proptest::prelude::*;
use prost::Message;
use surus_proto::hadoop::hdfs::{
    AddBlockResponseProto, CipherSuiteProto, CryptoProtocolVersionProto, DirectoryListingProto,
    GetBlockLocationsResponseProto, GetFileInfoResponseProto, GetListingResponseProto, LocatedBlocksProto,
    PerFileEncryptionInfoProto, ZoneEncryptionInfoProto,
};
use surus_types::{
    AdminState, Block, BlockId, DatanodeId, DatanodeStats, FileEncryption, FileStatus, FileType, FsPermission,
    GenerationStamp, InodeId, LocatedBlock, LocatedBlocks, Replica, StorageType,
};
use surus_wire::{encode, to_proto};

const POOL: &str = "BP-1323532104-127.0.0.1-1796036548930";

fn status<'a>(numbers: &[u64; 6], name: &'a [u8], owner: &'a str, group: &'a str) -> FileStatus<'a> {
    let file_type = [FileType::Directory, FileType::File, FileType::Symlink][(numbers[0] % 3) as usize];
    FileStatus {
        file_type,
        name,
        length: numbers[1],
        permission: FsPermission::from_wire(numbers[2] as u32),
        owner,
        group,
        modification_time_ms: numbers[3] as i64,
        access_time_ms: numbers[4] as i64,
        symlink: name,
        replication: numbers[5] as u16,
        block_size: numbers[1] >> 3,
        inode_id: InodeId(numbers[5]),
        children: numbers[4] as u32 >> 1,
        storage_policy: numbers[3] as u8,
        flags: numbers[2] as u32 & 15,
        ec_policy: None,
        encryption: None,
    }
}

fn datanode(n: u64) -> (DatanodeId, DatanodeStats) {
    let id = DatanodeId {
        ip_addr: format!("10.0.0.{}", n % 256),
        host_name: format!("host{n}"),
        uuid: format!("d17042f4-de84-461e-80e0-{n:012x}"),
        xfer_port: n as u16,
        info_port: 9864,
        info_secure_port: (n % 2) as u16,
        ipc_port: 9867,
    };
    let stats = DatanodeStats {
        capacity: n,
        dfs_used: n >> 3,
        last_update_ms: n.rotate_left(7),
        xceiver_count: n as u32,
        num_blocks: 3,
        ..DatanodeStats::default()
    };
    (id, stats)
}

fn replicas(nodes: &[(DatanodeId, DatanodeStats)]) -> Vec<Replica<'_>> {
    nodes
        .iter()
        .map(|(datanode, stats)| Replica {
            datanode,
            stats,
            admin_state: AdminState::EnteringMaintenance,
            network_location: "/default-rack",
            storage_uuid: &datanode.uuid,
            storage_type: StorageType::Ssd,
        })
        .collect()
}

fn block(n: u64) -> Block {
    Block { id: BlockId(n as i64), generation_stamp: GenerationStamp(1000 + n % 1000), num_bytes: n >> 2 }
}

proptest! {
    #[test]
    fn file_status_and_listing(
        entries in prop::collection::vec((any::<[u64; 6]>(), prop::collection::vec(any::<u8>(), 0..300), "[a-z]{0,150}"), 0..6),
        remaining: u32,
    ) {
        let statuses: Vec<_> = entries.iter().map(|(n, name, owner)| status(n, name, owner, "supergroup")).collect();
        let mut out = Vec::new();
        encode::put_directory_listing(&mut out, 1, |listing| {
            statuses.iter().for_each(|status| listing.entry(status).unwrap());
            (remaining, ())
        });
        let expected = GetListingResponseProto {
            dir_list: Some(DirectoryListingProto {
                partial_listing: statuses.iter().map(|status| to_proto::file_status(status).unwrap()).collect(),
                remaining_entries: remaining,
            }),
        };
        prop_assert_eq!(&out, &expected.encode_to_vec());
        for status in &statuses {
            let mut out = Vec::new();
            encode::put_file_status(&mut out, 1, status).unwrap();
            let fs = Some(to_proto::file_status(status).unwrap());
            prop_assert_eq!(out, GetFileInfoResponseProto { fs }.encode_to_vec());
        }
    }

    #[test]
    fn located_blocks(numbers in prop::collection::vec(any::<u64>(), 0..5), length: u64, flags: [bool; 3]) {
        let nodes: Vec<_> = numbers.iter().map(|n| datanode(*n)).collect();
        let replicas = replicas(&nodes);
        let blocks: Vec<_> = numbers
            .iter()
            .enumerate()
            .map(|(i, n)| LocatedBlock { block: block(*n), offset: *n, corrupt: flags[2], replicas: &replicas[i..] })
            .collect();
        let header = LocatedBlocks { file_length: length, under_construction: flags[0], last_block_complete: flags[1], encryption: None };
        let mut out = Vec::new();
        encode::put_located_blocks(&mut out, 1, &header, POOL, |encoder| {
            blocks.iter().for_each(|block| encoder.block(block));
            if let Some(last) = blocks.last() {
                encoder.last_block(last);
            }
        })
        .unwrap();
        let proto = LocatedBlocksProto {
            file_length: length,
            blocks: blocks.iter().map(|block| to_proto::located_block(POOL, block)).collect(),
            under_construction: flags[0],
            last_block: blocks.last().map(|block| to_proto::located_block(POOL, block)),
            is_last_block_complete: flags[1],
            ..Default::default()
        };
        prop_assert_eq!(&out, &GetBlockLocationsResponseProto { locations: Some(proto.clone()) }.encode_to_vec());
        if let Some(first) = blocks.first() {
            let mut out = Vec::new();
            encode::put_located_block(&mut out, 1, POOL, first);
            prop_assert_eq!(out, AddBlockResponseProto { block: to_proto::located_block(POOL, first) }.encode_to_vec());
        }
        // A status with its blocks in the middle.
        let status = status(&[1, 2, 3, 4, 5, 6], b"f", "root", "supergroup");
        let mut out = Vec::new();
        encode::put_located_file_status(&mut out, 1, &status, &header, POOL, |encoder| {
            blocks.iter().for_each(|block| encoder.block(block));
            if let Some(last) = blocks.last() {
                encoder.last_block(last);
            }
        })
        .unwrap();
        let mut expected = to_proto::file_status(&status).unwrap();
        expected.locations = Some(proto);
        prop_assert_eq!(out, GetFileInfoResponseProto { fs: Some(expected) }.encode_to_vec());
    }
}

/// The messages of a recorded connection's SUCCESS answers, in order.
fn recorded(mut s2c: &[u8]) -> Vec<&[u8]> {
    use surus_wire::rpc::client::{Outcome, Response};
    let mut messages = Vec::new();
    while let Some((prefix, tail)) = s2c.split_first_chunk::<4>() {
        let (frame, tail) = tail.split_at(u32::from_be_bytes(*prefix) as usize);
        s2c = tail;
        if let Outcome::Success(message) = Response::decode(frame).expect("an answer").outcome {
            messages.push(message);
        }
    }
    messages
}

/// getFileInfo and getListing as a NameNode 3.5.0 answered them: the same values make the same bytes.
#[test]
fn golden_listing() {
    let messages = recorded(include_bytes!("data/fsshell-4.s2c"));
    let entry = |name, length, inode, times: (i64, i64)| FileStatus {
        file_type: FileType::File,
        name,
        length,
        permission: FsPermission(0o644),
        owner: "root",
        group: "supergroup",
        modification_time_ms: times.0,
        access_time_ms: times.1,
        symlink: b"",
        replication: 1,
        block_size: 128 << 20,
        inode_id: InodeId(inode),
        children: 0,
        storage_policy: 0,
        flags: 0,
        ec_policy: None,
        encryption: None,
    };
    let mut out = Vec::new();
    encode::put_directory_listing(&mut out, 1, |listing| {
        listing.entry(&entry(b"f", 70_000, 16_389, (1_796_036_570_351, 1_796_036_569_286))).unwrap();
        listing.entry(&entry(b"g", 1000, 16_390, (1_796_036_572_827, 1_796_036_572_521))).unwrap();
        (0, ())
    });
    assert_eq!(messages[1], out);
}

/// getBlockLocations likewise, but for `softwareVersion` of the DataNode, which our views lack.
#[test]
fn golden_block_locations() {
    let messages = recorded(include_bytes!("data/fsshell-5.s2c"));
    let mut expected = messages
        .iter()
        .filter_map(|message| GetBlockLocationsResponseProto::decode(*message).ok())
        .find(|response| response.locations.as_ref().is_some_and(|locations| locations.file_length == 1000))
        .and_then(|response| response.locations)
        .expect("an answer to getBlockLocations");
    let datanode = surus_wire::from_proto::datanode_id(&expected.blocks[0].locs[0].id).unwrap();
    let stats = surus_wire::from_proto::datanode_stats(&expected.blocks[0].locs[0]);
    let storage_uuid = expected.blocks[0].storage_i_ds[0].clone();
    let replicas = [Replica {
        datanode: &datanode,
        stats: &stats,
        admin_state: AdminState::Normal,
        network_location: "/default-rack",
        storage_uuid: &storage_uuid,
        storage_type: StorageType::Disk,
    }];
    let block = surus_wire::from_proto::extended_block_inner(&expected.blocks[0].b);
    let located = LocatedBlock { block, offset: 0, corrupt: false, replicas: &replicas };
    let header =
        LocatedBlocks { file_length: 1000, under_construction: false, last_block_complete: true, encryption: None };
    let mut out = Vec::new();
    encode::put_located_blocks(&mut out, 1, &header, &expected.blocks[0].b.pool_id.clone(), |encoder| {
        encoder.block(&located);
        encoder.last_block(&located);
    })
    .unwrap();
    expected.blocks[0].locs[0].software_version = None;
    if let Some(last) = &mut expected.last_block {
        last.locs[0].software_version = None;
    }
    assert_eq!(out, GetBlockLocationsResponseProto { locations: Some(expected) }.encode_to_vec());
}

/// A file whose key cannot be told is not to pass for a plain one.
#[test]
fn damaged_encryption_info_is_an_error() {
    let zone = ZoneEncryptionInfoProto {
        suite: CipherSuiteProto::AesCtrNopadding as i32,
        crypto_protocol_version: CryptoProtocolVersionProto::EncryptionZones as i32,
        key_name: "k".to_owned(),
        reencryption_proto: None,
    };
    let file = PerFileEncryptionInfoProto { key: vec![1; 16], iv: vec![2; 16], ez_key_version_name: "k@0".to_owned() };
    let (zone, file) = (zone.encode_to_vec(), file.encode_to_vec());
    let cut = |bytes: &[u8], len: usize| bytes[..len].to_vec();
    let cases = [
        (zone.clone(), file.clone(), None),
        (zone.clone(), cut(&file, file.len() - 1), Some("Could not parse file encryption info")),
        (zone.clone(), cut(&file, 18), Some("Could not parse file encryption info")),
        (zone.clone(), Vec::new(), Some("Could not parse file encryption info")),
        (cut(&zone, zone.len() - 1), file.clone(), Some("Could not parse zone encryption info")),
        (Vec::new(), file, Some("Could not parse zone encryption info")),
    ];
    for (zone, file, error) in &cases {
        let encryption = Some(FileEncryption { zone, file });
        let status = FileStatus { encryption, ..status(&[1, 2, 3, 4, 5, 6], b"f", "root", "supergroup") };
        let header = LocatedBlocks { file_length: 1, under_construction: false, last_block_complete: true, encryption };
        let mut out = Vec::new();
        let told = [
            encode::put_file_status(&mut out, 1, &status),
            encode::put_located_blocks(&mut out, 1, &header, POOL, |_| ()),
            encode::put_located_file_status(&mut out, 1, &status, &header, POOL, |_| ()),
            to_proto::file_status(&status).map(drop),
        ];
        let told = told.map(|result| result.err().map(|error| error.message));
        assert_eq!(told, [(); 4].map(|()| error.map(str::to_owned)));
    }
}
