//! The whole persistent state as text, in a fixed order: what golden tests and "replay equals live state" compare.

use crate::Namespace;
use crate::tree::{InodeKind, InodeView};
use alloc::string::String;
use core::fmt::Write;

impl Namespace {
    /// One line for the counters, one for each inode in path order, one for each lease.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        let ids = self.blocks.ids;
        let _ = writeln!(
            out,
            "last inode {} stamp {} v1 {} block {} striped {}",
            self.last_inode_id,
            ids.generation_stamp,
            ids.generation_stamp_v1,
            ids.last_allocated_block_id,
            ids.last_allocated_striped_block_id,
        );
        for inode in self.freeze().inodes() {
            self.dump_inode(&mut out, inode);
        }
        for (file, holder) in self.leases.open_files(surus_types::InodeId(0)) {
            let _ = writeln!(out, "lease {holder} {file}");
        }
        out
    }

    fn dump_inode(&self, out: &mut String, inode: InodeView<'_>) {
        let path = self.tree.path_of(inode.handle()).unwrap_or_default();
        let _ = write!(
            out,
            "{path} {} {}:{} {:?} mtime {} atime {}",
            inode.id(),
            inode.user(),
            inode.group(),
            inode.permission(),
            inode.modification_time(),
            inode.access_time(),
        );
        match inode.kind() {
            InodeKind::Directory => {
                let counts = inode.counts();
                let _ = write!(
                    out,
                    " dir files {} dirs {} bytes {} space {}",
                    counts.files, counts.directories, counts.length, counts.space
                );
            }
            InodeKind::File => {
                let layout = inode.layout();
                let _ = write!(
                    out,
                    " file x{} block size {} policy {} length {} space {}",
                    layout.replication,
                    layout.preferred_block_size,
                    layout.storage_policy,
                    inode.length(),
                    inode.space_consumed()
                );
                for &handle in inode.blocks() {
                    let info = self.blocks.info(handle);
                    let _ = write!(
                        out,
                        " {}={}/x{}{}",
                        info.block,
                        info.block.num_bytes,
                        info.replication,
                        if info.owner == inode.id() { "" } else { " WRONG OWNER" }
                    );
                }
                if let Some(writer) = inode.under_construction() {
                    let _ = write!(out, " open by {} at {}", writer.client_name, writer.client_machine);
                }
            }
            InodeKind::Symlink => {
                let _ = write!(out, " -> {}", String::from_utf8_lossy(inode.symlink_target()));
            }
        }
        out.push('\n');
    }
}
