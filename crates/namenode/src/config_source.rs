//! Where the configuration is read anew while the NameNode runs: refreshed proxy users and service ACLs, reconfiguration.

use std::sync::Arc;
use surus_conf::Configuration;
use surus_types::HdfsError;

type Read = dyn Fn() -> Result<Configuration, String> + Send + Sync;

/// Reads the site files and hadoop-policy.xml again; may wait for the disk.
#[derive(Clone)]
pub struct ConfigSource(Arc<Read>);

impl ConfigSource {
    pub fn new(read: impl Fn() -> Result<Configuration, String> + Send + Sync + 'static) -> Self {
        ConfigSource(Arc::new(read))
    }

    /// # Errors
    /// IOException: a file cannot be read or does not parse.
    pub fn read(&self) -> Result<Configuration, HdfsError> {
        (self.0)().map_err(HdfsError::io)
    }
}

impl std::fmt::Debug for ConfigSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ConfigSource")
    }
}
