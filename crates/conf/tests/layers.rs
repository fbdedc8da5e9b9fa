//! Files over defaults, `-D` over files, final, old names, typed values and the texts of errors.

use surus_conf::{Configuration, Duration, keys};
use surus_types::{FsPermission, StorageType};

fn site(properties: &[(&str, &str)]) -> String {
    let body: String =
        properties.iter().map(|(k, v)| format!("<property><name>{k}</name><value>{v}</value></property>\n")).collect();
    format!("<?xml version=\"1.0\"?>\n<configuration>\n{body}</configuration>\n")
}

fn conf(properties: &[(&str, &str)]) -> Configuration {
    let mut conf = Configuration::from_texts([("hdfs-site.xml", site(properties))]).unwrap();
    conf.set_property("user.name", "alice");
    conf
}

#[test]
fn later_files_win_but_not_over_final() {
    let core = "<configuration><property><name>dfs.replication</name><value>2</value></property>
        <property><name>dfs.ls.limit</name><value>7</value><final>true</final></property></configuration>";
    let hdfs = site(&[("dfs.replication", "1"), ("dfs.ls.limit", "8")]);
    let mut conf = Configuration::from_texts([("core-site.xml", core), ("hdfs-site.xml", &hdfs)]).unwrap();
    assert_eq!(conf.get(keys::DFS_REPLICATION), Ok(1));
    assert_eq!(conf.get(keys::DFS_LS_LIMIT), Ok(7));
    assert_eq!(conf.warnings(), ["hdfs-site.xml: an attempt to override final parameter: dfs.ls.limit; ignored"]);
    conf.set_override("dfs.ls.limit=9").unwrap();
    assert_eq!(conf.get(keys::DFS_LS_LIMIT), Ok(9));
    assert_eq!(conf.set_override("=1").unwrap_err().to_string(), "-D =1: it must be key=value");
}

#[test]
fn final_holds_within_a_file_too() {
    let text = "<configuration><property><name>dfs.ls.limit</name><value>7</value><final>true</final></property>
        <property><name>dfs.ls.limit</name><value>8</value></property></configuration>";
    let conf = Configuration::from_texts([("hdfs-site.xml", text)]).unwrap();
    assert_eq!(conf.get(keys::DFS_LS_LIMIT), Ok(7));
}

#[test]
fn old_names_set_the_new_key() {
    let conf = conf(&[("fs.default.name", "hdfs://h:1234/"), ("dfs.replication.interval", "5")]);
    assert_eq!(conf.get(keys::FS_DEFAULT_FS).as_deref(), Ok("hdfs://h:1234/"));
    assert_eq!(conf.text("fs.default.name").unwrap().as_deref(), Some("hdfs://h:1234/"));
    assert_eq!(conf.namenode_rpc_address().unwrap().to_string(), "h:1234");
    assert_eq!(conf.get(keys::DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS), Ok(Duration::from_secs(5)));
}

