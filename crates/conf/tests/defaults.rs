//! Each default is what Hadoop 3.5.0's `*-default.xml` files say.

use std::collections::HashMap;
use surus_conf::{Configuration, keys};

/// Keys that the table of Hadoop's documented defaults leaves out, with their compiled-in default.
const NOT_LISTED: &[(&str, &str)] = &[
    ("dfs.namenode.snapshot.skip.capture.accesstime-only-change", "false"),
    ("dfs.datanode.synconclose", "false"),
    ("dfs.image.parallel.target.sections", "12"),
    ("dfs.namenode.snapshot.skip.capture.accesstime-only-change", "false"),
    ("dfs.image.parallel.inode.threshold", "1000000"),
    ("dfs.image.transfer-bootstrap-standby.bandwidthPerSec", "0"),
    ("hadoop.caller.context.max.size", "128"),
    ("hadoop.caller.context.signature.max.size", "40"),
    ("hadoop.caller.context.separator", ","),
    ("hadoop.security.keystore.java-keystore-provider.password-file", ""),
    // Of `httpfs-default.xml`, Hadoop 3.4.2.
    ("httpfs.http.port", "14000"),
    ("httpfs.http.hostname", "0.0.0.0"),
    ("httpfs.access.mode", "read-write"),
    // Ours.
    ("surus.namenode.layout.version", "-67"),
    ("surus.webhdfs.one-hop", "false"),
    ("surus.link.secret.file", ""),
];

#[test]
fn defaults_are_hadoops() {
    let text = include_str!("../src/keys/hadoop-defaults.tsv");
    let mut listed: HashMap<&str, &str> = NOT_LISTED.iter().copied().collect();
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        listed.insert(columns[0], if columns[2] == "(empty)" { "" } else { columns[2] });
    }
    for row in keys::ALL {
        assert_eq!(Some(&row.default), listed.get(row.name), "{}", row.name);
    }
}

#[test]
fn defaults_of_keys_that_surus_does_not_read() {
    assert_eq!(keys::hadoop_default("dfs.ha.tail-edits.period"), Some("60"));
    assert_eq!(keys::hadoop_default("dfs.hosts"), None);
    assert_eq!(keys::hadoop_default("no.such.key"), None);
    for known in
        ["dfs.replication", "dfs.hosts", "fs.default.name", "hadoop.proxyuser.x.hosts", "dfs.ha.tail-edits.period"]
    {
        assert!(keys::is_known(known), "{known}");
    }
    assert!(!keys::is_known("dfs.repliction"));
}

#[test]
fn every_default_is_allowed_and_every_name_is_there_once() {
    let mut names = HashMap::new();
    let mut conf = Configuration::new();
    conf.set_property("user.name", "alice");
    for row in keys::ALL {
        assert!(names.insert(row.name, ()).is_none(), "{} twice", row.name);
        for old in row.old_names {
            assert!(names.insert(old, ()).is_none(), "{old} twice");
        }
        assert!(!row.doc.trim().is_empty() && row.doc.trim_end().ends_with('.'), "{}", row.name);
        if !row.default.is_empty() {
            conf.set(row.name, row.default);
        }
    }
    assert_eq!(conf.check(), Ok(()));
}

#[test]
fn the_manual_names_every_key() {
    let manual = keys::manual();
    for row in keys::ALL {
        assert!(manual.contains(&format!("  {} (", row.name)), "{}", row.name);
    }
}

/// `UPDATE=1 cargo test -p surus-conf` writes the page anew.
#[test]
fn the_page_in_docs_is_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, keys::manual_markdown()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page == keys::manual_markdown(), "docs/configuration.md is not the table's: UPDATE=1 writes it");
}
