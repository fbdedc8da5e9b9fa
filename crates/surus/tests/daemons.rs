//! Daemons as processes: format, start, signals, locks, ports, `--daemon`.

use crate::command_line::{show, surus};
use crate::launcher::link;
use crate::server::{Server, start_command};
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};
use surus_client::CreateOptions;
use surus_types::FsPermission;

/// Site files for a NameNode and a DataNode on free ports.
fn write_conf(dir: &Path) -> String {
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let conf = dir.join("conf");
    std::fs::create_dir_all(&conf).unwrap();
    let site = |name: &str, properties: &[(&str, String)]| {
        let body: String = properties
            .iter()
            .map(|(k, v)| format!("<property><name>{k}</name><value>{v}</value></property>"))
            .collect();
        std::fs::write(conf.join(name), format!("<configuration>{body}</configuration>")).unwrap();
    };
    site("core-site.xml", &[("fs.defaultFS", format!("hdfs://{}", free()))]);
    site(
        "hdfs-site.xml",
        &[
            ("dfs.namenode.name.dir", format!("file://{}/name", dir.display())),
            ("dfs.datanode.data.dir", format!("file://{}/data", dir.display())),
            ("dfs.namenode.http-address", free()),
            ("dfs.datanode.address", free()),
            ("dfs.datanode.http.address", free()),
            ("dfs.datanode.ipc.address", free()),
        ],
    );
    let port = free().rsplit(':').next().unwrap().to_string();
    site("httpfs-site.xml", &[("httpfs.http.hostname", "127.0.0.1".to_string()), ("httpfs.http.port", port)]);
    conf.display().to_string()
}

fn wait(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_first_start_makes_directories_and_later_ones_keep_them() {
    let dir = tempfile::tempdir().unwrap();
    let home = format!("/user/{}", surus_client::login_name());
    let server = Server::start(dir.path());
    let client = server.client();
    assert_eq!(client.file_status("/tmp").unwrap().permission, FsPermission(0o1777));
    assert_eq!(client.file_status(&home).unwrap().owner, surus_client::login_name());
    client.delete(&home, true).unwrap();
    let (code, _, err) = show(&start_command(dir.path()).output().unwrap());
    assert!(code == 1 && err.contains("is in use by another process"), "{code} {err}");
    assert_eq!(server.terminate(), Some(0));
    let server = Server::start(dir.path());
    assert!(server.client().get_file_info(&home).unwrap().is_none(), "what was deleted stays deleted");
    assert_eq!(server.client().file_status("/tmp").unwrap().permission, FsPermission(0o1777));
    let text = std::fs::read_to_string(dir.path().join("conf/core-site.xml")).unwrap();
    assert!(text.contains(&server.uri), "{text}");
    assert!(server.web.starts_with("http://127.0.0.1:") && !server.web.contains(":0/"), "{}", server.web);
    assert_eq!(server.terminate(), Some(0));
}

#[test]
fn a_start_that_was_killed_while_formatting_formats_again() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("name.formatting/current")).unwrap();
    let server = Server::start(dir.path());
    assert!(server.client().get_file_info("/tmp").unwrap().is_some());
    assert!(!dir.path().join("name.formatting").exists());
}

#[test]
fn format_asks_and_a_port_in_use_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let conf = write_conf(dir.path());
    let namenode = |arguments: &[&str]| {
        let output = surus(&["--config", &conf, "namenode"]).args(arguments).output().unwrap();
        let (code, _, err) = show(&output);
        (code, err)
    };
    assert_eq!(namenode(&["-format", "-nonInteractive", "-clusterId", "CID-x"]).0, 0);
    let version = || std::fs::read_to_string(dir.path().join("name/current/VERSION")).unwrap();
    assert!(version().contains("clusterID=CID-x"));
    let (code, err) = namenode(&["-format", "-nonInteractive"]);
    assert!(code == 1 && err.contains("Running in non-interactive mode, and data appears to exist"), "{code} {err}");
    let (code, err) = namenode(&["-D", "dfs.reformat.disabled=true", "-format", "-force"]);
    assert!(code == 1 && err.contains("dfs.reformat.disabled"), "{code} {err}");
    assert!(version().contains("clusterID=CID-x"));
    assert_eq!(namenode(&["-format", "-force"]).0, 0);
    assert!(!version().contains("clusterID=CID-x"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, err) = namenode(&["-D", &format!("dfs.namenode.rpc-address={address}")]);
    assert!(code == 1 && err.contains(&format!("dfs.namenode.rpc-address: {address} is in use")), "{code} {err}");
}

