//! kill -9 of the whole process under a mixed load: what was acknowledged is there after the restart, and nothing else but what was
//! being asked for. `SURUS_KILL_ROUNDS` sets the rounds, `SURUS_KILL_SEED` repeats a run's choices (not its timing).

use crate::server::Server;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use surus_client::{ClientError, CreateOptions, DfsClient, Writer};
use surus_types::FsPermission;

const ROUNDS: u64 = 20;
const THREADS: u64 = 6;
const ROUNDS_A_SYSTEM: u64 = 50;
const SYSTEMS_MAX: u64 = 8;

/// How long the lease of a file that was open at the kill may take to be recovered.
const RECOVERY_MAX: Duration = Duration::from_secs(60);

/// Paths below a thread's own directory.
type Tree = BTreeMap<String, Entry>;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Entry {
    Directory,
    /// At least `flushed` is there, and no byte that is not in `full`. A closed file has both alike.
    File {
        flushed: Vec<u8>,
        full: Vec<u8>,
    },
}

/// What is being asked for. It has happened or it has not; both are right until it is acknowledged.
#[derive(Clone, Debug)]
enum Operation {
    Mkdir(String),
    Rename(String, String),
    Delete(String),
    Create(String, Vec<u8>),
    Append(String, Vec<u8>),
}

/// One thread's part of the file system.
struct Worker {
    home: String,
    tree: Tree,
    pending: Option<Operation>,
    random: StdRng,
    made: u64,
    acknowledged: u64,
}

fn is_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The tree once the NameNode has said yes to `operation`; of a file that is being written no byte is sure yet.
fn apply(tree: &Tree, operation: &Operation) -> Tree {
    let mut tree = tree.clone();
    match operation {
        Operation::Mkdir(path) => {
            tree.insert(path.clone(), Entry::Directory);
        }
        Operation::Delete(top) => tree.retain(|path, _| !is_below(path, top)),
        Operation::Rename(from, to) => {
            let moved: Vec<String> = tree.keys().filter(|path| is_below(path, from)).cloned().collect();
            for path in moved {
                if let Some(entry) = tree.remove(&path) {
                    tree.insert(format!("{to}{}", &path[from.len()..]), entry);
                }
            }
        }
        Operation::Create(path, content) => {
            tree.insert(path.clone(), Entry::File { flushed: Vec::new(), full: content.clone() });
        }
        Operation::Append(path, more) => {
            if let Some(Entry::File { full, .. }) = tree.get_mut(path) {
                full.extend_from_slice(more);
            }
        }
    }
    tree
}

/// Whether `found` can be what is left of `expected`.
fn fits(expected: &Tree, found: &Tree) -> bool {
    expected.keys().eq(found.keys())
        && expected.values().zip(found.values()).all(|(expected, found)| match (expected, found) {
            (Entry::Directory, Entry::Directory) => true,
            (Entry::File { flushed, full }, Entry::File { full: have, .. }) => {
                have.starts_with(flushed) && full.starts_with(have)
            }
            _ => false,
        })
}

impl Worker {
    fn new(seed: u64, number: u64) -> Worker {
        let home = format!("/kill/{number}");
        let tree = Tree::from([(home.clone(), Entry::Directory)]);
        let random = StdRng::seed_from_u64(seed.wrapping_mul(31).wrapping_add(number));
        Worker { home, tree, pending: None, random, made: 0, acknowledged: 0 }
    }

    fn pick(&mut self, wanted: impl Fn(&str, &Entry) -> bool) -> Option<String> {
        let paths: Vec<&String> = self.tree.iter().filter(|(p, e)| wanted(p, e)).map(|(p, _)| p).collect();
        (!paths.is_empty()).then(|| paths[self.random.random_range(0..paths.len())].clone())
    }

    fn content(&mut self) -> Vec<u8> {
        let mut content = vec![0; self.random.random_range(0..200_000)];
        self.random.fill(content.as_mut_slice());
        content
    }

    fn choose(&mut self) -> Operation {
        self.made += 1;
        let home = self.home.clone();
        let parent = self.pick(|_, e| *e == Entry::Directory).unwrap_or_else(|| home.clone());
        let fresh = format!("{parent}/n{}", self.made);
        let any = self.pick(|path, _| path != home);
        let file = self.pick(|_, e| *e != Entry::Directory);
        match (self.random.random_range(0..12), any, file) {
            (0, Some(victim), _) => Operation::Delete(victim),
            (1 | 2, Some(from), _) => Operation::Rename(from, format!("{home}/r{}", self.made)),
            (3 | 4, _, Some(file)) => Operation::Append(file, self.content()),
            (5..=8, ..) => Operation::Create(fresh, self.content()),
            _ => Operation::Mkdir(fresh),
        }
    }

