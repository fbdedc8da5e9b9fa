//! A cluster for tests: Surus, or real Hadoop, as separate processes on free ports of 127.0.0.1.
//! Started and stopped through `conformance/suites/cluster.sh`, which knows the options the suites want.

use crate::shell::{need, root, run, script, surus_binary};
use anyhow::{Context, Result, bail};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// Ports each DataNode takes from the cluster's range.
const PORTS_PER_NODE: u16 = 10;

pub struct Cluster {
    pub dir: PathBuf,
    pub port: u16,
}

impl Cluster {
    /// Formats and starts a NameNode and DataNodes; returns when all DataNodes are live.
    pub fn start(name: &str, datanodes: u32, hadoop: bool) -> Result<Cluster> {
        Self::start_with(name, datanodes, hadoop, &[])
    }

    /// With environment variables for `hadoop.sh`.
    pub fn start_with(name: &str, datanodes: u32, hadoop: bool, settings: &[(&str, &str)]) -> Result<Cluster> {
        need(&[("java", "openjdk-17-jdk-headless"), ("mvn", "maven"), ("curl", "curl")])?;
        let dir = std::env::temp_dir().join(format!("surus-{name}-{}", std::process::id()));
        let port = free_range(PORTS_PER_NODE * u16::try_from(datanodes).context("that many DataNodes")?)?;
        let mut up = script(
            "conformance/suites/cluster.sh",
            &["up", &dir.to_string_lossy(), &port.to_string(), &datanodes.to_string()],
        );
        up.envs(settings.iter().copied());
        if !hadoop {
            up.env("SURUS", surus_binary()?);
        }
        run(&mut up)?;
        Ok(Cluster { dir, port })
    }

    pub fn uri(&self) -> String {
        format!("hdfs://127.0.0.1:{}", self.port)
    }

    pub fn http(&self) -> String {
        format!("127.0.0.1:{}", self.port + 1)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = run(&mut script("conformance/suites/cluster.sh", &["down", &self.dir.to_string_lossy()])) {
            eprintln!("stopping the cluster in {}: {error}", self.dir.display());
        }
    }
}

/// A start of `count` consecutive ports of 127.0.0.1 that are free now. The range lies below the ephemeral ports, so that
/// no outgoing connection takes one of them before the server does.
pub fn free_range(count: u16) -> Result<u16> {
    let first = 21_000 + (std::process::id() % 500) as u16 * 20;
    for start in (first..32_000 - count).step_by(usize::from(PORTS_PER_NODE)) {
        if (start..start + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return Ok(start);
        }
    }
    bail!("no {count} consecutive free ports from {first}")
}

/// Keeps a cluster until Enter is pressed.
pub fn interactive(datanodes: u32, hadoop: bool) -> Result<()> {
    let cluster = Cluster::start("cluster", datanodes, hadoop)?;
    println!("file system  {}\nweb page     http://{}/", cluster.uri(), cluster.http());
    println!("configuration and logs in {}\nEnter stops it.", cluster.dir.display());
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

/// Where results of conformance runs go.
pub fn results_dir() -> PathBuf {
    let dir = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Path::new(&dir).join("conformance")
}
