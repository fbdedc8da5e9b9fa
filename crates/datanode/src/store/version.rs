//! VERSION files of a data directory: Java properties in the key order Hadoop writes.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

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
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let mut text = format!("#{}\n", java_date(now));
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

/// `Mon Nov 30 11:07:25 UTC 2026`, as `java.util.Date` prints it.
pub(crate) fn java_date(unix_seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    // Days to a civil date, counted in 400-year eras that begin on 1 March.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12;
    let year = era * 400 + year_of_era + u64::from(march_month >= 10);
    format!(
        "{} {} {day:02} {:02}:{:02}:{:02} UTC {year}",
        DAYS[(days % 7) as usize],
        MONTHS[month as usize],
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_java_prints_them() {
        assert_eq!(java_date(1_796_036_845), "Mon Nov 30 11:07:25 UTC 2026");
        assert_eq!(java_date(0), "Thu Jan 01 00:00:00 UTC 1970");
        assert_eq!(java_date(951_782_400), "Tue Feb 29 00:00:00 UTC 2000");
    }

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
