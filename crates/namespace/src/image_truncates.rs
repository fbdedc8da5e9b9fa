//! Truncates inside a block that had not ended when an image was written. Hadoop's images forget them: the file is then whole again, or, where
//! its block was to be copied, loses its end.

use crate::blocks::{BlockState, PendingTruncate};
use crate::image::{ImageLoader, LoadError};
use surus_types::{InodeId, TxId};

impl ImageLoader {
    /// A truncate of a file that is there already has not ended: block recovery will.
    ///
    /// # Errors
    /// The file is not being written, it ends with another block, or the block to copy from cannot be it.
    pub fn push_truncate(&mut self, file: InodeId, truncate: PendingTruncate) -> Result<(), LoadError> {
        let wrong = |problem| Err(LoadError::Truncate { inode: file, problem });
        let handle = self.known(file)?;
        let blocks = &self.namespace.blocks;
        let last = self.namespace.tree.inode(handle).blocks().last().copied();
        let Some(last) = last.filter(|last| blocks.info(*last).state.is_open()) else {
            return wrong("its last block is not being written");
        };
        if truncate.to.id != blocks.block(last).id || blocks.info(last).is_group {
            return wrong("its last block is another one");
        }
        if let Some(source) = truncate.source
            && (source.id == truncate.to.id || source.num_bytes < truncate.to.num_bytes)
        {
            return wrong("the block to copy from cannot be it");
        }
        self.truncates.push((file, last, truncate));
        Ok(())
    }

    /// Once all blocks are there.
    pub(crate) fn finish_truncates(&mut self) -> Result<(), LoadError> {
        let blocks = &mut self.namespace.blocks;
        for (file, last, truncate) in core::mem::take(&mut self.truncates) {
            let Some(source) = truncate.source else {
                blocks.prepare_truncate(last, truncate.to);
                continue;
            };
            let shown = blocks.find(source.id);
            let replication = blocks.info(last).replication;
            let new = || blocks.insert(source, file, replication, BlockState::Complete, false);
            let Some(handle) = shown.or_else(new) else { return Err(LoadError::DuplicateBlock(source.id)) };
            let info = blocks.info(handle);
            if (info.owner, info.block, info.state) != (file, source, BlockState::Complete) {
                return Err(LoadError::Truncate { inode: file, problem: "the block to copy from is another one" });
            }
            blocks.prepare_copy(last, handle, truncate.to);
            if shown.is_none() {
                // No snapshot shows it: it is there for the copy alone.
                blocks.remove(handle, TxId(0));
            }
        }
        Ok(())
    }
}
