//! Acknowledgements in a pipeline's middle: each packet's waits for the next node's, and they leave in order.

use super::acks::AckStream;
use super::io::Input;
use crate::store::OpenReplica;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use surus_proto::hadoop::hdfs::Status;
use surus_wire::datatransfer::PipelineAck;
use surus_wire::datatransfer::op::delimited;

/// A packet that this node has dealt with.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub seqno: i64,
    /// Where its data ends in the block.
    pub end: u64,
    pub last: bool,
    pub status: Status,
}

/// Packets that wait for the next node's acknowledgement.
#[derive(Default)]
pub(super) struct AckQueue {
    state: Mutex<(VecDeque<Pending>, bool)>,
    changed: Condvar,
}

impl AckQueue {
    pub fn push(&self, pending: &[Pending]) {
        self.state.lock().0.extend(pending.iter().cloned());
        self.changed.notify_one();
    }

    /// Nothing more will come.
    pub fn close(&self) {
        self.state.lock().1 = true;
        self.changed.notify_one();
    }

    fn pop(&self) -> Option<Pending> {
        let mut state = self.state.lock();
        loop {
            if let Some(pending) = state.0.pop_front() {
                return Some(pending);
            }
            if state.1 {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }

    fn is_empty(&self) -> bool {
        self.state.lock().0.is_empty()
    }
}

pub(super) struct Responder<'a> {
    pub upstream: &'a AckStream,
    pub downstream: &'a mut Input,
    pub queue: &'a AckQueue,
    pub mirror_failed: &'a AtomicBool,
    pub open: &'a Arc<OpenReplica>,
}

impl Responder<'_> {
    /// Passes acknowledgements on. Returns the encoded one of the last packet, which is not sent.
    pub fn run(mut self) -> io::Result<Option<Vec<u8>>> {
        let result = self.pass_on();
        if result.is_err() {
            // The receiving thread must not go on taking packets that nobody acknowledges.
            self.upstream.shutdown();
        }
        result
    }

    fn pass_on(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut out = Vec::new();
        let mut ack = PipelineAck::default();
        while let Some(pending) = self.queue.pop() {
            match pending.status {
                Status::Success => self.next_nodes_replies(&pending, &mut ack, &mut out)?,
                // Its own word is all that counts: a client takes the last bad status for the bad node's.
                Status::ErrorChecksum => (ack.replies, ack.flags) = Default::default(),
                // Silence makes whoever is upstream drop this node. Source: `BlockReceiver.receivePacket`, Hadoop 3.5.0.
                _ => return Err(io::Error::other("this node cannot write")),
            }
            ack.seqno = pending.seqno;
            ack.replies.insert(0, pending.status);
            ack.flags.insert(0, pending.status as u32);
            if ack.is_success() {
                self.open.set_acked(pending.end);
            }
            ack.put(&mut out);
            if pending.last {
                return Ok(Some(out));
            }
            if self.queue.is_empty() || self.downstream.buffered().is_empty() {
                self.upstream.send(&out)?;
                out.clear();
            }
        }
        self.upstream.send(&out)?;
        Ok(None)
    }

    /// What the nodes behind say of a packet that this one has.
    fn next_nodes_replies(&mut self, pending: &Pending, ack: &mut PipelineAck, out: &mut Vec<u8>) -> io::Result<()> {
        if !self.mirror_failed.load(Ordering::Acquire)
            && let Err(e) = self.await_ack(pending, ack, out)
        {
            tracing::info!("no acknowledgement from the next node of the pipeline: {e}");
            self.mirror_failed.store(true, Ordering::Release);
        }
        if self.mirror_failed.load(Ordering::Acquire) {
            ack.replies = vec![Status::Error];
            ack.flags = vec![Status::Error as u32];
        } else if ack.replies.first() == Some(&Status::ErrorChecksum) {
            // The next node is good: what this one forwarded was damaged. Going silent makes the client drop this one.
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the next node reports damaged packets"));
        }
        if ack.flags.len() != ack.replies.len() {
            ack.flags = ack.replies.iter().map(|r| *r as u32).collect();
        }
        Ok(())
    }

    /// Waits for the next node's acknowledgement of this packet. Out-of-band messages go straight on.
    fn await_ack(&mut self, pending: &Pending, ack: &mut PipelineAck, out: &mut Vec<u8>) -> io::Result<()> {
        loop {
            self.read_ack(ack, out)?;
            if ack.oob_status().is_some() {
                let mut oob = ack.clone();
                oob.replies.insert(0, Status::InProgress);
                oob.flags.insert(0, Status::InProgress as u32);
                oob.put(out);
                continue;
            }
            if ack.seqno != pending.seqno {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("expected seqno is {}, received {}", pending.seqno, ack.seqno),
                ));
            }
            return Ok(());
        }
    }

    fn read_ack(&mut self, ack: &mut PipelineAck, out: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let found = delimited(self.downstream.buffered()).map_err(io::Error::other)?;
            if let Some((bytes, used)) = found {
                ack.decode_into(bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not an ack"))?;
                self.downstream.consume(used);
                return Ok(());
            }
            // What is ready must not wait for what may take long.
            if !out.is_empty() {
                self.upstream.send(out)?;
                out.clear();
            }
            if !self.downstream.fill()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
