//! The replicas of a storage as a full block report lists them: varint buffers, or the older list of longs.
//! Source: `BlockListAsLongs.java`, Hadoop 3.5.0; golden bytes in the tests.

use bytes::Bytes;
use surus_proto::hadoop::hdfs::datanode::StorageBlockReportProto;
use surus_types::{Block, BlockId, GenerationStamp, HdfsError};

/// A replica as reported: the block with the replica's length, and the number of `ReplicaStateProto`.
pub type Reported = (Block, u8);

/// FINALIZED of `ReplicaStateProto`: what the older list leaves out.
const FINALIZED: u8 = 0;
/// The highest number of `ReplicaStateProto`, TEMPORARY.
const STATE_MAX: u64 = 4;
/// The shortest replica in a buffer: four varints of one byte.
const REPLICA_BYTES_MIN: usize = 4;

/// All replicas of one storage's report.
///
/// # Errors
/// A list that is cut short or does not parse.
pub fn decode(report: &StorageBlockReportProto) -> Result<Vec<Reported>, HdfsError> {
    match report.number_of_blocks {
        Some(count) => decode_buffers(count, &report.blocks_buffers),
        None => decode_longs(&report.blocks),
    }
}

fn decode_buffers(count: u64, buffers: &[Bytes]) -> Result<Vec<Reported>, HdfsError> {
    // Java cuts its buffers anywhere, also inside a number.
    let bytes = buffers.iter().flat_map(|b| b.iter().copied());
    let total: usize = buffers.iter().map(Bytes::len).sum();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > total / REPLICA_BYTES_MIN {
        return Err(bad("it says to hold more blocks than it has bytes for"));
    }
    let mut reader = Varints { bytes };
    let mut replicas = Vec::with_capacity(count);
    for _ in 0..count {
        let zigzag = reader.next()?;
        let id = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        let (length, stamp, state) = (reader.next()?, reader.next()?, reader.next()?);
        replicas.push(replica(id, length, stamp, state)?);
    }
    Ok(replicas)
}

/// The counts of finalized and of other replicas, the finalized ones as three longs each, three times -1, and the
/// others as four longs each.
fn decode_longs(longs: &[u64]) -> Result<Vec<Reported>, HdfsError> {
    let [finalized, others, rest @ ..] = longs else {
        return if longs.is_empty() { Ok(Vec::new()) } else { Err(bad("it is cut short")) };
    };
    let count = |n: &u64| usize::try_from(*n).ok().filter(|n| *n <= longs.len());
    let (Some(finalized), Some(others)) = (count(finalized), count(others)) else {
        return Err(bad("it says to hold more blocks than it has numbers for"));
    };
    let split = finalized * 3;
    if rest.len() != split + 3 + others * 4 {
        return Err(bad("its length does not fit its counts"));
    }
    let mut replicas = Vec::with_capacity(finalized + others);
    for block in rest[..split].chunks_exact(3) {
        replicas.push(replica(block[0] as i64, block[1], block[2], u64::from(FINALIZED))?);
    }
    for block in rest[split + 3..].chunks_exact(4) {
        replicas.push(replica(block[0] as i64, block[1], block[2], block[3])?);
    }
    Ok(replicas)
}

fn replica(id: i64, num_bytes: u64, stamp: u64, state: u64) -> Result<Reported, HdfsError> {
    if state > STATE_MAX {
        return Err(bad("it holds an unknown replica state"));
    }
    let block = Block { id: BlockId(id), generation_stamp: GenerationStamp(stamp), num_bytes };
    Ok((block, state as u8))
}

fn bad(what: &str) -> HdfsError {
    HdfsError::io(format!("The block report does not parse: {what}."))
}

struct Varints<I> {
    bytes: I,
}

impl<I: Iterator<Item = u8>> Varints<I> {
    fn next(&mut self) -> Result<u64, HdfsError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.bytes.next().ok_or_else(|| bad("it is cut short"))?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(bad("it holds a number of more than ten bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a Java DataNode: blk_1073741825_1003 of 71,000 bytes, blk_1073741826_1002 of 1,000, both finalized.
    const JAVA: &[u8] = b"\x82\x80\x80\x80\x08\xd8\xaa\x04\xeb\x07\x00\x84\x80\x80\x80\x08\xe8\x07\xea\x07\x00";

    fn text(replicas: &[Reported]) -> String {
        replicas.iter().map(|(b, state)| format!("{b} {} {state}\n", b.num_bytes)).collect()
    }

    #[test]
    fn buffers_cut_anywhere() {
        for cut in 0..=JAVA.len() {
            let (a, b) = JAVA.split_at(cut);
            let report = StorageBlockReportProto {
                number_of_blocks: Some(2),
                blocks_buffers: vec![Bytes::from_static(a), Bytes::from_static(b)],
                ..Default::default()
            };
            let got = text(&decode(&report).unwrap());
            assert_eq!(got, "blk_1073741825_1003 71000 0\nblk_1073741826_1002 1000 0\n");
        }
    }

    #[test]
    fn longs() {
        let end = u64::MAX;
        let report =
            StorageBlockReportProto { blocks: vec![1, 1, 7, 8, 9, end, end, end, 10, 11, 12, 1], ..Default::default() };
        assert_eq!(text(&decode(&report).unwrap()), "blk_7_9 8 0\nblk_10_12 11 1\n");
    }

    #[test]
    fn damage_is_an_error_and_allocates_nothing() {
        let buffers = |count, bytes: &'static [u8]| StorageBlockReportProto {
            number_of_blocks: Some(count),
            blocks_buffers: vec![Bytes::from_static(bytes)],
            ..Default::default()
        };
        for report in [
            buffers(u64::MAX, JAVA),
            buffers(2, &JAVA[..20]),
            buffers(1, &[0xff; 44]),
            buffers(1, &[0, 0, 0, 5]),
            StorageBlockReportProto { blocks: vec![u64::MAX, 1, 2], ..Default::default() },
            StorageBlockReportProto { blocks: vec![1], ..Default::default() },
        ] {
            assert!(decode(&report).is_err());
        }
    }
}
