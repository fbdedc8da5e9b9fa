//! WebHDFS without a redirect, through a DataNode in the NameNode's process: `onehop=true`, the key, and where 307 stays.

use crate::webhdfs::{Answer, length, send, web};
use crate::{content, read, same, small_blocks, write};
use surus_testkit::Cluster;
use surus_types::FsPermission;

/// One request to the NameNode that may carry a body.
fn direct(cluster: &Cluster, method: &str, target: &str, headers: &str, body: &[u8]) -> Answer {
    let target = format!("/webhdfs/v1{target}");
    send(&cluster.namenode().http_address().to_string(), method, &target, headers, body)
}

#[test]
fn written_appended_and_read_at_once() {
    let cluster = Cluster::with_datanodes(1).start();
    cluster.serve_data_of(0);
    let data = content(3, 400_000);
    let target = "/w/a%20f?op=CREATE&blocksize=65536&user.name=root&onehop=true";
    let expect = format!("{}Expect: 100-continue\r\n", length(&data));
    let created = direct(&cluster, "PUT", target, &expect, &data);
    assert_eq!(created.status, 201, "{}", created.text());
    assert!(created.header("Location").is_some_and(|l| l.starts_with("hdfs://127.0.0.1:")), "{}", created.head);
    same(&read(&cluster.client(), "/w/a f"), &data);
    let chunked = "Transfer-Encoding: chunked\r\n";
    let target = "/w/a%20f?op=APPEND&user.name=root&onehop=true";
    let appended = direct(&cluster, "POST", target, chunked, b"5\r\nhello\r\n0\r\n\r\n");
    assert_eq!((appended.status, appended.body.len()), (200, 0), "{}", appended.text());
    let whole = [&data[..], b"hello"].concat();
    for (query, want) in [
        ("", &whole[..]),
        ("&offset=65530&length=20", &whole[65_530..65_550]),
        ("&offset=400000", &whole[400_000..]),
        ("&length=0", &[]),
        ("&offset=100000&length=300000", &whole[100_000..400_000]),
    ] {
        let answer = web(&cluster, "GET", &format!("/w/a%20f?op=OPEN&onehop=true{query}"));
        let shown = (answer.status, answer.header("Content-Length"), answer.header("Content-Type"));
        assert_eq!(shown, (200, Some(want.len().to_string().as_str()), Some("application/octet-stream")), "{query}");
        same(&answer.body, want);
    }
    let empty = direct(&cluster, "PUT", "/w/e?op=CREATE&user.name=root&onehop=true", "Content-Length: 0\r\n", b"");
    assert_eq!(empty.status, 201, "{}", empty.text());
    let answer = web(&cluster, "GET", "/w/e?op=OPEN&onehop=true");
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    let checksum = web(&cluster, "GET", "/w/a%20f?op=GETFILECHECKSUM&onehop=true");
    assert!(checksum.text().starts_with("{\"FileChecksum\":{\"algorithm\":\"MD5-of-"), "{}", checksum.text());
}

#[test]
fn an_open_file_is_read_as_far_as_its_writer_flushed() {
    let cluster = Cluster::with_datanodes(1).start();
    cluster.serve_data_of(0);
    let mut writer = cluster.client().create("/open", &small_blocks()).unwrap();
    let data = content(5, 70_000);
    std::io::Write::write_all(&mut writer, &data).unwrap();
    writer.hflush().unwrap();
    let answer = web(&cluster, "GET", "/open?op=OPEN&onehop=true");
    assert_eq!(answer.status, 200, "{}", answer.text());
    same(&answer.body, &data);
    writer.close().unwrap();
}

