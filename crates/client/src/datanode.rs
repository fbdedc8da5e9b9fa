//! What reading and writing share about DataNodes: addresses, connections, the block's identity in an operation.

use crate::error::{ClientError, Result};
use std::io;
use std::net::TcpStream;
use std::time::Duration;
use surus_net::data::ReceiveError;
use surus_proto::hadoop::hdfs as proto;

/// Each DataNode of a pipeline adds this to a time limit. Source: `HdfsConstants.READ_TIMEOUT_EXTENSION`, Hadoop 3.5.0.
pub(crate) const TIMEOUT_PER_NODE: Duration = Duration::from_secs(5);

/// `host:port` for data transfer.
pub(crate) fn xfer_addr(datanode: &proto::DatanodeInfoProto, use_hostname: bool) -> String {
    let id = &datanode.id;
    format!("{}:{}", if use_hostname { &id.host_name } else { &id.ip_addr }, id.xfer_port)
}

/// `host:port` of the DataNode's RPC door.
pub(crate) fn ipc_addr(datanode: &proto::DatanodeInfoProto, use_hostname: bool) -> String {
    let id = &datanode.id;
    format!("{}:{}", if use_hostname { &id.host_name } else { &id.ip_addr }, id.ipc_port)
}

/// Connects for data transfer; `timeout` counts for connecting, each read and each write.
pub(crate) fn connect(addr: &str, timeout: Duration) -> Result<TcpStream> {
    surus_net::stream::connect_data(addr, timeout, timeout)
        .map_err(|e| ClientError::io(format!("cannot connect to DataNode {addr}: {}", crate::io_text(&e))))
}

/// `BP-1:blk_1_1001`.
pub(crate) fn block_text(block: &proto::ExtendedBlockProto) -> String {
    format!("{}:blk_{}_{}", block.pool_id, block.block_id.cast_signed(), block.generation_stamp)
}

/// Header of an operation on `located`, with its token.
pub(crate) fn client_header(
    located: &proto::LocatedBlockProto,
    client_name: &str,
) -> proto::ClientOperationHeaderProto {
    proto::ClientOperationHeaderProto {
        base_header: proto::BaseHeaderProto {
            block: located.b.clone(),
            token: Some(located.block_token.clone()),
            trace_info: None,
        },
        client_name: client_name.to_string(),
    }
}

/// The text of a failure to receive from `addr`.
pub(crate) fn receive_text(addr: &str, error: &ReceiveError) -> String {
    match error {
        ReceiveError::Io(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            format!("no answer from DataNode {addr} in time")
        }
        ReceiveError::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
            format!("DataNode {addr} closed the connection")
        }
        ReceiveError::Io(e) => format!("connection to DataNode {addr}: {}", crate::io_text(e)),
        other => format!("bad answer from DataNode {addr}: {other}"),
    }
}
