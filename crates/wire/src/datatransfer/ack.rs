//! Acknowledgements that travel up a pipeline: one status for each DataNode, the sender's own first.

use crate::varint::{Value, put_uint, put_varint, take_field, take_varint, uint_len, unzigzag, varint_len, zigzag};
use alloc::vec::Vec;
use surus_proto::hadoop::hdfs::Status;

/// `PipelineAckProto`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PipelineAck {
    pub seqno: i64,
    /// The acknowledging DataNode first, then those downstream of it.
    pub replies: Vec<Status>,
    /// Time from forwarding the packet to the acknowledgement from downstream, in nanoseconds.
    pub downstream_ack_time_nanos: u64,
    /// Congestion and slowness of each DataNode; 0: nothing to say. See `flags`.
    pub flags: Vec<u32>,
}

/// The parts of a flag. Source: `PipelineAck.StatusFormat`, Hadoop 3.5.0.
pub mod flags {
    /// Explicit congestion notification: 0 disabled, 1 supported, 3 congested.
    pub const ECN_SHIFT: u32 = 5;
    pub const ECN_MASK: u32 = 3;
    pub const ECN_CONGESTED: u32 = 3;
    /// The status, again.
    pub const STATUS_MASK: u32 = 0xf;
    /// The slow-node mark above the congestion bits.
    pub const SLOW_SHIFT: u32 = 7;
}

/// Longest list of statuses that is accepted; a pipeline is never longer (`dfs.replication.max` is 512).
const REPLIES_MAX: usize = 1024;

impl PipelineAck {
    /// An acknowledgement of the last DataNode of a pipeline.
    pub fn success(seqno: i64) -> Self {
        PipelineAck {
            seqno,
            replies: alloc::vec![Status::Success],
            downstream_ack_time_nanos: 0,
            flags: alloc::vec![0],
        }
    }

    /// Whether every DataNode took the packet.
    pub fn is_success(&self) -> bool {
        self.replies.iter().all(|reply| *reply == Status::Success)
    }

    /// The first DataNode whose status is not SUCCESS, counted from the sender.
    pub fn first_failure(&self) -> Option<(usize, Status)> {
        self.replies.iter().copied().enumerate().find(|(_, reply)| *reply != Status::Success)
    }

    /// Whether this is an out-of-band message (a DataNode about to restart), and which.
    /// Source: `PipelineAck.getOOBStatus`, Hadoop 3.5.0.
    pub fn oob_status(&self) -> Option<Status> {
        if self.seqno != super::UNKNOWN_SEQNO {
            return None;
        }
        self.replies
            .iter()
            .copied()
            .find(|reply| (Status::OobRestart as i32..=Status::OobReserved3 as i32).contains(&(*reply as i32)))
    }

    /// Appends the acknowledgement with its length.
    pub fn put(&self, out: &mut Vec<u8>) {
        let flags: usize = self.flags.iter().map(|flag| varint_len(u64::from(*flag))).sum();
        let len = uint_len(1, zigzag(self.seqno))
            + self.replies.iter().map(|reply| uint_len(2, *reply as u64)).sum::<usize>()
            + uint_len(3, self.downstream_ack_time_nanos)
            + if self.flags.is_empty() { 0 } else { 1 + varint_len(flags as u64) + flags };
        put_varint(out, len as u64);
        put_uint(out, 1, zigzag(self.seqno));
        for reply in &self.replies {
            put_uint(out, 2, *reply as u64);
        }
        put_uint(out, 3, self.downstream_ack_time_nanos);
        if !self.flags.is_empty() {
            out.push(4 << 3 | 2);
            put_varint(out, flags as u64);
            for flag in &self.flags {
                put_varint(out, u64::from(*flag));
            }
        }
    }

    /// Decodes an acknowledgement without its length, over the old content of `self`. `None` where it is none.
    pub fn decode_into(&mut self, mut bytes: &[u8]) -> Option<()> {
        self.replies.clear();
        self.flags.clear();
        self.downstream_ack_time_nanos = 0;
        let mut seqno = None;
        while let Some(field) = take_field(&mut bytes).ok()? {
            match field {
                (1, Value::Varint(value)) => seqno = Some(unzigzag(value)),
                (2, Value::Varint(value)) => self.replies.push(Status::try_from(i32::try_from(value).ok()?).ok()?),
                (3, Value::Varint(value)) => self.downstream_ack_time_nanos = value,
                (4, Value::Varint(value)) => self.flags.push(value as u32),
                (4, Value::Bytes(mut packed)) => {
                    while !packed.is_empty() && self.flags.len() < REPLIES_MAX {
                        self.flags.push(take_varint(&mut packed)? as u32);
                    }
                }
                _ => {}
            }
            if self.replies.len() > REPLIES_MAX || self.flags.len() > REPLIES_MAX {
                return None;
            }
        }
        self.seqno = seqno?;
        Some(())
    }
}
