//! What the gateway reads of the configuration, once.

use crate::HttpFsError;
use surus_client::ClientConfig;
use surus_conf::{Addr, Configuration, keys};
use surus_net::groups::GroupTimes;
use surus_types::FsPermission;
use surus_webhdfs::{Method, Operation};

/// `httpfs.access.mode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessMode {
    ReadWrite,
    WriteOnly,
    ReadOnly,
}

impl AccessMode {
    /// Source: `HttpFSServer.java`, Hadoop 3.4.2: who may only write may still look whether something is there.
    pub fn allows(self, method: Method, operation: &Operation) -> bool {
        match self {
            AccessMode::ReadWrite => true,
            AccessMode::WriteOnly => {
                method != Method::Get || matches!(operation, Operation::GetFileStatus | Operation::ListStatus)
            }
            AccessMode::ReadOnly => method == Method::Get,
        }
    }
}

pub struct HttpFsConfig {
    pub address: Addr,
    pub access_mode: AccessMode,
    /// Of the gateway's own user.
    pub client: ClientConfig,
    pub groups: GroupTimes,
    pub group_overrides: String,
}

/// Keys that ask for protection, and the values that ask for none.
const PROTECTION: [(&str, &str); 4] = [
    ("hadoop.http.authentication.type", "simple"),
    ("httpfs.authentication.type", "simple"),
    ("httpfs.hadoop.authentication.type", "simple"),
    ("httpfs.ssl.enabled", "false"),
];

impl HttpFsConfig {
    pub fn from_configuration(conf: &Configuration) -> Result<HttpFsConfig, HttpFsError> {
        for (key, harmless) in PROTECTION {
            let value = conf.text(key)?.unwrap_or_default().trim().to_string();
            if !value.is_empty() && !value.eq_ignore_ascii_case(harmless) {
                return Err(HttpFsError::Protection { key, value });
            }
        }
        let mut client = ClientConfig::from_conf(conf, None)?;
        // The permission in a request is meant as it stands. Source: `FileSystemAccessService.java`, Hadoop 3.4.2.
        client.umask = FsPermission(0);
        Ok(HttpFsConfig {
            address: Addr {
                host: conf.get(keys::HTTPFS_HTTP_HOSTNAME)?,
                port: u16::try_from(conf.get(keys::HTTPFS_HTTP_PORT)?).unwrap_or_default(),
            },
            access_mode: match conf.get(keys::HTTPFS_ACCESS_MODE)? {
                "write-only" => AccessMode::WriteOnly,
                "read-only" => AccessMode::ReadOnly,
                _ => AccessMode::ReadWrite,
            },
            client,
            groups: GroupTimes::from_conf(conf)?,
            group_overrides: conf.get(keys::HADOOP_USER_GROUP_STATIC_MAPPING_OVERRIDES)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_each_mode_allows() {
        let status = &Operation::GetFileStatus;
        let open = &Operation::Open { offset: 0, length: None };
        let delete = &Operation::Delete { recursive: false };
        assert!(AccessMode::ReadOnly.allows(Method::Get, open) && !AccessMode::ReadOnly.allows(Method::Delete, delete));
        assert!(AccessMode::WriteOnly.allows(Method::Get, status) && !AccessMode::WriteOnly.allows(Method::Get, open));
        assert!(
            AccessMode::WriteOnly.allows(Method::Delete, delete) && AccessMode::ReadWrite.allows(Method::Get, open)
        );
    }

    #[test]
    fn wishes_for_protection_are_not_ignored() {
        let mut conf = Configuration::new();
        conf.set("fs.defaultFS", "hdfs://h:1");
        assert_eq!(
            HttpFsConfig::from_configuration(&conf).map(|c| c.address.to_string()).ok().unwrap(),
            "0.0.0.0:14000"
        );
        conf.set("httpfs.ssl.enabled", "true");
        let text = HttpFsConfig::from_configuration(&conf).err().unwrap().to_string();
        assert!(text.starts_with("httpfs.ssl.enabled = true"), "{text}");
    }
}
