//! ClientProtocol. Handlers stand in groups; this is the table of them.
//! Source: `ClientNamenodeProtocolServerSideTranslatorPB.java`, `NameNodeRpcServer.java`, Hadoop 3.5.0.

mod namespace;
pub mod policies;

use crate::call::{Method, Run};

pub const NAME: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

/// Sorted by name.
pub static METHODS: &[Method] = &[
    Method { name: "getFileInfo", run: Run::Read(namespace::get_file_info) },
    Method { name: "getListing", run: Run::Read(namespace::get_listing) },
    Method { name: "mkdirs", run: Run::Write(namespace::mkdirs) },
];
