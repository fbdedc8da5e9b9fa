//! VERSION files of a data directory: Java properties in the key order Hadoop writes.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};
use surus_types::date::utc_java_date;

/// Layout of data directories. Source: `DataNodeLayoutVersion.java`, Hadoop 3.5.0.
pub const LAYOUT_VERSION: i32 = -57;

/// `current/VERSION`: which DataNode and which storage this directory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageVersion {
    pub datanode_uuid: String,
    pub cluster_id: String,
    pub storage_id: String,
    pub layout_version: i32,
}

/// `current/BP-.../current/VERSION`: which namespace the block pool belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolVersion {
    pub namespace_id: u32,
    pub pool_id: String,
    pub ctime: u64,
    pub layout_version: i32,
}

impl StorageVersion {
    /// The file's text, with a comment line that names the time.
    pub fn to_text(&self) -> String {
        properties(&[
            ("datanodeUuid", &self.datanode_uuid),
            ("storageType", "DATA_NODE"),
            ("cTime", "0"),
            ("clusterID", &self.cluster_id),
            ("layoutVersion", &self.layout_version.to_string()),
            ("storageID", &self.storage_id),
        ])
    }

    /// # Errors
    /// A sentence that names the missing or unreadable key. Keys this struct lacks are ignored.
    pub fn parse(text: &str) -> Result<Self, String> {
        let kind = required(text, "storageType")?;
        if kind != "DATA_NODE" {
            return Err(format!("storageType is {kind}, not DATA_NODE"));
        }
        Ok(StorageVersion {
            datanode_uuid: required(text, "datanodeUuid")?,
            cluster_id: required(text, "clusterID")?,
            storage_id: required(text, "storageID")?,
            layout_version: number(text, "layoutVersion")?,
        })
    }
}

impl PoolVersion {
    /// The file's text, with a comment line that names the time.
    pub fn to_text(&self) -> String {
        properties(&[
            ("namespaceID", &self.namespace_id.to_string()),
            ("blockpoolID", &self.pool_id),
            ("cTime", &self.ctime.to_string()),
            ("layoutVersion", &self.layout_version.to_string()),
        ])
    }

    /// # Errors
    /// A sentence that names the missing or unreadable key.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(PoolVersion {
            namespace_id: number(text, "namespaceID")?,
            pool_id: required(text, "blockpoolID")?,
            ctime: number(text, "cTime")?,
            layout_version: number(text, "layoutVersion")?,
        })
    }
}

fn properties(pairs: &[(&str, &str)]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64);
    let mut text = format!("#{}\n", utc_java_date(now));
    for (key, value) in pairs {
        let _ = writeln!(text, "{key}={}", value.replace('\\', "\\\\").replace(':', "\\:"));
    }
    text
}

fn required(text: &str, key: &str) -> Result<String, String> {
    text.lines()
        .filter(|line| !line.starts_with(['#', '!']))
        .filter_map(|line| line.split_once('='))
        .find(|(k, _)| k.trim() == key)
        .map(|(_, v)| v.trim().replace("\\:", ":").replace("\\\\", "\\"))
        .ok_or_else(|| format!("file VERSION has {key} missing."))
}

fn number<T: std::str::FromStr>(text: &str, key: &str) -> Result<T, String> {
    let value = required(text, key)?;
    value.parse().map_err(|_| format!("{key}={value} is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_a_round_trip() {
        let version = StorageVersion {
            datanode_uuid: "u".into(),
            cluster_id: "CID:1".into(),
            storage_id: "DS-1".into(),
            layout_version: -57,
        };
        let text = version.to_text();
        assert!(
            text.contains("\ndatanodeUuid=u\nstorageType=DATA_NODE\ncTime=0\nclusterID=CID\\:1\nlayoutVersion=-57\n")
        );
        assert_eq!(StorageVersion::parse(&text).unwrap(), version);
        assert!(StorageVersion::parse("storageType=NAME_NODE").unwrap_err().contains("NAME_NODE"));
        let pool = PoolVersion { namespace_id: 7, pool_id: "BP-1".into(), ctime: 9, layout_version: -57 };
        assert_eq!(PoolVersion::parse(&pool.to_text()).unwrap(), pool);
        assert_eq!(PoolVersion::parse("x").unwrap_err(), "file VERSION has namespaceID missing.");
    }
}
