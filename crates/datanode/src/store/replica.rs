//! Replicas in memory: their states, and what a writer shares with readers and with recovery.

use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};
use surus_types::{Block, BlockId, GenerationStamp, ReplicaState};

/// One entry of the replica map. Kept small: a DataNode holds millions of finalized ones.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    pub generation_stamp: GenerationStamp,
    /// Length in bytes of a finalized or RWR replica; that of an open one is in its `OpenReplica`.
    pub num_bytes: u64,
    pub volume: u16,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Finalized,
    Rwr,
    Rbw(Arc<OpenReplica>),
    Temporary(Arc<OpenReplica>),
    Rur(Box<UnderRecovery>),
}

/// A replica whose length is being agreed on. The files stay where `original` says.
#[derive(Clone, Debug)]
pub(crate) struct UnderRecovery {
    pub original: Kind,
    pub recovery_id: GenerationStamp,
}

impl Replica {
    pub fn state(&self) -> ReplicaState {
        self.kind.state()
    }

    /// Whether the replica is open, and `open` is what its writer shares.
    pub fn is_written_by(&self, open: &Arc<OpenReplica>) -> bool {
        matches!(&self.kind, Kind::Rbw(mine) | Kind::Temporary(mine) if Arc::ptr_eq(mine, open))
    }

    /// Bytes in the block file.
    pub fn bytes_on_disk(&self) -> u64 {
        match self.kind.original() {
            Kind::Rbw(open) | Kind::Temporary(open) => open.progress.lock().bytes_on_disk,
            _ => self.num_bytes,
        }
    }

    /// Bytes a reader may see; `None` for a replica that is not readable.
    pub fn visible_length(&self) -> Option<u64> {
        match &self.kind {
            Kind::Finalized => Some(self.num_bytes),
            Kind::Rbw(open) => Some(open.progress.lock().bytes_acked),
            Kind::Rur(rur) => match &rur.original {
                Kind::Finalized => Some(self.num_bytes),
                Kind::Rbw(open) => Some(open.progress.lock().bytes_acked),
                _ => None,
            },
            Kind::Rwr | Kind::Temporary(_) => None,
        }
    }

    pub fn block(&self, id: BlockId) -> Block {
        Block { id, generation_stamp: self.generation_stamp, num_bytes: self.bytes_on_disk() }
    }
}

impl Kind {
    pub fn state(&self) -> ReplicaState {
        match self {
            Kind::Finalized => ReplicaState::Finalized,
            Kind::Rwr => ReplicaState::Rwr,
            Kind::Rbw(_) => ReplicaState::Rbw,
            Kind::Temporary(_) => ReplicaState::Temporary,
            Kind::Rur(_) => ReplicaState::Rur,
        }
    }

    /// What the files on disk are: the state before recovery began.
    pub fn original(&self) -> &Kind {
        match self {
            Kind::Rur(rur) => &rur.original,
            kind => kind,
        }
    }
}

/// What a writer tells readers of a replica that is open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Bytes that every node of the pipeline behind this one has.
    pub bytes_acked: u64,
    /// Bytes whose data and checksums are in the files.
    pub bytes_on_disk: u64,
    /// Checksum of the last, partial chunk of `bytes_on_disk`, which in the file may be overwritten any moment.
    pub last_checksum: Option<[u8; 4]>,
}

/// The shared part of an RBW or temporary replica.
#[derive(Debug, Default)]
pub struct OpenReplica {
    pub(crate) progress: Mutex<Progress>,
    grown: Condvar,
    writer: Mutex<WriterSlot>,
    writer_gone: Condvar,
}

#[derive(Default)]
struct WriterSlot {
    /// Ends the present writer's sockets; `None`: nobody writes.
    stop: Option<Box<dyn Fn() + Send>>,
    /// Counts writers, so that one that was thrown out does not clear its successor's slot.
    turn: u64,
}

impl std::fmt::Debug for WriterSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WriterSlot({}, {})", self.turn, self.stop.is_some())
    }
}

impl OpenReplica {
    pub(crate) fn with_length(bytes: u64, last_checksum: Option<[u8; 4]>) -> Arc<Self> {
        let open = OpenReplica::default();
        *open.progress.lock() = Progress { bytes_acked: bytes, bytes_on_disk: bytes, last_checksum };
        Arc::new(open)
    }

    pub fn progress(&self) -> Progress {
        *self.progress.lock()
    }

    /// Tells readers that data and checksums up to `bytes` are in the files.
    pub fn set_on_disk(&self, bytes: u64, last_checksum: Option<[u8; 4]>) {
        let mut progress = self.progress.lock();
        progress.bytes_on_disk = bytes;
        progress.last_checksum = last_checksum;
        self.grown.notify_all();
    }

    /// Raises the visible length.
    pub fn set_acked(&self, bytes: u64) {
        let mut progress = self.progress.lock();
        progress.bytes_acked = progress.bytes_acked.max(bytes);
    }

    /// Waits until `bytes` are on disk. Returns what is there then or at the deadline.
    pub fn wait_for_bytes(&self, bytes: u64, timeout: Duration) -> Progress {
        let deadline = Instant::now() + timeout;
        let mut progress = self.progress.lock();
        while progress.bytes_on_disk < bytes {
            if self.grown.wait_until(&mut progress, deadline).timed_out() {
                break;
            }
        }
        *progress
    }

    /// Throws the present writer out and waits until it is gone, then takes its place.
    ///
    /// # Errors
    /// The time was up before the writer ended.
    pub(crate) fn take_over(
        self: &Arc<Self>,
        stop: Option<Box<dyn Fn() + Send>>,
        timeout: Duration,
    ) -> Result<WriterTurn, ()> {
        let deadline = Instant::now() + timeout;
        let mut slot = self.writer.lock();
        while let Some(stop_present) = &slot.stop {
            stop_present();
            if self.writer_gone.wait_until(&mut slot, deadline).timed_out() && slot.stop.is_some() {
                return Err(());
            }
        }
        slot.turn += 1;
        slot.stop = stop.or_else(|| Some(Box::new(|| {})));
        Ok(WriterTurn { open: self.clone(), turn: slot.turn })
    }

    /// Tells the present writer to end, and does not wait for it.
    pub(crate) fn evict(&self) {
        if let Some(stop) = &self.writer.lock().stop {
            stop();
        }
    }

    pub fn has_writer(&self) -> bool {
        self.writer.lock().stop.is_some()
    }
}

/// The right to write a replica's files; ends when dropped.
#[derive(Debug)]
pub struct WriterTurn {
    open: Arc<OpenReplica>,
    turn: u64,
}

impl WriterTurn {
    /// Sets what `take_over` by somebody else calls to end this writer.
    pub fn on_stop(&self, stop: Box<dyn Fn() + Send>) {
        let mut slot = self.open.writer.lock();
        if slot.turn == self.turn && slot.stop.is_some() {
            slot.stop = Some(stop);
        }
    }
}

impl Drop for WriterTurn {
    fn drop(&mut self) {
        let mut slot = self.open.writer.lock();
        if slot.turn == self.turn {
            slot.stop = None;
            self.open.writer_gone.notify_all();
        }
    }
}
