//! Receiving packets: whatever one read brought is forwarded with one write, written with one write of data and one of
//! checksums, and acknowledged with one write.

use super::acks::AckStream;
use super::io::Input;
use super::responder::{AckQueue, Pending, Responder};
use super::server::Session;
use super::write::Mirror;
use crate::checksum::Checksum;
use crate::node::Node;
use crate::store::{Batch, ReplicaWriter};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use surus_proto::hadoop::hdfs::Status;
use surus_wire::datatransfer::packet::{PACKET_PREFIX_LEN, packet_len, parse_packet};
use surus_wire::datatransfer::{Packet, PipelineAck};

/// With less room than this behind what is buffered, a partial packet is moved to the buffer's beginning first.
const READ_ROOM_BYTES_MIN: usize = 64 << 10;
/// How long a peer whose packet was refused may take to read the answer.
const LINGER: Duration = Duration::from_secs(3);

/// Why receiving ended early.
#[derive(Debug)]
pub(super) struct ReceiveError {
    /// The bytes did not match their checksums.
    pub is_corrupt: bool,
    error: io::Error,
}

impl From<io::Error> for ReceiveError {
    fn from(error: io::Error) -> Self {
        ReceiveError { is_corrupt: false, error }
    }
}

impl From<ReceiveError> for io::Error {
    fn from(e: ReceiveError) -> Self {
        e.error
    }
}

/// All packets are on disk and, but for the last, acknowledged.
pub(super) struct Outcome {
    /// The last packet asked for a sync.
    pub sync: bool,
    /// The acknowledgement of the last packet, to be sent when the replica is finalized.
    pub last_ack: Option<Vec<u8>>,
}

pub(super) struct Receiver<'a, 'w> {
    node: Arc<Node>,
    input: &'a mut Input,
    peer: std::net::SocketAddr,
    writer: &'w mut ReplicaWriter,
    mirror: Option<&'a mut Mirror>,
    requested: Checksum,
    /// `None`: nobody wants acknowledgements.
    acks: Option<&'a AckStream>,
}

