//! What a daemon needs of the system, and does not get: a port, enough open files.

use crate::command_line::{show, surus};
use crate::server::{Server, start_command};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The keys of the five ports.
const KEYS: [&str; 5] = [
    "dfs.namenode.rpc-address",
    "dfs.namenode.http-address",
    "dfs.datanode.address",
    "dfs.datanode.http.address",
    "dfs.datanode.ipc.address",
];

#[test]
fn a_port_in_use_is_named_with_its_key() {
    let dir = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for key in KEYS {
        // The last -D counts.
        let mut command = start_command(&dir.path().join("fs"));
        let (code, _, err) = show(&command.args(["-D", &format!("{key}={address}")]).output().unwrap());
        assert_eq!(code, 1, "{key}: {err}");
        assert!(err.contains(key) && err.contains(&address) && err.contains("in use"), "{key}: {err}");
    }
    // None of the attempts left anything in the way.
    let server = Server::start(&dir.path().join("fs"));
    server.wait_for_safe_mode();
    assert_eq!(server.terminate(), Some(0));
}

/// The same of daemons that run alone.
#[test]
fn a_port_in_use_stops_a_daemon_alone() {
    let dir = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let daemon = |name: &str, arguments: &[&str], key: &str| {
        let mut command = surus(&[name]);
        for (other, value) in [
            ("fs.defaultFS", "hdfs://127.0.0.1:0".to_owned()),
            ("dfs.namenode.name.dir", format!("file://{}/name", dir.path().display())),
            ("dfs.datanode.data.dir", format!("file://{}/data", dir.path().display())),
        ]
        .into_iter()
        .chain(KEYS.iter().skip(1).map(|other| (*other, "127.0.0.1:0".to_owned())))
        {
            command.args(["-D", &format!("{other}={value}")]);
        }
        show(&command.args(["-D", &format!("{key}={address}")]).args(arguments).output().unwrap())
    };
    let formatted = daemon("namenode", &["-format", "-nonInteractive"], "dfs.namenode.http-address");
    assert_eq!(formatted.0, 0, "{}", formatted.2);
    for key in KEYS {
        let name = if key.contains("namenode") { "namenode" } else { "datanode" };
        let (code, _, err) = daemon(name, &[], key);
        assert_eq!(code, 1, "{key}: {err}");
        assert!(err.contains(key) && err.contains(&address) && err.contains("in use"), "{key}: {err}");
    }
}

/// `surus start` with limits of open files of its own.
fn limited(dir: &Path, soft: u64, hard: u64) -> Command {
    let start = start_command(dir);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$0\" \"$@\"")]);
    command.arg(start.get_program()).args(start.get_args());
    for (name, value) in start.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[test]
fn the_limit_of_open_files_is_raised_and_a_low_one_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start_with(limited(&dir.path().join("a"), 256, 8192));
    server.wait_for_safe_mode();
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_eq!(line.split_whitespace().nth(3), Some("8192"), "{line}");
    assert!(!server.log().contains("may be open at a time"), "{}", server.log());
    assert_eq!(server.terminate(), Some(0));

    let server = Server::start_with(limited(&dir.path().join("b"), 200, 300));
    server.wait_for_safe_mode();
    let expected = "only 300 files may be open at a time, 4096 are wanted: raise the hard limit (ulimit -Hn";
    // Another thread reads what it writes.
    let deadline = Instant::now() + Duration::from_secs(20);
    while !server.log().contains(expected) {
        assert!(Instant::now() < deadline, "{}", server.log());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.terminate(), Some(0));
}
