//! Nonsense on all five ports of a running file system: garbage, half frames, lengths beyond reason, silence. Whoever sends
//! it is cut off; the file system serves on, and neither memory nor threads nor open files have grown.

use crate::server::Server;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use surus_client::{CreateOptions, DatanodeReportType, DfsClient};
use surus_net::rpc::{RpcClient, RpcClientOptions};
use surus_proto::hadoop::hdfs as proto;
use surus_proto::hadoop::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use surus_wire::datatransfer::op::{Op, put_op};
use surus_wire::datatransfer::{DataChecksum, MESSAGE_LEN_MAX, PACKET_LEN_MAX};
use surus_wire::rpc::client::{RequestIds, put_call, put_context, put_preamble};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
/// How long a server may take to close on somebody who has closed.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a little unrest in the allocator may cost; one frame of the greatest length that is allowed has 64 MiB.
const GROWTH_KB_MAX: u64 = 48 << 10;
/// Threads and files of the pools, which come and go.
const COUNT_GROWTH_MAX: u64 = 8;

/// A port by what listens there.
struct Port {
    name: &'static str,
    address: SocketAddr,
}

fn ports(server: &Server) -> [Port; 5] {
    let datanodes = server.client().get_datanode_report(DatanodeReportType::Live).unwrap();
    let id = &datanodes[0].id;
    let authority = |url: &str| url.split('/').nth(2).unwrap().to_owned();
    let own = |port: u32| format!("127.0.0.1:{port}");
    [
        ("NameNode RPC", authority(&server.uri)),
        ("NameNode HTTP", authority(&server.web)),
        ("DataNode transfer", own(id.xfer_port)),
        ("DataNode IPC", own(id.ipc_port)),
        ("DataNode HTTP", own(id.info_port)),
    ]
    .map(|(name, address)| Port { name, address: address.parse().unwrap() })
}

/// Everything that is sent to every port.
fn nonsense() -> Vec<(&'static str, Vec<u8>)> {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |count: usize| -> Vec<u8> {
        std::iter::repeat_with(|| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed as u8
        })
        .take(count)
        .collect()
    };
    let mut all: Vec<(&'static str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("a byte", vec![b'h']),
        ("zeros", vec![0; 10_000]),
        ("ones", vec![0xff; 10_000]),
        ("random bytes", random(100_000)),
        ("a few random bytes", random(9)),
        ("TLS", [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], &random(600)].concat()),
    ];
    all.extend(rpc_nonsense(&random(200)));
    all.extend(http_nonsense());
    all.extend(transfer_nonsense(&random(200)));
    all
}

fn rpc_nonsense(random: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut preamble = Vec::new();
    put_preamble(&mut preamble, false);
    let mut open = preamble.clone();
    put_context(&mut open, &[7; 16], "alice", None, PROTOCOL);
    let ids = RequestIds { call_id: 0, client_id: [7; 16], retry_count: 0 };
    let mut call = Vec::new();
    put_call(&mut call, &ids, "", PROTOCOL, "getFileInfo", &proto::GetFileInfoRequestProto { src: "/".to_owned() });
    let framed = |length: u32, bytes: &[u8]| [&open[..], &length.to_be_bytes(), bytes].concat();
    let mut cut_inside = call.clone();
    // The header's own length goes beyond its frame.
    cut_inside[4] = 0x7f;
    vec![
        ("an RPC preamble", preamble.clone()),
        ("half an RPC preamble", preamble[..5].to_vec()),
        ("a frame of 4 GB before the context", [&preamble[..], &[0xff; 4]].concat()),
        ("a frame of 4 GB", framed(u32::MAX, random)),
        ("a frame of 2 GB", framed(0x7fff_ffff, random)),
        ("a frame of 64 MiB that does not come", framed(64 << 20, random)),
        ("an empty frame", framed(0, &[])),
        ("a frame of nonsense", framed(random.len() as u32, random)),
        ("half a call", [&open[..], &call[..call.len() - 3]].concat()),
        ("a header longer than its frame", [&open[..], &cut_inside].concat()),
        ("a varint without end", framed(20, &[0xff; 20])),
        ("SASL nonsense", {
            let mut bytes = Vec::new();
            put_preamble(&mut bytes, true);
            [&bytes[..], &(random.len() as u32).to_be_bytes(), random].concat()
        }),
    ]
}

