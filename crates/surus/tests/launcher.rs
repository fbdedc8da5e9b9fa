//! Called as `hdfs` or `hadoop`.

use crate::command_line::{show, surus};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// A link to the binary, in its own directory.
pub fn link(dir: &Path, name: &str) -> Command {
    let path = dir.join(name);
    if !path.exists() {
        symlink(env!("CARGO_BIN_EXE_surus"), &path).unwrap();
    }
    let mut linked = Command::new(path);
    for (key, value) in surus(&[]).get_envs() {
        match value {
            Some(value) => linked.env(key, value),
            None => linked.env_remove(key),
        };
    }
    linked
}

#[test]
fn words_that_print() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, _) = show(&link(dir.path(), "hadoop").arg("version").output().unwrap());
    assert!(code == 0 && out.starts_with("Hadoop 3.5.0\n"), "{out}");
    let (code, out, _) = show(&link(dir.path(), "hdfs").arg("--help").output().unwrap());
    assert!(code == 0 && out.starts_with("Usage: hdfs [OPTIONS] SUBCOMMAND"), "{out}");
    let (code, _, _) = show(&link(dir.path(), "hdfs").output().unwrap());
    assert_eq!(code, 1);
    let conf = dir.path().join("conf");
    std::fs::create_dir(&conf).unwrap();
    let site =
        "<configuration><property><name>fs.default.name</name><value>hdfs://h:1</value></property></configuration>";
    std::fs::write(conf.join("core-site.xml"), site).unwrap();
    let ask = |words: &[&str]| {
        show(&link(dir.path(), "hdfs").args(["--config", conf.to_str().unwrap()]).args(words).output().unwrap())
    };
    assert_eq!(ask(&["getconf", "-nnRpcAddresses"]), (0, "h:1\n".into(), String::new()));
    assert_eq!(ask(&["getconf", "-confKey", "x.y"]), (255, String::new(), "Configuration x.y is missing.\n".into()));
    assert_eq!(ask(&["classpath"]).1, format!("{}\n", conf.display()));
    assert!(ask(&["envvars"]).1.contains(&format!("HADOOP_CONF_DIR='{}'", conf.display())));
}

#[test]
fn words_that_surus_has_not_go_to_hadoop() {
    let dir = tempfile::tempdir().unwrap();
    let (code, _, err) = show(&link(dir.path(), "hadoop").args(["distcp", "a", "b"]).output().unwrap());
    assert!(code == 1 && err.contains("hadoop distcp: Surus has no such command"), "{err}");
    let home = dir.path().join("home");
    std::fs::create_dir_all(home.join("bin")).unwrap();
    let theirs = home.join("bin/hadoop");
    std::fs::write(&theirs, "#!/bin/sh\necho theirs \"$@\"\nexit 7\n").unwrap();
    std::fs::set_permissions(&theirs, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = link(dir.path(), "hadoop");
    command.env("HADOOP_HOME", &home).args(["--loglevel", "WARN", "distcp", "a", "b"]);
    assert_eq!(show(&command.output().unwrap()), (7, "theirs --loglevel WARN distcp a b\n".into(), String::new()));
}

#[test]
fn daemon_status_and_stop_without_a_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let daemon = |action: &str| {
        let mut command = link(dir.path(), "hdfs");
        command
            .env("HADOOP_PID_DIR", dir.path())
            .env("HADOOP_IDENT_STRING", "me")
            .args(["--daemon", action, "namenode"]);
        show(&command.output().unwrap()).0
    };
    assert_eq!((daemon("status"), daemon("stop")), (3, 0));
    // A process number that is no process: above the largest that Linux gives out.
    std::fs::write(dir.path().join("hadoop-me-namenode.pid"), "4194305\n").unwrap();
    assert_eq!((daemon("status"), daemon("stop"), daemon("status")), (1, 0, 3));
}