/// Where acknowledgements go.
enum Acks<'a> {
    /// Nobody wants them.
    None,
    /// This is the last node: straight to the peer.
    Direct { upstream: &'a AckStream, out: Vec<u8> },
    /// A thread holds them back until the next node's acknowledgement is in.
    Queue(&'a AckQueue),
}

impl<'a, 'w> Receiver<'a, 'w> {
    pub fn new(
        session: &'a mut Session<'_>,
        writer: &'w mut ReplicaWriter,
        mirror: Option<&'a mut Mirror>,
        requested: Checksum,
        acks: Option<&'a AckStream>,
    ) -> Self {
        Receiver {
            node: session.node.clone(),
            peer: session.peer,
            input: &mut session.input,
            writer,
            mirror,
            requested,
            acks,
        }
    }

    pub fn run(&mut self) -> Result<Outcome, ReceiveError> {
        let Some(mirror) = self.mirror.take() else {
            let mut acks = self.acks.map_or(Acks::None, |upstream| Acks::Direct { upstream, out: Vec::new() });
            let mut stream = Stream { mirror: None, mirror_failed: &AtomicBool::new(false) };
            let sync = self.receive(&mut stream, &mut acks)?;
            let last_ack = match acks {
                Acks::Direct { out, .. } => Some(out),
                _ => None,
            };
            return Ok(Outcome { sync, last_ack });
        };
        let mirror_failed = AtomicBool::new(false);
        let mut stream = Stream { mirror: Some(&mirror.stream), mirror_failed: &mirror_failed };
        let Some(upstream) = self.acks else {
            let sync = self.receive(&mut stream, &mut Acks::None)?;
            return Ok(Outcome { sync, last_ack: None });
        };
        let queue = AckQueue::default();
        let open = self.writer.open_replica().clone();
        std::thread::scope(|scope| {
            let responder = Responder {
                upstream,
                downstream: &mut mirror.input,
                queue: &queue,
                mirror_failed: &mirror_failed,
                open: &open,
            };
            let responder = std::thread::Builder::new()
                .name(format!("ack {}", self.peer))
                .spawn_scoped(scope, move || responder.run())?;
            let received = self.receive(&mut stream, &mut Acks::Queue(&queue));
            let is_corrupt = received.as_ref().is_err_and(|e| e.is_corrupt);
            if received.is_err() && !is_corrupt {
                // Upstream first: that the next node falls silent then is this one's doing, and must not be told as its failure.
                upstream.shutdown();
                let _ = mirror.stream.shutdown(Shutdown::Both);
            }
            queue.close();
            let last_ack = responder.join().unwrap_or_else(|_| Err(io::Error::other("the responder panicked")));
            if is_corrupt {
                self.linger();
            }
            let sync = received?;
            Ok(Outcome { sync, last_ack: last_ack? })
        })
    }

    /// Takes packets until the last one. True: that one asked for a sync.
    fn receive(&mut self, stream: &mut Stream<'_>, acks: &mut Acks<'_>) -> Result<bool, ReceiveError> {
        loop {
            let complete = complete_packets(self.input.buffered())?;
            if complete == 0 {
                // Room grows with what has come, never with what a header promises.
                self.input.reserve(READ_ROOM_BYTES_MIN);
                if !self.input.fill()? {
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the writer has gone").into());
                }
                self.input.grow_when_full();
                continue;
            }
            stream.forward(&self.input.buffered()[..complete]);
            let mut round = Round {
                node: &self.node,
                writer: self.writer,
                requested: self.requested,
                // Every node further up leaves it to the last one; a copy is checked by each.
                verify: stream.mirror.is_none() || self.acks.is_none(),
                sync: false,
                last: false,
                handled: Vec::new(),
            };
            let result = round.take(&self.input.buffered()[..complete]);
            let (handled, last, sync) = (round.handled, round.last, round.sync);
            self.acknowledge(acks, &handled, result.as_ref().err())?;
            if let Err(e) = result {
                let told = handled.iter().any(|p| p.status != Status::Success);
                if told && matches!(acks, Acks::Direct { .. }) {
                    self.input.consume(complete);
                    self.linger();
                }
                return Err(e);
            }
            self.input.consume(complete);
            if last {
                return Ok(sync);
            }
        }
    }

    /// Acknowledges packets that are in the files. For the last one the answer waits until the replica is finalized.
    fn acknowledge(
        &self,
        acks: &mut Acks<'_>,
        handled: &[Pending],
        error: Option<&ReceiveError>,
    ) -> Result<(), ReceiveError> {
        match acks {
            Acks::None => {
                if let Some(end) = handled.iter().map(|p| p.end).max() {
                    self.writer.open_replica().set_acked(end);
                }
            }
            Acks::Queue(queue) => queue.push(handled),
            Acks::Direct { upstream, out } => {
                let mut acked = 0;
                let mut ends = false;
                for pending in handled {
                    let ack = PipelineAck {
                        seqno: pending.seqno,
                        replies: vec![pending.status],
                        downstream_ack_time_nanos: 0,
                        flags: vec![pending.status as u32],
                    };
                    ack.put(out);
                    if pending.status == Status::Success {
                        acked = acked.max(pending.end);
                    }
                    ends |= pending.last;
                }
                self.writer.open_replica().set_acked(acked);
                if !ends || error.is_some() {
                    upstream.send(out)?;
                    out.clear();
                }
            }
        }
        Ok(())
    }

    /// Reads on for a moment after an error, so that closing does not cut the answer off.
    fn linger(&self) {
        let mut stream = self.input.stream();
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.set_read_timeout(Some(LINGER));
        let deadline = Instant::now() + LINGER;
        let mut sink = vec![0; 64 << 10];
        while Instant::now() < deadline && matches!(stream.read(&mut sink), Ok(1..)) {}
    }
}

/// The connection to the next node, if there is one.
struct Stream<'a> {
    mirror: Option<&'a TcpStream>,
    mirror_failed: &'a AtomicBool,
}

impl Stream<'_> {
    /// Passes packets on as they came. A next node that fails is left out: the responder tells the client.
    fn forward(&mut self, packets: &[u8]) {
        let Some(mut mirror) = self.mirror.filter(|_| !self.mirror_failed.load(Ordering::Acquire)) else { return };
        if let Err(e) = mirror.write_all(packets) {
            tracing::info!("cannot forward to the next node of the pipeline: {e}");
            self.mirror_failed.store(true, Ordering::Release);
            // Ends a responder that waits for its acknowledgement.
            let _ = mirror.shutdown(Shutdown::Both);
        }
    }
}

/// Bytes of the packets that are wholly in the buffer.
fn complete_packets(buffer: &[u8]) -> io::Result<usize> {
    let mut bytes = 0;
    while let Some(prefix) = buffer[bytes..].first_chunk::<PACKET_PREFIX_LEN>() {
        let len = packet_len(prefix).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        if buffer.len() - bytes < len {
            break;
        }
        bytes += len;
    }
    Ok(bytes)
}