fn http_nonsense() -> Vec<(&'static str, Vec<u8>)> {
    let mut headers = b"GET /jmx HTTP/1.1\r\nHost: x\r\n".to_vec();
    for i in 0..20_000 {
        headers.extend_from_slice(format!("X-{i}: y\r\n").as_bytes());
    }
    let put = "PUT /webhdfs/v1/x?op=CREATE&user.name=root&data=true HTTP/1.1\r\nHost: x\r\n";
    let text = |tail: &str| format!("{put}{tail}").into_bytes();
    vec![
        ("half a request line", b"GET /jmx HTT".to_vec()),
        ("headers without end", headers),
        ("a path of a megabyte", [&b"GET /"[..], &vec![b'a'; 1 << 20], b" HTTP/1.1\r\n\r\n"].concat()),
        ("a body that does not come", text("Content-Length: 1000000000000\r\n\r\nabc")),
        ("a length beyond 64 bits", text("Content-Length: 99999999999999999999999\r\n\r\nabc")),
        ("a negative length", text("Content-Length: -1\r\n\r\nabc")),
        ("two lengths", text("Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd")),
        ("a chunk beyond 64 bits", text("Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nabc")),
        ("a chunk that does not come", text("Transfer-Encoding: chunked\r\n\r\n7fffffff\r\nabc")),
        ("a chunk size that is none", text("Transfer-Encoding: chunked\r\n\r\nxyz\r\nabc")),
        ("escapes that are none", b"GET /webhdfs/v1/%zz%?op=%00&a=%f HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
        ("a protocol of its own", b"HELLO WORLD\r\n\r\n".to_vec()),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec()),
    ]
}

fn transfer_nonsense(random: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let varint = |mut value: u64| {
        let mut out = Vec::new();
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
        out
    };
    let op = |code: u8, rest: &[u8]| [&[0, 28, code][..], rest].concat();
    let longest = varint(MESSAGE_LEN_MAX as u64);
    vec![
        ("half an operation", vec![0, 28]),
        ("an unknown operation", op(1, random)),
        ("an operation of an older version", vec![0, 17, 80, 0]),
        ("an empty operation", op(80, &[0])),
        ("an operation of nonsense", op(80, &[&varint(200)[..], random].concat())),
        ("an operation of 2 GB", op(81, &varint(0x7fff_ffff))),
        ("an operation of a length without end", op(81, &[0xff; 30])),
        ("the longest operation, which does not come", op(85, &[&longest[..], random].concat())),
        ("a SASL handshake", [&b"\xde\xad\xbe\xef"[..], random].concat()),
    ]
}

/// What the process takes: KiB resident, threads, open files.
#[derive(Clone, Copy, Debug)]
struct Taken {
    resident_kb: u64,
    threads: u64,
    files: u64,
}

fn taken(pid: u32) -> Taken {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let number = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count() as u64;
    Taken { resident_kb: number("VmRSS:"), threads: number("Threads:"), files }
}

impl Taken {
    /// What has grown too much.
    fn beyond(&self, before: &Taken) -> String {
        let mut text = String::new();
        for (name, now, before, most) in [
            ("KiB", self.resident_kb, before.resident_kb, GROWTH_KB_MAX),
            ("threads", self.threads, before.threads, COUNT_GROWTH_MAX),
            ("files", self.files, before.files, COUNT_GROWTH_MAX),
        ] {
            if now > before + most {
                let _ = write!(text, "{now} {name}, {before} before; ");
            }
        }
        text
    }
}

fn connect(port: &Port, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(port.address).unwrap_or_else(|e| panic!("{}: {e}", port.name));
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // Whoever refuses early may have closed already.
    let _ = stream.write_all(bytes);
    stream
}

/// The server must close, too.
fn read_to_close(stream: &mut TcpStream, what: &str) {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(e) if matches!(e.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => {}
        Err(e) => panic!("{what}: not closed: {e}"),
    }
}

/// All five ports do what they are for.
fn serves(server: &Server, ports: &[Port; 5], round: usize) {
    let client = server.client();
    let path = format!("/tmp/sound{round}");
    write(&client, &path);
    let mut content = Vec::new();
    client.open(&path).unwrap().copy_to(&mut content).unwrap();
    assert_eq!(content, b"sound");
    let get = |port: &Port, target: &str| {
        surus_net::http::get(&port.address.to_string(), target, PATIENCE)
            .unwrap_or_else(|e| panic!("{}: {e}", port.name))
            .status
    };
    assert_eq!(get(&ports[1], &format!("/webhdfs/v1{path}?op=GETFILESTATUS")), 200);
    assert_eq!(get(&ports[1], "/jmx"), 200);
    assert_eq!(get(&ports[4], "/jmx"), 200);
    let options = RpcClientOptions { call_timeout: Some(PATIENCE), ..Default::default() };
    let protocol = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
    let ipc = RpcClient::connect(&ports[3].address.to_string(), "alice", protocol, options).unwrap();
    let info: Result<proto::GetDatanodeInfoResponseProto, _> =
        ipc.call("getDatanodeInfo", &proto::GetDatanodeInfoRequestProto {});
    assert!(info.is_ok(), "{info:?}");
}

