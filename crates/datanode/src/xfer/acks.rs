//! The way back to a client that writes: acknowledgements from the thread that writes them, and, out of their order, the word
//! that this DataNode is about to restart. Source: `DataXceiverServer.sendOOBToPeers`, `BlockReceiver.java`, Hadoop 3.5.0.

use parking_lot::Mutex;
use rustix::net::SendFlags;
use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use surus_proto::hadoop::hdfs::Status;
use surus_wire::datatransfer::{PipelineAck, UNKNOWN_SEQNO};

/// How often a client that took nothing is tried again.
const TELL_POLL: Duration = Duration::from_millis(10);

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

    /// As `send`, without waiting: false where the connection takes nothing now.
    fn try_send(&self, bytes: &[u8]) -> io::Result<bool> {
        let Some(_turn) = self.turn.try_lock() else { return Ok(false) };
        match rustix::net::send(&self.stream, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(sent) if sent == bytes.len() => Ok(true),
            Ok(_) => {
                // Nothing makes sense behind half a message.
                self.shutdown();
                Err(io::ErrorKind::WriteZero.into())
            }
            Err(rustix::io::Errno::AGAIN) => Ok(false),
            Err(e) => Err(e.into()),
        }
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

    /// Tells every client that this DataNode restarts soon: it waits, or goes on without it. One that takes no acknowledgements
    /// is given up after `within`, and keeps none of the others waiting.
    pub fn tell_of_restart(&self, within: Duration) {
        let deadline = Instant::now() + within;
        let reply = Status::OobRestart;
        let ack = PipelineAck {
            seqno: UNKNOWN_SEQNO,
            replies: vec![reply],
            downstream_ack_time_nanos: 0,
            flags: vec![reply as u32],
        };
        let mut bytes = Vec::new();
        ack.put(&mut bytes);
        let mut left: Vec<Arc<AckStream>> = self.streams.lock().values().cloned().collect();
        loop {
            left.retain(|stream| {
                let told = stream.try_send(&bytes);
                if let Err(e) = &told {
                    tracing::info!("a writer cannot be told of the restart: {e}");
                }
                told.is_ok_and(|told| !told)
            });
            if left.is_empty() {
                return;
            }
            if Instant::now() >= deadline {
                tracing::info!("{} writers take no acknowledgements and are not told of the restart", left.len());
                return;
            }
            std::thread::sleep(TELL_POLL);
        }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.writers.streams.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn a_silent_client_keeps_no_other_from_hearing_of_a_restart() {
        let writers = Writers::default();
        let pairs: Vec<_> = (0..9).map(|_| pair()).collect();
        let writing: Vec<_> = pairs.iter().map(|(_, server)| writers.add(server).unwrap()).collect();
        // The first is in the middle of a message that its client does not take; the second takes nothing at all.
        let turn = writing[0].acks.turn.lock();
        pairs[1].1.set_nonblocking(true).unwrap();
        while (&pairs[1].1).write(&[0; 4096]).is_ok() {}
        pairs[1].1.set_nonblocking(false).unwrap();
        std::thread::scope(|scope| {
            let telling = scope.spawn(|| writers.tell_of_restart(Duration::from_millis(200)));
            for pair in &pairs[2..] {
                let mut client = &pair.0;
                assert_eq!(client.read(&mut [0; 1]).unwrap(), 1);
            }
            telling.join().unwrap();
        });
        drop(turn);
    }
}