#[test]
fn daemon_start_status_stop() {
    let dir = tempfile::tempdir().unwrap();
    let conf = write_conf(dir.path());
    assert!(surus(&["--config", &conf, "namenode", "-format", "-nonInteractive"]).output().unwrap().status.success());
    let hdfs = |arguments: &[&str]| {
        let mut command = link(dir.path(), "hdfs");
        command.args(["--config", &conf]).args(arguments).env("HADOOP_IDENT_STRING", "me");
        for (variable, name) in [("HADOOP_PID_DIR", "pids"), ("HADOOP_LOG_DIR", "logs")] {
            command.env(variable, dir.path().join(name));
        }
        show(&command.output().unwrap())
    };
    for daemon in ["namenode", "datanode", "httpfs"] {
        assert_eq!(hdfs(&["--daemon", "status", daemon]).0, 3, "{daemon}");
        assert_eq!(hdfs(&["--daemon", "start", daemon]), (0, String::new(), String::new()), "{daemon}");
        assert_eq!(hdfs(&["--daemon", "status", daemon]).0, 0, "{daemon}");
        let (code, _, err) = hdfs(&["--daemon", "start", daemon]);
        assert!(code == 1 && err.contains(&format!("{daemon} is running as process")), "{err}");
    }
    let log = |daemon: &str| {
        let name = |e: std::fs::DirEntry| e.file_name().into_string().unwrap();
        let logs = std::fs::read_dir(dir.path().join("logs")).unwrap().map(|e| name(e.unwrap()));
        let wanted = format!("hadoop-me-{daemon}-");
        let file = logs.into_iter().find(|n| n.starts_with(&wanted) && n.ends_with(".log")).unwrap();
        std::fs::read_to_string(dir.path().join("logs").join(file)).unwrap()
    };
    wait("the DataNode to register", || log("namenode").contains("registers"));
    for daemon in ["httpfs", "datanode", "namenode"] {
        assert_eq!(hdfs(&["--daemon", "stop", daemon]), (0, String::new(), String::new()), "{daemon}");
        assert_eq!(hdfs(&["--daemon", "status", daemon]).0, 3, "{daemon}");
        assert!(log(daemon).contains("RECEIVED SIGNAL 15: SIGTERM"), "{daemon}");
    }
    // One that cannot start is reported.
    let (code, _, err) = hdfs(&["--daemon", "start", "namenode", "-D", "dfs.replication=x"]);
    assert!(code == 1 && err.contains("Cannot start namenode"), "{code} {err}");
}

#[test]
fn the_first_write_after_a_start_waits_for_the_datanode_to_report() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path());
    for round in 0..5 {
        let client = server.client();
        let mut writer = client.create(&format!("/tmp/{round}"), &CreateOptions::default()).unwrap();
        writer.write_all(b"first").unwrap();
        writer.close().unwrap();
        assert_eq!(server.terminate(), Some(0));
        server = Server::start(dir.path());
    }
    assert_eq!(server.client().list_status("/tmp").unwrap().len(), 5);
}

/// The lists of hadoop-policy.xml hold from the start on.
#[test]
fn the_policy_file_keeps_others_out() {
    let dir = tempfile::tempdir().unwrap();
    let conf = write_conf(dir.path());
    let namenode = ["--config", &conf, "namenode", "-D", "hadoop.security.authorization=true"];
    std::fs::write(
        Path::new(&conf).join("hadoop-policy.xml"),
        "<configuration><property><name>security.client.protocol.acl</name><value>alice</value></property></configuration>",
    )
    .unwrap();
    assert!(surus(&namenode).args(["-format", "-nonInteractive"]).output().unwrap().status.success());
    let mut running = surus(&namenode).stderr(std::process::Stdio::null()).spawn().unwrap();
    let list = |user: &str| {
        show(&surus(&["--config", &conf, "dfs", "-ls", "/"]).env("HADOOP_USER_NAME", user).output().unwrap())
    };
    wait("the NameNode", || list("alice").0 == 0);
    let (code, _, err) = list("bob");
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(code == 1 && err.contains("User bob (auth:SIMPLE) is not authorized for protocol"), "{code} {err}");
}
