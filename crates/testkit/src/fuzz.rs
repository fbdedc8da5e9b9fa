//! One fuzz target for each decoder of bytes from the network or the disk, with seeds. `tests/fuzz.rs` runs a slice of each with a
//! printed seed; the folder `fuzz` hands the same functions to libFuzzer. A target must not panic, hang, or allocate without bound.

use std::path::Path;
use surus_conf::Configuration;
use surus_datanode::store::{PoolVersion, StorageVersion, meta};
use surus_disk::{Disk, MemDisk, OpenMode, SyncPoint};
use surus_journal::image::load_image;
use surus_journal::ops::OpDecoder;
use surus_journal::{LAYOUT_VERSION, SegmentReader, StorageInfo};
use surus_keys::KeyStore;
use surus_namespace::NamespaceConfig;
use surus_proto::hadoop::hdfs::datanode::StorageBlockReportProto;
use surus_types::TxId;
use surus_webhdfs::{Method, Side};
use surus_wire::datatransfer::{PipelineAck, md5, op, packet};
use surus_wire::required;
use surus_wire::rpc::client::Response;
use surus_wire::rpc::session::{Event, Negotiation, ServerSession};

/// Name, function, and inputs to start from.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    pub seeds: fn() -> Vec<Vec<u8>>,
}

pub const TARGETS: &[Target] = &[
    Target { name: "rpc_session", run: rpc_session, seeds: rpc_seeds },
    Target { name: "data_transfer_op", run: data_transfer_op, seeds: op_seeds },
    Target { name: "packet", run: data_packet, seeds: packet_seeds },
    Target { name: "pipeline_ack", run: pipeline_ack, seeds: ack_seeds },
    Target { name: "edit_op", run: edit_op, seeds: edit_op_seeds },
    Target { name: "edit_segment", run: edit_segment, seeds: segment_seeds },
    Target { name: "fsimage", run: fsimage, seeds: image_seeds },
    Target { name: "site_xml", run: site_xml, seeds: xml_seeds },
    Target { name: "webhdfs_query", run: webhdfs_query, seeds: query_seeds },
    Target { name: "rpc_response", run: rpc_response, seeds: response_seeds },
    Target { name: "block_report", run: block_report, seeds: report_seeds },
    Target { name: "version", run: version, seeds: version_seeds },
    Target { name: "meta_file", run: meta_file, seeds: meta_seeds },
    Target { name: "hosts_json", run: hosts_json, seeds: hosts_seeds },
    Target { name: "key_store", run: key_store, seeds: key_store_seeds },
];

/// Runs one target by name; unknown names are a mistake of the caller.
pub fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no fuzz target is called {name}"));
    (target.run)(data);
}

/// Frames longer than this are refused; small here, so that the fuzzer reaches the limit.
const FRAME_BYTES_MAX: u32 = 1 << 16;

fn rpc_session(data: &[u8]) {
    let mut session = ServerSession::new(FRAME_BYTES_MAX, Negotiation::TokenAndSimple { nonce: "nonce".to_owned() });
    let (mut rest, mut out) = (data, Vec::new());
    loop {
        let (consumed, event) = session.next(rest, &mut out);
        match event {
            Event::NeedMore(_) | Event::Close => return,
            _ => assert!(consumed > 0, "an event without progress"),
        }
        rest = &rest[consumed..];
    }
}

fn rpc_seeds() -> Vec<Vec<u8>> {
    vec![
        include_bytes!("../../wire/tests/data/fsshell-3.5.0-ls.bin").to_vec(),
        include_bytes!("../../wire/tests/data/fsshell-2.c2s").to_vec(),
        include_bytes!("../../wire/tests/data/gohdfs.c2s").to_vec(),
    ]
}

fn data_transfer_op(data: &[u8]) {
    let _ = op::parse_op(data);
    let _ = op::delimited(data);
}

fn op_seeds() -> Vec<Vec<u8>> {
    // version 28, opcode, delimited message
    vec![b"\x00\x1c\x51\x0a\x0a\x08\x0a\x06\x0a\x04\x0a\x02BP".to_vec(), b"\x00\x1c\x50\x02\x0a\x00".to_vec()]
}

