//! What is to be told to one NameNode, and the waking of the thread that tells it.

use crate::store::Volume;
use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};
use surus_proto::hadoop::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use surus_proto::hadoop::hdfs::{LocatedBlockProto, StorageTypeProto};
use surus_types::Block;

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
    changes: Vec<Change>,
    /// How many of `changes` say RECEIVING: those alone wake nobody.
    receiving: usize,
    notices: Vec<Notice>,
    flush: bool,
    registered: bool,
    full_report_due: Option<Instant>,
    lease: Option<u64>,
    stop: bool,
}

impl ReportQueue {
    pub(super) fn push(&self, change: Change) {
        let mut state = self.state.lock();
        if change.status == BlockStatus::Receiving {
            state.receiving += 1;
        } else if state.receiving > 0 {
            // The NameNode need not hear of the beginning of what has ended.
            let before = state.changes.len();
            state.changes.retain(|c| c.status != BlockStatus::Receiving || c.block.id != change.block.id);
            state.receiving -= before - state.changes.len();
        }
        let urgent = change.status == BlockStatus::Received;
        state.changes.push(change);
        if urgent {
            state.flush = true;
            self.changed.notify_all();
        }
    }

    pub(super) fn push_notice(&self, notice: Notice) {
        let mut state = self.state.lock();
        state.notices.push(notice);
        state.flush = true;
        self.changed.notify_all();
    }

    /// Sends what there is, however little.
    pub(super) fn flush(&self) {
        let mut state = self.state.lock();
        if !state.changes.is_empty() {
            state.flush = true;
            self.changed.notify_all();
        }
    }

    /// A full report is due, as soon as a heartbeat brings a lease.
    pub(super) fn request_full_report(&self) {
        self.state.lock().full_report_due = Some(Instant::now());
        self.changed.notify_all();
    }

    pub(super) fn schedule_full_report(&self, after: Duration) {
        self.state.lock().full_report_due = Some(Instant::now() + after);
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

    /// Reports may go out from now on. What was queued before is part of the full report that follows.
    pub(super) fn registered(&self) {
        let mut state = self.state.lock();
        state.registered = true;
        state.changes.clear();
        state.receiving = 0;
        state.lease = None;
    }

    pub(super) fn unregistered(&self) {
        self.state.lock().registered = false;
    }

    /// Puts changes that could not be sent back in front of newer ones.
    pub(super) fn put_back(&self, mut changes: Vec<Change>) {
        let mut state = self.state.lock();
        changes.append(&mut state.changes);
        state.receiving = changes.iter().filter(|c| c.status == BlockStatus::Receiving).count();
        state.changes = changes;
        state.flush = true;
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
                state.receiving = 0;
                if report {
                    state.full_report_due = None;
                }
                return Round {
                    changes: std::mem::take(&mut state.changes),
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
