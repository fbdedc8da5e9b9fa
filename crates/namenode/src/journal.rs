//! What the NameNode asks of its edit log. A trait, so that a shared log of several NameNodes can take the place of the
//! local one.

use crate::commit::Waiting;
use crate::held::Held;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use surus_journal::{CommitListener, EditLog, JournalError, Saved, SentImage, Storage, StoredFile};
use surus_namespace::EditOp;
use surus_namespace::image::FrozenImage;
use surus_types::{HdfsError, TxId};

pub use surus_journal::Roll;

/// The edit log and the images beside it.
pub trait Journal: Send + Sync {
    /// Numbers and buffers operations and returns the last one's number. The caller holds the namespace's write lock, so
    /// that the order of the log is the order of the state. Never waits for the disk.
    fn log(&self, ops: &[EditOp]) -> TxId;

    /// As `log`, for a caller who logs more in a moment and calls `nudge` then: both become durable together.
    fn log_later(&self, ops: &[EditOp]) -> TxId;

    /// Starts the commit of what `log_later` left.
    fn nudge(&self);

    /// Ends the segment and starts the next. The caller holds the namespace's write lock.
    fn roll(&self) -> Roll;

    /// Writes an image of the state as of `txid`, once all up to it is durable. Waits for the disk.
    ///
    /// # Errors
    /// What the disk answered.
    fn save(&self, image: &FrozenImage, txid: TxId) -> Result<(), HdfsError>;

    /// As `save`, for the image that a rolling upgrade goes back to.
    ///
    /// # Errors
    /// What the disk answered.
    fn save_rollback_image(&self, image: &FrozenImage, txid: TxId) -> Result<(), HdfsError>;

    /// Waits until a transaction is durable.
    ///
    /// # Errors
    /// What the disk answered.
    fn wait_durable(&self, txid: TxId) -> Result<(), HdfsError>;

    /// The image of a transaction, or the newest one, to be sent.
    ///
    /// # Errors
    /// What the disk answered.
    fn open_image(&self, txid: Option<TxId>) -> Result<Option<StoredFile>, HdfsError>;

    /// Whether an image that is to be sent here is there already.
    ///
    /// # Errors
    /// What the disk answered.
    fn has_image(&self, image: &SentImage) -> Result<bool, HdfsError>;

    /// Takes an image that is sent here, under no name that a start would look at. Waits for sender and disk.
    ///
    /// # Errors
    /// It is not what was told, or not of this file system; what the disk answered.
    fn receive_image(&self, image: &SentImage, from: &mut dyn Read) -> Result<(), HdfsError>;

    /// Makes an image of what was received. Not beside `save`.
    ///
    /// # Errors
    /// What the disk answered.
    fn place_received(&self, image: &SentImage) -> Result<(), HdfsError>;

    /// Forgets what was received.
    fn drop_received(&self, image: &SentImage);

    /// A finished segment, to be sent.
    ///
    /// # Errors
    /// What the disk answered.
    fn open_edits(&self, first: TxId, last: TxId) -> Result<Option<StoredFile>, HdfsError>;

    /// The state of upgrades, for who asks and ends them.
    fn upgrades(&self) -> &dyn Upgrades;

    /// First and last transactions of the segments that are finished.
    ///
    /// # Errors
    /// What the disk answered.
    fn finalized_segments(&self) -> Result<Vec<(TxId, TxId)>, HdfsError>;

    /// Lends the operations from `from` on until `visit` says false or `last`, which is durable, was lent. Waits for the disk.
    ///
    /// # Errors
    /// What the disk answered.
    fn read_edits(&self, from: TxId, last: TxId, visit: &mut dyn FnMut(TxId, EditOp) -> bool) -> Result<(), HdfsError>;

    /// The name directories, and whether each is still written.
    fn directories(&self) -> Vec<(PathBuf, bool)>;

    /// The first transaction of the segment that is written.
    fn segment_first_txid(&self) -> TxId;

    /// Ends the log; what was logged is durable when it returns.
    ///
    /// # Errors
    /// What the disk answered.
    fn close(&self) -> Result<(), HdfsError>;
}

/// What name directories keep of the time before an upgrade.
pub trait Upgrades {
    /// A former state is kept until the upgrade is finalized. Touches no disk.
    fn has_previous(&self) -> bool;

    /// # Errors
    /// What the disk answered.
    fn finalize(&self) -> Result<(), HdfsError>;

    /// An image to which a rolling upgrade can go back.
    fn has_rollback_image(&self) -> bool;

    /// # Errors
    /// What the disk answered.
    fn finalize_rolling(&self) -> Result<(), HdfsError>;

    /// Whether directories that failed are tried again, and to set it.
    fn restores(&self) -> bool;
    fn set_restore(&self, restore: bool);
}

/// The edit log in the name directories.
pub struct LocalJournal {
    log: EditLog,
    storage: Arc<Storage>,
    /// Asked with every block report, and under the namespace's lock by `/jmx`: a disk that hangs must not be asked then.
    has_previous: AtomicBool,
}

