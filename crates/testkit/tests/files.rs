//! The plain web door `/fs`: types, tags, conditions, ranges, directories, and what is refused.

use crate::webhdfs::{Answer, send};
use crate::{content, same, small_blocks, write};
use std::collections::HashSet;
use std::io::{Read, Write};
use surus_client::{CreateOptions, DfsClient};
use surus_testkit::Cluster;
use surus_types::FsPermission;

fn started() -> Cluster {
    let cluster = Cluster::with_datanodes(1).start();
    cluster.serve_data_of(0);
    cluster
}

fn ask(cluster: &Cluster, method: &str, target: &str, headers: &str) -> Answer {
    send(&cluster.namenode().http_address().to_string(), method, target, headers, b"")
}

fn get(cluster: &Cluster, target: &str, headers: &str) -> Answer {
    ask(cluster, "GET", target, headers)
}

fn etag(cluster: &Cluster, target: &str) -> String {
    get(cluster, target, "").header("ETag").unwrap_or_default().to_owned()
}

/// The head of an answer without what differs from run to run.
fn head(answer: &Answer) -> String {
    let mut lines: Vec<&str> = answer.head.lines().filter(|l| !l.is_empty()).collect();
    lines.retain(|l| !["date:", "etag:", "last-modified:", "expires:", "connection:"].iter().any(|h| l.starts_with(h)));
    lines.join("|")
}

