//! Where the blocks of a file are, fetched as far ahead as asked for, and how long the file is, with what a writer has
//! flushed of its last block. Source: `DFSInputStream.java`, Hadoop 3.5.0.

use crate::client::DfsClient;
use crate::datanode::ipc_addr;
use crate::error::{ClientError, Result};
use std::time::Duration;
use surus_net::rpc::RpcClient;
use surus_proto::hadoop::hdfs as proto;
use surus_types::ExceptionClass;

/// Java name of the protocol.
const CLIENT_DATANODE_PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
/// Blocks looked up at once: this many of the default size.
const PREFETCH_BLOCKS: u64 = 10;
/// Between attempts to learn the length of the last block.
const LAST_BLOCK_RETRY: Duration = Duration::from_secs(4);

/// The known blocks of one file.
pub(crate) struct Locations {
    path: String,
    /// In file order; a range that was not fetched yet is missing.
    blocks: Vec<proto::LocatedBlockProto>,
    /// Of the complete blocks, in bytes.
    complete_length: u64,
    /// The block under construction, its length the visible one.
    last: Option<proto::LocatedBlockProto>,
    pub ec_policy: Option<String>,
    pub encryption: Option<proto::FileEncryptionInfoProto>,
}

impl Locations {
    pub fn fetch(client: &DfsClient, path: &str) -> Result<Self> {
        let mut attempts = client.config().read.last_block_length_retries;
        loop {
            let answer = client.get_block_locations(path, 0, prefetch(client))?;
            let last = match last_under_construction(client, &answer) {
                Ok(last) => last,
                Err(_) if attempts > 0 => {
                    attempts -= 1;
                    std::thread::sleep(LAST_BLOCK_RETRY);
                    continue;
                }
                Err(error) => return Err(error),
            };
            return Ok(Locations {
                path: path.to_string(),
                complete_length: answer.file_length,
                last,
                ec_policy: answer.ec_policy.map(|policy| crate::status::ec_policy_name(&policy)),
                encryption: answer.file_encryption_info,
                blocks: answer.blocks,
            });
        }
    }

    /// Length of the file in bytes.
    pub fn length(&self) -> u64 {
        self.complete_length.saturating_add(self.last.as_ref().map_or(0, block_length))
    }

    pub fn is_under_construction(&self) -> bool {
        self.last.is_some()
    }

    /// The block that holds byte `offset` of the file, which is shorter than `length`.
    pub fn block_at(&mut self, client: &DfsClient, offset: u64) -> Result<proto::LocatedBlockProto> {
        if offset >= self.complete_length
            && let Some(last) = &self.last
        {
            return Ok(last.clone());
        }
        if self.find(offset).is_none() {
            self.fetch_from(client, offset)?;
        }
        match self.find(offset) {
            Some(i) => Ok(self.blocks[i].clone()),
            None => Err(ClientError::io(format!("no block at offset {offset} of {}", self.path))),
        }
    }

    /// Asks again for the blocks from `offset` on: locations and tokens grow old.
    pub fn fetch_from(&mut self, client: &DfsClient, offset: u64) -> Result<()> {
        let answer = client.get_block_locations(&self.path, offset, prefetch(client))?;
        for block in answer.blocks {
            match self.blocks.binary_search_by_key(&block.offset, |b| b.offset) {
                Ok(i) => self.blocks[i] = block,
                Err(i) => self.blocks.insert(i, block),
            }
        }
        // Its DataNodes may be others by now; how much of it is shown was settled at the start.
        if let (Some(last), Some(mut found)) = (&mut self.last, answer.last_block)
            && found.b.block_id == last.b.block_id
        {
            found.b.num_bytes = last.b.num_bytes;
            *last = found;
        }
        Ok(())
    }

    fn find(&self, offset: u64) -> Option<usize> {
        let i = self.blocks.partition_point(|b| b.offset <= offset).checked_sub(1)?;
        let block = &self.blocks[i];
        (offset - block.offset < block_length(block)).then_some(i)
    }
}

/// Bytes in a block.
pub(crate) fn block_length(block: &proto::LocatedBlockProto) -> u64 {
    block.b.num_bytes.unwrap_or(0)
}

fn prefetch(client: &DfsClient) -> u64 {
    let config = client.config();
    config.read.prefetch.unwrap_or_else(|| config.write.block_size.saturating_mul(PREFETCH_BLOCKS))
}

/// The last block where it is still being written, with the length its DataNodes show to readers.
fn last_under_construction(
    client: &DfsClient,
    answer: &proto::LocatedBlocksProto,
) -> Result<Option<proto::LocatedBlockProto>> {
    if answer.is_last_block_complete {
        return Ok(None);
    }
    let Some(mut last) = answer.last_block.clone() else { return Ok(None) };
    let length = visible_length(client, &last)?;
    last.b.num_bytes = Some(length);
    Ok(Some(last))
}

fn visible_length(client: &DfsClient, block: &proto::LocatedBlockProto) -> Result<u64> {
    let config = client.config();
    let (mut not_found, mut failure) = (0, None);
    for datanode in &block.locs {
        let addr = ipc_addr(datanode, config.read.use_datanode_hostname);
        let rpc = RpcClient::new(&addr, config.user.clone(), CLIENT_DATANODE_PROTOCOL, config.rpc.clone());
        let request = proto::GetReplicaVisibleLengthRequestProto { block: block.b.clone() };
        match rpc.call::<_, proto::GetReplicaVisibleLengthResponseProto>("getReplicaVisibleLength", &request) {
            // -1: a replica that waits for its recovery. Another DataNode may have one that is written to.
            Ok(answer) if (answer.length as i64) < 0 => {
                failure = Some(ClientError::io(format!("DataNode {addr} has only a replica that waits for recovery")));
            }
            Ok(answer) => return Ok(answer.length),
            Err(error) if error.is(ExceptionClass::ReplicaNotFound) => not_found += 1,
            Err(error) => failure = Some(ClientError::Rpc(error)),
        }
    }
    // Nobody has the block yet: its writer has not reached a DataNode. The NameNode's figure is then the truth.
    match failure {
        None if not_found == block.locs.len() => Ok(0),
        _ => Err(ClientError::io(format!("Cannot obtain block length for {}", crate::datanode::block_text(&block.b)))),
    }
}