impl LocalJournal {
    /// Starts the log behind `last`, the last transaction loaded.
    ///
    /// # Errors
    /// No name directory can be written.
    pub fn start(storage: Arc<Storage>, last: TxId, held: Arc<Held<Waiting>>) -> Result<Self, JournalError> {
        let log = EditLog::start(Arc::clone(&storage), last, Box::new(Listener { held }))?;
        let has_previous = AtomicBool::new(storage.has_previous().unwrap_or(true));
        Ok(LocalJournal { log, storage, has_previous })
    }

    pub fn last_txid(&self) -> TxId {
        self.log.last_txid()
    }
}

/// Says what went wrong beside what was saved.
fn report(saved: &Saved) {
    for (dir, error) in &saved.failed {
        tracing::error!("name directory {} is no longer written: {error}", dir.display());
    }
    for error in &saved.unpurged {
        tracing::warn!("old images or edits stay: {error}");
    }
}

fn io(error: JournalError) -> HdfsError {
    HdfsError::io(error.to_string())
}

impl Journal for LocalJournal {
    fn log(&self, ops: &[EditOp]) -> TxId {
        self.log.log(ops)
    }

    fn log_later(&self, ops: &[EditOp]) -> TxId {
        self.log.log_later(ops)
    }

    fn nudge(&self) {
        self.log.nudge();
    }

    fn roll(&self) -> Roll {
        self.log.roll()
    }

    fn save(&self, image: &FrozenImage, txid: TxId) -> Result<(), HdfsError> {
        // With the segment behind it, directories that failed are back: they are to get the image, too.
        self.log.wait_durable(TxId(txid.0 + 1)).map_err(io)?;
        report(&self.storage.save_namespace(image, txid).map_err(io)?);
        Ok(())
    }

    fn save_rollback_image(&self, image: &FrozenImage, txid: TxId) -> Result<(), HdfsError> {
        self.log.wait_durable(txid).map_err(io)?;
        report(&self.storage.save_rollback_image(image, txid).map_err(io)?);
        Ok(())
    }

    fn wait_durable(&self, txid: TxId) -> Result<(), HdfsError> {
        self.log.wait_durable(txid).map_err(io)
    }

    fn open_image(&self, txid: Option<TxId>) -> Result<Option<StoredFile>, HdfsError> {
        self.storage.open_image(txid).map_err(io)
    }

    fn has_image(&self, image: &SentImage) -> Result<bool, HdfsError> {
        self.storage.has_image(image).map_err(io)
    }

    fn receive_image(&self, image: &SentImage, from: &mut dyn Read) -> Result<(), HdfsError> {
        self.storage.receive_image(image, from).map_err(io)
    }

    fn place_received(&self, image: &SentImage) -> Result<(), HdfsError> {
        self.storage.place_received(image).map_err(io)
    }

    fn drop_received(&self, image: &SentImage) {
        self.storage.drop_received(image);
    }

    fn open_edits(&self, first: TxId, last: TxId) -> Result<Option<StoredFile>, HdfsError> {
        self.storage.open_edits(first, last).map_err(io)
    }

    fn upgrades(&self) -> &dyn Upgrades {
        self
    }

    fn finalized_segments(&self) -> Result<Vec<(TxId, TxId)>, HdfsError> {
        self.storage.finalized_segments().map_err(io)
    }

    fn read_edits(&self, from: TxId, last: TxId, visit: &mut dyn FnMut(TxId, EditOp) -> bool) -> Result<(), HdfsError> {
        self.storage.read_edits(from, last, visit).map_err(io)
    }

    fn directories(&self) -> Vec<(PathBuf, bool)> {
        self.storage.directories().map(|(path, is_live)| (path.to_owned(), is_live)).collect()
    }

    fn segment_first_txid(&self) -> TxId {
        self.log.segment_first_txid()
    }

    fn close(&self) -> Result<(), HdfsError> {
        self.log.close().map_err(io)
    }
}

impl Upgrades for LocalJournal {
    fn has_previous(&self) -> bool {
        self.has_previous.load(Ordering::Relaxed)
    }

    fn finalize(&self) -> Result<(), HdfsError> {
        self.storage.finalize_upgrade().map_err(io)?;
        self.has_previous.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn has_rollback_image(&self) -> bool {
        self.storage.rollback_image().is_ok_and(|txid| txid.is_some())
    }

    fn finalize_rolling(&self) -> Result<(), HdfsError> {
        self.storage.finalize_rolling_upgrade().map_err(io)
    }

    fn restores(&self) -> bool {
        self.storage.restores()
    }

    fn set_restore(&self, restore: bool) {
        self.storage.set_restore(restore);
    }
}

/// Hears from the commit thread.
struct Listener {
    held: Arc<Held<Waiting>>,
}

impl CommitListener for Listener {
    fn durable(&mut self, txid: TxId) {
        self.held.committed(txid);
    }

    fn directory_failed(&mut self, dir: &Path, error: &JournalError) {
        tracing::error!("name directory {} is no longer written: {error}", dir.display());
    }

    fn directory_restored(&mut self, dir: &Path) {
        tracing::info!("name directory {} is written again", dir.display());
    }

    /// Nothing that waits for this log will ever be acknowledged: the process ends, so that a client fails over or tries
    /// again with the next one.
    fn failed(&mut self, error: &JournalError) {
        tracing::error!("the NameNode stops: the edit log cannot be written: {error}");
        eprintln!("the NameNode stops: the edit log cannot be written: {error}");
        std::process::exit(1);
    }
}
