//! create: makes an open file and gives the client its lease; an existing file is replaced if asked to.
//! Source: `FSDirWriteFileOp.startFile`, `FSNamesystem.startFileInt`, Hadoop 3.5.0.

use super::change_acl::check_acl;
use super::mkdirs::plan_missing_parents;
use super::quota::Usage;
use super::recover_lease::RecoverLeaseOp;
use crate::Namespace;
use crate::acl::Inherited;
use crate::apply::{Applied, ApplyError};
use crate::edit_op::{AddClose, EditOp, XAttr};
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::resolve::{DirOp, Resolved, check_path_length, is_reserved, is_reserved_inodes, is_reserved_raw};
use crate::storage_policy;
use crate::tree::{FileLayout, NewInode, UnderConstruction};
use crate::xattr::{FILE_ENCRYPTION_INFO, RAW};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use surus_types::{
    ErasureCodingPolicy, ExceptionClass, FsAction, FsPermission, HdfsError, HdfsPath, InodeId, PermissionStatus, TxId,
};

/// Bits of `createFlag`.
pub mod flag {
    pub const CREATE: u32 = 0x01;
    pub const OVERWRITE: u32 = 0x02;
    pub const APPEND: u32 = 0x04;
    pub const LAZY_PERSIST: u32 = 0x10;
    pub const NEW_BLOCK: u32 = 0x20;
    pub const SHOULD_REPLICATE: u32 = 0x80;
}

/// The request. The client's machine is the caller's address.
#[derive(Clone, Copy, Debug)]
pub struct Create<'a> {
    pub src: &'a str,
    /// The mode with the client's umask applied.
    pub permission: FsPermission,
    /// The mode before the umask; looked at where a default ACL is inherited.
    pub unmasked: Option<FsPermission>,
    pub client_name: &'a str,
    /// Bits of [`flag`].
    pub flags: u32,
    pub create_parent: bool,
    pub replication: u32,
    /// Bytes.
    pub block_size: u64,
    /// Empty: none.
    pub ec_policy_name: &'a str,
    /// Empty: the directory's.
    pub storage_policy: &'a str,
    /// Made beforehand, where the file seemed to come into an encryption zone.
    pub encryption: Option<NewFileKey<'a>>,
}

/// A new file's key, encrypted by that of its zone.
#[derive(Clone, Copy, Debug)]
pub struct NewFileKey<'a> {
    pub zone: InodeId,
    /// A `PerFileEncryptionInfoProto`.
    pub info: &'a [u8],
}

/// The new file; its status is read from the tree once the operations are applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CreateReply {
    pub inode_id: InodeId,
}

impl Operation for Create<'_> {
    type Reply = CreateReply;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<CreateReply>, Refusal> {
        check_path_length("create", self.src)?;
        self.check_name_and_flags()?;
        namespace.check_safe_mode(env, format_args!("Cannot create file{}", self.src))?;
        let path = namespace.resolve_for(env, self.src, DirOp::Create, "create")?;
        namespace.check_ancestor_access(env, &path, FsAction::WRITE)?;
        let xattrs = self.encryption_xattrs(namespace, &path)?;
        let ec_policy = self.ec_policy(namespace, &path)?;
        // A file that is there is told of before what is wrong with the new one, unless it is to be replaced or is open.
        if path.last.is_some_and(|last| namespace.tree.inode(last).is_under_construction()) {
            self.check_sizes(namespace, env, &path, ec_policy)?;
        }
        self.check_target(namespace, env, &path)?;
        self.check_sizes(namespace, env, &path, ec_policy)?;
        if path.last.is_none() {
            namespace.verify_new_names(&path)?;
        }
        let replaced = path.last.filter(|&last| !namespace.tree.is_in_latest_snapshot(last));
        let freed = replaced.map_or_else(Usage::default, |last| namespace.usage(last));
        for names in 1..=path.missing.max(1) as i64 {
            namespace.verify_quota_after(path.ancestor, &freed, &Usage::names(names), None)?;
        }
        let mut ops = plan_missing_parents(namespace, env, &path);
        let inode_id = InodeId(namespace.last_inode_id.0 + 1 + ops.len() as u64);
        let storage_policy_id = match self.storage_policy {
            _ if self.has(flag::LAZY_PERSIST) => LAZY_PERSIST_POLICY,
            "" => 0,
            name => storage_policy::by_name(name)?.id,
        };
        let mut add = self.add_op(namespace, env, &path, inode_id, ec_policy);
        add.storage_policy_id = storage_policy_id;
        add.xattrs = xattrs;
        ops.push(EditOp::Add(Box::new(add)));
        Ok(Plan::new(ops, CreateReply { inode_id }))
    }
}

