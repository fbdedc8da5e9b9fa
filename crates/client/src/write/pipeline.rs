//! The pipeline of one block: the connection to its first DataNode, packets out, acknowledgements in. It has no thread:
//! whoever writes reads the acknowledgements too, when they are needed or many are due.
//! Source: `DataStreamer.java`, Hadoop 3.5.0.

use super::packet::PacketBuf;
use crate::config::WriteConfig;
use crate::datanode::{TIMEOUT_PER_NODE, client_header, receive_text, xfer_addr};
use parking_lot::Mutex;
use rustix::net::SendFlags;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use surus_net::data::{DataReader, ReceiveError};
use surus_proto::hadoop::hdfs as proto;
use surus_proto::hadoop::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use surus_wire::datatransfer::op::{delimited, put_op};
use surus_wire::datatransfer::{DataChecksum, HEARTBEAT_SEQNO, Op, PacketHeader, PipelineAck};

/// `HdfsConstants.WRITE_TIMEOUT`.
const WRITE_TIMEOUT: Duration = Duration::from_secs(480);

/// The DataNodes of a block with the storages the NameNode chose on them, all lists of one length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    pub nodes: Vec<proto::DatanodeInfoProto>,
    pub storage_types: Vec<i32>,
    pub storage_ids: Vec<String>,
}

impl Targets {
    pub fn of(located: &proto::LocatedBlockProto) -> Self {
        let count = located.locs.len();
        let mut storage_types = located.storage_types.clone();
        storage_types.resize(count, proto::StorageTypeProto::Disk as i32);
        let mut storage_ids = located.storage_i_ds.clone();
        storage_ids.resize(count, String::new());
        Targets { nodes: located.locs.clone(), storage_types, storage_ids }
    }

    pub fn remove(&mut self, index: usize) -> Option<proto::DatanodeInfoProto> {
        if index >= self.nodes.len() {
            return None;
        }
        self.storage_types.remove(index);
        self.storage_ids.remove(index);
        Some(self.nodes.remove(index))
    }

    /// `[127.0.0.1:9866, ...]`, for messages.
    pub fn text(&self) -> String {
        let names: Vec<String> = self.nodes.iter().map(|d| format!("{}:{}", d.id.ip_addr, d.id.xfer_port)).collect();
        format!("[{}]", names.join(", "))
    }
}

/// What a pipeline is set up with.
pub(crate) struct Setup<'a> {
    pub config: &'a WriteConfig,
    pub client_name: &'a str,
    /// The block with its token; its generation stamp is the one the replicas have so far.
    pub located: &'a proto::LocatedBlockProto,
    pub targets: &'a Targets,
    pub stage: Stage,
    /// The stamp they will have.
    pub generation_stamp: u64,
    pub bytes_acked: u64,
    pub bytes_sent: u64,
    pub checksum: DataChecksum,
    pub lazy_persist: bool,
}

/// A pipeline that broke: which of its DataNodes is to blame, counted from the first.
#[derive(Debug, Clone)]
pub(crate) struct Broken {
    pub bad_index: usize,
    pub text: String,
    /// The DataNode said that it is about to restart.
    pub restarting: bool,
    /// The block token was refused.
    pub token: bool,
}

impl Broken {
    fn first(text: String) -> Self {
        Broken { bad_index: 0, text, restarting: false, token: false }
    }
}

/// The sending side, shared with the thread that sends heartbeats for idle writers.
pub(crate) struct SendSide {
    stream: TcpStream,
    last_send: Instant,
}

impl SendSide {
    /// Keeps an idle pipeline from running into its DataNodes' time limits. A failure is found by the writer.
    pub fn heartbeat_if_idle(&mut self, idle: Duration) {
        if self.last_send.elapsed() >= idle {
            let head = PacketHeader { seqno: HEARTBEAT_SEQNO, ..PacketHeader::default() }.encode(0);
            // Where there is no room for these few bytes more than enough is under way.
            // Rust programs ignore SIGPIPE, others that this is a library of may not.
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            if let Ok(sent) = rustix::net::send(&self.stream, &head, flags) {
                let _ = self.stream.write_all(&head[sent..]);
            }
            self.last_send = Instant::now();
        }
    }
}

