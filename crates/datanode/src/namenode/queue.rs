//! What is to be told to one NameNode, and the waking of the thread that tells it.

use crate::store::Volume;
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use surus_proto::hadoop::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use surus_proto::hadoop::hdfs::{LocatedBlockProto, StorageTypeProto};
use surus_types::{Block, BlockId};

/// More changes than this are not kept for a NameNode that does not take them: a full report says it all in less.
const CHANGES_MAX: usize = 100_000;
/// As many notices are kept; later ones are dropped, and their causes bring them up again.
const NOTICES_MAX: usize = 1_000;

/// One replica that came or went.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub block: Block,
    pub status: BlockStatus,
    pub storage_id: String,
    pub storage_type: StorageTypeProto,
    pub delete_hint: String,
}

impl Change {
    pub fn new(block: &Block, volume: &Volume, status: BlockStatus, delete_hint: &str) -> Self {
        Change {
            block: *block,
            status,
            storage_id: volume.storage_id.clone(),
            storage_type: StorageTypeProto::try_from(volume.storage_type as i32).unwrap_or(StorageTypeProto::Disk),
            delete_hint: delete_hint.to_owned(),
        }
    }
}

/// A message that is no block report.
#[derive(Clone, Debug)]
pub(super) enum Notice {
    BadBlock(Box<LocatedBlockProto>),
    Error(u32, String),
}

/// What one round of the reporting thread has to do.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub changes: Vec<Change>,
    pub notices: Vec<Notice>,
    /// Lease id of a full report that is due.
    pub full_report: Option<u64>,
    pub stop: bool,
}

#[derive(Default)]
pub(crate) struct ReportQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// RECEIVED and DELETED, in order.
    changes: Vec<Change>,
    /// RECEIVING, by block: always later than what `changes` says of the same one. These alone wake nobody.
    receiving: HashMap<BlockId, Change>,
    notices: Vec<Notice>,
    flush: bool,
    registered: bool,
    full_report_due: Option<Instant>,
    lease: Option<u64>,
    stop: bool,
}

impl State {
    fn has_changes(&self) -> bool {
        !self.changes.is_empty() || !self.receiving.is_empty()
    }

    fn clear_changes(&mut self) {
        self.changes.clear();
        self.receiving.clear();
    }

    /// Has a full report say what the queue has no room for.
    fn bound_changes(&mut self) {
        if self.changes.len() + self.receiving.len() > CHANGES_MAX {
            self.clear_changes();
            self.full_report_due = Some(Instant::now());
        }
    }
}

impl ReportQueue {
    pub(super) fn push(&self, change: Change) {
        let mut state = self.state.lock();
        let urgent = change.status == BlockStatus::Received;
        if change.status == BlockStatus::Receiving {
            state.receiving.insert(change.block.id, change);
        } else {
            // The NameNode need not hear of the beginning of what has ended.
            state.receiving.remove(&change.block.id);
            state.changes.push(change);
        }
        state.bound_changes();
        if urgent {
            state.flush = true;
            self.changed.notify_all();
        }
    }

    pub(super) fn push_notice(&self, notice: Notice) {
        let mut state = self.state.lock();
        if state.notices.len() < NOTICES_MAX {
            state.notices.push(notice);
        }
        state.flush = true;
        self.changed.notify_all();
    }

    /// Sends what there is, however little.
    pub(super) fn flush(&self) {
        let mut state = self.state.lock();
        if state.has_changes() {
            state.flush = true;
            self.changed.notify_all();
        }
    }

    /// A full report is due, as soon as a heartbeat brings a lease.
    pub(super) fn request_full_report(&self) {
        self.state.lock().full_report_due = Some(Instant::now());
        self.changed.notify_all();
    }

    /// A full report is due then, or before if one was asked for while the last was sent.
    pub(super) fn schedule_full_report(&self, after: Duration) {
        let at = Instant::now() + after;
        let mut state = self.state.lock();
        state.full_report_due = Some(state.full_report_due.map_or(at, |due| due.min(at)));
    }

    /// Whether the next heartbeat should ask for a lease.
    pub(super) fn wants_lease(&self) -> bool {
        let state = self.state.lock();
        state.lease.is_none() && state.full_report_due.is_some_and(|at| at <= Instant::now())
    }

    pub(super) fn give_lease(&self, lease: u64) {
        self.state.lock().lease = Some(lease);
        self.changed.notify_all();
    }

    /// Reports may go out from now on. What was queued before is part of the full report that follows, whose time is still
    /// to be set.
    pub(super) fn registered(&self) {
        let mut state = self.state.lock();
        state.registered = true;
        state.clear_changes();
        state.full_report_due = None;
        state.lease = None;
    }

    pub(super) fn unregistered(&self) {
        self.state.lock().registered = false;
    }

