//! The file VERSION of a name directory: who the file system is. A Java properties file.

use surus_types::date::utc_java_date;

/// Layout version of Hadoop 3.4 and 3.5. Source: `NameNodeLayoutVersion.java`, Hadoop 3.5.0.
pub const LAYOUT_VERSION: i32 = -67;

/// The oldest layout that is written: Hadoop 3.3's, which differs in nothing that is written here. Directories of an older one
/// must be upgraded.
pub const OLDEST_WRITTEN_LAYOUT: i32 = -66;

/// The identity of a file system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StorageInfo {
    pub namespace_id: i32,
    /// `CID-` and a UUID, unless the operator chose one.
    pub cluster_id: String,
    /// `BP-<random>-<address>-<milliseconds>`.
    pub block_pool_id: String,
    /// When the file system was made or last upgraded, milliseconds since 1970.
    pub c_time: i64,
    pub layout_version: i32,
}

impl StorageInfo {
    /// Ids of a new file system, the way Hadoop makes them, from random bits and the host's address.
    /// Source: `NNStorage.newNamespaceID`, `newClusterID`, `newBlockPoolID`, Hadoop 3.5.0.
    pub fn new(random: [u64; 3], now_ms: i64, address: &str, cluster_id: Option<&str>) -> StorageInfo {
        let namespace_id = (random[0] & 0x7FFF_FFFF) as i32;
        let pool = (random[0] >> 32) & 0x7FFF_FFFF;
        StorageInfo {
            namespace_id: namespace_id.max(1),
            cluster_id: cluster_id.map_or_else(|| format!("CID-{}", uuid(random[1], random[2])), str::to_owned),
            block_pool_id: format!("BP-{pool}-{address}-{now_ms}"),
            c_time: now_ms,
            layout_version: LAYOUT_VERSION,
        }
    }

    /// The file's text, keys in the order in which Hadoop 3.5.0 writes them.
    pub fn to_properties(&self, now_ms: i64) -> String {
        format!(
            "#{}\nnamespaceID={}\nblockpoolID={}\nstorageType=NAME_NODE\ncTime={}\nclusterID={}\nlayoutVersion={}\n",
            utc_java_date(now_ms),
            self.namespace_id,
            self.block_pool_id,
            self.c_time,
            self.cluster_id,
            self.layout_version
        )
    }

    /// # Errors
    /// Names the key that is missing or wrong.
    pub fn parse(text: &str) -> Result<StorageInfo, String> {
        let value = |key: &str| {
            let mut lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with(['#', '!']));
            let value = lines.find_map(|line| line.split_once('=').filter(|(k, _)| k.trim_end() == key));
            value.map(|(_, value)| value.trim().replace("\\:", ":")).ok_or_else(|| format!("{key} is missing"))
        };
        fn number<T: std::str::FromStr>(key: &str, text: &str) -> Result<T, String> {
            text.parse().map_err(|_| format!("{key} is no number: {text}"))
        }
        let storage_type = value("storageType")?;
        if storage_type != "NAME_NODE" {
            return Err(format!("storageType is {storage_type}, not NAME_NODE"));
        }
        Ok(StorageInfo {
            namespace_id: number("namespaceID", &value("namespaceID")?)?,
            cluster_id: value("clusterID")?,
            block_pool_id: value("blockpoolID")?,
            c_time: number("cTime", &value("cTime")?)?,
            layout_version: number("layoutVersion", &value("layoutVersion")?)?,
        })
    }
}

fn uuid(high: u64, low: u64) -> String {
    let (high, low) = (high & !0xF000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xFFFF,
        high & 0xFFFF,
        low >> 48,
        low & 0xFFFF_FFFF_FFFF
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_version_file() {
        let text = "#Mon Nov 30 10:52:56 UTC 2026\nnamespaceID=288405605\n\
            blockpoolID=BP-849157285-127.0.0.1-1796035898107\nstorageType=NAME_NODE\ncTime=1796035898111\n\
            clusterID=CID-2371b87b-e0e5-4d24-a06f-689ef34566a5\nlayoutVersion=-67\n";
        let info = StorageInfo::parse(text).unwrap();
        assert_eq!(info.to_properties(1_796_035_976_000), text);
        assert_eq!(utc_java_date(951_782_400_000), "Tue Feb 29 00:00:00 UTC 2000");
        assert_eq!(utc_java_date(-1000), "Wed Dec 31 23:59:59 UTC 1969");
        assert_eq!(StorageInfo::parse("").unwrap_err(), "storageType is missing");
        assert_eq!(StorageInfo::parse(&text.replace("-67", "x")).unwrap_err(), "layoutVersion is no number: x");
        assert_eq!(
            StorageInfo::parse(&text.replace("NAME", "DATA")).unwrap_err(),
            "storageType is DATA_NODE, not NAME_NODE"
        );
    }

    #[test]
    fn new_ids_look_like_hadoops() {
        let info = StorageInfo::new([u64::MAX, u64::MAX, u64::MAX], 5, "127.0.0.1", None);
        assert_eq!(info.block_pool_id, "BP-2147483647-127.0.0.1-5");
        assert_eq!(info.cluster_id, "CID-ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
