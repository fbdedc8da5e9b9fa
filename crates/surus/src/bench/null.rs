//! A server that answers every call at once with as little as the clients accept.

use crate::{exit, limits};
use anyhow::{Context, Result};
use prost::Message;
use std::sync::Arc;
use surus_net::rpc::{Reply, RpcCall, RpcLimits, RpcServer, RpcService};
use surus_proto::hadoop::hdfs::{NamespaceInfoProto, StorageInfoProto, VersionResponseProto};

/// Calls whose answer is a required boolean: Java's client refuses an empty one.
const YES: [&str; 8] =
    ["mkdirs", "delete", "rename", "setReplication", "complete", "setSafeMode", "truncate", "recoverLease"];
/// `true` as the first field.
const YES_BYTES: [u8; 2] = [0x08, 0x01];

struct NullNameNode;

impl RpcService for NullNameNode {
    fn call(&self, call: RpcCall<'_>, reply: Reply<'_>) {
        if call.method == "versionRequest" {
            // NNThroughputBenchmark asks before it begins.
            return reply.ok(&version());
        }
        let yes = YES.contains(&call.method);
        reply.ok_encoded(|out| {
            if yes {
                out.extend_from_slice(&YES_BYTES);
            }
        });
    }
}

fn version() -> impl Message {
    let storage_info = StorageInfoProto { layout_version: 0, namespce_id: 0, cluster_id: "null".into(), c_time: 0 };
    let (build_version, software_version) = ("null".into(), "null".into());
    let info = NamespaceInfoProto {
        build_version,
        software_version,
        block_pool_id: "BP-null".into(),
        storage_info,
        ..Default::default()
    };
    VersionResponseProto { info }
}

/// Serves until a signal comes.
pub fn run(listen: &str) -> Result<u8> {
    limits::raise_open_files();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let server = RpcServer::bind(listen, Arc::new(NullNameNode), RpcLimits::default(), runtime.handle())
        .with_context(|| format!("cannot listen on {listen}"))?;
    println!("null NameNode at hdfs://{}", server.local_addr());
    runtime.block_on(tokio::signal::ctrl_c())?;
    Ok(exit::OK)
}
