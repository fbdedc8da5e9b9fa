//! What the codecs cost: requests decoded, listings and block lists encoded, checksums.
//!
//! `cargo bench -p surus-wire --bench codec`

use std::hint::black_box;
use std::time::{Duration, Instant};
use surus_types::{
    AdminState, Block, BlockId, DatanodeId, DatanodeStats, FileStatus, FileType, FsPermission, GenerationStamp,
    InodeId, LocatedBlock, LocatedBlocks, Replica, StorageType,
};
use surus_wire::datatransfer::packet::parse_packet;
use surus_wire::datatransfer::{ChecksumType, DataChecksum, PacketHeader};
use surus_wire::encode;
use surus_wire::rpc::client::{RequestIds, put_call, put_context, put_preamble};
use surus_wire::rpc::header::{ResponseIds, put_success_encoded};
use surus_wire::rpc::session::{Event, Negotiation, ServerSession};

fn main() {
    requests();
    listings();
    located_blocks();
    checksums();
}

/// Prints the time of one of the `count` things that each run of `work` does.
fn measure(name: &str, count: u64, mut work: impl FnMut()) {
    work();
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let (started, mut runs) = (Instant::now(), 0u32);
        while started.elapsed() < Duration::from_millis(20) {
            work();
            runs += 1;
        }
        best = best.min(started.elapsed() / runs);
    }
    println!("{name:<44} {:>9.1} ns", best.as_secs_f64() * 1e9 / count as f64);
}

fn requests() {
    let mut opening = Vec::new();
    put_preamble(&mut opening, false);
    put_context(&mut opening, &[7; 16], "alice", None, "p");
    let mut bytes = Vec::new();
    for call_id in 0..100 {
        let ids = RequestIds { call_id, client_id: [7; 16], retry_count: 0 };
        let protocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
        put_call(&mut bytes, &ids, "CLI", protocol, "getFileInfo", &"/user/alice/file".to_owned());
    }
    let mut out = Vec::new();
    let mut session = ServerSession::new(1 << 20, Negotiation::SwitchToSimple);
    let mut rest = opening.as_slice();
    while let (consumed @ 1.., _) = session.next(rest, &mut out) {
        rest = &rest[consumed..];
    }
    measure("request taken apart, empty answer", 100, || {
        let mut rest = bytes.as_slice();
        out.clear();
        loop {
            let (consumed, event) = session.next(rest, &mut out);
            let Event::Call(call) = event else { break };
            let ids = ResponseIds {
                call_id: call.header.call_id,
                client_id: call.header.client_id,
                retry_count: call.header.retry_count,
                state_id: None,
            };
            put_success_encoded(&mut out, &ids, |_| black_box(call.body.len()));
            rest = &rest[consumed..];
        }
        black_box(&out);
    });
}

fn listings() {
    let status = FileStatus {
        file_type: FileType::File,
        name: b"part-00000-5d1f0e1c-c000.snappy.parquet",
        length: 123_456_789,
        permission: FsPermission(0o644),
        owner: "alice",
        group: "supergroup",
        modification_time_ms: 1_796_036_570_351,
        access_time_ms: 1_796_036_569_286,
        symlink: b"",
        replication: 3,
        block_size: 128 << 20,
        inode_id: InodeId(16_389),
        children: 0,
        storage_policy: 0,
        flags: 0,
        ec_policy: None,
        encryption: None,
    };
    let mut out = Vec::new();
    measure("listing of 1000, an entry", 1000, || {
        out.clear();
        put_success_encoded(&mut out, &ResponseIds::bare(1), |out| {
            encode::put_directory_listing(out, 1, |listing| {
                (0..1000).for_each(|_| listing.entry(black_box(&status)).unwrap());
                (0, ())
            });
        });
    });
}

fn located_blocks() {
    let datanode = DatanodeId {
        ip_addr: "10.1.2.3".to_owned(),
        host_name: "node-3.example.org".to_owned(),
        uuid: "d17042f4-de84-461e-80e0-37fa14b74234".to_owned(),
        xfer_port: 9866,
        info_port: 9864,
        info_secure_port: 0,
        ipc_port: 9867,
    };
    let stats = DatanodeStats { capacity: 1 << 40, remaining: 1 << 39, ..DatanodeStats::default() };
    let replica = Replica {
        datanode: &datanode,
        stats: &stats,
        admin_state: AdminState::Normal,
        network_location: "/default-rack",
        storage_uuid: "DS-3c1a02e4-1136-495b-8679-5736364f7a9e",
        storage_type: StorageType::Disk,
    };
    let replicas = [replica; 3];
    let block = Block { id: BlockId(1_073_741_825), generation_stamp: GenerationStamp(1001), num_bytes: 128 << 20 };
    let located = LocatedBlock { block, offset: 0, corrupt: false, replicas: &replicas };
    let header = LocatedBlocks {
        file_length: 640 << 20,
        under_construction: false,
        last_block_complete: true,
        encryption: None,
    };
    let mut out = Vec::new();
    measure("getBlockLocations, 5 blocks of 3 replicas", 1, || {
        out.clear();
        encode::put_located_blocks(&mut out, 1, &header, "BP-1323532104-127.0.0.1-1796036548930", |encoder| {
            (0..5).for_each(|_| encoder.block(black_box(&located)));
            encoder.last_block(black_box(&located));
        })
        .unwrap();
    });
}

fn checksums() {
    let data = vec![0x5a_u8; 64 << 10];
    for kind in [ChecksumType::Crc32c, ChecksumType::Crc32] {
        for size in [512, 4096] {
            let Some(checksum) = DataChecksum::new(kind, size) else { continue };
            let mut sums = Vec::new();
            measure(&format!("{} of 64 KiB in chunks of {size}", kind.name()), 1, || {
                sums.clear();
                checksum.append(black_box(&data), &mut sums);
            });
            measure(&format!("{} of 64 KiB verified, {size}", kind.name()), 1, || {
                let _ = black_box(checksum.verify(black_box(&data), &sums));
            });
        }
    }
    let header = PacketHeader { data_len: 65_536, ..PacketHeader::default() };
    let mut packet = header.encode(512).to_vec();
    packet.resize(packet.len() + 512 + 65_536, 0);
    measure("packet head encoded and taken apart", 1, || {
        black_box(header.encode(black_box(512)));
        let _ = black_box(parse_packet(black_box(&packet)));
    });
}
