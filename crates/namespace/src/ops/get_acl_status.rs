//! getAclStatus: owner, group, mode, and the entries of the ACL that the mode does not hold.
//! Source: `FSDirAclOp.getAclStatus`, Hadoop 3.5.0.

use crate::Namespace;
use crate::plan::Env;
use crate::resolve::DirOp;
use crate::tree::Acl;
use surus_types::{FsPermission, HdfsError};

/// What a visitor is lent.
pub struct AclStatus<'a> {
    pub owner: &'a str,
    pub group: &'a str,
    /// `.snapshot` has none.
    pub permission: Option<FsPermission>,
    pub entries: Acl<'a>,
}

impl Namespace {
    /// The ACL of `src`; everybody who may walk there may ask.
    ///
    /// # Errors
    /// ACLs are off; the path does not exist.
    pub fn get_acl_status(&self, env: &Env<'_>, src: &str) -> Result<AclStatus<'_>, HdfsError> {
        self.check_acls_enabled()?;
        let path = self.resolve(env, src, DirOp::Read)?;
        if path.dot_snapshot.is_some() {
            return Ok(AclStatus { owner: "", group: "", permission: None, entries: self.tree.no_acl() });
        }
        let inode = self.shown(&path, self.existing(&path, "cannot find ")?);
        let (owner, group) = (inode.user(), inode.group());
        Ok(AclStatus { owner, group, permission: Some(inode.permission()), entries: inode.acl() })
    }
}