fn data_packet(data: &[u8]) {
    let _ = packet::parse_packet(data);
}

fn packet_seeds() -> Vec<Vec<u8>> {
    let header = packet::PacketHeader {
        offset_in_block: 0,
        seqno: 1,
        last_packet_in_block: false,
        data_len: 5,
        sync_block: false,
    };
    let mut bytes = header.encode(4).to_vec();
    bytes.extend_from_slice(b"\x01\x02\x03\x04hello");
    vec![bytes]
}

fn pipeline_ack(data: &[u8]) {
    let _ = PipelineAck::default().decode_into(data);
}

fn ack_seeds() -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    PipelineAck::success(7).put(&mut bytes);
    vec![bytes]
}

/// Op code and body; length and checksum are made to fit, so that the body's decoder is reached.
fn edit_op(data: &[u8]) {
    let Some((opcode, body)) = data.split_first() else { return };
    let mut frame = vec![*opcode];
    frame.extend_from_slice(&(body.len() as u32 + 12).to_be_bytes());
    frame.extend_from_slice(&1u64.to_be_bytes());
    frame.extend_from_slice(body);
    let crc = crc32fast::hash(&frame);
    frame.extend_from_slice(&crc.to_be_bytes());
    if let Ok(mut decoder) = OpDecoder::new(LAYOUT_VERSION) {
        let _ = decoder.decode(&frame);
    }
}

fn edit_op_seeds() -> Vec<Vec<u8>> {
    let opcodes = [0, 1, 2, 3, 4, 7, 8, 9, 13, 14, 15, 16, 17, 25, 26, 33, 34, 36, 40, 43, 46, 47, 49];
    opcodes
        .iter()
        .map(|&opcode: &u8| {
            let mut seed = vec![opcode];
            seed.extend_from_slice(&16_386u64.to_be_bytes());
            seed.extend_from_slice(b"\x00\x05/name\x00\x01");
            seed.extend_from_slice(&[0; 40]);
            seed
        })
        .collect()
}

fn edit_segment(data: &[u8]) {
    let disk = MemDisk::new();
    let path = Path::new("/edits");
    put(&disk, path, data);
    let Ok(mut reader) = SegmentReader::open(&disk, path, TxId(1), LAYOUT_VERSION) else { return };
    while let Ok(Some(_)) = reader.next_op() {}
}

fn segment_seeds() -> Vec<Vec<u8>> {
    let mut bytes = LAYOUT_VERSION.to_be_bytes().to_vec();
    bytes.extend_from_slice(&[0; 4]);
    for (opcode, txid) in [(24u8, 1u64), (23, 2)] {
        let mut frame = vec![opcode];
        frame.extend_from_slice(&12u32.to_be_bytes());
        frame.extend_from_slice(&txid.to_be_bytes());
        let crc = crc32fast::hash(&frame);
        frame.extend_from_slice(&crc.to_be_bytes());
        bytes.extend_from_slice(&frame);
    }
    let mut filled = bytes.clone();
    filled.resize(4096, 0xff);
    vec![bytes, filled]
}

fn fsimage(data: &[u8]) {
    let disk = MemDisk::new();
    let path = Path::new("/fsimage");
    put(&disk, path, data);
    let _ = load_image(&disk, path, md5(data), &storage_info(), NamespaceConfig::default());
}

fn image_seeds() -> Vec<Vec<u8>> {
    vec![
        b"HDFSIMG1\x00\x00\x00\x00".to_vec(),
        b"HDFSIMG1\x08\x01\x10\xbd\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x0d".to_vec(),
    ]
}

fn storage_info() -> StorageInfo {
    StorageInfo {
        namespace_id: 1,
        cluster_id: "CID-1".to_owned(),
        block_pool_id: "BP-1".to_owned(),
        c_time: 0,
        layout_version: LAYOUT_VERSION,
    }
}

fn put(disk: &MemDisk, path: &Path, data: &[u8]) {
    let written = disk.open(path, OpenMode::Create).and_then(|file| {
        file.write_all_at(data, 0)?;
        file.sync_all(SyncPoint("testkit.fuzz"))
    });
    written.expect("memory has room");
}

