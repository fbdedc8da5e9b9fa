//! Writers by chance against a model that only knows how many bytes there are: packets that go on, repeat or overlap,
//! pipeline recoveries, closes, appends, kills and power cuts. A failure prints its seed.

use crate::crash::{ID, block, disk, open, send, verify};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use surus_datanode::store::{BlockPool, BlockStore, ReplicaState, ReplicaWriter};
use surus_disk::{CrashMode, MemDisk};
use surus_types::{GenerationStamp, StorageType};

/// `SURUS_ROUNDS` takes another number, for a long run.
const ROUNDS: u64 = 60;
const STEPS: u32 = 60;
const CHUNK: u64 = 512;

struct Run {
    disk: MemDisk,
    // Before the store, which it writes to.
    writer: Option<ReplicaWriter>,
    store: BlockStore,
    pool: Arc<BlockPool>,
    random: StdRng,
    stamp: u64,
    /// Bytes written and acknowledged.
    length: u64,
    /// Bytes that a power cut must leave.
    durable: u64,
    /// What was done so far, shown on failure.
    log: Vec<String>,
}

impl Drop for Run {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.log.join("\n"));
        }
    }
}

impl Run {
    fn start(seed: u64) -> Run {
        let disk = disk();
        let (store, pool) = open(&disk);
        let writer = pool.create_rbw(&block(1001), StorageType::Disk, "", crate::peer::crc32c()).unwrap();
        let random = StdRng::seed_from_u64(seed);
        Run { disk, writer: Some(writer), store, pool, random, stamp: 1001, length: 0, durable: 0, log: Vec::new() }
    }

    fn step(&mut self) {
        let choice = self.random.random_range(0..20);
        self.log.push(format!("stamp {} bytes {} durable {}: {choice}", self.stamp, self.length, self.durable));
        match choice {
            0..=11 => self.packet(),
            12..=13 => self.sync(),
            14 => self.recover_pipeline(),
            15 => self.close_and_append(),
            16..=17 => self.kill(),
            _ => self.cut_power(),
        }
    }

    fn packet(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        let length = self.length;
        let partial = length % CHUNK;
        let (from, to) = match self.random.random_range(0..5) {
            // As after an append: the rest of a chunk, alone.
            0 if partial > 0 => (length, length + self.random.random_range(1..=CHUNK - partial)),
            // As after recovery: from some chunk before.
            1 => {
                let chunks = length / CHUNK;
                let from = CHUNK * self.random.random_range(0..=chunks);
                (from, from + self.random.random_range(1..4 * CHUNK))
            }
            // As after hflush: from the chunk's beginning.
            _ => (length - partial, length + self.random.random_range(1..6 * CHUNK)),
        };
        send(writer, from, to).unwrap();
        self.length = length.max(to);
        writer.open_replica().set_acked(self.length);
        assert_eq!(writer.length(), self.length);
    }

    fn sync(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.sync().unwrap();
            self.durable = self.length;
        }
    }

    fn recover_pipeline(&mut self) {
        if self.writer.take().is_none() {
            return;
        }
        let now = block(self.stamp);
        self.stamp += 1;
        let stamp = GenerationStamp(self.stamp);
        self.writer = Some(self.pool.recover_rbw(&now, stamp, self.length, self.length).unwrap());
    }

    fn close_and_append(&mut self) {
        let Some(mut writer) = self.writer.take() else { return };
        let must_last = self.durable > 0;
        self.pool.finalize(&mut writer, false).unwrap();
        drop(writer);
        if must_last {
            self.durable = self.length;
        }
        verify(&self.pool, ID, self.length, "closed");
        let now = block(self.stamp);
        self.stamp += 1;
        self.writer = Some(self.pool.append(&now, GenerationStamp(self.stamp), self.length).unwrap());
    }

    /// The process ends here and now; another one finds everything that was acknowledged, and recovery closes it.
    fn kill(&mut self) {
        let disk = self.disk.kill_clone();
        self.go_on_with(disk, self.length, self.durable);
    }

    fn cut_power(&mut self) {
        if self.durable == 0 {
            return;
        }
        let seed = self.random.random();
        let disk = self.disk.crash_clone(CrashMode::Random, seed);
        self.go_on_with(disk, self.durable, self.durable);
    }

    fn go_on_with(&mut self, disk: MemDisk, at_least: u64, durable: u64) {
        self.writer = None;
        (self.store, self.pool) = open(&disk);
        self.disk = disk;
        let info = self.pool.lookup(ID).expect("the replica is there");
        assert_eq!((info.state, info.block.generation_stamp.0), (ReplicaState::Rwr, self.stamp));
        let found = info.block.num_bytes;
        assert!(found >= at_least, "{found} of {at_least} bytes");
        verify(&self.pool, ID, found, "after a restart");
        let recovery = GenerationStamp(self.stamp + 1);
        self.pool.init_recovery(&block(self.stamp), recovery).unwrap().unwrap();
        let keep = self.random.random_range(at_least..=found);
        self.pool.update_under_recovery(&block(self.stamp), recovery, ID, keep).unwrap();
        verify(&self.pool, ID, keep, "recovered");
        self.stamp += 2;
        self.length = keep;
        let writer = self.pool.append(&block(self.stamp - 1), GenerationStamp(self.stamp), keep).unwrap();
        self.writer = Some(writer);
        assert!(self.store.failed_volumes().is_empty());
        self.durable = durable.min(keep);
    }
}

#[test]
fn crash_and_write_by_chance() {
    let rounds = std::env::var("SURUS_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    for seed in 0..rounds {
        let result = std::panic::catch_unwind(|| {
            let mut run = Run::start(seed);
            for _ in 0..STEPS {
                run.step();
            }
        });
        assert!(result.is_ok(), "seed {seed}");
    }
}
