//! WebHDFS operations on access control lists and extended attributes.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::client::attributes::acl_verb;
use crate::rpc::client::encryption::check_attribute;
use crate::safe_mode::What;
use surus_namespace::ops::change_acl::{AclChange, ChangeAcl};
use surus_namespace::ops::remove_xattr::RemoveXAttr;
use surus_namespace::ops::set_xattr::SetXAttr;
use surus_namespace::tree::{AclEntryView, XAttrView};
use surus_namespace::xattr::prefixed;
use surus_namespace::{Env, Namespace};
use surus_types::HdfsError;
use surus_webhdfs::{Operation, json};

/// Answers one of these operations; `None`: it is none of them.
pub fn read(
    namespace: &Namespace,
    env: &Env<'_>,
    src: &str,
    operation: &Operation,
) -> Option<Result<Vec<u8>, HdfsError>> {
    let mut out = Vec::new();
    let name = |x: &XAttrView<'_>| prefixed(x.namespace, x.name);
    let result = match operation {
        Operation::GetAclStatus => namespace.get_acl_status(env, src).map(|status| {
            let entries = status.entries.map(AclEntryView::to_entry);
            json::acl_status(&mut out, status.owner, status.group, status.permission, entries);
        }),
        Operation::GetXAttrs { names, codec } => namespace.get_xattrs(env, src, names).map(|found| {
            json::xattrs(&mut out, *codec, found.iter().map(|x| (name(x), x.value)));
        }),
        Operation::ListXAttrs => namespace.list_xattrs(env, src).map(|found| {
            json::xattr_names(&mut out, found.iter().map(name));
        }),
        _ => return None,
    };
    Some(result.map(|()| out))
}

/// Executes one of these operations; `None`: it is none of them.
pub fn write(core: &Core, call: &Call<'_>, src: &str, operation: &Operation) -> Option<Result<Done, Refused>> {
    if let Some(change) = acl_change(operation) {
        let operation = ChangeAcl { src, change };
        return Some(core.write(call, What(acl_verb(change), src), &operation, |_, ()| {}));
    }
    Some(match operation {
        Operation::SetXAttr { xattr, flags } => {
            let operation = SetXAttr { src, xattr, flags: *flags };
            if let Err(error) = check_attribute(xattr) {
                return Some(Err(error.into()));
            }
            core.write(call, What("Cannot set XAttr on ", src), &operation, |_, ()| {})
        }
        Operation::RemoveXAttr { xattr } => {
            let operation = RemoveXAttr { src, xattr };
            core.write(call, What("Cannot remove XAttr entry on ", src), &operation, |_, ()| {})
        }
        _ => return None,
    })
}

fn acl_change(operation: &Operation) -> Option<AclChange<'_>> {
    Some(match operation {
        Operation::ModifyAclEntries { entries } => AclChange::Modify(entries),
        Operation::RemoveAclEntries { entries } => AclChange::RemoveEntries(entries),
        Operation::RemoveDefaultAcl => AclChange::RemoveDefault,
        Operation::RemoveAcl => AclChange::Remove,
        Operation::SetAcl { entries } => AclChange::Set(entries),
        _ => return None,
    })
}

/// Name and form of the audit log's line.
pub fn audited(operation: &Operation) -> Option<(&'static str, bool)> {
    if let Some(change) = acl_change(operation) {
        return Some((change.operation(), true));
    }
    Some(match operation {
        Operation::GetAclStatus => ("getAclStatus", false),
        Operation::GetXAttrs { .. } => ("getXAttrs", false),
        Operation::ListXAttrs => ("listXAttrs", false),
        Operation::SetXAttr { .. } => ("setXAttr", true),
        Operation::RemoveXAttr { .. } => ("removeXAttr", true),
        _ => return None,
    })
}
