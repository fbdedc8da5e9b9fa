//! Hostile and slow peers cost only themselves.

use crate::rpc::{Lengths, PROTOCOL, client, serve};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use surus_net::rpc::{NullService, RpcLimits};
use surus_proto::hadoop::hdfs::GetFileInfoRequestProto;
use surus_wire::rpc::client::{RequestIds, put_call, put_context, put_preamble};

fn greeting() -> Vec<u8> {
    let mut bytes = Vec::new();
    put_preamble(&mut bytes, false);
    put_context(&mut bytes, &[7; 16], "alice", None, PROTOCOL);
    bytes
}

fn call(bytes: &mut Vec<u8>, call_id: i32, method: &str, src: &str) {
    let ids = RequestIds { call_id, client_id: [7; 16], retry_count: 0 };
    put_call(bytes, &ids, "", PROTOCOL, method, &GetFileInfoRequestProto { src: src.to_owned() });
}

/// Reads until the peer closes; what came.
fn read_to_close(stream: &mut TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(e) => assert_eq!(e.kind(), ErrorKind::ConnectionReset, "{e}"),
    }
    bytes
}

#[test]
fn a_browser_gets_its_answer() {
    let (_runtime, server) = serve(Arc::new(NullService), RpcLimits::default());
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(read_to_close(&mut stream).starts_with(b"HTTP/1.1 404 Not Found\r\n"));
}

#[test]
fn frames_beyond_the_limit_are_not_read() {
    let (_runtime, server) = serve(Arc::new(NullService), RpcLimits::default());
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    let mut bytes = greeting();
    bytes.extend_from_slice(&u32::MAX.to_be_bytes());
    stream.write_all(&bytes).unwrap();
    assert_eq!(read_to_close(&mut stream), b"");
}

#[test]
fn connections_beyond_the_limit_are_closed() {
    let (_runtime, server) = serve(Arc::new(NullService), RpcLimits { connections_max: 2, ..RpcLimits::default() });
    let _first = TcpStream::connect(server.local_addr()).unwrap();
    let _second = TcpStream::connect(server.local_addr()).unwrap();
    while server.connections() < 2 {
        std::thread::yield_now();
    }
    let mut third = TcpStream::connect(server.local_addr()).unwrap();
    assert_eq!(read_to_close(&mut third), b"");
}

#[test]
fn a_silent_peer_is_closed_after_its_time() {
    let limits = RpcLimits {
        handshake_timeout: Duration::from_millis(50),
        idle_timeout: Duration::from_millis(100),
        idle_threshold: 0,
        ..RpcLimits::default()
    };
    let (_runtime, server) = serve(Arc::new(NullService), limits);
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    assert_eq!(read_to_close(&mut stream), b"");
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    stream.write_all(&greeting()).unwrap();
    assert_eq!(read_to_close(&mut stream), b"");
    while server.connections() > 0 {
        std::thread::yield_now();
    }
}

/// A client that sends and never reads is read from no more once its answers fill the limit; others go on.
#[test]
fn a_client_that_does_not_read_is_not_served_on() {
    let service = Arc::new(Lengths::default());
    let (_runtime, server) = serve(service.clone(), RpcLimits { unsent_bytes_max: 1 << 20, ..RpcLimits::default() });
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    let mut bytes = greeting();
    for call_id in 0..2000 {
        call(&mut bytes, call_id, "large", &"x".repeat(100));
    }
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let _ = stream.write_all(&bytes);
    std::thread::sleep(Duration::from_millis(300));
    // 200 MB of answers were asked for; only what the limit, one batch and the socket buffers hold was made.
    let served = service.calls.load(Ordering::Relaxed);
    assert!(served < 1500, "{served}");
    let other = client(&server, "bob");
    let answer: Result<(), _> = other.call("now", &GetFileInfoRequestProto { src: "/".to_owned() });
    assert!(answer.is_ok());
    // Once it reads, everything arrives.
    let mut left = 2000usize;
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    while left > 0 {
        let mut prefix = [0; 4];
        stream.read_exact(&mut prefix).unwrap();
        let mut frame = vec![0; u32::from_be_bytes(prefix) as usize];
        stream.read_exact(&mut frame).unwrap();
        left -= 1;
    }
}

#[test]
fn held_calls_are_limited() {
    let service = Arc::new(Lengths::default());
    let (_runtime, server) = serve(service.clone(), RpcLimits { held_calls_max: 10, ..RpcLimits::default() });
    let mut stream = TcpStream::connect(server.local_addr()).unwrap();
    let mut bytes = greeting();
    for call_id in 0..10 {
        call(&mut bytes, call_id, "hold", "/");
    }
    stream.write_all(&bytes).unwrap();
    while service.calls.load(Ordering::Relaxed) < 10 {
        std::thread::yield_now();
    }
    let mut more = Vec::new();
    call(&mut more, 10, "now", "/");
    stream.write_all(&more).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(service.calls.load(Ordering::Relaxed), 10);
    service.answer_held();
    while service.calls.load(Ordering::Relaxed) < 11 {
        std::thread::yield_now();
    }
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut answers = vec![0; 11 * 34];
    stream.read_exact(&mut answers).unwrap();
}

#[test]
fn random_bytes_never_stop_the_server() {
    let (_runtime, server) = serve(Arc::new(Lengths::default()), RpcLimits::default());
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    for round in 0..100usize {
        let mut bytes = if round % 2 == 0 { greeting() } else { Vec::new() };
        for _ in 0..(round * 13 % 200) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            bytes.push(seed as u8);
        }
        let mut stream = TcpStream::connect(server.local_addr()).unwrap();
        let _ = stream.write_all(&bytes);
    }
    let client = client(&server, "alice");
    let answer: Result<(), _> = client.call("now", &GetFileInfoRequestProto { src: "/".to_owned() });
    assert!(answer.is_ok());
}
