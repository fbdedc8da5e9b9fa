//! `/jmx` beside a real NameNode's: every attribute of the beans that tools poll, by name.

use crate::cluster::{Cluster, http_get};

/// Bean and attribute, as a NameNode of Hadoop 3.5.0 answered.
const HADOOP: &str = include_str!("../data/jmx-3.5.0.tsv");
/// What only Surus tells.
const OWN: &[(&str, &str)] = &[("FSNamesystem", "LastCheckpointCopiedBytes")];

/// What is not told: the size of a hash table of Java's; how long syncs took, and locks were held beyond a threshold (both are
/// in NamespaceLock's histogram or nowhere); the bytes of name directories, which a walk over a disk that hangs would cost;
/// whether erasure coding would work with these DataNodes (`surus ec -verifyClusterSetup` does).
const NOT_TOLD: &[(&str, &str)] = &[
    ("FSNamesystem", "BlockCapacity"),
    ("FSNamesystem", "ReadLockLongHoldCount"),
    ("FSNamesystem", "WriteLockLongHoldCount"),
    ("FSNamesystem", "tag.TotalSyncTimes"),
    ("FSNamesystemState", "TotalSyncTimes"),
    ("NameNodeInfo", "NameDirSize"),
    ("NameNodeInfo", "VerifyECWithTopologyResult"),
];

/// Names of the attributes of a bean, sorted.
fn attributes(page: &str) -> Vec<&str> {
    let lines = page.lines().filter_map(|line| line.strip_prefix("    \"")?.split_once("\" : "));
    let mut names: Vec<&str> =
        lines.map(|(name, _)| name).filter(|name| !["name", "modelerType"].contains(name)).collect();
    names.sort_unstable();
    names
}

#[test]
fn beans_have_the_attributes_of_hadoops() {
    let cluster = Cluster::new();
    for bean in ["FSNamesystemState", "NameNodeInfo", "FSNamesystem"] {
        let page = http_get(&cluster.http(), &format!("/jmx?qry=Hadoop:service=NameNode,name={bean}"));
        let of_bean = HADOOP.lines().filter_map(|line| line.split_once('\t')).filter(|(name, _)| *name == bean);
        let mut expected: Vec<&str> = of_bean.map(|(_, attribute)| attribute).collect();
        assert!(expected.len() > 20, "{bean}");
        expected.retain(|attribute| !NOT_TOLD.contains(&(bean, attribute)));
        expected.extend(OWN.iter().filter(|(name, _)| *name == bean).map(|(_, attribute)| *attribute));
        expected.sort_unstable();
        let found = attributes(&page);
        let missing: Vec<_> = expected.iter().filter(|name| !found.contains(name)).collect();
        let beyond: Vec<_> = found.iter().filter(|name| !expected.contains(name)).collect();
        assert!(missing.is_empty() && beyond.is_empty(), "{bean}: missing {missing:?}, beyond {beyond:?}");
    }
}

/// The lines of `/jmx` that hold an attribute.
pub fn jmx_line(cluster: &Cluster, bean: &str, attribute: &str) -> String {
    let page = http_get(&cluster.http(), &format!("/jmx?qry=Hadoop:service=NameNode,name={bean}"));
    page.lines().find(|line| line.contains(&format!("\"{attribute}\""))).expect("is told").to_owned()
}

#[test]
fn journals_say_which_of_them_are_required() {
    let mut cluster = Cluster::new();
    assert!(jmx_line(&cluster, "NameNodeInfo", "NameJournalStatus").contains(r#"\"required\":\"false\""#));
    let dir = cluster.name_dir().display().to_string();
    cluster.set("dfs.namenode.edits.dir.required", Box::leak(dir.into_boxed_str()));
    cluster.restart();
    assert!(jmx_line(&cluster, "NameNodeInfo", "NameJournalStatus").contains(r#"\"required\":\"true\""#));
}

#[test]
fn the_last_checkpoint_is_as_old_as_the_image() {
    let mut cluster = Cluster::new();
    cluster.namenode.take().unwrap().stop();
    let image = cluster.name_dir().join("current/fsimage_0000000000000000000");
    let saved = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_500_000_000);
    std::fs::File::options().write(true).open(image).unwrap().set_modified(saved).unwrap();
    cluster.start();
    assert!(jmx_line(&cluster, "FSNamesystem", "LastCheckpointTime").ends_with(": 1500000000000,"));
}
