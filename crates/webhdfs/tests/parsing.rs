//! Rows recorded from Hadoop 3.5.0 (`errors-3.5.0.tsv`: case, via, call, status, class, message), and paths with odd names.

use surus_types::{AclEntry, AclEntryKind, FsPermission, XAttr, XAttrCodec};
use surus_webhdfs::{
    Create, CreateFlags, Method, Operation, RenameOptions, Request, Side, httpfs_location, location, parse,
};

fn call(side: Side, call: &str) -> Result<Request, surus_types::HdfsError> {
    let (method, url) = call.split_once(' ').unwrap();
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    parse(side, Method::from_http(method).unwrap(), path, query)
}

fn get(query: &str) -> Operation {
    call(Side::NameNode, &format!("GET /webhdfs/v1/f?{query}")).unwrap().operation
}

#[test]
fn errors_and_redirects_are_hadoops() {
    let mut rows = 0;
    for line in include_str!("data/errors-3.5.0.tsv").lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [case, via, request, status, class, message] = columns[..] else { panic!("{line}") };
        let side = if via == "web" { Side::NameNode } else { Side::DataNode };
        let request = request.replace("{HOST:PORT}", "h:1");
        let answer = call(side, &request);
        rows += 1;
        if status == "307" {
            let url = location("{DN}", &answer.unwrap(), "h:1");
            assert_eq!(format!("Location: {url}"), message.replace("{HOST:PORT}", "h:1"), "{case}");
        } else {
            let error = answer.expect_err(case);
            assert_eq!((error.class.java_name(), error.message.as_str()), (class, message), "{case}");
            assert_eq!(error.class.http_status().to_string(), status, "{case}");
        }
    }
    assert!(rows > 80, "{rows}");
}

#[test]
fn odd_names_in_paths() {
    let cases = [
        ("/webhdfs/v1", "/"),
        ("/webhdfs/v1/", "/"),
        ("/webhdfs/v1/a%20b+c=d;e%3Bf%25g%2Bh", "/a b+c=d;e;f%g+h"),
        ("/webhdfs/v1/%E4%BD%A0/%F0%9F%98%80", "/你/😀"),
        ("/webhdfs/v1/home//b", "/home//b"),
        ("/webhdfs/v1/a%2Fb/", "/a/b/"),
        ("/webhdfs/v1/%FF%zz", "/\u{fffd}%zz"),
    ];
    for (url, want) in cases {
        let request = call(Side::NameNode, &format!("GET {url}?op=GETFILESTATUS")).unwrap();
        assert_eq!(request.path, want);
    }
    assert!(call(Side::NameNode, "GET /webhdfs/v1x?op=GETFILESTATUS").is_err());
}

#[test]
fn a_redirect_survives_the_round_trip() {
    for path in ["/a b+c=d;e;f%g+h", "/你/😀", "/#?&x", "/100%"] {
        let mut request = call(Side::NameNode, "PUT /webhdfs/v1/x?op=CREATE&user.name=al&doas=bo%26b").unwrap();
        request.path = path.to_string();
        let url = location("h:9864", &request, "nn:8020");
        let back = call(Side::DataNode, &format!("PUT {}", url.strip_prefix("http://h:9864").unwrap())).unwrap();
        assert_eq!((back.path.as_str(), back.user.as_deref(), back.do_as.as_deref()), (path, Some("al"), Some("bo&b")));
        assert_eq!(back.namenode_address.as_deref(), Some("nn:8020"));
        assert_eq!(back.operation, request.operation);
    }
}

#[test]
fn names_of_parameters_and_operations_take_any_case() {
    assert_eq!(get("OP=open&Offset=5&LENGTH=7"), Operation::Open { offset: 5, length: Some(7) });
    assert_eq!(
        get("op=ListStatus_Batch&startAfter=a%2Bb+c"),
        Operation::ListStatusBatch { start_after: "a+b c".into() }
    );
    let request = call(Side::NameNode, "GET /webhdfs/v1/?op=LISTSTATUS&User.Name=al&doAs=bob").unwrap();
    assert_eq!((request.user.as_deref(), request.do_as.as_deref()), (Some("al"), Some("bob")));
}

