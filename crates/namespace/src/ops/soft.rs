//! Carries out what a plan changes beside the edit log. Only a live NameNode does it; a restart learns it from reports.

use crate::Namespace;
use crate::blocks::{Now, Observation, Observed};
use crate::plan::{Env, SoftEffect};
use alloc::format;
use core::fmt;
use surus_types::{ExceptionClass, HdfsError, TxId};

impl Namespace {
    /// Called by the shell after a plan's operations were applied; `last_txid` is the last of them (or the last of all, if
    /// the plan had none).
    pub fn apply_soft(&mut self, effects: &[SoftEffect], last_txid: TxId) {
        for effect in effects {
            match effect {
                SoftEffect::ExpectReplicas { block, generation_stamp, storages } => {
                    self.blocks.expect_replicas(*block, *generation_stamp, storages);
                }
                SoftEffect::StartBlockRecovery { block, recovery_id, truncate_to } => {
                    self.blocks.start_recovery(*block, *recovery_id, *truncate_to, self.now_ms, last_txid);
                }
                SoftEffect::Recovered { block, storages } => self.blocks.recovered(*block, storages),
                SoftEffect::RenewLease { holder } => self.leases.renew(holder, self.now_ms),
            }
        }
    }

    /// Takes in what happened outside: see [`Observation`].
    pub fn observe(&mut self, event: Observation<'_>, now: Now) -> Observed {
        self.set_now(now.monotonic_ms);
        self.blocks.observe(event, now)
    }

    /// Writes are refused in safe mode.
    ///
    /// # Errors
    /// `SafeModeException`: `what`, and why and how long the NameNode is in safe mode.
    pub fn check_safe_mode(&self, env: &Env<'_>, what: fmt::Arguments<'_>) -> Result<(), HdfsError> {
        if self.blocks.safe_mode.is_on() { Err(self.safe_mode_error(env, what)) } else { Ok(()) }
    }

    pub(crate) fn safe_mode_error(&self, env: &Env<'_>, what: fmt::Arguments<'_>) -> HdfsError {
        let tip = self.blocks.safe_mode_tip(env.monotonic_ms);
        let host = &self.blocks.config.host_name;
        let text = format!("{what}. Name node is in safe mode.\n{tip} NamenodeHostName:{host}");
        HdfsError::new(ExceptionClass::SafeMode, text)
    }
}