#[test]
fn rights_and_errors_are_the_usual_ones() {
    let cluster = Cluster::with_datanodes(1).start();
    cluster.serve_data_of(0);
    write(&cluster.client(), "/mine", b"secret", &small_blocks());
    cluster.client().set_permission("/mine", FsPermission(0o600)).unwrap();
    let mut shown = String::new();
    for (method, target) in [
        ("GET", "/mine?op=OPEN&onehop=true"),
        ("GET", "/mine?op=OPEN&onehop=true&user.name=bob"),
        ("GET", "/none?op=OPEN&onehop=true"),
        ("GET", "/?op=OPEN&onehop=true"),
        ("GET", "/mine?op=OPEN&onehop=true&user.name=USER&offset=6"),
        ("GET", "/mine?op=OPEN&onehop=maybe"),
        ("PUT", "/mine?op=CREATE&onehop=true&user.name=USER"),
        ("PUT", "/new?op=CREATE&onehop=true"),
        ("POST", "/mine?op=APPEND&onehop=true"),
    ] {
        let own = target.replace("USER", &surus_client::login_name());
        let (headers, body) = if method == "GET" { ("", &b""[..]) } else { ("Content-Length: 1\r\n", &b"x"[..]) };
        let answer = direct(&cluster, method, &own, headers, body);
        let text = answer.text();
        let class = text.split("\"exception\":\"").nth(1).and_then(|t| t.split('"').next()).unwrap_or(&text);
        shown.push_str(&format!("{method} {target} {} {class}\n", answer.status));
    }
    let want = "\
GET /mine?op=OPEN&onehop=true 403 AccessControlException
GET /mine?op=OPEN&onehop=true&user.name=bob 403 AccessControlException
GET /none?op=OPEN&onehop=true 404 FileNotFoundException
GET /?op=OPEN&onehop=true 404 FileNotFoundException
GET /mine?op=OPEN&onehop=true&user.name=USER&offset=6 403 IOException
GET /mine?op=OPEN&onehop=maybe 400 IllegalArgumentException
PUT /mine?op=CREATE&onehop=true&user.name=USER 403 FileAlreadyExistsException
PUT /new?op=CREATE&onehop=true 403 AccessControlException
POST /mine?op=APPEND&onehop=true 403 AccessControlException
";
    assert_eq!(shown, want);
}

#[test]
fn where_a_redirect_stays() {
    let mut cluster = Cluster::with_datanodes(1).start();
    write(&cluster.client(), "/f", b"data", &small_blocks());
    let status = |cluster: &Cluster, target: &str| web(cluster, "GET", target).status;
    assert_eq!(status(&cluster, "/f?op=OPEN&onehop=true"), 307, "no DataNode in the process");
    cluster.serve_data_of(0);
    assert_eq!(status(&cluster, "/f?op=OPEN"), 307, "the client does not ask");
    assert_eq!(status(&cluster, "/f?op=OPEN&onehop=true"), 200);
    assert_eq!(status(&cluster, "/f?op=OPEN&onehop=true&excludedatanodes=h:1"), 307);
    // A replica that cannot be read is the DataNode's to find elsewhere.
    damage(&cluster.data_dir(0));
    assert_eq!(status(&cluster, "/f?op=OPEN&onehop=true"), 307);
    cluster.add_datanode();
    cluster.serve_data_of(1);
    cluster.wait_for_datanodes(2);
    assert_eq!(status(&cluster, "/f?op=OPEN&onehop=true"), 307, "the block is on the other one");
}

/// Changes the first byte of every block file.
fn damage(dir: &std::path::Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            damage(&path);
        } else if name.starts_with("blk_") && !name.ends_with(".meta") {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[0] ^= 1;
            std::fs::write(&path, bytes).unwrap();
        }
    }
}

#[test]
fn the_key_makes_it_the_default() {
    let cluster = Cluster::with_datanodes(1).set("surus.webhdfs.one-hop", "true").start();
    cluster.serve_data_of(0);
    let created = direct(&cluster, "PUT", "/k?op=CREATE&user.name=root", &length(b"data"), b"data");
    assert_eq!(created.status, 201, "{}", created.text());
    let opened = web(&cluster, "GET", "/k?op=OPEN");
    assert_eq!((opened.status, opened.text().as_str()), (200, "data"));
    // Hadoop's client sends its first request without a body.
    assert_eq!(web(&cluster, "PUT", "/k2?op=CREATE&user.name=root").status, 307);
    assert_eq!(web(&cluster, "GET", "/k?op=OPEN&onehop=false").status, 307);
    let located = web(&cluster, "GET", "/k?op=OPEN&noredirect=true");
    assert!(located.text().starts_with("{\"Location\":\"http://"), "{}", located.text());
}