/// The packets of one read.
struct Round<'a, 'w> {
    node: &'a Arc<Node>,
    writer: &'w mut ReplicaWriter,
    requested: Checksum,
    verify: bool,
    sync: bool,
    last: bool,
    handled: Vec<Pending>,
}

impl Round<'_, '_> {
    fn take(&mut self, mut bytes: &[u8]) -> Result<(), ReceiveError> {
        let mut batch = Batch::default();
        let mut taken = Vec::new();
        let mut result = Ok(());
        while !bytes.is_empty() && !self.last {
            let parsed = parse_packet(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e));
            let packet = match parsed {
                Ok(Some(packet)) => packet,
                Ok(None) => break,
                Err(e) => {
                    result = Err(e.into());
                    break;
                }
            };
            bytes = &bytes[packet.raw.len()..];
            match self.packet(&mut batch, &packet) {
                Ok(()) => taken.push(pending(&packet, Status::Success)),
                Err(e) => {
                    let status = if e.is_corrupt { Status::ErrorChecksum } else { Status::Error };
                    let written = self.writer.write_batch(&mut batch);
                    let refused = match self.written(written) {
                        Ok(()) => {
                            self.handled.append(&mut taken);
                            pending(&packet, status)
                        }
                        Err(_) => first_refused(&taken).unwrap_or_else(|| pending(&packet, status)),
                    };
                    self.handled.push(refused);
                    return Err(e);
                }
            }
        }
        if let Err(e) = self.writer.write_batch(&mut batch) {
            self.handled.extend(first_refused(&taken));
            return self.written(Err(e));
        }
        self.handled.append(&mut taken);
        result
    }

    fn packet<'b>(&mut self, batch: &mut Batch<'b>, packet: &Packet<'b>) -> Result<(), ReceiveError> {
        let header = &packet.header;
        self.last = header.last_packet_in_block;
        let mut written = Ok(());
        if !packet.data.is_empty() && !header.last_packet_in_block {
            self.check(packet)?;
            let disk = self.writer.checksum();
            let translated;
            let sums = if self.requested == disk && (!packet.checksums.is_empty() || disk.checksum_size() == 0) {
                packet.checksums
            } else {
                let mut sums = Vec::new();
                disk.append(packet.data, &mut sums);
                translated = sums;
                &translated
            };
            written = self.writer.write_packet(batch, header.offset_in_block, packet.data, sums);
        }
        if header.sync_block {
            self.sync = true;
            written = written.and_then(|()| self.writer.write_batch(batch)).and_then(|()| self.writer.sync());
        }
        self.written(written)
    }

    /// Length of the checksums, and the checksums themselves where this node is the one to look.
    fn check(&self, packet: &Packet<'_>) -> Result<(), ReceiveError> {
        if packet.checksums.is_empty() {
            return Ok(());
        }
        let expected = self.requested.checksums_len(packet.data.len());
        if packet.checksums.len() != expected {
            let text = format!(
                "Invalid checksum length: received length is {} but expected length is {expected}",
                packet.checksums.len()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, text).into());
        }
        if !self.verify && self.requested == self.writer.checksum() {
            return Ok(());
        }
        self.requested.verify(packet.data, packet.checksums).map_err(|at| ReceiveError {
            is_corrupt: true,
            error: io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "Terminating due to a checksum error: blk_{} at {}",
                    self.writer.id(),
                    packet.header.offset_in_block + at as u64
                ),
            ),
        })
    }

    /// Has the volume looked at after an error of the disk.
    fn written(&self, result: io::Result<()>) -> Result<(), ReceiveError> {
        if let Err(e) = &result
            && e.kind() != io::ErrorKind::InvalidData
        {
            tracing::error!("blk_{}: cannot write: {e}", self.writer.id());
            self.node.check_volume_later(self.writer.volume(), e);
        }
        result.map_err(ReceiveError::from)
    }
}

/// The first of packets that could not be written, as it is answered: none behind it counts.
fn first_refused(taken: &[Pending]) -> Option<Pending> {
    taken.first().map(|first| Pending { status: Status::Error, last: false, ..first.clone() })
}

fn pending(packet: &Packet<'_>, status: Status) -> Pending {
    let header = &packet.header;
    Pending {
        seqno: header.seqno,
        end: header.offset_in_block + u64::from(header.data_len),
        last: header.last_packet_in_block,
        status,
    }
}