    fn run(&mut self, client: &DfsClient, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let operation = self.choose();
            self.pending = Some(operation.clone());
            match self.ask(client, &operation) {
                Ok(()) => self.acknowledged += 1,
                Err(error) if error.class().is_some() => panic!("{operation:?}: {error}"),
                Err(_) => return,
            }
        }
    }

    fn ask(&mut self, client: &DfsClient, operation: &Operation) -> Result<(), ClientError> {
        let yes = |answer: bool| assert!(answer, "{operation:?} was answered false");
        match operation {
            Operation::Mkdir(path) => client.mkdirs(path, FsPermission(0o755), false).map(yes)?,
            Operation::Delete(path) => client.delete(path, true).map(yes)?,
            Operation::Rename(from, to) => client.rename(from, to).map(yes)?,
            Operation::Create(path, content) => {
                let writer = client.create(path, &CreateOptions::default())?;
                self.acknowledge(operation);
                return self.write(writer, path, content);
            }
            Operation::Append(path, more) => {
                let writer = client.append(path, false)?;
                self.acknowledge(operation);
                return self.write(writer, path, more);
            }
        }
        self.acknowledge(operation);
        Ok(())
    }

    fn acknowledge(&mut self, operation: &Operation) {
        self.tree = apply(&self.tree, operation);
        self.pending = None;
    }

    /// Writes in pieces, each flushed; what is flushed is sure.
    fn write(&mut self, mut writer: Writer, path: &str, content: &[u8]) -> Result<(), ClientError> {
        for piece in content.chunks(70_000) {
            writer.write_all(piece).map_err(|e| ClientError::from_io(&e))?;
            writer.hflush()?;
            if let Some(Entry::File { flushed, .. }) = self.tree.get_mut(path) {
                flushed.extend_from_slice(piece);
            }
        }
        writer.close()
    }

    /// Compares with what the restarted file system holds, and goes on from that.
    fn check(&mut self, client: &DfsClient) {
        let found = read_tree(client, &self.home);
        let with_pending = self.pending.take().map(|operation| apply(&self.tree, &operation));
        if !fits(&self.tree, &found) && !with_pending.as_ref().is_some_and(|tree| fits(tree, &found)) {
            panic!(
                "{}:\nexpected\n{}\nor\n{}\nfound\n{}",
                self.home,
                show(&self.tree),
                with_pending.map_or("".into(), |t| show(&t)),
                show(&found)
            );
        }
        self.tree = found;
    }
}

/// A line an entry: path, flushed and full length.
fn show(tree: &Tree) -> String {
    let line = |(path, entry): (&String, &Entry)| match entry {
        Entry::Directory => format!("  {path}/\n"),
        Entry::File { flushed, full } => format!("  {path} {}..{}\n", flushed.len(), full.len()),
    };
    tree.iter().map(line).collect()
}

fn read_tree(client: &DfsClient, home: &str) -> Tree {
    let mut tree = Tree::from([(home.to_string(), Entry::Directory)]);
    let mut left = vec![home.to_string()];
    while let Some(directory) = left.pop() {
        for status in client.list_status(&directory).unwrap() {
            let path = format!("{directory}/{}", status.name());
            if status.is_dir {
                tree.insert(path.clone(), Entry::Directory);
                left.push(path);
            } else {
                let content = read_file(client, &path);
                tree.insert(path, Entry::File { flushed: content.clone(), full: content });
            }
        }
    }
    tree
}

/// Begins to recover the leases of the files that the kill left open.
fn recover_leases(client: &DfsClient, directory: &str) {
    for status in client.list_status(directory).unwrap() {
        if status.is_dir {
            recover_leases(client, &status.path);
        } else if !client.is_file_closed(&status.path).unwrap() {
            client.recover_lease(&status.path).unwrap();
        }
    }
}

/// The whole file, which its killed writer may have left open.
fn read_file(client: &DfsClient, path: &str) -> Vec<u8> {
    let deadline = Instant::now() + RECOVERY_MAX;
    while !client.is_file_closed(path).unwrap() && !client.recover_lease(path).unwrap() {
        assert!(Instant::now() < deadline, "{path}: its lease is not recovered");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut content = Vec::new();
    client.open(path).unwrap().copy_to(&mut content).unwrap_or_else(|e| panic!("{path}: {e}"));
    content
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// Many rounds are shared among file systems side by side, since most of a round is waiting.
#[test]
fn what_was_acknowledged_survives_kill_9() {
    let seed = number("SURUS_KILL_SEED", rand::random::<u32>().into());
    println!("SURUS_KILL_SEED={seed}");
    let rounds = number("SURUS_KILL_ROUNDS", ROUNDS);
    let systems = rounds.div_ceil(ROUNDS_A_SYSTEM).min(SYSTEMS_MAX);
    std::thread::scope(|scope| {
        for system in 0..systems {
            scope.spawn(move || kill_again_and_again(seed.wrapping_add(system), rounds.div_ceil(systems)));
        }
    });
}

fn kill_again_and_again(seed: u64, rounds: u64) {
    let dir = tempfile::tempdir().unwrap();
    let mut random = StdRng::seed_from_u64(seed);
    let mut workers: Vec<Worker> = (0..THREADS).map(|n| Worker::new(seed, n)).collect();
    let mut server = Server::start(dir.path());
    for worker in &workers {
        server.client().mkdirs(&worker.home, FsPermission(0o755), true).unwrap();
    }
    for round in 0..rounds {
        let stop = AtomicBool::new(false);
        let pause = Duration::from_millis(random.random_range(50..600));
        std::thread::scope(|scope| {
            for worker in &mut workers {
                let (client, stop) = (server.client(), &stop);
                scope.spawn(move || worker.run(&client, stop));
            }
            std::thread::sleep(pause);
            server.kill();
            stop.store(true, Ordering::Relaxed);
        });
        server = Server::start(dir.path());
        server.wait_for_safe_mode();
        let client = server.client();
        // All at once, since each waits for a heartbeat.
        workers.iter().for_each(|worker| recover_leases(&client, &worker.home));
        workers.iter_mut().for_each(|worker| worker.check(&client));
        let acknowledged: u64 = workers.iter().map(|w| w.acknowledged).sum();
        println!("seed {seed}, round {round}: killed after {pause:?}, {acknowledged} acknowledged so far");
    }
    assert_eq!(server.terminate(), Some(0));
}
