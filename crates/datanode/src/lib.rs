//! The DataNode: block store in Hadoop's layout, data transfer server, reports to the NameNodes, block recovery, HTTP.
#![forbid(unsafe_code)]

pub mod checksum;
pub mod store;
