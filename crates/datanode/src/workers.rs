//! One thread for each volume: deletes replicas and asks the kernel for free room. A disk that hangs stops its own thread only.

use crate::node::Node;
use crate::store::Volume;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use surus_types::Block;

/// How old the free room in a heartbeat may be.
const REFRESH_EVERY: Duration = Duration::from_secs(3);

/// How long a stop waits for the threads.
const STOP_WAIT_MAX: Duration = Duration::from_secs(5);
const STOP_POLL: Duration = Duration::from_millis(2);

/// Replicas of one pool that are no longer in its map.
struct Deletion {
    pool_id: String,
    replicas: Vec<crate::store::Detached>,
}

#[derive(Default)]
pub struct Workers {
    senders: Mutex<HashMap<u16, Sender<Deletion>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Workers {
    /// # Errors
    /// No thread can be had.
    pub fn start(&self, node: &Arc<Node>) -> std::io::Result<()> {
        for volume in node.store.volumes() {
            let (sender, receiver) = channel();
            self.senders.lock().insert(volume.index, sender);
            let node = Arc::downgrade(node);
            let name = format!("volume {}", volume.index);
            let thread = std::thread::Builder::new().name(name).spawn(move || work(&node, &volume, &receiver))?;
            self.threads.lock().push(thread);
        }
        Ok(())
    }

    /// Ends the threads once they have done what was asked before. One whose disk hangs is left behind.
    pub fn stop(&self) {
        self.senders.lock().clear();
        let deadline = Instant::now() + STOP_WAIT_MAX;
        for thread in self.threads.lock().drain(..) {
            if thread.thread().id() == std::thread::current().id() {
                continue;
            }
            while !thread.is_finished() && Instant::now() < deadline {
                std::thread::sleep(STOP_POLL);
            }
            if thread.is_finished() {
                let _ = thread.join();
            } else {
                tracing::warn!(
                    "{} does not end: its disk hangs",
                    thread.thread().name().unwrap_or("a volume's thread")
                );
            }
        }
    }
}

fn work(node: &Weak<Node>, volume: &Arc<Volume>, jobs: &Receiver<Deletion>) {
    loop {
        match jobs.recv_timeout(REFRESH_EVERY) {
            Ok(deletion) => {
                let Some(node) = node.upgrade() else { return };
                for replica in deletion.replicas {
                    let block = replica.delete();
                    node.reports.deleted(&deletion.pool_id, &block, volume);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if let Err(e) = volume.refresh_space()
            && let Some(node) = node.upgrade()
        {
            node.check_volume_later(volume, &e);
        }
    }
}

impl Node {
    /// Forgets replicas at once and deletes their files soon.
    pub(crate) fn delete_blocks(&self, pool_id: &str, blocks: &[Block]) {
        let Some(pool) = self.store.pool(pool_id) else { return };
        let mut by_volume: HashMap<u16, Vec<_>> = HashMap::new();
        for replica in pool.detach(blocks) {
            by_volume.entry(replica.volume()).or_default().push(replica);
        }
        let senders = self.workers.senders.lock();
        for (volume, replicas) in by_volume {
            if let Some(sender) = senders.get(&volume) {
                let _ = sender.send(Deletion { pool_id: pool_id.to_owned(), replicas });
            }
        }
    }
}
