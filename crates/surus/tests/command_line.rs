//! `surus` and its words.

use std::process::{Command, Output};

pub fn surus(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surus"));
    command.args(arguments);
    for name in
        ["HADOOP_CONF_DIR", "HADOOP_HOME", "HADOOP_LOG_DIR", "HADOOP_PID_DIR", "HADOOP_IDENT_STRING", "SURUS_DIR"]
    {
        command.env_remove(name);
    }
    command.env("HOME", "/nonexistent");
    command
}

/// Exit code, stdout, stderr.
pub fn show(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    show(&surus(arguments).output().unwrap())
}

#[test]
fn words_that_print() {
    let (code, out, _) = run(&["version"]);
    assert_eq!((code, out.contains("Hadoop 3.5.0")), (0, true), "{out}");
    let (code, out, _) = run(&["help", "keys"]);
    assert_eq!((code, out.contains("dfs.replication (number; 3)")), (0, true));
    for shell in ["bash", "zsh", "fish"] {
        let (code, out, _) = run(&["completions", shell]);
        assert_eq!((code, out.contains("surus") && out.contains("__complete")), (0, true), "{shell}");
    }
    // What the scripts ask.
    let (code, out, _) = run(&["__complete", "nam"]);
    assert_eq!((code, out.lines().any(|line| line.trim() == "namenode")), (0, true), "{out}");
    let (code, out, _) = run(&["namenode", "-genclusterid"]);
    assert_eq!((code, out.contains("\nCID-")), (0, true));
    let (code, out, _) = run(&["--help"]);
    assert_eq!((code, out.contains("Start a whole file system")), (0, true));
    let (code, out, _) = run(&["httpfs", "--help"]);
    assert_eq!((code, out.starts_with("Usage: surus httpfs\n")), (0, true), "{out}");
}

#[test]
fn a_bad_value_names_key_file_and_what_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let site = "<configuration><property><name>dfs.replication</name><value>many</value></property></configuration>";
    std::fs::write(dir.path().join("hdfs-site.xml"), site).unwrap();
    let conf = dir.path().to_str().unwrap();
    let (code, _, err) = run(&["--config", conf, "namenode"]);
    let want = format!(
        "dfs.replication = \"many\" (from {conf}/hdfs-site.xml) is not allowed: it must be a whole number from 1 to 32767"
    );
    assert!(code == 1 && err.contains(&want), "{code} {err}");
    let (code, _, err) = run(&["--config", "/nonexistent/conf", "namenode"]);
    assert!(code == 1 && err.contains("the configuration directory /nonexistent/conf does not exist"), "{code} {err}");
    std::fs::write(dir.path().join("hdfs-site.xml"), "<configuration>\n<xi:include href='x'/></configuration>")
        .unwrap();
    let (code, _, err) = run(&["--config", conf, "datanode"]);
    assert!(code == 1 && err.contains("hdfs-site.xml, line 2: xi:include of x: there is no such file"), "{code} {err}");
}

#[test]
fn start_leaves_a_directory_with_other_things_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("thesis.txt"), "x").unwrap();
    let (code, _, err) = run(&["start", "--dir", dir.path().to_str().unwrap()]);
    assert!(code == 1 && err.contains("holds thesis.txt and no file system: it is not formatted"), "{code} {err}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn unknown_words_and_options() {
    let (code, _, err) = run(&["frobnicate"]);
    assert!(code == 1 && err.contains("unrecognized subcommand"), "{code} {err}");
    // Hadoop's NameNode shows its usage and ends with 0.
    let (code, _, err) = run(&["namenode", "-zzz"]);
    assert!(code == 0 && err.contains("unknown option -zzz"), "{code} {err}");
    let (code, _, err) = run(&["namenode", "-format", "-nonInteractve"]);
    assert!(code == 1 && err.contains("unknown option -nonInteractve"), "{code} {err}");
    let (code, _, err) = run(&["start", "-D", "novalue"]);
    assert!(code == 1 && err.contains("-D novalue: it must be key=value"), "{code} {err}");
}