fn write(client: &DfsClient, path: &str) {
    let mut writer = client.create(path, &CreateOptions::default()).unwrap();
    writer.write_all(b"sound").unwrap();
    writer.close().unwrap();
}

/// Waits until the process takes about what it took before.
fn settles(server: &Server, before: &Taken) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let beyond = taken(server.id()).beyond(before);
        if beyond.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "{beyond}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn nonsense_on_every_port_costs_only_its_sender() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    server.wait_for_safe_mode();
    let (ports, nonsense) = (ports(&server), nonsense());
    serves(&server, &ports, 0);
    let before = taken(server.id());
    let mut held = Vec::new();
    for port in &ports {
        for (name, bytes) in &nonsense {
            drop(connect(port, bytes));
            let mut stream = connect(port, bytes);
            let _ = stream.shutdown(Shutdown::Write);
            read_to_close(&mut stream, &format!("{}: {name}", port.name));
            held.push(connect(port, bytes));
        }
    }
    // While they are silent others are served, and what they promised to send is not made room for.
    serves(&server, &ports, 1);
    println!("before {before:?}, with {} silent connections {:?}", held.len(), taken(server.id()));
    let beyond = Taken { threads: 0, files: 0, ..taken(server.id()) }.beyond(&before);
    assert!(beyond.is_empty(), "{beyond}");
    drop(held);
    settles(&server, &before);
    serves(&server, &ports, 2);
    let log = server.log();
    assert!(!log.contains("panicked"), "{log}");
    assert_eq!(server.terminate(), Some(0));
}

/// A writer that turns into nonsense in the middle of its block.
#[test]
fn nonsense_in_the_middle_of_a_block() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    server.wait_for_safe_mode();
    let ports = ports(&server);
    serves(&server, &ports, 0);
    let before = taken(server.id());
    let head =
        |payload: u32, header: u16, rest: &[u8]| [&payload.to_be_bytes()[..], &header.to_be_bytes(), rest].concat();
    for (i, packet) in [
        head(0x7fff_ffff, 25, &[]),
        head(u32::MAX, u16::MAX, &[]),
        head(3, 25, &[0; 100]),
        head(PACKET_LEN_MAX as u32, 25, &[0; 100]),
        head(100, 25, &[0xff; 200]),
        head(4, 0, &[]),
        vec![0x55; 100_000],
    ]
    .iter()
    .enumerate()
    {
        let client = server.client();
        let path = format!("/tmp/broken{i}");
        let mut stream = TcpStream::connect(ports[2].address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&write_op(&client, &path)).unwrap();
        let mut answer = [0; 1];
        stream.read_exact(&mut answer).unwrap();
        let mut rest = vec![0; usize::from(answer[0])];
        stream.read_exact(&mut rest).unwrap();
        stream.write_all(packet).unwrap();
        let _ = stream.shutdown(Shutdown::Write);
        read_to_close(&mut stream, &path);
    }
    settles(&server, &before);
    serves(&server, &ports, 1);
    assert!(!server.log().contains("panicked"), "{}", server.log());
    assert_eq!(server.terminate(), Some(0));
}

/// Makes a file with a block, and the operation that opens its pipeline.
fn write_op(client: &DfsClient, path: &str) -> Vec<u8> {
    let namenode = &client.namenodes().all()[0];
    let name = "DFSClient_hostile".to_owned();
    let create = proto::CreateRequestProto {
        src: path.to_owned(),
        masked: proto::FsPermissionProto { perm: 0o644 },
        client_name: name.clone(),
        create_flag: 1,
        create_parent: true,
        replication: 1,
        block_size: 1 << 20,
        ..Default::default()
    };
    let created: proto::CreateResponseProto = namenode.call("create", &create).unwrap();
    let add = proto::AddBlockRequestProto {
        src: path.to_owned(),
        client_name: name.clone(),
        file_id: created.fs.unwrap().file_id,
        ..Default::default()
    };
    let added: proto::AddBlockResponseProto = namenode.call("addBlock", &add).unwrap();
    let block = added.block.b;
    let op = proto::OpWriteBlockProto {
        header: proto::ClientOperationHeaderProto {
            base_header: proto::BaseHeaderProto { block: block.clone(), ..Default::default() },
            client_name: name,
        },
        stage: Stage::PipelineSetupCreate as i32,
        pipeline_size: 1,
        latest_generation_stamp: block.generation_stamp,
        requested_checksum: DataChecksum::default().to_proto(),
        ..Default::default()
    };
    let mut bytes = Vec::new();
    put_op(&mut bytes, Op::WriteBlock, &op);
    bytes
}
