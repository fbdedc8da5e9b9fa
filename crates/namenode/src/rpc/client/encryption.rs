//! Encryption zones: made, listed, looked up; and the keys of files that are created in one.
//! Source: `FSDirEncryptionZoneOp.java`, `FSNamesystem.java`, Hadoop 3.5.0.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::datanode::put;
use crate::safe_mode::What;
use prost::Message;
use surus_namespace::DirOp;
use surus_namespace::edit_op::XAttr;
use surus_namespace::ops::encryption_zone::{CreateEncryptionZone, ZoneEntry};
use surus_namespace::resolve::is_reserved_raw;
use surus_namespace::xattr::{ENCRYPTION_ZONE, FILE_ENCRYPTION_INFO, RAW};
use surus_proto::hadoop::hdfs::{
    CipherSuiteProto, CreateEncryptionZoneRequestProto, CreateEncryptionZoneResponseProto, CryptoProtocolVersionProto,
    EncryptionZoneProto, GetEzForPathRequestProto, GetEzForPathResponseProto, ListEncryptionZonesRequestProto,
    ListEncryptionZonesResponseProto, PerFileEncryptionInfoProto, ZoneEncryptionInfoProto,
};
use surus_types::{ExceptionClass, HdfsError, InodeId};
use surus_wire::required;

/// What a zone's attribute holds.
///
/// # Errors
/// It is damaged.
pub(crate) fn decode_zone(info: &[u8]) -> Result<ZoneEncryptionInfoProto, HdfsError> {
    ZoneEncryptionInfoProto::decode(info).map_err(|_| HdfsError::io("Could not parse the encryption info of a zone"))
}

/// What the superuser sets of encryption attributes has to be what they hold, as nobody can read the file otherwise.
/// Source: `FSDirXAttrOp.unprotectedSetXAttrs`, Hadoop 3.5.0, which looks at zones only.
///
/// # Errors
/// `InvalidProtocolBufferException`.
pub(crate) fn check_attribute(xattr: &XAttr) -> Result<(), HdfsError> {
    let value = xattr.value.as_deref().unwrap_or_default();
    match &*xattr.name {
        ENCRYPTION_ZONE if xattr.namespace == RAW => required::decode::<ZoneEncryptionInfoProto>(value).map(drop),
        FILE_ENCRYPTION_INFO if xattr.namespace == RAW => {
            required::decode::<PerFileEncryptionInfoProto>(value).map(drop)
        }
        _ => Ok(()),
    }
}

fn zone_proto(zone: ZoneEntry) -> Result<EncryptionZoneProto, HdfsError> {
    let info = decode_zone(&zone.info)?;
    Ok(EncryptionZoneProto {
        id: zone.id.0 as i64,
        path: zone.path,
        suite: info.suite,
        crypto_protocol_version: info.crypto_protocol_version,
        key_name: info.key_name,
    })
}

pub(super) fn get_ez_for_path(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetEzForPathRequestProto = call.decode()?;
    let zone = core.namespace.read().encryption_zone_of(&core.env(call), &request.src)?;
    put(out, &GetEzForPathResponseProto { zone: zone.map(zone_proto).transpose()? });
    Ok(())
}

pub(super) fn list_encryption_zones(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ListEncryptionZonesRequestProto = call.decode()?;
    call.check_superuser("listEncryptionZones")?;
    let after = InodeId(u64::try_from(request.id).unwrap_or(0));
    let (zones, _) = core.namespace.read().encryption_zones(after, usize::MAX);
    // A damaged one is not to hide the others.
    let mut zones = zones.into_iter().filter_map(|zone| {
        let id = zone.id;
        zone_proto(zone).inspect_err(|error| tracing::warn!("zone {id} is not listed: {}", error.message)).ok()
    });
    let page = zones.by_ref().take(core.config.encryption_zones_listed).collect();
    put(out, &ListEncryptionZonesResponseProto { zones: page, has_more: zones.next().is_some() });
    Ok(())
}

