//! A WebHDFS listing of a large directory.

use super::{Peer, process};
use crate::cluster::Cluster;
use crate::shell::output;
use anyhow::{Context, Result};
use std::process::Command;

const LISTED: u32 = 10_000;
const LISTINGS: u32 = 100;

/// Time and server CPU of one LISTSTATUS of a directory with 10,000 entries.
pub fn list_status(peers: &[Peer]) -> Result<()> {
    println!("\n| LISTSTATUS of {LISTED} entries | p50 ms | server CPU ms |\n| --- | --- | --- |");
    for &peer in peers {
        let cluster = peer.start(1)?;
        let server = process::pid(&cluster.dir, "nn")?;
        make_directories(&cluster)?;
        let url = format!(
            "http://{}/webhdfs/v1/nnThroughputBenchmark/mkdirs?op=LISTSTATUS&user.name={}",
            cluster.http(),
            user()
        );
        // An output for each URL: curl would send the others' bodies to its standard output, a pipe.
        let fetch = |count: u32| {
            let urls = (0..count).flat_map(|_| ["-o", "/dev/null", url.as_str()]);
            output(Command::new("curl").args(["-sf", "-w", "%{time_total}\\n"]).args(urls))
        };
        fetch(LISTINGS / 4)?;
        let before = process::cpu(server)?;
        let mut seconds: Vec<f64> = fetch(LISTINGS)?.lines().map(str::parse).collect::<Result<_, _>>()?;
        let cpu = (process::cpu(server)? - before).as_secs_f64() * 1e3 / f64::from(LISTINGS);
        seconds.sort_by(f64::total_cmp);
        let median = seconds.get(seconds.len() / 2).context("curl printed no times")? * 1e3;
        println!("| {} | {median:.1} | {cpu:.1} |", peer.name());
    }
    Ok(())
}

/// Leaves a directory with 10,000 sub-directories behind.
fn make_directories(cluster: &Cluster) -> Result<()> {
    let base = format!("http://{}/webhdfs/v1/nnThroughputBenchmark/mkdirs", cluster.http());
    let config: String = (0..LISTED)
        .map(|i| format!("url = \"{base}/a-directory-with-a-name-{i:05}?op=MKDIRS&user.name={}\"\n", user()))
        .collect();
    let path = cluster.dir.join("mkdirs.curl");
    std::fs::write(&path, config)?;
    output(Command::new("curl").args(["-sf", "-X", "PUT", "-o", "/dev/null", "--config"]).arg(&path)).map(drop)
}

fn user() -> String {
    output(Command::new("id").arg("-un")).unwrap_or_default().trim().to_owned()
}
