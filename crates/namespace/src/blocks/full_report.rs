//! A full block report, taken in slice by slice: between two of them the namespace is unlocked. What becomes known of the
//! storage's replicas meanwhile is newer than the report, and holds against it.
//! Source: `BlockManager.processReport`, Hadoop 3.5.0, which does all of it under one lock.

use super::handle_set::HandleSet;
use super::report::{InFuture, ReportedBlock};
use super::{BlockHandle, BlockManager, StorageHandle};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Taking out a replica is as much work as looking at so many that stay.
const REMOVAL_COST: usize = 4;

/// How far a full block report has been taken in. It lives outside the namespace.
#[derive(Debug)]
pub struct ReportProgress {
    /// Replicas looked at in one slice.
    limit: usize,
    in_future: InFuture,
    /// As [`Reporting::number`].
    number: u64,
    seen: HandleSet,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    New,
    /// The replicas that the report lists.
    Listed,
    /// Replicas believed to be there, from this handle on: what was not listed is gone.
    Stored(u32),
    /// Open blocks, from this handle on: what was expected by an earlier report and not listed is forgotten.
    Open(u32),
    /// Blocks with too many replicas could not be decided while the storage had not reported.
    Excess(u32),
    Done,
}

/// The storage's side of a report that is under way.
#[derive(Clone, Debug)]
pub(super) struct Reporting {
    /// Tells reports apart: of two of one storage the later one is taken in to its end.
    number: u64,
    /// Blocks whose replica here came, went or was spoken of otherwise since the report began.
    touched: HandleSet,
}

/// Whether the DataNode that reports is the one that began to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reporter {
    Known,
    /// It registered anew, or was given up, since the report began.
    Gone,
}

impl ReportProgress {
    /// A report not yet begun, of which each event takes in about `limit` replicas. `in_future` as
    /// [`BlockManager::in_future_of`] counted it in the whole report.
    pub fn new(limit: usize, in_future: InFuture) -> Self {
        ReportProgress { limit: limit.max(1), in_future, number: 0, seen: HandleSet::default(), stage: Stage::New }
    }

    /// Nothing is left to be taken in.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }
}

impl BlockManager {
    /// Counts the replicas with stamps that were never given out, so that start-up safe mode does not end between the slices
    /// of a report that ought to keep it. Source: `BlockManagerSafeMode.checkBlocksWithFutureGS`, Hadoop 3.5.0.
    pub fn in_future_of(generation_stamp: surus_types::GenerationStamp, blocks: &[ReportedBlock]) -> InFuture {
        let mut found = InFuture::default();
        for reported in
            blocks.iter().filter(|r| r.block.generation_stamp > generation_stamp && !r.block.id.is_striped())
        {
            found.blocks += 1;
            found.bytes += reported.block.num_bytes;
        }
        found
    }

    /// Takes in the next slice of a full report of one storage.
    pub(super) fn report_slice(
        &mut self,
        storage: StorageHandle,
        blocks: &mut dyn Iterator<Item = ReportedBlock>,
        progress: &mut ReportProgress,
    ) -> Reporter {
        if progress.stage == Stage::New {
            self.begin_report(storage, progress);
        }
        // Taken out for the time: what the report itself says is not newer than it.
        let Some(reporting) = self.datanodes.storage_mut(storage).reporting.take() else {
            progress.stage = Stage::Done;
            return Reporter::Gone;
        };
        if reporting.number != progress.number {
            self.datanodes.storage_mut(storage).reporting = Some(reporting);
            progress.stage = Stage::Done;
            return Reporter::Known;
        }
        let mut left = progress.limit;
        while left > 0 && !progress.is_done() {
            let is_unlisted = |handle| !progress.seen.contains(handle) && !reporting.touched.contains(handle);
            (progress.stage, left) = match progress.stage {
                Stage::New | Stage::Listed => {
                    self.take_listed(storage, blocks, &mut progress.seen, &reporting.touched, left)
                }
                Stage::Stored(from) => self.drop_unlisted(storage, from, is_unlisted, left),
                Stage::Open(from) => self.forget_unlisted(storage, from, is_unlisted, left),
                Stage::Excess(from) => self.reconsider_excess(storage, from, left),
                Stage::Done => break,
            };
        }
        if !progress.is_done() {
            self.datanodes.storage_mut(storage).reporting = Some(reporting);
        }
        Reporter::Known
    }