pub(crate) struct Pipeline {
    addr: String,
    send: Arc<Mutex<SendSide>>,
    acks: DataReader<TcpStream>,
    ack: PipelineAck,
}

impl Pipeline {
    /// Connects to the first DataNode, which connects to the next, and waits until all are ready.
    pub fn open(setup: &Setup<'_>) -> Result<Self, Broken> {
        let first = setup.targets.nodes.first().ok_or_else(|| Broken::first("the pipeline has no DataNode".into()))?;
        let addr = xfer_addr(first, setup.config.use_datanode_hostname);
        let count = u32::try_from(setup.targets.nodes.len()).unwrap_or(u32::MAX);
        let read_timeout = setup.config.socket_timeout + TIMEOUT_PER_NODE * count;
        let stream = crate::datanode::connect(&addr, read_timeout).map_err(|e| Broken::first(e.message()))?;
        let io_error = |e: io::Error| Broken::first(format!("connection to DataNode {addr}: {}", crate::io_text(&e)));
        stream.set_write_timeout(Some(WRITE_TIMEOUT + TIMEOUT_PER_NODE * count)).map_err(io_error)?;
        let mut request = Vec::with_capacity(1024);
        put_op(&mut request, Op::WriteBlock, &write_block(setup));
        (&stream).write_all(&request).map_err(io_error)?;
        let mut acks = DataReader::new(stream.try_clone().map_err(io_error)?);
        let answer: proto::BlockOpResponseProto =
            acks.read_message().map_err(|e| Broken::first(receive_text(&addr, &e)))?;
        check_setup(&answer, &addr, setup)?;
        let send = Arc::new(Mutex::new(SendSide { stream, last_send: Instant::now() }));
        Ok(Pipeline { addr, send, acks, ack: PipelineAck::default() })
    }

    pub fn send_side(&self) -> &Arc<Mutex<SendSide>> {
        &self.send
    }

    pub fn send(&mut self, packet: &PacketBuf) -> Result<(), Broken> {
        let written = {
            let mut send = self.send.lock();
            send.last_send = Instant::now();
            send.stream.write_all(packet.wire_bytes())
        };
        match written {
            Ok(()) => Ok(()),
            // The reason may lie in an acknowledgement that has not been read.
            Err(error) => Err(match self.drain_acks() {
                Err(broken) => broken,
                Ok(()) => Broken::first(format!("connection to DataNode {}: {}", self.addr, crate::io_text(&error))),
            }),
        }
    }

    /// Reads acknowledgements that are left after a failure, for the sake of what they say.
    fn drain_acks(&mut self) -> Result<(), Broken> {
        let _ = self.acks.source().set_read_timeout(Some(Duration::from_millis(100)));
        loop {
            match self.acks.read_ack(&mut self.ack) {
                Ok(()) => self.check_ack()?,
                Err(_) => return Ok(()),
            }
        }
    }

    /// Waits for the next acknowledgement: the packet's number. Those of heartbeats are passed over.
    pub fn next_ack(&mut self) -> Result<i64, Broken> {
        loop {
            match self.acks.read_ack(&mut self.ack) {
                Ok(()) => {
                    self.check_ack()?;
                    if self.ack.seqno != HEARTBEAT_SEQNO {
                        return Ok(self.ack.seqno);
                    }
                }
                Err(error) => return Err(Broken::first(receive_text(&self.addr, &error))),
            }
        }
    }

    /// An acknowledgement that is there already; `None` rather than waiting.
    pub fn try_next_ack(&mut self) -> Result<Option<i64>, Broken> {
        if self.has_buffered_ack() {
            return self.next_ack().map(Some);
        }
        // One look without waiting; the stream itself stays blocking, for it is shared with the sending side.
        let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
        let peeked = rustix::net::recv(self.acks.source(), &mut [0u8; 1], flags);
        match peeked {
            Err(rustix::io::Errno::AGAIN) => Ok(None),
            _ => self.next_ack().map(Some),
        }
    }

    /// Whether a whole acknowledgement lies in the buffer.
    pub fn has_buffered_ack(&self) -> bool {
        matches!(delimited(self.acks.buffered()), Ok(Some(_)))
    }

