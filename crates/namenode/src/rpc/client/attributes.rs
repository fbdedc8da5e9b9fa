//! Access control lists and extended attributes.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::client::encryption::check_attribute;
use crate::rpc::datanode::put;
use crate::safe_mode::What;
use prost::Message;
use surus_namespace::edit_op::{AclEntry, XAttr};
use surus_namespace::ops::change_acl::ChangeAcl;
use surus_namespace::ops::remove_xattr::RemoveXAttr;
use surus_namespace::ops::set_xattr::SetXAttr;
use surus_namespace::tree::XAttrView;
use surus_proto::hadoop::hdfs::{
    AclEntryProto, AclStatusProto, FsPermissionProto, GetAclStatusRequestProto, GetAclStatusResponseProto,
    GetXAttrsRequestProto, GetXAttrsResponseProto, ListXAttrsRequestProto, ListXAttrsResponseProto,
    ModifyAclEntriesRequestProto, ModifyAclEntriesResponseProto, RemoveAclEntriesRequestProto,
    RemoveAclEntriesResponseProto, RemoveAclRequestProto, RemoveAclResponseProto, RemoveDefaultAclRequestProto,
    RemoveDefaultAclResponseProto, RemoveXAttrRequestProto, RemoveXAttrResponseProto, SetAclRequestProto,
    SetAclResponseProto, SetXAttrRequestProto, SetXAttrResponseProto, XAttrProto,
};
use surus_types::{AclChange, FsPermission, HdfsError};
use surus_wire::from_proto;

fn acl_spec(entries: &[AclEntryProto]) -> Vec<AclEntry> {
    entries.iter().map(from_proto::acl_entry).collect()
}

/// The first words of the refusal in safe mode.
pub(crate) fn acl_verb(change: AclChange<'_>) -> &'static str {
    match change {
        AclChange::Modify(_) => "Cannot modify ACL entries on ",
        AclChange::RemoveEntries(_) => "Cannot remove ACL entries on ",
        AclChange::RemoveDefault => "Cannot remove default ACL entries on ",
        AclChange::Remove => "Cannot remove ACL on ",
        AclChange::Set(_) => "Cannot set ACL on ",
    }
}

fn change_acl(
    core: &Core,
    call: &Call<'_>,
    src: &str,
    change: AclChange<'_>,
    response: &impl Message,
    out: &mut Vec<u8>,
) -> Result<Done, Refused> {
    let what = What(acl_verb(change), src);
    core.write(call, what, &ChangeAcl { src, change }, |_, ()| put(out, response))
}

pub(super) fn modify_acl_entries(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: ModifyAclEntriesRequestProto = call.decode()?;
    let spec = acl_spec(&request.acl_spec);
    change_acl(core, call, &request.src, AclChange::Modify(&spec), &ModifyAclEntriesResponseProto {}, out)
}

pub(super) fn remove_acl_entries(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RemoveAclEntriesRequestProto = call.decode()?;
    let spec = acl_spec(&request.acl_spec);
    change_acl(core, call, &request.src, AclChange::RemoveEntries(&spec), &RemoveAclEntriesResponseProto {}, out)
}

pub(super) fn remove_default_acl(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RemoveDefaultAclRequestProto = call.decode()?;
    change_acl(core, call, &request.src, AclChange::RemoveDefault, &RemoveDefaultAclResponseProto {}, out)
}

pub(super) fn remove_acl(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RemoveAclRequestProto = call.decode()?;
    change_acl(core, call, &request.src, AclChange::Remove, &RemoveAclResponseProto {}, out)
}

pub(super) fn set_acl(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: SetAclRequestProto = call.decode()?;
    let spec = acl_spec(&request.acl_spec);
    change_acl(core, call, &request.src, AclChange::Set(&spec), &SetAclResponseProto {}, out)
}

pub(super) fn get_acl_status(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetAclStatusRequestProto = call.decode()?;
    let (env, namespace) = (core.env(call), core.namespace.read());
    let status = namespace.get_acl_status(&env, &request.src)?;
    let entry = |entry: surus_namespace::tree::AclEntryView<'_>| AclEntryProto {
        r#type: entry.kind as i32,
        scope: i32::from(entry.is_default),
        permissions: i32::from(entry.permission.0),
        name: entry.name.map(|name| name.to_string()),
    };
    let result = AclStatusProto {
        owner: status.owner.to_owned(),
        group: status.group.to_owned(),
        sticky: status.permission.is_some_and(FsPermission::is_sticky),
        entries: status.entries.map(entry).collect(),
        permission: status.permission.map(|permission| FsPermissionProto { perm: u32::from(permission.0) }),
    };
    put(out, &GetAclStatusResponseProto { result });
    Ok(())
}

fn to_proto(xattrs: &[XAttrView<'_>]) -> Vec<XAttrProto> {
    let proto = |x: &XAttrView<'_>| XAttrProto {
        namespace: i32::from(x.namespace),
        name: x.name.to_owned(),
        value: (!x.value.is_empty()).then(|| x.value.to_vec()),
    };
    xattrs.iter().map(proto).collect()
}

pub(super) fn set_xattr(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: SetXAttrRequestProto = call.decode()?;
    let xattr = from_proto::xattr(request.x_attr.unwrap_or_default());
    check_attribute(&xattr)?;
    let operation = SetXAttr { src: &request.src, xattr: &xattr, flags: request.flag.unwrap_or(0) };
    core.write(call, What("Cannot set XAttr on ", &request.src), &operation, |_, ()| {
        put(out, &SetXAttrResponseProto {})
    })
}

pub(super) fn remove_xattr(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RemoveXAttrRequestProto = call.decode()?;
    let xattr = from_proto::xattr(request.x_attr.unwrap_or_default());
    let operation = RemoveXAttr { src: &request.src, xattr: &xattr };
    let what = What("Cannot remove XAttr entry on ", &request.src);
    core.write(call, what, &operation, |_, ()| put(out, &RemoveXAttrResponseProto {}))
}

pub(super) fn get_xattrs(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetXAttrsRequestProto = call.decode()?;
    let names: Vec<XAttr> = request.x_attrs.into_iter().map(from_proto::xattr).collect();
    let (env, namespace) = (core.env(call), core.namespace.read());
    let x_attrs = to_proto(&namespace.get_xattrs(&env, &request.src, &names)?);
    put(out, &GetXAttrsResponseProto { x_attrs });
    Ok(())
}

pub(super) fn list_xattrs(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ListXAttrsRequestProto = call.decode()?;
    let (env, namespace) = (core.env(call), core.namespace.read());
    let x_attrs = to_proto(&namespace.list_xattrs(&env, &request.src)?);
    put(out, &ListXAttrsResponseProto { x_attrs });
    Ok(())
}
