//! Listings: one directory, several at once, and the open files.

use super::files::put_part;
use crate::call::Call;
use crate::core::Core;
use crate::rpc::datanode::put;
use prost::Message;
use surus_namespace::{Env, Namespace};
use surus_proto::hadoop::hdfs::{
    BatchedDirectoryListingProto, BatchedListingKeyProto, GetBatchedListingRequestProto,
    GetBatchedListingResponseProto, GetBlockLocationsResponseProto, GetListingRequestProto, ListOpenFilesRequestProto,
    ListOpenFilesResponseProto, OpenFilesBatchResponseProto, OpenFilesTypeProto, RemoteExceptionProto,
};
use surus_types::{ExceptionClass, HdfsError, InodeId};
use surus_wire::encode::{put_directory_listing, put_located_blocks};
use surus_wire::to_proto;

/// Paths in one request. `dfs.batched.ls.limit` in Hadoop 3.5.0.
const BATCHED_PATHS_MAX: usize = 100;
/// Open files in one answer. `dfs.namenode.list.openfiles.num.responses` in Hadoop 3.5.0.
const OPEN_FILES_MAX: usize = 1000;

pub(super) fn get_listing(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetListingRequestProto = call.decode()?;
    let env = core.env(call);
    let namespace = core.namespace.read();
    let limit = namespace.config.list_limit;
    let (located, pool_id) = (request.need_location, core.id.block_pool_id.as_str());
    let start = out.len();
    let mut put = Ok(());
    let end = put_directory_listing(out, 1, |listing| {
        let end = namespace.get_listing(&env, &request.src, &request.start_after, located, limit, |entry| {
            put = match entry.inode.filter(|inode| located && inode.is_file()) {
                None => listing.entry(&entry.status),
                Some(file) => {
                    let header = namespace.block_locations_header(file);
                    listing.located_entry(&entry.status, &header, pool_id, |encoder| {
                        namespace.lend_block_locations(&env, file, 0, u64::MAX, &mut |part| put_part(encoder, part));
                    })
                }
            };
            put.is_ok()
        });
        (end.as_ref().ok().and_then(|end| end.map(|end| end.remaining)).unwrap_or(0), end)
    })?;
    put?;
    if end.is_none() {
        out.truncate(start);
    }
    Ok(())
}

/// Several directories in one answer; what is wrong with one of them stands in its part.
/// Source: `FSNamesystem.getBatchedListing`, Hadoop 3.5.0.
pub(super) fn get_batched_listing(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetBatchedListingRequestProto = call.decode()?;
    let paths = &request.paths;
    if paths.len() > BATCHED_PATHS_MAX {
        let text = format!("Too many source paths ({} > {BATCHED_PATHS_MAX})", paths.len());
        return Err(HdfsError::new(ExceptionClass::IllegalArgument, text));
    }
    let (mut index, mut start_after) = batch_start(&request)?;
    let env = core.env(call);
    let namespace = core.namespace.read();
    let mut room = namespace.config.list_limit;
    let mut answer = GetBatchedListingResponseProto::default();
    while index < paths.len() && room > 0 {
        let part = BatchPart { path: &paths[index], start_after: &start_after, located: request.need_location, room };
        let (part, remaining) = batch_part(core, &namespace, &env, index as u32, &part)?;
        room -= (part.partial_listing.len() as u32).clamp(1, room);
        start_after = part.partial_listing.last().map(|s| s.path.clone()).unwrap_or_default();
        answer.listings.push(part);
        if remaining == 0 {
            index += 1;
            start_after.clear();
        }
    }
    answer.has_more = index < paths.len();
    if answer.has_more {
        let key = BatchedListingKeyProto { checksum: checksum(paths), path_index: index as u32, start_after };
        answer.start_after = key.encode_to_vec();
    }
    put(out, &answer);
    Ok(())
}

/// Where a batch goes on.
fn batch_start(request: &GetBatchedListingRequestProto) -> Result<(usize, Vec<u8>), HdfsError> {
    if request.start_after.is_empty() {
        return Ok((0, Vec::new()));
    }
    let key: BatchedListingKeyProto = surus_wire::required::decode(&request.start_after)?;
    if key.checksum != checksum(&request.paths) {
        let text = "The listing key does not belong to these paths";
        return Err(HdfsError::new(ExceptionClass::IllegalArgument, text));
    }
    Ok((key.path_index as usize, key.start_after))
}

