//! How many files there are of each size. Source: `FileDistributionCalculator.java`, Hadoop 3.5.0.

use super::Problem;
use crate::offline::Output;
use std::collections::BTreeMap;
use std::io::Write;
use surus_journal::image::ImageFile;
use surus_proto::hadoop::hdfs::fsimage::INodeSection;
use surus_proto::hadoop::hdfs::fsimage::i_node_section::{INode, i_node};

const MAX_SIZE_DEFAULT: u64 = 1 << 37;
const STEP_DEFAULT: u64 = 2 << 20;
const INTERVALS_MAX: u64 = 1 << 27;
/// A line after so many inodes.
const PROGRESS: u64 = 1 << 20;

/// `max_size` and `step` in bytes; 0: the default.
pub fn write(image: &ImageFile, out: &mut Output, max_size: u64, step: u64, format: bool) -> Result<(), Problem> {
    let max_size = if max_size == 0 { MAX_SIZE_DEFAULT } else { max_size };
    let step = if step == 0 { STEP_DEFAULT } else { step };
    let last = max_size / step;
    if last > INTERVALS_MAX {
        return Err(Problem::Text(format!(
            "Too many distribution intervals (maxSize/step): {last}, should be less than {}.",
            INTERVALS_MAX + 1
        )));
    }
    let mut section = image.section("INODE");
    let head: INodeSection = section.expect()?;
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut files, mut directories, mut blocks, mut space, mut largest) = (0u64, 0u64, 0, 0u64, 0);
    for at in 0..head.num_inodes() {
        let inode: INode = section.expect()?;
        match (inode.r#type(), &inode.file) {
            (i_node::Type::File, Some(file)) => {
                files += 1;
                blocks += file.blocks.len();
                let size: u64 = file.blocks.iter().map(|block| block.num_bytes()).sum();
                largest = largest.max(size);
                space = space.wrapping_add(size.wrapping_mul(u64::from(file.replication())));
                let bucket = if size > max_size { last } else { size.div_ceil(step).min(last) };
                *buckets.entry(bucket).or_default() += 1;
            }
            (i_node::Type::Directory, _) => directories += 1,
            _ => {}
        }
        if at % PROGRESS == 0 {
            writeln!(out, "Processed {at} inodes.")?;
        }
    }
    writeln!(out, "{}\tNumFiles", if format { "Size Range" } else { "Size" })?;
    for (bucket, count) in buckets {
        if format {
            let from = bytes_in_words(bucket.saturating_sub(1) * step);
            let to = bytes_in_words(if bucket == last { largest } else { bucket * step });
            writeln!(out, "{}{from}, {to}]\t{count}", if bucket == 0 { '[' } else { '(' })?;
        } else {
            writeln!(out, "{}\t{count}", bucket * step)?;
        }
    }
    writeln!(out, "totalFiles = {files}\ntotalDirectories = {directories}\ntotalBlocks = {blocks}")?;
    writeln!(out, "totalSpace = {space}\nmaxFileSize = {largest}")?;
    Ok(())
}

/// `2 MB`, `1.50 KB`, `7 B`. Source: `StringUtils.byteDesc`, Hadoop 3.5.0.
fn bytes_in_words(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["K", "M", "G", "T", "P", "E"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let unit = |power: usize| 1u64 << (10 * power);
    let mut power = (bytes.ilog2() / 10) as usize;
    let text = if bytes.is_multiple_of(unit(power)) {
        (bytes / unit(power)).to_string()
    } else {
        let text = format!("{:.2}", bytes as f64 / unit(power) as f64);
        // Rounded up to the next unit.
        if text.starts_with("1024") && power < UNITS.len() {
            power += 1;
            format!("{:.2}", bytes as f64 / unit(power) as f64)
        } else {
            text
        }
    };
    format!("{text} {}B", UNITS[power - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let all = [0, 1023, 1024, 1536, 2 << 20, (1 << 20) - 1, 3_000_000_000].map(bytes_in_words);
        assert_eq!(all, ["0 B", "1023 B", "1 KB", "1.50 KB", "2 MB", "1.00 MB", "2.79 GB"]);
    }
}
