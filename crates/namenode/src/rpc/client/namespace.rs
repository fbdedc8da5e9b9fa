//! Names and statuses: what is where, whose it is, and how it moves.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::datanode::put;
use crate::safe_mode::What;
use crate::walks;
use surus_namespace::edit_op::RenameOptions;
use surus_namespace::ops::concat::Concat;
use surus_namespace::ops::delete::Delete;
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::rename::{Rename, Rename2};
use surus_namespace::ops::set_owner::SetOwner;
use surus_namespace::ops::set_permission::SetPermission;
use surus_namespace::ops::set_times::SetTimes;
use surus_namespace::resolve::{PATH_LENGTH_MAX, check_path_length};
use surus_proto::hadoop::hdfs::{
    CheckAccessRequestProto, CheckAccessResponseProto, ConcatRequestProto, ConcatResponseProto,
    CreateSymlinkRequestProto, DeleteRequestProto, DeleteResponseProto, GetContentSummaryRequestProto,
    GetContentSummaryResponseProto, GetFileInfoRequestProto, GetFileLinkInfoRequestProto, GetLinkTargetRequestProto,
    GetLinkTargetResponseProto, GetPreferredBlockSizeRequestProto, GetPreferredBlockSizeResponseProto,
    GetQuotaUsageRequestProto, GetQuotaUsageResponseProto, IsFileClosedRequestProto, IsFileClosedResponseProto,
    MkdirsRequestProto, MkdirsResponseProto, Rename2RequestProto, Rename2ResponseProto, RenameRequestProto,
    RenameResponseProto, RenewLeaseRequestProto, RenewLeaseResponseProto, SetOwnerRequestProto, SetOwnerResponseProto,
    SetPermissionRequestProto, SetPermissionResponseProto, SetTimesRequestProto, SetTimesResponseProto,
};
use surus_types::{ExceptionClass, FsAction, HdfsError};
use surus_wire::encode::put_file_status;
use surus_wire::{from_proto, to_proto};

pub(super) fn get_file_info(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetFileInfoRequestProto = call.decode()?;
    let env = core.env(call);
    core.namespace.read().get_file_info(&env, &request.src, |status| match status {
        Some(status) => put_file_status(out, 1, &status),
        None => Ok(()),
    })?
}

pub(super) fn get_file_link_info(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetFileLinkInfoRequestProto = call.decode()?;
    let env = core.env(call);
    core.namespace.read().get_file_link_info(&env, &request.src, |status| match status {
        Some(status) => put_file_status(out, 1, &status),
        None => Ok(()),
    })?
}

pub(super) fn mkdirs(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: MkdirsRequestProto = call.decode()?;
    let operation = Mkdirs {
        src: &request.src,
        permission: from_proto::permission(&request.masked),
        unmasked: request.unmasked.as_ref().map(from_proto::permission),
        create_parent: request.create_parent,
    };
    core.write(call, What("Cannot create directory ", &request.src), &operation, |_, result| {
        put(out, &MkdirsResponseProto { result: *result });
    })
}

pub(super) fn rename(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RenameRequestProto = call.decode()?;
    let operation = Rename { src: &request.src, dst: &request.dst };
    let mut renamed = false;
    let done = core.write(call, What("Cannot rename ", &request.src), &operation, |_, result| {
        renamed = *result;
        put(out, &RenameResponseProto { result: renamed });
    })?;
    Ok(Done { keep: renamed, ..done })
}

pub(super) fn rename2(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: Rename2RequestProto = call.decode()?;
    let options = RenameOptions { overwrite: request.overwrite_dest, to_trash: request.move_to_trash() };
    let operation = Rename2 { src: &request.src, dst: &request.dst, options };
    walks::rename(core, call, &request.src, &operation, |_, ()| put(out, &Rename2ResponseProto {}))
}

pub(super) fn delete(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: DeleteRequestProto = call.decode()?;
    let operation = Delete { src: &request.src, recursive: request.recursive };
    let mut deleted = false;
    let below = walks::Below::delete(&request.src);
    let what = What("Cannot delete ", &request.src);
    let done = core.write_below(call, what, &operation, below, |_, result| {
        deleted = *result;
        put(out, &DeleteResponseProto { result: deleted });
    })?;
    Ok(Done { keep: deleted, ..done })
}

