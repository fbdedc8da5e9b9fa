//! The whole persistent state as text, in a fixed order: what golden tests and "replay equals live state" compare.

use crate::blocks::PendingTruncate;
use crate::cache::CacheState;
use crate::ops::delegation_token::Secrets;
use crate::tree::{DiffBodyView, InodeKind, InodeView, Reference};
use crate::{FrozenImage, Namespace};
use alloc::string::String;
use core::fmt::Write;
use surus_types::{EcPolicyState, InodeId};

impl Namespace {
    /// One line for the counters, one for each inode (parents first, children in name order), one for each open file.
    pub fn dump(&self) -> String {
        let mut out = self.freeze().dump();
        for (file, holder) in self.leases.open_files(InodeId(0)) {
            let _ = writeln!(out, "lease {holder} {file}");
        }
        out
    }
}

impl FrozenImage {
    /// As [`Namespace::dump`], without the leases.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        let ids = self.ids;
        let _ = writeln!(
            out,
            "last inode {} stamp {} v1 {} block {} striped {}",
            self.last_inode_id,
            ids.generation_stamp,
            ids.generation_stamp_v1,
            ids.last_allocated_block_id,
            ids.last_allocated_striped_block_id,
        );
        let (counter, live) = self.snapshot_numbers();
        if counter > 0 {
            let _ = writeln!(out, "snapshots {live}, next {counter}");
        }
        if *self.secrets != Secrets::default() {
            let _ = writeln!(out, "{:?}", self.secrets);
        }
        if let Some(upgrade) = self.rolling_upgrade {
            let _ = writeln!(out, "rolling upgrade since {}", upgrade.start_time);
        }
        if *self.cache != CacheState::default() {
            let _ = writeln!(out, "{:?}", self.cache);
        }
        for info in self
            .ec_policies()
            .by_id()
            .iter()
            .filter(|i| i.persisted != EcPolicyState::Disabled || !i.policy.is_system())
        {
            let _ = writeln!(out, "{info:?}");
        }
        for inode in self.inodes() {
            self.dump_inode(&mut out, inode);
            self.dump_snapshots(&mut out, inode);
        }
        out
    }

    fn dump_snapshots(&self, out: &mut String, inode: InodeView<'_>) {
        if let Some(snapshottable) = inode.snapshottable() {
            let _ = write!(out, "  snapshottable {}:", snapshottable.limit);
            for snapshot in &snapshottable.snapshots {
                let _ = write!(out, " {} {}", snapshot.id, snapshot.name);
            }
            out.push('\n');
        }
        if inode.reference() != Reference::None {
            let _ = writeln!(out, "  {:?}", inode.reference());
        }
        for diff in inode.diffs() {
            let _ = write!(out, "  diff {}", diff.snapshot);
            if let Some(copy) = diff.copy {
                let _ = write!(
                    out,
                    " was {} {}:{} {:?} mtime {} atime {} {:?}",
                    String::from_utf8_lossy(copy.name()),
                    copy.user(),
                    copy.group(),
                    copy.permission(),
                    copy.modification_time(),
                    copy.access_time(),
                    copy.layout(),
                );
                if let Some(quota) = copy.quota() {
                    let _ = write!(out, " {quota:?}");
                }
                for entry in copy.acl() {
                    let _ = write!(out, " {entry:?}");
                }
                for xattr in copy.xattrs() {
                    let _ = write!(out, " {xattr:?}");
                }
            }
            match diff.body {
                DiffBodyView::Directory { child_count, is_root, created, deleted } => {
                    let _ = write!(out, " children {child_count} root {is_root}");
                    for name in created {
                        let _ = write!(out, " +{}", String::from_utf8_lossy(name));
                    }
                    for entry in deleted {
                        let (name, id) = (String::from_utf8_lossy(&entry.name), self.inode(entry.inode).id());
                        let _ = write!(out, " -{name}={id} {:?}", entry.reference);
                    }
                }
                DiffBodyView::File { length, blocks } => {
                    let _ = write!(out, " length {length}");
                    for &block in blocks.unwrap_or_default() {
                        let (form, replication) = (self.block(block), self.blocks.replication(block));
                        let _ = write!(out, " {form}={}/x{replication}", form.num_bytes);
                    }
                }
            }
            out.push('\n');
        }
    }

    fn dump_inode(&self, out: &mut String, inode: InodeView<'_>) {
        let path = self.tables.path_of(inode.handle()).unwrap_or_default();
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
        for entry in inode.acl() {
            let scope = if entry.is_default { "default:" } else { "" };
            let name = entry.name.map_or("", |name| name);
            let _ = write!(out, " acl {scope}{:?}:{name}:{}", entry.kind, entry.permission.0);
        }
        for xattr in inode.xattrs() {
            let _ = write!(out, " xattr {}.{}={}", xattr.namespace, xattr.name, xattr.value.escape_ascii());
        }
        match inode.kind() {
            InodeKind::Directory => {
                let counts = inode.counts();
                if let Some(quota) = inode.quota() {
                    let _ = write!(out, " {quota:?}");
                }
                let _ = write!(
                    out,
                    " dir files {} dirs {} bytes {} space {}",
                    counts.files, counts.directories, counts.length, counts.space
                );
            }
            InodeKind::File => {
                let layout = inode.layout();
                let _ = write!(out, " file {layout:?} length {} space {}", inode.length(), inode.space_consumed());
                for &handle in inode.blocks() {
                    let (block, owner) = (self.block(handle), self.blocks.owner(handle));
                    let replication = self.blocks.replication(handle);
                    let _ = write!(out, " {block}={}/x{replication}", block.num_bytes);
                    if owner != inode.id() {
                        let _ = write!(out, " of {owner}!");
                    }
                }
                if let Some(writer) = inode.under_construction() {
                    let _ = write!(out, " open by {} at {}", writer.client_name, writer.client_machine);
                }
                if let Some(PendingTruncate { to, source }) = self.pending_truncate(inode) {
                    let _ = write!(out, " truncated to {}={}", to.id, to.num_bytes);
                    if let Some(source) = source {
                        let _ = write!(out, " from {source}={}", source.num_bytes);
                    }
                }
            }
            InodeKind::Symlink => {
                let _ = write!(out, " -> {}", String::from_utf8_lossy(inode.symlink_target()));
            }
        }
        out.push('\n');
    }
}