#[test]
fn typed_values() {
    let c = conf(&[
        ("dfs.blocksize", " 64K "),
        ("dfs.heartbeat.interval", "1500ms"),
        ("dfs.namenode.safemode.extension", "2m"),
        ("dfs.namenode.safemode.threshold-pct", "0.5f"),
        ("dfs.permissions.enabled", "FALSE"),
        ("dfs.client.block.write.replace-datanode-on-failure.policy", "never"),
        ("fs.permissions.umask-mode", "u=rwx,g=rx,o="),
        ("dfs.datanode.data.dir", "[SSD]file:///a%20b/, /c"),
        ("dfs.namenode.rpc-address", "[::1]:9000"),
        ("dfs.ls.limit", "0x10"),
        ("dfs.nameservices", " a , ,b"),
        ("dfs.namenode.rpc-address.a.nn1", "n1:8020"),
        ("dfs.replication", ""),
    ]);
    assert_eq!(c.get(keys::DFS_BLOCKSIZE), Ok(65536));
    assert_eq!(c.get(keys::DFS_HEARTBEAT_INTERVAL), Ok(Duration::from_millis(1500)));
    assert_eq!(c.get(keys::DFS_NAMENODE_SAFEMODE_EXTENSION), Ok(Duration::from_secs(120)));
    assert_eq!(c.get(keys::DFS_NAMENODE_SAFEMODE_THRESHOLD_PCT), Ok(0.5));
    assert_eq!(c.get(keys::DFS_PERMISSIONS_ENABLED), Ok(false));
    assert_eq!(c.get(keys::DFS_CLIENT_BLOCK_WRITE_REPLACE_DATANODE_ON_FAILURE_POLICY), Ok("NEVER"));
    assert_eq!(c.get(keys::FS_PERMISSIONS_UMASK_MODE), Ok(FsPermission(0o027)));
    let dirs = c.get(keys::DFS_DATANODE_DATA_DIR).unwrap();
    assert_eq!((dirs[0].storage_type, dirs[0].path.as_str()), (StorageType::Ssd, "/a b"));
    assert_eq!((dirs[1].storage_type, dirs[1].path.as_str()), (StorageType::Disk, "/c"));
    assert_eq!(c.get(keys::DFS_NAMENODE_RPC_ADDRESS).unwrap().unwrap().to_string(), "[::1]:9000");
    assert_eq!(c.get_for(keys::DFS_NAMENODE_RPC_ADDRESS, "a", "nn1").unwrap().unwrap().host, "n1");
    assert_eq!(c.get(keys::DFS_LS_LIMIT), Ok(16));
    assert_eq!(c.get(keys::DFS_NAMESERVICES), Ok(vec!["a".to_string(), "b".to_string()]));
    assert_eq!(c.get(keys::DFS_REPLICATION), Ok(3));
    assert_eq!(c.get(keys::DFS_HOSTS), Ok(None));
    assert_eq!(c.get(keys::DFS_NAMENODE_NAME_DIR), Ok(vec!["/tmp/hadoop-alice/dfs/name".to_string()]));
    assert_eq!(c.get(keys::DFS_NAMENODE_EDITS_DIR), Ok(vec!["/tmp/hadoop-alice/dfs/name".to_string()]));
}

#[test]
fn errors_name_key_place_value_and_what_is_allowed() {
    let cases: &[(&str, &str, &str)] = &[
        ("dfs.replication", "many", "a whole number from 1 to 32767"),
        ("dfs.replication", "0", "a whole number from 1 to 32767"),
        (
            "dfs.heartbeat.interval",
            "0",
            "a number of seconds, at least 1, or a time with ns, us, ms, s, m, h or d behind it",
        ),
        (
            "dfs.heartbeat.interval",
            "-5",
            "a number of seconds, at least 1, or a time with ns, us, ms, s, m, h or d behind it",
        ),
        ("dfs.permissions.enabled", "yes", "true or false"),
        ("dfs.checksum.type", "MD5", "NULL or CRC32 or CRC32C"),
        ("dfs.datanode.address", "host:99999", "host:port, such as 127.0.0.1:9866"),
        ("dfs.namenode.name.dir", "name", "a list of absolute paths or file: URIs"),
        ("fs.permissions.umask-mode", "9", "an octal umask such as 022, or a symbolic one such as u=rwx,g=rx,o=rx"),
        (
            "dfs.blocksize",
            "9999999p",
            "a number of bytes, at least 1, with k, m, g, t, p or e behind it for 1024, 1024^2, ...",
        ),
    ];
    for (key, value, allowed) in cases {
        let errors = conf(&[(key, value)]).check().unwrap_err();
        let want = format!("{key} = \"{value}\" (from hdfs-site.xml) is not allowed: it must be {allowed}");
        assert_eq!(errors[0].to_string(), want);
    }
    let error =
        conf(&[("dfs.hosts", "${dfs.hosts.exclude}"), ("dfs.hosts.exclude", "${dfs.hosts}")]).check().unwrap_err();
    assert!(error[0].to_string().contains("Variable substitution depth too large: 20"), "{}", error[0]);
}
