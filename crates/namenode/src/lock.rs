//! The namespace's lock, and how long it is held: thread CPU time of each hold for a change, and of one in 16 of those for a
//! read, as a histogram in `/jmx`. Wall time would count what the scheduler and other processes take; of the other reads it
//! is the bound that is cheap to have, and those beyond 5 ms of it are counted.

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use surus_namespace::Namespace;

/// One hold for a read of so many is measured: asking for the time twice costs about as much as a small read.
pub const READS_A_SAMPLE: u32 = 16;
/// No hold should take more CPU time.
const LONG_HOLD: Duration = Duration::from_millis(5);
/// Upper ends of the histogram's buckets, microseconds; the last bucket has none.
pub const BUCKETS_US: [u64; 12] = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 200_000];

/// Holds by length.
#[derive(Default)]
pub struct Histogram {
    counts: [AtomicU64; BUCKETS_US.len() + 1],
    max_us: AtomicU64,
}

impl Histogram {
    fn add(&self, us: u64) {
        let bucket = BUCKETS_US.iter().position(|end| us <= *end).unwrap_or(BUCKETS_US.len());
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.max_us.fetch_max(us, Ordering::Relaxed);
    }

    /// Number of holds in each bucket.
    pub fn counts(&self) -> Vec<u64> {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }

    /// The longest hold so far, microseconds.
    pub fn max_us(&self) -> u64 {
        self.max_us.load(Ordering::Relaxed)
    }
}

/// The namespace behind its lock.
pub struct NamespaceLock {
    lock: RwLock<Namespace>,
    pub reads: Histogram,
    pub writes: Histogram,
    /// Holds for a read whose CPU time was not measured, and which lasted longer than 5 ms.
    long_reads: AtomicU64,
}

thread_local! {
    static READS: Cell<u32> = const { Cell::new(0) };
}

impl NamespaceLock {
    pub fn new(namespace: Namespace) -> Self {
        NamespaceLock {
            lock: RwLock::new(namespace),
            reads: Histogram::default(),
            writes: Histogram::default(),
            long_reads: AtomicU64::new(0),
        }
    }

    /// Holds for a read that may have taken more CPU time than 5 ms and are in no histogram.
    pub fn long_reads(&self) -> u64 {
        self.long_reads.load(Ordering::Relaxed)
    }

    pub fn read(&self) -> ReadGuard<'_> {
        let guard = self.lock.read();
        let count = READS.get().wrapping_add(1);
        READS.set(count);
        let start = match count.is_multiple_of(READS_A_SAMPLE) {
            true => Start::Cpu(thread_cpu_ns()),
            false => Start::Wall(Instant::now()),
        };
        ReadGuard { guard, start, lock: self }
    }

    pub fn write(&self) -> WriteGuard<'_> {
        let guard = self.lock.write();
        WriteGuard { guard, start_ns: thread_cpu_ns(), histogram: &self.writes }
    }
}

/// When a hold for a read began, by the thread's CPU time (nanoseconds) or by the clock.
enum Start {
    Cpu(u64),
    Wall(Instant),
}

pub struct ReadGuard<'a> {
    guard: RwLockReadGuard<'a, Namespace>,
    start: Start,
    lock: &'a NamespaceLock,
}

impl Deref for ReadGuard<'_> {
    type Target = Namespace;
    fn deref(&self) -> &Namespace {
        &self.guard
    }
}

impl Drop for ReadGuard<'_> {
    fn drop(&mut self) {
        match self.start {
            Start::Cpu(start_ns) => self.lock.reads.add(thread_cpu_ns().saturating_sub(start_ns) / 1000),
            Start::Wall(start) if start.elapsed() > LONG_HOLD => {
                self.lock.long_reads.fetch_add(1, Ordering::Relaxed);
            }
            Start::Wall(_) => {}
        }
    }
}

pub struct WriteGuard<'a> {
    guard: RwLockWriteGuard<'a, Namespace>,
    start_ns: u64,
    histogram: &'a Histogram,
}

impl Deref for WriteGuard<'_> {
    type Target = Namespace;
    fn deref(&self) -> &Namespace {
        &self.guard
    }
}

impl DerefMut for WriteGuard<'_> {
    fn deref_mut(&mut self) -> &mut Namespace {
        &mut self.guard
    }
}

impl Drop for WriteGuard<'_> {
    fn drop(&mut self) {
        self.histogram.add(thread_cpu_ns().saturating_sub(self.start_ns) / 1000);
    }
}

/// CPU time that this thread has used, nanoseconds.
fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock id is one that Linux knows, and `time` is a timespec that outlives the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    if result == 0 { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_fall_into_buckets() {
        let histogram = Histogram::default();
        for us in [0, 10, 11, 4_999, 5_001, 1_000_000] {
            histogram.add(us);
        }
        assert_eq!(histogram.counts(), [2, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1]);
        assert_eq!(histogram.max_us(), 1_000_000);
    }

    #[test]
    fn every_long_read_is_seen() {
        let lock = NamespaceLock::new(Namespace::default());
        for _ in 0..READS_A_SAMPLE {
            let guard = lock.read();
            std::thread::sleep(LONG_HOLD);
            drop(guard);
        }
        // One was measured: it slept, and took no CPU time to speak of.
        assert_eq!((lock.reads.counts().iter().sum::<u64>(), lock.long_reads()), (1, u64::from(READS_A_SAMPLE) - 1));
    }

    #[test]
    fn time_passes_while_the_thread_works() {
        let before = thread_cpu_ns();
        let mut sum = 0u64;
        while thread_cpu_ns() < before + 1_000_000 {
            sum = sum.wrapping_mul(3).wrapping_add(1);
        }
        assert!(sum > 0);
    }
}
