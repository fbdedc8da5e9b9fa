//! Checkpoints that others make of our edits: a secondary NameNode or a standby sends the image back.
//! Source: `ImageServlet.doPut`, Hadoop 3.5.0.

use crate::checkpoint::Checkpoint;
use crate::core::Core;
use parking_lot::Mutex;
use std::io::Read;
use surus_journal::SentImage;
use surus_types::{HdfsError, TxId};

/// Why an image was not taken.
#[derive(Debug)]
pub enum NotTaken {
    /// Another one is there, comes, or is too young for this one to be worth it: no failure of the sender.
    Conflict(String),
    Failed(HdfsError),
}

impl From<HdfsError> for NotTaken {
    fn from(error: HdfsError) -> Self {
        NotTaken::Failed(error)
    }
}

/// Gives the place of the one image that may be received at a time back.
struct Turn<'a>(&'a Mutex<Option<TxId>>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

impl Core {
    /// Receives an image and makes it one of ours. Waits for sender and disk.
    ///
    /// # Errors
    /// It is not wanted, not what was told, or the disk's.
    pub fn take_image(&self, image: &SentImage, from: &mut dyn Read) -> Result<(), NotTaken> {
        let _turn = self.turn_to_receive(image.txid)?;
        self.check_wanted(image)?;
        self.journal.receive_image(image, from)?;
        let placed = {
            let _one_at_a_time = self.checkpointing.lock();
            match self.check_absent(image) {
                Ok(()) => self.journal.place_received(image).map_err(NotTaken::from),
                absent => absent,
            }
        };
        if placed.is_err() {
            self.journal.drop_received(image);
            return placed;
        }
        let mut checkpoint = self.checkpoint.lock();
        if !image.is_rollback && image.txid > checkpoint.txid {
            *checkpoint = Checkpoint::now(image.txid, &self.clock);
        }
        tracing::info!("received the image of transaction {}", image.txid);
        Ok(())
    }

    fn turn_to_receive(&self, txid: TxId) -> Result<Turn<'_>, NotTaken> {
        let mut receiving = self.receiving.lock();
        if let Some(other) = *receiving {
            return Err(NotTaken::Conflict(format!(
                "Another checkpointer is already in the process of uploading a checkpoint made up to transaction ID {other}"
            )));
        }
        *receiving = Some(txid);
        Ok(Turn(&self.receiving))
    }

    fn check_wanted(&self, image: &SentImage) -> Result<(), NotTaken> {
        let last = self.last_txid();
        if image.txid > last {
            return Err(
                HdfsError::io(format!("an image of transaction {}, where the log ends at {last}", image.txid)).into()
            );
        }
        let checkpoint = self.last_checkpoint();
        let (age_s, age_s_min) = (self.checkpoint_age_ms() / 1000, self.config.checkpoint_period_ms * 3 / 4 / 1000);
        let (lacks, lacks_min) = (image.txid.0.saturating_sub(checkpoint.txid.0), self.config.checkpoint_txns);
        if !image.is_rollback && age_s < age_s_min && lacks < lacks_min {
            return Err(NotTaken::Conflict(format!(
                "Rejecting a fsimage due to small time delta and txnid delta. Time since previous checkpoint is {age_s} expecting at \
                 least {age_s_min} txnid delta since previous checkpoint is {lacks} expecting at least {lacks_min}"
            )));
        }
        self.check_absent(image)
    }

    fn check_absent(&self, image: &SentImage) -> Result<(), NotTaken> {
        match self.journal.has_image(image)? {
            true => Err(NotTaken::Conflict(format!(
                "Either current namenode has checkpointed or another checkpointer already uploaded an checkpoint for txid {}",
                image.txid
            ))),
            false => Ok(()),
        }
    }
}
