//! WRITE_BLOCK: preparing the replica and the next node of the pipeline, and what follows after the last packet.
//! Source of the stages: `DataXceiver.java`, Hadoop 3.5.0.

use super::io::{Input, STREAM_BUFFER_BYTES, write_message};
use super::receive::{Outcome, Receiver};
use super::server::{After, Session};
use crate::checksum::Checksum;
use crate::node::Node;
use crate::store::{BlockPool, ReplicaWriter, Volume, now_ms};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use surus_net::stream;
use surus_proto::hadoop::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use surus_proto::hadoop::hdfs::{
    BlockOpResponseProto, DatanodeIdProto, DatanodeInfoProto, ExtendedBlockProto, OpWriteBlockProto, Status,
    StorageTypeProto,
};
use surus_types::{Block, BlockId, ExceptionClass, GenerationStamp, HdfsError, StorageType};
use surus_wire::datatransfer::Op;
use surus_wire::datatransfer::op::put_op;

/// Added to the timeouts of a connection for each DataNode behind it.
/// Source: `HdfsConstants.READ_TIMEOUT_EXTENSION`, Hadoop 3.5.0.
const TIMEOUT_EXTENSION: Duration = Duration::from_secs(5);

/// Pool id and block of a request.
pub(crate) fn block_of(block: &ExtendedBlockProto) -> (&str, Block) {
    let found = Block {
        id: BlockId(block.block_id as i64),
        generation_stamp: GenerationStamp(block.generation_stamp),
        num_bytes: block.num_bytes(),
    };
    (&block.pool_id, found)
}

/// Where a DataNode takes data: by address, or by name where the configuration says so.
pub(crate) fn xfer_address(node: &Node, id: &DatanodeIdProto) -> String {
    let host = if node.config.use_datanode_hostname { &id.host_name } else { &id.ip_addr };
    format!("{host}:{}", id.xfer_port)
}

/// Connects to a DataNode behind which `behind` more are waiting.
pub(crate) fn connect(node: &Node, id: &DatanodeIdProto, behind: usize) -> io::Result<TcpStream> {
    let extension = TIMEOUT_EXTENSION * (behind as u32 + 1);
    let timeout = node.config.socket_timeout + extension;
    let stream = stream::connect_data(xfer_address(node, id), timeout, timeout)?;
    stream.set_write_timeout(Some(node.config.write_timeout + extension))?;
    Ok(stream)
}

pub(super) fn write_block(session: &mut Session<'_>, op: OpWriteBlockProto) -> io::Result<After> {
    if session.node.restarting.load(Ordering::SeqCst) {
        // A client that comes back too early tries again.
        return Ok(After::Close);
    }
    let mut op = op;
    let kind = Kind::of(&op);
    let (pool_id, block) = block_of(&op.header.base_header.block);
    let pool_id = pool_id.to_owned();
    let target = session.node.pool(&pool_id).and_then(|pool| open_target(&pool, &block, &kind, &op));
    let target = match target {
        Ok(target) => target,
        Err(e) => {
            let text = format!("opWriteBlock {pool_id}:{block} received exception {e}");
            tracing::info!("{}: {text}", session.peer);
            if kind.acks {
                refuse(session, text)?;
            }
            return Ok(After::Close);
        }
    };
    if let Target::Writer(writer) = &target {
        end_when_thrown_out(session, writer, None);
        let stamped = Block { generation_stamp: GenerationStamp(op.latest_generation_stamp), ..block };
        let shown = if kind.stage == Stage::PipelineSetupCreate { block } else { stamped };
        session.node.reports.receiving(&pool_id, &shown, writer.volume());
    }
    let mirror = match connect_mirror(session, &mut op, &kind) {
        Ok(mirror) => mirror,
        Err(()) => return Ok(After::Close),
    };
    if kind.acks && !acknowledge_setup(session, mirror.as_ref())? {
        return Ok(After::Close);
    }
    match target {
        Target::Closed(block, volume) => {
            session.node.reports.received(&pool_id, &block, &volume, "");
            Ok(After::Close)
        }
        // The client has lost this node, or the copy has not arrived.
        Target::Writer(writer) => receive(session, writer, mirror, &kind, &op)
            .inspect_err(|e| tracing::info!("{}: {pool_id}:{block} is not received: {e}", session.peer)),
    }
}

/// What a request is about, from its stage and client name.
struct Kind {
    stage: Stage,
    /// Stage TRANSFER_RBW or TRANSFER_FINALIZED: a copy for a pipeline that is being mended.
    transfer: bool,
    /// The writer is a client's pipeline and wants acknowledgements.
    acks: bool,
}