fn site_xml(data: &[u8]) {
    if let Ok(conf) = Configuration::from_texts([("fuzz.xml", String::from_utf8_lossy(data))]) {
        let _ = conf.check();
        for (key, _) in conf.iter() {
            let _ = conf.text(key);
        }
    }
}

fn xml_seeds() -> Vec<Vec<u8>> {
    vec![
        b"<?xml version=\"1.0\"?><configuration><property><name>dfs.blocksize</name><value>128m</value></property></configuration>"
            .to_vec(),
        b"<configuration><property><name>a</name><value>${b} ${env.HOME:-x}</value><final>true</final></property>\
          <property><name>b</name><value>${a}</value></property></configuration>"
            .to_vec(),
    ]
}

fn webhdfs_query(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (path, query) = text.split_once('?').unwrap_or((&text, ""));
    let path = format!("/webhdfs/v1{path}");
    for side in [Side::NameNode, Side::DataNode, Side::HttpFs] {
        for method in [Method::Get, Method::Put, Method::Post, Method::Delete] {
            let _ = surus_webhdfs::parse(side, method, &path, query);
        }
    }
}

fn query_seeds() -> Vec<Vec<u8>> {
    [
        "/a%20b?op=OPEN&offset=1&length=2&user.name=root",
        "/?op=CREATE&overwrite=true&permission=755&blocksize=1",
        "/x?OP=RENAME&destination=/y%zz",
    ]
    .map(|s| s.as_bytes().to_vec())
    .to_vec()
}

fn rpc_response(data: &[u8]) {
    let _ = Response::decode(data);
}

fn response_seeds() -> Vec<Vec<u8>> {
    vec![include_bytes!("../../wire/tests/data/fsshell-5.s2c")[4..].to_vec()]
}

/// `StorageBlockReportProto`, and then the list of replicas in it.
fn block_report(data: &[u8]) {
    if let Ok(report) = required::decode::<StorageBlockReportProto>(data)
        && let Ok(replicas) = surus_namenode::decode_block_report(&report)
    {
        assert!(replicas.len() <= data.len());
    }
}

fn report_seeds() -> Vec<Vec<u8>> {
    vec![
        // Storage DS, two blocks in one buffer as a Java DataNode packs them.
        b"\x0a\x04\x0a\x02DS\x18\x02\x22\x15\x82\x80\x80\x80\x08\xd8\xaa\x04\xeb\x07\x00\x84\x80\x80\x80\x08\xe8\x07\xea\x07\x00".to_vec(),
        // The older list: one finalized block, the end mark, one other.
        [&b"\x0a\x04\x0a\x02DS\x12\x27\x01\x01\x07\x08\x09"[..], &[0xff; 9], &[1], &[0xff; 9], &[1], &[0xff; 9], &[1, 10, 11, 12, 1]]
            .concat(),
    ]
}

/// The VERSION files of name directories, data directories and block pools.
fn version(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = StorageInfo::parse(&text);
    let _ = StorageVersion::parse(&text);
    let _ = PoolVersion::parse(&text);
}

fn version_seeds() -> Vec<Vec<u8>> {
    let storage = StorageVersion {
        datanode_uuid: "u-1".to_owned(),
        cluster_id: "CID-1".to_owned(),
        storage_id: "DS-1".to_owned(),
        layout_version: -57,
    };
    let pool = PoolVersion { namespace_id: 7, pool_id: "BP-1".to_owned(), ctime: 9, layout_version: -57 };
    [storage_info().to_properties(1_000), storage.to_text(), pool.to_text()].map(String::into_bytes).to_vec()
}

/// A meta file beside a block of some bytes.
fn meta_file(data: &[u8]) {
    let disk = MemDisk::new();
    let (block, sums) = (Path::new("/blk_1"), Path::new("/blk_1_1.meta"));
    put(&disk, block, &[7; 2_000]);
    put(&disk, sums, data);
    if let Ok(checksum) = meta::decode_header(data) {
        assert!(checksum.bytes_per_checksum() > 0);
    }
    let open = |path| disk.open(path, OpenMode::Read).expect("it was written");
    let (length, _) = meta::verified_length(&*open(block), &*open(sums)).expect("memory reads");
    assert!(length <= 2_000);
}

