//! The fsimage, Hadoop's protobuf format:
//!
//! ```text
//! "HDFSIMG1" | sections: messages, each with its length in front | FileSummary, with its length in front | its size i32
//! ```
//! Source: `FSImageFormatProtobuf.java`, `fsimage.proto`, Hadoop 3.5.0. `save` writes, `load` reads, `section` knows the
//! encoding of one section.

mod cache_manager;
mod codec;
mod decode;
mod encode;
mod erasure_coding;
mod fast;
mod file;
mod load;
mod load_snapshots;
mod save;
mod save_snapshots;
mod secrets;
mod section;

pub use codec::Codec;
pub use file::{ImageFile, OpenSection, SectionEntry};
pub use load::{LoadedImage, load_image};
pub(crate) use load::{check_head, hex};
pub use save::ImageOptions;
pub(crate) use save::write_image;

/// First bytes of an image.
pub(crate) const MAGIC: &[u8; 8] = b"HDFSIMG1";
/// `FileSummary.ondiskVersion`.
pub(crate) const ON_DISK_VERSION: u32 = 1;

pub(crate) const NS_INFO: &str = "NS_INFO";
pub(crate) const ERASURE_CODING: &str = "ERASURE_CODING";
pub(crate) const INODE: &str = "INODE";
/// A part of INODE, and of INODE_DIR: Hadoop loads the parts in parallel.
pub(crate) const INODE_SUB: &str = "INODE_SUB";
pub(crate) const INODE_DIR_SUB: &str = "INODE_DIR_SUB";
pub(crate) const INODE_DIR: &str = "INODE_DIR";
pub(crate) const FILES_UNDERCONSTRUCTION: &str = "FILES_UNDERCONSTRUCTION";
pub(crate) const SNAPSHOT: &str = "SNAPSHOT";
pub(crate) const SNAPSHOT_DIFF: &str = "SNAPSHOT_DIFF";
pub(crate) const INODE_REFERENCE: &str = "INODE_REFERENCE";
pub(crate) const SECRET_MANAGER: &str = "SECRET_MANAGER";
pub(crate) const CACHE_MANAGER: &str = "CACHE_MANAGER";
pub(crate) const STRING_TABLE: &str = "STRING_TABLE";

/// Every section that Hadoop may write. Source: `FSImageFormatProtobuf.SectionName`, Hadoop 3.5.0.
pub(crate) const SECTIONS: [&str; 16] = [
    NS_INFO,
    STRING_TABLE,
    "EXTENDED_ACL",
    ERASURE_CODING,
    INODE,
    INODE_SUB,
    INODE_REFERENCE,
    "INODE_REFERENCE_SUB",
    SNAPSHOT,
    INODE_DIR,
    INODE_DIR_SUB,
    FILES_UNDERCONSTRUCTION,
    SNAPSHOT_DIFF,
    "SNAPSHOT_DIFF_SUB",
    SECRET_MANAGER,
    CACHE_MANAGER,
];

/// Which name table a string's id belongs to: its upper three bits. Source: `SerialNumberManager.java`, Hadoop 3.5.0.
pub(crate) const STRING_MASK_BITS: u32 = 3;
pub(crate) const USER_TABLE: u32 = 1;
pub(crate) const GROUP_TABLE: u32 = 2;
pub(crate) const XATTR_TABLE: u32 = 3;