    /// Puts changes that could not be sent back in front of newer ones.
    pub(super) fn put_back(&self, changes: Vec<Change>) {
        let mut state = self.state.lock();
        let (receiving, mut changes): (Vec<_>, _) =
            changes.into_iter().partition(|c| c.status == BlockStatus::Receiving);
        let ended: HashSet<BlockId> = state.changes.iter().map(|c| c.block.id).collect();
        for change in receiving.into_iter().filter(|c| !ended.contains(&c.block.id)) {
            state.receiving.entry(change.block.id).or_insert(change);
        }
        changes.append(&mut state.changes);
        state.changes = changes;
        state.flush = true;
        state.bound_changes();
    }

    pub(super) fn stop(&self) {
        self.state.lock().stop = true;
        self.changed.notify_all();
    }

    /// Waits until something is to be sent.
    pub(super) fn next(&self) -> Round {
        let mut state = self.state.lock();
        loop {
            let report = state.lease.is_some();
            if state.stop || (state.registered && (state.flush || report)) {
                state.flush = false;
                if report {
                    state.full_report_due = None;
                }
                let mut changes = std::mem::take(&mut state.changes);
                changes.extend(state.receiving.drain().map(|(_, change)| change));
                return Round {
                    changes,
                    notices: std::mem::take(&mut state.notices),
                    full_report: state.lease.take(),
                    stop: state.stop,
                };
            }
            self.changed.wait(&mut state);
        }
    }

    /// Waits for `timeout` or the stop. True: stop.
    pub(super) fn sleep(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut state = self.state.lock();
        while !state.stop {
            if self.changed.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
        state.stop
    }

    /// As `sleep`, and also ends when a full report becomes due that has no lease yet.
    pub(super) fn sleep_until_heartbeat(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let asked = Instant::now();
        let mut state = self.state.lock();
        while !state.stop && !state.full_report_due.is_some_and(|at| at > asked && at <= Instant::now()) {
            if self.changed.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
        state.stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_types::GenerationStamp;

    fn change(id: i64, status: BlockStatus) -> Change {
        Change {
            block: Block { id: BlockId(id), generation_stamp: GenerationStamp(1), num_bytes: 0 },
            status,
            storage_id: "DS-1".into(),
            storage_type: StorageTypeProto::Disk,
            delete_hint: String::new(),
        }
    }

    fn taken(queue: &ReportQueue) -> Vec<(i64, BlockStatus)> {
        queue.next().changes.iter().map(|c| (c.block.id.0, c.status)).collect()
    }

    #[test]
    fn a_queue_nobody_takes_from_ends_in_a_full_report() {
        let queue = ReportQueue::default();
        queue.registered();
        for id in 0..CHANGES_MAX as i64 {
            queue.push(change(id, BlockStatus::Receiving));
            queue.push(change(id, BlockStatus::Received));
        }
        assert!(!queue.wants_lease());
        assert_eq!(queue.state.lock().changes.len(), CHANGES_MAX);
        queue.push(change(-1, BlockStatus::Deleted));
        assert!(queue.wants_lease());
        queue.push(change(-2, BlockStatus::Received));
        assert_eq!(taken(&queue), [(-2, BlockStatus::Received)]);
        for _ in 0..NOTICES_MAX + 1 {
            queue.push_notice(Notice::Error(1, String::new()));
        }
        assert_eq!(queue.next().notices.len(), NOTICES_MAX);
    }

    #[test]
    fn a_full_report_asked_for_during_another_is_not_put_off() {
        const HOURS: Duration = Duration::from_secs(6 * 3600);
        let queue = ReportQueue::default();
        queue.registered();
        queue.schedule_full_report(Duration::ZERO);
        queue.give_lease(7);
        assert_eq!(queue.next().full_report, Some(7));
        queue.request_full_report();
        queue.schedule_full_report(HOURS);
        assert!(queue.wants_lease());
        queue.give_lease(8);
        assert_eq!(queue.next().full_report, Some(8));
        queue.schedule_full_report(HOURS);
        assert!(!queue.wants_lease());
        // A new registration brings its own date.
        queue.request_full_report();
        queue.registered();
        queue.schedule_full_report(HOURS);
        assert!(!queue.wants_lease());
    }

    #[test]
    fn what_ended_is_not_told_to_begin() {
        use BlockStatus::{Deleted, Received, Receiving};
        let queue = ReportQueue::default();
        queue.registered();
        queue.push(change(1, Receiving));
        queue.push(change(2, Receiving));
        queue.push(change(1, Received));
        let round = queue.next().changes;
        queue.push(change(2, Received));
        queue.push(change(3, Deleted));
        queue.push(change(3, Receiving));
        // The round could not be sent.
        queue.put_back(round);
        assert_eq!(taken(&queue), [(1, Received), (2, Received), (3, Deleted), (3, Receiving)]);
    }
}
