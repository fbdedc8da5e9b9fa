//! A namespace with callers, a clock and a log: plans a request, applies what it logged, and keeps the operations.

use std::sync::Arc;
use surus_namespace::blocks::BlockState;
use surus_namespace::tree::{FileLayout, NewInode, UnderConstruction};
use surus_namespace::{EditOp, Env, InodeHandle, Namespace, Operation, Refusal};
use surus_types::{
    Block, BlockId, Caller, FsPermission, GenerationStamp, HdfsError, InodeId, PermissionStatus, RpcIds, TxId,
};

static NO_RPC: RpcIds = RpcIds::NONE;

pub struct Harness {
    pub namespace: Namespace,
    pub log: Vec<EditOp>,
    pub caller: Caller,
    pub now_ms: i64,
    next_block: i64,
}

pub fn caller(user: &str, groups: &[&str], is_superuser: bool) -> Caller {
    Caller {
        user: user.into(),
        real_user: None,
        groups: groups.iter().map(|&g| Arc::from(g)).collect(),
        is_superuser,
        address: "127.0.0.1".into(),
    }
}

impl Harness {
    pub fn new(namespace: Namespace) -> Self {
        let caller = caller("root", &["root"], true);
        Harness { namespace, log: Vec::new(), caller, now_ms: 1_000, next_block: 1 << 30 }
    }

    pub fn env(&self) -> Env<'_> {
        Env { now_ms: self.now_ms, monotonic_ms: 0, caller: &self.caller, rpc: &NO_RPC, random: 0 }
    }

    /// Plans and applies.
    pub fn run<O: Operation>(&mut self, request: &O) -> Result<O::Reply, HdfsError> {
        let plan = match request.plan(&self.namespace, &self.env()) {
            Ok(plan) => plan,
            Err(Refusal::Error(error)) => return Err(error),
            Err(other) => panic!("unexpected: {other:?}"),
        };
        for op in plan.ops {
            self.log.push(op);
            let txid = TxId(self.log.len() as u64);
            self.namespace.apply(&self.log[self.log.len() - 1], txid).expect("a planned operation applies");
        }
        Ok(plan.reply)
    }

    /// Puts a file in place without the data path: `lengths` are those of its blocks.
    pub fn put_file(&mut self, path: &str, mode: u16, block_size: u64, lengths: &[u64]) -> InodeHandle {
        let (parent, name) = path.rsplit_once('/').unwrap();
        let parent = self.namespace.tree.lookup(if parent.is_empty() { "/" } else { parent }).unwrap();
        let id = InodeId(self.namespace.last_inode_id.0 + 1);
        self.namespace.note_inode_id(id);
        let permission =
            PermissionStatus { user: "root".into(), group: "supergroup".into(), permission: FsPermission(mode) };
        let new = NewInode { id, permission: &permission, modification_time: 1, access_time: 1 };
        let layout = FileLayout { preferred_block_size: block_size, replication: 1, ..FileLayout::default() };
        let file = self.namespace.tree.add_file(parent, name.as_bytes(), &new, layout).unwrap();
        for &num_bytes in lengths {
            self.next_block += 1;
            let block = Block { id: BlockId(self.next_block), generation_stamp: GenerationStamp(1001), num_bytes };
            let handle = self.namespace.blocks.insert(block, id, 1, BlockState::Complete, false).unwrap();
            self.namespace.tree.push_block(file, handle);
        }
        self.namespace.tree.set_file_size(file, lengths.iter().sum(), 0);
        file
    }

    /// Opens a file for a client.
    pub fn open(&mut self, path: &str, client: &str) {
        let file = self.namespace.tree.lookup(path).unwrap();
        let id = self.namespace.tree.inode(file).id();
        let client: Arc<str> = client.into();
        self.namespace.leases.add(&client, id, 0);
        let writer = UnderConstruction::new(client, "127.0.0.1".into());
        self.namespace.tree.set_under_construction(file, Some(writer));
    }
}
