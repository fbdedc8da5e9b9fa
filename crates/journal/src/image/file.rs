//! An image as a file of sections: what the NameNode and the viewers read it by. Knows nothing of what a section means.

use super::codec::Codec;
use super::section::Section;
use super::{MAGIC, ON_DISK_VERSION};
use crate::error::JournalError;
use prost::Message;
use std::path::{Path, PathBuf};
use surus_disk::{Disk, DiskFile, OpenMode};
use surus_proto::hadoop::hdfs::fsimage::FileSummary;

/// FileSummary is a few hundred bytes; one of a section in thousands of parts a few hundred kilobytes.
const SUMMARY_BYTES_MAX: u64 = 4 << 20;

/// Where a section lies, in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SectionEntry {
    pub name: String,
    pub offset: u64,
    pub length: u64,
}

/// An open image.
pub struct ImageFile {
    path: PathBuf,
    pub(super) file: Box<dyn DiskFile>,
    pub layout_version: i32,
    pub on_disk_version: u32,
    codec: Codec,
    sections: Vec<SectionEntry>,
}

impl ImageFile {
    /// Opens an image and reads its summary.
    ///
    /// # Errors
    /// `Image` when it is none, or the disk's.
    pub fn open(disk: &dyn Disk, path: &Path) -> Result<ImageFile, JournalError> {
        let file = disk.open(path, OpenMode::Read).map_err(JournalError::io("opening an fsimage"))?;
        let error = |section: &str, offset: u64, problem: String| JournalError::Image {
            file: path.to_path_buf(),
            section: section.to_owned(),
            offset,
            problem,
        };
        let name = "FileSummary";
        let read =
            |buffer: &mut [u8], at: u64| file.read_exact_at(buffer, at).map_err(|e| error(name, at, e.to_string()));
        let len = file.len().map_err(JournalError::io("reading an fsimage"))?;
        let mut magic = [0; 8];
        read(&mut magic, 0)?;
        if magic != *MAGIC {
            return Err(error("header", 0, "it does not begin with HDFSIMG1".to_owned()));
        }
        let mut size = [0; 4];
        read(&mut size, len.saturating_sub(4))?;
        let size = u64::from(u32::from_be_bytes(size));
        if size > SUMMARY_BYTES_MAX || size + 12 > len {
            return Err(error(name, len - 4, format!("its length, {size}, is impossible")));
        }
        let at = len - 4 - size;
        let mut bytes = vec![0; size as usize];
        read(&mut bytes, at)?;
        let summary = FileSummary::decode_length_delimited(&*bytes)
            .map_err(|e| error(name, at, format!("it does not parse: {e}")))?;
        if summary.ondisk_version != ON_DISK_VERSION {
            return Err(error(name, at, format!("on-disk version {} is unknown", summary.ondisk_version)));
        }
        let class = summary.codec.unwrap_or_default();
        let codec = Codec::from_class(&class)
            .ok_or_else(|| error(name, at, format!("compression codec {class} is not supported")))?;
        let mut sections = Vec::with_capacity(summary.sections.len());
        for section in summary.sections {
            let (offset, length) = (section.offset.unwrap_or(0), section.length.unwrap_or(0));
            if offset.checked_add(length).is_none_or(|end| end > at) {
                return Err(error(section.name(), offset, format!("its length, {length}, is impossible")));
            }
            sections.push(SectionEntry { name: section.name.unwrap_or_default(), offset, length });
        }
        let (layout_version, on_disk_version) = (summary.layout_version as i32, summary.ondisk_version);
        Ok(ImageFile { path: path.to_path_buf(), file, layout_version, on_disk_version, codec, sections })
    }

    /// The sections in the order of the summary. Parts of a section (`INODE_SUB` and the like) lie in the whole one.
    pub fn sections(&self) -> &[SectionEntry] {
        &self.sections
    }

    /// Bytes of all sections but the summary.
    pub(crate) fn len(&self) -> u64 {
        self.sections.iter().map(|section| section.offset + section.length).max().unwrap_or(0)
    }

    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// The section of that name. An absent one reads as an empty one; those that must hold something are asked for it.
    pub fn section(&self, name: &str) -> OpenSection<'_> {
        match self.sections.iter().find(|entry| entry.name == name) {
            Some(entry) => self.open_entry(entry),
            None => self.open_entry(&SectionEntry { name: name.to_owned(), offset: 0, length: 0 }),
        }
    }

    pub fn open_entry(&self, entry: &SectionEntry) -> OpenSection<'_> {
        let codec = if entry.length == 0 { Codec::None } else { self.codec };
        let section = Section::new(&*self.file, entry.offset, entry.length, codec);
        OpenSection { image: self, name: entry.name.clone(), offset: entry.offset, section }
    }

    pub(crate) fn error(&self, section: &str, offset: u64, problem: &str) -> JournalError {
        let (file, section) = (self.path.clone(), section.to_owned());
        JournalError::Image { file, section, offset, problem: problem.to_owned() }
    }
}

/// A section that is being read, message by message. Offsets in errors count decompressed bytes from where it begins.
pub struct OpenSection<'a> {
    image: &'a ImageFile,
    name: String,
    offset: u64,
    section: Section<'a>,
}

impl OpenSection<'_> {
    /// The next message; None at the end of the section.
    ///
    /// # Errors
    /// `Image` with section and offset.
    pub fn message<M: Message + Default>(&mut self) -> Result<Option<M>, JournalError> {
        let at = self.offset + self.section.position();
        let error = |problem: String| self.image.error(&self.name, at, &problem);
        match self.section.next() {
            Ok(Some(bytes)) => M::decode(bytes).map(Some).map_err(|e| error(format!("a message does not parse: {e}"))),
            Ok(None) => Ok(None),
            Err(e) => Err(error(e.to_string())),
        }
    }

    /// The next message, which must be there.
    ///
    /// # Errors
    /// As `message`; and where the section ends instead.
    pub fn expect<M: Message + Default>(&mut self) -> Result<M, JournalError> {
        self.message()?.ok_or_else(|| self.error("it ends too early"))
    }

    /// The bytes of the next message; None at the end of the section.
    ///
    /// # Errors
    /// As `message`.
    pub fn bytes(&mut self) -> Result<Option<&[u8]>, JournalError> {
        let at = self.offset + self.section.position();
        self.section.next().map_err(|e| self.image.error(&self.name, at, &e.to_string()))
    }

    /// Behind the last message, for errors.
    pub(crate) fn place(&self) -> u64 {
        self.offset + self.section.position()
    }

    pub fn error(&self, problem: &str) -> JournalError {
        self.image.error(&self.name, self.place(), problem)
    }
}
