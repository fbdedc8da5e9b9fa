//! Encryption zones as the tree knows them: directories whose attribute says so. What the attributes hold is opaque here.
//! Source: `EncryptionZoneManager.java`, `FSDirEncryptionZoneOp.java`, Hadoop 3.5.0.

use super::handles::InodeHandle;
use super::inode::InodeView;
use super::tables::Tables;
use super::{CURRENT, Tree};
use crate::xattr::{ENCRYPTION_ZONE, FILE_ENCRYPTION_INFO, RAW};
use alloc::sync::Arc;
use surus_types::{FileEncryption, InodeId};

impl<'a> InodeView<'a> {
    /// Seen by a path below `/.reserved/raw`: as what it is on DataNodes, whatever its zone.
    pub fn raw(self, is_raw: bool) -> Self {
        InodeView { is_raw, ..self }
    }

    /// See [`InodeView::raw`].
    pub fn is_raw(self) -> bool {
        self.is_raw
    }

    /// What makes this directory the root of an encryption zone, if it is one: a `ZoneEncryptionInfoProto`.
    pub fn zone_info(self) -> Option<&'a [u8]> {
        self.xattr(RAW, ENCRYPTION_ZONE)
    }

    /// The root of the encryption zone that holds this inode, which may be the inode itself. In a snapshot: where it was then,
    /// as what was deleted since has no parent any more.
    pub fn zone(self) -> Option<InodeView<'a>> {
        if self.tables.zones.is_empty() {
            return None;
        }
        let mut at = self;
        loop {
            if self.tables.zones.contains_key(&at.id()) && at.zone_info().is_some() {
                return Some(at);
            }
            at = self.tables.inode_at(at.parent_then()?, at.snapshot);
        }
    }

    fn parent_then(self) -> Option<InodeHandle> {
        match self.snapshot {
            CURRENT => self.parent(),
            snapshot => self.tables.parent_at(self.handle, snapshot).map(|(parent, _)| parent),
        }
    }

    /// How a file's bytes are encrypted; `None`: they are not, or are to be seen as they are.
    pub fn encryption(self) -> Option<FileEncryption<'a>> {
        if self.is_raw || self.tables.zones.is_empty() || !self.is_file() {
            return None;
        }
        let file = self.xattr(RAW, FILE_ENCRYPTION_INFO)?;
        Some(FileEncryption { zone: self.zone()?.zone_info()?, file })
    }
}

impl Tables {
    /// The roots of encryption zones behind `after`, by id.
    pub fn zones(&self, after: InodeId) -> impl Iterator<Item = InodeView<'_>> {
        let behind = self.zones.range((core::ops::Bound::Excluded(after), core::ops::Bound::Unbounded));
        behind.map(|(_, handle)| self.inode(*handle))
    }

    pub fn num_zones(&self) -> usize {
        self.zones.len()
    }
}

impl Tree {
    /// Keeps the index of zones in step with a directory's attributes.
    pub(super) fn index_zone(&mut self, handle: InodeHandle) {
        let inode = self.inode(handle);
        let id = inode.id();
        debug_assert_eq!(inode.snapshot(), CURRENT);
        match inode.is_directory() && inode.zone_info().is_some() {
            true => {
                Arc::make_mut(&mut self.tables.zones).insert(id, handle);
            }
            false => self.forget_zone(id),
        }
    }

    pub(super) fn forget_zone(&mut self, id: InodeId) {
        if self.tables.zones.contains_key(&id) {
            Arc::make_mut(&mut self.tables.zones).remove(&id);
        }
    }
}
