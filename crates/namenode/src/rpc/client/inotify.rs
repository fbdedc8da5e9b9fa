//! `getEditsFromTxid`: what inotify clients hear of the edit log. Each operation comes to no, one or several events.
//! Source: `InotifyFSEditLogOpTranslator.java`, `PBHelperClient.convertEditsResponse`, `NameNodeRpcServer.getEditsFromTxid`,
//! Hadoop 3.5.0.

use crate::call::Call;
use crate::core::Core;
use crate::rpc::datanode::put;
use prost::Message;
use surus_namespace::EditOp;
use surus_namespace::edit_op::AddClose;
use surus_proto::hadoop::hdfs::{
    AppendEventProto, CloseEventProto, CreateEventProto, EventBatchProto, EventProto, EventType, EventsListProto,
    FsPermissionProto, GetEditsFromTxidRequestProto, GetEditsFromTxidResponseProto, INodeType,
    MetadataUpdateEventProto, MetadataUpdateType, RenameEventProto, TruncateEventProto, UnlinkEventProto,
};
use surus_types::{FsPermission, HdfsError, PermissionStatus, TxId};
use surus_wire::to_proto;

/// Runs on a thread that may wait for the disk.
pub(super) fn get_edits_from_txid(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetEditsFromTxidRequestProto = call.decode()?;
    call.check_superuser("getEditsFromTxid")?;
    let durable = core.held.durable();
    let from = TxId(u64::try_from(request.txid).unwrap_or(0));
    if from == TxId(0) {
        return Err(HdfsError::io(format!(
            "Gap in transactions. Expected to be able to read up until at least txid 0 but unable to find any edit logs \
             containing txid {}",
            request.txid
        )));
    }
    let mut list =
        EventsListProto { first_txid: -1, last_txid: -1, sync_txid: durable.0 as i64, ..EventsListProto::default() };
    let mut count = 0;
    if from <= durable {
        core.journal.read_edits(from, durable, &mut |txid, op| {
            let events = events(&op);
            count += events.len();
            if list.first_txid < 0 {
                list.first_txid = txid.0 as i64;
            }
            list.last_txid = txid.0 as i64;
            if !events.is_empty() {
                list.batch.push(EventBatchProto { txid: txid.0 as i64, events });
            }
            count < core.config.inotify_events_max
        })?;
    }
    put(out, &GetEditsFromTxidResponseProto { events_list: list });
    Ok(())
}

