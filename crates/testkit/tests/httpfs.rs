//! The HttpFS gateway before a cluster, over real sockets: data both ways, listings, changes, who may act for whom, errors.
//! Texts and orders of keys are those of Hadoop 3.4.2's gateway.

use crate::webhdfs::{Answer, length, send};
use crate::{content, read, same};
use std::io::{Read, Write};
use std::net::TcpStream;
use surus_httpfs::HttpFs;
use surus_testkit::{Cluster, ClusterBuilder};

/// A cluster that lets the gateway's user act for everybody, and the gateway.
struct Gateway {
    cluster: Cluster,
    httpfs: HttpFs,
    user: String,
}

const UPLOAD: &str = "Content-Type: application/octet-stream\r\n";

impl Gateway {
    fn start() -> Gateway {
        Gateway::with(&[])
    }

    fn with(settings: &[(&str, &str)]) -> Gateway {
        let user = surus_client::login_name();
        let own = |what: &str| format!("hadoop.proxyuser.{user}.{what}");
        let set = |builder: ClusterBuilder, (key, value): &(&str, &str)| builder.set(key, value);
        let builder = Cluster::with_datanodes(1).set(&own("hosts"), "*").set(&own("groups"), "*");
        let cluster = settings.iter().fold(builder, set).start();
        let mut conf = cluster.conf().clone();
        conf.set("httpfs.http.hostname", "127.0.0.1");
        conf.set("httpfs.http.port", "0");
        let httpfs = HttpFs::start(&conf).unwrap();
        Gateway { cluster, httpfs, user }
    }

    fn host(&self) -> String {
        self.httpfs.http_address().to_string()
    }

    /// `target` without the user, who is the superuser.
    fn ask(&self, method: &str, target: &str) -> Answer {
        let separator = if target.contains('?') { "&" } else { "?" };
        self.plain(method, &format!("{target}{separator}user.name={}", self.user))
    }

    fn plain(&self, method: &str, target: &str) -> Answer {
        let headers = if method == "GET" || method == "HEAD" { "" } else { "Content-Length: 0\r\n" };
        send(&self.host(), method, &format!("/webhdfs/v1{target}"), headers, b"")
    }

    fn upload(&self, method: &str, target: &str, body: &[u8]) -> Answer {
        let target = format!("/webhdfs/v1{target}&data=true&user.name={}", self.user);
        send(&self.host(), method, &target, &format!("{UPLOAD}{}", length(body)), body)
    }

    #[track_caller]
    fn says(&self, method: &str, target: &str, want: &str) {
        let answer = self.ask(method, target);
        assert_eq!((answer.status, answer.text().as_str()), (200, want), "{method} {target}");
    }

    /// An error: its status, class and message.
    #[track_caller]
    fn fails(&self, method: &str, target: &str, status: u16, class: &str, message: &str) {
        let answer = self.ask(method, target);
        let simple = class.rsplit(['.', '$']).next().unwrap();
        let want = format!(
            "{{\"RemoteException\":{{\"message\":\"{}\",\"exception\":\"{simple}\",\"javaClassName\":\"{class}\"}}}}\n",
            message.replace('/', "\\/")
        );
        assert_eq!((answer.status, answer.text()), (status, want), "{method} {target}");
    }
}

