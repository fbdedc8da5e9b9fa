//! Client, NameNode and DataNodes together, over real sockets.

mod data;
mod failures;
mod files;
mod fuzz;
mod hosts;
mod httpfs;
mod hung_disks;
mod names;
mod one_hop;
mod restart;
mod webhdfs;

use surus_client::{CreateOptions, DfsClient};

/// Byte i of a file with seed s.
fn content(seed: usize, length: usize) -> Vec<u8> {
    (0..length).map(|i| ((i * 31 + seed) % 251) as u8).collect()
}

fn write(client: &DfsClient, path: &str, data: &[u8], options: &CreateOptions) {
    let mut writer = client.create(path, options).unwrap_or_else(|e| panic!("create {path}: {e}"));
    std::io::Write::write_all(&mut writer, data).unwrap_or_else(|e| panic!("write {path}: {e}"));
    writer.close().unwrap_or_else(|e| panic!("close {path}: {e}"));
}

fn read(client: &DfsClient, path: &str) -> Vec<u8> {
    let mut data = Vec::new();
    let mut reader = client.open(path).unwrap_or_else(|e| panic!("open {path}: {e}"));
    reader.copy_to(&mut data).unwrap_or_else(|e| panic!("read {path}: {e}"));
    data
}

/// Compares files without printing them.
#[track_caller]
fn same(found: &[u8], want: &[u8]) {
    let first = found.iter().zip(want).position(|(a, b)| a != b);
    assert!(found == want, "{} bytes, not {}; the first that differs: {first:?}", found.len(), want.len());
}

/// Small blocks, so that small files have several.
fn small_blocks() -> CreateOptions {
    CreateOptions { block_size: Some(64 * 1024), ..CreateOptions::default() }
}
