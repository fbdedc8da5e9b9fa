//! Start-up and idle figures of the one binary: first answer, first write, resident memory, `-ls`.

use super::process;
use crate::shell::{output, surus_binary};
use anyhow::{Context, Result, bail};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FILES: u32 = 1_000;
const LISTINGS: u32 = 50;

pub fn run() -> Result<()> {
    let surus = surus_binary()?;
    let dir = std::env::temp_dir().join(format!("surus-bench-start-{}", std::process::id()));
    let ports: Vec<u16> = (0..5).map(|_| free_port()).collect::<Result<_>>()?;
    let first = Server::start(&surus, &dir, &ports)?;
    first.wait_for_write(&surus)?;
    let local = dir.with_extension("files");
    std::fs::create_dir_all(&local)?;
    for i in 0..FILES {
        std::fs::write(local.join(format!("file-{i}")), b"x")?;
    }
    first.dfs(&surus, &["-put", &local.to_string_lossy(), "/files"])?;
    drop(first);
    println!("\n| `surus start` on {FILES} files | |\n| --- | --- |");
    let server = Server::start(&surus, &dir, &ports)?;
    println!("| exec to first RPC answered | {:.0} ms |", server.wait_for_rpc(&surus)?.as_secs_f64() * 1e3);
    println!("| exec to first write acknowledged | {:.0} ms |", server.wait_for_write(&surus)?.as_secs_f64() * 1e3);
    let start = Instant::now();
    for _ in 0..LISTINGS {
        server.dfs(&surus, &["-ls", "/"])?;
    }
    println!(
        "| `surus dfs -ls /`, whole process | {:.1} ms |",
        start.elapsed().as_secs_f64() * 1e3 / f64::from(LISTINGS)
    );
    std::thread::sleep(Duration::from_secs(5));
    println!("| resident memory, idle | {:.1} MB |", process::resident(server.child.id())? as f64 / 1e6);
    drop(server);
    std::fs::remove_dir_all(&dir)?;
    std::fs::remove_dir_all(&local)?;
    Ok(())
}

struct Server {
    child: Child,
    rpc: u16,
    started: Instant,
}

impl Server {
    fn start(surus: &Path, dir: &Path, ports: &[u16]) -> Result<Server> {
        let keys = [
            "fs.defaultFS=hdfs://127.0.0.1:",
            "dfs.namenode.http-address=127.0.0.1:",
            "dfs.datanode.address=127.0.0.1:",
            "dfs.datanode.http.address=127.0.0.1:",
            "dfs.datanode.ipc.address=127.0.0.1:",
        ];
        let mut command = Command::new(surus);
        command.arg("start").arg("--dir").arg(dir);
        for (key, port) in keys.iter().zip(ports) {
            command.arg("-D").arg(format!("{key}{port}"));
        }
        let started = Instant::now();
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Server { child, rpc: ports[0], started })
    }

    fn dfs(&self, surus: &Path, args: &[&str]) -> Result<String> {
        output(Command::new(surus).args(["dfs", "-fs", &format!("hdfs://127.0.0.1:{}", self.rpc)]).args(args))
    }

    fn wait_for_rpc(&self, surus: &Path) -> Result<Duration> {
        while TcpStream::connect(("127.0.0.1", self.rpc)).is_err() {
            self.give_up("no RPC port")?;
        }
        self.dfs(surus, &["-test", "-d", "/"]).context("first RPC")?;
        Ok(self.started.elapsed())
    }

    fn wait_for_write(&self, surus: &Path) -> Result<Duration> {
        self.wait_for_rpc(surus)?;
        while self.dfs(surus, &["-put", "-f", "/etc/hostname", "/first-write"]).is_err() {
            self.give_up("no write acknowledged")?;
        }
        Ok(self.started.elapsed())
    }

    fn give_up(&self, why: &str) -> Result<()> {
        if self.started.elapsed() > Duration::from_secs(20) {
            bail!("{why} in 20 s");
        }
        std::thread::sleep(Duration::from_millis(1));
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
