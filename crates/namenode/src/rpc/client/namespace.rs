//! Names and statuses: getFileInfo, getListing, mkdirs, rename, delete.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::datanode::put;
use crate::safe_mode::What;
use crate::{from_proto, to_proto};
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_proto::hadoop::hdfs::{
    DirectoryListingProto, GetFileInfoRequestProto, GetFileInfoResponseProto, GetListingRequestProto,
    GetListingResponseProto, MkdirsRequestProto, MkdirsResponseProto,
};
use surus_types::HdfsError;

pub(super) fn get_file_info(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetFileInfoRequestProto = call.decode()?;
    let env = core.env(call);
    core.namespace.read().get_file_info(&env, &request.src, |status| {
        put(out, &GetFileInfoResponseProto { fs: status.map(|s| to_proto::file_status(&s)) });
    })
}

pub(super) fn get_listing(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetListingRequestProto = call.decode()?;
    let env = core.env(call);
    let namespace = core.namespace.read();
    let limit = namespace.config.list_limit;
    let mut listing = DirectoryListingProto::default();
    let end =
        namespace.get_listing(&env, &request.src, &request.start_after, request.need_location, limit, |entry| {
            listing.partial_listing.push(to_proto::file_status(&entry.status));
            true
        })?;
    let dir_list = end.map(|end| DirectoryListingProto { remaining_entries: end.remaining, ..listing });
    put(out, &GetListingResponseProto { dir_list });
    Ok(())
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
