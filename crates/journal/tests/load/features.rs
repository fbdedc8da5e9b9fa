//! What the other sections of an image hold: snapshots, ACLs, extended attributes, quotas, policies, caches, secrets; and what
//! happens to files that snapshots show, erasure-coded ones among them.

use super::*;
use surus_namespace::edit_op::{
    AclEntry, AclEntryKind, CacheDirective, CachePool, DelegationTokenIdentifier, ErasureCodingPolicyOp, XAttr,
};
use surus_types::StorageType;

/// The built-in policy RS-6-3-1024k.
const CODED: u8 = 1;
/// Storage policies that set what they say: COLD, WARM, HOT, ONE_SSD, ALL_SSD.
const STORAGE_POLICIES: [u8; 5] = [2, 5, 7, 10, 12];

#[derive(Default)]
pub(super) struct Features {
    /// Directories that may have snapshots, and the names of those they have.
    snapshots: Vec<(String, Vec<String>)>,
    pools: Vec<Box<str>>,
    /// Ids, and the pool of each.
    directives: Vec<(i64, Box<str>)>,
    next_directive: i64,
    /// Names of the user's erasure coding policies.
    policies: Vec<Box<str>>,
    keys: i32,
    tokens: Vec<DelegationTokenIdentifier>,
    next_token: i32,
    next_group: i64,
}

impl Features {
    /// Ids go on from those of a namespace.
    pub(super) fn on(namespace: &Namespace) -> Features {
        let last_group = namespace.blocks.ids.last_allocated_striped_block_id.0;
        Features {
            next_directive: namespace.cache.next_directive_id - 1,
            keys: namespace.secrets.current_id,
            next_token: namespace.secrets.sequence_number,
            next_group: last_group.wrapping_sub(i64::MIN) / 16,
            ..Features::default()
        }
    }

    /// Whether snapshots lie at a path or below: then it stays.
    pub(super) fn keep(&self, path: &str) -> bool {
        let has = |root: &str| root == path || root.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        self.snapshots.iter().any(|(root, names)| !names.is_empty() && has(root))
    }

    /// What is deleted may have snapshots no more.
    pub(super) fn forget(&mut self, path: &str) {
        let below = format!("{path}/");
        self.snapshots.retain(|(root, _)| root != path && !root.starts_with(&below));
    }
}

impl MixedLoad {
    /// The operations of one request.
    pub(super) fn feature(&mut self) -> Option<Vec<EditOp>> {
        match self.below(24) {
            0..=5 => self.snapshot(),
            6..=8 => self.coded_file(),
            9..=10 => self.append_group(),
            11 => self.append(),
            12..=13 => self.truncate(),
            14 => self.acl(),
            15 => self.xattr(),
            16 => self.quota(),
            17 => self.storage_policy(),
            18..=19 => self.cache(),
            20 => self.ec_policy(),
            21..=22 => self.secret(),
            _ => self.writer(),
        }
    }

    fn snapshot(&mut self) -> Option<Vec<EditOp>> {
        let (mtime, rpc, which) = (self.clock, self.rpc(), self.below(8));
        self.next_name += 1;
        let name = format!("s{}", self.next_name);
        let at = self.below(self.features.snapshots.len());
        let Some((root, names)) = self.features.snapshots.get_mut(at).filter(|_| which > 0) else {
            return self.allow_snapshots();
        };
        let boxed: Box<str> = root.as_str().into();
        let op = match (which, names.len()) {
            (1, 0) => {
                self.features.snapshots.swap_remove(at);
                EditOp::DisallowSnapshot { root: boxed }
            }
            (1 | 2, 1..) => {
                let old = std::mem::replace(names.last_mut()?, name.clone());
                EditOp::RenameSnapshot { root: boxed, old_name: old.into(), new_name: name.into(), mtime, rpc }
            }
            (3 | 4, 2..) => {
                let gone = names.remove(self.clock as usize % names.len());
                EditOp::DeleteSnapshot { root: boxed, name: gone.into(), mtime, rpc }
            }
            _ => {
                names.push(name.clone());
                EditOp::CreateSnapshot { root: boxed, name: name.into(), mtime, rpc }
            }
        };
        Some(vec![op])
    }

    /// None lies in another one, as Hadoop has it.
    fn allow_snapshots(&mut self) -> Option<Vec<EditOp>> {
        let at = self.below(self.directories.len());
        let root = self.directories[at].clone();
        let is_in = |a: &str, b: &str| a == b || a.strip_prefix(b).is_some_and(|rest| rest.starts_with('/'));
        let mut others = self.features.snapshots.iter();
        if root.is_empty() || others.any(|(other, _)| is_in(&root, other) || is_in(other, &root)) {
            return None;
        }
        self.features.snapshots.push((root.clone(), Vec::new()));
        Some(vec![EditOp::AllowSnapshot { root: root.into() }])
    }

