//! saveNamespace, rollEdits, and the periodic checkpoint.

use crate::clock::Clock;
use crate::core::Core;
use crate::safe_mode::What;
use std::sync::atomic::Ordering;
use surus_namespace::ops::rolling_upgrade::RollingUpgrade;
use surus_namespace::tree::copied_page_bytes;
use surus_namespace::{EditOp, Namespace};
use surus_types::{HdfsError, TxId};

/// The last image written or loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checkpoint {
    pub txid: TxId,
    /// Wall clock, for `/jmx`.
    pub time_ms: i64,
    /// How old it is counts on the clock that never steps back: the wall clock set back must not put off the next one. Negative
    /// for one that is older than the process.
    at_ms: i64,
}

impl Checkpoint {
    /// One that is written now.
    pub fn now(txid: TxId, clock: &Clock) -> Self {
        Self::saved(txid, clock.now_ms(), clock)
    }

    /// One that was saved at `time_ms` of the wall clock: a NameNode that starts often must save one for all that.
    /// Source: `NNStorage.setMostRecentCheckpointInfo` (with the time of the image's file), Hadoop 3.5.0.
    pub fn saved(txid: TxId, time_ms: i64, clock: &Clock) -> Self {
        let age_ms = clock.now_ms().saturating_sub(time_ms).max(0);
        Checkpoint { txid, time_ms, at_ms: (clock.monotonic_ms() as i64).saturating_sub(age_ms) }
    }

    fn age_ms(&self, monotonic_ms: u64) -> u64 {
        u64::try_from((monotonic_ms as i64).saturating_sub(self.at_ms)).unwrap_or(0)
    }
}

impl Core {
    pub fn last_checkpoint(&self) -> Checkpoint {
        *self.checkpoint.lock()
    }