#[test]
fn data_goes_through_the_gateway_in_both_directions() {
    let gateway = Gateway::start();
    let data = content(21, 700_000);
    let first = gateway.ask("PUT", "/w/f?op=CREATE&blocksize=65536");
    assert_eq!((first.status, first.body.len()), (307, 0), "{}", first.text());
    let (host, path) = first.location();
    assert_eq!(host, gateway.host(), "the gateway sends nobody to a DataNode");
    assert!(path.starts_with("/webhdfs/v1/w/f?op=CREATE&data=true&blocksize=65536"), "{path}");
    let refused = send(&host, "PUT", &path, &length(b"x"), b"x");
    assert_eq!(refused.status, 400, "without the content type of an upload");
    let created = send(&host, "PUT", &path, &format!("{UPLOAD}{}", length(&data)), &data);
    let url = format!("http://{host}/webhdfs/v1/w/f");
    assert_eq!((created.status, created.text()), (201, format!("{{\"Location\":\"{url}\"}}")));
    assert_eq!(created.header("Location"), Some(url.as_str()));
    same(&read(&gateway.cluster.client(), "/w/f"), &data);
    let more = content(22, 70_000);
    assert_eq!(gateway.upload("POST", "/w/f?op=APPEND", &more).status, 200);
    let whole = [&data[..], &more].concat();
    for (query, want) in
        [("", &whole[..]), ("&offset=65530&length=20", &whole[65_530..65_550]), ("&offset=400000", &whole[400_000..])]
    {
        let answer = gateway.ask("GET", &format!("/w/f?op=OPEN{query}"));
        assert_eq!(answer.header("Content-Type"), Some("application/octet-stream"));
        assert_eq!((answer.status, answer.header("Content-Length")), (200, Some(want.len().to_string().as_str())));
        same(&answer.body, want);
    }
    let message = "Premature EOF from inputStream after skipping 770000 byte(s).";
    gateway.fails("GET", "/w/f?op=OPEN&offset=770001", 500, "java.io.EOFException", message);
    // What is there is replaced unless the request says otherwise.
    assert_eq!(gateway.upload("PUT", "/w/f?op=CREATE", b"new").status, 201);
    let exists = gateway.upload("PUT", "/w/f?op=CREATE&overwrite=false", b"newer");
    assert_eq!(exists.status, 500);
    assert!(exists.text().contains("\"exception\":\"FileAlreadyExistsException\""), "{}", exists.text());
    same(&read(&gateway.cluster.client(), "/w/f"), b"new");
    let answer = gateway.ask("GET", "/w/f?op=OPEN&noredirect=true");
    assert!(answer.text().contains("/webhdfs/v1/w/f?op=OPEN&user.name="), "{}", answer.text());
}

#[test]
fn a_body_may_be_chunked_wait_and_break_off() {
    let gateway = Gateway::start();
    let target = format!("/webhdfs/v1/c?op=CREATE&data=true&user.name={}", gateway.user);
    let body = b"5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\n\r\n";
    let chunked = format!("{UPLOAD}Transfer-Encoding: chunked\r\n");
    assert_eq!(send(&gateway.host(), "PUT", &target, &chunked, body).status, 201);
    same(&read(&gateway.cluster.client(), "/c"), b"hello, world");
    let expect = format!("{UPLOAD}Content-Length: 5\r\nExpect: 100-continue\r\n");
    assert_eq!(send(&gateway.host(), "PUT", &target, &expect, b"again").status, 201);
    same(&read(&gateway.cluster.client(), "/c"), b"again");
    let mut stream = TcpStream::connect(gateway.host()).unwrap();
    write!(stream, "PUT {} HTTP/1.1\r\nHost: h\r\n{UPLOAD}Content-Length: 9\r\n\r\nhalf", target.replace("/c", "/h"))
        .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let _ = stream.read_to_end(&mut Vec::new());
    let client = gateway.cluster.client();
    gateway.cluster.wait("the half of a file to be closed", || client.is_file_closed("/h").is_ok_and(|closed| closed));
    same(&read(&client, "/h"), b"half");
}

