//! Who asks: the caller of an operation, and the ids that make a call at-most-once.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The identity behind a request, resolved before the namespace is locked.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Short name of the effective user.
    pub user: Arc<str>,
    /// The user who authenticated, where that is another one (proxy user).
    pub real_user: Option<Arc<str>>,
    /// Groups of the effective user, primary group first.
    pub groups: Arc<[Arc<str>]>,
    /// Whether permission checks are skipped: the user that runs the NameNode, or a member of
    /// `dfs.permissions.superusergroup`.
    pub is_superuser: bool,
    /// The address the request came from, without port, as exception texts show it: `127.0.0.1`.
    pub address: Arc<str>,
}

impl Caller {
    /// Whether the effective user is a member of `group`.
    pub fn is_in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|g| &**g == group)
    }

    /// Hadoop's one-line form for logs: `alice (auth:SIMPLE)`, with `via bob (auth:SIMPLE)` for a proxy user.
    pub fn to_ugi_string(&self) -> String {
        match &self.real_user {
            None => alloc::format!("{} (auth:SIMPLE)", self.user),
            Some(real) => alloc::format!("{} (auth:PROXY) via {} (auth:SIMPLE)", self.user, real),
        }
    }
}

/// Client id and call id of a request, kept in the edit log by the operations that must happen at most once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RpcIds {
    /// 16 bytes from the client, or empty where the call did not come by RPC.
    pub client_id: Vec<u8>,
    /// The client's call id, -2 where the call did not come by RPC (`RpcConstants.INVALID_CALL_ID`).
    pub call_id: i32,
}

impl RpcIds {
    /// "No RPC behind this operation": empty client id, call id -2.
    pub const NONE: RpcIds = RpcIds { client_id: Vec::new(), call_id: -2 };
}

impl Default for RpcIds {
    fn default() -> Self {
        Self::NONE
    }
}
