//! reencryptEncryptionZone and listReencryptionStatus: the calls; the work is `reencryption.rs`.
//! Source: `FSNamesystem.reencryptEncryptionZoneInt`, `EncryptionZoneManager.java`, Hadoop 3.5.0.

use super::encryption::{decode_zone, without_a_lock};
use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::datanode::put;
use crate::safe_mode::What;
use prost::Message;
use surus_keys::KeyProvider;
use surus_namespace::DirOp;
use surus_namespace::ops::encryption_zone::{SetEncryptionAttribute, ZoneEntry};
use surus_namespace::xattr::ENCRYPTION_ZONE;
use surus_proto::hadoop::hdfs::{
    ListReencryptionStatusRequestProto, ListReencryptionStatusResponseProto, ReencryptActionProto,
    ReencryptEncryptionZoneRequestProto, ReencryptEncryptionZoneResponseProto, ReencryptionInfoProto,
    ReencryptionStateProto, ZoneReencryptionStatusProto,
};
use surus_types::{HdfsError, InodeId};

pub(super) fn reencrypt_encryption_zone(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: ReencryptEncryptionZoneRequestProto = call.decode()?;
    call.check_superuser("reencryption")?;
    let cancels = request.action == ReencryptActionProto::CancelReencrypt as i32;
    let action = if cancels { "CANCEL" } else { "START" };
    let text = format!("NameNode in safemode, cannot {action} re-encryption on zone {}", request.zone);
    core.check_safe_mode(&core.namespace.read(), What(&text, ""))?;
    // Without one nothing is under way, either.
    let Some(provider) = &core.keys else {
        return Err(HdfsError::io("No key provider configured, re-encryption operation is rejected").into());
    };
    let zone = zone_root(core, call, &request.zone)?;
    if cancels {
        match core.namespace.write().reencrypting.get_mut(&zone.id) {
            Some(cancelled) => *cancelled = true,
            None => return Err(HdfsError::io(format!("Zone {} is not under re-encryption", zone.path)).into()),
        }
        put(out, &ReencryptEncryptionZoneResponseProto {});
        return Ok(Done { txid: core.last_txid(), keep: true });
    }
    if !core.claim_reencryption(zone.id) {
        return Err(HdfsError::io(format!("Zone {} is already submitted for re-encryption.", zone.path)).into());
    }
    let done = submit(core, call, provider.as_ref(), &zone, What(&text, ""), out);
    match done {
        Ok(_) => core.start_reencryption(zone.id),
        Err(_) => core.release_reencryption(zone.id),
    }
    done
}

/// Writes into the zone's attribute that its re-encryption was asked for.
fn submit(
    core: &Core,
    call: &Call<'_>,
    provider: &dyn KeyProvider,
    zone: &ZoneEntry,
    what: What<'_>,
    out: &mut Vec<u8>,
) -> Result<Done, Refused> {
    let mut info = decode_zone(&zone.info)?;
    let version = without_a_lock(|| provider.current_version(&info.key_name))?;
    info.reencryption_proto = Some(ReencryptionInfoProto {
        ez_key_version_name: version,
        submission_time: core.clock.now_ms() as u64,
        canceled: false,
        num_reencrypted: 0,
        num_failures: 0,
        completion_time: None,
        last_file: None,
    });
    let new = info.encode_to_vec();
    let operation = SetEncryptionAttribute { id: zone.id, name: ENCRYPTION_ZONE, old: &zone.info, new: &new };
    core.write(call, what, &operation, |_, ()| put(out, &ReencryptEncryptionZoneResponseProto {}))
}

fn zone_root(core: &Core, call: &Call<'_>, src: &str) -> Result<ZoneEntry, HdfsError> {
    let (env, namespace) = (core.env(call), core.namespace.read());
    let path = namespace.resolve(&env, src, DirOp::Read)?;
    let handle = namespace.existing(&path, "INode does not exist for ")?;
    let zone = namespace.tree.inode(handle).zone().filter(|zone| zone.handle() == handle);
    let entry = zone.and_then(|zone| namespace.zone_entry(zone));
    entry.ok_or_else(|| HdfsError::io(format!("Path {} is not the root of an encryption zone.", path.path)))
}

pub(super) fn list_reencryption_status(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ListReencryptionStatusRequestProto = call.decode()?;
    call.check_superuser("listReencryptionStatus")?;
    let after = InodeId(u64::try_from(request.id).unwrap_or(0));
    let namespace = core.namespace.read();
    let (zones, _) = namespace.encryption_zones(after, usize::MAX);
    let mut statuses = zones.iter().filter_map(|zone| status(zone, namespace.reencrypting.contains_key(&zone.id)));
    let page = statuses.by_ref().take(core.config.encryption_zones_listed).collect();
    let has_more = statuses.next().is_some();
    put(out, &ListReencryptionStatusResponseProto { statuses: page, has_more });
    Ok(())
}

fn status(zone: &ZoneEntry, is_running: bool) -> Option<ZoneReencryptionStatusProto> {
    let info = decode_zone(&zone.info).ok()?.reencryption_proto?;
    let state = match info.completion_time {
        Some(_) => ReencryptionStateProto::Completed,
        None if is_running => ReencryptionStateProto::Processing,
        None => ReencryptionStateProto::Submitted,
    };
    Some(ZoneReencryptionStatusProto {
        id: zone.id.0 as i64,
        path: zone.path.clone(),
        state: state as i32,
        ez_key_version_name: info.ez_key_version_name,
        submission_time: info.submission_time as i64,
        canceled: info.canceled,
        num_reencrypted: info.num_reencrypted,
        num_failures: info.num_failures,
        completion_time: info.completion_time.map(|time| time as i64),
        last_file: info.last_file,
    })
}