impl Kind {
    fn of(op: &OpWriteBlockProto) -> Kind {
        let stage = op.stage();
        let transfer = matches!(stage, Stage::TransferRbw | Stage::TransferFinalized);
        Kind { stage, transfer, acks: !transfer && !op.header.client_name.is_empty() }
    }
}

enum Target {
    Writer(ReplicaWriter),
    /// PIPELINE_CLOSE_RECOVERY: nothing more is to be written.
    Closed(Block, Arc<Volume>),
}

fn open_target(pool: &Arc<BlockPool>, block: &Block, kind: &Kind, op: &OpWriteBlockProto) -> Result<Target, HdfsError> {
    let checksum = Checksum::from_proto(&op.requested_checksum)
        .ok_or_else(|| HdfsError::io("Could not create DataChecksum with the requested type and chunk size"))?;
    let storage_type = storage_type(op.storage_type());
    let (storage_id, stamp) = (op.storage_id(), GenerationStamp(op.latest_generation_stamp));
    let writer = match kind.stage {
        _ if !kind.acks => pool.create_temporary(block, storage_type, storage_id, checksum)?,
        Stage::PipelineSetupCreate => pool.create_rbw(block, storage_type, storage_id, checksum)?,
        Stage::PipelineSetupAppend => pool.append(block, stamp, op.min_bytes_rcvd)?,
        Stage::PipelineSetupAppendRecovery => pool.recover_append(block, stamp, op.min_bytes_rcvd)?,
        Stage::PipelineSetupStreamingRecovery => {
            pool.recover_rbw(block, stamp, op.min_bytes_rcvd, op.max_bytes_rcvd)?
        }
        Stage::PipelineCloseRecovery => {
            let (block, volume) = pool.recover_close(block, stamp, op.min_bytes_rcvd, false)?;
            return Ok(Target::Closed(block, volume));
        }
        stage => {
            let text = format!("Unsupported stage {} while receiving block {block}", stage.as_str_name());
            return Err(HdfsError::io(text));
        }
    };
    Ok(Target::Writer(writer))
}

fn storage_type(proto: StorageTypeProto) -> StorageType {
    StorageType::from_proto(proto as i32).unwrap_or_default()
}

/// Says no to a client, and names this DataNode as the one that does: an empty `firstBadLink` from the middle of a pipeline
/// would make the client blame the first node.
fn refuse(session: &Session<'_>, text: String) -> io::Result<()> {
    let id = session.node.id.read();
    let response = BlockOpResponseProto {
        status: Status::Error as i32,
        first_bad_link: Some(format!("{}:{}", id.ip_addr, id.xfer_port)),
        message: Some(text),
        ..Default::default()
    };
    write_message(session.stream(), &response)
}

/// Lets a recovery that takes the replica over end this connection.
fn end_when_thrown_out(session: &Session<'_>, writer: &ReplicaWriter, mirror: Option<&TcpStream>) {
    let streams: Vec<TcpStream> =
        [Some(session.stream()), mirror].into_iter().flatten().filter_map(|s| s.try_clone().ok()).collect();
    writer.turn().on_stop(Box::new(move || {
        for stream in &streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }));
}

/// The next node of the pipeline.
pub(super) struct Mirror {
    pub stream: TcpStream,
    pub input: Input,
    /// What it answered to the set-up, for clients.
    setup: Option<BlockOpResponseProto>,
}

/// Connects the next node and passes the request on. `Err`: it cannot be reached and the client was told.
fn connect_mirror(session: &Session<'_>, op: &mut OpWriteBlockProto, kind: &Kind) -> Result<Option<Mirror>, ()> {
    if op.targets.is_empty() {
        return Ok(None);
    }
    let next = op.targets.remove(0);
    let name = next.id.ip_addr.clone() + ":" + &next.id.xfer_port.to_string();
    match try_connect_mirror(session, op, &next, kind) {
        Ok(mirror) => Ok(Some(mirror)),
        Err(e) => {
            tracing::warn!("{}: cannot reach the next node {name} of the pipeline: {e}", session.peer);
            if !kind.acks {
                // A copy between DataNodes goes on without the rest.
                return Ok(None);
            }
            let response =
                BlockOpResponseProto { status: Status::Error as i32, first_bad_link: Some(name), ..Default::default() };
            let _ = write_message(session.stream(), &response);
            Err(())
        }
    }
}

