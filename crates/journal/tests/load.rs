//! A mixed load of edit-log operations, the same for the same seed: directories, files with blocks, renames, deletes,
//! attributes, and whatever else an image has a section for. It keeps only so much of a model as it needs to log operations
//! that apply.

mod features;

use features::Features;
use surus_namespace::edit_op::{AddClose, RenameOptions};
use surus_namespace::{EditOp, Namespace};
use surus_types::{Block, BlockId, FsPermission, GenerationStamp, InodeId, PermissionStatus, RpcIds};

const BLOCK_SIZE: u64 = 1024;

pub struct MixedLoad {
    random: u64,
    clock: i64,
    call_id: i32,
    next_inode: u64,
    next_block: i64,
    next_stamp: u64,
    next_name: u32,
    directories: Vec<String>,
    files: Vec<File>,
    features: Features,
}

/// How a file's last block stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Complete,
    Open,
    /// Block recovery cuts it.
    Cut,
}

#[derive(Clone)]
struct File {
    path: String,
    inode: InodeId,
    blocks: Vec<Block>,
    is_open: bool,
    replication: u16,
    tail: Tail,
    is_coded: bool,
}

impl MixedLoad {
    pub fn new(seed: u64) -> MixedLoad {
        MixedLoad {
            random: seed,
            clock: 1_000_000,
            call_id: 0,
            next_inode: 16386,
            next_block: 1_073_741_825,
            next_stamp: 1001,
            next_name: 0,
            directories: vec![String::new()],
            files: Vec::new(),
            features: Features::default(),
        }
    }

    /// Goes on where a namespace is. Names are new ones.
    pub fn on(seed: u64, namespace: &Namespace) -> MixedLoad {
        MixedLoad {
            next_inode: namespace.last_inode_id.0 + 1,
            next_block: namespace.blocks.ids.last_allocated_block_id.0 + 1,
            next_stamp: namespace.blocks.ids.generation_stamp.0 + 1,
            next_name: 1_000_000 * seed as u32,
            features: Features::on(namespace),
            ..MixedLoad::new(seed)
        }
    }

    /// Random below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    /// The operations of one request.
    pub fn step(&mut self) -> Vec<EditOp> {
        self.clock += 1 + self.below(50) as i64;
        self.call_id += 1;
        let op = match self.below(24) {
            0..=2 => self.mkdir(),
            3..=5 => self.create(),
            6..=8 => match self.add_block() {
                Some(ops) => return ops,
                None => None,
            },
            9..=10 => self.close(),
            11 => self.rename(),
            12 => self.delete(),
            13..=15 => self.attribute(),
            _ => match self.feature() {
                Some(ops) => return ops,
                None => None,
            },
        };
        vec![op.unwrap_or_else(|| self.mkdir().expect("always possible"))]
    }

    /// A file of one block at a path that is free, with the log's own operations.
    pub fn closed_file(&mut self, path: &str) -> Vec<EditOp> {
        let block = self.new_block(BLOCK_SIZE);
        let open = Block { num_bytes: 0, ..block };
        let inode = self.new_inode();
        let (path, blocks, tail) = (path.to_owned(), vec![], Tail::Complete);
        let mut file = File { path, inode, blocks, is_open: true, replication: 2, tail, is_coded: false };
        let mut add = self.add_close(&file);
        add.client_name = "DFSClient_0".into();
        file.blocks.push(block);
        file.is_open = false;
        self.files.push(file.clone());
        vec![
            EditOp::Add(Box::new(add)),
            EditOp::AllocateBlockId { block_id: block.id },
            EditOp::SetGenstampV2 { generation_stamp: block.generation_stamp },
            EditOp::AddBlock { path: file.path.as_str().into(), penultimate: None, last: open, rpc: RpcIds::NONE },
            EditOp::Close(Box::new(self.add_close(&file))),
        ]
    }

    fn mkdir(&mut self) -> Option<EditOp> {
        let path = self.new_path();
        self.directories.push(path.clone());
        let inode_id = self.new_inode();
        let permission = self.permission(0o755);
        let timestamp = self.clock;
        Some(EditOp::Mkdir { inode_id, path: path.into(), timestamp, permission, acl: vec![], xattrs: vec![] })
    }

    fn create(&mut self) -> Option<EditOp> {
        let (path, inode) = (self.new_path(), self.new_inode());
        let replication = 1 + self.below(3) as u16;
        let file =
            File { path, inode, blocks: vec![], is_open: true, replication, tail: Tail::Complete, is_coded: false };
        self.files.push(file.clone());
        let mut op = self.add_close(&file);
        op.client_name = format!("DFSClient_{}", self.below(3)).into();
        op.client_machine = "127.0.0.1".into();
        op.overwrite = true;
        op.rpc = self.rpc();
        Some(EditOp::Add(Box::new(op)))
    }

    fn add_block(&mut self) -> Option<Vec<EditOp>> {
        let at = self.pick_open().filter(|at| self.files[*at].tail != Tail::Cut)?;
        Some(self.add_block_to(at))
    }

