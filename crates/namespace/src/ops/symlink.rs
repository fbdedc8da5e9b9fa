//! OP_SYMLINK: logs of NameNodes on which symlinks were on. No request makes one: see `queries::create_symlink`.
//! Source: `FSDirSymlinkOp.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::EditOp;
use crate::tree::NewInode;

/// OP_SYMLINK.
///
/// # Errors
/// The parent is missing, or the name or id is taken.
pub fn apply(namespace: &mut Namespace, op: &EditOp) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_SYMLINK";
    let EditOp::Symlink { inode_id, path, target, mtime, atime, permission, .. } = op else {
        return Err(ApplyError::Unsupported(op.name()));
    };
    let (parent, name) = namespace.apply_lookup_parent(OP, path)?;
    let new = NewInode { id: *inode_id, permission, modification_time: *mtime, access_time: *atime };
    let made = namespace.tree.add_symlink(parent, name, &new, target.as_bytes());
    made.map_err(|error| ApplyError::tree(OP, path, error))?;
    namespace.tree.touch_directory(parent, *mtime);
    namespace.note_inode_id(*inode_id);
    Ok(Applied::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::InodeKind;
    use surus_types::{FsPermission, InodeId, PermissionStatus, RpcIds, TxId};

    #[test]
    fn a_link_counts_as_a_name_and_shows_its_target() {
        let mut namespace = Namespace::default();
        let permission = PermissionStatus { user: "u".into(), group: "g".into(), permission: FsPermission(0o777) };
        let op = EditOp::Symlink {
            inode_id: InodeId(16386),
            path: "/link".into(),
            target: "/there".into(),
            mtime: 5,
            atime: 6,
            permission,
            rpc: RpcIds::NONE,
        };
        namespace.apply(&op, TxId(1)).unwrap();
        let link = namespace.tree.inode(namespace.tree.lookup("/link").unwrap());
        assert_eq!((link.kind(), link.symlink_target()), (InodeKind::Symlink, &b"/there"[..]));
        assert_eq!(namespace.usage(crate::InodeHandle::ROOT).names, 2);
        assert!(namespace.apply(&op, TxId(2)).is_err());
    }
}
