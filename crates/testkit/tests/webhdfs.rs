//! WebHDFS over real sockets: two-step writes, chunked bodies, `Expect: 100-continue`, HEAD, odd names, errors.

use crate::{content, read, same};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use surus_testkit::Cluster;

/// An answer: status, head as text, body.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
    /// The `Location` as (host:port, path with query).
    pub fn location(&self) -> (String, String) {
        let url = self.header("Location").unwrap_or_else(|| panic!("{} {}", self.status, self.text()));
        let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        (host.to_string(), format!("/{path}"))
    }
}

/// Sends one request and reads the answer to the end of the connection.
pub fn send(host: &str, method: &str, target: &str, headers: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n").unwrap();
    let mut received = Vec::new();
    if headers.contains("100-continue") {
        let mut interim = [0; 25];
        stream.read_exact(&mut interim).unwrap();
        assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    }
    stream.write_all(body).unwrap();
    stream.read_to_end(&mut received).unwrap();
    let mut start = 0;
    loop {
        let end = start + received[start..].windows(4).position(|w| w == b"\r\n\r\n").expect("a head") + 4;
        let head = String::from_utf8(received[start..end].to_vec()).unwrap();
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        if status == 100 {
            start = end;
            continue;
        }
        return Answer { status, head, body: received[end..].to_vec() };
    }
}

pub fn web(cluster: &Cluster, method: &str, target: &str) -> Answer {
    let headers = if method == "GET" || method == "HEAD" { "" } else { "Content-Length: 0\r\n" };
    send(&cluster.namenode().http_address().to_string(), method, &format!("/webhdfs/v1{target}"), headers, b"")
}

fn put(cluster: &Cluster, method: &str, target: &str, headers: &str, body: &[u8]) -> Answer {
    let first = web(cluster, method, target);
    assert_eq!(first.status, 307, "{}", first.text());
    let (host, path) = first.location();
    send(&host, method, &path, headers, body)
}

pub fn length(body: &[u8]) -> String {
    format!("Content-Length: {}\r\n", body.len())
}

#[test]
fn write_append_and_read() {
    let cluster = Cluster::with_datanodes(1).start();
    let user = "user.name=root";
    let data = content(11, 300_000);
    let created = put(&cluster, "PUT", &format!("/w/f?op=CREATE&blocksize=65536&{user}"), &length(&data), &data);
    assert_eq!((created.status, created.body.len()), (201, 0), "{}", created.text());
    assert!(created.header("Location").unwrap().ends_with("/w/f"), "{}", created.head);
    same(&read(&cluster.client(), "/w/f"), &data);
    let more = content(12, 70_000);
    let appended = put(&cluster, "POST", &format!("/w/f?op=APPEND&{user}"), &length(&more), &more);
    assert_eq!(appended.status, 200, "{}", appended.text());
    let whole = [&data[..], &more].concat();
    same(&read(&cluster.client(), "/w/f"), &whole);
    for (query, want) in [
        ("", &whole[..]),
        ("&offset=65530&length=20", &whole[65_530..65_550]),
        ("&Offset=369990&LENGTH=100", &whole[369_990..]),
    ] {
        let answer = web(&cluster, "GET", &format!("/w/f?op=OPEN&{user}{query}"));
        let (host, path) = answer.location();
        let answer = send(&host, "GET", &path, "", b"");
        assert_eq!((answer.status, answer.header("Content-Length")), (200, Some(want.len().to_string().as_str())));
        assert!(answer.body == want, "{query}");
    }
    let exists = put(&cluster, "PUT", &format!("/w/f?op=CREATE&{user}"), &length(b"x"), b"x");
    assert_eq!(exists.status, 403);
    assert!(
        exists.text().starts_with("{\"RemoteException\":{\"exception\":\"FileAlreadyExistsException\""),
        "{}",
        exists.text()
    );
}

#[test]
fn chunked_bodies_and_expect_continue() {
    let cluster = Cluster::with_datanodes(1).start();
    let chunked = "Transfer-Encoding: chunked\r\n";
    let body = b"5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\n\r\n";
    let answer = put(&cluster, "PUT", "/c?op=CREATE&user.name=root", chunked, body);
    assert_eq!(answer.status, 201, "{}", answer.text());
    same(&read(&cluster.client(), "/c"), b"hello, world");
    let expect = "Content-Length: 5\r\nExpect: 100-continue\r\n";
    let answer = put(&cluster, "PUT", "/e?op=CREATE&user.name=root", expect, b"hello");
    assert_eq!(answer.status, 201, "{}", answer.text());
    same(&read(&cluster.client(), "/e"), b"hello");
}

#[test]
fn odd_names_survive_the_redirect() {
    let cluster = Cluster::with_datanodes(1).start();
    for (encoded, name) in [
        ("a%20b", "a b"),
        ("p%25q", "p%q"),
        ("x+y", "x+y"),
        ("k=v", "k=v"),
        ("s;t", "s;t"),
        ("%E4%BD%A0", "你"),
        ("h%23", "h#"),
    ] {
        let answer = put(
            &cluster,
            "PUT",
            &format!("/odd/{encoded}?op=CREATE&user.name=root"),
            &length(name.as_bytes()),
            name.as_bytes(),
        );
        assert_eq!(answer.status, 201, "{name}: {}", answer.text());
        same(&read(&cluster.client(), &format!("/odd/{name}")), name.as_bytes());
    }
    let listing = web(&cluster, "GET", "/odd?op=LISTSTATUS&user.name=root");
    assert_eq!(listing.header("Content-Type"), Some("application/json"));
    assert_eq!(listing.text().matches("\"pathSuffix\"").count(), 7);
}

#[test]
fn head_has_no_body_and_errors_have_hadoops() {
    let cluster = Cluster::with_datanodes(1).start();
    let answer = web(&cluster, "HEAD", "/?op=GETFILESTATUS&user.name=root");
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    let answer = web(&cluster, "GET", "/none?op=GETFILESTATUS&user.name=root");
    let want = "{\"RemoteException\":{\"exception\":\"FileNotFoundException\",\"javaClassName\":\"java.io.FileNotFoundException\",\
        \"message\":\"File does not exist: /none\"}}";
    assert_eq!((answer.status, answer.text().as_str()), (404, want));
    let answer = web(&cluster, "PUT", "/x?op=NOSUCH");
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("NOSUCH is not a valid PUT operation."), "{}", answer.text());
    let answer = web(&cluster, "PUT", "/x?op=MKDIRS");
    assert_eq!(answer.status, 403, "dr.who may not write at the root");
    let jmx = send(
        &cluster.namenode().http_address().to_string(),
        "GET",
        "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState",
        "",
        b"",
    );
    assert!(jmx.text().contains("\"NumLiveDataNodes\" : 1"), "{}", jmx.text());
}