pub(super) fn set_permission(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: SetPermissionRequestProto = call.decode()?;
    let operation = SetPermission { src: &request.src, permission: from_proto::permission(&request.permission) };
    let what = What("Cannot set permission for ", &request.src);
    core.write(call, what, &operation, |_, ()| put(out, &SetPermissionResponseProto {}))
}

pub(super) fn set_owner(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: SetOwnerRequestProto = call.decode()?;
    let given = |name: &'_ Option<String>| name.clone().filter(|n| !n.is_empty());
    let (user, group) = (given(&request.username), given(&request.groupname));
    let operation = SetOwner { src: &request.src, user: user.as_deref(), group: group.as_deref() };
    let what = What("Cannot set owner for ", &request.src);
    core.write(call, what, &operation, |_, ()| put(out, &SetOwnerResponseProto {}))
}

pub(super) fn set_times(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: SetTimesRequestProto = call.decode()?;
    let operation =
        SetTimes { src: &request.src, modification_time: request.mtime as i64, access_time: request.atime as i64 };
    let what = What("Cannot set times ", &request.src);
    core.write(call, what, &operation, |_, ()| put(out, &SetTimesResponseProto {}))
}

pub(super) fn get_content_summary(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetContentSummaryRequestProto = call.decode()?;
    let summary = core.totals(call, &request.path, false)?;
    put(out, &GetContentSummaryResponseProto { summary: to_proto::content_summary(&summary) });
    Ok(())
}

pub(super) fn get_quota_usage(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetQuotaUsageRequestProto = call.decode()?;
    let summary = core.totals(call, &request.path, true)?;
    put(out, &GetQuotaUsageResponseProto { usage: to_proto::quota_usage(&summary) });
    Ok(())
}

pub(super) fn get_preferred_block_size(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetPreferredBlockSizeRequestProto = call.decode()?;
    let bsize = core.namespace.read().get_preferred_block_size(&core.env(call), &request.filename)?;
    put(out, &GetPreferredBlockSizeResponseProto { bsize });
    Ok(())
}

pub(super) fn is_file_closed(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: IsFileClosedRequestProto = call.decode()?;
    let result = core.namespace.read().is_file_closed(&core.env(call), &request.src)?;
    put(out, &IsFileClosedResponseProto { result });
    Ok(())
}

pub(super) fn check_access(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: CheckAccessRequestProto = call.decode()?;
    let action = FsAction((request.mode & 7) as u8);
    core.namespace.read().check_access_of(&core.env(call), &request.path, action)?;
    put(out, &CheckAccessResponseProto {});
    Ok(())
}

pub(super) fn get_link_target(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetLinkTargetRequestProto = call.decode()?;
    let target = core.namespace.read().get_link_target(&core.env(call), &request.path)?;
    let target_path = Some(String::from_utf8_lossy(&target).into_owned());
    put(out, &GetLinkTargetResponseProto { target_path });
    Ok(())
}

pub(super) fn create_symlink(core: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: CreateSymlinkRequestProto = call.decode()?;
    check_path_length("createSymlink", &request.link).map_err(|refused| match refused.class {
        ExceptionClass::Io => HdfsError::io(format!("Symlink path exceeds {PATH_LENGTH_MAX} character limit")),
        _ => refused,
    })?;
    Err(core.namespace.read().create_symlink())
}

pub(super) fn concat(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: ConcatRequestProto = call.decode()?;
    let sources: Vec<&str> = request.srcs.iter().map(String::as_str).collect();
    let operation = Concat { target: &request.trg, sources: &sources };
    core.write(call, What("Cannot concat ", &request.trg), &operation, |_, ()| put(out, &ConcatResponseProto {}))
}

/// Soft state: nothing is logged.
pub(super) fn renew_lease(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: RenewLeaseRequestProto = call.decode()?;
    let namespaces: Vec<&str> = request.namespaces.iter().map(String::as_str).collect();
    let mut namespace = core.namespace.write();
    core.check_safe_mode(&namespace, What("Cannot renew lease for ", &request.client_name))?;
    namespace.renew_lease(&request.client_name, &namespaces, core.clock.monotonic_ms())?;
    put(out, &RenewLeaseResponseProto {});
    Ok(())
}