    fn begin_report(&mut self, storage: StorageHandle, progress: &mut ReportProgress) {
        self.last_report += 1;
        progress.number = self.last_report;
        progress.stage = Stage::Listed;
        let reporting = Box::new(Reporting { number: progress.number, touched: HandleSet::default() });
        let state = self.datanodes.storage_mut(storage);
        let is_repeated = state.reporting.replace(reporting).is_some();
        // What a report that is given up for this one said is not counted twice.
        let is_first = state.block_reports == 0 && !is_repeated;
        if is_first && self.safe_mode.is_startup() && !self.config.rolled_back {
            self.in_future.blocks += progress.in_future.blocks;
            self.in_future.bytes += progress.in_future.bytes;
        }
    }

    /// Something became known of a block's replica, other than by the storage's report that is under way.
    pub(super) fn touch_replica(&mut self, handle: BlockHandle, storage: StorageHandle) {
        if let Some(reporting) = &mut self.datanodes.storage_mut(storage).reporting {
            reporting.touched.insert(handle.0);
        }
    }

    fn take_listed(
        &mut self,
        storage: StorageHandle,
        blocks: &mut dyn Iterator<Item = ReportedBlock>,
        seen: &mut HandleSet,
        touched: &HandleSet,
        left: usize,
    ) -> (Stage, usize) {
        for done in 0..left {
            let Some(reported) = blocks.next() else { return (Stage::Stored(0), left - done) };
            if touched.len() > 0 && self.find(reported.block.id).is_some_and(|handle| touched.contains(handle.0)) {
                continue;
            }
            if let Some(handle) = self.replica_reported(storage, reported.block, reported.state, None) {
                seen.insert(handle.0);
            }
        }
        (Stage::Listed, 0)
    }

    /// What the NameNode believed to be there and is not in the report is gone.
    fn drop_unlisted(
        &mut self,
        storage: StorageHandle,
        from: u32,
        is_unlisted: impl Fn(u32) -> bool,
        mut left: usize,
    ) -> (Stage, usize) {
        let (mut next, mut gone) = (Some(from), Vec::new());
        for handle in self.datanodes.storage(storage).blocks.iter_from(from) {
            if left == 0 {
                break;
            }
            next = handle.checked_add(1);
            let is_gone = is_unlisted(handle);
            if is_gone {
                gone.push(handle);
            }
            left = left.saturating_sub(if is_gone { REMOVAL_COST } else { 1 });
        }
        for handle in gone {
            self.remove_stored(BlockHandle(handle), storage);
        }
        match next {
            Some(next) if left == 0 => (Stage::Stored(next), 0),
            _ => (Stage::Open(0), left),
        }
    }

    /// Replicas of open blocks that were expected here by an earlier report, and are not.
    fn forget_unlisted(
        &mut self,
        storage: StorageHandle,
        from: u32,
        is_unlisted: impl Fn(u32) -> bool,
        mut left: usize,
    ) -> (Stage, usize) {
        for (handle, open) in self.open.range_mut(BlockHandle(from)..) {
            if left == 0 {
                return (Stage::Open(handle.0), 0);
            }
            left -= 1;
            if is_unlisted(handle.0) {
                // A pipeline that is just being set up has no replica yet (length 0): it stays expected.
                open.expected.retain(|e| e.storage != storage || e.num_bytes == 0);
            }
        }
        let is_first = self.datanodes.storage(storage).block_reports == 0;
        self.datanodes.storage_mut(storage).block_reports += 1;
        match is_first && !self.safe_mode.is_on() {
            true => (Stage::Excess(0), left),
            false => (Stage::Done, left),
        }
    }

    fn reconsider_excess(&mut self, storage: StorageHandle, from: u32, left: usize) -> (Stage, usize) {
        let blocks = &self.datanodes.storage(storage).blocks;
        let handles: Vec<u32> = blocks.iter_from(from).take(left.div_ceil(REMOVAL_COST)).collect();
        let Some(last) = handles.last() else { return (Stage::Done, left) };
        let next = last.checked_add(1);
        for handle in &handles {
            self.update_redundancy(BlockHandle(*handle));
        }
        let left = left.saturating_sub(handles.len() * REMOVAL_COST);
        (next.map_or(Stage::Done, Stage::Excess), left)
    }
}
