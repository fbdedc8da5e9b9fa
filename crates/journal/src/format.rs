//! Makes name directories of a new file system.

use crate::checkpoint::{SavedAs, save_image};
use crate::error::JournalError;
use crate::image::ImageOptions;
use crate::names::CURRENT;
use crate::segment::write_seen_txid;
use crate::storage::{Storage, check_empty, lock, write_version};
use crate::version::StorageInfo;
use std::io;
use std::path::PathBuf;
use surus_disk::{Disk, SyncPoint};
use surus_namespace::image::FrozenImage;
use surus_types::TxId;

/// Writes fsimage_0, seen_txid and VERSION (in this order: VERSION makes it a name directory) into directories that are
/// absent or empty. Nothing is touched unless all of them are.
///
/// # Errors
/// `NotEmpty`, `Locked`, or the disk's.
pub fn format(
    disk: &dyn Disk,
    dirs: &[PathBuf],
    info: &StorageInfo,
    image: &FrozenImage,
    now_ms: i64,
    lock_content: &str,
) -> Result<(), JournalError> {
    let image = FirstImage { image, txid: TxId(0), options: ImageOptions::default() };
    make(disk, dirs, info, &image, now_ms, lock_content)
}

/// The image that a new name directory begins with.
struct FirstImage<'a> {
    image: &'a FrozenImage,
    txid: TxId,
    options: ImageOptions,
}

/// VERSION comes last: it makes a directory a name directory.
fn make(
    disk: &dyn Disk,
    dirs: &[PathBuf],
    info: &StorageInfo,
    first: &FirstImage<'_>,
    now_ms: i64,
    lock_content: &str,
) -> Result<(), JournalError> {
    for dir in dirs {
        check_empty(disk, dir)?;
    }
    for dir in dirs {
        let made = disk.create_dir_all_durably(&dir.join(CURRENT), SyncPoint("journal.format_dir"));
        made.map_err(JournalError::io("making a name directory"))?;
        let _lock = lock(disk, dir, lock_content)?;
        save_image(disk, dir, SavedAs::Image, first.image, first.txid, info, first.options)?;
        write_seen_txid(disk, dir, first.txid)?;
        write_version(disk, dir, info, now_ms)?;
    }
    Ok(())
}

/// Makes name directories of the file system that `from` holds, with one image of the state as of `txid`. The directories are
/// absent or empty.
///
/// # Errors
/// `NotEmpty`, `Locked`, or the disk's.
pub fn import(
    disk: &dyn Disk,
    dirs: &[PathBuf],
    from: &Storage,
    image: &FrozenImage,
    txid: TxId,
    now_ms: i64,
    lock_content: &str,
) -> Result<(), JournalError> {
    let first = FirstImage { image, txid, options: from.image_options };
    make(disk, dirs, &from.info, &first, now_ms, lock_content)
}

/// Removes what a name directory holds, for a format that the operator has confirmed.
///
/// # Errors
/// `Locked`, or the disk's.
pub fn clear(disk: &dyn Disk, dirs: &[PathBuf], lock_content: &str) -> Result<(), JournalError> {
    for dir in dirs {
        let current = dir.join(CURRENT);
        if !disk.exists(&current).map_err(JournalError::io("clearing a name directory"))? {
            continue;
        }
        let _lock = lock(disk, dir, lock_content)?;
        match disk.remove_dir_all(&current) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                return Err(JournalError::Io { doing: "clearing a name directory", source: e });
            }
            _ => {}
        }
    }
    Ok(())
}
