//! The way back to a client that writes: acknowledgements from the thread that writes them, and, out of their order, the word
//! that this DataNode is about to restart. Source: `DataXceiverServer.sendOOBToPeers`, `BlockReceiver.java`, Hadoop 3.5.0.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use surus_proto::hadoop::hdfs::Status;
use surus_wire::datatransfer::{PipelineAck, UNKNOWN_SEQNO};

/// The connection that a pipeline's acknowledgements leave by. A message goes out whole.
pub(super) struct AckStream {
    stream: TcpStream,
    turn: Mutex<()>,
}

impl AckStream {
    /// # Errors
    /// The connection's.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let _turn = self.turn.lock();
        (&self.stream).write_all(bytes)
    }

    pub fn shutdown(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// The clients that write now.
#[derive(Default)]
pub(crate) struct Writers {
    streams: Mutex<HashMap<u64, Arc<AckStream>>>,
    next: AtomicU64,
}

/// A client that writes, until it is dropped.
pub(super) struct Writing<'a> {
    writers: &'a Writers,
    key: u64,
    pub acks: Arc<AckStream>,
}

impl Writers {
    /// # Errors
    /// The connection's.
    pub(super) fn add(&self, stream: &TcpStream) -> io::Result<Writing<'_>> {
        let acks = Arc::new(AckStream { stream: stream.try_clone()?, turn: Mutex::default() });
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        self.streams.lock().insert(key, acks.clone());
        Ok(Writing { writers: self, key, acks })
    }

    pub fn is_empty(&self) -> bool {
        self.streams.lock().is_empty()
    }

    /// Tells every client that this DataNode restarts soon: it waits, or goes on without it.
    pub fn tell_of_restart(&self) {
        let reply = Status::OobRestart;
        let ack = PipelineAck {
            seqno: UNKNOWN_SEQNO,
            replies: vec![reply],
            downstream_ack_time_nanos: 0,
            flags: vec![reply as u32],
        };
        let mut bytes = Vec::new();
        ack.put(&mut bytes);
        let streams: Vec<Arc<AckStream>> = self.streams.lock().values().cloned().collect();
        for stream in streams {
            if let Err(e) = stream.send(&bytes) {
                tracing::info!("a writer cannot be told of the restart: {e}");
            }
        }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.writers.streams.lock().remove(&self.key);
    }
}