#[test]
fn the_operations_of_the_namespace() {
    let gateway = Gateway::start();
    let yes = "{\"boolean\":true}\n";
    let no = "{\"boolean\":false}\n";
    gateway.says("PUT", "/d?op=MKDIRS&permission=1770", yes);
    gateway.says("PUT", "/d/b%20c?op=MKDIRS", yes);
    assert_eq!(gateway.upload("PUT", "/d/f?op=CREATE&permission=640", b"hello").status, 201);
    let status = gateway.ask("GET", "/d/f?op=GETFILESTATUS").text();
    let start = "{\"FileStatus\":{\"pathSuffix\":\"\",\"type\":\"FILE\",\"length\":5,\"owner\":\"";
    assert!(status.starts_with(start) && status.contains("\"permission\":\"640\",\"accessTime\":"), "{status}");
    assert!(status.ends_with(",\"storagePolicy\":0}}\n"), "{status}");
    let listing = gateway.ask("GET", "/d?op=LISTSTATUS").text();
    assert!(listing.starts_with("{\"FileStatuses\":{\"FileStatus\":[{\"pathSuffix\":\"b c\",\"type\":\"DIRECTORY\""));
    assert_eq!(listing.matches("\"pathSuffix\"").count(), 2);
    let filtered = gateway.ask("GET", "/d?op=LISTSTATUS&filter=f*").text();
    assert!(filtered.matches("\"pathSuffix\"").count() == 1 && filtered.contains("\"pathSuffix\":\"f\""), "{filtered}");
    let batch = gateway.ask("GET", "/d?op=LISTSTATUS_BATCH&startafter=b%20c").text();
    assert!(batch.ends_with("}]}},\"remainingEntries\":0}}\n") && batch.contains("\"pathSuffix\":\"f\""), "{batch}");
    let summary = "{\"ContentSummary\":{\"directoryCount\":2,\"ecPolicy\":\"\",\"fileCount\":1,\"length\":5,\"quota\":-1,\
        \"spaceConsumed\":5,\"spaceQuota\":-1,\"typeQuota\":{}}}\n";
    gateway.says("GET", "/d?op=GETCONTENTSUMMARY", summary);
    gateway.says("GET", "/?op=GETHOMEDIRECTORY", &format!("{{\"Path\":\"\\/user\\/{}\"}}\n", gateway.user));
    let checksum = gateway.ask("GET", "/d/f?op=GETFILECHECKSUM").text();
    assert!(
        checksum.starts_with("{\"FileChecksum\":{\"algorithm\":\"MD5-of-0MD5-of-512CRC32C\",\"bytes\":\"000002000000")
    );
    gateway.says("PUT", "/d/f?op=RENAME&destination=/d/g", yes);
    gateway.says("PUT", "/d/f?op=RENAME&destination=/d/h", no);
    gateway.says("PUT", "/d/g?op=SETREPLICATION&replication=2", yes);
    gateway.says("PUT", "/d/g?op=SETPERMISSION&permission=600", "");
    gateway.says("PUT", "/d/g?op=SETOWNER&owner=al&group=ops", "");
    gateway.says("PUT", "/d/g?op=SETTIMES&modificationtime=5000&accesstime=6000", "");
    let changed = gateway.cluster.client().file_status("/d/g").unwrap();
    assert_eq!((changed.permission.0, changed.owner.as_str(), changed.group.as_str()), (0o600, "al", "ops"));
    assert_eq!((changed.modification_time_ms, changed.access_time_ms, changed.replication), (5000, 6000, 2));
    gateway.says("POST", "/d/g?op=TRUNCATE&newlength=0", yes);
    assert_eq!(gateway.cluster.client().file_status("/d/g").unwrap().length, 0);
    gateway.says("DELETE", "/d?op=DELETE&recursive=true", yes);
    gateway.says("DELETE", "/d?op=DELETE", no);
}