    /// Written and closed at once: nobody goes on writing one.
    fn coded_file(&mut self) -> Option<Vec<EditOp>> {
        let (path, inode) = (self.new_path(), self.new_inode());
        let mut file =
            File { path, inode, blocks: vec![], is_open: false, replication: 1, tail: Tail::Complete, is_coded: true };
        let mut add = self.add_close(&file);
        add.client_name = "DFSClient_coded".into();
        let mut ops = vec![EditOp::Add(Box::new(add))];
        for _ in 0..self.below(3) {
            ops.extend(self.add_group(&mut file));
        }
        ops.push(EditOp::Close(Box::new(self.add_close(&file))));
        self.files.push(file);
        Some(ops)
    }

    fn append_group(&mut self) -> Option<Vec<EditOp>> {
        let coded: Vec<usize> = (0..self.files.len()).filter(|at| self.files[*at].is_coded).collect();
        let at = *coded.get(self.below(coded.len()))?;
        let mut file = self.files[at].clone();
        let mut ops = vec![self.append_op(&file.path, true)];
        ops.extend(self.add_group(&mut file));
        ops.push(EditOp::Close(Box::new(self.add_close(&file))));
        self.files[at] = file;
        Some(ops)
    }

    /// A block group: 16 ids, of which the log knows the first.
    fn add_group(&mut self, file: &mut File) -> [EditOp; 3] {
        self.features.next_group += 1;
        self.next_stamp += 1;
        let (id, generation_stamp) =
            (BlockId(i64::MIN + 16 * self.features.next_group), GenerationStamp(self.next_stamp - 1));
        let num_bytes = 1 + self.below(6 * BLOCK_SIZE as usize) as u64;
        let last = Block { id, generation_stamp, num_bytes: 0 };
        let penultimate = file.blocks.last().copied();
        file.blocks.push(Block { num_bytes, ..last });
        [
            EditOp::AllocateBlockId { block_id: id },
            EditOp::SetGenstampV2 { generation_stamp },
            EditOp::AddBlock { path: file.path.as_str().into(), penultimate, last, rpc: RpcIds::NONE },
        ]
    }

    fn append_op(&mut self, path: &str, new_block: bool) -> EditOp {
        EditOp::Append {
            path: path.into(),
            client_name: format!("DFSClient_{}", self.below(3)).into(),
            client_machine: "127.0.0.1".into(),
            new_block,
            rpc: self.rpc(),
        }
    }

    fn append(&mut self) -> Option<Vec<EditOp>> {
        let at = self.pick_closed()?;
        let is_full = self.files[at].blocks.last().is_none_or(|last| last.num_bytes == BLOCK_SIZE);
        let new_block = is_full || self.below(2) == 0;
        let file = &mut self.files[at];
        file.is_open = true;
        file.tail = if new_block { Tail::Complete } else { Tail::Open };
        let path = file.path.clone();
        let mut ops = vec![self.append_op(&path, new_block)];
        if new_block {
            // An image takes the last block of an open file for one that is being written, as Hadoop's does: so it had better be.
            ops.extend(self.add_block_to(at));
        }
        Some(ops)
    }

    /// At the end of a block, in place, or with a copy of what a snapshot may show.
    fn truncate(&mut self) -> Option<Vec<EditOp>> {
        let at = self.pick_closed()?;
        let kept = self.below(self.files[at].blocks.len());
        let into = self.below(self.files[at].blocks.get(kept)?.num_bytes as usize) as u64;
        let copies = !self.features.snapshots.iter().all(|(_, names)| names.is_empty()) || self.below(2) == 0;
        let client_name: Box<str> = format!("DFSClient_{}", self.below(3)).into();
        let new = self.new_block(into);
        let file = &mut self.files[at];
        file.blocks.truncate(kept + usize::from(into > 0));
        let new_length = file.blocks[..kept].iter().map(|block| block.num_bytes).sum::<u64>() + into;
        let mut ops = Vec::new();
        let mut block = None;
        if let Some(last) = file.blocks.last_mut().filter(|_| into > 0) {
            let logged = if copies { Block { num_bytes: last.num_bytes, ..new } } else { Block { id: last.id, ..new } };
            // In place the log has the length before.
            block = Some(Block { num_bytes: last.num_bytes, ..logged });
            *last = Block { num_bytes: into, ..logged };
            (file.is_open, file.tail) = (true, Tail::Cut);
            if copies {
                ops.push(EditOp::AllocateBlockId { block_id: new.id });
            }
            ops.push(EditOp::SetGenstampV2 { generation_stamp: new.generation_stamp });
        }
        let (src, client_machine, timestamp) = (file.path.as_str().into(), "127.0.0.1".into(), self.clock);
        ops.push(EditOp::Truncate { src, client_name, client_machine, new_length, timestamp, block });
        Some(ops)
    }

