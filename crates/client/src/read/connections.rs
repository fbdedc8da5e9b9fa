//! Connections to DataNodes that wait for another read. Source: `PeerCache.java`, Hadoop 3.5.0.

use super::block_reader::{BlockError, BlockReader, Range};
use parking_lot::Mutex;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// `dfs.client.socketcache.capacity`.
const CONNECTIONS_MAX: usize = 16;
/// `dfs.client.socketcache.expiryMsec`: below the DataNode's own limit of 4 s.
const IDLE_MAX: Duration = Duration::from_secs(3);

#[derive(Default)]
pub(crate) struct Connections {
    idle: Mutex<Vec<(String, TcpStream, Instant)>>,
}

impl Connections {
    /// Asks for a range over a kept connection, or over a new one where there is none or the kept one turns out dead.
    pub fn open(&self, addr: &str, timeout: Duration, range: &Range<'_>) -> Result<BlockReader, BlockError> {
        if let Some(stream) = self.take(addr) {
            match BlockReader::open(stream, addr, range) {
                Err(BlockError::Io(_)) => {}
                other => return other,
            }
        }
        let stream = crate::datanode::connect(addr, timeout).map_err(|e| BlockError::Io(e.message()))?;
        BlockReader::open(stream, addr, range)
    }

    fn take(&self, addr: &str) -> Option<TcpStream> {
        let mut idle = self.idle.lock();
        idle.retain(|(_, _, since)| since.elapsed() < IDLE_MAX);
        let found = idle.iter().rposition(|(a, _, _)| a == addr)?;
        Some(idle.remove(found).1)
    }

    pub fn put(&self, addr: String, stream: TcpStream) {
        let mut idle = self.idle.lock();
        idle.push((addr, stream, Instant::now()));
        let over = idle.len().saturating_sub(CONNECTIONS_MAX);
        idle.drain(..over);
    }
}