#[test]
fn lists_attributes_and_snapshots() {
    let gateway = Gateway::start();
    gateway.says("PUT", "/s?op=MKDIRS", "{\"boolean\":true}\n");
    gateway.says("PUT", "/s?op=SETACL&aclspec=user::rwx,user:bob:r-x,group::r-x,other::---", "");
    let acl = gateway.ask("GET", "/s?op=GETACLSTATUS").text();
    assert!(
        acl.ends_with("\"permission\":\"750\",\"stickyBit\":false,\"entries\":[\"user:bob:r-x\",\"group::r-x\"]}}\n"),
        "{acl}"
    );
    gateway.says("PUT", "/s?op=REMOVEACL", "");
    gateway.says("PUT", "/s?op=SETXATTR&xattr.name=user.a&xattr.value=0x01ff&flag=CREATE", "");
    gateway.says("GET", "/s?op=GETXATTRS&encoding=hex", "{\"XAttrs\":[{\"name\":\"user.a\",\"value\":\"0x01ff\"}]}\n");
    gateway.says("GET", "/s?op=LISTXATTRS", "{\"XAttrNames\":\"[\\\"user.a\\\"]\"}\n");
    gateway.says("PUT", "/s?op=REMOVEXATTR&xattr.name=user.a", "");
    gateway.says("GET", "/s?op=CHECKACCESS&fsaction=rw-", "");
    gateway.says("PUT", "/s?op=ALLOWSNAPSHOT", "");
    gateway.says("PUT", "/s?op=CREATESNAPSHOT&snapshotname=s1", "{\"Path\":\"/s/.snapshot/s1\"}");
    gateway.says("PUT", "/s/new?op=MKDIRS", "{\"boolean\":true}\n");
    let diff = "{\"SnapshotDiffReport\":{\"diffList\":[{\"sourcePath\":\"\",\"type\":\"MODIFY\"},\
        {\"sourcePath\":\"new\",\"type\":\"CREATE\"}],\"fromSnapshot\":\"s1\",\"snapshotRoot\":\"/s\",\"toSnapshot\":\"\"}}";
    gateway.says("GET", "/s?op=GETSNAPSHOTDIFF&oldsnapshotname=s1", diff);
    let listing = gateway.ask("GET", "/s?op=GETSNAPSHOTDIFFLISTING&oldsnapshotname=s1").text();
    assert!(listing.contains("\"createList\":[{\"dirId\":") && listing.contains("\"sourcePath\":\"new\""), "{listing}");
    let list = gateway.ask("GET", "/s?op=GETSNAPSHOTLIST").text();
    assert!(list.contains("\"fullPath\":\"/s/.snapshot/s1\""), "{list}");
    let roots = gateway.ask("GET", "/?op=GETSNAPSHOTTABLEDIRECTORYLIST").text();
    assert!(roots.contains("\"parentFullPath\":\"/\",\"snapshotNumber\":1,\"snapshotQuota\":65536"), "{roots}");
    gateway.says("PUT", "/s?op=RENAMESNAPSHOT&oldsnapshotname=s1&snapshotname=s2", "");
    gateway.says("DELETE", "/s?op=DELETESNAPSHOT&snapshotname=s2", "");
    gateway.says("PUT", "/s?op=SETSTORAGEPOLICY&storagepolicy=COLD", "");
    let cold = "{\"BlockStoragePolicy\":{\"name\":\"COLD\",\"creationFallbacks\":[],\"id\":2,\"storageTypes\":[\"ARCHIVE\"],\
        \"replicationFallbacks\":[],\"copyOnCreateFile\":false}}\n";
    gateway.says("GET", "/s?op=GETSTORAGEPOLICY", cold);
    gateway.says("GET", "/s?op=GETECPOLICY", "null");
    assert!(gateway.ask("GET", "/?op=GETECPOLICIES").text().contains("\"name\":\"RS-6-3-1024k\""));
    gateway.says("GET", "/s?op=GETTRASHROOTS", "{\"Paths\":[]}\n");
}

/// A body whose length was not known beforehand.
fn whole(chunked: &str) -> String {
    let (mut out, mut rest) = (String::new(), chunked);
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        out.push_str(&after[..size]);
        rest = after[size..].strip_prefix("\r\n").unwrap();
    }
    out
}

/// More entries than a page has, which leave as they come.
#[test]
fn a_long_directory_is_listed_whole() {
    let gateway = Gateway::with(&[("dfs.ls.limit", "7")]);
    let client = gateway.cluster.client();
    for i in 0..40 {
        client.mkdirs(&format!("/many/e{i:02}"), surus_types::FsPermission(0o755), true).unwrap();
    }
    for (filter, want) in [("", 40), ("&filter=*5", 4), ("&filter=e39", 1), ("&filter=none", 0)] {
        let text = whole(&gateway.ask("GET", &format!("/many?op=LISTSTATUS{filter}")).text());
        assert!(text.starts_with("{\"FileStatuses\":{\"FileStatus\":[") && text.ends_with("]}}\n"), "{text}");
        assert_eq!(
            (text.matches("\"pathSuffix\"").count(), text.matches("},{").count()),
            (want, want.max(1) - 1),
            "{text}"
        );
    }
}

