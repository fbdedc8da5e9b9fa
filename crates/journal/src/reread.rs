//! Reading edits again while they are written: what `getEditsFromTxid` (inotify) serves.

use crate::error::JournalError;
use crate::names::FileName;
use crate::scan::SegmentReader;
use crate::storage::Storage;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use surus_namespace::EditOp;
use surus_types::TxId;

/// A segment changes its name when it is finalised: a reader that finds it gone looks again this often.
const LOOKS_MAX: usize = 4;

impl Storage {
    /// Lends the operations from transaction `from` on, in order, until `visit` says false or `last` was lent. The caller
    /// knows that all up to `last` is durable. Where the first of them were purged it begins with the oldest that is left.
    ///
    /// # Errors
    /// The disk's, or damage.
    pub fn read_edits(
        &self,
        from: TxId,
        last: TxId,
        visit: &mut dyn FnMut(TxId, EditOp) -> bool,
    ) -> Result<(), JournalError> {
        let mut next = from;
        let mut looks = 0;
        while next <= last {
            let Some((path, first, end)) = self.segment_with(next)? else { return Ok(()) };
            match self.read_segment(&path, first, end.is_some(), &mut next, last, visit) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(JournalError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound && looks < LOOKS_MAX =>
                {
                    looks += 1;
                    continue;
                }
                Err(error) => return Err(error),
            }
            match end {
                Some(end) => next = next.max(TxId(end.0 + 1)),
                // All that is durable of the segment under way has been lent.
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The segment that holds `txid`, or the first behind it. Its last transaction is absent while it is written.
    fn segment_with(&self, txid: TxId) -> Result<Option<(PathBuf, TxId, Option<TxId>)>, JournalError> {
        let mut segments: BTreeMap<TxId, (PathBuf, Option<TxId>)> = BTreeMap::new();
        for dir in self.live_dirs() {
            for name in self.files(dir)? {
                match name {
                    FileName::Finalized { first, last } if last >= txid => {
                        segments.insert(first, (name.path(dir), Some(last)));
                    }
                    FileName::InProgress(first) => {
                        segments.entry(first).or_insert_with(|| (name.path(dir), None));
                    }
                    _ => {}
                }
            }
        }
        // The nearest one: a directory that came back may still have the segment that was written when it failed.
        let start = segments.range(..=txid).next_back().map_or(TxId(0), |(first, _)| *first);
        Ok(segments.split_off(&start).into_iter().next().map(|(first, (path, last))| (path, first, last)))
    }

    /// Whether to go on with the next segment. `next` moves behind what was lent.
    fn read_segment(
        &self,
        path: &std::path::Path,
        first: TxId,
        is_finalized: bool,
        next: &mut TxId,
        last: TxId,
        visit: &mut dyn FnMut(TxId, EditOp) -> bool,
    ) -> Result<bool, JournalError> {
        let mut reader = SegmentReader::open(&*self.disk, path, first, self.info().layout_version)?;
        if is_finalized {
            reader = reader.finalized();
        }
        // Nothing behind `last` is looked at: it may be half written.
        while reader.next_txid() <= last {
            let Some((_, txid, op)) = reader.next_op()? else { break };
            if txid < *next {
                continue;
            }
            *next = TxId(txid.0 + 1);
            if !visit(txid, op) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