fn event(kind: EventType, contents: &impl Message) -> EventProto {
    EventProto { r#type: kind as i32, contents: contents.encode_to_vec() }
}

fn permission(permission: FsPermission) -> FsPermissionProto {
    FsPermissionProto { perm: u32::from(permission.0) }
}

/// The events of one operation.
fn events(op: &EditOp) -> Vec<EventProto> {
    match op {
        EditOp::Add(add) if add.blocks.is_empty() => vec![create_file(add)],
        EditOp::Add(add) => vec![append(&add.path, false)],
        EditOp::Close(close) => {
            let size = close.blocks.iter().map(|block| block.num_bytes).sum::<u64>() as i64;
            vec![close_event(&close.path, size, close.mtime)]
        }
        EditOp::Append { path, new_block, .. } => vec![append(path, *new_block)],
        EditOp::ConcatDelete { target, sources, timestamp, .. } => {
            let mut events = vec![append(target, false)];
            events.extend(sources.iter().map(|source| unlink(source, *timestamp)));
            // The size is not in the log.
            events.push(close_event(target, -1, *timestamp));
            events
        }
        EditOp::RenameOld { src, dst, timestamp, .. } | EditOp::Rename { src, dst, timestamp, .. } => {
            let (src_path, dest_path) = (src.to_string(), dst.to_string());
            vec![event(EventType::EventRename, &RenameEventProto { src_path, dest_path, timestamp: *timestamp })]
        }
        EditOp::Delete { path, timestamp, .. } => vec![unlink(path, *timestamp)],
        EditOp::Mkdir { path, timestamp, permission, .. } => {
            vec![create(INodeType::ITypeDirectory, path, *timestamp, permission, None)]
        }
        EditOp::Symlink { path, target, atime, permission, .. } => {
            vec![create(INodeType::ITypeSymlink, path, *atime, permission, Some(target))]
        }
        EditOp::Truncate { src, new_length, timestamp, .. } => {
            let truncate =
                TruncateEventProto { path: src.to_string(), file_size: *new_length as i64, timestamp: *timestamp };
            vec![event(EventType::EventTruncate, &truncate)]
        }
        _ => metadata(op).map(|update| event(EventType::EventMetadata, &update)).into_iter().collect(),
    }
}

fn create_file(add: &AddClose) -> EventProto {
    let create = CreateEventProto {
        r#type: INodeType::ITypeFile as i32,
        path: add.path.to_string(),
        ctime: add.atime,
        owner_name: add.permission.user.to_string(),
        group_name: add.permission.group.to_string(),
        perms: permission(add.permission.permission),
        replication: Some(i32::from(add.replication)),
        symlink_target: Some(String::new()),
        overwrite: Some(add.overwrite),
        default_block_size: Some(add.block_size as i64),
        erasure_coded: Some(add.erasure_coding_policy_id != 0),
    };
    event(EventType::EventCreate, &create)
}

fn create(kind: INodeType, path: &str, ctime: i64, status: &PermissionStatus, target: Option<&str>) -> EventProto {
    let create = CreateEventProto {
        r#type: kind as i32,
        path: path.to_owned(),
        ctime,
        owner_name: status.user.to_string(),
        group_name: status.group.to_string(),
        perms: permission(status.permission),
        replication: Some(0),
        symlink_target: Some(target.unwrap_or_default().to_owned()),
        overwrite: Some(false),
        default_block_size: Some(0),
        erasure_coded: None,
    };
    event(EventType::EventCreate, &create)
}

fn append(path: &str, new_block: bool) -> EventProto {
    event(EventType::EventAppend, &AppendEventProto { path: path.to_owned(), new_block: Some(new_block) })
}

fn close_event(path: &str, file_size: i64, timestamp: i64) -> EventProto {
    event(EventType::EventClose, &CloseEventProto { path: path.to_owned(), file_size, timestamp })
}

fn unlink(path: &str, timestamp: i64) -> EventProto {
    event(EventType::EventUnlink, &UnlinkEventProto { path: path.to_owned(), timestamp })
}

/// Changes of attributes. The fields that an operation does not carry are sent as 0 and empty.
fn metadata(op: &EditOp) -> Option<MetadataUpdateEventProto> {
    let update = |path: &str, kind: MetadataUpdateType| MetadataUpdateEventProto {
        path: path.to_owned(),
        r#type: kind as i32,
        mtime: Some(0),
        atime: Some(0),
        replication: Some(0),
        owner_name: Some(String::new()),
        group_name: Some(String::new()),
        x_attrs_removed: Some(false),
        ..MetadataUpdateEventProto::default()
    };
    Some(match op {
        EditOp::SetReplication { path, replication } => MetadataUpdateEventProto {
            replication: Some(i32::from(*replication)),
            ..update(path, MetadataUpdateType::MetaTypeReplication)
        },
        EditOp::SetPermissions { src, permission: mode } => MetadataUpdateEventProto {
            perms: Some(permission(*mode)),
            ..update(src, MetadataUpdateType::MetaTypePerms)
        },
        EditOp::SetOwner { src, user, group } => MetadataUpdateEventProto {
            owner_name: Some(user.as_deref().unwrap_or_default().to_owned()),
            group_name: Some(group.as_deref().unwrap_or_default().to_owned()),
            ..update(src, MetadataUpdateType::MetaTypeOwner)
        },
        EditOp::Times { path, mtime, atime } => MetadataUpdateEventProto {
            mtime: Some(*mtime),
            atime: Some(*atime),
            ..update(path, MetadataUpdateType::MetaTypeTimes)
        },
        EditOp::SetAcl { src, entries } => MetadataUpdateEventProto {
            acls: entries.iter().map(to_proto::acl_entry).collect(),
            ..update(src, MetadataUpdateType::MetaTypeAcls)
        },
        EditOp::SetXAttr { src, xattrs, .. } => MetadataUpdateEventProto {
            x_attrs: xattrs.iter().map(to_proto::xattr).collect(),
            ..update(src, MetadataUpdateType::MetaTypeXattrs)
        },
        EditOp::RemoveXAttr { src, xattrs, .. } => MetadataUpdateEventProto {
            x_attrs: xattrs.iter().map(to_proto::xattr).collect(),
            x_attrs_removed: Some(true),
            ..update(src, MetadataUpdateType::MetaTypeXattrs)
        },
        _ => return None,
    })
}