#[test]
fn who_asks_and_for_whom() {
    let gateway =
        Gateway::with(&[("httpfs.proxyuser.bob.hosts", "127.0.0.1"), ("httpfs.proxyuser.bob.users", "alice")]);
    let home = |target: &str| {
        let answer = gateway.plain("GET", &format!("/?op=GETHOMEDIRECTORY{target}"));
        (answer.status, answer.text())
    };
    let anonymous = gateway.plain("GET", "/?op=GETHOMEDIRECTORY");
    assert_eq!((anonymous.status, anonymous.header("WWW-Authenticate")), (401, Some("PseudoAuth")));
    assert_eq!(home("&user.name=alice"), (200, "{\"Path\":\"\\/user\\/alice\"}\n".to_string()));
    assert_eq!(home("&user.name=bob&doAs=alice"), (200, "{\"Path\":\"\\/user\\/alice\"}\n".to_string()));
    let (status, text) = home("&user.name=bob&doas=carol");
    assert_eq!(status, 403);
    assert!(text.contains("\"message\" : \"User: bob is not allowed to impersonate carol\""), "{text}");
    // Each caller is that user for the NameNode, too.
    gateway.says("PUT", "/home?op=MKDIRS&permission=777", "{\"boolean\":true}\n");
    let made = gateway.plain("PUT", "/home/x?op=MKDIRS&user.name=bob&doas=alice");
    assert_eq!(made.status, 200, "{}", made.text());
    assert_eq!(gateway.cluster.client().file_status("/home/x").unwrap().owner, "alice");
    let denied = gateway.plain("PUT", "/x?op=MKDIRS&user.name=alice");
    assert_eq!(denied.status, 500);
    assert!(denied.text().contains("\"message\":\"Permission denied: user=alice, access=WRITE"), "{}", denied.text());
    // The cookie that an answer set stands for the name.
    let answer = gateway.plain("OPTIONS", "/?op=GETHOMEDIRECTORY&user.name=alice");
    let cookie = answer.header("Set-Cookie").unwrap().split(';').next().unwrap().to_string();
    let target = "/webhdfs/v1/?op=GETHOMEDIRECTORY";
    let answer = send(&gateway.host(), "GET", target, &format!("Cookie: {cookie}\r\n"), b"");
    assert_eq!(answer.text(), "{\"Path\":\"\\/user\\/alice\"}\n");
}

#[test]
fn errors_are_those_of_hadoops_gateway() {
    let gateway = Gateway::start();
    let illegal = "java.lang.IllegalArgumentException";
    let missing = "java.io.FileNotFoundException";
    gateway.fails("GET", "/none?op=GETFILESTATUS", 404, missing, "File does not exist: /none");
    gateway.fails("GET", "/none?op=LISTSTATUS", 404, missing, "File /none does not exist.");
    gateway.fails("GET", "/none?op=OPEN", 404, missing, "File does not exist: /none");
    gateway.fails("GET", "/?op=MKDIRS", 500, "java.io.IOException", "Invalid HTTP GET operation [MKDIRS]");
    gateway.fails("GET", "/", 400, illegal, "Missing Operation parameter [op]");
    gateway.fails("GET", "/?op=", 400, illegal, "Invalid Operation []");
    let text = "Operation [GETHOMEDIRECTORY], invalid path [/x], must be /";
    gateway.fails("GET", "/x?op=GETHOMEDIRECTORY", 400, "java.lang.UnsupportedOperationException", text);
    let text = "java.lang.IllegalArgumentException: Parameter [permission], invalid value [9], value must be [a short]";
    gateway.fails("PUT", "/x?op=MKDIRS&permission=9", 400, illegal, text);
    let text =
        "java.lang.IllegalArgumentException: Parameter [recursive], invalid value [maybe], value must be [a boolean]";
    gateway.fails("DELETE", "/x?op=DELETE&recursive=maybe", 400, illegal, text);
    gateway.fails("PUT", "/x?op=RENAME", 400, illegal, "Can not create a Path from a null string");
    let text = "username == null && groupname == null";
    gateway.fails("PUT", "/x?op=SETOWNER", 500, "java.io.IOException", text);
    assert_eq!(send(&gateway.host(), "GET", "/other", "", b"").status, 404);
}

#[test]
fn the_access_mode_is_obeyed() {
    let read_only = Gateway::with(&[("httpfs.access.mode", "read-only")]);
    assert_eq!(read_only.ask("PUT", "/x?op=MKDIRS").status, 403);
    assert_eq!(read_only.ask("GET", "/?op=GETFILESTATUS").status, 200);
    assert_eq!(read_only.ask("GET", "/?op=GETCONTENTSUMMARY").status, 200);
}