impl Create<'_> {
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn check_name_and_flags(&self) -> Result<(), HdfsError> {
        let src = self.src;
        let reserved = is_reserved(src) && !is_reserved_raw(src) && !is_reserved_inodes(src);
        if HdfsPath::parse(src).is_err() || reserved {
            return Err(HdfsError::new(ExceptionClass::InvalidPath, format!("Invalid path name {src}")));
        }
        if self.has(flag::SHOULD_REPLICATE) && !self.ec_policy_name.is_empty() {
            return Err(HdfsError::new(
                ExceptionClass::HadoopIllegalArgument,
                "SHOULD_REPLICATE flag and ecPolicyName are exclusive parameters. Set both is not allowed!",
            ));
        }
        Ok(())
    }

    /// Where the zone is another than the one that the key was made for, the call is to be made again.
    /// Source: `FSDirEncryptionZoneOp.getFileEncryptionInfo`, Hadoop 3.5.0.
    fn encryption_xattrs(&self, namespace: &Namespace, path: &Resolved<'_>) -> Result<Vec<XAttr>, HdfsError> {
        let Some(zone) = namespace.zone_for_new(path) else { return Ok(Vec::new()) };
        let Some(key) = self.encryption.filter(|key| key.zone == zone.id()) else {
            return Err(HdfsError::new(
                ExceptionClass::RetryStartFile,
                "Preconditions for creating a file failed because of a transient error, retry create later.",
            ));
        };
        let value = Some(key.info.to_vec());
        Ok(alloc::vec![XAttr { namespace: RAW, name: FILE_ENCRYPTION_INFO.into(), value }])
    }

    fn check_sizes(
        &self,
        namespace: &Namespace,
        env: &Env<'_>,
        path: &Resolved<'_>,
        ec_policy: Option<&ErasureCodingPolicy>,
    ) -> Result<(), HdfsError> {
        let minimum = namespace.blocks.config.min_block_size;
        if (self.block_size as i64) < i64::try_from(minimum).unwrap_or(i64::MAX) {
            return Err(HdfsError::io(format!(
                "Specified block size {} is less than configured minimum value \
                 dfs.namenode.fs-limits.min-block-size={minimum}",
                self.block_size as i64
            )));
        }
        match ec_policy {
            Some(policy) => self.check_cell_size(policy),
            None => namespace.verify_replication(&path.path, self.replication, Some(&env.caller.address)),
        }
    }

    /// The policy of the new file: asked for, or of its directory; `None`: replication.
    fn ec_policy<'n>(
        &self,
        namespace: &'n Namespace,
        path: &Resolved<'_>,
    ) -> Result<Option<&'n ErasureCodingPolicy>, HdfsError> {
        if self.has(flag::SHOULD_REPLICATE) {
            return Ok(None);
        }
        if self.ec_policy_name.is_empty() {
            return Ok(namespace.tree.inode(path.ancestor).ec_policy());
        }
        namespace.tree.ec_policies().enabled_by_name(self.ec_policy_name)
    }

    fn check_cell_size(&self, policy: &ErasureCodingPolicy) -> Result<(), HdfsError> {
        if self.block_size >= u64::from(policy.cell_size) {
            return Ok(());
        }
        Err(HdfsError::io(format!(
            "Specified block size ({}) is less than the cell size ({}) of the erasure coding policy ({}).",
            self.block_size, policy.cell_size, policy.name
        )))
    }

    /// What may be at the path already.
    fn check_target(&self, namespace: &Namespace, env: &Env<'_>, path: &Resolved<'_>) -> Result<(), Refusal> {
        let Some(last) = path.last else {
            if !self.create_parent {
                namespace.verify_parent_exists(path)?;
            }
            if !self.has(flag::CREATE) {
                return Err(HdfsError::file_not_found(format!("Can't overwrite non-existent {}", path.path)).into());
            }
            return Ok(());
        };
        if namespace.tree.inode(last).is_directory() {
            return Err(HdfsError::new(
                ExceptionClass::FileAlreadyExists,
                format!("{} already exists as a directory", path.path),
            )
            .into());
        }
        if self.has(flag::OVERWRITE) {
            namespace.check_path_access(env, path, FsAction::WRITE)?;
            return Ok(());
        }
        namespace.check_open_for(RecoverLeaseOp::CreateFile, env, last, &path.path, self.client_name)?;
        Err(HdfsError::new(
            ExceptionClass::FileAlreadyExists,
            format!("{} for client {} already exists", path.path, env.caller.address),
        )
        .into())
    }

    fn add_op(
        &self,
        namespace: &Namespace,
        env: &Env<'_>,
        path: &Resolved<'_>,
        inode_id: InodeId,
        ec_policy: Option<&ErasureCodingPolicy>,
    ) -> AddClose {
        let Inherited { mode, acl } = namespace.inherited(path, false, (self.permission, self.unmasked));
        AddClose {
            inode_id,
            path: path.path.as_ref().into(),
            replication: if ec_policy.is_some() { 1 } else { self.replication as u16 },
            mtime: env.now_ms,
            atime: env.now_ms,
            block_size: self.block_size,
            blocks: Vec::new(),
            permission: PermissionStatus {
                user: env.caller.user.clone(),
                group: namespace.tree.inode(path.ancestor).group().clone(),
                permission: mode,
            },
            acl,
            xattrs: Vec::new(),
            client_name: self.client_name.into(),
            client_machine: (&*env.caller.address).into(),
            overwrite: self.has(flag::OVERWRITE),
            storage_policy_id: 0,
            erasure_coding_policy_id: ec_policy.map_or(ErasureCodingPolicy::REPLICATION_ID, |policy| policy.id),
            rpc: env.rpc.clone(),
        }
    }
}

