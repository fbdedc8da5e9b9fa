//! The checksum file beside a local copy (`-get -crc`): `.NAME.crc`, CRC-32 over every 512 bytes.
//! Source: `ChecksumFileSystem.java`, Hadoop 3.5.0.

use super::error::Result;
use super::local;
use std::io::{Read, Write};
use surus_wire::datatransfer::{ChecksumType, DataChecksum};

/// First bytes of the file: `crc` and version 0.
const MAGIC: [u8; 4] = [b'c', b'r', b'c', 0];
const CHUNK: usize = 512;

/// Writes the checksums of the file at `path`.
pub fn write(path: &str) -> Result<()> {
    let mut source = local::open(path)?;
    let mut sums = MAGIC.to_vec();
    sums.extend((CHUNK as u32).to_be_bytes());
    let Some(checksum) = DataChecksum::new(ChecksumType::Crc32, CHUNK as u32) else { return Ok(()) };
    let mut buffer = vec![0; 128 * CHUNK];
    loop {
        let mut filled = 0;
        while filled < buffer.len() {
            match source.read(&mut buffer[filled..])? {
                0 => break,
                len => filled += len,
            }
        }
        checksum.append(&buffer[..filled], &mut sums);
        if filled < buffer.len() {
            break;
        }
    }
    let (directory, name) = path.rsplit_once('/').unwrap_or((".", path));
    local::create(&format!("{directory}/.{name}.crc"))?.write_all(&sums)?;
    Ok(())
}
