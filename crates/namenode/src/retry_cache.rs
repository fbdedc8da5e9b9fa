//! Answers of the calls that must happen at most once, by client id and call id, so that a repeat gets the first
//! answer instead of a second execution. Source: `RetryCache.java`, Hadoop 3.5.0.

use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use surus_types::TxId;

/// Entries kept at most; the oldest go first. Hadoop bounds it by a share of the heap.
pub const ENTRIES_MAX: usize = 262_144;

/// Bytes in a client id that counts; a call with another length skips the cache, as in Hadoop.
const CLIENT_ID_BYTES: usize = 16;

/// Client id and call id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    client_id: [u8; CLIENT_ID_BYTES],
    call_id: i32,
}

impl Key {
    /// `None` for a call that skips the cache: a client id of another length, or a negative call id.
    pub fn new(client_id: &[u8], call_id: i32) -> Option<Self> {
        let client_id = client_id.try_into().ok()?;
        (call_id >= 0).then_some(Key { client_id, call_id })
    }
}

/// What the first call answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The encoded response message.
    Encoded(Box<[u8]>),
    /// The call was found in the edit log at start: it succeeded, and its answer must be built anew from the state.
    Replayed,
}

enum State<W> {
    Running(Vec<W>),
    Done { answer: Answer, txid: TxId, expires_ms: u64 },
}

/// What to do with a call that just arrived.
#[derive(PartialEq, Eq, Debug)]
pub enum Arrival<C> {
    /// The first of its kind: execute it, then call [`RetryCache::succeeded`] or [`RetryCache::failed`].
    Execute(C),
    /// The first one still runs; the call was put beside it.
    Waits,
    /// Answer this, not before the transaction is durable.
    Answered(C, Answer, TxId),
}

/// The cache. `W` is a call that waits for the first one's answer.
pub struct RetryCache<W> {
    life_ms: u64,
    inner: Mutex<Inner<W>>,
}

struct Inner<W> {
    entries: HashMap<Key, State<W>>,
    /// Finished entries, oldest first. An entry may stand here twice after a failure; `expires_ms` tells.
    order: VecDeque<(u64, Key)>,
}

impl<W> RetryCache<W> {
    /// `life_ms`: `dfs.namenode.retrycache.expirytime.millis`.
    pub fn new(life_ms: u64) -> Self {
        RetryCache { life_ms, inner: Mutex::new(Inner { entries: HashMap::new(), order: VecDeque::new() }) }
    }

    /// Says what to do with a call; `own` makes it fit to wait where the first one still runs.
    pub fn arrive<C>(&self, key: Key, now_ms: u64, call: C, own: impl FnOnce(C) -> W) -> Arrival<C> {
        let mut inner = self.inner.lock();
        match inner.entries.get_mut(&key) {
            Some(State::Running(waiters)) => {
                waiters.push(own(call));
                Arrival::Waits
            }
            Some(State::Done { answer, txid, expires_ms }) if *expires_ms > now_ms => {
                Arrival::Answered(call, answer.clone(), *txid)
            }
            _ => {
                inner.entries.insert(key, State::Running(Vec::new()));
                Arrival::Execute(call)
            }
        }
    }

    /// The first call succeeded: keeps its answer and returns the calls that waited for it.
    pub fn succeeded(&self, key: Key, answer: Answer, txid: TxId, now_ms: u64) -> Vec<W> {
        let expires_ms = now_ms + self.life_ms;
        let mut inner = self.inner.lock();
        inner.order.push_back((expires_ms, key));
        let old = inner.entries.insert(key, State::Done { answer, txid, expires_ms });
        while inner.order.len() > ENTRIES_MAX {
            inner.drop_oldest();
        }
        match old {
            Some(State::Running(waiters)) => waiters,
            _ => Vec::new(),
        }
    }

