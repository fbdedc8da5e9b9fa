//! Files of the policy LAZY_PERSIST live in the memory of one DataNode: when that is gone, so are they, and the NameNode
//! deletes them rather than call them missing. Source: `FSNamesystem.LazyPersistFileScrubber`, Hadoop 3.5.0.

use crate::Namespace;
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal};
use crate::storage_policy::LAZY_PERSIST_ID;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use surus_types::RpcIds;

/// Blocks looked at in one plan.
const BLOCKS_PER_PLAN: usize = 1000;

/// Run by the shell every `dfs.namenode.lazypersist.file.scrub.interval.sec`, from the first block without a replica (0) on.
/// The reply: the files that go, and where to look on.
#[derive(Clone, Copy, Debug, Default)]
pub struct LazyPersistScrub {
    pub cursor: u32,
}

/// What one look found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    pub paths: Vec<String>,
    pub next: Option<u32>,
}

impl Operation for LazyPersistScrub {
    type Reply = Scrubbed;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<Scrubbed>, Refusal> {
        if namespace.blocks.safe_mode.is_on() {
            return Ok(Plan::read(Scrubbed::default()));
        }
        let (missing, next) = namespace.blocks.missing_blocks(self.cursor, BLOCKS_PER_PLAN);
        let files: BTreeSet<_> = missing.into_iter().filter_map(|(_, owner)| namespace.tree.get(owner)).collect();
        let is_lazy = |file: &_| namespace.tree.inode(*file).storage_policy() == LAZY_PERSIST_ID;
        let paths: Vec<String> =
            files.into_iter().filter(is_lazy).filter_map(|file| namespace.tree.path_of(file)).collect();
        let delete =
            |path: &String| EditOp::Delete { path: path.as_str().into(), timestamp: env.now_ms, rpc: RpcIds::NONE };
        let ops = paths.iter().map(delete).collect();
        Ok(Plan::new(ops, Scrubbed { paths, next }))
    }
}