fn meta_seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![b"\0\x01\0\0\0\x02\0".to_vec()];
    for kind in [1, 2] {
        let mut seed = vec![0, 1, kind, 0, 0, 2, 0];
        seed.extend_from_slice(&[0x5a; 16]);
        seeds.push(seed);
    }
    seeds
}

fn hosts_json(data: &[u8]) {
    if let Ok(count) = surus_namenode::count_combined_hosts(&String::from_utf8_lossy(data)) {
        assert!(count <= data.len());
    }
}

fn hosts_seeds() -> Vec<Vec<u8>> {
    let nodes =
        br#"{"hostName": "a"} {"hostName": "b", "port": 50, "upgradeDomain": "ud0", "adminState": "DECOMMISSIONED"}"#;
    let list = br#"[{"hostName": "d", "adminState": "IN_MAINTENANCE", "maintenanceExpireTimeInMS": 99999999999999}]"#;
    vec![nodes.to_vec(), list.to_vec(), vec![b'['; 10_000]]
}

/// A key store of the password `none`: what is changed is signed anew, so that its reader is reached.
fn key_store(data: &[u8]) {
    use sha1::Digest;
    let mut hash = sha1::Sha1::new();
    for unit in "none".encode_utf16() {
        hash.update(unit.to_be_bytes());
    }
    hash.update(b"Mighty Aphrodite");
    hash.update(data);
    let signed = [data, &hash.finalize()[..]].concat();
    if let Ok(store) = KeyStore::parse(&signed, "none") {
        assert!(store.aliases().count() <= data.len());
    }
}

fn key_store_seeds() -> Vec<Vec<u8>> {
    let whole = include_bytes!("../../keys/tests/data/keys.jceks");
    vec![whole[..whole.len() - 20].to_vec()]
}

/// A small generator with a seed that can be printed and used again (SplitMix64).
pub struct Mutator(u64);

impl Mutator {
    pub fn new(seed: u64) -> Self {
        Mutator(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 where that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// A few changes of one of the seeds: bytes flipped, set, inserted, cut, repeated, and the numbers decoders fear.
    pub fn mutate(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        const FEARED: [&[u8]; 6] = [
            &[0xff; 4],
            &[0x7f, 0xff, 0xff, 0xff],
            &[0x80, 0, 0, 0],
            &[0; 4],
            &[0xff, 0xff, 0xff, 0xff, 0x0f],
            &[0xff; 10],
        ];
        let mut data = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(8) {
            let at = self.below(data.len() + 1);
            match self.below(6) {
                0 if at < data.len() => data[at] ^= 1 << self.below(8),
                1 if at < data.len() => data[at] = self.next() as u8,
                2 => data.truncate(at),
                3 => {
                    let feared = FEARED[self.below(FEARED.len())];
                    data.splice(at..(at + feared.len()).min(data.len()), feared.iter().copied());
                }
                4 => data.insert(at, self.next() as u8),
                _ => {
                    let end = (at + self.below(64)).min(data.len());
                    data.extend_from_within(at..end);
                }
            }
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is changed at random must have been read through to its end before.
    #[test]
    fn seeds_are_sound() {
        for seed in report_seeds() {
            let report = required::decode::<StorageBlockReportProto>(&seed).unwrap();
            assert_eq!(surus_namenode::decode_block_report(&report).unwrap().len(), 2);
        }
        let [name, storage, pool] = version_seeds().try_into().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert!(StorageInfo::parse(&text(name)).is_ok() && StorageVersion::parse(&text(storage)).is_ok());
        assert!(PoolVersion::parse(&text(pool)).is_ok());
        assert!(meta_seeds().iter().all(|seed| meta::decode_header(seed).is_ok()));
        let whole = include_bytes!("../../keys/tests/data/keys.jceks");
        assert!(KeyStore::parse(whole, "none").is_ok());
        assert!(Response::decode(&response_seeds()[0]).is_ok());
        assert_eq!(surus_namenode::count_combined_hosts(&text(hosts_seeds().remove(0))), Ok(2));
    }
}