/// Source: `HdfsConstants.StoragePolicy.LAZY_PERSIST`, Hadoop 3.5.0.
pub(super) const LAZY_PERSIST_POLICY: u8 = 15;

impl Namespace {
    /// Whether a file may have this many replicas. `client`: named in the text of create only.
    ///
    /// # Errors
    /// `IOException`. Source: `BlockManager.verifyReplication`, Hadoop 3.5.0.
    pub(super) fn verify_replication(&self, src: &str, wanted: u32, client: Option<&str>) -> Result<(), HdfsError> {
        let config = &self.blocks.config;
        let (min, max) = (i32::from(config.min_replication), i32::from(config.max_replication));
        // A Java `short`.
        let wanted = i32::from(wanted as u16 as i16);
        let problem = if wanted > max {
            format!("exceeds maximum of {max}")
        } else if wanted < min {
            format!("is less than the required minimum of {min}")
        } else {
            return Ok(());
        };
        let client = client.map_or_else(Default::default, |c| format!(", clientName={c}"));
        Err(HdfsError::io(format!("Requested replication factor of {wanted} {problem} for {src}{client}")))
    }
}

/// OP_ADD: a new file, open for its writer.
///
/// # Errors
/// The path is taken and nothing says to overwrite it, its parent is missing, or it names unsupported features.
pub fn apply(namespace: &mut Namespace, op: &AddClose, txid: TxId) -> Result<Applied, ApplyError> {
    const OP: &str = "OP_ADD";
    let path = &*op.path;
    check_acl(OP, path, &op.acl, false)?;
    let (parent, name) = namespace.apply_lookup_parent(OP, path)?;
    if let Some(old) = namespace.tree.child(parent, name) {
        if !op.overwrite || !namespace.tree.inode(old).is_file() {
            return Err(ApplyError::other(OP, path, "the path exists"));
        }
        namespace.detach_and_free(old, txid);
    }
    let new =
        NewInode { id: op.inode_id, permission: &op.permission, modification_time: op.mtime, access_time: op.atime };
    let layout = FileLayout {
        preferred_block_size: op.block_size,
        replication: op.replication,
        storage_policy: op.storage_policy_id,
        erasure_coding_policy: op.erasure_coding_policy_id,
    };
    let file = namespace.tree.add_file(parent, name, &new, layout).map_err(|e| ApplyError::tree(OP, path, e))?;
    namespace.apply_features(file, &op.acl, &op.xattrs);
    namespace.tree.touch_directory(parent, op.mtime);
    namespace.note_inode_id(op.inode_id);
    let holder: Arc<str> = op.client_name.as_ref().into();
    let writer = UnderConstruction::new(holder.clone(), op.client_machine.as_ref().into());
    namespace.tree.set_under_construction(file, Some(writer));
    namespace.leases.add(&holder, op.inode_id, namespace.now_ms);
    namespace.apply_blocks(OP, path, file, &op.blocks, false, txid)?;
    Ok(Applied::default())
}
