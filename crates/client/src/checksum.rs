//! The checksum of a whole file, made of what the DataNodes say of its blocks. Source: `FileChecksumHelper.java`,
//! `MD5MD5CRC32FileChecksum.java`, Hadoop 3.5.0.

use crate::client::{DfsClient, not_found};
use crate::datanode::{receive_text, xfer_addr};
use crate::error::{ClientError, Result};
use std::io::Write;
use surus_net::data::DataReader;
use surus_proto::hadoop::hdfs as proto;
use surus_wire::datatransfer::op::put_op;
use surus_wire::datatransfer::{ChecksumType, CompositeCrc, Op, md5};

/// Hadoop digests its whole output buffer, which begins with this many bytes and doubles, with the zeros behind what was
/// written. Source: `DataOutputBuffer.java`, Hadoop 3.5.0.
const BUFFER_LEN: usize = 32;

/// Equal files written with equal settings have equal ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChecksum {
    /// `MD5-of-0MD5-of-512CRC32C`, `COMPOSITE-CRC32C`.
    pub algorithm: String,
    pub bytes: Vec<u8>,
}

/// What all blocks have to agree in.
struct Shape {
    bytes_per_crc: u32,
    crc_per_block: u64,
    crc_type: ChecksumType,
}

impl DfsClient {
    /// # Errors
    /// The file is missing or open for writing; a block has no DataNode that answers.
    pub fn file_checksum(&self, path: &str) -> Result<FileChecksum> {
        let located = self.get_block_locations(path, 0, u64::MAX >> 1)?;
        if located.under_construction {
            return Err(ClientError::io(format!("Fail to get checksum, since file {path} is under construction.")));
        }
        if located.ec_policy.is_some() {
            return Err(ClientError::io(format!(
                "{path} is erasure-coded: its checksum is not supported by this client"
            )));
        }
        let composite = self.config().read.composite_crc;
        let mut md5s = Vec::with_capacity(located.blocks.len() * 16);
        let mut crcs: Option<CompositeCrc> = None;
        let mut shape: Option<Shape> = None;
        for block in &located.blocks {
            let answer = self.block_checksum(path, block, composite)?;
            let crc_type = ChecksumType::from_number(answer.crc_type.unwrap_or(1))
                .ok_or_else(|| ClientError::io("unknown checksum type"))?;
            let first = shape.get_or_insert(Shape {
                bytes_per_crc: answer.bytes_per_crc,
                crc_per_block: if located.blocks.len() > 1 { answer.crc_per_block } else { 0 },
                crc_type,
            });
            if first.bytes_per_crc != answer.bytes_per_crc && !composite {
                return Err(ClientError::io(format!(
                    "Byte-per-checksum not matched: bpc={} but bytesPerCRC={}",
                    answer.bytes_per_crc, first.bytes_per_crc
                )));
            }
            if composite {
                let crc = answer.block_checksum.first_chunk().copied().map(u32::from_be_bytes);
                let crc = crc.ok_or_else(|| ClientError::io("a block checksum of less than four bytes"))?;
                if crcs.is_none() {
                    crcs = CompositeCrc::new(crc_type);
                }
                if let Some(crcs) = &mut crcs {
                    crcs.append(crc, block.b.num_bytes.unwrap_or(0));
                }
            } else {
                md5s.extend_from_slice(&answer.block_checksum);
            }
        }
        Ok(match (composite, shape) {
            (true, shape) => FileChecksum {
                algorithm: format!("COMPOSITE-{}", shape.map_or("CRC32C", |s| s.crc_type.name())),
                bytes: crcs.map_or(0, CompositeCrc::crc).to_be_bytes().to_vec(),
            },
            (false, None) => {
                pad(&mut md5s);
                md5_of(0, 0, "CRC32", md5(&md5s))
            }
            (false, Some(s)) => {
                pad(&mut md5s);
                md5_of(s.bytes_per_crc, s.crc_per_block, s.crc_type.name(), md5(&md5s))
            }
        })
    }

    fn block_checksum(
        &self,
        path: &str,
        block: &proto::LocatedBlockProto,
        composite: bool,
    ) -> Result<proto::OpBlockChecksumResponseProto> {
        let config = &self.config().read;
        let mut last_error =
            not_found(format!("Fail to get block checksum for {}", crate::datanode::block_text(&block.b)));
        for datanode in &block.locs {
            let addr = xfer_addr(datanode, config.use_datanode_hostname);
            match ask(&addr, config.socket_timeout, block, composite) {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    tracing::warn!("{path}: {error}");
                    last_error = error;
                }
            }
        }
        Err(last_error)
    }
}

/// Fills up with zeros to the length that Hadoop's buffer has.
fn pad(md5s: &mut Vec<u8>) {
    md5s.resize(md5s.len().next_power_of_two().max(BUFFER_LEN), 0);
}

fn md5_of(bytes_per_crc: u32, crc_per_block: u64, crc_type: &str, md5: [u8; 16]) -> FileChecksum {
    let mut bytes = Vec::with_capacity(28);
    bytes.extend(bytes_per_crc.to_be_bytes());
    bytes.extend(crc_per_block.to_be_bytes());
    bytes.extend(md5);
    FileChecksum { algorithm: format!("MD5-of-{crc_per_block}MD5-of-{bytes_per_crc}{crc_type}"), bytes }
}

fn ask(
    addr: &str,
    timeout: std::time::Duration,
    block: &proto::LocatedBlockProto,
    composite: bool,
) -> Result<proto::OpBlockChecksumResponseProto> {
    let kind = match composite {
        true => proto::BlockChecksumTypeProto::CompositeCrc,
        false => proto::BlockChecksumTypeProto::Md5crc,
    };
    let op = proto::OpBlockChecksumProto {
        header: proto::BaseHeaderProto {
            block: block.b.clone(),
            token: Some(block.block_token.clone()),
            trace_info: None,
        },
        block_checksum_options: Some(proto::BlockChecksumOptionsProto {
            block_checksum_type: Some(kind as i32),
            stripe_length: Some(0),
        }),
    };
    let stream = crate::datanode::connect(addr, timeout)?;
    let mut request = Vec::with_capacity(256);
    put_op(&mut request, Op::BlockChecksum, &op);
    (&stream).write_all(&request)?;
    let answer: proto::BlockOpResponseProto =
        DataReader::new(stream).read_message().map_err(|e| ClientError::io(receive_text(addr, &e)))?;
    match answer.checksum_response {
        Some(checksum) if answer.status == proto::Status::Success as i32 => Ok(checksum),
        _ => Err(ClientError::io(format!(
            "Got error, status message {}, for OP_BLOCK_CHECKSUM, remote={addr}",
            answer.message.unwrap_or_default()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_an_empty_file_is_hadoops() {
        let mut none = Vec::new();
        pad(&mut none);
        let empty = md5_of(0, 0, "CRC32", md5(&none));
        assert_eq!(empty.algorithm, "MD5-of-0MD5-of-0CRC32");
        let hex: String = empty.bytes.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, "00000000000000000000000070bc8f4b72a86921468bf8e8441dce51");
    }
}
