//! READ_BLOCK.

use super::sender::{BlockSender, SendRefusal};
use super::server::{After, Session};
use std::io;
use surus_proto::hadoop::hdfs::{
    BlockOpResponseProto, ClientReadStatusProto, OpReadBlockProto, ReadOpChecksumInfoProto, Status,
};
use surus_types::ExceptionClass;
use surus_wire::datatransfer::op::put_message;

pub(super) fn read_block(session: &mut Session<'_>, op: &OpReadBlockProto) -> io::Result<After> {
    let (pool_id, block) = super::write::block_of(&op.header.base_header.block);
    let opened = session
        .node
        .pool(pool_id)
        .map_err(SendRefusal::from)
        .and_then(|pool| BlockSender::open(&pool, &block, op.offset, op.len, op.send_checksums()));
    let sender = match opened {
        Ok(sender) => sender,
        Err(SendRefusal { error, damaged }) => {
            if damaged {
                session.node.reports.bad_block(session.node, pool_id, &block);
            }
            if error.class == ExceptionClass::ReplicaNotFound {
                session.node.forget_missing(pool_id, &block);
            }
            let text = format!("opReadBlock {pool_id}:{block} received exception {error}");
            tracing::info!("{}: {text}", session.peer);
            session.respond(Status::Error, Some(text))?;
            return Ok(After::KeepAlive);
        }
    };
    let response = BlockOpResponseProto {
        status: Status::Success as i32,
        read_op_checksum_info: Some(ReadOpChecksumInfoProto {
            checksum: sender.checksum.to_proto(),
            chunk_offset: sender.start,
        }),
        ..Default::default()
    };
    let mut head = Vec::with_capacity(64);
    put_message(&mut head, &response);
    surus_net::stream::write_all_more(session.stream(), &head)?;
    if let Err(e) = sender.send(session.stream(), session.node.config.transfer_to_allowed) {
        if !is_socket_error(&e) {
            session.node.check_volume_later(&sender.reader().volume, &e);
        }
        return Err(e);
    }
    // The client says whether the checksums were right; one that has all it wants may also just go.
    let status: ClientReadStatusProto = session.input.read_message()?;
    tracing::trace!("{}: read status {}", session.peer, status.status);
    Ok(After::KeepAlive)
}

fn is_socket_error(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::NotConnected
            | io::ErrorKind::WouldBlock
            | io::ErrorKind::TimedOut
            | io::ErrorKind::UnexpectedEof
    )
}
