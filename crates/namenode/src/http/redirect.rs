//! Which DataNode a client is sent to. Source: `NamenodeWebHdfsMethods.chooseDatanode`, Hadoop 3.5.0.

use surus_namespace::blocks::DatanodeHandle;
use surus_namespace::ops::get_block_locations::{BlockLocationsPart, GetBlockLocations};
use surus_namespace::{Env, Namespace};
use surus_types::{AdminState, DatanodeId, FileType, HdfsError};

/// `HOST:PORT` of the DataNode's HTTP server, by the name clients resolve.
pub fn http_address(id: &DatanodeId) -> String {
    format!("{}:{}", id.host_name, id.info_port)
}

/// That of the DataNode with this uuid, if it may be written to.
pub fn of_datanode(namespace: &Namespace, uuid: &str) -> Option<String> {
    let node = namespace.blocks.datanodes.datanode(namespace.blocks.datanodes.find(uuid)?);
    (node.alive && node.admin_state == AdminState::Normal).then(|| http_address(&node.id))
}

/// Whether no client is to be sent to this DataNode: it has no HTTP server, or the client does not want it, by host name,
/// address, or either with the transfer port.
fn is_excluded(id: &DatanodeId, excluded: &[String]) -> bool {
    id.info_port == 0
        || excluded.iter().any(|name| match name.rsplit_once(':') {
            Some((host, port)) => (host == id.host_name || host == id.ip_addr) && port.parse() == Ok(id.xfer_port),
            None => *name == id.host_name || *name == id.ip_addr,
        })
}

/// A DataNode to write a new file to: the client's own, else any.
///
/// # Errors
/// There is none.
pub fn for_create(namespace: &Namespace, env: &Env<'_>, excluded: &[String]) -> Result<String, HdfsError> {
    let nodes = &namespace.blocks.datanodes;
    let fit: Vec<DatanodeHandle> = nodes
        .handles()
        .filter(|h| {
            let node = nodes.datanode(*h);
            node.alive && node.admin_state == AdminState::Normal && !is_excluded(&node.id, excluded)
        })
        .collect();
    let local = fit.iter().find(|h| nodes.datanode(**h).id.ip_addr == *env.caller.address);
    let any = || fit.get(env.random as usize % fit.len().max(1));
    match local.or_else(any) {
        Some(handle) => Ok(http_address(&nodes.datanode(*handle).id)),
        None => {
            let list = if excluded.is_empty() { "null".to_owned() } else { excluded.join(",") };
            let text = format!("Failed to find datanode, suggest to check cluster health. excludeDatanodes={list}");
            Err(HdfsError::io(text))
        }
    }
}

/// A DataNode that holds the byte at `offset` of a file, or its last one where `offset` is absent; any for a file without
/// bytes and for a directory, where the DataNode will say what is wrong.
///
/// # Errors
/// No such file, no right to read it, an offset beyond its end, no DataNode that holds the block.
pub fn for_data(
    namespace: &Namespace,
    env: &Env<'_>,
    src: &str,
    offset: Option<u64>,
    excluded: &[String],
) -> Result<String, HdfsError> {
    let found = namespace.get_file_info(env, src, |s| s.map(|s| (s.file_type, s.length)))?;
    let Some((kind, length)) = found else { return Err(HdfsError::file_not_found(format!("File {src} not found."))) };
    if kind != FileType::File || length == 0 {
        return for_create(namespace, env, excluded);
    }
    if let Some(offset) = offset.filter(|o| *o >= length) {
        return Err(HdfsError::io(format!("Offset={offset} out of the range [0, {length}); OPEN, path={src}")));
    }
    let offset = i64::try_from(offset.unwrap_or(length - 1)).unwrap_or(i64::MAX);
    let asked = GetBlockLocations { src, offset, length: 1 };
    let (mut blocks, mut chosen) = (0, None);
    namespace.get_block_locations(env, &asked, &mut |part| {
        if let BlockLocationsPart::Block(block) = part {
            blocks += 1;
            let fit = |id: &&DatanodeId| !is_excluded(id, excluded);
            let in_service = block.replicas.iter().filter(|r| r.admin_state != AdminState::Decommissioned);
            chosen = chosen.take().or(in_service.map(|r| r.datanode).find(fit).map(http_address));
        }
    })?;
    match chosen {
        Some(address) => Ok(address),
        None if blocks == 0 => for_create(namespace, env, excluded),
        None => Err(HdfsError::io("No active and not excluded nodes contain this block")),
    }
}
