//! The commit thread: takes what was logged, writes it to every name directory, syncs, and only then tells the listener.
//! One commit is in flight at a time; whatever is logged meanwhile shares the next one.

use crate::edit_log::{Batch, Shared};
use crate::error::JournalError;
use crate::ops::FrameHead;
use crate::segment::{SegmentWriter, write_seen_txid};
use crate::storage::Storage;
use std::io;
use std::path::Path;
use std::sync::Arc;
use surus_types::TxId;

/// The most that is written before a sync, in bytes. Damage further back than this can never be a torn tail.
pub const COMMIT_BYTES_MAX: usize = 1 << 20;

/// Told by the commit thread, in order. Calls should be short: the next commit waits for them.
pub trait CommitListener: Send {
    /// All transactions up to `txid` are durable.
    fn durable(&mut self, txid: TxId);
    /// A name directory failed and is no longer written; others remain.
    fn directory_failed(&mut self, dir: &Path, error: &JournalError);
    /// A directory that had failed is written again.
    fn directory_restored(&mut self, _dir: &Path) {}
    /// No directory is left. Nothing will become durable any more: the NameNode must stop.
    fn failed(&mut self, error: &JournalError);
}

pub(crate) struct Committer {
    shared: Arc<Shared>,
    storage: Arc<Storage>,
    listener: Box<dyn CommitListener>,
    writers: Vec<SegmentWriter>,
    /// The first transaction of a segment that seen_txid does not name yet.
    unseen: Option<TxId>,
}

impl Committer {
    /// Opens the segment that begins at `first` in every directory.
    ///
    /// # Errors
    /// The last directory's, when none could be opened.
    pub fn open(
        shared: Arc<Shared>,
        storage: Arc<Storage>,
        listener: Box<dyn CommitListener>,
        first: TxId,
    ) -> Result<Committer, JournalError> {
        let mut committer = Committer { shared, storage, listener, writers: Vec::new(), unseen: None };
        committer.open_segment(first)?;
        Ok(committer)
    }

    /// Runs until the log is closed or no directory is left.
    pub fn run(mut self) {
        let mut spare = Vec::new();
        loop {
            let batch = self.shared.take(spare);
            if let Err(error) = self.commit(&batch) {
                self.shared.stop(&error, || self.listener.failed(&error));
                return;
            }
            if batch.closing {
                return self.close(batch.last);
            }
            spare = batch.recycle();
        }
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), JournalError> {
        let mut start = 0;
        let ends = batch.rolls.iter().map(|(end, txid)| (*end, *txid, true));
        for (end, last, rolls) in ends.chain([(batch.buffer.len(), batch.last, false)]) {
            self.commit_operations(&batch.buffer[start..end], last)?;
            start = end;
            if rolls {
                self.roll(last)?;
            }
        }
        Ok(())
    }

    /// Writes whole operations, at most one commit's size at a time; `last` is the last one's transaction.
    fn commit_operations(&mut self, mut operations: &[u8], last: TxId) -> Result<(), JournalError> {
        while !operations.is_empty() {
            let (count, txid) = match operations.len() {
                0..=COMMIT_BYTES_MAX => (operations.len(), last),
                _ => first_commit(operations),
            };
            let (now, later) = operations.split_at(count);
            operations = later;
            // A single operation can be larger than a commit: its parts are made durable one after the other.
            for part in now.chunks(COMMIT_BYTES_MAX) {
                self.on_each("writing edits", |writer| writer.write(part))?;
                self.on_each("syncing edits", |writer| writer.sync())?;
            }
            self.shared.publish(txid, || self.listener.durable(txid));
            if let Some(first) = self.unseen.take() {
                let disk = Arc::clone(&self.storage.disk);
                self.on_each_result(|writer| write_seen_txid(&*disk, writer.dir(), first))?;
            }
        }
        Ok(())
    }

    fn roll(&mut self, last: TxId) -> Result<(), JournalError> {
        self.finalize(last)?;
        for dir in self.storage.restore_failed() {
            self.listener.directory_restored(&dir);
        }
        self.open_segment(TxId(last.0 + 1))
    }

    fn finalize(&mut self, last: TxId) -> Result<(), JournalError> {
        let mut error = None;
        for writer in std::mem::take(&mut self.writers) {
            let dir = writer.dir().to_path_buf();
            let result = writer.finalize(&*self.storage.disk, last);
            if let Err(e) = result.map_err(JournalError::io("finalising an edit segment")) {
                error = self.drop_directory(&dir, e).or(error);
            }
        }
        error.map_or(Ok(()), Err)
    }

    fn open_segment(&mut self, first: TxId) -> Result<(), JournalError> {
        let storage = Arc::clone(&self.storage);
        let mut error = None;
        for dir in storage.live_dirs() {
            let created = SegmentWriter::create(&*storage.disk, dir, first, storage.info.layout_version);
            match created.map_err(JournalError::io("starting an edit segment")) {
                Ok(writer) => self.writers.push(writer),
                Err(e) => error = self.drop_directory(dir, e).or(error),
            }
        }
        self.unseen = Some(first);
        error.map_or(Ok(()), Err)
    }

    fn close(mut self, last: TxId) {
        // Everything is durable and acknowledged; a segment that keeps its old name is finalised by the next start.
        self.finalize(last).ok();
    }

    fn on_each(
        &mut self,
        doing: &'static str,
        mut act: impl FnMut(&mut SegmentWriter) -> io::Result<()>,
    ) -> Result<(), JournalError> {
        self.on_each_result(|writer| act(writer).map_err(JournalError::io(doing)))
    }

    /// Acts on every directory; those that fail are dropped. An error when too few are left.
    fn on_each_result(
        &mut self,
        mut act: impl FnMut(&mut SegmentWriter) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let mut error = None;
        for mut writer in std::mem::take(&mut self.writers) {
            // A directory that failed while an image was saved is out, too.
            if self.storage.is_failed(writer.dir()) {
                let gone = JournalError::Stopped("an fsimage could not be written there".to_owned());
                error = self.drop_directory(writer.dir(), gone).or(error);
                continue;
            }
            match act(&mut writer) {
                Ok(()) => self.writers.push(writer),
                Err(e) => error = self.drop_directory(writer.dir(), e).or(error),
            }
        }
        match error {
            Some(error) => Err(error),
            None if self.writers.is_empty() => Err(JournalError::Stopped("all name directories failed".to_owned())),
            None => Ok(()),
        }
    }

    /// Gives the error back, with the directory's name, when nothing goes on without it.
    fn drop_directory(&mut self, dir: &Path, error: JournalError) -> Option<JournalError> {
        self.storage.mark_failed(dir);
        if !self.storage.can_go_on_without(dir) {
            return Some(JournalError::Directory { dir: dir.to_path_buf(), error: Box::new(error) });
        }
        self.listener.directory_failed(dir, &error);
        None
    }
}

/// How many bytes of whole operations fit one commit (at least one operation), and the last one's transaction.
fn first_commit(operations: &[u8]) -> (usize, TxId) {
    let (mut count, mut last) = (0, TxId(0));
    while let Ok(head) = FrameHead::parse(&operations[count..]) {
        if count > 0 && count + head.frame_bytes > COMMIT_BYTES_MAX {
            break;
        }
        count += head.frame_bytes;
        last = TxId(head.txid);
    }
    assert!(count > 0 && count <= operations.len(), "the buffer holds whole operations of our own making");
    (count, last)
}
