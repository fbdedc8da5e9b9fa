//! The data transfer server: one blocking thread for each connection, one operation after another on it.

mod acks;
mod checksum;
mod io;
mod read;
mod receive;
mod responder;
mod sender;
mod server;
mod transfer;
mod write;

pub(crate) use acks::Writers;
pub use server::XferServer;
pub(crate) use transfer::{Copy, extended_block, send_replica};
pub(crate) use write::block_of;