    fn add_block_to(&mut self, at: usize) -> Vec<EditOp> {
        let last = self.new_block(0);
        let file = &mut self.files[at];
        if let Some(previous) = file.blocks.last_mut().filter(|_| file.tail == Tail::Open) {
            previous.num_bytes = BLOCK_SIZE;
        }
        file.tail = Tail::Open;
        let penultimate = file.blocks.last().copied();
        file.blocks.push(last);
        let path = file.path.clone().into();
        vec![
            EditOp::AllocateBlockId { block_id: last.id },
            EditOp::SetGenstampV2 { generation_stamp: last.generation_stamp },
            EditOp::AddBlock { path, penultimate, last, rpc: RpcIds::NONE },
        ]
    }

    fn close(&mut self) -> Option<EditOp> {
        let at = self.pick_open()?;
        let num_bytes = 1 + self.below(BLOCK_SIZE as usize) as u64;
        let file = &mut self.files[at];
        file.is_open = false;
        if let Some(last) = file.blocks.last_mut().filter(|_| file.tail == Tail::Open) {
            last.num_bytes = num_bytes.max(last.num_bytes);
        }
        file.tail = Tail::Complete;
        let file = file.clone();
        Some(EditOp::Close(Box::new(self.add_close(&file))))
    }

    fn rename(&mut self) -> Option<EditOp> {
        let at = self.below(self.files.len().max(1));
        let dst = self.new_path();
        let file = self.files.get_mut(at)?;
        let src = std::mem::replace(&mut file.path, dst.clone());
        let (src, dst, timestamp, rpc) = (src.into(), dst.into(), self.clock, self.rpc());
        Some(match self.below(2) {
            0 => EditOp::RenameOld { src, dst, timestamp, rpc },
            _ => {
                let options = RenameOptions { overwrite: self.below(2) == 0, to_trash: false };
                EditOp::Rename { src, dst, timestamp, options, rpc }
            }
        })
    }

    fn delete(&mut self) -> Option<EditOp> {
        let path = if self.below(4) == 0 && self.directories.len() > 4 {
            let at = 1 + self.below(self.directories.len() - 1);
            self.directories[at].clone()
        } else {
            let at = self.below(self.files.len().max(1));
            self.files.get(at)?.path.clone()
        };
        if self.features.keep(&path) {
            return None;
        }
        self.features.forget(&path);
        let below = format!("{path}/");
        self.directories.retain(|other| *other != path && !other.starts_with(&below));
        self.files.retain(|file| file.path != path && !file.path.starts_with(&below));
        Some(EditOp::Delete { path: path.into(), timestamp: self.clock, rpc: self.rpc() })
    }

    fn attribute(&mut self) -> Option<EditOp> {
        let at = self.below(self.files.len().max(1));
        let (which, replication) = (self.below(4), 1 + self.below(5) as u16);
        let file = self.files.get_mut(at)?;
        let src: Box<str> = file.path.clone().into();
        Some(match which {
            0 => EditOp::SetPermissions { src, permission: FsPermission(0o600) },
            1 => EditOp::SetOwner { src, user: Some("bob".into()), group: None },
            2 => EditOp::Times { path: src, mtime: self.clock, atime: -1 },
            _ if file.is_coded => EditOp::SetPermissions { src, permission: FsPermission(0o640) },
            _ => {
                file.replication = replication;
                EditOp::SetReplication { path: src, replication }
            }
        })
    }

    fn add_close(&mut self, file: &File) -> AddClose {
        AddClose {
            inode_id: file.inode,
            path: file.path.clone().into(),
            replication: file.replication,
            mtime: self.clock,
            atime: self.clock - 1,
            block_size: BLOCK_SIZE,
            blocks: file.blocks.clone(),
            permission: self.permission(0o644),
            acl: vec![],
            xattrs: vec![],
            client_name: "".into(),
            client_machine: "".into(),
            overwrite: false,
            storage_policy_id: 0,
            erasure_coding_policy_id: MixedLoad::coded_policy(file),
            rpc: RpcIds::NONE,
        }
    }

    fn pick_open(&mut self) -> Option<usize> {
        let open: Vec<usize> = (0..self.files.len()).filter(|at| self.files[*at].is_open).collect();
        let at = self.below(open.len());
        open.get(at).copied()
    }

    fn new_path(&mut self) -> String {
        let at = self.below(self.directories.len());
        self.next_name += 1;
        let name = ["d", "ä", "𝄞", "long-name-long-name-long-name-"][self.below(4)];
        format!("{}/{name}{}", self.directories[at], self.next_name)
    }

    fn new_inode(&mut self) -> InodeId {
        self.next_inode += 1;
        InodeId(self.next_inode - 1)
    }

    fn new_block(&mut self, num_bytes: u64) -> Block {
        self.next_block += 1;
        self.next_stamp += 1;
        let generation_stamp = GenerationStamp(self.next_stamp - 1);
        Block { id: BlockId(self.next_block - 1), generation_stamp, num_bytes }
    }

    fn permission(&mut self, mode: u16) -> PermissionStatus {
        let user = ["alice", "bob", "каа"][self.below(3)].into();
        PermissionStatus { user, group: "staff".into(), permission: FsPermission(mode) }
    }

    fn rpc(&mut self) -> RpcIds {
        match self.below(4) {
            0 => RpcIds::NONE,
            _ => RpcIds { client_id: (0..16).map(|i| i as u8 ^ self.call_id as u8).collect(), call_id: self.call_id },
        }
    }
}
