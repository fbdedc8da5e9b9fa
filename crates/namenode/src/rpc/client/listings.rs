//! Listings: one directory, several at once, and the open files.

use super::files::put_part;
use crate::call::Call;
use crate::core::Core;
use crate::rpc::datanode::put;
use prost::Message;
use surus_namespace::{Env, Namespace};
use surus_proto::hadoop::hdfs::{
    BatchedDirectoryListingProto, BatchedListingKeyProto, GetBatchedListingRequestProto,
    GetBatchedListingResponseProto, GetListingRequestProto, ListOpenFilesRequestProto, ListOpenFilesResponseProto,
    OpenFilesBatchResponseProto, RemoteExceptionProto,
};
use surus_types::{ExceptionClass, HdfsError, InodeId};
use surus_wire::encode::put_directory_listing;
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
    let end = put_directory_listing(out, 1, |listing| {
        let end = namespace.get_listing(&env, &request.src, &request.start_after, located, limit, |entry| {
            match entry.inode.filter(|inode| located && inode.is_file()) {
                None => listing.entry(&entry.status),
                Some(file) => {
                    let header = namespace.block_locations_header(file);
                    listing.located_entry(&entry.status, &header, pool_id, |encoder| {
                        namespace.lend_block_locations(&env, file, 0, u64::MAX, &mut |part| put_part(encoder, part));
                    });
                }
            }
            true
        });
        (end.as_ref().ok().and_then(|end| end.map(|end| end.remaining)).unwrap_or(0), end)
    })?;
    if end.is_none() {
        out.truncate(start);
    }
    Ok(())
}

/// Several directories in one answer; what is wrong with one of them stands in its part.
/// Source: `FSNamesystem.getBatchedListing`, Hadoop 3.5.0. Locations are left out: a client that wants them asks for each.
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
        let (part, remaining) = batch_part(&namespace, &env, &paths[index], index as u32, &start_after, room);
        room -= (part.partial_listing.len() as u32).clamp(1, room);
        start_after = part.partial_listing.last().map(|s| s.path.clone()).unwrap_or_default();
        answer.listings.push(part);
        if remaining == 0 {
            index += 1;
            start_after.clear();
        }
    }
    answer.has_more = index < paths.len();
    let key = BatchedListingKeyProto { checksum: checksum(paths), path_index: index as u32, start_after };
    answer.start_after = key.encode_to_vec();
    put(out, &answer);
    Ok(())
}

/// Where a batch goes on.
fn batch_start(request: &GetBatchedListingRequestProto) -> Result<(usize, Vec<u8>), HdfsError> {
    if request.start_after.is_empty() {
        return Ok((0, Vec::new()));
    }
    let bad = |text: &str| HdfsError::new(ExceptionClass::IllegalArgument, text);
    let key = BatchedListingKeyProto::decode(request.start_after.as_slice()).map_err(|_| bad("Bad listing key"))?;
    if key.checksum != checksum(&request.paths) {
        return Err(bad("The listing key does not belong to these paths"));
    }
    Ok((key.path_index as usize, key.start_after))
}

/// Tells one list of paths from another; opaque to clients.
fn checksum(paths: &[String]) -> Vec<u8> {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let bytes = paths.iter().flat_map(|p| p.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, fnv).to_be_bytes().to_vec()
}

fn batch_part(
    namespace: &Namespace,
    env: &Env<'_>,
    path: &str,
    parent_idx: u32,
    start_after: &[u8],
    limit: u32,
) -> (BatchedDirectoryListingProto, u32) {
    let mut part = BatchedDirectoryListingProto { parent_idx, ..Default::default() };
    let end = namespace.get_listing(env, path, start_after, false, limit, |entry| {
        part.partial_listing.push(to_proto::file_status(&entry.status));
        true
    });
    let missing = || HdfsError::file_not_found(format!("Path {path} does not exist"));
    match end.and_then(|end| end.ok_or_else(missing)) {
        Ok(end) => (part, end.remaining),
        Err(error) => {
            let class_name = error.class.java_name().to_owned();
            part.exception = Some(RemoteExceptionProto { class_name, message: Some(error.message) });
            (part, 0)
        }
    }
}

/// In the order of inode ids; the request's id is the last one the client has.
pub(super) fn list_open_files(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ListOpenFilesRequestProto = call.decode()?;
    call.check_superuser("listOpenFiles")?;
    let namespace = core.namespace.read();
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