    fn check_ack(&self) -> Result<(), Broken> {
        if let Some(status) = self.ack.oob_status() {
            let index = self.ack.replies.iter().position(|reply| *reply == status).unwrap_or(0);
            return Err(Broken {
                bad_index: index,
                text: format!("DataNode {index} of the pipeline is about to restart"),
                restarting: status == proto::Status::OobRestart,
                token: false,
            });
        }
        match self.ack.first_failure() {
            None => Ok(()),
            Some((index, status)) => Err(Broken {
                bad_index: index,
                text: format!(
                    "Bad response {} for packet {} from DataNode {index} of the pipeline",
                    status.as_str_name(),
                    self.ack.seqno
                ),
                restarting: false,
                token: false,
            }),
        }
    }
}

fn write_block(setup: &Setup<'_>) -> proto::OpWriteBlockProto {
    let targets = setup.targets;
    let mut header = client_header(setup.located, setup.client_name);
    header.base_header.block.num_bytes = Some(setup.bytes_acked);
    proto::OpWriteBlockProto {
        header,
        targets: targets.nodes[1..].to_vec(),
        source: None,
        stage: setup.stage as i32,
        pipeline_size: u32::try_from(targets.nodes.len()).unwrap_or(u32::MAX),
        min_bytes_rcvd: setup.bytes_acked,
        max_bytes_rcvd: setup.bytes_sent,
        latest_generation_stamp: setup.generation_stamp,
        requested_checksum: setup.checksum.to_proto(),
        caching_strategy: Some(proto::CachingStrategyProto::default()),
        storage_type: Some(targets.storage_types[0]),
        target_storage_types: targets.storage_types[1..].to_vec(),
        allow_lazy_persist: Some(setup.lazy_persist),
        pinning: Some(false),
        target_pinnings: Vec::new(),
        storage_id: Some(targets.storage_ids[0].clone()),
        target_storage_ids: targets.storage_ids[1..].to_vec(),
    }
}

fn check_setup(answer: &proto::BlockOpResponseProto, addr: &str, setup: &Setup<'_>) -> Result<(), Broken> {
    let bad_link = answer.first_bad_link.as_deref().unwrap_or("");
    let status = proto::Status::try_from(answer.status).unwrap_or(proto::Status::Error);
    if status == proto::Status::Success && bad_link.is_empty() {
        return Ok(());
    }
    let named = |d: &proto::DatanodeInfoProto| bad_link == format!("{}:{}", d.id.ip_addr, d.id.xfer_port);
    Err(Broken {
        bad_index: setup.targets.nodes.iter().position(named).unwrap_or(0),
        text: format!(
            "Got error, status={}, status message {}, ack with firstBadLink as {bad_link} from {addr}",
            status.as_str_name(),
            answer.message.as_deref().unwrap_or("")
        ),
        restarting: status == proto::Status::OobRestart,
        token: status == proto::Status::ErrorAccessToken,
    })
}

/// Has `from` copy what it has of the block to `to`: TRANSFER_BLOCK.
pub(crate) fn transfer_block(
    config: &WriteConfig,
    client_name: &str,
    located: &proto::LocatedBlockProto,
    from: &proto::DatanodeInfoProto,
    to: &Targets,
) -> Result<(), String> {
    let addr = xfer_addr(from, config.use_datanode_hostname);
    // The copy may take as long as the block is big.
    let stream = crate::datanode::connect(&addr, config.socket_timeout * 3).map_err(|e| e.message())?;
    let op = proto::OpTransferBlockProto {
        header: client_header(located, client_name),
        targets: to.nodes.clone(),
        target_storage_types: to.storage_types.clone(),
        target_storage_ids: to.storage_ids.clone(),
    };
    let mut request = Vec::with_capacity(512);
    put_op(&mut request, Op::TransferBlock, &op);
    (&stream).write_all(&request).map_err(|e| crate::io_text(&e))?;
    let answer: Result<proto::BlockOpResponseProto, ReceiveError> = DataReader::new(stream).read_message();
    match answer {
        Ok(answer) if answer.status == proto::Status::Success as i32 => Ok(()),
        Ok(answer) => Err(format!("Failed to add a datanode: {}", answer.message.unwrap_or_default())),
        Err(error) => Err(receive_text(&addr, &error)),
    }
}
