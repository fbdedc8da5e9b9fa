//! Images and edits as files for who fetches them: a secondary NameNode, a standby, `dfsadmin -fetchImage`.

use crate::error::JournalError;
use crate::image::hex;
use crate::names::FileName;
use crate::startup::parse_md5;
use crate::storage::Storage;
use std::io;
use surus_disk::{DiskFile, OpenMode};
use surus_types::TxId;

/// A file of a name directory, open for reading.
pub struct StoredFile {
    pub name: String,
    pub file: Box<dyn DiskFile>,
    /// Bytes to send: an edits segment without its fill has no other end.
    pub len: u64,
    /// Hexadecimal; an image's.
    pub md5: Option<String>,
}

/// An MD5 file is a line.
const MD5_FILE_BYTES_MAX: u64 = 4096;

impl Storage {
    /// The image of a transaction, or the newest one. None: there is no such image.
    ///
    /// # Errors
    /// The disk's.
    pub fn open_image(&self, txid: Option<TxId>) -> Result<Option<StoredFile>, JournalError> {
        let mut newest = None;
        for dir in self.live_dirs() {
            newest = newest.max(self.files(dir)?.iter().filter_map(image_txid).max());
        }
        let Some(txid) = txid.or(newest) else { return Ok(None) };
        let Some(mut stored) = self.open_file(FileName::Image(txid))? else { return Ok(None) };
        for dir in self.live_dirs() {
            let text = self.disk.read(&FileName::ImageMd5(txid).path(dir), MD5_FILE_BYTES_MAX).unwrap_or_default();
            if let Some(md5) = std::str::from_utf8(&text).ok().and_then(parse_md5) {
                stored.md5 = Some(hex(&md5));
                break;
            }
        }
        Ok(Some(stored))
    }

    /// A finalised segment. None: there is no such segment.
    ///
    /// # Errors
    /// The disk's.
    pub fn open_edits(&self, first: TxId, last: TxId) -> Result<Option<StoredFile>, JournalError> {
        self.open_file(FileName::Finalized { first, last })
    }

    fn open_file(&self, name: FileName) -> Result<Option<StoredFile>, JournalError> {
        for dir in self.live_dirs() {
            match self.disk.open(&name.path(dir), OpenMode::Read).and_then(|file| Ok((file.len()?, file))) {
                Ok((len, file)) => return Ok(Some(StoredFile { name: name.to_string(), file, len, md5: None })),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(JournalError::Io { doing: "opening a file to send", source: e }),
            }
        }
        Ok(None)
    }
}

fn image_txid(name: &FileName) -> Option<TxId> {
    match name {
        FileName::Image(txid) => Some(*txid),
        _ => None,
    }
}