#[test]
fn defaults() {
    assert_eq!(get("op=OPEN"), Operation::Open { offset: 0, length: None });
    assert_eq!(get("op=OPEN&offset=&length=null"), Operation::Open { offset: 0, length: None });
    let put = |query: &str| call(Side::NameNode, &format!("PUT /webhdfs/v1/f?{query}")).unwrap().operation;
    let create = Create {
        permission: None,
        unmasked: None,
        overwrite: false,
        buffer_size: None,
        replication: None,
        block_size: None,
        create_parent: true,
        flags: CreateFlags(0),
    };
    assert_eq!(put("op=CREATE"), Operation::Create(create.clone()));
    assert_eq!(
        put("op=CREATE&permission=1644&createflag=create,overwrite&createparent=False&replication=2&blocksize=9"),
        Operation::Create(Create {
            permission: Some(FsPermission(0o1644)),
            flags: CreateFlags(3),
            create_parent: false,
            replication: Some(2),
            block_size: Some(9),
            ..create
        })
    );
    assert_eq!(put("op=SETPERMISSION"), Operation::SetPermission { permission: FsPermission(0o755) });
    assert_eq!(put("op=SETTIMES"), Operation::SetTimes { modification_time_ms: -1, access_time_ms: -1 });
    let rename = |options| Operation::Rename { destination: "/b".into(), options };
    assert_eq!(put("op=RENAME&destination=/b"), rename(None));
    for (given, want) in [("//a//b/", "/a/b"), ("/a/b/../c/.", "/a/c"), ("/../a", "/../a"), ("/", "/")] {
        let operation = put(&format!("op=RENAME&destination={given}"));
        assert_eq!(operation, Operation::Rename { destination: want.into(), options: None }, "{given}");
    }
    let overwrite = RenameOptions { overwrite: true, to_trash: false };
    assert_eq!(put("op=RENAME&destination=/b&renameoptions=OVERWRITE"), rename(Some(overwrite)));
    let xattr = XAttr { namespace: 0, name: "a".into(), value: None };
    let set = |xattr, flags| Operation::SetXAttr { xattr, flags };
    assert_eq!(put("op=SETXATTR&xattr.name=user.a&flag=CREATE"), set(xattr.clone(), 1));
    let valued = XAttr { value: Some(vec![1, 255]), ..xattr.clone() };
    assert_eq!(put("op=SETXATTR&xattr.name=User.a&xattr.value=0x01ff&flag=CREATE,REPLACE"), set(valued, 3));
    let entries = vec![AclEntry { is_default: true, kind: AclEntryKind::User, name: Some("b".into()), permission: 5 }];
    assert_eq!(put("op=MODIFYACLENTRIES&aclspec=default:user:b:r-x"), Operation::ModifyAclEntries { entries });
    assert_eq!(
        get("op=GETXATTRS&xattr.name=user.a&xattr.name=&encoding=HEX"),
        Operation::GetXAttrs { names: vec![xattr], codec: XAttrCodec::Hex }
    );
}

#[test]
fn httpfs_has_its_own_defaults_and_texts() {
    let ask = |line: &str| call(Side::HttpFs, line);
    let request = ask("PUT /webhdfs/v1//a//b/?op=CREATE&data=true&user.name=al").unwrap();
    assert_eq!((request.path.as_str(), request.has_data, request.filter), ("/a/b", true, None));
    let Operation::Create(create) = request.operation else { panic!() };
    assert_eq!((create.overwrite, create.permission.map(|p| p.0), create.create_parent), (true, Some(0o755), true));
    let rename = ask("PUT /webhdfs/v1/a?op=RENAME&destination=b/c&renameoptions=OVERWRITE").unwrap().operation;
    assert_eq!(rename, Operation::Rename { destination: "b/c".into(), options: None });
    let error = |line: &str| ask(line).unwrap_err().message;
    assert_eq!(error("GET /webhdfs/v1/a?op=DELETE"), "Invalid HTTP GET operation [DELETE]");
    assert_eq!(error("GET /webhdfs/v1/a?op=nosuch"), "Invalid Operation [nosuch]");
    assert_eq!(
        error("GET /webhdfs/v1/a?op=OPEN&offset=x"),
        "java.lang.IllegalArgumentException: Parameter [offset], invalid value [x], value must be [a long]"
    );
    // Parameters of other operations are not looked at.
    assert!(ask("GET /webhdfs/v1/a?op=GETFILESTATUS&offset=x").is_ok());
    let location = |query, upload| httpfs_location("/webhdfs/v1/a%20b", query, upload);
    let again = "/webhdfs/v1/a%20b?op=CREATE&data=true&user.name=al&x=%20";
    assert_eq!(location("user.name=al&op=create&noredirect=true&x=%20", Some("CREATE")), again);
    assert_eq!(location("op=OPEN&noredirect=true&offset=5", None), "/webhdfs/v1/a%20b?op=OPEN&offset=5");
}

proptest::proptest! {
    #[test]
    fn never_panics(path in ".{0,60}", query in ".{0,120}") {
        for side in [Side::NameNode, Side::DataNode, Side::HttpFs] {
            for method in [Method::Get, Method::Put, Method::Post, Method::Delete] {
                let _ = parse(side, method, &format!("/webhdfs/v1/{path}"), &query);
                let _ = parse(side, method, "/webhdfs/v1/f", &format!("op=CREATE&{query}"));
            }
        }
    }
}