fn try_connect_mirror(
    session: &Session<'_>,
    op: &mut OpWriteBlockProto,
    next: &DatanodeInfoProto,
    kind: &Kind,
) -> io::Result<Mirror> {
    let stream = connect(session.node, &next.id, op.targets.len())?;
    if let Some(storage_type) = take_first(&mut op.target_storage_types) {
        op.storage_type = Some(storage_type);
    }
    if let Some(pinning) = take_first(&mut op.target_pinnings) {
        op.pinning = Some(pinning);
    }
    op.storage_id = take_first(&mut op.target_storage_ids);
    let mut request = Vec::with_capacity(512);
    put_op(&mut request, Op::WriteBlock, op);
    io::Write::write_all(&mut &stream, &request)?;
    let mut input = Input::new(stream.try_clone()?);
    let setup = if kind.acks { Some(input.read_message()?) } else { None };
    Ok(Mirror { stream, input, setup })
}

fn take_first<T>(list: &mut Vec<T>) -> Option<T> {
    if list.is_empty() { None } else { Some(list.remove(0)) }
}

/// Tells the client how the set-up went. False: not well, the connection is done.
fn acknowledge_setup(session: &Session<'_>, mirror: Option<&Mirror>) -> io::Result<bool> {
    let behind = mirror.and_then(|m| m.setup.clone()).unwrap_or_default();
    let response = BlockOpResponseProto {
        status: behind.status,
        first_bad_link: Some(behind.first_bad_link.unwrap_or_default()),
        message: behind.message,
        ..Default::default()
    };
    write_message(session.stream(), &response)?;
    Ok(response.status == Status::Success as i32)
}

fn receive(
    session: &mut Session<'_>,
    mut writer: ReplicaWriter,
    mut mirror: Option<Mirror>,
    kind: &Kind,
    op: &OpWriteBlockProto,
) -> io::Result<After> {
    end_when_thrown_out(session, &writer, mirror.as_ref().map(|m| &m.stream));
    session.input.reserve(STREAM_BUFFER_BYTES);
    let node = session.node.clone();
    let writing = if kind.acks { Some(node.writers.add(session.stream())?) } else { None };
    let acks = writing.as_ref().map(|writing| &*writing.acks);
    let requested = Checksum::from_proto(&op.requested_checksum).unwrap_or(writer.checksum());
    let mut receiver = Receiver::new(session, &mut writer, mirror.as_mut(), requested, acks);
    let outcome = receiver.run();
    let Outcome { sync, last_ack } = match outcome {
        Ok(outcome) => outcome,
        Err(e) => {
            if e.is_corrupt && !kind.acks {
                report_source(&node, op);
            }
            if kind.acks && node.restarting.load(Ordering::SeqCst) {
                note_restart(&node, &writer);
            }
            return Err(e.into());
        }
    };
    let pool = writer.pool().clone();
    let volume = writer.volume().clone();
    let finished = match kind.stage {
        Stage::TransferRbw => pool.convert_temporary_to_rbw(&mut writer),
        _ => pool.finalize(&mut writer, sync || node.config.sync_on_close),
    };
    let block = match finished {
        Ok(block) => block,
        Err(e) => {
            // A replica that was deleted meanwhile says nothing of the disk.
            if e.class != ExceptionClass::ReplicaNotFound {
                node.check_volume_later(&volume, &io::Error::other(e.message.clone()));
            }
            return Err(io::Error::other(e));
        }
    };
    if kind.stage != Stage::TransferRbw && !kind.transfer {
        node.reports.received(pool.id(), &block, &volume, "");
    }
    if kind.transfer {
        session.respond(Status::Success, None)?;
    } else if let Some(ack) = last_ack {
        acks.map_or(Ok(()), |acks| acks.send(&ack))?;
    }
    Ok(After::Close)
}

/// The client was told that this DataNode restarts, and may come back.
fn note_restart(node: &Node, writer: &ReplicaWriter) {
    let until_ms = now_ms() + node.config.restart_replica_expiry.as_millis() as u64;
    if let Err(e) = writer.note_restart(until_ms) {
        tracing::warn!("blk_{}: its writer will not find it again: {e}", writer.id());
    }
}

/// A copy arrived with wrong checksums: the DataNode that sent it has a damaged replica.
fn report_source(node: &Arc<Node>, op: &OpWriteBlockProto) {
    let Some(source) = op.source.as_ref().filter(|s| !s.id.datanode_uuid.is_empty()) else { return };
    let (pool_id, block) = block_of(&op.header.base_header.block);
    tracing::warn!("{pool_id}:{block} arrived damaged from {}:{}", source.id.ip_addr, source.id.xfer_port);
    node.reports.bad_remote_block(pool_id, &block, source);
}
