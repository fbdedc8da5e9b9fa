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
