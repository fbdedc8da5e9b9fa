//! createEncryptionZone, and what encryption zones forbid and answer.
//! Source: `FSDirEncryptionZoneOp.java`, `EncryptionZoneManager.java`, Hadoop 3.5.0.

use crate::Namespace;
use crate::edit_op::{EditOp, XAttr};
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, Resolved};
use crate::tree::InodeView;
use crate::xattr::{ENCRYPTION_ZONE, RAW};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::{FsAction, HdfsError, InodeId};

/// The request. `info`: the `ZoneEncryptionInfoProto` that names the key; the caller has seen that there is one.
#[derive(Clone, Copy, Debug)]
pub struct CreateEncryptionZone<'a> {
    pub src: &'a str,
    pub info: &'a [u8],
}

impl Operation for CreateEncryptionZone<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        namespace.check_superuser(env, "createEncryptionZone")?;
        let path = namespace.resolve_for(env, self.src, DirOp::Write, "createEncryptionZone")?;
        let inode = namespace.tree.inode(namespace.existing(&path, "cannot find ")?);
        if !inode.is_directory() {
            return Err(HdfsError::io("Attempt to create an encryption zone for a file.").into());
        }
        if inode.zone_info().is_some() {
            let text = format!("Directory {} is already an encryption zone.", path.path);
            return Err(HdfsError::io(text).into());
        }
        if inode.child_count() > 0 {
            return Err(HdfsError::io("Attempt to create an encryption zone for a non-empty directory.").into());
        }
        let xattr = XAttr { namespace: RAW, name: ENCRYPTION_ZONE.into(), value: Some(self.info.to_vec()) };
        let xattrs = alloc::vec![xattr];
        Ok(Plan::one(EditOp::SetXAttr { src: path.path.into(), xattrs, rpc: env.rpc.clone() }, ()))
    }
}

/// Gives an inode another value of an encryption attribute in place of the one that was read before: a change of the NameNode's
/// own, which checks no permission.
#[derive(Clone, Copy, Debug)]
pub struct SetEncryptionAttribute<'a> {
    pub id: InodeId,
    /// [`ENCRYPTION_ZONE`] or [`crate::xattr::FILE_ENCRYPTION_INFO`].
    pub name: &'static str,
    pub old: &'a [u8],
    pub new: &'a [u8],
}

impl Operation for SetEncryptionAttribute<'_> {
    type Reply = ();

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<()>, Refusal> {
        let handle = namespace.tree.get(self.id).filter(|&handle| namespace.tree.is_attached(handle));
        let same = |handle: &_| namespace.tree.inode(*handle).xattr(RAW, self.name) == Some(self.old);
        let path = handle.filter(same).and_then(|handle| namespace.tree.path_of(handle));
        let path = path.ok_or_else(|| HdfsError::io(format!("inode {} was changed meanwhile", self.id)))?;
        let xattr = XAttr { namespace: RAW, name: self.name.into(), value: Some(self.new.to_vec()) };
        let xattrs = alloc::vec![xattr];
        Ok(Plan::one(EditOp::SetXAttr { src: path.into(), xattrs, rpc: env.rpc.clone() }, ()))
    }
}

/// A zone as it is listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ZoneEntry {
    pub id: InodeId,
    pub path: String,
    /// A `ZoneEncryptionInfoProto`.
    pub info: Vec<u8>,
}

impl Namespace {
    /// A zone's root as it is listed: where it is now or, once it is deleted, where the snapshot shows it.
    pub fn zone_entry(&self, zone: InodeView<'_>) -> Option<ZoneEntry> {
        let path = self.tree.path_of(zone.handle()).or_else(|| self.tree.path_at(zone.handle(), zone.snapshot()))?;
        Some(ZoneEntry { id: zone.id(), path, info: zone.zone_info()?.to_vec() })
    }

    /// A page of the zones with an id greater than `after`, and whether there are more. Those that only snapshots hold are left
    /// out.
    pub fn encryption_zones(&self, after: InodeId, limit: usize) -> (Vec<ZoneEntry>, bool) {
        let mut zones = self.tree.zones(after).filter(|zone| self.tree.is_attached(zone.handle()));
        let page = zones.by_ref().filter_map(|zone| self.zone_entry(zone)).take(limit).collect();
        (page, zones.next().is_some())
    }

    /// The zone that holds `src`, which need not exist.
    ///
    /// # Errors
    /// The caller may not read `src`.
    pub fn encryption_zone_of(&self, env: &Env<'_>, src: &str) -> Result<Option<ZoneEntry>, HdfsError> {
        let path = self.resolve(env, src, DirOp::Read)?;
        self.check_path_access(env, &path, FsAction::READ)?;
        let zone = self.shown(&path, path.last.unwrap_or(path.ancestor)).zone();
        Ok(zone.and_then(|zone| self.zone_entry(zone)))
    }

    /// The zone that a new file at `path` would lie in.
    pub fn zone_for_new(&self, path: &Resolved<'_>) -> Option<InodeView<'_>> {
        if path.is_raw { None } else { self.tree.inode(path.last.unwrap_or(path.ancestor)).zone() }
    }

    /// The root of the encryption zone that holds `src`, which need not exist; without a zone, `/`.
    ///
    /// # Errors
    /// The caller may not read `src`.
    pub fn get_enclosing_root(&self, env: &Env<'_>, src: &str) -> Result<String, HdfsError> {
        Ok(self.encryption_zone_of(env, src)?.map_or_else(|| "/".into(), |zone| zone.path))
    }

    /// Data keeps its key: nothing moves from one zone to another, into one or out of one, but whole zones do.
    pub(super) fn check_rename_zones(&self, src: &Resolved<'_>, dst: &Resolved<'_>) -> Result<(), HdfsError> {
        if self.tree.num_zones() == 0 {
            return Ok(());
        }
        let zone_above = |path: &Resolved<'_>| self.tree.inode(path.ancestor).zone();
        let refuse = |text: &str| Err(HdfsError::io(format!("{} can't be moved {text}", src.path)));
        match (zone_above(src), zone_above(dst)) {
            (Some(_), None) => refuse("from an encryption zone."),
            (None, Some(_)) => refuse("into an encryption zone."),
            (Some(from), Some(to)) if from.id() != to.id() => {
                let path = |zone: InodeView<'_>| self.tree.path_of(zone.handle()).unwrap_or_default();
                refuse(&format!("from encryption zone {} to encryption zone {}.", path(from), path(to)))
            }
            (Some(zone), _) if self.reencrypting.contains_key(&zone.id()) => refuse(&format!(
                "because encryption zone {} is currently under re-encryption",
                self.tree.path_of(zone.handle()).unwrap_or_default()
            )),
            _ => Ok(()),
        }
    }
}