    /// The first call failed: forgets it and returns the calls that waited, each to be executed in its turn.
    pub fn failed(&self, key: Key) -> Vec<W> {
        match self.inner.lock().entries.remove(&key) {
            Some(State::Running(waiters)) => waiters,
            _ => Vec::new(),
        }
    }

    /// A call that the edit log holds, at start. `payload` is what the operation says of the encoded answer; those of a call
    /// of several operations add up, as repeated fields do.
    pub fn replayed(&self, key: Key, payload: Option<Vec<u8>>, now_ms: u64) {
        let answer = payload.map_or(Answer::Replayed, |mut encoded| {
            if let Some(State::Done { answer: Answer::Encoded(before), .. }) = self.inner.lock().entries.get(&key) {
                encoded.splice(..0, before.iter().copied());
            }
            Answer::Encoded(encoded.into())
        });
        drop(self.succeeded(key, answer, TxId(0), now_ms));
    }

    /// Drops what is older than its life.
    pub fn expire(&self, now_ms: u64) {
        let mut inner = self.inner.lock();
        while inner.order.front().is_some_and(|(expires_ms, _)| *expires_ms <= now_ms) {
            inner.drop_oldest();
        }
    }

    /// Entries held, running and finished.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.inner.lock().entries.len()
    }
}

impl<W> Inner<W> {
    fn drop_oldest(&mut self) {
        let Some((queued_ms, key)) = self.order.pop_front() else { return };
        if matches!(self.entries.get(&key), Some(State::Done { expires_ms, .. }) if *expires_ms == queued_ms) {
            self.entries.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own<C>(call: C) -> C {
        call
    }

    fn key(call_id: i32) -> Key {
        Key::new(&[7; 16], call_id).unwrap()
    }

    #[test]
    fn a_repeat_gets_the_first_answer_until_it_expires() {
        let cache = RetryCache::new(600_000);
        assert_eq!(cache.arrive(key(1), 0, "first", own), Arrival::Execute("first"));
        assert_eq!(cache.arrive(key(1), 1, "second", own), Arrival::Waits);
        let answer = Answer::Encoded(Box::new([8, 1]));
        assert_eq!(cache.succeeded(key(1), answer.clone(), TxId(5), 2), ["second"]);
        assert_eq!(cache.arrive(key(1), 600_001, "third", own), Arrival::Answered("third", answer, TxId(5)));
        cache.expire(600_001);
        assert_eq!(cache.len(), 1);
        cache.expire(600_002);
        assert_eq!(cache.len(), 0);
        assert_eq!(cache.arrive(key(1), 600_003, "late", own), Arrival::Execute("late"));
    }

    #[test]
    fn a_failure_is_forgotten() {
        let cache = RetryCache::new(600_000);
        assert_eq!(cache.arrive(key(1), 0, 'a', own), Arrival::Execute('a'));
        assert_eq!(cache.arrive(key(1), 0, 'b', own), Arrival::Waits);
        assert_eq!(cache.failed(key(1)), ['b']);
        assert_eq!(cache.arrive(key(1), 0, 'b', own), Arrival::Execute('b'));
    }

    #[test]
    fn what_operations_say_of_an_answer_adds_up() {
        let cache = RetryCache::new(600_000);
        cache.replayed(key(1), None, 0);
        cache.replayed(key(2), Some(vec![10, 1, 7]), 0);
        cache.replayed(key(2), Some(vec![10, 1, 8]), 0);
        assert_eq!(cache.arrive(key(1), 0, 'a', own), Arrival::Answered('a', Answer::Replayed, TxId(0)));
        let both = Answer::Encoded(Box::new([10, 1, 7, 10, 1, 8]));
        assert_eq!(cache.arrive(key(2), 0, 'b', own), Arrival::Answered('b', both, TxId(0)));
    }

    #[test]
    fn odd_ids_skip_the_cache() {
        assert!(Key::new(&[], 1).is_none());
        assert!(Key::new(&[0; 16], -2).is_none());
    }
}