/// The key is asked for before the namespace is locked.
pub(super) fn create_encryption_zone(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    let request: CreateEncryptionZoneRequestProto = call.decode()?;
    call.check_superuser("createEncryptionZone")?;
    let src = &request.src;
    let Some(provider) = &core.keys else {
        let text = format!("Can't create an encryption zone for {src} since no key provider is available.");
        return Err(HdfsError::io(text).into());
    };
    let key_name = request.key_name();
    if key_name.is_empty() {
        return Err(HdfsError::io("Must specify a key name when creating an encryption zone").into());
    }
    let metadata = without_a_lock(|| provider.metadata(key_name))?;
    let metadata = metadata.ok_or_else(|| HdfsError::io(format!("Key {key_name} doesn't exist.")))?;
    let info = ZoneEncryptionInfoProto {
        suite: suite(&metadata.cipher)? as i32,
        crypto_protocol_version: CryptoProtocolVersionProto::EncryptionZones as i32,
        key_name: key_name.to_owned(),
        reencryption_proto: None,
    };
    let operation = CreateEncryptionZone { src, info: &info.encode_to_vec() };
    core.write(call, What("Cannot create encryption zone on ", src), &operation, |_, ()| {
        put(out, &CreateEncryptionZoneResponseProto {});
    })
}

fn suite(cipher: &str) -> Result<CipherSuiteProto, HdfsError> {
    match cipher {
        "AES/CTR/NoPadding" => Ok(CipherSuiteProto::AesCtrNopadding),
        "SM4/CTR/NoPadding" => Ok(CipherSuiteProto::Sm4CtrNopadding),
        _ => Err(HdfsError::new(ExceptionClass::IllegalArgument, format!("Invalid cipher suite name: {cipher}"))),
    }
}

/// A key server may take its time: the other tasks of this thread move on meanwhile.
pub(crate) fn without_a_lock<R>(ask: impl FnOnce() -> R) -> R {
    tokio::task::block_in_place(ask)
}

/// A new file's own key, for the zone that it seemed to come into.
pub(super) struct FileKey {
    pub zone: InodeId,
    /// A `PerFileEncryptionInfoProto`.
    pub info: Vec<u8>,
}

impl FileKey {
    /// `None`: `src` is in no zone, or something else is wrong with it, of which its creation will tell.
    ///
    /// # Errors
    /// `UnknownCryptoProtocolVersionException`: the client could not encrypt the file; the zone's key cannot be used.
    pub fn make(core: &Core, call: &Call<'_>, src: &str, supported: &[i32]) -> Result<Option<FileKey>, HdfsError> {
        let Some(provider) = core.keys.as_deref().filter(|_| !is_reserved_raw(src)) else { return Ok(None) };
        let Some((zone, info)) = zone_of_new(core, call, src)? else { return Ok(None) };
        check_version(info.crypto_protocol_version, supported)?;
        let key = without_a_lock(|| provider.generate_encrypted_key(&info.key_name))?;
        let info =
            PerFileEncryptionInfoProto { key: key.material, iv: key.iv, ez_key_version_name: key.key_version_name };
        Ok(Some(FileKey { zone, info: info.encode_to_vec() }))
    }
}

fn zone_of_new(
    core: &Core,
    call: &Call<'_>,
    src: &str,
) -> Result<Option<(InodeId, ZoneEncryptionInfoProto)>, HdfsError> {
    let namespace = core.namespace.read();
    if namespace.tree.num_zones() == 0 {
        return Ok(None);
    }
    let Ok(path) = namespace.resolve(&core.env(call), src, DirOp::Create) else { return Ok(None) };
    let Some(zone) = namespace.zone_for_new(&path) else { return Ok(None) };
    let info = zone.zone_info().and_then(|info| ZoneEncryptionInfoProto::decode(info).ok());
    let info = info.ok_or_else(|| HdfsError::io(format!("Could not parse zone encryption info for {src}")))?;
    Ok(Some((zone.id(), info)))
}

/// Source: `FSNamesystem.chooseProtocolVersion`, `CryptoProtocolVersion.toString`, Hadoop 3.5.0.
fn check_version(wanted: i32, supported: &[i32]) -> Result<(), HdfsError> {
    if supported.contains(&wanted) {
        return Ok(());
    }
    let zones = CryptoProtocolVersionProto::EncryptionZones as i32;
    let name = |version: i32| match version {
        v if v == zones => {
            format!("CryptoProtocolVersion{{description='Encryption zones', version={v}, unknownValue=null}}")
        }
        1 => "CryptoProtocolVersion{description='Unknown', version=1, unknownValue=null}".to_owned(),
        v => format!("CryptoProtocolVersion{{description='Unknown', version=1, unknownValue={v}}}"),
    };
    let list = |versions: &[i32]| versions.iter().map(|v| name(*v)).collect::<Vec<_>>().join(", ");
    let text = format!(
        "No crypto protocol versions provided by the client are supported. Client provided: [{}] NameNode supports: [{}]",
        list(supported),
        list(&[1, zones])
    );
    Err(HdfsError::new(ExceptionClass::UnknownCryptoProtocolVersion, text))
}