    /// A file or a directory, not the root.
    fn any_path(&mut self) -> Option<(Box<str>, bool)> {
        let is_directory = self.below(2) == 0;
        let at = self.below(if is_directory { self.directories.len() } else { self.files.len() });
        let path = if is_directory { self.directories.get(at) } else { self.files.get(at).map(|file| &file.path) };
        path.filter(|path| !path.is_empty()).map(|path| (path.as_str().into(), is_directory))
    }

    fn acl(&mut self) -> Option<Vec<EditOp>> {
        let (src, is_directory) = self.any_path()?;
        let mut entries = Vec::new();
        if self.below(4) > 0 {
            let mut list = |is_default| {
                let mut entry = |kind, name: Option<&str>| AclEntry {
                    is_default,
                    kind,
                    name: name.map(Into::into),
                    permission: self.below(8) as u8,
                };
                entries.push(entry(AclEntryKind::User, None));
                entries.push(entry(AclEntryKind::User, Some("каа")));
                entries.push(entry(AclEntryKind::Group, None));
                entries.push(entry(AclEntryKind::Group, Some("staff")));
                entries.push(entry(AclEntryKind::Mask, None));
                entries.push(entry(AclEntryKind::Other, None));
            };
            list(false);
            if is_directory {
                list(true);
            }
        }
        Some(vec![EditOp::SetAcl { src, entries }])
    }

    fn xattr(&mut self) -> Option<Vec<EditOp>> {
        let ((src, _), rpc) = (self.any_path()?, self.rpc());
        let name = ["a", "attribute", "ä"][self.below(3)].into();
        let namespace = [0, 1, 4][self.below(3)];
        let value = Some(vec![self.call_id as u8; self.below(4)]);
        let is_gone = self.below(3) == 0;
        let xattrs = vec![XAttr { namespace, name, value: value.filter(|_| !is_gone) }];
        Some(vec![match is_gone {
            true => EditOp::RemoveXAttr { src, xattrs, rpc },
            false => EditOp::SetXAttr { src, xattrs, rpc },
        }])
    }

    fn quota(&mut self) -> Option<Vec<EditOp>> {
        let at = 1 + self.below(self.directories.len());
        let src: Box<str> = self.directories.get(at)?.as_str().into();
        let quota = [-1, 1_000_000_000, 1 << 50][self.below(3)];
        Some(vec![match self.below(3) {
            0 => {
                let storage_type = [StorageType::Disk, StorageType::Ssd, StorageType::Archive][self.below(3)];
                EditOp::SetQuotaByStorageType { src, storage_type, quota }
            }
            1 => EditOp::SetQuota { src, namespace_quota: quota, storage_quota: 1 << 40 },
            _ => EditOp::SetQuota { src, namespace_quota: 1_000_000, storage_quota: quota },
        }])
    }

    fn storage_policy(&mut self) -> Option<Vec<EditOp>> {
        let (path, is_directory) = self.any_path()?;
        let at = self.below(STORAGE_POLICIES.len() + usize::from(is_directory));
        Some(vec![EditOp::SetStoragePolicy { path, policy_id: STORAGE_POLICIES.get(at).copied().unwrap_or(0) }])
    }

    fn cache(&mut self) -> Option<Vec<EditOp>> {
        let (rpc, which, number) = (self.rpc(), self.below(8), self.below(4) as i64);
        let at = self.below(self.features.pools.len());
        let directive = self.below(self.features.directives.len());
        let path: Box<str> = self.any_path()?.0;
        self.next_name += 1;
        let features = &mut self.features;
        let pool = features.pools.get(at).cloned();
        let of_pool = |name: &str| CachePool { name: name.into(), limit: Some(number << 30), ..CachePool::default() };
        Some(vec![match (which, pool, features.directives.get(directive).cloned()) {
            (0, Some(pool_name), _) => {
                features.pools.remove(at);
                features.directives.retain(|(_, pool)| *pool != pool_name);
                EditOp::RemoveCachePool { pool_name, rpc }
            }
            (1, Some(pool), _) => {
                EditOp::ModifyCachePool { pool: CachePool { mode: Some(FsPermission(0o700)), ..of_pool(&pool) }, rpc }
            }
            (2, _, Some((id, _))) => {
                features.directives.remove(directive);
                EditOp::RemoveCacheDirective { id, rpc }
            }
            (3, _, Some((id, _))) => {
                let directive = CacheDirective { id, path: Some(path), ..CacheDirective::default() };
                EditOp::ModifyCacheDirective { directive, rpc }
            }
            (4.., Some(pool), _) => {
                features.next_directive += 1;
                let id = features.next_directive;
                features.directives.push((id, pool.clone()));
                let (path, pool, expiration) = (Some(path), Some(pool), Some(i64::MAX / 4 - number));
                let replication = Some(1 + number as u16);
                EditOp::AddCacheDirective { directive: CacheDirective { id, path, replication, pool, expiration }, rpc }
            }
            _ => {
                let pool = CachePool {
                    owner: Some("alice".into()),
                    group: Some("staff".into()),
                    mode: Some(FsPermission(0o755)),
                    max_relative_expiry: Some(1 + number),
                    default_replication: Some(1 + number as u16),
                    ..of_pool(&format!("pool{}", self.next_name))
                };
                features.pools.push(pool.name.clone());
                EditOp::AddCachePool { pool, rpc }
            }
        }])
    }

