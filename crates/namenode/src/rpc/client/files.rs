//! The data path: opening, writing, closing and reading files, leases, and the recovery of pipelines.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::client::encryption::FileKey;
use crate::rpc::datanode::put;
use surus_namespace::ops::BlockLocation;
use surus_namespace::ops::abandon_block::AbandonBlock;
use surus_namespace::ops::add_block::AddBlock;
use surus_namespace::ops::append::Append;
use surus_namespace::ops::complete::Complete;
use surus_namespace::ops::create::{Create, NewFileKey, flag};
use surus_namespace::ops::fsync::Fsync;
use surus_namespace::ops::get_block_locations::{BlockLocationsPart, GetBlockLocations};
use surus_namespace::ops::pipeline::{GetAdditionalDatanode, UpdateBlockForPipeline, UpdatePipeline};
use surus_namespace::ops::recover_lease::RecoverLease;
use surus_namespace::ops::set_replication::SetReplication;
use surus_namespace::ops::truncate::Truncate;
use surus_namespace::resolve::is_reserved_raw;
use surus_namespace::{DirOp, Env, InodeView, Namespace};
use surus_proto::hadoop::hdfs::{
    AbandonBlockRequestProto, AbandonBlockResponseProto, AddBlockRequestProto, AppendRequestProto,
    CompleteRequestProto, CompleteResponseProto, CreateRequestProto, DatanodeIdProto, DatanodeInfoProto,
    ExtendedBlockProto, FsyncRequestProto, FsyncResponseProto, GetAdditionalDatanodeRequestProto,
    GetBlockLocationsRequestProto, GetLocatedFileInfoRequestProto, RecoverLeaseRequestProto, RecoverLeaseResponseProto,
    SetReplicationRequestProto, SetReplicationResponseProto, TruncateRequestProto, TruncateResponseProto,
    UpdateBlockForPipelineRequestProto, UpdatePipelineRequestProto, UpdatePipelineResponseProto,
};
use surus_types::{Block, FsAction, HdfsError, InodeId};
use surus_wire::encode::{LocatedBlocksEncoder, put_file_status, put_located_block, put_located_blocks};
use surus_wire::{encode, from_proto};

fn optional_block(block: &Option<ExtendedBlockProto>) -> Option<Block> {
    block.as_ref().map(from_proto::extended_block_inner)
}

