//! Calls for snapshots, access control lists and extended attributes.

use crate::client::DfsClient;
use crate::error::Result;
use crate::namenode::Repeat::{AtMostOnce, Idempotent};
use surus_proto::hadoop::hdfs as proto;

pub use proto::acl_entry_proto::{AclEntryScopeProto as AclScope, AclEntryTypeProto as AclType};
pub use proto::x_attr_proto::XAttrNamespaceProto as XAttrNamespace;
pub use proto::{AclEntryProto as AclEntry, AclStatusProto as AclStatus, XAttrProto as XAttr};

/// What is done to an access control list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AclChange {
    Modify,
    Remove,
    /// Replaces the whole list.
    Set,
    RemoveDefault,
    RemoveAll,
}

impl DfsClient {
    /// The path of the new snapshot; without a name the NameNode makes one of the time.
    pub fn create_snapshot(&self, root: &str, name: Option<&str>) -> Result<String> {
        let request =
            proto::CreateSnapshotRequestProto { snapshot_root: root.into(), snapshot_name: name.map(Into::into) };
        let answer: proto::CreateSnapshotResponseProto = self.call("createSnapshot", AtMostOnce, &request)?;
        Ok(answer.snapshot_path)
    }

    pub fn delete_snapshot(&self, root: &str, name: &str) -> Result<()> {
        let request = proto::DeleteSnapshotRequestProto { snapshot_root: root.into(), snapshot_name: name.into() };
        let _: proto::DeleteSnapshotResponseProto = self.call("deleteSnapshot", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn rename_snapshot(&self, root: &str, old: &str, new: &str) -> Result<()> {
        let request = proto::RenameSnapshotRequestProto {
            snapshot_root: root.into(),
            snapshot_old_name: old.into(),
            snapshot_new_name: new.into(),
        };
        let _: proto::RenameSnapshotResponseProto = self.call("renameSnapshot", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn get_acl_status(&self, src: &str) -> Result<AclStatus> {
        let answer: proto::GetAclStatusResponseProto =
            self.call("getAclStatus", Idempotent, &proto::GetAclStatusRequestProto { src: src.into() })?;
        Ok(answer.result)
    }

    pub fn change_acl(&self, src: &str, change: AclChange, entries: &[AclEntry]) -> Result<()> {
        let (src, acl_spec) = (src.to_string(), entries.to_vec());
        match change {
            AclChange::Modify => {
                let request = proto::ModifyAclEntriesRequestProto { src, acl_spec };
                let _: proto::ModifyAclEntriesResponseProto = self.call("modifyAclEntries", Idempotent, &request)?;
            }
            AclChange::Remove => {
                let request = proto::RemoveAclEntriesRequestProto { src, acl_spec };
                let _: proto::RemoveAclEntriesResponseProto = self.call("removeAclEntries", Idempotent, &request)?;
            }
            AclChange::Set => {
                let request = proto::SetAclRequestProto { src, acl_spec };
                let _: proto::SetAclResponseProto = self.call("setAcl", Idempotent, &request)?;
            }
            AclChange::RemoveDefault => {
                let request = proto::RemoveDefaultAclRequestProto { src };
                let _: proto::RemoveDefaultAclResponseProto = self.call("removeDefaultAcl", Idempotent, &request)?;
            }
            AclChange::RemoveAll => {
                let request = proto::RemoveAclRequestProto { src };
                let _: proto::RemoveAclResponseProto = self.call("removeAcl", Idempotent, &request)?;
            }
        }
        Ok(())
    }

    /// Those with these names, or all that the caller may see.
    pub fn get_xattrs(&self, src: &str, names: &[XAttr]) -> Result<Vec<XAttr>> {
        let request = proto::GetXAttrsRequestProto { src: src.into(), x_attrs: names.to_vec() };
        let answer: proto::GetXAttrsResponseProto = self.call("getXAttrs", Idempotent, &request)?;
        Ok(answer.x_attrs)
    }

    /// Sets an attribute, whether it is there or not.
    pub fn set_xattr(&self, src: &str, attribute: XAttr) -> Result<()> {
        use proto::XAttrSetFlagProto as Flag;
        let flag = Flag::XattrCreate as u32 | Flag::XattrReplace as u32;
        let request = proto::SetXAttrRequestProto { src: src.into(), x_attr: Some(attribute), flag: Some(flag) };
        let _: proto::SetXAttrResponseProto = self.call("setXAttr", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn remove_xattr(&self, src: &str, name: XAttr) -> Result<()> {
        let request = proto::RemoveXAttrRequestProto { src: src.into(), x_attr: Some(name) };
        let _: proto::RemoveXAttrResponseProto = self.call("removeXAttr", AtMostOnce, &request)?;
        Ok(())
    }
}
