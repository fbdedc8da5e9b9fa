//! Images that a secondary NameNode or a standby made of our edits and sends back. Nothing of one has the name of an image before
//! all of it is there, has the MD5 that was told, and says of itself that it is what it should be.
//! Source: `TransferFsImage.handleUploadImageRequest`, Hadoop 3.5.0.

use crate::checkpoint::{SavedAs, put_in_place};
use crate::error::JournalError;
use crate::image::{ImageFile, check_head, hex};
use crate::names::FileName;
use crate::storage::Storage;
use md5::{Digest, Md5};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use surus_disk::{DiskFile, OpenMode, SyncPoint};
use surus_types::TxId;

/// Received and written at once, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// An image that is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentImage {
    pub txid: TxId,
    /// What a rolling upgrade goes back to.
    pub is_rollback: bool,
    /// Bytes.
    pub len: u64,
    pub md5: [u8; 16],
}

impl SentImage {
    fn kind(&self) -> SavedAs {
        if self.is_rollback { SavedAs::Rollback } else { SavedAs::Image }
    }
}

impl Storage {
    /// Whether the image is there already.
    ///
    /// # Errors
    /// The disk's.
    pub fn has_image(&self, image: &SentImage) -> Result<bool, JournalError> {
        let (name, _) = image.kind().names(image.txid);
        for dir in self.live_dirs() {
            if self.files(dir)?.contains(&name) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes an image from `from` into every directory, under a name that start-up removes. One at a time.
    ///
    /// # Errors
    /// `Image`: what came is not what was told, or no image of this file system at that transaction. The sender's, the disk's.
    /// Nothing is left then.
    pub fn receive_image(&self, image: &SentImage, from: &mut dyn Read) -> Result<(), JournalError> {
        let received = self.receive_files(image, from);
        if received.is_err() {
            self.drop_received(image);
        }
        received
    }

    fn receive_files(&self, image: &SentImage, from: &mut dyn Read) -> Result<(), JournalError> {
        let failed = || JournalError::io("receiving an fsimage");
        let mut files: Vec<(PathBuf, Box<dyn DiskFile>)> = Vec::new();
        for dir in self.live_dirs() {
            let path = FileName::ImageReceived(image.txid).path(dir);
            let file = self.disk.open(&path, OpenMode::Create).map_err(failed())?;
            files.push((path, file));
        }
        let Some((first, _)) = files.first() else {
            return Err(JournalError::Stopped("all name directories failed".to_owned()));
        };
        let problem = |problem: String| JournalError::Image {
            file: first.clone(),
            section: "(any)".to_owned(),
            offset: 0,
            problem,
        };
        let (mut at, mut digest, mut buffer) = (0, Md5::new(), vec![0; PIECE_BYTES]);
        loop {
            let count = from.read(&mut buffer).map_err(failed())?;
            if count == 0 {
                break;
            }
            if at + count as u64 > image.len {
                return Err(problem(format!("more than its {} bytes came", image.len)));
            }
            digest.update(&buffer[..count]);
            for (_, file) in &files {
                file.write_all_at(&buffer[..count], at).map_err(failed())?;
            }
            at += count as u64;
        }
        if at != image.len {
            return Err(problem(format!("{at} of its {} bytes came", image.len)));
        }
        let digest: [u8; 16] = digest.finalize().into();
        if digest != image.md5 {
            return Err(problem(format!("its MD5 is {}, and {} was told", hex(&digest), hex(&image.md5))));
        }
        for (_, file) in &files {
            file.sync_data(SyncPoint("journal.image_received")).map_err(failed())?;
        }
        self.check_received(first, image.txid)
    }

    fn check_received(&self, path: &Path, txid: TxId) -> Result<(), JournalError> {
        let file = ImageFile::open(&*self.disk, path)?;
        let found = check_head(&file, &self.info)?;
        if found == txid {
            return Ok(());
        }
        Err(file.error(crate::image::NS_INFO, 8, &format!("the image was saved at transaction {found}, not {txid}")))
    }

    /// Gives what `receive_image` took its name, and removes what retention no longer covers. Not beside `save_namespace`.
    ///
    /// # Errors
    /// The disk's.
    pub fn place_received(&self, image: &SentImage) -> Result<(), JournalError> {
        for dir in self.live_dirs() {
            let received = FileName::ImageReceived(image.txid).path(dir);
            // A directory that came back meanwhile has not got it.
            if self.disk.metadata(&received).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
                continue;
            }
            put_in_place(&*self.disk, dir, image.kind(), image.txid, &received, &image.md5)
                .map_err(JournalError::io("giving a received fsimage its name"))?;
        }
        self.live_dirs().try_for_each(|dir| self.purge(dir))
    }

    /// Removes what was received and is not wanted.
    pub fn drop_received(&self, image: &SentImage) {
        for dir in self.live_dirs() {
            // What stays is removed by the next start.
            self.disk.remove_file(&FileName::ImageReceived(image.txid).path(dir)).ok();
        }
    }
}