fn uuids(datanodes: &[DatanodeInfoProto]) -> Vec<&str> {
    datanodes.iter().map(|d| d.id.datanode_uuid.as_str()).collect()
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// The only field of an answer that holds a block.
fn put_block(core: &Core, namespace: &Namespace, field: u32, location: &BlockLocation, out: &mut Vec<u8>) {
    location.lend(namespace, |block| put_located_block(out, field, &core.id.block_pool_id, &block));
}

/// The answer's status of the file that was opened as `src`.
fn put_status(namespace: &Namespace, field: u32, src: &str, id: InodeId, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let Some(handle) = namespace.tree.get(id) else { return Ok(()) };
    put_file_status(out, field, &namespace.tree.inode(handle).raw(is_reserved_raw(src)).status(b""))
}

pub(super) fn create(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: CreateRequestProto = call.decode()?;
    let key = FileKey::make(core, call, &request.src, &request.crypto_protocol_version)?;
    let operation = Create {
        src: &request.src,
        permission: from_proto::permission(&request.masked),
        unmasked: request.unmasked.as_ref().map(from_proto::permission),
        client_name: &request.client_name,
        flags: request.create_flag,
        create_parent: request.create_parent,
        replication: request.replication,
        block_size: request.block_size,
        ec_policy_name: request.ec_policy_name(),
        storage_policy: request.storage_policy(),
        encryption: key.as_ref().map(|key| NewFileKey { zone: key.zone, info: &key.info }),
    };
    let mut encoded = Ok(());
    let done = core.write_if(call, None, &operation, |namespace, reply| {
        encoded = put_status(namespace, 1, &request.src, reply.inode_id, out);
    })?;
    encoded?;
    Ok(done)
}

pub(super) fn append(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: AppendRequestProto = call.decode()?;
    let new_block = request.flag() & flag::NEW_BLOCK != 0;
    let operation = Append { src: &request.src, client_name: &request.client_name, new_block };
    let mut encoded = Ok(());
    let done = core.write_if(call, None, &operation, |namespace, reply| {
        if let Some(location) = &reply.last_block {
            put_block(core, namespace, 1, location, out);
        }
        encoded = put_status(namespace, 2, &request.src, reply.inode_id, out);
    })?;
    encoded?;
    Ok(done)
}

pub(super) fn add_block(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: AddBlockRequestProto = call.decode()?;
    let operation = AddBlock {
        src: &request.src,
        client_name: &request.client_name,
        previous: optional_block(&request.previous),
        excluded: &uuids(&request.exclude_nodes),
        file_id: InodeId(request.file_id()),
        favored: &texts(&request.favored_nodes),
        flags: request.flags.iter().fold(0, |bits, flag| bits | *flag as u32),
    };
    core.write_if(call, None, &operation, |namespace, location| put_block(core, namespace, 1, location, out))
}

/// "No" only after the call has waited for the last block's reports: Java's client would sleep 400 ms after it.
pub(super) fn complete(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: CompleteRequestProto = call.decode()?;
    let operation = Complete {
        src: &request.src,
        client_name: &request.client_name,
        last: optional_block(&request.last),
        file_id: InodeId(request.file_id()),
    };
    let mut answer = |result| put(out, &CompleteResponseProto { result });
    match core.write_if(call, None, &operation, |_, result| answer(*result)) {
        Err(Refused::Park { .. }) if call.waited => {
            answer(false);
            Ok(Done { txid: core.last_txid(), keep: false })
        }
        result => result,
    }
}

pub(super) fn abandon_block(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: AbandonBlockRequestProto = call.decode()?;
    let operation = AbandonBlock {
        block: from_proto::extended_block_inner(&request.b),
        file_id: InodeId(request.file_id()),
        src: &request.src,
        holder: &request.holder,
    };
    core.write_if(call, None, &operation, |_, ()| put(out, &AbandonBlockResponseProto {}))
}

pub(super) fn fsync(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: FsyncRequestProto = call.decode()?;
    let operation = Fsync {
        src: &request.src,
        client_name: &request.client,
        last_block_length: request.last_block_length(),
        file_id: InodeId(request.file_id()),
    };
    core.write_if(call, None, &operation, |_, ()| put(out, &FsyncResponseProto {}))
}

pub(super) fn update_block_for_pipeline(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: UpdateBlockForPipelineRequestProto = call.decode()?;
    let block = from_proto::extended_block_inner(&request.block);
    let operation = UpdateBlockForPipeline { block, client_name: &request.client_name };
    core.write_if(call, None, &operation, |namespace, location| put_block(core, namespace, 1, location, out))
}

pub(super) fn update_pipeline(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: UpdatePipelineRequestProto = call.decode()?;
    let uuid = |id: &'_ DatanodeIdProto| id.datanode_uuid.clone();
    let datanodes: Vec<String> = request.new_nodes.iter().map(uuid).collect();
    let operation = UpdatePipeline {
        client_name: &request.client_name,
        old: from_proto::extended_block_inner(&request.old_block),
        new: from_proto::extended_block_inner(&request.new_block),
        datanodes: &texts(&datanodes),
        storages: &texts(&request.storage_i_ds),
    };
    core.write_if(call, None, &operation, |_, ()| put(out, &UpdatePipelineResponseProto {}))
}

pub(super) fn get_additional_datanode(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: GetAdditionalDatanodeRequestProto = call.decode()?;
    let operation = GetAdditionalDatanode {
        src: &request.src,
        file_id: InodeId(request.file_id()),
        block: from_proto::extended_block_inner(&request.blk),
        existing: &uuids(&request.existings),
        existing_storages: &texts(&request.existing_storage_uuids),
        excluded: &uuids(&request.excludes),
        wanted: request.num_additional_nodes,
        client_name: &request.client_name,
    };
    core.write_if(call, None, &operation, |namespace, location| put_block(core, namespace, 1, location, out))
}

pub(super) fn recover_lease(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: RecoverLeaseRequestProto = call.decode()?;
    let operation = RecoverLease { src: &request.src, client_name: &request.client_name };
    core.write_if(call, None, &operation, |_, result| put(out, &RecoverLeaseResponseProto { result: *result }))
}

pub(super) fn truncate(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: TruncateRequestProto = call.decode()?;
    let operation =
        Truncate { src: &request.src, new_length: request.new_length as i64, client_name: &request.client_name };
    core.write_if(call, None, &operation, |_, result| put(out, &TruncateResponseProto { result: *result }))
}

pub(super) fn set_replication(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: SetReplicationRequestProto = call.decode()?;
    let operation = SetReplication { src: &request.src, replication: request.replication };
    core.write_if(call, None, &operation, |_, result| put(out, &SetReplicationResponseProto { result: *result }))
}

pub(super) fn get_block_locations(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetBlockLocationsRequestProto = call.decode()?;
    let (offset, length) = (request.offset as i64, request.length as i64);
    let asked = GetBlockLocations { src: &request.src, offset, length };
    let env = core.env(call);
    let namespace = core.namespace.read();
    let (file, access_time) = namespace.check_block_locations(&env, &asked)?;
    put_locations(core, &namespace, &env, file, &asked, out)?;
    drop(namespace);
    if access_time.is_some() {
        core.set_access_time(&env, &asked);
    }
    Ok(())
}

fn put_locations(
    core: &Core,
    namespace: &Namespace,
    env: &Env<'_>,
    file: InodeView<'_>,
    asked: &GetBlockLocations<'_>,
    out: &mut Vec<u8>,
) -> Result<(), HdfsError> {
    let header = namespace.block_locations_header(file);
    put_located_blocks(out, 1, &header, &core.id.block_pool_id, |encoder| {
        let (offset, length) = (asked.offset as u64, asked.length as u64);
        namespace.lend_block_locations(env, file, offset, length, &mut |part| put_part(encoder, part));
    })
}

/// One block of a file's locations.
pub(super) fn put_part(encoder: &mut LocatedBlocksEncoder<'_>, part: BlockLocationsPart<'_>) {
    match part {
        BlockLocationsPart::Header(_) => {}
        BlockLocationsPart::Block(block) => encoder.block(&block),
        BlockLocationsPart::LastBlock(block) => encoder.last_block(&block),
    }
}

pub(super) fn get_located_file_info(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetLocatedFileInfoRequestProto = call.decode()?;
    let (env, namespace) = (core.env(call), core.namespace.read());
    let path = namespace.resolve(&env, request.src(), DirOp::Read)?;
    let Some(handle) = path.last else {
        // Nothing there, or a directory that is made up.
        return namespace.get_file_info(&env, request.src(), |status| match status {
            Some(status) => put_file_status(out, 1, &status),
            None => Ok(()),
        })?;
    };
    let inode = namespace.shown(&path, handle);
    if !inode.is_file() {
        return put_file_status(out, 1, &inode.status(b""));
    }
    namespace.check_path_access(&env, &path, FsAction::READ)?;
    let header = namespace.block_locations_header(inode);
    encode::put_located_file_status(out, 1, &inode.status(b""), &header, &core.id.block_pool_id, |encoder| {
        namespace.lend_block_locations(&env, inode, 0, u64::MAX, &mut |part| put_part(encoder, part));
    })
}

impl Core {
    /// A read moves a file's access time where that is older than the precision. Planned anew under the write lock, as the
    /// file may have gone since; nobody waits for it to be durable, as in Hadoop.
    pub fn set_access_time(&self, env: &Env<'_>, asked: &GetBlockLocations<'_>) {
        let mut namespace = self.namespace.write();
        let op = namespace.check_block_locations(env, asked).ok().and_then(|(_, op)| op);
        if let Some(op) = op {
            self.commit(&mut namespace, &[op], &[]);
        }
    }
}

/// The answer to a repeated `create` or `append` of which only the edit log knows that it succeeded.
///
/// # Errors
/// The file is gone.
pub(crate) fn replayed(core: &Core, call: &Call<'_>, is_append: bool) -> Result<Vec<u8>, HdfsError> {
    let (src, field) = match is_append {
        true => (call.decode::<AppendRequestProto>()?.src, 2),
        false => (call.decode::<CreateRequestProto>()?.src, 1),
    };
    let mut out = Vec::new();
    let namespace = core.namespace.read();
    let path = namespace.resolve(&core.env(call), &src, DirOp::Read)?;
    let file = namespace.existing_file(&path)?;
    let inode = namespace.shown(&path, file);
    if let (true, Some(last)) = (is_append, inode.blocks().last()) {
        let block = namespace.blocks.block(*last);
        if block.num_bytes < inode.preferred_block_size() {
            let offset = inode.length() - block.num_bytes;
            let location = BlockLocation { block, offset, storages: namespace.blocks.expected_storages(*last) };
            put_block(core, &namespace, 1, &location, &mut out);
        }
    }
    put_file_status(&mut out, field, &inode.status(b""))?;
    Ok(out)
}
