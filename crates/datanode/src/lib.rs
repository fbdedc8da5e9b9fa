//! The DataNode: block store in Hadoop's layout, data transfer server, reports to the NameNodes, block recovery, HTTP.
#![forbid(unsafe_code)]

pub mod checksum;
mod config;
mod datanode;
mod http;
mod ipc;
mod namenode;
mod node;
mod recovery;
pub mod store;
mod workers;
mod xfer;

pub use config::{DataNodeConfig, NameserviceConfig};
pub use datanode::{DataNode, DataNodeError};