    fn ec_policy(&mut self) -> Option<Vec<EditOp>> {
        let (rpc, which) = (self.rpc(), self.below(5));
        let at = self.below(self.features.policies.len() + 1);
        let name = self.features.policies.get(at).cloned().unwrap_or("XOR-2-1-1024k".into());
        Some(vec![match which {
            0 if at < self.features.policies.len() => EditOp::RemoveErasureCodingPolicy { name, rpc },
            0 | 1 => EditOp::DisableErasureCodingPolicy { name, rpc },
            2 | 3 => EditOp::EnableErasureCodingPolicy { name, rpc },
            _ => {
                let units = 2 + self.features.policies.len() as u32;
                let policy = ErasureCodingPolicyOp {
                    codec: "rs".into(),
                    data_units: units,
                    parity_units: 1,
                    cell_size: 65_536,
                    extra_options: vec![("key".to_owned(), "value".to_owned())],
                };
                self.features.policies.push(format!("RS-{units}-1-64k").into());
                EditOp::AddErasureCodingPolicy { policy: Box::new(policy), rpc }
            }
        }])
    }

    fn secret(&mut self) -> Option<Vec<EditOp>> {
        let (which, clock) = (self.below(5), self.clock);
        let at = self.below(self.features.tokens.len());
        let features = &mut self.features;
        Some(vec![match (which, features.tokens.get(at).cloned()) {
            (0, Some(token)) => {
                features.tokens.remove(at);
                EditOp::CancelDelegationToken { token: Box::new(token) }
            }
            (1, Some(token)) => EditOp::RenewDelegationToken { token: Box::new(token), expiry_time: clock + 100 },
            (2 | 3, _) if features.keys > 0 => {
                features.next_token += 1;
                let token = DelegationTokenIdentifier {
                    owner: "alice".into(),
                    renewer: "yarn".into(),
                    real_user: "".into(),
                    issue_date: clock,
                    max_date: clock + 1_000_000,
                    sequence_number: features.next_token,
                    master_key_id: features.keys,
                };
                features.tokens.push(token.clone());
                EditOp::GetDelegationToken { token: Box::new(token), expiry_time: clock + 50 }
            }
            _ => {
                features.keys += 1;
                let key = Some(vec![features.keys as u8; 8]);
                EditOp::UpdateMasterKey { key_id: features.keys, expiry_date: clock + 1_000, key }
            }
        }])
    }

    /// Somebody else's lease, or what a writer made sure of; a link.
    fn writer(&mut self) -> Option<Vec<EditOp>> {
        let rpc = self.rpc();
        let Some(at) = self.pick_open().filter(|_| self.below(4) > 0) else {
            let (path, inode_id, permission) = (self.new_path(), self.new_inode(), self.permission(0o777));
            let (path, target, mtime, atime) = (path.into(), "/no/where".into(), self.clock, self.clock);
            return Some(vec![EditOp::Symlink { inode_id, path, target, mtime, atime, permission, rpc }]);
        };
        let more = self.below(100) as u64;
        let file = &mut self.files[at];
        let path: Box<str> = file.path.as_str().into();
        Some(vec![match file.blocks.last_mut().filter(|_| file.tail == Tail::Open && more > 30) {
            Some(last) => {
                last.num_bytes = (last.num_bytes + more).min(BLOCK_SIZE);
                EditOp::UpdateBlocks { path, blocks: file.blocks.clone(), rpc: RpcIds::NONE }
            }
            None => {
                let lease_holder = "DFSClient_0".into();
                EditOp::ReassignLease { lease_holder, path, new_holder: "HDFS_NameNode".into() }
            }
        }])
    }
}

impl MixedLoad {
    pub(super) fn pick_closed(&mut self) -> Option<usize> {
        let closed = |file: &File| !file.is_open && !file.is_coded;
        let closed: Vec<usize> = (0..self.files.len()).filter(|at| closed(&self.files[*at])).collect();
        closed.get(self.below(closed.len())).copied()
    }

    pub(super) fn coded_policy(file: &File) -> u8 {
        if file.is_coded { CODED } else { 0 }
    }
}
