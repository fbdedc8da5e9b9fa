//! Calls that wait for a condition about to hold (a block's minimum replication, a lease recovery) instead of answering
//! "no": they hold no thread, are executed again when the condition may have changed, and at their time bound answer
//! what Hadoop would have answered at once. Why: design principle 9; Java's client sleeps 400 ms after each "no".

use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use surus_namespace::WaitFor;

/// How long a call waits at most. Far below any client's RPC timeout, and long enough for a DataNode's report.
pub const PARK_MS_MAX: u64 = 2_000;

/// Calls parked at most; past it a call gets its "no" at once.
pub const CALLS_MAX: usize = 100_000;

/// The table of parked calls.
pub struct Parked<C> {
    inner: Mutex<Inner<C>>,
}

struct Inner<C> {
    /// Rises with every wake-up, so that one between a call's plan and its parking is not missed.
    generation: u64,
    next_ticket: u64,
    /// By deadline, then ticket: the first is the next to expire.
    calls: BTreeMap<(u64, u64), (WaitFor, C)>,
    by_key: HashMap<WaitFor, Vec<(u64, u64)>>,
}

impl<C> Default for Parked<C> {
    fn default() -> Self {
        let inner = Inner { generation: 0, next_ticket: 0, calls: BTreeMap::new(), by_key: HashMap::new() };
        Parked { inner: Mutex::new(inner) }
    }
}

impl<C> Parked<C> {
    /// The count of wake-ups so far; read it under the namespace lock, where the condition was found false.
    pub fn generation(&self) -> u64 {
        self.inner.lock().generation
    }

    /// Parks a call until `deadline_ms` (monotonic).
    ///
    /// # Errors
    /// The call itself, to be executed again at once, if anything woke since `generation` or the table is full.
    pub fn park(&self, key: WaitFor, generation: u64, deadline_ms: u64, call: C) -> Result<(), C> {
        let mut inner = self.inner.lock();
        if inner.generation != generation || inner.calls.len() >= CALLS_MAX {
            return Err(call);
        }
        let ticket = (deadline_ms, inner.next_ticket);
        inner.next_ticket += 1;
        inner.calls.insert(ticket, (key, call));
        inner.by_key.entry(key).or_default().push(ticket);
        Ok(())
    }

    /// Takes the calls that wait for any of `keys`, to be executed again.
    pub fn wake(&self, keys: &[WaitFor]) -> Vec<C> {
        if keys.is_empty() {
            return Vec::new();
        }
        let mut inner = self.inner.lock();
        inner.generation += 1;
        let mut woken = Vec::new();
        for key in keys {
            for ticket in inner.by_key.remove(key).unwrap_or_default() {
                woken.extend(inner.calls.remove(&ticket).map(|(_, call)| call));
            }
        }
        woken
    }

    /// Takes the calls whose time is over.
    pub fn expire(&self, now_ms: u64) -> Vec<C> {
        let mut inner = self.inner.lock();
        let mut expired = Vec::new();
        while let Some(entry) = inner.calls.first_entry() {
            if entry.key().0 > now_ms {
                break;
            }
            let (ticket, (key, call)) = entry.remove_entry();
            if let Some(tickets) = inner.by_key.get_mut(&key) {
                tickets.retain(|t| *t != ticket);
                if tickets.is_empty() {
                    inner.by_key.remove(&key);
                }
            }
            expired.push(call);
        }
        expired
    }

    /// Calls parked now.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.inner.lock().calls.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surus_types::BlockId;

    const A: WaitFor = WaitFor::MinReplication(BlockId(1));
    const B: WaitFor = WaitFor::MinReplication(BlockId(2));

    #[test]
    fn wake_by_key_and_expire_by_time() {
        let parked = Parked::default();
        for (key, deadline, call) in [(A, 10, 'a'), (B, 20, 'b'), (A, 30, 'c'), (B, 15, 'd')] {
            parked.park(key, 0, deadline, call).unwrap();
        }
        assert_eq!(parked.wake(&[A]), ['a', 'c']);
        assert_eq!(parked.expire(14), []);
        assert_eq!(parked.expire(20), ['d', 'b']);
        assert_eq!((parked.len(), parked.wake(&[B]).len()), (0, 0));
    }

    #[test]
    fn a_wake_up_between_plan_and_parking_is_not_missed() {
        let parked = Parked::default();
        let seen = parked.generation();
        assert!(parked.wake(&[A]).is_empty());
        assert_eq!(parked.park(A, seen, 10, 'a'), Err('a'));
        parked.park(A, parked.generation(), 10, 'a').unwrap();
    }
}
