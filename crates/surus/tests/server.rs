//! `surus start` as a process of its own, on free ports.

use crate::command_line::surus;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use surus_client::{ClientConfig, DfsClient, SafeModeAction};
use surus_conf::{Configuration, keys};

/// How long a start may take to have all blocks reported.
const SAFE_MODE_MAX: Duration = Duration::from_secs(20);

/// A running file system; killed when dropped.
pub struct Server {
    child: Child,
    /// What it wrote to stderr.
    errors: Arc<Mutex<String>>,
    pub uri: String,
    pub web: String,
}

/// The command that starts a file system in `dir` on free ports of 127.0.0.1.
pub fn start_command(dir: &Path) -> Command {
    let mut command = surus(&["start", "--listen", "127.0.0.1:0", "--dir"]);
    command.arg(dir);
    for key in
        ["dfs.namenode.http-address", "dfs.datanode.address", "dfs.datanode.http.address", "dfs.datanode.ipc.address"]
    {
        command.args(["-D", &format!("{key}=127.0.0.1:0")]);
    }
    command
}

impl Server {
    /// Starts and waits until it says that it serves.
    pub fn start(dir: &Path) -> Server {
        Server::start_with(start_command(dir))
    }

    /// The same with a command of one's own.
    pub fn start_with(mut command: Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut uri = String::new();
        let mut web = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for line in lines.by_ref().map_while(Result::ok) {
            if let Some(rest) = line.strip_prefix("Surus serves ") {
                uri = rest.to_string();
            }
            if let Some(rest) = line.trim().strip_prefix("WebHDFS ") {
                web = rest.trim().to_string();
                break;
            }
        }
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        if uri.is_empty() {
            let text: Vec<String> = errors.map_while(Result::ok).collect();
            panic!("surus start did not start:\n{}", text.join("\n"));
        }
        // Both pipes are read to their end, so that the process never waits for a full one.
        std::thread::spawn(move || lines.for_each(drop));
        let seen = Arc::new(Mutex::new(String::new()));
        let all = Arc::clone(&seen);
        std::thread::spawn(move || {
            for line in errors.by_ref().map_while(Result::ok) {
                if line.contains(" ERROR ") || line.contains(" WARN ") || line.contains("panicked") {
                    eprintln!("surus: {line}");
                }
                *all.lock().unwrap() += &(line + "\n");
            }
        });
        Server { child, errors: seen, uri, web }
    }

    /// A client of this file system with few retries: a killed server is to be noticed at once.
    pub fn client(&self) -> DfsClient {
        let mut conf = Configuration::new();
        conf.set(keys::FS_DEFAULT_FS.name(), &self.uri);
        conf.set(keys::IPC_CLIENT_CONNECT_MAX_RETRIES.name(), "0");
        conf.set(keys::DFS_REPLICATION.name(), "1");
        conf.set(keys::DFS_CLIENT_BLOCK_WRITE_RETRIES.name(), "0");
        conf.set(keys::DFS_CLIENT_BLOCK_WRITE_LOCATE_FOLLOWING_BLOCK_RETRIES.name(), "0");
        DfsClient::new(ClientConfig::from_conf(&conf, None).unwrap())
    }

    /// Waits until the NameNode has left safe mode.
    pub fn wait_for_safe_mode(&self) {
        let client = self.client();
        let deadline = Instant::now() + SAFE_MODE_MAX;
        while client.set_safe_mode(SafeModeAction::SafemodeGet, false).unwrap() {
            assert!(Instant::now() < deadline, "still in safe mode after {SAFE_MODE_MAX:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: no chance to write anything more.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// What it wrote to stderr so far.
    pub fn log(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    /// Waits for the process to end by itself: its exit code, and what it wrote to stderr.
    pub fn wait_for_end(&mut self, at_most: Duration) -> (Option<i32>, String) {
        let deadline = Instant::now() + at_most;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), self.log());
            }
            assert!(Instant::now() < deadline, "it still runs after {at_most:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// SIGTERM; returns the exit code.
    pub fn terminate(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
