//! Keeps the client's lease and idle pipelines alive while files are open for writing: one thread for all, started with
//! the first file and gone after the last. Source: `LeaseRenewer.java`, Hadoop 3.5.0.

use crate::client::DfsClient;
use crate::namenode::Repeat;
use crate::write::SendSide;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use surus_proto::hadoop::hdfs as proto;

/// Half the soft limit, after which another client may take a file over.
const RENEW_EVERY: Duration = Duration::from_secs(30);

pub(crate) struct LeaseRenewer {
    client_name: String,
    shared: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    open_files: usize,
    running: bool,
    pipelines: Vec<Weak<Mutex<SendSide>>>,
}

/// Stands for one open file; its end is the file's end.
pub(crate) struct OpenFile {
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let (state, wake) = &*self.shared;
        let mut state = state.lock();
        state.open_files = state.open_files.saturating_sub(1);
        if state.open_files == 0 {
            wake.notify_all();
        }
    }
}

impl LeaseRenewer {
    pub fn new(client_name: String) -> Self {
        LeaseRenewer { client_name, shared: Arc::default() }
    }

    /// Has heartbeats sent to a pipeline while nothing else is.
    pub fn watch(&self, pipeline: &Arc<Mutex<SendSide>>) {
        let mut state = self.shared.0.lock();
        state.pipelines.retain(|weak| weak.strong_count() > 0);
        state.pipelines.push(Arc::downgrade(pipeline));
    }

    /// A file was opened for writing. The thread holds the client weakly: a client that is dropped ends it.
    pub fn open_file(&self, client: &DfsClient) -> OpenFile {
        let mut state = self.shared.0.lock();
        state.open_files += 1;
        if !state.running {
            let (shared, weak) = (self.shared.clone(), Arc::downgrade(&client.inner));
            let client_name = self.client_name.clone();
            let renew = move || match weak.upgrade() {
                Some(inner) => {
                    let request =
                        proto::RenewLeaseRequestProto { client_name: client_name.clone(), namespaces: Vec::new() };
                    let answer: crate::Result<proto::RenewLeaseResponseProto> =
                        inner.namenodes.call("renewLease", Repeat::Idempotent, &request);
                    if let Err(error) = answer {
                        tracing::warn!("the lease of {client_name} could not be renewed: {error}");
                    }
                    true
                }
                None => false,
            };
            // Without the thread the lease may run out; the writer finds that out by itself.
            state.running = std::thread::Builder::new()
                .name("lease-renewer".into())
                .spawn(move || run(&shared, renew, RENEW_EVERY))
                .is_ok();
        }
        OpenFile { shared: self.shared.clone() }
    }
}

/// Renews at every third look. Pipelines are idle for two looks at most, half of `every` and more: DataNodes give up after twice
/// `every`.
fn run(shared: &(Mutex<State>, Condvar), renew: impl Fn() -> bool, every: Duration) {
    let (lock, wake) = shared;
    let mut state = lock.lock();
    let mut renewed = Instant::now();
    loop {
        let timed_out = wake.wait_for(&mut state, every / 3).timed_out();
        if state.open_files == 0 {
            break;
        }
        if timed_out {
            let pipelines = state.pipelines.clone();
            let go_on = MutexGuard::unlocked(&mut state, || {
                // First, since a DataNode that hangs must not cost the lease.
                let mut go_on = true;
                if renewed.elapsed() >= every {
                    renewed = Instant::now();
                    go_on = renew();
                }
                // A pipeline that is locked is being written to.
                for pipeline in pipelines.iter().filter_map(Weak::upgrade) {
                    if let Some(mut send) = pipeline.try_lock() {
                        send.heartbeat_if_idle(every / 2);
                    }
                }
                go_on
            });
            if !go_on {
                break;
            }
        }
    }
    state.running = false;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn renews_while_a_file_is_open_and_then_ends() {
        let shared: Arc<(Mutex<State>, Condvar)> = Arc::default();
        shared.0.lock().open_files = 1;
        let file = OpenFile { shared: shared.clone() };
        let count = Arc::new(AtomicUsize::new(0));
        let (s, c) = (shared.clone(), count.clone());
        let renew = move || {
            c.fetch_add(1, Ordering::SeqCst);
            true
        };
        let thread = std::thread::spawn(move || run(&s, renew, Duration::from_millis(5)));
        while count.load(Ordering::SeqCst) < 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(file);
        thread.join().unwrap();
        assert!(!shared.0.lock().running);
    }
}