    /// How old the last image is.
    pub fn checkpoint_age_ms(&self) -> u64 {
        self.last_checkpoint().age_ms(self.clock.monotonic_ms())
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

    /// Writes an image. The state is locked only while its pages are shared with the writer; requests go on meanwhile.
    ///
    /// # Errors
    /// What the disk answered.
    pub fn save_namespace(&self) -> Result<(), HdfsError> {
        let _one_at_a_time = self.checkpointing.lock();
        let copied_before = copied_page_bytes();
        let (roll, image) = {
            let namespace = self.namespace.write();
            let roll = self.journal.roll();
            self.last_txid.store(roll.started.0, Ordering::Relaxed);
            (roll, namespace.freeze())
        };
        self.journal.save(&image, roll.ended)?;
        // Nothing but the pages that changed meanwhile was held twice.
        self.checkpoint_copied_bytes.store(copied_page_bytes() - copied_before, Ordering::Relaxed);
        *self.checkpoint.lock() = Checkpoint::now(roll.ended, &self.clock);
        tracing::info!("saved fsimage_{:019}", roll.ended.0);
        Ok(())
    }

    /// Writes an image, unless one is younger than `time_window` seconds and lacks fewer than `tx_gap` transactions (either
    /// 0: always). Returns whether it did. Source: `FSImage.saveNamespace`, Hadoop 3.5.0.
    ///
    /// # Errors
    /// What the disk answered.
    pub fn save_namespace_unless_recent(&self, time_window: u64, tx_gap: u64) -> Result<bool, HdfsError> {
        let last = self.last_checkpoint();
        let age_ms = last.age_ms(self.clock.monotonic_ms());
        let lacks = self.last_txid().0.saturating_sub(last.txid.0);
        if time_window > 0 && tx_gap > 0 && age_ms < time_window.saturating_mul(1000) && lacks < tx_gap {
            return Ok(false);
        }
        self.save_namespace()?;
        Ok(true)
    }

    /// The rolling upgrade that is going on.
    pub fn rolling_upgrade(&self) -> Option<RollingUpgrade> {
        self.namespace.read().rolling_upgrade
    }

    /// Saves the image that a rolling upgrade goes back to, leaves safe mode, and marks the log. Source:
    /// `FSNamesystem.startRollingUpgradeInternalForNonHA`, Hadoop 3.5.0.
    ///
    /// # Errors
    /// An upgrade of another kind is not finalized; what the disk answered.
    pub fn start_rolling_upgrade(&self) -> Result<(), HdfsError> {
        if self.journal.upgrades().has_previous() {
            return Err(HdfsError::io(
                "previous fs state should not exist during upgrade. Finalize or rollback first.",
            ));
        }
        let _one_at_a_time = self.checkpointing.lock();
        let (roll, image) = {
            let namespace = self.namespace.write();
            let roll = self.journal.roll();
            self.last_txid.store(roll.started.0, Ordering::Relaxed);
            (roll, namespace.freeze())
        };
        self.journal.save_rollback_image(&image, roll.ended)?;
        tracing::info!("Successfully saved namespace for preparing rolling upgrade.");
        {
            let mut namespace = self.namespace.write();
            namespace.blocks.leave_safe_mode();
            self.log_and_apply(&mut namespace, EditOp::RollingUpgradeStart { time: self.clock.now_ms() })?;
        }
        self.provision_snapshot_trash();
        Ok(())
    }

    /// Ends a rolling upgrade for good, and gives it with the time of its end. None was going on: nothing happens.
    ///
    /// # Errors
    /// What the disk answered.
    pub fn finalize_rolling_upgrade(&self) -> Result<Option<(RollingUpgrade, i64)>, HdfsError> {
        let (upgrade, time) = {
            let mut namespace = self.namespace.write();
            let Some(upgrade) = namespace.rolling_upgrade else {
                drop(namespace);
                self.finish_rolling_upgrade()?;
                return Ok(None);
            };
            self.check_safe_mode(&namespace, What("Failed to finalize rolling upgrade", ""))?;
            let time = self.clock.now_ms();
            self.log_and_apply(&mut namespace, EditOp::RollingUpgradeFinalize { time })?;
            (upgrade, time)
        };
        // The rollback image is given up only when the mark is durable.
        self.journal.wait_durable(self.last_txid())?;
        self.journal.upgrades().finalize_rolling()?;
        Ok(Some((upgrade, time)))
    }

    /// An end of a rolling upgrade that is in the log, but broke off before the rollback image was given up. A mark that was not
    /// set because the preparation broke off is no different: the image is one like others.
    ///
    /// # Errors
    /// What the disk answered.
    pub fn finish_rolling_upgrade(&self) -> Result<(), HdfsError> {
        let _one_at_a_time = self.checkpointing.lock();
        if self.namespace.read().rolling_upgrade.is_none() && self.journal.upgrades().has_rollback_image() {
            tracing::info!("no rolling upgrade is under way: its image to go back to becomes one like others");
            self.journal.upgrades().finalize_rolling()?;
        }
        Ok(())
    }

    fn log_and_apply(&self, namespace: &mut Namespace, op: EditOp) -> Result<(), HdfsError> {
        let txid = TxId(self.last_txid().0 + 1);
        namespace.apply(&op, txid).map_err(|e| HdfsError::io(e.to_string()))?;
        self.last_txid.store(self.journal.log(&[op]).0, Ordering::Relaxed);
        Ok(())
    }

    /// The periodic checkpoint, by `dfs.namenode.checkpoint.period` and `.txns`: what a secondary NameNode does for Hadoop. A
    /// segment that has grown long is rolled, as Hadoop's does by itself.
    pub fn checkpoint_if_due(&self) {
        let last = self.last_checkpoint();
        // The log's own two marks are no reason for an image.
        let lacks = self.last_txid().0.saturating_sub(last.txid.0 + 2);
        let age_ms = last.age_ms(self.clock.monotonic_ms());
        let due = lacks >= self.config.checkpoint_txns || (lacks > 0 && age_ms >= self.config.checkpoint_period_ms);
        let segment = self.last_txid().0.saturating_sub(self.journal.segment_first_txid().0);
        if !due && segment > self.config.autoroll_txns {
            let _ = self.roll_edits();
        }
        if due && let Err(error) = self.save_namespace() {
            tracing::error!("the checkpoint failed: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_counts_from_when_the_image_was_saved() {
        let clock = Clock::start();
        let hour_ms = 3_600_000;
        let old = Checkpoint::saved(TxId(7), clock.now_ms() - hour_ms, &clock);
        let age_ms = old.age_ms(clock.monotonic_ms()) as i64;
        assert!((hour_ms..hour_ms + 60_000).contains(&age_ms), "{age_ms}");
        // The clock was set back since.
        let ahead = Checkpoint::saved(TxId(7), clock.now_ms() + hour_ms, &clock);
        assert!(ahead.age_ms(clock.monotonic_ms()) < 60_000);
        assert!(Checkpoint::now(TxId(8), &clock).age_ms(clock.monotonic_ms() + 5) < 60_000);
    }
}
