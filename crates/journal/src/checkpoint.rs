//! Saves an image to every name directory and purges what is older than the retention says.

use crate::error::JournalError;
use crate::image::{ImageOptions, hex, write_image};
use crate::names::{CURRENT, FileName};
use crate::storage::Storage;
use crate::version::StorageInfo;
use std::io;
use std::path::{Path, PathBuf};
use surus_disk::{Disk, OpenMode, SyncPoint};
use surus_namespace::image::FrozenImage;
use surus_types::TxId;

/// What a checkpoint came to.
#[derive(Debug, Default)]
pub struct Saved {
    /// Directories that failed and are no longer written, with the reason.
    pub failed: Vec<(PathBuf, JournalError)>,
    /// Why old files could not be removed; harmless, the next checkpoint tries again.
    pub unpurged: Vec<JournalError>,
}

impl Storage {
    /// Saves the state as of `txid` to every directory: durable when this returns. All transactions up to it must be
    /// durable before (`EditLog::wait_durable`). Then removes images and edits that retention no longer covers.
    ///
    /// # Errors
    /// When no directory took the image. None is dropped then: edits may still go where an image did not fit.
    pub fn save_namespace(&self, image: &FrozenImage, txid: TxId) -> Result<Saved, JournalError> {
        self.save_as(SavedAs::Image, image, txid)
    }

    /// As `save_namespace`, under the name of a rollback image: what a rolling upgrade can go back to.
    ///
    /// # Errors
    /// As `save_namespace`.
    pub fn save_rollback_image(&self, image: &FrozenImage, txid: TxId) -> Result<Saved, JournalError> {
        self.save_as(SavedAs::Rollback, image, txid)
    }

    fn save_as(&self, kind: SavedAs, image: &FrozenImage, txid: TxId) -> Result<Saved, JournalError> {
        let dirs: Vec<PathBuf> = self.live_dirs().map(Path::to_path_buf).collect();
        let mut saved = Saved::default();
        for dir in &dirs {
            if let Err(error) = save_image(&*self.disk, dir, kind, image, txid, &self.info, self.image_options) {
                // A partial file would only take up room that is short.
                self.disk.remove_file(&FileName::ImageCheckpoint(txid).path(dir)).ok();
                saved.failed.push((dir.clone(), error));
            }
        }
        if saved.failed.len() == dirs.len() {
            let error = saved.failed.pop().map(|(_, error)| error);
            return Err(error.unwrap_or_else(|| JournalError::Stopped("all name directories failed".to_owned())));
        }
        for (dir, _) in &saved.failed {
            self.mark_failed(dir);
        }
        for dir in self.live_dirs() {
            saved.unpurged.extend(self.purge(dir).err());
        }
        Ok(saved)
    }

    /// Finalised segments as a manifest lists them: first and last transaction, in order, each once.
    ///
    /// # Errors
    /// The disk's.
    pub fn finalized_segments(&self) -> Result<Vec<(TxId, TxId)>, JournalError> {
        let mut segments = Vec::new();
        for dir in self.live_dirs() {
            segments.extend(self.files(dir)?.iter().filter_map(|name| match name {
                FileName::Finalized { first, last } => Some((*first, *last)),
                _ => None,
            }));
        }
        segments.sort();
        segments.dedup();
        Ok(segments)
    }

    /// Source: `NNStorageRetentionManager.java`, Hadoop 3.5.0.
    pub(crate) fn purge(&self, dir: &Path) -> Result<(), JournalError> {
        let files = self.files(dir)?;
        let mut images: Vec<TxId> = files
            .iter()
            .filter_map(|name| match name {
                FileName::Image(txid) => Some(*txid),
                _ => None,
            })
            .collect();
        images.sort();
        let keep_from = images.len().saturating_sub(self.retention.images.max(1));
        let Some(oldest) = images.get(keep_from).copied() else { return Ok(()) };
        // A rolling upgrade goes back to its image and the edits behind it.
        let rollback = files.iter().filter_map(|name| match name {
            FileName::ImageRollback(txid) => Some(*txid),
            _ => None,
        });
        let needed_from = rollback.min().map_or(oldest, |rollback| oldest.min(rollback));
        let mut edits_from = TxId((needed_from.0 + 1).saturating_sub(self.retention.extra_edits));
        let mut extra: Vec<TxId> = files
            .iter()
            .filter_map(|name| match name {
                FileName::Finalized { first, last } if *last <= needed_from && *last >= edits_from => Some(*first),
                _ => None,
            })
            .collect();
        extra.sort();
        if extra.len() > self.retention.extra_segments {
            edits_from = extra[extra.len() - self.retention.extra_segments];
        }
        for name in files {
            let is_old = match name {
                FileName::Image(txid) | FileName::ImageMd5(txid) => txid < oldest,
                FileName::Finalized { last, .. } => last < edits_from,
                _ => false,
            };
            if is_old {
                self.disk.remove_file(&name.path(dir)).map_err(JournalError::io("purging old checkpoints"))?;
            }
        }
        Ok(())
    }
}

/// Under which name an image is saved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SavedAs {
    Image,
    Rollback,
}

impl SavedAs {
    /// The image and its MD5 file.
    pub fn names(self, txid: TxId) -> (FileName, FileName) {
        match self {
            SavedAs::Image => (FileName::Image(txid), FileName::ImageMd5(txid)),
            SavedAs::Rollback => (FileName::ImageRollback(txid), FileName::ImageRollbackMd5(txid)),
        }
    }
}

/// The line of an MD5 file.
pub(crate) fn md5_line(digest: &str, image: FileName) -> String {
    format!("{digest} *{image}\n")
}

/// Writes the image and its MD5 under their final names. A crash leaves all of it or nothing that start-up takes.
pub(crate) fn save_image(
    disk: &dyn Disk,
    dir: &Path,
    kind: SavedAs,
    image: &FrozenImage,
    txid: TxId,
    info: &StorageInfo,
    options: ImageOptions,
) -> Result<(), JournalError> {
    let save = || {
        let temporary = FileName::ImageCheckpoint(txid).path(dir);
        let file = disk.open(&temporary, OpenMode::Create)?;
        let digest = write_image(&*file, image, txid, info, options)?;
        file.sync_data(SyncPoint("journal.image"))?;
        put_in_place(disk, dir, kind, txid, &temporary, &digest)
    };
    save().map_err(JournalError::io("saving an fsimage"))
}

/// Writes the MD5 of an image that is durable under `temporary`, and gives both their names.
pub(crate) fn put_in_place(
    disk: &dyn Disk,
    dir: &Path,
    kind: SavedAs,
    txid: TxId,
    temporary: &Path,
    digest: &[u8; 16],
) -> io::Result<()> {
    let (name, md5_name) = kind.names(txid);
    let md5_path = md5_name.path(dir);
    let md5_temporary = md5_path.with_extension("md5.tmp");
    let md5_file = disk.open(&md5_temporary, OpenMode::Create)?;
    md5_file.write_all_at(md5_line(&hex(digest), name).as_bytes(), 0)?;
    md5_file.sync_data(SyncPoint("journal.image_md5"))?;
    disk.rename(&md5_temporary, &md5_path)?;
    disk.rename(temporary, &name.path(dir))?;
    disk.sync_dir(&dir.join(CURRENT), SyncPoint("journal.image_dir"))
}
