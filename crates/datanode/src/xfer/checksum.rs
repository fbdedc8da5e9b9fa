//! BLOCK_CHECKSUM: the checksum of a whole replica, made of its chunks' checksums.
//! Source: `BlockChecksumHelper.java`, Hadoop 3.5.0.

use super::io::write_message;
use super::sender::BlockSender;
use super::server::{After, Session};
use crate::store::meta;
use std::io;
use surus_proto::hadoop::hdfs::{
    BlockChecksumTypeProto, BlockOpResponseProto, OpBlockChecksumProto, OpBlockChecksumResponseProto, Status,
};
use surus_types::HdfsError;
use surus_wire::datatransfer::{CompositeCrc, Md5OfCrcs};

/// Checksums read at a time.
const READ_BYTES: usize = 256 << 10;

pub(super) fn block_checksum(session: &mut Session<'_>, op: &OpBlockChecksumProto) -> io::Result<After> {
    let (pool_id, block) = super::write::block_of(&op.header.block);
    let kind = op
        .block_checksum_options
        .as_ref()
        .map_or(BlockChecksumTypeProto::Md5crc, |options| options.block_checksum_type());
    let computed = session.node.pool(pool_id).and_then(|pool| {
        let info = session.node.replica(pool_id, &block)?.1;
        let visible = info
            .visible_length
            .ok_or_else(|| HdfsError::io(format!("Replica is not readable, block={block}, {}", info.state.name())))?;
        // Zero stands for "all of it": old clients do not say the length.
        let length = if block.num_bytes == 0 { visible } else { visible.min(block.num_bytes) };
        let sender = BlockSender::open(&pool, &block, 0, length, true).map_err(|e| e.error)?;
        compute(&sender, length, kind).map_err(|e| HdfsError::io(e.to_string()))
    });
    match computed {
        Ok(answer) => {
            let mut answer = answer;
            answer.block_checksum_options = op.block_checksum_options;
            let response = BlockOpResponseProto {
                status: Status::Success as i32,
                checksum_response: Some(answer),
                ..Default::default()
            };
            write_message(session.stream(), &response)?;
            Ok(After::KeepAlive)
        }
        Err(e) => {
            session
                .respond(Status::Error, Some(format!("opBlockChecksum {pool_id}:{block} received exception {e}")))?;
            Ok(After::KeepAlive)
        }
    }
}

fn compute(
    sender: &BlockSender,
    length: u64,
    kind: BlockChecksumTypeProto,
) -> io::Result<OpBlockChecksumResponseProto> {
    let checksum = sender.checksum;
    let chunk = checksum.bytes_per_checksum();
    let mut md5 = Md5OfCrcs::default();
    let mut composite = CompositeCrc::new(checksum.kind());
    let chunks = length.div_ceil(u64::from(chunk));
    let size = checksum.checksum_size() as u64;
    let mut left = chunks * size;
    let (mut offset, mut data_left) = (meta::HEADER_BYTES, length);
    let mut buffer = vec![0; READ_BYTES];
    while left > 0 {
        let want = (left as usize).min(READ_BYTES);
        let sums = &mut buffer[..want];
        sender.read_meta(sums, offset)?;
        left -= want as u64;
        if left == 0 {
            sender.fix_last_sum(sums, length)?;
        }
        let covers = data_left.min((want as u64 / size) * u64::from(chunk));
        md5.update(sums);
        if let Some(composite) = &mut composite {
            composite.append_chunks(sums, chunk, covers);
        }
        offset += want as u64;
        data_left -= covers;
    }
    let bytes = match (kind, composite) {
        (BlockChecksumTypeProto::CompositeCrc, Some(composite)) => composite.crc().to_be_bytes().to_vec(),
        (BlockChecksumTypeProto::CompositeCrc, None) => vec![0; 4],
        _ => md5.finish().to_vec(),
    };
    Ok(OpBlockChecksumResponseProto {
        bytes_per_crc: chunk,
        crc_per_block: if size == 0 { 0 } else { chunks },
        block_checksum: bytes,
        crc_type: Some(checksum.kind().to_proto() as i32),
        block_checksum_options: None,
    })
}
