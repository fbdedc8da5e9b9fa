//! Changes of files: layout, block list, length, who writes them. Space counters follow.

use super::Tree;
use super::handles::InodeHandle;
use super::inode::{BlockForm, NO_PARENT, UnderConstruction};
use super::intern::{FileLayout, Interned};
use crate::blocks::BlockHandle;
use alloc::sync::Arc;

impl Tree {
    /// Changes a file's layout, and the counters when the replication changes.
    pub fn set_layout(&mut self, handle: InodeHandle, layout: FileLayout) {
        let record = self.tables.inodes.get(handle.0);
        let (old_attributes, parent) = (record.attributes, record.parent);
        let (interned, users) = (&mut self.tables.interned, &mut self.intern_users);
        let at = Interned::file_layout(interned, users, layout);
        let attributes = Interned::with_layout(interned, users, old_attributes, at);
        let old = self.inode(handle).local_storage_policy();
        if parent == NO_PARENT {
            self.tables.inodes.get_mut(handle.0).attributes = attributes;
            self.release_attributes(old_attributes);
            self.count_policy(old, layout.storage_policy);
            return;
        }
        self.keep_attributes(handle);
        let before = self.charges(handle);
        self.count_policy(old, layout.storage_policy);
        self.tables.inodes.get_mut(handle.0).attributes = attributes;
        self.release_attributes(old_attributes);
        self.recharge(handle, before);
    }

    pub fn set_replication(&mut self, handle: InodeHandle, replication: u16) {
        let layout = self.inode(handle).layout();
        self.set_layout(handle, FileLayout { replication, ..layout });
    }

    /// Gives a file that was just loaded, and has no parent yet, its blocks and its length.
    pub(crate) fn load_blocks(&mut self, handle: InodeHandle, blocks: &[BlockHandle], length: u64) {
        let form = self.new_block_form(blocks);
        let record = self.tables.inodes.get_mut(handle.0);
        record.set_block_form(form);
        Interned::replace(&mut self.tables.interned, &mut self.intern_users, &mut record.length, length as i64);
    }

    fn new_block_form(&mut self, blocks: &[BlockHandle]) -> BlockForm {
        match blocks {
            [] => BlockForm::None,
            &[one] => BlockForm::One(one),
            many => BlockForm::Many(self.tables.block_lists.insert(many)),
        }
    }

    /// Replaces a file's block list. [`Tree::set_file_size`] follows.
    pub fn set_blocks(&mut self, handle: InodeHandle, blocks: &[BlockHandle]) {
        let held = self.held(handle);
        self.drop_block_list(handle);
        let form = self.new_block_form(blocks);
        self.tables.inodes.get_mut(handle.0).set_block_form(form);
        self.recharge_held(handle, &held);
    }

    /// Adds a block at the end. [`Tree::set_file_size`] follows.
    pub fn push_block(&mut self, handle: InodeHandle, block: BlockHandle) {
        match self.tables.inodes.get(handle.0).block_form() {
            BlockForm::Many(list) => {
                let list = self.tables.block_lists.push(list, block);
                self.tables.inodes.get_mut(handle.0).set_block_form(BlockForm::Many(list));
            }
            BlockForm::One(first) => self.set_blocks(handle, &[first, block]),
            BlockForm::None => self.set_blocks(handle, &[block]),
        }
    }

    /// Takes the last block away and returns it. [`Tree::set_file_size`] follows.
    pub fn pop_block(&mut self, handle: InodeHandle) -> Option<BlockHandle> {
        let blocks = self.inode(handle).blocks();
        let (&last, rest) = blocks.split_last()?;
        let rest = rest.to_vec();
        self.set_blocks(handle, &rest);
        Some(last)
    }

    /// Opens (`Some`) or closes (`None`) a file. A file that is closed charges its length only.
    pub fn set_under_construction(&mut self, handle: InodeHandle, writer: Option<UnderConstruction>) {
        if !self.inode(handle).is_file() {
            return;
        }
        let before = self.charges(handle);
        let kept = self.inode(handle).under_construction().map_or(0, |uc| uc.unfinished);
        self.tables.inodes.get_mut(handle.0).set_under_construction(writer.is_some());
        let map = Arc::make_mut(&mut self.tables.under_construction);
        match writer {
            Some(mut writer) => {
                writer.unfinished = kept;
                map.insert(handle, writer);
            }
            None => {
                map.remove(&handle);
            }
        }
        self.recharge(handle, before);
    }

    /// Records a file's length (the sum of its blocks) and, while it is being written, the bytes that space counters
    /// charge above it. Both must follow from the edit-log operations alone.
    pub fn set_file_size(&mut self, handle: InodeHandle, length: u64, unfinished: u64) {
        let before = self.charges(handle);
        let record = self.tables.inodes.get_mut(handle.0);
        Interned::replace(&mut self.tables.interned, &mut self.intern_users, &mut record.length, length as i64);
        if self.inode(handle).under_construction().is_some_and(|uc| uc.unfinished != unfinished)
            && let Some(uc) = Arc::make_mut(&mut self.tables.under_construction).get_mut(&handle)
        {
            uc.unfinished = unfinished;
        }
        self.recharge(handle, before);
    }

    pub(super) fn drop_block_list(&mut self, handle: InodeHandle) {
        let record = self.tables.inodes.get_mut(handle.0);
        if let BlockForm::Many(list) = record.block_form() {
            record.set_block_form(BlockForm::None);
            self.tables.block_lists.remove(list);
        }
    }
}