/// Tells one list of paths from another; opaque to clients.
fn checksum(paths: &[String]) -> Vec<u8> {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let bytes = paths.iter().flat_map(|p| p.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, fnv).to_be_bytes().to_vec()
}

/// One directory of a batch, or the rest of it.
struct BatchPart<'a> {
    path: &'a str,
    start_after: &'a [u8],
    located: bool,
    room: u32,
}

fn batch_part(
    core: &Core,
    namespace: &Namespace,
    env: &Env<'_>,
    parent_idx: u32,
    wanted: &BatchPart<'_>,
) -> Result<(BatchedDirectoryListingProto, u32), HdfsError> {
    let BatchPart { path, start_after, located, room } = *wanted;
    let mut part = BatchedDirectoryListingProto { parent_idx, ..Default::default() };
    let pool_id = core.id.block_pool_id.as_str();
    let mut put = Ok(());
    let end = namespace.get_listing(env, path, start_after, located, room, |entry| {
        let encoded = to_proto::file_status(&entry.status).and_then(|mut status| {
            if let Some(inode) = entry.inode.filter(|inode| located && inode.is_file()) {
                let header = namespace.block_locations_header(inode);
                let mut locations = Vec::new();
                put_located_blocks(&mut locations, 1, &header, pool_id, |encoder| {
                    namespace.lend_block_locations(env, inode, 0, u64::MAX, &mut |part| put_part(encoder, part));
                })?;
                // The encoder writes a field; the one of the status is the same message.
                status.locations =
                    GetBlockLocationsResponseProto::decode(&*locations).ok().and_then(|located| located.locations);
            }
            Ok(status)
        });
        put = encoded.map(|status| part.partial_listing.push(status));
        put.is_ok()
    });
    let missing = || HdfsError::file_not_found(format!("Path {path} does not exist"));
    match put.and(end).and_then(|end| end.ok_or_else(missing)) {
        Ok(end) => Ok((part, end.remaining)),
        // A path that is none fails the call.
        Err(error) if error.class == ExceptionClass::Assertion => Err(error),
        Err(error) => {
            let class_name = error.class.java_name().to_owned();
            part.exception = Some(RemoteExceptionProto { class_name, message: Some(error.message) });
            Ok((part, 0))
        }
    }
}

/// In the order of inode ids; the request's id is the last one the client has.
pub(super) fn list_open_files(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ListOpenFilesRequestProto = call.decode()?;
    call.check_superuser("listOpenFiles")?;
    let kinds: Vec<OpenFilesTypeProto> =
        request.types.iter().filter_map(|kind| OpenFilesTypeProto::try_from(*kind).ok()).collect();
    if kinds.is_empty() && !request.types.is_empty() {
        return Err(HdfsError::new(ExceptionClass::IllegalArgument, "Unknown OpenFileType: []"));
    }
    if !request.path().starts_with('/') {
        let text = format!("Absolute path required, but got '{}'", request.path());
        return Err(HdfsError::new(ExceptionClass::Assertion, text));
    }
    let namespace = core.namespace.read();
    if !kinds.contains(&OpenFilesTypeProto::AllOpenFiles) && !kinds.is_empty() {
        // No DataNode's decommission waits for an open file.
        put(out, &ListOpenFilesResponseProto { types: request.types, ..Default::default() });
        return Ok(());
    }
    let from = InodeId(u64::try_from(request.id).unwrap_or(0) + 1);
    let prefix = request.path().trim_end_matches('/');
    let mut answer = ListOpenFilesResponseProto { types: request.types.clone(), ..Default::default() };
    for (id, holder) in namespace.leases.open_files(from) {
        let Some(handle) = namespace.tree.get(id) else { continue };
        let Some(path) = namespace.tree.path_of(handle) else { continue };
        if !path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            continue;
        }
        if answer.entries.len() == OPEN_FILES_MAX {
            answer.has_more = true;
            break;
        }
        let machine = namespace.tree.inode(handle).under_construction().map(|uc| uc.client_machine.to_string());
        answer.entries.push(OpenFilesBatchResponseProto {
            id: id.0 as i64,
            path,
            client_name: holder.to_string(),
            client_machine: machine.unwrap_or_default(),
        });
    }
    put(out, &answer);
    Ok(())
}
