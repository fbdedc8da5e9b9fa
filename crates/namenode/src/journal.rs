//! What the NameNode asks of its edit log. One implementation writes the name directories, one keeps nothing and is for
//! tests.

use std::sync::atomic::{AtomicU64, Ordering};
use surus_namespace::EditOp;
use surus_types::{HdfsError, TxId};

/// The edit log.
pub trait Journal: Send + Sync {
    /// Numbers and buffers operations and returns the last one's number. The caller holds the namespace's write lock, so
    /// that the order of the log is the order of the state. Never waits for the disk.
    fn log(&self, ops: &[EditOp]) -> TxId;

    /// Ends the segment and starts the next. The caller holds the namespace's write lock.
    fn roll(&self) -> Roll;

    /// First and last transactions of the segments that are finished.
    ///
    /// # Errors
    /// What the disk answered.
    fn finalized_segments(&self) -> Result<Vec<(TxId, TxId)>, HdfsError>;
}

/// The transactions at the border of two segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Roll {
    /// The last one of the segment that ended.
    pub ended: TxId,
    /// The first one of the new segment.
    pub started: TxId,
}

/// Keeps nothing: every operation counts as durable at once. For tests and for measuring what the rest costs.
#[derive(Debug, Default)]
pub struct NoJournal {
    last: AtomicU64,
}

impl Journal for NoJournal {
    fn log(&self, ops: &[EditOp]) -> TxId {
        TxId(self.last.fetch_add(ops.len() as u64, Ordering::Relaxed) + ops.len() as u64)
    }

    fn roll(&self) -> Roll {
        let ended = TxId(self.last.fetch_add(2, Ordering::Relaxed) + 1);
        Roll { ended, started: TxId(ended.0 + 1) }
    }

    fn finalized_segments(&self) -> Result<Vec<(TxId, TxId)>, HdfsError> {
        Ok(Vec::new())
    }
}
