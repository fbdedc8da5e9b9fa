//! Replies that may not leave before the transactions they rest on are durable. The journal's commit thread releases
//! all that became durable together, so that each connection gets one write.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use surus_types::TxId;

/// The queue of held replies, about in the order of their transactions.
pub struct Held<R> {
    durable: AtomicU64,
    /// What was durable at first.
    first: TxId,
    commits: AtomicU64,
    queue: Mutex<VecDeque<(TxId, R)>>,
    /// Transactions were refused by the disk: nothing is answered any more.
    send: Box<dyn Fn(Vec<R>) + Send + Sync>,
}

impl<R> Held<R> {
    /// `send` writes replies out, one write for each connection.
    pub fn new(durable: TxId, send: impl Fn(Vec<R>) + Send + Sync + 'static) -> Self {
        Held {
            durable: AtomicU64::new(durable.0),
            first: durable,
            commits: AtomicU64::new(0),
            queue: Mutex::default(),
            send: Box::new(send),
        }
    }

    /// Whether everything up to `txid` is durable.
    pub fn is_durable(&self, txid: TxId) -> bool {
        txid.0 <= self.durable.load(Ordering::Acquire)
    }

    /// The last durable transaction.
    pub fn durable(&self) -> TxId {
        TxId(self.durable.load(Ordering::Acquire))
    }

    /// Transactions that became durable since the start.
    pub fn transactions(&self) -> u64 {
        self.durable().0.saturating_sub(self.first.0)
    }

    /// Commits so far.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Sends `reply` once `txid` is durable.
    pub fn send_when_durable(&self, txid: TxId, reply: R) {
        {
            // The queue's lock makes the check and the push one step against `committed`.
            let mut queue = self.queue.lock();
            if !self.is_durable(txid) {
                // A reply can stand behind a later transaction's, as it is queued after the namespace was unlocked. It
                // then leaves with that one, whose commit is already on its way.
                queue.push_back((txid, reply));
                return;
            }
        }
        (self.send)(vec![reply]);
    }

    /// Everything up to `durable` is on disk: sends what waited for it. Called by the journal's commit thread.
    pub fn committed(&self, durable: TxId) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        let ready: Vec<R> = {
            let mut queue = self.queue.lock();
            self.durable.fetch_max(durable.0, Ordering::AcqRel);
            let count = queue.iter().take_while(|(txid, _)| *txid <= durable).count();
            queue.drain(..count).map(|(_, reply)| reply).collect()
        };
        if !ready.is_empty() {
            (self.send)(ready);
        }
    }

    /// Replies that wait now.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.queue.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn replies_leave_with_their_transaction() {
        let sent: Arc<Mutex<Vec<Vec<char>>>> = Arc::default();
        let log = Arc::clone(&sent);
        let held = Held::new(TxId(4), move |replies| log.lock().push(replies));
        held.send_when_durable(TxId(4), 'a');
        held.send_when_durable(TxId(6), 'c');
        held.send_when_durable(TxId(5), 'b');
        held.send_when_durable(TxId(7), 'd');
        assert_eq!(held.len(), 3);
        held.committed(TxId(5));
        held.committed(TxId(6));
        assert_eq!(*sent.lock(), [vec!['a'], vec!['c', 'b']]);
        held.committed(TxId(9));
        assert!(held.is_durable(TxId(9)) && !held.is_durable(TxId(10)));
        assert_eq!(sent.lock().len(), 3);
    }
}
