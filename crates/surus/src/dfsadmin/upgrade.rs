//! `dfsadmin` commands on upgrades and images: `-finalizeUpgrade`, `-upgrade`, `-rollingUpgrade`, `-fetchImage`.

use super::report::java_date;
use super::{Done, FAILED, Failure, each_namenode, for_place};
use md5::{Digest, Md5};
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use surus_client::{DfsClient, RollingUpgradeAction, RollingUpgradeInfo};
use surus_conf::Configuration;
use surus_disk::{Disk, OpenMode, RealDisk};

/// `dfs.image.transfer.timeout`
const READ_TIMEOUT: Duration = Duration::from_secs(60);
const PIECE_BYTES: usize = 256 << 10;

pub fn finalize_upgrade(conf: &Configuration, arguments: &[String]) -> Done {
    if !arguments.is_empty() {
        return Err(Failure::Usage);
    }
    for (client, place) in each_namenode(conf)? {
        client.finalize_upgrade()?;
        println!("Finalize upgrade successful{}", for_place(&place));
    }
    Ok(0)
}

pub fn upgrade(conf: &Configuration, arguments: &[String]) -> Done {
    match arguments {
        [word] if word == "finalize" => finalize_upgrade(conf, &[]),
        [word] if word == "query" => {
            for (client, place) in each_namenode(conf)? {
                let state = if client.upgrade_status()? { "finalized" } else { "not finalized" };
                println!("Upgrade {state}{}", for_place(&place));
            }
            Ok(0)
        }
        _ => Err(Failure::Usage),
    }
}

pub fn rolling_upgrade(conf: &Configuration, arguments: &[String]) -> Done {
    let (name, action) = match arguments {
        [] => ("QUERY", RollingUpgradeAction::Query),
        [word] => match word.to_lowercase().as_str() {
            "query" => ("QUERY", RollingUpgradeAction::Query),
            "prepare" => ("PREPARE", RollingUpgradeAction::Start),
            "finalize" => ("FINALIZE", RollingUpgradeAction::Finalize),
            _ => {
                eprintln!("Failed to convert \"{word}\" to RollingUpgradeAction");
                return Err(Failure::Usage);
            }
        },
        _ => return Err(Failure::Usage),
    };
    println!("{name} rolling upgrade ...");
    match DfsClient::from_conf(conf, None)?.rolling_upgrade(action)? {
        Some(info) if info.start_time != 0 => show(&info),
        _ => {
            println!("There is no rolling upgrade in progress or rolling upgrade has already been finalized.");
        }
    }
    Ok(0)
}

fn show(info: &RollingUpgradeInfo) {
    let head = match (info.finalize_time != 0, info.created_rollback_images) {
        (true, _) => "Rolling upgrade is finalized.",
        (false, true) => "Proceed with rolling upgrade:",
        (false, false) => {
            "Preparing for upgrade. Data is being saved for rollback.\nRun \"dfsadmin -rollingUpgrade query\" to check the \
             status\nfor proceeding with rolling upgrade"
        }
    };
    let time = |ms: u64, none: &str| match ms {
        0 => none.to_owned(),
        _ => format!("{} (={ms})", java_date(ms)),
    };
    println!("{head}\n  Block Pool ID: {}", info.block_pool_id);
    println!("     Start Time: {}", time(info.start_time, "<NOT STARTED>"));
    println!("  Finalize Time: {}", time(info.finalize_time, "<NOT FINALIZED>"));
}

/// Downloads the newest image into a directory, under its name.
pub fn fetch_image(conf: &Configuration, arguments: &[String]) -> Done {
    let [dir] = arguments else { return Err(Failure::Usage) };
    let client = DfsClient::from_conf(conf, None)?;
    let address = crate::fsck::web_address(conf, &client).map_err(Failure::Call)?;
    match download(&address, Path::new(dir)) {
        Ok(()) => Ok(0),
        Err(problem) => {
            eprintln!("fetchImage: {problem}");
            Ok(FAILED)
        }
    }
}

fn download(address: &str, dir: &Path) -> Result<(), String> {
    let path = "/imagetransfer?getimage=1&txid=latest";
    let text = |e: std::io::Error| e.to_string();
    let mut answer = surus_net::http::get(address, path, READ_TIMEOUT).map_err(text)?;
    if answer.status != 200 {
        return Err(format!(
            "Image transfer servlet at http://{address}{path} failed with status code {}",
            answer.status
        ));
    }
    let name = answer.header("x-image-edits-name").unwrap_or_default().to_owned();
    if !name.starts_with("fsimage_") || name.contains('/') {
        return Err(format!("the NameNode names the image {name:?}"));
    }
    let (expected, length) = (answer.header("x-md5-digest").map(str::to_owned), answer.header("content-length"));
    let length: Option<u64> = length.and_then(|length| length.parse().ok());
    let file = RealDisk.open(&dir.join(&name), OpenMode::Create).map_err(text)?;
    let (mut digest, mut at, mut piece) = (Md5::new(), 0, vec![0; PIECE_BYTES]);
    loop {
        let count = answer.body.read(&mut piece).map_err(text)?;
        if count == 0 {
            break;
        }
        file.write_all_at(&piece[..count], at).map_err(text)?;
        digest.update(&piece[..count]);
        at += count as u64;
    }
    if length.is_some_and(|length| length != at) {
        return Err(format!("File {name} received length {at} is not of the advertised size {}", length.unwrap_or(0)));
    }
    let found = crate::oev::hex(&digest.finalize());
    match expected {
        Some(expected) if expected != found => {
            Err(format!("File {name} computed digest {found} does not match advertised digest {expected}"))
        }
        _ => Ok(()),
    }
}