#[test]
fn a_file_as_web_servers_send_it() {
    let cluster = started();
    let data = content(7, 200_000);
    write(&cluster.client(), "/d/a b.txt", &data, &small_blocks());
    let whole = get(&cluster, "/fs/d/a%20b.txt", "");
    same(&whole.body, &data);
    assert_eq!(
        head(&whole),
        "HTTP/1.1 200 OK|content-type: text/plain|accept-ranges: bytes|cache-control: no-cache|\
         x-content-type-options: nosniff|content-length: 200000"
    );
    let status = cluster.client().get_file_info("/d/a b.txt").unwrap().unwrap();
    let modified = whole.header("Last-Modified").unwrap().to_owned();
    assert!(modified.ends_with(" GMT") && status.modification_time_ms > 0, "{modified}");
    let headed = ask(&cluster, "HEAD", "/fs/d/a%20b.txt", "Range: bytes=0-9\r\n");
    assert_eq!((head(&headed), headed.body.len()), (head(&whole), 0));
    let part = get(&cluster, "/fs/d/a%20b.txt", "Range: bytes=65530-65550\r\n");
    assert_eq!((part.status, part.header("Content-Range")), (206, Some("bytes 65530-65550/200000")));
    same(&part.body, &data[65_530..=65_550]);
    let end = get(&cluster, "/fs/d/a%20b.txt", "Range: bytes=-5\r\n");
    assert_eq!((end.status, &end.body[..]), (206, &data[199_995..]));
    let beyond = get(&cluster, "/fs/d/a%20b.txt", "Range: bytes=200000-\r\n");
    assert_eq!((beyond.status, beyond.header("Content-Range")), (416, Some("bytes */200000")));
    let tag = whole.header("ETag").unwrap();
    let known = get(&cluster, "/fs/d/a%20b.txt", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((known.status, known.body.len(), known.header("ETag")), (304, 0, Some(tag)));
    assert_eq!(get(&cluster, "/fs/d/a%20b.txt", &format!("If-Modified-Since: {modified}\r\n")).status, 304);
    assert_eq!(get(&cluster, "/fs/d/a%20b.txt", "If-Match: \"x\"\r\n").status, 412);
    let resumed = get(&cluster, "/fs/d/a%20b.txt", &format!("Range: bytes=9-\r\nIf-Range: {tag}\r\n"));
    assert_eq!((resumed.status, resumed.body.len()), (206, 199_991));
    let saved = get(&cluster, "/fs/d/a%20b.txt?filename=", "");
    assert_eq!(
        saved.header("Content-Disposition").unwrap(),
        "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"
    );
    write(&cluster.client(), "/d/p.html", b"<script>", &small_blocks());
    let page = get(&cluster, "/fs/d/p.html", "");
    assert_eq!(page.header("Content-Security-Policy"), Some("sandbox"));
    write(&cluster.client(), "/d/empty", b"", &small_blocks());
    let empty = get(&cluster, "/fs/d/empty", "");
    assert_eq!((empty.status, empty.header("Content-Length")), (200, Some("0")));
}

#[test]
fn several_ranges_come_in_parts() {
    let cluster = started();
    let data = content(9, 700_000);
    write(&cluster.client(), "/m.bin", &data, &small_blocks());
    let answer = get(&cluster, "/fs/m.bin", "Range: bytes=0-9,100000-499999,-1\r\n");
    assert_eq!(answer.status, 206);
    let boundary = answer.header("Content-Type").unwrap().strip_prefix("multipart/byteranges; boundary=").unwrap();
    let mut want = Vec::new();
    for (first, last) in [(0, 9), (100_000, 499_999), (699_999, 699_999)] {
        let kind = "Content-Type: application/octet-stream";
        write!(want, "\r\n--{boundary}\r\n{kind}\r\nContent-Range: bytes {first}-{last}/700000\r\n\r\n").unwrap();
        want.extend_from_slice(&data[first..=last]);
    }
    write!(want, "\r\n--{boundary}--\r\n").unwrap();
    assert_eq!(answer.header("Content-Length"), Some(want.len().to_string().as_str()));
    same(&answer.body, &want);
}

#[test]
fn every_change_of_content_changes_the_tag() {
    let cluster = started();
    let client = cluster.client();
    let options = CreateOptions { overwrite: true, ..small_blocks() };
    write(&client, "/t", &content(1, 65_536), &options);
    let mut tags = vec![etag(&cluster, "/fs/t")];
    assert_eq!(etag(&cluster, "/fs/t"), tags[0], "nothing changed");
    let append = |client: &DfsClient, bytes: &[u8]| {
        let mut writer = client.append("/t", false).unwrap();
        writer.write_all(bytes).unwrap();
        writer.close().unwrap();
    };
    // Between blocks, which needs no recovery.
    let truncate = |length: u64| assert!(client.truncate("/t", length).unwrap());
    append(&client, b"x");
    tags.push(etag(&cluster, "/fs/t"));
    truncate(65_536);
    tags.push(etag(&cluster, "/fs/t"));
    append(&client, b"y");
    tags.push(etag(&cluster, "/fs/t"));
    truncate(0);
    tags.push(etag(&cluster, "/fs/t"));
    write(&client, "/t", &content(1, 100), &options);
    tags.push(etag(&cluster, "/fs/t"));
    write(&client, "/u", &content(1, 100), &options);
    client.rename2("/u", "/t", true, false).unwrap();
    tags.push(etag(&cluster, "/fs/t"));
    let distinct: HashSet<_> = tags.iter().collect();
    assert!(distinct.len() == tags.len() && tags.iter().all(|t| t.starts_with('"') && t.ends_with('"')), "{tags:?}");
}

#[test]
fn directories_as_page_and_as_json() {
    let cluster = started();
    for name in ["b&<i>.txt", "c d", "e\"f"] {
        write(&cluster.client(), &format!("/d/{name}"), b"12345", &small_blocks());
    }
    cluster.client().mkdirs("/d/sub", FsPermission(0o755), true).unwrap();
    let page = get(&cluster, "/fs/d/?user.name=al", "Accept: text/html,*/*;q=0.8\r\n");
    let shown = (page.status, page.header("Content-Type"), page.header("Content-Security-Policy"));
    assert_eq!(shown, (200, Some("text/html; charset=utf-8"), Some("default-src 'none'")));
    let links: Vec<String> =
        page.text().split("<a href=").skip(1).map(|l| l.split("</a>").next().unwrap().to_owned()).collect();
    let want = [
        "\"/fs/?user.name=al\">..",
        "\"/fs/d/b%26%3Ci%3E.txt?user.name=al\">b&amp;&lt;i&gt;.txt",
        "\"/fs/d/c%20d?user.name=al\">c d",
        "\"/fs/d/e%22f?user.name=al\">e&quot;f",
        "\"/fs/d/sub/?user.name=al\">sub/",
    ];
    assert_eq!(links, want);
    assert_eq!(get(&cluster, "/fs/d/b%26%3Ci%3E.txt?user.name=al", "").text(), "12345");
    let json = get(&cluster, "/fs/d", "");
    let listed = get(&cluster, "/webhdfs/v1/d?op=LISTSTATUS", "");
    assert_eq!((json.status, json.header("Content-Type")), (200, Some("application/json")));
    assert_eq!(json.text(), listed.text());
}

#[test]
fn what_is_refused() {
    let cluster = started();
    write(&cluster.client(), "/mine", b"secret", &small_blocks());
    cluster.client().set_permission("/mine", FsPermission(0o600)).unwrap();
    cluster.client().mkdirs("/closed", FsPermission(0o700), true).unwrap();
    let mut shown = String::new();
    for request in [
        "GET /fs/mine",
        "GET /fs/mine?user.name=bob",
        "HEAD /fs/mine",
        "GET /fs/closed",
        "GET /fs/none",
        "GET /fs/mine/below",
        "GET /fs/../jmx",
        "GET /fs/%2e%2e/jmx",
        "GET /fs/a/..%2f..%2fjmx",
        "GET /fs/.%2e/jmx",
        "GET /fs/%252e%252e/jmx",
        "GET /fs/%c0%ae%c0%ae/jmx",
        "GET /fs/a%00",
        "GET /fs/x:y",
        "GET /fs%2f..%2fjmx",
        "GET /fs/.reserved/raw/mine",
        "GET /fs/mine?user.name=a/b",
        "GET /fs/mine?doas=root&user.name=bob",
        "POST /fs/mine",
    ] {
        let (method, target) = request.split_once(' ').unwrap();
        let answer = ask(&cluster, method, target, "");
        assert!(!answer.text().contains("secret"), "{request}");
        shown.push_str(&format!("{request} {}\n", answer.status));
    }
    let want = "\
GET /fs/mine 403
GET /fs/mine?user.name=bob 403
HEAD /fs/mine 403
GET /fs/closed 403
GET /fs/none 404
GET /fs/mine/below 403
GET /fs/../jmx 400
GET /fs/%2e%2e/jmx 400
GET /fs/a/..%2f..%2fjmx 400
GET /fs/.%2e/jmx 400
GET /fs/%252e%252e/jmx 404
GET /fs/%c0%ae%c0%ae/jmx 400
GET /fs/a%00 400
GET /fs/x:y 404
GET /fs%2f..%2fjmx 404
GET /fs/.reserved/raw/mine 403
GET /fs/mine?user.name=a/b 400
GET /fs/mine?doas=root&user.name=bob 403
POST /fs/mine 405
";
    assert_eq!(shown, want);
}

#[test]
fn open_files_and_files_elsewhere() {
    let mut cluster = started();
    let mut writer = cluster.client().create("/open.log", &small_blocks()).unwrap();
    let data = content(5, 70_000);
    writer.write_all(&data).unwrap();
    writer.hflush().unwrap();
    let answer = get(&cluster, "/fs/open.log", "Range: bytes=0-9\r\n");
    let shown = (answer.status, answer.header("ETag"), answer.header("Accept-Ranges"), answer.header("Content-Type"));
    assert_eq!(shown, (200, None, Some("none"), Some("text/plain")), "{}", answer.head);
    same(&answer.body, &data);
    writer.close().unwrap();
    cluster.add_datanode();
    cluster.wait_for_datanodes(2);
    cluster.serve_data_of(1);
    let answer = get(&cluster, "/fs/open.log", "");
    assert_eq!(answer.status, 307);
    let (host, path) = answer.location();
    same(&send(&host, "GET", &path, "", b"").body, &data);
}

#[test]
fn requests_follow_each_other_on_one_connection() {
    let cluster = started();
    write(&cluster.client(), "/k", b"abc", &small_blocks());
    let address = cluster.namenode().http_address();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let one = format!("GET /fs/k HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let last = format!("GET /fs/k HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all([one.as_str(), &one, &last].concat().as_bytes()).unwrap();
    let mut received = String::new();
    stream.read_to_string(&mut received).unwrap();
    assert_eq!(
        (received.matches("HTTP/1.1 200 OK").count(), received.matches("\r\n\r\nabc").count()),
        (3, 3),
        "{received}"
    );
}

#[test]
fn files_are_put_and_deleted() {
    let cluster = started();
    let user = surus_client::login_name();
    let address = cluster.namenode().http_address().to_string();
    let put = |path: &str, headers: &str, body: &[u8]| {
        let headers = format!("Content-Length: {}\r\n{headers}", body.len());
        send(&address, "PUT", &format!("{path}?user.name={user}"), &headers, body)
    };
    let delete =
        |target: &str, headers: &str| ask(&cluster, "DELETE", &format!("{target}user.name={user}"), headers).status;
    let data = content(3, 300_000);
    let stored = put("/fs/p/new%20dir/a", "Expect: 100-continue\r\n", &data);
    let tag = etag(&cluster, "/fs/p/new%20dir/a");
    assert_eq!(
        (stored.status, stored.header("ETag"), stored.body.len()),
        (201, Some(tag.as_str()), 0),
        "{}",
        stored.text()
    );
    same(&get(&cluster, "/fs/p/new%20dir/a", "").body, &data);
    assert_eq!(put("/fs/p/new%20dir/a", "If-None-Match: *\r\n", b"x").status, 412);
    assert_eq!(put("/fs/p/new%20dir/a", "If-Match: \"0\"\r\n", b"x").status, 412);
    assert_eq!(put("/fs/p/none", "If-Match: *\r\n", b"x").status, 412);
    let replaced = put("/fs/p/new%20dir/a", &format!("If-Match: {tag}\r\n"), b"second");
    assert_eq!(replaced.status, 204, "{}", replaced.text());
    assert_ne!(replaced.header("ETag"), Some(tag.as_str()));
    assert_eq!(get(&cluster, "/fs/p/new%20dir/a", "").text(), "second");
    assert_eq!(put("/fs/p/b", "If-None-Match: *\r\n", b"").status, 201);
    assert_eq!(put("/fs/p", "", b"x").status, 409);
    assert_eq!(put("/fs/p/../x", "", b"x").status, 400);
    assert_eq!(put("/fs/p/b", "Content-Range: bytes 0-0/5\r\n", b"x").status, 400);
    let chunked = "Transfer-Encoding: chunked\r\n";
    let answer = send(&address, "PUT", &format!("/fs/p/c?user.name={user}"), chunked, b"5\r\nhello\r\n0\r\n\r\n");
    assert_eq!((answer.status, get(&cluster, "/fs/p/c", "").text().as_str()), (201, "hello"));
    let denied = send(&address, "PUT", "/fs/p/d", "Content-Length: 1\r\n", b"x");
    assert_eq!(denied.status, 403, "{}", denied.text());
    assert!(denied.text().starts_with("Permission denied: user=dr.who"), "{}", denied.text());
    assert_eq!(ask(&cluster, "DELETE", "/fs/p/c", "").status, 403);
    assert_eq!(delete("/fs/p/c?", "If-Match: \"0\"\r\n"), 412);
    assert_eq!(delete("/fs/p/c?", ""), 204);
    assert_eq!(delete("/fs/p/c?", ""), 404);
    assert_eq!(delete("/fs/p?", ""), 409);
    assert_eq!(delete("/fs/p?recursive=true&", ""), 204);
    assert_eq!(get(&cluster, "/fs/p", "").status, 404);
}

#[test]
fn signed_links() {
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("secret");
    std::fs::write(&secret, "0123456789abcdef\n").unwrap();
    let cluster = Cluster::with_datanodes(1).set("surus.link.secret.file", &secret.display().to_string()).start();
    cluster.serve_data_of(0);
    write(&cluster.client(), "/s e", b"secret", &small_blocks());
    cluster.client().set_permission("/s e", FsPermission(0o600)).unwrap();
    let sign = |method: &str, expires_s: i64| {
        surus_webhdfs::web::sign(b"0123456789abcdef", method, "/s e", expires_s, &surus_client::login_name())
    };
    let link = sign("GET", 4_000_000_000);
    assert_eq!(get(&cluster, &link, "").text(), "secret");
    assert_eq!(get(&cluster, &link.replace("=4", "=5"), "").status, 403);
    assert_eq!(get(&cluster, &sign("GET", 1_000_000_000), "").text(), "The link has expired.\n");
    assert_eq!(ask(&cluster, "DELETE", &link, "").text(), "The link's signature is not right.\n");
    assert_eq!(ask(&cluster, "DELETE", &sign("DELETE", 4_000_000_000), "").status, 204);
}
