//! Calls about encryption zones.

use crate::client::DfsClient;
use crate::error::Result;
use crate::namenode::Repeat::{AtMostOnce, Idempotent};
use surus_proto::hadoop::hdfs as proto;

pub use proto::{
    EncryptionZoneProto as EncryptionZone, FileEncryptionInfoProto as FileEncryptionInfo,
    ReencryptionStateProto as ReencryptionState, ZoneReencryptionStatusProto as ReencryptionStatus,
};

impl DfsClient {
    pub fn create_encryption_zone(&self, src: &str, key_name: &str) -> Result<()> {
        let request = proto::CreateEncryptionZoneRequestProto { src: src.into(), key_name: Some(key_name.into()) };
        let _: proto::CreateEncryptionZoneResponseProto = self.call("createEncryptionZone", AtMostOnce, &request)?;
        Ok(())
    }

    /// The zone that holds `src`.
    pub fn get_ez_for_path(&self, src: &str) -> Result<Option<EncryptionZone>> {
        let answer: proto::GetEzForPathResponseProto =
            self.call("getEZForPath", Idempotent, &proto::GetEzForPathRequestProto { src: src.into() })?;
        Ok(answer.zone)
    }

    pub fn list_encryption_zones(&self) -> Result<Vec<EncryptionZone>> {
        let mut zones: Vec<EncryptionZone> = Vec::new();
        loop {
            let request = proto::ListEncryptionZonesRequestProto { id: zones.last().map_or(0, |zone| zone.id) };
            let answer: proto::ListEncryptionZonesResponseProto =
                self.call("listEncryptionZones", Idempotent, &request)?;
            let is_last = answer.zones.is_empty() || !answer.has_more;
            zones.extend(answer.zones);
            if is_last {
                return Ok(zones);
            }
        }
    }

    /// How a file is encrypted; `None`: it is not. A missing path is a `FileNotFoundException`.
    pub fn get_file_encryption_info(&self, src: &str) -> Result<Option<FileEncryptionInfo>> {
        let answer: proto::GetFileInfoResponseProto =
            self.call("getFileInfo", Idempotent, &proto::GetFileInfoRequestProto { src: src.into() })?;
        match answer.fs {
            Some(status) => Ok(status.file_encryption_info),
            None => self.file_status(src).map(|_| None),
        }
    }

    /// Starts to encrypt the keys of a zone's files by the current version of its key, or ends that early.
    pub fn reencrypt_encryption_zone(&self, zone: &str, cancel: bool) -> Result<()> {
        let action = match cancel {
            true => proto::ReencryptActionProto::CancelReencrypt,
            false => proto::ReencryptActionProto::StartReencrypt,
        };
        let request = proto::ReencryptEncryptionZoneRequestProto { action: action as i32, zone: zone.into() };
        let _: proto::ReencryptEncryptionZoneResponseProto =
            self.call("reencryptEncryptionZone", AtMostOnce, &request)?;
        Ok(())
    }

    pub fn list_reencryption_status(&self) -> Result<Vec<ReencryptionStatus>> {
        let mut statuses: Vec<ReencryptionStatus> = Vec::new();
        loop {
            let request =
                proto::ListReencryptionStatusRequestProto { id: statuses.last().map_or(0, |status| status.id) };
            let answer: proto::ListReencryptionStatusResponseProto =
                self.call("listReencryptionStatus", Idempotent, &request)?;
            let is_last = answer.statuses.is_empty() || !answer.has_more;
            statuses.extend(answer.statuses);
            if is_last {
                return Ok(statuses);
            }
        }
    }
}
