//! The HTTP server: whole and streamed bodies, keep-alive, 100-continue, a body read by a blocking thread.

use crate::rpc::Runtime;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use surus_net::http::{
    BodyReader, Bytes, HttpBody, HttpFuture, HttpLimits, HttpServer, HttpService, Incoming, Request, Response,
};

/// `/hello` answers at once, `/stream` in pieces, PUT `/count` with the length of the body.
struct Site;

impl HttpService for Site {
    fn call(self: Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> HttpFuture {
        assert!(peer.ip().is_loopback());
        Box::pin(async move {
            match request.uri().path() {
                "/hello" => Response::new("hello".into()),
                "/stream" => {
                    let (sender, body) = HttpBody::stream(2, Some(3_000_000));
                    tokio::task::spawn_blocking(move || {
                        for _ in 0..3 {
                            sender.send_blocking(Bytes::from(vec![b'x'; 1_000_000])).unwrap();
                        }
                    });
                    Response::new(body)
                }
                "/short" => {
                    let (sender, body) = HttpBody::stream(2, Some(100));
                    sender.send(Bytes::from_static(b"only this")).await.unwrap();
                    sender.fail(std::io::Error::other("the disk broke"));
                    Response::new(body)
                }
                "/count" => {
                    let runtime = tokio::runtime::Handle::current();
                    let mut reader = BodyReader::new(request.into_body(), runtime);
                    let count = tokio::task::spawn_blocking(move || std::io::copy(&mut reader, &mut std::io::sink()));
                    Response::new(count.await.unwrap().unwrap().to_string().into())
                }
                _ => Response::builder().status(404).body(HttpBody::empty()).unwrap(),
            }
        })
    }
}

fn serve(limits: HttpLimits) -> (Runtime, HttpServer) {
    let runtime = Runtime::new();
    let server = HttpServer::bind("127.0.0.1:0", Arc::new(Site), limits, runtime.handle()).unwrap();
    (runtime, server)
}

fn connect(server: &HttpServer) -> TcpStream {
    let stream = TcpStream::connect(server.local_addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

/// Reads head and body by Content-Length.
fn read_answer(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length =
        head.split("content-length: ").nth(1).map_or(0, |rest| rest.split('\r').next().unwrap().parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

#[test]
fn keep_alive_and_streams() {
    let (_runtime, server) = serve(HttpLimits::default());
    let mut stream = connect(&server);
    stream.write_all(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /stream HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert_eq!(read_answer(&mut stream).1, b"hello");
    assert_eq!(read_answer(&mut stream).1.len(), 3_000_000);
    stream.write_all(b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert!(read_answer(&mut stream).0.starts_with("http/1.1 404"));
}

#[test]
fn uploads_with_100_continue() {
    let (_runtime, server) = serve(HttpLimits::default());
    let mut stream = connect(&server);
    stream
        .write_all(b"PUT /count HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n")
        .unwrap();
    assert!(read_answer(&mut stream).0.starts_with("http/1.1 100"));
    stream.write_all(&vec![b'y'; 2_000_000]).unwrap();
    assert_eq!(read_answer(&mut stream).1, b"2000000");
    stream
        .write_all(b"PUT /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        .unwrap();
    assert_eq!(read_answer(&mut stream).1, b"3");
}

#[test]
fn a_failed_body_is_no_short_body() {
    let (_runtime, server) = serve(HttpLimits::default());
    let mut stream = connect(&server);
    stream.write_all(b"GET /short HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    // Whether the head still left or not: never all of what it promises.
    let body = bytes.windows(4).position(|w| w == b"\r\n\r\n").map_or(0, |head| bytes.len() - head - 4);
    assert!(body < 100, "{body}");
}

#[test]
fn slow_heads_are_closed() {
    let (_runtime, server) = serve(HttpLimits { header_timeout: Duration::from_millis(100), ..HttpLimits::default() });
    let mut stream = connect(&server);
    stream.write_all(b"GET /hello HT").unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    assert!(!String::from_utf8_lossy(&bytes).contains("hello"));
}
